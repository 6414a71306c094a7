/* touch.c - what statements touch in memory that threads share, and which
 * global tensors threads alone may move.
 *
 * What an engine moves is seen by those who wait for it, and it sees what
 * threads wrote only behind a fence of its own.  So a global tensor that one
 * statement of a launch writes and another one, or another iteration, finds
 * there is moved by threads, with a barrier between, as over a shared tile. */
#include "plan/simt/hazard/touch.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/copy/store_staging.h"

#include "plan/access/access.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/hazard/hazard.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/tmem/copy.h"
#include "plan/simt/tmem/tmem.h"

typedef struct gathering {
    axe_planner            *p;
    const axe_stmt         *stmt;
    const axe_thread_group *threads;
    axe_list               *out;
} gathering;

/* The atom that the statement asks for and that arrives at a barrier, or NULL.
 */
static const axe_atom *
engine_of(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule      *x = p->schedule[s->id];
    const axe_simt_schedule *d = x ? x->simt : NULL;
    const axe_atom          *a = d && d->contract ? d->contract->atom
                                 : d && d->tcopy  ? d->tcopy->atom
                                                  : NULL;

    return a && axe_atom_commits(p->mc, a) ? a : NULL;
}

/* Does it run only where there is nothing to add to what it sets to zero? */
static bool
is_spare(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *x = p->schedule[s->id];

    return x && x->simt->tmem && x->simt->when;
}

static axe_touching
touching_of(const axe_planner *p, const axe_touch *t,
            const axe_thread_group *threads)
{
    return (axe_touching){.stmt = t->stmt,
                          .load = t->load,
                          .writes = t->writes,
                          .who = p->simt->who[t->stmt->id],
                          .threads = threads};
}

static void
add_touch(gathering *g, const axe_node *load, bool writes)
{
    const axe_tensor *t = load->u.tensor;
    bool              global = t->space == AXE_SPACE_GLOBAL;
    axe_touch *new;

    if ((t->space != AXE_SPACE_SHARED && t->space != AXE_SPACE_TMEM &&
         !global) ||
        t->pipeline)
        return;
    new = axe_new(g->p->cx, axe_touch);
    *new = (axe_touch){.stmt = g->stmt,
                       .tile = t,
                       .load = global ? load : NULL,
                       .writes = writes,
                       .engine = global ? NULL : engine_of(g->p, g->stmt),
                       .issuer = g->threads,
                       .threads = g->threads};
    if (global) {
        axe_touching own = touching_of(g->p, new, g->threads);
        new->reach = axe_simt_reach(g->p, &own);
    }
    axe_list_push(g->out, new);
}

static void
visit(void *user, const axe_node *n)
{
    if (n->op == AXE_OP_load)
        add_touch(user, n, false);
}

void
axe_simt_touches(axe_planner *p, const axe_stmt *s,
                 const axe_thread_group *threads, axe_list *out)
{
    gathering g = {p, s, threads, out};

    if (s->kind != AXE_STMT_INDEX || is_spare(p, s))
        return;
    add_touch(&g, s->dst, true);
    if (s->fold != AXE_FOLD_NONE && !axe_scatter_is_atomic(p, s))
        add_touch(&g, s->dst, false);
    for (int i = 0; i < s->dst->n_arg; i++)
        axe_node_walk(s->dst->arg[i], visit, &g);
    axe_node_walk(s->value, visit, &g);
}

void
axe_simt_touches_in(axe_planner *p, int n, axe_stmt *const *body, axe_list *out)
{
    for (int i = 0; i < n; i++) {
        if (body[i]->kind == AXE_STMT_INDEX)
            axe_simt_touches(p, body[i], p->simt->who[body[i]->id], out);
        axe_simt_touches_in(p, body[i]->n_body, body[i]->body, out);
        axe_simt_touches_in(p, body[i]->n_other, body[i]->other, out);
    }
}

/* ----------------------------------------------------------------- conflicts
 */

enum { MAX_LOOP = 32 };

/* The loops of the launch around s, outermost first; -1: s is not there. */
static int
loops_around(int n, axe_stmt *const *body, const axe_stmt *s, int depth,
             axe_stmt **loop)
{
    for (int i = 0; i < n; i++) {
        axe_stmt *at = body[i];
        bool      is = at->kind == AXE_STMT_FOR || at->kind == AXE_STMT_LOOP;
        int       k = depth + is, found;
        if (at == s)
            return depth;
        if (is && depth < MAX_LOOP)
            loop[depth] = at;
        found = loops_around(at->n_body, at->body, s, k, loop);
        if (found < 0)
            found = loops_around(at->n_other, at->other, s, k, loop);
        if (found >= 0)
            return found;
    }
    return -1;
}

static const axe_thread_group *
common_group(const axe_thread_group *a, const axe_thread_group *b)
{
    while (a && !axe_threads_is_within(b, a))
        a = a->in;
    return a;
}

