/* test_passes.c - after each pass of planning the kernels of the library are
 * well formed, and their text reads back. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "planned.h"

#include "plan/passes.h"

static const char *const machines[] = {"cpu-avx2", "sm_80", "sm_90a",
                                       "sm_100a"};

/* The file's text without `target`, so that it is for all. */
static const char *
read_text(axe_ctx *cx, const char *path)
{
    FILE   *f = fopen(path, "r");
    axe_buf out = {.cx = cx};
    char    line[4096];

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line + strspn(line, " "), "target ", 7) != 0)
            axe_puts(&out, line);
    fclose(f);
    return out.text;
}

static void
failed(axe_ctx *cx, const char *what, const char *pass, const char *machine,
       const axe_buf *text)
{
    axe_buf said = {.cx = cx};

    axe_diags_print(cx, &said, false);
    fail_msg("after %s for %s the kernel %s:\n%s%s", pass, machine, what,
             said.len > 0 ? said.text : "", text->text);
}

static void
check_pass(axe_ctx *cx, const axe_kernel *after, const axe_machine *mc,
           const char *pass)
{
    axe_buf           once = {.cx = cx}, twice = {.cx = cx};
    const axe_kernel *again;

    axe_kernel_print(cx, &once, after);
    if (axe_kernel_verify(cx, after) != AXE_OK)
        failed(cx, "is malformed", pass, mc->name, &once);
    if (axe_kernel_read(cx, axe_source_add(cx, "ir", once.text, once.len),
                        &again) != AXE_OK)
        failed(cx, "does not read back", pass, mc->name, &once);
    axe_kernel_print(cx, &twice, again);
    assert_string_equal(once.text, twice.text);
}

/* Returns how many passes were looked at. */
static int
check_kernel(const char *text, int number, const char *machine)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_module  *m;
    const axe_machine *mc;
    const axe_kernel  *k, *after;
    int                n = 0;

    assert_int_equal(axe_machine_find(cx, machine, &mc), AXE_OK);
    assert_int_equal(
        axe_module_parse(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                         &m),
        AXE_OK);
    axe_inst inst = {.kernel = axe_module_kernel_name(m, number),
                     .machine = mc->family};
    assert_int_equal(axe_module_instantiate(cx, m, &inst, &k), AXE_OK);
    for (const axe_pass *p; (p = axe_pass_at(n)) != NULL; n++) {
        axe_mark   mark = axe_ctx_mark(cx);
        axe_status st = axe_plan_until(cx, k, mc, p->name, &after);
        if (st == AXE_OK)
            check_pass(cx, after, mc, p->name);
        else if (st != AXE_EARG && !p->again)
            failed(cx, "is refused", p->name, mc->name, &(axe_buf){.text = ""});
        axe_ctx_release(cx, mark);
    }
    axe_ctx_free(cx);
    return n;
}

static void
library(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    DIR           *dir = opendir(AXE_SOURCE_DIR "/kernels");
    struct dirent *e;
    int            n = 0;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir)) != NULL) {
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".axe") != 0)
            continue;
        const char *text = read_text(
            cx, axe_textf(cx, AXE_SOURCE_DIR "/kernels/%s", e->d_name));
        const axe_module *m;
        assert_int_equal(
            axe_module_parse(
                cx, axe_source_add(cx, e->d_name, text, strlen(text)), &m),
            AXE_OK);
        for (int k = 0; k < axe_module_n_kernel(m); k++)
            for (int i = 0; i < AXE_LEN(machines); i++)
                n += check_kernel(text, k, machines[i]);
    }
    closedir(dir);
    assert_true(n > 1000);
    axe_ctx_free(cx);
}

/* Without the name of a pass that the machine has, nothing is shown. */
static void
names(void **state)
{
    static const struct {
        const char *machine, *pass, *said;
    } row[] = {
        {"cpu-avx2", "keep",
         "planning for cpu-avx2 has no pass 'keep'; it has raise, interleave, "
         "reflect, sum_loops, few_rows"},
        {"sm_80", "hold_sums",
         "planning for sm_80 has no pass 'hold_sums'; it has raise, alone, "
         "unloop, unbatch, prefix, unnest, keep, staging"},
        {"sm_90a", "interleave",
         "planning for sm_90a has no pass 'interleave'; it has raise, unloop, "
         "unbatch, prefix, unnest, keep, staging"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_buf            said = {.cx = cx};
        const axe_machine *mc;
        const axe_kernel  *k;
        assert_int_equal(axe_machine_find(cx, row[i].machine, &mc), AXE_OK);
        assert_int_equal(
            kernel_of(cx,
                      "kernel k(in f32 X[M], out f32 Y[M]) { index m; "
                      "cta (i : 1) Y[m] = X[m]; }",
                      mc, &k),
            AXE_OK);
        assert_int_equal(axe_plan_until(cx, k, mc, row[i].pass, &k), AXE_EARG);
        axe_diags_print(cx, &said, false);
        assert_non_null(strstr(said.text, row[i].said));
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
