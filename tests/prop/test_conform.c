/* test_conform.c - every kernel on every machine against the reference.
 *
 * A row is a kernel, its settings and sizes; each runs for all CPU rows that
 * this host can execute (narrower vectors run on wider hosts, so AVX2 and base
 * plans are executed too), on one and on three workers, and every element must
 * lie within the reference's rounding bound.  Arrays lie at pages that cannot
 * be read or written, so that a kernel that leaves one dies.  Half of the rows
 * run on the devices of OpenCL that are installed, too, one and one of its
 * widths by turns; all that it does not refuse, on the simulated Trainium.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../unit/share.h"
#include "axe/opencl.h"
#include "axe/sim.h"
#include "conform.h"
#include "conform_trn.h"

enum { MAX_ARRAY = 5, MAX_RANK = 4 };

/* Blank the `tune` lines: tiles here are odder than any that a tuner tries. */
static void
open_domains(char *s)
{
    while ((s = strstr(s, "\n    tune ")))
        while (*++s && *s != '\n')
            *s = ' ';
}

static char *
read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *s = calloc(1, 1 << 16);

    assert_non_null(f);
    *len = fread(s, 1, (1 << 16) - 1, f);
    fclose(f);
    open_domains(s);
    return s;
}

/* The same numbers for the same seed, in [-1, 1]. */
static double
next(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*state >> 11) / (double)(INT64_C(1) << 52) - 1;
}

static uint16_t
half_of(double x, bool brain)
{
    float    f = (float)x;
    uint32_t b;

    memcpy(&b, &f, sizeof b);
    if (brain)
        return (uint16_t)(b >> 16);
    int e = (int)(b >> 23 & 255) - 112;
    if (e <= 0)
        return 0;
    return (uint16_t)((b >> 16 & 0x8000) | (uint32_t)e << 10 |
                      (b >> 13 & 0x3ff));
}

static size_t
element_bytes(const char *type)
{
    return strcmp(type, "f64") == 0                                ? 8
           : strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0 ? 2
           : strcmp(type, "i8") == 0                               ? 1
                                                                   : 4;
}

static void
fill(void *data, const char *type, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        double x = next(&seed);
        if (strcmp(type, "f64") == 0)
            ((double *)data)[i] = x;
        else if (strcmp(type, "f32") == 0)
            ((float *)data)[i] = (float)x;
        else if (strcmp(type, "i8") == 0)
            ((signed char *)data)[i] = (signed char)(x * 4);
        else
            ((uint16_t *)data)[i] = half_of(x, *type == 'b');
    }
}

static void
check(axe_ctx *cx, axe_status st, const char *what)
{
    axe_buf out = {.cx = cx};

    if (st == AXE_OK)
        return;
    axe_diags_print(cx, &out, false);
    fail_msg("%s: %s", what, out.text);
}

/* Memory for an array between two pages that nobody may touch: it ends where
 * the second begins, or begins where the first ends. */
typedef struct fence {
    char  *pages;
    size_t n_page, page;
    void  *data;
} fence;

