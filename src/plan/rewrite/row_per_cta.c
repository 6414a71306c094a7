/* row_per_cta.c - copies of a scope whose rows are kept, or taken one by one.
 *
 * Rows know nothing of one another where every statement counts them by the
 * index m, and m is nowhere but in the row's number and as the first subscript
 * of tiles.  Then m goes: a CTA has one row, and tiles lose a dimension. */
#include "ir/list.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/rewrite/row_cache.h"

/* ------------------------------------------------------------------- one row
 */

/* The index by which the statement counts rows: m, or where it sets a tile
 * whole, the one of the tile's first dimension; NULL: none. */
static const axe_var *
rows_of(const axe_keep *x, const axe_stmt *s)
{
    const axe_node *first = s->dst->n_arg > 0 ? s->dst->arg[0] : NULL;

    for (int i = 0; i < s->n_free; i++)
        if (s->dim[i].var == x->m ||
            (s->dst->u.tensor->space == AXE_SPACE_REG &&
             first->op == AXE_OP_var && first->u.var == s->dim[i].var &&
             axe_node_same(s->dim[i].extent, x->rows)))
            return s->dim[i].var;
    return NULL;
}

/* Are i and m, as the statement calls it, in n only as the row's number, and as
 * what counts tiles? */
static bool
is_apart(const axe_keep *x, const axe_var *m, const axe_node *n)
{
    int  first = 0;
    bool ok = true;

    if (axe_node_same(n, x->row))
        return true;
    if (n->op == AXE_OP_var)
        return n->u.var != m && n->u.var != x->scope->var[0];
    if (n->op == AXE_OP_load && n->u.tensor->space == AXE_SPACE_REG) {
        if (n->n_arg == 0 || n->arg[0]->op != AXE_OP_var ||
            n->arg[0]->u.var != m ||
            !axe_node_same(n->u.tensor->shape[0], x->rows))
            return false;
        first = 1;
    }
    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        ok = ok && n->u.reduce.over[i] != m;
    for (int i = first; i < n->n_arg; i++)
        ok = ok && is_apart(x, m, n->arg[i]);
    return ok;
}

static bool
stmt_apart(const axe_keep *x, const axe_stmt *s)
{
    const axe_var *m;

    if (s->kind == AXE_STMT_FOR)
        return is_apart(x, x->m, s->var[0]->extent);
    if (s->kind == AXE_STMT_IF)
        return is_apart(x, x->m, s->cond);
    if (s->kind != AXE_STMT_INDEX)
        return true;
    m = rows_of(x, s);
    return m && is_apart(x, m, s->dst) && is_apart(x, m, s->value);
}

static bool
body_apart(const axe_keep *x, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++)
        if (!stmt_apart(x, body[i]) ||
            !body_apart(x, body[i]->n_body, body[i]->body) ||
            !body_apart(x, body[i]->n_other, body[i]->other))
            return false;
    return true;
}

bool
axe_keep_apart(axe_keep *x)
{
    const axe_node *end = x->scope->var[0]->extent;

    return end->op == AXE_OP_cdiv && axe_node_same(end->arg[1], x->rows) &&
           body_apart(x, x->scope->n_body, x->scope->body);
}

/* ---------------------------------------------------------------------- type
 */

typedef struct reader {
    const axe_node *load;
    bool            any, differ;
    axe_type        type;
} reader;

static void
note_type(reader *r, axe_type t)
{
    r->differ = r->differ || (r->any && r->type != t);
    r->any = true;
    r->type = t;
}

static void
find_readers(reader *r, const axe_node *n)
{
    for (int i = 0; i < n->n_arg; i++)
        if (axe_node_same(n->arg[i], r->load))
            note_type(r, n->op == AXE_OP_cast ? n->type : r->load->type);
        else
            find_readers(r, n->arg[i]);
    if (axe_node_same(n, r->load))
        note_type(r, n->type);
}

