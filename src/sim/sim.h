/* sim.h - executes lowered grids on the host, and finds what is wrong with
 * them.
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

#include "lower/lower.h"

typedef enum axe_sim_kind {
#define FINDING(name, text) AXE_SIM_##name,
#include "sim/findings.def"
    AXE_N_SIM
} axe_sim_kind;
const char *axe_sim_kind_name(axe_sim_kind k);

typedef enum axe_sim_policy {
    AXE_SIM_LAZY,  /* asynchronous atoms when nothing else can run */
    AXE_SIM_EAGER, /* at once */
    AXE_SIM_RANDOM /* any order that is allowed, by the seed */
} axe_sim_policy;

/* A global tensor: a parameter of the kernel, as it is bound. */
typedef struct axe_sim_array {
    void          *data;
    const int64_t *shape, *stride; /* [rank] [elements]; NULL: dense */
} axe_sim_array;

typedef struct axe_sim_spec {
    const axe_sim_array *param; /* [n_param] of the kernel */
    const int64_t       *size;  /* [n_size] */
    axe_sim_policy       policy;
    uint64_t             seed;
    int                  n_sm; /* CTAs of persistent grids; 0: the machine's */
    int64_t              max_step; /* instructions of all warps of a cluster,
                                      then it counts as endless; 0: 10^9 */
    bool no_check;                 /* of races and initialisation: to measure */
} axe_sim_spec;

/* One thing that is wrong, with how often it was seen. */
typedef struct axe_sim_finding {
    axe_sim_kind kind;
    axe_span     at;    /* of the statement where it was found */
    axe_span     other; /* of the other actor's, or nowhere */
    const char  *text;  /* actors, tensor and element, cause */
    int64_t      n;
} axe_sim_finding;

typedef struct axe_sim_count {
    const char *name; /* of an atom */
    int64_t     n;    /* invocations by its whole crew */
} axe_sim_count;

typedef struct axe_sim_report {
    int              n_finding; /* different ones, at most AXE_SIM_MAX */
    axe_sim_finding *finding;
    int              n_count; /* of atoms, in order of the first use */
    axe_sim_count   *count;
    int64_t          n_block, n_inst; /* CTAs; instructions of warps */
    int64_t          conflicts; /* turns that banks cost beyond the first */
    int64_t          global_read, global_written; /* [bytes] by atoms */
    int64_t          shared_read, shared_written;
    int64_t          products; /* of contractions */
} axe_sim_report;

enum { AXE_SIM_MAX = 64 };

/* Run all grids of `l`; what is wrong is in the report.
 * Errors  EUNSUPPORTED: code that is none of a grid, types of 4 bits, atoms
 *         whose rows say too little.  ESHAPE: a grid that no machine has.
 *         EOVERFLOW */
AXE_CHECK axe_status axe_simulate(axe_ctx *cx, const axe_lowered *l,
                                  const axe_sim_spec *spec,
                                  axe_sim_report     *out);

/* Findings and counts as text for people. */
void axe_sim_report_print(axe_ctx *cx, axe_buf *out, const axe_sim_report *r);

#endif
