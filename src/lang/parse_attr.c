/* parse_attr.c - what stands behind an index statement: keys of attrs.def. */
#include <string.h>

#include "lang/parse_int.h"

static bool
unknown(axe_parser *p)
{
    const char *known[AXE_N_ATTR], *near;
    int         n = 0;

    for (int k = 0; k < AXE_N_ATTR; k++)
        if (k != AXE_ATTR_atom)
            known[n++] = axe_attr_table[k].name;
    axe_parse_fail(p, axe_fail(p->cx, p->tok->at, AXE_ENAME,
                               "`%s` is no key of a statement", p->tok->name));
    near = axe_nearest(p->tok->name, n, known);
    if (near)
        axe_help(p->cx, "did you mean `%s`?", near);
    return false;
}

/* "=" expr, or "=" "(" expr "," expr ")"; of a key without values, one that
 * says whether it is there. */
static bool
parse_values(axe_parser *p, int n, axe_attr_syntax *a)
{
    if (n == 0)
        return !axe_parse_take(p, AXE_TOK_eq) ||
               (a->value[0] = axe_parse_expr(p)) != NULL;
    if (!axe_parse_need(p, AXE_TOK_eq, "and a value behind the key"))
        return false;
    if (n > 1 && !axe_parse_need(p, AXE_TOK_lparen, "before the two values"))
        return false;
    for (int i = 0; i < n; i++) {
        if (i > 0 && !axe_parse_need(p, AXE_TOK_comma, "between the values"))
            return false;
        a->value[i] = axe_parse_expr(p);
        if (!a->value[i])
            return false;
    }
    return n == 1 || axe_parse_need(p, AXE_TOK_rparen, "after the values");
}

/* A word on the next line that is no key is the next statement's, and this
 * one's `;` is missing. */
static bool
begins_attr(const axe_parser *p)
{
    axe_attr_key key;

    if (p->tok->kind == AXE_TOK_via || p->tok->kind == AXE_TOK_slow)
        return true;
    return p->tok->kind == AXE_TOK_name && p->tok[1].kind != AXE_TOK_lbracket &&
           (p->tok->at.line == p->tok[-1].at.line ||
            axe_attr_find(p->tok->name, &key));
}

bool
axe_parse_attrs(axe_parser *p, axe_syntax *s)
{
    axe_list list = {.cx = p->cx};
    axe_word via = {NULL, AXE_NOWHERE};

    while (begins_attr(p)) {
        axe_attr_syntax *a = axe_new(p->cx, axe_attr_syntax);
        if (!axe_attr_find(p->tok->name, &a->key))
            return unknown(p);
        a->at = p->tok++->at;
        if (a->key == AXE_ATTR_via) {
            if (!axe_parse_word(p, "a schedule's name", &via))
                return false;
            s->via = via.name;
        } else if (a->key == AXE_ATTR_slow)
            s->slow = true;
        else if (!parse_values(p, axe_attr_table[a->key].n_value, a))
            return false;
        else
            axe_list_push(&list, a);
    }
    s->n_attr = list.n;
    s->attr = (const axe_attr_syntax *const *)(const void *)list.item;
    return true;
}
