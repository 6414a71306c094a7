/* test_expr.c - layout expressions, by tables: a text and its value, or a text
 * and its error with the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"

/* clang-format off */
static const struct row {
    const char *in, *out;
} rows[] = {
    /* items */
    {"(2, 3) : (3, 1)",                       "(2, 3) : (3, 1)"},
    {"((2, 3) : (3, 1))",                     "(2, 3) : (3, 1)"},
    {"() : ()",                               "() : ()"},
    {"(4):(1) + [2 : 4@warp] + 5@warp",       "(4) : (1) + [2 : 4@warp] + 5@warp"},
    {"6", "6"}, {"2*3 + 4", "10"}, {"2 + 3*4", "14"}, {"7 - 2 - 1", "4"},
    {"-7 / 2", "-3"}, {"2*-3", "-6"}, {"12 / 2 * 3", "18"},
    {"(2, 3*4)",                              "(2, 12)"},
    {"()",                                    "()"},
    {"2*(3 + 4)",                             "14"},
    {"swizzle(128)",                          "swizzle<3, 4, 3> 8b"},
    {"swizzle<2, 1, 3>",                      "swizzle<2, 1, 3>"},
    {"(4):(1) // a comment\n",                "(4) : (1)"},
    {"(4):(1);",                              "(4) : (1)"},
    /* operators */
    {"(2,3):(3,1) >< (8,8):(8,1)",            "((2, 8), (3, 8)) : ((192, 8), (64, 1))"},
    {"(2):(1) >< (2):(1) >< (2):(1)",         "((4, 2)) : ((2, 1))"},
    {"canon((2):(1) >< (2):(1))",             "(4) : (1)"},
    {"(2,2):(8,2) + (2,2):(4,1) | (4, 4)",    "((2, 2), (2, 2)) : ((8, 4), (2, 1))"},
    {"canon((6):(1) | (2, 3))",               "(2, 3) : (3, 1)"},
    {"(6):(1) | 6",                           "(6) : (1)"},
    {"(8):(2) o (2):(4)",                     "(2) : (8)"},
    {"(8):(3) o (4):(2) o (2):(2)",           "(2) : (12)"},
    {"swizzle<1, 0, 1> o (2, 2):(2, 1)",      "swizzle<1, 0, 1> o (2, 2) : (2, 1)"},
    {"swizzle(128) o ((2):(1) >< (2):(1))",   "swizzle(128) o ((2, 2)) : ((2, 1))"},
    {"canon((2):(1)) + 3@warp",               "(2) : (1) + 3@warp"},
    {"canon((2):(1)) + [2 : 4] - 1",          "(2) : (1) + [2 : 4] - 1"},
    {"canon((2):(1) + 1) + 2",                "(2) : (1) + 3"},
    /* slices and points */
    {"(16, 24):(24, 1)[0:8, 8:24]",           "(8, 16) : (24, 1) + 8"},
    {"(16, 24):(24, 1)[3, :]",                "((), 24) : ((), 1) + 72"},
    {"canon((4, 6):(6, 1)[1:, :2])",          "(3, 2) : (6, 1) + 6"},
    {"(8):(1)[2:8][1:3]",                     "(2) : (1) + 3"},
    {"(2, 3):(3, 1)(1, 2)",                   "(5)"},
    {"(2, 3):(3, 1)(5)",                      "(5)"},
    {"(8,2,4,2):(4@lane,1@warp,1@lane,1@reg) + [2:4@warp] + 5@warp(0)", "(0@lane, 5@warp, 0@reg) (0@lane, 9@warp, 0@reg)"},
    {"((8,2,4,2):(4@lane,1@warp,1@lane,1@reg) + [2:4@warp] + 5@warp)(7,1,3,1)",
     "(31@lane, 6@warp, 1@reg) (31@lane, 10@warp, 1@reg)"},
    {"((2):(1) >< (2):(2))(3)",               "(5)"},
    /* functions, one each */
    {"canon((2, 1, 3):(3, 5, 1))",            "(2, (), 3) : (3, (), 1)"},
    {"flat((2, 3):(3, 1))",                   "((2, 3)) : ((3, 1))"},
    {"group((6):(1), (2, 3))",                "(2, 3) : (3, 1)"},
    {"permute((2, 3):(3, 1), (1, 0))",        "(3, 2) : (1, 3)"},
    {"tile((2):(1), (3):(1))",                "((2, 3)) : ((3, 1))"},
    {"canon(tile_of((6):(1), (3):(1)))",      "(2) : (1)"},
    {"canon(tile_of_outer((6):(1), (2):(1)))", "(3) : (1)"},
    {"tile_to((2, 2):(2, 1), (4, 2))",        "((2, 2), 2) : ((4, 2), 1)"},
    {"canon(flat(tile_to((2, 2):(2, 1), (4, 2))))", "(8) : (1)"},
    {"canon(flat(sum((2, 2):(8, 2), (2, 2):(4, 1))))", "(16) : (1)"},
    {"canon(flat(sum_left_of((16):(1) | (2,2,2,2), (2,2):(4,1))))", "((2, 2)) : ((8, 2))"},
    {"canon(flat(sum_right_of((16):(1) | (2,2,2,2), (2,2):(8,2))))", "((2, 2)) : ((4, 1))"},
    {"slice((4, 6):(6, 1), (1, 2), (3, 4))",  "(2, 2) : (6, 1) + 8"},
    {"inverse((2, 3):(1, 2))",                "((3, 2)) : ((1, 3))"},
    {"left_inverse((2):(2))",                 "((2, 2)) : ((1, 0))"},
    {"canon(compose((8):(2), (4):(2)))",      "(4) : (4)"},
    {"complement((4):(2), 8)",                "(2) : (1)"},
    {"size(complement((4):(1), 24))",         "6"},
    {"storage((2, 4):(4, 1@lane))",           "(2, ()) : (4, ())"},
    {"pack((8):(1), 2)",                      "(4) : (1)"},
    {"size(unpack((8):(1), 2))",              "16"},
    {"size(pack((8):(1), 2))",                "4"},
    {"recast(swizzle(128), 16)",              "swizzle<3, 3, 3>"},
    {"recast(swizzle(128) o (8, 64):(64, 1), 16)", "swizzle<3, 3, 3> o (8, 64) : (64, 1)"},
    {"recast((2):(1), 16)",                   "(2) : (1)"},
    {"row_major((2, 3))",                     "(2, 3) : (3, 1)"},
    {"row_major(6)",                          "(6) : (1)"},
    {"strided((2, 3), (1, -2))",              "(2, 3) : (1, -2)"},
    {"size((2, 3):(3, 1))",                   "6"},
    {"shape((2, 3):(3, 1))",                  "(2, 3)"},
    {"span((4):(-2))",                        "7"},
    {"span((4):(3@lane), lane)",              "10"},
    {"span((4):(3@lane), @lane)",             "10"},
    {"cosize((4):(3) + 2)",                   "12"},
    {"fiber((1):(1) + [(2,2) : (1,1)])",      "3"},
    {"equal((2,2):(2,1), (4):(1))",           "true"},
    {"equal((2,2):(1,2), (4):(1))",           "false"},
    {"injective((2, 2):(1, 1))",              "false"},
    {"surjective((2, 2):(1, 1))",             "true"},
    {"contiguous((2, 2):(2, 1))",             "true"},
    {"compact((2, 2):(1, 2))",                "true"},
    {"contiguous((2, 2):(1, 2))",             "false"},
    /* names */
    {"let a = (2):(1); let b = a >< a; b[1:3]", "(2) : (1) + 1"},
    {"let n = 3; (n):(1)",                    "(3) : (1)"},
    {"let n = 3; row_major((n, 2*n))",        "(3, 6) : (6, 1)"},
    {"let n = 3; let l = (4):(1); l[0:n - 1]", "(2) : (1)"},
    {"let a = (2):(2); let b = (2):(1); a + b", "((2, 2)) : ((2, 1))"},
    {"let b = (2):(1); canon((2):(2) + b)",   "(4) : (1)"},
    {"frag | (2, 2)",                         "(2, 2) : (2, 1)"},
    {"(BM, 2) : (2, 1)",                      "(128, 2) : (2, 1)"},
    {"BM / 2",                                "64"},
    {"row_major((BM, BM/4))",                 "(128, 32) : (32, 1)"},
    {"frag + BM",                             "(4) : (1) + 128"},
    {"let BM = (2):(1); BM",                  "(2) : (1)"},
};

