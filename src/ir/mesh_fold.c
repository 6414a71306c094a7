/* mesh_fold.c - `op=` between devices, as two statements.
 *
 * C op= v is T = fold(v), into a tensor that is held as C is, and C = C op T.
 * So what v is summed over may be cut, and go by addends, as in any sum; C is
 * then where it is needed, and nothing of it goes between devices.  Where C
 * consists of addends, T is whole: an addend of it would be an addend more. */
#include <string.h>

#include "base/ctx.h"
#include "ir/list.h"
#include "ir/mesh.h"
#include "ir/rewrite.h"

static const axe_op fold_op[] = {
    [AXE_FOLD_SUM] = AXE_OP_add,
    [AXE_FOLD_MUL] = AXE_OP_mul,
    [AXE_FOLD_MAX] = AXE_OP_max,
    [AXE_FOLD_MIN] = AXE_OP_min,
};

typedef struct unfolding {
    axe_ctx    *cx;
    axe_kernel *k;
    axe_list    tensor; /* axe_stmt *: those that were made */
    axe_status  status;
} unfolding;

static axe_stmt **change_body(unfolding *u, int n, axe_stmt *const *body,
                              int *n_out);

/* A tensor as `like`, without its addends. */
static const axe_tensor *
make_tensor(unfolding *u, const axe_tensor *like)
{
    axe_tensor *t = axe_new(u->cx, axe_tensor);
    axe_stmt   *s = axe_stmt_make(u->cx, AXE_STMT_TENSOR, like->at);
    axe_held   *h = axe_new(u->cx, axe_held);
    const char *name =
        axe_textf(u->cx, "%s.%s%d", like->name, "fold", u->tensor.n);

    *t = *like;
    t->name = axe_intern(u->cx, name, strlen(name));
    t->id = u->k->n_tensor++;
    t->dir = AXE_DIR_LOCAL;
    t->whole = NULL;
    if (like->held && like->held->n_partial > 0) {
        *h = *like->held;
        h->n_partial = 0;
        t->held = h->n_at > 0 ? h : NULL;
    }
    s->tensor = t;
    axe_list_push(&u->tensor, s);
    if (u->status == AXE_OK)
        u->status = axe_tensor_join(u->cx, t);
    return t->whole;
}

static void
unfold(unfolding *u, axe_stmt *s, axe_list *out)
{
    const axe_tensor *local = s->dst->u.tensor->local;
    const axe_tensor *t = make_tensor(u, local ? local : s->dst->u.tensor);
    axe_stmt         *first = axe_new(u->cx, axe_stmt), *then;
    int               n_over = s->n_dim - s->n_free;

    if (u->status != AXE_OK)
        return;
    *first = *s;
    first->fold = AXE_FOLD_NONE;
    first->n_dim = s->n_free;
    first->dst = axe_load(u->cx, s->dst->at, t, s->dst->arg);
    if (n_over > 0)
        first->value = axe_reduce(u->cx, s->at, s->fold, n_over,
                                  s->dim + s->n_free, s->value);
    then = axe_new(u->cx, axe_stmt);
    *then = *first;
    then->dst = s->dst;
    then->value = axe_node2(u->cx, fold_op[s->fold], s->dst, first->dst);
    axe_list_push(out, first);
    axe_list_push(out, then);
}

static void
change(unfolding *u, axe_stmt *s, axe_list *out)
{
    axe_stmt *c;

    if (s->kind == AXE_STMT_INDEX && s->fold != AXE_FOLD_NONE) {
        unfold(u, s, out);
        return;
    }
    if (s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_IF) {
        c = axe_new(u->cx, axe_stmt);
        *c = *s;
        c->body = change_body(u, s->n_body, s->body, &c->n_body);
        c->other = change_body(u, s->n_other, s->other, &c->n_other);
        s = c;
    }
    axe_list_push(out, s);
}

static axe_stmt **
change_body(unfolding *u, int n, axe_stmt *const *body, int *n_out)
{
    axe_list out = {.cx = u->cx};

    for (int i = 0; i < n; i++)
        change(u, body[i], &out);
    *n_out = out.n;
    return (axe_stmt **)(void *)out.item;
}

axe_status
axe_mesh_unfold(axe_ctx *cx, const axe_kernel *k, const axe_kernel **out)
{
    axe_kernel *made = axe_new(cx, axe_kernel);
    unfolding   u = {cx, made, {.cx = cx}, AXE_OK};
    axe_stmt  **body, **all;
    int         n;

    *made = *k;
    *out = k;
    body = change_body(&u, k->n_body, k->body, &n);
    AXE_TRY(u.status);
    if (u.tensor.n == 0)
        return AXE_OK;
    all = axe_new_array(cx, axe_stmt *, u.tensor.n + n);
    for (int i = 0; i < u.tensor.n + n; i++)
        all[i] = i < u.tensor.n ? (axe_stmt *)u.tensor.item[i]
                                : body[i - u.tensor.n];
    made->body = all;
    made->n_body = u.tensor.n + n;
    axe_kernel_find_temps(cx, made);
    axe_kernel_renumber(cx, made);
    *out = made;
    return axe_kernel_verify(cx, made);
}
