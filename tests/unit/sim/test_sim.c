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
#include "share.h"
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

enum { CHAIN = 256, CHAIN_ROWS = CHAIN / 128 };

typedef struct chain {
    uint16_t      *a, *b, *c, *d;
    int64_t        square[2], rows[2], ready[CHAIN_ROWS];
    axe_sim_report found;
} chain;

static const gemm_spec chains[] = {{CHAIN, CHAIN, CHAIN, 128, 3, 1},
                                   {CHAIN, CHAIN, CHAIN, 128, 3, 2}};

static void
run_chain(chain *h, const axe_lowered *l, axe_sim_options with)
{
    *h = (chain){.a = fill_sparse(CHAIN * CHAIN, 29),
                 .b = fill_sparse(CHAIN * CHAIN, 13),
                 .c = fill(CHAIN * CHAIN, 1),
                 .d = fill(CHAIN * CHAIN, 2),
                 .square = {CHAIN, CHAIN},
                 .rows = {1, CHAIN_ROWS}};

    axe_sim_array param[] = {{h->a, h->square, NULL},
                             {h->b, h->square, NULL},
                             {h->c, h->square, NULL},
                             {h->d, h->square, NULL},
                             {h->ready, h->rows, NULL}};
    axe_sim_spec  spec = {.param = param, .with = with};

    if (axe_simulate(cx, l, &spec, &h->found) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
}

/* Two GEMMs in one launch, whose CTAs wait for one another: in all orders, with
 * place for few and for many; in a share of them by turns, from another one on
 * for each. */
static void
test_chain(void **state)
{
    static const int sms[] = {1, 5, 100};
    axe_sim_options  with;
    maker            m;
    chain            h;

    (void)state;
    for (int i = 0; i < AXE_LEN(chains) * AXE_LEN(sms); i++) {
        const axe_sim_options first = {.n_sm = sms[i % AXE_LEN(sms)]};
        const gemm_spec      *spec = &chains[i / AXE_LEN(sms)];
        for (int k = i % share(); axe_sim_order(&first, 1, 4, k, &with);
             k += share()) {
            run_chain(&h, make_chain(&m, cx, spec), with);
            expect_clean(&h.found);
            check_product(CHAIN, h.a, h.b, h.c);
            check_product(CHAIN, h.c, h.b, h.d);
            for (int r = 0; r < CHAIN_ROWS; r++)
                assert_int_equal(h.ready[r], 2 * CHAIN / 128);
        }
    }
}

/* Atoms of that name are never done; how many there are. */
static int
drop(axe_lblock *b, const char *name, node never)
{
    int n = 0;

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_ATOM && strcmp(l->atom->name, name) == 0) {
            l->pred = never;
            n++;
        }
        n += drop(&l->body, name, never) + drop(&l->other, name, never);
    }
    return n;
}

/* What orders the two taken out, it is found in every order of events. */
static void
test_chain_faults(void **state)
{
    static const struct {
        const char  *name;
        axe_sim_kind kind;
    } rows[] = {{"counter.reach", AXE_SIM_RACE},
                {"counter.count", AXE_SIM_DEADLOCK},
                {"bulk.drain", AXE_SIM_RACE}};
    const axe_sim_options first = {.n_sm = 5};
    axe_sim_options       with;
    maker                 m;
    chain                 h;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++)
        for (int k = i % share(); axe_sim_order(&first, 1, 4, k, &with);
             k += share()) {
            const axe_lowered *l = make_chain(&m, cx, &chains[0]);
            bool               found = false;
            assert_true(drop(&m.grid.body, rows[i].name, num(&m, 0)) > 0);
            run_chain(&h, l, with);
            for (int f = 0; f < h.found.n_finding; f++)
                found = found || h.found.finding[f].kind == rows[i].kind;
            assert_true(found);
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
        cmocka_unit_test_setup_teardown(test_chain_faults, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
