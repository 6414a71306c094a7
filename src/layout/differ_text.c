/* differ_text.c - a difference of two layouts in words. */
#include <inttypes.h>

#include "layout/differ.h"

const char *
axe_differ_part_text(axe_differ_part p)
{
    static const char *const text[] = {
#define PART(name, text) text,
#include "axe/difference.def"
    };

    return (unsigned)p < AXE_N_DIFFER ? text[p] : "?";
}

const char *
axe_layout_points_text(axe_ctx *cx, const axe_points *p)
{
    axe_value v = {.kind = AXE_VALUE_POINTS, .points = *p};

    return p->n_point > 0 ? axe_value_text(cx, &v) : "no place";
}

const char *
axe_layout_index_text(axe_ctx *cx, axe_shape s, int64_t x)
{
    axe_buf  b = {.cx = cx};
    int64_t *c = axe_new_array(cx, int64_t, s.n + 1);
    int64_t  rest = x;

    axe_putf(&b, "index %" PRId64, x);
    for (int k = s.n - 1; k >= 0; k--) {
        c[k] = rest % s.extent[k];
        rest /= s.extent[k];
    }
    for (int k = 0; s.n > 1 && rest == 0 && k < s.n; k++)
        axe_putf(&b, "%s%" PRId64, k ? ", " : ", (", c[k]);
    axe_puts(&b, s.n > 1 && rest == 0 ? ")" : "");
    return b.text;
}

const char *
axe_layout_form_text(axe_ctx *cx, const axe_layout *l)
{
    axe_mark          m = axe_ctx_mark(cx);
    const axe_layout *c;

    if (axe_layout_canon(cx, axe_layout_flat(cx, l), &c) == AXE_OK)
        return axe_layout_text(cx, c);
    axe_ctx_release(cx, m);
    return axe_layout_text(cx, l);
}

static void
put_index(axe_buf *b, const axe_layout *x, const axe_layout_difference *d)
{
    if (d->index < 0) {
        axe_puts(b, "  no index shows it in plain numbers\n");
        return;
    }
    axe_putf(b, "  at %s%s:\n    A has it at %s\n    B has it at %s\n",
             axe_layout_index_text(b->cx, axe_layout_shape(b->cx, x), d->index),
             d->least ? "" : ", and perhaps before",
             axe_layout_points_text(b->cx, &d->a),
             axe_layout_points_text(b->cx, &d->b));
}

const char *
axe_layout_difference_text(axe_ctx *cx, const axe_layout *x,
                           const axe_layout *y, const axe_layout_difference *d)
{
    axe_buf b = {.cx = cx};

    if (d->part == AXE_DIFFER_NONE) {
        axe_putf(&b, "equal: the same points at all %" PRId64 " indices\n",
                 x->size);
    } else {
        axe_putf(&b, "different in %s\n", axe_differ_part_text(d->part));
        put_index(&b, x, d);
    }
    axe_putf(&b, "  normal forms:\n    A %s\n    B %s\n",
             axe_layout_form_text(cx, x), axe_layout_form_text(cx, y));
    return b.text;
}
