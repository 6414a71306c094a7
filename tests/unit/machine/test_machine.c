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
        assert_true(axe_machine_has(h, &h->atom[i]) ==
                    (strcmp(h->atom[i].needs, "tc") != 0 &&
                     strcmp(h->atom[i].needs, "clc") != 0));
    assert_int_equal(axe_machine_find(cx, "sm_100a", &h), AXE_OK);
    for (int i = 0; i < h->n_atom; i++)
        assert_true(axe_machine_has(h, &h->atom[i]) ==
                    (strcmp(h->atom[i].needs, "wgmma") != 0));
    axe_ctx_free(cx);
}

/* What an operand's layout reads as: tensor memory is linear. */
static const struct {
    const char *name;
    int         which, param;
    const char *want;
} operands[] = {
    {"tc.ld.32x32b.x1", 0, 1, "((4, 32), 1) : ((1@wid, 1@lane), 1@reg)"},
    {"tc.ld.32x32b.x8", 1, 1, "((4, 32), 8) : ((2097152, 65536), 1)"},
    {"tc.ld.32x32b.x8", 1, 2, "((4, 32), 16) : ((4194304, 131072), 1)"},
    {"tc.st.16x256b.x2.unpack", 0, 2, "((4, 16), 32) : ((4194304, 131072), 2)"},
    {"tc.f32.bf16.m64.ss", 0, 64, "((4, 16), 64) : ((2097152, 65536), 1)"},
    {"tc.f16.f16.m128.ss", 0, 64, "(128, 64) : (131072, 2)"},
    {"tc.f32.e4m3.m128.ts", 1, 64, "(128, 32) : (262144, 1)"},
    {"tc.f32.f16.pair128.ss", 0, 64,
     "((2, 64), (2, 32)) : ((1@cta, 65536), (4194304, 1))"},
    {"tc.ld.16x32bx2.x4", 0, 1,
     "((4, 16), (2, 4)) : ((1@wid, 1@lane), (16@lane, 1@reg))"},
    {"tc.ld.16x64b.x2.pack", 1, 2, "((4, 16), 8) : ((4194304, 131072), 2)"},
    {"tc.cp.64x128b.02_13", 0, 4, "(64, 16) : (262144, 1) + [2 : 16777216]"},
    {"tc.cp.64x128b.01_23", 0, 4,
     "((2, 32), 16) : ((16777216, 262144), 1) + [2 : 8388608]"},
    {"tc.cp.32x128b.warpx4", 0, 4, "(32, 16) : (262144, 1) + [4 : 8388608]"},
    {"ldmatrix.x4", 1, 8, "(4, 8, 8) : (8@lane, 1@lane, 1)"},
};

static void
test_operands(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc;
    const axe_layout  *l;
    const char        *roles;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_100a", &mc), AXE_OK);
    for (int i = 0; i < AXE_LEN(operands); i++) {
        assert_int_equal(axe_atom_operand(cx, find(mc, operands[i].name),
                                          operands[i].which, operands[i].param,
                                          &roles, &l),
                         AXE_OK);
        assert_string_equal(axe_layout_text(cx, l), operands[i].want);
    }
    axe_ctx_free(cx);
}

/* Both sides of a move have the same elements, and operands of products agree
 * in how far they run, whatever P is. */
static void
check_row(axe_ctx *cx, const axe_atom *a, int p)
{
    const axe_layout *l[3];
    const char       *roles;
    int               n = a->kind == AXE_ATOM_CONTRACT ? 3 : 2;

    for (int i = 0; i < n; i++)
        if (axe_atom_operand(cx, a, i, p, &roles, &l[i]) != AXE_OK)
            fail_msg("%s<%d>: operand %d", a->name, p, i);
    if (n == 2 && l[0]->size != l[1]->size)
        fail_msg("%s<%d> moves %d elements to %d", a->name, p, (int)l[1]->size,
                 (int)l[0]->size);
    if (n == 3 && axe_layout_shape(cx, l[0]).extent[0] *
                          axe_layout_shape(cx, l[2]).extent[0] !=
                      l[0]->size)
        fail_msg("%s<%d> is no product", a->name, p);
}

