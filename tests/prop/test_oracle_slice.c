/* test_oracle_slice.c - group and slice against the definition.
 *
 * A cut, or a slice, exists iff the function of the index is a sum of one
 * function of each coordinate, each the map of a list of iters; is_iters
 * decides that by trying every extent of the fastest iter. */
#include "maps.h"

typedef struct tally {
    long done, refused;
} tally;

static void
fail_on(axe_ctx *cx, const char *op, const axe_layout *l, axe_shape s,
        const int64_t *begin, const int64_t *end, const char *what)
{
    axe_buf b = {.cx = cx};

    for (int k = 0; k < s.n; k++) {
        axe_putf(&b, " %lld", (long long)s.extent[k]);
        if (begin)
            axe_putf(&b, "[%lld,%lld)", (long long)begin[k], (long long)end[k]);
    }
    fail_msg("%s %s by%s: %s", op, axe_layout_text(cx, l), b.text ? b.text : "",
             what);
}

/* D(x) + O of index x, with the replicas at 0. */
static int64_t
at(const axe_layout *l, int64_t x)
{
    int64_t p = map_digits(l->n_shard, l->shard, x);

    for (int k = 0; k < l->n_offset; k++)
        p += point_of(l->offset[k].axis, l->offset[k].value);
    return p;
}

/* The flat index in l of index x of the region. */
static int64_t
index_in(axe_shape s, const int64_t *begin, const int64_t *end, int64_t x)
{
    int64_t flat = 0, pitch = 1;

    for (int k = s.n - 1; k >= 0; k--) {
        int64_t e = end[k] - begin[k];
        flat += (begin[k] + x % e) * pitch;
        pitch *= s.extent[k];
        x /= e;
    }
    return flat;
}

static void
check_slice(axe_ctx *cx, const axe_layout *l, axe_shape s, const int64_t *begin,
            const int64_t *end, tally *t)
{
    int64_t           n = 1, f[256], extent[4];
    const axe_layout *out;
    axe_mark          m = axe_ctx_mark(cx);

    for (int k = 0; k < s.n; k++)
        n *= extent[k] = end[k] - begin[k];
    for (int64_t x = 0; x < n; x++)
        f[x] = at(l, index_in(s, begin, end, x));
    if (axe_layout_slice(cx, l, s, begin, end, &out) != AXE_OK) {
        if (is_cut(s.n, extent, f))
            fail_on(cx, "slice", l, s, begin, end, "refused, but exists");
        t->refused++;
    } else {
        t->done++;
        assert_int_equal(out->size, n);
        assert_int_equal(out->n_dim, s.n);
        assert_int_equal(out->n_replica, l->n_replica);
        for (int64_t x = 0; x < n; x++)
            if (at(out, x) != f[x])
                fail_on(cx, "slice", l, s, begin, end,
                        axe_layout_text(cx, out));
    }
    axe_ctx_release(cx, m);
}

/* All regions of a layout as one dim. */
static void
slice_all(axe_ctx *cx, const axe_layout *l, tally *t)
{
    axe_shape s = {1, &l->size};

    for (int64_t b = 0; b < l->size; b++)
        for (int64_t e = b + 1; e <= l->size; e++)
            check_slice(cx, l, s, &b, &e, t);
}

/* Every step-th list of n iters. */
static void
slice_lists(int n, int64_t max_extent, int64_t lo, int64_t hi, int n_axis,
            int64_t step)
{
    int64_t  all = 1, one = max_extent * (hi - lo + 1) * n_axis;
    axe_ctx *cx = maps_ctx();
    axe_mark start = axe_ctx_mark(cx);
    tally    t = {0, 0};

    for (int k = 0; k < n; k++)
        all *= one;
    for (int64_t i = 0; i < all; i += step) {
        axe_iter          it[4];
        const axe_layout *l;
        int64_t           rest = i;
        for (int k = 0; k < n; k++, rest /= one)
            it[k] = (axe_iter){1 + rest % max_extent,
                               lo + rest % one / max_extent % (hi - lo + 1),
                               (axe_axis)(rest % one / (one / n_axis)), 0};
        assert_int_equal(axe_layout_of_iters(cx, n, it, &l), AXE_OK);
        slice_all(cx, l, &t);
        axe_ctx_release(cx, start);
    }
    printf("slice, %d iters on %d axes: %ld done, %ld refused\n", n, n_axis,
           t.done, t.refused);
    axe_ctx_free(cx);
}

