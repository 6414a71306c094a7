/* stmt.c - statements of grids in a C dialect: loops, branches, elements. */
#include <inttypes.h>
#include <string.h>

#include "print/spell/spell.h"

static void
indent(axe_speller *p, int depth)
{
    axe_putf(p->out, "%*s", 4 * depth, "");
}

/* ---------------------------------------------------------------- elements */

/* Two elements at once: a word of 16 bits each, or half a word of 8. */
static axe_status
put_pair(axe_speller *p, const axe_lir *l, const axe_var *v)
{
    const axe_arg  *d = &l->arg[0];
    axe_type        t = d->tensor->type;
    const axe_node *x = l->value;
    const char     *pack = axe_textf(p->cx, "pack_%s", axe_type_table[t].name);
    axe_buf        *b = p->out;

    axe_spell_need(p, pack);
    if (axe_type_table[t].bits == 8) {
        axe_spell_need(p, "put16");
        axe_putf(b, "put16(%s, (", axe_spell_tensor(p, d->tensor));
        AXE_TRY(axe_spell_expr(p, b, d->at, AXE_SPELL_INDEX));
        axe_putf(b, ") / 2, %s(", pack);
    } else {
        axe_putf(b, "%s[", axe_spell_tensor(p, d->tensor));
        AXE_TRY(axe_spell_expr(p, b, axe_word_at(p->cx, t, d->at),
                               AXE_SPELL_INDEX));
        axe_putf(b, "] = %s(", pack);
    }
    AXE_TRY(axe_spell_float(p, b, x, t));
    axe_puts(b, ", ");
    p->later = v;
    AXE_TRY(axe_spell_float(p, b, x, t));
    p->later = NULL;
    axe_puts(b, axe_type_table[t].bits == 8 ? "));\n" : ");\n");
    return AXE_OK;
}

static axe_status
put_calc(axe_speller *p, const axe_lir *l)
{
    const axe_arg *d = &l->arg[0];
    axe_type       t = d->tensor->type;
    int            bits = axe_type_table[t].bits;
    axe_buf       *b = p->out;

    if (bits < 8)
        return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s has no registers of type %s", p->d->name,
                        axe_type_table[t].name);
    if (l->pred) {
        axe_puts(b, "if (");
        AXE_TRY(axe_spell_expr(p, b, l->pred, AXE_SPELL_INDEX));
        axe_puts(b, ") ");
    }
    if (bits < 32) {
        const char *put = bits == 16 ? "put16" : "put8";
        axe_spell_need(p, put);
        axe_putf(b, "%s(%s, ", put, axe_spell_tensor(p, d->tensor));
    } else
        axe_putf(b, "%s[", axe_spell_tensor(p, d->tensor));
    AXE_TRY(axe_spell_expr(p, b, d->at, AXE_SPELL_INDEX));
    axe_puts(b, bits < 32 ? ", " : "] = ");
    AXE_TRY(axe_spell_bits(p, b, l->value, t));
    axe_puts(b, bits < 32 ? ");\n" : ";\n");
    return AXE_OK;
}

/* ------------------------------------------------------------------- loops */

static axe_status
put_loop(axe_speller *p, const axe_lir *l, int depth)
{
    axe_buf       *b = p->out;
    axe_index_mark here = axe_index_here(p->ix);
    axe_buf        begin = {.cx = p->cx}, end = {.cx = p->cx};

    AXE_TRY(axe_spell_expr(p, &begin, l->begin, AXE_SPELL_INDEX));
    AXE_TRY(axe_spell_expr(p, &end, l->end, AXE_SPELL_INDEX));
    const char *v = axe_spell_declare(p, l->var);
    axe_index_declare(p->ix, l);
    indent(p, depth);
    axe_puts(b, l->unroll ? "#pragma unroll\n" : "#pragma unroll 1\n");
    indent(p, depth);
    axe_putf(b, "for (%s %s = %s; %s < %s; ", axe_spell_int(p, l->var), v,
             begin.text, v, end.text);
    axe_putf(b, l->step == 1 ? "%s++" : "%s += %" PRId64, v, l->step);
    axe_puts(b, ") {\n");
    for (int i = 0; l->join != AXE_JOIN_NONE && i < l->body.n; i++) {
        indent(p, depth + 1);
        AXE_TRY(l->join == AXE_JOIN_MOVE
                    ? axe_spell_word(p, l->body.item[i])
                    : put_pair(p, l->body.item[i], l->var));
    }
    if (l->join == AXE_JOIN_NONE)
        AXE_TRY(axe_spell_block(p, &l->body, depth + 1));
    indent(p, depth);
    axe_puts(b, "}\n");
    p->n_name--;
    axe_index_leave(p->ix, here);
    return AXE_OK;
}

