/* alignment.c - where arrays must begin, for a grid's accesses.
 *
 * An access of 16 bytes is at a multiple of 16 bytes, or it is a fault.  What
 * is proved of strides says so of all places in an array but where it begins,
 * which only the launch knows. */
#include "ir/check.h"
#include "lower/simt/node.h"

typedef struct walk {
    axe_simt_lowering *sl;
    const axe_node    *when; /* what sizes are here; NULL: any */
} walk;

static bool
is_of_sizes(const axe_node *n)
{
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_SIZE;
    if (n->op == AXE_OP_load)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (!is_of_sizes(n->arg[i]))
            return false;
    return n->op == AXE_OP_iconst || n->n_arg > 0;
}

static bool
is_param(const axe_kernel *k, const axe_tensor *t)
{
    for (int i = 0; i < k->n_param; i++)
        if (k->param[i] == t)
            return !axe_is_scalar(t);
    return false;
}

static void
add(const walk *w, const axe_tensor *t, int bytes)
{
    axe_grid  *g = w->sl->grid;
    axe_begin *more;

    for (int i = 0; i < g->n_begin; i++) {
        const axe_begin *b = &g->begin[i];
        if (b->tensor == t && b->bytes >= bytes &&
            (!b->when || (w->when && axe_node_same(b->when, w->when))))
            return;
    }
    more = axe_new_array(w->sl->lw.cx, axe_begin, g->n_begin + 1);
    for (int i = 0; i < g->n_begin; i++)
        more[i] = g->begin[i];
    more[g->n_begin++] = (axe_begin){t, bytes, w->when};
    g->begin = more;
}

static void
see_atom(const walk *w, const axe_lir *l)
{
    const axe_kernel *k = w->sl->lw.plan->kernel;

    for (int i = 0; i < l->n_arg; i++) {
        const axe_tensor *t = l->arg[i].tensor;
        if (l->arg[i].space == AXE_ARG_GLOBAL && is_param(k, t) &&
            l->atom->align * 8 > axe_type_table[t->type].bits)
            add(w, t, l->atom->align);
    }
}

static void
see(const walk *w, const axe_lblock *b)
{
    axe_simt_lowering *sl = w->sl;

    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        walk           in = *w, out = *w;
        if (l->kind == AXE_LIR_ATOM)
            see_atom(w, l);
        if (l->kind == AXE_LIR_IF && is_of_sizes(l->value)) {
            in.when = axe_simt_both(sl, w->when, l->value);
            out.when = axe_simt_both(
                sl, w->when, axe_node1(sl->lw.cx, AXE_OP_not, l->value));
        }
        see(&in, &l->body);
        see(&out, &l->other);
    }
}

void
axe_simt_note_begins(axe_simt_lowering *sl)
{
    see(&(walk){sl, NULL}, &sl->grid->body);
}
