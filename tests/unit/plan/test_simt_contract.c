/* test_simt_contract.c - which atoms contractions of many threads run on, what
 * feeds them; every product exactly once. */
#include <stdio.h>

#include "ir/number.h"
#include "plan/simt/contract/contract.h"
#include "planned.h"
#include "share.h"
#include "sim/sim.h"

static void
show_feed(axe_buf *b, const axe_factor *f)
{
    if (f->direct)
        axe_putf(b, "direct %d %d%s, %d/%d cycles", (int)f->desc.lead,
                 (int)f->desc.stride, f->desc.major ? " major" : "",
                 (int)f->desc.banks.cycles, (int)f->desc.banks.phases);
    else if (f->held)
        axe_putf(b, "held, %d registers", (int)f->regs);
    else
        axe_putf(b, "%s x %d, %d registers, %d/%d cycles", f->load.atom->name,
                 (int)f->load.n_invocation, (int)f->regs,
                 (int)f->load.banks.cycles, (int)f->load.banks.phases);
}

/* "atom P: repetitions; a; b" of each contraction. */
static const char *
summary(axe_ctx *cx, const axe_plan *p)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < p->n_schedule; i++) {
        const axe_simt_contract *sc =
            p->schedule[i] ? p->schedule[i]->simt->contract : NULL;
        if (!sc)
            continue;
        if (b.len > 0)
            axe_putf(&b, "\n");
        axe_putf(&b, "%s %d: %d x %d x %d; ", sc->atom->name, sc->param,
                 (int)sc->m.n_rep, (int)sc->n.n_rep, (int)sc->k.n_rep);
        show_feed(&b, &sc->a);
        axe_putf(&b, "; ");
        show_feed(&b, &sc->b);
    }
    return b.text ? b.text : "none";
}

static const char *
kernel(axe_ctx *cx, const char *type, const char *right, int bm, int bn, int bk,
       const char *order, const char *keys)
{
    bool        ta = order[0] == 't', tb = order[1] == 't';
    bool        tmem = strncmp(keys, "tmem", 4) == 0;
    const char *acc = axe_textf(cx, "accum(%s)", type);

    return axe_textf(
        cx,
        "kernel g(in %s A[%s], in %s B[%s], out accum(%s) C[M, N]) { "
        "index m, n, k; cta (i : M by %d, j : N by %d) %s { %s %s acc[%d, %d] "
        "= 0; pipeline r[2] { shared %s a[%d, %d]; shared %s b[%d, %d]; } for "
        "(t : K by %d) { produce r { r.a[m, k] = A[%s]; r.b[n, k] = B[%s]; } "
        "consume r acc[m, n] += %s(r.a[m, k]) * %s(r.b[n, k]); } "
        "C[i*%d + m, j*%d + n] = acc[m, n]; } }",
        type, ta ? "K, M" : "M, K", right, tb ? "K, N" : "N, K", type, bm, bn,
        keys + (tmem ? 4 : 0), tmem ? "tmem" : "reg", acc, bm, bn, type, bm, bk,
        right, bn, bk, bk,
        ta ? axe_textf(cx, "t*%d + k, i*%d + m", bk, bm)
           : axe_textf(cx, "i*%d + m, t*%d + k", bm, bk),
        tb ? axe_textf(cx, "t*%d + k, j*%d + n", bk, bn)
           : axe_textf(cx, "j*%d + n, t*%d + k", bn, bk),
        acc, acc, bm, bn);
}

/* A and B as [row, k] (n) or [k, row] (t); keys of the cta, behind `tmem` where
 * sums are there. */
