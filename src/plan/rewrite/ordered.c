/* ordered.c - entities of a deterministic scope that meet do so in one order.
 *
 *     cta deterministic (s : S, i : M by BM) C[i*BM + m] += x[m];
 *
 * Each entity keeps its part, and a scope behind adds the parts up, as its plan
 * says: whoever ran first, in the same way.
 *
 *     global f32 C.part[S, M];
 *     cta deterministic (s : S, i : M by BM) C.part[s, i*BM + m] = x[m];
 *     cta deterministic (i : M by BM) C[i*BM + m] += C.part[s.part, i*BM + m];
 *
 * Where entities cannot keep parts (meets.c), those that meet are one, which
 * does their work in the order of their numbers:
 *
 *     cta deterministic (j : N by BN)
 *         for (i : M by BM) Y[rows[i*BM + m], j*BN + n] += X[i*BM + m, ...];
 */
#include <string.h>

#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "plan/access/meets.h"
#include "plan/rewrite/rewrite.h"

/* Elements that one entity adds up of a row that no text cuts, and rows. */
enum { CUT = 256, CUT_ROWS = 16 };

typedef struct ordering {
    axe_ctx          *cx;
    axe_kernel       *k;
    axe_list          meets; /* axe_meet *: of all scopes */
    axe_list          parts; /* axe_stmt *: declarations of tensors for parts */
    const axe_meet   *m;     /* the one that is kept apart now */
    const axe_tensor *part;
    axe_status        status;
} ordering;

static bool
is_told(const axe_node *dst, const axe_var *v)
{
    for (int d = 0; d < dst->n_arg; d++)
        if (axe_mentions(dst->arg[d], v))
            return true;
    return false;
}

/* A variable of that kind, which v is from now on. */
static const axe_var *
like(axe_rewriter *w, const axe_var *v, axe_var_kind kind)
{
    axe_var *out = axe_var_make(w->cx, w->k, kind, v->name, v->at);

    out->extent = axe_rewrite_node(w, v->extent);
    axe_rewrite_var(w, v, axe_var_node(w->cx, v->at, out));
    return out;
}

/* ------------------------------------------------------------------- parts */

/* C.part[those that meet, extents of C] */
static const axe_tensor *
declare(ordering *o, const axe_meet *m)
{
    const axe_tensor *of = m->stmt->dst->u.tensor;
    int               rank = m->by.n + of->rank;
    axe_tensor       *t = axe_new(o->cx, axe_tensor);
    axe_stmt         *s = axe_stmt_make(o->cx, AXE_STMT_TENSOR, of->at);
    const axe_node  **shape = axe_new_array(o->cx, const axe_node *, rank);
    axe_stride       *stride = axe_new_array(o->cx, axe_stride, rank);
    const char *name = axe_textf(o->cx, o->parts.n ? "%s.part%d" : "%s.part",
                                 of->name, o->parts.n);
    axe_status  st;

    for (int i = 0; i < m->by.n; i++)
        shape[i] = ((const axe_var *)m->by.item[i])->extent;
    for (int d = 0; d < of->rank; d++)
        shape[m->by.n + d] = of->shape[d];
    *t = (axe_tensor){.name = axe_intern(o->cx, name, strlen(name)),
                      .at = of->at,
                      .id = o->k->n_tensor++,
                      .space = AXE_SPACE_GLOBAL,
                      .type = of->type,
                      .dir = AXE_DIR_LOCAL,
                      .rank = rank,
                      .shape = shape,
                      .stride = stride};
    st = axe_tensor_strides(o->cx, t, false, stride);
    o->status = o->status == AXE_OK ? st : o->status;
    s->tensor = t;
    axe_list_push(&o->parts, s);
    return t;
}

/* part[by, dst's subscripts] */
static const axe_node *
part_at(ordering *o, const axe_node *const *by, const axe_node *dst)
{
    int              n = o->m->by.n;
    const axe_node **sub =
        axe_new_array(o->cx, const axe_node *, o->part->rank);

    for (int i = 0; i < n; i++)
        sub[i] = by[i];
    for (int d = 0; d < dst->n_arg; d++)
        sub[n + d] = dst->arg[d];
    return axe_load(o->cx, dst->at, o->part, sub);
}

