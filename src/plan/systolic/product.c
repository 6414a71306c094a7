/* product.c - which statements are products for the tensor engine. */
#include "ir/stmt.h"
#include "plan/systolic/systolic.h"

const axe_node *
axe_systolic_load(const axe_node *n)
{
    while (n->op == AXE_OP_cast && axe_type_is_float(n->type))
        n = n->arg[0];
    return n->op == AXE_OP_load ? n : NULL;
}

int
axe_systolic_dim_of(axe_ctx *cx, const axe_node *load, const axe_var *v)
{
    axe_affine a;
    int        out = -1;

    for (int d = 0; d < load->n_arg; d++) {
        if (!axe_mentions(load->arg[d], v))
            continue;
        if (out >= 0 || !axe_affine_of(cx, load->arg[d], &a) ||
            axe_affine_coef(&a, v) != 1)
            return -1;
        for (int i = 0; i < a.n; i++)
            if (a.var[i] != v && a.var[i]->kind == AXE_VAR_INDEX)
                return -1;
        out = d;
    }
    return out;
}

/* Of the indices that occur in load a and not in b, that which the result has
 * last; NULL: none. */
static const axe_var *
own_index(const axe_stmt *s, const axe_node *a, const axe_node *b)
{
    const axe_var *out = NULL;

    for (int i = 0; i < s->n_free; i++)
        if (axe_mentions(a, s->dim[i].var) && !axe_mentions(b, s->dim[i].var))
            out = s->dim[i].var;
    return out;
}

static const axe_var *
sum_index(axe_ctx *cx, const axe_node *a, const axe_node *b, int n,
          const axe_var *const *over)
{
    for (int i = n - 1; i >= 0; i--)
        if (axe_systolic_dim_of(cx, a, over[i]) >= 0 &&
            axe_systolic_dim_of(cx, b, over[i]) >= 0)
            return over[i];
    return NULL;
}

/* Elements of device memory come to a tile of their own first, which has a
 * constant extent. */
static bool
is_bounded(const axe_stmt *s, const axe_node *load, const axe_var *v)
{
    int64_t n;

    return !v || load->u.tensor->space != AXE_SPACE_GLOBAL ||
           axe_is_iconst(axe_stmt_extent(s, v), &n);
}

bool
axe_systolic_is_product(axe_ctx *cx, const axe_stmt *s,
                        const axe_systolic_tile *tile,
                        axe_systolic_product    *out)
{
    const axe_var  *over[AXE_SYSTOLIC_RANK];
    const axe_node *v = s->value;
    int             n = 0;

    *out = (axe_systolic_product){.fold = s->fold};
    if (s->prefix || (s->fold != AXE_FOLD_NONE && s->fold != AXE_FOLD_SUM))
        return false;
    while (v->op == AXE_OP_cast && axe_type_is_float(v->type))
        v = v->arg[0];
    if (v->op == AXE_OP_reduce && v->u.reduce.fold == AXE_FOLD_SUM &&
        s->n_free == s->n_dim) {
        for (int i = 0; i < v->u.reduce.n_over && n < AXE_SYSTOLIC_RANK; i++)
            over[n++] = v->u.reduce.over[i];
        v = v->arg[0];
        while (v->op == AXE_OP_cast && axe_type_is_float(v->type))
            v = v->arg[0];
    } else if (s->fold == AXE_FOLD_SUM)
        for (int i = s->n_free; i < s->n_dim && n < AXE_SYSTOLIC_RANK; i++)
            over[n++] = s->dim[i].var;
    if (v->op != AXE_OP_mul || n == 0)
        return false;
    const axe_node *a = axe_systolic_load(v->arg[0]);
    const axe_node *b = axe_systolic_load(v->arg[1]);
    if (!a || !b || !(out->k = sum_index(cx, a, b, n, over)))
        return false;
    out->m = own_index(s, a, b);
    out->n = own_index(s, b, a);
    out->factor[0] = a;
    out->factor[1] = b;
    const axe_systolic_tile *t = tile ? &tile[s->dst->u.tensor->id] : NULL;
    int dst_n = out->n ? axe_systolic_dim_of(cx, s->dst, out->n) : -1;
    if (t && t->tensor && t->part >= 0 && dst_n == t->part) {
        const axe_var *m = out->m;
        out->m = out->n;
        out->n = m;
        out->factor[0] = b;
        out->factor[1] = a;
    }
    for (int f = 0; f < 2; f++)
        if (!is_bounded(s, out->factor[f], out->k) ||
            !is_bounded(s, out->factor[f], f == 0 ? out->m : out->n))
            return false;
    /* Neither factor has an index of its own: element by element is faster. */
    return out->m || out->n;
}
