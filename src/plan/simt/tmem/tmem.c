/* tmem.c - tiles in tensor memory, and moves between them and registers.
 *
 * An open register tile that is moved gets the layout that a row of the table
 * gives or takes: the row's places are taken out of the tile's by tile-of, and
 * what is left, columns, becomes more registers, or other warp groups.  Then
 * axe_frag_find says which rows fit the layout, here as for declared ones. */
#include "plan/simt/tmem/tmem.h"

#include <inttypes.h>
#include <string.h>

#include "machine/rates.h"
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/tmem_int.h"

enum { MAX_ITER = 32, ISSUE = 1, FEW = 32 };

axe_iter
axe_iter_on(const axe_simt_plan *sp, axe_space s, int64_t slow, axe_iter it)
{
    it.axis = it.stride >= slow ? sp->slow[s] : sp->fast[s];
    if (it.stride >= slow)
        it.stride /= slow;
    return it;
}

axe_iter
axe_tmem_iter(const axe_simt_plan *sp, axe_type t, axe_iter it)
{
    return axe_iter_on(sp, AXE_SPACE_TMEM, axe_tmem_lane(t), it);
}

bool
axe_atom_commits(const axe_machine *mc, const axe_atom *a)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *c = &mc->atom[i];
        if (*a->group && c->sync == AXE_SYNC_COMMIT &&
            c->space[0] == AXE_ARG_SHARED && strcmp(c->group, a->group) == 0 &&
            axe_machine_has(mc, c))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------- sizes */

axe_status
axe_simt_tmem_size(axe_planner *p, axe_place *pl)
{
    const axe_ring *r = pl->tensor->pipeline ? axe_ring_of(p->n_ring, p->ring,
                                                           pl->tensor->pipeline)
                                             : NULL;
    int64_t         bits = axe_type_table[pl->type].bits, lanes, n;

    AXE_TRY(axe_layout_cosize(p->cx, pl->layout, p->simt->tlane, &lanes));
    AXE_TRY(axe_layout_cosize(p->cx, pl->layout, p->simt->tcol, &n));
    if (lanes > p->mc->simt->tmem_lanes)
        return axe_fail(p->cx, pl->tensor->at, AXE_ESHAPE,
                        "the layout of %s reaches lane %" PRId64
                        " of tensor memory; there are %d",
                        pl->tensor->name, lanes - 1, p->mc->simt->tmem_lanes);
    if (n > INT32_MAX)
        return axe_fail(p->cx, pl->tensor->at, AXE_EOVERFLOW,
                        "tile %s is larger than any tensor memory",
                        pl->tensor->name);
    n = (n * bits + AXE_WORD_BITS - 1) / AXE_WORD_BITS;
    pl->stage = n * AXE_WORD_BITS / bits;
    pl->bytes = n * (AXE_WORD_BITS / 8) * (r ? r->n_stage : 1);
    return AXE_OK;
}

/* The CTA's columns are a power of two, no less than it can ask for. */
axe_status
axe_simt_tmem_allocate(axe_planner *p, axe_simt_launch *l)
{
    int64_t sum = 0, most = axe_machine_room(p->mc, AXE_SPACE_TMEM);
    int64_t n = p->mc->simt->tmem_least;

    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_place *pl = &p->place[i];
        if (!pl->tensor || pl->tensor->space != AXE_SPACE_TMEM ||
            axe_threads_cta(p->simt->owner[i]) != l->threads)
            continue;
        pl->offset = sum * (AXE_WORD_BITS / 8);
        sum += pl->bytes / (AXE_WORD_BITS / 8);
    }
    if (sum > most)
        return axe_fail(p->cx, l->scope->at, AXE_ELIMIT,
                        "a CTA needs %" PRId64
                        " columns of tensor memory; one of %s has %" PRId64
                        ": smaller tiles or fewer stages",
                        sum, p->mc->name, most);
    if (sum == 0)
        return AXE_OK;
    while (n < sum)
        n *= 2;
    l->tmem_columns = (int)n;
    l->tmem_word = axe_simt_take_shared(l, 4, 16);
    return AXE_OK;
}

