/* shuffle.c - an operand in registers of other lanes.
 *
 * Who has which element is the tile's layout; who wants which in which
 * iteration is the work.  Both as tables of threads and registers; where no
 * warp wants what another has, and all want alike, rounds of a PERMUTE row
 * bring it (rounds.c). A lane gives another register than its
 * neighbour, and puts what it gets elsewhere, by selects.  That is compared
 * with what shared memory costs: all of the tile stored, a barrier, and what is
 * wanted loaded.
 *
 * Elements shorter than a word travel as words where their neighbours travel
 * with them, else one by one as the type that the machine computes in, which
 * has all their values. */
#include "plan/simt/map/shuffle.h"

#include "machine/thread_rows.h"
#include "plan/access/access.h"
#include "plan/simt/map/map.h"
#include <string.h>

enum { MAX_DIGIT = 64, NOBODY = -1 };

typedef struct attempt {
    axe_planner       *p;
    const axe_request *r;
    const axe_work    *w;
    const axe_operand *op;
    const axe_layout  *layout;
    int                n_thread, lanes, n_have, n_want;
    int64_t           *have, *want;     /* [n_thread][...] elements by number */
    int64_t            begin;           /* element where all digits are 0 */
    int64_t            step[MAX_DIGIT]; /* by digit of the work */
    int64_t          iteration[MAX_DIGIT]; /* what it is in slots; 0: nothing */
    axe_simt_shuffle out;
} attempt;

/* ------------------------------------------------------------------- tables */

/* The element as begin + sum step * digit; false if it moves with loops. */
static bool
find_steps(attempt *a)
{
    const axe_tensor *t = a->op->tensor;
    int64_t           full = 1;

    for (int d = t->rank - 1; d >= 0; d--) {
        axe_affine in;
        int64_t    e;
        if (!axe_subscript_of(a->p->cx, a->op->load->arg[d], &in) ||
            !axe_is_iconst(t->shape[d], &e))
            return false;
        for (int k = 0; k < in.n; k++)
            if (in.var[k]->kind != AXE_VAR_INDEX)
                return false;
        a->begin += in.constant * full;
        for (int i = 0; i < a->w->n_digit; i++)
            a->step[i] += axe_affine_coef(&in, a->w->digit[i].of.var) *
                          a->w->digit[i].of.weight * full;
        full *= e;
    }
    return true;
}

/* Iterations that tell the operand's elements apart, the last digit fastest. */
static bool
find_iterations(attempt *a)
{
    a->n_want = 1;
    for (int i = a->w->n_digit - 1; i >= 0; i--) {
        const axe_work_digit *d = &a->w->digit[i];
        if (!axe_operand_depends(a->op, d->of.var))
            continue;
        if (d->axis == AXE_AXIS_M)
            return false;
        if (d->axis != a->p->simt->reg)
            continue;
        a->iteration[i] = a->n_want;
        if (d->of.extent > AXE_ROUND_SLOTS / a->n_want)
            return false;
        a->n_want *= (int)d->of.extent;
    }
    return true;
}

static int64_t
digit_at(const attempt *a, int i, int thread, int slot)
{
    const axe_work_digit *d = &a->w->digit[i];

    if (d->axis == a->p->simt->reg)
        return a->iteration[i] ? slot / a->iteration[i] % d->of.extent : 0;
    return (d->axis == a->p->simt->lane ? thread % a->lanes
                                        : thread / a->lanes) /
           d->stride % d->of.extent;
}

/* The element that the thread wants there; NOBODY behind an index's end, and
 * outside of the tile, where a condition rules it out. */
static int64_t
wanted(const attempt *a, int thread, int slot)
{
    int64_t at = a->begin;

    for (int i = 0; i < a->w->n_digit; i++) {
        const axe_var *v = a->w->digit[i].of.var;
        int64_t        all = 0;
        if (!axe_operand_depends(a->op, v))
            continue;
        at += a->step[i] * digit_at(a, i, thread, slot);
        for (int k = 0; k < a->w->n_digit; k++)
            if (a->w->digit[k].of.var == v)
                all += a->w->digit[k].of.weight * digit_at(a, k, thread, slot);
        if (all >= axe_dim_extent(axe_request_dim(a->r, v)))
            return NOBODY;
    }
    return at >= 0 && at < a->layout->size ? at : NOBODY;
}

