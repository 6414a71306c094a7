/* ref_print.c - a kernel's IR as naive C, by the definition of each node.
 *
 * Scopes and loops become loops, tiles dense arrays in double (or int64), an
 * index statement a loop nest over its whole domain; nothing is fused, tiled,
 * reordered or guessed, and nothing of the planner is used.  Every node becomes
 * one numbered variable, so the text is straight-line inside its loops.
 *
 * Names: zI sizes and xI other variables by id, rI results; of tensor I the
 * values vI, the bounds eI, the extents dI_K; pipelines' are ref_ring.c's. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "ir/number.h"
#include "run/ref_int.h"

static const struct ref_row {
    const char *real, *whole;
} row[AXE_N_OP] = {
#define REF(op, real, whole) [AXE_OP_##op] = {real, whole},
#include "run/ref.def"
};

static axe_status put_node(axe_ref_printer *p, const axe_node *n, int *out);

static bool
real(axe_type t)
{
    return axe_type_is_float(t);
}

/* The C type of a value. */
static const char *
c_type(axe_type t)
{
    return real(t) ? "R" : "i64";
}

/* "for (...) {", closed by close_loops. */
static void
open_loop(axe_ref_printer *p, const axe_var *v, int extent)
{
    PUT_LINE(p, "for (i64 x%d = 0; x%d < r%d; x%d++) {", v->id, v->id, extent,
             v->id);
    p->depth++;
}

static void
close_loops(axe_ref_printer *p, int n)
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
        if (*s != '%')
            axe_putc(&b, *s);
        else if (*++s == 'u')
            axe_putf(&b, "%a", roundoff(n->type));
        else
            axe_putf(&b, "r%d", arg[*s - '0']);
    return b.text;
}

static int
result(axe_ref_printer *p, axe_type t, const char *text)
{
    PUT_LINE(p, "%s r%d = %s;", c_type(t), p->n_result, text);
    return p->n_result++;
}

/* Row-major place of an access by Horner's rule, and whether it is inside. */
static axe_status
put_place(axe_ref_printer *p, const axe_node *load, int *at, int *inside)
{
    const axe_tensor *t = load->u.tensor;
    axe_buf           cond = {.cx = p->cx};

    axe_putc(&cond, '1');
    *at = result(p, AXE_TYPE_INDEX, "0");
    for (int i = 0; i < load->n_arg; i++) {
        int sub;
        AXE_TRY(put_node(p, load->arg[i], &sub));
        axe_putf(&cond, " && r%d >= 0 && r%d < d%d_%d", sub, sub, t->id, i);
        *at =
            result(p, AXE_TYPE_INDEX,
                   axe_textf(p->cx, "r%d * d%d_%d + r%d", *at, t->id, i, sub));
    }
    *inside = result(p, AXE_TYPE_bool, cond.text);
    return AXE_OK;
}

static axe_status
put_load(axe_ref_printer *p, const axe_node *n, int *out)
{
    int id = n->u.tensor->id, at, in;

    AXE_TRY(put_place(p, n, &at, &in));
    if (real(n->type))
        *out = result(p, n->type,
                      axe_textf(p->cx,
                                "r%d ? (R){v%d[r%d], e%d ? e%d[r%d] : 0} "
                                ": (R){0, 0}",
                                in, id, at, id, id, at));
    else {
        PUT_LINE(p, "if (r%d && e%d) recall(e%d[r%d]);", in, id, id, at);
        *out = result(p, n->type,
                      axe_textf(p->cx, "r%d ? v%d[r%d] : 0", in, id, at));
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

    return result(
        p, t,
        axe_textf(p->cx, "to_whole(r%d, %a, %a)", arg, sign ? -end : 0, end));
}

/* Is the integer one that was loaded or rounded, so that `doubt` bounds it? */
static bool
as_stored(const axe_node *n)
{
    while (n->op == AXE_OP_cast && !real(n->type))
        n = n->arg[0];
    return n->op == AXE_OP_load || real(n->type);
}

static int
put_cast(axe_ref_printer *p, const axe_node *n, int arg)
{
    bool        from = real(n->arg[0]->type), to = real(n->type);
    const char *x = axe_textf(p->cx,
                              from == to             ? "r%d"
                              : as_stored(n->arg[0]) ? "(R){r%d, doubt}"
                                                     : "(R){r%d, widen(doubt)}",
                              arg);

    if (from && !to)
        return put_whole(p, n->type, arg);

    return result(
        p, n->type,
        to ? axe_textf(p->cx, "to_%s(%s)", axe_type_table[n->type].name, x)
           : wrap_text(p->cx, n->type, x));
}

/* ------------------------------------------------------------------- folds */

/* acc = acc folded with x; of a real sum, also s<acc> += |x|. */
static void
put_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc, int x)
{
    bool sum = fold == AXE_FOLD_SUM;

    if (real(t) && sum)
        PUT_LINE(p, "r%d.v += r%d.v; r%d.e += r%d.e; s%d += fabs(r%d.v);", acc,
                 x, acc, x, acc, x);
    else if (real(t) && fold == AXE_FOLD_MUL)
        PUT_LINE(p, "r%d = mul(r%d, r%d, %a);", acc, acc, x, roundoff(t));
    else if (real(t))
        PUT_LINE(p, "r%d = %s(r%d, r%d);", acc,
                 fold == AXE_FOLD_MAX ? "upper" : "lower", acc, x);
    else if (sum || fold == AXE_FOLD_MUL)
        PUT_LINE(p, "r%d = %s;", acc,
                 wrap_text(p->cx, t,
                           axe_textf(p->cx, "wrap_%s(r%d, r%d)",
                                     sum ? "add" : "mul", acc, x)));
    else
        PUT_LINE(p, "if (r%d %c r%d) r%d = r%d;", x,
                 fold == AXE_FOLD_MAX ? '>' : '<', acc, acc, x);
}

