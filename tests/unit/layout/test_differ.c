/* test_differ.c - where layouts differ: by table, and all pairs of some small
 * ones beside the definition; where tilings break, beside tile_of. */
#include "tables.h"

/* clang-format off */
static const struct pair {
    const char *a, *b, *want; /* the part's text, the index, whether the least */
} pairs[] = {
    {"(2, 3) : (3, 1)", "(3, 2) : (2, 1)", "nothing -1 1"},
    {"(4) : (1)", "(5) : (1)", "how many indices they have 4 1"},
    {"(4) : (1) + 3", "(4) : (1) + 4", "where they begin 0 1"},
    {"(4) : (1) + 3@warp", "(4) : (1)", "where they begin 0 1"},
    {"(4) : (1) + [2 : 4]", "(4) : (1) + [2 : -4] + 4", "nothing -1 1"},
    {"(4) : (1) + [2 : 4]", "(4) : (1) + [3 : 4]", "their copies 0 1"},
    {"() : () + [(6, 2) : (2, 3)]", "() : () + [(3, 4) : (2, 3)]", "nothing -1 1"},
    {"(2, 2, 2) : (4, 2, 1)", "(2, 2, 2) : (5, 2, 1)", "the steps of their digits 4 1"},
    /* differences that a plain look at neighbours would miss */
    {"(2, 2, 2) : (7, 5, 1)", "(2, 4) : (7, 3)", "the steps of their digits 1 1"},
    {"(2, 2) : (0@a, 1)", "(2, 2) : (0@b, 1)", "nothing -1 1"},
    {"(4, 4) : (4, 1)", "(4, 4) : (4@lane, 1)", "the steps of their digits 4 1"},
    {"swizzle<1, 0, 1> o (8) : (1)", "(8) : (1)", "their swizzles 2 1"},
    {"swizzle<1, 0, 2> o (4) : (1)", "(4) : (1)", "nothing -1 1"},
    {"(8589934592, 4) : (4, 1)", "(4, 8589934592) : (1, 4)", "the steps of their digits 1 1"},
    {"(2, 8388608) : (16777216, 1)", "(2, 8388608) : (16777215, 1)", "the steps of their digits 8388608 0"},
    {"(4) : (K)", "(4) : (M)", "the steps of their digits -1 0"},
    {"(4) : (K)", "(4) : (2*K)", "the steps of their digits -1 0"},
};

static const char *const small[] = {
    "(12) : (1)", "(3, 4) : (4, 1)", "(3, 4) : (1, 3)", "(4, 3) : (1, 4)", "(2, 6) : (6, 1)",
    "(2, 6) : (1, 2)", "(6, 2) : (1@lane, 1)", "(12) : (0)", "(12) : (-1) + 11", "(2, 2, 3) : (7, 5, 1)",
    "(12) : (1) + [2 : 12]", "(3, 4) : (4, 1) + [2 : -12] + 12", "(12) : (1) + 2@lane", "(4, 3) : (0, 1)",
    "swizzle<1, 0, 1> o (12) : (1)", "swizzle<1, 0, 2> o (12) : (1)", "(2, 6) : (4, 1)", "(3, 2, 2) : (4, 1, 2)",
    "(11) : (1)", "(2, 2) : (1, 2)",
};

static const struct tiles {
    const char *tiled, *inner, *want;
} tiles[] = {
    {"(16) : (1)", "(4) : (1)", ""},
    {"(4, 4) : (4, 1)", "(2, 2) : (4, 1)", "2 from 2 on m: 2, 6"},
    {"(2, 2) : (1, 2)", "(1, 2) : (0, 1)", "1 from 0 on m: 2, 1"},
    {"(4) : (1) + 5", "(2) : (1) + 3", ""},
    {"(6) : (1)", "(4) : (1)", ""},
    {"(6, 4) : (4, 1)", "(3, 4) : (4, 1)", ""},
    {"(2, 2) : (2, 1)", "(2, 2) : (1, 2)", "1 from 0 on m: 1, 2"},
};
/* clang-format on */

static const char *
part_text(axe_differ_part p)
{
    static const char *const text[] = {
#define PART(name, text) text,
#include "axe/difference.def"
    };

    return text[p];
}

static const axe_layout *
read(axe_ctx *cx, const char *text)
{
    const axe_layout *l;

    axe_axes_open(cx, true);
    assert_int_equal(axe_layout_read(cx, text, &l), AXE_OK);
    return l;
}

static void
test_pairs(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(pairs); i++) {
        axe_ctx              *cx = axe_ctx_new();
        axe_layout_difference d;

        assert_int_equal(axe_layout_differ(cx, read(cx, pairs[i].a),
                                           read(cx, pairs[i].b), &d),
                         AXE_OK);
        assert_string_equal(
            axe_textf(cx, "%s %d %d", part_text(d.part), (int)d.index, d.least),
            pairs[i].want);
        axe_ctx_free(cx);
    }
}

/* As text, so that axes at 0 do not matter. */
static const char *
at(axe_ctx *cx, const axe_layout *l, int64_t x)
{
    axe_points p;
    axe_buf    b = {.cx = cx};

    assert_int_equal(axe_layout_apply(cx, l, x, &p), AXE_OK);
    for (int i = 0; i < p.n_point; i++) {
        for (int k = 0; k < p.n_axis; k++)
            if (p.coord[i * p.n_axis + k] != 0)
                axe_putf(&b, "%d@%d ", (int)p.coord[i * p.n_axis + k],
                         (int)p.axis[k]);
        axe_puts(&b, "; ");
    }
    return b.text;
}

static void
test_least(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(small); i++)
        for (int k = 0; k < AXE_LEN(small); k++) {
            const axe_layout *a = read(cx, small[i]), *b = read(cx, small[k]);
            int64_t           n = a->size < b->size ? a->size : b->size, x = 0;
            axe_layout_difference d;

            assert_int_equal(axe_layout_differ(cx, a, b, &d), AXE_OK);
            assert_true(d.least);
            while (x < n && strcmp(at(cx, a, x), at(cx, b, x)) == 0)
                x++;
            if (a->size != b->size)
                x = n;
            else if (x == n)
                x = -1;
            if (d.index != x || (d.part == AXE_DIFFER_NONE) != (x < 0))
                fail_msg("%s and %s differ at %d, not %d", small[i], small[k],
                         (int)x, (int)d.index);
        }
    axe_ctx_free(cx);
}

static void
test_tiles(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(tiles); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_layout *t = read(cx, tiles[i].tiled), *outer;
        const axe_layout *in = read(cx, tiles[i].inner);
        axe_shape         ts = axe_layout_shape(cx, t);
        axe_shape         is = axe_layout_shape(cx, in);
        axe_tile_break    b = {0};
        bool              found;

        assert_int_equal(axe_layout_tile_break(cx, t, ts, in, is, &found, &b),
                         AXE_OK);
        assert_string_equal(found ? axe_textf(cx, "%d from %d on %s: %d, %d",
                                              (int)b.index, (int)b.first,
                                              axe_axis_name(cx, b.axis),
                                              (int)b.got, (int)b.want)
                                  : "",
                            tiles[i].want);
        if (found)
            assert_int_not_equal(axe_layout_tile_of(cx, t, ts, in, is, &outer),
                                 AXE_OK);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_tiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