/* In place of the statement: the part is what it was to add. */
static bool
keep_part(void *user, axe_stmt *s, axe_list *out)
{
    ordering        *o = user;
    axe_stmt        *own;
    const axe_node **by;

    if (s != o->m->stmt)
        return false;
    by = axe_new_array(o->cx, const axe_node *, o->m->by.n);
    for (int i = 0; i < o->m->by.n; i++)
        by[i] = axe_var_node(o->cx, s->at, o->m->by.item[i]);
    own = axe_new(o->cx, axe_stmt);
    *own = *s;
    own->dst = part_at(o, by, s->dst);
    if (s->n_dim > s->n_free)
        axe_list_push(
            out, axe_index_make(o->cx, o->k, s->at, own->dst,
                                axe_fold_unit(o->cx, s->fold, s->dst->type),
                                s->n_free, s->dim));
    else
        own->fold = AXE_FOLD_NONE;
    axe_list_push(out, own);
    return true;
}

/* ------------------------------------------------------------ the sum of them
 */

/* The scope's variable in place of v, a variable of a scope or a loop. */
static void
take_var(axe_rewriter *w, const axe_node *dst, const axe_var *v, axe_list *vars)
{
    if (is_told(dst, v))
        axe_list_push(vars, like(w, v, AXE_VAR_SCOPE));
}

/* Where no text cuts the rows of the sum, entities have some of each: the first
 * index that stands alone and runs as far as its dimension is
 * cut*CUT + index. */
static void
cut_rows(ordering *o, axe_rewriter *w, axe_dim *dim, axe_list *vars)
{
    const axe_stmt *s = o->m->stmt;
    const axe_node *dst = s->dst;

    for (int d = 0; d < dst->n_arg; d++) {
        const axe_node *n = dst->arg[d];
        int             k = 0;
        int64_t         e, step = s->n_free > 1 ? CUT_ROWS : CUT;
        axe_var        *v, *index;
        while (n->op == AXE_OP_var && k < s->n_free && dim[k].var != n->u.var)
            k++;
        if (n->op != AXE_OP_var || k == s->n_free ||
            !axe_node_same(dim[k].extent, dst->u.tensor->shape[d]) ||
            (axe_is_iconst(dim[k].extent, &e) && e <= step))
            continue;
        v = axe_var_make(o->cx, o->k, AXE_VAR_SCOPE,
                         axe_textf(o->cx, "%s.cut", n->u.var->name), n->at);
        v->extent = axe_node2(o->cx, AXE_OP_cdiv, dim[k].extent,
                              axe_index_const(o->cx, step));
        index = axe_var_make(o->cx, o->k, AXE_VAR_INDEX, n->u.var->name, n->at);
        axe_list_push(vars, v);
        axe_rewrite_var(w, n->u.var,
                        axe_node2(o->cx, AXE_OP_add,
                                  axe_node2(o->cx, AXE_OP_mul,
                                            axe_var_node(o->cx, n->at, v),
                                            axe_index_const(o->cx, step)),
                                  axe_var_node(o->cx, n->at, index)));
        dim[k] = (axe_dim){index, axe_index_const(o->cx, step)};
        return;
    }
}

