/* test_cuda_expr.c - expressions in CUDA C: which integers are how wide, how
 * they divide, what narrow types are computed as. */
#include "grids.h"
#include "print/cuda/cuda_int.h"

typedef struct world {
    maker          *m;
    axe_speller     p;
    axe_indices    *ix;
    const axe_node *lane, *i, *u,
        *size; /* a loop's variable, one written out */
    const axe_tensor *f, *h, *b, *e, *n;
} world;

/* A loop's variable of the kernel. */
static const axe_node *
below(world *w, const char *name, int64_t extent)
{
    axe_var *v = new_var(w->m, AXE_VAR_LOOP, name);

    v->extent = num(w->m, extent);
    axe_spell_declare(&w->p, v);
    return var(w->m, v);
}

static world *
world_new(axe_ctx *cx)
{
    world *w = axe_new(cx, world);

    w->m = grid_new(cx, "sm_80", "k", 128);
    w->p = (axe_speller){.d = &axe_cuda_dialect, .cx = cx, .g = &w->m->grid};
    w->lane = id(w->m, AXE_ID_LANE);
    w->i = below(w, "i", 1000);
    w->u = below(w, "u", 4);
    w->size = new_size(w->m, "K");
    axe_spell_declare(&w->p, w->size->u.var);
    w->f = new_array(w->m, AXE_TYPE_f32, "f", 8);
    w->h = new_array(w->m, AXE_TYPE_f16, "h", 8);
    w->b = new_array(w->m, AXE_TYPE_bool, "b", 8);
    w->e = new_array(w->m, AXE_TYPE_f8e4m3, "e", 8);
    w->n = new_array(w->m, AXE_TYPE_i8, "n", 8);
    w->p.l = grid_done(w->m);
    w->ix = axe_indices_make(cx, w->p.l, &w->m->grid, false);
    axe_facts_enter(&w->ix->unrolled, (axe_fact){w->u->u.var, true, 3, 0});
    w->p.ix = w->ix;
    return w;
}

static void
expect(world *w, const axe_node *n, axe_spell_mode mode, const char *want)
{
    axe_buf b = {.cx = w->p.cx};

    if (axe_spell_expr(&w->p, &b, n, mode) != AXE_OK)
        fail_msg("%s: %s", want, axe_last_error(w->p.cx));
    assert_string_equal(b.text, want);
}

#define OP2(o, a, b) op(w->m, AXE_OP_##o, (a), (b))
#define N(v) num(w->m, (v))

static void
test_integers(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    world   *w = world_new(cx);

    (void)state;
    expect(w, OP2(div, w->lane, N(8)), AXE_SPELL_INDEX, "lane >> 3");
    expect(w, OP2(mod, OP2(div, w->lane, N(8)), N(2)), AXE_SPELL_INDEX,
           "(lane >> 3) & 1");
    expect(w, OP2(div, w->i, N(6)), AXE_SPELL_INDEX, "quot(v_i, 6)");
    expect(w, OP2(mod, w->i, w->size), AXE_SPELL_INDEX, "rest(v_i, s_K)");
    expect(w, OP2(cdiv, w->size, N(64)), AXE_SPELL_INDEX, "(s_K + 63) >> 6");
    expect(w, OP2(cdiv, w->size, N(48)), AXE_SPELL_INDEX,
           "quot(s_K + 48 - 1, 48)");
    expect(w, OP2(div, OP2(sub, w->i, N(1)), N(6)), AXE_SPELL_INDEX,
           "floor_div<int>(v_i - 1, 6)");
    expect(w, axe_node1(cx, AXE_OP_neg, w->i), AXE_SPELL_INDEX, "-v_i");
    expect(w, axe_node1(cx, AXE_OP_abs, OP2(sub, w->i, N(3))), AXE_SPELL_INDEX,
           "greater<int>((v_i - 3), -(v_i - 3))");
    expect(w, OP2(mul, OP2(add, w->i, N(1)), N(64)), AXE_SPELL_INDEX,
           "(v_i + 1) * 64");
    expect(w, OP2(sub, w->i, OP2(sub, w->u, N(1))), AXE_SPELL_INDEX,
           "v_i - (v_u - 1)");
    expect(w, OP2(min, w->i, w->size), AXE_SPELL_INDEX,
           "lesser<int>(v_i, s_K)");
    expect(w, OP2(lt, OP2(add, w->i, N(2)), w->size), AXE_SPELL_INDEX,
           "v_i + 2 < s_K");
    axe_ctx_free(cx);
}

