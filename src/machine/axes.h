/* axes.h - the axes of each machine, and how they nest.
 *
 * - cpu: core; vreg, vlane; m
 * - nvidia: thread = 32 warp + lane, warp = 4 warpgroup + wid, ...; reg; m,
 *   tlane, tcol
 * - cuda: the same machine by TVM's names, with Trainium's P, F, Bank
 * - trainium: P, F, Bank; m
 *
 * All have gpuid, the device of a mesh.  The rows are <machine>/axes.def. */
#ifndef AXE_MACHINE_AXES_H
#define AXE_MACHINE_AXES_H

#include "axe/layout.h"

/* The table for axe_axes_load; NULL if there is no such machine. */
const axe_axis_table *axe_machine_axes(const char *machine);

/* All of them, for listing. */
const axe_axis_table *axe_machine_axes_all(int *n);

#endif
