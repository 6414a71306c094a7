/* simt.c - from statements to the time of a launch. */
#include <math.h>

#include "plan/cost/simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/team.h"

/* How sharply the longest counts: two that are equal take 1.04 as long. */
static const double sharpness = 16;

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

static bool
is_followed(const axe_simt_model *m)
{
    return !m->alone && axe_simt_is_followed(m->env.plan->simt, m->launch);
}

static bool
goes_on(const axe_simt_model *m)
{
    return !m->alone && axe_simt_goes_on(m->env.plan->simt, m->launch);
}

static void
gather(axe_simt_model *m)
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
resident(const axe_simt_model *m)
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
slots_of(const axe_simt_model *m, double cluster)
{
    double all = m->simt->n_sm, part = all / m->rates->parts;

    if (cluster <= 2)
        return floor(all * m->out->resident / cluster);
    return m->rates->parts * floor(floor(part) * m->out->resident / cluster);
}

/* The last cluster along the first variable is filled up. */
static void
count_rounds(axe_simt_model *m)
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

/* -------------------------------------------------------------------- times */

/* Cycles of all SMs as seconds, where they are distributed evenly in whole
 * tiles; SMs that have one less begin with the next scope's, if there is one in
 * the launch. */
static double
distributed(const axe_simt_model *m, double all, double ghz)
{
    double rounds = m->out->tiles / m->simt->n_sm, share;

    if (rounds < 1 || !is_followed(m))
        rounds = ceil(rounds);
    share = rounds / m->out->tiles;

    return m->out->tiles > 0 ? all * share / ghz * 1e-9 : 0;
}

/* Of a tensor, all that is touched, once. */
static double
touched_once(axe_simt_model *m, int tensor)
{
    double most = 0;

    for (int w = 0; w < m->n; w++)
        for (int t = 0; t < m->work[w].n_touch; t++) {
            const axe_cost_touch *c = &m->work[w].touch[t];
            double                all = c->tile;
            for (int l = 0; l < m->launch->scope->n_var; l++)
                all *= fmax(1, c->moves[l] * m->env.loop[l].trips);
            if (c->tensor->id == tensor)
                most = fmax(most, fmin(all, axe_simt_bytes_of(m, c->tensor)));
        }
    return most;
}

/* What nobody could do faster. */
static void
set_least(axe_simt_model *m, double best, double ghz)
{
    const axe_machine *mc = m->env.plan->machine;
    double             once = 0;

    for (int i = 0; i < m->env.plan->kernel->n_tensor; i++)
        once += touched_once(m, i);
    m->out->peak_s = best / m->simt->n_sm / mc->ghz * 1e-9;
    m->out->least_s = fmax(best / m->simt->n_sm / ghz * 1e-9,
                           once / m->rates->memory_gb * 1e-9);
}

/* Behind its first tile a CTA waits until counters are zeros. */
static double
gate_seconds(const axe_simt_model *m)
{
    const axe_machine *mc = m->env.plan->machine;
    const axe_atom    *row;

    if (m->alone || !is_followed(m))
        return 0;
    row = axe_simt_group_sync(mc, AXE_SYNC_SAME, "", AXE_ARG_GLOBAL);
    return row ? row->cost / mc->ghz * 1e-9 : 0;
}

static void
settle(axe_simt_model *m)
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
    if (!goes_on(m))
        o->seconds += m->rates->launch_us * 1e-6 + gate_seconds(m);
    if (isnan(o->seconds) || isinf(o->seconds))
        o->seconds = -1;
}

/* Has a statement before read what touch k of statement i reads? */
static bool
is_again(const axe_simt_model *m, int i, int k)
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
keeps_near(const axe_simt_model *m)
{
    double bytes = (double)m->launch->shared_bytes;

    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->work[i].n_touch; k++)
            if (!m->work[i].touch[k].write && !is_again(m, i, k))
                bytes += m->work[i].touch[k].tile;
    return m->out->resident * bytes <= (double)m->rates->shared / 2;
}

static void
add_up(axe_simt_model *m)
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
    slots = o->rounds;
    if (is_followed(m) && slots > 1)
        slots *= o->full; /* SMs that have one less go on */
    o->busy[AXE_BUSY_CHAIN] =
        (slots * axe_simt_chain(m) / o->tiles + m->rates->wait) / ghz * 1e-9;
    set_least(m, best, ghz);
    settle(m);
}

/* As it is, and as it were without `overlap`. */
static void
both_ways(axe_simt_model *m)
{
    axe_simt_cost *out = m->out, apart = *out;

    add_up(m);
    out->apart_s = out->seconds;
    if (!m->launch->overlap)
        return;
    m->out = &apart;
    m->alone = true;
    add_up(m);
    out->apart_s = apart.seconds;
}

void
axe_simt_cost_launch(axe_ctx *cx, const axe_plan *p, int i, const int64_t *size,
                     axe_cost_ideal ideal, axe_simt_cost *out)
{
    axe_mark       mark = axe_ctx_mark(cx);
    axe_cost_at    at = {.size = size, .n_worker = 1};
    axe_simt_cost  c = {0};
    axe_simt_model m = {.env = {.cx = cx, .plan = p, .at = &at, .ideal = ideal},
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
        both_ways(&m);
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
    double        longest = 0, all = 0, apart = 0;

    for (int i = 0; i < p->simt->n_launch; i++) {
        double least = sum.least_s, flops = sum.flops, peak = sum.peak_s;
        axe_simt_cost_launch(cx, p, i, size, (axe_cost_ideal){0}, &one);
        all = one.seconds < 0 || all < 0 || isnan(one.times)
                  ? -1
                  : all + one.times * one.seconds;
        apart += one.times * one.apart_s;
        if (i == 0 || one.times * one.seconds > longest) {
            longest = one.times * one.seconds;
            sum = one;
        }
        sum.least_s = least + one.times * one.least_s;
        sum.peak_s = peak + one.times * one.peak_s;
        sum.flops = flops + one.times * one.flops;
    }
    sum.seconds = all;
    sum.apart_s = apart;
    *out = sum;
}
