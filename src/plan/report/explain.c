/* explain.c - a plan for people, and the same facts for programs.
 *
 * One block a statement: what was chosen, the loops outermost first, how each
 * operand's address moves, where edges are, what it should cost, the
 * certificate, and what was not taken and why (facts.c, why.c).  Bytes and
 * cycles are estimates for one launch on one worker; sizes that are not known
 * are taken to be NOMINAL, and the first lines say so. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "plan/report/facts.h"
#include "plan/target.h"

enum { NOMINAL = 1024 };

static const struct {
    const char *key;
    bool        list;
} fact_table[] = {
#define ONE false
#define LIST true
#define FACT(key, shape) {#key, shape},
#include "plan/report/facts.def"
#undef ONE
#undef LIST
};

static axe_cost_at
launch_of(axe_ctx *cx, const axe_plan *p, const int64_t *given)
{
    int64_t *size = axe_new_array(cx, int64_t, p->kernel->n_size + 1);

    for (int i = 0; i < p->kernel->n_size; i++)
        size[i] = given ? given[i] : NOMINAL;
    return (axe_cost_at){size, 1, axe_machine_levels(p->machine)};
}

static const axe_cost *
costs_of(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at)
{
    axe_cost *cost = axe_new_array(cx, axe_cost, p->n_schedule + 1);

    axe_cost_each(cx, p, at, cost);
    return cost;
}

/* ------------------------------------------------------------------- text */

static void
put_schedule(axe_ctx *cx, axe_buf *out, const axe_plan *p,
             const axe_schedule *s, const axe_cost *cost)
{
    axe_facts facts;

    axe_facts_of(cx, p, s, cost, &facts);
    axe_putf(out, "\ns%d  %s %s= %s", s->stmt->id,
             axe_node_text(cx, s->stmt->dst),
             s->stmt->fold == AXE_FOLD_NONE ? "" : axe_fold_text(s->stmt->fold),
             axe_node_text(cx, s->stmt->value));
    if (s->stmt->prefix)
        axe_putf(out, " prefix %s", s->stmt->prefix->name);
    axe_putc(out, '\n');
    for (int f = 0; f < AXE_N_FACT; f++)
        for (int i = 0; i < facts.row[f].n; i++)
            axe_putf(out, "    %-10s%s\n", i ? "" : fact_table[f].key,
                     (const char *)facts.row[f].item[i]);
}

static void
put_places(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    int name = 6, layout = 6, n = 0;

    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (!pl->tensor)
            continue;
        n++;
        int a = (int)strlen(pl->tensor->name);
        int b = (int)strlen(axe_tile_layout_text(cx, pl));
        name = a > name ? a : name;
        layout = b > layout ? b : layout;
    }
    if (!p->target->scratch && n == 0)
        return;
    axe_putf(out, "\n%-*s  %-5s  %9s  %9s  %-*s  %s\n", name, "tile", "type",
             "bytes", "at", layout, "layout", "why");
    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (pl->tensor)
            axe_putf(out, "%-*s  %-5s  %9" PRId64 "  %9" PRId64 "  %-*s  %s\n",
                     name, pl->tensor->name, axe_type_table[pl->type].name,
                     pl->bytes, pl->offset, layout,
                     axe_tile_layout_text(cx, pl), pl->why);
    }
    if (p->target->scratch)
        axe_putf(out, "scratch: %" PRId64 " bytes a worker\n",
                 p->target->scratch(p));
}

/* What the machine's kind tells of a whole kernel. */
static void
put_told(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    for (int k = 0; k < p->target->n_lines; k++) {
        const axe_plan_lines *told = &p->target->lines[k];
        axe_list              line = {.cx = cx};
        told->list(cx, p, &line);
        for (int i = 0; i < line.n; i++)
            axe_putf(out, "%-10s  %s\n", i ? "" : told->key,
                     (const char *)line.item[i]);
    }
}

static void
put_told_json(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    for (int k = 0; k < p->target->n_lines; k++) {
        const axe_plan_lines *told = &p->target->lines[k];
        axe_list              line = {.cx = cx};
        told->list(cx, p, &line);
        axe_putf(out, "\"%s\":[", told->key);
        for (int i = 0; i < line.n; i++) {
            const char *text = line.item[i];
            axe_puts(out, i ? "," : "");
            axe_json_put_text(out, text, strlen(text));
        }
        axe_puts(out, "],");
    }
}