static void
find_in_body(reader *r, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            find_readers(r, body[i]->value);
        find_in_body(r, body[i]->n_body, body[i]->body);
        find_in_body(r, body[i]->n_other, body[i]->other);
    }
}

axe_type
axe_keep_type(const axe_keep *x, int load)
{
    reader r = {.load = x->load[load]};

    find_in_body(&r, x->scope->n_body, x->scope->body);
    return !r.differ && axe_type_widens(r.load->type, r.type) ? r.type
                                                              : r.load->type;
}

/* -------------------------------------------------------------------- copies
 */

typedef struct copying {
    axe_keep           *x;
    const axe_keep_way *way;
    const axe_var      *i, *n; /* in place of the scope's and the row's */
    const axe_tensor   *kept[AXE_KEEP_LOADS];
    bool                made[AXE_KEEP_LOADS]; /* it is x->made by now */
    axe_list            old_tile, tile;       /* const axe_tensor * */
    axe_list            old_loop, loop;       /* const axe_var * */
} copying;

static const axe_node *copy_node(copying *c, const axe_node *n, bool keep);

/* What `to` has in the place where `from` has it; NULL: it is not there. */
static const void *
copy_of(const axe_list *from, const axe_list *to, const void *it)
{
    for (int i = 0; i < from->n; i++)
        if (from->item[i] == it)
            return to->item[i];
    return NULL;
}

static const axe_node *
index_node(const copying *c, const axe_var *v)
{
    return axe_var_node(c->x->cx, c->x->scope->at, v);
}

/* The load of what is kept of load k. */
static const axe_node *
kept_node(copying *c, int k)
{
    const axe_node *at[2] = {index_node(c, c->x->m), index_node(c, c->n)};

    return axe_load(c->x->cx, c->x->load[k]->at, c->kept[k],
                    at + c->way->apart);
}

static const axe_node *
copy_load(copying *c, const axe_node *n, bool keep)
{
    const axe_tensor *tile = copy_of(&c->old_tile, &c->tile, n->u.tensor);
    int               first = tile && c->way->apart;
    const axe_node  **at =
        axe_new_array(c->x->cx, const axe_node *, n->n_arg + 1);

    for (int i = first; i < n->n_arg; i++)
        at[i - first] = copy_node(c, n->arg[i], keep);
    return axe_load(c->x->cx, n->at, tile ? tile : n->u.tensor, at);
}

