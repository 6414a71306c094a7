/* layout.c - layout expressions: text and named values in, values out.
 *
 * A layout is its text, which reads back to the same layout; so an object of
 * Python's holds no memory of a ctx.  One ctx for each machine serves all,
 * under the GIL, and is released to where it was after every call. */
#include <string.h>

#include "axe/machine.h"
#include "axepy.h"

enum { MAX_MACHINE = 16 };

static struct {
    const char *machine; /* NULL: none */
    axe_ctx    *cx;
} contexts[MAX_MACHINE];

/* The machine's ctx; NULL: raised. */
static axe_ctx *
context_of(const char *machine)
{
    const axe_axis_table *t = machine ? axe_machine_axes(machine) : NULL;
    axe_mark              m;
    int                   i = 0;

    if (machine && !t) {
        axepy_fail(AXE_ENAME, "there is no machine '%s'", machine);
        return NULL;
    }
    while (i < MAX_MACHINE && contexts[i].cx &&
           contexts[i].machine != (t ? t->machine : NULL))
        i++;
    if (i == MAX_MACHINE)
        i--;
    if (contexts[i].cx && contexts[i].machine == (t ? t->machine : NULL))
        return contexts[i].cx;
    if (contexts[i].cx)
        axe_ctx_free(contexts[i].cx);
    contexts[i].cx = axe_ctx_new();
    contexts[i].machine = t ? t->machine : NULL;
    if (!contexts[i].cx) {
        PyErr_NoMemory();
        return NULL;
    }
    m = axe_ctx_mark(contexts[i].cx);
    if (t && axe_axes_load(contexts[i].cx, t) != AXE_OK) {
        axepy_raise(contexts[i].cx, AXE_ENAME, m);
        return NULL;
    }
    axe_axes_open(contexts[i].cx, true);
    return contexts[i].cx;
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

static PyObject *
tuple_of(int n, const int64_t *v)
{
    PyObject *out = PyTuple_New(n);

    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, PyLong_FromLongLong(v[i]));
    return out;
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
            PyDict_SetItemString(point, axe_axis_name(cx, p->axis[a]), c);
            Py_XDECREF(c);
        }
        PyList_SetItem(out, i, point);
    }
    return out;
}

static PyObject *
value_of(axe_ctx *cx, const axe_value *v)
{
    switch (v->kind) {
    case AXE_VALUE_LAYOUT: {
        axe_shape s = axe_layout_shape(cx, v->layout);
        return Py_BuildValue("(ssNL)", "layout", axe_layout_text(cx, v->layout),
                             tuple_of(s.n, s.extent),
                             (long long)v->layout->size);
    }
    case AXE_VALUE_INT:
        return Py_BuildValue("(sL)", "int", (long long)v->integer);
    case AXE_VALUE_BOOL:
        return Py_BuildValue("(sO)", "bool", v->truth ? Py_True : Py_False);
    case AXE_VALUE_SHAPE:
        return Py_BuildValue("(sN)", "shape",
                             tuple_of(v->shape.n, v->shape.extent));
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
    PyObject   *out;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!z", &text, &PyDict_Type, &n.dict, &machine))
        return NULL;
    n.cx = context_of(machine);
    if (!n.cx)
        return NULL;
    m = axe_ctx_mark(n.cx);
    st = axe_expr_eval(n.cx, "layout", text,
                       &(axe_expr_env){.user = &n,
                                       .constant = constant_named,
                                       .layout = layout_named},
                       &v);
    if (st != AXE_OK)
        return axepy_raise(n.cx, st, m);
    out = value_of(n.cx, &v);
    axe_ctx_release(n.cx, m);
    return out;
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
    return out;
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
    return out;
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
        return NULL;
    cx = context_of(machine);
    if (!cx)
        return NULL;
    m = axe_ctx_mark(cx);
    st = axe_layout_read(cx, text, &l);
    if (st != AXE_OK)
        return axepy_raise(cx, st, m);
    dims = PyTuple_New(l->n_dim);
    for (int i = 0; dims && i < l->n_dim; i++)
        PyTuple_SetItem(
            dims, i,
            PyLong_FromLong(l->dim_end[i] - (i > 0 ? l->dim_end[i - 1] : 0)));
    out = Py_BuildValue("(NNNN(iiii))", iters_of(cx, l->n_shard, l->shard),
                        iters_of(cx, l->n_replica, l->replica),
                        offsets_of(cx, l->n_offset, l->offset), dims,
                        l->swizzle.bits, l->swizzle.base, l->swizzle.shift,
                        l->swizzle.unit_bits);
    axe_ctx_release(cx, m);
    return out;
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
    return out;
}
