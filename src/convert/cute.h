/* cute.h - CuTe's layouts, as trees.
 *
 * A layout is two congruent trees, Shape:Stride; here one tree, each leaf with
 * both.  Leaves run fast to slow:
 *
 *     L(i) = sum (i / product of the shapes before k  mod  s_k) * d_k
 *
 * and the last leaf is not bounded.  A stride may be a scaled basis, 2@1@0,
 * whose value is two steps of coordinate 0's coordinate 1.  Trees are immutable
 * and live in their ctx.
 *
 *     cute.c          making, checking, evaluating
 *     cute_read.c     text and JSON in             cute_print.c    and out
 *     cute_algebra.c  coalesce to inverses         cute_divide.c   divide,
 * product cute_axe.c      to and from Axe              cute_tv.c thread-value
 *
 * Source: CUTLASS, include/cute/layout.hpp (the documented post-conditions).
 */
#ifndef AXE_CONVERT_CUTE_H
#define AXE_CONVERT_CUTE_H

#include "axe/layout.h"

enum {
    AXE_CUTE_BASES = 4,   /* @ in one stride */
    AXE_CUTE_DEPTH = 32,  /* parentheses in one another */
    AXE_CUTE_LEAVES = 256 /* of one layout */
};

/* Which coordinate a stride steps along: at[0..n), as printed, the innermost
 * first; n 0: an integer. */
typedef struct axe_cute_basis {
    int n;
    int at[AXE_CUTE_BASES];
} axe_cute_basis;

typedef struct axe_cute axe_cute;
struct axe_cute {
    int             n_mode; /* -1: a leaf */
    const axe_cute *mode;
    int64_t         shape, stride;
    axe_cute_basis  basis;
};

/* A o (offset + L): CuTe's ComposedLayout.  element_bits: of smem_ptr[16b],
 * whose swizzle is one of bytes; 0: the swizzle counts what L counts. */
typedef struct axe_cute_composed {
    axe_swizzle     swizzle;
    int64_t         offset;
    int             element_bits;
    const axe_cute *layout;
} axe_cute_composed;

/* ----------------------------------------------------- making: cute.c */

static inline axe_cute
axe_cute_leaf(int64_t shape, int64_t stride)
{
    return (axe_cute){.n_mode = -1, .shape = shape, .stride = stride};
}

static inline bool
axe_cute_is_leaf(const axe_cute *l)
{
    return l->n_mode < 0;
}

bool axe_cute_same_basis(axe_cute_basis a, axe_cute_basis b);

/* A copy in ctx memory; a tuple of n copies. */
const axe_cute *axe_cute_put(axe_ctx *cx, axe_cute l);
axe_cute        axe_cute_tuple(axe_ctx *cx, int n, const axe_cute *mode);

/* Modes at the top, 1 for a leaf, and the i-th of them. */
int             axe_cute_rank(const axe_cute *l);
const axe_cute *axe_cute_mode(const axe_cute *l, int i);

/* The leaves, fast to slow, in ctx memory; a tuple of none has none. */
int axe_cute_leaves(axe_ctx *cx, const axe_cute *l, axe_cute **out);

/* Product of the shapes; of a checked layout it fits. */
int64_t axe_cute_size(const axe_cute *l);

/* Errors  ESHAPE: a shape < 1.  EOVERFLOW: the size, or the sum of shape *
 *         |stride|, leaves int64.  ELIMIT: too many leaves.
 * what    names it in messages */
AXE_CHECK axe_status axe_cute_check(axe_ctx *cx, const char *what,
                                    const axe_cute *l);

/* L(i), the last leaf unbounded, at negative i too; bases are not told apart.
 * EOVERFLOW. */
AXE_CHECK axe_status axe_cute_at(axe_ctx *cx, const axe_cute *l, int64_t i,
                                 int64_t *out);

/* a with `stride` steps of the compact column-major order, from `unit` on. */
AXE_CHECK axe_status axe_cute_compact(axe_ctx *cx, const axe_cute *a,
                                      int64_t unit, axe_cute *out);

