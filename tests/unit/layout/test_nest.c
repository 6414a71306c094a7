/* test_nest.c - tables: fusing and splitting axes, storage, packing, and the
 * axis tables of the machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"
#include "axe/machine.h"

static axe_ctx *
open_ctx(const char *machine)
{
    axe_ctx *cx = axe_ctx_new();

    assert_non_null(cx);
    if (axe_axes_load(cx, axe_machine_axes(machine)) != AXE_OK)
        fail_msg("%s: %s", machine, axe_last_error(cx));
    return cx;
}

typedef enum op { FUSE, SPLIT, STORAGE, PACK, UNPACK } op;

/* clang-format off */
static const struct {
    op          op;
    const char *machine, *in, *arg, *want;
} rows[] = {
    /* TVM's fusions. */
    {FUSE, "cuda", "(2, 2, 8, 4) : (2@warpid, 1@warpid, 4@laneid, 1@laneid)",
     "tx", "(2, 2, 8, 4) : (64@tx, 32@tx, 4@tx, 1@tx)"},
    {FUSE, "cuda", "(2, 2, 8) : (2@wgid, 2@wid_in_wg, 4@laneid)",
     "tx", "(2, 2, 8) : (256@tx, 64@tx, 4@tx)"},
    {FUSE, "cuda", "(2, 4, 8, 2) : (1@wid_in_wg, 4@m, 4@laneid, 1@m)",
     "tid_in_wg", "(2, 4, 8, 2) : (32@tid_in_wg, 4, 4@tid_in_wg, 1)"},
    {FUSE, "cuda", "(2, 2) : (1@wgid, 1@wid_in_wg)",
     "warpid", "(2, 2) : (4@warpid, 1@warpid)"},
    {FUSE, "cuda", "(128) : (1@tx)", "tx", "(128) : (1@tx)"},
    {FUSE, "cuda", "(8, 4) : (4@laneid, 1@m)", "laneid",
     "(8, 4) : (4@laneid, 1)"},
    /* D, R and O alike: TVM would lose one of the two offsets. */
    {FUSE, "nvidia", "((4, 2), 8) : ((4@lane, 1), 1@reg) + [2 : 2@warp] + "
     "1@warp + 2@lane", "thread",
     "((4, 2), 8) : ((4@thread, 1), 1@reg) + [2 : 64@thread] + 34@thread"},
    {FUSE, "nvidia", "(2, 4, 32) : (1@warpgroup, 1@wid, 1@lane)", "thread",
     "(2, 4, 32) : (128@thread, 32@thread, 1@thread)"},
    {FUSE, "nvidia", "(2, 128) : (1@warpgroup, 1@tid)", "thread",
     "(2, 128) : (128@thread, 1@thread)"},
    {FUSE, "nvidia", "(2, 4) : (1@warpgroup, 1@wid)", "warp",
     "(2, 4) : (4@warp, 1@warp)"},
    {FUSE, "nvidia", "(4, 32) : (1@wid, 1@lane)", "tid",
     "(4, 32) : (32@tid, 1@tid)"},
    {FUSE, "cuda", "(2, 128) : (1@wgid, 1@tid_in_wg)", "tx",
     "(2, 128) : (128@tx, 1@tx)"},
    {FUSE, "nvidia", "(4, 32) : (1@warp, -1@lane) + 31@lane", "thread",
     "(4, 32) : (32@thread, -1@thread) + 31@thread"},
    {FUSE, "nvidia", "(4) : (1@m)", "thread", "(4) : (1)"},
    {FUSE, "nvidia", "(4, 33) : (1@warp, 1@lane)", "thread",
     "fuse: lane reaches from 0 to 32, and thread = 32 warp + lane needs it in "
     "[0, 32)"},
    {FUSE, "nvidia", "(4, 32) : (1@warp, 1@lane) - 1@lane", "thread",
     "fuse: lane reaches from -1 to 30, and thread = 32 warp + lane needs it "
     "in [0, 32)"},
    {FUSE, "nvidia", "(32) : (1@lane)", "thread",
     "fuse: the layout uses lane but not warp, and thread = 32 warp + lane "
     "needs both"},
    {FUSE, "nvidia", "(4, 32) : (1@warpgroup, 1@lane)", "thread",
     "fuse: the layout uses lane but not warp, and thread = 32 warp + lane "
     "needs both"},
    {FUSE, "nvidia", "(4, 4, 32) : (1@warp, 32@thread, 1@lane)", "thread",
     "fuse: the layout uses thread and also its parts, warp or lane"},
    {FUSE, "nvidia", "(4, 32) : (1@warp, K@lane)", "thread",
     "fuse: a stride on lane is known only at run time, so whether it stays "
     "below 32 is not"},
    {FUSE, "nvidia", "(4, 1) : (K@warp, 7@lane)", "thread",
     "(4, 1) : (32*K@thread, 7@thread)"},
    {FUSE, "nvidia", "(4, 4) : (144115188075855872@warp, 1@lane)", "thread",
     "fuse: shard iter 0, extent 4 times stride 4611686018427387904, leaves "
     "int64"},
    {FUSE, "nvidia", "(4, 1) : (1@warp, K@lane)", "thread",
     "(4, 1) : (32@thread, K@thread)"},
    {FUSE, "nvidia", "(2, 4) : (4611686018427387904@warp, 1@lane)", "thread",
     "fuse: a stride on warp times 32 leaves int64"},

    {SPLIT, "nvidia", "(128) : (1@thread)", "thread",
     "((4, 32)) : ((1@warp, 1@lane))"},
    {SPLIT, "nvidia", "(2, 4, 8) : (64@thread, 1@m, 4@thread)", "thread",
     "(2, 4, 8) : (2@warp, 1, 4@lane)"},
    {SPLIT, "nvidia", "(4, 8) : (16@thread, 1@thread)", "thread",
     "((2, 2), 8) : ((1@warp, 16@lane), 1@lane)"},
    {SPLIT, "nvidia", "(128) : (-1@thread) + 127@thread", "thread",
     "((4, 32)) : ((-1@warp, -1@lane)) + 31@lane + 3@warp"},
    {SPLIT, "nvidia", "(4) : (1@m) + [2 : 64@thread] + 40@thread", "thread",
     "(4) : (1) + [2 : 2@warp] + 8@lane + 1@warp"},
    {SPLIT, "nvidia", "(4) : (1@thread) + 3 - 1@reg", "thread",
     "(4) : (1@lane) + 3 - 1@reg"},
    {SPLIT, "nvidia", "(8) : (1@warp)", "warp",
     "((2, 4)) : ((1@warpgroup, 1@wid))"},
    {SPLIT, "nvidia", "(4) : (1@m)", "thread", "(4) : (1)"},
    {SPLIT, "nvidia", "(2) : (40@thread)", "thread",
     "split: 2 steps of 40 straddle a digit of 32 values"},
    {SPLIT, "nvidia", "(3) : (16@thread)", "thread",
     "split: 3 steps of 16 straddle a digit of 32 values"},
    {SPLIT, "nvidia", "(48) : (1@thread)", "thread",
     "split: 48 steps of 1 straddle a digit of 32 values"},
    {SPLIT, "nvidia", "(2, 2) : (16@thread, 16@thread)", "thread",
     "split: 2 steps of 16 carry out of the digit (32) that others use too"},
    {SPLIT, "nvidia", "(2) : (1@thread) + 31@thread", "thread",
     "split: 2 steps of 1 carry out of the digit (32) that others use too"},
    {SPLIT, "nvidia", "(2) : (1@thread) - 1@thread", "thread",
     "split: the coordinates on thread begin at -1, below 0"},
    {SPLIT, "nvidia", "(2) : (K@thread)", "thread",
     "split: 1*K on thread is known only at run time"},
    {SPLIT, "nvidia", "(2, 2) : (1@thread, 1@lane)", "thread",
     "split: the layout uses thread and also its parts, warp or lane"},
    {SPLIT, "nvidia", "(2) : (1@lane)", "lane",
     "split: no nesting of lane is known"},

    {STORAGE, "cuda", "(2, 8, 8, 4, 2) : (2, 4@laneid, 4, 1@laneid, 1)", "0",
     "(2, (), 8, (), 2) : (2, (), 4, (), 1)"},
    {STORAGE, "nvidia", "((8, 2), 4) : ((4@lane, 2@reg), 1@lane) + [2 : 1@warp]"
     " + 5@warp + 1@reg", "0", "(2, ()) : (2@reg, ()) + 1@reg"},
    {STORAGE, "nvidia", "(8, 2) : (1@gpuid, 1@lane)", "0",
     "((), ()) : ((), ())"},
    {STORAGE, "nvidia", "swizzle(128) o (8, 64) : (1@lane, 1)", "0",
     "swizzle(128) o ((), 64) : ((), 1)"},

    {UNPACK, "cuda", "(8, 8) : (8, 1)", "2", "(8, (8, 2)) : (16, (2, 1))"},
    {UNPACK, "cuda", "(8, 4) : (4@laneid, 1) + [2 : 8] + 16 + 1@tx", "4",
     "(8, (4, 4)) : (4@laneid, (4, 1)) + [2 : 32] + 64 + 1@tx"},
    {UNPACK, "cuda", "swizzle<3, 3, 3> o (8, 64) : (64, 1)", "2",
     "swizzle<3, 4, 3> o (8, (64, 2)) : (128, (2, 1))"},
    {UNPACK, "cuda", "swizzle(128) o (8, 64) : (64, 1)", "2",
     "swizzle(128) o (8, (64, 2)) : (128, (2, 1))"},
    {UNPACK, "cuda", "(4) : (K)", "2", "((4, 2)) : ((2*K, 1))"},
    {UNPACK, "cuda", "(4) : (1)", "1", "(4) : (1)"},
    {UNPACK, "cuda", "() : ()", "3", "(3) : (1)"},
    {UNPACK, "cuda", "(4) : (1)", "0",
     "unpack: 0 elements in one; at least 1 is needed"},
    {UNPACK, "cuda", "swizzle<3, 3, 3> o (64) : (1)", "3",
     "unpack: swizzle<3, 3, 3> moves 2^3 elements, which is no power of two of "
     "the others"},
    {UNPACK, "cuda", "(2) : (4611686018427387904)", "2",
     "unpack: a stride times 2 leaves int64"},

    {PACK, "cuda", "(8, 16) : (16, 1)", "2", "(8, 8) : (8, 1)"},
    {PACK, "cuda", "(8, (8, 2)) : (16, (2, 1))", "2", "(8, 8) : (8, 1)"},
    {PACK, "cuda", "(8, (2, 2)) : (1@tx, (2, 1)) + [2 : 8] + 4", "4",
     "(8, 1) : (1@tx, 1) + [2 : 2] + 1"},
    {PACK, "cuda", "swizzle<3, 4, 3> o (8, 128) : (128, 1)", "2",
     "swizzle<3, 3, 3> o (8, 64) : (64, 1)"},
    {PACK, "cuda", "(4) : (1)", "1", "(4) : (1)"},
    {PACK, "cuda", "(8, 4) : (1, 8)", "2",
     "pack: the last iter of (8, 4) : (1, 8) is not a multiple of 2 steps of 1 "
     "on m"},
    {PACK, "cuda", "(8, 6) : (6, 1)", "4",
     "pack: the last iter of (8, 6) : (6, 1) is not a multiple of 4 steps of 1 "
     "on m"},
    {PACK, "cuda", "() : ()", "2",
     "pack: the last iter of () : () is not a multiple of 2 steps of 1 on m"},
    {PACK, "cuda", "(8, 4) : (5, 1)", "2",
     "pack: stride 5 on m is no multiple of 2, so an element would be cut"},
    {PACK, "cuda", "(4) : (1) + [2 : 3]", "2",
     "pack: stride 3 on m is no multiple of 2, so an element would be cut"},
    {PACK, "cuda", "(4) : (1) + 3", "2",
     "pack: offset 3 on m is no multiple of 2, so an element would be cut"},
    {PACK, "cuda", "swizzle<3, 0, 3> o (64) : (1)", "2",
     "pack: swizzle<3, 0, 3> moves 2^0 elements, which is less than one of the "
     "others"},
};
/* clang-format on */

