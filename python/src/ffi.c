/* ffi.c - kernels called by XLA, for axe.jax.
 *
 * XLA calls `handler` with buffers, and two numbers that the call was traced
 * with: which row of `bound` it is, and of which process, since a compiled
 * computation may outlive one.  It runs without the GIL, on any thread.
 *
 * Source: the binary interface of XLA FFI, major version 0
 * (xla/ffi/api/c_api.h, which jax.ffi.include_dir() has): the order and the
 * types of the fields that are read here; later minor versions add behind them.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "axepy.h"

enum {
    FFI_MAJOR = 0, /* another one of XLA's refuses the handler */
    STAGE_EXECUTE = 3,
    EXTENSION_METADATA = 1,
    ATTR_SCALAR = 3,
    TYPE_S64 = 5,
    CODE_INVALID_ARGUMENT = 3,
    CODE_FAILED_PRECONDITION = 9,
    CODE_INTERNAL = 13,
};

typedef struct extension {
    size_t            bytes;
    int               type;
    struct extension *next;
} extension;

typedef struct version {
    size_t     bytes;
    extension *more;
    int        major, minor;
} version;

typedef struct metadata {
    size_t   bytes;
    version  version;
    uint32_t traits;
} metadata;

typedef struct metadata_extension {
    extension base;
    metadata *metadata;
} metadata_extension;

typedef struct error_args {
    size_t      bytes;
    extension  *more;
    const char *message;
    int         code;
} error_args;

typedef struct api {
    size_t      bytes;
    extension  *more;
    version     version;
    const void *internal;
    void *(*error_create)(error_args *);
} api;

typedef struct buffer {
    size_t     bytes;
    extension *more;
    int        type;
    void      *data;
    int64_t    rank, *shape;
} buffer;

typedef struct buffers {
    size_t     bytes;
    extension *more;
    int64_t    n;
    int       *kind;
    buffer   **buffer;
} buffers;

typedef struct span {
    const char *text;
    size_t      len;
} span;

typedef struct scalar {
    int   type;
    void *value;
} scalar;

typedef struct attrs {
    size_t     bytes;
    extension *more;
    int64_t    n;
    int       *kind;
    span     **name;
    void     **value;
} attrs;

typedef struct frame {
    size_t     bytes;
    extension *more;
    const api *api;
    void      *context;
    int        stage;
    buffers    args, results;
    attrs      attrs;
} frame;

/* A kernel for buffers of certain types and shapes; they are kept for ever, as
 * is what JAX has compiled. */
typedef struct bound {
    axepy_exec *exec;
    axe_call   *call;
    int         n_arg, n_result, n_size;
    int       param[2 * AXEPY_ARRAYS]; /* of args, results; -1: not looked at */
    axe_size *size;
    int64_t   rank[2 * AXEPY_ARRAYS]; /* of the buffers that the call is for */
    int64_t   shape[2 * AXEPY_ARRAYS][AXEPY_RANK];
} bound;

static bound **_Atomic table;
static atomic_int      n_bound;
static int             n_room;
static int64_t         process; /* tells those that have run before apart */

/* ------------------------------------------------------------------ errors */

static void *
fail(const frame *f, int code, const char *text)
{
    error_args a = {.bytes = sizeof a, .message = text, .code = code};

    return f->api->error_create(&a);
}

static void *
fail_status(const frame *f, axe_ctx *cx, axe_status st)
{
    return fail(f, st == AXE_EDEVICE ? CODE_INTERNAL : CODE_INVALID_ARGUMENT,
                axe_last_error(cx));
}

/* ----------------------------------------------------------------- running */

static bool
find_attr(const attrs *a, const char *name, int64_t *out)
{
    for (int64_t i = 0; i < a->n; i++) {
        const scalar *s = a->value[i];
        if (a->name[i]->len == strlen(name) &&
            memcmp(a->name[i]->text, name, a->name[i]->len) == 0 &&
            a->kind[i] == ATTR_SCALAR && s->type == TYPE_S64)
            return memcpy(out, s->value, sizeof *out), true;
    }
    return false;
}

static axe_array
array_of(const axe_program *p, int param, const buffer *b)
{
    axe_param q = axe_program_param(p, param);

    return (axe_array){.name = q.name,
                       .type = q.type,
                       .rank = (int)b->rank,
                       .shape = b->shape,
                       .data = b->data};
}

static const buffer *
buffer_at(const bound *b, const frame *f, int i)
{
    return i < b->n_arg ? f->args.buffer[i] : f->results.buffer[i - b->n_arg];
}

static axe_status
new_call(bound *b, const frame *f)
{
    const axepy_program *p = b->exec->program;
    axe_array            array[2 * AXEPY_ARRAYS];
    int                  n = 0;

    for (int i = 0; i < b->n_arg + b->n_result; i++)
        if (b->param[i] >= 0)
            array[n++] = array_of(p->program, b->param[i], buffer_at(b, f, i));
    axe_call_free(b->call);
    b->call = NULL;
    AXE_TRY(axe_call_new(p->cx, b->exec->cpu, n, array, b->n_size, b->size,
                         &b->call));
    for (int i = 0; i < b->n_arg + b->n_result; i++)
        if (b->param[i] >= 0) {
            const buffer *x = buffer_at(b, f, i);
            b->rank[i] = x->rank;
            memcpy(b->shape[i], x->shape, (size_t)x->rank * sizeof(int64_t));
        }
    return AXE_OK;
}

/* Is the call for buffers of these shapes?  vmap's methods other than
 * sequential make others of those that were traced. */
