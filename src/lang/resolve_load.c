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
        else if (t->pipeline)
            axe_help(r->cx,
                     "every `produce %s` before writes it; of roles, the one "
                     "that fills it stands first",
                     t->pipeline->name);
        else if (t->space == AXE_SPACE_GLOBAL)
            axe_help(r->cx, "write it in a scope before this one");
        else
            axe_help(r->cx, "begin it: `%s%s%s %s%s = 0;`",
                     t->rank > 0 ? axe_space_name(t->space) : "",
                     t->rank > 0 ? " " : "", axe_type_table[t->type].name,
                     x->name, t->rank > 0 ? "[...]" : "");
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
    r->subscript++;
    for (int i = 0; i < e->n_arg; i++) {
        sub[i] = axe_resolve_index(r, e->arg[i], true, "a subscript");
        ok = ok && sub[i];
    }
    r->subscript--;
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
    return axe_load(r->cx, e->at, axe_resolve_seen(r, x->tensor), sub);
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

/* Has the reduction whose names begin at `mark` the entry already? */
static bool
is_bound_here(const axe_resolver *r, int mark, const axe_entry *x)
{
    for (int i = mark; i < r->names.n; i++)
        if (r->names.item[i] == x)
            return true;
    return false;
}

/* A variable that is also free in the statement, or that a reduction around
 * has, gets another name inside the reduction: n.1.  Where an index is picked,
 * the fold of the values has one of its own: n.2. */
static axe_entry *
bind_over(axe_resolver *r, const axe_word *w, bool own, int mark)
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
    if (is_bound_here(r, mark, x)) {
        axe_resolve_failed(r, axe_fail(r->cx, w->at, AXE_ENAME,
                                       "`%s` is reduced over already, here",
                                       x->name));
        return NULL;
    }
    x->used = true;
    inner = axe_new(r->cx, axe_entry);
    *inner = *x;
    inner->reducing = true;
    if (own || x->reducing || occurs_free(r->dst, w->name) ||
        occurs_free(r->value, w->name)) {
        name = axe_textf(r->cx, own ? "%s.2" : "%s.1",
                         x->reducing ? x->var->name : w->name);
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
        axe_entry *x = bind_over(r, e->over[i], e->picks, mark);
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

/* ---------------------------------------------------------------- picking */

static bool
check_pick(axe_resolver *r, const axe_expr *e)
{
    axe_status st;

    if (e->n_over == 1 && !r->picking)
        return true;
    st = axe_fail(r->cx, e->word.at, AXE_EUNSUPPORTED,
                  r->picking ? "`%s` inside another one is not supported"
                             : "`%s` gives one index, so it runs over one",
                  e->word.name);
    axe_help(r->cx, r->picking ? "write what is inside to a tile first"
                               : "keep the others, and pick among them");
    return axe_resolve_fail(r, st);
}

/* x is what the fold gave, or both are NaN. */
static const axe_node *
is_picked(axe_ctx *cx, const axe_node *x, const axe_node *fold)
{
    const axe_node *is = axe_node2(cx, AXE_OP_eq, x, fold);

    if (!axe_type_is_float(x->type))
        return is;
    return axe_node2(cx, AXE_OP_or, is, axe_node2(cx, AXE_OP_ne, x, x));
}

/* The least index at which an element is as the fold: min[n](X == fold ? n :
 * the largest integer). */
static axe_typed
first_index(axe_resolver *r, const axe_expr *e, const axe_node *fold)
{
    axe_entry *x = bind_over(r, e->over[0], false, r->names.n);
    int        mark = r->names.n;
    axe_typed  v = AXE_FAILED;
    axe_dim    dim;

    if (!x)
        return v;
    axe_list_push(&r->names, x);
    v = axe_resolve_value(r, e->arg[0], AXE_NO_TYPE);
    if (v.node && over_dims(r, e, v.node, &dim, mark)) {
        const axe_node *arg[3] = {
            is_picked(r->cx, v.node, fold),
            axe_var_node(r->cx, e->over[0]->at, x->var),
            axe_iconst(r->cx, e->at, AXE_TYPE_INDEX, INT64_MAX)};
        v.node =
            axe_node_new(r->cx, AXE_OP_select, AXE_TYPE_INDEX, e->at, 3, arg);
        v.node = axe_reduce(r->cx, e->at, AXE_FOLD_MIN, 1, &dim, v.node);
    } else
        v = AXE_FAILED;
    r->names.n = mark;
    return v;
}

axe_typed
axe_resolve_pick(axe_resolver *r, const axe_expr *e)
{
    axe_typed v = AXE_FAILED;

    if (!check_pick(r, e))
        return AXE_FAILED;
    r->picking = true;
    v = axe_resolve_reduce(r, e, AXE_NO_TYPE);
    if (v.node)
        v = first_index(r, e, v.node);
    r->picking = false;
    return v;
}
