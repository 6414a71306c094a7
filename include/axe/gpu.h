/* gpu.h - running programs on an NVIDIA GPU.
 *
 *     axe_gpu_new(cx, &(axe_gpu_spec){0}, &gpu);
 *     axe_compile(cx, source, &(axe_compile_spec){.machine =
 *                 axe_gpu_machine(gpu)}, AXE_STAGE_C, &program);
 *     axe_gpu_exec_new(cx, gpu, program, &exec);
 *     axe_gpu_launch(cx, exec, 3, arrays_in_device_memory, 0, NULL, NULL);
 *     axe_gpu_wait(cx, gpu, NULL);
 *
 * The driver and NVRTC are opened when they are first needed; nothing of CUDA
 * is needed to build or to link.  A stream is a CUstream, NULL the default one.
 */
#ifndef AXE_GPU_H
#define AXE_GPU_H

#include "axe/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One GPU: its primary context, and the cache of compiled kernels.  Not
 * thread-safe: one caller at a time.  After fork a child makes its own: with
 * the parent's everything is EDEVICE, but it may be freed. */
typedef struct axe_gpu axe_gpu;

typedef struct axe_gpu_spec {
    int         number; /* of the device, as CUDA counts them */
    const char *cache;  /* directory; NULL: as axe_device_spec */
} axe_gpu_spec;

/* What a GPU says of itself. */
typedef struct axe_gpu_facts {
    int         number;
    const char *name;         /* "NVIDIA H200" */
    const char *machine;      /* "sm_90a"; NULL: none of ours runs on it */
    int         major, minor; /* compute capability */
    int         n_sm;
} axe_gpu_facts;

/* All GPUs that the driver knows.
 * out     [n], in cx
 * Errors  EDEVICE: no driver, or it does not start */
AXE_CHECK axe_status axe_gpu_list(axe_ctx *cx, int *n,
                                  const axe_gpu_facts **out);

/* Errors  EDEVICE: no driver, no such GPU.  EUNSUPPORTED: no machine of ours
 *         runs on it */
AXE_CHECK axe_status axe_gpu_new(axe_ctx *cx, const axe_gpu_spec *spec,
                                 axe_gpu **out);
void                 axe_gpu_free(axe_gpu *g);
const char          *axe_gpu_name(const axe_gpu *g);    /* "NVIDIA H200" */
const char          *axe_gpu_machine(const axe_gpu *g); /* "sm_90a" */
int                  axe_gpu_n_sm(const axe_gpu *g);

/* ------------------------------------------------------------- memory */

/* Device memory, aligned to 256 bytes.  Errors  EDEVICE */
AXE_CHECK axe_status axe_gpu_alloc(axe_ctx *cx, axe_gpu *g, size_t bytes,
                                   void **out);
void                 axe_gpu_release(axe_gpu *g, void *memory);
AXE_CHECK axe_status axe_gpu_put(axe_ctx *cx, axe_gpu *g, void *to,
                                 const void *from, size_t bytes);
AXE_CHECK axe_status axe_gpu_get(axe_ctx *cx, axe_gpu *g, void *to,
                                 const void *from, size_t bytes);
/* Fill with numbers of the type, floats normal(0, 1), integers small: one block
 * of them again and again, of a prime number of elements.  The same seed gives
 * the same numbers.  EDEVICE; ETYPE: no such type */
AXE_CHECK axe_status axe_gpu_fill(axe_ctx *cx, axe_gpu *g, const char *type,
                                  uint64_t seed, void *to, size_t bytes);

/* ------------------------------------------------------------- running */

/* A program compiled and loaded.  It uses the program and the GPU. */
typedef struct axe_gpu_exec axe_gpu_exec;

/* Errors  EUNSUPPORTED: the program is for another machine.  ETOOL: no NVRTC,
 *         or it failed.  EDEVICE: the driver refuses the code.
 * Cost    a compilation (0.3 to 0.6 s), or below a millisecond if cached */
AXE_CHECK axe_status axe_gpu_exec_new(axe_ctx *cx, axe_gpu *g,
                                      const axe_program *p, axe_gpu_exec **out);
void                 axe_gpu_exec_free(axe_gpu_exec *e);
bool                 axe_gpu_exec_cached(const axe_gpu_exec *e);

/* Start on arrays in device memory; returns before it is done.
 * Errors  as axe_launch; EDEVICE also where the launch fails */
AXE_CHECK axe_status axe_gpu_launch(axe_ctx *cx, axe_gpu_exec *e, int n_array,
                                    const axe_array *array, int n_size,
                                    const axe_size *size, void *stream);
/* Errors  EDEVICE: what was started has failed, decoded */
AXE_CHECK axe_status axe_gpu_wait(axe_ctx *cx, axe_gpu *g, void *stream);

/* On arrays in the host's memory: copied there and back, and waited for. */
AXE_CHECK axe_status axe_gpu_run(axe_ctx *cx, axe_gpu_exec *e, int n_array,
                                 const axe_array *array, int n_size,
                                 const axe_size *size);

/* Run n times on arrays in device memory, after two that are not counted, and
 * measure each on the GPU.
 * seconds [n], in the order of the runs */
AXE_CHECK axe_status axe_gpu_time(axe_ctx *cx, axe_gpu_exec *e, int n_array,
                                  const axe_array *array, int n_size,
                                  const axe_size *size, int n, double *seconds);

/* The machine code of a program for its machine, without a GPU.
 * log     what the compiler said, "" if nothing; may be NULL
 * Errors  EUNSUPPORTED: the program is not for a GPU.  ETOOL */
AXE_CHECK axe_status axe_gpu_code(axe_ctx *cx, const axe_program *p,
                                  const char **log, void **code, size_t *bytes);

/* ---------------------------------------------------------- beforehand */

/* The callbacks are called by several threads, one at a time. */
typedef struct axe_gpu_prepare_spec {
    const char *cache; /* directory; NULL: as axe_device_spec */
    bool (*stop)(void *user);
    void (*progress)(void *user, int n_done, int n);
    void *user;
} axe_gpu_prepare_spec;

typedef struct axe_gpu_prepared {
    int n_ready; /* programs whose code is there */
    int n_fresh; /* of them compiled now */
} axe_gpu_prepared;

/* Compile programs into the cache, side by side, without a GPU.  Machines to
 * which the directory is brought need no NVRTC for them.
 * Errors  EIO: no directory; else, where not one could be compiled, as
 *         axe_gpu_code */
AXE_CHECK axe_status axe_gpu_prepare(axe_ctx                    *cx,
                                     const axe_gpu_prepare_spec *spec, int n,
                                     const axe_program *const *program,
                                     axe_gpu_prepared         *out);

#ifdef __cplusplus
}
#endif
#endif