/* C[...] += part[s, ...], over all s of the variables that meet. */
static axe_stmt *
sum_of(ordering *o, axe_rewriter *w, axe_list *vars)
{
    const axe_meet  *m = o->m;
    axe_stmt        *s = axe_new(o->cx, axe_stmt);
    int              n = m->by.n, n_free = m->stmt->n_free;
    axe_dim         *dim = axe_new_array(o->cx, axe_dim, n_free + n);
    const axe_node **by = axe_new_array(o->cx, const axe_node *, n);
    const axe_node  *dst;

    *s = *axe_index_make(o->cx, o->k, m->stmt->at, m->stmt->dst, NULL, n_free,
                         dim);
    for (int i = 0; i < n_free; i++)
        dim[i] = m->stmt->dim[i];
    for (int i = 0; i < n; i++) {
        const axe_var *v = m->by.item[i];
        axe_var       *index =
            axe_var_make(o->cx, o->k, AXE_VAR_INDEX,
                         axe_textf(o->cx, "%s.part", v->name), v->at);
        by[i] = axe_var_node(o->cx, v->at, index);
        dim[n_free + i] = (axe_dim){index, v->extent};
    }
    if (vars->n == 0)
        cut_rows(o, w, dim, vars);
    dst = axe_rewrite_node(w, m->stmt->dst);
    s->dst = dst;
    s->value = part_at(o, by, dst);
    s->fold = m->stmt->fold;
    s->n_dim = n_free + n;
    return s;
}

static axe_stmt *
sum_scope(ordering *o)
{
    const axe_meet *m = o->m;
    axe_rewriter    w = axe_rewriter_of(o->cx, o->k);
    axe_stmt       *s = axe_stmt_make(o->cx, AXE_STMT_SCOPE, m->stmt->at);
    axe_list        vars = {.cx = o->cx}, body = {.cx = o->cx};
    axe_var        *one;

    for (int i = 0; i < m->scope->n_var; i++)
        take_var(&w, m->stmt->dst, m->scope->var[i], &vars);
    for (int i = 0; i < m->path.n; i++) {
        const axe_stmt *in = m->path.item[i];
        for (int k = 0; k < in->n_var; k++)
            take_var(&w, m->stmt->dst, in->var[k], &vars);
    }
    axe_list_push(&body, sum_of(o, &w, &vars));
    if (vars.n == 0) {
        one = axe_var_make(o->cx, o->k, AXE_VAR_SCOPE, "all", s->at);
        one->extent = axe_index_const(o->cx, 1);
        axe_list_push(&vars, one);
    }
    s->scope = AXE_SCOPE_CTA;
    s->keys.deterministic = 1;
    s->keys.overlap = m->scope->keys.overlap ? 2 : 0;
    s->n_var = vars.n;
    s->var = (const axe_var *const *)vars.item;
    s->n_body = 1;
    s->body = axe_stmt_list(&body);
    return s;
}

static void
keep_parts(ordering *o, axe_stmt *scope, axe_list *out)
{
    axe_stmt       *own = axe_new(o->cx, axe_stmt);
    axe_body_change c = {.cx = o->cx, .before = keep_part, .user = o};
    axe_list        sums = {.cx = o->cx};

    *own = *scope;
    for (int i = 0; i < o->meets.n; i++) {
        o->m = o->meets.item[i];
        if (o->m->scope != scope || o->m->how != AXE_MEET_PARTS)
            continue;
        o->part = declare(o, o->m);
        axe_body_map(&c, &own->n_body, &own->body);
        axe_list_push(&sums, sum_scope(o));
    }
    axe_list_push(out, own);
    for (int i = 0; i < sums.n; i++)
        axe_list_push(out, sums.item[i]);
}

/* ------------------------------------------------------------------- turns */

static void
refuse(ordering *o, const axe_stmt *scope, const axe_var *v, const char *what)
{
    axe_status st =
        axe_fail(o->cx, scope->at, AXE_EUNSUPPORTED,
                 "entities of `%s` are to take turns, but %s", v->name, what);

    axe_help(o->cx, "leave that out, or run over `%s` in a `for`", v->name);
    o->status = o->status == AXE_OK ? st : o->status;
}

/* Loops over `turns` around the body, the first outermost. */
static axe_stmt *const *
in_loops(ordering *o, const axe_stmt *scope, const axe_list *turns, int *n)
{
    axe_stmt *const *body = scope->body;

    *n = scope->n_body;
    for (int i = turns->n - 1; i >= 0; i--) {
        axe_stmt *loop = axe_stmt_make(o->cx, AXE_STMT_FOR, scope->at);
        axe_list  one = {.cx = o->cx}, in = {.cx = o->cx};
        axe_list_push(&one, turns->item[i]);
        axe_list_push(&in, loop);
        loop->n_var = 1;
        loop->var = (const axe_var *const *)one.item;
        loop->n_body = *n;
        loop->body = body;
        body = axe_stmt_list(&in);
        *n = 1;
    }
    return body;
}

