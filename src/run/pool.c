/* pool.c - the team.
 *
 * Starting is one store per worker into its mailbox, ending one load per
 * worker; mailboxes lie 128 bytes apart, since processors fetch lines in
 * pairs.  A worker that is about to sleep sets `asleep` and then looks at its
 * mailbox once more; the caller fills the mailbox and then looks at `asleep`.
 * Both pairs are sequentially consistent, so one of the two sees the other and
 * no wake-up is lost.
 *
 * At a barrier worker w tells w + 1, then w + 2, w + 4 ... (modulo the team)
 * that it came, each time waiting to be told by w - 1, w - 2, ...: after log2 n
 * rounds everybody has come.  A word counts the barriers that its one writer
 * came to; that writer may be one ahead.
 *
 * Workers are pinned: after idling, a system may wake a thread on the
 * processor that the caller is spinning on, and leave it there for a whole
 * time slice.  The caller is only moved off the workers' processors, its mask
 * stays as it was. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/pool.h"

enum {
    MAILBOX_BYTES = 128,
    SPIN_NS = 100000,
    LOOKS = 256,
    BARRIER_ROUNDS = 10
};
_Static_assert(1 << BARRIER_ROUNDS >= AXE_MAX_WORKER, "a round for each bit");

typedef struct worker {
    alignas(MAILBOX_BYTES) atomic_uint go; /* number of the piece of work */
    atomic_bool asleep;
    alignas(MAILBOX_BYTES) atomic_uint done; /* number of the last one done */
    axe_pool       *pool;
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    int             number, cpu;
    unsigned        n_met;
    alignas(MAILBOX_BYTES) atomic_uint came[BARRIER_ROUNDS];
} worker;

struct axe_pool {
    void (*barrier)(void *team, int64_t worker); /* first, as kernels expect, */
    void (*rest)(void *team);                    /* and this second */
    int       n;
    bool      crowded; /* more workers than processors: do not spin */
    bool      quit;
    unsigned  turn;
    axe_work *work;
    void     *user;
    cpu_set_t mask; /* as inherited */
    int       home; /* the caller's processor */
    worker   *worker;
};

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Read the word for a while; true once it is no longer `old`. */
static bool
spin(atomic_uint *word, unsigned old, bool crowded)
{
    int64_t end = now_ns() + (crowded ? 0 : SPIN_NS);

    do {
        for (int i = 0; i < LOOKS; i++)
            if (atomic_load_explicit(word, memory_order_acquire) != old)
                return true;
    } while (now_ns() < end);
    return false;
}

static void
sleep_until(worker *w, unsigned old)
{
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->asleep, true);
    while (atomic_load(&w->go) == old)
        pthread_cond_wait(&w->wake, &w->lock);
    atomic_store(&w->asleep, false);
    pthread_mutex_unlock(&w->lock);
}

static void *
serve(void *arg)
{
    worker   *w = arg;
    axe_pool *p = w->pool;
    unsigned  seen = 0;

    for (;;) {
        if (!spin(&w->go, seen, p->crowded))
            sleep_until(w, seen);
        seen = atomic_load(&w->go);
        if (p->quit)
            return NULL;
        p->work(p->user, w->number);
        atomic_store_explicit(&w->done, seen, memory_order_release);
    }
}

static void
call(worker *w, unsigned turn)
{
    atomic_store(&w->go, turn);
    if (atomic_load(&w->asleep)) {
        pthread_mutex_lock(&w->lock);
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
    }
}

static void
await(worker *w, unsigned turn, bool crowded)
{
    while (!spin(&w->done, turn - 1, crowded))
        sched_yield();
}

/* Leave the processors of the workers to them: go home, then be free again to
 * go where the inherited mask allows. */
static void
go_home(axe_pool *p)
{
    cpu_set_t only;

    if (p->crowded || sched_getcpu() == p->home)
        return;
    CPU_ZERO(&only);
    CPU_SET((unsigned)p->home, &only);
    if (sched_setaffinity(0, sizeof only, &only) == 0)
        sched_setaffinity(0, sizeof p->mask, &p->mask);
}

void
axe_pool_run(axe_pool *p, axe_work *work, void *user)
{
    unsigned turn = ++p->turn;

    p->work = work;
    p->user = user;
    if (p->n > 1)
        go_home(p);
    for (int i = 1; i < p->n; i++)
        call(&p->worker[i], turn);
    work(user, 0);
    for (int i = 1; i < p->n; i++)
        await(&p->worker[i], turn, p->crowded);
}

