/* raise.c - perfect nests around one element become index statements.
 *
 *     thread (t : 0..128) for (r : 2) for (v : 8)
 *         S[t/16 + 8*r, t%16*8 + v] = G[16 + t/16 + 8*r, 64 + t%16*8 + v];
 *
 * is S[i0, i1] = G[16 + i0, 64 + i1] over i0:16, i1:128.  Quotients and
 * remainders by constants cut a variable into digits, t = 16 t1 + t0, until
 * every integer expression of the statement is a layout of the digits: a sum of
 * them, each times its stride.  These layouts are brought to canonical form
 * together: digits a and b are one, of extent |a| |b|, where in every one of
 * them the stride of a is |b| times that of b.  What is left are the indices.
 *
 * That is done only where it is the same statement: iterations are independent,
 * since the destination has every digit and no element twice, and reads of
 * itself but the element written; and each dimension of the destination has one
 * index of stride 1, so that the nest walks a box.  Other nests stay as they
 * are. */
#include <string.h>

#include "base/ctx.h"
#include "ir/rewrite.h"

enum { MAX_DIGIT = 24, MAX_FORM = 64, MAX_LOOP = 12 };

/* weight * digit is part of var; extent 0: the size `end`. */
typedef struct digit {
    const axe_var  *var;
    int64_t         weight, extent;
    const axe_node *end;
} digit;

/* sum of coef * digit + rest, which has no digits. */
typedef struct form {
    const axe_node *node;
    int64_t         coef[MAX_DIGIT];
    int64_t         constant;
    const axe_node *rest; /* or NULL: 0 */
} form;

typedef struct nest {
    axe_ctx        *cx;
    const axe_stmt *s; /* the element's statement */
    int             n_loop, n_digit, n_form;
    const axe_var  *loop[MAX_LOOP];
    digit           digit[MAX_DIGIT];
    form            form[MAX_FORM]; /* the destination's subscripts first */
    bool            again;          /* a digit was cut: begin anew */
    const axe_var  *index[MAX_DIGIT];
} nest;

/* ------------------------------------------------------------------ forms */

static bool
has_loop(const nest *x, const axe_node *n)
{
    for (int i = 0; i < x->n_loop; i++)
        if (axe_mentions(n, x->loop[i]))
            return true;
    return false;
}

/* Cut digit i where its upper part begins to count c: false if it does not. */
static bool
cut(nest *x, int i, int64_t c)
{
    digit *d = &x->digit[i];

    if (d->extent == 0 || c <= 1 || c >= d->extent || d->extent % c != 0 ||
        x->n_digit == MAX_DIGIT)
        return false;
    x->digit[x->n_digit++] =
        (digit){d->var, d->weight * c, d->extent / c, NULL};
    d->extent = c;
    x->again = true;
    return true;
}

/* f / c, or f % c if `mod`: terms that are multiples of c, and others that
 * together stay below it. */
static bool
divide(nest *x, form *f, int64_t c, bool mod)
{
    int64_t below = f->constant % c, more, quotient;

    if (f->rest || f->constant < 0)
        return false;
    for (int i = 0; i < x->n_digit; i++) {
        int64_t a = f->coef[i], e = x->digit[i].extent;
        if (a % c == 0)
            continue;
        if (a < 0 || e == 0 || !axe_mul(a, e - 1, &more))
            return false;
        if (c % a == 0 && cut(x, i, c / a))
            return false;
        if (!axe_add(below, more, &below))
            return false;
    }
    if (below >= c)
        return false;
    for (int i = 0; i < x->n_digit; i++) {
        quotient = f->coef[i] / c;
        if (f->coef[i] % c == 0)
            f->coef[i] = mod ? 0 : quotient;
        else if (!mod)
            f->coef[i] = 0;
    }
    f->constant = mod ? f->constant % c : f->constant / c;
    return true;
}

