/* test_oracle_tile.c - tile, direct sum and their inverses against the
 * definition
 *
 *     L(x || y) = A(x) * W + B(y),   W the span of B, or 1 for a direct sum.
 *
 * tile_of is checked both ways by a quotient of sets of points: an outer layout
 * exists iff each T(x || 0) has a quotient that does for all y, and these
 * quotients are D(x) + S + O with D lists of iters and S a sum of progressions.
 * The other inverses must give what they promise, must find what was put in,
 * and must refuse only where no layout of a list does. */
#include "maps.h"

/* A map with the beginning of each index's set. */
typedef struct indexed {
    map m;
    int from[4097];
} indexed;

static void
index_map(const axe_layout *l, indexed *v)
{
    map_of(l, &v->m);
    assert_true(l->size < 4096);
    v->from[0] = 0;
    for (int64_t x = 0, k = 0; x < l->size; x++) {
        while (v->m.at[k] != MAP_END)
            k++;
        v->from[x + 1] = (int)++k;
    }
}

/* Points of index x, without the end mark. */
static int
n_points(const indexed *v, int64_t x)
{
    return v->from[x + 1] - v->from[x] - 1;
}

/* Largest minus smallest coordinate plus 1, and the smallest. */
static void
spans_of(const indexed *v, int64_t span[MAP_AXES])
{
    for (int a = 0; a < MAP_AXES; a++) {
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (int k = 0; k < v->m.n; k++) {
            int64_t c;
            if (v->m.at[k] == MAP_END)
                continue;
            c = coord_of(v->m.at[k], a);
            lo = c < lo ? c : lo;
            hi = c > hi ? c : hi;
        }
        span[a] = hi - lo + 1;
    }
}

static int64_t
scaled(int64_t p, const int64_t span[MAP_AXES])
{
    int64_t q = 0;

    for (int a = 0; a < MAP_AXES; a++)
        q += point_of(a, coord_of(p, a) * span[a]);
    return q;
}

/* The flat index of (x || y), dims (x_0 y_0)(x_1 y_1)... */
static int64_t
pair_index(axe_shape sx, axe_shape sy, int64_t x, int64_t y)
{
    int64_t flat = 0, pitch = 1;

    for (int k = sx.n - 1; k >= 0; k--) {
        flat += (x % sx.extent[k] * sy.extent[k] + y % sy.extent[k]) * pitch;
        pitch *= sx.extent[k] * sy.extent[k];
        x /= sx.extent[k];
        y /= sy.extent[k];
    }
    return flat;
}

/* Does T hold the sums at every (x || y)?  w NULL: 1. */
static bool
holds(const indexed *t, const indexed *a, axe_shape sa, const indexed *b,
      axe_shape sb, const int64_t *w)
{
    static map s;

    if (t->m.size != a->m.size * b->m.size)
        return false;
    for (int64_t x = 0; x < a->m.size; x++)
        for (int64_t y = 0; y < b->m.size; y++) {
            int64_t i = pair_index(sa, sb, x, y);
            s.n = 0;
            for (int j = 0; j < n_points(a, x); j++)
                for (int k = 0; k < n_points(b, y); k++) {
                    int64_t p = a->m.at[a->from[x] + j];
                    s.at[s.n++] =
                        (w ? scaled(p, w) : p) + b->m.at[b->from[y] + k];
                }
            map_close(&s, 0);
            if (s.n != t->from[i + 1] - t->from[i] ||
                memcmp(s.at, t->m.at + t->from[i],
                       (size_t)s.n * sizeof s.at[0]) != 0)
                return false;
        }
    return true;
}

/* ------------------------------------------------------ the quotient oracle */

/* Is the set s[0..n), from 0 on, {start, ...} plus progressions of strides of
 * at least `least`?  have[0..h) is what is reached. */
