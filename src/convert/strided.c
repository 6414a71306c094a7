/* strided.c - views as NumPy and PyTorch have them: the formats numpy and
 * torch.
 *
 *     shape=(3, 4), strides=(32, 8), itemsize=8, offset=8       in bytes
 *     size=(3, 4), stride=(4, 1), offset=1                      in elements */
#include "convert/strided.h"

#include <inttypes.h>
#include <string.h>

#include "convert/formats.h"

axe_status
axe_view_to_axe(axe_ctx *cx, const char *what, const axe_view *v,
                const axe_layout **out)
{
    axe_iter  *it = axe_new_array(cx, axe_iter, v->n + 1);
    int       *end = axe_new_array(cx, int, v->n + 1);
    axe_offset o = {v->offset / v->item, AXE_AXIS_M, AXE_UNIT_ONE};
    int        n = 0;

    if (v->offset % v->item != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: the offset %" PRId64
                        " is no multiple of an element's %" PRId64 " bytes",
                        what, v->offset, v->item);
    for (int k = 0; k < v->n; end[k++] = n) {
        if (v->extent[k] == 1)
            continue;
        if (v->extent[k] < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: dimension %d has %" PRId64
                            " elements, and a layout at least 1",
                            what, k, v->extent[k]);
        if (v->stride[k] % v->item != 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: dimension %d has a stride of %" PRId64
                            " bytes, no multiple of an element's %" PRId64,
                            what, k, v->stride[k], v->item);
        if (v->stride[k] == 0 && !v->broadcast) {
            axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                     "%s: dimension %d has stride 0: its indices 0 and 1 share "
                     "an address, which is no replica",
                     what, k);
            axe_help(cx, "broadcast=1 takes it as it is");
            return AXE_ESHAPE;
        }
        it[n++] = (axe_iter){v->extent[k], v->stride[k] / v->item, AXE_AXIS_M,
                             AXE_UNIT_ONE};
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = n,
                                         .shard = it,
                                         .n_dim = v->n,
                                         .dim_end = end,
                                         .n_offset = 1,
                                         .offset = &o},
                           out);
}

/* Why l is no view; NULL: it may be one. */
static const char *
no_view(const axe_layout *l)
{
    for (int i = 0; i < l->n_shard; i++)
        if (l->shard[i].unit != AXE_UNIT_ONE)
            return "has a size that is known only at run time";
        else if (l->shard[i].axis != AXE_AXIS_M)
            return "has an axis besides memory";
    for (int i = 0; i < l->n_offset; i++)
        if (l->offset[i].axis != AXE_AXIS_M || l->offset[i].unit)
            return "has an offset that is no number of elements";
    return l->n_replica > 0      ? "has replicas"
           : l->swizzle.bits > 0 ? "has a swizzle"
                                 : NULL;
}

axe_status
axe_view_from_axe(axe_ctx *cx, const char *what, const axe_layout *l,
                  int64_t item, axe_view *out)
{
    int64_t    *extent, *stride;
    const char *why;
    axe_shape   shape;
    bool        zero = false;

    AXE_TRY(axe_layout_canon(cx, l, &l));
    if ((why = no_view(l)))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: %s %s, and strides alone cannot say that", what,
                        axe_layout_text(cx, l), why);
    shape = axe_layout_shape(cx, l);
    extent = axe_new_array(cx, int64_t, shape.n + 1);
    stride = axe_new_array(cx, int64_t, shape.n + 1);
    for (int k = 0, from = 0; k < shape.n; from = l->dim_end[k++]) {
        extent[k] = shape.extent[k];
        stride[k] = item;
        if (l->dim_end[k] - from > 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: dimension %d of %s goes on at %" PRId64
                            " after %" PRId64
                            " elements: no single stride walks it",
                            what, k, axe_layout_text(cx, l),
                            l->shard[l->dim_end[k] - 2].stride,
                            l->shard[l->dim_end[k] - 1].extent);
        if (l->dim_end[k] == from)
            continue;
        zero = zero || l->shard[from].stride == 0;
        if (!axe_mul(l->shard[from].stride, item, &stride[k]))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "%s: a stride in bytes leaves int64", what);
    }
    *out = (axe_view){shape.n, extent, stride, item, 0, zero};
    if (l->n_offset > 0 && !axe_mul(l->offset[0].value, item, &out->offset))
        return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                        "%s: the offset in bytes leaves int64", what);
    return AXE_OK;
}

/* -------------------------------------------------------------------- text */

/* The two formats differ in their words. */
typedef struct words {
    const char *format, *shape, *stride, *item;
} words;

