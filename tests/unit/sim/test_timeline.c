/* test_timeline.c - when things happen: small grids whose times are worked out
 * by hand from sm_80's rates, and what holds of all timelines.
 *
 * sm_80: a launch takes 3 us at 1.41 GHz, 4230 cycles, or at 1.16 where tensor
 * cores work, 3480.  An SM gets 47.4 bytes a cycle out of L2, 210 cycles after
 * it asked; shared memory answers after 30. */
#include "sim_check.h"

/* What a row does, from the begin of its launch. */
static const char *
row_text(const axe_timeline *t, int sm, axe_timeline_row_kind kind, int first)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < t->n_row; i++) {
        const axe_timeline_row *w = &t->row[i];
        if (w->sm != sm || w->kind != kind || w->first != first)
            continue;
        for (int64_t k = 0; k < w->n; k++)
            axe_putf(
                &b, "%s%s %lld-%lld", b.len > 0 ? ", " : "",
                kind == AXE_ROW_BLOCK
                    ? axe_textf(cx, "block %lld", (long long)w->span[k].what)
                    : axe_work_name((axe_timeline_work)w->span[k].what),
                (long long)(w->span[k].begin - t->launch[0].begin),
                (long long)(w->span[k].end - t->launch[0].begin));
    }
    return b.len > 0 ? b.text : "nothing";
}

static void
expect(int sm, axe_timeline_row_kind kind, int first, const char *want)
{
    const char *got = row_text(r.timeline, sm, kind, first);

    if (strcmp(got, want) != 0)
        fail_msg("SM %d, row %d of warp %d\n  does  %s\n  not   %s", sm, kind,
                 first, got, want);
}

static void
run_timed(void)
{
    with.timeline = true;
    run_clean();
    if (!r.timeline)
        fail_msg("there is no timeline");
}

/* Blocks of so many threads that copy 16 bytes each. */
static void
load_and_store(int threads, int blocks)
{
    const axe_tensor *px, *py, *reg;
    node              from;

    reg = one_cta("sm_80", threads, 1, blocks, &px, &py);
    from = add(&m, mul(&m, id(&m, AXE_ID_BLOCK), threads), thread(&m));
    from = rem(&m, mul(&m, from, 4), AXE_LEN(x));
    move("ld.global.b128", at(reg, n(0)), at(px, from));
    begin_if(&m, less(&m, id(&m, AXE_ID_BLOCK), AXE_LEN(x) / 4 / threads));
    move("st.global.b128", at(py, from), at(reg, n(0)));
    end(&m);
}

/* 32 lanes load 16 bytes each: 4.25 cycles of the unit, 512 bytes are 10.8 of
 * the way to L2, and 210 later they are there, at 225.05.  128 additions of 64
 * lanes a cycle are 2 of an SM, 8 of one of its schedulers.  The way to L2 has
 * what was stored at 248.1. */
static void
test_one_warp(void **state)
{
    const axe_tensor *px, *py, *reg;
    node              from;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    from = mul(&m, lane(), 4);
    move("ld.global.b128", at(reg, n(0)), at(px, from));
    for (int i = 0; i < 4; i++)
        calc(&m, reg, n(i),
             op2(&m, AXE_OP_add, element(&m, reg, n(i)),
                 element(&m, reg, n(i))));
    move("st.global.b128", at(py, from), at(reg, n(0)));
    run_timed();
    assert_true(y[9] == 18);
    expect(0, AXE_ROW_WARPS, 0,
           "loads 0-4, memory 4-225, arithmetic 225-233, stores 233-237");
    expect(0, AXE_ROW_BLOCK, 0, "block 0 0-237");
    assert_int_equal(r.timeline->launch[0].begin, 4230);
    assert_int_equal(r.timeline->launch[0].end, 4230 + 248);
    assert_int_equal(r.timeline->cycles, 4230 + 248);
    assert_int_equal(r.timeline->launch[0].l2_bytes, 1024);
    assert_int_equal(r.timeline->launch[0].memory_bytes, 0);
}

