/* sim.h - executes lowered grids on the host, and finds what is wrong with
 * them; include/axe/sim.h says how.
 *
 * A warp is a program counter, a mask and its threads' registers; it runs in
 * lockstep until it must wait.  What atoms do follows from their rows: LOAD,
 * STORE, PERMUTE and COPY move element e from where the one operand's layout
 * says to where the other's says, CONTRACT multiplies by its three, SYNC is as
 * axe_sync_kind says.  Asynchronous atoms are queued and done later, in an
 * order that the policy chooses.  CTAs of a cluster run together, clusters one
 * after the other.
 *
 * Order is decided by vector clocks, not by what happened to come first: an
 * actor (a warp; the tensor core of a warpgroup; what completes at one
 * mbarrier; what one warp's groups complete) may touch what another one has
 * touched only if a barrier, a wait or a drain lies between.  So one run finds
 * races that its own order does not show. */
#ifndef AXE_SIM_H
#define AXE_SIM_H

#include "axe/sim.h"
#include "lower/lower.h"

/* A global tensor: a parameter of the kernel, as it is bound. */
typedef struct axe_sim_array {
    void          *data;
    const int64_t *shape, *stride; /* [rank] [elements]; NULL: dense */
} axe_sim_array;

typedef struct axe_sim_spec {
    const axe_sim_array *param; /* [n_param] of the kernel */
    const int64_t       *size;  /* [n_size] */
    axe_sim_options      with;
} axe_sim_spec;

/* Run all grids of `l`; what is wrong is in the report.
 * Errors  EUNSUPPORTED: code that is none of a grid, types of 4 bits, atoms
 *         whose rows say too little.  ESHAPE: a grid that no machine has, or
 *         sizes that it is not made for.  EOVERFLOW */
AXE_CHECK axe_status axe_simulate(axe_ctx *cx, const axe_lowered *l,
                                  const axe_sim_spec *spec,
                                  axe_sim_report     *out);

#endif
