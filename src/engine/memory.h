/* memory.h - where the buffers of plans are, and who moves what is in them: the
 * host's symmetric memory (memory.c), or that of other devices
 * (run/gpu/memory.c).
 *
 * What is asked for is done in the order in which it is asked for, and is there
 * for other ranks behind `settle`. */
#ifndef AXE_ENGINE_MEMORY_H
#define AXE_ENGINE_MEMORY_H

#include "engine/program.h"

typedef struct engine_memory engine_memory;

/* A sum of runs: to[i] = from[0][i] + from[1][i] + .., in this order. */
typedef struct engine_sum {
    axe_number         type;
    int                n_from; /* 2 at least */
    void              *to;
    const void *const *from;
    int64_t            n; /* elements */
    bool once; /* no other rank makes this sum: its order is this one's */
} engine_sum;

typedef struct engine_box {
    const program_box *box;
    axe_number         type;
    bool               adds;
    void              *to;
    const void        *from;
} engine_box;

/* A plan that is one collective of all ranks, parts in their order. */
typedef struct engine_collective {
    axe_collective kind; /* all-gather, reduce-scatter, all-reduce */
    axe_number     type;
    int64_t        n; /* elements of the smaller buffer */
    const void    *from;
    void          *to;
} engine_collective;

/* collective.c: is it one?  The same answer on all ranks, but for a mesh whose
 * order is not the ranks'. */
bool engine_collective_of(const axe_reshard_plan *p, const program *g,
                          engine_collective *out);

typedef struct engine_memory_ops {
    /* Room for a plan's buffers on all ranks, which all ask for; what was taken
     * behind `mark` is given back together. */
    axe_status (*alloc)(engine_memory *m, int64_t bytes, void **out);
    int64_t (*mark)(const engine_memory *m);
    void (*give_back)(engine_memory *m, int64_t mark);
    void *(*peer)(const engine_memory *m, const void *p, int64_t rank);
    /* Between a buffer and what a rank has for itself, which is of the same
     * device. */
    axe_status (*copy)(engine_memory *m, void *to, const void *from,
                       size_t bytes);
    axe_status (*zero)(engine_memory *m, void *to, size_t bytes);
    axe_status (*box)(engine_memory *m, const engine_box *b);
    axe_status (*sum)(engine_memory *m, const engine_sum *s);
    axe_status (*settle)(engine_memory *m);
    /* Does a library of collectives do this one?  All ranks are asked alike,
     * and then do it, from and to what ranks have for themselves.  NULL: there
     * is no library. */
    bool (*has)(const engine_memory *m, const engine_collective *c);
    axe_status (*collective)(engine_memory *m, const engine_collective *c);
} engine_memory_ops;

/* Where a device does later what it is asked for, in two queues: in one it
 * computes, the other moves what others have.  Ranks tell one another how far
 * they are by words in that memory, which the queues write and wait for, so
 * the host only asks, and waits at the end.  What others wait for is asked for
 * before what waits for others: so it is right in queues that are one, too. */
typedef enum engine_queue { ENGINE_COMPUTES, ENGINE_MOVES } engine_queue;

typedef struct engine_queues {
    /* From here on nothing is done, until it is off again: programs that what
     * is asked for needs are loaded, and no more.  Loading one may wait for all
     * queues, and those for other ranks, which may be gone. */
    void (*rehearse)(engine_memory *m, bool on);
    /* Where what is asked for goes from here on; first, ENGINE_COMPUTES. */
    void (*use)(engine_memory *m, engine_queue q);
    /* What follows in this queue begins when all that is in the other one so
     * far is done. */
    axe_status (*join)(engine_memory *m);
    /* To a peer: all that is in this queue so far is done, for the count-th
     * time. */
    axe_status (*say)(engine_memory *m, int64_t peer, uint32_t count);
    /* What follows in this queue begins when the peer has said so. */
    axe_status (*hear)(engine_memory *m, int64_t peer, uint32_t count);
    /* All in both is done, and no rank has failed; behind the engine's time
     * limit all ranks do. */
    axe_status (*finish)(engine_memory *m);
    /* This rank has failed, as others know: nothing in its queues waits for
     * others any more, and they are empty. */
    void (*stop)(engine_memory *m);
} engine_queues;

struct engine_memory {
    const engine_memory_ops *ops;
    axe_engine              *e;
    const engine_queues     *queues; /* NULL: all is done as it is asked for */
};

extern const engine_memory_ops engine_host_memory;

/* A walk over a box copies, or adds to what is there.  Where it is: in the
 * buffers, or, where `packed`, behind what was put or taken so far. */
typedef struct engine_walk {
    const program_box *box;
    size_t             width;
    bool               adds;
    axe_number         type;
    char              *dst;
    const char        *src;
    bool               dst_packed, src_packed;
} engine_walk;

/* copy.c: between buffers that do not overlap. */
void engine_copy(void *to, const void *from, size_t bytes);

/* In the host's memory, by this thread. */
void engine_walk_box(engine_walk *w);

#endif
