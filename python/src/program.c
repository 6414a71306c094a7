/* program.c - kernels compiled, and what can be asked of them.
 *
 * Each program has a ctx of its own, which whoever uses it locks. */
#include <string.h>

#include "axepy.h"

PyTypeObject *axepy_program_type;

/* ------------------------------------------------------------- arguments */

/* The text of item k of pair i of [(text, text), ...]; NULL: raised. */
static const char *
text_at(PyObject *list, Py_ssize_t i, int k)
{
    PyObject   *pair = PyTuple_GetItem(list, i);
    PyObject   *x = pair ? PyTuple_GetItem(pair, k) : NULL;
    Py_ssize_t  n = 0;
    const char *text = x ? PyUnicode_AsUTF8AndSize(x, &n) : NULL;

    if (text && strlen(text) == (size_t)n)
        return text;
    if (text)
        PyErr_SetString(PyExc_ValueError, "embedded null character");
    axepy_misread();
    return NULL;
}

int
axepy_pairs(axe_ctx *cx, PyObject *pairs, int *n, const char *const **name,
            const char *const **value)
{
    int          count = (int)PyTuple_Size(pairs);
    const char **a, **b;

    if (count < 0)
        return -1;
    a = axe_new_array(cx, const char *, count + 1);
    b = axe_new_array(cx, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        const char *x = text_at(pairs, i, 0),
                   *y = x ? text_at(pairs, i, 1) : NULL;
        if (!y)
            return -1;
        a[i] = axe_textf(cx, "%s", x);
        b[i] = axe_textf(cx, "%s", y);
    }
    *n = count;
    *name = a;
    *value = b;
    return 0;
}

int
axepy_sizes(axe_ctx *cx, PyObject *sizes, axe_size **out)
{
    int n = (int)PyTuple_Size(sizes);

    if (n < 0)
        return -1;
    *out = axe_new_array(cx, axe_size, n + 1);
    for (int i = 0; i < n; i++) {
        const char *name = text_at(sizes, i, 0);
        PyObject   *v =
            name ? PyTuple_GetItem(PyTuple_GetItem(sizes, i), 1) : NULL;
        int over = 0;
        if (!v)
            return -1;
        (*out)[i].name = axe_textf(cx, "%s", name);
        (*out)[i].value = PyLong_AsLongLongAndOverflow(v, &over);
        if (over != 0) {
            axepy_fail(AXE_EOVERFLOW, "size %s does not fit 64 bits", name);
            return -1;
        }
        if (PyErr_Occurred())
            return -1;
    }
    return n;
}

void
axepy_drop_all(int n, axepy_view *view)
{
    for (int i = 0; i < n; i++)
        axepy_view_drop(&view[i]);
}

int
axepy_arrays(PyObject *list, axepy_view *view, axe_array *array)
{
    int n = (int)PyTuple_Size(list);

    if (n > AXEPY_ARRAYS) {
        axepy_fail(AXE_EARG, "%d arrays; there are at most %d", n,
                   AXEPY_ARRAYS);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        PyObject   *pair = PyTuple_GetItem(list, i);
        const char *name = text_at(list, i, 0);
        PyObject   *x = name ? PyTuple_GetItem(pair, 1) : NULL;
        if (!x || axepy_view_get(x, &view[i]) < 0) {
            axepy_drop_all(i, view);
            return -1;
        }
        array[i] = axepy_array(name, &view[i]);
    }
    return n;
}

/* ----------------------------------------------------------- compilation */

static PyObject *
make(axe_ctx *cx, const axe_program *program)
{
    axepy_program *p =
        (axepy_program *)PyType_GenericAlloc(axepy_program_type, 0);

    if (!p) {
        axe_ctx_free(cx);
        return NULL;
    }
    p->cx = cx;
    p->program = program;
    return (PyObject *)p;
}

typedef struct request {
    const char      *name, *text;
    Py_ssize_t       len;
    PyObject        *sets, *orders, *arrays, *hints;
    axe_compile_spec spec;
    int              stage;
} request;

