/* build_stmt.c - a builder's statements: blocks, tiles, index statements.
 *
 * Blocks are a stack; a block's statements become its statement's body where
 * it is closed. */
#include <inttypes.h>
#include <string.h>

#include "ir/build_int.h"

/* ------------------------------------------------------------------ blocks */

axe_stmt *
axe_build_stmt(axe_builder *b, axe_stmt_kind kind)
{
    axe_stmt *s;

    b->last = NULL;
    if (b->block->ring) {
        axe_build_fail(b, AXE_EARG,
                       "a pipeline's block holds tiles, nothing else");
        axe_help(b->cx, "close pipeline `%s` by axe_build_end",
                 b->block->ring->ring->name);
        return NULL;
    }
    s = axe_new(b->cx, axe_stmt);
    s->kind = kind;
    s->at = b->at;
    return s;
}

bool
axe_build_open(axe_builder *b, axe_stmt *s)
{
    open_block *block;

    if (b->depth == AXE_NEST_MAX)
        return axe_build_fail(b, AXE_ELIMIT, "blocks nest at most %d deep",
                              AXE_NEST_MAX);
    axe_list_push(&b->block->body, s);
    block = axe_new(b->cx, open_block);
    *block = (open_block){.stmt = s, .body = {.cx = b->cx}, .up = b->block};
    b->block = block;
    b->depth++;
    return true;
}

static void
close_body(open_block *block)
{
    axe_stmt *const *body = (axe_stmt *const *)(const void *)block->body.item;

    if (block->ring) {
        block->ring->ring->n_tensor = block->body.n;
        block->ring->ring->tensor =
            (const axe_tensor *const *)(const void *)block->body.item;
    } else if (block->other) {
        block->stmt->n_other = block->body.n;
        block->stmt->other = body;
    } else {
        block->stmt->n_body = block->body.n;
        block->stmt->body = body;
    }
}

void
axe_build_end(axe_builder *b)
{
    if (!axe_build_begin(b))
        return;
    if (!b->block->up) {
        axe_build_fail(b, AXE_EARG, "there is no block to close");
        return;
    }
    close_body(b->block);
    b->block = b->block->up;
    b->depth--;
    b->last = NULL;
}

/* ----------------------------------------------------------- scopes, loops */

static const axe_node *
range_extent(axe_builder *b, const axe_ir_range *g)
{
    const axe_node *count;
    int64_t         n;

    if (!axe_build_has_expr(b, g->count, "a range's count"))
        return NULL;
    count = g->count->node;
    if (g->by < 0 || (axe_is_iconst(count, &n) && n < 1)) {
        axe_build_fail(b, AXE_ESHAPE,
                       "range `%s` counts %s by %" PRId64
                       "; both must be at least 1",
                       g->name, axe_node_text(b->cx, count), g->by);
        return NULL;
    }
    if (g->by == 0)
        return count;
    return axe_node2(b->cx, AXE_OP_cdiv, count,
                     axe_iconst(b->cx, b->at, AXE_TYPE_INDEX, g->by));
}

static const axe_var *
range_var(axe_builder *b, const axe_ir_range *g, axe_var_kind kind)
{
    const char     *name = axe_build_name(b, g->name);
    const axe_node *extent = name ? range_extent(b, g) : NULL;
    axe_tiled      *t;
    const axe_var  *v;

    if (!extent)
        return NULL;
    if (kind == AXE_VAR_SCOPE)
        extent = axe_count_of_entities(b->cx, extent);
    v = axe_build_var(b, kind, name, extent);
    if (g->by > 0) {
        t = axe_new(b->cx, axe_tiled);
        *t = (axe_tiled){v, g->by};
        axe_list_push(&b->tiled, t);
    }
    return v;
}

static axe_stmt *
open_ranges(axe_builder *b, axe_stmt_kind kind, int n,
            const axe_ir_range *range, const axe_ir_expr **out)
{
    bool            scope = kind == AXE_STMT_SCOPE;
    axe_stmt       *s = axe_build_stmt(b, kind);
    const axe_var **var = axe_new_array(b->cx, const axe_var *, n);

    for (int i = 0; s && i < n; i++) {
        var[i] = range_var(b, &range[i], scope ? AXE_VAR_SCOPE : AXE_VAR_LOOP);
        if (!var[i])
            return NULL;
    }
    if (!s || !axe_build_open(b, s))
        return NULL;
    s->n_var = n;
    s->var = var;
    for (int i = 0; i < n; i++)
        out[i] = axe_build_node(b, axe_var_node(b->cx, b->at, var[i]), 1);
    return s;
}

