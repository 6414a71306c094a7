/* build_gemm.c - the kernel of embed.c without text: a matrix product built by
 * calls, shown as IR, run, and checked.
 *
 *     cc build_gemm.c $(pkg-config --cflags --libs axe) -o build && ./build
 */
#include <stdio.h>

#include "axe/ir.h"
#include "axe/run.h"

enum { BM = 48, BN = 96, BK = 64 };

typedef const axe_ir_expr *expr;

/* t[row, column] */
static expr
at(axe_builder *b, const axe_ir_tensor *t, expr row, expr column)
{
    return axe_build_load(b, t, 2, (expr[]){row, column});
}

static axe_ir_tensor *
matrix(axe_builder *b, const char *dir, const char *name, expr rows,
       expr columns)
{
    return axe_build_param(b, dir, "f32", name, 2, (expr[]){rows, columns},
                           NULL);
}

/* C[M, N] = A[M, K] * B[N, K]^T */
static axe_status
build(axe_ctx *cx, const axe_kernel **out)
{
    axe_builder   *b = axe_build_kernel(cx, "gemm");
    expr           M = axe_build_size(b, "M"), K = axe_build_size(b, "K");
    expr           N = axe_build_size(b, "N");
    expr           m = axe_build_index(b, "m"), n = axe_build_index(b, "n");
    expr           k = axe_build_index(b, "k"), ij[2], kt, row, column, depth;
    axe_ir_tensor *A = matrix(b, "in", "A", M, K);
    axe_ir_tensor *B = matrix(b, "in", "B", N, K);
    axe_ir_tensor *C = matrix(b, "out", "C", M, N), *acc, *x, *y;

    axe_build_scope(b, "cta", 2, (axe_ir_range[]){{"i", M, BM}, {"j", N, BN}},
                    ij);
    row = axe_build_tiled(b, ij[0], BM, m);
    column = axe_build_tiled(b, ij[1], BN, n);
    acc = axe_build_tile(b, "reg", "f32", "acc", 2, (int64_t[]){BM, BN}, NULL);
    axe_build_fill(b, acc, axe_build_float(b, "f32", 0));

    kt = axe_build_for(b, (axe_ir_range){"kt", K, BK});
    depth = axe_build_tiled(b, kt, BK, k);
    x = axe_build_tile(b, "shared", "f32", "a", 2, (int64_t[]){BM, BK}, NULL);
    y = axe_build_tile(b, "shared", "f32", "b", 2, (int64_t[]){BN, BK}, NULL);
    axe_build_label(b, "load_a");
    axe_build_assign(b, at(b, x, m, k), "=", at(b, A, row, depth));
    axe_build_label(b, "load_b");
    axe_build_assign(b, at(b, y, n, k), "=", at(b, B, column, depth));
    axe_build_label(b, "multiply");
    axe_build_assign(b, at(b, acc, m, n), "+=",
                     axe_build_binary(b, "*", at(b, x, m, k), at(b, y, n, k)));
    axe_build_end(b);

    axe_build_label(b, "store");
    axe_build_assign(b, at(b, C, row, column), "=", at(b, acc, m, n));
    axe_build_end(b);
    return axe_build_finish(b, out);
}

/* ------------------------------------------------------------------- usage */

enum { ROWS = 100, COLUMNS = 70, DEPTH = 90 };

static float a[ROWS][DEPTH], b[COLUMNS][DEPTH], c[ROWS][COLUMNS];

static axe_status
multiply(axe_ctx *cx, axe_device *device, axe_buf *ir)
{
    const axe_array array[] = {
        {"A", "f32", 2, (int64_t[]){ROWS, DEPTH}, NULL, a},
        {"B", "f32", 2, (int64_t[]){COLUMNS, DEPTH}, NULL, b},
        {"C", "f32", 2, (int64_t[]){ROWS, COLUMNS}, NULL, c},
    };
    const axe_kernel  *kernel;
    const axe_program *program;
    axe_exec          *exec;
    axe_status         st;

    AXE_TRY(build(cx, &kernel));
    AXE_TRY(axe_compile_kernel(cx, kernel, "cpu", AXE_STAGE_C, &program));
    AXE_TRY(axe_program_emit(cx, program, AXE_STAGE_IR, ir));
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

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            long sum = 0;
            for (int k = 0; k < DEPTH; k++)
                sum += (long)(i + k) * (j - k);
            wrong += c[i][j] != (float)sum;
        }
    return wrong;
}

int
main(void)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_buf         said = {cx, NULL, 0, 0}, ir = {cx, NULL, 0, 0};
    axe_device_spec spec = {0};
    axe_device     *device = NULL;
    int             code = 1;

    for (int k = 0; k < DEPTH; k++) {
        for (int i = 0; i < ROWS; i++)
            a[i][k] = (float)(i + k);
        for (int j = 0; j < COLUMNS; j++)
            b[j][k] = (float)(j - k);
    }
    if (axe_device_new(cx, &spec, &device) == AXE_OK &&
        multiply(cx, device, &ir) == AXE_OK) {
        code = check() != 0;
        printf("%sC = A B^T, %d x %d x %d: %s\n", ir.text, ROWS, COLUMNS, DEPTH,
               code ? "wrong" : "exact");
    }
    axe_diags_print(cx, &said, false);
    if (said.len > 0)
        fputs(said.text, stderr);
    axe_device_free(device);
    axe_ctx_free(cx);
    return code;
}
