/* launches_simt.c - launches, shared memory, pipelines and barriers, told in
 * lines.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "plan/report/facts_simt.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/ring/tile_scheduler.h"

/* A piece of a CTA's shared memory. */
typedef struct piece {
    int64_t     at, bytes;
    const char *what;
} piece;

static int
by_place(const void *x, const void *y)
{
    const piece *a = x, *b = y;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* Tiles before tile i whose bytes are some of its own: ", in bytes of a, b". */
static const char *
others_text(axe_ctx *cx, const axe_plan *p, int i)
{
    const axe_place *pl = p->place;
    axe_buf          b = {.cx = cx};

    for (int k = 0; k < i; k++)
        if (pl[k].tensor && pl[k].tensor->space == AXE_SPACE_SHARED &&
            axe_threads_cta(p->simt->owner[k]) ==
                axe_threads_cta(p->simt->owner[i]) &&
            pl[k].offset < pl[i].offset + pl[i].bytes &&
            pl[i].offset < pl[k].offset + pl[k].bytes)
            axe_putf(&b, "%s%s", b.text ? ", " : ", in bytes of ",
                     pl[k].tensor->name);
    return b.text ? b.text : "";
}

static int
list_tiles(axe_ctx *cx, const axe_plan *p, const axe_thread_group *cta,
           piece *out)
{
    int n = 0;

    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (!pl->tensor || pl->tensor->space != AXE_SPACE_SHARED ||
            axe_threads_cta(p->simt->owner[i]) != cta)
            continue;
        out[n++] = (piece){
            pl->offset, pl->bytes,
            axe_textf(cx, "%s %s as %s%s", axe_type_table[pl->type].name,
                      pl->tensor->name, axe_tile_layout_text(cx, pl),
                      others_text(cx, p, i))};
    }
    return n;
}

static int
list_own(axe_ctx *cx, const axe_plan *p, const axe_thread_group *cta,
         piece *out)
{
    int n = 0;

    for (int i = 0; i < p->simt->n_ring; i++) {
        const axe_simt_ring *r = &p->simt->ring[i];
        int64_t              bytes = 16 * ((r->n_stage * r->copies + 1) / 2) *
                        (int64_t)((r->full > 0) + (r->empty > 0));
        if (r->owner == cta && bytes > 0)
            out[n++] = (piece){r->barriers, bytes,
                               axe_textf(cx, "barriers of %s", r->ring->name)};
    }
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule          *s = p->schedule[i];
        const struct axe_simt_stage *st =
            s && s->simt->copy ? s->simt->copy->stage : NULL;
        if (st && st->fits && axe_threads_cta(s->simt->threads) == cta)
            out[n++] = (piece){
                st->offset,
                axe_type_bytes(st->global->type,
                               st->room * st->n_room *
                                   axe_threads_copies(s->simt->threads)),
                axe_textf(cx, "staging of statement %d", i)};
    }
    for (int i = 0; i < p->simt->n_launch; i++) {
        const struct axe_simt_queue *q = p->simt->launch[i].queue;
        if (q && p->simt->launch[i].threads == cta)
            out[n++] = (piece){q->answers, q->bytes,
                               "answers which tile is next, and barriers"};
    }
    for (int i = 0; i < p->simt->n_group; i++) {
        const axe_thread_group *c = p->simt->group[i];
        if (c->scratch_bytes > 0 && axe_threads_cta(c) == cta)
            out[n++] = (piece){
                c->scratch, c->scratch_bytes,
                axe_textf(cx, "scratch of %s", axe_threads_text(cx, c))};
    }
    return n;
}

