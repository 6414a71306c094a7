/* caller.c - calling a kernel on arrays.
 *
 * A call is known by its key: the device and of each argument its class, its
 * elements' type, shape, strides and where it is.  What was found out for a
 * key, which program, which launch, how results are made, is kept, so that the
 * next call looks at nothing but addresses (entry.c). */
#include <string.h>

#include "call.h"

typedef struct caller {
    PyObject_HEAD entries known;
    PyObject             *input, *output; /* tuples of names, or NULL */
} caller;

/* The device of this thread, or else of all. */
static _Thread_local PyObject *thread_device;
static PyObject               *main_device;

/* -------------------------------------------------------------------- keys */

static void
put_word(request *r, int64_t w)
{
    r->word[r->n_word++] = w;
    r->hash = (r->hash ^ (uint64_t)w) * UINT64_C(0x9e3779b97f4a7c15);
    r->hash ^= r->hash >> 29;
}

/* The class says whose arrays the results are, so it belongs to the key. */
static void
put_view(request *r, const axepy_view *v, PyObject *x)
{
    int64_t type = 0;

    if (v->by != AXEPY_NUMBER)
        put_word(r, (int64_t)(intptr_t)Py_TYPE(x));
    memcpy(&type, v->type, strlen(v->type) < 6 ? strlen(v->type) : 6);
    put_word(r, type << 8 | v->rank << 1 | (v->by == AXEPY_NUMBER));
    put_word(r, (int64_t)v->number << 8 | v->device);
    for (int i = 0; i < v->rank; i++) {
        put_word(r, v->shape[i]);
        put_word(r, v->stride[i]);
    }
}

static int
add_view(request *r, PyObject *x)
{
    if (r->n_view == AXEPY_ARRAYS) {
        axepy_fail(AXE_EARG, "there are at most %d arrays", AXEPY_ARRAYS);
        return -1;
    }
    if (axepy_view_get(x, &r->view[r->n_view]) < 0)
        return -1;
    put_view(r, &r->view[r->n_view++], x);
    return 0;
}

/* Views of all that is given; -1: raised. */
static int
look(request *r)
{
    put_word(r, (int64_t)(intptr_t)r->device);
    r->n_arg = (int)PyTuple_Size(r->args);
    for (int i = 0; i < r->n_arg; i++)
        if (add_view(r, PyTuple_GetItem(r->args, i)) < 0)
            return -1;
    if (!r->out)
        return 0;
    r->n_out = PyTuple_Check(r->out) ? (int)PyTuple_Size(r->out) : 1;
    put_word(r, -1 - r->n_out);
    for (int i = 0; i < r->n_out; i++)
        if (add_view(r, PyTuple_Check(r->out) ? PyTuple_GetItem(r->out, i)
                                              : r->out) < 0)
            return -1;
    return 0;
}

static void
drop_views(request *r)
{
    axepy_drop_all(r->n_view, r->view);
    for (int i = 0; i < r->n_made; i++)
        Py_DECREF(r->made[i]);
}

/* ----------------------------------------------------------------- running */

/* Arrays that are not given. */
static int
make_arrays(const entry *e, request *r)
{
    for (int i = 0; i < e->n_alloc; i++) {
        PyObject *x = PyObject_CallObject(PyTuple_GetItem(e->alloc, i), NULL);
        if (!x)
            return -1;
        r->made[r->n_made++] = x;
        if (r->n_view == AXEPY_ARRAYS) {
            axepy_fail(AXE_EARG, "there are at most %d arrays", AXEPY_ARRAYS);
            return -1;
        }
        if (axepy_view_get(x, &r->view[r->n_view]) < 0)
            return -1;
        r->n_view++;
    }
    return 0;
}

