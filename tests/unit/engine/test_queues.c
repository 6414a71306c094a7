/* test_queues.c - plans by pieces in a memory that has queues: what
 * pieces_run.c asks for is done in many orders; each time what the plan says
 * must be there in the end, and whenever it is used.  And with any word, wait
 * or join left out, or said too early, some order must show it. */
#include "queue_record.h"

/* ---------------------------------------------------------------- the engine
 */

static axe_status
have(axe_engine *e, int64_t bytes)
{
    (void)e, (void)bytes;
    return AXE_OK;
}

static axe_status
come(axe_engine *e)
{
    (void)e;
    return AXE_OK;
}

static axe_status
gather(axe_engine *e, const void *mine, int64_t bytes, void *all)
{
    bool pieces = bytes == sizeof w.pieces[0] &&
                  memcmp(mine, w.pieces[e->rank], sizeof w.pieces[0]) == 0;

    for (int64_t r = 0; r < e->size; r++)
        memcpy((char *)all + r * bytes, pieces ? w.pieces[r] : mine,
               (size_t)bytes);
    return AXE_OK;
}

static void
post(axe_engine *e, uint32_t count)
{
    w.wrong = w.wrong || count != e->posted; /* the end's alone */
}

static void
fail_all(axe_engine *e, const char *text)
{
    w.failed = axe_textf(e->cx, "%s", text);
}

static const engine_ops noting = {.name = "noting",
                                  .reserve = have,
                                  .barrier = come,
                                  .gather = gather,
                                  .post = post,
                                  .fail = fail_all};

/* ------------------------------------------------------- what is to be there
 */

/* Phase by phase, all ranks at once. */
static void
define(int turn)
{
    int64_t *now[RANKS][2], *then[RANKS][2];
    size_t   bytes = (size_t)w.g[0]->room * sizeof(int64_t) + 64;

    for (int64_t r = 0; r < w.size; r++)
        for (int b = 0; b < 2; b++) {
            now[r][b] = axe_alloc(w.own, bytes);
            then[r][b] = axe_alloc(w.own, bytes);
            memset(now[r][b], 0, bytes);
        }
    for (int64_t r = 0; r < w.size; r++)
        for (int64_t i = 0; i < w.g[r]->n_src; i++)
            now[r][0][i] = value(r, i, turn);
    for (int f = 0; f < w.g[0]->n_phase; f++) {
        for (int64_t r = 0; r < w.size; r++)
            for (int b = 0; b < 2; b++)
                memcpy(then[r][b], now[r][b], bytes);
        for (int64_t r = 0; r < w.size; r++) {
            const program_phase *ph = &w.g[r]->phase[f];

            if (ph->add && !ph->whole)
                memset(now[r][ph->to], 0, bytes);
            for (int i = 0; i < ph->n_pull; i++)
                do_box(&(engine_box){
                    .box = &ph->pull[i].box,
                    .type = AXE_NUMBER_I64,
                    .adds = perform_adds(ph, i),
                    .to = now[r][ph->to],
                    .from = then[ph->pull[i].peer][ph->pull[i].from]});
        }
    }
    for (int64_t r = 0; r < w.size; r++) {
        w.rank[r].had = w.rank[r].want;
        w.rank[r].want = now[r][w.g[r]->last];
    }
}

/* -------------------------------------------------------------------- turns */

static axe_status
turn_of(one *x)
{
    const program *g = w.g[x->e.rank];
    int64_t        from, to;

    if (w.turn > 0)
        compute(x->e.rank, K_OLD, 0, g->n_dst);
    if (!w.giving)
        compute(x->e.rank, K_MAKE, 0, g->n_src);
    AXE_TRY(engine_pieces_begin(x->x));
    for (;;) {
        AXE_TRY(engine_pieces_next(x->x, &from, &to));
        if (from < 0)
            break;
        compute(x->e.rank, w.giving ? K_MAKE : K_USE, from, to);
        AXE_TRY(engine_pieces_done(x->x));
    }
    AXE_TRY(engine_pieces_end(x->x));
    if (w.giving)
        compute(x->e.rank, K_USE, 0, g->n_dst);
    return AXE_OK;
}

