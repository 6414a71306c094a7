/* cpu.c - ranks that compute on the host's cores, in its memory. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "run/device.h"
#include "run/dist/run.h"

static axe_status
open_rank(axe_dist_runner *r)
{
    (void)r;
    return AXE_OK;
}

static void
close_rank(axe_dist_runner *r)
{
    (void)r;
}

static axe_status
warm(axe_ctx *cx, axe_device *d, int n, const axe_program *const *p)
{
    axe_exec **e = axe_new_array(cx, axe_exec *, n);

    AXE_TRY(axe_exec_new_all(cx, d, n, p, e));
    for (int i = 0; i < n; i++)
        axe_exec_free(e[i]);
    return AXE_OK;
}

static axe_status
may_fork(axe_ctx *cx)
{
    (void)cx;
    return AXE_OK;
}

static axe_status
load(axe_dist_runner *r, const axe_program *p, void **out)
{
    axe_exec *e = NULL;

    AXE_TRY(axe_exec_new(r->cx, r->device, p, &e));
    *out = e;
    return AXE_OK;
}

static void
unload(void *exec)
{
    axe_exec_free(exec);
}

static axe_status
numbers(axe_dist_runner *r, const axe_kernel *k, axe_array *array)
{
    (void)r, (void)k, (void)array;
    return AXE_OK;
}

static axe_dist_width
width(const axe_dist_runner *r, void *exec)
{
    (void)exec;
    return (axe_dist_width){axe_device_n_thread(r->device), false};
}

static axe_status
launch(axe_dist_runner *r, void *exec, const axe_kernel *k,
       const axe_array *array, int n_size, const axe_size *size)
{
    return axe_launch(r->cx, exec, k->n_param, array, n_size, size);
}

static axe_status
wait_all(axe_dist_runner *r)
{
    (void)r;
    return AXE_OK;
}

static axe_status
room(axe_dist_runner *r, size_t bytes, void **out)
{
    *out = calloc(bytes + 64, 1);
    return *out ? AXE_OK
                : axe_fail(r->cx, AXE_NOWHERE, AXE_EDEVICE,
                           "%zu bytes cannot be had", bytes);
}

static void
give_back(axe_dist_runner *r, void *p)
{
    (void)r;
    free(p);
}

static axe_status
copy(axe_dist_runner *r, void *to, const void *from, size_t bytes)
{
    (void)r;
    memcpy(to, from, bytes);
    return AXE_OK;
}

static axe_status
zero(axe_dist_runner *r, void *to, size_t bytes)
{
    (void)r;
    memset(to, 0, bytes);
    return AXE_OK;
}

const axe_dist_ops axe_dist_on_cpu = {
    .is_host = true,
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
    .put = copy,
    .get = copy,
};