static const char *
launch_text(axe_ctx *cx, const axe_plan *p, const axe_simt_launch *l)
{
    const axe_scope_keys *k = &l->scope->keys;
    axe_buf               b = {.cx = cx};

    axe_putf(&b, "CTAs of %d threads", l->threads->n_thread);
    if (l->scope->n_var == 1 && l->scope->var[0]->extent->op == AXE_OP_select)
        axe_putf(&b, " where %s",
                 axe_node_text(cx, l->scope->var[0]->extent->arg[0]));
    if (k->cluster > 1)
        axe_putf(&b, " in clusters of %d", k->cluster);
    if (k->persistent)
        axe_puts(&b, ", that stay");
    if (l->queue)
        axe_putf(
            &b, " and take tiles as they come, asked for by %s",
            axe_threads_text(cx, l->queue->issuer
                                     ? axe_threads_at(p->simt, l->queue->issuer)
                                     : l->threads));
    else if (l->no_queue)
        axe_putf(&b, " and take every n-th tile, not as they come: %s",
                 l->no_queue);
    if (k->group > 1)
        axe_putf(&b, ", tiles in bands of %d", k->group);
    axe_putf(&b, "; %" PRId64 " of %" PRId64 " bytes of shared memory",
             l->shared_bytes, p->machine->simt->shared_bytes);
    if (l->waits)
        axe_puts(&b, "; begins while the launch before it ends");
    if (axe_simt_goes_on(p->simt, l))
        axe_puts(&b, "; in the launch of the scope before it");
    if (l->apart && k->overlap == 2)
        axe_putf(&b,
                 "; behind the scope before it, though it might overlap: "
                 "%s",
                 l->apart);
    if (l->tmem_columns > 0)
        axe_putf(&b, "; %d of %d columns of tensor memory", l->tmem_columns,
                 p->machine->simt->tmem_columns);
    return b.text;
}

/* Tiles in tensor memory, by their columns. */
static void
list_columns(axe_ctx *cx, const axe_plan *p, const axe_thread_group *cta,
             axe_list *out)
{
    for (int i = 0; i < p->n_place; i++) {
        const axe_place *pl = &p->place[i];
        if (!pl->tensor || pl->tensor->space != AXE_SPACE_TMEM ||
            axe_threads_cta(p->simt->owner[i]) != cta)
            continue;
        axe_list_push(
            out,
            axe_textf(cx, "  columns %" PRId64 " to %" PRId64 ": %s %s as %s",
                      pl->offset / 4, (pl->offset + pl->bytes) / 4 - 1,
                      axe_type_table[pl->type].name, pl->tensor->name,
                      axe_tile_layout_text(cx, pl)));
    }
}

void
axe_simt_launches_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    int most = p->n_place + p->simt->n_ring + p->n_schedule + p->simt->n_group +
               p->simt->n_launch;
    piece *all = axe_new_array(cx, piece, most + 1);

    for (int i = 0; i < p->simt->n_launch; i++) {
        const axe_simt_launch *l = &p->simt->launch[i];
        int                    n = list_tiles(cx, p, l->threads, all);
        axe_list_push(out, launch_text(cx, p, l));
        n += list_own(cx, p, l->threads, all + n);
        qsort(all, (size_t)n, sizeof *all, by_place);
        for (int k = 0; k < n; k++)
            axe_list_push(
                out, axe_textf(cx, "  at %" PRId64 ", %" PRId64 " bytes: %s",
                               all[k].at, all[k].bytes, all[k].what));
        list_columns(cx, p, l->threads, out);
    }
}

void
axe_simt_overlaps_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    for (int i = 0; i < p->simt->n_launch; i++) {
        const axe_simt_overlap *o = p->simt->launch[i].overlap;
        if (o && o->first == i)
            axe_overlap_lines(cx, o->group, out);
    }
}

/* ----------------------------------------------------------------- pipelines
 */

static const char *
way_text(axe_ctx *cx, const axe_simt_ring *r)
{
    if (r->way == AXE_RING_AHEAD)
        return axe_textf(cx, "%d iterations ahead in one role", r->n_stage - 1);
    return r->way == AXE_RING_ROLES ? "across roles"
                                    : "filled, then read, by one role";
}

/* What an engine says by itself when it is done. */
static const char *
engine_text(axe_ctx *cx, const axe_simt_ring *r, const char *what)
{
    return axe_textf(cx, "%s%s", what,
                     r->pair > 1 ? axe_textf(cx, ", in all of %d CTAs", r->pair)
                                 : "");
}

