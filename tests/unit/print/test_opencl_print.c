/* test_opencl_print.c - what grids look like in OpenCL C;
 * cli.opencl_slow runs them. */
#include "opencl_machines.h"
#include "print/opencl/opencl.h"

static axe_status
print(run *x, const char *text, const axe_machine *machine, axe_buf *out)
{
    int32_t source = axe_source_add(x->cx, "k", text, strlen(text));

    if (compile_source(x, source, "k", machine) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(x->cx));
    return axe_print_opencl(x->cx, x->p->lowered, false, out);
}

/* Words of the text, apart by `|`. */
static const struct {
    const char *text, *machine, *words;
} printed[] = {
    {"kernel k(in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 1024) Y[i*1024 + m] = X[i*1024 + m]; }",
     "opencl",
     "reqd_work_group_size(256, 1, 1)|warp = (int)get_local_id(0);|"
     "*(global float4 *)(t_X + |= w.s3;|i64 n_N"},
    {"kernel k(in f32 X[M, N], out f32 y[M]) { index m, n;"
     "cta (i : M by 4) { reg f32 s[4] = 0;"
     "s[m] += X[i*4 + m, n]; y[i*4 + m] = s[m]; } }",
     "opencl-sg16",
     "intel_reqd_sub_group_size(16)|lane = (int)get_sub_group_local_id();|"
     "warp = (int)sub_group_broadcast(get_sub_group_id(), 0);|"
     "r_sum[0] = sub_group_reduce_add(r_sum[0]);"},
    {"kernel k(in i32 X[M, N], out i32 Y[N, M]) { index m, n;"
     "cta (i : M by 32, j : N by 32) { shared i32 a[32, 32];"
     "a[m, n] = X[i*32 + m, j*32 + n]; Y[j*32 + n, i*32 + m] = a[m, n]; } }",
     "opencl",
     "#pragma OPENCL FP_CONTRACT OFF\n|"
     "local u8 shared[4096] __attribute__((aligned(128)));|*(local int4 "
     "*)((local u32 *)b_a + "
     "|barrier(CLK_LOCAL_MEM_FENCE"},
    {"kernel k(in f16 X[N], out f16 Y[N]) { index m;"
     "cta (i : N by 256) Y[i*256 + m] = f16(f32(X[i*256 + m]) * 2); }",
     "opencl",
     "global const u16 *t_X|u32 "
     "r_X_v[|from_f16(get16(|as_half(|vstore_half_rte"},
    {"kernel k(in f32 a, in f32 X[N], out f32 Y[N]) { index m;"
     "cta (i : N by 256) Y[i*256 + m] = a * X[i*256 + m]; }",
     "opencl-sg8", "float by_a, |= by_a;"},
    {"kernel k(in f32 X[N], in f32 Z[N], out f32 Y[N]) { index m;"
     "cta (i : N by 256) Y[i*256 + m] = X[i*256 + m] + (Z[i*256 + m] + 0.5); }",
     "opencl-sg8", "= r_X_v[0] + (r_Z_v[0] + 0.5f);"},
    {"kernel k(in i32 X[N], out i32 Y[N]) { index m;"
     "cta (i : N by 256) Y[i*256 + m] = popcount(X[i*256 + m]); }",
     "opencl-sg8", "popcount(bits_of(32, (u64)"},
    {"kernel k(in f32 X[K], in f32 Z[M, K], out f32 Y[M]) { index k, m;"
     "cta (i : M by 32) Y[i*32 + m] = sum[k](Z[i*32 + m, k] * X[k / 2]); }",
     "opencl-sg64", "(t_X + (|) >> 1))"},
    {"kernel k(in u8 A[M, K], in u8 B[N, K], out i32 C[M, N]) {"
     "index m, n, k; cta (i : M by 16, j : N by 16) { reg i32 c[16, 16] = 0;"
     "for (t : K by 32) { shared u8 a[16, 32]; shared u8 b[16, 32];"
     "a[m, k] = A[i*16 + m, t*32 + k]; b[n, k] = B[j*16 + n, t*32 + k];"
     "c[m, n] += a[m, k] * b[n, k]; }"
     "C[i*16 + m, j*16 + n] = c[m, n]; } }",
     "opencl", " = (int)((u32)r_c[|] + (u32)r_a_frag[|] * (u32)r_b_frag["},
};

static void
check_words(const run *x, int i, const char *words, const char *text)
{
    for (const char *w = words; *w; w += strspn(w, "|")) {
        size_t n = strcspn(w, "|");
        if (!strstr(text, axe_textf(x->cx, "%.*s", (int)n, w)))
            fail_msg("%d: no %.*s in\n%s", i, (int)n, w, text);
        w += n;
    }
}

static void
test_printed(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(printed); i++) {
        run     x = {.cx = axe_ctx_new()};
        axe_buf b = {.cx = x.cx};
        if (print(&x, printed[i].text, opencl_named(printed[i].machine), &b) !=
            AXE_OK)
            fail_msg("%d: %s", i, axe_last_error(x.cx));
        check_words(&x, i, printed[i].words, b.text);
        axe_ctx_free(x.cx);
    }
}

/* As on a CPU whose sub-groups are vector registers: `no` is not in the text.
 */
static const struct {
    const char *text, *words, *no;
} of_cores[] = {
    /* lanes are columns, where c and b have neighbours; a is one for all */
    {"kernel k(in f32 A[M, K], in f32 B[N, K], out f32 C[M, N]) {"
     "index m, n, k; cta (i : M by 64, j : N by 48) {"
     "reg f32 c[64, 48] = 0; shared f32 a[64, 32]; shared f32 b[48, 32];"
     "for (t : K by 32) { a[m, k] = A[i*64 + m, t*32 + k];"
     "b[n, k] = B[j*48 + n, t*32 + k]; c[m, n] += a[m, k] * b[n, k]; }"
     "C[i*64 + m, j*48 + n] = c[m, n]; } }",
     "r_c[12]|r_a_frag[4]|r_b_frag[3]| = warp * 128;|"
     "#pragma unroll 1\n        for (int v_g_|"
     "if (64 <= s_M - v_i * 64 && 32 <= s_K - v_t * 32)",
     "swizzle("},
    /* rows come out of the cache again; edges are asked for at edges alone */
    {"kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n;"
     "cta (i : M by 16) { reg f32 s[16]; s[m] = sum[n](X[i*16 + m, n]);"
     "Y[i*16 + m, n] = X[i*16 + m, n] / s[m]; } }",
     "r_sum[4]| * 64 + 64 <= s_N && 16 <= s_M - v_i * 16)|} else {", "kept"},
};

static void
test_cores(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(of_cores); i++) {
        run     x = {.cx = axe_ctx_new()};
        axe_buf b = {.cx = x.cx};
        if (print(&x, of_cores[i].text, on_core(x.cx, "opencl-sg16"), &b) !=
            AXE_OK)
            fail_msg("%d: %s", i, axe_last_error(x.cx));
        check_words(&x, i, of_cores[i].words, b.text);
        if (strstr(b.text, of_cores[i].no))
            fail_msg("%s in\n%s", of_cores[i].no, b.text);
        axe_ctx_free(x.cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_cores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
