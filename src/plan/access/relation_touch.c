/* relation_touch.c - see relation_touch.h. */
#include "plan/access/relation_touch.h"

#include "ir/stmt.h"
#include "plan/plan_int.h"

typedef struct gathering {
    axe_ctx        *cx;
    const axe_stmt *scope, *stmt;
    const axe_list *written; /* const axe_tensor *: by scopes of the group */
    axe_list       *reads;   /* const axe_relation_read *: of the group */
    axe_list        inner;   /* const axe_var *: of loops and scopes inside */
    axe_list        out;     /* const axe_touch * */
} gathering;

/* ------------------------------------------------------------------ windows
 */

/* Add the values of coef * v, which runs inside. */
static bool
widen(const gathering *g, axe_touch_window *w, const axe_var *v, int64_t coef)
{
    const axe_node *e = axe_stmt_extent(g->stmt, v);
    int64_t         n, reach;

    if (!e || !axe_is_iconst(e, &n) || n < 1 || !axe_mul(coef, n - 1, &reach))
        return false;
    return axe_add(reach < 0 ? w->lo : w->hi, reach,
                   reach < 0 ? &w->lo : &w->hi);
}

static bool is_early(const gathering *g, const axe_node *n, axe_list *loops);

/* Is v known when an entity begins, or does it run, in the statement or around
 * it, as far as is known then? */
static bool
is_early_var(const gathering *g, const axe_var *v, axe_list *loops)
{
    if (v->kind == AXE_VAR_INDEX) {
        const axe_node *e = axe_stmt_extent(g->stmt, v);
        return e && is_early(g, e, loops);
    }
    if (!axe_list_has(&g->inner, v) || axe_list_has(loops, v))
        return true;
    if (!is_early(g, v->extent, loops))
        return false;
    axe_list_push(loops, v);
    return true;
}

/* Is n made of such variables?  Those of loops and scopes inside are added to
 * loops, behind those that tell how far they run. */
static bool
is_early(const gathering *g, const axe_node *n, axe_list *loops)
{
    if (n->op == AXE_OP_load || n->op == AXE_OP_reduce)
        return false;
    if (n->op == AXE_OP_var && !is_early_var(g, n->u.var, loops))
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_early(g, n->arg[i], loops))
            return false;
    return true;
}

/* The value of an element, the same one for the same element. */
static const axe_relation_read *
value_of(const gathering *g, const axe_node *load, const axe_list *loops)
{
    axe_relation_read *r;
    axe_var           *v;

    for (int i = 0; i < g->reads->n; i++) {
        const axe_relation_read *has = g->reads->item[i];
        if (axe_node_same(has->load, load))
            return has;
    }
    r = axe_new(g->cx, axe_relation_read);
    v = axe_new(g->cx, axe_var);
    *v =
        (axe_var){.kind = AXE_VAR_LOOP, .name = load->u.tensor->name, .id = -1};
    *r = (axe_relation_read){v, load, loops->n,
                             (const axe_var *const *)loops->item};
    axe_list_push(g->reads, r);
    return r;
}

/* The window of an element of an index tensor. */
static axe_touch_window
read_of(const gathering *g, const axe_node *n)
{
    const axe_var          **var = axe_new_array(g->cx, const axe_var *, 1);
    int64_t                 *coef = axe_new_array(g->cx, int64_t, 1);
    const axe_relation_read *r;
    axe_list                 loops = {.cx = g->cx};

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    if (n->op != AXE_OP_load || n->u.tensor->space != AXE_SPACE_GLOBAL ||
        n->u.tensor->rank == 0 ||
        (n->type != AXE_TYPE_i32 && n->type != AXE_TYPE_i64) ||
        axe_list_has(g->written, n->u.tensor))
        return (axe_touch_window){0};
    for (int d = 0; d < n->n_arg; d++)
        if (!is_early(g, n->arg[d], &loops))
            return (axe_touch_window){0};
    r = value_of(g, n, &loops);
    var[0] = r->value;
    coef[0] = 1;
    return (axe_touch_window){
        .known = true, .at = {1, var, coef, 0}, .read = r};
}

static axe_touch_window
window_of(const gathering *g, const axe_node *sub)
{
    axe_touch_window w = {.known = true};
    axe_affine       all;

    if (!axe_affine_of(g->cx, sub, &all) ||
        (all.n == 1 && all.var[0]->kind == AXE_VAR_PART))
        return read_of(g, sub);
    w.at = all;
    w.at.n = 0;
    w.at.constant = 0;
    w.lo = w.hi = all.constant;
    const axe_var **var = axe_new_array(g->cx, const axe_var *, all.n + 1);
    int64_t        *coef = axe_new_array(g->cx, int64_t, all.n + 1);
    for (int i = 0; i < all.n && w.known; i++) {
        const axe_var *v = all.var[i];
        bool inside = v->kind == AXE_VAR_INDEX || axe_list_has(&g->inner, v);
        if (v->kind == AXE_VAR_PART)
            w.known = false;
        else if (inside)
            w.known = widen(g, &w, v, all.coef[i]);
        else {
            var[w.at.n] = v;
            coef[w.at.n++] = all.coef[i];
        }
    }
    w.at.var = var;
    w.at.coef = coef;
    return w;
}

/* ----------------------------------------------------------------- accesses
 */

static void
add_touch(gathering *g, const axe_node *load, bool writes)
{
    axe_touch        *t;
    axe_touch_window *w;

    if (load->u.tensor->space != AXE_SPACE_GLOBAL)
        return;
    t = axe_new(g->cx, axe_touch);
    w = axe_new_array(g->cx, axe_touch_window, load->n_arg + 1);
    for (int d = 0; d < load->n_arg; d++)
        w[d] = window_of(g, load->arg[d]);
    *t = (axe_touch){g->stmt, load, writes, w};
    axe_list_push(&g->out, t);
}

static void
visit(void *user, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        add_touch(user, n, false);
}

static void
gather(gathering *g, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        g->stmt = s;
        if (s->kind == AXE_STMT_INDEX) {
            add_touch(g, s->dst, true);
            for (int d = 0; d < s->dst->n_arg; d++)
                axe_node_walk(s->dst->arg[d], visit, g);
            if (s->fold != AXE_FOLD_NONE)
                add_touch(g, s->dst, false);
            axe_node_walk(s->value, visit, g);
        }
        if (s->cond)
            axe_node_walk(s->cond, visit, g);
        for (int k = 0; k < s->n_var; k++) {
            axe_list_push(&g->inner, s->var[k]);
            axe_node_walk(s->var[k]->extent, visit, g);
        }
        gather(g, s->n_body, s->body);
        gather(g, s->n_other, s->other);
    }
}

axe_list
axe_touches_of(axe_ctx *cx, const axe_stmt *scope, const axe_list *written,
               axe_list *reads)
{
    gathering g = {cx, scope, scope, written, reads, {.cx = cx}, {.cx = cx}};

    gather(&g, scope->n_body, scope->body);
    return g.out;
}

void
axe_touch_written(axe_list *out, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            axe_list_push(out, body[i]->dst->u.tensor);
        axe_touch_written(out, body[i]->n_body, body[i]->body);
        axe_touch_written(out, body[i]->n_other, body[i]->other);
    }
}