/* Products of sizes, and all that is not known to be small in addresses. */
static void
test_widths(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world          *w = world_new(cx);
    const axe_node *tiles = OP2(cdiv, w->size, N(64));

    (void)state;
    expect(w, OP2(mul, w->i, w->size), AXE_SPELL_INDEX, "(i64)v_i * s_K");
    expect(w, OP2(mul, OP2(mul, w->i, w->size), w->size), AXE_SPELL_INDEX,
           "(i64)((i64)v_i * s_K) * s_K");
    expect(w, OP2(mul, w->u, tiles), AXE_SPELL_INDEX,
           "v_u * ((s_K + 63) >> 6)");
    expect(w, OP2(mul, w->i, tiles), AXE_SPELL_INDEX,
           "(i64)v_i * ((s_K + 63) >> 6)");
    expect(w, OP2(mul, w->i, N(64)), AXE_SPELL_INDEX, "v_i * 64");
    expect(w, OP2(mul, w->i, N(64)), AXE_SPELL_ADDRESS, "(i64)v_i * 64");
    expect(w, OP2(mul, OP2(add, w->lane, w->u), N(64)), AXE_SPELL_ADDRESS,
           "(lane + v_u) * 64");
    expect(w, OP2(div, OP2(mul, w->i, w->size), w->size), AXE_SPELL_INDEX,
           "quot64((i64)v_i * s_K, s_K)");
    assert_true(axe_index_is_wide(w->ix, OP2(mul, w->i, w->size)));
    assert_false(axe_index_is_wide(w->ix, OP2(mul, w->u, tiles)));
    assert_false(
        axe_index_is_wide(w->ix, OP2(lt, OP2(mul, w->i, w->size), w->size)));
    axe_ctx_free(cx);
}

/* At the ends of what 32 bits hold: a part of an expression is wide where it
 * may leave them, and not one number earlier. */
