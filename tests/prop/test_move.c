/* test_move.c - moves between layouts: random ones, of any extents, with
 * replicas, offsets and idle threads, and all placements of tiny ones.
 *
 * What is at which place is asked of axe_layout_apply; the program is executed
 * here by other code than the library's own.  Without replicas the shuffles of
 * a warp are as few as its busiest lane has elements to give or to get; with
 * them no round less would do among eight lanes, as a search over all givers
 * says; and a trip through memory costs no more than the best of all ways to
 * lay eight elements out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "move/move_int.h"

enum { TRIALS = 1500, MAX_DIGIT = 8, REGS = 64, THREADS = 256 };

static uint64_t state = 88172645463325252u;

static int
below(int n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

/* ----------------------------------------------------------- random layouts */

typedef struct maker {
    axe_ctx *cx;
    axe_axis axis[3]; /* reg, lane, warp */
    int64_t  room[3];
} maker;

static axe_axis
axis_of(axe_ctx *cx, const char *name)
{
    axe_axis a;

    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, name, &a), AXE_OK);
    return a;
}

/* The extents, each on an axis with room for it, in a random order. */
static const axe_layout *
layout_of(const maker *k, int n, const int64_t *extent, bool more)
{
    axe_iter   it[MAX_DIGIT], replica[3];
    axe_offset offset[3];
    int64_t    used[3] = {1, 1, 1};
    bool       done[MAX_DIGIT] = {false};
    axe_layout spec = {.shard = it, .replica = replica, .offset = offset};
    const axe_layout *l;

    for (int left = n; left > 0; left--) {
        int d = below(n), a = below(3);
        while (done[d])
            d = (d + 1) % n;
        for (int tries = 0; used[a] * extent[d] > k->room[a]; tries++) {
            a = (a + 1) % 3;
            if (tries == 3)
                return NULL;
        }
        it[d] = (axe_iter){extent[d], used[a], k->axis[a], AXE_UNIT_ONE};
        used[a] *= extent[d];
        done[d] = true;
    }
    for (int a = 0; a < 3 && more; a++) {
        int64_t free = k->room[a] / used[a];
        if (free > 1 && below(3) == 0) {
            replica[spec.n_replica++] = (axe_iter){
                2 + below((int)free - 1), used[a], k->axis[a], AXE_UNIT_ONE};
            used[a] *= replica[spec.n_replica - 1].extent;
        }
        if (used[a] < k->room[a] && below(3) == 0)
            offset[spec.n_offset++] =
                (axe_offset){1 + below((int)(k->room[a] - used[a])), k->axis[a],
                             AXE_UNIT_ONE};
    }
    spec.n_shard = n;
    assert_int_equal(axe_layout_make(k->cx, &spec, &l), AXE_OK);
    return l;
}

/* ------------------------------------------------------------- the definition
 */

typedef struct table {
    int64_t at[THREADS][REGS]; /* -1: nothing */
} table;

static void
define(const maker *k, const axe_layout *l, table *out)
{
    memset(out, 0xff, sizeof *out);
    for (int64_t x = 0; x < l->size; x++) {
        axe_points p;
        assert_int_equal(axe_layout_apply(k->cx, l, x, &p), AXE_OK);
        for (int i = 0; i < p.n_point; i++) {
            int64_t c[3] = {0, 0, 0};
            for (int a = 0; a < p.n_axis; a++)
                for (int j = 0; j < 3; j++)
                    if (p.axis[a] == k->axis[j])
                        c[j] = p.coord[i * p.n_axis + a];
            assert_in_range(c[2] * 32 + c[1], 0, THREADS - 1);
            out->at[c[2] * 32 + c[1]][c[0]] = x;
        }
    }
}

/* ------------------------------------------------------------- the execution
 */

static int64_t
word_part(const axe_warp_program *w, const table *src, int first, int lane,
          int round, int part)
{
    const axe_shuffling *s = &w->shuffle;
    int                  from = s->rounds.round[round].from[lane];
    int                  word = s->rounds.round[round].reg[from];

    return src
        ->at[first + from][s->word[(from * s->n_word + word) * s->pack + part]];
}

