/* arith.c - one operation of two values, and what it is given. */
#include "lower/systolic/sys.h"

void
sys_unable(sys *s, const axe_node *n)
{
    sys_fail(s, n->at,
             "run the kernel on another machine, or compute it of add, "
             "multiply, min, max, exp; a choice compares indices by < and <=, "
             "and one by values is a product with 0 or 1",
             "%s has no instruction for %s", s->plan->machine->name,
             axe_node_text(s->cx, n));
}

sys_val
sys_number(double x)
{
    return (sys_val){.kind = SYS_NUMBER, .number = x, .column = true};
}

int64_t
sys_width(const sys *s, bool column)
{
    return column || !s->F ? 1 : SYS_CHUNK;
}

/* Where the result goes: what is wanted, or a new tile. */
sys_val
sys_result(sys *s, const sys_val *want, bool column)
{
    if (want && column == want->column)
        return *want;
    return sys_temp(s, AXE_TYPE_f32, sys_width(s, column));
}

const char *
sys_all(sys *s, const sys_val *v)
{
    return sys_put(s, v, sys_parts(s), sys_cols(s));
}

/* One number for each partition, as operands of two tiles want it: a number,
 * or a column of f32. */
const char *
sys_column(sys *s, sys_val v)
{
    if (v.kind == SYS_NUMBER)
        return axe_textf(s->cx, "%.17g", v.number);
    if (v.type != AXE_TYPE_f32) {
        sys_val wide = sys_temp(s, AXE_TYPE_f32, 1);
        sys_copy(s, &wide, &v, sys_parts(s), sys_c(1));
        v = wide;
    }
    return sys_put(s, &v, sys_parts(s), sys_c(1));
}

sys_val
sys_as_tile(sys *s, sys_val v, bool col)
{
    if (v.kind == SYS_TILE)
        return v;
    sys_val out = sys_temp(s, AXE_TYPE_f32, sys_width(s, col));
    sys_copy(s, &out, &v, sys_parts(s), sys_cols(s));
    return out;
}

void
sys_busy(sys *s, axe_trn_engine e, double n)
{
    s->busy[e] += n * AXE_SYSTOLIC_N / axe_trn_engines[e].ghz;
}

/* f(a, b), element by element. */
sys_val
sys_both(sys *s, const char *f, sys_val a, sys_val b, const sys_val *want)
{
    bool    col = a.column && b.column;
    sys_val out = sys_result(s, want, col);

    if (a.kind == SYS_NUMBER && b.kind == SYS_NUMBER)
        a = sys_as_tile(s, a, true);
    if (a.psum && b.psum) { /* one of them may be there */
        sys_val c = sys_temp(s, AXE_TYPE_f32, sys_width(s, a.column));
        sys_copy(s, &c, &a, sys_parts(s), sys_cols(s));
        a = c;
    }
    sys_busy(s, AXE_TRN_vector, 1);
    if (b.kind == SYS_NUMBER || (b.column && !a.column))
        sys_line(s, "vector tensor_scalar %s, %s, op0=%s, operand0=%s",
                 sys_all(s, &out), sys_all(s, &a), f, sys_column(s, b));
    else if (a.kind == SYS_NUMBER || (a.column && !b.column)) {
        const char *c = sys_column(s, a);
        sys_line(s,
                 "vector tensor_scalar %s, %s, op0=%s, operand0=%s, "
                 "reverse0=1",
                 sys_all(s, &out), sys_all(s, &b), f, c);
    } else
        sys_line(s, "vector tensor_tensor %s, %s, %s, op=%s", sys_all(s, &out),
                 sys_all(s, &a), sys_all(s, &b), f);
    return out;
}

/* 1 / b. */
sys_val
sys_inverse(sys *s, sys_val b, const sys_val *want)
{
    sys_val out = sys_result(s, want, b.column);

    b = sys_as_tile(s, b, b.column);
    sys_line(s, "vector reciprocal %s, %s", sys_all(s, &out), sys_all(s, &b));
    sys_busy(s, AXE_TRN_vector, 8);
    return out;
}
