/* same_thread_global.c - does each thread find in global memory only what it
 * touched itself?  And which accesses have no element in common?
 *
 * An element of a global tensor is told by its subscripts, and each of those is
 * a part that differs from iteration to iteration, and a part that the
 * statement's digits count.  Where the first is a multiple of u and the second
 * stays within less than u, one element has one such rest.  So if each rest has
 * one thread, in both statements the same, so has each element; and where rests
 * are apart, so are elements.  What is not known, or too large to walk, is
 * neither. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/simt/hazard/touch.h"

enum { MAX_RANK = 16, MAX_DIGIT = 24, MAX_WALK = 1 << 16, MAX_KEY = 1 << 18 };

/* One subscript of both accesses. */
typedef struct rest {
    int64_t unit;   /* what differs otherwise is a multiple of it; 0: nothing */
    int64_t lo, hi; /* of what digits count, with the constant */
} rest;

/* One access, as its digits count it. */
typedef struct counting {
    axe_planner        *p;
    const axe_touching *at;
    const axe_schedule *s;
    axe_affine          sub[MAX_RANK];
    int                 n_digit; /* the work's and, last, those of entities */
    axe_work_digit      digit[MAX_DIGIT];
    int64_t             value[MAX_DIGIT];
    int64_t             limit[MAX_DIGIT]; /* of the index, where it is the
                                             first of its digits; 0: none */
} counting;

static int64_t
gcd(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Is v one value for the CTA, whatever it has done in between? */
static bool
stays(const axe_node *n, const axe_stmt *top)
{
    if (n->op == AXE_OP_load)
        return false;
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE) {
        for (int i = 0; i < top->n_var; i++)
            if (n->u.var == top->var[i])
                return true;
        return false;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!stays(n->arg[i], top))
            return false;
    return true;
}

static bool
var_stays(const axe_var *v, const axe_stmt *top)
{
    if (v->kind == AXE_VAR_PART)
        return stays(v->extent, top);
    for (int i = 0; i < top->n_var; i++)
        if (v == top->var[i])
            return true;
    return v->kind == AXE_VAR_SIZE;
}

/* The entities' variables around what the access' own thread group does. */
static bool
is_entity(const axe_touching *t, const axe_var *v)
{
    for (const axe_thread_group *c = t->who; c != t->threads && c; c = c->in)
        for (int i = 0; i < c->at->n_var; i++)
            if (c->at->var[i] == v)
                return true;
    return false;
}

/* Is it of one value for both accesses, which are of one entity? */
static bool
is_common(const axe_touching *t, const axe_var *v)
{
    for (const axe_thread_group *c = t->threads; c && c->in; c = c->in)
        for (int i = 0; i < c->at->n_var; i++)
            if (c->at->var[i] == v)
                return true;
    return var_stays(v, axe_threads_cta(t->threads)->at);
}

typedef struct extent_search {
    const axe_var *var;
    int64_t        n;
} extent_search;

static void
find_extent(void *user, const axe_node *n)
{
    extent_search *f = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == f->var &&
            !axe_is_iconst(n->u.reduce.extent[i], &f->n))
            f->n = 0;
}

/* Values of an index of the statement, or of an entity; 0: not known. */
static int64_t
extent_of(const axe_touching *t, const axe_var *v)
{
    extent_search f = {v, 0};

    if (v->kind != AXE_VAR_INDEX)
        return axe_is_iconst(v->extent, &f.n) ? f.n : 0;
    axe_node_walk(t->stmt->value, find_extent, &f);
    for (int i = 0; i < t->stmt->n_dim; i++)
        if (t->stmt->dim[i].var == v)
            f.n = axe_dim_extent(&t->stmt->dim[i]);
    return f.n;
}

static bool
read_subscripts(counting *c)
{
    const axe_node *load = c->at->load;

    for (int d = 0; d < load->n_arg; d++)
        if (load->n_arg > MAX_RANK ||
            !axe_affine_of(c->p->cx, load->arg[d], &c->sub[d]))
            return false;
    return true;
}

/* What of subscript d is no rest: r->unit divides it. */
static void
divide(const counting *c, const counting *other, int d, rest *r)
{
    const axe_affine *a = &c->sub[d];

    for (int i = 0; i < a->n; i++) {
        const axe_var *v = a->var[i];
        if (v->kind == AXE_VAR_INDEX || is_entity(c->at, v) ||
            (is_common(c->at, v) &&
             axe_affine_coef(&other->sub[d], v) == a->coef[i]))
            continue;
        r->unit = gcd(r->unit, a->coef[i]);
    }
}