/* Compile, without the GIL; NULL: raised. */
static PyObject *
compile(axe_ctx *cx, request *r)
{
    axepy_view         view[AXEPY_ARRAYS];
    axe_array          array[AXEPY_ARRAYS];
    axe_size          *hint;
    const axe_program *program = NULL;
    axe_mark           m = axe_ctx_mark(cx);
    axe_status         st;
    int                n, n_hint;

    if (axepy_pairs(cx, r->sets, &r->spec.n_set, &r->spec.set_name,
                    &r->spec.set_value) < 0 ||
        axepy_pairs(cx, r->orders, &r->spec.n_order, &r->spec.order_name,
                    &r->spec.order) < 0 ||
        (n_hint = axepy_sizes(cx, r->hints, &hint)) < 0 ||
        (n = axepy_arrays(r->arrays, view, array)) < 0) {
        axe_ctx_free(cx);
        return NULL;
    }
    const char **hint_name = axe_new_array(cx, const char *, n_hint + 1);
    int64_t     *hint_value = axe_new_array(cx, int64_t, n_hint + 1);
    for (int i = 0; i < n_hint; i++) {
        hint_name[i] = hint[i].name;
        hint_value[i] = hint[i].value;
    }
    r->spec.n_hint = n_hint;
    r->spec.hint_name = hint_name;
    r->spec.hint = hint_value;
    Py_BEGIN_ALLOW_THREADS;
    int32_t source = axe_source_add(cx, r->name, r->text, (size_t)r->len);
    st = axe_compile_for(cx, source, &r->spec, n, array, (axe_stage)r->stage,
                         &program);
    Py_END_ALLOW_THREADS;
    for (int i = 0; st != AXE_OK && i < n; i++)
        axepy_advise(cx, array[i].name, &view[i]);
    axepy_drop_all(n, view);
    if (st == AXE_OK && axepy_warn(cx, 0) == 0)
        return make(cx, program);
    if (st != AXE_OK)
        axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return NULL;
}

/* compile(name, text, kernel, machine, sets, orders, arrays, hints, workers,
 * tuned, stage) -> Program */
PyObject *
axepy_compile(PyObject *module, PyObject *args)
{
    request  r = {0};
    axe_ctx *cx;
    int      tuned;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss#szO!O!O!O!ipi", &r.name, &r.text, &r.len,
                          &r.spec.kernel, &r.spec.machine, &PyTuple_Type,
                          &r.sets, &PyTuple_Type, &r.orders, &PyTuple_Type,
                          &r.arrays, &PyTuple_Type, &r.hints, &r.spec.n_worker,
                          &tuned, &r.stage))
        return axepy_misread();
    r.spec.no_tuned = !tuned;
    cx = axe_ctx_new();
    return cx ? compile(cx, &r) : PyErr_NoMemory();
}

/* ------------------------------------------------------------- signatures */

static const char *
access_name(axe_access a)
{
    return a == AXE_READS ? "in" : a == AXE_WRITES ? "out" : "inout";
}

static PyObject *
texts(int n, const char *const *text)
{
    PyObject *out = PyTuple_New(n);

    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, Py_BuildValue("z", text[i]));
    return axepy_whole(out);
}

static PyObject *
signature_of(const axe_signature *s)
{
    PyObject *params = PyTuple_New(s->n_param);

    for (int i = 0; params && i < s->n_param; i++) {
        const axe_declared *p = &s->param[i];
        PyTuple_SetItem(params, i,
                        Py_BuildValue("(sssN)", p->name, access_name(p->access),
                                      p->type, texts(p->rank, p->extent)));
    }
    return Py_BuildValue(
        "(szNNNNN)", s->kernel, s->machine, axepy_whole(params),
        texts(s->n_constant, s->constant), texts(s->n_constant, s->standard),
        texts(s->n_axis, s->axis), texts(s->n_axis, s->axis_size));
}

/* signatures(name, text) -> [(kernel, machine, params, constants, defaults,
 * axes of the mesh, their sizes)] */
PyObject *
axepy_signatures(PyObject *module, PyObject *args)
{
    const char        *name, *text;
    Py_ssize_t         len;
    const char *const *kernel;
    axe_ctx           *cx;
    int                n = 0;
    PyObject          *out = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss#", &name, &text, &len))
        return axepy_misread();
    cx = axe_ctx_new();
    if (!cx)
        return PyErr_NoMemory();
    axe_mark   m = axe_ctx_mark(cx);
    int32_t    source = axe_source_add(cx, name, text, (size_t)len);
    axe_status st = axe_source_kernels(cx, source, &n, &kernel);
    out = st == AXE_OK ? PyList_New(n) : NULL;
    for (int i = 0; out && i < n; i++) {
        axe_signature s;
        st = axe_source_signature(cx, source, kernel[i], &s);
        if (st == AXE_OK)
            PyList_SetItem(out, i, signature_of(&s));
        else
            Py_CLEAR(out);
    }
    if (st != AXE_OK)
        axepy_raise(cx, st, m);
    axe_ctx_free(cx);
    return axepy_whole(out);
}

