/* certify.c - the addresses of a plan are those of its statement.
 *
 * For every operand in a tile the two maps are shown equal by algebra
 * (prove.c).  As a second net all index values (all of them up to MAX_POINTS,
 * else a grid of at most MAX_GRID) are put through the tensor's own layout, by
 * flat index, and through the plan's base and digit strides.  The two never
 * share code: one is axe_layout_at, the other slicing, grouping and cutting.  A
 * difference is our own bug. */
#include <assert.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/target.h"

enum { MAX_POINTS = 1 << 12, MAX_GRID = 1 << 16, PER_INDEX = 16 };

/* What variables are: indices by value, loops of constant length all in their
 * first iteration or all in their last, everything else 0. */
typedef struct point {
    int                   n;
    const axe_var *const *var;
    const int64_t        *value;
    bool                  last;
} point;

static int64_t
at_point(const point *at, const axe_node *n)
{
    int64_t arg[3] = {0}, v = 0;

    if (n->op == AXE_OP_iconst)
        return n->u.i;
    if (n->op == AXE_OP_var) {
        for (int i = 0; i < at->n; i++)
            if (at->var[i] == n->u.var)
                return at->value[i];
        if (at->last && n->u.var->kind == AXE_VAR_LOOP && n->u.var->extent &&
            axe_is_iconst(n->u.var->extent, &v))
            v--;
        return v;
    }
    if (n->op == AXE_OP_load || n->n_arg == 0 || n->n_arg > AXE_LEN(arg))
        return 0;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = at_point(at, n->arg[i]);
    return axe_op_value(n->op, arg, &v) ? v : 0;
}

/* What an index adds to the address by the plan: the sum of digit * stride. */
static int64_t
moved_by(const axe_operand *op, const axe_var *v, int64_t value)
{
    int64_t at = 0;

    for (int t = 0; t < op->n_term; t++) {
        const axe_term *term = &op->term[t];
        int64_t         rest = value;
        for (int k = term->n_iter - 1; term->var == v && k >= 0; k--) {
            at += rest % term->iter[k].extent * term->iter[k].stride;
            rest /= term->iter[k].extent;
        }
    }
    return at;
}

static bool
has_loop(const axe_node *n)
{
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_LOOP;
    for (int i = 0; i < n->n_arg; i++)
        if (has_loop(n->arg[i]))
            return true;
    return false;
}

enum { MAX_VAR = 16 };

/* An operand at one point after the other.  What each index adds to the planned
 * address and each subscript's value are kept, in the first iterations of loops
 * and in the last, and computed anew where their indices changed. */
typedef struct trail {
    const axe_operand *op;
    int                n;
    const axe_var     *var[MAX_VAR];
    int64_t            extent[MAX_VAR], value[MAX_VAR], moved[MAX_VAR];
    int64_t            step[MAX_VAR];                 /* of the grid */
    unsigned           in_base, in_dim[AXE_RANK_MAX]; /* bits: of indices */
    int64_t            base[2], x[2][AXE_RANK_MAX];
    int64_t            points; /* at most MAX_POINTS + 1 */
} trail;

static unsigned
mentioned(const trail *t, const axe_node *n)
{
    unsigned bits = 0;

    for (int i = 0; i < t->n; i++)
        bits |= axe_mentions(n, t->var[i]) ? 1u << i : 0;
    return bits;
}

static void
add_var(trail *t, const axe_dim *d)
{
    bool used = false;

    for (int k = 0; k < t->op->n_term; k++)
        used = used || t->op->term[k].var == d->var;
    for (int k = 0; k < t->n; k++)
        used = used && t->var[k] != d->var;
    if (!used || t->n == MAX_VAR)
        return;
    t->var[t->n] = d->var;
    t->extent[t->n] = axe_dim_extent(d);
    t->points *=
        t->extent[t->n] <= MAX_POINTS ? t->extent[t->n] : MAX_POINTS + 1;
    if (t->points > MAX_POINTS)
        t->points = MAX_POINTS + 1;
    t->n++;
}

static int64_t
points_of(const trail *t, int i)
{
    return (t->extent[i] + t->step[i] - 1) / t->step[i];
}

