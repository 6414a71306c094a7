/* turn.c - what the entities of a scope do in turn.
 *
 * Entity e waits at its own barrier until the one before has come there behind
 * its turn, and behind its own comes to the next one's.  The last one comes to
 * the first one's barrier before the first turn, and the first one waits for
 * that of the last turn, so that all barriers are as they were. */
#include "lower/simt/node.h"

/* BARRIER or COME at the barrier of entity `of`, which is in the group's own
 * copy. */
static axe_status
pass(axe_simt_lowering *sl, axe_lblock *b, const axe_thread_group *c,
     axe_sync_kind kind, const axe_node *of)
{
    const axe_node *first = axe_threads_number(sl->lw.cx, c->in);

    first = op2(sl, AXE_OP_mul, first, axe_int(&sl->lw, c->n_entity));
    first = axe_sum(&sl->lw, axe_int(&sl->lw, c->turn), first);
    axe_arg arg[2] = {
        axe_simt_number(axe_sum(&sl->lw, first, of)),
        axe_simt_number(axe_int(&sl->lw, 2 * (int64_t)c->n_thread))};
    return axe_simt_sync(sl, b, kind, AXE_SCOPE_WARP, "", 2, arg);
}

/* One entity alone does. */
static axe_lblock *
only(axe_simt_lowering *sl, axe_lblock *b, const axe_thread_group *c,
     int64_t entity)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value =
        op2(sl, AXE_OP_eq, axe_simt_entity(sl, c), axe_int(&sl->lw, entity));
    return &l->body;
}

axe_status
axe_simt_begin_turns(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_thread_group *c)
{
    if (c->turn < 0)
        return AXE_OK;
    return pass(sl, only(sl, b, c, c->n_entity - 1), c, AXE_SYNC_COME,
                axe_int(&sl->lw, 0));
}

axe_status
axe_simt_end_turns(axe_simt_lowering *sl, axe_lblock *b,
                   const axe_thread_group *c)
{
    if (c->turn < 0)
        return AXE_OK;
    return pass(sl, only(sl, b, c, 0), c, AXE_SYNC_BARRIER,
                axe_int(&sl->lw, 0));
}

axe_status
axe_simt_enter_turn(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_thread_group *c)
{
    if (c->turn < 0)
        return AXE_OK;
    return pass(sl, b, c, AXE_SYNC_BARRIER, axe_simt_entity(sl, c));
}

axe_status
axe_simt_leave_turn(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_thread_group *c)
{
    if (c->turn < 0)
        return AXE_OK;
    return pass(
        sl, b, c, AXE_SYNC_COME,
        op2(sl, AXE_OP_mod,
            axe_sum(&sl->lw, axe_simt_entity(sl, c), axe_int(&sl->lw, 1)),
            axe_int(&sl->lw, c->n_entity)));
}
