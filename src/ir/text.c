/* text.c - the IR as text.
 *
 *     kernel gemm
 *     set T = f32, BM = 192
 *     size M, K
 *     index m, k
 *     in f32 A[M, K] : (K, 1)
 *     {
 *         cta (i : cdiv(M, 192)) {
 *             shared f32 a[192, 256]
 *             a[m, k] = A[i*192 + m, k] over m:192, k:256
 *         }
 *     }
 *
 * Everything is resolved: strides, extents, domains, and the type of each
 * constant that is not an index (0.5_f32, 3_i32, f32.inf).  For messages an
 * expression is written as the language spells it, without those types. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mesh.h"
#include "ir/number.h"
#include "ir/text_int.h"
#include "layout/layout_int.h"

const axe_sign axe_sign_table[AXE_N_SIGN] = {
    {AXE_OP_or, "||", PREC_OR},     {AXE_OP_and, "&&", PREC_AND},
    {AXE_OP_bor, "|", PREC_BOR},    {AXE_OP_bxor, "^", PREC_BXOR},
    {AXE_OP_band, "&", PREC_BAND},  {AXE_OP_shl, "<<", PREC_SHIFT},
    {AXE_OP_shr, ">>", PREC_SHIFT}, {AXE_OP_bnot, "~", PREC_UNARY},
    {AXE_OP_eq, "==", PREC_CMP},    {AXE_OP_ne, "!=", PREC_CMP},
    {AXE_OP_le, "<=", PREC_CMP},    {AXE_OP_lt, "<", PREC_CMP},
    {AXE_OP_add, "+", PREC_ADD},    {AXE_OP_sub, "-", PREC_ADD},
    {AXE_OP_mul, "*", PREC_MUL},    {AXE_OP_div, "/", PREC_MUL},
    {AXE_OP_mod, "%", PREC_MUL},    {AXE_OP_neg, "-", PREC_UNARY},
    {AXE_OP_not, "!", PREC_UNARY},
};

typedef struct printer {
    axe_buf          *out;
    bool              typed; /* constants carry their type */
    axe_names        *names; /* of a whole kernel, or NULL */
    const axe_kernel *k;     /* likewise */
} printer;

static void put_expr(printer *p, const axe_node *n, int prec);

static const axe_sign *
find_sign(axe_op op)
{
    for (int i = 0; i < AXE_N_SIGN; i++)
        if (axe_sign_table[i].op == op)
            return &axe_sign_table[i];
    return NULL;
}

/* The shortest spelling that reads back as v, which is finite. */
static void
put_float(axe_buf *out, double v)
{
    const char *text = axe_number_digits(out->cx, AXE_TYPE_f64, v);

    axe_puts(out, text);
    if (!strpbrk(text, ".e"))
        axe_puts(out, ".0");
}

const char *
axe_binding_text(axe_ctx *cx, const axe_binding *b)
{
    axe_buf out = {.cx = cx};

    if (b->is_type)
        return axe_type_table[b->value].name;
    if (b->is_real)
        put_float(&out, b->real);
    else
        axe_putf(&out, "%" PRId64, b->value);
    return out.text;
}

static void
put_const(printer *p, const axe_node *n)
{
    const char *type = axe_type_table[n->type].name;

    if (n->type == AXE_TYPE_bool) {
        axe_puts(p->out, n->u.i ? "true" : "false");
        return;
    }
    if (n->op == AXE_OP_iconst && n->type == AXE_TYPE_u64)
        axe_putf(p->out, "%" PRIu64, (uint64_t)n->u.i);
    else if (n->op == AXE_OP_iconst)
        axe_putf(p->out, "%" PRId64, n->u.i);
    else if (isfinite(n->u.f))
        put_float(p->out, n->u.f);
    else {
        axe_puts(p->out, n->u.f < 0 ? "-" : "");
        axe_putf(p->out, "%s%s%s", p->typed ? type : "", p->typed ? "." : "",
                 isnan(n->u.f) ? "nan" : "inf");
        return;
    }
    if (p->typed && n->type != AXE_TYPE_INDEX)
        axe_putf(p->out, "_%s", type);
}

