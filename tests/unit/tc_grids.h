/* tc_grids.h - products in tensor memory, made by hand, for tests of the
 * simulator and of the printer. */
#ifndef TC_GRIDS_H
#define TC_GRIDS_H

#include "sim_grids.h"

/* C[m][n] = A[m][k] B[n][k]; 128 rows of C to a CTA, tiles of bn columns one
 * after the other into two accumulators.  Warp 4 copies, warp 5 asks for
 * products, warps 0 to 3 store the sums.
 *
 * ctas = 2: two CTAs have 256 rows, and half of B each.  The first asks for
 * products of both. */
typedef struct tc_spec {
    int64_t m, n, k;
    int     bn, stages, ctas;
} tc_spec;

typedef struct tc_grid {
    const axe_tensor *a, *b, *c, *full, *empty, *ready, *taken, *word;
    const axe_tensor *acc, *base, *out;
} tc_grid;

static inline void
tc_barrier(maker *m, const tc_spec *t)
{
    atom(m, "tc.before", 0, 0, NULL);
    atom(m, t->ctas > 1 ? "barrier.cluster" : "barrier.cta", 0, 0, NULL);
    atom(m, "tc.after", 0, 0, NULL);
}

static inline void
tc_begin(maker *m, const tc_spec *t, const tc_grid *g)
{
    if (t->ctas > 1)
        atom(m, "barrier.cluster", 0, 0, NULL);
    begin_if(m, is(m, id(m, AXE_ID_WARP), 0));
    atom(m, t->ctas > 1 ? "tc.pair.alloc" : "tc.alloc", 0, 2,
         (axe_arg[]){at(g->word, num(m, 0)), integer(num(m, 2 * t->bn))});
    end(m);
    begin_if(m, is(m, thread(m), 32));
    for (int i = 0; i < t->stages; i++) {
        atom(m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(g->full, num(m, i)), integer(num(m, 1))});
        atom(m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(g->empty, num(m, i)), integer(num(m, 1))});
    }
    for (int i = 0; i < 2; i++) {
        atom(m, "mbarrier.init", 0, 2,
             (axe_arg[]){at(g->ready, num(m, i)), integer(num(m, 1))});
        atom(
            m, "mbarrier.init", 0, 2,
            (axe_arg[]){at(g->taken, num(m, i)), integer(num(m, 4 * t->ctas))});
    }
    atom(m, "mbarrier.inited", 0, 0, NULL);
    end(m);
    tc_barrier(m, t);
    atom(m, "ld.shared.b32", 0, 2,
         (axe_arg[]){at(g->base, num(m, 0)), at(g->word, num(m, 0))});
}

static inline node
other(maker *m, node phase)
{
    return op2(m, AXE_OP_sub, num(m, 1), phase);
}

/* One box of a stage; its bytes are for the first CTA's barrier. */
static inline void
tc_box(maker *m, const tc_spec *t, const axe_tensor *to, node at_to,
       axe_arg from, axe_arg full)
{
    if (t->ctas > 1) {
        full.space = AXE_ARG_DSMEM;
        full.cta = num(m, 0);
    }
    atom(m, t->ctas > 1 ? "tma.load.pair" : "tma.load", 2, 3,
         (axe_arg[]){at(to, at_to), from, full});
}

/* The stage of iteration i has been read. */
static inline void
tc_await_empty(maker *m, const tc_spec *t, const tc_grid *g, const axe_var *i)
{
    node phase = rem(m, quot(m, var(m, i), t->stages), 2);

    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g->empty, rem(m, var(m, i), t->stages)),
                     integer(other(m, phase))});
}

static inline void
tc_copy(maker *m, const tc_spec *t, const tc_grid *g)
{
    int64_t        nk = t->k / 64, turns = t->n / t->bn * nk;
    int            share = t->bn / t->ctas;
    const axe_var *i = begin_for(m, "i", num(m, 0), num(m, turns));
    node           s = rem(m, var(m, i), t->stages);
    node           kt = rem(m, var(m, i), nk), tile = quot(m, var(m, i), nk);
    node row_b = add(m, mul(m, tile, t->bn), mul(m, id(m, AXE_ID_RANK), share));

    tc_await_empty(m, t, g, i);
    begin_if(m, is(m, id(m, AXE_ID_RANK), 0));
    atom(m, "mbarrier.expect", 0, 2,
         (axe_arg[]){at(g->full, s),
                     integer(num(m, (128 + share) * 128 * t->ctas))});
    end(m);
    tc_box(m, t, g->a, mul(m, s, 128 * 64),
           box(m, 0, mul(m, kt, 64), mul(m, id(m, AXE_ID_BLOCK), 128)),
           at(g->full, s));
    tc_box(m, t, g->b, mul(m, s, share * 64), box(m, 1, mul(m, kt, 64), row_b),
           at(g->full, s));
    end(m);
    i = begin_for(m, "i", num(m, turns), num(m, turns + t->stages));
    tc_await_empty(m, t, g, i);
    end(m);
}

static inline axe_arg
tc_matrix(const axe_tensor *t, node n)
{
    axe_arg a = matrix(t, n);

    a.desc |= UINT64_C(1) << 46;
    return a;
}

static inline void
tc_commit(maker *m, const tc_spec *t, axe_arg bar)
{
    atom(m, t->ctas > 1 ? "tc.pair.commit" : "tc.commit", 0, t->ctas,
         (axe_arg[]){bar, integer(num(m, 3))});
}

