/* nki.c - a trace as Python.
 *
 * Loops are `range`, numbers are Python's.  Whether a product adds to its sum
 * is said: it does where a loop that the sum was declared outside of, and that
 * does not choose which sum it is, is not at its first turn; and where a
 * product further up in the text began it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "print/nki/nki.h"

typedef struct printer {
    axe_ctx          *cx;
    axe_buf          *out;
    const axe_trace  *t;
    const axe_kernel *k;
    int               depth;
    int               loop[64]; /* variables of open loops */
    int              *level;    /* of tensors: loops open at its declaration */
    bool             *begun;    /* of tensors: the text has a product for it */
} printer;

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

static const char *
type_name(axe_type t)
{
    for (int i = 0; i < AXE_LEN(types); i++)
        if (types[i].type == t)
            return types[i].name;
    return axe_type_table[t].name;
}

static bool
is_number(const axe_trace_expr *e, int64_t n)
{
    return e->op == '#' && e->value == n;
}

static int
level_of(const axe_trace_expr *e)
{
    return e->op == '+' || e->op == '-' ? 1 : strchr("#$<>", e->op) ? 3 : 2;
}

static void
put_expr(printer *p, const axe_trace_expr *e, int least)
{
    bool parens = level_of(e) < least;

    axe_puts(p->out, parens ? "(" : "");
    if (e->op == '#')
        axe_putf(p->out, "%" PRId64, e->value);
    else if (e->op == '$')
        axe_puts(p->out, p->t->var[e->value]);
    else if (e->op == '<' || e->op == '>') {
        axe_puts(p->out, e->op == '<' ? "min(" : "max(");
        put_expr(p, e->a, 1);
        axe_puts(p->out, ", ");
        put_expr(p, e->b, 1);
        axe_putc(p->out, ')');
    } else if (e->op == '-' && is_number(e->a, 0)) {
        axe_putc(p->out, '-');
        put_expr(p, e->b, 3);
    } else {
        put_expr(p, e->a, level_of(e));
        axe_putf(p->out, " %s ", e->op == '/' ? "//" : (char[]){e->op, 0});
        put_expr(p, e->b, level_of(e) + 1);
    }
    axe_puts(p->out, parens ? ")" : "");
}

/* e > 0, or (below) e < 1: of the smaller of one and x that is x's, and so on.
 */
static void
put_condition(printer *p, const axe_trace_expr *e, bool below)
{
    for (;;) {
        bool clamp = (e->op == '<' && e->a->op == '#' && e->a->value > 0) ||
                     (e->op == '>' && is_number(e->a, 0));
        if (clamp)
            e = e->b;
        else if (e->op == '-' && is_number(e->a, 1)) {
            e = e->b;
            below = !below;
        } else
            break;
    }
    put_expr(p, e, 1);
    axe_puts(p->out, below ? " < 1" : " > 0");
}

/* "a:a + n" */
static void
put_slice(printer *p, const axe_trace_expr *from, const axe_trace_expr *n)
{
    if (is_number(from, 0)) {
        axe_puts(p->out, "0:");
        put_expr(p, n, 1);
        return;
    }
    put_expr(p, from, 1);
    axe_putc(p->out, ':');
    put_expr(p, from, 1);
    axe_puts(p->out, " + ");
    put_expr(p, n, 1);
}

static void
put_access(printer *p, const axe_trace_access *a)
{
    const axe_trace_tensor *x = &p->t->tensor[a->tensor];

    axe_puts(p->out, x->name);
    if (a->n_dim == 0)
        return;
    if (x->memory != AXE_TRN_HBM && x->rank == 2 && a->n_dim == 2 &&
        is_number(a->dim[1].stride, 1)) {
        axe_putc(p->out, '[');
        put_slice(p, a->part, a->dim[0].count);
        axe_puts(p->out, ", ");
        put_slice(p, a->offset, a->dim[1].count);
        axe_putc(p->out, ']');
        return;
    }
    axe_puts(p->out, ".ap(pattern=[");
    for (int i = 0; i < a->n_dim; i++) {
        axe_puts(p->out, i > 0 ? ", [" : "[");
        if (a->dim[i].stride)
            put_expr(p, a->dim[i].stride, 1);
        else /* from partition to partition: all that one has */
            for (int d = 1; d < x->rank; d++) {
                axe_puts(p->out, d > 1 ? " * " : "");
                put_expr(p, x->shape[d], 3);
            }
        axe_puts(p->out, ", ");
        put_expr(p, a->dim[i].count, 1);
        axe_putc(p->out, ']');
    }
    axe_puts(p->out, "], offset=");
    put_expr(p, a->offset, 1);
    axe_putc(p->out, ')');
}

static void
put_number(printer *p, double x)
{
    if (isinf(x))
        axe_putf(p->out, "float(\"%sinf\")", x < 0 ? "-" : "");
    else if (fabs(x) < 1e15 && x == (double)(int64_t)x)
        axe_putf(p->out, "%.1f", x);
    else
        axe_putf(p->out, "%.17g", x);
}

