/* test_opencl_kernels.c - kernels of the library, planned for sub-groups of
 * each width and for none, printed as OpenCL C and run on every device that is
 * installed and has that width; compared with the reference.  Skipped where
 * there is no device, and under ASan, which takes what runtimes keep for leaks.
 */
#define _XOPEN_SOURCE 700

#include <unistd.h>

#include "axe/opencl.h"
#include "opencl_machines.h"
#include "print/opencl/opencl.h"
#include "run/values.h"
#include "share.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static char        cache[] = "/tmp/axe_opencl_XXXXXX";
static axe_opencl *cl;

/* exchanges: lanes do, which takes sub-groups; more: tiles want more local
 * memory than the machine's row has. */
static const struct {
    const char *file;
    bool        exchanges, more;
    row         row;
} kernels[] = {
    {"elementwise", false, false, {"add", "", {33, 137}, "", "", 0, 0}},
    {"elementwise", false, false, {"add", "", {0, 136}, "", "", 0, 0}},
    {"transpose", false, false, {"transpose", "", {70, 45}, "", "", 0, 0}},
    {"permute", false, false, {"permute_acb", "", {5, 9, 40}, "", "", 0, 0}},
    {"reduce", false, false, {"col_sum", "", {70, 136}, "", "", 0, 0}},
    {"reduce", true, false, {"row_sum", "", {9, 601}, "", "", 0, 0}},
    {"softmax", true, false, {"softmax", "", {5, 301}, "", "", 0, 0}},
    {"scan", true, false, {"scan", "", {5, 300}, "", "", 0, 0}},
    {"gemm_nn", false, false, {"gemm_nn", "", {70, 50, 45}, "", "", 0, 0}},
    {"gemm", false, true, {"gemm", "", {70, 50, 45}, "", "", 0, 0}},
};

static int64_t
bytes_of(const axe_array *a, const axe_tensor *t)
{
    int64_t n = axe_type_table[t->type].bits / 8;

    for (int d = 0; d < a->rank; d++)
        n *= a->shape[d];
    return n;
}

/* Every grid in order, on arrays in the device's memory. */
static axe_status
launch(run *x, axe_opencl_program *program, axe_opencl_buffer **buffer)
{
    const axe_kernel *k = x->p->kernel;
    axe_opencl_arg    arg[MAX_ARRAY + MAX_SIZE + 1];
    int64_t           size[MAX_SIZE], cores = 1, blocks;
    int               n = 0;

    assert_int_equal(k->n_temp, 0);
    for (int i = 0; i < x->n_array; i++)
        arg[n++] = (axe_opencl_arg){.buffer = buffer[i]};
    for (int i = 0; i < x->n_size; i++) {
        size[i] = x->size[i].value;
        arg[n++] = (axe_opencl_arg){.value = &size[i], .bytes = sizeof *size};
    }
    arg[n++] = (axe_opencl_arg){.value = &cores, .bytes = sizeof cores};
    for (int i = 0; i < x->p->lowered->n_host; i++) {
        const axe_host *h = &x->p->lowered->host[i];
        const axe_grid *g = &x->p->lowered->grid[h->grid];
        axe_values      values = {.kernel = k, .size = size, .cores = cores};
        assert_int_equal(h->kind, AXE_HOST_GRID);
        assert_true(axe_value_of(&values, g->blocks, &blocks));
        AXE_TRY(axe_opencl_launch(
            x->cx, program,
            &(axe_opencl_grid){g->name, blocks, g->n_thread, n, arg}, NULL));
    }
    return axe_opencl_wait(x->cx, cl);
}

static axe_status
run_there(run *x, const char *text, const char *options)
{
    axe_opencl_program *program;
    axe_opencl_buffer  *buffer[MAX_ARRAY];
    axe_status          st;

    AXE_TRY(axe_opencl_build(x->cx, cl, text, options, NULL, &program));
    for (int i = 0; i < x->n_array; i++) {
        size_t n = (size_t)bytes_of(&x->array[i], x->p->kernel->param[i]);
        AXE_TRY(axe_opencl_alloc(x->cx, cl, n, &buffer[i]));
        AXE_TRY(axe_opencl_put(x->cx, buffer[i], 0, x->array[i].data, n));
    }
    st = launch(x, program, buffer);
    for (int i = 0; i < x->n_array; i++) {
        size_t n = (size_t)bytes_of(&x->array[i], x->p->kernel->param[i]);
        if (st == AXE_OK)
            st = axe_opencl_get(x->cx, buffer[i], 0, x->array[i].data, n);
        axe_opencl_release(buffer[i]);
    }
    axe_opencl_program_free(program);
    return st;
}

