/* simt.c - from statements to the time of a launch. */
#include <math.h>

#include "plan/cost/simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/team.h"

/* How sharply the longest counts: two that are equal take 1.04 as long. */
static const double sharpness = 16;

/* How long an SM's own cache takes to answer, of what memory takes. */
static const double own_cache = 0.04;

/* Registers of a thread beside its tiles. */
enum { OWN = 16 };

const char *
axe_busy_name(axe_busy b)
{
    static const char *const name[] = {
        [AXE_BUSY_TENSOR] = "tensor cores", [AXE_BUSY_SHARED] = "shared memory",
        [AXE_BUSY_ISSUE] = "issue",         [AXE_BUSY_L2] = "L2",
        [AXE_BUSY_MEMORY] = "memory",       [AXE_BUSY_CHAIN] = "longest role",
    };

    return name[b];
}

typedef struct model {
    axe_cost_env           env;
    const axe_simt_launch *launch;
    const axe_simt        *simt;
    const axe_rates       *rates;
    int                    n; /* statements of the launch */
    axe_cost_work         *work;
    axe_simt_cost         *out;
} model;

static void
gather(model *m)
{
    const axe_plan *p = m->env.plan;

    m->work = axe_new_array(m->env.cx, axe_cost_work, p->n_schedule + 1);
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->simt && s->simt->threads &&
            axe_threads_cta(s->simt->threads) == m->launch->threads &&
            axe_cost_around(&m->env, s->stmt))
            axe_cost_work_of(&m->env, s, m->launch->scope->n_var,
                             &m->work[m->n++]);
    }
}

/* ------------------------------------------------------------------- rounds */

static double
resident(const model *m)
{
    const axe_plan *p = m->env.plan;
    double          held = 0;
    bool            asks = false;

    for (int i = 0; i < m->n; i++) {
        const axe_schedule *s = m->work[i].s;
        held = fmax(held, axe_simt_held(p->simt, p->n_place, p->place, s));
        asks = asks || s->simt->threads->registers > 0;
    }
    return axe_simt_resident(p->machine, m->launch->threads, held, asks,
                             m->launch->shared_bytes);
}

/* Clusters at a time: none leaves its part of the GPU, which has pairs. */
static double
slots_of(const model *m, double cluster)
{
    double all = m->simt->n_sm, part = all / m->rates->parts;

    if (cluster <= 2)
        return floor(all * m->out->resident / cluster);
    return m->rates->parts * floor(floor(part) * m->out->resident / cluster);
}

/* The last cluster along the first variable is filled up. */
static void
count_rounds(model *m)
{
    const axe_stmt *s = m->launch->scope;
    double          cluster = s->keys.cluster > 1 ? s->keys.cluster : 1;
    double          groups = 1, slots;

    m->out->tiles = 1;
    for (int l = 0; l < s->n_var; l++) {
        double n = m->env.loop[l].trips;
        m->out->tiles *= n;
        groups *= l == 0 ? ceil(n / cluster) : n;
    }
    m->out->resident = resident(m);
    slots = slots_of(m, cluster);
    m->out->rounds = ceil(groups / fmax(slots, 1));
    m->out->full = m->out->tiles / fmax(m->out->rounds * slots * cluster, 1);
}

static double
bytes_of(const model *m, const axe_tensor *t)
{
    double n = axe_type_table[t->type].bits / 8.0;

    for (int d = 0; d < t->rank; d++)
        n *= axe_cost_value(&m->env, t->shape[d]);
    return n;
}

/* -------------------------------------------------------------------- roles */

/* [cycles] of an SM for all executions of the statement in all tiles. */
static double
cycles(const axe_cost_work *w)
{
    return w->runs * fmax(fmax(w->tensor, w->moves), fmax(w->shared, w->issue));
}

static bool
in_ring(const axe_pipeline *p, const axe_tensor *t)
{
    for (int i = 0; i < p->n_tensor; i++)
        if (p->tensor[i] == t)
            return true;
    return false;
}

