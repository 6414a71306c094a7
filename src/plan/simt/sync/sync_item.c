/* sync_item.c - items of the list, one by one. */
#include <string.h>

#include "plan/simt/sync/sync.h"
#include "plan/simt/sync/sync_list.h"

void
axe_sync_push(axe_planner *p, axe_sync_item item)
{
    axe_simt_plan *sp = p->simt;

    if (sp->n_sync == sp->cap_sync) {
        sp->cap_sync = sp->cap_sync ? 2 * sp->cap_sync : 16;
        axe_sync_item *more = axe_new_array(p->cx, axe_sync_item, sp->cap_sync);
        if (sp->n_sync > 0)
            memcpy(more, sp->sync, (size_t)sp->n_sync * sizeof *more);
        sp->sync = more;
    }
    sp->sync[sp->n_sync++] = item;
}

axe_status
axe_sync_push_row(axe_planner *p, axe_sync_item item, axe_sync_kind kind,
                  axe_scope_kind by, const char *group)
{
    item.row =
        axe_simt_find_sync(p->mc, kind, by, group, AXE_ARG_NONE, AXE_ARG_NONE);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row that a %s waits by here", p->mc->name,
                        axe_scope_name(by));
    axe_sync_push(p, item);
    return AXE_OK;
}

axe_status
axe_sync_push_sums(axe_planner *p, axe_sync_item item, axe_sync_kind kind)
{
    return axe_sync_push_row(p, item, kind, AXE_SCOPE_THREAD, "");
}