/* Asking for columns waits until they are free (PTX ISA, tcgen05.alloc), and
 * the driver does not count them among what a CTA needs to be on an SM.  Where
 * CTAs wait for one another, one that has columns must not wait for one that
 * will get none, so as much shared memory as keeps them apart is the CTA's: of
 * any that an SM has room for the columns are no more than there are. */
void
axe_simt_tmem_keep(const axe_planner *p, axe_simt_launch *l)
{
    const axe_simt  *m = p->mc->simt;
    const axe_rates *r = axe_machine_rates(p->mc);
    int64_t          least;

    if (l->tmem_columns == 0 || (!l->overlap && l->scope->keys.cluster < 2))
        return;
    least = r->shared * l->tmem_columns / (m->tmem_columns + m->tmem_least) + 1;
    if (l->shared_bytes + r->own < least)
        l->shared_bytes = (least - r->own + 15) / 16 * 16;
}

/* ------------------------------------------------------------------ layouts */

/* A row to each lane, where no contraction says otherwise. */
static axe_status
lay_rows(axe_planner *p, const axe_tensor *t)
{
    axe_shape         s = axe_shape_of_tile(p->cx, t);
    axe_iter          it[2];
    const axe_layout *l;
    int               end[2] = {1, 2};

    if (s.n != 2 || s.extent[0] > p->mc->simt->tmem_lanes)
        return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                        "%s has no layout, is no sum of a contraction, and its "
                        "rows are not one to a lane: declare it over tlane and "
                        "tcol",
                        t->name);
    it[0] = (axe_iter){s.extent[0], 1, p->simt->tlane, AXE_UNIT_ONE};
    it[1] = (axe_iter){s.extent[1], 1, p->simt->tcol, AXE_UNIT_ONE};
    axe_layout spec = {.n_shard = 2, .shard = it, .n_dim = 2, .dim_end = end};
    AXE_TRY(axe_layout_make(p->cx, &spec, &l));
    axe_simt_settle(p, t, l, "auto: a row to a lane");
    return AXE_OK;
}

/* A move of a whole register tile to or from tensor memory. */
typedef struct moving {
    axe_planner            *p;
    const axe_thread_group *threads;
    bool                    in; /* to registers */
    axe_type                type;
    int                     operand; /* in tensor memory */
    axe_shape               shape;   /* of the registers' tile */
    const axe_layout       *lanes;   /* what is moved, on tlane and tcol */
    const axe_layout       *mem;     /* the same on m */
    int64_t                 align;
    bool                    constant; /* all that is moved is alike */
} moving;

