/* module.c - the extension module axe._axe. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "axepy.h"

double
axepy_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PyObject *
after_fork(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    axepy_forks++;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_errors", axepy_set_errors, METH_O, "the exception of each status"},
    {"after_fork", after_fork, METH_NOARGS, "this process is a child"},
    {"set_exporter", axepy_set_exporter, METH_VARARGS,
     "a quick way to the capsules of a type"},
    {"look", axepy_look, METH_O,
     "type, shape, strides, device, number, read-only?, address"},
    {"evaluate", axepy_evaluate, METH_VARARGS, "a layout expression"},
    {"parts", axepy_parts, METH_VARARGS, "iters, offsets and dims of a layout"},
    {"convert", axepy_convert, METH_VARARGS, "from and to other notations"},
    {"formats", axepy_formats, METH_NOARGS, "notations of layouts"},
    {"move", axepy_move, METH_VARARGS, "from one layout to another"},
    {"why", axepy_why, METH_VARARGS, "what two layouts differ in"},
    {"draw", axepy_draw, METH_VARARGS, "a picture of a layout"},
    {"functions", axepy_functions, METH_NOARGS, "of layout expressions"},
    {"signatures", axepy_signatures, METH_VARARGS, "kernels of a text"},
    {"compile", axepy_compile, METH_VARARGS, "a kernel, for arrays"},
    {"tune", axepy_tune, METH_VARARGS, "the best values of parameters"},
    {"jax_target", axepy_jax_target, METH_VARARGS, "what XLA calls"},
    {"jax_bind", axepy_jax_bind, METH_VARARGS, "a kernel for it to call"},
    {"spmd", axepy_spmd, METH_VARARGS, "a function on ranks"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_axe",
                                        "The library under the package axe.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__axe(void);

PyMODINIT_FUNC
PyInit__axe(void)
{
    PyObject *m = PyModule_Create(&definition);

    if (m && axepy_add_device(m) == 0 && axepy_add_program(m) == 0 &&
        axepy_add_caller(m) == 0 && axepy_add_ranks(m) == 0 &&
        axepy_add_rank_exec(m) == 0 &&
        PyModule_AddStringConstant(m, "version", AXE_VERSION) == 0)
        return m;
    Py_XDECREF(m);
    return NULL;
}
