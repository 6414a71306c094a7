/* test_base.c - arena and marks, diagnostics, names, text, integers. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/base.h"

static void
test_arena(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    char    *a = axe_alloc(cx, 3), *b = axe_alloc(cx, 300000);

    (void)state;
    for (int i = 0; i < 300000; i++)
        assert_int_equal(b[i], 0);
    assert_int_equal((uintptr_t)a % _Alignof(max_align_t), 0);
    assert_int_equal((uintptr_t)b % _Alignof(max_align_t), 0);
    memset(b, 1, 300000);
    assert_int_equal(a[0] | a[1] | a[2], 0);
    axe_ctx_free(cx);
    axe_ctx_free(NULL);
}

/* A loop of mark, work, release allocates nothing once warm, and gives zeroed
 * memory each time. */
static void
test_marks(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    size_t   warm = 0;
    char    *kept = axe_alloc(cx, 10);

    (void)state;
    memcpy(kept, "stays", 6);
    for (int round = 0; round < 50; round++) {
        axe_mark m = axe_ctx_mark(cx);
        for (int i = 1; i < 40; i++) {
            char *p = axe_alloc(cx, (size_t)i * 5000);
            for (int k = 0; k < i * 5000; k += 997)
                assert_int_equal(p[k], 0);
            memset(p, 7, (size_t)i * 5000);
        }
        axe_ctx_release(cx, m);
        if (round == 1)
            warm = axe_ctx_bytes(cx);
        if (round > 1)
            assert_int_equal(axe_ctx_bytes(cx), warm);
    }
    assert_string_equal(kept, "stays");
    axe_ctx_free(cx);
}

static void
test_marks_drop_diagnostics(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_mark empty = axe_ctx_mark(cx), one;

    (void)state;
    assert_int_equal(axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE, "first %d", 1),
                     AXE_ESHAPE);
    one = axe_ctx_mark(cx);
    axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "second");
    axe_note(cx, AXE_NOWHERE, "why");
    assert_int_equal(axe_n_error(cx), 2);
    assert_string_equal(axe_last_error(cx), "second");
    axe_ctx_release(cx, one);
    assert_int_equal(axe_n_error(cx), 1);
    assert_string_equal(axe_last_error(cx), "first 1");
    assert_null(axe_diags(cx)->next);
    axe_ctx_release(cx, empty);
    assert_int_equal(axe_n_error(cx), 0);
    assert_string_equal(axe_last_error(cx), "");
    assert_null(axe_diags(cx));
    axe_ctx_free(cx);
}

/* clang-format off */
static const struct {
    const char *source;
    axe_span    at; /* source is filled in */
    const char *want;
} carets[] = {
    {"one\ntwo three\n", {0, 2, 5, 5},
     "f.axe:2:5: error: bad\n    2 | two three\n      |     ^~~~~\n"},
    {"\tx = y;", {0, 1, 6, 1},
     "f.axe:1:6: error: bad\n    1 | \tx = y;\n      | \t    ^\n"},
    {"abc", {0, 1, 2, 99},
     "f.axe:1:2: error: bad\n    1 | abc\n      |  ^~\n"},
    {"abc", {0, 9, 1, 1}, "f.axe:9:1: error: bad\n"},
    {"", {0, 1, 1, 1}, "f.axe:1:1: error: bad\n"},
    {"a\x1b[31mb", {0, 1, 1, 1},
     "f.axe:1:1: error: bad\n    1 | a.[31mb\n      | ^\n"},
    {"abc", {0, 0, 0, 0}, "at f.axe: error: bad\n"},
    {"abc", {0, 0, 7, 0}, "at f.axe 7: error: bad\n"},
};
/* clang-format on */

static void
test_carets(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(carets); i++) {
        axe_ctx *cx = axe_ctx_new();
        axe_buf  out = {.cx = cx};
        axe_span at = carets[i].at;
        at.source = axe_source_add(cx, "f.axe", carets[i].source,
                                   strlen(carets[i].source));
        axe_fail(cx, at, AXE_ESYNTAX, "bad");
        axe_diags_print(cx, &out, false);
        assert_string_equal(out.text, carets[i].want);
        axe_ctx_free(cx);
    }
}

static void
test_list_of_diagnostics(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  plain = {.cx = cx}, color = {.cx = cx}, errors = {.cx = cx};

    (void)state;
    axe_fail(cx, AXE_NOWHERE, AXE_ETYPE, "a");
    axe_note(cx, AXE_NOWHERE, "b");
    axe_help(cx, "c");
    axe_warn(cx, AXE_NOWHERE, "d");
    axe_diags_print(cx, &plain, false);
    assert_string_equal(plain.text,
                        "error: a\n  note: b\n  help: c\nwarning: d\n");
    axe_diags_print(cx, &color, true);
    assert_non_null(strstr(color.text, "\033[1;31merror:\033[0m a"));
    assert_int_equal(axe_n_error(cx), 1);
    assert_int_equal(axe_diags(cx)->code, AXE_ETYPE);
    axe_help(cx, "of d");
    axe_fail(cx, AXE_NOWHERE, AXE_ETYPE, "e");
    axe_errors_print(cx, &errors);
    assert_string_equal(errors.text,
                        "error: a\n  note: b\n  help: c\nerror: e\n");
    axe_ctx_free(cx);
}

