/* test_query.c - points, spans, sizes and contiguity, by table. */
#include "tables.h"

/* clang-format off */
static const struct {
    const char *in;
    int64_t     x;
    const char *want; /* axes, then points; or the error */
} apply_rows[] = {
    {"(2, 3) : (3, 1)", 4, "m 4"},
    {"() : ()", 0, " ()"},
    {"(4) : (0@P)", 2, " ()"},
    {"(8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg) + [2 : 4@warp] + 5@warp",
     9, "lane warp reg (0,6,1)(0,10,1)"},
    {"(8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg) + [2 : 4@warp] + 5@warp",
     127, "lane warp reg (31,6,1)(31,10,1)"},
    {"(2) : (1@P) - 3", 1, "m P (-3,1)"},
    {"(2) : (1) + [(2, 2) : (1, 1)]", 0, "m 0 1 2"},
    {"(2) : (1) + [(2, 2) : (2@P, -1)]", 1, "m P (0,0)(0,2)(1,0)(1,2)"},
    {"(2) : (1) + [(3, 2, 2) : (2, 3, 6)]", 0, "m 0 2 3 4 5 6 7 8 9 10 11 13"},
    {"() : () + [3 : -2@P] + 1@P", 0, "P -3 -1 1"},
    {"swizzle<1, 0, 2> o (16) : (1)", 6, "m 7"},
    {"swizzle<1, 0, 2> o (2) : (1) + [2 : 4]", 1, "m 1 4"},
    {"swizzle<1, 0, 2> o (2) : (1@P)", 1, "P 1"},
    {"swizzle<1, 0, 2> o (2) : (1@P) + 4", 1, "m P (5,1)"},
    {"(2) : (1)", 2, "ESHAPE apply: index 2 is outside [0, 2)"},
    {"(2) : (1)", -1, "ESHAPE apply: index -1 is outside [0, 2)"},
    {"(2) : (K)", 0, "EUNSUPPORTED apply: (2) : (K) has a run-time size"},
    {"(1) : (K) + [1 : K]", 0, " ()"},
    {"(2) : (1) + K@P", 0,
     "EUNSUPPORTED apply: (2) : (1) + K@P has a run-time size"},
    {"swizzle(128) o (2) : (1)", 0,
     "EUNSUPPORTED apply: the swizzle of swizzle(128) o (2) : (1) acts on units "
     "of 8 bits, not on elements; recast it, as recast(L, 16) does for 16 bits"},
    {"(2) : (1) + [2000000 : 1]", 0,
     "ELIMIT apply: an index has over 1048576 points"},
    {"(2) : (1) + [(2000, 2000) : (1@P, 1@Q)]", 0,
     "ELIMIT apply: an index has over 1048576 points"},
    {"(2) : (1) + [(2000, 2000, 2) : (1, 1000000, 7)]", 0,
     "ELIMIT apply: an index has over 1048576 points"},
};
/* clang-format on */

static const char *
points_text(axe_ctx *cx, const axe_points *p)
{
    axe_buf b = {.cx = cx};

    axe_puts(&b, "");
    for (int a = 0; a < p->n_axis; a++)
        axe_putf(&b, "%s%s", a ? " " : "", axe_axis_name(cx, p->axis[a]));
    for (int k = 0; k < p->n_point; k++) {
        if (k == 0 || p->n_axis == 1)
            axe_putc(&b, ' ');
        if (p->n_axis != 1)
            axe_putc(&b, '(');
        for (int a = 0; a < p->n_axis; a++)
            axe_putf(&b, "%s%lld", a ? "," : "",
                     (long long)p->coord[k * p->n_axis + a]);
        if (p->n_axis != 1)
            axe_putc(&b, ')');
    }
    return b.text;
}

static void
test_apply(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(apply_rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *l;
        axe_points        p;
        axe_status        st;
        axe_axes_open(cx, true);
        l = must_read(cx, apply_rows[k].in);
        st = axe_layout_apply(cx, l, apply_rows[k].x, &p);
        assert_string_equal(st == AXE_OK ? points_text(cx, &p)
                                         : error_text(cx, st),
                            apply_rows[k].want);
        axe_ctx_free(cx);
    }
}

