/* test_sim_tmem.c - tensor memory: the results of products in it, and bugs put
 * into a kernel that is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/number.h"
#include "sim/sim.h"
#include "tc_grids.h"

enum { M = 256, N = 128, K = 192 };

static axe_ctx       *cx;
static maker          m;
static uint16_t       a[M * K], b[N * K];
static float          c[M * N];
static axe_sim_report r;

static const tc_spec spec = {M, N, K, 32, 3};

static void
fill(uint16_t *x, int64_t n, int by)
{
    for (int64_t i = 0; i < n; i++)
        axe_number_put(AXE_TYPE_f16, &x[i], (double)(i * by % 17) - 8);
}

static double
half(const uint16_t *x)
{
    return axe_number_get(AXE_TYPE_f16, x);
}

static axe_status
simulate(const axe_lowered *l, axe_sim_options with)
{
    static const int64_t shape[3][2] = {{M, K}, {N, K}, {M, N}};
    const axe_sim_array  param[3] = {
         {a, shape[0], NULL}, {b, shape[1], NULL}, {c, shape[2], NULL}};
    const axe_sim_spec spec_ = {.param = param, .with = with};

    fill(a, M * K, 5);
    fill(b, N * K, 7);
    memset(c, 0xff, sizeof c);
    r = (axe_sim_report){0};
    return axe_simulate(cx, l, &spec_, &r);
}

static const char *
said(void)
{
    axe_buf out = {.cx = cx};

    axe_sim_report_print(cx, &out, &r);
    return out.text;
}

/* Sums of small integers are exact in any order. */
static void
check_sums(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += half(&a[i * K + k]) * half(&b[j * K + k]);
            if ((double)c[i * N + j] != sum)
                fail_msg("C[%d, %d] is %g, not %g", i, j, (double)c[i * N + j],
                         sum);
        }
}

static void
test_clean(void **state)
{
    enum { ORDERS = 12 };

    (void)state;
    for (int i = 0; i < ORDERS; i++) {
        axe_sim_options with = {i < 2 ? (axe_sim_policy)i : AXE_SIM_RANDOM,
                                (uint64_t)i, 0, 0, false};
        cx = axe_ctx_new();
        if (simulate(make_tc(&m, cx, &spec), with) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        if (r.n_finding > 0)
            fail_msg("order %d: %s", i, said());
        check_sums();
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
