/* map.c - element-wise statements, reductions inside them, and transposes.
 *
 * One index variable runs in the lanes of a vector.  It must move every
 * operand by an amount that some load or store atom takes (neighbours, or one
 * element for all); the destination's fastest variable is tried first, then
 * the variables of reductions.  Where source and destination are fast in
 * different variables a permute atom transposes blocks in registers.  What
 * fits none of these runs element by element, and the plan says so. */
#include <string.h>

#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* A block of a transpose reads one line of each of `lanes` rows, more streams
 * than hardware follows, so they are asked for this many blocks ahead; short
 * rows of a copy are asked for as many rows ahead. */
enum { MIN_LANES = 2, AHEAD = 4, SHORT_ROW = 1024 };

/* Neighbours of fewer bits move together where both sides have them. */
enum { WORD_BITS = 32 };

/* Elements that are nearly neighbours, and operations that hide that lines of
 * others come one by one. */
enum { NEAR_STEP = 16, SOME_SLOTS = 2 };

/* Does the statement move elements from one tensor to another as they are?
 * Others may say where, as integers that are words already. */
static bool
is_raw(const axe_planner *p, const axe_request *r)
{
    axe_type t = axe_kept_as(p, r->operand[0].tensor);

    if (r->value->op != AXE_OP_load || r->n_nest != 1 || r->value->type != t)
        return false;
    for (int i = 1; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        bool               word = op->tensor->type == AXE_TYPE_i32 ||
                    op->tensor->type == AXE_TYPE_i64;
        if (op->load == r->value ? axe_kept_as(p, op->tensor) != t
                                 : !axe_operand_places(r->value, op) && !word)
            return false;
    }
    return axe_type_table[t].bits < WORD_BITS;
}

/* Does it choose or fold indices, so that lanes hold them as they are? */
static bool
holds_indices(const axe_node *n)
{
    bool any = n->type == AXE_TYPE_INDEX &&
               (n->op == AXE_OP_select || n->op == AXE_OP_reduce ||
                n->op == AXE_OP_min || n->op == AXE_OP_max);

    for (int i = 0; i < n->n_arg && n->op != AXE_OP_load && !any; i++)
        any = holds_indices(n->arg[i]);
    return any;
}

axe_status
axe_map_lanes(axe_planner *p, axe_request *r, int *lanes)
{
    int min = p->mc->vector_bits;

    for (int i = 0; i < r->n_operand; i++) {
        axe_type t;
        if (i > 0 && axe_operand_places(r->value, &r->operand[i]))
            continue;
        AXE_TRY(axe_compute_type(p->cx, p->mc, r->operand[i].load->at,
                                 r->operand[i].tensor->type, &t));
        int n = axe_machine_lanes(p->mc, t);
        min = n < min ? n : min;
    }
    if (is_raw(p, r))
        min = p->mc->vector_bits / axe_type_table[r->value->type].bits;
    if (holds_indices(r->value)) {
        int n = axe_machine_lanes(p->mc, AXE_TYPE_INDEX);
        if (n < min)
            axe_rejected(p, r, axe_textf(p->cx, "%d lanes", 2 * n),
                         "indices are values here, of %d bits in a lane",
                         axe_type_table[AXE_TYPE_INDEX].bits);
        min = n < min ? n : min;
    }
    *lanes = min;
    return AXE_OK;
}

static const axe_atom *
fits(axe_planner *p, axe_operand *op, axe_atom_kind kind, const axe_var *v,
     int lanes)
{
    return axe_map_fits(p, op, kind, v, lanes, 1, 1);
}

static int
count_math(const axe_node *n)
{
    int k = n->op != AXE_OP_load && n->op != AXE_OP_fconst &&
            n->op != AXE_OP_iconst;

    if (axe_op_table[n->op].ulp >= 1 && n->op != AXE_OP_rsqrt)
        k = 24; /* a polynomial */
    for (int i = 0; i < n->n_arg; i++)
        if (n->op != AXE_OP_load)
            k += count_math(n->arg[i]);
    return k;
}

/* The atom that loads an operand lane by lane, where that is no slower than one
 * by one: neighbours share lines, or enough is done with each element to hide
 * that lines come one after the other. */
static const axe_atom *
fits_apart(axe_planner *p, const axe_request *r, axe_operand *op,
           const axe_var *v, int lanes)
{
    axe_iter it;

    if (!axe_fast_iter(op, v, 1, lanes, &it))
        return NULL;
    if ((it.unit != AXE_UNIT_ONE || it.stride < -NEAR_STEP ||
         it.stride > NEAR_STEP) &&
        count_math(r->value) < SOME_SLOTS)
        return NULL;
    return op->apart = fits(p, op, AXE_ATOM_GATHER, v, lanes);
}

/* Try v in the lanes of the statement's own loops; apart: it may load what is
 * no run along them. */
