/* test_sim_findings.c - small grids with one mistake each: every finding of the
 * simulator, and its text. */
#include "sim_check.h"

static void
test_addresses(void **state)
{
    const axe_tensor *px, *py, *reg, *tile;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b32", at(reg, n(0)),
         at(px, add(&m, lane(), n(AXE_LEN(x) - 31))));
    run_wrong(AXE_SIM_BOUNDS, "elements 4096 to 4096 of X, which has 4096");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b64", at(reg, n(0)),
         at(px, add(&m, mul(&m, lane(), 2), n(1))));
    run_wrong(AXE_SIM_ALIGN, "no multiple of 8");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 31, 0);
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
    run_wrong(AXE_SIM_BOUNDS, "of tile");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 128, 0);
    m.buffer[0].swizzle = (axe_swizzle){2, 2, 2, 8};
    calc(&m, reg, n(0), f32_of(lane()));
    calc(&m, reg, n(1), f32_of(lane()));
    move("st.shared.b64", at(tile, mul(&m, lane(), 2)), at(reg, n(0)));
    run_wrong(AXE_SIM_ALIGN, "whose swizzle keeps 4 together");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    tile = buffer(&m, "tile", AXE_TYPE_f32, 30, 0);
    m.buffer[0].swizzle = (axe_swizzle){2, 2, 2, 8};
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.shared.b32", at(tile, n(28)), at(reg, n(0)));
    run_wrong(AXE_SIM_BOUNDS, "elements 31 to 31 of tile, which has 30");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    calc(&m, reg, lane(), f32_of(lane()));
    run_wrong(AXE_SIM_BOUNDS, "r[8] does not exist");
}

/* A finding is of one kind and one instruction, however often it is met. */
static void
test_told_once(void **state)
{
    const axe_tensor *px, *py, *reg;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    for (int i = 0; i < 2; i++)
        move("ld.global.b32", at(reg, n(i)),
             at(px, add(&m, lane(), n(AXE_LEN(x) - 31))));
    run_wrong(AXE_SIM_BOUNDS, "of X, which has 4096");
    assert_int_equal(r.n_finding, 2);
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("st.global.b32", at(py, add(&m, lane(), n(AXE_LEN(y) - 31))),
         at(reg, n(0)));
    run_wrong(AXE_SIM_BOUNDS, "of Y, which has");
    assert_int_equal(r.n_finding, 2);
}

static void
test_unset(void **state)
{
    const axe_tensor *px, *py, *reg, *a, *b;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    run_wrong(AXE_SIM_UNINIT, "r[0] is read");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b32", at(reg, n(0)), at(py, lane()));
    run_wrong(AXE_SIM_UNINIT, "of Y, which nobody has written");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    a = buffer(&m, "a", AXE_TYPE_f32, 32, 0);
    b = buffer(&m, "b", AXE_TYPE_f32, 32, 0);
    move("ld.shared.b32", at(reg, n(0)), at(a, lane()));
    run_wrong(AXE_SIM_UNINIT, "of a in block 0, which nobody has written");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    a = buffer(&m, "a", AXE_TYPE_f32, 32, 0);
    b = buffer(&m, "b", AXE_TYPE_f32, 32, 0);
    m.buffer[1].offset = m.buffer[0].offset;
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.shared.b32", at(a, lane()), at(reg, n(0)));
    atom(&m, "barrier.cta", 0, 0, NULL);
    move("ld.shared.b32", at(reg, n(0)), at(b, lane()));
    run_wrong(AXE_SIM_STALE, "as part of a");
}

/* Bytes beside one another are no race, whoever writes them. */
static void
test_bytes(void **state)
{
    const axe_tensor *px, *py, *reg, *tile, *wide;

    (void)state;
    for (int apart = 1; apart >= 0; apart--) {
        (void)one_cta("sm_80", 64, 1, 1, &px, &py);
        reg = array(&m, "b", AXE_TYPE_u8, 1);
        wide = array(&m, "wide", AXE_TYPE_u8, 16);
        tile = buffer(&m, "tile", AXE_TYPE_u8, 64, 0);
        calc(&m, reg, n(0), axe_cast(cx, AXE_NOWHERE, AXE_TYPE_u8, thread(&m)));
        move("st.shared.b8",
             at(tile,
                apart ? add(&m, mul(&m, lane(), 2), id(&m, AXE_ID_WARP))
                      : op2(&m, AXE_OP_sub, thread(&m), id(&m, AXE_ID_WARP))),
             at(reg, n(0)));
        atom(&m, "barrier.cta", 0, 0, NULL);
        begin_if(&m, less(&m, thread(&m), 3));
        move("ld.shared.b128", at(wide, n(0)),
             at(tile, mul(&m, thread(&m), 16)));
        end(&m);
        if (apart)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "of tile in block 0");
    }
}

static void
test_races(void **state)
{
    const axe_tensor *px, *py, *reg;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 2, &px, &py);
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    run_wrong(AXE_SIM_RACE, "which another block has written");
    reg = one_cta("sm_80", 64, 1, 1, &px, &py);
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    run_wrong(AXE_SIM_RACE, "warp 1 of block 0 writes element 0 of Y, which "
                            "warp 0 of block 0 writes");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    calc(&m, reg, n(0), f32_of(lane()));
    move("st.global.b32", at(py, quot(&m, lane(), 2)), at(reg, n(0)));
    run_wrong(AXE_SIM_RACE, "lanes 0 and 1");
}

