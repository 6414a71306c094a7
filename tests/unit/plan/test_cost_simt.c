/* test_cost_simt.c - what the model of GPUs must know, by hand arithmetic:
 * cycles of tensor cores, tiles in rounds, bytes by tiles and multicast, what
 * L2 keeps; and that it ranks as anyone would. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/run.h"
#include "plan/cost/simt.h"
#include "run/array/file.h"
#include "run/program.h"

typedef struct ask {
    const char *file, *kernel, *machine, *type;
    int64_t     m, n, k;            /* m < 0: sizes are not known */
    const char *name[2], *value[2]; /* of further parameters */
} ask;

static const axe_program *
planned(axe_ctx *cx, const ask *q)
{
    const char        *name[3] = {"T"}, *value[3] = {q->type};
    int                n = q->type != NULL;
    axe_bytes          b;
    const axe_program *p;

    for (int i = 0; i < 2 && q->name[i]; i++, n++) {
        name[n] = q->name[i];
        value[n] = q->value[i];
    }
    assert_int_equal(axe_file_read(cx,
                                   axe_textf(cx, "%s/kernels/%s.axe",
                                             AXE_SOURCE_DIR, q->file),
                                   &b),
                     AXE_OK);
    int32_t src = axe_source_add(cx, q->file, (const char *)b.data, b.len);
    free(b.data);
    axe_compile_spec spec = {.kernel = q->kernel,
                             .machine = q->machine,
                             .n_set = n,
                             .set_name = name,
                             .set_value = value};
    assert_int_equal(axe_compile(cx, src, &spec, AXE_STAGE_PLAN, &p), AXE_OK);
    return p;
}

static axe_simt_cost
cost_of(ask q)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_program *p = planned(cx, &q);
    int64_t            size[8];
    axe_simt_cost      c;

    for (int i = 0; i < p->kernel->n_size; i++) {
        const char *s = p->kernel->size[i]->name;
        size[i] = strchr("MSL", *s)   ? q.m
                  : strchr("NGR", *s) ? q.n
                  : *s == 'P'         ? (q.n + 127) / 128
                  : *s == 'Q'         ? (q.k + 127) / 128
                                      : q.k;
    }
    axe_simt_cost_plan(cx, p->plan, q.m < 0 ? NULL : size, &c);
    axe_ctx_free(cx);
    return c;
}

static ask
hopper(int64_t m, int64_t n, int64_t k)
{
    return (ask){"gemm_sm90", NULL, "sm_90a", "bf16", m, n, k, {0}, {0}};
}

static ask
with(ask q, const char *name, const char *value)
{
    int i = q.name[0] ? 1 : 0;

    q.name[i] = name;
    q.value[i] = value;
    return q;
}

static void
near(double have, double want, double part)
{
    if (fabs(have / want - 1) > part)
        fail_msg("%g, not %g", have, want);
}

/* 64 x 16 tiles of 128 x 256 in clusters of two, 66 at a time. */
static void
test_rounds(void **state)
{
    static const struct {
        int64_t n, k;
        double  full;
    } shape[] = {{4096, 12288, 0.970},  {4096, 14336, 0.970},
                 {24576, 4096, 0.990},  {8192, 28672, 0.970},
                 {16384, 53248, 0.970}, {28672, 4096, 0.987}};

    (void)state;
    for (size_t i = 0; i < AXE_LEN(shape); i++) {
        axe_simt_cost c = cost_of(hopper(8192, shape[i].n, shape[i].k));
        assert_true(c.tiles == (double)shape[i].n / 4);
        assert_true(c.resident == 1);
        near(c.full, shape[i].full, 1e-3);
    }
    near(cost_of(with(hopper(8192, 4096, 4096), "CLUSTER", "4")).full,
         1024 / (8.0 * 128), 1e-9);
    near(cost_of(hopper(128, 256, 64)).full, 1.0 / 132, 1e-9);
}

