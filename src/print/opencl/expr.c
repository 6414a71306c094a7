/* expr.c - integer expressions and values of elements in OpenCL C.
 *
 * Indices are `long`.  Every operation stands in parentheses of its own. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/opencl/opencl_int.h"

/* Which operands a spelling is for. */
typedef enum kind {
    K_INDEX,
    K_INT, /* elements: they wrap around */
    K_FLOAT,
    K_DOUBLE,
    K_BOOL
} kind;

static const struct row {
    axe_op      op;
    unsigned    kinds; /* bits of kind */
    const char *text;
} rows[] = {
#define ANY ~0u
#define ON(k) (1u << K_##k)
#define ROW(op, kinds, text) {AXE_OP_##op, kinds, text},
#include "print/opencl/ops.def"
};

static const struct {
    axe_type    type;
    const char *text;
} types[] = {
    {AXE_TYPE_f32, "float"},  {AXE_TYPE_f64, "double"}, {AXE_TYPE_i32, "int"},
    {AXE_TYPE_u32, "uint"},   {AXE_TYPE_i64, "long"},   {AXE_TYPE_u64, "ulong"},
    {AXE_TYPE_INDEX, "long"},
};

const char *
axe_cl_type(axe_type t)
{
    for (int i = 0; i < AXE_LEN(types); i++)
        if (types[i].type == t)
            return types[i].text;
    return NULL;
}

static kind
kind_of(const axe_node *n)
{
    axe_type t =
        n->type == AXE_TYPE_bool && n->n_arg > 0 ? n->arg[0]->type : n->type;

    return t == AXE_TYPE_f64     ? K_DOUBLE
           : t == AXE_TYPE_f32   ? K_FLOAT
           : t == AXE_TYPE_bool  ? K_BOOL
           : t == AXE_TYPE_INDEX ? K_INDEX
                                 : K_INT;
}

/* --------------------------------------------------------------- names */

/* A dot becomes two underscores. */
static const char *
spell(axe_ctx *cx, const char *prefix, const char *name)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "%s_", prefix);
    for (const char *c = name; *c; c++)
        axe_puts(&b, *c == '.' ? "__" : (char[]){*c, '\0'});
    return b.text;
}

const char *
axe_cl_declare(cl_printer *p, const char *prefix, const axe_var *v)
{
    const char *text = spell(p->cx, prefix, v->name);

    if (v->kind != AXE_VAR_SIZE)
        text = axe_textf(p->cx, "%s_%d", text, p->n_declared++);
    if (p->n_name == p->cap_name) {
        cl_name *more;
        p->cap_name = p->cap_name ? 2 * p->cap_name : 32;
        more = axe_new_array(p->cx, cl_name, p->cap_name);
        if (p->n_name > 0)
            memcpy(more, p->name, (size_t)p->n_name * sizeof *more);
        p->name = more;
    }
    p->name[p->n_name++] = (cl_name){v, text};
    return text;
}

const char *
axe_cl_name(const cl_printer *p, const axe_var *v)
{
    for (int i = 0; i < AXE_N_ID; i++)
        if (p->g->id[i] == v)
            return axe_id_name((axe_id)i);
    for (int i = p->n_name - 1; i >= 0; i--)
        if (p->name[i].var == v)
            return p->name[i].text;
    return NULL;
}

const char *
axe_cl_tensor(const cl_printer *p, const axe_tensor *t)
{
    for (int i = 0; i < p->g->n_array; i++)
        if (p->g->array[i] == t)
            return spell(p->cx, axe_textf(p->cx, "r%d", i), t->name);
    for (int i = 0; i < p->g->n_buffer; i++)
        if (p->g->buffer[i].tensor == t)
            return spell(p->cx, axe_textf(p->cx, "b%d", i), t->name);
    return spell(p->cx, "t", t->name);
}

/* --------------------------------------------------------- expressions */

static void
put_float(axe_buf *b, double f, axe_type t)
{
    bool        narrow = t == AXE_TYPE_f32;
    const char *s = axe_textf(b->cx, narrow ? "%.9g" : "%.17g", f);

    if (isnan(f))
        axe_puts(b, narrow ? "as_float(0x7fc00000)"
                           : "as_double(0x7ff8000000000000L)");
    else if (isinf(f))
        axe_putf(b,
                 narrow ? "(%sas_float(0x7f800000))"
                        : "(%sas_double(0x7ff0000000000000L))",
                 f < 0 ? "-" : "");
    else
        axe_putf(b, "(%s%s%s)", s, strpbrk(s, ".e") ? "" : ".0",
                 narrow ? "f" : "");
}

