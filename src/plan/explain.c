/* explain.c - a plan for people, and the same facts for programs.
 *
 * One block a statement: what was chosen, the loops outermost first, how each
 * operand's address moves, where edges are, what it should cost, how many
 * addresses the certificate compared, and what was tried before. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "plan/plan.h"

static const char *const kind_text[] = {
    [AXE_SCHED_MAP] = "map",
    [AXE_SCHED_TRANSPOSE] = "transpose",
    [AXE_SCHED_CONTRACT] = "contract",
};

/* "m/8" for the digit of weight 8, "m" for the fastest. */
static const char *
digit_name(axe_ctx *cx, const axe_digit *d)
{
    if (d->weight == 1)
        return d->var->name;
    return axe_textf(cx, "%s/%" PRId64, d->var->name, d->weight);
}

static const char *
extent_text(axe_ctx *cx, const axe_nest *n, const axe_digit *d)
{
    for (int i = 0; i < n->n_dim && d->extent == 0; i++)
        if (n->dim[i].var == d->var)
            return axe_node_text(cx, n->dim[i].extent);
    return axe_textf(cx, "%" PRId64, d->extent);
}

static const char *
loops_text(axe_ctx *cx, const axe_schedule *s, const axe_nest *n)
{
    axe_buf b = {.cx = cx};
    bool    tile = s->kind == AXE_SCHED_CONTRACT;

    for (int i = 0; i < n->n_digit; i++) {
        bool lanes = i == n->n_digit - 1 && n->lanes > 1 && !tile;
        axe_putf(&b, "%s%s < %s", i ? ", " : "", digit_name(cx, &n->digit[i]),
                 extent_text(cx, n, &n->digit[i]));
        if (lanes)
            axe_putf(&b, " by %d", n->lanes);
        if (i == n->n_digit - 1 && n->chains > 1)
            axe_putf(&b, " in %d chains", n->chains);
    }
    if (tile)
        axe_putf(&b, "%s%d x %d vectors of %d in registers",
                 n->n_digit ? ", " : "", s->tile.mr, s->tile.nv, n->lanes);
    return b.text ? b.text : "none";
}

/* "[m/4]*8*N": one part of an address. */
static void
put_move(axe_ctx *cx, axe_buf *b, const axe_digit *d, const axe_move *m)
{
    axe_putf(b, "%s[%s", b->len ? " + " : "", digit_name(cx, d));
    if (m->over > 1)
        axe_putf(b, "/%" PRId64, m->over);
    if (m->extent > 0)
        axe_putf(b, "%%%" PRId64, m->extent);
    axe_putc(b, ']');
    if (m->stride.coef != 1)
        axe_putf(b, "*%" PRId64, m->stride.coef);
    if (m->stride.unit != AXE_UNIT_ONE)
        axe_putf(b, "*%s", axe_unit_text(cx, m->stride.unit));
}

static const char *
address_text(axe_ctx *cx, const axe_schedule *s, const axe_operand *op)
{
    axe_move *m = axe_new_array(cx, axe_move, axe_operand_n_iter(op));
    axe_buf   b = {.cx = cx};
    int64_t   zero;

    if (!axe_is_iconst(op->base, &zero) || zero != 0)
        axe_puts(&b, axe_node_text(cx, op->base));
    for (int k = 0; k < s->n_nest; k++)
        for (int i = 0; i < s->nest[k].n_digit; i++) {
            const axe_digit *d = &s->nest[k].digit[i];
            int              n = axe_operand_moves(op, d, m);
            for (int j = 0; j < n; j++)
                put_move(cx, &b, d, &m[j]);
        }
    return b.text ? b.text : "0";
}

static const char *
atoms_text(axe_ctx *cx, const axe_schedule *s)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < s->n_atom; i++)
        axe_putf(&b, "%s%s", i ? ", " : "", s->atom[i]->name);
    return b.text ? b.text : "none";
}

static void
put_row(axe_buf *out, const char *label, const char *text)
{
    axe_putf(out, "    %-10s%s\n", label, text);
}

