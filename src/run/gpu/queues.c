/* queues.c - two streams of a rank's GPU, and words in GPUs' memory by which
 * ranks' streams wait for one another; docs/design/gpu_mesh.md.
 *
 * Each rank has a word of each other one in its own block.  Who says something
 * puts it there, behind all that its stream has done; who waits looks at its
 * own memory.  Words only grow, and are compared by signed difference.  A
 * stream that waits takes no part of the GPU, so ranks may share one.
 *
 * The driver's writes of words, and its waits for them, are of a GPU's own
 * memory: from CUDA 13.1 on others' is refused.  So a word is written here, in
 * the rank's own place among those of the others, and copied. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <time.h>

#include "base/ctx.h"
#include "run/gpu/memory_int.h"

enum {
    APART = 128,   /* [bytes] of two words */
    OF_MOVES = 64, /* [bytes] behind the word that the other stream copies */
    GRAIN = 256,   /* [bytes] of buffers */
    SPINS = 500,   /* looks at streams, before those with naps */
    NAP_NS = 20 * 1000,
    STOP_NAP_NS = 1000 * 1000,
    LOOK_MS = 20,          /* between looks at other ranks */
    STOP_MS = 5 * 1000,    /* for streams to come to their ends */
    RELEASED = 0x40000000, /* more than is ever said ahead */
};

static axe_gpu_memory *
of(engine_memory *m)
{
    return (axe_gpu_memory *)m;
}

int64_t
axe_gpu_words_bytes(const axe_engine *e)
{
    return (e->size * APART + GRAIN - 1) / GRAIN * GRAIN;
}

/* The word that rank `from` says and rank `on` waits for. */
static uint64_t
word(const axe_gpu_memory *x, int64_t on, int64_t from)
{
    return x->heap->base + x->heap->stride * (size_t)on + x->words +
           (uint64_t)from * APART;
}

/* What this stream copies to others; each has one, however they are joined. */
static uint64_t
own_word(const axe_gpu_memory *x)
{
    return word(x, x->m.e->rank, x->m.e->rank) + (x->stream ? OF_MOVES : 0);
}

static void
pause_ns(long ns)
{
    struct timespec nap = {0, ns};

    nanosleep(&nap, NULL);
}

/* ------------------------------------------------------------------- streams
 */

static void
rehearse(engine_memory *m, bool on)
{
    of(m)->rehearses = on;
    of(m)->stream = NULL;
}

static void
use(engine_memory *m, engine_queue q)
{
    of(m)->stream = q == ENGINE_MOVES ? of(m)->moves : NULL;
}

/* The event is what the other stream has now, whatever becomes of either. */
static axe_status
join(engine_memory *m)
{
    axe_gpu_memory *x = of(m);
    const axe_cuda *cu = x->gpu->cuda;
    void           *other = x->stream ? NULL : x->moves;
    int             r;

    if (x->rehearses)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(m->e->cx, x->gpu));
    r = cu->EventRecord(x->event, other);
    if (r == 0)
        r = cu->StreamWaitEvent(x->stream, x->event, 0);
    axe_gpu_pop(x->gpu);
    return axe_cuda_check(m->e->cx, cu, r, "joining two streams");
}

static axe_status
say(engine_memory *m, int64_t peer, uint32_t count)
{
    axe_gpu_memory *x = of(m);
    const axe_cuda *cu = x->gpu->cuda;
    int             r;

    if (x->rehearses || peer == m->e->rank)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(m->e->cx, x->gpu));
    r = cu->StreamWriteValue32_v2(x->stream, own_word(x), count,
                                  AXE_CUDA_WRITE_BEHIND);
    if (r == 0)
        r = cu->MemcpyDtoDAsync_v2(word(x, peer, m->e->rank), own_word(x),
                                   sizeof count, x->stream);
    axe_gpu_pop(x->gpu);
    return axe_cuda_check(m->e->cx, cu, r, "telling another GPU what is done");
}

static axe_status
hear(engine_memory *m, int64_t peer, uint32_t count)
{
    axe_gpu_memory *x = of(m);
    int             r;

    if (x->rehearses)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(m->e->cx, x->gpu));
    r = x->gpu->cuda->StreamWaitValue32_v2(x->stream, word(x, m->e->rank, peer),
                                           count, AXE_CUDA_WAIT_REACHED);
    axe_gpu_pop(x->gpu);
    return axe_cuda_check(m->e->cx, x->gpu->cuda, r, "waiting for another GPU");
}

/* ------------------------------------------------------------------- the end
 */

/* What the driver says of both; the context is current. */
static int
query(const axe_gpu_memory *x)
{
    int r = x->gpu->cuda->StreamQuery(x->moves);

    return r != 0 ? r : x->gpu->cuda->StreamQuery(NULL);
}

/* All ranks fail by it, or by what has been said before. */
static axe_status
too_long(axe_engine *e)
{
    const char *text =
        axe_textf(e->cx,
                  "rank %" PRId64 " of %" PRId64
                  " waited %.3g s for all others' GPUs in %s",
                  e->rank, e->size, (double)e->timeout_ms / 1e3, e->doing);

    e->ops->fail(e, text);
    AXE_TRY(e->ops->look(e));
    return axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE, "%s", text);
}

/* A rank that has failed lets its streams go on with what it has not heard, and
 * they may tell others of that: all is there where none had failed. */
