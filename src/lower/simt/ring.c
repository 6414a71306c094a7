/* ring.c - the stages of pipelines, counted.
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

const axe_node *
axe_ring_barrier_at(axe_simt_lowering *sl, const axe_simt_ring *r,
                    const axe_var *stage)
{
    const axe_node *n = axe_ring_value(sl, stage);

    if (r->copies == 1)
        return n;
    return axe_sum(&sl->lw, n,
                   op2(sl, AXE_OP_mul, axe_simt_number_of(sl, r->producer),
                       number(sl, r->n_stage)));
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
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_ADVANCE);

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

    if (r->way != AXE_RING_ROLES && !axe_ring_is_early(sl->launch, r))
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
