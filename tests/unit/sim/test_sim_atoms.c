/* test_sim_atoms.c - small grids, one for each thing that the simulator does:
 * control flow by lanes, values, every kind of atom. */
#include <math.h>

#include "ir/number.h"
#include "sim_check.h"

/* ------------------------------------------------------------ control flow */

/* Each lane counts to its number in its own way. */
static void
test_lanes(void **state)
{
    const axe_tensor *px, *py, *reg;
    const axe_var    *i, *count, *other;
    axe_lir          *l;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    (void)px;
    count = new_var(&m, AXE_VAR_LOOP, "count");
    l = emit(&m, AXE_LIR_COUNT);
    l->var = count;
    i = begin_for(&m, "i", n(0), lane());
    begin_if(&m, is(&m, rem(&m, var(&m, i), 3), 1));
    emit(&m, AXE_LIR_CONTINUE);
    end(&m);
    begin_if(&m, op2(&m, AXE_OP_lt, n(20), var(&m, i)));
    emit(&m, AXE_LIR_BREAK);
    end(&m);
    l = emit(&m, AXE_LIR_SET);
    l->var = count;
    l->value = add(&m, var(&m, count), n(1));
    end(&m);
    other = new_var(&m, AXE_VAR_LOOP, "other");
    l = emit(&m, AXE_LIR_COUNT);
    l->var = other;
    l = emit(&m, AXE_LIR_FOREVER);
    m.open[m.n_open++] = &l->body;
    begin_if(&m, op2(&m, AXE_OP_le, lane(), var(&m, other)));
    emit(&m, AXE_LIR_BREAK);
    end(&m);
    l = emit(&m, AXE_LIR_SET);
    l->var = other;
    l->value = add(&m, var(&m, other), n(10));
    end(&m);
    calc(&m, reg, n(0),
         f32_of(add(&m, var(&m, count), mul(&m, var(&m, other), 100))));
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    run_clean();
    for (int k = 0; k < 32; k++) {
        int want = 0;
        for (int j = 0; j < k; j++)
            want += j % 3 != 1 && j <= 20;
        assert_int_equal((int)y[k], want + (k + 9) / 10 * 1000);
    }
}

static void
test_turns(void **state)
{
    const axe_tensor *px, *py, *reg;
    const axe_var    *turns;
    axe_lir          *l, *branch;

    (void)state;
    reg = one_cta("sm_80", 64, 1, 1, &px, &py);
    turns = new_var(&m, AXE_VAR_LOOP, "turns");
    l = emit(&m, AXE_LIR_COUNT);
    l->var = turns;
    (void)begin_for(&m, "i", n(0), n(7));
    l = emit(&m, AXE_LIR_ADVANCE);
    l->var = turns;
    l->step = 3;
    end(&m);
    branch = emit(&m, AXE_LIR_IF);
    branch->value = less(&m, lane(), 9);
    m.open[m.n_open++] = &branch->body;
    calc(&m, reg, n(0), f32_of(var(&m, turns)));
    end(&m);
    m.open[m.n_open++] = &branch->other;
    calc(&m, reg, n(0), f32_of(id(&m, AXE_ID_WARP)));
    end(&m);
    move("st.global.b32", at(py, thread(&m)), at(reg, n(0)));
    run_clean();
    for (int k = 0; k < 64; k++)
        assert_int_equal((int)y[k], k % 32 < 9 ? 1 : k / 32);
}

static void
test_endless(void **state)
{
    const axe_tensor *px, *py;
    axe_lir          *l;

    (void)state;
    (void)one_cta("sm_80", 32, 1, 1, &px, &py);
    l = emit(&m, AXE_LIR_FOREVER);
    m.open[m.n_open++] = &l->body;
    atom(&m, "barrier.warp", 0, 0, NULL);
    end(&m);
    with.max_step = 10000;
    run_wrong(AXE_SIM_DEADLOCK, "do not end within");
}

/* ------------------------------------------------------------------ values */

