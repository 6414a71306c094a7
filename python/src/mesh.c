/* mesh.c - kernels over a mesh from one process, on whole arrays: launched,
 * timed, checked. */
#include "axe/dist.h"
#include "axepy.h"

enum { MAX_TIME = 1000, MESH_TIMES = 20 };

/* Results of ranks that somebody else has started would be on one of them. */
static axe_status
check_alone(axe_ctx *cx)
{
    axe_launcher l;

    AXE_TRY(axe_launcher_find(cx, &l));
    if (!l.launcher)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EARG,
             "%s has launched %lld ranks, and whole arrays are for one process",
             l.launcher, (long long)l.size);
    axe_help(cx,
             "call the kernel in a function that axe.spmd() runs, with what "
             "each rank has");
    return AXE_EARG;
}

/* A launch from one process on whole arrays: (arrays, sizes, threads of each
 * rank, timeout_ms) of a method's arguments. */
typedef struct mesh_job {
    axepy_job          j;
    axe_engine_options o;
    axe_device_spec    spec;
} mesh_job;

static int
begin_mesh(mesh_job *m, PyObject *self, PyObject *arrays, PyObject *sizes,
           long long threads, long long timeout)
{
    axepy_program *p = (axepy_program *)self;
    axe_status     st;

    if (axepy_job_begin(&m->j, p, NULL, arrays, sizes) < 0)
        return -1;
    m->o = (axe_engine_options){.timeout_ms = timeout};
    m->spec = (axe_device_spec){.n_thread = threads};
    if (axepy_arguments_check(p->program, m->j.with) < 0) {
        axepy_job_end(&m->j, AXE_OK, NULL);
        return -1;
    }
    st = check_alone(m->j.cx);
    if (st == AXE_OK)
        return 0;
    axepy_job_end(&m->j, st, NULL);
    return -1;
}

static axe_status
launch_mesh(const mesh_job *m)
{
    const axepy_arguments *w = m->j.with;

    return axe_mesh_launch(m->j.cx, m->j.program->program, &m->o, &m->spec,
                           w->n, w->array, w->n_size, w->size);
}

/* mesh_launch(arrays, sizes, threads, timeout_ms) */
PyObject *
axepy_mesh_launch(PyObject *self, PyObject *args)
{
    PyObject  *arrays, *sizes;
    long long  threads, timeout;
    axe_status st;
    mesh_job   m;

    if (!PyArg_ParseTuple(args, "O!O!LL", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes, &threads, &timeout) ||
        begin_mesh(&m, self, arrays, sizes, threads, timeout) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = launch_mesh(&m);
    Py_END_ALLOW_THREADS;
    return axepy_job_end(&m.j, st, (Py_INCREF(Py_None), Py_None));
}

/* mesh_time(arrays, sizes, threads, timeout_ms, n) -> (devices, (seconds of
 * each run, ...)) */
PyObject *
axepy_mesh_time(PyObject *self, PyObject *args)
{
    PyObject  *arrays, *sizes, *out = NULL;
    long long  threads, timeout;
    double     time[MAX_TIME];
    int64_t    n_device = 0;
    int        n;
    axe_status st;
    mesh_job   m;

    if (!PyArg_ParseTuple(args, "O!O!LLi", &PyTuple_Type, &arrays,
                          &PyTuple_Type, &sizes, &threads, &timeout, &n))
        return NULL;
    if (n < 0 || n > MAX_TIME)
        return axepy_fail(AXE_EARG, "runs are 1 to %d", MAX_TIME);
    n = n > 0 ? n : MESH_TIMES;
    if (begin_mesh(&m, self, arrays, sizes, threads, timeout) < 0)
        return NULL;
    const axepy_arguments *w = m.j.with;
    Py_BEGIN_ALLOW_THREADS;
    st = axe_mesh_time(m.j.cx, m.j.program->program, &m.o, &m.spec, w->n,
                       w->array, w->n_size, w->size, n, time, &n_device);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK)
        out =
            Py_BuildValue("(LN)", (long long)n_device, axepy_seconds(n, time));
    return axepy_job_end(&m.j, st, out);
}

/* mesh_check(arrays, sizes, threads, timeout_ms, device of the reference)
 * -> [differences] */
PyObject *
axepy_mesh_check(PyObject *self, PyObject *args)
{
    PyObject      *arrays, *sizes, *device, *out = NULL;
    long long      threads, timeout;
    axe_reference *r = NULL;
    axepy_device  *d;
    axe_status     st;
    mesh_job       m;

    if (!PyArg_ParseTuple(args, "O!O!LLO!", &PyTuple_Type, &arrays,
                          &PyTuple_Type, &sizes, &threads, &timeout,
                          axepy_device_type, &device))
        return NULL;
    d = (axepy_device *)device;
    if (!d->cpu)
        return axepy_fail(AXE_EARG, "the reference runs on a CPU");
    if (axepy_acquire(&d->lock) < 0)
        return NULL;
    if (begin_mesh(&m, self, arrays, sizes, threads, timeout) < 0) {
        axepy_release(&d->lock);
        return NULL;
    }
    const axepy_arguments *w = m.j.with;
    Py_BEGIN_ALLOW_THREADS;
    st = axe_reference_new(m.j.cx, d->cpu, m.j.program->program, w->n, w->array,
                           w->n_size, w->size, &r);
    if (st == AXE_OK)
        st = launch_mesh(&m);
    Py_END_ALLOW_THREADS;
    out = st == AXE_OK ? PyList_New(0) : NULL;
    if (out)
        st = axepy_compare(&m.j, r, out);
    if (PyErr_Occurred())
        Py_CLEAR(out);
    axe_reference_free(r);
    axepy_release(&d->lock);
    return axepy_job_end(&m.j, st, out);
}