static bool
scale(nest *x, form *f, int64_t c)
{
    for (int i = 0; i < x->n_digit; i++)
        if (!axe_mul(f->coef[i], c, &f->coef[i]))
            return false;
    if (f->rest)
        f->rest =
            axe_node2(x->cx, AXE_OP_mul, f->rest, axe_index_const(x->cx, c));
    return axe_mul(f->constant, c, &f->constant);
}

/* a += b */
static bool
add(nest *x, form *a, const form *b)
{
    for (int i = 0; i < x->n_digit; i++)
        if (!axe_add(a->coef[i], b->coef[i], &a->coef[i]))
            return false;
    if (b->rest)
        a->rest =
            a->rest ? axe_node2(x->cx, AXE_OP_add, a->rest, b->rest) : b->rest;
    return axe_add(a->constant, b->constant, &a->constant);
}

static bool read_form(nest *x, const axe_node *n, form *out);

static bool
read_sum(nest *x, const axe_node *n, int64_t sign, form *out)
{
    form b;

    return read_form(x, n->arg[0], out) && read_form(x, n->arg[1], &b) &&
           scale(x, &b, sign) && add(x, out, &b);
}

static bool
read_product(nest *x, const axe_node *n, form *out)
{
    int64_t c;
    int     k = axe_is_iconst(n->arg[1], &c) ? 0 : 1;

    return (k == 0 || axe_is_iconst(n->arg[0], &c)) &&
           read_form(x, n->arg[k], out) && scale(x, out, c);
}

static bool
read_var(nest *x, const axe_node *n, form *out)
{
    for (int i = 0; i < x->n_digit; i++)
        if (x->digit[i].var == n->u.var)
            out->coef[i] = x->digit[i].weight;
    return true;
}

/* n as a form; false if it is none, or (again) digits had to be cut for it. */
static bool
read_form(nest *x, const axe_node *n, form *out)
{
    int64_t c;

    *out = (form){0};
    if (axe_is_iconst(n, &c))
        return out->constant = c, true;
    if (!has_loop(x, n))
        return out->rest = n, true;
    switch (n->op) {
    case AXE_OP_var:
        return read_var(x, n, out);
    case AXE_OP_add:
        return read_sum(x, n, 1, out);
    case AXE_OP_sub:
        return read_sum(x, n, -1, out);
    case AXE_OP_mul:
        return read_product(x, n, out);
    case AXE_OP_div:
    case AXE_OP_mod:
        return axe_is_iconst(n->arg[1], &c) && c > 0 &&
               read_form(x, n->arg[0], out) &&
               divide(x, out, c, n->op == AXE_OP_mod);
    default:
        return false;
    }
}

/* ------------------------------------------------------------- statements */

static bool
note_form(nest *x, const axe_node *n)
{
    form *f = &x->form[x->n_form];

    if (x->n_form == MAX_FORM || !read_form(x, n, f))
        return false;
    f->node = n;
    x->n_form++;
    return true;
}

/* The forms of all integer expressions in n that have digits. */
static bool
read_all(nest *x, const axe_node *n)
{
    if (!has_loop(x, n))
        return true;
    if (n->type == AXE_TYPE_INDEX && n->op != AXE_OP_load &&
        n->op != AXE_OP_reduce)
        return note_form(x, n);
    for (int i = 0; i < n->n_arg; i++)
        if (!read_all(x, n->arg[i]))
            return false;
    return true;
}

static const axe_node *
form_node(nest *x, const form *f)
{
    const axe_node *sum = f->rest, *t;
    axe_span        at = f->node->at;

    for (int i = 0; i < x->n_digit; i++) {
        if (f->coef[i] == 0)
            continue;
        t = axe_node2(x->cx, AXE_OP_mul, axe_var_node(x->cx, at, x->index[i]),
                      axe_iconst(x->cx, at, AXE_TYPE_INDEX, f->coef[i]));
        sum = sum ? axe_node2(x->cx, AXE_OP_add, sum, t) : t;
    }
    t = axe_iconst(x->cx, at, AXE_TYPE_INDEX, f->constant);
    return sum ? axe_node2(x->cx, AXE_OP_add, sum, t) : t;
}