/* Does an entity's element leave the variable open, in one of the meets? */
static const axe_meet *
meets_by(const ordering *o, const axe_stmt *scope, const axe_var *v)
{
    for (int i = 0; i < o->meets.n; i++) {
        const axe_meet *m = o->meets.item[i];
        if (m->scope == scope && m->how == AXE_MEET_TURNS &&
            axe_list_has(&m->by, v))
            return m;
    }
    return NULL;
}

static void
take_turns(ordering *o, axe_stmt *scope, axe_list *out)
{
    axe_stmt    *own = axe_new(o->cx, axe_stmt);
    axe_list     left = {.cx = o->cx}, turns = {.cx = o->cx};
    axe_rewriter w = axe_rewriter_of(o->cx, o->k);
    int64_t     *first = axe_new_array(o->cx, int64_t, scope->n_var + 1);
    axe_var     *v;

    *own = *scope;
    for (int i = 0; i < scope->n_var; i++) {
        if (meets_by(o, scope, scope->var[i])) {
            axe_list_push(&turns, like(&w, scope->var[i], AXE_VAR_LOOP));
            continue;
        }
        first[left.n] = scope->first ? scope->first[i] : 0;
        axe_list_push(&left, scope->var[i]);
    }
    if (scope->keys.cluster > 1 && meets_by(o, scope, scope->var[0]))
        refuse(o, scope, scope->var[0], "they are CTAs of clusters");
    else if (scope->keys.group || scope->keys.hilbert)
        refuse(o, scope, turns.item[0], "their tiles have another order");
    if (left.n == 0) {
        v = axe_var_make(o->cx, o->k, AXE_VAR_SCOPE, "all", scope->at);
        v->extent = axe_index_const(o->cx, 1);
        axe_list_push(&left, v);
    }
    own->n_var = left.n;
    own->var = (const axe_var *const *)left.item;
    own->first = scope->first ? first : NULL;
    own->body = axe_rewrite_body(&w, scope->n_body, scope->body);
    own->body = in_loops(o, own, &turns, &own->n_body);
    axe_list_push(out, own);
}

/* ------------------------------------------------------------------ scopes */

static bool
order_scope(void *user, axe_stmt *s, axe_list *out)
{
    ordering    *o = user;
    axe_meet_how how = AXE_MEET_EXACT;

    if (s->kind != AXE_STMT_SCOPE)
        return false;
    for (int i = 0; i < o->meets.n; i++) {
        const axe_meet *m = o->meets.item[i];
        if (m->scope == s && m->how != AXE_MEET_EXACT)
            how = m->how;
    }
    if (how == AXE_MEET_PARTS)
        keep_parts(o, s, out);
    else if (how == AXE_MEET_TURNS)
        take_turns(o, s, out);
    else
        axe_list_push(out, s);
    return true;
}

axe_status
axe_order_meets(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                const axe_kernel **out)
{
    axe_kernel *new = axe_new(cx, axe_kernel);
    ordering o = {.cx = cx, .k = new, .meets = {.cx = cx}, .parts = {.cx = cx}};
    axe_body_change c = {.cx = cx, .before = order_scope, .user = &o};
    axe_list        body = {.cx = cx};

    *new = *k;
    axe_meets_find(cx, mc, k, &o.meets);
    axe_body_map(&c, &new->n_body, &new->body);
    AXE_TRY(o.status);
    *out = k;
    if (new->body == k->body)
        return AXE_OK;
    for (int i = 0; i < o.parts.n; i++)
        axe_list_push(&body, o.parts.item[i]);
    for (int i = 0; i < new->n_body; i++)
        axe_list_push(&body, new->body[i]);
    new->n_body = body.n;
    new->body = axe_stmt_list(&body);
    axe_kernel_find_temps(cx, new);
    *out = new;
    return AXE_OK;
}
