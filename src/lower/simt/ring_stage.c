/* ring_stage.c - rows at the barriers of a ring's stages, as the plan's list
 * has them. */
#include "lower/code/build.h"
#include "lower/simt/ring.h"

/* Of one arrival for each CTA that is told: who they are. */
static const axe_node *
who_tells(axe_simt_lowering *sl, const axe_sync_item *i)
{
    return i->by & AXE_BY_LANE ? axe_simt_id(sl, AXE_ID_LANE)
                               : axe_simt_thread(sl, i->threads);
}

/* The CTA that is told; and whose thread does. */
static const axe_node *
told_cta(axe_simt_lowering *sl, const axe_sync_item *i, const axe_node **pred)
{
    const axe_node *who = who_tells(sl, i);

    *pred = axe_simt_both(sl,
                          i->to_leader
                              ? op2(sl, AXE_OP_eq, who, number(sl, 0))
                              : op2(sl, AXE_OP_lt, who, number(sl, i->n_cta)),
                          i->deferred ? sl->some : NULL);
    return i->to_leader ? axe_simt_first_of(sl, i->ring->pair) : who;
}

/* Those that an engine tells: n CTAs that follow one another. */
static const axe_node *
mask_of(axe_simt_lowering *sl, int n)
{
    return axe_simt_shifted(sl, (INT64_C(1) << n) - 1, n, sl->grid->cluster,
                            axe_simt_first_of(sl, n));
}

static const axe_node *
by_first(axe_simt_lowering *sl, const axe_sync_item *i)
{
    return i->by & AXE_BY_FIRST
               ? op2(sl, AXE_OP_eq, axe_simt_thread(sl, i->threads),
                     number(sl, 0))
               : NULL;
}

void
axe_simt_stage(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *i)
{
    const axe_atom *a = i->row;
    bool            full = i->bar == AXE_BAR_FULL;
    const axe_node *n = axe_ring_value(sl, i->phase), *pred = NULL;

    switch (a->sync) {
    case AXE_SYNC_WAIT:
        n = full ? n : op2(sl, AXE_OP_sub, number(sl, 1), n);
        break;
    case AXE_SYNC_EXPECT:
        n = number(sl, i->n);
        pred = axe_simt_both(sl, by_first(sl, i), axe_simt_asks(sl, i->n_cta));
        break;
    case AXE_SYNC_COMMIT:
        n = i->n_cta > 1 ? mask_of(sl, i->n_cta) : n;
        b = axe_simt_open_first(sl, b, i->threads, i->threads, NULL);
        break;
    default:
        if (i->by)
            n = told_cta(sl, i, &pred);
    }
    axe_arg arg[2] = {
        axe_simt_shared(
            full ? axe_ring_full(sl, i->ring) : axe_ring_empty(sl, i->ring),
            axe_ring_barrier_at(sl, i->ring,
                                i->deferred ? sl->before : i->stage)),
        axe_simt_number(n)};
    axe_simt_atom(sl, b, a, 0, a->space[1] == AXE_ARG_INT ? 2 : 1, arg, pred);
}

static axe_lblock *
open_groups(axe_simt_lowering *sl, axe_lblock *b, const axe_thread_group *c)
{
    if (c == sl->launch->threads)
        return b;
    return axe_simt_open_threads(sl, open_groups(sl, b, c->in), c);
}

void
axe_simt_tail(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *i)
{
    axe_lir *l;

    if (i->threads && i->by & AXE_BY_FIRST)
        b = axe_simt_open_first(sl, b, i->threads, sl->launch->threads,
                                axe_simt_asks(sl, i->n_cta));
    else if (i->threads)
        b = open_groups(sl, b, i->threads);
    l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);
    l->var = axe_loop_var(&sl->lw, "last");
    l->begin = number(sl, 0);
    l->end = number(sl, i->ring->n_stage);
    axe_simt_stage(sl, &l->body, i);
    axe_ring_next(sl, &l->body, i->ring, i->stage, i->phase);
}

void
axe_simt_keep_stage(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_sync_item *i)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_SET);

    l->var = sl->before;
    l->value = axe_ring_value(sl, i->stage);
}
