/* test_roles.c - roles, clusters, tiles that persist: what the reference makes
 * of them, their text, and what may not be said. */
#define _XOPEN_SOURCE 700

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "run_kernels.h"

#include "lang/lang.h"

static axe_device *device;
static char        cache[] = "/tmp/axe_roles_XXXXXX";

static void
report(axe_ctx *cx, axe_status st)
{
    axe_buf said = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &said, false);
    fail_msg("%s", said.text ? said.text : "?");
}

/* Does the reference alone give exactly what array[n - 1] holds, and notice
 * where one element is another? */
static void
check_reference(const char *text, int n_set, const char *const *name,
                const char *const *value, int n, axe_array *array)
{
    axe_ctx         *cx = axe_ctx_new();
    int32_t          source = axe_source_add(cx, "t.axe", text, strlen(text));
    axe_compile_spec spec = {
        .n_set = n_set, .set_name = name, .set_value = value};
    float             *out = array[n - 1].data;
    axe_reference     *ref;
    axe_difference     d;
    const axe_program *p;

    report(cx, axe_compile(cx, source, &spec, AXE_STAGE_IR, &p));
    report(cx, axe_reference_new(cx, device, p, n, array, 0, NULL, &ref));
    report(cx, axe_reference_compare(cx, ref, &array[n - 1], &d));
    if (d.n_wrong > 0 || d.n_unbound > 0 || d.max_abs > 0)
        fail_msg("element %lld of %s is %g, not %g, in\n%s", (long long)d.worst,
                 array[n - 1].name, d.want, d.got, text);
    out[7] += 1;
    report(cx, axe_reference_compare(cx, ref, &array[n - 1], &d));
    assert_int_equal(d.n_wrong, 1);
    out[7] -= 1;
    axe_reference_free(ref);
    axe_ctx_free(cx);
}

/* -------------------------------------------------------------------- a file
 */

static char *
read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);

    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static char *
gemm_sm90(void)
{
    return read_file(AXE_SOURCE_DIR "/kernels/gemm_sm90.axe");
}

static void
test_gemm(void **state)
{
    static const char *const name[] = {"T", "BM", "BN", "BK", "STAGES"};
    static const char *const value[] = {"f32", "128", "64", "64", "3"};
    enum { M = 131, N = 70, K = 75 };
    static float a[M * K], b[N * K], c[M * N];
    axe_array    array[] = {MAT("A", M, K, a), MAT("B", N, K, b),
                            MAT("C", M, N, c)};
    char        *text = gemm_sm90();

    (void)state;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i * 7 % 23 - 11);
    for (int i = 0; i < N * K; i++)
        b[i] = (float)(i * 5 % 19 - 9);
    for (int i = 0; i < M * N; i++)
        for (int k = 0; k < K; k++)
            c[i] += a[i / N * K + k] * b[i % N * K + k];
    check_reference(text, 5, name, value, 3, array);
    check_reference(text, 4, name, value, 3, array);
    free(text);
}

/* --------------------------------------------------------------- small ones */

/* Each computes Y[r, m] = 3 * X[m], r < 2. */
#define HEAD                                                                   \
    "kernel k(in f32 X[M], out f32 Y[2, M]) { index m; "                       \
    "cta (i : M by 64) warps 12 { "
#define FILL "warp (0) for (t : 4) produce p p.x[m] = 3 * X[i*64 + t*16 + m]; "
#define TAKE(r) "Y[" r ", i*64 + t*16 + m] = p.x[m]; "
#define RING "pipeline p[2] { shared f32 x[16]; } "

