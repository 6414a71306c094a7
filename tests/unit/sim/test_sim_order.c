/* test_sim_order.c - what is ordered with what: many readers, lanes, groups,
 * fences, blocks, and tensor cores with operands in registers. */
#include "sim_check.h"

/* `met` warps meet: those up to warp 7 - first, and on from warp 0. */
static void
meet(int64_t first, int64_t met)
{
    begin_if(&m,
             less(&m, rem(&m, add(&m, id(&m, AXE_ID_WARP), n(first)), 8), met));
    atom(&m, "bar.sync", 0, 2,
         (axe_arg[]){integer(n(1)), integer(n(32 * met))});
    end(&m);
}

/* A tile that eight warps read and warp 0 writes again, all of it or its first
 * quarter, number by number, having met `met` of them. */
static void
readers(int64_t first, int64_t met, bool quarter)
{
    const axe_tensor *px, *py, *reg, *tile;

    reg = one_cta("sm_80", 256, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
    for (int i = 0; i < 4; i++)
        calc(&m, reg, n(i), f32_of(lane()));
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    move("st.shared.b128", at(tile, mul(&m, lane(), 4)), at(reg, n(0)));
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    move("ld.shared.b128", at(reg, n(0)), at(tile, mul(&m, lane(), 4)));
    meet(first, met);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    if (quarter)
        move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
    else
        move("st.shared.b128", at(tile, mul(&m, lane(), 4)), at(reg, n(0)));
    end(&m);
}

static void
test_readers(void **state)
{
    (void)state;
    for (int quarter = 0; quarter < 2; quarter++) {
        readers(1, 8, quarter);
        run_clean();
        for (int first = 0; first < 2; first++)
            for (int met = 2; met < 8; met++) {
                readers(first, met, quarter);
                run_wrong(AXE_SIM_RACE, "of tile in block 0");
            }
    }
    with.policy = AXE_SIM_RANDOM; /* whoever reads last */
    for (with.seed = 1; with.seed <= 8; with.seed++) {
        readers(0, 7, false);
        run_wrong(AXE_SIM_RACE, "of tile in block 0");
    }
}

/* A word that eight warps read, or wait for, and that warp 0 counts in, having
 * met `met` of them: who waits reads atomically. */
static void
test_counted(void **state)
{
    const axe_tensor *px, *py, *word, *ready;

    (void)state;
    for (int waits = 0; waits < 2; waits++)
        for (int met = 2; met <= 8; met++) {
            (void)one_cta("sm_90a", 256, 1, 1, &px, &py);
            ready = param(&m, "ready", AXE_TYPE_i64, AXE_DIR_INOUT, 1, 2);
            word = array(&m, "word", AXE_TYPE_i64, 1);
            begin_if(&m, is(&m, lane(), 0));
            if (waits)
                atom(&m, "counter.reach", 0, 2,
                     (axe_arg[]){at(ready, n(0)), integer(n(0))});
            else
                move("ld.global.b64", at(word, n(0)), at(ready, n(0)));
            end(&m);
            atom(&m, "barrier.warp", 0, 0, NULL);
            meet(0, met);
            begin_if(&m, is(&m, thread(&m), 0));
            atom(&m, "counter.count", 0, 1, (axe_arg[]){at(ready, n(0))});
            end(&m);
            if (waits || met == 8)
                run_clean();
            else
                run_wrong(AXE_SIM_RACE, "of ready");
        }
}

/* Warps 0 and 1 use barrier 1, then two others do, or warp 1 with one. */
static void
test_groups(void **state)
{
    const axe_tensor *px, *py;

    (void)state;
    for (int k = 0; k < 4; k++) {
        const bool barrier = k & 1;
        (void)one_cta("sm_80", 128, 1, 1, &px, &py);
        for (int group = 0; group < 2; group++) {
            const axe_node *warp = id(&m, AXE_ID_WARP);
            if (k < 2)
                begin_if(&m, is(&m, quot(&m, warp, 2), group));
            else
                begin_if(&m,
                         less(&m, rem(&m, add(&m, warp, n(4 - group)), 4), 2));
            atom(&m, "bar.sync", 0, 2,
                 (axe_arg[]){integer(n(1)), integer(n(64))});
            end(&m);
            if (barrier)
                atom(&m, "barrier.cta", 0, 0, NULL);
        }
        if (barrier)
            run_clean();
        else
            run_wrong(AXE_SIM_NAMED, "two thread groups share it");
    }
}

/* What the lanes of one warp write together, others of it read after they met.
 */
static void
test_together(void **state)
{
    const axe_tensor *frag, *tile;
    node              row;

    (void)state;
    for (int barrier = 0; barrier < 2; barrier++) {
        make(&m, cx, "sm_90a", 32, 1, 1);
        frag = array(&m, "frag", AXE_TYPE_f16, 8);
        tile = buffer(&m, "tile", AXE_TYPE_f16, 256, 0);
        row = mul(&m, lane(), 8);
        for (int i = 0; i < 8; i++)
            calc(&m, frag, n(i),
                 axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, lane()));
        move("stmatrix.x4", at(tile, row), at(frag, n(0)));
        if (barrier)
            atom(&m, "barrier.warp", 0, 0, NULL);
        move("ldmatrix.x4", at(frag, n(0)), at(tile, row));
        if (barrier)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "they have not met since");
    }
}

