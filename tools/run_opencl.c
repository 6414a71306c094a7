/* run_opencl.c - `axe run` on an OpenCL device. */
#include "axe/opencl.h"
#include "run.h"

enum { DEVICE_TIMES = 20 };

static axe_status
run_once(axe_ctx *cx, void *user, int n, const axe_array *array,
         const axe_run *r)
{
    return axe_opencl_run(cx, user, n, array, r->n_size, r->size, NULL);
}

static axe_status
time_runs(axe_ctx *cx, void *user, const axe_run_args *a, int n,
          const axe_array *array, axe_run *r)
{
    r->n_time = a->n_time > 0 ? (int)a->n_time : DEVICE_TIMES;
    r->time = axe_new_array(cx, double, r->n_time);
    return axe_opencl_time(cx, user, n, array, r->n_size, r->size, r->n_time,
                           r->time);
}

/* The device that the plan is for; of a kernel that names its machine itself,
 * the first that runs it. */
static axe_status
open_device(axe_ctx *cx, const axe_run_args *a, axe_run *r, axe_opencl **out)
{
    const axe_opencl_facts *f = a->kernel.opencl;
    axe_opencl_spec         spec = {.cache = a->cache};

    if (!f)
        AXE_TRY(axe_opencl_choose(
            cx, axe_program_machine(r->program),
            a->kernel.has_device ? (int)a->kernel.device : -1, &f));
    spec.number = f->number;
    r->on = axe_textf(cx, "%s of %s", f->name, f->platform);
    return axe_opencl_new(cx, &spec, out);
}

axe_status
axe_run_on_opencl(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_opencl      *cl;
    axe_opencl_exec *exec = NULL;
    axe_status       st;

    AXE_TRY(open_device(cx, a, r, &cl));
    st = axe_opencl_exec_new(cx, cl, r->program, &exec);
    if (st == AXE_OK) {
        axe_runner by = {exec, run_once, time_runs, NULL};
        r->cached = axe_opencl_exec_cached(exec);
        st = axe_run_by(cx, a, NULL, &by, r);
    }
    axe_opencl_exec_free(exec);
    axe_opencl_free(cl);
    return st;
}