static bool
is_for(const bound *b, const frame *f)
{
    for (int i = 0; i < b->n_arg + b->n_result; i++) {
        const buffer *x = buffer_at(b, f, i);
        if (b->param[i] >= 0 &&
            (x->rank != b->rank[i] ||
             memcmp(x->shape, b->shape[i], (size_t)x->rank * sizeof(int64_t)) !=
                 0))
            return false;
    }
    return b->call;
}

static axe_status
run(bound *b, const frame *f)
{
    axe_ctx   *cx = b->exec->program->cx;
    void      *data[2 * AXEPY_ARRAYS] = {0};
    axe_status st;

    if (!is_for(b, f))
        AXE_TRY(new_call(b, f));
    for (int i = 0; i < b->n_arg + b->n_result; i++)
        if (b->param[i] >= 0)
            data[b->param[i]] = buffer_at(b, f, i)->data;
    st = axe_call_run_at(cx, b->call, data);
    if (st != AXE_ESHAPE)
        return st;
    AXE_TRY(new_call(b, f));
    return axe_call_run(cx, b->call);
}

/* The locks were made when the exec was; a child of a fork has none of XLA's
 * threads, so nothing comes here in one. */
static void *
run_locked(bound *b, const frame *f)
{
    axepy_device  *d = b->exec->device;
    axepy_program *p = b->exec->program;
    axe_status     st;
    axe_mark       m;
    void          *error = NULL;

    PyThread_acquire_lock(d->lock.lock, WAIT_LOCK);
    PyThread_acquire_lock(p->lock.lock, WAIT_LOCK);
    m = axe_ctx_mark(p->cx);
    st = run(b, f);
    if (st != AXE_OK)
        error = fail_status(f, p->cx, st);
    axe_ctx_release(p->cx, m);
    PyThread_release_lock(p->lock.lock);
    PyThread_release_lock(d->lock.lock);
    return error;
}

static void *
handler(frame *f)
{
    int64_t row, of;

    for (extension *e = f->more; e; e = e->next)
        if (e->type == EXTENSION_METADATA) {
            metadata *m = ((metadata_extension *)e)->metadata;
            m->version.major = FFI_MAJOR;
            m->version.minor = f->api->version.minor;
            m->traits = 0;
            return NULL;
        }
    if (f->stage != STAGE_EXECUTE)
        return NULL;
    if (!find_attr(&f->attrs, "row", &row) ||
        !find_attr(&f->attrs, "process", &of) || of != process || row < 0 ||
        row >= n_bound)
        return fail(f, CODE_FAILED_PRECONDITION,
                    "axe: compiled by another process; trace it again");
    bound *b = table[row];
    if (b->exec->device->forks != axepy_forks)
        return fail(f, CODE_FAILED_PRECONDITION,
                    "axe: called in a child of the process that compiled it");
    if (f->args.n != b->n_arg || f->results.n != b->n_result)
        return fail(f, CODE_INTERNAL, "axe: not the buffers that were traced");
    return run_locked(b, f);
}

/* ---------------------------------------------------------------- Python's */

/* jax_target(process) -> capsule of the handler */
PyObject *
axepy_jax_target(PyObject *module, PyObject *args)
{
    long long n;

    (void)module;
    if (!PyArg_ParseTuple(args, "L", &n))
        return NULL;
    process = n;
    void *(*as)(frame *) = handler;
    void *target;
    memcpy(&target, &as, sizeof target);
    return PyCapsule_New(target, "xla._CUSTOM_CALL_TARGET", NULL);
}

/* A table that may be read while it grows: the old one is left to readers. */
static int
add(bound *b)
{
    if (n_bound == n_room) {
        int     room = n_room ? 2 * n_room : 64;
        bound **more = calloc((size_t)room, sizeof(bound *));
        if (!more)
            return -1;
        for (int i = 0; i < n_bound; i++)
            more[i] = table[i];
        table = more;
        n_room = room;
    }
    table[n_bound] = b;
    return n_bound++;
}

static int
take_params(bound *b, int at, PyObject *tuple)
{
    int n = (int)PyTuple_Size(tuple);

    if (n > AXEPY_ARRAYS) {
        axepy_fail(AXE_EARG, "there are at most %d arrays", AXEPY_ARRAYS);
        return -1;
    }
    for (int i = 0; i < n; i++)
        b->param[at + i] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : n;
}

static int
take_sizes(axepy_device *d, PyObject *sizes, axe_size **out)
{
    int n = axepy_acquire(&d->lock);

    if (n == 0) {
        n = axepy_sizes(d->cx, sizes, out);
        axepy_release(&d->lock);
    }
    return n;
}

/* jax_bind(exec, params of args, params of results, sizes) -> row */
PyObject *
axepy_jax_bind(PyObject *module, PyObject *args)
{
    PyObject *exec, *params, *results, *sizes;
    bound    *b;
    int       row;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!", axepy_exec_type, &exec,
                          &PyTuple_Type, &params, &PyTuple_Type, &results,
                          &PyTuple_Type, &sizes))
        return NULL;
    b = calloc(1, sizeof *b);
    if (!b)
        return PyErr_NoMemory();
    b->exec = (axepy_exec *)exec;
    b->n_arg = take_params(b, 0, params);
    b->n_result = b->n_arg < 0 ? -1 : take_params(b, b->n_arg, results);
    b->n_size =
        b->n_result < 0 ? -1 : take_sizes(b->exec->device, sizes, &b->size);
    row = b->n_size < 0 ? -1 : add(b);
    if (row < 0) {
        free(b);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    Py_INCREF(exec);
    return PyLong_FromLong(row);
}
