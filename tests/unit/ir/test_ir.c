/* test_ir.c - nodes that fold, affine forms, types, and the IR's text: what is
 * read and printed again, and what is refused. */
#include <math.h>

#include "texts.h"

static const axe_kernel *
read_text(axe_ctx *cx, const char *text, size_t len)
{
    const axe_kernel *k;

    return axe_kernel_read(cx, axe_source_add(cx, "ir", text, len), &k) ==
                   AXE_OK
               ? k
               : NULL;
}

/* ------------------------------------------------------------ expressions */

/* Tensors and variables that the rows below use. */
static const char head[] =
    "kernel k\nsize M, N\nindex m, n, r\n"
    "in f32 X[M, N] : (N, 1)\nin i32 C[M] : (1)\nin bool B[M] : (1)\n"
    "out f32 Y[M] : (1)\nout i32 D[M] : (1)\nout bool E[M] : (1)\n{\n"
    "reg f32 t[64]\nfor (q : 4) {\n";
static const char tail[] = "\n}\n}\n";

/* clang-format off */
static const struct {
    const char *in, *want; /* NULL: prints as it was read */
} stmt_rows[] = {
    {"Y[m] = X[m, 0] over m:M", NULL},
    {"Y[m] = X[m, 0] over m:8 to M - 1", NULL},
    {"Y[m] = X[m, 0] + X[m, 1] over m:M prefix m", NULL},
    {"Y[m] = X[m, 1 + 2] over m:M", "Y[m] = X[m, 3] over m:M"},
    {"Y[m] = X[m, q*0 + 1*q + 0] over m:M", "Y[m] = X[m, q] over m:M"},
    {"Y[m] = X[m, (q + 3)*1 - 0] over m:M", "Y[m] = X[m, q + 3] over m:M"},
    {"Y[m] = X[m, 0 + q/1] over m:M", "Y[m] = X[m, q] over m:M"},
    {"Y[m] = X[m, q%1] over m:M", "Y[m] = X[m, 0] over m:M"},
    {"Y[m] = X[m, cdiv(q, 1)] over m:M", "Y[m] = X[m, q] over m:M"},
    {"Y[m] = X[m, cdiv(7, 2)] over m:M", "Y[m] = X[m, 4] over m:M"},
    {"Y[m] = X[m, cdiv(8, 2)] over m:M", "Y[m] = X[m, 4] over m:M"},
    {"D[m] = i32(i8(300_i32)) over m:M", NULL},
    {"Y[m] = 0.30000000000000004_f32 over m:M", NULL},
    {"Y[m] = X[m, cdiv(-7, 2)] over m:M", "Y[m] = X[m, -3] over m:M"},
    {"Y[m] = X[m, -7/2] over m:M", "Y[m] = X[m, -4] over m:M"},
    {"Y[m] = X[m, 7/-2] over m:M", "Y[m] = X[m, -4] over m:M"},
    {"Y[m] = X[m, -7%2] over m:M", "Y[m] = X[m, 1] over m:M"},
    {"Y[m] = X[m, -8/2] over m:M", "Y[m] = X[m, -4] over m:M"},
    {"Y[m] = X[m, min(3, -2)] over m:M", "Y[m] = X[m, -2] over m:M"},
    {"Y[m] = X[m, max(3, abs(-4))] over m:M", "Y[m] = X[m, 4] over m:M"},
    {"Y[m] = X[m, 9223372036854775807 - 1] over m:M",
     "Y[m] = X[m, 9223372036854775806] over m:M"},
    {"Y[m] = X[m, -9223372036854775808] over m:M", NULL},
    {"Y[m] = X[m, -1 - -9223372036854775808] over m:M",
     "Y[m] = X[m, 9223372036854775807] over m:M"},
    {"E[m] = 0 == 0 - -9223372036854775808 over m:M", NULL},
    {"E[m] = 0 == -9223372036854775808/-1 over m:M", NULL},
    {"E[m] = 0 == 1/0 over m:M", NULL},
    {"E[m] = m == abs(4) over m:M", "E[m] = m == 4 over m:M"},
    {"Y[m] = X[m, 2 < 3 ? 5 : 6] over m:M", "Y[m] = X[m, 5] over m:M"},
    {"Y[m] = 0.1_f32 over m:M", NULL},
    {"Y[m] = 1e+30_f32 over m:M", NULL},
    {"Y[m] = 16777217_f32 over m:M", "Y[m] = 16777217.0_f32 over m:M"},
    {"Y[m] = -f32.inf over m:M", NULL},
    {"Y[m] = f32.nan over m:M", NULL},
    {"Y[m] = -0.0_f32 over m:M", NULL},
    {"Y[m] = f32(3_i32) over m:M", "Y[m] = 3.0_f32 over m:M"},
    {"Y[m] = f32(2.5_f64) over m:M", "Y[m] = 2.5_f32 over m:M"},
    {"Y[m] = f32(2.5_f16) over m:M", NULL},
    {"Y[m] = f32(X[m, 0]) over m:M", "Y[m] = X[m, 0] over m:M"},
    {"Y[m] = f32(f16(X[m, 0])) over m:M", NULL},
    {"D[m] = i32(X[m, 0]) over m:M", NULL},
    {"D[m] = i32(300_i16) over m:M", "D[m] = 300_i32 over m:M"},
    {"D[m] = 2147483647_i32 + 1_i32 over m:M", NULL},
    {"D[m] = 5_i32 - 7_i32 over m:M", "D[m] = -2_i32 over m:M"},
    {"E[m] = true over m:M", NULL},
    {"E[m] = !true over m:M", "E[m] = false over m:M"},
    {"E[m] = 3 == 4 || 3 != 4 over m:M", "E[m] = true over m:M"},
    {"E[m] = 3 <= 3 && 3 < 3 over m:M", "E[m] = false over m:M"},
    {"E[m] = !(m == 3) over m:M", NULL},
    {"E[m] = (m < 3) == (m < 4) over m:M", NULL},
    {"E[m] = m < 3 && (m < 4 || B[m]) over m:M", NULL},
    {"E[m] = (m < 3 && m < 4) || B[m] over m:M",
     "E[m] = m < 3 && m < 4 || B[m] over m:M"},
    {"Y[m] = X[m, 0] - (X[m, 1] - X[m, 2]) over m:M", NULL},
    {"Y[m] = (X[m, 0] - X[m, 1]) - X[m, 2] over m:M",
     "Y[m] = X[m, 0] - X[m, 1] - X[m, 2] over m:M"},
    {"Y[m] = X[m, 0]*(X[m, 1] + X[m, 2]) over m:M", NULL},
    {"Y[m] = X[m, 0]/(X[m, 1]*X[m, 2]) over m:M", NULL},
    {"Y[m] = -(X[m, 0] + X[m, 1])*-X[m, 2] over m:M", NULL},
    {"Y[m] = --X[m, 0] over m:M", NULL},
    {"Y[m] = (m < 3 ? X[m, 0] : X[m, 1]) + X[m, 2] over m:M", NULL},
    {"Y[m] = m < 3 ? X[m, 0] : m < 5 ? X[m, 1] : X[m, 2] over m:M", NULL},
    {"Y[m] = (m < 3 ? m < 1 : m < 5) ? X[m, 1] : X[m, 2] over m:M", NULL},
    {"Y[m] = max(exp(X[m, 0]), exp2(log(X[m, 1]))) over m:M", NULL},
    {"Y[m] = sqrt(rsqrt(tanh(abs(X[m, 0])))) over m:M", NULL},
    {"Y[m] = sum[n:N](X[m, n]) over m:M", NULL},
    {"Y[m] = prod[n:4, r:2 + q](X[m, n + 4*r]) over m:M", NULL},
    {"Y[m] = max[n:4](X[m, n])*min[n:5](X[m, n]) over m:M", NULL},
    {"Y[m] = sum[n:4](X[m, n]*sum[r:4](X[n, r])) over m:M", NULL},
    {"Y[m] += X[m, n] over m:M fold n:N", NULL},
    {"Y[m] *= X[m, n] over m:M fold n:N", NULL},
    {"Y[m] max= X[m, n] over m:M fold n:N", NULL},
    {"Y[m] min= X[m, n] over m:M fold n:N via rows slow", NULL},
    {"Y[m] = X[m, 0] over m:M via map atom ldmatrix.x4 slow", NULL},
    {"Y[m] += X[m, n]*X[m, 1] over m:M fold n:N atom v", NULL},
    {"Y[0] = 1.0_f32", NULL},
    {"Y[q] = 1.0_f32 slow", NULL},
    {"t[16*m + n] = X[m, n] over m:4, n:16", NULL},
    {"t[63 - 4*m - n] = X[m, n] over m:16, n:4", NULL},
    {"Y[m + n] = X[m, n] over m:1, n:64", NULL},
    {"Y[10*m + n + 3*r] = X[m, n + r] over m:M, n:3, r:3", NULL},
};
/* clang-format on */

