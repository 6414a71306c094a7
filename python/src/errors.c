/* errors.c - diagnostics as exceptions, and the locks around contexts. */
#include <stdarg.h>
#include <string.h>

#include "axepy.h"

unsigned axepy_forks;

static PyObject *classes; /* status name -> class */

PyObject *
axepy_set_errors(PyObject *module, PyObject *given)
{
    (void)module;
    Py_INCREF(given);
    Py_XDECREF(classes);
    classes = given;
    Py_RETURN_NONE;
}

/* NULL: no memory to look for it, raised. */
static PyObject *
class_of(axe_status st)
{
    PyObject *name = PyUnicode_FromString(axe_status_name(st));
    PyObject *c =
        name && classes ? PyDict_GetItemWithError(classes, name) : NULL;

    Py_XDECREF(name);
    return c || PyErr_Occurred() ? c : PyExc_RuntimeError;
}

/* Texts of one severity, as a tuple. */
static PyObject *
texts_of(const axe_ctx *cx, axe_severity severity)
{
    PyObject *list = PyList_New(0), *out = NULL;

    for (const axe_diag *d = axe_diags(cx); list && d; d = d->next) {
        PyObject *text =
            d->severity == severity
                ? PyUnicode_DecodeUTF8(d->text, (Py_ssize_t)strlen(d->text),
                                       "replace")
                : NULL;
        if (text)
            PyList_Append(list, text);
        Py_XDECREF(text);
    }
    if (list)
        out = PyList_AsTuple(list);
    Py_XDECREF(list);
    return out;
}

static void
set_texts(PyObject *error, const axe_ctx *cx)
{
    PyObject *errors = texts_of(cx, AXE_ERROR), *help = texts_of(cx, AXE_HELP);

    if (errors)
        PyObject_SetAttrString(error, "errors", errors);
    if (help)
        PyObject_SetAttrString(error, "help", help);
    Py_XDECREF(errors);
    Py_XDECREF(help);
}

PyObject *
axepy_raise(axe_ctx *cx, axe_status st, axe_mark m)
{
    if (PyErr_Occurred()) {
        axe_ctx_release(cx, m);
        return NULL;
    }
    PyObject *class = class_of(st), *text, *error = NULL;
    axe_buf said = {.cx = cx};

    axe_puts(&said, "");
    axe_errors_print(cx, &said);
    while (said.len > 0 && said.text[said.len - 1] == '\n')
        said.len--;
    if (strncmp(said.text, "error: ", 7) == 0) {
        said.text += 7;
        said.len -= 7;
    }
    text = PyUnicode_DecodeUTF8(said.text, (Py_ssize_t)said.len, "replace");
    if (text && class)
        error = PyObject_CallFunctionObjArgs(class, text, NULL);
    if (error) {
        set_texts(error, cx);
        PyErr_SetObject(class, error);
    }
    Py_XDECREF(text);
    Py_XDECREF(error);
    axe_ctx_release(cx, m);
    return NULL;
}

PyObject *
axepy_fail(axe_status st, const char *fmt, ...)
{
    va_list   ap;
    PyObject *text, *class = class_of(st);

    va_start(ap, fmt);
    text = PyUnicode_FromFormatV(fmt, ap);
    va_end(ap);
    if (text && class)
        PyErr_SetObject(class, text);
    Py_XDECREF(text);
    return NULL;
}

PyObject *
axepy_misread(void)
{
    PyObject *type = PyErr_Occurred(), *why, *trace;

    if (type != PyExc_ValueError && !PyErr_ExceptionMatches(PyExc_UnicodeError))
        return NULL;
    PyErr_Fetch(&type, &why, &trace);
    axepy_fail(AXE_ESYNTAX,
               "a text has a character that has no meaning anywhere: %S; "
               "remove it",
               why ? why : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(why);
    Py_XDECREF(trace);
    return NULL;
}

PyObject *
axepy_whole(PyObject *out)
{
    if (out && PyErr_Occurred())
        Py_CLEAR(out);
    return out;
}

int
axepy_n_diag(const axe_ctx *cx)
{
    int n = 0;

    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        n++;
    return n;
}

/* Is a frame's module the package, or of it? */
static bool
is_own(PyObject *frame)
{
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals");
    PyObject *name =
        globals ? PyMapping_GetItemString(globals, "__name__") : NULL;
    PyObject *text =
        name && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
    const char *s = text ? PyBytes_AsString(text) : NULL;
    bool own = s && strncmp(s, "axe", 3) == 0 && (s[3] == 0 || s[3] == '.');

    Py_XDECREF(globals);
    Py_XDECREF(name);
    Py_XDECREF(text);
    PyErr_Clear();
    return own;
}

/* The frame that has called the package: 1 is the innermost. */
static int
level_of_caller(void)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *back;
    int       level = 1;

    Py_XINCREF(frame);
    while (frame && frame != Py_None && is_own(frame)) {
        back = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = back;
        level++;
    }
    PyErr_Clear();
    Py_XDECREF(frame);
    return level;
}

int
axepy_warn(axe_ctx *cx, int first)
{
    int number = 0;

    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        if (number++ >= first && d->severity == AXE_WARNING &&
            PyErr_WarnEx(PyExc_RuntimeWarning, d->text, level_of_caller()) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------ locks */

int
axepy_acquire(axepy_lock *l)
{
    if (!l->lock || l->forks != axepy_forks) {
        l->lock = PyThread_allocate_lock();
        l->forks = axepy_forks;
    }
    if (!l->lock) {
        PyErr_NoMemory();
        return -1;
    }
    if (PyThread_acquire_lock(l->lock, NOWAIT_LOCK))
        return 0;
    Py_BEGIN_ALLOW_THREADS;
    PyThread_acquire_lock(l->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS;
    return 0;
}

void
axepy_release(axepy_lock *l)
{
    PyThread_release_lock(l->lock);
}

void
axepy_lock_free(axepy_lock *l)
{
    if (l->lock && l->forks == axepy_forks)
        PyThread_free_lock(l->lock);
    l->lock = NULL;
}
