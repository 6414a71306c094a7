/* tile_of.c - tile and direct sum undone: given the result and one operand,
 * find the other.
 *
 * D is cut by the interleaved shape in its normal form, which has that cut
 * whenever it is such a result.  The known operand's blocks must stand there;
 * the others are the answer, divided by the span W if they were multiplied.
 * O is subtracted and divided; R is quotient.c's. */
#include <inttypes.h>

#include "base/ctx.h"
#include "layout/tile_of.h"

static axe_status
check_shapes(const axe_question *q, axe_shape whole, axe_shape part)
{
    if (whole.n < 0)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_EARG, "%s: a shape of %d dims",
                        q->op, whole.n);
    if (whole.n != part.n)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: shapes %s and %s differ in rank", q->op,
                        axe_shape_text(q->cx, whole),
                        axe_shape_text(q->cx, part));
    for (int k = 0; k < whole.n; k++)
        if (whole.extent[k] < 1 || part.extent[k] < 1 ||
            whole.extent[k] % part.extent[k] != 0)
            return axe_fail(
                q->cx, AXE_NOWHERE, AXE_ESHAPE,
                "%s: at dim %d, %" PRId64 " of %s is no multiple of "
                "%" PRId64 " of %s",
                q->op, k, whole.extent[k], q->whole, part.extent[k], q->part);
    return AXE_OK;
}

/* (a0, b0, a1, b1, ...) of whole / part and part; part_first says which of the
 * two stands first. */
static axe_shape
interleaved(axe_ctx *cx, axe_shape whole, axe_shape part, bool part_first)
{
    int64_t *e = axe_new_array(cx, int64_t, 2 * (size_t)whole.n);

    for (int k = 0; k < whole.n; k++) {
        int64_t rest = whole.extent[k] / part.extent[k];
        e[2 * k] = part_first ? part.extent[k] : rest;
        e[2 * k + 1] = part_first ? rest : part.extent[k];
    }
    return (axe_shape){2 * whole.n, e};
}

static const char *
block_text(axe_ctx *cx, int n, const axe_iter *iter)
{
    axe_layout l = {.n_shard = n, .n_dim = 1, .shard = iter, .dim_end = &n};

    return axe_layout_text(cx, &l);
}

static int
block_begin(const axe_blocks *b, int k)
{
    return k > 0 ? b->dim_end[k - 1] : 0;
}

/* The blocks 2k + odd of `whole`, all equal to the blocks k of `part` times the
 * spans w (NULL: 1)? */
static axe_status
check_blocks(const axe_question *q, const axe_blocks *whole, int odd,
             const axe_blocks *part, int n_dim, const axe_widths *w)
{
    for (int k = 0; k < n_dim; k++) {
        int  i = block_begin(whole, 2 * k + odd), j = block_begin(part, k);
        int  n = whole->dim_end[2 * k + odd] - i, m = part->dim_end[k] - j;
        bool same = n == m;
        for (int t = 0; same && t < n; t++) {
            axe_iter it = part->iter[j + t];
            int64_t  span =
                w && it.stride != 0 ? axe_widths_span(w, it.axis) : 1;
            if (span == 0)
                return axe_span_unknown(q->cx, q->op, it.axis);
            same = axe_mul(it.stride, span, &it.stride) &&
                   axe_iters_same(1, &it, &whole->iter[i + t]);
        }
        if (!same)
            return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: in dim %d, %s has %s where %s has %s%s", q->op,
                            k, q->whole, block_text(q->cx, n, whole->iter + i),
                            q->part, block_text(q->cx, m, part->iter + j),
                            w ? ", to be scaled by the inner span" : "");
    }
    return AXE_OK;
}

/* *value / span, or why not.
 *
 * dim  of a stride; -1 for an offset */
static axe_status
divide(const axe_question *q, const axe_widths *w, int dim, axe_axis axis,
       int64_t *value)
{
    int64_t     span = *value != 0 ? axe_widths_span(w, axis) : 1;
    const char *what = "offset";

    if (span == 1)
        return AXE_OK;
    if (span == 0)
        return axe_span_unknown(q->cx, q->op, axis);
    if (*value % span != 0) {
        if (dim >= 0)
            what = axe_textf(q->cx, "in dim %d, stride", dim);
        return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: %s %" PRId64 " on axis %s is no multiple of the "
                        "inner span %" PRId64,
                        q->op, what, *value, axe_axis_name(q->cx, axis), span);
    }
    *value /= span;
    return AXE_OK;
}