static bool
make_tables(attempt *a)
{
    int64_t n;

    if (!find_steps(a) || !find_iterations(a) ||
        axe_layout_cosize(a->p->cx, a->layout, a->p->simt->reg, &n) != AXE_OK ||
        n > AXE_ROUND_SLOTS)
        return false;
    a->n_have = (int)n;
    a->have =
        axe_new_array(a->p->cx, int64_t, (int64_t)a->n_thread * a->n_have);
    a->want =
        axe_new_array(a->p->cx, int64_t, (int64_t)a->n_thread * a->n_want);
    for (int t = 0; t < a->n_thread; t++)
        for (int s = 0; s < a->n_want; s++)
            a->want[t * a->n_want + s] = wanted(a, t, s);
    return axe_simt_hold(a->p, a->layout, a->n_thread, a->n_have, a->have);
}

/* -------------------------------------------------------------------- words */

/* The words of `pack` registers that begin at each element, in order; false if
 * two begin alike and go on differently. */
static bool
list_words(const attempt *a, int pack, const int64_t **of)
{
    for (int k = 0; k < a->n_thread * a->n_have; k += pack) {
        const int64_t *x = a->have + k, **w = x[0] < 0 ? NULL : &of[x[0]];
        for (int i = 0; i < pack; i++)
            if (x[i] < 0)
                return false;
        if (*w && memcmp(*w, x, (size_t)pack * sizeof *x) != 0)
            return false;
        *w = x;
    }
    return true;
}

/* Does every word that is wanted lie in one? */
static bool
finds_words(const attempt *a, int pack, const int64_t *const *of)
{
    for (int k = 0; k < a->n_thread * a->n_want; k += pack) {
        const int64_t *x = a->want + k;
        if (x[0] < 0 || !of[x[0]] ||
            memcmp(of[x[0]], x, (size_t)pack * sizeof *x) != 0)
            return false;
    }
    return true;
}

static int
keep_first(int n, int pack, int64_t *x)
{
    for (int i = 0; i < n / pack; i++)
        x[i] = x[i * pack];
    return n / pack;
}

/* What travels: whole words, or elements that are as long. */
static bool
choose_words(attempt *a, axe_type t)
{
    int bits = axe_type_table[t].bits;
    int pack = bits > 0 && bits < AXE_WORD_BITS ? AXE_WORD_BITS / bits : 1;
    const int64_t **of =
        axe_new_array(a->p->cx, const int64_t *, a->layout->size + 1);

    a->out.type = t;
    a->out.pack = 1;
    if (pack > 1 && bits >= 8 && a->n_have % pack == 0 &&
        a->n_want % pack == 0 && list_words(a, pack, of) &&
        finds_words(a, pack, of)) {
        a->out.pack = pack;
        keep_first(a->n_thread * a->n_have, pack, a->have);
        keep_first(a->n_thread * a->n_want, pack, a->want);
        a->n_have /= pack;
        a->n_want /= pack;
    } else if (pack > 1 && axe_compute_type(a->p->cx, a->p->mc, AXE_NOWHERE, t,
                                            &a->out.type) != AXE_OK)
        return false;
    a->out.n_reg = a->n_have;
    a->out.n_slot = a->n_want;
    return axe_type_table[a->out.type].bits >= AXE_WORD_BITS || a->out.pack > 1;
}

/* --------------------------------------------------------------------- rows */

static bool
choose_rows(attempt *a)
{
    int               bits = axe_type_table[a->out.type].bits * a->out.pack;
    axe_shuffle_step *step;

    if (!axe_rounds_rows(a->p->cx, a->p->mc, bits, &a->out.rounds, &step,
                         &a->out.cost))
        return false;
    a->out.step = step;
    return true;
}

/* --------------------------------------------------------------------- cost */

