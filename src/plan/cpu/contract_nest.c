/* contract_nest.c - the loops, bounds and register tile of a sum of products
 * whose row has been chosen. */
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"

double
axe_tile_worth(const axe_machine *mc, int rows, int vectors)
{
    return rows * vectors + vectors + 1 > mc->n_vreg
               ? 0
               : (double)(rows * vectors) / (rows + 2 * vectors);
}

/* Operand 0, 1 or 2 of the product: c, a, b. */
const axe_operand *
axe_product_operand(const axe_product *q, int i)
{
    const int at[3] = {0, q->ro.a, q->ro.b};

    return &q->r->operand[at[i]];
}

/* Columns outside, rows within? */
static bool
by_column(const axe_product *q, const axe_candidate *c)
{
    return c->atom->flip || axe_product_operand(q, 2)->tensor->packed;
}

/* The digits of these indices behind those so far. */
static bool
add_digits(const axe_product *q, int n_dim, const axe_dim *const *dim,
           axe_digit *all, int *n)
{
    axe_digit *d;
    int        k;

    for (int i = 0; i < n_dim; i++) {
        if (!axe_plan_cut(q->p, q->r, dim[i], 0, NULL, &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            all[(*n)++] = d[j];
    }
    return true;
}

/* Loops: batch, m blocks, n blocks, sums, then the register tile: rows of a
 * stay in the first-level cache while those of b pass by.  What flipped signs
 * add to a block of columns is found once for all its rows, so it comes first
 * there; and so does it where it comes from far away, for the last time.
 */
bool
axe_contract_nest(const axe_product *q, const axe_candidate *c,
                  axe_schedule *out)
{
    axe_planner     *p = q->p;
    const axe_roles *ro = &q->ro;
    axe_digit       *all = axe_new_array(p->cx, axe_digit, 64 * q->s->n_dim);
    axe_nest        *nest = axe_new_array(p->cx, axe_nest, 1);
    axe_digit       *d;
    int              n = 0, k;
    int64_t          nr = (c->narrow ? 1 : c->n.n_rep) * c->n.atom;
    int64_t          cut[3] = {c->m.n_rep, nr, c->k.atom};

    if (!add_digits(q, ro->n_batch, ro->batch, all, &n))
        return false;
    const axe_dim   *dim[3] = {ro->m, ro->n, ro->k};
    static const int plain[3] = {0, 1, 2}, columns_first[3] = {1, 0, 2};
    for (int i = 0; i < 3; i++) {
        int v = by_column(q, c) ? columns_first[i] : plain[i];
        if (i == 2 &&
            !add_digits(q, ro->n_more[AXE_SUMS], ro->more[AXE_SUMS], all, &n))
            return false;
        if (!axe_plan_cut(p, q->r, dim[v], 1, &cut[v], &k, &d))
            return false;
        for (int j = 0; j < k; j++)
            if (d[j].weight >= cut[v])
                all[n++] = d[j];
        if (v == 1 && c->narrow && axe_dim_extent(dim[v]) == nr)
            all[n++] = (axe_digit){dim[v]->var, nr, 1};
    }
    *nest = (axe_nest){.n_dim = q->s->n_dim,
                       .dim = q->s->dim,
                       .n_digit = n,
                       .digit = all,
                       .lanes = (int)c->n.atom};
    out->n_nest = 1;
    out->nest = nest;
    return true;
}

/* Where b asks whether there is such a matrix at all, the sum must be one loop,
 * which then has no steps. */
bool
axe_contract_ends(const axe_product *q, const axe_schedule *out)
{
    const axe_nest  *nest = &out->nest[0];
    const axe_digit *k = &nest->digit[nest->n_digit - 1];

    if (axe_product_operand(q, 2)->n_check == 0 ||
        (k->var == q->ro.k->var && k->extent > 0 &&
         (nest->n_digit == 1 || (k[-1].var != q->ro.k->var)) &&
         q->ro.n_more[AXE_SUMS] == 0))
        return true;
    axe_rejected(q->p, q->r, "contract",
                 "%s may be outside its tensor, and %s goes by in pieces",
                 axe_node_text(q->p->cx, axe_product_operand(q, 2)->load),
                 q->ro.k->var->name);
    return false;
}

/* A limit from which on the operand is zero along v, or NULL. */
static const axe_node *
zero_from(const axe_product *q, const axe_operand *op, const axe_var *v)
{
    for (int i = 0; op->tensor->packed && i < op->n_guard; i++)
        if (op->guard[i].var == v)
            return op->guard[i].limit;
    return axe_zero_limit(q->p, q->s, op, v);
}

/* Blocks of m, n and k in which a factor is zero need no visit. */
void
axe_contract_skips(const axe_product *q, axe_schedule *out)
{
    const axe_var *v[4] = {q->ro.m->var, q->ro.n->var, q->ro.k->var,
                           q->ro.k->var};
    axe_guard     *bound = axe_new_array(q->p->cx, axe_guard, 4);

    for (int i = 0; i < 4; i++) {
        const axe_node *l =
            zero_from(q, axe_product_operand(q, 1 + i % 2), v[i]);
        if (!l || (out->n_bound > 0 && bound[out->n_bound - 1].var == v[i]))
            continue;
        bound[out->n_bound++] = (axe_guard){v[i], l};
    }
    out->bound = bound;
}

/* The register tile, for the schedule; how many groups of the sum. */
double
axe_contract_tile(const axe_product *q, const axe_candidate *c,
                  axe_tile_shape *out)
{
    const axe_roles *ro = &q->ro;
    double           n = (double)c->k.extent / (double)c->k.atom;

    *out = (axe_tile_shape){.m = ro->m->var,
                            .n = ro->n->var,
                            .k = ro->k->var,
                            .n_more = ro->n_more[AXE_SUMS],
                            .mr = (int)c->m.n_rep,
                            .nv = (int)c->n.n_rep,
                            .a = ro->a,
                            .b = ro->b,
                            .group = (int)c->k.atom,
                            .narrow = c->narrow,
                            .by_column = by_column(q, c)};
    for (int i = 0; i < out->n_more; i++) {
        out->more[i] = ro->more[AXE_SUMS][i]->var;
        n *= (double)axe_dim_extent(ro->more[AXE_SUMS][i]);
    }
    return n;
}