static const struct {
    const char *machine, *type, *right; /* right: of B */
    int         bm, bn, bk;
    const char *order, *keys, *want;
} row[] = {
    {"sm_80", "f16", "f16", 128, 128, 32, "nn", "",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "f16", "f16", 128, 128, 64, "tt", "",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 4; ldmatrix.x4.trans x 2, 16 registers, "
     "8/8 cycles; ldmatrix.x4.trans x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "bf16", "bf16", 128, 128, 64, "nt", "",
     "mma.m16n8k16.f32.bf16 1: 2 x 8 x 4; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4.trans x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "bf16", "bf16", 128, 128, 64, "tn", "",
     "mma.m16n8k16.f32.bf16 1: 2 x 8 x 4; ldmatrix.x4.trans x 2, 16 registers, "
     "8/8 cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "bf16", "bf16", 64, 64, 64, "nn", "warps 4",
     "mma.m16n8k16.f32.bf16 1: 2 x 4 x 4; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 2, 16 registers, 8/8 cycles"},
    {"sm_80", "f16", "f16", 96, 64, 16, "nn", "warps 4",
     "mma.m16n8k16.f32.f16 1: 3 x 4 x 1; ldmatrix.x4 x 3, 24 registers, 12/12 "
     "cycles; ldmatrix.x4 x 2, 16 registers, 8/8 cycles"},
    {"sm_80", "tf32", "tf32", 128, 128, 32, "nn", "",
     "mma.m16n8k8.f32.tf32 1: 2 x 8 x 4; ldmatrix.x4 x 2, 8 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 16 registers, 16/16 cycles"},
    {"sm_80", "tf32", "tf32", 128, 128, 32, "tt", "",
     "mma.m16n8k8.f32.tf32 1: 2 x 8 x 4; ld.shared.b32 x 8, 8 registers, 8/8 "
     "cycles; ld.shared.b32 x 16, 16 registers, 16/16 cycles"},
    {"sm_80", "i8", "i8", 128, 128, 64, "nn", "",
     "mma.m16n8k32.s32.s8 1: 2 x 8 x 2; ldmatrix.x4 x 2, 32 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 64 registers, 16/16 cycles"},
    {"sm_80", "i8", "i8", 128, 128, 64, "tn", "",
     "mma.m16n8k32.s32.s8 1: 1 x 16 x 2; ld.shared.b8 x 16, 16 registers, "
     "32/16 cycles; ldmatrix.x4 x 8, 128 registers, 32/32 cycles"},
    {"sm_80", "f64", "f64", 64, 64, 16, "nn", "",
     "mma.m8n8k4.f64 1: 2 x 4 x 4; ld.shared.b64 x 2, 2 registers, 4/4 cycles; "
     "ld.shared.b64 x 4, 4 registers, 8/8 cycles"},
    {"sm_80", "f32", "f32", 128, 128, 32, "nn", "",
     "fma.f32 1: 8 x 8 x 32; ld.shared.b128 x 8, 32 registers, 32/32 cycles; "
     "ld.shared.b128 x 8, 32 registers, 32/32 cycles"},
    {"sm_80", "f32", "f32", 128, 128, 32, "tt", "",
     "fma.f32 1: 8 x 8 x 32; ld.shared.b32 x 8, 8 registers, 8/8 cycles; "
     "ld.shared.b128 x 2, 8 registers, 8/8 cycles"},
    {"sm_90a", "f16", "f16", 128, 128, 32, "nn", "",
     "wgmma.f32.f16.ss 128: 1 x 1 x 2; direct 0 512, 16/16 cycles; direct 0 "
     "512, 32/32 cycles"},
    {"sm_90a", "f16", "f16", 128, 256, 64, "nn", "",
     "wgmma.f32.f16.ss 256: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 64/64 cycles"},
    {"sm_90a", "f16", "f16", 128, 256, 64, "tt", "",
     "wgmma.f32.f16.ss 256: 1 x 1 x 4; direct 0 1024 major, 16/16 cycles; "
     "direct 8192 1024 major, 64/64 cycles"},
    {"sm_90a", "bf16", "bf16", 256, 128, 64, "nt", "",
     "wgmma.f32.bf16.ss 128: 2 x 1 x 4; direct 0 1024, 16/16 cycles; direct "
     "8192 1024 major, 32/32 cycles"},
    {"sm_90a", "bf16", "bf16", 64, 24, 64, "nn", "warps 4",
     "wgmma.f32.bf16.ss 24: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 6/6 cycles"},
    {"sm_90a", "bf16", "bf16", 16, 256, 64, "nn", "",
     "wgmma.f32.bf16.ss 16: 2 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 4/4 cycles"},
    {"sm_90a", "f8e4m3", "f8e4m3", 128, 128, 128, "nn", "",
     "wgmma.f32.e4m3.ss 128: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_90a", "f8e5m2", "f8e5m2", 128, 128, 128, "nt", "",
     "wgmma.f32.e5m2.ss 128: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_90a", "tf32", "tf32", 128, 128, 32, "nn", "",
     "wgmma.f32.tf32.ss 128: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_90a", "i8", "i8", 128, 128, 128, "nn", "",
     "wgmma.s32.s8.ss 128: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_90a", "f64", "f64", 64, 64, 16, "nn", "",
     "mma.m16n8k4.f64 1: 1 x 4 x 4; ld.shared.b64 x 2, 2 registers, 4/4 "
     "cycles; ld.shared.b64 x 4, 4 registers, 8/8 cycles"},
    {"sm_80", "f16", "f16", 96, 72, 48, "nn", "",
     "this sum of products would run far below the machine's best: no contract "
     "atom fits"},
    /* sums in tensor memory */
    {"sm_100a", "f16", "f16", 128, 128, 64, "nn", "tmem",
     "tc.f32.f16.m128.ss 128: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_100a", "bf16", "bf16", 128, 256, 64, "nt", "tmem threads 128",
     "tc.f32.bf16.m128.ss 256: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct "
     "8192 1024 major, 64/64 cycles"},
    {"sm_100a", "bf16", "bf16", 128, 64, 64, "tn", "tmem",
     "tc.f32.bf16.m128.ss 64: 1 x 1 x 4; direct 8192 1024 major, 32/32 cycles; "
     "direct 0 1024, 16/16 cycles"},
    {"sm_100a", "f16", "f16", 64, 96, 64, "tt", "tmem threads 128",
     "tc.f32.f16.m64.ss 96: 1 x 1 x 4; direct 0 1024 major, 16/16 cycles; "
     "direct 4096 512 major, 24/24 cycles"},
    {"sm_100a", "f16", "f16", 128, 512, 32, "nn", "tmem",
     "tc.f32.f16.m128.ss 256: 1 x 2 x 2; direct 0 512, 32/32 cycles; direct 0 "
     "512, 64/64 cycles"},
    {"sm_100a", "f16", "f16", 128, 40, 64, "nn", "tmem",
     "tc.f32.f16.m64.ss 40: 2 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 10/10 cycles"},
    {"sm_100a", "f8e4m3", "f8e4m3", 128, 128, 128, "nn", "tmem",
     "tc.f32.e4m3.m128.ss 128: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct "
     "0 1024, 32/32 cycles"},
    {"sm_100a", "f8e4m3", "f8e5m2", 128, 128, 64, "nn", "tmem",
     "tc.f32.e4m3.e5m2.m128.ss 128: 1 x 1 x 2; direct 0 512, 32/32 cycles; "
     "direct 0 512, 32/32 cycles"},
    {"sm_100a", "f8e5m2", "f8e5m2", 64, 128, 128, "nn", "tmem threads 128",
     "tc.f32.e5m2.m128.ss 64: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct 0 "
     "1024, 16/16 cycles"},
    {"sm_100a", "tf32", "tf32", 128, 128, 32, "nn", "tmem",
     "tc.f32.tf32.m128.ss 128: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct "
     "0 1024, 32/32 cycles"},
    {"sm_100a", "i8", "i8", 128, 128, 128, "nn", "tmem",
     "tc.s32.s8.m128.ss 128: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_100a", "f16", "f16", 256, 128, 64, "nn", "tmem",
     "tc.f32.f16.m128.ss 128: 2 x 1 x 4; direct 0 1024, 32/32 cycles; direct 0 "
     "1024, 32/32 cycles"},
    {"sm_100a", "f16", "f16", 128, 128, 64, "nn", "",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 4; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_100a", "f16", "f16", 32, 128, 64, "nn", "tmem threads 128",
     "tc.f32.f16.m128.ss 32: 1 x 1 x 4; direct 0 1024, 32/32 cycles; direct 0 "
     "1024, 8/8 cycles"},
    /* converted on the way */
    {"sm_80", "f16", "f8e4m3", 128, 128, 64, "nn", "",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 4; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ld.shared.b16 x 16, 32 registers, 16/16 cycles"},
    {"sm_80", "bf16", "f8e5m2", 64, 128, 32, "nt", "",
     "mma.m16n8k16.f32.bf16 1: 2 x 4 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ld.shared.b8 x 16, 16 registers, 16/16 cycles"},
    {"sm_90a", "f16", "f8e4m3", 128, 128, 64, "nn", "",
     "wgmma.f32.f16.rs 128: 1 x 1 x 4; ld.shared.b16 x 4, 8 registers, 4/4 "
     "cycles; direct 0 1024, 32/32 cycles"},
    {"sm_90a", "f8e4m3", "bf16", 64, 128, 64, "nt", "warps 4",
     "wgmma.f32.bf16.rs 128: 1 x 1 x 4; ld.shared.b16 x 4, 8 registers, 4/4 "
     "cycles; direct 8192 1024 major, 32/32 cycles"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *got;
        const char     *text =
            kernel(cx, row[i].type, row[i].right, row[i].bm, row[i].bn,
                   row[i].bk, row[i].order, row[i].keys);
        if (plan_for(cx, text, row[i].machine, &p) != AXE_OK)
            got = axe_last_error(cx);
        else
            got = summary(cx, p);
        if (strcmp(got, row[i].want) != 0)
            fail_msg("row %d: %s\n", i, got);
        axe_ctx_free(cx);
    }
}

/* ------------------------------------------------------------------- chains */

/* (A B^T) V: the first product's sums, by way of `middle`, are the second one's
 * left factor. */
static const char *
chain(axe_ctx *cx, const char *middle)
{
    return axe_textf(
        cx,
        "kernel g(in f16 A[M, 64], in f16 B[64, 64], in f16 V[64, 64], "
        "out f32 C[M, 64]) { index m, n, d; cta (i : M by 128) warps 8 { "
        "shared f16 a[128, 64]; shared f16 b[64, 64]; shared f16 v[64, 64]; "
        "reg f32 s[128, 64] = 0; reg f16 p[128, 64]; reg f32 acc[128, 64] = 0; "
        "reg f32 top[128]; "
        "a[m, d] = A[i*128 + m, d]; b[n, d] = B[n, d]; v[n, d] = V[n, d]; "
        "s[m, n] += a[m, d] * b[n, d]; %s "
        "acc[m, d] += p[m, n] * v[n, d]; C[i*128 + m, d] = acc[m, d]; } }",
        middle);
}

static const struct {
    const char *machine, *middle, *want;
} links[] = {
    {"sm_80", "p[m, n] = f16(s[m, n]);",
     "mma.m16n8k16.f32.f16 1: 1 x 8 x 4; ldmatrix.x4 x 1, 8 registers, 4/4 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles\n"
     "mma.m16n8k16.f32.f16 1: 1 x 8 x 4; held, 32 registers; "
     "ldmatrix.x4.trans x 4, 32 registers, 16/16 cycles"},
    {"sm_80",
     "top[m] = max[n](s[m, n]); p[m, n] = f16(exp2(s[m, n] - top[m]));",
     "mma.m16n8k16.f32.f16 1: 1 x 8 x 4; ldmatrix.x4 x 1, 8 registers, 4/4 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles\n"
     "mma.m16n8k16.f32.f16 1: 1 x 8 x 4; held, 32 registers; "
     "ldmatrix.x4.trans x 4, 32 registers, 16/16 cycles"},
    {"sm_90a", "p[m, n] = f16(s[m, n]);",
     "wgmma.f32.f16.ss 64: 1 x 1 x 4; direct 0 1024, 16/16 cycles; direct 0 "
     "1024, 16/16 cycles\n"
     "wgmma.f32.f16.rs 64: 1 x 1 x 4; held, 32 registers; direct 0 1024 "
     "major, 16/16 cycles"},
};

/* No tile between, no warps that share a row, no zeros to begin with. */
static void
test_chains(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(links); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *got;
        if (plan_for(cx, chain(cx, links[i].middle), links[i].machine, &p) !=
            AXE_OK)
            fail_msg("chain %d: %s", i, axe_last_error(cx));
        got = summary(cx, p);
        if (strcmp(got, links[i].want) != 0)
            fail_msg("chain %d: %s\n", i, got);
        for (int k = 0; k < p->n_schedule; k++) {
            const axe_simt_contract *sc = p->schedule[k]->simt->contract;
            assert_int_equal(p->schedule[k]->simt->scratch, 0);
            if (sc)
                assert_int_equal(sc->begins, sc->atom->fresh);
        }
        assert_int_equal(p->n_place, p->kernel->n_tensor);
        axe_ctx_free(cx);
    }
}

