/* ranks.c - ranks that run a function of Python's.
 *
 * The caller is rank 0, and others are forked from it.  The interpreter is told
 * of that as by os.fork: its lock is held across, and released while ranks wait
 * for one another. */
#include <string.h>

#include "axepy.h"

PyTypeObject *axepy_ranks_type;

/* ------------------------------------------------------------ running ranks */

typedef struct run {
    PyObject      *fn;
    PyThreadState *saved; /* while the lock is not held */
    axepy_ranks   *ranks;
    bool           raised;  /* by Python, without a text of the function's */
    double         heard;   /* signals, last [s] */
    bool           stopped; /* one has raised an exception */
} run;

static void
forking(void *user, axe_forking when)
{
    run *r = user;

    switch (when) {
    case AXE_FORKING:
        PyEval_RestoreThread(r->saved);
        PyOS_BeforeFork();
        return;
    case AXE_FORKED:
        PyOS_AfterFork_Parent();
        break;
    case AXE_IS_CHILD:
        PyOS_AfterFork_Child();
        break;
    }
    r->saved = PyEval_SaveThread();
}

/* Ctrl-C, where ranks wait for one another. */
static const char *
stop(void *user)
{
    run             *r = user;
    double           now = axepy_now();
    PyGILState_STATE gil;

    if (r->stopped || now - r->heard < AXEPY_LISTEN)
        return NULL;
    gil = PyGILState_Ensure();
    r->heard = now;
    r->stopped = PyErr_CheckSignals() < 0;
    PyGILState_Release(gil);
    return r->stopped ? "a rank was interrupted" : NULL;
}

/* The function returns None, or the text that all ranks end with. */
static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    run        *r = user;
    axe_status  st = AXE_OK;
    const char *text;
    PyObject   *said;

    PyEval_RestoreThread(r->saved);
    r->ranks->e = e;
    said = PyObject_CallFunctionObjArgs(r->fn, (PyObject *)r->ranks, NULL);
    r->raised = !said;
    text = said && said != Py_None ? PyUnicode_AsUTF8AndSize(said, NULL) : NULL;
    if (said != Py_None)
        st = axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "%s",
                      text ? text : "a rank has raised an exception");
    Py_XDECREF(said);
    r->ranks->e = NULL;
    r->saved = PyEval_SaveThread();
    return st;
}

static PyObject *
finish(run *r, axe_ctx *cx, axe_status st, axe_mark m)
{
    PyObject *out = NULL;

    Py_DECREF(r->ranks);
    if (st == AXE_OK && !r->stopped)
        out = (Py_INCREF(Py_None), Py_None);
    else if (!r->raised)
        axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return out;
}

/* (name, job, rank, size, local rank, local size) or None; -1: raised. */
static int
take_launcher(PyObject *x, axe_launcher *l, const axe_launcher **out)
{
    long long rank, size, local_rank, local_size;

    if (x == Py_None)
        return 0;
    if (!PyTuple_Check(x)) {
        axepy_fail(AXE_EARG, "a launcher is a tuple");
        return -1;
    }
    *l = (axe_launcher){.engine = "shm"};
    if (!PyArg_ParseTuple(x, "ssLLLL", &l->launcher, &l->job, &rank, &size,
                          &local_rank, &local_size)) {
        axepy_misread();
        return -1;
    }
    l->rank = rank;
    l->size = size;
    l->local_rank = local_rank;
    l->local_size = local_size;
    *out = l;
    return 0;
}

/* spmd(function, engine, ranks, heap, timeout_ms, launcher): function(Ranks) on
 * all */
PyObject *
axepy_spmd(PyObject *module, PyObject *args)
{
    axe_engine_options o = {.forking = forking};
    long long          n, heap, timeout;
    axe_launcher       l;
    PyObject          *launcher;
    run                r = {0};
    axe_ctx           *cx;
    axe_mark           m;
    axe_status         st;

    (void)module;
    if (!PyArg_ParseTuple(args, "OzLLLO", &r.fn, &o.engine, &n, &heap, &timeout,
                          &launcher))
        return axepy_misread();
    if (take_launcher(launcher, &l, &o.launcher) < 0)
        return NULL;
    r.ranks = (axepy_ranks *)PyType_GenericAlloc(axepy_ranks_type, 0);
    cx = r.ranks ? axe_ctx_new() : NULL;
    if (!cx) {
        Py_XDECREF(r.ranks);
        return PyErr_NoMemory();
    }
    r.ranks->cx = cx;
    o.n_rank = n;
    o.heap = heap;
    o.timeout_ms = timeout;
    o.stop = stop;
    o.user = &r;
    m = axe_ctx_mark(cx);
    r.saved = PyEval_SaveThread();
    st = axe_spmd(cx, &o, on_rank, &r);
    PyEval_RestoreThread(r.saved);
    return finish(&r, cx, st, m);
}

int
axepy_ranks_check(const axepy_ranks *r)
{
    if (r->e)
        return 0;
    axepy_fail(AXE_EARG, "these ranks are no more: the run that they were of "
                         "is over");
    return -1;
}

/* None, or the exception. */
static PyObject *
done(axepy_ranks *r, axe_status st, axe_mark m)
{
    if (st == AXE_OK)
        Py_RETURN_NONE;
    return axepy_raise(r->cx, st, m);
}

static PyObject *
ranks_barrier(PyObject *self, PyObject *nothing)
{
    axepy_ranks *r = (axepy_ranks *)self;
    axe_status   st;

    (void)nothing;
    if (axepy_ranks_check(r) < 0)
        return NULL;
    axe_mark m = axe_ctx_mark(r->cx);
    Py_BEGIN_ALLOW_THREADS;
    st = axe_engine_barrier(r->e);
    Py_END_ALLOW_THREADS;
    return done(r, st, m);
}

