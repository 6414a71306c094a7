/* why_core.c - why a statement does not run otherwise.
 *
 * The planner notes what it tried and what did not fit.  What it had no reason
 * to try is told here, from the plan alone: a schedule for another kind of
 * statement, a vector wider than the machine's, stores past the caches. */
#include "plan/report/facts_core.h"

static void
say(axe_ctx *cx, axe_list *out, const char *what, const char *why)
{
    axe_list_push(out, axe_textf(cx, "%s: %s", what, why));
}

static bool
has_fold(const axe_node *n)
{
    if (n->op == AXE_OP_reduce)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (n->op != AXE_OP_load && has_fold(n->arg[i]))
            return true;
    return false;
}

static bool
was_tried(const axe_schedule *s, const char *what)
{
    for (int i = 0; i < s->n_reject; i++)
        for (int k = 0;; k++) {
            if (what[k] == '\0')
                return true;
            if (s->reject[i].what[k] != what[k])
                break;
        }
    return false;
}

static void
why_not_contract(axe_ctx *cx, const axe_schedule *s, axe_list *out)
{
    if (s->kind == AXE_SCHED_CONTRACT || was_tried(s, "contract"))
        return;
    say(cx, out, "contract",
        s->stmt->fold != AXE_FOLD_SUM || s->stmt->n_free == s->stmt->n_dim
            ? "not a sum over an index by `+=`"
            : "not a sum of products of two elements, with a row, a column "
              "and a sum");
}

static const axe_node *
uncast(const axe_node *n)
{
    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return n;
}

static void
why_not_transpose(axe_ctx *cx, const axe_schedule *s, axe_list *out)
{
    const char *why = NULL;

    if (s->kind == AXE_SCHED_TRANSPOSE || was_tried(s, "transpose"))
        return;
    if (s->kind == AXE_SCHED_CONTRACT)
        why = "a contraction moves its factors by itself";
    else if (has_fold(s->value))
        why = "the value is folded on its way";
    else if (uncast(s->value)->op != AXE_OP_load)
        why = "the value is computed, not moved";
    else if (s->nest[0].lanes > 1)
        why = "source and destination are fast in the same index";
    else if (s->nest[0].n_dim < 2)
        why = "it needs two indices";
    else
        why = "no two indices of which one is fast in the source and the other "
              "in the destination";
    say(cx, out, "transpose", why);
}

static int
widest_lanes(const axe_schedule *s)
{
    int n = 1;

    for (int k = 0; k < s->n_nest; k++)
        n = s->nest[k].lanes > n ? s->nest[k].lanes : n;
    return n;
}

static void
why_not_wider(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
              axe_list *out)
{
    int n = widest_lanes(s), bits = 0;

    for (int i = 0; i < s->n_operand; i++) {
        const axe_tensor *t = s->operand[i].tensor;
        axe_type          c = t->type;
        axe_mark          m = axe_ctx_mark(cx);
        if (i > 0 && axe_operand_places(s->value, &s->operand[i]))
            continue;
        if (axe_compute_type(cx, p->machine, t->at, t->type, &c) != AXE_OK)
            axe_ctx_release(cx, m);
        bits = axe_type_table[c].bits > bits ? axe_type_table[c].bits : bits;
    }
    if (s->raw && s->operand[0].tensor)
        bits = axe_type_table[s->operand[0].tensor->type].bits;
    if (n > 1 && n * bits >= p->machine->vector_bits)
        say(cx, out, axe_textf(cx, "%d lanes", 2 * n),
            axe_textf(cx, "%d of %d bits fill a vector", n, bits));
    else if (!was_tried(s, axe_textf(cx, "%d lanes", 2 * n)) &&
             !was_tried(s, "lanes"))
        say(cx, out, axe_textf(cx, "%d lanes", 2 * n),
            s->nest[0].n_dim == 0 ? "it writes one element"
                                  : "no index runs so far in constant steps");
}

static void
why_not_stream(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
               axe_list *out)
{
    const axe_tensor *t = s->operand[0].tensor;
    const char       *why = NULL;

    if (s->core->stream)
        return;
    if (p->machine->stream_bytes == 0)
        why = axe_textf(cx, "%s has no such stores", p->machine->name);
    else if (t->space != AXE_SPACE_GLOBAL)
        why = axe_textf(cx, "`%s` is a tile, read again soon", t->name);
    else if (t->dir != AXE_DIR_OUT)
        why = axe_textf(cx, "`%s` is read, too", t->name);
    else if (s->kind == AXE_SCHED_CONTRACT)
        why = "sums are added to what is there";
    else if (axe_attr_of(s->stmt, AXE_ATTR_no_stream))
        why = "as asked";
    else
        why = "only whole vectors of the type computed in pass the caches by";
    say(cx, out, "stream", why);
}

void
axe_core_facts_rejected(axe_ctx *cx, const axe_plan *p, const axe_schedule *s,
                        axe_list *out)
{
    for (int i = 0; i < s->n_reject; i++)
        say(cx, out, s->reject[i].what, s->reject[i].why);
    why_not_contract(cx, s, out);
    why_not_transpose(cx, s, out);
    why_not_wider(cx, p, s, out);
    why_not_stream(cx, p, s, out);
}
