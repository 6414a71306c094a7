/* test_machine.c - texts of atoms' layouts: letters, products, quotients; which
 * parameters a row takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "machine/machine.h"

static const struct {
    const char *text;
    int         p, g;
    const char *roles, *want; /* "": refused */
} texts[] = {
    {"[v] (P) : (1@reg)", 8, 1, "v", "(8) : (1@reg)"},
    {"[v, g] (V, G) : (G@lane, 1@lane)", 4, 2, "v, g",
     "(4, 2) : (2@lane, 1@lane)"},
    {"[a] ((4, P/8)) : ((1@wid, 4@reg))", 24, 1, "a",
     "((4, 3)) : ((1@wid, 4@reg))"},
    {"[a] ((4, P/8)) : ((1@wid, 4@reg))", 20, 1, "a", ""},
    {"[a] (16/P, 2, P) : (2*P@lane, -P@lane, 1@lane) + P@lane", 4, 1, "a",
     "(4, 2, 4) : (8@lane, -4@lane, 1@lane) + 4@lane"},
    {"[a] (16/P, 2, P) : (2*P@lane, -P@lane, 1@lane) + P@lane", 3, 1, "a", ""},
    {"[] (1) : (1)", 0, 1, "", "(1) : (1)"},
};

static void
test_texts(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_80", &mc), AXE_OK);
    for (int i = 0; i < AXE_LEN(texts); i++) {
        const axe_layout *l;
        const char       *roles;
        axe_status        st = axe_atom_layout(cx, texts[i].text, texts[i].p,
                                               texts[i].g, &roles, &l);
        if (*texts[i].want == '\0') {
            assert_int_equal(st, AXE_ESHAPE);
            continue;
        }
        assert_int_equal(st, AXE_OK);
        assert_string_equal(roles, texts[i].roles);
        assert_string_equal(axe_layout_text(cx, l), texts[i].want);
    }
    axe_ctx_free(cx);
}

static const struct {
    const char *name;
    axe_type    type;
    int         want; /* 0: it does not move such elements */
} params[] = {
    {"ld.global.b128", AXE_TYPE_f16, 8},
    {"ld.global.b128", AXE_TYPE_f64, 2},
    {"ld.global.b32", AXE_TYPE_f64, 0},
    {"ld.global.b8", AXE_TYPE_u8, 1},
    {"ld.global.b8", AXE_TYPE_f16, 0},
    {"ldmatrix.x4", AXE_TYPE_f16, 8},
    {"ldmatrix.x4", AXE_TYPE_i8, 16},
    {"ldmatrix.x4", AXE_TYPE_f32, 4},
    {"ldmatrix.x4", AXE_TYPE_f64, 0},
    {"ldmatrix.x4.trans", AXE_TYPE_f16, 8},
    {"ldmatrix.x4.trans", AXE_TYPE_i8, 0},
    {"shfl.idx.b32", AXE_TYPE_f32, 1},
    {"shfl.idx.b32", AXE_TYPE_f16, 0},
};

static const axe_atom *
find(const axe_machine *mc, const char *name)
{
    for (int i = 0; i < mc->n_atom; i++)
        if (strcmp(mc->atom[i].name, name) == 0)
            return &mc->atom[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void
test_params(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;
    int                p;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_90a", &mc), AXE_OK);
    for (int i = 0; i < AXE_LEN(params); i++) {
        p = 0;
        if (axe_atom_param(find(mc, params[i].name), params[i].type, &p) !=
                (params[i].want > 0) ||
            p != params[i].want)
            fail_msg("%s of %s: %d", params[i].name,
                     axe_type_table[params[i].type].name, p);
    }
    assert_false(axe_atom_param(find(mc, "shfl.bfly.b32"), AXE_TYPE_f32, &p));
    for (int q = 0; q < 40; q++) {
        assert_int_equal(axe_atom_takes(find(mc, "shfl.bfly.b32"), q),
                         q == 1 || q == 2 || q == 4 || q == 8 || q == 16);
        assert_int_equal(axe_atom_takes(find(mc, "wgmma.f32.f16.ss"), q),
                         q > 0 && q % 8 == 0);
        assert_false(axe_atom_takes(find(mc, "ldmatrix.x4"), q));
    }
    axe_ctx_free(cx);
}

/* Names are unique: `atom` statements and reports find rows by them. */
static void
test_names(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;

    (void)state;
    for (int m = 0; m < axe_n_machine(); m++) {
        mc = axe_machine_at(m);
        for (int i = 0; i < mc->n_atom; i++)
            assert_ptr_equal(find(mc, mc->atom[i].name), &mc->atom[i]);
    }
    axe_ctx_free(cx);
}

/* A GPU is no host, and older ones lack what newer ones have. */
static void
test_needs(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *a, *h;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_80", &a), AXE_OK);
    assert_int_equal(axe_machine_find(cx, "sm_90a", &h), AXE_OK);
    assert_false(axe_machine_runs_here(a) || axe_machine_runs_here(h));
    assert_true(axe_machine_has(a, find(a, "mma.m16n8k16.f32.f16")));
    assert_false(axe_machine_has(a, find(a, "mma.m16n8k32.f32.e4m3")));
    assert_false(axe_machine_has(a, find(a, "wgmma.f32.f16.ss")));
    assert_false(axe_machine_has(a, find(a, "tma.load")));
    for (int i = 0; i < h->n_atom; i++)
        assert_true(axe_machine_has(h, &h->atom[i]));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
