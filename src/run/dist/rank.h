/* rank.h - local arrays on the ranks of an engine: rank_agree.c are they one
 * launch, rank_bind.c what they say of sizes, and rank.c what is run on them.
 */
#ifndef AXE_RUN_DIST_RANK_H
#define AXE_RUN_DIST_RANK_H

#include "axe/dist.h"
#include "engine/engine.h"
#include "run/array/handle.h"
#include "run/dist/run.h"

/* A layout that was given at the plan's launch, and found to be as declared. */
typedef struct axe_rank_seen {
    const char *layout, *format; /* layout NULL: none was given */
    int64_t    *whole;           /* [rank] */
} axe_rank_seen;

struct axe_rank_exec {
    axe_tag              tag;
    axe_ctx             *cx; /* the program's */
    axe_engine          *e;
    axe_device          *device;
    const axe_program   *p;
    const char          *digest; /* of the program's IR */
    int64_t             *size;   /* of the plan, [p->kernel->n_size] */
    const axe_dist_plan *plan;   /* NULL: none yet */
    axe_dist_runner     *runner; /* of plan */
    axe_rank_seen       *seen;   /* [n_param]; NULL: no plan */
    axe_rank_exec       *below;  /* took memory before it, in e->execs */
};

/* A launch's arguments, in the order of the parameters. */
typedef struct axe_rank_bound {
    const axe_local **of;     /* [n_param]; NULL: none given */
    int64_t         **whole;  /* [n_param] [rank] of those that are given */
    int64_t          *extent; /* [n_rank] [n_extent] of all ranks' arrays */
    int               n_extent;
    int              *begin; /* [n_param] of a parameter's in a rank's */
    axe_dist          d;     /* its sizes: */
    int64_t          *size;  /* [p->kernel->n_size] */
    bool             *unknown;
    const int64_t   **shape; /* [n_param] of the whole; NULL: not known */
} axe_rank_bound;

/* What all ranks give, compared; the same status and text on all of them.
 * complete  all parameters, with memory */
AXE_CHECK axe_status axe_rank_bind(const axe_rank_exec *x, int n_local,
                                   const axe_local *local, int n_size,
                                   const axe_size *size, bool complete,
                                   axe_rank_bound *out);

/* rank_agree.c: all ranks' extents of what is given, in b, where st is AXE_OK
 * on all; else what the first has that is not.  EARG: they do not launch the
 * same.
 */
AXE_CHECK axe_status axe_rank_agree(const axe_rank_exec *x, axe_status st,
                                    int n_size, const axe_size *size,
                                    axe_rank_bound *b);

/* Where one rank cannot go on: all end, with its text.  Returns st. */
axe_status axe_rank_end(const axe_rank_exec *x, axe_status st);

#endif
