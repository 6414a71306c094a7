/* prove.c - the addresses of a plan by layout algebra, for tiles of any size.
 *
 * The subscripts of an access are a layout S from the box of all variables in
 * them (indices, and loops and scopes of constant extent) to the tile's flat
 * index.  The statement's address map is therefore L o S, with L the tile's
 * layout.  The plan's own map is a layout, too: the digits of each index at
 * their strides, and what its base adds for each loop.  The two are compared
 * by axe_layout_equal, which decides.  The planner got its map by slicing and
 * grouping L; composition is not used there. */
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/target.h"

enum { MAX_VAR = 32, MAX_ITER = 96 };

typedef struct maps {
    int            n; /* variables of the box */
    const axe_var *var[MAX_VAR];
    int64_t        extent[MAX_VAR];
    axe_iter       flat[MAX_VAR]; /* S */
    int64_t        first;         /* where it begins */
    int            n_iter;
    axe_iter       own[MAX_ITER]; /* the plan's */
} maps;

static const axe_dim *
dim_of(const axe_schedule *s, const axe_var *v)
{
    for (int k = 0; k < s->n_nest; k++)
        for (int i = 0; i < s->nest[k].n_dim; i++)
            if (s->nest[k].dim[i].var == v)
                return &s->nest[k].dim[i];
    return NULL;
}

static int
place_of(const maps *m, const axe_var *v)
{
    for (int i = 0; i < m->n; i++)
        if (m->var[i] == v)
            return i;
    return -1;
}

/* Put v into the box; false if it does not run from 0 to a constant. */
static bool
add_var(const axe_schedule *s, maps *m, const axe_var *v)
{
    const axe_dim  *d = dim_of(s, v);
    const axe_node *extent = d ? d->extent : v->extent;
    int64_t         e;

    if (place_of(m, v) >= 0)
        return true;
    if (v->kind == AXE_VAR_PART || v->kind == AXE_VAR_SIZE || !extent ||
        m->n == MAX_VAR || !axe_is_iconst(extent, &e) || e < 1)
        return false;
    m->var[m->n] = v;
    m->extent[m->n] = e;
    m->flat[m->n++] = (axe_iter){e, 0, AXE_AXIS_M, AXE_UNIT_ONE};
    return true;
}

/* S: every subscript times its dimension's step in the flat index. */
static bool
read_subscripts(axe_planner *p, const axe_schedule *s, const axe_operand *op,
                maps *m)
{
    int64_t step = 1, full, by;

    for (int d = op->tensor->rank - 1; d >= 0; d--) {
        axe_affine a;
        if (!axe_affine_of(p->cx, op->load->arg[d], &a) ||
            !axe_mul(a.constant, step, &by) ||
            !axe_add(m->first, by, &m->first))
            return false;
        for (int i = 0; i < a.n; i++) {
            int64_t *at;
            if (!add_var(s, m, a.var[i]))
                return false;
            at = &m->flat[place_of(m, a.var[i])].stride;
            if (!axe_mul(a.coef[i], step, &by) || !axe_add(*at, by, at))
                return false;
        }
        if (!axe_is_iconst(op->tensor->shape[d], &full) ||
            !axe_mul(step, full, &step))
            return false;
    }
    return true;
}

/* The plan's digits of one variable; several terms only if each is one iter. */
static bool
own_digits(const axe_operand *op, maps *m, int i, int64_t by_base)
{
    int      first = m->n_iter;
    int64_t  size = 1;
    axe_iter sum = {m->extent[i], by_base, AXE_AXIS_M, AXE_UNIT_ONE};
    bool     single = true;

    for (int t = 0; t < op->n_term; t++)
        single =
            single && (op->term[t].var != m->var[i] || op->term[t].n_iter <= 1);
    for (int t = 0; t < op->n_term; t++) {
        const axe_term *term = &op->term[t];
        for (int k = 0; term->var == m->var[i] && k < term->n_iter; k++) {
            if (single) {
                sum.stride += term->iter[k].stride;
                continue;
            }
            if (m->n_iter == MAX_ITER ||
                !axe_mul(size, term->iter[k].extent, &size))
                return false;
            m->own[m->n_iter++] = term->iter[k];
        }
    }
    if (single)
        m->own[m->n_iter++] = sum;
    return single ||
           (size == m->extent[i] && by_base == 0 && m->n_iter > first);
}

/* The whole of the plan's map. */
static bool
read_plan(axe_planner *p, const axe_operand *op, maps *m, int64_t *base)
{
    axe_affine a;

    if (!axe_affine_of(p->cx, op->base, &a))
        return false;
    for (int i = 0; i < a.n; i++)
        if (place_of(m, a.var[i]) < 0)
            return false;
    for (int i = 0; i < m->n; i++)
        if (m->n_iter == MAX_ITER ||
            !own_digits(op, m, i, axe_affine_coef(&a, m->var[i])))
            return false;
    *base = a.constant;
    return true;
}

static const axe_layout *
layout_of(axe_planner *p, int n, const axe_iter *it, int64_t offset)
{
    axe_offset        at = {offset, AXE_AXIS_M, AXE_UNIT_ONE};
    const axe_layout *out;
    axe_layout        spec = {.n_shard = n,
                              .shard = it,
                              .n_offset = offset != 0,
                              .offset = &at,
                              .n_dim = 1,
                              .dim_end = &n};

    return axe_layout_make(p->cx, &spec, &out) == AXE_OK ? out : NULL;
}

static axe_proof
prove(axe_planner *p, const axe_schedule *s, const axe_operand *op)
{
    maps              m = {0};
    int64_t           base;
    const axe_layout *own, *flat, *want;
    const axe_layout *l;
    bool              same;

    if (!read_subscripts(p, s, op, &m) || !read_plan(p, op, &m, &base))
        return AXE_PROOF_UNKNOWN;
    if (p->target->storage(p, op->tensor, &l) != AXE_OK)
        return AXE_PROOF_UNKNOWN;
    own = layout_of(p, m.n_iter, m.own, base);
    flat = layout_of(p, m.n, m.flat, m.first);
    if (!own || !flat || axe_layout_compose(p->cx, l, flat, &want) != AXE_OK ||
        axe_layout_equal(p->cx, own, want, &same) != AXE_OK)
        return AXE_PROOF_UNKNOWN;
    return same ? AXE_PROOF_EQUAL : AXE_PROOF_WRONG;
}

axe_proof
axe_prove_operand(axe_planner *p, const axe_schedule *s, const axe_operand *op)
{
    axe_mark  m = axe_ctx_mark(p->cx);
    axe_proof out = prove(p, s, op);

    axe_ctx_release(p->cx, m);
    return out;
}
