/* test_sim_counter.c - CTAs of a launch that wait for one another by counters
 * in global memory: grids by hand.
 *
 * Tiles are made and used: whoever makes tile t writes WIDE numbers to y[t *
 * WIDE] and counts in ready[t], whoever uses it waits for that, reads them and
 * writes them again, USED further on. */
#include "sim_counters.h"

enum { WIDE = 64, USED = 1024 };

typedef enum fault {
    NONE,
    UNMET,     /* who counts has not met those that wrote */
    HALF_MET,  /* only those of its warp */
    WRONG,     /* another tile's counter is waited for */
    TOO_FEW,   /* one count, of the two halves of a tile */
    NO_WAIT,   /* one of two warps that use a tile does not wait */
    ALONE,     /* the lane that waits does not meet the others */
    NO_DRAIN,  /* a copy out is not over when it is counted */
    READ_ONLY, /* only its reading is */
    NO_FENCE,  /* copies in, of what threads have written */
    ELSEWHERE, /* the fence is of shared memory */
    STORED     /* the word is written, and not counted in */
} fault;

/* BY_COPIES: out, and in. */
typedef enum way { BY_THREADS, BY_COPY_OUT, BY_COPY_IN, BY_COPIES } way;

typedef struct flow {
    way   way;
    fault fault;
    bool  persistent;
    bool  backward;       /* who uses begins before who makes */
    bool  fence_of_users; /* of copies in: theirs, not of those who make */
    bool  halves;         /* each warp counts its half of a tile */
} flow;

static void
barrier(void)
{
    atom(&m, "barrier.cta", 0, 0, NULL);
}

static void
fence(const flow *f, const things *g)
{
    if (f->fault == ELSEWHERE)
        atom(&m, "tx.fence.shared", 0, 1, (axe_arg[]){at(g->tile, n(0))});
    else
        atom(&m, "tx.fence", 0, 1, (axe_arg[]){at(g->y, n(0))});
}

static bool
copies_in(const flow *f)
{
    return f->way == BY_COPY_IN || f->way == BY_COPIES;
}

static bool
copies_out(const flow *f)
{
    return f->way == BY_COPY_OUT || f->way == BY_COPIES;
}

static node
first_thread(void)
{
    return is(&m, thread(&m), 0);
}

/* ------------------------------------------------------------------- makers */

/* The numbers of half a tile: y[half + thread] = half + thread. */
static void
make_by_threads(const flow *f, const things *g, node tile)
{
    node to = add(&m, mul(&m, tile, WIDE), thread(&m));

    calc(&m, g->r, n(0), f32_of(to));
    move("st.global.b32", at(g->y, to), at(g->r, n(0)));
    if (f->way == BY_COPY_IN && f->fault != NO_FENCE && !f->fence_of_users)
        fence(f, g);
    if (f->fault == HALF_MET || f->halves)
        atom(&m, "barrier.warp", 0, 0, NULL);
    else if (f->fault != UNMET)
        barrier();
}

static void
make_by_copy(const flow *f, const things *g, node tile)
{
    node to = mul(&m, tile, WIDE);

    calc(&m, g->r, n(0), f32_of(add(&m, to, thread(&m))));
    move("st.shared.b32", at(g->tile, thread(&m)), at(g->r, n(0)));
    atom(&m, "bulk.fence", 0, 1, (axe_arg[]){at(g->tile, n(0))});
    barrier();
    begin_if(&m, first_thread());
    move("cp.bulk.store", at(g->y, to), at(g->tile, n(0)))->param = WIDE;
    atom(&m, "bulk.commit", 0, 0, NULL);
    if (f->fault != NO_DRAIN)
        atom(&m, f->fault == READ_ONLY ? "bulk.read" : "bulk.drain", 0, 1,
             (axe_arg[]){integer(n(0))});
}

static void
make_tile(const flow *f, const things *g, node tile)
{
    if (copies_out(f))
        make_by_copy(f, g, tile);
    else {
        make_by_threads(f, g, tile);
        begin_if(&m, f->halves ? is(&m, lane(), 0) : first_thread());
    }
    if (f->fault == STORED) {
        calc(&m, g->word, n(0), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_i64, n(1)));
        move("st.global.b64", at(g->ready, tile), at(g->word, n(0)));
    } else {
        count(g, tile);
    }
    if (copies_out(f) && (f->fault == NO_DRAIN || f->fault == READ_ONLY))
        atom(&m, "bulk.drain", 0, 1, (axe_arg[]){integer(n(0))});
    end(&m);
    barrier();
}

/* -------------------------------------------------------------------- users */