static void
test_values(void **state)
{
    static const axe_type type[] = {AXE_TYPE_f16, AXE_TYPE_bf16,
                                    AXE_TYPE_f8e4m3, AXE_TYPE_f8e5m2,
                                    AXE_TYPE_tf32};
    const axe_tensor     *px, *py, *reg, *narrow;

    (void)state;
    for (int i = 0; i < AXE_LEN(x); i++)
        x[i] = i % 3 == 0   ? (float)(sin(i) * ldexp(1, i % 40 - 22))
               : i % 3 == 1 ? (float)(2049 + 2 * i)
                            : (float)(257 + 2 * i);
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    for (int t = 0; t < AXE_LEN(type); t++) {
        narrow = array(&m, "narrow", type[t], 1);
        node where = add(&m, lane(), n(t * 32));
        move("ld.global.b32", at(reg, n(0)), at(px, where));
        calc(&m, narrow, n(0),
             axe_cast(cx, AXE_NOWHERE, type[t], element(&m, reg, n(0))));
        calc(
            &m, reg, n(1),
            axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f32, element(&m, narrow, n(0))));
        move("st.global.b32", at(py, where), at(reg, n(1)));
    }
    run_clean();
    for (int i = 0; i < AXE_LEN(type) * 32; i++) {
        axe_float_format f;
        assert_true(axe_float_format_of(type[i / 32], &f));
        assert_true((double)y[i] == axe_float_round(&f, (double)x[i]));
    }
}

static void
begin_joined(axe_join how, int first)
{
    axe_lblock *b = m.open[m.n_open - 1];

    begin_for(&m, "e", n(first), n(8));
    b->item[b->n - 1]->step = 2;
    b->item[b->n - 1]->join = how;
}

/* A word is moved whole, whichever of its elements is named, and two that are
 * rounded together are computed before either is written. */
static void
test_joined(void **state)
{
    static const int  want[] = {0, 1, 1, 2, 2, 4, 4, 6};
    const axe_tensor *px, *py, *wide, *a, *b;
    node              e;

    (void)state;
    wide = one_cta("sm_80", 32, 1, 1, &px, &py);
    a = array(&m, "a", AXE_TYPE_f16, 8);
    b = array(&m, "b", AXE_TYPE_f16, 8);
    for (int k = 0; k < 8; k++)
        calc(&m, a, n(k), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, n(k)));
    begin_joined(AXE_JOIN_MOVE, 0);
    e = var(&m, m.open[0]->item[m.open[0]->n - 1]->var);
    calc(&m, b, e, element(&m, a, add(&m, e, n(1))));
    end(&m);
    begin_joined(AXE_JOIN_ROUND, 2);
    e = var(&m, m.open[0]->item[m.open[0]->n - 1]->var);
    calc(&m, a, e, element(&m, a, add(&m, e, n(-1))));
    end(&m);
    for (int k = 0; k < 16; k++) {
        calc(&m, wide, n(0),
             axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f32,
                      element(&m, k < 8 ? b : a, n(k % 8))));
        move("st.global.b32", at(py, add(&m, mul(&m, lane(), 16), n(k))),
             at(wide, n(0)));
    }
    run_clean();
    for (int k = 0; k < 512; k++)
        assert_int_equal((int)y[k], k % 16 < 8 ? k % 16 : want[k % 8]);
}

static void
test_functions(void **state)
{
    const axe_tensor *px, *py, *reg;
    node              a, b, v;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b32", at(reg, n(0)), at(px, add(&m, lane(), n(1))));
    a = element(&m, reg, n(0));
    b = axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 3);
    v = op2(&m, AXE_OP_div, a, b);
    v = op2(&m, AXE_OP_max, v, axe_node1(cx, AXE_OP_sqrt, a));
    v = op2(&m, AXE_OP_sub, v,
            axe_node1(cx, AXE_OP_exp, axe_node1(cx, AXE_OP_neg, a)));
    const axe_node *arg[3] = {
        op2(&m, AXE_OP_lt, a, axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 17)), v,
        a};
    calc(&m, reg, n(1),
         axe_node_new(cx, AXE_OP_select, AXE_TYPE_f32, AXE_NOWHERE, 3, arg));
    move("st.global.b32", at(py, lane()), at(reg, n(1)));
    run_clean();
    for (int i = 0; i < 32; i++) {
        float f = (float)(i + 1), q = f / 3, s = sqrtf(f);
        float w = (q > s ? q : s) - (float)exp(-(double)f);
        assert_true(fabsf(y[i] - (f < 17 ? w : f)) <= 1e-6f * fabsf(f));
    }
}

