/* sim_kernels.h - whole kernels by hand: a copy, a transpose through shared
 * memory, a double buffer, a GEMM with roles. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include "sim_grids.h"

/* Y = X, rows by cols of f32, 16 bytes a thread, 128 threads. */
static inline const axe_lowered *
make_copy(maker *m, axe_ctx *cx, int64_t n)
{
    const axe_tensor *x, *y, *r;
    node              from;

    make(m, cx, "sm_80", 128, 1, n / 512);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, 1, n);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 1, n);
    r = array(m, "r", AXE_TYPE_f32, 4);
    from = add(m, mul(m, id(m, AXE_ID_BLOCK), 512), mul(m, thread(m), 4));
    atom(m, "ld.global.b128", 0, 2, (axe_arg[]){at(r, num(m, 0)), at(x, from)});
    atom(m, "st.global.b128", 0, 2, (axe_arg[]){at(y, from), at(r, num(m, 0))});
    return made(m);
}

/* Y = X transposed, 32 by 32 of f32, 4 warps, by a tile with rows of `pitch`.
 */
static inline const axe_lowered *
make_transpose(maker *m, axe_ctx *cx, int pitch)
{
    const axe_tensor *x, *y, *r, *t;
    const axe_var    *i;
    node              row;

    make(m, cx, "sm_80", 128, 1, 1);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, 32, 32);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 32, 32);
    r = array(m, "r", AXE_TYPE_f32, 1);
    t = buffer(m, "t", AXE_TYPE_f32, 32 * pitch, 0);
    for (int turn = 0; turn < 2; turn++) {
        i = begin_for(m, "i", num(m, 0), num(m, 8));
        row = add(m, mul(m, var(m, i), 4), id(m, AXE_ID_WARP));
        node global = add(m, mul(m, row, 32), id(m, AXE_ID_LANE));
        node across = add(m, mul(m, id(m, AXE_ID_LANE), pitch), row);
        node along = add(m, mul(m, row, pitch), id(m, AXE_ID_LANE));
        if (turn == 0) {
            atom(m, "ld.global.b32", 0, 2,
                 (axe_arg[]){at(r, num(m, 0)), at(x, global)});
            atom(m, "st.shared.b32", 0, 2,
                 (axe_arg[]){at(t, along), at(r, num(m, 0))});
        } else {
            atom(m, "ld.shared.b32", 0, 2,
                 (axe_arg[]){at(r, num(m, 0)), at(t, across)});
            atom(m, "st.global.b32", 0, 2,
                 (axe_arg[]){at(y, global), at(r, num(m, 0))});
        }
        end(m);
        if (turn == 0)
            atom(m, "barrier.cta", 0, 0, NULL);
    }
    return made(m);
}

/* Y[i] = sum of X's rows, 128 columns, by cp.async into two stages. */
static inline const axe_lowered *
make_double_buffer(maker *m, axe_ctx *cx, int64_t rows)
{
    const axe_tensor *x, *y, *r, *sum, *t;
    const axe_var    *i;
    node              mine;

    make(m, cx, "sm_80", 128, 1, 1);
    x = param(m, "X", AXE_TYPE_f32, AXE_DIR_IN, rows, 128);
    y = param(m, "Y", AXE_TYPE_f32, AXE_DIR_OUT, 1, 128);
    r = array(m, "r", AXE_TYPE_f32, 1);
    sum = array(m, "sum", AXE_TYPE_f32, 1);
    t = buffer(m, "t", AXE_TYPE_f32, 2 * 128, 0);
    mine = mul(m, thread(m), 4);
    calc(m, sum, num(m, 0), axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 0));
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    atom(m, "cp.async.b128", 0, 2, (axe_arg[]){at(t, mine), at(x, mine)});
    end(m);
    atom(m, "cp.commit", 0, 0, NULL);
    i = begin_for(m, "i", num(m, 0), num(m, rows));
    node next = add(m, var(m, i), num(m, 1));
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    begin_if(m, less(m, next, rows));
    atom(m, "cp.async.b128", 0, 2,
         (axe_arg[]){at(t, add(m, mul(m, rem(m, next, 2), 128), mine)),
                     at(x, add(m, mul(m, next, 128), mine))});
    end(m);
    end(m);
    atom(m, "cp.commit", 0, 0, NULL);
    atom(m, "cp.drain", 0, 1, (axe_arg[]){integer(num(m, 1))});
    atom(m, "barrier.cta", 0, 0, NULL);
    atom(m, "ld.shared.b32", 0, 2,
         (axe_arg[]){
             at(r, num(m, 0)),
             at(t, add(m, mul(m, rem(m, var(m, i), 2), 128), thread(m)))});
    calc(m, sum, num(m, 0),
         add(m, element(m, sum, num(m, 0)), element(m, r, num(m, 0))));
    atom(m, "barrier.cta", 0, 0, NULL);
    end(m);
    atom(m, "st.global.b32", 0, 2,
         (axe_arg[]){at(y, thread(m)), at(sum, num(m, 0))});
    return made(m);
}