/* Does the statement fill a stage of the pipeline (operand 0), or read one? */
static bool
fills(const axe_cost_work *w, const axe_pipeline *p)
{
    return in_ring(p, w->s->operand[0].tensor);
}

static bool
reads(const axe_cost_work *w, const axe_pipeline *p)
{
    for (int i = 1; i < w->s->n_operand; i++)
        if (in_ring(p, w->s->operand[i].tensor))
            return true;
    return false;
}

static bool
from_global(const axe_cost_work *w)
{
    return w->n_touch > 0 && !w->touch[0].write;
}

/* [cycles] in all tiles that the thread group waits for stages: where fewer are
 * under way than memory takes.  A stage comes back as often as there are others
 * to read meanwhile, so one wait is for a round of all of them. */
static double
stalls(const model *m, const axe_simt_ring *r, const axe_thread_group *threads)
{
    const axe_ring_reader *to = axe_ring_reader_of(r, threads);
    double                 iterations = 0, work = 0, iteration, ahead;

    if (!to || to->threads != threads)
        return 0;
    ahead = r->n_stage - 1 - (to->deferred != NULL);
    for (int i = 0; i < m->n; i++) {
        if (fills(&m->work[i], r->ring) && from_global(&m->work[i]))
            iterations = fmax(iterations, m->work[i].runs);
        if (reads(&m->work[i], r->ring) &&
            axe_ring_reader_of(r, m->work[i].s->simt->threads) == to)
            work += cycles(&m->work[i]);
    }
    iteration = iterations > 0 ? work / iterations : 0;
    return iterations * fmax(0, m->rates->wait - fmax(ahead, 0) * iteration) /
           r->n_stage;
}

static bool
fills_any(const model *m, const axe_cost_work *w)
{
    const axe_simt_plan *sp = m->env.plan->simt;

    for (int i = 0; i < sp->n_ring; i++)
        if (fills(w, sp->ring[i].ring))
            return true;
    return false;
}

static bool
reads_tensor(const axe_cost_work *w, const axe_tensor *t)
{
    for (int i = 1; i < w->s->n_operand; i++)
        if (w->s->operand[i].tensor == t)
            return true;
    return false;
}

/* [cycles] of products that the thread group asks an engine for between
 * statement i of the launch, which loads a tile of registers, and the first
 * that needs it. */
static double
meanwhile(const model *m, int i)
{
    const axe_cost_work *load = &m->work[i];
    const axe_tensor    *held = load->s->operand[0].tensor;
    double               sum = 0;

    for (int j = i + 1; j < m->n && held->space == AXE_SPACE_REG; j++) {
        const axe_cost_work *w = &m->work[j];
        if (w->s->simt->threads != load->s->simt->threads)
            continue;
        if (reads_tensor(w, held))
            break;
        if (w->s->kind == AXE_SCHED_CONTRACT && w->s->simt->contract &&
            *w->s->simt->contract->atom->group)
            sum += fmax(w->tensor, w->shared);
    }
    return sum;
}

/* [cycles] in all tiles that statement i waits for what it reads itself: less
 * where that is in L2 after the first time, where the iteration before brought
 * the line, or engines work meanwhile. */
static double
waiting(const model *m, int i)
{
    const axe_cost_work *w = &m->work[i];
    const axe_machine   *mc = m->env.plan->machine;
    double               all = 0, wait = m->rates->wait;

    for (int k = 0; k < w->n_touch; k++)
        all += w->touch[k].write ? 0 : bytes_of(m, w->touch[k].tensor);
    if (all < (double)mc->l2_bytes / 2)
        wait *= AXE_NEAR_BY;
    wait = w->fresh * wait + (1 - w->fresh) * own_cache * m->rates->wait;
    wait =
        fmax(0, w->waits * wait - meanwhile(m, i)) + w->short_waits * AXE_IN_SM;
    return fills_any(m, w) ? 0 : w->runs * wait;
}

/* Statements of one loop: its entities take turns at what they share, so that
 * one multiplies while the other computes. */
