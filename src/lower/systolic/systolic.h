/* systolic.h - kernels as traces of a core's engines (trace/trace.h). */
#ifndef AXE_LOWER_SYSTOLIC_SYSTOLIC_H
#define AXE_LOWER_SYSTOLIC_SYSTOLIC_H

#include "lower/lower.h"

AXE_CHECK axe_status axe_systolic_lower(axe_ctx *cx, const axe_plan *p,
                                        axe_lowered *out);

#endif
