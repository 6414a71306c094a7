/* run.h - running programs on arrays.
 *
 *     axe_device_new(cx, &(axe_device_spec){0}, &device);
 *     axe_exec_new(cx, device, program, &exec);
 *     axe_launch(cx, exec, 3, (axe_array[]){
 *         {.name = "A", .type = "f32", .rank = 2, .shape = mk, .data = a},
 *         {.name = "B", .type = "f32", .rank = 2, .shape = nk, .data = b},
 *         {.name = "C", .type = "f32", .rank = 2, .shape = mn, .data = c},
 *     }, 0, NULL);
 *
 * The arrays are the caller's; nothing is copied.  Everything about them is
 * checked against the program before the kernel starts.
 */
#ifndef AXE_RUN_H
#define AXE_RUN_H

#include "axe/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct axe_array {
    const char *name; /* of the kernel's parameter */
    const char *type; /* of its elements: "f32", "bf16"; see axe_matrix_pack */
    int         rank; /* 0: one number, in the host's memory on all machines */
    const int64_t *shape;  /* [rank] */
    const int64_t *stride; /* [rank] [elements]; NULL: row-major */
    void          *data;   /* first element; NULL only without elements; of 4
                              bits two lie in a byte, the first in its low half:
                              one stride is 1, its extent and the other strides
                              are even */
} axe_array;

/* A runtime size that is known without an array. */
typedef struct axe_size {
    const char *name;
    int64_t     value;
} axe_size;

/* Compile the text of axe_programs_aot to the files that are not NULL.
 * cc     as axe_device_spec has it
 * Errors ETOOL: no C compiler, or it failed; no ar.  EIO: a file. */
AXE_CHECK axe_status axe_aot_build(axe_ctx *cx, const char *text,
                                   const char *cc, const char *object,
                                   const char *archive);

/* ----------------------------------------------------- fitting to arrays */

/* Compile a kernel for these arrays: type parameters are taken from their
 * element types and orders from their strides, unless `spec` sets them.  Not
 * every parameter needs an array; further axe_launch calls may bring others of
 * the same types and orders.
 * Errors  as axe_compile; ETYPE: two arrays want one type parameter to be two
 *         types; ENAME: an array that no parameter has the name of. */
AXE_CHECK axe_status axe_compile_for(axe_ctx *cx, int32_t source,
                                     const axe_compile_spec *spec, int n_array,
                                     const axe_array *array, axe_stage last,
                                     const axe_program **out);

/* The shape of every parameter, as far as needed to make missing arrays.
 * shape   [axe_program_n_param], in ctx memory: where an array is given, its
 *         own
 * Errors  EARG: a size follows from nothing given; ESHAPE as axe_launch */
AXE_CHECK axe_status axe_program_shapes(axe_ctx *cx, const axe_program *p,
                                        int n_array, const axe_array *array,
                                        int n_size, const axe_size *size,
                                        axe_shape *shape);

/* ------------------------------------------------------------- running */

/* The CPU: its threads, the C compiler, the cache of compiled kernels.  Not
 * thread-safe: one caller at a time.  After fork a child makes its own: with
 * the parent's everything is EDEVICE, but it may be freed. */
typedef struct axe_device axe_device;

typedef struct axe_device_spec {
    int64_t     n_thread; /* 0: one for each processor */
    const char *cache;    /* directory; NULL: $AXE_CACHE, $XDG_CACHE_HOME/axe,
                             ~/.cache/axe */
    const char *cc;       /* NULL: $AXE_CC, $CC, gcc, clang, cc on $PATH */
} axe_device_spec;

/* A cache directory that cannot be used is a warning.
 * Errors  EARG: a bad n_thread.  EDEVICE: no threads to be had. */
AXE_CHECK axe_status axe_device_new(axe_ctx *cx, const axe_device_spec *spec,
                                    axe_device **out);
void                 axe_device_free(axe_device *d);
int                  axe_device_n_thread(const axe_device *d);

