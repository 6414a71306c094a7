/* test_tile.c - tile, direct sum and their inverses, by table: the paper's
 * examples, the counterexamples to its claims, swizzles, sizes, errors. */
#include "tables.h"

static axe_status
tile(args *t, const axe_layout **out)
{
    return axe_layout_tile(t->cx, t->a, t->sa, t->b, t->sb, out);
}

/* clang-format off */
static const row tile_rows[] = {
    /* the paper: a 2 x 3 grid of 8 x 8 tiles; and the other way round */
    {"(2, 3) : (3, 1)", "2 3", "(8, 8) : (8, 1)", "8 8",
     "((2, 8), (3, 8)) : ((192, 8), (64, 1))"},
    {"(8, 8) : (8, 1)", "8 8", "(2, 3) : (3, 1)", "2 3",
     "((8, 2), (8, 3)) : ((48, 3), (6, 1))"},
    /* O and R of the outer layout are scaled too */
    {"(1) : (1) + 1", "1", "(2) : (1)", "2", "(2) : (1) + 2"},
    {"(1) : (1) + [2 : 1]", "1", "(2) : (1)", "2", "(2) : (1) + [2 : 2]"},
    {"(2) : (1) + [2 : 2]", "2", "(4) : (1)", "4",
     "((2, 4)) : ((4, 1)) + [2 : 8]"},
    /* the span counts |stride|, replicas, and no offset */
    {"(2) : (1)", "2", "(4) : (-2)", "4", "((2, 4)) : ((7, -2))"},
    {"(2) : (1)", "2", "(2) : (3) + [2 : -5] + 9", "2",
     "((2, 2)) : ((9, 3)) + [2 : -5] + 9"},
    /* axes that the inner layout does not use stay */
    {"(2, 2) : (1@warp, 1)", "2 2", "(4, 2) : (1@lane, 1)", "4 2",
     "((2, 4), (2, 2)) : ((1@warp, 1@lane), (2, 1))"},
    {"(2) : (1@P)", "2", "(1) : (7@P)", "1", "(2) : (1@P)"},
    {"() : ()", "", "() : () + 3", "", "() : () + 3"},
    /* run-time sizes: the outer may have them, the inner on other axes */
    {"(2) : (K)", "2", "(4) : (1)", "4", "((2, 4)) : ((4*K, 1))"},
    {"(2) : (1@P)", "2", "(4) : (K)", "4", "((2, 4)) : ((1@P, K))"},
    {"(2) : (0)", "2", "(4) : (K)", "4", "((2, 4)) : ((0, K))"},
    {"(2) : (1)", "2", "(4) : (K)", "4",
     "EUNSUPPORTED tile: the inner layout's span on axis m has a run-time size, "
     "and the outer layout uses that axis"},
    {"(2) : (1@P) + K", "2", "((4, 2)) : ((2*K, 1))", "8",
     "EUNSUPPORTED tile: the inner layout's span on axis m has a run-time size, "
     "and the outer layout uses that axis"},
    /* swizzles stand inside */
    {"(2) : (1)", "2", "swizzle(64) o (4) : (1)", "4",
     "swizzle(64) o ((2, 4)) : ((4, 1))"},
    {"swizzle(64) o (2) : (1)", "2", "(4) : (1)", "4",
     "ESHAPE tile: the outer operand has a swizzle, which acts on places inside "
     "a tile: swizzle(64) o (2) : (1) | swizzle the result instead"},
    {"(2, 3) : (3, 1)", "2 3", "(8) : (1)", "8",
     "ESHAPE tile: shapes (2, 3) and (8) differ in rank"},
    {"(2, 3) : (3, 1)", "3 3", "(8, 1) : (1, 0)", "8 1",
     "ESHAPE tile: shape (3, 3) has 9 elements, and (2, 3) : (3, 1) has 6"},
    {"(4, 6) : (7, 1)", "6 4", "(1, 1) : (0, 0)", "1 1",
     "ESHAPE tile: (4, 6) : (7, 1) cannot be cut into (6, 4): at iter 0, extent "
     "4 and the 6 still needed do not divide one another"},
    {"(2) : (5000000000)", "2", "(2) : (5000000000)", "2",
     "EOVERFLOW tile: the outer layout's iter 0 on axis m times the inner's "
     "span 5000000001 leaves int64"},
    {"(1) : (0) + [2 : 5000000000]", "1", "(2) : (5000000000)", "2",
     "EOVERFLOW tile: the outer layout's replica 0 on axis m times the inner's "
     "span 5000000001 leaves int64"},
    {"(1) : (0) + 5000000000", "1", "(2) : (5000000000)", "2",
     "EOVERFLOW tile: the outer layout's offset 0 on axis m times the inner's "
     "span 5000000001 leaves int64"},
    {"(5000000000) : (0)", "5000000000", "(5000000000) : (0)", "5000000000",
     "EOVERFLOW tile: the size leaves int64 at iter 1, extent 5000000000"},
};

