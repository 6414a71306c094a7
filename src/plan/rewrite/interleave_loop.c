/* interleave_loop.c - loops and branches of roles that become one.
 *
 * Loops around stages of the same rings are one loop, branches under one
 * condition one branch.  Where a role waits for the first iteration of a loop,
 * or a loop runs a little longer than the others, these iterations are put
 * before or behind it. */
#include "ir/stmt.h"
#include "plan/rewrite/interleave.h"

/* Steps, and steps inside of steps, until we give up. */
enum { MAX_STEP = 100000, MAX_DEEP = 500 };

/* Iterations of a loop that are split off. */
enum { MAX_SPLIT = 4 };

/* -------------------------------------------------------------------- loops
 */

/* The iterations of loop s from `first` on, `n` of them; n NULL: one, as
 * statements.
 */
static void
add_iterations(axe_weave *x, const axe_stmt *s, const axe_node *first,
               const axe_node *n, axe_list *out)
{
    axe_rewriter w = axe_rewriter_of(x->cx, x->k);

    if (!n) {
        axe_rewrite_var(&w, s->var[0], first);
        axe_stmt *const *body = axe_rewrite_body(&w, s->n_body, s->body);
        for (int k = 0; k < s->n_body; k++)
            axe_list_push(out, body[k]);
        return;
    }
    axe_stmt       *loop = axe_new(x->cx, axe_stmt);
    axe_var        *v = axe_new(x->cx, axe_var);
    const axe_var **var = axe_new_array(x->cx, const axe_var *, 1);
    *loop = *s;
    *v = *s->var[0];
    v->id = x->k->n_var++;
    v->extent = n;
    axe_rewrite_var(
        &w, s->var[0],
        axe_node2(x->cx, AXE_OP_add, axe_var_node(x->cx, s->at, v), first));
    var[0] = v;
    loop->var = var;
    loop->body = axe_rewrite_body(&w, s->n_body, s->body);
    axe_list_push(out, loop);
}

static const axe_node *
number(axe_weave *x, const axe_stmt *s, int64_t n)
{
    return axe_iconst(x->cx, s->at, AXE_TYPE_INDEX, n);
}

static bool
is_at_least(const axe_node *n, int64_t least)
{
    axe_interval r = axe_interval_of(n);

    return r.has_lo && r.lo >= least;
}

/* The first iteration of the strand's next statement, a loop, apart. */
static bool
split_first(axe_weave *x, int i)
{
    const axe_stmt *s = axe_weave_front(x, i);
    const axe_node *n = s->var[0]->extent, *one = number(x, s, 1);
    axe_list        out = {.cx = x->cx};

    if (!is_at_least(n, 1))
        return axe_weave_fail(
            x, s->at,
            "another role needs its first iteration, and it may have none");
    add_iterations(x, s, number(x, s, 0), NULL, &out);
    add_iterations(x, s, one, axe_node2(x->cx, AXE_OP_sub, n, one), &out);
    axe_weave_splice(x, i, out.n, axe_stmt_list(&out));
    return true;
}

/* Its last iterations apart: the loop does `n`, which is `more` less than
 * now. */
static bool
split_last(axe_weave *x, int i, const axe_node *n, int64_t more)
{
    const axe_stmt *s = axe_weave_front(x, i);
    axe_list        out = {.cx = x->cx};

    if (more > MAX_SPLIT || !is_at_least(s->var[0]->extent, more))
        return axe_weave_fail(x, s->at,
                              "loops around stages of one ring run "
                              "differently often");
    add_iterations(x, s, number(x, s, 0), n, &out);
    for (int64_t k = 0; k < more; k++)
        add_iterations(x, s, axe_node2(x->cx, AXE_OP_add, n, number(x, s, k)),
                       NULL, &out);
    axe_weave_splice(x, i, out.n, axe_stmt_list(&out));
    return true;
}

/* a - b, where that is a constant. */
static bool
difference(axe_weave *x, const axe_node *a, const axe_node *b, int64_t *out)
{
    axe_affine d;

    *out = 0;
    if (axe_node_same(a, b))
        return true;
    if (!axe_affine_of(x->cx, axe_node2(x->cx, AXE_OP_sub, a, b), &d) ||
        d.n > 0)
        return false;
    *out = d.constant;
    return true;
}