/* The very same access, of another iteration: of other elements? */
static bool
iterations_apart(axe_planner *p, const axe_touch *a, const axe_touching *x)
{
    const axe_stmt *top = axe_threads_cta(x->threads)->at;
    axe_stmt       *loop[MAX_LOOP];
    int             n = loops_around(top->n_body, top->body, a->stmt, 0, loop);

    return n >= 0 && n <= MAX_LOOP && axe_simt_iterations_apart(p, x, n, loop);
}

static bool
same_sum(const axe_affine *a, const axe_affine *b)
{
    for (int i = 0; i < a->n && a->n == b->n; i++)
        if (axe_affine_coef(b, a->var[i]) != a->coef[i])
            return false;
    return a->n == b->n;
}

/* Are they told apart by what each of them reaches? */
static bool
reaches_apart(const axe_touch *a, const axe_touch *b)
{
    for (int d = 0; d < a->load->n_arg; d++) {
        const axe_reach *x = &a->reach[d], *y = &b->reach[d];
        if ((x->hi < y->lo || y->hi < x->lo) && x->threads == a->threads &&
            y->threads == a->threads && b->threads == a->threads &&
            same_sum(&x->sum, &y->sum))
            return true;
    }
    return false;
}

/* Are there bytes that are of both?  Tiles that are not alive together share
 * them: what is done in shared memory is of one launch. */
static bool
share_bytes(const axe_planner *p, const axe_tensor *a, const axe_tensor *b)
{
    const axe_place *x = &p->place[a->id], *y = &p->place[b->id];

    return a == b ||
           (a->space == AXE_SPACE_SHARED && b->space == AXE_SPACE_SHARED &&
            x->offset < y->offset + y->bytes &&
            y->offset < x->offset + x->bytes);
}

bool
axe_simt_conflicts(axe_planner *p, const axe_touch *a, const axe_touch *b)
{
    axe_touching x, y;
    axe_mark     m;
    bool         apart;

    if (!a->tile || !b->tile || !(a->writes || b->writes) ||
        !share_bytes(p, a->tile, b->tile))
        return false;
    if (a->tile->space != AXE_SPACE_GLOBAL)
        return true;
    if (reaches_apart(a, b))
        return false;
    if (a->writes && b->writes && a->stmt->fold == b->stmt->fold &&
        axe_scatter_is_atomic(p, a->stmt) && axe_scatter_is_atomic(p, b->stmt))
        return false;
    m = axe_ctx_mark(p->cx);
    x = touching_of(p, a, common_group(a->threads, b->threads));
    y = touching_of(p, b, x.threads);
    apart = (a->stmt == b->stmt && axe_node_same(a->load, b->load) &&
             iterations_apart(p, a, &x)) ||
            axe_simt_is_apart(p, &x, &y);
    axe_ctx_release(p->cx, m);
    return !apart;
}

/* The group of the engine that copies a box for the statement; NULL: none. */
static const char *
group_of_box(const axe_planner *p, const axe_stmt *s)
{
    const axe_schedule *at = s->kind == AXE_STMT_INDEX ? p->schedule[s->id] : 0;
    const axe_simt_copy *c = at ? at->simt->copy : NULL;

    if (!c)
        return NULL;
    return c->stage ? c->stage->group : c->box ? c->atom->group : NULL;
}

const axe_atom *
axe_simt_fence_for(axe_planner *p, const axe_touch *b)
{
    const char *group = b->load ? group_of_box(p, b->stmt) : NULL;

    return group ? axe_simt_group_sync(p->mc, AXE_SYNC_FENCE, group,
                                       AXE_ARG_GLOBAL)
                 : NULL;
}

bool
axe_simt_overwrites(axe_planner *p, const axe_touch *b, const axe_list *all)
{
    for (int i = 0; i < all->n && b->writes; i++) {
        const axe_touch *a = all->item[i];
        if (a->writes && a->tile && a->tile->space == AXE_SPACE_SHARED &&
            b->tile->space == AXE_SPACE_SHARED &&
            share_bytes(p, a->tile, b->tile))
            return true;
    }
    return false;
}

const char *
axe_simt_why_wait(axe_planner *p, const axe_touch *a, const axe_touch *b)
{
    const char *also =
        a->tile == b->tile
            ? ""
            : axe_textf(p->cx, "%s, in the same bytes, ", b->tile->name);

    return axe_textf(p->cx, "%s is %s in line %d and %s%s in line %d",
                     a->tile->name, a->writes ? "written" : "read",
                     a->stmt->at.line, also, b->writes ? "written" : "read",
                     b->stmt->at.line);
}

bool
axe_simt_finds_own(axe_planner *p, const axe_touch *a, const axe_touch *b)
{
    axe_touching x = touching_of(p, a, common_group(a->threads, b->threads));
    axe_touching y = touching_of(p, b, x.threads);

    return axe_simt_is_kept(p, &x, &y);
}