/* -------------------------------------------------------------- statements */

static axe_status
put_if(axe_speller *p, const axe_lir *l, int depth)
{
    axe_puts(p->out, "if (");
    if (l->elect) {
        axe_spell_need(p, "elected");
        axe_puts(p->out, "elected()");
    } else {
        AXE_TRY(axe_spell_expr(p, p->out, l->value, AXE_SPELL_INDEX));
    }
    axe_puts(p->out, ") {\n");
    AXE_TRY(axe_spell_block(p, &l->body, depth + 1));
    if (l->other.n > 0) {
        indent(p, depth);
        axe_puts(p->out, "} else {\n");
        AXE_TRY(axe_spell_block(p, &l->other, depth + 1));
    }
    indent(p, depth);
    axe_puts(p->out, "}\n");
    return AXE_OK;
}

static axe_status
put_let(axe_speller *p, const axe_lir *l)
{
    axe_index_use   use;
    const axe_node *n = axe_index_let(p->ix, l, &use);
    axe_buf         value = {.cx = p->cx};

    AXE_TRY(axe_spell_expr(p, &value, n,
                           use == AXE_USE_ADDRESS ? AXE_SPELL_ADDRESS
                                                  : AXE_SPELL_INDEX));
    axe_index_declare(p->ix, l);
    axe_putf(p->out, "const %s %s = %s;\n", axe_spell_int(p, l->var),
             axe_spell_declare(p, l->var), value.text);
    return AXE_OK;
}

static axe_status
put_set(axe_speller *p, const axe_lir *l)
{
    axe_putf(p->out, "%s = ", axe_spell_name(p, l->var));
    AXE_TRY(axe_spell_expr(p, p->out, l->value, AXE_SPELL_INDEX));
    axe_puts(p->out, ";\n");
    return AXE_OK;
}

static axe_status
put_stmt(axe_speller *p, const axe_lir *l, int depth)
{
    const char *v;

    indent(p, depth);
    switch (l->kind) {
    case AXE_LIR_BLOCK:
        axe_puts(p->out, "{\n");
        AXE_TRY(axe_spell_block(p, &l->body, depth + 1));
        indent(p, depth);
        axe_puts(p->out, "}\n");
        return AXE_OK;
    case AXE_LIR_IF:
        return put_if(p, l, depth);
    case AXE_LIR_FOREVER:
        axe_puts(p->out, "for (;;) {\n");
        AXE_TRY(axe_spell_block(p, &l->body, depth + 1));
        indent(p, depth);
        axe_puts(p->out, "}\n");
        return AXE_OK;
    case AXE_LIR_BREAK:
        axe_puts(p->out, "break;\n");
        return AXE_OK;
    case AXE_LIR_CONTINUE:
        axe_puts(p->out, "continue;\n");
        return AXE_OK;
    case AXE_LIR_LET:
        return put_let(p, l);
    case AXE_LIR_COUNT:
        axe_index_declare(p->ix, l);
        axe_putf(p->out, "%s %s = 0;\n", axe_spell_int(p, l->var),
                 axe_spell_declare(p, l->var));
        return AXE_OK;
    case AXE_LIR_ADVANCE:
        v = axe_spell_name(p, l->var);
        axe_putf(p->out, "%s = %s + 1 == %" PRId64 " ? 0 : %s + 1;\n", v, v,
                 l->step, v);
        return AXE_OK;
    case AXE_LIR_SET:
        return put_set(p, l);
    case AXE_LIR_CALC:
        return put_calc(p, l);
    case AXE_LIR_NOTE:
        axe_putf(p->out, "/* %s */\n", l->text);
        return AXE_OK;
    case AXE_LIR_TASKS:
    case AXE_LIR_LIST:
    case AXE_LIR_LOOP:
    case AXE_LIR_ATOM:
    case AXE_LIR_TAKE:
    case AXE_LIR_VIEW:
    case AXE_LIR_OP:
        break;
    }
    return axe_fail(p->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s has no spelling for a part of grid %s", p->d->name,
                    p->g->name);
}

axe_status
axe_spell_block(axe_speller *p, const axe_lblock *blk, int depth)
{
    axe_index_mark here = axe_index_here(p->ix);
    int            n_name = p->n_name;

    for (int i = 0; i < blk->n; i++) {
        const axe_lir *l = blk->item[i];
        if (l->kind == AXE_LIR_LOOP)
            AXE_TRY(put_loop(p, l, depth));
        else if (l->kind == AXE_LIR_ATOM)
            AXE_TRY(p->d->atom(p, l, 4 * depth));
        else
            AXE_TRY(put_stmt(p, l, depth));
    }
    p->n_name = n_name;
    axe_index_leave(p->ix, here);
    return AXE_OK;
}
