/* test_rounds.c - elements that change lanes: random tables and random layouts,
 * small enough to play every round.
 *
 * What is played: each lane gives out one register and gets what one lane gives
 * out; then every slot must hold what was asked for.  Where no element has two
 * places, the rounds are as few as the busiest lane needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "move/rows.h"

enum { LANES = AXE_ROUND_LANES, REGS = 12, TRIALS = 4000 };

typedef struct table {
    int     n_lane, n_have, n_want;
    int64_t have[LANES * REGS], want[LANES * REGS];
} table;

static uint64_t state = 88172645463325252u;

static int
below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* What the rounds bring to a slot, or -1. */
static int64_t
brought(const table *t, const axe_rounds *r, int lane, int slot)
{
    axe_round_from f = r->slot[lane * t->n_want + slot];
    int            from;

    if (f.round == -2)
        return -1;
    if (f.round == -1)
        return t->have[lane * t->n_have + f.reg];
    from = r->round[f.round].from[lane];
    assert_in_range(from, 0, t->n_lane - 1);
    assert_in_range(r->round[f.round].reg[from], 0, t->n_have - 1);
    return t->have[from * t->n_have + r->round[f.round].reg[from]];
}

/* Rounds beyond those that are needed for sure. */
static int
play(const table *t)
{
    axe_ctx   *cx = axe_ctx_new();
    axe_rounds r;
    int        over;

    assert_true(axe_rounds_find(cx, t->n_lane, t->n_have, t->have, t->n_want,
                                t->want, &r));
    for (int l = 0; l < t->n_lane; l++)
        for (int s = 0; s < t->n_want; s++)
            if (brought(t, &r, l, s) != t->want[l * t->n_want + s])
                fail_msg("state %llu: lane %d of %d, slot %d gets %lld, not "
                         "%lld",
                         (unsigned long long)state, l, t->n_lane, s,
                         (long long)brought(t, &r, l, s),
                         (long long)t->want[l * t->n_want + s]);
    assert_true(r.n >= r.least);
    over = r.n - r.least;
    axe_ctx_free(cx);
    return over;
}

static void
shuffle(int n, int64_t *x)
{
    for (int i = n - 1; i > 0; i--) {
        int     k = below(i + 1);
        int64_t y = x[i];
        x[i] = x[k];
        x[k] = y;
    }
}

/* Any permutation of registers over lanes, some wanted by nobody. */
static void
test_permutations(void **unused)
{
    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        table t = {.n_lane = 1 + below(LANES), .n_have = 1 + below(REGS)};
        int   n = t.n_lane * t.n_have;
        t.n_want = t.n_have;
        for (int k = 0; k < n; k++)
            t.have[k] = t.want[k] = k;
        shuffle(n, t.have);
        shuffle(n, t.want);
        for (int k = 0; k < n; k++)
            if (i % 3 == 0 && below(4) == 0)
                t.want[k] = -1;
        assert_int_equal(play(&t), 0);
    }
}

/* A random layout: element e is at the sum of its digits' steps; some digits
 * are of lanes, some of registers, in any order, and lanes that no digit counts
 * hold the same. */
typedef struct spread {
    int n, extent[8], step[8], lanes, regs; /* step: > 0 lane, < 0 register */
} spread;

static void
deal(spread *x, int n, const int *extent, int n_lane)
{
    int order[8];

    *x = (spread){.n = n, .lanes = 1, .regs = 1};
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = below(i + 1), y = order[i];
        order[i] = order[k];
        order[k] = y;
    }
    for (int i = 0; i < n; i++) {
        int d = order[i], e = extent[d];
        x->extent[d] = e;
        if (x->lanes * e <= n_lane && n_lane % (x->lanes * e) == 0 &&
            (below(3) > 0 || x->regs * e > REGS)) {
            x->step[d] = x->lanes;
            x->lanes *= e;
        } else {
            x->step[d] = -x->regs;
            x->regs *= e;
        }
    }
}

