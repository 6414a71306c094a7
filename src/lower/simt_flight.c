/* simt_flight.c - groups of contractions are drained where the plan says.
 *
 * A drain names the registers that are values from here on: the sums, and the
 * factors that atoms have read until now. */
#include "plan/simt_flight.h"

#include "lower/simt_int.h"
#include "plan/simt_contract.h"

enum { MAX_NAMED = 3 };

static const axe_simt_contract *
contract_of(const simt_lowering *sl, const axe_stmt *s)
{
    return sl->lw.plan->schedule[s->id]->simt->contract;
}

static void
name_registers(simt_lowering *sl, const axe_tensor *t, int *n, axe_arg *arg)
{
    *n += 1;
    arg[*n] = axe_simt_reg(axe_simt_tensor(sl, t), axe_int(&sl->lw, 0));
}

/* One row names so many registers, further ones the rest. */
static void
emit_drain(simt_lowering *sl, axe_lblock *b, const axe_drain *d)
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

axe_status
axe_simt_lower_drains(simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
                      bool behind)
{
    for (int i = 0; i < sl->sp->n_drain; i++) {
        const axe_drain *d = &sl->sp->drain[i];
        if (d->at != s || d->behind != behind)
            continue;
        emit_drain(sl, b, d);
        for (int k = 0; k < d->n_free; k++)
            AXE_TRY(axe_simt_free_stage(sl, b, d->free[k]));
    }
    return AXE_OK;
}
