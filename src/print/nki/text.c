/* text.c - numbers, slices and arguments, which both dialects write alike. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/nki/nki_int.h"

static const struct {
    axe_type    type;
    const char *name;
} types[] = {
    {AXE_TYPE_f32, "float32"},       {AXE_TYPE_bf16, "bfloat16"},
    {AXE_TYPE_f16, "float16"},       {AXE_TYPE_i32, "int32"},
    {AXE_TYPE_u32, "uint32"},        {AXE_TYPE_i16, "int16"},
    {AXE_TYPE_u16, "uint16"},        {AXE_TYPE_i8, "int8"},
    {AXE_TYPE_u8, "uint8"},          {AXE_TYPE_f8e4m3, "float8_e4m3fn"},
    {AXE_TYPE_f8e5m2, "float8_e5m2"}};

const char *
nki_type_name(axe_type t)
{
    for (int i = 0; i < AXE_LEN(types); i++)
        if (types[i].type == t)
            return types[i].name;
    return axe_type_table[t].name;
}

bool
nki_is_number(const axe_trace_expr *e, int64_t n)
{
    return e->op == '#' && e->value == n;
}

static int
level_of(const axe_trace_expr *e)
{
    return e->op == '+' || e->op == '-' ? 1 : strchr("#$<>", e->op) ? 3 : 2;
}

void
nki_put_expr(nki_printer *p, const axe_trace_expr *e, int least)
{
    bool parens = level_of(e) < least;

    axe_puts(p->out, parens ? "(" : "");
    if (e->op == '#')
        axe_putf(p->out, "%" PRId64, e->value);
    else if (e->op == '$')
        axe_puts(p->out, p->t->var[e->value]);
    else if (e->op == '<' || e->op == '>') {
        axe_puts(p->out, e->op == '<' ? "min(" : "max(");
        nki_put_expr(p, e->a, 1);
        axe_puts(p->out, ", ");
        nki_put_expr(p, e->b, 1);
        axe_putc(p->out, ')');
    } else if (e->op == '-' && nki_is_number(e->a, 0)) {
        axe_putc(p->out, '-');
        nki_put_expr(p, e->b, 3);
    } else {
        nki_put_expr(p, e->a, level_of(e));
        axe_putf(p->out, " %s ", e->op == '/' ? "//" : (char[]){e->op, 0});
        nki_put_expr(p, e->b, level_of(e) + 1);
    }
    axe_puts(p->out, parens ? ")" : "");
}

/* e > 0, or (below) e < 1: of the smaller of one and x that is x's, and so on.
 */
void
nki_put_condition(nki_printer *p, const axe_trace_expr *e, bool below)
{
    for (;;) {
        bool clamp = (e->op == '<' && e->a->op == '#' && e->a->value > 0) ||
                     (e->op == '>' && nki_is_number(e->a, 0));
        if (clamp)
            e = e->b;
        else if (e->op == '-' && nki_is_number(e->a, 1)) {
            e = e->b;
            below = !below;
        } else
            break;
    }
    nki_put_expr(p, e, 1);
    axe_puts(p->out, below ? " < 1" : " > 0");
}

void
nki_put_slice(nki_printer *p, const axe_trace_expr *from,
              const axe_trace_expr *n)
{
    if (nki_is_number(from, 0)) {
        axe_puts(p->out, "0:");
        nki_put_expr(p, n, 1);
        return;
    }
    nki_put_expr(p, from, 1);
    axe_putc(p->out, ':');
    nki_put_expr(p, from, 1);
    axe_puts(p->out, " + ");
    nki_put_expr(p, n, 1);
}

static void
put_number(nki_printer *p, double x)
{
    if (isinf(x))
        axe_putf(p->out, "float(\"%sinf\")", x < 0 ? "-" : "");
    else if (fabs(x) < 1e15 && x == (double)(int64_t)x)
        axe_putf(p->out, "%.1f", x);
    else
        axe_putf(p->out, "%.17g", x);
}