static void
count_selects(attempt *a)
{
    a->out.n_select = axe_rounds_selects(a->lanes, a->n_want, &a->out.rounds);
    a->out.cost += AXE_SELECT_CYCLES * a->out.n_select;
}

/* Of n elements of a thread, in the widest rows that they fill. */
static double
cost_of_moves(const attempt *a, bool store, axe_type t, int n)
{
    int most = axe_simt_vector(a->p->mc, t), param;

    for (int w = most; w > 0; w /= 2) {
        const axe_atom *row =
            n % w != 0 ? NULL
            : store
                ? axe_simt_find_move(a->p->cx, a->p->mc, AXE_ATOM_STORE,
                                     AXE_ARG_SHARED, AXE_ARG_REG, t, w, &param)
                : axe_simt_find_move(a->p->cx, a->p->mc, AXE_ATOM_LOAD,
                                     AXE_ARG_REG, AXE_ARG_SHARED, t, w, &param);
        if (row)
            return row->cost * (n / w);
    }
    return 0;
}

/* By way of shared memory: no bank waits, nothing is in the way. */
static double
cost_of_trip(const attempt *a, axe_type t)
{
    const axe_atom *barrier = axe_simt_find_sync(
        a->p->mc, AXE_SYNC_BARRIER,
        a->p->simt->who[a->r->stmt->id]->scope == AXE_SCOPE_WARP
            ? AXE_SCOPE_WARP
            : AXE_SCOPE_CTA,
        "", AXE_ARG_NONE, AXE_ARG_NONE);

    return cost_of_moves(a, true, t, a->n_have * a->out.pack) +
           cost_of_moves(a, false, t, a->n_want * a->out.pack) +
           (barrier ? barrier->cost : 0);
}

/* -------------------------------------------------------------- certificate */

/* Does every thread of every warp get what it wants? */
static bool
certify(const attempt *a, int64_t *n_proved)
{
    const axe_rounds *r = &a->out.rounds;

    for (int t = 0; t < a->n_thread; t++)
        for (int s = 0; s < a->n_want; s++) {
            int            lane = t % a->lanes, from = lane, reg;
            int64_t        want = a->want[t * a->n_want + s];
            axe_round_from f = r->slot[lane * a->n_want + s];
            if (want < 0)
                continue;
            if (f.round == -2)
                return false;
            reg = f.reg;
            if (f.round >= 0) {
                from = r->round[f.round].from[lane];
                reg = r->round[f.round].reg[from];
            }
            if (a->have[(t - lane + from) * a->n_have + reg] != want)
                return false;
            ++*n_proved;
        }
    return true;
}

static bool
plan(attempt *a, int64_t *n_proved)
{
    const axe_simt_plan    *sp = a->p->simt;
    const axe_thread_group *threads = sp->who[a->r->stmt->id];
    const axe_place        *pl = &a->p->place[a->op->tensor->id];

    a->lanes = sp->lanes;
    a->n_thread = threads->n_thread;
    a->layout = pl->layout;
    return threads->n_thread % sp->lanes == 0 &&
           sp->owner[a->op->tensor->id] == threads &&
           a->w->n_digit <= MAX_DIGIT && make_tables(a) &&
           choose_words(a, pl->type) &&
           axe_rounds_find(a->p->cx, a->lanes, a->n_have, a->have, a->n_want,
                           a->want, &a->out.rounds) &&
           certify(a, n_proved) && choose_rows(a);
}

void
axe_simt_shuffle_plan(axe_planner *p, const axe_request *r, const axe_work *w,
                      const axe_operand *op, const axe_simt_shuffle **out,
                      int64_t *n_proved)
{
    attempt          *a = axe_new(p->cx, attempt);
    axe_simt_shuffle *s;
    int64_t           n = 0;

    a->p = p;
    a->r = r;
    a->w = w;
    a->op = op;
    *out = NULL;
    if (!plan(a, &n))
        return;
    count_selects(a);
    a->out.trip = cost_of_trip(a, p->place[op->tensor->id].type);
    if (a->out.cost >= a->out.trip)
        return;
    s = axe_new(p->cx, axe_simt_shuffle);
    *s = a->out;
    *n_proved += n;
    *out = s;
}
