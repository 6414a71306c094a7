/* layout.h - Axe layouts: where each element of a tensor lives.
 *
 * A layout L = (D, R, O) maps a flat index x in [0, size) to a set of points,
 * each with one integer coordinate per named axis:
 *
 *     L(x) = { D(x) + r + O : r in R }
 *
 * D (shard) is an ordered list of iters, slow to fast: the digits of x in the
 * mixed radix of the extents, each times its stride, on its axis.  R (replica)
 * lists iters that run independently of x: copies.  O (offset) is added to all.
 * The tensor-core tile of the paper's section 2.2, 8 x 16 over 2 of 4 warps:
 *
 *     (8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg) + [2 : 4@warp] + 5@warp
 *
 * A layout carries dims: its D cut into consecutive blocks, one for each
 * dimension of a shape; the text form shows them as nested parentheses.  A
 * layout that was not cut has one dim.  It may carry a swizzle, applied last,
 * to axis `m`.
 *
 * Layouts are immutable, live in their ctx and are shared at will.  Every
 * operation is O(iters) or O(iters log iters) unless it says otherwise, checks
 * int64 overflow, and on failure records a diagnostic that names the iter, the
 * values, the reason and what would be needed; *out is then not written.
 *
 * Source: the paper "Axe: A Simple Unified Layout Abstraction for Machine
 * Learning Compilers", section 2 and appendices; where its rules fail,
 * docs/layout.md states the right ones.
 */
#ifndef AXE_LAYOUT_H
#define AXE_LAYOUT_H

#include "axe/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------- axes */

/* Number of an axis in its ctx.  AXE_AXIS_M, memory in elements, is 0 in every
 * ctx and is what a stride without "@axis" means. */
typedef int32_t axe_axis;
enum { AXE_AXIS_M = 0 };

typedef enum axe_axis_kind {
    AXE_KIND_MEMORY, /* places in a memory: m, P, F, tcol */
    AXE_KIND_THREAD, /* who holds it: lane, warp, core */
    AXE_KIND_REG,    /* private storage of a thread: reg, vreg, vlane */
    AXE_KIND_DEVICE  /* which device: gpuid */
} axe_axis_kind;

/* How axes nest: whole = factor * outer + inner, 0 <= inner < factor. */
typedef struct axe_axis_row {
    const char   *name;
    axe_axis_kind kind;
} axe_axis_row;

typedef struct axe_nest_row {
    const char *whole, *outer, *inner;
    int64_t     factor;
} axe_nest_row;

/* Another name of an axis, understood wherever names are read and never
 * written: what another system calls it. */
typedef struct axe_alias_row {
    const char *name, *axis;
} axe_alias_row;

/* The axes of one machine, as data. */
typedef struct axe_axis_table {
    const char          *machine;
    int                  n_axis, n_nest;
    const axe_axis_row  *axis;
    const axe_nest_row  *nest;
    int                  n_alias;
    const axe_alias_row *alias;
} axe_axis_table;

/* Make the axes of `t` known in cx.  Loading a table twice is harmless;
 * ENAME if an axis is already there with another kind. */
AXE_CHECK axe_status axe_axes_load(axe_ctx *cx, const axe_axis_table *t);
/* The same; what the table that was used before says of nests holds no longer.
 * For a machine whose threads are about to be looked at: a context may serve
 * machines with warps of 8 and of 32 lanes, one after the other. */
AXE_CHECK axe_status axe_axes_use(axe_ctx *cx, const axe_axis_table *t);
/* Tables whose names a message may tell of, where an axis is not known: "it is
 * an axis of nvidia".  They stay the caller's. */
void axe_axes_others(axe_ctx *cx, int n, const axe_axis_table *t);
/* Declare one axis; harmless if it is there with the same kind. */
AXE_CHECK axe_status axe_axis_declare(axe_ctx *cx, const char *name,
                                      axe_axis_kind kind, axe_axis *out);
AXE_CHECK axe_status axe_axis_nest(axe_ctx *cx, axe_axis whole, axe_axis outer,
                                   axe_axis inner, int64_t factor);
/* The factor of that nesting in cx; 0: it is not known. */
int64_t axe_axis_factor(const axe_ctx *cx, const char *whole, const char *outer,
                        const char *inner);
