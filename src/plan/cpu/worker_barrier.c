/* worker_barrier.c - where all workers need a barrier.
 *
 * Within a scope an entity waits for no other.  Between two scopes it must if
 * one writes a global tensor that the other touches, unless every entity finds
 * there only what it made itself: both scopes are counted alike, so that a
 * worker gets the same entities of both, and every access has each entity's
 * number i as i*T + r, 0 <= r < T, in one dimension, the same T in both.
 *
 * One pass over the top of the kernel keeps what was touched since the workers'
 * last barrier, one access of each kind: accesses of a tensor that are counted
 * alike and tell the same conflict with the same others.  A loop is passed
 * until what an iteration leaves behind is known to the next one; what is known
 * only grows, so that ends. */
#include <string.h>

#include "ir/list.h"
#include "ir/stmt.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* What decides what an access conflicts with. */
typedef struct kind {
    const axe_stmt *scope; /* or one counted alike */
    int             rank;
    bool            writes;
    bool     counted; /* are the scope's entities the same ones each time? */
    int64_t *step; /* [n_var][rank] T where dimension d has i*T + r of variable
                      k, or 0 */
    struct kind *next; /* of the same tensor */
} kind;

/* One access of a global tensor. */
typedef struct touch {
    const axe_stmt *stmt;
    const axe_node *load;
    const kind     *kind;
} touch;

/* Accesses since the workers last met. */
typedef struct pending {
    bool     begun; /* some scope stands before */
    axe_list list;  /* const touch * */
} pending;

typedef struct gathering {
    axe_planner    *p;
    kind          **kind; /* by tensor id: all of them */
    const axe_stmt *scope, *stmt;
    axe_list       *out;
} gathering;

/* ------------------------------------------------ what an entity makes itself
 */

/* The largest value of an index in a statement; -1: not known. */
static int64_t
last_of(const axe_stmt *s, const axe_var *v)
{
    const axe_node *e = axe_stmt_extent(s, v);
    int64_t         n;

    return e && axe_is_iconst(e, &n) ? n - 1 : -1;
}

/* T where the subscript is v*T + r with 0 <= r < T, else 0. */
static int64_t
step_of(axe_ctx *cx, const axe_stmt *s, const axe_node *sub, const axe_var *v)
{
    axe_affine a;
    int64_t    step, last = 0;

    if (!axe_affine_of(cx, sub, &a) || a.n > 2)
        return 0;
    step = axe_affine_coef(&a, v);
    for (int i = 0; i < a.n; i++) {
        if (a.var[i] == v)
            continue;
        last = last_of(s, a.var[i]);
        if (a.var[i]->kind != AXE_VAR_INDEX || a.coef[i] != 1 || last < 0)
            return 0;
    }
    return step > 0 && a.constant >= 0 && last < step - a.constant ? step : 0;
}

