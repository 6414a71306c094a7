/* test_oracle_equal.c - the normal form and equality against the definition.
 *
 * All layouts of a family are listed with their maps, sorted by map: those with
 * one map must be equal, neighbours of other maps unequal, and D, where there
 * is no replica, must have one normal form per map. */
#include "maps.h"

typedef struct entry {
    uint64_t hash;
    int64_t  index;
} entry;

static uint64_t
hash_map(const map *m)
{
    uint64_t h = UINT64_C(14695981039346656037) ^ (uint64_t)m->size;

    for (int k = 0; k < m->n; k++) {
        h = (h ^ (uint64_t)m->at[k]) * UINT64_C(1099511628211);
        h ^= h >> 29;
    }
    return h;
}

static int
by_hash(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* A family of layouts, numbered: how many, and the number `index`. */
typedef struct list {
    const char *name;
    int         n_shard, n_replica; /* iters of each */
    int64_t     max_extent, min_stride, max_stride;
    int         n_axis, step; /* every step-th layout */
    bool        offset;       /* and an offset of -1..1 on m */
} list;

static int64_t
take(int64_t *index, int64_t n)
{
    int64_t v = *index % n;

    *index /= n;
    return v;
}

static int64_t
list_size(const list *f)
{
    int64_t n = f->offset ? 3 : 1;

    for (int k = 0; k < f->n_shard + f->n_replica; k++)
        n *= f->max_extent * (f->max_stride - f->min_stride + 1) * f->n_axis;
    return n;
}

static const axe_layout *
list_get(axe_ctx *cx, const list *f, int64_t index)
{
    axe_iter          it[8];
    axe_offset        off = {0};
    const axe_layout *l;
    axe_layout        spec = {.n_shard = f->n_shard,
                              .n_replica = f->n_replica,
                              .n_offset = f->offset,
                              .shard = it,
                              .replica = it + f->n_shard,
                              .offset = &off};

    for (int k = 0; k < f->n_shard + f->n_replica; k++) {
        it[k].extent = 1 + take(&index, f->max_extent);
        it[k].stride =
            f->min_stride + take(&index, f->max_stride - f->min_stride + 1);
        it[k].axis = (axe_axis)take(&index, f->n_axis);
        it[k].unit = 0;
    }
    off.value = take(&index, 3) - 1;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_OK);
    return l;
}

static void
check_canon(axe_ctx *cx, const axe_layout *l, const map *want)
{
    static map        m;
    const axe_layout *c, *again;

    assert_int_equal(axe_layout_canon(cx, l, &c), AXE_OK);
    map_of(c, &m);
    if (!map_same(&m, want))
        fail_msg("canon of %s is %s", axe_layout_text(cx, l),
                 axe_layout_text(cx, c));
    assert_int_equal(axe_layout_canon(cx, c, &again), AXE_OK);
    assert_string_equal(axe_layout_text(cx, c), axe_layout_text(cx, again));
    for (int k = 0; k < c->n_shard; k++)
        assert_true(c->shard[k].extent > 1 &&
                    (c->shard[k].stride != 0 || c->shard[k].axis == 0));
    for (int k = 0; k < c->n_replica; k++)
        assert_true(c->replica[k].extent > 1 && c->replica[k].stride > 0);
}

static void
check_pair(axe_ctx *cx, const list *f, entry a, entry b)
{
    const axe_layout *la = list_get(cx, f, a.index);
    const axe_layout *lb = list_get(cx, f, b.index), *ca, *cb;
    bool              same = a.hash != b.hash;

    assert_int_equal(axe_layout_equal(cx, la, lb, &same), AXE_OK);
    if (same != (a.hash == b.hash))
        fail_msg("%s and %s: equal says %d", axe_layout_text(cx, la),
                 axe_layout_text(cx, lb), same);
    if (f->n_replica > 0 || !same)
        return;
    assert_int_equal(axe_layout_canon(cx, la, &ca), AXE_OK);
    assert_int_equal(axe_layout_canon(cx, lb, &cb), AXE_OK);
    assert_string_equal(axe_layout_text(cx, ca), axe_layout_text(cx, cb));
}

