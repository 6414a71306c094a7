/* counters.c - tiles of scopes that overlap: what one thread waits for where a
 * tile begins, and tells where it ends; see plan/simt/sync/one_launch.h.  Which
 * rows an index tensor names, all threads look up side by side. */
#include "lower/code/relation.h"
#include "lower/simt/node.h"

/* The block of one thread of each entity, unless one thread is here. */
static axe_lblock *
first_of(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *i)
{
    return sl->alone ? b
                     : axe_simt_open_first(sl, b, i->threads, i->threads, NULL);
}

typedef struct reaching {
    axe_simt_lowering   *sl;
    const axe_sync_item *item;
} reaching;

static void
await(void *user, axe_lblock *b, const axe_node *at, const axe_node *full)
{
    const reaching    *r = user;
    axe_simt_lowering *sl = r->sl;
    const axe_node    *n = number(sl, r->item->many);

    axe_arg arg[2] = {
        axe_simt_global(sl->launch->overlap->counters, at),
        axe_simt_number(op2(sl, AXE_OP_mul, full, n)),
    };
    axe_simt_atom(sl, b, r->item->row, 0, 2, arg, NULL);
}

static const axe_var *
load(void *user, axe_lblock *b, const axe_tensor *t, const axe_node *at,
     const char *name)
{
    const reaching    *r = user;
    axe_simt_lowering *sl = r->sl;
    const axe_tensor  *word = axe_simt_array(sl, name, t->type, 1);
    const axe_node    *zero = number(sl, 0);
    int                param;
    const axe_atom    *row =
        axe_simt_find_move(sl->lw.cx, sl->lw.plan->machine, AXE_ATOM_LOAD,
                           AXE_ARG_REG, AXE_ARG_GLOBAL, t->type, 1, &param);
    axe_arg  arg[2] = {axe_simt_reg(word, zero), axe_simt_global(t, at)};
    axe_lir *l;

    axe_simt_atom(sl, b, row, param, 2, arg, NULL);
    l = axe_emit(&sl->lw, b, AXE_LIR_LET);
    l->var = axe_loaded_var(&sl->lw, name);
    l->value = axe_cast(sl->lw.cx, AXE_NOWHERE, AXE_TYPE_INDEX,
                        axe_simt_element(sl, word, zero));
    return l->var;
}

void
axe_simt_reach_counters(axe_simt_lowering *sl, axe_lblock *b,
                        const axe_sync_item *item)
{
    reaching          r = {sl, item};
    axe_relation_sink sink = {.user = &r,
                              .await = await,
                              .load = load,
                              .past = sl->grid->cluster > 1,
                              .side = 1};

    if (item->shared) {
        sink.side = item->threads->n_thread;
        sink.thread = axe_simt_thread(sl, item->threads);
    } else
        b = first_of(sl, b, item);
    axe_lower_relation(&sl->lw, b, item->relation, &sink);
}

/* A cluster that is filled up has CTAs without a tile of their own. */
static axe_lblock *
with_tile(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_stmt *s = sl->launch->scope;
    axe_lir        *l;

    if (sl->grid->cluster < 2 || s->n_var == 0)
        return b;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value =
        op2(sl, AXE_OP_lt, axe_ivar(&sl->lw, s->var[0]), s->var[0]->extent);
    return &l->body;
}

void
axe_simt_count_tile(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_sync_item *item)
{
    axe_arg arg = axe_simt_global(sl->launch->overlap->counters,
                                  axe_lower_counter(&sl->lw, item->counters));

    b = with_tile(sl, first_of(sl, b, item));
    axe_simt_atom(sl, b, item->row, 0, 1, &arg, NULL);
}

/* ------------------------------------------------------------------ the gate
 */

static axe_arg
word(axe_simt_lowering *sl, int64_t at)
{
    return axe_simt_global(sl->launch->overlap->counters, number(sl, at));
}

static axe_lblock *
when(axe_simt_lowering *sl, axe_lblock *b, axe_op op, const axe_node *x,
     const axe_node *y)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = op2(sl, op, x, y);
    return &l->body;
}

