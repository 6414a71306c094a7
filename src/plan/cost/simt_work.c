/* simt_work.c - what one statement takes of an SM and asks of L2.
 *
 * How much of a tensor is touched is read off its subscripts: for each one, how
 * far it goes when the indices and loops below run, at most as many elements as
 * they have values together. */
#include <math.h>

#include "plan/cost/simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"

enum { LINE = 128 }; /* [bytes] of the cache of an SM */

typedef struct index {
    const axe_var *var;
    double         values;
    bool           own; /* of the statement, not a loop around it */
} index;

typedef struct worker {
    axe_cost_env       *e;
    const axe_schedule *s;
    int                 n; /* what runs in a tile */
    index               at[AXE_COST_LOOPS];
    axe_cost_work      *out;
} worker;

static bool
ideal(const worker *w, int operand)
{
    return w->s == w->e->ideal.s && operand == w->e->ideal.operand;
}

static double
just(double n, double unit)
{
    (void)unit;
    return n;
}

static void
push(worker *w, const axe_var *v, double values, bool own)
{
    for (int i = 0; i < w->n; i++)
        if (w->at[i].var == v)
            return;
    if (w->n < AXE_COST_LOOPS)
        w->at[w->n++] = (index){v, values, own};
}

static void
find_indices(worker *w, int n_tile)
{
    axe_cost_env *e = w->e;

    for (int l = n_tile; l < e->n_loop; l++)
        push(w, e->loop[l].var, e->loop[l].trips, false);
    for (int k = 0; k < w->s->n_nest; k++)
        for (int i = 0; i < w->s->nest[k].n_dim; i++) {
            const axe_dim *d = &w->s->nest[k].dim[i];
            push(w, d->var,
                 axe_cost_mean(e, w->s, d->var, axe_cost_value(e, d->extent),
                               just, 1),
                 true);
        }
}

/* ------------------------------------------------------------------ regions */

/* Values that the indices in n have together; `all`: and the loops. */
static double
values_in(const worker *w, const axe_node *n, bool all)
{
    double v = 1;

    for (int i = 0; i < w->n; i++)
        if ((all || w->at[i].own) && axe_mentions(n, w->at[i].var))
            v *= w->at[i].values;
    return v;
}

/* From the least value of n to its greatest. */
static double
span(const worker *w, const axe_node *n, bool all)
{
    double a =
        n->n_arg > 0 && n->op != AXE_OP_load ? span(w, n->arg[0], all) : 0;
    double b =
        n->n_arg > 1 && n->op != AXE_OP_load ? span(w, n->arg[1], all) : 0;

    switch (n->op) {
    case AXE_OP_var:
        return fmax(values_in(w, n, all) - 1, 0);
    case AXE_OP_load:
        return values_in(w, n, all) - 1;
    case AXE_OP_add:
    case AXE_OP_sub:
        return a + b;
    case AXE_OP_mul:
        return a * fabs(axe_cost_value(w->e, n->arg[1])) * (b == 0) +
               b * fabs(axe_cost_value(w->e, n->arg[0])) * (a == 0) +
               (a > 0 && b > 0 ? (double)INFINITY : 0);
    case AXE_OP_div:
        return floor(a / fmax(axe_cost_value(w->e, n->arg[1]), 1));
    case AXE_OP_mod:
        return fmin(a, fmax(axe_cost_value(w->e, n->arg[1]) - 1, 0));
    default:
        return fmax(a, b);
    }
}

/* [bytes] of a tensor that an access touches. */
static double
touched(const worker *w, const axe_node *load, bool all)
{
    const axe_tensor *t = load->u.tensor;
    double            n = axe_type_table[t->type].bits / 8.0;

    for (int d = 0; d < load->n_arg; d++) {
        double here = fmin(span(w, load->arg[d], all) + 1,
                           values_in(w, load->arg[d], all));
        n *= fmin(here, axe_cost_value(w->e, t->shape[d]));
    }
    return n;
}

/* Of the statement, what each of the CTAs that share it does. */
static double
part_of(const axe_schedule *s)
{
    return s->simt->share > 1 ? 1.0 / s->simt->share : 1;
}

/* How much of a dimension of so many elements is another one in the next
 * iteration of loop l.  Where an index tensor picks it the iterations have the
 * dimension's elements one after the other, as experts have their tiles. */
static double
moves(const worker *w, const axe_node *n, int l, double extent)
{
    const axe_node *by = axe_cost_scalar(w->e, n);
    double          most = 0;

    if (by)
        return moves(w, by, l, extent);
    if (n->op == AXE_OP_var)
        return n->u.var == w->e->loop[l].var;
    if (axe_cost_index(w->e, n) == n && axe_mentions(n, w->e->loop[l].var))
        return fmin(1, extent / fmax(w->e->loop[l].trips, 1));
    for (int i = 0; i < n->n_arg; i++)
        most = fmax(most, moves(w, n->arg[i], l, extent));
    return most;
}

static bool
is_picked(const worker *w, const axe_node *n)
{
    if (axe_cost_index(w->e, n))
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (is_picked(w, n->arg[i]))
            return true;
    return false;
}