static const words numpy = {"numpy", "shape", "strides", "itemsize"};
static const words torch = {"torch", "size", "stride", NULL};

typedef struct fields {
    int64_t extent[AXE_CV_RANK], stride[AXE_CV_RANK], item, offset, broadcast;
    int     n_extent, n_stride;
} fields;

/* field = name "=" ( "(" numbers ")" | number ) */
static axe_status
read_field(axe_reader *r, const words *w, fields *f)
{
    const char *name;
    int64_t    *one = NULL, *many = NULL;
    int        *n = NULL;
    size_t      from;

    axe_scan_peek(r);
    from = r->at;
    if (!(name = axe_scan_name(r)))
        return axe_cv_expected(r, w->format, "a field, as 'offset=0'");
    if (strcmp(name, w->shape) == 0) {
        many = f->extent;
        n = &f->n_extent;
    } else if (strcmp(name, w->stride) == 0) {
        many = f->stride;
        n = &f->n_stride;
    } else if (w->item && strcmp(name, w->item) == 0) {
        one = &f->item;
    } else if (strcmp(name, "offset") == 0) {
        one = &f->offset;
    } else if (strcmp(name, "broadcast") == 0) {
        one = &f->broadcast;
    } else {
        return axe_fail(r->cx, axe_scan_span(r, from, r->at), AXE_ENAME,
                        "%s: no field '%s'; there are %s, %s, %s%soffset, "
                        "broadcast",
                        w->format, name, w->shape, w->stride,
                        w->item ? w->item : "", w->item ? ", " : "");
    }
    AXE_TRY(axe_cv_need(r, w->format, '='));
    if (one)
        return axe_cv_int(r, w->format, "a number", one);
    return axe_cv_ints(r, w->format, '(', ')', many, n);
}

static axe_status
read_view(axe_ctx *cx, const words *w, const char *text, const axe_layout **out)
{
    axe_reader r = axe_cv_open(cx, w->format, text);
    fields     f = {.item = 1, .n_extent = -1, .n_stride = -1};

    do
        AXE_TRY(read_field(&r, w, &f));
    while (axe_scan_take(&r, ',') || axe_scan_name_length(&r) > 0);
    AXE_TRY(axe_cv_end(&r, w->format));
    if (f.n_extent < 0 || f.n_stride < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: both %s=(..) and %s=(..) are needed", w->format,
                        w->shape, w->stride);
    if (f.n_extent != f.n_stride)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: %d extents and %d strides", w->format, f.n_extent,
                        f.n_stride);
    if (f.item < 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: elements of %" PRId64 " bytes", w->format, f.item);
    return axe_view_to_axe(cx, w->format,
                           &(axe_view){f.n_extent, f.extent, f.stride, f.item,
                                       f.offset, f.broadcast != 0},
                           out);
}

static axe_status
write_view(axe_ctx *cx, const words *w, const axe_layout *l, int64_t item,
           const char **text)
{
    axe_buf  b = {.cx = cx};
    axe_view v;

    AXE_TRY(axe_view_from_axe(cx, w->format, l, item, &v));
    axe_putf(&b, "%s=", w->shape);
    axe_cv_put_ints(&b, "(", v.n, v.extent, v.n == 1 ? ",)" : ")");
    axe_putf(&b, ", %s=", w->stride);
    axe_cv_put_ints(&b, "(", v.n, v.stride, v.n == 1 ? ",)" : ")");
    if (w->item)
        axe_putf(&b, ", %s=%" PRId64, w->item, v.item);
    axe_putf(&b, ", offset=%" PRId64, v.offset);
    if (v.broadcast)
        axe_puts(&b, ", broadcast=1");
    *text = b.text;
    return AXE_OK;
}

axe_status
axe_cv_read_numpy(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                  const axe_layout **out)
{
    (void)opt;
    return read_view(cx, &numpy, text, out);
}

axe_status
axe_cv_write_numpy(axe_ctx *cx, const axe_layout *l,
                   const axe_convert_options *opt, const char **text)
{
    if (opt->bits < 8 || opt->bits % 8 != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "numpy: strides are in bytes; say how many bits an "
                        "element has, a multiple of 8");
    return write_view(cx, &numpy, l, opt->bits / 8, text);
}

axe_status
axe_cv_read_torch(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                  const axe_layout **out)
{
    (void)opt;
    return read_view(cx, &torch, text, out);
}

axe_status
axe_cv_write_torch(axe_ctx *cx, const axe_layout *l,
                   const axe_convert_options *opt, const char **text)
{
    (void)opt;
    return write_view(cx, &torch, l, 1, text);
}
