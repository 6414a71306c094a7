/* call.c - invocations of atoms as statements: operands as arguments. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/cuda/cuda_int.h"

static const axe_buffer *
buffer_of(const axe_speller *p, const axe_tensor *t)
{
    for (int i = 0; i < p->g->n_buffer; i++)
        if (p->g->buffer[i].tensor == t)
            return &p->g->buffer[i];
    return NULL;
}

/* --------------------------------------------------------- shared addresses */

static axe_status
put_swizzled(axe_speller *p, axe_buf *b, const axe_swizzle *s,
             const axe_node *at)
{
    const char *name = s->shift > 0 ? "swizzle" : "swizzle_up";

    axe_spell_need(p, name);
    axe_putf(b, "%s<%d, %d, %d>(", name, s->bits, s->base, abs(s->shift));
    AXE_TRY(axe_spell_expr(p, b, at, AXE_SPELL_INDEX));
    axe_putc(b, ')');
    return AXE_OK;
}

static axe_status
put_xored(axe_speller *p, axe_buf *b, const axe_buffer *s, const axe_byte_at *a,
          int i)
{
    const axe_node *at = a->part[i].at;
    bool            alone = a->n == 1 || a->part[i].how == AXE_SWIZZLE_DONE;

    if (a->part[i].how == AXE_SWIZZLE_MOVES)
        return put_swizzled(p, b, &s->swizzle, at);
    axe_puts(b, alone ? "" : "(");
    AXE_TRY(axe_spell_expr(p, b, at, AXE_SPELL_INDEX));
    axe_puts(b, alone ? "" : ")");
    return AXE_OK;
}

/* "t_a + (swizzle<...>(...) ^ 64) + 8192": the byte address of an element of
 * shared memory. */
static axe_status
put_shared(axe_speller *p, axe_buf *b, const axe_arg *arg)
{
    const axe_buffer  *s = buffer_of(p, arg->tensor);
    const axe_byte_at *a = arg->byte;
    int64_t            zero;

    if (!s || !a)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "CUDA C: %s is no buffer with an address",
                        arg->tensor->name);
    axe_puts(b, axe_spell_tensor(p, arg->tensor));
    if (a->n == 0 && axe_is_iconst(a->behind, &zero) && zero == 0)
        return AXE_OK;
    axe_puts(b, a->n > 1 ? " + (" : " + ");
    for (int i = 0; i < a->n; i++) {
        axe_puts(b, i > 0 ? " ^ " : "");
        AXE_TRY(put_xored(p, b, s, a, i));
    }
    axe_puts(b, a->n > 1 ? ")" : "");
    if (!a->behind)
        return AXE_OK;
    axe_puts(b, a->n > 0 ? " + " : "");
    return axe_spell_expr(p, b, a->behind, AXE_SPELL_INDEX);
}

/* --------------------------------------------------------------- arguments */

static axe_status
put_descriptor(axe_speller *p, axe_buf *b, const axe_arg *a)
{
    axe_spell_need(p, "describe");
    axe_puts(b, "describe(");
    AXE_TRY(put_shared(p, b, a));
    axe_putf(b, ", 0x%016" PRIx64 ")", a->desc);
    return AXE_OK;
}

static axe_status
put_words(axe_speller *p, axe_buf *b, const axe_arg *a)
{
    int64_t zero;

    axe_puts(b, axe_spell_tensor(p, a->tensor));
    if (axe_is_iconst(a->unit, &zero) && zero == 0)
        return AXE_OK;
    axe_puts(b, " + ");
    return axe_spell_term(p, b, a->unit);
}

/* "(warp << 21 & 0x600000)": where lanes of tensor memory begin that are the
 * warp's of its warp group. */
