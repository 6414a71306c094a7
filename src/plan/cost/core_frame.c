/* core_frame.c - what a statement touches, loop by loop.
 *
 * A frame has the loops around a statement and its own digits in one list, and
 * for each operand how many bytes of it the loops from l inwards touch.  Digits
 * of a reduction follow all digits of the statement; those that the reduction
 * does not mention run once for it. */
#include <math.h>
#include <string.h>

#include "plan/cost/core.h"

enum { LINE = 64, STREAMS = 16 };

/* ------------------------------------------------------------------- trips */

static double
just(double n, double unit)
{
    (void)unit;
    return n;
}

static double
whole(double n, double unit)
{
    return ceil(n / unit) * unit;
}

static double
vectors(double n, double unit)
{
    return floor(n / unit) + fmod(n, unit);
}

/* The same where the rest is one vector in part. */
static double
parts(double n, double unit)
{
    return ceil(n / unit);
}

static const axe_node *
extent_of(const axe_schedule *s, const axe_var *v)
{
    for (int k = 0; k < s->n_nest; k++)
        for (int i = 0; i < s->nest[k].n_dim; i++)
            if (s->nest[k].dim[i].var == v)
                return s->nest[k].dim[i].extent;
    return NULL;
}

/* Values of v that a register tile computes at a time. */
static double
block_of(const axe_schedule *s, const axe_var *v)
{
    if (s->kind != AXE_SCHED_CONTRACT)
        return 1;
    return v == s->core->tile.m ? s->core->tile.mr
           : v == s->core->tile.n
               ? (double)(s->core->tile.narrow ? 1 : s->core->tile.nv) *
                     s->nest[0].lanes
               : 1;
}

/* Is it the first digit of its variable in the nest? */
static bool
leads(const axe_nest *n, int i)
{
    for (int j = 0; j < i; j++)
        if (n->digit[j].var == n->digit[i].var)
            return false;
    return true;
}

/* How often the digit steps on average; the variable's first digit bears that
 * edges are cut. */
static double
trips_of(axe_cost_env *e, const axe_schedule *s, const axe_nest *n, int i)
{
    const axe_digit *d = &n->digit[i];
    const axe_node  *node = extent_of(s, d->var);
    double           all = node ? axe_cost_value(e, node) : 1;
    double           unit = block_of(s, d->var);
    double           mean =
        axe_cost_mean(e, s, d->var, all, unit > 1 ? whole : just, unit);

    if (d->extent == 0)
        return mean;
    return leads(n, i) && all > 0 ? (double)d->extent * mean / all
                                  : (double)d->extent;
}

/* Iterations of the digit in the lanes: whole vectors, then the rest. */
static double
vector_trips(axe_cost_env *e, const axe_schedule *s, const axe_nest *n, int i,
             double trips)
{
    const axe_digit *d = &n->digit[i];
    axe_cost_fn     *count = n->parts ? parts : vectors;

    if (d->extent > 0 && !leads(n, i))
        return count((double)d->extent, n->lanes);
    double all = d->extent > 0 ? (double)d->extent
                               : axe_cost_value(e, extent_of(s, d->var));
    double full = axe_cost_mean(e, s, d->var, all, just, 1);
    double some = axe_cost_mean(e, s, d->var, all, count, n->lanes);
    return full > 0 ? trips * some / full : trips;
}

/* Vectors of columns that go nv at a time are a loop over tiles. */
static void
by_tiles(axe_cost_loop *l, axe_cost_env *e, const axe_schedule *s)
{
    axe_digit *d;

    if (s->kind != AXE_SCHED_CONTRACT || !s->core->tile.narrow ||
        l->var != s->core->tile.n || l->digit->weight != s->nest[0].lanes)
        return;
    d = axe_new(e->cx, axe_digit);
    *d = (axe_digit){l->var, l->digit->weight * s->core->tile.nv,
                     (l->digit->extent + s->core->tile.nv - 1) /
                         s->core->tile.nv};
    l->digit = d;
    l->trips = fmax(1, l->trips / s->core->tile.nv);
}

