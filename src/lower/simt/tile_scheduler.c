/* tile_scheduler.c - tiles of CTAs that stay, taken as they come; see
 * plan/simt/sync/tile_scheduler.h.
 *
 * Who runs a loop over the tiles counts answers as rings count stages: which
 * room, and whether its phase is odd. */
#include "plan/simt/sync/tile_scheduler.h"

#include "lower/simt/node.h"

static const axe_node *
is(axe_simt_lowering *sl, const axe_node *a, int64_t v)
{
    return op2(sl, AXE_OP_eq, a, number(sl, v));
}

/* ----------------------------------------------------------------- barriers */

/* Arrivals in one CTA of those who run a loop by this thread group: one of each
 * warp, or of each thread where there are no whole warps. */
static int64_t
arrivals_of(const axe_simt_lowering *sl, const axe_thread_group *c, bool alone)
{
    int lanes = sl->sp->lanes;

    if (alone)
        return 1;
    return (int64_t)c->n_entity *
           (c->n_thread < lanes ? c->n_thread : c->n_thread / lanes);
}

/* Those that come to `empty` when all of the cluster have read. */
static int64_t
count_readers(const axe_simt_lowering *sl)
{
    const axe_stmt *top = sl->launch->scope;
    int64_t         n = 0, ctas = sl->grid->cluster;

    if (!axe_scope_is_of_roles(top))
        return arrivals_of(sl, sl->launch->threads, false) * ctas;
    for (int i = 0; i < top->n_body; i++)
        for (int k = 0;
             top->body[i]->kind == AXE_STMT_ROLES && k < top->body[i]->n_body;
             k++) {
            const axe_stmt *role = top->body[i]->body[k];
            int64_t         pair;
            bool            alone = axe_simt_is_alone(sl, role, &pair);
            n += arrivals_of(sl, axe_threads_at(sl->sp, role), alone) * ctas /
                 (alone ? pair : 1);
        }
    return n;
}

static axe_status
make_bars(axe_simt_lowering *sl, axe_lblock *b, const char *name, int64_t at,
          int64_t n, const axe_tensor **out)
{
    *out = axe_simt_buffer(sl, name, AXE_TYPE_i64, AXE_QUEUE_ANSWERS, at,
                           (axe_swizzle){0});
    for (int i = 0; i < AXE_QUEUE_ANSWERS; i++) {
        axe_arg arg[2] = {axe_simt_shared(*out, number(sl, i)),
                          axe_simt_number(number(sl, n))};
        AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_INIT, "", 2, arg, NULL));
    }
    return AXE_OK;
}

axe_status
axe_simt_make_queue(axe_simt_lowering *sl, axe_lblock *b)
{
    const struct axe_simt_queue *q = sl->launch->queue;

    sl->answers = axe_simt_buffer(sl, "next", AXE_TYPE_i32,
                                  AXE_QUEUE_ANSWERS * AXE_ANSWER_BYTES / 4,
                                  q->answers, (axe_swizzle){0});
    AXE_TRY(make_bars(sl, b, "next_full", q->full, 1, &sl->next_full));
    return make_bars(sl, b, "next_empty", q->empty, count_readers(sl),
                     &sl->next_empty);
}

/* ------------------------------------------------------------------ asking */

axe_tile_loop
axe_simt_begin_queue(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *role)
{
    axe_tile_loop t = {
        .threads = role ? axe_threads_at(sl->sp, role) : sl->launch->threads,
        .room = axe_loop_var(&sl->lw, "next_room"),
        .phase = axe_loop_var(&sl->lw, "next_phase"),
        .asks = role == sl->launch->queue->issuer,
        .taken = axe_simt_array(sl, "next_tile", AXE_TYPE_i32, 1),
    };

    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = t.room;
    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = t.phase;
    return t;
}

static axe_arg
answer(axe_simt_lowering *sl, const axe_tile_loop *t)
{
    return axe_simt_shared(sl->answers,
                           op2(sl, AXE_OP_mul, axe_ivar(&sl->lw, t->room),
                               number(sl, AXE_ANSWER_BYTES / 4)));
}

static axe_arg
bar(axe_simt_lowering *sl, const axe_tile_loop *t, const axe_tensor *bars)
{
    return axe_simt_shared(bars, axe_ivar(&sl->lw, t->room));
}

