/* test_api.c - every public function with what it needs missing: a status, and
 * no crash.  Each row is one call with one thing wrong. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/dlpack.h"
#include "axe/eval.h"
#include "axe/gpu.h"
#include "axe/machine.h"
#include "axe/sim.h"
#include "axe/tune.h"
#include "axe/view.h"

static const char text[] = "kernel k(in f32 X[M], out f32 Y[M]) { index m; "
                           "cta (i : M by 8) Y[i*8 + m] = X[i*8 + m]; }";

static axe_ctx           *cx;
static axe_device        *d;
static axe_exec          *e;
static axe_call          *c;
static axe_reference     *r;
static const axe_program *p, *gpu, *out;
static int32_t            source;
static float              x[5], y[5];
static int64_t            five[] = {5};
static char               cache[] = "/tmp/axe_api_XXXXXX";
static axe_array          a[] = {
             {.name = "X", .type = "f32", .rank = 1, .shape = five, .data = x},
             {.name = "Y", .type = "f32", .rank = 1, .shape = five, .data = y}};

static int
set_up(void **state)
{
    axe_device_spec  spec = {.n_thread = 1, .cache = mkdtemp(cache)};
    axe_compile_spec of = {0}, of_gpu = {.machine = "sm_80"};

    (void)state;
    cx = axe_ctx_new();
    source = axe_source_add(cx, "k.axe", text, strlen(text));
    return axe_compile(cx, source, &of, AXE_STAGE_C, &p) != AXE_OK ||
           axe_compile(cx, source, &of_gpu, AXE_STAGE_LOWER, &gpu) != AXE_OK ||
           axe_device_new(cx, &spec, &d) != AXE_OK ||
           axe_exec_new(cx, d, p, &e) != AXE_OK ||
           axe_call_new(cx, e, 2, a, 0, NULL, &c) != AXE_OK ||
           axe_reference_new(cx, d, p, 2, a, 0, NULL, &r) != AXE_OK;
}

static int
tear_down(void **state)
{
    char command[64];

    (void)state;
    axe_reference_free(r);
    axe_call_free(c);
    axe_exec_free(e);
    axe_device_free(d);
    axe_ctx_free(cx);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command);
}

/* The call is EARG, and what it is said of is there. */
#define WRONG(call)                                                            \
    do {                                                                       \
        axe_mark   m_ = axe_ctx_mark(cx);                                      \
        axe_status st_ = (call);                                               \
        if (st_ != AXE_EARG)                                                   \
            fail_msg("line %d: %s: %s", __LINE__, #call,                       \
                     axe_status_name(st_));                                    \
        axe_ctx_release(cx, m_);                                               \
    } while (0)

static void
test_compile(void **state)
{
    const char *const none[] = {NULL}, *const some[] = {"1"};
    axe_compile_spec of = {0}, sets = {.n_set = 1}, less = {.n_set = -1};
    axe_compile_spec orders = {.n_order = 1}, hints = {.n_hint = 1};
    axe_compile_spec named = {.n_set = 1, .set_name = none, .set_value = some};

    (void)state;
    WRONG(axe_compile(NULL, source, &of, AXE_STAGE_C, &out));
    WRONG(axe_compile(cx, source, NULL, AXE_STAGE_C, &out));
    WRONG(axe_compile(cx, source, &of, AXE_STAGE_C, NULL));
    WRONG(axe_compile(cx, source, &of, AXE_N_STAGE, &out));
    WRONG(axe_compile(cx, source, &of, (axe_stage)-1, &out));
    WRONG(axe_compile(cx, source, &of, (axe_stage)99, &out));
    WRONG(axe_compile(cx, source, &sets, AXE_STAGE_C, &out));
    WRONG(axe_compile(cx, source, &less, AXE_STAGE_C, &out));
    WRONG(axe_compile(cx, source, &named, AXE_STAGE_C, &out));
    WRONG(axe_compile(cx, source, &orders, AXE_STAGE_C, &out));
    WRONG(axe_compile_for(NULL, source, &of, 0, NULL, AXE_STAGE_C, &out));
    WRONG(axe_compile_for(cx, source, NULL, 0, NULL, AXE_STAGE_C, &out));
    WRONG(axe_compile_for(cx, source, &of, 2, NULL, AXE_STAGE_C, &out));
    WRONG(axe_compile_for(cx, source, &of, -1, a, AXE_STAGE_C, &out));
    WRONG(axe_compile_for(cx, source, &of, 2, a, AXE_N_STAGE, &out));
    WRONG(axe_compile_for(cx, source, &of, 2, a, AXE_STAGE_C, NULL));
    WRONG(axe_compile_for(cx, source, &hints, 2, a, AXE_STAGE_C, &out));
}

