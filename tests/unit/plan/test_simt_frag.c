/* test_simt_frag.c - bank conflicts; which atoms move a fragment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "axe/machine.h"
#include "layout/alike.h"
#include "plan/simt/team/fragment.h"

static const axe_machine *
machine(axe_ctx *cx, const char *name)
{
    const axe_machine *mc;

    assert_int_equal(axe_machine_find(cx, name, &mc), AXE_OK);
    assert_int_equal(axe_axes_load(cx, axe_machine_axes("nvidia")), AXE_OK);
    return mc;
}

static const axe_layout *
layout(axe_ctx *cx, const char *text)
{
    axe_value v;

    if (axe_expr_eval(cx, "t", text, NULL, &v) != AXE_OK)
        fail_msg("%s: %s", text, axe_last_error(cx));
    assert_int_equal(v.kind, AXE_VALUE_LAYOUT);
    return v.layout;
}

/* Lane l at l / over % extent * stride bytes, summed over two digits. */
static const struct {
    int     n, bytes;
    int64_t over[2], extent[2], stride[2];
    int     swizzle; /* bytes of its rows */
    int64_t phases, cycles;
} bank[] = {
    /* lane 1 from the last word to the first bank's next */
    {2, 4, {1, 1}, {2, 1}, {126, 0}, 0, 1, 2},
    /* neighbours */
    {32, 4, {1, 1}, {32, 1}, {4, 0}, 0, 1, 1},
    {32, 16, {1, 1}, {32, 1}, {16, 0}, 0, 4, 4},
    {32, 2, {1, 1}, {32, 1}, {2, 0}, 0, 1, 1},
    /* one word for all */
    {32, 4, {1, 1}, {32, 1}, {0, 0}, 0, 1, 1},
    /* a column of a 32 x 32 tile of f32; padded by one word */
    {32, 4, {1, 1}, {32, 1}, {128, 0}, 0, 1, 32},
    {32, 4, {1, 1}, {32, 1}, {132, 0}, 0, 1, 1},
    /* two words apart */
    {32, 4, {1, 1}, {32, 1}, {8, 0}, 0, 1, 2},
    /* 16 bytes of 8 rows of 128 bytes: plain, padded, swizzled */
    {8, 16, {1, 1}, {8, 1}, {128, 0}, 0, 1, 8},
    {8, 16, {1, 1}, {8, 1}, {144, 0}, 0, 1, 1},
    {8, 16, {1, 1}, {8, 1}, {128, 0}, 128, 1, 1},
    /* rows of 64 bytes: plain, swizzled */
    {8, 16, {1, 1}, {8, 1}, {64, 0}, 0, 1, 4},
    {8, 16, {1, 1}, {8, 1}, {64, 0}, 64, 1, 1},
    /* rows of 32 bytes */
    {8, 16, {1, 1}, {8, 1}, {32, 0}, 0, 1, 2},
    {8, 16, {1, 1}, {8, 1}, {32, 0}, 32, 1, 1},
    /* four matrices of 8 rows, two and two beside each other */
    {32, 16, {1, 16}, {16, 2}, {128, 16}, 0, 4, 32},
    {32, 16, {1, 16}, {16, 2}, {128, 16}, 128, 4, 4},
    /* a swizzle that is too narrow for its rows */
    {8, 16, {1, 1}, {8, 1}, {128, 0}, 64, 1, 2},
};

static void
test_banks(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    const axe_machine *mc = machine(cx, "sm_90a");

    (void)state;
    for (int i = 0; i < AXE_LEN(bank); i++) {
        int64_t     at[32];
        axe_swizzle sw = {0};
        if (bank[i].swizzle > 0)
            assert_int_equal(axe_swizzle_of_bytes(cx, bank[i].swizzle, &sw),
                             AXE_OK);
        for (int l = 0; l < bank[i].n; l++) {
            at[l] = 0;
            for (int d = 0; d < 2; d++)
                at[l] +=
                    l / bank[i].over[d] % bank[i].extent[d] * bank[i].stride[d];
            if (sw.bits > 0)
                at[l] = axe_swizzle_apply(sw, at[l]);
        }
        axe_banks b = axe_banks_of(mc->simt, bank[i].n, at, bank[i].bytes);
        if (b.phases != bank[i].phases || b.cycles != bank[i].cycles)
            fail_msg("row %d: %d phases, %d cycles", i, (int)b.phases,
                     (int)b.cycles);
    }
    axe_ctx_free(cx);
}

/* 16 lanes, words of `bytes`, `step` bytes apart: where lanes are those of a
 * vector register. */
static const struct {
    int64_t bytes, step, cycles;
} vector[] = {
    {4, 4, 1},  {4, 0, 1},        {2, 2, 1},  {8, 8, 16 * 2}, {8, 0, 2},
    {16, 0, 4}, {16, 16, 16 * 4}, {4, 8, 16}, {4, 128, 16},   {4, -4, 16},
};

