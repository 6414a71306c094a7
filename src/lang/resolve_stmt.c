/* resolve_stmt.c - statements other than index statements. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "lang/resolve_int.h"
#include "layout/layout_int.h"

static axe_stmt *
new_stmt(axe_resolver *r, axe_stmt_kind kind, axe_span at)
{
    axe_stmt *s = axe_new(r->cx, axe_stmt);

    s->kind = kind;
    s->at = at;
    return s;
}

static void
set_body(axe_stmt *s, const axe_list *body)
{
    s->n_body = body->n;
    s->body = (axe_stmt *const *)(const void *)body->item;
}

/* ---------------------------------------------------------------- tensors */

/* Constant extents, all positive, of a size that fits. */
static bool
resolve_shape(axe_resolver *r, const axe_tensor_decl *d, const axe_node **shape)
{
    int64_t size = 1, extent;

    for (int k = 0; k < d->n_dim; k++) {
        if (!axe_resolve_int(r, d->dim[k], "an extent of a tile", &extent))
            return false;
        if (extent < 1)
            return axe_resolve_fail(
                r, axe_fail(r->cx, d->dim[k]->at, AXE_ESHAPE,
                            "extent `%s` is %" PRId64 "; it must be at least 1",
                            d->dim_text[k], extent));
        if (!axe_mul(size, extent, &size) || size > INT64_MAX / 64)
            return axe_resolve_fail(r,
                                    axe_fail(r->cx, d->word.at, AXE_EOVERFLOW,
                                             "`%s` has too many elements for "
                                             "64-bit addresses",
                                             d->word.name));
        shape[k] = axe_iconst(r->cx, d->dim[k]->at, AXE_TYPE_INDEX, extent);
    }
    return true;
}

static axe_entry *
find_text(axe_resolver *r, const char *name)
{
    return axe_names_find(r, axe_intern(r->cx, name, strlen(name)));
}

static bool
layout_constant(void *user, const char *name, int64_t *value)
{
    const axe_entry *e = find_text(user, name);

    return e && e->kind == AXE_ENTRY_CONST && axe_is_iconst(e->value, value);
}

static const axe_layout *
layout_named(void *user, const char *name)
{
    const axe_entry *e = find_text(user, name);

    return e && e->kind == AXE_ENTRY_LAYOUT ? e->layout : NULL;
}

/* The layout written in bytes [begin, end) of the source. */
static const axe_layout *
read_layout(axe_resolver *r, axe_span at, size_t begin, size_t end)
{
    axe_expr_env env = {r, layout_constant, layout_named};
    axe_value    v;
    size_t       len, stop;
    const char  *text = axe_source_text(r->cx, r->source, &len);
    axe_status st = axe_expr_eval_at(r->cx, r->source, begin, &env, &v, &stop);

    if (st == AXE_OK)
        stop += strspn(text + stop, " \t\r\n");
    if (st == AXE_OK && stop < end) {
        st = axe_fail(r->cx, at, AXE_ESYNTAX, "the layout ends before `%.*s`",
                      (int)(end - stop), text + stop);
        if (text[stop] == ':')
            axe_help(r->cx, "a layout has parentheses on both sides: "
                            "(4) : (1@lane)");
    }
    if (st == AXE_OK && v.kind != AXE_VALUE_LAYOUT)
        st = axe_fail(r->cx, at, AXE_ETYPE, "`%s` is not a layout",
                      axe_value_text(r->cx, &v));
    if (st == AXE_OK)
        return v.layout;
    axe_resolve_fail(r, st);
    return NULL;
}