static void
test_texts(void **state)
{
    axe_buf            b = {.cx = cx};
    const axe_program *none[] = {NULL};
    const char *const *name;
    int                n;

    (void)state;
    WRONG(axe_compile_kernel(cx, NULL, "cpu", AXE_STAGE_C, &out));
    WRONG(axe_program_emit(NULL, p, AXE_STAGE_C, &b));
    WRONG(axe_program_emit(cx, NULL, AXE_STAGE_C, &b));
    WRONG(axe_program_emit(cx, p, AXE_N_STAGE, &b));
    WRONG(axe_program_emit(cx, p, AXE_STAGE_C, NULL));
    WRONG(axe_program_plan_json(cx, NULL, &b));
    WRONG(axe_program_plan_json(cx, p, NULL));
    WRONG(axe_programs_aot(cx, 1, NULL, "k.h", &b, &b));
    WRONG(axe_programs_aot(cx, 0, none, "k.h", &b, &b));
    WRONG(axe_programs_aot(cx, 1, none, "k.h", &b, &b));
    WRONG(axe_programs_aot(cx, 1, &p, NULL, &b, &b));
    WRONG(axe_programs_aot(cx, 1, &p, "k.h", NULL, &b));
    WRONG(axe_programs_aot(cx, 1, &p, "k.h", &b, NULL));
    WRONG(axe_source_kernels(cx, source, NULL, &name));
    WRONG(axe_source_kernels(cx, source, &n, NULL));
    WRONG(axe_aot_build(cx, NULL, NULL, NULL, NULL));
}

static void
test_questions(void **state)
{
    (void)state;
    assert_null(axe_program_kernel(NULL));
    assert_null(axe_program_machine(NULL));
    assert_null(axe_program_tuned(NULL));
    assert_null(axe_program_size(NULL, 0));
    assert_null(axe_program_size(p, -1));
    assert_null(axe_program_size(p, 1));
    assert_null(axe_program_param(p, -1).name);
    assert_null(axe_program_param(p, 2).name);
    assert_null(axe_program_param(NULL, 0).name);
    assert_int_equal(axe_program_n_param(NULL) + axe_program_n_size(NULL), 0);
    assert_false(axe_program_on_gpu(NULL));
}

static void
test_device(void **state)
{
    axe_device_spec    spec = {.n_thread = 1};
    axe_device        *device;
    axe_exec          *exec;
    const axe_program *none[] = {NULL};

    (void)state;
    WRONG(axe_device_new(NULL, &spec, &device));
    WRONG(axe_device_new(cx, NULL, &device));
    WRONG(axe_device_new(cx, &spec, NULL));
    WRONG(axe_exec_new(NULL, d, p, &exec));
    WRONG(axe_exec_new(cx, NULL, p, &exec));
    WRONG(axe_exec_new(cx, (axe_device *)(void *)e, p, &exec));
    WRONG(axe_exec_new(cx, d, NULL, &exec));
    WRONG(axe_exec_new(cx, d, p, NULL));
    WRONG(axe_exec_new_all(cx, d, 1, NULL, &exec));
    WRONG(axe_exec_new_all(cx, d, -1, &p, &exec));
    WRONG(axe_exec_new_all(cx, d, 1, none, &exec));
}