/* ---------------------------------------------------------------- products */

static double
get(axe_type t, const void *data, int64_t i)
{
    const char *at = (const char *)data + i * axe_type_table[t].bits / 8;

    return axe_type_is_float(t) ? axe_number_get(t, at)
                                : (double)axe_number_get_int(t, at);
}

static void
put(axe_type t, void *data, int64_t i, double v)
{
    char *at = (char *)data + i * axe_type_table[t].bits / 8;

    if (axe_type_is_float(t))
        axe_number_put(t, at, v);
    else
        axe_number_put_int(t, at, (int64_t)v);
}

/* A matrix of small integers, which all types hold. */
static axe_sim_array
matrix(axe_ctx *cx, axe_type t, int64_t rows, int64_t columns, int seed)
{
    int64_t      *shape = axe_new_array(cx, int64_t, 2);
    axe_sim_array a = {.data =
                           axe_alloc(cx, (size_t)(rows * columns * 8) + 16)};

    shape[0] = rows;
    shape[1] = columns;
    a.shape = shape;
    for (int64_t i = 0; i < rows * columns; i++)
        put(t, a.data, i, (double)((i * 7 + i / 5 + seed) % 5));
    return a;
}

/* Every element of C against the sum. */
static void
expect_product(const axe_sim_array *x, axe_type t, axe_type u, axe_type acc,
               int64_t k, const char *order, int at)
{
    int64_t m = x[2].shape[0], n = x[2].shape[1];
    bool    ta = order[0] == 't', tb = order[1] == 't';

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double want = 0, got = get(acc, x[2].data, i * n + j);
            for (int64_t h = 0; h < k; h++)
                want += get(t, x[0].data, ta ? h * m + i : i * k + h) *
                        get(u, x[1].data, tb ? h * n + j : j * k + h);
            if (got != want)
                fail_msg("row %d: C[%d, %d] is %g, not %g", at, (int)i, (int)j,
                         got, want);
        }
}

