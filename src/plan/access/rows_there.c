/* rows_there.c - rows of a left factor that are zeros, as the text shows.
 *
 *     x[m, k] = X[row[i*8 + m], k];                      zeros where row[...]
 * is no row of X a[m, k] = row[i*8 + m] < M ? A[i*8 + m, k] : 0;
 *
 * Such rows are padding, mostly at the end: a product need not multiply them.
 * Whether a row is there is found where the product runs, before it. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/access/subscript.h"
#include "plan/plan_int.h"

/* Does it depend on one index, v, on arguments that are only read, and on
 * variables around it whose tiles begin where the text says? */
static bool
of_row_alone(const axe_planner *p, const axe_node *n, const axe_var *v)
{
    if (n->op == AXE_OP_reduce || n->op == AXE_OP_fconst ||
        (n->op == AXE_OP_load &&
         (n->u.tensor->dir != AXE_DIR_IN || n->u.tensor->packed)))
        return false;
    if (n->op == AXE_OP_var &&
        (axe_retile_of(p->n_retile, p->retile, n->u.var) ||
         (n->u.var->kind == AXE_VAR_INDEX && n->u.var != v)))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!of_row_alone(p, n->arg[i], v))
            return false;
    return true;
}

static bool
reads(const axe_node *n)
{
    bool any = n->op == AXE_OP_load;

    for (int i = 0; i < n->n_arg && !any; i++)
        any = reads(n->arg[i]);
    return any;
}

static bool
is_zero(const axe_node *n)
{
    int64_t k;

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return (n->op == AXE_OP_fconst && n->u.f == 0) ||
           (axe_is_iconst(n, &k) && k == 0);
}

/* Where the subscript, which an element of a tensor decides, is inside. */
static const axe_node *
inside(const axe_planner *p, const axe_node *at, const axe_node *size)
{
    return axe_node2(p->cx, AXE_OP_and,
                     axe_node2(p->cx, AXE_OP_le, axe_index_const(p->cx, 0), at),
                     axe_node2(p->cx, AXE_OP_lt, at, size));
}

/* When row v of what is assigned may be other than zeros; NULL: always. */
static const axe_node *
when(const axe_planner *p, const axe_node *n, const axe_var *v)
{
    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    if (n->op == AXE_OP_select && is_zero(n->arg[2]) &&
        axe_mentions(n->arg[0], v) && of_row_alone(p, n->arg[0], v))
        return n->arg[0];
    if (n->op != AXE_OP_load || n->u.tensor->space != AXE_SPACE_GLOBAL)
        return NULL;
    for (int d = 0; d < n->n_arg; d++)
        if (axe_mentions(n->arg[d], v) && reads(n->arg[d]) &&
            of_row_alone(p, n->arg[d], v))
            return inside(p, n->arg[d], n->u.tensor->shape[d]);
    return NULL;
}

typedef struct one_var {
    const axe_var  *var;
    const axe_node *by;
} one_var;

static const axe_node *
change_var(void *user, const axe_node *n)
{
    const one_var *x = user;

    return n->op == AXE_OP_var && n->u.var == x->var ? x->by : NULL;
}

static const axe_node *
in_place(const axe_planner *p, const axe_node *n, const axe_var *v,
         const axe_node *by)
{
    return axe_node_map(p->cx, n, change_var, &(one_var){v, by});
}

const axe_node *
axe_row_there(axe_planner *p, const axe_stmt *s, const axe_node *load,
              const axe_var *m)
{
    const axe_tensor *t = load->u.tensor;
    const axe_stmt   *w =
        t->space == AXE_SPACE_GLOBAL ? NULL : axe_only_writer(p, t);
    const axe_node *zero = axe_index_const(p->cx, 0);

    if (!w || axe_stage_of(p, s, t) || w->fold != AXE_FOLD_NONE ||
        !axe_runs_before(p, w, s) || !axe_walks_whole(w->dst))
        return NULL;
    for (int d = 0; d < load->n_arg; d++) {
        const axe_node *at = w->dst->arg[d], *n;
        if (load->arg[d]->op != AXE_OP_var || load->arg[d]->u.var != m ||
            at->op != AXE_OP_var)
            continue;
        n = when(p, w->value, at->u.var);
        if (n && axe_known_at(p, s, in_place(p, n, at->u.var, zero)))
            return in_place(p, n, at->u.var, axe_var_node(p->cx, n->at, m));
    }
    return NULL;
}