/* -------------------------------------------------------- what can be asked */

static void
program_free(PyObject *self)
{
    axepy_program *p = (axepy_program *)self;
    PyTypeObject  *type = Py_TYPE(self);

    axe_ctx_free(p->cx);
    axepy_lock_free(&p->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* What is left of a call: text, or an exception; the lock is given back. */
static PyObject *
finish_text(axepy_program *p, axe_status st, const axe_buf *b, axe_mark m)
{
    PyObject *out = NULL;

    if (st == AXE_OK)
        out = PyUnicode_DecodeUTF8(b->text ? b->text : "", (Py_ssize_t)b->len,
                                   "replace");
    else
        axepy_raise(p->cx, st, m);
    axe_ctx_release(p->cx, m);
    axepy_release(&p->lock);
    return out;
}

static bool
is_dialect(const char *name)
{
    const char *one;

    for (int i = 0; axe_dialect_named(i, &one, NULL); i++)
        if (strcmp(name, one) == 0)
            return true;
    return false;
}

/* emit("c"), of a pass, or in a dialect */
static PyObject *
program_emit(PyObject *self, PyObject *args)
{
    static const char *const stage[] = {"ir", "plan", "lower", "c"};
    axepy_program           *p = (axepy_program *)self;
    const char              *name;
    int                      i = 0;

    if (!PyArg_ParseTuple(args, "s", &name) || axepy_acquire(&p->lock) < 0)
        return axepy_misread();
    axe_mark   m = axe_ctx_mark(p->cx);
    axe_buf    b = {.cx = p->cx};
    axe_status st;
    while (i < AXE_N_STAGE && strcmp(stage[i], name) != 0)
        i++;
    if (i < AXE_N_STAGE)
        st = axe_program_emit(p->cx, p->program, (axe_stage)i, &b);
    else if (is_dialect(name))
        st = axe_program_emit_dialect(p->cx, p->program, name, &b);
    else
        st = axe_program_emit_pass(p->cx, p->program, name, &b);
    return finish_text(p, st, &b, m);
}

/* explain(json, sizes) */
static PyObject *
program_explain(PyObject *self, PyObject *args)
{
    axepy_program *p = (axepy_program *)self;
    PyObject      *sizes;
    axe_size      *size;
    int            json, n;

    if (!PyArg_ParseTuple(args, "pO!", &json, &PyTuple_Type, &sizes) ||
        axepy_acquire(&p->lock) < 0)
        return NULL;
    axe_mark m = axe_ctx_mark(p->cx);
    axe_buf  b = {.cx = p->cx};
    n = axepy_sizes(p->cx, sizes, &size);
    if (n < 0) {
        axe_ctx_release(p->cx, m);
        axepy_release(&p->lock);
        return NULL;
    }
    return finish_text(
        p, axe_program_explain(p->cx, p->program, json, n, size, &b), &b, m);
}

static PyObject *
program_params(PyObject *self, void *nothing)
{
    const axe_program *p = ((axepy_program *)self)->program;
    int                n = axe_program_n_param(p);
    PyObject          *out = PyTuple_New(n);

    (void)nothing;
    for (int i = 0; out && i < n; i++) {
        axe_param q = axe_program_param(p, i);
        PyTuple_SetItem(out, i,
                        Py_BuildValue("(sssi)", q.name, access_name(q.access),
                                      q.type, q.rank));
    }
    return axepy_whole(out);
}

static PyObject *
program_sizes(PyObject *self, void *nothing)
{
    const axe_program *p = ((axepy_program *)self)->program;
    int                n = axe_program_n_size(p);
    PyObject          *out = PyTuple_New(n);

    (void)nothing;
    for (int i = 0; out && i < n; i++)
        PyTuple_SetItem(out, i, PyUnicode_FromString(axe_program_size(p, i)));
    return axepy_whole(out);
}

static PyObject *
program_machine(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_BuildValue("z",
                         axe_program_machine(((axepy_program *)self)->program));
}

static PyObject *
program_tuned(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_BuildValue("z",
                         axe_program_tuned(((axepy_program *)self)->program));
}

/* packed(name, shape) -> (type, strides, bytes) */
static PyObject *
program_packed(PyObject *self, PyObject *args)
{
    axepy_program *p = (axepy_program *)self;
    PyObject      *out = NULL, *dims;
    const char    *name;
    int64_t        shape[AXEPY_RANK];
    axe_packed     as;

    if (!PyArg_ParseTuple(args, "sO!", &name, &PyTuple_Type, &dims) ||
        PyTuple_Size(dims) > AXEPY_RANK || axepy_acquire(&p->lock) < 0)
        return axepy_misread();
    int n = (int)PyTuple_Size(dims);
    for (int i = 0; i < n; i++)
        shape[i] = PyLong_AsLongLong(PyTuple_GetItem(dims, i));
    axe_mark   m = axe_ctx_mark(p->cx);
    axe_status st = axe_packed_of(p->cx, p->program, name, shape, &as);
    if (st == AXE_OK)
        out = Py_BuildValue("sNn", as.type, axepy_tuple(n, as.stride),
                            (Py_ssize_t)as.bytes);
    else
        axepy_raise(p->cx, st, m);
    axe_ctx_release(p->cx, m);
    axepy_release(&p->lock);
    return out;
}

/* pack(((name, array),), memory), of as many bytes as packed() has said */
static PyObject *
program_pack(PyObject *self, PyObject *args)
{
    axepy_program *p = (axepy_program *)self;
    PyObject      *arrays, *memory;
    axepy_view     view[AXEPY_ARRAYS], to;
    axe_array      array[AXEPY_ARRAYS];
    axe_status     st;

    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &arrays, &memory))
        return NULL;
    int n = axepy_arrays(arrays, view, array);
    if (n < 0)
        return NULL;
    if (axepy_view_get(memory, &to) < 0) {
        axepy_drop_all(n, view);
        return NULL;
    }
    if (axepy_acquire(&p->lock) == 0) {
        axe_mark m = axe_ctx_mark(p->cx);
        st = axe_matrix_pack(p->cx, p->program, &array[0], to.data);
        if (st != AXE_OK)
            axepy_raise(p->cx, st, m);
        axe_ctx_release(p->cx, m);
        axepy_release(&p->lock);
    }
    axepy_view_drop(&to);
    axepy_drop_all(n, view);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyGetSetDef program_gets[] = {
    {"params", program_params, NULL, "((name, access, type, rank), ...)", NULL},
    {"sizes", program_sizes, NULL, "names of its runtime sizes", NULL},
    {"machine", program_machine, NULL, "what it was planned for", NULL},
    {"tuned", program_tuned, NULL, "where tuned values came from", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef program_methods[] = {
    {"emit", program_emit, METH_VARARGS, "the text of a stage or pass"},
    {"explain", program_explain, METH_VARARGS, "the plan, as text or JSON"},
    {"shapes", axepy_program_shapes, METH_VARARGS, "shapes of all parameters"},
    {"packed", program_packed, METH_VARARGS, "what a packed matrix needs"},
    {"pack", program_pack, METH_VARARGS, "lay a matrix out"},
    {"work", axepy_program_work, METH_VARARGS, "operations and bytes"},
    {"simulate", axepy_program_simulate, METH_VARARGS, "a GPU's, on the host"},
    {"mesh_launch", axepy_mesh_launch, METH_VARARGS, "on devices of a mesh"},
    {"mesh_time", axepy_mesh_time, METH_VARARGS, "timed"},
    {"mesh_check", axepy_mesh_check, METH_VARARGS, "beside the reference"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot program_slots[] = {{Py_tp_dealloc, program_free},
                                      {Py_tp_getset, program_gets},
                                      {Py_tp_methods, program_methods},
                                      {0, NULL}};
static PyType_Spec program_spec = {"axe._axe.Program", sizeof(axepy_program), 0,
                                   Py_TPFLAGS_DEFAULT, program_slots};

int
axepy_add_program(PyObject *module)
{
    axepy_program_type = (PyTypeObject *)PyType_FromSpec(&program_spec);
    if (!axepy_program_type)
        return -1;
    Py_INCREF(axepy_program_type);
    return PyModule_AddObject(module, "Program",
                              (PyObject *)axepy_program_type);
}
