/* source.c - tiles that are copies: of what, and who reads them. */
#include "plan/access/access.h"
#include "plan/access/contract_roles.h"

/* The only statement that fills the tile of `load` and its source, or NULL; of
 * `c ? X[i] : 0`, X[i]. */
const axe_stmt *
axe_filled_from(axe_planner *p, const axe_node *load, const axe_node **src)
{
    const axe_stmt *w = load->u.tensor->pipeline
                            ? axe_some_writer(p, load->u.tensor)
                            : axe_only_writer(p, load->u.tensor);

    *src = w ? w->value : NULL;
    while (*src && ((*src)->op == AXE_OP_cast || (*src)->op == AXE_OP_select))
        *src = (*src)->arg[(*src)->op == AXE_OP_select];
    return *src && (*src)->op == AXE_OP_load && (*src)->u.tensor->stride ? w
                                                                         : NULL;
}

/* The index of `load` that walks dimension d of the source, or NULL. */
const axe_var *
axe_index_along(const axe_stmt *w, const axe_node *src, int d,
                const axe_node *load)
{
    for (int k = 0; k < w->dst->n_arg; k++)
        if (w->dst->arg[k]->op == AXE_OP_var &&
            axe_mentions(src->arg[d], w->dst->arg[k]->u.var) &&
            load->arg[k]->op == AXE_OP_var)
            return load->arg[k]->u.var;
    return NULL;
}

const axe_var *
axe_fast_source(axe_planner *p, const axe_node *load)
{
    const axe_node *src;
    const axe_stmt *w = axe_filled_from(p, load, &src);

    for (int d = 0; w && d < src->n_arg; d++) {
        const axe_stride *st = &src->u.tensor->stride[d];
        if (st->coef == 1 && st->unit == AXE_UNIT_ONE &&
            axe_index_along(w, src, d, load))
            return axe_index_along(w, src, d, load);
    }
    return NULL;
}

static int
count_loads(const axe_node *n, const axe_tensor *t)
{
    int k = n->op == AXE_OP_load && n->u.tensor == t;

    for (int i = 0; i < n->n_arg; i++)
        k += count_loads(n->arg[i], t);
    return k;
}

/* Statements but s that read the tile. */
static int
other_readers(int n, axe_stmt *const *body, const axe_tensor *t,
              const axe_stmt *s)
{
    int k = 0;

    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX && body[i] != s)
            k += count_loads(body[i]->value, t);
        k += other_readers(body[i]->n_body, body[i]->body, t, s);
        k += other_readers(body[i]->n_other, body[i]->other, t, s);
    }
    return k;
}

bool
axe_moved_for(const axe_planner *p, const axe_tensor *t, const axe_stmt *s)
{
    const axe_stmt *w = axe_only_writer(p, t);

    return w && w->fold == AXE_FOLD_NONE && w->value->op == AXE_OP_load &&
           w->value->u.tensor->space == AXE_SPACE_GLOBAL &&
           w->value->type == t->type &&
           other_readers(p->kernel->n_body, p->kernel->body, t, s) == 0;
}
