/* names.c - what names mean: one stack of entries, searched from the inside.
 *
 * Nothing may be shadowed: in a kernel of thirty lines a name that means two
 * things is a mistake.  Names of types and functions are taken too. */
#include <string.h>

#include "lang/resolve_int.h"

static const axe_op function_op[] = {
    AXE_OP_min, AXE_OP_max, AXE_OP_cdiv, AXE_OP_exp,   AXE_OP_exp2,
    AXE_OP_log, AXE_OP_abs, AXE_OP_sqrt, AXE_OP_rsqrt, AXE_OP_tanh,
};
static const char *const other_builtin[] = {"sum",  "prod",  "inf",
                                            "true", "false", "auto"};

bool
axe_resolve_fail(axe_resolver *r, axe_status st)
{
    if (r->status == AXE_OK)
        r->status = st;
    return false;
}

bool
axe_function_find(const char *name, axe_op *out)
{
    for (int i = 0; i < AXE_LEN(function_op); i++)
        if (strcmp(axe_op_table[function_op[i]].name, name) == 0) {
            *out = function_op[i];
            return true;
        }
    return false;
}

bool
axe_name_is_builtin(const char *name)
{
    axe_type type;
    axe_op   op;

    for (int i = 0; i < AXE_LEN(other_builtin); i++)
        if (strcmp(other_builtin[i], name) == 0)
            return true;
    return axe_type_find(name, &type) || axe_function_find(name, &op);
}

const char *
axe_entry_text(const axe_entry *e)
{
    static const char *const text[] = {
        "a name declared in error",
        "a compile-time constant",
        "a type",
        "a number",
        "an index",
        "a tensor",
        "a pipeline",
        "a layout",
    };

    return text[e->kind];
}

axe_entry *
axe_names_find(const axe_resolver *r, const char *name)
{
    for (int i = r->names.n - 1; i >= 0; i--) {
        axe_entry *e = (axe_entry *)r->names.item[i];
        if (e->name == name)
            return e;
    }
    return NULL;
}

static void
suggest(axe_resolver *r, const char *name)
{
    int          n = r->names.n, k = 0;
    const char **known = axe_new_array(r->cx, const char *,
                                       n + AXE_LEN(function_op) + AXE_N_TYPE);
    const char  *near;

    for (int i = 0; i < n; i++)
        known[k++] = ((const axe_entry *)r->names.item[i])->name;
    for (int i = 0; i < AXE_LEN(function_op); i++)
        known[k++] = axe_op_table[function_op[i]].name;
    for (int i = 0; i < AXE_N_TYPE; i++)
        known[k++] = axe_type_table[i].name;
    near = axe_nearest(name, k, known);
    if (near)
        axe_help(r->cx, "did you mean `%s`?", near);
}

static void
note_gone(axe_resolver *r, const char *name)
{
    for (int i = 0; i < r->gone.n; i++) {
        const axe_entry *e = r->gone.item[i];
        if (e->name == name) {
            axe_note(r->cx, e->at,
                     "there was %s of this name, whose block has ended",
                     axe_entry_text(e));
            return;
        }
    }
    suggest(r, name);
}

axe_entry *
axe_names_need(axe_resolver *r, axe_word w, const char *what)
{
    axe_entry *e = axe_names_find(r, w.name);

    if (e)
        return e->kind == AXE_ENTRY_BAD ? NULL : e;
    axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                 "there is no %s `%s` here", what, w.name));
    note_gone(r, w.name);
    return NULL;
}

axe_entry *
axe_names_add(axe_resolver *r, axe_entry_kind kind, axe_word w)
{
    axe_entry *old = axe_names_find(r, w.name), *e = axe_new(r->cx, axe_entry);

    e->kind = kind;
    e->name = w.name;
    e->at = w.at;
    e->stage = AXE_STMT_PIPELINE;
    if (axe_name_is_builtin(w.name)) {
        e->kind = AXE_ENTRY_BAD;
        axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                     "`%s` is a name of the language", w.name));
    } else if (old) {
        e->kind = AXE_ENTRY_BAD;
        axe_resolve_fail(r, axe_fail(r->cx, w.at, AXE_ENAME,
                                     "`%s` is declared already", w.name));
        axe_note(r->cx, old->at, "as %s, here", axe_entry_text(old));
    }
    axe_list_push(&r->names, e);
    return e;
}

static void
warn_unused(axe_resolver *r, const axe_entry *e)
{
    if (e->kind == AXE_ENTRY_INDEX && !e->used)
        axe_warn(r->cx, e->at, "index `%s` is never used", e->name);
    if (e->kind != AXE_ENTRY_TENSOR)
        return;
    if (e->tensor->dir == AXE_DIR_OUT && !e->written)
        axe_warn(r->cx, e->at, "`%s` is `out` but never written", e->name);
    else if (e->tensor->dir != AXE_DIR_OUT && !e->used && !e->written)
        axe_warn(r->cx, e->at, "`%s` is never used", e->name);
    else if (e->tensor->dir == AXE_DIR_LOCAL && !e->used)
        axe_warn(r->cx, e->at, "`%s` is written but never read", e->name);
}

void
axe_names_leave(axe_resolver *r, int mark)
{
    for (int i = mark; i < r->names.n; i++) {
        const axe_entry *e = r->names.item[i];
        if (r->status == AXE_OK)
            warn_unused(r, e);
        axe_list_push(&r->gone, e);
    }
    r->names.n = mark;
}
