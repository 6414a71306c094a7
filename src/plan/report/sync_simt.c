/* sync_simt.c - the list of plan/simt/sync/sync_list.h, in words. */
#include "plan/report/facts_simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/sync/async_drain.h"
#include "plan/simt/sync/sync_list.h"

/* "opens", "before line 12", "behind line 12" */
static const char *
place_of(axe_ctx *cx, const axe_sync_item *i)
{
    if (i->place == AXE_SYNC_OPEN)
        return "opens";
    if (i->place == AXE_SYNC_CLOSE)
        return "closes";
    return axe_textf(cx, "%s %s",
                     i->place == AXE_SYNC_BEHIND ? "behind" : "before",
                     axe_place_text(cx, i->at->at));
}

const char *
axe_sync_point_text(const axe_sync_point *m)
{
    if (m->n_issuer == 0)
        return "waits at a barrier";
    return m->barrier ? "waits at a barrier, and for what it issued,"
                      : "waits for what it issued";
}

/* The products that a drain waits for. */
static const char *
products_of(axe_ctx *cx, const axe_plan *p, const axe_drain *d)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "%s: products of",
             p->schedule[d->done[0]->id]->simt->contract->atom->group);
    for (int i = 0; i < d->n_done; i++)
        axe_putf(&b, "%s s%d", i > 0 ? "," : "", d->done[i]->id);
    return b.text;
}

static const char *
what_of(axe_ctx *cx, const axe_plan *p, const axe_sync_item *i)
{
    switch (i->what) {
    case AXE_SYNC_DONE:
        return products_of(cx, p, i->drain);
    case AXE_SYNC_TOGETHER:
        return axe_textf(cx, "%s waits at a barrier",
                         axe_threads_text(cx, i->threads));
    case AXE_SYNC_ASKED:
        return axe_textf(cx, "%s waits for what it issued to %s",
                         axe_threads_text(cx, i->sync_point->threads),
                         i->sync_point->group);
    case AXE_SYNC_TOLD:
        return "each thread reads the word";
    default:
        return i->row ? i->row->name : NULL;
    }
}

void
axe_simt_sync_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    for (int i = 0; i < p->simt->n_sync; i++) {
        const axe_sync_item *item = &p->simt->sync[i];
        const char          *what = what_of(cx, p, item);
        if (item->what == AXE_SYNC_MADE && !what)
            continue; /* counters alone */
        axe_list_push(out,
                      axe_textf(cx, "%s: %s%s%s", place_of(cx, item),
                                what ? what : "", what ? ": " : "", item->why));
    }
    for (int i = 0; i < p->simt->n_group; i++) {
        const axe_thread_group *c = p->simt->group[i];
        if (c->turn >= 0)
            axe_list_push(out, axe_textf(cx, "in turn: %s, at barriers from %d",
                                         axe_threads_text(cx, c), c->turn));
    }
}
