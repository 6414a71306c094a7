/* shm.c - ranks of one host over one mapping: waits, failures, meetings.
 *
 * A wait spins shortly, yields, and then sleeps on the word, in slices; between
 * slices it looks whether somebody has failed, whether the rank it waits for is
 * still there, and at the clock.  With more ranks than cores it yields at once:
 * there the one that is waited for needs the core. */
#ifdef __linux__
#define _GNU_SOURCE
#include "engine/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SLICE_MS = 20,
    SLICES_TO_TELL = 15,
    GRACE_MS = 1000,
    SPEAK_MS = 300, /* for the first to fail, before others end */
    SPIN = 100,
    YIELD = 1000,
    YIELD_US = 1000, /* of others' computing, a yield may take milliseconds */
    YIELDS_TO_LOOK = 8
};

/* What ranks meet for; a rank that meets for something else is told so. */
typedef enum meeting { MEET_BARRIER, MEET_GATHER, MEET_END } meeting;

static const char *const meeting_text[] = {
    "a barrier", "a gather or allocation", "the end of its program"};

axe_status
shm_trouble(axe_ctx *cx, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "engine shm: %s: %s", what,
                    strerror(errno));
}

/* ------------------------------------------------------------------- failing
 */

static long
futex(_Atomic uint32_t *word, int op, uint32_t v, const struct timespec *t)
{
    return syscall(SYS_futex, word, op, v, t, NULL, 0);
}

static void
wake(shm_word *w)
{
    futex(&w->value, FUTEX_WAKE, INT_MAX, NULL);
}

static void
fail_as(axe_engine *e, axe_status code, const char *text)
{
    shm_state *s = e->state;
    uint32_t   none = 0;

    if (!atomic_compare_exchange_strong(&s->head->failed, &none, 1))
        return;
    s->first_to_fail = true;
    s->head->code = (int32_t)code;
    snprintf(s->head->text, SHM_TEXT, "%s", text);
    atomic_store(&s->head->failed, 2);
    for (int64_t r = 0; r < e->size; r++) {
        wake(&s->head->rank[r].progress);
        wake(&s->head->rank[r].meeting);
    }
}

static void
fail(axe_engine *e, const char *text)
{
    fail_as(e, AXE_EDEVICE, text);
}

/* The text that all ranks end with. */
static axe_status
failed(axe_engine *e)
{
    shm_state *s = e->state;

    for (int i = 0; i < 1000 && atomic_load(&s->head->failed) != 2; i++)
        sched_yield();
    return axe_fail(e->cx, AXE_NOWHERE, (axe_status)s->head->code, "%.*s",
                    SHM_TEXT - 1, s->head->text);
}

static bool
is_locked(const shm_state *s, int64_t rank)
{
    struct flock l = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};

    return fcntl(s->fd, F_GETLK, &l) < 0 || l.l_type != F_UNLCK;
}

/* Of a rank that is waited for: is it gone?  Then all end.  The rank that
 * forked it knows how, so that the others leave it some time to say so. */
static bool
is_gone(axe_engine *e, int64_t peer)
{
    shm_state  *s = e->state;
    shm_rank   *r = &s->head->rank[peer];
    const char *how = "has ended";

    if (s->child) {
        how = shm_child_end(e, peer);
        if (!how)
            return false;
    } else if (atomic_load(&r->life) != SHM_HERE || is_locked(s, peer) ||
               (!s->launched && ++s->n_gone < SLICES_TO_TELL)) {
        return false;
    }
    fail(e, axe_textf(e->cx,
                      "rank %" PRId64 " of %" PRId64 " %s, while rank %" PRId64
                      " waits for it in %s",
                      peer, e->size, how, e->rank, e->doing));
    return true;
}

/* ------------------------------------------------------------------- waiting
 */

static bool
reached(shm_word *w, uint32_t want)
{
    uint32_t v = atomic_load_explicit(&w->value, memory_order_acquire);

    return (int32_t)(v - want) >= 0;
}

