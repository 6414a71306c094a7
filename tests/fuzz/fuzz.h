/* fuzz.h - what a fuzz target defines and libFuzzer or replay.c calls. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, and must neither crash, leak nor trip a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#endif
