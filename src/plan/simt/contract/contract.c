/* contract.c - sums of products by a thread group: layouts, then the schedule.
 *
 * Candidates come best first (enumerate.c, match.c, judge.c); the first whose
 * factors can be fed (factor.c) is taken, and proved (prove.c).  Open tiles get
 * the layouts it wants: c by tiling, shared tiles the layout that it reads in
 * the fewest cycles among those that are filled by rows. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/simt/contract/contract_int.h"
#include "plan/simt/contract/product.h"
#include "plan/simt/team/cta_pair.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/scale.h"

enum {
    MAX_TRY = 24,
    MAX_GOOD = 12,
    MAX_OTHER = 3
}; /* candidates: looked at, taken on */

/* ---------------------------------------------------------------- inference */

/* How c lies, over rows and columns; NULL: it is open. */
static const axe_layout *
sums_now(const axe_product *j)
{
    return axe_product_by_sides(j, j->p->place[j->s->dst->u.tensor->id].layout);
}

static const axe_layout *
row_major(const axe_product *j, const axe_tensor *t)
{
    const axe_layout *l;
    int64_t          *e = axe_new_array(j->p->cx, int64_t, t->rank + 1);

    for (int d = 0; d < t->rank; d++)
        if (!axe_is_iconst(t->shape[d], &e[d]))
            return NULL;
    return axe_layout_row_major(j->p->cx, (axe_shape){t->rank, e}, &l) == AXE_OK
               ? l
               : NULL;
}

/* What tiles are open, and the best layouts of them so far. */
typedef struct choice {
    bool                 open[3], scale[2];
    const axe_layout    *layout[3];
    const axe_candidate *by;
    double               score; /* of the cycles that factors really take */
} choice;

static void
put_layouts(const axe_product *j, const choice *c,
            const axe_layout *const layout[3])
{
    for (int i = 0; i < 3; i++)
        if (c->open[i])
            j->p->place[j->load[i]->u.tensor->id].layout = layout[i];
}

/* Lays out what is open for the candidate; keeps it in `best` if it is. */
static bool
try_candidate(const axe_product *j, const axe_candidate *by, choice *best)
{
    const axe_layout *l[3];
    axe_place        *pl = j->p->place;
    axe_candidate     real = *by;
    double            cycles[3];

    l[0] = axe_product_by_dims(j, axe_candidate_layout(j, by));
    for (int i = 1; i < 3; i++)
        l[i] = row_major(j, j->load[i]->u.tensor);
    if ((best->open[0] && !l[0]) || !axe_scales_put(j, best->scale, by))
        return false;
    put_layouts(j, best, l);
    for (int i = 1; i < 3; i++)
        if (!axe_factor_lay(j, by, i, best->open[i], &cycles[i]))
            return false;
    real.traffic = cycles[1] + cycles[2];
    real.score = axe_candidate_score(&real);
    if (best->by && real.score >= best->score)
        return true;
    best->score = real.score;
    best->by = by;
    for (int i = 0; i < 3; i++)
        best->layout[i] = pl[j->load[i]->u.tensor->id].layout;
    return true;
}

/* The candidates that are not surely worse than the best one found: what they
 * really take may be less than thought by what loads were thought to cost. */
static void
try_candidates(const axe_product *j, choice *best)
{
    static const axe_layout *const none[3] = {NULL, NULL, NULL};
    int                            n_good = 0;

    for (int i = 0; i < j->list.n && i < MAX_TRY && n_good < MAX_GOOD; i++)
        if (!best->by || j->list.of[i]->score < AXE_ASKING * best->score)
            n_good += try_candidate(j, j->list.of[i], best);
    put_layouts(j, best, none);
    (void)axe_scales_put(j, best->scale, NULL);
}

/* Layouts in the order of the statement's c, left and right. */
static void
settle(axe_planner *p, const axe_stmt *s, const choice *c, const axe_product *j)
{
    put_layouts(j, c, c->layout);
    for (int i = 0; i < 3; i++)
        if (c->open[i])
            p->place[j->load[i]->u.tensor->id].why =
                axe_textf(p->cx, "auto: for %s of statement %d",
                          c->by->atom->name, s->id);
    axe_scales_settle(j, c->scale, c->by);
}

/* Rows and columns as they are, and the other way; false: it is no product. */
static bool
open_both(axe_planner *p, const axe_stmt *s, axe_request *r, axe_product j[2])
{
    for (int swapped = 0; swapped < 2; swapped++) {
        if (!axe_product_open(p, s, swapped == 1, &j[swapped]))
            return false;
        j[swapped].r = r;
        for (int i = 1; swapped == 1 && i < 3; i++)
            j[1].spot[i] = j[0].spot[3 - i];
    }
    return true;
}