/* May be written what is; numbers become elements. */
static int
check_views(const entry *e, request *r, int64_t *number)
{
    if (r->n_view != e->n_view) {
        axepy_fail(AXE_EARG, "%d arrays where %d are bound", r->n_view,
                   e->n_view);
        return -1;
    }
    for (int i = 0; i < r->n_view; i++) {
        axepy_view *v = &r->view[i];
        if (v->by == AXEPY_NUMBER) {
            if (!e->number[i] || e->written[i]) {
                axepy_fail(AXE_ETYPE, "%s is an array, not a number",
                           e->name[i]);
                return -1;
            }
            if (axepy_number(v, e->number[i], &number[i]) < 0)
                return -1;
            v->data = &number[i];
            v->type = e->number[i];
        } else if (v->readonly && e->written[i]) {
            axepy_fail(AXE_EARG,
                       "%s is written, but the array given for it is read-only",
                       e->name[i]);
            return -1;
        }
    }
    return 0;
}

static int
arrays_of(const entry *e, const request *r, axe_array *out)
{
    for (int i = 0; i < r->n_view; i++)
        out[i] = axepy_array(e->name[i], &r->view[i]);
    return r->n_view;
}

static axe_status
new_call(entry *e, const request *r)
{
    axe_array array[AXEPY_ARRAYS];
    int       n = arrays_of(e, r, array);

    axe_call_free(e->call);
    e->call = NULL;
    return axe_call_new(e->exec->program->cx, e->exec->cpu, n, array, e->n_size,
                        e->size, &e->call);
}

/* On the CPU, the locks held, without the GIL.  Numbers that sizes follow from
 * are no part of the key: a call for others is made anew. */
static axe_status
run_cpu(entry *e, const request *r)
{
    axe_ctx   *cx = e->exec->program->cx;
    axe_mark   m = axe_ctx_mark(cx);
    void      *data[AXEPY_ARRAYS] = {0};
    axe_status st;

    if (!e->call)
        AXE_TRY(new_call(e, r));
    for (int i = 0; i < r->n_view; i++)
        data[e->param[i]] = r->view[i].data;
    st = axe_call_run_at(cx, e->call, data);
    if (st != AXE_ESHAPE)
        return st;
    axe_ctx_release(cx, m);
    AXE_TRY(new_call(e, r));
    return axe_call_run(cx, e->call);
}

static axe_status
run_gpu(const entry *e, const request *r, void *stream)
{
    axepy_exec *x = e->exec;
    axe_array   array[AXEPY_ARRAYS];
    int         n = arrays_of(e, r, array);

    return axe_gpu_launch(x->program->cx, x->gpu, n, array, e->n_size, e->size,
                          stream);
}

/* The stream that the arrays' framework uses now, behind what others have
 * started; false: raised. */
static bool
stream_of(const entry *e, const request *r, void **out)
{
    PyObject *x;

    *out = NULL;
    if (e->stream == Py_None)
        return true;
    x = PyObject_CallFunctionObjArgs(e->stream, r->args,
                                     r->out ? r->out : Py_None, NULL);
    if (x)
        *out = PyLong_AsVoidPtr(x);
    Py_XDECREF(x);
    return !PyErr_Occurred();
}

static int
run(entry *e, request *r)
{
    axepy_program *p = e->exec->program;
    axepy_device  *d = e->exec->device;
    void          *stream;
    axe_status     st;
    axe_mark       m;

    if (!stream_of(e, r, &stream) || axepy_acquire(&d->lock) < 0)
        return -1;
    if (axepy_acquire(&p->lock) < 0) {
        axepy_release(&d->lock);
        return -1;
    }
    m = axe_ctx_mark(p->cx);
    Py_BEGIN_ALLOW_THREADS;
    st = d->cpu ? run_cpu(e, r) : run_gpu(e, r, stream);
    Py_END_ALLOW_THREADS;
    if (st != AXE_OK) {
        for (int i = 0; i < r->n_view; i++)
            axepy_advise(p->cx, e->name[i], &r->view[i]);
        axepy_raise(p->cx, st, m);
    }
    axepy_release(&p->lock);
    axepy_release(&d->lock);
    return st == AXE_OK ? 0 : -1;
}