/* The blocks 2k + odd as D of the draft, strides divided by w (NULL: 1). */
static axe_status
take_blocks(const axe_question *q, const axe_blocks *whole, int odd, int n_dim,
            const axe_widths *w, axe_draft d)
{
    int n = 0;

    for (int k = 0; k < n_dim; d.dim_end[k++] = n)
        for (int i = block_begin(whole, 2 * k + odd);
             i < whole->dim_end[2 * k + odd]; i++, n++) {
            d.shard[n] = whole->iter[i];
            if (w)
                AXE_TRY(divide(q, w, k, d.shard[n].axis, &d.shard[n].stride));
        }
    d.layout->n_shard = n;
    return AXE_OK;
}

/* a - b, divided by w (NULL: 1), into out, room for both. */
static axe_status
subtract_offsets(const axe_question *q, const axe_fiber *a, const axe_fiber *b,
                 const axe_widths *w, axe_offset *out, int *n)
{
    for (int k = 0; k < a->n_offset; k++)
        out[k] = a->offset[k];
    for (int k = 0; k < b->n_offset; k++) {
        out[a->n_offset + k] = b->offset[k];
        out[a->n_offset + k].value = -b->offset[k].value;
    }
    *n = axe_offsets_sum(out, a->n_offset + b->n_offset);
    if (*n < 0)
        return axe_fail(q->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: the difference of the offsets leaves int64",
                        q->op);
    for (int k = 0; w && k < *n; k++)
        AXE_TRY(divide(q, w, -1, out[k].axis, &out[k].value));
    return AXE_OK;
}

/* Both layouts, cut, and their fibers. */
typedef struct operands {
    axe_blocks whole, part;
    axe_fiber  whole_fiber, part_fiber;
} operands;

static axe_status
cut_operands(const axe_question *q, const axe_layout *whole, axe_shape both,
             const axe_layout *part, axe_shape part_shape, operands *o)
{
    axe_blocks_few(&o->whole);
    axe_blocks_few(&o->part);
    AXE_TRY(axe_cut(q->cx, q->op, whole, both, &o->whole));
    AXE_TRY(axe_cut(q->cx, q->op, part, part_shape, &o->part));
    AXE_TRY(axe_fiber_of(q->cx, q->op, whole, &o->whole_fiber));
    return axe_fiber_of(q->cx, q->op, part, &o->part_fiber);
}

static axe_status
check_swizzles(const axe_question *q, const axe_layout *whole,
               const axe_layout *part)
{
    if (axe_swizzle_same(whole->swizzle, part->swizzle))
        return AXE_OK;
    return axe_fail(
        q->cx, AXE_NOWHERE, AXE_ESHAPE, "%s: the swizzles of %s and %s differ",
        q->op, axe_layout_text(q->cx, whole), axe_layout_text(q->cx, part));
}

static axe_status
check_no_swizzle(const axe_question *q, const axe_layout *part)
{
    if (part->swizzle.bits == 0)
        return AXE_OK;
    return axe_fail(
        q->cx, AXE_NOWHERE, AXE_ESHAPE,
        "%s: %s cannot have a swizzle, which acts inside a tile: %s", q->op,
        q->part, axe_layout_text(q->cx, part));
}

/* The answer: blocks 2k + odd of the whole, divided by w (NULL: 1), and the
 * rest of the fiber, with o->part_fiber's offsets already scaled. */
static axe_status
answer(const axe_question *q, const operands *o, int odd, int n_dim,
       const axe_widths *w, const axe_list *replica, axe_swizzle swizzle,
       const axe_layout **out)
{
    const axe_fiber *a = &o->whole_fiber, *b = &o->part_fiber;
    axe_draft        d =
        axe_draft_new(q->cx, o->whole.n, replica->n, a->n_offset + b->n_offset,
                      n_dim > 0 ? n_dim : 1);

    AXE_TRY(take_blocks(q, &o->whole, odd, n_dim, w, d));
    AXE_TRY(subtract_offsets(q, a, b, w, d.offset, &d.layout->n_offset));
    axe_replicas_in_order(q->cx, replica->n, replica->iter, d.replica);
    d.layout->n_replica = replica->n;
    d.layout->swizzle = swizzle;
    return axe_draft_finish(q->cx, d, q->op, out);
}