/* A program compiled by the C compiler and loaded.  It uses the program and
 * the device: free it before them. */
typedef struct axe_exec axe_exec;

/* The program must have been compiled as far as AXE_STAGE_C.  Where there is no
 * C compiler, the kernels that the library brings along are used.
 * Errors  ETOOL: no C compiler, or it failed.  EIO: nowhere to compile.
 *         EUNSUPPORTED: a GPU's program.
 * Cost    a compilation (0.1 s), or below a millisecond if the cache has it */
AXE_CHECK axe_status axe_exec_new(axe_ctx *cx, axe_device *d,
                                  const axe_program *p, axe_exec **out);
/* Several at once: those that are not in the cache are compiled side by side.
 * All or, after an error, none. */
AXE_CHECK axe_status axe_exec_new_all(axe_ctx *cx, axe_device *d, int n,
                                      const axe_program *const *p,
                                      axe_exec                **out);
void                 axe_exec_free(axe_exec *e);
/* Where the shared object lies; the name of a kernel of the library's own. */
const char *axe_exec_path(const axe_exec *e);
/* Was it in the cache? */
bool axe_exec_cached(const axe_exec *e);

/* Run once and wait.  Sizes follow from the arrays; those that occur in no
 * shape are given in `size`.
 * Errors, all before anything runs:
 *   ENAME      an array or size of unknown name, twice, or missing
 *   ETYPE      element types differ
 *   ESHAPE     ranks differ; two arrays give one size two values; an extent
 *              is negative or not the declared one; strides are not those that
 *              the program was compiled for
 *   EOVERFLOW  an address does not fit int64
 *   EARG       data is NULL or not aligned to its element; an array that is
 *              written overlaps another or itself
 *   EDEVICE    no memory for the workers
 * Zero extents are fine.  The ctx may be another than the program's, in which
 * nobody compiles meanwhile; so it is for all that takes arrays and runs. */
AXE_CHECK axe_status axe_launch(axe_ctx *cx, axe_exec *e, int n_array,
                                const axe_array *array, int n_size,
                                const axe_size *size);

/* A launch that is checked once and run again and again, on the same arrays:
 * what axe_launch spends on names and shapes is more than a small kernel takes.
 * The arrays must stay where they are; what they hold may change.  It uses the
 * exec: free it before.
 * Errors  as axe_launch */
typedef struct axe_call axe_call;
AXE_CHECK axe_status    axe_call_new(axe_ctx *cx, axe_exec *e, int n_array,
                                     const axe_array *array, int n_size,
                                     const axe_size *size, axe_call **out);
/* Run once and wait.  Errors  EDEVICE: no memory for the workers. */
AXE_CHECK axe_status axe_call_run(axe_ctx *cx, axe_call *c);
/* The same on other arrays of the same types, shapes and strides, which stay
 * its arrays then.
 * data    [axe_program_n_param] first elements, in order of the parameters; of
 *         an argument that is one number its place
 * Errors  as axe_call_run; EARG as axe_launch.  ESHAPE: a number that sizes
 *         follow from is another one: make a call for it.
 * Cost    axe_call_run's and some 10 ns */
AXE_CHECK axe_status axe_call_run_at(axe_ctx *cx, axe_call *c,
                                     void *const *data);
void                 axe_call_free(axe_call *c);

/* ------------------------------------------------------------- packing */

/* A matrix that is used again and again, as weights are, may be kept as the
 * machine reads it: compile with order "packed" for it, pack it once, and give
 * the launch the packed memory with these strides and this type, which tells
 * the layout, too: "bf16 packed as ((256, 16), (32, 2)) : ((1024, 2), (32,
 * 1))". Programs that agree in it can share the matrix.  An array of more
 * dimensions is a matrix of the last two for each value of the others. */
typedef struct axe_packed {
    size_t      bytes;
    int64_t     stride[AXE_RANK_MAX];
    const char *type;
} axe_packed;

