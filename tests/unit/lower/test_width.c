/* test_width.c - between which values the integers of a grid lie. */
#include <inttypes.h>
#include <stdio.h>

#include "grids.h"
#include "lower/pass/width.h"

typedef struct world {
    maker                 *m;
    const axe_grid_widths *w;
} world;

static void
expect(const world *w, const axe_node *n, const char *want)
{
    axe_interval r = axe_width_range(w->w, n);
    char         got[64], lo[24] = "", hi[24] = "";

    if (r.has_lo)
        snprintf(lo, sizeof lo, "%" PRId64, r.lo);
    if (r.has_hi)
        snprintf(hi, sizeof hi, "%" PRId64, r.hi);
    snprintf(got, sizeof got, "%s..%s", lo, hi);
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, not %s", axe_node_text(w->m->cx, n), got, want);
}

static const axe_node *
element_of(const world *w, axe_type t)
{
    return element(w->m, new_array(w->m, t, "a", 8), num(w->m, 0));
}

static const axe_node *
index_of(const world *w, const axe_node *n)
{
    return axe_cast(w->m->cx, AXE_NOWHERE, AXE_TYPE_INDEX, n);
}

/* Elements may be whatever their type has, negative ones among them. */
static void
test_elements(void **state)
{
    static const struct {
        axe_type    type;
        const char *want;
    } rows[] = {
        {AXE_TYPE_i8, "-128..127"},
        {AXE_TYPE_u8, "0..255"},
        {AXE_TYPE_i32, "-2147483648..2147483647"},
        {AXE_TYPE_i64, ".."},
    };
    axe_ctx *cx = axe_ctx_new();
    world    w = {grid_new(cx, "sm_90a", "k", 128), NULL};

    (void)state;
    w.w = axe_widths_make(cx, grid_done(w.m), &w.m->grid, false);
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const axe_node *e = element_of(&w, rows[i].type);
        expect(&w, e, rows[i].want);
        expect(&w, index_of(&w, e), rows[i].want);
    }
    expect(&w, element_of(&w, AXE_TYPE_f16), "..");
    axe_ctx_free(cx);
}

/* A loop's numbers, what a LET is, what is turned and set, who a thread is. */
static void
test_variables(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world           w = {grid_new(cx, "sm_90a", "k", 128), NULL};
    const axe_node *lane = id(w.m, AXE_ID_LANE), *warp = id(w.m, AXE_ID_WARP);
    const axe_node *e = loop(w.m, "e", num(w.m, 10), false);
    axe_lir        *let = emit(w.m, AXE_LIR_LET), *l;

    (void)state;
    w.m->grid.body.item[0]->begin = num(w.m, 3);
    let->value = op(w.m, AXE_OP_sub, mul(w.m, e, 8), lane);
    let->var = new_var(w.m, AXE_VAR_LOOP, "let");
    l = emit(w.m, AXE_LIR_COUNT);
    l->var = new_var(w.m, AXE_VAR_LOOP, "stage");
    const axe_node *stage = var(w.m, l->var);
    l = emit(w.m, AXE_LIR_ADVANCE);
    l->var = stage->u.var;
    l->step = 5;
    l = emit(w.m, AXE_LIR_COUNT);
    l->var = new_var(w.m, AXE_VAR_LOOP, "before");
    const axe_node *before = var(w.m, l->var);
    l = emit(w.m, AXE_LIR_SET);
    l->var = before->u.var;
    l->value = add(w.m, stage, num(w.m, 7));
    axe_var *kept = axe_new(cx, axe_var);
    *kept = *new_var(w.m, AXE_VAR_LOOP, "kept");
    kept->extent = num(w.m, 6);
    l = emit(w.m, AXE_LIR_LET);
    l->var = kept;
    l->value = index_of(&w, element_of(&w, AXE_TYPE_i64));
    w.w = axe_widths_make(cx, grid_done(w.m), &w.m->grid, false);
    expect(&w, lane, "0..31");
    expect(&w, var(w.m, kept), "0..5");
    expect(&w, warp, "0..3");
    expect(&w, e, "3..9");
    expect(&w, var(w.m, let->var), "-7..72");
    expect(&w, stage, "0..4");
    expect(&w, before, "0..11");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_variables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
