/* test_convert.c - texts of other systems to layouts and back, by table: a row
 * for each form that a format has, and one for each way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/convert.h"

/* clang-format off */
static const struct row {
    const char *from, *to, *options; /* "keep=index shape=16,8 bits=32" */
    const char *in, *out;            /* "=..." is the text; else "CODE message" */
} rows[] = {
#include "rows.def"
};
/* clang-format on */

static axe_shape
shape_of(axe_ctx *cx, const char *s)
{
    int64_t *e = axe_new_array(cx, int64_t, 64);
    char    *end;
    int      n = 0;

    do {
        e[n++] = strtoll(s, &end, 10);
        s = end + 1;
    } while (*end == ',');
    return (axe_shape){n, e};
}

static axe_convert_options
options_of(axe_ctx *cx, const char *text)
{
    axe_convert_options o = {0};

    while (*text) {
        size_t      n = strcspn(text, " ");
        const char *word = axe_textf(cx, "%.*s", (int)n, text);
        const char *value = strchr(word, '=') + 1;

        if (strncmp(word, "keep=", 5) == 0)
            o.keep = *value == 'i' ? AXE_KEEP_INDEX : AXE_KEEP_COORDINATES;
        else if (strncmp(word, "shape=", 6) == 0)
            o.shape = shape_of(cx, value);
        else if (strncmp(word, "mesh=", 5) == 0)
            o.mesh = value;
        else if (strncmp(word, "axes=", 5) == 0)
            o.axes = value;
        else
            o.bits = (int)strtol(value, NULL, 10);
        text += n + (text[n] == ' ');
    }
    return o;
}

static axe_status
declare_axes(axe_ctx *cx)
{
    axe_axis a;

    AXE_TRY(axe_axis_declare(cx, "gpuid", AXE_KIND_DEVICE, &a));
    return axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &a);
}

static axe_status
convert(axe_ctx *cx, const struct row *r, const char **out)
{
    axe_convert_options all = options_of(cx, r->options);
    axe_convert_options from = axe_convert_taken(&all, r->from);
    axe_convert_options to = axe_convert_taken(&all, r->to);
    const axe_layout   *l;

    AXE_TRY(declare_axes(cx));
    AXE_TRY(axe_convert_read(cx, r->from, r->in, &from, &l));
    return axe_convert_write(cx, r->to, l, &to, out);
}

static void
test_rows(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *out = NULL, *got;
        axe_status  s = convert(cx, &rows[i], &out);

        got = s == AXE_OK ? axe_textf(cx, "=%s", out)
                          : axe_textf(cx, "%s %s", axe_status_name(s),
                                      axe_last_error(cx));
        if (strcmp(got, rows[i].out) != 0) {
            printf("row %d: %s to %s: %s\n    wanted %s\n    got    %s\n", i,
                   rows[i].from, rows[i].to, rows[i].in, rows[i].out, got);
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* What was written reads back as an equal layout. */
static void
test_back(void **state)
{
    int failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx            *cx = axe_ctx_new();
        axe_convert_options all = options_of(cx, rows[i].options), from, to;
        const axe_layout   *l, *back;
        const char         *text;
        bool                same = false;
        axe_status          st;

        from = axe_convert_taken(&all, rows[i].from);
        to = axe_convert_taken(&all, rows[i].to);
        if (rows[i].out[0] != '=') {
            axe_ctx_free(cx);
            continue;
        }
        assert_int_equal(declare_axes(cx), AXE_OK);
        assert_int_equal(
            axe_convert_read(cx, rows[i].from, rows[i].in, &from, &l), AXE_OK);
        assert_int_equal(axe_convert_write(cx, rows[i].to, l, &to, &text),
                         AXE_OK);
        axe_axes_open(cx, true);
        st = axe_convert_read(cx, rows[i].to, text, &to, &back);
        if (st == AXE_OK)
            st = axe_layout_equal(cx, l, back, &same);
        /* swizzles of bytes and of elements are not compared */
        if (st != AXE_EUNSUPPORTED && (st != AXE_OK || !same)) {
            printf("row %d: %s does not come back: %s\n", i, text,
                   axe_last_error(cx));
            failed++;
        }
        axe_ctx_free(cx);
    }
    assert_int_equal(failed, 0);
}

/* Every prefix of every text is read, or refused with words. */
static void
test_prefixes(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++)
        for (size_t n = 0; n <= strlen(rows[i].in); n++) {
            axe_ctx            *cx = axe_ctx_new();
            axe_convert_options all = options_of(cx, rows[i].options);
            axe_convert_options from = axe_convert_taken(&all, rows[i].from);
            const axe_layout   *l = NULL;
            axe_status          s = axe_convert_read(
                         cx, rows[i].from, axe_textf(cx, "%.*s", (int)n, rows[i].in),
                         &from, &l);

            assert_true(s == AXE_OK ? l != NULL : axe_n_error(cx) > 0);
            axe_ctx_free(cx);
        }
}

static void
test_arguments(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;
    const char       *text;

    (void)state;
    assert_int_equal(axe_convert_read(cx, NULL, "", NULL, &l), AXE_EARG);
    assert_int_equal(axe_convert_read(cx, "cute", NULL, NULL, &l), AXE_EARG);
    assert_int_equal(axe_convert_read(cx, "cute", "1:1", NULL, NULL), AXE_EARG);
    assert_int_equal(axe_convert_write(cx, "cute", NULL, NULL, &text),
                     AXE_EARG);
    assert_int_equal(axe_convert_read(cx, "cue", "1:1", NULL, &l), AXE_ENAME);
    assert_string_equal(axe_last_error(cx),
                        "there is no format 'cue'; did you mean 'cute'?");
    axe_ctx_free(cx);
}

/* So many names of layouts before the last one. */
static axe_status
with_aliases(axe_ctx *cx, int n, const axe_layout **l)
{
    axe_buf b = {.cx = cx};

    for (int i = 0; i < n; i++)
        axe_putf(&b, "#a%d = #ttg.linear<{lane = [[1]]}>\n", i);
    return axe_convert_read(cx, "triton", b.text, NULL, l);
}

static void
test_aliases(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    const axe_layout *l;

    (void)state;
    assert_int_equal(with_aliases(cx, 32, &l), AXE_OK);
    assert_int_equal(with_aliases(cx, 33, &l), AXE_ELIMIT);
    assert_string_equal(axe_last_error(cx), "triton: over 32 names of layouts");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_back),      cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
