/* domain.c - what an index statement runs over.
 *
 * The extent of an index is that of the dimension where it stands alone in a
 * subscript; all such places must agree.  An index that stands alone nowhere
 * runs within the tile of a range: up to T in `i*T + m` with `i : D by T`.
 * The text's front end and the builder both ask here, so that they make the
 * same statements. */
#include <inttypes.h>

#include "ir/domain.h"

/* ---------------------------------------------------------------- extents */

typedef struct search {
    axe_ctx         *cx;
    const axe_list  *tiled;
    const axe_var   *var;
    const axe_node  *extent; /* found first, */
    const axe_node  *load;   /* here, */
    int              dim;    /* in this subscript */
    const axe_tiled *tile;   /* else: within tiles of this range */
    axe_status       status;
} search;

/* One extent is a tile's, the other a size: it is walked tile by tile. */
static void
help_tiles(axe_ctx *cx, const axe_var *v, const axe_node *a, const axe_node *b)
{
    int64_t e;

    if (axe_is_iconst(a, &e) == axe_is_iconst(b, &e))
        return;
    if (axe_is_iconst(a, &e))
        a = b;
    axe_help(cx,
             "walk %s by tiles: `t*%" PRId64 " + %s`, with `t : %s by %" PRId64
             "` in a scope or loop around",
             axe_node_text(cx, a), e, v->name, axe_node_text(cx, a), e);
}

static void
found_extent(search *s, const axe_node *load, int k)
{
    const axe_node *extent = load->u.tensor->shape[k];
    axe_ctx        *cx = s->cx;

    if (!s->extent) {
        s->extent = extent;
        s->load = load;
        s->dim = k;
    } else if (s->status == AXE_OK && !axe_node_same(s->extent, extent)) {
        s->status = axe_fail(cx, load->arg[k]->at, AXE_ESHAPE,
                             "index `%s` runs to %s here, but to %s elsewhere",
                             s->var->name, axe_node_text(cx, extent),
                             axe_node_text(cx, s->extent));
        axe_note(cx, s->load->arg[s->dim]->at,
                 "dimension %d of `%s` has %s elements", s->dim,
                 s->load->u.tensor->name, axe_node_text(cx, s->extent));
        axe_note(cx, load->arg[k]->at, "dimension %d of `%s` has %s", k,
                 load->u.tensor->name, axe_node_text(cx, extent));
        help_tiles(cx, s->var, s->extent, extent);
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
tile_of(const axe_list *tiled, const axe_var *v)
{
    for (int i = 0; i < tiled->n; i++) {
        const axe_tiled *t = tiled->item[i];
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
        t = tile_of(s->tiled, a->var[i]);
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
        if (!axe_affine_of(s->cx, n->arg[k], &a))
            continue;
        t = finest_tile(s, &a);
        if (t && !s->tile)
            s->tile = t;
        else if (t && s->status == AXE_OK && t->size != s->tile->size)
            s->status = axe_fail(s->cx, n->arg[k]->at, AXE_ESHAPE,
                                 "index `%s` runs to %" PRId64 " in the tiles "
                                 "of `%s`, but to %" PRId64 " in those of `%s`",
                                 s->var->name, t->size, t->var->name,
                                 s->tile->size, s->tile->var->name);
    }
}

axe_status
axe_index_extent(axe_ctx *cx, const axe_list *tiled, const axe_var *var,
                 axe_span at, int n, const axe_node *const *in,
                 const axe_node **out)
{
    search     s = {.cx = cx, .tiled = tiled, .var = var, .status = AXE_OK};
    axe_status st;

    for (int i = 0; i < n; i++)
        axe_node_walk(in[i], visit_load, &s);
    if (!s.extent)
        for (int i = 0; i < n; i++)
            axe_node_walk(in[i], visit_tile, &s);
    AXE_TRY(s.status);
    if (s.extent || s.tile) {
        *out = s.extent ? s.extent
                        : axe_iconst(cx, at, AXE_TYPE_INDEX, s.tile->size);
        return AXE_OK;
    }
    st = axe_fail(cx, at, AXE_ESHAPE, "how far `%s` runs is not known",
                  var->name);
    axe_help(cx,
             "make it a whole subscript of some tensor in the statement, as in "
             "`x[%s]`: its dimension is the range; or step by tiles, as in "
             "`x[i*8 + %s]` with `i : N by 8`",
             var->name, var->name);
    return st;
}

/* ---------------------------------------------------------------- domains */

typedef struct domain {
    axe_ctx  *cx;
    axe_list  bound; /* variables reduced over inside the value */
    int       n;
    axe_dim  *dim;
    axe_span *at;
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
    d->dim = axe_new_array(d->cx, axe_dim, n);
    d->at = axe_new_array(d->cx, axe_span, n);
    axe_node_walk(s->value, visit_bound, d);
    axe_node_walk(s->dst, visit_index, d);
    s->n_free = d->n;
    axe_node_walk(s->value, visit_index, d);
    s->n_dim = d->n;
    s->dim = d->dim;
}

static axe_status
find_extents(domain *d, const axe_list *tiled, const axe_stmt *s)
{
    const axe_node *in[] = {s->dst, s->value};
    axe_status      st, first = AXE_OK;

    for (int i = 0; i < d->n; i++) {
        st = axe_index_extent(d->cx, tiled, d->dim[i].var, d->at[i], 2, in,
                              &d->dim[i].extent);
        first = first == AXE_OK ? st : first;
    }
    return first;
}

static axe_status
check_left(domain *d, const axe_stmt *s)
{
    const char *name;
    axe_status  st;

    if (s->fold != AXE_FOLD_NONE || s->n_free == s->n_dim)
        return AXE_OK;
    name = s->dim[s->n_free].var->name;
    st = axe_fail(d->cx, d->at[s->n_free], AXE_ESHAPE,
                  "index `%s` is on the right of `=` only", name);
    axe_help(d->cx,
             "reduce over it, by `sum[%s](...)` or `+=`, or put it "
             "on the left",
             name);
    return st;
}

axe_status
axe_stmt_domain(axe_ctx *cx, const axe_list *tiled, axe_stmt *s)
{
    domain d = {.cx = cx, .bound = {.cx = cx}};

    find_indices(&d, s);
    AXE_TRY(find_extents(&d, tiled, s));
    return check_left(&d, s);
}
