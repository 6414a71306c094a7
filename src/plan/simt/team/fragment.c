/* fragment.c - which atoms move a fragment, by composing layouts.
 *
 * Threads and registers become one number, thread * R + register with R the
 * registers of a thread; then a fragment is a layout on one axis and can be
 * inverted.  Replicas, threads that hold the same, become steps of stride 0. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/scope_axes.h"
#include "layout/alike.h"
#include "plan/simt/team/fragment.h"

enum { MAX_STEP = 64, MAX_DIM = 32, MAX_ROW = 64, MAX_TURN = 1 << 20 };

int64_t
axe_step_at(const axe_step *s, int64_t count)
{
    return count / s->over % s->extent * s->stride;
}

int
axe_atom_threads(const axe_machine *mc, const axe_atom *a)
{
    return axe_simt_threads_of(mc->simt, a->by);
}

/* ------------------------------------------------------ one number for all */

/* What one step on the axis is in thread numbers; 0 if it is none. */
static int64_t
threads_of(const axe_frag_query *q, axe_axis axis)
{
    const axe_scope_axis *s = axe_scope_axis_of(q->cx, axis);

    return s ? axe_simt_threads_of(q->mc->simt, s->counts) : 0;
}

static bool
is_reg(axe_ctx *cx, axe_axis axis)
{
    return axe_axis_kind_of(cx, axis) == AXE_KIND_REG;
}

static bool
number_iters(const axe_frag_query *q, int n, const axe_iter *from, int64_t regs,
             axe_iter *to)
{
    for (int i = 0; i < n; i++) {
        int64_t by = is_reg(q->cx, from[i].axis)
                         ? 1
                         : threads_of(q, from[i].axis) * regs;
        if (by == 0 || !axe_mul(from[i].stride, by, &to[i].stride))
            return false;
        to[i].extent = from[i].extent;
        to[i].axis = AXE_AXIS_M;
        to[i].unit = AXE_UNIT_ONE;
    }
    return true;
}

/* l with threads and registers as thread * regs + register, on m. */
static const axe_layout *
numbered(const axe_frag_query *q, const axe_layout *l, int64_t regs)
{
    axe_ctx   *cx = q->cx;
    axe_iter  *shard = axe_new_array(cx, axe_iter, l->n_shard + 1);
    axe_iter  *replica = axe_new_array(cx, axe_iter, l->n_replica + 1);
    axe_layout spec = *l;

    if (l->n_offset > 0 ||
        !number_iters(q, l->n_shard, l->shard, regs, shard) ||
        !number_iters(q, l->n_replica, l->replica, regs, replica))
        return NULL;
    spec.shard = shard;
    spec.replica = replica;
    return axe_layout_make(cx, &spec, &l) == AXE_OK ? l : NULL;
}

int64_t
axe_frag_regs(axe_ctx *cx, const axe_layout *reg)
{
    int64_t n = 1;

    for (int i = 0; i < reg->n_shard; i++)
        if (is_reg(cx, reg->shard[i].axis))
            n += (reg->shard[i].extent - 1) * reg->shard[i].stride;
    return n;
}

int64_t
axe_dim_size(const axe_layout *l, int d)
{
    int64_t n = 1;

    for (int i = d > 0 ? l->dim_end[d - 1] : 0; i < l->dim_end[d]; i++)
        n *= l->shard[i].extent;
    return n;
}

/* ----------------------------------------------------------------- one row */

/* A row and how it is repeated over the thread group. */
typedef struct trial {
    const axe_frag_query *q;
    const axe_atom       *atom;
    const axe_layout     *reg, *mem; /* of the atom */
    int64_t               frag_regs, atom_regs;
    int64_t n_outer[2]; /* warps (or their groups), lanes: that each have an
                           invocation of their own */
    int64_t n_invocation;
    int     param;
    double  least; /* cycles that it takes where no banks clash */
} trial;

/* Threads of a warp, and those of one invocation. */
static int
lanes_of(const trial *t)
{
    return t->q->mc->simt->lanes;
}

