/* atom.c - invocations of atoms: their rows' texts, with operands put in.
 *
 * Registers are words of 32 bits or longer elements.  What is moved at once is
 * a vector of them, made before and taken apart behind; what is less than a
 * word is taken out of one and put back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/opencl/opencl_int.h"

static const axe_buffer *
buffer_of(const axe_speller *p, const axe_tensor *t)
{
    for (int i = 0; i < p->g->n_buffer; i++)
        if (p->g->buffer[i].tensor == t)
            return &p->g->buffer[i];
    return NULL;
}

/* --------------------------------------------------------- local addresses */

static axe_status
put_part(axe_speller *p, axe_buf *b, const axe_swizzle *w,
         const axe_byte_at *at, int i)
{
    bool moves = at->part[i].how == AXE_SWIZZLE_MOVES;

    if (moves) {
        const char *name = w->shift > 0 ? "swizzle" : "swizzle_up";
        axe_spell_need(p, name);
        axe_putf(b, "%s(%d, %d, %d, ", name, w->bits, w->base, abs(w->shift));
    } else
        axe_putc(b, '(');
    AXE_TRY(axe_spell_expr(p, b, at->part[i].at, AXE_SPELL_INDEX));
    axe_putc(b, ')');
    return AXE_OK;
}

/* What has as many bits as an element; NULL: elements have no places of their
 * own. */
static const char *
place_type(axe_type t)
{
    int bits = axe_type_table[t].bits;

    return bits == 8    ? "u8"
           : bits == 16 ? "u16"
           : bits == 32 ? "u32"
           : bits == 64 ? "u64"
                        : NULL;
}

/* "((local u32 *)b_a + lane)", where elements are numbered: a compiler that
 * makes lanes a vector register takes neighbours for neighbours so, and may
 * not by their bytes.  Swizzled: "(b_a + (swizzle(...) ^ (64)) + 8192)". */
static axe_status
put_local(axe_speller *p, axe_buf *b, const axe_arg *a)
{
    const axe_buffer  *s = buffer_of(p, a->tensor);
    const axe_byte_at *at = a->byte;

    if (!s || !at)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "OpenCL C: %s is no buffer with an address",
                        a->tensor->name);
    if (at->n == 0 && place_type(a->tensor->type)) {
        axe_putf(b, "((local %s *)%s + ", place_type(a->tensor->type),
                 axe_spell_tensor(p, a->tensor));
        AXE_TRY(axe_spell_expr(p, b, a->at, AXE_SPELL_INDEX));
        axe_putc(b, ')');
        return AXE_OK;
    }
    axe_putf(b, "(%s", axe_spell_tensor(p, a->tensor));
    for (int i = 0; i < at->n; i++) {
        axe_puts(b, i > 0 ? " ^ " : at->n > 1 ? " + (" : " + ");
        AXE_TRY(put_part(p, b, &s->swizzle, at, i));
    }
    axe_puts(b, at->n > 1 ? ")" : "");
    if (at->behind) {
        axe_puts(b, " + ");
        AXE_TRY(axe_spell_term(p, b, at->behind));
    }
    axe_putc(b, ')');
    return AXE_OK;
}

/* -------------------------------------------------------------- registers */

/* The operand in registers, or NULL. */
static const axe_arg *
reg_of(const axe_lir *l)
{
    for (int i = 0; i < l->n_arg; i++)
        if (l->arg[i].space == AXE_ARG_REG)
            return &l->arg[i];
    return NULL;
}

static bool
moves(const axe_lir *l)
{
    return l->atom->kind == AXE_ATOM_LOAD ||
           (l->atom->kind == AXE_ATOM_STORE && l->atom->fold == AXE_FOLD_NONE);
}

/* Words of an operand of the invocation. */
static int
n_word(const axe_lir *l)
{
    const axe_arg *r = reg_of(l);
    int            n = r && moves(l) && l->param > 1 ? l->param : 1;

    return r ? (n + axe_per_word(r->tensor->type) - 1) /
                   axe_per_word(r->tensor->type)
             : 1;
}

static int
part_of(const axe_lir *l)
{
    const axe_arg *r = reg_of(l);

    return r ? r->part : 0;
}

/* "r_x[4 + j]" */
static axe_status
put_word(axe_speller *p, axe_buf *b, const axe_arg *a, int j)
{
    axe_putf(b, "%s[", axe_spell_tensor(p, a->tensor));
    AXE_TRY(axe_spell_term(p, b, a->unit));
    if (j > 0)
        axe_putf(b, " + %d", j);
    axe_putc(b, ']');
    return AXE_OK;
}