static void
test_ends(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world          *w = world_new(cx);
    const axe_node *l = below(w, "l", INT64_C(1) << 31);
    const axe_node *g = below(w, "g", (INT64_C(1) << 24) + 1);
    const axe_node *t = OP2(cdiv, w->size, N(64)), *k = w->size;
    const axe_node *low = OP2(sub, N(-1), l); /* down to -2^31 */

    (void)state;
    expect(w, l, AXE_SPELL_INDEX, "v_l");
    expect(w, OP2(add, l, N(1)), AXE_SPELL_INDEX, "(i64)v_l + 1");
    expect(w, OP2(add, N(1), OP2(add, l, N(1))), AXE_SPELL_INDEX,
           "1 + (i64)v_l + 1");
    expect(w, low, AXE_SPELL_INDEX, "-1 - v_l");
    expect(w, OP2(sub, low, N(1)), AXE_SPELL_INDEX, "(i64)(-1 - v_l) - 1");
    expect(w, axe_node1(cx, AXE_OP_neg, l), AXE_SPELL_INDEX, "-v_l");
    expect(w, axe_node1(cx, AXE_OP_neg, low), AXE_SPELL_INDEX,
           "-(i64)(-1 - v_l)");
    expect(w, axe_node1(cx, AXE_OP_abs, low), AXE_SPELL_INDEX,
           "greater<i64>((i64)(-1 - v_l), -(i64)(-1 - v_l))");
    expect(w, OP2(mul, g, N(127)), AXE_SPELL_INDEX, "v_g * 127");
    expect(w, OP2(mul, g, N(128)), AXE_SPELL_INDEX, "(i64)v_g * 128");
    expect(w, OP2(mul, g, N(-128)), AXE_SPELL_INDEX, "v_g * (-128)");
    expect(w, OP2(mul, g, N(-129)), AXE_SPELL_INDEX, "(i64)v_g * (-129)");
    expect(w, OP2(mul, w->lane, OP2(mul, k, N(128))), AXE_SPELL_INDEX,
           "(i64)lane * ((i64)s_K * 128)");
    expect(w, OP2(mul, OP2(mul, w->lane, t), N(64)), AXE_SPELL_INDEX,
           "(i64)(lane * ((s_K + 63) >> 6)) * 64");
    expect(w, OP2(mul, t, N(64)), AXE_SPELL_INDEX, "((s_K + 63) >> 6) * 64");
    expect(w, OP2(add, k, N(1 << 20)), AXE_SPELL_INDEX, "s_K + 1048576");
    expect(w, OP2(add, k, N((1 << 20) + 1)), AXE_SPELL_INDEX,
           "(i64)s_K + 1048577");
    expect(w, OP2(cdiv, l, N(64)), AXE_SPELL_INDEX, "((i64)v_l + 63) >> 6");
    expect(w, OP2(cdiv, l, N(48)), AXE_SPELL_INDEX,
           "quot64((i64)v_l + 48 - 1, 48)");
    expect(w, OP2(cdiv, low, N(48)), AXE_SPELL_INDEX,
           "-floor_div<i64>(-(i64)(-1 - v_l), 48)");
    expect(w, OP2(min, OP2(add, l, N(1)), N(5)), AXE_SPELL_INDEX,
           "lesser<i64>((i64)v_l + 1, 5)");
    expect(w, OP2(lt, OP2(add, l, N(1)), k), AXE_SPELL_INDEX,
           "(i64)v_l + 1 < s_K");
    axe_ctx_free(cx);
}

/* Numbers of a grid's CTAs, and what is counted in loops. */
static void
test_grid(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world          *w = world_new(cx);
    const axe_node *m = new_size(w->m, "M"), *n = new_size(w->m, "N");
    const axe_node *rows = OP2(cdiv, m, N(64)), *columns = OP2(cdiv, n, N(4));
    const axe_node *block = id(w->m, AXE_ID_BLOCK);
    axe_var        *tile = new_var(w->m, AXE_VAR_LOOP, "tile");
    const axe_node *next, *blocks = OP2(mul, rows, columns);
    axe_interval    r;

    (void)state;
    w->m->grid.persistent = true;
    w->m->grid.blocks = tile->extent = blocks;
    next = OP2(add, var(w->m, tile), id(w->m, AXE_ID_N_BLOCK));
    emit(w->m, AXE_LIR_COUNT)->var = tile;
    axe_lir *l = emit(w->m, AXE_LIR_SET);
    l->var = tile;
    l->value = next;
    const axe_var *turn = new_var(w->m, AXE_VAR_LOOP, "turn");
    l = emit(w->m, AXE_LIR_LOOP);
    l->var = turn;
    l->begin = N(2);
    l->end = N(INT64_C(3000000000));
#define RANGE(n) r = axe_width_range(w->ix->ranges, (n))
#define IS_LONG(n) axe_interval_is_long(axe_width_range(w->ix->ranges, (n)))
    w->ix->ranges = axe_widths_make(cx, w->p.l, &w->m->grid, false);
    RANGE(blocks);
    assert_true(r.lo == 1 && r.has_hi && r.hi == INT32_MAX - AXE_STAY_MOST);
    assert_false(IS_LONG(OP2(mul, columns, rows)));
    assert_true(IS_LONG(OP2(mul, columns, columns)));
    assert_true(IS_LONG(OP2(mul, m, columns)));
    RANGE(next);
    assert_true(r.lo == 1 && r.has_hi && r.hi <= INT32_MAX);
    RANGE(var(w->m, turn));
    assert_true(r.lo == 2 && r.has_hi && r.hi == INT64_C(2999999999));
    RANGE(OP2(mod, block, columns));
    assert_true(r.lo == 0 && r.has_hi && r.hi < AXE_STAY_MOST);
    RANGE(OP2(mod, N(7), n)); /* 7 % 0 is 7 */
    assert_true(r.lo == 0 && r.has_hi && r.hi == 7);
    axe_var *cores = new_var(w->m, AXE_VAR_SIZE, "cores");
    w->m->kernel.cores = cores;
    assert_false(IS_LONG(OP2(mul, var(w->m, cores), N(2047))));
    assert_true(IS_LONG(OP2(mul, var(w->m, cores), N(2048))));
    w->ix->ranges = axe_widths_make(cx, w->p.l, &w->m->grid, true);
    RANGE(m);
    assert_false(r.has_hi);
    tile->extent = NULL;
    w->ix->ranges = axe_widths_make(cx, w->p.l, &w->m->grid, false);
    assert_true(IS_LONG(next));
    axe_ctx_free(cx);
}