/* The others come to the barrier at once, which costs 20, and wait for warp 0,
 * which has added 64 times, 2 cycles each. */
static void
test_barrier(void **state)
{
    const axe_tensor *px, *py, *reg;

    (void)state;
    reg = one_cta("sm_80", 192, 1, 1, &px, &py);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    calc(&m, reg, n(0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 1));
    (void)begin_for(&m, "i", n(0), n(64));
    calc(&m, reg, n(0),
         op2(&m, AXE_OP_add, element(&m, reg, n(0)), element(&m, reg, n(0))));
    end(&m);
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    run_timed();
    expect(0, AXE_ROW_WARPS, 0, "arithmetic 0-128, order 128-148");
    expect(0, AXE_ROW_WARPS, 4, "order 0-20, threads 20-148");
    assert_int_equal(r.timeline->launch[0].end, 4230 + 148);
}

/* The second CTA that an SM holds waits for the unit that loads, and for the
 * way to L2. */
static void
test_one_sm(void **state)
{
    (void)state;
    load_and_store(32, 2);
    with.n_sm = 1;
    run_timed();
    expect(0, AXE_ROW_WARPS, 0,
           "loads 0-4, memory 4-225, stores 225-229, a unit's turn 0-4, "
           "loads 4-8, memory 8-235, stores 235-240");
    assert_int_equal(r.timeline->n_row, 4);
    with.n_sm = 2;
    load_and_store(32, 2);
    run_timed();
    for (int sm = 0; sm < 2; sm++)
        expect(sm, AXE_ROW_WARPS, 0, "loads 0-4, memory 4-225, stores 225-229");
}

/* An SM holds 2048 threads: the third CTA begins when one has ended.  32 warps
 * load for 136 cycles, and their bytes come by 350 + 210.  Behind the second's
 * loads, until 272, there are 5 stores of the first, then the third's loads. */
static void
test_third_block(void **state)
{
    (void)state;
    load_and_store(1024, 3);
    with.n_sm = 1;
    run_timed();
    assert_int_equal(r.timeline->n_row, 2 * (1 + 8));
    expect(0, AXE_ROW_BLOCK, 0,
           "block 0 0-564, block 1 0-272, block 2 272-429");
}

/* An engine moves 512 bytes, from 4.25 to 15.05; the warp waits until they have
 * come, and reads them 30 later. */
static void
test_copy(void **state)
{
    const axe_tensor *px, *py, *reg, *tile;
    node              from = NULL;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
    from = mul(&m, lane(), 4);
    move("cp.async.b128", at(tile, from), at(px, from));
    atom(&m, "cp.commit", 0, 0, NULL);
    atom(&m, "cp.drain", 0, 1, (axe_arg[]){integer(n(0))});
    move("ld.shared.b128", at(reg, n(0)), at(tile, from));
    move("st.global.b128", at(py, from), at(reg, n(0)));
    run_timed();
    expect(0, AXE_ROW_COPY, 0, "loads 4-15");
    expect(0, AXE_ROW_WARPS, 0,
           "loads 0-4, order 4-6, its atoms 6-225, exchange 225-229, memory "
           "229-259, stores 259-263");
}

/* Products of a warp take 2 cycles of an SM, 8 of the warp's part of it: warps
 * 0 and 4 share one. */
static void
test_products(void **state)
{
    const axe_tensor *px, *py, *a, *b, *c;

    (void)state;
    (void)one_cta("sm_80", 160, 1, 1, &px, &py);
    a = array(&m, "a", AXE_TYPE_f16, 8);
    b = array(&m, "b", AXE_TYPE_f16, 4);
    c = array(&m, "c", AXE_TYPE_f32, 4);
    for (int i = 0; i < 8; i++)
        calc(&m, a, n(i), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f16, 1));
    for (int i = 0; i < 4; i++) {
        calc(&m, b, n(i), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f16, 1));
        calc(&m, c, n(i), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
    }
    atom(&m, "mma.m16n8k16.f32.f16", 0, 3,
         (axe_arg[]){at(c, n(0)), at(a, n(0)), at(b, n(0))});
    run_timed();
    expect(0, AXE_ROW_WARPS, 0, "products 0-8");
    expect(0, AXE_ROW_WARPS, 4, "a unit's turn 0-8, products 8-16");
    assert_int_equal(r.timeline->launch[0].begin, 3480);
}

