/* test_hoist.c - which divisions lowering leaves, by kernels whose subscripts
 * have them: those that the loops around bound are gone, others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/compile.h"
#include "lower/code/build.h"
#include "lower/lower_int.h"
#include "lower/pass/pass.h"

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

/* for (t : M) if (M < 5) {} else { a = t + 1; b = a*3; c = x[0]; d = M*3; }
 * Of these d alone may leave: b is of what is declared in the loop, if in a
 * branch of a branch, and elements may change. */
static void
test_branch(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_kernel      k = {0};
    axe_plan        p = {.kernel = &k};
    axe_lowering    lw = {.cx = cx, .plan = &p};
    axe_lblock      b = {0};
    axe_var         size = {.kind = AXE_VAR_SIZE, .name = "M", .id = -1};
    axe_tensor      x = {.name = "x", .space = AXE_SPACE_REG, .rank = 1};
    const axe_node *m = axe_ivar(&lw, &size), *zero = axe_int(&lw, 0);
    axe_lir        *loop = axe_emit(&lw, &b, AXE_LIR_LOOP), *in, *let[4];

    (void)state;
    x.type = AXE_TYPE_i32;
    loop->var = axe_loop_var(&lw, "t");
    loop->begin = zero;
    loop->end = m;
    loop->step = 1;
    in = axe_emit(&lw, &loop->body, AXE_LIR_IF);
    in->value = axe_node2(cx, AXE_OP_lt, m, axe_int(&lw, 5));
    for (int i = 0; i < 4; i++) {
        let[i] = axe_emit(&lw, &in->other, AXE_LIR_LET);
        let[i]->var = axe_loop_var(&lw, &"abcd"[i]);
    }
    let[0]->value = axe_sum(&lw, axe_ivar(&lw, loop->var), axe_int(&lw, 1));
    let[1]->value =
        axe_node2(cx, AXE_OP_mul, axe_ivar(&lw, let[0]->var), axe_int(&lw, 3));
    let[2]->value = axe_load(cx, AXE_NOWHERE, &x, &zero);
    let[3]->value = axe_node2(cx, AXE_OP_mul, m, axe_int(&lw, 3));
    axe_hoist(&lw, &b);
    assert_int_equal(b.n, 2);
    assert_ptr_equal(b.item[0]->value, let[3]->value);
    assert_int_equal(b.item[1]->body.item[0]->other.n, 3);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_branch)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