static void
put_value(printer *p, const axe_trace_value *v)
{
    switch (v->kind) {
    case AXE_TRACE_ABSENT:
        break;
    case AXE_TRACE_TILE:
        put_access(p, &v->access);
        break;
    case AXE_TRACE_NUMBER:
        put_number(p, v->number);
        break;
    case AXE_TRACE_COUNT:
        put_expr(p, v->count, 1);
        break;
    case AXE_TRACE_FUNCTION:
        axe_putf(p->out, "nl.%s", axe_trn_functions[v->function].name);
        break;
    case AXE_TRACE_INDEX:
        axe_putc(p->out, '[');
        for (int i = 0; i < v->access.n_dim; i++) {
            axe_puts(p->out, i > 0 ? ", [" : "[");
            put_expr(p, v->access.dim[i].stride, 1);
            axe_puts(p->out, ", ");
            put_expr(p, v->access.dim[i].count, 1);
            axe_putc(p->out, ']');
        }
        axe_putc(p->out, ']');
        break;
    }
}

static bool
is_if(const printer *p, int var)
{
    return strncmp(p->t->var[var], "if_", 3) == 0;
}

static bool
names(const axe_trace_expr *e, int var)
{
    return e && (e->op == '$' ? e->value == var
                              : names(e->a, var) || names(e->b, var));
}

static void
put_accumulate(printer *p, const axe_trace_step *s)
{
    const axe_trace_access *a = &s->value[0].access;
    int                     n = 0;

    axe_puts(p->out, ", accumulate=");
    if (p->begun[a->tensor]) {
        axe_puts(p->out, "True");
        return;
    }
    p->begun[a->tensor] = true;
    for (int d = p->level[a->tensor]; d < p->depth; d++)
        if (!is_if(p, p->loop[d]) && !names(a->offset, p->loop[d]) &&
            !names(a->part, p->loop[d]))
            axe_putf(p->out, "%s%s > 0", n++ > 0 ? " or " : "",
                     p->t->var[p->loop[d]]);
    axe_puts(p->out, n == 0 ? "False" : "");
}

static bool
says_accumulate(const axe_trace_step *s)
{
    int                    n;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    for (int i = 0; i < n; i++)
        if (arg[i].kind == AXE_TRN_OPT_FLAG &&
            s->value[i].kind != AXE_TRACE_ABSENT)
            return true;
    return false;
}

static void
put_flag(printer *p, const axe_trace_expr *e)
{
    if (e->op == '#') {
        axe_puts(p->out, e->value == 0 ? "False" : "True");
        return;
    }
    put_expr(p, e, 1);
    axe_puts(p->out, " > 0");
}

static void
put_do(printer *p, const axe_trace_step *s)
{
    int                    n, put = 0;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    axe_putf(p->out, "nisa.%s(", axe_trn_ops[s->op].name);
    for (int i = 0; i < n; i++) {
        if (s->value[i].kind == AXE_TRACE_ABSENT)
            continue;
        axe_putf(p->out, "%s%s=", put++ > 0 ? ", " : "", arg[i].name);
        if (arg[i].kind == AXE_TRN_OPT_FLAG) {
            put_flag(p, s->value[i].count);
            continue;
        }
        if (s->op == AXE_TRN_OP_memset &&
            s->value[i].kind == AXE_TRACE_NUMBER &&
            !axe_type_is_float(p->t->tensor[s->value[0].access.tensor].type))
            axe_putf(p->out, "%.0f", s->value[i].number);
        else
            put_value(p, &s->value[i]);
    }
    if (s->op == AXE_TRN_OP_nc_matmul && !says_accumulate(s))
        put_accumulate(p, s);
    if (s->op == AXE_TRN_OP_tensor_reduce)
        axe_puts(p->out, ", axis=1");
    unsigned engines = axe_trn_ops[s->op].engines;
    if (engines & (engines - 1)) /* else NKI's compiler would choose */
        axe_putf(p->out, ", engine=nisa.engine.%s",
                 axe_trn_engines[s->engine].name);
    axe_putc(p->out, ')');
}

static void
put_shape(printer *p, const axe_trace_tensor *x)
{
    axe_putc(p->out, '(');
    for (int d = 0; d < x->rank; d++) {
        axe_puts(p->out, d > 0 ? ", " : "");
        put_expr(p, x->shape[d], 1);
    }
    axe_puts(p->out, x->rank == 1 ? ",)" : ")");
}

static void
put_tensor(printer *p, int i)
{
    const axe_trace_tensor *x = &p->t->tensor[i];

    p->level[i] = p->depth;
    p->begun[i] = false;
    axe_putf(p->out, "%s = nl.ndarray(", x->name);
    put_shape(p, x);
    axe_putf(p->out, ", dtype=nl.%s, buffer=nl.%s", type_name(x->type),
             x->memory == AXE_TRN_HBM ? "shared_hbm"
                                      : axe_trn_memories[x->memory].word);
    if (x->memory == AXE_TRN_HBM)
        axe_putf(p->out, ", name=\"%s\"", x->name);
    else {
        axe_puts(p->out, ", address=(");
        put_expr(p, x->part, 1);
        axe_puts(p->out, ", ");
        put_expr(p, x->byte, 1);
        axe_putc(p->out, ')');
    }
    axe_putc(p->out, ')');
}