/* Declares what put_fold adds to. */
static void
begin_fold(axe_ref_printer *p, axe_type t, int acc)
{
    if (real(t))
        PUT_LINE(p, "double s%d = fabs(r%d.v);", acc, acc);
}

/* The rounding of a sum over dims of the extents r<extent[i]>. */
static void
end_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc, int n,
         const int *extent)
{
    axe_buf count = {.cx = p->cx};

    if (!real(t) || fold != AXE_FOLD_SUM)
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
        AXE_TRY(put_node(p, n->u.reduce.extent[i], &extent[i]));
    AXE_TRY(put_node(p, axe_fold_unit(p->cx, n->u.reduce.fold, n->type), &acc));
    if (real(n->type))
        PUT_LINE(p, "double s%d = 0;", acc);
    for (int i = 0; i < n_over; i++)
        open_loop(p, n->u.reduce.over[i], extent[i]);
    AXE_TRY(put_node(p, n->arg[0], &x));
    put_fold(p, n->u.reduce.fold, n->type, acc, x);
    close_loops(p, n_over);
    end_fold(p, n->u.reduce.fold, n->type, acc, n_over, extent);
    *out = acc;
    return AXE_OK;
}

/* ------------------------------------------------------------- expressions */

static axe_status
put_leaf(axe_ref_printer *p, const axe_node *n, int *out)
{
    const axe_var *v = n->u.var;

    if (n->op == AXE_OP_var)
        *out = result(p, n->type,
                      axe_textf(p->cx, "%c%d",
                                v->kind == AXE_VAR_SIZE ? 'z' : 'x', v->id));
    else if (n->op == AXE_OP_iconst && !real(n->type))
        *out = result(p, n->type, whole_text(p->cx, n->u.i));
    else
        *out = result(p, n->type,
                      axe_textf(p->cx, "(R){%s, 0}",
                                n->op == AXE_OP_iconst
                                    ? whole_text(p->cx, n->u.i)
                                    : number_text(p->cx, n->u.f)));
    return AXE_OK;
}

/* An element of bf16, widened or not? */
static bool
is_bf16(const axe_node *n)
{
    return n->type == AXE_TYPE_bf16 ||
           (n->op == AXE_OP_cast && n->arg[0]->type == AXE_TYPE_bf16);
}

static axe_status
put_op(axe_ref_printer *p, const axe_node *n, int *out)
{
    bool        on_real = real(n->arg[0]->type);
    const char *text = on_real ? row[n->op].real : row[n->op].whole;
    int         arg[3] = {0};

    assert(n->n_arg >= 1 && n->n_arg <= AXE_LEN(arg));
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(put_node(p, n->arg[i], &arg[i]));
    if (n->op == AXE_OP_select)
        text = "%0 ? %1 : %2";
    if (n->op == AXE_OP_mul && is_bf16(n->arg[0]) && is_bf16(n->arg[1]))
        text = "mul_bf16(%0, %1, %u)";
    if (n->op == AXE_OP_cast) {
        *out = put_cast(p, n, arg[0]);
        return AXE_OK;
    }
    if (!text || !*text)
        return axe_fail(
            p->cx, n->at, AXE_EUNSUPPORTED, "the reference has no '%s' on %s",
            axe_op_table[n->op].name, axe_type_table[n->arg[0]->type].name);
    text = fill(p, text, n, arg);
    *out = result(p, n->type,
                  real(n->type) || n->op == AXE_OP_select
                      ? text
                      : wrap_text(p->cx, n->type, text));
    return AXE_OK;
}

