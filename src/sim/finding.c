/* finding.c - what was found, each kind once for a pair of statements. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "sim/sim_int.h"

const char *
axe_sim_kind_name(axe_sim_kind k)
{
    static const char *const name[AXE_N_SIM] = {
#define FINDING(name, text) text,
#include "axe/findings.def"
    };

    return (unsigned)k < AXE_N_SIM ? name[k] : "?";
}

int
axe_sim_site(const sim *s, const sim_inst *in)
{
    int64_t n = in - s->code->inst;

    return n < UINT16_MAX ? (int)n : UINT16_MAX;
}

static axe_span
span_of(const sim_inst *in)
{
    return in && in->from && in->from->from ? in->from->from->at : AXE_NOWHERE;
}

static axe_span
span_of_site(const sim *s, int site)
{
    return site >= 0 && site < s->code->n_inst ? span_of(&s->code->inst[site])
                                               : AXE_NOWHERE;
}

static int
number_of(const sim *s, const sim_inst *in)
{
    return in ? (int)(in - s->code->inst) : -1;
}

/* The finding with these instructions, or NULL. */
static axe_sim_finding *
lookup(sim *s, axe_sim_kind kind, const sim_inst *in, int site)
{
    for (int i = 0; i < s->report->n_finding; i++)
        if (s->found[i].kind == kind && s->found[i].in == number_of(s, in) &&
            s->found[i].site == site && s->found[i].grid == s->g)
            return &s->report->finding[i];
    return NULL;
}

bool
axe_sim_known(sim *s, axe_sim_kind kind, const sim_inst *in, int site)
{
    axe_sim_finding *f = lookup(s, kind, in, site);

    if (!f && s->report->n_finding < AXE_SIM_MAX)
        return false;
    if (f)
        f->n++;
    return true;
}

void
axe_sim_find(sim *s, axe_sim_kind kind, const sim_inst *in, int site,
             const char *fmt, ...)
{
    int         i = s->report->n_finding;
    const char *name = in && in->shape ? in->shape->atom->name : "";
    va_list     ap;

    if (axe_sim_known(s, kind, in, site))
        return;
    va_start(ap, fmt);
    const char *text = axe_vtextf(s->cx, fmt, ap);
    va_end(ap);
    s->found[i] = (sim_found){kind, number_of(s, in), site, s->g};
    s->report->finding[i] = (axe_sim_finding){
        .kind = kind,
        .at = span_of(in),
        .other = span_of_site(s, site),
        .text = *name ? axe_textf(s->cx, "%s: %s", name, text) : text,
        .n = 1};
    s->report->n_finding++;
}

void
axe_sim_report_print(axe_ctx *cx, axe_buf *out, const axe_sim_report *r)
{
    for (int i = 0; i < r->n_finding; i++) {
        const axe_sim_finding *f = &r->finding[i];
        if (f->at.line)
            axe_putf(out, "%s:%d:%d: ", axe_source_name(cx, f->at.source),
                     f->at.line, f->at.col);
        axe_putf(out, "%s: %s", axe_sim_kind_name(f->kind), f->text);
        if (f->other.line)
            axe_putf(out, " (the other: line %d)", f->other.line);
        axe_putf(out, f->n > 1 ? " [%" PRId64 " times]\n" : "\n", f->n);
    }
    if (r->engines) {
        axe_puts(out, r->engines);
        return;
    }
    if (r->n_device > 0)
        axe_putf(out,
                 "%" PRId64 " device%s, %" PRId64
                 " bytes between them; plans: %" PRId64 ", in %" PRId64
                 " orders\n",
                 r->n_device, r->n_device == 1 ? "" : "s", r->moved, r->n_move,
                 r->n_order);
    axe_putf(out,
             "%" PRId64 " blocks, %" PRId64 " warp instructions, %" PRId64
             " products\n",
             r->n_block, r->n_inst, r->products);
    axe_putf(out,
             "global: %" PRId64 " bytes read, %" PRId64
             " written; shared: %" PRId64 " read, %" PRId64 " written, %" PRId64
             " turns lost to bank conflicts\n",
             r->global_read, r->global_written, r->shared_read,
             r->shared_written, r->conflicts);
    for (int i = 0; i < r->n_count; i++)
        axe_putf(out, "  %10" PRId64 "  %s\n", r->count[i].n, r->count[i].name);
    if (r->timeline)
        axe_timeline_print(cx, r->timeline, out);
}

