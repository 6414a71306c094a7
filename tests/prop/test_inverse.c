/* test_inverse.c - one-to-one, onto, compact, inverses and complements against
 * their definitions, by listing all points.
 *
 * Layouts: every D of up to three iters over extents 1..4 and strides -2..6 on
 * two axes, each with one of a few R and O; then random ones of up to five
 * iters, made injective more often by giving each a stride near the product so
 * far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "oracle.h"

enum { N_EXTENT = 4, N_STRIDE = 8, N_ITER = N_EXTENT * N_STRIDE * 2 };

static const int64_t strides[N_STRIDE] = {-2, -1, 0, 1, 2, 3, 4, 6};

typedef struct counts {
    long layouts, injective, onto, compact, inverse, left, left_refused;
    long complement, complement_refused;
} counts;

static axe_axis other;

static axe_iter
nth_iter(int k)
{
    return (axe_iter){1 + k % N_EXTENT, strides[k / N_EXTENT % N_STRIDE],
                      k / N_EXTENT / N_STRIDE ? other : AXE_AXIS_M,
                      AXE_UNIT_ONE};
}

#define MUST(cx, expr)                                                         \
    do {                                                                       \
        if ((expr) != AXE_OK)                                                  \
            fail_msg("%s: %s", #expr, axe_last_error(cx));                     \
    } while (0)

/* What the definition says of l. */
typedef struct truth {
    bool injective, onto, single, zero_based;
    int  n_place, n_axis;
} truth;

/* p is sorted by place. */
static truth
judge(const points *p)
{
    truth   t = {.injective = true, .n_place = 1};
    int64_t lo = p->at[0].other, hi = lo, mlo = p->at[0].m, mhi = mlo;

    for (int k = 1; k < p->n; k++) {
        const point *a = &p->at[k - 1], *b = &p->at[k];
        bool         same = a->m == b->m && a->other == b->other;
        t.n_place += !same;
        t.injective &= !same || a->x == b->x;
        lo = b->other < lo ? b->other : lo;
        hi = b->other > hi ? b->other : hi;
        mlo = b->m < mlo ? b->m : mlo;
        mhi = b->m > mhi ? b->m : mhi;
    }
    t.onto = t.n_place == (hi - lo + 1) * (mhi - mlo + 1);
    t.n_axis = (mlo != 0 || mhi != 0) + (lo != 0 || hi != 0);
    t.zero_based = (mlo == 0 && lo == 0);
    return t;
}

/* Does index x have a point that index y has too? */
static bool
shares(const points *p, int64_t x, int64_t y)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; p->at[i].x == x && k < p->n; k++)
            if (p->at[k].x == y && p->at[k].m == p->at[i].m &&
                p->at[k].other == p->at[i].other)
                return true;
    return false;
}

static void
check_queries(axe_ctx *cx, const axe_layout *l, const points *p, truth t)
{
    bool    yes;
    int64_t w[2];

    MUST(cx, axe_layout_injective(cx, l, &yes, w));
    if (yes != t.injective ||
        (!yes && (w[0] >= w[1] || !shares(p, w[0], w[1]))))
        fail_msg("injective: %s", axe_layout_text(cx, l));
    MUST(cx, axe_layout_surjective(cx, l, &yes));
    if (yes != t.onto)
        fail_msg("surjective: %s", axe_layout_text(cx, l));
    MUST(cx, axe_layout_compact(cx, l, &yes));
    if (yes != (t.onto && t.n_place == l->size && t.injective && t.n_axis <= 1))
        fail_msg("compact: %s", axe_layout_text(cx, l));
}

/* X(L(x)) = x at every point, L being on one axis. */
static void
check_undoes(axe_ctx *cx, const axe_layout *l, const points *p,
             const axe_layout *x)
{
    for (int k = 0; k < p->n; k++) {
        int64_t at = p->at[k].m != 0 ? p->at[k].m : p->at[k].other;
        if (at < 0 || at >= x->size ||
            axe_layout_at(x, at, AXE_AXIS_M) != p->at[k].x)
            fail_msg("%s: %s is no inverse at %d", axe_layout_text(cx, l),
                     axe_layout_text(cx, x), (int)at);
    }
}