static const axe_node *
copy_reduce(copying *c, const axe_node *n, bool keep)
{
    int      k = n->u.reduce.n_over;
    axe_dim *dim = axe_new_array(c->x->cx, axe_dim, k);

    for (int i = 0; i < k; i++) {
        dim[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
        if (dim[i].var == c->x->n && c->way->most > 0)
            dim[i] = (axe_dim){c->n, axe_iconst(c->x->cx, n->at, AXE_TYPE_INDEX,
                                                c->way->most)};
    }
    return axe_reduce(c->x->cx, n->at, n->u.reduce.fold, k, dim,
                      copy_node(c, n->arg[0], keep));
}

static const axe_node *
copy_var_node(copying *c, const axe_node *n)
{
    const axe_var *loop = copy_of(&c->old_loop, &c->loop, n->u.var);

    if (loop)
        return index_node(c, loop);
    return n->u.var == c->x->scope->var[0] ? index_node(c, c->i)
           : n->u.var == c->x->n           ? index_node(c, c->n)
                                           : n;
}

/* n in the copy; `keep`: with what is kept in place of loads. */
static const axe_node *
copy_node(copying *c, const axe_node *n, bool keep)
{
    const axe_node *inner = n->op == AXE_OP_cast ? n->arg[0] : n;
    axe_node       *out;

    for (int k = 0; keep && k < c->x->n_load; k++)
        if (c->made[k] ? axe_node_same(n, c->x->made[k])
                       : axe_node_same(inner, c->x->load[k]) &&
                             n->type == c->kept[k]->type)
            return kept_node(c, k);
    if (c->way->apart && axe_node_same(n, c->x->row))
        return index_node(c, c->i);
    if (n->op == AXE_OP_var)
        return copy_var_node(c, n);
    if (n->op == AXE_OP_load)
        return copy_load(c, n, keep);
    if (n->op == AXE_OP_reduce)
        return copy_reduce(c, n, keep);
    if (n->n_arg == 0)
        return n;
    out = axe_new_flex(c->x->cx, axe_node, arg, n->n_arg);
    *out = *n;
    for (int i = 0; i < n->n_arg; i++)
        out->arg[i] = copy_node(c, n->arg[i], keep);
    return out;
}

/* The statement's dims as the copy has them; m counts its rows. */
static void
set_dims(copying *c, axe_stmt *s, const axe_var *m, int n, const axe_dim *dim,
         int n_free)
{
    axe_dim *out = axe_new_array(c->x->cx, axe_dim, n + 1);

    s->n_dim = s->n_free = 0;
    for (int i = 0; i < n; i++) {
        axe_dim d = dim[i];
        if (d.var == m && c->way->apart)
            continue;
        if (d.var == c->x->n && c->way->most > 0)
            d = (axe_dim){c->n, axe_iconst(c->x->cx, s->at, AXE_TYPE_INDEX,
                                           c->way->most)};
        s->n_free += i < n_free;
        out[s->n_dim++] = d;
    }
    s->dim = out;
}

static const axe_tensor *
copy_tile(copying *c, const axe_tensor *t)
{
    axe_tensor *out = axe_new(c->x->cx, axe_tensor);

    *out = *t;
    out->id = c->x->k->n_tensor++;
    if (c->way->apart) {
        out->rank--;
        out->shape++;
    }
    axe_list_push(&c->old_tile, t);
    axe_list_push(&c->tile, out);
    return out;
}

static axe_var *
copy_var(copying *c, const axe_var *v)
{
    axe_var *out = axe_new(c->x->cx, axe_var);

    *out = *v;
    out->id = c->x->k->n_var++;
    return out;
}

/* A loop's variable, which may run as far as the scope's says. */
static const axe_var *const *
copy_loop(copying *c, const axe_stmt *s)
{
    const axe_var **var = axe_new_array(c->x->cx, const axe_var *, 1);
    axe_var        *v = copy_var(c, s->var[0]);

    v->extent = copy_node(c, v->extent, false);
    axe_list_push(&c->old_loop, s->var[0]);
    axe_list_push(&c->loop, v);
    var[0] = v;
    return var;
}

static void copy_body(copying *c, int *n, axe_stmt *const **body);

static axe_stmt *
copy_stmt(copying *c, const axe_stmt *s)
{
    axe_stmt *out = axe_new(c->x->cx, axe_stmt);
    bool      keep = c->way->most > 0;

    *out = *s;
    if (s->kind == AXE_STMT_TENSOR)
        out->tensor = copy_tile(c, s->tensor);
    if (s->kind == AXE_STMT_INDEX) {
        out->id = c->x->k->n_index_stmt++;
        out->dst = copy_node(c, s->dst, false);
        out->value = copy_node(c, s->value, keep);
        set_dims(c, out, rows_of(c->x, s), s->n_dim, s->dim, s->n_free);
    }
    if (s->kind == AXE_STMT_FOR)
        out->var = copy_loop(c, s);
    if (s->kind == AXE_STMT_IF)
        out->cond = copy_node(c, s->cond, false);
    copy_body(c, &out->n_body, &out->body);
    copy_body(c, &out->n_other, &out->other);
    return out;
}

static void
copy_body(copying *c, int *n, axe_stmt *const **body)
{
    axe_stmt **out = axe_new_array(c->x->cx, axe_stmt *, *n + 1);

    for (int i = 0; i < *n; i++)
        out[i] = copy_stmt(c, (*body)[i]);
    *body = out;
}

/* kept[m, n] = value */
static axe_stmt *
make_stmt(copying *c, int k, const axe_node *value)
{
    axe_keep       *x = c->x;
    const axe_node *most =
        axe_iconst(x->cx, x->scope->at, AXE_TYPE_INDEX, c->way->most);
    axe_dim   dim[2] = {{x->m, x->rows}, {x->n, most}};
    axe_span  at = x->load[k]->at;
    axe_stmt *s =
        axe_index_make(x->cx, x->k, at, kept_node(c, k),
                       axe_cast(x->cx, at, c->kept[k]->type, value), 0, NULL);

    set_dims(c, s, x->m, 2, dim, 2);
    return s;
}

/* The tile for what load k reads. */
static axe_stmt *
make_tile(copying *c, int k)
{
    axe_keep        *x = c->x;
    const axe_node **shape = axe_new_array(x->cx, const axe_node *, 2);
    axe_stmt        *s;

    shape[0] = x->rows;
    shape[1] = axe_iconst(x->cx, x->scope->at, AXE_TYPE_INDEX, c->way->most);
    s = axe_tile_make(
        x->cx, x->k,
        &(axe_tensor){
            .name = axe_textf(x->cx, "%s.kept", x->load[k]->u.tensor->name),
            .at = x->load[k]->at,
            .space = AXE_SPACE_REG,
            .type = c->way->as_is ? x->load[k]->type : axe_keep_type(x, k),
            .rank = c->way->apart ? 1 : 2,
            .shape = shape + c->way->apart});
    c->kept[k] = s->tensor;
    return s;
}

/* The scope's body: tiles are filled, and what is made of them is, in place. */
static void
copy_scope(copying *c, axe_stmt *out)
{
    axe_keep *x = c->x;
    axe_list  body = {.cx = x->cx};
    int       n_kept = c->way->most > 0 ? x->n_load : 0;

    for (int k = 0; k < n_kept; k++) {
        axe_list_push(&body, make_tile(c, k));
        axe_list_push(&body, make_stmt(c, k, copy_node(c, x->load[k], false)));
    }
    for (int i = 0; i < x->scope->n_body; i++) {
        for (int k = 0; k < n_kept; k++)
            if (x->made[k] && x->from[k] == i && !c->way->as_is) {
                const axe_node *made = copy_node(c, x->made[k], true);
                axe_list_push(&body, make_stmt(c, k, made));
                c->made[k] = true;
            }
        axe_list_push(&body, copy_stmt(c, x->scope->body[i]));
    }
    out->n_body = body.n;
    out->body = axe_stmt_list(&body);
}

/* `cta (i : when ? cdiv(M, step) : 0)`, or M. */
static void
set_scope(copying *c, axe_stmt *out)
{
    axe_ctx        *cx = c->x->cx;
    const axe_var **var = axe_new_array(cx, const axe_var *, 1);
    axe_var        *i = copy_var(c, c->x->scope->var[0]);
    const axe_node *n = c->way->apart ? i->extent->arg[0] : i->extent;
    const axe_node *zero = axe_iconst(cx, out->at, AXE_TYPE_INDEX, 0);
    const axe_node *arg[3] = {c->way->when, n, zero};

    i->extent =
        axe_node_new(cx, AXE_OP_select, AXE_TYPE_INDEX, out->at, 3, arg);
    var[0] = c->i = i;
    out->var = var;
    out->keys.threads = c->way->threads;
}

axe_stmt *
axe_keep_copy(axe_keep *x, const axe_keep_way *way)
{
    axe_list  empty = {.cx = x->cx};
    copying   c = {.x = x,
                   .way = way,
                   .n = x->n,
                   .old_tile = empty,
                   .tile = empty,
                   .old_loop = empty,
                   .loop = empty};
    axe_stmt *out = axe_new(x->cx, axe_stmt);

    *out = *x->scope;
    set_scope(&c, out);
    if (way->most > 0) {
        axe_var *n = copy_var(&c, x->n);
        n->limit = x->length;
        c.n = n;
    }
    copy_scope(&c, out);
    return out;
}
