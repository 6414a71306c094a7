/* test_staging.c - which operands go by way of shared tiles that the text does
 * not declare, why, and what the kernel is then. */
#include <stdlib.h>

#include "planned.h"

#define TURN                                                                   \
    "kernel k(in f32 X[M, N], out f32 Y[N, M]) { index m, n; "                 \
    "cta (i : M by 64, j : N by 64) { "
#define FOLDED                                                                 \
    "kernel k(in f32 X[64, 64], out f32 Z[64, 64]) { index m, n; "             \
    "cta (i : 1) { reg f32 x[64, 64]; reg f32 s[64]; x[m, n] = X[m, n]; "      \
    "s[m] = sum[n](x[m, n]); "

static const struct {
    const char *machine, *text;
    const char *staged; /* in the plan: who, by what, why */
    const char *kernel; /* in the IR after the pass */
} row[] = {
    {"sm_80", TURN "Y[j*64 + n, i*64 + m] = X[i*64 + m, j*64 + n]; } }",
     "staged      X[i*64 + m, j*64 + n] of line 1 by way of X.staged: it is "
     "read along another index than is written\n",
     "X.staged[m, n] = X[i*64 + m, j*64 + n] over m:64, n:64\n"
     "        Y[j*64 + n, i*64 + m] = X.staged[m, n] over n:64, m:64\n"},
    /* What is read as it is written needs none. */
    {"sm_80", TURN "Y[j*64 + m, i*64 + n] = X[i*64 + m, j*64 + n]; } }", NULL,
     "{\n        Y[j*64 + m, i*64 + n] = X[i*64 + m, j*64 + n]"},
    /* Nor where the text says how: threads transpose blocks. */
    {"sm_80", TURN "Y[j*64 + n, i*64 + m] = X[i*64 + m, j*64 + n] via map; } }",
     NULL, "{\n        Y[j*64 + n, i*64 + m] = X[i*64 + m, j*64 + n]"},
    {"sm_90a", FOLDED "Z[m, n] = x[m, n] + s[n]; } }",
     "staged      s[n] of line 1 by way of s.staged: it lies in other threads' "
     "registers\n",
     "shared f32 s.staged[64]\n"
     "        s.staged[s.0] = s[s.0] over s.0:64\n"
     "        Z[m, n] = x[m, n] + s.staged[n] over m:64, n:64\n"},
    /* All of the tile, though a row of it is read. */
    {"sm_90a", FOLDED "s[n] += x[0, n]; Z[m, n] = x[m, n]*s[m]; } }",
     "staged      x[0, n] of line 1 by way of x.staged: it lies in other "
     "threads' registers\n",
     "x.staged[x.0, x.1] = x[x.0, x.1] over x.0:64, x.1:64\n"
     "        s[n] += x.staged[0, n] over n:64\n"},
    /* Two: each in an attempt of its own, the later statement's first. */
    {"sm_90a",
     FOLDED "x[m, n] += s[n]; x[m, n] = x[m, n]/s[n]; "
            "Z[m, n] = x[m, n]; } }",
     "staged      s[n] of line 1 by way of s.staged: it lies in other threads' "
     "registers\n"
     "            s[n] of line 1 by way of s.staged: it lies in other threads' "
     "registers\n",
     "x[m, n] = x[m, n]/s.staged.1[n]"},
};

static const axe_plan *
plan_of(axe_ctx *cx, const char *text, const char *machine)
{
    const axe_machine *mc;
    const axe_kernel  *k;
    const axe_plan    *p;

    assert_int_equal(axe_machine_find(cx, machine, &mc), AXE_OK);
    assert_int_equal(kernel_of(cx, text, mc, &k), AXE_OK);
    if (axe_plan_kernel(cx, k, mc, &p) != AXE_OK) {
        axe_buf said = {.cx = cx};
        axe_diags_print(cx, &said, false);
        fail_msg("%s\n%s", text, said.text);
    }
    return p;
}

static void
told(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx        *cx = axe_ctx_new();
        axe_buf         plan = {.cx = cx}, ir = {.cx = cx}, json = {.cx = cx};
        const axe_plan *p = plan_of(cx, row[i].text, row[i].machine);
        axe_plan_print(cx, &plan, p, NULL);
        axe_plan_json(cx, &json, p, NULL);
        axe_kernel_print(cx, &ir, p->kernel);
        if (row[i].staged ? !strstr(plan.text, row[i].staged)
                          : strstr(plan.text, "staged") != NULL)
            fail_msg("row %d: %s", i, plan.text);
        if (!strstr(ir.text, row[i].kernel))
            fail_msg("row %d: %s", i, ir.text);
        if (!strstr(json.text,
                    row[i].staged ? "\"staged\":[\"" : "\"staged\":[]"))
            fail_msg("row %d: %s", i, json.text);
        axe_ctx_free(cx);
    }
}

/* Of each that is staged the plan says whose operand it was, and the tile is
 * one of its kernel's, which a statement fills. */
static void
listed(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_plan *p = plan_of(cx, row[AXE_LEN(row) - 1].text, "sm_90a");

    (void)state;
    assert_int_equal(p->n_staged, 2);
    assert_true(p->staged[0].stmt->id > p->staged[1].stmt->id);
    for (int i = 0; i < p->n_staged; i++) {
        const axe_staged *s = &p->staged[i];
        assert_int_equal(p->place[s->tile].tensor->id, s->tile);
        assert_string_equal(p->place[s->tile].tensor->name, "s.staged");
        assert_string_equal(s->load->u.tensor->name, "s");
        assert_true(s->direct == 0 && s->staged == 0);
    }
    p = plan_of(cx, row[0].text, "sm_80");
    assert_int_equal(p->n_staged, 1);
    assert_true(p->staged[0].staged > 0);
    assert_true(p->staged[0].direct > p->staged[0].staged);
    axe_ctx_free(cx);
}

/* The search ends: with a diagnostic, not with the last attempt's. */
static void
bounded(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_buf            text = {.cx = cx}, said = {.cx = cx};
    const axe_machine *mc;
    const axe_kernel  *k;
    const axe_plan    *p;

    (void)state;
    axe_puts(&text, FOLDED);
    for (int i = 0; i < 65; i++)
        axe_putf(&text, "x[m, n] += s[n]*%d;\n", i);
    axe_puts(&text, "Z[m, n] = x[m, n]; } }");
    assert_int_equal(axe_machine_find(cx, "sm_80", &mc), AXE_OK);
    assert_int_equal(kernel_of(cx, text.text, mc, &k), AXE_OK);
    assert_int_equal(axe_plan_kernel(cx, k, mc, &p), AXE_ELIMIT);
    axe_diags_print(cx, &said, false);
    assert_non_null(strstr(said.text, "error: s[n] is one of more than "));
    assert_non_null(strstr(said.text,
                           " operands that would go by way of shared memory: "
                           "it lies in other threads' registers\n"));
    assert_non_null(strstr(said.text, "help: divide the kernel"));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told),
        cmocka_unit_test(listed),
        cmocka_unit_test(bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