/* A line of any length prints in bounded space. */
static void
test_long_line(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  out = {.cx = cx};
    char    *line = axe_alloc(cx, 100001);
    int32_t  src;

    (void)state;
    memset(line, 'x', 100000);
    src = axe_source_add(cx, "f.axe", line, 100000);
    axe_fail(cx, (axe_span){src, 1, 3, 1}, AXE_ESYNTAX, "bad");
    axe_fail(cx, (axe_span){src, 1, 90000, 1}, AXE_ESYNTAX, "far");
    axe_diags_print(cx, &out, false);
    assert_true(out.len < 600);
    axe_ctx_free(cx);
}

static void
test_names(void **state)
{
    static const char *const names[] = {"canon",   "group", "tile",
                                        "tile_of", NULL,    "warp"};
    axe_ctx                 *cx = axe_ctx_new();
    const char              *a = axe_intern(cx, "alpha", 5);

    (void)state;
    for (int i = 0; i < 2000; i++) {
        char text[16];
        int  n = snprintf(text, sizeof text, "n%d", i);
        assert_string_equal(axe_intern(cx, text, (size_t)n), text);
    }
    assert_ptr_equal(a, axe_intern(cx, "alphabet", 5));
    assert_ptr_equal(axe_intern(cx, "", 0), axe_intern(cx, "x", 0));
    assert_string_equal(axe_nearest("tlie", AXE_LEN(names), names), "tile");
    assert_string_equal(axe_nearest("cannon", AXE_LEN(names), names), "canon");
    assert_string_equal(axe_nearest("wrap", AXE_LEN(names), names), "warp");
    assert_null(axe_nearest("lane", 2, names));
    assert_null(axe_nearest("N", 3, (const char *const[]){"M", "NM", NULL}));
    assert_null(axe_nearest("1", 2, (const char *const[]){"q", "Q"}));
    assert_string_equal(axe_nearest("m", 2, (const char *const[]){"n", "M"}),
                        "M");
    assert_null(axe_nearest("entirely_different", AXE_LEN(names), names));
    assert_null(axe_nearest("a_name_that_is_longer_than_any_name_may_be",
                            AXE_LEN(names), names));
    axe_ctx_free(cx);
}

static void
test_text(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_buf  b = {.cx = cx};

    (void)state;
    for (int i = 0; i < 1000; i++)
        axe_putf(&b, "%d,", i % 10);
    axe_putn(&b, "xyz", 2);
    axe_puts(&b, "!");
    axe_putc(&b, '?');
    assert_int_equal(b.len, 2004);
    assert_string_equal(b.text + 1994, "7,8,9,xy!?");
    assert_string_equal(axe_textf(cx, "%s-%d", "a", 7), "a-7");
    assert_string_equal(axe_status_name(AXE_ESHAPE), "ESHAPE");
    assert_string_equal(axe_status_name((axe_status)-1), "?");
    assert_string_equal(axe_status_text(AXE_OK), "success");
    axe_ctx_free(cx);
}

static void
test_integers(void **state)
{
    int64_t r;

    (void)state;
    assert_true(axe_add(INT64_MAX, 0, &r) && r == INT64_MAX);
    assert_false(axe_add(INT64_MAX, 1, &r));
    assert_false(axe_add(INT64_MIN, -1, &r));
    assert_true(axe_mul(INT64_MIN, 1, &r) && r == INT64_MIN);
    assert_false(axe_mul(INT64_MIN, -1, &r));
    assert_false(axe_mul(INT64_C(1) << 32, INT64_C(1) << 31, &r));
    assert_true(axe_mul(-(INT64_C(1) << 32), INT64_C(1) << 31, &r) &&
                r == INT64_MIN);
    assert_int_equal(axe_gcd(12, -18), 6);
    assert_int_equal(axe_gcd(0, 0), 0);
    assert_int_equal(axe_gcd(0, 5), 5);
    assert_int_equal(axe_gcd(INT64_MIN, 0), INT64_MAX);
    assert_int_equal(axe_gcd(INT64_MIN, 6), 2);
}

static jmp_buf no_memory;
static size_t  wanted;

static void
out_of_memory(void *user, size_t n_bytes)
{
    assert_string_equal(user, "me");
    wanted = n_bytes;
    longjmp(no_memory, 1);
}

static void
test_out_of_memory(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    axe_ctx_on_oom(cx, out_of_memory, "me");
    if (setjmp(no_memory) == 0) {
        axe_alloc(cx, SIZE_MAX - 100);
        fail_msg("an impossible amount was given");
    }
    assert_int_equal(wanted, SIZE_MAX - 100);
    axe_ctx_free(cx);
}

/* Texts of each length, into buffers with each number of bytes in them: nothing
 * is cut off where the room ends. */
static void
test_formats(void **state)
{
    enum { MOST = 600 };
    char     all[MOST + 1];
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < MOST; i++)
        all[i] = (char)('a' + i % 26);
    all[MOST] = '\0';
    for (int n = 0; n <= MOST; n++) {
        axe_mark m = axe_ctx_mark(cx);
        axe_buf  b = {.cx = cx};

        assert_string_equal(axe_textf(cx, "%s", all + MOST - n),
                            all + MOST - n);
        axe_putf(&b, "%.*s", n, all);
        axe_putf(&b, "%s", all + n);
        assert_int_equal(b.len, MOST);
        assert_string_equal(b.text, all);
        axe_ctx_release(cx, m);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_marks_drop_diagnostics),
        cmocka_unit_test(test_carets),
        cmocka_unit_test(test_list_of_diagnostics),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
