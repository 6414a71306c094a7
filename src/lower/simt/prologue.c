/* prologue.c - what a CTA does first and last: barriers are made and seen,
 * tensor maps asked for; nobody leaves while others still need its memory. */
#include "lower/simt/node.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/sync/ring_protocol.h"

static axe_status
init_all(simt_lowering *sl, axe_lblock *b, const axe_tensor *bars, int n_stage,
         int n)
{
    for (int i = 0; i < n_stage && bars; i++) {
        axe_arg arg[2] = {axe_simt_shared(bars, number(sl, i)),
                          axe_simt_number(number(sl, n))};
        AXE_TRY(axe_simt_sync_if(sl, b, AXE_SYNC_INIT, "", 2, arg, NULL));
    }
    return AXE_OK;
}

static const axe_tensor *
make_bars(simt_lowering *sl, const axe_simt_ring *r, const char *what, int from)
{
    return axe_simt_buffer(
        sl, axe_textf(sl->lw.cx, "%s_%s", r->ring->name, what), AXE_TYPE_i64,
        r->n_stage, r->barriers + 8 * (int64_t)from, (axe_swizzle){0});
}

static axe_status
make_ring(simt_lowering *sl, axe_lblock *b, int i)
{
    const axe_simt_ring *r = &sl->sp->ring[i];

    if (r->full > 0)
        sl->full[i] = make_bars(sl, r, "full", 0);
    if (r->empty > 0)
        sl->empty[i] = make_bars(sl, r, "empty",
                                 r->full > 0 ? (r->n_stage + 1) / 2 * 2 : 0);
    AXE_TRY(init_all(sl, b, sl->full[i], r->n_stage, r->full));
    return init_all(sl, b, sl->empty[i], r->n_stage, r->empty);
}

/* Where there is a row for it: the INITs are seen. */
static axe_status
show_inits(simt_lowering *sl, axe_lblock *b)
{
    if (!axe_simt_group_sync(sl->lw.plan->machine, AXE_SYNC_INITED, "",
                             AXE_ARG_NONE))
        return AXE_OK;
    return axe_simt_sync_if(sl, b, AXE_SYNC_INITED, "", 0, NULL, NULL);
}

/* What the first thread does at first. */
static axe_lblock *
opening(simt_lowering *sl, axe_lblock *b)
{
    axe_lir *l;

    if (sl->opening)
        return sl->opening;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = axe_node2(sl->lw.cx, AXE_OP_eq,
                         axe_simt_thread(sl, sl->launch->crew), number(sl, 0));
    return sl->opening = &l->body;
}

/* The barrier at which an engine arrives for a meeting. */
static axe_status
make_done(simt_lowering *sl, axe_lblock *b, int i)
{
    const axe_meet *m = &sl->sp->meet[i];
    int             n = (int)axe_crew_copies(m->crew);

    if (m->n_asker == 0 || axe_crew_cta(m->crew) != sl->launch->crew)
        return AXE_OK;
    sl->done[i] =
        axe_simt_buffer(sl, axe_textf(sl->lw.cx, "%s_done", m->phase->name),
                        AXE_TYPE_i64, n, m->barrier, (axe_swizzle){0});
    return init_all(sl, opening(sl, b), sl->done[i], n, axe_meet_arrivals(m));
}

/* All barriers of the launch, made by its first thread. */
static axe_status
make_barriers(simt_lowering *sl, axe_lblock *b)
{
    const axe_simt_plan *sp = sl->sp;

    sl->full = axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_ring + 1);
    sl->empty = axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_ring + 1);
    sl->done = axe_new_array(sl->lw.cx, const axe_tensor *, sp->n_meet + 1);
    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].home == sl->launch->crew &&
            sp->ring[i].full + sp->ring[i].empty > 0)
            AXE_TRY(make_ring(sl, opening(sl, b), i));
    for (int i = 0; i < sp->n_meet; i++)
        AXE_TRY(make_done(sl, b, i));
    return sl->launch->queue ? axe_simt_make_queue(sl, opening(sl, b)) : AXE_OK;
}

static void
begin_counters(simt_lowering *sl, axe_lblock *b)
{
    const axe_simt_plan *sp = sl->sp;

    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].home == sl->launch->crew &&
            axe_simt_is_early(sl, &sp->ring[i]))
            axe_simt_count_ring(sl, b, &sp->ring[i], true, true);
    for (int i = 0; i < sp->n_meet; i++)
        if (sl->done[i])
            axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = sp->meet[i].phase;
}

