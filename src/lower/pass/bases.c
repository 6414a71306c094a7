/* bases.c - what all iterations of a loop that is written out have in common.
 *
 * An address in global memory is a sum of who the thread is and of which
 * iteration it is; so is what a limit is compared with.  The iterations' part
 * is constant once loops are written out.  The other part, and the limit less
 * that part, get names before the loop: compilers that see one sum for each
 * iteration compute each anew, in 64 bits, and hold all of them at once. */
#include "ir/list.h"
#include "lower/code/build.h"
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

/* The outermost loop that is written out, while what is in it is looked at. */
typedef struct baser {
    axe_lowering *lw;
    axe_list      inner;  /* variables of the loop and of all in it */
    axe_lblock   *before; /* where it stands */
    int           first;  /* the first item there that is new */
} baser;

static void
find_inner(baser *x, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        if (b->item[i]->var)
            axe_list_push(&x->inner, b->item[i]->var);
        find_inner(x, &b->item[i]->body);
        find_inner(x, &b->item[i]->other);
    }
}

/* Is it the same in all iterations?  Elements of arrays may change. */
static bool
is_common(const baser *x, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return false;
    for (int i = 0; n->op == AXE_OP_var && i < x->inner.n; i++)
        if (x->inner.item[i] == n->u.var)
            return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_common(x, n->arg[i]))
            return false;
    return true;
}

/* The sum as two, either NULL: the iterations' part and the common one. */
static void
split(baser *x, const axe_node *n, const axe_node **iterations,
      const axe_node **common)
{
    const axe_node **to = is_common(x, n) ? common : iterations;

    if (n->op == AXE_OP_add && !is_common(x, n)) {
        split(x, n->arg[0], iterations, common);
        split(x, n->arg[1], iterations, common);
        return;
    }
    *to = *to ? axe_node2(x->lw->cx, AXE_OP_add, *to, n) : n;
}

/* The value by a name, the same for the same value. */
static const axe_node *
named(baser *x, const char *name, const axe_node *n)
{
    axe_lir *l;

    if (n->op == AXE_OP_var || n->op == AXE_OP_iconst)
        return n;
    for (int i = x->first; i < x->before->n; i++)
        if (axe_node_same(x->before->item[i]->value, n))
            return axe_ivar(x->lw, x->before->item[i]->var);
    l = axe_emit(x->lw, x->before, AXE_LIR_LET);
    l->var = axe_loop_var(x->lw, name);
    l->value = n;
    return axe_ivar(x->lw, l->var);
}

static const axe_node *
address(baser *x, const axe_node *at)
{
    const axe_node *iterations = NULL, *common = NULL;

    split(x, at, &iterations, &common);
    if (!iterations || !common)
        return at;
    return axe_node2(x->lw->cx, AXE_OP_add, named(x, "at", common), iterations);
}

/* iterations + common < limit  is  iterations < limit - common. */
static const axe_node *
condition(baser *x, const axe_node *n)
{
    axe_ctx        *cx = x->lw->cx;
    const axe_node *iterations = NULL, *common = NULL;

    if (n && n->op == AXE_OP_and)
        return axe_node2(cx, AXE_OP_and, condition(x, n->arg[0]),
                         condition(x, n->arg[1]));
    if (!n || n->op != AXE_OP_lt || n->arg[0]->type != AXE_TYPE_INDEX ||
        !is_common(x, n->arg[1]))
        return n;
    split(x, n->arg[0], &iterations, &common);
    if (!iterations || !common)
        return n;
    return axe_node2(
        cx, AXE_OP_lt, iterations,
        named(x, "end", axe_node2(cx, AXE_OP_sub, n->arg[1], common)));
}

/* A value whose choices by limits are such conditions. */
static const axe_node *
chosen(baser *x, const axe_node *n)
{
    axe_node *copy;
    bool      same = true;

    if (n->type == AXE_TYPE_INDEX || n->n_arg == 0 || n->op == AXE_OP_load)
        return n;
    copy = axe_new_flex(x->lw->cx, axe_node, arg, n->n_arg);
    *copy = *n;
    for (int i = 0; i < n->n_arg; i++) {
        copy->arg[i] = n->op == AXE_OP_select && i == 0
                           ? condition(x, n->arg[i])
                           : chosen(x, n->arg[i]);
        same = same && copy->arg[i] == n->arg[i];
    }
    return same ? n : copy;
}

static void
rewrite(baser *x, axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        l->pred = condition(x, l->pred);
        if (l->kind == AXE_LIR_CALC)
            l->value = chosen(x, l->value);
        for (int k = 0; k < l->n_arg; k++)
            if (l->arg[k].space == AXE_ARG_GLOBAL)
                l->arg[k].at = address(x, l->arg[k].at);
        rewrite(x, &l->body);
        rewrite(x, &l->other);
    }
}

void
axe_name_bases(axe_lowering *lw, axe_lblock *b)
{
    axe_lblock out = {0};

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_LOOP && l->unroll) {
            baser x = {.lw = lw,
                       .inner = {.cx = lw->cx},
                       .before = &out,
                       .first = out.n};
            axe_list_push(&x.inner, l->var);
            find_inner(&x, &l->body);
            rewrite(&x, &l->body);
        } else {
            axe_name_bases(lw, &l->body);
            axe_name_bases(lw, &l->other);
        }
        *axe_emit(lw, &out, l->kind) = *l;
    }
    *b = out;
}
