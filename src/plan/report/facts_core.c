/* facts_core.c - what is told of one statement on one core. */
#include <inttypes.h>
#include <string.h>

#include "plan/report/facts_core.h"

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
        int from_last = n->n_digit - 1 - i;
        if (lanes)
            axe_putf(&b, " by %d", n->lanes);
        if (from_last < AXE_LEN(n->jam) && n->jam[from_last] > 1)
            axe_putf(&b, " by %d side by side", n->jam[from_last]);
        if (i == n->n_digit - 1 && n->chains > 1)
            axe_putf(&b, " in %d chains", n->chains);
    }
    if (tile)
        axe_putf(&b, "%s%d x %d vectors of %d in registers",
                 n->n_digit ? ", " : "", s->core->tile.mr, s->core->tile.nv,
                 n->lanes);
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

/* A row, and where it belongs. */
typedef struct teller {
    axe_ctx            *cx;
    const axe_plan     *p;
    const axe_schedule *s;
    axe_facts          *out;
} teller;

static void
tell(teller *t, axe_fact f, const char *text)
{
    axe_list_push(&t->out->row[f], text);
}

/* --------------------------------------------------------------- the choice */

static void
tell_choice(teller *t)
{
    const axe_schedule *s = t->s;
    const axe_nest     *n = &s->nest[0];
    axe_ctx            *cx = t->cx;
    int                 lanes = n->lanes;

    tell(t, AXE_FACT_schedule,
         axe_textf(cx, "%s%s%s", axe_schedule_name(s->kind),
                   s->slow ? ", slow" : "",
                   s->stmt->via    ? ", pinned by `via`"
                   : s->stmt->atom ? ", one atom by name"
                                   : ""));
    for (int i = 0; i < s->n_atom; i++)
        tell(t, AXE_FACT_atoms,
             axe_textf(cx, "%s: %s, cost %g", s->atom[i]->name,
                       s->atom[i]->text, s->atom[i]->cost));
    for (int k = 1; k < s->n_nest; k++)
        lanes = s->nest[k].lanes > lanes ? s->nest[k].lanes : lanes;
    tell(t, AXE_FACT_vector,
         lanes == 1 ? "none: element by element"
                    : axe_textf(cx, "%d lanes, in vectors of %d bits", lanes,
                                t->p->machine->vector_bits));
    tell(t, AXE_FACT_loops, loops_text(cx, s, n));
    for (int k = 1; k < s->n_nest; k++)
        tell(t, AXE_FACT_folds, loops_text(cx, s, &s->nest[k]));
    for (int i = 0; i < s->n_operand; i++)
        tell(t, AXE_FACT_address,
             axe_textf(cx, "%s: %s", s->operand[i].tensor->name,
                       address_text(cx, s, &s->operand[i])));
}

/* ------------------------------------------------------- factors and ends */

static void
tell_view(teller *t, const axe_operand *op, const axe_view *v)
{
    axe_ctx    *cx = t->cx;
    int64_t     known;
    const char *name = op->tensor->name;

    if (op->tensor->packed)
        tell(t, AXE_FACT_views,
             axe_textf(cx, "%s is read where it lies, packed", name));
    else if (!v->source && v->why)
        tell(t, AXE_FACT_views,
             axe_textf(cx, "%s is packed: %s", name, v->why));
    if (!v->source)
        return;
    tell(t, AXE_FACT_views,
         axe_textf(cx, "whole %s of %s are read in %s%s %s",
                   v->part ? axe_textf(cx, "tiles, and ends of rows by %s,",
                                       v->part->name)
                           : "tiles",
                   name, v->source->tensor->name,
                   axe_is_iconst(v->when, &known) ? ":" : " if", v->why));
    if (v->room)
        tell(t, AXE_FACT_prefetch,
             axe_textf(cx,
                       "the next %d rows of %s, where %d get no more than the "
                       "ways of L1",
                       t->s->core->tile.mr, v->source->tensor->name,
                       2 * t->s->core->tile.mr));
}

