/* tidy.c - what nobody reads is not computed.
 *
 * Lowering notes an integer before it knows whether some code will want it: how
 * much of a tile is inside, whether a result passes the caches.  A `let` that
 * nothing mentions is dropped, then those that only it mentioned. */
#include "lower/lower_int.h"

/* How often each variable is mentioned, by id; the workers' id is -1. */
typedef struct uses {
    int64_t *of;
    int64_t  by; /* +1, or -1 for what has been dropped */
} uses;

static void
count_node(void *user, const axe_node *n)
{
    uses *u = user;

    if (n->op == AXE_OP_var && n->u.var->id >= 0)
        u->of[n->u.var->id] += u->by;
}

static void
count_in(uses *u, const axe_node *n)
{
    if (n)
        axe_node_walk(n, count_node, u);
}

/* The operands of an atom, or the element that CALC sets. */
static void
count_args(uses *u, const axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++) {
        count_in(u, l->arg[i].at);
        count_in(u, l->arg[i].cta);
        for (int k = 0; k < l->arg[i].n_at; k++)
            count_in(u, l->arg[i].coord[k]);
    }
    count_in(u, l->pred);
}

static void
count_block(uses *u, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        count_in(u, l->begin);
        count_in(u, l->end);
        count_in(u, l->value);
        count_in(u, l->mem.at);
        count_in(u, l->choice[0].at);
        count_in(u, l->choice[1].at);
        count_args(u, l);
        count_block(u, &l->body);
        count_block(u, &l->other);
    }
}

/* Last first, since a let is mentioned only behind itself. */
static void
drop_unused(uses *u, axe_lblock *b)
{
    int kept = b->n;

    for (int i = b->n - 1; i >= 0; i--) {
        axe_lir *l = b->item[i];
        drop_unused(u, &l->body);
        drop_unused(u, &l->other);
        if (l->kind == AXE_LIR_LET && u->of[l->var->id] == 0)
            count_in(u, l->value);
        else
            b->item[--kept] = l;
    }
    b->n -= kept;
    for (int i = 0; i < b->n; i++)
        b->item[i] = b->item[kept + i];
}

void
axe_tidy(lowering *lw, axe_lblock *b)
{
    int  n_var = lw->plan->kernel->n_var + lw->n_var;
    uses u = {axe_new_array(lw->cx, int64_t, n_var + 1), 1};

    count_block(&u, b);
    u.by = -1;
    drop_unused(&u, b);
}