void
nki_put_value(nki_printer *p, const axe_trace_value *v)
{
    switch (v->kind) {
    case AXE_TRACE_ABSENT:
        break;
    case AXE_TRACE_TILE:
        p->d->access(p, &v->access);
        break;
    case AXE_TRACE_NUMBER:
        put_number(p, v->number);
        break;
    case AXE_TRACE_COUNT:
        nki_put_expr(p, v->count, 1);
        break;
    case AXE_TRACE_FUNCTION:
        axe_putf(p->out, "nl.%s", axe_trn_functions[v->function].name);
        break;
    case AXE_TRACE_INDEX:
        axe_putc(p->out, '[');
        for (int i = 0; i < v->access.n_dim; i++) {
            axe_puts(p->out, i > 0 ? ", [" : "[");
            nki_put_expr(p, v->access.dim[i].stride, 1);
            axe_puts(p->out, ", ");
            nki_put_expr(p, v->access.dim[i].count, 1);
            axe_putc(p->out, ']');
        }
        axe_putc(p->out, ']');
        break;
    }
}

void
nki_put_fill(nki_printer *p, const axe_trace_step *s)
{
    const axe_trace_tensor *x = &p->t->tensor[s->value[0].access.tensor];

    if (axe_type_is_float(x->type))
        put_number(p, s->value[1].number);
    else
        axe_putf(p->out, "%.0f", s->value[1].number);
}

void
nki_put_shape(nki_printer *p, const axe_trace_tensor *x)
{
    axe_putc(p->out, '(');
    for (int d = 0; d < x->rank; d++) {
        axe_puts(p->out, d > 0 ? ", " : "");
        nki_put_expr(p, x->shape[d], 1);
    }
    axe_puts(p->out, x->rank == 1 ? ",)" : ")");
}

const axe_trace_value *
nki_said(const axe_trace_step *s)
{
    int                    n;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    for (int i = 0; s->op == AXE_TRN_OP_nc_matmul && i < n; i++)
        if (arg[i].kind == AXE_TRN_OPT_FLAG &&
            s->value[i].kind != AXE_TRACE_ABSENT)
            return &s->value[i];
    return NULL;
}

/* a * b * ..  of dimensions first .. end - 1, the last first; 1 of none. */
static void
put_product(nki_printer *p, const axe_trace_tensor *x, int first, int end)
{
    if (first == end)
        axe_putc(p->out, '1');
    for (int d = end - 1; d >= first; d--) {
        axe_puts(p->out, d < end - 1 ? " * " : "");
        nki_put_expr(p, x->shape[d], end - first > 1 ? 2 : 1);
    }
}

/* The first dimension of which, and of those behind it, a row has the elements;
 * -1: that is not seen. */
static int
row_from(const nki_printer *p, const axe_trace_tensor *x,
         const axe_trace_expr *length)
{
    axe_buf     want = {.cx = p->out->cx};
    nki_printer to = *p;

    to.out = &want;
    nki_put_expr(&to, length, 1);
    for (int d = x->rank; d > 0; d--) {
        axe_buf has = {.cx = p->out->cx};
        to.out = &has;
        put_product(&to, x, d, x->rank);
        if (strcmp(has.text, want.text) == 0)
            return d;
    }
    return -1;
}

void
nki_put_rows(nki_printer *p, const axe_trace_access *a)
{
    const axe_trace_tensor *x = &p->t->tensor[a->tensor];
    const axe_trace_expr   *length = a->dim[0].stride;
    int                     from = row_from(p, x, length);

    axe_puts(p->out, x->name);
    if (x->rank == 2 && from == 1)
        return;
    axe_puts(p->out, ".reshape((");
    put_product(p, x, 0, from < 0 ? x->rank : from);
    if (from < 0) {
        axe_puts(p->out, " // ");
        nki_put_expr(p, length, 3);
    }
    axe_puts(p->out, ", ");
    nki_put_expr(p, length, 1);
    axe_puts(p->out, "))");
}

