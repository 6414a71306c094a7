/* env.c - numbers for the cost model: sizes, iterations of loops, and how far
 * an index runs on average where tiles stick out. */
#include <math.h>

#include "plan/cost/cost_int.h"

/* ------------------------------------------------------------- expressions */

static double
size_of(const axe_cost_env *e, const axe_var *v)
{
    const axe_kernel *k = e->plan->kernel;

    for (int i = 0; i < k->n_size && e->at->size; i++)
        if (k->size[i] == v)
            return (double)e->at->size[i];
    return (double)NAN;
}

/* Steps are even and as many as suit the workers, as lower.c distributes
 * them. */
static double
step_of(const axe_cost_env *e, const axe_retile *r)
{
    double size = axe_cost_value(e, r->size), tiles = size / (double)r->tile;
    double round = (double)r->round;

    for (int i = 0; i < e->n_loop; i++)
        if (e->loop[i].var == r->scope && e->loop[i].trips > 0)
            tiles = e->loop[i].trips;
    size = ceil(ceil(size / fmax(tiles, 1)) / round) * round;
    return fmin(fmax(size, round), (double)r->tile);
}

static double
var_value(const axe_cost_env *e, const axe_var *v)
{
    const axe_retile *r = axe_retile_of(e->plan->n_retile, e->plan->retile, v);

    if (v->kind == AXE_VAR_SIZE)
        return size_of(e, v);
    if (r && v == r->step)
        return step_of(e, r);
    if (r && v == r->origin)
        return r->scope == e->var ? e->value * step_of(e, r) : 0;
    return v == e->var ? e->value : 0;
}

double
axe_cost_value(const axe_cost_env *e, const axe_node *n)
{
    double a =
        n->n_arg > 0 && n->op != AXE_OP_load ? axe_cost_value(e, n->arg[0]) : 0;
    double b =
        n->n_arg > 1 && n->op != AXE_OP_load ? axe_cost_value(e, n->arg[1]) : 0;

    switch (n->op) {
    case AXE_OP_iconst:
        return (double)n->u.i;
    case AXE_OP_var:
        return var_value(e, n->u.var);
    case AXE_OP_add:
        return a + b;
    case AXE_OP_sub:
        return a - b;
    case AXE_OP_mul:
        return a * b;
    case AXE_OP_div:
        return b != 0 ? floor(a / b) : 0;
    case AXE_OP_mod:
        return b != 0 ? a - floor(a / b) * b : 0;
    case AXE_OP_cdiv:
        return b != 0 ? ceil(a / b) : 0;
    case AXE_OP_min:
        return a < b ? a : b;
    case AXE_OP_max:
        return a > b ? a : b;
    case AXE_OP_neg:
        return -a;
    case AXE_OP_eq:
        return a == b;
    case AXE_OP_ne:
        return a != b;
    case AXE_OP_lt:
        return a < b;
    case AXE_OP_le:
        return a <= b;
    case AXE_OP_and:
        return a != 0 && b != 0;
    case AXE_OP_or:
        return a != 0 || b != 0;
    case AXE_OP_not:
        return a == 0;
    case AXE_OP_cast:
        return a;
    case AXE_OP_select:
        return a != 0 ? b : axe_cost_value(e, n->arg[2]);
    default:
        return (double)NAN;
    }
}

/* ----------------------------------------------------------------- scalars */

const axe_node *
axe_cost_scalar(const axe_cost_env *e, const axe_node *n)
{
    const axe_node *value = NULL;

    if (n->op != AXE_OP_load || n->u.tensor->rank > 0 ||
        n->u.tensor->space != AXE_SPACE_REG)
        return NULL;
    for (int i = 0; i < e->plan->n_schedule; i++) {
        const axe_schedule *s = e->plan->schedule[i];
        if (!s || s->stmt->dst->u.tensor != n->u.tensor)
            continue;
        if (value || s->stmt->fold != AXE_FOLD_NONE)
            return NULL;
        value = s->stmt->value;
    }
    return value;
}