static void
put_guards(axe_ctx *cx, axe_buf *out, const axe_schedule *s)
{
    const char *label = "edges";

    for (int i = 0; i < s->n_operand; i++)
        for (int g = 0; g < s->operand[i].n_guard; g++, label = "")
            put_row(out, label,
                    axe_textf(cx, "%s %s where %s < %s",
                              s->operand[i].tensor->name,
                              i == 0 ? "is written" : "is read, else zero,",
                              s->operand[i].guard[g].var->name,
                              axe_node_text(cx, s->operand[i].guard[g].limit)));
    for (int i = 0; i < s->n_operand; i++)
        if (s->operand[i].n_check > 0) {
            put_row(out, label,
                    axe_textf(cx, "%s is %s, as each element asks",
                              axe_node_text(cx, s->operand[i].load),
                              i == 0 ? "written where it is inside"
                                     : "read, else zero"));
            label = "";
        }
    for (int i = 0; i < s->n_bound; i++)
        put_row(out, i ? "" : "skips",
                axe_textf(cx, "%s >= %s", s->bound[i].var->name,
                          axe_node_text(cx, s->bound[i].limit)));
}

static void
put_schedule(axe_ctx *cx, axe_buf *out, const axe_plan *p,
             const axe_schedule *s)
{
    const axe_nest *n = &s->nest[0];

    axe_putf(out, "\ns%d  %s %s= %s\n", s->stmt->id,
             axe_node_text(cx, s->stmt->dst),
             s->stmt->fold == AXE_FOLD_NONE ? "" : axe_fold_text(s->stmt->fold),
             axe_node_text(cx, s->stmt->value));
    put_row(out, "schedule",
            axe_textf(cx, "%s%s", kind_text[s->kind],
                      n->lanes == 1 && s->n_nest == 1 ? ", element by element"
                                                      : ""));
    put_row(out, "atoms", atoms_text(cx, s));
    put_row(out, "loops", loops_text(cx, s, n));
    for (int k = 1; k < s->n_nest; k++)
        put_row(out, "  fold", loops_text(cx, s, &s->nest[k]));
    for (int i = 0; i < s->n_operand; i++)
        put_row(out, i ? "" : "address",
                axe_textf(cx, "%s: %s", s->operand[i].tensor->name,
                          address_text(cx, s, &s->operand[i])));
    put_guards(cx, out, s);
    if (s->stream)
        put_row(out, "stream",
                axe_textf(cx, "%s past the caches if over %" PRId64 " MiB",
                          s->operand[0].tensor->name,
                          p->machine->stream_bytes >> 20));
    if (s->ahead > 0)
        put_row(out, "prefetch",
                axe_textf(cx, "%d %s ahead", s->ahead,
                          s->kind == AXE_SCHED_MAP ? "rows" : "blocks"));
    if (s->cycles >= 0)
        put_row(out, "estimate",
                axe_textf(cx, "%.0f cycles, %.1f us at %.1f GHz", s->cycles,
                          s->cycles / p->machine->ghz / 1000, p->machine->ghz));
    else
        put_row(out, "estimate", "depends on sizes");
    if (s->bytes > 0)
        put_row(out, "moves",
                axe_textf(cx, "%" PRId64 " bytes to or from global tensors",
                          s->bytes));
    put_row(out, "proved",
            axe_textf(cx,
                      "%d of %d maps into tiles equal by algebra, %" PRId64
                      " addresses compared",
                      s->n_equal, s->n_tile, s->n_proved));
    for (int i = 0; i < s->n_reject; i++)
        put_row(out, i ? "" : "rejected",
                axe_textf(cx, "%s: %s", s->reject[i].what, s->reject[i].why));
}

static void
put_places(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    int name = 6, layout = 6;

    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (!pl->tensor)
            continue;
        int a = (int)strlen(pl->tensor->name);
        int b = (int)strlen(axe_layout_text(cx, pl->layout));
        name = a > name ? a : name;
        layout = b > layout ? b : layout;
    }
    axe_putf(out, "\n%-*s  %-5s  %9s  %-*s  %s\n", name, "tile", "type",
             "bytes", layout, "layout", "why");
    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (pl->tensor)
            axe_putf(out, "%-*s  %-5s  %9" PRId64 "  %-*s  %s\n", name,
                     pl->tensor->name, axe_type_table[pl->type].name, pl->bytes,
                     layout, axe_layout_text(cx, pl->layout), pl->why);
    }
    axe_putf(out, "scratch: %" PRId64 " bytes a worker\n", p->scratch_bytes);
}