/* The sum of digit times stride, beyond the size on the slowest digit. */
static void
test_at(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;
    axe_axis          p;

    (void)state;
    axe_axes_open(cx, true);
    l = must_read(cx,
                  "swizzle<1, 0, 2> o (2, 3, 4) : (100, 10@P, 1) + 7 - 2@P");
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "P", &p), AXE_OK);
    for (int64_t x = 0; x < 60; x++) {
        assert_int_equal(axe_layout_at(l, x, AXE_AXIS_M),
                         x / 12 * 100 + x % 4 + 7);
        assert_int_equal(axe_layout_at(l, x, p), x / 4 % 3 * 10 - 2);
    }
    l = must_read(cx, "(2, 2) : (K, 1) + M");
    assert_int_equal(axe_layout_at(l, 3, AXE_AXIS_M), 1);
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    const char *in, *axis, *span, *cosize, *fiber;
    bool        contiguous;
} rows[] = {
    {"(2, 3) : (3, 1)", "m", "6", "6", "1", true},
    {"(2, 3) : (3, 1) + 5", "m", "6", "11", "1", true},
    {"(2, 3) : (3, 1)", "P", "1", "1", "1", true},
    {"(2, 3) : (3@P, 1@P)", "P", "6", "6", "1", true},
    {"(2, 3) : (3, 1) + 5@P", "P", "1", "6", "1", false},
    {"(1, 2, 1, 3) : (9, 3, 9, 1)", "m", "6", "6", "1", true},
    {"() : ()", "m", "1", "1", "1", true},
    {"() : () + 3", "m", "1", "4", "1", true},
    {"() : () + 3 + 1@P", "m", "1", "4", "1", false},
    {"() : () + K", "m", "1",
     "EUNSUPPORTED cosize: () : () + K has a run-time offset on axis m", "1",
     false},
    {"(2, 3) : (1, 2)", "m", "6", "6", "1", false},
    {"(4) : (2)", "m", "7", "7", "1", false},
    {"(4) : (0)", "m", "1", "1", "1", false},
    {"(4) : (-2)", "m", "7",
     "ESHAPE cosize: (4) : (-2) has the coordinate -6 on axis m", "1", false},
    {"(2) : (-1)", "m", "2",
     "ESHAPE cosize: (2) : (-1) has the coordinate -1 on axis m", "1", false},
    {"() : () + [(2, 2, 2) : (2, 3, 5)]", "m", "11", "11", "7", false},
    {"(4) : (-2) + 6", "m", "7", "7", "1", false},
    {"(2) : (3) + [2 : -5] + 9", "m", "9", "13", "2", false},
    {"(2) : (1) + [1 : 8]", "m", "2", "2", "1", true},
    {"(2) : (1) + [3 : 0]", "m", "2", "2", "1", true},
    {"() : () + [(2, 2) : (1, 1)]", "m", "3", "3", "3", false},
    {"() : () + [(2, 2) : (1, 1@P)]", "m", "2", "2", "4", false},
    {"() : () + [(3, 2) : (K, 1)]", "P", "1", "1", "6", false},
    {"() : () + [(3000000000, 3000000000) : (1, 1@P)]", "m", "3000000000",
     "3000000000", "9000000000000000000", false},
    {"() : () + [(4000000000, 4000000000) : (1, 1@P)]", "m", "4000000000",
     "4000000000", "EOVERFLOW fiber size: it leaves int64", false},
    {"() : () + [(3000, 3000) : (2, 10001)]", "m", "29998998", "29998998",
     "9000000", false},
    {"() : () + [(3000, 3000, 3) : (10, 100003, 15)]", "m", "299939018",
     "299939018",
     "ELIMIT fiber size: the replicas on axis m have over 4194304 runs of "
     "neighbours", false},
    {"() : () + [(3, 2, 2) : (2, 3, 6)]", "m", "14", "14", "12", false},
    {"(4) : (K)", "m",
     "EUNSUPPORTED span: (4) : (K) has the run-time size K on axis m",
     "EUNSUPPORTED cosize: (4) : (K) has the run-time size K on axis m", "1",
     false},
    {"(4) : (K@P)", "m", "1", "1", "1", false},
    {"(2, 1) : (1, K)", "m", "2", "2", "1", true},
    /* a swizzle keeps whole blocks */
    {"swizzle<1, 0, 2> o (4) : (1)", "m", "4", "4", "1", false},
    {"swizzle<1, 0, 2> o (5) : (1)", "m", "5", "6", "1", false},
    {"swizzle<2, 1, -3> o (5) : (1)", "m", "5", "64", "1", false},
    {"swizzle<2, 1, -3> o (2) : (1)", "m", "2", "2", "1", false},
    {"swizzle(128) o (16, 64) : (64, 1)", "m", "1024", "1024", "1", false},
    {"swizzle(128) o (2) : (1) + 9223372036854775800", "m", "2",
     "EOVERFLOW cosize: the swizzle of swizzle(128) o (2) : (1) + "
     "9223372036854775800 leaves int64", "1", false},
};
/* clang-format on */

static void
check_number(axe_ctx *cx, axe_status st, int64_t got, const char *want,
             const char *in)
{
    const char *text = st == AXE_OK ? axe_textf(cx, "%lld", (long long)got)
                                    : error_text(cx, st);

    if (strcmp(text, want) != 0)
        fail_msg("%s: want %s, got %s", in, want, text);
}

static void
test_sizes(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        axe_mark          start;
        const axe_layout *l;
        axe_axis          a;
        axe_status        st;
        int64_t           v = 0;
        axe_axes_open(cx, true);
        l = must_read(cx, rows[k].in);
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, rows[k].axis, &a),
                         AXE_OK);
        start = axe_ctx_mark(cx);
        st = axe_layout_span(cx, l, a, &v);
        check_number(cx, st, v, rows[k].span, rows[k].in);
        axe_ctx_release(cx, start);
        st = axe_layout_cosize(cx, l, a, &v);
        check_number(cx, st, v, rows[k].cosize, rows[k].in);
        axe_ctx_release(cx, start);
        st = axe_layout_fiber_size(cx, l, &v);
        check_number(cx, st, v, rows[k].fiber, rows[k].in);
        if (axe_layout_contiguous(cx, l) != rows[k].contiguous)
            fail_msg("%s: contiguous is not %d", rows[k].in,
                     rows[k].contiguous);
        axe_ctx_free(cx);
    }
}

/* A thread axis is no storage, however dense. */
static void
test_contiguous_kind(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;
    axe_axis          a;

    (void)state;
    assert_int_equal(axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &a), AXE_OK);
    assert_int_equal(axe_axis_declare(cx, "reg", AXE_KIND_REG, &a), AXE_OK);
    l = must_read(cx, "(4) : (1@lane)");
    assert_false(axe_layout_contiguous(cx, l));
    l = must_read(cx, "(4) : (1@reg)");
    assert_true(axe_layout_contiguous(cx, l));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_at),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_contiguous_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