const axe_node *
axe_cost_index(const axe_cost_env *e, const axe_node *n)
{
    const axe_node *by;

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    if ((by = axe_cost_scalar(e, n)))
        return axe_cost_index(e, by);
    return n->op == AXE_OP_load && n->u.tensor->space == AXE_SPACE_GLOBAL &&
                   !axe_type_is_float(n->u.tensor->type)
               ? n
               : NULL;
}

/* ---------------------------------------------------------------- branches */

static bool
mentions_loop(const axe_cost_env *e, const axe_node *n, const axe_var *loop)
{
    const axe_retile *r =
        axe_retile_of(e->plan->n_retile, e->plan->retile, loop);

    return axe_mentions(n, loop) || (r && axe_mentions(n, r->origin));
}

/* The innermost loop whose iterations decide the expression's value, or
 * NULL. */
static const axe_cost_loop *
decides(const axe_cost_env *e, const axe_node *n)
{
    for (int l = e->n_loop - 1; l >= 0; l--)
        if (mentions_loop(e, n, e->loop[l].var))
            return &e->loop[l];
    return NULL;
}

/* Are all branches around taken in the iteration at hand? */
static bool
taken(const axe_cost_env *e)
{
    for (int i = 0; i < e->n_cond; i++) {
        double v = axe_cost_value(e, e->cond[i].cond);
        if (!isnan(v) && (v != 0) != e->cond[i].want)
            return false;
    }
    return true;
}

enum { FEW_ITERATIONS = 64 };

/* Iteration k of those looked at of a loop of so many iterations, and how many
 * iterations it stands for; false behind the last.  Few iterations are all
 * looked at.  Of many the last is looked at, where tiles stick out, and of each
 * of FEW_TURNS equal parts of the others the one in the middle: so a count that
 * grows with the iteration, as that of a triangle, has the right mean. */
static bool
iteration_at(double iterations, int k, double *value, double *weight)
{
    double part = (iterations - 1) / FEW_ITERATIONS;

    *value = k;
    *weight = 1;
    if (iterations <= FEW_ITERATIONS)
        return k < iterations;
    if (k < FEW_ITERATIONS) {
        *value = floor((k + 0.5) * part);
        *weight = part;
    } else
        *value = iterations - 1;
    return k <= FEW_ITERATIONS;
}

/* Over the iterations of loop l in which all branches are taken: how many they
 * are as a share of all, and the mean of n (NULL: nothing) in them. */
static double
over_iterations(axe_cost_env *e, const axe_cost_loop *l, const axe_node *n,
                double *mean)
{
    double iterations = l ? l->trips : 1, sum = 0, weight = 0, w;

    e->var = l ? l->var : NULL;
    for (int k = 0; iteration_at(iterations, k, &e->value, &w); k++) {
        if (!taken(e))
            continue;
        weight += w;
        sum += n ? w * fmax(axe_cost_value(e, n), 0) : 0;
    }
    e->var = NULL;
    *mean = weight > 0 ? sum / weight : 0;
    return iterations > 0 ? weight / iterations : 0;
}

/* An index that is compared with a size is so by a program that guards itself
 * against what is none: 1 if that says yes where the index is one, 0 if it says
 * no, -1 if it is something else. */
static int
guards(const axe_cost_env *e, const axe_node *cond)
{
    const axe_node *by = axe_cost_scalar(e, cond);
    double          v;
    int             a, b;

    if (by)
        return guards(e, by);
    if (cond->op == AXE_OP_and) {
        a = guards(e, cond->arg[0]);
        b = guards(e, cond->arg[1]);
        return a < 0 || b < 0 ? -1 : a && b;
    }
    if (cond->op != AXE_OP_lt && cond->op != AXE_OP_le)
        return -1;
    if (axe_cost_index(e, cond->arg[0]))
        return isnan(axe_cost_value(e, cond->arg[1])) ? -1 : 1;
    v = axe_cost_value(e, cond->arg[0]);
    if (!axe_cost_index(e, cond->arg[1]) || isnan(v))
        return -1;
    return cond->op == AXE_OP_lt ? v < 0 : v <= 0;
}

