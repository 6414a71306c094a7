/* simt_begin.c - what a CTA does first and last: barriers are made and seen,
 * tensor maps asked for; nobody leaves while others still need its memory. */
#include "lower/simt_int.h"
#include "plan/simt_copy.h"
#include "plan/simt_ring.h"

static const axe_node *
number(simt_lowering *sl, int64_t v)
{
    return axe_int(&sl->lw, v);
}

axe_status
axe_simt_sync_if(simt_lowering *sl, axe_lblock *b, axe_sync_kind kind,
                 const char *group, int n_arg, const axe_arg *arg,
                 const axe_node *pred)
{
    AXE_TRY(axe_simt_sync(sl, b, kind, AXE_SCOPE_THREAD, group, n_arg, arg));
    b->item[b->n - 1]->pred = pred;
    return AXE_OK;
}

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

axe_status
axe_simt_lower_prologue(simt_lowering *sl, axe_lblock *b)
{
    const axe_crew *cta = sl->launch->crew;
    int             n = sl->sp->n_ring;
    axe_lir        *l;

    sl->full = axe_new_array(sl->lw.cx, const axe_tensor *, n + 1);
    sl->empty = axe_new_array(sl->lw.cx, const axe_tensor *, n + 1);
    sl->opening = NULL;
    sl->leaves = NULL;
    for (int i = 0; i < n; i++)
        if (sl->sp->ring[i].home == cta && sl->sp->ring[i].full > 0) {
            if (!sl->opening) {
                l = axe_emit(&sl->lw, b, AXE_LIR_IF);
                l->value = axe_node2(sl->lw.cx, AXE_OP_eq,
                                     axe_simt_thread(sl, cta), number(sl, 0));
                sl->opening = &l->body;
            }
            AXE_TRY(make_ring(sl, sl->opening, i));
        }
    for (int i = 0; i < n; i++)
        if (sl->sp->ring[i].home == cta &&
            axe_simt_is_early(sl, &sl->sp->ring[i]))
            axe_simt_count_ring(sl, b, &sl->sp->ring[i], true, true);
    if (!sl->opening)
        return AXE_OK;
    AXE_TRY(show_inits(sl, sl->opening));
    if (sl->grid->cluster > 1)
        return axe_simt_sync(sl, b, AXE_SYNC_MEET, AXE_SCOPE_CLUSTER, "", 0,
                             NULL);
    return axe_simt_meet(sl, b, cta);
}

/* Tensor maps are asked for early; engines have read what is in shared memory
 * when a CTA leaves, and no CTA of a cluster leaves while others may
 * arrive at its barriers or send it boxes. */
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
    if (!sl->opening || sl->grid->cluster == 1)
        return AXE_OK;
    return axe_simt_sync(sl, b, AXE_SYNC_MEET, AXE_SCOPE_CLUSTER, "", 0, NULL);
}
