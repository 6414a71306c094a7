/* test_tune.c - records of tuned values, the search, and their use: nearest
 * classes, damaged and read-only databases, processes at once, a full disk,
 * interruption; and what the cost model must know. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/tune.h"
#include "plan/cost/cost.h"
#include "run/array/file.h"
#include "run/program.h"
#include "run/tune/records.h"

static char root[] = "/tmp/axe_tune_XXXXXX";

static axe_record_key
key_of(int64_t m, int64_t n, axe_size size[2])
{
    size[0] = (axe_size){"N", n};
    size[1] = (axe_size){"M", m};
    return (axe_record_key){"cpu", "digest", "k", "T=f32", 1, 2, size};
}

static axe_status
put(axe_ctx *cx, const char *path, int64_t m, int64_t n, const char *bindings,
    double seconds)
{
    axe_size       size[2];
    axe_record_key key = key_of(m, n, size);
    axe_record     rec = {.bindings = bindings, .seconds = seconds};
    axe_records   *r;
    axe_status     st;

    AXE_TRY(axe_records_open(cx, path, true, &r));
    st = axe_records_put(cx, r, &key, &rec);
    axe_records_close(r);
    return st;
}

/* The bindings found, "none", or the error. */
static const char *
find(axe_ctx *cx, const char *path, int64_t m, int64_t n)
{
    axe_size       size[2];
    axe_record_key key = key_of(m, n, size);
    axe_record     rec;
    axe_records   *r;
    bool           found;

    if (axe_records_open(cx, path, false, &r) != AXE_OK)
        return axe_last_error(cx);
    axe_status st = axe_records_best(cx, r, &key, &rec, &found);
    axe_records_close(r);
    if (st != AXE_OK)
        return axe_last_error(cx);
    return found ? rec.bindings : "none";
}

static void
test_class(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_size s[] = {{"N", 700}, {"M", 1},         {"K", 0},
                    {"B", 768}, {"A", INT64_MAX}, {"C", -5}};

    (void)state;
    assert_string_equal(axe_records_class(cx, AXE_LEN(s), s),
                        "A=4611686018427387904 B=1024 C=1 K=1 M=1 N=512");
    assert_string_equal(axe_records_class(cx, 0, NULL), "");
    axe_ctx_free(cx);
}

/* Nearest by the sum of logarithms, each size within a factor of four. */
static void
test_nearest(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *db = axe_textf(cx, "%s/near/er/t.db", root);

    (void)state;
    assert_int_equal(put(cx, db, 512, 512, "BM=1", 2), AXE_OK);
    assert_int_equal(put(cx, db, 4096, 512, "BM=2", 2), AXE_OK);
    assert_string_equal(find(cx, db, 512, 512), "BM=1");
    assert_string_equal(find(cx, db, 600, 400), "BM=1");
    assert_string_equal(find(cx, db, 1000, 512), "BM=1");
    assert_string_equal(find(cx, db, 2048, 512), "BM=2");
    assert_string_equal(find(cx, db, 16384, 2048), "BM=2");
    assert_string_equal(find(cx, db, 32768, 512), "none");
    assert_string_equal(find(cx, db, 512, 64), "none");
    axe_ctx_free(cx);
}

/* The faster of one class stays; the same values may become slower. */
static void
test_faster_stays(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *db = axe_textf(cx, "%s/faster.db", root);

    (void)state;
    assert_int_equal(put(cx, db, 64, 64, "BM=1", 2), AXE_OK);
    assert_int_equal(put(cx, db, 64, 64, "BM=2", 3), AXE_OK);
    assert_string_equal(find(cx, db, 64, 64), "BM=1");
    assert_int_equal(put(cx, db, 64, 64, "BM=1", 4), AXE_OK);
    assert_int_equal(put(cx, db, 64, 64, "BM=2", 3), AXE_OK);
    assert_string_equal(find(cx, db, 64, 64), "BM=2");
    axe_ctx_free(cx);
}

static void
test_damaged(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *db = axe_textf(cx, "%s/damaged.db", root);
    char        text[4096];

    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(axe_file_write(cx, db, 0600, text, sizeof text), AXE_OK);
    assert_non_null(strstr(find(cx, db, 64, 64), "file is not a database"));
    assert_int_equal(put(cx, db, 64, 64, "BM=1", 2), AXE_EIO);
    assert_non_null(strstr(axe_last_error(cx), "file is not a database"));
    assert_non_null(strstr(find(cx, root, 64, 64), "records of tuned values"));
    assert_non_null(strstr(find(cx, axe_textf(cx, "%s/none.db", root), 64, 64),
                           "unable to open"));
    axe_ctx_free(cx);
}

