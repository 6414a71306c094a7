/* bench_sim.c - how fast the simulator is: multiply-adds a second on one core
 * of a Hopper GEMM made by hand, and of two in one launch, where CTAs wait for
 * one another; with all checks and with none.
 *
 *     bench_sim [K]        of 512 x 512 x K, default 1024; two: of K x K x K */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/unit/sim_kernels.h"
#include "ir/number.h"
#include "sim/sim.h"

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint16_t *
fill(axe_ctx *cx, int64_t n)
{
    uint16_t *x = axe_new_array(cx, uint16_t, n);

    for (int64_t i = 0; i < n; i++)
        axe_number_put(AXE_TYPE_f16, &x[i], (double)(i * 37 % 101) / 50 - 1);
    return x;
}

static int
measure(const gemm_spec *g, bool chain, bool no_check)
{
    axe_ctx      *cx = axe_ctx_new();
    maker         m;
    int64_t       a[2] = {g->m, g->k}, b[2] = {g->n, g->k}, c[2] = {g->m, g->n};
    int64_t       rows[2] = {1, g->m / 128};
    axe_sim_array param[] = {{fill(cx, g->m * g->k), a, NULL},
                             {fill(cx, g->n * g->k), b, NULL},
                             {fill(cx, g->m * g->n), c, NULL},
                             {fill(cx, g->m * g->n), c, NULL},
                             {axe_new_array(cx, int64_t, rows[1]), rows, NULL}};
    axe_sim_spec  spec = {.param = param, .with = {.no_check = no_check}};
    axe_sim_report     r = {0};
    const axe_lowered *l = chain ? make_chain(&m, cx, g) : make_gemm(&m, cx, g);
    double             start = now(), t;
    axe_status         st = axe_simulate(cx, l, &spec, &r);

    t = now() - start;
    if (st != AXE_OK || r.n_finding > 0)
        printf("%s\n", st != AXE_OK ? axe_last_error(cx) : r.finding[0].text);
    else
        printf("%s%lld x %lld x %lld, tile 128 x %d, cluster %d, %s: %.3g s, "
               "%.3g multiply-adds/s\n",
               chain ? "two of " : "", (long long)g->m, (long long)g->n,
               (long long)g->k, g->bn, g->cluster,
               no_check ? "no checks " : "all checks", t,
               (double)r.products / t);
    axe_ctx_free(cx);
    return st != AXE_OK;
}

int
main(int argc, char **argv)
{
    int64_t   k = argc > 1 ? atoll(argv[1]) : 1024;
    gemm_spec spec[] = {{512, 512, k, 128, 4, 1},
                        {512, 512, k, 256, 4, 2},
                        {k, k, k, 128, 4, 1}};
    int       failed = 0;

    for (int i = 0; i < AXE_LEN(spec); i++) {
        failed |= measure(&spec[i], i == 2, false);
        failed |= measure(&spec[i], i == 2, true);
    }
    return failed;
}