static const row tile_of_rows[] = {
    {"((2, 8), (3, 8)) : ((192, 8), (64, 1))", "16 24", "(8, 8) : (8, 1)",
     "8 8", "(2, 3) : (3, 1)"},
    /* by the interleaved shape, not by subsequence */
    {"(4) : (1)", "4", "(2) : (1)", "2", "(2) : (1)"},
    {"(2, 2) : (1, 2)", "4", "(2) : (1)", "2",
     "ESHAPE tile of: in dim 0, the tiled layout has (2) : (2) where the inner "
     "layout has (2) : (1)"},
    {"(16) : (1)", "4 4", "(2, 2) : (4, 1)", "2 2",
     "ESHAPE tile of: in dim 0, stride 8 on axis m is no multiple of the inner "
     "span 6"},
    /* offsets are subtracted, then divided */
    {"(4) : (1@P)", "4", "(2) : (1@P) + 4@P", "2", "(2) : (1@P) - 2@P"},
    {"(4) : (1@P)", "4", "(2) : (1@P) + 3@P", "2",
     "ESHAPE tile of: offset -3 on axis P is no multiple of the inner span 2"},
    {"(2) : (1) + [2 : -2]", "2", "(2) : (1)", "2", "() : () + [2 : 1] - 1"},
    /* replicas by quotient and remainder */
    {"(2) : (0) + [4 : 1]", "2", "(2) : (0) + [2 : 1]", "2",
     "() : () + [2 : 1]"},
    {"(2) : (0) + [(2, 2) : (3, 6)]", "2", "(2) : (0) + [2 : 1]", "2",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the inner layout combined with others"},
    {"(2) : (1@P)", "2", "(2) : (1@P) + [2 : 1]", "2",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the inner layout combined with others"},
    {"() : () + [(6, 2) : (2, 3)]", "1", "() : ()", "1",
     "() : () + [(6, 2) : (2, 3)]"},
    {"() : () + [(6, 2) : (2, 3)]", "1", "() : () + [(3, 4) : (2, 3)]", "1",
     "() : ()"},
    /* run-time sizes */
    {"((2, 4)) : ((4*K, 1)) + [2 : 8*K] + 4*K", "8", "(4) : (1)", "4",
     "(2) : (K) + [2 : 2*K] + K"},
    {"((2, 4)) : ((2*K, 1))", "8", "(4) : (1)", "4",
     "ESHAPE tile of: in dim 0, stride 2 on axis m is no multiple of the inner "
     "span 4"},
    {"((2, 4)) : ((1@P, K)) + [2 : 9*K]", "8", "(4) : (K) + [2 : 9*K]", "4",
     "(2) : (1@P)"},
    {"((2, 4)) : ((1, K))", "8", "(4) : (K)", "4",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    {"(4) : (K) + [2 : 9*K]", "4", "(4) : (K)", "4",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    /* swizzles */
    {"swizzle(64) o ((2, 4)) : ((4, 1))", "8", "swizzle(64) o (4) : (1)", "4",
     "(2) : (1)"},
    {"swizzle(64) o ((2, 4)) : ((4, 1))", "8", "(4) : (1)", "4",
     "ESHAPE tile of: the swizzles of swizzle(64) o ((2, 4)) : ((4, 1)) and (4) "
     ": (1) differ"},
    {"(8) : (1)", "8", "(3) : (1)", "3",
     "ESHAPE tile of: at dim 0, 8 of the tiled layout is no multiple of 3 of "
     "the inner layout"},
    {"(8) : (1)", "8", "(2, 2) : (2, 1)", "2 2",
     "ESHAPE tile of: shapes (8) and (2, 2) differ in rank"},
    {"(8) : (1)", "8", "(4) : (1)", "0",
     "ESHAPE tile of: at dim 0, 8 of the tiled layout is no multiple of 0 of "
     "the inner layout"},
};
/* clang-format on */

static axe_status
tile_of(args *t, const axe_layout **out)
{
    return axe_layout_tile_of(t->cx, t->a, t->sa, t->b, t->sb, out);
}

static axe_status
tile_of_outer(args *t, const axe_layout **out)
{
    return axe_layout_tile_of_outer(t->cx, t->a, t->sa, t->b, t->sb, out);
}

/* clang-format off */
static const row outer_rows[] = {
    {"((2, 8), (3, 8)) : ((192, 8), (64, 1))", "16 24", "(2, 3) : (3, 1)",
     "2 3", "(8, 8) : (8, 1)"},
    {"(8) : (1)", "8", "(2) : (1)", "2", "(4) : (1)"},
    {"(8) : (1)", "8", "(2) : (2)", "2",
     "ESHAPE tile of: in dim 0, the tiled layout has (2) : (4) where the outer "
     "layout has (2) : (2), to be scaled by the inner span"},
    {"(4) : (1) + 9", "4", "(2) : (1) + 3", "2", "(2) : (1) + 3"},
    /* the inner replicas, and with them the span, from the widths */
    {"(2) : (4) + [4 : 1]", "2", "(2) : (1)", "2", "() : () + [4 : 1]"},
    {"() : () + [(2, 2) : (3, 1)]", "1", "() : () + [2 : 1]", "1",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the outer layout combined with others"},
    {"() : () + [(2, 2) : (2, 1)]", "1", "() : () + [2 : 1]", "1",
     "() : () + [2 : 1]"},
    {"() : () + [3 : 1]", "1", "() : () + [2 : 1]", "1",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the outer layout combined with others"},
    /* 6 = 1 * (2 + b) + b for no b */
    {"(2) : (2) + [4 : 2]", "2", "() : () + [2 : 1]", "1",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the outer layout combined with others"},
    {"(4) : (1) + [2 : 1]", "4", "() : () + [2 : 1]", "1",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the outer layout combined with others"},
    /* run-time sizes */
    {"(2) : (1) + [4 : K]", "2", "() : () + [2 : K]", "1",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    {"((2, 4)) : ((4*K, 1)) + [2 : 4*M]", "8", "(2) : (K) + [2 : M]", "2",
     "(4) : (1)"},
    {"((2, 4)) : ((1@P, K)) + [2 : 9*K]", "8", "(2) : (1@P)", "2",
     "(4) : (K) + [2 : 9*K]"},
    {"((2, 4)) : ((1, K))", "8", "(2) : (1)", "2",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    {"(4) : (K) + [2 : 7]", "4", "() : () + [2 : 1]", "1",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    {"(4) : (K) + 7", "4", "() : () + 1", "1",
     "EUNSUPPORTED tile of: the inner layout's span on axis m has a run-time "
     "size, and the outer layout uses that axis"},
    {"() : () + [(2, 2) : (3*K, K)]", "1", "() : () + [2 : K]", "1",
     "ESHAPE tile of: on axis m the replicas of the tiled layout are not those "
     "of the outer layout combined with others"},
    {"swizzle(64) o ((2, 4)) : ((4, 1))", "8", "(2) : (1)", "2",
     "swizzle(64) o (4) : (1)"},
    {"(8) : (1)", "8", "swizzle(64) o (2) : (1)", "2",
     "ESHAPE tile of: the outer layout cannot have a swizzle, which acts inside "
     "a tile: swizzle(64) o (2) : (1)"},
    {"(1) : (0)", "1", "(1) : (0) + 4611686018427387904", "1",
     "() : () - 4611686018427387904"},
};
/* clang-format on */

static axe_status
tile_to(args *t, const axe_layout **out)
{
    return axe_layout_tile_to(t->cx, t->a, t->sa, t->sb, out);
}

/* clang-format off */
static const row tile_to_rows[] = {
    {"(8, 8) : (8, 1)", "8 8", 0, "16 24",
     "((2, 8), (3, 8)) : ((192, 8), (64, 1))"},
    {"swizzle(128) o (8, 64) : (64, 1)", "8 64", 0, "16 64",
     "swizzle(128) o ((2, 8), 64) : ((512, 64), 1)"},
    {"(8, 8) : (8, 1)", "8 8", 0, "16 20",
     "ESHAPE tile to: at dim 1, tiles of 8 do not fill 20"},
    {"(8, 8) : (8, 1)", "8 8", 0, "16",
     "ESHAPE tile to: shapes (8, 8) and (16) differ in rank"},
    {"(8, 8) : (8, 1)", "8 8", 0, "0 8",
     "ESHAPE tile to: at dim 0, tiles of 8 do not fill 0"},
};
/* clang-format on */

static axe_status
direct_sum(args *t, const axe_layout **out)
{
    return axe_layout_direct_sum(t->cx, t->a, t->sa, t->b, t->sb, out);
}

static axe_status
left_of(args *t, const axe_layout **out)
{
    return axe_layout_sum_left_of(t->cx, t->a, t->sa, t->b, t->sb, out);
}

static axe_status
right_of(args *t, const axe_layout **out)
{
    return axe_layout_sum_right_of(t->cx, t->a, t->sa, t->b, t->sb, out);
}

/* clang-format off */
static const row sum_rows[] = {
    /* the paper's example, in the order that its own definition gives */
    {"(2, 2) : (8, 2)", "2 2", "(2, 2) : (4, 1)", "2 2",
     "((2, 2), (2, 2)) : ((8, 4), (2, 1))"},
    {"(2) : (K) + [2 : 1] + 1", "2", "(2) : (1) + [2 : K@P] + 2", "2",
     "((2, 2)) : ((K, 1)) + [(2, 2) : (1, K@P)] + 3"},
    {"(2) : (1)", "2", "swizzle(64) o (4) : (2)", "4",
     "swizzle(64) o ((2, 4)) : ((1, 2))"},
    {"swizzle(64) o (2) : (1)", "2", "(4) : (2)", "4",
     "ESHAPE direct sum: the left operand has a swizzle, which acts on places "
     "inside a tile: swizzle(64) o (2) : (1) | swizzle the result instead"},
    {"(2) : (1) + 5000000000000000000", "2", "(2) : (1) + 5000000000000000000",
     "2", "EOVERFLOW direct sum: the offsets on one axis add up beyond int64"},
};

static const row left_rows[] = {
    {"(16) : (1)", "2 2 2 2", "(2, 2) : (4, 1)", "2 2", "(2, 2) : (8, 2)"},
    {"(4) : (1) + [4 : 8] + 5", "2 2", "(2) : (1) + [2 : 8] + 2", "2",
     "(2) : (2) + [2 : 16] + 3"},
    {"(4) : (1) + [2 : 8]", "2 2", "(2) : (1) + [3 : 8]", "2",
     "ESHAPE sum of: on axis m the replicas of the sum are not those of the "
     "right layout combined with others"},
    {"(4) : (1)", "2 2", "(2) : (2)", "2",
     "ESHAPE sum of: in dim 0, the sum has (2) : (1) where the right layout has "
     "(2) : (2)"},
    {"(4) : (1)", "2 2", "(4) : (1)", "4",
     "ESHAPE sum of: shape (2, 2) of the sum does not have (4), of the right "
     "layout, in every second place"},
    {"(4) : (1)", "4", "(4) : (1)", "4",
     "ESHAPE sum of: shape (4) of the sum does not have (4), of the right "
     "layout, in every second place"},
    {"swizzle(64) o (4) : (1)", "2 2", "(2) : (1)", "2",
     "ESHAPE sum of: the swizzles of swizzle(64) o (4) : (1) and (2) : (1) "
     "differ"},
    {"swizzle(64) o (4) : (1)", "2 2", "swizzle(64) o (2) : (1)", "2",
     "(2) : (2)"},
};

static const row right_rows[] = {
    {"(16) : (1)", "2 2 2 2", "(2, 2) : (8, 2)", "2 2", "(2, 2) : (4, 1)"},
    {"swizzle(64) o (4) : (1)", "2 2", "(2) : (2)", "2",
     "swizzle(64) o (2) : (1)"},
    {"swizzle(64) o (4) : (1)", "2 2", "swizzle(64) o (2) : (2)", "2",
     "ESHAPE sum of: the left layout cannot have a swizzle, which acts inside a "
     "tile: swizzle(64) o (2) : (2)"},
    {"(4) : (1) + [(2, 2) : (K, 2*K)]", "2 2", "(2) : (2) + [2 : K]", "2",
     "(2) : (1) + [2 : 2*K]"},
};
/* clang-format on */

static void
test_tile(void **state)
{
    (void)state;
    CHECK_ROWS(tile_rows, tile);
    CHECK_ROWS(tile_to_rows, tile_to);
}

static void
test_tile_of(void **state)
{
    (void)state;
    CHECK_ROWS(tile_of_rows, tile_of);
    CHECK_ROWS(outer_rows, tile_of_outer);
}

static void
test_sum(void **state)
{
    (void)state;
    CHECK_ROWS(sum_rows, direct_sum);
    CHECK_ROWS(left_rows, left_of);
    CHECK_ROWS(right_rows, right_of);
}

/* n iters of extent 2 that never fuse, on two axes in turn, and as many
 * replicas and offsets. */
static const axe_layout *
long_layout(axe_ctx *cx, int n)
{
    static axe_iter   it[64], r[64];
    static axe_offset off[64];
    axe_layout        spec = {.n_shard = n,
                              .n_replica = n,
                              .n_offset = n,
                              .shard = it,
                              .replica = r,
                              .offset = off};
    const axe_layout *l;
    axe_axis          a;

    for (int k = 0; k < n; k++) {
        assert_int_equal(
            axe_axis_find(cx, AXE_NOWHERE, axe_textf(cx, "x%d", k), &a),
            AXE_OK);
        it[k] = (axe_iter){2, k + 1, k % 2 ? AXE_AXIS_M : a, 0};
        r[k] = (axe_iter){2, k % 3 ? 1 : -1, a, 0};
        off[k] = (axe_offset){k + 1, a, 0};
    }
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_OK);
    return l;
}

/* More iters, places and offsets than fit the small arrays on the stack. */
static void
test_long(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *a, *b, *t, *back;
    int64_t           na, nb, nt, begin, end, both[2], one = 1;
    bool              same = false;

    (void)state;
    axe_axes_open(cx, true);
    a = long_layout(cx, 20);
    b = long_layout(cx, 40);
    na = a->size;
    nb = b->size;
    nt = na * nb;
    assert_int_equal(
        axe_layout_tile(cx, a, (axe_shape){1, &na}, b, (axe_shape){1, &nb}, &t),
        AXE_OK);
    assert_int_equal(t->n_shard, 60);
    assert_int_equal(axe_layout_tile_of(cx, t, (axe_shape){1, &nt}, b,
                                        (axe_shape){1, &nb}, &back),
                     AXE_OK);
    assert_int_equal(axe_layout_equal(cx, a, back, &same), AXE_OK);
    assert_true(same);
    assert_int_equal(axe_layout_tile_of_outer(cx, t, (axe_shape){1, &nt}, a,
                                              (axe_shape){1, &na}, &back),
                     AXE_OK);
    assert_int_equal(axe_layout_equal(cx, b, back, &same), AXE_OK);
    assert_true(same);

    begin = 3 * nb;
    end = 4 * nb;
    assert_int_equal(
        axe_layout_slice(cx, t, (axe_shape){1, &nt}, &begin, &end, &back),
        AXE_OK);
    assert_int_equal(back->size, nb);
    assert_int_equal(axe_layout_at(back, nb - 1, AXE_AXIS_M),
                     axe_layout_at(t, end - 1, AXE_AXIS_M));
    both[0] = na;
    both[1] = nb;
    assert_int_equal(axe_layout_group(cx, t, (axe_shape){2, both}, &back),
                     AXE_OK);
    assert_int_equal(back->dim_end[0], 20);
    assert_int_equal(axe_layout_direct_sum(cx, b, (axe_shape){1, &nb},
                                           must_read(cx, "() : ()"),
                                           (axe_shape){1, &one}, &back),
                     AXE_OK);
    assert_int_equal(axe_layout_equal(cx, b, back, &same), AXE_OK);
    assert_true(same);
    axe_ctx_free(cx);
}

/* A rank below 0 is the caller's mistake, not ours. */
static void
test_ranks(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_shape         bad = {-1, NULL};
    const axe_layout *l = must_read(cx, "(2) : (1)"), *out = NULL;
    int              *seps;

    (void)state;
    assert_int_equal(axe_layout_tile(cx, l, bad, l, bad, &out), AXE_EARG);
    assert_int_equal(axe_layout_tile_to(cx, l, bad, bad, &out), AXE_EARG);
    assert_int_equal(axe_layout_tile_of(cx, l, bad, l, bad, &out), AXE_EARG);
    assert_int_equal(axe_layout_group(cx, l, bad, &out), AXE_EARG);
    assert_int_equal(axe_layout_slice(cx, l, bad, NULL, NULL, &out), AXE_EARG);
    assert_int_equal(axe_layout_group_many(cx, l, -1, &bad, true, &out, &seps),
                     AXE_EARG);
    assert_int_equal(axe_layout_group_many(cx, l, 1, &bad, true, &out, &seps),
                     AXE_EARG);
    assert_int_equal(axe_layout_permute(cx, l, -1, NULL, &out), AXE_EARG);
    assert_null(out);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tile),  cmocka_unit_test(test_tile_of),
        cmocka_unit_test(test_sum),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
