/* test_pages.c - the blocks of docs/language.md and docs/ir.md are what they
 * are said to be, and docs/ir.md has an example of every statement. */
#include "machine/machine.h"
#include "texts.h"

/* Which statements the IR's examples have. */
static bool seen_stmt[AXE_N_STMT];

static void
note_stmts(int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        seen_stmt[body[i]->kind] = true;
        note_stmts(body[i]->n_body, body[i]->body);
        note_stmts(body[i]->n_other, body[i]->other);
    }
}

/* Text of the IR, or why it is refused. */
static void
check_ir(axe_ctx *cx, const char *kind, const char *text)
{
    int32_t           source = axe_source_add(cx, "ir", text, strlen(text));
    const axe_kernel *k;
    axe_buf           out = {.cx = cx};
    bool              ok = axe_kernel_read(cx, source, &k) == AXE_OK;

    if (strcmp(kind, "ir-error") == 0) {
        check_text(text, "refused", ok ? "accepted" : "refused");
        return;
    }
    if (ok) {
        axe_kernel_print(cx, &out, k);
        note_stmts(k->n_body, k->body);
    }
    check_text(text, text, ok ? out.text : axe_last_error(cx));
}

static void
check_block(const char *kind, const char *text)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_inst           inst = {.machine = "cpu"};
    const axe_machine *mc; /* the context knows axes by it */
    const axe_kernel  *k = NULL;
    const char        *want, *got;

    assert_int_equal(axe_machine_find(cx, "cpu", &mc), AXE_OK);
    if (strncmp(kind, "ir", 2) == 0) {
        check_ir(cx, kind, text);
    } else if (strncmp(kind, "axe", 3) == 0) {
        k = compile(cx, text, &inst);
        want = strcmp(kind, "axe") == 0 ? "accepted" : "refused";
        got = k ? "accepted" : "refused";
        if (k)
            round_trip(cx, k);
        check_text(axe_textf(cx, "%s%s", text, axe_last_error(cx)), want, got);
    }
    if (k && axe_diags(cx))
        check_text(text, "no warning", axe_diags(cx)->text);
    axe_ctx_free(cx);
}

static int
check_page(const char *name)
{
    axe_ctx *cx = axe_ctx_new();
    char    *s = read_whole(cx, name), *kind, *end;
    int      n = 0;

    while ((s = strstr(s, "\n```")) != NULL) {
        kind = s + 4;
        s = strchr(kind, '\n') + 1;
        end = strstr(s, "```");
        assert_non_null(end);
        s[-1] = *end = '\0';
        if (*kind) {
            check_block(kind, s);
            n++;
        }
        s = end + 2;
    }
    axe_ctx_free(cx);
    return n;
}

static void
test_pages(void **state)
{
    (void)state;
    failed = 0;
    memset(seen_stmt, 0, sizeof seen_stmt);
    assert_true(check_page("docs/language.md") >= 10);
    assert_true(check_page("docs/ir.md") >= 9);
    for (int i = 0; i < AXE_N_STMT; i++)
        if (!seen_stmt[i]) {
            print_error("docs/ir.md has no example of statement kind %d "
                        "(axe_stmt_kind in ir/ir.h)\n",
                        i);
            failed++;
        }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