static const axe_node *
cast(axe_type t, const axe_node *n, axe_ctx *cx)
{
    return axe_cast(cx, AXE_NOWHERE, t, n);
}

/* f / n, of what n may be. */
static void
test_quotients(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world          *w = world_new(cx);
    const axe_node *f = element(w->m, w->f, w->u);
#define F32(v) axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, v)
#define OP1(op, x) axe_node1(cx, AXE_OP_##op, x)
    const axe_node *inf = F32(1.0 / 0.0), *zero = F32(0), *one = F32(1);
    const struct {
        const axe_node *by;
        const char     *name;
    } rows[] = {
        {f, "quotient"},
        {one, "quotient_mid"},
        {zero, "quotient"},
        {F32(-1), "quotient"},
        {F32(0x1p-121), "quotient"},
        {F32(0x1p126), "quotient_up"},
        {inf, "quotient_up"},
        {F32(0.0 / 0.0), "quotient"},
        {OP2(add, one, OP1(exp, f)), "quotient_up"},
        {OP2(add, one, OP1(exp2, OP2(min, f, F32(80)))), "quotient_mid"},
        {OP2(add, one, OP1(exp, OP2(min, f, F32(88)))), "quotient_up"},
        {OP2(sub, one, OP1(exp, f)), "quotient"},
        {OP2(sub, OP1(abs, f), F32(-2)), "quotient_up"},
        {OP2(sub, F32(9), OP2(min, OP2(max, f, one), F32(8))), "quotient_mid"},
        {OP2(sub, OP2(min, OP2(max, f, F32(4)), F32(9)),
             OP2(min, OP2(max, f, one), F32(6))),
         "quotient"},
        {OP2(max, f, one), "quotient_up"},
        {OP2(min, OP2(max, f, one), F32(9)), "quotient_mid"},
        {OP1(neg, OP2(min, f, F32(-3))), "quotient_up"},
        {OP1(abs, OP2(min, f, F32(-3))), "quotient_up"},
        {OP1(sqrt, OP2(max, f, one)), "quotient"},
        {OP2(add, F32(2), OP1(tanh, f)), "quotient_mid"},
        {OP2(mul, OP2(max, f, one), F32(-2)), "quotient"},
        {OP2(mul, OP2(min, f, F32(-2)), F32(-2)), "quotient_up"},
        {OP2(mul, OP2(max, f, zero), inf), "quotient"},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_buf     b = {.cx = cx};
        const char *bracket;
        assert_int_equal(
            axe_spell_expr(&w->p, &b, OP2(div, f, rows[i].by), AXE_SPELL_VALUE),
            AXE_OK);
        bracket = strchr(b.text, '(');
        assert_non_null(bracket);
        if ((size_t)(bracket - b.text) != strlen(rows[i].name) ||
            strncmp(b.text, rows[i].name, strlen(rows[i].name)) != 0)
            fail_msg("row %d: %s", i, b.text);
    }
    axe_ctx_free(cx);
}

