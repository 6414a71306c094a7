/* nvrtc.h - NVIDIA's run-time compiler: CUDA C to machine code of a GPU. */
#ifndef AXE_RUN_GPU_NVRTC_H
#define AXE_RUN_GPU_NVRTC_H

#include "run/array/file.h"

/* Compile a text for an architecture, "sm_90a".  NVRTC is opened when it is
 * first needed: $AXE_NVRTC, or by its usual names.
 * log     what the compiler said, "" if nothing, in cx; may be NULL
 * out     a cubin, to be freed
 * Errors  ETOOL: there is no NVRTC, or it refuses the text; the first lines of
 *         its output are notes
 * Cost    0.3 to 0.6 s */
AXE_CHECK axe_status axe_nvrtc_compile(axe_ctx *cx, const char *text,
                                       const char *arch, const char **log,
                                       axe_bytes *out);
/* "nvrtc 13.0", with the options that texts are compiled with.
 * Errors  ETOOL */
AXE_CHECK axe_status axe_nvrtc_id(axe_ctx *cx, const char **out);

#endif