/* Tensor maps of a GEMM: A, B and C, one after the other. */
enum { MAP_A, MAP_B, MAP_C };

/* C = A B^T in f16, as a Hopper GEMM is: a warp that copies, two warpgroups
 * that multiply tiles of 128 x bn, a ring of stages, clusters of 1 or 2 CTAs
 * along M that share B, a staged end.  M, N, K: multiples of the tile. */
typedef struct gemm_spec {
    int64_t m, n, k;
    int     bn, stages, cluster;
} gemm_spec;

static inline void
gemm_inits(maker *m, const gemm_spec *g, const axe_tensor *full,
           const axe_tensor *empty)
{
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    begin_if(m, is(m, id(m, AXE_ID_LANE), 0));
    for (int s = 0; s < g->stages; s++) {
        atom(m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(full, num(m, s)), integer(num(m, 1))});
        atom(
            m, "mbarrier.init", 0, 2,
            (axe_arg[]){at(empty, num(m, s)), integer(num(m, 2 * g->cluster))});
    }
    atom(m, "mbarrier.inited", 0, 0, NULL);
    end(m);
    end(m);
    atom(m, g->cluster > 1 ? "barrier.cluster" : "barrier.cta", 0, 0, NULL);
}

static inline void
gemm_produce(maker *m, const gemm_spec *g, const axe_tensor *a,
             const axe_tensor *b, const axe_tensor *full,
             const axe_tensor *empty, int map, node row, node col)
{
    int            share = g->bn / g->cluster;
    const axe_var *kt;
    node           s, phase, rank = id(m, AXE_ID_RANK);

    atom(m, "setmaxnreg.dec", 0, 1, (axe_arg[]){integer(num(m, 40))});
    begin_if(m, is(m, rem(m, id(m, AXE_ID_WARP), 4), 0));
    begin_if(m, is(m, id(m, AXE_ID_LANE), 0));
    kt = begin_for(m, "kt", num(m, 0), num(m, g->k / 64));
    s = rem(m, var(m, kt), g->stages);
    phase = rem(m, quot(m, var(m, kt), g->stages), 2);
    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(empty, s),
                     integer(op2(m, AXE_OP_sub, num(m, 1), phase))});
    atom(m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(full, s), integer(num(m, (128 + g->bn) * 128))});
    atom(m, "tma.load", 2, 3,
         (axe_arg[]){at(a, mul(m, s, 128 * 64)),
                     box(m, map + MAP_A, mul(m, var(m, kt), 64), row),
                     at(full, s)});
    node at_b = add(m, mul(m, s, g->bn * 64), mul(m, rank, share * 64));
    node row_b = add(m, col, mul(m, rank, share));
    if (g->cluster > 1)
        atom(m, "tma.load.multicast", 2, 4,
             (axe_arg[]){at(b, at_b),
                         box(m, map + MAP_B, mul(m, var(m, kt), 64), row_b),
                         at(full, s), integer(num(m, 3))});
    else
        atom(m, "tma.load", 2, 3,
             (axe_arg[]){at(b, at_b),
                         box(m, map + MAP_B, mul(m, var(m, kt), 64), row_b),
                         at(full, s)});
    end(m);
    end(m);
    end(m);
}

