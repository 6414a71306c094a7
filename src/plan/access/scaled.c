/* scaled.c - which statements are products of factors with scales. */
#include "plan/access/scaled.h"
#include "plan/access/access.h"
#include "plan/access/candidate.h"

enum { N_LOAD = 4 };

typedef struct loads {
    int             n;
    const axe_node *load[N_LOAD];
    bool            ok;
} loads;

/* The factors of a product, without what changes no value. */
static void
collect(const axe_node *n, loads *out)
{
    n = axe_contract_strip(n);
    if (n->op == AXE_OP_mul) {
        collect(n->arg[0], out);
        collect(n->arg[1], out);
    } else if (n->op == AXE_OP_load && out->n < N_LOAD)
        out->load[out->n++] = n;
    else
        out->ok = false;
}

/* How many steps of a dim the scale is for, X[row, k/B]; 0: it is no scale. */
static int64_t
block_of(const axe_stmt *s, const axe_node *load)
{
    const axe_node *at;
    int64_t         b;

    if (load->n_arg != 2 || load->arg[0]->op != AXE_OP_var)
        return 0;
    at = load->arg[1];
    if (at->op != AXE_OP_div || at->arg[0]->op != AXE_OP_var ||
        !axe_is_iconst(at->arg[1], &b) || b < 2)
        return 0;
    for (int i = s->n_free; i < s->n_dim; i++)
        if (at->arg[0]->u.var == s->dim[i].var)
            return b;
    return 0;
}

static bool
goes_with(const axe_node *scale, const axe_dim *row)
{
    return scale->arg[0]->u.var == row->var;
}

bool
axe_contract_scaled(const axe_stmt *s, axe_scaled *out)
{
    loads           l = {.ok = true};
    const axe_node *factor[2], *scale[2];
    int             n_factor = 0, n_scale = 0;
    int64_t         block[2];

    if (s->atom || s->fold != AXE_FOLD_SUM || s->value->op != AXE_OP_mul)
        return false;
    collect(s->value, &l);
    if (!l.ok || l.n != N_LOAD)
        return false;
    for (int i = 0; i < N_LOAD; i++) {
        int64_t b = block_of(s, l.load[i]);
        if ((b > 0 ? n_scale : n_factor) == 2)
            return false;
        if (b > 0) {
            block[n_scale] = b;
            scale[n_scale++] = l.load[i];
        } else
            factor[n_factor++] = l.load[i];
    }
    *out = (axe_scaled){.factor = {factor[0], factor[1]}};
    if (block[0] != block[1] ||
        !axe_contract_assign(s, &out->factor[0], &out->factor[1], &out->ro) ||
        out->ro.n_more[AXE_ROWS] + out->ro.n_more[AXE_COLUMNS] +
                out->ro.n_more[AXE_SUMS] + out->ro.n_batch >
            0)
        return false;
    int left = goes_with(scale[0], out->ro.m) ? 0 : 1;
    out->scale[0] = scale[left];
    out->scale[1] = scale[1 - left];
    out->block = block[0];
    return goes_with(out->scale[0], out->ro.m) &&
           goes_with(out->scale[1], out->ro.n);
}

static int64_t
extent_in(const axe_stmt *s, const axe_var *v)
{
    for (int i = 0; i < s->n_dim; i++)
        if (s->dim[i].var == v)
            return axe_dim_extent(&s->dim[i]);
    return 0;
}

/* Is it a tile that the statement walks whole, a row and a block at a time? */
static bool
is_whole(const axe_stmt *s, const axe_node *scale, int64_t block)
{
    const axe_tensor *t = scale->u.tensor;
    int64_t           rows, n;

    return axe_is_iconst(t->shape[0], &rows) &&
           axe_is_iconst(t->shape[1], &n) &&
           rows == extent_in(s, scale->arg[0]->u.var) &&
           n * block == extent_in(s, scale->arg[1]->arg[0]->u.var);
}

/* Does the row multiply these types, rows and columns either way? */
static bool
takes(axe_ctx *cx, const axe_atom *a, const axe_stmt *s, const axe_scaled *x)
{
    axe_type t[2] = {x->factor[0]->u.tensor->type,
                     x->factor[1]->u.tensor->type};

    return a->scale[0] && a->type[0] == s->dst->u.tensor->type &&
           a->scale_type == x->scale[0]->u.tensor->type &&
           ((a->type[1] == t[0] && a->type[2] == t[1]) ||
            (a->type[1] == t[1] && a->type[2] == t[0])) &&
           axe_atom_block(cx, a) == x->block;
}

bool
axe_takes_scales(axe_ctx *cx, const axe_machine *mc, const axe_stmt *s,
                 bool held)
{
    axe_space       space = held ? AXE_SPACE_TMEM : AXE_SPACE_SHARED;
    axe_scaled      x;
    const axe_atom *a;

    if (s->dst->u.tensor->space != AXE_SPACE_TMEM ||
        !axe_contract_scaled(s, &x) ||
        x.scale[0]->u.tensor->type != x.scale[1]->u.tensor->type)
        return false;
    for (int i = 0; i < 2; i++)
        if (x.scale[i]->u.tensor->space != space ||
            !is_whole(s, x.scale[i], x.block))
            return false;
    for (int i = 0; (a = axe_product_row(mc, &i)) != NULL;)
        if (takes(cx, a, s, &x))
            return true;
    return false;
}
