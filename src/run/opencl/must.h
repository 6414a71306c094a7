/* must.h - what programs for a machine ask of a device, for whoever asks
 * it without axe: print/aot/opencl.h. */
#ifndef AXE_RUN_OPENCL_MUST_H
#define AXE_RUN_OPENCL_MUST_H

#include "machine/machine.h"
#include "print/aot/opencl.h"

/* features.c */
void axe_cl_must(axe_ctx *cx, const axe_machine *mc, axe_opencl_must *out);

#endif
