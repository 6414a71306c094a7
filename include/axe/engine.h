/* engine.h - the devices of a mesh as processes, and what carries tensors
 * between them.
 *
 * Ranks are processes, one for each device, numbered as the mesh's devices are.
 * An engine is a way for them to reach one another: `shm`, processes of one
 * host over one mapping, needs nothing; `openmpi` and `mpich` are opened at run
 * time.  axe_spmd runs a function on all ranks: it starts them, or, where a
 * launcher (mpirun, torchrun, srun) has started this process as one of them, it
 * joins them.
 *
 * Symmetric memory: each rank allocates the same bytes in the same order, so a
 * buffer has one offset on all ranks.  Over shm the ranks' memories are at one
 * stride in every process, base + rank * stride + offset, so that a device axis
 * of a layout is an ordinary address stride.
 *
 * Failures end all ranks: a rank that dies, one that is waited for longer than
 * the time limit, one that returns an error or does something else than the
 * others makes every call that waits return one and the same text.  Nothing has
 * a name in a file system, so nothing is left behind, however ranks end.
 *
 * docs/design/engines.md says why.  The built-in engine is of Linux. */
#ifndef AXE_ENGINE_H
#define AXE_ENGINE_H

#include "axe/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- launchers
 */

/* What the environment says of this process. */
typedef struct axe_launcher {
    const char *launcher; /* "torchrun"; NULL: nobody has launched it */
    const char *job;      /* what all ranks of a host, and no others, have */
    int64_t     rank, size, local_rank, local_size;
    const char *engine; /* that the launcher is of; "shm", if of none */
} axe_launcher;

/* The first launcher (src/engine/launch.def) whose variables are set.
 * Errors  EARG: a variable is no number, or the numbers do not fit. */
AXE_CHECK axe_status axe_launcher_find(axe_ctx *cx, axe_launcher *out);

/* --------------------------------------------------------------------- ranks
 */

typedef struct axe_engine axe_engine;

/* Around the fork of ranks, where there is one. */
typedef enum axe_forking {
    AXE_FORKING, /* before, in this process */
    AXE_FORKED,  /* behind it, in this process, whatever came of it */
    AXE_IS_CHILD /* behind it, in each that is new */
} axe_forking;

typedef struct axe_engine_options {
    const char *engine; /* "shm", "openmpi", "mpich"; NULL: the launcher's */
    /* Who has started the ranks, for callers that know it otherwise, as from a
     * process group of a framework; NULL: what the environment says. */
    const axe_launcher *launcher;
    int64_t n_rank;     /* to start; if launched: 0, or as many as there are */
    int64_t heap;       /* [bytes] of symmetric memory a rank; 0: 1 MiB */
    int64_t timeout_ms; /* of one wait for another rank; 0: 30000.  MPI_Init,
                           which waits for all, ends with the process behind
                           it, after a text on standard error */
    bool *speaks;       /* unless NULL, set: is this the one process of all
                           that should tell people how it ended? */
    /* What the runtime of a language wants to know of; may be NULL. */
    void (*forking)(void *user, axe_forking when);
    /* Asked some times a second while this rank waits for others: a text ends
     * all ranks with it, NULL waits on. */
    const char *(*stop)(void *user);
    void *user; /* of both */
    /* What is the same on all ranks, as "alpha = 2": compared when they meet,
     * before anything runs. */
    int                n_same;
    const char *const *same; /* [n_same] */
} axe_engine_options;

typedef axe_status axe_rank_fn(axe_ctx *cx, axe_engine *e, void *user);

/* Run fn on all ranks.  Without a launcher this process is rank 0, and the
 * others are forked from it: they see its memory as it was, and end behind fn.
 * Under a launcher each process runs fn once.  Returns when all ranks are done:
 * fn's status, or, if another rank failed, that one's text.
 * Errors  ENAME: no such engine.  EARG: numbers of ranks, or a launcher's that
 * do not fit; ranks differ in `same`, or in their memory.  EUNSUPPORTED: the
 * engine is not of this system, or ranks are on several hosts.  EIO: no memory,
 * no processes.  ETOOL: no MPI library. EDEVICE: a rank ended or was waited for
 * too long. */
AXE_CHECK axe_status axe_spmd(axe_ctx *cx, const axe_engine_options *opt,
                              axe_rank_fn *fn, void *user);

const char *axe_engine_name(const axe_engine *e);
int64_t     axe_engine_rank(const axe_engine *e);
int64_t     axe_engine_size(const axe_engine *e);

/* Symmetric memory, at a multiple of 64 bytes; all ranks together.
 * Errors  ELIMIT: the heap is full.  EIO: the host has not that much memory.
 *         EDEVICE as of all that waits. */
AXE_CHECK axe_status axe_engine_alloc(axe_engine *e, int64_t bytes, void **out);
/* Where `p`, of this rank's symmetric memory, is on another rank; NULL: the
 * engine reaches it by messages alone. */
void *axe_engine_peer(const axe_engine *e, const void *p, int64_t rank);

/* All ranks come to this. */
AXE_CHECK axe_status axe_engine_barrier(axe_engine *e);
/* What each rank has, n bytes (at most 256), to all: all[rank][n]. */
AXE_CHECK axe_status axe_engine_gather(axe_engine *e, const void *mine,
                                       int64_t n, void *all);
/* The same of any lengths: out[rank] takes bytes[rank] of each, which all ranks
 * know by then; NULL: it is not wanted here.  bytes[own] of `mine`.
 * Takes up to 1 MiB of the heap for a while. */