/* ------------------------------------------------------------------- moves */

static void
test_shuffles(void **state)
{
    const axe_tensor *px, *py, *reg;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b32", at(reg, n(0)), at(px, lane()));
    atom(&m, "shfl.bfly.b32", 4, 2, (axe_arg[]){at(reg, n(1)), at(reg, n(0))});
    atom(&m, "shfl.idx.b32", 0, 3,
         (axe_arg[]){at(reg, n(2)), at(reg, n(0)),
                     integer(op2(&m, AXE_OP_sub, n(31), lane()))});
    move("st.global.b32", at(py, lane()), at(reg, n(1)));
    move("st.global.b32", at(py, add(&m, lane(), n(32))), at(reg, n(2)));
    run_clean();
    for (int i = 0; i < 32; i++) {
        assert_int_equal((int)y[i], i ^ 4);
        assert_int_equal((int)y[i + 32], 31 - i);
    }
}

/* A matrix of 16 x 16 f16 by ldmatrix.x4, and back as it is or transposed. */
static void
matrices(const char *load, bool across)
{
    const axe_tensor *px, *py, *frag, *wide, *tile;
    node              row;

    make(&m, cx, "sm_90a", 32, 1, 1);
    px = param(&m, "X", AXE_TYPE_f16, AXE_DIR_IN, 16, 16);
    py = param(&m, "Y", AXE_TYPE_f16, AXE_DIR_OUT, 16, 16);
    frag = array(&m, "frag", AXE_TYPE_f16, 8);
    wide = array(&m, "wide", AXE_TYPE_f16, 8);
    tile = buffer(&m, "tile", AXE_TYPE_f16, 512, 32);
    row = mul(&m, lane(), 8);
    move("ld.global.b128", at(wide, n(0)), at(px, row));
    move("st.shared.b128", at(tile, row), at(wide, n(0)));
    atom(&m, "barrier.warp", 0, 0, NULL);
    row = add(&m, mul(&m, rem(&m, lane(), 16), 16),
              mul(&m, quot(&m, lane(), 16), 8));
    move(load, at(frag, n(0)), at(tile, row));
    move("stmatrix.x4", at(tile, add(&m, row, n(256))), at(frag, n(0)));
    atom(&m, "barrier.warp", 0, 0, NULL);
    row = mul(&m, lane(), 8);
    move("ld.shared.b128", at(wide, n(0)), at(tile, add(&m, row, n(256))));
    move("st.global.b128", at(py, row), at(wide, n(0)));
    run_clean();
    assert_int_equal(r.conflicts, 0);
    const uint16_t *from = (const uint16_t *)(const void *)x;
    const uint16_t *to = (const uint16_t *)(const void *)y;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            int ti = i / 8 * 8, tj = j / 8 * 8;
            assert_int_equal(to[i * 16 + j],
                             across ? from[(ti + j % 8) * 16 + tj + i % 8]
                                    : from[i * 16 + j]);
        }
}

static void
test_matrices(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(x); i++)
        memcpy(&x[i], &(uint16_t[2]){(uint16_t)(2 * i), (uint16_t)(2 * i + 1)},
               4);
    matrices("ldmatrix.x4", false);
    matrices("ldmatrix.x4.trans", true);
}

static void
test_predicates(void **state)
{
    const axe_tensor *px, *py, *reg;
    axe_lir          *l;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    l = move("ld.global.b32", at(reg, n(0)),
             at(px, add(&m, lane(), n(AXE_LEN(x) - 10))));
    l->pred = less(&m, lane(), 10);
    l = move("st.global.b32", at(py, lane()), at(reg, n(0)));
    l->pred = less(&m, lane(), 20);
    run_clean();
    for (int i = 0; i < 32; i++)
        assert_true(y[i] == (i < 10   ? x[AXE_LEN(x) - 10 + i]
                             : i < 20 ? 0
                                      : -1));
}

