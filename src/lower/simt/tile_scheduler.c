/* tile_scheduler.c - tiles of CTAs that stay, taken as they come; see
 * plan/simt/ring/tile_scheduler.h.
 *
 * Who runs a loop over the tiles counts answers as rings count stages: which
 * room, and whether its phase is odd. */
#include "plan/simt/ring/tile_scheduler.h"

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
            bool            alone =
                axe_sync_is_alone(sl->sp, sl->lw.plan->schedule, role, &pair);
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

/* ----------------------------------------------------------------- answers */

void
axe_simt_begin_queue(axe_simt_lowering *sl, axe_lblock *b)
{
    sl->room = axe_loop_var(&sl->lw, "next_room");
    sl->phase = axe_loop_var(&sl->lw, "next_phase");
    sl->taken = axe_simt_array(sl, "next_tile", AXE_TYPE_i32, 1);
    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = sl->room;
    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = sl->phase;
}

/* The barrier of the answer, and the parity that is waited for there. */
static axe_arg
bar(axe_simt_lowering *sl, axe_sync_bar which, const axe_node **parity)
{
    const axe_node *phase = axe_ivar(&sl->lw, sl->phase);
    bool            full = which == AXE_BAR_FULL;

    *parity = full ? phase : op2(sl, AXE_OP_sub, number(sl, 1), phase);
    return axe_simt_shared(full ? sl->next_full : sl->next_empty,
                           axe_ivar(&sl->lw, sl->room));
}

void
axe_simt_answer(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *item)
{
    const axe_node *at = op2(sl, AXE_OP_mul, axe_ivar(&sl->lw, sl->room),
                             number(sl, AXE_ANSWER_BYTES / 4));
    const axe_node *parity;
    const axe_atom *a = item->row;
    axe_arg         answer = axe_simt_shared(sl->answers, at);
    axe_arg         arg[2] = {bar(sl, item->bar, &parity)};

    switch (a->sync) {
    case AXE_SYNC_EXPECT:
        arg[1] = axe_simt_number(number(sl, AXE_ANSWER_BYTES));
        break;
    case AXE_SYNC_WAIT:
        arg[1] = axe_simt_number(parity);
        break;
    case AXE_SYNC_TAKE:
        arg[1] = arg[0];
        arg[0] = answer;
        arg[0].space = a->space[0];
        arg[1].space = a->space[1];
        break;
    case AXE_SYNC_TAKEN:
        arg[0] = axe_simt_reg(sl->taken, number(sl, 0));
        arg[1] = answer;
        break;
    default:
        arg[1] = axe_simt_number(number(sl, 0));
    }
    axe_simt_atom(sl, b, a, 0, a->space[1] == AXE_ARG_NONE ? 1 : 2, arg,
                  item->by & AXE_BY_LANE
                      ? is(sl, axe_simt_id(sl, AXE_ID_LANE), 0)
                      : NULL);
}

static void
next(axe_simt_lowering *sl, axe_lblock *b)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_ADVANCE);

    l->var = sl->room;
    l->step = AXE_QUEUE_ANSWERS;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = is(sl, axe_ivar(&sl->lw, sl->room), 0);
    l = axe_emit(&sl->lw, &l->body, AXE_LIR_ADVANCE);
    l->var = sl->phase;
    l->step = 2;
}

void
axe_simt_next_tile(axe_simt_lowering *sl, axe_lblock *b, const axe_var *tile)
{
    const axe_node *first =
        axe_cast(sl->lw.cx, AXE_NOWHERE, AXE_TYPE_INDEX,
                 axe_simt_element(sl, sl->taken, number(sl, 0)));
    axe_lir *l;

    next(sl, b);
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = op2(sl, AXE_OP_lt, first, number(sl, 0));
    axe_emit(&sl->lw, &l->body, AXE_LIR_BREAK);
    l = axe_emit(&sl->lw, b, AXE_LIR_SET);
    l->var = tile;
    l->value = sl->grid->cluster > 1
                   ? op2(sl, AXE_OP_div, first, number(sl, sl->grid->cluster))
                   : first;
}
