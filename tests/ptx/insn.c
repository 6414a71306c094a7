/* insn.c - instructions and their operands, by the tables of words.def. */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

static const ptx_type type_table[] = {
#define TYPE(name, kind, bits) {#name, kind, bits},
#include "words.def"
};

static const ptx_op op_table[] = {
#define LANE false
#define WARP true
#define OP(name, run, how) {name, run, how, N_STREAM},
#define GROUPS(name, run, how, stream) {name, run, how, stream},
#include "words.def"
};

static const struct {
    ptx_word    word;
    const char *text;
} word_table[] = {
#define WORD(name, text) {W_##name, text},
#define SAME(name, text) {W_##name, text},
#include "words.def"
};

/* ----------------------------------------------------------------- operands */

static const struct {
    const char *name;
    ptx_special what;
} special[] = {
    {"%tid.x", S_TID},       {"%tid.y", S_ZERO},   {"%tid.z", S_ZERO},
    {"%ctaid.x", S_CTAID},   {"%ctaid.y", S_ZERO}, {"%ctaid.z", S_ZERO},
    {"%nctaid.x", S_NCTAID}, {"%ntid.x", S_NTID},  {"%cluster_ctarank", S_RANK},
    {"%laneid", S_LANE}};

static bool
find_register(const reader *r, const char *text, ptx_operand *out)
{
    for (int i = r->n_name - 1; i >= 0; i--) {
        const declared *d = &r->names[i];
        size_t          n = strlen(d->name);
        char           *end;
        long            at;
        if (strncmp(d->name, text, n) != 0)
            continue;
        if (d->n == 0 && text[n])
            continue;
        at = d->n > 0 && isdigit((unsigned char)text[n])
                 ? strtol(text + n, &end, 10)
                 : 0;
        if (d->n > 0 &&
            (!isdigit((unsigned char)text[n]) || *end || at >= d->n))
            continue;
        *out = (ptx_operand){O_REG, d->bits, false,
                             (uint64_t)d->first + (uint64_t)at};
        return true;
    }
    return false;
}

ptx_operand
read_operand(reader *r, const char *text)
{
    ptx_operand o = {.kind = O_NONE};

    if (strcmp(text, "_") == 0 || find_register(r, text, &o))
        return o;
    for (size_t i = 0; i < LEN(special); i++)
        if (strcmp(text, special[i].name) == 0)
            return (ptx_operand){O_SPECIAL, 32, false, special[i].what};
    for (int i = 0; i < r->k->n_param; i++)
        if (strcmp(text, r->k->param[i].name) == 0)
            return (ptx_operand){O_PARAM, 64, false,
                                 (uint64_t)r->k->param[i].at};
    if (strcmp(text, "shared") == 0)
        return (ptx_operand){O_NUMBER, 32, false, SHARED_BASE};
    read_fail(r, "'%s' is not declared", text);
    return o;
}

static void
operand(reader *r)
{
    char        text[MAX_NAME];
    bool        negated;
    ptx_operand o;

    read_skip(r);
    if (isdigit((unsigned char)*r->s) || strchr("-~(", *r->s)) {
        o = (ptx_operand){O_NUMBER, 64, false, read_number(r, 0)};
    } else {
        negated = read_eat(r, '!');
        o = read_operand(r, read_word(r, text, "."));
        o.negated = negated;
    }
    if (r->n_op == MAX_OPERAND)
        read_fail(r, "too many operands");
    else
        r->op[r->n_op++] = o;
}

static void
list(reader *r)
{
    if (!read_eat(r, '{')) {
        operand(r);
        return;
    }
    do
        operand(r);
    while (read_eat(r, ',') && !r->bad);
    read_want(r, '}');
}

static void
argument(reader *r, ptx_insn *i)
{
    ptx_arg *a = &i->arg[i->n_arg];
    int      first = r->n_op;

    if (i->n_arg == MAX_ARG) {
        read_fail(r, "too many operands");
        return;
    }
    i->n_arg++;
    a->memory = read_eat(r, '[');
    list(r);
    if (a->memory && read_eat(r, '+'))
        a->offset = (int64_t)read_number(r, 0);
    while (a->memory && read_eat(r, ',') && !r->bad)
        list(r);
    if (a->memory)
        read_want(r, ']');
    else if (read_eat(r, '|'))
        operand(r);
    a->n = r->n_op - first;
}

/* ------------------------------------------------------------- instructions */