/* given: sizes are; for usual ones threads have no estimates. */
static axe_list
meets_of(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at, bool given)
{
    axe_list    line = {.cx = cx};
    axe_cost_at known = *at;

    if (!given && !axe_machine_has_levels(p->machine))
        known.size = NULL;
    axe_tell_meets(cx, p, &known, &line);
    return line;
}

static void
put_meets(axe_buf *out, const axe_list *line)
{
    for (int i = 0; i < line->n; i++)
        axe_putf(out, "%-10s  %s\n", i ? "" : "meets",
                 (const char *)line->item[i]);
}

/* "meets":["line 3: ..."], where there are any. */
static void
put_meets_json(axe_buf *out, const axe_list *line)
{
    for (int i = 0; i < line->n; i++) {
        const char *text = line->item[i];
        axe_puts(out, i ? "," : "\"meets\":[");
        axe_json_put_text(out, text, strlen(text));
    }
    axe_puts(out, line->n > 0 ? "]," : "");
}

static void
put_domains(axe_buf *out, const axe_kernel *k)
{
    for (int i = 0; i < k->n_binding; i++) {
        const axe_binding *b = &k->binding[i];
        if (b->n_domain == 0)
            continue;
        axe_putf(out, "tune %s in {", b->name);
        for (int j = 0; j < b->n_domain; j++)
            axe_putf(out, "%s%s", j ? ", " : "", b->domain[j]);
        axe_puts(out, "}\n");
    }
}

static const char *
retile_text(axe_ctx *cx, const axe_retile *r)
{
    return axe_textf(cx,
                     "even steps of at most %" PRId64
                     " over %s, in multiples of %" PRId64
                     ", as many as suit the workers",
                     r->tile, axe_node_text(cx, r->size), r->round);
}

void
axe_plan_print(axe_ctx *cx, axe_buf *out, const axe_plan *p,
               const int64_t *size)
{
    axe_cost_at     at = launch_of(cx, p, size);
    axe_list        meets = meets_of(cx, p, &at, size != NULL);
    const axe_cost *cost;

    axe_putf(out, "plan of %s for %s", p->kernel->name, p->machine->name);
    for (int i = 0; i < p->kernel->n_binding; i++)
        axe_putf(out, "%s%s = %s", i ? ", " : " with ",
                 p->kernel->binding[i].name,
                 axe_binding_text(cx, &p->kernel->binding[i]));
    axe_putc(out, '\n');
    put_domains(out, p->kernel);
    p->target->put_cost(cx, out, p, &at, size != NULL);
    put_told(cx, out, p);
    put_meets(out, &meets);
    for (int i = 0; i < p->n_retile; i++)
        axe_putf(out, "tasks of %s: %s\n", p->retile[i].scope->name,
                 retile_text(cx, &p->retile[i]));
    if (p->target->put_order)
        p->target->put_order(cx, out, p);
    cost = costs_of(cx, p, &at);
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i])
            put_schedule(cx, out, p, p->schedule[i], &cost[i]);
    put_places(cx, out, p);
}

/* ------------------------------------------------------------------- JSON */

static void
put_text(axe_buf *out, const char *key, const char *text)
{
    axe_putf(out, "\"%s\":", key);
    axe_json_put_text(out, text, strlen(text));
}

static void
put_fact_json(axe_buf *out, axe_fact f, const axe_list *row)
{
    if (!fact_table[f].list) {
        if (row->n > 0) {
            axe_putc(out, ',');
            put_text(out, fact_table[f].key, row->item[0]);
        }
        return;
    }
    axe_putf(out, ",\"%s\":[", fact_table[f].key);
    for (int i = 0; i < row->n; i++) {
        const char *text = row->item[i];
        axe_puts(out, i ? "," : "");
        axe_json_put_text(out, text, strlen(text));
    }
    axe_putc(out, ']');
}

static void
put_schedule_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
                  const axe_schedule *s, const axe_cost *cost)
{
    axe_facts facts;

    axe_facts_of(cx, p, s, cost, &facts);
    axe_putf(out, "{\"id\":%d,\"line\":%d,", s->stmt->id, s->stmt->at.line);
    put_text(out, "place", axe_place_text(cx, s->stmt->at));
    axe_putc(out, ',');
    put_text(out, "statement", axe_stmt_text(cx, s->stmt));
    for (int f = 0; f < AXE_N_FACT; f++)
        put_fact_json(out, (axe_fact)f, &facts.row[f]);
    axe_putf(out,
             ",\"numbers\":{\"lanes\":%d,\"slow\":%s,\"cycles\":%.0f,"
             "\"cycles_tile\":%.0f,\"bytes_tile\":%" PRId64
             ",\"tiles\":%d,\"equal\":%d,\"compared\":%" PRId64,
             s->nest[0].lanes, s->slow ? "true" : "false", cost->cycles,
             s->cycles, s->bytes, s->n_tile, s->n_equal, s->n_proved);
    for (int l = 0; l < AXE_N_LEVEL && cost->cycles >= 0; l++)
        axe_putf(out, ",\"bytes_%s\":%.0f", axe_level_name((axe_level)l),
                 cost->bytes[l]);
    axe_puts(out, "}}");
}

