/* interleave_walk.c - strands, and what passing a statement does to them. */
#include "ir/stmt.h"
#include "plan/rewrite/interleave.h"

bool
axe_weave_fail(axe_weave *x, axe_span at, const char *why)
{
    if (!x->why) {
        x->why = why;
        x->at = at;
    }
    return false;
}

int
axe_weave_ring(const axe_weave *x, const axe_pipeline *p)
{
    for (int i = 0; i < x->ring.n; i++)
        if (x->ring.item[i] == p)
            return i;
    return -1;
}

bool
axe_weave_is_stage(const axe_weave *x, const axe_stmt *s)
{
    return (s->kind == AXE_STMT_PRODUCE || s->kind == AXE_STMT_CONSUME) &&
           axe_weave_ring(x, s->pipeline) >= 0;
}

bool
axe_weave_uses(const axe_weave *x, const axe_stmt *s, int ring)
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
axe_weave_front(const axe_weave *x, int i)
{
    const axe_strand     *s = &x->strand[i];
    const axe_weave_list *l = &s->in[s->depth - 1];

    return l->at < l->n ? l->body[l->at] : NULL;
}

void
axe_weave_pass(axe_weave *x, int i)
{
    x->strand[i].in[x->strand[i].depth - 1].at++;
}

void
axe_weave_splice(axe_weave *x, int i, int n, axe_stmt *const *body)
{
    axe_strand     *s = &x->strand[i];
    axe_weave_list *l = &s->in[s->depth - 1];
    axe_list        all = {.cx = x->cx};

    for (int k = 0; k < n; k++)
        axe_list_push(body[k]->kind == AXE_STMT_TENSOR ||
                              body[k]->kind == AXE_STMT_PIPELINE
                          ? &x->decl
                          : &all,
                      body[k]);
    for (int k = l->at + 1; k < l->n; k++)
        axe_list_push(&all, l->body[k]);
    *l = (axe_weave_list){all.n, 0, axe_stmt_list(&all)};
}

void
axe_weave_enter(axe_weave *x, int i, int n, axe_stmt *const *body)
{
    axe_strand *s = &x->strand[i];
    axe_stmt   *none = NULL;

    axe_weave_pass(x, i);
    s->in[s->depth++] = (axe_weave_list){1, 0, &none};
    axe_weave_splice(x, i, n, body);
}

axe_stmt *
axe_weave_around(axe_weave *x, const axe_stmt *s, const axe_list *body)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);

    *out = *s;
    out->n_body = body->n;
    out->body = axe_stmt_list(body);
    return out;
}

/* ------------------------------------------------------------------ scalars
 */

void
axe_weave_back(axe_weave *x, int i)
{
    x->strand[i].in[x->strand[i].depth - 1].at--;
}

const axe_node *
axe_weave_known(axe_weave *x, int i, const axe_node *n)
{
    return axe_rewrite_node(&x->strand[i].known, n);
}

typedef struct reading {
    const axe_weave *x;
    bool             local; /* of what some role may write */
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
void
axe_weave_learn(axe_weave *x, int i, const axe_stmt *s)
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
axe_weave_forget(axe_weave *x, int i, const axe_stmt *s)
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

bool
axe_weave_is_ready(const axe_weave *x, const axe_stmt *s)
{
    int full = x->full[axe_weave_ring(x, s->pipeline)];

    return s->kind == AXE_STMT_CONSUME ? full > 0 : full < s->pipeline->n_stage;
}
