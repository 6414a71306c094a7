/* check_race.c - no element that entities share is written by two of them.
 *
 * The entities of a scope run at the same time, in any number and order.  They
 * share arguments and what is declared outside of the scope, and agree on the
 * variables around it.  A write is safe if the element tells the entity: every
 * variable of the scope can be computed from the subscripts.  It can where its
 * coefficient in one of them is greater than all that the other terms, without
 * those known already, can add up to, be it in the remainder by what divides
 * all greater terms; or from its quotient and remainder by a constant; or where
 * a condition around the statement fixes it.  Two accesses agree if they tell
 * the variables in the same way.  Elements that a scatter picks are the
 * program's own affair; and where all that a scope does with a tensor is to
 * fold into it by one op, entities may meet: whether they can is the machine's.
 */
#include <inttypes.h>
#include <string.h>

#include "ir/check.h"
#include "ir/list.h"

typedef enum how { OPEN, ONE, FIXED, BY_DIM, BY_PARTS } how;

/* How a variable follows from an access. */
typedef struct key {
    const axe_var  *var;
    how             how;
    int             dim; /* BY_DIM: (subscript - [lo, hi]) / coef */
    int64_t         coef, lo, hi;
    int64_t         mod;   /* of the remainder of the subscript by this, or 0 */
    const axe_node *value; /* FIXED: to this */
} key;

typedef struct access {
    const axe_stmt   *stmt;
    const axe_node   *load;
    bool              write, scatter;
    const axe_affine *sub; /* [rank] */
    int               n_key;
    key              *key; /* variables of the scope, then parts of them */
} access;

/* Where we are in the tree. */
typedef struct around {
    const axe_node      *cond; /* that holds here */
    const struct around *up;
} around;

typedef struct finder {
    axe_ctx        *cx;
    const axe_stmt *scope;
    const around   *at;
    const axe_list *outer; /* axe_var: scopes and loops around the scope */
    axe_list        own;   /* axe_tensor: tiles declared in it */
    axe_list        found; /* access */
    axe_status      status;
} finder;

/* --------------------------------------------------------------- one access */

static bool
mentions_scope(const finder *f, const axe_node *n)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (axe_mentions(n, f->scope->var[i]))
            return true;
    return false;
}

static key *
key_of(access *a, const axe_var *v)
{
    for (int i = 0; i < a->n_key; i++)
        if (axe_var_same(a->key[i].var, v))
            return &a->key[i];
    return NULL;
}

static const axe_node *
extent_of(const access *a, const axe_var *v)
{
    const axe_stmt *s = a->stmt;

    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            return s->dim[i].extent;
    return v->extent;
}

/* The values a variable takes; of an index in a fold inside the value, and of
 * what has no constant extent, nothing is known. */
static bool
values_of(const access *a, const axe_var *v, int64_t *lo, int64_t *hi)
{
    const axe_node *extent = extent_of(a, v);
    axe_interval    r;

    if (!extent)
        return false;
    r = axe_interval_of(extent);
    if (v->kind == AXE_VAR_PART) {
        *lo = r.lo;
        *hi = r.hi;
        return r.has_lo && r.has_hi;
    }
    *lo = 0;
    *hi = r.hi > 0 ? r.hi - 1 : 0;
    return r.has_hi;
}

static bool
has(const axe_list *l, const void *item)
{
    for (int i = 0; i < l->n; i++)
        if (l->item[i] == item)
            return true;
    return false;
}

/* The same for all entities: a size, what is around the scope, or an expression
 * of such. */
static bool
is_common(const finder *f, const axe_var *v)
{
    return v->kind == AXE_VAR_SIZE || has(f->outer, v) ||
           (v->kind == AXE_VAR_PART && !mentions_scope(f, v->extent));
}

/* What the terms of a subscript but v, those known, those common to all and
 * the multiples of mod, unless that is 0, add up to; false where there is no
 * end to it. */