/* ENAME, with a suggestion, if there is no such axis; but after
 * axe_axes_open(cx, true) an unknown identifier becomes a memory axis. */
AXE_CHECK axe_status axe_axis_find(axe_ctx *cx, axe_span at, const char *name,
                                   axe_axis *out);
void                 axe_axes_open(axe_ctx *cx, bool open);
int                  axe_n_axis(const axe_ctx *cx);
const char          *axe_axis_name(const axe_ctx *cx, axe_axis a);
axe_axis_kind        axe_axis_kind_of(const axe_ctx *cx, axe_axis a);

/* ------------------------------------------------------------------ units */

/* Sizes known only at run time.  A stride is an integer times a unit, a unit a
 * product of named sizes (1, K, M*K), interned: equal products are the same
 * number, and AXE_UNIT_ONE is the plain integer case.  Two strides are
 * comparable (equal, multiple of) only within one unit or by exact division. */
typedef int32_t axe_unit;
enum { AXE_UNIT_ONE = 0 };

axe_unit axe_unit_symbol(axe_ctx *cx, const char *name);
axe_unit axe_unit_mul(axe_ctx *cx, axe_unit a, axe_unit b);
/* a / b if b divides a; false otherwise. */
bool        axe_unit_div(axe_ctx *cx, axe_unit a, axe_unit b, axe_unit *out);
const char *axe_unit_text(axe_ctx *cx, axe_unit u); /* "1", "K", "K*M" */
int         axe_unit_n_factor(const axe_ctx *cx, axe_unit u);
const char *axe_unit_factor(const axe_ctx *cx, axe_unit u, int i);

/* ----------------------------------------------------------------- layouts */

typedef struct axe_iter {
    int64_t extent; /* steps, >= 1 */
    int64_t stride; /* what one step adds on `axis`, times `unit`; any sign;
                       0 means that all steps share one place */
    axe_axis axis;
    axe_unit unit;
} axe_iter;

typedef struct axe_offset {
    int64_t  value; /* times `unit` */
    axe_axis axis;
    axe_unit unit;
} axe_offset;

/* x -> x ^ ((x & Y) >> shift), with Y = `bits` ones at base + max(shift, 0)
 * written into `bits` places at base - min(shift, 0); CuTe's
 * Swizzle<bits, base, shift>, |shift| >= bits.  bits == 0: no swizzle.
 * unit_bits: what one step of x is, in bits: 8 for the hardware's swizzles,
 * which act on byte addresses; 0 if x counts elements of the tensor. */
typedef struct axe_swizzle {
    int bits, base, shift, unit_bits;
} axe_swizzle;

/* Read the fields; make one only by the functions below. */
typedef struct axe_layout {
    int               n_shard, n_replica, n_offset;
    int               n_dim; /* 0: not cut into dims */
    const axe_iter   *shard; /* slow to fast */
    const axe_iter   *replica;
    const axe_offset *offset;  /* no zeros, by axis then unit */
    const int        *dim_end; /* [n_dim] dim k: shard[dim_end[k-1]..[k]) */
    axe_swizzle       swizzle;
    int64_t           size; /* product of the shard extents */
} axe_layout;

/* Extents of a tensor's dimensions, slow to fast. */
typedef struct axe_shape {
    int            n;
    const int64_t *extent;
} axe_shape;

/* A layout from its parts, as given (not canonicalised).
 * Errors  ESHAPE: an extent < 1; dim_end not ascending to n_shard; a bad
 *         swizzle (|shift| < bits, negative fields, base + shift + bits > 62).
 *         EOVERFLOW: the size, or a coordinate, can leave int64.
 * spec    the computed field `size` is ignored; zero offsets are dropped,
 *         equal axes are added up */
AXE_CHECK axe_status axe_layout_make(axe_ctx *cx, const axe_layout *spec,
                                     const axe_layout **out);
/* D only, one dim. */
AXE_CHECK axe_status axe_layout_of_iters(axe_ctx *cx, int n,
                                         const axe_iter    *iter,
                                         const axe_layout **out);
/* Row-major over axis m, one dim per extent. */
AXE_CHECK axe_status axe_layout_row_major(axe_ctx *cx, axe_shape shape,
                                          const axe_layout **out);
/* Strided over axis m, one dim per extent (NumPy's model). */
AXE_CHECK axe_status axe_layout_strided(axe_ctx *cx, axe_shape shape,
                                        const int64_t     *stride,
                                        const axe_layout **out);

