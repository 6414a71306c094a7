/* tables.h - tests of the layout algebra as rows of text: an operation, its
 * operands, and the text of the result or of the error. */
#ifndef TABLES_H
#define TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/layout.h"

/* sa, sb: shapes "2 3"; of a slice sb is the region "0:2 1:3".  A want that
 * begins with "E" is a status name, then the text of the error, then " | " and
 * the help if there is one. */
typedef struct row {
    const char *a, *sa, *b, *sb, *want;
} row;

typedef struct args {
    axe_ctx          *cx;
    const axe_layout *a, *b;
    axe_shape         sa, sb;
    int64_t           end[64];
} args;

typedef axe_status row_fn(args *t, const axe_layout **out);

static inline axe_shape
read_numbers(axe_ctx *cx, const char *s)
{
    int64_t *e = axe_new_array(cx, int64_t, 64);
    int      n = 0;

    while (s && *s) {
        char *end;
        e[n++] = strtoll(s, &end, 10);
        assert_true(end != s && n < 64);
        s = end + strspn(end, ": ");
    }
    return (axe_shape){n, e};
}

static inline const axe_layout *
must_read(axe_ctx *cx, const char *text)
{
    const axe_layout *l;

    if (axe_layout_read(cx, text, &l) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(cx));
    return l;
}

static inline const char *
error_text(axe_ctx *cx, axe_status st)
{
    axe_buf         b = {.cx = cx};
    const axe_diag *d = axe_diags(cx);

    assert_non_null(d);
    assert_int_equal(d->code, st);
    axe_putf(&b, "%s %s", axe_status_name(st), d->text);
    for (d = d->next; d; d = d->next)
        axe_putf(&b, " | %s", d->text);
    return b.text;
}

static inline bool
check_row(const row *r, const char *name, row_fn *fn)
{
    args              t = {.cx = axe_ctx_new()};
    const axe_layout *untouched = (const axe_layout *)(const void *)r;
    const axe_layout *out = untouched;
    axe_status        st;
    const char       *got;
    bool              same;

    assert_non_null(t.cx);
    axe_axes_open(t.cx, true);
    t.a = must_read(t.cx, r->a);
    t.b = r->b ? must_read(t.cx, r->b) : NULL;
    t.sa = read_numbers(t.cx, r->sa);
    t.sb = read_numbers(t.cx, r->sb);
    st = fn(&t, &out);
    got = st == AXE_OK ? axe_layout_text(t.cx, out) : error_text(t.cx, st);
    same = strcmp(got, r->want) == 0;
    if (!same)
        print_error("%s %s (%s) %s (%s)\n  want %s\n  got  %s\n", name, r->a,
                    r->sa ? r->sa : "", r->b ? r->b : "", r->sb ? r->sb : "",
                    r->want, got);
    if (st != AXE_OK)
        assert_ptr_equal(out, untouched);
    axe_ctx_free(t.cx);
    return same;
}

#define CHECK_ROWS(rows, fn)                                                   \
    do {                                                                       \
        int wrong_ = 0;                                                        \
        for (int k_ = 0; k_ < AXE_LEN(rows); k_++)                             \
            wrong_ += !check_row(&(rows)[k_], #fn, fn);                        \
        assert_int_equal(wrong_, 0);                                           \
    } while (0)

#endif