static void
test_slice(void **state)
{
    (void)state;
    slice_lists(1, 6, -3, 3, 3, 1);
    slice_lists(2, 5, -3, 6, 2, 1);
    slice_lists(3, 4, -3, 6, 1, 31);
    slice_lists(3, 3, -2, 4, 2, 17);
    slice_lists(3, 4, -1, 2, 3, 53);
    slice_lists(4, 3, -3, 6, 1, 499);
    slice_lists(4, 2, -6, 9, 1, 107);
}

/* Strides made so that carries cancel: the step of an iter continues the run of
 * the next one or two, up to a little. */
static void
test_slice_cancelling(void **state)
{
    uint64_t seed = 7;
    axe_ctx *cx = maps_ctx();
    axe_mark start = axe_ctx_mark(cx);
    tally    t = {0, 0};

    (void)state;
    for (int i = 0; i < 4000; i++) {
        axe_iter          it[5];
        const axe_layout *l;
        int               n = (int)random_in(&seed, 2, 5);
        int64_t           run = 0;
        for (int k = n - 1; k >= 0; k--) {
            it[k] = (axe_iter){random_in(&seed, 2, 4), random_in(&seed, -2, 3),
                               0, 0};
            if (k < n - 1 && random_in(&seed, 0, 3) > 0)
                it[k].stride =
                    run + it[n - 1].stride * (random_in(&seed, 0, 3) > 0);
            run += (it[k].extent - 1) * it[k].stride;
        }
        assert_int_equal(axe_layout_of_iters(cx, n, it, &l), AXE_OK);
        if (l->size <= 64)
            slice_all(cx, l, &t);
        axe_ctx_release(cx, start);
    }
    printf("slice, cancelling carries: %ld done, %ld refused\n", t.done,
           t.refused);
    axe_ctx_free(cx);
}

/* A random factorisation of n into at most 4 extents. */
static axe_shape
random_shape(uint64_t *seed, int64_t n, int64_t *extent)
{
    axe_shape s = {0, extent};

    while (s.n < 3 && random_in(seed, 0, 3) > 0) {
        int64_t d = random_in(seed, 1, n);
        while (n % d != 0)
            d--;
        extent[s.n++] = d;
        n /= d;
    }
    extent[s.n++] = n;
    return s;
}

/* Read what was printed: the same text, hence the same parts, and dims. */
static void
check_text(axe_ctx *cx, const axe_layout *l)
{
    const axe_layout *again;
    const char       *text = axe_layout_text(cx, l);

    if (axe_layout_read(cx, text, &again) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(cx));
    assert_string_equal(axe_layout_text(cx, again), text);
    assert_int_equal(again->n_dim, l->n_dim);
    assert_memory_equal(again->dim_end, l->dim_end,
                        (size_t)l->n_dim * sizeof l->dim_end[0]);
    assert_int_equal(again->n_shard, l->n_shard);
    assert_memory_equal(again->shard, l->shard,
                        (size_t)l->n_shard * sizeof l->shard[0]);
}

static void
check_group(axe_ctx *cx, const axe_layout *l, axe_shape s, tally *t)
{
    int64_t           f[256];
    const axe_layout *out;
    static map        a, b;

    for (int64_t x = 0; x < l->size; x++)
        f[x] = at(l, x);
    if (axe_layout_group(cx, l, s, &out) != AXE_OK) {
        if (is_cut(s.n, s.extent, f))
            fail_on(cx, "group", l, s, NULL, NULL, "refused, but exists");
        t->refused++;
        return;
    }
    t->done++;
    map_of(l, &a);
    map_of(out, &b);
    if (!map_same(&a, &b))
        fail_on(cx, "group", l, s, NULL, NULL, axe_layout_text(cx, out));
    assert_int_equal(out->n_dim, s.n);
    if (t->done % 8 == 0)
        check_text(cx, out);
    for (int k = 0, i = 0; k < s.n; k++) {
        int64_t e = 1;
        for (; i < out->dim_end[k]; i++) {
            assert_true(out->shard[i].extent > 1);
            e *= out->shard[i].extent;
        }
        assert_int_equal(e, s.extent[k]);
    }
}

