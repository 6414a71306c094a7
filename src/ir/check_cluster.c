/* check_cluster.c - what CTAs of a cluster may not differ in.
 *
 * A tile with replicas on the axis `cta` holds the same in CTAs of a cluster:
 * whether, how often and what is written to it may depend on their number only
 * by what is the same for them, v / n. */
#include <inttypes.h>

#include "ir/check.h"

typedef struct clusters {
    axe_ctx        *cx;
    const axe_stmt *cta;   /* innermost scope CTA, or NULL */
    bool            split; /* CTAs of a cluster may not all come here */
    axe_status      status;
} clusters;

static void
fail(clusters *c, axe_status st)
{
    if (c->status == AXE_OK)
        c->status = st;
}

/* How many CTAs of a cluster, from the first on, hold the tile's copies; 1:
 * each its own. */
static int64_t
copies_of(axe_ctx *cx, const axe_tensor *t)
{
    int             n = t->layout ? t->layout->n_replica : t->n_replica;
    const axe_iter *it = t->layout ? t->layout->replica : t->replica;
    axe_axis        cta;
    int64_t         reach = 1, more;

    if (n == 0 || axe_cluster_axis(cx, &cta) != AXE_OK)
        return 1;
    for (int i = 0; i < n; i++)
        if (it[i].axis == cta && axe_mul(it[i].extent - 1, it[i].stride, &more))
            reach = axe_add(reach, more, &more) ? more : INT64_MAX;
    return reach;
}

/* Is the value the same in n CTAs that follow each other along v? */
static bool
same_in_cluster(axe_ctx *cx, const axe_node *e, const axe_var *v, int64_t n)
{
    int64_t by;

    if (e->op == AXE_OP_var)
        return e->u.var != v;
    if (e->op == AXE_OP_load && e->u.tensor->space != AXE_SPACE_GLOBAL &&
        copies_of(cx, e->u.tensor) < n)
        return false;
    if (e->op == AXE_OP_div && e->arg[0]->op == AXE_OP_var &&
        axe_is_iconst(e->arg[1], &by) && by % n == 0)
        return true;
    for (int i = 0; i < e->n_arg; i++)
        if (!same_in_cluster(cx, e->arg[i], v, n))
            return false;
    return true;
}

static void
check_copies(clusters *c, const axe_stmt *s)
{
    const axe_tensor *t = s->dst->u.tensor;
    int64_t           n = copies_of(c->cx, t);
    bool              same = true;

    if (n <= 1 || !c->cta)
        return;
    for (int i = 0; i < s->dst->n_arg; i++)
        same =
            same && same_in_cluster(c->cx, s->dst->arg[i], c->cta->var[0], n);
    if (same && !c->split &&
        same_in_cluster(c->cx, s->value, c->cta->var[0], n))
        return;
    fail(c,
         axe_fail(c->cx, s->at, AXE_ESHAPE,
                  "`%s` holds the same in %" PRId64 " ctas of a cluster, but "
                  "this depends on which one it is",
                  t->name, n));
    axe_note(c->cx, t->at, "declared with replicas on the axis `cta` here");
    axe_help(c->cx, "write what does not tell `%s`, or take the replicas away",
             c->cta->var[0]->name);
}

/* The condition; what the statement before it has put in a scalar for it, if it
 * reads arguments. */
static const axe_node *
condition_of(const axe_stmt *s, const axe_stmt *before)
{
    const axe_node *n = s->cond;

    return n && n->op == AXE_OP_load && before &&
                   before->kind == AXE_STMT_INDEX &&
                   before->fold == AXE_FOLD_NONE &&
                   before->dst->u.tensor == n->u.tensor && n->n_arg == 0
               ? before->value
               : n;
}

/* Does it depend on the CTA whether, or how often, what body[at] holds runs? */
static bool
splits(const clusters *c, axe_stmt *const *body, int at)
{
    const axe_stmt *s = body[at];
    const axe_node *cond = condition_of(s, at > 0 ? body[at - 1] : NULL);
    int64_t         n = c->cta ? c->cta->keys.cluster : 0;

    if (n <= 1)
        return false;
    for (int i = 0; i < s->n_var && s->kind == AXE_STMT_FOR; i++)
        if (!same_in_cluster(c->cx, s->var[i]->extent, c->cta->var[0], n))
            return true;
    return cond && !same_in_cluster(c->cx, cond, c->cta->var[0], n);
}

/* Is there a leave of that kind, of the loop around, to which not all CTAs of a
 * cluster may come? */
static bool
leaves_split(const clusters *c, axe_stmt_kind leave, bool split, int n,
             axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        bool            in = split || splits(c, body, i);
        if (s->kind == leave && split)
            return true;
        if (s->kind != AXE_STMT_FOR && s->kind != AXE_STMT_LOOP &&
            (leaves_split(c, leave, in, s->n_body, s->body) ||
             leaves_split(c, leave, in, s->n_other, s->other)))
            return true;
    }
    return false;
}

static void
check_tile(clusters *c, const axe_tensor *t)
{
    int64_t n = copies_of(c->cx, t), have = 1;

    if (c->cta && c->cta->keys.cluster > 1)
        have = c->cta->keys.cluster;
    if (n <= have)
        return;
    fail(c,
         axe_fail(c->cx, t->at, AXE_ESHAPE,
                  "`%s` has replicas in ctas up to %" PRId64 " of a cluster, "
                  "which has %" PRId64,
                  t->name, n - 1, have));
    axe_help(c->cx,
             "say how large a cluster is: `cluster (%" PRId64 ") cta "
             "...`",
             n);
}

static void
check_body(clusters *c, int n, axe_stmt *const *body)
{
    clusters around = *c;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_SCOPE && s->scope == AXE_SCOPE_CTA)
            c->cta = s;
        if (s->kind == AXE_STMT_TENSOR)
            check_tile(c, s->tensor);
        for (int k = 0;
             s->kind == AXE_STMT_PIPELINE && k < s->pipeline->n_tensor; k++)
            check_tile(c, s->pipeline->tensor[k]);
        if (s->kind == AXE_STMT_INDEX)
            check_copies(c, s);
        c->split = c->split || splits(c, body, i) ||
                   ((s->kind == AXE_STMT_FOR || s->kind == AXE_STMT_LOOP) &&
                    leaves_split(c, AXE_STMT_BREAK, false, s->n_body, s->body));
        check_body(c, s->n_body, s->body);
        check_body(c, s->n_other, s->other);
        c->cta = around.cta;
        around.split = around.split ||
                       leaves_split(c, AXE_STMT_CONTINUE, false, 1, body + i);
        c->split = around.split;
    }
}

axe_status
axe_check_clusters(axe_ctx *cx, const axe_kernel *k)
{
    clusters c = {.cx = cx};

    check_body(&c, k->n_body, k->body);
    return c.status;
}
