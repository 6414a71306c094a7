/* macro.c - functions that are written in others, by their definition. */
#include <string.h>

#include "lang/resolve_int.h"

static const struct {
    const char *name;
    int         n_arg;
} macros[] = {{"clamp", 3}, {"sigmoid", 1}};

int
axe_macro_args(const char *name)
{
    for (int i = 0; i < AXE_LEN(macros); i++)
        if (strcmp(macros[i].name, name) == 0)
            return macros[i].n_arg;
    return -1;
}

const char *
axe_macro_name(int i)
{
    return i < AXE_LEN(macros) ? macros[i].name : NULL;
}

static const axe_expr *
op(axe_resolver *r, axe_op o, axe_span at, int n, const axe_expr *a,
   const axe_expr *b)
{
    axe_expr        *e = axe_new(r->cx, axe_expr);
    const axe_expr **arg = axe_new_array(r->cx, const axe_expr *, 2);

    arg[0] = a;
    arg[1] = b;
    *e = (axe_expr){
        .kind = AXE_EXPR_OP, .at = at, .op = o, .n_arg = n, .arg = arg};
    return e;
}

const axe_expr *
axe_macro(axe_resolver *r, const axe_expr *e)
{
    axe_expr       *one = axe_new(r->cx, axe_expr);
    const axe_expr *x = e->arg[0];

    if (strcmp(e->word.name, "clamp") == 0)
        return op(r, AXE_OP_min, e->at, 2,
                  op(r, AXE_OP_max, e->at, 2, x, e->arg[1]), e->arg[2]);
    *one = (axe_expr){.kind = AXE_EXPR_FLOAT, .at = e->at, .f = 1};
    x = op(r, AXE_OP_exp, e->at, 1, op(r, AXE_OP_neg, e->at, 1, x, NULL), NULL);
    return op(r, AXE_OP_div, e->at, 2, one,
              op(r, AXE_OP_add, e->at, 2, one, x));
}
