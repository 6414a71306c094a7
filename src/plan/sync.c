/* sync.c - where all workers must meet.
 *
 * Within a scope an entity waits for no other.  Between two scopes it must if
 * one writes a global tensor that the other touches, unless every entity finds
 * there only what it made itself: both scopes are counted alike, so that a
 * worker gets the same entities of both, and every access has each entity's
 * number i as i*T + r, 0 <= r < T, in one dimension, the same T in both.
 *
 * One pass over the top of the kernel keeps what was touched since all workers
 * last met.  A loop is passed until what a turn leaves behind is known to the
 * next one; what is known only grows, so that ends. */
#include <string.h>

#include "ir/list.h"
#include "plan/plan_int.h"

/* One access of a global tensor. */
typedef struct touch {
    const axe_stmt *scope, *stmt;
    const axe_node *load;
    bool            writes;
} touch;

/* Accesses since the workers last met. */
typedef struct pending {
    bool     begun; /* some scope stands before */
    axe_list list;  /* const touch * */
} pending;

typedef struct gathering {
    axe_ctx        *cx;
    const axe_stmt *scope, *stmt;
    axe_list       *out;
} gathering;

static void
add_touch(gathering *g, const axe_node *load, bool writes)
{
    touch *t = axe_new(g->cx, touch);

    *t = (touch){g->scope, g->stmt, load, writes};
    if (load->u.tensor->space == AXE_SPACE_GLOBAL)
        axe_list_push(g->out, t);
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
        g->stmt = body[i];
        if (body[i]->kind == AXE_STMT_INDEX) {
            add_touch(g, body[i]->dst, true);
            axe_node_walk(body[i]->value, visit, g);
        }
        if (body[i]->cond)
            axe_node_walk(body[i]->cond, visit, g);
        gather(g, body[i]->n_body, body[i]->body);
        gather(g, body[i]->n_other, body[i]->other);
    }
}

/* ------------------------------------------------ what an entity makes itself
 */

typedef struct search {
    const axe_var  *var;
    const axe_node *extent;
} search;

static void
find_reduced(void *user, const axe_node *n)
{
    search *f = user;

    for (int i = 0; n->op == AXE_OP_reduce && i < n->u.reduce.n_over; i++)
        if (n->u.reduce.over[i] == f->var)
            f->extent = n->u.reduce.extent[i];
}

/* The largest value of an index in a statement; -1: not known. */
static int64_t
last_of(const axe_stmt *s, const axe_var *v)
{
    search  f = {v, NULL};
    int64_t n;

    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            f.extent = s->dim[i].extent;
    if (!f.extent)
        axe_node_walk(s->value, find_reduced, &f);
    return f.extent && axe_is_iconst(f.extent, &n) ? n - 1 : -1;
}

/* T where the subscript is v*T + r with 0 <= r < T, else 0. */
static int64_t
step_of(axe_ctx *cx, const touch *t, const axe_node *sub, const axe_var *v)
{
    axe_affine a;
    int64_t    step, last = 0;

    if (!axe_affine_of(cx, sub, &a) || a.n > 2)
        return 0;
    step = axe_affine_coef(&a, v);
    for (int i = 0; i < a.n; i++) {
        if (a.var[i] == v)
            continue;
        last = last_of(t->stmt, a.var[i]);
        if (a.var[i]->kind != AXE_VAR_INDEX || a.coef[i] != 1 || last < 0)
            return 0;
    }
    return step > 0 && a.constant >= 0 && last < step - a.constant ? step : 0;
}

/* Is variable k of either scope told by the same dimension of both accesses? */
static bool
tells(axe_ctx *cx, const touch *a, const touch *b, int k)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        int64_t x = step_of(cx, a, a->load->arg[d], a->scope->var[k]);
        if (x > 0 && x == step_of(cx, b, b->load->arg[d], b->scope->var[k]))
            return true;
    }
    return false;
}

/* The same value each time that it is computed in a launch? */
static bool
constant(const axe_node *n)
{
    if (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!constant(n->arg[i]))
            return false;
    return true;
}

/* Do only accesses of one and the same worker meet? */
static bool
own(planner *p, const touch *a, const touch *b)
{
    const axe_stmt *s = a->scope, *t = b->scope;

    if (s->n_var != t->n_var)
        return false;
    for (int k = 0; k < s->n_var; k++)
        if (!axe_node_same(s->var[k]->extent, t->var[k]->extent) ||
            !constant(s->var[k]->extent) ||
            axe_retile_of(p->n_retile, p->retile, s->var[k]) ||
            axe_retile_of(p->n_retile, p->retile, t->var[k]) ||
            !tells(p->cx, a, b, k))
            return false;
    return true;
}