/* Root writes everywhere, so the disk is full instead: no file may grow. */
static void
test_full(void **state)
{
    axe_ctx      *cx = axe_ctx_new();
    const char   *db = axe_textf(cx, "%s/full.db", root);
    struct rlimit none = {0, 0};
    int           status;
    pid_t         pid;

    (void)state;
    assert_int_equal(put(cx, db, 64, 64, "BM=1", 2), AXE_OK);
    pid = fork();
    if (pid == 0) {
        getrlimit(RLIMIT_FSIZE, &none);
        none.rlim_cur = 512;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &none);
        bool told = put(cx, db, 128, 64, "BM=2", 1) == AXE_EIO &&
                    strstr(axe_last_error(cx), "cannot be written");
        _exit(told ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(find(cx, db, 64, 64), "BM=1");
    axe_ctx_free(cx);
}

enum { N_PROCESS = 6, N_PUT = 5 };

/* Each process writes classes of its own into one file; all of them arrive. */
static void
test_processes(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *db = axe_textf(cx, "%s/many.db", root);
    int         status, sum = 0;

    (void)state;
    for (int i = 0; i < N_PROCESS; i++)
        if (fork() == 0) {
            axe_ctx *mine = axe_ctx_new();
            int      bad = 0;
            for (int k = 0; k < N_PUT; k++)
                bad += put(mine, db, INT64_C(1) << 4 * i, INT64_C(1) << 4 * k,
                           axe_textf(mine, "BM=%d", 100 * i + k), 1) != AXE_OK;
            _exit(bad);
        }
    for (int i = 0; i < N_PROCESS; i++) {
        wait(&status);
        sum += status;
    }
    assert_int_equal(sum, 0);
    for (int i = 0; i < N_PROCESS; i++)
        for (int k = 0; k < N_PUT; k++)
            assert_string_equal(
                find(cx, db, INT64_C(1) << 4 * i, INT64_C(1) << 4 * k),
                axe_textf(cx, "BM=%d", 100 * i + k));
    axe_ctx_free(cx);
}

/* ------------------------------------------------------------------ search */

static const char scale[] =
    "kernel scale<B = 64, W = 1>(in f32 X[M], out f32 Y[M])\n"
    "    tune B in {16, 64, 256}\n"
    "    tune W in {1, 2}\n"
    "{ index m; cta (i : M by B) Y[i*B + m] = X[i*B + m] * W; }\n";

typedef struct fixture {
    axe_ctx    *cx;
    axe_device *device;
    int32_t     source;
    float       x[2048], y[2048];
    int64_t     shape[1];
    axe_array   array[2];
    const char *db;
} fixture;

static fixture *
open_fixture(const char *db)
{
    static fixture f;

    f = (fixture){.cx = axe_ctx_new(), .shape = {2048}};
    assert_int_equal(
        axe_device_new(f.cx, &(axe_device_spec){.n_thread = 1}, &f.device),
        AXE_OK);
    f.source = axe_source_add(f.cx, "scale.axe", scale, strlen(scale));
    f.array[0] = (axe_array){"X", "f32", 1, f.shape, NULL, f.x};
    f.array[1] = (axe_array){"Y", "f32", 1, f.shape, NULL, f.y};
    f.db = axe_textf(f.cx, "%s/%s", root, db);
    return &f;
}

static void
close_fixture(fixture *f)
{
    axe_device_free(f->device);
    axe_ctx_free(f->cx);
}

static axe_tune_result
tune(fixture *f, axe_tune_spec spec)
{
    axe_tune_result r;

    spec.budget_s = 20;
    spec.records = f->db;
    assert_int_equal(
        axe_tune(f->cx, f->device, f->source, &spec, 2, f->array, 0, NULL, &r),
        AXE_OK);
    return r;
}

/* What axe_compile_for makes of B, and of where it says that came from. */
static int64_t
b_of(fixture *f, axe_compile_spec spec, const char **why)
{
    const axe_program *p;

    spec.records = f->db;
    spec.n_worker = spec.n_worker ? spec.n_worker : 1;
    assert_int_equal(axe_compile_for(f->cx, f->source, &spec, 2, f->array,
                                     AXE_STAGE_PLAN, &p),
                     AXE_OK);
    *why = axe_program_tuned(p);
    for (int i = 0; i < p->kernel->n_binding; i++)
        if (strcmp(p->kernel->binding[i].name, "B") == 0)
            return p->kernel->binding[i].value;
    return -1;
}

static void
test_search(void **state)
{
    fixture        *f = open_fixture("search.db");
    axe_tune_result r = tune(f, (axe_tune_spec){0});
    const char     *why;

    (void)state;
    assert_int_equal(r.n_param, 2);
    assert_int_equal(r.n_try, 6);
    assert_int_equal(r.n_refused, 0);
    assert_true(r.n_timed > 0 && r.n_timed <= 6);
    assert_string_equal(r.sizes, "M=2048");
    assert_string_equal(r.records, f->db);
    assert_true(r.standard >= 0 && r.standard < r.n_timed);
    assert_string_equal(r.each[r.standard].value[0], "64");
    for (int i = 1; i < r.n_timed; i++)
        assert_true(r.each[i - 1].time_s <= r.each[i].time_s);
    assert_true(r.each[0].time_s > 0 && r.each[0].estimate_s > 0);
    assert_int_equal(b_of(f, (axe_compile_spec){0}, &why),
                     atoi(r.each[0].value[0]));
    assert_non_null(strstr(why, "tuned on"));
    close_fixture(f);
}

/* Values that the caller sets are not varied, and records of one variant are
 * not those of another. */
static void
test_variant(void **state)
{
    static const char *const name[] = {"W"}, *const two[] = {"2"};
    fixture         *f = open_fixture("variant.db");
    axe_compile_spec w = {.n_set = 1, .set_name = name, .set_value = two};
    axe_tune_result  r = tune(f, (axe_tune_spec){.compile = w});
    const char      *why;

    (void)state;
    assert_int_equal(r.n_param, 1);
    assert_int_equal(r.n_try, 3);
    b_of(f, w, &why);
    assert_non_null(why);
    assert_int_equal(b_of(f, (axe_compile_spec){0}, &why), 64);
    assert_null(why);
    w.no_tuned = true;
    assert_int_equal(b_of(f, w, &why), 64);
    assert_null(why);
    w.no_tuned = false;
    w.n_worker = 2;
    assert_int_equal(b_of(f, w, &why), 64);
    assert_null(why);
    close_fixture(f);
}

/* Of one set of values that one is the kernel's own. */
static void
test_standard(void **state)
{
    static const char one[] =
        "kernel k<B = 64>(in f32 X[M], out f32 Y[M])\n"
        "    tune B in {64}\n"
        "{ index m; cta (i : M by B) Y[i*B + m] = X[i*B + m]; }\n";
    fixture        *f = open_fixture("standard.db");
    axe_tune_result r;

    (void)state;
    f->source = axe_source_add(f->cx, "one.axe", one, strlen(one));
    r = tune(f, (axe_tune_spec){0});
    assert_int_equal(r.n_try, 1);
    assert_int_equal(r.standard, 0);
    close_fixture(f);
}

/* No number of threads means all. */
static void
test_all_threads(void **state)
{
    fixture         *f = open_fixture("threads.db");
    axe_compile_spec w = {.records = f->db};
    axe_tune_result  r;

    (void)state;
    axe_device_free(f->device);
    assert_int_equal(axe_device_new(f->cx, &(axe_device_spec){0}, &f->device),
                     AXE_OK);
    r = tune(f, (axe_tune_spec){0});
    const axe_program *p;
    assert_int_equal(r.n_try, 6);
    assert_int_equal(
        axe_compile_for(f->cx, f->source, &w, 2, f->array, AXE_STAGE_PLAN, &p),
        AXE_OK);
    assert_non_null(axe_program_tuned(p));
    close_fixture(f);
}

static bool
stop_at_once(void *user)
{
    return ++*(int *)user > 2;
}

static void
test_stop(void **state)
{
    int             asked = 0;
    fixture        *f = open_fixture("stop.db");
    axe_tune_result r =
        tune(f, (axe_tune_spec){.stop = stop_at_once, .user = &asked});

    (void)state;
    assert_true(r.stopped);
    assert_true(r.n_try > 0 && r.n_try < 6);
    close_fixture(f);
}

static void
test_nothing_to_tune(void **state)
{
    static const char *const name[] = {"B", "W"}, *const value[] = {"64", "1"};
    fixture      *f = open_fixture("nothing.db");
    axe_tune_spec spec = {
        .compile = {.n_set = 2, .set_name = name, .set_value = value}};
    axe_tune_result r;

    (void)state;
    assert_int_equal(
        axe_tune(f->cx, f->device, f->source, &spec, 2, f->array, 0, NULL, &r),
        AXE_EARG);
    assert_string_equal(axe_last_error(f->cx),
                        "kernel scale has nothing to tune: no parameter that "
                        "is open has a domain");
    close_fixture(f);
}

/* A record in the way of a damaged database is a warning, no error. */
static void
test_damaged_use(void **state)
{
    fixture    *f = open_fixture("hurt.db");
    const char *why;

    (void)state;
    assert_int_equal(axe_file_write(f->cx, f->db, 0600, scale, sizeof scale),
                     AXE_OK);
    assert_int_equal(b_of(f, (axe_compile_spec){0}, &why), 64);
    assert_null(why);
    assert_int_equal(axe_n_error(f->cx), 0);
    assert_non_null(strstr(axe_diags(f->cx)->text, "are not used"));
    close_fixture(f);
}

/* -------------------------------------------------------------------- cost */

static axe_cost
cost_of(const char *file, const char *kernel, const char *machine,
        const char *const *set, int64_t m, int64_t n, int64_t k, int n_worker)
{
    static const char *const name[] = {"BM", "BN", "BK"};
    axe_ctx                 *cx = axe_ctx_new();
    axe_bytes                b;
    axe_compile_spec         spec = {.kernel = kernel,
                                     .machine = machine,
                                     .n_set = set ? 3 : 0,
                                     .set_name = name,
                                     .set_value = set};
    const axe_program       *p;
    int64_t                  size[3];
    axe_cost                 c;

    assert_int_equal(
        axe_file_read(
            cx, axe_textf(cx, "%s/kernels/%s.axe", AXE_SOURCE_DIR, file), &b),
        AXE_OK);
    int32_t src = axe_source_add(cx, file, (const char *)b.data, b.len);
    free(b.data);
    assert_int_equal(axe_compile(cx, src, &spec, AXE_STAGE_PLAN, &p), AXE_OK);
    for (int i = 0; i < p->kernel->n_size; i++) {
        const char *s = p->kernel->size[i]->name;
        size[i] = *s == 'M' ? m : *s == 'N' ? n : k;
    }
    axe_cost_at at = {m < 0 ? NULL : size, n_worker,
                      axe_machine_levels(p->plan->machine)};
    axe_cost_plan(cx, p->plan, &at, &c);
    axe_ctx_free(cx);
    return c;
}

static double
share(axe_cost a, axe_cost b)
{
    return a.cycles / b.cycles;
}

/* What must hold of any sound model, with wide margins. */
static void
test_cost(void **state)
{
    static const char *const small[] = {"48", "48", "32"};
    const char              *mc = "cpu-avx512";
    axe_cost one = cost_of("gemm", NULL, mc, NULL, 512, 512, 512, 1),
             eight = cost_of("gemm", NULL, mc, NULL, 1024, 1024, 1024, 1),
             two = cost_of("gemm", NULL, mc, NULL, 1024, 1024, 1024, 2),
             tiny = cost_of("gemm", NULL, mc, small, 1024, 1024, 1024, 1),
             old = cost_of("gemm", NULL, "cpu-avx2", NULL, 512, 512, 512, 1),
             none = cost_of("gemm", NULL, mc, NULL, 0, 512, 512, 1),
             open = cost_of("gemm", NULL, mc, NULL, -1, 0, 0, 1),
             add = cost_of("elementwise", "add", mc, NULL, 8192, 4096, 0, 1),
             column = cost_of("reduce", "col_max", mc, NULL, 1001, 1000, 0, 1),
             rows = cost_of("softmax", NULL, mc, NULL, 8192, 4096, 0, 1),
             warm = cost_of("elementwise", "add", mc, NULL, 64, 256, 0, 1);

    (void)state;
    assert_true(one.issue > 512. * 512 * 512 / 32 && !one.memory_bound);
    assert_true(share(eight, one) > 6.5 && share(eight, one) < 9.5);
    assert_true(share(two, eight) > 0.45 && share(two, eight) < 0.65);
    assert_true(share(tiny, eight) > 1.1);
    assert_true(share(old, one) > 1.6 && share(old, one) < 3);
    assert_true(none.cycles >= 0 && none.cycles < 20000);
    assert_true(open.cycles == -1);
    assert_true(add.memory_bound);
    assert_true(add.bytes[AXE_LEVEL_MEMORY] == 3 * 8192. * 4096 * 4);
    /* Its later passes find the rows where the first has left them. */
    assert_true(rows.bytes[AXE_LEVEL_MEMORY] > 1.9 * 8192 * 4096 * 4);
    assert_true(rows.bytes[AXE_LEVEL_MEMORY] < 2.1 * 8192 * 4096 * 4);
    assert_true(rows.bytes[AXE_LEVEL_L2] > 1.9 * 8192 * 4096 * 4);
    assert_true(rows.bytes[AXE_LEVEL_L2] < 4. * 8192 * 4096 * 4);
    /* Its `else` runs once, for a few rows. */
    assert_true(share(column, add) < 0.1);
    assert_true(warm.bytes[AXE_LEVEL_MEMORY] == 0);
    assert_true(warm.bytes[AXE_LEVEL_L2] > 3 * 64 * 256 * 4 * 0.9);
}

int
main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_faster_stays),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_variant),
        cmocka_unit_test(test_standard),
        cmocka_unit_test(test_all_threads),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_nothing_to_tune),
        cmocka_unit_test(test_damaged_use),
        cmocka_unit_test(test_cost),
    };
    char command[64];

    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(test, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
