/* parse_mesh.c - what tensors say of devices. */
#include <string.h>

#include "lang/parse_int.h"

static bool
parse_names(axe_parser *p, axe_list *out)
{
    do {
        axe_word *w = axe_new(p->cx, axe_word);

        if (!axe_parse_word(p, "an axis of the mesh", w))
            return false;
        axe_list_push(out, w);
    } while (axe_parse_take(p, AXE_TOK_comma));
    return true;
}

/* axes = NAME | "(" NAME { "," NAME } ")" */
bool
axe_parse_axes(axe_parser *p, axe_list *out)
{
    axe_word *w;

    if (axe_parse_take(p, AXE_TOK_lparen))
        return parse_names(p, out) &&
               axe_parse_need(p, AXE_TOK_rparen, "after the axes");
    w = axe_new(p->cx, axe_word);
    axe_list_push(out, w);
    return axe_parse_word(p, "an axis of the mesh", w);
}

static bool
is_at(const axe_token *t)
{
    return t[0].kind == AXE_TOK_name && strcmp(t[0].name, "at") == 0 &&
           t[1].kind == AXE_TOK_name;
}

bool
axe_parse_is_held(const axe_parser *p)
{
    return p->tok[0].kind == AXE_TOK_colon &&
           (p->tok[1].kind == AXE_TOK_partial || is_at(p->tok + 1));
}

/* NAME "=" value { "," NAME "=" value }; in a list of arguments a `,` may be
 * that of the next one. */
static bool
parse_at(axe_parser *p, axe_tensor_decl *t)
{
    axe_list at = {.cx = p->cx}, coordinate = {.cx = p->cx};

    do {
        axe_word       *w = axe_new(p->cx, axe_word);
        const axe_expr *e;

        if (!axe_parse_word(p, "an axis of the mesh", w) ||
            !axe_parse_need(p, AXE_TOK_eq, "before the coordinate") ||
            !(e = axe_parse_value(p)))
            return false;
        axe_list_push(&at, w);
        axe_list_push(&coordinate, e);
    } while (p->tok[1].kind == AXE_TOK_name && p->tok[2].kind == AXE_TOK_eq &&
             axe_parse_take(p, AXE_TOK_comma));
    t->n_at = at.n;
    t->at = (const axe_word *const *)at.item;
    t->coordinate = (const axe_expr *const *)coordinate.item;
    return true;
}

/* held = ":" ( at [ "+" partial ] | partial )
 * partial = "partial" "(" NAME { "," NAME } ")" */
bool
axe_parse_held(axe_parser *p, axe_tensor_decl *t)
{
    axe_list partial = {.cx = p->cx};

    p->tok++;
    p->meshed = true;
    if (is_at(p->tok)) {
        p->tok++;
        if (!parse_at(p, t))
            return false;
        if (!axe_parse_take(p, AXE_TOK_plus))
            return true;
    }
    if (!axe_parse_need(p, AXE_TOK_partial, "with the axes of addends") ||
        !axe_parse_need(p, AXE_TOK_lparen, "before the axes") ||
        !parse_names(p, &partial) ||
        !axe_parse_need(p, AXE_TOK_rparen, "after the axes"))
        return false;
    t->n_partial = partial.n;
    t->partial = (const axe_word *const *)partial.item;
    return true;
}