static void
simulate(axe_ctx *cx, const axe_plan *p, int r, axe_sim_policy policy)
{
    const axe_lowered *l;
    axe_type           t, u, acc;
    int64_t            m = row[r].bm + 40, n = row[r].bn + 24;
    int64_t            k = row[r].bk * 2 + 16;
    axe_sim_report     rep;
    axe_buf            said = {.cx = cx};

    assert_true(axe_type_find(row[r].type, &t));
    assert_true(axe_type_find(row[r].right, &u));
    acc = axe_type_table[t].accum;
    axe_sim_array x[3] = {row[r].order[0] == 't' ? matrix(cx, t, k, m, 1)
                                                 : matrix(cx, t, m, k, 1),
                          row[r].order[1] == 't' ? matrix(cx, u, k, n, 2)
                                                 : matrix(cx, u, n, k, 2),
                          matrix(cx, acc, m, n, 3)};
    int64_t size[3];
    for (int i = 0; i < 3; i++) {
        const char *name = p->kernel->size[i]->name;
        size[i] = *name == 'M' ? m : *name == 'N' ? n : k;
    }
    axe_sim_spec spec = {
        .param = x, .size = size, .with = {.policy = policy, .seed = 1}};
    if (axe_lower(cx, p, &l) != AXE_OK ||
        axe_simulate(cx, l, &spec, &rep) != AXE_OK)
        fail_msg("row %d: %s", r, axe_last_error(cx));
    axe_sim_report_print(cx, &said, &rep);
    if (rep.n_finding > 0)
        fail_msg("row %d: %s", r, said.text);
    expect_product(x, t, u, acc, k, row[r].order, r);
}

