/* test_swizzle.c - swizzles: their units, their laws, finding them in tables;
 * and walks, which must agree with axe_layout_at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"

static bool
same(axe_swizzle a, axe_swizzle b)
{
    return a.bits == b.bits && a.base == b.base && a.shift == b.shift &&
           a.unit_bits == b.unit_bits;
}

static void
test_bytes(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_swizzle s = {9, 9, 9, 9};

    (void)state;
    assert_int_equal(axe_swizzle_of_bytes(cx, 16, &s), AXE_ESHAPE);
    assert_string_equal(axe_last_error(cx),
                        "swizzle: the hardware has swizzles of 32, 64 and 128 "
                        "bytes, not of 16");
    assert_true(same(s, (axe_swizzle){9, 9, 9, 9}));
    assert_int_equal(axe_swizzle_of_bytes(cx, 32, &s), AXE_OK);
    assert_true(same(s, (axe_swizzle){1, 4, 3, 8}));
    assert_int_equal(axe_swizzle_of_bytes(cx, 64, &s), AXE_OK);
    assert_true(same(s, (axe_swizzle){2, 4, 3, 8}));
    assert_int_equal(axe_swizzle_of_bytes(cx, 128, &s), AXE_OK);
    assert_true(same(s, (axe_swizzle){3, 4, 3, 8}));
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    axe_swizzle in;
    int         bits;
    axe_swizzle out;
    const char *error;
} recast_rows[] = {
    {{3, 4, 3, 8},  8, {3, 4, 3, 0}, NULL},
    {{3, 4, 3, 8}, 16, {3, 3, 3, 0}, NULL},
    {{3, 4, 3, 8}, 32, {3, 2, 3, 0}, NULL},
    {{3, 4, 3, 8}, 64, {3, 1, 3, 0}, NULL},
    {{3, 4, 3, 8}, 128, {3, 0, 3, 0}, NULL},
    {{3, 4, 3, 8},  4, {3, 5, 3, 0}, NULL},
    {{3, 4, 3, 8},  1, {3, 7, 3, 0}, NULL},
    {{2, 0, -2, 8}, 4, {2, 1, -2, 0}, NULL},
    {{0, 0, 0, 8}, 256, {0, 0, 0, 0}, NULL},
    {{3, 4, 3, 8}, 256, {0, 0, 0, 0},
     "swizzle<3, 4, 3> in units of 8 bits moves pieces of 128 bits: elements of "
     "256 bits would be cut"},
    {{3, 4, 3, 8}, 12, {0, 0, 0, 0},
     "swizzle: elements of 12 bits; a power of two is needed"},
    {{3, 4, 3, 8}, 0, {0, 0, 0, 0},
     "swizzle: elements of 0 bits; a power of two is needed"},
    {{3, 3, 3, 0}, 16, {0, 0, 0, 0},
     "swizzle<3, 3, 3>: it counts elements already; only one with a unit can be "
     "recast"},
    {{3, 4, 2, 8}, 16, {0, 0, 0, 0},
     "swizzle<3, 4, 2>: |shift| is below bits, so the fields overlap"},
    {{3, -4, 3, 8}, 16, {0, 0, 0, 0}, "swizzle<3, -4, 3>: a field is negative"},
    {{3, 4, 3, 24}, 16, {0, 0, 0, 0},
     "swizzle<3, 4, 3>: the unit is not a power of two of bits"},
    {{3, 60, 3, 8}, 16, {0, 0, 0, 0},
     "swizzle<3, 60, 3>: base + |shift| + bits is over 62"},
    {{0, 0, 62, 8}, 16, {0, 0, 0, 0},
     "swizzle<0, 0, 62>: base + |shift| + bits is over 62"},
    {{3, 4, -2147483647 - 1, 8}, 16, {0, 0, 0, 0},
     "swizzle<3, 4, -2147483648>: base + |shift| + bits is over 62"},
    {{2147483647, 2147483647, 2147483647, 8}, 16, {0, 0, 0, 0},
     "swizzle<2147483647, 2147483647, 2147483647>: base + |shift| + bits is "
     "over 62"},
    {{3, 55, 3, 8}, 1, {0, 0, 0, 0},
     "swizzle<3, 58, 3>: base + |shift| + bits is over 62"},
};
/* clang-format on */

