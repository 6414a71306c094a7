/* eval_points.c - the operations of `axe eval` that give points and extents.
 *
 * Axes are written by name and points in the order of their coordinates, so
 * that a reply does not depend on which axes a ctx met first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout/eval_int.h"

enum { MAX_POINTS = 1 << 20 }; /* in one reply */

static void
add_axis(axe_job *j, axe_axis a, int *n, axe_axis *set)
{
    int k = *n;

    for (int i = 0; i < *n; i++)
        if (set[i] == a)
            return;
    for (; k > 0 && strcmp(axe_axis_name(j->cx, set[k - 1]),
                           axe_axis_name(j->cx, a)) > 0;
         k--)
        set[k] = set[k - 1];
    set[k] = a;
    ++*n;
}

int
axe_job_axes(axe_job *j, const axe_layout *l, const axe_axis **out)
{
    int       most = l->n_shard + l->n_replica + l->n_offset + 1;
    axe_axis *set = axe_new_array(j->cx, axe_axis, most);
    int       n = 0;

    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].extent > 1)
            add_axis(j, l->shard[i].axis, &n, set);
    for (int i = 0; i < l->n_replica; i++)
        add_axis(j, l->replica[i].axis, &n, set);
    for (int i = 0; i < l->n_offset; i++)
        add_axis(j, l->offset[i].axis, &n, set);
    if (l->swizzle.bits > 0)
        add_axis(j, AXE_AXIS_M, &n, set);
    for (int i = 0; n == 0 && i < l->n_shard; i++)
        add_axis(j, l->shard[i].axis, &n, set);
    *out = set;
    return n;
}

/* ----------------------------------------------------------------- extents */

axe_status
axe_op_size(axe_job *j)
{
    const axe_layout *l;
    axe_axis          axis;
    int64_t           n = 1;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_axis(j, "axis", &axis));
    if (axis < 0)
        return axe_job_reply_int(j, l->size);
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].axis == axis)
            n *= l->shard[i].extent;
    return axe_job_reply_int(j, n);
}

/* 1 + the sum over memory axes of (cosize - 1): what one flat memory needs. */
static axe_status
memory_span(axe_job *j, const axe_layout *l, int64_t *out)
{
    const axe_axis *axis;
    int             n = axe_job_axes(j, l, &axis);
    int64_t         sum = 1, v;

    for (int i = 0; i < n; i++) {
        axe_axis_kind kind = axe_axis_kind_of(j->cx, axis[i]);

        if (kind == AXE_KIND_THREAD || kind == AXE_KIND_DEVICE)
            continue;
        AXE_TRY(axe_layout_cosize(j->cx, l, axis[i], &v));
        if (!axe_add(sum, v - 1, &sum))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "span: the sum over memory axes leaves int64");
    }
    *out = sum;
    return AXE_OK;
}

axe_status
axe_op_span(axe_job *j)
{
    const axe_layout *l;
    axe_axis          axis;
    int64_t           v;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_axis(j, "axis", &axis));
    if (axis < 0)
        AXE_TRY(memory_span(j, l, &v));
    else
        AXE_TRY(axe_layout_cosize(j->cx, l, axis, &v));
    return axe_job_reply_int(j, v);
}

/* ------------------------------------------------------------------ points */

/* All points of x, with the columns in the order of their axes' names. */
typedef struct points {
    int             n_axis, n_point;
    const axe_axis *axis;
    int64_t        *coord; /* [n_point][n_axis], sorted */
} points;

