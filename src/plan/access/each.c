/* each.c - all statements of a kind, in the order of the text. */
#include "plan/access/access.h"

static axe_status
in_body(axe_planner *p, int n, axe_stmt *const *body, axe_stmt_kind kind,
        axe_each_fn fn)
{
    axe_status first = AXE_OK, st;

    for (int i = 0; i < n; i++) {
        st = body[i]->kind == kind ? fn(p, body[i]) : AXE_OK;
        first = first == AXE_OK ? st : first;
        st = in_body(p, body[i]->n_body, body[i]->body, kind, fn);
        first = first == AXE_OK ? st : first;
        st = in_body(p, body[i]->n_other, body[i]->other, kind, fn);
        first = first == AXE_OK ? st : first;
    }
    return first;
}

axe_status
axe_each_stmt(axe_planner *p, axe_stmt_kind kind, axe_each_fn fn)
{
    return in_body(p, p->kernel->n_body, p->kernel->body, kind, fn);
}