/* 4096 operations in a cycle of each of 132 SMs, at 1.46 GHz: 790 TFLOP/s. */
static void
test_products(void **state)
{
    double flops = 2.0 * 8192 * 8192 * 8192;
    axe_simt_cost
        c = cost_of(hopper(8192, 8192, 8192)),
        mma = cost_of(
            (ask){"gemm", NULL, "sm_80", "bf16", 4096, 4096, 4096, {0}, {0}}),
        fma = cost_of(
            (ask){"gemm", NULL, "sm_80", "f32", 4096, 4096, 4096, {0}, {0}});

    (void)state;
    assert_true(c.flops == flops);
    near(c.least_s, flops / 789.4e12, 1e-3);
    near(c.peak_s, flops / (132 * 4096 * 1.755e9), 1e-6);
    near(c.busy[AXE_BUSY_TENSOR], 16 * 132 / 2048.0 * flops / 789.4e12, 1e-3);
    assert_true(c.seconds > c.least_s);
    near(mma.least_s, 2 * pow(4096, 3) / (108 * 2048 * 1.16e9), 1e-3);
    near(fma.least_s, pow(4096, 3) / (108 * 64 * 1.41e9), 1e-6);
    near(fma.busy[AXE_BUSY_ISSUE] * 1024 / (108 * 10),
         pow(4096, 3) / (108 * 64 * 1.41e9), 0.05);
}

/* A K-step brings 16 KiB of A, and 32 KiB of B or half of it. */
static void
test_multicast(void **state)
{
    axe_simt_cost two = cost_of(hopper(8192, 8192, 8192)),
                  one = cost_of(with(hopper(8192, 8192, 8192), "CLUSTER", "1"));
    double steps = 2048 * 128, out = 8192.0 * 8192 * 2;

    (void)state;
    assert_true(two.l2_bytes == steps * (16384 + 16384) + out);
    assert_true(one.l2_bytes == steps * (16384 + 32768) + out);
    assert_true(one.seconds > two.seconds);
}

/* What fits into 50 MB of L2 comes from memory never again; what does not,
 * once a wave at most. */
static void
test_memory(void **state)
{
    axe_simt_cost
        small = cost_of(hopper(1024, 1024, 1024)),
        large = cost_of(hopper(8192, 24576, 4096)),
        copy = cost_of((ask){
            "elementwise", "add", "sm_90a", "bf16", 16384, 8192, 0, {0}, {0}});
    double once = 2.0 * (8192 * 4096 + 24576.0 * 4096 + 8192.0 * 24576);

    (void)state;
    assert_true(small.memory_bytes == 0);
    assert_true(large.memory_bytes >= once);
    /* Four bands of 16 tiles; a band's A stays, all of B comes for each. */
    near(large.memory_bytes, once + 3 * 2 * 24576.0 * 4096, 1e-6);
    assert_true(large.memory_bytes < large.l2_bytes / 4);
    assert_true(copy.memory_bytes == 3 * 2 * 16384.0 * 8192);
    assert_int_equal(copy.most, AXE_BUSY_MEMORY);
    near(copy.least_s, 3 * 2 * 16384.0 * 8192 / 4300e9, 1e-9);
}

/* Rows come from memory once where registers hold them.  Longer ones are read
 * three times, from memory if those of all CTAs at a time do not fit into L2,
 * else once. */
static void
test_rows(void **state)
{
    ask wide = {"softmax", NULL, "sm_90a", "f32", 32768, 8192, 0, {0}, {0}};
    ask wider = {"softmax", NULL, "sm_90a", "f32", 32768, 40000, 0, {0}, {0}};
    ask widest = {"softmax", NULL, "sm_90a", "f32", 4096, 65536, 0, {0}, {0}};
    axe_simt_cost eight = cost_of(with(wide, "BM", "64")),
                  one = cost_of(with(wide, "BM", "1")), far = cost_of(widest);

    (void)state;
    near(eight.memory_bytes, 2.0 * 4 * 32768 * 8192, 1e-6);
    near(one.memory_bytes, 2.0 * 4 * 32768 * 8192, 1e-6);
    assert_true(one.l2_bytes == one.memory_bytes);
    assert_true(one.seconds < 1.08 * one.least_s);
    near(cost_of(wider).memory_bytes, 2.0 * 4 * 32768 * 40000, 1e-6);
    near(far.memory_bytes, 4.0 * 4 * 4096 * 65536, 1e-6);
    assert_true(far.most == AXE_BUSY_MEMORY);
}

/* The four CTAs of a cluster share two folds of whole rows, and each writes its
 * part: three times X from L2, once from memory as a wave's rows stay there.
 * Twice where two clusters stand side by side and come one after the other. */
static void
test_shared_folds(void **state)
{
    ask q = {
        "softmax_cluster", NULL, "sm_90a", "f32", 16384, 4096, 0, {0}, {0}};
    double        x = 4.0 * 16384 * 4096;
    axe_simt_cost one = cost_of(q), two;

    (void)state;
    q.n = 8192;
    two = cost_of(q);
    near(one.l2_bytes, 4 * x, 1e-9);
    near(one.memory_bytes, 2 * x, 1e-9);
    near(two.l2_bytes, 2 * (2 * 2 * x + 2 * x), 1e-9);
    near(two.memory_bytes, 2 * (2 * x + x), 1e-9);
}