/* The shape of l's dims, in ctx memory. */
axe_shape axe_layout_shape(axe_ctx *cx, const axe_layout *l);
/* All of D as one dim. */
const axe_layout *axe_layout_flat(axe_ctx *cx, const axe_layout *l);

/* -------------------------------------------------------------------- text */

/* Print; reading it back in a ctx that knows the axes gives the same layout.
 *
 *     layout  = [ swizzle "o" ] extents ":" strides { tail }
 *     extents = "(" [ dim { "," dim } ] ")"
 *     dim     = extent | "(" [ extent { "," extent } ] ")"
 *     strides = as the extents, nested in the same way
 *     tail    = "+" "[" replica "]" | ( "+" | "-" ) scaled [ "@" axis ]
 *     replica = extent ":" stride | "(" ... ")" ":" "(" ... ")"       flat
 * lists stride  = scaled [ "@" axis ] scaled  = [ "-" ] factor { "*" factor }
 * factor: integer | size swizzle = "swizzle(" 32 | 64 | 128 ")" hardware, on
 * bytes | "swizzle<" bits "," base "," shift ">" [ unit_bits "b" ]
 *
 * An extent that stands bare is a dim of one iter: (2, 3) : (3, 1) has two
 * dims, ((2, 3)) : ((3, 1)) one dim of two iters. */
const char *axe_layout_text(axe_ctx *cx, const axe_layout *l);
/* Read one layout, the whole text.  ESYNTAX, ENAME or axe_layout_make's. */
AXE_CHECK axe_status axe_layout_read(axe_ctx *cx, const char *text,
                                     const axe_layout **out);

/* ----------------------------------------------------------------- queries */

/* Coordinate on `axis` of D(x) + O, before any swizzle, unit 1 only; x is
 * reduced digit by digit, except that the slowest digit is not bounded. */
int64_t axe_layout_at(const axe_layout *l, int64_t x, axe_axis axis);
/* out[x] = the sum of by[i] * axe_layout_at(l, x, axis[i]), for all x below
 * l->size; wraps.  The axes differ.  Cost: an addition for each x. */
void axe_layout_list(const axe_layout *l, int n, const axe_axis *axis,
                     const int64_t *by, int64_t *out);

/* A point: the coordinates of the axes the layout uses, in axis order. */
typedef struct axe_points {
    int             n_axis, n_point;
    const axe_axis *axis;  /* [n_axis] ascending */
    const int64_t  *coord; /* [n_point][n_axis], sorted, no repeats */
} axe_points;

/* L(x), replicas, offset and swizzle included.
 * Errors  ESHAPE: x outside [0, size).  ELIMIT: more than 2^20 replicas.
 *         EUNSUPPORTED: a stride with a unit, or a swizzle in another unit. */
AXE_CHECK axe_status axe_layout_apply(axe_ctx *cx, const axe_layout *l,
                                      int64_t x, axe_points *out);

/* Largest minus smallest coordinate on `axis`, plus 1, over all x and all
 * replicas, offset not counted: 1 + sum |stride| (extent - 1).
 * EUNSUPPORTED if a stride on that axis has a unit. */
AXE_CHECK axe_status axe_layout_span(axe_ctx *cx, const axe_layout *l,
                                     axe_axis axis, int64_t *out);
/* 1 + the largest coordinate on `axis`, offset counted: what storage needs.  On
 * axis m a swizzle rounds it up to whole blocks that it maps to themselves, for
 * elements not narrower than its unit.  ESHAPE if some coordinate is negative,
 * EUNSUPPORTED if a stride or offset there has a unit. */
AXE_CHECK axe_status axe_layout_cosize(axe_ctx *cx, const axe_layout *l,
                                       axe_axis axis, int64_t *out);

/* Are L(x) and L'(x) equal for every x?  Decided: D by its normal form, (R, O)
 * as point sets.  Dims do not matter.
 * Errors  ELIMIT: a replica set beyond the normal form's reach is over 2^22
 *         runs of neighbours, or unequal swizzles agree on 2^22 points.
 *         EUNSUPPORTED: unequal swizzles that are not both in elements. */