static inline void
gemm_release(maker *m, const gemm_spec *g, const axe_tensor *empty, node s)
{
    node me =
        add(m, mul(m, rem(m, id(m, AXE_ID_WARP), 4), 32), id(m, AXE_ID_LANE));
    axe_lir *l;

    l = atom(m, g->cluster > 1 ? "mbarrier.arrive.cluster" : "mbarrier.arrive",
             0, g->cluster > 1 ? 2 : 1, (axe_arg[]){at(empty, s), integer(me)});
    l->pred = less(m, me, g->cluster);
}

static inline void
gemm_multiply(maker *m, const gemm_spec *g, const axe_tensor *a,
              const axe_tensor *b, const axe_tensor *acc,
              const axe_tensor *full, const axe_tensor *empty, node wg)
{
    const axe_var *kt;
    node           s, phase;

    atom(m, "setmaxnreg.inc", 0, 1, (axe_arg[]){integer(num(m, 232))});
    kt = begin_for(m, "kt", num(m, 0), num(m, g->k / 64));
    s = rem(m, var(m, kt), g->stages);
    phase = rem(m, quot(m, var(m, kt), g->stages), 2);
    atom(m, "mbarrier.wait", 0, 2, (axe_arg[]){at(full, s), integer(phase)});
    atom(m, "wgmma.fence", 0, 1, (axe_arg[]){at(acc, num(m, 0))});
    for (int kk = 0; kk < 4; kk++)
        atom(m, "wgmma.f32.f16.ss", g->bn, 4,
             (axe_arg[]){
                 at(acc, num(m, 0)),
                 matrix(a,
                        add(m, add(m, mul(m, s, 128 * 64), mul(m, wg, 64 * 64)),
                            num(m, kk * 16))),
                 matrix(b, add(m, mul(m, s, g->bn * 64), num(m, kk * 16))),
                 integer(kk > 0 ? num(m, 1)
                                : op2(m, AXE_OP_min, num(m, 1), var(m, kt)))});
    atom(m, "wgmma.commit", 0, 0, NULL);
    atom(m, "wgmma.drain", 0, 1, (axe_arg[]){integer(num(m, 1))});
    begin_if(m, less(m, num(m, 0), 1));
    begin_if(m, op2(m, AXE_OP_lt, num(m, 0), var(m, kt)));
    gemm_release(m, g, empty,
                 rem(m, add(m, var(m, kt), num(m, g->stages - 1)), g->stages));
    end(m);
    end(m);
    end(m);
    atom(m, "wgmma.drain", 0, 1, (axe_arg[]){integer(num(m, 0))});
}

/* Registers to f16, by stmatrix to a staging tile, and out by boxes of 64 x 64;
 * staging holds two of them for each warpgroup. */
