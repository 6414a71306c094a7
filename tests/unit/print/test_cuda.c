/* test_cuda.c - CUDA C of grids made by hand, compared byte by byte.
 */
#include "goldens.h"
#include "grids.h"

/* Y[i] = f16(2 * X[i]), 8 elements a thread, the last one guarded. */
static void
test_copy(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_80", "scale", 128);
    const axe_tensor *x = new_param(m, AXE_DIR_IN, AXE_TYPE_f16, "X");
    const axe_tensor *y = new_param(m, AXE_DIR_OUT, AXE_TYPE_f16, "Y");
    const axe_node   *n = new_size(m, "N"), *at, *in, *v, *two;
    const axe_tensor *r = new_array(m, AXE_TYPE_f16, "r", 8);
    const axe_tensor *w = new_array(m, AXE_TYPE_f16, "w", 8);
    axe_lblock       *body;
    axe_lir          *let = emit(m, AXE_LIR_LET);

    (void)state;
    let->var = new_var(m, AXE_VAR_LOOP, "at");
    let->value = add(
        m, mul(m, id(m, AXE_ID_BLOCK), 1024),
        add(m, mul(m, id(m, AXE_ID_WARP), 256), mul(m, id(m, AXE_ID_LANE), 8)));
    at = var(m, let->var);
    in = op(m, AXE_OP_lt, at, n);
    ATOM_IF(m, in, "ld.global.b128", 8, reg(r, num(m, 0)), global(x, at));
    body = m->at;
    v = loop(m, "e", num(m, 8), true);
    two = axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 2);
    calc(m, w, v,
         axe_cast(
             cx, AXE_NOWHERE, AXE_TYPE_f16,
             op(m, AXE_OP_mul, two,
                axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f32, element(m, r, v)))));
    m->at = body;
    ATOM_IF(m, in, "st.global.b128", 8, global(y, at), reg(w, num(m, 0)));
    const axe_lowered *l = grid_done(m);
    compare(cx, l, "scale.sm_80");
    compare_as(cx, l, true, "scale.sm_80.wide");
    axe_ctx_free(cx);
}

/* Places in a swizzled buffer: each of the three bits that the swizzle reads is
 * in it when a term has that bit alone; what counts periods is not. */
static void
test_swizzle(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_80", "places", 128);
    const axe_tensor *y = new_param(m, AXE_DIR_OUT, AXE_TYPE_f16, "Y");
    const axe_tensor *s = new_buffer(m, AXE_TYPE_f16, "s", 4096, 3);
    const axe_tensor *r = new_array(m, AXE_TYPE_f16, "r", 8);
    const axe_node   *lane = id(m, AXE_ID_LANE), *warp = id(m, AXE_ID_WARP);
    const axe_node   *chunk = mul(m, rem_of(m, lane, 8), 8);

    (void)state;
    for (int64_t bit = 64; bit <= 512; bit *= 2)
        ATOM(m, "ld.shared.b128", 8, reg(r, num(m, 0)),
             shared(s, add(m, chunk, mul(m, rem_of(m, warp, 2), bit))));
    ATOM(m, "st.global.b128", 8, global(y, mul(m, lane, 8)), reg(r, num(m, 0)));
    compare(cx, grid_done(m), "places.sm_80");
    axe_ctx_free(cx);
}

/* One warp's 16 x 8 tile of A B^T over k steps of 16, from swizzled tiles of 64
 * columns that cp.async fills. */
