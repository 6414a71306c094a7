/* compute.c - in which type values are computed.
 *
 * Arithmetic on floating types that are shorter than a register is done in the
 * machine's compute type, and what is stored is rounded once: a result between
 * may be beyond the short type's range, or finer.  Here the code says so: its
 * operations have the type that they are done in, elements are widened where
 * they are read, and casts to short types are those of the kernel. */
#include "lower/pass/finish.h"

typedef struct computing {
    axe_ctx           *cx;
    const axe_machine *mc;
} computing;

/* The type in which a floating type is computed with, if that is another. */
static bool
widens(const computing *c, axe_type t, axe_type *to)
{
    for (int i = 0; axe_type_is_float(t) && i < c->mc->n_compute; i++)
        if (c->mc->compute[i].type == t) {
            *to = c->mc->compute[i].compute;
            return *to != t;
        }
    return false;
}

static const axe_node *in_type(const computing *c, const axe_node *n);

static const axe_node *
with_args(const computing *c, const axe_node *n, axe_type t)
{
    const axe_node **arg = axe_new_array(c->cx, const axe_node *, n->n_arg);
    axe_type         wide;

    for (int i = 0; i < n->n_arg; i++) {
        arg[i] = in_type(c, n->arg[i]);
        if (widens(c, arg[i]->type, &wide))
            arg[i] = axe_cast(c->cx, n->at, wide, arg[i]);
    }
    return axe_node_new(c->cx, n->op, t, n->at, n->n_arg, arg);
}

/* The bits of a value of a short type are those of the rounded one. */
static const axe_node *
bits_of(const computing *c, const axe_node *n)
{
    const axe_node *x = in_type(c, n->arg[0]);

    if (x->type != n->arg[0]->type)
        x = axe_cast(c->cx, n->at, n->arg[0]->type, x);
    return axe_node_new(c->cx, n->op, n->type, n->at, 1, &x);
}

/* n as it is computed: of a short type only where it is an element that is
 * read, a cast or given by its bits. */
static const axe_node *
in_type(const computing *c, const axe_node *n)
{
    axe_type t = n->type;

    if (n->op == AXE_OP_load || n->op == AXE_OP_var)
        return n;
    if (n->op == AXE_OP_bitcast)
        return bits_of(c, n);
    if (n->op == AXE_OP_cast)
        return with_args(c, n, t);
    (void)widens(c, t, &t);
    if (n->op == AXE_OP_fconst)
        return t == n->type ? n : axe_fconst(c->cx, n->at, t, n->u.f);
    if (n->op == AXE_OP_iconst)
        return t == n->type ? n : axe_iconst(c->cx, n->at, t, n->u.i);
    return n->n_arg > 0 ? with_args(c, n, t) : n;
}

/* Has it anything of a short type? */
static bool
is_short(const computing *c, const axe_node *n)
{
    axe_type t;

    if (widens(c, n->type, &t))
        return true;
    for (int i = 0; i < n->n_arg; i++)
        if (is_short(c, n->arg[i]))
            return true;
    return false;
}

static const axe_node *
changed(const computing *c, const axe_node *n)
{
    return n && is_short(c, n) ? in_type(c, n) : n;
}

static void
compute(const computing *c, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        if (l->kind == AXE_LIR_LOOP && l->join == AXE_JOIN_MOVE)
            continue;
        l->value = changed(c, l->value);
        l->pred = changed(c, l->pred);
        compute(c, &l->body);
        compute(c, &l->other);
    }
}

void
axe_compute_in_type(axe_ctx *cx, const axe_machine *mc, const axe_lblock *b)
{
    computing c = {cx, mc};

    compute(&c, b);
}
