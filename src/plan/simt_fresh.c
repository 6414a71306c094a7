/* simt_fresh.c - accumulators that need no zeroing.
 *
 * One that is set to zero right before a loop need not be, if the atom of the
 * loop's only contraction can overwrite it, and does so in the first turn.
 * Where the loop has no turns it is set to zero.  Nor need one that is set to
 * zero before a contraction that is no loop's: its first step overwrites. */
#include "ir/check.h"
#include "plan/simt_contract.h"
#include "plan/simt_int.h"

static bool touches(const axe_stmt *s, const axe_tensor *t);

static bool
any_touches(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if (touches(body[i], t))
            return true;
    return false;
}

static bool
touches(const axe_stmt *s, const axe_tensor *t)
{
    if (s->kind == AXE_STMT_INDEX &&
        (axe_stmt_reads(s, t) || axe_stmt_writes(s, t)))
        return true;
    return any_touches(s->n_body, s->body, t) ||
           any_touches(s->n_other, s->other, t);
}

static axe_simt_contract *
contract_of(const planner *p, const axe_stmt *s)
{
    const axe_schedule *d =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : NULL;

    return d && d->simt ? (axe_simt_contract *)d->simt->contract : NULL;
}

/* Statements that run once in each turn of the loop: those of its body, or of
 * the consumes that stand last in it. */
static const axe_stmt *
last_body(const axe_stmt *s)
{
    const axe_stmt *last = s->n_body > 0 ? s->body[s->n_body - 1] : NULL;

    return last && last->kind == AXE_STMT_CONSUME ? last_body(last) : s;
}

/* How many statements touch the tile. */
static int
count_touches(int n, axe_stmt *const *body, const axe_tensor *t)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += (body[i]->kind == AXE_STMT_INDEX && touches(body[i], t)) +
               count_touches(body[i]->n_body, body[i]->body, t) +
               count_touches(body[i]->n_other, body[i]->other, t);
    return sum;
}

/* The one contraction of each turn that nothing else in it sees the result of,
 * or NULL. */
static const axe_stmt *
lone_contraction(const planner *p, const axe_stmt *loop)
{
    const axe_stmt *in = last_body(loop), *found = NULL;

    for (int i = 0; i < in->n_body; i++)
        if (contract_of(p, in->body[i]))
            found = in->body[i];
    return found && count_touches(loop->n_body, loop->body,
                                  found->dst->u.tensor) == 1
               ? found
               : NULL;
}

static bool
is_zero(const axe_node *n)
{
    int64_t v;

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return (axe_is_iconst(n, &v) && v == 0) ||
           (n->op == AXE_OP_fconst && n->u.f == 0);
}

/* The statement before body[at] that sets t to zero, with none between that
 * touches t; or NULL. */
static const axe_stmt *
zero_before(axe_stmt *const *body, int at, const axe_tensor *t)
{
    for (int i = at - 1; i >= 0; i--) {
        const axe_stmt *s = body[i];
        if (!touches(s, t))
            continue;
        return s->kind == AXE_STMT_INDEX && s->fold == AXE_FOLD_NONE &&
                       s->dst->u.tensor == t && is_zero(s->value) &&
                       axe_walks_whole(s->dst)
                   ? s
                   : NULL;
    }
    return NULL;
}

static void
take_zero(planner *p, axe_stmt *const *body, int at, const axe_stmt *s)
{
    const axe_stmt    *loop = body[at];
    axe_simt_contract *sc = contract_of(p, s);
    const axe_stmt    *zero = zero_before(body, at, s->dst->u.tensor);

    if (!sc->atom->fresh || !zero || !p->schedule[zero->id])
        return;
    sc->fresh = loop->var[0];
    axe_simt_schedule *simt = (axe_simt_schedule *)p->schedule[zero->id]->simt;
    simt->when = axe_node2(p->cx, AXE_OP_le, loop->var[0]->extent,
                           axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_INDEX, 0));
}

static const axe_node *
never(planner *p)
{
    return axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_bool, 0);
}

/* The contraction that s is, or that a consume, or one in it, begins with. */
static const axe_stmt *
first_contraction(const planner *p, const axe_stmt *s)
{
    while (s->kind == AXE_STMT_CONSUME && s->n_body > 0)
        s = s->body[0];
    return contract_of(p, s) ? s : NULL;
}

/* body[at] is or begins with s. */
static void
take_own_zero(planner *p, axe_stmt *const *body, int at, const axe_stmt *s)
{
    axe_simt_contract *sc = contract_of(p, s);
    const axe_stmt    *zero = zero_before(body, at, s->dst->u.tensor);

    if (!sc->atom->fresh || sc->fresh || !zero || !p->schedule[zero->id])
        return;
    sc->begins = true;
    axe_simt_schedule *simt = (axe_simt_schedule *)p->schedule[zero->id]->simt;
    simt->when = never(p);
}

static void
plan_body(planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s =
            body[i]->kind == AXE_STMT_FOR ? lone_contraction(p, body[i]) : NULL;
        if (s)
            take_zero(p, body, i, s);
        s = first_contraction(p, body[i]);
        if (s)
            take_own_zero(p, body, i, s);
        plan_body(p, body[i]->n_body, body[i]->body);
        plan_body(p, body[i]->n_other, body[i]->other);
    }
}

void
axe_simt_take_zeros(planner *p)
{
    plan_body(p, p->kernel->n_body, p->kernel->body);
}
