/* interleave_walk.c - strands, and how they fill and read stages. */
#include "ir/check.h"
#include "plan/interleave.h"

/* Steps, and steps inside of steps, until we give up. */
enum { MAX_STEP = 100000, MAX_DEEP = 500 };

bool
axe_weave_fail(weave *x, axe_span at, const char *why)
{
    if (!x->why) {
        x->why = why;
        x->at = at;
    }
    return false;
}

int
axe_weave_ring(const weave *x, const axe_pipeline *p)
{
    for (int i = 0; i < x->ring.n; i++)
        if (x->ring.item[i] == p)
            return i;
    return -1;
}

bool
axe_weave_is_stage(const weave *x, const axe_stmt *s)
{
    return (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
           axe_weave_ring(x, s->pipeline) >= 0;
}

bool
axe_weave_uses(const weave *x, const axe_stmt *s, int ring)
{
    if (axe_weave_is_stage(x, s) &&
        (ring < 0 || axe_weave_ring(x, s->pipeline) == ring))
        return true;
    for (int i = 0; i < s->n_body; i++)
        if (axe_weave_uses(x, s->body[i], ring))
            return true;
    for (int i = 0; i < s->n_other; i++)
        if (axe_weave_uses(x, s->other[i], ring))
            return true;
    return false;
}

/* ------------------------------------------------------------------ strands
 */

axe_stmt *
axe_weave_front(const weave *x, int i)
{
    const strand  *s = &x->strand[i];
    const list_at *l = &s->in[s->depth - 1];

    return l->at < l->n ? l->body[l->at] : NULL;
}

static void
pass(weave *x, int i)
{
    x->strand[i].in[x->strand[i].depth - 1].at++;
}

void
axe_weave_splice(weave *x, int i, int n, axe_stmt *const *body)
{
    strand  *s = &x->strand[i];
    list_at *l = &s->in[s->depth - 1];
    axe_list all = {.cx = x->cx};

    for (int k = 0; k < n; k++)
        axe_list_push(body[k]->kind == AXE_STMT_TENSOR ||
                              body[k]->kind == AXE_STMT_PIPELINE
                          ? &x->decl
                          : &all,
                      body[k]);
    for (int k = l->at + 1; k < l->n; k++)
        axe_list_push(&all, l->body[k]);
    *l = (list_at){all.n, 0, (axe_stmt *const *)all.item};
}

void
axe_weave_enter(weave *x, int i, int n, axe_stmt *const *body)
{
    strand   *s = &x->strand[i];
    axe_stmt *none = NULL;

    pass(x, i);
    s->in[s->depth++] = (list_at){1, 0, &none};
    axe_weave_splice(x, i, n, body);
}

bool
axe_weave_run(weave *x, int n, const int *member, axe_list *out)
{
    for (int m = 0; m < n; m++)
        while (axe_weave_front(x, member[m]))
            if (!axe_weave_advance(x, member[m], out))
                return false;
    for (int m = 0; m < n; m++)
        x->strand[member[m]].depth--;
    return true;
}

axe_stmt *
axe_weave_around(weave *x, const axe_stmt *s, const axe_list *body)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);

    *out = *s;
    out->n_body = body->n;
    out->body = (axe_stmt *const *)body->item;
    return out;
}

/* ------------------------------------------------------------------ scalars
 */

void
axe_weave_back(weave *x, int i)
{
    x->strand[i].in[x->strand[i].depth - 1].at--;
}

const axe_node *
axe_weave_known(weave *x, int i, const axe_node *n)
{
    return axe_rewrite_node(&x->strand[i].known, n);
}

typedef struct reading {
    const weave *x;
    bool         local; /* of what some role may write */
} reading;

static void
look_at(void *user, const axe_node *n)
{
    reading *r = user;

    if (n->op == AXE_OP_load)
        r->local = r->local || n->u.tensor->space != AXE_SPACE_GLOBAL ||
                   axe_stmt_writes(r->x->roles, n->u.tensor);
}

/* A statement of the strand has been done. */
static void
learn(weave *x, int i, const axe_stmt *s)
{
    axe_rewriter   *known = &x->strand[i].known;
    const axe_node *value;
    reading         r = {.x = x};

    if (s->kind != AXE_STMT_INDEX) {
        axe_weave_forget(x, i, s);
        return;
    }
    if (s->dst->n_arg > 0)
        return;
    value = axe_rewrite_node(known, s->value);
    axe_node_walk(value, look_at, &r);
    axe_rewrite_scalar(
        known, s->dst->u.tensor,
        r.local || s->n_dim > 0 || s->fold != AXE_FOLD_NONE ? NULL : value);
}

void
axe_weave_forget(weave *x, int i, const axe_stmt *s)
{
    if (s->kind == AXE_STMT_INDEX && s->dst->n_arg == 0)
        axe_rewrite_scalar(&x->strand[i].known, s->dst->u.tensor, NULL);
    for (int k = 0; k < s->n_body; k++)
        axe_weave_forget(x, i, s->body[k]);
    for (int k = 0; k < s->n_other; k++)
        axe_weave_forget(x, i, s->other[k]);
}

/* ------------------------------------------------------------------- stages
 */

static bool
has_side(const weave *x, int i, const axe_pipeline *p, axe_stmt_kind kind)
{
    return axe_stage_find(x->strand[i].role, p, kind) != NULL;
}

bool
axe_weave_is_ready(const weave *x, const axe_stmt *s)
{
    int full = x->full[axe_weave_ring(x, s->pipeline)];

    return s->kind == AXE_STMT_CONSUME ? full > 0 : full < s->pipeline->n_stage;
}

/* Let a role at the other end of the ring go on until it is. */
static bool
make_ready(weave *x, const axe_stmt *s, axe_list *out)
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
stands_at(const weave *x, int i, const axe_stmt *s)
{
    const axe_stmt *f = axe_weave_front(x, i);

    return f && f->kind == s->kind && f->pipeline == s->pipeline;
}

/* All strands of this side of the ring fill or read the stage together. */
static bool
do_stage(weave *x, int i, axe_list *out)
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
do_stages_of(weave *x, int i, axe_stmt *s, axe_list *out)
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
axe_weave_advance(weave *x, int i, axe_list *out)
{
    axe_stmt *s = axe_weave_front(x, i);
    bool      ok;

    if (!s || ++x->n_step > MAX_STEP || x->n_deep == MAX_DEEP)
        return axe_weave_fail(x, x->strand[i].role->at,
                              "the roles wait for one another");
    if (!axe_weave_uses(x, s, -1)) {
        pass(x, i);
        learn(x, i, s);
        axe_list_push(out, s);
        return true;
    }
    x->n_deep++;
    ok = do_stages_of(x, i, s, out);
    x->n_deep--;
    return ok;
}