/* Of n words: "float4". */
static const char *
vector_type(axe_speller *p, const char *t, int n)
{
    static const char *const vector[][2] = {
        {"u32", "uint"}, {"i64", "long"}, {"u64", "ulong"}};

    for (int i = 0; i < AXE_LEN(vector) && n > 1; i++)
        if (strcmp(t, vector[i][0]) == 0)
            t = vector[i][1];
    return n > 1 ? axe_textf(p->cx, "%s%d", t, n) : t;
}

/* The type that registers are moved as: "float4", "u16". */
static const char *
type_of(axe_speller *p, const axe_lir *l)
{
    const axe_arg *r = reg_of(l);
    const char    *t = r ? axe_spell_word_type(r->tensor->type) : "int";

    if (part_of(l) > 0)
        return part_of(l) == 16 ? "u16" : "u8";
    return vector_type(p, t, n_word(l));
}

/* ---------------------------------------------------------------- operands */

static axe_status
put_global(axe_speller *p, axe_buf *b, const axe_arg *a)
{
    axe_putf(b, "(%s + ", axe_spell_tensor(p, a->tensor));
    AXE_TRY(axe_spell_offset(p, b, axe_index_gathered(p->ix, a->at)));
    axe_putc(b, ')');
    return AXE_OK;
}

/* Words of operand i of a product. */
static axe_status
factor_words(axe_speller *p, const axe_lir *l, int i, int *out)
{
    const axe_layout *o;
    const char       *roles;
    axe_axis          reg;
    int64_t           n = 1;
    int               per = axe_per_word(l->arg[i].tensor->type);

    AXE_TRY(axe_axis_find(p->cx, AXE_NOWHERE,
                          axe_space_table[AXE_SPACE_REG].fast, &reg));
    AXE_TRY(axe_atom_operand(p->cx, l->atom, i, l->param > 0 ? l->param : 1,
                             &roles, &o));
    for (int k = 0; k < o->n_shard; k++)
        if (o->shard[k].axis == reg)
            n += (o->shard[k].extent - 1) * o->shard[k].stride;
    *out = (int)((n + per - 1) / per);
    return AXE_OK;
}

/* Is it a product of a sub-group?  Its operands are vectors. */
static bool
is_matrix(const axe_lir *l)
{
    return l->atom->kind == AXE_ATOM_CONTRACT && l->atom->by == AXE_SCOPE_WARP;
}

static axe_status
put_arg(axe_speller *p, axe_buf *b, const axe_lir *l, int i)
{
    const axe_arg *a = &l->arg[i];

    switch (a->space) {
    case AXE_ARG_REG:
        if (is_matrix(l)) {
            axe_putf(b, "w%d", i);
            return AXE_OK;
        }
        if (n_word(l) == 1 && a->part == 0)
            return put_word(p, b, a, 0);
        axe_puts(b, "w");
        return AXE_OK;
    case AXE_ARG_GLOBAL:
        return put_global(p, b, a);
    case AXE_ARG_SHARED:
        return put_local(p, b, a);
    case AXE_ARG_INT:
        return axe_spell_expr(p, b, a->at, AXE_SPELL_INDEX);
    default:
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "OpenCL C has no spelling for an operand of %s",
                        l->atom->name);
    }
}

