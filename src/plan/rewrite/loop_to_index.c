/* loop_to_index.c - loops that count a register tile become indices.
 *
 *     for (r : 8) for (g : 3) acc[r, o, x] += f[g, o, c] * t[c, r + g, x];
 *
 * A thread has no registers that a loop's variable could count; and threads
 * that share out r as they do o and x have more to share.  Iterations of r
 * touch elements of their own, so their order against the loops inside is free:
 * r is an index of the statement.  Loops of which this is not true stay. */
#include "ir/rewrite.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct unloop {
    axe_ctx               *cx;
    axe_kernel            *k;
    const axe_var         *loop, *index;
    const axe_body_change *change;
} unloop;

/* The statement of a perfect nest of loops, or NULL; *ends: do their extents
 * mention v? */
static const axe_stmt *
innermost(const axe_stmt *s, const axe_var *v, bool *ends)
{
    while (s->kind == AXE_STMT_FOR && s->n_body == 1 && s->n_var == 1) {
        *ends = *ends || axe_mentions(s->var[0]->extent, v);
        s = s->body[0];
    }
    return s->kind == AXE_STMT_INDEX ? s : NULL;
}

typedef struct reading {
    const axe_node *dst;
    bool            other; /* than the element that is written */
} reading;

static void
look_at(void *user, const axe_node *n)
{
    reading *r = user;

    if (n->op == AXE_OP_load && n->u.tensor == r->dst->u.tensor)
        r->other = r->other || !axe_node_same(n, r->dst);
}

/* Do iterations of v write and read elements of a register tile that are theirs
 * alone, since v is one of its subscripts, and counts all of a dimension? */
static bool
counts_tile(const axe_stmt *s, const axe_var *v)
{
    reading r = {.dst = s->dst};
    int     n = 0;

    for (int d = 0; d < s->dst->n_arg; d++) {
        const axe_node *a = s->dst->arg[d];
        if (a->op == AXE_OP_var && a->u.var == v &&
            axe_node_same(v->extent, s->dst->u.tensor->shape[d]))
            n++;
        else if (axe_mentions(a, v))
            return false;
    }
    axe_node_walk(s->value, look_at, &r);
    return n == 1 && !r.other && !s->atom &&
           s->dst->u.tensor->space == AXE_SPACE_REG;
}

static bool
is_index(const axe_stmt *s)
{
    const axe_stmt *in;
    int64_t         e;
    bool            ends = false;

    if (s->kind != AXE_STMT_FOR || s->n_body != 1 || s->n_var != 1 ||
        !axe_is_iconst(s->var[0]->extent, &e) || e < 1)
        return false;
    in = innermost(s->body[0], s->var[0], &ends);
    return in && !ends && counts_tile(in, s->var[0]);
}

/* n by the index in place of the loop's variable. */
static const axe_node *
replaced(unloop *x, const axe_node *n)
{
    return axe_node_with(x->cx, n, x->loop,
                         axe_var_node(x->cx, n->at, x->index));
}

/* The place among free indices, which have the order of the destination. */
static int
place_of(const axe_stmt *s, const axe_var *v)
{
    int n = 0;

    for (int d = 0; d < s->dst->n_arg && !axe_mentions(s->dst->arg[d], v); d++)
        for (int i = 0; i < s->n_free; i++)
            n += axe_mentions(s->dst->arg[d], s->dim[i].var);
    return n < s->n_free ? n : s->n_free;
}

static axe_stmt *
with_index(unloop *x, const axe_stmt *s)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);
    axe_dim  *dim = axe_new_array(x->cx, axe_dim, s->n_dim + 1);
    int       at = place_of(s, x->loop);

    *out = *s;
    for (int i = 0; i < s->n_dim; i++)
        dim[i < at ? i : i + 1] = s->dim[i];
    dim[at] = (axe_dim){x->index, x->loop->extent};
    out->dim = dim;
    out->n_dim++;
    out->n_free++;
    out->dst = replaced(x, s->dst);
    out->value = replaced(x, s->value);
    return out;
}

/* The nest below the loop, its statement with the index. */
static axe_stmt *
nest_below(unloop *x, axe_stmt *s)
{
    axe_stmt  *out;
    axe_stmt **body;

    if (s->kind == AXE_STMT_INDEX)
        return with_index(x, s);
    out = axe_new(x->cx, axe_stmt);
    body = axe_new_array(x->cx, axe_stmt *, 1);
    *out = *s;
    body[0] = nest_below(x, s->body[0]);
    out->body = body;
    return out;
}

/* Loops around the statement, the outermost first. */
static bool
unloop_stmt(void *user, axe_stmt *s, axe_list *out)
{
    unloop *x = user;
    bool    any = is_index(s);

    while (is_index(s)) {
        x->loop = s->var[0];
        x->index = axe_var_make(x->cx, x->k, AXE_VAR_INDEX, x->loop->name,
                                x->loop->at);
        s = nest_below(x, s->body[0]);
    }
    if (any) {
        axe_stmt *const *one = &s;
        int              n = 1;
        axe_body_map(x->change, &n, &one);
        axe_list_push(out, one[0]);
    }
    return any;
}

const axe_kernel *
axe_simt_unloop(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    unloop      x = {.cx = cx, .k = out};

    *out = *k;
    x.change = &(axe_body_change){.cx = cx, .before = unloop_stmt, .user = &x};
    return axe_kernel_map(x.change, k, out);
}
