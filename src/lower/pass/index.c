/* index.c - which indices of a grid's text have 32 bits, and which 64.
 *
 * Intervals say what may leave 32 bits (width.c).  Products of sizes have 64
 * whatever intervals say; how many tiles there are of them does not: there are
 * fewer than 2^31 CTAs. */
#include <string.h>

#include "lower/pass/index.h"

/* A variable with its width. */
struct axe_index_var {
    const axe_var *var;
    bool           wide;
};

bool
axe_index_var_is_wide(const axe_indices *x, const axe_var *v)
{
    for (int i = x->n - 1; i >= 0; i--)
        if (x->var[i].var == v)
            return x->var[i].wide;
    return false;
}

/* Does the product of this and something else need 64 bits? */
static bool
has_size(const axe_indices *x, const axe_node *n)
{
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_SIZE ||
               axe_index_var_is_wide(x, n->u.var);
    if (n->op == AXE_OP_div || n->op == AXE_OP_cdiv)
        return n->arg[1]->op == AXE_OP_iconst && n->arg[1]->u.i < 2
                   ? has_size(x, n->arg[0])
                   : axe_index_is_wide(x, n->arg[0]);
    for (int i = 0; i < n->n_arg; i++)
        if (n->op != AXE_OP_load && has_size(x, n->arg[i]))
            return true;
    return false;
}

bool
axe_index_leaves(const axe_indices *x, const axe_node *n, int64_t by)
{
    axe_interval r = axe_width_range(x->ranges, n);

    return !r.has_hi || r.hi > INT32_MAX - by || axe_interval_is_long(r);
}

static bool
is_condition(const axe_node *n)
{
    return n->type == AXE_TYPE_bool ||
           (axe_op_table[n->op].traits & (AXE_TRAIT_CMP | AXE_TRAIT_BOOLS));
}

/* May the value leave 32 bits, and none of its operands' texts has more? */
static bool
outgrows(const axe_indices *x, const axe_node *n)
{
    if (n->n_arg == 0 || is_condition(n) || n->type != AXE_TYPE_INDEX ||
        !axe_interval_is_long(axe_width_range(x->ranges, n)))
        return false;
    for (int i = n->op == AXE_OP_select; i < n->n_arg; i++)
        if (axe_index_is_wide(x, n->arg[i]))
            return false;
    return true;
}

bool
axe_index_is_wide(const axe_indices *x, const axe_node *n)
{
    int64_t most;

    if (n->op == AXE_OP_iconst)
        return n->u.i > INT32_MAX || n->u.i < INT32_MIN;
    if (n->op == AXE_OP_var)
        return axe_index_var_is_wide(x, n->u.var);
    if (n->op == AXE_OP_load)
        return axe_type_table[n->type].bits > 32;
    most = axe_facts_largest(&x->unrolled, n);
    if (most >= 0)
        return most > INT32_MAX;
    if (n->op == AXE_OP_mul && n->arg[0]->op != AXE_OP_iconst &&
        n->arg[1]->op != AXE_OP_iconst &&
        (has_size(x, n->arg[0]) || has_size(x, n->arg[1])))
        return true;
    if (is_condition(n))
        return false;
    if (n->op == AXE_OP_cast)
        return n->type == AXE_TYPE_INDEX &&
               (n->arg[0]->type != AXE_TYPE_INDEX ||
                axe_index_is_wide(x, n->arg[0]));
    for (int i = n->op == AXE_OP_select; i < n->n_arg; i++)
        if (axe_index_is_wide(x, n->arg[i]))
            return true;
    return outgrows(x, n);
}

bool
axe_index_is_wide_product(const axe_indices *x, const axe_node *n,
                          axe_index_use use)
{
    return n->op == AXE_OP_mul &&
           (axe_index_is_wide(x, n) ||
            (use == AXE_USE_ADDRESS && axe_facts_largest(&x->unrolled, n) < 0));
}

bool
axe_index_grows(const axe_indices *x, const axe_node *n)
{
    axe_interval r;

    if (n->op != AXE_OP_div && n->op != AXE_OP_cdiv)
        return outgrows(x, n);
    r = axe_width_range(x->ranges, n->arg[0]);
    return !axe_index_is_wide(x, n->arg[0]) &&
           (outgrows(x, n) || !r.has_lo || r.lo <= INT32_MIN);
}

bool
axe_index_rounds_beyond(const axe_indices *x, const axe_node *n)
{
    axe_interval y = axe_width_range(x->ranges, n->arg[1]);

    return n->op == AXE_OP_cdiv && !axe_index_is_wide(x, n->arg[0]) &&
           !axe_index_is_wide(x, n->arg[1]) &&
           (!y.has_hi || axe_index_leaves(x, n->arg[0], y.hi - 1));
}