static void
test_vectors(void **state)
{
    const axe_simt mc = {.banks = 16, .bank_bytes = 4, .on_core = true};

    (void)state;
    for (int i = 0; i < AXE_LEN(vector); i++) {
        int64_t at[16];
        for (int l = 0; l < 16; l++)
            at[l] = 1024 + l * vector[i].step;
        axe_banks b = axe_banks_of(&mc, 16, at, vector[i].bytes);
        if (b.cycles != vector[i].cycles)
            fail_msg("row %d: %d cycles", i, (int)b.cycles);
    }
}

/* What moves the fragment `reg` of a tile at `mem`. */
static const struct {
    const char *machine, *reg, *mem;
    int         swizzle, warps;
    axe_type    type;
    const char *atom;
    int         turns, cycles; /* of one warp */
} row[] = {
    /* A of m16n8k16, rows of 64 elements */
    {"sm_80", "((2, 8), (2, 4, 2)) : ((2@reg, 4@lane), (4@reg, 1@lane, 1@reg))",
     "(16, 16) : (64, 1)", 128, 1, AXE_TYPE_f16, "ldmatrix.x4", 1, 4},
    {"sm_80", "((2, 8), (2, 4, 2)) : ((2@reg, 4@lane), (4@reg, 1@lane, 1@reg))",
     "(16, 16) : (64, 1)", 0, 1, AXE_TYPE_f16, "ldmatrix.x4", 1, 32},
    /* the same, columns of 64 elements */
    {"sm_80", "((2, 8), (2, 4, 2)) : ((2@reg, 4@lane), (4@reg, 1@lane, 1@reg))",
     "(16, 16) : (1, 64)", 128, 1, AXE_TYPE_f16, "ldmatrix.x4.trans", 1, 4},
    /* B of two of them, four of them */
    {"sm_80", "((2, 8), (2, 4, 2)) : ((4@reg, 4@lane), (2@reg, 1@lane, 1@reg))",
     "(16, 16) : (64, 1)", 128, 1, AXE_TYPE_bf16, "ldmatrix.x4", 1, 4},
    {"sm_80", "(8, (2, 4, 2)) : (4@lane, (2@reg, 1@lane, 1@reg))",
     "(8, 16) : (64, 1)", 128, 1, AXE_TYPE_bf16, "ldmatrix.x2", 1, 2},
    {"sm_80", "((4, 8), (2, 4, 2)) : ((4@reg, 4@lane), (2@reg, 1@lane, 1@reg))",
     "(32, 16) : (1, 64)", 128, 1, AXE_TYPE_f16, "ldmatrix.x4.trans", 2, 8},
    /* 4 warps, two by two, share halves */
    {"sm_80",
     "((2, 2, 8), (2, 4, 2)) : ((2@warp, 2@reg, 4@lane), (4@reg, 1@lane, "
     "1@reg)) + [2 : 1@warp]",
     "(32, 16) : (64, 1)", 128, 4, AXE_TYPE_f16, "ldmatrix.x4", 1, 4},
    /* 8-bit and 32-bit elements go by rows, not by columns */
    {"sm_80", "((2, 8), (2, 4, 4)) : ((4@reg, 4@lane), (8@reg, 1@lane, 1@reg))",
     "(16, 32) : (64, 1)", 64, 1, AXE_TYPE_i8, "ldmatrix.x4", 1, 4},
    {"sm_80", "((2, 8), (2, 4)) : ((1@reg, 4@lane), (2@reg, 1@lane))",
     "(16, 8) : (32, 1)", 128, 1, AXE_TYPE_tf32, "ldmatrix.x4", 1, 4},
    {"sm_80", "((2, 8), (2, 4)) : ((1@reg, 4@lane), (2@reg, 1@lane))",
     "(16, 8) : (1, 40)", 0, 1, AXE_TYPE_tf32, "ld.shared.b32", 4, 4},
    {"sm_80", "((2, 8), (2, 4, 4)) : ((4@reg, 4@lane), (8@reg, 1@lane, 1@reg))",
     "(16, 32) : (1, 16)", 0, 1, AXE_TYPE_i8, "ld.shared.b8", 16, 32},
    /* rows of 72: padded; of 68: not on 16 bytes */
    {"sm_80", "((2, 8), (2, 4, 2)) : ((2@reg, 4@lane), (4@reg, 1@lane, 1@reg))",
     "(16, 16) : (72, 1)", 0, 1, AXE_TYPE_f16, "ldmatrix.x4", 1, 4},
    {"sm_80", "((2, 8), (2, 4, 2)) : ((2@reg, 4@lane), (4@reg, 1@lane, 1@reg))",
     "(16, 16) : (68, 1)", 0, 1, AXE_TYPE_f16, "ld.shared.b32", 4, 8},
    /* a vector of each thread */
    {"sm_80", "(32, 4) : (1@lane, 1@reg)", "(32, 4) : (4, 1)", 0, 1,
     AXE_TYPE_f32, "ld.shared.b128", 1, 4},
    /* iterations whose addresses share bits with those of lanes: conflicts
     * differ from iteration to iteration */
    {"sm_80", "(32, 24) : (1@lane, 1@reg)", "(32, 24) : (24, 1)", 128, 1,
     AXE_TYPE_f32, "ld.shared.b128", 6, 64},
    {"sm_80", "(32, 24) : (1@lane, 1@reg)", "(32, 24) : (24, 1)", 0, 1,
     AXE_TYPE_f32, "ld.shared.b128", 6, 48},
    {"sm_80", "(32, 6) : (1@lane, 1@reg)", "(32, 6) : (63, 3)", 0, 1,
     AXE_TYPE_f16, "ld.shared.b16", 6, 12},
    /* two lanes in one word, in the next iteration in two */
    {"sm_80", "(16, 2, 2) : (2@lane, 1@lane, 1@reg)", "(16, 2, 2) : (66, 1, 3)",
     0, 1, AXE_TYPE_f16, "ld.shared.b16", 2, 3},
};