static fence
fence_new(size_t bytes, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fence  f = {.page = page, .n_page = (bytes + page - 1) / page + 2};

    f.pages = mmap(NULL, f.n_page * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.pages != MAP_FAILED);
    char *last = f.pages + (f.n_page - 1) * page;
    assert_int_equal(mprotect(f.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(last, page, PROT_NONE), 0);
    f.data = at_end ? last - bytes : f.pages + page;
    return f;
}

static void
fence_free(fence f)
{
    munmap(f.pages, f.n_page * f.page);
}

static void
make_arrays(const axe_program *p, const axe_shape *shape, bool at_end,
            axe_array *a, fence *f)
{
    for (int i = 0; i < axe_program_n_param(p); i++) {
        axe_param pa = axe_program_param(p, i);
        int64_t   n = 1;
        for (int d = 0; d < pa.rank; d++)
            n *= shape[i].extent[d];
        f[i] = fence_new((size_t)n * element_bytes(pa.type), at_end);
        fill(f[i].data, pa.type, n, (uint64_t)i + 1);
        a[i] = (axe_array){.name = pa.name,
                           .type = pa.type,
                           .rank = pa.rank,
                           .shape = shape[i].extent,
                           .data = f[i].data};
    }
}

typedef struct job {
    const row         *row;
    const char        *machine;
    const axe_program *program;
    axe_shape          shape[MAX_ARRAY];
    axe_size           size[6];
    int                n_size;
    axe_reference     *ref; /* NULL before the first launch */
} job;

/* Are all elements that were written what they should be? */
static void
compare(axe_ctx *cx, const job *j, const axe_array *a, const char *what)
{
    for (int i = 0; i < axe_program_n_param(j->program); i++) {
        axe_difference d;
        if (!(axe_program_param(j->program, i).access & AXE_WRITES))
            continue;
        check(cx, axe_reference_compare(cx, j->ref, &a[i], &d), what);
        if (d.n_wrong > 0)
            fail_msg("%s: %lld of %lld elements of %s are wrong; element %lld "
                     "is %g, should be %g within %g",
                     what, (long long)d.n_wrong, (long long)d.n, a[i].name,
                     (long long)d.worst, d.got, d.want, d.bound);
        assert_int_equal(d.n_unbound, 0);
    }
}

/* One launch by so many workers; the first makes the reference. */
static void
launch(axe_ctx *cx, job *j, int n_thread)
{
    const axe_program *p = j->program;
    int                n = axe_program_n_param(p);
    axe_array          a[MAX_ARRAY];
    fence              f[MAX_ARRAY];
    axe_device        *dev;
    axe_exec          *ex;
    char               what[128];

    snprintf(what, sizeof what, "%s on %s, %d workers", j->row->what,
             j->machine, n_thread);
    make_arrays(p, j->shape, n_thread == 1, a, f);
    check(cx,
          axe_device_new(cx, &(axe_device_spec){.n_thread = n_thread}, &dev),
          what);
    check(cx, axe_exec_new(cx, dev, p, &ex), what);
    if (!j->ref)
        check(cx,
              axe_reference_new(cx, dev, p, n, a, j->n_size, j->size, &j->ref),
              what);
    check(cx, axe_launch(cx, ex, n, a, j->n_size, j->size), what);
    compare(cx, j, a, what);
    for (int i = 0; i < n; i++)
        fence_free(f[i]);
    axe_exec_free(ex);
    axe_device_free(dev);
}

/* One on a device of OpenCL.  False: groups of this kernel are too large for
 * it, as without the optimiser they may be. */
static bool
launch_on_opencl(axe_ctx *cx, job *j, int number)
{
    const axe_program *p = j->program;
    int                n = axe_program_n_param(p);
    axe_array          a[MAX_ARRAY];
    fence              f[MAX_ARRAY];
    axe_device        *dev;
    axe_opencl        *cl;
    axe_opencl_exec   *ex;
    axe_status         st;
    char               what[128];

    snprintf(what, sizeof what, "%s on %s, device %d", j->row->what, j->machine,
             number);
    make_arrays(p, j->shape, number == 1, a, f);
    check(cx, axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev),
          what);
    check(cx, axe_opencl_new(cx, &(axe_opencl_spec){.number = number}, &cl),
          what);
    check(cx, axe_opencl_exec_new(cx, cl, p, &ex), what);
    check(cx, axe_reference_new(cx, dev, p, n, a, j->n_size, j->size, &j->ref),
          what);
    st = axe_opencl_run(cx, ex, n, a, j->n_size, j->size, NULL);
    if (st != AXE_EUNSUPPORTED) {
        check(cx, st, what);
        compare(cx, j, a, what);
    }
    for (int i = 0; i < n; i++)
        fence_free(f[i]);
    axe_opencl_exec_free(ex);
    axe_opencl_free(cl);
    axe_device_free(dev);
    return st == AXE_OK;
}

/* The row's program and sizes; a status of its compilation. */
static axe_status
make_job(axe_ctx *cx, const row *r, const axe_opencl_facts *device, job *j)
{
    const char      *name[5], *value[5];
    axe_compile_spec spec = {.machine = j->machine, .device = device};
    size_t           len = r->text ? strlen(r->text) : 0;
    char            *text = NULL, path[512];
    axe_status       st;

    if (r->file) {
        snprintf(path, sizeof path, "%s/kernels/%s", AXE_SOURCE_DIR, r->file);
        text = read_file(path, &len);
    }
    for (; spec.n_set < AXE_LEN(name) && r->set[spec.n_set]; spec.n_set++) {
        char *s = axe_textf(cx, "%s", r->set[spec.n_set]), *eq = strchr(s, '=');
        *eq = '\0';
        name[spec.n_set] = s;
        value[spec.n_set] = eq + 1;
    }
    spec.set_name = name;
    spec.set_value = value;
    for (int i = 0; i < AXE_LEN(j->size) && r->size[i].name; i++)
        j->size[j->n_size++] = (axe_size){r->size[i].name, r->size[i].value};
    int32_t src = axe_source_add(cx, r->what, text ? text : r->text, len);
    st = axe_compile(cx, src, &spec, AXE_STAGE_C, &j->program);
    free(text);
    if (st == AXE_OK)
        check(cx,
              axe_program_shapes(cx, j->program, 0, NULL, j->n_size, j->size,
                                 j->shape),
              r->what);
    return st;
}

static void
run_row(const row *r, const char *machine, int n, const int *n_thread)
{
    axe_ctx *cx = axe_ctx_new();
    job      j = {.row = r, .machine = machine};

    check(cx, make_job(cx, r, NULL, &j), r->what);
    for (int i = 0; i < n; i++)
        launch(cx, &j, n_thread[i]);
    axe_reference_free(j.ref);
    axe_ctx_free(cx);
}

static void
each_row(const char *machine, int step, int n, const int *n_thread)
{
    for (int i = 0; i < AXE_LEN(rows); i += step * share())
        run_row(&rows[i], machine, n, n_thread);
}

static void
test_host(void **state)
{
    (void)state;
    each_row("cpu", 1, 2, (const int[]){1, 3});
}

static void
test_avx2_plans(void **state)
{
    (void)state;
    each_row("cpu-avx2", 3, 1, (const int[]){1});
}

