/* gpu.c - ranks that compute on a GPU each, in its memory, by turns where
 * there are more ranks than GPUs. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "run/device.h"
#include "run/dist/run.h"
#include "run/gpu/gpu_int.h"
#include "run/gpu/memory.h"

typedef struct on_gpu {
    axe_gpu        *gpu;
    axe_gpu_memory *memory;
    axe_nccl       *nccl; /* where it is asked for */
} on_gpu;

static axe_status
check_engine(axe_dist_runner *r)
{
    axe_status st;

    if (r->e->addressed)
        return AXE_OK;
    st = axe_fail(r->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                  "kernel %s: ranks with GPUs reach one another by engine shm, "
                  "and this is %s",
                  r->d->k->name, axe_engine_name(r->e));
    axe_help(r->cx, "give --engine shm, on one host");
    return st;
}

/* Sums are in the ranks' order unless $AXE_MULTIMEM=1, $AXE_NCCL=1. */
static bool
wants(const char *variable)
{
    const char *s = getenv(variable);

    return s && strcmp(s, "1") == 0;
}

static axe_status
open_rank(axe_dist_runner *r)
{
    on_gpu *g = calloc(1, sizeof *g);

    if (!g)
        return axe_fail(r->cx, AXE_NOWHERE, AXE_EDEVICE, "no memory");
    r->state = g;
    AXE_TRY(check_engine(r));
    AXE_TRY(axe_gpu_of_rank(r->cx, r->e, r->device->want_cache, &g->gpu));
    AXE_TRY(axe_gpu_memory_new(r->cx, r->e, g->gpu, r->p->device_heap,
                               wants("AXE_MULTIMEM"), &g->memory));
    r->memory = r->e->memory;
    if (r->e->size > 1 && wants("AXE_NCCL")) {
        AXE_TRY(axe_nccl_new(r->cx, r->e, g->gpu, &g->nccl));
        axe_gpu_memory_use(g->memory, g->nccl);
    }
    r->whole = !r->memory->queues;
    return AXE_OK;
}

static void
close_rank(axe_dist_runner *r)
{
    on_gpu *g = r->state;

    if (!g)
        return;
    axe_nccl_free(g->nccl, r->failed ? AXE_EDEVICE : AXE_OK);
    axe_gpu_memory_free(g->memory);
    axe_gpu_free(g->gpu);
    free(g);
    r->state = NULL;
}

static axe_gpu *
gpu_of(const axe_dist_runner *r)
{
    return ((const on_gpu *)r->state)->gpu;
}

/* The driver is not started: this process may be about to fork ranks.  Where
 * nothing is kept, each of them compiles. */
static axe_status
warm(axe_ctx *cx, axe_device *d, int n, const axe_program *const *p)
{
    axe_gpu_prepare_spec spec = {.cache = d->want_cache};
    axe_gpu_prepared     done;

    AXE_TRY(axe_cuda_find(cx));
    if (n == 0 || !axe_cache_choose(cx, d->want_cache))
        return AXE_OK;
    return axe_gpu_prepare(cx, &spec, n, p, &done);
}

static axe_status
may_fork(axe_ctx *cx)
{
    axe_status st;

    if (!axe_cuda_started())
        return AXE_OK;
    st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                  "this process has started NVIDIA's driver, which does not go "
                  "on in ranks that are forked from it");
    axe_help(cx, "start ranks once, before anything is done on a GPU "
                 "(axe_spmd), and launch in them (axe_rank_launch); or let "
                 "torchrun, srun or mpirun start them");
    return st;
}

static axe_status
load(axe_dist_runner *r, const axe_program *p, void **out)
{
    axe_gpu_exec *e = NULL;

    AXE_TRY(axe_gpu_exec_new(r->cx, gpu_of(r), p, &e));
    *out = e;
    return AXE_OK;
}

static void
unload(void *exec)
{
    axe_gpu_exec_free(exec);
}

static axe_status
get(axe_dist_runner *r, void *to, const void *from, size_t bytes)
{
    return axe_gpu_get(r->cx, gpu_of(r), to, from, bytes);
}

/* They are arguments by value. */
static axe_status
numbers(axe_dist_runner *r, const axe_kernel *k, axe_array *array)
{
    for (int i = 0; i < k->n_param; i++) {
        void *on_device = array[i].data;

        if (!axe_is_scalar(k->param[i]))
            continue;
        array[i].data = axe_new(r->cx, int64_t);
        AXE_TRY(get(r, array[i].data, on_device,
                    (size_t)axe_type_bytes(k->param[i]->type, 1)));
    }
    return AXE_OK;
}

static axe_status
launch(axe_dist_runner *r, void *exec, const axe_kernel *k,
       const axe_array *array, int n_size, const axe_size *size)
{
    return axe_gpu_launch(r->cx, exec, k->n_param, array, n_size, size, NULL);
}

static axe_dist_width
width(const axe_dist_runner *r, void *exec)
{
    (void)r;
    return (axe_dist_width){axe_gpu_exec_resident(exec), true};
}

static axe_status
wait_all(axe_dist_runner *r)
{
    return axe_gpu_wait(r->cx, gpu_of(r), NULL);
}

static axe_status
copy(axe_dist_runner *r, void *to, const void *from, size_t bytes)
{
    return r->memory->ops->copy(r->memory, to, from, bytes);
}

static axe_status
zero(axe_dist_runner *r, void *to, size_t bytes)
{
    return r->memory->ops->zero(r->memory, to, bytes);
}

static axe_status
room(axe_dist_runner *r, size_t bytes, void **out)
{
    AXE_TRY(axe_gpu_alloc(r->cx, gpu_of(r), bytes, out));
    return zero(r, *out, bytes);
}

static void
give_back(axe_dist_runner *r, void *p)
{
    axe_gpu_release(gpu_of(r), p);
}

static axe_status
put(axe_dist_runner *r, void *to, const void *from, size_t bytes)
{
    return axe_gpu_put(r->cx, gpu_of(r), to, from, bytes);
}

const axe_dist_ops axe_dist_on_gpu = {
    .open = open_rank,
    .close = close_rank,
    .warm = warm,
    .may_fork = may_fork,
    .load = load,
    .unload = unload,
    .numbers = numbers,
    .launch = launch,
    .wait = wait_all,
    .width = width,
    .room = room,
    .free = give_back,
    .copy = copy,
    .zero = zero,
    .put = put,
    .get = get,
};