/* The layout declared for a tile of this shape. */
static const axe_layout *
tile_layout(axe_resolver *r, const axe_tensor_decl *d, const axe_node **shape)
{
    int64_t          *extent = axe_new_array(r->cx, int64_t, d->n_dim);
    axe_shape         s = {d->n_dim, extent};
    const axe_layout *l, *grouped;
    const char       *why;
    axe_mark          mark;
    axe_status        st;

    for (int k = 0; k < d->n_dim; k++)
        axe_is_iconst(shape[k], &extent[k]);
    l = read_layout(r, d->layout_at, d->layout_begin, d->layout_end);
    if (!l)
        return NULL;
    mark = axe_ctx_mark(r->cx);
    st = axe_layout_group(r->cx, l, s, &grouped);
    if (st == AXE_OK)
        return grouped;
    why = axe_last_error(r->cx);
    why = axe_intern(r->cx, why, strlen(why));
    axe_ctx_release(r->cx, mark);
    axe_resolve_fail(r, axe_fail(r->cx, d->layout_at, st,
                                 "this layout does not fit `%s`: %s",
                                 d->word.name, why));
    return NULL;
}

/* `auto`, and what follows it: replicas of the layout to be inferred. */
static void
tile_replicas(axe_resolver *r, const axe_tensor_decl *d, axe_tensor *t)
{
    axe_literal_env   env = {r, layout_constant, NULL};
    size_t            len, stop = 0, at = d->layout_begin + strlen("auto");
    const char       *text = axe_source_text(r->cx, r->source, &len);
    const axe_layout *l = NULL;
    axe_axis          cta;
    axe_status        st = axe_cluster_axis(r->cx, &cta);

    if (st == AXE_OK)
        st = axe_replicas_read_at(r->cx, r->source, text, d->layout_end, at,
                                  &env, &l, &stop);
    if (st == AXE_OK && stop < d->layout_end)
        st = axe_fail(r->cx, d->layout_at, AXE_ESYNTAX,
                      "after `auto` only replicas stand, as in `auto + [2 : "
                      "1@cta]`");
    if (st != AXE_OK) {
        axe_resolve_fail(r, st);
        return;
    }
    t->n_replica = l->n_replica;
    t->replica = l->replica;
}

static bool
is_auto(const char *layout)
{
    return strncmp(layout, "auto", 4) == 0 &&
           (layout[4] == '\0' || strchr(" \t\r\n+", layout[4]));
}

static const char *
ir_name(axe_resolver *r, axe_word word, const axe_tensor_decl *d,
        const axe_pipeline *ring)
{
    return ring ? axe_member_name(r, (axe_word){ring->name, word.at}, d->word)
                      .name
                : word.name;
}

/* The entry of a tile, BAD after an error. */
static axe_entry *
declare_tile(axe_resolver *r, const axe_tensor_decl *d, axe_word word,
             const axe_pipeline *ring)
{
    axe_tensor      *t = axe_new(r->cx, axe_tensor);
    const axe_node **shape = axe_new_array(r->cx, const axe_node *, d->n_dim);
    bool             ok =
        axe_resolve_type(r, d->type, &t->type) && resolve_shape(r, d, shape);
    axe_entry *e =
        axe_names_add(r, ok ? AXE_ENTRY_TENSOR : AXE_ENTRY_BAD, word);

    if (e->kind == AXE_ENTRY_BAD)
        return e;
    if (d->n_dim > AXE_RANK_MAX) {
        axe_resolve_fail(r, axe_fail(r->cx, word.at, AXE_ELIMIT,
                                     "`%s` has %d dimensions; at most %d are "
                                     "supported",
                                     word.name, d->n_dim, AXE_RANK_MAX));
        e->kind = AXE_ENTRY_BAD;
        return e;
    }
    t->name = axe_names_fresh(r, ir_name(r, word, d, ring), AXE_NAMED_TILE);
    t->at = word.at;
    t->id = r->kernel->n_tensor++;
    t->space = d->space;
    t->rank = d->n_dim;
    t->shape = shape;
    t->pipeline = ring;
    if (d->layout_text && is_auto(d->layout_text))
        tile_replicas(r, d, t);
    else if (d->layout_text)
        t->layout = tile_layout(r, d, shape);
    e->tensor = t;
    return e;
}