axe_status
axe_layout_tile_of(axe_ctx *cx, const axe_layout *tiled, axe_shape tiled_shape,
                   const axe_layout *inner, axe_shape inner_shape,
                   const axe_layout **outer)
{
    AXE_NEED(cx, tiled);
    AXE_NEED_ALL(cx, tiled_shape.n, tiled_shape.extent);
    AXE_NEED(cx, inner);
    AXE_NEED_ALL(cx, inner_shape.n, inner_shape.extent);
    AXE_NEED(cx, outer);
    const axe_question q = {cx, "tile of", "the tiled layout",
                            "the inner layout"};
    int                r = inner_shape.n;
    axe_widths         w;
    operands           o;
    axe_list           replica;
    axe_shape          both;

    AXE_TRY(check_shapes(&q, tiled_shape, inner_shape));
    AXE_TRY(check_swizzles(&q, tiled, inner));
    AXE_TRY(axe_axes_level(cx, &tiled, &inner));
    both = interleaved(cx, tiled_shape, inner_shape, false);
    AXE_TRY(cut_operands(&q, tiled, both, inner, inner_shape, &o));
    AXE_TRY(check_blocks(&q, &o.whole, 1, &o.part, r, NULL));
    axe_widths_of(cx, o.part.n, o.part.iter, o.part_fiber.n_replica,
                  o.part_fiber.replica, &w);
    axe_list_begin(cx, &replica);
    AXE_TRY(axe_other_replicas(&q, &o.whole_fiber, &o.part_fiber, &w, true,
                               &replica));
    return answer(&q, &o, 0, r, &w, &replica, (axe_swizzle){0, 0, 0, 0}, outer);
}

/* The inner blocks 2k + 1 in one list at dst. */
static int
gather_inner(const axe_blocks *whole, int n_dim, axe_iter *dst)
{
    int n = 0;

    for (int k = 0; k < n_dim; k++)
        for (int i = whole->dim_end[2 * k]; i < whole->dim_end[2 * k + 1]; i++)
            dst[n++] = whole->iter[i];
    return n;
}

/* The width of the inner replicas on a place where the tiled ones have width t
 * and the outer ones m: with W = d + b, d the span of the inner D, they satisfy
 * t = m W + b. */
static axe_status
inner_width(const axe_question *q, const axe_place *p, int64_t d, int64_t *b)
{
    int64_t t = axe_sums_width(p->na, p->a), m = axe_sums_width(p->nb, p->b);
    int64_t scaled;

    if (d == 0 && m > 0)
        return axe_span_unknown(q->cx, q->op, p->axis);
    if (m > 0 &&
        (!axe_mul(m, d, &scaled) || scaled > t || (t - scaled) % (m + 1) != 0))
        return axe_no_replicas(q, p->axis, AXE_NONE);
    *b = m > 0 ? (t - scaled) / (m + 1) : t;
    return AXE_OK;
}

/* The widths of the inner layout: of its D, and of its replicas by
 * inner_width.  A place of a run-time size has them from one side only. */
static axe_status
inner_widths(const axe_question *q, const operands *o, int n_dim, axe_widths *w)
{
    int             na = o->whole_fiber.n_replica, nb = o->part_fiber.n_replica;
    const axe_iter *a = o->whole_fiber.replica, *b = o->part_fiber.replica;
    axe_iter       *shard = axe_new_array(q->cx, axe_iter, o->whole.n);
    int             n_shard = gather_inner(&o->whole, n_dim, shard);
    axe_offset     *sum = axe_new_array(q->cx, axe_offset, n_shard + na + nb);
    axe_widths      d;
    axe_place       p;
    int             n;

    axe_widths_of(q->cx, n_shard, shard, 0, NULL, &d);
    for (n = 0; n < d.n; n++)
        sum[n] = d.width[n];
    for (; axe_next_place(na, a, nb, b, &p);
         a += p.na, na -= p.na, b += p.nb, nb -= p.nb) {
        int64_t width = 0;
        if (p.unit == AXE_UNIT_ONE)
            AXE_TRY(inner_width(q, &p, axe_widths_span(&d, p.axis), &width));
        else if (p.nb == 0)
            width = axe_sums_width(p.na, p.a);
        sum[n++] = (axe_offset){width, p.axis, p.unit};
    }
    w->width = sum;
    w->n = axe_offsets_sum(sum, n);
    return AXE_OK;
}

