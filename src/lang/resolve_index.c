/* resolve_index.c - index statements: what they run over, and what can be
 * checked of them without a machine.
 *
 * The extent of an index is that of the dimension where it stands alone in a
 * subscript; all such places must agree.  An index that stands alone nowhere
 * runs within the tile of a range: up to T in `i*T + m` with `i : D by T`. With
 * the domain known, ir/bounds.c proves subscripts of tiles inside and that no
 * element is written twice. */
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

/* ---------------------------------------------------------------- extents */

typedef struct search {
    axe_resolver    *r;
    const axe_var   *var;
    const axe_node  *extent; /* found first, */
    const axe_node  *load;   /* here, */
    int              dim;    /* in this subscript */
    const axe_tiled *tile;   /* else: within tiles of this range */
    bool             ok;
} search;

static bool
same_extent(const axe_node *a, const axe_node *b)
{
    if (a->op == AXE_OP_iconst && b->op == AXE_OP_iconst)
        return a->u.i == b->u.i;
    return a->op == AXE_OP_var && b->op == AXE_OP_var && a->u.var == b->u.var;
}

static void
found_extent(search *s, const axe_node *load, int k)
{
    const axe_node *extent = load->u.tensor->shape[k];
    axe_ctx        *cx = s->r->cx;

    if (!s->extent) {
        s->extent = extent;
        s->load = load;
        s->dim = k;
    } else if (s->ok && !same_extent(s->extent, extent)) {
        s->ok = axe_resolve_fail(
            s->r, axe_fail(cx, load->arg[k]->at, AXE_ESHAPE,
                           "index `%s` runs to %s here, but to %s elsewhere",
                           s->var->name, axe_node_text(cx, extent),
                           axe_node_text(cx, s->extent)));
        axe_note(cx, s->load->arg[s->dim]->at,
                 "dimension %d of `%s` has %s elements", s->dim,
                 s->load->u.tensor->name, axe_node_text(cx, s->extent));
        axe_note(cx, load->arg[k]->at, "dimension %d of `%s` has %s", k,
                 load->u.tensor->name, axe_node_text(cx, extent));
    }
}

static void
visit_load(void *user, const axe_node *n)
{
    search *s = user;

    if (n->op != AXE_OP_load)
        return;
    for (int k = 0; k < n->n_arg; k++)
        if (n->arg[k]->op == AXE_OP_var && n->arg[k]->u.var == s->var)
            found_extent(s, n, k);
}

/* The tile of a range `v : count by tile`, or NULL. */
static const axe_tiled *
tile_of(const axe_resolver *r, const axe_var *v)
{
    for (int i = 0; i < r->tiled.n; i++) {
        const axe_tiled *t = r->tiled.item[i];
        if (t->var == v)
            return t;
    }
    return NULL;
}

/* The finest range whose tiles `a` steps by, if the index looked for is the
 * only one in it and steps by 1. */
static const axe_tiled *
finest_tile(const search *s, const axe_affine *a)
{
    const axe_tiled *best = NULL, *t;

    for (int i = 0; i < a->n; i++) {
        t = tile_of(s->r, a->var[i]);
        if (t && t->size == a->coef[i] && (!best || t->size < best->size))
            best = t;
        if (a->var[i]->kind == AXE_VAR_INDEX &&
            (a->var[i] != s->var || a->coef[i] != 1))
            return NULL;
    }
    return axe_affine_coef(a, s->var) == 1 ? best : NULL;
}

/* `i*T + m` where i counts tiles of T: m runs to T. */
static void
visit_tile(void *user, const axe_node *n)
{
    search          *s = user;
    const axe_tiled *t;
    axe_affine       a;

    for (int k = 0; n->op == AXE_OP_load && k < n->n_arg; k++) {
        if (!axe_affine_of(s->r->cx, n->arg[k], &a))
            continue;
        t = finest_tile(s, &a);
        if (t && !s->tile)
            s->tile = t;
        else if (t && s->ok && t->size != s->tile->size)
            s->ok = axe_resolve_fail(
                s->r, axe_fail(s->r->cx, n->arg[k]->at, AXE_ESHAPE,
                               "index `%s` runs to %" PRId64 " in the tiles of "
                               "`%s`, but to %" PRId64 " in those of `%s`",
                               s->var->name, t->size, t->var->name,
                               s->tile->size, s->tile->var->name));
    }
}

const axe_node *
axe_resolve_extent(axe_resolver *r, const axe_var *var, axe_span at, int n,
                   const axe_node *const *in)
{
    search s = {.r = r, .var = var, .ok = true};

    for (int i = 0; i < n; i++)
        axe_node_walk(in[i], visit_load, &s);
    if (s.extent)
        return s.ok ? s.extent : NULL;
    for (int i = 0; i < n; i++)
        axe_node_walk(in[i], visit_tile, &s);
    if (s.tile)
        return s.ok ? axe_iconst(r->cx, at, AXE_TYPE_INDEX, s.tile->size)
                    : NULL;
    axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ESHAPE,
                                 "how far `%s` runs is not known", var->name));
    axe_help(r->cx,
             "make it a whole subscript of some tensor in the statement, as in "
             "`x[%s]`: its dimension is the range; or step by tiles, as in "
             "`x[i*8 + %s]` with `i : N by 8`",
             var->name, var->name);
    return NULL;
}

