/* test_direct.c - products that read their factors where they lie: at all edge
 * sizes, for sizes that are known and open; when a tile fits a cache's sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"
#include "lang/lang.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

enum { MAX = 70, N_TRIAL = 160, PERIOD = 4096, WAYS = 8 };

#define GEMM(b, e)                                                             \
    "kernel k(in f32 A[M, K], in f32 B[" b "], in f32 v[N], out f32 C[M, N]) " \
    "{ index m, n, k; cta (i : M by 16, j : N by 48) { "                       \
    "reg f32 c[16, 48] = 0; shared f32 a[16, 32]; shared f32 b[48, 32]; "      \
    "for (t : K by 32) { a[m, k] = A[i*16 + m, t*32 + k]; "                    \
    "b[n, k] = B[" e "]; c[m, n] += a[m, k] * b[n, k]; } "                     \
    "C[i*16 + m, j*48 + n] = max(c[m, n] + v[j*48 + n], 0.0); } }"

static const char nt[] = GEMM("N, K", "j*48 + n, t*32 + k");
static const char nn[] = GEMM("K, N", "t*32 + k, j*48 + n");

static float    A[MAX * MAX], B[MAX * MAX], C[MAX * MAX + 1], V[MAX];
static unsigned seed = 1;

static int
next(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 8) % n;
}

static axe_device *
open_device(axe_ctx *cx, int n_thread)
{
    axe_device *d;

    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = n_thread}, &d),
        AXE_OK);
    return d;
}

static const axe_program *
compile(axe_ctx *cx, const char *text, const int *mnk)
{
    static const char *const name[] = {"M", "N", "K"};
    static char              value[3][16];
    const char              *set[] = {value[0], value[1], value[2]};
    const axe_program       *p;
    axe_compile_spec         spec = {0};

    for (int i = 0; mnk && i < 3; i++)
        snprintf(value[i], sizeof value[i], "%d", mnk[i]);
    if (mnk)
        spec =
            (axe_compile_spec){.n_set = 3, .set_name = name, .set_value = set};
    assert_int_equal(
        axe_compile(cx, axe_source_add(cx, "k.axe", text, strlen(text)), &spec,
                    AXE_STAGE_C, &p),
        AXE_OK);
    return p;
}

static axe_status
call(axe_ctx *cx, axe_exec *e, bool plain, int M, int N, int K)
{
    const int64_t sa[] = {M, K}, sb[] = {plain ? K : N, plain ? N : K},
                  sc[] = {M, N}, sv[] = {N};
    axe_array array[] = {
        {.name = "A", .type = "f32", .rank = 2, .shape = sa, .data = A},
        {.name = "B", .type = "f32", .rank = 2, .shape = sb, .data = B},
        {.name = "v", .type = "f32", .rank = 1, .shape = sv, .data = V},
        {.name = "C", .type = "f32", .rank = 2, .shape = sc, .data = C}};
    axe_call  *c;
    axe_status st = AXE_OK;

    AXE_TRY(axe_call_new(cx, e, 4, array, 0, NULL, &c));
    for (int i = 0; i < 2 && st == AXE_OK; i++)
        st = axe_call_run(cx, c);
    axe_call_free(c);
    return st;
}

static void
check(bool plain, int M, int N, int K)
{
    for (int i = 0; i < M * N; i++) {
        double sum = (double)V[i % N];
        for (int k = 0; k < K; k++)
            sum += (double)A[i / N * K + k] *
                   (double)B[plain ? k * N + i % N : i % N * K + k];
        sum = sum > 0 ? sum : 0;
        if (fabs(sum - (double)C[i]) > 1e-4)
            fail_msg("%d x %d x %d, %d: %g, not %g", M, N, K, i, (double)C[i],
                     sum);
    }
    assert_true(isnan(C[M * N]));
}

static void
fill(void)
{
    for (int i = 0; i < MAX * MAX; i++) {
        A[i] = (float)next(200) * 0.01f - 1;
        B[i] = (float)next(200) * 0.01f - 1;
        V[i % MAX] = A[i];
    }
}

static void
sweep(const char *text, bool plain, int n_thread)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *d = open_device(cx, n_thread);
    axe_exec   *e;

    fill();
    assert_int_equal(axe_exec_new(cx, d, compile(cx, text, NULL), &e), AXE_OK);
    for (int i = 0; i < N_TRIAL; i++) {
        int M = 1 + next(MAX), N = 1 + next(MAX), K = 1 + next(MAX);
        for (int k = 0; k <= M * N; k++)
            C[k] = NAN;
        assert_int_equal(call(cx, e, plain, M, N, K), AXE_OK);
        check(plain, M, N, K);
    }
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
}

static void
test_edges(void **state)
{
    (void)state;
    sweep(nt, false, 1);
    sweep(nn, true, 2);
}

/* A program for one size runs there and nowhere else. */
static void
test_fixed(void **state)
{
    static const int size[][3] = {{33, 47, 65}, {8, 16, 1}, {64, 64, 64}};
    axe_ctx         *cx = axe_ctx_new();
    axe_device      *d = open_device(cx, 1);
    axe_buf          said = {.cx = cx};
    axe_exec        *e;

    (void)state;
    fill();
    for (int i = 0; i < AXE_LEN(size); i++) {
        const int *s = size[i];
        assert_int_equal(axe_exec_new(cx, d, compile(cx, nn, s), &e), AXE_OK);
        for (int k = 0; k <= s[0] * s[1]; k++)
            C[k] = NAN;
        assert_int_equal(call(cx, e, true, s[0], s[1], s[2]), AXE_OK);
        check(true, s[0], s[1], s[2]);
        assert_int_equal(call(cx, e, true, s[0], s[1], s[2] + 1), AXE_ESHAPE);
        axe_exec_free(e);
    }
    axe_diags_print(cx, &said, false);
    assert_non_null(strstr(said.text, "K is 65 from the program, which is made "
                                      "for it but 66 from"));
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* Of rows pieces of bytes, stride apart, in 8 ways of 4096 bytes: counted, and
 * by the rule, which may be too careful but never too bold. */
static bool
counted(int rows, int bytes, int stride)
{
    int set[PERIOD / 64] = {0};

    for (int r = 0; r < rows; r++)
        for (int b = 0; b < bytes; b += 64)
            if (++set[(r * stride + b) / 64 % (PERIOD / 64)] > WAYS)
                return false;
    return true;
}

static void
test_sets(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    int      agree = 0, n = 0;

    (void)state;
    for (int rows = 1; rows <= 64; rows += 3)
        for (int bytes = 64; bytes <= 1024; bytes *= 4)
            for (int stride = bytes; stride <= 16384; stride += 64) {
                const axe_node *fits = axe_fits_sets(
                    cx, axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, rows),
                    axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, bytes),
                    axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, stride), PERIOD,
                    WAYS);
                int64_t known;
                assert_true(axe_is_iconst(fits, &known));
                if (known && rows <= WAYS)
                    assert_true(counted(rows, bytes, stride));
                agree += (known != 0) == counted(rows, bytes, stride);
                n++;
            }
    assert_true(agree > n * 9 / 10);
    axe_ctx_free(cx);
}

