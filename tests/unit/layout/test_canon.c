/* test_canon.c - normal form and equality, by table. */
#include "tables.h"

static axe_status
canon(args *t, const axe_layout **out)
{
    return axe_layout_canon(t->cx, t->a, out);
}

/* clang-format off */
static const row canon_rows[] = {
    /* D0, D1; dims are kept */
    {"((8, 8, 8, 4, 2)) : ((512, 64, 8, 2, 1))", 0, 0, 0, "(4096) : (1)"},
    {"(8, 8) : (8, 1)", 0, 0, 0, "(8, 8) : (8, 1)"},
    {"((1, 2, 1, 2)) : ((9, 2, 9, 1))", 0, 0, 0, "(4) : (1)"},
    {"(1) : (5)", 0, 0, 0, "() : ()"},
    {"(1, (2, 2), 1) : (5, (2, 1), 7)", 0, 0, 0, "((), 4, ()) : ((), 1, ())"},
    {"((4, 2)) : ((2, 1@P))", 0, 0, 0, "((4, 2)) : ((2, 1@P))"},
    {"((2, 3)) : ((-3, -1))", 0, 0, 0, "(6) : (-1)"},
    {"((3, 4, 5, 2, 3, 4)) : ((20, 5, 1, 60, 20, 5))", 0, 0, 0,
     "((60, 24)) : ((1, 5))"},
    /* stride 0 has no axis of its own */
    {"((2, 3)) : ((0@P, 0@Q))", 0, 0, 0, "(6) : (0)"},
    {"(2) : (0*K@P)", 0, 0, 0, "(2) : (0)"},
    /* units are places of their own */
    {"((4, 4)) : ((4*K, K))", 0, 0, 0, "(16) : (K)"},
    {"((4, 4)) : ((4*K, 1))", 0, 0, 0, "((4, 4)) : ((4*K, 1))"},
    {"((2, 2)) : ((2*K, M))", 0, 0, 0, "((2, 2)) : ((2*K, M))"},
    /* C0, C1, C2 */
    {"(2) : (1) + [(1, 3) : (7, 0)]", 0, 0, 0, "(2) : (1)"},
    {"(2) : (1) + [3 : -1] - 2", 0, 0, 0, "(2) : (1) + [3 : 1] - 4"},
    {"(2) : (1) + [3 : -K@P]", 0, 0, 0, "(2) : (1) + [3 : K@P] - 2*K@P"},
    {"() : () + [(2, 2) : (1, 2)]", 0, 0, 0, "() : () + [4 : 1]"},
    {"() : () + [(2, 2) : (2, 1)]", 0, 0, 0, "() : () + [4 : 1]"},
    {"() : () + [(2, 2) : (1, 3)]", 0, 0, 0,
     "() : () + [(2, 2) : (1, 3)]"},
    {"() : () + [(8, 4) : (4@laneid, 1@laneid)]", 0, 0, 0,
     "() : () + [32 : 1@laneid]"},
    {"() : () + [(2, 2) : (3, 3)]", 0, 0, 0, "() : () + [3 : 3]"},
    {"() : () + [(3, 2, 2) : (2, 3, 6)]", 0, 0, 0,
     "() : () + [(6, 2) : (2, 3)]"},
    {"() : () + [(2, 2) : (K, 1)]", 0, 0, 0, "() : () + [(2, 2) : (1, K)]"},
    {"() : () + [(2, 2, 2) : (1@Q, 2@P, 2@Q)]", 0, 0, 0,
     "() : () + [(2, 4) : (2@P, 1@Q)]"},
    {"swizzle(64) o ((2, 2)) : ((2, 1))", 0, 0, 0, "swizzle(64) o (4) : (1)"},
    /* the edge of int64 */
    {"(3) : (0) + [2 : -4611686018427387904] + 4611686018427387902", 0, 0, 0,
     "(3) : (0) + [2 : 4611686018427387904] - 2"},
    {"(3) : (0) + [2 : -4000000000000000000] - 3000000000000000000", 0, 0, 0,
     "EOVERFLOW canon: the coordinates on axis m leave int64"},
};
/* clang-format on */

