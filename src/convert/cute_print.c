/* cute_print.c - CuTe's layouts as text, as CuTe prints them. */
#include <inttypes.h>

#include "convert/cute.h"

static void
put_leaf(axe_buf *b, const axe_cute *l, bool stride)
{
    axe_putf(b, "%" PRId64, stride ? l->stride : l->shape);
    for (int i = 0; stride && i < l->basis.n; i++)
        axe_putf(b, "@%d", l->basis.at[i]);
}

static void
put_tree(axe_buf *b, const axe_cute *l, bool stride)
{
    if (axe_cute_is_leaf(l)) {
        put_leaf(b, l, stride);
        return;
    }
    axe_putc(b, '(');
    for (int i = 0; i < l->n_mode; i++) {
        if (i > 0)
            axe_putc(b, ',');
        put_tree(b, &l->mode[i], stride);
    }
    axe_putc(b, ')');
}

void
axe_cute_put_text(axe_buf *b, const axe_cute *l)
{
    put_tree(b, l, false);
    axe_putc(b, ':');
    put_tree(b, l, true);
}

const char *
axe_cute_text(axe_ctx *cx, const axe_cute *l)
{
    axe_buf b = {.cx = cx};

    axe_cute_put_text(&b, l);
    return b.text;
}

const char *
axe_cute_shape_text(axe_ctx *cx, const axe_cute *l)
{
    axe_buf b = {.cx = cx};

    put_tree(&b, l, false);
    return b.text;
}
