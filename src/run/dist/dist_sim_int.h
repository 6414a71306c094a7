/* dist_sim_int.h - devices that are simulated: sim.c does statements,
 * sim_move.c moves what is between them, sim_time.c says when. */
#ifndef AXE_RUN_DIST_DIST_SIM_INT_H
#define AXE_RUN_DIST_DIST_SIM_INT_H

#include "engine/protocol.h"
#include "run/dist/sim.h"
#include "view/timeline.h"

typedef struct axe_dist_world {
    axe_ctx               *cx;
    const axe_dist_plan   *p;
    const axe_dist        *d;
    const axe_sim_options *with;
    axe_device            *device; /* the host: what is computed between */
    axe_exec             **between;
    void                 **data; /* [n_tensor][n_device] parts */
    axe_sim_report        *out;
    axe_timeline          *t;   /* NULL: nobody asks */
    double                *now; /* [n_device] [ns] */
    /* What overlaps now, NULL: nothing; the lists that its data moved by, and
     * what its devices' launches took. */
    const axe_fuse   *fuse;
    const protocol   *piece;
    double           *took; /* [n_device] [ns] */
    axe_timeline_work work;
} axe_dist_world;

/* A plan by its lists in all orders; the first one's data stay.  The plan of
 * w->fuse goes by pieces, and takes no time yet.
 * bound   NULL, or what goes is below it */
AXE_CHECK axe_status axe_dist_sim_move(axe_dist_world *w, axe_span at,
                                       const axe_tensor        *t,
                                       const axe_reshard_plan  *plan,
                                       const axe_reshard_bound *bound,
                                       void *const *from, void *const *to);
/* Launches of one device. */
void axe_dist_sim_launched(axe_dist_world *w, int64_t device,
                           const axe_sim_report *r);
/* When what overlaps is computed and moved. */
AXE_CHECK axe_status axe_dist_sim_time_pieces(axe_dist_world *w);
/* A row of each kind for every device, and of both what all did. */
void axe_dist_sim_open_timeline(axe_dist_world *w);
/* What brings results to the caller is none of the kernel's. */
void axe_dist_sim_close_timeline(axe_dist_world *w);
/* How protocol_simulate tells of a span. */
void axe_dist_sim_span(void *user, int64_t device, double begin, double end,
                       protocol_work what);

#endif
