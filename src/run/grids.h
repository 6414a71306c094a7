/* grids.h - a call of a program that is made of grids, on any device: what the
 * host does between them, and what it needs to know of the arrays. */
#ifndef AXE_RUN_GRIDS_H
#define AXE_RUN_GRIDS_H

#include "lower/lower.h"
#include "run/array/values.h"
#include "run/program.h"

typedef struct axe_grids axe_grids;
struct axe_grids {
    const axe_program *program;
    axe_bound          bound;
    axe_values         values;
    /* Starts grid number i on blocks > 0 CTAs, after what was started before.
     */
    axe_status (*start)(axe_ctx *cx, axe_grids *g, int i, int64_t blocks);
    /* CTAs of grid i that the device runs at a time. */
    int64_t (*resident)(const axe_grids *g, int i);
};

/* Arrays and sizes are checked as axe_launch says.
 * cores   SMs, compute units */
AXE_CHECK axe_status axe_grids_bind(axe_ctx *cx, const axe_program *p,
                                    int n_array, const axe_array *array,
                                    int n_size, const axe_size *size,
                                    int64_t cores, axe_grids *out);
/* Start all grids as the host's loops and branches say.
 * Errors  EUNSUPPORTED, EOVERFLOW: sizes that the grids are not made for; those
 *         of `start` */
AXE_CHECK axe_status axe_grids_start(axe_ctx *cx, axe_grids *g);
/* Where the kernel's own tensors begin in one block, and its bytes.
 * at      [n_temp]
 * Errors  EOVERFLOW */
AXE_CHECK axe_status axe_grids_temps(axe_ctx *cx, const axe_grids *g,
                                     int64_t *at, int64_t *all);
/* A condition over sizes; NULL: none. */
bool axe_grids_holds(const axe_grids *g, const axe_node *when);
/* Bytes of parameter i, from its first element to its last. */
size_t axe_grids_span(const axe_grids *g, int i);
/* Is a size above what indices of 32 bits hold? */
bool axe_grids_wide(const axe_grids *g);
/* The values of the host's loops around the launch, outermost first.
 * out     [grid->n_host_loop]: their addresses */
void axe_grids_iterations(const axe_grids *g, const axe_grid *grid, void **out);

#endif