static axe_status
apply(axe_ctx *cx, int k, const axe_layout *l, const axe_layout **out)
{
    int      n = atoi(rows[k].arg);
    axe_axis axis = AXE_AXIS_M;

    if (rows[k].op == FUSE || rows[k].op == SPLIT)
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, rows[k].arg, &axis),
                         AXE_OK);
    switch (rows[k].op) {
    case FUSE:
        return axe_layout_fuse_axis(cx, l, axis, out);
    case SPLIT:
        return axe_layout_split_axis(cx, l, axis, out);
    case STORAGE:
        return axe_layout_storage(cx, l, out);
    case PACK:
        return axe_layout_pack(cx, l, n, out);
    case UNPACK:
        return axe_layout_unpack(cx, l, n, out);
    }
    return AXE_EARG;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(rows); k++) {
        axe_ctx          *cx = open_ctx(rows[k].machine);
        const axe_layout *l, *out;
        axe_status        s = axe_layout_read(cx, rows[k].in, &l);
        const char       *got;
        if (s == AXE_OK)
            s = apply(cx, k, l, &out);
        got = s == AXE_OK ? axe_layout_text(cx, out) : axe_last_error(cx);
        if (strcmp(got, rows[k].want) != 0)
            fail_msg("row %d: %s, %s:\n  want %s\n  got  %s", k, rows[k].in,
                     rows[k].arg, rows[k].want, got);
        axe_ctx_free(cx);
    }
}

