/* test_reshard.c - plans between spreads against the definition.
 *
 * Who holds what comes from the layouts alone, element by element, device by
 * device.  From that: what each device needs, the bounds of plans, and, step by
 * step, whether every device ends with the true values, taken from devices that
 * have them, as often as the plan counts.  All spreads over small meshes, then
 * random ones, with copies, addends, owners, uneven extents and layouts.  One
 * plan in twenty is carried out on processes. */
#include "../unit/share.h"
#include "reshard_oracle.h"

/* ---------------------------------------------------------------- processes */

typedef struct job {
    const axe_reshard_plan *r;
    const owners           *a, *b;
    axe_traffic             traffic;
} job;

/* What each rank has in the order of the index becomes what it should have. */
static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job     *j = user;
    int64_t  q = axe_engine_rank(e), n = 0;
    uint32_t src[ELEMENTS] = {0}, dst[ELEMENTS] = {0};

    for (int x = 0; x < j->a->n_element; x++)
        for (int t = 0; t < j->a->n_addend; t++)
            if (j->a->of[x][t] >> q & 1)
                src[n++] = (uint32_t)value(x, t);
    if (n != axe_reshard_held(j->r, false, q))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "it holds another number");
    AXE_TRY(axe_reshard_run(e, j->r, AXE_NUMBER_I32, src, dst, &j->traffic));
    n = 0;
    for (int x = 0; x < j->a->n_element; x++)
        for (int k = 0; k < j->b->n_addend; k++) {
            uint32_t sum = 0;

            if (!(j->b->of[x][k] >> q & 1))
                continue;
            for (int t = 0; t < j->a->n_addend; t++)
                sum += kept(&j->r->src, &j->r->dst, t) == k
                           ? (uint32_t)value(x, t)
                           : 0;
            if (dst[n++] != sum)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "rank %d has a wrong element %d", (int)q, x);
        }
    return n == axe_reshard_held(j->r, true, q)
               ? AXE_OK
               : axe_fail(cx, AXE_NOWHERE, AXE_EARG, "it gets another number");
}

static void
carry_out(axe_ctx *cx, const axe_reshard_plan *r, const owners *a,
          const owners *b, tally *t)
{
    job                j = {r, a, b, {0}};
    axe_engine_options o = {.n_rank = a->n_device, .heap = axe_reshard_heap(r)};

    if (axe_spmd(cx, &o, on_rank, &j) != AXE_OK)
        fail_msg("%s of %s", axe_last_error(cx), now_);
    CHECK(j.traffic.total == 4 * r->total);
    CHECK(j.traffic.max_recv <= 4 * r->max_recv);
    for (int i = 0; i < r->n_step; i++) {
        CHECK(j.traffic.step_total[i] == 4 * r->step[i].total);
        if (!in_rounds(r->step[i].kind))
            CHECK(j.traffic.step_max[i] == 4 * r->step[i].max_recv);
        CHECK(j.traffic.step_max[i] <= 4 * r->step[i].max_recv);
    }
    t->run++;
}

/* One plan, whose messages are free or not. */
static void
check_plan(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
           const axe_spread *dst, const owners *a, const owners *b, bool free_,
           tally *t)
{
    const axe_reshard_plan *r;
    axe_reshard_options     opt = {.bits = 32, .free = free_};
    static values           v;
    int64_t                 moved[DEVICES][DEVICES], total = 0, recv = 0;
    bound                   least = bound_of(src, dst, a, b);

    assert_int_equal(axe_reshard(cx, m, src, dst, &opt, &r), AXE_OK);
    begin(a, &v);
    for (int i = 0; i < r->n_step; i++) {
        execute(r, i, a, &v, moved);
        if (!in_rounds(r->step[i].kind))
            check_counts(r, i, a->n_device, moved);
        if (!in_rounds(r->step[i].kind))
            check_crossing(r, i, moved);
        if (!in_rounds(r->step[i].kind) && t->plans % 8 == 0)
            for (int p = 0; p < a->n_device; p++)
                for (int q = 0; q < a->n_device; q++, t->pairs++)
                    t->pieces += check_pieces(cx, r, i, a, p, q);
        total += r->step[i].total;
        recv += r->step[i].max_recv;
    }
    check_end(r, a, b, &v);
    if (t->plans % 20 == 0)
        carry_out(cx, r, a, b, t);
    CHECK(r->bound_recv == least.recv);
    CHECK(r->bound_total == least.total);
    CHECK(r->max_recv == recv && r->total == total);
    CHECK(r->max_recv >= least.recv && r->total >= least.total);
    CHECK((r->why != NULL) == (r->max_recv > r->bound_recv));
    CHECK(r->time <= r->direct_time * 1.000001);
    if (free_ && m->n_link == 1 && a->n_addend == b->n_addend)
        CHECK(r->max_recv == least.recv);
    if (r->n_step > 0)
        CHECK(r->step[r->n_step - 1].memory == fullest(b));
    t->plans++;
    t->steps += r->n_step;
    t->sums += a->n_addend > b->n_addend;
    t->above += r->max_recv > least.recv;
}

