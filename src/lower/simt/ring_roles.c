/* ring_roles.c - stages that some roles fill and others read.
 *
 * Who fills a stage waits until all that read it have said so, and says so, or
 * lets its copies say so, when it is full. */
#include "lower/code/build.h"
#include "lower/simt/ring.h"

/* The stage is filled by what this thread has waited for, or done. */
static axe_status
arrive_filled(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r)
{
    axe_arg full =
        axe_simt_shared(axe_ring_full(sl, r), axe_ring_value(sl, r->fill));

    if (r->sums)
        AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_BEFORE));
    AXE_TRY(axe_ring_sync(sl, b, r, AXE_SYNC_COMMIT, 0));
    AXE_TRY(axe_ring_sync(sl, b, r, AXE_SYNC_DRAIN, 0));
    axe_ring_fence(sl, b, r);
    return axe_simt_sync_if(sl, b, AXE_SYNC_ARRIVE, "", 1, &full, NULL);
}

axe_status
axe_ring_say_filled(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_simt_ring *r)
{
    axe_arg full =
        axe_simt_shared(axe_ring_full(sl, r), axe_ring_value(sl, r->fill));

    if (r->arrive && r->when) {
        axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = r->when;
        axe_simt_atom(sl, &l->body, r->arrive, 0, 1, &full, NULL);
        return arrive_filled(sl, &l->other, r);
    }
    if (r->arrive)
        axe_simt_atom(sl, b, r->arrive, 0, 1, &full, NULL);
    else if (r->writes)
        return arrive_filled(sl, b, r);
    return AXE_OK;
}

/* One thread of each warp says so to the CTA that asks for its next sums. */
static axe_status
release_to_first(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                 const axe_var *stage, const axe_node *when)
{
    axe_arg arg[2] = {
        axe_simt_shared(axe_ring_empty(sl, r), axe_ring_value(sl, stage)),
        axe_simt_number(axe_simt_first_of(sl, r->pair))};

    AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_BEFORE));
    AXE_TRY(
        axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "", 0, NULL));
    return axe_simt_sync_if(
        sl, b, AXE_SYNC_ARRIVE, "", 2, arg,
        axe_simt_both(
            sl, op2(sl, AXE_OP_eq, axe_simt_id(sl, AXE_ID_LANE), number(sl, 0)),
            when));
}

/* The stage to read is there: what copies brought that arrive by themselves is
 * for an engine to read by a fence here, as their threads go on. */
axe_status
axe_ring_await_full(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_simt_ring *r)
{
    AXE_TRY(axe_ring_wait(sl, b, axe_ring_full(sl, r), r->read,
                          axe_ring_value(sl, r->read_phase)));
    if (r->arrive)
        axe_ring_fence(sl, b, r);
    return AXE_OK;
}

/* One thread of each warp group, or warp, that has read the stage says so to
 * every CTA whose boxes come here. */
axe_status
axe_ring_release(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                 const axe_var *stage, const axe_node *when)
{
    const axe_node *lane = axe_simt_id(sl, AXE_ID_LANE), *who = lane;
    axe_arg         arg[2] = {
                axe_simt_shared(axe_ring_empty(sl, r), axe_ring_value(sl, stage))};

    const axe_ring_reader *to = axe_ring_reader_of(r, sl->threads);

    AXE_TRY(axe_ring_commit(sl, b, r, true));
    if (!to->by_threads)
        return AXE_OK;
    axe_ring_refill(sl, b, r);
    if (r->pair > 1 && r->sums)
        return release_to_first(sl, b, r, stage, when);
    if (r->sums)
        AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_BEFORE));
    if (to->by == AXE_SCOPE_WARPGROUP)
        who = axe_simt_thread(sl, to->threads);
    else
        AXE_TRY(axe_simt_sync(sl, b, AXE_SYNC_BARRIER, AXE_SCOPE_WARP, "", 0,
                              NULL));
    when = axe_simt_both(sl, op2(sl, AXE_OP_lt, who, number(sl, r->cluster)),
                         when);
    arg[1] = axe_simt_number(who);
    return axe_simt_sync_if(sl, b, AXE_SYNC_ARRIVE, "", r->cluster > 1 ? 2 : 1,
                            arg, when);
}

axe_status
axe_simt_free_stage(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_stmt *consume)
{
    const axe_simt_ring *r = axe_simt_ring_of(sl->sp, consume->pipeline);

    AXE_TRY(axe_ring_release(sl, b, r, r->read, NULL));
    axe_ring_next(sl, b, r, r->read, r->read_phase);
    return AXE_OK;
}

/* ------------------------------------------------------------ the CTA's end */

static axe_lblock *
open_groups(axe_simt_lowering *sl, axe_lblock *b, const axe_thread_group *c)
{
    if (c == sl->launch->threads)
        return b;
    return axe_simt_open_threads(sl, open_groups(sl, b, c->in), c);
}

axe_status
axe_simt_end_rings(axe_simt_lowering *sl, axe_lblock *b)
{
    for (int i = 0; i < sl->sp->n_ring; i++) {
        const axe_simt_ring *r = &sl->sp->ring[i];
        axe_lblock          *in;
        int64_t              pair;
        if (r->owner != sl->launch->threads || !axe_ring_is_told(r) ||
            !axe_simt_is_early(sl, r))
            continue;
        if (r->way == AXE_RING_ROLES &&
            axe_sync_is_alone(sl->sp, sl->lw.plan->schedule, r->producer->at,
                              &pair))
            in = axe_simt_open_first(sl, b, r->producer, sl->launch->threads,
                                     axe_simt_asks(sl, pair));
        else
            in = open_groups(sl, b, r->producer);
        AXE_TRY(axe_ring_tail(sl, in, r));
    }
    return AXE_OK;
}
