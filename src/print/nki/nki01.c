/* nki01.c - `neuronxcc.nki` 0.1: results are assigned, `+=` adds to a sum that
 * begins as zeros, and NKI places tiles: where the program does, there is no
 * transpose by the tensor engine.  Slices are of two dimensions; what those do
 * not say are indices of `nl.arange`, of tensors in device memory as one row.
 */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "print/nki/nki_int.h"

/* " + stride * nl.arange(count)[None, :, None]", the i'th of n. */
static void
put_arange(nki_printer *p, const axe_trace_expr *stride,
           const axe_trace_expr *count, int i, int n, bool first)
{
    axe_puts(p->out, first ? "" : " + ");
    if (stride && !nki_is_number(stride, 1)) {
        nki_put_expr(p, stride, 2);
        axe_puts(p->out, " * ");
    }
    axe_puts(p->out, "nl.arange(");
    nki_put_expr(p, count, 1);
    axe_puts(p->out, ")[");
    for (int k = 0; k < n; k++)
        axe_putf(p->out, "%s%s", k > 0 ? ", " : "", k == i ? ":" : "None");
    axe_putc(p->out, ']');
}

static bool
put_offset(nki_printer *p, const axe_trace_expr *e)
{
    if (!e || nki_is_number(e, 0))
        return false;
    nki_put_expr(p, e, 1);
    return true;
}

static void
access(nki_printer *p, const axe_trace_access *a)
{
    const axe_trace_tensor *x = &p->t->tensor[a->tensor];
    bool                    chip = x->memory != AXE_TRN_HBM, some;

    axe_puts(p->out, x->name);
    if (a->n_dim == 0)
        return;
    if (nki_is_slice(p, a)) {
        nki_put_slices(p, a);
        return;
    }
    axe_puts(p->out, chip || x->rank == 1 ? "[" : "_flat[");
    if (chip) {
        some = put_offset(p, a->part);
        put_arange(p, NULL, a->dim[0].count, 0, a->n_dim, !some);
        axe_puts(p->out, ", ");
        some = put_offset(p, a->offset);
    } else {
        some = put_offset(p, a->offset);
        put_arange(p, a->dim[0].stride, a->dim[0].count, 0, a->n_dim, !some);
        some = true;
    }
    for (int i = 1; i < a->n_dim; i++)
        put_arange(p, a->dim[i].stride, a->dim[i].count, i, a->n_dim,
                   !some && i == 1);
    axe_putc(p->out, ']');
}

static void
rows(nki_printer *p, const axe_trace_access *a, const axe_trace_access *index)
{
    nki_put_rows(p, a);
    axe_putf(p->out, "[%s[", p->t->tensor[index->tensor].name);
    put_arange(p, NULL, index->dim[0].count, 0, 2, !put_offset(p, index->part));
    axe_puts(p->out, ", ");
    nki_put_expr(p, index->offset, 1);
    axe_puts(p->out, "], ");
    bool some = put_offset(p, a->offset);
    for (int i = 1; i < a->n_dim; i++)
        put_arange(p, a->dim[i].stride, a->dim[i].count, i, a->n_dim,
                   !some && i == 1);
    axe_putc(p->out, ']');
}

static void
declare(nki_printer *p, const axe_trace_tensor *x, bool sums)
{
    bool chip = x->memory != AXE_TRN_HBM;

    axe_putf(p->out, "%s = nl.%s(", x->name, sums ? "zeros" : "ndarray");
    if (chip) {
        axe_puts(p->out, "(nl.par_dim(");
        nki_put_expr(p, x->shape[0], 1);
        axe_puts(p->out, "), ");
        nki_put_expr(p, x->shape[1], 1);
        axe_putc(p->out, ')');
    } else
        nki_put_shape(p, x);
    axe_putf(p->out, ", dtype=nl.%s, buffer=nl.%s", nki_type_name(x->type),
             chip ? axe_trn_memories[x->memory].word : "shared_hbm");
    axe_putf(p->out, chip ? ")" : ", name=\"%s\")", x->name);
}

static void
begin(nki_printer *p, const axe_trace_tensor *x)
{
    if (x->rank == 1)
        return;
    axe_putf(p->out, "    %s_flat = %s.reshape((", x->name, x->name);
    for (int d = 0; d < x->rank; d++) {
        axe_puts(p->out, d > 0 ? " * " : "");
        nki_put_expr(p, x->shape[d], 2);
    }
    axe_puts(p->out, ",))\n");
}

static const axe_trace_value *
value_of(const axe_trace_step *s, const char *name)
{
    int                    n;
    const axe_trn_arg_row *arg = axe_trn_args(s->op, &n);

    for (int i = 0; i < n; i++)
        if (strcmp(arg[i].name, name) == 0 &&
            s->value[i].kind != AXE_TRACE_ABSENT)
            return &s->value[i];
    return NULL;
}

/* offset + p * channel_multiplier + pattern(f). */
static void
put_affine(nki_printer *p, const axe_trace_step *s)
{
    const axe_trace_value      *offset = value_of(s, "offset");
    const axe_trace_value      *by = value_of(s, "channel_multiplier");
    const axe_trace_access     *pattern = &value_of(s, "pattern")->access;
    static const axe_trace_expr zero = {.op = '#'};
    int                         n = 1 + pattern->n_dim;

    bool some = put_offset(p, offset ? offset->count : NULL);
    put_arange(p, by ? by->count : &zero, s->value[0].access.dim[0].count, 0, n,
               !some);
    for (int i = 1; i < n; i++)
        put_arange(p, pattern->dim[i - 1].stride, pattern->dim[i - 1].count, i,
                   n, false);
}