/* Is the way over a spread in between no quicker? */
static void
check_detour(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
             const axe_spread *by, const axe_spread *dst)
{
    const axe_reshard_plan   *r[3];
    const axe_reshard_options opt = {.bits = 32};

    if (axe_reshard(cx, m, src, by, &opt, &r[0]) != AXE_OK ||
        axe_reshard(cx, m, by, dst, &opt, &r[1]) != AXE_OK)
        return;
    CHECK(axe_reshard(cx, m, src, dst, &opt, &r[2]) == AXE_OK);
    CHECK(r[2]->time <= (r[0]->time + r[1]->time) * 1.000001);
}

static void
check_pair(axe_ctx *cx, const axe_mesh *m, const axe_spread *src,
           const axe_spread *dst, tally *t)
{
    static owners a, b;
    bool          asks = false;

    for (int i = 0; i < dst->n_partial; i++) {
        bool there = false;

        for (int k = 0; k < src->n_partial; k++)
            there = there || src->partial[k].stride == dst->partial[i].stride;
        asks = asks || (!there && dst->partial[i].extent > 1);
    }
    if (asks) {
        const axe_reshard_plan *r;

        assert_int_equal(axe_reshard(cx, m, src, dst, NULL, &r),
                         AXE_EUNSUPPORTED);
        t->refused++;
        return;
    }
    now_ = axe_textf(cx, "'%s' '%s' --mesh '%s'", axe_spread_text(cx, src),
                     axe_spread_text(cx, dst), axe_mesh_text(cx, m));
    find_owners(cx, m, src, &a);
    find_owners(cx, m, dst, &b);
    check_plan(cx, m, src, dst, &a, &b, true, t);
    check_plan(cx, m, src, dst, &a, &b, false, t);
}

/* ------------------------------------------------------------------ spreads */

typedef struct mesh {
    int n, size[AXES];
} mesh;

static const axe_mesh *
make_mesh(axe_ctx *cx, const mesh *s, const char *links)
{
    axe_buf         b = {.cx = cx};
    const axe_mesh *m;

    for (int a = 0; a < s->n; a++)
        axe_putf(&b, "%s%c=%d%s", a ? ", " : "", 'x' + a, s->size[a],
                 a == 0 ? links : "");
    assert_int_equal(axe_mesh_read(cx, b.text, &m), AXE_OK);
    return m;
}

enum { FREE = RANK, OWNED, PARTIAL, N_ROLE };

/* Are axes turned, some of them? */
static bool turns_;

static int
common(int a, int b)
{
    return b ? common(b, a % b) : a;
}

/* "3*x+2", or "x" */
static void
put_axis(axe_buf *b, const axe_mesh *m, int axis)
{
    int size = (int)m->axis[axis].size, mul = 1;
    int kind = turns_ ? draw(5) : 0;

    if (kind == 4)
        do
            mul = 1 + draw(size);
        while (common(mul, size) != 1);
    if (mul > 1)
        axe_putf(b, "%d*", mul);
    axe_putc(b, (char)('x' + axis));
    if (kind >= 2)
        axe_putf(b, "+%d", draw(size));
}

/* Axis order[i] has role role[order[i]]: a dimension, copies, one device,
 * addends. */
static void
make_spread(axe_ctx *cx, const axe_mesh *m, int n_axis, const int *shape,
            const int *order, const int *role, axe_spread *out)
{
    axe_buf b = {.cx = cx};
    int     n = 0;

    for (int d = 0; d < RANK; d++) {
        axe_putf(&b, "%s%d", d ? ", " : "", shape[d]);
        n = 0;
        for (int i = 0; i < n_axis; i++)
            if (role[order[i]] == d) {
                axe_puts(&b, n++ ? ", " : "@(");
                put_axis(&b, m, order[i]);
            }
        axe_puts(&b, n ? ")" : "");
    }
    n = 0;
    for (int i = 0; i < n_axis; i++)
        if (role[i] == OWNED)
            axe_putf(&b, "%s%c=%d", n++ ? ", " : " at ", 'x' + i,
                     (int)m->axis[i].size - 1);
    n = 0;
    for (int i = 0; i < n_axis; i++)
        if (role[i] == PARTIAL)
            axe_putf(&b, "%s%c", n++ ? ", " : " + partial(", 'x' + i);
    axe_puts(&b, n ? ")" : "");
    assert_int_equal(axe_spread_read(cx, m, b.text, out), AXE_OK);
}

