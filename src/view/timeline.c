/* timeline.c - rows of spans, joined; totals as a table and as JSON; trace
 * events. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "view/timeline.h"

enum { MOST_EVENTS = 200000, LEAST_PARTS = 256, MOST_PARTS = 1 << 16 };

static const char *const work_name[AXE_N_WORK] = {
#define WORK(id, waits, letter, color, pattern, name) name,
#include "axe/works.def"
};

static const bool work_waits[AXE_N_WORK] = {
#define WORK(id, waits, letter, color, pattern, name) waits,
#include "axe/works.def"
};

const char *
axe_work_name(axe_timeline_work w)
{
    return (unsigned)w < AXE_N_WORK ? work_name[w] : "?";
}

bool
axe_work_waits(axe_timeline_work w)
{
    return (unsigned)w < AXE_N_WORK && work_waits[w];
}

const char *
view_part(const axe_timeline *t)
{
    return t->part ? t->part : "SM";
}

const char *
view_unit(const axe_timeline *t)
{
    return t->unit ? t->unit : "cycles";
}

double
view_us(const axe_timeline *t, int64_t cycles)
{
    return (double)cycles / t->ghz * 1e-3;
}

/* --------------------------------------------------------------------- rows */

const char *
view_row_name(axe_ctx *cx, axe_timeline_row_kind kind, int first, int last)
{
    static const char *const name[AXE_N_ROW] = {
#define ROW(id, engine, name) name,
#include "axe/timeline_rows.def"
    };

    if (kind != AXE_ROW_WARPS)
        return name[kind];
    if (first == last)
        return axe_textf(cx, "warp %d", first);
    return axe_textf(cx, "%s %d to %d", name[kind], first, last);
}

void
view_row_add(axe_ctx *cx, axe_timeline_row *r, axe_timeline_span s)
{
    axe_timeline_span *end = r->n > 0 ? &r->span[r->n - 1] : NULL;

    if (s.begin >= s.end)
        return;
    if (end && end->end == s.begin && end->what == s.what) {
        end->end = s.end;
        return;
    }
    if (r->n == r->cap) {
        int64_t            cap = r->cap > 0 ? 2 * r->cap : 16;
        axe_timeline_span *span = axe_new_array(cx, axe_timeline_span, cap);
        if (r->n > 0)
            memcpy(span, r->span, (size_t)r->n * sizeof span[0]);
        r->span = span;
        r->cap = cap;
    }
    r->span[r->n++] = s;
}

/* Part i of so many begins here; [0, cycles) has at most 2^46 cycles. */
static int64_t
part_at(int64_t cycles, int parts, int i)
{
    return cycles / parts * i + cycles % parts * i / parts;
}

/* Cycles of s within [begin, end). */
static int64_t
within(const axe_timeline_span *s, int64_t begin, int64_t end)
{
    int64_t from = s->begin > begin ? s->begin : begin;
    int64_t to = s->end < end ? s->end : end;

    return to > from ? to - from : 0;
}

/* What the row does for most of [begin, end), from span *at on; -1: nothing.
 * Of blocks, of which there may be any number, the longest. */
static int64_t
most_of(const axe_timeline_row *r, int64_t *at, int64_t begin, int64_t end)
{
    int64_t sum[AXE_N_WORK] = {0}, best = -1, most = 0, all = 0;
    bool    blocks = r->kind == AXE_ROW_BLOCK;

    while (*at < r->n && r->span[*at].end <= begin)
        ++*at;
    for (int64_t i = *at; i < r->n && r->span[i].begin < end; i++) {
        const axe_timeline_span *s = &r->span[i];
        int64_t                  n = within(s, begin, end), of = n;
        if (!blocks)
            of = sum[s->what] += n;
        all += n;
        if (of > most) {
            most = of;
            best = s->what;
        }
    }
    return end - begin - all > most ? -1 : best;
}

void
view_row_join(axe_ctx *cx, const axe_timeline_row *r, int64_t cycles, int parts,
              axe_timeline_row *out)
{
    int64_t at = 0;

    *out = *r;
    out->n = out->cap = 0;
    for (int i = 0; i < parts; i++) {
        int64_t begin = part_at(cycles, parts, i);
        int64_t end = part_at(cycles, parts, i + 1);
        int64_t what = begin < end ? most_of(r, &at, begin, end) : -1;
        if (what >= 0)
            view_row_add(cx, out, (axe_timeline_span){begin, end, what});
    }
}

/* ------------------------------------------------------------------- totals */

/* The longest in each column. */
enum { COLUMNS = AXE_N_WORK + 3 };

static bool
is_used(const axe_timeline *t, int w)
{
    for (int i = 0; i < t->n_role; i++)
        if (t->role[i].cycles[w] > 0)
            return true;
    return false;
}

/* Of one CTA, rounded. */
static int64_t
mean(const axe_timeline_role *r, int64_t all)
{
    return r->n > 0 ? (all + r->n / 2) / r->n : 0;
}