static bool
scope_kind(axe_builder *b, const char *name, axe_scope_kind *out)
{
    const char *known[AXE_N_SCOPE];

    for (int i = 0; i < AXE_N_SCOPE; i++) {
        known[i] = axe_scope_name((axe_scope_kind)i);
        if (name && strcmp(known[i], name) == 0) {
            *out = (axe_scope_kind)i;
            return true;
        }
    }
    return axe_build_unknown(b, "scope", name, AXE_N_SCOPE, known);
}

void
axe_build_scope(axe_builder *b, const char *kind, int n,
                const axe_ir_range *range, const axe_ir_expr **var)
{
    axe_scope_kind of;
    axe_stmt      *s;

    for (int i = 0; var && i < n; i++)
        var[i] = NULL;
    if (!axe_build_begin(b) || !scope_kind(b, kind, &of))
        return;
    if (n < 1 || n > AXE_RANK_MAX || !range || !var) {
        axe_build_fail(b, AXE_EARG, "a scope has 1 to %d ranges, not %d",
                       AXE_RANK_MAX, range && var ? n : 0);
        return;
    }
    s = open_ranges(b, AXE_STMT_SCOPE, n, range, var);
    if (s)
        s->scope = of;
}

const axe_ir_expr *
axe_build_for(axe_builder *b, axe_ir_range range)
{
    const axe_ir_expr *var = NULL;

    if (axe_build_begin(b))
        open_ranges(b, AXE_STMT_FOR, 1, &range, &var);
    return var;
}

void
axe_build_loop(axe_builder *b)
{
    axe_stmt *s = axe_build_begin(b) ? axe_build_stmt(b, AXE_STMT_LOOP) : NULL;

    if (s)
        axe_build_open(b, s);
}

/* ---------------------------------------------------------------- branches */

void
axe_build_if(axe_builder *b, const axe_ir_expr *cond)
{
    axe_stmt *s;

    if (!axe_build_begin(b) || !axe_build_has_expr(b, cond, "the condition"))
        return;
    s = axe_build_stmt(b, AXE_STMT_IF);
    if (!s)
        return;
    s->cond = cond->node;
    axe_build_open(b, s);
}

void
axe_build_else(axe_builder *b)
{
    open_block *block;

    if (!axe_build_begin(b))
        return;
    block = b->block;
    if (!block->stmt || block->stmt->kind != AXE_STMT_IF || block->other) {
        axe_build_fail(b, AXE_EARG,
                       "the innermost open block is no branch of "
                       "an `if` that could have an `else`");
        return;
    }
    close_body(block);
    block->other = true;
    block->body = (axe_list){.cx = b->cx};
    b->last = NULL;
}

/* --------------------------------------------------------------- pipelines */

axe_ir_pipeline *
axe_build_pipeline(axe_builder *b, const char *name, int n_stage)
{
    axe_ir_pipeline *p;
    axe_pipeline    *ring;
    axe_stmt        *s;

    if (!axe_build_begin(b) || !(name = axe_build_name(b, name)))
        return NULL;
    if (n_stage < 1 || n_stage > 1024) {
        axe_build_fail(b, AXE_ESHAPE, "a pipeline has 1 to 1024 stages, not %d",
                       n_stage);
        return NULL;
    }
    s = axe_build_stmt(b, AXE_STMT_PIPELINE);
    if (!s || !axe_build_open(b, s))
        return NULL;
    ring = axe_new(b->cx, axe_pipeline);
    *ring = (axe_pipeline){.name = name, .at = b->at, .n_stage = n_stage};
    s->pipeline = ring;
    p = axe_new(b->cx, axe_ir_pipeline);
    *p = (axe_ir_pipeline){b, ring};
    b->block->ring = p;
    return p;
}