static void
push_nest(axe_cost_frame *f, axe_cost_env *e, int k)
{
    const axe_schedule *s = f->s;
    const axe_nest     *n = &s->nest[k];
    bool                lanes = n->lanes > 1 && s->kind != AXE_SCHED_CONTRACT;

    for (int i = 0; i < n->n_digit && f->n_loop < AXE_COST_LOOPS; i++) {
        axe_cost_loop *l = &f->loop[f->n_loop];
        *l = (axe_cost_loop){.var = n->digit[i].var,
                             .digit = &n->digit[i],
                             .nest = k,
                             .lanes = 1};
        l->trips = trips_of(e, s, n, i);
        by_tiles(l, e, s);
        f->vtrips[f->n_loop] = l->trips;
        if (lanes && i == n->n_digit - 1) {
            f->vtrips[f->n_loop] = vector_trips(e, s, n, i, l->trips);
            l->lanes = n->lanes;
            l->trips = fmax(1, l->trips / n->lanes);
        }
        f->n_loop++;
    }
}

/* The lanes of a nest: loops that take no time. */
static void
push_lanes(axe_cost_frame *f, int first, int k)
{
    const axe_nest *n = &f->s->nest[k];
    int             last = first + n->n_digit - 1;

    if (n->lanes == 1 || f->s->kind == AXE_SCHED_CONTRACT || n->n_digit == 0 ||
        f->n_loop == AXE_COST_LOOPS)
        return;
    f->vtrips[f->n_loop] = 1;
    f->loop[f->n_loop] = f->loop[last];
    f->loop[f->n_loop].trips = n->lanes;
    f->loop[f->n_loop++].lanes = 1;
}

/* The rows and columns of a register tile, which are no loops. */
static void
push_tile(axe_cost_frame *f, axe_ctx *cx)
{
    const axe_schedule *s = f->s;
    axe_digit          *d = axe_new_array(cx, axe_digit, 3);
    int64_t             lanes = s->nest[0].lanes;

    if (s->kind != AXE_SCHED_CONTRACT || f->n_loop + 3 > AXE_COST_LOOPS)
        return;
    d[0] = (axe_digit){s->core->tile.m, 1, s->core->tile.mr};
    d[1] = (axe_digit){s->core->tile.n, lanes, s->core->tile.nv};
    d[2] = (axe_digit){s->core->tile.n, 1, lanes};
    for (int i = 0; i < 3; i++) {
        f->vtrips[f->n_loop] = 1;
        f->loop[f->n_loop++] = (axe_cost_loop){
            .var = d[i].var,
            .digit = &d[i],
            .lanes = 1,
            .trips = (double)d[i].extent,
        };
    }
}

/* --------------------------------------------------------------- footprints */

static bool
base_moves(const axe_cost_env *e, const axe_operand *op, const axe_var *v)
{
    const axe_retile *r = axe_retile_of(e->plan->n_retile, e->plan->retile, v);

    return axe_mentions(op->base, v) ||
           (r && axe_mentions(op->base, r->origin));
}

/* Elements that one step of the digit moves, 0 if it moves none; `one` says
 * that they are neighbours a constant apart. */
static double
step(axe_cost_env *e, const axe_operand *op, const axe_digit *d, bool *one)
{
    axe_mark  m = axe_ctx_mark(e->cx);
    axe_move *move = axe_new_array(e->cx, axe_move, axe_operand_n_iter(op) + 1);
    int       n = axe_operand_moves(op, d, move);
    double    step = n > 0 ? fabs((double)move[0].stride.coef) : 0;

    *one = n == 1 && move[0].stride.unit == AXE_UNIT_ONE;
    axe_ctx_release(e->cx, m);
    return step;
}

typedef struct mover {
    double step, trips;
    bool   one; /* step is all there is to know */
} mover;

/* Bytes of whole lines that `count` elements fill, given the digits that move
 * among them. */
static double
lines(int n, mover *m, double count, double size)
{
    double run = 1;

    for (bool grew = true; grew;) {
        grew = false;
        for (int i = 0; i < n; i++)
            if (m[i].one && m[i].step == run) {
                run *= m[i].trips;
                m[i].one = false;
                grew = m[i].trips > 1;
            }
    }
    return count / run * (run * size < LINE ? LINE : run * size);
}

