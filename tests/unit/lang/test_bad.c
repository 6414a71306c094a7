/* test_bad.c - every wrong program of tests/bad gives exactly the diagnostics
 * that its leading `// expect: ` lines say, in that order; so does every
 * program of tests/warn, which are warnings alone, its plan's included.  Of
 * wrong programs those are planned, for cpu-avx2, or as a line `// for:
 * MACHINE` says, of which there is nothing to say before. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "plan/plan.h"

enum { MAX_TEXT = 1 << 20 };
static const char expect[] = "// expect: ", on[] = "// for: ";

static size_t
read_file(const char *folder, const char *name, char *text)
{
    char   path[4096];
    FILE  *f;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(text, 1, MAX_TEXT - 1, f);
    fclose(f);
    text[n] = '\0';
    return n;
}

/* All diagnostics, one a line: "3:5: error: ...". */
static const char *
all_diags(axe_ctx *cx)
{
    static const char *const severity[] = {"error", "warning", "note", "help"};
    axe_buf                  out = {.cx = cx};

    axe_puts(&out, "");
    for (const axe_diag *d = axe_diags(cx); d; d = d->next) {
        if (d->at.line > 0)
            axe_putf(&out, "%d:%d: ", d->at.line, d->at.col);
        axe_putf(&out, "%s: %s\n", severity[d->severity], d->text);
    }
    return out.text;
}

static const char *
all_expected(axe_ctx *cx, const char *text)
{
    axe_buf out = {.cx = cx};

    axe_puts(&out, "");
    while (strncmp(text, expect, strlen(expect)) == 0) {
        size_t n = strcspn(text, "\n") + 1;
        axe_putn(&out, text + strlen(expect), n - strlen(expect));
        text += n;
    }
    return out.text;
}

static const char *
machine_of(axe_ctx *cx, const char *text)
{
    const char *line = strstr(text, on);

    if (!line)
        return "cpu-avx2";
    line += strlen(on);
    return axe_textf(cx, "%.*s", (int)strcspn(line, "\n"), line);
}

static axe_status
compile(axe_ctx *cx, const char *name, const char *text, size_t len,
        bool always_plan)
{
    const axe_machine *mc;
    const axe_plan    *plan;
    const axe_module  *m;
    const axe_kernel  *k;
    const char        *machine = machine_of(cx, text);
    axe_inst           inst = {.machine =
                         strncmp(machine, "cpu", 3) == 0 ? "cpu" : machine};
    axe_axis           lane;
    int32_t            source = axe_source_add(cx, name, text, len);

    AXE_TRY(axe_axis_declare(cx, "lane", AXE_KIND_THREAD, &lane));
    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(axe_module_instantiate(cx, m, &inst, &k));
    if (!always_plan && axe_diags(cx))
        return AXE_OK;
    AXE_TRY(axe_machine_find(cx, machine, &mc));
    return axe_plan_kernel(cx, k, mc, &plan);
}

static int
check_file(const char *folder, const char *name, bool warn)
{
    static char text[MAX_TEXT];
    axe_ctx    *cx = axe_ctx_new();
    size_t      len = read_file(folder, name, text);
    axe_status  st = compile(cx, name, text, len, warn);
    const char *want = all_expected(cx, text), *got = all_diags(cx);
    int         failed = strcmp(want, got) != 0 || *want == '\0';

    if (failed)
        print_error("%s\n  want:\n%s  got:\n%s", name, want, got);
    if ((st == AXE_OK) != (axe_n_error(cx) == 0)) {
        print_error("%s: status %s, but %d errors\n", name, axe_status_name(st),
                    axe_n_error(cx));
        failed = 1;
    }
    if (warn && axe_n_error(cx) > 0) {
        print_error("%s: has errors\n", name);
        failed = 1;
    }
    axe_ctx_free(cx);
    return failed;
}

static int
check_folder(const char *folder, bool warn)
{
    struct dirent **entry;
    int             n = scandir(folder, &entry, NULL, alphasort);
    int             failed = 0, checked = 0;

    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.') {
            failed += check_file(folder, entry[i]->d_name, warn);
            checked++;
        }
        free(entry[i]);
    }
    free(entry);
    print_message("%d programs of %s\n", checked, folder);
    assert_int_equal(failed, 0);
    return checked;
}

static void
test_bad(void **state)
{
    (void)state;
    assert_true(check_folder(AXE_SOURCE_DIR "/tests/bad", false) >= 120);
}

static void
test_warn(void **state)
{
    (void)state;
    assert_true(check_folder(AXE_SOURCE_DIR "/tests/warn", true) >= 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_warn)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
