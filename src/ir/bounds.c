/* bounds.c - what can be shown of the subscripts of an index statement.
 *
 * How far one reaches is range.c's; where a domain is a box that is exact: it
 * is reached at a corner.  That no element is written twice is shown by mixed
 * radices: within one subscript, terms by ascending |coefficient|, each greater
 * than all those before it can add up to, determine their variables; these drop
 * out of the other subscripts, and so on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/range.h"

/* Index variables whose extents hold here, and conditions. */
typedef struct scope {
    axe_ctx         *cx;
    int              n;
    axe_dim         *dim;
    const axe_holds *holds;
} scope;

static const axe_node *
extent_of(const void *user, const axe_var *v)
{
    const scope *s = user;

    for (int i = s->n - 1; i >= 0; i--)
        if (s->dim[i].var == v)
            return s->dim[i].extent;
    return NULL;
}

static axe_interval
range_of(const scope *s, const axe_affine *a)
{
    axe_reach r = {s->cx, extent_of, s, s->holds};

    return axe_reach_of(&r, a);
}

static axe_status
outside(axe_ctx *cx, const axe_node *load, int k, const char *how)
{
    const axe_tensor *t = load->u.tensor;
    axe_status        st =
        axe_fail(cx, load->arg[k]->at, AXE_ESHAPE,
                 "`%s` %s outside dimension %d of `%s`, which has %s elements",
                 axe_node_text(cx, load->arg[k]), how, k, t->name,
                 axe_node_text(cx, t->shape[k]));
    axe_note(cx, t->at, "declared here");
    return st;
}

static axe_status
check_inside(const scope *s, const axe_node *load, int k, const axe_affine *a)
{
    axe_interval g = range_of(s, a);
    int64_t      extent = 0;
    axe_status   st;

    if (!axe_is_iconst(load->u.tensor->shape[k], &extent))
        return AXE_OK;
    if (a->n == 0 && (a->constant < 0 || a->constant >= extent))
        return outside(s->cx, load, k, "is");
    if (g.has_lo && g.lo < 0)
        return outside(s->cx, load, k,
                       axe_textf(s->cx, "begins at %" PRId64 ",", g.lo));
    if (g.has_hi && g.hi >= extent)
        return outside(s->cx, load, k,
                       axe_textf(s->cx, "reaches %" PRId64 ",", g.hi));
    if (g.has_lo && g.has_hi)
        return AXE_OK;
    st = axe_fail(s->cx, load->arg[k]->at, AXE_ESHAPE,
                  "`%s` cannot be shown to stay inside `%s`",
                  axe_node_text(s->cx, load->arg[k]), load->u.tensor->name);
    axe_help(s->cx, "subscripts of tiles may use indices, and loops and scopes "
                    "whose counts are compile-time constants");
    return st;
}

/* Such a subscript is checked when the kernel runs. */
static bool
computes(const axe_affine *a)
{
    for (int i = 0; i < a->n; i++)
        if (axe_is_computed(a->var[i]))
            return true;
    return false;
}

static axe_status
check_load(const scope *s, const axe_node *load)
{
    axe_affine a;

    for (int k = 0; k < load->n_arg; k++) {
        if (!axe_subscript_of(s->cx, load->arg[k], &a))
            return axe_fail(s->cx, load->arg[k]->at, AXE_EUNSUPPORTED,
                            "the subscript `%s` folds; fold into a tile first",
                            axe_node_text(s->cx, load->arg[k]));
        if (load->u.tensor->space != AXE_SPACE_GLOBAL && !computes(&a))
            AXE_TRY(check_inside(s, load, k, &a));
    }
    return AXE_OK;
}

/* s with the variables of a reduction. */
static scope
inside_reduce(const scope *s, const axe_node *n)
{
    scope in = *s;

    in.dim = axe_new_array(s->cx, axe_dim, s->n + n->u.reduce.n_over);
    if (s->n > 0)
        memcpy(in.dim, s->dim, (size_t)s->n * sizeof s->dim[0]);
    for (int i = 0; i < n->u.reduce.n_over; i++)
        in.dim[in.n++] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
    return in;
}

/* What holds in operand i of n, if the operands before it decide whether it
 * counts: of `a ? b : c`, `a && b` and `a || b`. */
static bool
decides(const axe_node *n, int i, axe_holds *h)
{
    h->cond = n->n_arg > 0 ? n->arg[0] : NULL;
    h->no = n->op == AXE_OP_or || i == 2;
    return i > 0 && (n->op == AXE_OP_select || n->op == AXE_OP_and ||
                     n->op == AXE_OP_or);
}