/* The lengths of all, and room for them in new bytes; -1: raised. */
static int
make_room(const int64_t *bytes, int64_t n, bool wanted, PyObject *list,
          void **out)
{
    for (int64_t i = 0; i < n; i++) {
        PyObject *b =
            wanted ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes[i])
                   : (Py_INCREF(Py_None), Py_None);

        if (!b || PyList_SetItem(list, (Py_ssize_t)i, b) < 0)
            return -1;
        out[i] = wanted ? PyBytes_AsString(b) : NULL;
    }
    return 0;
}

typedef struct length {
    char    what[8]; /* "gather": others may be at another one */
    int64_t bytes;
} length;

/* How many bytes each rank gives. */
static axe_status
gather_lengths(const axepy_ranks *r, int64_t own, int64_t *bytes)
{
    int64_t n = axe_engine_size(r->e);
    length  mine = {"gather", own}, *all = axe_new_array(r->cx, length, n);

    AXE_TRY(axe_engine_gather(r->e, &mine, sizeof mine, all));
    for (int64_t i = 0; i < n; i++) {
        if (memcmp(all[i].what, mine.what, sizeof mine.what) != 0) {
            axe_status st =
                axe_fail(r->cx, AXE_NOWHERE, AXE_EDEVICE,
                         "ranks do different things: rank %lld gathers "
                         "something or ends, rank %lld does not",
                         (long long)axe_engine_rank(r->e), (long long)i);
            axe_engine_fail(r->e, axe_last_error(r->cx));
            return st;
        }
        bytes[i] = all[i].bytes;
    }
    return AXE_OK;
}

/* gather(bytes, wanted) -> [bytes of each rank], or of None */
static PyObject *
ranks_gather(PyObject *self, PyObject *args)
{
    axepy_ranks *r = (axepy_ranks *)self;
    const char  *mine;
    Py_ssize_t   len;
    int          wanted;
    axe_status   st;

    if (!PyArg_ParseTuple(args, "y#p", &mine, &len, &wanted) ||
        axepy_ranks_check(r) < 0)
        return NULL;
    axe_mark  m = axe_ctx_mark(r->cx);
    int64_t   n = axe_engine_size(r->e);
    int64_t  *bytes = axe_new_array(r->cx, int64_t, n);
    void    **out = axe_new_array(r->cx, void *, n);
    PyObject *list = PyList_New((Py_ssize_t)n);
    Py_BEGIN_ALLOW_THREADS;
    st = gather_lengths(r, len, bytes);
    Py_END_ALLOW_THREADS;
    if (!list || (st == AXE_OK && make_room(bytes, n, wanted, list, out) < 0)) {
        Py_XDECREF(list);
        axe_engine_fail(r->e, "a rank has no memory for what it gathers");
        axe_ctx_release(r->cx, m);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    if (st == AXE_OK)
        st = axe_engine_collect(r->e, mine, bytes, out);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK) {
        axe_ctx_release(r->cx, m);
        return list;
    }
    Py_DECREF(list);
    return axepy_raise(r->cx, st, m);
}

/* fail(text): all ranks end with it */
static PyObject *
ranks_fail(PyObject *self, PyObject *args)
{
    axepy_ranks *r = (axepy_ranks *)self;
    const char  *text;

    if (!PyArg_ParseTuple(args, "s", &text) || axepy_ranks_check(r) < 0)
        return NULL;
    axe_engine_fail(r->e, text);
    Py_RETURN_NONE;
}

static PyObject *
ranks_rank(PyObject *self, void *nothing)
{
    axepy_ranks *r = (axepy_ranks *)self;

    (void)nothing;
    return axepy_ranks_check(r) < 0
               ? NULL
               : PyLong_FromLongLong(axe_engine_rank(r->e));
}

static PyObject *
ranks_size(PyObject *self, void *nothing)
{
    axepy_ranks *r = (axepy_ranks *)self;

    (void)nothing;
    return axepy_ranks_check(r) < 0
               ? NULL
               : PyLong_FromLongLong(axe_engine_size(r->e));
}

static PyObject *
ranks_engine(PyObject *self, void *nothing)
{
    axepy_ranks *r = (axepy_ranks *)self;

    (void)nothing;
    return axepy_ranks_check(r) < 0
               ? NULL
               : PyUnicode_FromString(axe_engine_name(r->e));
}

static void
ranks_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyGetSetDef ranks_gets[] = {
    {"rank", ranks_rank, NULL, "which one this is", NULL},
    {"size", ranks_size, NULL, "how many there are", NULL},
    {"engine", ranks_engine, NULL, "\"shm\"", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef ranks_methods[] = {
    {"barrier", ranks_barrier, METH_NOARGS, "all come to this"},
    {"gather", ranks_gather, METH_VARARGS, "bytes of all ranks"},
    {"fail", ranks_fail, METH_VARARGS, "end all ranks with a text"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot ranks_slots[] = {{Py_tp_dealloc, ranks_free},
                                    {Py_tp_getset, ranks_gets},
                                    {Py_tp_methods, ranks_methods},
                                    {0, NULL}};
static PyType_Spec ranks_spec = {"axe._axe.Ranks", sizeof(axepy_ranks), 0,
                                 Py_TPFLAGS_DEFAULT, ranks_slots};

int
axepy_add_ranks(PyObject *module)
{
    axepy_ranks_type = (PyTypeObject *)PyType_FromSpec(&ranks_spec);
    if (!axepy_ranks_type)
        return -1;
    Py_INCREF(axepy_ranks_type);
    return PyModule_AddObject(module, "Ranks", (PyObject *)axepy_ranks_type);
}