static void
touch(worker *w, int operand, double share, int n_tile)
{
    axe_cost_touch *t = &w->out->touch[w->out->n_touch];
    const axe_node *load = w->s->operand[operand].load;
    double          twice = 1;

    if (load->u.tensor->space != AXE_SPACE_GLOBAL ||
        w->out->n_touch == AXE_COST_TOUCHES)
        return;
    if (operand == 0 && w->s->stmt->fold != AXE_FOLD_NONE)
        twice = 2;
    w->out->n_touch++;
    *t = (axe_cost_touch){load->u.tensor,
                          load,
                          operand == 0,
                          w->s->simt->hint,
                          twice * share * touched(w, load, false),
                          twice * touched(w, load, true),
                          twice * touched(w, load, true) * part_of(w->s),
                          {0},
                          false};
    for (int d = 0; d < load->n_arg; d++)
        t->picked = t->picked || is_picked(w, load->arg[d]);
    for (int l = 0; l < n_tile; l++)
        for (int d = 0; d < load->n_arg; d++)
            t->moves[l] =
                fmax(t->moves[l],
                     moves(w, load->arg[d], l,
                           axe_cost_value(w->e, load->u.tensor->shape[d])));
}

/* Of the iterations of the innermost loop around, those that find a line of the
 * load that no iteration before touched. */
static double
fresh_lines(const worker *w, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;
    double            step, bytes = axe_type_table[t->type].bits / 8.0;
    const axe_var    *in = w->out->in;

    if (!in || load->n_arg < 1 || !axe_mentions(load->arg[load->n_arg - 1], in))
        return 1;
    for (int d = 0; d < load->n_arg - 1; d++)
        if (axe_mentions(load->arg[d], in))
            return 1;
    for (int i = 0; i < w->n; i++)
        if (w->at[i].var == in) {
            step = span(w, load->arg[load->n_arg - 1], true) -
                   span(w, load->arg[load->n_arg - 1], false);
            return fmin(1, step / fmax(w->at[i].values - 1, 1) * bytes / LINE);
        }
    return 1;
}

/* --------------------------------------------------------------------- maps */

/* Does n mention v, but for what folds in it have folded? */
static bool
depends_on(const axe_node *n, const axe_var *v)
{
    if (n->op == AXE_OP_var)
        return n->u.var == v;
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == v)
            return false;
    for (int i = 0; i < n->n_arg; i++)
        if (depends_on(n->arg[i], v))
            return true;
    return false;
}

/* In the loops whose indices it depends on. */
static double
own_values(const void *user, const axe_node *n)
{
    const worker *w = user;
    double        v = 1;

    for (int i = 0; i < w->n; i++)
        if (w->at[i].own && depends_on(n, w->at[i].var))
            v *= w->at[i].values;
    return v;
}

/* [cycles] of an SM for the statement's value. */
static double
math_cycles(const worker *w)
{
    return axe_cost_math(w->e->plan->machine, w->s->stmt->value, own_values, w);
}

/* [cycles] of an SM for a running sum beside the first addition: what is ahead
 * is added to each element, and lanes exchange what their runs come to, bit by
 * bit: a shuffle, which passes a warp a cycle, two additions and a choice. */
static double
prefix_cycles(const worker *w)
{
    const axe_machine *mc = w->e->plan->machine;
    const axe_work    *work = &w->s->simt->work;
    const axe_var     *v = w->s->stmt->prefix;
    double n = values_in(w, w->s->stmt->dst, false), run = 1, steps = 0;

    for (int i = work->n_digit - 1; v && i >= 0; i--) {
        const axe_work_digit *d = &work->digit[i];
        if (d->of.var == v && d->axis == w->e->plan->simt->lane)
            steps += log2((double)d->of.extent);
        else if (d->of.var == v && steps == 0)
            run *= (double)d->of.extent;
    }
    return v ? n / axe_machine_rates(mc)->fp32 + steps * n / run /
                                                     mc->simt->lanes *
                                                     (1 + 3.0 / AXE_SCHEDULERS)
             : 0;
}

static void
add_access(worker *w, int i, const axe_simt_access *a)
{
    const axe_machine *mc = w->e->plan->machine;
    const axe_node    *load = w->s->operand[i].load;
    const axe_tensor  *t = load->u.tensor;
    bool               wide = !a->wide || axe_cost_value(w->e, a->wide) != 0;
    double             n = 1, lanes = mc->simt->lanes, n_move;

    for (int d = 0; d < load->n_arg; d++)
        n *= values_in(w, load->arg[d], false);
    n_move = wide || !a->least ? n / (a->width * lanes) : n / lanes;
    w->out->issue += n_move / AXE_SCHEDULERS;
    w->out->moves +=
        n_move * (wide || !a->least ? a->atom->cost : a->least->cost);
    if (t->space == AXE_SPACE_SHARED)
        w->out->shared += n * axe_type_table[t->type].bits / 8.0 /
                          (mc->simt->banks * mc->simt->bank_bytes) *
                          (a->conflict > 1 && !ideal(w, i) ? a->conflict : 1);
}

