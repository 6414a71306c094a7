/* test_opencl_rows.c - devices of OpenCL as machines: kernels of the library
 * are planned, lowered and simulated for sub-groups of each width and for none,
 * and compared with the reference. */
#include "machine/thread_rows.h"
#include "opencl_machines.h"
#include "share.h"

/* All machines; where these atoms are of those with sub-groups, items combine
 * by local memory without; with more local memory than the row says. */
enum { ALL, GROUPS, MORE };

static const struct {
    const char *file; /* of kernels/; its first kernel, or that of the row */
    int         on;
    row         row;
} kernels[] = {
    {"elementwise", ALL, {"add", "", {33, 136}, "load.global", "", 0, -1}},
    {"transpose", ALL, {"transpose", "", {70, 45}, "barrier.cta", "", 0, -1}},
    {"permute", ALL, {"permute_acb", "", {5, 9, 40}, "load", "", 0, -1}},
    {"reduce", ALL, {"col_sum", "", {70, 136}, "load", "shuffle", 0, -1}},
    {"reduce", GROUPS, {"row_sum", "", {9, 600}, "reduce.add.f32", "", 0, -1}},
    {"reduce",
     GROUPS,
     {"row_argmax", "", {5, 601}, "reduce.max.f32", "", 0, -1}},
    {"softmax",
     GROUPS,
     {"softmax", "", {5, 301}, "reduce.add.f32 reduce.max.f32", "", 0, -1}},
    {"layernorm",
     GROUPS,
     {"layernorm", "", {5, 264}, "reduce", "shuffle", 0, -1}},
    {"scan", GROUPS, {"scan", "", {5, 300}, "shuffle", "", 0, -1}},
    {"gemm_nn", ALL, {"gemm_nn", "", {70, 50, 45}, "mad.f32", "", 0, -1}},
    {"gemm",
     MORE,
     {"gemm", "", {70, 50, 45}, "mad.f32 barrier.cta", "", 0, -1}},
};

static bool
has_groups(const axe_machine *mc)
{
    return strstr(mc->features, "subgroups") != NULL;
}

static void
test_kernels(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *dev;

    (void)state;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev), AXE_OK);
    for (int i = 0; i < AXE_LEN(kernels); i++)
        for (int m = 0; m < axe_opencl_machines.n; m += share()) {
            run                x = {.cx = axe_ctx_new()};
            const axe_machine *mc = &axe_opencl_machines.machine[m];
            row                r = kernels[i].row;
            if (kernels[i].on == GROUPS && !has_groups(mc)) {
                r.never = r.atoms;
                r.atoms = "barrier.cta";
            }
            if (kernels[i].on == MORE)
                mc = with_local(cx, mc, 256 * 1024);
            if (compile_on(&x, kernels[i].file, r.name, mc) != AXE_OK)
                fail_row(x.cx, &r);
            r.name = axe_textf(cx, "%s on %s", r.name, mc->name);
            run_compiled(dev, &r, &x, -1);
        }
    axe_device_free(dev);
    axe_ctx_free(cx);
}

/* On CPUs turns that reach no edge are apart: sizes have both. */
static const struct {
    const char *file, *machine;
    row         row;
} of_cores[] = {
    {"softmax", "opencl-sg8", {"softmax", "", {33, 301}, "reduce", "", 0, -1}},
    {"softmax", "opencl-sg16", {"softmax", "", {33, 301}, "reduce", "", 0, -1}},
    {"layernorm",
     "opencl-sg16",
     {"layernorm", "", {19, 264}, "reduce", "", 0, -1}},
    {"reduce", "opencl-sg32", {"col_sum", "", {70, 300}, "load", "", 0, -1}},
    {"gemm", "opencl-sg16", {"gemm", "", {130, 70, 45}, "mad.f32", "", 0, -1}},
    {"gemm_t",
     "opencl-sg8",
     {"gemm_tn", "", {40, 130, 70}, "mad.f32", "", 0, -1}},
    {"scan", "opencl-sg16", {"scan", "", {5, 300}, "shuffle", "", 0, -1}},
};

static void
test_cores(void **state)
{
    axe_ctx    *cx = axe_ctx_new();
    axe_device *dev;

    (void)state;
    assert_int_equal(
        axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &dev), AXE_OK);
    for (int i = 0; i < AXE_LEN(of_cores); i += share()) {
        run x = {.cx = axe_ctx_new()};
        row r = of_cores[i].row;
        if (compile_on(&x, of_cores[i].file, r.name,
                       on_core(x.cx, of_cores[i].machine)) != AXE_OK)
            fail_row(x.cx, &r);
        run_compiled(dev, &r, &x, -1);
    }
    axe_device_free(dev);
    axe_ctx_free(cx);
}

/* Every row is one that a planner can ask for, and its name is its own. */
static void
test_rows(void **state)
{
    (void)state;
    for (int m = 0; m < axe_opencl_machines.n; m++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc = &axe_opencl_machines.machine[m];
        assert_int_equal(axe_machine_use(cx, mc), AXE_OK);
        for (int i = 0; i < mc->n_atom; i++) {
            const axe_atom *a = &mc->atom[i];
            int             p = a->lo > 0 ? a->lo : 1, n = 0;
            const char     *roles;
            for (int j = 0; j < i; j++)
                assert_string_not_equal(mc->atom[j].name, a->name);
            for (int w = 0; w < 3; w++) {
                const axe_layout *l;
                const char       *text = w == 0 ? a->d : w == 1 ? a->a : a->b;
                if (!*text)
                    continue;
                if (axe_atom_operand(cx, a, w, p, &roles, &l) != AXE_OK)
                    fail_msg("%s of %s: %s", a->name, mc->name,
                             axe_last_error(cx));
                n++;
            }
            assert_true(n > 0 || a->kind == AXE_ATOM_SYNC);
            assert_true(axe_machine_has(mc, a) ==
                        (!*a->needs || strstr(mc->features, a->needs) != NULL));
        }
        for (int q = 1; q <= mc->simt->lanes; q++)
            for (int i = 0; i < mc->n_atom; i++)
                if (mc->atom[i].step > 0 &&
                    mc->atom[i].kind == AXE_ATOM_PERMUTE)
                    assert_int_equal(axe_atom_takes(&mc->atom[i], q),
                                     q >= mc->atom[i].lo &&
                                         q < mc->simt->lanes &&
                                         (q & (q - 1)) == 0);
        axe_ctx_free(cx);
    }
}

