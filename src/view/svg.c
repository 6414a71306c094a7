/* svg.c - a layout as an SVG: the logical grid, then a grid for each pair
 * of axes.  Self-contained, integer coordinates only, the same bytes always.
 *
 * Colour runs with the axis of most places, and never says alone what text,
 * hatching or a frame does not say too. */
#include <inttypes.h>
#include <string.h>

#include "view/canvas.h"
#include "view/view.h"

enum {
    MAX_PAIRS = 6, /* physical grids */
    MAX_LINES = 8  /* of text in a cell */
};

typedef struct canvas {
    view_canvas at;
    const view *v;
    int         key; /* number of the axis that gives the colour, or -1 */
} canvas;

/* The axis with most places. */
static int
key_axis(const view *v)
{
    int key = -1;

    for (int k = 0; k < v->n_axis; k++)
        if (key < 0 || view_extent(v, k) > view_extent(v, key))
            key = k;
    return key;
}

static const char *
cell_color(const canvas *c, const view_cell *cell)
{
    const view *v = c->v;
    int64_t     at;

    if (c->key < 0)
        return "#e5e7eb";
    at = (int64_t)((uint64_t)cell->points.coord[c->key] -
                   (uint64_t)v->least[c->key]);
    return view_color(v->cx, at, view_extent(v, c->key));
}

/* ---------------------------------------------------------- the logical grid
 */

/* The lines of text of a cell: one for each axis, or the points. */
static int
cell_lines(const view *v, const view_cell *cell, const char *line[MAX_LINES])
{
    const char *mark = cell->clash ? " !" : "";
    int         n = 0;

    if (v->n_axis > 0 && v->n_axis <= MAX_LINES && view_is_product(v, cell)) {
        for (int k = 0; k < v->n_axis; k++)
            line[n++] = axe_textf(
                v->cx, "%s%s%s%s",
                v->n_axis == 1 ? "" : axe_axis_name(v->cx, v->axis[k]),
                v->n_axis == 1 ? "" : " ", view_coords(v, cell, k),
                k == v->n_axis - 1 ? mark : "");
        return n;
    }
    line[n++] = axe_textf(v->cx, "%s%s", view_points(v, cell, 3), mark);
    return n;
}

/* Width and height that every cell drawn fits in. */
static void
cell_size(const view *v, int *w, int *h)
{
    int letters = 2, lines = 1;

    for (int i = 0; i < v->n_row * v->n_col; i++) {
        const char *line[MAX_LINES];
        int n = cell_lines(v, view_at(v, i / v->n_col, i % v->n_col), line);

        lines = n > lines ? n : lines;
        for (int k = 0; k < n; k++)
            letters =
                (int)strlen(line[k]) > letters ? (int)strlen(line[k]) : letters;
    }
    *w = letters * VIEW_CHAR + 10;
    *h = lines * VIEW_LINE + 9;
}

static void
put_cell(canvas *c, const view_cell *cell, int x, int y, int w, int h)
{
    const char *line[MAX_LINES];
    int         n = cell_lines(c->v, cell, line);
    int         top = y + (h - n * VIEW_LINE) / 2 + 10;

    view_put_rect(&c->at, x, y, w, h, "c", cell_color(c, cell));
    for (int k = 0; k < n; k++)
        view_put_text(&c->at, x + w / 2, top + k * VIEW_LINE, "", "middle",
                      line[k]);
    if (cell->clash)
        view_put_rect(&c->at, x + 2, y + 2, w - 4, h - 4, "clash", NULL);
}

static const char *
number(const canvas *c, int64_t n)
{
    return axe_textf(c->v->cx, "%" PRId64, n);
}

/* Numbers above the columns, from `first`; moves below them. */
static void
put_columns(canvas *c, int n, int64_t first, int w)
{
    for (int k = 0; k < n; k++)
        view_put_text(&c->at, VIEW_MARGIN + VIEW_HEAD + k * w + w / 2,
                      c->at.y + 10, "head", "middle", number(c, first + k));
    c->at.y += 16;
}

