/* opencl.c - one OpenCL device: context, queue, features, memory. */
#define _XOPEN_SOURCE 700

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/opencl/opencl_int.h"

axe_status
axe_cl_device_check(axe_ctx *cx, const char *fn, const axe_opencl *cl)
{
    AXE_TRY(axe_tag_check(cx, fn, "cl", cl ? &cl->tag : NULL, AXE_TAG_OPENCL));
    return axe_forks_check(cx, cl->forks);
}

static axe_status
find_device(axe_ctx *cx, axe_opencl *cl, int number)
{
    axe_opencl_facts *facts;
    void            **device;
    int               n;

    AXE_TRY(axe_cl_devices(cx, cl->cx, cl->call, &n, &facts, &device));
    if (number < 0 || number >= n) {
        axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                 "there is no OpenCL device %d: the platforms have %d", number,
                 n);
        axe_help(cx, "`axe devices` lists them");
        return AXE_EDEVICE;
    }
    cl->facts = facts[number];
    cl->device = device[number];
    return AXE_OK;
}

static axe_status
open_device(axe_ctx *cx, axe_opencl *cl, const axe_opencl_spec *spec)
{
    const axe_cl_calls *call;
    int                 r;

    AXE_TRY(axe_cl_load(cx, &call));
    cl->call = call;
    AXE_TRY(find_device(cx, cl, spec->number));
    cl->ctx = call->CreateContext(NULL, 1, &cl->device, NULL, NULL, &r);
    AXE_TRY(axe_cl_check(cx, r, "opening the OpenCL device"));
    cl->queue = call->CreateCommandQueue(cl->ctx, cl->device,
                                         AXE_CL_QUEUE_PROFILING_ENABLE, &r);
    AXE_TRY(axe_cl_check(cx, r, "making a queue of the OpenCL device"));
    axe_cache_open(cx, cl->cx, spec->cache, &cl->cache);
    return AXE_OK;
}

axe_status
axe_opencl_new(axe_ctx *cx, const axe_opencl_spec *spec, axe_opencl **out)
{
    AXE_NEED(cx, spec);
    AXE_NEED(cx, out);
    axe_opencl *cl = calloc(1, sizeof *cl);
    axe_status  st;

    if (cl) {
        cl->tag = AXE_TAG_OPENCL;
        cl->forks = axe_forks();
        cl->cx = axe_ctx_new();
    }
    if (!cl || !cl->cx || pthread_mutex_init(&cl->lock, NULL) != 0) {
        axe_ctx_free(cl ? cl->cx : NULL);
        free(cl);
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a device");
    }
    st = open_device(cx, cl, spec);
    if (st == AXE_OK)
        *out = cl;
    else
        axe_opencl_free(cl);
    return st;
}

void
axe_opencl_free(axe_opencl *cl)
{
    if (!cl)
        return;
    if (cl->forks == axe_forks()) {
        if (cl->queue) {
            cl->call->Finish(cl->queue);
            cl->call->ReleaseCommandQueue(cl->queue);
            axe_cache_close(&cl->cache);
        }
        if (cl->ctx)
            cl->call->ReleaseContext(cl->ctx);
        pthread_mutex_destroy(&cl->lock);
    }
    axe_tag_drop(&cl->tag);
    axe_ctx_free(cl->cx);
    free(cl);
}

const axe_opencl_facts *
axe_opencl_about(const axe_opencl *cl)
{
    return cl ? &cl->facts : NULL;
}

axe_status
axe_opencl_wait(axe_ctx *cx, axe_opencl *cl)
{
    AXE_TRY(axe_cl_device_check(cx, __func__, cl));
    return axe_cl_check(cx, cl->call->Finish(cl->queue),
                        "running on the OpenCL device");
}

/* ---------------------------------------------------------------- memory */

axe_status
axe_opencl_alloc(axe_ctx *cx, axe_opencl *cl, size_t bytes,
                 axe_opencl_buffer **out)
{
    AXE_TRY(axe_cl_device_check(cx, __func__, cl));
    AXE_NEED(cx, out);
    axe_opencl_buffer *b;
    const char        *what = axe_textf(cx, "allocating %zu bytes", bytes);
    int                r = 0;

    if (cl->facts.most_bytes > 0 && bytes > (uint64_t)cl->facts.most_bytes) {
        axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE,
                 "%s: %s gives at most %" PRId64 " at once, and has %" PRId64,
                 what, cl->facts.name, cl->facts.most_bytes,
                 cl->facts.memory_bytes);
        axe_help(cx, "use smaller arrays, or another device");
        return AXE_EDEVICE;
    }
    b = calloc(1, sizeof *b);
    if (!b)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a buffer");
    *b = (axe_opencl_buffer){
        .tag = AXE_TAG_OPENCL_BUFFER, .cl = cl, .bytes = bytes};
    b->memory = cl->call->CreateBuffer(cl->ctx, AXE_CL_MEM_READ_WRITE,
                                       bytes > 0 ? bytes : 1, NULL, &r);
    if (r != 0) {
        free(b);
        return axe_cl_check(cx, r, what);
    }
    *out = b;
    return AXE_OK;
}

void
axe_opencl_release(axe_opencl_buffer *b)
{
    if (!b)
        return;
    if (b->cl->forks == axe_forks())
        b->cl->call->ReleaseMemObject(b->memory);
    axe_tag_drop(&b->tag);
    free(b);
}

static axe_status
check_copy(axe_ctx *cx, const char *fn, const axe_opencl_buffer *b, size_t at,
           size_t bytes)
{
    AXE_TRY(
        axe_tag_check(cx, fn, "b", b ? &b->tag : NULL, AXE_TAG_OPENCL_BUFFER));
    AXE_TRY(axe_forks_check(cx, b->cl->forks));
    if (at <= b->bytes && bytes <= b->bytes - at)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "%s: %zu bytes at %zu are not all in a buffer of %zu", fn,
                    bytes, at, b->bytes);
}

axe_status
axe_opencl_put(axe_ctx *cx, axe_opencl_buffer *b, size_t at, const void *from,
               size_t bytes)
{
    AXE_TRY(check_copy(cx, __func__, b, at, bytes));
    if (bytes == 0)
        return AXE_OK;
    AXE_NEED(cx, from);
    return axe_cl_check(cx,
                        b->cl->call->EnqueueWriteBuffer(b->cl->queue, b->memory,
                                                        1, at, bytes, from, 0,
                                                        NULL, NULL),
                        "copying to the OpenCL device");
}

axe_status
axe_opencl_get(axe_ctx *cx, axe_opencl_buffer *b, size_t at, void *to,
               size_t bytes)
{
    AXE_TRY(check_copy(cx, __func__, b, at, bytes));
    if (bytes == 0)
        return AXE_OK;
    AXE_NEED(cx, to);
    return axe_cl_check(cx,
                        b->cl->call->EnqueueReadBuffer(b->cl->queue, b->memory,
                                                       1, at, bytes, to, 0,
                                                       NULL, NULL),
                        "copying from the OpenCL device");
}
