/* test_sim_take.c - CTAs of a launch that take others which have not begun: a
 * grid by hand.  A CTA is a warp; there are two barriers in an iteration, so
 * one room for answers will do. */
#include "sim_check.h"

enum { TILES = 23 };

typedef struct take {
    int         cluster;
    int64_t     room;   /* [words] where answers come to */
    bool        insist; /* it asks again where there was nothing left */
    bool        waits;  /* for nothing, but so that clusters run together */
    const char *atom;   /* by which it asks */
} take;

typedef struct things {
    const axe_tensor *x, *y, *r, *got, *answer, *full;
    const axe_var    *block, *phase;
} things;

static void
set(const axe_var *v, node value)
{
    axe_lir *l = emit(&m, AXE_LIR_SET);

    l->var = v;
    l->value = value;
}

static void
barrier_all(const take *t)
{
    atom(&m, t->cluster > 1 ? "barrier.cluster" : "barrier.cta", 0, 0, NULL);
}

static void
begin_grid(const take *t, things *g)
{
    g->r = one_cta("sm_100a", 32, t->cluster, TILES * t->cluster, &g->x, &g->y);
    g->got = array(&m, "got", AXE_TYPE_i32, 1);
    g->answer = buffer(&m, "answer", AXE_TYPE_i32, 8, 0);
    g->full = buffer(&m, "full", AXE_TYPE_i64, 1, 0);
    g->block = new_var(&m, AXE_VAR_LOOP, "at");
    g->phase = new_var(&m, AXE_VAR_LOOP, "phase");
    emit(&m, AXE_LIR_COUNT)->var = g->block;
    emit(&m, AXE_LIR_COUNT)->var = g->phase;
    set(g->block, id(&m, AXE_ID_BLOCK));
    if (t->waits)
        atom(
            &m, "counter.reach", 0, 2,
            (axe_arg[]){
                at(param(&m, "ready", AXE_TYPE_i64, AXE_DIR_INOUT, 1, 1), n(0)),
                integer(n(0))});
    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "mbarrier.init", 0, 2,
         (axe_arg[]){at(g->full, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    barrier_all(t);
}

static void
ask(const take *t, const things *g)
{
    axe_arg arg[2] = {at(g->answer, n(t->room)), at(g->full, n(0))};

    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(g->full, n(0)), integer(n(16))});
    begin_if(&m, is(&m, id(&m, AXE_ID_RANK), 0));
    arg[0].space = arg[1].space =
        t->cluster > 1 ? AXE_ARG_DSMEM : AXE_ARG_SHARED;
    atom(&m, t->atom, 0, 2, arg);
    end(&m);
    end(&m);
}

/* y[b] = x[b] for every CTA b of the launch. */
static void
take_all(take t)
{
    things g;
    node   got;

    if (!t.atom)
        t.atom = t.cluster > 1 ? "clc.take.multicast" : "clc.take";
    begin_grid(&t, &g);
    axe_lir *l = emit(&m, AXE_LIR_FOREVER);
    m.open[m.n_open++] = &l->body;
    ask(&t, &g);
    begin_if(&m, is(&m, lane(), 0));
    move("ld.global.b32", at(g.r, n(0)), at(g.x, var(&m, g.block)));
    move("st.global.b32", at(g.y, var(&m, g.block)), at(g.r, n(0)));
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g.full, n(0)), integer(var(&m, g.phase))});
    move("clc.taken", at(g.got, n(0)), at(g.answer, n(t.room)));
    atom(&m, "tx.fence.shared", 0, 0, NULL);
    barrier_all(&t);
    set(g.phase, op2(&m, AXE_OP_sub, n(1), var(&m, g.phase)));
    got = axe_cast(cx, AXE_NOWHERE, AXE_TYPE_INDEX, element(&m, g.got, n(0)));
    begin_if(&m, less(&m, got, 0));
    if (t.insist)
        ask(&t, &g);
    emit(&m, AXE_LIR_BREAK);
    end(&m);
    set(g.block, add(&m, got, id(&m, AXE_ID_RANK)));
    end(&m);
}

static int64_t
count_of(const char *name)
{
    for (int i = 0; i < r.n_count; i++)
        if (strcmp(r.count[i].name, name) == 0)
            return r.count[i].n;
    return -1;
}

/* Each once, whoever does it: all by the first who ask, or one each, or by
 * chance. */
static void
test_each_once(void **state)
{
    static const int clusters[] = {1, 2, 4};

    (void)state;
    for (int c = 0; c < AXE_LEN(clusters); c++)
        for (int i = 0; i < 12; i++) {
            int64_t all = TILES * clusters[c];
            set_up(NULL);
            take_all((take){.cluster = clusters[c]});
            with = (axe_sim_options){.policy = i < 2 ? (axe_sim_policy)i
                                                     : AXE_SIM_RANDOM,
                                     .seed = (uint64_t)i,
                                     .n_sm = 3 * clusters[c]};
            run_clean();
            for (int k = 0; k < AXE_LEN(y); k++)
                assert_true(y[k] == (k < all ? x[k] : -1));
            assert_int_equal(count_of("st.global.b32"), all);
            assert_int_equal(count_of("clc.taken"), all);
            if (i == AXE_SIM_LAZY)
                assert_int_equal(r.n_block, 3 * clusters[c]);
            if (i == AXE_SIM_EAGER)
                assert_int_equal(r.n_block, 13 * clusters[c]);
            tear_down(NULL);
        }
}

/* Likewise, where those that have begun run at the same time. */
static void
test_together(void **state)
{
    const axe_sim_options first = {.n_sm = 6};

    (void)state;
    for (int cluster = 1; cluster <= 2; cluster++)
        for (int i = 0; axe_sim_order(&first, 3, 6, i, &with); i++) {
            const axe_sim_options now = with;
            set_up(NULL);
            take_all((take){.cluster = cluster, .waits = true});
            with = now;
            run_clean();
            for (int k = 0; k < TILES * cluster; k++)
                assert_true(y[k] == x[k]);
            assert_int_equal(count_of("st.global.b32"), TILES * cluster);
            assert_int_equal(r.n_together, 6 / cluster);
            tear_down(NULL);
        }
}

/* Nothing waits: every cluster is refused at once. */
static void
test_all_fit(void **state)
{
    (void)state;
    take_all((take){.cluster = 1});
    with.n_sm = 100;
    run_clean();
    assert_int_equal(r.n_block, TILES);
    assert_int_equal(count_of("clc.take"), TILES);
}

static void
test_asks_again(void **state)
{
    (void)state;
    take_all((take){.cluster = 1, .insist = true});
    run_wrong(AXE_SIM_LAUNCH, "warp 0 of block 0 asks for more, after its "
                              "block has read that there is nothing left");
}

static void
test_misaligned(void **state)
{
    (void)state;
    take_all((take){.cluster = 1, .room = 2});
    run_wrong(AXE_SIM_ALIGN, "16 bytes at byte 8 of answer");
}

static void
test_outside(void **state)
{
    (void)state;
    take_all((take){.cluster = 1, .room = 8});
    run_wrong(AXE_SIM_BOUNDS, "of answer, which has 8");
}

/* Told in the first CTA alone: the second one waits for ever. */
static void
test_not_told(void **state)
{
    (void)state;
    take_all((take){.cluster = 2, .atom = "clc.take"});
    run_wrong(AXE_SIM_BYTES, "full[0] of block 1");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_together),
        TEST(all_fit),
        TEST(asks_again),
        TEST(misaligned),
        TEST(outside),
        TEST(not_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
