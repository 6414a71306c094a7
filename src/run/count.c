/* count.c - operations of contractions.
 *
 * Extents are taken as real numbers with `cdiv` as plain division: M by BM
 * tiles of BM rows are then M rows, whatever the last tile sticks out.  Of the
 * two branches of an `if` the one with more counts. */
#include "run/count.h"

#include "base/ctx.h"

typedef struct counter {
    const axe_kernel *k;
    const int64_t    *size;
    double            times; /* the innermost loop so far runs */
    double            sum;
} counter;

static double
value_of(const counter *c, const axe_node *n)
{
    double a = n->n_arg > 0 ? value_of(c, n->arg[0]) : 0,
           b = n->n_arg > 1 ? value_of(c, n->arg[1]) : 0;

    switch (n->op) {
    case AXE_OP_iconst:
        return (double)n->u.i;
    case AXE_OP_var:
        for (int i = 0; i < c->k->n_size; i++)
            if (c->k->size[i] == n->u.var)
                return (double)c->size[i];
        return 0;
    case AXE_OP_add:
        return a + b;
    case AXE_OP_sub:
        return a - b;
    case AXE_OP_mul:
        return a * b;
    case AXE_OP_div:
    case AXE_OP_cdiv:
        return b != 0 ? a / b : 0;
    default:
        return 0;
    }
}

static bool
is_product(const axe_node *n)
{
    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    return n->op == AXE_OP_mul && axe_type_is_float(n->type);
}

/* Sums of products inside an expression that is computed `times` times. */
static void
count_node(counter *c, const axe_node *n, double times)
{
    if (n->op == AXE_OP_reduce) {
        for (int i = 0; i < n->u.reduce.n_over; i++)
            times *= value_of(c, n->u.reduce.extent[i]);
        if (n->u.reduce.fold == AXE_FOLD_SUM && is_product(n->arg[0]))
            c->sum += 2 * times;
    }
    for (int i = 0; i < n->n_arg; i++)
        count_node(c, n->arg[i], times);
}

static void
count_body(counter *c, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        counter         in = *c;
        for (int k = 0; k < s->n_var; k++)
            in.times *= value_of(c, s->var[k]->extent);
        for (int k = 0; k < s->n_dim; k++)
            in.times *= value_of(c, s->dim[k].extent);
        if (s->kind == AXE_STMT_INDEX) {
            if (s->fold == AXE_FOLD_SUM && s->n_dim > s->n_free &&
                is_product(s->value))
                in.sum += 2 * in.times;
            count_node(&in, s->value, in.times);
        }
        counter other = in;
        count_body(&in, s->n_body, s->body);
        count_body(&other, s->n_other, s->other);
        c->sum = other.sum > in.sum ? other.sum : in.sum;
    }
}

double
axe_count_flops(const axe_kernel *k, const int64_t *size)
{
    counter c = {.k = k, .size = size, .times = 1};

    count_body(&c, k->n_body, k->body);
    return c.sum;
}

axe_status
axe_program_work(axe_ctx *cx, const axe_program *p, int n_array,
                 const axe_array *array, int n_size, const axe_size *size,
                 axe_launch_work *out)
{
    AXE_NEED(cx, p);
    AXE_NEED_ALL(cx, n_array, array);
    AXE_NEED_ALL(cx, n_size, size);
    AXE_NEED(cx, out);
    const axe_kernel *k = p->kernel;
    axe_shape        *shape = axe_new_array(cx, axe_shape, k->n_param + 1);
    axe_bound         b;
    axe_launch_work   w = {0};

    AXE_TRY(axe_program_shapes(cx, p, n_array, array, n_size, size, shape));
    AXE_TRY(axe_bind(cx, k, n_array, array, n_size, size, false, &b));
    for (int i = 0; i < k->n_param; i++) {
        double bytes = axe_type_table[k->param[i]->type].bits / 8.0;
        for (int j = 0; j < shape[i].n; j++)
            bytes *= (double)shape[i].extent[j];
        w.bytes +=
            bytes * (axe_program_param(p, i).access == AXE_UPDATES ? 2 : 1);
    }
    w.flops = axe_count_flops(k, b.size);
    *out = w;
    return AXE_OK;
}
