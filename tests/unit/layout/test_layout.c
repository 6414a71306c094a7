/* test_layout.c - axes, units, making, reading and printing layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"
#include "layout/layout_int.h"

static axe_ctx *
open_ctx(void)
{
    axe_ctx *cx = axe_ctx_new();

    assert_non_null(cx);
    axe_axes_open(cx, true);
    return cx;
}

/* clang-format off */
static const struct {
    const char *in, *want; /* want NULL: prints as it was */
} text_rows[] = {
    {"(8) : (1)", NULL},
    {"() : ()", NULL},
    {"(()) : (())", "() : ()"},
    {"(()) : ()", "() : ()"},
    {"(1) : (0)", NULL},
    {"((2, 3)) : ((3, 1))", NULL},
    {"(2, 3) : (3, 1)", NULL},
    {"((), 3) : ((), 1)", NULL},
    {"((), ()) : ((), ())", NULL},
    {"((2, 8), (3, 8)) : ((192, 8), (64, 1))", NULL},
    {"((2), (3, 8), ()) : (1, (64, 1), ())",
     "(2, (3, 8), ()) : (1, (64, 1), ())"},
    {"(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)+[2:4@warp]+5@warp",
     "(8, 2, 4, 2) : (4@lane, 1@warp, 1@lane, 1@reg) + [2 : 4@warp] + 5@warp"},
    {"(2) : (1) + [(2, 3) : (1@warp, -4@warp)]", NULL},
    {"(2) : (1) + [2 : 1@warp] + [3 : -4@warp]",
     "(2) : (1) + [(2, 3) : (1@warp, -4@warp)]"},
    {"(2) : (1) + [(2) : (1@warp)]", "(2) : (1) + [2 : 1@warp]"},
    {"(2) : (1) + [() : ()]", "(2) : (1)"},
    {"(2) : (1) + 3@P + 4@P - 2@P", "(2) : (1) + 5@P"},
    {"(2) : (1) - 3@P", NULL},
    {"(2) : (1) + -3@P", "(2) : (1) - 3@P"},
    {"(2) : (1) - -3@P", "(2) : (1) + 3@P"},
    {"(2) : (1) + 3@P - 3@P", "(2) : (1)"},
    {"(2) : (1) + 3 - 3@Q + 2@P + [2 : 1@P]",
     "(2) : (1) + [2 : 1@P] + 3 + 2@P - 3@Q"},
    {"(4, 4) : (128*K, K)", NULL},
    {"(4, 4) : (-2*K*M@P, -K@P) - 3*K@P", NULL},
    {"(4, 4) : (M*2*K, 1*K) + 0*K", "(4, 4) : (2*K*M, K)"},
    {"(1) : (-9223372036854775808)", NULL},
    {"(2*3, 4) : (2*3, 4*0)", "(6, 4) : (6, 0)"},
    {"(2) : (1) // a pair\n + 1 // moved", "(2) : (1) + 1"},
    {" ( 2 )\t:\r\n(1 @ P)", "(2) : (1@P)"},
    {"swizzle(128) o (64, 64) : (64, 1)", NULL},
    {"swizzle(32) o (64) : (1)", NULL},
    {"swizzle<3, 4, 3> 8b o (64) : (1)", "swizzle(128) o (64) : (1)"},
    {"swizzle<3, 3, 3> o (64) : (1)", NULL},
    {"swizzle<2, 4, -3> 16b o (64) : (1) + 8", NULL},
    {"swizzle<0, 4, -3> 16b o (64) : (1) + 8", "(64) : (1) + 8"},
};
/* clang-format on */

static bool
identical(const axe_layout *a, const axe_layout *b)
{
    if (a->n_shard != b->n_shard || a->n_replica != b->n_replica ||
        a->n_offset != b->n_offset || a->n_dim != b->n_dim ||
        a->size != b->size || !axe_swizzle_same(a->swizzle, b->swizzle))
        return false;
    for (int k = 0; k < a->n_dim; k++)
        if (a->dim_end[k] != b->dim_end[k])
            return false;
    for (int k = 0; k < a->n_offset; k++)
        if (a->offset[k].axis != b->offset[k].axis ||
            a->offset[k].unit != b->offset[k].unit ||
            a->offset[k].value != b->offset[k].value)
            return false;
    return axe_iters_same(a->n_shard, a->shard, b->shard) &&
           axe_iters_same(a->n_replica, a->replica, b->replica);
}

