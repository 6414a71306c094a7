/* packed.c - arguments that lie as the machine wants them.
 *
 * A right factor that is only copied into a tile, for one contraction, may as
 * well lie in memory as that contraction reads it: a matrix (n, k) as
 *
 *     ((n / V, V), (k / g, g)) : ((V*Kp, g), (V*g, 1))
 *
 * V columns together, a panel: as many as a register tile has, which then reads
 * one run of memory, or, where tiles of columns are not whole panels, as many
 * as a vector of sums; g neighbours of the sum in one lane; Kp = k rounded up
 * to g; zeros up to whole panels and groups.  Then the tile has no memory,
 * filling it is no work, and tasks read the argument: columns from j on begin
 * at j * Kp, the sum from k on at k * V.  Kp and V are the argument's strides,
 * which a launch binds.
 *
 * An argument of more dimensions is such a matrix for each value of the outer
 * ones, one behind the other: the weights of experts, or of layers.  Which one,
 * a subscript may compute; where that is outside, the sum has no steps. */
#include "ir/rewrite.h"
#include "ir/stmt.h"
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

/* ---------------------------------------------------------- the next matrix */

/* The first tile of a matrix waits for its columns, which take longer from
 * memory than to multiply; later ones find them in the caches, and memory is
 * idle.  So each asks for one vector in NEXT of what the tile NEXT places on
 * reads, which has all of it then.  Not where few matrices have a second tile:
 * memory is busy all the time then. */
enum { NEXT = 3 };

/* A variable, and what is in its place. */
typedef struct one_var {
    axe_ctx        *cx;
    const axe_var  *var;
    const axe_node *by;
} one_var;

static const axe_node *
change_var(void *user, const axe_node *n)
{
    const one_var *x = user;

    return n->op == AXE_OP_var && n->u.var == x->var ? x->by : NULL;
}

/* The fastest variable of the scope around s, or NULL. */
static const axe_var *
fastest_around(const axe_planner *p, const axe_stmt *s)
{
    for (int i = 0; i < p->kernel->n_body; i++) {
        const axe_stmt *b = p->kernel->body[i];
        if (b->kind == AXE_STMT_SCOPE && b->n_var > 0 &&
            axe_stmt_within(b->n_body, b->body, s))
            return b->var[b->n_var - 1];
    }
    return NULL;
}

/* Which matrix the tile NEXT places on takes, where this one takes `at`; NULL
 * if that is not known before. */
static const axe_node *
matrix_of_next(const axe_planner *p, const axe_stmt *w, const axe_node *at,
               const axe_var *v)
{
    const axe_node *n = at, *i = axe_var_node(p->cx, AXE_NOWHERE, v), *last;
    const axe_stmt *by;

    while (n->op == AXE_OP_cast)
        n = n->arg[0];
    if (n->op != AXE_OP_load || n->n_arg > 0 || !lasts(p, w, n) ||
        !(by = axe_only_writer(p, n->u.tensor)) || by->n_dim > 0 ||
        by->fold != AXE_FOLD_NONE || by->value->op != AXE_OP_load ||
        by->value->u.tensor->dir != AXE_DIR_IN || !axe_mentions(by->value, v) ||
        axe_retile_of(p->n_retile, p->retile, v))
        return NULL;
    last = axe_node2(p->cx, AXE_OP_sub, v->extent, axe_index_const(p->cx, 1));
    i = axe_node2(p->cx, AXE_OP_add, i, axe_index_const(p->cx, NEXT));
    one_var x = {p->cx, v, axe_node2(p->cx, AXE_OP_min, i, last)};
    n = axe_node_map(p->cx, by->value, change_var, &x);
    return n->type == AXE_TYPE_INDEX
               ? n
               : axe_cast(p->cx, n->at, AXE_TYPE_INDEX, n);
}

/* Are tiles half as many again as matrices? */
static const axe_node *
seconds(const axe_planner *p, const axe_node *tiles, const axe_node *matrices)
{
    return axe_node2(
        p->cx, AXE_OP_le,
        axe_node2(p->cx, AXE_OP_mul, matrices, axe_index_const(p->cx, 3)),
        axe_node2(p->cx, AXE_OP_mul, tiles, axe_index_const(p->cx, 2)));
}

const axe_node *
axe_packed_next(axe_planner *p, const axe_node *load)
{
    const axe_stmt    *w = filled_by(p, load->u.tensor);
    const axe_tensor  *t = w->value->u.tensor;
    const axe_packing *k = &p->pack[t->id];
    const axe_var     *v = fastest_around(p, w);
    const axe_node    *zero = axe_index_const(p->cx, 0), *n, *in, *part;

    if (t->rank != 3 && t->rank != 4)
        return NULL;
    for (int d = 1; v && d < t->rank; d++)
        if (axe_mentions(w->value->arg[d], v))
            return NULL;
    n = v ? matrix_of_next(p, w, w->value->arg[0], v) : NULL;
    if (!n)
        return NULL;
    in = axe_node2(p->cx, AXE_OP_and, axe_node2(p->cx, AXE_OP_le, zero, n),
                   axe_node2(p->cx, AXE_OP_lt, n, t->shape[0]));
    in = axe_node2(p->cx, AXE_OP_and, in, seconds(p, v->extent, t->shape[0]));
    n = axe_node2(p->cx, AXE_OP_mul,
                  axe_node2(p->cx, AXE_OP_sub, n, w->value->arg[0]),
                  axe_unit_node(p, t->stride[0].unit));
    n = axe_node_new(p->cx, AXE_OP_select, AXE_TYPE_INDEX, AXE_NOWHERE, 3,
                     (const axe_node *[]){in, n, zero});
    part = axe_node2(p->cx, AXE_OP_mod, axe_var_node(p->cx, AXE_NOWHERE, v),
                     axe_index_const(p->cx, NEXT));
    if (k->panel > 1)
        return axe_node2(
            p->cx, AXE_OP_add, n,
            axe_node2(p->cx, AXE_OP_mul, part,
                      axe_index_const(p->cx, k->lanes / k->panel * k->group)));
    part = axe_node2(p->cx, AXE_OP_mul, part,
                     axe_unit_node(p, t->stride[k->column].unit));
    part = axe_node2(p->cx, AXE_OP_mul, part, axe_index_const(p->cx, k->lanes));
    return axe_node2(p->cx, AXE_OP_add, n, part);
}

/* ---------------------------------------------------------------- operands */

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

bool
axe_packed_begins(const axe_planner *p, const axe_node *at, int64_t unit)
{
    axe_affine a;
    bool       ok = axe_affine_of(p->cx, at, &a) && a.constant % unit == 0;

    for (int i = 0; ok && i < a.n; i++)
        ok = a.var[i]->kind == AXE_VAR_INDEX || a.coef[i] % unit == 0 ||
             axe_retile_of(p->n_retile, p->retile, a.var[i]);
    return ok;
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