static void
fill(const spread *x, int n_lane, int64_t *out)
{
    int size = 1;

    for (int i = 0; i < x->n; i++)
        size *= x->extent[i];
    for (int e = 0; e < size; e++) {
        int left = e, lane = 0, reg = 0;
        for (int i = x->n - 1; i >= 0; i--) {
            int v = left % x->extent[i];
            left /= x->extent[i];
            if (x->step[i] > 0)
                lane += v * x->step[i];
            else
                reg -= v * x->step[i];
        }
        for (int l = lane; l < n_lane; l += x->lanes)
            out[l * x->regs + reg] = e;
    }
}

/* Digits of 2, 3 and 5; lanes 4 to 30; replicas where lanes are left.  Says how
 * many of the layouts without replicas of what is read need more rounds than
 * the bound, which must be none. */
static void
test_layouts(void **unused)
{
    static const int lanes[] = {4, 6, 8, 12, 16, 24, 30, 32};
    int              over = 0, played = 0;

    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        table  t = {.n_lane = lanes[below(8)]};
        spread a, b;
        int    n = 1 + below(5), extent[8];
        for (int k = 0; k < n; k++)
            extent[k] = below(4) == 0 ? 3 : below(8) == 0 ? 5 : 2;
        deal(&a, n, extent, t.n_lane);
        deal(&b, n, extent, t.n_lane);
        if (a.regs > REGS || b.regs > REGS)
            continue;
        t.n_have = a.regs;
        t.n_want = b.regs;
        fill(&a, t.n_lane, t.have);
        fill(&b, t.n_lane, t.want);
        int more = play(&t);
        played++;
        over += more;
        if (a.lanes == t.n_lane)
            assert_int_equal(more, 0);
    }
    print_message("%d layouts, %d rounds over the bound\n", played, over);
    assert_true(played > TRIALS / 2);
    assert_true(over * 50 < played);
}

/* Every table of two lanes and two registers, with what nobody has. */
static void
test_all_small(void **unused)
{
    (void)unused;
    for (int i = 0; i < 5 * 5 * 5 * 5; i++) {
        table t = {.n_lane = 2, .n_have = 2, .n_want = 2};
        for (int k = 0, v = i; k < 4; k++, v /= 5) {
            t.have[k] = k;
            t.want[k] = v % 5 - 1;
        }
        assert_int_equal(play(&t), 0);
    }
}

static void
test_nobody_has_it(void **unused)
{
    axe_ctx      *cx = axe_ctx_new();
    const int64_t have[2] = {0, 1}, want[2] = {1, 2};
    axe_rounds    r;

    (void)unused;
    assert_false(axe_rounds_find(cx, 2, 1, have, 1, want, &r));
    axe_ctx_free(cx);
}

/* An exchange is the row of a round only where all lanes get what their partner
 * has: not where the first 16 keep what the others get of them, too. */
static void
test_rows(void **unused)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;
    axe_rounds         r;
    axe_shuffle_step  *step;
    double             cost = 0;
    int64_t            have[LANES], want[LANES];
    const int          wants[] = {16, 8, 1, 32};

    (void)unused;
    assert_int_equal(axe_machine_find(cx, "sm_80", &mc), AXE_OK);
    for (int i = 0; i < 4; i++) {
        for (int l = 0; l < 32; l++) {
            have[l] = l;
            want[l] = wants[i] == 32 ? l ^ 4 : l % wants[i];
        }
        assert_true(axe_rounds_find(cx, 32, 1, have, 1, want, &r));
        assert_true(axe_rounds_rows(cx, mc, 32, &r, &step, &cost));
        assert_int_equal(r.n, 1);
        assert_int_equal(step[0].index, wants[i] != 32);
        for (int l = 0; l < 32 && !step[0].index; l++)
            assert_int_equal(r.round[0].from[l], l ^ step[0].param);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_all_small),
        cmocka_unit_test(test_nobody_has_it),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
