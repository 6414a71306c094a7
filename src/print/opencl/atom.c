/* atom.c - invocations of atoms: their rows' texts, with operands put in.
 *
 * An operand of several registers is a vector of them, made before and taken
 * apart behind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/opencl/opencl_int.h"

static const axe_buffer *
buffer_of(const cl_printer *p, const axe_tensor *t)
{
    for (int i = 0; i < p->g->n_buffer; i++)
        if (p->g->buffer[i].tensor == t)
            return &p->g->buffer[i];
    return NULL;
}

/* "(b0_a + (swizzle(...) ^ 64) + 8192)" */
static axe_status
put_local(cl_printer *p, axe_buf *b, const axe_arg *a)
{
    const axe_buffer  *s = buffer_of(p, a->tensor);
    const axe_byte_at *at = a->byte;

    if (!s || !at)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "OpenCL C: %s is no buffer with an address",
                        a->tensor->name);
    axe_putf(b, "(%s", axe_cl_tensor(p, a->tensor));
    for (int i = 0; i < at->n; i++) {
        const axe_swizzle *w = &s->swizzle;
        axe_puts(b, i > 0 ? " ^ " : " + (");
        if (at->part[i].how == AXE_SWIZZLE_MOVES)
            axe_putf(b, "swizzle%s(%d, %d, %d, ", w->shift > 0 ? "" : "_up",
                     w->bits, w->base, abs(w->shift));
        AXE_TRY(axe_cl_expr(p, b, at->part[i].at));
        if (at->part[i].how == AXE_SWIZZLE_MOVES)
            axe_putc(b, ')');
    }
    axe_puts(b, at->n > 0 ? ")" : "");
    if (at->behind) {
        axe_puts(b, " + ");
        AXE_TRY(axe_cl_expr(p, b, at->behind));
    }
    axe_putc(b, ')');
    return AXE_OK;
}

/* Registers of operand i in one invocation. */
static int
n_reg(const axe_lir *l)
{
    bool moves =
        l->atom->kind == AXE_ATOM_LOAD ||
        (l->atom->kind == AXE_ATOM_STORE && l->atom->fold == AXE_FOLD_NONE);

    return moves && l->param > 1 ? l->param : 1;
}

/* "r0_x[at + j]" */
static axe_status
put_reg(cl_printer *p, axe_buf *b, const axe_arg *a, int j)
{
    axe_putf(b, "%s[", axe_cl_tensor(p, a->tensor));
    AXE_TRY(axe_cl_expr(p, b, a->at));
    if (j > 0)
        axe_putf(b, " + %d", j);
    axe_putc(b, ']');
    return AXE_OK;
}

static axe_status
put_arg(cl_printer *p, axe_buf *b, const axe_lir *l, int i)
{
    const axe_arg *a = &l->arg[i];

    switch (a->space) {
    case AXE_ARG_REG:
        if (n_reg(l) == 1)
            return put_reg(p, b, a, 0);
        axe_puts(b, "w");
        return AXE_OK;
    case AXE_ARG_GLOBAL:
        axe_putf(b, "(%s + ", axe_cl_tensor(p, a->tensor));
        AXE_TRY(axe_cl_expr(p, b, a->at));
        axe_putc(b, ')');
        return AXE_OK;
    case AXE_ARG_SHARED:
        return put_local(p, b, a);
    case AXE_ARG_INT:
        return axe_cl_expr(p, b, a->at);
    default:
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "OpenCL C has no spelling for an operand of %s",
                        l->atom->name);
    }
}

/* The type that the atom's registers are moved as: "float4"; NULL: none. */
static const char *
type_of(cl_printer *p, const axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].space == AXE_ARG_REG) {
            const char *t = axe_cl_type(l->arg[i].tensor->type);
            return t && n_reg(l) > 1 ? axe_textf(p->cx, "%s%d", t, n_reg(l))
                                     : t;
        }
    return "int";
}

static axe_status
put_text(cl_printer *p, const axe_lir *l, const char *type)
{
    axe_buf *b = p->out;

    for (const char *s = l->atom->asm_text; *s; s++)
        if (*s != '$')
            axe_putc(b, *s);
        else if (*++s == 'v')
            axe_puts(b, type);
        else if (*s == 'P')
            axe_putf(b, "%d", l->param);
        else
            AXE_TRY(put_arg(p, b, l, *s - '0'));
    return AXE_OK;
}

/* Registers of operand i to the vector w, or from it. */
static axe_status
put_vector(cl_printer *p, const axe_lir *l, int i, const char *type)
{
    axe_buf *b = p->out;

    if (i == 1)
        axe_putf(b, "w = (%s)(", type);
    for (int j = 0; j < n_reg(l); j++) {
        if (i == 1)
            axe_puts(b, j > 0 ? ", " : "");
        else
            axe_putc(b, ' ');
        AXE_TRY(put_reg(p, b, &l->arg[i], j));
        if (i == 0)
            axe_putf(b, " = w.s%x;", (unsigned)j);
    }
    axe_puts(b, i == 1 ? "); " : "");
    return AXE_OK;
}

axe_status
axe_cl_atom(cl_printer *p, const axe_lir *l, int indent)
{
    const char *type = type_of(p, l);
    bool        load = l->atom->kind == AXE_ATOM_LOAD;
    axe_buf    *b = p->out;

    if (!type)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "OpenCL C has no spelling yet for %s of registers that "
                        "are not of 32 or 64 bits",
                        l->atom->name);
    axe_putf(b, "%*s", indent, "");
    for (int j = 0; load && l->pred && j < n_reg(l); j++) {
        AXE_TRY(put_reg(p, b, &l->arg[0], j));
        axe_puts(b, " = 0; ");
    }
    if (l->pred) {
        axe_puts(b, "if (");
        AXE_TRY(axe_cl_expr(p, b, l->pred));
        axe_puts(b, ") ");
    }
    axe_puts(b, "{ ");
    if (n_reg(l) > 1)
        axe_putf(b, "%s w; ", type);
    if (n_reg(l) > 1 && !load)
        AXE_TRY(put_vector(p, l, 1, type));
    AXE_TRY(put_text(p, l, type));
    if (n_reg(l) > 1 && load)
        AXE_TRY(put_vector(p, l, 0, type));
    axe_puts(b, " }\n");
    return AXE_OK;
}