static void
test_atomics(void **state)
{
    const axe_tensor *py, *px, *reg;

    (void)state;
    make(&m, cx, "sm_90a", 64, 1, 5);
    px = param(&m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, AXE_LEN(x));
    py = param(&m, "Y", AXE_TYPE_f32, AXE_DIR_INOUT, 1, AXE_LEN(y));
    reg = array(&m, "r", AXE_TYPE_f32, 1);
    move("ld.global.b32", at(reg, n(0)), at(px, lane()));
    move("red.global.add.f32", at(py, rem(&m, lane(), 2)), at(reg, n(0)));
    run_clean();
    assert_int_equal((int)y[0], 10 * 240 - 1);
    assert_int_equal((int)y[1], 10 * 256 - 1);
    atom(&m, "barrier.warp", 0, 0, NULL);
    move("ld.global.b32", at(reg, n(0)), at(py, lane()));
    run_wrong(AXE_SIM_RACE, "other block has written");
}

/* Blocks of a cluster exchange a row of shared memory. */
static void
make_exchange(bool barrier, bool stays)
{
    const axe_tensor *px, *py, *reg, *tile;
    axe_arg           far;
    node              rank;

    reg = one_cta("sm_90a", 32, 2, 2, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
    rank = id(&m, AXE_ID_RANK);
    move("ld.global.b32", at(reg, n(0)),
         at(px, add(&m, mul(&m, rank, 32), lane())));
    move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
    if (barrier)
        atom(&m, "barrier.cluster", 0, 0, NULL);
    far = at(tile, lane());
    far.space = AXE_ARG_DSMEM;
    far.cta = op2(&m, AXE_OP_sub, n(1), rank);
    move("ld.cluster.b32", at(reg, n(1)), far);
    move("st.global.b32", at(py, add(&m, mul(&m, rank, 32), lane())),
         at(reg, n(1)));
    if (stays)
        atom(&m, "barrier.cluster", 0, 0, NULL);
}

static void
test_exchange(void **state)
{
    (void)state;
    make_exchange(true, true);
    run_clean();
    for (int i = 0; i < 64; i++)
        assert_int_equal((int)y[i], i ^ 32);
    make_exchange(false, true);
    run_wrong(AXE_SIM_RACE, "tile in block");
    make_exchange(true, false);
    run_wrong(AXE_SIM_LEFT, "may have ended");
}

/* A row by cp.async, which arrives at an mbarrier when it is there. */
static void
test_arrival(void **state)
{
    const axe_tensor *px, *py, *reg, *tile, *bar;

    (void)state;
    for (int fault = 0; fault < 2; fault++) {
        reg = one_cta("sm_90a", 64, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
        bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
        begin_if(&m, is(&m, thread(&m), 0));
        atom(&m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(32))});
        end(&m);
        atom(&m, "barrier.cta", 0, 0, NULL);
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
        move("cp.async.b128", at(tile, mul(&m, lane(), 4)),
             at(px, mul(&m, lane(), 4)));
        atom(&m, "mbarrier.arrive.cp", 0, 1, (axe_arg[]){at(bar, n(0))});
        end(&m);
        if (fault == 0)
            atom(&m, "mbarrier.wait", 0, 2,
                 (axe_arg[]){at(bar, n(0)), integer(n(0))});
        move("ld.shared.b32", at(reg, n(0)), at(tile, thread(&m)));
        move("st.global.b32", at(py, thread(&m)), at(reg, n(0)));
        if (fault == 0)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "group cp");
    }
    with.policy = AXE_SIM_EAGER;
    run_wrong(AXE_SIM_RACE, "group cp");
}

/* The engine's arrival orders what it copied, and nothing of what the thread
 * stored itself: for that the thread arrives, too. */
static void
test_arrival_of_stores(void **state)
{
    const axe_tensor *px, *py, *reg, *tile, *bar;

    (void)state;
    for (int fault = 0; fault < 2; fault++) {
        reg = one_cta("sm_90a", 64, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
        bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
        begin_if(&m, is(&m, thread(&m), 0));
        atom(&m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(fault ? 32 : 64))});
        end(&m);
        atom(&m, "barrier.cta", 0, 0, NULL);
        move("ld.global.b32", at(reg, n(0)), at(px, thread(&m)));
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
        move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        move("st.shared.b32", at(tile, add(&m, lane(), n(32))), at(reg, n(0)));
        atom(&m, "mbarrier.arrive.cp", 0, 1, (axe_arg[]){at(bar, n(0))});
        if (fault == 0)
            atom(&m, "mbarrier.arrive", 0, 1, (axe_arg[]){at(bar, n(0))});
        end(&m);
        atom(&m, "mbarrier.wait", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(0))});
        move("ld.shared.b32", at(reg, n(0)), at(tile, thread(&m)));
        move("st.global.b32", at(py, thread(&m)), at(reg, n(0)));
        if (fault == 0)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "tile");
    }
}

