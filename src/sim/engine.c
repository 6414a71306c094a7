/* engine.c - asynchronous atoms: from their issue to their completion.
 *
 * Each knows what its issuers knew, acts as an agent of its own, and is done
 * when the policy says so; atoms of one tensor core are done in order.  What a
 * warpgroup issues begins when its last warp has come. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/sim_int.h"

sim_async *
axe_sim_async_new(sim *s, const sim_call *c)
{
    sim_async *o = s->spare;
    sim_clock  clock;

    if (o) {
        s->spare = o->next;
        clock = o->call.clock;
    } else {
        o = axe_new(s->own, sim_async);
        clock = axe_sim_clock_new(s);
    }
    *o = (sim_async){.call = *c, .to = c->warp->cta};
    o->call.clock = clock;
    o->call.proxy = c->in->shape->proxy;
    axe_sim_clock_copy(s, &o->call.clock, c->warp->clock);
    o->call.clock.vc[c->warp->agent] = axe_sim_told(c->warp, c->pred);
    o->call.deaf = 0;
    if (c->warp->deaf & c->pred)
        axe_sim_clock_take(s, &o->call.clock, c->warp->before,
                           c->warp->cta->cluster->range);
    return o;
}

void
axe_sim_enqueue(sim *s, sim_async *o)
{
    sim_cluster *r = o->call.warp->cta->cluster;

    if (s->trace)
        axe_sim_trace_ask(s, o);
    o->next = NULL;
    *r->tail = o;
    r->tail = &o->next;
    while (s->spec->with.policy == AXE_SIM_EAGER && axe_sim_engine_step(s, r))
        ;
}

/* ------------------------------------------------------------- completion */

static void
perform(sim *s, sim_async *o)
{
    const sim_shape *sh = o->call.in->shape;
    bool             product = sh->atom->kind == AXE_ATOM_CONTRACT;

    if (s->trace)
        axe_sim_trace_begin(s, o);
    if (o->arrives)
        o->bar->told = o->bar->phase + 1;
    if (o->arrives)
        axe_sim_mbar_arrive(s, &o->call, o->bar_of, o->bar, o->bytes,
                            o->call.clock);
    else if (sh->atom->sync == AXE_SYNC_TAKE)
        axe_sim_bring_taken(s, o);
    else if (product && sh->product->c.tile)
        axe_sim_tmem_contract(s, &o->call);
    else if (product)
        axe_sim_contract(s, &o->call);
    else if (sh->tile)
        axe_sim_tmem_copy(s, &o->call);
    else if (sh->atom->kind != AXE_ATOM_COPY)
        axe_sim_tmem_move(s, &o->call);
    else if (sh->moves)
        axe_sim_move(s, &o->call);
    else
        axe_sim_copy_box(s, o);
    if (s->trace)
        axe_sim_trace_done(s, o);
    if (o->bar && !o->arrives)
        axe_sim_mbar_bytes(s, o);
}

/* May it be done before all that were issued before it? */
static bool
may_start(const sim_cluster *r, const sim_async *o)
{
    bool in_order = o->arrives || o->in_order ||
                    o->call.in->shape->atom->kind == AXE_ATOM_CONTRACT;

    for (const sim_async *p = r->queue; in_order && p != o; p = p->next)
        if (p->call.agent == o->call.agent)
            return false;
    return true;
}

bool
axe_sim_engine_step(sim *s, sim_cluster *r)
{
    sim_async **at = &r->queue, *o;
    uint64_t    n = 0, pick = 0;

    if (!r->queue)
        return false;
    if (s->spec->with.policy == AXE_SIM_RANDOM) {
        for (o = r->queue; o; o = o->next)
            n += may_start(r, o);
        pick = axe_sim_random(s) % n;
    }
    while (!may_start(r, *at) || pick-- > 0)
        at = &(*at)->next;
    o = *at;
    *at = o->next;
    if (!o->next)
        r->tail = at;
    perform(s, o);
    o->next = s->spare;
    s->spare = o;
    axe_sim_group_wake(s, o->call.warp->cta);
    return true;
}

bool
axe_sim_engine_idle(const sim *s, int agent, uint32_t upto)
{
    const sim_cta *cta = s->agent[agent].cta;

    for (const sim_async *o = cta->cluster->queue; o; o = o->next)
        if (o->call.agent == agent && o->call.epoch <= upto && !o->arrives)
            return false;
    for (int i = 0; i < s->n_warpgroup; i++)
        for (const sim_async *o = cta->warpgroup[i]; o; o = o->next)
            if (o->call.agent == agent && o->call.epoch <= upto)
                return false;
    return true;
}

/* ------------------------------------------------------------ tensor cores */

