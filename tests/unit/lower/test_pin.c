/* test_pin.c - which registers atoms pin, where, and that these are no operands
 * of theirs any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grids.h"
#include "lower/pass/pin.h"

enum { SUMS, FACTOR, OTHER, N_ARRAY };

typedef struct row {
    const char *machine, *atom;
    int         number; /* its operand, or -1 */
    unsigned    named;  /* sets of arrays */
    unsigned    pins;
    bool        behind;
    int         n_arg; /* that are left */
} row;

/* clang-format off */
static const row rows[] = {
    {"sm_90a", "wgmma.drain", 0, 0, 1 << SUMS, true, 1},
    {"sm_90a", "wgmma.drain", 1, 1 << FACTOR | 1 << OTHER, 1 << FACTOR | 1 << OTHER, true, 1},
    {"sm_90a", "wgmma.fence", -1, 1 << SUMS, 1 << SUMS, false, 0},
    {"sm_90a", "wgmma.fence", -1, 0, 0, false, 0},
    {"sm_90a", "wgmma.commit", -1, 0, 0, false, 0},
    {"sm_90a", "cp.drain", 0, 0, 0, true, 1},
    {"sm_90a", "bulk.drain", 0, 0, 0, true, 1},
    {"sm_100a", "tc.ld.drain", -1, 0, 1 << SUMS | 1 << FACTOR, true, 0},
    {"sm_100a", "tc.st.drain", -1, 0, 0, true, 0},
    {"sm_100a", "clc.taken", -1, 1 << OTHER, 0, false, 1},
};
/* clang-format on */

/* Atoms that write registers: of group wgmma the sums, of group tc.ld the sums
 * and the factor, and that twice. */
static void
write_registers(maker *m, const row *r, const axe_tensor *const *t)
{
    const axe_tensor *tile = new_buffer(m, AXE_TYPE_f16, "tile", 1024, 0);
    const axe_node   *zero = num(m, 0);

    if (strcmp(r->machine, "sm_90a") == 0) {
        axe_lblock *around = m->at;
        loop(m, "k", num(m, 4), false);
        ATOM(m, "wgmma.f32.f16.rs", 16, reg(t[SUMS], zero),
             reg(t[FACTOR], zero), shared(tile, zero), number(zero));
        m->at = around;
        ATOM(m, "ld.shared.b16", 0, reg(t[FACTOR], zero), shared(tile, zero));
        return;
    }
    const axe_tensor *tmem = new_tensor(m, AXE_SPACE_TMEM, AXE_DIR_LOCAL,
                                        AXE_TYPE_f32, "columns", 32);
    axe_arg from = {.space = AXE_ARG_TMEM, .tensor = tmem, .at = zero};
    ATOM(m, "tc.ld.32x32b.x1", 0, reg(t[SUMS], zero), from);
    ATOM(m, "tc.ld.32x32b.x1", 0, reg(t[FACTOR], zero), from);
    ATOM(m, "tc.ld.32x32b.x1", 0, reg(t[SUMS], zero), from);
    ATOM(m, "tc.st.32x32b.x1", 0, from, reg(t[OTHER], zero));
}

static unsigned
pinned(const axe_lir *l, const axe_tensor *const *t)
{
    unsigned set = 0;

    for (int i = 0; i < l->n_pin; i++)
        for (int k = 0; k < N_ARRAY; k++)
            if (l->pin[i] == t[k]) {
                assert_false(set >> k & 1);
                set |= 1u << k;
            }
    return set;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const row        *r = &rows[i];
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, r->machine, "k", 128);
        const axe_tensor *t[N_ARRAY] = {new_array(m, AXE_TYPE_f32, "sums", 8),
                                        new_array(m, AXE_TYPE_f16, "factor", 8),
                                        new_array(m, AXE_TYPE_f32, "other", 8)};
        axe_arg           arg[1 + N_ARRAY];
        int               n = 0;
        write_registers(m, r, t);
        if (r->number >= 0)
            arg[n++] = number(num(m, r->number));
        for (int k = 0; k < N_ARRAY; k++)
            if (r->named >> k & 1)
                arg[n++] = reg(t[k], num(m, 0));
        axe_lir *l = invoke(m, r->atom, 0, n, arg, NULL);
        (void)grid_done(m);
        for (int again = 0; again < 2; again++) {
            axe_pin_registers(cx, &m->grid);
            if (pinned(l, t) != r->pins || l->n_arg != r->n_arg ||
                (l->n_pin > 0 && l->pins_behind != r->behind))
                fail_msg("row %d: pins %#x, has %d operands", i, pinned(l, t),
                         l->n_arg);
        }
        axe_ctx_free(cx);
    }
}

