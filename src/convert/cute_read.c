/* cute_read.c - CuTe's notation, with what its C++ and its Python print: static
 * integers, swizzles, pointers into shared memory. */
#include <inttypes.h>
#include <string.h>

#include "convert/cute.h"
#include "convert/text.h"

static const char FORMAT[] = "cute";

/* number = [ "_" ] digits [ "{" "}" ], maybe negative */
static axe_status
read_number(axe_reader *r, const char *what, int64_t *out)
{
    bool negative = axe_scan_take(r, '-');

    axe_scan_peek(r);
    if (r->at + 1 < r->len && r->text[r->at] == '_' &&
        axe_is_digit(r->text[r->at + 1]))
        r->at++;
    if (!axe_is_digit(axe_scan_peek(r)))
        return axe_cv_expected(r, FORMAT, what);
    AXE_TRY(axe_cv_int(r, FORMAT, what, out));
    if (negative)
        *out = -*out;
    if (axe_scan_take(r, '{'))
        AXE_TRY(axe_cv_need(r, FORMAT, '}'));
    return AXE_OK;
}

static axe_status
read_leaf(axe_reader *r, axe_cute *out)
{
    axe_cute l = {.n_mode = -1};
    int64_t  at;

    AXE_TRY(read_number(r, "a number or '('", &l.shape));
    while (axe_scan_take(r, '@')) {
        size_t from = r->at;

        AXE_TRY(read_number(r, "the number of a coordinate", &at));
        if (at < 0 || at >= AXE_CV_RANK || l.basis.n == AXE_CUTE_BASES)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ELIMIT,
                            "cute: a basis is at most %d numbers below %d",
                            AXE_CUTE_BASES, AXE_CV_RANK);
        l.basis.at[l.basis.n++] = (int)at;
    }
    *out = l;
    return AXE_OK;
}

/* A tree of numbers, each in `shape` of a leaf. */
static axe_status
read_tree(axe_reader *r, int depth, int *left, axe_cute *out)
{
    axe_cute mode[AXE_CV_RANK];
    int      n = 0;
    size_t   from = r->at;

    if (--*left < 0 || depth == AXE_CUTE_DEPTH)
        return axe_fail(r->cx, axe_scan_span(r, from, from + 1), AXE_ELIMIT,
                        "cute: more than %d numbers, or nested deeper than %d",
                        AXE_CUTE_LEAVES, AXE_CUTE_DEPTH);
    if (!axe_scan_take(r, '('))
        return read_leaf(r, out);
    while (!axe_scan_take(r, ')')) {
        if (n == AXE_CV_RANK)
            return axe_fail(r->cx, axe_scan_span(r, r->at, r->at + 1),
                            AXE_ELIMIT, "cute: more than %d modes in a tuple",
                            AXE_CV_RANK);
        AXE_TRY(read_tree(r, depth + 1, left, &mode[n]));
        n++;
        if (axe_scan_peek(r) != ')')
            AXE_TRY(axe_cv_need(r, FORMAT, ','));
    }
    *out = axe_cute_tuple(r->cx, n, mode);
    return AXE_OK;
}

/* shape and stride, two trees of numbers, as one layout. */
static axe_status
zip(axe_reader *r, axe_span at, const axe_cute *shape, const axe_cute *stride,
    axe_cute *out)
{
    axe_cute *mode;

    if (shape->n_mode != stride->n_mode)
        return axe_fail(r->cx, at, AXE_ESHAPE,
                        "cute: strides must be nested as the shape is: %s "
                        "against %s",
                        axe_cute_shape_text(r->cx, shape),
                        axe_cute_shape_text(r->cx, stride));
    if (axe_cute_is_leaf(shape)) {
        if (shape->basis.n > 0)
            return axe_fail(r->cx, at, AXE_ESYNTAX,
                            "cute: a shape has no basis");
        *out = axe_cute_leaf(shape->shape, stride->shape);
        out->basis = stride->basis;
        return AXE_OK;
    }
    mode = axe_new_array(r->cx, axe_cute, shape->n_mode + 1);
    for (int i = 0; i < shape->n_mode; i++)
        AXE_TRY(zip(r, at, &shape->mode[i], &stride->mode[i], &mode[i]));
    *out = (axe_cute){.n_mode = shape->n_mode, .mode = mode};
    return AXE_OK;
}

