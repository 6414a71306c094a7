/* nki03.c - `nki` as SDK 2.29 to 2.32 take it: results are the first argument,
 * tiles have addresses, and whether a product adds is an argument. */
#include "print/nki/nki_int.h"

/* "pattern=[[step, count], ..], offset=first" */
static void
put_pattern(nki_printer *p, const axe_trace_access *a)
{
    const axe_trace_tensor *x = &p->t->tensor[a->tensor];

    axe_puts(p->out, "pattern=[");
    for (int i = 0; i < a->n_dim; i++) {
        axe_puts(p->out, i > 0 ? ", [" : "[");
        if (a->dim[i].stride)
            nki_put_expr(p, a->dim[i].stride, 1);
        else /* from partition to partition: all that one has */
            for (int d = 1; d < x->rank; d++) {
                axe_puts(p->out, d > 1 ? " * " : "");
                nki_put_expr(p, x->shape[d], 3);
            }
        axe_puts(p->out, ", ");
        nki_put_expr(p, a->dim[i].count, 1);
        axe_putc(p->out, ']');
    }
    axe_puts(p->out, "], offset=");
    nki_put_expr(p, a->offset, 1);
}

static void
access(nki_printer *p, const axe_trace_access *a)
{
    axe_puts(p->out, p->t->tensor[a->tensor].name);
    if (a->n_dim == 0)
        return;
    if (nki_is_slice(p, a)) {
        nki_put_slices(p, a);
        return;
    }
    axe_puts(p->out, ".ap(");
    put_pattern(p, a);
    axe_putc(p->out, ')');
}

static void
rows(nki_printer *p, const axe_trace_access *a, const axe_trace_access *index)
{
    nki_put_rows(p, a);
    axe_puts(p->out, ".ap(");
    put_pattern(p, a);
    axe_puts(p->out, ", vector_offset=");
    access(p, index);
    axe_puts(p->out, ", indirect_dim=0)");
}

static void
declare(nki_printer *p, const axe_trace_tensor *x, bool sums)
{
    (void)sums;
    axe_putf(p->out, "%s = nl.ndarray(", x->name);
    nki_put_shape(p, x);
    axe_putf(p->out, ", dtype=nl.%s, buffer=nl.%s", nki_type_name(x->type),
             x->memory == AXE_TRN_HBM ? "shared_hbm"
                                      : axe_trn_memories[x->memory].word);
    if (x->memory == AXE_TRN_HBM)
        axe_putf(p->out, ", name=\"%s\"", x->name);
    else {
        axe_puts(p->out, ", address=(");
        nki_put_expr(p, x->part, 1);
        axe_puts(p->out, ", ");
        nki_put_expr(p, x->byte, 1);
        axe_putc(p->out, ')');
    }
    axe_putc(p->out, ')');
}

static void
put_accumulate(nki_printer *p, const axe_trace_step *s)
{
    axe_buf  when = {.cx = p->out->cx};
    nki_adds adds = nki_accumulates(p, s, &when);

    axe_putf(p->out, ", accumulate=%s",
             adds == NKI_NEVER    ? "False"
             : adds == NKI_ALWAYS ? "True"
                                  : when.text);
}

static void
instruction(nki_printer *p, const axe_trace_step *s)
{
    axe_putf(p->out, "nisa.%s(", axe_trn_ops[s->op].name);
    nki_put_args(p, s, 0);
    if (s->op == AXE_TRN_OP_nc_matmul)
        put_accumulate(p, s);
    if (s->op == AXE_TRN_OP_tensor_reduce)
        axe_puts(p->out, ", axis=1");
    if (nki_has_choice(s)) /* else NKI's compiler would choose */
        axe_putf(p->out, ", engine=nisa.engine.%s",
                 axe_trn_engines[s->engine].name);
    axe_putc(p->out, ')');
}

const nki_dialect nki_03 = {
    .head = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n"
            "\n@nki.jit\n",
    .range = "range",
    .access = access,
    .rows = rows,
    .declare = declare,
    .instruction = instruction,
};