static axe_status
check_loads(const scope *s, const axe_node *n)
{
    scope in = *s;

    if (n->op == AXE_OP_load)
        AXE_TRY(check_load(s, n));
    if (n->op == AXE_OP_reduce)
        in = inside_reduce(s, n);
    for (int i = 0; i < n->n_arg; i++) {
        axe_holds h = {.up = s->holds};
        in.holds = decides(n, i, &h) ? &h : s->holds;
        AXE_TRY(check_loads(&in, n->arg[i]));
    }
    return AXE_OK;
}

axe_status
axe_stmt_check_inside(axe_ctx *cx, const axe_stmt *s, const axe_holds *holds)
{
    scope in = {cx, s->n_dim, axe_new_array(cx, axe_dim, s->n_dim), holds};

    if (s->n_dim > 0)
        memcpy(in.dim, s->dim, (size_t)s->n_dim * sizeof s->dim[0]);
    AXE_TRY(check_loads(&in, s->dst));
    return check_loads(&in, s->value);
}

/* ------------------------------------------------- one write per element */

typedef struct term {
    int64_t step; /* |coefficient| */
    int64_t last; /* largest value of the variable; INT64_MAX: not known */
    int     free; /* which free index */
} term;

typedef struct writes {
    axe_ctx        *cx;
    const axe_stmt *s;
    int             rank;
    axe_affine     *sub;   /* [rank] */
    bool           *known; /* [n_free] determined by the subscripts */
} writes;

static int64_t
last_of(const axe_stmt *s, int i)
{
    int64_t n;

    return axe_is_iconst(s->dim[i].extent, &n) ? n - 1 : INT64_MAX;
}