/* What one lane wrote is another's only after they have met. */
static void
test_lockstep(void **state)
{
    const axe_tensor *px, *py, *reg, *tile;

    (void)state;
    for (int barrier = 0; barrier < 2; barrier++) {
        reg = one_cta("sm_80", 32, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
        calc(&m, reg, n(0), f32_of(lane()));
        move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        move("ld.shared.b32", at(reg, n(1)), at(tile, lane()));
        if (barrier)
            atom(&m, "barrier.warp", 0, 0, NULL);
        move("ld.shared.b32", at(reg, n(1)),
             at(tile, op2(&m, AXE_OP_sub, n(31), lane())));
        move("st.global.b32", at(py, lane()), at(reg, n(1)));
        if (barrier)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "they have not met since");
    }
}

/* A stage that all lanes of warp 1 read, and one of them frees for warp 0. */
static void
test_release(void **state)
{
    const axe_tensor *px, *py, *reg, *tile, *bar;
    axe_lir          *l;

    (void)state;
    for (int barrier = 0; barrier < 2; barrier++) {
        reg = one_cta("sm_90a", 64, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
        bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
        calc(&m, reg, n(0), f32_of(lane()));
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
        l = atom(&m, "mbarrier.init", 0, 2,
                 (axe_arg[]){at(bar, n(0)), integer(n(1))});
        l->pred = is(&m, lane(), 0);
        move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        end(&m);
        atom(&m, "barrier.cta", 0, 0, NULL);
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 1));
        move("ld.shared.b32", at(reg, n(1)), at(tile, lane()));
        if (barrier)
            atom(&m, "barrier.warp", 0, 0, NULL);
        l = atom(&m, "mbarrier.arrive", 0, 1, (axe_arg[]){at(bar, n(0))});
        l->pred = is(&m, lane(), 0);
        end(&m);
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
        atom(&m, "mbarrier.wait", 0, 2,
             (axe_arg[]){at(bar, n(0)), integer(n(0))});
        move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        end(&m);
        if (barrier)
            run_clean();
        else
            run_wrong(AXE_SIM_RACE, "warp 0 of block 0 writes");
    }
}

/* Two warps: one signals the other by a named barrier, or does not. */
static void
test_named(void **state)
{
    const axe_tensor *px, *py, *reg, *tile;

    (void)state;
    for (int fault = 0; fault < 3; fault++) {
        reg = one_cta("sm_80", 64, 1, 1, &px, &py);
        tile = buffer(&m, "tile", AXE_TYPE_f32, 32, 0);
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
        calc(&m, reg, n(0), f32_of(lane()));
        if (fault != 1)
            move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        atom(&m, "bar.arrive", 0, 2,
             (axe_arg[]){integer(n(3)), integer(n(64))});
        if (fault == 1)
            move("st.shared.b32", at(tile, lane()), at(reg, n(0)));
        end(&m);
        begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 1));
        atom(&m, "bar.sync", 0, 2,
             (axe_arg[]){integer(n(3)), integer(n(fault == 2 ? 96 : 64))});
        move("ld.shared.b32", at(reg, n(0)), at(tile, lane()));
        move("st.global.b32", at(py, lane()), at(reg, n(0)));
        end(&m);
        if (fault == 0)
            run_clean();
        else
            run_wrong(fault == 1 ? AXE_SIM_RACE : AXE_SIM_NAMED, "");
    }
}

static void
test_deadlock(void **state)
{
    const axe_tensor *px, *py, *bar;

    (void)state;
    (void)one_cta("sm_80", 64, 1, 1, &px, &py);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    atom(&m, "barrier.cta", 0, 0, NULL);
    end(&m);
    run_wrong(AXE_SIM_DEADLOCK,
              "warp 0 of block 0 waits at barrier 0, where 32 of 64 threads "
              "are");
    (void)one_cta("sm_90a", 32, 1, 1, &px, &py);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 2, 0);
    begin_if(&m, is(&m, lane(), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(1)), integer(n(2))});
    atom(&m, "mbarrier.arrive", 0, 1, (axe_arg[]){at(bar, n(1))});
    end(&m);
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(1)), integer(n(0))});
    run_wrong(AXE_SIM_DEADLOCK, "for parity 0 of bar[1] of block 0, phase 0, "
                                "which lacks 1 arrivals");
}