static void
put_list(printer *p, int n, const axe_node *const *arg)
{
    for (int i = 0; i < n; i++) {
        axe_puts(p->out, i ? ", " : "");
        put_expr(p, arg[i], PREC_SELECT);
    }
}

static const char *
var_name(const printer *p, const axe_var *v)
{
    return p->names && v->kind == AXE_VAR_INDEX ? p->names->var[v->id]
                                                : v->name;
}

static const char *
tensor_name(const printer *p, const axe_tensor *t)
{
    return p->names ? p->names->tensor[t->id] : t->name;
}

static void
put_load(printer *p, const axe_node *n)
{
    axe_puts(p->out, tensor_name(p, n->u.tensor));
    if (n->n_arg == 0)
        return;
    axe_putc(p->out, '[');
    put_list(p, n->n_arg, n->arg);
    axe_putc(p->out, ']');
}

/* How far an index runs, and where it stops before. */
static void
put_extent(printer *p, const axe_var *v, const axe_node *extent)
{
    axe_putc(p->out, ':');
    put_expr(p, extent, PREC_ADD);
    if (v->limit) {
        axe_puts(p->out, " to ");
        put_expr(p, v->limit, PREC_ADD);
    }
}

static void
put_reduce(printer *p, const axe_node *n)
{
    axe_putf(p->out, "%s[", axe_fold_name(n->u.reduce.fold));
    for (int i = 0; i < n->u.reduce.n_over; i++) {
        axe_putf(p->out, "%s%s", i ? ", " : "",
                 var_name(p, n->u.reduce.over[i]));
        if (p->typed)
            put_extent(p, n->u.reduce.over[i], n->u.reduce.extent[i]);
    }
    axe_puts(p->out, "](");
    put_expr(p, n->arg[0], PREC_SELECT);
    axe_putc(p->out, ')');
}

static void
put_call(printer *p, const axe_node *n)
{
    if (n->op != AXE_OP_cast)
        axe_putf(p->out, "%s(", axe_op_table[n->op].name);
    if (n->op == AXE_OP_bitcast)
        axe_putf(p->out, "%s)(", axe_type_table[n->type].name);
    else if (n->op == AXE_OP_cast)
        axe_putf(p->out, "%s(", axe_type_table[n->type].name);
    put_list(p, n->n_arg, n->arg);
    axe_putc(p->out, ')');
}

static bool
is_const(const axe_node *n)
{
    return n->op == AXE_OP_iconst || n->op == AXE_OP_fconst;
}

/* `0 < x`, which people write as `x > 0`. */
static bool
flipped(const axe_node *n)
{
    return (n->op == AXE_OP_lt || n->op == AXE_OP_le) && is_const(n->arg[0]) &&
           !is_const(n->arg[1]);
}

/* Products are written close, sums wide; comparisons do not associate. */
static void
put_sign(printer *p, const axe_node *n, const axe_sign *s)
{
    const char *blank = s->prec == PREC_MUL ? "" : " ";

    if (s->prec == PREC_UNARY) {
        axe_puts(p->out, s->text);
        put_expr(p, n->arg[0], PREC_UNARY);
        return;
    }
    if (!p->typed && flipped(n)) {
        put_expr(p, n->arg[1], PREC_CMP + 1);
        axe_puts(p->out, n->op == AXE_OP_lt ? " > " : " >= ");
        put_expr(p, n->arg[0], PREC_CMP + 1);
        return;
    }
    put_expr(p, n->arg[0], s->prec + (s->prec == PREC_CMP));
    axe_putf(p->out, "%s%s%s", blank, s->text, blank);
    put_expr(p, n->arg[1], s->prec + 1);
}

const char *
axe_op_sign(axe_op op)
{
    const axe_sign *s = find_sign(op);

    return s ? s->text : axe_op_table[op].name;
}