static int
threads_by(const trial *t)
{
    return axe_atom_threads(t->q->mc, t->atom);
}

static bool
repeat(trial *t)
{
    int threads = threads_by(t), lanes = lanes_of(t);

    t->frag_regs = axe_frag_regs(t->q->cx, t->q->reg);
    t->atom_regs = axe_frag_regs(t->q->cx, t->reg);
    if (threads == 0 || t->q->n_thread % threads != 0 ||
        t->q->n_thread % lanes != 0 || t->frag_regs % t->atom_regs != 0)
        return false;
    t->n_outer[0] = t->q->n_thread / (threads < lanes ? lanes : threads);
    t->n_outer[1] = threads < lanes ? lanes / threads : 1;
    t->n_invocation = t->frag_regs / t->atom_regs;
    return true;
}

/* (warps, lanes, iterations, the atom's elements) as numbers of the
 * fragment. */
static const axe_layout *
all_elements(const trial *t)
{
    axe_ctx          *cx = t->q->cx;
    const axe_layout *d = numbered(t->q, t->reg, t->frag_regs);
    axe_iter          it[MAX_DIM];
    int64_t           per_warp = lanes_of(t) * t->frag_regs;
    int               n = 0, threads = threads_by(t);
    int               end[MAX_DIM];

    if (!d || d->n_shard + 3 > MAX_DIM)
        return NULL;
    if (threads > lanes_of(t))
        per_warp *= threads / lanes_of(t);
    it[n++] = (axe_iter){t->n_outer[0], per_warp, AXE_AXIS_M, AXE_UNIT_ONE};
    it[n++] = (axe_iter){t->n_outer[1], t->frag_regs, AXE_AXIS_M, AXE_UNIT_ONE};
    it[n++] =
        (axe_iter){t->n_invocation, t->atom_regs, AXE_AXIS_M, AXE_UNIT_ONE};
    for (int i = 0; i < d->n_shard; i++)
        it[n++] = d->shard[i];
    for (int i = 0; i < n; i++)
        end[i] = i + 1;
    axe_layout spec = {.n_shard = n, .shard = it, .n_dim = n, .dim_end = end};
    return axe_layout_make(cx, &spec, &d) == AXE_OK ? d : NULL;
}

/* Where in memory each element is, cut at the iters of the atom's memory. */
static const axe_layout *
addresses(const trial *t)
{
    axe_ctx          *cx = t->q->cx;
    const axe_layout *f = numbered(t->q, t->q->reg, t->frag_regs), *b, *l;
    const axe_layout *mem = axe_layout_flat(cx, t->q->mem);
    int64_t           cut[MAX_DIM];
    int               n = 0;

    if (!f || axe_layout_inverse(cx, axe_layout_flat(cx, f), &f) != AXE_OK)
        return NULL;
    if (!(b = all_elements(t)) || t->mem->n_shard + 3 > MAX_DIM ||
        axe_layout_compose(cx, f, b, &l) != AXE_OK ||
        axe_layout_compose(cx, mem, axe_layout_flat(cx, l), &l) != AXE_OK)
        return NULL;
    cut[n++] = t->n_outer[0];
    cut[n++] = t->n_outer[1];
    cut[n++] = t->n_invocation;
    for (int i = 0; i < t->mem->n_shard; i++)
        cut[n++] = t->mem->shard[i].extent;
    if (axe_layout_group(cx, l, (axe_shape){n, cut}, &l) != AXE_OK)
        return NULL;
    return l;
}

/* The iters of dim k, as steps of a counter of which one is `over`. */
static void
add_steps(const axe_layout *l, int k, axe_counter of, int64_t over,
          axe_step *step, int *n)
{
    int first = k > 0 ? l->dim_end[k - 1] : 0;

    for (int i = l->dim_end[k] - 1; i >= first; i--) {
        if (l->shard[i].stride != 0 && l->shard[i].extent > 1)
            step[(*n)++] =
                (axe_step){of, over, l->shard[i].extent, l->shard[i].stride};
        over *= l->shard[i].extent;
    }
}

