/* test_inverse.c - tables: inverses, complements, compositions, injectivity
 * where digits interlock; every error with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"

static axe_ctx *
open_ctx(void)
{
    axe_ctx *cx = axe_ctx_new();

    assert_non_null(cx);
    axe_axes_open(cx, true);
    return cx;
}

static const axe_layout *
read(axe_ctx *cx, const char *text)
{
    const axe_layout *l;

    if (axe_layout_read(cx, text, &l) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(cx));
    return l;
}

typedef axe_status unary_fn(axe_ctx *cx, const axe_layout *l, int64_t n,
                            const axe_layout **out);

static axe_status
invert(axe_ctx *cx, const axe_layout *l, int64_t n, const axe_layout **out)
{
    (void)n;
    return axe_layout_inverse(cx, l, out);
}

static axe_status
left_invert(axe_ctx *cx, const axe_layout *l, int64_t n, const axe_layout **out)
{
    (void)n;
    return axe_layout_left_inverse(cx, l, out);
}

typedef struct row {
    const char *in, *arg, *want; /* want: a layout's text, or the error's */
} row;

/* Run a table; arg is put in the number that fn takes, where there is one. */
static void
run(const row *rows, int n, unary_fn *fn)
{
    for (int k = 0; k < n; k++) {
        axe_ctx *cx = open_ctx();
        int64_t  arg = rows[k].arg ? strtoll(rows[k].arg, NULL, 10) : 0;
        const axe_layout *out = NULL;
        const char       *got;
        axe_status        s = fn(cx, read(cx, rows[k].in), arg, &out);
        got = s == AXE_OK ? axe_layout_text(cx, out) : axe_last_error(cx);
        if (strcmp(got, rows[k].want) != 0)
            fail_msg("%s %s:\n  want %s\n  got  %s", rows[k].in,
                     rows[k].arg ? rows[k].arg : "", rows[k].want, got);
        axe_ctx_free(cx);
    }
}

/* clang-format off */
static const row inverse_rows[] = {
    {"(4, 8) : (8, 1)", NULL, "(32) : (1)"},
    {"(4, 8) : (1, 4)", NULL, "((8, 4)) : ((1, 8))"},
    {"(2, 3, 5) : (1, 10, 2)", NULL, "((15, 2)) : ((1, 15))"},
    {"(4) : (-1) + 3", NULL, "(4) : (-1) + 3"},
    {"(2, 4) : (-4, 1) + 4", NULL, "((2, 4)) : ((-4, 1)) + 4"},
    {"(8, 4) : (1@lane, 8@lane)", NULL, "((4, 8)) : ((1, 4))"},
    {"(4) : (1) + [2 : 4]", NULL, "((2, 4)) : ((0, 1))"},
    {"(2, 2) : (4, 1) + [2 : 2]", NULL, "((2, 2, 2)) : ((2, 0, 1))"},
    {"(3) : (4) + [(2, 2) : (1, 2)]", NULL, "((3, 4)) : ((1, 0))"},
    {"() : ()", NULL, "() : ()"},
    {"(1, 1) : (7, 9)", NULL, "() : ()"},
    {"(4) : (2)", NULL,
     "inverse: nothing of (4) : (2) is at place 1, below its highest, 6"},
    {"(4, 2) : (1, 8)", NULL,
     "inverse: nothing of ((4, 2)) : ((1, 8)) is at place 4, below its "
     "highest, 11"},
    {"(4) : (1) + 2", NULL,
     "inverse: the places of (4) : (1) + 2 begin at 2, not at 0"},
    {"(4) : (-1)", NULL,
     "inverse: the places of (4) : (-1) begin at -3, not at 0"},
    {"(2, 2) : (1, 1)", NULL,
     "inverse: ((2, 2)) : ((1, 1)) sends index 1 and index 2 to one point"},
    {"(4) : (1) + [2 : 1]", NULL,
     "inverse: (4) : (1) + [2 : 1] sends index 0 and index 1 to one point"},
    {"(3, 2) : (0, 1)", NULL,
     "inverse: ((3, 2)) : ((0, 1)) sends index 0 and index 2 to one point"},
    {"(4, 8) : (1@warp, 1@lane)", NULL,
     "inverse: ((4, 8)) : ((1@warp, 1@lane)) lives on 2 axes, warp and lane "
     "among them; one is needed"},
    {"(4, 8) : (K, 1)", NULL, "inverse: 1*K is known only at run time"},
    {"swizzle(128) o (64) : (1)", NULL,
     "inverse: swizzle(128) o (64) : (1) carries a swizzle, which no iter list "
     "follows"},
};

