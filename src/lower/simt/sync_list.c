/* sync_list.c - the plan's synchronisation at a place, spelled. */
#include "plan/simt/sync/sync_list.h"

#include "lower/simt/node.h"

static axe_status
spell(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *i)
{
    axe_arg none = axe_simt_number(number(sl, 0));

    switch (i->what) {
    case AXE_SYNC_ROW:
        axe_simt_atom(sl, b, i->row, 0, i->row->space[0] == AXE_ARG_INT, &none,
                      NULL);
        return AXE_OK;
    case AXE_SYNC_DONE:
        return axe_simt_lower_drain(sl, b, i->drain, i->last);
    case AXE_SYNC_TOGETHER:
        return axe_simt_barrier(sl, b, i->threads);
    case AXE_SYNC_ASKED:
        return axe_simt_await(sl, b, i->sync_point);
    case AXE_SYNC_MADE:
        return axe_simt_make_barriers(sl, b, i->row);
    case AXE_SYNC_COLUMNS:
        axe_simt_ask_columns(sl, b, i->row);
        return AXE_OK;
    case AXE_SYNC_TOLD:
        return axe_simt_read_columns(sl, b);
    case AXE_SYNC_FREED:
        return axe_simt_free_columns(sl, b, i->row);
    case AXE_SYNC_ARRIVED:
        return axe_simt_end_rings(sl, b);
    }
    return AXE_OK;
}

axe_status
axe_simt_sync_at(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
                 axe_sync_place place)
{
    for (int i = 0; i < sl->sp->n_sync; i++)
        if (sl->sp->sync[i].at == s && sl->sp->sync[i].place == place)
            AXE_TRY(spell(sl, b, &sl->sp->sync[i]));
    return AXE_OK;
}
