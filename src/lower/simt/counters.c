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
    l->var = axe_loop_var(&sl->lw, name);
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
