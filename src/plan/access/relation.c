/* relation.c - see relation.h. */
#include "plan/access/relation.h"

#include <string.h>

#include "ir/stmt.h"
#include "plan/access/relation_touch.h"
#include "plan/plan_int.h"

/* ---------------------------------------------------------------- relations
 */

static bool
is_own(const axe_stmt *scope, const axe_var *v)
{
    for (int i = 0; i < scope->n_var; i++)
        if (scope->var[i] == v)
            return true;
    return false;
}

/* coef * v of the scope, alone of its variables; NULL: not so. */
static const axe_var *
told_by(const axe_stmt *scope, const axe_touch_window *w, int64_t *coef)
{
    const axe_var *v = NULL;

    for (int i = 0; w->known && i < w->at.n; i++) {
        if (!is_own(scope, w->at.var[i]))
            continue;
        if (v || w->at.coef[i] < 1)
            return NULL;
        v = w->at.var[i];
        *coef = w->at.coef[i];
    }
    return v;
}

/* A sum while it is made. */
typedef struct sum {
    int            n;
    const axe_var *var[64];
    int64_t        coef[64];
    bool           ok;
} sum;

static void
add_term(sum *s, const axe_var *v, int64_t coef)
{
    for (int i = 0; i < s->n; i++)
        if (axe_var_same(s->var[i], v)) {
            s->ok = s->ok && axe_add(s->coef[i], coef, &s->coef[i]);
            return;
        }
    if (s->n == 64) {
        s->ok = false;
        return;
    }
    s->var[s->n] = v;
    s->coef[s->n++] = coef;
}

