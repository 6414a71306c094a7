/* simt_role.c - how long a CTA's roles take: statements one after the other,
 * and what they wait for. */
#include <math.h>

#include "plan/cost/simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/team.h"

/* How long an SM's own cache takes to answer, of what memory takes. */
static const double own_cache = 0.04;

/* Registers of a thread beside its tiles. */
enum { OWN = 16 };

double
axe_simt_bytes_of(const axe_simt_model *m, const axe_tensor *t)
{
    double n = axe_type_table[t->type].bits / 8.0;

    for (int d = 0; d < t->rank; d++)
        n *= axe_cost_value(&m->env, t->shape[d]);
    return n;
}

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
stalls(const axe_simt_model *m, const axe_simt_ring *r,
       const axe_thread_group *threads)
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
fills_any(const axe_simt_model *m, const axe_cost_work *w)
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
meanwhile(const axe_simt_model *m, int i)
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
waiting(const axe_simt_model *m, int i)
{
    const axe_cost_work *w = &m->work[i];
    const axe_machine   *mc = m->env.plan->machine;
    double               all = 0, wait = m->rates->wait;

    for (int k = 0; k < w->n_touch; k++)
        all += w->touch[k].write ? 0 : axe_simt_bytes_of(m, w->touch[k].tensor);
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
alive(const axe_simt_model *m, const axe_tensor *t, int i)
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
beyond(const axe_simt_model *m, const axe_thread_group *threads)
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
spills(const axe_simt_model *m, const axe_thread_group *threads)
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
role(const axe_simt_model *m, const axe_thread_group *threads)
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
double
axe_simt_chain(const axe_simt_model *m)
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
