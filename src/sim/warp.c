/* warp.c - one warp, instruction by instruction, until it must wait. */
#include <inttypes.h>
#include <string.h>

#include "sim/bits.h"
#include "sim/sim_int.h"

/* ------------------------------------------------------------------- values */

static axe_lane_set
where(sim_warp *w, const sim_inst *in)
{
    const sim_val *v;
    axe_lane_set   on = 0;
    int            lanes = w->cta->s->lanes;

    if (!in->pred)
        return w->mask;
    v = axe_sim_eval(w, in->pred, w->mask, in);
    for (int l = 0; l < lanes; l++)
        on |= (axe_lane_set)(v->i[in->pred->lanes ? l : 0] != 0) << l;
    return on & w->mask;
}

/* Element i of what the instruction writes: where, and what. */
typedef struct computed {
    int64_t at[MAX_LANES];
    sim_val value;
} computed;

static void
put_computed(sim_warp *w, const sim_inst *in, int i, axe_lane_set mask,
             const computed *c)
{
    sim           *s = w->cta->s;
    const sim_arg *a = &in->arg[i];
    sim_array     *x = &w->array[a->tensor];

    if (!a->at->lanes &&
        !axe_sim_reg_check(s, w, in, a->tensor, c->at[0], mask, true))
        return;
    for (int l = 0; l < s->lanes; l++) {
        int      k = in->word[i]->lanes ? l : 0;
        uint8_t *to = x->bits + (c->at[l] * s->lanes + l) * x->size;
        if (!axe_sim_has(mask, l) ||
            (a->at->lanes && !axe_sim_reg_check(s, w, in, a->tensor, c->at[l],
                                                AXE_ONE_LANE(l), true)))
            continue;
        x->init[c->at[l]] |= AXE_ONE_LANE(l);
        if (axe_type_is_float(x->type))
            axe_sim_put(x->type, to, c->value.f[k]);
        else
            axe_number_put_int(x->type, to, c->value.i[k]);
    }
}

static void
calc(sim_warp *w, const sim_inst *in)
{
    axe_lane_set mask = where(w, in);
    computed     c[SIM_MAX_JOIN];

    for (int i = 0; mask && i < in->n_arg; i++) {
        axe_sim_eval_all(w, in->arg[i].at, mask, in, c[i].at);
        c[i].value = *axe_sim_eval(w, in->word[i], mask, in);
    }
    for (int i = 0; mask && i < in->n_arg; i++)
        put_computed(w, in, i, mask, &c[i]);
}

/* -------------------------------------------------------------------- atoms */

static void
operands(sim_warp *w, sim_call *c)
{
    const sim_inst *in = c->in;
    int64_t         rank[MAX_LANES];

    for (int i = 0; i < in->n_arg; i++) {
        const sim_arg *a = &in->arg[i];
        if (a->at)
            axe_sim_eval_all(w, a->at, c->mask, in, c->at[i]);
        if (a->unit)
            axe_sim_pieces(w, c, i);
        if (a->space == AXE_ARG_TMEM)
            axe_sim_tmem_base(w->cta->s, w, c);
        if (a->cta) {
            axe_sim_eval_all(w, a->cta, c->mask, in, rank);
            for (int l = 0; l < w->cta->s->lanes; l++)
                c->cta[i][l] = rank[l] >= 0 && rank[l] < 64 ? (int)rank[l] : -1;
        }
        for (int k = 0; k < a->n_at; k++)
            axe_sim_eval_all(w, a->coord[k], c->mask, in, c->coords[k]);
    }
}

static bool
is_collective(const axe_atom *a)
{
    return a->by == AXE_SCOPE_WARP || a->by == AXE_SCOPE_WARPGROUP ||
           a->by == AXE_SCOPE_CTA || a->by == AXE_SCOPE_CLUSTER;
}

/* Registers and numbers that one instruction names for all its lanes. */
static void
check_uniform(sim *s, const sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;

    for (int i = 0; i < c->in->n_arg; i++) {
        const sim_arg *a = &c->in->arg[i];
        bool           one =
            a->space == AXE_ARG_REG || a->space == AXE_ARG_TMEM ||
            (a->space == AXE_ARG_INT && atom->kind != AXE_ATOM_PERMUTE) ||
            (a->space == AXE_ARG_SHARED && atom->kind == AXE_ATOM_CONTRACT);
        for (int l = 1; l < s->lanes && one && a->at && a->at->lanes; l++)
            if (c->at[i][l] != c->at[i][0]) {
                axe_sim_find(s, AXE_SIM_UNIFORM, c->in, -1,
                             "operand %d is %lld for lane 0 of %s and %lld for "
                             "lane %d",
                             i, (long long)c->at[i][0],
                             axe_sim_agent_text(s, c->warp->agent),
                             (long long)c->at[i][l], l);
                return;
            }
    }
}