/* The rest's range, of whole indices; one of unknown extent is no rest. */
static void
spread(const counting *c, int d, rest *r, int64_t *lo, int64_t *hi)
{
    const axe_affine *a = &c->sub[d];

    *lo = *hi = a->constant;
    for (int i = 0; i < a->n; i++) {
        const axe_var *v = a->var[i];
        int64_t        n, reach;
        if (v->kind != AXE_VAR_INDEX && !is_entity(c->at, v))
            continue;
        n = extent_of(c->at, v);
        if (n == 0 || !axe_mul(n - 1, a->coef[i], &reach) ||
            reach > INT32_MAX || reach < -INT32_MAX) {
            r->unit = gcd(r->unit, a->coef[i]);
            continue;
        }
        *lo += reach < 0 ? reach : 0;
        *hi += reach > 0 ? reach : 0;
    }
}

static void
find_reach(const counting *c, int d, axe_reach *r)
{
    const axe_affine *a = &c->sub[d];
    rest              none = {0, 0, 0};
    const axe_var   **var = axe_new_array(c->p->cx, const axe_var *, a->n + 1);
    int64_t          *coef = axe_new_array(c->p->cx, int64_t, a->n + 1);
    int               n = 0;

    for (int i = 0; i < a->n; i++) {
        const axe_var *v = a->var[i];
        if (v->kind == AXE_VAR_INDEX || is_entity(c->at, v))
            continue;
        if (!is_common(c->at, v))
            return;
        var[n] = v;
        coef[n++] = a->coef[i];
    }
    spread(c, d, &none, &r->lo, &r->hi);
    if (none.unit != 0)
        return;
    r->sum = (axe_affine){.n = n, .var = var, .coef = coef};
    r->threads = c->at->threads;
}

const axe_reach *
axe_simt_reach(axe_planner *p, const axe_touching *t)
{
    counting   c = {.p = p, .at = t};
    axe_reach *r = axe_new_array(p->cx, axe_reach, t->load->n_arg + 1);

    if (read_subscripts(&c))
        for (int d = 0; d < t->load->n_arg; d++)
            find_reach(&c, d, &r[d]);
    return r;
}

/* Do rests of less than a unit tell elements? */
static bool
is_told(const rest *r)
{
    return r->unit == 0 || r->hi - r->lo < r->unit;
}

bool
axe_simt_is_apart(axe_planner *p, const axe_touching *a, const axe_touching *b)
{
    counting x = {.p = p, .at = a}, y = {.p = p, .at = b};
    bool     apart = false;

    if (!read_subscripts(&x) || !read_subscripts(&y))
        return false;
    for (int d = 0; d < a->load->n_arg && !apart; d++) {
        rest    r = {0, 0, 0};
        int64_t lo, hi, first, last;
        divide(&x, &y, d, &r);
        divide(&y, &x, d, &r);
        spread(&x, d, &r, &lo, &hi);
        spread(&y, d, &r, &first, &last);
        r.lo = lo < first ? lo : first;
        r.hi = hi > last ? hi : last;
        apart = is_told(&r) && (hi < first || last < lo);
    }
    return apart;
}

/* How far all but v reach in subscript d that count less than it does; -1: not
 * known. */
static int64_t
reach_below(const counting *c, int d, int64_t coef, const axe_var *v)
{
    const axe_affine *a = &c->sub[d];
    int64_t           sum = 0, n, reach;

    for (int i = 0; i < a->n; i++) {
        const axe_var *u = a->var[i];
        int64_t        by = a->coef[i] < 0 ? -a->coef[i] : a->coef[i];
        if (u == v || by > coef || is_common(c->at, u))
            continue;
        n = u->kind == AXE_VAR_PART || u->kind == AXE_VAR_SIZE
                ? 0
                : extent_of(c->at, u);
        if (n == 0 || !axe_mul(n - 1, by, &reach) || !axe_add(sum, reach, &sum))
            return -1;
    }
    return sum;
}