/* Ragged in all three sizes. */
static void
test_products(void **state)
{
    static const axe_sim_policy policy[] = {AXE_SIM_LAZY, AXE_SIM_RANDOM};

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i += share()) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *text =
            kernel(cx, row[i].type, row[i].right, row[i].bm, row[i].bn,
                   row[i].bk, row[i].order, row[i].keys);
        if (plan_for(cx, text, row[i].machine, &p) == AXE_OK)
            simulate(cx, p, i, policy[i % 2]);
        axe_ctx_free(cx);
    }
}

/* What the notes of a refusal say. */
static const struct {
    const char *type;
    int         bm, bn, bk;
    const char *note;
} refused[] = {
    {"f16", 96, 72, 48,
     "contract: 256 threads share 96 x 72 in whole atoms only of ones far "
     "slower than the best of sm_80: choose other extents or threads\n"},
    {"f16", 24, 24, 32,
     "contract: 256 threads do not share 24 x 24 in whole atoms: choose other "
     "extents or threads\n"},
    {"f16", 256, 512, 16,
     "contract: 256 x 512 sums take at least 604 registers of each of 256 "
     "threads, which has 255: choose smaller extents or more threads\n"},
    {"f16", 256, 512, 512,
     "contract: its factors take 786432 bytes of shared memory, of which a CTA "
     "of sm_80 may have 166912: choose smaller tiles\n"},
};