static void
test_text(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(text_rows); i++) {
        const char       *in = text_rows[i].in, *want = text_rows[i].want;
        const axe_layout *l, *again;
        axe_ctx          *cx = open_ctx();
        if (axe_layout_read(cx, in, &l) != AXE_OK)
            fail_msg("%s: %s", in, axe_last_error(cx));
        assert_string_equal(axe_layout_text(cx, l), want ? want : in);
        assert_int_equal(axe_layout_read(cx, axe_layout_text(cx, l), &again),
                         AXE_OK);
        if (!identical(l, again))
            fail_msg("%s: read, printed, read differs", in);
        axe_ctx_free(cx);
    }
}

/* clang-format off */
static const struct {
    const char *in;
    axe_status  code;
    int         line, col, len;
    const char *text;
} error_rows[] = {
    {"", AXE_ESYNTAX, 1, 1, 1,
     "layout: expected '(' before the extents, but the text ends"},
    {"4 : 1", AXE_ESYNTAX, 1, 1, 1,
     "layout: expected '(' before the extents, but found '4'"},
    {"(4) (1)", AXE_ESYNTAX, 1, 5, 1,
     "layout: expected ':' between extents and strides, but found '('"},
    {"(4, ) : (1)", AXE_ESYNTAX, 1, 5, 1,
     "layout: expected an extent, but found ')'"},
    {"(4@lane) : (1)", AXE_ESYNTAX, 1, 3, 1,
     "layout: expected ',' or ')', but found '@'"},
    {"((2, (2, 2))) : (1)", AXE_ESYNTAX, 1, 6, 1,
     "layout: expected an extent (dims nest one level deep), but found '('"},
    {"(4) : (1", AXE_ESYNTAX, 1, 9, 1,
     "layout: expected ')' after the last stride, but the text ends"},
    {"(4) : (1, 2)", AXE_ESYNTAX, 1, 9, 1,
     "layout: expected ')' after the last stride, but found ','"},
    {"(4, 8) : (1)", AXE_ESYNTAX, 1, 12, 1,
     "layout: 2 dims of extents, but 1 of strides"},
    {"((4, 8), 2) : (1, 2, 3)", AXE_ESYNTAX, 1, 16, 1,
     "layout: dim 0 has 2 extents, and its strides are not nested in the same "
     "way"},
    {"(4, 2) : ((1, 2), 3)", AXE_ESYNTAX, 1, 11, 2,
     "layout: dim 0 has 1 extent, and its strides are not nested in the same "
     "way"},
    {"(4) : (1) x", AXE_ESYNTAX, 1, 11, 1,
     "layout: expected the end, but found 'x'"},
    {"(4) : (1) + (2) : (1)", AXE_ESYNTAX, 1, 11, 1,
     "layout: expected the end, but found '+'"},
    {"(4) : (1) + f(2)", AXE_ESYNTAX, 1, 11, 1,
     "layout: expected the end, but found '+'"},
    {"(4) :\n  (1) + 3@", AXE_ESYNTAX, 2, 11, 1,
     "layout: expected an axis, but the text ends"},
    {"(4) : (\x01)", AXE_ESYNTAX, 1, 8, 1,
     "layout: expected a stride, but found byte 0x01"},
    {"(4) : (~)", AXE_ESYNTAX, 1, 8, 1,
     "layout: expected a stride, but found '~'"},
    {"(4) : (\x7f)", AXE_ESYNTAX, 1, 8, 1,
     "layout: expected a stride, but found byte 0x7f"},
    {"(K) : (1)", AXE_ESYNTAX, 1, 2, 1,
     "layout: an extent must be a number, and 'K' is a run-time size"},
    {"(4) : (2*)", AXE_ESYNTAX, 1, 10, 1,
     "layout: expected a factor, but found ')'"},
    {"(4) : (1) + [4]", AXE_ESYNTAX, 1, 15, 1,
     "layout: expected ':', but found ']'"},
    {"(4) : (1) + [4 : 1", AXE_ESYNTAX, 1, 19, 1,
     "layout: expected ']', but the text ends"},
    {"(4) : (1) + [((2, 2)) : ((1, 2))]", AXE_ESYNTAX, 1, 14, 8,
     "layout: replicas have no dims; write one list"},
    {"(4) : (1) - [2 : 1]", AXE_ESYNTAX, 1, 11, 1,
     "layout: expected the end, but found '-'"},
    {"(9223372036854775808) : (0)", AXE_EOVERFLOW, 1, 2, 19,
     "layout: a number leaves int64"},
    {"(3037000500*3037000500) : (0)", AXE_EOVERFLOW, 1, 13, 10,
     "layout: a product leaves int64"},
    {"(2) : (0) - -9223372036854775808", AXE_EOVERFLOW, 1, 12, 21,
     "layout: a number leaves int64"},
    {"(2) : (a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a)", AXE_ELIMIT, 1, 40, 1,
     "layout: a stride has over 16 run-time sizes"},
    {"swizzle(48) o (2) : (1)", AXE_ESHAPE, 1, 9, 2,
     "layout: there is no swizzle(48); rows are of 32, 64 or 128 bytes"},
    {"swizzle(128) (2) : (1)", AXE_ESYNTAX, 1, 14, 1,
     "layout: expected 'o' between swizzle and layout, but found '('"},
    {"swizzle 3", AXE_ESYNTAX, 1, 9, 1,
     "layout: expected '(' or '<' after 'swizzle', but found '3'"},
    {"swizzle<3, 4, 99> o (2) : (1)", AXE_ESHAPE, 1, 15, 2,
     "layout: 99 is no field of a swizzle"},
    {"swizzle<3, 4, 3> 8 o (2) : (1)", AXE_ESYNTAX, 1, 20, 1,
     "layout: expected 'b' after the bits of a unit, but found 'o'"},
    {"swizzle<3, 4, 2> o (2) : (1)", AXE_ESHAPE, 0, 0, 0,
     "swizzle<3, 4, 2>: |shift| is below bits, so the fields overlap"},
    {"(0) : (1)", AXE_ESHAPE, 0, 0, 0,
     "layout: shard iter 0 has extent 0; it must be at least 1"},
    {"(2, -1) : (1, 1)", AXE_ESHAPE, 0, 0, 0,
     "layout: shard iter 1 has extent -1; it must be at least 1"},
    {"(2) : (1) + [0 : 1]", AXE_ESHAPE, 0, 0, 0,
     "layout: replica iter 0 has extent 0; it must be at least 1"},
    {"(4294967296, 4294967296) : (0, 0)", AXE_EOVERFLOW, 0, 0, 0,
     "layout: the size leaves int64 at iter 1, extent 4294967296"},
    {"(4) : (-9223372036854775808)", AXE_EOVERFLOW, 0, 0, 0,
     "layout: shard iter 0, extent 4 times stride -9223372036854775808, leaves "
     "int64"},
    {"(2) : (1) + [3 : 9223372036854775807]", AXE_EOVERFLOW, 0, 0, 0,
     "layout: replica iter 0, extent 3 times stride 9223372036854775807, leaves "
     "int64"},
    {"(2, 2) : (9000000000000000000@P, 1) + 300000000000000000@P",
     AXE_EOVERFLOW, 0, 0, 0, "layout: the coordinates on axis P leave int64"},
    {"(2) : (9223372036854775807)", AXE_EOVERFLOW, 0, 0, 0,
     "layout: the coordinates on axis m leave int64"},
    {"(2) : (0) + -9223372036854775808", AXE_EOVERFLOW, 0, 0, 0,
     "layout: the coordinates on axis m leave int64"},
    {"(2) : (0) + 9000000000000000000 + 9000000000000000000", AXE_EOVERFLOW, 0,
     0, 0, "layout: the offsets on one axis add up beyond int64"},
};
/* clang-format on */