AXE_CHECK axe_status axe_layout_equal(axe_ctx *cx, const axe_layout *a,
                                      const axe_layout *b, bool *out);

/* Do two indices ever share a point?  witness (may be NULL): x < y that do.
 * Sound and complete; ELIMIT if undecided after 2^22 points.  A swizzle does
 * not matter. */
AXE_CHECK axe_status axe_layout_injective(axe_ctx *cx, const axe_layout *l,
                                          bool *out, int64_t witness[2]);
/* Is every point of the bounding box of L's image hit? (over the axes used) */
AXE_CHECK axe_status axe_layout_surjective(axe_ctx *cx, const axe_layout *l,
                                           bool *out);
/* L(x) = { x + c } on one memory axis, in order: one iter of stride 1. */
bool axe_layout_contiguous(axe_ctx *cx, const axe_layout *l);
/* A bijection onto [c, c + size) of one axis, in any order. */
AXE_CHECK axe_status axe_layout_compact(axe_ctx *cx, const axe_layout *l,
                                        bool *out);
/* Points per index: distinct replicas. */
AXE_CHECK axe_status axe_layout_fiber_size(axe_ctx *cx, const axe_layout *l,
                                           int64_t *out);

/* ------------------------------------------------------------ differences */

/* In what two layouts differ: a row of difference.def. */
typedef enum axe_differ_part {
#define PART(name, text) AXE_DIFFER_##name,
#include "axe/difference.def"
    AXE_N_DIFFER
} axe_differ_part;

/* "the steps of their digits".  Never NULL. */
const char *axe_differ_part_text(axe_differ_part p);

typedef struct axe_layout_difference {
    axe_differ_part part; /* NONE: they are equal */
    int64_t index;    /* that shows it; SIZE: the first that one lacks; -1: none
                         was found, as strides are not known or too many agree */
    bool       least; /* no index before it shows it */
    axe_points a, b;  /* its points; none where a layout lacks it */
} axe_layout_difference;

/* Are they equal, and if not, what shows it?
 * Errors  those of axe_layout_equal.  Cost: O(iters) for each index that
 * agrees, up to 2^22. */
AXE_CHECK axe_status axe_layout_differ(axe_ctx *cx, const axe_layout *a,
                                       const axe_layout      *b,
                                       axe_layout_difference *out);

/* It in words, with both normal forms, lines ended by '\n': "different in the
 * steps of their digits", "  at index 3, (1, 0):", ...  In ctx memory. */
const char *axe_layout_difference_text(axe_ctx *cx, const axe_layout *a,
                                       const axe_layout            *b,
                                       const axe_layout_difference *d);

/* An index at which `tiled` is no layout of tiles of `inner`: it is not as far
 * from its tile's first element as in `inner` (got, not want); or, inside ==
 * -1, a tile begins `got` behind the first one, no multiple of the span `want`.
 */
typedef struct axe_tile_break {
    int64_t  index, first; /* and the first one of its tile */
    axe_axis axis;
    int64_t  inside; /* its index in `inner` */
    int64_t  got, want;
} axe_tile_break;

/* The least such index, among the first 2^20; *found false: none, or shapes do
 * not fit, or strides are not known. */
AXE_CHECK axe_status axe_layout_tile_break(axe_ctx *cx, const axe_layout *tiled,
                                           axe_shape         tiled_shape,
                                           const axe_layout *inner,
                                           axe_shape inner_shape, bool *found,
                                           axe_tile_break *out);

/* ------------------------------------------------------------- the algebra */

/* The normal form: no unit iters, neighbours fused (D0, D1), stride-0 iters on
 * axis m with unit 1, replica strides positive (C1), absorbed (C2, q <= e) and
 * sorted by axis, unit, stride, axes and units by name, so that its text is the
 * same in every ctx.  Dims are kept and are not fused across. */
AXE_CHECK axe_status axe_layout_canon(axe_ctx *cx, const axe_layout *l,
                                      const axe_layout **out);

/* l cut into the dims of `shape`, splitting iters where needed and dropping
 * unit iters; dims of extent 1 are empty blocks.  Spelt as l where that can be
 * cut, else as its normal form.  Fails (ESHAPE) iff the map has no cut:
 * e | rem or rem | e at each step. */
AXE_CHECK axe_status axe_layout_group(axe_ctx *cx, const axe_layout *l,
                                      axe_shape shape, const axe_layout **out);