static bool
grows(int n, const int64_t *s, int h, const int64_t *have, int64_t least)
{
    int64_t more[512];

    if (h == n)
        return true;
    for (int i = 1; i < n; i++) {
        if (s[i] < least)
            continue;
        for (int e = 2;; e++) {
            static map m;
            bool       inside = true;
            m.n = 0;
            for (int k = 0; k < h; k++)
                for (int q = 0; q < e; q++)
                    m.at[m.n++] = have[k] + q * s[i];
            map_close(&m, 0);
            m.n--;
            for (int k = 0; inside && k < m.n; k++)
                inside = bsearch(&m.at[k], s, (size_t)n, sizeof *s,
                                 map_order) != NULL;
            if (!inside)
                break;
            if (m.n == h)
                continue;
            memcpy(more, m.at, (size_t)m.n * sizeof more[0]);
            if (grows(n, s, m.n, more, s[i] + 1))
                return true;
        }
    }
    return false;
}

/* Is the set of points a sum of progressions, each on one axis? */
static bool
is_progressions(int n, const int64_t *p)
{
    int64_t on[MAP_AXES][512], zero = 0, count = 1;

    for (int a = 0; a < MAP_AXES; a++) {
        static map m;
        int64_t    lo = INT64_MAX;
        m.n = 0;
        for (int k = 0; k < n; k++) {
            int64_t c = coord_of(p[k], a);
            lo = c < lo ? c : lo;
            m.at[m.n++] = c;
        }
        map_close(&m, 0);
        count *= --m.n;
        for (int k = 0; k < m.n; k++)
            on[a][k] = m.at[k] - lo;
        if (!grows(m.n, on[a], 1, &zero, 1))
            return false;
    }
    return count == n; /* a product over the axes */
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Is there an outer layout C of shape sc with T = C (x) B? */
static bool
outer_exists(const indexed *t, axe_shape sc, const indexed *b, axe_shape sb)
{
    static indexed c;
    int64_t        w[MAP_AXES], low[MAP_AXES], f[256], n = 1;

    spans_of(b, w);
    for (int k = 0; k < sc.n; k++)
        n *= sc.extent[k];
    for (int a = 0; a < MAP_AXES; a++) {
        low[a] = INT64_MAX;
        for (int k = 0; k < n_points(b, 0); k++)
            if (coord_of(b->m.at[k], a) < low[a])
                low[a] = coord_of(b->m.at[k], a);
    }
    c.m.n = 0;
    c.m.size = n;
    for (int64_t x = 0; x < n; x++) {
        int64_t i = pair_index(sc, sb, x, 0);
        int     from = c.m.n;
        for (int k = 0; k < n_points(t, i); k++) {
            int64_t p = t->m.at[t->from[i] + k], q = 0;
            for (int a = 0; a < MAP_AXES; a++)
                q += point_of(a, floor_div(coord_of(p, a) - low[a], w[a]));
            c.m.at[c.m.n++] = q;
        }
        map_close(&c.m, from);
        c.from[x] = from;
        c.from[x + 1] = c.m.n;
        f[x] = 0;
        for (int a = 0; a < MAP_AXES; a++) {
            int64_t lo = INT64_MAX;
            for (int k = from; k < c.m.n - 1; k++)
                lo = coord_of(c.m.at[k], a) < lo ? coord_of(c.m.at[k], a) : lo;
            f[x] += point_of(a, lo);
        }
    }
    if (!holds(t, &c, sc, b, sb, w) || !is_cut(sc.n, sc.extent, f) ||
        !is_progressions(n_points(&c, 0), c.m.at))
        return false;
    for (int64_t x = 1; x < n; x++) {
        if (n_points(&c, x) != n_points(&c, 0))
            return false;
        for (int k = 0; k < n_points(&c, 0); k++)
            if (c.m.at[c.from[x] + k] - f[x] != c.m.at[k] - f[0])
                return false;
    }
    return true;
}

/* --------------------------------------------------------------- the tests */

typedef struct tally {
    long done, refused;
} tally;

static void
fail_pair(axe_ctx *cx, const char *op, const axe_layout *a, const axe_layout *b,
          const char *what)
{
    fail_msg("%s of %s and %s: %s", op, axe_layout_text(cx, a),
             axe_layout_text(cx, b), what);
}

/* A random layout grouped by a random shape of n dims. */
static const axe_layout *
random_grouped(axe_ctx *cx, uint64_t *seed, family f, int n)
{
    for (;;) {
        const axe_layout *l = random_layout(cx, seed, f);
        int64_t           e[2], d = random_in(seed, 1, l->size);
        while (l->size % d != 0)
            d--;
        e[0] = n == 1 ? l->size : d;
        e[1] = l->size / d;
        if (l->size <= 16 &&
            axe_layout_group(cx, l, (axe_shape){n, e}, &l) == AXE_OK)
            return l;
    }
}

static axe_shape
product(axe_ctx *cx, axe_shape a, axe_shape b)
{
    int64_t *e = axe_new_array(cx, int64_t, a.n);

    for (int k = 0; k < a.n; k++)
        e[k] = a.extent[k] * b.extent[k];
    return (axe_shape){a.n, e};
}

static void
check_tile_of(axe_ctx *cx, const axe_layout *t, axe_shape st,
              const axe_layout *b, axe_shape sb, tally *n)
{
    static indexed    mt, mb, mc;
    int64_t           w[MAP_AXES], sc[2];
    const axe_layout *c;
    axe_shape         shape = {st.n, sc};

    index_map(t, &mt);
    index_map(b, &mb);
    for (int k = 0; k < st.n; k++)
        sc[k] = st.extent[k] / sb.extent[k];
    if (axe_layout_tile_of(cx, t, st, b, sb, &c) == AXE_OK) {
        n->done++;
        spans_of(&mb, w);
        index_map(c, &mc);
        if (!holds(&mt, &mc, shape, &mb, sb, w))
            fail_pair(cx, "tile of", t, b, axe_layout_text(cx, c));
    } else {
        n->refused++;
        if (outer_exists(&mt, shape, &mb, sb))
            fail_pair(cx, "tile of", t, b, axe_last_error(cx));
    }
}

/* Tile and sum of two random layouts; then each operand back. */
static void
check_both(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    static indexed ma, mb, mt;
    int64_t        w[MAP_AXES], both[4];
    axe_shape      sa = axe_layout_shape(cx, a), sb = axe_layout_shape(cx, b);
    axe_shape      st = product(cx, sa, sb), ss = {2 * sa.n, both};
    const axe_layout *t, *s, *back;
    tally             n = {0, 0};

    index_map(a, &ma);
    index_map(b, &mb);
    spans_of(&mb, w);
    assert_int_equal(axe_layout_tile(cx, a, sa, b, sb, &t), AXE_OK);
    index_map(t, &mt);
    if (!holds(&mt, &ma, sa, &mb, sb, w) || t->n_dim != sa.n)
        fail_pair(cx, "tile", a, b, axe_layout_text(cx, t));
    check_tile_of(cx, t, st, b, sb, &n);
    if (n.done == 0)
        fail_pair(cx, "tile of its own tile", t, b, axe_last_error(cx));
    if (axe_layout_tile_of_outer(cx, t, st, a, sa, &back) != AXE_OK)
        fail_pair(cx, "tile of outer", t, a, axe_last_error(cx));
    index_map(back, &mb);
    spans_of(&mb, w);
    if (!holds(&mt, &ma, sa, &mb, sb, w))
        fail_pair(cx, "tile of outer", t, a, axe_layout_text(cx, back));

    assert_int_equal(axe_layout_direct_sum(cx, a, sa, b, sb, &s), AXE_OK);
    index_map(b, &mb);
    index_map(s, &mt);
    if (!holds(&mt, &ma, sa, &mb, sb, NULL))
        fail_pair(cx, "direct sum", a, b, axe_layout_text(cx, s));
    for (int k = 0; k < sa.n; k++) {
        both[2 * k] = sa.extent[k];
        both[2 * k + 1] = sb.extent[k];
    }
    if (axe_layout_sum_left_of(cx, s, ss, b, sb, &back) != AXE_OK)
        fail_pair(cx, "left of", s, b, axe_last_error(cx));
    index_map(back, &ma);
    if (!holds(&mt, &ma, sa, &mb, sb, NULL))
        fail_pair(cx, "left of", s, b, axe_layout_text(cx, back));
    index_map(a, &ma);
    if (axe_layout_sum_right_of(cx, s, ss, a, sa, &back) != AXE_OK)
        fail_pair(cx, "right of", s, a, axe_last_error(cx));
    index_map(back, &mb);
    if (!holds(&mt, &ma, sa, &mb, sb, NULL))
        fail_pair(cx, "right of", s, a, axe_layout_text(cx, back));
}

static void
test_both(void **state)
{
    const family f = {3, 2, 2, 2, 4, -4, 6};
    uint64_t     seed = 3;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);

    (void)state;
    for (int k = 0; k < 6000; k++) {
        int               n = 1 + k % 2;
        const axe_layout *a = random_grouped(cx, &seed, f, n);
        const axe_layout *b = random_grouped(cx, &seed, f, n);
        check_both(cx, a, b);
        axe_ctx_release(cx, start);
    }
    axe_ctx_free(cx);
}

