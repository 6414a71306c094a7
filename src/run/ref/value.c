/* value.c - the reference's values as C text: every node of an expression
 * becomes one numbered variable rI, and folds are loops around their value.
 *
 * Names: zI sizes and xI other variables by id; of tensor I the values vI, the
 * bounds eI, the extents dI_K. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/number.h"
#include "run/ref/ref_int.h"

static const struct ref_row {
    const char *real, *whole;
} row[AXE_N_OP] = {
#define REF(op, real, whole) [AXE_OP_##op] = {real, whole},
#define REFU(op, whole)
#include "run/ref/ref.def"
};

static const char *const row_u64[AXE_N_OP] = {
#define REF(op, real, whole)
#define REFU(op, whole) [AXE_OP_##op] = whole,
#include "run/ref/ref.def"
};

/* The C type of a value. */
const char *
axe_ref_c_type(axe_type t)
{
    return axe_type_is_float(t) ? "R" : "i64";
}

/* "for (...) {", closed by close_loops. */
void
axe_ref_open_loop(axe_ref_printer *p, const axe_var *v, int extent)
{
    PUT_LINE(p, "for (i64 x%d = 0; x%d < r%d; x%d++) {", v->id, v->id, extent,
             v->id);
    p->depth++;
}

void
axe_ref_close_loops(axe_ref_printer *p, int n)
{
    while (n-- > 0) {
        p->depth--;
        PUT_LINE(p, "}");
    }
}

/* Twice the roundoff of a type: both sides round. */
static double
roundoff(axe_type t)
{
    axe_float_format f;

    return axe_float_format_of(t, &f) ? ldexp(1.0, 1 - f.p) : 0;
}

/* ------------------------------------------------------------- expressions */

/* Units that a function may be off beyond ops.def: glibc's cbrt of f64 is by 4,
 * CUDA's pow of f32 by 2 more than a CPU's. */
enum { AXE_REF_SLACK = 4 };

/* A number that reads back as itself. */
static const char *
number_text(axe_ctx *cx, double v)
{
    if (isnan(v))
        return "(0 / 0.0)";
    if (isinf(v))
        return v > 0 ? "(1 / 0.0)" : "(-1 / 0.0)";
    return axe_textf(cx, "%a", v);
}

/* INT64_MIN has no literal of its own. */
static const char *
whole_text(axe_ctx *cx, int64_t v)
{
    return axe_textf(cx, "(i64)%" PRIu64 "ull", (uint64_t)v);
}

/* An int64 brought into an integer type; bool: 0 or 1. */
static const char *
wrap_text(axe_ctx *cx, axe_type t, const char *x)
{
    const axe_type_info *info = &axe_type_table[t];
    int                  drop = 64 - info->bits;

    if (info->cls == AXE_CLASS_BOOL)
        return axe_textf(cx, "((%s) != 0)", x);
    return axe_textf(cx, "((i64)((%s64)((u64)(%s) << %d) >> %d))",
                     info->cls == AXE_CLASS_UINT ? "u" : "i", x, drop, drop);
}

/* The template of ref.def with its operands put in. */
static const char *
fill(axe_ref_printer *p, const char *template, const axe_node *n,
     const int *arg)
{
    axe_buf b = {.cx = p->cx};

    for (const char *s = template; *s; s++)
        if (*s != '%' || !strchr("ukb012", s[1]))
            axe_putc(&b, *s);
        else if (*++s == 'u')
            axe_putf(&b, "%a", roundoff(n->type));
        else if (*s == 'k')
            axe_putf(&b, "%a",
                     (axe_op_table[n->op].ulp + AXE_REF_SLACK) *
                         roundoff(n->type));
        else if (*s == 'b')
            axe_putf(&b, "%d", axe_type_table[n->type].bits);
        else
            axe_putf(&b, "r%d", arg[*s - '0']);
    return b.text;
}

int
axe_ref_result(axe_ref_printer *p, axe_type t, const char *text)
{
    PUT_LINE(p, "%s r%d = %s;", axe_ref_c_type(t), p->n_result, text);
    return p->n_result++;
}

/* Row-major place of an access by Horner's rule, and whether it is inside. */
axe_status
axe_ref_put_place(axe_ref_printer *p, const axe_node *load, int *at,
                  int *inside)
{
    const axe_tensor *t = load->u.tensor;
    axe_buf           cond = {.cx = p->cx};

    axe_putc(&cond, '1');
    *at = axe_ref_result(p, AXE_TYPE_INDEX, "0");
    for (int i = 0; i < load->n_arg; i++) {
        int sub;
        AXE_TRY(axe_ref_put_node(p, load->arg[i], &sub));
        axe_putf(&cond, " && r%d >= 0 && r%d < d%d_%d", sub, sub, t->id, i);
        *at = axe_ref_result(
            p, AXE_TYPE_INDEX,
            axe_textf(p->cx, "r%d * d%d_%d + r%d", *at, t->id, i, sub));
    }
    *inside = axe_ref_result(p, AXE_TYPE_bool, cond.text);
    return AXE_OK;
}

