/* streams.c - streams of the GPU that executes PTX: each is a queue, and what
 * waits for a word or an event keeps its own stream alone.
 *
 * $PTX_LATE says when things are done: without it at once, or as soon as what
 * they wait for is; 1: when somebody waits or looks, all streams in the order
 * in which they were asked for, as if they were one; else it is a seed, and a
 * stream is chosen at random for each of them.  Of what a stream has not done a
 * driver keeps so many; who asks for more waits. */
#define _DEFAULT_SOURCE

#include "streams.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fake/driver.h"

enum {
    NO_MEMORY = 2,
    NOT_READY = 600,
    NAP_US = 100,
    SLOW_US = 1000, /* behind a word, so that others see it first */
    MOST_STEPS = 3,
    MOST_STREAMS = 16,
    MOST_KEPT = 1024
};

typedef struct event {
    uint64_t number; /* what was recorded last */
} event;

static stream_work *first, *last;
static uint64_t     n_work, seed;

static int
how_late(void)
{
    const char *s = getenv("PTX_LATE");

    return s ? atoi(s) : 0;
}

static uint64_t
some(uint64_t n)
{
    if (seed == 0)
        seed = (uint64_t)how_late() * 1000 + (uint64_t)fake_own();
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (seed >> 33) % n;
}

/* ---------------------------------------------------------------- one by one
 */

static bool
is_there(uint64_t number)
{
    const stream_work *w = first;

    while (w && w->number != number)
        w = w->next;
    return w != NULL;
}

static bool
has(void *stream)
{
    const stream_work *w = first;

    while (w && w->stream != stream)
        w = w->next;
    return w != NULL;
}

static int
n_of(const void *stream)
{
    int n = 0;

    for (const stream_work *w = first; w; w = w->next)
        n += w->stream == stream;
    return n;
}

static bool
may(const stream_work *w)
{
    return (w->after == 0 || !is_there(w->after)) && stream_may(w);
}

static void
drop(stream_work *w)
{
    for (int k = 0; w->kind == S_LAUNCH && k < w->kernel->n_param; k++)
        free(w->arg[k]);
    free(w);
    fake_count(-1);
}

static void
take_out(const stream_work *w)
{
    stream_work **at = &first;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    last = first;
    while (last && last->next)
        last = last->next;
}

/* The first of its stream that may be done, or one of several; NULL. */
static stream_work *
choose(void)
{
    void        *seen[MOST_STREAMS];
    stream_work *found = NULL;
    int          n = 0;
    uint64_t     n_may = 0;

    if (how_late() == 1)
        return first && may(first) ? first : NULL;
    for (stream_work *w = first; w; w = w->next) {
        int i = 0;

        while (i < n && seen[i] != w->stream)
            i++;
        if (i < n || n == MOST_STREAMS)
            continue;
        seen[n++] = w->stream;
        if (!may(w))
            continue;
        if (!found || (how_late() > 1 && some(++n_may) == 0))
            found = w;
        n_may += n_may == 0;
    }
    return found;
}

/* Behind a fault nothing of what was asked for is done any more. */
static int
do_one(stream_work *w)
{
    int bad;

    take_out(w);
    bad = stream_do(w);
    if (how_late() > 1 && w->kind == S_BYTES && w->bytes == sizeof w->value &&
        some(2) == 0)
        usleep(SLOW_US);
    drop(w);
    while (bad && (w = first)) {
        take_out(w);
        drop(w);
    }
    return bad;
}

static int
add(const stream_work *from)
{
    stream_work *w = malloc(sizeof *w);

    if (!w)
        return NO_MEMORY;
    *w = *from;
    w->next = NULL;
    for (int k = 0; w->kind == S_LAUNCH && k < w->kernel->n_param; k++) {
        size_t n = (size_t)w->kernel->param[k].bytes;

        w->arg[k] = aligned_alloc(64, (n + 63) / 64 * 64);
        if (!w->arg[k])
            abort();
        memcpy(w->arg[k], from->arg[k], n);
    }
    if (last)
        last->next = w;
    else
        first = w;
    last = w;
    fake_count(1);
    return 0;
}

/* --------------------------------------------------------------- all of them
 */

static int
make_place(void *stream)
{
    int bad = 0;

    while (!bad && n_of(stream) >= MOST_KEPT) {
        stream_work *w = choose();

        if (w)
            bad = do_one(w);
        else
            usleep(NAP_US);
    }
    return bad;
}

int
stream_put(const stream_work *w)
{
    stream_work own = *w, *next;
    int         bad = 0;

    own.number = ++n_work;
    if (how_late() == 0 && !has(w->stream) && may(&own))
        return stream_do(&own);
    bad = make_place(w->stream);
    if (!bad)
        bad = add(&own);
    while (how_late() == 0 && !bad && (next = choose()))
        bad = do_one(next);
    return bad;
}