/* Dim k is what iter `a` of the atom's memory says on m. */
static bool
runs_as(const axe_layout *l, int k, const axe_iter *a)
{
    int first = k > 0 ? l->dim_end[k - 1] : 0, n = l->dim_end[k] - first;

    return n == 0 || (n == 1 && l->shard[first].stride == a->stride);
}

/* The addresses as steps; false if memory is not as the atom's is. */
static bool
take_steps(const trial *t, const axe_layout *l, axe_step *step, int *n)
{
    int64_t group = threads_by(t) / lanes_of(t);

    add_steps(l, 0, AXE_COUNT_WARP, group > 1 ? group : 1, step, n);
    add_steps(l, 1, AXE_COUNT_LANE, 1, step, n);
    add_steps(l, 2, AXE_COUNT_INVOCATION, 1, step, n);
    for (int i = 0; i < t->mem->n_shard; i++) {
        const axe_iter *a = &t->mem->shard[i];
        int64_t         by = threads_of(t->q, a->axis);
        if (a->axis == AXE_AXIS_M && !runs_as(l, i + 3, a))
            return false;
        if (a->axis != AXE_AXIS_M && a->stride > 0)
            add_steps(l, i + 3, by == 1 ? AXE_COUNT_LANE : AXE_COUNT_WARP,
                      a->stride, step, n);
    }
    return true;
}

/* [bytes] that one thread's address stands for. */
static int64_t
run_bytes(const trial *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->mem->n_shard; i++)
        if (t->mem->shard[i].axis == AXE_AXIS_M)
            n += (t->mem->shard[i].extent - 1) * t->mem->shard[i].stride;
    return n * axe_type_table[t->q->type].bits / 8;
}

static bool
is_aligned(const trial *t, int n, const axe_step *step)
{
    int64_t bytes = run_bytes(t), size = axe_type_table[t->q->type].bits / 8;
    int64_t worst = t->q->align;

    if (t->q->space == AXE_ARG_TMEM)
        bytes = t->atom->align;

    for (int i = 0; i < n; i++)
        worst = axe_gcd(worst, step[i].stride * size);
    return worst % bytes == 0 && (t->q->swizzle.bits == 0 ||
                                  bytes <= INT64_C(1) << t->q->swizzle.base);
}

/* Lanes that give addresses in one invocation. */
static int
lanes_that_ask(const trial *t)
{
    int64_t n = 1;

    if (threads_by(t) < lanes_of(t))
        return lanes_of(t);
    for (int i = 0; i < t->mem->n_shard; i++)
        if (threads_of(t->q, t->mem->shard[i].axis) == 1)
            n += (t->mem->shard[i].extent - 1) * t->mem->shard[i].stride;
    return (int)n;
}

/* One invocation of a warp: the bytes where lanes ask, in iteration 0, and
 * before the swizzle. */
typedef struct asked {
    int     n_lane;
    int64_t at[AXE_MAX_LANES], bytes;
    int64_t bits; /* that some lane's address has; -1: not known */
} asked;

static int64_t
offset_of(const trial *t, int n, const axe_step *step, axe_counter of,
          int64_t count)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++)
        if (step[i].of == of)
            at += axe_step_at(&step[i], count);
    return at * axe_type_table[t->q->type].bits / 8;
}

static asked
ask_lanes(const trial *t, int n, const axe_step *step)
{
    asked a = {.n_lane = lanes_that_ask(t), .bytes = run_bytes(t)};

    for (int i = 0; i < a.n_lane && i < lanes_of(t); i++) {
        a.at[i] = offset_of(t, n, step, AXE_COUNT_LANE, i);
        a.bits = a.at[i] < 0 ? -1 : a.bits | a.at[i];
    }
    return a;
}

