/* sim.h - a program over devices in the simulator: the devices in one
 * process, each with its own memory. */
#ifndef AXE_RUN_DIST_SIM_H
#define AXE_RUN_DIST_SIM_H

#include "axe/sim.h"
#include "run/dist/dist.h"

/* The plan of a program that was compiled for a machine that is simulated: what
 * is computed between devices is the host's. */
AXE_CHECK axe_status axe_dist_plan_sim(axe_ctx *cx, const axe_program *p,
                                       const int64_t        *size,
                                       const axe_dist_plan **out);

/* What stands in `device` in the simulator, on each device's parts; what is
 * between them by the lists of engine/protocol.h, in several orders.
 * data    [n_param] whole arrays, row-major
 * Errors  as axe_program_simulate and axe_dist_on_rank; ELIMIT */
AXE_CHECK axe_status axe_dist_simulate(axe_ctx *cx, const axe_dist_plan *p,
                                       const axe_device_spec *spec,
                                       void *const           *data,
                                       const axe_sim_options *with,
                                       axe_sim_report        *out);

#endif