/* A copy that arrives at an mbarrier, for which two warps wait: 1.755 GHz, 5265
 * cycles of a launch, 46.6 bytes a cycle, 300 from L2. */
static void
test_mbarrier(void **state)
{
    const axe_tensor *px, *py, *reg, *tile, *bar;

    (void)state;
    reg = one_cta("sm_90a", 64, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    begin_if(&m, is(&m, thread(&m), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(32))});
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    move("cp.async.b128", at(tile, mul(&m, lane(), 4)),
         at(px, mul(&m, lane(), 4)));
    atom(&m, "mbarrier.arrive.cp", 0, 1, (axe_arg[]){at(bar, n(0))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    move("ld.shared.b32", at(reg, n(0)), at(tile, thread(&m)));
    move("st.global.b32", at(py, thread(&m)), at(reg, n(0)));
    run_timed();
    expect(0, AXE_ROW_COPY, 0, "loads 34-45");
    expect(0, AXE_ROW_WARPS, 0,
           "order 0-30, loads 30-34, order 34-64, mbarriers 64-345, exchange "
           "345-347, memory 347-376, stores 376-379");
    assert_int_equal(r.timeline->launch[0].begin, 5265);
}

/* Block 0 adds 512 times, 2 cycles each, and counts, which costs 20 and a cycle
 * of the unit; 32 bytes later and 210 after that block 1 may see it, whose
 * first look takes 700. */
static void
test_counter(void **state)
{
    const axe_tensor *reg, *ready;

    (void)state;
    make(&m, cx, "sm_80", 32, 1, 2);
    (void)param(&m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, AXE_LEN(x));
    ready = param(&m, "ready", AXE_TYPE_i64, AXE_DIR_INOUT, 1, 4);
    reg = array(&m, "r", AXE_TYPE_f32, 1);
    memset(y, 0, sizeof y);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 0));
    calc(&m, reg, n(0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 1));
    (void)begin_for(&m, "i", n(0), n(512));
    calc(&m, reg, n(0),
         op2(&m, AXE_OP_add, element(&m, reg, n(0)), element(&m, reg, n(0))));
    end(&m);
    begin_if(&m, is(&m, thread(&m), 0));
    atom(&m, "counter.count", 0, 1, (axe_arg[]){at(ready, n(2))});
    end(&m);
    end(&m);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 1));
    atom(&m, "counter.reach", 0, 2,
         (axe_arg[]){at(ready, n(2)), integer(n(1))});
    end(&m);
    run_timed();
    expect(0, AXE_ROW_WARPS, 0,
           "arithmetic 0-1024, order 1024-1044, stores 1044-1045");
    expect(1, AXE_ROW_WARPS, 0, "order 0-700, counters 700-1255");
}

/* ------------------------------------------------------- with and without */

/* Nothing that is found, and no result, depends on whether anybody asks. */
static void
test_same(void **state)
{
    const char *text[2];
    float       kept[AXE_LEN(y)];

    (void)state;
    for (int k = 0; k < 3; k++) {
        with.policy = (axe_sim_policy)k;
        for (int timed = 0; timed < 2; timed++) {
            with.timeline = timed;
            load_and_store(64, 40);
            if (simulate() != AXE_OK)
                fail_msg("%s", axe_last_error(cx));
            assert_true(!timed == !r.timeline);
            r.timeline = NULL;
            text[timed] = said();
            if (timed)
                assert_memory_equal(kept, y, sizeof y);
            memcpy(kept, y, sizeof y);
        }
        assert_string_equal(text[0], text[1]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_warp),    TEST(barrier), TEST(one_sm),
        TEST(third_block), TEST(copy),    TEST(products),
        TEST(mbarrier),    TEST(counter), TEST(same)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