static void
test_launch(void **state)
{
    axe_call *call;

    (void)state;
    WRONG(axe_launch(NULL, e, 2, a, 0, NULL));
    WRONG(axe_launch(cx, NULL, 2, a, 0, NULL));
    WRONG(axe_launch(cx, (axe_exec *)(void *)d, 2, a, 0, NULL));
    WRONG(axe_launch(cx, e, 2, NULL, 0, NULL));
    WRONG(axe_launch(cx, e, -2, a, 0, NULL));
    WRONG(axe_launch(cx, e, 2, a, 1, NULL));
    WRONG(axe_launch(cx, e, 2, a, -1, NULL));
    WRONG(axe_call_new(cx, NULL, 2, a, 0, NULL, &call));
    WRONG(axe_call_new(cx, e, 2, NULL, 0, NULL, &call));
    WRONG(axe_call_new(cx, e, 2, a, 0, NULL, NULL));
    WRONG(axe_call_run(cx, NULL));
    WRONG(axe_call_run(NULL, c));
    WRONG(axe_call_run(cx, (axe_call *)(void *)e));
}

static void
test_programs(void **state)
{
    axe_launch_work work;
    axe_shape       shape[2];
    axe_packed      packed;
    axe_estimate    estimate;
    axe_reference  *ref;
    axe_difference  diff;
    axe_buf         b = {.cx = cx};

    (void)state;
    WRONG(axe_program_shapes(cx, NULL, 2, a, 0, NULL, shape));
    WRONG(axe_program_shapes(cx, p, 2, NULL, 0, NULL, shape));
    WRONG(axe_program_shapes(cx, p, 2, a, 0, NULL, NULL));
    WRONG(axe_packed_of(cx, NULL, "X", five, &packed));
    WRONG(axe_packed_of(cx, p, NULL, five, &packed));
    WRONG(axe_packed_of(cx, p, "X", NULL, &packed));
    WRONG(axe_packed_of(cx, p, "X", five, NULL));
    WRONG(axe_matrix_pack(cx, NULL, a, y));
    WRONG(axe_matrix_pack(cx, p, NULL, y));
    WRONG(axe_matrix_pack(cx, p, a, NULL));
    WRONG(axe_program_estimate(cx, NULL, 1, 0, NULL, &estimate));
    WRONG(axe_program_estimate(cx, p, 1, 1, NULL, &estimate));
    WRONG(axe_program_estimate(cx, p, 1, 0, NULL, NULL));
    WRONG(axe_program_work(NULL, p, 2, a, 0, NULL, &work));
    WRONG(axe_program_work(cx, NULL, 2, a, 0, NULL, &work));
    WRONG(axe_program_work(cx, p, 2, NULL, 0, NULL, &work));
    WRONG(axe_program_work(cx, p, 2, a, 1, NULL, &work));
    WRONG(axe_program_work(cx, p, 0, NULL, 0, NULL, &work));
    WRONG(axe_program_work(cx, p, 2, a, 0, NULL, NULL));
    assert_int_equal(axe_program_work(cx, p, 2, a, 0, NULL, &work), AXE_OK);
    assert_true(work.flops == 0 && work.bytes == 2 * 5 * 4);
    WRONG(axe_program_explain(cx, NULL, false, 0, NULL, &b));
    WRONG(axe_program_explain(cx, p, false, 1, NULL, &b));
    WRONG(axe_program_explain(cx, p, false, 0, NULL, NULL));
    WRONG(axe_reference_new(cx, NULL, p, 2, a, 0, NULL, &ref));
    WRONG(axe_reference_new(cx, d, NULL, 2, a, 0, NULL, &ref));
    WRONG(axe_reference_new(cx, d, p, 2, NULL, 0, NULL, &ref));
    WRONG(axe_reference_new(cx, d, p, 2, a, 0, NULL, NULL));
    WRONG(axe_reference_compare(cx, NULL, a, &diff));
    WRONG(axe_reference_compare(cx, r, NULL, &diff));
    WRONG(axe_reference_compare(cx, r, a, NULL));
}

static void
test_nothing(void **state)
{
    (void)state;
    axe_device_free(NULL);
    axe_exec_free(NULL);
    axe_call_free(NULL);
    axe_reference_free(NULL);
    assert_int_equal(axe_device_n_thread(NULL), 0);
    assert_string_equal(axe_exec_path(NULL), "");
    assert_false(axe_exec_cached(NULL));
}

