/* enumerate.c - all ways to run a product on a thread group.
 *
 * A candidate is a row of the table with its parameter and an arrangement of
 * the thread group over rows and columns: that of c, or, where c is open,
 * any. */
#include "machine/thread_rows.h"
#include "plan/access/access.h"
#include "plan/simt/contract/product.h"

/* ------------------------------------------------------------- arrangements */

/* The thread group as wm x wn groups, of lm x ln lanes each where an atom is
 * one thread's; a thread's neighbouring columns come by `v`. */
typedef struct arrangement {
    int64_t wm, wn, lm, ln, v;
} arrangement;

static axe_axis
warp_axis(const axe_product *j)
{
    axe_iter own[2];
    int      n = axe_threads_axes(j->p->simt, j->threads, own);

    return n == 2 ? own[0].axis : j->p->simt->warp;
}

/* Rows slow to fast: warps, repetitions, lanes; columns the same, and then
 * neighbours. */
static bool
arrange(const axe_product *j, const arrangement *r, axe_candidate *by)
{
    int64_t  em = j->extent[0] / by->m.atom, en = j->extent[1] / by->n.atom;
    int64_t  rm = em / (r->wm * r->lm), rn = en / (r->wn * r->ln);
    axe_axis warp = warp_axis(j), lane = j->p->simt->lane,
             reg = axe_product_sums_axis(j);
    const axe_iter it[] = {
        {r->wm, r->wn, warp, AXE_UNIT_ONE},   {rm, rn, reg, AXE_UNIT_ONE},
        {r->lm, r->ln, lane, AXE_UNIT_ONE},   {r->wn, 1, warp, AXE_UNIT_ONE},
        {rn / r->v, r->v, reg, AXE_UNIT_ONE}, {r->ln, 1, lane, AXE_UNIT_ONE},
        {r->v, 1, reg, AXE_UNIT_ONE},
    };
    axe_iter kept[AXE_LEN(it)];
    int      n = 0, end[2];

    if (em % (r->wm * r->lm) != 0 || en % (r->wn * r->ln * r->v) != 0)
        return false;
    for (int i = 0; i < AXE_LEN(it); i++) {
        if (it[i].extent > 1)
            kept[n++] = it[i];
        if (i == 2)
            end[0] = n;
    }
    end[1] = n;
    axe_layout spec = {.n_shard = n, .shard = kept, .n_dim = 2, .dim_end = end};
    return axe_layout_make(j->p->cx, &spec, &by->outer) == AXE_OK;
}

/* Has a thread registers for the sums? */
static bool
has_registers(axe_product *j, const axe_candidate *by)
{
    int64_t n = axe_candidate_registers(j, by);

    if (n <= axe_simt_registers(j->p->mc, j->threads))
        return true;
    if (j->regs == 0 || n < j->regs)
        j->regs = n;
    return false;
}

/* Into the list if it matches. */
static void
consider(axe_product *j, axe_candidate *by, const axe_layout *c)
{
    axe_mark m = axe_ctx_mark(j->p->cx);

    if (axe_candidate_match(j, by, c) && (c || has_registers(j, by))) {
        axe_candidate_judge(j, by);
        axe_candidate_add(j->p->cx, &j->list, by);
    } else
        axe_ctx_release(j->p->cx, m);
}

/* All ways to lay the thread group over rows and columns. */
static void
try_arrangements(axe_product *j, axe_candidate *by)
{
    int64_t groups = axe_product_groups(j, by->atom);
    int64_t each = axe_product_lanes(j, by->atom);

    for (int64_t wm = groups; wm > 0; wm--)
        for (int64_t lm = 1; lm <= each; lm++) {
            arrangement r = {wm, groups / wm, lm, each / lm, 1};
            if (groups % wm != 0 || each % lm != 0)
                continue;
            if (each > 1)
                r.v = axe_simt_vector(j->p->mc, by->atom->type[0]);
            if (arrange(j, &r, by))
                consider(j, by, NULL);
            if (r.v > 1) {
                r.v = 1;
                if (arrange(j, &r, by))
                    consider(j, by, NULL);
            }
        }
}

static void
try_row(axe_product *j, const axe_atom *a, int param, const axe_layout *c)
{
    axe_candidate by;
    axe_mark      m = axe_ctx_mark(j->p->cx);

    if (!axe_candidate_read(j, a, param, &by) ||
        !axe_candidate_is_whole(j, &by)) {
        axe_ctx_release(j->p->cx, m);
        return;
    }
    if (j->rate == 0 || axe_candidate_rate(j, &by) < j->rate)
        j->rate = axe_candidate_rate(j, &by);
    if (c)
        consider(j, &by, c);
    else
        try_arrangements(j, &by);
}

/* Is the row, where it takes least at once, the fastest yet? */
static void
note_best(axe_product *j, const axe_atom *a)
{
    axe_candidate by;
    axe_mark      m = axe_ctx_mark(j->p->cx);

    if (axe_candidate_read(j, a, a->step > 0 ? a->lo : 1, &by) &&
        (!j->best.atom || axe_candidate_rate(j, &by) < j->best.rate))
        j->best = (axe_best_row){
            a, axe_candidate_rate(j, &by), {by.m.atom, by.n.atom, by.k.atom}};
    axe_ctx_release(j->p->cx, m);
}

void
axe_product_enumerate(axe_product *j, const axe_layout *c)
{
    const axe_tensor *t = j->load[0]->u.tensor;
    const axe_atom   *a;

    j->rate = 0;
    j->list.n = 0;
    if (!c) {
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < j->n_dim[side]; i++)
                j->folds[side] +=
                    axe_fold_cycles(j->p, t, axe_product_dim(j, side, i));
    }
    for (int i = 0; (a = axe_product_row(j->p->mc, &i)) != NULL;) {
        if (!axe_product_takes(j, a))
            continue;
        note_best(j, a);
        if (a->step == 0)
            try_row(j, a, 1, c);
        for (int p = a->lo; a->step > 0 && p <= a->hi; p += a->step)
            if (j->extent[1] % p == 0 || j->extent[0] % p == 0)
                try_row(j, a, p, c);
    }
}

void
axe_products_drop_slow(axe_product j[2])
{
    double rate = j[0].rate;

    if (rate == 0 || (j[1].rate > 0 && j[1].rate < rate))
        rate = j[1].rate;
    for (int k = 0; k < 2; k++) {
        int n = 0;
        for (int i = 0; i < j[k].list.n; i++)
            if (j[k].s->slow || axe_candidate_rate(&j[k], j[k].list.of[i]) <=
                                    AXE_FAR_BELOW * rate)
                j[k].list.of[n++] = j[k].list.of[i];
        j[k].n_slow = j[k].list.n - n;
        j[k].list.n = n;
    }
}
