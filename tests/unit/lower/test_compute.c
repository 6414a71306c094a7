/* test_compute.c - in which types values are computed: as text, with the type
 * of each node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grids.h"
#include "lower/pass/finish.h"

/* "mul:f32(f16, ...)": elements are their types. */
static const char *
shape(axe_ctx *cx, const axe_node *n)
{
    axe_buf b = {.cx = cx};

    if (n->op != AXE_OP_load)
        axe_putf(&b, "%s:", axe_op_table[n->op].name);
    axe_puts(&b, axe_type_table[n->type].name);
    for (int i = 0; i < n->n_arg && n->op != AXE_OP_load; i++)
        axe_putf(&b, "%s%s", i ? ", " : "(", shape(cx, n->arg[i]));
    if (n->n_arg > 0 && n->op != AXE_OP_load)
        axe_putc(&b, ')');
    return b.text;
}

/* x is an element of type t; y = x op x, and so on. */
typedef enum value {
    ELEMENT,
    PRODUCT,
    BY_CONST,
    CAST,          /* T(f32(x) * f32(x)) * x */
    COMPARED,      /* x < x ? x : x * x */
    BITS,          /* of x */
    BITS_OF_VALUE, /* of x * x */
    AS_INTEGER
} value;

static const struct {
    axe_type    type;
    value       value;
    const char *want;
} rows[] = {
    {AXE_TYPE_f16, ELEMENT, "f16"},
    {AXE_TYPE_f16, PRODUCT, "mul:f32(cast:f32(f16), cast:f32(f16))"},
    {AXE_TYPE_bf16, PRODUCT, "mul:f32(cast:f32(bf16), cast:f32(bf16))"},
    {AXE_TYPE_f8e4m3, PRODUCT, "mul:f32(cast:f32(f8e4m3), cast:f32(f8e4m3))"},
    {AXE_TYPE_f32, PRODUCT, "mul:f32(f32, f32)"},
    {AXE_TYPE_f64, PRODUCT, "mul:f64(f64, f64)"},
    {AXE_TYPE_i8, PRODUCT, "mul:i8(i8, i8)"},
    {AXE_TYPE_f16, BY_CONST, "mul:f32(cast:f32(f16), float:f32)"},
    {AXE_TYPE_f16, CAST,
     "mul:f32(cast:f32(cast:f16(mul:f32(cast:f32(f16), cast:f32(f16)))), "
     "cast:f32(f16))"},
    {AXE_TYPE_f16, COMPARED,
     "select:f32(lt:bool(cast:f32(f16), cast:f32(f16)), cast:f32(f16), "
     "mul:f32(cast:f32(f16), cast:f32(f16)))"},
    {AXE_TYPE_f16, BITS, "bitcast:u16(f16)"},
    {AXE_TYPE_f16, BITS_OF_VALUE,
     "bitcast:u16(cast:f16(mul:f32(cast:f32(f16), cast:f32(f16))))"},
    {AXE_TYPE_f16, AS_INTEGER,
     "cast:i32(mul:f32(cast:f32(f16), cast:f32(f16)))"},
};

static const axe_node *
value_of(maker *m, axe_type t, value v, const axe_node *x)
{
    axe_ctx        *cx = m->cx;
    const axe_node *product = op(m, AXE_OP_mul, x, x), *less, *wide;

    switch (v) {
    case ELEMENT:
        return x;
    case BY_CONST:
        return op(m, AXE_OP_mul, x, axe_fconst(cx, AXE_NOWHERE, t, 60000));
    case CAST:
        wide = axe_cast(cx, AXE_NOWHERE, AXE_TYPE_f32, x);
        wide = axe_cast(cx, AXE_NOWHERE, t, op(m, AXE_OP_mul, wide, wide));
        return op(m, AXE_OP_mul, wide, x);
    case COMPARED:
        less = op(m, AXE_OP_lt, x, x);
        return axe_node_new(cx, AXE_OP_select, t, AXE_NOWHERE, 3,
                            (const axe_node *[]){less, x, product});
    case BITS:
        return axe_node_new(cx, AXE_OP_bitcast, AXE_TYPE_u16, AXE_NOWHERE, 1,
                            &x);
    case BITS_OF_VALUE:
        return axe_node_new(cx, AXE_OP_bitcast, AXE_TYPE_u16, AXE_NOWHERE, 1,
                            &product);
    case AS_INTEGER:
        return axe_cast(cx, AXE_NOWHERE, AXE_TYPE_i32, product);
    default:
        return product;
    }
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        axe_ctx          *cx = axe_ctx_new();
        maker            *m = grid_new(cx, "sm_90a", "k", 32);
        const axe_tensor *x = new_array(m, rows[i].type, "x", 8);
        const axe_node   *of =
            value_of(m, rows[i].type, rows[i].value, element(m, x, num(m, 3)));
        axe_lblock *top = m->at;
        calc(m, x, num(m, 0), of);
        for (int again = 0; again < 2; again++) {
            axe_compute_in_type(cx, m->mc, top);
            const char *got = shape(cx, top->item[0]->value);
            if (strcmp(got, rows[i].want) != 0)
                fail_msg("row %d is computed as %s", i, got);
        }
        axe_ctx_free(cx);
    }
}

/* Words that are moved are nobody's values; conditions are computed, too. */
static void
test_others(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    maker            *m = grid_new(cx, "sm_90a", "k", 32);
    const axe_tensor *x = new_array(m, AXE_TYPE_f16, "x", 8);
    const axe_tensor *y = new_array(m, AXE_TYPE_f16, "y", 8);
    const axe_node   *less, *e, *one = element(m, x, num(m, 1));
    axe_lblock       *top = m->at;

    (void)state;
    less = op(m, AXE_OP_lt, one, op(m, AXE_OP_mul, one, one));
    e = loop(m, "e", num(m, 4), true);
    calc(m, y, e,
         axe_node_new(cx, AXE_OP_select, AXE_TYPE_f16, AXE_NOWHERE, 3,
                      (const axe_node *[]){
                          op(m, AXE_OP_eq, id(m, AXE_ID_LANE), num(m, 0)),
                          element(m, x, e), element(m, x, e)}));
    top->item[0]->join = AXE_JOIN_MOVE;
    m->at = top;
    emit(m, AXE_LIR_IF)->value = less;
    axe_compute_in_type(cx, m->mc, top);
    assert_string_equal(shape(cx, top->item[0]->body.item[0]->value->arg[1]),
                        "f16");
    assert_string_equal(shape(cx, top->item[1]->value),
                        "lt:bool(cast:f32(f16), mul:f32(cast:f32(f16), "
                        "cast:f32(f16)))");
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
