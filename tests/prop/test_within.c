/* test_within.c - plans within windows against the definition: who has what,
 * element by element; what each device lacks, who gives it, how much that is.
 * One plan in ten is carried out on processes, one in ten on simulated ones. */
#include "../unit/share.h"
#include "engine/protocol.h"
#include "reshard_oracle.h"

enum { MOST_AXES = 2, PLANS = 4000 };

typedef struct job {
    const axe_reshard_plan *r;
    const owners           *a, *b;
    axe_traffic             traffic;
} job;

/* What a rank has of either side, in the order of the index; within windows,
 * from where they begin. */
static int64_t
list(const axe_reshard_plan *r, bool behind, const owners *o, int64_t q,
     int32_t *out)
{
    const int64_t    *extent = r->dst.shape.extent;
    const axe_window *w = &r->window[q * RANK];
    int64_t           n = 0;

    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t k = 0; k < extent[1]; k++) {
            int64_t x = behind ? (w[0].from + i) % extent[0] : i;
            int64_t y = behind ? (w[1].from + k) % extent[1] : k;

            x = x * extent[1] + y;
            if (o->of[x][0] >> q & 1)
                out[n++] = (int32_t)(x * 7 + 1);
        }
    return n;
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job    *j = user;
    int64_t q = axe_engine_rank(e), n;
    int32_t src[ELEMENTS], dst[ELEMENTS] = {0}, want[ELEMENTS];

    list(j->r, false, j->a, q, src);
    n = list(j->r, true, j->b, q, want);
    AXE_TRY(axe_reshard_run(e, j->r, AXE_NUMBER_I32, src, dst, &j->traffic));
    return memcmp(dst, want, (size_t)n * sizeof want[0]) == 0
               ? AXE_OK
               : axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                          "rank %d has other elements", (int)q);
}

static void
carry_out(axe_ctx *cx, const axe_reshard_plan *r, const owners *a,
          const owners *b)
{
    job                j = {r, a, b, {0}};
    axe_engine_options o = {.n_rank = a->n_device, .heap = axe_reshard_heap(r)};

    if (axe_spmd(cx, &o, on_rank, &j) != AXE_OK)
        fail_msg("%s of %s", axe_last_error(cx), now_);
    CHECK(j.traffic.total == 4 * r->total);
    CHECK(j.traffic.max_recv == 4 * r->max_recv);
}

static void
simulate(axe_ctx *cx, const axe_reshard_plan *r)
{
    axe_sim_report out = {0};
    protocol_run   run = {.plan = r, .type = AXE_NUMBER_I32, .what = "it"};
    protocol      *rank;

    assert_int_equal(protocol_of_plan(cx, r, NULL, &rank), AXE_OK);
    run.rank = rank;
    assert_int_equal(protocol_simulate(cx, &run, &out), AXE_OK);
    if (out.n_finding > 0)
        fail_msg("%s of %s", out.finding[0].text, now_);
}

/* Is i one of [from, to), or more of these by n? */
static bool
is_in(int64_t i, int64_t from, int64_t to, int64_t n)
{
    return (i >= from && i < to) || (to > n && i + n >= from && i + n < to);
}

/* b has what is within alone. */
static void
clip(const axe_reshard_plan *r, owners *b)
{
    const int64_t *extent = r->dst.shape.extent;

    for (int x = 0; x < b->n_element; x++)
        for (int q = 0; q < b->n_device; q++) {
            const axe_window *w = &r->window[q * RANK];
            int64_t           i = x / extent[1], k = x % extent[1];

            if (!is_in(i, w[0].from, w[0].to, extent[0]) ||
                !is_in(k, w[1].from, w[1].to, extent[1]))
                b->of[x][0] &= ~(1u << q);
        }
}

static void
check_held(const axe_reshard_plan *r, const owners *b)
{
    for (int q = 0; q < b->n_device; q++) {
        int64_t n = 0;

        for (int x = 0; x < b->n_element; x++) {
            bool has = b->of[x][0] >> q & 1;

            n += has;
            CHECK(axe_reshard_has(r, true, q, x, 0) == has);
        }
        CHECK(axe_reshard_held(r, true, q) == n);
    }
}

