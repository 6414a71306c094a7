/* move_int.h - what the files of this room share.
 *
 *     places.c  two layouts as tables of threads and registers
 *     words.c   what lanes give one another, as rounds (rounds.c)
 *     vector.c  what a warp loads or stores, in instructions
 *     shared.c  layouts of shared memory, and which is best
 *     move.c    the ways there are, and the cheapest
 *     memory.c  loads or stores, where a side is memory
 *     play.c    an interpreter: does the program do it?
 *     text.c    what it says of itself
 *
 * An element is the number of its index; elements that share a place in the
 * source are one, that with the least number.
 */
#ifndef AXE_MOVE_INT_H
#define AXE_MOVE_INT_H

#include "axe/move.h"
#include "machine/machine.h"
#include "move/banks.h"
#include "move/rounds.h"

enum { AXE_MOVE_PLACES = 1 << 20, AXE_MOVE_SLOTS = AXE_ROUND_SLOTS };

/* ------------------------------------------------------- tables: places.c */

/* One layout as a table: the element at each place, -1: none.  In registers a
 * place is (cta, thread, register), each row as long as the longest; memory is
 * one row. */
typedef struct axe_places {
    bool     memory;
    int      n_cta, n_thread, n_slot; /* threads: whole warps */
    int64_t *element; /* [n_cta][n_thread][n_slot]; of memory [n_slot] */
} axe_places;

/* The element that index x stands for. */
typedef struct axe_sides {
    bool       global; /* memory is one for all CTAs: row 0 of its table */
    int64_t    n;
    int64_t   *element; /* [n] */
    axe_places src, dst;
} axe_sides;

/* Both tables, of as many CTAs and threads each. */
AXE_CHECK axe_status axe_sides_make(axe_ctx *cx, const axe_machine *mc,
                                    int bits, axe_move_memory memory,
                                    const axe_layout *src,
                                    const axe_layout *dst, axe_sides *out);
/* What one step on the axis is in threads; 2^20 if it numbers none. */
int64_t axe_move_threads(axe_ctx *cx, const axe_machine *mc, axe_axis axis);

/* The row of a thread. */
static inline const int64_t *
axe_places_row(const axe_places *p, int cta, int thread)
{
    return p->element + ((int64_t)cta * p->n_thread + thread) * p->n_slot;
}

/* ----------------------------------------------------- programs of a warp */

/* What fills a slot of a lane. */
typedef enum axe_fill_kind {
    AXE_FILL_NOTHING,
    AXE_FILL_OWN,   /* register `part` of the lane itself */
    AXE_FILL_ROUND, /* part `part` of the word that came in round `round` */
    AXE_FILL_LOAD   /* what was loaded to slot `part` */
} axe_fill_kind;

typedef struct axe_fill {
    axe_fill_kind kind;
    int16_t       round, part;
} axe_fill;

/* Rounds of shuffles: round i gives out word round[i].reg of a lane, which is
 * up to `pack` of its registers, in each `parts` instructions. */
typedef struct axe_shuffling {
    int        pack, parts, n_word;
    int16_t   *word; /* [lanes][n_word][pack] registers, -1: none */
    axe_rounds rounds;
} axe_shuffling;

/* One load or store: slots, the same in all lanes, from or to `width`
 * neighbours; at[lane] is the first of these [elements], -1: not this lane. */
typedef struct axe_access {
    int      width;
    int16_t *slot; /* [width] */
    int64_t *at;   /* [lanes] */
} axe_access;

typedef struct axe_accesses {
    int         n, cap;
    axe_access *access;
} axe_accesses;

/* What one warp does: shuffles and stores, then loads, then fills. */
typedef struct axe_warp_program {
    axe_shuffling shuffle;
    axe_accesses  store, load;
    axe_fill     *fill; /* [lanes][n_slot of dst]; NULL to memory */
} axe_warp_program;

struct axe_move_code {
    const axe_machine *mc;
    axe_sides          sides;
    int                lanes, n_warp; /* of a CTA */
    int64_t            n_shared;      /* elements that shared memory has */
    axe_warp_program  *warp;          /* [n_cta * n_warp] */
};

/* --------------------------------------------------------- shuffles: words.c
 */

/* What lanes of a warp have and want: rows of n_have and n_want elements.
 * need[lane * n_want + slot]: it must come from another lane, and one has it.
 */
typedef struct axe_warp_tables {
    int            lanes, n_have, n_want;
    const int64_t *have, *want;
    bool          *need;
} axe_warp_tables;

/* Rounds that bring what is needed; fill[] of these slots.  False: too many
 * words for one lane. */
bool axe_words_find(axe_ctx *cx, const axe_warp_tables *t, int bits,
                    axe_shuffling *out, axe_fill *fill);
/* Selects and permutes of bytes that a warp's program needs besides. */
void axe_words_count(int lanes, int n_slot, const axe_warp_program *w,
                     int64_t *n_select, int64_t *n_permute);
/* [cycles] of the rounds; below 0: the machine has no such rows. */
double axe_words_cost(axe_ctx *cx, const axe_machine *mc,
                      const axe_shuffling *s, int bits);

/* ------------------------------------------------- loads, stores: vector.c */

/* The fewest instructions that move what is needed: at[lane * n + slot] is the
 * place of what the slot has, -1: it has nothing, need[] of those that must be
 * moved.  A vector begins at a multiple of its length.  n_place: beyond all
 * places. */
void axe_vectors_find(axe_ctx *cx, int lanes, int n, const int64_t *at,
                      const bool *need, int most, int64_t n_place,
                      axe_accesses *out);
/* Adds up banks, or sectors of global memory, and the cost in cycles. */
void axe_vectors_count(axe_ctx *cx, const axe_machine *mc, int bits,
                       axe_move_memory memory, bool store,
                       const axe_accesses *a, axe_move_access *sum,
                       double *cost);

/* --------------------------------------------- by shared memory: shared.c */

/* What goes by way of shared memory: need[place] of src and dst, as the tables
 * have them. */
typedef struct axe_trip {
    const axe_machine *mc;
    int                bits, lanes;
    const axe_sides   *sides;
    const bool        *store, *load; /* [places] of src, of dst */
    const axe_layout  *src, *dst;
} axe_trip;

/* Stores, loads of all warps by one layout: at[x] is where index x is. */
typedef struct axe_trip_count {
    axe_move_access store, load;
    double          cost;
} axe_trip_count;
/* warp[n_cta * warps]: gets the instructions, behind those it has; NULL: only
 * counted. */
void axe_trip_of(axe_ctx *cx, const axe_trip *t, int64_t n_place,
                 const int64_t *at, axe_warp_program *warp,
                 axe_trip_count *out);
/* The best layout of those that are tried; NULL: none fits. */
const axe_layout *axe_trip_search(axe_ctx *cx, const axe_trip *t);
/* Where each index of l is [elements], its swizzle included; the cosize. */
int64_t axe_trip_places(axe_ctx *cx, const axe_layout *l, int64_t *at);

/* ----------------------------------------------------- certificate: play.c */

/* Executes the program; every place of dst must then hold its element.
 * *n_proved places were compared.  A failure is a bug of ours. */
bool axe_move_play(axe_ctx *cx, const axe_move_program *m, int64_t *n_proved);

#endif