static axe_status
put_load(axe_ref_printer *p, const axe_node *n, int *out)
{
    int id = n->u.tensor->id, at, in;

    AXE_TRY(axe_ref_put_place(p, n, &at, &in));
    if (axe_type_is_float(n->type))
        *out =
            axe_ref_result(p, n->type,
                           axe_textf(p->cx,
                                     "r%d ? (R){v%d[r%d], e%d ? e%d[r%d] : 0} "
                                     ": (R){0, 0}",
                                     in, id, at, id, id, at));
    else {
        PUT_LINE(p, "if (r%d && e%d) recall(e%d[r%d]);", in, id, id, at);
        *out = axe_ref_result(
            p, n->type, axe_textf(p->cx, "r%d ? v%d[r%d] : 0", in, id, at));
    }
    return AXE_OK;
}

/* A real number as an integer of type t: nearest, and not beyond its ends. */
static int
put_whole(axe_ref_printer *p, axe_type t, int arg)
{
    const axe_type_info *info = &axe_type_table[t];
    bool                 sign = info->cls == AXE_CLASS_INT;
    double               end = ldexp(1.0, info->bits - sign);

    return axe_ref_result(
        p, t,
        axe_textf(p->cx, "to_whole(r%d, %a, %a)", arg, sign ? -end : 0, end));
}

/* Is the integer one that was loaded or rounded, so that `doubt` bounds it? */
bool
axe_ref_as_stored(const axe_node *n)
{
    while (n->op == AXE_OP_cast && !axe_type_is_float(n->type))
        n = n->arg[0];
    return n->op == AXE_OP_load || axe_type_is_float(n->type);
}

static int
put_cast(axe_ref_printer *p, const axe_node *n, int arg)
{
    bool from = axe_type_is_float(n->arg[0]->type),
         to = axe_type_is_float(n->type);
    const char *u = n->arg[0]->type == AXE_TYPE_u64 ? "(u64)" : "";
    const char *x = from == to ? axe_textf(p->cx, "r%d", arg)
                               : axe_textf(p->cx,
                                           axe_ref_as_stored(n->arg[0])
                                               ? "(R){%sr%d, doubt}"
                                               : "(R){%sr%d, widen(doubt)}",
                                           u, arg);

    if (from && !to)
        return put_whole(p, n->type, arg);

    return axe_ref_result(
        p, n->type,
        to ? axe_textf(p->cx, "to_%s(%s)", axe_type_table[n->type].name, x)
           : wrap_text(p->cx, n->type, x));
}

/* The bits of a value: those of a real number are known if it is exact. */
static int
put_bits(axe_ref_printer *p, const axe_node *n, int arg)
{
    axe_type    to = n->type, from = n->arg[0]->type;
    const char *text = axe_textf(p->cx, "r%d", arg);
    bool        is = axe_type_is_float(to), was = axe_type_is_float(from);

    if (was)
        text = axe_textf(p->cx, "bits_%s(%s)", axe_type_table[from].name, text);
    if (!is)
        return axe_ref_result(p, to, wrap_text(p->cx, to, text));
    return axe_ref_result(
        p, to,
        axe_textf(p->cx, "of_bits_%s(%s)", axe_type_table[to].name, text));
}

/* ------------------------------------------------------------------- folds */

/* acc = acc folded with x; of a real sum, also s<acc> += |x|. */
void
axe_ref_put_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc, int x)
{
    bool sum = fold == AXE_FOLD_SUM;

    if (axe_type_is_float(t) && sum)
        PUT_LINE(p, "r%d.v += r%d.v; r%d.e += r%d.e; s%d += fabs(r%d.v);", acc,
                 x, acc, x, acc, x);
    else if (axe_type_is_float(t) && fold == AXE_FOLD_MUL)
        PUT_LINE(p, "r%d = mul(r%d, r%d, %a);", acc, acc, x, roundoff(t));
    else if (axe_type_is_float(t))
        PUT_LINE(p, "r%d = %s(r%d, r%d);", acc,
                 fold == AXE_FOLD_MAX ? "upper" : "lower", acc, x);
    else if (sum || fold == AXE_FOLD_MUL)
        PUT_LINE(p, "r%d = %s;", acc,
                 wrap_text(p->cx, t,
                           axe_textf(p->cx, "wrap_%s(r%d, r%d)",
                                     sum ? "add" : "mul", acc, x)));
    else
        PUT_LINE(p, "if (%sr%d %c r%d) r%d = r%d;",
                 t == AXE_TYPE_u64 ? "(u64)" : "", x,
                 fold == AXE_FOLD_MAX ? '>' : '<', acc, acc, x);
}

/* Declares what put_fold adds to. */
void
axe_ref_begin_fold(axe_ref_printer *p, axe_type t, int acc)
{
    if (axe_type_is_float(t))
        PUT_LINE(p, "double s%d = fabs(r%d.v);", acc, acc);
}