static void
test_canon(void **state)
{
    (void)state;
    CHECK_ROWS(canon_rows, canon);
}

/* clang-format off */
static const struct {
    const char *a, *b, *want; /* "yes", "no", or the error */
} equal_rows[] = {
    {"(4) : (1)", "((2, 2)) : ((2, 1))", "yes"},
    {"(4) : (1)", "(2, 2) : (2, 1)", "yes"}, /* dims do not matter */
    {"(4) : (1)", "(8) : (1)", "no"},
    {"(4) : (1)", "(4) : (1@P)", "no"},
    {"(4) : (1)", "(4) : (2)", "no"},
    {"(4) : (1)", "(4) : (1) + 1", "no"},
    {"(4) : (K)", "(4) : (1)", "no"},
    {"(4) : (K*M)", "((2, 2)) : ((2*M*K, M*K))", "yes"},
    {"(2, 3) : (0@a, 0@b)", "(6) : (0@a)", "yes"},
    {"() : ()", "(1) : (7@P)", "yes"},
    /* fibers */
    {"() : () + [(2, 2) : (1, 2)]", "() : () + [4 : 1]", "yes"},
    {"() : () + [(6, 2) : (2, 3)]", "() : () + [(3, 4) : (2, 3)]", "yes"},
    {"() : () + [(6, 2) : (2, 3)]", "() : () + [(6, 3) : (2, 3)]", "no"},
    {"() : () + [(5, 2) : (2, 3)]", "() : () + [(2, 4) : (2, 3)]", "no"},
    {"() : () + [2 : -1] + 1", "() : () + [2 : 1]", "yes"},
    {"() : () + [2 : 1@P]", "() : () + [2 : 1@Q]", "no"},
    {"() : () + [2 : 1@P]", "() : ()", "no"},
    {"() : () + [2 : K]", "() : () + [2 : 1]", "no"},
    {"() : () + [(6, 2, 2) : (2, 3, K)]", "() : () + [(3, 4, 2) : (2, 3, K)]",
     "yes"},
    /* a GC set of a thousand million points is no matter */
    {"() : () + [(100000, 100000) : (1, 1000000)]",
     "() : () + [(100000, 100000) : (1, 1000001)]", "no"},
    /* runs: 10^9 points that are few runs */
    {"() : () + [(1000000000, 2, 2) : (2, 3, 6)]",
     "() : () + [(1000000003, 2) : (2, 3)]", "yes"},
    {"() : () + [(8000000, 3, 2) : (6, 10, 15)]",
     "() : () + [(8000005, 3, 2) : (6, 10, 15)]", "no"},
    /* swizzles: one bijection; idle; enumerated */
    {"swizzle(128) o (4) : (1)", "swizzle(128) o ((2, 2)) : ((2, 1))", "yes"},
    {"swizzle(128) o (4) : (1)", "swizzle(128) o (4) : (2)", "no"},
    {"swizzle<1, 0, 2> o (4) : (1)", "(4) : (1)", "yes"},
    {"swizzle<1, 0, 2> o (8) : (1)", "(8) : (1)", "no"},
    {"swizzle<1, 0, 1> o (4) : (1)", "((2, 2)) : ((3, 1))", "no"},
    {"swizzle<1, 0, 2> o (2) : (4)", "(2) : (5)", "yes"},
    {"swizzle<1, 0, 2> o (8) : (1) + [2 : 8]",
     "swizzle<1, 0, 2> o (8) : (1) + [2 : -8] + 8", "yes"},
    {"swizzle<1, 0, 2> o (4) : (1) + [2 : 4]",
     "swizzle<1, 1, 1> o (4) : (1) + [2 : 4]", "no"},
    {"swizzle<1, 0, 2> o (2) : (1) + [(2, 2) : (4, 2)]",
     "swizzle<1, 0, 1> o (2) : (1) + [(2, 2) : (4, 2)]", "no"},
    {"swizzle<1, 0, 2> o (2) : (8) + [2 : 1] + 4", "(2) : (8) + [2 : 1] + 4",
     "yes"},
    {"swizzle<1, 0, 2> o (8, 2) : (1, 1@P)", "(8, 2) : (1, 1@Q)", "no"},
    {"swizzle<1, 0, 2> o (8) : (1)", "(8) : (K)",
     "EUNSUPPORTED equal: unequal swizzles over a run-time size"},
    {"swizzle<1, 0, 2> o (2) : (-4)", "(2) : (-4)", "no"},
    {"swizzle<1, 0, 2> o (16777216) : (1)", "(16777216) : (1)", "no"},
    {"swizzle<1, 0, 2> o (16777216) : (8)", "(16777216) : (8)", "yes"},
    {"swizzle<1, 0, 2> o (2) : (-8)", "(2) : (-8)", "yes"},
    {"swizzle<1, 0, 2> o (16777216) : (8) + 4", "(16777216) : (8) + 5",
     "ELIMIT equal: the layouts have unequal swizzles and over 4194304 points "
     "to compare"},
    {"swizzle<1, 24, 2> o (134217728) : (1)", "(134217728) : (1)",
     "ELIMIT equal: the layouts have unequal swizzles and over 4194304 points "
     "to compare"},
    {"swizzle(128) o (8) : (1)", "(8) : (1)",
     "EUNSUPPORTED equal: swizzle(128) o (8) : (1) and (8) : (1) have unequal "
     "swizzles, one of them not in elements; recast it, as recast(L, 16) does for 16 bits"},
    {"() : () + [(30000000, 3) : (2, 3)]",
     "() : () + [(30000000, 2, 2) : (2, 3, 3)]", "yes"},
    {"() : () + [(30000000, 30000000, 3) : (30, 7, 1)]",
     "() : () + [(30000000, 30000001, 4) : (30, 7, 1)]", "no"},
};
/* clang-format on */

