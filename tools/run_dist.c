/* run_dist.c - `axe run` of a kernel over a mesh: on processes that are its
 * devices. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axe/engine.h"
#include "machine/machine.h"
#include "run.h"
#include "run/dist/dist.h"

enum { MOST_TIMES = 1000, USUAL_TIMES = 20 };

typedef struct job {
    const axe_dist_plan *plan;
    axe_device_spec      spec;
    void               **data;
    int                  n_time;
    axe_dist_time       *times;
    const char          *engine;
} job;

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job *j = user;

    j->engine = axe_engine_name(e);
    return axe_dist_on_rank(cx, e, j->plan, &j->spec, j->data, j->n_time,
                            j->times);
}

/* --devices, or what has launched this, says how many are along the one axis
 * whose size nobody has given. */
axe_status
axe_run_count_devices(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_size    *size = axe_new_array(cx, axe_size, r->n_size + 1);
    axe_array   *array = axe_new_array(cx, axe_array, r->n_param);
    axe_launcher launcher;
    axe_bound    b;
    int64_t      n = a->n_device;
    bool         open;

    AXE_TRY(axe_launcher_find(cx, &launcher));
    if (n == 0 && launcher.launcher)
        n = launcher.size;
    AXE_TRY(axe_bind(cx, r->program->kernel, axe_run_arrays(r, array), array,
                     r->n_size, r->size, false, &b));
    memcpy(size, r->size, (size_t)r->n_size * sizeof *size);
    AXE_TRY(axe_dist_open_axis(cx, r->program, &b, n, &size[r->n_size], &open));
    r->n_size += open;
    r->size = size;
    return AXE_OK;
}

/* Files that ranks write into the cache, one compiles. */
static axe_status
warm(axe_ctx *cx, const job *j)
{
    axe_device *d;
    axe_status  st;

    AXE_TRY(axe_device_new(cx, &j->spec, &d));
    st = axe_dist_warm(cx, d, j->plan);
    axe_device_free(d);
    return st;
}

static int
by_value(const void *a, const void *b)
{
    double x = ((const axe_dist_time *)a)->seconds;
    double y = ((const axe_dist_time *)b)->seconds;

    return (x > y) - (x < y);
}

static axe_status
settle(axe_ctx *cx, const axe_run_args *a, axe_run *r, int n,
       const axe_array *array, job *j)
{
    const axe_kernel *k = r->program->kernel;
    axe_size         *size = axe_new_array(cx, axe_size, k->n_size);
    int64_t          *value;
    axe_bound         b;
    int64_t          *moved = axe_new_array(cx, int64_t, 2);
    axe_dist_options  o = {.one_by_one = a->no_overlap, .moved = moved};
    axe_launcher      l;

    AXE_TRY(axe_launcher_find(cx, &l));
    if (!l.launcher || l.local_size == l.size)
        o.measured = a->engine ? a->engine : l.engine;
    o.records = a->records;
    r->moved = moved;
    AXE_TRY(axe_bind(cx, k, n, array, r->n_size, r->size, true, &b));
    value = b.size;
    r->n_size = 0;
    for (int i = 0; i < k->n_size; i++)
        if (!axe_size_source(k, k->size[i]))
            size[r->n_size++] = (axe_size){k->size[i]->name, value[i]};
    r->size = size;
    j->data = b.data;
    return axe_dist_plan_with(cx, r->program, value, &o, &j->plan);
}

static axe_status
check(axe_ctx *cx, const axe_reference *ref, const axe_array *array, axe_run *r)
{
    r->check = axe_new_array(cx, axe_difference, r->n_param);
    for (int i = 0; i < r->n_param; i++)
        if (r->param[i].access & AXE_WRITES)
            AXE_TRY(axe_reference_compare(cx, ref, &array[i], &r->check[i]));
    return AXE_OK;
}

static axe_status
spmd(axe_ctx *cx, const axe_run_args *a, job *j, bool *speaks)
{
    axe_engine_options o = {.engine = a->engine,
                            .n_rank = j->plan->d.n_device,
                            .heap = j->plan->heap + 4096,
                            .timeout_ms = a->timeout_ms,
                            .speaks = speaks};

    AXE_TRY(axe_dist_same(cx, j->plan, j->data, j->times ? j->n_time : 0,
                          &o.n_same, &o.same));
    return axe_spmd(cx, &o, on_rank, j);
}

static void
take_times(axe_ctx *cx, job *j, axe_run *r)
{
    r->n_time = j->n_time;
    r->time = axe_new_array(cx, double, r->n_time);
    qsort(j->times, (size_t)j->n_time, sizeof j->times[0], by_value);
    for (int i = 0; i < r->n_time; i++)
        r->time[i] = j->times[i].seconds;
    r->exposed = j->times[r->n_time / 2].exposed;
}

static axe_status
run(axe_ctx *cx, const axe_run_args *a, axe_device *device, axe_run *r, job *j)
{
    axe_array     *array = axe_new_array(cx, axe_array, r->n_param);
    int            n = axe_run_arrays(r, array);
    axe_reference *ref = NULL;
    axe_launcher   launcher;
    bool           speaks = true;
    axe_status     st;

    AXE_TRY(settle(cx, a, r, n, array, j));
    j->spec = (axe_device_spec){
        .n_thread = a->n_thread ? a->n_thread
                                : axe_dist_threads(cx, j->plan->d.n_device),
        .cache = a->cache};
    j->n_time = a->n_time > 0 ? (int)a->n_time : USUAL_TIMES;
    j->times = a->time ? axe_new_array(cx, axe_dist_time, MOST_TIMES) : NULL;
    AXE_TRY(warm(cx, j));
    AXE_TRY(axe_launcher_find(cx, &launcher));
    if (a->check && (!launcher.launcher || launcher.rank == 0))
        AXE_TRY(axe_reference_new(cx, device, r->program, n, array, r->n_size,
                                  r->size, &ref));
    st = spmd(cx, a, j, &speaks);
    r->silent = !speaks;
    if (st == AXE_OK && ref)
        st = check(cx, ref, array, r);
    axe_reference_free(ref);
    if (st == AXE_OK && speaks && axe_run_passed(r))
        st = axe_run_save(cx, r);
    if (st == AXE_OK && j->times)
        take_times(cx, j, r);
    return st;
}

static const char *
describe(axe_ctx *cx, const axe_run *r, const job *j)
{
    int64_t     n = j->plan->d.n_device, threads = j->spec.n_thread;
    const char *each =
        axe_language_of(r->program->machine)->here
            ? axe_textf(cx, "%" PRId64 " thread%s each", threads,
                        threads == 1 ? "" : "s")
            : axe_textf(cx, "%s each", r->program->machine->name);

    return axe_textf(cx, "%" PRId64 " device%s by %s, %s", n, n == 1 ? "" : "s",
                     j->engine, each);
}

axe_status
axe_run_on_devices(axe_ctx *cx, const axe_run_args *a, axe_run *r)
{
    axe_device_spec spec = {.n_thread = 1, .cache = a->cache};
    axe_device     *device;
    job             j = {0};
    axe_status      st;

    AXE_TRY(axe_device_new(cx, &spec, &device));
    st = run(cx, a, device, r, &j);
    axe_device_free(device);
    if (st != AXE_OK)
        return st;
    r->on = describe(cx, r, &j);
    r->n_device = j.plan->d.n_device;
    r->n_thread = (int)j.spec.n_thread;
    r->engine = j.engine;
    return AXE_OK;
}
