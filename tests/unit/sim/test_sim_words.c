/* test_sim_words.c - the words that CTAs of a launch wait by: what counting,
 * putting and waiting orders, lane by lane, and what it does not. */
#include "sim_counters.h"

enum { GATE = 12345 };

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_again),
        TEST(words),
        TEST(lanes),
        TEST(leasts),
        TEST(own_words),
        TEST(put_over),
        TEST(accesses),
        TEST(nobody_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
