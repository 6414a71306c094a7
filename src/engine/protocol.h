/* protocol.h - a plan as a list of steps for each rank, and what such lists do
 * on simulated ranks.
 *
 * A list is what perform.c does over addresses, in its order: put, post, then
 * for each phase wait, pull, post; at last take, meet, leave.  Or it is what
 * pieces_run.c does: where a rank gives piece by piece, make and post stand in
 * place of put, where it takes so, use behind the pulls of each.  The simulator
 * runs the lists of all ranks in one process, in an order of its choice, and
 * decides by vector clocks what posts, waits and meetings make sure of. */
#ifndef AXE_ENGINE_PROTOCOL_H
#define AXE_ENGINE_PROTOCOL_H

#include "axe/sim.h"
#include "engine/program.h"

typedef enum protocol_kind {
#define PROTOCOL(name, word, text) PROTOCOL_##name,
#include "engine/protocol.def"
    N_PROTOCOL
} protocol_kind;

typedef struct protocol_step {
    protocol_kind kind;
    int           phase; /* -1: before the first */
    int           step;  /* of the plan */
    int64_t       peer;  /* of WAIT and PULL */
    uint32_t      count; /* of POST and WAIT */
    int           from, to;
    bool          add;
    int64_t       first, n; /* elements of PUT, MAKE, ZERO, USE, TAKE */
    uint32_t      left;     /* out by a POST, as others count further */
    program_box   box;
} protocol_step;

typedef struct protocol {
    int64_t        rank, size, room; /* elements of a buffer */
    int            n_phase, n_step;
    uint32_t       n_post; /* the most that a rank counts to */
    protocol_step *step;
} protocol;

/* The lists of all ranks: out[n_device].
 * bound   NULL, or what goes is below it
 * Errors  those of program_of */
AXE_CHECK axe_status protocol_of_plan(axe_ctx *cx, const axe_reshard_plan *p,
                                      const axe_reshard_bound *bound,
                                      protocol               **out);
/* A plan of one step by pieces of grain[rank] elements, as an engine of that
 * memory carries it out (engine/pieces.h).
 * Errors  as protocol_of_plan; ELIMIT: more than ENGINE_PIECES pieces */
AXE_CHECK axe_status protocol_of_pieces(axe_ctx *cx, const axe_reshard_plan *p,
                                        bool giving, bool one_by_one,
                                        const int64_t *grain, protocol **out);
/* "pull 12 elements of rank 1" */
const char *protocol_step_text(axe_ctx *cx, const protocol_step *s);

typedef enum protocol_order {
    PROTOCOL_EVEN,   /* one step each, by turns */
    PROTOCOL_BEHIND, /* one rank goes on only when no other can */
    PROTOCOL_AHEAD,  /* one goes on as far as it can before any other does */
    PROTOCOL_CHANCE  /* by the seed */
} protocol_order;

typedef enum protocol_work {
    PROTOCOL_COMPUTES,
    PROTOCOL_MOVES,
    PROTOCOL_WAITS
} protocol_work;

/* When what happens, by the mesh's links: a pull takes a message's latency and
 * its bytes, one after the other on a rank.  Its link works beside what the
 * rank computes, which waits for it where it uses what has come. */
typedef struct protocol_times {
    double *now; /* [n_device] [ns] where each is; goes on */
    const double
        *each; /* [n_device] [ns] an element that is made or used; NULL: 0 */
    void (*span)(void *user, int64_t rank, double begin, double end,
                 protocol_work what);
    void *user;
} protocol_times;

typedef struct protocol_run {
    const axe_reshard_plan *plan;
    /* NULL, or of the result nobody looks at what is not below it. */
    const axe_reshard_bound *bound;
    const protocol          *rank; /* [n_device] */
    axe_number               type;
    const void *const       *src; /* [n_device]; NULL: no data */
    void *const             *dst;
    axe_span                 at; /* the statement, for findings */
    const char              *what;
    protocol_order           order;
    int64_t                  who;
    uint64_t                 seed;
    axe_traffic             *traffic; /* NULL, or what was pulled */
    const protocol_times    *times;   /* NULL: nobody asks */
} protocol_run;

enum { PROTOCOL_RANKS = 64 };

/* Is a device's buffer of so many elements one that the simulator takes?
 * Errors  ELIMIT */
AXE_CHECK axe_status protocol_check_room(axe_ctx *cx, axe_span at,
                                         const char *what, int64_t room);
/* Run once.  What is wrong is added to the report, which is not cleared.
 * Errors  ELIMIT: over PROTOCOL_RANKS ranks; EOVERFLOW: too many elements */
AXE_CHECK axe_status protocol_simulate(axe_ctx *cx, const protocol_run *r,
                                       axe_sim_report *out);
/* The i-th of the orders that are worth a try; false: there is none. */
bool protocol_next_order(int64_t n_rank, int64_t i, uint64_t seed,
                         protocol_run *r);

/* Add a finding, or count it if it is known. */
void protocol_find(axe_ctx *cx, axe_sim_report *out, axe_sim_kind kind,
                   axe_span at, const char *text);

#endif
