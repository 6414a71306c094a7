/* view.c - arrays of any kind as axe has them, without a copy.
 *
 * Numbers stand for arrays of rank 0 (number.c).  Else the buffer protocol is
 * tried, then DLPack; NumPy arrays of types that NumPy does not know itself
 * (ml_dtypes) have neither, and are looked at as integers of the same width.
 * Whatever says that an array must not be written is kept. */
#include <string.h>

#include "axepy.h"

int  PyObject_CheckBuffer(PyObject *x);
int  PyObject_GetBuffer(PyObject *x, axepy_buffer *out, int flags);
void PyBuffer_Release(axepy_buffer *b);

enum { BUFFER_FORMAT = 0x4, BUFFER_STRIDES = 0x18 };

static void
fail_type(const char *what, const char *name)
{
    const char *way = "convert the array to one of f64 f32 f16 bf16 f8, "
                      "integers or bool";

    if (*name == '>' || *name == '!')
        way = "x.astype(x.dtype.newbyteorder('=')) has the order of this "
              "machine's bytes";
    else if (strcmp(name, "2x") == 0)
        way = "if its bytes are bf16, x.view(ml_dtypes.bfloat16) says so";
    axepy_fail(AXE_ETYPE, "there is no element type for %s '%.100s'; %s", what,
               name, way);
}

/* ----------------------------------------------------------------- buffers */

/* The element type of a buffer's format; NULL: none of ours. */
static const char *
type_of_format(const char *format, Py_ssize_t size)
{
    static const char *const        sign[] = {"i8", "i16", "i32", "i64"},
                             *const unsign[] = {"u8", "u16", "u32", "u64"};
    int                             width = size == 1   ? 0
                                            : size == 2 ? 1
                                            : size == 4 ? 2
                                            : size == 8 ? 3
                                                        : -1;

    if (!format)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    if (*format == '\0' || format[1] != '\0' || width < 0)
        return NULL;
    if (strchr("bhilqn", *format))
        return sign[width];
    if (strchr("BHILQN", *format))
        return unsign[width];
    return *format == 'f'   ? "f32"
           : *format == 'd' ? "f64"
           : *format == 'e' ? "f16"
           : *format == '?' ? "bool"
                            : NULL;
}

/* Shape and strides of a buffer, in elements; -1: raised. */
static int
take_buffer(axepy_view *out)
{
    const axepy_buffer *b = &out->buffer;

    if (b->ndim > AXEPY_RANK) {
        axepy_fail(AXE_EARG, "an array of %d dimensions; there are at most %d",
                   b->ndim, AXEPY_RANK);
        return -1;
    }
    out->rank = b->ndim;
    for (int i = 0; i < b->ndim; i++) {
        out->shape[i] = b->shape[i];
        out->stride[i] = b->strides[i] / b->itemsize;
        if (b->strides[i] % b->itemsize != 0 && b->shape[i] > 1) {
            axepy_fail(AXE_ESHAPE,
                       "dimension %d has a stride of %zd bytes, which is no "
                       "multiple of its elements' %zd; np.ascontiguousarray "
                       "makes a copy without",
                       i, b->strides[i], b->itemsize);
            return -1;
        }
    }
    out->by = AXEPY_BUFFER;
    out->device = AXE_DLPACK_CPU;
    out->number = 0;
    out->readonly = b->readonly;
    out->data = b->buf;
    return 0;
}

/* 1: it has none that can be read, nothing raised. */
static int
get_buffer(PyObject *x, const char *type, axepy_view *out)
{
    if (PyObject_GetBuffer(x, &out->buffer, BUFFER_FORMAT | BUFFER_STRIDES) < 0)
        return 1;
    out->type =
        type ? type : type_of_format(out->buffer.format, out->buffer.itemsize);
    if (!out->type)
        fail_type("the buffer format",
                  out->buffer.format ? out->buffer.format : "");
    if (out->type && take_buffer(out) == 0) {
        Py_INCREF(x);
        out->owner = x;
        return 0;
    }
    PyBuffer_Release(&out->buffer);
    return -1;
}

/* ------------------------------------------------------- types of ml_dtypes */