axe_status
axe_layout_tile_of_outer(axe_ctx *cx, const axe_layout *tiled,
                         axe_shape tiled_shape, const axe_layout *outer,
                         axe_shape outer_shape, const axe_layout **inner)
{
    AXE_NEED(cx, tiled);
    AXE_NEED_ALL(cx, tiled_shape.n, tiled_shape.extent);
    AXE_NEED(cx, outer);
    AXE_NEED_ALL(cx, outer_shape.n, outer_shape.extent);
    AXE_NEED(cx, inner);
    const axe_question q = {cx, "tile of", "the tiled layout",
                            "the outer layout"};
    int                r = outer_shape.n;
    axe_widths         w;
    operands           o;
    axe_list           replica;
    axe_shape          both;

    AXE_TRY(check_shapes(&q, tiled_shape, outer_shape));
    AXE_TRY(check_no_swizzle(&q, outer));
    AXE_TRY(axe_axes_level(cx, &tiled, &outer));
    both = interleaved(cx, tiled_shape, outer_shape, true);
    AXE_TRY(cut_operands(&q, tiled, both, outer, outer_shape, &o));
    AXE_TRY(inner_widths(&q, &o, r, &w));
    AXE_TRY(check_blocks(&q, &o.whole, 0, &o.part, r, &w));
    axe_list_begin(cx, &replica);
    AXE_TRY(axe_other_replicas(&q, &o.whole_fiber, &o.part_fiber, &w, false,
                               &replica));
    for (int k = 0; k < o.part_fiber.n_offset; k++) {
        axe_offset *f = &o.part_fiber.offset[k];
        int64_t     span = axe_widths_span(&w, f->axis);
        if (span == 0)
            return axe_span_unknown(cx, q.op, f->axis);
        if (!axe_mul(f->value, span, &f->value))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: the outer offset times the inner span leaves "
                            "int64",
                            q.op);
    }
    return answer(&q, &o, 1, r, NULL, &replica, tiled->swizzle, inner);
}

/* The shape of every second dim of (l0, r0, l1, r1, ...) must be `part`. */
static axe_status
check_interleaved(const axe_question *q, axe_shape both, axe_shape part,
                  int odd)
{
    bool same = both.n == 2 * (int64_t)part.n;

    for (int k = 0; same && k < part.n; k++)
        same = both.extent[2 * k + odd] == part.extent[k];
    if (same)
        return AXE_OK;
    return axe_fail(q->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: shape %s of %s does not have %s, of %s, in every "
                    "second place",
                    q->op, axe_shape_text(q->cx, both), q->whole,
                    axe_shape_text(q->cx, part), q->part);
}

static axe_status
sum_of(const axe_question *q, const axe_layout *sum, axe_shape both,
       const axe_layout *part, axe_shape part_shape, int odd,
       axe_swizzle swizzle, const axe_layout **out)
{
    operands o;
    axe_list replica;

    AXE_TRY(check_interleaved(q, both, part_shape, odd));
    AXE_TRY(cut_operands(q, sum, both, part, part_shape, &o));
    AXE_TRY(check_blocks(q, &o.whole, odd, &o.part, part_shape.n, NULL));
    axe_list_begin(q->cx, &replica);
    AXE_TRY(axe_other_replicas(q, &o.whole_fiber, &o.part_fiber, NULL, true,
                               &replica));
    return answer(q, &o, !odd, part_shape.n, NULL, &replica, swizzle, out);
}

axe_status
axe_layout_sum_left_of(axe_ctx *cx, const axe_layout *sum,
                       axe_shape interleaved_shape, const axe_layout *right,
                       axe_shape right_shape, const axe_layout **left)
{
    AXE_NEED(cx, sum);
    AXE_NEED_ALL(cx, interleaved_shape.n, interleaved_shape.extent);
    AXE_NEED(cx, right);
    AXE_NEED_ALL(cx, right_shape.n, right_shape.extent);
    AXE_NEED(cx, left);
    const axe_question q = {cx, "sum of", "the sum", "the right layout"};

    AXE_TRY(check_swizzles(&q, sum, right));
    return sum_of(&q, sum, interleaved_shape, right, right_shape, 1,
                  (axe_swizzle){0, 0, 0, 0}, left);
}

axe_status
axe_layout_sum_right_of(axe_ctx *cx, const axe_layout *sum,
                        axe_shape interleaved_shape, const axe_layout *left,
                        axe_shape left_shape, const axe_layout **right)
{
    AXE_NEED(cx, sum);
    AXE_NEED_ALL(cx, interleaved_shape.n, interleaved_shape.extent);
    AXE_NEED(cx, left);
    AXE_NEED_ALL(cx, left_shape.n, left_shape.extent);
    AXE_NEED(cx, right);
    const axe_question q = {cx, "sum of", "the sum", "the left layout"};

    AXE_TRY(check_no_swizzle(&q, left));
    return sum_of(&q, sum, interleaved_shape, left, left_shape, 0, sum->swizzle,
                  right);
}