/* Do both hold stages of one ring? */
static bool
shares(const axe_weave *x, const axe_stmt *a, const axe_stmt *b)
{
    for (int r = 0; r < x->ring.n; r++)
        if (axe_weave_uses(x, a, r) && axe_weave_uses(x, b, r))
            return true;
    return false;
}

/* Strands whose next statements are done as one. */
typedef struct group {
    int        n;
    int       *member; /* strands */
    axe_stmt **stmt;   /* their next statements */
} group;

static bool
is_in(const group *g, int j)
{
    bool found = false;

    for (int m = 0; m < g->n; m++)
        found = found || g->member[m] == j;
    return found;
}

/* The first in the group that shares a ring with s, or -1. */
static int
relative(const axe_weave *x, const group *g, const axe_stmt *s)
{
    for (int m = 0; m < g->n; m++)
        if (shares(x, g->stmt[m], s))
            return m;
    return -1;
}

/* The first in the group that holds stages of the ring, or -1. */
static int
about(const axe_weave *x, const group *g, int ring)
{
    for (int m = 0; m < g->n; m++)
        if (axe_weave_uses(x, g->stmt[m], ring))
            return m;
    return -1;
}

/* Are all still where they were when they came in? */
static bool
is_steady(const axe_weave *x, const group *g)
{
    bool steady = true;

    for (int m = 0; m < g->n; m++)
        steady = steady && axe_weave_front(x, g->member[m]) == g->stmt[m];
    return steady;
}

static void
join(axe_weave *x, group *g, int j)
{
    g->stmt[g->n] = axe_weave_front(x, j);
    g->member[g->n++] = j;
}

/* Bring j to a statement that goes with those of the group, unless these go on
 * before.  *apart: the one of them that j waits for an iteration of; or -1. */
static bool
bring(axe_weave *x, const group *g, int j, int *apart, axe_list *out)
{
    const axe_stmt *f;

    *apart = -1;
    while (is_steady(x, g) && (f = axe_weave_front(x, j)) != NULL) {
        int m = relative(x, g, f);
        if (m >= 0 && f->kind == g->stmt[0]->kind)
            return true;
        if (axe_weave_is_stage(x, f) && !axe_weave_is_ready(x, f)) {
            *apart = about(x, g, axe_weave_ring(x, f->pipeline));
            if (*apart >= 0)
                return true;
        }
        if (!axe_weave_advance(x, j, out))
            return false;
    }
    return !is_steady(x, g) ||
           axe_weave_fail(x, g->stmt[0]->at,
                          "another role has no statement to go with it");
}

/* i, and whom it takes.  g->n 0: some have gone on, or have other statements
 * now; ask again. */
static bool
gather(axe_weave *x, int i, group *g, axe_list *out)
{
    int apart;

    *g = (group){.member = axe_new_array(x->cx, int, x->n_strand),
                 .stmt = axe_new_array(x->cx, axe_stmt *, x->n_strand)};
    join(x, g, i);
    for (int j = 0; j < x->n_strand; j++) {
        if (is_in(g, j) || relative(x, g, x->strand[j].role) < 0)
            continue;
        if (!bring(x, g, j, &apart, out))
            return false;
        if (apart >= 0 && g->stmt[0]->kind != AXE_STMT_FOR)
            return axe_weave_fail(x, g->stmt[0]->at,
                                  "another role waits inside of it");
        if (apart >= 0 || !is_steady(x, g)) {
            g->n = 0;
            return apart < 0 || split_first(x, g->member[apart]);
        }
        join(x, g, j);
        j = -1;
    }
    return true;
}

/* Give all loops the number of iterations of the shortest; *same: they have
 * it. */
static bool
match_iterations(axe_weave *x, const group *g, bool *same)
{
    const axe_node *least = NULL;
    int64_t         more;

    *same = true;
    for (int m = 0; m < g->n; m++) {
        const axe_stmt *s = g->stmt[m];
        if (s->n_var != 1 || axe_leaves_iteration(s->n_body, s->body))
            return axe_weave_fail(x, s->at,
                                  "a loop around stages is left early");
        if (least && !difference(x, s->var[0]->extent, least, &more))
            return axe_weave_fail(x, s->at,
                                  "loops around stages of one ring run "
                                  "differently often");
        if (!least || more < 0)
            least = s->var[0]->extent;
    }
    for (int m = 0; m < g->n; m++) {
        const axe_stmt *s = g->stmt[m];
        if (!difference(x, s->var[0]->extent, least, &more) || more == 0)
            continue;
        *same = false;
        if (!split_last(x, g->member[m], least, more))
            return false;
    }
    return true;
}