/* ------------------------------------------------------------------ the pass
 */

static axe_sync *
row_of(planner *p, const axe_stmt *at)
{
    for (int i = 0; i < p->n_sync; i++)
        if (p->sync[i].at == at)
            return &p->sync[i];
    if (p->n_sync == p->cap_sync) {
        p->cap_sync = p->cap_sync ? 2 * p->cap_sync : 8;
        axe_sync *more = axe_new_array(p->cx, axe_sync, p->cap_sync);
        if (p->n_sync > 0)
            memcpy(more, p->sync, (size_t)p->n_sync * sizeof *more);
        p->sync = more;
    }
    p->sync[p->n_sync] = (axe_sync){.at = at};
    return &p->sync[p->n_sync++];
}

static const char *
conflict_text(planner *p, const touch *a, const touch *b)
{
    return axe_textf(p->cx, "%s is %s in line %d and %s in line %d",
                     a->load->u.tensor->name, a->writes ? "written" : "read",
                     a->stmt->at.line, b->writes ? "written" : "read",
                     b->stmt->at.line);
}

/* Must workers meet before the scope whose accesses are `now`? */
static void
decide(planner *p, axe_sync *row, const pending *before, const axe_list *now)
{
    const char *mine = NULL;

    for (int i = 0; i < now->n; i++)
        for (int k = 0; k < before->list.n; k++) {
            const touch      *a = before->list.item[k], *b = now->item[i];
            const axe_tensor *t = b->load->u.tensor;
            if (a->load->u.tensor != t || !(a->writes || b->writes))
                continue;
            p->shared[t->id] = true;
            if (row->barrier)
                continue;
            if (own(p, a, b)) {
                mine = t->name;
                continue;
            }
            row->barrier = true;
            row->why = conflict_text(p, a, b);
        }
    if (row->barrier)
        return;
    row->why = mine ? axe_textf(p->cx,
                                "each worker finds in %s only what it made "
                                "itself",
                                mine)
                    : "nothing that was touched before is written, and nothing "
                      "written is touched";
}

static void
pass_scope(planner *p, const axe_stmt *s, pending *at)
{
    axe_list  now = {.cx = p->cx};
    gathering g = {p->cx, s, s, &now};

    gather(&g, s->n_body, s->body);
    if (at->begun) {
        axe_sync *row = row_of(p, s);
        decide(p, row, at, &now);
        if (row->barrier)
            at->list.n = 0;
    }
    at->begun = true;
    for (int i = 0; i < now.n; i++)
        axe_list_push(&at->list, now.item[i]);
}

static bool
knows(const pending *at, const touch *t)
{
    for (int i = 0; i < at->list.n; i++) {
        const touch *a = at->list.item[i];
        if (a->load == t->load && a->stmt == t->stmt)
            return true;
    }
    return false;
}

/* at |= more; did it grow? */
static bool
join(pending *at, const pending *more)
{
    bool grew = more->begun && !at->begun;

    at->begun = at->begun || more->begun;
    for (int i = 0; i < more->list.n; i++)
        if (!knows(at, more->list.item[i])) {
            axe_list_push(&at->list, more->list.item[i]);
            grew = true;
        }
    return grew;
}

static pending
copy_of(planner *p, const pending *at)
{
    pending out = {.list = {.cx = p->cx}};

    join(&out, at);
    return out;
}

static void
pass(planner *p, int n, axe_stmt *const *body, pending *at)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        pending         in = copy_of(p, at), other = copy_of(p, at);
        bool            more = true;
        switch (s->kind) {
        case AXE_STMT_SCOPE:
            pass_scope(p, s, at);
            break;
        case AXE_STMT_BARRIER:
            *row_of(p, s) = (axe_sync){s, true, "as written"};
            at->list.n = 0;
            break;
        case AXE_STMT_FOR:
            while (more) {
                *at = copy_of(p, &in);
                pass(p, s->n_body, s->body, at);
                more = join(&in, at);
            }
            *at = in;
            break;
        default:
            pass(p, s->n_body, s->body, at);
            pass(p, s->n_other, s->other, &other);
            join(at, &other);
        }
    }
}

void
axe_plan_sync(planner *p)
{
    pending at = {.list = {.cx = p->cx}};

    p->shared = axe_new_array(p->cx, bool, p->kernel->n_tensor + 1);
    pass(p, p->kernel->n_body, p->kernel->body, &at);
}