static const char *const kernels[] = {
    /* two roles read every stage */
    HEAD RING "roles { " FILL "warp (1) for (t : 4) consume p " TAKE(
        "0") "warp (w : 2..3) for (t : 4) consume p " TAKE("1") "} } }",
    /* each of two entities reads every stage */
    HEAD RING "roles { " FILL
              "warp (w : 4..6) for (t : 4) consume p " TAKE("w - 4") "} } }",
    /* scopes in a role, around stages and in them */
    HEAD RING "roles { " FILL "warpgroup (1) { warp (w) for (t : 4) consume p "
              "for (e : 4) Y[0, i*64 + t*16 + w*4 + e] = p.x[w*4 + e]; "
              "for (t : 4) { } } "
              "warpgroup (2) for (t : 4) consume p warp (w) for (e : 4) "
              "Y[1, i*64 + t*16 + w*4 + e] = p.x[w*4 + e]; } } }",
    /* four entities fill a part each */
    HEAD RING
    "roles { warpgroup (0) warp (w) for (t : 4) produce p for (e : 4) "
    "p.x[w*4 + e] = 3 * X[i*64 + t*16 + w*4 + e]; "
    "warp (w : 4..6) for (t : 4) consume p " TAKE("w - 4") "} } }",
    /* from role to role to role, and two pipelines at once */
    HEAD RING "pipeline q[3] { shared f32 y[16]; shared f32 z[16]; } "
              "roles { " FILL
              "warp (1) for (t : 4) consume p produce q { q.y[m] = p.x[m] - 1; "
              "q.z[m] = 1; } "
              "warp (w : 2..4) for (t : 4) consume q "
              "Y[w - 2, i*64 + t*16 + m] = q.y[m] + q.z[m]; } } }",
    /* roles in a loop, and what is outside */
    HEAD "for (u : 2) { " RING "shared f32 three[16] = 3; roles { "
         "warp (0) for (t : 2) produce p p.x[m] = X[i*64 + u*32 + t*16 + m]; "
         "warp (w : 1..3) for (t : 2) consume p "
         "Y[w - 1, i*64 + u*32 + t*16 + m] = p.x[m] * three[m]; } } } }",
    /* one more than is read */
    HEAD RING "roles { warp (0) for (t : 5) produce p "
              "p.x[m] = 3 * X[i*64 + t*16 + m]; "
              "warp (w : 1..3) for (t : 4) consume p " TAKE("w - 1") "} } }",
    /* scopes that fill in iterations of a loop */
    HEAD RING "roles { warpgroup (0) for (t : 4) warp (w) produce p "
              "for (e : 4) p.x[w*4 + e] = 3 * X[i*64 + t*16 + w*4 + e]; "
              "warp (w : 4..6) for (t : 4) consume p " TAKE("w - 4") "} } }",
    /* each its own part of a row, none of a pipeline */
    HEAD "roles { warp (0) for (r : 2) for (e : 32) "
         "Y[r, i*64 + e] = 3 * X[i*64 + e]; "
         "warp (1) for (r : 2) for (e : 32) "
         "Y[r, i*64 + 32 + e] = 3 * X[i*64 + 32 + e]; } } }",
    /* read so often as cannot be counted */
    HEAD RING
    "roles { warp (0) for (t : 4) if (M > 3) "
    "produce p p.x[m] = 3 * X[i*64 + t*16 + m]; "
    "warp (w : 2..4) for (t : 4) if (M > 3) consume p " TAKE("w - 2") "} } }",
    /* the same in both ctas of a cluster */
    "kernel k(in f32 X[M], out f32 Y[2, M]) { index m; "
    "cluster (2) cta (i : M by 8) { shared f32 x[32] : auto + [2 : 1@cta]; "
    "x[m] = 3 * X[i/2*16 + m + 0*M]; "
    "for (e : 8) for (r : 2) Y[r, i*8 + e] = x[i%2*8 + e]; } }",
    HEAD "roles { warp (0) for (r : 2) for (e : 32) "
         "Y[r, i*64 + 32 + e] = 3 * X[i*64 + 32 + e]; "
         "warp (1) for (r : 2) for (e : 32) "
         "Y[r, i*64 + e] = 3 * X[i*64 + e]; } } }",
    HEAD RING "roles { " FILL "warp (w : 2..4) for (t : 8) if (t < 4) "
              "consume p "
              "Y[w - 2, i*64 + t%4*16 + m] = p.x[m]; "
              "} } }",
};

static void
test_kernels(void **state)
{
    enum { M = 150 };
    static float x[M], y[2 * M];
    axe_array    array[] = {{.name = "X",
                             .type = "f32",
                             .rank = 1,
                             .shape = (const int64_t[]){M},
                             .data = x},
                            MAT("Y", 2, M, y)};

    (void)state;
    for (int i = 0; i < 2 * M; i++) {
        x[i % M] = (float)(i % M * 13 % 37 - 18);
        y[i] = 3 * x[i % M];
    }
    for (int i = 0; i < AXE_LEN(kernels); i++)
        check_reference(kernels[i], 0, NULL, NULL, 2, array);
}

/* --------------------------------------------------------------------- text */