/* All points, or of many a grid. */
static void
set_steps(trail *t)
{
    bool many = t->points > MAX_POINTS;

    for (int i = 0; i < t->n; i++)
        t->step[i] =
            many && t->extent[i] > PER_INDEX ? t->extent[i] / PER_INDEX + 1 : 1;
    for (int64_t all = MAX_GRID + 1; many && all > MAX_GRID;) {
        int most = 0;
        all = 1;
        for (int i = 0; i < t->n; i++) {
            all *= all > MAX_GRID ? 1 : points_of(t, i);
            most = points_of(t, i) > points_of(t, most) ? i : most;
        }
        t->step[most] *= all > MAX_GRID ? 2 : 1;
    }
}

/* The indices with these bits have changed. */
static void
update(trail *t, unsigned changed)
{
    for (int i = 0; i < t->n; i++)
        if (changed >> i & 1)
            t->moved[i] = moved_by(t->op, t->var[i], t->value[i]);
    for (int last = 0; last < 2; last++) {
        point at = {t->n, t->var, t->value, last == 1};
        if (t->in_base & changed)
            t->base[last] = at_point(&at, t->op->base);
        for (int d = 0; d < t->op->tensor->rank; d++)
            if (t->in_dim[d] & changed)
                t->x[last][d] = at_point(&at, t->op->load->arg[d]);
    }
}

static void
open_trail(trail *t, const axe_schedule *s, const axe_operand *op)
{
    *t = (trail){.op = op, .points = 1};
    for (int k = 0; k < s->n_nest; k++)
        for (int j = 0; j < s->nest[k].n_dim; j++)
            add_var(t, &s->nest[k].dim[j]);
    set_steps(t);
    t->in_base = ~0u;
    for (int d = 0; d < op->tensor->rank; d++)
        t->in_dim[d] = ~0u;
    update(t, ~0u);
    t->in_base = mentioned(t, op->base);
    for (int d = 0; d < op->tensor->rank; d++)
        t->in_dim[d] = mentioned(t, op->load->arg[d]);
}

/* The next point: all of them, or of many a grid; false behind the last. */
static bool
go_on(trail *t)
{
    unsigned changed = 0;

    for (int i = t->n - 1; i >= 0; i--) {
        changed |= 1u << i;
        if ((t->value[i] += t->step[i]) < t->extent[i]) {
            update(t, changed);
            return true;
        }
        t->value[i] = 0;
    }
    return false;
}

/* The flat index of the element; false if that is not inside the tile, as in
 * iterations of loops that branches exclude. */
static bool
flat_at(const trail *t, int last, int64_t *flat)
{
    *flat = 0;
    for (int d = 0; d < t->op->tensor->rank; d++) {
        int64_t full = 0, x = t->x[last][d];
        axe_is_iconst(t->op->tensor->shape[d], &full);
        if (x < 0 || x >= full)
            return false;
        *flat = *flat * full + x;
    }
    return true;
}

/* Address by the plan: base + sum of digit * stride. */
static int64_t
planned(const trail *t, int last)
{
    int64_t at = t->base[last];

    for (int i = 0; i < t->n; i++)
        at += t->moved[i];
    return at;
}

/* Where the tile's layout puts a flat index: the axes that places are on, and
 * what a step on them is. */
typedef struct placing {
    const axe_layout *l;
    int               n;
    axe_axis          axis[AXE_PLACE_AXES];
    int64_t           by[AXE_PLACE_AXES];
} placing;

static placing
open_placing(const axe_planner *p, const axe_tensor *t)
{
    placing out = {.l = p->place[t->id].layout};

    out.n = p->target->places(p, t, out.axis, out.by);
    return out;
}

/* Address by the definition: the layout at the flat index. */
static int64_t
defined(const placing *x, int64_t flat)
{
    int64_t at = 0;

    for (int i = 0; i < x->n; i++)
        at += x->by[i] * axe_layout_at(x->l, flat, x->axis[i]);
    return at;
}