/* How a part of the grid ends that has products in a loop. */
typedef enum ending {
    NO_DRAIN,
    ONE_LEFT, /* but for the last of them */
    ALL_DONE,
    SOMETIMES, /* all, in a branch */
    BROKEN     /* all, but where the loop is left before */
} ending;

static void
drain(maker *m, int n)
{
    axe_arg arg = number(num(m, n));

    invoke(m, "wgmma.drain", 0, 1, &arg, NULL);
}

static void
leave_loop(maker *m)
{
    axe_lblock *around = m->at;
    axe_lir    *l = emit(m, AXE_LIR_IF);

    l->value = id(m, AXE_ID_BLOCK);
    m->at = &l->body;
    emit(m, AXE_LIR_BREAK);
    m->at = around;
}

/* A role: its tiles, each with products in a loop. */
static void
make_part(maker *m, const axe_tensor *t, const axe_tensor *tile, ending e)
{
    const axe_node *zero = num(m, 0);
    axe_lir        *l = emit(m, AXE_LIR_IF);
    axe_lblock     *around;

    l->value = id(m, AXE_ID_WARP);
    m->at = &l->body;
    l = emit(m, AXE_LIR_FOREVER);
    m->at = &l->body;
    leave_loop(m);
    around = m->at;
    loop(m, "k", num(m, 4), false);
    ATOM(m, "wgmma.f32.f16.rs", 16, reg(t, zero), reg(t, zero),
         shared(tile, zero), number(zero));
    drain(m, 1);
    m->at = around;
    if (e == BROKEN)
        leave_loop(m);
    if (e == SOMETIMES) {
        l = emit(m, AXE_LIR_IF);
        l->value = id(m, AXE_ID_LANE);
        m->at = &l->body;
    }
    if (e != NO_DRAIN)
        drain(m, e == ONE_LEFT);
    m->at = &m->grid.body;
}

/* What was drained where it was issued is not pinned by parts behind, and what
 * is issued there not by this one. */
static void
test_parts(void **state)
{
    (void)state;
    for (int e = NO_DRAIN; e <= BROKEN; e++) {
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, "sm_90a", "k", 128);
        const axe_tensor *t[N_ARRAY] = {new_array(m, AXE_TYPE_f32, "sums", 8),
                                        new_array(m, AXE_TYPE_f32, "next", 8),
                                        new_array(m, AXE_TYPE_f32, "other", 8)};
        const axe_tensor *tile = new_buffer(m, AXE_TYPE_f16, "tile", 1024, 0);
        unsigned          both = 1 << SUMS | 1 << FACTOR;
        axe_arg           arg = number(num(m, 0));
        make_part(m, t[SUMS], tile, (ending)e);
        axe_lir *first = invoke(m, "wgmma.drain", 0, 1, &arg, NULL);
        make_part(m, t[FACTOR], tile, ALL_DONE);
        axe_lir *last = m->grid.body.item[2]->body.item[0]->body.item[2];
        (void)grid_done(m);
        axe_pin_registers(cx, &m->grid);
        assert_string_equal(last->atom->name, "wgmma.drain");
        assert_int_equal(pinned(first, t), e == ALL_DONE ? 0 : 1 << SUMS);
        assert_int_equal(pinned(last, t), e == ALL_DONE ? 1 << FACTOR : both);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_parts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
