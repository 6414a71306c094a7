/* view.c - the points of a layout, arranged for drawing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

/* ----------------------------------------------------- the logical grid */

/* Rows and columns: the two dims; else the dims (of one dim, its iters) cut in
 * two where the grid is nearest to a square, rather wide than high; a single
 * run of over 16 is wrapped. */
static void
choose_grid(axe_ctx *cx, const axe_layout *l, int64_t *rows, int64_t *cols)
{
    axe_shape shape = axe_layout_shape(cx, l);
    int       n = shape.n == 1 ? l->n_shard : shape.n;
    int64_t   r = 1, best = l->size;

    *rows = 1;
    for (int k = 0; k < n - 1; k++) {
        int64_t ratio;

        r *= shape.n == 1 ? l->shard[k].extent : shape.extent[k];
        ratio = r > l->size / r ? r / (l->size / r) : l->size / r / r;
        if (ratio < best || n == 2) {
            best = ratio;
            *rows = r;
        }
    }
    if (n == 1 && l->size > 16 && l->size % 16 == 0)
        *rows = l->size / 16;
    *cols = l->size / *rows;
}

/* -------------------------------------------------------------- clashes */

/* One point of one cell, comparable. */
typedef struct mark {
    const int64_t *coord;
    int            n_axis;
    view_cell     *cell;
} mark;

static int
by_point(const void *a, const void *b)
{
    const mark *x = a, *y = b;

    for (int k = 0; k < x->n_axis; k++)
        if (x->coord[k] != y->coord[k])
            return x->coord[k] < y->coord[k] ? -1 : 1;
    return 0;
}

static void
find_clashes(view *v, view_cell *cell)
{
    size_t n = 0;
    mark  *m;

    for (int i = 0; i < v->n_cell; i++)
        n += (size_t)cell[i].points.n_point;
    m = axe_new_array(v->cx, mark, n);
    n = 0;
    for (int i = 0; i < v->n_cell; i++)
        for (int p = 0; p < cell[i].points.n_point; p++)
            m[n++] = (mark){cell[i].points.coord + p * cell[i].points.n_axis,
                            cell[i].points.n_axis, &cell[i]};
    qsort(m, n, sizeof *m, by_point);
    for (size_t i = 1; i < n; i++)
        if (m[i - 1].cell != m[i].cell && by_point(&m[i - 1], &m[i]) == 0)
            m[i - 1].cell->clash = m[i].cell->clash = true;
    for (int i = 0; i < v->n_cell; i++)
        v->n_clash += cell[i].clash;
}

static void
find_bounds(view *v)
{
    int64_t *least = axe_new_array(v->cx, int64_t, v->n_axis);
    int64_t *most = axe_new_array(v->cx, int64_t, v->n_axis);

    for (int i = 0; i < v->n_cell; i++)
        for (int p = 0; p < v->cell[i].points.n_point; p++)
            for (int k = 0; k < v->n_axis; k++) {
                int64_t c = v->cell[i].points.coord[p * v->n_axis + k];
                bool    first = i == 0 && p == 0;

                least[k] = first || c < least[k] ? c : least[k];
                most[k] = first || c > most[k] ? c : most[k];
            }
    v->least = least;
    v->most = most;
}

axe_status
view_make(axe_ctx *cx, const axe_layout *l, view *out)
{
    view       v = {.cx = cx, .layout = l};
    int64_t    fiber;
    view_cell *cell;

    AXE_TRY(axe_layout_fiber_size(cx, l, &fiber));
    if (fiber > VIEW_REPLICAS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "view: each index has %" PRId64
                        " points; at most %d can be drawn",
                        fiber, VIEW_REPLICAS);
    choose_grid(cx, l, &v.rows, &v.cols);
    v.n_row = v.rows < VIEW_ROWS ? (int)v.rows : VIEW_ROWS;
    v.n_col = v.cols < VIEW_COLS ? (int)v.cols : VIEW_COLS;
    v.complete = l->size <= VIEW_POINTS / fiber;
    v.n_cell = v.complete ? (int)l->size : v.n_row * v.n_col;
    v.cell = cell = axe_new_array(cx, view_cell, v.n_cell);
    for (int i = 0; i < v.n_cell; i++) {
        int64_t x = v.complete ? i : view_index(&v, i / v.n_col, i % v.n_col);

        AXE_TRY(axe_layout_apply(cx, l, x, &cell[i].points));
    }
    v.n_axis = cell[0].points.n_axis;
    v.axis = cell[0].points.axis;
    find_clashes(&v, cell);
    find_bounds(&v);
    *out = v;
    return AXE_OK;
}

const view_cell *
view_at(const view *v, int row, int col)
{
    int64_t i =
        v->complete ? view_index(v, row, col) : (int64_t)row * v->n_col + col;

    return &v->cell[i];
}

