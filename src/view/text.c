/* text.c - a layout as an aligned grid of text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/view.h"

/* "5,9/0/1": coordinates axis by axis, "!" behind a clash. */
static const char *
label(const view *v, const view_cell *c)
{
    axe_buf b = {.cx = v->cx};

    if (!view_is_product(v, c))
        axe_puts(&b, view_points(v, c, 3));
    else
        for (int k = 0; k < v->n_axis; k++)
            axe_putf(&b, "%s%s", k ? "/" : "", view_coords(v, c, k));
    if (v->n_axis == 0)
        axe_putc(&b, '.');
    if (c->clash)
        axe_putc(&b, '!');
    return b.text;
}

static void
put_head(const view *v, axe_buf *out)
{
    axe_putf(out, "%s\n%" PRId64 " rows, %" PRId64 " columns",
             axe_layout_text(v->cx, v->layout), v->rows, v->cols);
    if (v->n_axis > 0)
        axe_puts(out, "; each cell: ");
    for (int k = 0; k < v->n_axis; k++)
        axe_putf(out, "%s%s", k ? "/" : "", axe_axis_name(v->cx, v->axis[k]));
    if (v->n_clash > 0)
        axe_putf(out, "; ! shares a point (%" PRId64 " cells)", v->n_clash);
    axe_puts(out, "\n\n");
}

static void
put_ranges(const view *v, axe_buf *out)
{
    for (int k = 0; v->complete && k < v->n_axis; k++) {
        view_grid g;

        axe_putf(out, "  %-10s %" PRId64 " .. %" PRId64,
                 axe_axis_name(v->cx, v->axis[k]), v->least[k], v->most[k]);
        view_project(v, -1, k, &g);
        if (g.n_hole > 0 && g.n_row == g.rows && g.n_col == g.cols)
            axe_putf(out, ", %" PRId64 " holes", g.n_hole);
        axe_putc(out, '\n');
    }
}

void
view_text(const view *v, int width, axe_buf *out)
{
    int          n_row = v->n_row, n_col = v->n_col, w = 1, head;
    const char **cell = axe_new_array(v->cx, const char *, n_row *n_col);

    for (int i = 0; i < n_row * n_col; i++) {
        int len;

        cell[i] = label(v, view_at(v, i / n_col, i % n_col));
        len = (int)strlen(cell[i]);
        w = len > w ? len : w;
    }
    head = snprintf(NULL, 0, "%d", n_row - 1) + 2;
    while (n_col > 1 && head + n_col * (w + 1) > width)
        n_col--;
    put_head(v, out);
    axe_putf(out, "%*s", head, "");
    for (int c = 0; c < n_col; c++)
        axe_putf(out, " %*d", w, c);
    axe_putc(out, '\n');
    for (int r = 0; r < n_row; r++) {
        axe_putf(out, "%*d |", head - 2, r);
        for (int c = 0; c < n_col; c++)
            axe_putf(out, " %*s", w, cell[r * v->n_col + c]);
        axe_puts(out, n_col < v->cols ? " ...\n" : "\n");
    }
    if (n_row < v->rows || n_col < v->cols)
        axe_putf(out,
                 "(shown: %d of %" PRId64 " rows, %d of %" PRId64
                 " columns; -w 0 shows more columns, -o draws)\n",
                 n_row, v->rows, n_col, v->cols);
    axe_putc(out, '\n');
    put_ranges(v, out);
}
