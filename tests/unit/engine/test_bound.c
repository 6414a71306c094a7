/* test_bound.c - of plans only what is below a bound goes: what comes, and how
 * many bytes that are; on ranks, and on simulated ones. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/engine.h"
#include "engine/protocol.h"

enum { RANK = 4, ELEMENTS = 2048 };

/* Tensors of four dimensions over x=3; numbers go by the bound's dimensions. */
typedef struct job {
    const char *src, *dst;
    int64_t     shape[RANK];
    int         dim, n, of[2];
    bool        wide;
} job;

/* clang-format off */
static const job jobs[] = {
    /* rows of slots, to the devices that they are for */
    {"3@x, 3, 5, 2", "3, 3@x, 5, 2", {3, 3, 5, 2}, 2, 2, {0, 1}, false},
    {"3, 3@x, 5, 2", "3@x, 3, 5, 2", {3, 3, 5, 2}, 2, 2, {1, 0}, true},
    /* several rows a device, not as many on each */
    {"7@x, 4, 5, 2", "7, 4@x, 5, 2", {7, 4, 5, 2}, 2, 2, {0, 1}, false},
    {"7@x, 4, 5, 2", "7, 4, 5, 2", {7, 4, 5, 2}, 1, 1, {0}, false},
    {"7, 4, 5, 2", "7, 4, 5, 2 at x=1", {7, 4, 5, 2}, 1, 1, {0}, false},
    /* the bounded dimension is cut, or one behind it */
    {"7, 4, 5@x, 2", "7@x, 4, 5, 2", {7, 4, 5, 2}, 2, 2, {1, 0}, false},
    {"7@x, 4, 5, 2", "7, 4, 5, 2@x", {7, 4, 5, 2}, 1, 1, {0}, true},
    /* one number for all */
    {"7@x, 4, 5, 2", "7, 4@x, 5, 2", {7, 4, 5, 2}, 0, 0, {0}, false},
    {"4@x, 4, 3, 2", "4@(x+1), 4, 3, 2", {4, 4, 3, 2}, 1, 1, {2}, false},
};
/* clang-format on */

static int64_t
index_of(const job *j, int64_t x, int dim)
{
    for (int d = RANK - 1; d > dim; d--)
        x /= j->shape[d];
    return x % j->shape[dim];
}

static int64_t
number(const job *j, const int64_t *at)
{
    int64_t n = j->n > 0 ? at[0] * 3 + (j->n > 1 ? at[1] * 5 : 0) : 2;

    return n % 8 - 1; /* below 0, and beyond the dimension, too */
}

static bool
is_below(const job *j, int64_t x)
{
    int64_t at[2] = {0};

    for (int i = 0; i < j->n; i++)
        at[i] = index_of(j, x, j->of[i]);
    return index_of(j, x, j->dim) < number(j, at);
}

typedef struct values {
    int64_t pitch[2], wide[64];
    int32_t narrow[64];
} values;

static void
fill(const job *j, values *v)
{
    int64_t n[2] = {1, 1};

    for (int i = 0; i < j->n; i++)
        n[i] = j->shape[j->of[i]];
    v->pitch[0] = n[1];
    v->pitch[1] = 1;
    for (int64_t i = 0; i < n[0] * n[1]; i++) {
        int64_t at[2] = {i / n[1], i % n[1]};

        v->wide[i] = number(j, at);
        v->narrow[i] = (int32_t)v->wide[i];
    }
}

/* Is what a rank has what comes?  *moved: elements that it did not have. */
static bool
is_right(const job *j, const axe_reshard_plan *p, int64_t rank,
         const int32_t *dst, int64_t *moved)
{
    int64_t all = j->shape[0] * j->shape[1] * j->shape[2] * j->shape[3], k = 0;
    bool    right = true;

    for (int64_t x = 0; x < all; x++) {
        if (!axe_reshard_has(p, true, rank, x, 0))
            continue;
        k++;
        if (!is_below(j, x))
            continue;
        *moved += !axe_reshard_has(p, false, rank, x, 0);
        right = right && dst[k - 1] == (int32_t)x + 1;
    }
    return right;
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    const job              *j = user;
    axe_reshard_options     opt = {.bits = 32};
    const axe_mesh         *m;
    axe_spread              a, b;
    const axe_reshard_plan *p;
    axe_traffic             traffic;
    values                  v;
    axe_reshard_bound bound = {j->dim, j->n, j->of, v.pitch, v.narrow, j->wide};
    int64_t me = axe_engine_rank(e), k = 0, moved = 0, total, gathered[3];
    int32_t src[ELEMENTS], dst[ELEMENTS];

    fill(j, &v);
    bound.value = j->wide ? (const void *)v.wide : v.narrow;
    AXE_TRY(axe_mesh_read(cx, "x=3", &m));
    AXE_TRY(axe_spread_read(cx, m, j->src, &a));
    AXE_TRY(axe_spread_read(cx, m, j->dst, &b));
    AXE_TRY(axe_reshard(cx, m, &a, &b, &opt, &p));
    for (int64_t x = 0; x < ELEMENTS; x++)
        if (axe_reshard_has(p, false, me, x, 0) &&
            x < j->shape[0] * j->shape[1] * j->shape[2] * j->shape[3])
            src[k++] = (int32_t)x + 1;
    AXE_TRY(axe_reshard_run_below(e, p, AXE_NUMBER_I32, &bound, src, dst,
                                  &traffic));
    if (!is_right(j, p, me, dst, &moved))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "rank %d has other elements",
                        (int)me);
    AXE_TRY(axe_reshard_below(cx, p, &bound, &total));
    AXE_TRY(axe_engine_gather(e, &moved, sizeof moved, gathered));
    if (traffic.total != 4 * total ||
        total != gathered[0] + gathered[1] + gathered[2])
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%d bytes moved, %d elements are counted",
                        (int)traffic.total, (int)total);
    return total < p->total || p->total == 0
               ? AXE_OK
               : axe_fail(cx, AXE_NOWHERE, AXE_EARG, "all went");
}

