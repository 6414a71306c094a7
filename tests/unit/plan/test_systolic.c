/* test_systolic.c - plans for a core of engines: what lies over partitions,
 * what is in PSUM, where tiles are, which statements are one instruction, where
 * loops are cut.  Texts in, texts out. */
#include <inttypes.h>

#include "../planned.h"
#include "plan/systolic/systolic.h"

/* "a sbuf 0 x2 (128, 32) : (1@F, 1@P)", a line for each tile; of a statement
 * that is another one's "s2 with s3"; of a loop that is cut "loop t 4 5". */
static const char *
describe(axe_ctx *cx, const axe_plan *p)
{
    const axe_systolic_plan *sp = p->systolic;
    axe_buf                  out = {.cx = cx};

    axe_puts(&out, "");
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        const axe_systolic_tile *x = &sp->tile[i];
        if (!x->tensor)
            continue;
        axe_putf(&out, "%s %s %" PRId64 " x%d %s\n", x->tensor->name,
                 x->psum ? "psum" : "sbuf", x->offset, x->stages,
                 axe_layout_text(cx, p->place[i].layout));
    }
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_systolic_step *s = &sp->step[i];
        if (s->absorbed)
            axe_putf(&out, "s%d absorbed\n", i);
        if (s->scale)
            axe_putf(&out, "s%d scales\n", i);
        if (s->summed)
            axe_putf(&out, "s%d adds up for s%d\n", i, s->summed->id);
    }
    for (const axe_systolic_pipe *pipe = sp->pipe; pipe; pipe = pipe->next) {
        axe_putf(&out, "loop %s", pipe->loop->var[0]->name);
        for (int i = 0; i < pipe->n_cut; i++)
            axe_putf(&out, " %d", pipe->cut[i]);
        axe_puts(&out, "\n");
    }
    return out.text;
}

#define PRODUCT(extents, result, sum)                                          \
    "kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N])"                \
    "{ index m, n, k; cta (i : M by 128, j : N by 64) {"                       \
    "reg f32 c[" extents "] = 0; shared f32 a[128, 32]; shared f32 b[64, 32];" \
    "for (t : K by 32) { a[m, k] = A[i*128 + m, t*32 + k];"                    \
    "b[n, k] = B[j*64 + n, t*32 + k];" sum "}"                                 \
    "C[i*128 + m, j*64 + n] = c[" result "]; } }"

#define SCALED(extent, index, between)                                         \
    "kernel k(in f32 S[M, 64], in f32 A[M, 32], in f32 B[32, 64],"             \
    "out f32 C[M, 64]) { index m, n, k; cta (i : M by 128) {"                  \
    "reg f32 c[128, 64]; reg f32 s[" extent "];"                               \
    "shared f32 a[128, 32]; shared f32 b[32, 64];"                             \
    "a[m, k] = A[i*128 + m, k]; b[k, n] = B[k, n];"                            \
    "s[" index "] = S[i, 0]; c[m, n] = S[i*128 + m, n];"                       \
    "c[m, n] = c[m, n]*s[" index "];" between                                  \
    "c[m, n] += a[m, k]*b[k, n]; C[i*128 + m, n] = c[m, n]; } }"

