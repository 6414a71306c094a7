/* test_convert_ops.c - operations on foreign layouts, by table: what the files
 * of vectors have no row for, and each way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/convert.h"
#include "axe/eval.h"

/* clang-format off */
static const struct row {
    const char *op, *in, *out; /* "=..." is the result; else "CODE message" */
} rows[] = {
#include "ops_rows.def"
};
/* clang-format on */

static void
test_rows(void **state)
{
    axe_eval_options opt = {.more = axe_convert_ops()};
    axe_eval        *ev = axe_eval_new(&opt);
    int              failed = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *line = axe_textf(cx, "{\"id\":1,\"op\":\"%s\",\"in\":%s}",
                                     rows[i].op, rows[i].in);
        const char *reply = axe_eval_line(ev, line, strlen(line)), *want;

        if (rows[i].out[0] == '=')
            want = axe_textf(cx, "{\"id\":1,\"out\":%s}", rows[i].out + 1);
        else
            want = axe_textf(cx,
                             "{\"id\":1,\"error\":{\"code\":\"%.*s\","
                             "\"message\":\"%s",
                             (int)strcspn(rows[i].out, " "), rows[i].out,
                             strchr(rows[i].out, ' ') + 1);
        if (strncmp(reply, want, strlen(want)) != 0) {
            printf("row %d: %s %s\n    wanted %s\n    got    %s\n", i,
                   rows[i].op, rows[i].in, want, reply);
            failed++;
        }
        axe_ctx_free(cx);
    }
    axe_eval_free(ev);
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