static inline void
gemm_end(maker *m, const gemm_spec *g, const axe_tensor *acc,
         const axe_tensor *half, const axe_tensor *stage, node wg, int map,
         node row, node col)
{
    node lane = id(m, AXE_ID_LANE), wid = rem(m, id(m, AXE_ID_WARP), 4);
    node me = add(m, mul(m, wid, 32), lane);

    for (int part = 0; part < g->bn / 64; part++) {
        node base = add(m, mul(m, wg, 2 * 64 * 64), num(m, part % 2 * 64 * 64));
        node r = add(m, mul(m, wid, 16), rem(m, lane, 16));
        axe_lir *l;
        if (part >= 2) {
            l = atom(m, "bulk.read", 0, 1, (axe_arg[]){integer(num(m, 1))});
            l->pred = is(m, me, 0);
            atom(m, "bar.sync", 0, 2,
                 (axe_arg[]){integer(add(m, wg, num(m, 1))),
                             integer(num(m, 128))});
        }
        for (int i = 0; i < 32; i++)
            calc(m, half, num(m, i),
                 axe_cast(m->cx, AXE_NOWHERE, AXE_TYPE_f16,
                          element(m, acc, num(m, part * 32 + i))));
        for (int i = 0; i < 4; i++)
            atom(m, "stmatrix.x4", 0, 2,
                 (axe_arg[]){at(stage, add(m, add(m, base, mul(m, r, 64)),
                                           add(m, num(m, i * 16),
                                               mul(m, quot(m, lane, 16), 8)))),
                             at(half, num(m, i * 8))});
        atom(m, "bulk.fence", 0, 1, (axe_arg[]){at(stage, num(m, 0))});
        atom(m, "bar.sync", 0, 2,
             (axe_arg[]){integer(add(m, wg, num(m, 1))), integer(num(m, 128))});
        l = atom(m, "tma.store", 2, 2,
                 (axe_arg[]){box(m, map + MAP_C, add(m, col, num(m, part * 64)),
                                 add(m, row, mul(m, wg, 64))),
                             at(stage, base)});
        l->pred = is(m, me, 0);
        l = atom(m, "bulk.commit", 0, 0, NULL);
        l->pred = is(m, me, 0);
    }
    axe_lir *l = atom(m, "bulk.drain", 0, 1, (axe_arg[]){integer(num(m, 0))});
    l->pred = is(m, me, 0);
}

/* Shared memory and registers of a CTA. */
typedef struct gemm_room {
    const axe_tensor *a, *b, *full, *empty, *stage, *acc, *half;
} gemm_room;

static inline gemm_room
gemm_begin(maker *m, const gemm_spec *g)
{
    gemm_room r;

    r.a = buffer(m, "a", AXE_TYPE_f16, (int64_t)g->stages * 128 * 64, 128);
    r.b = buffer(m, "b", AXE_TYPE_f16, (int64_t)g->stages * g->bn * 64, 128);
    r.stage = buffer(m, "stage", AXE_TYPE_f16, 4 * 64 * 64, 128);
    r.full = buffer(m, "full", AXE_TYPE_i64, g->stages, 0);
    r.empty = buffer(m, "empty", AXE_TYPE_i64, g->stages, 0);
    r.acc = array(m, "acc", AXE_TYPE_f32, g->bn / 2);
    r.half = array(m, "half", AXE_TYPE_f16, 32);
    gemm_inits(m, g, r.full, r.empty);
    return r;
}

static inline void
gemm_maps(maker *m, const gemm_spec *g, const axe_tensor *a,
          const axe_tensor *b, const axe_tensor *c)
{
    (void)new_map(m, a, 128, 64, 128);
    (void)new_map(m, b, g->bn / g->cluster, 64, 128);
    (void)new_map(m, c, 64, 64, 128);
}

static inline const axe_lowered *
make_gemm(maker *m, axe_ctx *cx, const gemm_spec *g)
{
    const axe_tensor *ta, *tb, *tc;
    int64_t           tiles_m = g->m / 128;
    node              block, row, col, group, wg;
    gemm_room         r;

    make(m, cx, "sm_90a", 384, g->cluster, tiles_m * (g->n / g->bn));
    ta = param(m, "A", AXE_TYPE_f16, AXE_DIR_IN, g->m, g->k);
    tb = param(m, "B", AXE_TYPE_f16, AXE_DIR_IN, g->n, g->k);
    tc = param(m, "C", AXE_TYPE_f16, AXE_DIR_OUT, g->m, g->n);
    gemm_maps(m, g, ta, tb, tc);
    r = gemm_begin(m, g);
    block = id(m, AXE_ID_BLOCK);
    row = mul(m, rem(m, block, tiles_m), 128);
    col = mul(m, quot(m, block, tiles_m), g->bn);
    group = quot(m, id(m, AXE_ID_WARP), 4);
    wg = op2(m, AXE_OP_sub, group, num(m, 1));
    begin_if(m, is(m, group, 0));
    gemm_produce(m, g, r.a, r.b, r.full, r.empty, 0, row, col);
    end(m);
    begin_if(m, op2(m, AXE_OP_lt, num(m, 0), group));
    gemm_multiply(m, g, r.a, r.b, r.acc, r.full, r.empty, wg);
    gemm_end(m, g, r.acc, r.half, r.stage, wg, 0, row, col);
    end(m);
    if (g->cluster > 1)
        atom(m, "barrier.cluster", 0, 0, NULL);
    return made(m);
}

