/* simt.h - what a launch of many threads should take, before it runs.
 *
 * The model.  Each statement takes so many cycles of an SM's tensor cores, of
 * its shared memory and of its schedulers, and asks L2 for so many bytes.  What
 * L2 must ask memory for follows from the order of tiles: as many as run at a
 * time are a wave; what a wave touches twice comes once, and what the next
 * waves touch again is still there if all that was touched since fits.  A CTA
 * takes as long as its longest role, whose statements follow each other and
 * which waits for memory where too few stages or registers are under way.
 *
 * The launch takes as long as the part of the machine that is busy longest,
 * and a little longer where others come near it.  Where tensor cores work the
 * clock is the one that power leaves.
 *
 * Made to rank and to say what limits; docs/design/tune.md says what it is
 * checked against. */
#ifndef AXE_PLAN_COST_SIMT_H
#define AXE_PLAN_COST_SIMT_H

#include "machine/rates.h"
#include "plan/cost/cost_int.h"
#include "plan/simt/simt.h"

/* What may be busy. */
typedef enum axe_busy {
    AXE_BUSY_TENSOR, /* the tensor cores */
    AXE_BUSY_SHARED, /* shared memory */
    AXE_BUSY_ISSUE,  /* the schedulers, and what they issue to */
    AXE_BUSY_L2,
    AXE_BUSY_MEMORY,
    AXE_BUSY_CHAIN, /* a CTA's longest role, one statement after the other */
    AXE_N_BUSY
} axe_busy;

/* "tensor cores" */
const char *axe_busy_name(axe_busy b);

/* Of one launch, or of all: seconds is then the sum, of each as often as it is
 * made, the rest that of the
 * longest one.  seconds is -1, and the rest without meaning, where sizes are
 * not known or the launch would be refused. */
typedef struct axe_simt_cost {
    double   tiles;            /* CTAs' worth of work */
    double   resident;         /* CTAs that an SM holds */
    double   rounds;           /* until the last tile is done */
    double   full;             /* tiles as a share of what the rounds hold */
    double   busy[AXE_N_BUSY]; /* [s] */
    axe_busy most;
    double   flops; /* of contractions, whole tiles */
    double   l2_bytes, memory_bytes;
    double   least_s; /* nobody could do it sooner: the machine's best row for
                         the products, each argument moved once from or to
                         memory; longer than seconds where L2 has them */
    double peak_s;    /* the products' part of it, at the nominal clock */
    double seconds;
    double apart_s; /* the same if scopes of one launch had one each, and
                       nothing were counted */
    double times;   /* of one launch: how often the host makes it */
} axe_simt_cost;

/* Launch i of p->simt.
 * size   [kernel->n_size], or NULL: not known
 * ideal  an access that is counted so */
void axe_simt_cost_launch(axe_ctx *cx, const axe_plan *p, int i,
                          const int64_t *size, axe_cost_ideal ideal,
                          axe_simt_cost *out);
/* Cost  some tens of microseconds a statement */
void axe_simt_cost_plan(axe_ctx *cx, const axe_plan *p, const int64_t *size,
                        axe_simt_cost *out);

/* ------------------------------------------- between the files of the model */

/* What a statement touches of a global tensor. */
typedef struct axe_cost_touch {
    const axe_tensor *tensor;
    const axe_node   *load;
    bool              write;
    axe_hint          hint;
    double            run;  /* [bytes] asked of L2 by one execution */
    double            tile; /* [bytes] that a CTA's tile has of it */
    double            own;  /* of these, what it moves itself where the CTAs of
                               a cluster share the statement */
    double moves[AXE_COST_LOOPS]; /* how much of it is another in each next
                                     iteration of the tile's loop: 0 to 1 */
    bool picked; /* by an index tensor: it may be another part the next time */
} axe_cost_touch;

enum { AXE_COST_TOUCHES = 16 };

/* How often an expression is computed. */
typedef double axe_cost_values(const void *user, const axe_node *n);

/* [cycles] of an SM for n.
 * user  given to `values` */
double axe_cost_math(const axe_machine *mc, const axe_node *n,
                     axe_cost_values *values, const void *user);

/* A statement of a launch. */
typedef struct axe_cost_work {
    const axe_schedule *s;
    const axe_var *in;    /* the innermost loop around it in a tile, or NULL */
    double         runs;  /* executions, of all entities */
    double         share; /* of what branches around leave of iterations */
    /* [cycles] of an SM for one; moves: of what loads and stores go through,
     * while schedulers issue what others compute */
    double         tensor, shared, issue, moves;
    double         waits; /* for memory, one after the other */
    double         fresh; /* of them for lines that the SM has not had before */
    double         short_waits; /* the same for shared memory */
    double         flops, best; /* best: [cycles] by the best row */
    int            n_touch;
    axe_cost_touch touch[AXE_COST_TOUCHES];
} axe_cost_work;

/* A launch while it is looked at. */
typedef struct axe_simt_model {
    axe_cost_env           env;
    const axe_simt_launch *launch;
    const axe_simt        *simt;
    const axe_rates       *rates;
    int                    n; /* statements of the launch */
    axe_cost_work         *work;
    bool                   alone; /* as if the launch were the scope's own */
    axe_simt_cost         *out;
} axe_simt_model;

/* simt_role.c.  [bytes] of all of a tensor; [cycles] of a CTA's longest role in
 * all tiles, or of its statements where it has none. */
double axe_simt_bytes_of(const axe_simt_model *m, const axe_tensor *t);
double axe_simt_chain(const axe_simt_model *m);

/* simt_work.c.  e has the loops around s, the first n_tile of them the
 * launch's own. */
void axe_cost_work_of(axe_cost_env *e, const axe_schedule *s, int n_tile,
                      axe_cost_work *out);

/* simt_wave.c.  [bytes] that come from or go to memory, of a launch whose
 * tiles are distributed by these loops, `wave` tiles at a time. */
double axe_cost_wave_bytes(axe_cost_env *e, const axe_stmt *scope, int n_work,
                           const axe_cost_work *work, double wave);

#endif