static void
test_values(void **state)
{
    axe_ctx        *cx = axe_ctx_new();
    world          *w = world_new(cx);
    const axe_node *f = element(w->m, w->f, w->u),
                   *h = element(w->m, w->h, w->u);
    const axe_node *e = element(w->m, w->e, w->u),
                   *n = element(w->m, w->n, w->u);
    const axe_node *b = element(w->m, w->b, w->u);
    const axe_node *one = axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, 1);

    (void)state;
    expect(w, OP2(add, f, one), AXE_SPELL_VALUE, "r_f[v_u] + 1.0f");
    expect(w, OP2(add, f, OP2(add, f, one)), AXE_SPELL_VALUE,
           "r_f[v_u] + (r_f[v_u] + 1.0f)");
    expect(w, OP2(div, one, OP2(sub, f, one)), AXE_SPELL_VALUE,
           "quotient(1.0f, r_f[v_u] - 1.0f)");
    expect(w, OP2(max, f, one), AXE_SPELL_VALUE, "fmaxf(r_f[v_u], 1.0f)");
    expect(w, axe_node1(cx, AXE_OP_exp, f), AXE_SPELL_VALUE, "exp32(r_f[v_u])");
    expect(w, cast(AXE_TYPE_f32, h, cx), AXE_SPELL_VALUE,
           "from_f16(get16(r_h, v_u))");
    expect(w, cast(AXE_TYPE_f16, f, cx), AXE_SPELL_VALUE,
           "from_f16(to_f16(r_f[v_u]))");
    expect(w, cast(AXE_TYPE_f32, e, cx), AXE_SPELL_VALUE,
           "from_f8e4m3(get8(r_e, v_u))");
    expect(w, OP2(add, n, n), AXE_SPELL_VALUE,
           "(i8)((int)((u32)(i8)get8(r_n, v_u) + (u32)(i8)get8(r_n, v_u)))");
    expect(w, cast(AXE_TYPE_i8, f, cx), AXE_SPELL_VALUE,
           "nearest_i8(r_f[v_u])");
    expect(w, cast(AXE_TYPE_f16, cast(AXE_TYPE_f64, f, cx), cx),
           AXE_SPELL_VALUE, "from_f16(to_f16(f32_odd((double)r_f[v_u])))");
    expect(w, cast(AXE_TYPE_f32, OP2(mul, w->i, w->i), cx), AXE_SPELL_VALUE,
           "(float)((i64)v_i * v_i)");
    expect(w,
           axe_node_new(cx, AXE_OP_select, AXE_TYPE_f32, AXE_NOWHERE, 3,
                        (const axe_node *[]){b, f, one}),
           AXE_SPELL_VALUE, "((bool)get8(r_b, v_u) ? r_f[v_u] : 1.0f)");
    expect(w, axe_fconst(cx, AXE_NOWHERE, AXE_TYPE_f32, -1.0 / 0.0),
           AXE_SPELL_VALUE, "-__int_as_float(0x7f800000)");
    expect(w, axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_i32, INT32_MIN),
           AXE_SPELL_VALUE, "(-2147483647 - 1)");
    axe_ctx_free(cx);
}

/* What is stored is rounded once; a copy is not converted. */
static void
test_bits(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    world   *w = world_new(cx);
    axe_buf  b = {.cx = cx};

    (void)state;
    assert_int_equal(
        axe_spell_bits(&w->p, &b,
                       cast(AXE_TYPE_f16, element(w->m, w->f, w->u), cx),
                       AXE_TYPE_f16),
        AXE_OK);
    axe_puts(&b, "; ");
    assert_int_equal(
        axe_spell_bits(&w->p, &b, element(w->m, w->h, w->u), AXE_TYPE_f16),
        AXE_OK);
    assert_string_equal(b.text, "to_f16(r_f[v_u]); get16(r_h, v_u)");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),  cmocka_unit_test(test_widths),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_grid),

        cmocka_unit_test(test_quotients), cmocka_unit_test(test_values),
        cmocka_unit_test(test_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