bool
axe_simt_contract_infer(axe_planner *p, const axe_stmt *s)
{
    axe_product j[2];
    choice      best[2] = {{.by = NULL}, {.by = NULL}};
    int         pick = 0;

    if (!open_both(p, s, NULL, j))
        return false;
    for (int swapped = 0; swapped < 2; swapped++) {
        if (!axe_product_possible(&j[swapped]))
            return false;
        for (int i = 0; i < 3; i++)
            best[swapped].open[i] =
                axe_simt_is_open(p, j[swapped].load[i]->u.tensor);
        axe_scales_open(&j[swapped], best[swapped].scale);
        axe_product_enumerate(
            &j[swapped], best[swapped].open[0] ? NULL : sums_now(&j[swapped]));
    }
    axe_products_drop_slow(j);
    for (int swapped = 0; swapped < 2; swapped++)
        try_candidates(&j[swapped], &best[swapped]);
    if (!best[0].by || (best[1].by && best[1].score < 0.9 * best[0].score))
        pick = 1;
    if (!best[pick].by)
        return false;
    settle(p, s, &best[pick], &j[pick]);
    return true;
}

/* ----------------------------------------------------------------- schedule */

static void
acc_steps(const axe_spread *s, axe_simt_contract *out)
{
    for (int i = 0; i < s->n_part; i++)
        if (s->part[i].regs > 0)
            out->acc[out->n_acc++] =
                (axe_step){s->part[i].of, s->part[i].over, s->part[i].extent,
                           s->part[i].regs};
}

/* A core looks ahead itself.  But where each item is a warp, who makes vectors
 * of items wants to see their steps written out. */
static bool
is_ahead(const axe_simt *m)
{
    return !m->on_core || m->lanes == 1;
}

static bool
plan_candidate(const axe_product *j, const axe_candidate *by,
               axe_simt_contract *out, const char **why)
{
    double cycles[2];

    *out = (axe_simt_contract){.atom = by->atom,
                               .param = by->param,
                               .m = by->m,
                               .n = by->n,
                               .k = by->k,
                               .pair = by->pair,
                               .compute = by->compute,
                               .ahead = is_ahead(j->p->mc->simt),
                               .best = j->best};
    if (!axe_factor_feed(j, by, 1, &out->a, &cycles[0], why) ||
        !axe_factor_feed(j, by, 2, &out->b, &cycles[1], why))
        return false;
    out->a.operand = axe_find_operand(j->r, j->load[1]);
    out->b.operand = axe_find_operand(j->r, j->load[2]);
    for (int i = 0; i < 2 && j->scale[i]; i++)
        if (!axe_scale_fit(j, by, i + 1, &out->scale[i], why))
            return false;
    out->traffic = cycles[0] + cycles[1];
    acc_steps(&by->m, out);
    acc_steps(&by->n, out);
    if (by->atom->space[0] == AXE_ARG_REG)
        out->acc_regs =
            axe_frag_regs(j->p->cx, by->side[0]) * by->m.n_rep * by->n.n_rep;
    return true;
}

/* Registers that a feed takes. */
static int
feed_registers(const axe_factor *f, axe_type t)
{
    if (f->held)
        return (int)(f->regs * axe_type_table[t].bits / AXE_WORD_BITS);
    return f->direct
               ? 4
               : (int)(2 * f->regs * axe_type_table[t].bits / AXE_WORD_BITS);
}

/* What other rows would take, at their best, with c laid out for them. */
static void
reject_others(const axe_product *j, const axe_simt_contract *sc)
{
    axe_product     all = *j;
    const axe_atom *seen[MAX_OTHER + 1] = {sc->atom};
    int             n = 1;

    axe_product_enumerate(&all, NULL);
    for (int i = 0; i < all.list.n && n <= MAX_OTHER; i++) {
        const axe_candidate *by = all.list.of[i];
        bool                 known = false;
        for (int k = 0; k < n; k++)
            known = known || seen[k] == by->atom;
        if (known)
            continue;
        seen[n++] = by->atom;
        axe_rejected(j->p, j->r, by->atom->name,
                     "about %.0f cycles, %.0f of shared memory, where it takes "
                     "%.0f and %.0f",
                     by->compute, by->traffic, sc->compute, sc->traffic);
    }
}

