/* ranks.c - kernels over a mesh: ranks that run a function of Python's, and
 * launches on what each has; or from one process, on whole arrays.
 *
 * The caller is rank 0, and others are forked from it.  The interpreter is told
 * of that as by os.fork: its lock is held across, and released while ranks wait
 * for one another. */
#include <string.h>

#include "axe/dist.h"
#include "axepy.h"

static PyTypeObject *ranks_type, *exec_type;

/* The ranks of a run, as one of them sees it. */
typedef struct ranks {
    PyObject_HEAD axe_ctx *cx;
    axe_engine            *e; /* NULL: the run is over */
} ranks;

/* A program on this rank. */
typedef struct rank_exec {
    PyObject_HEAD ranks *of;
    axepy_program       *program;
    axepy_device        *device;
    axe_rank_exec       *x; /* NULL: closed */
    axe_mark             begin;
} rank_exec;

/* ------------------------------------------------------------ running ranks */

typedef struct run {
    PyObject      *fn;
    PyThreadState *saved; /* while the lock is not held */
    ranks         *ranks;
    bool           raised; /* by Python, without a text of the function's */
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
    if (st == AXE_OK)
        out = (Py_INCREF(Py_None), Py_None);
    else if (!r->raised)
        axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return out;
}

/* spmd(function, engine, ranks, heap, timeout_ms): function(Ranks) on all */
PyObject *
axepy_spmd(PyObject *module, PyObject *args)
{
    axe_engine_options o = {.forking = forking};
    long long          n, heap, timeout;
    run                r = {0};
    axe_ctx           *cx;
    axe_mark           m;
    axe_status         st;

    (void)module;
    if (!PyArg_ParseTuple(args, "OzLLL", &r.fn, &o.engine, &n, &heap, &timeout))
        return axepy_misread();
    r.ranks = (ranks *)PyType_GenericAlloc(ranks_type, 0);
    cx = r.ranks ? axe_ctx_new() : NULL;
    if (!cx) {
        Py_XDECREF(r.ranks);
        return PyErr_NoMemory();
    }
    r.ranks->cx = cx;
    o.n_rank = n;
    o.heap = heap;
    o.timeout_ms = timeout;
    o.forking_user = &r;
    m = axe_ctx_mark(cx);
    r.saved = PyEval_SaveThread();
    st = axe_spmd(cx, &o, on_rank, &r);
    PyEval_RestoreThread(r.saved);
    return finish(&r, cx, st, m);
}

static int
check_open(const ranks *r)
{
    if (r->e)
        return 0;
    axepy_fail(AXE_EARG, "these ranks are no more: the run that they were of "
                         "is over");
    return -1;
}

/* None, or the exception. */
static PyObject *
done(ranks *r, axe_status st, axe_mark m)
{
    if (st == AXE_OK)
        Py_RETURN_NONE;
    return axepy_raise(r->cx, st, m);
}

static PyObject *
ranks_barrier(PyObject *self, PyObject *nothing)
{
    ranks     *r = (ranks *)self;
    axe_status st;

    (void)nothing;
    if (check_open(r) < 0)
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
gather_lengths(const ranks *r, int64_t own, int64_t *bytes)
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
    ranks      *r = (ranks *)self;
    const char *mine;
    Py_ssize_t  len;
    int         wanted;
    axe_status  st;

    if (!PyArg_ParseTuple(args, "y#p", &mine, &len, &wanted) ||
        check_open(r) < 0)
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
    ranks      *r = (ranks *)self;
    const char *text;

    if (!PyArg_ParseTuple(args, "s", &text) || check_open(r) < 0)
        return NULL;
    axe_engine_fail(r->e, text);
    Py_RETURN_NONE;
}

static PyObject *
ranks_rank(PyObject *self, void *nothing)
{
    ranks *r = (ranks *)self;

    (void)nothing;
    return check_open(r) < 0 ? NULL
                             : PyLong_FromLongLong(axe_engine_rank(r->e));
}

static PyObject *
ranks_size(PyObject *self, void *nothing)
{
    ranks *r = (ranks *)self;

    (void)nothing;
    return check_open(r) < 0 ? NULL
                             : PyLong_FromLongLong(axe_engine_size(r->e));
}

