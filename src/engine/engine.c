/* engine.c - ranks, whatever the engine: start or join them, symmetric
 * memory. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "engine/engine.h"

enum { LINE = 64, HEAP = 1 << 20, TIMEOUT_MS = 30000, COLLECT = 1 << 20 };

static const engine_ops *const engines[] = {
#define ENGINE(name, table, what) &table,
#include "engine/engines.def"
};

int64_t
engine_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static axe_status
find(axe_ctx *cx, const char *name, const engine_ops **out)
{
    const char *names[AXE_LEN(engines)], *near;

    for (int i = 0; i < AXE_LEN(engines); i++) {
        names[i] = engines[i]->name;
        if (strcmp(names[i], name) == 0) {
            *out = engines[i];
            return AXE_OK;
        }
    }
    near = axe_nearest(name, AXE_LEN(engines), names);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
             "engine '%s' is not known; there are shm, openmpi and mpich",
             axe_text_plain(cx, name));
    if (near)
        axe_help(cx, "did you mean '%s'?", near);
    return AXE_ENAME;
}

static axe_status
check(axe_ctx *cx, const axe_launcher *l, const axe_engine_options *o)
{
    if (o->heap < 0 || o->timeout_ms < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "engine: %" PRId64 " bytes of memory and %" PRId64
                        " ms of time: neither is negative",
                        o->heap, o->timeout_ms);
    if (o->n_rank < 0 || o->n_rank > ENGINE_RANKS) {
        axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                 "engine: %" PRId64 " ranks are wanted, and 1 to %d can run",
                 o->n_rank, ENGINE_RANKS);
        axe_help(cx, "for larger meshes there are plans: axe explain, and "
                     "axe reshard without --run");
        return AXE_EARG;
    }
    AXE_NEED_ALL(cx, o->n_same, o->same);
    if (o->launcher)
        AXE_TRY(engine_check_launcher(cx, l));
    if (l->launcher && o->n_rank > 0 && o->n_rank != l->size)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "engine: %s launched %" PRId64 " ranks where %" PRId64
                        " are wanted",
                        l->launcher, l->size, o->n_rank);
    return AXE_OK;
}

axe_status
axe_spmd(axe_ctx *cx, const axe_engine_options *opt, axe_rank_fn *fn,
         void *user)
{
    AXE_NEED(cx, fn);
    static const axe_engine_options none;
    axe_engine_options              o = opt ? *opt : none;
    axe_launcher                    l;
    axe_engine                     *e = axe_new(cx, axe_engine);
    axe_status                      st;

    if (o.speaks)
        *o.speaks = true;
    if (o.launcher)
        l = *o.launcher;
    else
        AXE_TRY(axe_launcher_find(cx, &l));
    if (o.speaks)
        *o.speaks = l.rank == 0;
    AXE_TRY(check(cx, &l, &o));
    AXE_TRY(find(cx, o.engine ? o.engine : l.engine, &e->ops));
    o.n_rank = l.launcher ? l.size : o.n_rank > 0 ? o.n_rank : 1;
    o.heap = o.heap ? (o.heap + LINE - 1) / LINE * LINE : HEAP;
    e->cx = cx;
    e->timeout_ms = o.timeout_ms ? o.timeout_ms : TIMEOUT_MS;
    e->room = o.heap;
    e->speaks = o.speaks;
    e->forking = o.forking;
    e->stop = o.stop;
    e->user = o.user;
    e->doing = "the start";
    AXE_TRY(e->ops->open(e, &l, &o));
    st = engine_check_same(e, o.n_same, o.same);
    e->doing = "a barrier";
    if (st == AXE_OK)
        st = fn(cx, e, user);
    if (st != AXE_OK)
        e->ops->fail(e, axe_last_error(cx));
    e->doing = "the end";
    return e->ops->close(e, st);
}

const char *
axe_engine_name(const axe_engine *e)
{
    return e->ops->name;
}

int64_t
axe_engine_rank(const axe_engine *e)
{
    return e->rank;
}

int64_t
axe_engine_size(const axe_engine *e)
{
    return e->size;
}

axe_status
engine_all_ask(axe_engine *e, int64_t bytes)
{
    int64_t ask[ENGINE_RANKS];

    AXE_TRY(axe_engine_gather(e, &bytes, sizeof bytes, ask));
    for (int64_t r = 1; r < e->size; r++)
        if (ask[r] != ask[0]) {
            e->common = true;
            return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                            "engine: rank %" PRId64 " allocates %" PRId64
                            " bytes of symmetric memory, rank 0 %" PRId64,
                            r, ask[r], ask[0]);
        }
    return AXE_OK;
}

/* Symmetric memory is used up.  What would do is said where it is a number. */
static axe_status
is_full(axe_engine *e, int64_t bytes, int64_t taken)
{
    axe_fail(e->cx, AXE_NOWHERE, AXE_ELIMIT,
             "engine: %" PRId64 " bytes of symmetric memory, of which %" PRId64
             " of %" PRId64 " are left",
             bytes, e->room - e->used, e->room);
    if (bytes >= 0 && axe_add(e->used, taken, &taken))
        axe_help(e->cx,
                 "ranks need a heap of %" PRId64
                 " bytes so far: axe.spmd(heap=...) in Python, `heap` of "
                 "axe_engine_options in C",
                 taken);
    return AXE_ELIMIT;
}