static axe_lir *
by_lanes(axe_lir *l, node cond)
{
    l->pred = cond;
    return l;
}

/* Half of a warp copies and commits; the other half cannot drain that. */
static void
test_drainers(void **state)
{
    const axe_tensor *px, *py, *reg, *tile;
    node              half;

    (void)state;
    for (int fault = 0; fault < 2; fault++) {
        reg = one_cta("sm_80", 32, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 64, 0);
        half = less(&m, lane(), 16);
        begin_if(&m, half);
        move("cp.async.b128", at(tile, mul(&m, lane(), 4)),
             at(px, mul(&m, lane(), 4)));
        atom(&m, "cp.commit", 0, 0, NULL);
        end(&m);
        begin_if(&m, fault ? axe_node1(cx, AXE_OP_not, half) : half);
        atom(&m, "cp.drain", 0, 1, (axe_arg[]){integer(n(0))});
        end(&m);
        atom(&m, "barrier.warp", 0, 0, NULL);
        move("ld.shared.b32", at(reg, n(0)), at(tile, lane()));
        move("st.global.b32", at(py, lane()), at(reg, n(0)));
        if (fault)
            run_wrong(AXE_SIM_RACE, "group cp");
        else
            run_clean();
    }
}

/* A row goes to shared memory and out by a copy of lane 0; then threads read
 * it from global memory.  fault 1: the fence is lane 0's alone; 2: there is no
 * barrier before the copy; 3: only the copy's reading is drained. */
static void
make_out(int fault)
{
    const axe_tensor *px, *py, *reg, *tile;
    axe_lir          *l;
    node              first;

    reg = one_cta("sm_90a", 32, 1, 1, &px, &py);
    first = is(&m, lane(), 0);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
    l = atom(&m, "bulk.fence", 0, 1, (axe_arg[]){at(tile, n(0))});
    if (fault == 1)
        by_lanes(l, first);
    if (fault != 2)
        atom(&m, "barrier.warp", 0, 0, NULL);
    by_lanes(atom(&m, "cp.bulk.store", 32, 2,
                  (axe_arg[]){at(py, n(0)), at(tile, n(0))}),
             first);
    by_lanes(atom(&m, "bulk.commit", 0, 0, NULL), first);
    by_lanes(atom(&m, fault == 3 ? "bulk.read" : "bulk.drain", 0, 1,
                  (axe_arg[]){integer(n(0))}),
             first);
    atom(&m, "barrier.warp", 0, 0, NULL);
    move("ld.global.b32", at(reg, n(1)), at(py, lane()));
    move("st.global.b32", at(py, add(&m, lane(), n(32))), at(reg, n(1)));
}

static void
test_out(void **state)
{
    (void)state;
    make_out(0);
    run_clean();
    for (int i = 0; i < 32; i++)
        assert_true(y[i] == (float)i && y[i + 32] == (float)i);
    make_out(1);
    run_wrong(AXE_SIM_PROXY, "without a fence");
    make_out(2);
    run_wrong(AXE_SIM_RACE, "of tile in block 0");
    make_out(3);
    run_wrong(AXE_SIM_RACE, "of Y, which an atom of group bulk");
}