/* Is variable k of either scope told by the same dimension of both accesses? */
static bool
tells(const kind *a, const kind *b, int k)
{
    for (int d = k * a->rank; d < (k + 1) * a->rank; d++)
        if (a->step[d] > 0 && a->step[d] == b->step[d])
            return true;
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

/* Is every variable of the scope counted as it is written, by a number that
 * does not change in a launch? */
static bool
is_counted(const axe_planner *p, const axe_stmt *s)
{
    if (s->keys.overlap > 0)
        return false; /* whoever comes takes them */
    for (int k = 0; k < s->n_var; k++)
        if (!constant(s->var[k]->extent) ||
            axe_retile_of(p->n_retile, p->retile, s->var[k]))
            return false;
    return true;
}

static bool
same_extents(const axe_stmt *s, const axe_stmt *t)
{
    if (s->n_var != t->n_var)
        return false;
    for (int k = 0; k < s->n_var; k++)
        if (!axe_node_same(s->var[k]->extent, t->var[k]->extent))
            return false;
    return true;
}

/* Do only accesses of one and the same worker conflict? */
static bool
own(const kind *a, const kind *b)
{
    if (!a->counted || !b->counted || !same_extents(a->scope, b->scope))
        return false;
    for (int k = 0; k < a->scope->n_var; k++)
        if (!tells(a, b, k))
            return false;
    return true;
}

/* ---------------------------------------------------------------- accesses */

static bool
same_kind(const kind *a, const kind *b)
{
    size_t n = (size_t)(a->scope->n_var * a->rank);

    return a->writes == b->writes && a->counted == b->counted &&
           same_extents(a->scope, b->scope) &&
           (n == 0 || memcmp(a->step, b->step, n * sizeof *a->step) == 0);
}

static const kind *
kind_of(gathering *g, const axe_node *load, bool writes)
{
    axe_ctx *cx = g->p->cx;
    int      n_var = g->scope->n_var, rank = load->n_arg;
    axe_mark m = axe_ctx_mark(cx);
    kind   **first = &g->kind[load->u.tensor->id];
    kind    *k = axe_new(cx, kind);

    *k = (kind){.scope = g->scope,
                .rank = rank,
                .writes = writes,
                .counted = is_counted(g->p, g->scope),
                .step = axe_new_array(cx, int64_t, n_var * rank + 1),
                .next = *first};
    for (int i = 0; i < n_var; i++)
        for (int d = 0; d < rank; d++)
            k->step[i * rank + d] =
                step_of(cx, g->stmt, load->arg[d], g->scope->var[i]);
    for (const kind *known = *first; known; known = known->next)
        if (same_kind(known, k)) {
            axe_ctx_release(cx, m);
            return known;
        }
    *first = k;
    return k;
}

static bool
has_kind(const axe_list *l, const kind *k)
{
    for (int i = l->n - 1; i >= 0; i--)
        if (((const touch *)l->item[i])->kind == k)
            return true;
    return false;
}

static void
add_touch(gathering *g, const axe_node *load, bool writes)
{
    const kind *k;
    touch      *t;

    if (load->u.tensor->space != AXE_SPACE_GLOBAL)
        return;
    k = kind_of(g, load, writes);
    if (has_kind(g->out, k))
        return;
    t = axe_new(g->p->cx, touch);
    *t = (touch){g->stmt, load, k};
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
            for (int d = 0; d < body[i]->dst->n_arg; d++)
                axe_node_walk(body[i]->dst->arg[d], visit, g);
            axe_node_walk(body[i]->value, visit, g);
        }
        if (body[i]->cond)
            axe_node_walk(body[i]->cond, visit, g);
        gather(g, body[i]->n_body, body[i]->body);
        gather(g, body[i]->n_other, body[i]->other);
    }
}

/* ------------------------------------------------------------------ the pass
 */

static axe_worker_wait *
row_of(axe_planner *p, const axe_stmt *at)
{
    axe_core_plan *c = p->core;

    for (int i = 0; i < c->n_wait; i++)
        if (c->wait[i].at == at)
            return &c->wait[i];
    if (c->n_wait == c->cap_wait) {
        c->cap_wait = c->cap_wait ? 2 * c->cap_wait : 8;
        axe_worker_wait *more =
            axe_new_array(p->cx, axe_worker_wait, c->cap_wait);
        if (c->n_wait > 0)
            memcpy(more, c->wait, (size_t)c->n_wait * sizeof *more);
        c->wait = more;
    }
    c->wait[c->n_wait] = (axe_worker_wait){.at = at};
    return &c->wait[c->n_wait++];
}

static const char *
conflict_text(axe_planner *p, const touch *a, const touch *b)
{
    return axe_textf(p->cx, "%s is %s in line %d and %s in line %d",
                     a->load->u.tensor->name,
                     a->kind->writes ? "written" : "read", a->stmt->at.line,
                     b->kind->writes ? "written" : "read", b->stmt->at.line);
}