static axe_status
put_node(axe_ref_printer *p, const axe_node *n, int *out)
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

/* -------------------------------------------------------------- statements */

/* v<id>[at] = value, rounded to the tensor's type. */
static void
put_store(axe_ref_printer *p, const axe_tensor *t, int at, int value)
{
    const char *type = axe_type_table[t->type].name;

    if (real(t->type))
        PUT_LINE(p,
                 "{ R w = to_%s(r%d); v%d[r%d] = w.v; e%d[r%d] = w.e + lost; }",
                 type, value, t->id, at, t->id, at);
    else
        PUT_LINE(p, "v%d[r%d] = r%d; e%d[r%d] = doubt + lost%s;", t->id, at,
                 value, t->id, at, t->type == AXE_TYPE_bool ? " + maybe" : "");
}

/* The new value of the element that dst names, for fixed free indices. */
static axe_status
put_element(axe_ref_printer *p, const axe_stmt *s, const int *extent, int at,
            int *out)
{
    axe_type t = s->dst->u.tensor->type;
    int      id = s->dst->u.tensor->id, n_folded = s->n_dim - s->n_free, x;

    if (s->fold == AXE_FOLD_NONE)
        return put_node(p, s->value, out);
    if (!real(t))
        PUT_LINE(p, "recall(e%d[r%d]);", id, at);
    *out = result(p, t,
                  axe_textf(p->cx,
                            real(t) ? "(R){v%d[r%d], e%d[r%d]}" : "v%d[r%d]",
                            id, at, id, at));
    begin_fold(p, t, *out);
    for (int i = s->n_free; i < s->n_dim; i++)
        open_loop(p, s->dim[i].var, extent[i]);
    AXE_TRY(put_node(p, s->value, &x));
    put_fold(p, s->fold, t, *out, x);
    close_loops(p, n_folded);
    end_fold(p, s->fold, t, *out, n_folded, extent + s->n_free);
    return AXE_OK;
}

typedef struct search {
    const axe_tensor *tensor;
    bool              found;
} search;

static void
visit(void *user, const axe_node *n)
{
    search *f = user;

    f->found = f->found || (n->op == AXE_OP_load && n->u.tensor == f->tensor);
}

/* Does the value read the tensor that is written? */
static bool
reads_itself(const axe_stmt *s)
{
    search f = {s->dst->u.tensor, false};

    axe_node_walk(s->value, visit, &f);
    return f.found;
}

/* One pass over the free indices.  Through memory n<n> if n >= 0: first the
 * values go into it, then (copy) from it to the destination. */
static axe_status
put_pass(axe_ref_printer *p, const axe_stmt *s, const int *extent, int n,
         bool copy)
{
    int at, in, value;

    if (n >= 0)
        PUT_LINE(p, "k%d = 0;", n);
    for (int i = 0; i < s->n_free; i++)
        open_loop(p, s->dim[i].var, extent[i]);
    AXE_TRY(put_place(p, s->dst, &at, &in));
    PUT_LINE(p, "if (r%d) {", in);
    p->depth++;
    if (n < 0)
        PUT_LINE(p, "doubt = maybe = 0;");
    if (copy)
        value = result(p, s->dst->type, axe_textf(p->cx, "n%d[k%d++]", n, n));
    else
        AXE_TRY(put_element(p, s, extent, at, &value));
    if (s->fold != AXE_FOLD_NONE || !as_stored(s->value))
        PUT_LINE(p, "doubt = widen(doubt);");
    if (n >= 0 && !copy)
        PUT_LINE(p, "n%d[k%d++] = r%d;", n, n, value);
    else
        put_store(p, s->dst->u.tensor, at, value);
    close_loops(p, s->n_free + 1);
    return AXE_OK;
}

