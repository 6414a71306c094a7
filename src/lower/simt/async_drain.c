/* async_drain.c - groups of contractions are drained where the plan says.
 *
 * A drain names the registers that are values from here on: the sums, and the
 * factors that atoms have read until now.
 *
 * A wait has nothing to do with what was computed while products run, so
 * compilers move it ahead of all of that, and the products run alone.  What
 * stays is a wait behind a branch on results: on those of the reduction in
 * front of it, which needs all that it folds.  It is not taken, and does
 * nothing. */
#include "plan/simt/sync/async_drain.h"

#include "lower/simt/node.h"
#include "plan/simt/contract/contract.h"

enum { MAX_NAMED = 3, MAX_RESULT = 4 };

static const axe_simt_contract *
contract_of(const axe_simt_lowering *sl, const axe_stmt *s)
{
    return sl->lw.plan->schedule[s->id]->simt->contract;
}

static void
name_registers(axe_simt_lowering *sl, const axe_tensor *t, int *n, axe_arg *arg)
{
    *n += 1;
    arg[*n] = axe_simt_reg(axe_simt_tensor(sl, t), axe_int(&sl->lw, 0));
}

/* One row names so many registers, further ones the rest. */
static void
emit_drain(axe_simt_lowering *sl, axe_lblock *b, const axe_drain *d)
{
    const axe_simt_contract *c = contract_of(sl, d->done[0]);
    const axe_atom          *a =
        axe_simt_find_sync(sl->lw.plan->machine, AXE_SYNC_DRAIN, c->atom->by,
                           c->atom->group, AXE_ARG_INT, AXE_ARG_NONE);
    axe_arg *arg = axe_new_array(sl->lw.cx, axe_arg, 1 + 3 * d->n_done);
    int      n = 0, at = 0;

    for (int i = 0; i < d->n_done; i++) {
        c = contract_of(sl, d->done[i]);
        name_registers(sl, d->done[i]->dst->u.tensor, &n, arg);
        if (c->a.held)
            name_registers(sl, c->a.tensor, &n, arg);
        if (c->b.held)
            name_registers(sl, c->b.tensor, &n, arg);
    }
    for (; at < n; at += MAX_NAMED) {
        axe_arg *own = axe_new_array(sl->lw.cx, axe_arg, 1 + MAX_NAMED);
        int      left = n - at < MAX_NAMED ? n - at : MAX_NAMED;
        own[0] = axe_simt_number(axe_int(&sl->lw, d->left));
        for (int i = 1; i <= left; i++)
            own[i] = arg[at + i];
        axe_simt_atom(sl, b, a, 0, 1 + left, own, NULL);
    }
}

static bool
folds(const axe_node *n)
{
    if (n->op == AXE_OP_reduce)
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (folds(n->arg[i]))
            return true;
    return false;
}

/* Does some thread's result have this value?  It may; nothing comes of it. */
static const axe_node *
has_value(axe_simt_lowering *sl, const axe_tensor *t, int64_t n)
{
    const axe_node *any = NULL, *is;

    for (int64_t i = 0; i < n; i++) {
        is = op2(sl, AXE_OP_eq, axe_simt_element(sl, t, axe_int(&sl->lw, i)),
                 axe_fconst(sl->lw.cx, AXE_NOWHERE, t->type, -0x1p-126));
        any = any ? op2(sl, AXE_OP_or, any, is) : is;
    }
    return any;
}

/* What follows stays behind the results of statement `last`, if it folds and is
 * no contraction that is done later: nobody may read sums that are not there.
 */
static axe_status
stay_behind(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *last,
            const axe_drain *d)
{
    const char       *group = contract_of(sl, d->done[0])->atom->group;
    const axe_tensor *t;
    int64_t           n;
    axe_lir          *l;

    if (!last || last->kind != AXE_STMT_INDEX ||
        last->dst->u.tensor->space != AXE_SPACE_REG ||
        (last->fold == AXE_FOLD_NONE && !folds(last->value)) ||
        contract_of(sl, last) ||
        !axe_simt_group_sync(sl->lw.plan->machine, AXE_SYNC_PAUSE, group,
                             AXE_ARG_NONE))
        return AXE_OK;
    t = axe_simt_tensor(sl, last->dst->u.tensor);
    if (t->type != AXE_TYPE_f32 || t->rank != 1 ||
        !axe_is_iconst(t->shape[0], &n) || n > MAX_RESULT)
        return AXE_OK;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = has_value(sl, t, n);
    return axe_simt_sync(sl, &l->body, AXE_SYNC_PAUSE, AXE_SCOPE_THREAD, group,
                         0, NULL);
}

axe_status
axe_simt_lower_drain(axe_simt_lowering *sl, axe_lblock *b, const axe_drain *d,
                     const axe_stmt *last)
{
    AXE_TRY(stay_behind(sl, b, last, d));
    emit_drain(sl, b, d);
    return AXE_OK;
}