/* --------------------------------------------------- cute_read.c */

/* All of a text: a layout, maybe composed with a swizzle.
 *
 *     text    = [ swizzle "o" ( offset | "smem_ptr" "[" bits "b" "]"
 *               [ "(" "unset" ")" ] ) "o" ] layout
 *     swizzle = ( "S" | "Sw" | "Swizzle" ) "<" bits "," base "," shift ">"
 *     layout  = tree [ ":" tree ]         no strides: compact, column-major
 *     tree    = stride | "(" [ tree { "," tree } ] ")"
 *     stride  = [ "-" ] number { "@" number }
 *     number  = [ "_" ] digits [ "{" "}" ]                  CuTe's _8, _8{} */
AXE_CHECK axe_status axe_cute_read(axe_ctx *cx, const char *text,
                                   axe_cute_composed *out);

/* --------------------------------------------------- cute_print.c */

/* "((2,4),8):((1,16),2)", as CuTe prints it. */
void        axe_cute_put_text(axe_buf *b, const axe_cute *l);
const char *axe_cute_text(axe_ctx *cx, const axe_cute *l);
const char *axe_cute_shape_text(axe_ctx *cx, const axe_cute *l);

/* --------------------------------------------------- cute_algebra.c */

/* Flat, the same function below its size. */
AXE_CHECK axe_status axe_cute_coalesce(axe_ctx *cx, const axe_cute *l,
                                       axe_cute *out);
/* Mode by mode, as deep as `profile` has tuples. */
AXE_CHECK axe_status axe_cute_coalesce_by(axe_ctx *cx, const axe_cute *l,
                                          const axe_cute *profile,
                                          axe_cute       *out);
/* Coalesced, without strides of 0. */
AXE_CHECK axe_status axe_cute_filter(axe_ctx *cx, const axe_cute *l,
                                     axe_cute *out);
/* R(c) = A(B(c)), compatible with B: the true map or ESHAPE, whose note has an
 * index where no such layout agrees. */
AXE_CHECK axe_status axe_cute_compose(axe_ctx *cx, const axe_cute *a,
                                      const axe_cute *b, axe_cute *out);
/* Strictly increasing, meets L's image in 0 alone, and covers [0, total): total
 * is the shape of a layout.  ESHAPE if l is not injective, or steps back. */
AXE_CHECK axe_status axe_cute_complement(axe_ctx *cx, const axe_cute *l,
                                         const axe_cute *total, axe_cute *out);
/* L(R(i)) = i below R's size, as far as strides 1, s0, s0 s1, .. go. */
AXE_CHECK axe_status axe_cute_right_inverse(axe_ctx *cx, const axe_cute *l,
                                            axe_cute *out);
/* L(X(L(i))) = L(i). */
AXE_CHECK axe_status axe_cute_left_inverse(axe_ctx *cx, const axe_cute *l,
                                           axe_cute *out);
/* How many elements, from index 0 on, both layouts have side by side. */
AXE_CHECK axe_status axe_cute_max_common_vector(axe_ctx *cx, const axe_cute *a,
                                                const axe_cute *b,
                                                int64_t        *out);
/* K with L(K(i)) = 0. */
AXE_CHECK axe_status axe_cute_nullspace(axe_ctx *cx, const axe_cute *l,
                                        axe_cute *out);
/* gcd(s, what is left of n) points of each leaf. */
AXE_CHECK axe_status axe_cute_distribute(axe_ctx *cx, const axe_cute *shape,
                                         int64_t n, axe_cute *out);
AXE_CHECK axe_status axe_cute_cosize(axe_ctx *cx, const axe_cute *l,
                                     int64_t *out);

/* --------------------------------------------------- cute_cast.c */

/* n elements become one, or one becomes n; ESHAPE where a stride and n do not
 * divide one another. */
AXE_CHECK axe_status axe_cute_upcast(axe_ctx *cx, const axe_cute *l, int64_t n,
                                     axe_cute *out);
