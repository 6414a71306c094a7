/* test_simt_sync.c - where threads of a CTA have barriers, and where they need
 * none. */
#include "plan/simt/simt.h"
#include "planned.h"

#define HEAD                                                                   \
    "kernel k(in f32 X[M, N], out f32 Y[M, N], out f32 Z[N, M]) {\n"           \
    "index m, n;\n"
#define CTA "cta (i : M by 32, j : N by 64) {\n"
#define FILL "s[m, n] = X[i*32 + m, j*64 + n] * 2.0;\n"
#define SAME "Y[i*32 + m, j*64 + n] = exp(s[m, n]);\n"
#define TURNED "Z[j*64 + n, i*32 + m] = s[m, n] * 3.0;\n"
#define TILE "shared f32 s[32, 64];\n"

#define LANES(groups, rest)                                                    \
    HEAD "cta (i : M by 128, j : N by 64) warpgroups " groups " {\n"           \
         "tmem f32 s[128, 64]; reg f32 x[128, 64];\n"                          \
         "x[m, n] = X[i*128 + m, j*64 + n]; s[m, n] = x[m, n];\n" rest         \
         "x[m, n] = s[m, n]; Y[i*128 + m, j*64 + n] = x[m, n]; } }"
#define FOLDS(op)                                                              \
    "kernel k(in i32 X[M], in i32 V[M], inout i32 Y[1000]) {\n"                \
    "index m; cta (i : 1) warps 4 {\n"                                         \
    "Y[X[m]] += V[m];\n"                                                       \
    "Y[X[m]] " op " V[m]; } }"
#define PRODUCT                                                                \
    "kernel k(in f16 A[M, 64], in f16 B[64, 64], out f32 Z[M, 64]) {\n"        \
    "index m, n, k;\n"                                                         \
    "cta (i : M by 128) warpgroups 1 {\n"                                      \
    "shared f16 a[128, 64]; shared f16 b[64, 64]; tmem f32 c[128, 64];\n"      \
    "a[m, k] = A[i*128 + m, k]; b[n, k] = B[n, k]; c[m, n] = 0;\n"             \
    "c[m, n] += a[m, k] * b[n, k];\n"

