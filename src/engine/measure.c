/* measure.c - what a link takes: the latency of a message by a word that goes
 * to and fro, the bandwidth by long ones both ways at once.  Between rank 0 and
 * the first rank of its host, and the first of another; the others wait. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/engine.h"

enum { SHORT = 8, ROUNDS = 400, LONG_ROUNDS = 8 };
#define LONG ((int64_t)4 << 20)

typedef struct timing {
    axe_engine *e;
    int64_t     peer;
    char       *mine, *other; /* LONG bytes each; other: where it is put */
} timing;

static double
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* n bytes of the peer's to here, as a step of a plan takes them. */
static axe_status
take(const timing *t, int64_t n)
{
    axe_engine    *e = t->e;
    engine_message send = {.peer = t->peer, .bytes = n, .at = t->mine};
    engine_message recv = {.peer = t->peer, .bytes = n, .at = t->other};

    if (!e->addressed)
        return e->ops->exchange(e, 1, &send, 1, &recv);
    e->ops->post(e, ++e->posted);
    AXE_TRY(e->ops->await(e, t->peer, e->posted));
    memcpy(t->other, axe_engine_peer(e, t->mine, t->peer), (size_t)n);
    return AXE_OK;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower tenth of single ones [ns], as load only adds. */
static axe_status
time_of(const timing *t, int64_t bytes, int rounds, double *out)
{
    double ns[ROUNDS];

    for (int i = -(rounds / 4); i < rounds; i++) {
        double from = now_ns();

        AXE_TRY(take(t, bytes));
        ns[i < 0 ? 0 : i] = now_ns() - from;
    }
    qsort(ns, (size_t)rounds, sizeof *ns, by_value);
    *out = ns[rounds / 10];
    return AXE_OK;
}

/* The first other rank that is on rank 0's host, or on another; 0: none. */
static axe_status
find_peer(axe_engine *e, bool near, int64_t *out)
{
    char  own[64] = "";
    char *all = axe_alloc(e->cx, (size_t)e->size * sizeof own);

    gethostname(own, sizeof own - 1);
    AXE_TRY(axe_engine_gather(e, own, sizeof own, all));
    *out = 0;
    for (int64_t r = e->size - 1; r > 0; r--)
        if ((memcmp(all, all + r * (int64_t)sizeof own, sizeof own) == 0) ==
            near)
            *out = r;
    return AXE_OK;
}

axe_status
axe_engine_measure(axe_engine *e, bool near, axe_link *out, bool *found)
{
    if (!e)
        return AXE_EARG;
    AXE_NEED(e->cx, out);
    AXE_NEED(e->cx, found);
    timing   t = {.e = e};
    int64_t  peer, mark = e->used;
    double   ns[2] = {0, 0};
    void    *at;
    double  *all = axe_new_array(e->cx, double, 2 * e->size);
    uint32_t before = e->posted;

    e->doing = "measuring links";
    AXE_TRY(find_peer(e, near, &peer));
    *found = peer > 0;
    if (peer == 0)
        return AXE_OK;
    AXE_TRY(axe_engine_alloc(e, 2 * LONG, &at));
    memset(at, 1, (size_t)(2 * LONG));
    t.mine = at;
    t.other = t.mine + LONG;
    t.peer = e->rank == 0 ? peer : 0;
    AXE_TRY(axe_engine_barrier(e));
    if (e->rank == 0 || e->rank == peer) {
        AXE_TRY(time_of(&t, SHORT, ROUNDS, &ns[0]));
        AXE_TRY(time_of(&t, LONG, LONG_ROUNDS, &ns[1]));
    }
    e->posted = before + ROUNDS + ROUNDS / 4 + LONG_ROUNDS + LONG_ROUNDS / 4;
    if (e->addressed)
        e->ops->post(e, e->posted);
    e->used = mark;
    AXE_TRY(axe_engine_gather(e, ns, sizeof ns, all));
    *out = (axe_link){.name = near ? "near" : "far",
                      .latency = (int64_t)(all[0] + 0.5),
                      .bandwidth =
                          (int64_t)((double)LONG * 1e9 /
                                    (all[1] > all[0] ? all[1] - all[0] : 1)),
                      .measured = true};
    return AXE_OK;
}