static void
test_errors(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(error_rows); i++) {
        const axe_layout *l;
        axe_ctx          *cx = open_ctx();
        axe_status        st = axe_layout_read(cx, error_rows[i].in, &l);
        const axe_diag   *d = axe_diags(cx);
        if (st == AXE_OK)
            fail_msg("%s: was read", error_rows[i].in);
        assert_string_equal(d->text, error_rows[i].text);
        assert_int_equal(st, error_rows[i].code);
        if (d->at.line != error_rows[i].line ||
            d->at.col != error_rows[i].col || d->at.len != error_rows[i].len)
            fail_msg("%s: at %d:%d+%d", error_rows[i].in, d->at.line, d->at.col,
                     d->at.len);
        axe_ctx_free(cx);
    }
}

/* What fits one axis only just, and two axes together not at all. */
static void
test_edge(void **state)
{
    const axe_layout *l;
    int64_t           span;
    axe_ctx          *cx = open_ctx();

    (void)state;
    assert_int_equal(axe_layout_read(cx,
                                     "(2, 2) : (9000000000000000000@P, "
                                     "9000000000000000000@Q)",
                                     &l),
                     AXE_OK);
    assert_int_equal(axe_layout_read(cx, "(2) : (9223372036854775806)", &l),
                     AXE_OK);
    assert_int_equal(axe_layout_span(cx, l, AXE_AXIS_M, &span), AXE_OK);
    assert_true(span == INT64_MAX);
    axe_ctx_free(cx);
}