/* All values are computed before any is stored, where that matters. */
static axe_status
put_index(axe_ref_printer *p, const axe_stmt *s)
{
    int        *extent = axe_new_array(p->cx, int, s->n_dim), n = -1;
    const char *type = c_type(s->dst->u.tensor->type);

    for (int i = 0; i < s->n_dim; i++)
        AXE_TRY(put_node(p, s->dim[i].extent, &extent[i]));
    if (!reads_itself(s))
        return put_pass(p, s, extent, -1, false);
    n = p->n_result++;
    PUT_LINE(p, "u64 m%d = sizeof(%s);", n, type);
    for (int i = 0; i < s->n_free; i++)
        PUT_LINE(p, "m%d *= (u64)r%d;", n, extent[i]);
    PUT_LINE(p, "%s *n%d = malloc(m%d + 1);", type, n, n);
    PUT_LINE(p, "if (!n%d) return 1;", n);
    PUT_LINE(p, "i64 k%d;", n);
    PUT_LINE(p, "doubt = maybe = 0;");
    AXE_TRY(put_pass(p, s, extent, n, false));
    AXE_TRY(put_pass(p, s, extent, n, true));
    PUT_LINE(p, "free(n%d);", n);
    return AXE_OK;
}

/* A tile begins undefined: what reads it before it was written shows. */
void
axe_ref_put_poison(axe_ref_printer *p, const axe_tensor *t)
{
    PUT_LINE(p, "for (i64 i = 0; i < c%d; i++)", t->id);
    if (real(t->type))
        PUT_LINE(p, "  v%d[i] = 0 / 0.0, e%d[i] = 0;", t->id, t->id);
    else
        PUT_LINE(p, "  v%d[i] = (i64)0xaaaaaaaaaaaaaaaaull, e%d[i] = 0;", t->id,
                 t->id);
}

static axe_status
put_loops(axe_ref_printer *p, const axe_stmt *s)
{
    bool sides = s->kind == AXE_STMT_SCOPE && p->n_roles > 0;
    int  extent;

    if (sides)
        axe_ref_rings_begin(p);
    for (int i = 0; i < s->n_var; i++) {
        AXE_TRY(put_node(p, s->var[i]->extent, &extent));
        open_loop(p, s->var[i], extent);
    }
    if (s->kind == AXE_STMT_SCOPE && s->scope <= AXE_SCOPE_CTA)
        PUT_LINE(p, "lost = 0;");
    if (sides)
        axe_ref_rings_again(p);
    AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
    if (sides)
        axe_ref_rings_note(p);
    close_loops(p, s->n_var);
    if (sides)
        axe_ref_rings_end(p);
    return AXE_OK;
}

/* One after the other, each from where all of them begin. */
static axe_status
put_roles(axe_ref_printer *p, const axe_stmt *s)
{
    p->n_roles++;
    axe_ref_rings_begin(p);
    for (int i = 0; i < s->n_body; i++) {
        axe_ref_rings_again(p);
        AXE_TRY(axe_ref_put_body(p, 1, &s->body[i]));
        axe_ref_rings_note(p);
    }
    axe_ref_rings_end(p);
    p->n_roles--;
    return AXE_OK;
}

static axe_status
put_if(axe_ref_printer *p, const axe_stmt *s)
{
    int cond;

    PUT_LINE(p, "doubt = maybe = 0;");
    AXE_TRY(put_node(p, s->cond, &cond));
    PUT_LINE(p, "if (doubt > 0) lost = 1 / 0.0;");
    PUT_LINE(p, "if (r%d) {", cond);
    p->depth++;
    AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
    close_loops(p, 1);
    PUT_LINE(p, "else {");
    p->depth++;
    AXE_TRY(axe_ref_put_body(p, s->n_other, s->other));
    close_loops(p, 1);
    return AXE_OK;
}

static axe_status
put_stmt(axe_ref_printer *p, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
    case AXE_STMT_FOR:
        return put_loops(p, s);
    case AXE_STMT_TENSOR:
        axe_ref_put_poison(p, s->tensor);
        return AXE_OK;
    case AXE_STMT_BARRIER:
        return AXE_OK;
    case AXE_STMT_PIPELINE:
        axe_ref_put_ring(p, s->pipeline);
        return AXE_OK;
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        return axe_ref_put_stage(p, s);
    case AXE_STMT_ROLES:
        return put_roles(p, s);
    case AXE_STMT_IF:
        return put_if(p, s);
    case AXE_STMT_LOOP:
        PUT_LINE(p, "for (;;) {");
        p->depth++;
        AXE_TRY(axe_ref_put_body(p, s->n_body, s->body));
        close_loops(p, 1);
        return AXE_OK;
    case AXE_STMT_BREAK:
    case AXE_STMT_CONTINUE:
        PUT_LINE(p, s->kind == AXE_STMT_BREAK ? "break;" : "continue;");
        return AXE_OK;
    case AXE_STMT_INDEX:
        return put_index(p, s);
    default:
        return axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                        "the reference does not know this statement");
    }
}