static void
open_stage(axe_builder *b, axe_stmt_kind kind, const axe_ir_pipeline *p)
{
    axe_stmt *s;

    if (!axe_build_begin(b))
        return;
    if (!p || p->owner != b) {
        axe_build_fail(b, AXE_EARG,
                       p ? "pipeline `%s` is of another builder"
                         : "the pipeline is %s",
                       p ? p->ring->name : "NULL");
        return;
    }
    for (const open_block *o = b->block; o; o = o->up)
        if (o->stmt && o->stmt->pipeline == p->ring && !o->ring) {
            axe_build_fail(b, AXE_ENAME, "this is inside `%s %s` already",
                           o->stmt->kind == AXE_STMT_PRODUCE ? "produce"
                                                             : "consume",
                           p->ring->name);
            return;
        }
    s = axe_build_stmt(b, kind);
    if (!s)
        return;
    s->pipeline = p->ring;
    axe_build_open(b, s);
}

void
axe_build_produce(axe_builder *b, const axe_ir_pipeline *p)
{
    open_stage(b, AXE_STMT_PRODUCE, p);
}

void
axe_build_consume(axe_builder *b, const axe_ir_pipeline *p)
{
    open_stage(b, AXE_STMT_CONSUME, p);
}

/* ------------------------------------------------------------------- tiles */

static bool
tile_space(axe_builder *b, const char *name, axe_space *out)
{
    const char *known[AXE_N_SPACE];
    int         n = 0;

    for (int i = 0; i < AXE_N_SPACE; i++) {
        if (i == AXE_SPACE_GLOBAL)
            continue;
        known[n++] = axe_space_name((axe_space)i);
        if (name && strcmp(known[n - 1], name) == 0) {
            *out = (axe_space)i;
            return true;
        }
    }
    return axe_build_unknown(b, "space of a tile", name, n, known);
}

static bool
tile_shape(axe_builder *b, axe_tensor *t, int rank, const int64_t *extent)
{
    const axe_node **shape;
    int64_t          size = 1;

    if (rank < 0 || rank > AXE_RANK_MAX)
        return axe_build_fail(b, AXE_ESHAPE,
                              "`%s` has %d dimensions; it must have 0 to %d",
                              t->name, rank, AXE_RANK_MAX);
    if (rank > 0 && !extent)
        return axe_build_fail(b, AXE_EARG, "`%s` has no extents", t->name);
    shape = axe_new_array(b->cx, const axe_node *, rank);
    for (int k = 0; k < rank; k++) {
        if (extent[k] < 1)
            return axe_build_fail(b, AXE_ESHAPE,
                                  "extent %d of `%s` is %" PRId64
                                  "; it must be at least 1",
                                  k, t->name, extent[k]);
        if (!axe_mul(size, extent[k], &size) || size > INT64_MAX / 64)
            return axe_build_fail(b, AXE_EOVERFLOW,
                                  "`%s` has too many elements for 64-bit "
                                  "addresses",
                                  t->name);
        shape[k] = axe_iconst(b->cx, b->at, AXE_TYPE_INDEX, extent[k]);
    }
    t->rank = rank;
    t->shape = shape;
    return true;
}

static bool
tile_layout(axe_builder *b, axe_tensor *t, const int64_t *extent,
            const axe_layout *layout)
{
    axe_mark    mark = axe_ctx_mark(b->cx);
    const char *why;
    axe_status  st = axe_layout_group(b->cx, layout,
                                      (axe_shape){t->rank, extent}, &t->layout);

    if (st == AXE_OK)
        return true;
    why = axe_last_error(b->cx);
    why = axe_intern(b->cx, why, strlen(why));
    axe_ctx_release(b->cx, mark);
    return axe_build_fail(b, st, "this layout does not fit `%s`: %s", t->name,
                          why);
}

static const char *
tile_name(axe_builder *b, const char *name)
{
    const axe_ir_pipeline *p = b->block->ring;

    if (!(name = axe_build_name(b, name)) || !p)
        return name;
    name = axe_textf(b->cx, "%s.%s", p->ring->name, name);
    return axe_intern(b->cx, name, strlen(name));
}

