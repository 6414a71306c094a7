/* test_ahead.c - which loops fill stages of a ring before those of earlier
 * iterations are read.  The kernels are IR: in the language a condition has a
 * value of its own, so that none there depends on what a stage is read for. */
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/simt.h"
#include "planned.h"

#define KERNEL(fill, read)                                                     \
    "kernel k\nsize M, K, N\nindex m, k, n\n"                                  \
    "in f16 A[M, K] : (K, 1)\nin f16 B[N, K] : (K, 1)\n"                       \
    "out f32 C[M, N] : (N, 1)\n{\n"                                            \
    "cta (i : cdiv(M, 64), j : cdiv(N, 64)) threads 128 {\n"                   \
    "pipeline ring[3] {\nshared f16 a[64, 32]\nshared f16 b[64, 32]\n}\n"      \
    "reg f32 acc[64, 64]\nacc[m, n] = 0.0_f32 over m:64, n:64\n"               \
    "reg bool go\ngo = true\nreg bool on\non = true\n"                         \
    "reg i64 at\nat = 0\nfor (t : cdiv(K, 32)) {\n"                            \
    "produce ring {\n" fill "}\nconsume ring {\n"                              \
    "acc[m, n] += f32(a[m, k])*f32(b[n, k]) over m:64, n:64 fold k:32\n" read  \
    "}\n}\n"                                                                   \
    "C[i*64 + m, j*64 + n] = acc[m, n] over m:64, n:64\n}\n}\n"
#define FILL_A "a[m, k] = A[i*64 + m, t*32 + k] over m:64, k:32\n"
#define FILL_B "b[n, k] = B[j*64 + n, t*32 + k] over n:64, k:32\n"
#define IF(cond, fill) "if (" cond ") {\n" fill "}\n"

static const struct {
    const char *text;
    bool        ahead;
} rows[] = {
    {KERNEL(FILL_A FILL_B, ""), true},
    {KERNEL(FILL_A FILL_B, "go = t < 3\n"), true},
    /* A condition that reading changes, and one that it does not. */
    {KERNEL(IF("go", FILL_A) FILL_B, "go = t < 3\n"), false},
    {KERNEL(IF("go", FILL_A) FILL_B, "on = t < 3\n"), true},
    {KERNEL(FILL_A IF("t < 3", FILL_B), "go = t < 3\n"), true},
    {KERNEL(FILL_A "if (t < 3) {\n" IF("go", FILL_B) "} else {\n" FILL_B "}\n",
            "go = t < 3\n"),
     false},
    {KERNEL(FILL_A "if (t < 3) {\n" FILL_B "} else {\n" IF("go", FILL_B) "}\n",
            "go = t < 3\n"),
     false},
    /* A subscript; what is written elsewhere than in the ring. */
    {KERNEL(FILL_A "b[n, k] = B[j*64 + n, at + k] over n:64, k:32\n",
            "at = t*32\n"),
     false},
    {KERNEL("at = t*32\n" FILL_A FILL_B, ""), false},
};

static void
find_loop(int n, axe_stmt *const *body, const axe_stmt **out)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_FOR)
            *out = body[i];
        find_loop(body[i]->n_body, body[i]->body, out);
    }
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        const axe_kernel *k = NULL;
        const axe_stmt   *loop = NULL;
        axe_buf           said = {.cx = cx};
        int32_t           source =
            axe_source_add(cx, "ir", rows[i].text, strlen(rows[i].text));

        if (axe_kernel_read(cx, source, &k) != AXE_OK) {
            axe_diags_print(cx, &said, false);
            fail_msg("row %d: %s", i, said.text);
        }
        find_loop(k->n_body, k->body, &loop);
        assert_non_null(loop);
        if (axe_simt_runs_ahead(loop) != rows[i].ahead)
            fail_msg("row %d: %s", i, rows[i].ahead ? "not ahead" : "ahead");
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
