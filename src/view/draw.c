/* draw.c - pictures of layouts, as axe/view.h has them. */
#include "view/view.h"

#include "base/ctx.h"

/* A swizzle of bytes as one of elements. */
static axe_status
of_elements(axe_ctx *cx, const axe_layout *l, int bits, const axe_layout **out)
{
    axe_layout *own = axe_new(cx, axe_layout);

    *out = own;
    *own = *l;
    if (l->swizzle.bits == 0 || l->swizzle.unit_bits == 0)
        return AXE_OK;
    return axe_swizzle_recast(cx, l->swizzle, bits, &own->swizzle);
}

static axe_status
make(axe_ctx *cx, const axe_layout *l, int bits, view *out)
{
    const axe_layout *of;

    AXE_TRY(of_elements(cx, l, bits, &of));
    return view_make(cx, of, out);
}

axe_status
axe_layout_draw(axe_ctx *cx, const axe_layout *l, int bits, int width,
                axe_buf *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    view v;

    AXE_TRY(make(cx, l, bits, &v));
    view_text(&v, width, out);
    return AXE_OK;
}

axe_status
axe_layout_svg(axe_ctx *cx, const axe_layout *l, int bits, axe_buf *out)
{
    AXE_NEED(cx, l);
    AXE_NEED(cx, out);
    view v;

    AXE_TRY(make(cx, l, bits, &v));
    view_svg(&v, out);
    return AXE_OK;
}