static void
put_select(printer *p, const axe_node *n)
{
    put_expr(p, n->arg[0], PREC_OR);
    axe_puts(p->out, " ? ");
    put_expr(p, n->arg[1], PREC_SELECT);
    axe_puts(p->out, " : ");
    put_expr(p, n->arg[2], PREC_SELECT);
}

static int
prec_of(const axe_node *n, const axe_sign *s)
{
    if (s)
        return s->prec;
    return n->op == AXE_OP_select ? PREC_SELECT : PREC_PRIMARY;
}

static void
put_expr(printer *p, const axe_node *n, int prec)
{
    const axe_sign *s = find_sign(n->op);
    bool            parens = prec_of(n, s) < prec;

    axe_puts(p->out, parens ? "(" : "");
    if (is_const(n))
        put_const(p, n);
    else if (n->op == AXE_OP_var)
        axe_puts(p->out, !p->typed && n->u.var->part ? n->u.var->part->text
                                                     : var_name(p, n->u.var));
    else if (n->op == AXE_OP_load)
        put_load(p, n);
    else if (n->op == AXE_OP_reduce)
        put_reduce(p, n);
    else if (n->op == AXE_OP_select)
        put_select(p, n);
    else if (s)
        put_sign(p, n, s);
    else
        put_call(p, n);
    axe_puts(p->out, parens ? ")" : "");
}

const char *
axe_node_text(axe_ctx *cx, const axe_node *n)
{
    axe_buf out = {.cx = cx};
    printer p = {.out = &out};

    put_expr(&p, n, PREC_SELECT);
    return out.text;
}

static void
indent(axe_buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        axe_puts(out, "    ");
}

static void
put_dims(printer *p, const char *before, int n, const axe_dim *dim)
{
    for (int i = 0; i < n; i++) {
        axe_putf(p->out, "%s%s", i ? ", " : before, var_name(p, dim[i].var));
        put_extent(p, dim[i].var, dim[i].extent);
    }
}

static void
put_index(printer *p, const axe_stmt *s)
{
    put_load(p, s->dst);
    axe_putf(p->out, " %s= ", axe_fold_text(s->fold));
    put_expr(p, s->value, PREC_SELECT);
    put_dims(p, " over ", s->n_free, s->dim);
    put_dims(p, " fold ", s->n_dim - s->n_free, s->dim + s->n_free);
    if (s->prefix)
        axe_putf(p->out, " prefix %s", var_name(p, s->prefix));
    if (s->via)
        axe_putf(p->out, " via %s", s->via);
    if (s->atom)
        axe_putf(p->out, " atom %s", s->atom);
    if (s->slow)
        axe_puts(p->out, " slow");
    axe_attrs_print(p->out, s);
}

const char *
axe_stmt_text(axe_ctx *cx, const axe_stmt *s)
{
    axe_buf out = {.cx = cx};
    printer p = {.out = &out, .typed = true};

    put_index(&p, s);
    return out.text;
}

static void
put_stride(axe_buf *out, axe_stride s)
{
    if (s.unit == AXE_UNIT_ONE)
        axe_putf(out, "%" PRId64, s.coef);
    else if (s.coef == 1)
        axe_puts(out, axe_unit_text(out->cx, s.unit));
    else
        axe_putf(out, "%" PRId64 "*%s", s.coef, axe_unit_text(out->cx, s.unit));
}