static bool
window(const finder *f, access *a, const axe_affine *sub, const axe_var *v,
       int64_t mod, int64_t *lo, int64_t *hi)
{
    *lo = *hi = sub->constant;
    for (int i = 0; i < sub->n; i++) {
        const axe_var *u = sub->var[i];
        const key     *k = key_of(a, u);
        int64_t        c = sub->coef[i], first, last;
        if (axe_var_same(u, v) || (k && k->how != OPEN) || is_common(f, u) ||
            (mod > 0 && c % mod == 0))
            continue;
        if (!values_of(a, u, &first, &last) || !axe_mul(c, first, &first) ||
            !axe_mul(c, last, &last) ||
            !axe_add(*lo, first < last ? first : last, lo) ||
            !axe_add(*hi, first < last ? last : first, hi))
            return false;
    }
    return true;
}

/* Is a window of [lo, hi] narrower than a step of c? */
static bool
narrow(int64_t lo, int64_t hi, int64_t c)
{
    int64_t width;

    return lo > INT64_MIN && c > INT64_MIN && axe_add(hi, -lo, &width) &&
           width < (c < 0 ? -c : c);
}

/* The greatest number that divides all coefficients greater than c; 0 if there
 * are none. */
static int64_t
above(const axe_affine *sub, int64_t c)
{
    int64_t g = 0;

    for (int i = 0; i < sub->n; i++)
        if (sub->coef[i] > c || sub->coef[i] < -c)
            g = axe_gcd(g, sub->coef[i]);
    return g;
}

/* Does v run within one turn of mod, beside a window of [lo, hi]? */
static bool
within(access *a, const axe_var *v, int64_t c, int64_t lo, int64_t hi,
       int64_t mod)
{
    int64_t first, last, width;

    return mod == 0 || (values_of(a, v, &first, &last) &&
                        axe_mul(last - first, c < 0 ? -c : c, &last) &&
                        axe_add(hi, -lo, &width) &&
                        axe_add(last, width, &width) && width < mod);
}

static bool
by_dim(const finder *f, access *a, key *k)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        const axe_affine *sub = &a->sub[d];
        int64_t           c = axe_affine_coef(sub, k->var), lo, hi;
        int64_t           mod[2] = {0, 0};
        if (c == 0 || c == INT64_MIN)
            continue;
        mod[1] = above(sub, c < 0 ? -c : c);
        for (int i = 0; i < 2; i++)
            if (window(f, a, sub, k->var, mod[i], &lo, &hi) &&
                narrow(lo, hi, c) && within(a, k->var, c, lo, hi, mod[i])) {
                *k = (key){k->var, BY_DIM, d, c, lo, hi, mod[i], NULL};
                return true;
            }
    }
    return false;
}

/* Is there a known part `v op c`?  c is that of the first one, if 0. */
static bool
known_part(const access *a, axe_op op, const axe_var *v, int64_t *c)
{
    int64_t by;

    for (int i = 0; i < a->n_key; i++) {
        const axe_node *n = a->key[i].var->extent;
        if (a->key[i].var->kind == AXE_VAR_PART && a->key[i].how != OPEN &&
            n->op == op && n->arg[0]->op == AXE_OP_var &&
            n->arg[0]->u.var == v && axe_is_iconst(n->arg[1], &by) &&
            (*c == 0 || *c == by)) {
            *c = by;
            return true;
        }
    }
    return false;
}

static bool
by_parts(access *a, key *k)
{
    int64_t c = 0;

    if (!known_part(a, AXE_OP_div, k->var, &c) ||
        !known_part(a, AXE_OP_mod, k->var, &c))
        return false;
    *k = (key){.var = k->var, .how = BY_PARTS, .coef = c};
    return true;
}

/* Does the expression hold nothing but constants, sizes and known variables? */
static bool
is_known(access *a, const axe_node *n)
{
    const key *k;

    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce)
        return false;
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE) {
        k = key_of(a, n->u.var);
        return k && k->how != OPEN;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!is_known(a, n->arg[i]))
            return false;
    return true;
}