static void
execute(const struct axe_move_code *p, const table *src, table *out)
{
    static int64_t shared[1 << 16];

    memset(out, 0xff, sizeof *out);
    memset(shared, 0xff, sizeof shared);
    for (int w = 0; w < p->n_warp; w++)
        for (int i = 0; i < p->warp[w].store.n; i++) {
            const axe_access *a = &p->warp[w].store.access[i];
            for (int l = 0; l < p->lanes; l++)
                assert_true(a->at[l] < 0 || a->at[l] % a->width == 0);
            for (int l = 0; l < p->lanes; l++)
                for (int k = 0; k < a->width && a->at[l] >= 0; k++)
                    shared[a->at[l] + k] =
                        src->at[w * p->lanes + l][a->slot[k]];
        }
    for (int w = 0; w < p->n_warp; w++) {
        const axe_warp_program *warp = &p->warp[w];
        int                     n = p->sides.dst.n_slot;
        table                  *loaded = calloc(1, sizeof *loaded);
        assert_non_null(loaded);
        for (int i = 0; i < warp->load.n; i++) {
            const axe_access *a = &warp->load.access[i];
            for (int l = 0; l < p->lanes; l++)
                assert_true(a->at[l] < 0 || a->at[l] % a->width == 0);
            for (int l = 0; l < p->lanes; l++)
                for (int k = 0; k < a->width && a->at[l] >= 0; k++)
                    loaded->at[l][a->slot[k]] = shared[a->at[l] + k];
        }
        for (int k = 0; k < p->lanes * n; k++) {
            axe_fill f = warp->fill[k];
            int      l = k / n, first = w * p->lanes;
            int64_t *to = &out->at[first + l][k % n];
            if (f.kind == AXE_FILL_OWN)
                *to = src->at[first + l][f.part];
            else if (f.kind == AXE_FILL_LOAD)
                *to = loaded->at[l][f.part];
            else if (f.kind == AXE_FILL_ROUND)
                *to = word_part(warp, src, first, l, f.round, f.part);
        }
        free(loaded);
    }
}

/* What a lane of the warp gives or gets at most; elements have one place. */
static int64_t
busiest(const table *src, const table *dst, int warp, bool *beyond)
{
    int64_t most = 0;

    *beyond = false;
    for (int l = warp * 32; l < warp * 32 + 32; l++) {
        int64_t give = 0, get = 0;
        for (int r = 0; r < REGS; r++) {
            bool own = false, here = false, given = false;
            for (int t = 0; t < THREADS; t++)
                for (int q = 0; q < REGS; q++) {
                    if (dst->at[l][r] >= 0 && src->at[t][q] == dst->at[l][r]) {
                        own = own || t == l;
                        here = here || t / 32 == warp;
                    }
                    if (src->at[l][r] >= 0 && dst->at[t][q] == src->at[l][r])
                        given = given || (t != l && t / 32 == warp);
                }
            *beyond = *beyond || (dst->at[l][r] >= 0 && !here);
            get += dst->at[l][r] >= 0 && !own && here;
            give += given;
        }
        most = give > most ? give : most;
        most = get > most ? get : most;
    }
    return most;
}

static void
check_rounds(const axe_move_program *m, const table *src, const table *dst)
{
    for (int w = 0; w < m->n_warp; w++) {
        bool beyond;
        assert_int_equal(m->code->warp[w].shuffle.rounds.n,
                         busiest(src, dst, w, &beyond));
        assert_false(beyond);
    }
}

static void
one_trial(axe_ctx *cx, bool more, bool warps, int *kinds)
{
    static const int64_t    extents[] = {2, 2, 2, 3, 4, 5, 6, 7, 8};
    static const int        sizes[] = {8, 16, 32, 64};
    static table            src, dst, got;
    maker                   k = {cx,
                                 {axis_of(cx, "reg"), axis_of(cx, "lane"), axis_of(cx, "warp")},
                                 {16, 32, warps ? 4 : 1}};
    int64_t                 e[MAX_DIGIT];
    int                     n = 1 + below(5);
    axe_move_options        opt = {.machine = "sm_90a",
                                   .bits = more ? sizes[below(4)] : 32};
    const axe_layout       *a, *b;
    const axe_move_program *m;

    for (int i = 0; i < n; i++)
        e[i] = extents[below(AXE_LEN(extents))];
    a = layout_of(&k, n, e, more);
    b = layout_of(&k, n, e, more);
    if (!a || !b)
        return;
    if (axe_move_plan(cx, a, b, &opt, &m) != AXE_OK)
        fail_msg("%s to %s: %s", axe_layout_text(cx, a), axe_layout_text(cx, b),
                 axe_last_error(cx));
    define(&k, a, &src);
    define(&k, b, &dst);
    execute(m->code, &src, &got);
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < REGS; r++)
            if (dst.at[t][r] >= 0 && got.at[t][r] != dst.at[t][r])
                fail_msg("%s to %s: thread %d, register %d",
                         axe_layout_text(cx, a), axe_layout_text(cx, b), t, r);
    if (!more && m->kind == AXE_MOVE_SHUFFLE)
        check_rounds(m, &src, &dst);
    kinds[m->kind]++;
}