static int64_t
certify_tile(axe_planner *p, const axe_schedule *s, const axe_operand *op)
{
    placing place = open_placing(p, op->tensor);
    int     n_iteration = has_loop(op->base) || has_loop(op->load) ? 2 : 1;
    int64_t flat, proved = 0;
    trail   t;

    open_trail(&t, s, op);
    do {
        for (int last = 0; last < n_iteration; last++) {
            if (!flat_at(&t, last, &flat))
                continue;
            assert(planned(&t, last) == defined(&place, flat));
            proved += last == 0;
        }
    } while (go_on(&t));
    return proved;
}

void
axe_certify(axe_planner *p, axe_schedule *s)
{
    axe_proof proof;

    for (int i = 0; i < s->n_operand; i++) {
        if (s->operand[i].tensor->space == AXE_SPACE_GLOBAL)
            continue;
        proof = axe_prove_operand(p, s, &s->operand[i]);
        assert(proof != AXE_PROOF_WRONG);
        s->n_tile++;
        s->n_equal += proof == AXE_PROOF_EQUAL;
        s->n_proved += certify_tile(p, s, &s->operand[i]);
    }
}

/* ------------------------------------------------------------------- views */

/* Values for the variables of an address: any will do, if tiles begin where
 * they are said to. */
static int64_t
value_of(const axe_planner *p, const axe_var *v)
{
    const axe_retile *r = axe_retile_of(p->n_retile, p->retile, v);

    if (r && v == r->origin)
        return value_of(p, r->scope) * r->tile;
    return 3 + (v->id & 7) + (v->kind == AXE_VAR_SIZE ? 1000 : 0);
}

static int64_t
step_value(const axe_planner *p, int64_t stride, axe_unit unit)
{
    for (int i = 0; i < axe_unit_n_factor(p->cx, unit); i++)
        for (int k = 0; k < p->kernel->n_size; k++)
            if (axe_unit_factor(p->cx, unit, i) == p->kernel->size[k]->name)
                stride *= value_of(p, p->kernel->size[k]);
    return stride;
}

/* The value of index v: that of the dimension of the tile which it walks. */
static int64_t
index_value(const axe_node *access, const axe_var *v, const int64_t *value)
{
    for (int d = 0; d < access->n_arg; d++)
        if (access->arg[d]->op == AXE_OP_var && access->arg[d]->u.var == v)
            return value[d];
    return 0;
}

/* The value of an integer where indices walk the access at these places; false
 * if it is read from memory. */
static bool
evaluate(const axe_planner *p, const axe_node *n, const axe_node *access,
         const int64_t *value, int64_t *out)
{
    const axe_node *arg[3];

    if (n->op == AXE_OP_var) {
        *out = n->u.var->kind == AXE_VAR_INDEX
                   ? index_value(access, n->u.var, value)
                   : value_of(p, n->u.var);
        return true;
    }
    if (axe_is_iconst(n, out))
        return true;
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce || n->n_arg > 3)
        return false;
    for (int i = 0; i < n->n_arg; i++) {
        if (!evaluate(p, n->arg[i], access, value, out))
            return false;
        arg[i] = axe_iconst(p->cx, n->at, n->arg[i]->type, *out);
    }
    n = axe_node_new(p->cx, n->op, n->type, n->at, n->n_arg, arg);
    return axe_is_iconst(n, out);
}

int64_t
axe_certify_view(axe_planner *p, const axe_operand *src, const axe_node *load,
                 const axe_schedule *fill)
{
    const axe_node *from = fill->operand[1].load, *dst = fill->stmt->dst;
    int64_t         value[16] = {0};

    for (int i = 0; i < 1 << load->n_arg && load->n_arg <= 4; i++) {
        int64_t at, want = 0, x;
        for (int d = 0; d < load->n_arg; d++)
            value[d] = i >> d & 1 ? 5 + d : 0;
        if (!evaluate(p, src->base, load, value, &at))
            return 0;
        for (int t = 0; t < src->n_term; t++)
            at += index_value(load, src->term[t].var, value) *
                  step_value(p, src->term[t].iter[0].stride,
                             src->term[t].iter[0].unit);
        for (int d = 0; d < from->n_arg; d++) {
            if (!evaluate(p, from->arg[d], dst, value, &x))
                return 0;
            want += x * step_value(p, src->tensor->stride[d].coef,
                                   src->tensor->stride[d].unit);
        }
        assert(at == want);
    }
    return 1 << load->n_arg;
}
