/* ring.c - the stages of pipelines, and who waits for what.
 *
 * A stage number wraps at the number of stages, a phase flips each time that
 * it begins anew.  Running ahead, an iteration's copies are of a later
 * iteration of the loop: its variable has that value in the code of the
 * produce. */
#include "lower/simt/ring.h"

#include "lower/code/build.h"
#include "plan/simt/contract/contract.h"

const axe_node *
axe_ring_value(axe_simt_lowering *sl, const axe_var *v)
{
    return v ? axe_ivar(&sl->lw, v) : number(sl, 0);
}

static const axe_node *
first_thread(axe_simt_lowering *sl, const axe_thread_group *c)
{
    if (sl->alone || c->n_thread == 1)
        return NULL;
    return op2(sl, AXE_OP_eq, axe_simt_thread(sl, c), number(sl, 0));
}

/* --------------------------------------------------------------- mbarriers */

axe_status
axe_ring_wait(axe_simt_lowering *sl, axe_lblock *b, const axe_tensor *bars,
              const axe_var *stage, const axe_node *parity)
{
    axe_arg arg[2] = {axe_simt_shared(bars, axe_ring_value(sl, stage)),
                      axe_simt_number(parity)};

    return axe_simt_sync_if(sl, b, AXE_SYNC_WAIT, "", 2, arg, NULL);
}

const axe_tensor *
axe_ring_full(const axe_simt_lowering *sl, const axe_simt_ring *r)
{
    return sl->full[r - sl->sp->ring];
}

const axe_tensor *
axe_ring_empty(const axe_simt_lowering *sl, const axe_simt_ring *r)
{
    return sl->empty[r - sl->sp->ring];
}

/* ----------------------------------------------------------------- counters */

void
axe_ring_count(axe_simt_lowering *sl, axe_lblock *b, const axe_var *v)
{
    if (v)
        axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = v;
}

static void
advance(axe_simt_lowering *sl, axe_lblock *b, const axe_var *v, int below)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_TURN);

    l->var = v;
    l->step = below;
}

void
axe_ring_next(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
              const axe_var *stage, const axe_var *phase)
{
    axe_lir *l;

    if (stage)
        advance(sl, b, stage, r->n_stage);
    if (phase && !stage)
        advance(sl, b, phase, 2);
    if (!phase || !stage)
        return;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = op2(sl, AXE_OP_eq, axe_ivar(&sl->lw, stage), number(sl, 0));
    advance(sl, &l->body, phase, 2);
}

/* Of rings within one role; others count in each role. */
axe_status
axe_simt_lower_pipeline(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_simt_ring *r = axe_simt_ring_of(sl->sp, s->pipeline);

    if (r->way != AXE_RING_ROLES && !axe_simt_is_early(sl, r))
        axe_simt_count_ring(sl, b, r, true, true);
    return AXE_OK;
}

void
axe_simt_count_ring(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_simt_ring *r, bool fill, bool read)
{
    bool plain = r->way == AXE_RING_PLAIN;

    axe_ring_count(sl, b, fill ? r->fill : NULL);
    axe_ring_count(sl, b, read ? r->read : NULL);
    axe_ring_count(sl, b,
                   fill && (r->way != AXE_RING_AHEAD || r->reader->engine)
                       ? r->fill_phase
                       : NULL);
    axe_ring_count(sl, b, read && !plain ? r->read_phase : NULL);
}

/* ------------------------------------------------------------------ groups */

axe_status
axe_ring_sync(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
              axe_sync_kind kind, int64_t n)
{
    if (!r->group)
        return AXE_OK;
    return axe_simt_order_group(sl, b, kind, r->group, AXE_ARG_NONE, n, NULL);
}

void
axe_ring_fence(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r)
{
    const axe_atom *a;

    if (!r->fence || !r->writes)
        return;
    a = axe_simt_group_sync(sl->lw.plan->machine, AXE_SYNC_FENCE, r->fence,
                            AXE_ARG_SHARED);
    axe_simt_atom(sl, b, a, 0, 0, NULL, NULL);
}

void
axe_ring_refill(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r)
{
    if (r->refill && axe_ring_reader_of(r, sl->threads)->loads)
        axe_simt_atom(sl, b, r->refill, 0, 0, NULL, NULL);
}

axe_status
axe_ring_await_empty(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_simt_ring *r)
{
    return axe_ring_wait(
        sl, b, axe_ring_empty(sl, r), r->fill,
        op2(sl, AXE_OP_sub, number(sl, 1), axe_ring_value(sl, r->fill_phase)));
}

bool
axe_ring_is_told(const axe_simt_ring *r)
{
    for (int i = 0; i < r->n_reader; i++)
        if (r->reader[i].engine && r->empty > 0)
            return true;
    return false;
}

axe_status
axe_ring_tail(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);

    l->var = axe_loop_var(&sl->lw, "last");
    l->begin = number(sl, 0);
    l->end = number(sl, r->n_stage);
    AXE_TRY(axe_ring_await_empty(sl, &l->body, r));
    axe_ring_next(sl, &l->body, r, r->fill, r->fill_phase);
    return AXE_OK;
}

