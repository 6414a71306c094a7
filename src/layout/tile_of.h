/* tile_of.h - what tile_of.c and quotient.c share: undoing tile and sum. */
#ifndef AXE_LAYOUT_TILE_OF_H
#define AXE_LAYOUT_TILE_OF_H

#include "layout/set.h"

/* What is asked, and how messages call it. */
typedef struct axe_question {
    axe_ctx    *cx;
    const char *op;
    const char *whole, *part; /* "the tiled layout", "the inner layout" */
} axe_question;

/* Iters found, growing. */
typedef struct axe_list {
    axe_ctx  *cx;
    int       n, cap;
    axe_iter *iter;
    axe_iter  few[AXE_FEW];
} axe_list;

void axe_list_begin(axe_ctx *cx, axe_list *v);

/* The iters of two sorted lists on the least place of either. */
typedef struct axe_place {
    axe_axis        axis;
    axe_unit        unit;
    int             na, nb;
    const axe_iter *a, *b;
} axe_place;

/* false if both are at their end. */
bool axe_next_place(int na, const axe_iter *a, int nb, const axe_iter *b,
                    axe_place *p);

/* Report that there are no such replicas on the axis, or that it is undecided.
 */
axe_status axe_no_replicas(const axe_question *q, axe_axis axis,
                           axe_found found);

/* The replicas of t that are not those of `known`.  w: NULL for a sum; else t
 * is a tile, and the outer (want_x) or the inner replicas are wanted. */
AXE_CHECK axe_status axe_other_replicas(const axe_question *q,
                                        const axe_fiber    *t,
                                        const axe_fiber    *known,
                                        const axe_widths *w, bool want_x,
                                        axe_list *out);

#endif