/* A copy that nobody waits for. */
static void
test_unawaited(void **state)
{
    const axe_tensor *px, *py, *tile, *bar;

    (void)state;
    (void)one_cta("sm_90a", 32, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(1))});
    atom(&m, "mbarrier.inited", 0, 0, NULL);
    atom(&m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(bar, n(0)), integer(n(128))});
    atom(&m, "cp.bulk.load", 32, 3,
         (axe_arg[]){at(tile, n(0)), at(px, n(0)), at(bar, n(0))});
    end(&m);
    run_wrong(AXE_SIM_LEFT, "ends while copies for bar[0]");
}

/* One block reads what another writes. */
static void
test_blocks(void **state)
{
    const axe_tensor *py, *reg;

    (void)state;
    make(&m, cx, "sm_80", 32, 1, 2);
    (void)param(&m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, AXE_LEN(x));
    py = param(&m, "Y", AXE_TYPE_f32, AXE_DIR_INOUT, 1, AXE_LEN(y));
    reg = array(&m, "r", AXE_TYPE_f32, 1);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 0));
    move("ld.global.b32", at(reg, n(0)), at(py, lane()));
    end(&m);
    begin_if(&m, is(&m, id(&m, AXE_ID_BLOCK), 1));
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    end(&m);
    run_wrong(AXE_SIM_RACE, "which another block has read");
}

/* ------------------------------------------------------------ tensor cores */

/* 64 x 16 x 16 with a in registers, b's second 8 rows 512 bytes from the first.
 * fault 1: a is overwritten in flight; 2: the sums are, before a second one. */
static void
make_product(int fault)
{
    const axe_tensor *px, *py, *a, *b, *c, *half;
    node              t = NULL, wid = NULL;
    axe_arg           rows;

    (void)one_cta("sm_90a", 128, 1, 1, &px, &py);
    t = thread(&m);
    wid = id(&m, AXE_ID_WARP);
    a = array(&m, "a", AXE_TYPE_f16, 8);
    c = array(&m, "c", AXE_TYPE_f32, 8);
    half = array(&m, "half", AXE_TYPE_f16, 1);
    b = buffer(&m, "b", AXE_TYPE_f16, 512, 32);
    for (int i = 0; i < 8; i++)
        calc(&m, a, n(i), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, n(i % 2)));
    for (int i = 0; i < 2; i++) {
        node e = add(&m, mul(&m, t, 2), n(i));
        calc(&m, half, n(0),
             axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, quot(&m, e, 16)));
        e = add(&m, e, mul(&m, quot(&m, e, 128), 128));
        move("st.shared.b16", at(b, e), at(half, n(0)));
    }
    atom(&m, "wgmma.fence.shared", 0, 1, (axe_arg[]){at(b, n(0))});
    atom(&m, "barrier.cta", 0, 0, NULL);
    atom(&m, "wgmma.fence", 0, 0, NULL);
    rows = at(b, n(0));
    rows.desc = 0xc000002000000000;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1 && fault == 2)
            calc(&m, c, n(0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
        atom(&m, "wgmma.f32.f16.rs", 16, 4,
             (axe_arg[]){at(c, n(0)), at(a, n(0)), rows, integer(n(turn))});
        atom(&m, "wgmma.commit", 0, 0, NULL);
        if (turn == 1 && fault == 1)
            calc(&m, a, n(0), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, n(1)));
        atom(&m, "wgmma.drain", 0, 1, (axe_arg[]){integer(n(0))});
    }
    for (int i = 0; i < 8; i++) {
        node row = add(&m, mul(&m, wid, 16),
                       add(&m, quot(&m, lane(), 4), n(i / 2 % 2 * 8)));
        node col =
            add(&m, mul(&m, rem(&m, lane(), 4), 2), n(i / 4 * 8 + i % 2));
        move("st.global.b32", at(py, add(&m, mul(&m, row, 16), col)),
             at(c, n(i)));
    }
    (void)px;
}