static PyObject *
ranks_engine(PyObject *self, void *nothing)
{
    ranks *r = (ranks *)self;

    (void)nothing;
    return check_open(r) < 0 ? NULL
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
static PyType_Spec ranks_spec = {"axe._axe.Ranks", sizeof(ranks), 0,
                                 Py_TPFLAGS_DEFAULT, ranks_slots};

/* ---------------------------------------------------------------- launching */

/* RankExec(ranks, program, device): the device is of this process */
static PyObject *
exec_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject  *of, *program, *device;
    rank_exec *x;
    axe_status st;

    if ((kw && PyDict_Size(kw) > 0) ||
        !PyArg_ParseTuple(args, "O!O!O!", ranks_type, &of, axepy_program_type,
                          &program, axepy_device_type, &device) ||
        check_open((ranks *)of) < 0)
        return NULL;
    x = (rank_exec *)PyType_GenericAlloc(type, 0);
    if (!x)
        return NULL;
    Py_INCREF(of);
    Py_INCREF(program);
    Py_INCREF(device);
    x->of = (ranks *)of;
    x->program = (axepy_program *)program;
    x->device = (axepy_device *)device;
    if (axepy_acquire(&x->program->lock) < 0) {
        Py_DECREF(x);
        return NULL;
    }
    x->begin = axe_ctx_mark(x->program->cx);
    st = axe_rank_exec_new(x->program->cx, x->of->e, x->device->cpu,
                           x->program->program, &x->x);
    if (st != AXE_OK)
        axepy_raise(x->program->cx, st, x->begin);
    axepy_release(&x->program->lock);
    if (st == AXE_OK)
        return (PyObject *)x;
    Py_DECREF(x);
    return NULL;
}

/* Of a rank that has ended nothing can be given back to the others. */
static void
exec_free(PyObject *self)
{
    rank_exec    *x = (rank_exec *)self;
    PyTypeObject *type = Py_TYPE(self);

    Py_XDECREF(x->of);
    Py_XDECREF(x->program);
    Py_XDECREF(x->device);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* close(): all ranks, unless they have failed */
static PyObject *
exec_close(PyObject *self, PyObject *nothing)
{
    rank_exec *x = (rank_exec *)self;
    axe_ctx   *cx = x->program->cx;
    axe_status st;

    (void)nothing;
    if (!x->x)
        Py_RETURN_NONE;
    if (check_open(x->of) < 0 || axepy_acquire(&x->program->lock) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = axe_rank_exec_free(x->x);
    Py_END_ALLOW_THREADS;
    x->x = NULL;
    if (st != AXE_OK)
        axepy_raise(cx, st, x->begin);
    axe_ctx_release(cx, x->begin);
    axepy_release(&x->program->lock);
    return st == AXE_OK ? (Py_INCREF(Py_None), Py_None) : NULL;
}

/* Layouts of a launch's arguments, ((layout, format, whole) or None, ...). */
static int
take_layouts(axe_ctx *cx, PyObject *layouts, axe_local *local)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(layouts); i++) {
        PyObject   *row = PyTuple_GetItem(layouts, i), *whole;
        const char *layout, *format;

        if (row == Py_None)
            continue;
        if (!PyArg_ParseTuple(row, "zzO!", &layout, &format, &PyTuple_Type,
                              &whole)) {
            axepy_misread();
            return -1;
        }
        int      n = (int)PyTuple_Size(whole);
        int64_t *extent = axe_new_array(cx, int64_t, n + 1);
        for (int k = 0; k < n; k++)
            extent[k] = PyLong_AsLongLong(PyTuple_GetItem(whole, k));
        if (PyErr_Occurred())
            return -1;
        local[i].layout = layout ? axe_textf(cx, "%s", layout) : NULL;
        local[i].format = format ? axe_textf(cx, "%s", format) : NULL;
        local[i].whole = (axe_shape){n, extent};
    }
    return 0;
}

/* What a launch takes is in the ctx of the ranks: in the program's plans stay.
 */
typedef struct launch {
    rank_exec       *x;
    axe_ctx         *cx; /* the program's */
    axe_mark         m, own;
    axepy_arguments *with;
    axe_local       *local;
} launch;

/* What of a call is this rank's alone; where that goes wrong, all end. */
static int
begin(launch *l, PyObject *self, PyObject *args, bool writes)
{
    rank_exec *x = (rank_exec *)self;
    PyObject  *arrays, *layouts, *sizes;

    if (!PyArg_ParseTuple(args, "O!O!O!", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &layouts, &PyTuple_Type, &sizes) ||
        check_open(x->of) < 0)
        return -1;
    if (!x->x) {
        axepy_fail(AXE_EARG, "a closed exec");
        return -1;
    }
    *l = (launch){.x = x, .cx = x->program->cx};
    l->with = PyMem_Malloc(sizeof *l->with);
    if (!l->with) {
        PyErr_NoMemory();
        return -1;
    }
    if (axepy_acquire(&x->program->lock) < 0) {
        PyMem_Free(l->with);
        return -1;
    }
    l->m = axe_ctx_mark(l->cx);
    l->own = axe_ctx_mark(x->of->cx);
    if (axepy_arguments_get(x->of->cx, x->program->program, arrays, sizes,
                            l->with) == 0) {
        l->local = axe_new_array(x->of->cx, axe_local, l->with->n + 1);
        for (int i = 0; i < l->with->n; i++)
            l->local[i].array = l->with->array[i];
        if (take_layouts(x->of->cx, layouts, l->local) == 0 &&
            (!writes ||
             axepy_arguments_check(x->program->program, l->with) == 0))
            return 0;
        axepy_drop_all(l->with->n, l->with->view);
    }
    axe_ctx_release(x->of->cx, l->own);
    axepy_release(&x->program->lock);
    PyMem_Free(l->with);
    return -1;
}

