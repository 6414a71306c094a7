/* bound.c - operands of which only what is below a number is looked at.
 *
 * Where a statement between devices is `c < i64(n[q, d]) ? X[q, d, c, h] : 0`,
 * nothing of X is needed from slot n[q, d] on.  So n goes first, to all
 * devices, then of X what is below it. */
#include "base/ctx.h"
#include "run/dist/dist_int.h"
#include "run/dist/run.h"

/* ------------------------------------------------------------------ finding */

typedef struct loads {
    const axe_tensor *of;
    int               n;
} loads;

static void
count_load(void *user, const axe_node *n)
{
    loads *l = user;

    l->n += n->op == AXE_OP_load && n->u.tensor == l->of;
}

/* The dimension of a load whose subscript is the index alone; -1. */
static int
dim_of(const axe_chooser *c, const axe_node *load, const axe_node *index)
{
    for (int k = 0; k < load->n_arg && index->op == AXE_OP_var; k++)
        if (load->arg[k]->op == AXE_OP_var &&
            load->arg[k]->u.var == index->u.var &&
            axe_lone_index(c, load->arg[k], load->u.tensor->shape[k]) >= 0)
            return k;
    return -1;
}

/* The numbers that a condition compares an index with: n[q, d]; NULL. */
static const axe_node *
numbers_of(const axe_node *cond)
{
    const axe_node *n = cond->op == AXE_OP_lt ? cond->arg[1] : NULL;

    if (n && n->op == AXE_OP_cast)
        n = n->arg[0];
    return n && n->op == AXE_OP_load &&
                   (n->type == AXE_TYPE_i32 || n->type == AXE_TYPE_i64)
               ? n
               : NULL;
}

/* Is it brought in one step, by each that needs it from one that has it? */
static bool
goes_at_once(const axe_reshard_plan *p)
{
    axe_collective kind =
        p && p->n_step == 1 ? p->step[0].kind : AXE_COLLECTIVE_ALL_REDUCE;

    return kind != AXE_COLLECTIVE_ALL_REDUCE &&
           kind != AXE_COLLECTIVE_REDUCE_SCATTER &&
           kind != AXE_COLLECTIVE_BROADCAST;
}

/* `i < n[..] ? load : ..`: where i, and all that n depends on, are in the load;
 * false: it is none. */
static bool
match(const axe_chooser *c, axe_dist_bound *b, const axe_node **load)
{
    const axe_node *v = c->s->value, *n;
    loads           l = {0};

    if (v->op != AXE_OP_select || v->arg[1]->op != AXE_OP_load ||
        v->arg[1]->u.tensor->rank == 0)
        return false;
    *load = v->arg[1];
    l.of = (*load)->u.tensor;
    axe_node_walk(v, count_load, &l);
    n = b->numbers = numbers_of(v->arg[0]);
    if (!n || n->n_arg == 0 || l.n != 1)
        return false;
    b->dim = dim_of(c, *load, v->arg[0]->arg[0]);
    for (b->n = 0; b->n < n->n_arg; b->n++) {
        b->of[b->n] = dim_of(c, *load, n->arg[b->n]);
        if (b->of[b->n] < 0 || b->of[b->n] == b->dim ||
            dim_of(c, n, n->arg[b->n]) != b->n)
            return false;
    }
    return b->dim >= 0;
}

axe_status
axe_bound_open(axe_chooser *c)
{
    axe_dist_bound          b;
    const axe_node         *load;
    const axe_tensor       *need;
    axe_turning            *turning;
    const axe_reshard_plan *plan;

    c->numbers = NULL;
    if (!match(c, &b, &load))
        return AXE_OK;
    need = axe_needed(c, load, &turning);
    if (turning)
        return AXE_OK;
    AXE_TRY(axe_dist_reshard(c->cx, c->d, axe_between_whole(load->u.tensor),
                             need, NULL, &plan));
    if (goes_at_once(plan))
        c->numbers = b.numbers;
    return AXE_OK;
}

void
axe_bound_find(const axe_operands *o, const axe_node *load, axe_between_arg *a)
{
    axe_dist_bound *b = axe_new(o->c->cx, axe_dist_bound);
    const axe_node *of;

    if (!o->c->numbers || !match(o->c, b, &of) || of != load)
        return;
    for (int i = 0; i < o->arg.n; i++) {
        const axe_between_arg *n = o->arg.item[i];

        if (n->numbers != b->numbers)
            continue;
        b->arg = i;
        a->bound = b;
    }
}

/* ------------------------------------------------------------------ running */

axe_reshard_bound
axe_dist_bound_of(axe_ctx *cx, const axe_dist *d, const axe_dist_bound *b,
                  int64_t *n_number)
{
    const axe_tensor *of = b->numbers->u.tensor;
    int64_t          *pitch = axe_new_array(cx, int64_t, b->n + 1), by = 1;

    for (int k = b->n - 1; k >= 0; k--) {
        pitch[k] = by;
        by *= axe_dist_value(d, NULL, 0, axe_extent_whole(of->shape[k]));
    }
    *n_number = by;
    return (axe_reshard_bound){.dim = b->dim,
                               .n = b->n,
                               .of = b->of,
                               .pitch = pitch,
                               .wide = b->numbers->type == AXE_TYPE_i64};
}

axe_status
axe_dist_bring_below(axe_dist_runner *r, const axe_between_arg *a,
                     const void *numbers, void *data)
{
    const axe_tensor *t = axe_dist_tensor(r->d, a->tensor);
    int64_t           n;
    axe_reshard_bound bound = axe_dist_bound_of(r->cx, r->d, a->bound, &n);
    size_t     bytes = (size_t)axe_type_bytes(a->bound->numbers->type, n);
    axe_number type;
    void      *host;

    bound.value = host = axe_alloc(r->cx, bytes);
    AXE_TRY(r->ops->wait(r));
    AXE_TRY(r->ops->get(r, host, numbers, bytes));
    AXE_TRY(axe_dist_number(r->cx, t, &type));
    if (r->p->moved) {
        AXE_TRY(axe_reshard_below(r->cx, a->plan, &bound, &n));
        r->planned += n * a->plan->bits / 8;
    }
    return axe_reshard_run_below(r->e, a->plan, type, &bound,
                                 r->data[a->tensor], data, NULL);
}