/* The kernel's argument of this name; NULL: it is the kernel's own. */
static const axe_tensor *
param_of(const printer *p, const axe_trace_tensor *x)
{
    for (int i = 0; i < p->k->n_param; i++)
        if (strcmp(p->k->param[i]->name, x->name) == 0)
            return p->k->param[i];
    return NULL;
}

/* Is it given and changed?  `kept` is, too, what is written first. */
static bool
is_both(const printer *p, const axe_trace_tensor *x)
{
    const axe_tensor *t = param_of(p, x);

    return t && t->dir == AXE_DIR_INOUT;
}

static void
put_steps(printer *p, const axe_trace_step *s)
{
    for (; s; s = s->next) {
        if (s->kind == AXE_TRACE_DECLARE) {
            const axe_trace_tensor *x = &p->t->tensor[s->tensor];
            if (x->memory == AXE_TRN_HBM && x->access == AXE_TRACE_IN)
                continue;
        }
        axe_putf(p->out, "%*s", 4 * (p->depth + 1), "");
        if (s->kind == AXE_TRACE_DECLARE) {
            const axe_trace_tensor *x = &p->t->tensor[s->tensor];
            put_tensor(p, s->tensor);
            if (x->memory == AXE_TRN_HBM && is_both(p, x))
                axe_putf(p->out, "\n    nisa.dma_copy(dst=%s, src=%s_given)",
                         x->name, x->name);
        } else if (s->kind == AXE_TRACE_DO)
            put_do(p, s);
        else if (s->kind == AXE_TRACE_LET) {
            axe_putf(p->out, "%s = ", p->t->var[s->var]);
            put_expr(p, s->count, 1);
        } else {
            if (is_if(p, s->var)) {
                axe_puts(p->out, "if ");
                put_condition(p, s->count, false);
                axe_puts(p->out, ":\n");
            } else {
                axe_putf(p->out, "for %s in range(", p->t->var[s->var]);
                put_expr(p, s->count, 1);
                axe_puts(p->out, "):\n");
            }
            p->loop[p->depth++] = s->var;
            if (s->body)
                put_steps(p, s->body);
            else
                axe_putf(p->out, "%*spass\n", 4 * (p->depth + 1), "");
            p->depth--;
            continue;
        }
        axe_putc(p->out, '\n');
    }
}

/* From which argument's shape the size comes. */
static bool
put_size(printer *p, int size)
{
    for (int i = 0; i < p->t->n_tensor; i++) {
        const axe_trace_tensor *x = &p->t->tensor[i];
        bool                    both = is_both(p, x);
        if (x->memory != AXE_TRN_HBM || !param_of(p, x) ||
            (x->access != AXE_TRACE_IN && !both))
            continue;
        for (int d = 0; d < x->rank; d++)
            if (x->shape[d]->op == '$' && x->shape[d]->value == size) {
                axe_putf(p->out, "    %s = %s%s.shape[%d]\n", p->t->var[size],
                         x->name, both ? "_given" : "", d);
                return true;
            }
    }
    return false;
}

/* Tensors of device memory: those that are given, then those that are made. */
static int
list(printer *p, bool given, const char *between)
{
    int n = 0;

    for (int i = 0; i < p->t->n_tensor; i++) {
        const axe_trace_tensor *x = &p->t->tensor[i];
        bool                    both = is_both(p, x);
        if (x->memory == AXE_TRN_HBM && param_of(p, x) &&
            (both || (x->access == AXE_TRACE_IN) == given))
            axe_putf(p->out, "%s%s%s", n++ > 0 ? between : "", x->name,
                     both && given ? "_given" : "");
    }
    return n;
}

axe_status
axe_print_nki(axe_ctx *cx, const axe_lowered *l, axe_buf *out)
{
    const axe_trace *t = l->trace;
    printer          p = {.cx = cx, .out = out, .t = t, .k = l->plan->kernel};

    p.level = axe_new_array(cx, int, t->n_tensor + 1);
    p.begun = axe_new_array(cx, bool, t->n_tensor + 1);
    axe_putf(out, "# %s for %s\n", t->name, l->plan->machine->name);
    axe_puts(out, "import nki\nimport nki.isa as nisa\nimport nki.language as "
                  "nl\n\n\n@nki.jit\n");
    axe_putf(out, "def %s(", t->name);
    int     n = list(&p, true, ", ");
    axe_buf sizes = {.cx = cx};
    printer s = p;
    s.out = &sizes;
    for (int i = 0; i < t->n_size; i++)
        if (!put_size(&s, i))
            axe_putf(out, "%s%s", n++ > 0 ? ", " : "", t->var[i]);
    axe_puts(out, "):\n");
    axe_puts(out, sizes.len > 0 ? sizes.text : "");
    put_steps(&p, t->body);
    axe_puts(out, "    return ");
    if (list(&p, false, ", ") == 0)
        axe_puts(out, "None");
    axe_putc(out, '\n');
    return AXE_OK;
}
