/* test_opencl.c - the way to OpenCL without a runtime: a library that answers
 * what it is told to (tests/fake/opencl.c).  test_opencl_run.c has real ones.
 */
#define _XOPEN_SOURCE 700

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/opencl.h"

static char        cache[] = "/tmp/axe_opencl_XXXXXX";
static axe_ctx    *cx;
static axe_opencl *cl;
static int (*fake_count)(const char *name);
static uint64_t (*fake_items)(void);

static int
open_device(void **state)
{
    (void)state;
    cx = axe_ctx_new();
    return axe_opencl_new(cx, &(axe_opencl_spec){.cache = cache}, &cl) !=
           AXE_OK;
}

static int
close_device(void **state)
{
    (void)state;
    axe_opencl_free(cl);
    axe_ctx_free(cx);
    unsetenv("FAKE_FAIL");
    unsetenv("FAKE_EXT");
    unsetenv("FAKE_SAYS");
    return 0;
}

static void
check_said(const char *part)
{
    axe_buf b = {.cx = cx};

    axe_diags_print(cx, &b, false);
    if (*part && (!b.text || !strstr(b.text, part)))
        fail_msg("no \"%s\" in:\n%s", part, b.text ? b.text : "");
}

/* ----------------------------------------------------------------- devices */

static void
device_is_described(void **state)
{
    const axe_opencl_facts *f = axe_opencl_about(cl);

    (void)state;
    assert_string_equal(f->name, "Fake.device");
    assert_string_equal(f->kind, "gpu");
    assert_string_equal(f->platform, "Fake platform");
    assert_string_equal(f->c_version, "OpenCL C 1.2");
    assert_string_equal(f->features, " f64 ");
    assert_int_equal(f->n_unit, 3);
    assert_int_equal(f->most_items, 256);
    assert_int_equal(f->local_bytes, 1024);
    assert_true(f->memory_bytes == INT64_MAX);
    assert_true(f->local_own);
    assert_int_equal(f->n_width, 0);
    assert_null(axe_opencl_about(NULL));
}

/* Each vendor has a question of its own for the width, asked of no other. */
static void
widths_are_asked(void **state)
{
    static const struct {
        const char *ext;
        int         n, width[2];
    } row[] = {{"cl_intel_required_subgroup_size", 2, {8, 32}},
               {"cl_nv_device_attribute_query", 1, {32}},
               {"cl_amd_device_attribute_query cl_khr_fp16", 1, {64}},
               {"xcl_nv_device_attribute_query", 0, {0}},
               {"cl_nv_device_attribute_query2", 0, {0}}};
    int                     n;
    const axe_opencl_facts *f;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        setenv("FAKE_EXT", row[i].ext, 1);
        setenv("FAKE_FLOATS", i == 0 ? "128" : i == 1 ? "1" : "126", 1);
        setenv("FAKE_LANES", i == 2 ? "64" : "32", 1);
        assert_int_equal(axe_opencl_list(cx, &n, &f), AXE_OK);
        assert_int_equal(n, 1);
        assert_int_equal(f->n_width, row[i].n);
        for (int j = 0; j < row[i].n; j++)
            assert_int_equal(f->width[j], row[i].width[j]);
        assert_true(!strstr(f->features, " f16 ") == (i != 2));
        assert_true(!strstr(f->features, " exact ") == (i != 0));
        assert_true(!strstr(f->features, " subnormal ") == (i != 1));
    }
}