typedef struct group {
    const axe_var *in;
    double         tensor, shared, issue, own;
} group;

static group *
group_of(group *g, int *n, const axe_var *in)
{
    for (int i = 0; i < *n; i++)
        if (g[i].in == in)
            return &g[i];
    g[*n] = (group){.in = in};
    return &g[(*n)++];
}

/* Of the launch's statements, is i one from the first that touches the tensor
 * to the last? */
static bool
alive(const model *m, const axe_tensor *t, int i)
{
    bool before = false, behind = false;

    for (int j = 0; j < m->n; j++) {
        const axe_schedule *s = m->work[j].s;
        bool                touches = s->operand[0].tensor == t;
        touches = touches || reads_tensor(&m->work[j], t);
        before = before || (touches && j <= i);
        behind = behind || (touches && j >= i);
    }
    return before && behind;
}

/* Registers of a thread that the thread group's tiles want beyond what it may
 * have, where most of them are alive. */
static double
beyond(const model *m, const axe_thread_group *threads)
{
    const axe_plan *p = m->env.plan;
    double          most = 0, have = threads->registers;

    for (int i = 0; i < m->n; i++) {
        double held = OWN;
        for (int k = 0; k < p->n_place; k++)
            if (p->place[k].tensor &&
                p->place[k].tensor->space == AXE_SPACE_REG &&
                p->simt->owner[k] == threads && alive(m, p->place[k].tensor, i))
                held += (double)p->place[k].bytes / 4;
        most = fmax(most, held);
    }
    if (have == 0)
        have = fmin(m->simt->max_registers,
                    (double)m->simt->registers /
                        axe_threads_cta(threads)->n_thread);
    return fmax(0, most - have);
}

/* [cycles] in all tiles that registers go to memory and back, once an
 * iteration. */
static double
spills(const model *m, const axe_thread_group *threads)
{
    double iterations = 0, bytes = 8 * beyond(m, threads) * threads->n_thread;

    for (int i = 0; i < m->n; i++)
        if (m->work[i].s->simt->threads == threads && m->work[i].flops > 0)
            iterations = fmax(iterations, m->work[i].runs);
    return iterations * bytes / (m->simt->banks * m->simt->bank_bytes);
}

/* [cycles] of one role for all tiles: its loops one after the other, and what
 * stands in none. */
static double
role(const model *m, const axe_thread_group *threads)
{
    const axe_simt_plan *sp = m->env.plan->simt;
    group               *g = axe_new_array(m->env.cx, group, m->n + 1);
    double               sum = spills(m, threads);
    int                  n = 0;

    for (int i = 0; i < m->n; i++) {
        const axe_cost_work *w = &m->work[i];
        if (w->s->simt->threads != threads)
            continue;
        double waits = waiting(m, i) / threads->n_entity;
        if (!w->in) {
            sum += cycles(w) + waits;
            continue;
        }
        group *q = group_of(g, &n, w->in);
        q->tensor += w->runs * w->tensor;
        q->shared += w->runs * w->shared;
        q->issue += w->runs * w->issue;
        q->own += cycles(w) / threads->n_entity + waits;
    }
    for (int i = 0; i < n; i++)
        sum += fmax(g[i].own, fmax(g[i].tensor, fmax(g[i].shared, g[i].issue)));
    for (int i = 0; i < sp->n_ring; i++)
        sum += stalls(m, &sp->ring[i], threads);
    return sum;
}

/* The longest role; thread groups within a cta that are no roles follow each
 * other. */
static double
chain(const model *m)
{
    const axe_simt_plan *sp = m->env.plan->simt;
    bool                 roles = false;
    double               most = 0, sum = 0;

    for (int i = 0; i < sp->n_group; i++) {
        double one = role(m, sp->group[i]);
        if (axe_threads_cta(sp->group[i]) != m->launch->threads)
            continue;
        most = fmax(most, one);
        sum += one;
    }
    for (int i = 0; i < sp->n_ring; i++)
        roles =
            roles || (sp->ring[i].way == AXE_RING_ROLES &&
                      axe_threads_cta(sp->ring[i].owner) == m->launch->threads);
    return roles ? most : sum;
}

