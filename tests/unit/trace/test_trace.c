/* test_trace.c - traces as text: printed and read again, and what is no trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

static axe_status
read(axe_ctx *cx, const char *text, const axe_trace **out)
{
    return axe_trace_read(cx, axe_source_add(cx, "t", text, strlen(text)), text,
                          out);
}

/* As read, and as printed; NULL: the same. */
static const struct {
    const char *text, *want;
} texts[] = {
    {"trace t\n", NULL},
    {"trace t\nsize N = 512\nhbm x : f32[128, N] in\n", NULL},
    {"trace t # of nothing\n\n  hbm x:bf16[2,3]kept", "trace t\nhbm x : "
                                                      "bf16[2, 3] kept\n"},
    {"trace t\nsize N = 4\nfor i = N / 2 {\n    for j = (N - i) % 3 {\n"
     "        sbuf s : f32[128, 4, 8] at 32 * i, 4 * (i + j * 2)\n"
     "        psum p : f32[128, 8] at 0, 2048 * (i % 8)\n"
     "        vector memset s, value=-0.5\n"
     "        vector tensor_copy p[0, 0 : 128, 8 by 1], s[0, i + 1 : 128, 8 by "
     "1]\n    }\n}\n",
     NULL},
    {"trace t\nsbuf s : f32[1, 2] at 0, ((1)+2)*4-(3-(2-1))\n",
     "trace t\nsbuf s : f32[1, 2] at 0, (1 + 2) * 4 - (3 - (2 - 1))\n"},
    {"trace t\nsbuf s : f32[128, 512] at 0, 0\nsbuf o : f32[128, 1] at 0, "
     "2048\nscalar activation_reduce s, s, o, op=exp, reduce_op=add, bias=o, "
     "scale=0.125\nvector tensor_scalar s, s, op0=multiply, operand0=o, "
     "reverse0=1, op1=add, operand1=2.5\ngpsimd affine_select s, s, "
     "pattern=[2 by 0, 256 by 1], on_false_value=-inf, cmp_op=less_equal, "
     "offset=0 - 3, channel_multiplier=1\n",
     NULL},
    /* a name of an outer block is hidden, then back */
    {"trace t\nsbuf s : f32[1, 1] at 0, 0\nfor i = 2 {\n    sbuf s : f32[1, 2] "
     "at 0, 8\n    vector memset s, value=0\n}\nvector memset s, value=0\n",
     NULL},
};

static void
test_texts(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(texts); i++) {
        axe_ctx         *cx = axe_ctx_new();
        const axe_trace *t;
        const char      *want = texts[i].want ? texts[i].want : texts[i].text;
        if (read(cx, texts[i].text, &t) != AXE_OK)
            fail_msg("%s: %s", texts[i].text, axe_last_error(cx));
        const char *once = axe_trace_text(cx, t);
        assert_string_equal(once, want);
        assert_int_equal(read(cx, once, &t), AXE_OK);
        assert_string_equal(axe_trace_text(cx, t), once);
        axe_ctx_free(cx);
    }
}

/* The inner tile is the one that the loop's instruction names. */
static void
test_scopes(void **state)
{
    axe_ctx         *cx = axe_ctx_new();
    const axe_trace *t;

    (void)state;
    assert_int_equal(read(cx, texts[6].text, &t), AXE_OK);
    const axe_trace_step *loop = t->body->next;
    assert_int_equal(loop->body->next->value[0].access.tensor, 1);
    assert_int_equal(loop->next->value[0].access.tensor, 0);
    axe_ctx_free(cx);
}