/* Fills in the schedule with a candidate that fits. */
static void
take(const axe_product *j, const axe_candidate *by, const axe_simt_contract *sc,
     axe_schedule *out)
{
    axe_simt_schedule *simt = j->p->simt->of[j->s->id];
    const char        *why;

    assert(axe_simt_contract_holds(j->p, j, by, sums_now(j), sc));
    reject_others(j, sc);
    if (sc->pair == 1 && axe_product_is_tmem(j, 0) &&
        (why = axe_product_unpaired(j)))
        axe_rejected(j->p, j->r, "products of several CTAs", "%s", why);
    out->n_tile = 3;
    out->n_proved = j->extent[0] * j->extent[1] * j->extent[2];
    out->cycles = sc->compute > sc->traffic ? sc->compute : sc->traffic;
    simt->contract = sc;
    simt->n_register =
        (int)(sc->acc_regs * axe_type_table[j->type[0]].bits / AXE_WORD_BITS) +
        feed_registers(&sc->a, j->type[1]) + feed_registers(&sc->b, j->type[2]);
}

/* Has each element of c a place of its own in tensor memory? */
static bool
is_placed(const axe_product *j, const axe_layout *c)
{
    bool own_place;

    for (int i = 0; i < c->n_shard; i++)
        if (c->shard[i].axis != j->p->simt->tlane &&
            c->shard[i].axis != j->p->simt->tcol)
            return false;
    return c->n_replica == 0 && c->n_offset == 0 &&
           axe_layout_injective(j->p->cx, c, &own_place, NULL) == AXE_OK &&
           own_place;
}

/* Does each thread of the group have as many elements of c, each its own? */
static bool
is_shared_out(const axe_product *j, const axe_layout *c)
{
    axe_ctx       *cx = j->p->cx;
    axe_simt_plan *sp = j->p->simt;
    axe_iter       own[2];
    int            n = axe_threads_axes(sp, j->threads, own);
    int64_t        regs = axe_frag_regs(cx, c), far;
    bool           own_place;

    for (int i = 0; i < n; i++)
        if (axe_layout_cosize(cx, c, own[i].axis, &far) != AXE_OK ||
            far > own[i].extent)
            return false;
    return c->n_replica == 0 && c->n_offset == 0 &&
           c->size == j->threads->n_thread * regs &&
           axe_layout_injective(cx, c, &own_place, NULL) == AXE_OK && own_place;
}

/* The first candidate that can be fed. */
static bool
plan_product(const axe_product *j, axe_schedule *out)
{
    axe_simt_contract *sc = axe_new(j->p->cx, axe_simt_contract);
    const axe_tensor  *t = j->s->dst->u.tensor;
    const axe_layout  *c = j->p->place[t->id].layout;
    bool               tmem = axe_product_is_tmem(j, 0);
    const char        *why;

    if (tmem ? !is_placed(j, c) : j->list.n > 0 && !is_shared_out(j, c)) {
        axe_rejected(j->p, j->r, "contract",
                     tmem ? "%s has not a place in tensor memory for each "
                            "element"
                          : "%s does not lie as an equal share of each thread",
                     t->name);
        return false;
    }
    for (int i = 0; i < j->list.n && i < MAX_TRY; i++) {
        if (plan_candidate(j, j->list.of[i], sc, &why)) {
            take(j, j->list.of[i], sc, out);
            return true;
        }
        axe_rejected(j->p, j->r, j->list.of[i]->atom->name, "%s", why);
    }
    return false;
}

/* Whichever way is better. */
bool
axe_simt_contract_plan(axe_planner *p, axe_request *r, axe_schedule *out)
{
    axe_product j[2];
    int         first = 0;

    if (!open_both(p, r->stmt, r, j)) {
        axe_scale_reject(p, r);
        return false;
    }
    for (int swapped = 0; swapped < 2; swapped++) {
        if (!axe_product_possible(&j[swapped])) {
            axe_rejected(p, r, "contract", "%s", j[swapped].why);
            return false;
        }
        axe_product_enumerate(&j[swapped], sums_now(&j[swapped]));
    }
    axe_products_drop_slow(j);
    if (j[0].list.n + j[1].list.n == 0)
        axe_products_reject(j);
    if (j[1].list.n > 0 &&
        (j[0].list.n == 0 || j[1].list.of[0]->score < j[0].list.of[0]->score))
        first = 1;
    return plan_product(&j[first], out) || plan_product(&j[1 - first], out);
}