/* --------------------------------------------------------------- cell labels
 */

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The distinct coordinates of a cell on its k-th axis, in order. */
static int
distinct(const view_cell *c, int k, int64_t value[VIEW_REPLICAS])
{
    int n = 0;

    for (int p = 0; p < c->points.n_point; p++)
        value[p] = c->points.coord[p * c->points.n_axis + k];
    qsort(value, (size_t)c->points.n_point, sizeof *value, by_value);
    for (int p = 0; p < c->points.n_point; p++)
        if (n == 0 || value[n - 1] != value[p])
            value[n++] = value[p];
    return n;
}

bool
view_is_product(const view *v, const view_cell *c)
{
    int64_t value[VIEW_REPLICAS], n = 1;

    for (int k = 0; k < v->n_axis && n <= c->points.n_point; k++)
        n *= distinct(c, k, value);
    return n == c->points.n_point;
}

const char *
view_coords(const view *v, const view_cell *c, int k)
{
    int64_t value[VIEW_REPLICAS];
    int     n = distinct(c, k, value);
    axe_buf b = {.cx = v->cx};

    if (n > 4 && value[n - 1] - value[0] == n - 1)
        return axe_textf(v->cx, "%" PRId64 "..%" PRId64, value[0],
                         value[n - 1]);
    for (int i = 0; i < n && i < 4; i++)
        axe_putf(&b, "%s%" PRId64, i ? "," : "", value[i]);
    if (n > 4)
        axe_putf(&b, ",+%d", n - 4);
    return b.text;
}

const char *
view_points(const view *v, const view_cell *c, int most)
{
    axe_buf b = {.cx = v->cx};

    for (int p = 0; p < c->points.n_point && p < most; p++) {
        axe_puts(&b, p ? " (" : "(");
        for (int k = 0; k < v->n_axis; k++)
            axe_putf(&b, "%s%" PRId64, k ? "," : "",
                     c->points.coord[p * v->n_axis + k]);
        axe_putc(&b, ')');
    }
    if (c->points.n_point > most)
        axe_putf(&b, " +%d", c->points.n_point - most);
    return b.text ? b.text : "()";
}

/* ------------------------------------------------------------ physical grids
 */

/* hi - lo of two coordinates, INT64_MAX if that is more. */
static int64_t
gap(int64_t lo, int64_t hi)
{
    uint64_t d = (uint64_t)hi - (uint64_t)lo;

    return d > INT64_MAX ? INT64_MAX : (int64_t)d;
}

int64_t
view_extent(const view *v, int k)
{
    int64_t d = gap(v->least[k], v->most[k]);

    return d == INT64_MAX ? d : d + 1;
}

/* The place of a point in the grid, -1 if outside what is drawn. */
static int
locate(const view_grid *g, const int64_t *coord)
{
    int64_t col = gap(g->left, coord[g->b]);
    int64_t row = g->a >= 0 ? gap(g->top, coord[g->a]) : col / g->cols;

    if (g->a < 0)
        col %= g->cols;
    return row < g->n_row && col < g->n_col ? (int)(row * g->n_col + col) : -1;
}

static void
put_place(view_place *p, int64_t index, bool clash)
{
    if (p->n == 0)
        p->first = index;
    p->n++;
    p->clash = p->clash || clash;
}

bool
view_inside(const view_grid *g, int i)
{
    return g->a >= 0 || i / g->n_col * g->cols + i % g->n_col < g->wide;
}

void
view_project(const view *v, int a, int b, view_grid *out)
{
    view_grid   g = {.a = a, .b = b, .left = v->least[b]};
    view_place *place;
    int64_t     wide = view_extent(v, b);

    g.wide = g.cols = wide;
    g.rows = 1;
    if (a >= 0) {
        g.top = v->least[a];
        g.rows = view_extent(v, a);
    } else if (wide > VIEW_COLS / 2) {
        g.cols = wide > 256 ? VIEW_COLS / 2 : 16;
        g.rows = (wide - 1) / g.cols + 1;
    }
    g.n_row = g.rows < VIEW_ROWS ? (int)g.rows : VIEW_ROWS;
    g.n_col = g.cols < VIEW_COLS ? (int)g.cols : VIEW_COLS;
    g.place = place = axe_new_array(v->cx, view_place, g.n_row * g.n_col);
    for (int i = 0; i < v->n_cell; i++)
        for (int p = 0; p < v->cell[i].points.n_point; p++) {
            int at = locate(&g, v->cell[i].points.coord + p * v->n_axis);

            if (at >= 0)
                put_place(&place[at], i, v->cell[i].clash);
        }
    for (int i = 0; i < g.n_row * g.n_col; i++)
        if (view_inside(&g, i) && place[i].n == 0)
            g.n_hole++;
    *out = g;
}