/* One warp ends two phases while the other does not look. */
static void
test_lapped(void **state)
{
    const axe_tensor *px, *py, *bar;

    (void)state;
    (void)one_cta("sm_90a", 64, 1, 1, &px, &py);
    bar = buffer(&m, "bar", AXE_TYPE_i64, 1, 0);
    begin_if(&m, is(&m, thread(&m), 0));
    atom(&m, "mbarrier.init", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(1))});
    end(&m);
    atom(&m, "barrier.cta", 0, 0, NULL);
    begin_if(&m, is(&m, thread(&m), 32));
    for (int i = 0; i < 2; i++)
        atom(&m, "mbarrier.arrive", 0, 1, (axe_arg[]){at(bar, n(0))});
    end(&m);
    begin_if(&m, is(&m, id(&m, AXE_ID_WARP), 0));
    atom(&m, "mbarrier.wait", 0, 2, (axe_arg[]){at(bar, n(0)), integer(n(0))});
    end(&m);
    run_wrong(AXE_SIM_LAPPED, "phase 0 of bar[0]");
}

static void
test_partial(void **state)
{
    const axe_tensor *px, *py, *reg;

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    calc(&m, reg, n(0), f32_of(lane()));
    begin_if(&m, less(&m, lane(), 31));
    atom(&m, "shfl.bfly.b32", 1, 2, (axe_arg[]){at(reg, n(1)), at(reg, n(0))});
    end(&m);
    run_wrong(AXE_SIM_PARTIAL, "lanes 0x7fffffff only");
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    for (int i = 0; i < 8; i++)
        calc(&m, reg, n(i), f32_of(lane()));
    atom(&m, "shfl.bfly.b32", 1, 2,
         (axe_arg[]){at(reg, n(1)), at(reg, rem(&m, lane(), 2))});
    run_wrong(AXE_SIM_UNIFORM, "operand 1 is 0 for lane 0");
}

/* Rows of a matrix whose rows lie apart: what lies between is none of it. */
static void
test_strides(void **state)
{
    const axe_tensor *px, *py, *reg;
    int64_t           shape[2] = {4, 8}, stride[2] = {10, 1};
    int64_t           out[2] = {1, AXE_LEN(y)};
    axe_sim_array     param[2] = {{x, shape, stride}, {y, out, NULL}};
    axe_sim_spec      spec = {.param = param};

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("ld.global.b32", at(reg, n(0)),
         at(px, add(&m, mul(&m, quot(&m, lane(), 8), 10), rem(&m, lane(), 8))));
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    assert_int_equal(axe_simulate(cx, made(&m), &spec, &r), AXE_OK);
    if (r.n_finding > 0)
        fail_msg("%s", said());
    assert_int_equal((int)y[31], 37);
    move("ld.global.b32", at(reg, n(0)), at(px, lane()));
    assert_int_equal(axe_simulate(cx, made(&m), &spec, &r), AXE_OK);
    assert_int_equal(r.n_finding, 1);
    assert_int_equal(r.finding[0].kind, AXE_SIM_BOUNDS);
}

static void
test_refused(void **state)
{
    const axe_tensor *px, *py;

    (void)state;
    (void)one_cta("sm_80", 48, 1, 1, &px, &py);
    assert_int_equal(simulate(), AXE_ESHAPE);
    (void)one_cta("sm_80", 32, 2, 2, &px, &py);
    assert_int_equal(simulate(), AXE_ESHAPE);
    (void)one_cta("sm_90a", 32, 2, 3, &px, &py);
    assert_int_equal(simulate(), AXE_ESHAPE);
    (void)one_cta("sm_80", 32, 1, 1, &px, &py);
    (void)emit(&m, AXE_LIR_TASKS);
    assert_int_equal(simulate(), AXE_EUNSUPPORTED);
    (void)one_cta("sm_80", 32, 1, 1, &px, &py);
    (void)array(&m, "nibble", AXE_TYPE_i4, 4);
    assert_int_equal(simulate(), AXE_EUNSUPPORTED);
    (void)one_cta("sm_80", 32, 1, 1, &px, &py);
    m.machine = axe_machine_at(0);
    assert_int_equal(simulate(), AXE_EUNSUPPORTED);
    (void)one_cta("sm_80", 32, 1, 0, &px, &py);
    run_clean();
    assert_int_equal(r.n_block, 0);
}

static void
test_json(void **state)
{
    const axe_tensor *px, *py, *reg;
    axe_buf           b = {.cx = cx};

    (void)state;
    reg = one_cta("sm_80", 32, 1, 1, &px, &py);
    move("st.global.b32", at(py, lane()), at(reg, n(0)));
    assert_int_equal(simulate(), AXE_OK);
    axe_sim_report_json(cx, &b, &r);
    assert_string_equal(
        b.text,
        "{\"findings\": [{\"kind\": \"uninitialised\", \"n\": 32, \"text\": "
        "\"st.global.b32: warp 0 of block 0: r[0] is read, and nothing was "
        "written there\", \"at\": {\"file\": \"grid\", \"line\": 1, \"col\": "
        "1}}], \"blocks\": 1, \"instructions\": 2, \"products\": 0, "
        "\"conflicts\": 0, \"global_read\": 0, \"global_written\": 128, "
        "\"shared_read\": 0, \"shared_written\": 0, \"atoms\": "
        "{\"st.global.b32\": 1}}\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(addresses), TEST(told_once), TEST(unset),   TEST(bytes),
        TEST(races),     TEST(lockstep),  TEST(release), TEST(named),
        TEST(deadlock),  TEST(lapped),    TEST(partial), TEST(strides),
        TEST(refused),   TEST(json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
