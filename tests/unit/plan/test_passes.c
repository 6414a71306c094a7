/* test_passes.c - after each pass of planning the kernels of the library are
 * well formed, and their text reads back; plans are shown as far as they are
 * made, and after the last pass as a whole. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "planned.h"

#include "plan/passes.h"

static int n_staged; /* kernels, by machine, with tiles that were asked for */

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
check_text(axe_ctx *cx, const axe_kernel *after, const axe_machine *mc,
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

/* A pass, and the status of the one before.  What cannot be planned is refused
 * by one pass and from then on, and no kernel's passes refuse any. */
static axe_status
check_pass(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
           const axe_pass *pass, axe_status before, axe_buf *plan_text)
{
    const axe_kernel *after;
    const axe_plan   *plan;
    axe_status        st = axe_plan_until(cx, k, mc, pass->name, &after, &plan);

    assert_true(axe_pass_is_for(pass, mc) ? st != AXE_EARG : st == AXE_EARG);
    if (st == AXE_EARG)
        return before;
    if (st != AXE_OK && pass->kind == AXE_PASS_KERNEL)
        failed(cx, "is refused", pass->name, mc->name, &(axe_buf){.text = ""});
    if (pass->kind == AXE_PASS_AGAIN)
        n_staged += st == AXE_OK && after->n_tensor > k->n_tensor;
    else
        assert_true(before == AXE_OK || st == before);
    if (st != AXE_OK)
        return pass->kind == AXE_PASS_AGAIN ? before : st;
    check_text(cx, after, mc, pass->name);
    assert_true((plan != NULL) == (pass->kind == AXE_PASS_PLAN));
    plan_text->len = 0;
    if (plan)
        axe_plan_print(cx, plan_text, plan, NULL);
    return st;
}

/* After all passes, the plan. */
static void
check_whole(axe_ctx *cx, const axe_kernel *k, const axe_machine *mc,
            axe_status last, const axe_buf *shown)
{
    axe_buf         text = {.cx = cx};
    const axe_plan *plan;

    assert_int_equal(axe_plan_kernel(cx, k, mc, &plan), last);
    if (last != AXE_OK)
        return;
    axe_plan_print(cx, &text, plan, NULL);
    assert_string_equal(shown->text, text.text);
}

/* Of the passes over plans, which take all planning so far, one in some; those
 * that end a machine's list if `last`. */
static bool
is_in_turn(const axe_pass *p, int i, bool last)
{
    const axe_pass *next = axe_pass_at(i + 1);
    static int      turn;

    if (p->kind == AXE_PASS_PLAN && (!next || next->machines != p->machines))
        return last;
    return p->kind != AXE_PASS_PLAN || turn++ % 19 == 0;
}

/* Returns how many passes were looked at. */
static int
check_kernel(const char *text, int number, const char *machine)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_module  *m;
    const axe_machine *mc;
    const axe_kernel  *k;
    axe_status         st = AXE_OK;
    axe_buf            shown = {.cx = cx};
    int                n = 0;
    static int         turn;
    bool               whole = turn++ % 3 == 0;

    assert_int_equal(axe_machine_find(cx, machine, &mc), AXE_OK);
    assert_int_equal(
        axe_module_parse(cx, axe_source_add(cx, "k.axe", text, strlen(text)),
                         &m),
        AXE_OK);
    axe_inst inst = {.kernel = axe_module_kernel_name(m, number),
                     .machine = mc->family};
    assert_int_equal(axe_module_instantiate(cx, m, &inst, &k), AXE_OK);
    for (const axe_pass *p; (p = axe_pass_at(n)) != NULL; n++)
        if (is_in_turn(p, n, whole))
            st = check_pass(cx, k, mc, p, st, &shown);
    if (whole)
        check_whole(cx, k, mc, st, &shown);
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
    assert_true(n > 1000 && n_staged >= 12);
    axe_ctx_free(cx);
}

