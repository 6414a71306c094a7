/* sim.h - running a GPU's program on the host, to see what is wrong with it.
 *
 *     axe_program_simulate(cx, program, 3, array, 0, NULL,
 *                          &(axe_sim_options){0}, &report);
 *
 * The lowered kernel is executed as it would be there: warps in lockstep,
 * asynchronous copies and products when they please.  The arrays get the
 * result; the report says what could go wrong on any such machine, whether or
 * not it went wrong this time: order is decided by what barriers, waits and
 * drains make sure of. */
#ifndef AXE_PUBLIC_SIM_H
#define AXE_PUBLIC_SIM_H

#include "axe/run.h"
#include "axe/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum axe_sim_kind {
#define FINDING(name, text) AXE_SIM_##name,
#include "axe/findings.def"
    AXE_N_SIM
} axe_sim_kind;
const char *axe_sim_kind_name(axe_sim_kind k); /* "race" */

typedef enum axe_sim_policy {
    AXE_SIM_LAZY,  /* asynchronous atoms when nothing else can run */
    AXE_SIM_EAGER, /* at once */
    AXE_SIM_RANDOM /* any order that is allowed, by the seed */
} axe_sim_policy;

/* Of clusters that run at the same time, since they wait for counters. */
typedef enum axe_sim_turns {
    AXE_SIM_EVEN,   /* all alike */
    AXE_SIM_BEHIND, /* one runs only when nobody else can */
    AXE_SIM_AHEAD   /* one runs as far as it can before anybody else does */
} axe_sim_turns;

typedef struct axe_sim_options {
    axe_sim_policy policy;
    uint64_t       seed;
    int     n_sm;     /* CTAs at a time of persistent grids; 0: the machine's */
    int64_t max_step; /* instructions of all warps of a cluster, then it counts
                         as endless; 0: 10^9 */
    bool          no_check; /* of races and initialisation: to measure */
    axe_sim_turns turns;
    int64_t who; /* the one: its number, -1 the last; of more than there are
                    its remainder */
    bool        timeline; /* when things happen, too, by a model */
    const char *cache;    /* of a mesh: as axe_device_spec has it, for what the
                             host computes between devices */
} axe_sim_options;

/* Order i of those that are worth a try: lazily; eagerly; where clusters wait
 * for one another, each of some kept back, or ahead; n_random by chance, by
 * seeds from that of `first` on.  False: there is none.
 * n_together  as an earlier order of these has reported it, or 0 */
bool axe_sim_order(const axe_sim_options *first, int64_t n_random,
                   int64_t n_together, int64_t i, axe_sim_options *out);

enum { AXE_SIM_MAX = 64 };

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
    int64_t     n;    /* invocations by all of its threads */
} axe_sim_count;

/* What one engine of a core did. */
typedef struct axe_sim_engine {
    const char *name;    /* "tensor" */
    int64_t     n_inst;  /* instructions */
    double      busy[2]; /* [ns] by the profiles `legacy` and `doc` */
} axe_sim_engine;

typedef struct axe_sim_report {
    int              n_finding; /* different ones, at most AXE_SIM_MAX */
    axe_sim_finding *finding;
    int              n_count; /* of atoms, in order of the first use */
    axe_sim_count   *count;
    int64_t          n_block, n_inst; /* CTAs; instructions of warps */
    int64_t n_together; /* most clusters of a launch that ran at the same time,
                           since they wait for counters; 0: none do */
    int64_t             conflicts; /* turns that banks cost beyond the first */
    int64_t             global_read, global_written; /* [bytes] by atoms */
    int64_t             shared_read, shared_written;
    int64_t             products; /* of contractions */
    const axe_timeline *timeline; /* NULL: nobody asked for it */
    const char *engines;      /* of a core whose engines ran it, instead of the
                                 above: lines of what each did, and how long all
                                 took by both profiles; NULL: threads did */
    double          ns[2];    /* likewise: by `legacy` and `doc` */
    int             n_engine; /* likewise; 0: threads did */
    axe_sim_engine *engine;
    int64_t         n_device; /* of a mesh; else 0, and so are: */
    int64_t n_move, n_order;  /* plans carried out, and in how many orders */
    int64_t moved;            /* [bytes] from device to device, results fetched
                                 included */
} axe_sim_report;

/* Run all launches of a program for a machine with threads.  What is wrong with
 * the program is in the report, and no error.  Of a kernel over a mesh, on all
 * its devices: arrays are whole ones.
 * p       compiled as far as AXE_STAGE_LOWER
 * Errors  as axe_launch; EUNSUPPORTED: a CPU's program, types of 4 bits */
AXE_CHECK axe_status axe_program_simulate(axe_ctx *cx, const axe_program *p,
                                          int n_array, const axe_array *array,
                                          int n_size, const axe_size *size,
                                          const axe_sim_options *options,
                                          axe_sim_report        *out);

/* Findings and counts as text for people, and as one JSON object. */
void axe_sim_report_print(axe_ctx *cx, axe_buf *out, const axe_sim_report *r);
void axe_sim_report_json(axe_ctx *cx, axe_buf *out, const axe_sim_report *r);

#ifdef __cplusplus
}
#endif
#endif
