/* certify.c - the addresses of a plan are those of its statement.
 *
 * For every operand in a tile the two maps are shown equal by algebra
 * (prove.c).  As a second net all index values (all of them up to MAX_POINTS,
 * else a grid) are put through the tensor's own layout, by flat
 * index, and through the plan's base and digit strides.  The two never share
 * code: one is axe_layout_at, the other slicing, grouping and cutting.  A
 * difference is our own bug. */
#include <assert.h>

#include "plan/plan_int.h"

enum { MAX_POINTS = 1 << 12 };

/* Address by the plan: base + sum of digit * stride. */
static int64_t
planned(axe_ctx *cx, const axe_operand *op, int n, const axe_var *const *var,
        const int64_t *value)
{
    axe_affine base;
    int64_t    at = axe_subscript_of(cx, op->base, &base) ? base.constant : -1;

    for (int i = 0; i < n; i++) {
        int64_t rest = value[i];
        for (int t = 0; t < op->n_term; t++) {
            const axe_term *term = &op->term[t];
            if (term->var != var[i])
                continue;
            rest = value[i];
            for (int k = term->n_iter - 1; k >= 0; k--) {
                at += rest % term->iter[k].extent * term->iter[k].stride;
                rest /= term->iter[k].extent;
            }
        }
    }
    return at;
}

/* Address by the definition: the layout at the flat index. */
static int64_t
defined(axe_ctx *cx, const axe_layout *l, const axe_operand *op, int n,
        const axe_var *const *var, const int64_t *value)
{
    int64_t flat = 0;

    for (int d = 0; d < op->tensor->rank; d++) {
        axe_affine a;
        int64_t    full = 0, x;
        axe_is_iconst(op->tensor->shape[d], &full);
        if (!axe_subscript_of(cx, op->load->arg[d], &a))
            return -1;
        x = a.constant;
        for (int i = 0; i < n; i++)
            x += axe_affine_coef(&a, var[i]) * value[i];
        flat = flat * full + x;
    }
    return axe_layout_at(l, flat, AXE_AXIS_M);
}

static int64_t
certify_tile(planner *p, const axe_schedule *s, const axe_operand *op)
{
    const axe_var *var[16];
    int64_t        extent[16], value[16] = {0}, points = 1, proved = 0;
    int            n = 0;

    for (int k = 0; k < s->n_nest; k++)
        for (int j = 0; j < s->nest[k].n_dim && n < AXE_LEN(var); j++) {
            const axe_dim *d = &s->nest[k].dim[j];
            bool           used = false;
            for (int t = 0; t < op->n_term; t++)
                used = used || op->term[t].var == d->var;
            for (int t = 0; t < n; t++)
                used = used && var[t] != d->var;
            if (!used)
                continue;
            var[n] = d->var;
            extent[n] = axe_dim_extent(d);
            points *= extent[n] < MAX_POINTS ? extent[n] : MAX_POINTS;
            if (points > MAX_POINTS)
                points = MAX_POINTS + 1;
            n++;
        }
    for (;;) {
        axe_mark m = axe_ctx_mark(p->cx);
        int64_t  want =
            defined(p->cx, p->place[op->tensor->id].layout, op, n, var, value);
        assert(planned(p->cx, op, n, var, value) == want);
        axe_ctx_release(p->cx, m);
        proved++;
        int i = n - 1;
        for (; i >= 0; i--) {
            int64_t step =
                points > MAX_POINTS && extent[i] > 16 ? extent[i] / 16 + 1 : 1;
            if ((value[i] += step) < extent[i])
                break;
            value[i] = 0;
        }
        if (i < 0)
            return proved;
    }
}

void
axe_certify(planner *p, axe_schedule *s)
{
    axe_proof proof;

    for (int i = 0; i < s->n_operand; i++) {
        if (s->operand[i].tensor->space == AXE_SPACE_GLOBAL)
            continue;
        proof = axe_prove_operand(p, s, &s->operand[i]);
        assert(proof != AXE_PROOF_WRONG);
        s->n_tile++;
        s->n_equal += proof == AXE_PROOF_EQUAL;
        s->n_proved += certify_tile(p, s, &s->operand[i]);
    }
}
