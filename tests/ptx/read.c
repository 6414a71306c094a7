/* read.c - the text of PTX to kernels.
 *
 * A body is statements that end in `;`, labels, and scopes in braces with
 * registers of their own, as inline assembly opens them.  What is not known is
 * an error with the statement: nothing is skipped but what says nothing about
 * the result (.pragma, .loc). */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

/* --------------------------------------------------------------- statements */

static void
declare(reader *r)
{
    char      text[MAX_NAME];
    int       bits = 1;
    declared *d;

    read_word(r, text, ".");
    if (strcmp(text, ".pred") != 0)
        bits = atoi(text + 2);
    do {
        r->names = read_grow(r->names, r->n_name, sizeof *r->names);
        d = &r->names[r->n_name++];
        *d = (declared){.bits = bits, .first = r->k->n_reg, .scope = r->scope};
        read_word(r, d->name, "");
        if (read_eat(r, '<')) {
            d->n = (int)read_number(r, 4);
            read_want(r, '>');
        }
        r->k->n_reg += d->n > 0 ? d->n : 1;
    } while (read_eat(r, ',') && !r->bad);
    read_want(r, ';');
}

static bool
is_label(const reader *r)
{
    const char *s = r->s;

    while (read_in_word(*s))
        s++;
    return s > r->s && *s == ':' && s[1] != ':';
}

static void
note_label(reader *r)
{
    r->label = read_grow(r->label, r->n_label, sizeof *r->label);
    read_word(r, r->label[r->n_label].name, "");
    r->label[r->n_label++].at = r->k->n_insn;
    read_want(r, ':');
}

static void
directive(reader *r)
{
    char text[MAX_NAME];

    read_word(r, text, ".");
    if (strcmp(text, ".reg") == 0)
        declare(r);
    else if (strcmp(text, ".pragma") == 0 || strcmp(text, ".loc") == 0)
        r->s += strcspn(r->s, ";\n") + 1;
    else
        read_fail(r, "'%s' is not known", text);
}

static void
body(reader *r)
{
    read_want(r, '{');
    for (r->scope = 1; r->scope > 0 && !r->bad;) {
        read_skip(r);
        if (*r->s == '\0')
            read_fail(r, "the text ends in a kernel");
        else if (read_eat(r, '{'))
            r->scope++;
        else if (read_eat(r, '}')) {
            while (r->n_name > 0 && r->names[r->n_name - 1].scope == r->scope)
                r->n_name--;
            r->scope--;
        } else if (*r->s == '.')
            directive(r);
        else if (is_label(r))
            note_label(r);
        else if (!read_eat(r, ';'))
            read_instruction(r);
    }
}

static void
join(reader *r)
{
    for (int j = 0; j < r->n_jump && !r->bad; j++) {
        int l = r->n_label - 1;
        while (l >= 0 && strcmp(r->label[l].name, r->jump[j].name) != 0)
            l--;
        if (l < 0)
            read_fail(r, "there is no label '%s'", r->jump[j].name);
        else
            r->k->insn[r->jump[j].at].target = r->label[l].at;
    }
}

/* ------------------------------------------------------------------ kernels */

/* `.param .align 64 .b8 name[128]`, `.param .u64 .ptr .global .align 1 name` */
static void
parameter(reader *r)
{
    ptx_kernel *k = r->k;
    ptx_param  *p = &k->param[k->n_param];
    char        text[MAX_NAME];
    int         align = 0;
    bool        pointer = false; /* what follows is of what it points to */

    if (k->n_param == (int)LEN(k->param)) {
        read_fail(r, "too many parameters");
        return;
    }
    k->n_param++;
    while (!r->bad && *read_word(r, text, ".") == '.') {
        int n = strcmp(text, ".align") == 0 ? (int)read_number(r, 0) : 0;
        if (strcmp(text, ".ptr") == 0)
            pointer = true;
        else if (n > 0)
            align = pointer ? align : n;
        else if (isdigit((unsigned char)text[2]))
            p->bytes = atoi(text + 2) / 8;
    }
    memcpy(p->name, text, sizeof text);
    if (read_eat(r, '[')) {
        p->bytes *= (int)read_number(r, 0);
        read_want(r, ']');
    }
    align = align > p->bytes || align == 0 ? p->bytes : align;
    if (align <= 0)
        read_fail(r, "parameter %s has no size", p->name);
    else
        p->at = (k->param_bytes + align - 1) / align * align;
    k->param_bytes = p->at + p->bytes;
}

static void
head(reader *r)
{
    char text[MAX_NAME];
    int  n;

    read_word(r, r->k->name, "");
    read_want(r, '(');
    while (!r->bad && !read_eat(r, ')')) {
        parameter(r);
        read_eat(r, ',');
    }
    for (read_skip(r); *r->s == '.' && !r->bad; read_skip(r)) {
        read_word(r, text, ".");
        read_skip(r);
        n = isdigit((unsigned char)*r->s) ? (int)read_number(r, 0) : 0;
        while (read_eat(r, ','))
            n *= (int)read_number(r, 0);
        if (strcmp(text, ".maxntid") == 0 || strcmp(text, ".reqntid") == 0)
            r->k->most_threads = n;
        else if (strcmp(text, ".reqnctapercluster") == 0)
            r->k->cluster = n;
    }
}

static void
kernel(reader *r)
{
    r->k = calloc(1, sizeof *r->k);
    if (!r->k)
        abort();
    r->k->cluster = 1;
    r->n_name = r->n_label = r->n_jump = 0;
    head(r);
    body(r);
    join(r);
}

void
ptx_free(ptx_kernel *k)
{
    while (k) {
        ptx_kernel *next = k->next;
        for (int i = 0; i < k->n_insn; i++) {
            free(k->insn[i].text);
            free(k->insn[i].operands);
        }
        free(k->insn);
        free(k);
        k = next;
    }
}

ptx_kernel *
ptx_read(const char *text, char *said, size_t n_said)
{
    reader     *r = calloc(1, sizeof *r);
    ptx_kernel *all = NULL;
    bool        bad;

    if (!r)
        abort();
    r->s = text;
    r->line = 1;
    r->said = said;
    r->n_said = n_said;
    while (*r->s && !r->bad) {
        const char *entry = strstr(r->s, ".entry ");
        const char *function = strstr(r->s, ".func ");
        if (function && (!entry || function < entry))
            read_fail(r, "functions are not known");
        if (!entry || r->bad)
            break;
        for (; r->s < entry; r->s++)
            r->line += *r->s == '\n';
        r->s += strlen(".entry ");
        kernel(r);
        r->k->next = all;
        all = r->k;
    }
    if (!all)
        read_fail(r, "there is no kernel");
    bad = r->bad;
    free(r->names);
    free(r->label);
    free(r->jump);
    free(r);
    if (!bad)
        return all;
    ptx_free(all);
    return NULL;
}
