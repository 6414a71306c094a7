/* nccl.c - NCCL's calls, and its errors as diagnostics.
 *
 * No call blocks, as NCCL waits for ranks for ever: where one does not come,
 * this one ends when the engine's time is over, and others by it. */
#define _POSIX_C_SOURCE 200809L

#include "run/gpu/nccl.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "base/dl.h"
#include "run/gpu/gpu_int.h"

enum { NAP_NS = 20000 };

typedef struct calls {
#define SYMBOL(name, type, args) type(*name) args;
#include "run/gpu/nccl.def"
} calls;

static const char *const symbol[] = {
#define SYMBOL(name, type, args) "nccl" #name,
#include "run/gpu/nccl.def"
};

/* NCCL's number of a type, and 1; 0: it has none. */
static const int types[AXE_N_NUMBER] = {
#define NCCL(number, type) [AXE_NUMBER_##number] = 1 + (type),
#include "run/gpu/nccl.def"
};

static const char *const usual[] = {"libnccl.so.2", "libnccl.so"};

static calls          loaded;
static const char    *missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct axe_nccl {
    axe_engine *e;
    axe_gpu    *gpu;
    void       *comm;
};

static void
load(void)
{
    static_assert(sizeof(calls) == AXE_LEN(symbol) * sizeof(void *),
                  "one pointer a row");
    void       *table[AXE_LEN(symbol)];
    const char *own = getenv("AXE_NCCL_LIBRARY");

    missing = axe_dl_load(own ? 1 : AXE_LEN(usual), own ? &own : usual,
                          AXE_LEN(symbol), symbol, table);
    if (!missing)
        memcpy(&loaded, table, sizeof loaded);
}

static axe_status
check(axe_ctx *cx, int result, const char *what)
{
    const char *text;

    if (result == 0)
        return AXE_OK;
    text = loaded.GetErrorString(result);
    return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "NCCL, %s: %s (%d)", what,
                    text ? text : "no text", result);
}

static axe_status
need(axe_ctx *cx)
{
    pthread_once(&once, load);
    if (!missing)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
             "collectives of NCCL are asked for, but there is no %s", missing);
    axe_help(
        cx,
        "install NCCL 2.14 or later, or name its library in AXE_NCCL_LIBRARY; "
        "without AXE_NCCL=1 it is not needed");
    return AXE_ETOOL;
}

static axe_status
too_long(axe_ctx *cx, const axe_nccl *n, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                    "rank %" PRId64 " of %" PRId64
                    " waited %.3g s for all others in NCCL's %s",
                    n->e->rank, n->e->size, (double)n->e->timeout_ms / 1e3,
                    what);
}

/* Calls do not block: what one has begun is done when NCCL says so. */
static axe_status
await(axe_ctx *cx, const axe_nccl *n, int result, const char *call,
      const char *what)
{
    struct timespec nap = {0, NAP_NS};
    int64_t         until = engine_now_ms() + n->e->timeout_ms;

    while (result == AXE_NCCL_IN_PROGRESS && engine_now_ms() < until) {
        nanosleep(&nap, NULL);
        AXE_TRY(check(cx, loaded.CommGetAsyncError(n->comm, &result), call));
    }
    return result == AXE_NCCL_IN_PROGRESS ? too_long(cx, n, what)
                                          : check(cx, result, call);
}

/* Rank 0's number for all of them, then all together. */
static axe_status
join(axe_ctx *cx, axe_nccl *n)
{
    axe_nccl_id *all = axe_new_array(cx, axe_nccl_id, n->e->size), id = {{0}};
    axe_nccl_config how = {.size = sizeof how,
                           .magic = AXE_NCCL_MAGIC,
                           .version = AXE_NCCL_VERSION,
                           .unset = AXE_NCCL_UNSET};
    int             r;

    if (n->e->rank == 0)
        AXE_TRY(check(cx, loaded.GetUniqueId(&id), "a number for all ranks"));
    AXE_TRY(axe_engine_gather(n->e, &id, sizeof id, all));
    r = loaded.CommInitRankConfig(&n->comm, (int)n->e->size, all[0],
                                  (int)n->e->rank, &how);
    return await(cx, n, r, "all ranks together", "start");
}

axe_status
axe_nccl_new(axe_ctx *cx, axe_engine *e, axe_gpu *g, axe_nccl **out)
{
    axe_nccl  *n;
    axe_status st;

    AXE_TRY(need(cx));
    n = calloc(1, sizeof *n);
    if (!n)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for NCCL");
    n->e = e;
    n->gpu = g;
    st = axe_gpu_push(cx, g);
    if (st == AXE_OK) {
        st = join(cx, n);
        axe_gpu_pop(g);
    }
    if (st == AXE_OK)
        *out = n;
    else
        axe_nccl_free(n, st);
    return st;
}

void
axe_nccl_free(axe_nccl *n, axe_status st)
{
    if (n && n->comm && axe_gpu_goes_on(n->gpu) &&
        n->gpu->cuda->CtxPushCurrent_v2(n->gpu->ctx) == 0) {
        if (st == AXE_OK)
            loaded.CommDestroy(n->comm);
        else
            loaded.CommAbort(n->comm);
        axe_gpu_pop(n->gpu);
    }
    free(n);
}

bool
axe_nccl_has(const engine_collective *c)
{
    return c->kind == AXE_COLLECTIVE_ALL_GATHER || types[c->type] > 0;
}

/* What is in the stream is done. */
static axe_status
finish(axe_ctx *cx, const axe_nccl *n, const char *what)
{
    const axe_cuda *cu = n->gpu->cuda;
    struct timespec nap = {0, NAP_NS};
    int64_t         until = engine_now_ms() + n->e->timeout_ms;
    int             r = cu->StreamQuery(NULL);

    while (r == AXE_CUDA_NOT_READY && engine_now_ms() < until) {
        nanosleep(&nap, NULL);
        r = cu->StreamQuery(NULL);
    }
    if (r != AXE_CUDA_NOT_READY)
        return axe_cuda_check(cx, cu, r, "running on the GPU");
    return too_long(cx, n, what);
}

axe_status
axe_nccl_go(axe_nccl *n, const engine_collective *c)
{
    axe_ctx    *cx = n->e->cx;
    const char *what = axe_collective_text(c->kind);
    int         type = types[c->type] - 1, r;
    size_t      count = (size_t)c->n;
    size_t      bytes = count * (size_t)axe_number_bytes(c->type);
    axe_status  st;

    AXE_TRY(axe_gpu_push(cx, n->gpu));
    switch (c->kind) {
    case AXE_COLLECTIVE_ALL_GATHER:
        r = loaded.AllGather(c->from, c->to, bytes, types[AXE_NUMBER_I8] - 1,
                             n->comm, NULL);
        break;
    case AXE_COLLECTIVE_REDUCE_SCATTER:
        r = loaded.ReduceScatter(c->from, c->to, count, type, AXE_NCCL_SUM,
                                 n->comm, NULL);
        break;
    default:
        r = loaded.AllReduce(c->from, c->to, count, type, AXE_NCCL_SUM, n->comm,
                             NULL);
        break;
    }
    st = await(cx, n, r, what, what);
    if (st == AXE_OK)
        st = finish(cx, n, what);
    axe_gpu_pop(n->gpu);
    return st;
}