static void
test_below(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {
            .engine = "shm", .n_rank = 3, .timeout_ms = 10000};

        if (axe_spmd(cx, &o, on_rank, (void *)(uintptr_t)&jobs[i]) != AXE_OK)
            fail_msg("%s to %s: %s", jobs[i].src, jobs[i].dst,
                     axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

/* Lists of what goes below `listed`, held to a bound: what is found, and the
 * bytes that went. */
static axe_sim_report
simulated(axe_ctx *cx, const axe_reshard_plan *p,
          const axe_reshard_bound *listed, const axe_reshard_bound *bound,
          int64_t *total)
{
    protocol      *rank;
    axe_traffic    traffic = {0};
    axe_sim_report found = {0};
    protocol_run   r = {.plan = p,
                        .bound = bound,
                        .type = AXE_NUMBER_I32,
                        .what = "a plan",
                        .traffic = &traffic};

    if (protocol_of_plan(cx, p, listed, &rank) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    r.rank = rank;
    if (protocol_simulate(cx, &r, &found) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    *total = traffic.total;
    return found;
}

static bool
finds(const axe_sim_report *r, axe_sim_kind kind)
{
    for (int i = 0; i < r->n_finding; i++)
        if (r->finding[i].kind == kind)
            return true;
    return false;
}

/* One more of each number than the job has. */
static void
raise_numbers(values *v)
{
    for (int i = 0; i < 64; i++) {
        v->wide[i]++;
        v->narrow[i]++;
    }
}

/* Simulated ranks bring as many elements as are below the bound; lists that
 * bring fewer or more are found. */
static void
test_simulated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const job              *j = &jobs[i];
        axe_ctx                *cx = axe_ctx_new();
        axe_reshard_options     opt = {.bits = 32};
        const axe_mesh         *m;
        axe_spread              a, b;
        const axe_reshard_plan *p;
        values                  v = {{0}, {0}, {0}}, more;
        axe_reshard_bound       bound = {j->dim,  j->n,     j->of,
                                         v.pitch, v.narrow, j->wide},
                          higher = bound;
        axe_sim_report found;
        int64_t        n, n_more, total;

        fill(j, &v);
        more = v;
        raise_numbers(&more);
        bound.value = j->wide ? (const void *)v.wide : v.narrow;
        higher.value = j->wide ? (const void *)more.wide : more.narrow;
        assert_int_equal(axe_mesh_read(cx, "x=3", &m), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, j->src, &a), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, j->dst, &b), AXE_OK);
        assert_int_equal(axe_reshard(cx, m, &a, &b, &opt, &p), AXE_OK);
        assert_int_equal(axe_reshard_below(cx, p, &bound, &n), AXE_OK);
        assert_int_equal(axe_reshard_below(cx, p, &higher, &n_more), AXE_OK);
        found = simulated(cx, p, &bound, &bound, &total);
        assert_int_equal(found.n_finding, 0);
        assert_int_equal(total, 4 * n);
        found = simulated(cx, p, &higher, &bound, &total);
        assert_int_equal(total, 4 * n_more);
        assert_int_equal(finds(&found, AXE_SIM_WIRE), n < n_more);
        assert_false(finds(&found, AXE_SIM_CONTENT));
        found = simulated(cx, p, &bound, &higher, &total);
        assert_int_equal(finds(&found, AXE_SIM_WIRE), n < n_more);
        assert_true(finds(&found, AXE_SIM_CONTENT));
        axe_ctx_free(cx);
    }
}

static void
test_refused(void **state)
{
    static const struct {
        const char *src, *dst;
        int         dim, of;
        const char *want;
    } rows[] = {
        {"6@x, 4", "6, 4", 0, 0,
         "reshard: a bound is of dimensions of the tensor, of which there are "
         "2"},
        {"6@x, 4", "6, 4", 2, 0,
         "reshard: a bound is of dimensions of the tensor, of which there are "
         "2"},
        {"6, 4 + partial(x)", "6@x, 4", 1, 0,
         "reshard: what is below a bound goes in one step without sums, and "
         "this is reduce-scatter"},
        {"6, 4 at x=1", "6, 4", 1, 0,
         "reshard: what is below a bound goes in one step without sums, and "
         "this is broadcast"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_mesh         *m;
        axe_spread              a, b;
        const axe_reshard_plan *p;
        int64_t                 n, pitch = 1;
        int32_t                 number[6] = {0};
        axe_reshard_bound       bound = {rows[i].dim, 1,      &rows[i].of,
                                         &pitch,      number, false};

        assert_int_equal(axe_mesh_read(cx, "x=3", &m), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, rows[i].src, &a), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, rows[i].dst, &b), AXE_OK);
        assert_int_equal(axe_reshard(cx, m, &a, &b, NULL, &p), AXE_OK);
        assert_int_not_equal(axe_reshard_below(cx, p, &bound, &n), AXE_OK);
        assert_string_equal(axe_last_error(cx), rows[i].want);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_below),
                                       cmocka_unit_test(test_simulated),
                                       cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