bool
axe_simt_is_early(const axe_simt_lowering *sl, const axe_simt_ring *r)
{
    const axe_stmt *top = sl->launch->scope;

    if (r->way != AXE_RING_ROLES)
        return r->early || axe_ring_is_told(r);
    return r->early || (top->keys.persistent && !axe_scope_is_of_roles(top));
}

/* The CTAs that an engine tells: those whose boxes come here when it has read,
 * else those that it works for; NULL: its own. */
static const axe_node *
told_by(axe_simt_lowering *sl, const axe_simt_ring *r, bool read)
{
    int     n = read && r->cluster > r->pair ? r->cluster : r->pair;
    int64_t mask = (INT64_C(1) << n) - 1;

    if (n == 1)
        return NULL;
    return axe_simt_shifted(sl, mask, n, sl->grid->cluster,
                            axe_simt_first_of(sl, n));
}

axe_status
axe_ring_commit(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                bool read)
{
    const axe_ring_reader *to = axe_ring_reader_of(r, sl->threads);
    const char            *group = read ? to->engine : r->filled_by;

    if (!group)
        return AXE_OK;
    return axe_simt_commit(
        sl, b, group,
        axe_simt_shared(read ? axe_ring_empty(sl, r) : axe_ring_full(sl, r),
                        axe_ring_value(sl, read ? r->read : r->fill)),
        told_by(sl, r, read), read ? to->threads : r->producer,
        read ? to->threads : r->producer);
}

/* ------------------------------------------------------------ running ahead */

/* Does the statement, or its contraction's first iteration? */
static bool
index_speaks_of(const axe_simt_lowering *sl, const axe_stmt *s,
                const axe_var *v)
{
    const axe_simt_contract *c = sl->lw.plan->schedule[s->id]->simt->contract;

    return axe_mentions(s->dst, v) || axe_mentions(s->value, v) ||
           (c && c->fresh == v);
}

static bool
speaks_of(const axe_simt_lowering *sl, int n, axe_stmt *const *body,
          const axe_var *v)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if ((s->kind == AXE_STMT_INDEX && index_speaks_of(sl, s, v)) ||
            (s->cond && axe_mentions(s->cond, v)) ||
            speaks_of(sl, s->n_body, s->body, v) ||
            speaks_of(sl, s->n_other, s->other, v))
            return true;
        for (int k = 0; k < s->n_var; k++)
            if (s->var[k]->extent && axe_mentions(s->var[k]->extent, v))
                return true;
        for (int k = 0; k < s->n_dim; k++)
            if (axe_mentions(s->dim[k].extent, v))
                return true;
    }
    return false;
}

/* Code of the stage in iteration `value` of the loop. */
axe_lblock *
axe_ring_begin_iteration(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_stmt *loop, const axe_stmt *stage,
                         const axe_node *value)
{
    axe_lir *block = axe_emit(&sl->lw, b, AXE_LIR_BLOCK), *l;

    if (speaks_of(sl, stage->n_body, stage->body, loop->var[0])) {
        l = axe_emit(&sl->lw, &block->body, AXE_LIR_LET);
        l->var = loop->var[0];
        l->value = value;
    }
    return &block->body;
}

/* The stage to read is there. */
axe_status
axe_ring_await_stage(axe_simt_lowering *sl, axe_lblock *b,
                     const axe_simt_ring *r)
{
    if (r->boxes)
        AXE_TRY(axe_ring_wait(sl, b, axe_ring_full(sl, r), r->read,
                              axe_ring_value(sl, r->read_phase)));
    if (!r->writes)
        return AXE_OK;
    AXE_TRY(axe_ring_sync(sl, b, r, AXE_SYNC_DRAIN, r->n_stage - 2));
    axe_ring_fence(sl, b, r);
    return AXE_OK;
}

axe_status
axe_ring_drain_deferred(axe_simt_lowering *sl, axe_lblock *b,
                        const axe_ring_reader *to)
{
    const axe_atom *a = to->in_flight->simt->contract->atom;
    axe_arg         none = axe_simt_number(number(sl, 0));

    return axe_simt_sync(sl, b, AXE_SYNC_DRAIN, a->by, a->group, 1, &none);
}

axe_status
axe_ring_expect(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                const axe_stmt *s)
{
    const axe_plan *p = sl->lw.plan;
    int64_t         bytes = axe_simt_box_bytes(p->n_schedule, p->schedule, s);
    axe_arg         arg[2] = {
                axe_simt_shared(axe_ring_full(sl, r), axe_ring_value(sl, r->fill)),
                axe_simt_number(number(sl, bytes * r->pair))};

    if (!r->boxes)
        return AXE_OK;
    return axe_simt_sync_if(sl, b, AXE_SYNC_EXPECT,
                            axe_simt_by_bytes(p->machine), 2, arg,
                            axe_simt_both(sl, first_thread(sl, r->producer),
                                          axe_simt_asks(sl, r->pair)));
}