/* Rows of 1-D copies: in, to the other CTA, out; nobody leaves too early. */
static void
test_bulk(void **state)
{
    const axe_tensor *px, *py, *tile, *got, *bar;
    axe_arg           to, at_bar;
    node              rank, other;

    (void)state;
    (void)one_cta("sm_90a", 32, 2, 2, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 64, 0);
    got = buffer(&m, "got", AXE_TYPE_f32, 64, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 2, 0);
    rank = id(&m, AXE_ID_RANK);
    other = op2(&m, AXE_OP_sub, n(1), rank);
    begin_if(&m, is(&m, lane(), 0));
    for (int i = 0; i < 2; i++)
        atom(&m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(bar, n(i)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    end(&m);
    atom(&m, "barrier.cluster", 0, 0, NULL);
    begin_if(&m, is(&m, lane(), 0));
    for (int i = 0; i < 2; i++)
        atom(&m, "mbarrier.expect", 0, 2,
             (axe_arg[]){at(bar, n(i)), integer(n(256))});
    atom(&m, "cp.bulk.load", 64, 3,
         (axe_arg[]){at(tile, n(0)), at(px, mul(&m, rank, 64)), at(bar, n(0))});
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    to = at(got, n(0));
    at_bar = at(bar, n(1));
    to.space = at_bar.space = AXE_ARG_DSMEM;
    to.cta = at_bar.cta = other;
    atom(&m, "cp.bulk.cluster", 64, 3, (axe_arg[]){to, at(tile, n(0)), at_bar});
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(1)), integer(n(0))});
    atom(&m, "cp.bulk.store", 64, 2,
         (axe_arg[]){at(py, mul(&m, rank, 64)), at(got, n(0))});
    atom(&m, "bulk.commit", 0, 0, NULL);
    atom(&m, "bulk.drain", 0, 1, (axe_arg[]){integer(n(0))});
    end(&m);
    atom(&m, "barrier.cluster", 0, 0, NULL);
    for (int i = 0; i < 5; i++) {
        with = (axe_sim_options){.policy =
                                     i < 2 ? (axe_sim_policy)i : AXE_SIM_RANDOM,
                                 .seed = (uint64_t)i};
        run_clean();
        for (int k = 0; k < 128; k++)
            assert_int_equal((int)y[k], k ^ 64);
    }
}

/* A run of neighbours is told where it begins, and knows no swizzle. */
static void
test_run(void **state)
{
    const axe_tensor *px, *py, *tile, *bar;

    (void)state;
    for (int swizzle = 0; swizzle < 2; swizzle++) {
        (void)one_cta("sm_90a", 32, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 256, swizzle ? 128 : 0);
        bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
        begin_if(&m, is(&m, lane(), 0));
        atom(&m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(1))});
        atom(&m, "mbarrier.inited", 0, 0, NULL);
        atom(&m, "mbarrier.expect", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(256))});
        atom(&m, "cp.bulk.load", 64, 3,
             (axe_arg[]){at(tile, n(0)), at(px, n(0)), at(bar, n(0))});
        atom(&m, "mbarrier.wait", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(0))});
        end(&m);
        if (swizzle)
            run_wrong(AXE_SIM_ALIGN, "whose swizzle keeps 16 together");
        else
            run_clean();
    }
    (void)py;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lanes),    TEST(turns),      TEST(endless),
        TEST(values),   TEST(functions),  TEST(shuffles),
        TEST(matrices), TEST(predicates), TEST(atomics),
        TEST(exchange), TEST(arrival),    TEST(bulk),
        TEST(joined),   TEST(run),        TEST(arrival_of_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