static const row left_rows[] = {
    {"(4) : (2)", NULL, "((4, 2)) : ((1, 0))"},
    {"(4, 2) : (1, 8)", NULL, "((2, 8)) : ((1, 2))"},
    {"(4) : (1) + 2", NULL, "(6) : (1) - 2"},
    {"(4) : (-2) + 6", NULL, "((4, 2)) : ((-1, 0)) + 3"},
    {"(2, 2) : (8, 1) + 2", NULL, "((2, 8)) : ((2, 1)) - 2"},
    {"(1) : (1) + 2", NULL, "(3) : (0)"},
    {"(2, 2) : (16, 1) + 34", NULL, "((4, 16)) : ((2, 1)) - 6"},
    {"(2, 2) : (8, 1) + 7", NULL,
     "left inverse: 2 steps of 1 from place 7 are no digit below steps of 8"},
    {"(2, 2) : (3, 2)", NULL,
     "left inverse: 2 steps of 2 from place 0 are no digit below steps of 3"},
    {"(4) : (1) - 1", NULL,
     "left inverse: the places of (4) : (1) - 1 begin at -1, below 0"},
    {"(2, 2) : (1, -1)", NULL,
     "left inverse: ((2, 2)) : ((1, -1)) sends index 0 and index 3 to one "
     "point"},
};

static const row complement_rows[] = {
    {"(4) : (2)", "8", "(2) : (1)"},
    {"(4) : (1)", "24", "(6) : (4)"},
    {"(4) : (1)", "6", "(2) : (4)"},
    {"(4) : (1)", "4", "() : ()"},
    {"(2, 2) : (8, 1)", "32", "((2, 4)) : ((16, 2))"},
    {"(2, 2) : (8@lane, 1@lane)", "32", "((2, 4)) : ((16@lane, 2@lane))"},
    {"(4) : (-1) + 3", "8", "(2) : (4)"},
    {"(2) : (1) + [2 : 4]", "8", "(2) : (2)"},
    {"() : ()", "5", "(5) : (1)"},
    {"() : ()", "9223372036854775807", "(9223372036854775807) : (1)"},
    {"(4, 2) : (1, 6)", "24",
     "complement: ((4, 2)) : ((1, 6)) has a step of 6, which is no multiple of "
     "the 4 places below it"},
    {"(4) : (1) + 1", "8",
     "complement: the places of (4) : (1) + 1 begin at 1, not at 0"},
    {"(4) : (0)", "8",
     "complement: (4) : (0) sends index 0 and index 1 to one place"},
    {"(4) : (1)", "0",
     "complement: a total of 0 places; at least 1 is needed"},
};