/* Splitting undoes fusing, for every way to cut 128 threads in three. */
static void
test_round_trip(void **state)
{
    axe_ctx *cx = open_ctx("nvidia");
    axe_axis warp, lane, thread;

    (void)state;
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "warp", &warp), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "lane", &lane), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "thread", &thread), AXE_OK);
    for (int64_t e = 1; e <= 32; e *= 2)
        for (int64_t s = 1; s * e <= 32; s *= 2) {
            axe_iter it[] = {{e, s, lane, 0}, {4, 1, warp, 0}, {8, 3, 0, 0}};
            const axe_layout *l, *fused, *back;
            bool              same;
            assert_int_equal(axe_layout_of_iters(cx, 3, it, &l), AXE_OK);
            assert_int_equal(axe_layout_fuse_axis(cx, l, thread, &fused),
                             AXE_OK);
            assert_int_equal(axe_layout_split_axis(cx, fused, thread, &back),
                             AXE_OK);
            assert_int_equal(axe_layout_equal(cx, l, back, &same), AXE_OK);
            assert_true(same);
        }
    axe_ctx_free(cx);
}

/* The inner part is made up of parts too. */
static void
test_inner_parts(void **state)
{
    static const axe_axis_row axes[] = {
        {"whole", AXE_KIND_THREAD}, {"outer", AXE_KIND_THREAD},
        {"inner", AXE_KIND_THREAD}, {"hi", AXE_KIND_THREAD},
        {"lo", AXE_KIND_THREAD},
    };
    static const axe_nest_row nests[] = {{"whole", "outer", "inner", 8},
                                         {"inner", "hi", "lo", 4}};

    const axe_axis_table table = {"test", 5, 2, axes, nests, 0, NULL};
    axe_ctx             *cx = axe_ctx_new();
    const axe_layout    *l, *out;
    axe_axis             whole;

    (void)state;
    assert_int_equal(axe_axes_load(cx, &table), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "whole", &whole), AXE_OK);
    assert_int_equal(
        axe_layout_read(cx, "(3, 2, 4) : (1@outer, 1@hi, 1@lo)", &l), AXE_OK);
    assert_int_equal(axe_layout_fuse_axis(cx, l, whole, &out), AXE_OK);
    assert_string_equal(axe_layout_text(cx, out),
                        "(3, 2, 4) : (8@whole, 4@whole, 1@whole)");
    axe_ctx_free(cx);
}