static void
test_text(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    char              *text = gemm_sm90();
    int32_t            source = axe_source_add(cx, "t", text, strlen(text));
    axe_buf            once = {.cx = cx}, twice = {.cx = cx}, form = {.cx = cx};
    const axe_program *p;
    const axe_kernel  *k;

    (void)state;
    report(cx, axe_module_format(cx, source, &form));
    assert_string_equal(form.text, text);
    report(cx,
           axe_compile(cx, source, &(axe_compile_spec){0}, AXE_STAGE_IR, &p));
    report(cx, axe_program_emit(cx, p, AXE_STAGE_IR, &once));
    assert_non_null(strstr(once.text, "cluster 2 persistent group 8 threads "
                                      "384 {"));
    assert_non_null(strstr(once.text, "registers 232 {"));
    assert_non_null(strstr(once.text, " : auto + [2 : 1@cta]"));
    report(cx, axe_kernel_read(
                   cx, axe_source_add(cx, "ir", once.text, once.len), &k));
    axe_kernel_print(cx, &twice, k);
    assert_string_equal(once.text, twice.text);
    assert_int_equal(axe_n_error(cx), 0);
    assert_null(axe_diags(cx));
    free(text);
    axe_ctx_free(cx);
}

/* IR, each with its error. */
#define IR(scope, body)                                                        \
    "kernel k\nsize M\nout f32 Y[M] : (1)\n{\n" scope " {\n" body "\n}\n}\n"
#define ONE "Y[i] = 1.0_f32"

static const struct {
    const char *text, *want;
} wrong[] = {
    {IR("cta (i : M) group 2 hilbert", ONE), "two orders; give one"},
    {IR("cta (i : M) hilbert", ONE), "`hilbert` orders tiles of 2 ranges"},
    {IR("cta (i : M) dynamic", ONE), "`dynamic` is how ctas that stay take"},
    {IR("cta (i : M) dynamic persistent", ONE), "expected `{`"},
    {IR("cta (i : M) cluster 0", ONE), "`cluster` is from 1 to 16, not 0"},
    {IR("cta (i : M) registers 25", ONE), "in steps of 8, not 25"},
    {IR("cta (i : M) threads 64 cluster 2", ONE), "expected `{`"},
    {IR("core (i : M) threads 64", ONE), "a scope `core` has no `threads`"},
    {IR("cta (i : M)", "roles {\nfor (t : 2) {\n" ONE "\n}\n}"),
     "`roles` holds scopes of a cta's threads"},
    {IR("core (i : M)", "roles {\nwarp (w : 1) {\n" ONE "\n}\n}"),
     "`roles` stands in a cta"},
    {IR("cta (i : M)", "roles {\nwarp (w : M) {\n" ONE "\n}\n}"),
     "which entities of `warp` run must be known"},
    {IR("cta (i : M) threads 32",
        "roles {\nwarp (w : 1 from 1) {\n" ONE "\n}\n}"),
     "needs threads up to 64 of a cta that has 32"},
    {IR("cta (i : M)", "shared f32 x[2] : auto + [2 : 1@ctb]\n" ONE),
     "there is no axis 'ctb'"},
    {IR("cta (i : M)",
        "warp (w : 1) {\nroles {\nwarp (v : 1) {\n" ONE "\n}\n}\n}"),
     "a `warp` holds no scope `warp`"},
};

static void
test_wrong(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(wrong); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const char       *text = wrong[i].text;
        int32_t           source = axe_source_add(cx, "t", text, strlen(text));
        const axe_kernel *k;
        if (axe_kernel_read(cx, source, &k) == AXE_OK ||
            !strstr(axe_last_error(cx), wrong[i].want))
            fail_msg("%s\nwant: %s\ngot: %s", text, wrong[i].want,
                     axe_n_error(cx) ? axe_last_error(cx) : "no error");
        axe_ctx_free(cx);
    }
}

/* Threads that no role has. */
static void
test_gap(void **state)
{
    static const struct {
        const char *cta, *roles, *want;
    } row[] = {
        {"warps 4", "warp (0) 0; warp (2) 1;", "thread 32 of 128 is the first"},
        {"warps 4", "warp (a : 2..4) a; warp (0) 9; thread (b : 32..63) 9 + b;",
         "thread 63 of 128 is the first"},
        {"", "warp (1) 1; warp (0) 2; warpgroup (1) 3;",
         "thread 64 of 256 is the first"},
        {"", "warp (1) 1; warp (0) 2; warp (2) 3;", NULL},
        {"threads 96", "warp (w : 0..2) w; thread (t : 64..96) t;", NULL},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_buf            b = {.cx = cx};
        const axe_program *p;
        axe_putf(&b, "kernel k(out f32 O[99, M]) { cta (i : M) %s roles { ",
                 row[i].cta);
        for (const char *s = row[i].roles; *s; s++)
            if (*s == ';')
                axe_puts(&b, ", i] = 1;");
            else
                axe_putf(&b, "%c%s", *s, *s == ')' ? " O[" : "");
        axe_puts(&b, " } }");
        report(cx, axe_compile(cx, axe_source_add(cx, "t", b.text, b.len),
                               &(axe_compile_spec){0}, AXE_STAGE_IR, &p));
        if ((axe_diags(cx) != NULL) != (row[i].want != NULL) ||
            (row[i].want && !strstr(axe_diags(cx)->text, row[i].want)))
            fail_msg("row %d: %s", i,
                     axe_diags(cx) ? axe_diags(cx)->text : "no warning");
        axe_ctx_free(cx);
    }
}