/* Common refinement, as one dim: iters split so that every shape's boundaries
 * fall between iters.  seps[s][k] is the first iter of dim k of shape s,
 * seps[s][n] the end; seps has room for n_shape pointers.  Unit dims are given
 * unit iters when keep_units. */
AXE_CHECK axe_status axe_layout_group_many(axe_ctx *cx, const axe_layout *l,
                                           int n_shape, const axe_shape *shape,
                                           bool               keep_units,
                                           const axe_layout **out, int **seps);

/* Reorder dims: dim k of the result is dim perm[k] of l. */
AXE_CHECK axe_status axe_layout_permute(axe_ctx *cx, const axe_layout *l, int n,
                                        const int         *perm,
                                        const axe_layout **out);

/* outer (x) inner: L(x||y) = outer(x) * span(inner) + inner(y), D, R and O of
 * the outer scaled on every axis the inner uses.  Both are grouped by their
 * shapes (equal rank).  The result has rank dims, dim j = outer_j, inner_j, and
 * the inner's swizzle.
 * Errors  ESHAPE: a shape does not fit, or the outer has a swizzle.
 *         EUNSUPPORTED: the inner's span has a unit on an axis the outer uses.
 *         EOVERFLOW. */
AXE_CHECK axe_status axe_layout_tile(axe_ctx *cx, const axe_layout *outer,
                                     axe_shape          outer_shape,
                                     const axe_layout  *inner,
                                     axe_shape          inner_shape,
                                     const axe_layout **out);
/* Find `outer` with tiled = outer (x) inner; ESHAPE iff there is none (swizzles
 * must be the same).  Where one names an axis and the other parts that it nests
 * (thread; warp, lane), both are meant by the parts.  ELIMIT: replicas of over
 * 2^22 points that their normal form does not tell apart. */
AXE_CHECK axe_status axe_layout_tile_of(axe_ctx *cx, const axe_layout *tiled,
                                        axe_shape          tiled_shape,
                                        const axe_layout  *inner,
                                        axe_shape          inner_shape,
                                        const axe_layout **outer);
/* Find an `inner` with tiled = outer (x) inner; ESHAPE iff there is none. */
AXE_CHECK axe_status axe_layout_tile_of_outer(
    axe_ctx *cx, const axe_layout *tiled, axe_shape tiled_shape,
    const axe_layout *outer, axe_shape outer_shape, const axe_layout **inner);
/* l of shape `from` repeated row-major to cover `to`; from | to per dim. */
AXE_CHECK axe_status axe_layout_tile_to(axe_ctx *cx, const axe_layout *l,
                                        axe_shape from, axe_shape to,
                                        const axe_layout **out);

/* left + right: L(x||y) = left(x) + right(y), not scaled, dims interleaved. */
AXE_CHECK axe_status axe_layout_direct_sum(axe_ctx *cx, const axe_layout *left,
                                           axe_shape          left_shape,
                                           const axe_layout  *right,
                                           axe_shape          right_shape,
                                           const axe_layout **out);
/* Find a `left` (or `right`) of sum = left + right, where `sum` has the shape
 * (left_0, right_0, left_1, right_1, ...).  ESHAPE iff there is none; there may
 * be several, with other replicas. */
AXE_CHECK axe_status axe_layout_sum_left_of(axe_ctx *cx, const axe_layout *sum,
                                            axe_shape          interleaved,
                                            const axe_layout  *right,
                                            axe_shape          right_shape,
                                            const axe_layout **left);
AXE_CHECK axe_status axe_layout_sum_right_of(axe_ctx *cx, const axe_layout *sum,
                                             axe_shape          interleaved,
                                             const axe_layout  *left,
                                             axe_shape          left_shape,
                                             const axe_layout **right);

/* The layout of the region [begin_k, end_k) of a tensor of shape `shape`, one
 * dim per dim.  Exact: refuses (ESHAPE) iff no iter list expresses it, or the
 * region is empty or not inside. */
AXE_CHECK axe_status axe_layout_slice(axe_ctx *cx, const axe_layout *l,
                                      axe_shape shape, const int64_t *begin,
                                      const int64_t     *end,
                                      const axe_layout **out);

/* Lists of iters that enumerate the same values: the values common to both.
 * Strides of one axis and equal sign; ESHAPE otherwise. */