/* -------------------------------------------------------------------- times */

/* Cycles of all SMs as seconds, where they are distributed evenly in whole
 * tiles; SMs that have one less begin with the next scope's, if there is one in
 * the launch. */
static double
distributed(const model *m, double all, double ghz)
{
    double rounds = m->out->tiles / m->simt->n_sm, share;

    if (rounds < 1 || !axe_simt_is_followed(m->env.plan->simt, m->launch))
        rounds = ceil(rounds);
    share = rounds / m->out->tiles;

    return m->out->tiles > 0 ? all * share / ghz * 1e-9 : 0;
}

/* Of a tensor, all that is touched, once. */
static double
touched_once(model *m, int tensor)
{
    double most = 0;

    for (int w = 0; w < m->n; w++)
        for (int t = 0; t < m->work[w].n_touch; t++) {
            const axe_cost_touch *c = &m->work[w].touch[t];
            double                all = c->tile;
            for (int l = 0; l < m->launch->scope->n_var; l++)
                all *= fmax(1, c->moves[l] * m->env.loop[l].trips);
            if (c->tensor->id == tensor)
                most = fmax(most, fmin(all, bytes_of(m, c->tensor)));
        }
    return most;
}

/* What nobody could do faster. */
static void
set_least(model *m, double best, double ghz)
{
    const axe_machine *mc = m->env.plan->machine;
    double             once = 0;

    for (int i = 0; i < m->env.plan->kernel->n_tensor; i++)
        once += touched_once(m, i);
    m->out->peak_s = best / m->simt->n_sm / mc->ghz * 1e-9;
    m->out->least_s = fmax(best / m->simt->n_sm / ghz * 1e-9,
                           once / m->rates->memory_gb * 1e-9);
}

static void
settle(model *m)
{
    axe_simt_cost *o = m->out;
    double         sum = 0, shorter = 0;

    for (int b = 0; b < AXE_N_BUSY; b++)
        if (o->busy[b] > o->busy[o->most])
            o->most = (axe_busy)b;
    sum = o->busy[o->most];
    for (int b = 0; b < AXE_N_BUSY; b++)
        if (b != (int)o->most && b != AXE_BUSY_CHAIN && sum > 0)
            shorter += pow(o->busy[b] / sum, sharpness);
    if (o->most == AXE_BUSY_CHAIN && sum > 0) /* has the tensor cores' in it */
        shorter -= pow(o->busy[AXE_BUSY_TENSOR] / sum, sharpness);
    o->seconds = sum * pow(1 + shorter, 1 / sharpness);
    if (!axe_simt_goes_on(m->env.plan->simt, m->launch))
        o->seconds += m->rates->launch_us * 1e-6;
    if (isnan(o->seconds) || isinf(o->seconds))
        o->seconds = -1;
}

/* Has a statement before read what touch k of statement i reads? */
static bool
is_again(const model *m, int i, int k)
{
    const axe_cost_work *w = m->work;

    if (w[i].touch[k].write || w[i].s->kind != AXE_SCHED_MAP)
        return false;
    for (int j = 0; j < i; j++)
        for (int n = 0; n < w[j].n_touch; n++)
            if (w[j].s->kind == AXE_SCHED_MAP && w[j].in == w[i].in &&
                axe_node_same(w[j].touch[n].load, w[i].touch[k].load))
                return true;
    return false;
}

/* Is what tiles read in the SM's cache when they read it again?  That has what
 * shared memory leaves. */
static bool
keeps_near(const model *m)
{
    double bytes = (double)m->launch->shared_bytes;

    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->work[i].n_touch; k++)
            if (!m->work[i].touch[k].write && !is_again(m, i, k))
                bytes += m->work[i].touch[k].tile;
    return m->out->resident * bytes <= (double)m->rates->shared / 2;
}