/* A kernel for one machine is planned for no other. */
static void
test_target(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    char              *text = gemm_sm90();
    int32_t            source = axe_source_add(cx, "t", text, strlen(text));
    const axe_program *p;

    (void)state;
    assert_int_equal(axe_compile(cx, source,
                                 &(axe_compile_spec){.machine = "cpu-avx2"},
                                 AXE_STAGE_PLAN, &p),
                     AXE_EUNSUPPORTED);
    assert_non_null(strstr(axe_last_error(cx),
                           "kernel gemm_sm90 is for sm_90a, not for cpu-avx2"));
    free(text);
    axe_ctx_free(cx);
}

/* One for several is for each of them, and for the first where none is named.
 */
static void
test_targets(void **state)
{
    static const char text[] =
        "kernel k(out f32 Y[M]) target cpu-avx2, opencl, sm_80 "
        "{ cta (i : M by 8) for (e : 8) Y[i*8 + e] = 0; }";
    static const struct {
        const char *machine;
        axe_status  st;
        const char *said;
    } row[] = {
        {NULL, AXE_OK, "plan of k for cpu-avx2"},
        {"cpu-avx2", AXE_OK, "plan of k for cpu-avx2"},
        {"opencl", AXE_OK, "plan of k for opencl"},
        {"opencl-sg16", AXE_OK, "plan of k for opencl-sg16"},
        {"sm_80", AXE_OK, "plan of k for sm_80"},
        {"sm_90a", AXE_EUNSUPPORTED,
         "kernel k is for one of cpu-avx2, opencl, sm_80, not for sm_90a"},
        {"cpu-neon", AXE_EUNSUPPORTED, "not for cpu-neon"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        int32_t            source = axe_source_add(cx, "t", text, strlen(text));
        axe_compile_spec   spec = {.machine = row[i].machine};
        const axe_program *p;
        axe_buf            b = {.cx = cx};

        assert_int_equal(axe_compile(cx, source, &spec, AXE_STAGE_PLAN, &p),
                         row[i].st);
        if (row[i].st != AXE_OK)
            axe_puts(&b, axe_last_error(cx));
        else
            assert_int_equal(axe_program_emit(cx, p, AXE_STAGE_PLAN, &b),
                             AXE_OK);
        if (!strstr(b.text, row[i].said))
            fail_msg("row %d: %s", i, b.text);
        axe_ctx_free(cx);
    }
}

/* Values for a machine come before those for its family, and these before the
 * declaration's; a kernel for a family is for its machines. */
static void
test_defaults(void **state)
{
    static const char text[] =
        "kernel k<B = 1>(out f32 Y[M]) target nvidia default nvidia (B = 2) "
        "default sm_90a (B = 3) { cta (i : M by B) for (e : B) Y[i*B + e] = 0; "
        "}";
    static const struct {
        const char *machine, *want;
    } row[] = {{NULL, "B = 1"}, {"sm_80", "B = 2"}, {"sm_90a", "B = 3"}};

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_buf            ir = {.cx = cx};
        int32_t            source = axe_source_add(cx, "t", text, strlen(text));
        const axe_program *p;
        report(cx, axe_compile(cx, source,
                               &(axe_compile_spec){.machine = row[i].machine},
                               AXE_STAGE_IR, &p));
        report(cx, axe_program_emit(cx, p, AXE_STAGE_IR, &ir));
        assert_non_null(strstr(ir.text, row[i].want));
        if (!row[i].machine)
            assert_int_not_equal(axe_compile(cx, source, &(axe_compile_spec){0},
                                             AXE_STAGE_PLAN, &p),
                                 AXE_OK);
        axe_ctx_free(cx);
    }
}

static int
start(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    assert_non_null(mkdtemp(cache));
    report(cx,
           axe_device_new(cx, &(axe_device_spec){.n_thread = 1, .cache = cache},
                          &device));
    axe_ctx_free(cx);
    return 0;
}

static int
stop(void **state)
{
    char command[64];

    (void)state;
    axe_device_free(device);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),    cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_gap),     cmocka_unit_test(test_target),
        cmocka_unit_test(test_targets), cmocka_unit_test(test_defaults),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