static const struct {
    const char *name, *type, *as;
} named_types[] = {
    {"bfloat16", "bf16", "u2"},
    {"float8_e4m3fn", "f8e4m3", "u1"},
    {"float8_e5m2", "f8e5m2", "u1"},
    {"float8_e8m0fnu", "f8e8m0", "u1"},
};

/* An array whose dtype has a name that we know, as integers; 1: it is none. */
static int
get_named(PyObject *x, axepy_view *out)
{
    PyObject   *dtype = PyObject_GetAttrString(x, "dtype"), *name = NULL, *as;
    const char *text;
    int         result = 1;

    if (dtype)
        name = PyObject_GetAttrString(dtype, "name");
    Py_XDECREF(dtype);
    text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    PyErr_Clear();
    for (size_t i = 0; text && i < sizeof named_types / sizeof named_types[0];
         i++) {
        if (strcmp(text, named_types[i].name) != 0)
            continue;
        as = PyObject_CallMethod(x, "view", "s", named_types[i].as);
        if (as)
            result = get_buffer(as, named_types[i].type, out);
        else
            PyErr_Clear();
        Py_XDECREF(as);
        break;
    }
    if (result == 1 && text && !PyObject_HasAttrString(x, "__dlpack__")) {
        fail_type("the dtype", text);
        result = -1;
    }
    Py_XDECREF(name);
    return result;
}

/* ------------------------------------------------------------------ DLPack */

typedef struct managed {
    axe_dlpack tensor;
    void      *manager;
    void (*drop)(struct managed *);
} managed;

typedef struct versioned {
    uint32_t major, minor;
    void    *manager;
    void (*drop)(struct versioned *);
    uint64_t   flags; /* 1: read only */
    axe_dlpack tensor;
} versioned;

enum { READ_ONLY = 1 };

/* The exporter has said why as a BufferError: an Error with its words. */
static void
refused(PyObject *x)
{
    PyObject *type, *why, *trace;

    PyErr_Fetch(&type, &why, &trace);
    axepy_fail(AXE_EARG, "%R cannot be had by DLPack: %S",
               (PyObject *)Py_TYPE(x), why ? why : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(why);
    Py_XDECREF(trace);
}

/* Objects of exactly this type give their capsules by this function quicker
 * than by their method; None: not this one.  NULL: there is no such type. */
static PyObject *quick_type, *quick_capsule;

PyObject *
axepy_set_exporter(PyObject *module, PyObject *args)
{
    PyObject *type, *capsule, *was[] = {quick_type, quick_capsule};

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &type, &capsule))
        return NULL;
    Py_INCREF(type);
    Py_INCREF(capsule);
    quick_type = type;
    quick_capsule = capsule;
    Py_XDECREF(was[0]);
    Py_XDECREF(was[1]);
    Py_RETURN_NONE;
}

/* Calls run on the current stream of these, so that nothing must be waited for.
 */