/* Truncated and damaged texts are read or refused, never more. */
static void
test_damaged(void **state)
{
    static const char bytes[] = "(),:[]+-@*<>0219Kmos \n/\x80";
    axe_ctx          *cx = open_ctx();
    axe_mark          start = axe_ctx_mark(cx);
    uint64_t          seed = 1;

    (void)state;
    for (int i = 0; i < AXE_LEN(text_rows); i++)
        for (size_t n = strlen(text_rows[i].in), k = 0; k <= 20 * n; k++) {
            const axe_layout *l, *again;
            char              text[256];
            memcpy(text, text_rows[i].in, n + 1);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if (k <= n)
                text[k] = '\0';
            else
                text[k % n] = bytes[(seed >> 33) % (sizeof bytes - 1)];
            if (axe_layout_read(cx, text, &l) == AXE_OK) {
                assert_int_equal(
                    axe_layout_read(cx, axe_layout_text(cx, l), &again),
                    AXE_OK);
                assert_true(identical(l, again));
            }
            axe_ctx_release(cx, start);
        }
    axe_ctx_free(cx);
}

static bool
constant(void *user, const char *name, int64_t *value)
{
    *value = *(const int64_t *)user;
    return strcmp(name, "BM") == 0;
}

static bool
layout(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "frag") == 0;
}

/* clang-format off */
static const struct {
    const char *in, *want, *rest;
} inside_rows[] = {
    {"(BM, 4) : (4, 1); x", "(128, 4) : (4, 1)", "; x"},
    {"(2*BM) : (BM*K)", "(256) : (128*K)", ""},
    {"(2) : (1) + BM - K + frag", "(2) : (1) + 128 - K", "+ frag"},
    {"(2) : (1) + f(3)", "(2) : (1)", "+ f(3)"},
    {"(2) : (1) + (2) : (1)", "(2) : (1)", "+ (2) : (1)"},
    {"(2) : (1) >< (3) : (1)", "(2) : (1)", ">< (3) : (1)"},
    {"(2) : (1)[0:1]", "(2) : (1)", "[0:1]"},
    {"(2) : (1)  // pair\n + 1 }", "(2) : (1) + 1", "}"},
};
/* clang-format on */

static void
test_inside(void **state)
{
    int64_t         bm = 128;
    axe_literal_env env = {&bm, constant, layout};

    (void)state;
    for (int i = 0; i < AXE_LEN(inside_rows); i++) {
        const axe_layout *l;
        size_t            end;
        axe_buf           b = {NULL, NULL, 0, 0};
        axe_ctx          *cx = open_ctx();
        b.cx = cx;
        axe_putf(&b, "let x = %s", inside_rows[i].in);
        if (axe_layout_read_at(cx, axe_source_add(cx, "t", b.text, b.len),
                               b.text, b.len, 8, &env, &l, &end) != AXE_OK)
            fail_msg("%s: %s", inside_rows[i].in, axe_last_error(cx));
        assert_string_equal(axe_layout_text(cx, l), inside_rows[i].want);
        assert_string_equal(b.text + end, inside_rows[i].rest);
        axe_ctx_free(cx);
    }
}

