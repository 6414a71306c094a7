/* sync_gate.c - counters that begin at zero in a launch, without one in front.
 *
 *     CTA 0: all counters = 0; a barrier; gate = OPEN    where it opens
 *     each CTA: waits for the gate                       at its first tile
 *     each CTA: a barrier; it has passed                 at the next scope
 *     CTA 0: waits until all have; gate = 0              where it closes
 *
 * A launch's memory may be any that was used before: all that must not be in it
 * is the word OPEN, which no launch leaves behind that ends.  One that does not
 * end takes the context with it, and its memory.  Nobody counts before the gate
 * is open, which is long before a first tile is done: roles look where it
 * begins, as their pipelines fill, and CTAs without where it ends; and who goes
 * on with the next scope has met one who knows. */
#include "plan/plan_int.h"
#include "plan/simt/sync/one_launch.h"
#include "plan/simt/sync/sync.h"

/* Number of the scope in a group that counts; -1: in none. */
static int
place_of(const axe_planner *p, const axe_simt_launch *l)
{
    const axe_simt_overlap *o = l->overlap;

    return o && o->group->counters.n > 0 ? (int)(l - p->simt->launch) - o->first
                                         : -1;
}

static axe_status
push_row(axe_planner *p, axe_sync_item item, axe_sync_what what,
         axe_sync_kind kind, const char *why)
{
    item.what = what;
    item.why = why;
    item.row = axe_simt_group_sync(p->mc, kind, "", AXE_ARG_GLOBAL);
    if (!item.row)
        return axe_fail(p->cx, item.at->at, AXE_EUNSUPPORTED,
                        "%s has no row to begin counters by", p->mc->name);
    axe_sync_push(p, item);
    return AXE_OK;
}

/* The role of the first scope that waits for the gate for its CTA, when it has
 * done all its tiles; NULL: nobody does before the next scope begins.  CTAs of
 * a cluster do not all have it. */
static const axe_stmt *
role_of(const axe_simt_launch *first)
{
    const axe_stmt *s = first->scope;

    if (s->keys.cluster > 1 || !s->keys.persistent || !axe_scope_is_of_roles(s))
        return NULL;
    for (int i = 0; i < s->n_body; i++)
        if (s->body[i]->kind == AXE_STMT_ROLES)
            return s->body[i]->body[0];
    return NULL;
}

axe_status
axe_sync_pass_gate(axe_planner *p, const axe_simt_launch *l)
{
    axe_sync_item item = {
        .at = l->scope, .place = AXE_SYNC_OPEN, .threads = l->threads};

    if (place_of(p, l) != 1 || role_of(l - 1))
        return AXE_OK;
    return push_row(p, item, AXE_SYNC_PASSED, AXE_SYNC_SAME,
                    "counters are zeros");
}

axe_status
axe_sync_open_gate(axe_planner *p, const axe_simt_launch *l)
{
    axe_sync_item   item = {.at = l->scope,
                            .place = AXE_SYNC_OPEN,
                            .what = AXE_SYNC_ZEROS,
                            .threads = l->threads,
                            .why = "nothing that a launch left is trusted"};
    const axe_stmt *role = role_of(l);

    if (place_of(p, l) == 1)
        return push_row(p, item, AXE_SYNC_SEEN, AXE_SYNC_COUNT,
                        "the CTA has passed the gate");
    if (place_of(p, l) != 0)
        return AXE_OK;
    axe_sync_push(p, item);
    item.what = AXE_SYNC_TOGETHER;
    item.why = "counters are zeros";
    axe_sync_push(p, item);
    AXE_TRY(
        push_row(p, item, AXE_SYNC_OPENED, AXE_SYNC_PUT, "counters are zeros"));
    if (!role)
        return AXE_OK;
    item.at = role;
    item.place = AXE_SYNC_INSIDE;
    item.threads = axe_threads_at(p->simt, role);
    return push_row(p, item, AXE_SYNC_PASSED, AXE_SYNC_SAME,
                    "counters are zeros");
}

axe_status
axe_sync_know_gate(axe_planner *p, const axe_simt_launch *l,
                   const axe_stmt *role)
{
    axe_sync_item item = {.at = role ? role : l->scope,
                          .place = role ? AXE_SYNC_BEGUN : AXE_SYNC_ENDED,
                          .threads = role ? axe_threads_at(p->simt, role)
                                          : l->threads};

    if (place_of(p, l) != 0)
        return AXE_OK;
    return push_row(p, item, AXE_SYNC_PASSED, AXE_SYNC_SAME,
                    "nobody counts before counters are zeros");
}

axe_status
axe_sync_shut_gate(axe_planner *p, const axe_simt_launch *l)
{
    axe_sync_item item = {
        .at = l->scope, .place = AXE_SYNC_CLOSE, .threads = l->threads};

    if (place_of(p, l) < 0 || axe_simt_is_followed(p->simt, l))
        return AXE_OK;
    AXE_TRY(push_row(p, item, AXE_SYNC_ALL, AXE_SYNC_REACH,
                     "all CTAs have seen the gate"));
    return push_row(p, item, AXE_SYNC_SHUT, AXE_SYNC_PUT,
                    "no launch finds it open");
}
