/* zero_init.c - accumulators that need no zeroing.
 *
 * One that is set to zero right before a loop need not be, if the atom of the
 * loop's only contraction with it can overwrite it, and does so in the first
 * iteration.  Where the loop has no iterations it is set to zero; or, if all
 * that the loop multiplies is copied from tensors that are then empty, which
 * read as zeros, it runs once.  Nor need one that is set to
 * zero before a contraction that is no loop's: its first step overwrites. */
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/hazard/hazard.h"

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

static const axe_simt_contract *
contract_of(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *d =
        s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : NULL;

    return d && d->simt ? d->simt->contract : NULL;
}

axe_simt_contract *
axe_simt_own_contract(axe_planner *p, const axe_stmt *s)
{
    axe_simt_contract *c = axe_new(p->cx, axe_simt_contract);

    *c = *p->simt->of[s->id]->contract;
    p->simt->of[s->id]->contract = c;
    return c;
}

/* Statements that run once in each iteration of the loop: those of its body, or
 * of the consumes that stand last in it. */
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

/* Is statement i of the loop's innermost body a contraction that every
 * iteration comes to, and that nothing else in it sees the result of? */
static bool
is_lone(const axe_planner *p, const axe_stmt *loop, const axe_stmt *s)
{
    return contract_of(p, s) &&
           !axe_leaves_iteration(loop->n_body, loop->body) &&
           count_touches(loop->n_body, loop->body, s->dst->u.tensor) == 1;
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
 * touches t or may skip body[at]; or NULL. */
static const axe_stmt *
zero_before(axe_stmt *const *body, int at, const axe_tensor *t)
{
    for (int i = at - 1; i >= 0; i--) {
        const axe_stmt *s = body[i];
        if (axe_leaves_iteration(1, body + i))
            return NULL;
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

/* --------------------------------------------- loops that run at least once */

/* The loops whose body is a stage of a pipeline. */
typedef struct stages {
    const axe_pipeline *ring;
    int                 n, n_loop; /* stages; those that are a loop's body */
    const axe_stmt     *fill, *read;
} stages;

static void
find_stages(stages *x, const axe_stmt *in, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool            fills = s->kind == AXE_STMT_PRODUCE;
        if ((fills || s->kind == AXE_STMT_CONSUME) && s->pipeline == x->ring) {
            x->n++;
            x->n_loop += n == 1 && in && in->kind == AXE_STMT_FOR;
            if (fills)
                x->fill = in;
            else
                x->read = in;
        }
        find_stages(x, s, s->n_body, s->body);
        find_stages(x, s, s->n_other, s->other);
    }
}

/* The size of a loop over it or its tiles, K or cdiv(K, 64); or NULL. */
static const axe_var *
size_of(const axe_node *n)
{
    int64_t by;

    if (n->op == AXE_OP_cdiv && axe_is_iconst(n->arg[1], &by) && by > 0)
        n = n->arg[0];
    return n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_SIZE ? n->u.var
                                                                 : NULL;
}

/* Does the statement fill a tile with a copy of a tensor that is empty where
 * `size` is 0?  What is outside of it is zero. */
static bool
brings_zeros(const axe_planner *p, const axe_stmt *s, const axe_var *size)
{
    const axe_schedule  *d = s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : 0;
    const axe_simt_copy *c = d && d->simt ? d->simt->copy : NULL;

    if (!c || c->run || c->stage || !c->in)
        return false;
    const axe_tensor *from = d->operand[1].tensor;
    for (int i = 0; i < from->rank; i++)
        if (from->shape[i]->op == AXE_OP_var && from->shape[i]->u.var == size)
            return true;
    return false;
}

/* Have the loop that multiplies and the one that brings the factors one
 * iteration more than none, and all that comes in it is zero? */
static bool
may_run_once(const axe_planner *p, const axe_stmt *loop,
             const axe_simt_contract *c, stages *x)
{
    const axe_var  *size = size_of(loop->var[0]->extent);
    const axe_stmt *fill;

    if (!size || loop->n_var != 1 || loop->n_body != 1 || c->scale[0].tensor ||
        loop->body[0]->kind != AXE_STMT_CONSUME)
        return false;
    *x = (stages){.ring = loop->body[0]->pipeline};
    find_stages(x, NULL, p->kernel->n_body, p->kernel->body);
    if (x->n != 2 || x->n_loop != 2 || x->read != loop || !x->fill ||
        x->fill->n_var != 1 ||
        !axe_node_same(x->fill->var[0]->extent, loop->var[0]->extent))
        return false;
    fill = x->fill->body[0];
    for (int i = 0; i < fill->n_body; i++)
        if (!brings_zeros(p, fill->body[i], size))
            return false;
    for (int i = 0; i < x->read->body[0]->n_body; i++)
        if (!contract_of(p, x->read->body[0]->body[i]))
            return false;
    return c->a.direct && c->b.direct && c->a.tensor->pipeline == x->ring &&
           c->b.tensor->pipeline == x->ring;
}

static const axe_node *
never(axe_planner *p)
{
    return axe_iconst(p->cx, AXE_NOWHERE, AXE_TYPE_bool, 0);
}

static void
take_zero(axe_planner *p, axe_stmt *const *body, int at, const axe_stmt *s)
{
    const axe_stmt          *loop = body[at];
    const axe_simt_contract *sc = contract_of(p, s);
    const axe_stmt          *zero = zero_before(body, at, s->dst->u.tensor);
    stages                   x;

    if (!sc->atom->fresh || !zero || !p->schedule[zero->id])
        return;
    axe_simt_own_contract(p, s)->fresh = loop->var[0];
    axe_simt_schedule *simt = p->simt->of[zero->id];
    if (may_run_once(p, loop, sc, &x)) {
        p->simt->at_least_once[loop->var[0]->id] = true;
        p->simt->at_least_once[x.fill->var[0]->id] = true;
        simt->when = never(p);
        return;
    }
    simt->when = axe_node2(p->cx, AXE_OP_le, loop->var[0]->extent,
                           axe_index_const(p->cx, 0));
}

/* The contraction that s is, or that a consume, or one in it, begins with. */
static const axe_stmt *
first_contraction(const axe_planner *p, const axe_stmt *s)
{
    while (s->kind == AXE_STMT_CONSUME && s->n_body > 0)
        s = s->body[0];
    return contract_of(p, s) ? s : NULL;
}

/* body[at] is or begins with s. */
static void
take_own_zero(axe_planner *p, axe_stmt *const *body, int at, const axe_stmt *s)
{
    const axe_simt_contract *sc = contract_of(p, s);
    const axe_stmt          *zero = zero_before(body, at, s->dst->u.tensor);

    if (!sc->atom->fresh || sc->fresh || !zero || !p->schedule[zero->id])
        return;
    axe_simt_own_contract(p, s)->begins = true;
    axe_simt_schedule *simt = p->simt->of[zero->id];
    simt->when = never(p);
}

static void
plan_body(axe_planner *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *in =
            body[i]->kind == AXE_STMT_FOR ? last_body(body[i]) : NULL;
        for (int k = 0; in && k < in->n_body; k++)
            if (is_lone(p, body[i], in->body[k]))
                take_zero(p, body, i, in->body[k]);
        const axe_stmt *s = first_contraction(p, body[i]);
        if (s)
            take_own_zero(p, body, i, s);
        plan_body(p, body[i]->n_body, body[i]->body);
        plan_body(p, body[i]->n_other, body[i]->other);
    }
}

void
axe_simt_take_zeros(axe_planner *p)
{
    p->simt->at_least_once = axe_new_array(p->cx, bool, p->kernel->n_var + 1);
    plan_body(p, p->kernel->n_body, p->kernel->body);
}