/* What nobody has made is seen. */
static void
poison(one *x)
{
    int64_t *at = (int64_t *)(void *)(w.memory + x->e.rank * w.stride);

    for (int64_t i = 0; i < w.stride / (int64_t)sizeof *at; i++)
        if (at + i < x->dst || at + i >= x->dst + w.g[0]->room)
            at[i] = POISON - i;
}

/* Is all right, in this order, with this change? */
static bool
turns_in(const order *how)
{
    w.random = how->seed;
    w.wrong = false;
    memset(w.seen, 0, sizeof w.seen);
    for (int64_t r = 0; r < w.size; r++) {
        w.rank[r].e.posted = UINT32_MAX - 5; /* words wrap */
        for (int64_t p = 0; p < w.size; p++)
            w.word[r][p] = w.rank[r].e.posted;
        memset(w.rank[r].x->heard, 0xff, (size_t)w.size * sizeof(uint32_t));
        for (int64_t p = 0; p < w.size; p++)
            w.rank[r].x->heard[p] = w.rank[r].e.posted;
    }
    for (w.turn = 0; w.turn < TURNS; w.turn++) {
        w.n_op = 0;
        define(w.turn);
        for (int64_t r = 0; r < w.size; r++) {
            poison(&w.rank[r]);
            if (turn_of(&w.rank[r]) != AXE_OK)
                fail_msg("%s", axe_last_error(w.cx));
        }
        if (!do_all(how) || w.wrong)
            return false;
    }
    return true;
}

/* In all orders; else *how is one in which it is not. */
static bool
is_right(order *how)
{
    bool     right = true;
    axe_mark mark = axe_ctx_mark(w.own);

    for (int i = 0; right && i < 4 * (int)w.size + RANDOM + 2; i++) {
        int q = i / 2;

        *how = (order){-1, -1, i >= 4 * (int)w.size + RANDOM, (uint64_t)i + 1};
        if (q < 2 * (int)w.size)
            *(i % 2 ? &how->late : &how->early) = q;
        right = turns_in(how);
        axe_ctx_release(w.own, mark);
    }
    return right;
}

/* ------------------------------------------------------------------- opening
 */

typedef struct row {
    const char *mesh, *src, *dst;
    bool        giving, one_by_one;
    int64_t     rows;   /* of 4, of a piece; the last rank's are of one more */
    bool        change; /* each of what is asked for, too */
} row;

static void
open_rank(const axe_reshard_plan *plan, const row *t, int64_t r, char *heap)
{
    int64_t            room = axe_reshard_heap(plan) / 2;
    one               *x = &w.rank[r];
    engine_pieces_spec spec = {.plan = plan,
                               .type = AXE_NUMBER_I64,
                               .giving = t->giving,
                               .grain = w.grain[r],
                               .one_by_one = t->one_by_one};

    *x = (one){.m = {&memory_ops, &x->e, &queues}, .w = &w};
    x->e = (axe_engine){.ops = &noting,
                        .cx = w.cx,
                        .rank = r,
                        .size = w.size,
                        .heap = heap,
                        .stride = ENGINE_PIECES_HEAP + 4096,
                        .room = ENGINE_PIECES_HEAP + 4096,
                        .addressed = true,
                        .posted = BEFORE,
                        .memory = &x->m};
    if (alloc(&x->m, room, &spec.src) != AXE_OK ||
        alloc(&x->m, room, &spec.dst) != AXE_OK ||
        engine_pieces_new(&x->e, &spec, &x->x) != AXE_OK)
        fail_msg("%s", axe_last_error(w.cx));
    for (int64_t p = 0; p < w.size; p++)
        assert_int_equal(x->x->heard[p], BEFORE);
    x->src = spec.src;
    x->dst = spec.dst;
}