static void
test_mma(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_80", "tile", 32);
    const axe_tensor *a = new_param(m, AXE_DIR_IN, AXE_TYPE_f16, "A");
    const axe_tensor *b = new_param(m, AXE_DIR_IN, AXE_TYPE_f16, "B");
    const axe_tensor *c = new_param(m, AXE_DIR_OUT, AXE_TYPE_f32, "C");
    const axe_node   *k = new_size(m, "K");
    const axe_tensor *sa = new_buffer(m, AXE_TYPE_f16, "a", 16 * 64, 3);
    const axe_tensor *sb = new_buffer(m, AXE_TYPE_f16, "b", 8 * 64, 3);
    const axe_tensor *fa = new_array(m, AXE_TYPE_f16, "fa", 8);
    const axe_tensor *fb = new_array(m, AXE_TYPE_f16, "fb", 4);
    const axe_tensor *acc = new_array(m, AXE_TYPE_f32, "acc", 4);
    const axe_node   *lane = id(m, AXE_ID_LANE), *v, *t, *row, *column, *kk;
    axe_lblock       *body = m->at, *turn;

    (void)state;
    v = loop(m, "z", num(m, 4), true);
    calc(m, acc, v, axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
    m->at = body;
    t = loop(m, "t", op(m, AXE_OP_cdiv, k, num(m, 64)), false);
    turn = m->at;
    for (int i = 0; i < 2; i++) {
        v = loop(m, "r", num(m, i ? 2 : 4), true);
        row = add(m, mul(m, v, 4), quo(m, lane, 8));
        column = mul(m, rem_of(m, lane, 8), 8);
        ATOM_IF(m, op(m, AXE_OP_lt, add(m, mul(m, t, 64), column), k),
                "cp.async.b128", 8,
                shared(i ? sb : sa, add(m, mul(m, row, 64), column)),
                global(i ? b : a, add(m, op(m, AXE_OP_mul, row, k),
                                      add(m, mul(m, t, 64), column))));
        m->at = turn;
    }
    invoke(m, "cp.commit", 0, 0, NULL, NULL);
    ATOM(m, "cp.drain", 0, number(num(m, 0)));
    invoke(m, "barrier.warp", 0, 0, NULL, NULL);
    kk = loop(m, "kk", num(m, 4), true);
    ATOM(m, "ldmatrix.x4", 8, reg(fa, num(m, 0)),
         shared(sa, add(m, mul(m, rem_of(m, lane, 16), 64),
                        add(m, mul(m, quo(m, lane, 16), 8), mul(m, kk, 16)))));
    ATOM(m, "ldmatrix.x2", 8, reg(fb, num(m, 0)),
         shared(sb, add(m, mul(m, rem_of(m, lane, 8), 64),
                        add(m, mul(m, rem_of(m, quo(m, lane, 8), 2), 8),
                            mul(m, kk, 16)))));
    ATOM(m, "mma.m16n8k16.f32.f16", 0, reg(acc, num(m, 0)), reg(fa, num(m, 0)),
         reg(fb, num(m, 0)));
    m->at = turn;
    invoke(m, "barrier.warp", 0, 0, NULL, NULL);
    m->at = body;
    v = loop(m, "h", num(m, 2), true);
    ATOM(m, "st.global.b64", 2,
         global(c, add(m, mul(m, add(m, quo(m, lane, 4), mul(m, v, 8)), 8),
                       mul(m, rem_of(m, lane, 4), 2))),
         reg(acc, mul(m, v, 2)));
    compare(cx, grid_done(m), "tile.sm_80");
    axe_ctx_free(cx);
}

/* What a Hopper GEMM is made of: a producer warp that starts TMA, multicast
 * within a cluster, mbarriers, a consumer warpgroup's wgmma, stmatrix, a TMA
 * store. */
static void
test_wgmma(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_90a", "gemm", 256);
    const axe_tensor *a = new_param(m, AXE_DIR_IN, AXE_TYPE_bf16, "A");
    const axe_tensor *b = new_param(m, AXE_DIR_IN, AXE_TYPE_bf16, "B");
    const axe_tensor *c = new_param(m, AXE_DIR_OUT, AXE_TYPE_bf16, "C");
    const axe_node   *k = new_size(m, "K"), *turns;
    const axe_tensor *sa = new_buffer(m, AXE_TYPE_bf16, "ring.a", 4 * 4096, 3);
    const axe_tensor *sb = new_buffer(m, AXE_TYPE_bf16, "ring.b", 4 * 8192, 3);
    const axe_tensor *sc = new_buffer(m, AXE_TYPE_bf16, "stage", 4096, 3);
    const axe_tensor *full = new_buffer(m, AXE_TYPE_i64, "full", 4, 0);
    const axe_tensor *empty = new_buffer(m, AXE_TYPE_i64, "empty", 4, 0);
    const axe_tensor *acc = new_array(m, AXE_TYPE_f32, "acc", 64);
    const axe_tensor *out = new_array(m, AXE_TYPE_bf16, "out", 64);
    const axe_node   *warp = id(m, AXE_ID_WARP), *lane = id(m, AXE_ID_LANE);
    const axe_node   *rank = id(m, AXE_ID_RANK), *block = id(m, AXE_ID_BLOCK);
    const axe_node   *v, *st, *ph, *tid, *row;
    axe_lblock       *body = m->at, *role, *turn;
    axe_lir          *cond, *l;
    const axe_var    *stage = new_var(m, AXE_VAR_LOOP, "stage");
    const axe_var    *phase = new_var(m, AXE_VAR_LOOP, "phase");

    (void)state;
    m->grid.cluster = 2;
    m->grid.n_map = 3;
    m->map[0].tensor = a;
    m->map[1].tensor = b;
    m->map[2].tensor = c;
    turns = op(m, AXE_OP_cdiv, k, num(m, 64));
    tid = add(m, mul(m, rem_of(m, warp, 4), 32), lane);

    cond = emit(m, AXE_LIR_IF);
    cond->value = op(m, AXE_OP_eq, add(m, mul(m, warp, 32), lane), num(m, 0));
    m->at = &cond->body;
    turn = m->at;
    v = loop(m, "i", num(m, 4), true);
    ATOM(m, "mbarrier.init", 0, shared(full, v), number(num(m, 1)));
    ATOM(m, "mbarrier.init", 0, shared(empty, v), number(num(m, 2)));
    m->at = turn;
    invoke(m, "mbarrier.inited", 0, 0, NULL, NULL);
    ATOM(m, "map.prefetch", 0, {.space = AXE_ARG_MAP, .map = 0});
    m->at = body;
    invoke(m, "barrier.cluster", 0, 0, NULL, NULL);
    emit(m, AXE_LIR_COUNT)->var = stage;
    emit(m, AXE_LIR_COUNT)->var = phase;
    st = var(m, stage);
    ph = var(m, phase);

    cond = emit(m, AXE_LIR_IF);
    cond->value = op(m, AXE_OP_lt, warp, num(m, 4));
    m->at = role = &cond->body;
    ATOM(m, "setmaxnreg.dec", 0, number(num(m, 40)));
    l = emit(m, AXE_LIR_IF);
    l->value = op(m, AXE_OP_eq, tid, num(m, 0));
    m->at = &l->body;
    v = loop(m, "t", turns, false);
    turn = m->at;
    const axe_node *at[2] = {mul(m, v, 64), mul(m, block, 64)};
    const axe_node *bt[2] = {mul(m, v, 64), mul(m, rank, 64)};
    ATOM(m, "mbarrier.wait", 0, shared(empty, st),
         number(op(m, AXE_OP_sub, num(m, 1), ph)));
    ATOM(m, "mbarrier.expect", 0, shared(full, st), number(num(m, 24576)));
    ATOM(m, "tma.load", 2, shared(sa, mul(m, st, 4096)),
         {.space = AXE_ARG_MAP, .map = 0, .n_at = 2, .coord = at},
         shared(full, st));
    ATOM(m, "tma.load.multicast", 2,
         {.space = AXE_ARG_DSMEM,
          .tensor = sb,
          .at = add(m, mul(m, st, 8192), mul(m, rank, 4096))},
         {.space = AXE_ARG_MAP, .map = 1, .n_at = 2, .coord = bt},
         shared(full, st), number(num(m, 3)));
    l = emit(m, AXE_LIR_ADVANCE);
    l->var = stage;
    l->step = 4;
    l = emit(m, AXE_LIR_IF);
    l->value = op(m, AXE_OP_eq, st, num(m, 0));
    m->at = &l->body;
    l = emit(m, AXE_LIR_ADVANCE);
    l->var = phase;
    l->step = 2;

    m->at = &cond->other;
    role = m->at;
    ATOM(m, "setmaxnreg.inc", 0, number(num(m, 232)));
    v = loop(m, "t", turns, false);
    turn = m->at;
    ATOM(m, "mbarrier.wait", 0, shared(full, st), number(ph));
    ATOM(m, "wgmma.fence", 0, reg(acc, num(m, 0)));
    const axe_node *kk = loop(m, "kk", num(m, 4), true);
    axe_arg         da = shared(sa, add(m, mul(m, st, 4096), mul(m, kk, 16)));
    axe_arg         db = shared(sb, add(m, mul(m, st, 8192), mul(m, kk, 16)));
    da.desc = db.desc = 0x4000004000010000;
    ATOM(m, "wgmma.f32.bf16.ss", 128, reg(acc, num(m, 0)), da, db,
         number(op(m, AXE_OP_ne, add(m, v, kk), num(m, 0))));
    m->at = turn;
    invoke(m, "wgmma.commit", 0, 0, NULL, NULL);
    ATOM(m, "wgmma.drain", 0, number(num(m, 0)));
    ATOM_IF(m, op(m, AXE_OP_lt, tid, num(m, 2)), "mbarrier.arrive.cluster", 0,
            shared(empty, st), number(tid));
    l = emit(m, AXE_LIR_ADVANCE);
    l->var = stage;
    l->step = 4;
    l = emit(m, AXE_LIR_IF);
    l->value = op(m, AXE_OP_eq, st, num(m, 0));
    m->at = &l->body;
    l = emit(m, AXE_LIR_ADVANCE);
    l->var = phase;
    l->step = 2;
    m->at = role;
    v = loop(m, "e", num(m, 64), true);
    calc(m, out, v,
         axe_cast(cx, AXE_NOWHERE, AXE_TYPE_bf16, element(m, acc, v)));
    m->at = role;
    v = loop(m, "j", num(m, 4), true);
    row = add(m, mul(m, rem_of(m, warp, 4), 16), rem_of(m, lane, 16));
    ATOM(m, "stmatrix.x4", 8,
         shared(sc, add(m, mul(m, row, 64),
                        add(m, mul(m, quo(m, lane, 16), 8), mul(m, v, 16)))),
         reg(out, mul(m, v, 8)));
    m->at = role;
    invoke(m, "bulk.fence", 0, 0, NULL, NULL);
    ATOM(m, "bar.sync", 0, number(num(m, 1)), number(num(m, 128)));
    l = emit(m, AXE_LIR_IF);
    l->value = op(m, AXE_OP_eq, tid, num(m, 0));
    m->at = &l->body;
    const axe_node *ct[2] = {num(m, 0), mul(m, block, 64)};
    ATOM(m, "tma.store", 2,
         {.space = AXE_ARG_MAP, .map = 2, .n_at = 2, .coord = ct},
         shared(sc, num(m, 0)));
    invoke(m, "bulk.commit", 0, 0, NULL, NULL);
    ATOM(m, "bulk.drain", 0, number(num(m, 0)));
    m->at = body;
    invoke(m, "barrier.cluster", 0, 0, NULL, NULL);
    compare(cx, grid_done(m), "wgmma.sm_90a");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_swizzle),
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_wgmma),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