static void
test_spans(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const char       *text = "layout f =\n  (2) : (1@lan);";
    int32_t           source = axe_source_add(cx, "k.axe", text, strlen(text));
    axe_buf           b = {.cx = cx};
    const axe_layout *l;
    axe_axis          a;
    size_t            end;

    (void)state;
    assert_int_equal(axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &a), AXE_OK);
    assert_int_equal(
        axe_layout_read_at(cx, source, text, strlen(text), 10, NULL, &l, &end),
        AXE_ENAME);
    axe_diags_print(cx, &b, false);
    assert_string_equal(b.text, "k.axe:2:12: error: there is no axis 'lan'\n"
                                "    2 |   (2) : (1@lan);\n"
                                "      |            ^~~\n"
                                "  help: did you mean 'lane'?\n");
    axe_ctx_free(cx);
}

static void
test_axes(void **state)
{
    static const axe_axis_row   axis[] = {{"lane", AXE_KIND_THREAD},
                                          {"warp", AXE_KIND_THREAD},
                                          {"thread", AXE_KIND_THREAD}};
    static const axe_nest_row   nest[] = {{"thread", "warp", "lane", 32}};
    static const axe_alias_row  alias[] = {{"tx", "thread"}};
    static const axe_axis_table table = {"t", 3, 1, axis, nest, 1, alias};
    axe_ctx                    *cx = axe_ctx_new();
    const axe_nest             *fact;
    axe_axis                    a, b;
    char                        name[16];
    int                         n;

    (void)state;
    assert_int_equal(axe_n_axis(cx), 1);
    assert_string_equal(axe_axis_name(cx, 0), "m");
    assert_null(axe_nests(cx, &n));
    assert_int_equal(axe_axes_load(cx, &table), AXE_OK);
    assert_int_equal(axe_axes_load(cx, &table), AXE_OK);
    assert_int_equal(axe_n_axis(cx), 4);
    fact = axe_nests(cx, &n);
    assert_int_equal(n, 1);
    assert_int_equal(fact->factor, 32);
    assert_string_equal(axe_axis_name(cx, fact->outer), "warp");
    assert_int_equal(axe_axis_kind_of(cx, fact->inner), AXE_KIND_THREAD);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "tx", &a), AXE_OK);
    assert_int_equal(a, fact->whole);
    assert_int_equal(axe_n_axis(cx), 4);

    assert_int_equal(axe_axis_declare(cx, "lane", AXE_KIND_REG, &a), AXE_ENAME);
    assert_string_equal(axe_last_error(cx),
                        "axis 'lane' is declared as a register axis, and "
                        "already is a thread axis");
    assert_int_equal(axe_axis_declare(cx, "4x", AXE_KIND_REG, &a), AXE_ENAME);
    assert_int_equal(axe_axis_declare(cx, "", AXE_KIND_REG, &a), AXE_ENAME);
    assert_int_equal(axe_axis_nest(cx, 3, 2, 1, 64), AXE_ENAME);
    assert_string_equal(axe_last_error(cx),
                        "nest: thread = 64 warp + lane, and "
                        "already = 32 warp + lane");
    assert_int_equal(axe_axis_nest(cx, 3, 2, 1, 0), AXE_ESHAPE);
    assert_int_equal(axe_axis_nest(cx, 3, 3, 1, 2), AXE_ESHAPE);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "zz", &a), AXE_ENAME);
    assert_string_equal(axe_last_error(cx), "there is no axis 'zz'");

    axe_axes_open(cx, true);
    for (int k = 0; k < 1000; k++) {
        snprintf(name, sizeof name, "x%d", k);
        assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, name, &a), AXE_OK);
        assert_int_equal(a, 4 + k);
    }
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "x17", &b), AXE_OK);
    assert_int_equal(b, 21);
    assert_int_equal(axe_axis_find(cx, AXE_NOWHERE, "a b", &b), AXE_ENAME);
    axe_ctx_free(cx);
}