static bool
has_own_stream(PyObject *x)
{
    static const char *const whose[] = {"torch", "cupy"};
    PyObject                *name =
        PyObject_GetAttrString((PyObject *)Py_TYPE(x), "__module__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool        has = false;

    for (size_t i = 0; text && i < sizeof whose / sizeof whose[0]; i++) {
        size_t n = strlen(whose[i]);
        has = has || (strncmp(text, whose[i], n) == 0 &&
                      (text[n] == '\0' || text[n] == '.'));
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return has;
}

/* The number by DLPack of the stream that an array of a GPU will be used on: -1
 * is whichever its framework is on, 1 the default one.  None: not of a GPU. */
static PyObject *
usual_stream(PyObject *x)
{
    PyObject *on = PyObject_CallMethod(x, "__dlpack_device__", NULL);
    int       type = 0, number;

    if (!on || !PyTuple_Check(on) ||
        !PyArg_ParseTuple(on, "ii", &type, &number))
        PyErr_Clear();
    Py_XDECREF(on);
    if (type != AXE_DLPACK_CUDA)
        return Py_INCREF(Py_None), Py_None;
    return PyLong_FromLong(has_own_stream(x) ? -1 : 1);
}

/* The exporter's capsule, of the newest version that it has. */
static PyObject *
get_capsule(PyObject *x)
{
    PyObject *method = PyObject_GetAttrString(x, "__dlpack__"), *out = NULL;
    PyObject *args = PyTuple_New(0), *stream = usual_stream(x);
    PyObject *kw = Py_BuildValue("{s(ii)}", "max_version", 1, 1);

    if (method && args && stream && kw) {
        if (stream != Py_None)
            PyDict_SetItemString(kw, "stream", stream);
        out = PyObject_Call(method, args, kw);
        if (!out && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            PyDict_DelItemString(kw, "max_version");
            out = PyObject_Call(method, args, kw);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(args);
    Py_XDECREF(stream);
    Py_XDECREF(kw);
    if (!out && PyErr_ExceptionMatches(PyExc_BufferError))
        refused(x);
    return out;
}

static const axe_dlpack *
take_capsule(PyObject *capsule, axepy_view *out)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        versioned *v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->major != 1) {
            axepy_fail(AXE_EUNSUPPORTED, "an array by DLPack %u.%u; 1 is known",
                       (unsigned)v->major, (unsigned)v->minor);
            return NULL;
        }
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        out->by = AXEPY_VERSIONED;
        out->managed = v;
        out->readonly = v->flags & READ_ONLY;
        return &v->tensor;
    }
    managed *d = PyCapsule_GetPointer(capsule, "dltensor");
    if (!d)
        return NULL;
    PyCapsule_SetName(capsule, "used_dltensor");
    out->by = AXEPY_DLPACK;
    out->managed = d;
    out->readonly = false;
    return &d->tensor;
}

/* What axe says of the tensor, kept in the view. */
static int
read_tensor(const axe_dlpack *t, axepy_view *out)
{
    static axe_ctx *cx;
    axe_array       a;
    axe_mark        m;
    axe_status      st;
    int64_t         step = 1;

    if (!cx)
        cx = axe_ctx_new();
    if (!cx) {
        PyErr_NoMemory();
        return -1;
    }
    m = axe_ctx_mark(cx);
    st = axe_array_of_dlpack(cx, "the array", t, t->device.type, &a);
    if (st == AXE_EDEVICE && t->rank == 0)
        axe_help(cx, "the host hands numbers over: x.item() brings one there");
    if (st != AXE_OK) {
        axepy_raise(cx, st, m);
        return -1;
    }
    out->type = a.type;
    out->rank = a.rank;
    out->device = t->device.type == AXE_DLPACK_CUDA_HOST ? AXE_DLPACK_CPU
                                                         : t->device.type;
    out->number = t->device.number;
    out->data = a.data;
    for (int i = a.rank - 1; i >= 0; i--) {
        out->shape[i] = a.shape[i];
        out->stride[i] = a.stride ? a.stride[i] : step;
        step *= a.shape[i] > 0 ? a.shape[i] : 1;
    }
    axe_ctx_release(cx, m);
    return 0;
}

static int
get_dlpack(PyObject *x, axepy_view *out)
{
    PyObject *capsule = NULL;

    if ((PyObject *)Py_TYPE(x) == quick_type) {
        capsule = PyObject_CallFunctionObjArgs(quick_capsule, x, NULL);
        if (!capsule)
            return -1;
        if (capsule == Py_None)
            Py_CLEAR(capsule);
    }
    if (!capsule)
        capsule = get_capsule(x);
    const axe_dlpack *t = capsule ? take_capsule(capsule, out) : NULL;

    Py_XDECREF(capsule);
    if (!t)
        return -1;
    Py_INCREF(x);
    out->owner = x;
    if (read_tensor(t, out) == 0)
        return 0;
    axepy_view_drop(out);
    return -1;
}

/* ------------------------------------------------------------------ packed */

/* Matrices that Kernel.pack has laid out: _packed is (type, extents, strides,
 * memory), kept alive as one; 1: it is none. */
static int
get_packed(PyObject *x, axepy_view *out)
{
    PyObject *as = PyObject_GetAttrString(x, "_packed"), *n, *step, *memory;

    if (!as) {
        PyErr_Clear();
        return 1;
    }
    if (!PyArg_ParseTuple(as, "sO!O!O", &out->type, &PyTuple_Type, &n,
                          &PyTuple_Type, &step, &memory) ||
        PyObject_GetBuffer(memory, &out->buffer,
                           BUFFER_FORMAT | BUFFER_STRIDES) < 0) {
        Py_DECREF(as);
        return -1;
    }
    out->by = AXEPY_BUFFER;
    out->owner = as;
    out->device = AXE_DLPACK_CPU;
    out->number = 0;
    out->readonly = true;
    out->data = out->buffer.buf;
    out->rank = (int)PyTuple_Size(n);
    for (int i = 0; i < out->rank && i < AXEPY_RANK; i++) {
        out->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(n, i));
        out->stride[i] = PyLong_AsLongLong(PyTuple_GetItem(step, i));
    }
    return 0;
}