/* What is refused for a feature that the machine lacks, and how that is said.
 */
static const struct {
    const char *text, *machine, *says; /* NULL: holds_f64 */
} lacking[] = {
    {"kernel k(in f64 A[M, K], in f64 B[N, K], out f64 C[M, N]) {"
     "index m, n, k; cta (i : M by 32, j : N by 32) { reg f64 c[32, 32] = 0;"
     "for (t : K by 8) { shared f64 a[32, 8]; shared f64 b[32, 8];"
     "a[m, k] = A[i*32 + m, t*8 + k]; b[n, k] = B[j*32 + n, t*8 + k];"
     "c[m, n] += a[m, k] * b[n, k]; } C[i*32 + m, j*32 + n] = c[m, n]; } }",
     NULL,
     "no atom of opencl-sg16 takes these types in 32 x 32 x 8; mad.f64 would, "
     "which needs `f64`"},
    {"kernel k(in f64 X[N], out f64 Y[N]) { index m;"
     "cta (i : N by 256) Y[i*256 + m] = X[i*256 + m]; }",
     "opencl",
     "opencl has no registers for elements of type f64, which need its feature "
     "`f64`"},
    {"kernel k(in f32 X[N], out f32 Y[N]) { index m; cta (i : N by 256)"
     "Y[i*256 + m] = f32(f64(X[i*256 + m]) * f64(2)); }",
     "opencl-sg8", "of type f64, which need its feature `f64`"},
    {"kernel k(in i64 X[M], in i32 r[M], inout i64 Y[V]) { index m;"
     "cta (i : M by 256) Y[r[i*256 + m]] += X[i*256 + m]; }",
     "opencl-sg8",
     "atomic.global.add.i64 would fold, which needs `atomic64` of opencl-sg8"},
};

/* A device that holds f64 in registers and has no rows for them. */
static const axe_machine *
holds_f64(axe_ctx *cx)
{
    const axe_machine *old = opencl_named("opencl-sg16");
    axe_machine       *mc = axe_new(cx, axe_machine);
    axe_compute_row *rows = axe_new_array(cx, axe_compute_row, old->n_compute);

    for (int i = 0; i < old->n_compute; i++)
        rows[i] = (axe_compute_row){.type = old->compute[i].type,
                                    .compute = old->compute[i].compute};
    *mc = *old;
    mc->compute = rows;
    return mc;
}

static void
test_lacking(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(lacking); i++) {
        run         x = {.cx = axe_ctx_new()};
        const char *text = lacking[i].text;
        int32_t     source = axe_source_add(x.cx, "k", text, strlen(text));
        axe_buf     b = {.cx = x.cx};
        const axe_machine *mc = lacking[i].machine
                                    ? opencl_named(lacking[i].machine)
                                    : holds_f64(x.cx);
        assert_int_not_equal(compile_source(&x, source, "k", mc), AXE_OK);
        axe_diags_print(x.cx, &b, false);
        if (!strstr(b.text, lacking[i].says))
            fail_msg("%d: no \"%s\" in\n%s", i, lacking[i].says, b.text);
        axe_ctx_free(x.cx);
    }
}

/* A sum of f32 by groups is one atomic where the device has it for all of its
 * groups, else what any device has. */
static void
test_sums_of_groups(void **state)
{
    static const struct {
        const char *features, *row;
    } sums[] = {
        {"", "atomic.global.swap.f32"},
        {"atomic.global.float", "atomic.global.swap.f32"},
        {"atomic.device", "atomic.global.swap.f32"},
        {"atomic.device atomic.global.float", "atomic.global.add.f32"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(sums); i++) {
        axe_machine     mc = *opencl_named("opencl");
        int             param;
        const axe_atom *a;

        mc.features = sums[i].features;
        a = axe_simt_find_fold(&mc, AXE_FOLD_SUM, AXE_TYPE_f32, 1, &param);
        assert_string_equal(a->name, sums[i].row);
    }
}

/* A group has whole sub-groups, and no more than a plan looks at. */
static void
test_items(void **state)
{
    static const struct {
        const char *machine;
        int64_t     most;
        int         items;
    } groups[] = {
        {"opencl", 100, 100},       {"opencl-sg16", 100, 96},
        {"opencl-sg64", 100, 64},   {"opencl-sg32", 8192, 1024},
        {"opencl-sg8", 1024, 1024}, {"opencl-sg8", 1023, 1016},
        {"opencl-sg64", 63, 256},   {"opencl", 0, 256},
    };
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    for (int i = 0; i < AXE_LEN(groups); i++) {
        const axe_machine *mc = axe_opencl_machine(
            cx, opencl_named(groups[i].machine),
            &(axe_opencl_has){
                .kind = "gpu", .features = "", .most_items = groups[i].most});
        assert_int_equal(mc->simt->max_threads, groups[i].items);
    }
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_items),
        cmocka_unit_test(test_kernels),        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_sums_of_groups), cmocka_unit_test(test_cores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