static void
test_units(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_unit k, m, km, q;

    (void)state;
    assert_string_equal(axe_unit_text(cx, AXE_UNIT_ONE), "1");
    assert_int_equal(axe_unit_n_factor(cx, AXE_UNIT_ONE), 0);
    m = axe_unit_symbol(cx, "M");
    k = axe_unit_symbol(cx, "K");
    assert_int_not_equal(k, m);
    assert_int_equal(k, axe_unit_symbol(cx, "K"));
    km = axe_unit_mul(cx, m, k);
    assert_int_equal(km, axe_unit_mul(cx, k, m));
    assert_string_equal(axe_unit_text(cx, km), "K*M");
    assert_int_equal(axe_unit_mul(cx, km, AXE_UNIT_ONE), km);
    assert_int_equal(axe_unit_mul(cx, AXE_UNIT_ONE, km), km);
    assert_true(axe_unit_div(cx, km, k, &q));
    assert_int_equal(q, m);
    assert_true(axe_unit_div(cx, km, km, &q));
    assert_int_equal(q, AXE_UNIT_ONE);
    assert_true(axe_unit_div(cx, km, AXE_UNIT_ONE, &q));
    assert_int_equal(q, km);
    assert_false(axe_unit_div(cx, k, km, &q));
    assert_false(axe_unit_div(cx, k, m, &q));
    assert_true(axe_unit_div(cx, axe_unit_mul(cx, k, k), k, &q));
    assert_int_equal(q, k);
    assert_string_equal(axe_unit_factor(cx, axe_unit_mul(cx, km, k), 1), "K");
    axe_ctx_free(cx);
}

static void
test_make(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_iter          it[2] = {{2, 3, 0, 0}, {3, 1, 0, 0}};
    axe_offset        off = {1, 9, 0};
    int               end[3] = {2, 1, 2};
    axe_layout        spec = {.n_shard = 2, .shard = it};
    int64_t           e[] = {3, 4, 5}, s[] = {-20, 0, 7};
    const axe_layout *l = NULL;

    (void)state;
    assert_int_equal(axe_layout_row_major(cx, (axe_shape){3, e}, &l), AXE_OK);
    assert_string_equal(axe_layout_text(cx, l), "(3, 4, 5) : (20, 5, 1)");
    assert_string_equal(axe_layout_text(cx, axe_layout_flat(cx, l)),
                        "((3, 4, 5)) : ((20, 5, 1))");
    assert_int_equal(axe_layout_strided(cx, (axe_shape){3, e}, s, &l), AXE_OK);
    assert_string_equal(axe_layout_text(cx, l), "(3, 4, 5) : (-20, 0, 7)");
    assert_int_equal(axe_layout_row_major(cx, (axe_shape){0, NULL}, &l),
                     AXE_OK);
    assert_string_equal(axe_layout_text(cx, l), "() : ()");
    assert_int_equal(axe_layout_shape(cx, l).n, 1);
    assert_int_equal(axe_layout_shape(cx, l).extent[0], 1);
    e[1] = 0;
    assert_int_equal(axe_layout_row_major(cx, (axe_shape){3, e}, &l),
                     AXE_ESHAPE);
    assert_int_equal(axe_layout_row_major(cx, (axe_shape){-1, e}, &l),
                     AXE_EARG);
    e[0] = e[2] = INT64_MAX / 2;
    e[1] = 3;
    assert_int_equal(axe_layout_row_major(cx, (axe_shape){3, e}, &l),
                     AXE_EOVERFLOW);

    spec.n_dim = 2;
    spec.dim_end = end;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_ESHAPE);
    spec.n_dim = 3;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_ESHAPE);
    spec.n_dim = 2;
    end[0] = 0;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_ESHAPE);
    end[1] = 3;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_ESHAPE);
    end[1] = 2;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_OK);
    assert_string_equal(axe_layout_text(cx, l), "((), (2, 3)) : ((), (3, 1))");
    it[1].axis = 1;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_EARG);
    it[1].axis = 0;
    it[0].unit = -1;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_EARG);
    it[0].unit = 0;
    spec.n_offset = 1;
    spec.offset = &off;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_EARG);
    spec.n_offset = -1;
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_EARG);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_edge),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_inside), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_axes),   cmocka_unit_test(test_units),
        cmocka_unit_test(test_make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
