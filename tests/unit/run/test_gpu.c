/* test_gpu.c - the way to a GPU without one: a driver that writes down what it
 * is asked (tests/fake/cuda.c), and NVRTC where it is installed. */
#define _XOPEN_SOURCE 700

#include <sys/wait.h>

#include "fake_gpu.h"

static void
device_is_described(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    g = new_gpu(cx);
    assert_string_equal(axe_gpu_name(g), "Fake GPU");
    assert_string_equal(axe_gpu_machine(g), "sm_90a");
    assert_int_equal(axe_gpu_n_sm(g), 4);
    axe_gpu_free(g);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){.number = 3}, &g),
                     AXE_EDEVICE);
    check_said(cx, "there is no GPU 3: the driver knows 1");
    assert_int_equal(fake_depth(), 0);
    axe_ctx_free(cx);
}

static void
old_device_is_refused(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    setenv("FAKE_CC", "70", 1);
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){0}, &g), AXE_EUNSUPPORTED);
    check_said(cx, "compute capability 7.0");
    unsetenv("FAKE_CC");
    axe_ctx_free(cx);
}

/* What is for no generation alone runs on later ones. */
static void
code_runs_on_later_ones(void **state)
{
    static const struct {
        const char *arch;
        bool        runs;
    } row[] = {{"sm_80", true},  {"sm_90", true},  {"sm_90a", true},
               {"sm_91", false}, {"sm_95", false}, {"sm_80a", false}};
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;

    (void)state;
    g = new_gpu(cx);
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        axe_program  *p = make_program(cx);
        axe_plan     *plan = axe_new(cx, axe_plan);
        axe_machine   mc = machine;
        axe_gpu_exec *e;

        mc.name = mc.arch = row[i].arch;
        *plan = *p->plan;
        plan->machine = &mc;
        p->plan = plan;
        p->c_text = "not reached";
        assert_true(axe_gpu_exec_new(cx, g, p, &e) != AXE_OK);
        if (!strstr(axe_last_error(cx), "kernel k is for sm_") != row[i].runs)
            fail_msg("%s: %s", row[i].arch, axe_last_error(cx));
    }
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

/* Sizes that indices of 32 bits do not hold have code of their own, which is
 * loaded when it is first asked for; no box has such coordinates. */
static void
large_sizes_have_code(void **state)
{
    static const struct {
        int64_t rows;
        int     n_load;
    } row[] = {{10, 0}, {INT64_C(1) << 31, 1}, {INT32_MAX - 5, 0}, {10, 0}};
    axe_ctx      *cx = axe_ctx_new();
    float        *x = (float *)(uintptr_t)(UINT64_C(1) << 40);
    float        *y = (float *)(uintptr_t)(UINT64_C(1) << 41);
    axe_gpu      *g;
    axe_gpu_exec *e;

    (void)state;
    need_nvrtc(cx);
    g = new_gpu(cx);
    axe_program *p = make_program(cx);
    p->lowered->grid->n_map = 0;
    assert_int_equal(axe_gpu_exec_new(cx, g, p, &e), AXE_OK);
    for (size_t i = 0; i < AXE_LEN(row); i++) {
        int64_t   shape[2] = {row[i].rows, 4};
        axe_array a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
        fake_clear();
        if (axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL) != AXE_OK)
            fail_msg("%lld rows: %s", (long long)row[i].rows,
                     axe_last_error(cx));
        assert_int_equal(count_of(fake_log(), "load an ELF"), row[i].n_load);
        assert_non_null(
            strstr(fake_log(), axe_textf(cx, "launch %lldx1x1 ",
                                         (long long)(row[i].rows + 3) / 4)));
        assert_int_equal(fake_value(2), row[i].rows);
    }
    axe_gpu_exec_free(e);
    int64_t   shape[2] = {INT64_C(1) << 31, 4};
    axe_array a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};
    assert_int_equal(axe_gpu_exec_new(cx, g, make_program(cx), &e), AXE_OK);
    assert_int_equal(axe_gpu_launch(cx, e, 2, a, 0, NULL, NULL),
                     AXE_EUNSUPPORTED);
    check_said(cx, "X: extent 2147483648 has no tensor map, which needs one "
                   "below 2^31");
    axe_gpu_exec_free(e);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

static void
failures_are_decoded(void **state)
{
    static const struct {
        const char *fail, *says;
    } row[] = {
        {"ModuleLoadData:209", "for another architecture"},
        {"LaunchKernel:701", "too many registers or too much shared memory"},
        {"StreamSynchronize:700", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
        {"MemAlloc_v2:2", "free device memory"},
        {"TensorMapEncodeTiled:1", "the tensor map of X"},
        {"ModuleGetFunction:500", "loading kernel k"},
    };
    static float x[10 * 32], y[10 * 32];
    int64_t      shape[2] = {10, 32};
    axe_array    a[2] = {make_array("X", x, shape), make_array("Y", y, shape)};

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx      *cx = axe_ctx_new();
        axe_gpu      *g;
        axe_gpu_exec *e;
        axe_status    st;
        need_nvrtc(cx);
        g = new_gpu(cx);
        setenv("FAKE_FAIL", row[i].fail, 1);
        st = axe_gpu_exec_new(cx, g, make_program(cx), &e);
        if (st == AXE_OK) {
            st = axe_gpu_run(cx, e, 2, a, 0, NULL);
            axe_gpu_exec_free(e);
        }
        unsetenv("FAKE_FAIL");
        assert_int_equal(st, AXE_EDEVICE);
        check_said(cx, row[i].says);
        axe_gpu_free(g);
        assert_int_equal(fake_depth(), 0);
        axe_ctx_free(cx);
    }
}

static void
bad_text_is_told(void **state)
{
    axe_ctx  *cx = axe_ctx_new();
    axe_bytes b;

    (void)state;
    need_nvrtc(cx);
    assert_int_equal(axe_nvrtc_compile(cx, "__global__ void k() { x = 1; }",
                                       "sm_90a", NULL, &b),
                     AXE_ETOOL);
    check_said(cx, "identifier \"x\" is undefined");
    assert_int_equal(axe_nvrtc_compile(cx, "", "sm_1", NULL, &b), AXE_ETOOL);
    axe_ctx_free(cx);
}

/* A child of fork has no context: it is told, and frees what it has without
 * asking the driver. */
static void
a_child_has_no_gpu(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;
    int      status;
    pid_t    pid;

    (void)state;
    g = new_gpu(cx);
    fake_clear();
    pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        void *at;
        int   bad = axe_gpu_alloc(cx, g, 16, &at) != AXE_EDEVICE;
        bad += !strstr(axe_last_error(cx), "before this process was forked");
        bad += axe_gpu_wait(cx, g, NULL) != AXE_EDEVICE;
        axe_gpu_free(g);
        bad += fake_log()[0] != '\0';
        _exit(bad);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(axe_gpu_wait(cx, g, NULL), AXE_OK);
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_described),
        cmocka_unit_test(old_device_is_refused),
        cmocka_unit_test(code_runs_on_later_ones),
        cmocka_unit_test(large_sizes_have_code),
        cmocka_unit_test(failures_are_decoded),
        cmocka_unit_test(bad_text_is_told),
        cmocka_unit_test(a_child_has_no_gpu),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
