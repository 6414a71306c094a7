/* test_edges.c - between which values loops ask nothing, in lowered text: as
 * far as it is known, and no further. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/compile.h"

/* clang-format off */
static const struct {
    const char *text, *has[2];
} row[] = {
    /* a row that is open has its own ends */
    {"kernel k(in f32 X[M, N], out f32 Y[M, N]) { index m, n; cta (i : M by 8) "
     "Y[i*8 + m, n] = X[i*8 + m, n - 3*m + 7]; }",
     {" = min(max(-(7 + m_3*-3), 0), N)\n", " = min(max(N - 1 - (7 + m_3*-3) + 1, sure_"}},
    /* a sum that is not yet open has the ends that all of it has */
    {"kernel k(in f32 X[N], in f32 W[5], out f32 Y[N]) { index n, k; cta (i : N by 64) "
     "Y[i*64 + n] = sum[k](X[i*64 + n - 2*k + 3] * W[k]); }",
     {" = min(max(-(i*64 - 5), 0), end_", " = min(max(N - 1 - (i*64 + 3) + 1, sure_"}},
    {"kernel k(in f32 X[N], in f32 W[5], out f32 Y[N]) { index n, k; cta (i : N by 64) "
     "Y[i*64 + n] = sum[k](X[i*64 + n + 2*k - 3] * W[k]); }",
     {" = min(max(-(i*64 - 3), 0), end_", " = min(max(N - 1 - (i*64 + 5) + 1, sure_"}},
};
/* clang-format on */

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx *cx = axe_ctx_new();
        int32_t  source =
            axe_source_add(cx, "k", row[i].text, strlen(row[i].text));
        axe_compile_spec   spec = {.machine = "cpu-avx512"};
        const axe_program *p;
        axe_buf            out = {.cx = cx};
        if (axe_compile(cx, source, &spec, AXE_STAGE_LOWER, &p) != AXE_OK ||
            axe_program_emit(cx, p, AXE_STAGE_LOWER, &out) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        for (int k = 0; k < 2; k++)
            if (!strstr(out.text, row[i].has[k]))
                fail_msg("row %d: no '%s' in\n%s", i, row[i].has[k], out.text);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