static int
drain(void *stream, bool all)
{
    int bad = 0;

    while (!bad && (all ? first != NULL : has(stream))) {
        stream_work *w = choose();

        if (w)
            bad = do_one(w);
        else
            usleep(NAP_US);
    }
    return bad;
}

int
stream_drain(void *stream)
{
    return drain(stream, false);
}

int
stream_drain_all(void)
{
    return drain(NULL, true);
}

int
stream_query(void *stream)
{
    stream_work *w;
    int          bad = 0;
    uint64_t     n = how_late() > 1 ? 1 + some(MOST_STEPS) : UINT64_MAX;

    for (; n > 0 && !bad && has(stream) && (w = choose()); n--)
        bad = do_one(w);
    return bad ? bad : has(stream) ? NOT_READY : 0;
}

/* ------------------------------------------------------------ the driver's
 */

static int
asked(const char *name)
{
    if (strcmp(name, "StreamQuery") != 0)
        fake_note(name);
    return fake_fails(name);
}

CALL(StreamCreate, (void **stream, unsigned flags))
{
    int bad = asked("StreamCreate");

    if (bad || flags != 1)
        return bad ? bad : 1;
    *stream = malloc(1);
    fake_count(1);
    return *stream ? 0 : NO_MEMORY;
}

/* With something in it, it stays. */
CALL(StreamDestroy_v2, (void *stream))
{
    if (has(stream))
        return 1;
    free(stream);
    fake_count(-1);
    return 0;
}

CALL(StreamSynchronize, (void *stream))
{
    int bad = asked("StreamSynchronize");

    return bad ? bad : stream_drain(stream);
}

/* $FAKE_STUCK: what is there never ends. */
CALL(StreamQuery, (void *stream))
{
    int bad = asked("StreamQuery");

    return bad ? bad : getenv("FAKE_STUCK") ? NOT_READY : stream_query(stream);
}

/* Drivers from CUDA 13.1 on write no words of another GPU's. */
CALL(StreamWriteValue32_v2,
     (void *stream, uint64_t at, uint32_t value, unsigned flags))
{
    int bad = asked("StreamWriteValue32_v2");

    if (bad || flags || fake_is_others(at))
        return bad ? bad : 1;
    return stream_put(&(stream_work){.kind = S_WRITE,
                                     .stream = stream,
                                     .to = (void *)(uintptr_t)at,
                                     .value = value});
}

CALL(StreamWaitValue32_v2,
     (void *stream, uint64_t at, uint32_t value, unsigned flags))
{
    int bad = asked("StreamWaitValue32_v2");

    if (bad || flags)
        return bad ? bad : 1;
    return stream_put(&(stream_work){.kind = S_WAIT,
                                     .stream = stream,
                                     .from = (void *)(uintptr_t)at,
                                     .value = value});
}

CALL(EventCreate, (void **out, unsigned flags))
{
    int bad = asked("EventCreate");

    (void)flags;
    *out = bad ? NULL : calloc(1, sizeof(event));
    fake_count(!bad);
    return bad;
}

CALL(EventDestroy_v2, (void *e))
{
    free(e);
    fake_count(-1);
    return 0;
}

CALL(EventRecord, (void *e, void *stream))
{
    int bad = asked("EventRecord");

    if (!bad)
        bad = stream_put(&(stream_work){.kind = S_RECORD, .stream = stream});
    ((event *)e)->number = n_work;
    return bad;
}

/* For what the event has now, whatever is recorded later. */
CALL(StreamWaitEvent, (void *stream, void *e, unsigned flags))
{
    int bad = asked("StreamWaitEvent");

    if (bad || flags)
        return bad ? bad : 1;
    return stream_put(&(stream_work){
        .kind = S_JOIN, .stream = stream, .after = ((event *)e)->number});
}

CALL(EventSynchronize, (void *e))
{
    int bad = 0;

    while (!bad && is_there(((event *)e)->number)) {
        stream_work *w = choose();

        if (w)
            bad = do_one(w);
        else
            usleep(NAP_US);
    }
    return bad;
}

CALL(EventQuery, (void *e))
{
    (void)e;
    return NOT_READY; /* calls are never behind the host */
}

CALL(EventElapsedTime, (float *ms, void *begin, void *end))
{
    (void)begin;
    (void)end;
    *ms = 1;
    return 0;
}

CALL(EventElapsedTime_v2, (float *ms, void *begin, void *end))
{
    return cuEventElapsedTime(ms, begin, end);
}