static int
by_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static bool
less(const int64_t *a, const int64_t *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

/* Merge the sorted runs src[lo, mid) and src[mid, hi) of rows of n. */
static void
merge(int64_t *dst, const int64_t *src, int n, int lo, int mid, int hi)
{
    int a = lo, b = mid;

    for (int k = lo; k < hi; k++) {
        bool right =
            a == mid || (b < hi && less(src + (size_t)b * (size_t)n,
                                        src + (size_t)a * (size_t)n, n));
        int from = right ? b++ : a++;

        memcpy(dst + (size_t)k * (size_t)n, src + (size_t)from * (size_t)n,
               (size_t)n * sizeof *dst);
    }
}

/* Sort p's rows.  One column is the common case, and qsort knows no width. */
static void
sort_points(axe_job *j, points *p)
{
    size_t   n = (size_t)p->n_axis;
    int64_t *a = p->coord, *b;

    if (p->n_axis == 1)
        qsort(a, (size_t)p->n_point, sizeof *a, by_int64);
    if (p->n_axis <= 1)
        return;
    b = axe_new_array(j->cx, int64_t, (size_t)p->n_point * n);
    for (int64_t w = 1; w < p->n_point; w *= 2) {
        for (int64_t lo = 0; lo < p->n_point; lo += 2 * w) {
            int64_t mid = lo + w < p->n_point ? lo + w : p->n_point;
            int64_t hi = mid + w < p->n_point ? mid + w : p->n_point;

            merge(b, a, p->n_axis, (int)lo, (int)mid, (int)hi);
        }
        p->coord = b;
        b = a;
        a = p->coord;
    }
}

static axe_status
all_points(axe_job *j, const axe_layout *l, int64_t x, points *out)
{
    axe_points raw;
    points     p = {0};

    AXE_TRY(axe_layout_apply(j->cx, l, x, &raw));
    p.n_axis = axe_job_axes(j, l, &p.axis);
    p.n_point = raw.n_point;
    p.coord =
        axe_new_array(j->cx, int64_t, (size_t)p.n_point * (size_t)p.n_axis);
    for (int i = 0; i < p.n_point; i++)
        for (int k = 0; k < p.n_axis; k++)
            for (int c = 0; c < raw.n_axis; c++)
                if (raw.axis[c] == p.axis[k])
                    p.coord[(size_t)i * (size_t)p.n_axis + (size_t)k] =
                        raw.coord[(size_t)i * (size_t)raw.n_axis + (size_t)c];
    sort_points(j, &p);
    *out = p;
    return AXE_OK;
}

/* D(x) + O on one axis, swizzled.  The slowest digit is not bounded. */
static axe_status
coordinate(axe_job *j, const axe_layout *l, int64_t x, axe_axis axis,
           int64_t *out)
{
    int64_t sum = 0, term;
    bool    fits = true, unit = true;

    for (int i = l->n_shard - 1; i >= 0; i--) {
        axe_iter it = l->shard[i];
        int64_t  digit = i > 0 ? x % it.extent : x;

        x /= it.extent;
        if (it.axis != axis)
            continue;
        unit = unit && it.unit == AXE_UNIT_ONE;
        fits = fits && axe_mul(digit, it.stride, &term) &&
               axe_add(sum, term, &sum);
    }
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].axis == axis) {
            unit = unit && l->offset[i].unit == AXE_UNIT_ONE;
            fits = fits && axe_add(sum, l->offset[i].value, &sum);
        }
    if (!unit)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "apply: a stride on axis %s has a size in it that is "
                        "known only at run time",
                        axe_axis_name(j->cx, axis));
    if (!fits)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "apply: the coordinate on axis %s leaves int64",
                        axe_axis_name(j->cx, axis));
    *out = axis == AXE_AXIS_M ? axe_swizzle_apply(l->swizzle, sum) : sum;
    return AXE_OK;
}

static axe_status
put_point(axe_job *j, const axe_layout *l, int64_t x)
{
    const axe_axis *axis;
    int             n = axe_job_axes(j, l, &axis);

    axe_putc(j->out, '{');
    for (int k = 0; k < n; k++) {
        int64_t v;

        AXE_TRY(coordinate(j, l, x, axis[k], &v));
        if (k > 0)
            axe_putc(j->out, ',');
        axe_json_put_name(j->out, axe_axis_name(j->cx, axis[k]));
        axe_putf(j->out, ":%" PRId64, v);
    }
    axe_putc(j->out, '}');
    return AXE_OK;
}

