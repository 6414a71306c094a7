/* axepy.h - what the files of the extension module share.
 *
 * The module `axe._axe` is plain: it hands layouts over as text, arrays as they
 * are, and leaves names, defaults and allocation to the Python around it
 * (python/axe).  What must be quick is here in whole: a call of a kernel on
 * arrays of a kind that was seen before (call.c).
 *
 * It keeps to the stable ABI of CPython 3.9, so that one build serves every
 * later version, and to the public headers of axe. */
#ifndef AXEPY_H
#define AXEPY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <stdbool.h>

#include "axe/dlpack.h"
#include "axe/engine.h"
#include "axe/gpu.h"

/* --------------------------------------------------------- errors, locks */

/* Raise what the ctx has recorded since the mark as the exception of that
 * status, and release the mark; one that is raised already, as by Ctrl-C,
 * stays. Always NULL. */
PyObject *axepy_raise(axe_ctx *cx, axe_status st, axe_mark m);
/* An exception of a status without a ctx.  Always NULL. */
PyObject *axepy_fail(axe_status st, const char *fmt, ...);
/* After PyArg_ParseTuple has failed: a text with a NUL or a lone surrogate is
 * an Error, too.  Always NULL. */
PyObject *axepy_misread(void);
#define AXEPY_LISTEN 0.05 /* seconds between two looks at Ctrl-C */
/* Seconds of a clock that only runs on. */
double axepy_now(void);
/* What was made of parts, or NULL if one of them could not be. */
PyObject *axepy_whole(PyObject *out);
/* Numbers as a tuple; NULL: raised. */
PyObject *axepy_tuple(int n, const int64_t *v);
int       axepy_n_diag(const axe_ctx *cx);
/* Warnings among the diagnostics from number `first` on, as Python's, at the
 * line that has called the package; -1: one became an error. */
int axepy_warn(axe_ctx *cx, int first);
/* _axe.set_errors({"ESHAPE": class, ...}) */
PyObject *axepy_set_errors(PyObject *module, PyObject *classes);

/* How often this process and those before it were forked; a lock that another
 * process took is made anew. */
extern unsigned axepy_forks;
typedef struct axepy_lock {
    PyThread_type_lock lock;
    unsigned           forks;
} axepy_lock;
/* With the GIL held; it is released while waiting. -1: no memory, raised. */
int  axepy_acquire(axepy_lock *l);
void axepy_release(axepy_lock *l);
void axepy_lock_free(axepy_lock *l);

/* ----------------------------------------------------------------- arrays */

/* What joined the stable ABI in 3.10 and 3.11: text as UTF-8, and the buffer
 * protocol.  In 3.9 and 3.10, which change no more, it is the same. */
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *n_bytes);

typedef struct axepy_buffer {
    void       *buf;
    PyObject   *obj;
    Py_ssize_t  len, itemsize;
    int         readonly, ndim;
    char       *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void       *internal;
} axepy_buffer;

enum { AXEPY_RANK = 16, AXEPY_ARRAYS = 32 };

/* How an array was had, and so how it is given back. */
typedef enum axepy_by {
    AXEPY_NUMBER, /* an int, float or bool of Python or NumPy */
    AXEPY_BUFFER,
    AXEPY_DLPACK,
    AXEPY_VERSIONED, /* DLPack since 1.0 */
} axepy_by;

typedef struct axepy_view {
    axepy_by     by;
    PyObject    *owner; /* a new reference, or NULL */
    axepy_buffer buffer;
    void        *managed;
    const char  *type; /* "f32"; of a number of Python's "int" or "float" */
    int          rank, device, number; /* where, by DLPack's numbers */
    bool         readonly;
    int64_t      shape[AXEPY_RANK], stride[AXEPY_RANK];
    void        *data;
    union {
        int64_t i;
        double  f;
    } value; /* of a number, exact */
} axepy_view;

/* Look at an array or number; nothing is copied.  -1: raised.
 * One of a GPU is to be used on the stream that its framework is on, or on the
 * default one where that is not known (python/axe/_arrays.py). */
int  axepy_view_get(PyObject *x, axepy_view *out);
void axepy_view_drop(axepy_view *v);
/* After a failure: where it is an array of steps backwards or at no multiple of
 * its elements, what copy of it would do. */
void axepy_advise(axe_ctx *cx, const char *name, const axepy_view *v);
/* The view as axe has it, valid as long as the view. */
axe_array axepy_array(const char *name, const axepy_view *v);
/* _axe.look(x) -> (type, shape, strides, device, number, readonly, address) */
PyObject *axepy_look(PyObject *module, PyObject *x);

/* _axe.set_exporter(type, function): what gives capsules of objects of the
 * type, or None */
PyObject *axepy_set_exporter(PyObject *module, PyObject *args);

/* A number of Python's as a view; -1: raised. */
int axepy_number_get(PyObject *x, axepy_view *out);
/* The view of x, a buffer without dimensions, becomes a number if it is one of
 * NumPy's, such as np.float64(2), that fits 64 bits.  -1: raised, and dropped
 */
int axepy_scalar_get(PyObject *x, axepy_view *v);
/* Write a number as an element of that type to `to`, 8 bytes; -1: raised. */
int axepy_number(const axepy_view *v, const char *type, void *to);

/* ------------------------------------------------------ devices, programs */

typedef struct axepy_device {
    PyObject_HEAD axe_ctx *cx;
    axe_device            *cpu; /* or */
    axe_gpu               *gpu;
    axepy_lock             lock;  /* of whoever runs something on it */
    unsigned               forks; /* before it: no thread survives one */
    int64_t                threads;
    int                    number; /* of a GPU, else -1 */
    const char            *cache, *cc;
} axepy_device;