static void
report_side(sim *s, const sim_warp *w, const sim_call *c, int array,
            axe_sim_kind kind, const char *what)
{
    if (!axe_sim_known(s, kind, c->in, -1))
        axe_sim_find(s, kind, c->in, -1, "%s: operand %s %s",
                     axe_sim_agent_text(s, w->agent), s->g->array[array]->name,
                     what);
}

/* The registers of an operand that one warp has: they belong to operation `op`
 * until it is done.  Registers that threads touched need a fence before;
 * operands need values, and sums that are added to; sums of earlier atoms of
 * this tensor core may be under way. */
static void
take_side(sim *s, sim_warp *w, const sim_call *c, int which, const sim_regs *r,
          uint32_t op)
{
    int        array = c->in->arg[which].tensor;
    sim_array *x = &w->array[array];
    uint32_t   known = w->clock.vc[w->tensor];
    bool       reads = which > 0 || !axe_sim_is_fresh(c), bare = false;
    bool       unset = false, in_flight = false;

    known = known < x->pinned ? known : x->pinned;
    for (int i = 0; i < r->n; i++) {
        int64_t at = c->at[which][0] + r->at[i];
        bare = bare || x->fence[at] > w->n_fence;
        unset = unset || (reads && (r->lanes[i] & ~x->init[at]));
        in_flight = in_flight || (which > 0 && x->writes[at] > known);
        if (which > 0) {
            x->reads[at] = x->factor[at] = op;
        } else {
            x->writes[at] = op;
            x->init[at] |= r->lanes[i];
        }
    }
    if (bare && c->in->shape->fenced)
        report_side(
            s, w, c, array, AXE_SIM_FENCE,
            "is touched by its threads or used for the first time, and no "
            "fence of registers lies between");
    if (unset)
        report_side(s, w, c, array, AXE_SIM_UNINIT, "has no value");
    if (in_flight)
        report_side(s, w, c, array, AXE_SIM_FLIGHT,
                    "is still being written by another atom");
}

static void
take_registers(sim *s, sim_warp *w, const sim_call *c, int rank, uint32_t op)
{
    const sim_product *p = c->in->shape->product;

    if (s->checks)
        take_side(s, w, c, 0, &p->c.regs[rank], op);
    if (p->a.memory)
        return;
    if (w->array[c->in->arg[1].tensor].held)
        axe_sim_unhold(s, w->array[c->in->arg[1].tensor].held);
    if (s->checks)
        take_side(s, w, c, 1, &p->a.regs[rank], op);
}

/* The tensor core of the warp's warpgroup. */
static sim_group *
tensor_group(sim *s, sim_warp *w, int group)
{
    int        warpgroup = w->id / s->group_warps;
    sim_group *g = &w->group[group];

    if (w->cta->tensor[warpgroup] < 0)
        w->cta->tensor[warpgroup] =
            axe_sim_agent_new(s, SIM_AGENT_TENSOR, w->cta, warpgroup, group);
    w->tensor = w->writer = w->reader = w->cta->tensor[warpgroup];
    g->agent = g->ragent = w->tensor + 1;
    return g;
}

static void
check_same(sim *s, sim_warp *w, const sim_call *c, const sim_async *o)
{
    if (o->call.in != c->in) {
        axe_sim_find(s, AXE_SIM_PARTIAL, c->in, axe_sim_site(s, o->call.in),
                     "%s issues it where other warps of its warpgroup issue "
                     "%s",
                     axe_sim_agent_text(s, w->agent),
                     o->call.in->shape->atom->name);
        return;
    }
    for (int i = 0; i < c->in->n_arg; i++)
        if (c->in->arg[i].space != AXE_ARG_MAP &&
            c->at[i][0] != o->call.at[i][0])
            axe_sim_find(s, AXE_SIM_UNIFORM, c->in, -1,
                         "operand %d is %lld for %s and %lld for %s", i,
                         (long long)c->at[i][0],
                         axe_sim_agent_text(s, w->agent),
                         (long long)o->call.at[i][0],
                         axe_sim_agent_text(s, o->call.warp->agent));
}