static void
sleep_on(shm_word *w, uint32_t want)
{
    struct timespec slice = {0, SLICE_MS * 1000000L};
    uint32_t        v;

    atomic_fetch_add(&w->n_waiter, 1);
    v = atomic_load(&w->value);
    if ((int32_t)(v - want) < 0)
        futex(&w->value, FUTEX_WAIT, v, &slice);
    atomic_fetch_sub(&w->n_waiter, 1);
}

static axe_status
wait_long(axe_engine *e, shm_word *w, int64_t peer, uint32_t want)
{
    shm_state  *s = e->state;
    int64_t     until = engine_now_ms() + e->timeout_ms;
    const char *why;

    while (!reached(w, want)) {
        if (atomic_load(&s->head->failed))
            return failed(e);
        sleep_on(w, want);
        if (reached(w, want))
            break;
        if (is_gone(e, peer) && !reached(w, want))
            return failed(e);
        why = engine_stop(e);
        if (!why && engine_now_ms() < until)
            continue;
        if (!why)
            why = axe_textf(e->cx,
                            "rank %" PRId64 " of %" PRId64 " waited %.3g s "
                            "for rank %" PRId64 " in %s",
                            e->rank, e->size, (double)e->timeout_ms / 1e3, peer,
                            e->doing);
        fail(e, why);
        return failed(e);
    }
    return AXE_OK;
}

static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int64_t
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static axe_status
wait_for(axe_engine *e, shm_word *w, int64_t peer, uint32_t want)
{
    const shm_state *s = e->state;
    int64_t          until = 0;

    for (int i = 0; i < s->spin; i++) {
        if (reached(w, want))
            return AXE_OK;
        relax();
    }
    for (int i = 0; i < s->yield; i++) {
        if (reached(w, want))
            return AXE_OK;
        sched_yield();
        if (i % YIELDS_TO_LOOK > 0)
            continue;
        if (until > 0 && now_us() > until)
            break;
        until = until > 0 ? until : now_us() + YIELD_US;
    }
    return wait_long(e, w, peer, want);
}

static void
advance(shm_word *w, uint32_t to)
{
    atomic_store(&w->value, to);
    if (atomic_load(&w->n_waiter))
        wake(w);
}

static void
post(axe_engine *e, uint32_t count)
{
    shm_state *s = e->state;

    advance(&s->head->rank[e->rank].progress, count);
}

static axe_status
await(axe_engine *e, int64_t peer, uint32_t count)
{
    shm_state *s = e->state;

    return wait_for(e, &s->head->rank[peer].progress, peer, count);
}

static axe_status
look(axe_engine *e)
{
    shm_state  *s = e->state;
    const char *why = engine_stop(e);

    if (atomic_load(&s->head->failed))
        return failed(e);
    for (int64_t r = 0; r < e->size; r++)
        if (r != e->rank && is_gone(e, r))
            return failed(e);
    if (!why)
        return AXE_OK;
    fail(e, why);
    return failed(e);
}

/* ------------------------------------------------------------------ meetings
 */

/* Of the same thing: else the program of ranks is not one. */
static axe_status
meet(axe_engine *e, meeting what)
{
    shm_state *s = e->state;
    shm_word  *own = &s->head->rank[e->rank].meeting;
    uint32_t   n = ++s->met;

    atomic_store_explicit(&own->tag[n % 2], (uint32_t)what,
                          memory_order_relaxed);
    advance(own, n);
    for (int64_t r = 0; r < e->size; r++) {
        shm_word *w = &s->head->rank[r].meeting;
        uint32_t  tag;

        AXE_TRY(wait_for(e, w, r, n));
        tag = atomic_load_explicit(&w->tag[n % 2], memory_order_relaxed);
        if (tag == (uint32_t)what)
            continue;
        fail_as(e, AXE_EARG,
                axe_textf(e->cx,
                          "ranks do different things: rank %" PRId64
                          " is at %s, rank %" PRId64 " at %s",
                          e->rank, meeting_text[what], r,
                          tag <= MEET_END ? meeting_text[tag] : "another"));
        return failed(e);
    }
    return AXE_OK;
}

static axe_status
barrier(axe_engine *e)
{
    return meet(e, MEET_BARRIER);
}

/* A rank that gathers for the second time from here has met all others in
 * between, which have read what was here by then. */