/* What compares is Python's operator. */
static const char *
compare_of(axe_trn_function f)
{
    switch (f) {
    case AXE_TRN_FN_equal:
        return "==";
    case AXE_TRN_FN_not_equal:
        return "!=";
    case AXE_TRN_FN_less:
        return "<";
    case AXE_TRN_FN_less_equal:
        return "<=";
    case AXE_TRN_FN_greater:
        return ">";
    default:
        return ">=";
    }
}

static void
put_memset(nki_printer *p, const axe_trace_step *s)
{
    const axe_trace_access *a = &s->value[0].access;

    axe_puts(p->out, "shape=(");
    for (int i = 0; i < a->n_dim; i++) {
        axe_puts(p->out, i > 0 ? ", " : "");
        nki_put_expr(p, a->dim[i].count, 1);
    }
    axe_puts(p->out, "), value=");
    nki_put_fill(p, s);
    axe_putf(p->out, ", dtype=nl.%s",
             nki_type_name(p->t->tensor[a->tensor].type));
}

static void
put_operands(nki_printer *p, const axe_trace_step *s)
{
    switch (s->op) {
    case AXE_TRN_OP_memset:
        put_memset(p, s);
        break;
    case AXE_TRN_OP_iota:
        put_affine(p, s);
        axe_putf(p->out, ", dtype=nl.%s",
                 nki_type_name(p->t->tensor[s->value[0].access.tensor].type));
        break;
    case AXE_TRN_OP_affine_select:
        axe_puts(p->out, "pred=");
        put_affine(p, s);
        axe_putf(p->out, " %s 0, on_true_tile=",
                 compare_of(value_of(s, "cmp_op")->function));
        nki_put_value(p, value_of(s, "on_true_tile"));
        axe_puts(p->out, ", on_false_value=");
        nki_put_value(p, value_of(s, "on_false_value"));
        break;
    default:
        nki_put_args(p, s, s->op == AXE_TRN_OP_dma_copy ? 0 : 1);
    }
}

static void
instruction(nki_printer *p, const axe_trace_step *s)
{
    if (s->op != AXE_TRN_OP_dma_copy) {
        const axe_trace_access *a = &s->value[0].access;
        p->d->access(p, a);
        axe_puts(p->out, s->op == AXE_TRN_OP_nc_matmul && p->sums[a->tensor]
                             ? " += "
                             : " = ");
    }
    axe_putf(p->out, "nisa.%s(", axe_trn_ops[s->op].name);
    put_operands(p, s);
    if (s->op == AXE_TRN_OP_tensor_reduce)
        axe_puts(p->out, ", axis=[1]");
    if (nki_has_choice(s))
        axe_putf(p->out, ", engine=nisa.%s_engine",
                 axe_trn_engines[s->engine].name);
    axe_putc(p->out, ')');
}

/* Sums begin as zeros where they are declared: one that begins anew says so in
 * a way that this dialect has not. */
static bool
begins_anew(const axe_trace_step *s)
{
    for (; s; s = s->next) {
        const axe_trace_value *said =
            s->kind == AXE_TRACE_DO ? nki_said(s) : NULL;
        if ((said && said->count->op != '#') ||
            (s->kind == AXE_TRACE_LOOP && begins_anew(s->body)))
            return true;
    }
    return false;
}

static axe_status
check(axe_ctx *cx, const axe_trace *t)
{
    int64_t bank = axe_trn_memories[AXE_TRN_PSUM].bank;

    for (int i = 0; i < t->n_tensor; i++) {
        const axe_trace_tensor *x = &t->tensor[i];
        int64_t                 n = 0;
        if (x->type == AXE_TYPE_f8e4m3)
            axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                     "%s is of type f8e4m3, which neuronxcc.nki 0.1 has not",
                     x->name);
        else if (x->memory != AXE_TRN_HBM && x->rank != 2)
            axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                     "the tile %s has %d dimensions; neuronxcc.nki 0.1 is "
                     "printed of two",
                     x->name, x->rank);
        else if (x->memory == AXE_TRN_PSUM &&
                 (n = x->shape[1]->value * axe_type_table[x->type].bits / 8) >
                     bank)
            axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                     "%s has %" PRId64 " bytes of a partition of PSUM; a tile "
                     "of neuronxcc.nki 0.1 has one bank, %" PRId64,
                     x->name, n, bank);
        else
            continue;
        axe_help(cx, "print it as `nki`, which is --emit c%s",
                 n > bank ? ", or choose smaller blocks" : "");
        return AXE_EUNSUPPORTED;
    }
    if (begins_anew(t->body)) {
        axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                 "a sum that is declared in front of a loop begins anew in "
                 "it, over several blocks; neuronxcc.nki 0.1 has no word for "
                 "that");
        axe_help(cx, "print it as `nki`, which is --emit c");
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}

const nki_dialect nki_01 = {
    .head = "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\n"
            "import neuronxcc.nki.language as nl\n\n\n@nki.jit\n",
    .range = "nl.static_range",
    .access = access,
    .rows = rows,
    .declare = declare,
    .begin = begin,
    .instruction = instruction,
    .check = check,
};
