/* text.c - a plan as a table, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "mesh/problem.h"

enum { COLUMNS = 9, MOST_ROWS = MESH_STEPS + 1 };

/* Cells of text, aligned; numbers to the right. */
typedef struct table {
    int         n_row, n_col;
    const char *cell[MOST_ROWS][COLUMNS];
    bool        number[COLUMNS];
} table;

static void
put_table(axe_buf *b, const table *t)
{
    size_t width[COLUMNS] = {0};

    for (int r = 0; r < t->n_row; r++)
        for (int c = 0; c < t->n_col; c++)
            if (strlen(t->cell[r][c]) > width[c])
                width[c] = strlen(t->cell[r][c]);
    for (int r = 0; r < t->n_row; r++) {
        for (int c = 0; c < t->n_col; c++) {
            size_t gap = width[c] - strlen(t->cell[r][c]);

            axe_puts(b, c ? "  " : "  ");
            for (size_t i = 0; i < gap && t->number[c]; i++)
                axe_putc(b, ' ');
            axe_puts(b, t->cell[r][c]);
            for (size_t i = 0; i < gap && !t->number[c] && c + 1 < t->n_col;
                 i++)
                axe_putc(b, ' ');
        }
        axe_putc(b, '\n');
    }
}

static const char *
number(axe_ctx *cx, int64_t v)
{
    return axe_textf(cx, "%" PRId64, v);
}

static const char *
microseconds(axe_ctx *cx, double us)
{
    return axe_textf(cx,
                     us < 9.995   ? "%.2f"
                     : us < 99.95 ? "%.1f"
                                  : "%.0f",
                     us);
}

/* The steps; where the mesh has several links, also what crosses the slowest.
 */
static void
put_steps(axe_ctx *cx, axe_buf *b, const axe_reshard_plan *r)
{
    static const char *const head[COLUMNS] = {
        "step", "what", "along", "then", "gets", "gives", "messages", "us", ""};
    table *t = axe_new(cx, table);
    bool   far = r->mesh->n_link > 1;

    t->n_col = far ? COLUMNS : COLUMNS - 1;
    for (int c = 0; c < t->n_col; c++) {
        t->cell[0][c] = head[c];
        t->number[c] = c >= 4;
    }
    if (far)
        t->cell[0][COLUMNS - 1] =
            axe_textf(cx, "over %s", r->mesh->link[0].name);
    for (int i = 0; i < r->n_step; i++) {
        const axe_reshard_step *s = &r->step[i];
        const char             *row[COLUMNS] = {
                        number(cx, i + 1),
                        axe_collective_text(s->kind),
                        s->axes,
                        s->after,
                        number(cx, s->max_recv),
                        number(cx, s->max_send),
                        number(cx, s->messages),
                        microseconds(cx, s->time),
            far ? number(cx, s->crossing[0]) : "",
        };

        memcpy(t->cell[i + 1], row, sizeof row);
    }
    t->n_row = r->n_step + 1;
    put_table(b, t);
}

static void
put_links(axe_buf *b, const axe_mesh *m)
{
    axe_puts(b, "  links   ");
    for (int i = 0; i < m->n_link; i++) {
        axe_puts(b, i ? "; " : "");
        mesh_put_link(b, &m->link[i]);
        axe_puts(b, m->link[i].known      ? ""
                    : m->link[i].measured ? " (measured)"
                                          : " (guessed)");
    }
    axe_putc(b, '\n');
}

static void
put_certificate(axe_ctx *cx, axe_buf *b, const axe_reshard_plan *r)
{
    axe_putf(b,
             "  bound   %" PRId64 " elements to the device that needs most, "
             "%" PRId64 " to all: ",
             r->bound_recv, r->bound_total);
    if (r->why)
        axe_putf(b, "the plan has %" PRId64 " and %" PRId64 "\n  why     %s\n",
                 r->max_recv, r->total, r->why);
    else
        axe_puts(b, r->total == r->bound_total
                        ? "the plan has just these\n"
                        : "the plan reaches the first\n");
    axe_putf(b, "  time    %s us", microseconds(cx, r->time));
    if (r->time < r->direct_time * 0.999)
        axe_putf(b, "; one exchange: %s us", microseconds(cx, r->direct_time));
    axe_putc(b, '\n');
}