static void
issue_product(sim *s, sim_warp *w, sim_call *c)
{
    int warpgroup = w->id / s->group_warps, rank = w->id % s->group_warps;
    sim_group  *g = tensor_group(s, w, c->in->shape->group);
    sim_async **at = &w->cta->warpgroup[warpgroup], *o;
    uint32_t    op = ++g->n_op;

    if (!axe_sim_contract_inside(s, c))
        return;
    g->lanes = s->all_lanes;
    g->reads = true;
    g->site = axe_sim_site(s, c->in);
    take_registers(s, w, c, rank, op);
    while (*at && (*at)->call.epoch != op)
        at = &(*at)->next;
    if (!*at) {
        *at = axe_sim_async_new(s, c);
        (*at)->call.agent = (*at)->call.ragent = w->tensor;
        (*at)->call.epoch = op;
        (*at)->call.warp = w - rank;
        (*at)->next = NULL;
    }
    o = *at;
    check_same(s, w, c, o);
    if (s->trace)
        axe_sim_trace_come(s, w, g, o);
    axe_sim_clock_join(s, &o->call.clock, w->clock);
    o->came |= 1u << rank;
    axe_sim_release(s, w);
    if (++o->n_came < s->group_warps)
        return;
    *at = o->next;
    *c->in->count += 1;
    axe_sim_enqueue(s, o);
}

/* ----------------------------------------------------------------- copies */

/* What is done in order comes after what was issued before. */
void
axe_sim_to_group(sim *s, sim_group *g, sim_async *o)
{
    o->call.agent = g->agent - 1;
    o->call.ragent = g->ragent - 1;
    o->call.epoch = ++g->n_op;
    if (o->in_order) {
        o->call.clock.tvc[g->agent - 1] = o->call.epoch;
        o->call.clock.tvc[g->ragent - 1] = o->call.epoch;
    }
    g->lanes |= o->call.mask;
    g->reads = g->reads || o->call.in->arg[1].space == AXE_ARG_SHARED;
    g->site = axe_sim_site(s, o->call.in);
    axe_sim_enqueue(s, o);
}

sim_async *
axe_sim_to_mbar(sim *s, const sim_call *c, int arg, int lane, sim_cta *to,
                sim_cta *bar_of, int64_t bytes)
{
    sim_mbar  *b = axe_sim_mbar_of(s, c, arg, lane, bar_of, true);
    sim_async *o;

    if (!b)
        return NULL;
    o = axe_sim_async_new(s, c);
    o->to = to;
    o->bar = b;
    o->bar_of = bar_of;
    o->bytes = bytes;
    o->call.mask = o->call.pred = AXE_ONE_LANE(lane);
    o->call.agent = o->call.ragent = b->agent;
    o->call.epoch = b->phase + 1;
    b->last = o->call.epoch;
    return o;
}

/* A copy that ends at the mbarrier of its operand 2. */
static void
copy_to_mbar(sim *s, const sim_call *c, sim_cta *to, sim_cta *bar_of, int lane)
{
    const sim_shape *sh = c->in->shape;
    int64_t          bytes = sh->moves ? (int64_t)sh->moves->n * sh->elem_bytes
                                       : axe_sim_box_bytes(s, c);
    sim_async       *o = axe_sim_to_mbar(s, c, 2, lane, to, bar_of, bytes);

    if (o)
        axe_sim_enqueue(s, o);
}

static void
check_mask(sim *s, const sim_warp *w, const sim_call *c, int64_t mask)
{
    if (mask < 1 || mask >> s->g->cluster != 0)
        axe_sim_find(s, AXE_SIM_BOUNDS, c->in, -1,
                     "%s sends to the CTAs 0x%llx of a cluster of %d",
                     axe_sim_agent_text(s, w->agent), (unsigned long long)mask,
                     s->g->cluster);
}

/* Whose mbarrier is told what comes to CTA `to`: its own; or, where the row
 * names one of a pair, the CTA in that place of its pair. */
static sim_cta *
told_in(sim *s, const sim_call *c, int to, int lane)
{
    int at = to;

    if (c->in->arg[2].space == AXE_ARG_DSMEM && c->in->arg[2].cta)
        at = (to & ~1) + (c->cta[2][lane] & 1);
    return &c->warp->cta->cluster->cta[at < s->g->cluster ? at : to];
}

static void
issue_at_mbar(sim *s, sim_warp *w, sim_call *c, int lane)
{
    int64_t mask = c->in->n_arg > 3 ? c->at[3][lane] : 0;

    if (c->in->n_arg > 3) {
        check_mask(s, w, c, mask);
        for (int i = 0; i < s->g->cluster; i++)
            if (mask >> i & 1)
                copy_to_mbar(s, c, &w->cta->cluster->cta[i],
                             told_in(s, c, i, lane), lane);
        return;
    }
    sim_cta *to = axe_sim_cta_of(s, c, 0, lane);
    sim_cta *bar_of = axe_sim_cta_of(s, c, 2, lane);
    if (to && bar_of)
        copy_to_mbar(s, c, to, bar_of, lane);
}

/* Threads without the predicate put zeros into shared memory, and nothing
 * elsewhere. */