static void
check_addresses(sim *s, sim_warp *w, const sim_call *c)
{
    for (int i = 0; i < c->in->n_arg && s->checks; i++)
        if (c->in->arg[i].space == AXE_ARG_SHARED ||
            c->in->arg[i].space == AXE_ARG_DSMEM)
            axe_sim_check_address(s, w, c, i);
}

static void
check_collective(sim *s, const sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;

    if (!is_collective(atom))
        return;
    if (c->pred != s->all_lanes && (c->pred || atom->by != AXE_SCOPE_WARP))
        axe_sim_find(s, AXE_SIM_PARTIAL, c->in, -1,
                     "%s is there with lanes 0x%" PRIx64 " only",
                     axe_sim_agent_text(s, c->warp->agent), c->pred);
    if (s->checks)
        check_uniform(s, c);
}

static void
sync(sim *s, sim_warp *w, sim_call *c)
{
    if (c->in->shape->atom->by == AXE_SCOPE_WARPGROUP) {
        w->n_warpgroup++;
        w->warpgroup_at = c->in;
    }
    switch (c->in->shape->atom->sync) {
    case AXE_SYNC_ADMIT:
        return;
    case AXE_SYNC_PRIOR:
        w->prior |= c->pred;
        return;
    case AXE_SYNC_COMMIT:
        if (c->in->n_arg > 0)
            axe_sim_issue(s, w, c);
        else
            axe_sim_group(s, w, c);
        return;
    case AXE_SYNC_BUDGET:
        axe_sim_budget(s, w, c);
        return;
    case AXE_SYNC_ALLOC:
    case AXE_SYNC_FREE:
    case AXE_SYNC_BEFORE:
    case AXE_SYNC_AFTER:
        axe_sim_tmem_sync(s, w, c);
        return;
    case AXE_SYNC_TAKE:
    case AXE_SYNC_TAKEN:
        axe_sim_take(s, w, c);
        return;
    case AXE_SYNC_COUNT:
    case AXE_SYNC_PUT:
    case AXE_SYNC_REACH:
    case AXE_SYNC_SAME:
        axe_sim_counter(s, w, c);
        return;
    case AXE_SYNC_ARRIVE:
        if (c->in->shape->group >= 0)
            axe_sim_issue(s, w, c);
        else
            axe_sim_barrier(s, w, c);
        return;
    case AXE_SYNC_BARRIER:
    case AXE_SYNC_BEGIN:
    case AXE_SYNC_HALF:
    case AXE_SYNC_INIT:
    case AXE_SYNC_EXPECT:
    case AXE_SYNC_WAIT:
    case AXE_SYNC_INITED:
        axe_sim_barrier(s, w, c);
        return;
    default:
        axe_sim_group(s, w, c);
    }
}

/* A product of each thread's own. */
static void
fuse(sim_call *c)
{
    int              lanes = c->warp->cta->s->lanes;
    const sim_inst  *in = c->in;
    sim_array       *x = c->warp->array;
    const sim_array *d = &x[in->arg[0].tensor];
    axe_type         t = d->type;

    for (int l = 0; l < lanes; l++) {
        uint8_t *at[3];
        if (!axe_sim_has(c->pred, l))
            continue;
        for (int i = 0; i < 3; i++) {
            const sim_array *o = &x[in->arg[i].tensor];
            at[i] = o->bits + (c->at[i][l] * lanes + l) * o->size;
        }
        if (t == AXE_TYPE_f32) {
            float f[3];
            for (int i = 0; i < 3; i++)
                memcpy(&f[i], at[i], sizeof f[i]);
            f[0] = fmaf(f[1], f[2], f[0]);
            memcpy(at[0], &f[0], sizeof f[0]);
        } else if (t == AXE_TYPE_f64) {
            axe_sim_put(t, at[0],
                        fma(axe_sim_get(t, at[1]), axe_sim_get(t, at[2]),
                            axe_sim_get(t, at[0])));
        } else {
            uint64_t v = (uint64_t)axe_number_get_int(t, at[1]) *
                         (uint64_t)axe_number_get_int(t, at[2]);
            v += (uint64_t)axe_number_get_int(t, at[0]);
            axe_number_put_int(t, at[0], (int64_t)v);
        }
    }
    c->warp->cta->s->report->products += axe_sim_how_many(c->pred);
}

/* One element by one, all of the sums' type, at the same registers in all
 * lanes? */
static bool
is_single(const sim_call *c)
{
    const sim_product *p = c->in->shape->product;
    axe_type           t = c->warp->array[c->in->arg[0].tensor].type;
    bool               same = true;

    for (int i = 0; i < 3; i++) {
        const sim_arg *a = &c->in->arg[i];
        same = same && !a->at->lanes && c->warp->array[a->tensor].type == t;
    }
    return same && p->m * p->n * p->k == 1 && !axe_sim_is_fresh(c) &&
           (!axe_type_is_float(t) || t == AXE_TYPE_f32 || t == AXE_TYPE_f64);
}

