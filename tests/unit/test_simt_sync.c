/* test_simt_sync.c - where threads of a CTA meet, and where they need not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "plan/simt.h"

#define HEAD                                                                   \
    "kernel k(in f32 X[M, N], out f32 Y[M, N], out f32 Z[N, M]) {\n"           \
    "index m, n;\n"
#define CTA "cta (i : M by 32, j : N by 64) {\n"
#define FILL "s[m, n] = X[i*32 + m, j*64 + n] * 2.0;\n"
#define SAME "Y[i*32 + m, j*64 + n] = exp(s[m, n]);\n"
#define TURNED "Z[j*64 + n, i*32 + m] = s[m, n] * 3.0;\n"
#define TILE "shared f32 s[32, 64];\n"

/* clang-format off */
static const struct {
    const char *text, *meets;
} rows[] = {
    /* Each thread reads what it wrote itself. */
    {HEAD CTA TILE FILL "s[m, n] = s[m, n] + 1.0;\n" SAME "} }", ""},
    /* Another one's elements. */
    {HEAD CTA TILE FILL TURNED "} }",
     "6 cta: s is written in line 5 and read in line 6"},
    /* And they are overwritten. */
    {HEAD CTA TILE FILL TURNED FILL "} }",
     "6 cta: s is written in line 5 and read in line 6; "
     "7 cta: s is read in line 6 and written in line 7"},
    /* The next turn overwrites them. */
    {HEAD "cta (i : M by 32) {\n" TILE "for (j : N by 64) {\n" FILL TURNED
     "} } }",
     "7 cta: s is written in line 6 and read in line 7; "
     "6 cta: s is read in line 7 and written in line 6"},
    /* A loop that only reads: once, before it. */
    {HEAD CTA TILE FILL "for (t : 4)\n" TURNED "} }",
     "6 cta: s is written in line 5 and read in line 7"},
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
};
/* clang-format on */

static axe_status
plan(axe_ctx *cx, const char *text, const axe_plan **p)
{
    int32_t            src = axe_source_add(cx, "t.axe", text, strlen(text));
    const axe_module  *m;
    const axe_kernel  *k;
    const axe_machine *mc;
    axe_inst           inst = {.machine = "sm_80"};

    AXE_TRY(axe_machine_find(cx, "sm_80", &mc));
    AXE_TRY(axe_module_parse(cx, src, &m));
    AXE_TRY(axe_module_instantiate(cx, m, &inst, &k));
    AXE_TRY(axe_kernel_verify(cx, k));
    return axe_plan_kernel(cx, k, mc, p);
}

static void
test_meets(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx        *cx = axe_ctx_new();
        const axe_plan *p = NULL;
        axe_buf         b = {.cx = cx};

        if (plan(cx, rows[i].text, &p) != AXE_OK) {
            axe_diags_print(cx, &b, false);
            fail_msg("row %d: %s", i, b.text);
        }
        axe_puts(&b, "");
        for (int k = 0; k < p->simt->n_meet; k++) {
            const axe_meet *m = &p->simt->meet[k];
            axe_putf(&b, "%s%d %s: %s", k ? "; " : "", m->at->at.line,
                     axe_scope_name(m->crew->scope), m->why);
        }
        assert_string_equal(b.text ? b.text : "", rows[i].meets);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meets),
    };

    return cmocka_run_group_tests_name("simt_sync", tests, NULL, NULL);
}
