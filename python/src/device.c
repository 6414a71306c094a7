/* device.c - devices, and programs loaded on them.
 *
 * A device has one caller at a time: whoever runs something on it, or loads a
 * program, holds its lock, and not the GIL. */
#include <string.h>

#include "axepy.h"

PyTypeObject *axepy_device_type, *axepy_exec_type;

/* ----------------------------------------------------------------- devices */

/* The device itself, made or, in the child of a fork, made anew. */
static axe_status
open_device(axepy_device *d)
{
    axe_device_free(d->cpu);
    axe_gpu_free(d->gpu);
    d->cpu = NULL;
    d->gpu = NULL;
    d->forks = axepy_forks;
    if (d->number < 0)
        return axe_device_new(d->cx,
                              &(axe_device_spec){.n_thread = d->threads,
                                                 .cache = d->cache,
                                                 .cc = d->cc},
                              &d->cpu);
    return axe_gpu_new(d->cx,
                       &(axe_gpu_spec){.number = d->number, .cache = d->cache},
                       &d->gpu);
}

static PyObject *
device_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"threads", "gpu", "cache", "cc", NULL};
    long long    threads = 0;
    int          gpu = -1;
    const char  *cache = NULL, *cc = NULL;
    axe_status   st;
    axe_mark     m;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "|Lizz", names, &threads, &gpu,
                                     &cache, &cc))
        return axepy_misread();
    axepy_device *d = (axepy_device *)PyType_GenericAlloc(type, 0);
    if (!d)
        return NULL;
    d->cx = axe_ctx_new();
    if (!d->cx) {
        Py_DECREF(d);
        return PyErr_NoMemory();
    }
    d->threads = threads;
    d->number = gpu;
    d->cache = cache ? axe_textf(d->cx, "%s", cache) : NULL;
    d->cc = cc ? axe_textf(d->cx, "%s", cc) : NULL;
    m = axe_ctx_mark(d->cx);
    st = open_device(d);
    if (st == AXE_OK)
        return (PyObject *)d;
    axepy_raise(d->cx, st, m);
    Py_DECREF(d);
    return NULL;
}

