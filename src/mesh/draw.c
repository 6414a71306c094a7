/* draw.c - a plan as a picture: who has what before and behind each step, and
 * who gives whom how much. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "mesh/parts.h"
#include "view/canvas.h"

/* A grid of texts with heads of rows and columns. */
typedef struct grid {
    int         n_row, n_col;
    const char *row[MESH_DRAWN], *col[MESH_DRAWN];
    const char *cell[MESH_DRAWN][MESH_DRAWN];
    int64_t     tint[MESH_DRAWN][MESH_DRAWN], most; /* -1: no colour */
} grid;

static grid *
grid_of_parts(axe_ctx *cx, const mesh_parts *t, int64_t n_device)
{
    grid *g = axe_new(cx, grid);

    g->n_row = t->n_row;
    g->n_col = t->n_col;
    g->most = n_device;
    for (int c = 0; c < t->n_col; c++)
        g->col[c] = axe_textf(cx, "%" PRId64, t->col[c]);
    for (int r = 0; r < t->n_row; r++) {
        g->row[r] = axe_textf(cx, "%" PRId64, t->row[r]);
        for (int c = 0; c < t->n_col; c++) {
            int64_t first = 0;

            while (first < n_device && !(t->owners[r][c] >> first & 1))
                first++;
            g->cell[r][c] = mesh_owners_text(cx, t->owners[r][c]);
            g->tint[r][c] = first < n_device ? first : -1;
        }
    }
    return g;
}

/* Device (row) gives device (column). */
static grid *
grid_of_sends(axe_ctx *cx, const axe_reshard_plan *p, int step)
{
    grid *g = axe_new(cx, grid);

    g->n_row = g->n_col = (int)p->mesh->n_device;
    for (int r = 0; r < g->n_row; r++) {
        g->row[r] = g->col[r] = axe_textf(cx, "%d", r);
        for (int c = 0; c < g->n_col; c++) {
            int64_t n = axe_reshard_sends(p, step, r, c);

            g->cell[r][c] = n > 0 ? axe_textf(cx, "%" PRId64, n) : ".";
            g->tint[r][c] = n > 0 ? n : -1;
            g->most = n + 1 > g->most ? n + 1 : g->most;
        }
    }
    return g;
}

/* "step 1, exchange over x, y: device (row) gives device (column)" */
static const char *
step_title(axe_ctx *cx, const axe_reshard_plan *p, int i)
{
    const axe_reshard_step *s = &p->step[i];

    return axe_textf(cx, "step %d, %s over %s: %s", i + 1,
                     axe_collective_text(s->kind), s->axes,
                     s->total == 0 ? "nothing is sent"
                     : axe_reshard_sends(p, i, 0, 0) < 0
                         ? "in rounds"
                         : "device (row) gives device (column)");
}

/* Before the first step (0), or behind step i. */
static const char *
state_title(axe_ctx *cx, const axe_reshard_plan *p, int i)
{
    return axe_textf(cx, "%s: %s",
                     i == 0           ? "from"
                     : i == p->n_step ? "to"
                                      : "then",
                     mesh_state_text(p->code->p, &p->code->state[i]));
}

static bool
has_sends(const axe_reshard_plan *p, int i)
{
    return p->step[i].total > 0 && axe_reshard_sends(p, i, 0, 0) >= 0;
}

/* -------------------------------------------------------------------- text */

static int
width_of(const grid *g)
{
    size_t w = 1;

    for (int c = 0; c < g->n_col; c++) {
        w = strlen(g->col[c]) > w ? strlen(g->col[c]) : w;
        for (int r = 0; r < g->n_row; r++)
            w = strlen(g->cell[r][c]) > w ? strlen(g->cell[r][c]) : w;
    }
    return (int)w;
}

static void
draw_grid(const char *title, const grid *g, axe_buf *out)
{
    int w = width_of(g);

    axe_putf(out, "%s\n%8s", title, "");
    for (int c = 0; c < g->n_col; c++)
        axe_putf(out, "  %*s", w, g->col[c]);
    axe_putc(out, '\n');
    for (int r = 0; r < g->n_row; r++) {
        axe_putf(out, "%8s", g->row[r]);
        for (int c = 0; c < g->n_col; c++)
            axe_putf(out, "  %*s", w, g->cell[r][c]);
        axe_putc(out, '\n');
    }
}

axe_status
axe_reshard_draw(axe_ctx *cx, const axe_reshard_plan *p, axe_buf *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    mesh_parts *t = axe_new(cx, mesh_parts);

    for (int i = 0; i <= p->n_step; i++) {
        AXE_TRY(mesh_parts_of(p->code->p, &p->code->state[i], t));
        draw_grid(state_title(cx, p, i),
                  grid_of_parts(cx, t, p->mesh->n_device), out);
        if (i == p->n_step)
            break;
        if (has_sends(p, i))
            draw_grid(step_title(cx, p, i), grid_of_sends(cx, p, i), out);
        else
            axe_putf(out, "%s\n", step_title(cx, p, i));
    }
    return AXE_OK;
}

/* --------------------------------------------------------------------- SVG */

static void
put_grid(axe_ctx *cx, view_canvas *c, const char *title, const grid *g)
{
    int w = VIEW_CHAR * width_of(g) + 12, h = 18, x = VIEW_MARGIN + VIEW_HEAD;

    view_put_line(c, "sub", title);
    for (int k = 0; k < g->n_col; k++)
        view_put_text(c, x + k * w + w / 2, c->y + 10, "head", "middle",
                      g->col[k]);
    c->y += 16;
    for (int r = 0; r < g->n_row; r++, c->y += h) {
        view_put_text(c, x - 6, c->y + 12, "head", "end", g->row[r]);
        for (int k = 0; k < g->n_col; k++) {
            bool tint = g->tint[r][k] >= 0;

            view_put_rect(c, x + k * w, c->y, w, h, tint ? "c" : "hole",
                          tint ? view_color(cx, g->tint[r][k], g->most) : NULL);
            if (tint)
                view_put_text(c, x + k * w + w / 2, c->y + 12, "", "middle",
                              g->cell[r][k]);
        }
    }
    c->y += 12;
}

axe_status
axe_reshard_svg(axe_ctx *cx, const axe_reshard_plan *p, axe_buf *out)
{
    AXE_NEED(cx, p);
    AXE_NEED(cx, out);
    mesh_parts *t = axe_new(cx, mesh_parts);
    axe_buf     body = {.cx = cx};
    view_canvas c = {&body, VIEW_MARGIN, 0};
    const char *title =
        axe_textf(cx, "%s to %s", mesh_state_text(p->code->p, &p->code->p->src),
                  mesh_state_text(p->code->p, &p->code->p->dst));

    view_put_line(&c, "title", title);
    view_put_line(&c, "sub", axe_mesh_text(cx, p->mesh));
    c.y += 8;
    for (int i = 0; i <= p->n_step; i++) {
        AXE_TRY(mesh_parts_of(p->code->p, &p->code->state[i], t));
        put_grid(cx, &c, state_title(cx, p, i),
                 grid_of_parts(cx, t, p->mesh->n_device));
        if (i == p->n_step)
            break;
        if (has_sends(p, i))
            put_grid(cx, &c, step_title(cx, p, i), grid_of_sends(cx, p, i));
        else
            view_put_line(&c, "sub", step_title(cx, p, i));
    }
    view_canvas_end(&c, title, out);
    return AXE_OK;
}