static int *
copy_full(axe_weave *x)
{
    int *full = axe_new_array(x->cx, int, x->ring.n + 1);

    for (int i = 0; i < x->ring.n; i++)
        full[i] = x->full[i];
    return full;
}

static bool
is_full_as(const axe_weave *x, const int *full)
{
    bool same = true;

    for (int i = 0; i < x->ring.n; i++)
        same = same && x->full[i] == full[i];
    return same;
}

bool
axe_weave_loop(axe_weave *x, int i, axe_list *out)
{
    axe_stmt       *s = axe_weave_front(x, i);
    axe_list        body = {.cx = x->cx};
    const axe_node *v = axe_var_node(x->cx, s->at, s->var[0]);
    int            *full;
    group           g;
    bool            same;

    if (!gather(x, i, &g, out) || !match_iterations(x, &g, &same))
        return false;
    if (g.n == 0 || !same)
        return true;
    for (int m = 0; m < g.n; m++) {
        const axe_stmt  *f = g.stmt[m];
        axe_rewriter     w = axe_rewriter_of(x->cx, x->k);
        axe_stmt *const *own = f->body;
        if (f != s) {
            axe_rewrite_var(&w, f->var[0], v);
            own = axe_rewrite_body(&w, f->n_body, f->body);
        }
        axe_weave_forget(x, g.member[m], f);
        axe_weave_enter(x, g.member[m], f->n_body, own);
    }
    full = copy_full(x);
    if (!axe_weave_run(x, g.n, g.member, &body))
        return false;
    for (int m = 0; m < g.n; m++)
        axe_weave_forget(x, g.member[m], g.stmt[m]);
    if (!is_full_as(x, full))
        return axe_weave_fail(
            x, s->at, "an iteration leaves other stages full than it found");
    axe_list_push(out, axe_weave_around(x, s, &body));
    return true;
}

/* ----------------------------------------------------------------- branches
 */

/* One side of all branches, which begins with these stages full. */
static bool
do_side(axe_weave *x, const group *g, bool other, axe_list *out)
{
    for (int m = 0; m < g->n; m++) {
        const axe_stmt *s = g->stmt[m];
        axe_weave_enter(x, g->member[m], other ? s->n_other : s->n_body,
                        other ? s->other : s->body);
    }
    if (!axe_weave_run(x, g->n, g->member, out))
        return false;
    for (int m = 0; m < g->n; m++)
        axe_weave_forget(x, g->member[m], g->stmt[m]);
    return true;
}

static bool
do_sides(axe_weave *x, const group *g, axe_stmt *s, axe_list *out)
{
    axe_list  body = {.cx = x->cx}, other = {.cx = x->cx};
    int      *before = copy_full(x), *after;
    axe_stmt *branch;

    if (!do_side(x, g, false, &body))
        return false;
    after = x->full;
    x->full = before;
    for (int m = 0; m < g->n; m++)
        axe_weave_back(x, g->member[m]);
    if (!do_side(x, g, true, &other))
        return false;
    if (!is_full_as(x, after))
        return axe_weave_fail(x, s->at,
                              "its branches leave different stages full");
    branch = axe_weave_around(x, s, &body);
    branch->n_other = other.n;
    branch->other = axe_stmt_list(&other);
    axe_list_push(out, branch);
    return true;
}

bool
axe_weave_if(axe_weave *x, int i, axe_list *out)
{
    axe_stmt       *s = axe_weave_front(x, i);
    const axe_node *cond = axe_weave_known(x, i, s->cond);
    int64_t         yes;
    group           g;

    if (axe_is_iconst(s->cond, &yes)) {
        axe_weave_splice(x, i, yes ? s->n_body : s->n_other,
                         yes ? s->body : s->other);
        return true;
    }
    if (!gather(x, i, &g, out))
        return false;
    for (int m = 1; m < g.n; m++)
        if (!axe_node_same(axe_weave_known(x, g.member[m], g.stmt[m]->cond),
                           cond))
            return axe_weave_fail(x, s->at,
                                  "roles go on under different conditions");
    return g.n == 0 || do_sides(x, &g, s, out);
}