/* View i as an object; a new reference. */
static PyObject *
object_of(const entry *e, const request *r, int i)
{
    PyObject *x;

    if (i < r->n_arg + r->n_out)
        x = axepy_given(r, i);
    else {
        x = r->made[i - r->n_arg - r->n_out];
        if (e->wrap != Py_None)
            return PyObject_CallFunctionObjArgs(e->wrap, x, NULL);
    }
    Py_INCREF(x);
    return x;
}

static PyObject *
result_of(const entry *e, const request *r)
{
    PyObject *out;

    if (e->n_result == 1)
        return object_of(e, r, e->result[0]);
    out = PyTuple_New(e->n_result);
    for (int i = 0; out && i < e->n_result; i++) {
        PyObject *x = object_of(e, r, e->result[i]);
        if (!x) {
            Py_DECREF(out);
            return NULL;
        }
        PyTuple_SetItem(out, i, x);
    }
    return out;
}

static PyObject *
call(PyObject *self, request *r)
{
    caller   *c = (caller *)self;
    entry    *e;
    PyObject *out = NULL;
    int64_t   number[AXEPY_ARRAYS];

    if (look(r) < 0)
        return NULL;
    e = axepy_entries_find(&c->known, r);
    bool fresh = !e;
    if (fresh)
        e = axepy_bind(self, r);
    if (e && make_arrays(e, r) == 0 && check_views(e, r, number) == 0 &&
        run(e, r) == 0)
        out = result_of(e, r);
    if (out && fresh && axepy_entries_keep(&c->known, e) < 0)
        Py_CLEAR(out);
    if (e)
        axepy_entry_drop(e);
    return out;
}

/* ---------------------------------------------------------------- the type */

/* The device in use, borrowed; made by the class where there is none. */
static PyObject *
device_in_use(PyObject *self)
{
    if (thread_device)
        return thread_device;
    if (!main_device)
        main_device = PyObject_CallMethod(self, "_new_device", NULL);
    return main_device;
}

static PyObject *
call_placed(PyObject *self, PyObject *args, PyObject *out)
{
    request   r;
    PyObject *result;

    r.args = args;
    r.out = out;
    r.device = device_in_use(self);
    if (!r.device)
        return NULL;
    r.n_arg = r.n_out = r.n_view = r.n_made = r.n_word = 0;
    r.hash = 0;
    Py_INCREF(r.device);
    result = call(self, &r);
    drop_views(&r);
    Py_DECREF(r.device);
    return result;
}

/* What has those names from the i-th on, behind what is given; a new tuple, or
 * NULL if it is not all there. */
static PyObject *
place(PyObject *given, PyObject *names, PyObject *kw)
{
    Py_ssize_t n_given = given ? PyTuple_Size(given) : 0;
    Py_ssize_t n = PyTuple_Size(names);
    PyObject  *out = n_given <= n ? PyTuple_New(n) : NULL;

    for (Py_ssize_t i = 0; out && i < n; i++) {
        PyObject *x = i < n_given
                          ? PyTuple_GetItem(given, i)
                          : PyDict_GetItem(kw, PyTuple_GetItem(names, i));
        if (!x)
            Py_CLEAR(out);
        else {
            Py_INCREF(x);
            PyTuple_SetItem(out, i, x);
        }
    }
    return out;
}

/* A call with names of parameters and out= alone, and all of them.  false: it
 * is another one, or a wrong one, nothing raised. */
static bool
call_named(caller *c, PyObject *args, PyObject *kw, PyObject *out,
           PyObject **result)
{
    Py_ssize_t n_given = PyTuple_Size(args), n_named = PyDict_Size(kw);
    Py_ssize_t n_in = PyTuple_Size(c->input), n_out = PyTuple_Size(c->output);
    PyObject  *in, *outs = NULL;
    bool       all;

    n_named -= n_in - n_given + (out != NULL);
    in = n_named == 0 || (n_named == n_out && !out) ? place(args, c->input, kw)
                                                    : NULL;
    if (in && n_named > 0)
        outs = place(NULL, c->output, kw);
    all = in && (n_named == 0 || outs);
    PyErr_Clear();
    if (all)
        *result = call_placed((PyObject *)c, in,
                              outs && n_out == 1 ? PyTuple_GetItem(outs, 0)
                              : outs             ? outs
                                                 : out);
    Py_XDECREF(in);
    Py_XDECREF(outs);
    return all;
}

