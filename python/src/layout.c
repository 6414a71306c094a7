/* layout.c - layout expressions: text and named values in, values out.
 *
 * A layout is its text, which reads back to the same layout; so an object of
 * Python's holds no memory of a ctx.  Each question has a ctx of its own: what
 * it answers does not depend on those before it (axes stand in order of their
 * first use), and nothing grows.  That costs 0.2 us. */
#include <string.h>

#include "axe/machine.h"
#include "axe/view.h"
#include "axepy.h"

axe_ctx *
axepy_context(const char *machine)
{
    const axe_axis_table *t = machine ? axe_machine_axes(machine) : NULL;
    axe_ctx              *cx;
    axe_status            st = AXE_OK;
    axe_mark              m;

    if (machine && !t) {
        axepy_fail(AXE_ENAME, "there is no machine '%s'", machine);
        return NULL;
    }
    cx = axe_ctx_new();
    if (!cx) {
        PyErr_NoMemory();
        return NULL;
    }
    m = axe_ctx_mark(cx);
    if (t)
        st = axe_axes_load(cx, t);
    if (st == AXE_OK) {
        axe_axes_open(cx, true);
        return cx;
    }
    axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return NULL;
}

/* What is left of a question: its answer, or the exception; the ctx goes. */
static PyObject *
finish(axe_ctx *cx, axe_status st, axe_mark m, PyObject *out)
{
    if (st != AXE_OK) {
        axepy_raise(cx, st, m);
        Py_CLEAR(out);
    }
    axe_ctx_free(cx);
    return out;
}

/* ------------------------------------------------------------------ names */

typedef struct names {
    axe_ctx  *cx;
    PyObject *dict;
} names;

static bool
constant_named(void *user, const char *name, int64_t *value)
{
    names    *n = user;
    PyObject *x = PyDict_GetItemString(n->dict, name);
    int       over;

    if (!x || !PyLong_Check(x))
        return false;
    *value = PyLong_AsLongLongAndOverflow(x, &over);
    return over == 0;
}

static const axe_layout *
layout_named(void *user, const char *name)
{
    names            *n = user;
    PyObject         *x = PyDict_GetItemString(n->dict, name);
    const axe_layout *out = NULL;
    const char       *text;

    if (!x || !PyUnicode_Check(x))
        return NULL;
    text = PyUnicode_AsUTF8AndSize(x, NULL);
    if (!text || axe_layout_read(n->cx, text, &out) != AXE_OK)
        return NULL;
    return out;
}

/* ----------------------------------------------------------------- values */

PyObject *
axepy_tuple(int n, const int64_t *v)
{
    PyObject *out = PyTuple_New(n);

    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, PyLong_FromLongLong(v[i]));
    return axepy_whole(out);
}

/* [{axis: coordinate}] */
static PyObject *
points_of(const axe_ctx *cx, const axe_points *p)
{
    PyObject *out = PyList_New(p->n_point);

    for (int i = 0; out && i < p->n_point; i++) {
        PyObject *point = PyDict_New();
        for (int a = 0; point && a < p->n_axis; a++) {
            PyObject *c = PyLong_FromLongLong(p->coord[i * p->n_axis + a]);
            if (c)
                PyDict_SetItemString(point, axe_axis_name(cx, p->axis[a]), c);
            Py_XDECREF(c);
        }
        PyList_SetItem(out, i, point);
    }
    return axepy_whole(out);
}

PyObject *
axepy_layout_value(axe_ctx *cx, const axe_layout *l)
{
    axe_shape s = axe_layout_shape(cx, l);

    return Py_BuildValue("(ssNL)", "layout", axe_layout_text(cx, l),
                         axepy_tuple(s.n, s.extent), (long long)l->size);
}

static PyObject *
value_of(axe_ctx *cx, const axe_value *v)
{
    switch (v->kind) {
    case AXE_VALUE_LAYOUT:
        return axepy_layout_value(cx, v->layout);
    case AXE_VALUE_INT:
        return Py_BuildValue("(sL)", "int", (long long)v->integer);
    case AXE_VALUE_BOOL:
        return Py_BuildValue("(sO)", "bool", v->truth ? Py_True : Py_False);
    case AXE_VALUE_SHAPE:
        return Py_BuildValue("(sN)", "shape",
                             axepy_tuple(v->shape.n, v->shape.extent));
    case AXE_VALUE_POINTS:
        return Py_BuildValue("(sN)", "points", points_of(cx, &v->points));
    default:
        return Py_BuildValue("(ss)", "text", axe_value_text(cx, v));
    }
}

/* evaluate(text, names, machine) -> (kind, ...) */
PyObject *
axepy_evaluate(PyObject *module, PyObject *args)
{
    const char *text, *machine;
    names       n = {0};
    axe_value   v;
    axe_mark    m;
    axe_status  st;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!z", &text, &PyDict_Type, &n.dict, &machine))
        return axepy_misread();
    n.cx = axepy_context(machine);
    if (!n.cx)
        return NULL;
    m = axe_ctx_mark(n.cx);
    st = axe_expr_eval(n.cx, "layout", text,
                       &(axe_expr_env){.user = &n,
                                       .constant = constant_named,
                                       .layout = layout_named},
                       &v);
    return finish(n.cx, st, m, st == AXE_OK ? value_of(n.cx, &v) : NULL);
}

