/* map_order.c - in which order a map's loops run. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* [bytes] Rows of a source this far apart share neither lines nor, soon, pages;
 * runs up to this length leave part of a line, or of a page, for later.  Rows
 * that far apart may meet in one set of the first-level cache: as many as it
 * has ways. */
enum { FAR = 512, SHORT_RUN = 64, ROWS = 8 };

/* The weight of the variable's fastest digit. */
static int64_t
step_of(const axe_schedule *s, const axe_var *v)
{
    return v == s->core->word_var ? s->core->word : 1;
}

/* Larger is further out. */
static int64_t
weight_of(axe_planner *p, const axe_operand *dst, const axe_digit *d)
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

/* What a digit moves an operand by, if that is one stride. */
static bool
one_stride(axe_planner *p, const axe_operand *op, const axe_digit *d,
           axe_stride *out)
{
    axe_move *m = axe_new_array(p->cx, axe_move, axe_operand_n_iter(op) + 1);

    if (axe_operand_moves(op, d, m) != 1 || m[0].over != 1 || m[0].extent != 0)
        return false;
    *out = m[0].stride;
    return true;
}

/* Does the operand come in runs along `run`, which `next` continues, from rows
 * that `row` steps through? */
static bool
in_short_runs(axe_planner *p, const axe_operand *op, const axe_digit *next,
              const axe_digit *row, const axe_digit *run)
{
    int64_t    bytes = axe_type_table[op->tensor->type].bits / 8;
    axe_stride by[3];

    return op->tensor->space == AXE_SPACE_GLOBAL && !op->tensor->packed &&
           run->extent * bytes <= SHORT_RUN &&
           one_stride(p, op, next, &by[0]) && one_stride(p, op, row, &by[1]) &&
           one_stride(p, op, run, &by[2]) && by[0].unit == AXE_UNIT_ONE &&
           by[2].unit == AXE_UNIT_ONE && by[2].coef == 1 &&
           by[0].coef == run->extent &&
           (by[1].unit != AXE_UNIT_ONE || by[1].coef * bytes >= FAR);
}

/* Where the loops are next, row, run and a row is long, all rows would be gone
 * through for one run of each, and their lines and pages be gone when the next
 * runs are wanted: a few rows at a time, so that the order is
 *
 *     row / ROWS, next, row % ROWS, run
 *
 * and lines of the destination are still written whole. */
static int
few_rows_at_a_time(axe_planner *p, const axe_request *r, int n, axe_digit *all)
{
    bool       wanted = false;
    axe_digit *d = all + n - 3;

    if (n < 3 || d[0].var != d[2].var || d[1].var == d[2].var ||
        d[0].weight != d[2].extent || d[1].weight != 1 || d[1].extent <= ROWS ||
        d[1].extent % ROWS != 0)
        return n;
    for (int i = 1; i < r->n_operand; i++)
        wanted =
            wanted || in_short_runs(p, &r->operand[i], &d[0], &d[1], &d[2]);
    if (!wanted)
        return n;
    d[3] = d[2];
    d[2] = (axe_digit){d[1].var, 1, ROWS};
    axe_digit outer = {d[1].var, ROWS, d[1].extent / ROWS};
    d[1] = d[0];
    d[0] = outer;
    return n + 1;
}

void
axe_map_order(axe_planner *p, const axe_request *r, axe_nest *nest,
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
    if (s->kind == AXE_SCHED_MAP)
        n = few_rows_at_a_time(p, r, n, all);
    nest->n_digit = n;
    nest->digit = all;
}