/* C = A B^T, D = C B^T in one launch, N = K: CTAs of the second one wait until
 * all of their rows of C are counted, by each warpgroup that has written some.
 * B' does not change. */
static inline const axe_lowered *
make_chain(maker *m, axe_ctx *cx, const gemm_spec *g)
{
    const axe_tensor *ta, *tb, *tc, *td, *ready;
    int64_t           tiles_m = g->m / 128, tiles = tiles_m * (g->n / g->bn);
    node              block, tile, row, col, group, wg, me, second;
    gemm_room         r;
    axe_lir          *l;

    make(m, cx, "sm_90a", 384, g->cluster, 2 * tiles);
    ta = param(m, "A", AXE_TYPE_f16, AXE_DIR_IN, g->m, g->k);
    tb = param(m, "B", AXE_TYPE_f16, AXE_DIR_IN, g->n, g->k);
    tc = param(m, "C", AXE_TYPE_f16, AXE_DIR_OUT, g->m, g->n);
    td = param(m, "D", AXE_TYPE_f16, AXE_DIR_OUT, g->m, g->n);
    ready = param(m, "ready", AXE_TYPE_i64, AXE_DIR_INOUT, 1, tiles_m);
    gemm_maps(m, g, ta, tb, tc);
    gemm_maps(m, g, tc, tb, td);
    r = gemm_begin(m, g);
    block = id(m, AXE_ID_BLOCK);
    tile = rem(m, block, tiles);
    row = rem(m, tile, tiles_m);
    col = mul(m, quot(m, tile, tiles_m), g->bn);
    group = quot(m, id(m, AXE_ID_WARP), 4);
    wg = op2(m, AXE_OP_sub, group, num(m, 1));
    me = add(m, mul(m, rem(m, id(m, AXE_ID_WARP), 4), 32), id(m, AXE_ID_LANE));
    for (int turn = 0; turn < 2; turn++) {
        second = op2(m, AXE_OP_le, num(m, tiles), block);
        begin_if(m, turn == 1 ? second : less(m, block, tiles));
        begin_if(m, is(m, group, 0));
        if (turn == 1) {
            l = atom(m, "counter.reach", 0, 2,
                     (axe_arg[]){at(ready, row),
                                 integer(num(m, 2 * (g->n / g->bn)))});
            l->pred = is(m, me, 0);
            atom(m, "tx.fence", 0, 0, NULL)->pred = is(m, me, 0);
        }
        gemm_produce(m, g, r.a, r.b, r.full, r.empty, turn * 3,
                     mul(m, row, 128), col);
        end(m);
        begin_if(m, op2(m, AXE_OP_lt, num(m, 0), group));
        gemm_multiply(m, g, r.a, r.b, r.acc, r.full, r.empty, wg);
        gemm_end(m, g, r.acc, r.half, r.stage, wg, turn * 3, mul(m, row, 128),
                 col);
        if (turn == 0) {
            l = atom(m, "counter.count", 0, 1, (axe_arg[]){at(ready, row)});
            l->pred = is(m, me, 0);
        }
        end(m);
        end(m);
    }
    if (g->cluster > 1)
        atom(m, "barrier.cluster", 0, 0, NULL);
    return made(m);
}

#endif