static PyObject *
caller_call(PyObject *self, PyObject *args, PyObject *kw)
{
    static PyObject *out_name;
    PyObject        *out, *method, *result;

    if (!kw || PyDict_Size(kw) == 0)
        return call_placed(self, args, NULL);
    if (!out_name)
        out_name = PyUnicode_InternFromString("out");
    out = out_name ? PyDict_GetItem(kw, out_name) : NULL;
    if (out && out != Py_None && PyDict_Size(kw) == 1)
        return call_placed(self, args, out);
    if (((caller *)self)->input && out != Py_None &&
        call_named((caller *)self, args, kw, out, &result))
        return result;
    method = PyObject_GetAttrString(self, "_keywords");
    result = method ? PyObject_Call(method, args, kw) : NULL;
    Py_XDECREF(method);
    return result;
}

static void
caller_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    axepy_entries_forget(&((caller *)self)->known);
    Py_XDECREF(((caller *)self)->input);
    Py_XDECREF(((caller *)self)->output);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *
caller_forget(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    axepy_entries_forget(&((caller *)self)->known);
    Py_RETURN_NONE;
}

/* _name(inputs, outputs), once */
static PyObject *
caller_name(PyObject *self, PyObject *args)
{
    caller   *c = (caller *)self;
    PyObject *input, *output;

    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &input, &PyTuple_Type,
                          &output))
        return NULL;
    if (c->input)
        return axepy_fail(AXE_EARG, "the parameters have names already");
    Py_INCREF(input);
    Py_INCREF(output);
    c->input = input;
    c->output = output;
    Py_RETURN_NONE;
}

static PyObject *
caller_known(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromLong(((caller *)self)->known.n_entry);
}

/* swap_device(device or None, of_thread) -> what it was */
static PyObject *
swap_device(PyObject *type, PyObject *args)
{
    PyObject *d, **at, *was;
    int       of_thread;

    (void)type;
    if (!PyArg_ParseTuple(args, "Op", &d, &of_thread))
        return NULL;
    if (d != Py_None && !PyObject_TypeCheck(d, axepy_device_type))
        return axepy_fail(AXE_EARG, "%R is no device", d);
    at = of_thread ? &thread_device : &main_device;
    was = *at ? *at : Py_None;
    if (!*at)
        Py_INCREF(was);
    *at = d == Py_None ? NULL : d;
    if (*at)
        Py_INCREF(d);
    return was;
}

static PyObject *
caller_device(PyObject *self, PyObject *nothing)
{
    PyObject *d = device_in_use(self);

    (void)nothing;
    Py_XINCREF(d);
    return d;
}

static PyMethodDef caller_methods[] = {
    {"_device_in_use", caller_device, METH_NOARGS, "of this thread, or of all"},
    {"_forget", caller_forget, METH_NOARGS, "drop what earlier calls found"},
    {"_name", caller_name, METH_VARARGS, "names of inputs and of outputs"},
    {"_swap_device", swap_device, METH_VARARGS | METH_STATIC,
     "(device or None, of this thread?) -> what it was"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef caller_gets[] = {
    {"_known", caller_known, NULL, "keys of calls that are kept", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot caller_slots[] = {{Py_tp_call, caller_call},
                                     {Py_tp_dealloc, caller_free},
                                     {Py_tp_methods, caller_methods},
                                     {Py_tp_getset, caller_gets},
                                     {0, NULL}};
static PyType_Spec caller_spec = {"axe._axe.Caller", sizeof(caller), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                  caller_slots};

int
axepy_add_caller(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&caller_spec);

    if (!type)
        return -1;
    return PyModule_AddObject(module, "Caller", type);
}