static void
test_random(void **unused)
{
    int kinds[AXE_N_MOVE] = {0};

    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc;
        assert_int_equal(axe_machine_find(cx, "sm_90a", &mc), AXE_OK);
        one_trial(cx, i % 2 == 0, i % 3 == 0, kinds);
        axe_ctx_free(cx);
    }
    for (int i = 0; i <= AXE_MOVE_MIXED; i++)
        if (kinds[i] == 0)
            fail_msg("no trial is of kind %d", i);
}

/* ----------------------------------------------------------- fewest rounds */

enum { FEW = 8, NEEDS = 48, FEWEST = 700, STEPS = 200000 };

/* What 8 lanes lack: who could give it is anybody's choice. */
typedef struct needs {
    const axe_places *have;
    int               n, lane[NEEDS];
    int64_t           element[NEEDS];
    int               rounds;
    int64_t           given[NEEDS][FEW]; /* by round and lane, -1: nothing */
    bool              got[NEEDS][FEW];
    long              steps;
} needs;

static bool
lane_has(const axe_places *p, int lane, int64_t element)
{
    for (int r = 0; r < p->n_slot; r++)
        if (p->element[lane * p->n_slot + r] == element)
            return true;
    return false;
}

static bool
is_empty(const needs *x, int round)
{
    for (int l = 0; l < FEW; l++)
        if (x->given[round][l] >= 0)
            return false;
    return true;
}

/* Can needs d and on be met?  Of rounds that nothing is in, one is tried. */
static bool
met(needs *x, int d)
{
    bool empty = false;

    if (d == x->n)
        return true;
    for (int r = 0; r < x->rounds && x->steps++ < STEPS && !empty; r++) {
        if (x->got[r][x->lane[d]])
            continue;
        empty = is_empty(x, r);
        for (int l = 0; l < FEW; l++) {
            int64_t old = x->given[r][l];
            if (!lane_has(x->have, l, x->element[d]) ||
                (old >= 0 && old != x->element[d]))
                continue;
            x->given[r][l] = x->element[d];
            x->got[r][x->lane[d]] = true;
            bool all = met(x, d + 1);
            x->given[r][l] = old;
            x->got[r][x->lane[d]] = false;
            if (all)
                return true;
        }
    }
    return false;
}

/* Would one round less do?  In doubt not. */
static bool
less_would_do(const axe_move_program *m)
{
    static needs      x;
    const axe_places *want = &m->code->sides.dst;

    memset(&x, 0, sizeof x);
    memset(x.given, 0xff, sizeof x.given);
    x.have = &m->code->sides.src;
    x.rounds = (int)m->n_shuffle - 1;
    for (int k = 0; k < FEW * want->n_slot; k++) {
        int  lane = k / want->n_slot;
        bool again =
            want->element[k] < 0 || lane_has(x.have, lane, want->element[k]);
        for (int i = 0; i < x.n; i++)
            again = again ||
                    (x.lane[i] == lane && x.element[i] == want->element[k]);
        if (again)
            continue;
        assert_in_range(x.n, 0, NEEDS - 1);
        x.lane[x.n] = lane;
        x.element[x.n++] = want->element[k];
    }
    return met(&x, 0);
}

static void
test_fewest(void **unused)
{
    int n = 0;

    (void)unused;
    for (int i = 0; i < FEWEST; i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_machine      *mc;
        const axe_layout       *a, *b;
        const axe_move_program *m;
        axe_move_options        opt = {.machine = "opencl-sg8",
                                       .by = AXE_MOVE_SHUFFLE};
        int64_t                 e[3];
        int                     digits = 2 + below(2);

        assert_int_equal(axe_machine_find(cx, opt.machine, &mc), AXE_OK);
        maker k = {
            cx,
            {axis_of(cx, "reg"), axis_of(cx, "lane"), axis_of(cx, "warp")},
            {6, FEW, 1}};
        for (int d = 0; d < digits; d++)
            e[d] = 2 + below(2);
        a = layout_of(&k, digits, e, true);
        b = layout_of(&k, digits, e, true);
        if (a && b && axe_move_plan(cx, a, b, &opt, &m) == AXE_OK &&
            m->n_shuffle > 1) {
            n++;
            if (less_would_do(m))
                fail_msg("%s to %s: fewer than %d rounds would do",
                         axe_layout_text(cx, a), axe_layout_text(cx, b),
                         (int)m->n_shuffle);
        }
        axe_ctx_free(cx);
    }
    assert_true(n > FEWEST / 4);
}