static inline void
tc_multiply(maker *m, const tc_spec *t, const tc_grid *g)
{
    int64_t        nk = t->k / 64;
    const axe_var *i = begin_for(m, "i", num(m, 0), num(m, t->n / t->bn));
    node           s = rem(m, var(m, i), 2);
    node           phase = rem(m, quot(m, var(m, i), 2), 2);

    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g->taken, s), integer(other(m, phase))});
    atom(m, "tc.after", 0, 0, NULL);
    const axe_var *kt = begin_for(m, "kt", num(m, 0), num(m, nk));
    node           turn = add(m, mul(m, var(m, i), nk), var(m, kt));
    node           f = rem(m, turn, t->stages);
    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g->full, f),
                     integer(rem(m, quot(m, turn, t->stages), 2))});
    for (int kk = 0; kk < 4; kk++)
        atom(m, t->ctas > 1 ? "tc.f32.f16.pair256.ss" : "tc.f32.f16.m128.ss",
             t->bn, 4,
             (axe_arg[]){
                 in_tmem(g->acc, mul(m, s, t->bn)),
                 tc_matrix(g->a, add(m, mul(m, f, 128 * 64), num(m, kk * 16))),
                 tc_matrix(g->b, add(m, mul(m, f, t->bn / t->ctas * 64),
                                     num(m, kk * 16))),
                 integer(kk > 0 ? num(m, 1)
                                : op2(m, AXE_OP_min, num(m, 1), var(m, kt)))});
    tc_commit(m, t, at(g->empty, f));
    end(m);
    tc_commit(m, t, at(g->ready, s));
    end(m);
}

static inline void
tc_store(maker *m, const tc_spec *t, const tc_grid *g)
{
    const axe_var *i = begin_for(m, "i", num(m, 0), num(m, t->n / t->bn));
    node           s = rem(m, var(m, i), 2);
    node           phase = rem(m, quot(m, var(m, i), 2), 2);
    node           row = add(m, mul(m, id(m, AXE_ID_BLOCK), 128), thread(m));

    atom(m, "mbarrier.wait", 0, 2,
         (axe_arg[]){at(g->ready, s), integer(phase)});
    atom(m, "tc.after", 0, 0, NULL);
    for (int part = 0; part < t->bn / 32; part++) {
        node col = add(m, mul(m, var(m, i), t->bn), num(m, part * 32));
        atom(m, "tc.ld.32x32b.x32", 0, 2,
             (axe_arg[]){
                 at(g->out, num(m, 0)),
                 in_tmem(g->acc, add(m, mul(m, s, t->bn), num(m, part * 32)))});
        atom(m, "tc.ld.drain", 0, 0, NULL);
        for (int r = 0; r < 32; r += 4)
            atom(m, "st.global.b128", 0, 2,
                 (axe_arg[]){at(g->c, add(m, mul(m, row, t->n),
                                          add(m, col, num(m, r)))),
                             at(g->out, num(m, r))});
    }
    atom(m, "tc.before", 0, 0, NULL);
    atom(m, "barrier.warp", 0, 0, NULL);
    axe_lir *l =
        atom(m, t->ctas > 1 ? "mbarrier.arrive.cluster" : "mbarrier.arrive", 0,
             t->ctas, (axe_arg[]){at(g->taken, s), integer(num(m, 0))});
    l->pred = is(m, id(m, AXE_ID_LANE), 0);
    end(m);
}

static inline const axe_lowered *
make_tc(maker *m, axe_ctx *cx, const tc_spec *t)
{
    const axe_tensor *ta, *tb;
    tc_grid           g;
    node              warp;

    make(m, cx, "sm_100a", 192, t->ctas, t->m / 128);
    ta = param(m, "A", AXE_TYPE_f16, AXE_DIR_IN, t->m, t->k);
    tb = param(m, "B", AXE_TYPE_f16, AXE_DIR_IN, t->n, t->k);
    g.c = param(m, "C", AXE_TYPE_f32, AXE_DIR_OUT, t->m, t->n);
    g.a = buffer(m, "a", AXE_TYPE_f16, (int64_t)t->stages * 128 * 64, 128);
    g.b = buffer(m, "b", AXE_TYPE_f16,
                 (int64_t)t->stages * (t->bn / t->ctas) * 64, 128);
    g.full = buffer(m, "full", AXE_TYPE_i64, t->stages, 0);
    g.empty = buffer(m, "empty", AXE_TYPE_i64, t->stages, 0);
    g.ready = buffer(m, "ready", AXE_TYPE_i64, 2, 0);
    g.taken = buffer(m, "taken", AXE_TYPE_i64, 2, 0);
    g.word = buffer(m, "word", AXE_TYPE_u32, 1, 0);
    g.acc = tmem(m, "acc", AXE_TYPE_f32, 2 * t->bn);
    g.base = array(m, "base", AXE_TYPE_u32, 1);
    g.out = array(m, "out", AXE_TYPE_f32, 32);
    m->grid.tmem_base = g.base;
    (void)new_map(m, ta, 128, 64, 128);
    (void)new_map(m, tb, t->bn / t->ctas, 64, 128);
    tc_begin(m, t, &g);
    warp = id(m, AXE_ID_WARP);
    begin_if(m, is(m, thread(m), 128));
    tc_copy(m, t, &g);
    end(m);
    begin_if(m, op2(m, AXE_OP_and, is(m, thread(m), 160),
                    is(m, id(m, AXE_ID_RANK), 0)));
    tc_multiply(m, t, &g);
    end(m);
    begin_if(m, less(m, warp, 4));
    tc_store(m, t, &g);
    end(m);
    tc_barrier(m, t);
    begin_if(m, is(m, warp, 0));
    atom(m, t->ctas > 1 ? "tc.pair.free" : "tc.free", 0, 2,
         (axe_arg[]){in_tmem(g.acc, num(m, 0)), integer(num(m, 2 * t->bn))});
    end(m);
    return made(m);
}

#endif