/* What parameter `name` needs for a matrix of this shape, [rank].
 * p       compiled as far as AXE_STAGE_PLAN
 * Errors  ENAME: not a packed parameter.  EOVERFLOW */
AXE_CHECK axe_status axe_packed_of(axe_ctx *cx, const axe_program *p,
                                   const char *name, const int64_t *shape,
                                   axe_packed *out);
/* Copy a matrix of any strides to `to`, which has the bytes for it.
 * Errors  as above; ETYPE: other elements, or already packed */
AXE_CHECK axe_status axe_matrix_pack(axe_ctx *cx, const axe_program *p,
                                     const axe_array *from, void *to);

/* ------------------------------------------------------------ estimates */

/* By the model; [s], -1: it cannot tell. */
typedef struct axe_estimate {
    double seconds; /* of a launch */
    double least;   /* what the machine could do it in at best; GPUs only */
} axe_estimate;

/* p         compiled as far as AXE_STAGE_PLAN
 * n_worker  threads of a CPU; of no meaning on a GPU
 * Errors    EARG: not compiled so far, or a size is missing */
AXE_CHECK axe_status axe_program_estimate(axe_ctx *cx, const axe_program *p,
                                          int n_worker, int n_size,
                                          const axe_size *size,
                                          axe_estimate   *out);

/* How much work a launch is, for rates. */
typedef struct axe_launch_work {
    double flops; /* of contractions: 2 for each term of a sum of products, so
                     2 M N K for a matrix product; 0: it has none */
    double bytes; /* of the arguments, twice of those read and written */
} axe_launch_work;

/* At the sizes of these arrays, whose data is not looked at, but for numbers
 * that sizes follow from.
 * p       of any stage
 * Errors  EARG: a size follows from nothing given; ESHAPE as axe_launch */
AXE_CHECK axe_status axe_program_work(axe_ctx *cx, const axe_program *p,
                                      int n_array, const axe_array *array,
                                      int n_size, const axe_size *size,
                                      axe_launch_work *out);

/* The plan for people, or as one line of JSON, with estimates at these sizes;
 * without any at usual ones.  Errors as above. */
AXE_CHECK axe_status axe_program_explain(axe_ctx *cx, const axe_program *p,
                                         bool json, int n_size,
                                         const axe_size *size, axe_buf *out);

/* ------------------------------------------------------------- checking */

/* What a program should compute, by the definition of its IR: naive loops in
 * double precision (exact int64 for integers), which share nothing with the
 * planner, each value with a bound of the error that rounding can cause. */
typedef struct axe_reference axe_reference;

/* Compute from the arrays as they are, so before axe_launch.
 * Errors  as axe_launch and axe_exec_new; EUNSUPPORTED: packed parameters */
AXE_CHECK axe_status axe_reference_new(axe_ctx *cx, axe_device *d,
                                       const axe_program *p, int n_array,
                                       const axe_array *array, int n_size,
                                       const axe_size *size,
                                       axe_reference **out);
void                 axe_reference_free(axe_reference *r);

typedef struct axe_difference {
    int64_t n;                /* elements compared */
    int64_t n_wrong;          /* that differ by more than their bound */
    int64_t n_unbound;        /* whose bound is infinite: anything passes */
    double  max_abs, max_rel; /* largest differences found */
    double  max_share;        /* largest difference as a share of its bound */
    int64_t worst; /* row-major number of the element of max_share, or of
                      the first wrong one that is not finite; -1: no n */
    double got, want, bound; /* of that element */
} axe_difference;

/* Compare an array that the kernel has written with what it should hold.
 * array   the one given before, with the same name and shape
 * Errors  ENAME: no such parameter, or it is not written */
AXE_CHECK axe_status axe_reference_compare(axe_ctx *cx, const axe_reference *r,
                                           const axe_array *array,
                                           axe_difference  *out);

#ifdef __cplusplus
}
#endif
#endif