static void
device_free(PyObject *self)
{
    axepy_device *d = (axepy_device *)self;
    PyTypeObject *type = Py_TYPE(self);

    axe_device_free(d->cpu);
    axe_gpu_free(d->gpu);
    axe_ctx_free(d->cx);
    axepy_lock_free(&d->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *
device_threads(PyObject *self, void *nothing)
{
    axepy_device *d = (axepy_device *)self;

    (void)nothing;
    return PyLong_FromLong(d->cpu ? axe_device_n_thread(d->cpu) : 0);
}

static PyObject *
device_machine(PyObject *self, void *nothing)
{
    axepy_device *d = (axepy_device *)self;

    (void)nothing;
    return PyUnicode_FromString(d->cpu ? "cpu" : axe_gpu_machine(d->gpu));
}

/* Wait for what runs on a stream of the GPU. */
static PyObject *
device_wait(PyObject *self, PyObject *args)
{
    axepy_device      *d = (axepy_device *)self;
    unsigned long long stream = 0;
    axe_status         st = AXE_OK;

    if (!PyArg_ParseTuple(args, "|K", &stream) || axepy_acquire(&d->lock) < 0)
        return NULL;
    axe_mark m = axe_ctx_mark(d->cx);
    Py_BEGIN_ALLOW_THREADS;
    if (d->gpu)
        st = axe_gpu_wait(d->cx, d->gpu, (void *)(uintptr_t)stream);
    Py_END_ALLOW_THREADS;
    if (st != AXE_OK)
        axepy_raise(d->cx, st, m);
    axepy_release(&d->lock);
    return st == AXE_OK ? (Py_INCREF(Py_None), Py_None) : NULL;
}

static PyGetSetDef device_gets[] = {
    {"threads", device_threads, NULL, "threads of a CPU, 0 of a GPU", NULL},
    {"machine", device_machine, NULL, "\"cpu\", \"sm_90a\"", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef device_methods[] = {
    {"wait", device_wait, METH_VARARGS,
     "wait(stream=0): until what a GPU was given is done"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot device_slots[] = {{Py_tp_new, device_new},
                                     {Py_tp_dealloc, device_free},
                                     {Py_tp_getset, device_gets},
                                     {Py_tp_methods, device_methods},
                                     {0, NULL}};
static PyType_Spec device_spec = {"axe._axe.Device", sizeof(axepy_device), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  device_slots};

/* ------------------------------------------------------------------- execs */

static axe_status
load(axepy_exec *e)
{
    axepy_program *p = e->program;
    axe_mark       m = axe_ctx_mark(e->device->cx);

    if (e->device->forks != axepy_forks) {
        axe_status st = open_device(e->device);
        if (st != AXE_OK)
            return axe_fail(p->cx, AXE_NOWHERE, st, "%s",
                            axe_last_error(e->device->cx));
        axe_ctx_release(e->device->cx, m);
    }
    if (e->device->cpu)
        return axe_exec_new(p->cx, e->device->cpu, p->program, &e->cpu);
    return axe_gpu_exec_new(p->cx, e->device->gpu, p->program, &e->gpu);
}

/* Exec(program, device) */
static PyObject *
exec_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject   *program, *device;
    axe_status  st;
    axe_mark    m;
    axepy_exec *e;
    int         n_diag;

    if (kw && PyDict_Size(kw) > 0)
        return axepy_fail(AXE_EARG, "Exec takes no keywords");
    if (!PyArg_ParseTuple(args, "O!O!", axepy_program_type, &program,
                          axepy_device_type, &device))
        return NULL;
    e = (axepy_exec *)PyType_GenericAlloc(type, 0);
    if (!e)
        return NULL;
    Py_INCREF(program);
    Py_INCREF(device);
    e->program = (axepy_program *)program;
    e->device = (axepy_device *)device;
    if (axepy_acquire(&e->device->lock) < 0) {
        Py_DECREF(e);
        return NULL;
    }
    if (axepy_acquire(&e->program->lock) < 0) {
        axepy_release(&e->device->lock);
        Py_DECREF(e);
        return NULL;
    }
    m = axe_ctx_mark(e->program->cx);
    n_diag = axepy_n_diag(e->program->cx);
    Py_BEGIN_ALLOW_THREADS;
    st = load(e);
    Py_END_ALLOW_THREADS;
    if (st != AXE_OK)
        axepy_raise(e->program->cx, st, m);
    else if (axepy_warn(e->program->cx, n_diag) < 0)
        st = AXE_EARG;
    axepy_release(&e->program->lock);
    axepy_release(&e->device->lock);
    if (st == AXE_OK)
        return (PyObject *)e;
    Py_DECREF(e);
    return NULL;
}

static void
exec_free(PyObject *self)
{
    axepy_exec   *e = (axepy_exec *)self;
    PyTypeObject *type = Py_TYPE(self);

    axe_exec_free(e->cpu);
    axe_gpu_exec_free(e->gpu);
    Py_XDECREF(e->program);
    Py_XDECREF(e->device);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *
exec_path(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyUnicode_FromString(axe_exec_path(((axepy_exec *)self)->cpu));
}

static PyObject *
exec_device(PyObject *self, void *nothing)
{
    PyObject *d = (PyObject *)((axepy_exec *)self)->device;

    (void)nothing;
    Py_INCREF(d);
    return d;
}

static PyGetSetDef exec_gets[] = {
    {"path", exec_path, NULL, "where the compiled kernel lies", NULL},
    {"device", exec_device, NULL, "what it runs on", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef exec_methods[] = {
    {"time", axepy_exec_time, METH_VARARGS, "seconds of each of some runs"},
    {"check", axepy_exec_check, METH_VARARGS, "against the reference"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot exec_slots[] = {{Py_tp_new, exec_new},
                                   {Py_tp_dealloc, exec_free},
                                   {Py_tp_methods, exec_methods},
                                   {Py_tp_getset, exec_gets},
                                   {0, NULL}};
static PyType_Spec exec_spec = {"axe._axe.Exec", sizeof(axepy_exec), 0,
                                Py_TPFLAGS_DEFAULT, exec_slots};

int
axepy_add_device(PyObject *module)
{
    axepy_device_type = (PyTypeObject *)PyType_FromSpec(&device_spec);
    axepy_exec_type = (PyTypeObject *)PyType_FromSpec(&exec_spec);
    if (!axepy_device_type || !axepy_exec_type)
        return -1;
    Py_INCREF(axepy_device_type);
    Py_INCREF(axepy_exec_type);
    if (PyModule_AddObject(module, "Device", (PyObject *)axepy_device_type) < 0)
        return -1;
    return PyModule_AddObject(module, "Exec", (PyObject *)axepy_exec_type);
}
