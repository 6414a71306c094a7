/* resolve_index.c - index statements, and what can be checked of them without
 * a machine.
 *
 * What they run over is said by ir/domain.c; with the domain known,
 * ir/bounds.c proves subscripts of tiles inside and that no element is written
 * twice. */
#include <inttypes.h>
#include <string.h>

#include "lang/resolve_int.h"

axe_var *
axe_resolve_var(axe_resolver *r, axe_var_kind kind, axe_word w,
                const axe_node *extent)
{
    axe_var *v = axe_new(r->cx, axe_var);

    v->kind = kind;
    v->name = w.name;
    if (kind == AXE_VAR_SCOPE || kind == AXE_VAR_LOOP)
        v->name = axe_names_fresh(r, w.name, AXE_NAMED_LOOP);
    if (kind == AXE_VAR_SIZE)
        axe_list_push(&r->fixed, w.name);
    v->at = w.at;
    v->id = r->kernel->n_var++;
    v->extent = extent;
    return v;
}

/* An index variable, and what the text calls it. */
typedef struct made_index {
    const char    *want;
    const axe_var *var;
} made_index;

const axe_var *
axe_resolve_index_var(axe_resolver *r, const char *name, axe_span at)
{
    made_index *m;

    for (int i = 0; i < r->index.n; i++) {
        m = (made_index *)r->index.item[i];
        if (m->want == name)
            return m->var;
    }
    m = axe_new(r->cx, made_index);
    m->want = name;
    name = axe_names_fresh(r, name, AXE_NAMED_INDEX);
    m->var = axe_resolve_var(r, AXE_VAR_INDEX, (axe_word){name, at}, NULL);
    axe_list_push(&r->index, m);
    return m->var;
}

/* ---------------------------------------------------------------- domains */

const axe_node *
axe_resolve_extent(axe_resolver *r, const axe_var *var, axe_span at, int n,
                   const axe_node *const *in)
{
    const axe_node *out = NULL;
    axe_status st = axe_index_extent(r->cx, &r->tiled, var, at, n, in, &out);

    if (st != AXE_OK)
        axe_resolve_fail(r, st);
    return out;
}

axe_stmt *
axe_resolve_finish(axe_resolver *r, axe_stmt *s)
{
    axe_status st = axe_stmt_domain(r->cx, &r->tiled, s);

    if (st == AXE_OK)
        st = axe_stmt_check_inside(r->cx, s, r->holds);
    if (st == AXE_OK)
        st = axe_stmt_check_writes(r->cx, s);
    if (st != AXE_OK) {
        axe_resolve_fail(r, st);
        return NULL;
    }
    s->id = r->kernel->n_index_stmt++;
    return s;
}

/* ------------------------------------------------------------- statements */

static const axe_node *
resolve_value(axe_resolver *r, const axe_syntax *s, const axe_node *dst)
{
    int       want = s->fold == AXE_FOLD_NONE ? AXE_NO_TYPE : (int)dst->type;
    axe_typed v = axe_resolve_value(r, s->value, want);

    if (!v.node)
        return NULL;
    if (s->fold != AXE_FOLD_NONE && dst->type == AXE_TYPE_bool) {
        axe_resolve_fail(r, axe_fail(r->cx, s->at, AXE_ETYPE,
                                     "`%s=` needs numbers, but `%s` is bool",
                                     axe_fold_text(s->fold),
                                     axe_node_text(r->cx, dst)));
        return NULL;
    }
    return axe_resolve_to(r, v, dst->type, s->value->at,
                          axe_textf(r->cx, "`%s` is", dst->u.tensor->name));
}

/* `op=` into what has no value yet. */
static bool
check_begun(axe_resolver *r, const axe_syntax *s, const axe_entry *x)
{
    if (s->fold == AXE_FOLD_NONE || x->written ||
        x->tensor->dir == AXE_DIR_INOUT)
        return true;
    axe_resolve_fail(r, axe_fail(r->cx, s->dst->at, AXE_ENAME,
                                 x->touched
                                     ? "`%s=` adds to `%s`, which not every "
                                       "branch before has written"
                                     : "`%s=` adds to `%s`, to which nothing "
                                       "was written before",
                                 axe_fold_text(s->fold), x->name));
    if (x->tensor->dir == AXE_DIR_OUT)
        axe_help(r->cx,
                 "sum in a `reg` tile and write it by `=`, or declare "
                 "`%s` `inout`",
                 x->name);
    else
        axe_help(r->cx, "begin it where it is declared, as in `%s%s = 0`",
                 x->name, x->tensor->rank > 0 ? "[...]" : "");
    return false;
}

