/* test_trainium.c - the tables of Trainium: what isa226 gives for single
 * instructions, complete rows, layouts that lie in the memories there are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"
#include "axe/machine.h"
#include "machine/trainium.h"

/* Costs at extents, in cycles, worked out by hand from the published formulas.
 */
static const struct {
    const char  *op, *engine;
    axe_trn_when when;
    const char  *roles;
    int64_t      extent[3];
    double       cycles;
} costs[] = {
    {"nc_matmul", "tensor", AXE_TRN_ALWAYS, "mn", {128, 512}, 512},
    {"nc_matmul", "tensor", AXE_TRN_ALWAYS, "mn", {128, 1}, 64},
    {"nc_matmul", "tensor", AXE_TRN_ALWAYS, "mn", {16, 1}, 16},
    {"nc_matmul", "tensor", AXE_TRN_WIDE, "mn", {128, 512}, 2048},
    {"nc_matmul", "tensor", AXE_TRN_WIDE, "mn", {48, 40}, 192},
    {"nc_transpose", "tensor", AXE_TRN_ALWAYS, "pf", {128, 40}, 128},
    {"nc_transpose", "tensor", AXE_TRN_ALWAYS, "pf", {20, 128}, 64},
    {"nc_transpose", "vector", AXE_TRN_ALWAYS, "pf", {32, 32}, 64},
    {"activation", "scalar", AXE_TRN_ALWAYS, "pf", {128, 513}, 513},
    {"activation_reduce", "scalar", AXE_TRN_ALWAYS, "pf", {128, 513}, 577},
    {"tensor_tensor", "vector", AXE_TRN_PSUM_SBUF, "pf", {128, 320}, 320},
    {"tensor_tensor", "vector", AXE_TRN_FAST_BF16, "pf", {128, 320}, 320},
    {"tensor_tensor", "vector", AXE_TRN_ALWAYS, "pf", {128, 320}, 640},
    {"tensor_scalar", "vector", AXE_TRN_ALWAYS, "pf", {128, 5}, 64},
    {"tensor_scalar_reduce", "vector", AXE_TRN_ALWAYS, "pf", {9, 200}, 264},
    {"tensor_reduce", "vector", AXE_TRN_ALWAYS, "fr", {4, 128}, 512},
    {"tensor_reduce", "vector", AXE_TRN_FOLD_BF16, "fr", {4, 128}, 256},
    {"reciprocal", "vector", AXE_TRN_ALWAYS, "pf", {1, 30}, 240},
    {"memset", "vector", AXE_TRN_ZERO_TWO, "pf", {1, 300}, 150},
    {"memset", "gpsimd", AXE_TRN_ALWAYS, "pf", {1, 300}, 300},
    {"iota", "gpsimd", AXE_TRN_ALWAYS, "pf", {1, 300}, 450},
};

static void
test_costs(void **state)
{
    int                     n;
    const axe_trn_cost_row *row = axe_trn_costs(&n);

    (void)state;
    for (int i = 0; i < AXE_LEN(costs); i++) {
        int64_t role[128] = {0};
        int     found = 0;
        for (int k = 0; costs[i].roles[k]; k++)
            role[(int)costs[i].roles[k]] = costs[i].extent[k];
        for (int k = 0; k < n; k++)
            if ((int)row[k].op == axe_trn_find_op(costs[i].op) &&
                (int)row[k].engine == axe_trn_find_engine(costs[i].engine) &&
                row[k].when == costs[i].when) {
                assert_true(axe_trn_cycles(&row[k], role) == costs[i].cycles);
                found++;
            }
        assert_int_equal(found, 1);
    }
}

/* The fact sheet's times of an instruction, in ns. */
static void
test_clocks(void **state)
{
    (void)state;
    assert_int_equal(lround(512 / axe_trn_engines[AXE_TRN_tensor].ghz), 183);
    assert_int_equal(lround(512 / axe_trn_engines[AXE_TRN_scalar].ghz), 366);
    assert_int_equal(lround(512 / axe_trn_engines[AXE_TRN_vector].ghz), 457);
}

/* Each engine of each instruction but the DMA's has a cost that always holds,
 * and no row is of an engine that does not run it. */
static void
test_complete(void **state)
{
    int                     n;
    const axe_trn_cost_row *row = axe_trn_costs(&n);

    (void)state;
    for (unsigned op = 0; op < AXE_TRN_N_OP; op++)
        for (unsigned e = 0; e < AXE_TRN_N_ENGINE; e++) {
            bool runs = (axe_trn_ops[op].engines >> e & 1) != 0;
            int  always = 0, some = 0;
            for (int k = 0; k < n; k++)
                if (row[k].op == op && row[k].engine == e) {
                    some++;
                    always += row[k].when == AXE_TRN_ALWAYS;
                }
            assert_int_equal(always, runs && e != AXE_TRN_dma);
            assert_true(runs || some == 0);
        }
}

