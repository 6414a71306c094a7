/* prologue.c - code that the first thread of a CTA runs before all else: it
 * initialises mbarriers and prefetches tensor maps. */
#include "lower/simt/node.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"

static axe_status
init_all(axe_simt_lowering *sl, axe_lblock *b, const axe_tensor *bars,
         int n_stage, int n)
{
    for (int i = 0; i < n_stage && bars; i++) {
        axe_arg arg[2] = {axe_simt_shared(bars, number(sl, i)),
                          axe_simt_number(number(sl, n))};
        AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_INIT, "", 2, arg, NULL));
    }
    return AXE_OK;
}

static const axe_tensor *
make_bars(axe_simt_lowering *sl, const axe_simt_ring *r, const char *what,
          int from)
{
    return axe_simt_buffer(sl,
                           axe_textf(sl->lw.cx, "%s_%s", r->ring->name, what),
                           AXE_TYPE_i64, r->n_stage * r->copies,
                           r->barriers + 8 * (int64_t)from, (axe_swizzle){0});
}

static axe_status
make_ring(axe_simt_lowering *sl, axe_lblock *b, int i)
{
    const axe_simt_ring *r = &sl->sp->ring[i];
    int                  n = r->n_stage * (int)r->copies;

    if (r->full > 0)
        sl->full[i] = make_bars(sl, r, "full", 0);
    if (r->empty > 0)
        sl->empty[i] =
            make_bars(sl, r, "empty", r->full > 0 ? (n + 1) / 2 * 2 : 0);
    AXE_TRY(init_all(sl, b, sl->full[i], n, r->full));
    return init_all(sl, b, sl->empty[i], n, r->empty);
}

/* The block that only the first thread runs, which is opened once. */
static axe_lblock *
opening(axe_simt_lowering *sl, axe_lblock *b)
{
    axe_lir *l;

    if (sl->opening)
        return sl->opening;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value =
        axe_node2(sl->lw.cx, AXE_OP_eq,
                  axe_simt_thread(sl, sl->launch->threads), number(sl, 0));
    return sl->opening = &l->body;
}

/* The mbarrier at which an engine arrives, for the threads that wait there. */
static axe_status
make_done(axe_simt_lowering *sl, axe_lblock *b, int i)
{
    const axe_sync_point *m = &sl->sp->sync_point[i];
    int                   n = (int)axe_threads_copies(m->threads);

    if (m->n_issuer == 0 || axe_threads_cta(m->threads) != sl->launch->threads)
        return AXE_OK;
    sl->done[i] =
        axe_simt_buffer(sl, axe_textf(sl->lw.cx, "%s_done", m->phase->name),
                        AXE_TYPE_i64, n, m->mbarrier, (axe_swizzle){0});
    return init_all(sl, opening(sl, b), sl->done[i], n,
                    axe_sync_point_arrivals(m));
}

/* All barriers of the launch, made by its first thread. */
static axe_status
make_barriers(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_simt_plan *sp = sl->sp;

    sl->full = axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_ring + 1);
    sl->empty = axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_ring + 1);
    sl->done =
        axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_sync_point + 1);
    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].owner == sl->launch->threads &&
            sp->ring[i].full + sp->ring[i].empty > 0)
            AXE_TRY(make_ring(sl, opening(sl, b), i));
    for (int i = 0; i < sp->n_sync_point; i++)
        AXE_TRY(make_done(sl, b, i));
    return sl->launch->queue ? axe_simt_make_queue(sl, opening(sl, b)) : AXE_OK;
}

static void
begin_counters(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_simt_plan *sp = sl->sp;

    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].owner == sl->launch->threads &&
            axe_ring_is_early(sl->launch, &sp->ring[i]))
            axe_simt_count_ring(sl, b, &sp->ring[i], true, true);
    for (int i = 0; i < sp->n_sync_point; i++)
        if (sl->done[i])
            axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = sp->sync_point[i].phase;
}

axe_status
axe_simt_make_barriers(axe_simt_lowering *sl, axe_lblock *b,
                       const axe_atom *seen)
{
    sl->opening = NULL;
    AXE_TRY(make_barriers(sl, b));
    if (sl->opening && seen)
        axe_simt_atom(sl, sl->opening, seen, 0, 0, NULL, NULL);
    begin_counters(sl, b);
    return AXE_OK;
}

axe_status
axe_simt_prefetch_maps(axe_simt_lowering *sl)
{
    for (int i = 0; i < sl->grid->n_map && sl->opening; i++) {
        axe_arg arg = {
            .space = AXE_ARG_MAP, .tensor = sl->grid->map[i].tensor, .map = i};
        AXE_TRY(axe_simt_sync_if(sl, sl->opening, AXE_SYNC_PREFETCH, "", 1,
                                 &arg, sl->grid->map[i].when));
    }
    return AXE_OK;
}
