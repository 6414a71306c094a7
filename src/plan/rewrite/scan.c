/* scan.c - loops that leave a running sum in a tile are one statement.
 *
 *     for (k : 64) {
 *         s[m] += x[k, m];
 *         y[k, m] = s[m];
 *     }
 *
 * One element waits for the one before, and threads have nothing to share but
 * m.  Each y is s and all x up to its own, so threads may have k, too:
 *
 *     y[k, m] = s[m] + x[k, m]        prefix k
 *     s[m] = y[63, m]
 *
 * A thread adds up the run of neighbours that it has, lanes and then warps what
 * runs come to (lower/simt/scan.c).  So are products and extremes.  The order
 * of sums is another one. */
#include "ir/rewrite.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

typedef struct prefix {
    axe_ctx        *cx;
    axe_kernel     *k;
    const axe_var  *loop, *index;
    const axe_stmt *add, *leave; /* s op= x and y = s */
} prefix;

static const axe_op fold_op[] = {
    [AXE_FOLD_SUM] = AXE_OP_add,
    [AXE_FOLD_MUL] = AXE_OP_mul,
    [AXE_FOLD_MAX] = AXE_OP_max,
    [AXE_FOLD_MIN] = AXE_OP_min,
};

static bool
is_plain(const axe_stmt *s)
{
    return s->kind == AXE_STMT_INDEX && s->n_dim == s->n_free && !s->via &&
           !s->atom && !s->slow && s->n_attr == 0;
}

typedef struct reading {
    const axe_node *dst, *sum;
    bool            other;
} reading;

/* Does it read elements that the loop writes, but for the one of its
 * iteration? */
static void
look_at(void *user, const axe_node *n)
{
    reading *r = user;

    if (n->op == AXE_OP_reduce)
        r->other = true;
    if (n->op != AXE_OP_load)
        return;
    if (n->u.tensor == r->sum->u.tensor)
        r->other = true;
    if (n->u.tensor == r->dst->u.tensor && !axe_node_same(n, r->dst))
        r->other = true;
}

/* Is y a tile without a layout, k alone one of its subscripts, which has as
 * many values as the loop has iterations? */
static bool
counts_tile(const prefix *x)
{
    const axe_node   *dst = x->leave->dst;
    const axe_tensor *t = dst->u.tensor;
    int               n = 0;

    for (int d = 0; d < dst->n_arg; d++) {
        const axe_node *a = dst->arg[d];
        if (a->op == AXE_OP_var && a->u.var == x->loop &&
            axe_node_same(x->loop->extent, t->shape[d]))
            n++;
        else if (axe_mentions(a, x->loop))
            return false;
    }
    return n == 1 && !t->layout &&
           (t->space == AXE_SPACE_REG || t->space == AXE_SPACE_SHARED);
}

/* Do both statements run over the same? */
static bool
run_alike(const axe_stmt *a, const axe_stmt *b)
{
    for (int i = 0; i < a->n_free; i++) {
        int k = 0;
        while (k < b->n_free && b->dim[k].var != a->dim[i].var)
            k++;
        if (k == b->n_free ||
            !axe_node_same(a->dim[i].extent, b->dim[k].extent))
            return false;
    }
    return a->n_free == b->n_free;
}

/* Is the loop such a pair? */
static bool
find_pair(prefix *x, const axe_stmt *s)
{
    int64_t e;
    reading r = {0};

    if (s->kind != AXE_STMT_FOR || s->n_body != 2 || s->n_var != 1 ||
        !axe_is_iconst(s->var[0]->extent, &e) || e < 2 ||
        !is_plain(s->body[0]) || !is_plain(s->body[1]))
        return false;
    x->loop = s->var[0];
    x->add = s->body[0];
    x->leave = s->body[1];
    r = (reading){.dst = x->leave->dst, .sum = x->add->dst};
    axe_node_walk(x->add->value, look_at, &r);
    return x->add->fold != AXE_FOLD_NONE && x->leave->fold == AXE_FOLD_NONE &&
           axe_node_same(x->leave->value, x->add->dst) &&
           x->add->dst->u.tensor->space == AXE_SPACE_REG &&
           x->add->dst->u.tensor != x->leave->dst->u.tensor &&
           !axe_mentions(x->add->dst, x->loop) && counts_tile(x) && !r.other &&
           x->add->value->type == x->leave->dst->type &&
           run_alike(x->add, x->leave);
}

/* n with `by` in place of the loop's variable. */
static const axe_node *
replaced(const prefix *x, const axe_node *n, const axe_node *by)
{
    return axe_node_with(x->cx, n, x->loop, by);
}

/* y[k, m] = s[m] op x[k, m], with the index in its place among the others. */
static axe_stmt *
make_all(const prefix *x)
{
    axe_stmt       *out = axe_new(x->cx, axe_stmt);
    const axe_node *at = axe_var_node(x->cx, x->loop->at, x->index);
    axe_dim        *dim = axe_new_array(x->cx, axe_dim, x->leave->n_free + 1);
    int             n = 0;

    *out = *x->leave;
    out->dst = replaced(x, x->leave->dst, at);
    for (int d = 0; d < out->dst->n_arg; d++) {
        if (axe_mentions(out->dst->arg[d], x->index))
            dim[n++] = (axe_dim){x->index, x->loop->extent};
        for (int i = 0; i < x->leave->n_free; i++)
            if (axe_mentions(out->dst->arg[d], x->leave->dim[i].var))
                dim[n++] = x->leave->dim[i];
    }
    out->dim = dim;
    out->n_dim = out->n_free = n;
    out->prefix = x->index;
    out->value = axe_node2(x->cx, fold_op[x->add->fold], x->add->dst,
                           replaced(x, x->add->value, at));
    return out;
}

/* s[m] = y[last, m] */
static axe_stmt *
make_last(const prefix *x)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);
    int64_t   e = 0;

    axe_is_iconst(x->loop->extent, &e);
    *out = *x->add;
    out->fold = AXE_FOLD_NONE;
    out->value =
        replaced(x, x->leave->dst,
                 axe_iconst(x->cx, x->loop->at, AXE_TYPE_INDEX, e - 1));
    return out;
}

static bool
prefix_stmt(void *user, axe_stmt *s, axe_list *out)
{
    prefix *x = user;

    if (!find_pair(x, s))
        return false;
    x->index =
        axe_var_make(x->cx, x->k, AXE_VAR_INDEX, x->loop->name, x->loop->at);
    axe_list_push(out, make_all(x));
    axe_list_push(out, make_last(x));
    return true;
}

const axe_kernel *
axe_simt_prefix(axe_ctx *cx, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    prefix      x = {.cx = cx, .k = out};

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .before = prefix_stmt, .user = &x}, k,
        out);
}