axe_ir_tensor *
axe_build_tile(axe_builder *b, const char *space, const char *type,
               const char *name, int rank, const int64_t *extent,
               const axe_layout *layout)
{
    axe_tensor    *t;
    axe_ir_tensor *h;
    axe_stmt      *s;

    if (!axe_build_begin(b))
        return NULL;
    t = axe_new(b->cx, axe_tensor);
    t->at = b->at;
    if (!tile_space(b, space, &t->space) ||
        !axe_build_type(b, type, &t->type) || !(t->name = tile_name(b, name)) ||
        !tile_shape(b, t, rank, extent) ||
        (layout && !tile_layout(b, t, extent, layout)))
        return NULL;
    t->id = b->kernel->n_tensor++;
    if (b->block->ring) {
        t->pipeline = b->block->ring->ring;
        axe_list_push(&b->block->body, t);
    } else {
        s = axe_build_stmt(b, AXE_STMT_TENSOR);
        s->tensor = t;
        axe_list_push(&b->block->body, s);
    }
    h = axe_new(b->cx, axe_ir_tensor);
    h->owner = b;
    h->tensor = t;
    h->fill = axe_new_array(b->cx, const axe_node *, rank);
    return h;
}

/* -------------------------------------------------------- index statements */

static void
assign(axe_builder *b, const axe_node *dst, axe_fold fold,
       const axe_node *value)
{
    axe_stmt  *s = axe_build_stmt(b, AXE_STMT_INDEX);
    axe_status st;

    if (!s)
        return;
    s->dst = dst;
    s->fold = fold;
    s->value = value;
    st = axe_stmt_domain(b->cx, &b->tiled, s);
    if (st != AXE_OK) {
        b->status = st;
        return;
    }
    s->id = b->kernel->n_index_stmt++;
    axe_list_push(&b->block->body, s);
    b->last = s;
}

static bool
assign_op(axe_builder *b, const char *text, axe_fold *out)
{
    const char *known[AXE_FOLD_MIN + 1];

    for (int f = AXE_FOLD_NONE; f <= AXE_FOLD_MIN; f++) {
        known[f] = axe_textf(b->cx, "%s=", axe_fold_text((axe_fold)f));
        if (text && strcmp(known[f], text) == 0) {
            *out = (axe_fold)f;
            return true;
        }
    }
    return axe_build_unknown(b, "assignment", text, AXE_LEN(known), known);
}

void
axe_build_assign(axe_builder *b, const axe_ir_expr *dst, const char *op,
                 const axe_ir_expr *value)
{
    axe_fold fold;

    if (!axe_build_begin(b) || !axe_build_has_expr(b, dst, "the destination") ||
        !axe_build_has_expr(b, value, "the value") || !assign_op(b, op, &fold))
        return;
    if (dst->node->op != AXE_OP_load)
        axe_build_fail(b, AXE_ETYPE,
                       "only elements of tensors are assigned, not `%s`",
                       axe_node_text(b->cx, dst->node));
    else
        assign(b, dst->node, fold, value->node);
}

/* The index `tile.k`, one for each dimension of a tile. */
static const axe_node *
fill_index(axe_builder *b, const axe_tensor *t, int k)
{
    const char *name = axe_textf(b->cx, "%s.%d", t->name, k);

    name = axe_intern(b->cx, name, strlen(name));
    return axe_var_node(b->cx, b->at,
                        axe_build_var(b, AXE_VAR_INDEX, name, NULL));
}

void
axe_build_fill(axe_builder *b, const axe_ir_tensor *tile,
               const axe_ir_expr *value)
{
    const axe_tensor *t;

    if (!axe_build_begin(b) || !axe_build_has_tensor(b, tile) ||
        !axe_build_has_expr(b, value, "the value"))
        return;
    if (!tile->fill) {
        axe_build_fail(b, AXE_ETYPE, "`%s` is an argument, not a tile",
                       tile->tensor->name);
        return;
    }
    t = tile->tensor;
    for (int k = 0; k < t->rank; k++)
        if (!tile->fill[k])
            tile->fill[k] = fill_index(b, t, k);
    assign(b, axe_load(b->cx, b->at, t, tile->fill), AXE_FOLD_NONE,
           value->node);
}