axe_stmt *
axe_resolve_set(axe_resolver *r, axe_word word, const axe_expr *value)
{
    axe_expr  *place = axe_new(r->cx, axe_expr);
    axe_syntax set = {.kind = AXE_SYNTAX_ASSIGN, .at = word.at, .value = value};

    place->kind = AXE_EXPR_NAME;
    place->at = word.at;
    place->word = word;
    set.dst = place;
    return axe_resolve_assign(r, &set, NULL);
}

/* name[d0, d1, ...] = init over the whole tile. */
static axe_stmt *
init_stmt(axe_resolver *r, const axe_tensor_decl *d, const axe_tensor *t)
{
    axe_stmt        *s = new_stmt(r, AXE_STMT_INDEX, d->word.at);
    const axe_node **sub = axe_new_array(r->cx, const axe_node *, t->rank);
    axe_typed        v = axe_resolve_value(r, d->init, AXE_NO_TYPE);
    const char      *name;

    if (!v.node)
        return NULL;
    if (v.literal != AXE_LITERAL) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, d->init->at, AXE_ETYPE,
                                  "a tile begins as a compile-time constant, "
                                  "and `%s` is not one",
                                  axe_node_text(r->cx, v.node)));
        return NULL;
    }
    for (int k = 0; k < t->rank; k++) {
        name = axe_textf(r->cx, "%s.%d", t->name, k);
        name = axe_intern(r->cx, name, strlen(name));
        sub[k] = axe_var_node(r->cx, d->word.at,
                              axe_resolve_index_var(r, name, d->word.at));
    }
    s->dst = axe_load(r->cx, d->word.at, t, sub);
    s->value = axe_resolve_to(r, v, t->type, d->init->at,
                              axe_textf(r->cx, "`%s` is", t->name));
    return s->value ? axe_resolve_finish(r, s) : NULL;
}

static void
resolve_tile(axe_resolver *r, const axe_tensor_decl *d, axe_list *out)
{
    axe_entry *e = declare_tile(r, d, d->word, NULL);
    axe_stmt  *s = new_stmt(r, AXE_STMT_TENSOR, d->word.at), *init;

    if (e->kind == AXE_ENTRY_BAD)
        return;
    s->tensor = e->tensor;
    axe_list_push(out, s);
    if (!d->init)
        return;
    if (e->tensor->rank == 0)
        init = axe_resolve_set(r, d->word, d->init);
    else {
        e->written = e->touched = true;
        init = init_stmt(r, d, e->tensor);
    }
    if (init)
        axe_list_push(out, init);
}

static void
resolve_tensor(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    if (x->tensor[0]->space == AXE_SPACE_GLOBAL)
        axe_resolve_global(r, x, out);
    else
        resolve_tile(r, x->tensor[0], out);
}

/* -------------------------------------------------------------- pipelines */

static bool
resolve_stages(axe_resolver *r, const axe_syntax *x, int *out)
{
    int64_t n;

    if (!axe_resolve_int(r, x->value, "the number of stages", &n))
        return false;
    if (n < 1 || n > 1024)
        return axe_resolve_fail(
            r, axe_fail(r->cx, x->value->at, AXE_ESHAPE,
                        "a pipeline has 1 to 1024 stages, not %" PRId64, n));
    *out = (int)n;
    return true;
}

axe_word
axe_member_name(axe_resolver *r, axe_word ring, axe_word member)
{
    const char *name = axe_textf(r->cx, "%s.%s", ring.name, member.name);

    return (axe_word){axe_intern(r->cx, name, strlen(name)), member.at};
}