static axe_status
gather(axe_engine *e, const void *mine, int64_t n, void *all)
{
    shm_state *s = e->state;
    int        half = (s->met + 1) % 2;

    memcpy(s->head->rank[e->rank].blob[half], mine, (size_t)n);
    AXE_TRY(meet(e, MEET_GATHER));
    for (int64_t r = 0; r < e->size; r++)
        memcpy((char *)all + r * n, s->head->rank[r].blob[half], (size_t)n);
    return AXE_OK;
}

/* ------------------------------------------------------------------- opening
 */

static int
n_core(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static axe_status
check_size(axe_ctx *cx, size_t bytes)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY &&
        l.rlim_cur < bytes)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "engine shm: %zu bytes of shared memory; this process "
                        "may have files of %zu (ulimit -f)",
                        bytes, (size_t)l.rlim_cur);
    return AXE_OK;
}

static axe_status
map(axe_engine *e)
{
    shm_state *s = e->state;
    void      *at =
        mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);

    if (at == MAP_FAILED)
        return shm_trouble(
            e->cx,
            axe_textf(e->cx, "mapping %zu bytes of shared memory", s->bytes));
    madvise(at, s->bytes, MADV_HUGEPAGE);
    s->head = at;
    e->heap = (char *)at + s->begin;
    e->addressed = true;
    return AXE_OK;
}

static axe_status
make_file(axe_engine *e)
{
    shm_state *s = e->state;

    AXE_TRY(check_size(e->cx, s->bytes));
    s->fd = memfd_create("axe", MFD_CLOEXEC);
    if (s->fd < 0 || ftruncate(s->fd, (off_t)s->bytes) < 0)
        return shm_trouble(
            e->cx, axe_textf(e->cx, "%zu bytes of shared memory", s->bytes));
    return AXE_OK;
}

/* Ranks that are not more than cores begin on one each; where they go from
 * there is the system's business, as their mask stays what it was.  A child
 * begins on its parent's core, and may spin there for long. */
static void
spread_out(const axe_engine *e)
{
    cpu_set_t mask, one;
    int       n = -1;

    if (sched_getaffinity(0, sizeof mask, &mask) != 0 ||
        CPU_COUNT(&mask) < e->size || e->size == 1)
        return;
    CPU_ZERO(&one);
    for (size_t c = 0; c < CPU_SETSIZE && n < e->rank; c++)
        if (CPU_ISSET(c, &mask) && ++n == e->rank)
            CPU_SET(c, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        sched_setaffinity(0, sizeof mask, &mask);
}

axe_status
shm_lock(axe_engine *e)
{
    shm_state   *s = e->state;
    struct flock l = {.l_type = F_WRLCK,
                      .l_whence = SEEK_SET,
                      .l_start = e->rank,
                      .l_len = 1};

    if (fcntl(s->fd, F_SETLK, &l) < 0)
        return shm_trouble(e->cx, "locking shared memory");
    spread_out(e);
    atomic_store(&s->head->rank[e->rank].life, SHM_HERE);
    return AXE_OK;
}

static void
forget(axe_engine *e)
{
    shm_state *s = e->state;

    if (s->head)
        munmap(s->head, s->bytes);
    if (s->fd >= 0)
        close(s->fd);
    s->head = NULL;
    s->fd = -1;
}

/* Of ranks that were launched, and rank 0 tells the others what went wrong. */
static axe_status
start_launched(axe_engine *e, const axe_launcher *l)
{
    shm_state *s = e->state;
    axe_status st;

    if (e->rank > 0) {
        AXE_TRY(shm_get(e, l, &s->fd));
        AXE_TRY(map(e));
        return shm_lock(e);
    }
    st = make_file(e);
    if (st == AXE_OK)
        st = map(e);
    if (st == AXE_OK)
        st = shm_lock(e);
    st = shm_give(e, l, st);
    if (st != AXE_OK && s->head)
        fail_as(e, st, axe_last_error(e->cx));
    return st;
}

static axe_status
start(axe_engine *e, const axe_launcher *l)
{
    const shm_state *s = e->state;

    if (s->launched)
        return start_launched(e, l);
    AXE_TRY(make_file(e));
    AXE_TRY(map(e));
    if (e->size > 1)
        AXE_TRY(shm_fork(e));
    return shm_lock(e);
}

axe_status
shm_place(axe_engine *e, int64_t room)
{
    shm_state *s = e->state;
    size_t     head, page = SHM_PAGE;

    head = sizeof(shm_head) + (size_t)e->size * sizeof(shm_rank);
    e->stride = (int64_t)(((size_t)room + page - 1) / page * page);
    s->begin = (head + page - 1) / page * page;
    if (e->stride > (INT64_MAX - (int64_t)s->begin) / e->size)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "engine shm: %" PRId64 " bytes for each of %" PRId64
                        " ranks are more than there are addresses",
                        room, e->size);
    s->bytes = s->begin + (size_t)(e->stride * e->size);
    return AXE_OK;
}