static void
use_by_copy(const flow *f, const things *g, node tile)
{
    axe_lir *l;

    begin_if(&m, first_thread());
    if (f->fence_of_users)
        fence(f, g);
    atom(&m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(g->bar, n(0)), integer(n(4 * WIDE))});
    atom(&m, "cp.bulk.load", WIDE, 3,
         (axe_arg[]){at(g->tile, n(0)), at(g->y, mul(&m, tile, WIDE)),
                     at(g->bar, n(0))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g->bar, n(0)), integer(var(&m, g->phase))});
    l = emit(&m, AXE_LIR_SET);
    l->var = g->phase;
    l->value = op2(&m, AXE_OP_sub, n(1), var(&m, g->phase));
    move("ld.shared.b32", at(g->r, n(0)), at(g->tile, thread(&m)));
    atom(&m, "tx.fence.shared", 0, 1, (axe_arg[]){at(g->tile, n(0))});
    barrier();
}

static void
use_tile(const flow *f, const things *g, node tile)
{
    node from = add(&m, mul(&m, tile, WIDE), thread(&m));
    node which = tile, warp = id(&m, AXE_ID_WARP);
    if (f->fault == WRONG)
        which = rem(&m, add(&m, tile, n(1)), TILES);
    begin_if(&m, f->fault == NO_WAIT
                     ? is(&m, add(&m, lane(), mul(&m, warp, 32)), 0)
                     : is(&m, lane(), 0));
    reach(g, which, n(f->halves && f->fault != TOO_FEW ? 2 : 1));
    end(&m);
    if (f->fault != ALONE)
        atom(&m, "barrier.warp", 0, 0, NULL);
    if (copies_in(f))
        use_by_copy(f, g, tile);
    else
        move("ld.global.b32", at(g->r, n(0)), at(g->y, from));
    move("st.global.b32", at(g->y, add(&m, from, n(USED))), at(g->r, n(0)));
}

/* --------------------------------------------------------------------- grids
 */