static void
put_span(axe_ctx *cx, axe_buf *b, const char *key, axe_span at)
{
    const char *file = axe_source_name(cx, at.source);

    if (at.line == 0)
        return;
    axe_putf(b, ", \"%s\": {\"file\": ", key);
    axe_json_put_text(b, file, strlen(file));
    axe_putf(b, ", \"line\": %d, \"col\": %d}", at.line, at.col);
}

static void
put_engines(axe_buf *out, const axe_sim_report *r)
{
    axe_putf(out,
             ", \"instructions\": %" PRId64
             ", \"ns_legacy\": %.1f, \"ns_doc\": %.1f, \"engines\": {",
             r->n_inst, r->ns[0], r->ns[1]);
    for (int i = 0; i < r->n_engine; i++)
        axe_putf(out,
                 "%s\"%s\": {\"instructions\": %" PRId64
                 ", \"busy_ns_legacy\": %.1f, \"busy_ns_doc\": %.1f}",
                 i > 0 ? ", " : "", r->engine[i].name, r->engine[i].n_inst,
                 r->engine[i].busy[0], r->engine[i].busy[1]);
    axe_putc(out, '}');
}

/* What threads did. */
static void
put_threads(axe_buf *out, const axe_sim_report *r)
{
    axe_putf(out,
             ", \"blocks\": %" PRId64 ", \"instructions\": %" PRId64
             ", \"products\": %" PRId64 ", \"conflicts\": %" PRId64,
             r->n_block, r->n_inst, r->products, r->conflicts);
    axe_putf(out,
             ", \"global_read\": %" PRId64 ", \"global_written\": %" PRId64
             ", \"shared_read\": %" PRId64 ", \"shared_written\": %" PRId64
             ", \"atoms\": {",
             r->global_read, r->global_written, r->shared_read,
             r->shared_written);
    for (int i = 0; i < r->n_count; i++)
        axe_putf(out, "%s\"%s\": %" PRId64, i > 0 ? ", " : "", r->count[i].name,
                 r->count[i].n);
    axe_putc(out, '}');
}

void
axe_sim_report_json(axe_ctx *cx, axe_buf *out, const axe_sim_report *r)
{
    axe_puts(out, "{\"findings\": [");
    for (int i = 0; i < r->n_finding; i++) {
        const axe_sim_finding *f = &r->finding[i];
        axe_putf(out, "%s{\"kind\": \"%s\", \"n\": %" PRId64 ", \"text\": ",
                 i > 0 ? ", " : "", axe_sim_kind_name(f->kind), f->n);
        axe_json_put_text(out, f->text, strlen(f->text));
        put_span(cx, out, "at", f->at);
        put_span(cx, out, "other", f->other);
        axe_putc(out, '}');
    }
    axe_putc(out, ']');
    if (r->engines)
        put_engines(out, r);
    else
        put_threads(out, r);
    if (r->n_device > 0)
        axe_putf(out,
                 ", \"devices\": %" PRId64 ", \"moved\": %" PRId64
                 ", \"plans\": %" PRId64 ", \"orders\": %" PRId64,
                 r->n_device, r->moved, r->n_move, r->n_order);
    if (r->timeline) {
        axe_puts(out, ", \"timeline\": ");
        axe_timeline_json(cx, r->timeline, out);
    }
    axe_puts(out, "}\n");
}