/* Every iter of extents 1 to 4 and strides -2 to 4 as `inner`, against every
 * pair of iters. */
static void
test_tile_of_lists(void **state)
{
    enum { ONE = 4 * 7 };
    axe_ctx *cx = maps_ctx();
    axe_mark start = axe_ctx_mark(cx);
    tally    t = {0, 0};

    (void)state;
    for (int i = 0; i < ONE * ONE * ONE; i++) {
        axe_iter          it[3];
        const axe_layout *whole, *inner;
        int64_t           n, m;
        int               rest = i;
        for (int k = 0; k < 3; k++, rest /= ONE)
            it[k] = (axe_iter){1 + rest % 4, rest % ONE / 4 - 2, 0, 0};
        assert_int_equal(axe_layout_of_iters(cx, 2, it, &whole), AXE_OK);
        assert_int_equal(axe_layout_of_iters(cx, 1, it + 2, &inner), AXE_OK);
        n = whole->size;
        m = inner->size;
        if (n % m == 0)
            check_tile_of(cx, whole, (axe_shape){1, &n}, inner,
                          (axe_shape){1, &m}, &t);
        axe_ctx_release(cx, start);
    }
    printf("tile of, iters: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

/* Replicas: t of up to three iters against inner ones of up to two. */
static void
test_tile_of_replicas(void **state)
{
    uint64_t seed = 5;
    axe_ctx *cx = maps_ctx();
    axe_mark start = axe_ctx_mark(cx);
    tally    t = {0, 0};

    (void)state;
    for (int i = 0; i < 300000; i++) {
        axe_iter          it[6], d = {2, 1, 0, 0};
        axe_offset        o = {random_in(&seed, -2, 2), 0, 0};
        axe_layout        big = {.n_replica = 3, .replica = it, .offset = &o};
        axe_layout        small = {.n_replica = 2, .replica = it + 3};
        const axe_layout *whole, *inner;
        int64_t           one = 1;
        for (int k = 0; k < 6; k++)
            it[k] = (axe_iter){random_in(&seed, 1, 4), random_in(&seed, -1, 9),
                               0, 0};
        it[random_in(&seed, 3, 4)].stride = random_in(&seed, 1, 2);
        if (random_in(&seed, 0, 3) == 0) {
            big.n_offset = 1;
            small.n_shard = big.n_shard = 1;
            small.shard = big.shard = &d;
        }
        one = big.n_shard > 0 ? 2 : 1;
        assert_int_equal(axe_layout_make(cx, &big, &whole), AXE_OK);
        assert_int_equal(axe_layout_make(cx, &small, &inner), AXE_OK);
        check_tile_of(cx, whole, (axe_shape){1, &one}, inner,
                      (axe_shape){1, &one}, &t);
        axe_ctx_release(cx, start);
    }
    printf("tile of, replicas: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

/* Random layouts against a random inner, or one that stands in them. */
static void
test_tile_of_random(void **state)
{
    const family f = {3, 2, 1, 2, 4, -3, 6};
    uint64_t     seed = 9;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);
    tally        t = {0, 0};

    (void)state;
    for (int k = 0; k < 30000; k++) {
        int               n = 1 + k % 2;
        const axe_layout *a = random_grouped(cx, &seed, f, n);
        const axe_layout *b = random_grouped(cx, &seed, f, n), *s;
        axe_shape         sa = axe_layout_shape(cx, a);
        axe_shape         sb = axe_layout_shape(cx, b);
        assert_int_equal(axe_layout_direct_sum(cx, a, sa, b, sb, &s), AXE_OK);
        check_tile_of(cx, s, product(cx, sa, sb), b, sb, &t);
        axe_ctx_release(cx, start);
    }
    printf("tile of, sums: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

/* whole = a (x) b, or a + b. */
static void
check_found(axe_ctx *cx, const char *op, const axe_layout *whole,
            const axe_layout *a, const axe_layout *b, bool tile)
{
    static indexed mt, ma, mb;
    int64_t        w[MAP_AXES];

    index_map(whole, &mt);
    index_map(a, &ma);
    index_map(b, &mb);
    spans_of(&mb, w);
    if (!holds(&mt, &ma, axe_layout_shape(cx, a), &mb, axe_layout_shape(cx, b),
               tile ? w : NULL))
        fail_pair(cx, op, a, b, axe_layout_text(cx, whole));
}

/* What tile_of_outer and the sums refuse, no layout of a list gives. */
static void
test_refusals(void **state)
{
    enum { N = 400 };
    const family      f = {2, 1, 1, 1, 3, -2, 4};
    uint64_t          seed = 21;
    axe_ctx          *cx = maps_ctx();
    const axe_layout *l[N];
    static indexed    m[N], mt;
    static int64_t    w[N][MAP_AXES];
    tally             t = {0, 0};

    (void)state;
    for (int k = 0; k < N; k++) {
        l[k] = random_grouped(cx, &seed, f, 1);
        index_map(l[k], &m[k]);
        spans_of(&m[k], w[k]);
    }
    for (int i = 0; i < 4000; i++) {
        const axe_layout *whole = random_grouped(cx, &seed, f, 1), *got;
        int               a = (int)random_in(&seed, 0, N - 1);
        int64_t           sa = l[a]->size, st = whole->size, both[2];
        axe_shape         shape = {1, &sa};
        bool              outer, left, right;
        axe_mark          mark = axe_ctx_mark(cx);
        if (st % sa != 0)
            continue;
        index_map(whole, &mt);
        both[0] = both[1] = sa;
        both[1] = st / sa;
        outer = axe_layout_tile_of_outer(cx, whole, (axe_shape){1, &st}, l[a],
                                         shape, &got) == AXE_OK;
        if (outer)
            check_found(cx, "tile of outer", whole, l[a], got, true);
        right = axe_layout_sum_right_of(cx, whole, (axe_shape){2, both}, l[a],
                                        shape, &got) == AXE_OK;
        if (right)
            check_found(cx, "right of", whole, l[a], got, false);
        both[1] = sa;
        both[0] = st / sa;
        left = axe_layout_sum_left_of(cx, whole, (axe_shape){2, both}, l[a],
                                      shape, &got) == AXE_OK;
        if (left)
            check_found(cx, "left of", whole, got, l[a], false);
        t.done += outer + left + right;
        t.refused += 3 - outer - left - right;
        for (int k = 0; k < N; k++) {
            axe_shape sk = {1, &l[k]->size};
            if (l[k]->size != st / sa)
                continue;
            if (!outer && holds(&mt, &m[a], shape, &m[k], sk, w[k]))
                fail_pair(cx, "tile of outer", whole, l[a],
                          axe_layout_text(cx, l[k]));
            if (!right && holds(&mt, &m[a], shape, &m[k], sk, NULL))
                fail_pair(cx, "right of", whole, l[a],
                          axe_layout_text(cx, l[k]));
            if (!left && holds(&mt, &m[k], sk, &m[a], shape, NULL))
                fail_pair(cx, "left of", whole, l[a],
                          axe_layout_text(cx, l[k]));
        }
        axe_ctx_release(cx, mark);
    }
    printf("refusals: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_tile_of_lists),
        cmocka_unit_test(test_tile_of_replicas),
        cmocka_unit_test(test_tile_of_random),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