/* Nestings declared in a circle end. */
static void
test_circle(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_axis          a, b, c;
    const axe_layout *l, *out;

    (void)state;
    axe_axes_open(cx, true);
    assert_int_equal(axe_layout_read(cx, "(4, 4) : (1@c, 1@b)", &l), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "a", &a), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "b", &b), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "c", &c), AXE_OK);
    assert_int_equal(axe_axis_nest(cx, a, b, c, 4), AXE_OK);
    assert_int_equal(axe_axis_nest(cx, b, a, c, 4), AXE_OK);
    assert_int_equal(axe_axis_nest(cx, c, a, b, 4), AXE_OK);
    assert_int_equal(axe_layout_fuse_axis(cx, l, a, &out), AXE_OK);
    assert_string_equal(axe_layout_text(cx, out), "(4, 4) : (1@a, 4@a)");
    assert_int_equal(axe_layout_split_axis(cx, l, 99, &out), AXE_ESHAPE);
    assert_string_equal(axe_last_error(cx),
                        "split: no nesting of an unknown axis is known");
    assert_int_equal(axe_layout_fuse_axis(cx, l, b, &out), AXE_ESHAPE);
    axe_ctx_free(cx);
}

/* Every table loads, alone and after the others of its device. */
static void
test_tables(void **state)
{
    int                   n;
    const axe_axis_table *all = axe_machine_axes_all(&n);
    axe_ctx              *cx = axe_ctx_new();

    (void)state;
    assert_true(n >= 4);
    for (int k = 0; k < n; k++) {
        axe_axis      a;
        axe_axis_kind kind = AXE_KIND_MEMORY;
        axe_ctx_free(open_ctx(all[k].machine));
        assert_ptr_equal(axe_machine_axes(all[k].machine), &all[k]);
        assert_int_equal(axe_axes_use(cx, &all[k]), AXE_OK);
        assert_int_equal(axe_axes_use(cx, &all[k]), AXE_OK);
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "gpuid", &a), AXE_OK);
        kind = axe_axis_kind_of(cx, a);
        assert_int_equal(kind, AXE_KIND_DEVICE);
        for (int i = 0; i < all[k].n_nest; i++) {
            const axe_nest_row *f = &all[k].nest[i];
            assert_int_equal(axe_axis_factor(cx, f->whole, f->outer, f->inner),
                             f->factor);
        }
    }
    assert_null(axe_machine_axes("abacus"));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_inner_parts), cmocka_unit_test(test_circle),
        cmocka_unit_test(test_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