/* Have iterations that begin `at` bytes further the conflicts of iteration 0?
 * A sum of words moves all of them to other banks alike, and so does an
 * exclusive or with what no lane's address has a bit of, swizzled or not. */
static bool
is_alike(const trial *t, const asked *a, int64_t at)
{
    const axe_swizzle *s = &t->q->swizzle;

    if (at < 0 || a->bits < 0)
        return false;
    if (s->bits == 0)
        return at % t->q->mc->simt->bank_bytes == 0;
    if (s->shift > 0)
        at &= (INT64_C(1) << (s->base + s->bits + s->shift)) - 1;
    return (at & a->bits) == 0;
}

static axe_banks
banks_at(const trial *t, const asked *a, int64_t shift)
{
    int64_t at[AXE_MAX_LANES];

    for (int i = 0; i < a->n_lane; i++) {
        at[i] = a->at[i] + shift;
        if (t->q->swizzle.bits > 0)
            at[i] = axe_swizzle_apply(t->q->swizzle, at[i]);
    }
    return axe_banks_of(t->q->mc->simt, a->n_lane, at, a->bytes);
}

static axe_banks
count_banks(const trial *t, int n, const axe_step *step)
{
    axe_banks sum = {0, 0}, first;
    asked     a = ask_lanes(t, n, step);

    if (t->q->space != AXE_ARG_SHARED || a.n_lane > lanes_of(t))
        return sum;
    first = banks_at(t, &a, 0);
    for (int64_t i = 0; i < t->n_invocation; i++) {
        int64_t at = offset_of(t, n, step, AXE_COUNT_INVOCATION, i);
        axe_banks_add(&sum, is_alike(t, &a, at) ? first : banks_at(t, &a, at));
    }
    return sum;
}

static bool
read_sides(trial *t, int param)
{
    bool        load = t->atom->kind == AXE_ATOM_LOAD;
    const char *roles;

    return axe_atom_operand(t->q->cx, t->atom, !load, param, &roles, &t->reg) ==
               AXE_OK &&
           axe_atom_operand(t->q->cx, t->atom, load, param, &roles, &t->mem) ==
               AXE_OK;
}

/* Phases of one invocation: it takes a cycle for each at least. */
static int64_t
phases_of(const trial *t)
{
    const axe_simt *mc = t->q->mc->simt;
    int64_t         bytes = run_bytes(t), lanes;

    if (t->q->space != AXE_ARG_SHARED)
        return 0;
    lanes = bytes > 0 ? mc->banks * mc->bank_bytes / bytes : 1;
    lanes = lanes > 0 ? lanes : 1;
    return (lanes_that_ask(t) + lanes - 1) / lanes;
}

/* What it takes at least; false: it cannot be, or it is asked for more often
 * than a CTA has bytes, which would take as long to count. */
static bool
open_trial(trial *t, int param)
{
    if (!read_sides(t, param) || !repeat(t) || t->n_invocation > MAX_TURN)
        return false;
    t->param = param;
    t->least = (double)(t->n_invocation * phases_of(t)) +
               t->atom->cost * (double)t->n_invocation;
    return true;
}

static bool
fit(const trial *t, axe_reg_move *out)
{
    axe_ctx          *cx = t->q->cx;
    axe_step         *step = axe_new_array(cx, axe_step, MAX_STEP);
    const axe_layout *l = addresses(t);
    int               n = 0;

    if (!l || l->n_shard > MAX_STEP || !take_steps(t, l, step, &n) ||
        !is_aligned(t, n, step))
        return false;
    *out = (axe_reg_move){.atom = t->atom,
                          .param = t->param,
                          .n_invocation = t->n_invocation,
                          .regs = t->atom_regs,
                          .n_step = n,
                          .step = step,
                          .banks = count_banks(t, n, step)};
    return true;
}

bool
axe_frag_fit(const axe_frag_query *q, const axe_atom *a, int param,
             axe_reg_move *out)
{
    axe_mark m = axe_ctx_mark(q->cx);
    trial    t = {.q = q, .atom = a};

    if (open_trial(&t, param) && fit(&t, out))
        return true;
    axe_ctx_release(q->cx, m);
    return false;
}