static void
test_gpu(void **state)
{
    axe_gpu_spec         spec = {0};
    axe_gpu             *g;
    const axe_gpu_facts *facts;
    int                  count;
    axe_gpu_exec        *exec;
    axe_gpu_prepare_spec prepare = {0};
    axe_gpu_prepared     prepared;
    void                *at;
    double               s[1];
    size_t               n;

    (void)state;
    WRONG(axe_gpu_list(cx, NULL, &facts));
    WRONG(axe_gpu_list(cx, &count, NULL));
    WRONG(axe_gpu_new(cx, NULL, &g));
    WRONG(axe_gpu_new(cx, &spec, NULL));
    WRONG(axe_gpu_new(NULL, &spec, &g));
    WRONG(axe_gpu_alloc(cx, NULL, 1, &at));
    WRONG(axe_gpu_put(cx, NULL, x, y, 1));
    WRONG(axe_gpu_get(cx, NULL, x, y, 1));
    WRONG(axe_gpu_fill(cx, NULL, "f32", 1, x, 4));
    WRONG(axe_gpu_exec_new(cx, NULL, gpu, &exec));
    WRONG(axe_gpu_launch(cx, NULL, 2, a, 0, NULL, NULL));
    WRONG(axe_gpu_run(cx, NULL, 2, a, 0, NULL));
    WRONG(axe_gpu_time(cx, NULL, 2, a, 0, NULL, 1, s));
    WRONG(axe_gpu_wait(cx, NULL, NULL));
    WRONG(axe_gpu_code(cx, NULL, NULL, &at, &n));
    WRONG(axe_gpu_code(cx, gpu, NULL, NULL, &n));
    WRONG(axe_gpu_code(cx, gpu, NULL, &at, NULL));
    WRONG(axe_gpu_prepare(cx, NULL, 1, &gpu, &prepared));
    WRONG(axe_gpu_prepare(cx, &prepare, 1, NULL, &prepared));
    WRONG(axe_gpu_prepare(cx, &prepare, 1, &gpu, NULL));
}

static void
test_simulate(void **state)
{
    axe_sim_options options = {0};
    axe_sim_report  report;
    axe_tune_spec   tune = {0};
    axe_tune_result best;

    (void)state;
    WRONG(axe_program_simulate(cx, NULL, 2, a, 0, NULL, &options, &report));
    WRONG(axe_program_simulate(cx, gpu, 2, NULL, 0, NULL, &options, &report));
    WRONG(axe_program_simulate(cx, gpu, 2, a, 1, NULL, &options, &report));
    WRONG(axe_program_simulate(cx, gpu, 2, a, 0, NULL, NULL, &report));
    WRONG(axe_program_simulate(cx, gpu, 2, a, 0, NULL, &options, NULL));
    WRONG(axe_tune(cx, d, source, NULL, 2, a, 0, NULL, &best));
    WRONG(axe_tune(cx, d, source, &tune, 2, NULL, 0, NULL, &best));
    WRONG(axe_tune(cx, d, source, &tune, 2, a, 0, NULL, NULL));
}

static void
test_no_gpu(void **state)
{
    (void)state;
    axe_gpu_free(NULL);
    axe_gpu_exec_free(NULL);
    axe_gpu_release(NULL, x);
    assert_null(axe_gpu_name(NULL));
    assert_null(axe_gpu_machine(NULL));
    assert_int_equal(axe_gpu_n_sm(NULL), 0);
    assert_false(axe_gpu_exec_cached(NULL));
    assert_string_equal(axe_sim_kind_name((axe_sim_kind)-1), "?");
    assert_string_equal(axe_sim_kind_name(AXE_N_SIM), "?");
    assert_string_equal(axe_status_name((axe_status)99), "?");
}

