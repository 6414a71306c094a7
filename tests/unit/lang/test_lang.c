/* test_lang.c - from text to IR: statements by table, kernels whole, and what
 * callers can get wrong. */
#include "texts.h"

/* -------------------------------------------------------------- statements */

static const char head[] =
    "kernel k<BM = 8, type T = f16>(in f32 X[M, N], in f16 H[M, N], in i32 "
    "C[M], in i8 B[M], in bool E[M], inout f32 Y[M], inout f16 Z[M], inout i32 "
    "D[M], inout bool F[M]) { index m, n, k; const HALF = 0.5; for (q : 4) { ";

/* clang-format off */
static const struct {
    const char *in, *want; /* the statement in the IR */
} rows[] = {
    {"Y[m] = X[m, 0];", "Y[m] = X[m, 0] over m:M"},
    {"Y[m] = 1;", "Y[m] = 1.0_f32 over m:M"},
    {"Y[m] = 1 / 2;", "Y[m] = 0.0_f32 over m:M"},
    {"Y[m] = 1.0 / 2;", "Y[m] = 0.5_f32 over m:M"},
    {"Y[m] = HALF * HALF + BM;", "Y[m] = 8.25_f32 over m:M"},
    {"Y[m] = -inf;", "Y[m] = -f32.inf over m:M"},
    {"Y[m] = sqrt(4);", "Y[m] = 2.0_f32 over m:M"},
    {"Y[m] = rsqrt(4) + exp(0) + exp2(3) + log(1) + tanh(0);",
     "Y[m] = 9.5_f32 over m:M"},
    {"Y[m] = min(0.5, 2) * abs(-0.5) - 0.25;", "Y[m] = 0.0_f32 over m:M"},
    {"Y[m] = 2.5 == 5 / 2.0 && 1.5 != 2 && 1.5 <= 1.5 ? 1 : 0;",
     "Y[m] = 1.0_f32 over m:M"},
    {"Y[m] = max(2, 2.5) - min(1, 3) - abs(-1);", "Y[m] = 0.5_f32 over m:M"},
    {"Y[m] = true ? 1 : 2;", "Y[m] = 1.0_f32 over m:M"},
    {"Y[m] = 1 < 1.5 && 2 >= 2 ? HALF : 2;", "Y[m] = 0.5_f32 over m:M"},
    {"D[m] = 7 / -2 + 7 % -2 * 10;", "D[m] = -14_i32 over m:M"},
    {"D[m] = cdiv(7, 2);", "D[m] = 4_i32 over m:M"},
    {"D[m] = 2 * C[m] + BM;", "D[m] = 2_i32*C[m] + 8_i32 over m:M"},
    {"D[m] = B[m];", "D[m] = i32(B[m]) over m:M"},
    {"Y[m] = H[m, 0];", "Y[m] = f32(H[m, 0]) over m:M"},
    {"Y[m] = H[m, 0] * H[m, 1];",
     "Y[m] = f32(H[m, 0]*H[m, 1]) over m:M"},
    {"Y[m] += H[m, n] * H[m, n];",
     "Y[m] += f32(H[m, n])*f32(H[m, n]) over m:M fold n:N"},
    {"Y[m] += H[m, n] * X[m, n] - 1;",
     "Y[m] += f32(H[m, n])*X[m, n] - 1.0_f32 over m:M fold n:N"},
    {"Y[m] += exp(H[m, n]);", "Y[m] += f32(exp(H[m, n])) over m:M fold n:N"},
    {"Y[m] max= m < 3 ? H[m, n] : -inf;",
     "Y[m] max= m < 3 ? f32(H[m, n]) : -f32.inf over m:M fold n:N"},
    {"Y[m] += H[m, n] > 1 ? -H[m, n] : min(H[m, n], 2);",
     "Y[m] += 1.0_f16 < H[m, n] ? -f32(H[m, n]) : "
     "min(f32(H[m, n]), 2.0_f32) over m:M fold n:N"},
    {"Y[m] += sum[k](H[m, k] * H[m, n]);",
     "Y[m] += sum[k:N](f32(H[m, k])*f32(H[m, n])) over m:M fold n:N"},
    {"Y[m] *= H[m, 0];", "Y[m] *= f32(H[m, 0]) over m:M"},
    {"Y[m] min= X[m, 0];", "Y[m] min= X[m, 0] over m:M"},
    {"Z[m] = T(X[m, 0]);", "Z[m] = f16(X[m, 0]) over m:M"},
    {"Y[m] = accum(T)(H[m, 0]);", "Y[m] = f32(H[m, 0]) over m:M"},
    {"Y[m] = f32(m) * X[m, 0];", "Y[m] = f32(m)*X[m, 0] over m:M"},
    {"Y[m] = f32(3) + f32(HALF);", "Y[m] = 3.0_f32 + 0.5_f32 over m:M"},
    {"F[m] = !E[m] || X[m, 0] != 0;",
     "F[m] = !E[m] || X[m, 0] != 0.0_f32 over m:M"},
    {"F[m] = true;", "F[m] = true over m:M"},
    {"Y[m] = m + q*2 >= M - N ? X[m, q] : X[m, 2*m];",
     "Y[m] = M - N <= m + q*2 ? X[m, q] : X[m, 2*m] over m:M"},
    {"Y[m] = m < 3 ? m < 2 ? 1 : 2 : -inf;",
     "Y[m] = m < 3 ? m < 2 ? 1.0_f32 : 2.0_f32 : -f32.inf over m:M"},
    {"Y[m] = X[m, 0] * (m < 3 ? 1 : 0);",
     "Y[m] = X[m, 0]*(m < 3 ? 1.0_f32 : 0.0_f32) over m:M"},
    {"Y[m] = sum[n](X[m, n] > 0 ? 1 : 0);",
     "Y[m] = sum[n:N](0.0_f32 < X[m, n] ? 1.0_f32 : 0.0_f32) over m:M"},
    {"Y[m] += X[m, n] > 0 ? 1 : 0.5;",
     "Y[m] += 0.0_f32 < X[m, n] ? 1.0_f32 : 0.5_f32 over m:M fold n:N"},
    {"D[m] = m < 3 ? 1 : 0.5;", NULL},
    {"D[m] = sum[n](1);", NULL},
    {"Y[m] = (m < 3 ? X[m, 0] : X[m, 1]) * X[m, 2];",
     "Y[m] = (m < 3 ? X[m, 0] : X[m, 1])*X[m, 2] over m:M"},
    {"Y[m] = X[m, 0] - (X[m, 1] - 2) - 3;",
     "Y[m] = X[m, 0] - (X[m, 1] - 2.0_f32) - 3.0_f32 over m:M"},
    {"Y[m] = -X[m, 0] * --X[m, 1];", "Y[m] = -X[m, 0]*--X[m, 1] over m:M"},
    {"Y[m] = sum[n](X[m, n]) + max[n](X[m, n]);",
     "Y[m] = sum[n:N](X[m, n]) + max[n:N](X[m, n]) over m:M"},
    {"Y[m] = sum[n, k](X[n, k] * X[m, k]);",
     "Y[m] = sum[n:M, k:N](X[n, k]*X[m, k]) over m:M"},
    {"Y[m] = X[m, 0] / sum[m](X[m, 0]);",
     "Y[m] = X[m, 0]/sum[m.1:M](X[m.1, 0]) over m:M"},
    {"Y[m] += X[m, n] * prod[n](X[m, n]);",
     "Y[m] += X[m, n]*prod[n.1:N](X[m, n.1]) over m:M fold n:N"},
    {"Y[m] = X[m, n - 1 + n*2] * Y[m];", NULL},
    {"Y[7 - 2*m] = C[m] > 0 ? 1 : 0;",
     "Y[7 - 2*m] = 0_i32 < C[m] ? 1.0_f32 : 0.0_f32 over m:M"},
    {"Y[q*BM] = 1;", "Y[q*8] = 1.0_f32"},
    {"Y[m] = X[m, 0] via rows slow;",
     "Y[m] = X[m, 0] over m:M via rows slow"},
    {"Y[m] = rsqrt(log(exp2(tanh(X[m, 0]))));",
     "Y[m] = rsqrt(log(exp2(tanh(X[m, 0])))) over m:M"},
};
/* clang-format on */