static void
test_refusals(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(refused); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        axe_buf         said = {.cx = cx};
        const char     *text =
            kernel(cx, refused[i].type, refused[i].type, refused[i].bm,
                   refused[i].bn, refused[i].bk, "nn", "");
        assert_int_not_equal(plan_for(cx, text, "sm_80", &p), AXE_OK);
        axe_diags_print(cx, &said, false);
        if (!strstr(said.text, refused[i].note))
            fail_msg("row %d: %s", i, said.text);
        axe_ctx_free(cx);
    }
}

/* Tiles that the text lays out: c with holes between registers; a with a
 * swizzle that no descriptor says. */
static void
test_declared(void **state)
{
#define ROWS(gap, swizzle)                                                     \
    "kernel g(in f16 A[M, K], in f16 B[N, K], out f32 C[M, N]) { index m, n, " \
    "k; cta (i : M by 64, j : N by 32) warps 4 { reg f32 acc[64, 32] : ((4, "  \
    "2, 8), (4, 4, 2)) : ((1@warp, 2@reg, 4@lane), (" gap                      \
    "@reg, 1@lane, 1@reg)); shared f16 a[64, 16] : " swizzle                   \
    "(64, 16) : (16, 1); shared f16 b[32, 16]; acc[m, n] = 0; for (t : K by "  \
    "16) { a[m, k] = A[i*64 + m, t*16 + k]; b[n, k] = B[j*32 + n, t*16 + k]; " \
    "acc[m, n] += a[m, k] * b[n, k]; } C[i*64 + m, j*32 + n] = acc[m, n]; } }"
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p;
    axe_buf         said = {.cx = cx};

    (void)state;
    assert_int_not_equal(plan_for(cx, ROWS("8", ""), "sm_90a", &p), AXE_OK);
    axe_diags_print(cx, &said, false);
    assert_non_null(
        strstr(said.text, "acc does not lie as an equal share of each thread"));
    assert_int_equal(plan_for(cx, ROWS("4", ""), "sm_90a", &p), AXE_OK);
    assert_non_null(strstr(summary(cx, p), "wgmma.f32.f16.rs 32"));
    assert_int_equal(plan_for(cx, ROWS("4", "swizzle(32) o "), "sm_90a", &p),
                     AXE_OK);
    assert_non_null(strstr(summary(cx, p), "wgmma.f32.f16.ss 32"));
    assert_int_equal(
        plan_for(cx, ROWS("4", "swizzle<1, 4, 3> o "), "sm_90a", &p), AXE_OK);
    assert_non_null(strstr(summary(cx, p), "wgmma.f32.f16.rs 32"));
    axe_ctx_free(cx);
}

/* Rows or columns counted by several indices, loops that are such, and others
 * that stay loops: 4 rows of 32 columns each. */