/* Sums of floats by groups: that they are there, and that others see them. */
static void
atomics_are_asked(void **state)
{
    static const struct {
        const char *ext, *sums, *scopes;
        bool        global, local, device;
    } row[] = {{"cl_ext_float_atomics", "131074", "49", true, true, true},
               {"cl_ext_float_atomics", "131074", "17", true, true, false},
               {"cl_ext_float_atomics", "2", "95", true, false, false},
               {"cl_ext_float_atomics", "131072", "32", false, true, true},
               {"", "131074", "17", false, false, false}};
    int                     n;
    const axe_opencl_facts *f;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        setenv("FAKE_EXT", row[i].ext, 1);
        setenv("FAKE_SUMS", row[i].sums, 1);
        setenv("FAKE_ATOMICS", row[i].scopes, 1);
        assert_int_equal(axe_opencl_list(cx, &n, &f), AXE_OK);
        assert_true(!strstr(f->features, " atomic.global.float ") !=
                    row[i].global);
        assert_true(!strstr(f->features, " atomic.local.float ") !=
                    row[i].local);
        assert_true(!strstr(f->features, " atomic.device ") != row[i].device);
    }
    unsetenv("FAKE_SUMS");
    unsetenv("FAKE_ATOMICS");
}

static void
features_are_needed(void **state)
{
    static const struct {
        const char *list;
        axe_status  st;
        const char *said;
    } row[] = {
        {" f64  f64 ", AXE_OK, ""},
        {"f64 f16", AXE_EUNSUPPORTED,
         "Fake.device of Fake platform has no f16: half precision"},
        {"f16", AXE_EUNSUPPORTED, "no device here has it; `axe devices`"},
        {"sg16", AXE_EUNSUPPORTED, "has no sg16: sub-groups of 16 lanes"},
        {"sg", AXE_ENAME, "`sg` is no feature of an OpenCL device"},
        {"sg0", AXE_ENAME, "`sg0` is no"},
        {"sg16x", AXE_ENAME, "`sg16x` is no"},
        {"f6", AXE_ENAME, "`f6` is no"},
        {"64", AXE_ENAME, "`64` is no"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        assert_int_equal(axe_opencl_need(cx, cl, row[i].list), row[i].st);
        check_said(row[i].said);
    }
    /* another device, which is listed as it is now */
    setenv("FAKE_EXT", "cl_khr_fp16", 1);
    assert_int_equal(axe_opencl_need(cx, cl, "f16"), AXE_EUNSUPPORTED);
    check_said("device 0 has it: Fake.device of Fake platform");
}

static void
nothing_there(void **state)
{
    static const struct {
        const char *variable, *value, *said;
    } row[] = {
        {"FAKE_PLATFORMS", "0", "libOpenCL knows no platform"},
        {"FAKE_FAIL", "GetPlatformIDs:-1001", "libOpenCL knows no platform"},
        {"FAKE_FAIL", "GetPlatformIDs:-6",
         "looking for platforms of OpenCL: CL_OUT_OF_HOST_MEMORY (-6)"},
        {"FAKE_FAIL", "GetPlatformIDs:-777", "unknown error (-777)"},
        {"FAKE_DEVICES", "0", "no OpenCL device 0: the platforms have 0"},
        {"FAKE_FAIL", "GetDeviceIDs:-30", "the platforms have 0"},
        {"FAKE_FAIL", "CreateContext:-2",
         "opening the OpenCL device: CL_DEVICE_NOT_AVAILABLE (-2)"},
        {"FAKE_FAIL", "CreateCommandQueue:-6", "making a queue of the"},
    };
    axe_opencl *none = NULL;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        setenv(row[i].variable, row[i].value, 1);
        assert_int_equal(axe_opencl_new(cx, &(axe_opencl_spec){0}, &none),
                         AXE_EDEVICE);
        assert_null(none);
        check_said(row[i].said);
        unsetenv(row[i].variable);
    }
    assert_int_equal(fake_count("CreateContext") - fake_count("ReleaseContext"),
                     2); /* this one, and the one that failed */
}

/* --------------------------------------------------------------- programs */

static axe_opencl_program *
build(const char *options)
{
    axe_opencl_program *p = NULL;

    assert_int_equal(axe_opencl_build(cx, cl, "kernel", options, NULL, &p),
                     AXE_OK);
    return p;
}