static const int orders[6][AXES] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Number i of the spreads over n axes. */
static void
numbered(axe_ctx *cx, const axe_mesh *m, int n_axis, const int *shape, int i,
         axe_spread *out)
{
    int role[AXES];

    for (int a = 0; a < n_axis; a++, i /= N_ROLE)
        role[a] = i % N_ROLE;
    make_spread(cx, m, n_axis, shape, orders[i], role, out);
}

static int
n_spread(int n_axis)
{
    int n = n_axis < 3 ? n_axis : 6;

    for (int a = 0; a < n_axis; a++)
        n *= N_ROLE;
    return n;
}

static void
report(const char *what, const tally *t)
{
    print_message("%s: %d plans, %d steps, %d of sums, %d above the bound, %d "
                  "refused; %d pieces of %d pairs; %d carried out\n",
                  what, t->plans, t->steps, t->sums, t->above, t->refused,
                  t->pieces, t->pairs, t->run);
    assert_true(t->pieces > 1000 / share());
}

/* All pairs of spreads over meshes of one and two axes, even and not. */
static void
test_all_small(void **state)
{
    static const mesh meshes[] = {{1, {2}},    {1, {3}},    {1, {4}},
                                  {1, {5}},    {1, {12}},   {2, {2, 2}},
                                  {2, {2, 3}}, {2, {3, 2}}, {2, {4, 2}}};
    static const int  shapes[][RANK] = {{12, 4}, {5, 7}};
    tally             t = {0};

    (void)state;
    for (int i = 0; i < AXE_LEN(meshes); i++)
        for (int k = 0; k < AXE_LEN(shapes); k++) {
            int n = n_spread(meshes[i].n);

            for (int s = 0; s < n; s += share()) {
                axe_ctx        *cx = axe_ctx_new();
                const axe_mesh *m = make_mesh(cx, &meshes[i], "");
                axe_spread      src, dst;

                numbered(cx, m, meshes[i].n, shapes[k], s, &src);
                for (int d = 0; d < n; d++) {
                    axe_mark mark = axe_ctx_mark(cx);

                    numbered(cx, m, meshes[i].n, shapes[k], d, &dst);
                    check_pair(cx, m, &src, &dst, &t);
                    axe_ctx_release(cx, mark);
                }
                axe_ctx_free(cx);
            }
        }
    report("all", &t);
    assert_true(t.plans > 20000 / share() && t.sums > 1000 / share());
}

/* Three axes, two links, random shapes. */
static void
test_random(void **state)
{
    static const mesh meshes[] = {
        {3, {2, 2, 2}}, {3, {2, 2, 3}}, {3, {3, 2, 2}}, {3, {2, 3, 2}},
        {2, {2, 5}},    {2, {3, 3}},    {2, {3, 4}},    {2, {2, 6}}};
    tally       t = {0};
    const char *seed = getenv("AXE_SEED");

    (void)state;
    seed_ = seed ? strtoull(seed, NULL, 10) : 20261127;
    print_message("seed %" PRIu64 "\n", seed_);
    for (int i = 0; i < 6000 / share(); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const mesh     *s = &meshes[draw(AXE_LEN(meshes))];
        const axe_mesh *m = make_mesh(cx, s, draw(2) ? " @ far" : "");
        int             shape[RANK] = {1 + draw(13), 1 + draw(12)};
        axe_spread      src, dst;

        if (draw(2))
            shape[0] = 12;
        numbered(cx, m, s->n, shape, draw(n_spread(s->n)), &src);
        numbered(cx, m, s->n, shape, draw(n_spread(s->n)), &dst);
        check_pair(cx, m, &src, &dst, &t);
        axe_ctx_free(cx);
    }
    report("random", &t);
    assert_true(t.sums > 100 / share());
}

/* Devices that are permuted along their axes.  Refused: what has to be cut. */
static void
test_turned(void **state)
{
    static const mesh meshes[] = {{1, {4}},    {1, {5}},       {1, {12}},
                                  {2, {2, 3}}, {2, {4, 2}},    {2, {4, 3}},
                                  {2, {2, 6}}, {3, {2, 2, 3}}, {3, {3, 2, 2}}};
    tally             t = {0};

    (void)state;
    seed_ = 11;
    turns_ = true;
    for (int i = 0; i < 3000 / share(); i++) {
        axe_ctx                *cx = axe_ctx_new();
        const mesh             *s = &meshes[draw(AXE_LEN(meshes))];
        const axe_mesh         *m = make_mesh(cx, s, draw(2) ? " @ far" : "");
        int                     shape[RANK] = {1 + draw(13), 1 + draw(12)};
        const axe_reshard_plan *r;
        axe_spread              src, dst;

        if (draw(2))
            shape[0] = 12;
        numbered(cx, m, s->n, shape, draw(n_spread(s->n)), &src);
        numbered(cx, m, s->n, shape, draw(n_spread(s->n)), &dst);
        if (axe_reshard(cx, m, &src, &dst, NULL, &r) == AXE_OK)
            check_pair(cx, m, &src, &dst, &t);
        else
            t.refused++;
        axe_ctx_free(cx);
    }
    turns_ = false;
    report("turned", &t);
    assert_true(t.plans > 3000 / share() && t.refused < 1000 / share());
}