/* Cycles of all iterations, one by one, where each thread asks for its own. */
static int64_t
count_cycles(const axe_frag_query *q, const axe_reg_move *m)
{
    int64_t size = axe_type_table[q->type].bits / 8, sum = 0, at[32];

    for (int64_t turn = 0; turn < m->n_invocation; turn++) {
        for (int lane = 0; lane < 32; lane++) {
            at[lane] = 0;
            for (int i = 0; i < m->n_step; i++)
                if (m->step[i].of == AXE_COUNT_LANE)
                    at[lane] += size * axe_step_at(&m->step[i], lane);
                else if (m->step[i].of == AXE_COUNT_INVOCATION)
                    at[lane] += size * axe_step_at(&m->step[i], turn);
            if (q->swizzle.bits > 0)
                at[lane] = axe_swizzle_apply(q->swizzle, at[lane]);
        }
        sum += axe_banks_of(q->mc->simt, 32, at, m->regs * size).cycles;
    }
    return sum;
}

static void
test_loads(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_machine *mc = machine(cx, row[i].machine);
        axe_reg_move       m;
        axe_frag_query     q = {.cx = cx,
                                .mc = mc,
                                .kind = AXE_ATOM_LOAD,
                                .space = AXE_ARG_SHARED,
                                .type = row[i].type,
                                .n_thread = 32 * row[i].warps,
                                .reg = layout(cx, row[i].reg),
                                .mem = layout(cx, row[i].mem),
                                .align = 1024};
        if (row[i].swizzle > 0)
            assert_int_equal(
                axe_swizzle_of_bytes(cx, row[i].swizzle, &q.swizzle), AXE_OK);
        if (!axe_frag_find(&q, &m))
            fail_msg("row %d: nothing fits", i);
        if (strcmp(m.atom->name, row[i].atom) != 0 ||
            m.n_invocation != row[i].turns || m.banks.cycles != row[i].cycles)
            fail_msg("row %d: %s, %d turns, %d cycles", i, m.atom->name,
                     (int)m.n_invocation, (int)m.banks.cycles);
        if (axe_atom_threads(mc, m.atom) == 1)
            assert_int_equal(count_cycles(&q, &m), m.banks.cycles);
        axe_ctx_free(cx);
    }
}

/* From a list come the answers that the machine gives, each asked of it once.
 */
static void
test_once(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    axe_frag_known *known = NULL;
    int             n = 0;

    (void)state;
    for (int i = 0; i < 2 * AXE_LEN(row); i++) {
        int            k = i % AXE_LEN(row);
        axe_reg_move   m = {.n_invocation = 0}, once = {.n_invocation = 0};
        axe_frag_query q = {.cx = cx,
                            .mc = machine(cx, row[0].machine),
                            .kind = AXE_ATOM_LOAD,
                            .space = AXE_ARG_SHARED,
                            .type = row[0].type,
                            .n_thread = 32 * row[0].warps,
                            .reg = layout(cx, row[k].reg),
                            .mem = layout(cx, row[k].mem),
                            .align = 1024};
        assert_int_equal(axe_frag_find_once(&q, &known, &once),
                         axe_frag_find(&q, &m));
        assert_int_equal(once.n_invocation, m.n_invocation);
        assert_int_equal(once.banks.cycles, m.banks.cycles);
        assert_ptr_equal(once.atom, m.atom);
        assert_int_equal(once.n_step, m.n_step);
        assert_true(
            m.n_step == 0 ||
            memcmp(once.step, m.step, (size_t)m.n_step * sizeof *m.step) == 0);
    }
    for (const axe_frag_known *at = known; at; at = at->next, n++)
        for (const axe_frag_known *x = at->next; x; x = x->next)
            assert_false(axe_layout_alike(at->reg, x->reg) &&
                         axe_layout_alike(at->mem, x->mem));
    assert_in_range(n, 2, AXE_LEN(row));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