static void
test_statements(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        axe_inst          inst = {0};
        const axe_kernel *k =
            compile(cx, axe_textf(cx, "%s%s } }", head, rows[i].in), &inst);
        if (rows[i].want)
            check_text(rows[i].in, rows[i].want,
                       k ? axe_stmt_text(cx, k->body[0]->body[0])
                         : axe_last_error(cx));
        else
            check_text(rows[i].in, "refused", k ? "accepted" : "refused");
        if (k)
            round_trip(cx, k);
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ----------------------------------------------------------------- kernels */

static const char gemm_ir[] =
    "kernel gemm\n"
    "set T = f16, BM = 192, BN = 192, BK = 512, STAGES = 2\n"
    "size M, K, N, A.stride0, A.stride1\n"
    "index acc.0, acc.1, m, k, n\n"
    "in f16 A[M, K] : (A.stride0, A.stride1)\n"
    "in f16 B[N, K] : (1, N)\n"
    "out f16 C[M, N] : (N, 1)\n"
    "{\n"
    "    cta (i : cdiv(M, 192), j : cdiv(N, 192)) {\n"
    "        reg f32 acc[192, 192]\n"
    "        acc[acc.0, acc.1] = 0.0_f32 over acc.0:192, acc.1:192\n"
    "        pipeline ring[2] {\n"
    "            shared f16 ring.a[192, 512]\n"
    "            shared f16 ring.b[192, 512]\n"
    "        }\n"
    "        for (kt : cdiv(K, 512)) {\n"
    "            produce ring {\n"
    "                ring.a[m, k] = A[i*192 + m, kt*512 + k] over m:192, "
    "k:512\n"
    "                ring.b[n, k] = B[j*192 + n, kt*512 + k] over n:192, "
    "k:512\n"
    "            }\n"
    "            consume ring {\n"
    "                acc[m, n] += f32(ring.a[m, k])*f32(ring.b[n, k]) over "
    "m:192, n:192 fold k:512\n"
    "            }\n"
    "        }\n"
    "        C[i*192 + m, j*192 + n] = f16(acc[m, n]) over m:192, n:192\n"
    "    }\n"
    "}\n";

static void
test_gemm(void **state)
{
    static const char *const set_name[] = {"T", "BM", "STAGES"};
    static const char *const set_value[] = {"f16", "192", "2"};
    static const char *const order_name[] = {"A", "B"};
    static const axe_order   order[] = {AXE_ORDER_STRIDED, AXE_ORDER_F};
    axe_ctx                 *cx = axe_ctx_new();
    axe_inst                 inst = {.machine = "cpu",
                                     .n_set = 3,
                                     .set_name = set_name,
                                     .set_value = set_value,
                                     .n_order = 2,
                                     .order_name = order_name,
                                     .order = order};
    const axe_kernel        *k =
        compile(cx, read_whole(cx, "kernels/gemm.axe"), &inst);

    (void)state;
    failed = 0;
    check_text("gemm", gemm_ir, k ? round_trip(cx, k) : axe_last_error(cx));
    assert_int_equal(axe_n_error(cx), 0);
    assert_null(axe_diags(cx));
    assert_int_equal(failed, 0);
    axe_ctx_free(cx);
}

/* Every kernel in every type; softmax needs exp, hence floats. */
static void
test_kernels(void **state)
{
    static const char *const file[] = {"gemm", "softmax", "transpose"};
    static const char *const type[] = {"f64",  "f32", "f16",
                                       "bf16", "i32", "i8"};
    static const char *const set_name[] = {"T"};

    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(file); i++)
        for (int t = 0; t < AXE_LEN(type); t++) {
            axe_ctx *cx = axe_ctx_new();
            axe_inst inst = {
                .n_set = 1, .set_name = set_name, .set_value = &type[t]};
            const char       *path = axe_textf(cx, "kernels/%s.axe", file[i]);
            const axe_kernel *k = compile(cx, read_whole(cx, path), &inst);
            bool              want = i != 1 || t < 4;
            check_text(path, want ? "compiles" : "refused",
                       k ? "compiles" : "refused");
            if (k)
                round_trip(cx, k);
            axe_ctx_free(cx);
        }
    assert_int_equal(failed, 0);
}