AXE_CHECK axe_status axe_engine_collect(axe_engine *e, const void *mine,
                                        const int64_t *bytes, void *const *out);
/* End all ranks with this text; where another failed before, its text stays.
 * What waits then returns it on all ranks. */
void axe_engine_fail(axe_engine *e, const char *text);
/* Do all ranks give the same text?  EARG, with the first rank that gives
 * another one and both texts, on all ranks.  what: "the plan". */
AXE_CHECK axe_status axe_engine_agree(axe_engine *e, const char *what,
                                      const char *text);

/* --------------------------------------------------------------------- plans
 */

/* Latency and bandwidth between two ranks of one host (near) or of two, named
 * so, as a step of a plan has them; *found: there are such ranks.  All ranks.
 * Takes 8 MiB of the heap for a while.  Errors  as axe_engine_alloc. */
AXE_CHECK axe_status axe_engine_measure(axe_engine *e, bool near, axe_link *out,
                                        bool *found);
/* Keep that in the records of tuning (path NULL: where they are), where the
 * quickest stays; take it from there.
 * Errors  ETOOL: no SQLite.  EIO: there is no place for records. */
AXE_CHECK axe_status axe_links_keep(axe_ctx *cx, const char *path,
                                    const char *engine, const axe_link *link);
AXE_CHECK axe_status axe_links_find(axe_ctx *cx, const char *path,
                                    const char *engine, const char *name,
                                    axe_link *out, bool *found);

/* What elements are, where they are added. */
typedef enum axe_number {
#define NUMBER(name, word, bytes, type) AXE_NUMBER_##name,
#include "axe/number.def"
    AXE_N_NUMBER
} axe_number;

const char *axe_number_text(axe_number t);
int64_t     axe_number_bytes(axe_number t);

/* Elements that a device holds of the source, or behind the last step.  Its
 * buffer has them densely, in the order of their index in the tensor. */
int64_t axe_reshard_held(const axe_reshard_plan *p, bool behind,
                         int64_t device);
/* How many addends an element of the source has; 1: it is whole. */
int64_t axe_reshard_addends(const axe_reshard_plan *p);
/* Does a device hold the element of that index and addend (axe_reshard_source)
 * of the source, or behind the last step? */
bool axe_reshard_has(const axe_reshard_plan *p, bool behind, int64_t device,
                     int64_t index, int64_t addend);

/* What went from rank to rank, counted where it was copied. */
typedef struct axe_traffic {
    int64_t max_recv, total; /* [bytes] to the rank that got most; to all */
    int     n_step;
    const int64_t *step_max, *step_total; /* [n_step] */
} axe_traffic;

/* Carry a plan out on its mesh's devices, one rank each: src[held] of this rank
 * becomes dst[held behind].  Sums are in the order of the ranks, the same bits
 * on all of them.  All ranks have the same plan.
 * traffic  may be NULL; else all ranks get all ranks' counts
 * Errors  EARG: ranks are not the devices; plans differ, with both; an element
 *         of the plan has other bits.  ELIMIT: the symmetric heap is below
 *         axe_reshard_heap.  EDEVICE. */
AXE_CHECK axe_status axe_reshard_run(axe_engine *e, const axe_reshard_plan *p,
                                     axe_number type, const void *src,
                                     void *dst, axe_traffic *traffic);

/* Of one dimension only indices below a number go, which is another one for
 * each index of some others: as many rows of each slot as there are. */
typedef struct axe_reshard_bound {
    int            dim;   /* of the tensor */
    int            n;     /* dimensions that the number depends on */
    const int     *of;    /* [n] of the tensor, none of them dim */
    const int64_t *pitch; /* [n] of `value` along these [elements] */
    const void    *value; /* i32, or i64 if wide; the same on all ranks */
    bool           wide;
} axe_reshard_bound;

/* axe_reshard_run of a plan of one step without sums, of what is below the
 * bound.  What else dst has is not set, or any value.
 * Errors  also EUNSUPPORTED: the plan has several steps, sums, or parts that
 *         ranks hand on; EARG: dimensions that it has not */
AXE_CHECK axe_status axe_reshard_run_below(axe_engine              *e,
                                           const axe_reshard_plan  *p,
                                           axe_number               type,
                                           const axe_reshard_bound *bound,
                                           const void *src, void *dst,
                                           axe_traffic *traffic);
/* Elements that all ranks get from others then. */
AXE_CHECK axe_status axe_reshard_below(axe_ctx *cx, const axe_reshard_plan *p,
                                       const axe_reshard_bound *bound,
                                       int64_t                 *out);

/* The same again and again, without copies on either side: what is compared and
 * allocated once.  All ranks prepare the same in the same order. */
typedef struct axe_reshard_exec axe_reshard_exec;
AXE_CHECK axe_status            axe_reshard_prepare(axe_engine             *e,
                                                    const axe_reshard_plan *p,
                                                    axe_number              type,
                                                    axe_reshard_exec      **out);
/* Where the next source of this rank is to be written. */
void *axe_reshard_input(const axe_reshard_exec *x);
/* Carry out; what comes of it stays until the next but one time. */
AXE_CHECK axe_status axe_reshard_go(axe_reshard_exec *x, const void **out);
/* All ranks are done with it: the heap has its memory again, and that of what
 * was allocated behind it. */
AXE_CHECK axe_status axe_reshard_finish(axe_reshard_exec *x);

/* Symmetric memory [bytes] that axe_reshard_run takes of each rank, and
 * axe_reshard_prepare twice, or up to 64 KiB where that is more. */
int64_t axe_reshard_heap(const axe_reshard_plan *p);

#ifdef __cplusplus
}
#endif
#endif
