/* range.c - the values that an affine expression takes where it stands.
 *
 * Each variable runs over a box; beyond that there are facts, affine
 * expressions that are at least 0: of a range whose end is another's variable,
 * `l : j + 1..N`, that l' <= N - j - 2, and of a condition that holds,
 * `n > 0`, that n - 1 >= 0.  a <= a + k*f for a fact f and k > 0, so that a
 * bound of the sum is one of a; k is what takes a variable out.  That is a
 * search, cut off by depth and by steps: what it finds is right, what it misses
 * is not shown. */
#include "ir/range.h"

enum { MAX_DEPTH = 4, MAX_STEP = 400 };

typedef struct prover {
    const axe_reach *in;
    axe_list         fact; /* axe_affine */
    int              steps;
} prover;

static const axe_node *
extent_of(const axe_reach *r, const axe_var *v)
{
    const axe_node *e = r->extent ? r->extent(r->user, v) : NULL;

    return e ? e : v->extent;
}

static axe_interval
box_of(const axe_reach *r, const axe_var *v)
{
    axe_interval    g = {0, 0, true, false}, e;
    const axe_node *extent = extent_of(r, v);

    if (v->kind == AXE_VAR_PART)
        return axe_interval_of(v->extent);
    if (!extent)
        return g;
    e = axe_interval_of(extent);
    g.has_hi = e.has_hi;
    g.hi = e.hi > 0 ? e.hi - 1 : 0;
    return g;
}

static bool
add_corner(int64_t *sum, bool known, int64_t coef, int64_t at)
{
    int64_t v;

    return known && axe_mul(coef, at, &v) && axe_add(*sum, v, sum);
}

/* The most that a comes to over the box. */
static bool
box_top(const axe_reach *r, const axe_affine *a, int64_t *out)
{
    *out = a->constant;
    for (int i = 0; i < a->n; i++) {
        axe_interval v = box_of(r, a->var[i]);
        bool         up = a->coef[i] > 0;
        if (!add_corner(out, up ? v.has_hi : v.has_lo, a->coef[i],
                        up ? v.hi : v.lo))
            return false;
    }
    return true;
}

/* a + k*b, its terms that cancel taken out. */
static bool
add_scaled(axe_ctx *cx, const axe_affine *a, int64_t k, const axe_affine *b,
           axe_affine *out)
{
    const axe_var **var = axe_new_array(cx, const axe_var *, a->n + b->n + 1);
    int64_t        *coef = axe_new_array(cx, int64_t, a->n + b->n + 1), c;
    int             n = 0;

    if (!axe_mul(k, b->constant, &c) || !axe_add(c, a->constant, &c))
        return false;
    *out = (axe_affine){0, var, coef, c};
    for (int i = 0; i < a->n + b->n; i++) {
        const axe_var *v = i < a->n ? a->var[i] : b->var[i - a->n];
        if (i >= a->n && axe_affine_coef(a, v) != 0)
            continue;
        if (!axe_mul(k, axe_affine_coef(b, v), &c) ||
            !axe_add(c, axe_affine_coef(a, v), &c))
            return false;
        if (c != 0) {
            var[n] = v;
            coef[n++] = c;
        }
    }
    out->n = n;
    return true;
}

/* ------------------------------------------------------------------ facts */

/* high - low - least is at least 0. */
static void
add_fact(prover *p, const axe_node *high, const axe_node *low, int64_t least)
{
    axe_affine *f = axe_new(p->in->cx, axe_affine), a, b, c;

    if (high->type == AXE_TYPE_INDEX && axe_affine_of(p->in->cx, high, &a) &&
        axe_affine_of(p->in->cx, low, &b) &&
        add_scaled(p->in->cx, &a, -1, &b, &c) &&
        axe_add(c.constant, -least, &c.constant)) {
        *f = c;
        axe_list_push(&p->fact, f);
    }
}

/* Two that differ, one of which is never the greater. */
static void
add_apart(prover *p, const axe_node *a, const axe_node *b)
{
    axe_affine x, y, d;
    int64_t    top;

    if (a->type != AXE_TYPE_INDEX || !axe_affine_of(p->in->cx, a, &x) ||
        !axe_affine_of(p->in->cx, b, &y))
        return;
    if (add_scaled(p->in->cx, &y, -1, &x, &d) && box_top(p->in, &d, &top) &&
        top <= 0)
        add_fact(p, a, b, 1);
    if (add_scaled(p->in->cx, &x, -1, &y, &d) && box_top(p->in, &d, &top) &&
        top <= 0)
        add_fact(p, b, a, 1);
}