/* --------------------------------------------------------------- the whole */

int
axepy_view_get(PyObject *x, axepy_view *out)
{
    int got = 1;

    if (PyLong_Check(x) || PyFloat_CheckExact(x))
        return axepy_number_get(x, out);
    if ((PyObject *)Py_TYPE(x) == quick_type)
        return get_dlpack(x, out);
    if (PyObject_CheckBuffer(x))
        got = get_buffer(x, NULL, out);
    if (got == 0 && out->rank == 0)
        return axepy_scalar_get(x, out);
    if (got <= 0)
        return got;
    PyErr_Clear();
    got = get_packed(x, out);
    if (got <= 0)
        return got;
    got = get_named(x, out);
    if (got <= 0)
        return got;
    if (PyObject_HasAttrString(x, "__dlpack__"))
        return get_dlpack(x, out);
    axepy_fail(AXE_ETYPE,
               "%R is no array: it has neither the buffer protocol nor "
               "__dlpack__; np.asarray makes one of numbers in lists",
               (PyObject *)Py_TYPE(x));
    return -1;
}

void
axepy_view_drop(axepy_view *v)
{
    if (!v->owner)
        return;
    if (v->by == AXEPY_BUFFER)
        PyBuffer_Release(&v->buffer);
    if (v->by == AXEPY_DLPACK && ((managed *)v->managed)->drop)
        ((managed *)v->managed)->drop(v->managed);
    if (v->by == AXEPY_VERSIONED && ((versioned *)v->managed)->drop)
        ((versioned *)v->managed)->drop(v->managed);
    Py_DECREF(v->owner);
    v->owner = NULL;
}

void
axepy_advise(axe_ctx *cx, const char *name, const axepy_view *v)
{
    bool back = false;

    if (v->by != AXEPY_BUFFER || v->buffer.itemsize == 0)
        return;
    for (int i = 0; i < v->rank; i++)
        back = back || (v->stride[i] < 0 && v->shape[i] > 1);
    if (back)
        axe_help(cx, "np.ascontiguousarray(%s) is a copy that steps forwards",
                 name);
    else if ((uintptr_t)v->data % (size_t)v->buffer.itemsize != 0)
        axe_help(cx, "%s.copy() is aligned", name);
}

axe_array
axepy_array(const char *name, const axepy_view *v)
{
    return (axe_array){.name = name,
                       .type = v->type,
                       .rank = v->rank,
                       .shape = v->shape,
                       .stride = v->stride,
                       .data = v->data};
}

PyObject *
axepy_look(PyObject *module, PyObject *x)
{
    axepy_view v;
    PyObject  *shape, *stride, *out;

    (void)module;
    if (axepy_view_get(x, &v) < 0)
        return NULL;
    shape = PyTuple_New(v.rank);
    stride = PyTuple_New(v.rank);
    for (int i = 0; shape && stride && i < v.rank; i++) {
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(v.shape[i]));
        PyTuple_SetItem(stride, i, PyLong_FromLongLong(v.stride[i]));
    }
    out = Py_BuildValue("(sNNiiNN)", v.type, shape, stride, v.device, v.number,
                        PyBool_FromLong(v.readonly),
                        v.by == AXEPY_NUMBER ? (Py_INCREF(Py_None), Py_None)
                                             : PyLong_FromVoidPtr(v.data));
    axepy_view_drop(&v);
    return out;
}