/* Entities that keep parts, of two tensors; that take turns, some or all. */
static void
ordered(void **state)
{
    static const char *const body[] = {
        "cta deterministic (i : M by 16, j : N by 64) {"
        " Y[j*64 + n] += X[i*16 + m, j*64 + n];"
        " Z[i*16 + m] += X[i*16 + m, j*64 + n]; }",
        "cta deterministic (i : M by 16, j : N by 64, h : 2)"
        " Z[i*16 + m] *= X[i*16 + m, j*64 + n];",
        "cta deterministic (i : M by 16, j : N by 64)"
        " Y[row[j*64 + n]] += X[i*16 + m, j*64 + n];",
        "cta deterministic (i : M by 16, j : N by 64)"
        " for (t : 2) Z[i*16 + m] += X[i*16 + m, j*64 + n];",
        "for (t : M) cta deterministic (i : M by 16) Y[n] += X[i*16 + m, n];",
    };
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int b = 0; b < AXE_LEN(body); b++)
        for (int i = 0; i < AXE_LEN(machines); i++)
            check_kernel(axe_textf(cx,
                                   "kernel k(in f32 X[M, N], in i32 row[N],"
                                   " inout f32 Y[N], inout f32 Z[M])"
                                   "{ index m, n; %s }",
                                   body[b]),
                         0, machines[i]);
    axe_ctx_free(cx);
}

/* What a pass over plans needs an earlier one has made, on each machine, and
 * what it makes none has yet; all that plans have is made. */
static void
order(void **state)
{
    (void)state;
    for (int i = 0; i < axe_n_machine(); i++) {
        const axe_pass *p;
        unsigned        made = 0;
        axe_pass_kind   kind = AXE_PASS_KERNEL;
        for (int n = 0; (p = axe_pass_at(n)) != NULL; n++) {
            assert_true(p->kind >= kind);
            kind = p->kind;
            if (!axe_pass_is_for(p, axe_machine_at(i)))
                continue;
            if ((p->needs & ~made) != 0 || (p->makes & made) != 0)
                fail_msg("%s for %s", p->name, axe_machine_at(i)->name);
            made |= p->makes;
        }
        assert_int_equal(made, 31);
    }
}

/* Without the name of a pass that the machine has, nothing is shown. */
static void
names(void **state)
{
    static const struct {
        const char *machine, *pass, *said;
    } row[] = {
        {"cpu-avx2", "keep",
         "planning for cpu-avx2 has no pass 'keep'; it has raise, ordered, "
         "interleave, "
         "reflect, sum_loops, few_rows, counters, scopes, rings, declared, "
         "steps, waits, layouts, memory, schedules, dead, multiples, split, "
         "merge, views, open\n"},
        {"sm_80", "hold_sums",
         "planning for sm_80 has no pass 'hold_sums'; it has raise, "
         "ordered, one_launch, alone, unloop, unbatch, prefix, unnest, "
         "fold_loops, "
         "keep, staging, teams, "
         "groups, tied, roles, "
         "written, products, registers, shared, atoms, parts, zeros, "
         "lifetimes, "
         "hazards, asked, protocols, queues, overlap, columns, rooms, "
         "drains, order\n"},
        {"sm_90a", "interleave",
         "planning for sm_90a has no pass 'interleave'; it has raise, "
         "ordered, one_launch, unloop, unbatch, prefix, unnest, fold_loops, "
         "keep, "
         "staging, teams, "
         "groups, tied, roles, "
         "written, products, registers, shared, atoms, parts, zeros, "
         "lifetimes, "
         "hazards, asked, protocols, queues, overlap, columns, rooms, "
         "drains, order\n"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_buf            said = {.cx = cx};
        const axe_machine *mc;
        const axe_kernel  *k;
        const axe_plan    *plan;
        assert_int_equal(axe_machine_find(cx, row[i].machine, &mc), AXE_OK);
        assert_int_equal(
            kernel_of(cx,
                      "kernel k(in f32 X[M], out f32 Y[M]) { index m; "
                      "cta (i : 1) Y[m] = X[m]; }",
                      mc, &k),
            AXE_OK);
        assert_int_equal(axe_plan_until(cx, k, mc, row[i].pass, &k, &plan),
                         AXE_EARG);
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
        cmocka_unit_test(ordered),
        cmocka_unit_test(names),
        cmocka_unit_test(order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