static void
put_tensor(printer *p, const axe_tensor *t)
{
    const char *where = t->dir != AXE_DIR_LOCAL ? axe_dir_name(t->dir)
                                                : axe_space_name(t->space);

    if (p->names)
        axe_names_declare(p->names, t);
    axe_putf(p->out, "%s %s %s", where, axe_type_table[t->type].name,
             tensor_name(p, t));
    axe_puts(p->out, t->rank > 0 ? "[" : "");
    put_list(p, t->rank, t->shape);
    axe_puts(p->out, t->rank > 0 ? "]" : "");
    if (t->stride) {
        axe_puts(p->out, " : (");
        for (int i = 0; i < t->rank; i++) {
            axe_puts(p->out, i ? ", " : "");
            put_stride(p->out, t->stride[i]);
        }
        axe_puts(p->out, t->packed ? ") packed" : ")");
    }
    if (t->layout)
        axe_putf(p->out, " : %s", axe_layout_text(p->out->cx, t->layout));
    else if (t->n_replica > 0) {
        axe_puts(p->out, " : auto");
        axe_replicas_print(p->out, t->n_replica, t->replica);
    }
    if (t->held)
        axe_puts(p->out, axe_held_text(p->out->cx, p->k, t->held));
    axe_putc(p->out, '\n');
}

static void
put_ranges(printer *p, const axe_stmt *s)
{
    axe_puts(p->out, " (");
    for (int i = 0; i < s->n_var; i++) {
        axe_putf(p->out, "%s%s : ", i ? ", " : "", s->var[i]->name);
        put_expr(p, s->var[i]->extent, PREC_SELECT);
        if (s->first)
            axe_putf(p->out, " from %" PRId64, s->first[i]);
    }
    axe_putc(p->out, ')');
}

/* " cluster 2 persistent": yes and no by the name alone. */
static void
put_keys(axe_buf *out, const axe_scope_keys *s)
{
    for (int k = 0; k < AXE_N_SCOPE_KEY; k++) {
        int value = axe_scope_key_get(s, (axe_scope_key)k);
        if (value != 0)
            axe_putf(out, " %s", axe_scope_key_table[k].name);
        if (value != 0 && axe_scope_key_table[k].most > 1)
            axe_putf(out, " %d", value);
    }
}

static void put_body(printer *p, int n, axe_stmt *const *body, int depth);

static void
put_block(printer *p, const axe_stmt *s, int depth)
{
    axe_puts(p->out, " {\n");
    put_body(p, s->n_body, s->body, depth + 1);
    indent(p->out, depth);
    axe_puts(p->out, "}\n");
}

static void
put_pipeline(printer *p, const axe_pipeline *ring, int depth)
{
    axe_putf(p->out, "pipeline %s[%d] {\n", ring->name, ring->n_stage);
    for (int i = 0; i < ring->n_tensor; i++) {
        indent(p->out, depth + 1);
        put_tensor(p, ring->tensor[i]);
    }
    indent(p->out, depth);
    axe_puts(p->out, "}\n");
}

static void
put_if(printer *p, const axe_stmt *s, int depth)
{
    axe_puts(p->out, "if (");
    put_expr(p, s->cond, PREC_SELECT);
    axe_puts(p->out, ") {\n");
    put_body(p, s->n_body, s->body, depth + 1);
    indent(p->out, depth);
    if (s->n_other > 0) {
        axe_puts(p->out, "} else {\n");
        put_body(p, s->n_other, s->other, depth + 1);
        indent(p->out, depth);
    }
    axe_puts(p->out, "}\n");
}

static void
put_stmt(printer *p, const axe_stmt *s, int depth)
{
    indent(p->out, depth);
    switch (s->kind) {
    case AXE_STMT_SCOPE:
    case AXE_STMT_FOR:
        axe_puts(p->out,
                 s->kind == AXE_STMT_FOR ? "for" : axe_scope_name(s->scope));
        put_ranges(p, s);
        put_keys(p->out, &s->keys);
        if (s->tensor)
            axe_putf(p->out, " counted %s", tensor_name(p, s->tensor));
        put_block(p, s, depth);
        break;
    case AXE_STMT_ROLES:
    case AXE_STMT_TURN:
    case AXE_STMT_DEVICE:
        axe_puts(p->out, s->kind == AXE_STMT_TURN     ? "turn"
                         : s->kind == AXE_STMT_DEVICE ? "device"
                                                      : "roles");
        put_block(p, s, depth);
        break;
    case AXE_STMT_TENSOR:
        put_tensor(p, s->tensor);
        break;
    case AXE_STMT_PIPELINE:
        put_pipeline(p, s->pipeline, depth);
        break;
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        axe_putf(p->out, "%s %s",
                 s->kind == AXE_STMT_PRODUCE ? "produce" : "consume",
                 s->pipeline->name);
        put_block(p, s, depth);
        break;
    case AXE_STMT_IF:
        put_if(p, s, depth);
        break;
    case AXE_STMT_LOOP:
        axe_puts(p->out, "loop");
        put_block(p, s, depth);
        break;
    case AXE_STMT_BREAK:
    case AXE_STMT_CONTINUE:
        axe_puts(p->out, s->kind == AXE_STMT_BREAK ? "break\n" : "continue\n");
        break;
    case AXE_STMT_INDEX:
        put_index(p, s);
        axe_putc(p->out, '\n');
        break;
    case AXE_STMT_BARRIER:
        axe_puts(p->out, "barrier\n");
        break;
    case AXE_N_STMT:
        break;
    }
}

