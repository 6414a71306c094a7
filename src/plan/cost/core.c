/* core.c - from what statements touch to cycles.
 *
 * For each operand, from the innermost loop outwards: the bytes that a loop
 * touches again in its next iterations are as far away as all that one
 * iteration touches, and come from the smallest level that holds so much.  What
 * an earlier statement of the same iteration of a loop has touched comes from
 * as far as that iteration.  The launch is the outermost loop. */
#include <math.h>

#include "plan/cost/core.h"

/* Part of the smaller of issuing and waiting that the larger does not hide, and
 * what a launch costs that does nothing. */
static const double not_hidden = 0.15, launch_cycles = 2000;

typedef struct model {
    axe_cost_env    env;
    int             n; /* frames by statement; s NULL: none, or not run */
    axe_cost_frame *frame;
    double         *touched; /* [n_tensor], for summing */

    /* what turn_bytes has said last, by loops */
    const axe_cost_frame *of[AXE_COST_LOOPS + 1];
    double                bytes[AXE_COST_LOOPS + 1];
} model;

static void
model_make(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at, model *out)
{
    *out = (model){.env = {.cx = cx, .plan = p, .at = at}, .n = p->n_schedule};
    out->frame = axe_new_array(cx, axe_cost_frame, p->n_schedule + 1);
    out->touched = axe_new_array(cx, double, p->kernel->n_tensor + 1);
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i] && !p->schedule[i]->core->skip)
            axe_cost_frame_make(&out->env, p->schedule[i], &out->frame[i]);
}

/* How many of the kernel's loops both statements stand in. */
static int
common(const axe_cost_frame *a, const axe_cost_frame *b)
{
    int n = 0;

    while (n < a->n_around && n < b->n_around &&
           a->loop[n].var == b->loop[n].var)
        n++;
    return n;
}

/* Bytes that all statements touch in one iteration of the kernel's loops [0, l)
 * of frame f: each tensor once, as far as the widest access goes. */
static double
iteration_bytes(model *m, const axe_cost_frame *f, int l)
{
    double sum = 0;

    if (m->of[l] && common(f, m->of[l]) >= l)
        return m->bytes[l];
    for (int t = 0; t < m->env.plan->kernel->n_tensor; t++)
        m->touched[t] = 0;
    for (int i = 0; i < m->n; i++) {
        const axe_cost_frame *g = &m->frame[i];
        for (int k = 0; g->s && k < g->s->n_operand && common(f, g) >= l; k++) {
            double *t = &m->touched[g->access[k].op->tensor->id];
            *t = fmax(*t, g->access[k].bytes[l]);
        }
    }
    for (int t = 0; t < m->env.plan->kernel->n_tensor; t++)
        sum += m->touched[t];
    m->of[l] = f;
    return m->bytes[l] = sum;
}

/* Bytes that one iteration of loop l - 1 touches: of this statement for a
 * digit. */
static double
reuse_distance(model *m, const axe_cost_frame *f, int l)
{
    double sum = 0;

    if (l <= f->n_around)
        return iteration_bytes(m, f, l);
    for (int k = 0; k < f->s->n_operand; k++)
        sum += f->access[k].bytes[l];
    return sum;
}

static axe_level
level_of(const model *m, double bytes)
{
    axe_level l = AXE_LEVEL_L1;

    while (l < AXE_LEVEL_MEMORY && bytes > m->env.at->levels.bytes[l])
        l++;
    return l;
}

/* The most loops that a statement before this one, which touches the tensor,
 * shares with it; -1 if there is none. */
static int
touched_before(const model *m, const axe_cost_frame *f, int operand)
{
    const axe_tensor *t = f->access[operand].op->tensor;
    int               most = -1;

    for (int i = 0; i < f->s->stmt->id; i++)
        for (int k = 0; m->frame[i].s && k < m->frame[i].s->n_operand; k++)
            if (m->frame[i].access[k].op->tensor == t &&
                common(f, &m->frame[i]) > most)
                most = common(f, &m->frame[i]);
    return most;
}

/* Does the statement touch the tensor at the same iteration already? */
static bool
repeats(const axe_cost_frame *f, int operand)
{
    for (int k = 0; k < operand; k++)
        if (f->access[k].op->tensor == f->access[operand].op->tensor &&
            f->access[k].nest == f->access[operand].nest)
            return true;
    return false;
}

/* Is the result written past the caches at this size? */
static bool
streams(const model *m, const axe_cost_frame *f, int operand)
{
    return operand == 0 && f->s->core->stream &&
           f->access[0].bytes[0] > (double)m->env.plan->machine->stream_bytes;
}

/* Stores read the lines that they overwrite, unless they pass the caches. */
static void
add_bytes(const model *m, const axe_cost_frame *f, int operand, double bytes,
          axe_level from, axe_cost *out)
{
    const axe_cost_access *a = &f->access[operand];
    bool                   global = a->op->tensor->space == AXE_SPACE_GLOBAL;

    if (streams(m, f, operand))
        from = AXE_LEVEL_MEMORY;
    else if (operand == 0 && global && from >= AXE_LEVEL_L3)
        bytes *= 2;
    out->bytes[from] += bytes;
    if (from == AXE_LEVEL_MEMORY)
        out->jumps += bytes * AXE_JUMP_BYTES / a->run;
}