static void
check_inverses(axe_ctx *cx, const axe_layout *l, const points *p, truth t,
               counts *n)
{
    bool              want = t.n_axis <= 1 && t.injective && t.onto;
    const axe_layout *x;
    axe_status        s = axe_layout_inverse(cx, l, &x);

    want = want && t.zero_based;
    if (s != (want ? AXE_OK : AXE_ESHAPE))
        fail_msg("inverse: %s: %s", axe_layout_text(cx, l), axe_last_error(cx));
    if (s == AXE_OK) {
        check_undoes(cx, l, p, x);
        n->inverse++;
    }
    s = axe_layout_left_inverse(cx, l, &x);
    if (want && s != AXE_OK)
        fail_msg("left inverse: %s", axe_layout_text(cx, l));
    if (s != AXE_OK) {
        n->left_refused += t.injective && t.n_axis <= 1;
        return;
    }
    if (!t.injective)
        fail_msg("left inverse of %s", axe_layout_text(cx, l));
    check_undoes(cx, l, p, x);
    n->left++;
}

/* (C, l) is injective and covers [0, total). */
static void
check_complement(axe_ctx *cx, const axe_layout *l, const points *p, truth t,
                 counts *n)
{
    static bool       hit[ORACLE_POINTS];
    static points     q;
    const axe_layout *c;
    int64_t           total = l->size * 3 - 1;

    if (axe_layout_complement(cx, l, total, &c) != AXE_OK) {
        n->complement_refused += t.injective && t.n_axis <= 1;
        return;
    }
    if (!t.injective || t.n_axis > 1 || !t.zero_based)
        fail_msg("complement of %s", axe_layout_text(cx, l));
    n->complement++;
    memset(hit, 0, sizeof hit);
    oracle_points(c, &q);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < q.n; k++) {
            int64_t at =
                p->at[i].m + p->at[i].other + q.at[k].m + q.at[k].other;
            bool copy = i > 0 && p->at[i].m == p->at[i - 1].m &&
                        p->at[i].other == p->at[i - 1].other;
            if (at >= 0 && at < ORACLE_POINTS && hit[at] && !copy)
                fail_msg("complement %s of %s: %d twice",
                         axe_layout_text(cx, c), axe_layout_text(cx, l),
                         (int)at);
            if (at >= 0 && at < ORACLE_POINTS)
                hit[at] = true;
        }
    for (int64_t k = 0; k < total; k++)
        if (!hit[k])
            fail_msg("complement %s of %s: not %d", axe_layout_text(cx, c),
                     axe_layout_text(cx, l), (int)k);
}

static void
check(axe_ctx *cx, const axe_layout *spec, counts *n)
{
    static points     p;
    const axe_layout *l;
    axe_mark          m = axe_ctx_mark(cx);
    truth             t;

    MUST(cx, axe_layout_make(cx, spec, &l));
    oracle_points(l, &p);
    qsort(p.at, (size_t)p.n, sizeof p.at[0], oracle_by_place);
    t = judge(&p);
    n->layouts++;
    n->injective += t.injective;
    n->onto += t.onto;
    check_queries(cx, l, &p, t);
    check_inverses(cx, l, &p, t, n);
    check_complement(cx, l, &p, t, n);
    axe_ctx_release(cx, m);
}

static void
report(const char *what, const counts *n)
{
    print_message("%s: %ld layouts, %ld injective, %ld onto, %ld with an "
                  "inverse, %ld with a left inverse (%ld injective ones "
                  "refused), %ld complements (%ld refused)\n",
                  what, n->layouts, n->injective, n->onto, n->inverse, n->left,
                  n->left_refused, n->complement, n->complement_refused);
}

static void
test_small(void **state)
{
    static const axe_iter replicas[] = {
        {2, 1, 0, 0}, {2, 3, 0, 0}, {3, -1, 0, 0}, {2, 4, 1, 0}};
    axe_ctx *cx = axe_ctx_new();
    counts   n = {0};
    int      all = N_ITER * N_ITER * N_ITER;

    (void)state;
    MUST(cx, axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &other));
    for (int i = 0; i < all; i++) {
        axe_iter   d[3] = {nth_iter(i % N_ITER), nth_iter(i / N_ITER % N_ITER),
                           nth_iter(i / N_ITER / N_ITER)};
        axe_offset o = {i % 5 - 2, AXE_AXIS_M, AXE_UNIT_ONE};
        axe_layout l = {.n_shard = 3,
                        .shard = d,
                        .n_offset = i % 7 == 0,
                        .offset = &o,
                        .n_replica = i % 11 < AXE_LEN(replicas)};
        l.replica = &replicas[i % 11 % AXE_LEN(replicas)];
        check(cx, &l, &n);
    }
    report("three iters", &n);
    axe_ctx_free(cx);
}

