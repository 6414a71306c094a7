/* test_order.c - the order of tiles: each is taken once, and in bands. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/code/order.h"

static int64_t
value_of(const axe_node *n)
{
    int64_t arg[3] = {0}, v = 0;

    if (n->op == AXE_OP_iconst)
        return n->u.i;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = value_of(n->arg[i]);
    assert_true(axe_op_value(n->op, arg, &v));
    return v;
}

static const axe_node *
number(axe_ctx *cx, int64_t v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, v);
}

/* The value, which lies where it is said to. */
static const axe_node *
keep(void *user, const char *name, const axe_node *value, int64_t least,
     const axe_node *extent)
{
    int64_t v = value_of(value);

    if (v < least || (extent && v >= value_of(extent)))
        fail_msg("%s is %" PRId64, name, v);
    return number(user, v);
}

static axe_stmt
scope_of(axe_ctx *cx, int n, const int64_t *extent, int cluster, int group)
{
    const axe_var **var = axe_new_array(cx, const axe_var *, n);

    for (int i = 0; i < n; i++) {
        axe_var *v = axe_new(cx, axe_var);
        v->kind = AXE_VAR_SCOPE;
        v->name = "v";
        v->extent = number(cx, extent[i]);
        var[i] = v;
    }
    return (axe_stmt){.kind = AXE_STMT_SCOPE,
                      .n_var = n,
                      .var = var,
                      .keys = {.cluster = cluster, .group = group}};
}

static void
get(axe_ctx *cx, const axe_stmt *s, int64_t at, int64_t rank, int64_t *out)
{
    axe_order_sink  sink = {cx, keep};
    const axe_node *v[3] = {NULL};

    axe_order_tile(cx, s, number(cx, at), number(cx, rank), &sink, v);
    for (int i = 0; i < s->n_var; i++)
        out[i] = value_of(v[i]);
}

/* All tiles once; those beyond the first extent at most fill a cluster. */
static void
check(int n, const int64_t *extent, int cluster, int group, bool hilbert)
{
    axe_ctx *cx = axe_ctx_new();
    axe_stmt s = scope_of(cx, n, extent, cluster, group);
    int64_t  count = value_of(axe_order_count(cx, &s)), size = 1, seen = 0;
    bool    *mark;

    s.keys.hilbert = hilbert;
    for (int i = 0; i < n; i++)
        size *= extent[i];
    mark = axe_new_array(cx, bool, size);
    for (int64_t at = 0; at < count * cluster; at++) {
        int64_t v[3] = {0}, flat = 0;
        get(cx, &s, at / cluster, at % cluster, v);
        assert_true(v[0] % cluster == at % cluster);
        assert_true(v[0] < (extent[0] + cluster - 1) / cluster * cluster);
        for (int i = 0; i < n; i++) {
            assert_true(v[i] >= 0 && (i == 0 || v[i] < extent[i]));
            flat = flat * extent[i] + v[i];
        }
        if (v[0] >= extent[0])
            continue;
        assert_false(mark[flat]);
        mark[flat] = true;
        seen++;
    }
    assert_int_equal(seen, size);
    axe_ctx_free(cx);
}

static void
test_all_once(void **state)
{
    (void)state;
    for (int64_t a = 1; a < 8; a++)
        for (int64_t b = 1; b < 6; b++)
            for (int cluster = 1; cluster < 4; cluster++)
                for (int group = 0; group < 5; group++) {
                    check(1, (int64_t[]){a}, cluster, group, false);
                    check(2, (int64_t[]){a, b}, cluster, group, false);
                    check(3, (int64_t[]){a, b, 3}, cluster, group, false);
                }
}

static void
test_bands(void **state)
{
    static const int64_t want[][2] = {
        {0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2},
        {2, 2}, {3, 0}, {4, 0}, {3, 1}, {4, 1}, {3, 2}, {4, 2},
    };
    axe_ctx *cx = axe_ctx_new();
    axe_stmt s = scope_of(cx, 2, (int64_t[]){5, 3}, 1, 3);

    (void)state;
    for (int i = 0; i < AXE_LEN(want); i++) {
        int64_t v[3];
        get(cx, &s, i, 0, v);
        assert_int_equal(v[0], want[i][0]);
        assert_int_equal(v[1], want[i][1]);
    }
    axe_ctx_free(cx);
}

/* A group counts tiles, not clusters. */
static void
test_group(void **state)
{
    static const int64_t want[] = {0, 2, 0, 2, 4, 6, 4, 6, 8, 8};
    axe_ctx             *cx = axe_ctx_new();
    axe_stmt             s = scope_of(cx, 2, (int64_t[]){9, 2}, 2, 4);

    (void)state;
    for (int i = 0; i < AXE_LEN(want); i++) {
        int64_t v[3];
        get(cx, &s, i, 1, v);
        assert_int_equal(v[0], want[i] + 1);
    }
    axe_ctx_free(cx);
}

/* Along the curve each tile is beside the one before, but for the step from
 * band to band and what is left at the ends. */
static void
test_curve(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_stmt s = scope_of(cx, 2, (int64_t[]){16, 24}, 1, 0);
    int64_t  last[3] = {0}, v[3];
    int      far = 0;

    (void)state;
    for (int64_t a = 1; a < 20; a += 3)
        for (int64_t b = 1; b < 28; b += 2)
            for (int cluster = 1; cluster < 4; cluster++)
                check(2, (int64_t[]){a, b}, cluster, 0, true);
    s.keys.hilbert = 1;
    for (int i = 0; i < 16 * 24; i++) {
        get(cx, &s, i, 0, v);
        far += llabs(v[0] - last[0]) + llabs(v[1] - last[1]) > 1;
        memcpy(last, v, sizeof last);
    }
    assert_int_equal(far, 1);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_once),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_curve),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