/* Do windows that have something touch what a device has? */
static bool
is_halo(const axe_reshard_plan *r, const owners *a)
{
    int64_t n[RANK] = {r->src.shape.extent[0], r->src.shape.extent[1]};

    for (int q = 0; q < a->n_device; q++) {
        const axe_window *w = &r->window[q * RANK];
        bool              near[RANK] = {false}, any = false;

        for (int64_t x = 0; x < n[0] * n[1]; x++) {
            int64_t at[RANK] = {x / n[1], x % n[1]};

            if (!(a->of[x][0] >> q & 1))
                continue;
            any = true;
            for (int d = 0; d < RANK; d++)
                near[d] = near[d] || is_in(at[d], w[d].from - 1, w[d].to + 1,
                                           w[d].to == n[d] ? n[d] + 1 : n[d]);
        }
        if (any && w[0].from < w[0].to && w[1].from < w[1].to &&
            !(near[0] && near[1]))
            return false;
    }
    return true;
}

static void
check_plan(axe_ctx *cx, const axe_reshard_plan *r, int number)
{
    static owners a, b;
    static values v;
    int64_t       moved[DEVICES][DEVICES];
    bound         least;

    find_owners(cx, r->mesh, &r->src, &a);
    find_owners(cx, r->mesh, &r->dst, &b);
    clip(r, &b);
    least = bound_of(&r->src, &r->dst, &a, &b);
    begin(&a, &v);
    execute(r, 0, &a, &v, moved);
    check_counts(r, 0, a.n_device, moved);
    check_crossing(r, 0, moved);
    check_end(r, &a, &b, &v);
    check_held(r, &b);
    CHECK(r->n_step == 1 && r->step[0].memory == fullest(&b));
    CHECK(r->bound_recv == least.recv && r->bound_total == least.total);
    CHECK(r->total == r->step[0].total && r->total == least.total);
    CHECK(r->max_recv == least.recv && !r->why);
    CHECK((r->step[0].kind == AXE_COLLECTIVE_HALO) == is_halo(r, &a));
    if (number % 10 == 0)
        carry_out(cx, r, &a, &b);
    if (number % 10 == 5)
        simulate(cx, r);
}

/* ------------------------------------------------------------------ drawing */

/* Two dimensions, axes in either, copies, or at one device. */
static const char *
draw_spread(axe_ctx *cx, const axe_mesh *m, const int *shape)
{
    axe_buf b = {.cx = cx};
    int     role[MOST_AXES], n = 0, swap = draw(2);

    for (int a = 0; a < m->n_axis; a++)
        role[a] = draw(8) ? draw(3) : 3;
    for (int d = 0; d < RANK; d++) {
        axe_putf(&b, "%s%d", d ? ", " : "", shape[d]);
        n = 0;
        for (int i = 0; i < m->n_axis; i++) {
            int a = swap ? m->n_axis - 1 - i : i;

            if (role[a] == d)
                axe_putf(&b, "%s%s", n++ ? ", " : "@(", m->axis[a].name);
        }
        axe_puts(&b, n ? ")" : "");
    }
    n = 0;
    for (int a = 0; a < m->n_axis; a++)
        if (role[a] == 3)
            axe_putf(&b, "%s%s=%d", n++ ? ", " : " at ", m->axis[a].name,
                     draw((int)m->axis[a].size));
    return b.text;
}

/* Around the device's share of the dimension, and half of those that leave it
 * around its end; or anything. */
static axe_window
draw_window(int64_t q, int64_t n_device, int n)
{
    int from = (int)(q * n / n_device) - draw(3);
    int to = (int)((q + 1) * n / n_device) + draw(3);

    if (draw(4) == 0) {
        from = draw(n + 1);
        to = from + draw(n + 1);
    }
    if (to - from <= n && draw(2)) {
        to += from < 0 ? n : 0;
        from += from < 0 ? n : 0;
        return (axe_window){from, to};
    }
    from = from < 0 ? 0 : from > n ? n : from;
    to = to > n ? n : to;
    return (axe_window){from, to < from ? from : to};
}

