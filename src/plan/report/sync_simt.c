/* sync_simt.c - the list of plan/simt/sync/sync_list.h, in words. */
#include <inttypes.h>

#include "plan/report/facts_simt.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/sync/async_drain.h"
#include "plan/simt/sync/sync_list.h"

/* Of a statement, by place. */
static const char *const where[] = {
    [AXE_SYNC_LEFT] = "before",
    [AXE_SYNC_AHEAD] = "before",
    [AXE_SYNC_ENTER] = "begin of",
    [AXE_SYNC_ASK] = "a tile begins,",
    [AXE_SYNC_BEGUN] = "a tile begins,",
    [AXE_SYNC_ENDED] = "a tile ends,",
    [AXE_SYNC_NEXT] = "a tile ends,",
    [AXE_SYNC_ROOM] = "before",
    [AXE_SYNC_FILL] = "at the begin of",
    [AXE_SYNC_FILLED] = "at the end of",
    [AXE_SYNC_FULL] = "behind",
    [AXE_SYNC_PACE] = "behind",
    [AXE_SYNC_USE] = "before",
    [AXE_SYNC_USED] = "behind what reads in",
    [AXE_SYNC_OVER] = "behind",
    [AXE_SYNC_INSIDE] = "at the end of",
    [AXE_SYNC_LEAVE] = "end of",
    [AXE_SYNC_BEHIND] = "behind",
};

/* "opens", "before line 12", "behind line 12" */
static const char *
place_of(axe_ctx *cx, const axe_sync_item *i)
{
    if (i->place == AXE_SYNC_OPEN)
        return "opens";
    if (i->place == AXE_SYNC_CLOSE)
        return "closes";
    return axe_textf(cx, "%s %s", where[i->place],
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

/* Who executes the row, if not each thread. */
static const char *
who_of(axe_ctx *cx, const axe_sync_item *i)
{
    if (i->what == AXE_SYNC_STAGE && i->row->sync == AXE_SYNC_ARRIVE &&
        i->n_cta > 1)
        return axe_textf(cx, "one thread for each of %d CTAs: ", i->n_cta);
    if (i->by & AXE_BY_WARP)
        return "the first warp: ";
    if (i->by & AXE_BY_LEADER)
        return "one thread of the cluster: ";
    if (i->by & AXE_BY_FIRST)
        return "one thread: ";
    return i->by & AXE_BY_LANE ? "one lane of each warp: " : "";
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
        if (i->row->sync == AXE_SYNC_COMMIT)
            return axe_textf(cx, "%s%s", who_of(cx, i), i->row->name);
        return axe_textf(cx, "%s waits for what it issued to %s",
                         axe_threads_text(cx, i->sync_point->threads),
                         i->sync_point->group);
    case AXE_SYNC_TURN:
        return axe_textf(cx, "%s, %s", axe_threads_text(cx, i->threads),
                         i->row->name);
    case AXE_SYNC_STAGE:
    case AXE_SYNC_ARRIVED:
        return axe_textf(cx, "%s %s: %s%s", i->ring->ring->name,
                         i->bar == AXE_BAR_FULL ? "full" : "empty",
                         who_of(cx, i), i->row->name);
    case AXE_SYNC_ANSWER:
        return axe_textf(cx, "%s%s", who_of(cx, i), i->row->name);
    case AXE_SYNC_REACHED:
        return axe_textf(cx, "%s: %s",
                         i->shared ? "threads side by side" : "one thread",
                         i->row->name);
    case AXE_SYNC_ZEROS:
        return "threads of the first CTA set counters to zero";
    case AXE_SYNC_OPENED:
    case AXE_SYNC_ALL:
    case AXE_SYNC_SHUT:
        return axe_textf(cx, "one thread of the first CTA: %s", i->row->name);
    case AXE_SYNC_PASSED:
        return axe_textf(cx, "one thread%s: %s",
                         i->place == AXE_SYNC_ENDED ||
                                 i->place == AXE_SYNC_BEGUN
                             ? ", its first time"
                             : "",
                         i->row->name);
    case AXE_SYNC_SEEN:
    case AXE_SYNC_COUNTED:
        return axe_textf(cx, "one thread: %s", i->row->name);
    case AXE_SYNC_TOLD:
        return "each thread reads the word";
    case AXE_SYNC_ROW:
        return axe_textf(cx, "%s%s%s", who_of(cx, i), i->row->name,
                         i->n == 0 ? ""
                                   : axe_textf(cx, ", all but %" PRId64, i->n));
    default:
        return i->row ? axe_textf(cx, "%s%s", who_of(cx, i), i->row->name)
                      : NULL;
    }
}

/* Nothing but counters. */
static bool
is_counting(const axe_sync_item *i)
{
    return i->what == AXE_SYNC_STEP || i->what == AXE_SYNC_KEEP ||
           (i->what == AXE_SYNC_MADE && !i->row);
}

void
axe_simt_sync_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    for (int i = 0; i < p->simt->n_sync; i++) {
        const axe_sync_item *item = &p->simt->sync[i];
        const char          *what = what_of(cx, p, item);
        if (is_counting(item))
            continue;
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