/* The share of iterations in which the branch is taken, besides those around; a
 * half where that depends on data. */
static double
share_of(axe_cost_env *e, const axe_node *cond, bool want)
{
    const axe_cost_loop *l = decides(e, cond);
    double               v = axe_cost_value(e, cond), all, part, mean;

    if (isnan(v) && guards(e, cond) >= 0)
        return guards(e, cond) == want;
    if (e->n_cond == AXE_COST_CONDS || isnan(v) || (l && isnan(l->trips)))
        return 0.5;
    all = over_iterations(e, l, NULL, &mean);
    e->cond[e->n_cond++] = (axe_cost_cond){cond, want};
    part = over_iterations(e, l, NULL, &mean);
    e->n_cond--;
    return all > 0 ? part / all : 0;
}

/* ------------------------------------------------------------------- loops */

/* Mean iterations of a loop whose extent may depend on those around. */
static double
iterations_of(axe_cost_env *e, const axe_node *extent)
{
    const axe_cost_loop *l = decides(e, extent);
    double               mean;

    if (!l || isnan(l->trips))
        return axe_cost_value(e, extent);
    over_iterations(e, l, extent, &mean);
    return mean;
}

static bool
same_scope(const axe_stmt *s, const axe_retile *r)
{
    for (int i = 0; i < s->n_var; i++)
        if (s->var[i] == r->scope)
            return true;
    return false;
}

/* The first variable whose tiles may be smaller is divided into as many as suit
 * the workers, where tasks are few. */
static void
even_out(axe_cost_env *e, const axe_stmt *s, axe_cost_loop *loop)
{
    double w = e->at->n_worker, all = 1;
    int    first = -1;

    for (int i = 0; i < s->n_var; i++)
        all *= loop[i].trips;
    for (int i = 0; i < e->plan->n_retile && first < 0; i++)
        for (int k = 0; k < s->n_var; k++)
            if (same_scope(s, &e->plan->retile[i]) &&
                s->var[k] == e->plan->retile[i].scope)
                first = k;
    if (first >= 0 && fmod(all, w) != 0 && all < 8 * w)
        loop[first].trips = ceil(loop[first].trips / w) * w;
    for (int i = 0; i < e->plan->n_retile; i++)
        for (int k = 0; k < s->n_var; k++) {
            const axe_retile *r = &e->plan->retile[i];
            if (s->var[k] == r->scope)
                loop[k].trips =
                    ceil(axe_cost_value(e, r->size) / step_of(e, r));
        }
}

static void
push_loops(axe_cost_env *e, const axe_stmt *s)
{
    int    first = e->n_loop;
    double all = 1;

    for (int i = 0; i < s->n_var && e->n_loop < AXE_COST_LOOPS / 2; i++) {
        const axe_node *extent = s->var[i]->extent;
        e->loop[e->n_loop++] = (axe_cost_loop){
            .stmt = s,
            .var = s->var[i],
            .trips = extent ? iterations_of(e, extent) : 1,
        };
    }
    if (s->kind != AXE_STMT_SCOPE || e->n_loop - first != s->n_var)
        return;
    even_out(e, s, &e->loop[first]);
    for (int i = first; i < e->n_loop; i++)
        all *= e->loop[i].trips;
    if (first == 0)
        e->tasks = all;
}

static bool find(axe_cost_env *e, int n, axe_stmt *const *body,
                 const axe_stmt *s, double share);

/* Is what is looked at the host's, outside of launches? */
static bool
is_hosts(const axe_cost_env *e)
{
    return axe_kind_of(e->plan->machine)->launches && e->n_loop == 0;
}