/* Errors: the text, then ":line:col". */
static const struct bad_row {
    const char *in;
    axe_status  code;
    const char *error; /* "line:col+len text" */
} bad_rows[] = {
    {"",              AXE_ESYNTAX, "1:1+1 expected a layout, but the text ends"},
    {"(2):(1) x",     AXE_ESYNTAX, "1:9+1 expected the end or an operator, but found 'x'"},
    {"(2):(1) )",     AXE_ESYNTAX, "1:9+1 expected the end or an operator, but found ')'"},
    {"(2):(1) \x01",  AXE_ESYNTAX, "1:9+1 expected the end or an operator, but found byte 0x01"},
    {"canom((2):(1))", AXE_ENAME,  "1:1+5 there is no layout, constant or function 'canom'"},
    {"canon",         AXE_ESYNTAX, "1:6+1 expected '(' after the name of a function, but the text ends"},
    {"canon((2):(1), 3)", AXE_ESYNTAX, "1:14+1 expected ')' after the arguments of canon, but found ','"},
    {"tile((2):(1))", AXE_ESYNTAX, "1:13+1 expected ',' and argument 2 of tile, but found ')'"},
    {"canon(3)",      AXE_ETYPE,   "1:7+1 canon needs a layout here, and this is an integer"},
    {"pack((2):(1), (2):(1))", AXE_ETYPE, "1:15+7 pack needs an integer here, and this is a layout"},
    {"group((2):(1), swizzle(64))", AXE_ETYPE, "1:16+11 group needs a shape here, and this is a swizzle"},
    {"recast(3, 8)",  AXE_ETYPE,   "1:8+1 recast needs a swizzle or a layout here, and this is an integer"},
    {"(2):(1) >< 3",  AXE_ETYPE,   "1:1+12 >< needs layouts, and this is an integer"},
    {"3 >< (2):(1)",  AXE_ETYPE,   "1:1+12 >< needs layouts, and this is an integer"},
    {"(2):(1) | (2):(1)", AXE_ETYPE, "1:11+7 | needs a shape, and this is a layout"},
    {"swizzle(64) o 3", AXE_ETYPE, "1:1+15 o needs a layout on its right, and this is an integer"},
    {"(2):(1)[0:1, 0:1]", AXE_ESHAPE, "1:1+12 more than 1 ranges for a layout of 1 dims"},
    {"(2, 2):(2, 1)[0:1]", AXE_ESHAPE, "1:1+18 1 ranges for a layout of 2 dims"},
    {"(2):(1)(2)",    AXE_ESHAPE,  "1:1+10 index 2 is outside [0, 2)"},
    {"(2):(1)(-1)",   AXE_ESHAPE,  "1:1+11 index -1 is outside [0, 2)"},
    {"(2, 2):(2, 1)(0, 0, 0)", AXE_ESHAPE, "1:1+22 a coordinate of 3 parts for a layout of 2 dims"},
    {"9223372036854775808", AXE_EOVERFLOW, "1:1+19 the number leaves int64"},
    {"9223372036854775807 + 1", AXE_EOVERFLOW, "1:1+23 the sum leaves int64"},
    {"9223372036854775807 * 2", AXE_EOVERFLOW, "1:1+23 the product leaves int64"},
    {"1 / 0",         AXE_EARG,    "1:1+5 a division by 0 that has no value"},
    {"(-9223372036854775807 - 1) / -1", AXE_ESYNTAX, "1:28+1 expected the end or an operator, but found '/'"},
    {"1*(-9223372036854775807 - 1) / -1", AXE_EARG, "1:1+33 a division by -1 that has no value"},
    {"let x = 1",     AXE_ESYNTAX, "1:10+1 expected ';' after the value of a name, but the text ends"},
    {"let = 1;",      AXE_ESYNTAX, "1:5+1 expected a name after 'let', but found '='"},
    {"let x 1;",      AXE_ESYNTAX, "1:7+1 expected '=', but found '1'"},
    {"let x = 1; let x = 2; x", AXE_ENAME, "1:16+1 'x' is bound twice"},
    {"let canon = 1; 2", AXE_ENAME, "1:5+5 'canon' has a meaning of its own and cannot be bound"},
    {"let x = 1;\n  y", AXE_ENAME, "2:3+1 there is no layout, constant or function 'y'"},
    {"(1, (2):(1))",  AXE_ETYPE,   "1:5+7 a shape needs integers, and this is a layout"},
    {"(2, 3",         AXE_ESYNTAX, "1:6+1 expected ',' or ')', but the text ends"},
    {"span((2):(1), 3)", AXE_ESYNTAX, "1:15+1 expected an axis, but found '3'"},
    {"canon((2):(1)) - @m", AXE_ESYNTAX, "1:18+1 expected an offset, but found '@'"},
    {"2*K",           AXE_ENAME,   "1:3+1 'K' is not a constant"},
    {"strided((2, 3), 1)", AXE_ESHAPE, "0:0+0 strided: 2 extents but 1 strides"},
    {"permute((2):(1), 4294967296)", AXE_EARG, "0:0+0 permute: 4294967296 is too large"},
};
/* clang-format on */