/* Has the word's writer come to barrier `turn`?  Looks so many times. */
static bool
has_come(atomic_uint *word, unsigned turn, int looks)
{
    while (looks-- > 0)
        if ((int)(atomic_load_explicit(word, memory_order_acquire) - turn) >= 0)
            return true;
    return false;
}

static void
barrier(void *team, int64_t number)
{
    axe_pool *p = team;
    worker   *w = &p->worker[number];
    unsigned  turn = ++w->n_met;

    for (int r = 0, step = 1; step < p->n; r++, step *= 2) {
        worker *to = &p->worker[(number + step) % p->n];
        atomic_store_explicit(&to->came[r], turn, memory_order_release);
        while (!has_come(&w->came[r], turn, p->crowded ? 1 : 64 * LOOKS))
            sched_yield();
    }
}

/* Somebody else is to go on. */
static void
rest(void *team)
{
    (void)team;
    sched_yield();
}

void *
axe_pool_team(axe_pool *p)
{
    return p;
}

int
axe_pool_size(const axe_pool *p)
{
    return p->n;
}

/* The processor of worker i: the i-th of the mask, around and around. */
static int
cpu_of(const cpu_set_t *mask, int i)
{
    int n = CPU_COUNT(mask), at = n > 0 ? i % n : -1;

    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET((unsigned)c, mask) && at-- == 0)
            return c;
    return 0;
}

static bool
start(axe_pool *p, int number)
{
    worker   *w = &p->worker[number];
    cpu_set_t only;

    w->pool = p;
    w->number = number;
    w->cpu = cpu_of(&p->mask, number);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pthread_create(&w->thread, NULL, serve, w) != 0) {
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
        return false;
    }
    CPU_ZERO(&only);
    CPU_SET((unsigned)w->cpu, &only);
    pthread_setaffinity_np(w->thread, sizeof only, &only);
    return true;
}

static axe_pool *
make_pool(int n)
{
    axe_pool *p = calloc(1, sizeof *p);
    void     *room = NULL;
    size_t    bytes = (size_t)n * sizeof(worker);

    if (!p || posix_memalign(&room, MAILBOX_BYTES, bytes) != 0) {
        free(p);
        return NULL;
    }
    p->worker = memset(room, 0, bytes);
    return p;
}

/* How many processors this thread may run on. */
static int
processors(cpu_set_t *mask)
{
    int n;

    CPU_ZERO(mask);
    n = sched_getaffinity(0, sizeof *mask, mask) == 0 ? CPU_COUNT(mask) : 0;
    return n > 0 ? n : 1;
}

int
axe_pool_all(void)
{
    cpu_set_t mask;
    int       n = processors(&mask);

    return n < AXE_MAX_WORKER ? n : AXE_MAX_WORKER;
}

axe_status
axe_pool_new(axe_ctx *cx, int64_t n_worker, axe_pool **out)
{
    cpu_set_t mask;
    int       n_cpu = processors(&mask);
    axe_pool *p;

    if (n_worker < 0 || n_worker > AXE_MAX_WORKER)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%lld threads: 1 to %d can work, 0 means one for each "
                        "processor",
                        (long long)n_worker, AXE_MAX_WORKER);
    if (n_worker == 0)
        n_worker = n_cpu < AXE_MAX_WORKER ? n_cpu : AXE_MAX_WORKER;
    p = make_pool((int)n_worker);
    if (!p)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for threads");
    p->barrier = barrier;
    p->rest = rest;
    p->mask = mask;
    p->crowded = n_worker > n_cpu;
    p->home = cpu_of(&mask, 0);
    for (p->n = 1; p->n < n_worker; p->n++)
        if (!start(p, p->n)) {
            axe_status st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                                     "the system gives %d of %lld threads",
                                     p->n, (long long)n_worker);
            axe_pool_free(p);
            return st;
        }
    *out = p;
    return AXE_OK;
}

void
axe_pool_free(axe_pool *p)
{
    if (!p)
        return;
    p->quit = true;
    p->turn++;
    for (int i = 1; i < p->n; i++)
        call(&p->worker[i], p->turn);
    for (int i = 1; i < p->n; i++) {
        worker *w = &p->worker[i];
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
    }
    free(p->worker);
    free(p);
}