static void
test_layout(void **state)
{
    axe_shape two = {1, (int64_t[]){2}}, none = {1, NULL}, less = {-1, NULL};
    const axe_layout *l, *o;
    axe_points        points;
    axe_buf           b = {.cx = cx};
    int64_t           n;
    bool              yes;

    (void)state;
    assert_int_equal(axe_layout_row_major(cx, two, &l), AXE_OK);
    WRONG(axe_layout_row_major(NULL, two, &o));
    WRONG(axe_layout_row_major(cx, none, &o));
    WRONG(axe_layout_row_major(cx, less, &o));
    WRONG(axe_layout_row_major(cx, two, NULL));
    WRONG(axe_layout_strided(cx, two, NULL, &o));
    WRONG(axe_layout_make(cx, NULL, &o));
    WRONG(axe_layout_of_iters(cx, 1, NULL, &o));
    WRONG(axe_layout_read(cx, NULL, &o));
    WRONG(axe_layout_apply(cx, NULL, 0, &points));
    WRONG(axe_layout_span(cx, NULL, AXE_AXIS_M, &n));
    WRONG(axe_layout_cosize(cx, l, AXE_AXIS_M, NULL));
    WRONG(axe_layout_equal(cx, l, NULL, &yes));
    WRONG(axe_layout_equal(cx, NULL, l, &yes));
    WRONG(axe_layout_equal(cx, l, l, NULL));
    WRONG(axe_layout_surjective(cx, NULL, &yes));
    WRONG(axe_layout_compact(cx, NULL, &yes));
    WRONG(axe_layout_fiber_size(cx, NULL, &n));
    WRONG(axe_layout_canon(cx, NULL, &o));
    WRONG(axe_layout_draw(NULL, l, 8, 80, &b));
    WRONG(axe_layout_draw(cx, NULL, 8, 80, &b));
    WRONG(axe_layout_draw(cx, l, 8, 80, NULL));
    WRONG(axe_layout_svg(cx, NULL, 8, &b));
    WRONG(axe_layout_svg(cx, l, 8, NULL));
    WRONG(axe_machine_axes_use(cx, NULL));
    assert_int_equal(axe_machine_axes_use(cx, "sm_12"), AXE_ENAME);
    assert_int_equal(axe_layout_draw(cx, l, 8, -1, &b), AXE_OK);
    assert_string_equal(axe_differ_part_text((axe_differ_part)99), "?");
}

static void
test_tile(void **state)
{
    axe_shape         two = {1, (int64_t[]){2}}, none = {1, NULL};
    const axe_layout *l, *o;

    (void)state;
    assert_int_equal(axe_layout_row_major(cx, two, &l), AXE_OK);
    WRONG(axe_layout_group(cx, NULL, two, &o));
    WRONG(axe_layout_group(cx, l, none, &o));
    WRONG(axe_layout_permute(cx, l, 1, NULL, &o));
    WRONG(axe_layout_tile(cx, NULL, two, l, two, &o));
    WRONG(axe_layout_tile(cx, l, two, NULL, two, &o));
    WRONG(axe_layout_tile_of(cx, NULL, two, l, two, &o));
    WRONG(axe_layout_tile_of(cx, l, two, NULL, two, &o));
    WRONG(axe_layout_tile_of_outer(cx, l, two, NULL, two, &o));
    WRONG(axe_layout_tile_to(cx, NULL, two, two, &o));
    WRONG(axe_layout_direct_sum(cx, NULL, two, l, two, &o));
    WRONG(axe_layout_slice(cx, l, two, NULL, NULL, &o));
    WRONG(axe_layout_inverse(cx, NULL, &o));
    WRONG(axe_layout_left_inverse(cx, NULL, &o));
    WRONG(axe_layout_compose(cx, l, NULL, &o));
    WRONG(axe_layout_compose(cx, NULL, l, &o));
    WRONG(axe_layout_complement(cx, NULL, 4, &o));
    WRONG(axe_layout_storage(cx, NULL, &o));
    WRONG(axe_layout_pack(cx, NULL, 2, &o));
    WRONG(axe_layout_unpack(cx, NULL, 2, &o));
    WRONG(axe_layout_swizzled(cx, NULL, (axe_swizzle){0}, &o));
}

