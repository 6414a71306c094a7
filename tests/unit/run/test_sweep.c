/* test_sweep.c - the size of the cache's directory, leftovers, and kernels
 * compiled side by side. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/run.h"
#include "run/array/file.h"
#include "run/cache/cache.h"

static char root[] = "/tmp/axesweep_XXXXXX";

enum { KIB = 1024, HOUR = 3600 };

/* A file of some KiB that was changed so many hours ago. */
static const char *
make(axe_ctx *cx, const char *name, int kib, int hours)
{
    const char     *path = axe_textf(cx, "%s/%s", root, name);
    struct timespec t[2] = {{.tv_sec = time(NULL) - (time_t)hours * HOUR}};
    char           *bytes = calloc(1, (size_t)kib * KIB);
    char           *folder = axe_textf(cx, "%s", path);

    *strrchr(folder, '/') = '\0';
    mkdir(folder, 0700);
    t[1] = t[0];
    assert_non_null(bytes);
    memset(bytes, 1, (size_t)kib * KIB);
    assert_int_equal(axe_file_write(cx, path, 0600, bytes, (size_t)kib * KIB),
                     AXE_OK);
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
    free(bytes);
    return path;
}

static bool
there(const char *path)
{
    return access(path, F_OK) == 0;
}

#define NAME(c)                                                                \
    c c c c c c c c "0123456789abcdef0123456789abcdef0123456789abcdef01234567"
#define A "aa/" NAME("a")
#define B "bb/" NAME("b")
#define C "cc/" NAME("c")

/* The least recently used go, objects with their sources, down to three
 * quarters; what is new stays whatever its size. */
static void
test_size(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *a = make(cx, A ".so", 100, 3), *ac = make(cx, A ".c", 100, 9);
    const char *b = make(cx, B ".so", 100, 5), *bc = make(cx, B ".c", 100, 1);
    const char *c = make(cx, C ".so", 100, 0), *cc = make(cx, C ".c", 100, 0);

    (void)state;
    axe_cache_sweep(root, 700 * KIB);
    assert_true(there(a) && there(ac) && there(b) && there(bc) && there(c));
    axe_cache_sweep(root, 590 * KIB);
    assert_true(there(a) && there(ac) && there(c) && there(cc));
    assert_false(there(b) || there(bc));
    axe_cache_sweep(root, 1);
    assert_false(there(a) || there(ac));
    assert_true(there(c) && there(cc));
    axe_ctx_free(cx);
}

/* What a killed process left goes after a day; sources of objects and what is
 * not in an entry's folder stay. */
static void
test_leftovers(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    const char *part = make(cx, "dd/" NAME("d") ".so.tmp123", 1, 30);
    const char *fresh = make(cx, "dd/" NAME("d") ".so.tmp456", 1, 2);
    const char *alone = make(cx, "dd/" NAME("d") ".c", 1, 30);
    const char *so = make(cx, "ee/" NAME("e") ".so", 1, 30);
    const char *c = make(cx, "ee/" NAME("e") ".c", 1, 30);
    const char *db = make(cx, "tuned.db", 1, 300);
    const char *other = make(cx, "other/file", 1, 300);

    (void)state;
    axe_cache_sweep(root, INT64_MAX);
    assert_false(there(part) || there(alone));
    assert_true(there(fresh) && there(so) && there(c));
    axe_cache_sweep(root, 0);
    assert_true(there(db) && there(other));
    assert_false(there(so) || there(c));
    axe_ctx_free(cx);
}

static void
test_temporary(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    const char     *old = axe_textf(cx, "%s/axe_work_oldold", root);
    const char     *live = axe_textf(cx, "%s/axe_work_livliv", root);
    const char     *mine = axe_textf(cx, "%s/axe_notour", root);
    int             held;
    struct timespec t[2] = {{.tv_sec = time(NULL) - 30 * HOUR}};

    (void)state;
    t[1] = t[0];
    make(cx, "axe_work_oldold/0.so", 1, 30);
    make(cx, "axe_work_oldold/17.c", 1, 30);
    make(cx, "axe_work_livliv/0.so", 1, 1);
    make(cx, "axe_notour/0.so", 1, 30);
    utimensat(AT_FDCWD, old, t, 0);
    utimensat(AT_FDCWD, mine, t, 0);
    held = open(live, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(held, LOCK_EX), 0);
    axe_cache_sweep_tmp(root);
    assert_false(there(old));
    assert_true(there(live) && there(mine));
    close(held);
    axe_cache_sweep_tmp(root);
    assert_false(there(live));
    assert_true(there(mine));
    axe_ctx_free(cx);
}

/* What the handler of a signal removes. */
static void
test_abandon(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_cache   cache;
    axe_cc      cc;
    const char *path;

    (void)state;
    axe_cache_open(cx, cx, "/proc/none", &cache);
    assert_int_equal(axe_cc_find(cx, NULL, &cc), AXE_OK);
    for (int i = 0; i < 12; i++)
        assert_int_equal(axe_cache_get(cx, &cache, &cc,
                                       axe_textf(cx, "int f%d;\n", i), NULL,
                                       &path, NULL),
                         AXE_OK);
    assert_true(there(path) && there(cache.tmp));
    axe_cache_abandon();
    assert_false(there(path) || there(cache.tmp));
    axe_cache_close(&cache);
    axe_cache_abandon();
    axe_ctx_free(cx);
}