/* Do workers need a barrier before the scope whose accesses are `now`? */
static void
decide(axe_planner *p, axe_worker_wait *row, const pending *before,
       const axe_list *now)
{
    const char *mine = NULL;

    for (int i = 0; i < now->n; i++)
        for (int k = 0; k < before->list.n; k++) {
            const touch      *a = before->list.item[k], *b = now->item[i];
            const axe_tensor *t = b->load->u.tensor;
            if (a->load->u.tensor != t || !(a->kind->writes || b->kind->writes))
                continue;
            p->core->exchanged[t->id] = true;
            if (row->barrier)
                continue;
            if (own(a->kind, b->kind)) {
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

/* at |= touches; did it grow? */
static bool
join_list(pending *at, const axe_list *touches)
{
    int n = at->list.n;

    for (int i = 0; i < touches->n; i++)
        if (!has_kind(&at->list, ((const touch *)touches->item[i])->kind))
            axe_list_push(&at->list, touches->item[i]);
    return at->list.n > n;
}

static void
pass_scope(axe_planner *p, const axe_stmt *s, kind **kinds, pending *at)
{
    axe_list  now = {.cx = p->cx};
    gathering g = {p, kinds, s, s, &now};

    gather(&g, s->n_body, s->body);
    if (at->begun) {
        axe_worker_wait *row = row_of(p, s);
        decide(p, row, at, &now);
        if (row->barrier)
            at->list.n = 0;
    }
    at->begun = true;
    (void)join_list(at, &now);
}

/* A group that overlaps begins with its counters, which all workers see, and
 * has no barrier in it. */
static void
pass_group(axe_planner *p, int n, axe_stmt *const *scope, kind **kinds,
           pending *at)
{
    const axe_core_overlap *o = axe_core_overlap_plan(p, n, scope);
    axe_list                now = {.cx = p->cx};

    if (!o->counters) {
        for (int i = 0; i < n; i++)
            pass_scope(p, scope[i], kinds, at);
        return;
    }
    *row_of(p, scope[0]) = (axe_worker_wait){
        scope[0], at->begun,
        at->begun ? "the counters of the group begin at 0"
                  : "the group is the first that the launch does"};
    for (int i = 0; i < n; i++) {
        gathering g = {p, kinds, scope[i], scope[i], &now};
        gather(&g, scope[i]->n_body, scope[i]->body);
    }
    for (int i = 0; i < o->group.relation.n; i++) {
        const axe_relation *r = o->group.relation.item[i];
        p->core->exchanged[r->tensor->id] = true;
    }
    p->core->exchanged[o->counters->id] = true;
    at->list.n = 0;
    at->begun = true;
    (void)join_list(at, &now);
}

/* at |= more; did it grow? */
static bool
join(pending *at, const pending *more)
{
    bool grew = more->begun && !at->begun;

    at->begun = at->begun || more->begun;
    return join_list(at, &more->list) || grew;
}

static pending
copy_of(axe_planner *p, const pending *at)
{
    pending out = {.list = {.cx = p->cx}};

    join(&out, at);
    return out;
}

static void pass(axe_planner *p, int n, axe_stmt *const *body, kind **kinds,
                 pending *at);

static void
pass_loop(axe_planner *p, const axe_stmt *s, kind **kinds, pending *at)
{
    pending in = copy_of(p, at);

    do {
        *at = copy_of(p, &in);
        pass(p, s->n_body, s->body, kinds, at);
    } while (join(&in, at));
    *at = in;
}

static void
pass_branches(axe_planner *p, const axe_stmt *s, kind **kinds, pending *at)
{
    pending other = copy_of(p, at);

    pass(p, s->n_body, s->body, kinds, at);
    pass(p, s->n_other, s->other, kinds, &other);
    join(at, &other);
}

static void
pass(axe_planner *p, int n, axe_stmt *const *body, kind **kinds, pending *at)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        int             len = axe_overlap_length(n - i, body + i);
        switch (s->kind) {
        case AXE_STMT_SCOPE:
            if (len > 0)
                pass_group(p, len, body + i, kinds, at);
            else
                pass_scope(p, s, kinds, at);
            i += len > 1 ? len - 1 : 0;
            break;
        case AXE_STMT_BARRIER:
            *row_of(p, s) = (axe_worker_wait){s, true, "as written"};
            at->list.n = 0;
            break;
        case AXE_STMT_FOR:
            pass_loop(p, s, kinds, at);
            break;
        default:
            pass_branches(p, s, kinds, at);
        }
    }
}

void
axe_plan_sync(axe_planner *p)
{
    pending at = {.list = {.cx = p->cx}};
    kind  **kinds = axe_new_array(p->cx, kind *, p->kernel->n_tensor + 1);

    p->core->overlap = (axe_list){.cx = p->cx};
    p->core->exchanged = axe_new_array(p->cx, bool, p->kernel->n_tensor + 1);
    pass(p, p->kernel->n_body, p->kernel->body, kinds, &at);
}