static int
by_step(const void *a, const void *b)
{
    const term *x = a, *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static bool
radix_holds(int n, const term *t)
{
    int64_t reach = 0, more;

    for (int i = 0; i < n; i++) {
        if (t[i].step <= reach)
            return false;
        if (i + 1 < n && (!axe_mul(t[i].step, t[i].last, &more) ||
                          !axe_add(reach, more, &reach)))
            return false;
    }
    return true;
}

/* Does a computed term move with an index that is not determined? */
static bool
drifts(const writes *w, const axe_affine *a)
{
    for (int i = 0; i < a->n; i++)
        for (int j = 0; axe_is_computed(a->var[i]) && j < w->s->n_free; j++)
            if (!w->known[j] &&
                axe_mentions(a->var[i]->extent, w->s->dim[j].var))
                return true;
    return false;
}

/* Mark what subscript k determines; true if that is news. */
static bool
determine(writes *w, int k, term *t)
{
    int n = 0;

    if (drifts(w, &w->sub[k]))
        return false;
    for (int i = 0; i < w->s->n_free; i++) {
        int64_t c = axe_affine_coef(&w->sub[k], w->s->dim[i].var);
        if (w->known[i] || c == 0)
            continue;
        if (c == INT64_MIN)
            return false;
        t[n++] = (term){c < 0 ? -c : c, last_of(w->s, i), i};
    }
    qsort(t, (size_t)n, sizeof t[0], by_step);
    if (n == 0 || !radix_holds(n, t))
        return false;
    for (int i = 0; i < n; i++)
        w->known[t[i].free] = true;
    return true;
}

static bool
all_known(const writes *w)
{
    for (int i = 0; i < w->s->n_free; i++)
        if (!w->known[i])
            return false;
    return true;
}

/* Steps (di, dj) that change no subscript, |di| and |dj| in range; dj is 0
 * where index i alone does. */
static bool
find_clash(const writes *w, int i, int j, int64_t *di, int64_t *dj)
{
    int64_t a = 0, b = 0, g, x, y;

    for (int k = 0; k < w->rank && a == 0 && b == 0; k++) {
        a = axe_affine_coef(&w->sub[k], w->s->dim[i].var);
        b = i == j ? 0 : axe_affine_coef(&w->sub[k], w->s->dim[j].var);
    }
    if (a == INT64_MIN || b == INT64_MIN || (a != 0 && b == 0))
        return false;
    g = axe_gcd(a, b);
    *di = g ? b / g : 1;
    *dj = g ? -(a / g) : 0;
    for (int k = 0; k < w->rank; k++) {
        a = axe_affine_coef(&w->sub[k], w->s->dim[i].var);
        b = i == j ? 0 : axe_affine_coef(&w->sub[k], w->s->dim[j].var);
        if (!axe_mul(a, *di, &x) || !axe_mul(b, *dj, &y) ||
            !axe_add(x, y, &x) || x != 0)
            return false;
    }
    return *di <= last_of(w->s, i) && *di >= -last_of(w->s, i) &&
           *dj <= last_of(w->s, j) && *dj >= -last_of(w->s, j);
}

static axe_status
clash(const writes *w, int i, int j, int64_t di, int64_t dj)
{
    const char *a = w->s->dim[i].var->name, *b = w->s->dim[j].var->name;
    const char *dst = axe_node_text(w->cx, w->s->dst);
    int64_t     i0 = di > 0 ? di : 0, j0 = dj > 0 ? dj : 0;

    if (i == j)
        return axe_fail(w->cx, w->s->dst->at, AXE_ESHAPE,
                        "`%s` is one element for %s = 0 and %s = %" PRId64
                        ", and would be written twice",
                        dst, a, a, di);
    return axe_fail(w->cx, w->s->dst->at, AXE_ESHAPE,
                    "`%s` is one element for %s = %" PRId64 ", %s = %" PRId64
                    " and %s = %" PRId64 ", %s = %" PRId64
                    ", and would be written twice",
                    dst, a, i0 - di, b, j0 - dj, a, i0, b, j0);
}

static axe_status
refuse(const writes *w)
{
    int64_t    di, dj;
    axe_status st;

    for (int i = 0; i < w->s->n_free; i++)
        for (int j = i; j < w->s->n_free; j++)
            if (!w->known[i] && !w->known[j] && find_clash(w, i, j, &di, &dj))
                return clash(w, i, j, di, dj);
    st = axe_fail(w->cx, w->s->dst->at, AXE_ESHAPE,
                  "`%s` cannot be shown to write each element once",
                  axe_node_text(w->cx, w->s->dst));
    axe_help(w->cx, "each subscript must keep its indices apart, as in "
                    "`8*m + n` with n below 8");
    return st;
}

bool
axe_is_scatter(axe_ctx *cx, const axe_stmt *s)
{
    axe_affine a;

    for (int k = 0; k < s->dst->n_arg; k++)
        if (axe_subscript_of(cx, s->dst->arg[k], &a) && computes(&a))
            return true;
    return false;
}

/* ------------------------------------------------------------- own reads */

static bool
same_affine(axe_ctx *cx, const axe_node *a, const axe_node *b)
{
    axe_affine x, y;

    if (!axe_affine_of(cx, a, &x) || !axe_affine_of(cx, b, &y) || x.n != y.n ||
        x.constant != y.constant)
        return false;
    for (int i = 0; i < x.n; i++)
        if (axe_affine_coef(&y, x.var[i]) != x.coef[i])
            return false;
    return true;
}

static bool
same_place(axe_ctx *cx, const axe_node *a, const axe_node *b)
{
    for (int k = 0; k < a->n_arg; k++)
        if (!same_affine(cx, a->arg[k], b->arg[k]))
            return false;
    return true;
}

/* Elements are written in no order, so that the value may read of the
 * destination only the element it goes to, and nothing while it folds. */
static axe_status
check_own_reads(axe_ctx *cx, const axe_stmt *s, const axe_node *n)
{
    axe_status st;

    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(check_own_reads(cx, s, n->arg[i]));
    if (n->op != AXE_OP_load || n->u.tensor != s->dst->u.tensor ||
        (same_place(cx, n, s->dst) && s->n_free == s->n_dim))
        return AXE_OK;
    st = axe_fail(cx, n->at, AXE_ESHAPE,
                  "`%s` is read while this statement writes `%s`",
                  axe_node_text(cx, n), axe_node_text(cx, s->dst));
    axe_help(cx, "write another tensor, or read the one element written");
    return st;
}

axe_status
axe_stmt_check_writes(axe_ctx *cx, const axe_stmt *s)
{
    writes w = {.cx = cx, .s = s, .rank = s->dst->n_arg};
    term  *t = axe_new_array(cx, term, s->n_free);
    bool   more = true;

    w.sub = axe_new_array(cx, axe_affine, w.rank);
    w.known = axe_new_array(cx, bool, s->n_free);
    for (int i = 0; i < s->n_free; i++)
        w.known[i] = last_of(s, i) <= 0;
    for (int k = 0; k < w.rank; k++)
        if (!axe_subscript_of(cx, s->dst->arg[k], &w.sub[k]))
            return axe_fail(cx, s->dst->arg[k]->at, AXE_EUNSUPPORTED,
                            "the subscript `%s` folds",
                            axe_node_text(cx, s->dst->arg[k]));
    while (more) {
        more = false;
        for (int k = 0; k < w.rank; k++)
            more = determine(&w, k, t) || more;
    }
    if (!all_known(&w) && !axe_is_scatter(cx, s))
        return refuse(&w);
    if (s->n_free == 0)
        return AXE_OK; /* one element, stored when its value is known */
    for (int k = 0; k < w.rank; k++)
        AXE_TRY(check_own_reads(cx, s, s->dst->arg[k]));
    return check_own_reads(cx, s, s->value);
}