/* A transfer's `i`th argument. */
static void
put_copied(nki_printer *p, const axe_trace_step *s, int i)
{
    if (i == 1)
        p->d->rows(p, &s->value[1].access, &axe_trace_indices(s)->access);
    else
        nki_put_value(p, &s->value[i]);
}

/* Is the argument a part of another one, or none by its value? */
static bool
is_left_out(const axe_trace_step *s, int i)
{
    bool nil = s->value[i].kind == AXE_TRACE_COUNT &&
               nki_is_number(s->value[i].count, 0);

    return s->value[i].kind == AXE_TRACE_ABSENT ||
           &s->value[i] == nki_said(s) ||
           &s->value[i] == axe_trace_indices(s) ||
           (s->op == AXE_TRN_OP_dma_copy && nil);
}

void
nki_put_args(nki_printer *p, const axe_trace_step *s, int first)
{
    int                    n, put = 0;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    for (int i = first; i < n; i++) {
        if (is_left_out(s, i))
            continue;
        axe_puts(p->out, put++ > 0 ? ", " : "");
        if (s->op == AXE_TRN_OP_dma_copy && i > 2) {
            axe_puts(p->out, "oob_mode=nisa.oob_mode.skip");
            continue;
        }
        axe_putf(p->out, "%s=", arg[i].name);
        if (axe_trace_indices(s))
            put_copied(p, s, i);
        else if (arg[i].kind == AXE_TRN_OPT_FLAG)
            axe_puts(p->out,
                     nki_is_number(s->value[i].count, 0) ? "False" : "True");
        else if (s->op == AXE_TRN_OP_memset && i == 1)
            nki_put_fill(p, s);
        else
            nki_put_value(p, &s->value[i]);
    }
}

bool
nki_is_slice(const nki_printer *p, const axe_trace_access *a)
{
    const axe_trace_tensor *x = &p->t->tensor[a->tensor];

    return x->memory != AXE_TRN_HBM && x->rank == 2 && a->n_dim == 2 &&
           nki_is_number(a->dim[1].stride, 1);
}

void
nki_put_slices(nki_printer *p, const axe_trace_access *a)
{
    axe_putc(p->out, '[');
    nki_put_slice(p, a->part, a->dim[0].count);
    axe_puts(p->out, ", ");
    nki_put_slice(p, a->offset, a->dim[1].count);
    axe_putc(p->out, ']');
}

bool
nki_has_choice(const axe_trace_step *s)
{
    unsigned engines = axe_trn_ops[s->op].engines;

    return (engines & (engines - 1)) != 0;
}

bool
nki_is_if(const nki_printer *p, int var)
{
    return strncmp(p->t->var[var], "if_", 3) == 0;
}

static bool
names(const axe_trace_expr *e, int var)
{
    return e && (e->op == '$' ? e->value == var
                              : names(e->a, var) || names(e->b, var));
}

nki_adds
nki_accumulates(nki_printer *p, const axe_trace_step *s, axe_buf *when)
{
    const axe_trace_access *a = &s->value[0].access;
    const axe_trace_value  *said = nki_said(s);
    int                     n = 0;

    if (said && said->count->op == '#')
        return said->count->value == 0 ? NKI_NEVER : NKI_ALWAYS;
    if (said) {
        nki_printer to = *p;
        to.out = when;
        nki_put_expr(&to, said->count, 1);
        axe_puts(when, " > 0");
        return NKI_WHEN;
    }
    if (p->begun[a->tensor])
        return NKI_ALWAYS;
    p->begun[a->tensor] = true;
    for (int d = p->level[a->tensor]; d < p->depth; d++)
        if (!nki_is_if(p, p->loop[d]) && !names(a->offset, p->loop[d]) &&
            !names(a->part, p->loop[d]))
            axe_putf(when, "%s%s > 0", n++ > 0 ? " or " : "",
                     p->t->var[p->loop[d]]);
    return n == 0 ? NKI_NEVER : NKI_WHEN;
}