AXE_CHECK axe_status axe_cute_downcast(axe_ctx *cx, const axe_cute *l,
                                       int64_t n, axe_cute *out);

/* --------------------------------------------------- cute_divide.c */

/* What a divide's or product's result looks like. */
typedef enum axe_cute_form {
    AXE_CUTE_LOGICAL, /* ((tile, rest), (tile, rest)) */
    AXE_CUTE_ZIPPED,  /* ((tile, tile), (rest, rest)) */
    AXE_CUTE_TILED,   /* ((tile, tile), rest, rest) */
    AXE_CUTE_FLAT     /* (tile, tile, rest, rest) */
} axe_cute_form;

AXE_CHECK axe_status axe_cute_divide(axe_ctx *cx, const axe_cute *a,
                                     const axe_cute *b, axe_cute *out);
/* By n tilers, one for each mode of a from the first on. */
AXE_CHECK axe_status axe_cute_divide_by(axe_ctx *cx, const axe_cute *a, int n,
                                        const axe_cute *tiler,
                                        axe_cute_form form, axe_cute *out);
AXE_CHECK axe_status axe_cute_compose_by(axe_ctx *cx, const axe_cute *a, int n,
                                         const axe_cute *tiler, axe_cute *out);
AXE_CHECK axe_status axe_cute_product(axe_ctx *cx, const axe_cute *a,
                                      const axe_cute *b, axe_cute *out);
/* Mode i of a with mode i of b, a inner; raked: b inner. */
AXE_CHECK axe_status axe_cute_zip_product(axe_ctx *cx, const axe_cute *a,
                                          const axe_cute *b, bool raked,
                                          axe_cute *out);
/* order[n]: of which mode strides are least, 0 or 1 upwards; NULL: in order. */
AXE_CHECK axe_status axe_cute_ordered(axe_ctx *cx, const axe_cute *shape,
                                      const int64_t *order, axe_cute *out);
AXE_CHECK axe_status axe_cute_tile_to_shape(axe_ctx *cx, const axe_cute *block,
                                            const axe_cute *target,
                                            const int64_t  *order,
                                            axe_cute       *out);

/* --------------------------------------------------- cute_axe.c */

/* l as a layout of Axe.  coordinates: a dim for each mode at the top, else one
 * dim with the linear index.  A basis goes to the axis of its name in `axes`, m
 * where all strides are integers. */
AXE_CHECK axe_status axe_cute_to_axe(axe_ctx *cx, const axe_cute_composed *l,
                                     bool coordinates, int n_axis,
                                     const char *const *axes,
                                     const axe_layout **out);
/* And back; an axis besides m, or several, become bases 0, 1, .. in the order
 * of `axes`, or as they appear. Errors  ESHAPE: replicas.  EUNSUPPORTED: a size
 * known at run time, or a swizzle of bytes without element_bits. */
AXE_CHECK axe_status axe_cute_from_axe(axe_ctx *cx, const axe_layout *l,
                                       bool coordinates, int n_axis,
                                       const char *const *axes,
                                       int                element_bits,
                                       axe_cute_composed *out);

/* --------------------------------------------------- cute_tv.c */

/* A thread-value layout: (thread, value) to the colexicographic index of a
 * tile.  thr_id: where thread t is, if not at t; else its n_mode is 0. */
typedef struct axe_cute_tv {
    axe_cute layout, thr_id;
    int64_t  threads, values;
} axe_cute_tv;

/* l's dims are the tile's.  Threads are the axes of threads and devices, values
 * all others, or as `axes` say: "lane,warp;reg", each group fast to slow. */
AXE_CHECK axe_status axe_cute_tv_from_axe(axe_ctx *cx, const axe_layout *l,
                                          const char *axes, axe_cute_tv *out);
AXE_CHECK axe_status axe_cute_tv_to_axe(axe_ctx *cx, const axe_cute_tv *tv,
                                        axe_shape tile, const char *axes,
                                        const axe_layout **out);

#endif
