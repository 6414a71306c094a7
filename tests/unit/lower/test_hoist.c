/* test_hoist.c - which divisions lowering leaves, by kernels whose subscripts
 * have them: those that the loops around bound are gone, others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/compile.h"

#define OUT "kernel k(out f32 Y[M, 64, 64]) { cta (i : M) "

/* clang-format off */
static const struct {
    const char *text, *has, *lacks; /* in the lowered text */
} row[] = {
    {OUT "for (t : 8) for (u : 4) Y[i, (4*t + u)/4, (4*t + u)%4] = 1; }",
     "i1_3 + i0_2*64", "%"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t + u)/4, (4*t + u)%4] = 1; }",
     "+ t*64 + u]", "%4*"},
    {OUT "for (t : 8) for (u : 5) if (t < M) Y[i, (4*t + u)/4, u] = 1; }",
     "+ (4*t + u)/4*64", "%"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t + u + 4)/4, u] = 1; }",
     "Y.f32[", "/4*"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t + u + 1)/4, u] = 1; }",
     "+ (4*t + u + 1)/4*64", "%"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t - u + 3)/4, u] = 1; }",
     "Y.f32[", "/4*"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t - u + 4)/4, u] = 1; }",
     "+ (4*t - u + 4)/4*64", "%"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, (4*t - u - 1)/4 + 1, u] = 1; }",
     "Y.f32[", "/4"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, cdiv(4*t + u, 4), u] = 1; }",
     "+ cdiv(4*t + u, 4)*64", "%"},
    {OUT "for (t : 8) for (u : 4) if (t < M) Y[i, t, (M/3)%16] = 1; }",
     "= M/3", "/3 +"},
};
/* clang-format on */

static void
test_rows(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx *cx = axe_ctx_new();
        int32_t  source =
            axe_source_add(cx, "k", row[i].text, strlen(row[i].text));
        axe_compile_spec   spec = {.machine = "cpu-base"};
        const axe_program *p;
        axe_buf            out = {.cx = cx};
        const char        *body;
        if (axe_compile(cx, source, &spec, AXE_STAGE_LOWER, &p) != AXE_OK ||
            axe_program_emit(cx, p, AXE_STAGE_LOWER, &out) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        body = strstr(out.text, "; statement");
        body = body ? strchr(body, '\n') : NULL;
        assert_non_null(body);
        if (!strstr(out.text, row[i].has) || strstr(body, row[i].lacks)) {
            print_error("%s\n%s\n", row[i].text, out.text);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