/* Where y's window begins, less where x's does without its own variable. */
static sum
difference(const axe_stmt *from, const axe_touch_window *x,
           const axe_touch_window *y)
{
    sum s = {.ok = true};

    for (int i = 0; i < y->at.n; i++)
        add_term(&s, y->at.var[i], y->at.coef[i]);
    for (int i = 0; i < x->at.n; i++)
        if (!is_own(from, x->at.var[i]))
            add_term(&s, x->at.var[i], -x->at.coef[i]);
    return s;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t
common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* floor((sum + c) / by) as an expression: of g*q, g being what divides all
 * coefficients and by, it is floor((q + floor(c / g)) / (by / g)). */
static const axe_node *
quotient(axe_ctx *cx, const sum *s, int64_t c, int64_t by)
{
    const axe_node *n = NULL, *term;
    int64_t         g = by;

    for (int i = 0; i < s->n; i++)
        g = common_divisor(g, s->coef[i]);
    for (int i = 0; i < s->n; i++) {
        if (s->coef[i] == 0)
            continue;
        term = axe_node2(cx, AXE_OP_mul,
                         axe_var_node(cx, s->var[i]->at, s->var[i]),
                         axe_index_const(cx, s->coef[i] / g));
        n = n ? axe_node2(cx, AXE_OP_add, n, term) : term;
    }
    term = axe_index_const(cx, floor_div(c, g));
    n = n ? axe_node2(cx, AXE_OP_add, n, term) : term;
    return g == by ? n
                   : axe_node2(cx, AXE_OP_div, n, axe_index_const(cx, by / g));
}

/* What variable k of a scope must be. */
typedef struct need {
    int64_t                  by; /* 0: anything */
    const axe_node          *lo, *hi;
    const axe_relation_read *read; /* whose value they mention; or NULL */
} need;

/* c*v + [x.lo, x.hi] meets s + [y.lo, y.hi]: between which values v is.  Where
 * always r of them are needed, from a multiple of r on, they are counted
 * together. */
static bool
between(axe_ctx *cx, const sum *s, const axe_touch_window *x,
        const axe_touch_window *y, int64_t c, need *out)
{
    int64_t least, most, lo, hi, r;
    bool    whole = true;

    if (!s->ok || !axe_mul(x->hi, -1, &least) || !axe_mul(x->lo, -1, &most) ||
        !axe_add(y->lo, least, &least) || !axe_add(y->hi, most, &most) ||
        !axe_add(least, c - 1, &least))
        return false;
    lo = floor_div(least, c);
    hi = floor_div(most, c);
    r = hi - lo + 1;
    for (int i = 0; i < s->n; i++)
        whole =
            whole && r > 1 && s->coef[i] % c == 0 && s->coef[i] / c % r == 0;
    if (whole && lo == 0) {
        out->by = r;
        out->lo = out->hi = quotient(cx, s, 0, c * r);
        return true;
    }
    out->by = 1;
    out->lo = quotient(cx, s, least, c);
    out->hi = quotient(cx, s, most, c);
    if (axe_node_same(out->lo, out->hi))
        out->hi = out->lo;
    return true;
}

static need
need_of(axe_ctx *cx, const axe_stmt *from, int k, const axe_touch *a,
        const axe_touch *b)
{
    need    n = {0};
    int64_t coef = 0;

    for (int d = 0; d < a->load->n_arg; d++) {
        const axe_touch_window *x = &a->dim[d], *y = &b->dim[d];
        if (!x->known || !y->known || x->read ||
            told_by(from, x, &coef) != from->var[k])
            continue;
        sum s = difference(from, x, y);
        if (!between(cx, &s, x, y, coef, &n))
            continue;
        n.read = y->read;
        return n;
    }
    return n;
}

/* ---------------------------------------------------------------- the group
 */

static const axe_counters *
counters_for(axe_ctx *cx, axe_overlap_group *g, const axe_stmt *of,
             const need *n)
{
    int64_t      *by = axe_new_array(cx, int64_t, of->n_var + 1);
    axe_counters *c;
    size_t        bytes = (size_t)of->n_var * sizeof *by;

    for (int k = 0; k < of->n_var; k++)
        by[k] = n[k].by;
    for (int i = 0; i < g->counters.n; i++) {
        const axe_counters *has = g->counters.item[i];
        if (has->of == of && memcmp(has->by, by, bytes) == 0)
            return has;
    }
    c = axe_new(cx, axe_counters);
    *c = (axe_counters){.of = of, .by = by, .first = g->n_counter};
    c->n = axe_index_const(cx, 1);
    for (int k = 0; k < of->n_var; k++)
        if (by[k] > 0)
            c->n =
                axe_node2(cx, AXE_OP_mul, c->n, axe_counters_extent(cx, c, k));
    g->n_counter = axe_node2(cx, AXE_OP_add, g->n_counter, c->n);
    axe_list_push(&g->counters, c);
    return c;
}

static bool
same_node(const axe_node *a, const axe_node *b)
{
    return a == b || (a && b && axe_node_same(a, b));
}

static bool
has_each(const axe_list *each, const axe_var *v)
{
    for (int i = 0; i < each->n; i++)
        if (((const axe_dim *)each->item[i])->var == v)
            return true;
    return false;
}

static void
add_each(axe_list *each, const axe_var *v, const axe_node *extent)
{
    axe_dim *d;

    if (has_each(each, v))
        return;
    d = axe_new(each->cx, axe_dim);
    *d = (axe_dim){v, extent};
    axe_list_push(each, d);
}

/* The indices of the statement in n. */
static void
add_indices(const axe_stmt *s, const axe_node *n, axe_list *each)
{
    const axe_var *v = n->op == AXE_OP_var ? n->u.var : NULL;

    for (int i = 0; i < n->n_arg; i++)
        add_indices(s, n->arg[i], each);
    if (v && v->kind == AXE_VAR_INDEX)
        add_each(each, v, axe_stmt_extent(s, v));
}

/* The values that the relation reads, and what runs in their subscripts. */
static void
list_reads(axe_ctx *cx, axe_relation *r, const need *needs)
{
    axe_relation_read *read =
        axe_new_array(cx, axe_relation_read, r->from->n_var + 1);
    axe_list each = {.cx = cx};
    axe_dim *dim;

    for (int k = 0; k < r->from->n_var; k++) {
        const axe_relation_read *x = needs[k].read;
        for (int i = 0; x && i < x->n_loop; i++)
            add_each(&each, x->loop[i], x->loop[i]->extent);
    }
    for (int k = 0; k < r->from->n_var; k++) {
        const axe_relation_read *x = needs[k].read;
        for (int d = 0; x && d < x->load->n_arg; d++)
            add_indices(r->b, x->load->arg[d], &each);
        if (x)
            read[r->n_read++] = *x;
    }
    dim = axe_new_array(cx, axe_dim, each.n + 1);
    for (int i = 0; i < each.n; i++)
        dim[i] = *(const axe_dim *)each.item[i];
    r->read = read;
    r->n_each = each.n;
    r->each = dim;
}

/* Do values read run as far? */
static bool
same_each(const axe_relation *a, const axe_relation *b)
{
    bool same = a->n_each == b->n_each;

    for (int i = 0; same && i < a->n_each; i++)
        same = a->each[i].var == b->each[i].var &&
               axe_node_same(a->each[i].extent, b->each[i].extent);
    return same;
}

/* Is it said already? */
static bool
has_relation(const axe_overlap_group *g, const axe_relation *r)
{
    for (int i = 0; i < g->relation.n; i++) {
        const axe_relation *x = g->relation.item[i];
        bool                same =
            x->to == r->to && x->counters == r->counters && same_each(x, r);
        for (int k = 0; same && k < r->from->n_var; k++)
            same =
                same_node(x->lo[k], r->lo[k]) && same_node(x->hi[k], r->hi[k]);
        if (same)
            return true;
    }
    return false;
}

static void
relate(axe_ctx *cx, axe_overlap_group *g, const axe_stmt *from,
       const axe_touch *a, const axe_stmt *to, const axe_touch *b)
{
    int              n = from->n_var;
    axe_relation    *r = axe_new(cx, axe_relation);
    const axe_node **lo = axe_new_array(cx, const axe_node *, n + 1);
    const axe_node **hi = axe_new_array(cx, const axe_node *, n + 1);
    need            *needs = axe_new_array(cx, need, n + 1);

    for (int k = 0; k < n; k++) {
        needs[k] = need_of(cx, from, k, a, b);
        lo[k] = needs[k].lo;
        hi[k] = needs[k].hi;
    }
    *r = (axe_relation){.from = from,
                        .to = to,
                        .counters = counters_for(cx, g, from, needs),
                        .lo = lo,
                        .hi = hi,
                        .tensor = a->load->u.tensor,
                        .a = a->stmt,
                        .b = b->stmt,
                        .a_writes = a->writes,
                        .b_writes = b->writes};
    list_reads(cx, r, needs);
    if (!has_relation(g, r))
        axe_list_push(&g->relation, r);
}

int
axe_overlap_length(int n, axe_stmt *const *body)
{
    int k = 1;

    if (n == 0 || body[0]->kind != AXE_STMT_SCOPE || body[0]->keys.overlap != 1)
        return 0;
    while (k < n && body[k]->kind == AXE_STMT_SCOPE &&
           body[k]->keys.overlap == 2)
        k++;
    return k;
}

axe_overlap_group
axe_overlap_find(axe_ctx *cx, int n, axe_stmt *const *scope)
{
    axe_overlap_group g = {.n_scope = n,
                           .scope = scope,
                           .counters = {.cx = cx},
                           .relation = {.cx = cx},
                           .n_counter =
                               axe_index_const(cx, AXE_COUNTERS_FIRST)};
    axe_list         *touched = axe_new_array(cx, axe_list, n);

    axe_list written = {.cx = cx}, reads = {.cx = cx};

    for (int i = 0; i < n; i++)
        axe_touch_written(&written, scope[i]->n_body, scope[i]->body);
    for (int i = 0; i < n; i++)
        touched[i] = axe_touches_of(cx, scope[i], &written, &reads);
    for (int to = 1; to < n; to++)
        for (int from = 0; from < to; from++)
            for (int i = 0; i < touched[from].n; i++)
                for (int k = 0; k < touched[to].n; k++) {
                    const axe_touch *a = touched[from].item[i];
                    const axe_touch *b = touched[to].item[k];
                    if (a->load->u.tensor == b->load->u.tensor &&
                        (a->writes || b->writes))
                        relate(cx, &g, scope[from], a, scope[to], b);
                }
    return g;
}

/* ----------------------------------------------------------------- counters
 */

const axe_node *
axe_counters_extent(axe_ctx *cx, const axe_counters *c, int k)
{
    const axe_node *n = c->of->var[k]->extent;

    return c->by[k] > 1
               ? axe_node2(cx, AXE_OP_cdiv, n, axe_index_const(cx, c->by[k]))
               : n;
}

const axe_node *
axe_counters_at(axe_ctx *cx, const axe_counters *c, const axe_node *const *at)
{
    const axe_node *n = NULL;

    for (int k = 0; k < c->of->n_var; k++) {
        if (c->by[k] == 0)
            continue;
        if (n)
            n = axe_node2(cx, AXE_OP_mul, n, axe_counters_extent(cx, c, k));
        n = n ? axe_node2(cx, AXE_OP_add, n, at[k]) : at[k];
    }
    return n ? axe_node2(cx, AXE_OP_add, c->first, n) : c->first;
}

const axe_node *
axe_counters_full(axe_ctx *cx, const axe_counters *c, const axe_node *const *at)
{
    const axe_node *all = axe_index_const(cx, 1);

    for (int k = 0; k < c->of->n_var; k++) {
        const axe_node *n = c->of->var[k]->extent;
        const axe_node *by = axe_index_const(cx, c->by[k]);
        if (c->by[k] == 1)
            continue;
        if (c->by[k] > 1)
            n = axe_node2(cx, AXE_OP_min, by,
                          axe_node2(cx, AXE_OP_sub, n,
                                    axe_node2(cx, AXE_OP_mul, at[k], by)));
        all = axe_node2(cx, AXE_OP_mul, all, n);
    }
    return all;
}

bool
axe_relation_has_shares(const axe_relation *r)
{
    for (int i = 0; i < r->n_each; i++)
        for (int k = 0; k < i; k++)
            if (axe_mentions(r->each[i].extent, r->each[k].var))
                return false;
    return r->n_each > 0;
}

/* n as people write it: a negative constant is subtracted. */
static const axe_node *
plain(axe_ctx *cx, const axe_node *n)
{
    const axe_node *a;
    int64_t         c;

    if (n->n_arg != 2)
        return n;
    a = plain(cx, n->arg[0]);
    if (n->op == AXE_OP_add && axe_is_iconst(n->arg[1], &c) && c < 0)
        return axe_node2(cx, AXE_OP_sub, a, axe_index_const(cx, -c));
    return axe_node2(cx, n->op, a, n->arg[1]);
}

/* Which values of the variable are waited for, over those of who waits. */
static void
put_values(axe_ctx *cx, axe_buf *b, const char *v, int64_t by,
           const axe_node *lo, const axe_node *hi)
{
    const char *from;

    if (by > 1) {
        lo = axe_node2(cx, AXE_OP_mul, axe_index_const(cx, by), lo);
        hi = axe_node2(cx, AXE_OP_add, lo, axe_index_const(cx, by - 1));
    }
    from = axe_node_text(cx, plain(cx, lo));
    if (lo != hi)
        axe_putf(b, "%s from %s to %s", v, from,
                 axe_node_text(cx, plain(cx, hi)));
    else if (strcmp(from, v) == 0)
        axe_putf(b, "the same %s", v);
    else
        axe_putf(b, "%s = %s", v, from);
}

const char *
axe_relation_text(axe_ctx *cx, const axe_relation *r)
{
    axe_buf b = {.cx = cx};

    for (int k = 0; k < r->from->n_var; k++) {
        int64_t     by = r->counters->by[k];
        const char *v = r->from->var[k]->name;
        axe_puts(&b, k ? ", " : "");
        if (by == 0)
            axe_putf(&b, "all %s", v);
        else
            put_values(cx, &b, v, by, r->lo[k], r->hi[k]);
    }
    for (int i = 0; i < r->n_read; i++)
        axe_putf(&b, "%s%s", i ? ", " : ", for each ",
                 axe_node_text(cx, r->read[i].load));
    return b.text ? b.text : "";
}