/* The row's text; of an argument that is passed by value, that. */
static axe_status
put_text(axe_speller *p, const axe_lir *l, const char *type)
{
    const axe_tensor *from = l->n_arg > 1 ? l->arg[1].tensor : NULL;
    axe_buf          *b = p->out;

    if (l->atom->kind == AXE_ATOM_LOAD && from && axe_is_scalar(from)) {
        AXE_TRY(put_arg(p, b, l, 0));
        axe_putf(b, " = by_%s;", from->name);
        return AXE_OK;
    }
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

/* -------------------------------------------------------------- statements */

/* "get16(r_x, i)", "put16(r_x, i, w)" */
static axe_status
put_element(axe_speller *p, axe_buf *b, const axe_arg *a, bool get,
            const char *value)
{
    const char *name = axe_textf(p->cx, "%s%d", get ? "get" : "put", a->part);

    axe_spell_need(p, name);
    axe_putf(b, "%s(%s, ", name, axe_spell_tensor(p, a->tensor));
    AXE_TRY(axe_spell_expr(p, b, a->unit, AXE_SPELL_INDEX));
    axe_putf(b, "%s%s)", get ? "" : ", ", value);
    return AXE_OK;
}

/* w from registers of operand i. */
static axe_status
put_gather(axe_speller *p, const axe_lir *l, const axe_arg *a, const char *type)
{
    axe_buf *b = p->out;

    axe_puts(b, " = ");
    if (a->part > 0) {
        axe_putf(b, "(%s)", type);
        AXE_TRY(put_element(p, b, a, true, ""));
        return AXE_OK;
    }
    axe_putf(b, "(%s)(", type);
    for (int j = 0; j < n_word(l); j++) {
        axe_puts(b, j > 0 ? ", " : "");
        AXE_TRY(put_word(p, b, a, j));
    }
    axe_putc(b, ')');
    return AXE_OK;
}

/* Registers of operand i from a vector, or from zero. */
static axe_status
put_scatter(axe_speller *p, const axe_lir *l, const axe_arg *a, bool zero)
{
    axe_buf *b = p->out;

    if (a->part > 0) {
        AXE_TRY(put_element(p, b, a, false, zero ? "0" : "w"));
        axe_putc(b, ';');
        return AXE_OK;
    }
    for (int j = 0; j < n_word(l); j++) {
        axe_puts(b, j > 0 ? " " : "");
        AXE_TRY(put_word(p, b, a, j));
        if (zero)
            axe_puts(b, " = 0;");
        else if (n_word(l) > 1)
            axe_putf(b, " = w.s%x;", (unsigned)j);
    }
    return AXE_OK;
}

static axe_status
put_by_vector(axe_speller *p, const axe_lir *l, const char *type)
{
    const axe_arg *r = reg_of(l);
    bool           load = l->atom->kind == AXE_ATOM_LOAD;
    axe_buf       *b = p->out;

    axe_putf(b, "{ %s w", type);
    if (!load)
        AXE_TRY(put_gather(p, l, r, type));
    axe_puts(b, "; ");
    AXE_TRY(put_text(p, l, type));
    if (load) {
        axe_putc(b, ' ');
        AXE_TRY(put_scatter(p, l, r, false));
    }
    axe_puts(b, " }");
    return AXE_OK;
}

/* "{ float8 w0 = (float8)(r_d[0], ..); .. w0 = ..; r_d[0] = w0.s0; .. }" */
static axe_status
put_matrix(axe_speller *p, const axe_lir *l)
{
    axe_buf *b = p->out;
    int      n[3];

    axe_puts(b, "{ ");
    for (int i = 0; i < 3; i++) {
        AXE_TRY(factor_words(p, l, i, &n[i]));
        const char *type =
            vector_type(p, axe_spell_word_type(l->arg[i].tensor->type), n[i]);
        axe_putf(b, "%s w%d = ", type, i);
        if (n[i] > 1)
            axe_putf(b, "(%s)(", type);
        for (int j = 0; j < n[i]; j++) {
            axe_puts(b, j > 0 ? ", " : "");
            AXE_TRY(put_word(p, b, &l->arg[i], j));
        }
        axe_puts(b, n[i] > 1 ? "); " : "; ");
    }
    AXE_TRY(put_text(p, l, ""));
    for (int j = 0; j < n[0]; j++) {
        axe_putc(b, ' ');
        AXE_TRY(put_word(p, b, &l->arg[0], j));
        if (n[0] > 1)
            axe_putf(b, " = w0.s%x;", (unsigned)j);
        else
            axe_puts(b, " = w0;");
    }
    axe_puts(b, " }");
    return AXE_OK;
}

axe_status
axe_cl_atom(axe_speller *p, const axe_lir *l, int indent)
{
    const char *type = type_of(p, l);
    bool        load = l->atom->kind == AXE_ATOM_LOAD;
    axe_buf    *b = p->out;

    axe_putf(b, "%*s", indent, "");
    if (load && l->pred) {
        AXE_TRY(put_scatter(p, l, reg_of(l), true));
        axe_putf(b, "\n%*s", indent, "");
    }
    if (l->pred) {
        axe_puts(b, "if (");
        AXE_TRY(axe_spell_expr(p, b, l->pred, AXE_SPELL_INDEX));
        axe_puts(b, ") ");
    }
    AXE_TRY(is_matrix(l)                      ? put_matrix(p, l)
            : n_word(l) > 1 || part_of(l) > 0 ? put_by_vector(p, l, type)
                                              : put_text(p, l, type));
    axe_putc(b, '\n');
    return AXE_OK;
}
