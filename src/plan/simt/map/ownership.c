/* ownership.c - tiles of many threads: what is in whose registers.
 *
 * The layout of a register tile says both who holds an element (thread axes)
 * and which of the holder's registers it is (`reg`).  Addresses need the second
 * alone; whether a statement may be done where its operands are is a question
 * about the first. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/team/team.h"

enum { MAX_POINT = 1 << 16, MAX_OFFSET = 4096 };

/* -------------------------------------------------------------- projection */

typedef struct projection {
    axe_planner    *p;
    const axe_work *w;
    int             n, n_replica;
    axe_iter        shard[AXE_WALK_MAX], replica[AXE_WALK_MAX];
    int64_t         n_reg;
} projection;

/* The digits of v as iters behind those there are, slow to fast; registers
 * counted from the fastest on. */
static bool
project_dim(projection *x, const axe_var *v, int64_t extent)
{
    int     first = x->n;
    int64_t all = 1;

    for (int i = 0; i < x->w->n_digit; i++) {
        const axe_work_digit *d = &x->w->digit[i];
        if (d->of.var != v)
            continue;
        if (d->axis == AXE_AXIS_M || x->n == AXE_WALK_MAX)
            return false;
        x->shard[x->n++] =
            (axe_iter){d->of.extent, d->stride, d->axis, AXE_UNIT_ONE};
        all *= d->of.extent;
    }
    for (int i = x->n - 1; i >= first; i--)
        if (x->shard[i].axis == x->p->simt->reg) {
            x->shard[i].stride = x->n_reg;
            x->n_reg *= x->shard[i].extent;
        }
    return all == extent;
}

/* Is the subscript v and a loop's iterations times `block`, which are n? */
static bool
goes_in_blocks(axe_planner *p, const axe_node *at, const axe_var *v,
               int64_t block, int64_t n)
{
    axe_affine a;
    int        loop;
    int64_t    iterations;

    if (!axe_affine_of(p->cx, at, &a) || a.n != 2 || a.constant != 0)
        return false;
    loop = a.var[0] == v;
    return a.var[1 - loop] == v && a.coef[1 - loop] == 1 &&
           a.var[loop]->kind == AXE_VAR_LOOP && a.coef[loop] == block &&
           axe_is_iconst(a.var[loop]->extent, &iterations) && iterations == n;
}

/* Where loops move the index on by all of its values, those iterations are more
 * registers. */
static bool
project_blocks(projection *x, const axe_node *at, const axe_var *v,
               int64_t extent)
{
    int64_t all = 1;

    if (project_dim(x, v, extent))
        return true;
    for (int i = 0; i < x->n; i++)
        all *= x->shard[i].extent;
    if (x->n == 0 || x->n == AXE_WALK_MAX || extent <= all ||
        extent % all != 0 || !goes_in_blocks(x->p, at, v, all, extent / all))
        return false;
    memmove(x->shard + 1, x->shard, (size_t)x->n * sizeof *x->shard);
    x->shard[0] =
        (axe_iter){extent / all, x->n_reg, x->p->simt->reg, AXE_UNIT_ONE};
    x->n++;
    return axe_mul(x->n_reg, extent / all, &x->n_reg);
}

/* A dimension that no index walks is all in each thread's registers. */
static bool
project_iterations(projection *x, int64_t extent)
{
    if (extent > 1)
        x->shard[x->n++] =
            (axe_iter){extent, x->n_reg, x->p->simt->reg, AXE_UNIT_ONE};
    return axe_mul(x->n_reg, extent, &x->n_reg);
}

static bool
has_dim(const axe_node *dst, const axe_var *v)
{
    for (int k = 0; k < dst->n_arg; k++)
        if (axe_mentions(dst->arg[k], v))
            return true;
    return false;
}

static void
add_replica(projection *x, axe_iter it)
{
    if (x->n_replica < AXE_WALK_MAX)
        x->replica[x->n_replica++] = it;
}

/* Threads that count what the tile does not have, or nothing. */
static void
project_copies(projection *x, const axe_node *dst)
{
    for (int i = 0; i < x->w->n_digit; i++) {
        const axe_work_digit *d = &x->w->digit[i];
        if (d->axis != AXE_AXIS_M && d->axis != x->p->simt->reg &&
            !has_dim(dst, d->of.var))
            add_replica(
                x, (axe_iter){d->of.extent, d->stride, d->axis, AXE_UNIT_ONE});
    }
    for (int i = 0; i < x->w->n_copy; i++)
        add_replica(x, x->w->copy[i]);
}