/* `v == value`, alone or among conditions that all hold. */
static bool
by_cond(access *a, const axe_node *cond, key *k)
{
    if (cond->op == AXE_OP_and)
        return by_cond(a, cond->arg[0], k) || by_cond(a, cond->arg[1], k);
    if (cond->op != AXE_OP_eq)
        return false;
    for (int i = 0; i < 2; i++)
        if (cond->arg[i]->op == AXE_OP_var && cond->arg[i]->u.var == k->var &&
            is_known(a, cond->arg[1 - i])) {
            *k = (key){.var = k->var, .how = FIXED, .value = cond->arg[1 - i]};
            return true;
        }
    return false;
}

static bool
find_key(finder *f, access *a, key *k)
{
    int64_t lo, hi;

    if (values_of(a, k->var, &lo, &hi) && lo == hi) {
        k->how = ONE;
        return true;
    }
    for (const around *w = f->at; w; w = w->up)
        if (w->cond && by_cond(a, w->cond, k))
            return true;
    return by_dim(f, a, k) || by_parts(a, k);
}

static void
find_keys(finder *f, access *a)
{
    bool more = true;

    while (more) {
        more = false;
        for (int i = 0; i < a->n_key; i++)
            if (a->key[i].how == OPEN)
                more = find_key(f, a, &a->key[i]) || more;
    }
}

/* Variables of the scope, and parts of them that the subscripts have. */
static void
list_keys(finder *f, access *a)
{
    int n = f->scope->n_var;

    for (int d = 0; d < a->load->n_arg; d++)
        n += a->sub[d].n;
    a->key = axe_new_array(f->cx, key, n + 1);
    for (int i = 0; i < f->scope->n_var; i++)
        a->key[a->n_key++].var = f->scope->var[i];
    for (int d = 0; d < a->load->n_arg; d++)
        for (int i = 0; i < a->sub[d].n; i++) {
            const axe_var *v = a->sub[d].var[i];
            if (v->kind == AXE_VAR_PART && mentions_scope(f, v->extent) &&
                !key_of(a, v))
                a->key[a->n_key++].var = v;
        }
}

static void
add_access(finder *f, const axe_stmt *s, const axe_node *load, bool write)
{
    access     *a = axe_new(f->cx, access);
    axe_affine *sub = axe_new_array(f->cx, axe_affine, load->n_arg + 1);

    *a = (access){.stmt = s, .load = load, .write = write, .sub = sub};
    for (int d = 0; d < load->n_arg; d++)
        if (!axe_affine_of(f->cx, load->arg[d], &sub[d])) {
            sub[d] = (axe_affine){0};
            a->scatter = true;
        }
    list_keys(f, a);
    find_keys(f, a);
    axe_list_push(&f->found, a);
}

/* Do the entities of the scope share it? */
static bool
is_shared(const finder *f, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ||
           (f->outer->n > 0 && !has(&f->own, t));
}

typedef struct reads {
    finder         *f;
    const axe_stmt *s;
} reads;

static void
note_read(void *user, const axe_node *n)
{
    reads *r = user;

    if (n->op == AXE_OP_load && is_shared(r->f, n->u.tensor) &&
        n->u.tensor->dir != AXE_DIR_IN)
        add_access(r->f, r->s, n, false);
}

static void
find_accesses(finder *f, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        const around   *up = f->at;
        around          in = {s->cond, up};
        reads           r = {f, s};
        if (s->kind == AXE_STMT_TENSOR)
            axe_list_push(&f->own, s->tensor);
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            axe_list_push(&f->own, s->pipeline->tensor[k]);
        if (s->kind == AXE_STMT_INDEX) {
            if (is_shared(f, s->dst->u.tensor))
                add_access(f, s, s->dst, true);
            axe_node_walk(s->value, note_read, &r);
        }
        if (s->kind == AXE_STMT_IF)
            f->at = &in;
        find_accesses(f, s->n_body, s->body);
        f->at = up;
        find_accesses(f, s->n_other, s->other);
    }
}

/* --------------------------------------------------------------------- pairs
 */

/* Do both access' subscripts d shift alike with what is known or common? */
static bool
same_shift(const finder *f, access *a, access *b, int d, const axe_var *v)
{
    const axe_affine *x = &a->sub[d], *y = &b->sub[d];

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < x->n; i++) {
            const axe_var *u = x->var[i];
            const key     *k = key_of(a, u);
            if ((is_common(f, u) || (k && k->how != OPEN)) &&
                !axe_var_same(u, v) && axe_affine_coef(y, u) != x->coef[i])
                return false;
        }
        x = &b->sub[d];
        y = &a->sub[d];
    }
    return true;
}

