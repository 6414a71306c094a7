/* test_sim.c - the simulator on grids made by hand: what they compute, and what
 * is found in them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"
#include "sim/sim.h"
#include "sim_kernels.h"

static axe_ctx *cx;

static int
set_up(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    axe_ctx_free(cx);
    return 0;
}

/* Simulate, or fail the test with all that was said. */
static axe_sim_report
simulate(const axe_lowered *l, axe_sim_policy policy, uint64_t seed,
         const axe_sim_array *param)
{
    axe_sim_report r = {0};
    axe_sim_spec   spec = {.param = param,
                           .with = {.policy = policy, .seed = seed}};
    axe_buf        said = {.cx = cx};

    if (axe_simulate(cx, l, &spec, &r) != AXE_OK) {
        axe_diags_print(cx, &said, false);
        fail_msg("%s", said.text);
    }
    return r;
}

static void
expect_clean(const axe_sim_report *r)
{
    axe_buf said = {.cx = cx};

    if (r->n_finding == 0)
        return;
    axe_sim_report_print(cx, &said, r);
    fail_msg("%s", said.text);
}

/* The first finding of that kind. */
static const axe_sim_finding *
expect(const axe_sim_report *r, axe_sim_kind kind)
{
    axe_buf said = {.cx = cx};

    for (int i = 0; i < r->n_finding; i++)
        if (r->finding[i].kind == kind)
            return &r->finding[i];
    axe_sim_report_print(cx, &said, r);
    fail_msg("no '%s' in\n%s", axe_sim_kind_name(kind), said.text);
    return NULL;
}

static void
test_copy(void **state)
{
    enum { N = 4096 };
    static float   x[N], y[N];
    maker          m;
    int64_t        shape[2] = {1, N};
    axe_sim_array  param[2] = {{x, shape, NULL}, {y, shape, NULL}};
    axe_sim_report r;

    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    r = simulate(make_copy(&m, cx, N), AXE_SIM_LAZY, 1, param);
    expect_clean(&r);
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(r.global_read, sizeof x);
    assert_int_equal(r.global_written, sizeof x);
    assert_int_equal(r.n_block, 8);
}

static void
test_transpose(void **state)
{
    static float   x[32][32], y[32][32];
    maker          m;
    int64_t        shape[2] = {32, 32};
    axe_sim_array  param[2] = {{x, shape, NULL}, {y, shape, NULL}};
    axe_sim_report r;

    (void)state;
    for (int i = 0; i < 1024; i++)
        x[i / 32][i % 32] = (float)i;
    r = simulate(make_transpose(&m, cx, 32), AXE_SIM_LAZY, 1, param);
    expect_clean(&r);
    assert_int_equal(r.shared_read, sizeof x);
    assert_int_equal(r.shared_written, sizeof x);
    assert_int_equal(r.conflicts, 32 * 31);
    for (int i = 0; i < 1024; i++)
        assert_true(y[i % 32][i / 32] == x[i / 32][i % 32]);
    r = simulate(make_transpose(&m, cx, 33), AXE_SIM_LAZY, 1, param);
    expect_clean(&r);
    assert_int_equal(r.conflicts, 0);
    const axe_lowered *l = make_transpose(&m, cx, 33);
    axe_lir           *barrier = m.grid.body.item[1];
    barrier->kind = AXE_LIR_NOTE;
    r = simulate(l, AXE_SIM_LAZY, 1, param);
    const axe_sim_finding *f = expect(&r, AXE_SIM_RACE);
    assert_int_equal(f->at.line, 6);
    assert_int_equal(f->other.line, 3);
}

static void
test_double_buffer(void **state)
{
    enum { ROWS = 7 };
    static float   x[ROWS][128], y[128];
    maker          m;
    int64_t        in[2] = {ROWS, 128}, out[2] = {1, 128};
    axe_sim_array  param[2] = {{x, in, NULL}, {y, out, NULL}};
    axe_sim_report r;

    (void)state;
    for (int i = 0; i < ROWS * 128; i++)
        x[i / 128][i % 128] = (float)i;
    for (int policy = 0; policy < 22; policy++) {
        memset(y, 0, sizeof y);
        r = simulate(make_double_buffer(&m, cx, ROWS),
                     policy < 2 ? (axe_sim_policy)policy : AXE_SIM_RANDOM,
                     (uint64_t)policy, param);
        expect_clean(&r);
        for (int i = 0; i < 128; i++)
            assert_true(y[i] == (float)(ROWS * i + 128 * 21));
    }
}

/* ------------------------------------------------------------------- GEMM */

typedef struct gemm {
    gemm_spec     spec;
    uint16_t     *a, *b, *c;
    int64_t       shape[3][2];
    axe_sim_array param[3];
} gemm;

static uint16_t *
fill(int64_t n, unsigned seed)
{
    uint16_t *x = axe_new_array(cx, uint16_t, n);

    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        axe_number_put(AXE_TYPE_f16, &x[i], (double)(seed >> 24) / 64 - 2);
    }
    return x;
}

