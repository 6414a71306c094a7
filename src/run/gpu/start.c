/* start.c - how a kernel of a program is launched, and how much of it is
 * there at a time. */
#include "run/gpu/gpu_int.h"

int
axe_gpu_count_resident(const axe_gpu *g, const axe_grid *grid, void *function,
                       int n)
{
    axe_cuda_attribute cluster = {
        .id = AXE_CUDA_LAUNCH_CLUSTER,
        .value = {(unsigned)grid->cluster, 1, 1},
    };
    axe_cuda_launch how = {
        .grid = {(unsigned)(n * g->n_sm / grid->cluster * grid->cluster), 1, 1},
        .block = {(unsigned)grid->n_thread, 1, 1},
        .shared = (unsigned)grid->shared_bytes,
        .attribute = &cluster,
        .n_attribute = 1,
    };
    int most = 0;

    if (grid->cluster > 1 && grid->persistent &&
        g->cuda->OccupancyMaxActiveClusters && how.grid[0] > 0 &&
        g->cuda->OccupancyMaxActiveClusters(&most, function, &how) == 0 &&
        most > 0)
        return most * grid->cluster;
    return (int)how.grid[0];
}

int
axe_gpu_start(const axe_cuda *cu, const axe_grid *grid, void *function,
              unsigned blocks, void *stream, void **arg, bool behind)
{
    axe_cuda_attribute also = {.id = grid->together ? AXE_CUDA_LAUNCH_TOGETHER
                                                    : AXE_CUDA_LAUNCH_EARLY,
                               .value = {1}};
    axe_cuda_launch    how = {
           .grid = {blocks, 1, 1},
           .block = {(unsigned)grid->n_thread, 1, 1},
           .shared = (unsigned)grid->shared_bytes,
           .stream = stream,
           .attribute = &also,
           .n_attribute = 1,
    };

    if (grid->together && !cu->LaunchKernelEx)
        return AXE_CUDA_NOT_SUPPORTED;
    if (grid->together || (grid->waits && behind && cu->LaunchKernelEx))
        return cu->LaunchKernelEx(&how, function, arg, NULL);
    return cu->LaunchKernel(function, blocks, 1, 1, how.block[0], 1, 1,
                            how.shared, stream, arg, NULL);
}
