/* run_gpu.c - `axe run` on a GPU: the arrays go there and come back. */
#include "axe/gpu.h"
#include "run.h"

enum { GPU_TIMES = 20 };

typedef struct run_gpu {
    axe_gpu      *gpu;
    axe_gpu_exec *exec;
} run_gpu;

static axe_status
run_once(axe_ctx *cx, void *user, int n, const axe_array *array,
         const axe_run *r)
{
    const run_gpu *g = user;

    return axe_gpu_run(cx, g->exec, n, array, r->n_size, r->size);
}

static axe_status
time_runs(axe_ctx *cx, const run_gpu *g, const axe_run_args *a, int n,
          const axe_array *device, axe_run *r)
{
    r->n_time = a->n_time > 0 ? (int)a->n_time : GPU_TIMES;
    r->time = axe_new_array(cx, double, r->n_time);
    return axe_gpu_time(cx, g->exec, n, device, r->n_size, r->size, r->n_time,
                        r->time);
}

/* On copies of the arrays, as a run may change what it reads. */
static axe_status
time_copies(axe_ctx *cx, void *user, const axe_run_args *a, int n,
            const axe_array *array, axe_run *r)
{
    const run_gpu *g = user;
    axe_array     *device = axe_new_array(cx, axe_array, n + 1);
    axe_status     st = AXE_OK;

    for (int i = 0; i < n; i++) {
        device[i] = array[i];
        device[i].data = NULL;
    }
    for (int i = 0; i < n && st == AXE_OK; i++) {
        size_t bytes = r->param[i].npy.n_bytes;
        st = axe_gpu_alloc(cx, g->gpu, bytes, &device[i].data);
        if (st == AXE_OK)
            st = axe_gpu_put(cx, g->gpu, device[i].data, array[i].data, bytes);
    }
    if (st == AXE_OK)
        st = time_runs(cx, g, a, n, device, r);
    for (int i = 0; i < n; i++)
        axe_gpu_release(g->gpu, device[i].data);
    return st;
}

axe_status
axe_run_on_gpu(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_gpu_spec spec = {.number = (int)a->kernel.device, .cache = a->cache};
    run_gpu      g = {0};
    axe_runner   by = {&g, run_once, time_copies, NULL};
    axe_status   st;

    AXE_TRY(axe_gpu_new(cx, &spec, &g.gpu));
    r->on = axe_textf(cx, "%s", axe_gpu_name(g.gpu));
    st = axe_gpu_exec_new(cx, g.gpu, r->program, &g.exec);
    if (st == AXE_OK) {
        r->cached = axe_gpu_exec_cached(g.exec);
        st = axe_run_by(cx, a, NULL, &by, r);
    }
    axe_gpu_exec_free(g.exec);
    axe_gpu_free(g.gpu);
    return st;
}
