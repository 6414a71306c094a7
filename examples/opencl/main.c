/* main.c - a product on a device of OpenCL, by a function that axe made:
 *
 *     axe compile kernels/gemm.axe --target opencl-sg16 -o gemm.h gemm.c
 *     cc main.c gemm.c -lOpenCL -lpthread
 *
 * The first device that has sub-groups of 16 lanes, or the one whose number
 * among all is given; numbers are such that every order of sums is exact. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemm.h"

enum { M = 70, N = 37, K = 41, MAX_DEVICE = 16 };

static float a[M * K], b[N * K], c[M * N];

static cl_device_id
find_device(int number)
{
    cl_platform_id platform[MAX_DEVICE];
    cl_device_id   device[MAX_DEVICE];
    cl_uint        n_platform = 0, n;
    int            at = 0;

    clGetPlatformIDs(MAX_DEVICE, platform, &n_platform);
    for (cl_uint i = 0; i < n_platform; i++) {
        n = 0;
        clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, MAX_DEVICE, device, &n);
        for (cl_uint j = 0; j < n; j++)
            if (at++ == number)
                return device[j];
    }
    return NULL;
}

static int
count_wrong(void)
{
    int bad = 0;

    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[m * K + k] * b[n * K + k];
            bad += sum != c[m * N + n];
        }
    return bad;
}

static cl_mem
copy_in(cl_context context, void *data, size_t bytes)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          bytes, data, NULL);
}

int
main(int argc, char **argv)
{
    cl_device_id device = find_device(argc > 1 ? atoi(argv[1]) : 0);
    cl_context   context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    int status;

    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < N * K; i++)
        b[i] = (float)(i % 5 - 2);
    cl_mem A = copy_in(context, a, sizeof a), B = copy_in(context, b, sizeof b);
    cl_mem C = copy_in(context, c, sizeof c);

    status = gemm(A, B, C, M, K, N, queue);
    if (status == AXE_AOT_OK)
        clEnqueueReadBuffer(queue, C, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL);
    printf("gemm: status %d, %d wrong\n", status, count_wrong());
    printf("a buffer that is too small: %d\n",
           gemm(A, B, C, M + 1, K, N, queue));
    printf("no queue: %d\n", gemm(A, B, C, M, K, N, NULL));
    printf("no rows: %d\n", gemm(NULL, B, NULL, 0, K, N, queue));
    clFinish(queue);
    axe_release_gemm(context);
    clReleaseMemObject(A);
    clReleaseMemObject(B);
    clReleaseMemObject(C);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return status != AXE_AOT_OK;
}
