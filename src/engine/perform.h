/* perform.h - a plan that is being carried out: what plans by pieces have of
 * it, too. */
#ifndef AXE_ENGINE_PERFORM_H
#define AXE_ENGINE_PERFORM_H

#include "engine/memory.h"

enum { PERFORM_SETS = 8 };

/* What a pull of another rank's has brought already, piece by piece. */
typedef struct perform_landed {
    char       *at;  /* one behind the other; NULL: it is where it belongs */
    program_box box; /* from there to where it belongs */
} perform_landed;

typedef struct axe_reshard_exec performing;

struct axe_reshard_exec {
    axe_engine    *e;
    engine_memory *m; /* of its buffers; host, where the engine has no other */
    engine_memory  host;
    const program *g;
    const char    *doing[MESH_STEPS];
    char      *set[PERFORM_SETS][2]; /* buffers, by turns of axe_reshard_go */
    int        n_set;
    int64_t    mark;                      /* of the heap before it */
    uint32_t   turn, ended[PERFORM_SETS]; /* progress when each was left */
    axe_number type;
    size_t     width; /* [bytes] of an element */
    char      *buffer[2];
    uint32_t   base; /* what progress was before */
    /* Of the first phase's pulls, where peers make by pieces what they give:
     * the progress that is enough; else NULL. */
    const uint32_t *enough;
    /* By pieces, where its memory has queues; else NULL. */
    const engine_queues  *queues;
    const perform_landed *landed; /* [n_pull] of the first phase; or NULL */
    int64_t               recv[MESH_STEPS];
};

/* Does a pull add?  The sum begins with its first addend where all pulls write
 * the same. */
bool perform_adds(const program_phase *f, int pull);
/* Sums that do not begin with an addend begin with zeros. */
void perform_begin_sum(const performing *p, const program_phase *f);
/* All before is done, for the count-th time: all ranks are told. */
AXE_CHECK axe_status perform_post(const performing *p, uint32_t count);
/* Wait for a peer to have said so; with queues, what is asked for next does. */
AXE_CHECK axe_status perform_await(const performing *p, int64_t peer,
                                   uint32_t count);
/* That many have come from another rank, where they were copied. */
void perform_count(performing *p, const program_phase *f, int64_t bytes);
/* Phases from `from` on; what earlier ones gave is there. */
AXE_CHECK axe_status perform_phases(performing *p, int from, int to);
/* The same plan, element type and ranks; the program of this rank. */
AXE_CHECK axe_status perform_open(performing *p, axe_engine *e,
                                  const axe_reshard_plan *plan, axe_number type,
                                  const axe_reshard_bound *bound);
/* All ranks' counts of bytes, to all of them. */
AXE_CHECK axe_status perform_tell(performing *p, int n_step, axe_traffic *out);

#endif
