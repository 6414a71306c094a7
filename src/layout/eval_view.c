/* eval_view.c - the operations of `axe eval` that look at a part of a tensor:
 * one index of a dimension, a run of it, or every so manyth index of each.
 *
 * All are slices.  Every s-th index of a run is the run, cut into pieces of s,
 * at one index of the pieces.  The answer tells the layout's offset apart,
 * which is what a pointer moves by; inside a swizzle it must stay. */
#include <inttypes.h>
#include <string.h>

#include "layout/eval_int.h"

/* What is left of O when the layout's own offset is told apart. */
static void
put_offset(axe_job *j, const axe_layout *l)
{
    if (l->n_offset == 0) {
        axe_putc(j->out, '0');
        return;
    }
    if (l->n_offset == 1 && l->offset[0].axis == AXE_AXIS_M &&
        l->offset[0].unit == AXE_UNIT_ONE) {
        axe_putf(j->out, "%" PRId64, l->offset[0].value);
        return;
    }
    axe_json_put_offsets(j->out, l);
}

/* Append a view without its offset, and that; what comes between goes first. */
static axe_status
reply_view(axe_job *j, const axe_layout *view, const char *between)
{
    axe_layout rest = *axe_layout_flat(j->cx, view);

    if (rest.swizzle.bits == 0)
        rest.n_offset = 0;
    axe_puts(j->out, "{\"layout\":");
    AXE_TRY(axe_job_reply(j, &rest));
    axe_puts(j->out, between);
    axe_puts(j->out, ",\"offset\":");
    if (rest.swizzle.bits == 0)
        put_offset(j, view);
    else
        axe_putc(j->out, '0');
    axe_putc(j->out, '}');
    return AXE_OK;
}

/* The region of all of a shape, to be narrowed. */
static void
whole(axe_job *j, axe_shape s, int64_t **begin, int64_t **end)
{
    *begin = axe_new_array(j->cx, int64_t, s.n + 1);
    *end = axe_new_array(j->cx, int64_t, s.n + 1);
    if (s.n > 0)
        memcpy(*end, s.extent, (size_t)s.n * sizeof **end);
}

/* [first, last) of one dim, for op's sake. */
static axe_status
narrow(axe_job *j, const char *op, int64_t dim, int64_t first, int64_t n)
{
    const axe_layout *l, *cut;
    axe_shape         shape;
    int64_t          *begin, *end;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    if (dim < 0 || dim >= shape.n || first < 0 || n < 1 ||
        n > shape.extent[dim] || first > shape.extent[dim] - n)
        return axe_fail(
            j->cx, AXE_NOWHERE, AXE_ESHAPE,
            "%s: there is no index %" PRId64 " of dim %" PRId64
            " in the shape%s",
            op, first, dim,
            n == 1 ? ""
                   : axe_textf(j->cx, ", or not %" PRId64 " from there on", n));
    whole(j, shape, &begin, &end);
    begin[dim] = first;
    end[dim] = first + n;
    AXE_TRY(axe_layout_slice(j->cx, l, shape, begin, end, &cut));
    return reply_view(j, cut, "");
}

axe_status
axe_op_select(axe_job *j)
{
    int64_t dim, index;

    AXE_TRY(axe_job_int(j, "dim", &dim));
    AXE_TRY(axe_job_int(j, "index", &index));
    return narrow(j, "select", dim, index, 1);
}

axe_status
axe_op_narrow(axe_job *j)
{
    int64_t dim, start, length;

    AXE_TRY(axe_job_int(j, "dim", &dim));
    AXE_TRY(axe_job_int(j, "start", &start));
    AXE_TRY(axe_job_int(j, "length", &length));
    return narrow(j, "narrow", dim, start, length);
}

/* --------------------------------------------------------- partial indexing */

/* What is asked of one dimension: n indices from `first`, `step` apart; of one
 * that is not kept the dimension goes. */
typedef struct part {
    int64_t first, n, step;
    bool    keep;
} part;

static axe_status
read_part(axe_job *j, const axe_json *v, int k, int64_t extent, part *out)
{
    int            n;
    const int64_t *at;
    int64_t        end;

    if (v->kind == AXE_JSON_NULL) {
        *out = (part){0, extent, 1, true};
        return AXE_OK;
    }
    if (v->kind != AXE_JSON_LIST) {
        AXE_TRY(axe_json_to_int(j->cx, v, "an index", &out->first));
        out->n = out->step = 1;
        out->keep = false;
        end = out->first + (out->first < extent);
    } else {
        axe_shape s;
        AXE_TRY(axe_json_to_shape(j->cx, v, "a part", &s));
        n = s.n;
        at = s.extent;
        if (n < 2 || n > 3 || (n == 3 && at[2] < 1))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                            "sub: a part is [begin, end] or [begin, end, "
                            "step], with a step of at least 1");
        end = at[1];
        *out = (part){at[0], 0, n == 3 ? at[2] : 1, true};
    }
    if (out->first < 0 || end <= out->first || end > extent)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "sub: dim %d has %" PRId64 " indices, and [%" PRId64
                        ", %" PRId64 ") is not inside or empty",
                        k, extent, out->first, end);
    out->n = (end - out->first - 1) / out->step + 1;
    return AXE_OK;
}