/* clang-format off */
static const struct {
    const char *what, *text, *plan;
} rows[] = {
    {"sum indices over partitions, the sum in PSUM",
     PRODUCT("128, 64", "m, n", "c[m, n] += a[m, k]*b[n, k];"),
     "c psum 0 x2 (128, 64) : (1@P, 1@F)\n"
     "a sbuf 0 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 1024 x2 (64, 32) : (1@F, 1@P)\n"},
    {"factors exchanged: columns of the result come first",
     PRODUCT("64, 128", "n, m", "c[n, m] += a[m, k]*b[n, k];"),
     "c psum 0 x2 (64, 128) : (1@P, 1@F)\n"
     "a sbuf 0 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 1024 x2 (64, 32) : (1@F, 1@P)\n"},
    {"a sum that is changed in its loop is in SBUF",
     PRODUCT("128, 64", "m, n", "c[m, n] += a[m, k]*b[n, k]; c[m, n] = c[m, n]*0.5;"),
     "c sbuf 0 x2 (128, 64) : (1@P, 1@F)\n"
     "a sbuf 512 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 1536 x2 (64, 32) : (1@F, 1@P)\n"},
    {"a factor by row is the product's",
     SCALED("128", "m", ""),
     "c sbuf 0 x2 (128, 64) : (1@P, 1@F)\n"
     "s sbuf 512 x2 (128) : (1@P)\n"
     "a sbuf 520 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 1544 x2 (32, 64) : (1@P, 1@F)\n"
     "s4 absorbed\ns5 scales\n"},
    {"a factor by column puts columns over partitions",
     SCALED("64", "n", ""),
     "c sbuf 0 x2 (128, 64) : (1@F, 1@P)\n"
     "s sbuf 1024 x2 (64) : (1@P)\n"
     "a sbuf 1032 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 2056 x2 (32, 64) : (1@P, 1@F)\n"
     "s4 absorbed\ns5 scales\n"},
    {"a factor is not the product's where the tile is read in between",
     SCALED("128", "m", "C[i*128 + m, n] = c[m, n];"),
     "c sbuf 0 x2 (128, 64) : (1@P, 1@F)\n"
     "s sbuf 512 x2 (128) : (1@P)\n"
     "a sbuf 520 x2 (128, 32) : (1@F, 1@P)\n"
     "b sbuf 1544 x2 (32, 64) : (1@P, 1@F)\n"},
    {"more rows than partitions lie in blocks",
     "kernel k(in f32 X[M, 48], out f32 Y[M, 48])"
     "{ index m, n; cta (i : M by 320) { reg bf16 x[320, 48]; x[m, n] = bf16(X[i*320 + m, n]);"
     "Y[i*320 + m, n] = f32(x[m, n]); } }",
     "x sbuf 0 x2 (3, 128, 48) : (48@F, 1@P, 1@F)\n"},
    {"columns over partitions where a vector has them",
     "kernel k(in f32 X[96, N], in f32 V[N], out f32 Y[96, N])"
     "{ index m, n; cta (j : N by 64) { reg f32 x[96, 64]; reg f32 v[64];"
     "v[n] = V[j*64 + n]; x[m, n] = X[m, j*64 + n] + v[n];"
     "Y[m, j*64 + n] = x[m, n]; } }",
     "x sbuf 0 x2 (96, 64) : (1@F, 1@P)\n"
     "v sbuf 768 x2 (64) : (1@P)\n"},
    {"exp and its sum are one",
     "kernel k(in f32 X[M, 96], out f32 Y[M, 96])"
     "{ index m, n; cta (i : M by 128) { reg f32 x[128, 96]; reg f32 p[128, 96]; reg f32 s[128];"
     "x[m, n] = X[i*128 + m, n]; p[m, n] = exp(x[m, n]); s[m] = sum[n](exp(x[m, n]));"
     "Y[i*128 + m, n] = p[m, n]/s[m]; } }",
     "x sbuf 0 x2 (128, 96) : (1@P, 1@F)\n"
     "p sbuf 768 x2 (128, 96) : (1@P, 1@F)\n"
     "s sbuf 1536 x2 (128) : (1@P)\n"
     "s1 adds up for s2\n"},
    {"exp of something else is not",
     "kernel k(in f32 X[M, 96], out f32 Y[M, 96])"
     "{ index m, n; cta (i : M by 128) { reg f32 x[128, 96]; reg f32 p[128, 96]; reg f32 s[128];"
     "x[m, n] = X[i*128 + m, n]; p[m, n] = exp(x[m, n]); x[m, n] = x[m, n]*0.5;"
     "s[m] = sum[n](exp(x[m, n])); Y[i*128 + m, n] = p[m, n]/s[m]; } }",
     "x sbuf 0 x2 (128, 96) : (1@P, 1@F)\n"
     "p sbuf 768 x2 (128, 96) : (1@P, 1@F)\n"
     "s sbuf 1536 x2 (128) : (1@P)\n"},
    {"a loop of two products is cut around them",
     "kernel k(in f32 A[M, 64], in f32 B[J, 64], in f32 W[J, 96], out f32 C[M, 96])"
     "{ index m, n, k, b; cta (i : M by 64) { shared f32 a[64, 64]; reg f32 c[64, 96] = 0;"
     "a[m, k] = A[i*64 + m, k]; for (j : J by 128) { shared f32 x[128, 64]; shared f32 w[128, 96];"
     "reg f32 s[64, 128] = 0; reg f32 p[64, 128]; reg f32 o[64, 96] = 0;"
     "x[b, k] = B[j*128 + b, k]; w[b, n] = W[j*128 + b, n]; s[m, b] += a[m, k]*x[b, k];"
     "p[m, b] = max(s[m, b], 0.0); o[m, n] += p[m, b]*w[b, n];"
     "c[m, n] = c[m, n]*0.5 + o[m, n]; } C[i*64 + m, n] = c[m, n]; } }",
     "a sbuf 0 x2 (64, 64) : (1@F, 1@P)\n"
     "c sbuf 512 x2 (64, 96) : (1@P, 1@F)\n"
     "x sbuf 1280 x2 (128, 64) : (1@F, 1@P)\n"
     "w sbuf 2304 x3 (128, 96) : (1@P, 1@F)\n"
     "s psum 0 x2 (64, 128) : (1@P, 1@F)\n"
     "p sbuf 3456 x2 (64, 128) : (1@P, 1@F)\n"
     "o psum 4096 x2 (64, 96) : (1@P, 1@F)\n"
     "loop j 10 11 12\n"},
    {"what the last part writes and the first reads is not cut",
     "kernel k(in f32 A[M, 64], in f32 B[J, 64, 64], in f32 W[J, 64, 64], out f32 C[M, 64])"
     "{ index m, n, k; cta (i : M by 64) { shared f32 c[64, 64]; c[m, k] = A[i*64 + m, k];"
     "for (j : J) { shared f32 x[64, 64]; shared f32 w[64, 64]; reg f32 s[64, 64] = 0;"
     "reg f32 p[64, 64]; reg f32 o[64, 64] = 0; x[k, n] = B[j, k, n]; w[n, k] = W[j, n, k];"
     "s[m, n] += c[m, k]*x[k, n]; p[m, n] = max(s[m, n], 0.0); o[m, k] += p[m, n]*w[n, k];"
     "c[m, k] = c[m, k]*0.5 + o[m, k]; } C[i*64 + m, k] = c[m, k]; } }",
     "c sbuf 0 x2 (64, 64) : (1@P, 1@F)\n"
     "x sbuf 512 x2 (64, 64) : (1@P, 1@F)\n"
     "w sbuf 1024 x2 (64, 64) : (1@P, 1@F)\n"
     "s psum 0 x2 (64, 64) : (1@P, 1@F)\n"
     "p sbuf 1536 x2 (64, 64) : (1@P, 1@F)\n"
     "o psum 4096 x2 (64, 64) : (1@P, 1@F)\n"},
    {"tiles that are not alive together share bytes",
     "kernel k(in f32 X[M, 96], out f32 Y[M, 96])"
     "{ index m, n; cta (i : M by 16384) { reg f32 a[16384, 96]; reg f32 b[16384, 96];"
     "reg f32 c[16384, 96]; reg f32 d[16384, 96];"
     "a[m, n] = X[i*16384 + m, n]; b[m, n] = a[m, n]*2; c[m, n] = b[m, n] + 1;"
     "d[m, n] = c[m, n]*c[m, n]; Y[i*16384 + m, n] = d[m, n]; } }",
     "a sbuf 0 x1 (128, 128, 96) : (96@F, 1@P, 1@F)\n"
     "b sbuf 49152 x1 (128, 128, 96) : (96@F, 1@P, 1@F)\n"
     "c sbuf 0 x1 (128, 128, 96) : (96@F, 1@P, 1@F)\n"
     "d sbuf 49152 x1 (128, 128, 96) : (96@F, 1@P, 1@F)\n"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    int bad = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p;
        const char     *got = "";
        if (plan_for(cx, rows[i].text, "trn1", &p) == AXE_OK)
            got = describe(cx, p);
        else
            got = axe_last_error(cx);
        if (strcmp(got, rows[i].plan) != 0) {
            print_error("%s: wanted\n%sgot\n%s\n", rows[i].what, rows[i].plan,
                        got);
            bad++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(bad, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
