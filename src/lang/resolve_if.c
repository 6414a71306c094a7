/* resolve_if.c - `if`: deciding it, what is written after it, and the branch
 * that a kernel does not have.
 *
 * A condition is the same for all entities of the scope: integers in scope,
 * compared.  A constant one is decided here; of the other branch only the names
 * are checked, as its shapes and types may make sense only for other values of
 * the compile-time parameters.
 *
 * After an `if` a tensor is written if both branches wrote it. */
#include <string.h>

#include "lang/resolve_int.h"

/* --------------------------------------------- the branch that is not taken */

static void check_body(axe_resolver *r, int n, const axe_syntax *const *s);

static void
check_name(axe_resolver *r, axe_word w, const char *what)
{
    axe_entry *x = axe_names_need(r, w, what);

    if (x)
        x->used = true;
}

static void
check_type(axe_resolver *r, axe_word w)
{
    axe_type type;

    if (!axe_type_find(w.name, &type))
        check_name(r, w, "type");
}

static void
check_expr(axe_resolver *r, const axe_expr *e)
{
    bool builtin = axe_name_is_builtin(e->word.name ? e->word.name : "");

    if (e->kind == AXE_EXPR_NAME && !builtin)
        check_name(r, e->word, "name");
    if (e->kind == AXE_EXPR_LOAD)
        check_name(r, e->word, "tensor");
    if (e->kind == AXE_EXPR_CALL && !builtin)
        check_name(r, e->word, "function");
    if (e->kind == AXE_EXPR_ACCUM)
        check_type(r, e->word);
    for (int i = 0; i < e->n_over; i++)
        check_name(r, *e->over[i], "index");
    for (int i = 0; i < e->n_arg; i++)
        check_expr(r, e->arg[i]);
}

static void
check_tensor(axe_resolver *r, const axe_tensor_decl *d, axe_word word)
{
    check_type(r, d->type.word);
    for (int k = 0; k < d->n_dim; k++)
        check_expr(r, d->dim[k]);
    if (d->init)
        check_expr(r, d->init);
    axe_names_add(r, AXE_ENTRY_TENSOR, word);
}

static void
check_ranges(axe_resolver *r, const axe_syntax *x)
{
    for (int i = 0; i < x->n_range; i++) {
        check_expr(r, x->range[i]->count);
        if (x->range[i]->by)
            check_expr(r, x->range[i]->by);
        axe_names_add(r, AXE_ENTRY_VAR, x->range[i]->word);
    }
}

/* What x declares stays known to the end of its block. */
static void
check_one(axe_resolver *r, const axe_syntax *x)
{
    int mark = r->names.n;

    if (x->kind == AXE_SYNTAX_PRODUCE || x->kind == AXE_SYNTAX_CONSUME)
        check_name(r, x->word, "pipeline");
    if (x->dst)
        check_expr(r, x->dst);
    if (x->value)
        check_expr(r, x->value);
    if (x->kind == AXE_SYNTAX_CALL)
        check_name(r, x->word, "fn");
    for (int i = 0; i < x->n_arg; i++)
        check_expr(r, x->arg[i]);
    check_ranges(r, x);
    check_body(r, x->n_body, x->body);
    check_body(r, x->n_other, x->other);
    r->names.n = mark;
    for (int i = 0; i < x->n_word; i++)
        axe_names_add(r, AXE_ENTRY_INDEX, *x->words[i]);
    if (x->kind == AXE_SYNTAX_CONST)
        axe_names_add(r, AXE_ENTRY_CONST, x->word);
    if (x->kind == AXE_SYNTAX_LAYOUT)
        axe_names_add(r, AXE_ENTRY_LAYOUT, x->word);
    if (x->kind == AXE_SYNTAX_PIPELINE)
        axe_names_add(r, AXE_ENTRY_PIPELINE, x->word);
    for (int i = 0; i < x->n_tensor; i++) {
        axe_word w = x->tensor[i]->word;
        check_tensor(r, x->tensor[i],
                     x->kind == AXE_SYNTAX_PIPELINE
                         ? axe_member_name(r, x->word, w)
                         : w);
    }
}

