/* measure.c - a kernel's launch on the arrays that are given: its shapes and
 * work; timed, checked, simulated.
 *
 * All take ((name, array or number), ...) of all parameters and ((name, size),
 * ...); what the kernel writes is written. */
#include <string.h>

#include "axe/sim.h"
#include "axepy.h"

/* --------------------------------------------------------------- arguments */

/* The element type of that parameter; NULL: there is none of that name. */
static const char *
type_of(const axe_program *p, const char *name)
{
    for (int i = 0; i < axe_program_n_param(p); i++)
        if (strcmp(axe_program_param(p, i).name, name) == 0)
            return axe_program_param(p, i).type;
    return NULL;
}

static bool
writes(const axe_program *p, const char *name)
{
    for (int i = 0; i < axe_program_n_param(p); i++)
        if (strcmp(axe_program_param(p, i).name, name) == 0)
            return axe_program_param(p, i).access & AXE_WRITES;
    return false;
}

/* A number as an element of its parameter. */
static int
settle(const axe_program *p, axepy_view *v, axe_array *a, int64_t *number)
{
    const char *type = type_of(p, a->name);

    if (v->by != AXEPY_NUMBER)
        return 0;
    if (!type) {
        axepy_fail(AXE_ENAME, "the kernel has no parameter '%s'", a->name);
        return -1;
    }
    if (axepy_number(v, type, number) < 0)
        return -1;
    a->type = type;
    a->data = number;
    return 0;
}

int
axepy_arguments_check(const axe_program *p, const axepy_arguments *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->view[i].readonly && writes(p, a->array[i].name)) {
            axepy_fail(AXE_EARG,
                       "%s is written, but the array given for it is read-only",
                       a->array[i].name);
            return -1;
        }
    return 0;
}

int
axepy_arguments_get(axe_ctx *cx, const axe_program *p, PyObject *arrays,
                    PyObject *sizes, axepy_arguments *out)
{
    out->n = axepy_arrays(arrays, out->view, out->array);
    if (out->n < 0)
        return -1;
    out->n_size = axepy_sizes(cx, sizes, &out->size);
    for (int i = 0; out->n_size >= 0 && i < out->n; i++)
        if (settle(p, &out->view[i], &out->array[i], &out->number[i]) < 0)
            out->n_size = -1;
    if (out->n_size >= 0)
        return 0;
    axepy_drop_all(out->n, out->view);
    return -1;
}

/* ---------------------------------------------------------- what a method is
 */

int
axepy_job_begin(axepy_job *j, axepy_program *p, axepy_exec *e, PyObject *arrays,
                PyObject *sizes)
{
    *j = (axepy_job){.cx = p->cx, .program = p, .exec = e};
    j->with = PyMem_Malloc(sizeof *j->with);
    if (!j->with) {
        PyErr_NoMemory();
        return -1;
    }
    if (e && axepy_acquire(&e->device->lock) < 0) {
        PyMem_Free(j->with);
        return -1;
    }
    if (axepy_acquire(&p->lock) == 0) {
        j->mark = axe_ctx_mark(p->cx);
        if (axepy_arguments_get(p->cx, p->program, arrays, sizes, j->with) == 0)
            return 0;
        axe_ctx_release(p->cx, j->mark);
        axepy_release(&p->lock);
    }
    if (e)
        axepy_release(&e->device->lock);
    PyMem_Free(j->with);
    return -1;
}

PyObject *
axepy_job_end(axepy_job *j, axe_status st, PyObject *out)
{
    if (st != AXE_OK) {
        for (int i = 0; i < j->with->n; i++)
            axepy_advise(j->cx, j->with->array[i].name, &j->with->view[i]);
        axepy_raise(j->cx, st, j->mark);
        Py_CLEAR(out);
    }
    axe_ctx_release(j->cx, j->mark);
    axepy_drop_all(j->with->n, j->with->view);
    axepy_release(&j->program->lock);
    if (j->exec)
        axepy_release(&j->exec->device->lock);
    PyMem_Free(j->with);
    return out;
}

/* ---------------------------------------------------------- shapes and work */

static PyObject *
shapes_of(int n, const axe_shape *s)
{
    PyObject *out = PyTuple_New(n);

    for (int i = 0; out && i < n; i++) {
        PyObject *shape = PyTuple_New(s[i].n);
        for (int k = 0; shape && k < s[i].n; k++)
            PyTuple_SetItem(shape, k, PyLong_FromLongLong(s[i].extent[k]));
        PyTuple_SetItem(out, i, shape);
    }
    return axepy_whole(out);
}