/* "tune":{"BM":["64","128"]}, where there is a domain. */
static void
put_domains_json(axe_buf *out, const axe_kernel *k)
{
    bool first = true;

    for (int i = 0; i < k->n_binding; i++) {
        const axe_binding *b = &k->binding[i];
        if (b->n_domain == 0)
            continue;
        axe_putf(out, "%s\"%s\":[", first ? ",\"tune\":{" : ",", b->name);
        for (int j = 0; j < b->n_domain; j++)
            axe_putf(out, "%s\"%s\"", j ? "," : "", b->domain[j]);
        axe_putc(out, ']');
        first = false;
    }
    axe_puts(out, first ? "" : "}");
}

static void
put_head_json(axe_ctx *cx, axe_buf *out, const axe_plan *p,
              const axe_cost_at *at)
{
    axe_cost c;

    axe_puts(out, "{");
    put_text(out, "kernel", p->kernel->name);
    axe_putc(out, ',');
    put_text(out, "machine", p->machine->name);
    axe_puts(out, ",\"set\":{");
    for (int i = 0; i < p->kernel->n_binding; i++) {
        axe_puts(out, i ? "," : "");
        put_text(out, p->kernel->binding[i].name,
                 axe_binding_text(cx, &p->kernel->binding[i]));
    }
    axe_putc(out, '}');
    put_domains_json(out, p->kernel);
    axe_cost_plan(cx, p, at, &c);
    axe_putf(out, ",\"estimate\":{\"workers\":%d,\"cycles\":%.0f", at->n_worker,
             c.cycles);
    for (int i = 0; i < p->kernel->n_size; i++)
        axe_putf(out, ",\"%s\":%" PRId64, p->kernel->size[i]->name,
                 at->size[i]);
    axe_puts(out, "},\"tasks\":{");
    for (int i = 0; i < p->n_retile; i++) {
        axe_puts(out, i ? "," : "");
        put_text(out, p->retile[i].scope->name, retile_text(cx, &p->retile[i]));
    }
    axe_puts(out, "},\"sync\":[");
    if (p->target->put_order_json)
        p->target->put_order_json(out, p);
}

static void
put_place_json(axe_ctx *cx, axe_buf *out, const axe_place *pl)
{
    axe_puts(out, "{");
    put_text(out, "tensor", pl->tensor->name);
    axe_putc(out, ',');
    put_text(out, "type", axe_type_table[pl->type].name);
    axe_putf(out, ",\"bytes\":%" PRId64 ",\"offset\":%" PRId64 ",", pl->bytes,
             pl->offset);
    put_text(out, "layout", axe_tile_layout_text(cx, pl));
    axe_putc(out, ',');
    put_text(out, "why", pl->why);
    axe_puts(out, "}");
}

void
axe_plan_json(axe_ctx *cx, axe_buf *out, const axe_plan *p, const int64_t *size)
{
    axe_cost_at     at = launch_of(cx, p, size);
    const axe_cost *cost = costs_of(cx, p, &at);
    axe_list        meets = meets_of(cx, p, &at, size != NULL);
    bool            first = true;

    put_head_json(cx, out, p, &at);
    axe_puts(out, "],");
    if (p->target->put_cost_json)
        p->target->put_cost_json(cx, out, p, &at, size != NULL);
    put_told_json(cx, out, p);
    put_meets_json(out, &meets);
    axe_puts(out, "\"statements\":[");
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i]) {
            axe_puts(out, first ? "" : ",");
            put_schedule_json(cx, out, p, p->schedule[i], &cost[i]);
            first = false;
        }
    axe_puts(out, "],\"tiles\":[");
    first = true;
    for (int i = 0; i < p->n_place; i++)
        if (p->place[i].tensor) {
            axe_puts(out, first ? "" : ",");
            put_place_json(cx, out, &p->place[i]);
            first = false;
        }
    axe_putf(out, "],\"scratch_bytes\":%" PRId64 "}\n",
             p->target->scratch ? p->target->scratch(p) : 0);
}
