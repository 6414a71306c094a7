/* test_control.c - branches, functions, domains, and the names they leave in
 * the IR: kernels and what their IR, their plans and the warnings are. */
#include "plan/plan.h"
#include "texts.h"

/* The body of the text's IR, or the first diagnostic. */
static const char *
body_of(axe_ctx *cx, const char *text)
{
    axe_inst          inst = {.machine = "cpu"};
    const axe_kernel *k = compile(cx, text, &inst);
    const char       *ir, *body;

    if (!k || axe_diags(cx))
        return k ? axe_diags(cx)->text : axe_last_error(cx);
    ir = round_trip(cx, k);
    body = strstr(ir, "\n{\n");
    return body ? body + 3 : ir;
}

/* --------------------------------------------------------------------- IR */

static const char head[] = "kernel k<B = 8, type T = f32>(in f32 X[M], out f32 "
                           "Y[M]) { index m; ";

/* clang-format off */
static const struct {
    const char *in, *want; /* the body's IR, or the first diagnostic */
} rows[] = {
    {"if (M > 4) Y[m] = 1; else Y[m] = X[m]; }",
     "    if (4 < M) {\n        Y[m] = 1.0_f32 over m:M\n"
     "    } else {\n        Y[m] = X[m] over m:M\n    }\n}\n"},
    {"if (B == 8 && M > 4 || B == 9) Y[m] = X[m]; }",
     "    if (4 < M) {\n        Y[m] = X[m] over m:M\n    }\n}\n"},
    {"if (M < 4 && B == 9 || B == 7) Y[m, 0] = 1; Y[m] = X[m]; }",
     "    Y[m] = X[m] over m:M\n}\n"},
    {"if (M < 4 || B == 8) Y[m] = X[m]; else Y[m, 0] = 1; }",
     "    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : 2..M - 1 step 3) Y[i] = X[i]; Y[m] = X[m]; }",
     "    cta (i : max(cdiv(M - 3, 3), 0)) {\n        Y[i*3 + 2] = X[i*3 + "
     "2]\n    }\n    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : M - 4 by 8) Y[i*8 + m] = X[i]; cta (i : M < 9 ? 2 : 0) Y[i] = X[i]; }",
     "    cta (i : max(cdiv(M - 4, 8), 0)) {\n        Y[i*8 + m] = X[i] over "
     "m:8\n    }\n    cta (i : M < 9 ? 2 : 0) {\n        Y[i] = X[i]\n    "
     "}\n}\n"},
    {"if (M > 4) { } Y[m] = X[m]; }",
     "    if (4 < M) {\n    }\n    Y[m] = X[m] over m:M\n}\n"},
    {"for (i : 4) if (i == M || !(i < 2)) Y[m] = X[m]; }",
     "    for (i : 4) {\n        if (i == M || !(i < 2)) {\n"
     "            Y[m] = X[m] over m:M\n        }\n    }\n}\n"},
    {"if (B == 8 && T(1) == T(1)) Y[m] = X[m]; }",
     "    reg bool cond\n    cond = 1.0_f32 == 1.0_f32\n    if (cond) {\n"
     "        Y[m] = X[m] over m:M\n    }\n}\n"},
    {"cta (i : M) { f32 s = X[i]; s += 2; Y[i] = s; } Y[m] = X[m]; }",
     "    cta (i : M) {\n        reg f32 s\n        s = X[i]\n"
     "        s += 2.0_f32\n        Y[i] = s\n    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : M) { i32 n = 0; while (n < 3) { n += 1; if (i > 2) continue; "
     "Y[i] = f32(n); } } Y[m] = X[m]; }",
     "    cta (i : M) {\n        reg i32 n\n        n = 0_i32\n        loop {\n"
     "            reg bool cond\n            cond = n < 3_i32\n"
     "            if (!cond) {\n                break\n            }\n"
     "            n += 1_i32\n            if (2 < i) {\n"
     "                continue\n            }\n            Y[i] = f32(n)\n"
     "        }\n    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"for (t : 2..M step 3) { while (t < M) { break; } Y[t] = 0; } Y[m] = X[m]; }",
     "    for (t : cdiv(M - 2, 3)) {\n        loop {\n"
     "            if (!(t*3 + 2 < M)) {\n                break\n            }\n"
     "            break\n        }\n        Y[t*3 + 2] = 0.0_f32\n    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : M) { warp (w : 2..4, v : 2) thread (t) Y[i*128 + w*64 + v*32 + t] = X[w]; } Y[m] = X[m]; }",
     "    cta (i : M) {\n        warp (w : 2 from 2, v : 2 from 0) {\n"
     "            thread (t : 32) {\n                Y[i*128 + (w + 2)*64 + v*32 + t] = X[w + 2]\n"
     "            }\n        }\n    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : M) { thread (3) { bool b = X[i] < 0; while (!b && B > 3) "
     "b = true; Y[i] = b ? 1 : 0; } } cta (j : M) lane (l) Y[j*16 + l] = 0; Y[m] = X[m]; }",
     "    cta (i : M) {\n        thread (thread : 1 from 3) {\n"
     "            reg bool b\n            b = X[i] < 0.0_f32\n"
     "            loop {\n                reg bool cond\n"
     "                cond = !b\n                if (!cond) {\n"
     "                    break\n                }\n                b = true\n"
     "            }\n            Y[i] = b ? 1.0_f32 : 0.0_f32\n        }\n"
     "    }\n    cta (j : M) {\n"
     "        lane (l : 16) {\n            Y[j*16 + l] = 0.0_f32\n        }\n"
     "    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"cta (i : M) { f32 s; for (t : 4) { if (i == 1) { s = 1; } else { s = 2; "
     "break; } } if (i == 2) s = 3; else while (true) { s = 4; if (i < 9) "
     "{ s = 5; break; } } Y[i] = s; } Y[m] = X[m]; }",
     "    cta (i : M) {\n        reg f32 s\n        for (t : 4) {\n"
     "            if (i == 1) {\n                s = 1.0_f32\n"
     "            } else {\n                s = 2.0_f32\n"
     "                break\n            }\n        }\n"
     "        if (i == 2) {\n            s = 3.0_f32\n        } else {\n"
     "            loop {\n                s = 4.0_f32\n"
     "                if (i < 9) {\n                    s = 5.0_f32\n"
     "                    break\n                }\n            }\n"
     "        }\n        Y[i] = s\n    }\n"
     "    Y[m] = X[m] over m:M\n}\n"},
    {"if (B == 8) Y[m] = X[m]; else Y[m, m] = i8(1.5); }",
     "    Y[m] = X[m] over m:M\n}\n"},
    {"if (B != 8) Y[m, m] = i8(1.5); else Y[m] = X[m]; }",
     "    Y[m] = X[m] over m:M\n}\n"},
    {"if (B > 9) { reg f32 x[4] = 0; Y[m] = x[m]; } else { Y[m] = X[m]; } }",
     "    Y[m] = X[m] over m:M\n}\n"},
    {"if (true) { reg f32 x[4] = 0; } reg f32 x[8] = 1; Y[m] = X[m]; x[m] += 1;"
     " }", "`x` is written but never read"},
    {"for (i : 2) { reg f32 x[4] = 0; if (i < 1) Y[m + i] = x[m] + X[0]; } "
     "for (i : 2) { reg f32 x[4] = 1; Y[m + i] = x[m] + X[0]; } }",
     "    for (i : 2) {\n        reg f32 x[4]\n"
     "        x[x.0] = 0.0_f32 over x.0:4\n        if (i < 1) {\n"
     "            Y[m + i] = x[m] + X[0] over m:4\n        }\n    }\n"
     "    for (i : 2) {\n        reg f32 x.1[4]\n"
     "        x.1[x.1.0] = 1.0_f32 over x.1.0:4\n"
     "        Y[m + i] = x.1[m] + X[0] over m:4\n    }\n}\n"},
    {"for (i : 2) Y[i] = X[i]; index i; Y[i] = X[i]; Y[m] = 1; }",
     "    for (i : 2) {\n        Y[i] = X[i]\n    }\n"
     "    Y[i.1] = X[i.1] over i.1:M\n    Y[m] = 1.0_f32 over m:M\n}\n"},
    {"reg f32 x[4]; if (M > 2) x[m] = X[0]; }", "`Y` is `out` but never written"},
    {"if (B == 9) Y[m] = X[m]; }", "`Y` is `out` but never written"},
    {"if (M > 1) Y[m] = X[m]; if (M > 2) if (M > 3) Y[m] = 3; else Y[m] = 2; }",
     "    if (1 < M) {\n        Y[m] = X[m] over m:M\n    }\n    if (2 < M) {\n"
     "        if (3 < M) {\n            Y[m] = 3.0_f32 over m:M\n"
     "        } else {\n            Y[m] = 2.0_f32 over m:M\n        }\n"
     "    }\n}\n"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *text = axe_textf(cx, "%s%s", head, rows[i].in);
        check_text(rows[i].in, rows[i].want, body_of(cx, text));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* --------------------------------------------------------------- functions */

/* clang-format off */
static const struct {
    const char *fns, *in, *want;
} fn_rows[] = {
    {"fn f(f32 y[N]) { index m; y[m] = 1; }", "f(Y); Y[m] += X[m]; }",
     "    Y[m] = 1.0_f32 over m:M\n    Y[m] += X[m] over m:M\n}\n"},
    {"fn f() { }", "f(); Y[m] = X[m]; }", "    Y[m] = X[m] over m:M\n}\n"},
    {"fn f<type T>(T y[N], i64 i, T a, bool b) { index M; if (b && i > 0)"
     " y[M] = T(i) * a / 2; }", "for (t : 4) f(Y, t + B, 3, true); Y[m] = X[m]; }",
     "    for (t : 4) {\n        if (0 < t + 8) {\n"
     "            Y[M.1] = f32(t + 8)*3.0_f32/2.0_f32 over M.1:M\n"
     "        }\n    }\n    Y[m] = X[m] over m:M\n}\n"},
    {"fn f(f32 y[N], i64 i) { reg f32 x[i] = 0; index m; y[m] = x[m]; }",
     "Y[m] = X[m]; reg f32 x[4] = 1; for (t : 1) x[m] += 1; f(x, B / 2);"
     " X2(x); } fn X2(f32 x[C]) { reg f32 y[C]; index m; y[m] = 2 * x[m];"
     " for (m : 2) x[m] = y[m + 1]; }",
     "`m` is declared already"},
    {"fn f(f32 y[N], i64 i) { reg f32 x[i] = 0; index m; y[m] += x[m]; }",
     "Y[m] = X[m]; reg f32 x[4] = 1; f(x, B / 2); f(x, 4); Y[B] = x[B - 7]; }",
     "    Y[m] = X[m] over m:M\n    reg f32 x[4]\n"
     "    x[x.0] = 1.0_f32 over x.0:4\n    reg f32 x.1[4]\n"
     "    x.1[x.1.0] = 0.0_f32 over x.1.0:4\n    x[m] += x.1[m] over m:4\n"
     "    reg f32 x.2[4]\n    x.2[x.2.0] = 0.0_f32 over x.2.0:4\n"
     "    x[m] += x.2[m] over m:4\n    Y[8] = x[1]\n}\n"},
    {"fn f(f32 y[N]) { index m; pipeline p[2] { shared f32 a[4]; }"
     " for (i : 2) { produce p p.a[m] = y[m + 4*i];"
     " consume p y[m + 4] = p.a[m]; } }",
     "Y[m] = X[m]; reg f32 x[8] = 1; f(x); f(x); Y[0] = x[0]; }",
     "    Y[m] = X[m] over m:M\n    reg f32 x[8]\n"
     "    x[x.0] = 1.0_f32 over x.0:8\n    pipeline p[2] {\n"
     "        shared f32 p.a[4]\n    }\n    for (i : 2) {\n"
     "        produce p {\n            p.a[m] = x[m + 4*i] over m:4\n"
     "        }\n        consume p {\n            x[m + 4] = p.a[m] over m:4\n"
     "        }\n    }\n    pipeline p.1[2] {\n        shared f32 p.1.a[4]\n"
     "    }\n    for (i : 2) {\n        produce p.1 {\n"
     "            p.1.a[m] = x[m + 4*i] over m:4\n        }\n"
     "        consume p.1 {\n            x[m + 4] = p.1.a[m] over m:4\n"
     "        }\n    }\n    Y[0] = x[0]\n}\n"},
    {"fn f(f32 y[N]) { index u; y[0] = 1; } ", "f(Y); f(Y); Y[m] = X[m]; }",
     "index `u` is never used"},
    {"fn f(f32 y[N], i64 i) { index u; if (i == 0) y[u] = 1; } ",
     "f(Y, 1); f(Y, 0); Y[m] = X[m]; }",
     "    Y[u] = 1.0_f32 over u:M\n    Y[m] = X[m] over m:M\n}\n"},
    {"fn f(f32 y[N], f32 x[N]) { index m; y[m] = x[0]; } ",
     "Y[m] = X[m]; f(Y, Y); }",
     "`Y[0]` is read while this statement writes `Y[m]`"},
};
/* clang-format on */

static void
test_fns(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(fn_rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *text =
            axe_textf(cx, "%s%s%s", fn_rows[i].fns, head, fn_rows[i].in);
        check_text(fn_rows[i].fns, fn_rows[i].want, body_of(cx, text));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* What the verifier refuses, and its first message. */
static const struct {
    const char *in, *want;
} ir_rows[] = {
    {"if (M < 4) { } else { }", NULL},
    {"if (M) { }", "`M` (i64) needs to be a condition"},
    {"if (X[0] < X[0]) { }", "`X[0]` cannot be part of a condition of `if`"},
    {"if (i32(M) == 1_i32) { }",
     "`i32(M)` cannot be part of a condition of `if`"},
    {"if (m < 4) { }", "`m` is not in scope"},
    {"if (M < 4) { reg f32 t[4] } else { t[m] = 0.0_f32 over m:4 }",
     "there is no tensor `t` here"},
    {"if M < 4 { }", "expected `(`"},
    {"if (M < 4 { }", "expected `)`"},
    {"if (M < 4)", "expected `{`"},
    {"if (M < 4) { } else", "expected `{`"},
};

static void
test_ir(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(ir_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_kernel *k;
        const char       *text = axe_textf(
                  cx, "kernel k\nsize M\nindex m\nin f32 X[M] : (1)\n{\n%s\n}",
                  ir_rows[i].in);
        int32_t source = axe_source_add(cx, "ir", text, strlen(text));
        bool    ok = axe_kernel_read(cx, source, &k) == AXE_OK;
        if (ok != !ir_rows[i].want)
            check_text(ir_rows[i].in, ok ? "refused" : "accepted",
                       axe_last_error(cx));
        else if (!ok)
            check_text(ir_rows[i].in, ir_rows[i].want,
                       axe_diags(cx) ? axe_diags(cx)->text : "");
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ------------------------------------------------------------------ facts */

/* A sum of products over tiles filled by %s and %s. */
static const char gemm[] =
    "kernel k\nsize M, N, K\nindex m, n, k\nin f32 A[M, K] : (K, 1)\n"
    "in f32 B[N, K] : (K, 1)\nout f32 C[M, N] : (N, 1)\n{\n"
    "cta (i : cdiv(M, 32), j : cdiv(N, 32)) {\n"
    "reg f32 acc[32, 32]\nacc[m, n] = 0.0_f32 over m:32, n:32\n"
    "shared f32 a[32, 16]\nshared f32 b[32, 16]\n"
    "for (t : cdiv(K, 16)) {\n%s\n%s\n"
    "%s acc[m, n] += a[m, k]*b[n, k] over m:32, n:32 fold k:16 %s\n}\n"
    "C[i*32 + m, j*32 + n] = acc[m, n] over m:32, n:32\n}\n}\n";
#define FILL_A "a[m, k] = A[i*32 + m, t*16 + k] over m:32, k:16\n"
#define FILL_B "b[n, k] = B[j*32 + n, t*16 + k] over n:32, k:16\n"

/* clang-format off */
static const struct {
    const char *a, *b, *before, *after;
    int         n_bound; /* indices the sum may stop early in */
} fact_rows[] = {
    {FILL_A, FILL_B, "", "", 3},
    {"if (t < 2) {" FILL_A "}", FILL_B, "", "", 2},
    {"if (t < 2) { } else {" FILL_A "}", FILL_B, "", "", 2},
    {"if (t < 2) {" FILL_A "}", "if (t < 2) {" FILL_B "}", "", "", 0},
    {"if (t < 2) {" FILL_A, FILL_B, "", "}", 3},
    {"if (t < 2) {" FILL_A "} else {", FILL_B, "", "}", 2},
    {"for (u : 2) {" FILL_A "}", FILL_B, "", "", 2},
    {"", FILL_A FILL_B, "if (t < 9) {", "}", 3},
};
/* clang-format on */

static void
test_facts(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(fact_rows); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc;
        const axe_kernel  *k;
        const axe_plan    *p;
        const char *text = axe_textf(cx, gemm, fact_rows[i].a, fact_rows[i].b,
                                     fact_rows[i].before, fact_rows[i].after);
        int32_t     source = axe_source_add(cx, "ir", text, strlen(text));
        int         n = -1;
        if (axe_machine_find(cx, "cpu-avx2", &mc) == AXE_OK &&
            axe_kernel_read(cx, source, &k) == AXE_OK &&
            axe_plan_kernel(cx, k, mc, &p) == AXE_OK)
            for (int s = 0; s < p->n_schedule; s++)
                if (p->schedule[s]->kind == AXE_SCHED_CONTRACT)
                    n = p->schedule[s]->n_bound;
        check_text(axe_textf(cx, "row %d %s", i, axe_last_error(cx)),
                   axe_textf(cx, "%d bounds", fact_rows[i].n_bound),
                   axe_textf(cx, "%d bounds", n));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ----------------------------------------------------------------- domains */

static const char tuned[] =
    "kernel k<BM = 64, BN = BM * 2, type T = f32>(in T X[M], out T Y[M])"
    " default cpu (BM = 128) tune T in {f16, f32} tune BM in {64, 128, 256}"
    " default neon (BM = 63) { index m; Y[m] = X[m] * BN; }";

static void
test_sig(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_module *m;
    axe_kernel_sig    s;

    (void)state;
    assert_int_equal(
        axe_module_parse(cx, axe_source_add(cx, "t", tuned, strlen(tuned)), &m),
        AXE_OK);
    assert_int_equal(axe_module_sig(cx, m, NULL, &s), AXE_OK);
    assert_int_equal(s.n_const, 3);
    assert_int_equal(s.n_domain[0], 3);
    assert_string_equal(s.domain[0][0], "64");
    assert_string_equal(s.domain[0][2], "256");
    assert_int_equal(s.n_domain[1], 0);
    assert_null(s.domain[1]);
    assert_int_equal(s.n_domain[2], 2);
    assert_string_equal(s.domain[2][0], "f16");
    axe_ctx_free(cx);
}

/* Every value of a domain binds, and no other. */
static const struct {
    const char *machine, *name, *value;
    const char *want; /* an error, or NULL */
} tune_rows[] = {
    {"cpu", "BM", "64", NULL},
    {"cpu", "BM", "128", NULL},
    {"cpu", "BM", "256", NULL},
    {"cpu", "BM", "0256", NULL},
    {"cpu", "T", "f16", NULL},
    {"cpu", "BN", "7", NULL},
    {"neon", "BM", "64", NULL},
    {"cpu", "BM", "65",
     "`BM` is 65, which is not in its domain {64, 128, 256}"},
    {"cpu", "T", "bf16", "`T` is bf16, which is not in its domain {f16, f32}"},
    {"neon", "BN", "7",
     "`BM` is 63, which is not in its domain {64, 128, 256}"},
};

static void
test_tune(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(tune_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_module *m;
        const axe_kernel *k;
        axe_inst          inst = {.machine = tune_rows[i].machine,
                                  .n_set = 1,
                                  .set_name = &tune_rows[i].name,
                                  .set_value = &tune_rows[i].value};
        int32_t source = axe_source_add(cx, "t", tuned, strlen(tuned));
        assert_int_equal(axe_module_parse(cx, source, &m), AXE_OK);
        bool ok = axe_module_instantiate(cx, m, &inst, &k) == AXE_OK;
        check_text(tune_rows[i].value,
                   tune_rows[i].want ? tune_rows[i].want : "",
                   axe_last_error(cx));
        assert_int_equal(ok, !tune_rows[i].want);
        if (ok)
            assert_int_equal(k->binding[0].n_domain, 3);
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_fns),
        cmocka_unit_test(test_ir),   cmocka_unit_test(test_facts),
        cmocka_unit_test(test_sig),  cmocka_unit_test(test_tune),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
