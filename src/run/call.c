/* call.c - a launch that is checked once and run again and again.
 *
 * What was checked is noted: sizes, which side of a branch they take, and of
 * each argument how far it reaches.  Of other arrays of the same shapes and
 * strides only addresses are new, so a run on them looks at those alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/number.h"
#include "plan/plan.h"
#include "run/launch.h"

struct axe_call {
    axe_tag tag;
    axe_job job;
    int64_t room[]; /* sizes, bytes of the arguments, then pointers */
};

axe_status
axe_call_new(axe_ctx *cx, axe_exec *e, int n_array, const axe_array *array,
             int n_size, const axe_size *size, axe_call **out)
{
    AXE_NEED_TAG(cx, e, EXEC);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    const axe_kernel *k = e->program->kernel;
    axe_mark          m = axe_ctx_mark(cx);
    size_t    n_param = (size_t)k->n_param, n_size_of = (size_t)k->n_size;
    size_t    n_ptr = n_param + (size_t)e->program->plan->kernel->n_temp;
    size_t    n = n_size_of + n_param + n_ptr;
    axe_job   j;
    axe_call *c;

    AXE_TRY(axe_job_prepare(cx, e, n_array, array, n_size, size, &j));
    c = malloc(sizeof *c + (n + 1) * sizeof c->room[0]);
    if (!c)
        return axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no memory for a call");
    c->tag = AXE_TAG_CALL;
    c->job = (axe_job){.exec = e, .side = j.side};
    c->job.bound.size = c->room;
    c->job.bound.bytes = c->room + n_size_of;
    c->job.ptr = (void **)(void *)(c->room + n_size_of + n_param);
    if (n_size_of > 0)
        memcpy(c->room, j.bound.size, n_size_of * sizeof c->room[0]);
    if (n_param > 0)
        memcpy(c->job.bound.bytes, j.bound.bytes, n_param * sizeof c->room[0]);
    if (n_ptr > 0)
        memcpy(c->job.ptr, j.ptr, n_ptr * sizeof j.ptr[0]);
    axe_ctx_release(cx, m);
    *out = c;
    return AXE_OK;
}

axe_status
axe_call_run(axe_ctx *cx, axe_call *c)
{
    AXE_NEED_TAG(cx, c, CALL);
    return axe_job_start(cx, &c->job);
}

/* Is parameter i's memory at p there, and aligned? */
static axe_status
check_address(axe_ctx *cx, const axe_call *c, int i, const void *p)
{
    const axe_tensor *t = c->job.exec->program->kernel->param[i];
    unsigned          bytes = (unsigned)(axe_type_table[t->type].bits + 7) / 8;

    if (!p && c->job.bound.bytes[i] > 0)
        return axe_fail(cx, t->at, AXE_EARG, "%s: its data is NULL", t->name);
    if ((uintptr_t)p % bytes != 0)
        return axe_fail(cx, t->at, AXE_EARG,
                        "%s: its data is not aligned to the %u bytes of %s",
                        t->name, bytes, axe_type_table[t->type].name);
    return AXE_OK;
}

/* Sizes that are the value of an argument must be what they were. */
static axe_status
check_values(axe_ctx *cx, const axe_call *c, void *const *data)
{
    const axe_kernel *k = c->job.exec->program->kernel;

    for (int s = 0; s < k->n_size; s++) {
        const axe_tensor *t = axe_size_source(k, k->size[s]);
        int64_t           v;
        int               p = 0;
        while (t && k->param[p] != t)
            p++;
        if (!t || !data[p])
            continue;
        v = axe_number_get_int(t->type, data[p]);
        if (v != c->job.bound.size[s])
            return axe_fail(cx, t->at, AXE_ESHAPE,
                            "%s is %" PRId64 ", the call was made for %" PRId64,
                            t->name, v, c->job.bound.size[s]);
    }
    return AXE_OK;
}

axe_status
axe_call_run_at(axe_ctx *cx, axe_call *c, void *const *data)
{
    AXE_NEED_TAG(cx, c, CALL);
    const axe_kernel *k = c->job.exec->program->kernel;
    AXE_NEED_ALL(cx, k->n_param, data);

    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(check_address(cx, c, i, data[i]));
    AXE_TRY(check_values(cx, c, data));
    AXE_TRY(axe_bound_check_overlap(cx, k, c->job.bound.bytes, data));
    for (int i = 0; i < k->n_param; i++)
        c->job.ptr[i] = data[i];
    return axe_job_start(cx, &c->job);
}

void
axe_call_free(axe_call *c)
{
    if (c)
        axe_tag_drop(&c->tag);
    free(c);
}
