/* text_names.c - names in the text of a kernel, which are to be different.
 *
 * Planners make copies of indices and tiles that keep their names. */
#include <string.h>

#include "ir/text_int.h"

static bool
is_index_taken(const axe_names *u, const char *name)
{
    for (int i = 0; i < u->n_index; i++)
        if (strcmp(u->var[u->index[i]->id], name) == 0)
            return true;
    return false;
}

static void
note_var(axe_names *u, const axe_var *v)
{
    const char *name = v->name;

    if (v->kind != AXE_VAR_INDEX || u->var[v->id])
        return;
    for (int i = 1; is_index_taken(u, name); i++)
        name = axe_textf(u->cx, "%s.%d", v->name, i);
    u->var[v->id] = name;
    u->index[u->n_index++] = v;
}

static void
note_node(void *user, const axe_node *n)
{
    if (n->op == AXE_OP_reduce)
        for (int i = 0; i < n->u.reduce.n_over; i++)
            note_var(user, n->u.reduce.over[i]);
}

static void
note_body(axe_names *u, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < body[i]->n_dim; k++)
            note_var(u, body[i]->dim[k].var);
        if (body[i]->kind == AXE_STMT_INDEX)
            axe_node_walk(body[i]->value, note_node, u);
        note_body(u, body[i]->n_body, body[i]->body);
        note_body(u, body[i]->n_other, body[i]->other);
    }
}

axe_names
axe_names_of(axe_ctx *cx, const axe_kernel *k)
{
    axe_names u = {.cx = cx, .visible = {.cx = cx}};

    u.index = axe_new_array(cx, const axe_var *, k->n_var + 1);
    u.var = axe_new_array(cx, const char *, k->n_var + 1);
    u.tensor = axe_new_array(cx, const char *, k->n_tensor + 1);
    note_body(&u, k->n_body, k->body);
    return u;
}

static bool
is_visible(const axe_names *u, const char *name)
{
    for (int i = 0; i < u->visible.n; i++)
        if (strcmp(u->visible.item[i], name) == 0)
            return true;
    return false;
}

void
axe_names_declare(axe_names *u, const axe_tensor *t)
{
    const char *name = t->name;

    for (int i = 1; is_visible(u, name); i++)
        name = axe_textf(u->cx, "%s.%d", t->name, i);
    u->tensor[t->id] = name;
    axe_list_push(&u->visible, name);
}