static void
gemm_new(gemm *g, gemm_spec spec)
{
    g->spec = spec;
    g->a = fill(spec.m * spec.k, 1);
    g->b = fill(spec.n * spec.k, 2);
    g->c = fill(spec.m * spec.n, 3);
    g->shape[0][0] = g->shape[2][0] = spec.m;
    g->shape[1][0] = g->shape[2][1] = spec.n;
    g->shape[0][1] = g->shape[1][1] = spec.k;
    g->param[0] = (axe_sim_array){g->a, g->shape[0], NULL};
    g->param[1] = (axe_sim_array){g->b, g->shape[1], NULL};
    g->param[2] = (axe_sim_array){g->c, g->shape[2], NULL};
}

static void
gemm_check(const gemm *g)
{
    for (int64_t i = 0; i < g->spec.m; i += 7)
        for (int64_t j = 0; j < g->spec.n; j++) {
            double sum = 0, got;
            for (int64_t k = 0; k < g->spec.k; k++)
                sum += axe_number_get(AXE_TYPE_f16, &g->a[i * g->spec.k + k]) *
                       axe_number_get(AXE_TYPE_f16, &g->b[j * g->spec.k + k]);
            got = axe_number_get(AXE_TYPE_f16, &g->c[i * g->spec.n + j]);
            assert_true(fabs(got - sum) <= 1e-3 * fabs(sum) + 1e-2);
        }
}

static void
test_gemm(void **state)
{
    static const gemm_spec spec[] = {{128, 128, 320, 128, 3, 1},
                                     {256, 128, 320, 128, 3, 2},
                                     {256, 256, 64, 256, 2, 2}};
    maker                  m;
    gemm                   g;

    (void)state;
    for (int i = 0; i < AXE_LEN(spec); i++)
        for (int policy = 0; policy < 4; policy++) {
            axe_sim_report r;
            gemm_new(&g, spec[i]);
            r = simulate(make_gemm(&m, cx, &g.spec),
                         policy < 2 ? (axe_sim_policy)policy : AXE_SIM_RANDOM,
                         (uint64_t)policy, g.param);
            expect_clean(&r);
            gemm_check(&g);
            assert_int_equal(r.products, spec[i].m * spec[i].n * spec[i].k);
        }
}

/* Small integers, so that all sums are exact in f16. */
static uint16_t *
fill_sparse(int64_t n, int of)
{
    uint16_t *x = axe_new_array(cx, uint16_t, n);

    for (int64_t i = 0; i < n; i++)
        axe_number_put(AXE_TYPE_f16, &x[i],
                       i * 2654435761 % 1021 % of == 0 ? 1 : 0);
    return x;
}

static void
check_product(int n, const uint16_t *a, const uint16_t *b, const uint16_t *c)
{
    for (int i = 0; i < n; i += 3)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += axe_number_get(AXE_TYPE_f16, &a[i * n + k]) *
                       axe_number_get(AXE_TYPE_f16, &b[j * n + k]);
            assert_true(axe_number_get(AXE_TYPE_f16, &c[i * n + j]) == sum);
        }
}

/* Two GEMMs in one launch, whose CTAs wait for one another: in all orders, with
 * place for few and for many. */
static void
test_chain(void **state)
{
    enum { N = 256, ROWS = N / 128 };
    static const gemm_spec spec[] = {{N, N, N, 128, 3, 1},
                                     {N, N, N, 128, 3, 2}};
    static const int       sms[] = {1, 5, 100};
    int64_t                square[2] = {N, N}, rows[2] = {1, ROWS};
    maker                  m;

    (void)state;
    for (int i = 0; i < AXE_LEN(spec) * AXE_LEN(sms); i++)
        for (int order = 0; order >= 0; order++) {
            const axe_sim_options first = {.n_sm = sms[i % AXE_LEN(sms)]};
            uint16_t *a = fill_sparse(N * N, 29), *b = fill_sparse(N * N, 13);
            uint16_t *c = fill(N * N, 1), *d = fill(N * N, 2);
            int64_t  *ready = axe_new_array(cx, int64_t, ROWS);
            axe_sim_array  param[] = {{a, square, NULL},
                                      {b, square, NULL},
                                      {c, square, NULL},
                                      {d, square, NULL},
                                      {ready, rows, NULL}};
            axe_sim_spec   with = {.param = param};
            axe_sim_report r = {0};
            if (!axe_sim_order(&first, 1, 4, order, &with.with))
                break;
            if (axe_simulate(cx, make_chain(&m, cx, &spec[i / AXE_LEN(sms)]),
                             &with, &r) != AXE_OK)
                fail_msg("%s", axe_last_error(cx));
            expect_clean(&r);
            check_product(N, a, b, c);
            check_product(N, c, b, d);
            for (int k = 0; k < ROWS; k++)
                assert_int_equal(ready[k], 2 * N / 128);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_transpose, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_double_buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gemm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