static void
test_rows(void **state)
{
    static const axe_type any[] = {AXE_TYPE_u8, AXE_TYPE_f16, AXE_TYPE_f32};
    axe_ctx              *cx = axe_ctx_new();
    const axe_machine    *mc;
    int                   p, n = 0;

    (void)state;
    assert_int_equal(axe_machine_find(cx, "sm_100a", &mc), AXE_OK);
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *a = &mc->atom[i];
        if (strcmp(a->needs, "tc") != 0 || a->kind == AXE_ATOM_SYNC)
            continue;
        n++;
        for (int k = 0; k < AXE_LEN(any) && a->step == 0; k++)
            if (axe_atom_param(a, any[k], &p))
                check_row(cx, a, p);
        for (p = 8; p <= 256 && a->step > 0; p += 8)
            if (axe_atom_takes(a, p))
                check_row(cx, a, p);
    }
    assert_true(n > 160);
    assert_false(axe_atom_takes(find(mc, "tc.f32.f16.m128.ss"), 8));
    assert_true(axe_atom_takes(find(mc, "tc.f32.f16.m64.ss"), 8));
    assert_false(axe_atom_takes(find(mc, "tc.f32.f16.pair256.ss"), 48));
    axe_ctx_free(cx);
}

/* Descriptions that are not whole: sm_90a, or cpu-avx2, with one thing wrong.
 */
static const struct {
    const char *of, *name; /* "": as it is */
    int         lanes, group, threads;
    bool        bare;
    const char *want;
    int         banks, partitions; /* 0: as they are */
} incomplete[] = {
    {"sm_90a", "", 32, 4, 256, false, NULL, 0, 0},
    {"sm_90a", "", 64, 4, 256, false,
     "machine sm_90a: its axes say thread = 32 warp + lane, its row 64", 0, 0},
    {"sm_90a", "", 32, 2, 256, false,
     "machine sm_90a: its axes say warp = 4 warpgroup + wid, its row 2", 0, 0},
    {"sm_90a", "sm_91", 32, 4, 256, false, "machine sm_91 has no rates", 0, 0},
    {"cpu-avx2", "", 0, 0, 0, false, NULL, 0, 0},
    {"cpu-avx2", "vax", 0, 0, 0, false,
     "machine vax has no rates of its memory levels", 0, 0},
    {"sm_90a", "", 32, 4, 256, true, "machine sm_90a has no atoms", 0, 0},
    {"sm_90a", "", 48, 4, 192, false,
     "machine sm_90a has 48 lanes; it must be 1, 2, 4, 8, 16, 32 or 64", 0, 0},
    {"sm_90a", "", 128, 4, 256, false,
     "machine sm_90a has 128 lanes; it must be 1, 2, 4, 8, 16, 32 or 64", 0, 0},
    {"sm_90a", "", 32, 0, 256, false,
     "machine sm_90a has 0 warps in a warp group; it must be 1 or more", 0, 0},
    {"sm_90a", "", 32, 4, 80, false,
     "machine sm_90a has 80 threads of a CTA; it must be whole warps, and no "
     "more than there can be",
     0, 0},
    {"sm_90a", "", 32, 4, 256, false,
     "machine sm_90a has 128 banks; it must be 64 or fewer", 128, 0},
    {"sm_90a", "", 32, 4, 256, false,
     "machine sm_90a has 128 partitions; it must be as many as threads of a "
     "CTA there can be",
     0, 128},
};

static void
test_incomplete(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(incomplete); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc;
        assert_int_equal(axe_machine_find(cx, incomplete[i].of, &mc), AXE_OK);
        axe_simt    simt = mc->simt ? *mc->simt : (axe_simt){0};
        axe_machine own = *mc;
        simt.lanes = incomplete[i].lanes;
        simt.group = incomplete[i].group;
        simt.threads = incomplete[i].threads;
        if (incomplete[i].banks)
            simt.banks = incomplete[i].banks;
        simt.partitions = incomplete[i].partitions;
        if (mc->simt)
            own.simt = &simt;
        if (*incomplete[i].name)
            own.name = incomplete[i].name;
        if (incomplete[i].bare)
            own.n_atom = 0;
        axe_status st = axe_machine_use(cx, &own);
        if (incomplete[i].want) {
            assert_true(st != AXE_OK);
            assert_non_null(strstr(axe_last_error(cx), incomplete[i].want));
        } else
            assert_int_equal(st, AXE_OK);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_params),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_needs),
        cmocka_unit_test(test_operands),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_incomplete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