static bool
try_vector(axe_planner *p, axe_request *r, const axe_dim *d, int lanes,
           bool apart, axe_schedule *out, const axe_atom **list)
{
    int64_t e = axe_dim_extent(d);

    if ((e != 0 && e < lanes) || !axe_map_refines(p, r, d, 1))
        return false;
    for (int i = 0; i < r->n_operand; i++) {
        axe_operand    *op = &r->operand[i];
        const axe_atom *a =
            fits(p, op, i == 0 ? AXE_ATOM_STORE : AXE_ATOM_LOAD, d->var, lanes);
        if (!a && apart && i > 0)
            a = fits_apart(p, r, op, d->var, lanes);
        if (!a) {
            axe_rejected(
                p, r, axe_textf(p->cx, "%d lanes of %s", lanes, d->var->name),
                "no atom %s %s with %s in the lanes",
                i == 0 ? "writes" : "reads", axe_node_text(p->cx, op->load),
                d->var->name);
            out->n_atom = 0;
            return false;
        }
        axe_use_atom(out, a, list);
    }
    return true;
}

/* Try v in the lanes of one reduction's loops. */
static bool
try_reduce(axe_planner *p, axe_request *r, const axe_dim *d, int lanes,
           axe_schedule *out, const axe_atom **list)
{
    int64_t e = axe_dim_extent(d);

    if ((e != 0 && e < lanes) || !axe_map_refines(p, r, d, 1))
        return false;
    for (int i = 0; i < r->n_operand; i++) {
        axe_operand *op = &r->operand[i];
        if (!axe_map_depends(op, d->var) && !axe_map_computes(op, d->var))
            continue;
        const axe_atom *a = fits(p, op, AXE_ATOM_LOAD, d->var, lanes);
        if (!a)
            return false;
        axe_use_atom(out, a, list);
    }
    return true;
}

/* ---------------------------------------------------------- dot products */

/* The load that the node widens to type t, or NULL. */
static const axe_node *
widened(const axe_node *n, axe_type t)
{
    while (n->op == AXE_OP_cast && n->type == t)
        n = n->arg[0];
    return n->op == AXE_OP_load && axe_type_is_float(n->type) ? n : NULL;
}

/* Is what the operand's checks ask the same for the whole statement? */
static bool
asks_first(const axe_request *r, const axe_operand *op)
{
    for (int i = 0; i < op->n_check; i++)
        for (int k = 0; k < r->n_nest; k++)
            for (int d = 0; d < r->nest[k].n_dim; d++)
                if (op->check[i].index.n > 0 ||
                    axe_mentions(op->check[i].outer, r->nest[k].dim[d].var))
                    return false;
    return true;
}

/* Are `n` neighbours along v read together, inside of the tensor or beyond an
 * end? */
static bool
neighbours(axe_planner *p, const axe_request *r, const axe_node *load,
           const axe_var *v, int n)
{
    axe_operand *op = &r->operand[axe_find_operand(r, load)];
    axe_iter     it;

    return asks_first(r, op) && !axe_map_computes(op, v) &&
           op->tensor != r->operand[0].tensor &&
           axe_kept_as(p, op->tensor) == load->type &&
           axe_fast_iter(op, v, 1, n, &it) && it.stride == 1 &&
           it.unit == AXE_UNIT_ONE;
}

/* sum(x * y) along v by an atom that adds products of neighbours in each lane:
 * neither factor is widened, and each vector has more of them. */
static bool
try_dot(axe_planner *p, axe_request *r, axe_nest *nest, const axe_dim *d,
        axe_schedule *out, const axe_atom **list)
{
    const axe_node *n = nest->reduce, *x, *y;
    axe_type        t = n->type;
    int64_t         e = axe_dim_extent(d);
    const axe_atom *a;

    if (n->u.reduce.fold != AXE_FOLD_SUM || nest->n_dim != 1 ||
        n->arg[0]->op != AXE_OP_mul || !(x = widened(n->arg[0]->arg[0], t)) ||
        !(y = widened(n->arg[0]->arg[1], t)))
        return false;
    for (int i = 0; (a = axe_product_row(p->mc, &i)) != NULL;) {
        int group = axe_atom_group(p->cx, a);
        int lanes = axe_machine_lanes(p->mc, t) * group;
        if (a->slow || a->flip || group < 2 || a->type[0] != t ||
            a->type[1] != x->type || a->type[2] != y->type ||
            (e != 0 && e < lanes) || !neighbours(p, r, x, d->var, lanes) ||
            !neighbours(p, r, y, d->var, lanes))
            continue;
        nest->dot = a;
        nest->group = group;
        nest->lanes = lanes;
        axe_use_atom(out, a, list);
        return true;
    }
    return false;
}

