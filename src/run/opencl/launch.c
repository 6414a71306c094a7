/* launch.c - starting a kernel of a program.
 *
 * What a driver would answer by a number alone is looked at before: how many
 * arguments, how many items and how much local memory a group may have. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/opencl/opencl_int.h"

/* The names that the program has: "a;b". */
static axe_status
no_kernel(axe_ctx *cx, const axe_opencl_program *p, const char *name)
{
    size_t n = 0;
    char  *text = NULL;

    if (p->cl->call->GetProgramInfo(p->program, AXE_CL_PROGRAM_KERNEL_NAMES, 0,
                                    NULL, &n) == 0)
        text = axe_alloc(cx, n + 1);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "the program has no kernel `%s`",
             axe_text_plain(cx, name));
    if (text &&
        p->cl->call->GetProgramInfo(p->program, AXE_CL_PROGRAM_KERNEL_NAMES, n,
                                    text, NULL) == 0)
        axe_help(cx, "it has: %s", axe_text_plain(cx, text));
    return AXE_ENAME;
}

/* What a kernel asks for and can have.  A question without an answer leaves
 * what the device said. */
static axe_cl_kernel
ask_kernel(const axe_opencl *cl, void *kernel)
{
    size_t        items = 0;
    uint64_t      local = 0;
    axe_cl_kernel k = {.kernel = kernel, .most_items = cl->facts.most_items};

    if (cl->call->GetKernelInfo(kernel, AXE_CL_KERNEL_NUM_ARGS, sizeof k.n_arg,
                                &k.n_arg, NULL) != 0)
        k.n_arg = UINT32_MAX;
    if (cl->call->GetKernelWorkGroupInfo(kernel, cl->device,
                                         AXE_CL_KERNEL_WORK_GROUP_SIZE,
                                         sizeof items, &items, NULL) == 0 &&
        items > 0)
        k.most_items = (int64_t)items;
    if (cl->call->GetKernelWorkGroupInfo(kernel, cl->device,
                                         AXE_CL_KERNEL_LOCAL_MEM_SIZE,
                                         sizeof local, &local, NULL) == 0)
        k.local_bytes = (int64_t)local;
    return k;
}

static axe_status
find_kernel(axe_ctx *cx, axe_opencl_program *p, const char *name,
            const axe_cl_kernel **out)
{
    axe_cl_kernel *k;
    void          *kernel;
    int            r = 0;

    for (k = p->kernel; k; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *out = k;
            return AXE_OK;
        }
    kernel = p->cl->call->CreateKernel(p->program, name, &r);
    if (r == -46)
        return no_kernel(cx, p, name);
    AXE_TRY(axe_cl_check(cx, r, axe_textf(cx, "taking kernel %s", name)));
    k = axe_new(p->cx, axe_cl_kernel);
    *k = ask_kernel(p->cl, kernel);
    k->name = axe_textf(p->cx, "%s", name);
    k->next = p->kernel;
    p->kernel = k;
    *out = k;
    return AXE_OK;
}

static axe_status
check_group(axe_ctx *cx, const axe_opencl *cl, const axe_cl_kernel *k,
            const axe_opencl_grid *grid)
{
    int64_t local = k->local_bytes, all;

    if (grid->items < 1 || grid->groups < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s: %" PRId64 " groups of %" PRId64 " items",
                        k->name, grid->groups, grid->items);
    if (grid->items > k->most_items) {
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "kernel %s: a group of %" PRId64 " items; %s takes %" PRId64
                 " at most, of this kernel %" PRId64,
                 k->name, grid->items, cl->facts.name, cl->facts.most_items,
                 k->most_items);
        axe_help(cx, "use smaller groups");
        return AXE_EUNSUPPORTED;
    }
    if (!axe_mul(grid->groups, grid->items, &all))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "kernel %s: %" PRId64 " groups of %" PRId64
                        " items are more than can be counted",
                        k->name, grid->groups, grid->items);
    for (int i = 0; i < grid->n_arg; i++)
        if (!grid->arg[i].buffer && !grid->arg[i].value &&
            (grid->arg[i].bytes > INT64_MAX ||
             !axe_add(local, (int64_t)grid->arg[i].bytes, &local)))
            local = INT64_MAX;
    if (local <= cl->facts.local_bytes)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "kernel %s: %" PRId64 " bytes of local memory; a group on %s has "
             "%" PRId64,
             k->name, local, cl->facts.name, cl->facts.local_bytes);
    axe_help(cx, "use smaller tiles or fewer stages");
    return AXE_EUNSUPPORTED;
}

