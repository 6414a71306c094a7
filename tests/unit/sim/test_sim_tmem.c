/* test_sim_tmem.c - tensor memory: the results of products in it, and bugs put
 * into a kernel that is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edits.h"
#include "ir/number.h"
#include "share.h"
#include "sim/sim.h"
#include "tc_grids.h"

enum { M = 256, N = 128, K = 192 };

static axe_ctx       *cx;
static maker          m;
static uint16_t       a[M * K], b[N * K];
static float          c[M * N];
static axe_sim_report r;

static const tc_spec specs[] = {{M, N, K, 32, 3, 1}, {M, N, K, 32, 3, 2}};

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
    int orders = 12 / share();

    (void)state;
    for (int i = 0; i < 2 * orders; i++) {
        int             order = i / 2;
        axe_sim_options with = {.policy = order < 2 ? (axe_sim_policy)order
                                                    : AXE_SIM_RANDOM,
                                .seed = (uint64_t)order};
        cx = axe_ctx_new();
        if (simulate(make_tc(&m, cx, &specs[i % 2]), with) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        if (r.n_finding > 0)
            fail_msg("order %d: %s", order, said());
        check_sums();
        axe_ctx_free(cx);
    }
}

/* clang-format off */
static const mutation rows[] = {
    {"columns are not allocated",              0, "tc.alloc", 0, DROP, 0, 0, K(UNINIT)},
    {"fewer columns than the tiles have",      0, "tc.alloc", 0, SET, 1, 32, K(TMEM)},
    {"48 columns",                             0, "tc.alloc", 0, SET, 1, 48, K(TMEM)},
    {"their address is not read",              0, "ld.shared", 0, DROP, 0, 0, K(UNINIT)},
    {"it is read before it is there",          0, "barrier.cta", 0, DROP, 0, 0, K(RACE)},
    {"columns are not freed",                  0, "tc.free", 0, DROP, 0, 0, K(TMEM)},
    {"not all of them are freed",              0, "tc.free", 0, SET, 1, 32, K(TMEM)},
    {"columns of the second tile are freed",   0, "tc.free", 0, SET, 0, 32, K(TMEM)},
    {"they are freed while others use them",   0, "barrier.cta", 1, DROP, 0, 0, K(RACE)},
    {"they are freed without AFTER",           0, "tc.after", 3, DROP, 0, 0, K(TFENCE)},
    {"sums are not waited for",                0, "mbarrier.wait", 4, DROP, 0, 0, K(RACE)},
    {"sums, by the wrong parity",              0, "mbarrier.wait", 4, FLIP, 1, 0, K(RACE) | K(LAPPED)},
    {"sums of another accumulator",            0, "mbarrier.wait", 4, SET, 0, 0, K(RACE) | K(LAPPED) | K(DEADLOCK)},
    {"no AFTER behind the sums",               0, "tc.after", 2, DROP, 0, 0, K(TFENCE)},
    {"an accumulator is not waited for",       0, "mbarrier.wait", 2, DROP, 0, 0, K(RACE)},
    {"one, by the wrong parity",               0, "mbarrier.wait", 2, FLIP, 1, 0, K(DEADLOCK)},
    {"no AFTER when it is free",               0, "tc.after", 1, DROP, 0, 0, K(TFENCE)},
    {"no BEFORE when it is given back",        0, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"it is not given back",                   0, "mbarrier.arrive", 0, DROP, 0, 0, K(DEADLOCK)},
    {"it is given back by all lanes",          0, "mbarrier.arrive", 0, ANYBODY, 0, 0, K(ARRIVALS) | K(RACE)},
    {"three of four warps give it back",       0, "mbarrier.init", 7, SET, 1, 3, K(RACE) | K(ARRIVALS)},
    {"loads are not drained",                  0, "tc.ld.drain", 0, DROP, 0, 0, K(FLIGHT)},
    {"a warp does not load",                   0, "tc.ld.32x32b", 0, ONLY, 0, 3, K(PARTIAL)},
    {"a load of the other accumulator",        0, "tc.ld.32x32b", 0, SET, 1, 0, K(RACE)},
    {"a load one lane on",                     0, "tc.ld.32x32b", 0, ADD, 1, 65536, K(REACH)},
    {"a load of the next warp's lanes",        0, "tc.ld.32x32b", 0, ADD, 1, 32 * 65536, K(REACH)},
    {"a load beyond the tile",                 0, "tc.ld.32x32b", 0, ADD, 1, 33, K(BOUNDS)},
    {"registers are loaded too far on",        0, "tc.ld.32x32b", 0, ADD, 0, 1, K(BOUNDS)},
    {"a full stage is not waited for",         0, "mbarrier.wait", 3, DROP, 0, 0, K(RACE)},
    {"an empty stage is not waited for",       0, "mbarrier.wait", 0, DROP, 0, 0, K(RACE)},
    {"products of another stage",              0, "tc.f32", ALL, SET, 1, 0, K(RACE)},
    {"a descriptor 2 bytes on",                0, "tc.f32", ALL, ADD, 2, 1, K(LAYOUT)},
    {"sums always in the first accumulator",   0, "tc.f32", ALL, SET, 0, 0, K(RACE) | K(UNINIT)},
    {"sums 16 columns on",                     0, "tc.f32", ALL, ADD, 0, 16, K(RACE) | K(BOUNDS)},
    {"sums a lane on",                         0, "tc.f32", ALL, ADD, 0, 65536, K(BOUNDS)},
    {"the first product adds to nothing",      0, "tc.f32", 0, SET, 3, 1, K(UNINIT)},
    {"stages are not given back",              0, "tc.commit", 0, DROP, 0, 0, K(DEADLOCK)},
    {"sums are not committed",                 0, "tc.commit", 1, DROP, 0, 0, K(DEADLOCK)},
    {"sums are committed to another barrier",  0, "tc.commit", 1, SET, 0, 1, K(DEADLOCK) | K(RACE)},
    {"stages are committed to another one",    0, "tc.commit", 0, SET, 0, 0, K(DEADLOCK)},
    {"barriers are not seen by the engine",    0, "mbarrier.inited", 0, DROP, 0, 0, K(UNINITED)},
    {"bytes of one CTA only",                  1, "mbarrier.expect", 0, SET, 1, 18432, K(BYTES)},
    {"bytes are told to the second CTA",       1, "tma.load.pair", 0, CTA, 2, 1, K(BYTES) | K(DEADLOCK)},
    {"stages are free for the first CTA only", 1, "tc.pair.commit", 0, SET, 1, 1, K(DEADLOCK) | K(BYTES)},
    {"sums are there for the first CTA only",  1, "tc.pair.commit", 1, SET, 1, 1, K(DEADLOCK)},
    {"sums are there for the second CTA only", 1, "tc.pair.commit", 1, SET, 1, 2, K(DEADLOCK)},
    {"sums are there for a third CTA",         1, "tc.pair.commit", 1, SET, 1, 7, K(BOUNDS)},
    {"an accumulator is not waited for",       1, "mbarrier.wait", 2, DROP, 0, 0, K(RACE)},
    {"it is given back to the second CTA",     1, "mbarrier.arrive.cluster", 0, SET, 1, 1, K(DEADLOCK)},
    {"by one CTA of two",                      1, "mbarrier.init", 7, SET, 1, 4, K(RACE) | K(LAPPED)},
    {"no BEFORE when it is given back",        1, "tc.before", 1, DROP, 0, 0, K(RACE)},
    {"no AFTER before the products",           1, "tc.after", 1, DROP, 0, 0, K(TFENCE)},
    {"no AFTER behind the sums",               1, "tc.after", 2, DROP, 0, 0, K(TFENCE)},
    {"columns for two, of one that begins late", 1, "barrier.cluster", 0, DROP, 0, 0, K(LATE)},
    {"the CTAs do not meet first",             1, "barrier.cluster", 1, DROP, 0, 0, K(RACE) | K(UNINITED)},
    {"the CTAs do not meet at the end",        1, "barrier.cluster", 2, DROP, 0, 0, K(RACE) | K(LEFT)},
    {"stages may be read when they end",       0, "mbarrier.wait", 1, DROP, 0, 0, K(LEFT)},
    {"a stage less is waited for",             0, "mbarrier.wait", 1, SET, 0, 0, K(LEFT) | K(LAPPED) | K(DEADLOCK)},
    {"columns are freed without AFTER",        1, "tc.after", 3, DROP, 0, 0, K(TFENCE)},
    {"sums of the other accumulator",          1, "tc.ld.32x32b", 0, SWAP, 1, 32, K(RACE) | K(UNINIT)},
    {"products of another stage",              1, "tc.f32", ALL, SET, 2, 0, K(RACE)},
    {"sums beyond the columns",                1, "tc.f32", ALL, ADD, 0, 33, K(BOUNDS)},
};
/* clang-format on */

static bool
is_found(const mutation *k)
{
    const axe_lowered *l = make_tc(&m, cx, &specs[k->kernel]);
    int                left = k->nth;

    if (edit_grid(cx, k, &m.grid, &left) == 0)
        fail_msg("%s: there is no %s number %d", k->what, k->atom, k->nth);
    if (simulate(l, (axe_sim_options){.max_step = 100000}) != AXE_OK)
        fail_msg("%s: %s", k->what, axe_last_error(cx));
    for (int i = 0; i < r.n_finding; i++)
        if (k->kinds >> r.finding[i].kind & 1)
            return true;
    print_error("%s: %s\n", k->what, said());
    return false;
}

static void
test_mutations(void **state)
{
    int n_missed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        cx = axe_ctx_new();
        n_missed += !is_found(&rows[i]);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_missed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