/* Parts of kernels and the line of IR that they make. */
/* clang-format off */
static const struct {
    const char *in, *want;
} part_rows[] = {
    {"kernel k() { }", "kernel k\n{\n}\n"},
    {"/* a * b */ kernel k() // c\n target sm_90a { }",
     "kernel k\ntarget sm_90a\n"},
    {"kernel k() target nvidia, opencl-sg16 ,cpu - avx2 { }",
     "kernel k\ntarget nvidia, opencl-sg16, cpu-avx2\n"},
    {"kernel k<A = 3, B = A * A - 1, type T = accum(i8)>() default cpu (A = 5) "
     "default gpu (A = 7) { }",
     "set A = 5, B = 24, T = i32\n"},
    {"kernel k(in f32 X[M, 3, N, 2], out f32 Y[M]) { Y[0] = X[0, 0, 0, 0]; }",
     "in f32 X[M, 3, N, 2] : (6*N, 2*N, 2, 1)\n"},
    {"kernel k(in f32 X[N, N], out f32 Y[M, N, M]) { Y[0, 0, 0] = X[0, 0]; }",
     "out f32 Y[M, N, M] : (M*N, M, 1)\n"},
    {"kernel k<A = 4>() { reg f32 t[A, 2*A] : (A, 2*A) : (1, A) = 0; "
     "const B = 8; shared f32 u[B] : (B) : (2*B) = 1; }",
     "reg f32 t[4, 8] : (4, 8) : (1, 4)\n"},
    {"layout l = (4, 4) : (4, 1); kernel k() { layout m = l | (2, 8); "
     "reg f32 t[2, 8] : m = 0; }",
     "reg f32 t[2, 8] : (2, (2, 4)) : (8, (4, 1))\n"},
    {"kernel k() { reg f32 t[8] : (4, 2) : (2, 1) = 0; }",
     "reg f32 t[8] : ((4, 2)) : ((2, 1))\n"},
    {"kernel k(out f32 Y[M]) { for (t : 3) { index m; Y[m] = 1; } "
     "for (t : 4) { index m; Y[m] = 2; } }",
     "index m\nout"},
    {"kernel k(out f32 Y[M]) { for (t : M by 8) for (u : t + 1 by 2) Y[u] = 1; }",
     "for (u : cdiv(t + 1, 2)) {\n"},
    {"kernel k(out f32 Y[N, M]) { cta (i : 100 by 8, j : M / 2) Y[i, j] = 1; }",
     "cta (i : 13, j : M/2) {\n"},
    {"kernel k() { reg bool t[2] = true; reg i8 u[2] = -128; reg f16 v[2] = "
     "65504; reg f64 w[2] = -inf; }",
     "u[u.0] = -128_i8 over u.0:2\n"},
    {"kernel k(in f32 X[M], out f32 Y[M]) { index m; cta (i : M by 8) "
     "Y[i*8 + m] = X[i*8 + m]; }",
     "Y[i*8 + m] = X[i*8 + m] over m:8\n"},
    {"kernel k(in f32 X[96], out f32 Y[96]) { index m; cta (i : 96 by 32) "
     "for (j : 32 by 8) Y[m + 8*j + 32*i + 1] = 3 * X[i*32 + m + j*8]; }",
     " over m:8\n"},
    {"kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n; cta (i : M by 8, j "
     ": N by 4) Y[i*8 + m, j] = sum[n](X[i*8 + m, j*4 + n]); }",
     "sum[n:4](X[i*8 + m, j*4 + n]) over m:8\n"},
    {"kernel k(in f32 X[M, N], out f32 Y[M]) { index m, n; cta (i : M by 8) "
     "Y[i*8 + m + n] = 1; }",
     "how far `n` runs is not known"},
    {"kernel k(in f32 X[M, N], out f32 Y[M]) { index m; cta (i : M by 8) "
     "Y[i*8 + 2*m] = 1; }",
     "how far `m` runs is not known"},
    {"kernel k(in f32 X[M, N], out f32 Y[M]) { index m; cta (i : M by 8) "
     "Y[i*4 + m] = 1; }",
     "how far `m` runs is not known"},
    {"kernel k(in f32 X[4], out f32 Y[4]) { index m; reg f32 t[4, 4] : auto = 0; "
     "t[m, 2] = X[m]; Y[m] = t[m, m]; }",
     "Y[m] = t[m, m] over m:4\n"},
};
/* clang-format on */

