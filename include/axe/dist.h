/* dist.h - kernels over the devices of a mesh, on ranks that are the devices.
 *
 *     mesh gpu[P];
 *     kernel scale(in f32 X[M @ gpu, N], out f32 Y[M, N]) {...}
 *
 * On the ranks of an engine (axe/engine.h), each with what it has of each
 * argument:
 *
 *     axe_status on_rank(axe_ctx *cx, axe_engine *e, void *user)
 *     {
 *         axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &device);
 *         axe_rank_exec_new(cx, e, device, program, &x);
 *         axe_rank_launch(cx, x, 2, (axe_local[]){
 *             {.array = {"X", "f32", 2, mine, NULL, rows}},
 *             {.array = {"Y", "f32", 2, all, NULL, y}},
 *         }, 0, NULL);
 *         ...
 *     }
 *     axe_spmd(cx, &(axe_engine_options){.n_rank = 4}, on_rank, user);
 *
 * Or from one process, on whole arrays, which are cut and brought together:
 *
 *     axe_mesh_launch(cx, program, NULL, NULL, 2, arrays, 1,
 *                     (axe_size[]){{"P", 4}});
 *
 * What a kernel's text says, a device has: `M @ gpu` rows are the gpu's block
 * of M, of cdiv(M, P) rows, the last ones shorter or empty. docs/distributed.md
 * shows it; docs/design/distributed.md says why. */
#ifndef AXE_DIST_H
#define AXE_DIST_H

#include "axe/engine.h"
#include "axe/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is the program over a mesh?  Only such ones run by what is declared here. */
bool axe_program_on_mesh(const axe_program *p);

/* ----------------------------------------------------------- whole arrays */

/* Run once on whole arrays, row-major: ranks are started, or under a launcher
 * are those that it has started; each takes its parts, and results come to rank
 * 0.  An argument of addends is given as the sum.
 * cx      the program's
 * opt     the engine and its time limit; what is of its ranks and memory
 *         follows from the launch
 * spec    of each rank; n_thread 0: a share of all cores.  A program for GPUs
 *         computes on these, and arrays are in the host's memory all the same
 * size    those that follow from no array, the mesh's among them; where nobody
 *         says it, there is one device along an axis
 * Errors  as axe_launch and axe_spmd; EARG: two axes of the mesh are open.
 *         EDEVICE: on GPUs, and this process has used one before, as by such a
 *         launch: ranks that it forks cannot
 * Cost    beside the launch: a plan, and 0.3 ms for four processes */
AXE_CHECK axe_status axe_mesh_launch(axe_ctx *cx, const axe_program *p,
                                     const axe_engine_options *opt,
                                     const axe_device_spec *spec, int n_array,
                                     const axe_array *array, int n_size,
                                     const axe_size *size);

/* The same, timed: behind one run that does not count `n` more, seconds[n] of
 * each, ascending, and on how many devices.  What is inout goes on from run to
 * run.
 * Errors  as above */
AXE_CHECK axe_status axe_mesh_time(axe_ctx *cx, const axe_program *p,
                                   const axe_engine_options *opt,
                                   const axe_device_spec *spec, int n_array,
                                   const axe_array *array, int n_size,
                                   const axe_size *size, int n, double *seconds,
                                   int64_t *n_device);

/* ----------------------------------------------------------- local arrays */

/* What one device has of an argument, and how the whole one is spread, as its
 * owner knows it.  Without elements where the device has nothing. */
typedef struct axe_local {
    axe_array array;    /* row-major without gaps; of rank 0 the number, which
                           is the same on all ranks */
    const char *layout; /* as axe_spread_read takes it, "1000@gpu, 512"; NULL:
                           as the kernel declares it */
    const char *format; /* of `layout`, as axe_spread_convert takes it: "jax",
                           "dtensor"; NULL: Axe's own */
    axe_shape whole;    /* n 0: as `layout` says, or else all devices' parts */
} axe_local;

/* A program on one rank of an engine.  All ranks make it, launch it and free
 * it, in the same order; what they disagree in ends all of them.
 * cx      the program's
 * device  this rank's, made behind the fork
 *
 * A program for GPUs runs on GPU number rank modulo how many there are, by
 * engine shm, whatever `device` is but for its cache; arrays are in that GPU's
 * memory, and numbers in the host's.
 * Errors  EARG: the program is of another ctx, or not compiled as far as
 *         AXE_STAGE_C.  EUNSUPPORTED: it is over no mesh. */
typedef struct axe_rank_exec axe_rank_exec;
AXE_CHECK axe_status         axe_rank_exec_new(axe_ctx *cx, axe_engine *e,
                                               axe_device *device, const axe_program *p,
                                               axe_rank_exec **out);
/* All ranks together, unless one has failed: how that ends. */
AXE_CHECK axe_status axe_rank_exec_free(axe_rank_exec *x);

/* Run once; returns on each rank when its results are there.
 *
 * Before anything runs all ranks compare what they were given, and what is
 * wrong on one of them is the same error on all:
 *   ENAME, ETYPE, EARG   as axe_launch
 *   ESHAPE   an array's extent is not what its device has by the declared
 *            layout; the layout that is given is another one.  The text has the
 *            dimension, the device and both layouts.
 *   EARG     ranks differ in kernel, types, layouts, numbers or sizes, with
 *            both; the mesh has another number of devices than there are ranks
 * They can launch again behind such an error.  What goes wrong later, on one
 * rank, as the end of a process, ends all.
 *
 * size    those that follow from no array.  Of a mesh's axes one may be left
 *         open: it is what the number of ranks makes it
 * Cost    a gather and what axe_launch takes; with new sizes a plan */
AXE_CHECK axe_status axe_rank_launch(axe_ctx *cx, axe_rank_exec *x, int n_local,
                                     const axe_local *local, int n_size,
                                     const axe_size *size);

/* The shape that this rank's array of each parameter has, with the same checks.
 * local   those that are given; all others follow
 * shape   [axe_program_n_param], in ctx memory
 * Errors  as above; EARG: a size follows from nothing given */
AXE_CHECK axe_status axe_rank_shapes(axe_ctx *cx, axe_rank_exec *x, int n_local,
                                     const axe_local *local, int n_size,
                                     const axe_size *size, axe_shape *shape);

/* The declared layout of a parameter at the last launch, "1000@gpu, 512"; in
 * ctx memory, NULL before. */
const char *axe_rank_layout(axe_ctx *cx, const axe_rank_exec *x, int param);

#ifdef __cplusplus
}
#endif
#endif
