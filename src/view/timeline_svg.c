/* timeline_svg.c - a timeline as an SVG: rows of SMs down, time across.
 *
 * Each kind of work has a fill, a hatching and a letter, any of which is enough
 * to tell it. */
#include <inttypes.h>
#include <string.h>

#include "view/canvas.h"
#include "view/timeline.h"

enum {
    HEAD = 190,  /* left of the rows */
    WIDE = 1200, /* of time [points] */
    MOST_ROWS = 96,
    HIGH = 14,  /* of a row */
    LETTER = 7, /* width of one */
    KEYS = 5,   /* of the legend, in a line */
    KEY_WIDE = 170
};

static const char *const letter[AXE_N_WORK] = {
#define WORK(id, waits, letter, color, pattern, name) letter,
#include "axe/works.def"
};

static const char *const color[AXE_N_WORK] = {
#define WORK(id, waits, letter, color, pattern, name) color,
#include "axe/works.def"
};

static const char *const pattern[AXE_N_WORK] = {
#define WORK(id, waits, letter, color, pattern, name) pattern,
#include "axe/works.def"
};

typedef struct chart {
    view_canvas         at;
    axe_ctx            *cx;
    const axe_timeline *t;
    int                 n_row; /* that are drawn */
} chart;

/* x of a time [cycles]. */
static int
x_of(const chart *c, int64_t cycles)
{
    double share = c->t->cycles > 0 ? (double)cycles / (double)c->t->cycles : 0;

    return HEAD + (int)(share * WIDE + 0.5);
}

static void
put_words(chart *c, int x, int y, const char *class, const char *text)
{
    view_put_text(&c->at, x, y, class, "start", text);
}

static void
put_middle(chart *c, int x, int y, const char *text)
{
    view_put_text(&c->at, x, y, "", "middle", text);
}

static bool
is_used(const chart *c, int w)
{
    for (int i = 0; i < c->t->n_role; i++)
        if (c->t->role[i].cycles[w] > 0)
            return true;
    return false;
}

static void
put_patterns(chart *c)
{
    axe_puts(c->at.out, "<defs>\n");
    for (int w = 0; w < AXE_N_WORK; w++) {
        if (!is_used(c, w))
            continue;
        axe_putf(c->at.out,
                 "<pattern id=\"w%d\" width=\"6\" height=\"6\" "
                 "patternUnits=\"userSpaceOnUse\"><rect width=\"6\" "
                 "height=\"6\" fill=\"%s\"/><path d=\"%s\" "
                 "stroke=\"%s\" fill=\"none\"/></pattern>\n",
                 w, color[w], pattern[w],
                 axe_work_waits((axe_timeline_work)w) ? "#d1d5db" : "#6b7280");
    }
    axe_puts(c->at.out, "</defs>\n");
}

/* A box that does `what`, with its letter where that has room. */
static void
put_box(chart *c, int x, int y, int w, int64_t what)
{
    axe_putf(c->at.out,
             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
             "fill=\"url(#w%" PRId64 ")\" class=\"%s\"/>\n",
             x, y, w, HIGH - 2, what,
             axe_work_waits((axe_timeline_work)what) ? "wait" : "work");
    if (w >= LETTER + 4)
        put_middle(c, x + w / 2, y + HIGH - 4, letter[what]);
}

static void
put_legend(chart *c)
{
    int n = 0;

    for (int w = 0; w < AXE_N_WORK; w++) {
        if (!is_used(c, w))
            continue;
        int x = HEAD + n % KEYS * KEY_WIDE, y = c->at.y + n / KEYS * (HIGH + 4);
        put_box(c, x, y, 2 * HIGH, w);
        put_words(
            c, x + 2 * HIGH + 6, y + HIGH - 4, "",
            axe_textf(c->cx, "%s%s",
                      axe_work_waits((axe_timeline_work)w) ? "waits: " : "",
                      axe_work_name((axe_timeline_work)w)));
        n++;
    }
    c->at.y += (n + KEYS - 1) / KEYS * (HIGH + 4) + 10;
}

/* 1, 2 or 5 times a power of ten: about ten of them in all. */
static int64_t
step_of(int64_t all)
{
    static const int64_t of[] = {1, 2, 5};
    int64_t              ten = 1;

    for (;; ten *= 10)
        for (int i = 0; i < AXE_LEN(of); i++)
            if (all / (ten * of[i]) <= 10)
                return ten * of[i];
}

/* In the timeline's unit above the rows, microseconds below. */
static void
put_axis(chart *c, int y, double per, const char *unit, int decimals)
{
    /* in units of 1/1000 */
    int64_t all = (int64_t)((double)c->t->cycles * per * 1000);
    int64_t step = step_of(all);

    for (int64_t v = 0; v <= all; v += step) {
        int x =
            HEAD + (all > 0 ? (int)((double)v / (double)all * WIDE + 0.5) : 0);
        axe_putf(c->at.out, "<path d=\"M%d %dv4\" class=\"axis\"/>\n", x, y);
        put_middle(c, x, y - 2,
                   axe_textf(c->cx, "%.*f", decimals, (double)v / 1000));
    }
    put_words(c, VIEW_MARGIN, y - 2, "head", unit);
}

