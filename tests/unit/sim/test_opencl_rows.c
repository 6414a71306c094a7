/* test_opencl_rows.c - devices of OpenCL as machines: kernels of the library
 * are planned, lowered and simulated for sub-groups of each width and for none,
 * and compared with the reference. */
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
    {"transpose", ALL, {"transpose", "", {70, 45}, "meet.cta", "", 0, -1}},
    {"permute", ALL, {"permute_acb", "", {5, 9, 40}, "load", "", 0, -1}},
    {"reduce", ALL, {"col_sum", "", {70, 136}, "load", "shuffle", 0, -1}},
    {"reduce", GROUPS, {"row_sum", "", {9, 600}, "shuffle.xor.b32", "", 0, -1}},
    {"reduce", GROUPS, {"row_argmax", "", {5, 601}, "shuffle", "", 0, -1}},
    {"softmax", GROUPS, {"softmax", "", {5, 301}, "shuffle", "", 0, -1}},
    {"layernorm", GROUPS, {"layernorm", "", {5, 264}, "shuffle", "", 0, -1}},
    {"scan", GROUPS, {"scan", "", {5, 300}, "shuffle", "", 0, -1}},
    {"gemm_nn", ALL, {"gemm_nn", "", {70, 50, 45}, "mad.f32", "", 0, -1}},
    {"gemm", MORE, {"gemm", "", {70, 50, 45}, "mad.f32 meet.cta", "", 0, -1}},
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
                r.atoms = "meet.cta";
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
                        (!*a->needs ||
                         (has_groups(mc) && strcmp(a->needs, "f64") != 0)));
        }
        for (int q = 1; q <= mc->simt->lanes; q++)
            for (int i = 0; i < mc->n_atom; i++)
                if (mc->atom[i].step > 0)
                    assert_int_equal(axe_atom_takes(&mc->atom[i], q),
                                     q < mc->simt->lanes && (q & (q - 1)) == 0);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
