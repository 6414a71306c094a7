/* main.c - a program with kernels compiled ahead of time: no compiler, no axe,
 * no library but libm and threads.
 *
 *     axe compile kernels/gemm.axe -o gemm.{h,a}
 *     axe compile kernels/softmax_columns.axe -o column.{h,a}
 *     cc -I. main.c gemm.a column.a -lm -lpthread -o main && ./main
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "column.h"
#include "gemm.h"

enum { M = 100, N = 70, K = 90 };

static float A[M * K], B[N * K], C[M * N], X[M * N], Y[M * N];

/* Small whole numbers, so that every sum is exact. */
static void
fill(float *x, int n, int seed)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)((i * 7 + seed) % 13 - 6);
}

static int
count_wrong(void)
{
    int wrong = 0;

    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[m * K + k] * B[n * K + k];
            wrong += C[m * N + n] != sum;
        }
    return wrong;
}

/* Columns of a softmax over them sum to 1. */
static double
farthest_column(void)
{
    double most = 0;

    for (int n = 0; n < N; n++) {
        double sum = 0;
        for (int m = 0; m < M; m++)
            sum += Y[m * N + n];
        most = fmax(most, fabs(sum - 1));
    }
    return most;
}

static void
require(int status, int wanted, const char *what)
{
    if (status == wanted)
        return;
    printf("%s: status %d, not %d\n", what, status, wanted);
    exit(1);
}

int
main(void)
{
    fill(A, M * K, 1);
    fill(B, N * K, 2);
    fill(X, M * N, 3);
    for (int n_thread = 1; n_thread <= 5; n_thread += 2) {
        for (int i = 0; i < M * N; i++)
            C[i] = -1;
        require(gemm_threads(n_thread, A, B, C, M, K, N), AXE_AOT_OK, "gemm");
        printf("gemm on %d: %d wrong\n", n_thread, count_wrong());
    }
    require(gemm(A, B, C, M, K, N), AXE_AOT_OK, "gemm");
    for (int n_thread = 1; n_thread <= 3; n_thread++) {
        require(softmax_columns_threads(n_thread, X, Y, M, N), AXE_AOT_OK,
                "softmax_columns");
        printf("columns on %d: %s\n", n_thread,
               farthest_column() < 1e-5 ? "sum to 1" : "WRONG");
    }
    require(gemm(A, B, C, -1, K, N), AXE_AOT_EARG, "a negative size");
    require(gemm(A, NULL, C, M, K, N), AXE_AOT_EARG, "no array");
    require(gemm(A, B, C, INT64_MAX, INT64_MAX, 1), AXE_AOT_EOVERFLOW, "reach");
    require(gemm_threads(0, A, B, C, M, K, N), AXE_AOT_EARG, "no thread");
    require(gemm(NULL, NULL, NULL, 0, 0, 0), AXE_AOT_OK, "nothing to do");
    return 0;
}