static void
test_random(void **state)
{
    static const char *const meshes[] = {"x=1",
                                         "x=2",
                                         "x=3",
                                         "x=5",
                                         "x=8",
                                         "x=2, y=2",
                                         "x=3 @ far, y=2",
                                         "x=2 @ far, y=4",
                                         "x=4, y=3"};
    const char              *seed = getenv("AXE_SEED");

    (void)state;
    seed_ = seed ? strtoull(seed, NULL, 10) : 20261129;
    for (int i = 0; i < PLANS / share(); i++) {
        axe_ctx                *cx = axe_ctx_new();
        axe_reshard_options     opt = {.bits = 32};
        int                     shape[RANK] = {1 + draw(13), 1 + draw(10)};
        const char             *src, *dst;
        axe_window              w[DEVICES * RANK];
        axe_spread              a, b;
        const axe_mesh         *m;
        const axe_reshard_plan *r;

        assert_int_equal(axe_mesh_read(cx, meshes[draw(AXE_LEN(meshes))], &m),
                         AXE_OK);
        src = draw_spread(cx, m, shape);
        dst = draw_spread(cx, m, shape);
        now_ = axe_textf(cx, "%d: '%s' to '%s' over '%s'", i, src, dst,
                         axe_mesh_text(cx, m));
        for (int64_t q = 0; q < m->n_device; q++)
            for (int d = 0; d < RANK; d++)
                w[q * RANK + d] = draw_window(q, m->n_device, shape[d]);
        assert_int_equal(axe_spread_read(cx, m, src, &a), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, dst, &b), AXE_OK);
        if (axe_reshard_within(cx, m, &a, &b, w, &opt, &r) != AXE_OK)
            fail_msg("%s of %s", axe_last_error(cx), now_);
        check_plan(cx, r, i);
        axe_ctx_free(cx);
    }
}

#define NO_WINDOW "reshard: device 0 has the window "
#define OF_EIGHT " of dimension 0, which has 8 indices"
#define NO_DST                                                                 \
    "reshard: windows are of SRC's dimensions, where it has no addends, and "  \
    "DST has the same"

/* clang-format off */
static const struct {
    const char *mesh, *src, *dst;
    axe_window  w;
    axe_status  st;
    const char *text;
} refused[] = {
    {"x=2",    "8@x, 1",            "8, 1", {3, 12}, AXE_EARG,         NO_WINDOW "[3, 12)" OF_EIGHT},
    {"x=2",    "8@x, 1",            "8, 1", {9, 9},  AXE_EARG,         NO_WINDOW "[9, 9)" OF_EIGHT},
    {"x=2",    "8@x, 1",            "8, 1", {-1, 1}, AXE_EARG,         NO_WINDOW "[-1, 1)" OF_EIGHT},
    {"x=2",    "8@x, 1",            "8, 1", {3, 2},  AXE_EARG,         NO_WINDOW "[3, 2)" OF_EIGHT},
    {"x=2",    "8, 1 + partial(x)", "8, 1", {0, 8},  AXE_EUNSUPPORTED, NO_DST},
    {"x=2",    "8@x, 1",            "2, 4", {0, 1},  AXE_EUNSUPPORTED, NO_DST},
    {"x=1025", "8@x, 1",            "8, 1", {0, 1},  AXE_ELIMIT,
     "reshard: 1025 devices, and 1024 have windows at most"},
};
/* clang-format on */

/* What is refused, and why. */
static void
test_refused(void **state)
{
    static axe_window w[2 * 1025];

    (void)state;
    for (int i = 0; i < AXE_LEN(refused); i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_mesh         *m;
        axe_spread              a, b;
        const axe_reshard_plan *r;

        w[0] = refused[i].w;
        assert_int_equal(axe_mesh_read(cx, refused[i].mesh, &m), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, refused[i].src, &a), AXE_OK);
        assert_int_equal(axe_spread_read(cx, m, refused[i].dst, &b), AXE_OK);
        assert_int_equal(axe_reshard_within(cx, m, &a, &b, w, NULL, &r),
                         refused[i].st);
        assert_string_equal(axe_last_error(cx), refused[i].text);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