/* As many rows as ways, each in a line, fit wherever they lie; one more, or
 * longer ones, where they lie well. */
static void
test_sets_anywhere(void **state)
{
    static const struct {
        int  rows, bytes, stride; /* 0: not known */
        bool known, fits;
    } row[] = {
        {WAYS, 64, PERIOD, true, true},
        {WAYS + 1, 64, PERIOD, true, false},
        {WAYS + 1, 64, PERIOD / 2, true, true},
        {2 * WAYS + 1, 64, PERIOD / 2, true, false},
        {WAYS, PERIOD + 64, 2 * PERIOD, true, false},
        {WAYS, 64, 0, true, true},
        {WAYS + 1, 64, 0, false, false},
        {WAYS, 65, 0, false, false},
    };
    axe_ctx *cx = axe_ctx_new();
    axe_var  s = {.kind = AXE_VAR_SIZE, .name = "s"};

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        const axe_node *stride =
            row[i].stride > 0
                ? axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, row[i].stride)
                : axe_var_node(cx, AXE_NOWHERE, &s);
        const axe_node *fits = axe_fits_sets(
            cx, axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, row[i].rows),
            axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, row[i].bytes), stride,
            PERIOD, WAYS);
        int64_t known;
        bool    is = axe_is_iconst(fits, &known);
        if (is != row[i].known || (is && (known != 0) != row[i].fits))
            fail_msg("row %d: %s", i, axe_node_text(cx, fits));
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_sets_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
