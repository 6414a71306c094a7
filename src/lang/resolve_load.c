/* resolve_load.c - elements of tensors, and folds over them inside a value.
 *
 * A tensor is written before it is read, in the order of the text; those of a
 * pipeline only in its stages. */
#include <string.h>

#include "lang/resolve_int.h"

/* Reading and writing a pipeline's tensors go by its stages. */
static bool
check_stage(axe_resolver *r, const axe_expr *e, const axe_entry *x,
            bool writing)
{
    axe_stmt_kind stage = x->pipeline->stage;

    if (writing && stage != AXE_STMT_PRODUCE)
        return axe_resolve_fail(r,
                                axe_fail(r->cx, e->at, AXE_ENAME,
                                         "`%s` is written outside `produce %s`",
                                         x->name, x->pipeline->name));
    if (!writing && stage == AXE_STMT_PIPELINE)
        return axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ENAME,
                                            "`%s` is read outside `consume %s`",
                                            x->name, x->pipeline->name));
    return true;
}

static bool
check_access(axe_resolver *r, const axe_expr *e, axe_entry *x, bool writing)
{
    const axe_tensor *t = x->tensor;

    if (t->pipeline && !check_stage(r, e, x, writing))
        return false;
    if (writing && t->dir == AXE_DIR_IN) {
        axe_resolve_fail(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                     "`%s` is an `in` argument and cannot be "
                                     "written",
                                     x->name));
        axe_note(r->cx, x->at, "declared here; `inout` may be written");
        return false;
    }
    if (!writing && !x->written &&
        (t->dir == AXE_DIR_OUT || t->dir == AXE_DIR_LOCAL)) {
        axe_resolve_fail(
            r, axe_fail(r->cx, e->at, AXE_ENAME,
                        x->touched ? "`%s` is read where not every "
                                     "branch before has written it"
                                   : "`%s` is read before anything was written "
                                     "to it",
                        x->name));
        if (t->dir == AXE_DIR_OUT)
            axe_help(r->cx, "declare it `inout` if the caller fills it");
        else if (t->space == AXE_SPACE_GLOBAL)
            axe_help(r->cx, "write it in a scope before this one");
        else
            axe_help(r->cx, "begin it: `%s %s %s[...] = 0;`",
                     axe_space_name(t->space), axe_type_table[t->type].name,
                     t->name);
        return false;
    }
    return true;
}

const axe_node *
axe_resolve_load(axe_resolver *r, const axe_expr *e, bool writing)
{
    axe_entry       *x = axe_names_need(r, e->word, "tensor");
    const axe_node **sub = axe_new_array(r->cx, const axe_node *, e->n_arg);
    bool             ok = true;

    if (!x)
        return NULL;
    if (x->kind != AXE_ENTRY_TENSOR) {
        axe_resolve_failed(r, axe_fail(r->cx, e->word.at, AXE_ETYPE,
                                       "`%s` is %s, not a tensor", x->name,
                                       axe_entry_text(x)));
        return NULL;
    }
    for (int i = 0; i < e->n_arg; i++) {
        sub[i] = axe_resolve_index(r, e->arg[i], true, "a subscript");
        ok = ok && sub[i];
    }
    if (e->n_arg != x->tensor->rank) {
        axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ESHAPE,
                        "`%s` has %d dimension%s, but %d subscript%s", x->name,
                        x->tensor->rank, x->tensor->rank == 1 ? "" : "s",
                        e->n_arg, e->n_arg == 1 ? " is given" : "s are given"));
        axe_note(r->cx, x->at, "declared here");
        return NULL;
    }
    if (!ok || !check_access(r, e, x, writing))
        return NULL;
    if (!writing)
        x->used = true;
    return axe_load(r->cx, e->at, x->tensor, sub);
}

/* ------------------------------------------------------------- reductions */

/* Does `name` occur in e other than bound by a reduction? */
static bool
occurs_free(const axe_expr *e, const char *name)
{
    for (int i = 0; i < e->n_over; i++)
        if (e->over[i]->name == name)
            return false;
    if (e->kind == AXE_EXPR_NAME && e->word.name == name)
        return true;
    for (int i = 0; i < e->n_arg; i++)
        if (occurs_free(e->arg[i], name))
            return true;
    return false;
}

/* A variable that is also free in the statement gets another name inside the
 * reduction: n.1. */
static axe_entry *
bind_over(axe_resolver *r, const axe_word *w)
{
    axe_entry  *x = axe_names_need(r, *w, "index"), *inner;
    const char *name;

    if (!x)
        return NULL;
    if (x->kind != AXE_ENTRY_INDEX) {
        axe_resolve_failed(r, axe_fail(r->cx, w->at, AXE_ETYPE,
                                       "`%s` is %s, not an index", x->name,
                                       axe_entry_text(x)));
        return NULL;
    }
    if (x->reducing) {
        axe_resolve_failed(
            r, axe_fail(r->cx, w->at, AXE_ENAME,
                        "`%s` is reduced over already, around here", x->name));
        return NULL;
    }
    x->used = true;
    inner = axe_new(r->cx, axe_entry);
    *inner = *x;
    inner->reducing = true;
    if (occurs_free(r->dst, w->name) || occurs_free(r->value, w->name)) {
        name = axe_textf(r->cx, "%s.1", w->name);
        inner->var = axe_resolve_index_var(
            r, axe_intern(r->cx, name, strlen(name)), w->at);
    }
    return inner;
}

/* The dims of a reduction, from its resolved body. */
static bool
over_dims(axe_resolver *r, const axe_expr *e, const axe_node *body,
          axe_dim *dim, int first)
{
    for (int i = 0; i < e->n_over; i++) {
        const axe_entry *x = r->names.item[first + i];
        dim[i].var = x->var;
        dim[i].extent = axe_resolve_extent(r, x->var, e->over[i]->at, 1, &body);
        if (!dim[i].extent)
            return false;
    }
    return true;
}

axe_typed
axe_resolve_reduce(axe_resolver *r, const axe_expr *e, int want)
{
    int       mark = r->names.n;
    axe_dim  *dim = axe_new_array(r->cx, axe_dim, e->n_over);
    axe_typed v = AXE_FAILED;
    bool      ok = true;

    if (!r->dst)
        return axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ETYPE,
                        "a reduction has a value only in an index "
                        "statement"));
    for (int i = 0; i < e->n_over && ok; i++) {
        axe_entry *x = bind_over(r, e->over[i]);
        ok = x != NULL;
        if (ok)
            axe_list_push(&r->names, x);
    }
    if (ok)
        v = axe_resolve_value(r, e->arg[0], want);
    if (v.node && v.literal == AXE_LITERAL) {
        axe_resolve_failed(r, axe_fail(r->cx, e->at, AXE_ETYPE,
                                       "a constant cannot be reduced"));
        v = AXE_FAILED;
    }
    if (v.node && v.node->type == AXE_TYPE_bool) {
        axe_resolve_failed(
            r, axe_fail(r->cx, e->at, AXE_ETYPE,
                        "`%s[...]` needs numbers, but `%s` is a condition",
                        e->word.name, axe_node_text(r->cx, v.node)));
        v = AXE_FAILED;
    }
    if (v.node && over_dims(r, e, v.node, dim, mark))
        v.node = axe_reduce(r->cx, e->at, e->fold, e->n_over, dim, v.node);
    else
        v = AXE_FAILED;
    r->names.n = mark;
    return v;
}