/* A name that is no tensor is reported as an unknown tensor would be. */
static bool
names_scalar(const axe_resolver *r, const axe_expr *e)
{
    const axe_entry *x = NULL;

    if (e->kind == AXE_EXPR_NAME)
        x = axe_names_find(r, e->word.name);
    return e->kind == AXE_EXPR_NAME &&
           (!x || x->kind != AXE_ENTRY_TENSOR || x->tensor->rank == 0);
}

/* A scalar of several entities together cannot be each one's own. */
static bool
check_owner(axe_resolver *r, const axe_syntax *s, const axe_entry *x)
{
    if (x->kind != AXE_ENTRY_TENSOR || x->tensor->rank > 0 ||
        x->crowd == r->crowd)
        return true;
    axe_resolve_fail(r, axe_fail(r->cx, s->dst->at, AXE_ESHAPE,
                                 "`%s` would be written by every `%s`", x->name,
                                 axe_scope_name(r->inside->scope)));
    axe_note(r->cx, x->at, "declared outside of it, once for all");
    axe_help(r->cx, "declare it inside, or pick one, as in `%s (0)`",
             axe_scope_name(r->inside->scope));
    return false;
}

/* Is the key there, as its value says? */
static bool
says_yes(axe_resolver *r, const axe_attr_syntax *x, const char *name)
{
    int64_t v = 1;

    if (axe_attr_table[x->key].n_value != 0 || !x->value[0])
        return true;
    if (axe_resolve_int(r, x->value[0],
                        axe_textf(r->cx, "the value of `%s`", name), &v) &&
        v != 0 && v != 1)
        axe_resolve_fail(r, axe_fail(r->cx, x->value[0]->at, AXE_ESHAPE,
                                     "`%s` is 0 or 1, not %" PRId64, name, v));
    return v != 0;
}

static void
resolve_attrs(axe_resolver *r, const axe_syntax *s, axe_stmt *out)
{
    for (int i = 0; i < s->n_attr; i++) {
        const axe_attr_syntax *x = s->attr[i];
        const char            *name = axe_attr_table[x->key].name;
        axe_attr               a = {x->key, x->at, {0}};
        bool                   ok = true;
        axe_status             st;
        if (!says_yes(r, x, name))
            continue;
        for (int k = 0; k < axe_attr_table[x->key].n_value; k++)
            ok = axe_resolve_int(r, x->value[k],
                                 axe_textf(r->cx, "the value of `%s`", name),
                                 &a.value[k]) &&
                 ok;
        st = ok ? axe_attr_add(r->cx, out, &a) : AXE_OK;
        if (st != AXE_OK)
            axe_resolve_fail(r, st);
    }
}

static axe_stmt *
resolve_parts(axe_resolver *r, const axe_syntax *s)
{
    axe_stmt  *out = axe_new(r->cx, axe_stmt);
    axe_entry *x;

    if (s->dst->kind != AXE_EXPR_LOAD && !names_scalar(r, s->dst)) {
        axe_resolve_fail(r, axe_fail(r->cx, s->dst->at, AXE_ETYPE,
                                     "only elements of tensors are assigned: "
                                     "`name[...] = ...`"));
        return NULL;
    }
    out->kind = AXE_STMT_INDEX;
    out->at = s->at;
    out->fold = s->fold;
    out->via = s->via;
    out->atom = s->atom;
    out->slow = s->slow;
    resolve_attrs(r, s, out);
    out->dst = axe_resolve_load(r, s->dst, true);
    x = axe_names_find(r, s->dst->word.name);
    if (out->dst && (!check_begun(r, s, x) || !check_owner(r, s, x)))
        out->dst = NULL;
    if (out->dst)
        out->value = resolve_value(r, s, out->dst);
    else
        axe_resolve_value(r, s->value, AXE_NO_TYPE);
    if (x)
        x->written = x->touched = x->reached = true;
    return out->dst && out->value ? out : NULL;
}

axe_stmt *
axe_resolve_assign(axe_resolver *r, const axe_syntax *s, axe_list *before)
{
    axe_stmt *out;

    r->dst = s->dst;
    r->value = s->value;
    out = resolve_parts(r, s);
    r->dst = NULL;
    r->value = NULL;
    if (!out || (before && !axe_resolve_split(r, out, before)))
        return NULL;
    return axe_resolve_finish(r, out);
}