static void
open_all(axe_ctx *cx, axe_ctx *own, const row *t)
{
    const axe_reshard_plan *p = plan_of(cx, t->mesh, t->src, t->dst);
    int64_t                 landing = 0;
    char                   *heap;

    assert_int_equal(p->n_step, 1);
    memset(&w, 0, sizeof w);
    w.change.kind = N_KIND;
    w.cx = cx;
    w.own = own;
    w.size = p->mesh->n_device;
    w.giving = t->giving;
    assert_true(w.size <= RANKS);
    for (int64_t r = 0; r < w.size; r++) {
        int64_t all = axe_reshard_held(p, !t->giving, r);

        assert_int_equal(program_of(cx, p, r, NULL, &w.g[r]), AXE_OK);
        w.grain[r] = 4 * (t->rows + (r == w.size - 1));
        w.pieces[r][0] = w.grain[r];
        w.pieces[r][1] = (all + w.grain[r] - 1) / w.grain[r];
    }
    assert_int_equal(engine_pieces_landing(cx, p, t->giving, &landing), AXE_OK);
    w.stride = axe_reshard_heap(p) + 256 + landing;
    w.memory = axe_alloc(cx, (size_t)(w.stride * w.size));
    heap = axe_alloc(cx, (size_t)((ENGINE_PIECES_HEAP + 4096) * w.size));
    /* once for the orders of all, which peers read then */
    for (int64_t i = 0; i < 2 * w.size; i++)
        open_rank(p, t, i % w.size, heap);
}

/* clang-format off */
static const row rows[] = {
    {"x=3", "12, 4 + partial(x)", "12@x, 4", true, false, 2, true},  /* sums */
    {"x=3", "10, 4 + partial(x)", "10@x, 4", true, false, 3, false},
    {"x=4", "10, 4 + partial(x)", "10@x, 4", true, true, 1, true},
    {"x=3", "12, 4 + partial(x)", "12, 4", true, false, 2, false},
    {"x=3", "999, 4 + partial(x)", "999, 4", true, false, 200, true}, /* by parts */
    {"x=3", "999, 4 + partial(x)", "999, 4", true, true, 400, false},
    {"x=3", "12, 4 + partial(x)", "12, 4@x", true, false, 3, true},  /* no runs */
    {"x=4", "11@x, 4", "11, 4", true, false, 1, true},
    {"x=8", "3@x, 4", "3, 4", true, false, 1, false},      /* some have nothing */
    {"x=2, y=2", "12@x, 4", "12@y, 4", true, false, 2, false},
    {"x=2, y=2", "12@y, 4 + partial(x)", "12@y, 4@x", true, false, 2, true},
    {"x=3", "12, 4", "12@x, 4", true, false, 5, false},    /* nothing moves */
    {"x=3", "12@x, 4", "12, 4", false, false, 2, true},
    {"x=3", "10@x, 4", "10, 4", false, false, 3, false},
    {"x=4", "11@x, 4", "11, 4", false, true, 1, false},
    {"x=2, y=2", "12@x, 4", "12@y, 4", false, false, 2, false},
    {"x=3", "12, 4 + partial(x)", "12@x, 4", false, false, 2, true},
    {"x=3", "999, 4 + partial(x)", "999, 4", false, false, 300, true},
    {"x=4", "999, 4 at x=1", "999, 4", false, false, 300, false},
    {"x=4", "8@x, 4", "8@(x+1), 4", false, false, 1, true},
};
/* clang-format on */

static void
test_right(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx *cx = axe_ctx_new(), *own = axe_ctx_new();
        order    how;

        open_all(cx, own, &rows[i]);
        if (!is_right(&how))
            fail_msg("%s: %s to %s, late %d early %d serial %d seed %d: %s",
                     rows[i].mesh, rows[i].src, rows[i].dst, how.late,
                     how.early, how.serial, (int)how.seed,
                     w.wrong ? "wrong" : "nothing goes on");
        axe_ctx_free(own);
        axe_ctx_free(cx);
    }
}

