/* cute_format.c - the formats cute and tv. */
#include <inttypes.h>
#include <string.h>

#include "convert/cute.h"
#include "convert/formats.h"

/* Does it matter what is kept?  Only of several modes at the top. */
static axe_status
keeps_coordinates(axe_ctx *cx, int rank, axe_keep keep, bool *out)
{
    *out = keep != AXE_KEEP_INDEX;
    if (rank <= 1 || keep != AXE_KEEP_UNSAID)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EARG,
             "cute: a layout of %d modes is converted with its linear index or "
             "with its coordinates; say which to keep",
             rank);
    axe_help(cx, "coordinates: element (i, j) stays element (i, j); index: "
                 "CuTe's i-th element, down the first mode, is the i-th");
    return AXE_EARG;
}

static axe_status
names(axe_ctx *cx, const axe_convert_options *opt, int *n, const char ***out)
{
    *n = 0;
    *out = NULL;
    return opt->axes ? axe_cv_names(cx, "axes", opt->axes, n, out) : AXE_OK;
}

axe_status
axe_cv_read_cute(axe_ctx *cx, const char *text, const axe_convert_options *opt,
                 const axe_layout **out)
{
    axe_cute_composed c;
    const char      **axes;
    int               n;
    bool              coordinates;

    AXE_TRY(axe_cute_read(cx, text, &c));
    AXE_TRY(names(cx, opt, &n, &axes));
    AXE_TRY(keeps_coordinates(cx, axe_cute_rank(c.layout), opt->keep,
                              &coordinates));
    return axe_cute_to_axe(cx, &c, coordinates, n, axes, out);
}

axe_status
axe_cv_write_cute(axe_ctx *cx, const axe_layout *l,
                  const axe_convert_options *opt, const char **text)
{
    axe_cute_composed c;
    axe_buf           b = {.cx = cx};
    const char      **axes;
    int               n;
    bool              coordinates;

    AXE_TRY(names(cx, opt, &n, &axes));
    AXE_TRY(keeps_coordinates(cx, l->n_dim, opt->keep, &coordinates));
    AXE_TRY(axe_cute_from_axe(cx, l, coordinates, n, axes, opt->bits, &c));
    if (c.swizzle.bits > 0 || c.offset != 0)
        axe_putf(&b, "S<%d,%d,%d> o %" PRId64 " o ", c.swizzle.bits,
                 c.swizzle.base, c.swizzle.shift, c.offset);
    axe_cute_put_text(&b, c.layout);
    *text = b.text;
    return AXE_OK;
}

/* text = layout [ "thr_id" layout ] */
axe_status
axe_cv_read_tv(axe_ctx *cx, const char *text, const axe_convert_options *opt,
               const axe_layout **out)
{
    const char       *id = strstr(text, "thr_id");
    int               n = id ? (int)(id - text) : (int)strlen(text);
    axe_cute_composed c, thread;
    axe_cute_tv       tv = {.threads = 0};

    AXE_TRY(axe_cute_read(cx, id ? axe_textf(cx, "%.*s", n, text) : text, &c));
    if (id) {
        AXE_TRY(axe_cute_read(cx, id + strlen("thr_id"), &thread));
        tv.thr_id = *thread.layout;
    }
    if (c.swizzle.bits > 0 || c.offset || (id && thread.swizzle.bits > 0))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "tv: a thread-value layout has no swizzle and no "
                        "offset");
    tv.layout = *c.layout;
    return axe_cute_tv_to_axe(cx, &tv, opt->shape, opt->axes, out);
}

axe_status
axe_cv_write_tv(axe_ctx *cx, const axe_layout *l,
                const axe_convert_options *opt, const char **text)
{
    axe_cute_tv tv;
    axe_buf     b = {.cx = cx};

    if (opt->shape.n > 0)
        AXE_TRY(axe_layout_group(cx, l, opt->shape, &l));
    AXE_TRY(axe_cute_tv_from_axe(cx, l, opt->axes, &tv));
    axe_cute_put_text(&b, &tv.layout);
    if (tv.thr_id.n_mode != 0) {
        axe_puts(&b, " thr_id ");
        axe_cute_put_text(&b, &tv.thr_id);
    }
    *text = b.text;
    return AXE_OK;
}
