/* resolve_if.c - `if`: deciding it, what is written after it, and the branch
 * that a kernel does not have.
 *
 * A condition over integers in scope stands as it is; one that reads elements
 * is held in a tile of one bool first.  A constant one is decided here; of the
 * other branch only the names are checked, as its shapes and types may make
 * sense only for other values of the compile-time parameters.
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
        const axe_range      *g = x->range[i];
        const axe_expr *const part[] = {g->from, g->count, g->by, g->step};
        for (int k = 0; k < AXE_LEN(part); k++)
            if (part[k])
                check_expr(r, part[k]);
        if (g->word.name)
            axe_names_add(r, AXE_ENTRY_VAR, g->word);
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

/* Integers in scope, compared: the same for all, and known without reading. */
static bool
is_uniform(const axe_node *n)
{
    if (n->op == AXE_OP_cast || n->op == AXE_OP_load ||
        n->op == AXE_OP_reduce ||
        (n->type != AXE_TYPE_bool && n->type != AXE_TYPE_INDEX))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_uniform(n->arg[i]))
            return false;
    return true;
}

static void
find_index(void *user, const axe_node *n)
{
    const axe_node **found = user;

    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX)
        *found = n;
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (*found && (*found)->u.var == n->u.reduce.over[i])
            *found = NULL;
}

bool
axe_resolve_no_index(axe_resolver *r, const axe_node *n, const char *where)
{
    const axe_node *index = NULL;

    axe_node_walk(n, find_index, &index);
    if (!index)
        return true;
    axe_resolve_fail(r, axe_fail(r->cx, index->at, AXE_ETYPE,
                                 "index `%s` has no value in %s",
                                 index->u.var->name, where));
    axe_help(r->cx, "an index has values only in index statements");
    return false;
}

/* A tile of one bool, set by the condition. */
const axe_node *
axe_resolve_hold(axe_resolver *r, const axe_node *cond, axe_list *out)
{
    axe_tensor *t = axe_new(r->cx, axe_tensor);
    axe_stmt *decl = axe_new(r->cx, axe_stmt), *set = axe_new(r->cx, axe_stmt);
    const char *name = axe_intern(r->cx, "cond", 4);

    t->name = axe_names_fresh(r, name, AXE_NAMED_TILE);
    t->at = cond->at;
    t->id = r->kernel->n_tensor++;
    t->space = AXE_SPACE_REG;
    t->type = AXE_TYPE_bool;
    decl->kind = AXE_STMT_TENSOR;
    decl->at = cond->at;
    decl->tensor = t;
    set->kind = AXE_STMT_INDEX;
    set->at = cond->at;
    set->dst = axe_load(r->cx, cond->at, t, NULL);
    set->value = cond;
    set = axe_resolve_finish(r, set);
    if (!set)
        return NULL;
    axe_list_push(out, decl);
    axe_list_push(out, set);
    return set->dst;
}

const axe_node *
axe_resolve_condition(axe_resolver *r, const axe_expr *e, const char *what,
                      axe_list *out)
{
    axe_expr  place = {.kind = AXE_EXPR_INT};
    axe_typed v;

    r->dst = &place;
    r->value = e;
    v = axe_resolve_value(r, e, AXE_NO_TYPE);
    r->dst = r->value = NULL;
    if (!v.node)
        return NULL;
    if (v.node->type != AXE_TYPE_bool) {
        axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                     "`%s` is %s, but `%s` needs a condition",
                                     axe_node_text(r->cx, v.node),
                                     axe_type_text(v.node->type), what));
        return NULL;
    }
    if (!axe_resolve_no_index(r, v.node,
                              axe_textf(r->cx, "a condition of `%s`", what)))
        return NULL;
    return is_uniform(v.node) ? v.node : axe_resolve_hold(r, v.node, out);
}

/* ---------------------------------------------------------------- branches */

/* A tensor counts as written where both branches wrote it; one of a pipeline,
 * which is read when a stage is full, where every `produce` did. */
static void
resolve_branches(axe_resolver *r, const axe_syntax *x, axe_holds h,
                 axe_list *body, axe_list *other)
{
    int   n = r->names.n;
    bool *before = axe_written_get(r, n), *after, *both, left;

    r->holds = h.cond ? &h : h.up;
    axe_resolve_body(r, x->n_body, x->body, body);
    h.no = true;
    left = r->gone_away;
    r->gone_away = false;
    after = axe_written_get(r, n);
    for (int i = 0; i < n; i++)
        if (((const axe_entry *)r->names.item[i])->pipeline)
            before[i] = after[i];
    axe_written_set(r, n, before);
    axe_resolve_body(r, x->n_other, x->other, other);
    r->holds = h.up;
    r->gone_away = r->gone_away && left;
    both = axe_written_get(r, n);
    for (int i = 0; i < n; i++)
        both[i] = both[i] &&
                  (after[i] || ((const axe_entry *)r->names.item[i])->pipeline);
    axe_written_set(r, n, both);
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
    const axe_node *cond;
    axe_list        body = {.cx = r->cx}, other = {.cx = r->cx};
    axe_stmt       *s = axe_new(r->cx, axe_stmt);
    int64_t         v;

    r->host = axe_host_knows(r, x->value);
    cond = axe_resolve_condition(r, x->value, "if", out);
    r->host = false;
    if (cond && axe_is_iconst(cond, &v)) {
        resolve_decided(r, x, v != 0, out);
        return;
    }
    resolve_branches(r, x, (axe_holds){cond, false, r->holds}, &body, &other);
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