/* The first rows, of whole CTAs. */
static int
rows_drawn(const axe_timeline *t)
{
    int n = t->n_row;

    if (n <= MOST_ROWS)
        return n;
    for (n = MOST_ROWS; n > 1; n--)
        if (t->row[n].sm != t->row[n - 1].sm ||
            t->row[n].slot != t->row[n - 1].slot)
            return n;
    return MOST_ROWS;
}

static void
put_blocks(chart *c, const axe_timeline_row *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        int x = x_of(c, r->span[i].begin), w = x_of(c, r->span[i].end) - x;
        const char *name = axe_textf(c->cx, "%" PRId64, r->span[i].what);
        w = w > 0 ? w : 1;
        axe_putf(c->at.out,
                 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                 "class=\"block\"/>\n",
                 x, c->at.y, w, HIGH - 2);
        if (w > LETTER * (int)strlen(name) + 2)
            put_middle(c, x + w / 2, c->at.y + HIGH - 4, name);
    }
}

static void
put_row(chart *c, const axe_timeline_row *r)
{
    axe_timeline_row joined;

    put_words(c, r->kind == AXE_ROW_BLOCK ? VIEW_MARGIN : VIEW_MARGIN + 64,
              c->at.y + HIGH - 4, "head",
              r->kind == AXE_ROW_BLOCK
                  ? axe_textf(c->cx, r->slot > 0 ? "%s %d, %d" : "%s %d",
                              view_part(c->t), r->sm, r->slot)
                  : view_row_name(c->cx, r->kind, r->first, r->last));
    view_row_join(c->cx, r, c->t->cycles, WIDE, &joined);
    if (r->kind == AXE_ROW_BLOCK)
        put_blocks(c, &joined);
    for (int64_t i = 0; i < joined.n && r->kind != AXE_ROW_BLOCK; i++) {
        int x = x_of(c, joined.span[i].begin);
        int w = x_of(c, joined.span[i].end) - x;
        put_box(c, x, c->at.y, w > 0 ? w : 1, joined.span[i].what);
    }
    c->at.y += HIGH;
}

static void
put_rows(chart *c)
{
    for (int i = 0; i < c->n_row; i++) {
        if (i > 0 && c->t->row[i].kind == AXE_ROW_BLOCK)
            c->at.y += 5;
        put_row(c, &c->t->row[i]);
    }
}

/* A line where a launch begins and ends, and its name. */
static void
put_launches(chart *c, int top, int bottom)
{
    for (int l = 0; l < c->t->n_launch; l++) {
        const axe_timeline_launch *a = &c->t->launch[l];
        int                        x = x_of(c, a->begin), end = x_of(c, a->end);
        axe_putf(c->at.out,
                 "<path d=\"M%d %dV%dM%d %dV%d\" class=\"launch\"/>\n", x, top,
                 bottom, end, top, bottom);
        if (end - x > LETTER * (int)strlen(a->name))
            put_words(c, x + 3, top + 9, "head", a->name);
    }
}

static const char style[] =
    "<style>\n"
    ".work{stroke:#374151;stroke-width:0.5}\n"
    ".wait{stroke:#d1d5db;stroke-width:0.5}\n"
    ".block{fill:#e5e7eb;stroke:#374151;stroke-width:0.5}\n"
    ".axis{stroke:#6b7280}\n"
    ".launch{stroke:#111827;stroke-dasharray:4 3;fill:none}\n"
    "</style>\n";

static void
put_head(chart *c)
{
    const axe_timeline *t = c->t;

    put_words(c, VIEW_MARGIN, c->at.y, "title",
              axe_textf(c->cx, "%s on %s", t->kernel, t->machine));
    put_words(c, VIEW_MARGIN, c->at.y + 18, "sub",
              t->unit
                  ? axe_textf(c->cx,
                              "%.2f us, by a model: nothing here is measured",
                              view_us(t, t->cycles))
                  : axe_textf(c->cx,
                              "%" PRId64 " cycles, %.2f us at %.4g GHz, by a "
                              "model: nothing here is measured",
                              t->cycles, view_us(t, t->cycles), t->ghz));
    c->at.y += 32;
}

static void
put_foot(chart *c)
{
    int left = c->t->n_row - c->n_row;

    if (left > 0)
        put_words(c, VIEW_MARGIN, c->at.y + 12, "sub",
                  axe_textf(c->cx, "not drawn: %d more rows", left));
    c->at.y += left > 0 ? 20 : 0;
}

void
axe_timeline_svg(axe_ctx *cx, const axe_timeline *t, axe_buf *out)
{
    axe_buf body = {.cx = cx};
    chart   c = {{&body, VIEW_MARGIN + 8, HEAD + WIDE}, cx, t, rows_drawn(t)};
    int     top;

    axe_puts(&body, style);
    put_patterns(&c);
    put_head(&c);
    put_legend(&c);
    top = c.at.y;
    c.at.y += 30;
    put_axis(&c, c.at.y, 1, view_unit(t), 0);
    c.at.y += 8;
    put_rows(&c);
    c.at.y += 16;
    put_axis(&c, c.at.y, 1e-3 / t->ghz, "microseconds", 2);
    put_launches(&c, top, c.at.y);
    c.at.y += 8;
    put_foot(&c);
    view_canvas_end(&c.at, t->kernel, out);
}