bool
axe_simt_project(axe_planner *p, const axe_work *w, const axe_node *load,
                 const axe_layout **out)
{
    axe_shape   shape = axe_shape_of_tile(p->cx, load->u.tensor);
    int        *end = axe_new_array(p->cx, int, shape.n + 1);
    projection *x = axe_new(p->cx, projection);
    axe_iter   *part = axe_new_array(p->cx, axe_iter, AXE_WALK_MAX);
    int         n = 0;

    *x = (projection){.p = p, .w = w, .n_reg = 1};
    for (int k = shape.n - 1; k >= 0; k--) {
        const axe_var *v = axe_alone_in(p, load->arg[k]);
        x->n = 0;
        if (v ? !project_blocks(x, load->arg[k], v, shape.extent[k])
              : !project_iterations(x, shape.extent[k]))
            return false;
        if (n + x->n > AXE_WALK_MAX)
            return false;
        memmove(part + x->n, part, (size_t)n * sizeof *part);
        memcpy(part, x->shard, (size_t)x->n * sizeof *part);
        n += x->n;
        end[k] = x->n;
    }
    for (int k = 1; k < shape.n; k++)
        end[k] += end[k - 1];
    project_copies(x, load);
    axe_layout spec = {.n_shard = n,
                       .shard = part,
                       .n_replica = x->n_replica,
                       .replica = x->replica,
                       .n_dim = shape.n,
                       .dim_end = end};
    return axe_layout_make(p->cx, &spec, out) == AXE_OK;
}

/* ------------------------------------------------------------------- places */

/* Threads as numbers: warp * lanes + lane. */
static int64_t
number_of(const axe_planner *p, axe_axis a)
{
    return a == p->simt->lane  ? 1
           : a == p->simt->reg ? 0
           : a == AXE_AXIS_M   ? 0
                               : p->simt->lanes;
}

/* Every sum of the iters' steps, as threads; NULL if there are too many. */
static int64_t *
all_sums(const axe_planner *p, int n, const axe_iter *it, int *n_out)
{
    int64_t all = 1, *out;

    for (int i = 0; i < n; i++)
        if (it[i].stride * number_of(p, it[i].axis) != 0 &&
            (!axe_mul(all, it[i].extent, &all) || all > MAX_OFFSET))
            return NULL;
    out = axe_new_array(p->cx, int64_t, all);
    *n_out = 1;
    for (int i = 0; i < n; i++) {
        int64_t step = it[i].stride * number_of(p, it[i].axis);
        int     k = *n_out;
        for (int64_t e = 1; step != 0 && e < it[i].extent; e++)
            for (int j = 0; j < k; j++)
                out[(*n_out)++] = out[j] + e * step;
    }
    return out;
}

/* The threads that count what the operand does not depend on. */
static int
free_parts(axe_planner *p, const axe_work *w, const axe_operand *op,
           axe_iter *out)
{
    int n = 0;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        if (number_of(p, d->axis) > 0 && !axe_operand_depends(op, d->of.var))
            out[n++] =
                (axe_iter){d->of.extent, d->stride, d->axis, AXE_UNIT_ONE};
    }
    for (int i = 0; i < w->n_copy; i++)
        out[n++] = w->copy[i];
    return n;
}

/* For each value of the index, what it adds to the number of the thread that
 * works there. */
static int64_t *
list_workers(const axe_planner *p, const axe_work *w, const axe_var *v,
             int64_t extent)
{
    int64_t *at = axe_new_array(p->cx, int64_t, extent + 1);

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        int64_t               step = d->stride * number_of(p, d->axis);
        for (int64_t x = 0; d->of.var == v && step != 0 && x < extent; x++)
            at[x] += x / d->of.weight % d->of.extent * step;
    }
    return at;
}

/* The element that the operand is, by flat index: begin + sum step * index, as
 * far as indices move it. */
typedef struct element {
    int64_t begin, step[AXE_RANK_MAX];
} element;

static bool
find_element(const axe_planner *p, const axe_operand *op, int n,
             const axe_var *const *var, element *out)
{
    int64_t full = 0;

    *out = (element){0};
    for (int d = 0; d < op->tensor->rank; d++) {
        axe_affine a;
        axe_is_iconst(op->tensor->shape[d], &full);
        if (!axe_subscript_of(p->cx, op->load->arg[d], &a))
            return false;
        out->begin = out->begin * full + a.constant;
        for (int k = 0; k < n; k++)
            out->step[k] = out->step[k] * full + axe_affine_coef(&a, var[k]);
    }
    return true;
}