static void
test_base_plans(void **state)
{
    (void)state;
    each_row("cpu-base", 4, 1, (const int[]){2});
}

/* ------------------------------------------------------------------- OpenCL */

/* A device, and a machine whose programs it runs. */
typedef struct place {
    int         device;
    const char *machine;
} place;

static int
find_places(axe_ctx *cx, place *out, int most)
{
    static const char *const machine[] = {"opencl", "opencl-sg8", "opencl-sg16",
                                          "opencl-sg32", "opencl-sg64"};
    const axe_opencl_facts  *all;
    int                      n_device = 0, n = 0;

    if (axe_opencl_list(cx, &n_device, &all) != AXE_OK)
        return 0;
    for (int i = 0; i < n_device; i++)
        for (int k = 0; k < AXE_LEN(machine) && n < most; k++)
            if (axe_opencl_choose(cx, machine[k], i, &all) == AXE_OK)
                out[n++] = (place){i, machine[k]};
    return n;
}

/* Does the row run?  False: it is no kernel for this machine. */
static bool
row_runs_at(const row *r, const place *at)
{
    axe_ctx                *cx = axe_ctx_new();
    job                     j = {.row = r, .machine = at->machine};
    const axe_opencl_facts *facts;
    bool                    ran = false;

    check(cx, axe_opencl_choose(cx, at->machine, at->device, &facts), r->what);
    axe_status st = make_job(cx, r, facts, &j);
    if (st == AXE_OK)
        ran = launch_on_opencl(cx, &j, at->device);
    else if (st != AXE_EUNSUPPORTED && st != AXE_ESHAPE) /* text of 32 lanes */
        check(cx, st, r->what);
    axe_reference_free(j.ref);
    axe_ctx_free(cx);
    return ran;
}

static void
test_opencl(void **state)
{
    static const char own[] = AXE_SOURCE_DIR "/build/opencl/vendors";
    axe_ctx          *cx = axe_ctx_new();
    place             at[16];
    int               n = 0, n_row = 0, n_ran = 0;

    (void)state;
    if (access(own, R_OK) == 0)
        setenv("OCL_ICD_VENDORS", own, 0);
    setenv("AXE_OPENCL_OPTIONS", "-cl-opt-disable", 1);
    if (share() == 1) /* to a sanitizer, what runtimes keep is a leak */
        n = find_places(cx, at, AXE_LEN(at));
    for (int i = 0; n > 0 && i < AXE_LEN(rows); i += 2) {
        n_ran += row_runs_at(&rows[i], &at[n_row % n]);
        n_row++;
    }
    printf("%d of %d rows ran at %d places\n", n_ran, n_row, n);
    assert_true(n_ran * 10 >= n_row * 8);
    axe_ctx_free(cx);
    if (n == 0)
        skip();
}

/* ----------------------------------------------------------------- Trainium */

/* What is said where the row is refused; NULL: it must run. */
static const char *
refusal_of(const row *r)
{
    for (int i = 0; i < AXE_LEN(refused); i++)
        if (strcmp(refused[i].what, r->what) == 0)
            return refused[i].said;
    return NULL;
}

static axe_status
simulate(axe_ctx *cx, job *j)
{
    const axe_program *p = j->program;
    int                n = axe_program_n_param(p);
    axe_array          a[MAX_ARRAY];
    fence              f[MAX_ARRAY];
    axe_device        *dev;
    axe_sim_report     report;
    const char        *what = axe_textf(cx, "%s on trn1", j->row->what);

    make_arrays(p, j->shape, true, a, f);
    check(cx, axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev),
          what);
    check(cx, axe_reference_new(cx, dev, p, n, a, j->n_size, j->size, &j->ref),
          what);
    axe_status st = axe_program_simulate(cx, p, n, a, j->n_size, j->size,
                                         &(axe_sim_options){0}, &report);
    if (st == AXE_OK)
        compare(cx, j, a, what);
    for (int i = 0; i < n; i++)
        fence_free(f[i]);
    axe_device_free(dev);
    return st;
}

static void
test_trainium(void **state)
{
    int n_refused = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i += share()) {
        axe_ctx    *cx = axe_ctx_new();
        job         j = {.row = &rows[i], .machine = "trn1"};
        const char *no = refusal_of(&rows[i]);
        axe_status  st = make_job(cx, &rows[i], NULL, &j);
        if (st == AXE_OK)
            st = simulate(cx, &j);
        if (!no)
            check(cx, st, rows[i].what);
        else if (st == AXE_OK || !strstr(axe_last_error(cx), no))
            fail_msg("%s is refused as '%s', and not as '%s'", rows[i].what,
                     st == AXE_OK ? "" : axe_last_error(cx), no);
        n_refused += st != AXE_OK;
        axe_reference_free(j.ref);
        axe_ctx_free(cx);
    }
    if (share() == 1)
        assert_int_equal(n_refused, AXE_LEN(refused));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),       cmocka_unit_test(test_avx2_plans),
        cmocka_unit_test(test_base_plans), cmocka_unit_test(test_opencl),
        cmocka_unit_test(test_trainium),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