static void
drivers_refuse(void **state)
{
    axe_opencl_program *p = NULL;
    int                 made = fake_count("CreateProgramWithSource");
    int                 gone = fake_count("ReleaseProgram");

    (void)state;
    setenv("FAKE_FAIL", "BuildProgram:-11", 1);
    setenv("FAKE_SAYS", "\nline 1: \033[31mno\n\nline 2\n3\n4\n5\n6\n7\n8\n9\n",
           1);
    assert_int_equal(axe_opencl_build(cx, cl, "x", NULL, NULL, &p), AXE_ETOOL);
    check_said("the compiler of Fake platform (1.0) refuses the text: "
               "CL_BUILD_PROGRAM_FAILURE (-11)");
    check_said("note: line 1: .[31mno\n");
    check_said("note: line 2\n");
    check_said("note: 8\n");
    int n = 0;
    for (const axe_diag *d = axe_diags(cx); d; d = d->next)
        n += d->severity == AXE_NOTE;
    assert_int_equal(n, 8);
    setenv("FAKE_FAIL", "CreateProgramWithSource:-6", 1);
    assert_int_equal(axe_opencl_build(cx, cl, "x", NULL, NULL, &p),
                     AXE_EDEVICE);
    assert_null(p);
    assert_int_equal(fake_count("CreateProgramWithSource") - made, 2);
    assert_int_equal(fake_count("ReleaseProgram") - gone, 1);
}

/* Which line of a text a log complains of, and which statement it is of. */
static void
errors_have_places(void **state)
{
    static const char text[] = "typedef int i;\n"
                               "kernel void k()\n"
                               "{\n"
                               "    /* statement 3, line 8: C[m] + */\n"
                               "    one();\n"
                               "    two();\n"
                               "}\n"
                               "kernel void other()\n"
                               "{ three(); }";
    static const struct {
        const char *log, *said, *from;
    } row[] = {
        {"1:5:5: error: no", "note: line 5 of the text: one();\n",
         "note: it is of statement 3, line 8: C[m] + of the kernel\n"},
        {"<k>:5:1: warning: x\n/a/b.cl:6:70: fatal error: no",
         "line 6 of the text: two();", "statement 3"},
        {"1 error: x\nx:1:2: error: y", "line 1 of the text: typedef int i;",
         NULL},
        {"a:9:3: error: y\na:5:3: error: y", "line 9 of the text: { three(); }",
         NULL},
        {"error", NULL, NULL},
        {"1: error", NULL, NULL},
        {"a:10:1: error: x", NULL, NULL},
        {"a:0:1: error: x", NULL, NULL},
        {":::error:::", NULL, NULL},
    };

    (void)state;
    setenv("FAKE_FAIL", "BuildProgram:-11", 1);
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx            *own = axe_ctx_new();
        axe_opencl_program *p;
        axe_buf             b = {.cx = own};
        setenv("FAKE_SAYS", row[i].log, 1);
        assert_int_equal(axe_opencl_build(own, cl, text, NULL, NULL, &p),
                         AXE_ETOOL);
        axe_diags_print(own, &b, false);
        if (!strstr(b.text, row[i].said ? row[i].said : "refuses the text") ||
            !strstr(b.text, "of the text: ") != !row[i].said ||
            !strstr(b.text, "it is of ") != !row[i].from ||
            (row[i].from && !strstr(b.text, row[i].from)))
            fail_msg("row %d: %s", i, b.text);
        axe_ctx_free(own);
    }
}

/* Code is kept under its options, and made anew where the driver refuses it; a
 * driver that gives none is asked each time. */