/* clang-format off */
static const struct {
    const char *text;
    const char *barrier; /* line, who, how many issuers if several, + for a
                            barrier before they wait, why */
} rows[] = {
    /* Each thread reads what it wrote itself. */
    {HEAD CTA TILE FILL "s[m, n] = s[m, n] + 1.0;\n" SAME "} }", ""},
    /* Another one's elements. */
    {HEAD CTA TILE FILL TURNED "} }",
     "6 cta: s is written in line 5 and read in line 6"},
    /* Lane l of warp w that of lane w of warp l. */
    {HEAD "cta (i : M by 32, j : N by 32) warps 32 {\n" "shared f32 s[32, 32];\n"
     "reg f32 r[32, 32] : (32, 32) : (1@warp, 1@lane);\n"
     "r[m, n] = X[i*32 + m, j*32 + n]; s[m, n] = r[m, n];\n"
     "r[m, n] = s[n, m];\n" "Y[i*32 + m, j*32 + n] = r[m, n]; } }",
     "7 cta: s is written in line 6 and read in line 7"},
    /* And they are overwritten. */
    {HEAD CTA TILE FILL TURNED FILL "} }",
     "6 cta: s is written in line 5 and read in line 6; "
     "7 cta: s is read in line 6 and written in line 7"},
    /* The next iteration overwrites them. */
    {HEAD "cta (i : M by 32) {\n" TILE "for (j : N by 64) {\n" FILL TURNED
     "} } }",
     "7 cta: s is written in line 6 and read in line 7; "
     "6 cta: s is read in line 7 and written in line 6"},
    /* A loop that only reads: once, before it. */
    {HEAD CTA TILE FILL "for (t : 4)\n" TURNED "} }",
     "6 cta: s is written in line 5 and read in line 7"},
    /* A loop that writes it, too, meets in each iteration, and not before. */
    {HEAD CTA TILE FILL "for (t : 4) {\n" TURNED FILL "} } }",
     "7 cta: s is written in line 5 and read in line 7; "
     "8 cta: s is read in line 7 and written in line 8"},
    /* Sums and maxima into one element are no one atom's; sums of two are. */
    {FOLDS("max="), "4 cta: Y is written in line 3 and written in line 4"},
    {FOLDS("+="), ""},
    /* A barrier in front of a scope is in front of what that has done, too. */
    {HEAD "cta (i : M by 32, j : N by 64) warps 4 {\n"
     "shared f32 s[4, 8, 64]; shared f32 u[4, 8, 64];\n"
     "s[m / 8, m % 8, n] = X[i*32 + m, j*64 + n];\n" "warp (w : 0..4) {\n"
     "u[w, m, n] = X[i*32 + w*8 + m, j*64 + n];\n"
     "Y[i*32 + w*8 + m, j*64 + n] = s[3 - w, m, n] + 1.0;\n"
     "Z[j*64 + n, i*32 + w*8 + m] = u[w, m, n]; } } }",
     "6 cta: s is written in line 5 and read in line 8; "
     "9 warp: u is written in line 7 and read in line 9"},
    {HEAD "cta (i : M by 8, j : N by 64) warps 2 {\n"
     "shared f32 s[8, 64]; shared f32 u[8, 64]; shared f32 v[8, 64];\n"
     "s[m, n] = X[i*8 + m, j*64 + n];\n" "roles {\n" "warp (0) {\n"
     "u[m, n] = X[i*8 + m, j*64 + n];\n"
     "Y[i*8 + m, j*64 + n] = s[m, n] + 1.0;\n"
     "Z[j*64 + n, i*8 + m] = u[m, n]; }\n" "warp (1) v[m, n] = X[i*8 + m, j*64 + n]; } } }",
     "6 cta: s is written in line 5 and read in line 9; "
     "10 warp: u is written in line 8 and read in line 10"},
    {PRODUCT "warpgroup (g : 0..1) {\n" "for (t : 4) {\n"
     "a[m, k] = A[i*128 + m, k] * 2.0;\n" "c[m, n] += a[m, k] * b[n, k]; } }\n"
     "Z[i*128 + m, n] = c[m, n]; } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "7 cta +: a is read in line 6 and written in line 9; "
     "10 warpgroup: a is written in line 9 and read in line 10; "
     "9 warpgroup: a is read in line 10 and written in line 9; "
     "11 cta 2: c is written in line 6 and read in line 11"},
    /* CTAs that stay. */
    {HEAD "cta persistent (i : M by 32, j : N by 64) {\n" TILE FILL TURNED
     "} }",
     "6 cta: s is written in line 5 and read in line 6; "
     "5 cta: s is read in line 6 and written in line 5"},
    /* What one warp wrote, another one reads. */
    {HEAD "cta (i : M by 32, j : N by 64) warps 4 {\n" "shared f32 s[4, 8, 64];\n"
     "warp (w : 0..4) { s[w, m, n] = X[i*32 + w*8 + m, j*64 + n]; }\n"
     "warp (w : 0..4) { Y[i*32 + w*8 + m, j*64 + n] = s[3 - w, m, n]; } } }",
     "6 cta: s is written in line 5 and read in line 6"},
    /* Within a warp, its lanes. */
    {HEAD "cta (i : M by 32, j : N by 64) warps 4 {\n" "shared f32 s[4, 8, 64];\n"
     "warp (w : 0..4) {\n"
     "s[w, m, n] = X[i*32 + w*8 + m, j*64 + n];\n"
     "Z[j*64 + n, i*32 + w*8 + m] = s[w, m, n]; } } }",
     "7 warp: s is written in line 6 and read in line 7"},
    /* Tiles that are not alive together: the bytes of one are the other's. */
    {"kernel k(in f32 X[M, N], out f32 Y[N, M], out f32 Z[N, M]) {\n"
     "index m, n;\n" "cta (i : M by 64, j : N by 64) {\n"
     "shared f32 s[64, 64]; shared f32 t[64, 64]; shared f32 rest[36, 1024];\n"
     "s[m, n] = X[i*64 + m, j*64 + n] * 2.0;\n" "Y[j*64 + n, i*64 + m] = s[m, n];\n"
     "t[m, n] = X[i*64 + m, j*64 + n] + 1.0;\n" "Z[j*64 + n, i*64 + m] = t[m, n]; } }",
     "6 cta: s is written in line 5 and read in line 6; "
     "7 cta: s is read in line 6 and t, in the same bytes, written in line 7; "
     "8 cta: t is written in line 7 and read in line 8"},
    /* Elements 32 and on are both t = 1, m = 0 and u = 0, m = 15. */
    {HEAD "cta (i : M by 512, j : N by 64) {\n" "shared f32 s[16, 64];\n"
     "s[m, n] = X[i*512 + m, j*64 + n];\n" "for (t : 4) Y[i*512 + t*32 + m, j*64 + n] = s[m, n];\n"
     "for (u : 4) s[m, n] = Y[i*512 + u*32 + 17 + m, j*64 + n];\n" "} }",
     "6 cta: s is written in line 5 and read in line 6; "
     "7 cta: Y is written in line 6 and read in line 7; "
     "7 cta: s is written in line 7 and written in line 7"},
    {HEAD "cta (i : M by 512, j : N by 64) {\n" "shared f32 s[16, 64];\n"
     "s[m, n] = X[i*512 + m, j*64 + n];\n" "for (t : 4) Y[i*512 + t*32 + m, j*64 + n] = s[m, n];\n"
     "for (u : 4) s[m, n] = Y[i*512 + u*32 + 16 + m, j*64 + n];\n" "} }", "6 cta: s is written in line 5 and read in line 6; "
     "7 cta: s is read in line 6 and written in line 7"},
    /* The last row of an iteration is the next one's first. */
    {HEAD "cta (i : M by 512, j : N by 64) {\n" "shared f32 s[17, 64];\n"
     "s[m, n] = X[i*512 + m, j*64 + n];\n" "for (t : 4)\n"
     "Y[i*512 + t*16 + m, j*64 + n] = s[m, n];\n" "} }",
     "6 cta: s is written in line 5 and read in line 7; "
     "7 cta: Y is written in line 7 and written in line 7"},
    /* 32 i + m and 16 i + 40 + m are the same, for some i. */
    {HEAD "cta (i : M by 32, j : N by 64) {\n"
     "Y[i*32 + m, j*64 + n] = X[i*32 + m, j*64 + n];\n"
     "Z[j*64 + n, i*32 + m] = Y[i*16 + 40 + m, j*64 + n]; } }",
     "5 cta: Y is written in line 4 and read in line 5; "
     "5 cta: Y.staged is written in line 5 and read in line 5"},
    /* What a stage of a branch is filled with: before all loops around it. */
    {"kernel k(in f16 X[M, 128], in f16 W[64, 128], out f16 Y[M, 64]) {\n"
     "index m, n, k; global f16 T[M, 128];\n" "cta (i : M by 128) {\n"
     "T[i*128 + m, k] = X[i*128 + m, k] * 2;\n"
     "reg f32 c[128, 64]; c[m, n] = 0;\n"
     "pipeline p[2] { shared f16 a[128, 64]; shared f16 b[64, 64]; }\n"
     "for (r : 2) {\n" "if (r == 0) { c[m, n] += 1.0; } else {\n"
     "for (t : 128 by 64) {\n"
     "produce p { p.a[m, k] = T[i*128 + m, t*64 + k];\n"
     "p.b[n, k] = W[n, t*64 + k]; }\n"
     "consume p { c[m, n] += p.a[m, k] * p.b[n, k]; } } } }\n"
     "Y[i*128 + m, n] = f16(c[m, n]); } }",
     "7 cta: T is written in line 4 and read in line 10"},
    /* Through global memory: each its own, another one's, and its loops'. */
    {HEAD CTA "Y[i*32 + m, j*64 + n] = X[i*32 + m, j*64 + n];\n"
     "Y[i*32 + m, j*64 + n] += 1.0;\n" "} }", ""},
    {HEAD "cta (i : M by 32) {\n" "for (j : N by 64) {\n"
     "Y[i*32 + m, j*64 + n] = X[i*32 + m, j*64 + n];\n"
     "Y[i*32 + m, j*64 + n] += 1.0;\n" "} } }", ""},
    {HEAD CTA "Y[i*32 + m, j*64 + n] = X[i*32 + m, j*64 + n];\n"
     "Z[j*64 + n, i*32 + m] = Y[i*32 + m, j*64 + n];\n" "} }",
     "5 cta: Y is written in line 4 and read in line 5; "
     "5 cta: Y.staged is written in line 5 and read in line 5"},
    {HEAD "cta (i : M by 32) {\n" "for (t : 3) {\n"
     "Y[i*32 + m, n] = X[i*32 + m, n];\n"
     "Z[n, i*32 + m] = Y[i*32 + m, n];\n" "} } }",
     "6 cta: Y is written in line 5 and read in line 6; "
     "5 cta: Y is read in line 6 and written in line 5"},
    /* Where the text says so, none is needed but for the tile by the way. */
    {HEAD CTA "Y[i*32 + m, j*64 + n] = X[i*32 + m, j*64 + n];\n" "barrier;\n"
     "Z[j*64 + n, i*32 + m] = Y[i*32 + m, j*64 + n];\n" "} }",
     "6 cta: Y.staged is written in line 6 and read in line 6"},
    /* Its warps find their own lanes of tensor memory. */
    {LANES("1", "for (t : 4) {\n" "x[m, n] = s[m, n];\n" "s[m, n] = x[m, n];\n" "}\n"), ""},
    /* Of two warp groups each has half of the columns, here and there not the same. */
    {LANES("2", "reg f32 y[128, 32];\n" "y[m, n] = s[m, n + 16];\n"
           "Y[i*128 + m, j*64 + n] = y[m, n];\n"),
     "7 cta: s is written in line 5 and read in line 7; "
     "9 cta: Y is written in line 8 and written in line 9"},
    /* What was asked for is waited for before a loop in which nothing is. */
    {PRODUCT "for (t : 64 by 16)\n" "c[m, t*16 + n] = c[m, t*16 + n] * 2.0;\n"
     "for (t : 64 by 16)\n" "Z[i*128 + m, t*16 + n] = c[m, t*16 + n]; } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "7 cta: c is written in line 6 and read in line 8"},
    /* And in a loop that asks, in each iteration. */
    {PRODUCT "for (t : 4) {\n" "c[m, n] = c[m, n] * 2.0;\n"
     "c[m, n] += a[m, k] * b[n, k]; }\n" "Z[i*128 + m, n] = c[m, n]; } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "8 cta: c is written in line 6 and read in line 8; "
     "9 cta: c is read in line 8 and written in line 9; "
     "10 cta: c is written in line 6 and read in line 10"},
    /* A loop that nobody counts, and a scope in it, ask for nothing, too. */
    {PRODUCT "i32 t = 0;\n" "while (t < 2) {\n" "t += 1;\n"
     "warpgroup (0) { Z[i*128 + m, n] = c[m, n]; } } } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "8 cta: c is written in line 6 and read in line 10"},
    /* Only some iterations ask: all have seen the last phase before it may end again. */
    {PRODUCT "for (t : 4) {\n" "if (t % 2 == 0)\n" "c[m, n] += a[m, k] * b[n, k];\n"
     "Z[i*128 + m, n] = c[m, n]; } } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "10 cta +: c is written in line 6 and read in line 10; "
     "9 cta: c is read in line 10 and written in line 9"},
    /* Where a barrier is written, what an engine reads is waited for still. */
    {PRODUCT "barrier;\n" "a[m, k] = A[i*128 + m, k] * 2.0;\n" "Z[i*128 + m, n] = c[m, n]; } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "8 cta: a is read in line 6 and written in line 8"},
    /* Two ask for products that one statement reads, by parts of the columns. */
    {"kernel k(in f16 A[M, 64], in f16 B[256, 64], out f32 Z[M, 256]) {\n"
     "index m, n, k;\n" "cta (i : M by 128) warpgroups 1 {\n"
     "shared f16 a[128, 64]; shared f16 b[256, 64]; tmem f32 c[128, 256]; tmem f32 d[128, 256];\n"
     "a[m, k] = A[i*128 + m, k]; b[n, k] = B[n, k]; c[m, n] = 0; d[m, n] = 0;\n"
     "warp (2) c[m, n] += a[m, k] * b[n, k];\n" "d[m, n] += a[m, k] * b[n, k];\n"
     "Z[i*128 + m, n] = c[m, n] + d[m, n]; } }",
     "6 cta: c is written in line 5 and written in line 6; "
     "8 cta 2: c is written in line 6 and read in line 8"},
    /* A warp asks for others: all wait for both. */
    {PRODUCT "tmem f32 d[128, 64]; d[m, n] = 0;\n"
     "warp (1) d[m, n] += a[m, k] * b[n, k];\n" "Z[i*128 + m, n] = c[m, n] + d[m, n]; } }",
     "6 cta: a is written in line 5 and read in line 6; "
     "8 cta: d is written in line 7 and written in line 8; "
     "9 cta: c is written in line 6 and read in line 9; "
     "9 cta: d is written in line 8 and read in line 9"},
};
/* clang-format on */

static void
test_sync_points(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = NULL;
        axe_buf         b = {.cx = cx};

        if (plan_for(cx, rows[i].text,
                     strstr(rows[i].text, "tmem") ? "sm_100a" : "sm_80",
                     &p) != AXE_OK) {
            axe_diags_print(cx, &b, false);
            fail_msg("row %d: %s", i, b.text);
        }
        axe_puts(&b, "");
        for (int k = 0; k < p->simt->n_sync_point; k++) {
            const axe_sync_point *m = &p->simt->sync_point[k];
            axe_putf(&b, "%s%d %s", k ? "; " : "", m->at->at.line,
                     axe_scope_name(m->threads->scope));
            if (m->n_issuer > 1)
                axe_putf(&b, " %d", m->n_issuer);
            axe_putf(&b, "%s: %s", m->n_issuer > 0 && m->barrier ? " +" : "",
                     m->why);
        }
        assert_string_equal(b.text ? b.text : "", rows[i].barrier);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sync_points),
    };

    return cmocka_run_group_tests_name("simt_sync", tests, NULL, NULL);
}
