/* number.c - numbers that stand for arrays of rank 0, of Python and of NumPy,
 * and what they become as elements of a type: floats are rounded, to even where
 * two are as near, integers must fit. */
#include <string.h>

#include "axepy.h"

/* ----------------------------------------------------------------- numbers */

int
axepy_number_get(PyObject *x, axepy_view *out)
{
    int over = 0;

    out->by = AXEPY_NUMBER;
    out->owner = NULL;
    out->rank = 0;
    out->device = AXE_DLPACK_CPU;
    out->number = 0;
    out->readonly = true;
    out->data = &out->value;
    if (PyFloat_Check(x)) {
        out->type = "float";
        out->value.f = PyFloat_AsDouble(x);
        return 0;
    }
    out->type = "int";
    out->value.i = PyLong_AsLongLongAndOverflow(x, &over);
    if (over == 0)
        return 0;
    axepy_fail(AXE_EOVERFLOW, "%R does not fit 64 bits", x);
    return -1;
}

/* The bits of the nearest number with `mantissa` bits below the leading one, of
 * the 8 exponent bits of f32: bf16. */
static uint16_t
bf16_of(double f)
{
    float    x = (float)f;
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    if (x != x)
        return 0x7fc0;
    u += 0x7fff + ((u >> 16) & 1);
    return (uint16_t)(u >> 16);
}

/* The nearest f16, ties to even: 11 bits of significand, or fewer below
 * 2^-14. */
static uint16_t
f16_of(double x)
{
    uint64_t u, bits, rest, half;
    int      e, drop;
    uint16_t sign;

    memcpy(&u, &x, sizeof u);
    sign = (uint16_t)(u >> 48 & 0x8000);
    e = (int)(u >> 52 & 0x7ff) - 1023;
    if (x != x)
        return sign | 0x7e00;
    if (e > 15)
        return sign | 0x7c00;
    drop = e < -14 ? 42 - 14 - e : 42;
    if (drop > 53)
        return sign;
    u = (u & ((1ull << 52) - 1)) | 1ull << 52;
    bits = u >> drop;
    rest = u & ((1ull << drop) - 1);
    half = 1ull << (drop - 1);
    bits += rest > half || (rest == half && (bits & 1));
    return (uint16_t)(sign | (bits + (e < -14 ? 0 : (uint64_t)(e + 14) << 10)));
}

static bool
put_float(const char *type, double f, void *to)
{
    float    f32 = (float)f;
    uint16_t f16 = f16_of(f), bf16 = bf16_of(f);

    if (strcmp(type, "f64") == 0)
        memcpy(to, &f, 8);
    else if (strcmp(type, "f32") == 0)
        memcpy(to, &f32, 4);
    else if (strcmp(type, "f16") == 0)
        memcpy(to, &f16, 2);
    else if (strcmp(type, "bf16") == 0)
        memcpy(to, &bf16, 2);
    else
        return false;
    return true;
}

/* Is it an integer type that has v?  Little-endian. */
static bool
put_int(const char *type, int64_t v, void *to, bool *fits)
{
    bool sign = type[0] == 'i';
    int  bits = type[0] == 'b' ? 1 : 0;

    if (strcmp(type, "bool") != 0) {
        if (type[0] != 'i' && type[0] != 'u')
            return false;
        for (const char *c = type + 1; *c; c++)
            bits = 10 * bits + (*c - '0');
    }
    if (sign)
        *fits = bits == 64 || (v >= -(INT64_C(1) << (bits - 1)) &&
                               v < INT64_C(1) << (bits - 1));
    else
        *fits = v >= 0 && (bits >= 63 || v < INT64_C(1) << bits);
    memcpy(to, &v, bits < 8 ? 1 : (size_t)bits / 8);
    return true;
}

int
axepy_number(const axepy_view *v, const char *type, void *to)
{
    bool is_float = v->type[0] == 'f', fits = true;

    if (put_float(type, is_float ? v->value.f : (double)v->value.i, to))
        return 0;
    if (!is_float && put_int(type, v->value.i, to, &fits)) {
        if (fits)
            return 0;
        axepy_fail(AXE_EOVERFLOW, "%lld does not fit %s", (long long)v->value.i,
                   type);
        return -1;
    }
    axepy_fail(AXE_ETYPE, "a number of type %s is no %s; give %s", v->type,
               type, is_float ? "an integer" : "an array of rank 0");
    return -1;
}

/* ---------------------------------------------------------- NumPy's numbers */

/* np.float64(2) and the like, of which NumPy makes buffers without dimensions;
 * -1: raised. */
static int
is_scalar(PyObject *x)
{
    static PyObject *generic;

    if (!generic) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        if (numpy)
            generic = PyObject_GetAttrString(numpy, "generic");
        Py_XDECREF(numpy);
        if (!generic)
            PyErr_Clear(); /* an array of rank 0, not of NumPy */
    }
    return generic ? PyObject_IsInstance(x, generic) : 0;
}

int
axepy_scalar_get(PyObject *x, axepy_view *v)
{
    int         is = is_scalar(x), over = 0;
    const char *type = v->type;
    PyObject   *n;
    axepy_view  number;

    if (is == 0)
        return 0;
    n = is < 0           ? NULL
        : type[0] == 'f' ? PyNumber_Float(x)
        : type[0] == 'b' ? PyBool_FromLong(PyObject_IsTrue(x))
                         : PyNumber_Index(x);
    if (n && PyLong_Check(n))
        PyLong_AsLongLongAndOverflow(n, &over);
    if (over == 0) {
        axepy_view_drop(v);
        if (n && axepy_number_get(n, &number) == 0) {
            *v = number;
            v->type = type;
            v->data = &v->value;
        }
    }
    Py_XDECREF(n);
    return PyErr_Occurred() ? -1 : 0;
}
