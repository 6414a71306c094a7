/* expr_part.c - what stands behind a layout: a slice of it, or where one
 * element lies. */
#include <inttypes.h>

#include "layout/expr_int.h"

enum { MAX_COORD = 64 };

/* bound = [ integer ] [ ":" [ integer ] ], for a dim of the given extent */
static axe_status
range(axe_expr_reader *r, int64_t extent, int64_t *begin, int64_t *end)
{
    char c = axe_expr_peek(r);

    *begin = 0;
    if (c != ':')
        AXE_TRY(axe_expr_integer(r, begin));
    if (!axe_expr_accept(r, ":")) {
        if (axe_add(*begin, 1, end))
            return AXE_OK;
        *end = *begin;
        return AXE_OK;
    }
    c = axe_expr_peek(r);
    *end = extent;
    return c == ',' || c == ']' ? AXE_OK : axe_expr_integer(r, end);
}

axe_status
axe_expr_slice(axe_expr_reader *r, size_t from, axe_value *v)
{
    axe_shape         shape = axe_layout_shape(r->cx, v->layout);
    int64_t          *begin = axe_new_array(r->cx, int64_t, shape.n);
    int64_t          *end = axe_new_array(r->cx, int64_t, shape.n);
    const axe_layout *l;
    int               n = 0;

    do {
        if (n == shape.n)
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ESHAPE,
                            "more than %d ranges for a layout of %d dims",
                            shape.n, shape.n);
        AXE_TRY(range(r, shape.extent[n], &begin[n], &end[n]));
        n++;
    } while (axe_expr_accept(r, ","));
    if (!axe_expr_accept(r, "]"))
        return axe_expr_expected(r, "',' or ']'");
    if (n < shape.n)
        return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ESHAPE,
                        "%d ranges for a layout of %d dims", n, shape.n);
    AXE_TRY(axe_expr_placed(
        r, axe_layout_slice(r->cx, v->layout, shape, begin, end, &l), from));
    v->layout = l;
    return AXE_OK;
}

axe_status
axe_expr_apply(axe_expr_reader *r, size_t from, axe_value *v)
{
    axe_shape shape = axe_layout_shape(r->cx, v->layout);
    int64_t   c[MAX_COORD], x = 0;
    int       n = 0;

    do {
        if (n == MAX_COORD)
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ELIMIT,
                            "a coordinate of more than %d parts", MAX_COORD);
        AXE_TRY(axe_expr_integer(r, &c[n++]));
    } while (axe_expr_accept(r, ","));
    if (!axe_expr_accept(r, ")"))
        return axe_expr_expected(r, "',' or ')'");
    if (n == 1)
        shape = (axe_shape){1, &v->layout->size};
    if (n != shape.n)
        return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ESHAPE,
                        "a coordinate of %d parts for a layout of %d dims", n,
                        shape.n);
    for (int k = 0; k < n; k++) {
        if (c[k] < 0 || c[k] >= shape.extent[k])
            return axe_fail(r->cx, axe_expr_span(r, from, r->at), AXE_ESHAPE,
                            "index %" PRId64 " is outside [0, %" PRId64 ")",
                            c[k], shape.extent[k]);
        x = x * shape.extent[k] + c[k];
    }
    v->kind = AXE_VALUE_POINTS;
    return axe_expr_placed(r, axe_layout_apply(r->cx, v->layout, x, &v->points),
                           from);
}