static axe_status
count_points(axe_job *j, int n, int64_t *total)
{
    *total += n;
    if (*total > MAX_POINTS)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "more than %d points in one reply", MAX_POINTS);
    return AXE_OK;
}

static axe_status
put_points(axe_job *j, const axe_layout *l, int64_t x, int64_t *total)
{
    points p;

    AXE_TRY(all_points(j, l, x, &p));
    AXE_TRY(count_points(j, p.n_point, total));
    axe_putc(j->out, '[');
    for (int i = 0; i < p.n_point; i++) {
        axe_puts(j->out, i ? ",{" : "{");
        for (int k = 0; k < p.n_axis; k++) {
            if (k > 0)
                axe_putc(j->out, ',');
            axe_json_put_name(j->out, axe_axis_name(j->cx, p.axis[k]));
            axe_putf(j->out, ":%" PRId64,
                     p.coord[(size_t)i * (size_t)p.n_axis + (size_t)k]);
        }
        axe_putc(j->out, '}');
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}

/* The same as a list of [axis, coordinate], nonzero ones only. */
static axe_status
put_sparse(axe_job *j, const axe_layout *l, int64_t x, int64_t *total)
{
    points p;

    AXE_TRY(all_points(j, l, x, &p));
    AXE_TRY(count_points(j, p.n_point, total));
    axe_putc(j->out, '[');
    for (int i = 0; i < p.n_point; i++) {
        const int64_t *c = p.coord + (size_t)i * (size_t)p.n_axis;
        const char    *sep = "[";

        axe_puts(j->out, i ? ",[" : "[");
        for (int k = 0; k < p.n_axis; k++) {
            if (c[k] == 0)
                continue;
            axe_puts(j->out, sep);
            axe_json_put_name(j->out, axe_axis_name(j->cx, p.axis[k]));
            axe_putf(j->out, ",%" PRId64 "]", c[k]);
            sep = ",[";
        }
        axe_putc(j->out, ']');
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}

/* The extents of the iters, for coordinates given without a shape. */
static axe_shape
iter_shape(axe_job *j, const axe_layout *l)
{
    int64_t *e = axe_new_array(j->cx, int64_t, l->n_shard);

    for (int i = 0; i < l->n_shard; i++)
        e[i] = l->shard[i].extent;
    return (axe_shape){l->n_shard, e};
}

/* The flat index of a coordinate; `open`: its slowest part is not bounded. */
static axe_status
flat_index(axe_job *j, axe_shape coord, axe_shape shape, bool open,
           int64_t *out)
{
    int64_t x = 0;

    if (coord.n != shape.n)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "a coordinate has %d parts, the shape %d", coord.n,
                        shape.n);
    for (int k = 0; k < shape.n; k++) {
        int64_t c = coord.extent[k], e = shape.extent[k];

        if (c < 0 || (c >= e && !(open && k == 0)))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "part %d of a coordinate is %" PRId64
                            ", outside [0, %" PRId64 ")",
                            k, c, e);
        if (!axe_mul(x, e, &x) || !axe_add(x, c, &x))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "the index of a coordinate leaves int64");
    }
    *out = x;
    return AXE_OK;
}

/* The product must be the layout's size. */
static axe_status
check_shape(axe_job *j, axe_shape shape, const axe_layout *l)
{
    int64_t n = 1;

    for (int k = 0; k < shape.n; k++)
        if (shape.extent[k] < 1 || !axe_mul(n, shape.extent[k], &n))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "extent %" PRId64 " of the shape does not fit",
                            shape.extent[k]);
    if (n != l->size)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "the shape has %" PRId64
                        " elements, the layout %" PRId64,
                        n, l->size);
    return AXE_OK;
}