/* Does subscript d differ wherever the loop's variable v does? */
static bool
tells(const counting *c, int d, const axe_var *v)
{
    const axe_affine *a = &c->sub[d];
    int64_t           own = axe_affine_coef(a, v), below;

    own = own < 0 ? -own : own;
    for (int i = 0; i < a->n && own > 0; i++) {
        int64_t by = a->coef[i] < 0 ? -a->coef[i] : a->coef[i];
        if (by < own || (a->var[i] != v && is_common(c->at, a->var[i])))
            continue;
        below = reach_below(c, d, by, a->var[i]);
        if (below < 0 || below >= by)
            return false;
    }
    return own > 0;
}

bool
axe_simt_iterations_apart(axe_planner *p, const axe_touching *a, int n,
                          axe_stmt *const *loop)
{
    counting x = {.p = p, .at = a};

    if (!read_subscripts(&x))
        return false;
    for (int i = 0; i < n; i++) {
        bool told = false;
        for (int d = 0; d < a->load->n_arg; d++)
            told =
                told || (loop[i]->n_var == 1 && tells(&x, d, loop[i]->var[0]));
        if (!told)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ digits */

static bool
add_digit(counting *c, axe_work_digit d)
{
    if (c->n_digit == MAX_DIGIT)
        return false;
    c->digit[c->n_digit++] = d;
    return true;
}

/* The entities around count, too: `stride` is then threads to a step, and no
 * axis that the work has. */
static bool
add_entities(counting *c)
{
    for (const axe_thread_group *w = c->at->who; w != c->at->threads;
         w = w->in) {
        int64_t step = w->n_thread;
        for (int i = w->at->n_var - 1; i >= 0; i--) {
            int64_t n = 0;
            if (!axe_is_iconst(w->at->var[i]->extent, &n) ||
                !add_digit(c, (axe_work_digit){.of = {w->at->var[i], 1, n},
                                               .axis = c->p->simt->reg,
                                               .stride = step}))
                return false;
            step *= n;
        }
    }
    return true;
}

/* One thread of those that count a sum stores it. */
static bool
counts(const counting *c, const axe_work_digit *d)
{
    return !c->at->writes ||
           axe_axis_kind_of(c->p->cx, d->axis) != AXE_KIND_THREAD ||
           axe_nest_has(&c->s->nest[0], d->of.var);
}

/* Digits may count further than their index does. */
static void
find_limits(counting *c)
{
    for (int i = 0; i < c->n_digit; i++) {
        bool known = true;
        for (int k = 0; k < c->n_digit; k++)
            if (c->digit[k].of.var == c->digit[i].of.var)
                known = known && c->digit[k].of.extent > 0 && k >= i;
        c->limit[i] = known ? extent_of(c->at, c->digit[i].of.var) : 0;
    }
}

static bool
read_digits(counting *c)
{
    const axe_work *w;

    c->s = c->p->schedule[c->at->stmt->id];
    if (!c->s || c->s->kind != AXE_SCHED_MAP || !c->s->simt->access ||
        c->s->simt->share > 1 || (c->s->simt->work.n_copy && !c->at->writes))
        return false;
    w = &c->s->simt->work;
    for (int i = 0; i < w->n_digit; i++) {
        axe_work_digit d = w->digit[i];
        if (!counts(c, &d))
            d.of.weight = 0;
        if (!add_digit(c, d))
            return false;
    }
    if (!add_entities(c))
        return false;
    find_limits(c);
    return true;
}

/* A step of the digit in subscript d. */
static int64_t
step_in(const counting *c, int i, int d)
{
    return axe_affine_coef(&c->sub[d], c->digit[i].of.var) *
           c->digit[i].of.weight;
}

/* The rest of subscript d as digits count it; iterations of loops that nobody
 * knows the number of are no rest. */
static void
spread_digits(const counting *c, int d, rest *r)
{
    int64_t lo = c->sub[d].constant, hi = lo;

    for (int i = 0; i < c->n_digit; i++) {
        int64_t step = step_in(c, i, d), n = c->digit[i].of.extent;
        if (n == 0) {
            r->unit = gcd(r->unit, step);
            continue;
        }
        lo += step < 0 ? step * (n - 1) : 0;
        hi += step > 0 ? step * (n - 1) : 0;
    }
    r->lo = lo < r->lo ? lo : r->lo;
    r->hi = hi > r->hi ? hi : r->hi;
}

static int64_t
key_of(const counting *c, const rest *r)
{
    int64_t key = 0;

    for (int d = 0; d < c->at->load->n_arg; d++) {
        int64_t at = c->sub[d].constant - r[d].lo;
        if (!is_told(&r[d]))
            continue;
        for (int i = 0; i < c->n_digit; i++)
            at += step_in(c, i, d) * c->value[i];
        key = key * (r[d].hi - r[d].lo + 1) + at;
    }
    return key;
}

static int64_t
thread_at(const counting *c)
{
    const axe_simt_plan *sp = c->p->simt;
    int                  n_work = c->s->simt->work.n_digit;
    int64_t              at = 0;

    for (int i = 0; i < c->n_digit; i++) {
        const axe_work_digit *d = &c->digit[i];
        int64_t               unit = d->axis == sp->lane ? 1 : sp->lanes;
        if (i >= n_work)
            at += c->value[i] * d->stride;
        else if (axe_axis_kind_of(c->p->cx, d->axis) == AXE_KIND_THREAD)
            at += c->value[i] * d->stride * unit;
    }
    return at;
}

static bool
is_within(const counting *c)
{
    for (int i = 0; i < c->n_digit; i++) {
        int64_t sum = 0;
        for (int k = i; k < c->n_digit && c->limit[i] > 0; k++)
            if (c->digit[k].of.var == c->digit[i].of.var)
                sum += c->value[k] * c->digit[k].of.weight;
        if (c->limit[i] > 0 && sum >= c->limit[i])
            return false;
    }
    return true;
}

static bool
next_point(counting *c)
{
    for (int i = c->n_digit - 1; i >= 0; i--) {
        bool still =
            c->digit[i].of.weight == 0 &&
            axe_axis_kind_of(c->p->cx, c->digit[i].axis) == AXE_KIND_THREAD;
        if (!still && ++c->value[i] < c->digit[i].of.extent)
            return true;
        c->value[i] = 0;
    }
    return false;
}

/* All rests with their threads: noted in `owner`, from -1, or compared. */
static bool
note_threads(counting *c, const rest *r, int64_t *owner)
{
    int64_t left = MAX_WALK;

    memset(c->value, 0, sizeof c->value);
    do {
        int64_t key, who;
        if (!is_within(c))
            continue;
        key = key_of(c, r);
        who = thread_at(c);
        if (left-- == 0 || (owner[key] >= 0 && owner[key] != who))
            return false;
        owner[key] = who;
    } while (next_point(c));
    return true;
}

static bool
same_place(const axe_thread_group *a, const axe_thread_group *b)
{
    return a == b || (a->first == b->first && a->n_thread == b->n_thread &&
                      a->n_entity == b->n_entity && a->in == b->in);
}

static bool
find_rests(const counting *x, const counting *y, rest *r, int64_t *n_key)
{
    *n_key = 1;
    for (int d = 0; d < x->at->load->n_arg; d++) {
        r[d] = (rest){0, INT64_MAX, INT64_MIN};
        divide(x, y, d, &r[d]);
        divide(y, x, d, &r[d]);
        spread_digits(x, d, &r[d]);
        spread_digits(y, d, &r[d]);
        if (is_told(&r[d]) && (!axe_mul(*n_key, r[d].hi - r[d].lo + 1, n_key) ||
                               *n_key > MAX_KEY))
            return false;
    }
    return true;
}

bool
axe_simt_is_kept(axe_planner *p, const axe_touching *a, const axe_touching *b)
{
    counting x = {.p = p, .at = a}, y = {.p = p, .at = b};
    rest     r[MAX_RANK];
    axe_mark m = axe_ctx_mark(p->cx);
    int64_t  n, *owner;
    bool     kept = false;

    if (a->threads != b->threads || !same_place(a->who, b->who))
        return false;
    if (a->threads->n_thread == 1)
        return true;
    if (read_subscripts(&x) && read_subscripts(&y) && read_digits(&x) &&
        read_digits(&y) && find_rests(&x, &y, r, &n)) {
        owner = axe_new_array(p->cx, int64_t, n);
        memset(owner, 0xff, (size_t)n * sizeof *owner);
        kept = note_threads(&x, r, owner) && note_threads(&y, r, owner);
    }
    axe_ctx_release(p->cx, m);
    return kept;
}
