/* index.c - integer expressions in C.
 *
 * Variables are at least 0, so most divisions can be C's own; where an operand
 * may be negative, division is spelt to round to minus infinity.  A spelling
 * has the precedence of C's operators, so parentheses stand only where needed.
 */
#include <inttypes.h>

#include "print/c/c_int.h"

const char *
axe_c_name(axe_ctx *cx, const char *prefix, const char *name)
{
    char *s = axe_textf(cx, "%s_%s", prefix, name);

    for (char *c = s; *c; c++)
        if (*c == '.')
            *c = '$';
    return s;
}

const char *
axe_c_var(axe_cprinter *p, const axe_var *v)
{
    bool own = v->id < p->l->plan->kernel->n_var;

    if (v->kind == AXE_VAR_SIZE &&
        (v->id < 0 || v == p->l->plan->kernel->cores))
        return AXE_WORKERS;
    return axe_c_name(p->cx,
                      v->kind == AXE_VAR_SIZE ? "s"
                      : own                   ? "v"
                                              : "l",
                      v->name);
}

static bool
positive(const axe_node *n)
{
    return n->op == AXE_OP_iconst && n->u.i > 0;
}

/* Precedence of C: larger binds tighter. */
enum { P_OR = 1, P_AND, P_EQ, P_LESS, P_ADD, P_MUL, P_UNARY, P_CALL };

static const struct {
    axe_op      op;
    int         prec, left, right; /* of the whole; what the operands need */
    const char *plain, *floor;     /* %0 %1; floor: a may be < 0, b < 1 */
    int         floor_prec;
} spelling[] = {
    {AXE_OP_add, P_ADD, P_ADD, P_ADD, "%0 + %1", NULL, 0},
    {AXE_OP_sub, P_ADD, P_ADD, P_MUL, "%0 - %1", NULL, 0},
    {AXE_OP_mul, P_MUL, P_MUL, P_UNARY, "%0 * %1", NULL, 0},
    {AXE_OP_div, P_MUL, P_MUL, P_UNARY, "%0 / %1", "axe_div(%0, %1)", P_CALL},
    {AXE_OP_mod, P_MUL, P_MUL, P_UNARY, "%0 % %1", "axe_mod(%0, %1)", P_CALL},
    {AXE_OP_cdiv, P_MUL, P_ADD, P_UNARY, "(%0 + %1 - 1) / %1",
     "-axe_div(-(%0), %1)", P_UNARY},
    {AXE_OP_band, P_CALL, P_ADD, P_ADD, "(%0 & %1)", NULL, 0},
    {AXE_OP_bor, P_CALL, P_ADD, P_ADD, "(%0 | %1)", NULL, 0},
    {AXE_OP_bxor, P_CALL, P_ADD, P_ADD, "(%0 ^ %1)", NULL, 0},
    {AXE_OP_bnot, P_UNARY, P_CALL, 0, "~%0", NULL, 0},
    {AXE_OP_shl, P_CALL, P_CALL, P_CALL,
     "((u64)%1 < 64 ? (i64)((u64)%0 << %1) : 0)", NULL, 0},
    {AXE_OP_shr, P_CALL, P_CALL, P_CALL, "(%0 >> ((u64)%1 < 64 ? %1 : 63))",
     NULL, 0},
    {AXE_OP_mulhi, P_CALL, P_CALL, P_CALL, "(i64)((__int128)%0 * %1 >> 64)",
     NULL, 0},
    {AXE_OP_popcount, P_CALL, 0, 0, "__builtin_popcountll(%0)", NULL, 0},
    {AXE_OP_clz, P_CALL, P_CALL, 0, "(%0 ? __builtin_clzll(%0) : 64)", NULL, 0},
    {AXE_OP_min, P_CALL, 0, 0, "axe_min(%0, %1)", NULL, 0},
    {AXE_OP_max, P_CALL, 0, 0, "axe_max(%0, %1)", NULL, 0},
    {AXE_OP_le, P_LESS, P_ADD, P_ADD, "%0 <= %1", NULL, 0},
    {AXE_OP_lt, P_LESS, P_ADD, P_ADD, "%0 < %1", NULL, 0},
    {AXE_OP_eq, P_EQ, P_LESS, P_LESS, "%0 == %1", NULL, 0},
    {AXE_OP_ne, P_EQ, P_LESS, P_LESS, "%0 != %1", NULL, 0},
    {AXE_OP_and, P_AND, P_AND, P_AND, "%0 && %1", NULL, 0},
    {AXE_OP_or, P_OR, P_AND, P_AND, "%0 || %1", NULL, 0},
    {AXE_OP_neg, P_UNARY, P_CALL, 0, "-%0", NULL, 0},
    {AXE_OP_not, P_UNARY, P_UNARY, 0, "!%0", NULL, 0},
    {AXE_OP_abs, P_CALL, 0, P_UNARY, "axe_max(%0, -(%0))", NULL, 0},
    {AXE_OP_sign, P_CALL, P_CALL, 0, "((%0 > 0) - (%0 < 0))", NULL, 0},
    {AXE_OP_select, P_CALL, P_OR, 0, "(%0 ? %1 : %2)", NULL, 0},
};

static axe_status put(axe_cprinter *p, axe_buf *b, const axe_node *n, int prec);

static axe_status
put_spelling(axe_cprinter *p, axe_buf *b, const axe_node *n, int row, int prec)
{
    const char *s = spelling[row].plain;
    int         own = spelling[row].prec;

    if (spelling[row].floor &&
        !(axe_is_nonneg(n->arg[0]) && positive(n->arg[1]))) {
        s = spelling[row].floor;
        own = spelling[row].floor_prec;
    }
    if (own < prec)
        axe_putc(b, '(');
    for (; *s; s++)
        if (*s == '%' && '0' <= s[1] && s[1] <= '2') {
            int i = *++s - '0';
            AXE_TRY(put(p, b, n->arg[i],
                        i ? spelling[row].right : spelling[row].left));
        } else
            axe_putc(b, *s);
    if (own < prec)
        axe_putc(b, ')');
    return AXE_OK;
}

static axe_status
put(axe_cprinter *p, axe_buf *b, const axe_node *n, int prec)
{
    if (n->op == AXE_OP_iconst) {
        axe_putf(b, n->u.i < 0 ? "(%" PRId64 ")" : "%" PRId64, n->u.i);
        return AXE_OK;
    }
    if (n->op == AXE_OP_var) {
        axe_puts(b, axe_c_var(p, n->u.var));
        return AXE_OK;
    }
    if (n->op == AXE_OP_load && n->n_arg == 0) {
        axe_putf(b, "%s[0]", axe_c_name(p->cx, "t", n->u.tensor->name));
        return AXE_OK;
    }
    if (n->op == AXE_OP_select) {
        axe_putc(b, '(');
        AXE_TRY(put(p, b, n->arg[0], P_OR));
        axe_puts(b, " ? ");
        AXE_TRY(put(p, b, n->arg[1], P_OR));
        axe_puts(b, " : ");
        AXE_TRY(put(p, b, n->arg[2], P_OR));
        axe_putc(b, ')');
        return AXE_OK;
    }
    for (int i = 0; i < AXE_LEN(spelling); i++)
        if (spelling[i].op == n->op)
            return put_spelling(p, b, n, i, prec);
    return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                    "C has no spelling for index operation '%s'",
                    axe_op_table[n->op].name);
}

axe_status
axe_c_index(axe_cprinter *p, axe_buf *b, const axe_node *n)
{
    return put(p, b, n, 0);
}