/* By one subscript: do both windows together still tell the variable? */
static bool
same_dim(const finder *f, access *a, access *b, const key *x, const key *y)
{
    int64_t lo = x->lo < y->lo ? x->lo : y->lo;
    int64_t hi = x->hi > y->hi ? x->hi : y->hi;

    return x->dim == y->dim && x->coef == y->coef && x->mod == y->mod &&
           narrow(lo, hi, x->coef) &&
           within(a, x->var, x->coef, lo, hi, x->mod) &&
           same_shift(f, a, b, x->dim, x->var);
}

static bool
same_key(const finder *f, access *a, access *b, const key *x, const key *y)
{
    if (x->how != y->how)
        return false;
    if (x->how == FIXED)
        return axe_node_same(x->value, y->value);
    if (x->how == BY_PARTS)
        return x->coef == y->coef;
    return x->how == ONE || (x->how == BY_DIM && same_dim(f, a, b, x, y));
}

/* Do the two touch one element only in one entity? */
static bool
agree(const finder *f, access *a, access *b)
{
    bool parts = false;

    for (int i = 0; i < f->scope->n_var; i++) {
        if (!same_key(f, a, b, &a->key[i], &b->key[i]))
            return false;
        parts = parts || a->key[i].how == BY_PARTS;
    }
    for (int i = f->scope->n_var; parts && i < a->n_key; i++) {
        const key *y = key_of(b, a->key[i].var);
        if (!y || !same_key(f, a, b, &a->key[i], y))
            return false;
    }
    return true;
}

/* Are they apart in some dimension, whatever the entity? */
static bool
apart(const finder *f, access *a, access *b)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        int64_t lo, hi, first, last;
        bool    fixed = true;
        for (int i = 0; i < a->sub[d].n + b->sub[d].n; i++) {
            const axe_var *v = i < a->sub[d].n ? a->sub[d].var[i]
                                               : b->sub[d].var[i - a->sub[d].n];
            fixed = fixed && !key_of(a, v) && !key_of(b, v) && !is_common(f, v);
        }
        if (fixed && window(f, a, &a->sub[d], NULL, 0, &lo, &hi) &&
            window(f, b, &b->sub[d], NULL, 0, &first, &last) &&
            (hi < first || last < lo))
            return true;
    }
    return false;
}

/* --------------------------------------------------------------------- report
 */

static const key *
open_key(const finder *f, const access *a)
{
    for (int i = 0; i < f->scope->n_var; i++)
        if (a->key[i].how == OPEN)
            return &a->key[i];
    return NULL;
}

/* Does the scope do nothing with the global tensor but fold into it alike? */
static bool
folds_alone(const finder *f, const access *a)
{
    const axe_tensor *t = a->load->u.tensor;

    for (int i = 0; i < f->found.n; i++) {
        const access *b = f->found.item[i];
        if (b->load->u.tensor == t &&
            (!b->write || b->stmt->fold != a->stmt->fold))
            return false;
    }
    return a->stmt->fold != AXE_FOLD_NONE && t->space == AXE_SPACE_GLOBAL;
}

static void
check_alone(finder *f, access *a)
{
    const key  *k = open_key(f, a);
    const char *scope = axe_scope_name(f->scope->scope);
    axe_status  st;

    if (!k || a->scatter || folds_alone(f, a))
        return;
    st = axe_fail(f->cx, a->load->at, AXE_ESHAPE,
                  "`%s` is written by more than one %s: it does not tell `%s`",
                  axe_node_text(f->cx, a->load), scope, k->var->name);
    axe_help(f->cx,
             "let a subscript step by `%s` further than the others reach, or "
             "write it where `%s` has one value, as in `if (%s == 0)`",
             k->var->name, k->var->name, k->var->name);
    f->status = f->status == AXE_OK ? st : f->status;
}

