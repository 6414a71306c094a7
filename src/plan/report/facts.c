/* facts.c - what is told of statements of every kind of machine: places,
 * names, edges and proofs. */
#include <inttypes.h>
#include <string.h>

#include "plan/report/facts_simt.h"
#include "plan/target.h"

const char *
axe_schedule_name(axe_schedule_kind k)
{
    static const char *const name[] = {
        [AXE_SCHED_MAP] = "map",
        [AXE_SCHED_TRANSPOSE] = "transpose",
        [AXE_SCHED_CONTRACT] = "contract",
        [AXE_SCHED_COPY] = "copy",
    };

    return name[k];
}

const char *
axe_place_text(axe_ctx *cx, axe_span at)
{
    if (at.line > 0)
        return axe_textf(cx, "line %d", at.line);
    return at.col > 0
               ? axe_textf(cx, "%s %d", axe_source_name(cx, at.source), at.col)
               : axe_source_name(cx, at.source);
}

const char *
axe_threads_text(axe_ctx *cx, const axe_thread_group *c)
{
    const char *name = axe_scope_name(c->scope);

    if (!c->in)
        return axe_textf(cx, "the %s of %d threads", name, c->n_thread);
    if (c->n_entity == 1)
        return axe_textf(cx, "%s %d of its %s", name, c->first / c->n_thread,
                         axe_scope_name(c->in->scope));
    return axe_textf(cx, "each %s from %d to %d", name, c->first / c->n_thread,
                     c->first / c->n_thread + c->n_entity - 1);
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

/* What is so of several accesses is said once. */
static void
tell_once(teller *t, axe_fact f, const char *text)
{
    const axe_list *l = &t->out->row[f];

    for (int i = 0; i < l->n; i++)
        if (strcmp(l->item[i], text) == 0)
            return;
    tell(t, f, text);
}

static void
tell_edges(teller *t)
{
    const axe_schedule *s = t->s;
    axe_ctx            *cx = t->cx;

    for (int i = 0; i < s->n_operand; i++)
        for (int g = 0; g < s->operand[i].n_guard; g++)
            tell_once(
                t, AXE_FACT_edges,
                axe_textf(cx, "%s %s where %s < %s", s->operand[i].tensor->name,
                          i == 0 ? "is written" : "is read, else zero,",
                          s->operand[i].guard[g].var->name,
                          axe_node_text(cx, s->operand[i].guard[g].limit)));
    for (int i = 0; i < s->n_operand; i++)
        if (s->operand[i].n_check > 0)
            tell_once(t, AXE_FACT_edges,
                      axe_textf(cx, "%s is %s, as each element asks",
                                axe_node_text(cx, s->operand[i].load),
                                i == 0 ? "written where it is inside"
                                       : "read, else zero"));
    for (int i = 0; i < s->n_bound; i++)
        tell(t, AXE_FACT_skips,
             axe_textf(cx, "%s >= %s", s->bound[i].var->name,
                       axe_node_text(cx, s->bound[i].limit)));
}

void
axe_facts_edges(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                axe_facts *out)
{
    teller t = {cx, p, s, out};

    tell_edges(&t);
}

void
axe_facts_proved(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                 axe_facts *out)
{
    teller t = {cx, p, s, out};

    tell(&t, AXE_FACT_proved,
         s->n_tile == 0
             ? "no tiles touched"
             : axe_textf(cx,
                         "%d of %d maps into tiles equal by algebra, %" PRId64
                         " addresses compared",
                         s->n_equal, s->n_tile, s->n_proved));
}

void
axe_facts_of(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
             const axe_cost *cost, axe_facts *out)
{
    *out = (axe_facts){0};
    for (int f = 0; f < AXE_N_FACT; f++)
        out->row[f].cx = cx;
    p->target->facts(cx, p, s, cost, out);
}

const char *
axe_tile_layout_text(axe_ctx *cx, const axe_place *pl)
{
    return pl->layout ? axe_layout_text(cx, pl->layout) : "open yet";
}