/* shapes(arrays, sizes) -> ((extent, ...), ...) of all parameters */
PyObject *
axepy_program_shapes(PyObject *self, PyObject *args)
{
    axepy_program *p = (axepy_program *)self;
    PyObject      *arrays, *sizes;
    int            n = axe_program_n_param(p->program);
    axe_shape     *shape;
    axe_status     st;
    axepy_job      j;

    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes) ||
        axepy_job_begin(&j, p, NULL, arrays, sizes) < 0)
        return NULL;
    shape = axe_new_array(j.cx, axe_shape, n + 1);
    st = axe_program_shapes(j.cx, p->program, j.with->n, j.with->array,
                            j.with->n_size, j.with->size, shape);
    return axepy_job_end(&j, st, st == AXE_OK ? shapes_of(n, shape) : NULL);
}

/* work(arrays, sizes) -> (flops, bytes) */
PyObject *
axepy_program_work(PyObject *self, PyObject *args)
{
    axepy_program  *p = (axepy_program *)self;
    PyObject       *arrays, *sizes;
    axe_launch_work w = {0};
    axe_status      st;
    axepy_job       j;

    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes) ||
        axepy_job_begin(&j, p, NULL, arrays, sizes) < 0)
        return NULL;
    st = axe_program_work(j.cx, p->program, j.with->n, j.with->array,
                          j.with->n_size, j.with->size, &w);
    return axepy_job_end(
        &j, st, st == AXE_OK ? Py_BuildValue("(dd)", w.flops, w.bytes) : NULL);
}

/* -------------------------------------------------------------------- time */

enum { MAX_TIME = 1000, MIN_TIME = 5, N_WARM = 2, GPU_TIMES = 20 };

/* Has Ctrl-C been pressed?  It is raised then. */
static bool
interrupted(void)
{
    PyGILState_STATE s = PyGILState_Ensure();
    bool             yes = PyErr_CheckSignals() < 0;

    PyGILState_Release(s);
    return yes;
}

/* n > 0: so many runs; else what the budget has room for.  n_done is below 0
 * after Ctrl-C. */
static axe_status
time_cpu(const axepy_job *j, int n, double budget, double *time, int *n_done)
{
    axe_call  *call = NULL;
    double     first, heard, start;
    axe_status st =
        axe_call_new(j->cx, j->exec->cpu, j->with->n, j->with->array,
                     j->with->n_size, j->with->size, &call);

    for (int i = 0; st == AXE_OK && i < N_WARM; i++)
        st = axe_call_run(j->cx, call);
    first = heard = axepy_now();
    *n_done = 0;
    while (st == AXE_OK && *n_done < MAX_TIME) {
        if (n > 0 ? *n_done == n
                  : *n_done >= MIN_TIME && axepy_now() - first > budget)
            break;
        start = axepy_now();
        st = axe_call_run(j->cx, call);
        time[*n_done] = axepy_now() - start;
        ++*n_done;
        if (axepy_now() - heard < AXEPY_LISTEN)
            continue;
        heard = axepy_now();
        if (interrupted()) {
            *n_done = -1;
            break;
        }
    }
    axe_call_free(call);
    return st;
}

static axe_status
time_gpu(const axepy_job *j, int n, double *time, int *n_done)
{
    *n_done = n > 0 ? n : GPU_TIMES;
    return axe_gpu_time(j->cx, j->exec->gpu, j->with->n, j->with->array,
                        j->with->n_size, j->with->size, *n_done, time);
}

PyObject *
axepy_seconds(int n, const double *time)
{
    PyObject *out = PyTuple_New(n);

    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, PyFloat_FromDouble(time[i]));
    return axepy_whole(out);
}

/* time(arrays, sizes, n, budget) -> (seconds of each run, ...) */
PyObject *
axepy_exec_time(PyObject *self, PyObject *args)
{
    axepy_exec *e = (axepy_exec *)self;
    PyObject   *arrays, *sizes, *out = NULL;
    double      budget, time[MAX_TIME];
    int         n, n_done = 0;
    axe_status  st;
    axepy_job   j;

    if (!PyArg_ParseTuple(args, "O!O!id", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes, &n, &budget))
        return NULL;
    if (n < 0 || n > MAX_TIME || !(budget >= 0))
        return axepy_fail(AXE_EARG, "runs are 1 to %d, a budget is in seconds",
                          MAX_TIME);
    if (axepy_job_begin(&j, e->program, e, arrays, sizes) < 0)
        return NULL;
    if (axepy_arguments_check(e->program->program, j.with) < 0)
        return axepy_job_end(&j, AXE_OK, NULL);
    Py_BEGIN_ALLOW_THREADS;
    st = e->cpu ? time_cpu(&j, n, budget, time, &n_done)
                : time_gpu(&j, n, time, &n_done);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK && n_done >= 0)
        out = axepy_seconds(n_done, time);
    return axepy_job_end(&j, st, out);
}

/* ------------------------------------------------------------------- check */