static void
code_is_kept(void **state)
{
    static const struct {
        const char *options, *fail;
        bool        cached;
    } row[] = {{"-a", "", false},
               {"-a", "", true},
               {NULL, "", false},
               {"", "", true},
               {"-a", "CreateProgramWithBinary:-42", false},
               {"-a", "", true},
               {"-b", "GetProgramInfo:-30", false},
               {"-b", "", false},
               {"-b", "", true}};
    const char *log;

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        setenv("FAKE_FAIL", row[i].fail, 1);
        axe_opencl_program *p = build(row[i].options);
        if (axe_opencl_program_cached(p) != row[i].cached)
            fail_msg("row %d", i);
        axe_opencl_program_free(p);
    }
    setenv("FAKE_SAYS", "a warning", 1);
    axe_opencl_program *p;
    assert_int_equal(axe_opencl_build(cx, cl, "other", NULL, &log, &p), AXE_OK);
    assert_string_equal(log, "a warning");
    axe_opencl_program_free(p);
    assert_int_equal(axe_opencl_build(cx, cl, "other", NULL, &log, &p), AXE_OK);
    assert_string_equal(log, "");
    axe_opencl_program_free(p);
    assert_false(axe_opencl_program_cached(NULL));
}

/* ------------------------------------------------------------- calls fail */

static void
calls_fail(void **state)
{
    static const struct {
        const char *fail, *said;
    } row[] = {
        {"CreateKernel:-5", "taking kernel k: CL_OUT_OF_RESOURCES (-5)"},
        {"CreateKernel:-46", "it has: k"},
        {"SetKernelArg:-38", "kernel k: argument 0: CL_INVALID_MEM_OBJECT"},
        {"EnqueueNDRangeKernel:-4",
         "starting kernel k: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"},
        {"EnqueueNDRangeKernel:-4", "free device memory, or use smaller"},
        {"WaitForEvents:-14", "running kernel k: CL_EXEC_STATUS_ERROR"},
        {"GetEventProfilingInfo:-30", "running kernel k: CL_INVALID_VALUE"},
    };
    axe_opencl_buffer *b, *none = NULL;
    char               c = 0;
    double             seconds;

    (void)state;
    assert_int_equal(axe_opencl_alloc(cx, cl, 1, &b), AXE_OK);
    axe_opencl_arg  arg = {.buffer = b};
    axe_opencl_grid grid = {"k", 2, 8, 1, &arg};
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_opencl_program *p = build(NULL);
        setenv("FAKE_FAIL", row[i].fail, 1);
        assert_true(axe_opencl_launch(cx, p, &grid, &seconds) != AXE_OK);
        check_said(row[i].said);
        unsetenv("FAKE_FAIL");
        assert_int_equal(axe_opencl_launch(cx, p, &grid, &seconds), AXE_OK);
        assert_true(seconds > 1.9e-6 && seconds < 2.1e-6);
        axe_opencl_program_free(p);
    }
    setenv("FAKE_FAIL", "EnqueueWriteBuffer:-5", 1);
    assert_int_equal(axe_opencl_put(cx, b, 0, &c, 1), AXE_EDEVICE);
    check_said("copying to the OpenCL device: CL_OUT_OF_RESOURCES");
    setenv("FAKE_FAIL", "EnqueueReadBuffer:-5", 1);
    assert_int_equal(axe_opencl_get(cx, b, 0, &c, 1), AXE_EDEVICE);
    check_said("copying from the OpenCL device");
    setenv("FAKE_FAIL", "Finish:-36", 1);
    assert_int_equal(axe_opencl_wait(cx, cl), AXE_EDEVICE);
    check_said("running on the OpenCL device: CL_INVALID_COMMAND_QUEUE");
    setenv("FAKE_FAIL", "CreateBuffer:-61", 1);
    assert_int_equal(axe_opencl_alloc(cx, cl, 77, &none), AXE_EDEVICE);
    check_said("allocating 77 bytes: CL_INVALID_BUFFER_SIZE (-61)");
    unsetenv("FAKE_FAIL");
    assert_int_equal(axe_opencl_alloc(cx, cl, (1 << 20) + 1, &none),
                     AXE_EDEVICE);
    check_said("allocating 1048577 bytes: Fake.device gives at most 1048576 at "
               "once");
    assert_null(none);
    axe_opencl_release(b);
}

