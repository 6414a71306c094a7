/* lifetimes.c - where a CTA's tiles are in shared memory: tiles that are not
 * alive together share bytes.
 *
 *     shared f32 s[64, 64];     at 0          s = ...
 *     shared f32 t[32, 64];     at 16384      t = s
 *     shared f32 u[64, 32];     at 0          u = t     the bytes of s
 *
 * A tile is alive from the first to the last statement of the body it is
 * declared in that touches it: a loop, a branch, a scope or roles among them
 * as a whole.  Bytes change hands as elements do: hazards.c takes two tiles
 * with bytes in common for one, so that barriers stand where they must.
 *
 * Tiles that live through the launch: stages of pipelines, which have protocols
 * of their own; what is filled ahead of what stands before it; what other CTAs
 * write to; copies of one scope's entities, which do not wait for one another;
 * and where each role runs its own loop over the tiles, all.
 *
 * A barrier is not free, and bytes that nobody needs are: tiles share where
 * they would not fit otherwise, or an SM then holds more CTAs. */
#include <limits.h>
#include <math.h>

#include "ir/stmt.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/hazard/hazard.h"
#include "plan/simt/map/map.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/team.h"

/* The first and last statement that touch a tile, numbered in the order of the
 * text. */
typedef struct life {
    int first, last;
} life;

typedef struct lives {
    axe_planner           *p;
    const axe_simt_launch *l;
    int                    n;  /* statements so far */
    life                  *of; /* by tensor id */
} lives;

static const life always = {0, INT_MAX};

static bool
touches(const axe_stmt *s, const axe_tensor *t)
{
    return axe_stmt_reads(s, t) || axe_stmt_writes(s, t);
}

/* May another tile have its bytes when no statement touches it any more?  Only
 * where hazards.c puts barriers between the two: in tiles of the whole CTA. */
static bool
may_end(const lives *x, const axe_tensor *t)
{
    return t->space == AXE_SPACE_SHARED && !t->pipeline &&
           x->p->simt->owner[t->id] == x->l->threads &&
           !(x->l->scope->keys.persistent &&
             axe_scope_is_of_roles(x->l->scope));
}

/* Does s touch the tile in a produce, which may run ahead of the statements
 * before it, or in a statement that also writes the tiles of other CTAs? */
static bool
is_bound(const axe_planner *p, const axe_stmt *s, const axe_tensor *t)
{
    if (!touches(s, t))
        return false;
    if (s->kind == AXE_STMT_PRODUCE ||
        (s->kind == AXE_STMT_INDEX && p->schedule[s->id]->simt->share > 1))
        return true;
    for (int i = 0; i < s->n_body; i++)
        if (is_bound(p, s->body[i], t))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (is_bound(p, s->other[i], t))
            return true;
    return false;
}

/* at[i]: where statement i of the body begins; at[n]: where it ends. */
static void
note_tile(const lives *x, int n, axe_stmt *const *body, const int *at,
          const axe_tensor *t)
{
    life own = always;

    for (int i = 0; i < n; i++) {
        if (!touches(body[i], t))
            continue;
        if (is_bound(x->p, body[i], t))
            return;
        own.first = own.last == INT_MAX ? at[i] : own.first;
        own.last = at[i + 1] - 1;
    }
    x->of[t->id] = own;
}

/* Do all threads of the CTA run the statements in it, one after the other? */
static bool
is_in_order(const axe_stmt *s)
{
    return s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP ||
           s->kind == AXE_STMT_IF || s->kind == AXE_STMT_CONSUME;
}

static void
note_body(lives *x, int n, axe_stmt *const *body)
{
    int *at = axe_new_array(x->p->cx, int, n + 1);

    for (int i = 0; i < n; i++) {
        at[i] = x->n++;
        if (!is_in_order(body[i]))
            continue;
        note_body(x, body[i]->n_body, body[i]->body);
        note_body(x, body[i]->n_other, body[i]->other);
    }
    at[n] = x->n;
    for (int i = 0; i < n; i++)
        if (body[i]->kind == AXE_STMT_TENSOR && may_end(x, body[i]->tensor))
            note_tile(x, n, body, at, body[i]->tensor);
}

/* ----------------------------------------------------------------- placing */

