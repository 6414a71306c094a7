/* test_compose.c - composition against its definition: C(x) = A(B(x)) as sets,
 * for every x; and where it refuses, that no iter list is that map, by trying
 * every factorisation of the size.
 *
 * A: up to four iters on two axes, with R and O at times; B: up to three iters
 * on m, with R, O and negative strides at times.  Strides of B are drawn near
 * the radices of A, so that most pairs are about to carry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "oracle.h"

#define MUST(cx, expr)                                                         \
    do {                                                                       \
        if ((expr) != AXE_OK)                                                  \
            fail_msg("%s: %s", #expr, axe_last_error(cx));                     \
    } while (0)

typedef struct counts {
    long pairs, made, replicated, out_of_range, none, refused_replicated;
} counts;

static axe_axis other;

/* D of n / 2 up to n iters. */
static int
random_iters(uint64_t *seed, int n, bool two_axes, axe_iter *it)
{
    static const int64_t radix[] = {1, 1, 2, 2, 2, 3, 4, 5, 6};
    int                  len = (int)oracle_between(seed, (n + 1) / 2, n);

    for (int k = 0; k < len; k++) {
        int64_t s = 1;
        for (int i = 0; i < 3; i++)
            s *= radix[oracle_between(seed, 0, AXE_LEN(radix) - 1)];
        if (oracle_between(seed, 0, 9) == 0)
            s = oracle_between(seed, -4, 12);
        it[k] = (axe_iter){oracle_between(seed, 1, 6), s,
                           two_axes && oracle_between(seed, 0, 1) ? other
                                                                  : AXE_AXIS_M,
                           AXE_UNIT_ONE};
    }
    return len;
}

static const axe_layout *
random_layout(axe_ctx *cx, uint64_t *seed, int n, bool two_axes)
{
    axe_iter          it[8];
    axe_offset        o = {oracle_between(seed, 0, 3), AXE_AXIS_M, 0};
    axe_layout        l = {.shard = it, .replica = it + 4, .offset = &o};
    const axe_layout *out;

    l.n_shard = random_iters(seed, n, two_axes, it);
    if (oracle_between(seed, 0, 7) == 0)
        l.n_replica = random_iters(seed, 1, two_axes, it + 4);
    l.n_offset = oracle_between(seed, 0, 3) == 0;
    if (l.n_offset)
        for (int k = 0; k < l.n_shard; k++)
            if (it[k].axis == AXE_AXIS_M && it[k].stride < 0)
                o.value -= (it[k].extent - 1) * it[k].stride;
    MUST(cx, axe_layout_make(cx, &l, &out));
    return out;
}

/* The points of A(B(x)); false if some B(x) is not an index of A. */
static bool
follow(const axe_layout *a, const axe_layout *b, points *out)
{
    static points pa, pb;
    int           n_replica;

    oracle_points(a, &pa);
    oracle_points(b, &pb);
    n_replica = pa.n / (int)a->size;
    out->n = 0;
    for (int k = 0; k < pb.n; k++) {
        if (pb.at[k].m < 0 || pb.at[k].m >= a->size)
            return false;
        for (int r = 0; r < n_replica; r++) {
            point p = pa.at[pb.at[k].m * n_replica + r];
            p.x = pb.at[k].x;
            if (out->n == ORACLE_POINTS)
                return false;
            out->at[out->n++] = p;
        }
    }
    oracle_tidy(out);
    return true;
}

/* Is the list of iters with these extents (fast to slow), its strides read off
 * f, equal to f? */
static bool
agrees(const point *f, int n, int len, const int *extent)
{
    for (int x = 0; x < n; x++) {
        int64_t m = f[0].m, o = f[0].other;
        for (int k = 0, w = 1; k < len; w *= extent[k++]) {
            int64_t d = x / w % extent[k];
            if (f[w].m != f[0].m && f[w].other != f[0].other)
                return false;
            m += d * (f[w].m - f[0].m);
            o += d * (f[w].other - f[0].other);
        }
        if (m != f[x].m || o != f[x].other)
            return false;
    }
    return true;
}

/* Is some iter list the single-valued map f[0..n)? */
static bool
has_list(const point *f, int n, int rest, int len, int *extent)
{
    if (rest == 1)
        return agrees(f, n, len, extent);
    for (int e = 2; e <= rest; e++) {
        extent[len] = e;
        if (rest % e == 0 && has_list(f, n, rest / e, len + 1, extent))
            return true;
    }
    return false;
}

static void
check_pair(axe_ctx *cx, const axe_layout *a, const axe_layout *b, counts *n)
{
    static points     want, got, f;
    const axe_layout *c;
    axe_layout        bare = *a;
    axe_status        s = axe_layout_compose(cx, a, b, &c);
    int               extent[16];

    n->pairs++;
    if (!follow(a, b, &want)) {
        if (s == AXE_OK && want.n < ORACLE_POINTS)
            fail_msg("%s after %s leaves its range", axe_layout_text(cx, a),
                     axe_layout_text(cx, b));
        n->out_of_range++;
        return;
    }
    if (s == AXE_OK) {
        oracle_points(c, &got);
        oracle_tidy(&got);
        if (got.n != want.n ||
            memcmp(got.at, want.at, (size_t)got.n * sizeof got.at[0]) != 0)
            fail_msg("%s after %s is not %s", axe_layout_text(cx, a),
                     axe_layout_text(cx, b), axe_layout_text(cx, c));
        n->made++;
        n->replicated += b->n_replica > 0;
        return;
    }
    if (s != AXE_ESHAPE)
        fail_msg("%s", axe_last_error(cx));
    if (b->n_replica > 0) {
        n->refused_replicated++;
        return;
    }
    bare.n_replica = 0;
    assert_true(follow(&bare, b, &f));
    if (has_list(f.at, f.n, f.n, 0, extent))
        fail_msg("%s after %s is refused: %s", axe_layout_text(cx, a),
                 axe_layout_text(cx, b), axe_last_error(cx));
    n->none++;
}

