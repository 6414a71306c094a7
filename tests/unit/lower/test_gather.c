/* test_gather.c - elements at computed places on a Trainium: what rows by
 * indices take, and what is refused, with the way out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "run/program.h"

#define TYPES                                                                  \
    "it has them for f32 bf16 f16 f8e4m3 f8e5m2 i16 i8 u16 u8; as indices of " \
    "rows, which are read in subscripts alone, it has i32 and u32"

/* What is read in "Y[i*64 + m, n] = ..;" of X, and what is said of it; NULL:
 * nothing, it is compiled. */
static const struct {
    const char *args, *value, *error, *help;
} rows[] = {
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m], n]", NULL, NULL},
    {"in f32 X[V, N], in u32 a[M]", "X[3*a[i*64 + m] + m + 5, n]", NULL, NULL},
    {"in f32 X[V, N], in i16 a[M], in i32 b[V]", "X[b[a[i*64 + m]], n]", NULL,
     NULL},
    {"in f32 X[V, M, N], in i32 a[C]", "X[a[i], i*64 + m, n]", NULL, NULL},
    {"in f32 X[V, N], in i32 s", "X[i*64 + m + s, n]", NULL, NULL},
    {"in f32 X[V, N], in i32 a[M], in i32 b[M]",
     "X[a[i*64 + m] + b[i*64 + m], n]",
     "i64(a[i*64 + m]) + i64(b[i*64 + m]): trn1 takes rows by one element of "
     "an array of integers, times a constant from 1, plus what is 0 or more",
     "add the arrays up in one before"},
    {"in f32 X[V, V, N], in i32 a[M], in i32 b[M]",
     "X[a[i*64 + m], b[i*64 + m], n]",
     "X[i64(a[i*64 + m]), i64(b[i*64 + m]), n]: rows are taken by one "
     "subscript, and two are computed",
     "copy by one of them to an array before"},
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m] % 7, n]",
     "i64(a[i*64 + m])%7: trn1 takes rows by one element of an array of "
     "integers, times a constant from 1, plus what is 0 or more",
     "compute the index before, in an array of its own"},
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m] - 1, n]",
     "i64(a[i*64 + m]) - 1: trn1 takes rows by one element of an array of "
     "integers, times a constant from 1, plus what is 0 or more",
     "compute the index before, in an array of its own"},
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m] + 16777215, n]", NULL, NULL},
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m] + 16777216, n]",
     "i64(a[i*64 + m]) + 16777216: what is added is 16777216 or more, and trn1 "
     "computes the sum in f32",
     "add it to the indices before, in their array"},
    {"in f32 X[V, N], in i32 a[M]", "X[V - a[i*64 + m], n]",
     "V - i64(a[i*64 + m]): trn1 takes rows by one element of an array of "
     "integers, times a constant from 1, plus what is 0 or more",
     "compute the index before, in an array of its own"},
    {"in f32 X[V, N], in i32 a[M]", "X[i8(a[i*64 + m]), n]",
     "i64(i8(a[i*64 + m])): trn1 takes rows by one element of an array of "
     "integers, times a constant from 1, plus what is 0 or more",
     "compute the index before, in an array of its own"},
    {"in f32 X[V, N], in f32 a[M]", "X[i64(a[i*64 + m]), n]",
     "i64(a[i*64 + m]): trn1 takes rows by one element of an array of "
     "integers, times a constant from 1, plus what is 0 or more",
     "compute the index before, in an array of its own"},
    {"in f32 X[M, V], in i32 a[N]", "X[i*64 + m, a[n]]",
     "X[i*64 + m, i64(a[n])]: the elements of a partition are no part of a row",
     "loop over one of the indices, or copy the elements to a tile by another "
     "statement"},
    {"in f32 X[V, N], in i32 a[M]", "X[a[i*64 + m], n] * f32(a[i*64 + m])",
     "trn1 has no registers for elements of type i32", TYPES},
    {"in f32 X[V, N], in i64 a[M]", "X[a[i*64 + m], n]",
     "trn1 has no registers for elements of type i64", TYPES},
};

/* The ways out of the first error. */
static const char *
helps(axe_ctx *cx)
{
    const axe_diag *first = axe_diags(cx)->next;
    axe_buf         out = {.cx = cx};

    axe_puts(&out, "");
    for (const axe_diag *d = first; d; d = d->next)
        axe_putf(&out, "%s%s", d == first ? "" : "; ", d->text);
    return out.text;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        axe_compile_spec   spec = {.machine = "trn1"};
        const char        *text = axe_textf(
                   cx,
                   "kernel k<N = 8>(%s, out f32 Y[M, N])\n{\n    index m, n;\n"
                          "    cta (i : M by 64) Y[i*64 + m, n] = %s;\n}\n",
                   rows[i].args, rows[i].value);
        axe_status st =
            axe_compile(cx, axe_source_add(cx, "k", text, strlen(text)), &spec,
                        AXE_STAGE_LOWER, &p);
        if (!rows[i].error && st != AXE_OK)
            fail_msg("%s: %s", rows[i].value, axe_last_error(cx));
        if (rows[i].error) {
            if (st == AXE_OK)
                fail_msg("%s: it is compiled", rows[i].value);
            assert_string_equal(axe_last_error(cx), rows[i].error);
            assert_string_equal(helps(cx), rows[i].help);
        }
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
