/* layout_int.h - what the files of this room share.
 *
 *     axis.c    axes, how they nest           unit.c      run-time sizes
 *     layout.c  making and checking           text.c      printing
 *     scan.c    characters of a literal       read.c      its grammar
 *     iters.c   lists of iters                canon.c     normal form
 *     order.c   in what order they are written
 *     set.c     sums of progressions          solve.c     solving them
 *     equal.c   equality of maps              group.c     cutting into dims
 *     differ.c  what shows that not
 *     tile.c    tile, direct sum              tile_of.c   undone; quotient.c
 *     slice.c   regions                       query.c     points and spans
 *
 * Iters are kept in plain arrays, slow to fast, in room that the caller gives:
 * a small array on the stack for typical layouts, the arena for the rest
 * (axe_iters_room).  A result is one allocation: axe_draft_new with upper
 * bounds, fill, axe_draft_finish.
 */
#ifndef AXE_LAYOUT_INT_H
#define AXE_LAYOUT_INT_H

#include "axe/layout.h"

enum { AXE_FEW = 32 }; /* iters that fit a small array on the stack */

/* ------------------------------------------------------- axes: axis.c */

/* whole = factor * outer + inner, 0 <= inner < factor. */
typedef struct axe_nest {
    axe_axis whole, outer, inner;
    int64_t  factor;
} axe_nest;

/* The nesting facts of cx in order of declaration; NULL when *n is 0. */
const axe_nest *axe_nests(const axe_ctx *cx, int *n);

/* a and b by axes that tell them apart: where one names a whole axis and the
 * other parts of it, the whole is split (nest.c).  ESHAPE if an iter straddles.
 */
AXE_CHECK axe_status axe_axes_level(axe_ctx *cx, const axe_layout **a,
                                    const axe_layout **b);

bool axe_axis_known(const axe_ctx *cx, axe_axis a);
bool axe_unit_known(const axe_ctx *cx, axe_unit u);

/* Is it [A-Za-z_][A-Za-z0-9_]*, all of it? */
bool axe_is_name(const char *s, size_t len);

/* ----------------------------------------------------- making: layout.c */

/* A layout being filled: one block of memory.  The caller writes the arrays
 * and the counts in `layout` (at most what was asked for), and dim_end. */
typedef struct axe_draft {
    axe_layout *layout;
    axe_iter   *shard, *replica;
    axe_offset *offset;
    int        *dim_end;
} axe_draft;

/* Room for that many; the counts start at 0, but n_dim at n_dim. */
axe_draft axe_draft_new(axe_ctx *cx, int n_shard, int n_replica, int n_offset,
                        int n_dim);

/* A draft that is l already, with room for n_more iters of D. */
axe_draft axe_draft_copy(axe_ctx *cx, const axe_layout *l, int n_more);

/* Compute the size, put the offsets in order, check that no coordinate leaves
 * int64 (EOVERFLOW, the text begins with `op`), and hand it out. */
AXE_CHECK axe_status axe_draft_finish(axe_ctx *cx, axe_draft d, const char *op,
                                      const axe_layout **out);

/* First iter of dim k, and the end of the last. */
static inline int
axe_dim_begin(const axe_layout *l, int k)
{
    return k > 0 ? l->dim_end[k - 1] : 0;
}

/* Sort by axis, then unit; add up equals; drop zeros.  Returns how many are
 * left, or -1 if a sum leaves int64.  O(n log n). */
int axe_offsets_sum(axe_offset *o, int n);
/* Sort by axis, then unit. */
void axe_offsets_sort(axe_offset *o, int n);
/* `few` if n fit in it, else memory of the ctx. */
axe_offset *axe_offsets_room(axe_ctx *cx, axe_offset *few, int n);

/* Text of "(2, 3)", for messages. */
const char *axe_shape_text(axe_ctx *cx, axe_shape s);

/* The same map by the same fields; bits 0 is one swizzle. */
bool axe_swizzle_same(axe_swizzle a, axe_swizzle b);

/* ------------------------------------------------------ iters: iters.c */

/* `few` if n fit in it, else memory of the ctx. */
static inline axe_iter *
axe_iters_room(axe_ctx *cx, axe_iter few[AXE_FEW], int n)
{
    return n <= AXE_FEW ? few : axe_new_array(cx, axe_iter, n);
}