static axe_status
put_own_lanes(axe_speller *p, axe_buf *b)
{
    const axe_grid *g = p->g;
    int             step = AXE_TMEM_LANE / AXE_WORD_BITS * g->lanes, shift = 0;

    while (step >> shift > 1)
        shift++;
    axe_puts(b, " + (");
    AXE_TRY(axe_spell_expr(p, b,
                           axe_var_node(p->cx, AXE_NOWHERE, g->id[AXE_ID_WARP]),
                           AXE_SPELL_INDEX));
    axe_putf(b, " << %d & %#x)", shift, (unsigned)((g->group - 1) * step));
    return AXE_OK;
}

/* "r_base[0] + 32 + 65536 * x": the address of a word of tensor memory, lanes
 * in its upper half; own: in lanes of the warp. */
static axe_status
put_tmem(axe_speller *p, axe_buf *b, const axe_arg *a, bool own)
{
    const axe_grid *g = p->g;
    int             i = 0;
    int64_t         zero;

    while (i < g->n_tmem && g->tmem[i].tensor != a->tensor)
        i++;
    if (i == g->n_tmem || !g->tmem_base || (own && !g->id[AXE_ID_WARP]))
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "CUDA C: %s is no tile in the grid's tensor memory",
                        a->tensor->name);
    axe_putf(b, "%s[0]", axe_spell_tensor(p, g->tmem_base));
    if (g->tmem[i].first > 0)
        axe_putf(b, " + %d", g->tmem[i].first);
    if (own)
        AXE_TRY(put_own_lanes(p, b));
    if (axe_is_iconst(a->unit, &zero) && zero == 0)
        return AXE_OK;
    axe_puts(b, " + ");
    return axe_spell_term(p, b, a->unit);
}

static axe_status
put_arg(axe_speller *p, axe_buf *b, const axe_lir *l, int i)
{
    const axe_arg *a = &l->arg[i];
    int64_t        zero;

    switch (a->space) {
    case AXE_ARG_REG:
        return put_words(p, b, a);
    case AXE_ARG_GLOBAL:
        axe_puts(b, axe_spell_tensor(p, a->tensor));
        if (axe_is_iconst(a->at, &zero) && zero == 0)
            return AXE_OK;
        axe_puts(b, " + ");
        return axe_spell_offset(p, b, axe_index_gathered(p->ix, a->at));
    case AXE_ARG_SHARED:
        if (i < 3 && axe_atom_by_descriptor(l->atom, i))
            return put_descriptor(p, b, a);
        return put_shared(p, b, a);
    case AXE_ARG_DSMEM:
        AXE_TRY(put_shared(p, b, a));
        if (!axe_atom_names(l->atom, i, 'c'))
            return AXE_OK;
        axe_puts(b, ", ");
        return axe_spell_expr(p, b, a->cta, AXE_SPELL_INDEX);
    case AXE_ARG_TMEM:
        AXE_TRY(put_tmem(p, b, a, axe_atom_names(l->atom, i, 'w')));
        if (!a->rest)
            return AXE_OK;
        axe_puts(b, ", ");
        return axe_spell_expr(p, b, a->rest, AXE_SPELL_INDEX);
    case AXE_ARG_MAP:
        axe_putf(b, "&map%d", a->map);
        for (int k = 0; k < a->n_at; k++) {
            axe_puts(b, ", ");
            AXE_TRY(axe_spell_expr(p, b, a->coord[k], AXE_SPELL_INDEX));
        }
        return AXE_OK;
    case AXE_ARG_INT:
        return axe_spell_expr(p, b, a->at, AXE_SPELL_INDEX);
    case AXE_ARG_NONE:
        break;
    }
    return AXE_OK;
}

/* -------------------------------------------------------------- statements */

/* The operand in registers that is less than a word, or -1. */
static int
find_part(const axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].part)
            return i;
    return -1;
}

/* `get16(t_x, i)` before, `put16(t_x, i, w)` after. */
static axe_status
put_part(axe_speller *p, axe_buf *b, const axe_arg *a, bool get)
{
    const char *name = axe_textf(p->cx, "%s%d", get ? "get" : "put", a->part);

    axe_spell_need(p, name);
    axe_putf(b, "%s(%s, ", name, axe_spell_tensor(p, a->tensor));
    AXE_TRY(axe_spell_expr(p, b, a->unit, AXE_SPELL_INDEX));
    axe_puts(b, get ? ")" : ", w)");
    return AXE_OK;
}