/* Where whole pieces of `step` can begin so that each has one of the part's
 * indices; false: they reach beyond the dimension. */
static bool
find_pieces(int64_t extent, const part *p, int64_t *begin)
{
    int64_t last = p->first + (p->n - 1) * p->step;
    int64_t over = p->step - (extent - last);

    if (over < 0 || p->n == 1)
        over = 0;
    *begin = p->first - over;
    return *begin >= 0;
}

/* The part as the indices that it has, followed by l: for pieces that are not
 * whole. */
static axe_status
by_indices(axe_job *j, const axe_layout *l, axe_shape s, const part *p,
           const axe_layout **out)
{
    axe_iter         *it = axe_new_array(j->cx, axe_iter, s.n + 1);
    int              *end = axe_new_array(j->cx, int, s.n + 1);
    axe_offset        first = {0, AXE_AXIS_M, AXE_UNIT_ONE};
    int64_t           weight = 1;
    const axe_layout *index;

    for (int k = s.n - 1; k >= 0; weight *= s.extent[k--]) {
        int64_t step = p[k].n == 1 ? 1 : p[k].step;

        it[k] = (axe_iter){p[k].n, step * weight, AXE_AXIS_M, AXE_UNIT_ONE};
        first.value += p[k].first * weight;
        end[k] = k + 1;
    }
    AXE_TRY(axe_layout_make(j->cx,
                            &(axe_layout){.n_shard = s.n,
                                          .shard = it,
                                          .n_dim = s.n,
                                          .dim_end = end,
                                          .n_offset = 1,
                                          .offset = &first},
                            &index));
    return axe_layout_compose(j->cx, l, index, out);
}

/* The part, dim by dim: pieces of the slice, then one index of each piece. */
static axe_status
view(axe_job *j, const axe_layout *l, axe_shape s, const part *p,
     const axe_layout **out)
{
    int64_t *begin, *end, *b, *e;
    int64_t *cut = axe_new_array(j->cx, int64_t, 2 * s.n + 1);

    whole(j, s, &begin, &end);
    for (int k = 0; k < s.n; k++) {
        int64_t step = p[k].n == 1 ? 1 : p[k].step;
        if (!find_pieces(s.extent[k], &p[k], &begin[k]))
            return by_indices(j, l, s, p, out);
        end[k] = begin[k] + p[k].n * step;
        cut[2 * k] = p[k].n;
        cut[2 * k + 1] = step;
    }
    AXE_TRY(axe_layout_slice(j->cx, l, s, begin, end, &l));
    axe_shape pieces = {2 * s.n, cut};
    whole(j, pieces, &b, &e);
    for (int k = 0; k < s.n; k++) {
        b[2 * k + 1] = p[k].first - begin[k];
        e[2 * k + 1] = b[2 * k + 1] + 1;
    }
    return axe_layout_slice(j->cx, l, pieces, b, e, out);
}

axe_status
axe_op_sub(axe_job *j)
{
    const axe_json   *v = axe_json_get(j->in, "index");
    const axe_layout *l, *out;
    axe_shape         s;
    part             *p;
    int               n = 0;
    const char       *sep = "";
    axe_buf           shape = {.cx = j->cx};

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "shape", &s));
    if (v->kind != AXE_JSON_LIST || v->n_child > s.n)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "sub: index must be a list of at most %d parts, not %s",
                        s.n, axe_json_kind_text(v));
    p = axe_new_array(j->cx, part, s.n + 1);
    for (const axe_json *c = v->child; c; c = c->next, n++)
        AXE_TRY(read_part(j, c, n, s.extent[n], &p[n]));
    for (; n < s.n; n++)
        p[n] = (part){0, s.extent[n], 1, true};
    AXE_TRY(view(j, l, s, p, &out));
    axe_puts(&shape, ",\"shape\":[");
    for (int k = 0; k < s.n; k++)
        if (p[k].keep) {
            axe_putf(&shape, "%s%" PRId64, sep, p[k].n);
            sep = ",";
        }
    axe_putc(&shape, ']');
    return reply_view(j, out, shape.text);
}