axe_quotient
axe_index_quotient(const axe_node *n, int *k)
{
    int64_t by;

    if (axe_is_iconst(n->arg[1], &by) && by >= 1 && (by & (by - 1)) == 0) {
        for (*k = 0; by >> *k > 1;)
            ++*k;
        return AXE_QUOTIENT_SHIFT;
    }
    return axe_is_nonneg(n->arg[0]) && axe_is_nonneg(n->arg[1])
               ? AXE_QUOTIENT_WHOLE
               : AXE_QUOTIENT_FLOOR;
}

static bool
is_size(const void *user, const axe_node *n)
{
    return has_size(user, n);
}

const axe_node *
axe_index_gathered(const axe_indices *x, const axe_node *n)
{
    return axe_terms_gather(x->cx, n, is_size, x);
}

const axe_node *
axe_index_let(const axe_indices *x, const axe_lir *l, axe_index_use *use)
{
    bool wide = axe_index_is_wide(x, l->value);

    *use = wide ? AXE_USE_ADDRESS : AXE_USE_INDEX;
    return wide ? axe_index_gathered(x, l->value) : l->value;
}

bool
axe_index_text_is_wide(const axe_indices *x, const axe_node *n,
                       axe_index_use use)
{
    bool divides =
        n->op == AXE_OP_div || n->op == AXE_OP_mod || n->op == AXE_OP_cdiv;
    int k;

    if (is_condition(n))
        return false;
    if (n->n_arg == 0 || n->op == AXE_OP_load || n->op == AXE_OP_cast)
        return axe_index_is_wide(x, n);
    if (divides && axe_index_quotient(n, &k) != AXE_QUOTIENT_FLOOR)
        return axe_index_is_wide(x, n->arg[0]) ||
               axe_index_is_wide(x, n->arg[1]) || axe_index_rounds_beyond(x, n);
    if (axe_index_is_wide_product(x, n, use) || axe_index_is_wide(x, n) ||
        axe_index_grows(x, n))
        return true;
    for (int i = n->op == AXE_OP_select; i < n->n_arg; i++)
        if (axe_index_text_is_wide(x, n->arg[i], use))
            return true;
    return false;
}

/* --------------------------------------------------------------- variables */

/* One variable may be declared in several places, with different widths. */
static void
enter(axe_indices *x, const axe_var *v, bool wide)
{
    if (!v || wide == axe_index_var_is_wide(x, v))
        return;
    if (x->n == x->cap) {
        int                   cap = x->cap ? 2 * x->cap : 16;
        struct axe_index_var *more =
            axe_new_array(x->cx, struct axe_index_var, cap);
        if (x->n > 0)
            memcpy(more, x->var, (size_t)x->n * sizeof *more);
        x->var = more;
        x->cap = cap;
    }
    x->var[x->n++] = (struct axe_index_var){v, wide};
}

static bool
declares_wide(const axe_indices *x, const axe_lir *l)
{
    if (l->kind == AXE_LIR_LOOP)
        return axe_index_is_wide(x, l->end) || axe_index_is_wide(x, l->begin) ||
               axe_index_leaves(x, l->end, l->step);
    if (l->kind == AXE_LIR_LET && !axe_index_is_wide(x, l->value))
        return false;
    return (l->kind == AXE_LIR_COUNT && x->wide) ||
           axe_index_leaves(x, axe_var_node(x->cx, AXE_NOWHERE, l->var),
                            l->kind == AXE_LIR_COUNT);
}

void
axe_index_declare(axe_indices *x, const axe_lir *l)
{
    if (l->kind == AXE_LIR_LOOP || l->kind == AXE_LIR_LET ||
        l->kind == AXE_LIR_COUNT)
        enter(x, l->var, declares_wide(x, l));
    if (l->kind == AXE_LIR_LOOP)
        axe_facts_declare(&x->unrolled, l);
}

axe_index_mark
axe_index_here(const axe_indices *x)
{
    return (axe_index_mark){x->n, x->unrolled.n};
}

void
axe_index_leave(axe_indices *x, axe_index_mark here)
{
    x->n = here.n;
    x->unrolled.n = here.n_unrolled;
}

axe_indices *
axe_indices_make(axe_ctx *cx, const axe_lowered *l, const axe_grid *g,
                 bool wide)
{
    const axe_kernel *k = l->plan->kernel;
    axe_indices      *x = axe_new(cx, axe_indices);

    *x = (axe_indices){.cx = cx, .g = g, .wide = wide};
    x->unrolled = (axe_facts){.cx = cx, .g = g};
    x->ranges = axe_widths_make(cx, l, g, wide);
    for (int i = 0; i < k->n_size && wide; i++)
        enter(x, k->size[i], true);
    enter(x, g->id[AXE_ID_BLOCK], wide);
    enter(x, g->id[AXE_ID_N_BLOCK], wide);
    return x;
}
