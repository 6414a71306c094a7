/* convert.c - layouts in the notations of other systems, and moves from one
 * layout to another. */
#include <string.h>

#include "axe/convert.h"
#include "axe/machine.h"
#include "axe/move.h"
#include "axepy.h"

enum { MAX_RANK = 64 };

/* (extent, ...) or None; false: raised. */
static bool
take_shape(PyObject *shape, int64_t extent[MAX_RANK], axe_shape *out)
{
    *out = (axe_shape){0, extent};
    if (shape == Py_None)
        return true;
    if (!PyTuple_Check(shape) || PyTuple_Size(shape) > MAX_RANK) {
        axepy_fail(AXE_EARG, "a shape is a tuple of at most %d extents",
                   MAX_RANK);
        return false;
    }
    out->n = (int)PyTuple_Size(shape);
    for (int i = 0; i < out->n; i++)
        extent[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return !PyErr_Occurred();
}

/* convert(text, from, to or None, machine, keep, shape, mesh, axes, bits) -> a
 * text, or a layout's value where there is no `to`. */
PyObject *
axepy_convert(PyObject *module, PyObject *args)
{
    const char         *text, *from, *to, *machine, *out;
    axe_convert_options opt = {0}, of;
    int64_t             extent[MAX_RANK];
    const axe_layout   *l;
    PyObject           *shape, *result = NULL;
    axe_ctx            *cx;
    axe_status          st;
    int                 keep;

    (void)module;
    if (!PyArg_ParseTuple(args, "sszziOzzi", &text, &from, &to, &machine, &keep,
                          &shape, &opt.mesh, &opt.axes, &opt.bits) ||
        !take_shape(shape, extent, &opt.shape))
        return axepy_misread();
    opt.keep = (axe_keep)keep;
    cx = axepy_context(machine);
    if (!cx)
        return NULL;
    axe_mark m = axe_ctx_mark(cx);
    of = axe_convert_taken(&opt, from);
    st = axe_convert_read(cx, from, text, &of, &l);
    if (st == AXE_OK && to) {
        of = axe_convert_taken(&opt, to);
        st = axe_convert_write(cx, to, l, &of, &out);
    }
    if (st != AXE_OK)
        axepy_raise(cx, st, m);
    else
        result = to ? PyUnicode_FromString(out) : axepy_layout_value(cx, l);
    axe_ctx_free(cx);
    return result;
}

/* formats() -> [(name, options, what, reads, writes)] */
PyObject *
axepy_formats(PyObject *module, PyObject *nothing)
{
    int                   n;
    const axe_format_row *row = axe_formats(&n);
    PyObject             *out = PyList_New(0);

    (void)module;
    (void)nothing;
    for (int i = 0; out && i < n; i++) {
        PyObject *r = Py_BuildValue("(sssNN)", row[i].name, row[i].options,
                                    row[i].what, PyBool_FromLong(row[i].reads),
                                    PyBool_FromLong(row[i].writes));
        if (!r || PyList_Append(out, r) < 0)
            Py_CLEAR(out);
        Py_XDECREF(r);
    }
    return out;
}

/* -------------------------------------------------------------------- moves */

static axe_status
plan(axe_ctx *cx, const char *src, const char *dst, const axe_move_options *opt,
     const axe_move_program **out)
{
    const axe_layout *a, *b;

    AXE_TRY(axe_machine_axes_use(cx, opt->machine));
    AXE_TRY(axe_layout_read(cx, src, &a));
    AXE_TRY(axe_layout_read(cx, dst, &b));
    return axe_move_plan(cx, a, b, opt, out);
}

/* move(src, dst, machine, bits, by, global) -> (JSON, text, text with the
 * program); by is "nothing", "shuffles" or "shared". */
PyObject *
axepy_move(PyObject *module, PyObject *args)
{
    static const char *const word[] = {
#define MOVE(name, word, text) word,
#include "axe/move.def"
    };
    const char             *src, *dst, *by;
    axe_move_options        opt = {0};
    const axe_move_program *p;
    PyObject               *out = NULL;
    axe_ctx                *cx;
    axe_status              st;
    int                     global;

    (void)module;
    if (!PyArg_ParseTuple(args, "sssisp", &src, &dst, &opt.machine, &opt.bits,
                          &by, &global))
        return axepy_misread();
    opt.memory = global ? AXE_MOVE_IN_GLOBAL : AXE_MOVE_IN_SHARED;
    for (int i = 0; i < AXE_N_MOVE; i++)
        if (strcmp(word[i], by) == 0)
            opt.by = (axe_move_kind)i;
    cx = axe_ctx_new();
    if (!cx)
        return PyErr_NoMemory();
    axe_mark m = axe_ctx_mark(cx);
    Py_BEGIN_ALLOW_THREADS;
    st = plan(cx, src, dst, &opt, &p);
    Py_END_ALLOW_THREADS;
    if (st == AXE_OK)
        out = Py_BuildValue("(sss)", axe_move_json(cx, p),
                            axe_move_text(cx, p, false),
                            axe_move_text(cx, p, true));
    else
        axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return out;
}
