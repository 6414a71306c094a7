/* tma_box.h - a tile's region as boxes of a tensor map.
 *
 * An engine that moves boxes takes a rectangle of a global tensor, in which
 * every dimension has its own coordinate, size and stride, and lays it down in
 * shared memory with no gaps, the first dimension fastest.  What of it is
 * outside the tensor is zero in shared memory, and not written in global.  So a
 * copy is boxes if the region's iters, ordered by stride, begin with whole
 * dimensions of the tensor; loops cover the rest.
 *
 * Rules are what cuTensorMapEncodeTiled and PTX state. */
#ifndef AXE_PLAN_SIMT_COPY_TMA_BOX_H
#define AXE_PLAN_SIMT_COPY_TMA_BOX_H

#include "ir/ir.h"

enum {
    AXE_BOX_RANK = 5,     /* dimensions of a map */
    AXE_BOX_EXTENT = 256, /* elements of a box along one */
    AXE_BOX_LOOPS = 16
};

/* Is a copy legal?  UNKNOWN: if the launch keeps the conditions. */
typedef enum axe_answer { AXE_NO, AXE_YES, AXE_UNKNOWN } axe_answer;

/* How one index walks both sides: dimension `dim` of the tensor by ones, the
 * tile by these iters, slow to fast, on axis m. */
typedef struct axe_box_walk {
    int             dim, n_iter;
    const axe_iter *iter;
} axe_box_walk;

typedef struct axe_box_copy {
    const axe_tensor   *tensor; /* global */
    int                 n_walk; /* dims without one stay at a coordinate */
    const axe_box_walk *walk;
    axe_swizzle         swizzle;    /* of the tile, on bytes; bits 0: none */
    int                 share;      /* CTAs that bring equal parts; 1: alone */
    int                 least_bits; /* of an element that a map can have */
} axe_box_copy;

/* Iterations of a loop, or a CTA's part: each moves the box by `step` elements
 * in the tile and by `move` along dimension `dim` of the tensor. */
typedef struct axe_box_loop {
    int64_t extent, step, move;
    int     dim;
} axe_box_loop;

typedef struct axe_box {
    int          rank;                 /* the tensor's */
    int          dim[AXE_BOX_RANK];    /* of the tensor, fastest first */
    int          extent[AXE_BOX_RANK]; /* of the box */
    int          swizzle;              /* [bytes] 0, 32, 64, 128 */
    int          n_loop;
    axe_box_loop loop[AXE_BOX_LOOPS];
    axe_box_loop part;  /* of one CTA; extent 1: all of it */
    int64_t      bytes; /* of one box */
    /* The strides that must be whole multiples of 16 bytes and are not known to
     * be: those of dimensions with a bit here. */
    unsigned ask;
} axe_box;

/* Rows of a box have at least 16 bytes.  Where those of the tensor are shorter,
 * its last dimensions become one in c->tensor and c->walk, as long as they lie
 * together and are walked whole. */
void axe_box_join(axe_ctx *cx, axe_box_copy *c);

/* The fewest boxes that are the copy; why: one line, for AXE_NO what forbids it
 * and with which values, for UNKNOWN what must hold. */
axe_answer axe_box_find(axe_ctx *cx, const axe_box_copy *c, axe_box *out,
                        const char **why);

/* Every element of every box against the tile's iters: how many were compared,
 * or -1 at the first difference, or if an element is missing or comes twice.
 * Cost: the region's elements. */
int64_t axe_box_certify(axe_ctx *cx, const axe_box_copy *c, const axe_box *b);

#endif
