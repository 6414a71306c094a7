/* test_sim_counter.c - CTAs of a launch that wait for one another by counters
 * in global memory: grids by hand.
 *
 * Tiles are made and used: whoever makes tile t writes WIDE numbers to y[t *
 * WIDE] and counts in ready[t], whoever uses it waits for that, reads them and
 * writes them again, USED further on. */
#include "sim_check.h"

enum { TILES = 5, WIDE = 64, USED = 1024, GATE = 12345 };

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

typedef struct things {
    const axe_tensor *x, *y, *r, *ready, *tile, *bar, *word;
    const axe_var    *phase;
} things;

static void
count(const things *g, node tile)
{
    atom(&m, "counter.count", 0, 1, (axe_arg[]){at(g->ready, tile)});
}

static void
reach(const things *g, node tile, node least)
{
    atom(&m, "counter.reach", 0, 2,
         (axe_arg[]){at(g->ready, tile), integer(least)});
}

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

/* Order i of those that all grids here run in, and one by chance and ahead. */
static bool
take_order(int i)
{
    const axe_sim_options first = {.seed = 1};

    with = (axe_sim_options){AXE_SIM_RANDOM, .turns = AXE_SIM_AHEAD, .who = 6};
    return i == 0 || axe_sim_order(&first, 3, 2 * TILES, i - 1, &with);
}

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

/* Counters of this dir, and counts to begin with, in a grid of one thread's. */
static void
make_counters(axe_dir dir, axe_type type, things *g)
{
    g->r = one_cta("sm_90a", 32, 1, 2, &g->x, &g->y);
    g->ready = param(&m, "ready", type, dir, 1, TILES);
    g->word = array(&m, "word", type, 1);
}

static void
test_words(void **state)
{
    things g = {0};

    (void)state;
    make_counters(AXE_DIR_OUT, AXE_TYPE_i64, &g);
    count(&g, n(2));
    run_wrong(AXE_SIM_UNINIT, "reads element 2 of ready, which nobody");
    make_counters(AXE_DIR_OUT, AXE_TYPE_i64, &g);
    reach(&g, n(1), n(0));
    run_wrong(AXE_SIM_UNINIT, "reads element 1 of ready, which nobody");
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    counts[3] = INT64_MAX - 1;
    count(&g, n(3));
    run_wrong(AXE_SIM_BOUNDS, "counts in element 3 of ready beyond 63 bits");
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    count(&g, n(TILES));
    run_wrong(AXE_SIM_BOUNDS, "of ready, which has 5");
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    reach(&g, n(-1), n(1));
    run_wrong(AXE_SIM_BOUNDS, "of ready, which has 5");
    make_counters(AXE_DIR_INOUT, AXE_TYPE_f64, &g);
    count(&g, n(0));
    assert_int_equal(simulate(), AXE_ESHAPE);
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i32, &g);
    reach(&g, n(0), n(0));
    assert_int_equal(simulate(), AXE_ESHAPE);
}

/* Who opens a gate has written, and who passes it reads: by a PUT, by a store
 * of which others are not told, or by nothing. */
static void
make_gate(const char *opens, axe_dir dir)
{
    things          g = {0};
    const axe_node *open = axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_i64, GATE);

    make_counters(dir, AXE_TYPE_i64, &g);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 0));
    calc(&m, g.r, n(0), f32_of(lane()));
    move("st.global.b32", at(g.y, lane()), at(g.r, n(0)));
    atom(&m, "barrier.warp", 0, 0, NULL);
    begin_if(&m, is(&m, lane(), 0));
    calc(&m, g.word, n(0), open);
    if (strcmp(opens, "counter.put") == 0)
        atom(&m, opens, 0, 2, (axe_arg[]){at(g.ready, n(2)), integer(n(GATE))});
    else if (opens[0])
        move(opens, at(g.ready, n(2)), at(g.word, n(0)));
    end(&m);
    end(&m);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 1));
    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "counter.same", 0, 2,
         (axe_arg[]){at(g.ready, n(2)), integer(n(GATE))});
    end(&m);
    atom(&m, "barrier.warp", 0, 0, NULL);
    move("ld.global.b32", at(g.r, n(0)), at(g.y, lane()));
    move("st.global.b32", at(g.y, add(&m, lane(), n(32))), at(g.r, n(0)));
    end(&m);
}