static axe_status
wait_both(const axe_gpu_memory *x)
{
    axe_engine *e = x->m.e;
    int64_t     until = engine_now_ms() + e->timeout_ms, look = 0, now;
    int         r;

    for (int i = 0; (r = query(x)) == AXE_CUDA_NOT_READY; i += i < SPINS) {
        if (i < SPINS)
            continue;
        now = engine_now_ms();

        if (now >= look) {
            AXE_TRY(e->ops->look(e));
            look = now + LOOK_MS;
        }
        if (now > until)
            return too_long(e);
        pause_ns(NAP_NS);
    }
    AXE_TRY(axe_cuda_check(e->cx, x->gpu->cuda, r, "running on the GPU"));
    return e->ops->look(e);
}

static axe_status
finish(engine_memory *m)
{
    axe_gpu_memory *x = of(m);
    axe_status      st;

    AXE_TRY(axe_gpu_push(m->e->cx, x->gpu));
    st = wait_both(x);
    axe_gpu_pop(x->gpu);
    return st;
}

static int
query_all(const axe_gpu_memory *x)
{
    int r = query(x);

    return r != 0 ? r : x->gpu->cuda->StreamQuery(x->helps);
}

/* Each own word, far ahead; not behind others that are still to be written: a
 * driver keeps so many of what a stream has not done, and then lets the host
 * wait. */
static void
release(const axe_gpu_memory *x)
{
    const axe_cuda *cu = x->gpu->cuda;

    if (cu->StreamQuery(x->helps) != 0)
        return;
    for (int64_t p = 0; p < x->m.e->size; p++)
        if (p != x->m.e->rank)
            cu->StreamWriteValue32_v2(x->helps, word(x, x->m.e->rank, p),
                                      x->m.e->posted + RELEASED,
                                      AXE_CUDA_WRITE_BEHIND);
}

/* Peers that go on may write lower numbers, so it is said again and again.
 * What is written last is waited for, too: its memory is about to go. */
static void
stop(engine_memory *m)
{
    axe_gpu_memory *x = of(m);
    const axe_cuda *cu = x->gpu->cuda;
    int64_t         until = engine_now_ms() + STOP_MS;
    int             r;

    x->stream = NULL;
    if (cu->CtxPushCurrent_v2(x->gpu->ctx) != 0)
        return;
    while ((r = query_all(x)) == AXE_CUDA_NOT_READY &&
           engine_now_ms() < until) {
        release(x);
        pause_ns(STOP_NAP_NS);
    }
    x->gpu->stuck = r != 0;
    axe_gpu_pop(x->gpu);
}

static const engine_queues queues = {rehearse, use,    join, say,
                                     hear,     finish, stop};

/* --------------------------------------------------------- opening, closing
 */

static bool
has_calls(const axe_cuda *cu)
{
    return cu->StreamCreate && cu->StreamDestroy_v2 && cu->StreamWaitEvent &&
           cu->StreamWriteValue32_v2 && cu->StreamWaitValue32_v2;
}

static int
make(axe_gpu_memory *x)
{
    const axe_cuda *cu = x->gpu->cuda;
    int             r = cu->StreamCreate(&x->moves, AXE_CUDA_STREAM_APART);

    if (r == 0)
        r = cu->StreamCreate(&x->helps, AXE_CUDA_STREAM_APART);
    if (r == 0)
        r = cu->EventCreate(&x->event, AXE_CUDA_EVENT_NO_TIME);
    return r;
}

/* The words that others are to write, as of ranks that have said nothing since.
 */
static int
begin_words(const axe_gpu_memory *x)
{
    const axe_cuda *cu = x->gpu->cuda;
    int             r = 0;

    for (int64_t p = 0; p < x->m.e->size && r == 0; p++)
        r = cu->StreamWriteValue32_v2(NULL, word(x, x->m.e->rank, p),
                                      x->m.e->posted, AXE_CUDA_WRITE_BEHIND);
    return r == 0 ? cu->StreamSynchronize(NULL) : r;
}

/* Can it?  A driver says so where it is asked to write one. */
static axe_status
open_own(axe_ctx *cx, axe_gpu_memory *x, bool *can)
{
    const axe_cuda *cu = x->gpu->cuda;
    int             r = 0, words = 0;

    *can = has_calls(cu);
    if (!*can)
        return AXE_OK;
    AXE_TRY(axe_gpu_push(cx, x->gpu));
    r = make(x);
    if (r == 0)
        words = begin_words(x);
    axe_gpu_pop(x->gpu);
    *can = words != AXE_CUDA_NOT_SUPPORTED;
    AXE_TRY(axe_cuda_check(cx, cu, r, "opening a stream"));
    return *can ? axe_cuda_check(cx, cu, words, "words that GPUs wait for")
                : AXE_OK;
}

axe_status
axe_gpu_queues_open(axe_ctx *cx, axe_gpu_memory *x)
{
    axe_engine *e = x->m.e;
    int64_t     mine, *all = axe_new_array(cx, int64_t, e->size);
    bool        can;

    x->words = (uint64_t)x->used;
    x->used += axe_gpu_words_bytes(e);
    AXE_TRY(open_own(cx, x, &can));
    mine = can;
    AXE_TRY(axe_engine_gather(e, &mine, sizeof mine, all));
    for (int64_t r = 0; r < e->size; r++)
        can = can && all[r];
    x->m.queues = can ? &queues : NULL;
    return AXE_OK;
}

void
axe_gpu_queues_close(axe_gpu_memory *x)
{
    const axe_cuda *cu = x->gpu->cuda;

    x->m.queues = NULL;
    if (!axe_gpu_goes_on(x->gpu) || cu->CtxPushCurrent_v2(x->gpu->ctx) != 0)
        return;
    if (x->event)
        cu->EventDestroy_v2(x->event);
    if (x->helps)
        cu->StreamDestroy_v2(x->helps);
    if (x->moves)
        cu->StreamDestroy_v2(x->moves);
    axe_gpu_pop(x->gpu);
}