/* Each of a kind, changed alone: how many there are, and how many of them some
 * order shows. */
static int
noticed(const change *c, int *n)
{
    int   found = 0;
    order how;

    *n = w.seen[c->kind];
    for (int i = 0; i < *n; i++) {
        w.change = *c;
        w.change.n = i;
        found += !is_right(&how);
    }
    w.change.kind = N_KIND;
    return found;
}

/* Without a wait or a move something is always wrong.  A word may be one of
 * several to the same rank, of which a later one does as well; and some joins
 * are for what was there before, as where nothing is written but sums. */
static void
test_changes(void **state)
{
    static const struct {
        change      change;
        bool        always, somewhere;
        const char *name;
    } changes[] = {
        {{K_HEAR, 0, 0, true}, true, false, "a wait is missing"},
        {{K_BOX, 0, 0, true}, true, false, "a box is not moved"},
        {{K_JOIN, 0, 0, true}, false, false, "a join is missing"},
        {{K_SAY, 0, 0, true}, false, false, "a rank is not told"},
        {{K_HEAR, 0, -2, false}, false, true, "a wait for less"},
        {{K_SAY, 0, 1, false}, false, true, "it is said too early"},
    };

    (void)state;
    for (int k = 0; k < AXE_LEN(changes); k++) {
        int all = 0;

        for (int i = 0; i < AXE_LEN(rows); i++) {
            axe_ctx *cx = axe_ctx_new(), *own = axe_ctx_new();
            order    how;
            int      n = 0, found = 0;

            if (rows[i].change) {
                open_all(cx, own, &rows[i]);
                assert_true(is_right(&how));
                found = noticed(&changes[k].change, &n);
            }
            all += found;
            if (changes[k].always
                    ? found < n
                    : n > 0 && found == 0 && !changes[k].somewhere)
                fail_msg("%s to %s: %s: %d of %d are noticed", rows[i].src,
                         rows[i].dst, changes[k].name, found, n);
            axe_ctx_free(own);
            axe_ctx_free(cx);
        }
        print_message("%s: %d noticed\n", changes[k].name, all);
        assert_true(all > 0);
    }
}

/* What a rank's queues do behind its end is of no use to anybody: others know
 * that it has failed before they can be told of it. */
static void
test_stop(void **state)
{
    axe_ctx *cx = axe_ctx_new(), *own = axe_ctx_new();

    (void)state;
    open_all(cx, own, &rows[0]);
    assert_int_equal(engine_pieces_begin(w.rank[0].x), AXE_OK);
    assert_int_equal(axe_fail(cx, AXE_NOWHERE, AXE_EDEVICE, "no more"),
                     AXE_EDEVICE);
    engine_pieces_stop(w.rank[0].x);
    assert_int_equal(w.stopped, 1);
    assert_false(w.wrong);
    assert_string_equal(w.failed, "no more");
    axe_ctx_free(own);
    axe_ctx_free(cx);
}

/* It is asked for once before, and nothing stays of that. */
static void
test_rehearsal(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx *cx = axe_ctx_new(), *own = axe_ctx_new();

        open_all(cx, own, &rows[i]);
        assert_false(w.rehearses);
        assert_int_equal(w.n_op, 0);
        assert_int_equal(w.n_rehearsal, 2 * w.size);
        for (int64_t r = 0; r < w.size; r++) {
            const engine_pieces *x = w.rank[r].x;

            assert_int_equal(w.rank[r].e.posted, BEFORE);
            assert_int_equal(w.rank[r].e.moved, 0);
            assert_int_equal(w.rank[r].queue, ENGINE_COMPUTES);
            assert_int_equal(x->p.recv[0], 0);
            assert_null(x->p.landed);
            for (int64_t p = 0; p < w.size; p++)
                assert_int_equal(x->heard[p], BEFORE);
        }
        axe_ctx_free(own);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_rehearsal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
