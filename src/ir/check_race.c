/* check_race.c - no element that entities share is written by two of them.
 *
 * The entities of a scope run at the same time, in any number and order.  They
 * share arguments and what is declared outside of the scope, and agree on the
 * variables around it.  A write is safe if the element tells the entity: every
 * variable of the scope can be computed from the subscripts (race.h).  Two
 * accesses agree if they tell the variables in the same way.  Elements that a
 * scatter picks are the program's own affair; and where all that a scope does
 * with a tensor is to fold into it by one op, entities may do so to one
 * element: whether they can is the machine's. */
#include <inttypes.h>

#include "ir/check.h"
#include "ir/race.h"

/* Pairs of a scope that are told. */
enum { MOST_SAID = 256 };

/* --------------------------------------------------------------------- pairs
 */

/* Do both expressions shift alike with what is known or common? */
static bool
same_shift(const axe_race_finder *f, axe_race_access *a, const axe_affine *x,
           const axe_affine *y, const axe_var *v)
{
    for (int pass = 0; pass < 2; pass++) {
        const axe_affine *last = x;
        for (int i = 0; i < x->n; i++) {
            const axe_var        *u = x->var[i];
            const axe_access_key *k = axe_race_key(a, u);
            if ((axe_race_common(f, u) || (k && k->how != AXE_KEY_OPEN)) &&
                !axe_var_same(u, v) && axe_affine_coef(y, u) != x->coef[i])
                return false;
        }
        x = y;
        y = last;
    }
    return true;
}

/* By one expression, x's and y's: do both windows together still tell the
 * variable? */
static bool
same_window(const axe_race_finder *f, axe_race_access *a,
            const axe_access_key *x, const axe_affine *of_x,
            const axe_access_key *y, const axe_affine *of_y)
{
    int64_t lo = x->lo < y->lo ? x->lo : y->lo;
    int64_t hi = x->hi > y->hi ? x->hi : y->hi;

    return x->coef == y->coef && x->mod == y->mod &&
           axe_race_narrow(lo, hi, x->coef) &&
           axe_race_within(a, x->var, x->coef, lo, hi, x->mod) &&
           same_shift(f, a, of_x, of_y, x->var);
}

/* By quotient and remainder of one expression, which agree() compares. */
static bool
same_parts(const axe_race_finder *f, axe_race_access *a,
           const axe_access_key *x, const axe_access_key *y)
{
    axe_affine of_x, of_y;

    return x->over == y->over && axe_node_same(x->of, y->of) &&
           axe_affine_of(f->cx, x->of, &of_x) &&
           axe_affine_of(f->cx, y->of, &of_y) &&
           same_window(f, a, x, &of_x, y, &of_y);
}

static bool
same_key(const axe_race_finder *f, axe_race_access *a, axe_race_access *b,
         const axe_access_key *x, const axe_access_key *y)
{
    if (x->how != y->how)
        return false;
    if (x->how == AXE_KEY_FIXED)
        return axe_node_same(x->value, y->value);
    if (x->how == AXE_KEY_BY_PARTS)
        return same_parts(f, a, x, y);
    return x->how == AXE_KEY_ONE ||
           (x->how == AXE_KEY_BY_DIM && x->dim == y->dim &&
            same_window(f, a, x, &a->sub[x->dim], y, &b->sub[x->dim]));
}

static bool
agree_by_keys(const axe_race_finder *f, axe_race_access *a, axe_race_access *b)
{
    bool parts = false;

    for (int i = 0; i < f->scope->n_var; i++) {
        if (!same_key(f, a, b, &a->key[i], &b->key[i]))
            return false;
        parts = parts || a->key[i].how == AXE_KEY_BY_PARTS;
    }
    for (int i = f->scope->n_var; parts && i < a->n_key; i++) {
        const axe_access_key *y = axe_race_key(b, a->key[i].var);
        if (!y || !same_key(f, a, b, &a->key[i], y))
            return false;
    }
    return true;
}

/* Do the two touch one element only in one entity? */
static bool
agree(const axe_race_finder *f, axe_race_access *a, axe_race_access *b)
{
    bool ok = agree_by_keys(f, a, b);

    if (ok)
        return true;
    axe_race_swap(a);
    if (a != b)
        axe_race_swap(b);
    ok = agree_by_keys(f, a, b);
    axe_race_swap(a);
    if (a != b)
        axe_race_swap(b);
    return ok;
}

/* Are they apart in some dimension, whatever the entity? */
static bool
apart(const axe_race_finder *f, axe_race_access *a, axe_race_access *b)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        int64_t lo, hi, first, last;
        bool    fixed = true;
        for (int i = 0; i < a->sub[d].n + b->sub[d].n; i++) {
            const axe_var *v = i < a->sub[d].n ? a->sub[d].var[i]
                                               : b->sub[d].var[i - a->sub[d].n];
            fixed = fixed && !axe_race_key(a, v) && !axe_race_key(b, v) &&
                    !axe_race_common(f, v);
        }
        if (fixed && axe_race_window(f, a, &a->sub[d], NULL, 0, &lo, &hi) &&
            axe_race_window(f, b, &b->sub[d], NULL, 0, &first, &last) &&
            (hi < first || last < lo))
            return true;
    }
    return false;
}

/* --------------------------------------------------------------------- report
 */

/* Does the scope do nothing with the global tensor but fold into it alike? */
static bool
folds_alone(const axe_race_finder *f, const axe_race_access *a)
{
    const axe_tensor *t = a->load->u.tensor;

    return f->touched[t->id].fold != AXE_FOLD_NONE &&
           t->space == AXE_SPACE_GLOBAL;
}