static axe_status
read_layout(axe_reader *r, const axe_cute **out)
{
    int      left = AXE_CUTE_LEAVES;
    size_t   from;
    axe_cute shape, stride, l;

    axe_scan_peek(r);
    from = r->at;
    AXE_TRY(read_tree(r, 0, &left, &shape));
    if (axe_scan_take(r, ':')) {
        left = AXE_CUTE_LEAVES;
        AXE_TRY(read_tree(r, 0, &left, &stride));
        AXE_TRY(zip(r, axe_scan_span(r, from, r->at), &shape, &stride, &l));
    } else {
        AXE_TRY(zip(r, axe_scan_span(r, from, r->at), &shape, &shape, &l));
        AXE_TRY(axe_cute_check(r->cx, FORMAT, &l));
        AXE_TRY(axe_cute_compact(r->cx, &l, 1, &l));
    }
    AXE_TRY(axe_cute_check(r->cx, FORMAT, &l));
    *out = axe_cute_put(r->cx, l);
    return AXE_OK;
}

/* "<" bits "," base "," shift ">" */
static axe_status
read_swizzle(axe_reader *r, axe_swizzle *out)
{
    int64_t v[AXE_CV_RANK];
    int     n;
    size_t  from = r->at;

    AXE_TRY(axe_cv_ints(r, FORMAT, '<', '>', v, &n));
    if (n != 3)
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESYNTAX,
                        "cute: a swizzle is <bits, base, shift>");
    for (int i = 0; i < 3; i++)
        if (v[i] < -64 || v[i] > 64)
            return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                            "cute: a swizzle's fields are at most 62");
    *out = (axe_swizzle){(int)v[0], (int)v[1], (int)v[2], 0};
    return out->bits == 0 ? AXE_OK : axe_swizzle_check(r->cx, *out);
}

/* What stands between a swizzle and its layout. */
static axe_status
read_offset(axe_reader *r, axe_cute_composed *c)
{
    int64_t bits;
    size_t  from;

    if (!axe_scan_word(r, "smem_ptr"))
        return read_number(r, "an offset or smem_ptr", &c->offset);
    AXE_TRY(axe_cv_need(r, FORMAT, '['));
    from = r->at;
    AXE_TRY(axe_cv_int(r, FORMAT, "the bits of an element", &bits));
    if (!axe_scan_word(r, "b"))
        return axe_cv_expected(r, FORMAT, "'b'");
    if (bits < 1 || bits > 256 || (bits & (bits - 1)))
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ESHAPE,
                        "cute: elements of %" PRId64
                        " bits; a power of two up to 256 is needed",
                        bits);
    AXE_TRY(axe_cv_need(r, FORMAT, ']'));
    if (axe_scan_take(r, '(')) {
        if (!axe_scan_word(r, "unset"))
            return axe_cv_expected(r, FORMAT, "'unset'");
        AXE_TRY(axe_cv_need(r, FORMAT, ')'));
    }
    c->element_bits = (int)bits;
    return AXE_OK;
}

axe_status
axe_cute_read(axe_ctx *cx, const char *text, axe_cute_composed *out)
{
    axe_reader        r = axe_cv_open(cx, FORMAT, text);
    axe_cute_composed c = {.offset = 0};

    if (axe_scan_word(&r, "S") || axe_scan_word(&r, "Sw") ||
        axe_scan_word(&r, "Swizzle")) {
        AXE_TRY(read_swizzle(&r, &c.swizzle));
        if (!axe_scan_word(&r, "o"))
            return axe_cv_expected(&r, FORMAT, "'o'");
        AXE_TRY(read_offset(&r, &c));
        if (!axe_scan_word(&r, "o"))
            return axe_cv_expected(&r, FORMAT, "'o'");
    }
    AXE_TRY(read_layout(&r, &c.layout));
    AXE_TRY(axe_cv_end(&r, FORMAT));
    *out = c;
    return AXE_OK;
}
