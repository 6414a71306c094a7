/* spirv.h - texts of OpenCL C as SPIR-V. */
#ifndef AXE_RUN_OPENCL_SPIRV_H
#define AXE_RUN_OPENCL_SPIRV_H

#include "run/program.h"

/* out     in cx
 * Errors  EARG: the program is for another machine.  ETOOL: clang and its
 *         translator, of one version, are not on PATH, or one refuses
 * Cost    0.3 s */
AXE_CHECK axe_status axe_spirv(axe_ctx *cx, const axe_program *p,
                               const void **out, size_t *bytes);

#endif