AXE_CHECK axe_status axe_iter_intersect(axe_ctx *cx, axe_iter a, axe_iter b,
                                        axe_iter *out);

/* X with X(L(x)) = x for all x, from one axis to the flat index; R becomes
 * stride-0 iters of X.  ESHAPE iff L is not a bijection onto an interval [0,
 * n), up to replicas.  left_inverse: X is defined on [0, highest], holes have
 * any value; ESHAPE if L is not injective, or if its steps, sorted, do not
 * divide one another or `lowest` carries into them.  The diagnostic names two
 * indices that share a point, or a hole.  EUNSUPPORTED: a unit, a swizzle. */
AXE_CHECK axe_status axe_layout_inverse(axe_ctx *cx, const axe_layout *l,
                                        const axe_layout **out);
AXE_CHECK axe_status axe_layout_left_inverse(axe_ctx *cx, const axe_layout *l,
                                             const axe_layout **out);
/* C(x) = A(B(x)): B's one axis is A's flat index, which all of B's coordinates
 * must be in [0, size) of.  The true map, with B's dims where it can be cut so;
 * ESHAPE if there is none, never another map.  ELIMIT if digits carry and B has
 * over 2^16 points.  Cost: O(iters of A * iters of B), then O(points). */
AXE_CHECK axe_status axe_layout_compose(axe_ctx *cx, const axe_layout *a,
                                        const axe_layout  *b,
                                        const axe_layout **out);
/* C on l's one axis with (C, l) injective and covering [0, total); ESHAPE if l
 * is not injective, does not begin at 0, or the gaps do not divide. */
AXE_CHECK axe_status axe_layout_complement(axe_ctx *cx, const axe_layout *l,
                                           int64_t            total,
                                           const axe_layout **out);

/* Rewrite axes by the nesting known in cx: D, R and O.  fuse: the parts of
 * `whole`, and their parts, become iters of `whole` (32 warp + lane -> thread);
 * ESHAPE if l names only one part (a scope is missing: if it is meant to be at
 * 0, an iter (1 : 1@part) says so), or `whole` too, or inner leaves [0,
 * factor). split: iters of `whole` become outer and inner, by the first nesting
 * declared for it; ESHAPE if an iter straddles the factor, or there is no
 * nesting. A layout that has nothing of it is returned as it is. */
AXE_CHECK axe_status axe_layout_fuse_axis(axe_ctx *cx, const axe_layout *l,
                                          axe_axis           whole,
                                          const axe_layout **out);
AXE_CHECK axe_status axe_layout_split_axis(axe_ctx *cx, const axe_layout *l,
                                           axe_axis           whole,
                                           const axe_layout **out);

/* Keep the iters, replicas and offsets of memory and register axes only. */
AXE_CHECK axe_status axe_layout_storage(axe_ctx *cx, const axe_layout *l,
                                        const axe_layout **out);
/* Elements of 1/n the size: everything on m times n, (n : 1@m) appended to the
 * last dim; other axes stay.  And back: ESHAPE if an element would be cut.  The
 * base of a swizzle of elements moves with them. */
AXE_CHECK axe_status axe_layout_unpack(axe_ctx *cx, const axe_layout *l, int n,
                                       const axe_layout **out);
AXE_CHECK axe_status axe_layout_pack(axe_ctx *cx, const axe_layout *l, int n,
                                     const axe_layout **out);

/* ----------------------------------------------------------------- swizzle */

/* The hardware's 32-, 64- or 128-byte swizzle <b, 4, 3> on bytes. */
AXE_CHECK axe_status axe_swizzle_of_bytes(axe_ctx *cx, int row_bytes,
                                          axe_swizzle *out);
AXE_CHECK axe_status axe_swizzle_check(axe_ctx *cx, axe_swizzle s);
int64_t              axe_swizzle_apply(axe_swizzle s, int64_t x);
/* How many neighbours, from a multiple of them on, stay neighbours: a power of
 * two, in the swizzle's own units; INT64_MAX without a swizzle. */
int64_t axe_swizzle_kept(axe_swizzle s);
/* The same map on elements of `bits` bits (power of two), unit_bits 0:
 * bytes -> f16 lowers the base by 1.  ESHAPE if elements would be cut. */