/* Limits of the kernel and of the device, each to its last item. */
static void
groups_have_limits(void **state)
{
    static const struct {
        int64_t     groups, items;
        size_t      local; /* beside the kernel's own 128 */
        axe_status  st;
        const char *said;
    } row[] = {
        {1, 128, 896, AXE_OK, ""},
        {0, 128, 896, AXE_OK, ""},
        {1, 129, 1, AXE_EUNSUPPORTED,
         "kernel k: a group of 129 items; Fake.device takes 256 at most, of "
         "this kernel 128"},
        {1, 128, 897, AXE_EUNSUPPORTED,
         "kernel k: 1025 bytes of local memory; a group on Fake.device has "
         "1024"},
        {0, 128, SIZE_MAX, AXE_EUNSUPPORTED, "bytes of local memory"},
        {INT64_MAX / 128 + 1, 128, 1, AXE_EUNSUPPORTED, "more than can be"},
        {INT64_MAX / 128, 128, 1, AXE_OK, ""},
        {-1, 128, 1, AXE_EARG, "kernel k: -1 groups of 128 items"},
        {1, 0, 1, AXE_EARG, "kernel k: 1 groups of 0 items"},
    };
    axe_opencl_program *p = build(NULL);

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_opencl_arg  arg = {.bytes = row[i].local};
        axe_opencl_grid grid = {"k", row[i].groups, row[i].items, 1, &arg};
        assert_int_equal(axe_opencl_launch(cx, p, &grid, NULL), row[i].st);
        check_said(row[i].said);
        if (row[i].st == AXE_OK && row[i].groups > 0)
            assert_true(fake_items() ==
                        (uint64_t)row[i].groups * (uint64_t)row[i].items);
    }
    axe_opencl_program_free(p);
}

/* ------------------------------------------------------------------- misuse */

static void
handles_are_checked(void **state)
{
    axe_opencl_program *p = build(NULL), *none = NULL;
    axe_opencl_buffer  *b, *other;
    axe_opencl         *second;
    axe_opencl_arg      arg;
    char                c;
    int                 n;

    (void)state;
#define WRONG(call) assert_int_equal(call, AXE_EARG)
    WRONG(axe_opencl_list(cx, NULL, NULL));
    WRONG(axe_opencl_list(cx, &n, NULL));
    WRONG(axe_opencl_new(cx, NULL, &second));
    WRONG(axe_opencl_new(cx, &(axe_opencl_spec){0}, NULL));
    WRONG(axe_opencl_new(NULL, &(axe_opencl_spec){0}, &second));
    WRONG(axe_opencl_need(cx, NULL, ""));
    WRONG(axe_opencl_need(cx, cl, NULL));
    WRONG(axe_opencl_alloc(cx, (axe_opencl *)p, 1, &b));
    WRONG(axe_opencl_alloc(cx, cl, 1, NULL));
    WRONG(axe_opencl_wait(cx, NULL));
    WRONG(axe_opencl_build(cx, cl, NULL, NULL, NULL, &none));
    WRONG(axe_opencl_build(cx, cl, "", NULL, NULL, NULL));
    WRONG(axe_opencl_put(cx, NULL, 0, &c, 1));
    assert_int_equal(axe_opencl_alloc(cx, cl, 1, &b), AXE_OK);
    WRONG(axe_opencl_put(cx, b, 0, NULL, 1));
    WRONG(axe_opencl_get(cx, b, 0, NULL, 1));
    WRONG(axe_opencl_launch(cx, NULL, NULL, NULL));
    WRONG(axe_opencl_launch(cx, p, NULL, NULL));
    WRONG(axe_opencl_launch(cx, p, &(axe_opencl_grid){NULL, 1, 1, 0, NULL},
                            NULL));
    WRONG(
        axe_opencl_launch(cx, p, &(axe_opencl_grid){"k", 1, 1, 1, NULL}, NULL));
    WRONG(axe_opencl_launch(cx, p, &(axe_opencl_grid){"k", 1, 1, -1, &arg},
                            NULL));
    assert_int_equal(
        axe_opencl_new(cx, &(axe_opencl_spec){.cache = cache}, &second),
        AXE_OK);
    assert_int_equal(axe_opencl_alloc(cx, second, 1, &other), AXE_OK);
    arg = (axe_opencl_arg){.buffer = other};
    WRONG(
        axe_opencl_launch(cx, p, &(axe_opencl_grid){"k", 1, 1, 1, &arg}, NULL));
    check_said("kernel k: argument 0 is a buffer of another device");
    axe_opencl_release(other);
    axe_opencl_free(second);
    axe_opencl_release(b);
    axe_opencl_program_free(p);
    axe_opencl_release(NULL);
    axe_opencl_program_free(NULL);
    axe_opencl_free(NULL);
}