static void
test_statements(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(stmt_rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const char       *in = stmt_rows[i].in;
        char             *text = axe_textf(cx, "%s%s%s", head, in, tail);
        const axe_kernel *k = read_text(cx, text, strlen(text));
        const axe_stmt   *loop = k ? k->body[1] : NULL;
        check_text(in, stmt_rows[i].want ? stmt_rows[i].want : in,
                   loop ? axe_stmt_text(cx, loop->body[0])
                        : axe_last_error(cx));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* ---------------------------------------------------------------- refusals */

/* clang-format off */
static const struct {
    const char *in, *error;
} bad_stmt_rows[] = {
    {"Y[m] = X[m] over m:M",
     "`X` has 2 dimensions, but 1 subscripts are given"},
    {"Y[m] = Z[m] over m:M", "`Z` has no meaning here"},
    {"Z[m] = 1.0_f32 over m:M", "there is no tensor `Z` here"},
    {"Y[m] = sqr(X[m, 0]) over m:M", "there is no function `sqr`"},
    {"Y[m] = max(X[m, 0]) over m:M", "`max` takes 2 values, not 1"},
    {"Y[m] = 1.0_f31 over m:M", "`f31` is not a type"},
    {"Y[m] = 1..2_f32 over m:M", "`1..2` is not a number"},
    {"D[m] = 2147483648_i32 over m:M", "2147483648 does not fit i32"},
    {"D[m] = 1.5_i32 over m:M", "1.5 does not fit i32"},
    {"Y[m] = 0.0_f32 over z:M", "there is no index `z`"},
    {"Y[m] = 0.0_f32 over m:8 to q", "an index stops at an expression over sizes, not `q`"},
    {"Y[m] = 0.0_f32 over m:M prefix q", "`q` is no index of the left side"},
    {"Y[m] = 0.0_f32 over M:M", "there is no index `M`"},
    {"Y[m] 0.0_f32 over m:M",
     "expected `=`, `+=`, `*=`, `max=` or `min=`"},
    {"Y[m] = X[m, 0", "expected `]`"},
    {"Y[m] = (X[m, 0]", "expected `)`"},
    {"Y[m] = m < 3 ? X[m, 0]", "expected `:`"},
    {"Y[m] = 0.0_f32", "`m` is not in scope"},
    {"Y[0] = 0.0_f32 over m:M",
     "index `m` is not on the left side, but is listed as free"},
    {"Y[m] += X[m, 0] fold m:M",
     "index `m` is on the left side, but is listed as folded"},
    {"Y[m] = X[m, n] over m:M fold n:N", "`=` cannot fold over `n`"},
    {"Y[m] = X[m, n] over m:M, m:M",
     "`m` is not an index, or is bound twice"},
    {"Y[m] = sum[m:4](X[m, 0]) over m:M",
     "`m` is not an index, or is bound twice"},
    {"Y[m] = 0.0_f32 over m:X[0, 0]",
     "`X[0, 0]` (f32) needs to be an index integer"},
    {"Y[m] = 0.0_f32 over m:n", "`n` is not in scope"},
    {"Y[m] = 0 over m:M", "`Y[m]` is f32, but the value is i64"},
    {"X[m, 0] = 0.0_f32 over m:M",
     "`X` is an `in` argument and cannot be written"},
    {"Y[m] = X[m, 0] + C[m] over m:M",
     "`X[m, 0] + C[m]` (f32) needs operands of its own type"},
    {"E[m] = X[m, 0] < C[m] over m:M",
     "`X[m, 0] < C[m]` (bool) needs operands of one type"},
    {"E[m] = B[m] + B[m] over m:M",
     "`B[m] + B[m]` (bool) needs numbers"},
    {"E[m] = B[m] && X[m, 0] over m:M",
     "`B[m] && X[m, 0]` (bool) needs conditions"},
    {"Y[m] = X[m, 0]%X[m, 1] over m:M",
     "`X[m, 0]%X[m, 1]` (f32) needs integers"},
    {"D[m] = exp(C[m]) over m:M", "`exp(C[m])` (i32) needs a floating type"},
    {"Y[m] = X[m, 0] ? 1.0_f32 : 0.0_f32 over m:M",
     "`X[m, 0] ? 1.0 : 0.0` (f32) needs a condition before `?`"},
    {"Y[m] = B[m] ? 1.0_f32 : C[m] over m:M",
     "`B[m] ? 1.0 : C[m]` (f32) needs both its values of its own type"},
    {"E[m] = bool(C[m]) over m:M",
     "`bool(C[m])` (bool) needs a comparison to become a condition"},
    {"E[m] = sum[n:N](B[n]) over m:M",
     "`sum[n](B[n])` (bool) needs numbers of its own type"},
    {"E[m] += B[m] over m:M", "`E[m]` (bool) needs a number to fold into"},
    {"Y[m] = X[C[m], 0] over m:M",
     "`X[C[m], 0]` (f32) needs index subscripts"},
    {"Y[m] = X[sum[n:N](n), 0] over m:M",
     "the subscript `sum[n](n)` folds; fold into a tile first"},
    {"t[m] = 0.0_f32 over m:65",
     "`m` reaches 64, outside dimension 0 of `t`, which has 64 elements"},
    {"t[2*m - q] = 0.0_f32 over m:4",
     "`2*m - q` begins at -3, outside dimension 0 of `t`, which has 64 "
     "elements"},
    {"t[m] = 0.0_f32 over m:M", "`m` cannot be shown to stay inside `t`"},
    {"Y[m + n] = X[m, n] over m:2, n:2",
     "`Y[m + n]` is one element for m = 0, n = 1 and m = 1, n = 0, and would "
     "be written twice"},
    {"Y[2*m - 3*n] = X[m, n] over m:4, n:4",
     "`Y[2*m - 3*n]` is one element for m = 3, n = 2 and m = 0, n = 0, and "
     "would be written twice"},
    {"Y[0*m + n] = X[m, n] over m:4, n:4",
     "index `m` is not on the left side, but is listed as free"},
    {"t[m] = t[m + 1] over m:63",
     "`t[m + 1]` is read while this statement writes `t[m]`"},
    {"t[m] += t[m]*X[m, n] over m:64 fold n:4",
     "`t[m]` is read while this statement writes `t[m]`"},
    {"Y[m] = exp(X[m, 0]) over m:M atom v",
     "atom `v` is `d = a` or `d += a * b` of places of tensors, not "
     "`exp(X[m, 0])`"},
    {"Y[m] += X[m, n] over m:M fold n:N atom v",
     "atom `v` is `d = a` or `d += a * b` of places of tensors, not "
     "`X[m, n]`"},
    {"Y[m] = X[m, 0]*X[m, 1] over m:M atom v",
     "atom `v` is `d = a` or `d += a * b` of places of tensors, not "
     "`X[m, 0]*X[m, 1]`"},
    {"produce p { }", "there is no pipeline `p` here"},
    {"pipeline p[0] { shared f32 a[4] }", "expected at least one stage"},
    {"pipeline p[1] { }", "pipeline `p` has no stages or no tensors"},
    {"reg f32 t[4]", "`t` is declared already"},
    {"reg f32 u[0]", "`u` has an extent of 0"},
    {"reg f32 u[M]", "`M` cannot be an extent of `u`"},
    {"reg f32 u[8] : (4) : (1)",
     "the layout of `u` has 4 elements, its shape 8"},
    {"reg f32 u[4611686018427387904, 4]", "`u` has too many elements"},
    {"reg f32 u[]", "expected a name"},
    {"for (q : 4) { }", "`q` is declared already"},
    {"for (p : 4, s : 4) { }", "a loop has one range, a scope at least one"},
    {"for (p : X[0, 0]) { }", "`X[0, 0]` (f32) needs to be an index integer"},
    {"for (p : 2) { reg f32 u[4] } u[0] = 0.0_f32",
     "there is no tensor `u` here"},
    {"pipeline p[1] { shared f32 a[4] } produce p { reg f32 u[4] } "
     "u[0] = 0.0_f32",
     "there is no tensor `u` here"},
    {"cta (p : 4) { Y[p] = 0.0_f32 } Y[p] = 0.0_f32",
     "`p` has no meaning here"},
};

static const struct {
    const char *in, *error;
} bad_kernel_rows[] = {
    {"", "expected `kernel`"},
    {"kernel", "expected a name"},
    {"kernel k", "expected `{`"},
    {"kernel k {", "expected a name"},
    {"kernel k { } x", "expected the end"},
    {"kernel k size M, M { }", "`M` is declared already"},
    {"kernel k set A = { }", "expected a 64-bit integer"},
    {"kernel k set A = 99999999999999999999 { }", "expected a 64-bit integer"},
    {"kernel k set A = f31 { }", "`f31` is not a type"},
    {"kernel k in f32 A[4] { }", "expected `:`"},
    {"kernel k in f32 A[4] : (M) { }", "there is no size `M`"},
    {"kernel k in f32 A[4] : (1, 1) { }", "expected `)`"},
    {"kernel k in f31 A[4] : (1) { }", "`f31` is not a type"},
    {"kernel k in f32 A[-4] : (1) { }", "`A` has an extent of -4"},
    {"kernel k in f32 A[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2] : (1) { }",
     "`A` has 17 dimensions; at most 16 are supported"},
};
/* clang-format on */

static const char *
first_error(const axe_ctx *cx)
{
    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        if (d->severity == AXE_ERROR)
            return d->text;
    return "none";
}

static void
test_refusals(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(bad_stmt_rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *in = bad_stmt_rows[i].in;
        char       *text = axe_textf(cx, "%s%s%s", head, in, tail);
        read_text(cx, text, strlen(text));
        check_text(in, bad_stmt_rows[i].error, first_error(cx));
        axe_ctx_free(cx);
    }
    for (int i = 0; i < AXE_LEN(bad_kernel_rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *in = bad_kernel_rows[i].in;
        read_text(cx, in, strlen(in));
        check_text(in, bad_kernel_rows[i].error, first_error(cx));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* Deep and long texts end in a diagnostic, not in a crash. */
static void
test_limits(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  deep = {.cx = cx}, wide = {.cx = cx}, blocks = {.cx = cx};

    (void)state;
    axe_puts(&deep, head);
    axe_puts(&deep, "Y[0] = ");
    axe_puts(&wide, deep.text);
    axe_puts(&blocks, head);
    for (int i = 0; i < 100000; i++) {
        axe_putc(&deep, i % 2 ? '(' : '-');
        axe_puts(&wide, "1.0_f32 + ");
        axe_putf(&blocks, "for (x%d : 1) {", i);
    }
    assert_null(read_text(cx, deep.text, deep.len));
    assert_string_equal(axe_last_error(cx), "nested too deep");
    assert_null(read_text(cx, wide.text, wide.len));
    assert_string_equal(axe_last_error(cx),
                        "this expression has more than 2000 operations");
    assert_null(read_text(cx, blocks.text, blocks.len));
    assert_string_equal(axe_last_error(cx), "nested too deep");
    axe_ctx_free(cx);
}

/* -------------------------------------------------------- kernels by hand */

static const char whole[] =
    "kernel whole\n"
    "target nvidia, cpu-avx512-bf16, opencl\n"
    "set T = f16, BM = 64, NEG = -3\n"
    "size M, N, A.stride0, A.stride1\n"
    "index m, n\n"
    "in f16 A[M, N] : (A.stride0, A.stride1)\n"
    "in f32 B[M, 4, N] : (4*N, N, 1)\n"
    "inout i32 C[7] : (-2)\n"
    "out f32 Y[M] : (1)\n"
    "{\n"
    "    cluster (c : 2) {\n"
    "        cta (i : cdiv(M, 64), j : N) {\n"
    "            shared f16 t[8, 16] : (8, 16) : (1, 8)\n"
    "            reg f32 s[8] : (8) : (1) + 3\n"
    "            pipeline ring[3] {\n"
    "                shared f16 ring.a[8]\n"
    "                reg f32 ring.b[8, 2] : (8, 2) : "
    "(2, 1)\n"
    "            }\n"
    "            t[m, n] = A[i*64 + m, n] over m:8, "
    "n:16\n"
    "            for (k : 4) {\n"
    "                produce ring {\n"
    "                    ring.a[m] = t[m, 4*k] over "
    "m:8 via rows\n"
    "                }\n"
    "                consume ring {\n"
    "                    s[m] += f32(ring.a[m]) over "
    "m:8\n"
    "                }\n"
    "            }\n"
    "            warpgroup (g : 1) {\n"
    "                warp (w : 4) {\n"
    "                    thread (l : 32) {\n"
    "                        C[0] += i32(j) slow\n"
    "                    }\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";

static void
test_round(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_buf           out = {.cx = cx};
    const axe_kernel *k = read_text(cx, whole, strlen(whole));

    (void)state;
    if (!k)
        print_error("%s\n", axe_last_error(cx));
    assert_non_null(k);
    axe_kernel_print(cx, &out, k);
    assert_string_equal(out.text, whole);
    assert_int_equal(k->n_binding, 3);
    assert_int_equal(k->n_index_stmt, 4);
    assert_int_equal(k->param[1]->stride[0].coef, 4);
    assert_string_equal(axe_unit_text(cx, k->param[1]->stride[0].unit), "N");
    axe_ctx_free(cx);
}

/* Every prefix, and every text with one byte changed, is read or refused. */
static void
test_mangled(void **state)
{
    static const char bytes[] = "({[]})\n,:*-=0 9a\"\377";
    char              text[sizeof whole];
    axe_ctx          *cx = axe_ctx_new();

    (void)state;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        axe_mark m = axe_ctx_mark(cx);
        read_text(cx, whole, n);
        memcpy(text, whole, sizeof whole);
        text[n] = bytes[n % (sizeof bytes - 1)];
        read_text(cx, text, sizeof whole - 1);
        axe_ctx_release(cx, m);
    }
    axe_ctx_free(cx);
}

/* The verifier finds what the reader cannot make. */
static void
test_verify(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_kernel *good = read_text(cx, whole, strlen(whole));
    axe_kernel        bad = *good;
    axe_tensor        t = *good->param[0];
    const axe_tensor *param[] = {&t, good->param[1], good->param[2],
                                 good->param[3]};

    (void)state;
    assert_int_equal(axe_kernel_verify(cx, &bad), AXE_OK);
    bad.n_size = 1;
    assert_int_equal(axe_kernel_verify(cx, &bad), AXE_ESHAPE);
    bad.n_size = good->n_size;
    bad.param = param;
    assert_int_equal(axe_kernel_verify(cx, &bad), AXE_ENAME);
    t.stride = NULL;
    assert_int_equal(axe_kernel_verify(cx, &bad), AXE_ESHAPE);
    axe_ctx_free(cx);
}

/* ------------------------------------------------------------------- types */

/* What widens, all of it. */
static const char *const widening[] = {
    "f64",    "",
    "f32",    "f64",
    "tf32",   "f64 f32",
    "f16",    "f64 f32 tf32",
    "bf16",   "f64 f32 tf32",
    "f8e4m3", "f64 f32 tf32 f16 bf16",
    "f8e5m2", "f64 f32 tf32 f16 bf16",
    "f8e8m0", "f64 f32",
    "f4e2m1", "f64 f32 tf32 f16 bf16 f8e4m3 f8e5m2",
    "i64",    "",
    "i32",    "i64",
    "i16",    "i64 i32",
    "i8",     "i64 i32 i16",
    "i4",     "i64 i32 i16 i8",
    "u64",    "",
    "u32",    "i64 u64",
    "u16",    "i64 i32 u64 u32",
    "u8",     "i64 i32 i16 u64 u32 u16",
    "bool",   "",
};

static void
test_types(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    assert_int_equal(AXE_LEN(widening), 2 * AXE_N_TYPE);
    for (int a = 0; a < AXE_N_TYPE; a++) {
        axe_buf out = {.cx = cx};
        axe_puts(&out, "");
        check_text("types in order", widening[2 * a], axe_type_table[a].name);
        for (int b = 0; b < AXE_N_TYPE; b++)
            if (a != b && axe_type_widens((axe_type)a, (axe_type)b))
                axe_putf(&out, "%s%s", out.len ? " " : "",
                         axe_type_table[b].name);
        check_text(widening[2 * a], widening[2 * a + 1], out.text);
        assert_true(axe_type_widens((axe_type)a, (axe_type)a));
    }
    assert_int_equal(failed, 0);
    assert_true(axe_type_fits(AXE_TYPE_i8, -128));
    assert_false(axe_type_fits(AXE_TYPE_i8, 128));
    assert_true(axe_type_fits(AXE_TYPE_u32, 4294967295));
    assert_false(axe_type_fits(AXE_TYPE_u32, -1));
    assert_true(axe_type_fits(AXE_TYPE_i64, INT64_MIN));
    assert_true(axe_type_fits(AXE_TYPE_i4, 7));
    assert_false(axe_type_fits(AXE_TYPE_i4, 8));
    assert_false(axe_type_fits(AXE_TYPE_bool, 2));
    assert_true(axe_type_max(AXE_TYPE_f16) == 65504);
    assert_true(axe_type_max(AXE_TYPE_f8e4m3) == 448);
    assert_true(axe_type_max(AXE_TYPE_f8e5m2) == 57344);
    assert_true(axe_type_max(AXE_TYPE_f4e2m1) == 6);
    axe_ctx_free(cx);
}

static void
test_fold_units(void **state)
{
    static const struct {
        axe_fold    fold;
        axe_type    type;
        const char *want;
    } rows[] = {
        {AXE_FOLD_SUM, AXE_TYPE_f32, "0.0"},
        {AXE_FOLD_MUL, AXE_TYPE_f16, "1.0"},
        {AXE_FOLD_MAX, AXE_TYPE_f64, "-inf"},
        {AXE_FOLD_MIN, AXE_TYPE_bf16, "inf"},
        {AXE_FOLD_SUM, AXE_TYPE_i32, "0"},
        {AXE_FOLD_MUL, AXE_TYPE_u8, "1"},
        {AXE_FOLD_MAX, AXE_TYPE_i64, "-9223372036854775808"},
        {AXE_FOLD_MIN, AXE_TYPE_i64, "9223372036854775807"},
        {AXE_FOLD_MAX, AXE_TYPE_u16, "0"},
        {AXE_FOLD_MIN, AXE_TYPE_u16, "65535"},
        {AXE_FOLD_MAX, AXE_TYPE_i8, "-128"},
        {AXE_FOLD_MIN, AXE_TYPE_i8, "127"},
    };
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++)
        check_text(
            "fold unit", rows[i].want,
            axe_node_text(cx, axe_fold_unit(cx, rows[i].fold, rows[i].type)));
    assert_int_equal(failed, 0);
    axe_ctx_free(cx);
}

/* ------------------------------------------------------------------ affine */

static void
test_affine(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_var         m = {.kind = AXE_VAR_INDEX, .name = "m"};
    axe_var         q = {.kind = AXE_VAR_LOOP, .name = "q", .id = 1};
    const axe_node *vm = axe_var_node(cx, AXE_NOWHERE, &m);
    const axe_node *vq = axe_var_node(cx, AXE_NOWHERE, &q);
    const axe_node *c3 = axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, 3);
    const axe_node *big =
        axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_INDEX, INT64_MAX);
    const axe_node *sum, *n;
    axe_affine      a;

    (void)state;
    sum = axe_node2(cx, AXE_OP_add, axe_node2(cx, AXE_OP_mul, c3, vm), vq);
    n = axe_node2(cx, AXE_OP_sub, c3, axe_node2(cx, AXE_OP_mul, sum, c3));
    assert_string_equal(axe_node_text(cx, n), "3 - (3*m + q)*3");
    assert_true(axe_affine_of(cx, n, &a));
    assert_int_equal(a.n, 2);
    assert_int_equal(a.constant, 3);
    assert_int_equal(axe_affine_coef(&a, &m), -9);
    assert_int_equal(axe_affine_coef(&a, &q), -3);
    assert_true(axe_mentions(n, &q));
    assert_false(axe_mentions(vm, &q));
    assert_true(axe_affine_of(cx, axe_node2(cx, AXE_OP_sub, vm, vm), &a));
    assert_int_equal(a.n, 0);
    assert_true(axe_affine_of(cx, axe_node1(cx, AXE_OP_neg, vm), &a));
    assert_int_equal(axe_affine_coef(&a, &m), -1);
    assert_false(axe_affine_of(cx, axe_node2(cx, AXE_OP_mul, vm, vq), &a));
    assert_false(axe_affine_of(cx, axe_node2(cx, AXE_OP_div, vm, c3), &a));
    n = c3;
    for (int i = 0; i < 6; i++) {
        axe_var *v = axe_new(cx, axe_var);
        *v = m;
        n = axe_node2(cx, AXE_OP_add, n, axe_var_node(cx, AXE_NOWHERE, v));
    }
    assert_true(axe_affine_of(cx, n, &a));
    assert_int_equal(a.n, 6);
    assert_int_equal(a.coef[0], 1);
    assert_int_equal(a.coef[5], 1);
    n = axe_node2(cx, AXE_OP_mul, axe_node2(cx, AXE_OP_mul, vm, big), c3);
    assert_false(axe_affine_of(cx, n, &a));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_round),
        cmocka_unit_test(test_mangled),    cmocka_unit_test(test_verify),
        cmocka_unit_test(test_types),      cmocka_unit_test(test_fold_units),
        cmocka_unit_test(test_affine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