#define S "trace t\nsbuf s : f32[128, 4] at 0, 0\n"
static const struct {
    const char *text;
    axe_status  code;
    int         line, col;
    const char *error;
} wrong[] = {
    {"", AXE_ESYNTAX, 1, 1, "expected 'trace' and its name, and the text ends"},
    {"trace 3", AXE_ESYNTAX, 1, 7, "expected the trace's name, not '3'"},
    {"trace t\nsize N = x", AXE_ESYNTAX, 2, 10, "expected a number, not 'x'"},
    {"trace t\nsize N = 99999999999999999999", AXE_EOVERFLOW, 2, 10,
     "the number does not fit 64 bits"},
    {"trace t\nhbm x : f64[1] in", AXE_ETYPE, 2, 9,
     "Trainium 1 has no elements of type 'f64'"},
    {"trace t\nhbm x : f32[1] at 0, 0", AXE_ESYNTAX, 2, 16,
     "expected in, out or kept, not 'at'"},
    {"trace t\nsbuf x : f32[1] in", AXE_ESYNTAX, 2, 17,
     "expected 'at', a partition and a byte, not 'in'"},
    {"trace t\nfor i = 2 {\nhbm x : f32[1] in\n}", AXE_ESYNTAX, 3, 1,
     "a tensor of device memory is declared outside of loops"},
    {"trace t\nfor i = 2 {\n", AXE_ESYNTAX, 3, 1,
     "expected '}', and the text ends"},
    {"trace t\n}", AXE_ESYNTAX, 2, 1, "expected a step, not '}'"},
    {"trace t\npool memset", AXE_ESYNTAX, 2, 1,
     "expected a declaration, a loop, or an engine's name, not 'pool'"},
    {S "vector memest s, value=0", AXE_ENAME, 3, 8,
     "Trainium 1 has no instruction 'memest'"},
    {S "vector memset r, value=0", AXE_ENAME, 3, 15,
     "no tensor or tile has this name here"},
    {"trace t\nfor i = 1 {\nsbuf s : f32[1, 1] at 0, 0\n}\n"
     "vector memset s, value=0",
     AXE_ENAME, 5, 15, "no tensor or tile has this name here"},
    {S "vector memset s", AXE_ESYNTAX, 3, 8, "memset lacks value="},
    {S "vector memset s, value=x", AXE_ESYNTAX, 3, 24,
     "expected a number, not 'x'"},
    {S "vector memset s, value=nan", AXE_ESYNTAX, 3, 24,
     "expected a number, not 'nan'"},
    {S "vector memset s, value=1, value=2", AXE_ENAME, 3, 27,
     "value is given twice"},
    {S "vector memset s, data=1", AXE_ENAME, 3, 18, "memset takes no 'data'"},
    {S "scalar activation s, s, op=exq", AXE_ENAME, 3, 28,
     "there is no function 'exq'"},
    {S "vector tensor_copy s", AXE_ESYNTAX, 3, 21,
     "expected ',', and the text ends"},
    {S "vector tensor_copy s, s[0, 0 : 4]\nvector tensor_copy s, s[0 : 4]",
     AXE_ESYNTAX, 4, 27, "expected ',', not ':'"},
    {S "vector tensor_copy s, s[0, 0 : 4, 4]", AXE_ESYNTAX, 3, 36,
     "expected 'by' and a stride, not ']'"},
    {S "vector tensor_copy s, s[0, i : 4, 4 by 1]", AXE_ENAME, 3, 28,
     "no size or variable has this name here"},
    {S "vector tensor_copy s, s[0, s : 4, 4 by 1]", AXE_ETYPE, 3, 28,
     "s is a tensor; here stands a number"},
    {S "vector tensor_copy s, s[0, 0 : 1, 1 by 1, 1 by 1, 1 by 1, 1 by 1, 1 by "
       "1, 1 by 1, 1 by 1, 1 by 1]",
     AXE_ELIMIT, 3, 91, "more than 8 counts"},
};

static void
test_wrong(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(wrong); i++) {
        axe_ctx         *cx = axe_ctx_new();
        const axe_trace *t;
        assert_int_equal(read(cx, wrong[i].text, &t), wrong[i].code);
        assert_string_equal(axe_last_error(cx), wrong[i].error);
        assert_int_equal(axe_diags(cx)->at.line, wrong[i].line);
        assert_int_equal(axe_diags(cx)->at.col, wrong[i].col);
        axe_ctx_free(cx);
    }
}

/* Deep texts end in a diagnostic, not in the stack. */
static void
test_deep(void **state)
{
    static const char *const open[] = {"(", "-", "1+", "1*"};

    (void)state;
    for (int i = 0; i < AXE_LEN(open); i++) {
        axe_ctx         *cx = axe_ctx_new();
        const axe_trace *t;
        axe_buf          b = {.cx = cx};
        axe_puts(&b, "trace t\nfor i = ");
        for (int k = 0; k < 100000; k++)
            axe_puts(&b, open[i]);
        assert_int_equal(read(cx, b.text, &t), AXE_ELIMIT);
        axe_ctx_free(cx);
    }
}

static void
test_values(void **state)
{
    axe_ctx         *cx = axe_ctx_new();
    const axe_trace *t;
    int64_t          v;
    const char      *text = "trace t\nsize N = 3\n"
                            "for a = N * 9223372036854775807 {\n}\n"
                            "for b = 7 / (N - 3) {\n}\n"
                            "for c = 17 / 5 * 4 % 7 - N {\n}\n"
                            "for d = (N - 4) % 2 {\n}\n";

    (void)state;
    assert_int_equal(read(cx, text, &t), AXE_OK);
    const axe_trace_step *s = t->body;
    assert_int_equal(axe_trace_value_of(cx, s->count, t->size, &v),
                     AXE_EOVERFLOW);
    assert_string_equal(axe_last_error(cx),
                        "3 * 9223372036854775807 does not fit 64 bits");
    s = s->next;
    assert_int_equal(axe_trace_value_of(cx, s->count, t->size, &v), AXE_ESHAPE);
    assert_string_equal(axe_last_error(cx),
                        "7 / 0: it takes a number from 0, by one from 1");
    s = s->next;
    assert_int_equal(axe_trace_value_of(cx, s->count, t->size, &v), AXE_OK);
    assert_int_equal(v, 2);
    assert_int_equal(axe_trace_value_of(cx, s->next->count, t->size, &v),
                     AXE_ESHAPE);
    assert_int_equal(axe_trace_set(cx, t, "N=5"), AXE_OK);
    assert_int_equal(t->size[0], 5);
    assert_int_equal(axe_trace_set(cx, t, "M=5"), AXE_ENAME);
    assert_string_equal(axe_last_error(cx), "the trace t has no size 'M'");
    assert_int_equal(axe_trace_set(cx, t, "N=0"), AXE_ESYNTAX);
    assert_string_equal(
        axe_last_error(cx),
        "'N=0' is no value of the size N: a number from 1 to 2147483647");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_wrong),  cmocka_unit_test(test_deep),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