static void
forks_have_their_own(void **state)
{
    axe_opencl_program *p = build(NULL);
    axe_opencl_buffer  *b;
    axe_opencl_arg      arg;
    int                 status = -1;
    char                c = 0;

    (void)state;
    assert_int_equal(axe_opencl_alloc(cx, cl, 1, &b), AXE_OK);
    arg = (axe_opencl_arg){.buffer = b};
    pid_t child = fork();
    if (child == 0) {
        axe_opencl_grid grid = {"k", 1, 1, 1, &arg};
        int             gone = fake_count("ReleaseMemObject");
        bool            ok = axe_opencl_wait(cx, cl) == AXE_EDEVICE &&
                  axe_opencl_put(cx, b, 0, &c, 1) == AXE_EDEVICE &&
                  axe_opencl_launch(cx, p, &grid, NULL) == AXE_EDEVICE;
        axe_opencl_program_free(p);
        axe_opencl_release(b);
        axe_opencl_free(cl);
        _exit(!(ok && fake_count("ReleaseMemObject") == gone));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    axe_opencl_program_free(p);
    axe_opencl_release(b);
}

/* Without a library, in a process of its own: it is looked for once. */
static int
check_missing(void)
{
    axe_ctx                *own = axe_ctx_new();
    const axe_opencl_facts *f;
    int                     n, bad;

    bad =
        axe_opencl_list(own, &n, &f) != AXE_EDEVICE ||
        strcmp(axe_last_error(own), "OpenCL is reached through libOpenCL, but "
                                    "there is no /none") != 0;
    axe_ctx_free(own);
    return bad;
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_device, close_device)
    const struct CMUnitTest tests[] = {
        TEST(device_is_described), TEST(widths_are_asked),
        TEST(atomics_are_asked),   TEST(features_are_needed),
        TEST(nothing_there),       TEST(drivers_refuse),
        TEST(errors_have_places),  TEST(code_is_kept),
        TEST(calls_fail),          TEST(groups_have_limits),
        TEST(handles_are_checked), TEST(forks_have_their_own),
    };
    pid_t child = fork();
    int   status = -1, bad;
    void *fake;
    char  line[64];

    if (child == 0) {
        setenv("AXE_OPENCL", "/none", 1);
        _exit(check_missing());
    }
    waitpid(child, &status, 0);
    setenv("AXE_OPENCL", FAKE_OPENCL, 1);
    fake = dlopen(FAKE_OPENCL, RTLD_NOW);
    if (!fake || status != 0 || !mkdtemp(cache))
        return 1;
    *(void **)&fake_count = dlsym(fake, "fake_count");
    *(void **)&fake_items = dlsym(fake, "fake_items");
    bad = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(line, sizeof line, "rm -rf %s", cache);
    bad += system(line) != 0;
    return bad > 0;
}