/* The word may hold anything before, which nobody need have written. */
static void
test_gate(void **state)
{
    static const int64_t before[] = {0, 7, GATE - 1, GATE + 1, -1};

    (void)state;
    for (int i = 0; i < 2 * AXE_LEN(before); i++)
        for (int o = 0; take_order(o); o++) {
            set_up(NULL);
            make_gate("counter.put", i % 2 ? AXE_DIR_OUT : AXE_DIR_INOUT);
            (void)take_order(o);
            with.n_sm = 2;
            counts[2] = before[i / 2];
            run_clean();
            assert_true(y[32] == 0 && y[63] == 31);
            assert_int_equal(counts[2], GATE);
            make_gate("st.global.b64", AXE_DIR_INOUT);
            counts[2] = before[i / 2];
            run_wrong(AXE_SIM_RACE, "of ready");
            make_gate("", AXE_DIR_INOUT);
            counts[2] = before[i / 2];
            run_wrong(AXE_SIM_DEADLOCK, "until element 2 of ready is 12345");
            tear_down(NULL);
        }
}

/* All lanes of two blocks count; how many do is `least`. */
static void
test_lanes(void **state)
{
    things g = {0};
    node   to;

    (void)state;
    for (int least = 0; least <= 64; least += 32) {
        make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
        memset(counts, 0, sizeof counts);
        to = add(&m, mul(&m, id(&m, AXE_ID_BLOCK), 32), lane());
        calc(&m, g.r, n(0), f32_of(to));
        move("st.global.b32", at(g.y, to), at(g.r, n(0)));
        count(&g, n(1));
        reach(&g, n(1), n(least));
        atom(&m, "barrier.warp", 0, 0, NULL);
        move("ld.global.b32", at(g.r, n(0)),
             at(g.y, add(&m, mul(&m, lane(), 2), id(&m, AXE_ID_BLOCK))));
        with.n_sm = 2;
        if (least == 64)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "of Y, which");
        assert_int_equal(counts[1], 64);
    }
}

/* Block `by` writes y[32 * by + lane] and its lanes meet. */
static void
write_row(const things *g, int by)
{
    calc(&m, g->r, n(0), f32_of(n(by)));
    move("st.global.b32", at(g->y, add(&m, lane(), n(32L * by))),
         at(g->r, n(0)));
    atom(&m, "barrier.warp", 0, 0, NULL);
}

static void
begin_block(int number)
{
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), number));
}

static void
by_lane_0(const things *g, void (*what)(const things *, node), node word)
{
    begin_if(&m, is(&m, lane(), 0));
    what(g, word);
    end(&m);
    atom(&m, "barrier.warp", 0, 0, NULL);
}

static void
reach_1(const things *g, node word)
{
    reach(g, word, n(1));
}

/* Lanes wait for one word until it is 1, or 2, which is more than their
 * neighbours wait for: two blocks have counted, and both have written. */
static void
test_leasts(void **state)
{
    things g = {0};

    (void)state;
    for (int most = 1; most <= 2; most++) {
        make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
        memset(counts, 0, sizeof counts);
        m.grid.blocks = n(3);
        for (int by = 0; by < 2; by++) {
            begin_block(by);
            write_row(&g, by);
            by_lane_0(&g, count, n(1));
            end(&m);
        }
        begin_block(2);
        reach(&g, n(1), add(&m, n(1), mul(&m, quot(&m, lane(), 16), most - 1)));
        atom(&m, "barrier.warp", 0, 0, NULL);
        for (int by = 0; by < 2; by++)
            move("ld.global.b32", at(g.r, n(by)),
                 at(g.y, add(&m, lane(), n(32L * by))));
        end(&m);
        with.n_sm = 3;
        if (most == 2)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "of Y, which");
    }
}