/* The first entity's number along a variable of the scope. */
static int64_t
first_of(const axe_race_finder *f, const axe_var *v)
{
    for (int i = 0; f->scope->first && i < f->scope->n_var; i++)
        if (axe_var_same(f->scope->var[i], v))
            return f->scope->first[i];
    return 0;
}

static void
check_alone(axe_race_finder *f, axe_race_access *a)
{
    const axe_access_key *k = axe_race_open(f, a);
    const char           *scope = axe_scope_name(f->scope->scope);
    axe_status            st;

    if (!k || a->scatter || folds_alone(f, a))
        return;
    st = axe_fail(f->cx, a->load->at, AXE_ESHAPE,
                  "`%s` is written by more than one %s: it does not tell `%s`",
                  axe_node_text(f->cx, a->load), scope, k->var->name);
    axe_help(f->cx,
             "let a subscript step by `%s` further than the others reach, or "
             "write it where `%s` has one value, as in `if (%s == %" PRId64
             ")`",
             k->var->name, k->var->name, k->var->name, first_of(f, k->var));
    f->status = f->status == AXE_OK ? st : f->status;
}

/* Do the accesses of one tensor agree, or is that no question? */
static bool
cannot_conflict(const axe_race_finder *f, axe_race_access *w,
                axe_race_access *b)
{
    return w->scatter || b->scatter || axe_race_open(f, w) || agree(f, w, b);
}

static void
check_pair(axe_race_finder *f, axe_race_access *w, axe_race_access *b)
{
    const char *scope = axe_scope_name(f->scope->scope);
    axe_status  st;

    if (cannot_conflict(f, w, b) || apart(f, w, b) || f->n_said == MOST_SAID)
        return;
    if (b->write && axe_race_open(f, b))
        return;
    f->n_said++;
    if (!b->write) {
        axe_warn(f->cx, b->load->at,
                 "`%s` may be read by one %s while another writes it as `%s`",
                 axe_node_text(f->cx, b->load), scope,
                 axe_node_text(f->cx, w->load));
        return;
    }
    st = axe_fail(f->cx, b->load->at, AXE_ESHAPE,
                  "`%s` and `%s` may be one element in different %ss",
                  axe_node_text(f->cx, b->load), axe_node_text(f->cx, w->load),
                  scope);
    axe_note(f->cx, w->load->at, "written here, too");
    f->status = f->status == AXE_OK ? st : f->status;
}

/* Does every access of the kind agree with all others of its tensor, as their
 * windows tell?  No answer yet where it is false. */
static bool
kind_agrees(const axe_race_finder *f, const axe_race_touched *t,
            axe_race_kind *k)
{
    if (!k->is_judged) {
        k->is_judged = k->agrees = true;
        for (axe_race_kind *o = t->kind; o && k->agrees; o = o->next)
            k->agrees = cannot_conflict(f, &k->all, &o->all);
    }
    return k->agrees;
}

static void
check_write(axe_race_finder *f, axe_race_access *w)
{
    axe_race_touched *t = &f->touched[w->load->u.tensor->id];
    bool              behind = false;

    check_alone(f, w);
    if (kind_agrees(f, t, w->kind))
        return;
    for (int i = 0; i < t->all.n; i++) {
        axe_race_access *a = (axe_race_access *)t->all.item[i];
        axe_mark         m = axe_ctx_mark(f->cx);
        if (behind || !a->write)
            check_pair(f, w, a);
        if (axe_ctx_mark(f->cx).diag == m.diag)
            axe_ctx_release(f->cx, m);
        behind = behind || a == w;
    }
}

static void
check_scope(axe_race_finder *f)
{
    axe_race_kinds(f);
    for (int i = 0; i < f->found.n; i++) {
        axe_race_access *a = (axe_race_access *)f->found.item[i];
        if (a->write)
            check_write(f, a);
    }
    if (f->n_said == MOST_SAID)
        axe_note(f->cx, f->scope->at, "more of the %s is not listed",
                 axe_scope_name(f->scope->scope));
}

/* Loops around scopes run their iterations one after the other, scopes in
 * scopes do so for each entity. */
static void
find_scopes(axe_ctx *cx, int n, axe_stmt *const *body, axe_list *outer,
            axe_status *status)
{
    int mark = outer->n;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        axe_mark        m = axe_ctx_mark(cx);
        axe_race_finder f = {.cx = cx,
                             .scope = s,
                             .outer = outer,
                             .own = {.cx = cx},
                             .found = {.cx = cx}};
        if (s->kind == AXE_STMT_SCOPE) {
            axe_race_find(&f, s->n_body, s->body);
            check_scope(&f);
            *status = *status == AXE_OK ? f.status : *status;
        }
        if (axe_ctx_mark(cx).diag == m.diag)
            axe_ctx_release(cx, m);
        for (int k = 0; k < s->n_var; k++)
            axe_list_push(outer, s->var[k]);
        find_scopes(cx, s->n_body, s->body, outer, status);
        outer->n = mark;
        find_scopes(cx, s->n_other, s->other, outer, status);
    }
}

axe_status
axe_check_races(axe_ctx *cx, const axe_kernel *k)
{
    axe_status status = AXE_OK;
    axe_list   outer = {.cx = cx};

    find_scopes(cx, k->n_body, k->body, &outer, &status);
    return status;
}
