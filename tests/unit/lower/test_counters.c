/* test_counters.c - who waits for tiles of other CTAs in lowered kernels: how
 * often at the gate, and which thread for which tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "run/program.h"

static const char *
lowered(axe_ctx *cx, const char *name, const char *text, const char *machine)
{
    const axe_program *p = NULL;
    axe_buf            out = {.cx = cx};
    axe_compile_spec   spec = {.machine = machine};

    if (axe_compile(cx, axe_source_add(cx, name, text, strlen(text)), &spec,
                    AXE_STAGE_LOWER, &p) != AXE_OK ||
        axe_program_emit(cx, p, AXE_STAGE_LOWER, &out) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return out.text;
}

/* Tiles are those of clusters: only the first one of each waits at the gate. */
static void
test_gate(void **state)
{
    static char text[1 << 14];
    axe_ctx    *cx = axe_ctx_new();
    FILE       *f = fopen(AXE_SOURCE_DIR "/tests/sim/overlap_sm100.axe", "rb");

    (void)state;
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    assert_int_equal(fclose(f), 0);
    assert_non_null(
        strstr(lowered(cx, "t.axe", text, "sm_100a"), " < n_block/2\n"));
    axe_ctx_free(cx);
}

/* 64 threads each wait for one tile of 64, and some for two of 65. */
static void
test_shares(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *text = axe_textf(
            cx,
            "kernel k(in f32 X[M, N], in i32 at[P, %d], out f32 Y[P, N]) {\n"
            "index m, n; global f32 H[M, N];\n"
            "overlap {\n"
            "cta (i : M by 16) H[i*16 + m, n] = X[i*16 + m, n];\n"
            "cta (t : P by %d) threads 64 for (c : %d)\n"
            "Y[t*%d + m, n] = H[at[t*%d + m, c], n];\n} }\n",
            more ? 13 : 8, more ? 5 : 8, more ? 13 : 8, more ? 5 : 8,
            more ? 5 : 8);
        const char *out = lowered(cx, "t.axe", text, "sm_80");

        assert_true((strstr(out, "share_") != NULL) == more);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gate),
                                       cmocka_unit_test(test_shares)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