/* ----------------------------------------------------------------- who moves
 */

/* A branch around a statement: does it stand where the condition fails? */
typedef struct branch {
    const struct branch *around;
    const axe_stmt      *at;
    bool                 other;
} branch;

/* An access, and what is around it. */
typedef struct spot {
    const axe_touch *touch;
    const axe_stmt  *loop; /* the outermost of the launch; NULL: none */
    const branch    *in;
} spot;

typedef struct spots {
    axe_planner *p;
    axe_list     all; /* spot */
} spots;

static void
gather(spots *g, int n, axe_stmt *const *body, const axe_stmt *loop,
       const branch *in)
{
    axe_planner *p = g->p;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool is = s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP;
        const axe_stmt *around = !loop && is ? s : loop;
        axe_list        now = {.cx = p->cx};
        if (s->kind == AXE_STMT_INDEX)
            axe_simt_touches(p, s, p->simt->who[s->id], &now);
        for (int k = 0; k < now.n; k++) {
            spot *x = axe_new(p->cx, spot);
            *x = (spot){now.item[k], loop, in};
            axe_list_push(&g->all, x);
        }
        branch *b = s->n_other > 0 ? axe_new_array(p->cx, branch, 2) : NULL;
        for (int k = 0; k < 2 && b; k++)
            b[k] = (branch){in, s, k == 1};
        gather(g, s->n_body, s->body, around, b ? &b[0] : in);
        gather(g, s->n_other, s->other, around, b ? &b[1] : in);
    }
}

/* Does a stand where a condition holds, b where it fails? */
static bool
are_either(const spot *a, const spot *b)
{
    for (const branch *x = a->in; x; x = x->around)
        for (const branch *y = b->in; y && !x->other; y = y->around)
            if (y->other && y->at == x->at)
                return true;
    return false;
}

/* May b come after a? */
static bool
follows(const spot *a, const spot *b, bool later)
{
    return (a->loop && a->loop == b->loop) || (later && !are_either(a, b));
}

/* Is there one who writes an element that another one finds after it? */
static bool
passes_on(axe_planner *p, const axe_list *all, const int *next, int first)
{
    const spot *a, *b;

    for (int i = first; i > 0; i = next[i]) {
        a = all->item[i - 1];
        for (int k = first; k > 0 && a->touch->writes; k = next[k]) {
            b = all->item[k - 1];
            if (follows(a, b, i < k) &&
                axe_simt_conflicts(p, a->touch, b->touch))
                return true;
        }
    }
    return false;
}

/* Accesses of one tensor are a chain from the first on: their numbers from 1,
 * and the next one's; 0 ends it. */
static void
tie_launch(axe_planner *p, const axe_stmt *top, int *first)
{
    spots g = {.p = p, .all = {.cx = p->cx}};
    int  *next;

    for (int i = 0; i <= p->kernel->n_tensor; i++)
        first[i] = 0;
    gather(&g, top->n_body, top->body, NULL, NULL);
    next = axe_new_array(p->cx, int, g.all.n + 1);
    for (int i = g.all.n; i > 0; i--) {
        const spot *x = g.all.item[i - 1];
        if (!x->touch->load)
            continue;
        next[i] = first[x->touch->tile->id];
        first[x->touch->tile->id] = i;
    }
    for (int i = 0; i <= p->kernel->n_tensor; i++)
        if (!p->simt->threads_only[i] && passes_on(p, &g.all, next, first[i]))
            p->simt->threads_only[i] = true;
}

void
axe_simt_find_threads_only(axe_planner *p)
{
    axe_mark mark;
    int     *first;

    p->simt->threads_only = axe_new_array(p->cx, bool, p->kernel->n_tensor + 1);
    mark = axe_ctx_mark(p->cx);
    first = axe_new_array(p->cx, int, p->kernel->n_tensor + 1);
    for (int l = 0; l < p->simt->n_launch; l++)
        tie_launch(p, p->simt->launch[l].scope, first);
    axe_ctx_release(p->cx, mark);
}

/* ------------------------------------------------------------------ refusals
 */

axe_status
axe_simt_refuse_ahead(axe_planner *p, const axe_touch *a, const axe_touch *b)
{
    const axe_node *n = b->load;

    axe_fail(
        p->cx, n->at, AXE_EUNSUPPORTED,
        "`%s` is %s here, and line %d %s `%s`, but stages are filled ahead "
        "of what stands before them",
        axe_node_text(p->cx, n), b->writes ? "written" : "read",
        a->stmt->at.line, a->writes ? "writes" : "reads",
        axe_node_text(p->cx, a->load));
    axe_help(p->cx, "read it where it is used, or end the cta and begin "
                    "another");
    return AXE_EUNSUPPORTED;
}