static void
put_row_head(canvas *c, int y, int h, int64_t n)
{
    view_put_text(&c->at, VIEW_MARGIN + VIEW_HEAD - 6, y + h / 2 + 4, "head",
                  "end", number(c, n));
}

static void
put_more(canvas *c, int64_t rows, int64_t cols)
{
    if (rows > 0 || cols > 0)
        view_put_line(&c->at, "sub",
                      axe_textf(c->v->cx,
                                "not drawn: %" PRId64 " more rows, %" PRId64
                                " more columns",
                                rows, cols));
}

/* Lines every `step` cells where the first iter of a dim of several iters
 * steps, that is between tiles; `dim` 0 is down, 1 across. */
static int
tile_step(const view *v, int dim)
{
    const axe_layout *l = v->layout;
    int64_t           step = 1;
    int               begin = dim > 0 ? l->dim_end[dim - 1] : 0;

    if (l->n_dim != 2)
        return 0;
    for (int i = begin + 1; i < l->dim_end[dim]; i++)
        step *= l->shard[i].extent;
    return step > 1 && step < VIEW_COLS ? (int)step : 0;
}

static void
put_tiles(canvas *c, int top, int n_row, int n_col, int w, int h)
{
    int down = tile_step(c->v, 0), across = tile_step(c->v, 1);
    int left = VIEW_MARGIN + VIEW_HEAD;

    for (int r = down; down > 0 && r < n_row; r += down)
        axe_putf(c->at.out, "<path d=\"M%d %dh%d\" class=\"tile\"/>\n", left,
                 top + r * h, n_col * w);
    for (int k = across; across > 0 && k < n_col; k += across)
        axe_putf(c->at.out, "<path d=\"M%d %dv%d\" class=\"tile\"/>\n",
                 left + k * w, top, n_row * h);
}

static void
put_logical(canvas *c)
{
    const view *v = c->v;
    int         w, h, n_col = v->n_col;

    cell_size(v, &w, &h);
    while (n_col > 8 && n_col * w > 2400)
        n_col--;
    view_put_line(&c->at, "sub",
                  axe_textf(v->cx,
                            "logical: %" PRId64 " rows, %" PRId64 " columns",
                            v->rows, v->cols));
    put_columns(c, n_col, 0, w);
    for (int r = 0; r < v->n_row; r++, c->at.y += h) {
        put_row_head(c, c->at.y, h, r);
        for (int k = 0; k < n_col; k++)
            put_cell(c, view_at(v, r, k), VIEW_MARGIN + VIEW_HEAD + k * w,
                     c->at.y, w, h);
    }
    put_tiles(c, c->at.y - v->n_row * h, v->n_row, n_col, w, h);
    c->at.y += 8;
    put_more(c, v->rows - v->n_row, v->cols - n_col);
}

/* --------------------------------------------------------- physical grids */

/* The index, as row and column if there are several rows, and how many more
 * indices share the place. */
static const char *
place_label(const view *v, const view_place *p)
{
    axe_buf b = {.cx = v->cx};

    if (v->rows > 1)
        axe_putf(&b, "%" PRId64 ",", p->first / v->cols);
    axe_putf(&b, "%" PRId64, p->first % v->cols);
    if (p->n > 1)
        axe_putf(&b, " +%" PRId64, p->n - 1);
    if (p->clash)
        axe_puts(&b, " !");
    return b.text;
}

static int
place_width(const view *v, const view_grid *g)
{
    int letters = 3;

    for (int i = 0; i < g->n_row * g->n_col; i++)
        if (g->place[i].n > 0) {
            int n = (int)strlen(place_label(v, &g->place[i]));

            letters = n > letters ? n : letters;
        }
    return letters * VIEW_CHAR + 8;
}