axe_status
axe_ref_put_body(axe_ref_printer *p, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        PUT_LINE(p, "{");
        p->depth++;
        AXE_TRY(put_stmt(p, body[i]));
        close_loops(p, 1);
    }
    return AXE_OK;
}

/* ------------------------------------------------------------ the function */

/* The extents d<id>_<k> and the count c<id> of a tensor. */
static axe_status
put_extents(axe_ref_printer *p, const axe_tensor *t)
{
    int extent;

    if (!axe_number_known(t->type))
        return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                        "the reference cannot hold %s of %s", t->name,
                        axe_type_table[t->type].name);
    PUT_LINE(p, "i64 c%d = 1;", t->id);
    for (int i = 0; i < t->rank; i++) {
        AXE_TRY(put_node(p, t->shape[i], &extent));
        PUT_LINE(p, "const i64 d%d_%d = r%d;", t->id, i, extent);
        PUT_LINE(p, "c%d *= r%d;", t->id, extent);
    }
    return AXE_OK;
}

static axe_status
put_param(axe_ref_printer *p, int i)
{
    const axe_tensor *t = p->k->param[i];

    AXE_TRY(put_extents(p, t));
    PUT_LINE(p, "%s *v%d = value[%d];", real(t->type) ? "double" : "i64", t->id,
             i);
    PUT_LINE(p, "double *e%d = bound[%d];", t->id, i);
    return AXE_OK;
}

static axe_status
put_tile(axe_ref_printer *p, const axe_tensor *t)
{
    const char *type = real(t->type) ? "double" : "i64";

    AXE_TRY(put_extents(p, t));
    if (t->pipeline) {
        axe_ref_put_stages(p, t);
        return AXE_OK;
    }
    PUT_LINE(p, "%s *v%d = malloc(8 * c%d + 1);", type, t->id, t->id);
    PUT_LINE(p, "double *e%d = malloc(8 * c%d + 1);", t->id, t->id);
    PUT_LINE(p, "if (!v%d || !e%d) return 1;", t->id, t->id);
    return AXE_OK;
}

typedef axe_status each_tile(axe_ref_printer *p, const axe_tensor *t);

static axe_status
drop_tile(axe_ref_printer *p, const axe_tensor *t)
{
    PUT_LINE(p, t->pipeline ? "free(w%d); free(h%d);" : "free(v%d); free(e%d);",
             t->id, t->id);
    return AXE_OK;
}

/* fn for every tile that is declared anywhere in the body. */
static axe_status
walk_tiles(axe_ref_printer *p, int n, axe_stmt *const *body, each_tile *fn)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_TENSOR)
            AXE_TRY(fn(p, s->tensor));
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            AXE_TRY(fn(p, s->pipeline->tensor[k]));
        AXE_TRY(walk_tiles(p, s->n_body, s->body, fn));
        AXE_TRY(walk_tiles(p, s->n_other, s->other, fn));
    }
    return AXE_OK;
}

axe_status
axe_ref_print(axe_ctx *cx, const axe_kernel *k, axe_buf *out)
{
    axe_ref_printer p = {.cx = cx, .k = k, .out = out, .handed = {.cx = cx}};

    axe_puts(out, axe_ref_text);
    axe_puts(out, axe_ref_text_8);
    PUT_LINE(&p, "int axe_reference(void *const *value, double *const *bound,");
    PUT_LINE(&p, "                  const i64 *size)");
    PUT_LINE(&p, "{");
    p.depth++;
    for (int i = 0; i < k->n_size; i++)
        PUT_LINE(&p, "const i64 z%d = size[%d];", k->size[i]->id, i);
    if (k->cores)
        PUT_LINE(&p, "const i64 z%d = size[%d];", k->cores->id, k->n_size);
    for (int i = 0; i < k->n_param; i++)
        AXE_TRY(put_param(&p, i));
    axe_ref_find_handed(&p, k->n_body, k->body);
    AXE_TRY(walk_tiles(&p, k->n_body, k->body, put_tile));
    AXE_TRY(axe_ref_put_body(&p, k->n_body, k->body));
    AXE_TRY(walk_tiles(&p, k->n_body, k->body, drop_tile));
    PUT_LINE(&p, "return 0;");
    close_loops(&p, 1);
    return AXE_OK;
}
