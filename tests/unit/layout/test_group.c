/* test_group.c - group, group_many and permute, by table. */
#include "tables.h"

static axe_status
group(args *t, const axe_layout **out)
{
    return axe_layout_group(t->cx, t->a, t->sa, out);
}

/* clang-format off */
static const row group_rows[] = {
    {"(6) : (1)", "2 3", 0, 0, "(2, 3) : (3, 1)"},
    {"(2, 6) : (7, 1)", "4 3", 0, 0, "((2, 2), 3) : ((7, 3), 1)"},
    {"(1, 2) : (5, 1)", "2", 0, 0, "(2) : (1)"},
    {"(2, 2) : (2, 1)", "4", 0, 0, "((2, 2)) : ((2, 1))"},
    {"(2, 3) : (3, 1)", "3 2", 0, 0, "(3, 2) : (2, 1)"}, /* by normal form */
    {"(2, 3) : (3, 1)", "1 6 1", 0, 0, "((), (2, 3), ()) : ((), (3, 1), ())"},
    {"(8) : (K)", "2 4", 0, 0, "(2, 4) : (4*K, K)"},
    {"(8) : (1@P) + [2 : 4] - 1", "4 2", 0, 0,
     "(4, 2) : (2@P, 1@P) + [2 : 4] - 1"},
    {"swizzle(128) o (64) : (1)", "8 8", 0, 0,
     "swizzle(128) o (8, 8) : (8, 1)"},
    {"() : ()", "1 1", 0, 0, "((), ()) : ((), ())"},
    {"() : ()", "", 0, 0, "() : ()"},
    {"((8, 2, 4, 2)) : ((4@lane, 1@warp, 1@lane, 1@reg)) + [2 : 4@warp]", "8 16",
     0, 0, "(8, (2, 4, 2)) : (4@lane, (1@warp, 1@lane, 1@reg)) + [2 : 4@warp]"},
    {"(4, 6) : (7, 1)", "6 4", 0, 0,
     "ESHAPE group: (4, 6) : (7, 1) cannot be cut into (6, 4): at iter 0, "
     "extent 4 and the 6 still needed do not divide one another"},
    {"(2, 2, 9) : (70, 35, 1)", "6 6", 0, 0,
     "ESHAPE group: (2, 2, 9) : (70, 35, 1) cannot be cut into (6, 6): at iter "
     "0 of its normal form, extent 4 and the 6 still needed do not divide one "
     "another"},
    {"(4, 6) : (7, 1)", "2 3 4", 0, 0,
     "ESHAPE group: (4, 6) : (7, 1) cannot be cut into (2, 3, 4): at iter 0, "
     "extent 4 and the 3 still needed do not divide one another"},
    {"(4, 6) : (7, 1)", "4 5", 0, 0,
     "ESHAPE group: shape (4, 5) has 20 elements, and (4, 6) : (7, 1) has 24"},
    {"(4, 6) : (7, 1)", "", 0, 0,
     "ESHAPE group: shape () has 1 elements, and (4, 6) : (7, 1) has 24"},
    {"(4, 6) : (7, 1)", "4 0 6", 0, 0,
     "ESHAPE group: shape (4, 0, 6) has extent 0 at dim 1; it must be at least "
     "1"},
    {"(4) : (7)", "-4 -1", 0, 0,
     "ESHAPE group: shape (-4, -1) has extent -4 at dim 0; it must be at least "
     "1"},
    {"(4) : (7)", "4294967296 4294967296", 0, 0,
     "EOVERFLOW group: the size of shape (4294967296, 4294967296) leaves "
     "int64"},
};
/* clang-format on */

static void
test_group(void **state)
{
    (void)state;
    CHECK_ROWS(group_rows, group);
}

