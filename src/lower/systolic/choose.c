/* choose.c - `c ? x : y`, where c compares indices: affine_select keeps what
 * holds. */
#include "ir/stmt.h"
#include "lower/systolic/sys.h"

/* v where the comparison of indices holds (no: does not), else `other`. */
static sys_val
keep_where(sys *s, const axe_node *c, bool no, sys_val v, double other,
           const sys_val *want)
{
    axe_affine a;

    bool strict = c->op == AXE_OP_lt;
    if ((!strict && c->op != AXE_OP_le) || axe_type_is_float(c->arg[0]->type) ||
        !axe_affine_of(
            s->cx, axe_node2(s->cx, AXE_OP_sub, c->arg[1], c->arg[0]), &a)) {
        sys_unable(s, c);
        return v;
    }
    sys_ex by_p = sys_c(s->P ? axe_affine_coef(&a, s->P->v) : 0);
    sys_ex by_f = sys_c(s->F ? axe_affine_coef(&a, s->F->v) : 0);
    sys_ex off = sys_sub(s, sys_of(s, c->arg[1]), sys_of(s, c->arg[0]));
    bool   col = v.column && by_f.c == 0;
    if (v.psum || (v.column && !col)) { /* it is in SBUF, and as wide */
        sys_val w = sys_temp(s, AXE_TYPE_f32, sys_width(s, false));
        sys_val one = {.kind = SYS_NUMBER, .number = 0};
        if (v.column) {
            sys_copy(s, &w, &one, sys_parts(s), sys_cols(s));
            w = sys_both(s, "add", w, v, NULL);
        } else
            sys_copy(s, &w, &v, sys_parts(s), sys_cols(s));
        v = w;
    }
    sys_val out = sys_result(s, want && !want->psum ? want : NULL, col);
    sys_line(s,
             "gpsimd affine_select %s, %s, pattern=[%s by %s], "
             "on_false_value=%.17g, cmp_op=%s, offset=%s, "
             "channel_multiplier=%s",
             sys_all(s, &out), sys_all(s, &v),
             sys_text(s, col ? sys_c(1) : sys_cols(s)), sys_text(s, by_f),
             other,
             no       ? strict ? "less_equal" : "less"
             : strict ? "greater"
                      : "greater_equal",
             sys_text(s, off), sys_text(s, by_p));
    return out;
}

/* cond ? x : y, where the condition (no: its negation) is of indices: one
 * comparison after the other. */
static sys_val
pick(sys *s, const axe_node *c, bool no, sys_val x, sys_val y,
     const sys_val *want)
{
    if (c->op == AXE_OP_not)
        return pick(s, c->arg[0], !no, x, y, want);
    if (c->op == AXE_OP_and || c->op == AXE_OP_or) {
        sys_val in = pick(s, c->arg[1], no, x, y, NULL);
        return (c->op == AXE_OP_and) != no
                   ? pick(s, c->arg[0], no, in, y, want)
                   : pick(s, c->arg[0], no, x, in, want);
    }
    if (y.kind == SYS_NUMBER)
        return keep_where(s, c, no, sys_as_tile(s, x, false), y.number, want);
    if (x.kind == SYS_NUMBER)
        return keep_where(s, c, !no, y, x.number, want);
    x = keep_where(s, c, no, x, 0, NULL);
    y = keep_where(s, c, !no, y, 0, NULL);
    return sys_both(s, "add", x, y, want);
}

sys_val
sys_choose(sys *s, const axe_node *n, sys_val x, sys_val y, const sys_val *want)
{
    if (axe_node_loads(n->arg[0])) {
        sys_unable(s, n);
        return sys_number(0);
    }
    return pick(s, n->arg[0], false, x, y, want);
}