static PyObject *
end(launch *l, axe_status st, PyObject *out)
{
    if (st != AXE_OK) {
        axepy_raise(l->cx, st, l->m);
        Py_CLEAR(out);
    }
    axepy_drop_all(l->with->n, l->with->view);
    axe_ctx_release(l->x->of->cx, l->own);
    axepy_release(&l->x->program->lock);
    PyMem_Free(l->with);
    return out;
}

/* shapes(arrays, layouts, sizes) -> those of this rank's arrays */
static PyObject *
exec_shapes(PyObject *self, PyObject *args)
{
    launch     l;
    axe_status st;
    PyObject  *out = NULL;

    if (begin(&l, self, args, false) < 0)
        return NULL;
    int        n = axe_program_n_param(l.x->program->program);
    axe_shape *shape = axe_new_array(l.cx, axe_shape, n + 1);
    Py_BEGIN_ALLOW_THREADS;
    st = axe_rank_shapes(l.cx, l.x->x, l.with->n, l.local, l.with->n_size,
                         l.with->size, shape);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK)
        out = PyTuple_New(n);
    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, axepy_tuple(shape[i].n, shape[i].extent));
    out = end(&l, st, axepy_whole(out));
    if (st == AXE_OK)
        axe_ctx_release(l.cx, l.m);
    return out;
}

/* launch(arrays, layouts, sizes) */
static PyObject *
exec_launch(PyObject *self, PyObject *args)
{
    launch     l;
    axe_status st;

    if (begin(&l, self, args, true) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = axe_rank_launch(l.cx, l.x->x, l.with->n, l.local, l.with->n_size,
                         l.with->size);
    Py_END_ALLOW_THREADS;
    return end(&l, st, (Py_INCREF(Py_None), Py_None));
}

static PyMethodDef exec_methods[] = {
    {"close", exec_close, METH_NOARGS, "give back what all ranks took"},
    {"shapes", exec_shapes, METH_VARARGS, "of this rank's arrays"},
    {"launch", exec_launch, METH_VARARGS, "run once"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot exec_slots[] = {{Py_tp_new, exec_new},
                                   {Py_tp_dealloc, exec_free},
                                   {Py_tp_methods, exec_methods},
                                   {0, NULL}};
static PyType_Spec exec_spec = {"axe._axe.RankExec", sizeof(rank_exec), 0,
                                Py_TPFLAGS_DEFAULT, exec_slots};

/* ------------------------------------------------------------ whole arrays */

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

/* mesh_launch(arrays, sizes, threads, timeout_ms), a method of programs */
PyObject *
axepy_mesh_launch(PyObject *self, PyObject *args)
{
    axepy_program     *p = (axepy_program *)self;
    axe_engine_options o = {0};
    axe_device_spec    spec = {0};
    axepy_arguments   *with;
    PyObject          *arrays, *sizes, *out = NULL;
    long long          threads, timeout;
    axe_status         st;

    if (!PyArg_ParseTuple(args, "O!O!LL", &PyTuple_Type, &arrays, &PyTuple_Type,
                          &sizes, &threads, &timeout))
        return NULL;
    o.timeout_ms = timeout;
    spec.n_thread = threads;
    with = PyMem_Malloc(sizeof *with);
    if (!with)
        return PyErr_NoMemory();
    if (axepy_acquire(&p->lock) < 0) {
        PyMem_Free(with);
        return NULL;
    }
    axe_mark m = axe_ctx_mark(p->cx);
    if (axepy_arguments_get(p->cx, p->program, arrays, sizes, with) == 0) {
        if (axepy_arguments_check(p->program, with) == 0) {
            Py_BEGIN_ALLOW_THREADS;
            st = check_alone(p->cx);
            if (st == AXE_OK)
                st = axe_mesh_launch(p->cx, p->program, &o, &spec, with->n,
                                     with->array, with->n_size, with->size);
            Py_END_ALLOW_THREADS;
            if (st == AXE_OK)
                out = (Py_INCREF(Py_None), Py_None);
            else
                axepy_raise(p->cx, st, m);
        }
        axepy_drop_all(with->n, with->view);
    }
    axe_ctx_release(p->cx, m);
    axepy_release(&p->lock);
    PyMem_Free(with);
    return out;
}

int
axepy_add_ranks(PyObject *module)
{
    ranks_type = (PyTypeObject *)PyType_FromSpec(&ranks_spec);
    exec_type = (PyTypeObject *)PyType_FromSpec(&exec_spec);
    if (!ranks_type || !exec_type)
        return -1;
    Py_INCREF(ranks_type);
    Py_INCREF(exec_type);
    if (PyModule_AddObject(module, "Ranks", (PyObject *)ranks_type) < 0)
        return -1;
    return PyModule_AddObject(module, "RankExec", (PyObject *)exec_type);
}