/* Does the loop run for the access at all?  Digits of other reductions do not,
 * nor those that its own reduction does not mention, since it stands outside
 * of them. */
static bool
iterations_for(const axe_cost_frame *f, const axe_cost_access *a, int l)
{
    const axe_nest *n = &f->s->nest[a->nest];

    if (l < f->n_around || f->loop[l].nest == a->nest)
        return true;
    return f->loop[l].nest == 0 && axe_mentions(n->reduce, f->loop[l].var);
}

/* Bytes in a row as the innermost loops go.  A few rows walked in turn are as
 * good as one: hardware follows that many streams. */
static double
run_of(int n, const mover *m, double size)
{
    double run = 1, streams = 1;

    for (int i = 0; i < n && streams <= STREAMS; i++)
        if (m[i].one && m[i].step == run)
            run *= m[i].trips;
        else
            streams *= m[i].trips;
    return fmax(run * size, LINE);
}

static void
measure(axe_cost_frame *f, axe_cost_env *e, axe_cost_access *a)
{
    const axe_tensor *t = a->op->tensor;
    mover             m[AXE_COST_LOOPS], copy[AXE_COST_LOOPS];
    bool              tile = t->space != AXE_SPACE_GLOBAL;
    axe_type          type = tile ? e->plan->place[t->id].type : t->type;
    double            count = 1, size = axe_type_table[type].bits / 8.0;
    int               n = 0;

    a->bytes[f->n_loop] = size;
    for (int l = f->n_loop - 1; l >= 0; l--) {
        const axe_cost_loop *p = &f->loop[l];
        mover                here = {.trips = p->trips};
        bool                 iterations = iterations_for(f, a, l);
        if (iterations && p->digit)
            here.step = p->lanes * step(e, a->op, p->digit, &here.one);
        else if (iterations)
            here.step = base_moves(e, a->op, p->var) ? (double)INFINITY : 0;
        a->iterations[l] = iterations ? p->trips : 1;
        a->moves[l] = here.step > 0;
        if (here.step > 0) {
            m[n++] = here;
            count *= p->trips;
        }
        memcpy(copy, m, (size_t)n * sizeof m[0]);
        a->bytes[l] = lines(n, copy, count, size);
    }
    a->run = run_of(n, m, size);
}

/* In which reduction the access stands: its nest, or 0. */
static int
nest_of(const axe_schedule *s, const axe_node *n, const axe_node *load, int in)
{
    int found = n == load ? in : -1;

    for (int k = 1; k < s->n_nest; k++)
        if (s->nest[k].reduce == n)
            in = k;
    for (int i = 0; i < n->n_arg && found < 0 && n->op != AXE_OP_load; i++)
        found = nest_of(s, n->arg[i], load, in);
    return found;
}

void
axe_cost_frame_make(axe_cost_env *e, const axe_schedule *s, axe_cost_frame *f)
{
    *f = (axe_cost_frame){.s = s};
    if (!axe_cost_around(e, s->stmt))
        return;
    f->tasks = e->tasks;
    f->share = e->share;
    for (int i = 0; i < e->n_loop; i++)
        f->loop[f->n_loop++] = e->loop[i];
    f->n_around = f->n_loop;
    push_nest(f, e, 0);
    push_tile(f, e->cx);
    f->n_own = f->n_loop;
    for (int k = 1; k < s->n_nest && k < AXE_COST_NESTS; k++) {
        f->first[k] = f->n_loop;
        push_nest(f, e, k);
    }
    for (int k = 0; k < s->n_nest && k < AXE_COST_NESTS; k++)
        push_lanes(f, k == 0 ? f->n_around : f->first[k], k);
    f->access = axe_new_array(e->cx, axe_cost_access, s->n_operand);
    for (int i = 0; i < s->n_operand; i++) {
        int k = i ? nest_of(s, s->value, s->operand[i].load, 0) : 0;
        f->access[i].op = &s->operand[i];
        f->access[i].nest = k > 0 && k < AXE_COST_NESTS ? k : 0;
        measure(f, e, &f->access[i]);
    }
}