static void
trace(model *m, const axe_cost_frame *f, int operand, axe_cost *out)
{
    const axe_cost_access *a = &f->access[operand];
    int                    stop = touched_before(m, f, operand);
    double                 outer[AXE_COST_LOOPS + 1] = {f->share};

    for (int l = 0; l < f->n_loop; l++)
        outer[l + 1] = outer[l] * a->iterations[l];
    if (repeats(f, operand)) {
        out->bytes[AXE_LEVEL_L1] += outer[f->n_loop] * a->bytes[f->n_loop];
        return;
    }
    stop = stop > 0 ? stop : 0;
    if (outer[f->n_loop] == 0)
        return;
    for (int l = f->n_loop; l > stop; l--) {
        double again = outer[l - 1] *
                       (a->iterations[l - 1] * a->bytes[l] - a->bytes[l - 1]);
        if (again > 0)
            add_bytes(m, f, operand, again,
                      level_of(m, reuse_distance(m, f, l)), out);
    }
    add_bytes(m, f, operand, outer[stop] * a->bytes[stop],
              level_of(m, reuse_distance(m, f, stop)), out);
}

/* Cycles that the busiest of the workers spends. */
static void
settle(const model *m, const axe_cost_frame *f, axe_cost *out)
{
    const axe_levels *lv = &m->env.at->levels;
    double            w = m->env.at->n_worker;
    double            rounds = ceil(f->tasks / w);
    double            busy = f->tasks > 0 ? f->tasks / rounds : 1;
    double            wait = 0, rate = fmin(lv->rate[AXE_LEVEL_MEMORY] * busy,
                                            fmax(lv->all, lv->rate[AXE_LEVEL_MEMORY]));

    for (int l = AXE_LEVEL_L2; l < AXE_LEVEL_MEMORY; l++)
        wait += out->bytes[l] / lv->rate[l] / busy;
    wait += (out->bytes[AXE_LEVEL_MEMORY] + out->jumps) / rate;
    double work = out->issue / busy;
    out->wait = wait;
    out->memory_bound = wait > work;
    out->cycles = fmax(wait, work) + not_hidden * fmin(wait, work);
}

/* How many times as many lanes the machine's vectors have of its elements. */
static double
faster(const model *m, const axe_schedule *s)
{
    int lanes = 1, most = axe_map_most_lanes(m->env.plan, s);

    for (int k = 0; k < s->n_nest; k++)
        lanes = s->nest[k].lanes > lanes ? s->nest[k].lanes : lanes;
    return most > lanes ? (double)most / lanes : 1;
}

static void
cost(model *m, const axe_cost_frame *f, axe_cost *out)
{
    *out = (axe_cost){.runs = f->share};
    if (f->n_loop == 0 || f->s->core->within || f->s->n_from > 0)
        return; /* ragged edges at most: a contraction does the rest */
    for (int l = 0; l < f->n_around; l++)
        out->runs *= f->loop[l].trips;
    out->issue = axe_cost_issue(&m->env, f);
    out->best = axe_cost_issue_best(&m->env, f, faster(m, f->s));
    for (int k = 0; k < f->s->n_operand; k++)
        trace(m, f, k, out);
    settle(m, f, out);
    for (int l = 0; l < f->n_loop; l++)
        if (isnan(f->loop[l].trips))
            out->cycles = -1;
}

void
axe_core_cost_each(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
                   axe_cost *out)
{
    axe_mark mark = axe_ctx_mark(cx);
    model    m;

    model_make(cx, p, at, &m);
    for (int i = 0; i < m.n; i++) {
        out[i] = (axe_cost){0};
        if (m.frame[i].s)
            cost(&m, &m.frame[i], &out[i]);
    }
    axe_ctx_release(cx, mark);
}

void
axe_core_cost(axe_ctx *cx, const axe_plan *p, const axe_cost_at *at,
              axe_cost *out)
{
    axe_mark  mark = axe_ctx_mark(cx);
    axe_cost *one = axe_new_array(cx, axe_cost, p->n_schedule + 1);
    axe_cost  sum = {.runs = 1, .cycles = launch_cycles};
    double    waits = 0;

    axe_core_cost_each(cx, p, at, one);
    for (int i = 0; i < p->n_schedule; i++) {
        double cycles = one[i].cycles;
        sum.issue += one[i].issue;
        for (int l = 0; l < AXE_N_LEVEL; l++)
            sum.bytes[l] += one[i].bytes[l];
        sum.jumps += one[i].jumps;
        sum.cycles = cycles < 0 || sum.cycles < 0 ? -1 : sum.cycles + cycles;
        waits += one[i].memory_bound ? cycles : -cycles;
    }
    sum.memory_bound = waits > 0;
    axe_ctx_release(cx, mark);
    *out = sum;
}

int
axe_map_most_lanes(const axe_plan *p, const axe_schedule *s)
{
    int lanes = p->machine->vector_bits;

    for (int i = 0; i < s->n_operand; i++) {
        const axe_tensor *t = s->operand[i].tensor;
        if (i > 0 && axe_operand_places(s->value, &s->operand[i]))
            continue;
        axe_type type = p->place[t->id].tensor ? p->place[t->id].type : t->type;
        int      bits = axe_type_table[type].bits;
        int n = p->machine->vector_bits / (bits < 32 && !s->raw ? 32 : bits);
        lanes = n < lanes ? n : lanes;
    }
    return s->kind == AXE_SCHED_MAP && lanes > 1 ? lanes : 1;
}