/* Two lanes of one warp each count in a word of their own, and what the first
 * has written is told by its word alone. */
static void
test_own_words(void **state)
{
    things g = {0};

    (void)state;
    for (int shift = 0; shift < 2; shift++) {
        make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
        memset(counts, 0, sizeof counts);
        begin_block(0);
        calc(&m, g.r, n(0), f32_of(lane()));
        begin_if(&m, is(&m, lane(), 0));
        move("st.global.b32", at(g.y, n(0)), at(g.r, n(0)));
        end(&m);
        begin_if(&m, less(&m, lane(), 2));
        count(&g, lane());
        end(&m);
        end(&m);
        begin_block(1);
        begin_if(&m, is(&m, lane(), 0));
        reach(&g, n(shift), n(1));
        move("ld.global.b32", at(g.r, n(0)), at(g.y, n(0)));
        end(&m);
        end(&m);
        with.n_sm = 2;
        if (shift == 0)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "of Y, which");
    }
}

/* What was told before a word was written again is over: block 0 made it 1, 1
 * makes it 0 by a PUT or a store, 2 makes it 1 again, which 3 waits for. */
static void
make_again(bool stored)
{
    things g = {0};

    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    memset(counts, 0, sizeof counts);
    m.grid.blocks = n(4);
    begin_block(0);
    by_lane_0(&g, count, n(0));
    end(&m);
    begin_block(1);
    by_lane_0(&g, reach_1, n(0));
    calc(&m, g.word, n(0), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_i64, n(0)));
    begin_if(&m, is(&m, lane(), 0));
    if (stored)
        move("st.global.b64", at(g.ready, n(0)), at(g.word, n(0)));
    else
        atom(&m, "counter.put", 0, 2,
             (axe_arg[]){at(g.ready, n(0)), integer(n(0))});
    count(&g, n(1));
    end(&m);
    end(&m);
    begin_block(2);
    by_lane_0(&g, reach_1, n(1));
    write_row(&g, 2);
    by_lane_0(&g, count, n(0));
    end(&m);
    begin_block(3);
    by_lane_0(&g, reach_1, n(1));
    by_lane_0(&g, reach_1, n(0));
    move("ld.global.b32", at(g.r, n(0)), at(g.y, add(&m, lane(), n(64))));
    end(&m);
}

static void
test_again(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int o = 0; take_order(o); o++) {
            set_up(NULL);
            make_again(i == 1);
            (void)take_order(o);
            with.n_sm = 4;
            run_clean();
            tear_down(NULL);
        }
}

/* Who finds the second of two words that nothing orders knows nothing of who
 * put the first. */
static void
test_put_over(void **state)
{
    things g = {0};

    (void)state;
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    m.grid.blocks = n(3);
    for (int by = 0; by < 2; by++) {
        begin_block(by);
        write_row(&g, by);
        begin_if(&m, is(&m, lane(), 0));
        atom(&m, "counter.put", 0, 2,
             (axe_arg[]){at(g.ready, n(0)), integer(n(8 + by))});
        end(&m);
        end(&m);
    }
    begin_block(2);
    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "counter.same", 0, 2,
         (axe_arg[]){at(g.ready, n(0)), integer(n(9))});
    move("ld.global.b32", at(g.r, n(0)), at(g.y, n(0)));
    end(&m);
    end(&m);
    with.n_sm = 3;
    run_wrong(AXE_SIM_RACE, "which warp 0 of block 0 writes");
}

/* A word that counts is read, written or added to: by whom nothing orders with
 * those that count and wait, or by who comes behind all of them. */
