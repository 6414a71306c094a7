/* sync_launch.c - how a launch opens and closes.
 *
 * Barriers are made and seen before anybody waits at them, memory is touched
 * when launches before this one have ended, tensor memory is asked for when it
 * may be; and nobody leaves while others still need its memory. */
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/sync/sync.h"
#include "plan/simt/sync/sync_list.h"

/* Are barriers in shared memory made? */
static bool
makes_barriers(const axe_planner *p, const axe_simt_launch *l)
{
    const axe_simt_plan *sp = p->simt;

    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].owner == l->threads &&
            sp->ring[i].full + sp->ring[i].empty > 0)
            return true;
    for (int i = 0; i < sp->n_sync_point; i++)
        if (sp->sync_point[i].n_issuer > 0 &&
            axe_threads_cta(sp->sync_point[i].threads) == l->threads)
            return true;
    return l->queue != NULL;
}

/* Is that the launch, or a part of it? */
static bool
is_part(const axe_planner *p, const axe_simt_launch *l,
        const axe_thread_group *cta)
{
    const axe_simt_overlap *o = l->overlap;

    for (int i = 0; o && i < o->n; i++)
        if (p->simt->launch[o->first + i].threads == cta)
            return true;
    return l->threads == cta;
}

/* The group of what has its operands in tensor memory, in this launch, and how
 * many CTAs do it together. */
static const char *
find_engine(const axe_planner *p, const axe_simt_launch *l, int64_t *pair)
{
    *pair = 1;
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->simt->contract &&
            s->simt->contract->atom->space[0] == AXE_ARG_TMEM &&
            is_part(p, l, axe_threads_cta(s->simt->threads))) {
            *pair = s->simt->contract->pair;
            return s->simt->contract->atom->group;
        }
    }
    for (int i = 0; i < p->mc->n_atom; i++)
        if (p->mc->atom[i].sync == AXE_SYNC_ALLOC)
            return p->mc->atom[i].group;
    return "";
}

/* Copies by way of staging may still read shared memory at the end. */
static axe_status
push_leaving(axe_planner *p, const axe_simt_launch *l, axe_sync_item item)
{
    const char *group = NULL;

    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->kind == AXE_SCHED_COPY && s->simt->copy &&
            s->simt->copy->stage && s->simt->copy->stage->fits &&
            axe_threads_cta(s->simt->threads) == l->threads)
            group = s->simt->copy->stage->group;
    }
    if (!group)
        return AXE_OK;
    item.why = "copies have read shared memory";
    item.row = axe_simt_group_sync(p->mc, AXE_SYNC_READ, group, AXE_ARG_NONE);
    if (!item.row)
        return axe_fail(p->cx, l->scope->at, AXE_EUNSUPPORTED,
                        "%s has no row by which copies of group %s are ordered",
                        p->mc->name, group);
    axe_sync_push(p, item);
    return AXE_OK;
}

/* The first warp alone, where there are several. */
static unsigned
by_warp(const axe_planner *p, axe_sync_item item)
{
    return axe_threads_at(p->simt, item.at)->n_thread > p->simt->lanes
               ? AXE_BY_WARP
               : 0;
}

static axe_status
push_columns(axe_planner *p, axe_sync_item item, axe_sync_what what,
             axe_sync_kind kind, const char *engine, axe_arg_space first)
{
    item.what = what;
    item.by = by_warp(p, item);
    item.row = axe_simt_find_sync(p->mc, kind, AXE_SCOPE_WARP, engine, first,
                                  AXE_ARG_INT);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a warp waits by here", p->mc->name);
    axe_sync_push(p, item);
    return AXE_OK;
}

static void
push_cta(axe_planner *p, const axe_simt_launch *l, axe_sync_item item)
{
    item.what = AXE_SYNC_TOGETHER;
    item.threads = l->threads;
    axe_sync_push(p, item);
}

/* The CTA's threads, or the cluster's, have come here; `begin`: of what came
 * before only barriers need to be seen. */
static axe_status
push_all(axe_planner *p, const axe_simt_launch *l, axe_sync_item item,
         bool begin)
{
    if (l->scope->keys.cluster > 1)
        return axe_sync_push_row(p, item,
                                 begin ? AXE_SYNC_BEGIN : AXE_SYNC_BARRIER,
                                 AXE_SCOPE_CLUSTER, "");
    push_cta(p, l, item);
    return AXE_OK;
}

