/* test_slice.c - slices, by table: the paper's, the counterexamples to its
 * algorithm, every form of the exact rule, every error. */
#include "tables.h"

/* sb is the region, "begin:end" for each dim. */
static axe_status
slice(args *t, const axe_layout **out)
{
    int64_t begin[8], end[8];

    for (int k = 0; k < t->sa.n; k++) {
        begin[k] = t->sb.extent[2 * k];
        end[k] = t->sb.extent[2 * k + 1];
    }
    return axe_layout_slice(t->cx, t->a, t->sa, begin, end, out);
}

/* clang-format off */
static const row rows[] = {
    /* the paper's example */
    {"((2, 8), (3, 8)) : ((192, 8), (64, 1))", "16 24", 0, "0:8 8:24",
     "(8, (2, 8)) : (8, (64, 1)) + 64"},
    /* whole, one element, one run */
    {"(2, 3) : (2, 7)", "6", 0, "0:6", "((2, 3)) : ((2, 7))"},
    {"(2, 3) : (3, 1)", "6", 0, "0:6", "(6) : (1)"},
    {"(2, 3) : (2, 7)", "6", 0, "4:5", "() : () + 9"},
    {"(4, 4) : (10, 1)", "16", 0, "5:7", "(2) : (1) + 11"},
    {"(4, 4) : (10, 1)", "16", 0, "4:12", "((2, 4)) : ((10, 1)) + 10"},
    {"(4, 4) : (10, 1)", "16", 0, "0:3", "(3) : (1)"},
    /* w = 1: unseen carries, then two halves */
    {"(2, 2, 4) : (14, 10, 1)", "16", 0, "6:10", "(4) : (1) + 12"},
    {"(2, 2, 4) : (14, 10, 1)", "16", 0, "5:11", "(6) : (1) + 11"},
    {"(2, 2, 2) : (1, 2, 4)", "8", 0, "3:5", "(2) : (-5) + 6"},
    {"(2, 2, 4) : (100, 10, 1)", "16", 0, "6:10", "((2, 2)) : ((88, 1)) + 12"},
    {"(2, 3, 4) : (100, 10, 1)", "24", 0, "6:10", "((2, 2)) : ((8, 1)) + 12"},
    {"(2, 2, 2, 2) : (9, 7, 3, 1)", "16", 0, "3:5", "(2) : (3) + 4"},
    {"(3, 2) : (1, 1)", "6", 0, "1:3", "(2) : (0) + 1"},
    {"(3, 2) : (1, 1)", "6", 0, "1:5", "((2, 2)) : ((1, 0)) + 1"},
    /* w >= 2: half a period */
    {"(4, 4) : (10, 1)", "16", 0, "2:10", "((2, 2, 2)) : ((10, 8, 1)) + 2"},
    {"(5, 2) : (10@P, 1)", "10", 0, "1:9",
     "ESHAPE slice: no layout is [1, 9) of dim 0 of (5, 2) : (10@P, 1): where "
     "iter 1, extent 2, wraps, it moves on two axes at once | begin and end at "
     "multiples of 2, or stay between two of them"},
    /* w = 3: the middle wrap alone is seen */
    {"(2, 2, 2, 2) : (14, 7, 5, 1)", "16", 0, "3:9", "((2, 3)) : ((6, 1)) + 6"},
    {"(2, 2, 2) : (30, 3, 2)", "8", 0, "1:7",
     "ESHAPE slice: no layout is [1, 7) of dim 0 of (2, 2, 2) : (30, 3, 2): 6 "
     "steps of iter 2, extent 2, from its place 1 wrap 3 times, unevenly | "
     "begin and end at multiples of 2, or stay between two of them"},
    {"(2, 2, 3) : (14, 3, 1)", "12", 0, "2:10", "((2, 4)) : ((12, 1)) + 2"},
    /* two axes; run-time sizes */
    {"(2, 2) : (2@a, 1@b)", "4", 0, "1:3",
     "ESHAPE slice: no layout is [1, 3) of dim 0 of (2, 2) : (2@a, 1@b): where "
     "iter 1, extent 2, wraps, it moves on two axes at once | begin and end at "
     "multiples of 2, or stay between two of them"},
    {"(2, 2) : (2*K, 1)", "4", 0, "1:3",
     "ESHAPE slice: no layout is [1, 3) of dim 0 of (2, 2) : (2*K, 1): where "
     "iter 1, extent 2, wraps, it moves on two axes at once | begin and end at "
     "multiples of 2, or stay between two of them"},
    {"(4, 2) : (3*K, K)", "8", 0, "1:3", "(2) : (2*K) + K"},
    {"(4, 8) : (K, 1) + [2 : 64*K] + M", "4 8", 0, "1:3 4:8",
     "(2, 4) : (K, 1) + [2 : 64*K] + 4 + K + M"},
    {"(4, 4) : (0, 1@P)", "16", 0, "2:6", "((2, 2)) : ((-2@P, 1@P)) + 2@P"},
    /* replicas, offset, swizzle stay */
    {"(4, 4) : (4@lane, 1@lane) + [2 : 16@lane] + 2@lane", "4 4", 0, "2:4 0:4",
     "(2, 4) : (4@lane, 1@lane) + [2 : 16@lane] + 10@lane"},
    {"swizzle(128) o (8, 64) : (64, 1)", "8 64", 0, "4:8 0:32",
     "swizzle(128) o (4, 32) : (64, 1) + 256"},
    /* the layout is read in normal form */
    {"(2, 3) : (3, 1)", "3 2", 0, "1:2 0:2", "((), 2) : ((), 1) + 2"},
    {"() : ()", "1", 0, "0:1", "() : ()"},
    {"() : ()", "", 0, "", "() : ()"},
    /* errors */
    {"(4, 4) : (10, 1)", "16", 0, "2:5",
     "ESHAPE slice: no layout is [2, 5) of dim 0 of (4, 4) : (10, 1): 3 steps "
     "of iter 1, extent 4, from its place 2 wrap 1 times, unevenly | begin and "
     "end at multiples of 4, or stay between two of them"},
    {"(2, 2, 4) : (99, 10, 1)", "4 4", 0, "1:3 0:4",
     "(2, 4) : (89, 1) + 10"},
    {"(8, 3) : (3, 1)", "24", 0, "4:4",
     "ESHAPE slice: [4, 4) of dim 0 is empty; a layout has at least one element"},
    {"(8, 3) : (3, 1)", "8 3", 0, "4:6 -1:2",
     "ESHAPE slice: [-1, 2) is not inside dim 1, [0, 3)"},
    {"(8, 3) : (3, 1)", "8 3", 0, "4:9 0:2",
     "ESHAPE slice: [4, 9) is not inside dim 0, [0, 8)"},
    {"(8, 3) : (3, 1)", "8 3", 0, "6:4 0:2",
     "ESHAPE slice: [6, 4) is not inside dim 0, [0, 8)"},
    {"(4, 6) : (7, 1)", "6 4", 0, "0:1 0:1",
     "ESHAPE slice: (4, 6) : (7, 1) cannot be cut into (6, 4): at iter 0, "
     "extent 4 and the 6 still needed do not divide one another"},
    {"(4, 6) : (7, 1)", "4", 0, "0:1",
     "ESHAPE slice: shape (4) has 4 elements, and (4, 6) : (7, 1) has 24"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    (void)state;
    CHECK_ROWS(rows, slice);
}

/* Extents near the end of int64: no step of the rule may wrap. */
static void
test_large(void **state)
{
    static const int64_t e[] = {3, INT64_MAX / 3, INT64_MAX / 4, INT64_MAX / 9};
    axe_ctx             *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(e); i++)
        for (int64_t s = -1; s <= 1; s++)
            for (int64_t b = 1; b < 40; b += 7) {
                axe_iter it[2] = {{INT64_MAX / e[i], s, 0, 0}, {e[i], 0, 0, 0}};
                const axe_layout *l, *out;
                int64_t           n, end;
                assert_int_equal(axe_layout_of_iters(cx, 2, it, &l), AXE_OK);
                n = l->size;
                for (int64_t cut = 0; cut < 40; cut += 13) {
                    end = n - cut;
                    if (b < end && axe_layout_slice(cx, l, (axe_shape){1, &n},
                                                    &b, &end, &out) == AXE_OK)
                        assert_int_equal(out->size, end - b);
                }
            }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