/* A tile of elements of 4 bytes is in each memory with partitions. */
static void
check_inside(axe_ctx *cx, const axe_layout *l, unsigned memories)
{
    for (int m = 0; m < AXE_TRN_N_MEMORY; m++) {
        const axe_trn_memory_row *row = &axe_trn_memories[m];
        int64_t                   p, f;
        if (row->partitions == 0 || (memories >> m & 1) == 0)
            continue;
        axe_axis on_p, on_f;
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "P", &on_p), AXE_OK);
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "F", &on_f), AXE_OK);
        assert_int_equal(axe_layout_cosize(cx, l, on_p, &p), AXE_OK);
        assert_int_equal(axe_layout_cosize(cx, l, on_f, &f), AXE_OK);
        assert_true(p <= row->partitions && f * 4 <= row->bytes);
        assert_true(row->bank == 0 || f * 4 <= row->bank);
    }
}

/* Every tile of every instruction, at the most that its roles may have, lies in
 * each memory that it may be in, element by element in places of its own. */
static void
test_layouts(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    int      tiles = 0;

    (void)state;
    assert_int_equal(axe_axes_use(cx, axe_machine_axes("trainium")), AXE_OK);
    for (unsigned op = 0; op < AXE_TRN_N_OP; op++) {
        int                    n;
        const axe_trn_arg_row *a = axe_trn_args((axe_trn_op)op, &n);
        assert_true(n <= AXE_TRN_MAX_ARG);
        assert_int_equal(a[0].kind, AXE_TRN_OUT);
        for (int i = 0; i < n; i++) {
            char              role[AXE_TRN_MAX_ROLE + 1];
            int64_t           extent[AXE_TRN_MAX_ROLE], size = 1;
            const axe_layout *l;
            assert_int_equal(*a[i].layout != '\0', a[i].memories != 0);
            if (!*a[i].layout)
                continue;
            axe_trn_roles(a[i].layout, role);
            for (int k = 0; role[k]; k++) {
                int64_t most = axe_trn_most((axe_trn_op)op, role[k]);
                extent[k] = most < 128 ? most : k == 0 ? 128 : most;
                if (most == INT64_MAX)
                    extent[k] = k == 0 ? 128 : 16;
                size *= extent[k];
            }
            assert_int_equal(
                axe_layout_read(cx, axe_trn_layout(cx, &a[i], extent), &l),
                AXE_OK);
            assert_true(l->size == size);
            bool apart;
            assert_int_equal(axe_layout_injective(cx, l, &apart, NULL), AXE_OK);
            assert_true(apart);
            check_inside(cx, l, a[i].memories);
            tiles++;
        }
    }
    assert_true(tiles > 40);
    axe_ctx_free(cx);
}

static const struct {
    const char *text, *error;
} wrong[] = {
    {"dma_gb=3", "there is no parameter 'dma_gb'"},
    {"dma_gbs=x",
     "'dma_gbs=x' is no value of dma_gbs: a number above 0, to 1e9"},
    {"dma_gbs", "'dma_gbs' is no value of dma_gbs: a number above 0, to 1e9"},
    {"dma_gbs=-1",
     "'dma_gbs=-1' is no value of dma_gbs: a number above 0, to 1e9"},
    {"weights_per=0",
     "'weights_per=0' is no value of weights_per: a number above 0, to 1e9"},
    {"latency=-1",
     "'latency=-1' is no value of latency: a number from 0 to 1e9"},
    {"dma_queues=0",
     "'dma_queues=0' is no value of dma_queues: a number from 1 to 64"},
    {"dma_engines=nan",
     "'dma_engines=nan' is no value of dma_engines: a number from 1 to 64"},
};

static void
test_params(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    axe_trn_params p, q;
    axe_buf        b = {.cx = cx};

    (void)state;
    assert_int_equal(axe_trn_profile(cx, "legacy", &p), AXE_OK);
    assert_int_equal(axe_trn_profile(cx, "doc", &q), AXE_OK);
    assert_true(p.dma_gbs == 104 && q.dma_gbs == 272 && q.latency == 60);
    assert_int_equal(axe_trn_profile(cx, "docs", &p), AXE_ENAME);
    assert_string_equal(axe_last_error(cx), "there is no profile 'docs'");
    assert_int_equal(axe_trn_set_param(cx, "semaphore=12.5", &q), AXE_OK);
    assert_true(q.semaphore == 12.5);
    for (int i = 0; i < AXE_LEN(wrong); i++) {
        assert_true(axe_trn_set_param(cx, wrong[i].text, &q) != AXE_OK);
        assert_string_equal(axe_last_error(cx), wrong[i].error);
    }
    axe_trn_put_params(&b, &q);
    assert_non_null(strstr(b.text, "semaphore            12.5 ns "));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),    cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_complete), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
