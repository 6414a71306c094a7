/* map_order.c - in which order a map's loops run. */
#include <string.h>

#include "plan/plan_int.h"

/* The weight of the variable's fastest digit. */
static int64_t
step_of(const axe_schedule *s, const axe_var *v)
{
    return v == s->word_var ? s->word : 1;
}

/* Larger is further out. */
static int64_t
weight_of(planner *p, const axe_operand *dst, const axe_digit *d)
{
    axe_move *move = axe_new_array(p->cx, axe_move, axe_operand_n_iter(dst));
    int       n = axe_operand_moves(dst, d, move);
    int64_t   big = INT64_MAX / 4;
    int64_t   a = n > 0 ? move[0].stride.coef : 0;

    a = a < -big ? big : a < 0 ? -a : a < big ? a : big;
    return n > 0 && move[0].stride.unit != AXE_UNIT_ONE ? 2 * big + a : a;
}

/* The digit of weight 1 behind the others of its variable: where an operand
 * leaves its tensor is decided there. */
static void
units_last(int n, axe_digit *all)
{
    for (int i = 0; i < n; i++)
        for (int j = n - 1; j > i && all[i].weight == 1; j--)
            if (all[j].var == all[i].var) {
                axe_digit t = all[i];
                memmove(&all[i], &all[i + 1], (size_t)(j - i) * sizeof t);
                all[j] = t;
                i--;
                break;
            }
}

void
axe_map_order(planner *p, const request *r, axe_nest *nest,
              const axe_schedule *s, bool by_stride, const axe_var *last2,
              const axe_var *last)
{
    axe_digit *all = axe_new_array(p->cx, axe_digit, 64 * (nest->n_dim + 1));
    int        n = 0;

    for (int i = 0; i < nest->n_dim; i++) {
        axe_digit *d;
        int        k;
        int64_t    step = step_of(s, nest->dim[i].var);
        if (!axe_plan_cut(p, r, &nest->dim[i], 1, &step, &k, &d)) {
            all[n++] =
                (axe_digit){nest->dim[i].var, 1, axe_dim_extent(&nest->dim[i])};
            continue;
        }
        for (int j = 0; j < k; j++)
            if (d[j].weight >= step)
                all[n++] = d[j];
    }
    for (int i = 1; i < n && by_stride; i++)
        for (int j = i; j > 0 && weight_of(p, &r->operand[0], &all[j - 1]) <
                                     weight_of(p, &r->operand[0], &all[j]);
             j--) {
            axe_digit t = all[j];
            all[j] = all[j - 1];
            all[j - 1] = t;
        }
    for (int pass = 0; pass < 2; pass++) {
        const axe_var *v = pass == 0 ? last2 : last;
        for (int i = 0; i < n; i++)
            if (v && all[i].var == v && all[i].weight == step_of(s, v)) {
                axe_digit t = all[i];
                memmove(&all[i], &all[i + 1], (size_t)(n - 1 - i) * sizeof t);
                all[n - 1] = t;
                break;
            }
    }
    units_last(n, all);
    nest->n_digit = n;
    nest->digit = all;
}
