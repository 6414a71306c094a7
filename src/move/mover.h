/* mover.h - one move being made: what the ways of move.c and memory.c share. */
#ifndef AXE_MOVE_MOVER_H
#define AXE_MOVE_MOVER_H

#include "move/move_int.h"

typedef struct axe_mover {
    axe_ctx           *cx;
    const axe_machine *mc;
    const axe_layout  *src, *dst;
    axe_sides          s;
    int                bits, lanes, n_warp; /* warps of a CTA */
    axe_move_kind      by;                  /* of the options */
    axe_fill          *own;                 /* [places of dst] */
    bool              *near, *far; /* [places of dst]: in the warp, beyond */
    int64_t            n_near, n_far, n_moved; /* moved: own, renamed */
    axe_warp_program  *warp;                   /* the program being made */
} axe_mover;

static inline int64_t
axe_mover_places(const axe_places *p)
{
    return (int64_t)p->n_cta * p->n_thread * p->n_slot;
}

static inline int
axe_mover_warps(const axe_mover *m)
{
    return m->s.dst.n_cta * m->n_warp;
}

/* A program of no instructions yet, with what lanes have themselves; and its
 * counts, once it is made. */
void axe_mover_begin(axe_mover *m, axe_move_program *out, axe_move_kind kind);
void axe_mover_finish(axe_mover *m, int64_t n_shared, axe_move_program *out);

/* Slots of warp w whose lanes all want what those of an earlier slot want are
 * filled from what that one got, from[slot]; then those slots are filled. */
void axe_mover_merge_loads(axe_mover *m, int64_t w, bool *load, int16_t *from);
void axe_mover_fill_loads(axe_mover *m, const bool *wanted,
                          const int16_t *from);
axe_status axe_mover_refuse(const axe_mover *m, int64_t e, int cta);

/* memory.c: where SRC, DST or both are memory. */
AXE_CHECK axe_status axe_mover_from_memory(axe_mover *m, axe_move_program *out);
AXE_CHECK axe_status axe_mover_to_memory(axe_mover *m, axe_move_program *out);
AXE_CHECK axe_status axe_mover_in_memory(axe_mover *m, axe_move_program *out);

/* nibbles.c: both layouts of elements of 4 bits as layouts of their bytes;
 * refused where they have not the same two in one. */
AXE_CHECK axe_status axe_move_bytes_of(axe_ctx *cx, const axe_layout **src,
                                       const axe_layout **dst);

#endif