/* One kernel for one machine on the device. */
static void
check_one(axe_device *dev, const axe_machine *mc, const char *file,
          const row *r)
{
    run            x = {.cx = axe_ctx_new()};
    axe_reference *ref;
    axe_buf        text = {.cx = x.cx};
    bool           groups = axe_opencl_about(cl)->n_width > 0;
    row            own = *r;

    own.name = axe_textf(x.cx, "%s on %s", r->name, mc->name);
    if (compile_on(&x, file, r->name, mc) != AXE_OK ||
        axe_print_opencl(x.cx, x.p->lowered, &text) != AXE_OK)
        fail_row(x.cx, &own);
    make_arrays(&x, r);
    if (axe_reference_new(x.cx, dev, x.p, x.n_array, x.array, x.n_size, x.size,
                          &ref) != AXE_OK ||
        run_there(&x, text.text,
                  groups ? "-cl-std=CL3.0 -cl-opt-disable"
                         : "-cl-opt-disable") != AXE_OK)
        fail_row(x.cx, &own);
    compare(&x, &own, ref);
    axe_reference_free(ref);
    for (int i = 0; i < x.n_array; i++)
        free(x.array[i].data);
    axe_ctx_free(x.cx);
}

/* "sg16" of a machine that has sub-groups. */
static bool
fits(axe_ctx *cx, const axe_machine *mc)
{
    axe_mark    m = axe_ctx_mark(cx);
    const char *need = axe_textf(cx, "%s sg%d", mc->features, mc->simt->lanes);
    bool        ok = !*mc->features || axe_opencl_need(cx, cl, need) == AXE_OK;

    axe_ctx_release(cx, m);
    return ok;
}

static int device; /* that tests run on */

static void
test_kernels(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_device_spec one = {.n_thread = 1};
    axe_opencl_spec spec = {.number = device, .cache = cache};
    axe_device     *dev;

    (void)state;
    assert_int_equal(axe_device_new(cx, &one, &dev), AXE_OK);
    assert_int_equal(axe_opencl_new(cx, &spec, &cl), AXE_OK);
    for (int m = 0; m < axe_opencl_machines.n; m += share()) {
        const axe_machine *least = &axe_opencl_machines.machine[m], *mc;
        if (!fits(cx, least))
            continue;
        mc = with_local(cx, least, axe_opencl_about(cl)->local_bytes);
        for (int i = 0; i < AXE_LEN(kernels); i++)
            if (!kernels[i].exchanges || *least->features)
                check_one(dev, kernels[i].more ? mc : least, kernels[i].file,
                          &kernels[i].row);
    }
    axe_opencl_free(cl);
    axe_device_free(dev);
    axe_ctx_free(cx);
}

int
main(void)
{
    static const char       own[] = AXE_SOURCE_DIR "/build/opencl/vendors";
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    const axe_opencl_facts *all;
    axe_ctx                *cx;
    int                     n = 0, bad = 0;

    if (SANITIZED) {
        puts("skipped: runtimes keep memory to the end, leaks to a sanitizer");
        return 77;
    }
    cx = axe_ctx_new();
    if (access(own, R_OK) == 0)
        setenv("OCL_ICD_VENDORS", own, 0);
    if (axe_opencl_list(cx, &n, &all) != AXE_OK || n == 0) {
        printf("skipped: %s\n", axe_last_error(cx));
        return 77;
    }
    if (!mkdtemp(cache))
        return 1;
    for (device = 0; device < n; device++) {
        printf("on %s of %s\n", all[device].name, all[device].platform);
        fflush(stdout);
        bad += cmocka_run_group_tests(tests, NULL, NULL);
    }
    bad += system(axe_textf(cx, "rm -rf %s", cache)) != 0;
    axe_ctx_free(cx);
    return bad > 0;
}