/* Two warp groups: one multiplies while the other takes exponentials, but for
 * those of the first block. */
static void
test_turns(void **state)
{
    ask q = {"attention_sm90", NULL, "sm_90a", "f16", 8192, 32, 0, {0}, {0}};
    axe_simt_cost all = cost_of(q), half = cost_of(with(q, "CAUSAL", "1"));

    (void)state;
    near(all.flops, 4.0 * 32 * 32 * 8192 * 8192 * 128, 1e-9);
    near(half.flops, all.flops / 2, 0.02);
    assert_true(all.seconds < 1.15 * all.busy[AXE_BUSY_ISSUE] ||
                all.seconds < 1.15 * all.busy[AXE_BUSY_TENSOR]);
    assert_true(half.seconds < 0.6 * all.seconds);
}

/* What a statement reads twice it loads once; exponentials go to another unit
 * than what is added meanwhile, and loads to neither. */
/* A triangle: the loop over columns ends at the diagonal, so that row of tiles
 * i of n has cdiv((i + 1) * BM, BN) iterations.  Counted one by one, for few
 * rows of tiles, and for so many that the model looks at some. */
static void
test_triangle(void **state)
{
    static const struct {
        const char *file;
        int64_t     size;
        int         bm, bn;
    } row[] = {
        {"attention", 2048, 64, 64},
        {"attention", 8192, 64, 64},
        {"attention", 16384, 64, 64},
        {"attention_sm90", 16384, 128, 128},
    };

    (void)state;
    for (size_t r = 0; r < AXE_LEN(row); r++) {
        ask    q = {row[r].file, NULL, "sm_90a",   "f16", row[r].size,
                    4,           64,   {"CAUSAL"}, {"0"}};
        double all = cost_of(q).flops, turns = 0, n = 0;
        for (int64_t i = 0; i < row[r].size; i += row[r].bm) {
            turns += ceil(fmin((double)(i + row[r].bm), (double)row[r].size) /
                          row[r].bn);
            n += ceil((double)row[r].size / row[r].bn);
        }
        q.value[0] = "1";
        near(cost_of(q).flops / all, turns / n, 0.02);
        near(cost_of(q).seconds / cost_of((q.value[0] = "0", q)).seconds,
             turns / n, 0.25);
    }
}

static void
test_maps(void **state)
{
    ask q = {"gelu", NULL, "sm_90a", "f32", 8192, 8192, 0, {0}, {0}};
    ask two = {"rope", NULL, "sm_90a", "bf16", 32768, 0, 64, {0}, {0}};
    ask a100 = {"gelu", NULL, "sm_80", "bf16", 8192, 8192, 0, {0}, {0}};
    ask most = {"softmax", NULL, "sm_90a", "f32", 8192, 8192, 0, {0}, {0}};
    axe_simt_cost c = cost_of(q), rope = cost_of(two);

    (void)state;
    assert_true(c.l2_bytes == 2.0 * 4 * 8192 * 8192);
    assert_true(c.memory_bytes == c.l2_bytes);
    assert_int_equal(c.most, AXE_BUSY_MEMORY);
    /* 8 to divide, 5 of the exponential, 6 others (1 + a*b is one of them), a
     * load and a store of four elements each; 16 of 15.5 tiles an SM */
    near(c.busy[AXE_BUSY_ISSUE] * 1.755e9 * 132,
         8192.0 * 8192 / 128 * 19.5 * 16 / 15.515, 1e-3);
    /* In 64 lanes: 6 to divide, 5 of the exponential, 5 others.  Two casts of
     * what is read and of the result, though the first is written four times,
     * comparing and the rest of the quotient go elsewhere. */
    near(cost_of(a100).busy[AXE_BUSY_ISSUE] * 1.41e9 * 108,
         8192.0 * 8192 / 64 * (16 + 0.125) * 19 / 18.963, 1e-3);
    /* A maximum in units of 64 lanes; an exponential by units of 16; a sum; a
     * product.  One quotient a row.  A load and a store of four. */
    near(cost_of(most).busy[AXE_BUSY_ISSUE] * 1.755e9 * 132,
         8192.0 * 8192 / 128 * (2 + 8 + 1 + 1 + 0.5) * 63 / 62.06, 1e-3);
    /* Half a head of 64 elements does not fill a warp, but four heads do; both
     * halves are read by two statements, from L2 once. */
    assert_true(rope.most == AXE_BUSY_MEMORY || rope.most == AXE_BUSY_L2);
    assert_true(cost_of(with(two, "BS", "1")).l2_bytes <
                0.7 * cost_of(with(two, "BS", "8")).l2_bytes);
}