typedef struct axepy_program {
    PyObject_HEAD axe_ctx *cx; /* of the program alone, under the lock */
    const axe_program     *program;
    axepy_lock             lock;
} axepy_program;

/* A program loaded on a device. */
typedef struct axepy_exec {
    PyObject_HEAD axepy_program *program;
    axepy_device                *device;
    axe_exec                    *cpu; /* or */
    axe_gpu_exec                *gpu;
} axepy_exec;

/* The ranks of a run, as one of them sees it. */
typedef struct axepy_ranks {
    PyObject_HEAD axe_ctx *cx;
    axe_engine            *e; /* NULL: the run is over */
} axepy_ranks;

extern PyTypeObject *axepy_device_type, *axepy_program_type, *axepy_exec_type,
    *axepy_ranks_type;

/* -1: the run is over, raised. */
int axepy_ranks_check(const axepy_ranks *r);

/* ((name, value), ...) as two lists of texts in the ctx; -1: raised. */
int axepy_pairs(axe_ctx *cx, PyObject *pairs, int *n, const char *const **name,
                const char *const **value);
/* Sizes of a mapping of Python's, in the ctx; -1: raised. */
int axepy_sizes(axe_ctx *cx, PyObject *sizes, axe_size **out);
/* Views and arrays of [(name, array), ...]; -1: raised, and nothing to drop. */
int  axepy_arrays(PyObject *list, axepy_view *view, axe_array *array);
void axepy_drop_all(int n, axepy_view *view);

/* Arguments of a program, numbers among them as elements of their parameters.
 * Large: not for the stack of a call that is quick. */
typedef struct axepy_arguments {
    int        n, n_size;
    axepy_view view[AXEPY_ARRAYS];
    axe_array  array[AXEPY_ARRAYS];
    int64_t    number[AXEPY_ARRAYS];
    axe_size  *size;
} axepy_arguments;

/* arrays  ((name, array or number), ...); views are to be dropped
 * -1: raised, and nothing to drop */
int axepy_arguments_get(axe_ctx *cx, const axe_program *p, PyObject *arrays,
                        PyObject *sizes, axepy_arguments *out);

/* May what the program writes be written?  -1: raised. */
int axepy_arguments_check(const axe_program *p, const axepy_arguments *a);

/* Each adds its types to the module; -1: raised. */
int axepy_add_device(PyObject *module);
int axepy_add_program(PyObject *module);
int axepy_add_caller(PyObject *module);
int axepy_add_ranks(PyObject *module);
int axepy_add_rank_exec(PyObject *module);

/* One method of a program, or of an exec on its device: locks are held, the
 * arguments are there, and all is given back in the end. */
typedef struct axepy_job {
    axe_ctx         *cx;
    axepy_program   *program;
    axepy_exec      *exec; /* or NULL */
    axe_mark         mark;
    axepy_arguments *with;
} axepy_job;

/* arrays  ((name, array or number), ...); -1: raised, and nothing to give back
 */
int axepy_job_begin(axepy_job *j, axepy_program *p, axepy_exec *e,
                    PyObject *arrays, PyObject *sizes);
/* Raise what has failed, give all back; out, or NULL and nothing of it.  An
 * exception that is there already stays. */
PyObject *axepy_job_end(axepy_job *j, axe_status st, PyObject *out);
/* (name, n, wrong, unbound, max_abs, max_rel, max_share, worst, got, want,
 * bound) of each parameter that is written. */
axe_status axepy_compare(const axepy_job *j, const axe_reference *r,
                         PyObject *list);
/* [s] as a tuple; NULL: raised. */
PyObject *axepy_seconds(int n, const double *time);

/* Methods of measure.c and mesh.c. */
PyObject *axepy_program_shapes(PyObject *program, PyObject *args);
PyObject *axepy_program_work(PyObject *program, PyObject *args);
PyObject *axepy_program_simulate(PyObject *program, PyObject *args);
PyObject *axepy_exec_time(PyObject *exec, PyObject *args);
PyObject *axepy_exec_check(PyObject *exec, PyObject *args);
PyObject *axepy_mesh_launch(PyObject *program, PyObject *args);
PyObject *axepy_mesh_time(PyObject *program, PyObject *args);
PyObject *axepy_mesh_check(PyObject *program, PyObject *args);

/* A new ctx that knows a machine's axes, "nvidia" (NULL: none); NULL: raised.
 */
axe_ctx *axepy_context(const char *machine);
/* ("layout", text, shape, size) */
PyObject *axepy_layout_value(axe_ctx *cx, const axe_layout *l);

/* Functions of the module. */
PyObject *axepy_evaluate(PyObject *module, PyObject *args);
PyObject *axepy_parts(PyObject *module, PyObject *args);
PyObject *axepy_convert(PyObject *module, PyObject *args);
PyObject *axepy_formats(PyObject *module, PyObject *nothing);
PyObject *axepy_move(PyObject *module, PyObject *args);
PyObject *axepy_why(PyObject *module, PyObject *args);
PyObject *axepy_draw(PyObject *module, PyObject *args);
PyObject *axepy_functions(PyObject *module, PyObject *nothing);
PyObject *axepy_signatures(PyObject *module, PyObject *args);
PyObject *axepy_compile(PyObject *module, PyObject *args);
PyObject *axepy_jax_target(PyObject *module, PyObject *args);
PyObject *axepy_jax_bind(PyObject *module, PyObject *args);
PyObject *axepy_tune(PyObject *module, PyObject *args);
PyObject *axepy_spmd(PyObject *module, PyObject *args);

#endif