axe_status
axepy_compare(const axepy_job *j, const axe_reference *r, PyObject *list)
{
    for (int i = 0; i < j->with->n; i++) {
        const axe_array *a = &j->with->array[i];
        axe_difference   d;
        PyObject        *row;

        if (!writes(j->program->program, a->name))
            continue;
        AXE_TRY(axe_reference_compare(j->cx, r, a, &d));
        row = Py_BuildValue("(sLLLdddLddd)", a->name, (long long)d.n,
                            (long long)d.n_wrong, (long long)d.n_unbound,
                            d.max_abs, d.max_rel, d.max_share,
                            (long long)d.worst, d.got, d.want, d.bound);
        if (!row || PyList_Append(list, row) < 0) {
            Py_XDECREF(row);
            return AXE_OK;
        }
        Py_DECREF(row);
    }
    return AXE_OK;
}

static axe_status
run_once(const axepy_job *j)
{
    const axepy_arguments *w = j->with;

    if (j->exec->cpu)
        return axe_launch(j->cx, j->exec->cpu, w->n, w->array, w->n_size,
                          w->size);
    return axe_gpu_run(j->cx, j->exec->gpu, w->n, w->array, w->n_size, w->size);
}

/* check(arrays, sizes, device of the reference) -> [differences] */
PyObject *
axepy_exec_check(PyObject *self, PyObject *args)
{
    axepy_exec    *e = (axepy_exec *)self;
    axepy_device  *d;
    axe_reference *r = NULL;
    PyObject      *arrays, *sizes, *device, *out;
    axe_status     st;
    axepy_job      j;

    if (!PyArg_ParseTuple(args, "O!O!O!", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes, axepy_device_type, &device))
        return NULL;
    d = (axepy_device *)device;
    if (!d->cpu)
        return axepy_fail(AXE_EARG, "the reference runs on a CPU");
    if (d != e->device && axepy_acquire(&d->lock) < 0)
        return NULL;
    if (axepy_job_begin(&j, e->program, e, arrays, sizes) < 0) {
        if (d != e->device)
            axepy_release(&d->lock);
        return NULL;
    }
    if (axepy_arguments_check(e->program->program, j.with) < 0) {
        if (d != e->device)
            axepy_release(&d->lock);
        return axepy_job_end(&j, AXE_OK, NULL);
    }
    Py_BEGIN_ALLOW_THREADS;
    st = axe_reference_new(j.cx, d->cpu, e->program->program, j.with->n,
                           j.with->array, j.with->n_size, j.with->size, &r);
    if (st == AXE_OK)
        st = run_once(&j);
    Py_END_ALLOW_THREADS;
    out = st == AXE_OK ? PyList_New(0) : NULL;
    if (out)
        st = axepy_compare(&j, r, out);
    if (PyErr_Occurred())
        Py_CLEAR(out);
    axe_reference_free(r);
    if (d != e->device)
        axepy_release(&d->lock);
    return axepy_job_end(&j, st, out);
}

/* ---------------------------------------------------------------- simulate */

/* simulate(arrays, sizes, policy, turns, who, seed, sms, steps, check,
 * timeline)
 * -> (text, JSON, SVG or None, trace events or None) */
PyObject *
axepy_program_simulate(PyObject *self, PyObject *args)
{
    axepy_program     *p = (axepy_program *)self;
    PyObject          *arrays, *sizes, *out = NULL;
    axe_sim_options    with = {0};
    axe_sim_report     found;
    unsigned long long seed;
    long long          steps, who;
    int                policy, turns, check, timeline;
    axe_status         st;
    axepy_job          j;

    if (!PyArg_ParseTuple(args, "O!O!iiLKiLpp", &PyTuple_Type, &arrays,
                          &PyTuple_Type, &sizes, &policy, &turns, &who, &seed,
                          &with.n_sm, &steps, &check, &timeline) ||
        axepy_job_begin(&j, p, NULL, arrays, sizes) < 0)
        return NULL;
    with.policy = (axe_sim_policy)policy;
    with.seed = seed;
    with.max_step = steps;
    with.no_check = !check;
    with.turns = (axe_sim_turns)turns;
    with.who = who;
    with.timeline = timeline;
    if (axepy_arguments_check(p->program, j.with) < 0)
        return axepy_job_end(&j, AXE_OK, NULL);
    Py_BEGIN_ALLOW_THREADS;
    st = axe_program_simulate(j.cx, p->program, j.with->n, j.with->array,
                              j.with->n_size, j.with->size, &with, &found);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK) {
        axe_buf text = {.cx = j.cx}, json = {.cx = j.cx};
        axe_buf svg = {.cx = j.cx}, events = {.cx = j.cx};
        axe_puts(&text, "");
        axe_puts(&json, "");
        axe_sim_report_print(j.cx, &text, &found);
        axe_sim_report_json(j.cx, &json, &found);
        if (found.timeline) {
            axe_timeline_svg(j.cx, found.timeline, &svg);
            axe_timeline_trace(j.cx, found.timeline, &events);
        }
        out = Py_BuildValue("(sszz)", text.text, json.text, svg.text,
                            events.text);
    }
    return axepy_job_end(&j, st, out);
}