int64_t *
axe_simt_list_holders(axe_planner *p, const axe_layout *l)
{
    int64_t       *who = axe_new_array(p->cx, int64_t, l->size + 1);
    const axe_axis axis[3] = {p->simt->lane, p->simt->warp, p->simt->wid};
    const int64_t  by[3] = {1, p->simt->lanes, p->simt->lanes};

    axe_layout_list(l, 3, axis, by, who);
    return who;
}

bool
axe_simt_hold(axe_planner *p, const axe_layout *l, int n_thread, int n_reg,
              int64_t *have)
{
    int64_t *holder = axe_simt_list_holders(p, l);
    int      n = 0;
    int64_t *copy = all_sums(p, l->n_replica, l->replica, &n);

    if (!copy)
        return false;
    for (int i = 0; i < n_thread * n_reg; i++)
        have[i] = -1;
    for (int64_t e = 0; e < l->size; e++) {
        int64_t who = holder[e];
        int64_t reg = axe_layout_at(l, e, p->simt->reg);
        for (int i = 0; i < n; i++) {
            int64_t t = who + copy[i];
            if (t < 0 || t >= n_thread || reg < 0 || reg >= n_reg)
                return false;
            have[t * n_reg + reg] = e;
        }
    }
    return true;
}

/* Are all of `want`, moved by delta, among `have`? */
static bool
covers(int n_have, const int64_t *have, int n_want, const int64_t *want,
       int64_t delta)
{
    for (int i = 0; i < n_want; i++) {
        int k = 0;
        while (k < n_have && have[k] != want[i] + delta)
            k++;
        if (k == n_have)
            return false;
    }
    return true;
}

/* The next point of a box; false behind the last. */
static bool
next_point(int n, const int64_t *extent, int64_t *value)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++value[i] < extent[i])
            return true;
        value[i] = 0;
    }
    return false;
}

/* The indices that the operand depends on. */
static int
indices_of(const axe_request *r, const axe_operand *op, const axe_var **var,
           int64_t *extent)
{
    int n = 0;

    for (int k = 0; k < r->n_nest; k++)
        for (int i = 0; i < r->nest[k].n_dim && n < AXE_RANK_MAX; i++) {
            const axe_dim *d = &r->nest[k].dim[i];
            bool           old = false;
            for (int j = 0; j < n; j++)
                old = old || var[j] == d->var;
            if (old || !axe_operand_depends(op, d->var))
                continue;
            var[n] = d->var;
            extent[n++] = axe_dim_extent(d);
        }
    return n;
}

/* Do subscripts that move with loops stay in the thread?  What a loop moves is
 * digits of its step's weight and more: they must be registers. */
static bool
moves_within(axe_planner *p, const axe_operand *op)
{
    const axe_layout *l = p->place[op->tensor->id].layout;

    for (int d = 0; d < op->tensor->rank; d++) {
        axe_affine a;
        int64_t    step = 0, weight = 1;
        if (!axe_subscript_of(p->cx, op->load->arg[d], &a))
            return false;
        for (int k = 0; k < a.n; k++)
            if (a.var[k]->kind != AXE_VAR_INDEX)
                step = axe_gcd(step, a.coef[k]);
        for (int i = l->dim_end[d] - 1; i >= (d > 0 ? l->dim_end[d - 1] : 0);
             weight *= l->shard[i--].extent)
            if (step > 0 && weight * l->shard[i].extent > step &&
                number_of(p, l->shard[i].axis) > 0 && l->shard[i].extent > 1)
                return false;
    }
    return true;
}

/* The points where an operand is asked for. */
typedef struct asking {
    int            n;
    int64_t        extent[AXE_RANK_MAX], value[AXE_RANK_MAX];
    const int64_t *worker[AXE_RANK_MAX];
    element        e;
} asking;

/* The element there, and the number of the thread that works there. */
static int64_t
element_at(const asking *a, int64_t *worker)
{
    int64_t flat = a->e.begin;

    *worker = 0;
    for (int i = 0; i < a->n; i++) {
        flat += a->e.step[i] * a->value[i];
        *worker += a->worker[i][a->value[i]];
    }
    return flat;
}

/* Do threads find what they want at every point, and, where they write, are
 * they all that have it?  Those that want, and those that have it, are as far
 * from one another everywhere: shown once for each distance.  Points outside of
 * the tile are such that conditions rule out. */