/* Iterations of loops, one after the other, that each thread makes. */
static double
iterations(const worker *w)
{
    const axe_work *work = &w->s->simt->work;
    double          all = 1;

    for (int i = 0; i < w->n; i++) {
        double n = w->at[i].values;
        for (int k = 0; k < work->n_digit; k++) {
            const axe_work_digit *d = &work->digit[k];
            if (d->of.var == w->at[i].var && d->of.extent > 0 &&
                axe_axis_kind_of(w->e->cx, d->axis) != AXE_KIND_MEMORY)
                n /= (double)d->of.extent;
        }
        if (w->at[i].own)
            all *= fmax(1, ceil(n - 1e-9));
    }
    return all;
}

static void
wait_for(worker *w, const axe_node *load)
{
    w->out->waits = iterations(w);
    w->out->fresh = fmax(w->out->fresh, fresh_lines(w, load));
}

static void
add_map(worker *w, int n_tile)
{
    const axe_simt_schedule *simt = w->s->simt;
    double                   copies = 1;

    for (int i = 0; i < simt->work.n_copy && !ideal(w, -1); i++)
        copies *= (double)simt->work.copy[i].extent;
    w->out->issue += copies * (math_cycles(w) + prefix_cycles(w));
    for (int i = 0; simt->access && i < w->s->n_operand; i++) {
        const axe_simt_access *a = &simt->access[i];
        if (!a->atom || axe_simt_first_load(w->s, i) != i)
            continue;
        add_access(w, i, a);
        int sector = w->e->plan->machine->simt->sector_bytes;
        touch(w, i,
              a->sector > 0 && !ideal(w, i) ? (double)sector / a->sector : 1,
              n_tile);
        if (i > 0 && w->s->operand[i].tensor->space == AXE_SPACE_GLOBAL)
            wait_for(w, w->s->operand[i].load);
        else if (i > 0)
            w->out->short_waits = iterations(w);
    }
}

/* ------------------------------------------------------- products and copies
 */

static void
add_contract(worker *w, const axe_simt_contract *c)
{
    double n = (double)(c->m.extent * c->n.extent) * (double)c->k.extent;

    w->out->flops = 2 * n;
    w->out->best = c->best.rate * n;
    w->out->shared = c->traffic;
    if (axe_atom_threads(w->e->plan->machine, c->atom) > 1 ||
        c->atom->space[0] != AXE_ARG_REG) {
        w->out->tensor = c->compute;
        return;
    }
    w->out->issue = n / axe_machine_rates(w->e->plan->machine)->fp32;
    if (c->best.rate * n >= c->compute) /* the best that there is */
        w->out->best = w->out->issue;
}

static void
add_copy(worker *w, const axe_simt_copy *c, int n_tile)
{
    const axe_simt *m = w->e->plan->machine->simt;
    int g = w->s->operand[0].tensor->space == AXE_SPACE_GLOBAL ? 0 : 1;
    const axe_node *load = w->s->operand[g].load;
    double          bytes = touched(w, load, false), each = bytes;

    touch(w, g,
          c->box && c->map.part.extent > 1 ? 1.0 / (double)c->map.part.extent
                                           : 1,
          n_tile);
    w->out->shared = (c->stage ? 2 : 1) * bytes / (m->banks * m->bank_bytes);
    if (c->stage) {
        w->out->issue = math_cycles(w);
        each = bytes / (m->lanes * m->max_vector);
        w->out->issue += each * c->stage->store.atom->cost;
    } else if (!c->box)
        w->out->issue = bytes / (m->lanes * c->atom->align) * c->atom->cost;
}

/* Does the copy run, or what runs in its place? */
static bool
copies(const worker *w, const axe_simt_copy *c)
{
    const axe_node *when = c->stage ? c->stage->when : c->when;

    return (!c->stage || c->stage->fits) &&
           (!when || axe_cost_value(w->e, when) != 0);
}

void
axe_cost_work_of(axe_cost_env *e, const axe_schedule *s, int n_tile,
                 axe_cost_work *out)
{
    worker w = {.e = e, .s = s, .out = out};

    *out = (axe_cost_work){
        .s = s, .runs = e->share * part_of(s), .share = e->share};
    for (int l = 0; l < e->n_loop; l++) {
        out->runs *= e->loop[l].trips;
        if (l >= n_tile && e->loop[l].stmt->kind == AXE_STMT_FOR)
            out->in = e->loop[l].var;
    }
    find_indices(&w, n_tile);
    if (s->simt->when && axe_cost_value(e, s->simt->when) == 0)
        return;
    if (s->kind == AXE_SCHED_CONTRACT && s->simt->contract)
        add_contract(&w, s->simt->contract);
    else if (s->kind == AXE_SCHED_COPY && s->simt->copy &&
             copies(&w, s->simt->copy))
        add_copy(&w, s->simt->copy, n_tile);
    else if (s->kind == AXE_SCHED_COPY && s->simt->copy && s->simt->copy->box &&
             !s->simt->copy->stage)
        out->runs = (double)NAN; /* refused */
    else
        add_map(&w, n_tile);
}