static bool
branches(const axe_lir *l)
{
    return l->pred && !axe_atom_zeros(l->atom);
}

static axe_status
put_call(axe_speller *p, const axe_lir *l, const char *name, int partial,
         int indent)
{
    const char *arg[MAX_ARG + 1];
    int         n = 0;

    for (int i = 0; i < l->n_arg; i++) {
        axe_buf b = {.cx = p->cx};
        if (axe_cuda_in_name(l, i))
            continue;
        if (i == partial)
            axe_puts(&b, "&w");
        else
            AXE_TRY(put_arg(p, &b, l, i));
        arg[n++] = b.text;
    }
    if (l->pred && !branches(l)) {
        axe_buf b = {.cx = p->cx};
        AXE_TRY(axe_spell_expr(p, &b, l->pred, AXE_SPELL_INDEX));
        arg[n++] = b.text;
    }
    axe_putf(p->out, "%s(", name);
    axe_cuda_list(p->out, n, arg, indent + (int)strlen(name) + 1);
    axe_puts(p->out, ");");
    return AXE_OK;
}

/* A load or store of less than a word, by way of one. */
static axe_status
put_by_word(axe_speller *p, const axe_lir *l, const char *name, int partial,
            int indent)
{
    axe_buf *b = p->out;

    axe_puts(b, "{\n");
    axe_putf(b, "%*su32 w", indent + 4, "");
    if (partial == 1) {
        axe_puts(b, " = ");
        AXE_TRY(put_part(p, b, &l->arg[1], true));
    }
    axe_putf(b, ";\n%*s", indent + 4, "");
    AXE_TRY(put_call(p, l, name, partial, indent + 4));
    if (partial == 0) {
        axe_putf(b, "\n%*s", indent + 4, "");
        AXE_TRY(put_part(p, b, &l->arg[0], false));
        axe_putc(b, ';');
    }
    axe_putf(b, "\n%*s}", indent, "");
    return AXE_OK;
}

/* ------------------------------------------------------------------- pins */

static void
put_pin(axe_speller *p, const axe_tensor *t, int indent)
{
    int64_t n = 1, per = axe_per_word(t->type);

    if (t->rank > 0 && !axe_is_iconst(t->shape[0], &n))
        return;
    axe_spell_need(p, "pin");
    axe_putf(p->out, "%*spin<%" PRId64 ">(%s);\n", indent, "",
             (n + per - 1) / per, axe_spell_tensor(p, t));
}

axe_status
axe_cuda_atom(axe_speller *p, const axe_lir *l, int indent)
{
    const char *name;
    int         partial = find_part(l), pad = indent;

    AXE_TRY(axe_cuda_function(p, l, &name));
    for (int i = 0; i < l->n_pin && !l->pins_behind; i++)
        put_pin(p, l->pin[i], indent);
    axe_putf(p->out, "%*s", indent, "");
    if (branches(l)) {
        pad += 4;
        axe_puts(p->out, "if (");
        AXE_TRY(axe_spell_expr(p, p->out, l->pred, AXE_SPELL_INDEX));
        axe_putf(p->out, ")%s%*s", partial >= 0 ? " " : "\n",
                 partial >= 0 ? 0 : pad, "");
        pad -= partial >= 0 ? 4 : 0;
    }
    if (partial >= 0)
        AXE_TRY(put_by_word(p, l, name, partial, pad));
    else
        AXE_TRY(put_call(p, l, name, -1, pad));
    axe_putc(p->out, '\n');
    for (int i = 0; i < l->n_pin && l->pins_behind; i++)
        put_pin(p, l->pin[i], indent);
    return AXE_OK;
}
