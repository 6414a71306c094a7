/* row_cache_made.c - what is computed of a row's elements more than once.
 *
 *     total[m] = sum[n](exp(X[i*8 + m, n] - top[m]));
 *     Y[i*8 + m, n] = exp(X[i*8 + m, n] - top[m]) / total[m];
 *
 * From the sum on nobody wants X, but exp(X - top): where X is kept, it becomes
 * that, in place. */
#include "ir/stmt.h"
#include "plan/rewrite/row_cache.h"

bool
axe_keep_reads(const axe_node *n, const axe_node *what)
{
    if (axe_node_same(n, what))
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (axe_keep_reads(n->arg[i], what))
            return true;
    return false;
}

/* What is looked for: the value, made from statement `from` on. */
typedef struct making {
    const axe_keep *x;
    const axe_node *load;
    axe_type        type; /* that it is kept in */
    int             from, uses;
    const axe_node *value;
} making;

/* Does n read the load only in what is the value?  Counts those. */
static bool
within(making *g, const axe_node *n)
{
    bool ok = true;

    if (axe_node_same(n, g->value)) {
        g->uses++;
        return true;
    }
    if (axe_node_same(n, g->load))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        ok = ok && within(g, n->arg[i]);
    return ok;
}

/* Is the value the same from the statement on, wherever it is computed?  Not
 * where it has one for each value of an index beside the row's two. */
static bool
is_steady(const making *g, const axe_node *n)
{
    const axe_stmt *s = g->x->scope;

    if (n->op == AXE_OP_reduce ||
        (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX &&
         n->u.var != g->x->m && n->u.var != g->x->n))
        return false;
    if (n->op == AXE_OP_load && !axe_node_same(n, g->load))
        for (int i = g->from; i < s->n_body; i++)
            if (axe_stmt_writes(s->body[i], n->u.tensor))
                return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_steady(g, n->arg[i]))
            return false;
    return true;
}

static bool
is_made(making *g, const axe_node *value)
{
    const axe_stmt *s = g->x->scope;

    g->value = value;
    g->uses = 0;
    for (int i = g->from; i < s->n_body; i++)
        if (s->body[i]->kind == AXE_STMT_INDEX && !within(g, s->body[i]->value))
            return false;
    return g->uses > 1 && is_steady(g, value);
}

/* The largest such value in n, or NULL. */
static const axe_node *
find_made(making *g, const axe_node *n)
{
    const axe_node *found = NULL;

    if (!axe_keep_reads(n, g->load) || axe_node_same(n, g->load) ||
        (n->op == AXE_OP_cast && axe_node_same(n->arg[0], g->load)))
        return NULL;
    if (n->op != AXE_OP_reduce && n->type == g->type && is_made(g, n))
        return n;
    for (int i = 0; i < n->n_arg && !found; i++)
        found = find_made(g, n->arg[i]);
    return found;
}

void
axe_keep_find_made(axe_keep *x)
{
    const axe_stmt *s = x->scope;

    for (int i = 0; i < s->n_body; i++)
        if (s->body[i]->kind != AXE_STMT_INDEX &&
            s->body[i]->kind != AXE_STMT_TENSOR)
            return;
    for (int k = 0; k < x->n_load; k++) {
        making g = {.x = x, .load = x->load[k], .type = axe_keep_type(x, k)};
        for (int i = 0; i < s->n_body && !x->made[k]; i++) {
            g.from = x->from[k] = i;
            if (s->body[i]->kind == AXE_STMT_INDEX)
                x->made[k] = find_made(&g, s->body[i]->value);
        }
    }
}