static const axe_atom *
scalar_atom(axe_planner *p, axe_atom_kind kind)
{
    for (int i = 0; i < p->mc->n_atom; i++)
        if (p->mc->atom[i].kind == kind && p->mc->atom[i].slow &&
            axe_machine_has(p->mc, &p->mc->atom[i]))
            return &p->mc->atom[i];
    return NULL;
}

/* Is a row of the vector's variable a constant piece of a global tensor's, too
 * short for hardware to follow? */
static bool
short_rows(const axe_request *r, const axe_dim *d)
{
    int64_t e = axe_dim_extent(d);

    for (int i = 1; i < r->n_operand; i++)
        if (r->operand[i].tensor->space == AXE_SPACE_GLOBAL &&
            axe_map_depends(&r->operand[i], d->var) && e > 0 && e <= SHORT_ROW)
            return true;
    return false;
}

/* Lanes for the statement's own loops, at least `min`. */
static bool
choose_vector(axe_planner *p, axe_request *r, int lanes, int min, bool apart,
              axe_schedule *out, const axe_atom **list, const axe_var **last)
{
    for (int n = lanes; n >= min; n /= 2)
        for (int i = r->nest[0].n_dim - 1; i >= 0; i--)
            if (axe_map_depends(&r->operand[0], r->nest[0].dim[i].var) &&
                try_vector(p, r, &r->nest[0].dim[i], n, apart, out, list)) {
                if (n > min &&
                    axe_part_is_dear(p, r, r->nest[0].dim[i].var, n)) {
                    out->n_atom = 0;
                    break;
                }
                axe_core_edit(p, out)->ahead =
                    short_rows(r, &r->nest[0].dim[i]) ? AHEAD : 0;
                r->nest[0].lanes = n;
                *last = r->nest[0].dim[i].var;
                return true;
            }
    return false;
}

/* A transpose of blocks of up to lanes x lanes words. */
static bool
choose_transpose(axe_planner *p, axe_request *r, int lanes, int word,
                 axe_schedule *out, const axe_atom **list,
                 const axe_var **last2, const axe_var **last)
{
    const axe_var *wv = word > 1 ? axe_map_common_word(r, word) : NULL;
    const axe_dim *u, *v;

    for (int n = lanes; n >= MIN_LANES && (wv || word == 1); n /= 2)
        if (axe_map_transpose(p, r, n, word, wv, &u, &v, list)) {
            out->kind = AXE_SCHED_TRANSPOSE;
            axe_core_edit(p, out)->ahead =
                r->operand[1].tensor->space == AXE_SPACE_GLOBAL ? AHEAD : 0;
            out->atom = list;
            out->n_atom = 3;
            axe_core_edit(p, out)->word = word;
            axe_core_edit(p, out)->word_var = wv;
            r->nest[0].lanes = n;
            *last2 = u->var;
            *last = v->var;
            return true;
        }
    return false;
}

/* Choose lanes for each nest; fills out->kind and atoms. */
static axe_status
choose(axe_planner *p, axe_request *r, axe_schedule *out, const axe_atom **list,
       const axe_var **last2, const axe_var **last)
{
    int lanes, few, block, word;

    out->kind = AXE_SCHED_MAP;
    out->raw = is_raw(p, r);
    axe_core_edit(p, out)->word = 1;
    AXE_TRY(axe_map_lanes(p, r, &lanes));
    word = out->raw ? WORD_BITS / axe_type_table[r->value->type].bits : 1;
    few = word > 1 ? 2 * word : MIN_LANES;
    block = lanes < p->mc->vector_bits / WORD_BITS
                ? lanes
                : p->mc->vector_bits / WORD_BITS;
    if (choose_vector(p, r, lanes, few, false, out, list, last))
        return AXE_OK;
    if (axe_map_may_transpose(p, r) &&
        ((word > 1 &&
          choose_transpose(p, r, block, word, out, list, last2, last)) ||
         choose_transpose(p, r, block, 1, out, list, last2, last)))
        return AXE_OK;
    if (few > MIN_LANES &&
        choose_vector(p, r, few / 2, MIN_LANES, false, out, list, last))
        return AXE_OK;
    int n_reject = r->n_reject;
    if (r->n_nest == 1 &&
        choose_vector(p, r, lanes, MIN_LANES, true, out, list, last))
        return AXE_OK;
    r->n_reject = n_reject;
    bool any = false;
    for (int k = 1; k < r->n_nest; k++)
        for (int i = r->nest[k].n_dim - 1; i >= 0 && r->nest[k].lanes == 1; i--)
            for (int n = lanes; n >= MIN_LANES; n /= 2)
                if (try_reduce(p, r, &r->nest[k].dim[i], n, out, list)) {
                    r->nest[k].lanes = n;
                    try_dot(p, r, &r->nest[k], &r->nest[k].dim[i], out, list);
                    any = true;
                    axe_dim *dim =
                        axe_new_array(p->cx, axe_dim, r->nest[k].n_dim);
                    memcpy(dim, r->nest[k].dim,
                           (size_t)r->nest[k].n_dim * sizeof *dim);
                    axe_dim t = dim[i];
                    dim[i] = dim[r->nest[k].n_dim - 1];
                    dim[r->nest[k].n_dim - 1] = t;
                    r->nest[k].dim = dim;
                    break;
                }
    n_reject = r->n_reject;
    if (!any && r->n_nest > 1 &&
        choose_vector(p, r, lanes, MIN_LANES, true, out, list, last))
        return AXE_OK;
    r->n_reject = n_reject;
    if (!any)
        axe_use_atom(out, scalar_atom(p, AXE_ATOM_LOAD), list);
    axe_use_atom(out, scalar_atom(p, AXE_ATOM_STORE), list);
    return AXE_OK;
}