/* Look for s in a body that runs where cond, if there is one, is `want`. */
static bool
find_in(axe_cost_env *e, const axe_node *cond, bool want, int n,
        axe_stmt *const *body, const axe_stmt *s, double share)
{
    int    mark = e->n_cond;
    double launches = e->launches;

    if (cond) {
        *(is_hosts(e) ? &e->launches : &share) *= share_of(e, cond, want);
        if (e->n_cond < AXE_COST_CONDS)
            e->cond[e->n_cond++] = (axe_cost_cond){cond, want};
    }
    if (find(e, n, body, s, share))
        return true;
    e->n_cond = mark;
    e->launches = launches;
    return false;
}

static bool
find(axe_cost_env *e, int n, axe_stmt *const *body, const axe_stmt *s,
     double share)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *b = body[i];
        const axe_node *cond = b->kind == AXE_STMT_IF ? b->cond : NULL;
        int             mark = e->n_loop;
        double          launches = e->launches;
        if (b == s) {
            e->share = share;
            return true;
        }
        if (is_hosts(e) && b->kind == AXE_STMT_FOR)
            e->launches *= fmax(iterations_of(e, b->var[0]->extent), 0);
        else
            push_loops(e, b);
        if (find_in(e, cond, true, b->n_body, b->body, s, share) ||
            find_in(e, cond, false, b->n_other, b->other, s, share))
            return true;
        e->n_loop = mark;
        e->launches = launches;
    }
    return false;
}

bool
axe_cost_around(axe_cost_env *e, const axe_stmt *s)
{
    e->n_loop = 0;
    e->n_cond = 0;
    e->tasks = 1;
    e->launches = 1;
    return find(e, e->plan->kernel->n_body, e->plan->kernel->body, s, 1);
}

/* ------------------------------------------------------------------ limits */

/* How far v runs with the loop at hand in its iteration. */
static double
reach(const axe_cost_env *e, const axe_schedule *s, const axe_var *v,
      double extent)
{
    double n = extent;

    for (int i = 0; i < s->n_operand; i++)
        for (int g = 0; g < s->operand[i].n_guard; g++)
            if (s->operand[i].guard[g].var == v)
                n = fmin(n, axe_cost_value(e, s->operand[i].guard[g].limit));
    for (int i = 0; i < s->n_bound; i++)
        if (s->bound[i].var == v)
            n = fmin(n, axe_cost_value(e, s->bound[i].limit));
    return isnan(n) || n < 0 ? 0 : n;
}

/* The loop whose iterations decide how far v runs, or NULL. */
static const axe_cost_loop *
decider(const axe_cost_env *e, const axe_schedule *s, const axe_var *v)
{
    for (int l = e->n_loop - 1; l >= 0; l--) {
        for (int i = 0; i < s->n_operand; i++)
            for (int g = 0; g < s->operand[i].n_guard; g++)
                if (s->operand[i].guard[g].var == v &&
                    mentions_loop(e, s->operand[i].guard[g].limit,
                                  e->loop[l].var))
                    return &e->loop[l];
        for (int i = 0; i < s->n_bound; i++)
            if (s->bound[i].var == v &&
                mentions_loop(e, s->bound[i].limit, e->loop[l].var))
                return &e->loop[l];
    }
    return NULL;
}

double
axe_cost_mean(axe_cost_env *e, const axe_schedule *s, const axe_var *v,
              double extent, axe_cost_fn *f, double unit)
{
    const axe_cost_loop *l = decider(e, s, v);
    double               sum = 0, w;

    e->var = NULL;
    if (isnan(extent) || (l && isnan(l->trips)))
        return (double)NAN;
    if (!l || l->trips < 1)
        return f(reach(e, s, v, extent), unit);
    e->var = l->var;
    for (int k = 0; iteration_at(l->trips, k, &e->value, &w); k++)
        sum += w * f(reach(e, s, v, extent), unit);
    e->var = NULL;
    return sum / l->trips;
}