/* The group of what has its operands in tensor memory, in this launch, and how
 * many CTAs do it together. */
static const char *
find_engine(const simt_lowering *sl, int64_t *pair)
{
    const axe_plan    *p = sl->lw.plan;
    const axe_machine *mc = p->machine;

    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->simt->contract &&
            s->simt->contract->atom->space[0] == AXE_ARG_TMEM &&
            axe_crew_cta(s->simt->crew) == sl->launch->crew) {
            *pair = s->simt->contract->pair;
            return s->simt->contract->atom->group;
        }
    }
    for (int i = 0; i < mc->n_atom; i++)
        if (mc->atom[i].sync == AXE_SYNC_ALLOC)
            return mc->atom[i].group;
    return "";
}

static axe_status
meet_cluster(simt_lowering *sl, axe_lblock *b)
{
    return axe_simt_sync(sl, b, AXE_SYNC_MEET, AXE_SCOPE_CLUSTER, "", 0, NULL);
}

/* Where nothing but barriers has been made, no more needs to be seen. */
static axe_status
begin_cluster(simt_lowering *sl, axe_lblock *b)
{
    return axe_simt_sync(sl, b, AXE_SYNC_BEGIN, AXE_SCOPE_CLUSTER, "", 0, NULL);
}

/* Before anything that launches before this one may use: memory, and columns,
 * which they give back when they end. */
static axe_status
wait_for_prior(simt_lowering *sl, axe_lblock *b)
{
    if (!sl->grid->waits)
        return AXE_OK;
    return axe_simt_sync(sl, b, AXE_SYNC_PRIOR, AXE_SCOPE_THREAD, "", 0, NULL);
}

static axe_status
admit_next(simt_lowering *sl, axe_lblock *b)
{
    if (!sl->launch->admits)
        return AXE_OK;
    return axe_simt_sync(sl, b, AXE_SYNC_ADMIT, AXE_SCOPE_THREAD, "", 0, NULL);
}

/* Columns that two CTAs have are asked for by both: each must know that the
 * other has begun. */
axe_status
axe_simt_lower_prologue(simt_lowering *sl, axe_lblock *b)
{
    int64_t pair = 1;

    sl->opening = NULL;
    sl->leaves = NULL;
    sl->engine = find_engine(sl, &pair);
    AXE_TRY(admit_next(sl, b));
    AXE_TRY(make_barriers(sl, b));
    if (sl->opening)
        AXE_TRY(show_inits(sl, sl->opening));
    begin_counters(sl, b);
    AXE_TRY(wait_for_prior(sl, b));
    if (sl->launch->tmem_columns > 0 && pair > 1)
        AXE_TRY(begin_cluster(sl, b));
    AXE_TRY(axe_simt_ask_columns(sl, b));
    if (!sl->opening && sl->launch->tmem_columns == 0)
        return AXE_OK;
    AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_BEFORE));
    if (sl->grid->cluster > 1 && sl->launch->tmem_columns == 0)
        AXE_TRY(begin_cluster(sl, b));
    else if (sl->grid->cluster > 1)
        AXE_TRY(meet_cluster(sl, b));
    else
        AXE_TRY(axe_simt_meet(sl, b, sl->launch->crew));
    AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_AFTER));
    return axe_simt_read_columns(sl, b);
}

/* Tensor maps are asked for early; engines have read what is in shared memory
 * when a CTA leaves, and have arrived where they will, and no CTA of a cluster
 * leaves while others may arrive at its barriers or send it boxes. */
axe_status
axe_simt_lower_epilogue(simt_lowering *sl, axe_lblock *b)
{
    for (int i = 0; i < sl->grid->n_map && sl->opening; i++) {
        axe_arg arg = {
            .space = AXE_ARG_MAP, .tensor = sl->grid->map[i].tensor, .map = i};
        AXE_TRY(axe_simt_sync_if(sl, sl->opening, AXE_SYNC_PREFETCH, "", 1,
                                 &arg, sl->grid->map[i].when));
    }
    if (sl->leaves)
        AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_READ, sl->leaves,
                                     AXE_ARG_NONE, 0, NULL));
    AXE_TRY(axe_simt_end_rings(sl, b));
    AXE_TRY(axe_simt_order_sums(sl, b, AXE_SYNC_BEFORE));
    if (sl->opening && sl->grid->cluster > 1)
        AXE_TRY(meet_cluster(sl, b));
    else if (sl->launch->tmem_columns > 0)
        AXE_TRY(axe_simt_meet(sl, b, sl->launch->crew));
    return axe_simt_free_columns(sl, b);
}