static void
check_pair(finder *f, access *w, access *b)
{
    const char *scope = axe_scope_name(f->scope->scope);
    axe_status  st;

    if (w->load->u.tensor != b->load->u.tensor || w->scatter || b->scatter ||
        open_key(f, w) || agree(f, w, b) || apart(f, w, b))
        return;
    if (!b->write) {
        axe_warn(f->cx, b->load->at,
                 "`%s` may be read by one %s while another writes it as `%s`",
                 axe_node_text(f->cx, b->load), scope,
                 axe_node_text(f->cx, w->load));
        return;
    }
    if (open_key(f, b))
        return;
    st = axe_fail(f->cx, b->load->at, AXE_ESHAPE,
                  "`%s` and `%s` may be one element in different %ss",
                  axe_node_text(f->cx, b->load), axe_node_text(f->cx, w->load),
                  scope);
    axe_note(f->cx, w->load->at, "written here, too");
    f->status = f->status == AXE_OK ? st : f->status;
}

static void
check_scope(finder *f)
{
    for (int i = 0; i < f->found.n; i++) {
        access *a = (access *)f->found.item[i];
        if (!a->write)
            continue;
        check_alone(f, a);
        for (int j = 0; j < f->found.n; j++) {
            access *b = (access *)f->found.item[j];
            if (j > i || !b->write)
                check_pair(f, a, b);
        }
    }
}

/* Loops around scopes run their turns one after the other, scopes in scopes do
 * so for each entity. */
static void
find_scopes(axe_ctx *cx, int n, axe_stmt *const *body, axe_list *outer,
            axe_status *status)
{
    int mark = outer->n;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        finder          f = {.cx = cx,
                             .scope = s,
                             .outer = outer,
                             .own = {.cx = cx},
                             .found = {.cx = cx}};
        if (s->kind == AXE_STMT_SCOPE) {
            find_accesses(&f, s->n_body, s->body);
            check_scope(&f);
            *status = *status == AXE_OK ? f.status : *status;
        }
        for (int k = 0; k < s->n_var; k++)
            axe_list_push(outer, s->var[k]);
        find_scopes(cx, s->n_body, s->body, outer, status);
        outer->n = mark;
        find_scopes(cx, s->n_other, s->other, outer, status);
    }
}

/* A variable of the scope that the statement's element does not tell. */
static const axe_var *
untold(axe_ctx *cx, const axe_stmt *scope, axe_list *outer, const axe_stmt *s)
{
    finder f = {.cx = cx,
                .scope = scope,
                .outer = outer,
                .own = {.cx = cx},
                .found = {.cx = cx}};

    find_accesses(&f, scope->n_body, scope->body);
    for (int i = 0; i < f.found.n; i++) {
        const access *a = f.found.item[i];
        const key    *k = a->stmt == s && a->write ? open_key(&f, a) : NULL;
        if (k)
            return k->var;
    }
    return NULL;
}

static bool
find_meeting(axe_ctx *cx, int n, axe_stmt *const *body, axe_list *outer,
             const axe_stmt *s, const axe_var **out)
{
    int  mark = outer->n;
    bool in = false;

    for (int i = 0; i < n && !in; i++) {
        const axe_stmt *at = body[i];
        const axe_var  *v = NULL;
        for (int k = 0; k < at->n_var; k++)
            axe_list_push(outer, at->var[k]);
        in = at == s || find_meeting(cx, at->n_body, at->body, outer, s, out) ||
             find_meeting(cx, at->n_other, at->other, outer, s, out);
        outer->n = mark;
        if (in && at->kind == AXE_STMT_SCOPE)
            v = untold(cx, at, outer, s);
        *out = v ? v : *out;
    }
    return in;
}

const axe_var *
axe_stmt_meets(axe_ctx *cx, const axe_kernel *k, const axe_stmt *s)
{
    axe_list       outer = {.cx = cx};
    const axe_var *v = NULL;

    (void)find_meeting(cx, k->n_body, k->body, &outer, s, &v);
    return v;
}

axe_status
axe_check_races(axe_ctx *cx, const axe_kernel *k)
{
    axe_status status = AXE_OK;
    axe_list   outer = {.cx = cx};

    find_scopes(cx, k->n_body, k->body, &outer, &status);
    return status;
}
