/* machine.h - the machines axe knows, by their axes.
 *
 *     axe_axes_load(cx, axe_machine_axes("nvidia"));
 *
 * - cpu: core; vreg, vlane; m
 * - nvidia: thread = 32 warp + lane, warp = 4 warpgroup + wid, ...; reg; m,
 *   tlane, tcol
 * - cuda: the same machine by TVM's names, with Trainium's P, F, Bank
 * - trainium: P, F, Bank; m
 *
 * All have gpuid, the device of a mesh. */
#ifndef AXE_MACHINE_AXES_H
#define AXE_MACHINE_AXES_H

#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table for axe_axes_load; NULL if there is no such machine. */
const axe_axis_table *axe_machine_axes(const char *machine);

/* All of them, for listing. */
const axe_axis_table *axe_machine_axes_all(int *n);

/* Make known the axes of a machine that kernels are compiled for, "sm_90a", so
 * that layouts for it can be read.  ENAME, with those that there are. */
AXE_CHECK axe_status axe_machine_axes_use(axe_ctx *cx, const char *machine);

#ifdef __cplusplus
}
#endif
#endif