static void
check_body(axe_resolver *r, int n, const axe_syntax *const *s)
{
    int mark = r->names.n;

    for (int i = 0; i < n; i++)
        check_one(r, s[i]);
    r->names.n = mark;
}

/* -------------------------------------------------------------- conditions */

/* The first part that is neither an integer nor a comparison, or NULL. */
static const axe_node *
not_uniform(const axe_node *n)
{
    const axe_node *found;

    if (n->op == AXE_OP_cast ||
        (n->type != AXE_TYPE_bool && n->type != AXE_TYPE_INDEX))
        return n;
    for (int i = 0; i < n->n_arg; i++) {
        found = not_uniform(n->arg[i]);
        if (found)
            return found;
    }
    return NULL;
}

static const axe_node *
resolve_condition(axe_resolver *r, const axe_expr *e)
{
    axe_typed       v = axe_resolve_value(r, e, AXE_NO_TYPE);
    const axe_node *odd;

    if (!v.node)
        return NULL;
    if (v.node->type != AXE_TYPE_bool) {
        axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                     "`%s` is %s, but `if` needs a condition",
                                     axe_node_text(r->cx, v.node),
                                     axe_type_text(v.node->type)));
        return NULL;
    }
    odd = not_uniform(v.node);
    if (!odd)
        return v.node;
    axe_resolve_fail(r, axe_fail(r->cx, odd->at, AXE_EUNSUPPORTED,
                                 "`%s` cannot be part of a condition of `if`, "
                                 "which compares integers",
                                 axe_node_text(r->cx, odd)));
    return NULL;
}

/* ---------------------------------------------------------------- branches */

static void
get_written(const axe_resolver *r, int n, bool *out)
{
    for (int i = 0; i < n; i++)
        out[i] = ((const axe_entry *)r->names.item[i])->written;
}

static void
set_written(axe_resolver *r, int n, const bool *in)
{
    for (int i = 0; i < n; i++)
        ((axe_entry *)r->names.item[i])->written = in[i];
}

static void
resolve_branches(axe_resolver *r, const axe_syntax *x, axe_list *body,
                 axe_list *other)
{
    int   n = r->names.n;
    bool *before = axe_new_array(r->cx, bool, n);
    bool *after = axe_new_array(r->cx, bool, n);

    get_written(r, n, before);
    axe_resolve_body(r, x->n_body, x->body, body);
    get_written(r, n, after);
    set_written(r, n, before);
    axe_resolve_body(r, x->n_other, x->other, other);
    get_written(r, n, before);
    for (int i = 0; i < n; i++)
        before[i] = before[i] && after[i];
    set_written(r, n, before);
}

static void
resolve_decided(axe_resolver *r, const axe_syntax *x, bool holds, axe_list *out)
{
    if (!holds)
        check_body(r, x->n_body, x->body);
    axe_resolve_body(r, holds ? x->n_body : x->n_other,
                     holds ? x->body : x->other, out);
    if (holds)
        check_body(r, x->n_other, x->other);
}

void
axe_resolve_if(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    const axe_node *cond = resolve_condition(r, x->value);
    axe_list        body = {.cx = r->cx}, other = {.cx = r->cx};
    axe_stmt       *s = axe_new(r->cx, axe_stmt);
    int64_t         v;

    if (cond && axe_is_iconst(cond, &v)) {
        resolve_decided(r, x, v != 0, out);
        return;
    }
    resolve_branches(r, x, &body, &other);
    s->kind = AXE_STMT_IF;
    s->at = x->at;
    s->cond = cond;
    s->n_body = body.n;
    s->body = (axe_stmt *const *)(const void *)body.item;
    s->n_other = other.n;
    s->other = (axe_stmt *const *)(const void *)other.item;
    if (cond)
        axe_list_push(out, s);
}
