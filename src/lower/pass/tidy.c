/* tidy.c - what nobody reads is not computed.
 *
 * Lowering notes an integer before it knows whether some code will want it: how
 * much of a tile is inside, whether a result passes the caches.  A `let` that
 * nothing mentions is dropped, then those that only it mentioned. */
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

/* How often each variable is mentioned, by its address: numbers are the
 * planner's and lowering's own, and may be the same.  Open addressing. */
typedef struct use {
    const axe_var *var;
    int64_t        n;
} use;

typedef struct uses {
    axe_ctx *cx;
    size_t   n, cap; /* cap: a power of two */
    use     *slot;
    int64_t  by; /* +1, or -1 for what has been dropped */
} uses;

static use *
find(uses *u, const axe_var *v)
{
    size_t i = ((uintptr_t)v >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    for (i &= u->cap - 1; u->slot[i].var && u->slot[i].var != v;)
        i = (i + 1) & (u->cap - 1);
    return &u->slot[i];
}

static void
grow(uses *u)
{
    uses old = *u;

    u->cap = old.cap ? 2 * old.cap : 256;
    u->slot = axe_new_array(u->cx, use, (int)u->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slot[i].var)
            *find(u, old.slot[i].var) = old.slot[i];
}

static void
count_node(void *user, const axe_node *n)
{
    uses *u = user;

    if (n->op != AXE_OP_var)
        return;
    if (4 * (u->n + 1) > 3 * u->cap)
        grow(u);
    use *s = find(u, n->u.var);
    u->n += !s->var;
    s->var = n->u.var;
    s->n += u->by;
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
        if (l->kind == AXE_LIR_LET && (u->cap == 0 || find(u, l->var)->n == 0))
            count_in(u, l->value);
        else
            b->item[--kept] = l;
    }
    b->n -= kept;
    for (int i = 0; i < b->n; i++)
        b->item[i] = b->item[kept + i];
}

void
axe_tidy(axe_lowering *lw, axe_lblock *b)
{
    uses u = {.cx = lw->cx, .by = 1};

    count_block(&u, b);
    u.by = -1;
    drop_unused(&u, b);
}