static bool
all_covered(axe_planner *p, asking *a, const axe_layout *l, int n_have,
            const int64_t *have, int n_want, const int64_t *want, bool written)
{
    const int64_t *holder = axe_simt_list_holders(p, l);
    int64_t        last = 0, worker;
    bool           known = false;

    do {
        int64_t flat = element_at(a, &worker);
        if (flat < 0 || flat >= l->size)
            continue;
        int64_t delta = worker - holder[flat];
        if ((!known || delta != last) &&
            (!covers(n_have, have, n_want, want, delta) ||
             (written && !covers(n_want, want, n_have, have, -delta))))
            return false;
        last = delta;
        known = true;
    } while (next_point(a->n, a->extent, a->value));
    return true;
}

bool
axe_simt_same_iters(const axe_planner *p, int n, const axe_iter *a,
                    const axe_iter *b)
{
    for (int i = 0; i < n; i++) {
        bool thread = number_of(p, a[i].axis) + number_of(p, b[i].axis) > 0;
        if (a[i].extent != b[i].extent ||
            (thread && (a[i].axis != b[i].axis || a[i].stride != b[i].stride)))
            return false;
    }
    return true;
}

static int
count_copies(const axe_layout *l, const axe_iter *it)
{
    int n = 0;

    for (int i = 0; i < l->n_replica; i++)
        n += l->replica[i].extent == it->extent &&
             l->replica[i].stride == it->stride &&
             l->replica[i].axis == it->axis;
    return n;
}

bool
axe_simt_same_copies(const axe_layout *a, const axe_layout *b)
{
    for (int i = 0; i < a->n_replica; i++)
        if (count_copies(a, &a->replica[i]) != count_copies(b, &a->replica[i]))
            return false;
    return a->n_replica == b->n_replica;
}

/* Does every subscript begin at 0, and not beside that as `n - 1` does? */
static bool
begins_at_zero(const axe_planner *p, const axe_node *load)
{
    for (int d = 0; d < load->n_arg; d++) {
        axe_affine a;
        if (!axe_subscript_of(p->cx, load->arg[d], &a) || a.constant != 0)
            return false;
    }
    return true;
}

/* Is the tile laid out as the work makes it, and read as it lies?  Then all is
 * where it is wanted. */
static bool
is_projection(axe_planner *p, const axe_work *w, const axe_operand *op,
              const axe_layout *l)
{
    const axe_layout *made;

    return l->n_offset == 0 && begins_at_zero(p, op->load) &&
           axe_simt_project(p, w, op->load, &made) &&
           made->n_shard == l->n_shard && made->n_replica == l->n_replica &&
           axe_simt_same_iters(p, l->n_shard, l->shard, made->shard) &&
           axe_simt_same_iters(p, l->n_replica, l->replica, made->replica);
}

static bool
is_local(axe_planner *p, const axe_request *r, const axe_work *w,
         const axe_operand *op, int64_t *n_point)
{
    const axe_layout *l = p->place[op->tensor->id].layout;
    int64_t          *have, *want;
    const axe_var    *var[AXE_RANK_MAX];
    axe_iter          part[2 * AXE_WALK_MAX];
    int               n_have, n_want;
    asking            a = {0};

    a.n = indices_of(r, op, var, a.extent);
    if (!moves_within(p, op) || !find_element(p, op, a.n, var, &a.e) ||
        !(have = all_sums(p, l->n_replica, l->replica, &n_have)) ||
        !(want = all_sums(p, free_parts(p, w, op, part), part, &n_want)))
        return false;
    *n_point = 1;
    for (int i = 0; i < a.n; i++) {
        if (a.extent[i] == 0)
            return false;
        a.worker[i] = list_workers(p, w, var[i], a.extent[i]);
        *n_point *= a.extent[i];
    }
    return is_projection(p, w, op, l) ||
           all_covered(p, &a, l, n_have, have, n_want, want,
                       op == &r->operand[0]);
}

bool
axe_simt_is_local(axe_planner *p, const axe_request *r, const axe_work *w,
                  const axe_operand *op, int64_t *n_proved)
{
    axe_mark m = axe_ctx_mark(p->cx);
    int64_t  n_point = 0;
    bool     local = is_local(p, r, w, op, &n_point);

    axe_ctx_release(p->cx, m);
    *n_proved += local ? n_point : 0;
    return local;
}