static void
test_product(void **state)
{
    (void)state;
    make_product(0);
    run_clean();
    for (int i = 0; i < 64 * 16; i++)
        assert_true(y[i] == (float)(2 * 8 * (i % 16)));
    make_product(1);
    run_wrong(AXE_SIM_FLIGHT, "while an atom still reads it");
    make_product(2);
    run_wrong(AXE_SIM_FENCE, "c is touched");
}

/* tf32 reads the upper 19 bits. */
static void
test_tf32(void **state)
{
    const axe_tensor *px, *py, *reg;
    node              v;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    v = axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 1 + 0x1p-11);
    for (int i = 0; i < 3; i++)
        calc(&m, reg, n(4 + i), v);
    for (int i = 0; i < 4; i++)
        calc(&m, reg, n(i), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
    atom(&m, "mma.m16n8k4.f32.tf32", 0, 3,
         (axe_arg[]){at(reg, n(0)), at(reg, n(4)), at(reg, n(6))});
    move("st.global.b32", at(py, lane()), at(reg, n(3)));
    run_clean();
    assert_true(y[31] == 4);
}

/* Which lane is elected is the machine's to say: what it does must not depend
 * on who it is.  All of the warp come for that. */
static void
test_elected(void **state)
{
    const axe_tensor *px, *py, *reg;
    axe_lir          *l;

    (void)state;
    for (int by_lane = 0; by_lane < 2; by_lane++)
        for (int policy = AXE_SIM_LAZY; policy <= AXE_SIM_EAGER; policy++) {
            reg = one_cta("sm_90a", 32, 1, 1, &px, &py);
            calc(&m, reg, n(0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 7));
            begin_if(&m, is(&m, lane(), 0));
            l = m.open[m.n_open - 2]->item[m.open[m.n_open - 2]->n - 1];
            l->elect = true;
            move("st.global.b32", at(py, by_lane ? lane() : n(0)),
                 at(reg, n(0)));
            end(&m);
            y[0] = y[31] = -1;
            with.policy = (axe_sim_policy)policy;
            run_clean();
            assert_true((y[0] == 7) == (!by_lane || policy == AXE_SIM_LAZY));
            assert_true((y[31] == 7) == (by_lane && policy == AXE_SIM_EAGER));
        }
    reg = one_cta("sm_90a", 32, 1, 1, &px, &py);
    begin_if(&m, less(&m, lane(), 16));
    begin_if(&m, is(&m, lane(), 0));
    l = m.open[m.n_open - 2]->item[0];
    l->elect = true;
    end(&m);
    end(&m);
    run_wrong(AXE_SIM_PARTIAL, "elects a lane with lanes 0xffff only");
}

/* A collective move is printed as a branch where it has a condition. */
static void
test_some_lanes(void **state)
{
    const axe_tensor *frag, *tile;

    (void)state;
    for (int store = 0; store < 2; store++)
        for (int some = 0; some < 3; some++) {
            make(&m, cx, "sm_90a", 32, 1, 1);
            frag = array(&m, "frag", AXE_TYPE_f16, 2);
            tile = buffer(&m, "tile", AXE_TYPE_f16, 256, 0);
            for (int i = 0; i < 2; i++)
                calc(&m, frag, n(i),
                     axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f16, lane()));
            move("stmatrix.x1", at(tile, mul(&m, rem(&m, lane(), 8), 8)),
                 at(frag, n(0)));
            atom(&m, "barrier.warp", 0, 0, NULL);
            by_lanes(store ? move("stmatrix.x1",
                                  at(tile, mul(&m, rem(&m, lane(), 8), 8)),
                                  at(frag, n(0)))
                           : move("ldmatrix.x1", at(frag, n(0)),
                                  at(tile, mul(&m, rem(&m, lane(), 8), 8))),
                     less(&m, lane(),
                          some == 0   ? 8
                          : some == 1 ? 32
                                      : 0));
            if (some > 0)
                run_clean();
            else
                run_wrong(AXE_SIM_PARTIAL, "is there with lanes 0xff only");
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(readers),  TEST(counted), TEST(groups),    TEST(together),
        TEST(drainers), TEST(out),     TEST(unawaited), TEST(blocks),
        TEST(product),  TEST(tf32),    TEST(elected),   TEST(some_lanes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
