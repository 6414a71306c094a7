/* gpu_int.h - the insides of a GPU device. */
#ifndef AXE_RUN_GPU_GPU_INT_H
#define AXE_RUN_GPU_GPU_INT_H

#include "axe/gpu.h"
#include "lower/lower.h"
#include "machine/machine.h"
#include "run/array/handle.h"
#include "run/array/values.h"
#include "run/cache/cache.h"
#include "run/gpu/cuda.h"

struct axe_gpu {
    axe_tag            tag;
    unsigned           forks; /* before it: no context survives one */
    bool               stuck; /* what its streams do may never end */
    axe_ctx           *cx;    /* where its texts live */
    const axe_cuda    *cuda;
    const axe_machine *machine;
    int                device, major, minor, n_sm;
    const char        *name;
    void              *ctx;
    void              *nothing; /* what maps of empty tensors see, or NULL */
    axe_cache          cache;
};

/* Can what it has be given back?  Else that is left to the end of the process.
 */
static inline bool
axe_gpu_goes_on(const axe_gpu *g)
{
    return g->forks == axe_forks() && !g->stuck;
}

/* Make the GPU's context current for a while; every push has its pop. */
AXE_CHECK axe_status axe_gpu_push(axe_ctx *cx, const axe_gpu *g);
void                 axe_gpu_pop(const axe_gpu *g);

/* code.c: EARG, EUNSUPPORTED: not compiled so far, or for no GPU. */
AXE_CHECK axe_status axe_gpu_check_program(axe_ctx *cx, const axe_program *p);
/* Machine code from the cache or from NVRTC; the caller frees it. */
AXE_CHECK axe_status axe_gpu_get_code(axe_ctx *cx, axe_cache *c,
                                      const axe_program *p, bool *cached,
                                      axe_bytes *out);

/* start.c: CTAs that are there at a time, n of them on an SM; of clusters:
 * their GPCs have SMs left over, which only the driver knows. */
int axe_gpu_count_resident(const axe_gpu *g, const axe_grid *grid,
                           void *function, int n);
/* The driver's answer.  A grid that waits for the one before it may begin while
 * that runs, if behind: what was last put into the stream is a grid of the same
 * call.  Behind anything else it begins as any launch does. */
int axe_gpu_start(const axe_cuda *cu, const axe_grid *grid, void *function,
                  unsigned blocks, void *stream, void **arg, bool behind);

/* CTAs of each of its grids that the GPU runs at a time. */
int axe_gpu_exec_resident(const axe_gpu_exec *e);

/* A tensor map that was made, and of what. */
typedef struct axe_gpu_made {
    bool          is;
    void         *data;
    uint64_t      size[5], stride[5];
    unsigned char map[AXE_CUDA_MAP_BYTES];
} axe_gpu_made;

/* Maps of the first n grids. */
int axe_gpu_n_maps(const axe_lowered *lw, int n);
/* A tensor map for this launch; of a tensor without elements one of a zero, so
 * that reading it anywhere gives zeros, as reading outside of any tensor does.
 * data    the tensor's address in device memory
 * made    the one of the launch before, which is taken if it is the same: the
 *         driver takes a microsecond for each
 * Errors  EUNSUPPORTED: an extent or stride that no map can hold, with which */
AXE_CHECK axe_status axe_gpu_map(axe_ctx *cx, axe_gpu *g, const axe_map *m,
                                 const axe_values *values, void *data,
                                 axe_gpu_made *made,
                                 unsigned char out[AXE_CUDA_MAP_BYTES]);

#endif