static void
resolve_pipeline(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_pipeline *ring = axe_new(r->cx, axe_pipeline);
    axe_entry    *e = axe_names_add(r, AXE_ENTRY_PIPELINE, x->word), *m;
    axe_list      member = {.cx = r->cx};
    axe_stmt     *s = new_stmt(r, AXE_STMT_PIPELINE, x->at);
    bool          ok = resolve_stages(r, x, &ring->n_stage);

    ring->name = axe_names_fresh(r, x->word.name, AXE_NAMED_TILE);
    ring->at = x->word.at;
    if (x->n_tensor == 0)
        ok = axe_resolve_fail(r, axe_fail(r->cx, x->at, AXE_ESHAPE,
                                          "pipeline `%s` holds no tensors",
                                          ring->name));
    for (int i = 0; i < x->n_tensor; i++) {
        const axe_tensor_decl *d = x->tensor[i];
        m = declare_tile(r, d, axe_member_name(r, x->word, d->word), ring);
        m->pipeline = e;
        if (d->init)
            axe_resolve_fail(r, axe_fail(r->cx, d->init->at, AXE_ETYPE,
                                         "a tensor in a pipeline has no "
                                         "initial value"));
        axe_list_push(&member, m->tensor);
    }
    ring->n_tensor = member.n;
    ring->tensor = (const axe_tensor *const *)(const void *)member.item;
    e->ring = ring;
    s->pipeline = ring;
    if (ok)
        axe_list_push(out, s);
}

/* A stage begins unwritten; consume reads what every produce has written.
 * `stale`: some produce before did not write it. */
static void
begin_stage(axe_resolver *r, const axe_entry *ring)
{
    for (int i = 0; i < r->names.n; i++) {
        axe_entry *m = (axe_entry *)r->names.item[i];
        if (m->pipeline != ring)
            continue;
        m->stale = m->touched && !m->written;
        m->written = false;
    }
}

static void
end_stage(axe_resolver *r, const axe_entry *ring)
{
    for (int i = 0; i < r->names.n; i++) {
        axe_entry *m = (axe_entry *)r->names.item[i];
        if (m->pipeline == ring)
            m->written = m->written && !m->stale;
    }
}

static void
resolve_stage(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    bool          produce = x->kind == AXE_SYNTAX_PRODUCE;
    axe_stmt_kind kind = produce ? AXE_STMT_PRODUCE : AXE_STMT_CONSUME;
    axe_stmt     *s = new_stmt(r, kind, x->at);
    axe_entry    *e = axe_names_need(r, x->word, "pipeline");
    axe_list      body = {.cx = r->cx};
    axe_entry     none = {.stage = AXE_STMT_PIPELINE};

    if (e && e->kind != AXE_ENTRY_PIPELINE) {
        axe_resolve_fail(r, axe_fail(r->cx, x->word.at, AXE_ETYPE,
                                     "`%s` is %s, not a pipeline", e->name,
                                     axe_entry_text(e)));
        return;
    }
    if (!e) {
        e = axe_names_find(r, x->word.name)
                ? &none
                : axe_names_add(r, AXE_ENTRY_BAD, x->word);
    }
    if (e->stage != AXE_STMT_PIPELINE) {
        axe_resolve_fail(
            r,
            axe_fail(r->cx, x->at, AXE_ENAME, "this is inside `%s %s` already",
                     e->stage == AXE_STMT_PRODUCE ? "produce" : "consume",
                     e->name));
        return;
    }
    e->stage = kind;
    if (produce)
        begin_stage(r, e);
    axe_resolve_inner(r, x->n_body, x->body, &body);
    if (produce)
        end_stage(r, e);
    e->stage = AXE_STMT_PIPELINE;
    s->pipeline = e->ring;
    set_body(s, &body);
    axe_list_push(out, s);
}

static void
resolve_turn(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_stmt *s = new_stmt(r, AXE_STMT_TURN, x->at);
    axe_list  body = {.cx = r->cx};

    axe_resolve_inner(r, x->n_body, x->body, &body);
    set_body(s, &body);
    axe_list_push(out, s);
}

/* ------------------------------------------------------------------ rest */

