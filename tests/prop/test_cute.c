/* test_cute.c - CuTe's algebra against its post-conditions, by enumeration: all
 * small pairs of layouts, and random ones with a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "convert/cute.h"

static uint32_t seed = 20250728;

static int
below(int n)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

static int64_t
at(axe_ctx *cx, const axe_cute *l, int64_t i)
{
    int64_t y;

    assert_int_equal(axe_cute_at(cx, l, i, &y), AXE_OK);
    return y;
}

/* Is there a layout with a mode for each leaf of b that is a of b?  By the
 * definition: the map is the sum of what the leaves do alone, and each of those
 * is a list of iters, tried by what a layout of one mode can be. */
static bool
separates(axe_ctx *cx, const axe_cute *a, const axe_cute *b)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, b, &leaf);

    for (int64_t i = 0; i < axe_cute_size(b); i++) {
        int64_t sum = 0, rest = i;

        for (int k = 0; k < n; k++) {
            sum += at(cx, a, rest % leaf[k].shape * leaf[k].stride);
            rest /= leaf[k].shape;
        }
        if (sum != at(cx, a, at(cx, b, i)))
            return false;
    }
    return true;
}

/* Is f(0..n) some list of iters?  All factorings of n, strides by what f has.
 */
static bool
is_layout(const int64_t *f, int64_t n, int64_t step)
{
    if (n == 1)
        return true;
    for (int64_t e = 2; e <= n; e++) {
        bool line = n % e == 0;

        for (int64_t i = 0; i < n && line; i++)
            line =
                f[i * step] == f[i / e * e * step] + i % e * (f[step] - f[0]);
        if (line && is_layout(f, n / e, step * e))
            return true;
    }
    return false;
}

static bool
exists(axe_ctx *cx, const axe_cute *a, const axe_cute *b)
{
    axe_cute *leaf;
    int       n = axe_cute_leaves(cx, b, &leaf);
    int64_t   f[4096];

    if (!separates(cx, a, b))
        return false;
    for (int k = 0; k < n; k++) {
        for (int64_t c = 0; c < leaf[k].shape; c++)
            f[c] = at(cx, a, c * leaf[k].stride);
        if (!is_layout(f, leaf[k].shape, 1))
            return false;
    }
    return true;
}

/* The composition is the map, and is refused only if there is none. */
static void
check_compose(axe_ctx *cx, const axe_cute *a, const axe_cute *b, int64_t *none)
{
    axe_cute   c;
    axe_status s = axe_cute_compose(cx, a, b, &c);

    if (s != AXE_OK) {
        assert_int_equal(s, AXE_ESHAPE);
        assert_false(exists(cx, a, b));
        ++*none;
        return;
    }
    assert_int_equal(axe_cute_size(&c), axe_cute_size(b));
    for (int64_t i = 0; i < axe_cute_size(b); i++)
        assert_int_equal(at(cx, &c, i), at(cx, a, at(cx, b, i)));
}

static axe_cute
pair(axe_ctx *cx, int s0, int d0, int s1, int d1)
{
    axe_cute mode[2] = {axe_cute_leaf(s0, d0), axe_cute_leaf(s1, d1)};

    return axe_cute_tuple(cx, 2, mode);
}

static void
test_compose_small(void **state)
{
    static const int shape[] = {1, 2, 3, 4, 6}, stride[] = {0, 1, 2, 3, 4};
    axe_ctx         *cx = axe_ctx_new();
    int64_t          none = 0, all = 0;

    (void)state;
    for (int k = 0; k < 390625; k += 3) {
        axe_mark m = axe_ctx_mark(cx);
        int      i[8];
        axe_cute a, b;

        for (int j = 0, r = k; j < 8; j++, r /= 5)
            i[j] = r % 5;
        a = pair(cx, shape[i[0]], stride[i[1]], shape[i[2]], stride[i[3]]);
        b = pair(cx, shape[i[4]], stride[i[5]], shape[i[6]], stride[i[7]]);
        check_compose(cx, &a, &b, &none);
        all++;
        axe_ctx_release(cx, m);
    }
    printf("%lld of %lld pairs have no composition\n", (long long)none,
           (long long)all);
    assert_true(none > all / 20 && none < all / 2);
    axe_ctx_free(cx);
}

/* A random tree of up to four leaves. */
static axe_cute
random_tree(axe_ctx *cx, int depth)
{
    static const int shape[] = {1, 2, 2, 3, 4, 5, 6, 8};
    static const int stride[] = {0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, -1, -4};
    axe_cute         mode[2];

    if (depth == 0 || below(3) == 0)
        return axe_cute_leaf(shape[below(8)], stride[below(13)]);
    mode[0] = random_tree(cx, depth - 1);
    mode[1] = random_tree(cx, depth - 1);
    return axe_cute_tuple(cx, 2, mode);
}