static void
tell_merged(teller *t)
{
    const axe_schedule *s = t->s;

    if (s->kind == AXE_SCHED_CONTRACT) {
        tell_view(t, &s->operand[s->core->tile.a], &s->core->view[0]);
        tell_view(t, &s->operand[s->core->tile.b], &s->core->view[1]);
        if (s->core->fresh)
            tell(t, AXE_FACT_merged, "the first iteration adds to nothing");
        if (s->core->then)
            tell(t, AXE_FACT_merged,
                 axe_textf(t->cx, "the last iteration does s%d for whole %s",
                           s->core->then->stmt->id,
                           s->core->parts ? "rows of register tiles"
                                          : "register tiles"));
    }
    if (s->core->skip)
        tell(t, AXE_FACT_views,
             axe_textf(t->cx, "%s is not filled: %s is packed",
                       s->stmt->dst->u.tensor->name,
                       t->p->place[s->stmt->dst->u.tensor->id].view->name));
    if (s->core->within)
        tell(
            t, AXE_FACT_merged,
            axe_textf(
                t->cx,
                s->core->within->core->then == s && s->core->within->core->parts
                    ? "into s%d but for ragged rows of register tiles"
                : s->core->within->core->then == s
                    ? "into s%d but for ragged register tiles"
                    : "into s%d, and run only where that has no iteration",
                s->core->within->stmt->id));
    for (int i = 0; i < s->n_from; i++)
        tell(t, s->n_operand > 1 ? AXE_FACT_views : AXE_FACT_merged,
             axe_textf(t->cx,
                       s->n_operand > 1
                           ? "%s < %s is not filled but read where it lies"
                           : "%s < %s is left to the sums written there",
                       s->from[i].var->name,
                       axe_node_text(t->cx, s->from[i].limit)));
}

/* ------------------------------------------------------------------ memory */

static void
tell_memory(teller *t)
{
    const axe_schedule *s = t->s;

    tell(t, AXE_FACT_sync, "none: one core runs a task's statements in order");
    if (s->core->stream)
        tell(t, AXE_FACT_stream,
             s->core->always
                 ? axe_textf(t->cx, "%s past the caches, as asked",
                             s->operand[0].tensor->name)
                 : axe_textf(t->cx,
                             "%s past the caches if over %" PRId64 " MiB",
                             s->operand[0].tensor->name,
                             t->p->machine->stream_bytes >> 20));
    if (s->core->ahead > 0)
        tell(t, AXE_FACT_prefetch,
             axe_textf(t->cx, "%d %s ahead%s", s->core->ahead,
                       s->kind == AXE_SCHED_MAP ? "rows" : "blocks",
                       s->core->evict ? ", to leave the caches first" : ""));
}

/* "1.5 MiB": three digits. */
static const char *
bytes_text(axe_ctx *cx, double n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int                      u = 0;

    while (n >= 1024 && u + 1 < AXE_LEN(unit)) {
        n /= 1024;
        u++;
    }
    return axe_textf(cx, "%.3g %s", n, unit[u]);
}

static const char *
levels_text(axe_ctx *cx, const axe_cost *c)
{
    axe_buf b = {.cx = cx};

    for (int l = 0; l < AXE_N_LEVEL; l++)
        if (c->bytes[l] > 0)
            axe_putf(&b, "%s%s %s", b.len ? ", " : "",
                     axe_level_name((axe_level)l), bytes_text(cx, c->bytes[l]));
    return b.text ? b.text : "none";
}

static void
tell_cost(teller *t, const axe_cost *c)
{
    axe_ctx    *cx = t->cx;
    const char *one = "";

    if (t->s->cycles >= 0 && !t->s->core->skip)
        one = axe_textf(cx, "; one whole tile: %.0f", t->s->cycles);
    if (c->cycles < 0) {
        tell(t, AXE_FACT_bytes, "depend on sizes");
        tell(t, AXE_FACT_cycles, axe_textf(cx, "depend on sizes%s", one));
        return;
    }
    tell(t, AXE_FACT_bytes, levels_text(cx, c));
    tell(t, AXE_FACT_cycles,
         axe_textf(cx, "%.3g in %.3g executions, %.3g to issue%s%s", c->cycles,
                   c->runs, c->issue,
                   c->memory_bound ? ", waits for memory" : "", one));
}

void
axe_core_facts(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
               const axe_cost *cost, axe_facts *out)
{
    teller t = {cx, p, s, out};

    tell_choice(&t);
    axe_facts_edges(cx, p, s, out);
    if (s->core->idle.var)
        tell(&t, AXE_FACT_skips,
             axe_textf(cx, "iterations of %s >= %s", s->core->idle.var->name,
                       axe_node_text(cx, s->core->idle.limit)));
    if (s->core->tile.there)
        tell(&t, AXE_FACT_skips,
             axe_textf(cx,
                       "the last rows of a register tile, eighths of it, "
                       "where for none %s",
                       axe_node_text(cx, s->core->tile.there)));
    tell_merged(&t);
    tell_memory(&t);
    tell_cost(&t, cost);
    axe_facts_proved(cx, p, s, out);
    axe_core_facts_rejected(cx, p, s, &out->row[AXE_FACT_rejected]);
}
