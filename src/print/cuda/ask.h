/* ask.h - what printed atoms tell the hardware, for `axe eval`. */
#ifndef AXE_PRINT_CUDA_ASK_H
#define AXE_PRINT_CUDA_ASK_H

#include "lower/lower.h"

/* The instruction descriptor that the printed text of a product in tensor
 * memory makes: n columns, which factors have k slow, and, if the row has
 * scales, which of a word's bytes those of a and b are.
 * Errors  EUNSUPPORTED: the row's text makes none */
AXE_CHECK axe_status axe_ask_instruction(axe_ctx *cx, const axe_atom *a, int n,
                                         const bool    major[2],
                                         const int64_t byte[2], uint32_t *out);

#endif