/* A fold waits for its last result: where little else is done for each
 * element, several accumulators take turns. */
enum { CHAINS = 4, FEW_SLOTS = 12 };

/* Issue slots for one execution; -1 where an extent is known only later. */
static double
estimate(const axe_request *r, const axe_schedule *s)
{
    double trips = 1, slots = count_math(r->value);

    for (int i = 0; i < r->n_nest; i++) {
        for (int j = 0; j < r->nest[i].n_dim; j++) {
            int64_t e = axe_dim_extent(&r->nest[i].dim[j]);
            if (e == 0)
                return -1;
            trips *= (double)e;
        }
        trips /= r->nest[i].lanes;
    }
    for (int i = 0; i < s->n_atom; i++)
        if (s->atom[i]->kind == AXE_ATOM_PERMUTE)
            slots += s->atom[i]->cost / r->nest[0].lanes;
        else if (s->atom[i]->kind == AXE_ATOM_LOAD ||
                 s->atom[i]->kind == AXE_ATOM_STORE)
            slots += s->atom[i]->cost;
    return trips * slots;
}

/* Whole vectors into an argument that is only written: its lines need not be
 * read first. */
static bool
streams(const axe_planner *p, const axe_request *r, const axe_schedule *s)
{
    const axe_tensor *t = r->operand[0].tensor;
    axe_type          c;

    if (axe_attr_of(r->stmt, AXE_ATTR_no_stream))
        return false;
    return p->mc->stream_bytes > 0 && s->kind != AXE_SCHED_CONTRACT &&
           t->space == AXE_SPACE_GLOBAL &&
           (t->dir == AXE_DIR_OUT || s->core->always) &&
           axe_compute_type(p->cx, p->mc, r->stmt->at, t->type, &c) == AXE_OK &&
           (s->raw || c == t->type) &&
           r->nest[0].lanes * axe_type_table[t->type].bits ==
               p->mc->vector_bits;
}

/* What the text says of prefetching, streaming and iterations in a row. */
static void
take_attrs(axe_planner *p, axe_request *r, axe_schedule *out)
{
    const axe_attr *ahead = axe_attr_of(r->stmt, AXE_ATTR_prefetch);
    const axe_attr *iterations = axe_attr_of(r->stmt, AXE_ATTR_unroll);

    if (ahead)
        axe_core_edit(p, out)->ahead = (int)ahead->value[0];
    if (iterations)
        r->nest[0].chains = (int)iterations->value[0];
    axe_core_edit(p, out)->evict =
        axe_attr_of(r->stmt, AXE_ATTR_evict_first) != NULL;
    axe_core_edit(p, out)->always =
        axe_attr_of(r->stmt, AXE_ATTR_stream) != NULL;
}

axe_status
axe_map_plan(axe_planner *p, axe_request *r, axe_schedule *out)
{
    const axe_var   *last = NULL, *last2 = NULL;
    const axe_atom **list =
        axe_new_array(p->cx, const axe_atom *, p->mc->n_atom + 3);

    AXE_TRY(choose(p, r, out, list, &last2, &last));
    axe_plan_parts(p, r, last, out, list);
    for (int k = 1; k < r->n_nest; k++)
        if (count_math(r->nest[k].reduce->arg[0]) <= FEW_SLOTS)
            r->nest[k].chains = CHAINS;
    for (int k = 0; k < r->n_nest; k++)
        axe_map_order(p, r, &r->nest[k], out,
                      k == 0 && !axe_is_scatter(p->cx, r->stmt),
                      k == 0 ? last2 : NULL, k == 0 ? last : NULL);
    take_attrs(p, r, out);
    if (out->kind == AXE_SCHED_MAP)
        axe_plan_jam(p, r, &r->nest[0]);
    out->n_nest = r->n_nest;
    out->nest = r->nest;
    axe_core_edit(p, out)->stream = streams(p, r, out);
    out->cycles = estimate(r, out);
    return AXE_OK;
}