static bool
shape_word(ptx_insn *i, const char *w)
{
    int n = 0;

    if (sscanf(w, "m%dn%dk%d%n", &i->m, &i->n, &i->k, &n) == 3 && !w[n])
        return true;
    if (sscanf(w, "m%dn%d%n", &i->m, &i->n, &n) == 2 && !w[n])
        return true;
    if (sscanf(w, "v%d%n", &i->vec, &n) == 1 && !w[n])
        return true;
    if (sscanf(w, "x%d%n", &i->count, &n) == 1 && !w[n])
        return true;
    return sscanf(w, "%dd%n", &i->dims, &n) == 1 && n > 0 && !w[n];
}

static void
modifier(reader *r, ptx_insn *i, const char *w)
{
    for (size_t t = 0; t < LEN(type_table); t++)
        if (strcmp(w, type_table[t].name) == 0 && i->n_type < MAX_TYPE) {
            i->type[i->n_type++] = &type_table[t];
            return;
        }
    for (size_t t = 0; t < LEN(word_table); t++)
        if (strcmp(w, word_table[t].text) == 0) {
            i->words |= UINT64_C(1) << word_table[t].word;
            return;
        }
    if (!shape_word(i, w))
        read_fail(r, "modifier '.%s' is not known", w);
}

/* The row whose words `text` begins with, and what is left. */
static const ptx_op *
find_op(const char *text, const char **rest)
{
    for (size_t i = 0; i < LEN(op_table); i++) {
        size_t n = strlen(op_table[i].name);
        if (strncmp(text, op_table[i].name, n) == 0 &&
            (text[n] == '.' || text[n] == '\0')) {
            *rest = text + n;
            return &op_table[i];
        }
    }
    return NULL;
}

static void
name_op(reader *r, ptx_insn *i)
{
    char        text[256], one[MAX_NAME];
    const char *rest;
    int         n = 0;

    read_skip(r);
    while (n < 255 && (read_in_word(*r->s) || *r->s == '.' || *r->s == ':'))
        text[n++] = *r->s++;
    text[n] = '\0';
    i->op = find_op(text, &rest);
    if (!i->op) {
        read_fail(r, "instruction '%s' is not known", text);
        return;
    }
    while (*rest == '.' && !r->bad) {
        size_t m = strcspn(++rest, ".");
        snprintf(one, sizeof one, "%.*s", (int)m, rest);
        modifier(r, i, one);
        rest += m;
    }
}

static void
note_jump(reader *r)
{
    label *j;

    r->jump = read_grow(r->jump, r->n_jump, sizeof *r->jump);
    j = &r->jump[r->n_jump++];
    read_word(r, j->name, "");
    j->at = r->k->n_insn;
}

static void
keep_operands(reader *r, ptx_insn *i)
{
    ptx_operand *all =
        i->n_arg > 0 ? calloc((size_t)r->n_op + 1, sizeof *all) : NULL;

    if (i->n_arg == 0)
        return;
    if (!all)
        abort();
    i->operands = all;
    memcpy(all, r->op, (size_t)r->n_op * sizeof *all);
    for (int a = 0; a < i->n_arg; a++) {
        i->arg[a].op = all;
        all += i->arg[a].n;
    }
}

void
read_instruction(reader *r)
{
    ptx_insn    i = {.guard = -1, .vec = 1, .count = 1};
    ptx_operand o;
    char        text[MAX_NAME];
    const char *begin;

    read_skip(r);
    begin = r->s;
    i.line = r->line;
    r->n_op = 0;
    if (read_eat(r, '@')) {
        i.guard_not = read_eat(r, '!');
        o = read_operand(r, read_word(r, text, ""));
        i.guard = (int)o.value;
    }
    name_op(r, &i);
    read_skip(r);
    if (!r->bad && strcmp(i.op->name, "bra") == 0)
        note_jump(r);
    else
        while (!r->bad && *r->s != ';') {
            argument(r, &i);
            if (!read_eat(r, ','))
                break;
        }
    i.text = strndup(begin, (size_t)(r->s - begin));
    read_want(r, ';');
    keep_operands(r, &i);
    r->k->insn = read_grow(r->k->insn, r->k->n_insn, sizeof i);
    r->k->insn[r->k->n_insn++] = i;
}

const ptx_type *
ptx_type_of(const char *name)
{
    for (size_t i = 0; i < LEN(type_table); i++)
        if (strcmp(type_table[i].name, name) == 0)
            return &type_table[i];
    return NULL;
}
