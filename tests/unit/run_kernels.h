/* run_kernels.h - kernels and array literals that several tests use. */
#ifndef RUN_KERNELS_H
#define RUN_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"

static const char gemm_text[] =
    "kernel gemm<type T = f32, BM = 16, BN = 48, BK = 32>\n"
    "    (in T A[M, K], in T B[N, K], out T C[M, N])\n"
    "{\n"
    "    index m, n, k;\n"
    "    cta (i : M by BM, j : N by BN) {\n"
    "        reg accum(T) acc[BM, BN] = 0;\n"
    "        for (kt : K by BK) {\n"
    "            shared T a[BM, BK];\n"
    "            shared T b[BN, BK];\n"
    "            a[m, k] = A[i*BM + m, kt*BK + k];\n"
    "            b[n, k] = B[j*BN + n, kt*BK + k];\n"
    "            acc[m, n] += a[m, k] * b[n, k];\n"
    "        }\n"
    "        C[i*BM + m, j*BN + n] = T(acc[m, n]);\n"
    "    }\n"
    "}\n";

static const char move_text[] =
    "kernel move<type T = f32>(in T X[M, N], out T Y[N, M])\n"
    "{\n"
    "    index m, n;\n"
    "    cta (i : M by 16, j : N by 16) {\n"
    "        shared T t[16, 16];\n"
    "        t[m, n] = X[i*16 + m, j*16 + n];\n"
    "        Y[j*16 + n, i*16 + m] = t[m, n];\n"
    "    }\n"
    "}\n";

/* Compile for arrays, or fail the test with all that was said. */
static inline const axe_program *
compile(axe_ctx *cx, const char *text, int n, const axe_array *array,
        const char *type, axe_stage last)
{
    const axe_program *p = NULL;
    int32_t source = axe_source_add(cx, "test.axe", text, strlen(text));
    axe_compile_spec spec = {.n_set = type ? 1 : 0,
                             .set_name = (const char *[]){"T"},
                             .set_value = &type};
    axe_buf          said = {.cx = cx};

    if (axe_compile_for(cx, source, &spec, n, array, last, &p) != AXE_OK) {
        axe_diags_print(cx, &said, false);
        fail_msg("%s", said.text);
    }
    return p;
}

#define MAT(name_, rows, cols, at)                                             \
    {                                                                          \
        .name = name_, .type = "f32", .rank = 2,                               \
        .shape = (const int64_t[]){rows, cols}, .data = (at)                   \
    }
#define STRIDED(name_, rows, cols, s0, s1, at)                                 \
    {                                                                          \
        .name = name_, .type = "f32", .rank = 2,                               \
        .shape = (const int64_t[]){rows, cols},                                \
        .stride = (const int64_t[]){s0, s1}, .data = (at)                      \
    }

#endif
