/* test_word.c - which register, part of one, or word of tensor memory operands
 * begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grids.h"
#include "lower/pass/word.h"

/* Operand `which` of the atom, on registers of this type from element
 * 4 * e + by on: e is a loop's. */
typedef struct row {
    const char *machine, *atom;
    int         which;
    axe_type    type;
    int64_t     times, by;
    int         part, per;
    const char *unit, *rest;
} row;

/* clang-format off */
static const row rows[] = {
    {"sm_80", "ld.shared.b128", 0, AXE_TYPE_f32, 4, 1, 0, 1, "e*4 + 1", NULL},
    {"sm_80", "ld.shared.b128", 0, AXE_TYPE_f16, 8, 0, 0, 2, "e*4", NULL},
    {"sm_80", "ld.shared.b128", 0, AXE_TYPE_f16, 8, 6, 0, 2, "e*4 + 3", NULL},
    {"sm_80", "st.shared.b32", 1, AXE_TYPE_i8, 8, 4, 0, 4, "e*2 + 1", NULL},
    {"sm_80", "st.shared.b32", 1, AXE_TYPE_f64, 8, 4, 0, 1, "e*8 + 4", NULL},
    /* what is no multiple is divided when it is known */
    {"sm_80", "ld.shared.b32", 0, AXE_TYPE_f16, 1, 2, 0, 2, "(e + 2)/2", NULL},
    {"sm_80", "ld.shared.b32", 0, AXE_TYPE_f16, 2, 1, 0, 2, "(e*2 + 1)/2", NULL},
    /* less than a word */
    {"sm_80", "ld.shared.b16", 0, AXE_TYPE_f16, 2, 1, 16, 1, "e*2 + 1", NULL},
    {"sm_80", "ld.shared.b16", 0, AXE_TYPE_i8, 2, 0, 16, 2, "e*2/2", NULL},
    {"sm_80", "st.global.b8", 1, AXE_TYPE_i8, 2, 1, 8, 1, "e*2 + 1", NULL},
    /* fragments and exchanges are of words, whatever they move */
    {"sm_80", "ldmatrix.x1", 0, AXE_TYPE_f16, 2, 0, 0, 2, "e", NULL},
    {"sm_80", "mma.m16n8k16.f32.f16", 1, AXE_TYPE_f16, 8, 0, 0, 2, "e*4", NULL},
};
/* clang-format on */

static const char *
text_of(axe_ctx *cx, const axe_node *n)
{
    return n ? axe_node_text(cx, n) : "none";
}

static bool
is_text(axe_ctx *cx, const axe_node *n, const char *want)
{
    return strcmp(text_of(cx, n), want ? want : "none") == 0;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const row        *r = &rows[i];
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, r->machine, "k", 32);
        const axe_tensor *t = new_array(m, r->type, "t", 64);
        const axe_tensor *b = new_buffer(m, r->type, "b", 64, 0);
        const axe_node   *e = loop(m, "e", num(m, 2), true);
        axe_arg           arg[3];
        for (int k = 0; k < 3; k++)
            arg[k] = k == r->which
                         ? reg(t, add(m, mul(m, e, r->times), num(m, r->by)))
                         : shared(b, num(m, 0));
        axe_lir *l = invoke(m, r->atom, 0, 3, arg, NULL);
        axe_number_words(cx, &m->grid.body);
        const axe_arg *a = &l->arg[r->which];
        if (a->part != r->part || a->per != r->per ||
            !is_text(cx, a->unit, r->unit) || !is_text(cx, a->rest, r->rest))
            fail_msg("row %d: part %d per %d unit %s rest %s", i, a->part,
                     a->per, text_of(cx, a->unit), text_of(cx, a->rest));
        axe_ctx_free(cx);
    }
}

/* Tensor memory: lanes are in the upper half of a word's number, and a scale
 * may be any byte of one. */
static void
test_tmem(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_100a", "k", 128);
    const axe_tensor *half =
        new_tensor(m, AXE_SPACE_TMEM, AXE_DIR_LOCAL, AXE_TYPE_f16, "half", 64);
    const axe_tensor *r = new_array(m, AXE_TYPE_f16, "r", 64);
    int64_t           lane = AXE_TMEM_LANE / 16;
    axe_arg           from = {.space = AXE_ARG_TMEM, .tensor = half};
    int               n_scaled = 0;

    (void)state;
    from.at = num(m, 3 * lane + 6);
    axe_lir *l = ATOM(m, "tc.ld.32x32b.x1", 0, reg(r, num(m, 4)), from);
    axe_number_operands(cx, l);
    assert_int_equal(l->arg[1].per, 2);
    assert_int_equal(l->arg[1].unit->u.i, 3 * 65536 + 3);
    assert_null(l->arg[1].rest);
    assert_int_equal(l->arg[0].unit->u.i, 2);
    for (int i = 0; i < m->mc->n_atom; i++) {
        const axe_atom *a = &m->mc->atom[i];
        axe_arg         arg[6] = {from, from, from, from, from, from};
        if (!axe_atom_names(a, 4, 'b'))
            continue;
        arg[4].tensor = arg[5].tensor = new_tensor(
            m, AXE_SPACE_TMEM, AXE_DIR_LOCAL, AXE_TYPE_f8e8m0, "scales", 64);
        arg[4].at = num(m, 7);
        l = invoke(m, a->name, 0, 6, arg, NULL);
        axe_number_operands(cx, l);
        assert_int_equal(l->arg[4].per, 4);
        assert_string_equal(text_of(cx, l->arg[4].unit), "1");
        assert_string_equal(text_of(cx, l->arg[4].rest), "3");
        n_scaled++;
    }
    assert_true(n_scaled > 0);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_tmem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