/* ---------------------------------------------------------------- the best */

static bool
concerns(const axe_frag_query *q, const axe_atom *a)
{
    bool load = q->kind == AXE_ATOM_LOAD;

    return a->kind == q->kind && (!*a->group || q->space == AXE_ARG_TMEM) &&
           a->fold == AXE_FOLD_NONE && a->space[load] == q->space &&
           a->space[!load] == AXE_ARG_REG && axe_machine_has(q->mc, a);
}

static double
cost_of(const axe_reg_move *m)
{
    return (double)m->banks.cycles + m->atom->cost * (double)m->n_invocation;
}

/* In fewer cycles, or of those as few in fewer invocations. */
static bool
is_better(const axe_reg_move *a, const axe_reg_move *b)
{
    double x = cost_of(a), y = cost_of(b);

    return x < y || (x <= y && a->n_invocation < b->n_invocation);
}

/* Rows that may do it, in the order of the table. */
static int
list_trials(const axe_frag_query *q, trial *list)
{
    int n = 0, param;

    for (int i = 0; i < q->mc->n_atom && n < MAX_ROW; i++) {
        const axe_atom *a = &q->mc->atom[i];
        axe_mark        m = axe_ctx_mark(q->cx);
        if (!concerns(q, a) || !axe_atom_param(a, q->type, &param))
            continue;
        list[n] = (trial){.q = q, .atom = a};
        if (open_trial(&list[n], param))
            n++;
        else
            axe_ctx_release(q->cx, m);
    }
    return n;
}

/* The first of those that take the least at least; it is out of the list then.
 */
static const trial *
take_least(int n, trial *list, bool *tried)
{
    int at = -1;

    for (int i = 0; i < n; i++)
        if (!tried[i] && (at < 0 || list[i].least < list[at].least))
            at = i;
    if (at >= 0)
        tried[at] = true;
    return at < 0 ? NULL : &list[at];
}

bool
axe_frag_find(const axe_frag_query *q, axe_reg_move *out)
{
    trial        list[MAX_ROW];
    bool         tried[MAX_ROW] = {false};
    int          n = list_trials(q, list);
    const trial *t, *best = NULL;
    axe_reg_move m;

    while ((t = take_least(n, list, tried)) != NULL) {
        axe_mark mark = axe_ctx_mark(q->cx);
        if (best && t->least > cost_of(out))
            break;
        if (fit(t, &m) && (!best || is_better(&m, out) ||
                           (t < best && !is_better(out, &m)))) {
            *out = m;
            best = t;
        } else
            axe_ctx_release(q->cx, mark);
    }
    return best != NULL;
}

/* ------------------------------------------------------------- asked before */

bool
axe_frag_find_once(const axe_frag_query *q, axe_frag_known **known,
                   axe_reg_move *out)
{
    axe_mark        m = axe_ctx_mark(q->cx);
    axe_step        step[MAX_STEP], *own;
    axe_reg_move    move = {.n_step = 0};
    bool            found;
    axe_frag_known *k;

    for (k = *known; k; k = k->next)
        if (axe_layout_alike(k->reg, q->reg) &&
            axe_layout_alike(k->mem, q->mem)) {
            *out = k->move;
            return k->found;
        }
    found = axe_frag_find(q, &move);
    if (move.n_step > 0)
        memcpy(step, move.step, (size_t)move.n_step * sizeof *step);
    axe_ctx_release(q->cx, m);
    own = axe_new_array(q->cx, axe_step, move.n_step + 1);
    if (move.n_step > 0)
        memcpy(own, step, (size_t)move.n_step * sizeof *step);
    move.step = own;
    k = axe_new(q->cx, axe_frag_known);
    *k = (axe_frag_known){*known, q->reg, q->mem, found, move};
    *known = k;
    *out = move;
    return found;
}
