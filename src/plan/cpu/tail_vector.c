/* tail_vector.c - the ends of rows as vectors of which only the first lanes
 * count.
 *
 * A row seldom is a whole number of vectors.  Where the machine has atoms that
 * move the first lanes of a vector and touch nothing behind them, its end is
 * one more vector; else it goes element by element.  The other lanes hold 0:
 * what they compute is neither stored nor folded in. */
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

axe_type
axe_kept_as(const axe_planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

void
axe_use_atom(axe_schedule *s, const axe_atom *a, const axe_atom **list)
{
    for (int i = 0; i < s->n_atom; i++)
        if (list[i] == a)
            return;
    list[s->n_atom++] = a;
    s->atom = list;
}

static bool
takes(const axe_atom *a, axe_type t)
{
    return a->type[0] == AXE_TYPE_any ||
           (a->type[0] == AXE_TYPE_wide && axe_type_table[t].bits >= 32) ||
           a->type[0] == t;
}

/* The cheapest atom that moves the first of `lanes` steps of v. */
static const axe_atom *
find(axe_planner *p, axe_atom_kind kind, const axe_operand *op,
     const axe_var *v, int lanes)
{
    axe_type          t = axe_kept_as(p, op->tensor);
    axe_mark          m = axe_ctx_mark(p->cx);
    const axe_atom   *best = NULL;
    const axe_layout *mem;

    for (int i = 0; i < p->mc->n_atom; i++) {
        const axe_atom *a = &p->mc->atom[i];
        if (a->kind == kind && (!best || a->cost < best->cost) &&
            (kind == AXE_ATOM_GATHER_PART ||
             axe_type_table[t].bits * lanes >= AXE_LEAST_VECTOR) &&
            axe_machine_has(p->mc, a) && takes(a, t) &&
            axe_fast_layout(p, op, v, lanes, &mem) &&
            axe_atom_joins(p, a, lanes, 1, mem, NULL))
            best = a;
    }
    axe_ctx_release(p->cx, m);
    return best;
}

const axe_atom *
axe_find_part(axe_planner *p, const axe_operand *op, const axe_var *v,
              int lanes)
{
    return find(p, AXE_ATOM_LOAD_PART, op, v, lanes);
}

/* How many steps of v run before an operand jumps; 0: none does. */
static int64_t
run_of(const axe_request *r, const axe_var *v)
{
    int64_t run = 0;

    for (int i = 0; i < r->n_operand; i++)
        for (int k = 0; k < r->operand[i].n_term; k++) {
            const axe_term *t = &r->operand[i].term[k];
            int64_t         e;
            if (t->var != v || t->n_iter < 2)
                continue;
            e = t->iter[t->n_iter - 1].extent;
            run = run == 0 || e < run ? e : run;
        }
    return run;
}

/* What moves `lanes` steps of v; NULL: nothing does at once. */
static const axe_atom *
whole_of(axe_planner *p, axe_atom_kind kind, const axe_operand *op,
         const axe_var *v, int lanes)
{
    axe_mark          m = axe_ctx_mark(p->cx);
    const axe_atom   *a = NULL;
    const axe_layout *mem;

    if (axe_fast_layout(p, op, v, lanes, &mem))
        a = axe_find_move(p, kind, lanes, 1, mem, NULL);
    axe_ctx_release(p->cx, m);
    return a;
}

/* What a run costs by `lanes`: whole vectors, and its end; -1: the end goes
 * element by element. */
static double
run_cost(axe_planner *p, const axe_request *r, const axe_var *v, int lanes,
         int64_t run)
{
    double all = 0;

    for (int i = 0; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        const axe_atom    *whole =
            whole_of(p, i == 0 ? AXE_ATOM_STORE : AXE_ATOM_LOAD, op, v, lanes);
        const axe_atom *part = find(
            p, i == 0 ? AXE_ATOM_STORE_PART : AXE_ATOM_LOAD_PART, op, v, lanes);
        if ((run >= lanes && !whole) || (run % lanes != 0 && !part))
            return -1;
        if (run >= lanes)
            all += (double)(run / lanes) * whole->cost;
        if (run % lanes != 0)
            all += part->cost;
    }
    return all;
}

bool
axe_part_is_dear(axe_planner *p, const axe_request *r, const axe_var *v,
                 int lanes)
{
    int64_t run = run_of(r, v);
    double  whole, half;

    if (run % lanes == 0 || run > 2 * (int64_t)lanes)
        return false;
    whole = run_cost(p, r, v, lanes, run);
    half = run_cost(p, r, v, lanes / 2, run);
    return whole > 0 && half > 0 && half < whole;
}

/* May a row along v, `lanes` at a time, end in less than a vector? */
static bool
may_end(const axe_request *r, const axe_nest *nest, const axe_var *v)
{
    int64_t e = 0;

    for (int i = 0; i < nest->n_dim; i++)
        if (nest->dim[i].var == v)
            e = axe_dim_extent(&nest->dim[i]);
    for (int i = 0; i < r->n_operand; i++)
        for (int g = 0; g < r->operand[i].n_guard; g++)
            if (r->operand[i].guard[g].var == v)
                return true;
    return e == 0 || e % nest->lanes != 0;
}

/* The atoms that load and store one operand; false if one is wanted and there
 * is none. */
static bool
parts_of(axe_planner *p, const axe_operand *op, bool writes,
         const axe_nest *nest, const axe_var *v, const axe_atom **part)
{
    axe_iter it;

    part[0] = part[1] = NULL;
    if (!axe_fast_iter(op, v, 1, nest->lanes, &it))
        return false;
    if (it.stride == 0 && !writes)
        return true;
    part[0] =
        find(p,
             it.stride == 1 && it.unit == AXE_UNIT_ONE ? AXE_ATOM_LOAD_PART
                                                       : AXE_ATOM_GATHER_PART,
             op, v, nest->lanes);
    if (writes)
        part[1] = find(p, AXE_ATOM_STORE_PART, op, v, nest->lanes);
    return part[0] && (part[1] || !writes);
}

static void
plan_part(axe_planner *p, axe_request *r, axe_nest *nest, const axe_var *last,
          axe_schedule *out, const axe_atom **list)
{
    const axe_atom *part[2];
    bool            reads = r->stmt->fold != AXE_FOLD_NONE;
    int             first = nest->reduce ? 1 : 0;

    if (nest->lanes == 1 || nest->dot)
        return;
    for (int i = first; i < r->n_operand; i++)
        if (!parts_of(p, &r->operand[i], i == 0, nest, last, part))
            return;
    nest->parts = true;
    bool ends = may_end(r, nest, last);
    for (int i = first; i < r->n_operand; i++) {
        axe_operand *op = &r->operand[i];
        parts_of(p, op, i == 0, nest, last, part);
        for (int k = 0; k < 2 && part[k]; k++) {
            op->part[k] = part[k];
            if (ends && (i > 0 || k > 0 || reads))
                axe_use_atom(out, part[k], list);
        }
    }
}

void
axe_plan_parts(axe_planner *p, axe_request *r, const axe_var *last,
               axe_schedule *out, const axe_atom **list)
{
    for (int k = 0; k < r->n_nest && out->kind == AXE_SCHED_MAP; k++) {
        axe_nest *n = &r->nest[k];
        plan_part(p, r, n, k ? n->dim[n->n_dim - 1].var : last, out, list);
    }
}