static void
resolve_index_decl(axe_resolver *r, const axe_syntax *x)
{
    for (int i = 0; i < x->n_word; i++) {
        axe_word   w = *x->words[i];
        axe_entry *e = axe_names_add(r, AXE_ENTRY_INDEX, w);
        e->var = axe_resolve_index_var(r, w.name, w.at);
    }
}

static void
resolve_const(axe_resolver *r, const axe_syntax *x)
{
    axe_typed  v = axe_resolve_value(r, x->value, AXE_NO_TYPE);
    axe_entry *e;

    if (v.node && v.literal != AXE_LITERAL) {
        axe_resolve_fail(r, axe_fail(r->cx, x->value->at, AXE_ETYPE,
                                     "`%s` is not a compile-time constant",
                                     axe_node_text(r->cx, v.node)));
        v.node = NULL;
    }
    e = axe_names_add(r, v.node ? AXE_ENTRY_CONST : AXE_ENTRY_BAD, x->word);
    e->value = v.node;
}

static void
resolve_layout(axe_resolver *r, const axe_syntax *x)
{
    const axe_layout *l =
        read_layout(r, x->layout_at, x->layout_begin, x->layout_end);
    axe_entry *e =
        axe_names_add(r, l ? AXE_ENTRY_LAYOUT : AXE_ENTRY_BAD, x->word);

    e->layout = l;
}

void
axe_resolve_one(axe_resolver *r, const axe_syntax *x, axe_list *out)
{
    axe_stmt *s;

    if (!axe_resolve_may_expand(r) || !axe_resolve_reached(r, x))
        return;
    switch (x->kind) {
    case AXE_SYNTAX_SCOPE:
        axe_resolve_scope(r, x, out);
        break;
    case AXE_SYNTAX_ROLES:
    case AXE_SYNTAX_OVERLAP:
        axe_resolve_group(r, x, out);
        break;
    case AXE_SYNTAX_TURN:
        resolve_turn(r, x, out);
        break;
    case AXE_SYNTAX_DEVICE:
        axe_resolve_device(r, x, out);
        break;
    case AXE_SYNTAX_FOR:
        axe_resolve_for(r, x, out);
        break;
    case AXE_SYNTAX_WHILE:
        axe_resolve_while(r, x, out);
        break;
    case AXE_SYNTAX_BREAK:
    case AXE_SYNTAX_CONTINUE:
        axe_resolve_leave(r, x, out);
        break;
    case AXE_SYNTAX_TENSOR:
        resolve_tensor(r, x, out);
        break;
    case AXE_SYNTAX_PIPELINE:
        resolve_pipeline(r, x, out);
        break;
    case AXE_SYNTAX_PRODUCE:
    case AXE_SYNTAX_CONSUME:
        resolve_stage(r, x, out);
        break;
    case AXE_SYNTAX_CALL:
        axe_resolve_call(r, x, out);
        break;
    case AXE_SYNTAX_IF:
        axe_resolve_if(r, x, out);
        break;
    case AXE_SYNTAX_INDEX:
        resolve_index_decl(r, x);
        break;
    case AXE_SYNTAX_CONST:
        resolve_const(r, x);
        break;
    case AXE_SYNTAX_LAYOUT:
        resolve_layout(r, x);
        break;
    case AXE_SYNTAX_BARRIER:
        axe_list_push(out, new_stmt(r, AXE_STMT_BARRIER, x->at));
        break;
    case AXE_SYNTAX_ASSIGN:
        s = axe_resolve_assign(r, x, out);
        if (s)
            axe_list_push(out, s);
        break;
    }
    axe_resolve_note_calls(r);
}

void
axe_resolve_body(axe_resolver *r, int n, const axe_syntax *const *s,
                 axe_list *out)
{
    int mark = r->names.n;

    r->depth++;
    for (int i = 0; i < n; i++)
        axe_resolve_one(r, s[i], out);
    r->depth--;
    axe_names_leave(r, mark);
}
