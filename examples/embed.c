/* embed.c - a matrix product from C: compile a kernel's text, launch it on
 * arrays of the program.
 *
 *     cc embed.c $(pkg-config --cflags --libs axe) -o embed && ./embed
 */
#include <stdio.h>
#include <string.h>

#include "axe/run.h"

static const char text[] =
    "kernel gemm<BM = 48, BN = 96, BK = 64>\n"
    "    (in f32 A[M, K], in f32 B[N, K], out f32 C[M, N])\n"
    "{\n"
    "    index m, n, k;\n"
    "    cta (i : M by BM, j : N by BN) {\n"
    "        reg f32 acc[BM, BN] = 0;\n"
    "        for (kt : K by BK) {\n"
    "            shared f32 a[BM, BK];\n"
    "            shared f32 b[BN, BK];\n"
    "            a[m, k] = A[i*BM + m, kt*BK + k];\n"
    "            b[n, k] = B[j*BN + n, kt*BK + k];\n"
    "            acc[m, n] += a[m, k] * b[n, k];\n"
    "        }\n"
    "        C[i*BM + m, j*BN + n] = acc[m, n];\n"
    "    }\n"
    "}\n";

enum { M = 100, N = 70, K = 90 };

static float a[M][K], b[N][K], c[M][N];

static axe_array
matrix(const char *name, const int64_t *shape, void *data)
{
    axe_array x = {0};

    x.name = name;
    x.type = "f32";
    x.rank = 2;
    x.shape = shape;
    x.data = data;
    return x;
}

static axe_status
multiply(axe_ctx *cx, axe_device *device)
{
    static const int64_t mk[] = {M, K}, nk[] = {N, K}, mn[] = {M, N};
    axe_array            array[] = {matrix("A", mk, a), matrix("B", nk, b),
                                    matrix("C", mn, c)};
    axe_compile_spec     spec = {0};
    const axe_program   *program;
    axe_exec            *exec;
    axe_status           st;

    AXE_TRY(axe_compile(cx, axe_source_add(cx, "gemm", text, strlen(text)),
                        &spec, AXE_STAGE_C, &program));
    AXE_TRY(axe_exec_new(cx, device, program, &exec));
    st = axe_launch(cx, exec, 3, array, 0, NULL);
    axe_exec_free(exec);
    return st;
}

/* a[i][k] = i + k and b[j][k] = j - k have exact products to compare with. */
static int
check(void)
{
    int wrong = 0;

    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            long sum = 0;
            for (int k = 0; k < K; k++)
                sum += (long)(i + k) * (j - k);
            wrong += c[i][j] != (float)sum;
        }
    return wrong;
}

int
main(void)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_buf         said = {cx, NULL, 0, 0};
    axe_device_spec spec = {0};
    axe_device     *device = NULL;
    int             code = 1;

    for (int k = 0; k < K; k++) {
        for (int i = 0; i < M; i++)
            a[i][k] = (float)(i + k);
        for (int j = 0; j < N; j++)
            b[j][k] = (float)(j - k);
    }
    if (axe_device_new(cx, &spec, &device) == AXE_OK &&
        multiply(cx, device) == AXE_OK) {
        code = check() != 0;
        printf("C = A B^T, %d x %d x %d: %s\n", M, N, K,
               code ? "wrong" : "exact");
    }
    axe_diags_print(cx, &said, false);
    if (said.len > 0)
        fputs(said.text, stderr);
    axe_device_free(device);
    axe_ctx_free(cx);
    return code;
}