static void
put_constant(axe_buf *b, const axe_node *n)
{
    const char *end = n->type == AXE_TYPE_i32   ? ""
                      : n->type == AXE_TYPE_u32 ? "U"
                      : n->type == AXE_TYPE_u64 ? "UL"
                                                : "L";

    if (n->op == AXE_OP_fconst)
        put_float(b, n->u.f, n->type);
    else if (axe_type_is_float(n->type))
        put_float(b, (double)n->u.i, n->type);
    else if (n->type == AXE_TYPE_bool)
        axe_puts(b, n->u.i ? "1" : "0");
    else if (n->type == AXE_TYPE_u64)
        axe_putf(b, "%" PRIu64 "UL", (uint64_t)n->u.i);
    else if (n->u.i == INT64_MIN || n->u.i == INT32_MIN)
        axe_putf(b, "(%" PRId64 "%s - 1)", n->u.i + 1, end);
    else
        axe_putf(b, n->u.i < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", n->u.i,
                 end);
}

static axe_status
put_row(cl_printer *p, axe_buf *b, const axe_node *n, const struct row *r)
{
    const char *type = axe_cl_type(n->type);

    axe_putc(b, '(');
    for (const char *s = r->text; *s; s++)
        if (*s == '%')
            AXE_TRY(axe_cl_expr(p, b, n->arg[*++s - '0']));
        else if (*s == '$' && *++s == 'T')
            axe_puts(b, type ? type : "int");
        else if (*s == 'U' && s[-1] == '$')
            axe_puts(b, axe_type_table[n->type].bits > 32 ? "ulong" : "uint");
        else
            axe_putc(b, *s);
    axe_putc(b, ')');
    return AXE_OK;
}

static axe_status
no_spelling(const cl_printer *p, const axe_node *n, const char *what)
{
    return axe_fail(p->cx, n->at, AXE_EUNSUPPORTED,
                    "OpenCL C has no spelling for %s yet", what);
}

static axe_status
put_cast(cl_printer *p, axe_buf *b, const axe_node *n)
{
    axe_type    from = n->arg[0]->type;
    const char *to = axe_cl_type(n->type);

    if (!to || (from != AXE_TYPE_bool && !axe_cl_type(from)))
        return no_spelling(p, n,
                           axe_textf(p->cx, "a cast from %s to %s",
                                     axe_type_table[from].name,
                                     axe_type_table[n->type].name));
    if (axe_type_is_float(from) && !axe_type_is_float(n->type))
        axe_putf(b, "convert_%s_sat_rte(", to);
    else
        axe_putf(b, "((%s)", to);
    AXE_TRY(axe_cl_expr(p, b, n->arg[0]));
    axe_putc(b, ')');
    return AXE_OK;
}

static axe_status
put_load(cl_printer *p, axe_buf *b, const axe_node *n)
{
    const axe_tensor *t = n->u.tensor;

    if (t->space != AXE_SPACE_REG || n->n_arg > 1)
        return no_spelling(p, n, "a value that is in no register");
    axe_putf(b, "%s[", axe_cl_tensor(p, t));
    if (n->n_arg > 0)
        AXE_TRY(axe_cl_expr(p, b, n->arg[0]));
    else
        axe_putc(b, '0');
    axe_putc(b, ']');
    return AXE_OK;
}

axe_status
axe_cl_expr(cl_printer *p, axe_buf *b, const axe_node *n)
{
    const char *name;

    switch (n->op) {
    case AXE_OP_iconst:
    case AXE_OP_fconst:
        put_constant(b, n);
        return AXE_OK;
    case AXE_OP_var:
        name = axe_cl_name(p, n->u.var);
        if (!name)
            return no_spelling(p, n, n->u.var->name);
        axe_puts(b, name);
        return AXE_OK;
    case AXE_OP_load:
        return put_load(p, b, n);
    case AXE_OP_cast:
        return put_cast(p, b, n);
    default:
        break;
    }
    if (n->type != AXE_TYPE_bool && !axe_cl_type(n->type))
        return no_spelling(p, n, axe_type_table[n->type].name);
    for (int i = 0; i < AXE_LEN(rows); i++)
        if (rows[i].op == n->op && rows[i].kinds & 1u << kind_of(n))
            return put_row(p, b, n, &rows[i]);
    return no_spelling(p, n, axe_op_table[n->op].name);
}