/* Do they add to the same coordinate: same axis, same unit? */
static inline bool
axe_same_place(axe_iter a, axe_iter b)
{
    return a.axis == b.axis && a.unit == b.unit;
}

void axe_iters_copy(axe_iter *dst, int n, const axe_iter *src);
bool axe_iters_same(int n, const axe_iter *a, const axe_iter *b);

/* Does `outer` go on where a whole run of `inner` ends? */
static inline bool
axe_iter_continues(axe_iter outer, axe_iter inner)
{
    int64_t run;

    return axe_same_place(outer, inner) &&
           axe_mul(inner.extent, inner.stride, &run) && outer.stride == run;
}

/* Append `it` to the normal form dst[from..n): units of extent 1 vanish,
 * stride 0 goes to axis m, a neighbour that continues fuses (D0, D1).  Returns
 * the new n.  One look back is enough: the fused iter ends where the last one
 * did, so it cannot begin to be continued by the one before. */
static inline int
axe_iters_push(axe_iter *dst, int from, int n, axe_iter it)
{
    if (it.extent == 1)
        return n;
    if (it.stride == 0) {
        it.axis = AXE_AXIS_M;
        it.unit = AXE_UNIT_ONE;
    }
    if (n > from && axe_iter_continues(dst[n - 1], it))
        it.extent *= dst[--n].extent;
    dst[n++] = it;
    return n;
}

/* The normal form of src[0..n) at dst[0..), which may be src.  Returns its
 * length. */
int  axe_iters_canon(axe_iter *dst, int n, const axe_iter *src);
bool axe_iters_are_canon(int n, const axe_iter *src);

/* C0, C1: the replicas of src without those that add nothing and with positive
 * strides, at dst (may be src); what the turned ones begin at is put in off,
 * one entry each (room for n), *n_off counts them.  Returns how many. */
int axe_replicas_turn(axe_iter *dst, int n, const axe_iter *src,
                      axe_offset *off, int *n_off);

/* Sort turned replicas by axis, unit, stride and absorb (C2).  Returns how many
 * are left.  O(n log n) where few overlap. */
int axe_replicas_absorb(axe_iter *r, int n);

/* R and O in normal form, the least point of R being 0: C0 to C2, offsets in
 * order.  EOVERFLOW in the name of op.  In canon.c. */
typedef struct axe_fiber {
    int         n_replica, n_offset;
    axe_iter   *replica;
    axe_offset *offset;
    axe_iter    few_replica[AXE_FEW];
    axe_offset  few_offset[AXE_FEW];
} axe_fiber;

AXE_CHECK axe_status axe_fiber_of(axe_ctx *cx, const char *op,
                                  const axe_layout *l, axe_fiber *out);

/* Replicas, and the offsets of l, in the order in which they are written, which
 * depends on names alone (order.c); dst may be src. */
void              axe_replicas_in_order(axe_ctx *cx, int n, const axe_iter *src,
                                        axe_iter *dst);
const axe_offset *axe_offsets_in_order(axe_ctx *cx, const axe_layout *l);

/* Cut src[0..n) by the shape.  dst: room for n + shape.n iters; dim_end: room
 * for shape.n.  Returns how many iters, or -1 with *at, *need the iter that
 * cannot be cut and the extent still needed.
 * The products must be equal. */
int axe_iters_cut(axe_iter *dst, int *dim_end, int n, const axe_iter *src,
                  axe_shape shape, int *at, int64_t *need);

/* D in normal form, cut by the shape: what every operation reads that takes a
 * layout and a shape.  ESHAPE, in the name of op, iff the map has no such cut.
 * Begin with axe_blocks_few; what does not fit there is taken from the ctx. */
typedef struct axe_blocks {
    int       n, cap_iter, cap_dim;
    axe_iter *iter;    /* [n] none of extent 1 */
    int      *dim_end; /* [shape.n] */
    axe_iter  few_iter[AXE_FEW];
    int       few_dim[AXE_FEW];
} axe_blocks;

static inline void
axe_blocks_few(axe_blocks *b)
{
    b->n = 0;
    b->cap_iter = b->cap_dim = AXE_FEW;
    b->iter = b->few_iter;
    b->dim_end = b->few_dim;
}