/* Where workers meet between scopes. */
static void
put_sync(axe_buf *out, const axe_plan *p)
{
    for (int i = 0; i < p->n_sync; i++)
        axe_putf(out, "%s line %d: %s: %s\n",
                 p->sync[i].at->kind == AXE_STMT_BARRIER ? "at" : "before",
                 p->sync[i].at->at.line,
                 p->sync[i].barrier ? "all workers meet" : "nobody waits",
                 p->sync[i].why);
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

void
axe_plan_print(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    axe_putf(out, "plan of %s for %s", p->kernel->name, p->machine->name);
    for (int i = 0; i < p->kernel->n_binding; i++) {
        const axe_binding *b = &p->kernel->binding[i];
        axe_putf(out, "%s%s = ", i ? ", " : " with ", b->name);
        if (b->is_type)
            axe_puts(out, axe_type_table[b->value].name);
        else
            axe_putf(out, "%" PRId64, b->value);
    }
    axe_putc(out, '\n');
    put_domains(out, p->kernel);
    for (int i = 0; i < p->n_retile; i++)
        axe_putf(out,
                 "tasks of %s: even steps of at most %" PRId64
                 " over %s, in multiples of %" PRId64
                 ", as many as suit the workers\n",
                 p->retile[i].scope->name, p->retile[i].tile,
                 axe_node_text(cx, p->retile[i].size), p->retile[i].round);
    put_sync(out, p);
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i])
            put_schedule(cx, out, p, p->schedule[i]);
    put_places(cx, out, p);
}

static void
put_text(axe_buf *out, const char *key, const char *text)
{
    axe_putf(out, "\"%s\":", key);
    axe_json_put_text(out, text, strlen(text));
}

static void
put_schedule_json(axe_ctx *cx, axe_buf *out, const axe_schedule *s)
{
    axe_putf(out, "{\"id\":%d,\"line\":%d,", s->stmt->id, s->stmt->at.line);
    put_text(out, "writes", axe_node_text(cx, s->stmt->dst));
    axe_putc(out, ',');
    put_text(out, "schedule", kind_text[s->kind]);
    axe_putf(out, ",\"lanes\":%d,\"slow\":%s,", s->nest[0].lanes,
             s->slow ? "true" : "false");
    put_text(out, "atoms", atoms_text(cx, s));
    axe_putc(out, ',');
    put_text(out, "loops", loops_text(cx, s, &s->nest[0]));
    axe_puts(out, ",\"operands\":[");
    for (int i = 0; i < s->n_operand; i++) {
        axe_puts(out, i ? ",{" : "{");
        put_text(out, "tensor", s->operand[i].tensor->name);
        axe_putc(out, ',');
        put_text(out, "address", address_text(cx, s, &s->operand[i]));
        axe_puts(out, "}");
    }
    axe_putf(out,
             "],\"cycles\":%.0f,\"bytes\":%" PRId64 ",\"proved\":%" PRId64
             ",\"rejected\":[",
             s->cycles, s->bytes, s->n_proved);
    for (int i = 0; i < s->n_reject; i++) {
        axe_puts(out, i ? ",{" : "{");
        put_text(out, "what", s->reject[i].what);
        axe_putc(out, ',');
        put_text(out, "why", s->reject[i].why);
        axe_puts(out, "}");
    }
    axe_puts(out, "]}");
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

void
axe_plan_json(axe_ctx *cx, axe_buf *out, const axe_plan *p)
{
    bool first = true;

    axe_puts(out, "{");
    put_text(out, "kernel", p->kernel->name);
    axe_putc(out, ',');
    put_text(out, "machine", p->machine->name);
    put_domains_json(out, p->kernel);
    axe_puts(out, ",\"statements\":[");
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i]) {
            axe_puts(out, first ? "" : ",");
            put_schedule_json(cx, out, p->schedule[i]);
            first = false;
        }
    axe_puts(out, "],\"tiles\":[");
    first = true;
    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (!pl->tensor)
            continue;
        axe_puts(out, first ? "{" : ",{");
        first = false;
        put_text(out, "tensor", pl->tensor->name);
        axe_putc(out, ',');
        put_text(out, "type", axe_type_table[pl->type].name);
        axe_putf(out, ",\"bytes\":%" PRId64 ",\"offset\":%" PRId64 ",",
                 pl->bytes, pl->offset);
        put_text(out, "layout", axe_layout_text(cx, pl->layout));
        axe_putc(out, ',');
        put_text(out, "why", pl->why);
        axe_puts(out, "}");
    }
    axe_puts(out, "],\"sync\":[");
    for (int i = 0; i < p->n_sync; i++) {
        axe_putf(out, "%s{\"line\":%d,\"barrier\":%s,", i ? "," : "",
                 p->sync[i].at->at.line, p->sync[i].barrier ? "true" : "false");
        put_text(out, "why", p->sync[i].why);
        axe_puts(out, "}");
    }
    axe_putf(out, "],\"scratch_bytes\":%" PRId64 "}\n", p->scratch_bytes);
}
