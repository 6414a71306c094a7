/* test_cost_index.c - what the model of GPUs makes of indices that are read:
 * weights of experts by an index for each tile, guards against what is none,
 * rows that are gathered. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/cost/simt.h"
#include "run/program.h"

/* Products of tiles of 64 rows with the weights of one of E experts each. */
#define KERNEL(scalar, guard, rows)                                            \
    "kernel k(in bf16 X[M, K], in i32 row[P], in i32 expert[Q],\n"             \
    "         in bf16 V[E, N, K], out f32 Y[P, N]) {\n"                        \
    "    index m, n, k;\n"                                                     \
    "    cta (i : P by 64, j : N by 128) warps 4 {\n"                          \
    "        shared bf16 x[64, 64]; shared bf16 v[128, 64];\n"                 \
    "        reg f32 acc[64, 128] = 0;\n" scalar guard                         \
    "        for (t : K by 64) {\n"                                            \
    "            x[m, k] = X[" rows ", t*64 + k];\n"                           \
    "            v[n, k] = V[e, j*128 + n, t*64 + k];\n"                       \
    "            acc[m, n] += x[m, k] * v[n, k];\n"                            \
    "        }\n"                                                              \
    "        Y[i*64 + m, j*128 + n] = acc[m, n];\n"                            \
    "    }\n"                                                                  \
    "}\n"

enum { N = 1024, K = 2048 };

/* With so many tiles of rows and experts, and M rows of X. */
static axe_simt_cost
cost_of(const char *text, int64_t tiles, int64_t experts, int64_t m)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_compile_spec   spec = {.machine = "sm_90a"};
    const axe_program *p;
    axe_simt_cost      c;
    int64_t            size[8] = {0};

    if (axe_compile(cx, axe_source_add(cx, "k", text, strlen(text)), &spec,
                    AXE_STAGE_PLAN, &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    for (int i = 0; i < p->kernel->n_size; i++)
        switch (p->kernel->size[i]->name[0]) {
        case 'P':
            size[i] = tiles * 64;
            break;
        case 'Q':
            size[i] = tiles;
            break;
        case 'E':
            size[i] = experts;
            break;
        case 'M':
            size[i] = m;
            break;
        default:
            size[i] = p->kernel->size[i]->name[0] == 'N' ? N : K;
        }
    axe_simt_cost_plan(cx, p->plan, size, &c);
    axe_ctx_free(cx);
    return c;
}

static void
near(double have, double want, double part)
{
    if (fabs(have / want - 1) > part)
        fail_msg("%g, not %g", have, want);
}

static const char *const by_scalar =
    KERNEL("        i32 e = expert[i];\n", "", "i*64 + m");
static const char *const guarded = KERNEL(
    "        i32 e = expert[i];\n", "        if (i64(e) < E)\n", "i*64 + m");
static const char *const by_data = KERNEL(
    "        i32 e = expert[i];\n", "        if (row[i] > e)\n", "i*64 + m");
static const char *const gathered =
    KERNEL("        i32 e = expert[i];\n", "", "row[i*64 + m]");

/* 64 tiles of 64 experts, 32 tiles of 64, 128 of 64: each expert's weights come
 * once; more than L2 holds goes with X and Y. */
static void
test_experts(void **state)
{
    const double each = 2.0 * N * K, x = 64 * 2.0 * K, y = 64 * 4.0 * N;

    (void)state;
    near(cost_of(by_scalar, 64, 64, 64 * 64).memory_bytes, 64 * (each + x + y),
         0.02);
    near(cost_of(by_scalar, 32, 64, 32 * 64).memory_bytes, 32 * (each + x + y),
         0.02);
    near(cost_of(by_scalar, 128, 64, 128 * 64).memory_bytes,
         64 * each + 128 * (x + y), 0.02);
}

/* A guard against an index that is none holds; a comparison of data does for
 * one tile in two. */
static void
test_guards(void **state)
{
    double all = 64 * 64 * 2.0 * N * K;

    (void)state;
    near(cost_of(by_scalar, 64, 64, 64 * 64).flops, all, 1e-9);
    near(cost_of(guarded, 64, 64, 64 * 64).flops, all, 1e-9);
    near(cost_of(by_data, 64, 64, 64 * 64).flops, all / 2, 1e-9);
}

/* Rows that are gathered may be any: no more than there are. */
static void
test_rows(void **state)
{
    const double each = 2.0 * N * K, y = 64 * 4.0 * N, row = 2.0 * K;

    (void)state;
    near(cost_of(gathered, 64, 64, 512).memory_bytes,
         64 * (each + y) + 512 * row, 0.02);
    near(cost_of(gathered, 64, 64, 1 << 20).memory_bytes,
         64 * (each + y + 64 * row), 0.02);
}

/* Eight experts' weights fit into L2, but the launch before had others. */
static void
test_picked(void **state)
{
    const double each = 2.0 * N * K;
    double       few = cost_of(by_scalar, 8, 64, 8 * 64).memory_bytes;

    (void)state;
    assert_true(few >= 8 * each && few < 8.5 * each);
    assert_true(cost_of(by_scalar, 8, 8, 8 * 64).memory_bytes == 0);
}

/* Two scopes of 200 tiles each in one launch: it saves a launch, less the wait
 * until counters are zeros; apart nothing is counted. */
static void
test_apart(void **state)
{
#define SCOPES(word)                                                           \
    "kernel k(in f32 X[M, K], out f32 Y[M, K]) {\n"                            \
    "    index m, k; global f32 H[M, K];\n"                                    \
    "    " word " {\n"                                                         \
    "    cta (i : M by 16) H[i*16 + m, k] = exp(X[i*16 + m, k]);\n"            \
    "    cta (i : M by 16) Y[i*16 + m, k] = exp(H[i*16 + m, k]);\n"            \
    "    }\n"                                                                  \
    "}\n"
    axe_simt_cost one = cost_of(SCOPES("overlap"), 50, 1, 200 * 16);
    axe_simt_cost two = cost_of(SCOPES("if (M > 0)"), 50, 1, 200 * 16);

    (void)state;
    assert_true(one.apart_s > 0 && two.apart_s > 0);
    near(two.apart_s, two.seconds, 1e-9);
    near(one.apart_s, two.seconds, 1e-9);
    /* a launch takes 3 us, and to wait for zeros some tenths of one */
    assert_true(one.seconds < one.apart_s - 2e-6);
    assert_true(one.seconds > one.apart_s - 3e-6);
}

int
main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_experts), cmocka_unit_test(test_guards),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_picked),
        cmocka_unit_test(test_apart),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