static void
issue_copy(sim *s, sim_warp *w, sim_call *c)
{
    bool at_mbar = c->in->n_arg > 2;
    bool alone = at_mbar || !c->in->shape->moves;

    if (!alone) {
        sim_async *o = axe_sim_async_new(s, c);
        if (axe_atom_zeros(c->in->shape->atom))
            o->call.clock.vc[w->agent] = axe_sim_told(w, c->mask);
        else
            o->call.mask = c->pred;
        axe_sim_to_group(s, axe_sim_group_of(s, w, c->in->shape->group), o);
        axe_sim_release(s, w);
        return;
    }
    for (int l = 0; l < s->lanes; l++) {
        if (!axe_sim_has(c->pred, l))
            continue;
        for (int i = 0; i < MAX_RANK; i++)
            c->coord[i] = c->coords[i][l];
        if (!c->in->shape->moves && s->checks)
            axe_sim_box_check(s, c);
        if (at_mbar) {
            issue_at_mbar(s, w, c, l);
        } else {
            sim_async *o = axe_sim_async_new(s, c);
            o->call.mask = o->call.pred = AXE_ONE_LANE(l);
            axe_sim_to_group(s, axe_sim_group_of(s, w, c->in->shape->group), o);
        }
    }
    axe_sim_release(s, w);
}

/* An arrival that comes when lane l's operations of the group so far are done.
 * It brings what these did, and what they came after: the engine arrives, not
 * the thread, and orders none of what the thread wrote itself (PTX ISA,
 * cp.async.mbarrier.arrive and tcgen05.commit). */
static void
arrive_later(sim *s, sim_call *c, sim_group *g, sim_cta *cta, int l)
{
    bool       commit = c->in->shape->atom->sync == AXE_SYNC_COMMIT;
    sim_mbar  *b = axe_sim_mbar_of(s, c, 0, l, cta, commit);
    sim_async *o;

    if (!b)
        return;
    o = axe_sim_async_new(s, c);
    o->arrives = true;
    o->bar = b;
    o->bar_of = cta;
    o->bytes = 1;
    o->call.agent = o->call.ragent = g->agent - 1;
    o->call.epoch = g->n_op;
    o->call.clock.vc[c->warp->agent] = 0;
    if (o->call.clock.vc[g->agent - 1] < g->n_op)
        o->call.clock.vc[g->agent - 1] = g->n_op;
    if (commit)
        o->call.clock.vc[g->ragent - 1] = g->n_op;
    axe_sim_enqueue(s, o);
}

static void
check_committer(sim *s, const sim_warp *w, const sim_call *c,
                const sim_group *g)
{
    axe_lane_set others = g->lanes & ~c->pred;

    if (c->in->shape->atom->sync == AXE_SYNC_COMMIT && others &&
        !axe_sim_known(s, AXE_SIM_PARTIAL, c->in, g->site))
        axe_sim_find(s, AXE_SIM_PARTIAL, c->in, g->site,
                     "%s commits without lanes 0x%" PRIx64
                     ", which have issued atoms "
                     "of group %s",
                     axe_sim_agent_text(s, w->agent), others,
                     s->group[c->in->shape->group]);
}

/* At the mbarrier of this CTA, or of those in a mask. */
static void
issue_arrival(sim *s, sim_warp *w, sim_call *c)
{
    sim_group *g = axe_sim_group_of(s, w, c->in->shape->group);

    check_committer(s, w, c, g);
    for (int l = 0; l < s->lanes; l++) {
        if (!axe_sim_has(c->pred, l))
            continue;
        if (c->in->n_arg < 2) {
            arrive_later(s, c, g, w->cta, l);
            continue;
        }
        check_mask(s, w, c, c->at[1][l]);
        for (int i = 0; i < s->g->cluster; i++)
            if (c->at[1][l] >> i & 1)
                arrive_later(s, c, g, &w->cta->cluster->cta[i], l);
    }
    axe_sim_release(s, w);
}

void
axe_sim_issue(sim *s, sim_warp *w, sim_call *c)
{
    const sim_shape *sh = c->in->shape;

    switch (sh->atom->kind) {
    case AXE_ATOM_LOAD:
    case AXE_ATOM_STORE:
        axe_sim_tmem_issue(s, w, c);
        return;
    case AXE_ATOM_CONTRACT:
        if (sh->product->c.tile)
            axe_sim_tmem_ask(s, w, c);
        else
            issue_product(s, w, c);
        return;
    case AXE_ATOM_COPY:
        if (sh->tile)
            axe_sim_tmem_ask(s, w, c);
        else
            issue_copy(s, w, c);
        return;
    default:
        issue_arrival(s, w, c);
    }
}