AXE_CHECK axe_status axe_cut(axe_ctx *cx, const char *op, const axe_layout *l,
                             axe_shape shape, axe_blocks *out);

/* ------------------------------------------------------- sets: set.c */

/* The replicas of one axis and unit, turned (axe_replicas_turn), are the set
 * { sum r_k s_k : 0 <= r_k < e_k }.  These work on that. */

enum { AXE_SET_MAX = 1 << 22 }; /* runs, points or steps before ELIMIT */

/* The largest member. */
int64_t axe_sums_width(int n, const axe_iter *r);

/* Equal, of absorbed lists?  ELIMIT after AXE_SET_MAX runs. */
AXE_CHECK axe_status axe_sums_equal(axe_ctx *cx, int na, const axe_iter *a,
                                    int nb, const axe_iter *b, bool *out);

/* The members, ascending, in ctx memory; NULL if there are over `max`. */
int64_t *axe_sums_points(axe_ctx *cx, int n, const axe_iter *r, int64_t max,
                         int64_t *n_point);

/* How many members; false after AXE_SET_MAX runs. */
bool axe_sums_count(axe_ctx *cx, int n, const axe_iter *r, int64_t *out);

/* Equality over all axes and units of absorbed lists: equal.c. */
AXE_CHECK axe_status axe_replicas_equal(axe_ctx *cx, int na, const axe_iter *a,
                                        int nb, const axe_iter *b, bool *out);

/* The same sets at the same offset?  equal.c. */
AXE_CHECK axe_status axe_fibers_equal(axe_ctx *cx, const axe_fiber *a,
                                      const axe_fiber *b, bool *out);

/* How many of the n > 0 iters lie on the place of the first. */
int axe_place_run(int n, const axe_iter *r);

/* ---------------------------------------------------- spans: tile.c */

/* Spans less 1, by axis and unit, of those places where it is not 0. */
typedef struct axe_widths {
    int         n;
    axe_offset *width; /* by axis, then unit */
    axe_offset  few[AXE_FEW];
} axe_widths;

void axe_widths_of(axe_ctx *cx, int n_shard, const axe_iter *shard,
                   int n_replica, const axe_iter *replica, axe_widths *out);

/* The span on one axis; 0 where a run-time size is part of it. */
int64_t axe_widths_span(const axe_widths *w, axe_axis axis);

/* Report that such a span would be needed. */
axe_status axe_span_unknown(axe_ctx *cx, const char *op, axe_axis axis);

/* ---------------------------------------------------- reading: read.c */

/* Names a literal may use beyond axes and sizes.  Each may be NULL. */
typedef struct axe_literal_env {
    void *user;
    /* Is it a compile-time integer?  Then an extent or a factor of a stride. */
    bool (*constant)(void *user, const char *name, int64_t *value);
    /* Is it a layout?  Then "+ name" is not an offset of this literal. */
    bool (*layout)(void *user, const char *name);
} axe_literal_env;

/* Read the literal that starts at text[at] (blanks and // comments skipped) of
 * a source registered as `source` (0: none), and say in *end where it stops:
 * at the first character, blanks apart, that cannot go on with it.  env may be
 * NULL.
 * Errors: as axe_layout_read. */
AXE_CHECK axe_status axe_layout_read_at(axe_ctx *cx, int32_t source,
                                        const char *text, size_t len, size_t at,
                                        const axe_literal_env *env,
                                        const axe_layout **out, size_t *end);

/* The same for the replicas that follow an inferred layout: "+ [2 : 1@cta]",
 * any number, as those of a layout of one element. */
AXE_CHECK axe_status axe_replicas_read_at(axe_ctx *cx, int32_t source,
                                          const char *text, size_t len,
                                          size_t at, const axe_literal_env *env,
                                          const axe_layout **out, size_t *end);
/* " + [2 : 1@cta]"; n > 0. */
void axe_replicas_print(axe_buf *out, int n, const axe_iter *replica);

/* The same for "swizzle(128)" and "swizzle<3, 4, 3> 8b", without the "o". */
AXE_CHECK axe_status axe_swizzle_read_at(axe_ctx *cx, int32_t source,
                                         const char *text, size_t len,
                                         size_t at, axe_swizzle *out,
                                         size_t *end);

#endif