static const struct {
    const char *machine, *loops, *want;
} several[] = {
    {"sm_80", "acc[r, m, n] += a[m, k] * b[r, n, k];",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "acc[r, m, n] += b[r, n, k] * a[m, k];",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_80", "for (u : 4) acc[u, m, n] += a[m, k] * b[u, n, k];",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_80",
     "for (u : 4) for (v : 2) acc[u, m, n] += a[m, k] * b[u + v - v, n, k];",
     "mma.m16n8k16.f32.f16 1: 2 x 8 x 2; ldmatrix.x4 x 2, 16 registers, 8/8 "
     "cycles; ldmatrix.x4 x 4, 32 registers, 16/16 cycles"},
    {"sm_90a", "acc[r, m, n] += a[m, k] * b[r, n, k];",
     "wgmma.f32.f16.ss 128: 1 x 1 x 2; direct 0 512, 16/16 cycles; direct 0 "
     "512, 32/32 cycles"},
    {"sm_80",
     "for (u : 4) for (v : u + 1) acc[u, m, n] += a[m, k] * b[u, n, k];",
     "this sum of products would run far below the machine's best: no contract "
     "atom fits"},
    {"sm_80", "for (u : 3) acc[u + 1, m, n] += a[m, k] * b[u, n, k];",
     "this sum of products would run far below the machine's best: no contract "
     "atom fits"},
};

static void
test_several(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(several); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *got, *text = axe_textf(cx,
                                               "kernel g(in f16 A[M, K], in f16 "
                                                   "B[4, N, K], out f32 C[4, M, N]) { "
                                                   "index r, m, n, k; cta (i : M by "
                                                   "64, j : N by 64) { reg f32 acc[4, "
                                                   "64, 64] = 0; for (t : K by 32) { "
                                                   "shared f16 a[64, 32]; shared f16 "
                                                   "b[4, 64, 32]; a[m, k] = A[i*64 + "
                                                   "m, t*32 + k]; b[r, n, k] = B[r, "
                                                   "j*64 + n, t*32 + k]; %s } C[r, "
                                                   "i*64 + m, j*64 + n] = acc[r, m, "
                                                   "n]; } }",
                                               several[i].loops);
        if (plan_for(cx, text, several[i].machine, &p) != AXE_OK)
            got = axe_last_error(cx);
        else
            got = summary(cx, p);
        if (strcmp(got, several[i].want) != 0)
            fail_msg("row %d: %s\n", i, got);
        axe_ctx_free(cx);
    }
}

/* What is said of extents that no fast row takes; NULL: nothing. */
static const struct {
    const char *machine, *type;
    int         bm, bn, bk;
    const char *slow, *want;
} slow[] = {
    {"sm_90a", "f16", 100, 64, 64, "",
     "fma.f32 multiplies this, 16 times slower than wgmma.f32.f16.ss could: "
     "100 x 64 x 64 are no whole atoms of 64 x 8 x 16"},
    {"sm_90a", "f16", 100, 64, 64, "slow", NULL},
    {"sm_90a", "f16", 128, 64, 64, "", NULL},
    {"sm_80", "bf16", 64, 60, 32, "",
     "fma.f32 multiplies this, 8 times slower than mma.m16n8k16.f32.bf16 "
     "could: 64 x 60 x 32 are no whole atoms of 16 x 8 x 16"},
    {"sm_80", "f32", 64, 64, 4, "", NULL}, /* no row is faster */
};

static void
test_slow(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(slow); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *want = slow[i].want;
        int             bm = slow[i].bm, bn = slow[i].bn, bk = slow[i].bk;
        const char     *text = axe_textf(
                cx,
                "kernel g(in %s A[M, K], in %s B[N, K], out f32 C[M, N]) { index "
                    "m, n, k; cta (i : M by %d, j : N by %d) threads 128 { reg f32 "
                    "acc[%d, %d] = 0; shared %s a[%d, %d]; shared %s b[%d, %d]; for (t "
                    ": K by %d) { a[m, k] = A[i*%d + m, t*%d + k]; b[n, k] = B[j*%d + "
                    "n, t*%d + k]; acc[m, n] += a[m, k] * b[n, k] %s; } C[i*%d + m, "
                    "j*%d + n] = acc[m, n]; } }",
                slow[i].type, slow[i].type, bm, bn, bm, bn, slow[i].type, bm, bk,
                slow[i].type, bn, bk, bk, bm, bk, bn, bk, slow[i].slow, bm, bn);
        assert_int_equal(plan_for(cx, text, slow[i].machine, &p), AXE_OK);
        const axe_diag *d = axe_diags(cx);
        if (!d != !want || (d && strcmp(d->text, want) != 0))
            fail_msg("row %d: %s\n", i, d ? d->text : "nothing is said");
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_chains),
        cmocka_unit_test(test_products), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_declared), cmocka_unit_test(test_several),
        cmocka_unit_test(test_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
