/* sum_loops.c - loops around a sum of products become indices of the sum.
 *
 *     for (g : 3) for (h : 3) acc[o, x] += f[g, h, o, c] * t[c, g, x + h];
 *
 * adds to every element nine times a sum over c.  With g and h as indices it is
 * one sum over g, h and c, whose elements stay in registers for nine times as
 * many products.  That is the same where both factors and not the element
 * depend on the loop's variable, and where the element is kept as exactly as
 * registers keep it, so that no iteration rounds anything.  Other loops
 * stay. */
#include "ir/rewrite.h"
#include "plan/access/contract_roles.h"
#include "plan/cpu/cpu.h"

typedef struct around {
    axe_ctx           *cx;
    axe_kernel        *k;
    const axe_machine *mc;
} around;

/* Is the sum kept in the type in which the machine adds? */
static bool
kept_exactly(around *x, const axe_stmt *s)
{
    axe_type t = s->dst->u.tensor->type, c;
    axe_mark m = axe_ctx_mark(x->cx);
    bool     ok = s->dst->u.tensor->space != AXE_SPACE_GLOBAL &&
              axe_compute_type(x->cx, x->mc, s->at, t, &c) == AXE_OK && c == t;

    axe_ctx_release(x->cx, m);
    return ok;
}

/* Is it a loop around nothing but a sum of products, of which it could be an
 * index? */
static bool
is_sum(around *x, const axe_stmt *s)
{
    const axe_node *a, *b;
    const axe_stmt *in = s->n_body == 1 ? s->body[0] : NULL;
    const axe_var  *v = s->n_var == 1 ? s->var[0] : NULL;
    axe_roles       ro = {0};
    int64_t         e;

    if (s->kind != AXE_STMT_FOR || !v || !in || in->kind != AXE_STMT_INDEX ||
        !axe_is_iconst(v->extent, &e) || e < 1 ||
        !axe_contract_roles(in, &a, &b, &ro) ||
        ro.n_more[AXE_SUMS] == AXE_MAX_MORE || in->n_attr > 0 || in->via)
        return false;
    return !axe_mentions(in->dst, v) && axe_mentions(a, v) &&
           axe_mentions(b, v) && kept_exactly(x, in);
}

/* The statement in the loop over v, with an index in its place, the slowest of
 * the sum. */
static axe_stmt *
with_index(around *x, const axe_stmt *s, const axe_var *v)
{
    axe_stmt *out = axe_new(x->cx, axe_stmt);
    axe_dim  *dim = axe_new_array(x->cx, axe_dim, s->n_dim + 1);
    axe_var  *index = axe_var_make(x->cx, x->k, AXE_VAR_INDEX, v->name, v->at);

    *out = *s;
    for (int i = 0; i < s->n_dim; i++)
        dim[i < s->n_free ? i : i + 1] = s->dim[i];
    dim[s->n_free] = (axe_dim){index, v->extent};
    out->dim = dim;
    out->n_dim++;
    out->value =
        axe_node_with(x->cx, s->value, v, axe_var_node(x->cx, v->at, index));
    return out;
}

static axe_stmt *
sum_stmt(void *user, axe_stmt *s)
{
    around *x = user;

    return is_sum(x, s) ? with_index(x, s->body[0], s->var[0]) : s;
}

const axe_kernel *
axe_sum_loops(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k)
{
    axe_kernel *out = axe_new(cx, axe_kernel);
    around      x = {.cx = cx, .k = out, .mc = mc};

    *out = *k;
    return axe_kernel_map(
        &(axe_body_change){.cx = cx, .after = sum_stmt, .user = &x}, k, out);
}
