/* scopes.c - what may stand at the top of a kernel.
 *
 * Scopes run one after the other; loops and branches over sizes may be around
 * them, since all workers take them alike.  A statement outside any scope has
 * nobody to run it. */
#include "plan/access/access.h"
#include "plan/plan_int.h"

static axe_status
fail_outside(axe_planner *p, const axe_stmt *s)
{
    axe_status st = axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                             "a statement outside any scope: nobody runs it; "
                             "put it in a cta scope");

    if (p->kernel->beside_mesh)
        axe_help(p->cx,
                 "or name an axis of the mesh, with `@` behind a dimension or "
                 "by `device`: a kernel that names none is for one device");
    return st;
}

static axe_status
check_body(axe_planner *p, int n, axe_stmt *const *body)
{
    axe_status first = AXE_OK, st;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        st = AXE_OK;
        if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_IF) {
            st = check_body(p, s->n_body, s->body);
            if (st == AXE_OK)
                st = check_body(p, s->n_other, s->other);
        } else if (s->kind == AXE_STMT_SCOPE && s->scope > AXE_SCOPE_CTA)
            st = axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                          "the scope '%s' is in no cta; put a cta scope "
                          "around it",
                          axe_scope_name(s->scope));
        else if (s->kind != AXE_STMT_SCOPE && s->kind != AXE_STMT_BARRIER &&
                 !(s->kind == AXE_STMT_TENSOR &&
                   s->tensor->space == AXE_SPACE_GLOBAL))
            st = fail_outside(p, s);
        if (first == AXE_OK)
            first = st;
    }
    return first;
}

static bool
has_scope(int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        if (body[i]->kind == AXE_STMT_SCOPE ||
            has_scope(body[i]->n_body, body[i]->body) ||
            has_scope(body[i]->n_other, body[i]->other))
            return true;
    return false;
}

axe_status
axe_check_top(axe_planner *p)
{
    const axe_kernel *k = p->kernel;

    AXE_TRY(check_body(p, k->n_body, k->body));
    if (has_scope(k->n_body, k->body))
        return AXE_OK;
    return axe_fail(p->cx, k->at, AXE_EUNSUPPORTED,
                    "kernel %s has no scope: nobody would run anything",
                    k->name);
}