static void
check_list(const list *f)
{
    static map m;
    axe_ctx   *cx = maps_ctx();
    axe_mark   start = axe_ctx_mark(cx);
    int64_t    n = 0, n_class = 1, all = list_size(f);
    entry     *e = malloc((size_t)(all / f->step + 1) * sizeof *e);

    assert_non_null(e);
    for (int64_t k = 0; k < all; k += f->step) {
        const axe_layout *l = list_get(cx, f, k);
        map_of(l, &m);
        check_canon(cx, l, &m);
        e[n++] = (entry){hash_map(&m), k};
        axe_ctx_release(cx, start);
    }
    qsort(e, (size_t)n, sizeof *e, by_hash);
    for (int64_t k = 1, first = 0; k < n; k++) {
        check_pair(cx, f, e[first], e[k]);
        check_pair(cx, f, e[k - 1], e[k]);
        if (e[k].hash != e[first].hash) {
            first = k;
            n_class++;
        }
        axe_ctx_release(cx, start);
    }
    printf("%s: %lld layouts, %lld maps\n", f->name, (long long)n,
           (long long)n_class);
    free(e);
    axe_ctx_free(cx);
}

/* clang-format off */
static const list lists[] = {
    /* name                     D  R  extent stride  axes step offset */
    {"1 iter, 3 axes",          1, 0, 4, -4, 6,      3,   1, true},
    {"2 iters, 3 axes",         2, 0, 4, -4, 6,      3,   1, false},
    {"3 iters, 1 axis",         3, 0, 4, -3, 6,      1,   1, false},
    {"3 iters, 2 axes",         3, 0, 3, -1, 4,      2,   1, false},
    {"3 iters, 3 axes",         3, 0, 4, -2, 4,      3,  23, false},
    {"2 replicas, 1 axis",      0, 2, 5, -6, 9,      1,   1, true},
    {"3 replicas, 1 axis",      0, 3, 4, -2, 7,      1,   1, false},
    {"4 replicas, 1 axis",      0, 4, 3,  1, 8,      1,   5, false},
    {"3 replicas, 2 axes",      0, 3, 3, -1, 4,      2,   1, false},
    {"1 iter, 2 replicas",      1, 2, 3, -1, 3,      2,   1, true},
    {"2 iters, 1 replica",      2, 1, 3, -1, 3,      2,   1, true},
};
/* clang-format on */

static void
test_lists(void **state)
{
    (void)state;
    for (int k = 0; k < AXE_LEN(lists); k++)
        check_list(&lists[k]);
}

/* Deeper ones: normal forms keep the map, and a layout equals its respelling
 * but not the same one moved. */
static void
test_random(void **state)
{
    static map   m, mm;
    const family f = {6, 3, 2, 3, 4, -40, 90};
    uint64_t     seed = 20260;
    axe_ctx     *cx = maps_ctx();
    axe_mark     start = axe_ctx_mark(cx);

    (void)state;
    for (int k = 0; k < 20000; k++) {
        const axe_layout *l = random_layout(cx, &seed, f), *c, *moved;
        axe_layout        spec = *l;
        axe_offset        off[3];
        bool              same;
        if (l->size > 600) {
            axe_ctx_release(cx, start);
            continue;
        }
        map_of(l, &m);
        check_canon(cx, l, &m);
        assert_int_equal(axe_layout_canon(cx, l, &c), AXE_OK);
        assert_int_equal(axe_layout_equal(cx, l, c, &same), AXE_OK);
        assert_true(same);
        for (int i = 0; i < l->n_offset; i++)
            off[i] = l->offset[i];
        off[l->n_offset] = (axe_offset){1, 1, 0};
        spec.offset = off;
        spec.n_offset++;
        assert_int_equal(axe_layout_make(cx, &spec, &moved), AXE_OK);
        map_of(moved, &mm);
        assert_int_equal(axe_layout_equal(cx, c, moved, &same), AXE_OK);
        assert_int_equal(same, map_same(&m, &mm));
        axe_ctx_release(cx, start);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