/* --------------------------------------------------------- all tiny placements
 */

enum { TINY = 8 };

/* Instructions of the layout's warps for elements that lie at at[], in cycles:
 * vectors where every thread of a warp has an even place and its neighbour.
 * Threads have `regs` elements each, a warp of 8 lanes is half of a layout. */
static double
cost_of(const table *t, int regs, const int *at)
{
    double cost = 0;

    for (int w = 0; w < 2; w++)
        for (int width = regs; width > 0; width /= 2) {
            bool fits = true, used = false;
            for (int l = 0; l < 8; l++)
                for (int r = 0; r < regs; r++) {
                    int64_t e = t->at[w * 8 + l][r];
                    int64_t f = t->at[w * 8 + l][r - r % width];
                    used = used || e >= 0;
                    if (e >= 0)
                        fits = fits && at[f] % width == 0 &&
                               at[e] == at[f] + r % width;
                }
            if (!used)
                break;
            if (!fits)
                continue;
            cost += (width + 0.25) * (regs / width);
            break;
        }
    return cost;
}

static double
best_of(const table *src, const table *dst, int regs_src, int regs_dst, int n,
        int *at, unsigned used)
{
    double best = 1e30, c;

    if (n == TINY)
        return cost_of(src, regs_src, at) + cost_of(dst, regs_dst, at);
    for (int p = 0; p < TINY; p++) {
        if (used >> p & 1)
            continue;
        at[n] = p;
        c = best_of(src, dst, regs_src, regs_dst, n + 1, at, used | 1u << p);
        best = c < best ? c : best;
    }
    return best;
}

/* The same of a program. */
static double
trip_cost(const axe_move_program *m)
{
    double cost = (double)(m->store.conflicts + m->load.conflicts);

    for (int w = 0; w < m->code->n_warp; w++)
        for (int side = 0; side < 2; side++) {
            const axe_accesses *a =
                side ? &m->code->warp[w].load : &m->code->warp[w].store;
            for (int i = 0; i < a->n; i++)
                cost += a->access[i].width + 0.25;
        }
    return cost;
}

static const struct tiny {
    const char *src, *dst;
    int         regs_src, regs_dst;
} tinies[] = {
    {"(2, 2, 2) : (1@warp, 1@lane, 1@reg)",
     "(2, 2, 2) : (1@lane, 1@warp, 1@reg)", 2, 2},
    {"(2, 2, 2) : (1@warp, 1@reg, 1@lane)",
     "(2, 2, 2) : (1@lane, 1@warp, 1@reg)", 2, 2},
    {"(2, 4) : (1@warp, 1@reg)", "(2, 4) : (1@reg, 1@lane) + 1@warp", 4, 2},
    {"(2, 4) : (1@warp, 1@lane)", "(4, 2) : (1@reg, 1@warp)", 1, 4},
    {"(4, 2) : (1@lane, 1@reg) + 1@warp", "(4, 2) : (1@reg, 1@lane)", 2, 4},
};

static void
test_tiny(void **unused)
{
    (void)unused;
    for (int i = 0; i < AXE_LEN(tinies); i++) {
        axe_ctx                *cx = axe_ctx_new();
        const axe_machine      *mc;
        const axe_layout       *a, *b;
        const axe_move_program *m;
        static table            src, dst;
        int                     at[TINY];
        axe_move_options        opt = {.machine = "opencl-sg8"};

        assert_int_equal(axe_machine_find(cx, opt.machine, &mc), AXE_OK);
        assert_int_equal(axe_layout_read(cx, tinies[i].src, &a), AXE_OK);
        assert_int_equal(axe_layout_read(cx, tinies[i].dst, &b), AXE_OK);
        assert_int_equal(axe_move_plan(cx, a, b, &opt, &m), AXE_OK);
        for (int side = 0; side < 2; side++) {
            const axe_places *p =
                side ? &m->code->sides.dst : &m->code->sides.src;
            table *t = side ? &dst : &src;
            memset(t, 0xff, sizeof *t);
            for (int th = 0; th < p->n_thread; th++)
                for (int r = 0; r < p->n_slot; r++)
                    t->at[th][r] = axe_places_row(p, 0, th)[r];
        }
        double best = best_of(&src, &dst, tinies[i].regs_src,
                              tinies[i].regs_dst, 0, at, 0);
        double ours = trip_cost(m);
        if (ours > best)
            fail_msg("%s to %s: loads and stores cost %g, and %g would do",
                     tinies[i].src, tinies[i].dst, ours, best);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_fewest),
        cmocka_unit_test(test_tiny),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