static void
test_parts(void **state)
{
    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(part_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        axe_inst          inst = {.machine = "cpu"};
        const axe_kernel *k = compile(cx, part_rows[i].in, &inst);
        const char       *got = k ? round_trip(cx, k) : axe_last_error(cx);
        if (!strstr(got, part_rows[i].want))
            check_text(part_rows[i].in, part_rows[i].want, got);
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ----------------------------------------------------------------- callers */

static const char two[] =
    "kernel one<BM = 4, type T = f32>(in T X[M, BM], out accum(T) Y[M]) "
    "{ Y[0] = X[0, 0]; } kernel other<N>(out f32 Y[N]) { Y[0] = 0; }";

/* clang-format off */
static const struct {
    const char *kernel, *name, *value, *order, *error;
} caller_rows[] = {
    {NULL,    NULL, NULL, NULL,
     "the file has 2 kernels, so one must be named"},
    {"othr",  NULL, NULL, NULL, "there is no kernel `othr`"},
    {"one",   "BN", "4",  NULL,
     "kernel `one` has no compile-time parameter `BN`"},
    {"one",   "BM", "x",  NULL,
     "`BM` was set to `x`, which is not a 64-bit integer"},
    {"one",   "BM", "",   NULL,
     "`BM` was set to ``, which is not a 64-bit integer"},
    {"one",   "BM", "9223372036854775808", NULL,
     "`BM` was set to `9223372036854775808`, which is not a 64-bit integer"},
    {"one",   "BM", "-9223372036854775808", NULL,
     "extent `BM` is -9223372036854775808; it must be at least 1"},
    {"one",   "T",  "f31", NULL,
     "`T` was set to `f31`, which is not a type"},
    {"one",   "T",  "f16", "Z", "kernel `one` has no argument `Z`"},
    {"other", NULL, NULL, NULL, "`N` has no value and no default"},
    {"other", "N",  "4",  NULL, ""},
    {"one",   "T",  "bf16", "Y", ""},
};
/* clang-format on */

static void
test_callers(void **state)
{
    static const axe_order order = AXE_ORDER_F;

    (void)state;
    failed = 0;
    for (int i = 0; i < AXE_LEN(caller_rows); i++) {
        axe_ctx *cx = axe_ctx_new();
        axe_inst inst = {
            .kernel = caller_rows[i].kernel,
            .n_set = caller_rows[i].name != NULL,
            .set_name = &caller_rows[i].name,
            .set_value = &caller_rows[i].value,
            .n_order = caller_rows[i].order != NULL,
            .order_name = &caller_rows[i].order,
            .order = &order,
        };
        compile(cx, two, &inst);
        check_text(caller_rows[i].error, caller_rows[i].error,
                   axe_last_error(cx));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* Which kernels a file has, where one must be named. */
static void
test_none_named(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  b = {.cx = cx};

    (void)state;
    compile(cx, two, &(axe_inst){0});
    axe_errors_print(cx, &b);
    assert_non_null(strstr(b.text, "help: name one: `one`, `other`\n"));
    axe_ctx_free(cx);
}

static void
test_sig(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_module *m;
    axe_kernel_sig    s;

    (void)state;
    assert_int_equal(
        axe_module_parse(cx, axe_source_add(cx, "two", two, strlen(two)), &m),
        AXE_OK);
    assert_int_equal(axe_module_n_kernel(m), 2);
    assert_string_equal(axe_module_kernel_name(m, 1), "other");
    assert_null(axe_module_kernel_name(m, 2));
    assert_int_equal(axe_module_sig(cx, m, "none", &s), AXE_ENAME);
    assert_int_equal(axe_module_sig(cx, m, "one", &s), AXE_OK);
    assert_string_equal(s.name, "one");
    assert_int_equal(s.n_param, 2);
    assert_int_equal(s.param[0].rank, 2);
    assert_string_equal(s.param[0].extent[1], "BM");
    assert_string_equal(s.param[0].type, "T");
    assert_true(s.param[0].type_is_param);
    assert_int_equal(s.param[1].dir, AXE_DIR_OUT);
    assert_string_equal(s.param[1].type, "accum(T)");
    assert_int_equal(s.n_const, 2);
    assert_string_equal(s.const_name[0], "BM");
    assert_string_equal(s.const_default[1], "f32");
    axe_ctx_free(cx);
}

/* Deep and long texts end in a diagnostic, not in a crash. */
static void
test_limits(void **state)
{
    static const char *const part[] = {"(",    "-",    "!",  "1 + ",
                                       "exp(", "1 ? ", "X[", "sum[k]("};
    static const char *const block[] = {"for (t : 2) { ", "cta (t : 2) ",
                                        "produce p "};

    (void)state;
    for (int i = 0; i < AXE_LEN(part) + AXE_LEN(block); i++) {
        axe_ctx *cx = axe_ctx_new();
        axe_buf  text = {.cx = cx};
        axe_inst inst = {0};
        axe_puts(&text, "kernel k(out f32 Y[M]) { ");
        axe_puts(&text, i < AXE_LEN(part) ? "Y[0] = " : "");
        for (int n = 0; n < 50000; n++)
            axe_puts(&text,
                     i < AXE_LEN(part) ? part[i] : block[i - AXE_LEN(part)]);
        assert_null(compile(cx, text.text, &inst));
        assert_non_null(
            strstr(axe_diags(cx)->text, i == 3 ? "more than 2000 operations"
                                               : "nested deeper than 100"));
        axe_ctx_free(cx);
    }
}

/* At the limits it works: 2000 operations in one chain, 97 brackets. */
static void
test_at_limits(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_buf           chain = {.cx = cx}, deep = {.cx = cx};
    axe_inst          inst = {0};
    const axe_kernel *k;

    (void)state;
    failed = 0;
    axe_puts(&chain, "kernel k(inout f32 Y[M]) { Y[0] = 1");
    axe_puts(&deep, chain.text);
    for (int n = 0; n < 2000; n++)
        axe_puts(&chain, " + Y[0]");
    for (int n = 0; n < 97; n++)
        axe_puts(&deep, n % 2 ? " + (Y[0]" : " * abs(Y[0]");
    for (int n = 0; n < 97; n++)
        axe_putc(&deep, ')');
    axe_puts(&chain, "; }");
    axe_puts(&deep, "; }");
    k = compile(cx, chain.text, &inst);
    assert_non_null(k);
    round_trip(cx, k);
    k = compile(cx, deep.text, &inst);
    assert_non_null(k);
    round_trip(cx, k);
    assert_int_equal(failed, 0);
    axe_ctx_free(cx);
}

/* A file that is no text at all ends after a few errors. */
static void
test_garbage(void **state)
{
    static char text[100000];
    axe_ctx    *cx = axe_ctx_new();
    axe_inst    inst = {0};

    (void)state;
    for (int i = 0; i < AXE_LEN(text) - 1; i++)
        text[i] = i % 2 ? '#' : 'a';
    assert_null(compile(cx, text, &inst));
    assert_true(axe_n_error(cx) < 40);
    assert_null(compile(cx, "\xEF\xBB\xBF kernel", &inst));
    assert_string_equal(axe_last_error(cx),
                        "expected the kernel's name, found the end of the "
                        "file");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements), cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_kernels),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_callers),    cmocka_unit_test(test_none_named),
        cmocka_unit_test(test_sig),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_at_limits),  cmocka_unit_test(test_garbage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