static void
test_group(void **state)
{
    const family f = {4, 1, 1, 2, 6, -3, 12};
    uint64_t     seed = 11;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);
    tally        t = {0, 0};

    (void)state;
    for (int i = 0; i < 120000; i++) {
        const axe_layout *l = random_layout(cx, &seed, f);
        int64_t           extent[4];
        axe_shape         s = random_shape(&seed, l->size, extent);
        if (l->size <= 256)
            check_group(cx, l, s, &t);
        axe_ctx_release(cx, start);
    }
    printf("group: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

static void
test_slice_dims(void **state)
{
    const family f = {4, 1, 1, 2, 5, -3, 12};
    uint64_t     seed = 13;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);
    tally        t = {0, 0};

    (void)state;
    for (int i = 0; i < 120000; i++) {
        const axe_layout *l = random_layout(cx, &seed, f);
        int64_t           extent[4], begin[4], end[4];
        axe_shape         s = random_shape(&seed, l->size, extent);
        for (int k = 0; k < s.n; k++) {
            begin[k] = random_in(&seed, 0, extent[k] - 1);
            end[k] = random_in(&seed, begin[k] + 1, extent[k]);
        }
        if (l->size <= 256 && axe_layout_group(cx, l, s, &l) == AXE_OK)
            check_slice(cx, l, s, begin, end, &t);
        axe_ctx_release(cx, start);
    }
    printf("slice of dims: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

/* Does each leading product of a divide, or is divided by, each of b? */
static bool
chain(axe_shape a, axe_shape b)
{
    int64_t p = 1, q;

    for (int i = 0; i < a.n; i++) {
        p *= a.extent[i];
        q = 1;
        for (int k = 0; k < b.n; k++) {
            q *= b.extent[k];
            if (p % q != 0 && q % p != 0)
                return false;
        }
    }
    return true;
}

/* Every separator of group_many falls between iters, and the map stays. */
static void
test_group_many(void **state)
{
    const family f = {3, 1, 1, 2, 6, -3, 12};
    uint64_t     seed = 17;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);
    static map   a, b;
    tally        t = {0, 0};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const axe_layout *l = random_layout(cx, &seed, f), *out;
        int64_t           e0[4], e1[4];
        int              *seps[2];
        axe_shape         s[2] = {random_shape(&seed, l->size, e0),
                                  random_shape(&seed, l->size, e1)};
        bool              units = random_in(&seed, 0, 1);
        if (axe_layout_group_many(cx, l, 2, s, units, &out, seps) != AXE_OK) {
            t.refused++;
            assert_false(axe_layout_group(cx, l, s[0], &out) == AXE_OK &&
                         axe_layout_group(cx, l, s[1], &out) == AXE_OK &&
                         chain(s[0], s[1]));
        } else {
            t.done++;
            assert_true(chain(s[0], s[1]));
            map_of(l, &a);
            map_of(out, &b);
            assert_true(map_same(&a, &b));
            for (int j = 0; j < 2; j++) {
                assert_int_equal(seps[j][0], 0);
                assert_int_equal(seps[j][s[j].n], out->n_shard);
                for (int k = 0; k < s[j].n; k++) {
                    int64_t e = 1;
                    for (int q = seps[j][k]; q < seps[j][k + 1]; q++)
                        e *= out->shard[q].extent;
                    assert_int_equal(e, s[j].extent[k]);
                    assert_true(!units || seps[j][k] < seps[j][k + 1]);
                }
            }
        }
        axe_ctx_release(cx, start);
    }
    printf("group many: %ld done, %ld refused\n", t.done, t.refused);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_slice_cancelling),
        cmocka_unit_test(test_slice_dims),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_group_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