static axe_status
check_args(axe_ctx *cx, const axe_opencl *cl, const axe_cl_kernel *k,
           const axe_opencl_grid *grid)
{
    if (k->n_arg != UINT32_MAX && (unsigned)grid->n_arg != k->n_arg)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "kernel %s: %d arguments, but it takes %u", k->name,
                        grid->n_arg, k->n_arg);
    for (int i = 0; i < grid->n_arg; i++) {
        const axe_opencl_buffer *b = grid->arg[i].buffer;
        if (b)
            AXE_NEED_TAG(cx, b, OPENCL_BUFFER);
        if (b && b->cl != cl)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "kernel %s: argument %d is a buffer of another "
                            "device",
                            k->name, i);
    }
    return AXE_OK;
}

static axe_status
set_args(axe_ctx *cx, const axe_opencl *cl, const axe_cl_kernel *k,
         const axe_opencl_grid *grid)
{
    for (int i = 0; i < grid->n_arg; i++) {
        const axe_opencl_arg *a = &grid->arg[i];
        const void           *value =
            a->buffer ? (const void *)&a->buffer->memory : a->value;
        size_t bytes = a->buffer ? sizeof a->buffer->memory : a->bytes;
        int    r = cl->call->SetKernelArg(k->kernel, (unsigned)i, bytes, value);
        AXE_TRY(axe_cl_check(
            cx, r, axe_textf(cx, "kernel %s: argument %d", k->name, i)));
    }
    return AXE_OK;
}

/* Wait for what was started, and read its clock. */
static axe_status
take_time(axe_ctx *cx, const axe_opencl *cl, const char *name, void *event,
          double *seconds)
{
    uint64_t begin = 0, end = 0;
    int      r = cl->call->WaitForEvents(1, &event);

    if (r == 0)
        r = cl->call->GetEventProfilingInfo(
            event, AXE_CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    if (r == 0)
        r = cl->call->GetEventProfilingInfo(event, AXE_CL_PROFILING_COMMAND_END,
                                            sizeof end, &end, NULL);
    cl->call->ReleaseEvent(event);
    AXE_TRY(axe_cl_check(cx, r, axe_textf(cx, "running kernel %s", name)));
    *seconds = 1e-9 * (double)(end - begin);
    return AXE_OK;
}

/* With the device's lock.
 * event  NULL: nobody waits for it */
static axe_status
start(axe_ctx *cx, axe_opencl_program *p, const axe_opencl_grid *grid,
      void **event)
{
    const axe_opencl    *cl = p->cl;
    const axe_cl_kernel *k;

    AXE_TRY(find_kernel(cx, p, grid->kernel, &k));
    AXE_TRY(check_args(cx, cl, k, grid));
    AXE_TRY(check_group(cx, cl, k, grid));
    if (grid->groups == 0)
        return AXE_OK;
    AXE_TRY(set_args(cx, cl, k, grid));
    size_t group = (size_t)grid->items, all = group * (size_t)grid->groups;
    int r = cl->call->EnqueueNDRangeKernel(cl->queue, k->kernel, 1, NULL, &all,
                                           &group, 0, NULL, event);
    return axe_cl_check(cx, r, axe_textf(cx, "starting kernel %s", k->name));
}

axe_status
axe_opencl_launch(axe_ctx *cx, axe_opencl_program *p,
                  const axe_opencl_grid *grid, double *seconds)
{
    AXE_NEED_TAG(cx, p, OPENCL_PROGRAM);
    AXE_TRY(axe_forks_check(cx, p->cl->forks));
    AXE_NEED(cx, grid);
    AXE_NEED(cx, grid->kernel);
    AXE_NEED_ALL(cx, grid->n_arg, grid->arg);
    void      *event = NULL;
    axe_status st;

    pthread_mutex_lock(&p->cl->lock);
    st = start(cx, p, grid, seconds ? &event : NULL);
    pthread_mutex_unlock(&p->cl->lock);
    if (st != AXE_OK || !seconds)
        return st;
    *seconds = 0;
    return event ? take_time(cx, p->cl, grid->kernel, event, seconds) : st;
}