/* The rounding of a sum over dims of the extents r<extent[i]>. */
void
axe_ref_end_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc, int n,
                 const int *extent)
{
    axe_buf count = {.cx = p->cx};

    if (!axe_type_is_float(t) || fold != AXE_FOLD_SUM)
        return;
    axe_puts(&count, "1.0");
    for (int i = 0; i < n; i++)
        axe_putf(&count, " * r%d", extent[i]);
    PUT_LINE(p, "r%d = finish_sum(r%d, s%d, %s, %a);", acc, acc, acc,
             count.text, roundoff(t));
}

static axe_status
put_reduce(axe_ref_printer *p, const axe_node *n, int *out)
{
    int *extent = axe_new_array(p->cx, int, n->u.reduce.n_over);
    int  n_over = n->u.reduce.n_over, acc, x;

    for (int i = 0; i < n_over; i++)
        AXE_TRY(axe_ref_put_node(p, n->u.reduce.extent[i], &extent[i]));
    AXE_TRY(axe_ref_put_node(p, axe_fold_unit(p->cx, n->u.reduce.fold, n->type),
                             &acc));
    if (axe_type_is_float(n->type))
        PUT_LINE(p, "double s%d = 0;", acc);
    for (int i = 0; i < n_over; i++)
        axe_ref_open_loop(p, n->u.reduce.over[i], extent[i]);
    AXE_TRY(axe_ref_put_node(p, n->arg[0], &x));
    axe_ref_put_fold(p, n->u.reduce.fold, n->type, acc, x);
    axe_ref_close_loops(p, n_over);
    axe_ref_end_fold(p, n->u.reduce.fold, n->type, acc, n_over, extent);
    *out = acc;
    return AXE_OK;
}

/* ------------------------------------------------------------- expressions */

static axe_status
put_leaf(axe_ref_printer *p, const axe_node *n, int *out)
{
    const axe_var *v = n->u.var;

    if (n->op == AXE_OP_var)
        *out = axe_ref_result(p, n->type,
                              axe_textf(p->cx, "%c%d",
                                        v->kind == AXE_VAR_SIZE ? 'z' : 'x',
                                        v->id));
    else if (n->op == AXE_OP_iconst && !axe_type_is_float(n->type))
        *out = axe_ref_result(p, n->type, whole_text(p->cx, n->u.i));
    else
        *out = axe_ref_result(p, n->type,
                              axe_textf(p->cx, "(R){%s, 0}",
                                        n->op == AXE_OP_iconst
                                            ? whole_text(p->cx, n->u.i)
                                            : number_text(p->cx, n->u.f)));
    return AXE_OK;
}

/* An element of bf16, widened or not?  One cast to an integer is none. */
static bool
is_bf16(const axe_node *n)
{
    return n->type == AXE_TYPE_bf16 ||
           (n->op == AXE_OP_cast && axe_type_is_float(n->type) &&
            n->arg[0]->type == AXE_TYPE_bf16);
}

static axe_status
put_op(axe_ref_printer *p, const axe_node *n, int *out)
{
    bool        on_real = axe_type_is_float(n->arg[0]->type);
    const char *text = on_real ? row[n->op].real : row[n->op].whole;
    int         arg[3] = {0};

    if (n->arg[0]->type == AXE_TYPE_u64 && row_u64[n->op])
        text = row_u64[n->op];
    assert(n->n_arg >= 1 && n->n_arg <= AXE_LEN(arg));
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(axe_ref_put_node(p, n->arg[i], &arg[i]));
    if (n->op == AXE_OP_select)
        text = "%0 ? %1 : %2";
    if (n->op == AXE_OP_mul && is_bf16(n->arg[0]) && is_bf16(n->arg[1]))
        text = "mul_bf16(%0, %1, %u)";
    if (n->op == AXE_OP_bitcast) {
        *out = put_bits(p, n, arg[0]);
        return AXE_OK;
    }
    if (n->op == AXE_OP_cast) {
        *out = put_cast(p, n, arg[0]);
        return AXE_OK;
    }
    if (!text || !*text)
        return axe_fail(
            p->cx, n->at, AXE_EUNSUPPORTED, "the reference has no '%s' on %s",
            axe_op_table[n->op].name, axe_type_table[n->arg[0]->type].name);
    text = fill(p, text, n, arg);
    *out = axe_ref_result(p, n->type,
                          axe_type_is_float(n->type) || n->op == AXE_OP_select
                              ? text
                              : wrap_text(p->cx, n->type, text));
    return AXE_OK;
}

axe_status
axe_ref_put_node(axe_ref_printer *p, const axe_node *n, int *out)
{
    if (!axe_number_known(n->type))
        return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                        "the reference cannot compute in %s",
                        axe_type_table[n->type].name);
    if (n->op == AXE_OP_load)
        return put_load(p, n, out);
    if (n->op == AXE_OP_reduce)
        return put_reduce(p, n, out);
    return n->n_arg == 0 ? put_leaf(p, n, out) : put_op(p, n, out);
}