/* in after arg */
static const row compose_rows[] = {
    {"(20) : (2)", "(5, 4) : (4, 1)", "(5, 4) : (8, 2)"},
    {"(10, 2) : (1, 16)", "(5, 4) : (4, 1)",
     "(5, (2, 2)) : (2, (1, 16))"},
    {"(2, 6) : (2, 8)", "(4, 3) : (3, 1)", "((2, 2), 3) : ((2, 24), 8)"},
    {"(4, 8) : (1@warp, 1@lane)", "(32) : (1)", "((4, 8)) : ((1@warp, 1@lane))"},
    {"(4, 8) : (1@warp, 1@lane)", "(8, 4) : (1, 8)",
     "(8, 4) : (1@lane, 1@warp)"},
    {"(4, 8) : (1@warp, 1@lane)", "(8) : (-4) + 28",
     "((4, 2)) : ((-1@warp, -4@lane)) + 4@lane + 3@warp"},
    {"(4, 8) : (K, 1)", "(4, 4) : (8, 2)", "(4, 4) : (K, 2)"},
    {"(32) : (1) + [2 : 1@warp] + 7", "(8) : (2) + [2 : 16] + 1",
     "(8) : (2) + [(2, 2) : (16, 1@warp)] + 8"},
    {"swizzle(64) o (64) : (1)", "(8, 8) : (1, 8)",
     "swizzle(64) o (8, 8) : (1, 8)"},
    {"(64) : (1@lane)", "swizzle<1, 0, 1> o (2) : (2)", "(2) : (3@lane)"},
    {"(64) : (1@lane)", "swizzle<1, 0, 1> o (2, 2) : (4, 2)",
     "(2, 2) : (4@lane, 3@lane)"},
    {"(64) : (1@lane)", "swizzle<1, 0, 1> o (2, 3) : (8, 1)",
     "compose: no iter list is this map: none agrees with it at index 3 of 6"},
    {"(2, 2) : (1@lane, 1@warp)", "swizzle<1, 0, 1> o (2) : (2)",
     "compose: no iter list is this map: none agrees with it at index 1 of 2"},
    {"(4) : (1)", "swizzle<1, 0, 1> o (2) : (-2)",
     "compose: the right layout reaches index -1 of the left one, (4) : (1), of "
     "size 4"},
    {"(4) : (3)", "() : ()", "() : ()"},
    {"() : ()", "(4) : (0)", "(4) : (0)"},
    /* The traps of CuTe's rule: layout-wise conditions are not enough. */
    {"(2, 6) : (100, 1)", "(2, 4) : (4, 1)",
     "compose: no iter list is this map: none agrees with it at index 6 of 8"},
    {"(3, 3, 7) : (1, 3, 9)", "(4) : (4)", "((2, 2)) : ((12, 36))"},
    {"(3, 2) : (10, 1)", "(2, 2) : (1, 1)",
     "compose: no iter list is this map: none agrees with it at index 3 of 4"},
    {"(4, 4) : (8, 1)", "(17) : (1)",
     "compose: the right layout reaches index 16 of the left one, "
     "((4, 4)) : ((8, 1)), of size 16"},
    {"(4, 4) : (8, 1)", "(4) : (-1)",
     "compose: the right layout reaches index -3 of the left one, "
     "((4, 4)) : ((8, 1)), of size 16"},
    {"(4, 4) : (8, 1)", "(2, 2) : (1@a, 1@b)",
     "compose: (2, 2) : (1@a, 1@b) lives on 2 axes, a and b among them; "
     "one is needed"},
    {"(4, 4) : (8, 1)", "(2) : (1) + [2 : 3]",
     "compose: the replicas of the right layout do not move alike under the "
     "left one"},
    {"(3, 333333) : (1, 3)", "(2, 99999) : (333334, 2)",
     "compose: the digits carry, and 199998 points are over the 65536 that are "
     "looked at one by one"},
    {"(64) : (1)", "swizzle(64) o (8) : (1)",
     "compose: swizzle(64) o (8) : (1) carries a swizzle, which no iter list "
     "follows"},
    {"(4, 4) : (8, 1)", "(4) : (K)", "compose: 1*K is known only at run time"},
};
/* clang-format on */

static void
test_inverse(void **state)
{
    (void)state;
    run(inverse_rows, AXE_LEN(inverse_rows), invert);
    run(left_rows, AXE_LEN(left_rows), left_invert);
    run(complement_rows, AXE_LEN(complement_rows), axe_layout_complement);
}

static void
test_compose(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(compose_rows); k++) {
        const row        *r = &compose_rows[k];
        axe_ctx          *cx = open_ctx();
        const axe_layout *out = NULL;
        axe_status        s;
        const char       *got;
        s = axe_layout_compose(cx, read(cx, r->in), read(cx, r->arg), &out);
        got = s == AXE_OK ? axe_layout_text(cx, out) : axe_last_error(cx);
        if (!r->want || strcmp(got, r->want) != 0)
            fail_msg("%s after %s:\n  want %s\n  got  %s", r->in, r->arg,
                     r->want ? r->want : "?", got);
        axe_ctx_free(cx);
    }
}

/* Digits that interlock: sets with distinct subset sums (Conway and Guy), found
 * injective by the search or by listing, and one step further by neither. */
