/* whole.c - a program over a mesh from one process, on whole arrays: ranks are
 * started for the launch, take their parts, and bring results to rank 0. */
#include <stdlib.h>

#include "axe/dist.h"
#include "base/ctx.h"
#include "run/dist/run.h"

axe_status
axe_dist_warm(axe_ctx *cx, axe_device *device, const axe_dist_plan *plan)
{
    const axe_program  *of = plan->d.program;
    int                 n = 0, most = of->n_part + plan->n_between;
    const axe_program **p = axe_new_array(cx, const axe_program *, most);

    for (int i = 0; i < of->n_part; i++)
        p[n++] = of->part[i];
    for (int i = 0; i < plan->n_between; i++)
        if (plan->between[i].program)
            p[n++] = plan->between[i].program;
    if (n == 0)
        return AXE_OK;
    return axe_dist_ops_of(of)->warm(cx, device, n, p);
}

int64_t
axe_dist_threads(axe_ctx *cx, int64_t n_device)
{
    axe_mark    m = axe_ctx_mark(cx);
    axe_device *d;
    int64_t     n;

    if (axe_device_new(cx, &(axe_device_spec){.n_thread = 0}, &d) != AXE_OK) {
        axe_ctx_release(cx, m);
        return 1;
    }
    n = axe_device_n_thread(d) / n_device;
    axe_device_free(d);
    return n > 0 ? n : 1;
}

typedef struct whole {
    const axe_dist_plan *plan;
    axe_device_spec      spec;
    void               **data;
    int                  n_time; /* of rank 0 */
    axe_dist_time       *times;  /* NULL: it runs once */
} whole;

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    whole *w = user;

    return axe_dist_on_rank(cx, e, w->plan, &w->spec, w->data, w->n_time,
                            w->times);
}

/* Sizes with the open axis of the mesh, which is what a launcher makes it. */
static axe_status
take_axis(axe_ctx *cx, const axe_program *p, int n_array,
          const axe_array *array, int *n_size, const axe_size **size)
{
    axe_size    *all = axe_new_array(cx, axe_size, *n_size + 1);
    axe_launcher l;
    axe_bound    b;
    bool         open;

    for (int i = 0; i < *n_size; i++)
        all[i] = (*size)[i];
    AXE_TRY(axe_launcher_find(cx, &l));
    AXE_TRY(axe_bind(cx, p->kernel, n_array, array, *n_size, all, false, &b));
    AXE_TRY(axe_dist_open_axis(cx, p, &b, l.launcher ? l.size : 0,
                               &all[*n_size], &open));
    *n_size += open;
    *size = all;
    return AXE_OK;
}

static axe_status
may_start(axe_ctx *cx, const axe_dist_plan *p)
{
    axe_launcher l;

    AXE_TRY(axe_launcher_find(cx, &l));
    return l.launcher || p->d.n_device == 1
               ? AXE_OK
               : axe_dist_ops_of(p->d.program)->may_fork(cx);
}

static axe_status
start(axe_ctx *cx, const axe_engine_options *opt, const axe_device_spec *spec,
      whole *w)
{
    axe_engine_options o = opt ? *opt : (axe_engine_options){0};
    axe_device        *device;
    axe_status         st;

    AXE_TRY(may_start(cx, w->plan));
    w->spec = spec ? *spec : (axe_device_spec){0};
    if (w->spec.n_thread == 0)
        w->spec.n_thread = axe_dist_threads(cx, w->plan->d.n_device);
    AXE_TRY(axe_device_new(cx, &w->spec, &device));
    st = axe_dist_warm(cx, device, w->plan);
    axe_device_free(device);
    if (st == AXE_OK)
        st = axe_dist_same(cx, w->plan, w->data, w->times ? w->n_time : 0,
                           &o.n_same, &o.same);
    o.n_rank = w->plan->d.n_device;
    o.heap = w->plan->heap + 4096;
    return st == AXE_OK ? axe_spmd(cx, &o, on_rank, w) : st;
}

static axe_status
launch(axe_ctx *cx, const axe_program *p, const axe_engine_options *opt,
       const axe_device_spec *spec, int n_array, const axe_array *array,
       int n_size, const axe_size *size, whole *w)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    axe_dist_options o = {.measured = opt && opt->engine ? opt->engine : "shm"};
    axe_bound        b;

    AXE_TRY(axe_dist_check(cx, p));
    AXE_TRY(take_axis(cx, p, n_array, array, &n_size, &size));
    AXE_TRY(axe_bind(cx, p->kernel, n_array, array, n_size, size, true, &b));
    AXE_TRY(axe_dist_plan_with(cx, p, b.size, &o, &w->plan));
    w->data = b.data;
    return start(cx, opt, spec, w);
}

axe_status
axe_mesh_launch(axe_ctx *cx, const axe_program *p,
                const axe_engine_options *opt, const axe_device_spec *spec,
                int n_array, const axe_array *array, int n_size,
                const axe_size *size)
{
    whole w = {0};

    return launch(cx, p, opt, spec, n_array, array, n_size, size, &w);
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

axe_status
axe_mesh_time(axe_ctx *cx, const axe_program *p, const axe_engine_options *opt,
              const axe_device_spec *spec, int n_array, const axe_array *array,
              int n_size, const axe_size *size, int n, double *seconds,
              int64_t *n_device)
{
    AXE_NEED(cx, n_device);
    AXE_NEED_ALL(cx, n, seconds);
    whole w = {.n_time = n, .times = axe_new_array(cx, axe_dist_time, n)};

    AXE_TRY(launch(cx, p, opt, spec, n_array, array, n_size, size, &w));
    for (int i = 0; i < n; i++)
        seconds[i] = w.times[i].seconds;
    qsort(seconds, (size_t)n, sizeof *seconds, by_value);
    *n_device = w.plan->d.n_device;
    return AXE_OK;
}