/* clang-format off */
static const struct {
    const char *in, *shape[3];
    bool        units;
    const char *want; /* layout, then the separators of each shape */
} many_rows[] = {
    {"(30) : (1)", {"1 6 1 5 1", "2 1 3 5"}, true,
     "((1, 2, 1, 3, 1, 5, 1)) : ((30, 15, 15, 5, 5, 1, 1)) "
     "[0 1 4 5 6 7] [0 2 3 4 7]"},
    {"(30) : (1)", {"1 6 1 5 1", "2 1 3 5"}, false,
     "((2, 3, 5)) : ((15, 5, 1)) [0 0 2 2 3 3] [0 1 1 2 3]"},
    {"(4, 6) : (6, 1)", {"2 12", "8 3"}, false,
     "((2, 2, 2, 3)) : ((12, 6, 3, 1)) [0 1 4] [0 3 4]"},
    {"(2, 3) : (3, 1)", {"3 2"}, false, "((3, 2)) : ((2, 1)) [0 1 2]"},
    {"() : ()", {"1 1", "1"}, true, "((1, 1)) : ((0, 0)) [0 1 2] [0 2]"},
    {"() : ()", {"1", "1"}, false, "() : () [0 0] [0 0]"},
    {"(4) : (K@P) + 3", {"2 2"}, true, "((2, 2)) : ((2*K@P, K@P)) + 3 [0 1 2]"},
    {"(12) : (1)", {"3 4", "2 6"}, false,
     "ESHAPE group: (12) : (1) cannot be cut into (2, 6) and the shapes before "
     "it: at iter 0, extent 3 and the 2 still needed do not divide one "
     "another"},
    {"(4, 6) : (7, 1)", {"6 4"}, true,
     "ESHAPE group: (4, 6) : (7, 1) cannot be cut into (6, 4): at iter 0, "
     "extent 4 and the 6 still needed do not divide one another"},
    {"(12) : (1)", {"3 4", "2 7"}, false,
     "ESHAPE group: shape (2, 7) has 14 elements, and (12) : (1) has 12"},
    {"((2, 2, 2)) : ((4, 2, 1))", {NULL}, true, "(8) : (1)"},
};
/* clang-format on */

static void
test_group_many(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(many_rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *l, *out;
        axe_shape         shape[3];
        int              *seps[3], n = 0;
        axe_buf           b = {.cx = cx};
        axe_status        st;
        axe_axes_open(cx, true);
        l = must_read(cx, many_rows[k].in);
        for (; n < 3 && many_rows[k].shape[n]; n++)
            shape[n] = read_numbers(cx, many_rows[k].shape[n]);
        st = axe_layout_group_many(cx, l, n, shape, many_rows[k].units, &out,
                                   seps);
        if (st != AXE_OK) {
            axe_puts(&b, error_text(cx, st));
        } else {
            axe_puts(&b, axe_layout_text(cx, out));
            for (int s = 0; s < n; s++) {
                for (int i = 0; i <= shape[s].n; i++)
                    axe_putf(&b, "%s%d", i ? " " : " [", seps[s][i]);
                axe_putc(&b, ']');
            }
        }
        assert_string_equal(b.text, many_rows[k].want);
        axe_ctx_free(cx);
    }
}

static axe_status
permute(args *t, const axe_layout **out)
{
    int perm[8];

    for (int k = 0; k < t->sa.n; k++)
        perm[k] = (int)t->sa.extent[k];
    return axe_layout_permute(t->cx, t->a, t->sa.n, perm, out);
}

/* clang-format off */
static const row permute_rows[] = {
    {"(2, 3) : (3, 1)", "1 0", 0, 0, "(3, 2) : (1, 3)"},
    {"((2, 2), 3, ()) : ((6, 3), 1, ()) + [2 : 9] + 1", "2 1 0", 0, 0,
     "((), 3, (2, 2)) : ((), 1, (6, 3)) + [2 : 9] + 1"},
    {"((2, 3)) : ((3, 1))", "0", 0, 0, "((2, 3)) : ((3, 1))"},
    {"swizzle(32) o (2, 3) : (3, 1)", "1 0", 0, 0,
     "swizzle(32) o (3, 2) : (1, 3)"},
    {"(2, 3) : (3, 1)", "0", 0, 0,
     "ESHAPE permute: 1 numbers for the 2 dims of (2, 3) : (3, 1)"},
    {"(2, 3) : (3, 1)", "0 2", 0, 0, "ESHAPE permute: 2 at place 1 is no dim"},
    {"(2, 3) : (3, 1)", "-1 0", 0, 0, "ESHAPE permute: -1 at place 0 is no dim"},
    {"(2, 3) : (3, 1)", "1 1", 0, 0,
     "ESHAPE permute: 1 at place 1 is there twice"},
};
/* clang-format on */

static void
test_permute(void **state)
{
    (void)state;
    CHECK_ROWS(permute_rows, permute);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_group_many),
        cmocka_unit_test(test_permute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