static void
begin_grid(const flow *f, things *g)
{
    g->r = one_cta("sm_90a", WIDE, 1, 2 * TILES, &g->x, &g->y);
    g->ready = param(&m, "ready", AXE_TYPE_i64, AXE_DIR_INOUT, 1, TILES);
    g->word = array(&m, "word", AXE_TYPE_i64, 1);
    g->tile = buffer(&m, "tile", AXE_TYPE_f32, WIDE, 0);
    g->bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    m.grid.persistent = f->persistent;
    if (!copies_in(f))
        return;
    g->phase = new_var(&m, AXE_VAR_LOOP, "phase");
    emit(&m, AXE_LIR_COUNT)->var = g->phase;
    begin_if(&m, first_thread());
    atom(&m, "mbarrier.init", 0, 2,
         (axe_arg[]){at(g->bar, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    barrier();
}

/* Piece `piece` of the work: those that make come first, or those that use. */
static void
do_piece(const flow *f, const things *g, node piece)
{
    node made_by = less(&m, piece, TILES);
    node tile = rem(&m, piece, TILES);

    begin_if(&m, f->backward ? axe_node1(cx, AXE_OP_not, made_by) : made_by);
    make_tile(f, g, tile);
    end(&m);
    begin_if(&m, f->backward ? made_by : axe_node1(cx, AXE_OP_not, made_by));
    use_tile(f, g, tile);
    end(&m);
}

static void
make_flow(flow f)
{
    things   g = {0};
    node     block;
    axe_lir *l;

    begin_grid(&f, &g);
    block = id(&m, AXE_ID_BLOCK);
    if (!f.persistent) {
        do_piece(&f, &g, block);
        return;
    }
    const axe_var *at_piece = new_var(&m, AXE_VAR_LOOP, "piece");
    emit(&m, AXE_LIR_COUNT)->var = at_piece;
    l = emit(&m, AXE_LIR_SET);
    l->var = at_piece;
    l->value = block;
    l = emit(&m, AXE_LIR_FOREVER);
    m.open[m.n_open++] = &l->body;
    begin_if(&m,
             axe_node1(cx, AXE_OP_not, less(&m, var(&m, at_piece), 2 * TILES)));
    emit(&m, AXE_LIR_BREAK);
    end(&m);
    do_piece(&f, &g, var(&m, at_piece));
    l = emit(&m, AXE_LIR_SET);
    l->var = at_piece;
    l->value = add(&m, var(&m, at_piece), id(&m, AXE_ID_N_BLOCK));
    end(&m);
}

/* -------------------------------------------------------------------- tests */

static const int sms[] = {1, 2, 3, 100};

/* All orders, however many CTAs there is place for. */
static void
run_all_clean(flow f)
{
    for (int k = 0; k < AXE_LEN(sms); k++)
        for (int i = 0; take_order(i); i++) {
            set_up(NULL);
            make_flow(f);
            (void)take_order(i);
            with.n_sm = sms[k];
            run_clean();
            for (int e = 0; e < TILES * WIDE; e++)
                assert_true(y[e] == (float)e && y[e + USED] == (float)e);
            assert_int_equal(r.n_together,
                             sms[k] < 2 * TILES ? sms[k] : 2 * TILES);
            tear_down(NULL);
        }
}

/* Found whoever runs first, if only all may run. */
static void
run_all_wrong(flow f, axe_sim_kind kind, const char *words)
{
    for (int k = 0; k < AXE_LEN(sms); k++)
        for (int i = 0; take_order(i); i++) {
            set_up(NULL);
            make_flow(f);
            (void)take_order(i);
            with.n_sm = sms[k];
            run_wrong(kind, words);
            tear_down(NULL);
        }
}

static void
test_clean(void **state)
{
    (void)state;
    for (int by = BY_THREADS; by <= BY_COPY_IN; by++)
        for (int persistent = 0; persistent < 2; persistent++)
            run_all_clean((flow){.way = (way)by, .persistent = persistent});
    run_all_clean((flow){.way = BY_COPY_IN, .fence_of_users = true});
    run_all_clean((flow){.way = BY_COPIES, .fence_of_users = true});
    run_all_clean((flow){.halves = true});
}

/* What lacks something is found by whichever order it runs in. */
static void
test_faults(void **state)
{
    static const struct {
        flow         flow;
        axe_sim_kind kind;
        const char  *words;
    } rows[] = {
        {{.fault = UNMET}, AXE_SIM_RACE, "no barrier, wait or drain"},
        {{.fault = HALF_MET}, AXE_SIM_RACE, "no barrier, wait or drain"},
        {{.fault = WRONG}, AXE_SIM_RACE, "no barrier, wait or drain"},
        {{.fault = NO_WAIT}, AXE_SIM_RACE, "no barrier, wait or drain"},
        {{.fault = ALONE}, AXE_SIM_RACE, "no barrier, wait or drain"},
        {{.fault = TOO_FEW, .halves = true}, AXE_SIM_RACE, "which warp"},
        {{.fault = STORED}, AXE_SIM_RACE, "of ready"},
        {{.way = BY_COPY_OUT, .fault = NO_DRAIN}, AXE_SIM_RACE, "group bulk"},
        {{.way = BY_COPY_OUT, .fault = READ_ONLY}, AXE_SIM_RACE, "group bulk"},
        {{.way = BY_COPY_IN, .fault = NO_FENCE}, AXE_SIM_PROXY, "of Y, which"},
        {{.way = BY_COPY_IN, .fault = ELSEWHERE}, AXE_SIM_PROXY, "of Y, which"},
        {{.way = BY_COPY_IN, .fault = ELSEWHERE, .fence_of_users = true},
         AXE_SIM_PROXY,
         "of Y, which"},
        {{.way = BY_COPIES, .fault = NO_FENCE}, AXE_SIM_PROXY, "of Y, which"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++)
        run_all_wrong(rows[i].flow, rows[i].kind, rows[i].words);
}

/* Users are before makers: that ends where there is place for one of these. */
static void
test_deadlock(void **state)
{
    (void)state;
    for (int i = 0; take_order(i); i++)
        for (int sm = 1; sm <= 2 * TILES; sm++) {
            set_up(NULL);
            make_flow((flow){.backward = true});
            (void)take_order(i);
            with.n_sm = sm;
            if (sm > TILES) {
                run_clean();
            } else {
                run_wrong(AXE_SIM_DEADLOCK,
                          "warp 0 of block 0 waits until element 0 of ready is "
                          "1 or more, which is 0");
                run_wrong(AXE_SIM_DEADLOCK,
                          axe_textf(cx, "blocks from %d on do not begin", sm));
            }
            tear_down(NULL);
        }
    set_up(NULL);
    make_flow((flow){.backward = true, .persistent = true});
    with.n_sm = 1;
    run_wrong(AXE_SIM_DEADLOCK, "waits until element 0 of ready");
    tear_down(NULL);
}

/* What a launch before has left is no count of this one. */
static void
test_not_zeroed(void **state)
{
    (void)state;
    make_flow((flow){.fault = NONE});
    for (int i = 0; i < TILES; i++)
        counts[i] = 1;
    run_wrong(AXE_SIM_RACE, "of Y, which");
    make_flow((flow){.fault = NONE});
    for (int i = 0; i < TILES; i++)
        counts[i] = 7;
    run_wrong(AXE_SIM_RACE, "of Y, which");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_deadlock),
        TEST(not_zeroed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