static const axe_node *
change_form(void *user, const axe_node *n)
{
    nest *x = user;

    if (!has_loop(x, n))
        return n;
    for (int i = 0; i < x->n_form; i++)
        if (x->form[i].node == n)
            return form_node(x, &x->form[i]);
    return NULL;
}

/* n in terms of the indices. */
static const axe_node *
rewrite(nest *x, const axe_node *n)
{
    return axe_node_map(x->cx, n, change_form, x);
}

/* ----------------------------------------------------------- canonical form */

static void
drop(nest *x, int i)
{
    x->n_digit--;
    for (int k = i; k < x->n_digit; k++)
        x->digit[k] = x->digit[k + 1];
    for (int f = 0; f < x->n_form; f++)
        for (int k = i; k < x->n_digit; k++)
            x->form[f].coef[k] = x->form[f].coef[k + 1];
}

static bool
are_one(const nest *x, int slow, int fast)
{
    int64_t e = x->digit[fast].extent, step;

    if (slow == fast || e == 0 || x->digit[slow].extent == 0)
        return false;
    for (int f = 0; f < x->n_form; f++)
        if (!axe_mul(x->form[f].coef[fast], e, &step) ||
            step != x->form[f].coef[slow])
            return false;
    return true;
}

static bool
fuse_some(nest *x)
{
    for (int i = 0; i < x->n_digit; i++)
        for (int k = 0; k < x->n_digit; k++)
            if (are_one(x, i, k)) {
                x->digit[k].extent *= x->digit[i].extent;
                drop(x, i);
                return true;
            }
    return false;
}

static void
canonize(nest *x)
{
    for (int i = x->n_digit - 1; i >= 0; i--)
        if (x->digit[i].extent == 1)
            drop(x, i);
    while (fuse_some(x))
        ;
}

/* Does each dimension of the destination have at most one digit, of stride 1,
 * and each digit a dimension of its own? */