static void
test_equal(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(equal_rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *a, *b;
        bool              same = false, back = false;
        axe_status        st;
        const char       *got;
        axe_axes_open(cx, true);
        a = must_read(cx, equal_rows[k].a);
        b = must_read(cx, equal_rows[k].b);
        st = axe_layout_equal(cx, a, b, &same);
        got = st != AXE_OK ? error_text(cx, st) : same ? "yes" : "no";
        if (strcmp(got, equal_rows[k].want) != 0)
            fail_msg("equal %s, %s: want %s, got %s", equal_rows[k].a,
                     equal_rows[k].b, equal_rows[k].want, got);
        if (st == AXE_OK) {
            assert_int_equal(axe_layout_equal(cx, b, a, &back), AXE_OK);
            assert_int_equal(same, back);
        }
        axe_ctx_free(cx);
    }
}

/* Many iters: 5,000 fuse to one, and nothing is quadratic. */
static void
test_many(void **state)
{
    enum { N = 5000 };
    static axe_iter   it[N];
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l, *c;
    axe_layout        spec = {.n_replica = N, .replica = it};
    bool              same;

    (void)state;
    for (int k = 0; k < N; k++)
        it[k] = (axe_iter){k % 100 == 0 && k < 3000 ? 2 : 1, 0, 0, 0};
    for (int k = N - 2; k >= 0; k--)
        it[k].stride =
            it[k + 1].extent * (it[k + 1].stride ? it[k + 1].stride : 1);
    it[N - 1].stride = 1;
    assert_int_equal(axe_layout_of_iters(cx, N, it, &l), AXE_OK);
    assert_int_equal(axe_layout_canon(cx, l, &c), AXE_OK);
    assert_string_equal(axe_layout_text(cx, c), "(1073741824) : (1)");
    assert_int_equal(axe_layout_equal(cx, l, c, &same), AXE_OK);
    assert_true(same);

    for (int k = 0; k < N; k++)
        it[k] = (axe_iter){2, (N - k) * (int64_t)(k % 7), 0, 0};
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_OK);
    assert_int_equal(axe_layout_canon(cx, l, &c), AXE_OK);
    assert_int_equal(axe_layout_equal(cx, l, c, &same), AXE_OK);
    assert_true(same);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canon),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