static void
test_names(void **state)
{
    axe_dlpack  tensor = {0};
    axe_array   array;
    axe_swizzle s;
    axe_axis    axis;
    axe_value   value;

    (void)state;
    WRONG(axe_swizzle_of_bytes(cx, 32, NULL));
    WRONG(axe_swizzle_detect(cx, 2, NULL, &s));
    WRONG(axe_iter_intersect(cx, (axe_iter){0}, (axe_iter){0}, NULL));
    WRONG(axe_axes_load(cx, NULL));
    WRONG(axe_axis_find(cx, AXE_NOWHERE, NULL, &axis));
    WRONG(axe_axis_declare(cx, NULL, (axe_axis_kind)0, &axis));
    WRONG(axe_expr_eval(cx, "x", NULL, NULL, &value));
    WRONG(axe_expr_eval(cx, "x", "(2) : (1)", NULL, NULL));
    WRONG(axe_array_of_dlpack(cx, NULL, &tensor, AXE_DLPACK_CPU, &array));
    WRONG(axe_array_of_dlpack(cx, "X", NULL, AXE_DLPACK_CPU, &array));
    WRONG(axe_array_of_dlpack(cx, "X", &tensor, AXE_DLPACK_CPU, NULL));
    assert_null(axe_machine_axes(NULL));
    assert_non_null(axe_machine_axes_all(NULL));
    assert_non_null(strstr(axe_eval_line(NULL, "{}", 2), "EARG"));
    assert_int_equal(axe_eval_bytes(NULL), 0);
    axe_eval_free(NULL);
    axe_ctx_free(NULL);
}

/* What was wrong is said. */
static void
test_words(void **state)
{
    axe_mark m = axe_ctx_mark(cx);

    (void)state;
#define SAID(call, words)                                                      \
    do {                                                                       \
        assert_int_equal((call), AXE_EARG);                                    \
        assert_string_equal(axe_last_error(cx), (words));                      \
    } while (0)
    SAID(axe_launch(cx, NULL, 2, a, 0, NULL), "axe_launch: e is NULL");
    SAID(axe_launch(cx, e, 2, NULL, 0, NULL),
         "axe_launch: array is NULL, and 2 of it are announced");
    SAID(axe_launch(cx, e, 2, a, -1, NULL),
         "axe_launch: the count for size is -1");
    SAID(axe_launch(cx, (axe_exec *)(void *)d, 2, a, 0, NULL),
         "axe_launch: e is not an exec, or no longer");
    SAID(axe_exec_new(cx, (axe_device *)(void *)e, p, &(axe_exec *){NULL}),
         "axe_exec_new_all: d is not a device, or no longer");
    SAID(axe_gpu_wait(cx, (axe_gpu *)(void *)d, NULL),
         "axe_gpu_wait: g is not a GPU, or no longer");
    SAID(axe_program_emit(cx, p, (axe_stage)99, &(axe_buf){.cx = cx}),
         "axe_program_emit: no stage has the number 99, they end at 3");
#undef SAID
    axe_ctx_release(cx, m);
}

/* A child has the device's memory and none of its threads: said, and no hang.
 */
static void
test_fork(void **state)
{
    int   status;
    pid_t pid = fork();

    (void)state;
    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        axe_device *own;
        axe_exec   *exec;
        int         bad = 0;
        alarm(20);
        bad += axe_launch(cx, e, 2, a, 0, NULL) != AXE_EDEVICE;
        bad += !strstr(axe_last_error(cx), "before this process was forked");
        bad += axe_call_run(cx, c) != AXE_EDEVICE;
        bad += axe_exec_new(cx, d, p, &exec) != AXE_EDEVICE;
        axe_device_free(d);
        bad += axe_device_new(cx, &(axe_device_spec){.n_thread = 2}, &own) !=
               AXE_OK;
        axe_device_free(own);
        _exit(bad);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(axe_launch(cx, e, 2, a, 0, NULL), AXE_OK);
    assert_int_equal(axe_call_run(cx, c), AXE_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile),   cmocka_unit_test(test_texts),
        cmocka_unit_test(test_questions), cmocka_unit_test(test_device),
        cmocka_unit_test(test_launch),    cmocka_unit_test(test_programs),
        cmocka_unit_test(test_nothing),   cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_simulate),  cmocka_unit_test(test_no_gpu),
        cmocka_unit_test(test_layout),    cmocka_unit_test(test_tile),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_fork),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
