/* test_part.c - the ends of rows as parts of a vector: right for every length,
 * and nothing behind the last is read or written: every array ends where
 * memory begins that may not be touched.  So do rows whose elements are taken
 * one by one, from places that may lie outside. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/run.h"
#include "ir/number.h"
#include "machine/machine.h"
#include "plan/plan.h"
#include "run/program.h"

enum { ROWS = 9, MAX_N = 70, MAX_BYTES = 1 << 16, MAX_PARAM = 4 };

#define KERNEL "kernel k<type T = f32>(in T X[M, N], out T Y[M, N]) "
#define TWO "{ index m, n, k; cta (i : M by 2) { "

/* Moves, sums, folds whose unit is not what idle lanes hold, products that
 * read the right factor where it lies and end in a bias. */
static const struct {
    const char *types, *text;
} kernels[] = {
    {"f32 f16 i8", KERNEL TWO "Y[i*2 + m, n] = X[i*2 + m, n]; } }"},
    {"f64 bf16",
     KERNEL TWO "Y[i*2 + m, n] = X[i*2 + m, n] + X[i*2 + m, n]; } }"},
    {"f32 i8",
     KERNEL TWO "reg accum(T) t[2]; t[m] = min[k](accum(T)(X[i*2 + m, k]));"
                " Y[i*2 + m, n] = T(t[m]); } }"},
    {"f32 f64", KERNEL TWO "reg T t[2]; t[m] = sum[k](exp(X[i*2 + m, k]));"
                           " Y[i*2 + m, n] = t[m]; } }"},
    {"f32", "kernel k<type T = f32>(in T A[9, 9], in T X[9, N], in T v[N],"
            " out T Y[9, N]) { index m, n, k; cta (i : 9 by 16, j : N by 48) {"
            " reg T c[16, 48] = 0; shared T a[16, 9]; shared T b[48, 9];"
            " a[m, k] = A[i*16 + m, k]; b[n, k] = X[k, j*48 + n];"
            " c[m, n] += a[m, k] * b[n, k];"
            " Y[i*16 + m, j*48 + n] = c[m, n] + v[j*48 + n]; } }"},
    {"f32 i8", KERNEL TWO "Y[i*2 + m, n] = X[i*2 + m, N - 1 - n]; } }"},
    {"f32 f16", KERNEL TWO "Y[i*2 + m, n] = X[i*2 + m, 2*n - 3]"
                           " + X[i*2 + m, 3 - n]; } }"},
};

/* ----------------------------------------------------------------- arrays */

static char *
fence(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *p = mmap(NULL, MAX_BYTES + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + MAX_BYTES, page, PROT_NONE), 0);
    return p + MAX_BYTES;
}

static axe_type
type_named(const char *name)
{
    axe_type t = 0;

    while (strcmp(axe_type_table[t].name, name) != 0)
        t++;
    return t;
}

/* The array of the parameter, filled, its last element the last before `end`;
 * its shape goes to shape[2]. */
static axe_array
place(char *end, const axe_param *param, int64_t columns, int64_t *shape)
{
    axe_type t = type_named(param->type);
    int      bytes = axe_type_table[t].bits / 8;
    bool     factor = strcmp(param->name, "A") == 0;

    shape[0] = param->rank == 1 ? 1 : ROWS;
    shape[1] = factor ? ROWS : columns;
    char *data = end - shape[0] * shape[1] * bytes;
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        if (axe_type_is_float(t))
            axe_number_put(t, data + i * bytes, (double)((i * 37) % 23) - 7.5);
        else
            axe_number_put_int(t, data + i * bytes, (i * 37) % 23 - 7);
    return (axe_array){.name = param->name,
                       .type = param->type,
                       .rank = param->rank,
                       .shape = shape + (2 - param->rank),
                       .data = data};
}

/* ---------------------------------------------------------------- running */

typedef struct axe_contract_job {
    axe_ctx           *cx;
    axe_device        *device;
    char              *end[MAX_PARAM];
    const axe_program *program;
    axe_exec          *exec;
} axe_contract_job;

static void
must(axe_ctx *cx, axe_status st)
{
    axe_buf said = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &said, false);
    fail_msg("%s", said.text);
}