static void
add_condition(prover *p, const axe_node *n, bool no)
{
    switch (n->op) {
    case AXE_OP_not:
        add_condition(p, n->arg[0], !no);
        break;
    case AXE_OP_and:
    case AXE_OP_or:
        if ((n->op == AXE_OP_or) == no) {
            add_condition(p, n->arg[0], no);
            add_condition(p, n->arg[1], no);
        }
        break;
    case AXE_OP_lt:
        add_fact(p, n->arg[!no], n->arg[no], !no);
        break;
    case AXE_OP_le:
        add_fact(p, n->arg[!no], n->arg[no], no);
        break;
    case AXE_OP_eq:
    case AXE_OP_ne:
        if ((n->op == AXE_OP_ne) != no) {
            add_apart(p, n->arg[0], n->arg[1]);
        } else {
            add_fact(p, n->arg[0], n->arg[1], 0);
            add_fact(p, n->arg[1], n->arg[0], 0);
        }
        break;
    default:
        break;
    }
}

/* step*v <= extent - 1, where the range has iterations at all. */
static void
add_range(prover *p, const axe_var *v, const axe_node *extent, int64_t step)
{
    axe_ctx        *cx = p->in->cx;
    int64_t         c;
    const axe_node *to;

    if (extent->op == AXE_OP_min && step == 1) {
        add_range(p, v, extent->arg[0], 1);
        add_range(p, v, extent->arg[1], 1);
    } else if (extent->op == AXE_OP_cdiv && step == 1 &&
               axe_is_iconst(extent->arg[1], &c) && c >= 1) {
        add_range(p, v, extent->arg[0], c);
    } else {
        to = axe_node2(cx, AXE_OP_mul, axe_var_node(cx, v->at, v),
                       axe_iconst(cx, v->at, AXE_TYPE_INDEX, step));
        add_fact(p, extent, to, 1);
    }
}

/* Of the ranges that the variables of a, and of their ends, have. */
static void
add_ranges(prover *p, const axe_affine *a)
{
    axe_list seen = {.cx = p->in->cx};

    for (int i = 0; i < a->n; i++)
        axe_list_push(&seen, a->var[i]);
    for (int i = 0; i < seen.n && i < MAX_STEP; i++) {
        const axe_var  *v = seen.item[i];
        const axe_node *extent = extent_of(p->in, v);
        int             from = p->fact.n;
        int64_t         c;
        if (!extent || v->kind == AXE_VAR_PART || axe_is_iconst(extent, &c))
            continue;
        add_range(p, v, extent, 1);
        for (; from < p->fact.n; from++) {
            const axe_affine *f = p->fact.item[from];
            for (int k = 0; k < f->n; k++)
                if (!axe_list_has(&seen, f->var[k]))
                    axe_list_push(&seen, f->var[k]);
        }
    }
}

/* ----------------------------------------------------------------- search */

static bool
find_top(prover *p, const axe_affine *a, int depth, int64_t *out)
{
    int64_t v;
    bool    has = box_top(p->in, a, out);

    for (int i = 0; depth > 0 && i < p->fact.n; i++) {
        const axe_affine *f = p->fact.item[i];
        for (int k = 0; k < a->n && p->steps < MAX_STEP; k++) {
            int64_t    by = axe_affine_coef(f, a->var[k]), q;
            axe_affine sum;
            if (by == 0 || by == -1 ? by == 0 || a->coef[k] == INT64_MIN
                                    : a->coef[k] % by != 0)
                continue;
            q = by == -1 ? a->coef[k] : -(a->coef[k] / by);
            if (q < 1 || !add_scaled(p->in->cx, a, q, f, &sum))
                continue;
            p->steps++;
            if (find_top(p, &sum, depth - 1, &v) && (!has || v < *out)) {
                *out = v;
                has = true;
            }
        }
    }
    return has;
}

axe_interval
axe_reach_of(const axe_reach *r, const axe_affine *a)
{
    prover       p = {.in = r, .fact = {.cx = r->cx}};
    axe_affine   none = {0}, minus;
    axe_interval g = {0, 0, false, false};

    for (const axe_holds *h = r->holds; h; h = h->up)
        add_condition(&p, h->cond, h->no);
    add_ranges(&p, a);
    g.has_hi = find_top(&p, a, MAX_DEPTH, &g.hi);
    p.steps = 0;
    if (!add_scaled(r->cx, &none, -1, a, &minus))
        return g;
    g.has_lo = find_top(&p, &minus, MAX_DEPTH, &g.lo) && g.lo > INT64_MIN;
    g.lo = g.has_lo ? -g.lo : 0;
    return g;
}