/* Iters whose strides, sorted, are about the reach of those below. */
static int
random_iters(uint64_t *seed, int n, axe_iter *it)
{
    int64_t place = 1;

    for (int k = n - 1; k >= 0; k--) {
        int64_t e = oracle_between(seed, 1, 4), sign;
        int64_t slack = oracle_between(seed, 0, 5);
        sign = oracle_between(seed, 0, 3) ? 1 : -1;
        if (slack == 5)
            place += oracle_between(seed, -1, 2);
        if (slack == 4)
            place *= 2;
        it[k] = (axe_iter){e, sign * place, AXE_AXIS_M, AXE_UNIT_ONE};
        place = llabs(place) * e;
    }
    for (int k = n - 1; k > 0; k--) {
        int      j = (int)oracle_between(seed, 0, k);
        axe_iter t = it[k];
        it[k] = it[j];
        it[j] = t;
    }
    return n;
}

static void
test_random(void **state)
{
    enum { N = 60000 };
    axe_ctx *cx = axe_ctx_new();
    counts   n = {0};
    uint64_t seed = 20251120;

    (void)state;
    for (int i = 0; i < N; i++) {
        axe_iter   it[6];
        axe_offset o = {0, AXE_AXIS_M, AXE_UNIT_ONE};
        int        n_iter = random_iters(&seed, 2 + i % 4, it);
        int        n_replica = i % 4 == 0;
        axe_layout l = {.shard = it,
                        .n_shard = n_iter - n_replica,
                        .replica = it + n_iter - n_replica,
                        .n_replica = n_replica,
                        .offset = &o,
                        .n_offset = 1};
        for (int k = 0; k < n_iter && i % 5 > 0; k++)
            if (it[k].stride < 0)
                o.value -= (it[k].extent - 1) * it[k].stride;
        check(cx, &l, &n);
    }
    report("random", &n);
    axe_ctx_free(cx);
}

/* Digits without any order among their strides: neither radix nor reach
 * decides, so that collisions are searched for (and listed, in a stress build,
 * which gives up the search at once).  Two replicas may collide with each
 * other. */
static void
test_interlocking(void **state)
{
    enum { N = 60000 };
    axe_ctx *cx = axe_ctx_new();
    counts   n = {0};
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < N; i++) {
        axe_iter   it[5];
        int        n_iter = 3 + i % 3;
        int64_t    scale = oracle_between(&seed, 1, 4);
        axe_layout l = {.shard = it, .n_replica = i % 7 % 3};
        for (int k = 0; k < n_iter; k++) {
            int64_t s = oracle_between(&seed, -9, 40);
            if (k > 1)
                s *= scale;
            it[k] = (axe_iter){oracle_between(&seed, 2, 4), s, AXE_AXIS_M,
                               AXE_UNIT_ONE};
        }
        l.n_shard = n_iter - l.n_replica;
        l.replica = it + l.n_shard;
        check(cx, &l, &n);
    }
    report("interlocking", &n);
    axe_ctx_free(cx);
}

/* x -> s(x) onto an interval, whatever the swizzle cuts. */
static void
test_swizzled(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    counts   n = {0};
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        axe_iter          it[3];
        axe_offset        o = {oracle_between(&seed, -4, 9), AXE_AXIS_M, 0};
        int               bits = (int)oracle_between(&seed, 1, 2);
        int               shift = bits + (int)oracle_between(&seed, 0, 1);
        axe_layout        l = {.shard = it, .offset = &o, .n_offset = i % 2};
        const axe_layout *made;
        static points     p;
        truth             t;
        l.swizzle = (axe_swizzle){bits, (int)oracle_between(&seed, 0, 1),
                                  i % 3 ? shift : -shift, 0};
        l.n_shard = random_iters(&seed, 3, it);
        MUST(cx, axe_layout_make(cx, &l, &made));
        oracle_points(made, &p);
        qsort(p.at, (size_t)p.n, sizeof p.at[0], oracle_by_place);
        t = judge(&p);
        t.n_axis = 1;
        check_queries(cx, made, &p, t);
        n.layouts++;
        n.onto += t.onto;
    }
    print_message("swizzled: %ld layouts, %ld onto\n", n.layouts, n.onto);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_interlocking),
        cmocka_unit_test(test_swizzled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