static void
add_up(model *m)
{
    double sum[AXE_BUSY_L2] = {0}, best = 0, asked = 0, moves = 0, ghz, slots;
    axe_simt_cost *o = m->out;
    bool           near = keeps_near(m);

    for (int i = 0; i < m->n; i++) {
        const axe_cost_work *w = &m->work[i];
        sum[AXE_BUSY_TENSOR] += w->runs * w->tensor;
        sum[AXE_BUSY_SHARED] += w->runs * w->shared;
        sum[AXE_BUSY_ISSUE] += w->runs * w->issue;
        moves += w->runs * w->moves;
        o->flops += w->runs * w->flops;
        best += w->runs * w->best;
        for (int k = 0; k < w->n_touch; k++)
            if (!near || !is_again(m, i, k))
                asked += w->runs * w->touch[k].run;
    }
    ghz = sum[AXE_BUSY_TENSOR] > 0 ? m->rates->busy_ghz
                                   : m->env.plan->machine->ghz;
    sum[AXE_BUSY_ISSUE] = fmax(sum[AXE_BUSY_ISSUE], moves);
    for (int b = 0; b < AXE_BUSY_L2; b++)
        o->busy[b] = distributed(m, sum[b], ghz);
    slots = fmin(o->tiles, m->simt->n_sm * o->resident);
    o->l2_bytes = asked;
    o->memory_bytes =
        axe_cost_wave_bytes(&m->env, m->launch->scope, m->n, m->work, slots);
    o->busy[AXE_BUSY_L2] =
        asked / (m->rates->l2 * fmin(o->tiles, m->simt->n_sm) * ghz) * 1e-9;
    o->busy[AXE_BUSY_MEMORY] = o->memory_bytes / m->rates->memory_gb * 1e-9;
    o->busy[AXE_BUSY_CHAIN] =
        (o->rounds * chain(m) / o->tiles + m->rates->wait) / ghz * 1e-9;
    set_least(m, best, ghz);
    settle(m);
}

void
axe_simt_cost_launch(axe_ctx *cx, const axe_plan *p, int i, const int64_t *size,
                     axe_cost_ideal ideal, axe_simt_cost *out)
{
    axe_mark      mark = axe_ctx_mark(cx);
    axe_cost_at   at = {.size = size, .n_worker = 1};
    axe_simt_cost c = {0};
    model         m = {.env = {.cx = cx, .plan = p, .at = &at, .ideal = ideal},
                       .launch = &p->simt->launch[i],
                       .simt = p->machine->simt,
                       .rates = axe_machine_rates(p->machine),
                       .out = &c};

    gather(&m);
    c.times = m.n > 0 ? m.env.launches : 1;
    c.seconds = m.n > 0 ? -1 : m.rates->launch_us * 1e-6;
    if (m.n > 0)
        count_rounds(&m);
    if (m.n > 0 && c.tiles > 0)
        add_up(&m);
    else if (m.n > 0 && !isnan(c.tiles))
        c.seconds = 0; /* the host does not launch it */
    axe_ctx_release(cx, mark);
    *out = c;
}

void
axe_simt_cost_plan(axe_ctx *cx, const axe_plan *p, const int64_t *size,
                   axe_simt_cost *out)
{
    axe_simt_cost sum = {0}, one;
    double        longest = 0, all = 0;

    for (int i = 0; i < p->simt->n_launch; i++) {
        double least = sum.least_s, flops = sum.flops, peak = sum.peak_s;
        axe_simt_cost_launch(cx, p, i, size, (axe_cost_ideal){0}, &one);
        all = one.seconds < 0 || all < 0 || isnan(one.times)
                  ? -1
                  : all + one.times * one.seconds;
        if (i == 0 || one.times * one.seconds > longest) {
            longest = one.times * one.seconds;
            sum = one;
        }
        sum.least_s = least + one.times * one.least_s;
        sum.peak_s = peak + one.times * one.peak_s;
        sum.flops = flops + one.times * one.flops;
    }
    sum.seconds = all;
    *out = sum;
}