static void
test_recast(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(recast_rows); k++) {
        axe_ctx    *cx = axe_ctx_new();
        axe_swizzle s = {0, 0, 0, 0};
        axe_status  st =
            axe_swizzle_recast(cx, recast_rows[k].in, recast_rows[k].bits, &s);
        if (!same(s, recast_rows[k].out) ||
            (st == AXE_OK) != !recast_rows[k].error ||
            (st != AXE_OK &&
             strcmp(axe_last_error(cx), recast_rows[k].error) != 0))
            fail_msg("row %d: <%d, %d, %d> %d: %s", k, s.bits, s.base, s.shift,
                     s.unit_bits, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

/* Byte x of the K-major 128-byte atom, as vendors print it: element (1, 0) is
 * at byte 144 whatever the element.  And a recast swizzle moves elements to
 * where the one on bytes moves their first byte. */
static void
test_units_agree(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_swizzle byte, e;

    (void)state;
    assert_int_equal(axe_swizzle_of_bytes(cx, 128, &byte), AXE_OK);
    assert_int_equal(axe_swizzle_apply(byte, 128), 144);
    for (int bytes = 1; bytes <= 16; bytes *= 2) {
        assert_int_equal(axe_swizzle_recast(cx, byte, 8 * bytes, &e), AXE_OK);
        for (int64_t x = 0; x < 4096; x++)
            assert_int_equal(axe_swizzle_apply(e, x) * bytes,
                             axe_swizzle_apply(byte, x * bytes));
    }
    axe_ctx_free(cx);
}

/* For all small swizzles: its own inverse, and found again from its table.
 * The map itself is compared with fields cut out and shifted. */
static void
test_detect(void **state)
{
    enum { N = 256 };
    axe_ctx    *cx = axe_ctx_new();
    int64_t     map[N];
    axe_swizzle s, got;

    (void)state;
    for (int k = 0; k < 4 * 4 * 13; k++) {
        int64_t y;
        s = (axe_swizzle){k % 4, k / 4 % 4, k / 16 - 6, 0};
        if (s.shift < s.bits && -s.shift < s.bits)
            continue;
        for (int64_t x = 0; x < N; x++) {
            map[x] = axe_swizzle_apply(s, x);
            assert_int_equal(axe_swizzle_apply(s, map[x]), x);
            y = x >> (s.base + (s.shift > 0 ? s.shift : 0)) &
                ((1 << s.bits) - 1);
            y <<= s.base + (s.shift < 0 ? -s.shift : 0);
            assert_int_equal(map[x], x ^ y);
        }
        assert_int_equal(axe_swizzle_detect(cx, N, map, &got), AXE_OK);
        for (int64_t x = 0; x < N; x++)
            assert_int_equal(axe_swizzle_apply(got, x), map[x]);
        if (s.bits > 0 && s.base + s.shift + s.bits <= 8 && s.shift > 0)
            assert_true(same(got, s));
    }
    assert_int_equal(axe_swizzle_apply((axe_swizzle){3, 4, 3, 8}, -1),
                     -1 ^ (7 << 4));
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    int         n;
    int64_t     map[8];
    const char *error;
} none_rows[] = {
    {4, {0, 1, 3, 2}, NULL},
    {1, {0}, NULL},
    {2, {0, 3}, NULL},
    {4, {0, 1, 2, 7}, "swizzle: the table is none: 3 goes to 7, which no "
                      "swizzle that agrees with the entries before does"},
    {4, {1, 0, 3, 2}, "swizzle: the table is none: 0 goes to 1, which no "
                      "swizzle that agrees with the entries before does"},
    {4, {0, 2, 1, 3}, "swizzle: the table is none: 1 goes to 2, which no "
                      "swizzle that agrees with the entries before does"},
    {2, {0, 0}, "swizzle: the table is none: 1 goes to 0, which no swizzle "
                "that agrees with the entries before does"},
    {2, {0, -1}, "swizzle: the table is none: 1 goes to -1, which no swizzle "
                 "that agrees with the entries before does"},
    {8, {0, 1, 3, 2, 6, 7, 5, 4}, /* Y overlaps Z */
     "swizzle: the table is none: 4 goes to 6, which no swizzle that agrees "
     "with the entries before does"},
    {8, {0, 1, 2, 3, 4, 5, 6, -9223372036854775807 - 1},
     "swizzle: the table is none: 7 goes to -9223372036854775808, which no "
     "swizzle that agrees with the entries before does"},
    {3, {0, 1, 2}, "swizzle: a table of 3 entries; a power of two is needed"},
    {0, {0}, "swizzle: a table of 0 entries; a power of two is needed"},
    {-4, {0}, "axe_swizzle_detect: the count for map is -4"},
};
/* clang-format on */

static void
test_no_swizzle(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(none_rows); k++) {
        axe_ctx    *cx = axe_ctx_new();
        axe_swizzle s;
        axe_status  st =
            axe_swizzle_detect(cx, none_rows[k].n, none_rows[k].map, &s);
        assert_int_equal(st == AXE_OK, none_rows[k].error == NULL);
        if (st != AXE_OK)
            assert_string_equal(axe_last_error(cx), none_rows[k].error);
        axe_ctx_free(cx);
    }
}

/* Bits 4 and `second` go to bits 0 and `to`: a swizzle only if they are
 * neighbours and move equally far. */
static void
test_two_bits(void **state)
{
    enum { N = 256 };
    axe_ctx    *cx = axe_ctx_new();
    int64_t     map[N];
    axe_swizzle s;

    (void)state;
    for (int second = 5; second < 8; second++)
        for (int to = 0; to < 4; to++) {
            axe_mark   m = axe_ctx_mark(cx);
            bool       is = second == 5 && to == 1;
            axe_status st;
            for (int64_t x = 0; x < N; x++)
                map[x] = x ^ (x >> 4 & 1) ^ (x >> second & 1) << to;
            st = axe_swizzle_detect(cx, N, map, &s);
            assert_int_equal(st, is ? AXE_OK : AXE_ESHAPE);
            axe_ctx_release(cx, m);
        }
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    const char *in;
    axe_swizzle s;
    const char *want;
} over_rows[] = {
    {"(64) : (1)", {3, 3, 3, 0}, "swizzle<3, 3, 3> o (64) : (1)"},
    {"(8, 64) : (64, 1)", {3, 4, 3, 8},
     "swizzle(128) o (8, 64) : (64, 1)"},
    {"swizzle(128) o (64) : (1)", {3, 4, 3, 8}, "(64) : (1)"},
    {"swizzle(128) o (64) : (1)", {0, 0, 0, 0}, "swizzle(128) o (64) : (1)"},
    {"swizzle(64) o (64) : (1)", {3, 4, 3, 8},
     "swizzle<3, 4, 3> over swizzle<2, 4, 3>: a layout carries one swizzle, and "
     "two different ones do not make one"},
    {"(64) : (1)", {3, 3, 2, 0},
     "swizzle<3, 3, 2>: |shift| is below bits, so the fields overlap"},
};

static const struct {
    const char *in;
    int         axis;
} walk_rows[] = {
    {"() : ()", 0},
    {"(7) : (-3) + 5", 0},
    {"((2, 3), (4, 2)) : ((1, 0), (-5@lane, 9)) + 2@lane", 0},
    {"((2, 3), (4, 2)) : ((1, 0), (-5@lane, 9)) + 2@lane", 1},
    {"(1, 3, 1, 3, 1) : (9, 8, 7, 6, 5)", 0},
    {"(2, 3) : (K, 1)", 0},
};
/* clang-format on */

static void
test_over(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(over_rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *l, *out;
        axe_status        s = axe_layout_read(cx, over_rows[k].in, &l);
        if (s == AXE_OK)
            s = axe_layout_swizzled(cx, l, over_rows[k].s, &out);
        assert_string_equal(s == AXE_OK ? axe_layout_text(cx, out)
                                        : axe_last_error(cx),
                            over_rows[k].want);
        axe_ctx_free(cx);
    }
}

static void
test_walk(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(walk_rows); k++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *l;
        axe_walk          w;
        axe_axis          lane;
        int64_t           x = 0;
        assert_int_equal(axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &lane),
                         AXE_OK);
        assert_int_equal(axe_layout_read(cx, walk_rows[k].in, &l), AXE_OK);
        assert_int_equal(axe_walk_begin(cx, l, walk_rows[k].axis, &w), AXE_OK);
        do {
            assert_int_equal(w.index, x);
            assert_int_equal(w.coord, axe_layout_at(l, x, walk_rows[k].axis));
            x++;
        } while (axe_walk_next(&w));
        assert_int_equal(x, l->size);
        assert_false(axe_walk_next(&w));
        axe_ctx_free(cx);
    }
}

static void
test_walk_limit(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_iter          it[AXE_WALK_MAX + 1];
    const axe_layout *l;
    axe_walk          w;

    (void)state;
    for (int k = 0; k < AXE_LEN(it); k++)
        it[k] = (axe_iter){1, 1, 0, 0};
    assert_int_equal(axe_layout_of_iters(cx, AXE_WALK_MAX, it, &l), AXE_OK);
    assert_int_equal(axe_walk_begin(cx, l, 0, &w), AXE_OK);
    assert_int_equal(axe_layout_of_iters(cx, AXE_LEN(it), it, &l), AXE_OK);
    assert_int_equal(axe_walk_begin(cx, l, 0, &w), AXE_ELIMIT);
    assert_string_equal(axe_last_error(cx),
                        "walk: 65 iters, over the limit of 64");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_recast),
        cmocka_unit_test(test_units_agree), cmocka_unit_test(test_detect),
        cmocka_unit_test(test_no_swizzle),  cmocka_unit_test(test_two_bits),
        cmocka_unit_test(test_over),        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_walk_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