static void
test_order(void **state)
{
    ask q = hopper(8192, 4096, 12288);

    (void)state;
    assert_true(cost_of(with(q, "STAGES", "2")).seconds > cost_of(q).seconds);
    assert_true(cost_of(with(with(q, "BM", "128"), "BN", "128")).seconds >
                cost_of(q).seconds);
    assert_true(cost_of(hopper(8192, 4096, 24576)).seconds >
                1.9 * cost_of(q).seconds);
}

/* 512 rows of sums in two groups, and those of a block beside them, are more
 * than threads have: 256 + 64 of 232.  128 of gate and up and 64 of a block are
 * not, nor 64 of results that come when the block is no more. */
static void
test_spills(void **state)
{
    ask q = {"gemm_fp8_epilogue_sm90",
             "gemm_fp8_act_sm90",
             "sm_90a",
             NULL,
             4096,
             7168,
             16384,
             {0},
             {0}};
    ask both = {"gemm_fp8_swiglu_sm90",
                NULL,
                "sm_90a",
                NULL,
                4096,
                7168,
                16384,
                {0},
                {0}};
    ask two = with(q, "STAGES", "2");

    (void)state;
    assert_true(cost_of(with(two, "BM", "512")).most == AXE_BUSY_CHAIN);
    assert_true(cost_of(with(two, "BM", "512")).seconds >
                1.2 * cost_of(two).seconds);
    assert_int_equal(cost_of(both).most, AXE_BUSY_SHARED);
}

/* [cycles] of one tile's longest role for each of 64 more iterations. */
static double
turn_of(ask q, int64_t block)
{
    ask longer = q;

    longer.k += 64 * block;
    return (cost_of(longer).busy[AXE_BUSY_CHAIN] -
            cost_of(q).busy[AXE_BUSY_CHAIN]) *
           1.46e9 / 64;
}

/* Two groups of 64 x 64 x 64 take 128 cycles each.  Two stages, of which one is
 * still read: both come back in the 1000 cycles that memory takes; of six, four
 * are read meanwhile. */
static void
test_stalls(void **state)
{
    ask q = with(hopper(128, 64, 4096), "BN", "64");

    (void)state;
    q.name[1] = "STAGES";
    q.value[1] = "2";
    near(turn_of(q, 64), 256 + 1000 / 2.0, 1e-6);
    q.value[1] = "3";
    near(turn_of(q, 64), 256 + (1000 - 256) / 3.0, 1e-6);
    q.value[1] = "6";
    near(turn_of(q, 64), 256, 1e-6);
}

/* The scale of a block of B is asked for before its products and comes with 31
 * others: nobody waits for it. */
static void
test_scales(void **state)
{
    ask q = {"gemm_fp8_sm90", NULL, "sm_90a", NULL, 256, 128, 4096, {0}, {0}};
    ask few = {"gemm_fp8_small_sm90",
               NULL,
               "sm_90a",
               NULL,
               16,
               7168,
               16384,
               {"BM"},
               {"16"}};
    axe_simt_cost c = cost_of(few);

    (void)state;
    near(turn_of(q, 128), 4 * 256, 1e-3);
    assert_int_equal(c.most, AXE_BUSY_MEMORY);
    assert_true(c.seconds < 1.01 * c.least_s + 3e-6);
    few.file = "gemm_fp8_sm90";
    few.name[0] = "BM";
    few.value[0] = "128";
    assert_true(cost_of(few).seconds > 1.5 * c.seconds);
}

static void
test_unknown(void **state)
{
    (void)state;
    assert_true(cost_of(hopper(-1, 0, 0)).seconds < 0);
    assert_true(cost_of(hopper(64, 64, 7)).seconds < 0); /* no tensor map */
    assert_true(cost_of(hopper(0, 4096, 4096)).seconds == 0);
}

int
main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_rounds),    cmocka_unit_test(test_products),
        cmocka_unit_test(test_multicast), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_turns),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_spills),    cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_scales),    cmocka_unit_test(test_triangle),
        cmocka_unit_test(test_maps),      cmocka_unit_test(test_shared_folds),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
