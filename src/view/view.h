/* view.h - a layout as a picture: who owns what, computed once, drawn twice.
 *
 * The logical grid has a cell for each index, row-major.  A cell has points;
 * two cells with a common point clash.  A physical grid has a place for each
 * pair of coordinates on two axes (or each coordinate, of a layout on one axis)
 * between the smallest and the largest; a place that no index has is a hole.
 */
#ifndef AXE_VIEW_INT_H
#define AXE_VIEW_INT_H

#include "axe/view.h"

enum {
    VIEW_ROWS = 32,        /* drawn of a grid */
    VIEW_COLS = 64,        /* likewise */
    VIEW_POINTS = 1 << 16, /* looked at for the physical grids */
    VIEW_REPLICAS = 256    /* points of one cell */
};

typedef struct view_cell {
    axe_points points;
    bool       clash; /* shares a point with another cell looked at */
} view_cell;

typedef struct view {
    axe_ctx          *cx;
    const axe_layout *layout;
    int64_t           rows, cols;   /* of the logical grid */
    int               n_row, n_col; /* of them drawn */
    bool              complete;     /* every index was looked at */
    int               n_cell;
    const view_cell  *cell; /* by index, or only those drawn */
    int               n_axis;
    const axe_axis   *axis;         /* the layout's */
    const int64_t    *least, *most; /* [n_axis] coordinates seen */
    int64_t           n_clash;      /* cells */
} view;

/* Errors  those of axe_layout_apply; ELIMIT: over VIEW_REPLICAS points. */
AXE_CHECK axe_status view_make(axe_ctx *cx, const axe_layout *l, view *out);

/* Places between the smallest and the largest coordinate on v->axis[k]. */
int64_t view_extent(const view *v, int k);

/* The cell of a drawn row and column, and its index. */
const view_cell *view_at(const view *v, int row, int col);
static inline int64_t
view_index(const view *v, int row, int col)
{
    return row * v->cols + col;
}

/* The coordinates of a cell on its k-th axis, "5,9", when its points are all
 * combinations of such lists; view_is_product says whether they are. */
bool        view_is_product(const view *v, const view_cell *c);
const char *view_coords(const view *v, const view_cell *c, int k);
/* All points, "(5, 0) (9, 1)", at most `most` of them. */
const char *view_points(const view *v, const view_cell *c, int most);

/* A place of a physical grid. */
typedef struct view_place {
    int64_t first; /* the smallest index that has it */
    int64_t n;     /* how many have it; 0: a hole */
    bool    clash;
} view_place;

/* The physical grid of axes number a (down) and b (across) of v->axis; a < 0:
 * one axis, wrapped into rows of n_col. */
typedef struct view_grid {
    int               a, b;
    int64_t           top, left;    /* coordinates of the first place */
    int64_t           rows, cols;   /* in all */
    int64_t           wide;         /* places of axis b */
    int               n_row, n_col; /* drawn */
    int64_t           n_hole;       /* among those drawn */
    const view_place *place;        /* [n_row][n_col] */
} view_grid;

/* Is the i-th place drawn one of the grid, not behind its wrapped end? */
bool view_inside(const view_grid *g, int i);

/* Needs v->complete. */
void view_project(const view *v, int a, int b, view_grid *out);

/* "(8, 16)" of 8 rows and 16 columns, replicas, clashes: one line each. */
void view_text(const view *v, int width, axe_buf *out);
void view_svg(const view *v, axe_buf *out);

#endif