static const char pair[] = "kernel twice(in f32 X[M], out f32 Y[M])\n"
                           "{ index m; cta (i : 1) Y[m] = X[m] * 2; }\n"
                           "kernel thrice(in f32 X[M], out f32 Y[M])\n"
                           "{ index m; cta (i : 1) Y[m] = X[m] * 3; }\n";

static float
run(axe_ctx *cx, axe_exec *e)
{
    float     x = 5, y = 0;
    int64_t   one = 1;
    axe_array a[] = {{"X", "f32", 1, &one, NULL, &x},
                     {"Y", "f32", 1, &one, NULL, &y}};

    assert_int_equal(axe_launch(cx, e, 2, a, 0, NULL), AXE_OK);
    return y;
}

/* All kernels of a module at once; what is there already is found. */
static void
test_side_by_side(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    int32_t            src = axe_source_add(cx, "p", pair, strlen(pair));
    const axe_program *p[3];
    axe_exec          *e[3];
    axe_device        *d;
    axe_device_spec    spec = {.n_thread = 1,
                               .cache = axe_textf(cx, "%s/side", root)};

    (void)state;
    for (int i = 0; i < 3; i++) {
        axe_compile_spec s = {.kernel = i == 1 ? "thrice" : "twice"};
        assert_int_equal(axe_compile(cx, src, &s, AXE_STAGE_C, &p[i]), AXE_OK);
    }
    assert_int_equal(axe_device_new(cx, &spec, &d), AXE_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(axe_exec_new_all(cx, d, 3, p, e), AXE_OK);
        assert_int_equal(axe_exec_cached(e[1]), round == 1);
        assert_true(run(cx, e[0]) == 10 && run(cx, e[1]) == 15);
        assert_true(run(cx, e[2]) == 10);
        for (int i = 0; i < 3; i++)
            axe_exec_free(e[i]);
    }
    assert_null(axe_diags(cx));
    axe_device_free(d);
    axe_ctx_free(cx);
}

/* One of several that does not compile: its words, and nothing runs on. */
static void
test_one_bad(void **state)
{
    axe_ctx       *cx = axe_ctx_new();
    axe_cache_item item[5] = {{.text = "int a;\n"},
                              {.text = "int b;\n"},
                              {.text = "int 1;\n"},
                              {.text = "int 2;\n"},
                              {.text = "int c;\n"}};
    axe_cache      cache;
    axe_cc         cc;

    (void)state;
    axe_cache_open(cx, cx, axe_textf(cx, "%s/bad", root), &cache);
    assert_int_equal(axe_cc_find(cx, NULL, &cc), AXE_OK);
    assert_int_equal(axe_cache_get_all(cx, &cache, &cc, 5, item), AXE_ETOOL);
    assert_int_equal(axe_n_error(cx), 1);
    assert_non_null(strstr(axe_last_error(cx), "failed with exit code"));
    assert_int_equal(axe_cache_get_all(cx, &cache, &cc, 2, item), AXE_OK);
    axe_cache_close(&cache);
    axe_ctx_free(cx);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Text to C takes about a millisecond, a load from the cache some 50
 * microseconds (bench/bench_latency.c): far from what would be felt. Sanitizers
 * and one allocation per block take tens of times as long. */
#ifdef __SANITIZE_ADDRESS__
#define TO_C_LIMIT 0.5
#else
#define TO_C_LIMIT 0.05
#endif

static void
test_latency(void **state)
{
    double to_c = 1, load = 1;

    (void)state;
    for (int i = 0; i < 5; i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p;
        axe_device_spec    spec = {.n_thread = 1,
                                   .cache = axe_textf(cx, "%s/fast", root)};
        axe_device        *d;
        axe_exec          *e;
        axe_bytes          b;
        const char *path = axe_textf(cx, "%s/kernels/gemm.axe", AXE_SOURCE_DIR);
        assert_int_equal(axe_file_read(cx, path, &b), AXE_OK);
        int32_t src = axe_source_add(cx, "gemm", (const char *)b.data, b.len);
        free(b.data);
        double begin = now();
        assert_int_equal(
            axe_compile(cx, src, &(axe_compile_spec){0}, AXE_STAGE_C, &p),
            AXE_OK);
        to_c = now() - begin < to_c ? now() - begin : to_c;
        assert_int_equal(axe_device_new(cx, &spec, &d), AXE_OK);
        begin = now();
        assert_int_equal(axe_exec_new(cx, d, p, &e), AXE_OK);
        load = now() - begin < load ? now() - begin : load;
        axe_exec_free(e);
        axe_device_free(d);
        axe_ctx_free(cx);
    }
    printf("to C %.4f s, load %.4f s\n", to_c, load);
    assert_true(to_c < TO_C_LIMIT);
    assert_true(load < 0.01);
}

int
main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(test_size),         cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_temporary),    cmocka_unit_test(test_abandon),
        cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_one_bad),
        cmocka_unit_test(test_latency),
    };
    char command[64];

    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(test, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