static void
products(sim *s, sim_warp *w, sim_call *c)
{
    bool alone = c->in->shape->atom->by == AXE_SCOPE_THREAD;

    if (alone && is_single(c)) {
        if (!axe_sim_contract_inside(s, c))
            return;
        axe_sim_contract_check(s, c, w, 0);
        fuse(c);
        return;
    }
    for (c->lane = 0; c->lane < (alone ? s->lanes : 1); c->lane++) {
        if (alone && !axe_sim_has(c->pred, c->lane))
            continue;
        if (!axe_sim_contract_inside(s, c))
            return;
        if (s->checks && (!alone || c->lane == axe_sim_first(c->pred)))
            axe_sim_contract_check(s, c, w, 0);
        axe_sim_contract(s, c);
    }
}

/* Does it use what launches before may still use: global memory, or columns of
 * tensor memory?  A parameter that is one number is in no memory. */
static bool
is_shared(const sim *s, const sim_inst *in)
{
    const axe_atom *atom = in->shape->atom;

    if (atom->kind == AXE_ATOM_SYNC)
        return atom->sync == AXE_SYNC_ALLOC || axe_sim_is_counter(atom);
    for (int i = 0; i < in->n_arg; i++)
        if (in->arg[i].space == AXE_ARG_MAP ||
            (in->arg[i].space == AXE_ARG_GLOBAL &&
             !axe_is_scalar(s->global[in->arg[i].tensor].tensor)))
            return true;
    return false;
}

/* A launch that waits for those before it may begin while they run. */
static void
check_prior(sim *s, const sim_warp *w, const sim_call *c)
{
    axe_lane_set early = c->pred & ~w->prior;

    if (early && is_shared(s, c->in) &&
        !axe_sim_known(s, AXE_SIM_PRIOR, c->in, -1))
        axe_sim_find(s, AXE_SIM_PRIOR, c->in, -1,
                     "lanes 0x%" PRIx64
                     " of %s have not waited for the launches before "
                     "%s, which may still run",
                     early, axe_sim_agent_text(s, w->agent), s->g->name);
}

static void
atom(sim *s, sim_warp *w, const sim_inst *in)
{
    sim_call     *c = &s->call;
    axe_atom_kind kind = in->shape->atom->kind;

    c->in = in;
    c->warp = w;
    c->mask = w->mask;
    c->lane = 0;
    c->proxy = false;
    operands(w, c);
    c->pred = where(w, in);
    c->agent = c->ragent = w->agent;
    c->clock = w->clock;
    c->epoch = w->clock.vc[w->agent];
    c->met = w->met;
    c->deaf = w->deaf;
    if (!c->pred && !axe_atom_zeros(in->shape->atom))
        return;
    check_collective(s, c);
    check_addresses(s, w, c);
    check_prior(s, w, c);
    if (in->shape->atom->by != AXE_SCOPE_WARPGROUP ||
        (kind != AXE_ATOM_CONTRACT && w->id % s->group_warps == 0))
        *in->count += 1;
    if (s->trace)
        axe_sim_trace_before(s, w, c);
    if (kind == AXE_ATOM_SYNC)
        sync(s, w, c);
    else if (in->shape->async)
        axe_sim_issue(s, w, c);
    else if (kind == AXE_ATOM_CONTRACT)
        products(s, w, c);
    else
        axe_sim_move(s, c);
    if (s->trace)
        axe_sim_trace_after(s, w, c);
}

static void
execute(sim *s, sim_warp *w, const sim_inst *in)
{
    w->pc++;
    if (!w->mask)
        return;
    if (in->op == SIM_LET)
        axe_sim_assign(w, in->slot, in->a, in);
    else if (in->op == SIM_ADVANCE)
        axe_sim_advance(w, in);
    else if (in->op == SIM_CALC)
        calc(w, in);
    else
        atom(s, w, in);
}

void
axe_sim_warp_run(sim *s, sim_warp *w, int64_t most)
{
    int64_t n = 0;

    while (w->wait == SIM_RUN && n < most && !s->stop) {
        const sim_inst *in = &s->code->inst[w->pc];
        n++;
        if (s->trace)
            axe_sim_trace_inst(s, w, in);
        if (in->op == SIM_HALT) {
            if (w->prior != s->all_lanes)
                axe_sim_find(s, AXE_SIM_PRIOR, in, -1,
                             "%s ends and has not waited for the launches "
                             "before %s, which may still run",
                             axe_sim_agent_text(s, w->agent), s->g->name);
            axe_sim_group_end(s, w, in);
            w->wait = SIM_DONE;
            w->cta->n_left++;
            s->ended = s->ended || w->cta->n_left == s->n_warp;
        } else if (!axe_sim_control(w, in)) {
            execute(s, w, in);
        }
    }
    s->n_step += n;
    s->report->n_inst += n;
}