static void
put_body(printer *p, int n, axe_stmt *const *body, int depth)
{
    int mark = p->names->visible.n;

    for (int i = 0; i < n; i++)
        put_stmt(p, body[i], depth);
    p->names->visible.n = mark;
}

static void
put_size(axe_buf *out, const char *before, const axe_var *v)
{
    axe_putf(out, "%s%s", before, v->name);
    if (v->is_fixed)
        axe_putf(out, " = %" PRId64, v->fixed);
}

static void
put_sizes(axe_buf *out, const axe_kernel *k)
{
    const char *before = "size ";

    for (int i = 0; i < k->n_size; i++) {
        if (k->n_axis > 0 && (k->size[i]->part || k->size[i]->of_axis > 0))
            continue;
        put_size(out, before, k->size[i]);
        before = ", ";
    }
    axe_puts(out, before[0] == ',' ? "\n" : "");
}

/* The axes, whose coordinates are sizes gpu.at, and parts of extents. */
static void
put_mesh(axe_buf *out, const axe_kernel *k)
{
    const char *before = "part ";

    for (int i = 0; i < k->n_axis; i++)
        axe_putf(out, "%s%s = %s", i ? ", " : "mesh ", k->axis[i].name,
                 axe_node_text(out->cx, k->axis[i].size));
    axe_puts(out, k->n_axis ? "\n" : "");
    for (int i = 0; i < k->n_size; i++) {
        if (!k->size[i]->part || k->n_axis == 0)
            continue;
        axe_putf(out, "%s%s = %s", before, k->size[i]->name,
                 k->size[i]->part->text);
        before = ", ";
    }
    axe_puts(out, before[0] == ',' ? "\n" : "");
}

static void
put_header(printer *p, const axe_kernel *k)
{
    axe_buf *out = p->out;

    axe_putf(out, "kernel %s\n", k->name);
    if (k->target)
        axe_putf(out, "target %s\n", k->target);
    for (int i = 0; i < k->n_binding; i++) {
        const axe_binding *b = &k->binding[i];
        axe_putf(out, "%s%s = ", i ? ", " : "set ", b->name);
        axe_puts(out, axe_binding_text(out->cx, b));
    }
    axe_puts(out, k->n_binding ? "\n" : "");
    put_sizes(out, k);
    put_mesh(out, k);
    for (int i = 0; i < p->names->n_index; i++)
        axe_putf(out, "%s%s", i ? ", " : "index ",
                 var_name(p, p->names->index[i]));
    axe_puts(out, p->names->n_index ? "\n" : "");
    for (int i = 0; i < k->n_param; i++)
        put_tensor(p, k->param[i]);
}

void
axe_kernel_print(axe_ctx *cx, axe_buf *out, const axe_kernel *k)
{
    axe_names names = axe_names_of(cx, k);
    printer   p = {out, true, &names, k};

    put_header(&p, k);
    axe_puts(out, "{\n");
    put_body(&p, k->n_body, k->body, 1);
    axe_puts(out, "}\n");
}