/* In the first CTA, when all have read what was in this room. */
static axe_status
take(axe_simt_lowering *sl, axe_lblock *b, const axe_tile_loop *t)
{
    const axe_atom *a = sl->launch->queue->take;
    axe_arg         empty[2] = {bar(sl, t, sl->next_empty),
                                axe_simt_number(op2(sl, AXE_OP_sub, number(sl, 1),
                                                    axe_ivar(&sl->lw, t->phase)))};
    axe_arg         arg[2] = {answer(sl, t), bar(sl, t, sl->next_full)};

    arg[0].space = a->space[0];
    arg[1].space = a->space[1];
    AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_WAIT, "", 2, empty, NULL));
    axe_simt_atom(sl, b, a, 0, 2, arg, NULL);
    return AXE_OK;
}

axe_status
axe_simt_ask_tile(axe_simt_lowering *sl, axe_lblock *b, const axe_tile_loop *t)
{
    axe_arg  arg[2] = {bar(sl, t, sl->next_full),
                       axe_simt_number(number(sl, AXE_ANSWER_BYTES))};
    axe_lir *l;

    if (!t->asks)
        return AXE_OK;
    if (!sl->alone && t->threads->n_thread > 1) {
        l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = is(sl, axe_simt_thread(sl, t->threads), 0);
        b = &l->body;
    }
    AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_EXPECT,
                             axe_simt_by_bytes(sl->lw.plan->machine), 2, arg,
                             NULL));
    if (sl->grid->cluster > 1) {
        l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = is(sl, axe_simt_id(sl, AXE_ID_RANK), 0);
        b = &l->body;
    }
    return take(sl, b, t);
}

/* ----------------------------------------------------------------- reading */

/* The room may be used again, as far as these threads go. */
static axe_status
give_back(axe_simt_lowering *sl, axe_lblock *b, const axe_tile_loop *t)
{
    const axe_machine      *mc = sl->lw.plan->machine;
    const axe_thread_group *c = t->threads;
    const axe_atom         *fence =
        axe_simt_find_sync(mc, AXE_SYNC_FENCE, AXE_SCOPE_THREAD,
                           axe_simt_by_bytes(mc), AXE_ARG_SHARED, AXE_ARG_NONE);
    axe_arg         arg[2] = {bar(sl, t, sl->next_empty),
                              axe_simt_number(number(sl, 0))};
    const axe_node *first = NULL;

    if (fence)
        axe_simt_atom(sl, b, fence, 0, 0, NULL, NULL);
    if (!sl->alone && c->n_thread >= sl->sp->lanes) {
        AXE_TRY(axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "", 0,
                              NULL));
        first = is(sl, axe_simt_id(sl, AXE_ID_LANE), 0);
    }
    return axe_simt_sync_if(sl, b, AXE_SYNC_ARRIVE, "",
                            sl->grid->cluster > 1 ? 2 : 1, arg, first);
}

static void
next(axe_simt_lowering *sl, axe_lblock *b, const axe_tile_loop *t)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_TURN);

    l->var = t->room;
    l->step = AXE_QUEUE_ANSWERS;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = is(sl, axe_ivar(&sl->lw, t->room), 0);
    l = axe_emit(&sl->lw, &l->body, AXE_LIR_TURN);
    l->var = t->phase;
    l->step = 2;
}

axe_status
axe_simt_next_tile(axe_simt_lowering *sl, axe_lblock *b, const axe_tile_loop *t,
                   const axe_var *tile)
{
    axe_arg full[2] = {bar(sl, t, sl->next_full),
                       axe_simt_number(axe_ivar(&sl->lw, t->phase))};
    axe_arg read[2] = {axe_simt_reg(t->taken, number(sl, 0)), answer(sl, t)};
    const axe_node *first =
        axe_cast(sl->lw.cx, AXE_NOWHERE, AXE_TYPE_INDEX,
                 axe_simt_element(sl, t->taken, number(sl, 0)));
    axe_lir *l;

    AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_WAIT, "", 2, full, NULL));
    axe_simt_atom(sl, b, sl->launch->queue->taken, 0, 2, read, NULL);
    AXE_TRY(give_back(sl, b, t));
    next(sl, b, t);
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = op2(sl, AXE_OP_lt, first, number(sl, 0));
    axe_emit(&sl->lw, &l->body, AXE_LIR_BREAK);
    l = axe_emit(&sl->lw, b, AXE_LIR_SET);
    l->var = tile;
    l->value = sl->grid->cluster > 1
                   ? op2(sl, AXE_OP_div, first, number(sl, sl->grid->cluster))
                   : first;
    return AXE_OK;
}
