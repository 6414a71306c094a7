/* packed.c - arguments that lie as the machine wants them.
 *
 * A right factor that is only copied into a tile, for one contraction, may as
 * well lie in memory as that contraction reads it: a matrix (n, k) as
 *
 *     ((n / V, V), (k / g, g)) : ((V*Kp, g), (V*g, 1))
 *
 * V columns together, as many as a vector of sums has; g neighbours of the sum
 * in one lane; Kp = k rounded up to g; zeros up to whole vectors and groups.
 * Then the tile has no memory, filling it is no work, and tasks read the
 * argument: columns from j on begin at j * Kp, the sum from k on at k * V.  Kp
 * and V are the argument's strides, which a launch binds.
 *
 * An argument of more dimensions is such a matrix for each value of the outer
 * ones, one behind the other: the weights of experts, or of layers.  Which one,
 * a subscript may compute; where that is outside, the sum has no steps. */
#include "plan/access/access.h"
#include "plan/access/subscript.h"
#include "plan/plan_int.h"

/* The statement that fills the tile with elements of a packed argument. */
static const axe_stmt *
filled_by(const axe_planner *p, const axe_tensor *tile)
{
    const axe_stmt *w = axe_only_writer(p, tile);
    bool ok = w && w->fold == AXE_FOLD_NONE && w->value->op == AXE_OP_load &&
              w->value->u.tensor->packed && axe_walks_whole(w->dst);

    for (int i = 0; ok && i < w->dst->n_arg; i++)
        ok = w->dst->arg[i]->op == AXE_OP_var;
    return ok ? w : NULL;
}

const axe_tensor *
axe_packed_source(const axe_planner *p, const axe_stmt *s,
                  const axe_tensor *tile)
{
    const axe_stmt *w =
        tile->space == AXE_SPACE_GLOBAL ? NULL : filled_by(p, tile);

    if (!w || axe_stage_of(p, s, tile) || !axe_runs_before(p, w, s) ||
        !axe_moved_for(p, tile, s))
        return NULL;
    return w->value->u.tensor;
}

const axe_node *
axe_packed_load(const axe_planner *p, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;

    return t->space != AXE_SPACE_GLOBAL && p->place[t->id].view
               ? filled_by(p, t)->value
               : NULL;
}

/* The reader's name for what the writer calls v. */
static const axe_var *
renamed(const axe_stmt *w, const axe_node *load, const axe_var *v)
{
    for (int i = 0; v && i < load->n_arg; i++)
        if (w->dst->arg[i]->u.var == v && load->arg[i]->op == AXE_OP_var)
            return load->arg[i]->u.var;
    return NULL;
}

/* Are all parts of the subscript that no index has multiples of `unit`?  Tiles
 * of even size begin at whole register tiles. */
static bool
begins_at(const axe_planner *p, const axe_affine *outer, int64_t unit)
{
    if (outer->constant % unit != 0)
        return false;
    for (int i = 0; i < outer->n; i++)
        if (outer->coef[i] % unit != 0 &&
            !axe_retile_of(p->n_retile, p->retile, outer->var[i]))
            return false;
    return true;
}

/* v moves by whole vectors, or groups, and within them. */
static void
add_term(axe_planner *p, const axe_var *v, int64_t extent, int64_t unit,
         axe_stride whole, int64_t within, axe_operand *op)
{
    axe_iter *it = axe_new_array(p->cx, axe_iter, 2);
    int       n = 0;

    it[n++] = (axe_iter){extent / unit, whole.coef, AXE_AXIS_M, whole.unit};
    if (unit > 1)
        it[n++] = (axe_iter){unit, within, AXE_AXIS_M, AXE_UNIT_ONE};
    op->term[op->n_term++] = (axe_term){v, n, it};
}

/* Are all elements that n reads what they were when w ran? */
static bool
lasts(const axe_planner *p, const axe_stmt *w, const axe_node *n)
{
    if (n->op == AXE_OP_load && n->u.tensor->dir != AXE_DIR_IN) {
        const axe_stmt *by = axe_only_writer(p, n->u.tensor);
        if (!by || !axe_runs_before(p, by, w))
            return false;
    }
    for (int i = 0; i < n->n_arg; i++)
        if (!lasts(p, w, n->arg[i]))
            return false;
    return true;
}

/* Dimension d, around the matrices: the same one for the whole statement. */
static axe_status
choose_matrix(axe_planner *p, const axe_request *r, const axe_stmt *w, int d,
              axe_operand *op)
{
    const axe_node *at = w->value->arg[d];
    axe_subscript   s;
    axe_affine      outer;

    AXE_TRY(axe_subscript_apart(p, at, &s));
    if (s.inner.n > 0 || !s.steady || !lasts(p, w, at))
        return axe_fail(p->cx, at->at, AXE_EUNSUPPORTED,
                        "%s is packed as matrices, of which %s takes more than "
                        "one",
                        op->tensor->name, axe_node_text(p->cx, at));
    return axe_global_dim(p, r, at, d, NULL, op, &outer);
}

axe_status
axe_packed_operand(axe_planner *p, const axe_request *r, axe_operand *op)
{
    const axe_node    *load = op->load;
    const axe_stmt    *w = filled_by(p, op->tensor);
    const axe_tensor  *t = w->value->u.tensor;
    const axe_packing *k = &p->pack[t->id];

    op->tensor = t;
    op->base = axe_index_const(p->cx, 0);
    op->guard = axe_new_array(p->cx, axe_guard, t->rank);
    op->check = axe_new_array(p->cx, axe_check, t->rank);
    for (int d = 0; d + 2 < t->rank; d++)
        AXE_TRY(choose_matrix(p, r, w, d, op));
    for (int d = t->rank - 2; d < t->rank; d++) {
        const axe_node *at = w->value->arg[d];
        const axe_var  *v = renamed(w, load, axe_alone_in(p, at));
        const axe_dim  *dim = v ? axe_request_dim(r, v) : NULL;
        bool            column = d == k->column;
        int64_t         unit = column ? k->lanes : k->group;
        int64_t         e = dim ? axe_dim_extent(dim) : 0;
        int             n_check = op->n_check;
        axe_affine      outer;
        if (e == 0 || e % unit != 0 ||
            axe_global_dim(p, r, at, d, v, op, &outer) != AXE_OK ||
            op->n_check > n_check || !begins_at(p, &outer, unit))
            return axe_fail(p->cx, at->at, AXE_EUNSUPPORTED,
                            "%s is packed in units of %d, which %s does not "
                            "walk as a whole",
                            t->name, (int)unit, axe_node_text(p->cx, at));
        if (column)
            add_term(p, v, e, unit, (axe_stride){unit, t->stride[d].unit},
                     k->group, op);
        else
            add_term(p, v, e, unit,
                     (axe_stride){k->lanes * k->group, AXE_UNIT_ONE}, 1, op);
    }
    return AXE_OK;
}

axe_status
axe_check_packed(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_param; i++) {
        const axe_tensor *t = p->kernel->param[i];
        if (!t->packed || p->pack[t->id].lanes > 0)
            continue;
        axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                 "%s cannot be packed: no contraction has it as its right "
                 "factor, through a tile that is filled with it and for "
                 "nothing else",
                 t->name);
        axe_help(p->cx, "compile it with order \"C\"");
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}