static void
put_place(canvas *c, const view_place *p, int x, int y, int w, int h)
{
    const view *v = c->v;

    if (p->n == 0) {
        view_put_rect(&c->at, x, y, w, h, "hole", NULL);
        return;
    }
    view_put_rect(&c->at, x, y, w, h, "c", cell_color(c, &v->cell[p->first]));
    view_put_text(&c->at, x + w / 2, y + h / 2 + 4, "", "middle",
                  place_label(v, p));
    if (p->clash)
        view_put_rect(&c->at, x + 2, y + 2, w - 4, h - 4, "clash", NULL);
}

static void
put_grid_title(canvas *c, const view_grid *g)
{
    const view *v = c->v;
    axe_buf     b = {.cx = v->cx};

    if (g->a >= 0)
        axe_putf(&b, "%s down, ", axe_axis_name(v->cx, v->axis[g->a]));
    axe_putf(&b, "%s across", axe_axis_name(v->cx, v->axis[g->b]));
    if (g->a < 0 && g->rows > 1)
        axe_putf(&b, ", %" PRId64 " in a row", g->cols);
    axe_puts(&b, v->rows == 1 ? ": which index" : ": which row,column");
    if (g->n_hole > 0)
        axe_putf(&b, "; %" PRId64 " hatched: no index", g->n_hole);
    view_put_line(&c->at, "sub", b.text);
}

static void
put_physical(canvas *c, int a, int b)
{
    const view *v = c->v;
    view_grid   g;
    int         w, h = 26, n_col;

    view_project(v, a, b, &g);
    w = place_width(v, &g);
    n_col = g.n_col;
    while (n_col > 8 && n_col * w > 2400)
        n_col--;
    c->at.y += 18;
    put_grid_title(c, &g);
    put_columns(c, n_col, g.a >= 0 || g.rows == 1 ? g.left : 0, w);
    for (int r = 0; r < g.n_row; r++, c->at.y += h) {
        put_row_head(c, c->at.y, h, g.a >= 0 ? g.top + r : g.left + r * g.cols);
        for (int k = 0; k < n_col; k++)
            if (view_inside(&g, r * g.n_col + k))
                put_place(c, &g.place[r * g.n_col + k],
                          VIEW_MARGIN + VIEW_HEAD + k * w, c->at.y, w, h);
    }
    c->at.y += 8;
    put_more(c, g.rows - g.n_row, g.cols - n_col);
}

/* Every pair of axes, the one with fewer places down. */
static void
put_all_physical(canvas *c)
{
    const view *v = c->v;
    int         n = 0;

    if (!v->complete) {
        view_put_line(&c->at, "sub", "too large for its physical grids");
        return;
    }
    if (v->n_axis == 1)
        put_physical(c, -1, 0);
    for (int a = 0; a < v->n_axis; a++)
        for (int b = a + 1; b < v->n_axis && n < MAX_PAIRS; b++, n++)
            if (view_extent(v, a) <= view_extent(v, b))
                put_physical(c, a, b);
            else
                put_physical(c, b, a);
}

static const char *
summary(const view *v)
{
    axe_buf b = {.cx = v->cx};

    axe_putf(&b, "%" PRId64 " indices, ", v->layout->size);
    if (v->cell[0].points.n_point == 1)
        axe_puts(&b, "one point each");
    else
        axe_putf(&b, "%d points each", v->cell[0].points.n_point);
    for (int k = 0; k < v->n_axis; k++)
        axe_putf(&b, ", %s %" PRId64 "..%" PRId64,
                 axe_axis_name(v->cx, v->axis[k]), v->least[k], v->most[k]);
    if (v->n_clash > 0)
        axe_putf(&b, "; %" PRId64 " cells share a point (framed, !)",
                 v->n_clash);
    return b.text;
}

void
view_svg(const view *v, axe_buf *out)
{
    const char *title = axe_layout_text(v->cx, v->layout);
    axe_buf     body = {.cx = v->cx};
    canvas      c = {{&body, VIEW_MARGIN, 0}, v, key_axis(v)};

    view_put_line(&c.at, "title", title);
    view_put_line(&c.at, "sub", summary(v));
    c.at.y += 8;
    put_logical(&c);
    put_all_physical(&c);
    view_canvas_end(&c.at, title, out);
}
