/* tune.c - the search for values of compile-time parameters, as axe/tune.h has
 * it: its progress told to a function of Python's, which may end it by an
 * exception; Ctrl-C ends it with what is known. */
#include <string.h>

#include "axe/tune.h"
#include "axepy.h"

typedef struct search {
    PyObject *progress; /* or None */
    bool      failed;   /* it has raised */
    bool      pressed;  /* Ctrl-C */
    double    heard;
} search;

/* What was raised ends the search: Ctrl-C with what is known. */
static void
end_by(search *s)
{
    s->pressed = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    s->failed = !s->pressed;
    if (s->pressed)
        PyErr_Clear();
}

static bool
stop(void *user)
{
    search          *s = user;
    PyGILState_STATE gil;

    if (s->failed || s->pressed || axepy_now() - s->heard < AXEPY_LISTEN)
        return s->failed || s->pressed;
    gil = PyGILState_Ensure();
    s->heard = axepy_now();
    if (PyErr_CheckSignals() < 0)
        end_by(s);
    PyGILState_Release(gil);
    return s->failed || s->pressed;
}

/* progress(doing, planned, measured, seconds of the best or None) */
static void
tell(void *user, const axe_tune_result *r, const char *doing)
{
    search          *s = user;
    PyGILState_STATE gil;
    PyObject        *out, *time;
    double           best = 0;
    int              n = 0;

    if (s->failed || s->pressed)
        return;
    for (int i = 0; i < r->n_try; i++)
        if (r->each[i].time_s > 0) {
            n++;
            best = best == 0 || r->each[i].time_s < best ? r->each[i].time_s
                                                         : best;
        }
    gil = PyGILState_Ensure();
    time = best > 0 ? PyFloat_FromDouble(best) : (Py_INCREF(Py_None), Py_None);
    out = time ? PyObject_CallFunction(s->progress, "siiO", doing, r->n_try, n,
                                       time)
               : NULL;
    if (!out)
        end_by(s);
    Py_XDECREF(time);
    Py_XDECREF(out);
    PyGILState_Release(gil);
}

/* ------------------------------------------------------------------ results */

/* ((value, ...), estimate, least, time, samples) */
static PyObject *
try_of(const axe_tune_result *r, int k)
{
    const axe_tune_try *t = &r->each[k];
    PyObject           *value = PyTuple_New(r->n_param);

    for (int i = 0; value && i < r->n_param; i++)
        PyTuple_SetItem(value, i, PyUnicode_FromString(t->value[i]));
    return Py_BuildValue("(Ndddi)", axepy_whole(value), t->estimate_s,
                         t->least_s, t->time_s, t->n_time);
}

/* (names, tries, measured, default, refused, stopped, machine, sizes, threads,
 * records) */
static PyObject *
result_of(const axe_tune_result *r)
{
    PyObject *name = PyTuple_New(r->n_param), *each = PyTuple_New(r->n_try);

    for (int i = 0; name && i < r->n_param; i++)
        PyTuple_SetItem(name, i, PyUnicode_FromString(r->param[i]));
    for (int i = 0; each && i < r->n_try; i++)
        PyTuple_SetItem(each, i, try_of(r, i));
    return Py_BuildValue("(NNiiLOszis)", axepy_whole(name), axepy_whole(each),
                         r->n_timed, r->standard, (long long)r->n_refused,
                         r->stopped ? Py_True : Py_False, r->machine, r->sizes,
                         r->n_worker, r->records ? r->records : "");
}

/* ------------------------------------------------------------------- tuning */

typedef struct request {
    const char   *name, *text;
    Py_ssize_t    len;
    PyObject     *program, *sets, *arrays, *sizes, *device, *progress;
    axepy_device *on; /* locked, or NULL: the ranking alone */
    axe_tune_spec spec;
} request;

static PyObject *
run(axe_ctx *cx, request *r, axepy_arguments *with)
{
    search          s = {.progress = r->progress};
    axe_mark        m = axe_ctx_mark(cx);
    axe_tune_result found = {0};
    axe_status      st;

    r->spec.stop = stop;
    r->spec.user = &s;
    if (r->progress != Py_None)
        r->spec.progress = tell;
    r->spec.gpu = r->on ? r->on->gpu : NULL;
    Py_BEGIN_ALLOW_THREADS;
    int32_t source = axe_source_add(cx, r->name, r->text, (size_t)r->len);
    st = axe_tune(cx, r->on ? r->on->cpu : NULL, source, &r->spec, with->n,
                  with->array, with->n_size, with->size, &found);
    Py_END_ALLOW_THREADS;
    if (s.failed)
        return NULL;
    if (st == AXE_OK && s.pressed && found.n_timed == 0) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return NULL;
    }
    if (st != AXE_OK)
        return axepy_raise(cx, st, m);
    return axepy_warn(cx, 0) < 0 ? NULL : result_of(&found);
}

static PyObject *
tune(axe_ctx *cx, request *r)
{
    axepy_arguments *with = PyMem_Malloc(sizeof *with);
    PyObject        *out = NULL;

    if (!with)
        return PyErr_NoMemory();
    if (axepy_pairs(cx, r->sets, &r->spec.compile.n_set,
                    &r->spec.compile.set_name,
                    &r->spec.compile.set_value) == 0 &&
        axepy_arguments_get(cx, ((axepy_program *)r->program)->program,
                            r->arrays, r->sizes, with) == 0) {
        const axe_program *p = ((axepy_program *)r->program)->program;
        if (axepy_arguments_check(p, with) == 0 &&
            (!r->on || axepy_acquire(&r->on->lock) == 0)) {
            out = run(cx, r, with);
            if (r->on)
                axepy_release(&r->on->lock);
        }
        axepy_drop_all(with->n, with->view);
    }
    PyMem_Free(with);
    return out;
}

/* tune(name, text, kernel, machine, program, sets, arrays, sizes, device or
 * None, budget, records, progress); see result_of.  The program, compiled for
 * the arrays, says what its parameters are. */
PyObject *
axepy_tune(PyObject *module, PyObject *args)
{
    request           r = {0};
    axe_compile_spec *of = &r.spec.compile;
    axe_ctx          *cx;
    PyObject         *out;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss#szO!O!O!O!OdzO", &r.name, &r.text, &r.len,
                          &of->kernel, &of->machine, axepy_program_type,
                          &r.program, &PyTuple_Type, &r.sets, &PyTuple_Type,
                          &r.arrays, &PyTuple_Type, &r.sizes, &r.device,
                          &r.spec.budget_s, &r.spec.records, &r.progress))
        return axepy_misread();
    if (r.device != Py_None) {
        if (!PyObject_TypeCheck(r.device, axepy_device_type))
            return axepy_fail(AXE_EARG, "%R is no device", r.device);
        r.on = (axepy_device *)r.device;
        r.spec.cache = r.on->cache;
    }
    cx = axe_ctx_new();
    if (!cx)
        return PyErr_NoMemory();
    out = tune(cx, &r);
    axe_ctx_free(cx);
    return out;
}