static axe_lblock *
in_first_cta(axe_simt_lowering *sl, axe_lblock *b)
{
    return when(sl, b, AXE_OP_eq, axe_simt_id(sl, AXE_ID_BLOCK), number(sl, 0));
}

/* One word that nobody looks at becomes zero. */
static void
put_zero(axe_simt_lowering *sl, axe_lblock *b, const axe_node *at)
{
    const axe_tensor *t = sl->launch->overlap->counters;
    const axe_tensor *reg = axe_simt_array(sl, "word", t->type, 1);
    const axe_node   *zero = number(sl, 0);
    int               param;
    const axe_atom   *row =
        axe_simt_find_move(sl->lw.cx, sl->lw.plan->machine, AXE_ATOM_STORE,
                           AXE_ARG_GLOBAL, AXE_ARG_REG, t->type, 1, &param);
    axe_arg arg[2] = {axe_simt_global(t, at), axe_simt_reg(reg, zero)};

    axe_simt_calc(sl, b, reg, zero,
                  axe_iconst(sl->lw.cx, AXE_NOWHERE, t->type, 0), NULL);
    axe_simt_atom(sl, b, row, param, 2, arg, NULL);
}

/* All words behind the gate. */
static void
put_zeros(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_node *n = sl->launch->overlap->group->n_counter, *at;
    const axe_node *side = number(sl, item->threads->n_thread);
    axe_lir        *l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);

    l->var = axe_loop_var(&sl->lw, "word");
    l->begin = number(sl, 0);
    l->end = op2(sl, AXE_OP_cdiv, n, side);
    at = op2(sl, AXE_OP_mul, axe_ivar(&sl->lw, l->var), side);
    at = op2(sl, AXE_OP_add, at, axe_simt_thread(sl, item->threads));
    at = op2(sl, AXE_OP_add, at, number(sl, AXE_WORD_GATE + 1));
    put_zero(sl, when(sl, &l->body, AXE_OP_lt, at, n), at);
}

/* The row at a word, with a number. */
static void
at_word(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item,
        int64_t which, const axe_node *n)
{
    axe_arg arg[2] = {word(sl, which), axe_simt_number(n)};

    axe_simt_atom(sl, first_of(sl, b, item), item->row, 0, 2, arg, NULL);
}

/* Who has a later tile has waited before: it is the number of a cluster only
 * if it is the first one. */
static axe_lblock *
first_time(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_node *n = axe_simt_id(sl, AXE_ID_N_BLOCK);

    if (item->place != AXE_SYNC_ENDED && item->place != AXE_SYNC_BEGUN)
        return b;
    if (sl->grid->cluster > 1)
        n = op2(sl, AXE_OP_div, n, number(sl, sl->grid->cluster));
    return when(sl, b, AXE_OP_lt, sl->at_tile, n);
}

void
axe_simt_gate(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_node *open = number(sl, AXE_GATE_OPEN);
    axe_arg         seen = word(sl, AXE_WORD_SEEN);

    switch (item->what) {
    case AXE_SYNC_ZEROS:
        put_zeros(sl, in_first_cta(sl, b), item);
        return;
    case AXE_SYNC_OPENED:
        at_word(sl, in_first_cta(sl, b), item, AXE_WORD_GATE, open);
        return;
    case AXE_SYNC_PASSED:
        at_word(sl, first_time(sl, b, item), item, AXE_WORD_GATE, open);
        return;
    case AXE_SYNC_ALL:
        at_word(sl, in_first_cta(sl, b), item, AXE_WORD_SEEN,
                axe_simt_id(sl, AXE_ID_N_BLOCK));
        return;
    case AXE_SYNC_SHUT:
        at_word(sl, in_first_cta(sl, b), item, AXE_WORD_GATE, number(sl, 0));
        return;
    default:
        axe_simt_atom(sl, first_of(sl, b, item), item->row, 0, 1, &seen, NULL);
    }
}