/* How the operand lies over the variables, on lanes and columns, or on m. */
static const axe_layout *
lay_over(const moving *x, const axe_operand *op, int n_var,
         const axe_var *const *var, bool flat)
{
    axe_iter it[MAX_ITER];
    int      n = 0, *end = axe_new_array(x->p->cx, int, n_var + 1);

    for (int d = 0; d < n_var; d++) {
        for (int i = 0; i < op->n_term; i++)
            for (int k = 0; op->term[i].var == var[d] && k < op->term[i].n_iter;
                 k++) {
                axe_iter e = op->term[i].iter[k];
                if (n == MAX_ITER)
                    return NULL;
                e.axis = AXE_AXIS_M;
                it[n++] = flat ? e : axe_tmem_iter(x->p->simt, x->type, e);
            }
        end[d] = n;
    }
    axe_layout spec = {
        .n_shard = n, .shard = it, .n_dim = n_var, .dim_end = end};
    const axe_layout *l;
    return axe_layout_make(x->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* Thread axes of the row as those of the thread group. */
static const axe_layout *
on_threads(const moving *x, const axe_layout *l)
{
    const axe_simt_plan *sp = x->p->simt;
    axe_iter            *it = axe_new_array(x->p->cx, axe_iter, l->n_shard + 1);
    axe_layout           spec = *l;
    axe_iter             own[2];
    int                  n = axe_threads_axes(sp, x->threads, own);

    for (int i = 0; i < l->n_shard; i++) {
        it[i] = l->shard[i];
        if (n == 2 && (it[i].axis == sp->wid || it[i].axis == sp->warp))
            it[i].axis = own[0].axis;
    }
    spec.shard = it;
    return axe_layout_make(x->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

/* What a row repeats, columns alone, as registers; the slowest part that
 * divides so is that of the thread group's groups. */
static const axe_layout *
as_registers(const moving *x, const axe_layout *l, int64_t groups)
{
    axe_iter it[MAX_ITER + 1], own[2];
    int      n = 0, *end = axe_new_array(x->p->cx, int, l->n_dim + 1);
    int64_t  regs = 1;

    axe_threads_axes(x->p->simt, x->threads, own);
    if (l->n_shard > MAX_ITER || l->n_offset + l->n_replica > 0)
        return NULL;
    for (int d = 0, i = 0; d < l->n_dim; d++) {
        for (; i < l->dim_end[d]; i++) {
            axe_iter e = l->shard[i];
            if (e.axis != x->p->simt->tcol)
                return NULL;
            if (groups > 1 && e.extent % groups == 0) {
                it[n++] = (axe_iter){groups, 1, own[0].axis, AXE_UNIT_ONE};
                e.extent /= groups;
                groups = 1;
            }
            e.axis = x->p->simt->reg;
            it[n++] = e;
        }
        end[d] = n;
    }
    for (int i = n - 1; i >= 0; i--)
        if (it[i].axis == x->p->simt->reg) {
            it[i].stride = regs;
            regs *= it[i].extent;
        }
    axe_layout spec = {
        .n_shard = n, .shard = it, .n_dim = l->n_dim, .dim_end = end};
    return groups == 1 && axe_layout_make(x->p->cx, &spec, &l) == AXE_OK ? l
                                                                         : NULL;
}

static axe_shape
shape_of(axe_ctx *cx, const axe_layout *l)
{
    int64_t *e = axe_new_array(cx, int64_t, l->n_dim + 1);

    for (int d = 0, i = 0; d < l->n_dim; d++) {
        e[d] = 1;
        for (; i < l->dim_end[d]; i++)
            e[d] *= l->shard[i].extent;
    }
    return (axe_shape){l->n_dim, e};
}

/* One side of the row, `transposed`: columns first. */
static const axe_layout *
side_of(const moving *x, const char *text, int param, bool transposed)
{
    static const int  other[2] = {1, 0};
    const axe_layout *l;
    const char       *roles;

    if (axe_atom_layout(x->p->cx, text, param, 1, &roles, &l) != AXE_OK ||
        l->n_dim != x->shape.n || l->n_dim != 2)
        return NULL;
    if (transposed && axe_layout_permute(x->p->cx, l, 2, other, &l) != AXE_OK)
        return NULL;
    return l;
}

/* The registers' layout by that row; NULL: it does not fit. */
static const axe_layout *
registers_by(const moving *x, const axe_atom *a, int param, bool transposed)
{
    axe_ctx          *cx = x->p->cx;
    const axe_layout *reg = side_of(x, x->in ? a->d : a->a, param, transposed);
    const axe_layout *places =
        side_of(x, x->in ? a->a : a->d, param, transposed);
    const axe_layout *outer, *l;
    int64_t groups = x->threads->n_thread / axe_atom_threads(x->p->mc, a);

    if (!reg || !places ||
        axe_layout_tile_of(cx, x->lanes, x->shape, places, shape_of(cx, places),
                           &outer) != AXE_OK)
        return NULL;
    int64_t  *n = axe_new_array(cx, int64_t, x->shape.n + 1);
    axe_shape in = shape_of(cx, places);
    for (int d = 0; d < x->shape.n; d++)
        n[d] = x->shape.extent[d] / in.extent[d];
    if (!(outer = as_registers(x, outer, groups)) ||
        !(reg = on_threads(x, reg)) ||
        axe_layout_tile(cx, outer, (axe_shape){x->shape.n, n}, reg, in, &l) !=
            AXE_OK ||
        axe_layout_group(cx, l, x->shape, &l) != AXE_OK)
        return NULL;
    return l;
}

static bool
concerns(const moving *x, const axe_atom *a)
{
    return a->kind == (x->in ? AXE_ATOM_LOAD : AXE_ATOM_STORE) &&
           a->space[!x->in ? 0 : 1] == AXE_ARG_TMEM &&
           a->space[x->in ? 0 : 1] == AXE_ARG_REG &&
           axe_machine_has(x->p->mc, a) && axe_atom_threads(x->p->mc, a) > 0 &&
           x->threads->n_thread % axe_atom_threads(x->p->mc, a) == 0;
}

static axe_frag_query
ask_for(const moving *x, const axe_layout *reg)
{
    return (axe_frag_query){
        .cx = x->p->cx,
        .mc = x->p->mc,
        .kind = x->in ? AXE_ATOM_LOAD : AXE_ATOM_STORE,
        .space = AXE_ARG_TMEM,
        .type = x->type,
        .n_thread = x->threads->n_thread,
        .reg = reg,
        .mem = x->mem,
        .align = x->align,
    };
}

static double
cost_of(const axe_reg_move *m)
{
    return (m->atom->cost + ISSUE) * (double)m->n_invocation;
}

/* The layout that the row wants, if it then fits. */
static const axe_layout *
try_row(const moving *x, const axe_atom *a, axe_reg_move *out)
{
    axe_mark          mark = axe_ctx_mark(x->p->cx);
    const axe_layout *l;
    int               param;

    if (!axe_atom_param(a, x->type, &param))
        return NULL;
    l = registers_by(x, a, param, false);
    if (!l) {
        axe_ctx_release(x->p->cx, mark);
        l = registers_by(x, a, param, true);
    }
    if (!l)
        return NULL;
    axe_frag_query q = ask_for(x, l);
    return axe_frag_fit(&q, a, param, out) ? l : NULL;
}

/* A constant needs registers only for one invocation: few. */
static bool
is_better(const moving *x, const axe_reg_move *a, const axe_reg_move *b)
{
    if (x->constant && (a->regs > FEW || b->regs > FEW))
        return a->regs < b->regs;
    return cost_of(a) < cost_of(b);
}

/* The layout that the cheapest row wants in registers, and that it fits. */
static const axe_layout *
best_registers(const moving *x, axe_reg_move *out)
{
    const axe_layout *best = NULL;

    for (int i = 0; i < x->p->mc->n_atom; i++) {
        const axe_atom   *a = &x->p->mc->atom[i];
        axe_mark          mark = axe_ctx_mark(x->p->cx);
        axe_reg_move      m;
        const axe_layout *l = concerns(x, a) ? try_row(x, a, &m) : NULL;
        if (!l || (best && !is_better(x, &m, out))) {
            axe_ctx_release(x->p->cx, mark);
            continue;
        }
        best = l;
        *out = m;
    }
    return best;
}

/* ------------------------------------------------------------------ moves */

/* Is s such a move, or a constant for tensor memory?  The registers' tile in
 * *reg; NULL: a constant. */
static bool
is_move(const axe_stmt *s, const axe_node **reg)
{
    const axe_node *d = s->dst, *v = s->value;

    *reg = NULL;
    if (s->fold != AXE_FOLD_NONE || s->n_dim != s->n_free)
        return false;
    if (axe_is_in_tmem(d) && v->op != AXE_OP_load)
        return true;
    if (v->op != AXE_OP_load || axe_is_in_tmem(d) == axe_is_in_tmem(v))
        return false;
    *reg = axe_is_in_tmem(d) ? v : d;
    return (*reg)->u.tensor->space == AXE_SPACE_REG;
}

static bool
open_move(axe_planner *p, const axe_request *r, const axe_node *reg, moving *x)
{
    const axe_stmt    *s = r->stmt;
    const axe_operand *op;
    int                most = reg ? reg->n_arg : s->n_free, n = 0;
    const axe_var    **var = axe_new_array(p->cx, const axe_var *, most + 1);
    int64_t           *e = axe_new_array(p->cx, int64_t, most + 1);

    *x = (moving){
        .p = p, .threads = p->simt->who[s->id], .in = !axe_is_in_tmem(s->dst)};
    x->operand = x->in ? 1 : 0;
    op = &r->operand[x->operand];
    x->type = p->place[op->tensor->id].type;
    for (int d = 0; d < most; d++) {
        var[n] = reg ? axe_alone_in(p, reg->arg[d]) : s->dim[d].var;
        if (!var[n])
            return false;
        e[n] = axe_dim_extent(axe_request_dim(r, var[n]));
        n++;
    }
    x->shape = (axe_shape){n, e};
    x->lanes = lay_over(x, op, n, var, false);
    x->mem = lay_over(x, op, n, var, true);
    x->align = AXE_WORD_BITS / 8;
    return x->lanes && x->mem && op->n_guard + op->n_check == 0 &&
           (!reg || axe_walks_whole(reg));
}

axe_status
axe_simt_tmem_infer(axe_planner *p, const axe_stmt *s)
{
    const axe_node   *reg, *load[2] = {s->dst, s->value};
    const axe_layout *l;
    axe_request       r;
    moving            x;
    axe_reg_move      m;

    if (!axe_is_in_tmem(s->dst) && !axe_is_in_tmem(s->value))
        return AXE_OK;
    for (int i = 0; i < 2; i++)
        if (axe_is_in_tmem(load[i]) && axe_simt_is_open(p, load[i]->u.tensor))
            AXE_TRY(lay_rows(p, load[i]->u.tensor));
    if (!is_move(s, &reg) || !reg || !axe_simt_is_open(p, reg->u.tensor))
        return AXE_OK;
    axe_place *pl = &p->place[reg->u.tensor->id];
    AXE_TRY(axe_layout_row_major(p->cx, axe_shape_of_tile(p->cx, reg->u.tensor),
                                 &pl->layout));
    AXE_TRY(axe_request_make(p, s, &r));
    l = open_move(p, &r, reg, &x) ? best_registers(&x, &m) : NULL;
    pl->layout = NULL;
    if (l)
        axe_simt_settle(p, reg->u.tensor, l,
                        axe_textf(p->cx, "auto: for %s of statement %d",
                                  m.atom->name, s->id));
    return AXE_OK;
}

static axe_status
refuse(axe_planner *p, const axe_request *r, const moving *x)
{
    axe_status st =
        axe_fail(p->cx, r->stmt->at, AXE_EUNSUPPORTED,
                 "no row of %s moves %s %s registers of the %d threads here",
                 p->mc->name, r->operand[x->operand].tensor->name,
                 x->in ? "to" : "from", x->threads->n_thread);

    axe_help(p->cx,
             "let whole warp groups do it, whose warps each see their "
             "%d lanes, and leave the layout of the reg tile open",
             p->mc->simt->lanes);
    return st;
}

/* Neither a contraction that a row does nor a move. */
static axe_status
refuse_other(axe_planner *p, const axe_request *r)
{
    axe_status st = axe_fail(p->cx, r->stmt->at, AXE_EUNSUPPORTED,
                             "%s: tensor memory takes sums of products, and "
                             "moves to and from whole reg tiles",
                             axe_stmt_text(p->cx, r->stmt));

    for (int i = 0; i < r->n_reject; i++)
        axe_note(p->cx, AXE_NOWHERE, "%s: %s", r->reject[i].what,
                 r->reject[i].why);
    return st;
}

axe_status
axe_simt_tmem_plan(axe_planner *p, axe_request *r, axe_schedule *out, bool *is)
{
    const axe_node    *reg;
    axe_simt_tmem     *t = axe_new(p->cx, axe_simt_tmem);
    axe_simt_schedule *simt = p->simt->of[r->stmt->id];
    moving             x;

    *is = false;
    for (int i = 0; i < r->n_operand; i++)
        *is = *is || axe_is_in_tmem(r->operand[i].load);
    if (!*is)
        return AXE_OK;
    if (!is_move(r->stmt, &reg))
        return refuse_other(p, r);
    *t = (axe_simt_tmem){.able = open_move(p, r, reg, &x),
                         .in = x.in,
                         .operand = x.operand,
                         .array = reg ? reg->u.tensor : NULL,
                         .filled = reg ? NULL : r->stmt->value};
    x.constant = !reg;
    if (t->able && reg) {
        axe_frag_query q = ask_for(&x, p->place[reg->u.tensor->id].layout);
        t->able = axe_frag_find(&q, &t->move);
    } else if (t->able) {
        t->able = best_registers(&x, &t->move) != NULL;
    }
    if (reg && !t->able)
        return refuse(p, r, &x);
    simt->tmem = t;
    out->kind = AXE_SCHED_COPY;
    out->cycles =
        t->able ? cost_of(&t->move) * x.threads->n_thread / p->mc->simt->lanes
                : 0;
    return AXE_OK;
}