/* ---------------------------------------------------------------- domains */

typedef struct domain {
    axe_resolver *r;
    axe_list      bound; /* variables reduced over inside the value */
    int           n;
    axe_dim      *dim;
    axe_span     *at;
} domain;

static void
visit_bound(void *user, const axe_node *n)
{
    domain *d = user;

    if (n->op == AXE_OP_reduce)
        for (int i = 0; i < n->u.reduce.n_over; i++)
            axe_list_push(&d->bound, n->u.reduce.over[i]);
}

static void
visit_count(void *user, const axe_node *n)
{
    int *count = user;

    *count += n->op == AXE_OP_var;
}

static void
visit_index(void *user, const axe_node *n)
{
    domain *d = user;

    if (n->op != AXE_OP_var || n->u.var->kind != AXE_VAR_INDEX)
        return;
    for (int i = 0; i < d->n; i++)
        if (d->dim[i].var == n->u.var)
            return;
    for (int i = 0; i < d->bound.n; i++)
        if (d->bound.item[i] == n->u.var)
            return;
    d->dim[d->n].var = n->u.var;
    d->at[d->n++] = n->at;
}

/* The indices of s, free ones first, without their extents. */
static void
find_indices(domain *d, axe_stmt *s)
{
    int n = 0;

    axe_node_walk(s->dst, visit_count, &n);
    axe_node_walk(s->value, visit_count, &n);
    d->dim = axe_new_array(d->r->cx, axe_dim, n);
    d->at = axe_new_array(d->r->cx, axe_span, n);
    axe_node_walk(s->value, visit_bound, d);
    axe_node_walk(s->dst, visit_index, d);
    s->n_free = d->n;
    axe_node_walk(s->value, visit_index, d);
    s->n_dim = d->n;
    s->dim = d->dim;
}

static bool
find_extents(domain *d, axe_stmt *s)
{
    const axe_node *in[] = {s->dst, s->value};
    bool            ok = true;

    for (int i = 0; i < d->n; i++) {
        d->dim[i].extent =
            axe_resolve_extent(d->r, d->dim[i].var, d->at[i], 2, in);
        ok = ok && d->dim[i].extent;
    }
    return ok;
}

static bool
check_left(domain *d, const axe_stmt *s)
{
    const char *name;

    if (s->fold != AXE_FOLD_NONE || s->n_free == s->n_dim)
        return true;
    name = s->dim[s->n_free].var->name;
    axe_resolve_fail(d->r,
                     axe_fail(d->r->cx, d->at[s->n_free], AXE_ESHAPE,
                              "index `%s` is on the right of `=` only", name));
    axe_help(d->r->cx,
             "reduce over it, by `sum[%s](...)` or `+=`, or put it "
             "on the left",
             name);
    return false;
}

axe_stmt *
axe_resolve_finish(axe_resolver *r, axe_stmt *s)
{
    domain     d = {.r = r, .bound = {.cx = r->cx}};
    axe_status st;

    find_indices(&d, s);
    if (!find_extents(&d, s) || !check_left(&d, s))
        return NULL;
    st = axe_stmt_check_inside(r->cx, s);
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
        axe_help(r->cx, "begin it where it is declared, as in `%s[...] = 0`",
                 x->name);
    return false;
}

static axe_stmt *
resolve_parts(axe_resolver *r, const axe_syntax *s)
{
    axe_stmt  *out = axe_new(r->cx, axe_stmt);
    axe_entry *x;

    if (s->dst->kind != AXE_EXPR_LOAD) {
        axe_resolve_fail(r, axe_fail(r->cx, s->dst->at, AXE_ETYPE,
                                     "only elements of tensors are assigned: "
                                     "`name[...] = ...`"));
        return NULL;
    }
    out->kind = AXE_STMT_INDEX;
    out->at = s->at;
    out->fold = s->fold;
    out->via = s->via;
    out->slow = s->slow;
    out->dst = axe_resolve_load(r, s->dst, true);
    x = axe_names_find(r, s->dst->word.name);
    if (out->dst && !check_begun(r, s, x))
        out->dst = NULL;
    if (out->dst)
        out->value = resolve_value(r, s, out->dst);
    else
        axe_resolve_value(r, s->value, AXE_NO_TYPE);
    if (x)
        x->written = x->touched = true;
    return out->dst && out->value ? out : NULL;
}

axe_stmt *
axe_resolve_assign(axe_resolver *r, const axe_syntax *s)
{
    axe_stmt *out;

    r->dst = s->dst;
    r->value = s->value;
    out = resolve_parts(r, s);
    r->dst = NULL;
    r->value = NULL;
    return out ? axe_resolve_finish(r, out) : NULL;
}