const char *
axe_reshard_text(axe_ctx *cx, const axe_reshard_plan *r)
{
    axe_buf             b = {.cx = cx};
    const mesh_problem *p = r->code->p;

    if (r->n_step == 0)
        axe_puts(&b, "nothing: every device has what it needs\n");
    for (int i = 0; i < r->n_step; i++)
        axe_putf(&b, "%s%s%s", i ? ", " : "",
                 axe_collective_text(r->step[i].kind),
                 i + 1 == r->n_step ? "\n" : "");
    axe_putf(&b, "  mesh    %s: %" PRId64 " devices\n",
             axe_mesh_text(cx, r->mesh), r->mesh->n_device);
    put_links(&b, r->mesh);
    axe_putf(&b, "  from    %s\n", mesh_state_text(p, &p->src));
    axe_putf(&b, "  to      %s%s\n", mesh_state_text(p, &p->dst),
             r->window ? ", within windows" : "");
    if (r->n_step > 0) {
        put_certificate(cx, &b, r);
        put_steps(cx, &b, r);
    }
    return b.text;
}

/* -------------------------------------------------------------------- JSON */

static void
put_key(axe_buf *b, const char *key, const char *text)
{
    axe_putf(b, "\"%s\":", key);
    axe_json_put_text(b, text, strlen(text));
}

static void
put_step_json(axe_buf *b, const axe_reshard_plan *r, int i)
{
    const axe_reshard_step *s = &r->step[i];

    axe_puts(b, i ? ",{" : "{");
    put_key(b, "kind", axe_collective_text(s->kind));
    axe_putc(b, ',');
    put_key(b, "axes", s->axes);
    axe_putc(b, ',');
    put_key(b, "after", s->after);
    axe_putf(b,
             ",\"max_recv\":%" PRId64 ",\"max_send\":%" PRId64
             ",\"total\":%" PRId64 ",\"messages\":%" PRId64
             ",\"memory\":%" PRId64 ",\"us\":%.6g,\"crossing\":{",
             s->max_recv, s->max_send, s->total, s->messages, s->memory,
             s->time);
    for (int k = 0; k < r->mesh->n_link; k++) {
        axe_puts(b, k ? "," : "");
        axe_json_put_text(b, r->mesh->link[k].name,
                          strlen(r->mesh->link[k].name));
        axe_putf(b, ":%" PRId64, s->crossing[k] - (k ? s->crossing[k - 1] : 0));
    }
    axe_puts(b, "}}");
}

const char *
axe_reshard_json(axe_ctx *cx, const axe_reshard_plan *r)
{
    axe_buf             b = {.cx = cx};
    const mesh_problem *p = r->code->p;

    axe_putc(&b, '{');
    put_key(&b, "mesh", axe_mesh_text(cx, r->mesh));
    axe_putf(&b, ",\"devices\":%" PRId64 ",", r->mesh->n_device);
    put_key(&b, "src", mesh_state_text(p, &p->src));
    axe_putc(&b, ',');
    put_key(&b, "dst", mesh_state_text(p, &p->dst));
    axe_putf(&b,
             ",\"bits\":%d,\"max_recv\":%" PRId64 ",\"max_send\":%" PRId64
             ",\"total\":%" PRId64 ",\"bound_recv\":%" PRId64
             ",\"bound_total\":%" PRId64
             ",\"us\":%.6g,\"direct_us\":%.6g,\"why\":",
             r->bits, r->max_recv, r->max_send, r->total, r->bound_recv,
             r->bound_total, r->time, r->direct_time);
    if (r->why)
        axe_json_put_text(&b, r->why, strlen(r->why));
    else
        axe_puts(&b, "null");
    axe_puts(&b, ",\"steps\":[");
    for (int i = 0; i < r->n_step; i++)
        put_step_json(&b, r, i);
    axe_puts(&b, "]}");
    return b.text;
}
