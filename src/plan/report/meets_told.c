/* meets_told.c - what a plan does where entities of a scope come to one element
 * of global memory, and what an order of theirs costs. */
#include <math.h>

#include "machine/rates.h"
#include "plan/access/meets.h"
#include "plan/cost/cost_int.h"
#include "plan/report/facts.h"

/* "`s`, `t`" */
static const char *
names_of(axe_ctx *cx, const axe_meet *m)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < m->by.n; i++)
        axe_putf(&b, "%s`%s`", i ? ", " : "",
                 ((const axe_var *)m->by.item[i])->name);
    return b.text;
}

/* The parts: "8*M*N"; *bytes of all at these sizes, NAN where one is not
 * known. */
static const char *
parts_of(const axe_cost_env *e, const axe_meet *m, double *bytes)
{
    const axe_tensor *t = m->stmt->dst->u.tensor;
    axe_buf           b = {.cx = e->cx};

    *bytes = axe_type_table[t->type].bits / 8.0;
    for (int i = 0; i < m->by.n + t->rank; i++) {
        const axe_node *n = i < m->by.n
                                ? ((const axe_var *)m->by.item[i])->extent
                                : t->shape[i - m->by.n];
        axe_putf(&b, "%s%s", i ? "*" : "", axe_node_text(e->cx, n));
        *bytes *= axe_cost_value(e, n);
    }
    return b.text;
}

/* [bytes/s] of memory, for all workers; 0: not known. */
static double
memory_rate(const axe_plan *p, const axe_cost_at *at)
{
    const axe_rates *r = axe_machine_rates(p->machine);

    if (r)
        return r->memory_gb * 1e9;
    return axe_machine_has_levels(p->machine)
               ? at->levels.all * p->machine->ghz * 1e9
               : 0;
}

static const char *
told_parts(const axe_cost_env *e, const axe_meet *m)
{
    const axe_plan *p = e->plan;
    double          bytes, rate = memory_rate(p, e->at);
    const char     *n = parts_of(e, m, &bytes);
    const char     *type = axe_type_table[m->stmt->dst->type].name;
    const char     *text =
        axe_textf(e->cx,
                  "each keeps a part, %s of %s, and a scope behind adds "
                  "them up, as its plan says",
                  n, type);

    if (isnan(bytes))
        return text;
    text =
        axe_textf(e->cx, "%s: %.0f bytes, written and read once", text, bytes);
    return rate > 0 ? axe_textf(e->cx, "%s, %.1f us at the rate of memory",
                                text, 2 * bytes / rate * 1e6)
                    : text;
}

/* What an order costs that leaves fewer entities. */
static const char *
told_turns(const axe_cost_env *e, const axe_meet *m)
{
    axe_buf b = {.cx = e->cx};
    double  n = 1;

    for (int i = 0; i < m->scope->n_var; i++) {
        const axe_node *x = m->scope->var[i]->extent;
        if (axe_list_has(&m->by, m->scope->var[i]))
            continue;
        axe_putf(&b, "%s%s", b.len ? "*" : "", axe_node_text(e->cx, x));
        n *= axe_cost_value(e, x);
    }
    return axe_textf(
        e->cx,
        "one after the other, in the order of their numbers%s%s; what is left "
        "to run side by side is %s%s",
        m->why ? ", as " : "", m->why ? m->why : "", b.len ? b.text : "1",
        b.len && !isnan(n) ? axe_textf(e->cx, " = %.0f", n) : "");
}

static const char *
told(const axe_cost_env *e, const axe_meet *m)
{
    switch (m->how) {
    case AXE_MEET_PARTS:
        return told_parts(e, m);
    case AXE_MEET_TURNS:
        return told_turns(e, m);
    case AXE_MEET_EXACT:
        return "in any order, which no result tells";
    default:
        return m->stmt->fold == AXE_FOLD_NONE
                   ? "the last one stays, which may be any"
               : axe_type_is_float(m->stmt->dst->type)
                   ? "the order of the sum is open: its last bits may differ "
                     "from run to run, but for a scope `deterministic`"
                   : "in any order";
    }
}

void
axe_tell_meets(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
               axe_list *out)
{
    axe_list     meets = {.cx = cx};
    axe_cost_env e = {.cx = cx, .plan = p, .at = at};

    axe_meets_find(cx, p->machine, axe_kernel_raise(cx, p->written), &meets);
    for (int i = 0; i < meets.n; i++) {
        const axe_meet *m = meets.item[i];
        axe_list_push(
            out, axe_textf(cx, "%s: entities of %s come to one `%s`: %s",
                           axe_place_text(cx, m->stmt->at), names_of(cx, m),
                           axe_node_text(cx, m->stmt->dst), told(&e, m)));
    }
}