static void
test_interlocked(void **state)
{
    enum { N = 26 };
    axe_ctx *cx = open_ctx();
    int64_t  u[N + 1] = {0, 1};
    bool     yes;

    (void)state;
    for (int n = 1; n < N; n++) {
        int r = 1;
        while (r * (r - 1) / 2 + r < n) /* round(sqrt(2n)) */
            r++;
        u[n + 1] = 2 * u[n] - u[n - r];
    }
    for (int n = 2; n <= N; n += 4) {
        axe_iter          it[N];
        const axe_layout *l;
        axe_mark          m = axe_ctx_mark(cx);
        axe_status        s;
        for (int k = 0; k < n; k++)
            it[k] = (axe_iter){2, u[n] - u[k], AXE_AXIS_M, AXE_UNIT_ONE};
        assert_int_equal(axe_layout_of_iters(cx, n, it, &l), AXE_OK);
        s = axe_layout_injective(cx, l, &yes, NULL);
        assert_int_equal(s, n <= 22 ? AXE_OK : AXE_ELIMIT);
        assert_true(s != AXE_OK || yes);
        axe_ctx_release(cx, m);
    }
    axe_ctx_free(cx);
}

/* Two long progressions meet only at a common multiple: decided without a walk
 * along them. */
static void
test_long(void **state)
{
    axe_ctx *cx = open_ctx();
    int64_t  w[2];
    bool     yes;

    (void)state;
    assert_int_equal(
        axe_layout_injective(
            cx, read(cx, "(999983, 1000000) : (1000000, 999983)"), &yes, w),
        AXE_OK);
    assert_true(yes);
    assert_int_equal(
        axe_layout_injective(
            cx, read(cx, "(999984, 1000001) : (1000000, 999983)"), &yes, w),
        AXE_OK);
    assert_false(yes);
    assert_int_equal(w[0], 1000000);
    assert_int_equal(w[1], INT64_C(999983) * 1000001);
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    const char *in;
    int         injective, surjective, compact; /* -1: an error */
} query_rows[] = {
    {"(4, 8) : (8, 1)", 1, 1, 1},
    {"(4, 8) : (1, 4)", 1, 1, 1},
    {"(4, 8) : (8@warp, 1)", 1, 0, 0},
    {"(4, 8) : (1@warp, 1)", 1, 1, 0},
    {"(4, 4) : (8, 1)", 1, 0, 0},
    {"(4) : (0)", 0, 1, 0},
    {"(4) : (1) + [2 : 4]", 1, 1, 0},
    {"(4) : (1) + [2 : 2]", 0, 1, 0},
    {"(4) : (1) + [2 : 0]", 1, 1, 1},
    {"(4) : (-1) - 9", 1, 1, 1},
    {"() : ()", 1, 1, 1},
    {"swizzle(128) o (4) : (0)", 0, 1, 0},
    {"swizzle(128) o (64) : (1)", 1, -1, -1},
    {"swizzle(128) o (128) : (1) + 128", 1, 1, 1},
    {"swizzle<1, 0, 1> o (4) : (1)", 1, 1, 1},
    {"swizzle<1, 0, 1> o (3) : (1)", 1, 0, 0},
    {"swizzle<1, 0, 1> o (2) : (3)", 1, 0, 0},
    {"swizzle<1, 0, 1> o (2) : (2)", 1, 0, 0},
    {"(4) : (K)", -1, -1, -1},
    {"swizzle<1, 0, 1> o (4194305) : (1)", 1, -1, -1},
};
/* clang-format on */

static int
answer(axe_status s, bool yes)
{
    return s == AXE_OK ? yes : -1;
}

static void
test_queries(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(query_rows); k++) {
        axe_ctx          *cx = open_ctx();
        const axe_layout *l = read(cx, query_rows[k].in);
        bool              yes = false;
        axe_status        s = axe_layout_injective(cx, l, &yes, NULL);
        int               got[3] = {answer(s, yes), 0, 0};
        s = axe_layout_surjective(cx, l, &yes);
        got[1] = answer(s, yes);
        s = axe_layout_compact(cx, l, &yes);
        got[2] = answer(s, yes);
        if (got[0] != query_rows[k].injective ||
            got[1] != query_rows[k].surjective ||
            got[2] != query_rows[k].compact)
            fail_msg("%s: %d %d %d", query_rows[k].in, got[0], got[1], got[2]);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse),     cmocka_unit_test(test_compose),
        cmocka_unit_test(test_interlocked), cmocka_unit_test(test_long),
        cmocka_unit_test(test_queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