static bool
is_box(const nest *x)
{
    for (int i = 0; i < x->n_digit; i++) {
        int n = 0;
        for (int d = 0; d < x->s->dst->n_arg; d++)
            n += x->form[d].coef[i] == 1;
        if (n != 1)
            return false;
    }
    for (int d = 0; d < x->s->dst->n_arg; d++) {
        int n = 0;
        for (int i = 0; i < x->n_digit; i++)
            n += x->form[d].coef[i] != 0;
        if (n > 1)
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------- nests */

static bool
take_loop(nest *x, const axe_var *v)
{
    const axe_node *e = v->extent;
    int64_t         n = 0;
    bool size = e->op == AXE_OP_var && e->u.var->kind == AXE_VAR_SIZE &&
                e->u.var->unit != AXE_UNIT_ONE;

    if ((!axe_is_iconst(e, &n) && !size) || x->n_loop == MAX_LOOP)
        return false;
    x->loop[x->n_loop++] = v;
    x->digit[x->n_digit++] = (digit){v, 1, n, e};
    return true;
}

/* The loops and inner scopes from s on around one element. */
static bool
take_nest(nest *x, const axe_stmt *s)
{
    for (;;) {
        bool loop = s->kind == AXE_STMT_FOR ||
                    (s->kind == AXE_STMT_SCOPE && s->scope > AXE_SCOPE_CTA);
        if (!loop || s->n_body != 1)
            break;
        for (int i = 0; i < s->n_var; i++)
            if (!take_loop(x, s->var[i]))
                return false;
        s = s->body[0];
    }
    x->s = s;
    return x->n_loop > 0 && s->kind == AXE_STMT_INDEX && s->n_dim == 0 &&
           !s->atom;
}

static bool
read_stmt(nest *x)
{
    x->n_form = 0;
    x->again = false;
    for (int d = 0; d < x->s->dst->n_arg; d++)
        if (!note_form(x, x->s->dst->arg[d]))
            return false;
    return read_all(x, x->s->value);
}

/* Indices i0, i1, ... in the order of the destination's dimensions. */
static axe_dim *
make_indices(nest *x, axe_kernel *k)
{
    axe_dim *dim = axe_new_array(x->cx, axe_dim, x->n_digit);
    int      n = 0;

    for (int d = 0; d < x->s->dst->n_arg; d++)
        for (int i = 0; i < x->n_digit; i++) {
            axe_var *v;
            if (x->form[d].coef[i] == 0)
                continue;
            v = axe_new(x->cx, axe_var);
            *v = (axe_var){.kind = AXE_VAR_INDEX,
                           .name = axe_textf(x->cx, "i%d", n),
                           .at = x->s->at,
                           .id = k->n_var++};
            x->index[i] = v;
            dim[n].var = v;
            dim[n++].extent = x->digit[i].extent > 0
                                  ? axe_iconst(x->cx, x->s->at, AXE_TYPE_INDEX,
                                               x->digit[i].extent)
                                  : x->digit[i].end;
        }
    return dim;
}

/* The nest at s as one index statement, or NULL. */
static axe_stmt *
raise_nest(axe_ctx *cx, axe_kernel *k, const axe_stmt *s)
{
    nest     *x = axe_new(cx, nest);
    int       n_var = k->n_var;
    axe_stmt *out;
    axe_mark  m;
    bool      ok;

    x->cx = cx;
    if (!take_nest(x, s) || x->s->dst->n_arg > MAX_FORM / 2)
        return NULL;
    do
        ok = read_stmt(x);
    while (!ok && x->again);
    if (!ok)
        return NULL;
    canonize(x);
    if (!is_box(x))
        return NULL;
    out = axe_new(cx, axe_stmt);
    *out = *x->s;
    out->dim = make_indices(x, k);
    out->n_dim = out->n_free = x->n_digit;
    out->dst = rewrite(x, x->s->dst);
    out->value = rewrite(x, x->s->value);
    m = axe_ctx_mark(cx);
    ok = axe_stmt_check_inside(cx, out, NULL) == AXE_OK &&
         axe_stmt_check_writes(cx, out) == AXE_OK;
    axe_ctx_release(cx, m);
    if (!ok)
        k->n_var = n_var;
    return ok ? out : NULL;
}

static axe_stmt *const *raise_body(axe_ctx *cx, axe_kernel *k, int n,
                                   axe_stmt *const *body, bool roles);

/* role: s says which threads run it, and stays. */
static axe_stmt *
raise_stmt(axe_ctx *cx, axe_kernel *k, axe_stmt *s, bool role)
{
    axe_stmt        *out = role ? NULL : raise_nest(cx, k, s);
    bool             roles = s->kind == AXE_STMT_ROLES;
    axe_stmt *const *body, *const *other;

    if (out)
        return out;
    body = raise_body(cx, k, s->n_body, s->body, roles);
    other = raise_body(cx, k, s->n_other, s->other, false);
    if (body == s->body && other == s->other)
        return s;
    out = axe_new(cx, axe_stmt);
    *out = *s;
    out->body = body;
    out->other = other;
    return out;
}

static axe_stmt *const *
raise_body(axe_ctx *cx, axe_kernel *k, int n, axe_stmt *const *body, bool roles)
{
    axe_stmt **out = axe_new_array(cx, axe_stmt *, n + 1);
    bool       same = true;

    for (int i = 0; i < n; i++) {
        out[i] = raise_stmt(cx, k, body[i], roles);
        same = same && out[i] == body[i];
    }
    return same ? body : out;
}

const axe_kernel *
axe_kernel_raise(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);

    *out = *k;
    out->body = raise_body(cx, out, k->n_body, k->body, false);
    return out->body == k->body ? k : out;
}