static bool
has_side(const axe_weave *x, int i, const axe_pipeline *p, axe_stmt_kind kind)
{
    return axe_stage_find(x->strand[i].role, p, kind) != NULL;
}

/* Let a role at the other end of the ring go on until it is. */
static bool
make_ready(axe_weave *x, const axe_stmt *s, axe_list *out)
{
    axe_stmt_kind other =
        s->kind == AXE_STMT_CONSUME ? AXE_STMT_PRODUCE : AXE_STMT_CONSUME;

    while (!axe_weave_is_ready(x, s)) {
        int i = 0;
        while (i < x->n_strand && !has_side(x, i, s->pipeline, other))
            i++;
        if (i == x->n_strand || !axe_weave_front(x, i))
            return axe_weave_fail(
                x, s->at, "no role fills or frees the stage that it waits for");
        if (!axe_weave_advance(x, i, out))
            return false;
    }
    return true;
}

static bool
stands_at(const axe_weave *x, int i, const axe_stmt *s)
{
    const axe_stmt *f = axe_weave_front(x, i);

    return f && f->kind == s->kind && f->pipeline == s->pipeline;
}

/* All strands of this side of the ring fill or read the stage together. */
static bool
do_stage(axe_weave *x, int i, axe_list *out)
{
    const axe_stmt *s = axe_weave_front(x, i);
    axe_list        body = {.cx = x->cx};
    int             n = 0, *member = axe_new_array(x->cx, int, x->n_strand);

    if (!make_ready(x, s, out))
        return false;
    for (int j = 0; j < x->n_strand; j++) {
        if (!has_side(x, j, s->pipeline, s->kind))
            continue;
        member[n++] = j;
        while (!stands_at(x, j, s)) {
            if (!axe_weave_front(x, j))
                return axe_weave_fail(x, s->at,
                                      "entities of a role go different ways");
            if (!axe_weave_advance(x, j, out))
                return false;
        }
    }
    if (axe_weave_front(x, i) != s || !axe_weave_is_ready(x, s))
        return true; /* done on the way */
    for (int m = 0; m < n; m++) {
        const axe_stmt *f = axe_weave_front(x, member[m]);
        axe_weave_enter(x, member[m], f->n_body, f->body);
    }
    if (!axe_weave_run(x, n, member, &body))
        return false;
    axe_list_push(out, axe_weave_around(x, s, &body));
    x->full[axe_weave_ring(x, s->pipeline)] +=
        s->kind == AXE_STMT_PRODUCE ? 1 : -1;
    return true;
}

/* The next statement, which holds stages. */
static bool
do_stages_of(axe_weave *x, int i, axe_stmt *s, axe_list *out)
{
    switch (s->kind) {
    case AXE_STMT_TURN:
        axe_weave_splice(x, i, s->n_body, s->body);
        return true;
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        return do_stage(x, i, out);
    case AXE_STMT_FOR:
        return axe_weave_loop(x, i, out);
    case AXE_STMT_IF:
        return axe_weave_if(x, i, out);
    default:
        return axe_weave_fail(x, s->at,
                              "stages are filled or read by scopes inside of "
                              "a role, or in a loop without a count");
    }
}

bool
axe_weave_advance(axe_weave *x, int i, axe_list *out)
{
    axe_stmt *s = axe_weave_front(x, i);
    bool      ok;

    if (!s || ++x->n_step > MAX_STEP || x->n_deep == MAX_DEEP)
        return axe_weave_fail(x, x->strand[i].role->at,
                              "the roles wait for one another");
    if (!axe_weave_uses(x, s, -1)) {
        axe_weave_pass(x, i);
        axe_weave_learn(x, i, s);
        axe_list_push(out, s);
        return true;
    }
    x->n_deep++;
    ok = do_stages_of(x, i, s, out);
    x->n_deep--;
    return ok;
}

bool
axe_weave_run(axe_weave *x, int n, const int *member, axe_list *out)
{
    for (int m = 0; m < n; m++)
        while (axe_weave_front(x, member[m]))
            if (!axe_weave_advance(x, member[m], out))
                return false;
    for (int m = 0; m < n; m++)
        x->strand[member[m]].depth--;
    return true;
}