static void
try_columns(axe_contract_job *j, int64_t columns)
{
    axe_array      array[MAX_PARAM];
    int64_t        shape[MAX_PARAM][2];
    int            n = axe_program_n_param(j->program);
    axe_reference *ref;
    axe_difference diff;

    for (int i = 0; i < n; i++) {
        axe_param p = axe_program_param(j->program, i);
        array[i] = place(j->end[i], &p, columns, shape[i]);
    }
    must(j->cx, axe_reference_new(j->cx, j->device, j->program, n, array, 0,
                                  NULL, &ref));
    must(j->cx, axe_launch(j->cx, j->exec, n, array, 0, NULL));
    must(j->cx, axe_reference_compare(j->cx, ref, &array[n - 1], &diff));
    if (diff.n_wrong > 0)
        fail_msg("%s, %d columns of %s: %d elements wrong",
                 j->program->plan->machine->name, (int)columns, array[0].type,
                 (int)diff.n_wrong);
    axe_reference_free(ref);
}

static void
try_kernel(axe_contract_job *j, const char *text, const char *type,
           const char *on)
{
    axe_mark         m = axe_ctx_mark(j->cx);
    axe_compile_spec spec = {.machine = on,
                             .n_set = 1,
                             .set_name = (const char *[]){"T"},
                             .set_value = &type};

    must(j->cx,
         axe_compile(j->cx,
                     axe_source_add(j->cx, "part.axe", text, strlen(text)),
                     &spec, AXE_STAGE_C, &j->program));
    must(j->cx, axe_exec_new(j->cx, j->device, j->program, &j->exec));
    for (int64_t n = 1; n <= MAX_N; n += n < 34 ? 1 : 7)
        try_columns(j, n);
    axe_exec_free(j->exec);
    axe_ctx_release(j->cx, m);
}

/* All kernels and types on a machine, if its code runs here. */
static void
try_machine(const char *name)
{
    axe_contract_job   j = {.cx = axe_ctx_new()};
    const axe_machine *mc;

    must(j.cx, axe_machine_find(j.cx, name, &mc));
    must(j.cx,
         axe_device_new(j.cx, &(axe_device_spec){.n_thread = 1}, &j.device));
    for (int i = 0; i < MAX_PARAM; i++)
        j.end[i] = fence();
    for (int k = 0; k < AXE_LEN(kernels) && axe_machine_runs_here(mc); k++) {
        char types[32];
        snprintf(types, sizeof types, "%s", kernels[k].types);
        for (char *t = strtok(types, " "); t; t = strtok(NULL, " "))
            try_kernel(&j, kernels[k].text, t, name);
    }
    axe_device_free(j.device);
    axe_ctx_free(j.cx);
}

static void
test_wide(void **state)
{
    (void)state;
    try_machine("cpu-avx512");
}

static void
test_narrow(void **state)
{
    (void)state;
    try_machine("cpu-avx2");
}

/* ----------------------------------------------------------------- plans */

/* Does the plan of the kernel, of elements of the type, have the word? */
static bool
plans(int kernel, const char *type, const char *on, const char *word)
{
    axe_ctx           *cx = axe_ctx_new();
    const char        *text = kernels[kernel].text;
    const axe_program *p;
    axe_buf            out = {.cx = cx};
    axe_compile_spec   spec = {.machine = on,
                               .n_set = 1,
                               .set_name = (const char *[]){"T"},
                               .set_value = &type};

    must(cx, axe_compile(cx, axe_source_add(cx, "p.axe", text, strlen(text)),
                         &spec, AXE_STAGE_LOWER, &p));
    must(cx, axe_program_emit(cx, p, AXE_STAGE_PLAN, &out));
    must(cx, axe_program_emit(cx, p, AXE_STAGE_LOWER, &out));
    bool has = strstr(out.text, word) != NULL;
    axe_ctx_free(cx);
    return has;
}

/* Which elements have such atoms where, and in which loops. */
static void
test_choice(void **state)
{
    (void)state;
    assert_true(plans(0, "f32", "cpu-avx512", "storem"));
    assert_true(plans(0, "f16", "cpu-avx512", "by vloadm"));
    assert_true(plans(0, "f32", "cpu-avx2", "by vmaskld"));
    assert_false(plans(0, "f16", "cpu-avx2", "loadm"));
    assert_false(plans(0, "f32", "cpu-base", "loadm"));
    assert_false(plans(0, "f32", "cpu-neon", "loadm"));
    assert_true(plans(5, "i8", "cpu-avx512", "by vpickm, -1 apart, first"));
    assert_true(plans(6, "f32", "cpu-neon", "by vpick, 2 apart"));
    assert_true(plans(4, "f32", "cpu-avx512", "ends of rows by vloadm"));
    assert_false(plans(4, "f32", "cpu-avx2", "ends of rows by"));
    assert_true(plans(4, "f32", "cpu-avx2", "whole rows of register tiles"));
    assert_false(plans(4, "f32", "cpu-neon", "whole rows of register tiles"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