static int64_t
at_work(const axe_timeline_role *r)
{
    int64_t n = 0;

    for (int w = 0; w < AXE_N_WORK; w++)
        n += work_waits[w] ? 0 : r->cycles[w];
    return n;
}

static void
put_role(axe_ctx *cx, const axe_timeline *t, const axe_timeline_role *r,
         const int *width, axe_buf *out)
{
    axe_putf(out, "  %-*s %5" PRId64 " %*" PRId64, width[0],
             view_row_name(cx, r->kind, r->first, r->last), r->n, width[1],
             mean(r, at_work(r)));
    for (int w = 0; w < AXE_N_WORK; w++)
        if (width[2 + w] > 0)
            axe_putf(out, " %*" PRId64, width[2 + w], mean(r, r->cycles[w]));
    axe_putf(out, " %*" PRId64 "\n", width[2 + AXE_N_WORK], mean(r, r->total));
    (void)t;
}

static int
digits(int64_t n)
{
    int d = 1;

    for (; n > 9; n /= 10)
        d++;
    return d;
}

static void
widen(int *width, int n)
{
    *width = *width > n ? *width : n;
}

/* Of names, work, what is waited for and done, all. */
static void
find_widths(axe_ctx *cx, const axe_timeline *t, int *width)
{
    width[0] = (int)strlen("role");
    width[1] = (int)strlen("at work");
    width[2 + AXE_N_WORK] = (int)strlen("all");
    for (int i = 0; i < t->n_role; i++) {
        const axe_timeline_role *r = &t->role[i];
        widen(&width[0],
              (int)strlen(view_row_name(cx, r->kind, r->first, r->last)));
        widen(&width[1], digits(mean(r, at_work(r))));
        widen(&width[2 + AXE_N_WORK], digits(mean(r, r->total)));
        for (int w = 0; w < AXE_N_WORK; w++)
            if (is_used(t, w)) {
                widen(&width[2 + w], (int)strlen(work_name[w]));
                widen(&width[2 + w], digits(mean(r, r->cycles[w])));
            }
    }
}

/* What they do comes before what they wait for. */
static void
put_heads(const int *width, axe_buf *out)
{
    axe_putf(out, "  %-*s  CTAs %*s", width[0], "role", width[1], "at work");
    for (int w = 0; w < AXE_N_WORK; w++)
        if (width[2 + w] > 0)
            axe_putf(out, " %*s", width[2 + w], work_name[w]);
    axe_putf(out, " %*s\n", width[2 + AXE_N_WORK], "all");
}

void
axe_timeline_print(axe_ctx *cx, const axe_timeline *t, axe_buf *out)
{
    int width[COLUMNS] = {0};

    find_widths(cx, t, width);
    axe_putf(out, "time, by a model: %" PRId64 " %s, %.2f us at %.4g GHz\n",
             t->cycles, view_unit(t), view_us(t, t->cycles), t->ghz);
    for (int l = 0; l < t->n_launch; l++) {
        const axe_timeline_launch *a = &t->launch[l];
        axe_putf(out,
                 "launch %d, %s: %" PRId64 " %s from %" PRId64 ", %" PRId64
                 " blocks; %s of a %s:\n",
                 l, a->name, a->end - a->begin, view_unit(t), a->begin,
                 a->blocks, view_unit(t), t->part ? t->part : "CTA");
        put_heads(width, out);
        for (int i = 0; i < t->n_role; i++)
            if (t->role[i].launch == l)
                put_role(cx, t, &t->role[i], width, out);
    }
}

static void
put_text(axe_buf *out, const char *s)
{
    axe_json_put_text(out, s, strlen(s));
}

static void
put_role_json(axe_ctx *cx, const axe_timeline_role *r, axe_buf *out)
{
    axe_puts(out, "{\"role\": ");
    put_text(out, view_row_name(cx, r->kind, r->first, r->last));
    axe_putf(out, ", \"ctas\": %" PRId64 ", \"busy\": {", r->n);
    for (int pass = 0; pass < 2; pass++) {
        bool first = true;
        for (int w = 0; w < AXE_N_WORK; w++) {
            if (work_waits[w] != (pass == 1) || r->cycles[w] == 0)
                continue;
            axe_putf(out, "%s\"%s\": %" PRId64, first ? "" : ", ", work_name[w],
                     r->cycles[w]);
            first = false;
        }
        axe_puts(out, pass == 0 ? "}, \"waiting\": {" : "}");
    }
    axe_putf(out, ", \"cycles\": %" PRId64 "}", r->total);
}