static void
tell_full(axe_ctx *cx, const axe_plan *p, const axe_simt_ring *r, axe_list *out)
{
    const char *first =
        axe_textf(cx, "thread 0 of %s", axe_threads_text(cx, r->producer));

    if (r->full == 0) {
        axe_list_push(out,
                      axe_textf(cx, "  full: %s, then a barrier of all threads",
                                r->group ? "each thread waits for the "
                                           "copies that it began"
                                         : "threads write it"));
        return;
    }
    if (r->filled_by) {
        axe_list_push(out,
                      axe_textf(cx, "  full: %d arrival%s, %s", r->full,
                                r->full == 1 ? "" : "s",
                                engine_text(cx, r,
                                            "of the engine when the products "
                                            "are done")));
        return;
    }
    axe_list_push(
        out, axe_textf(
                 cx, "  full: %d arrival%s%s%s, and %" PRId64 " bytes of boxes",
                 r->full, r->full == 1 ? "" : "s", r->boxes ? " with " : "",
                 r->boxes ? first : "",
                 axe_simt_box_bytes(p->n_schedule, p->schedule, r->produce)));
}

static void
tell_empty(axe_ctx *cx, const axe_simt_ring *r, const axe_ring_reader *to,
           axe_list *out)
{
    const char *who = to->by == AXE_SCOPE_WARPGROUP ? "warp group"
                      : to->by == AXE_SCOPE_THREAD  ? "thread"
                                                    : "warp";
    const char *many = to->arrivals == 1 ? "" : "s";
    const char *too = to->engine ? " and of the engine" : "";

    if (to->engine && !to->by_threads && r->cluster > r->pair)
        axe_list_push(
            out,
            axe_textf(cx,
                      "  empty: %d arrivals, of the engine%s when it has "
                      "read, in all of %d CTAs",
                      to->arrivals,
                      r->pair > 1 ? axe_textf(cx, " of each %d CTAs", r->pair)
                                  : " of each CTA",
                      r->cluster));
    else if (to->engine && !to->by_threads)
        axe_list_push(
            out,
            axe_textf(cx, "  empty: %d arrival%s, %s", to->arrivals, many,
                      engine_text(cx, r, "of the engine when it has read")));
    else if (to->arrivals > 0 && r->pair > 1)
        axe_list_push(out, axe_textf(cx,
                                     "  empty: %d arrival%s in the first of %d "
                                     "CTAs, one of each warp that reads%s",
                                     to->arrivals, many, r->pair, too));
    else if (to->arrivals > 0)
        axe_list_push(out,
                      axe_textf(cx,
                                "  empty: %d arrival%s, one of each %s that "
                                "reads%s, of %d CTA%s",
                                to->arrivals, many, who, too, r->cluster,
                                r->cluster > 1 ? "s" : ""));
    else if (r->way == AXE_RING_AHEAD)
        axe_list_push(out,
                      "  empty: a barrier of all threads in each iteration");
    if (to->deferred)
        axe_list_push(out, "  a stage is free when the contraction of the next "
                           "one has been issued and its own is done");
}

static const char *
readers_text(axe_ctx *cx, const axe_simt_ring *r)
{
    const char *text = axe_threads_text(cx, r->reader[0].threads);

    for (int i = 1; i < r->n_reader; i++)
        text = axe_textf(cx, "%s, and by %s", text,
                         axe_threads_text(cx, r->reader[i].threads));
    return text;
}

void
axe_simt_rings_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    for (int i = 0; i < p->simt->n_ring; i++) {
        const axe_simt_ring *r = &p->simt->ring[i];
        if (!r->producer || r->n_reader == 0)
            continue;
        axe_list_push(out, axe_textf(cx, "%s: %d stage%s, %s", r->ring->name,
                                     r->n_stage, r->n_stage > 1 ? "s" : "",
                                     way_text(cx, r)));
        axe_list_push(out, axe_textf(cx, "  filled by %s, read by %s",
                                     axe_threads_text(cx, r->producer),
                                     readers_text(cx, r)));
        tell_full(cx, p, r, out);
        for (int k = 0; k < r->n_reader; k++)
            tell_empty(cx, r, &r->reader[k], out);
    }
}

void
axe_simt_staged_of(axe_ctx *cx, const axe_plan *p, axe_list *out)
{
    for (int i = 0; i < p->n_staged; i++) {
        const axe_staged *s = &p->staged[i];
        axe_list_push(out, axe_textf(cx, "%s of %s by way of %s: %s",
                                     axe_node_text(cx, s->load),
                                     axe_place_text(cx, s->stmt->at),
                                     p->place[s->tile].tensor->name, s->why));
    }
}