/* Barriers are made, and counters of rings begin. */
static void
push_made(axe_planner *p, const axe_simt_launch *l, axe_sync_item item)
{
    bool makes = makes_barriers(p, l), any = makes;

    for (int i = 0; i < p->simt->n_ring; i++)
        any = any || p->simt->ring[i].owner == l->threads;
    if (!any)
        return;
    item.what = AXE_SYNC_MADE;
    item.why = makes ? "one thread makes the barriers" : "counters begin";
    if (makes)
        item.row =
            axe_simt_group_sync(p->mc, AXE_SYNC_INITED, "", AXE_ARG_NONE);
    axe_sync_push(p, item);
}

/* Columns that two CTAs have are asked for by both: each must know that the
 * other has begun. */
axe_status
axe_sync_open(axe_planner *p, const axe_simt_launch *l)
{
    axe_sync_item item = {.at = l->scope, .place = AXE_SYNC_OPEN};
    bool          makes = makes_barriers(p, l);
    bool          sums = l->tmem_columns > 0 && !axe_simt_goes_on(p->simt, l);
    int64_t       pair;
    const char   *engine = find_engine(p, l, &pair);

    AXE_TRY(axe_sync_go_on(p, l, makes && l->tmem_columns == 0));
    item.why = "the next launch may begin early";
    if (l->admits)
        AXE_TRY(
            axe_sync_push_row(p, item, AXE_SYNC_ADMIT, AXE_SCOPE_THREAD, ""));
    push_made(p, l, item);
    item.why = "launches before it may still run";
    if (l->waits)
        AXE_TRY(
            axe_sync_push_row(p, item, AXE_SYNC_PRIOR, AXE_SCOPE_THREAD, ""));
    item.why = "both CTAs of a pair ask for columns";
    if (sums && pair > 1)
        AXE_TRY(
            axe_sync_push_row(p, item, AXE_SYNC_BEGIN, AXE_SCOPE_CLUSTER, ""));
    item.why = "tensor memory is asked for";
    if (sums)
        AXE_TRY(push_columns(p, item, AXE_SYNC_COLUMNS, AXE_SYNC_ALLOC, engine,
                             AXE_ARG_SHARED));
    if (!makes && !sums)
        return AXE_OK;
    item.why = sums ? "all read which columns they have"
                    : "all see the barriers that one thread made";
    if (sums)
        AXE_TRY(axe_sync_push_sums(p, item, AXE_SYNC_BEFORE));
    AXE_TRY(push_all(p, l, item, !sums));
    if (!sums)
        return AXE_OK;
    AXE_TRY(axe_sync_push_sums(p, item, AXE_SYNC_AFTER));
    item.what = AXE_SYNC_TOLD;
    axe_sync_push(p, item);
    return AXE_OK;
}

/* Engines have read what is in shared memory when a CTA leaves, and have
 * arrived where they will, and no CTA of a cluster leaves while others may
 * arrive at its barriers or send it boxes. */
axe_status
axe_sync_close(axe_planner *p, const axe_simt_launch *l)
{
    axe_sync_item item = {.at = l->scope, .place = AXE_SYNC_CLOSE};
    bool          sums = l->tmem_columns > 0, makes = makes_barriers(p, l);
    int64_t       pair;
    const char   *engine = find_engine(p, l, &pair);

    AXE_TRY(push_leaving(p, l, item));
    AXE_TRY(axe_sync_end_rings(p, l));
    item.why = "others may still need the CTA's memory";
    if (sums)
        AXE_TRY(axe_sync_push_sums(p, item, AXE_SYNC_BEFORE));
    if (makes && l->scope->keys.cluster > 1)
        AXE_TRY(axe_sync_push_row(p, item, AXE_SYNC_BARRIER, AXE_SCOPE_CLUSTER,
                                  ""));
    else if (sums && !axe_simt_is_followed(p->simt, l))
        push_cta(p, l, item);
    if (!sums || axe_simt_is_followed(p->simt, l))
        return AXE_OK;
    item.what = AXE_SYNC_ROW;
    item.by = by_warp(p, item);
    item.why = "others have touched the sums";
    AXE_TRY(axe_sync_push_sums(p, item, AXE_SYNC_AFTER));
    item.why = "tensor memory is given back";
    return push_columns(p, item, AXE_SYNC_FREED, AXE_SYNC_FREE, engine,
                        AXE_ARG_TMEM);
}