void
axe_timeline_json(axe_ctx *cx, const axe_timeline *t, axe_buf *out)
{
    axe_putf(out,
             "{\"model\": true, \"cycles\": %" PRId64
             ", \"microseconds\": %.4f, \"ghz\": %.4g, \"launches\": [",
             t->cycles, view_us(t, t->cycles), t->ghz);
    for (int l = 0; l < t->n_launch; l++) {
        const axe_timeline_launch *a = &t->launch[l];
        bool                       first = true;
        axe_puts(out, l > 0 ? ", {\"name\": " : "{\"name\": ");
        put_text(out, a->name);
        axe_putf(out,
                 ", \"begin\": %" PRId64 ", \"end\": %" PRId64
                 ", \"blocks\": %" PRId64 ", \"l2_bytes\": %" PRId64
                 ", \"memory_bytes\": %" PRId64 ", \"roles\": [",
                 a->begin, a->end, a->blocks, a->l2_bytes, a->memory_bytes);
        for (int i = 0; i < t->n_role; i++) {
            if (t->role[i].launch != l)
                continue;
            axe_puts(out, first ? "" : ", ");
            put_role_json(cx, &t->role[i], out);
            first = false;
        }
        axe_puts(out, "]}");
    }
    axe_puts(out, "]}");
}

/* ------------------------------------------------------------- trace events */

static void
put_meta(axe_buf *out, const char *what, int sm, int row, const char *name)
{
    axe_putf(out,
             ",\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, "
             "\"args\": {\"name\": ",
             what, sm, row);
    put_text(out, name);
    axe_puts(out, "}}");
}

static void
put_event(axe_ctx *cx, const axe_timeline *t, const axe_timeline_row *r,
          int row, const axe_timeline_span *s, axe_buf *out)
{
    const char *name = r->kind == AXE_ROW_BLOCK
                           ? axe_textf(cx, "block %" PRId64, s->what)
                           : work_name[s->what];
    const char *kind = r->kind == AXE_ROW_BLOCK ? "block"
                       : work_waits[s->what]    ? "waiting"
                                                : "busy";

    axe_putf(out,
             ",\n{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": "
             "%d, \"tid\": %d, \"ts\": %.6f, \"dur\": %.6f, \"args\": "
             "{\"begin\": %" PRId64 ", \"%s\": %" PRId64 "}}",
             name, kind, r->sm, row, view_us(t, s->begin),
             view_us(t, s->end) - view_us(t, s->begin), s->begin, view_unit(t),
             s->end - s->begin);
}

static void
put_launch_event(const axe_timeline *t, int l, axe_buf *out)
{
    const axe_timeline_launch *a = &t->launch[l];

    axe_puts(out, ",\n{\"ph\": \"X\", \"cat\": \"launch\", \"name\": ");
    put_text(out, a->name);
    axe_putf(out,
             ", \"pid\": %d, \"tid\": 0, \"ts\": %.6f, \"dur\": %.6f, "
             "\"args\": {\"begin\": %" PRId64 ", \"%s\": %" PRId64 "}}",
             t->n_sm, view_us(t, a->begin),
             view_us(t, a->end) - view_us(t, a->begin), a->begin, view_unit(t),
             a->end - a->begin);
}

/* 0: spans as they are; else into how many parts time is divided. */
static int
parts_of(const axe_timeline *t)
{
    int64_t n = 0, parts;

    for (int i = 0; i < t->n_row; i++)
        n += t->row[i].n;
    if (n <= MOST_EVENTS)
        return 0;
    parts = MOST_EVENTS / t->n_row;
    return parts < LEAST_PARTS  ? LEAST_PARTS
           : parts > MOST_PARTS ? MOST_PARTS
                                : (int)parts;
}

void
axe_timeline_trace(axe_ctx *cx, const axe_timeline *t, axe_buf *out)
{
    int parts = parts_of(t), sm = -1;

    axe_puts(out, "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"model\": "
                  "\"nothing here is measured\", \"kernel\": ");
    put_text(out, t->kernel);
    axe_puts(out, ", \"machine\": ");
    put_text(out, t->machine);
    axe_putf(out, ", \"ghz\": %.4g}, \"traceEvents\": [\n", t->ghz);
    axe_putf(out,
             "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, "
             "\"tid\": 0, \"args\": {\"name\": \"launches\"}}",
             t->n_sm);
    for (int l = 0; l < t->n_launch; l++)
        put_launch_event(t, l, out);
    for (int i = 0; i < t->n_row; i++) {
        const axe_timeline_row *r = &t->row[i];
        axe_timeline_row        joined = *r;
        if (r->sm != sm)
            put_meta(out, "process_name", r->sm, 0,
                     axe_textf(cx, "%s %d", view_part(t), r->sm));
        sm = r->sm;
        put_meta(out, "thread_name", sm, i,
                 axe_textf(cx, "%d: %s", r->slot,
                           view_row_name(cx, r->kind, r->first, r->last)));
        if (parts > 0)
            view_row_join(cx, r, t->cycles, parts, &joined);
        for (int64_t k = 0; k < joined.n; k++)
            put_event(cx, t, r, i, &joined.span[k], out);
    }
    axe_puts(out, "\n]}\n");
}
