/* test_json.c - the JSON reader and writer, by tables: what is read is written
 * back, what is not JSON is refused with its column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* clang-format off */
static const struct row {
    const char *in;
    const char *out;   /* written back; NULL: refused ... */
    const char *error; /* ... with this */
} rows[] = {
    {"null",                       "null",  NULL},
    {" true ",                     "true",  NULL},
    {"false\n",                    "false", NULL},
    {"0",                          "0",     NULL},
    {"-1",                         "-1",    NULL},
    {"9223372036854775807",        "9223372036854775807",  NULL},
    {"-9223372036854775808",       "-9223372036854775808", NULL},
    {"9223372036854775808",        "9223372036854775808",  NULL},
    {"1.50",                       "1.50",  NULL},
    {"-1e+5",                      "-1e+5", NULL},
    {"[]",                         "[]",    NULL},
    {"{}",                         "{}",    NULL},
    {"[1, [2, {}], \"x\"]",        "[1,[2,{}],\"x\"]", NULL},
    {"{\"b\":1, \"a\" : [ ] }",    "{\"b\":1,\"a\":[]}", NULL},
    {"{\"a\":1,\"ab\":2,\"b\":3}", "{\"a\":1,\"ab\":2,\"b\":3}", NULL},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"", NULL},
    {"\"\\u0041\\u00e9\\u20AC\"",  "\"A\xc3\xa9\xe2\x82\xac\"", NULL},
    {"\"\\ud83d\\ude00\"",         "\"\xf0\x9f\x98\x80\"", NULL},
    {"\"\\u0001\\u001f\"",         "\"\\u0001\\u001f\"", NULL},
    {"\"\\u0000\"",                "\"\\u0000\"", NULL},
    {"",           NULL, "column 1: expected a value"},
    {"  ",         NULL, "column 3: expected a value"},
    {"nul",        NULL, "column 1: expected a value"},
    {"nullx",      NULL, "column 5: expected the end"},
    {"1 2",        NULL, "column 3: expected the end"},
    {"01",         NULL, "column 2: expected the end"},
    {"+1",         NULL, "column 1: expected a value"},
    {"-",          NULL, "column 1: not a number"},
    {"1.",         NULL, "column 1: not a number"},
    {"1e",         NULL, "column 1: not a number"},
    {"[1",         NULL, "column 3: expected ',' or ']'"},
    {"[1,]",       NULL, "column 4: expected a value"},
    {"[1 2]",      NULL, "column 4: expected ',' or ']'"},
    {"{1:2}",      NULL, "column 2: expected a key in quotes"},
    {"{\"a\" 2}",  NULL, "column 6: expected ':'"},
    {"{\"a\":2",   NULL, "column 7: expected ',' or '}'"},
    {"{\"a\":1,\"b\":2,\"a\":3}", NULL,
     "column 18: the key \"a\" is there twice"},
    {"\"abc",      NULL, "column 1: the text is not closed"},
    {"\"abc\\",    NULL, "column 6: the text is not closed"},
    {"\"\\x\"",    NULL, "column 2: unknown escape"},
    {"\"\\u12g4\"", NULL, "column 2: \\u needs four hexadecimal digits"},
    {"\"\\u12",    NULL, "column 2: \\u needs four hexadecimal digits"},
    {"\"\\ud83d\"", NULL, "column 2: half of a surrogate pair"},
    {"\"\\ud83d\\u0041\"", NULL, "column 2: half of a surrogate pair"},
    {"\"\\ude00\\ude00\"", NULL, "column 2: half of a surrogate pair"},
    {"\"\\ude00\"", NULL, "column 2: half of a surrogate pair"},
    {"\"a\nb\"",   NULL, "column 3: a control character in a text"},
    {"\"\xff\"",   NULL, "column 2: a byte that is not UTF-8"},
    {"\"\xc0\x80\"", NULL, "column 2: a byte that is not UTF-8"},
    {"\"\xe0\x80\x80\"", NULL, "column 2: a byte that is not UTF-8"},
    {"\"\xed\xa0\x80\"", NULL, "column 2: a byte that is not UTF-8"},
    {"\"\xf4\x90\x80\x80\"", NULL, "column 2: a byte that is not UTF-8"},
    {"\"\xe2\x82\"", NULL, "column 2: a byte that is not UTF-8"},
};
/* clang-format on */

static void
check(const char *in, size_t len, const char *out, const char *error)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_json *v = NULL;
    axe_buf         b = {.cx = cx};

    if (axe_json_read(cx, in, len, &v) != AXE_OK) {
        assert_null(v);
        assert_non_null(error);
        assert_string_equal(axe_last_error(cx), error);
    } else {
        axe_json_put(&b, v);
        assert_null(error);
        assert_string_equal(b.text, out);
    }
    axe_ctx_free(cx);
}

static void
test_table(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        print_message("%s\n", rows[i].in);
        check(rows[i].in, strlen(rows[i].in), rows[i].out, rows[i].error);
    }
}

static void
test_nul_is_a_byte(void **state)
{
    (void)state;
    check("1\0", 2, NULL, "column 2: expected the end");
    check("\"\0\"", 3, NULL, "column 2: a control character in a text");
    check("[1,2]x", 5, "[1,2]", NULL);
}

static void
test_depth(void **state)
{
    char text[2 * AXE_JSON_DEPTH + 3];
    int  n = AXE_JSON_DEPTH;

    (void)state;
    memset(text, '[', (size_t)n);
    memset(text + n, ']', (size_t)n);
    text[2 * n] = 0;
    check(text, (size_t)(2 * n), text, NULL);
    memset(text, '[', (size_t)n + 1);
    check(text, (size_t)n + 1, NULL, "column 65: nested deeper than 64");
}

static void
test_get(void **state)
{
    static const char text[] = "{\"ab\":1,\"a\":2,\"a\\u0000\":3}";
    axe_ctx          *cx = axe_ctx_new();
    const axe_json   *v = NULL;

    (void)state;
    assert_int_equal(axe_json_read(cx, text, sizeof text - 1, &v), AXE_OK);
    assert_int_equal(axe_json_get(v, "a")->integer, 2);
    assert_int_equal(axe_json_get(v, "a")->col, 13);
    assert_int_equal(axe_json_get(v, "ab")->integer, 1);
    assert_null(axe_json_get(v, "b"));
    assert_null(axe_json_get(axe_json_get(v, "a"), "a"));
    assert_null(axe_json_get(NULL, "a"));
    axe_ctx_free(cx);
}

/* What is written is always UTF-8, whatever the bytes. */
static void
test_put_any_bytes(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    const axe_json *v = NULL;
    axe_buf         b = {.cx = cx};
    char            all[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    axe_json_put_text(&b, all, sizeof all);
    assert_int_equal(axe_json_read(cx, b.text, b.len, &v), AXE_OK);
    assert_int_equal(v->len, 128 + 128 * 3);
    assert_memory_equal(v->text, all, 128);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_depth),
        cmocka_unit_test(test_nul_is_a_byte), cmocka_unit_test(test_get),
        cmocka_unit_test(test_put_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
