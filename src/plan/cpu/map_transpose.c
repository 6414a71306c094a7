/* map_transpose.c - moves between operands that are fast in different
 * variables, by blocks that are transposed in registers; which atom takes an
 * operand along a variable. */
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

bool
axe_map_depends(const axe_operand *op, const axe_var *v)
{
    for (int i = 0; i < op->n_term; i++)
        if (op->term[i].var == v)
            return true;
    return false;
}

/* Does a computed subscript move with v? */
bool
axe_map_computes(const axe_operand *op, const axe_var *v)
{
    bool any = axe_mentions(op->base, v);

    for (int i = 0; i < op->n_check; i++)
        any = any || axe_mentions(op->check[i].outer, v);
    return any;
}

/* Does an atom take `lanes` steps of `step` of v in this operand, of which
 * `word` neighbours each are moved? */
const axe_atom *
axe_map_fits(axe_planner *p, axe_operand *op, axe_atom_kind kind,
             const axe_var *v, int lanes, int step, int word)
{
    const axe_layout *mem;
    axe_iter          it;
    axe_mark          m = axe_ctx_mark(p->cx);
    const axe_atom   *a = NULL;

    if (!axe_map_computes(op, v) && axe_fast_iter(op, v, step, lanes, &it) &&
        it.stride % word == 0) {
        it.stride /= word;
        if (axe_layout_of_iters(p->cx, 1, &it, &mem) == AXE_OK)
            a = axe_find_move(p, kind, lanes, 1, mem, NULL);
    }
    axe_ctx_release(p->cx, m);
    return a;
}

/* Can v be cut into digits that suit every operand? */
bool
axe_map_refines(axe_planner *p, axe_request *r, const axe_dim *d, int64_t word)
{
    axe_mark   m = axe_ctx_mark(p->cx);
    axe_digit *digit;
    int        n;
    bool       ok = axe_plan_cut(p, r, d, 1, &word, &n, &digit);

    axe_ctx_release(p->cx, m);
    if (!ok)
        axe_rejected(
            p, r, axe_textf(p->cx, "lanes of %s", d->var->name),
            "the layouts cut %s in ways that do not refine one another",
            d->var->name);
    return ok;
}

/* Is the value the loaded element, converted at most by the store? */
static bool
plain_move(const axe_planner *p, const axe_request *r)
{
    const axe_node   *v = r->value;
    const axe_tensor *dst = r->operand[0].tensor;

    if (v->op == AXE_OP_load)
        return true;
    if (v->op != AXE_OP_cast || v->arg[0]->op != AXE_OP_load)
        return false;
    bool     tile = dst->space != AXE_SPACE_GLOBAL;
    bool     kept = !tile || p->place[dst->id].type == dst->type;
    axe_type from = v->arg[0]->type;
    int      bits = axe_type_table[dst->type].bits;
    if (!axe_type_is_float(from) && axe_type_is_float(dst->type))
        return kept && (bits >= 32 || axe_type_table[from].bits <= 16);
    if (axe_type_is_float(from) != axe_type_is_float(dst->type))
        return false;
    return axe_type_widens(from, dst->type) ||
           (kept && (from != AXE_TYPE_f64 || bits >= 32));
}

/* Is what the operand's checks ask the same for all elements? */
static bool
asks_once(const axe_request *r, const axe_operand *op)
{
    bool once = true;

    for (int i = 0; i < op->n_check; i++) {
        once = once && op->check[i].index.n == 0;
        for (int d = 0; d < r->nest[0].n_dim; d++)
            once = once &&
                   !axe_mentions(op->check[i].outer, r->nest[0].dim[d].var);
    }
    return once;
}

/* Does a subscript read something else for each element? */
static bool
looks_up(const axe_request *r, const axe_node *moved)
{
    if (r->operand[1].load != moved)
        return true;
    for (int i = 2; i < r->n_operand; i++)
        for (int d = 0; d < r->nest[0].n_dim; d++)
            if (axe_mentions(r->operand[i].load, r->nest[0].dim[d].var))
                return true;
    return r->n_operand < 2;
}

/* May blocks of the statement be transposed in registers?  Notes why not, where
 * the plan does not show it. */
bool
axe_map_may_transpose(axe_planner *p, axe_request *r)
{
    const axe_node *v = r->value;
    const char     *why = NULL;

    while (v->op == AXE_OP_cast)
        v = v->arg[0];
    if (v->op != AXE_OP_load || r->n_nest != 1)
        return false;
    if (looks_up(r, v))
        why = "a subscript reads a tensor";
    else if (!asks_once(r, &r->operand[0]) || !asks_once(r, &r->operand[1]))
        why = "elements may lie outside elsewhere than behind an end";
    else if (!plain_move(p, r))
        why = "no store does this conversion";
    if (why)
        axe_rejected(p, r, "transpose", "%s", why);
    return !why;
}

/* The variable along which both sides of a move have `word` neighbours, or
 * NULL. */
const axe_var *
axe_map_common_word(axe_request *r, int word)
{
    for (int i = 0; i < r->nest[0].n_dim; i++) {
        const axe_var *v = r->nest[0].dim[i].var;
        axe_iter       it[2];
        bool           ok = axe_dim_extent(&r->nest[0].dim[i]) % word == 0 &&
                  axe_dim_extent(&r->nest[0].dim[i]) > 0;
        for (int k = 0; k < 2 && ok; k++)
            ok = axe_fast_iter(&r->operand[k], v, 1, word, &it[k]) &&
                 it[k].stride == 1 && it[k].unit == AXE_UNIT_ONE;
        if (ok)
            return v;
    }
    return NULL;
}

/* A plain move whose two sides are fast in different variables.  word: that
 * many neighbours along word_var move as one. */
bool
axe_map_transpose(axe_planner *p, axe_request *r, int lanes, int word,
                  const axe_var *word_var, const axe_dim **u, const axe_dim **v,
                  const axe_atom **list)
{
    const axe_nest *nest = &r->nest[0];

    *u = *v = NULL;
    for (int i = 0; i < nest->n_dim; i++) {
        const axe_dim  *d = &nest->dim[i];
        int             step = d->var == word_var ? word : 1;
        const axe_atom *st = axe_map_fits(p, &r->operand[0], AXE_ATOM_STORE,
                                          d->var, lanes, step, word);
        const axe_atom *ld = axe_map_fits(p, &r->operand[1], AXE_ATOM_LOAD,
                                          d->var, lanes, step, word);
        if (st && axe_map_depends(&r->operand[0], d->var)) {
            *v = d;
            list[0] = st;
        } else if (ld && axe_map_depends(&r->operand[1], d->var)) {
            *u = d;
            list[1] = ld;
        }
    }
    for (int i = 0; i < p->mc->n_atom; i++)
        if (p->mc->atom[i].kind == AXE_ATOM_PERMUTE &&
            axe_machine_has(p->mc, &p->mc->atom[i]))
            list[2] = &p->mc->atom[i];
    return *u && *v && list[2] && axe_map_depends(&r->operand[1], (*v)->var) &&
           axe_map_refines(p, r, *u, (*u)->var == word_var ? word : 1) &&
           axe_map_refines(p, r, *v, (*v)->var == word_var ? word : 1);
}