static void
check_one(axe_ctx *cx, const axe_cute *l)
{
    axe_cute c;
    int64_t  n = axe_cute_size(l);

    assert_int_equal(axe_cute_coalesce(cx, l, &c), AXE_OK);
    assert_int_equal(axe_cute_size(&c), n);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(at(cx, &c, i), at(cx, l, i));
    assert_int_equal(axe_cute_nullspace(cx, l, &c), AXE_OK);
    for (int64_t i = 0; i < axe_cute_size(&c); i++)
        assert_int_equal(at(cx, l, at(cx, &c, i)), 0);
    assert_int_equal(axe_cute_right_inverse(cx, l, &c), AXE_OK);
    for (int64_t i = 0; i < axe_cute_size(&c); i++)
        assert_int_equal(at(cx, l, at(cx, &c, i)), i);
    if (axe_cute_left_inverse(cx, l, &c) == AXE_OK)
        for (int64_t i = 0; i < n; i++) {
            int64_t y = at(cx, l, i);
            assert_int_equal(at(cx, l, at(cx, &c, y)), y);
        }
}

/* Disjoint but in 0, ascending, and as far as asked where no gap is rounded. */
static void
check_complement(axe_ctx *cx, const axe_cute *l, int64_t total)
{
    axe_cute          t = axe_cute_leaf(total, 1), c;
    axe_cute_composed own_layout = {.layout = l};
    const axe_layout *x;
    int64_t           cosize, own, last = -1;

    if (axe_cute_complement(cx, l, &t, &c) != AXE_OK)
        return;
    for (int64_t i = 0; i < axe_cute_size(&c); i++) {
        int64_t y = at(cx, &c, i);

        assert_true(y > last);
        last = y;
        for (int64_t k = 0; k < axe_cute_size(l); k++)
            assert_true(y == 0 || at(cx, l, k) != y);
    }
    assert_int_equal(axe_cute_cosize(cx, &c, &cosize), AXE_OK);
    assert_int_equal(axe_cute_cosize(cx, l, &own), AXE_OK);
    assert_int_equal(axe_cute_to_axe(cx, &own_layout, false, 0, NULL, &x),
                     AXE_OK);
    if (axe_layout_complement(cx, x, total, &x) == AXE_OK)
        assert_true(cosize + own - 1 >= total);
}

/* Axe and back, by the index and by the coordinates. */
static void
check_axe(axe_ctx *cx, const axe_cute *l)
{
    axe_cute_composed c = {.layout = l, .offset = below(5)}, back;
    const axe_layout *x;

    for (int keep = 0; keep < 2; keep++) {
        assert_int_equal(axe_cute_to_axe(cx, &c, keep, 0, NULL, &x), AXE_OK);
        assert_int_equal(axe_cute_from_axe(cx, x, keep, 0, NULL, 0, &back),
                         AXE_OK);
        assert_int_equal(back.offset, c.offset);
        for (int64_t i = 0; i < axe_cute_size(l); i++) {
            assert_int_equal(at(cx, back.layout, i), at(cx, l, i));
            if (!keep)
                assert_int_equal(axe_layout_at(x, i, AXE_AXIS_M),
                                 at(cx, l, i) + c.offset);
        }
    }
}

static void
test_random(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    int64_t  none = 0;

    (void)state;
    for (int k = 0; k < 20000; k++) {
        axe_mark m = axe_ctx_mark(cx);
        axe_cute a = random_tree(cx, 2), b = random_tree(cx, 2), d;

        check_one(cx, &a);
        check_complement(cx, &a, 1 + below(200));
        check_axe(cx, &a);
        check_compose(cx, &a, &b, &none);
        if (axe_cute_divide(cx, &a, &b, &d) == AXE_OK)
            for (int64_t i = 0; i < axe_cute_size(&b); i++)
                assert_int_equal(at(cx, &d, i), at(cx, &a, at(cx, &b, i)));
        if (axe_cute_product(cx, &a, &b, &d) == AXE_OK)
            for (int64_t i = 0; i < axe_cute_size(&a); i++)
                assert_int_equal(at(cx, &d, i), at(cx, &a, i));
        axe_ctx_release(cx, m);
    }
    printf("%lld of 20000 random pairs have no composition\n", (long long)none);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compose_small),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