static axe_status
open_shm(axe_engine *e, const axe_launcher *l, const axe_engine_options *opt)
{
    shm_state *s = axe_new(e->cx, shm_state);
    axe_status st;

    e->state = s;
    e->size = opt->n_rank;
    e->rank = l->launcher ? l->rank : 0;
    s->launched = l->launcher != NULL;
    s->fd = -1;
    if (s->launched && l->local_size != l->size)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "engine shm is of one host; %s has %" PRId64
                        " of %" PRId64 " ranks here: take openmpi",
                        l->launcher, l->local_size, l->size);
    AXE_TRY(shm_place(e, opt->heap));
    s->spin = e->size <= n_core() ? SPIN : 1;
    s->yield = YIELD;
    st = start(e, l);
    if (st != AXE_OK && !(e->rank > 0 && !s->launched))
        forget(e);
    return st;
}

/* A page that is not there when it is written ends the process; so they are
 * asked for beforehand, by no rank if all of them would take more than there
 * is: the kernel ends whom it likes. */
static axe_status
reserve(axe_engine *e, int64_t bytes)
{
    shm_state *s = e->state;
    off_t from = (off_t)((int64_t)s->begin + e->rank * e->stride + e->used);
    axe_status st = AXE_OK;
    int        err;

    if (bytes >= 1 << 20)
        st = shm_check_memory(e->cx, bytes * e->size);
    if (st == AXE_OK && bytes > 0) {
        do
            err = posix_fallocate(s->fd, from, bytes);
        while (err == EINTR);
        errno = err;
        if (err)
            st = shm_trouble(
                e->cx,
                axe_textf(e->cx, "%" PRId64 " bytes of shared memory", bytes));
    }
    if (st != AXE_OK)
        fail_as(e, st, axe_last_error(e->cx));
    return st;
}

/* ------------------------------------------------------------------- closing
 */

static void
pause_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL);
}

static axe_status
close_shm(axe_engine *e, axe_status st)
{
    shm_state *s = e->state;
    bool       failing;

    if (st == AXE_OK)
        st = meet(e, MEET_END);
    atomic_store(&s->head->rank[e->rank].life, SHM_LEFT);
    if (!s->launched && e->rank > 0) {
        fflush(NULL);
        _exit(st == AXE_OK ? 0 : 1);
    }
    failing = atomic_load(&s->head->failed) != 0;
    if (s->child)
        shm_reap(e, GRACE_MS);
    else if (failing && !s->first_to_fail)
        pause_ms(SPEAK_MS);
    if (e->speaks)
        *e->speaks =
            s->launched ? (failing ? s->first_to_fail : e->rank == 0) : true;
    forget(e);
    return st;
}

const engine_ops axe_engine_shm = {
    "shm", open_shm, reserve, barrier, gather, post,      await,
    NULL,  NULL,     NULL,    look,    fail,   close_shm,
};
#else
#include "engine/engine.h"

static axe_status
no_linux(axe_engine *e, const axe_launcher *l, const axe_engine_options *opt)
{
    (void)l, (void)opt;
    return axe_fail(e->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "engine shm is of Linux; take openmpi");
}

const engine_ops axe_engine_shm = {.name = "shm", .open = no_linux};
#endif