static bool
constant(void *user, const char *name, int64_t *value)
{
    (void)user;
    *value = 128;
    return strcmp(name, "BM") == 0;
}

static const axe_layout *
layout(void *user, const char *name)
{
    return strcmp(name, "frag") == 0 ? user : NULL;
}

/* A ctx that knows a few axes, and an env with BM = 128 and frag = (4):(1). */
static axe_ctx *
fresh(axe_expr_env *env)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l = NULL;
    axe_axis          a;

    assert_int_equal(axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &a), 0);
    assert_int_equal(axe_axis_declare(cx, "warp", AXE_KIND_THREAD, &a), 0);
    assert_int_equal(axe_axis_declare(cx, "reg", AXE_KIND_REG, &a), 0);
    assert_int_equal(axe_layout_read(cx, "(4):(1)", &l), AXE_OK);
    *env = (axe_expr_env){(void *)(uintptr_t)l, constant, layout};
    return cx;
}

/* Say what differs, and count it. */
static int
differs(const char *in, const char *got, const char *want)
{
    if (!want || strcmp(got, want) == 0)
        return 0;
    print_error("%s\n    got  %s\n    want %s\n", in, got, want);
    return 1;
}

static void
test_values(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_expr_env env;
        axe_ctx     *cx = fresh(&env);
        axe_value    v;

        if (axe_expr_eval(cx, "e", rows[i].in, &env, &v) == AXE_OK)
            failed += differs(rows[i].in, axe_value_text(cx, &v), rows[i].out);
        else
            failed += differs(rows[i].in, axe_last_error(cx),
                              rows[i].out ? rows[i].out : "a value");
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

static void
test_errors(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(bad_rows); i++) {
        axe_expr_env    env;
        axe_ctx        *cx = fresh(&env);
        axe_value       v;
        const axe_diag *d;
        axe_status      st = axe_expr_eval(cx, "e", bad_rows[i].in, &env, &v);

        d = axe_diags(cx);
        failed += differs(bad_rows[i].in,
                          d ? axe_textf(cx, "%d:%d+%d %s", (int)d->at.line,
                                        (int)d->at.col, (int)d->at.len, d->text)
                            : "no error",
                          bad_rows[i].error);
        failed += differs(bad_rows[i].in, axe_status_name(st),
                          axe_status_name(bad_rows[i].code));
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* A failed operation has a note with its place. */
static void
test_note(void **state)
{
    axe_expr_env env;
    axe_ctx     *cx = fresh(&env);
    axe_value    v;

    (void)state;
    assert_int_equal(axe_expr_eval(cx, "e", "size((6):(1) | (4, 2))", &env, &v),
                     AXE_ESHAPE);
    assert_string_equal(axe_diags(cx)->next->text, "in this expression");
    assert_int_equal(axe_diags(cx)->next->at.col, 6);
    assert_int_equal(axe_diags(cx)->next->at.len, 16);
    axe_ctx_free(cx);
}

/* Deep nesting of every kind is an error, not a crash. */
static void
test_depth(void **state)
{
    static const char *const unit[] = {
        "(",          "canon(",          "-",
        "2*(",        "group((2):(1), ", "swizzle(64) o ",
        "(2):(1) o ", "(2):(1) | ("};

    (void)state;
    for (int i = 0; i < AXE_LEN(unit); i++) {
        axe_expr_env env;
        axe_ctx     *cx = fresh(&env);
        axe_buf      b = {.cx = cx};
        axe_value    v;
        axe_status   st;

        for (int k = 0; k < 5000; k++)
            axe_puts(&b, unit[i]);
        st = axe_expr_eval(cx, "e", b.text, &env, &v);
        print_message("%s: %s\n", unit[i], axe_last_error(cx));
        assert_true(st == AXE_ELIMIT || st == AXE_ESYNTAX);
        axe_ctx_free(cx);
    }
}

/* More names than the search for the nearest looks at: it ends at its array's
 * end (under the sanitizers one more is seen), and the last ones are found. */
static void
test_many_names(void **state)
{
    axe_expr_env env;
    axe_ctx     *cx = fresh(&env);
    axe_buf      b = {.cx = cx};
    axe_value    v;

    (void)state;
    for (int i = 0; i < 70; i++)
        axe_puts(&b, axe_textf(cx, "let name%d = %d; ", 100 + i, i));
    axe_puts(&b, "nane169");
    assert_int_equal(axe_expr_eval(cx, "e", b.text, &env, &v), AXE_ENAME);
    assert_string_equal(axe_diags(cx)->next->text, "did you mean 'name169'?");
    axe_ctx_free(cx);
}

/* Part of a source: stops where the expression does. */
static void
test_at(void **state)
{
    static const char text[] = "reg f32 acc : frag >< (2):(1) = 0;";
    axe_expr_env      env;
    axe_ctx          *cx = fresh(&env);
    axe_value         v;
    size_t            end = 0;
    int32_t source = axe_source_add(cx, "k.axe", text, sizeof text - 1);

    (void)state;
    assert_int_equal(axe_expr_eval_at(cx, source, 13, &env, &v, &end), AXE_OK);
    assert_string_equal(axe_value_text(cx, &v), "((4, 2)) : ((2, 1))");
    assert_string_equal(text + end, "= 0;");
    assert_int_equal(axe_expr_eval_at(cx, source, 400, &env, &v, &end),
                     AXE_EARG);
    assert_int_equal(axe_expr_eval_at(cx, source, 30, &env, &v, &end),
                     AXE_ESYNTAX);
    axe_ctx_free(cx);
}

/* Every row of the table is a function that the help shows and a row above
 * calls. */
static void
test_table_complete(void **state)
{
    int                    n;
    const axe_expr_fn_row *fn = axe_expr_fns(&n);

    (void)state;
    for (int i = 0; i < n; i++) {
        char call[64];
        bool used = false;

        snprintf(call, sizeof call, "%s(", fn[i].name);
        for (int k = 0; k < AXE_LEN(rows); k++)
            used = used || strstr(rows[k].in, call);
        if (!used && strcmp(fn[i].name, "fuse") != 0 &&
            strcmp(fn[i].name, "split") != 0)
            fail_msg("no row calls %s", fn[i].name);
    }
}

static void
test_fuse(void **state)
{
    axe_expr_env env;
    axe_ctx     *cx = fresh(&env);
    axe_axis     whole, outer, inner;
    axe_value    v;

    (void)state;
    assert_int_equal(axe_axis_declare(cx, "thread", AXE_KIND_THREAD, &whole),
                     AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "warp", &outer), AXE_OK);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "lane", &inner), AXE_OK);
    assert_int_equal(axe_axis_nest(cx, whole, outer, inner, 32), AXE_OK);
    assert_int_equal(
        axe_expr_eval(cx, "e",
                      "canon(flat(fuse((4, 32):(1@warp, 1@lane), thread)))",
                      &env, &v),
        AXE_OK);
    assert_string_equal(axe_value_text(cx, &v), "(128) : (1@thread)");
    assert_int_equal(
        axe_expr_eval(cx, "e", "canon(flat(split((128):(1@thread), thread)))",
                      &env, &v),
        AXE_OK);
    assert_string_equal(axe_value_text(cx, &v),
                        "((4, 32)) : ((1@warp, 1@lane))");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_note),   cmocka_unit_test(test_depth),
        cmocka_unit_test(test_at),     cmocka_unit_test(test_table_complete),
        cmocka_unit_test(test_fuse),   cmocka_unit_test(test_many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