axe_status
axe_engine_alloc(axe_engine *e, int64_t bytes, void **out)
{
    int64_t taken = (bytes + LINE - 1) / LINE * LINE;

    if (!e || !out)
        return AXE_EARG;
    AXE_TRY(engine_all_ask(e, bytes));
    if (bytes < 0 || bytes > e->room - e->used || taken > e->room - e->used)
        return is_full(e, bytes, taken);
    AXE_TRY(e->ops->reserve(e, taken));
    *out = engine_own(e) + e->used;
    e->used += taken;
    return axe_engine_barrier(e);
}

void *
axe_engine_peer(const axe_engine *e, const void *p, int64_t rank)
{
    const char *own = engine_own(e);

    if (!e->addressed || rank < 0 || rank >= e->size)
        return NULL;
    return e->heap + rank * e->stride + ((const char *)p - own);
}

axe_status
axe_engine_barrier(axe_engine *e)
{
    return e ? e->ops->barrier(e) : AXE_EARG;
}

axe_status
axe_engine_gather(axe_engine *e, const void *mine, int64_t n, void *all)
{
    if (!e || !mine || !all)
        return AXE_EARG;
    if (n < 0 || n > ENGINE_BLOB)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                        "engine: %" PRId64 " bytes to gather; 0 to %d go", n,
                        ENGINE_BLOB);
    return e->ops->gather(e, mine, n, all);
}

void
axe_engine_fail(axe_engine *e, const char *text)
{
    if (e)
        e->ops->fail(e, text ? text : "a rank has failed");
}

/* ---------------------------------------------------------- of any lengths */

/* Bytes [at, at + n) of all that are so long, through memory that peers see, or
 * by a gather where there is none. */
static axe_status
collect_some(axe_engine *e, const char *mine, const int64_t *bytes,
             void *const *out, int64_t at, int64_t n, char *window, bool seen)
{
    char *all = seen ? NULL : axe_alloc(e->cx, (size_t)(e->size * ENGINE_BLOB));
    int64_t own = bytes[e->rank] - at < n ? bytes[e->rank] - at : n;

    if (own > 0)
        memcpy(window, mine + at, (size_t)own);
    AXE_TRY(seen ? axe_engine_barrier(e)
                 : axe_engine_gather(e, window, n, all));
    for (int64_t r = 0; r < e->size; r++) {
        int64_t     some = bytes[r] - at < n ? bytes[r] - at : n;
        const char *from = seen ? axe_engine_peer(e, window, r) : all + r * n;

        if (some > 0 && out[r])
            memcpy((char *)out[r] + at, from, (size_t)some);
    }
    return seen ? axe_engine_barrier(e) : AXE_OK;
}

axe_status
axe_engine_collect(axe_engine *e, const void *mine, const int64_t *bytes,
                   void *const *out)
{
    int64_t  most = 0, step = ENGINE_BLOB, used = e ? e->used : 0;
    char     blob[ENGINE_BLOB] = {0};
    void    *window = blob;
    bool     seen;
    axe_mark m;

    if (!e || !bytes || !out || (!mine && bytes[e->rank] > 0))
        return AXE_EARG;
    for (int64_t r = 0; r < e->size; r++)
        most = bytes[r] > most ? bytes[r] : most;
    seen = e->addressed && most > 0 && e->room - e->used >= LINE;
    if (seen) {
        step = most < COLLECT ? most : COLLECT;
        step = step < e->room - e->used ? step : e->room - e->used;
        AXE_TRY(axe_engine_alloc(e, step, &window));
    }
    m = axe_ctx_mark(e->cx);
    for (int64_t at = 0; at < most; at += step) {
        AXE_TRY(collect_some(e, mine, bytes, out, at, step, window, seen));
        axe_ctx_release(e->cx, m);
    }
    e->used = used;
    return AXE_OK;
}
