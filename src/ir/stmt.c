/* stmt.c - questions about statements and what is inside them. */
#include "ir/stmt.h"

axe_stmt *const *
axe_stmt_list(const axe_list *l)
{
    return (axe_stmt *const *)l->item;
}

static bool
own_reads(const axe_stmt *s, const axe_tensor *t)
{
    bool reads = axe_node_reads(s->cond, t);

    for (int i = 0; i < s->n_var; i++)
        reads = reads || axe_node_reads(s->var[i]->extent, t);
    if (s->kind != AXE_STMT_INDEX)
        return reads;
    reads = reads || axe_node_reads(s->value, t) ||
            (s->fold != AXE_FOLD_NONE && s->dst->u.tensor == t);
    for (int i = 0; i < s->dst->n_arg; i++)
        reads = reads || axe_node_reads(s->dst->arg[i], t);
    return reads;
}

bool
axe_stmt_reads(const axe_stmt *s, const axe_tensor *t)
{
    if (own_reads(s, t))
        return true;
    for (int i = 0; i < s->n_body; i++)
        if (axe_stmt_reads(s->body[i], t))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (axe_stmt_reads(s->other[i], t))
            return true;
    return false;
}

bool
axe_stmt_reads_ring(const axe_stmt *s, const axe_pipeline *ring)
{
    for (int i = 0; i < ring->n_tensor; i++)
        if (axe_stmt_reads(s, ring->tensor[i]))
            return true;
    return false;
}

bool
axe_stmt_writes(const axe_stmt *s, const axe_tensor *t)
{
    if (s->kind == AXE_STMT_INDEX && s->dst->u.tensor == t)
        return true;
    for (int i = 0; i < s->n_body; i++)
        if (axe_stmt_writes(s->body[i], t))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (axe_stmt_writes(s->other[i], t))
            return true;
    return false;
}

bool
axe_leaves_iteration(int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        axe_stmt_kind k = body[i]->kind;
        if (k == AXE_STMT_BREAK || k == AXE_STMT_CONTINUE ||
            (k != AXE_STMT_FOR && k != AXE_STMT_LOOP &&
             (axe_leaves_iteration(body[i]->n_body, body[i]->body) ||
              axe_leaves_iteration(body[i]->n_other, body[i]->other))))
            return true;
    }
    return false;
}

bool
axe_stmt_within(int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++)
        if (body[i] == s ||
            axe_stmt_within(body[i]->n_body, body[i]->body, s) ||
            axe_stmt_within(body[i]->n_other, body[i]->other, s))
            return true;
    return false;
}

typedef struct search {
    const axe_var  *var;
    const axe_node *extent;
} search;

static void
find_reduced(void *user, const axe_node *n)
{
    search *f = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == f->var)
            f->extent = n->u.reduce.extent[i];
}

const axe_node *
axe_stmt_extent(const axe_stmt *s, const axe_var *v)
{
    search f = {v, v->extent};

    if (v->kind != AXE_VAR_INDEX)
        return v->extent;
    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            f.extent = s->dim[i].extent;
    if (!f.extent && s->value)
        axe_node_walk(s->value, find_reduced, &f);
    return f.extent;
}

bool
axe_stmt_is_free(const axe_stmt *s, const axe_var *v)
{
    for (int i = 0; i < s->n_free; i++)
        if (s->dim[i].var == v)
            return true;
    return false;
}

const axe_var *
axe_just_index(const axe_node *n)
{
    return n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX ? n->u.var
                                                                  : NULL;
}