static void
test_random(void **state)
{
    enum { N = 200000 };
    axe_ctx *cx = axe_ctx_new();
    counts   n = {0};
    uint64_t seed = 20251120;

    (void)state;
    MUST(cx, axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &other));
    for (int i = 0; i < N; i++) {
        axe_mark          m = axe_ctx_mark(cx);
        const axe_layout *a = random_layout(cx, &seed, 4, true);
        const axe_layout *b = random_layout(cx, &seed, 3, false);
        check_pair(cx, a, b, &n);
        axe_ctx_release(cx, m);
    }
    print_message("%ld pairs: %ld composed (%ld with copies), %ld without a "
                  "layout, %ld out of range, %ld refused for copies\n",
                  n.pairs, n.made, n.replicated, n.none, n.out_of_range,
                  n.refused_replicated);
    axe_ctx_free(cx);
}

/* Where L has an inverse X, X after L is the identity. */
static void
test_identities(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    uint64_t          seed = 11;
    int               n = 0;
    const axe_layout *x, *id, *c;

    (void)state;
    for (int i = 0; i < 40000; i++) {
        axe_mark          m = axe_ctx_mark(cx);
        const axe_layout *l = random_layout(cx, &seed, 3, false);
        if (l->n_replica == 0 && axe_layout_inverse(cx, l, &x) == AXE_OK) {
            bool same;
            MUST(cx, axe_layout_compose(cx, x, l, &c));
            MUST(cx, axe_layout_row_major(
                         cx, (axe_shape){1, (int64_t[]){l->size}}, &id));
            MUST(cx, axe_layout_equal(cx, c, id, &same));
            if (!same)
                fail_msg("%s after %s is %s", axe_layout_text(cx, x),
                         axe_layout_text(cx, l), axe_layout_text(cx, c));
            n++;
        }
        axe_ctx_release(cx, m);
    }
    print_message("%d inverses undone\n", n);
    assert_true(n > 500);
    axe_ctx_free(cx);
}

/* Splitting a whole = 6 m + lane by its definition, point by point, and fusing
 * it again.  It refuses at least where there is no layout. */
static void
test_split(void **state)
{
    enum { N = 40000, FACTOR = 6 };
    axe_ctx *cx = axe_ctx_new();
    axe_axis whole;
    uint64_t seed = 5;
    int      n = 0, n_back = 0, refused = 0, needless = 0;

    (void)state;
    MUST(cx, axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &other));
    MUST(cx, axe_axis_declare(cx, "whole", AXE_KIND_THREAD, &whole));
    MUST(cx, axe_axis_nest(cx, whole, AXE_AXIS_M, other, FACTOR));
    for (int i = 0; i < N; i++) {
        static points     before, after;
        axe_mark          m = axe_ctx_mark(cx);
        axe_iter          it[3];
        int               extent[16];
        axe_layout        l = {.shard = it};
        const axe_layout *a, *b;
        bool              same;
        l.n_shard = random_iters(&seed, 3, false, it);
        for (int k = 0; k < l.n_shard; k++)
            it[k].axis = whole;
        MUST(cx, axe_layout_make(cx, &l, &a));
        oracle_points(a, &before);
        if (axe_layout_split_axis(cx, a, whole, &b) == AXE_OK) {
            oracle_points(b, &after);
            for (int k = 0; k < after.n; k++)
                if (after.at[k].other < 0 || after.at[k].other >= FACTOR ||
                    after.at[k].m * FACTOR + after.at[k].other !=
                        before.at[k].other)
                    fail_msg("split %s: %s", axe_layout_text(cx, a),
                             axe_layout_text(cx, b));
            n++;
            if (axe_layout_fuse_axis(cx, b, whole, &b) == AXE_OK) {
                MUST(cx, axe_layout_equal(cx, a, b, &same));
                assert_true(same);
                n_back++;
            }
        } else {
            refused++;
            for (int k = 0; k < before.n; k++) {
                point *p = &before.at[k];
                p->m = p->other / FACTOR - (p->other < 0);
                p->other -= p->m * FACTOR;
            }
            needless += has_list(before.at, before.n, before.n, 0, extent);
        }
        axe_ctx_release(cx, m);
    }
    print_message("%d split, %d of them on both parts and fused again, %d "
                  "refused, %d of them for lack of a radix\n",
                  n, n_back, refused, needless);
    axe_ctx_free(cx);
}

/* Every pair of progressions: the values they have in common. */
static void
test_intersect(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_iter got;

    (void)state;
    for (int i = 0; i < 6 * 6 * 13 * 13; i++) {
        axe_iter a = {1 + i % 6, i / 36 % 13 - 6, AXE_AXIS_M, AXE_UNIT_ONE};
        axe_iter b = {1 + i / 6 % 6, i / 36 / 13 - 6, AXE_AXIS_M, AXE_UNIT_ONE};
        bool     one_sign = a.stride * b.stride > 0;
        int      common = 0;
        if (axe_iter_intersect(cx, a, b, &got) != AXE_OK) {
            assert_false(one_sign);
            continue;
        }
        assert_true(one_sign);
        for (int64_t k = 0; k < a.extent; k++)
            for (int64_t j = 0; j < b.extent; j++)
                if (k * a.stride == j * b.stride) {
                    assert_int_equal(common * got.stride, k * a.stride);
                    common++;
                }
        assert_int_equal(common, got.extent);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_intersect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