/* One axis at a time, to where it should be or to copies: no such chain is
 * quicker than the plan.  Axes are of two devices, so that a detour has no
 * finer digits, whose messages may be fewer. */
static void
test_detours(void **state)
{
    static const mesh meshes[] = {{3, {2, 2, 2}}, {2, {2, 2}}, {1, {2}}};
    static const int  shape[RANK] = {64, 32};
    int               n_detour = 0;

    (void)state;
    seed_ = 5;
    for (int i = 0; i < 4000 / share(); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const mesh     *s = &meshes[draw(AXE_LEN(meshes))];
        const axe_mesh *m = make_mesh(cx, s, draw(2) ? " @ far" : "");
        int             role[3][AXES], axis = draw(s->n);
        axe_spread      x[3];

        for (int a = 0; a < s->n; a++) {
            role[0][a] = role[1][a] = draw(RANK + 1);
            role[2][a] = draw(RANK + 1);
        }
        role[1][axis] = draw(2) ? role[2][axis] : FREE;
        for (int k = 0; k < 3; k++)
            make_spread(cx, m, s->n, shape, orders[0], role[k], &x[k]);
        now_ = axe_textf(cx, "'%s' by '%s' to '%s' --mesh '%s'",
                         axe_spread_text(cx, &x[0]), axe_spread_text(cx, &x[1]),
                         axe_spread_text(cx, &x[2]), axe_mesh_text(cx, m));
        check_detour(cx, m, &x[0], &x[1], &x[2]);
        n_detour++;
        axe_ctx_free(cx);
    }
    print_message("%d detours\n", n_detour);
}

/* ------------------------------------------------------------------ layouts */

/* A layout of one dimension of `size`, whose digits go to devices and memory in
 * any order. */
static const char *
random_layout(axe_ctx *cx, const mesh *s, const int *stride, int size)
{
    axe_buf extents = {.cx = cx}, strides = {.cx = cx}, rest = {.cx = cx};
    bool    used[AXES] = {false};
    int     left = size, n = 0;

    while (left > 1) {
        int a = draw(s->n + 1), e = 2 + draw(3);

        if (left % e != 0)
            e = left;
        if (a < s->n && !used[a] && left % s->size[a] == 0) {
            used[a] = true;
            e = s->size[a];
            axe_putf(&strides, "%s%d@gpuid", n ? ", " : "", stride[a]);
        } else {
            axe_putf(&strides, "%s%d", n ? ", " : "", 1 + n);
        }
        axe_putf(&extents, "%s%d", n++ ? ", " : "", e);
        left /= e;
    }
    for (int a = 0; a < s->n; a++)
        if (!used[a] && draw(3))
            axe_putf(&rest, " + [%d : %d@gpuid]", s->size[a], stride[a]);
        else if (!used[a])
            axe_putf(&rest, " + %d@gpuid", draw(s->size[a]) * stride[a]);
    return axe_textf(cx, "((%s)) : ((%s))%s", extents.text, strides.text,
                     rest.text ? rest.text : "");
}

/* Block-cyclic and any other order of digits; also of extents that are rounded
 * up. */
static void
test_layouts(void **state)
{
    static const mesh meshes[] = {{2, {2, 3}}, {2, {4, 2}}, {3, {2, 2, 3}},
                                  {1, {6}},    {2, {2, 2}}, {2, {6, 2}}};
    tally             t = {0};

    (void)state;
    seed_ = 7;
    for (int i = 0; i < 6000 / share(); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const mesh     *s = &meshes[draw(AXE_LEN(meshes))];
        const axe_mesh *m = make_mesh(cx, s, draw(3) ? "" : " @ far");
        int             size = 12 * (1 + draw(6)), stride[AXES], cut = draw(4);
        axe_spread      x[2];

        for (int a = s->n - 1, at = 1; a >= 0; at *= s->size[a--])
            stride[a] = at;
        for (int k = 0; k < 2; k++) {
            const char *text = random_layout(cx, s, stride, size);

            if (cut > 0)
                text = axe_textf(cx, "%s of (%d)", text, size - cut);
            assert_int_equal(axe_spread_read(cx, m, text, &x[k]), AXE_OK);
        }
        check_pair(cx, m, &x[0], &x[1], &t);
        axe_ctx_free(cx);
    }
    report("layouts", &t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small), cmocka_unit_test(test_random),
        cmocka_unit_test(test_turned),    cmocka_unit_test(test_detours),
        cmocka_unit_test(test_layouts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
