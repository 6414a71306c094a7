/* move.h - from one layout to another, as a program.
 *
 * Two layouts of one tensor say where each element is and where it should be:
 * in registers of threads, or in memory.  A move is the cheapest program that
 * brings it there: nothing; other names for registers; rounds of shuffles in
 * each warp; a trip through shared memory, with the layout it has there; or
 * loads and stores, where one of the two layouts is memory already.
 *
 * Extents need not be powers of two, and layouts may have replicas, offsets and
 * threads that hold nothing.  Every program is executed by an interpreter
 * before it is handed out: each place of the destination then holds the element
 * that the definition of layouts puts there.
 *
 * Where a layout has no thread and no register axis, it is memory, on axis m,
 * in elements: shared memory of each CTA, or global memory, one for all, if the
 * options say so.  Where it has, m is what reg is: registers of
 * a thread.
 */
#ifndef AXE_MOVE_H
#define AXE_MOVE_H

#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum axe_move_kind {
#define MOVE(name, word, text) AXE_MOVE_##name,
#include "axe/move.def"
    AXE_N_MOVE
} axe_move_kind;

/* What a layout over m alone is. */
typedef enum axe_move_memory {
    AXE_MOVE_IN_SHARED,
    AXE_MOVE_IN_GLOBAL /* its first element at a multiple of any vector */
} axe_move_memory;

typedef struct axe_move_options {
    const char   *machine; /* whose threads and banks; NULL: sm_90a */
    int           bits;    /* of an element: 4, 8, 16, 32, 64 or 128; 0: 32 */
    axe_move_kind by;      /* SHUFFLE or SHARED: only so, where anything moves
                              between threads; NOTHING: the cheapest */
    axe_move_memory memory;
} axe_move_options;

/* Loads or stores of memory, of all warps together. */
typedef struct axe_move_access {
    int64_t n;         /* instructions of a warp */
    int64_t cycles;    /* transactions: what banks take for them; in global
                          memory, lines as long as all banks */
    int64_t conflicts; /* of these, those that come of banks alone */
    int     widest;    /* [bytes] that a thread moves in one of them */
    /* Of global memory: sectors that are touched, instruction by instruction,
     * and as many as would hold the bytes that are used of them. */
    int64_t sectors, least_sectors;
} axe_move_access;

/* What a program executes, counted over all warps. */
typedef struct axe_move_program {
    axe_move_kind     kind;
    const char       *machine;
    int               bits; /* 4: what is moved and counted are bytes of two */
    int               lanes, n_warp, n_cta;
    int64_t           n_element;
    int64_t           n_shuffle;    /* instructions of a warp */
    int64_t           most_shuffle; /* of these, in the warp that has most */
    int64_t           n_select;     /* where lanes differ in which register */
    int64_t           n_permute; /* to make words of short elements, and back */
    axe_move_access   store, load;
    int               n_barrier;
    bool              warp_barrier; /* of each warp alone; else of the CTA */
    const axe_layout *shared;       /* NULL: none is used */
    int64_t           shared_bytes;
    double            cost;   /* estimate [cycles of an SM] */
    int64_t         n_proved; /* places of the destination that were compared */
    axe_move_memory memory;   /* of a side that is memory */
    const struct axe_move_code *code;
} axe_move_program;

/* The cheapest move from src to dst.  src and dst are equal in size, and index
 * x of one is index x of the other.  opt may be NULL.
 *
 * The program is found by search: rounds of shuffles are as few as the busiest
 * lane needs where no element has two places (Koenig), else nearly so; layouts
 * of shared memory are chosen among some hundreds by counting bank by bank.
 *
 * Errors  ENAME: no such machine.  EARG: bits.
 *         ESHAPE: the sizes differ (the element that is missing is named); an
 *         axis leaves its range; a place of dst is of two elements that differ.
 *         EUNSUPPORTED: the machine has no threads that run together; an axis
 *         of neither threads, registers nor memory; from memory to memory; from
 *         one CTA to another; elements of 4 bits of which SRC and DST have not
 *         the same two in a byte; shared memory does not suffice; `by`
 *         shuffles, and elements leave their warp.
 *         ELIMIT: over 2^20 places; over 256 registers of a thread.
 * Cost: O(places) for each layout of shared memory that is tried. */
AXE_CHECK axe_status axe_move_plan(axe_ctx *cx, const axe_layout *src,
                                   const axe_layout        *dst,
                                   const axe_move_options  *opt,
                                   const axe_move_program **out);

/* What it is and costs, a fact a line; with the program of one CTA, warp by
 * warp, where `program`. */
const char *axe_move_text(axe_ctx *cx, const axe_move_program *m, bool program);
/* The same facts as one JSON object. */
const char *axe_move_json(axe_ctx *cx, const axe_move_program *m);

#ifdef __cplusplus
}
#endif
#endif