static void
test_accesses(void **state)
{
    enum { READ, WRITE, ADD };
    things g = {0};

    (void)state;
    for (int what = READ; what <= ADD; what++)
        for (int after = 0; after < 2; after++) {
            make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
            memset(counts, 0, sizeof counts);
            calc(&m, g.word, n(0),
                 axe_cast(cx, AXE_NOWHERE, AXE_TYPE_i64, n(0)));
            begin_if(&m, is(&m, lane(), 0));
            begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 0));
            count(&g, n(0));
            end(&m);
            begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 1));
            if (after)
                reach(&g, n(0), n(1));
            if (what == READ)
                move("ld.global.b64", at(g.word, n(0)), at(g.ready, n(0)));
            else
                move(what == WRITE ? "st.global.b64" : "red.global.add.i64",
                     at(g.ready, n(0)), at(g.word, n(0)));
            if (!after) /* somebody must wait */
                reach(&g, n(1), n(0));
            end(&m);
            end(&m);
            with.n_sm = 2;
            if (after || what == ADD)
                run_clean();
            else
                run_wrong(AXE_SIM_RACE, "of ready");
        }
}

/* Counts in a launch that nobody waits in: clusters run one after the other. */
static void
test_nobody_waits(void **state)
{
    things g = {0};

    (void)state;
    make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
    count(&g, n(4));
    run_clean();
    assert_int_equal(counts[4], 64);
    assert_int_equal(r.n_together, 0);
}

static void
test_orders(void **state)
{
    static const char *const text[] = {
        "0 0 0", "1 0 0", "0 1 0", "0 1 -1", "1 2 0", "1 2 -1",
        "0 1 1", "0 1 3", "0 1 6", "2 0 0",  "2 0 0", "2 0 0",
    };
    const axe_sim_options first = {.seed = 40, .n_sm = 3};
    axe_sim_options       o;
    int                   i = 0;

    (void)state;
    for (; axe_sim_order(&first, 3, 2 * TILES, i, &o); i++) {
        assert_in_range(i, 0, AXE_LEN(text) - 1);
        assert_string_equal(
            axe_textf(cx, "%d %d %d", (int)o.policy, (int)o.turns, (int)o.who),
            text[i]);
        assert_int_equal(o.n_sm, 3);
        if (o.policy == AXE_SIM_RANDOM)
            assert_int_equal(o.seed, 40 + 2 + i - 9);
    }
    assert_int_equal(i, AXE_LEN(text));
    for (i = 0; axe_sim_order(&first, 3, 1, i, &o); i++) {
        assert_int_equal(o.turns, AXE_SIM_EVEN);
        assert_int_equal(o.seed, 40 + i);
    }
    assert_int_equal(i, 5);
    for (i = 0; axe_sim_order(&first, 9, 4, i, &o); i++)
        ;
    assert_int_equal(i, 2 + 4 + 2 + 9);
}

/* Who writes last is who was kept back, or not ahead. */
static void
test_turns(void **state)
{
    enum { BLOCKS = 5 };
    things g = {0};

    (void)state;
    for (int turns = AXE_SIM_EVEN; turns <= AXE_SIM_AHEAD; turns++)
        for (int who = -1; who < 2 * BLOCKS; who++) {
            int number = (who + BLOCKS) % BLOCKS, last = BLOCKS - 1;
            make_counters(AXE_DIR_INOUT, AXE_TYPE_i64, &g);
            m.grid.blocks = n(BLOCKS);
            reach(&g, n(0), n(0));
            calc(&m, g.r, n(0), f32_of(id(&m, AXE_ID_BLOCK)));
            move("st.global.b32", at(g.y, lane()), at(g.r, n(0)));
            with = (axe_sim_options){
                .turns = (axe_sim_turns)turns, .who = who, .no_check = true};
            run_clean();
            if (turns == AXE_SIM_BEHIND)
                last = number;
            else if (turns == AXE_SIM_AHEAD && number == last)
                last--;
            assert_int_equal((int)y[0], last);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_again),
        TEST(not_zeroed),
        TEST(words),
        TEST(lanes),
        TEST(leasts),
        TEST(own_words),
        TEST(put_over),
        TEST(accesses),
        TEST(nobody_waits),
        TEST(orders),
        TEST(turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