static bool
are_together(const life *a, const life *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static bool
is_in(const lives *x, int i)
{
    const axe_place *pl = &x->p->place[i];

    return pl->tensor && pl->tensor->space == AXE_SPACE_SHARED &&
           axe_threads_cta(x->p->simt->owner[i]) == x->l->threads;
}

/* Is there a tile before it that is never alive at the same time? */
static bool
has_room(const lives *x, int tile)
{
    for (int i = 0; i < tile; i++)
        if (is_in(x, i) && !are_together(&x->of[i], &x->of[tile]))
            return true;
    return false;
}

/* If the tile, placed at `at`, had bytes in common with a tile before it that
 * is alive at the same time: the end of that one; else `at`. */
static int64_t
end_of_other(const lives *x, int tile, int64_t at)
{
    const axe_place *pl = x->p->place;

    for (int i = 0; i < tile; i++)
        if (is_in(x, i) && are_together(&x->of[i], &x->of[tile]) &&
            pl[i].offset < at + pl[tile].bytes &&
            at < pl[i].offset + pl[i].bytes)
            return pl[i].offset + pl[i].bytes;
    return at;
}

static int64_t
first_fit(const lives *x, int tile, int64_t align)
{
    int64_t at = 0, end;

    while ((end = end_of_other(x, tile, at)) != at)
        at = (end + align - 1) / align * align;
    return at;
}

/* Places all tiles of the launch; returns how many bytes they take. */
static int64_t
place_all(const lives *x, bool share)
{
    int64_t all = 0;

    for (int i = 0; i < x->p->kernel->n_tensor; i++) {
        axe_place *pl = &x->p->place[i];
        int64_t    align;
        if (!is_in(x, i))
            continue;
        align = axe_simt_align(pl);
        pl->offset = share && has_room(x, i)
                         ? first_fit(x, i, align)
                         : (all + align - 1) / align * align;
        if (pl->offset + pl->bytes > all)
            all = pl->offset + pl->bytes;
    }
    return all;
}

/* About how many bytes of shared memory follow the tiles: mbarriers of stages,
 * scratch and, if `staging`, the buffers of stores, which are optional. */
static int64_t
bytes_behind(const lives *x, bool staging)
{
    enum { BARRIERS = 16, PERIOD = 1024 };
    const axe_planner     *p = x->p;
    const axe_simt_launch *l = x->l;
    int64_t                n = 0, most = 0;

    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (is_in(x, i) && p->place[i].tensor->pipeline)
            n += BARRIERS *
                 (axe_simt_ring_of(p->simt, p->place[i].tensor->pipeline)
                      ->n_stage +
                  1);
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule          *s = p->schedule[i];
        const struct axe_simt_stage *st;
        if (!s || axe_threads_cta(s->simt->threads) != l->threads)
            continue;
        st = staging && s->simt->copy ? s->simt->copy->stage : NULL;
        most = s->simt->scratch > most ? s->simt->scratch : most;
        n += st ? PERIOD +
                      axe_type_bytes(st->global->type,
                                     st->room * st->n_room *
                                         axe_threads_copies(s->simt->threads))
                : 0;
    }
    return n + most;
}

/* How many CTAs an SM holds at a time, 0 if they do not fit. */
static double
ctas_of(const lives *x, int64_t bytes)
{
    const axe_planner *p = x->p;
    double             held = 0;
    bool               asks = false;

    if (bytes > axe_machine_room(p->mc, AXE_SPACE_SHARED))
        return 0;
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule *s = p->schedule[i];
        if (!s || axe_threads_cta(s->simt->threads) != x->l->threads)
            continue;
        held = fmax(held,
                    axe_simt_held(p->simt, p->kernel->n_tensor, p->place, s));
        asks = asks || s->simt->threads->registers > 0;
    }
    return axe_simt_resident(p->mc, x->l->threads, held, asks, bytes);
}

static void
place_launch(axe_planner *p, axe_simt_launch *l)
{
    lives   x = {p, l, 0, axe_new_array(p->cx, life, p->kernel->n_tensor + 1)};
    int64_t apart, shared;
    bool    gains = false;

    for (int i = 0; i < p->kernel->n_tensor; i++)
        x.of[i] = always;
    note_body(&x, l->scope->n_body, l->scope->body);
    apart = place_all(&x, false);
    shared = place_all(&x, true);
    for (int k = 0; k < 2 && shared < apart; k++) {
        int64_t behind = bytes_behind(&x, k > 0);
        gains =
            gains || ctas_of(&x, shared + behind) > ctas_of(&x, apart + behind);
    }
    l->shared_bytes = gains ? shared : place_all(&x, false);
}

void
axe_simt_place_tiles(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        place_launch(p, &p->simt->launch[i]);
}
