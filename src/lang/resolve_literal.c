/* resolve_literal.c - numbers without a type of their own.
 *
 * They are computed in int64 and double, by folding, and converted once, when
 * the type is known. */
#include <inttypes.h>
#include <math.h>

#include "lang/resolve_int.h"

axe_typed
axe_resolve_failed(axe_resolver *r, axe_status st)
{
    axe_resolve_fail(r, st);
    return AXE_FAILED;
}

const char *
axe_type_text(axe_type t)
{
    return t == AXE_TYPE_INDEX ? "an integer (i64)" : axe_type_table[t].name;
}

static const axe_node *
literal_float(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    double v = n->op == AXE_OP_iconst ? (double)n->u.i : n->u.f;

    if (isfinite(v) && fabs(v) > axe_type_max(to)) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, at, AXE_EOVERFLOW,
                                  "%s is beyond %s, whose largest value is "
                                  "%g",
                                  axe_node_text(r->cx, n),
                                  axe_type_table[to].name, axe_type_max(to)));
        return NULL;
    }
    return axe_fconst(r->cx, at, to, v);
}

/* A choice between literals, or a fold of one, in a type. */
static const axe_node *
adapt_soft(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    int             last = n->n_arg - 1;
    const axe_node *arg[3] = {n->arg[0], NULL, NULL};
    axe_dim        *over;

    for (int i = n->op == AXE_OP_select; i <= last; i++) {
        arg[i] = axe_literal_adapt(r, n->arg[i], to, at);
        if (!arg[i])
            return NULL;
    }
    if (n->op == AXE_OP_select)
        return axe_node_new(r->cx, n->op, to, n->at, 3, arg);
    over = axe_new_array(r->cx, axe_dim, n->u.reduce.n_over);
    for (int i = 0; i < n->u.reduce.n_over; i++)
        over[i] = (axe_dim){n->u.reduce.over[i], n->u.reduce.extent[i]};
    return axe_reduce(r->cx, n->at, n->u.reduce.fold, n->u.reduce.n_over, over,
                      arg[0]);
}

/* What a negative number, as of `~7`, is among those without a sign. */
static void
help_bits(axe_resolver *r, int64_t v, axe_type to)
{
    int bits = axe_type_table[to].bits;

    if (v < 0 && axe_type_table[to].cls == AXE_CLASS_UINT)
        axe_help(r->cx, "its bits are those of `0x%" PRIx64 "`",
                 (uint64_t)v & UINT64_MAX >> (64 - bits));
}

const axe_node *
axe_literal_adapt(axe_resolver *r, const axe_node *n, axe_type to, axe_span at)
{
    bool to_bool = to == AXE_TYPE_bool;

    if (n->type == to)
        return n;
    if (n->op == AXE_OP_select || n->op == AXE_OP_reduce)
        return adapt_soft(r, n, to, at);
    if (to_bool || n->type == AXE_TYPE_bool) {
        axe_resolve_fail(r, axe_fail(r->cx, at, AXE_ETYPE, "`%s` is not %s %s",
                                     axe_node_text(r->cx, n),
                                     to_bool ? "a" : "of type",
                                     axe_type_table[to].name));
        return NULL;
    }
    if (axe_type_is_float(to))
        return literal_float(r, n, to, at);
    if (n->op == AXE_OP_fconst) {
        axe_resolve_fail(r,
                         axe_fail(r->cx, at, AXE_ETYPE,
                                  "%s is not an integer, but %s is needed",
                                  axe_node_text(r->cx, n), axe_type_text(to)));
        return NULL;
    }
    if (!axe_type_fits(to, n->u.i) || (to == AXE_TYPE_u64 && n->u.i < 0)) {
        axe_resolve_fail(r, axe_fail(r->cx, at, AXE_EOVERFLOW,
                                     "%" PRId64 " does not fit %s", n->u.i,
                                     axe_type_table[to].name));
        help_bits(r, n->u.i, to);
        return NULL;
    }
    return axe_iconst(r->cx, at, to, n->u.i);
}

static bool
compare_floats(axe_op op, double a, double b)
{
    return op == AXE_OP_eq   ? a == b
           : op == AXE_OP_ne ? a != b
           : op == AXE_OP_lt ? a < b
                             : a <= b;
}

axe_typed
axe_literal_float(axe_resolver *r, axe_op op, axe_span at, const double *arg)
{
    double v;

    if (axe_op_table[op].traits & AXE_TRAIT_CMP)
        return (axe_typed){axe_iconst(r->cx, at, AXE_TYPE_bool,
                                      compare_floats(op, arg[0], arg[1])),
                           AXE_LITERAL};
    if (!axe_real_op(op, arg, &v))
        return axe_resolve_failed(
            r, axe_fail(r->cx, at, AXE_ETYPE,
                        "`%s` is not defined on numbers with a "
                        "fraction",
                        axe_op_sign(op)));
    if (isnan(v))
        return axe_resolve_failed(
            r, axe_fail(r->cx, at, AXE_ETYPE, "this constant has no value"));
    return (axe_typed){axe_fconst(r->cx, at, AXE_TYPE_f64, v), AXE_LITERAL};
}