/* ------------------------------------------------------------------ parts */

static PyObject *
iters_of(axe_ctx *cx, int n, const axe_iter *it)
{
    PyObject *out = PyList_New(n);

    for (int i = 0; out && i < n; i++)
        PyList_SetItem(out, i,
                       Py_BuildValue("(LLss)", (long long)it[i].extent,
                                     (long long)it[i].stride,
                                     axe_axis_name(cx, it[i].axis),
                                     axe_unit_text(cx, it[i].unit)));
    return axepy_whole(out);
}

static PyObject *
offsets_of(axe_ctx *cx, int n, const axe_offset *o)
{
    PyObject *out = PyList_New(n);

    for (int i = 0; out && i < n; i++)
        PyList_SetItem(out, i,
                       Py_BuildValue("(Lss)", (long long)o[i].value,
                                     axe_axis_name(cx, o[i].axis),
                                     axe_unit_text(cx, o[i].unit)));
    return axepy_whole(out);
}

/* parts(text, machine) -> (shard, replica, offset, n_iters of each dim,
 * swizzle, contiguous?) */
PyObject *
axepy_parts(PyObject *module, PyObject *args)
{
    const char       *text, *machine;
    axe_ctx          *cx;
    axe_mark          m;
    const axe_layout *l;
    axe_status        st;
    PyObject         *out, *dims;

    (void)module;
    if (!PyArg_ParseTuple(args, "sz", &text, &machine))
        return axepy_misread();
    cx = axepy_context(machine);
    if (!cx)
        return NULL;
    m = axe_ctx_mark(cx);
    st = axe_layout_read(cx, text, &l);
    if (st != AXE_OK)
        return finish(cx, st, m, NULL);
    dims = PyTuple_New(l->n_dim);
    for (int i = 0; dims && i < l->n_dim; i++)
        PyTuple_SetItem(
            dims, i,
            PyLong_FromLong(l->dim_end[i] - (i > 0 ? l->dim_end[i - 1] : 0)));
    out = Py_BuildValue("(NNNN(iiii))", iters_of(cx, l->n_shard, l->shard),
                        iters_of(cx, l->n_replica, l->replica),
                        offsets_of(cx, l->n_offset, l->offset),
                        axepy_whole(dims), l->swizzle.bits, l->swizzle.base,
                        l->swizzle.shift, l->swizzle.unit_bits);
    return finish(cx, AXE_OK, m, out);
}

/* functions() -> [(name, args, what)] */
PyObject *
axepy_functions(PyObject *module, PyObject *nothing)
{
    int                    n;
    const axe_expr_fn_row *row = axe_expr_fns(&n);
    PyObject              *out = PyList_New(n);

    (void)module;
    (void)nothing;
    for (int i = 0; out && i < n; i++)
        PyList_SetItem(
            out, i,
            Py_BuildValue("(sss)", row[i].name, row[i].args, row[i].what));
    return axepy_whole(out);
}

/* ---------------------------------------------------- differences, pictures */

/* why(a, b, machine) -> (part, index, least, points of a, of b, text) */
PyObject *
axepy_why(PyObject *module, PyObject *args)
{
    const char           *a, *b, *machine;
    const axe_layout     *x, *y;
    axe_layout_difference d;
    axe_ctx              *cx;
    axe_mark              m;
    axe_status            st;
    PyObject             *out;

    (void)module;
    if (!PyArg_ParseTuple(args, "ssz", &a, &b, &machine))
        return axepy_misread();
    cx = axepy_context(machine);
    if (!cx)
        return NULL;
    m = axe_ctx_mark(cx);
    st = axe_layout_read(cx, a, &x);
    if (st == AXE_OK)
        st = axe_layout_read(cx, b, &y);
    if (st == AXE_OK)
        st = axe_layout_differ(cx, x, y, &d);
    if (st != AXE_OK)
        return finish(cx, st, m, NULL);
    out = Py_BuildValue("(sLNNNs)", axe_differ_part_text(d.part),
                        (long long)(d.part == AXE_DIFFER_NONE ? -1 : d.index),
                        PyBool_FromLong(d.least), points_of(cx, &d.a),
                        points_of(cx, &d.b),
                        axe_layout_difference_text(cx, x, y, &d));
    return finish(cx, AXE_OK, m, out);
}

/* draw(text, machine, bits, width) -> text, or an SVG where width is 0 */
PyObject *
axepy_draw(PyObject *module, PyObject *args)
{
    const char       *text, *machine;
    int               bits, width;
    const axe_layout *l;
    axe_ctx          *cx;
    axe_mark          m;
    axe_status        st;
    PyObject         *out;

    (void)module;
    if (!PyArg_ParseTuple(args, "szii", &text, &machine, &bits, &width))
        return axepy_misread();
    cx = axepy_context(machine);
    if (!cx)
        return NULL;
    m = axe_ctx_mark(cx);
    axe_buf b = {.cx = cx};
    st = axe_layout_read(cx, text, &l);
    if (st == AXE_OK)
        st = width > 0 ? axe_layout_draw(cx, l, bits, width, &b)
                       : axe_layout_svg(cx, l, bits, &b);
    if (st != AXE_OK)
        return finish(cx, st, m, NULL);
    out = PyUnicode_FromStringAndSize(b.text, (Py_ssize_t)b.len);
    return finish(cx, AXE_OK, m, out);
}
