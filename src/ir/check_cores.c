/* check_cores.c - scopes whose results must not depend on the number of workers
 * do not name it. */
#include "ir/check.h"

typedef struct looking_for {
    const axe_var  *v;
    const axe_node *at;
} looking_for;

static void
note_var(void *user, const axe_node *n)
{
    looking_for *l = user;

    if (n->op == AXE_OP_var && n->u.var == l->v && !l->at)
        l->at = n;
}

/* Where statements name the variable, in what they compute, how often, and
 * under which conditions. */
static void
find_var(looking_for *l, const axe_stmt *s)
{
    for (int i = 0; i < s->n_var; i++)
        axe_node_walk(s->var[i]->extent, note_var, l);
    for (int i = 0; i < s->n_dim; i++)
        axe_node_walk(s->dim[i].extent, note_var, l);
    if (s->dst)
        axe_node_walk(s->dst, note_var, l);
    if (s->value)
        axe_node_walk(s->value, note_var, l);
    if (s->cond)
        axe_node_walk(s->cond, note_var, l);
    for (int i = 0; i < s->n_body; i++)
        find_var(l, s->body[i]);
    for (int i = 0; i < s->n_other; i++)
        find_var(l, s->other[i]);
}

static axe_status
check_scope(axe_ctx *cx, const axe_kernel *k, const axe_stmt *scope)
{
    looking_for l = {.v = k->cores};
    axe_status  st;

    find_var(&l, scope);
    if (!l.at)
        return AXE_OK;
    st = axe_fail(cx, l.at->at.line ? l.at->at : scope->at, AXE_EUNSUPPORTED,
                  "a deterministic scope names `%s`, the number of workers: "
                  "its results would depend on it",
                  AXE_CORES);
    axe_help(cx, "name a constant or a size, or take `deterministic` away");
    return st;
}

static void
check_body(axe_ctx *cx, const axe_kernel *k, int n, axe_stmt *const *body,
           axe_status *status)
{
    for (int i = 0; i < n; i++) {
        axe_status st =
            body[i]->keys.deterministic ? check_scope(cx, k, body[i]) : AXE_OK;
        *status = *status == AXE_OK ? st : *status;
        check_body(cx, k, body[i]->n_body, body[i]->body, status);
        check_body(cx, k, body[i]->n_other, body[i]->other, status);
    }
}

axe_status
axe_check_cores(axe_ctx *cx, const axe_kernel *k)
{
    axe_status status = AXE_OK;

    if (k->cores)
        check_body(cx, k, k->n_body, k->body, &status);
    return status;
}
