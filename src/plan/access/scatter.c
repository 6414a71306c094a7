/* scatter.c - elements that several tasks might fold into at once.
 *
 * What subscripts compute may name one element more than once.  Within a task
 * the order of the indices says which write is last, and `=` of several tasks
 * is the program's own affair; but of two tasks that read, fold and write back
 * one would be lost.  So each scope variable must tell its tasks' elements
 * apart: in a subscript that computes nothing it steps over all that the
 * indices there can reach.  Machines with rows that fold into memory need not
 * ask: every thread brings what it has, in any order. */
#include "ir/check.h"
#include "ir/stmt.h"
#include "machine/thread_rows.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"

/* How far the index variables of the subscript reach; false if not known. */
static bool
reach_of(const axe_stmt *s, const axe_affine *a, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < a->n; i++) {
        int64_t e = 0, more;
        if (a->var[i]->kind != AXE_VAR_INDEX)
            continue;
        for (int k = 0; k < s->n_dim; k++)
            if (s->dim[k].var == a->var[i])
                e = axe_dim_extent(&s->dim[k]);
        if (e == 0 || !axe_mul(e - 1, a->coef[i], &more))
            return false;
        more = more < 0 ? -more : more;
        if (!axe_add(*out, more, out))
            return false;
    }
    return true;
}

/* Does subscript k differ for different values of v? */
static bool
parts(axe_ctx *cx, const axe_stmt *s, int k, const axe_var *v)
{
    axe_affine a;
    int64_t    c, reach;

    if (!axe_affine_of(cx, s->dst->arg[k], &a) || !reach_of(s, &a, &reach))
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.var[i] != v && a.var[i]->kind == AXE_VAR_SCOPE)
            return false;
    c = axe_affine_coef(&a, v);
    return c > reach || -c > reach;
}

bool
axe_scatter_tells(axe_ctx *cx, const axe_stmt *s, const axe_var *v)
{
    for (int k = 0; k < s->dst->n_arg; k++)
        if (parts(cx, s, k, v))
            return true;
    return false;
}

static axe_status
check_var(axe_planner *p, const axe_stmt *s, const axe_var *v)
{
    int64_t    n;
    axe_status st;

    if (axe_is_iconst(v->extent, &n) && n == 1)
        return AXE_OK;
    if (axe_scatter_tells(p->cx, s, v))
        return AXE_OK;
    st = axe_fail(p->cx, s->dst->at, AXE_EUNSUPPORTED,
                  "`%s` may be one element for several tasks of `%s`, which "
                  "have no order",
                  axe_node_text(p->cx, s->dst), v->name);
    axe_help(p->cx,
             "write `cta deterministic`, which gives them one; or give each "
             "task a part of another dimension, as in `y[rows[m], %s*64 + n]`, "
             "or run over `%s` in a `for`",
             v->name, v->name);
    return st;
}

/* The scope variables around s, outermost first. */
static axe_status
check_around(axe_planner *p, int n, axe_stmt *const *body, const axe_stmt *s,
             bool *found)
{
    for (int i = 0; i < n && !*found; i++) {
        *found = body[i] == s;
        AXE_TRY(check_around(p, body[i]->n_body, body[i]->body, s, found));
        AXE_TRY(check_around(p, body[i]->n_other, body[i]->other, s, found));
        for (int k = 0;
             *found && body[i]->kind == AXE_STMT_SCOPE && k < body[i]->n_var;
             k++)
            AXE_TRY(check_var(p, s, body[i]->var[k]));
    }
    return AXE_OK;
}

static bool
folds(const axe_planner *p, const axe_stmt *s)
{
    return s->fold != AXE_FOLD_NONE &&
           s->dst->u.tensor->space == AXE_SPACE_GLOBAL &&
           (axe_is_scatter(p->cx, s) || p->conflicts[s->id]);
}

/* Is s in a scope in which the order of what it folds counts? */
static bool
has_order(const axe_planner *p, int n, axe_stmt *const *body, const axe_stmt *s)
{
    bool found = false;

    if (!axe_type_is_float(s->dst->u.tensor->type))
        return false;
    for (int i = 0; i < n && !found; i++)
        found = body[i]->keys.deterministic
                    ? axe_stmt_within(body[i]->n_body, body[i]->body, s)
                    : has_order(p, body[i]->n_body, body[i]->body, s) ||
                          has_order(p, body[i]->n_other, body[i]->other, s);
    return found;
}

bool
axe_scatter_is_atomic(const axe_planner *p, const axe_stmt *s)
{
    int param;

    return folds(p, s) &&
           axe_simt_find_fold(p->mc, s->fold, s->dst->u.tensor->type, 1,
                              &param) &&
           !has_order(p, p->kernel->n_body, p->kernel->body, s);
}

/* A row that would fold on a machine with what it needs. */
static void
note_lacking(axe_planner *p, const axe_stmt *s)
{
    const axe_atom *a =
        axe_simt_find_lacking_fold(p->mc, s->fold, s->dst->u.tensor->type);

    if (a)
        axe_note(p->cx, s->dst->at, "%s would fold, which needs `%s` of %s",
                 a->name, a->needs, p->mc->name);
}

axe_status
axe_check_scatter(axe_planner *p, const axe_stmt *s)
{
    bool           found = false;
    const axe_var *v;
    axe_status     st;

    if (!folds(p, s) || axe_scatter_is_atomic(p, s))
        return AXE_OK;
    v = axe_is_scatter(p->cx, s) ? NULL : p->conflicts[s->id];
    if (v) {
        st = axe_fail(p->cx, s->dst->at, AXE_EUNSUPPORTED,
                      "`%s` is folded into by several tasks of `%s` at once, "
                      "for which %s has no atom",
                      axe_node_text(p->cx, s->dst), v->name, p->mc->name);
        axe_help(
            p->cx,
            "write `cta deterministic`, which gives them an order; or run over "
            "`%s` in a `for`",
            v->name);
    } else
        st = check_around(p, p->kernel->n_body, p->kernel->body, s, &found);
    if (st != AXE_OK)
        note_lacking(p, s);
    return st;
}