AXE_CHECK axe_status axe_swizzle_recast(axe_ctx *cx, axe_swizzle s, int bits,
                                        axe_swizzle *out);
/* s o L. */
AXE_CHECK axe_status axe_layout_swizzled(axe_ctx *cx, const axe_layout *l,
                                         axe_swizzle s, const axe_layout **out);
/* Is the table map[0..n), n a power of two, a swizzle of the identity?  Finds
 * the triple, or ESHAPE with the first index that fits none.  O(n). */
AXE_CHECK axe_status axe_swizzle_detect(axe_ctx *cx, int n, const int64_t *map,
                                        axe_swizzle *out);

/* ------------------------------------------------------------ enumeration */

/* Walk D in index order without division: w = axe_walk_begin(l, axis); then
 * read w.coord and step while axe_walk_next(&w).  O(1) amortised per step. */
enum { AXE_WALK_MAX = 64 };
typedef struct axe_walk {
    const axe_layout *layout;
    axe_axis          axis;
    int64_t           index, coord;
    int64_t           digit[AXE_WALK_MAX];
} axe_walk;

/* ELIMIT if l has over AXE_WALK_MAX iters. */
AXE_CHECK axe_status axe_walk_begin(axe_ctx *cx, const axe_layout *l,
                                    axe_axis axis, axe_walk *out);
bool                 axe_walk_next(axe_walk *w);

/* ------------------------------------------------------ layout expressions */

typedef enum axe_value_kind {
    AXE_VALUE_NONE, /* an optional argument left out */
    AXE_VALUE_LAYOUT,
    AXE_VALUE_INT,
    AXE_VALUE_BOOL,
    AXE_VALUE_SHAPE,
    AXE_VALUE_SWIZZLE,
    AXE_VALUE_POINTS,
    AXE_VALUE_AXIS /* in `integer` */
} axe_value_kind;

typedef struct axe_value {
    axe_value_kind    kind;
    bool              truth;
    int64_t           integer;
    axe_shape         shape;
    axe_swizzle       swizzle;
    axe_points        points;
    const axe_layout *layout;
} axe_value;

/* Names that an expression may use beyond axes and functions.  Each may be
 * NULL, and gets `user`. */
typedef struct axe_expr_env {
    void *user;
    bool (*constant)(void *user, const char *name, int64_t *value);
    const axe_layout *(*layout)(void *user, const char *name);
} axe_expr_env;

/* The value of a text, the whole of it:
 *
 *     text  = { "let" name "=" expr ";" } expr [ ";" ]
 *     expr  = sum { "|" shape }                       group
 *     sum   = tile { "+" ( tile | replica | offset ) } direct sum, or a tail
 *     tile  = chain { "><" chain }                    dims are the shapes
 *     chain = item [ "o" chain ]                      compose, swizzle
 *     item  = ( literal | "(" expr ")" | name | function "(" args ")"
 *             | number | shape | swizzle )
 *             { "[" begin ":" end, ... "]"            slice; a lone index is a
 *                                                     slice of one
 *             | "(" index, ... ")" }                  apply
 *
 * Functions are the rows of src/layout/expr.def.  Integers are sums and
 * products of numbers and constants.  The text is registered as a source of
 * that name.
 * Errors  ESYNTAX, ENAME with a suggestion, ETYPE, ELIMIT for nesting over 64,
 *         and those of the operations, with the place in the text. */
AXE_CHECK axe_status axe_expr_eval(axe_ctx *cx, const char *name,
                                   const char *text, const axe_expr_env *env,
                                   axe_value *out);
/* The expr (without "let") that starts at byte `at` of a registered source; it
 * ends at *end, at the first character that cannot go on with it. */
AXE_CHECK axe_status axe_expr_eval_at(axe_ctx *cx, int32_t source, size_t at,
                                      const axe_expr_env *env, axe_value *out,
                                      size_t *end);
/* A layout's text, "6", "true", "(2, 3)", "(5@warp, 1@lane) (9@warp, 1@lane)".
 */
const char *axe_value_text(axe_ctx *cx, const axe_value *v);

typedef struct axe_expr_fn_row {
    const char *name, *args, *what;
} axe_expr_fn_row;

/* The functions, for help texts. */
const axe_expr_fn_row *axe_expr_fns(int *n);

#ifdef __cplusplus
}
#endif
#endif