static axe_status
bool_arg(axe_job *j, const char *key, bool *out)
{
    const axe_json *v = axe_json_get(j->in, key);

    *out = v && v->truth;
    if (!v || v->kind == AXE_JSON_NULL || v->kind == AXE_JSON_BOOL)
        return AXE_OK;
    return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG, "%s must be true or false",
                    key);
}

static axe_status
put_at(axe_job *j, const axe_layout *l, axe_shape shape, bool open, bool set,
       const axe_json *c, int64_t *total)
{
    axe_shape coord;
    int64_t   x;

    AXE_TRY(axe_json_to_shape(j->cx, c, "a coordinate", &coord));
    if (open && coord.n == 1)
        shape = (axe_shape){1, &l->size};
    AXE_TRY(flat_index(j, coord, shape, open, &x));
    if (set)
        return put_points(j, l, x, total);
    AXE_TRY(count_points(j, 1, total));
    return put_point(j, l, x);
}

/* Without a shape a coordinate is one index, or one digit for each iter, and
 * may go beyond the domain in its slowest digit, as in TVM. */
axe_status
axe_op_apply(axe_job *j)
{
    const axe_json   *v = axe_json_get(j->in, "shape");
    const axe_json   *coords = axe_json_get(j->in, "coords");
    bool              open = !v || v->kind == AXE_JSON_NULL, set;
    const axe_layout *l;
    axe_shape         shape;
    int64_t           total = 0;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(bool_arg(j, "set_valued", &set));
    shape = iter_shape(j, l);
    if (!open)
        AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(check_shape(j, shape, l));
    if (coords->kind != AXE_JSON_LIST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "coords must be a list of coordinates, not %s",
                        axe_json_kind_text(coords));
    axe_putc(j->out, '[');
    for (const axe_json *c = coords->child; c; c = c->next) {
        AXE_TRY(put_at(j, l, shape, open, set, c, &total));
        if (c->next)
            axe_putc(j->out, ',');
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}

axe_status
axe_op_apply_set(axe_job *j)
{
    const axe_layout *l;
    axe_shape         x;
    int64_t           total = 0;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "x", &x));
    axe_putc(j->out, '[');
    for (int i = 0; i < x.n; i++) {
        if (i > 0)
            axe_putc(j->out, ',');
        AXE_TRY(put_sparse(j, l, x.extent[i], &total));
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}

/* The same for every index: replicas do not depend on it. */
axe_status
axe_op_fiber_size(axe_job *j)
{
    const axe_layout *l;
    const axe_json   *v = axe_json_get(j->in, "x");
    int64_t           n, x;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    if (v && v->kind != AXE_JSON_NULL) {
        AXE_TRY(axe_job_int(j, "x", &x));
        if (x < 0 || x >= l->size)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "fiber_size: index %" PRId64
                            " is outside [0, %" PRId64 ")",
                            x, l->size);
    }
    AXE_TRY(axe_layout_fiber_size(j->cx, l, &n));
    return axe_job_reply_int(j, n);
}

axe_status
axe_op_apply_to_shape(axe_job *j)
{
    const axe_layout *l, *g;
    axe_shape         shape, coord;
    int64_t           x, *digit;

    AXE_TRY(axe_job_layout(j, "layout", &l));
    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_job_shape(j, "coord", &coord));
    AXE_TRY(axe_layout_group(j->cx, l, shape, &g));
    AXE_TRY(flat_index(j, coord, shape, false, &x));
    digit = axe_new_array(j->cx, int64_t, g->n_shard);
    for (int i = g->n_shard - 1; i >= 0; i--) {
        digit[i] = x % g->shard[i].extent;
        x /= g->shard[i].extent;
    }
    axe_putc(j->out, '[');
    for (int i = 0; i < g->n_shard; i++)
        axe_putf(j->out, "%s%" PRId64, i ? "," : "", digit[i]);
    axe_putc(j->out, ']');
    return AXE_OK;
}
