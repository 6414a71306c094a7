/* rank_exec.c - launches of a kernel over a mesh on what each rank has. */
#include "axe/dist.h"
#include "axepy.h"

/* A program on this rank. */
typedef struct rank_exec {
    PyObject_HEAD axepy_ranks *of;
    axepy_program             *program;
    axepy_device              *device;
    axe_rank_exec             *x; /* NULL: closed */
    axe_mark                   begin;
} rank_exec;

/* RankExec(ranks, program, device): the device is of this process */
static PyObject *
exec_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject  *of, *program, *device;
    rank_exec *x;
    axe_status st;

    if ((kw && PyDict_Size(kw) > 0) ||
        !PyArg_ParseTuple(args, "O!O!O!", axepy_ranks_type, &of,
                          axepy_program_type, &program, axepy_device_type,
                          &device) ||
        axepy_ranks_check((axepy_ranks *)of) < 0)
        return NULL;
    x = (rank_exec *)PyType_GenericAlloc(type, 0);
    if (!x)
        return NULL;
    Py_INCREF(of);
    Py_INCREF(program);
    Py_INCREF(device);
    x->of = (axepy_ranks *)of;
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
    if (axepy_ranks_check(x->of) < 0 || axepy_acquire(&x->program->lock) < 0)
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
        axepy_ranks_check(x->of) < 0)
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

int
axepy_add_rank_exec(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&exec_spec);

    return type ? PyModule_AddObject(module, "RankExec", type) : -1;
}
