/* value.c - expressions as register operations, each at the outermost level
 * where it is known; and the loops of nests, which they may open.
 *
 * A node belongs to the deepest open loop whose index it mentions; it is
 * computed once there and remembered, so what does not move with an inner loop
 * is outside it.  A node is a vector iff it mentions the variable in the lanes;
 * one-lane values are splatted where vectors need them.
 *
 * All that calls itself is here: a value may be a reduction, which opens a
 * nest; the loops of a nest ask what its checks read, which are values.
 *
 * An index variable v may be bounded twice: the destination's guard cuts the
 * domain (writing outside does nothing), a load's guard splits it (reading
 * outside gives zero).  The cut acts at every digit; the split at the fastest,
 * which the plan puts behind the others:
 *
 *     [0, mid)    all operands inside
 *     [mid, end)  those guarded on v read zero
 *
 * once for each limit that operands have, and each range runs `lanes` at a
 * time, then in part or one at a time.  In `full` code the guards are known to
 * hold, and extents are constants. */
#include <assert.h>

#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

static bool
is_vector(const axe_lowering *lw, const axe_node *n)
{
    return lw->vector && axe_mentions(n, lw->vector);
}

axe_status
axe_value_in(axe_lowering *lw, const axe_node *want, int lanes, axe_reg *out)
{
    const axe_node *n = axe_decided(lw, want);
    axe_reg         r;
    int             l = axe_level_of(lw, n);
    axe_memo       *m;

    AXE_TRY(axe_lower_value(lw, n, &r));
    if (r.lanes != lanes) {
        m = axe_recall(lw, l, n, true);
        if (m && m->reg.lanes == lanes)
            r = m->reg;
        else {
            r = axe_emit_op(lw, lw->level[l].block, AXE_LOP_splat, r.type,
                            lanes, 1, &r);
            axe_remember(lw, l, n, true, r);
        }
    }
    *out = r;
    return AXE_OK;
}

/* What the operand's subscripts read comes first. */
static axe_status
load(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
     axe_reg *out)
{
    int i = 0;

    while (lw->s->operand[i].load != n)
        i++;
    AXE_TRY(axe_take_reads(lw, &lw->s->operand[i]));
    *out = axe_emit_operand(lw, b, &lw->s->operand[i], lanes);
    return AXE_OK;
}

/* Bits of what lies in memory as it is widened nowhere. */
static axe_status
bitcast(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
        axe_reg *out)
{
    const axe_node *of = n->arg[0];
    axe_reg         r;

    for (int i = 0; i < lw->s->n_operand && of->op == AXE_OP_load; i++) {
        const axe_operand *op = &lw->s->operand[i];
        if (op->load != of)
            continue;
        AXE_TRY(axe_take_reads(lw, op));
        if (axe_emit_bits(lw, b, op, n->type, lanes, out))
            return AXE_OK;
    }
    AXE_TRY(axe_value_in(lw, of, lanes, &r));
    *out = axe_lower_bitcast(lw, b, n, r);
    return AXE_OK;
}

static axe_status
plain_op(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
         axe_reg *out)
{
    axe_reg src[3];

    if (lanes > 1 && axe_lower_index_mask(lw, b, n, lanes, out))
        return AXE_OK;
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(axe_value_in(lw, n->arg[i], lanes, &src[i]));
    return axe_emit_plain(lw, b, n, lanes, src, out);
}

static axe_status
cast(axe_lowering *lw, axe_lblock *b, const axe_node *n, int lanes,
     axe_reg *out)
{
    axe_reg r;

    if (!axe_emit_small_index(lw, b, n, lanes, &r))
        AXE_TRY(axe_value_in(lw, n->arg[0], lanes, &r));
    *out = axe_emit_cast(lw, b, n, r);
    return AXE_OK;
}

/* -------------------------------------------------------------- reductions */

/* What the subscripts of a dot product's factors read. */
static axe_status
take_factors(axe_lowering *lw, const axe_folding *f)
{
    for (int i = 0; i < 2; i++)
        AXE_TRY(axe_take_reads(lw, axe_fold_factor(lw, f, i)));
    return AXE_OK;
}

static axe_status
fold_body(axe_lowering *lw, void *user)
{
    axe_folding *f = user;
    bool         one = lw->lanes == f->outside;
    axe_reg     *acc = one ? f->one : f->many, x;
    int          chains = one ? f->one_chains : f->chains;

    for (int t = 0; t < f->iterations; t++) {
        if (f->jam)
            axe_jam_take(lw, f->jam, t);
        if (f->nest->dot && !one) {
            AXE_TRY(take_factors(lw, f));
            axe_fold_dot(lw, f, acc[t * chains + lw->chain]);
            continue;
        }
        AXE_TRY(axe_value_in(lw, f->node->arg[0], acc->lanes, &x));
        axe_lblock *b = lw->level[lw->top].block;
        if (lw->part && acc == f->many)
            x = axe_emit_part(lw, b, x, f->unit);
        axe_fold_into(lw, b, f->op, acc[t * chains + lw->chain], x);
    }
    if (f->jam)
        axe_jam_take(lw, f->jam, 0);
    return AXE_OK;
}

/* The fold's loops; a dot product that is outside of a tensor is zero. */
static axe_status
open_fold(axe_lowering *lw, const axe_nest *nest, axe_folding *f, axe_lblock *b)
{
    const axe_node *inside = NULL;

    if (nest->dot) {
        AXE_TRY(take_factors(lw, f));
        inside = axe_fold_inside(lw, f);
    }
    if (inside) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        l->value = inside;
        lw->level[lw->top].block = &l->body;
    }
    AXE_TRY(axe_nest_open(lw, nest, fold_body, f));
    lw->level[lw->top].block = b;
    return AXE_OK;
}

static axe_status
lower_fold(axe_lowering *lw, int l, const axe_node *n, int lanes, axe_reg *out)
{
    axe_lowering     *saved = axe_new(lw->cx, axe_lowering);
    axe_nest          nest = *axe_fold_nest(lw, n);
    const axe_folded *known = axe_fold_known(lw, n);
    axe_folding       f = {.node = n,
                           .outside = lanes,
                           .nest = &nest,
                           .chains = nest.chains,
                           .jam = lw->jam,
                           .iterations = axe_jam_iterations(lw->jam)};
    axe_lblock       *b = lw->level[l].block;

    if (known) {
        *out = known->reg;
        return AXE_OK;
    }
    *saved = *lw;
    if (lanes > 1) {
        nest.lanes = 1;
        nest.dot = NULL;
    } else {
        lw->vector = NULL;
        lw->lanes = 1;
        lw->part = NULL;
    }
    lw->top = l;
    lw->chain = 0;
    lw->jam = NULL;
    f.one_chains = nest.lanes > 1 ? 1 : f.chains;
    axe_fold_start(lw, b, &f, &nest);
    AXE_TRY(open_fold(lw, &nest, &f, b));
    saved->n_reg = lw->n_reg;
    saved->n_var = lw->n_var;
    for (int t = 0; t < f.iterations; t++) {
        axe_fold_join(lw, b, &f, t, nest.lanes > 1);
        axe_reg r = axe_wrap(lw, b, n, f.one[t * f.one_chains]);
        if (t == 0)
            *out = r;
        if (f.jam) {
            axe_folded *k = axe_new(lw->cx, axe_folded);
            *k = (axe_folded){n, t, r, saved->folded};
            saved->folded = k;
        }
    }
    saved->n_reg = lw->n_reg;
    for (int i = 0; i <= l; i++)
        saved->level[i] = lw->level[i];
    *lw = *saved;
    return AXE_OK;
}

/* ------------------------------------------------------------------ values */

axe_status
axe_lower_value(axe_lowering *lw, const axe_node *want, axe_reg *out)
{
    const axe_node *n = axe_decided(lw, want);
    int l = axe_level_of(lw, n), lanes = is_vector(lw, n) ? lw->lanes : 1;
    axe_lblock *b = lw->level[l].block;
    axe_memo   *m = axe_recall(lw, l, n, false);
    axe_reg     r;

    if (m && m->reg.lanes == lanes) {
        *out = m->reg;
        return AXE_OK;
    }
    if (lanes > 1 && n->type == AXE_TYPE_INDEX &&
        axe_lower_index(lw, b, n, AXE_TYPE_i64, lanes, out)) {
        axe_remember(lw, l, n, false, *out);
        return AXE_OK;
    }
    switch (n->op) {
    case AXE_OP_fconst:
    case AXE_OP_iconst:
        r = axe_constant(lw, b, n, lanes);
        break;
    case AXE_OP_load:
        AXE_TRY(load(lw, b, n, lanes, &r));
        break;
    case AXE_OP_var:
        r = axe_emit_op(lw, b, AXE_LOP_index, AXE_TYPE_i64, 1, 0, NULL);
        b->item[b->n - 1]->value = n->u.var->kind == AXE_VAR_INDEX
                                       ? axe_index_so_far(lw, n->u.var)
                                       : axe_ivar(lw, n->u.var);
        break;
    case AXE_OP_cast:
        AXE_TRY(cast(lw, b, n, lanes, &r));
        break;
    case AXE_OP_bitcast:
        AXE_TRY(bitcast(lw, b, n, lanes, &r));
        break;
    case AXE_OP_reduce:
        AXE_TRY(lower_fold(lw, l, n, lanes, &r));
        break;
    default:
        AXE_TRY(plain_op(lw, b, n, lanes, &r));
    }
    axe_remember(lw, l, n, false, r);
    *out = r;
    return AXE_OK;
}

/* ------------------------------------------------------------------- reads */

static axe_status
take(axe_lowering *lw, const axe_node *n)
{
    int                l = axe_level_of(lw, n);
    axe_taken_element *t = axe_new(lw->cx, axe_taken_element);
    axe_reg            r, *src = axe_new(lw->cx, axe_reg);

    if (axe_taken(lw, l, n))
        return AXE_OK;
    AXE_TRY(axe_lower_value(lw, n, &r));
    assert(r.lanes == 1);
    *src = r;
    axe_lir *let = axe_emit(lw, lw->level[l].block, AXE_LIR_TAKE);
    axe_var *v = axe_new(lw->cx, axe_var);
    *v = *axe_loop_var(lw, "read");
    v->kind = AXE_VAR_PART;
    v->extent = n;
    let->var = v;
    let->n_src = 1;
    let->src = src;
    *t = (axe_taken_element){n, let->var, lw->level[l].number};
    lw->level[l].number = t;
    return AXE_OK;
}

axe_status
axe_take_reads_of(axe_lowering *lw, const axe_node *n)
{
    if (axe_is_read(n))
        return take(lw, n);
    for (int i = 0; i < n->n_arg; i++)
        AXE_TRY(axe_take_reads_of(lw, n->arg[i]));
    return AXE_OK;
}

axe_status
axe_take_reads(axe_lowering *lw, const axe_operand *op)
{
    AXE_TRY(axe_take_reads_of(lw, op->base));
    for (int i = 0; i < op->n_check; i++)
        AXE_TRY(axe_take_reads_of(lw, op->check[i].outer));
    return AXE_OK;
}

/* ------------------------------------------------------------------- loops */

typedef struct nest_walk {
    axe_lowering   *lw;
    const axe_nest *nest;
    body_fn        *body;
    void           *user;
} nest_walk;

/* How many values of digit j are done in one go. */
static int
jam_of(const axe_nest *nest, int j)
{
    int from_last = nest->n_digit - 1 - j;

    return from_last < AXE_LEN(nest->jam) && nest->jam[from_last] > 1
               ? nest->jam[from_last]
               : 1;
}

static axe_status walk(nest_walk *w, int j);

/* One loop over digit j, from begin to end by `lanes`, its body `chains` times
 * in a row, or for so many values in one go. */
static axe_status
loop(nest_walk *w, int j, const axe_node *begin, const axe_node *end, int lanes,
     int chains)
{
    axe_lowering    *lw = w->lw;
    const axe_digit *d = &w->nest->digit[j];
    int64_t          b, e;
    axe_lblock       hold = {0};
    axe_lir         *l;
    axe_open_digit   bd;

    if (axe_is_iconst(begin, &b) && axe_is_iconst(end, &e) && b >= e)
        return AXE_OK;
    if (lw->top + 1 == MAX_LEVEL)
        return axe_fail(lw->cx, lw->s->stmt->at, AXE_ELIMIT,
                        "a statement needs over %d nested loops", MAX_LEVEL);
    l = axe_emit(lw, &hold, AXE_LIR_LOOP);
    l->var = axe_loop_var(lw, d->var->name);
    l->begin = begin;
    l->end = end;
    l->step = (int64_t)lanes * chains;
    bd = (axe_open_digit){*d, l->var, 0, lw->bound};

    axe_lowering saved = *lw;
    axe_jam      side = {&bd, chains, lw->jam};
    if (chains > 1 && jam_of(w->nest, j) > 1) {
        lw->jam = &side;
        chains = 1;
    }
    lw->bound = &bd;
    lw->level[++lw->top] = (axe_open_level){.block = &l->body, .index = d->var};
    if (lanes > 1) {
        lw->vector = d->var;
        lw->lanes = lanes;
        lw->vector_level = lw->top;
    }
    for (int i = 0; i < chains; i++) {
        lw->level[lw->top].known = NULL;
        lw->level[lw->top].number = NULL;
        lw->chain = i;
        bd.step = (int64_t)lanes * i;
        AXE_TRY(walk(w, j + 1));
    }
    lw->chain = saved.chain;
    lw->jam = saved.jam;
    lw->top = saved.top;
    lw->bound = saved.bound;
    lw->vector = saved.vector;
    lw->lanes = saved.lanes;
    lw->vector_level = saved.vector_level;
    *axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LOOP) = *l;
    return AXE_OK;
}

/* As much of a range as goes by `lanes` in `chains`; *begin becomes what is
 * left. */
static axe_status
part(nest_walk *w, int j, const axe_node **begin, const axe_node *end,
     int lanes, int chains)
{
    axe_lowering   *lw = w->lw;
    int64_t         step = (int64_t)lanes * chains;
    const axe_node *mid = axe_node2(lw->cx, AXE_OP_sub, end, *begin);

    mid = axe_node2(lw->cx, AXE_OP_div, mid, axe_int(lw, step));
    mid = axe_node2(lw->cx, AXE_OP_mul, mid, axe_int(lw, step));
    mid = axe_nest_let(lw, "whole", axe_sum(lw, *begin, mid));
    AXE_TRY(loop(w, j, *begin, mid, lanes, chains));
    *begin = mid;
    return AXE_OK;
}

/* What is left of a range, less than a vector: its first lanes, or one by one.
 */
static axe_status
rest(nest_walk *w, int j, const axe_node *begin, const axe_node *end, int lanes)
{
    axe_lowering   *lw = w->lw;
    const axe_node *part = lw->part;
    int64_t         b, e;

    if (lanes == 1 || !w->nest->parts ||
        (axe_is_iconst(begin, &b) && axe_is_iconst(end, &e) && b >= e))
        return loop(w, j, begin, end, 1, 1);
    lw->part =
        axe_nest_let(lw, "left", axe_node2(lw->cx, AXE_OP_sub, end, begin));
    AXE_TRY(loop(w, j, begin, end, lanes, 1));
    lw->part = part;
    return AXE_OK;
}

/* How a range goes by: several chains at once where it may be long, the rest
 * one by one where there may be one. */
enum { LONG = 1, REST = 2 };

/* A range of digit j. */
static axe_status
range(nest_walk *w, int j, const axe_node *begin, const axe_node *end, int how)
{
    const axe_outside *o = w->lw->outside;
    bool               last = j == w->nest->n_digit - 1;
    bool               zero = o && o->var == w->nest->digit[j].var;
    int                lanes = last ? w->nest->lanes : 1;
    int                chains = last && !zero ? w->nest->chains : 1;
    int                by = zero ? 1 : jam_of(w->nest, j);

    for (; by > 1 && (how & LONG); by = last && w->nest->jam[1] ? by / 2 : 1)
        AXE_TRY(part(w, j, &begin, end, 1, by));
    if (chains > 1 && (how & LONG))
        AXE_TRY(part(w, j, &begin, end, lanes, chains));
    if (lanes > 1)
        AXE_TRY(part(w, j, &begin, end, lanes, 1));
    return how & REST ? rest(w, j, begin, end, lanes) : AXE_OK;
}

/* Does the mask change once along the loop over the variable? */
static bool
flips(axe_lowering *lw, const axe_node *mask, const void *v)
{
    bool first;

    return axe_mask_flip(lw, mask, v, &first) != NULL;
}

/* A range where the mask is known: nothing where it then folds in units, or
 * writes what is there. */
static axe_status
decided(nest_walk *w, int j, const axe_node *begin, const axe_node *end,
        int how, const axe_node *mask, bool holds)
{
    axe_lowering   *lw = w->lw;
    const axe_node *red = w->nest->reduce, *v;
    axe_status      st = AXE_OK;
    bool            idle;

    lw->mask = mask;
    lw->holds = holds;
    v = axe_decided(lw, red ? red->arg[0] : lw->s->value);
    idle =
        red ? axe_node_same(
                  v, axe_fold_unit(lw->cx, red->u.reduce.fold, red->type))
            : v->op == AXE_OP_load && axe_node_same(v, lw->s->operand[0].load);
    if (!idle)
        st = range(w, j, begin, end, how);
    lw->mask = NULL;
    return st;
}

/* A range in which a mask along the lanes is known but for one vector. */
static axe_status
masked(nest_walk *w, int j, const axe_node *before, const axe_node *begin,
       const axe_node *end)
{
    axe_lowering   *lw = w->lw;
    const axe_var  *v = w->nest->digit[j].var;
    const axe_node *red = w->nest->reduce, *flip, *mid, *lanes;
    const axe_node *mask = NULL;
    bool            first;

    if (!lw->mask && j == w->nest->n_digit - 1 && w->nest->lanes > 1 &&
        !(lw->outside && lw->outside->var == v))
        mask = axe_find_mask(lw, red ? red->arg[0] : lw->s->value, flips, v);
    if (!mask)
        return range(w, j, begin, end, LONG | REST);
    lanes = axe_int(lw, w->nest->lanes);
    flip = axe_node2(lw->cx, AXE_OP_sub, axe_mask_flip(lw, mask, v, &first),
                     before);
    flip = axe_node2(lw->cx, AXE_OP_sub, axe_clamp_to(lw, begin, flip, end),
                     begin);
    flip = axe_node2(lw->cx, AXE_OP_div, flip, lanes);
    flip = axe_node2(lw->cx, AXE_OP_mul, flip, lanes);
    flip = axe_nest_let(lw, "turn", axe_sum(lw, begin, flip));
    AXE_TRY(decided(w, j, begin, flip, LONG, mask, first));
    mid = axe_node2(lw->cx, AXE_OP_min, axe_sum(lw, flip, lanes), end);
    mid = axe_nest_let(lw, "turned", mid);
    AXE_TRY(range(w, j, flip, mid, REST));
    return decided(w, j, mid, end, LONG | REST, mask, !first);
}

/* Where the check surely holds: from *lo on, below *hi; both narrowed. Nowhere,
 * where what it computes is not known yet. */
static axe_status
narrow(axe_lowering *lw, const axe_check *c, const axe_var *v,
       const axe_node **lo, const axe_node **hi)
{
    if (!axe_reads_are_bound(lw, c->outer)) {
        *lo = *hi = axe_int(lw, 0);
        return AXE_OK;
    }
    AXE_TRY(axe_take_reads_of(lw, c->outer));
    axe_narrow(lw, c, v, lo, hi);
    return AXE_OK;
}

/* [begin, end) of the lanes' digit: vectors where no check can fail, one by one
 * where some may. */
static axe_status
asking(nest_walk *w, int j, const axe_node *before, const axe_node *begin,
       const axe_node *end)
{
    axe_lowering   *lw = w->lw;
    const axe_var  *v = w->nest->digit[j].var;
    const axe_node *lo = NULL, *hi = NULL;

    for (int i = 0; i < lw->s->n_operand; i++)
        for (int k = 0; k < lw->s->operand[i].n_check; k++) {
            const axe_check *c = &lw->s->operand[i].check[k];
            if (axe_affine_coef(&c->index, v) != 0 && !axe_check_holds(lw, c))
                AXE_TRY(narrow(lw, c, v, &lo, &hi));
        }
    if (!lo || j + 1 < w->nest->n_digit || w->nest->lanes == 1)
        return masked(w, j, before, begin, end);
    lo = axe_nest_let(lw, "sure", axe_clamp_to(lw, begin, lo, end));
    hi = axe_nest_let(lw, "unsure", axe_clamp_to(lw, lo, hi, end));
    AXE_TRY(loop(w, j, begin, lo, 1, 1));
    lw->sure = v;
    AXE_TRY(masked(w, j, before, lo, hi));
    lw->sure = NULL;
    return loop(w, j, hi, end, 1, 1);
}

/* [begin, end) of digit j, cut where operands begin to read zero, from limit k
 * on; `before` is the value of the digits around. */
static axe_status
split(nest_walk *w, int j, const axe_limits *lim, int k, const axe_node *before,
      const axe_node *begin, const axe_node *end)
{
    axe_lowering   *lw = w->lw;
    const axe_node *mid;

    if (k == lim->n)
        return asking(w, j, before, begin, end);
    mid = axe_node2(lw->cx, AXE_OP_sub, lim->zero[k], before);
    mid = axe_nest_let(lw, "inside", axe_clamp_to(lw, begin, mid, end));
    AXE_TRY(split(w, j, lim, k + 1, before, begin, mid));
    axe_outside o = {w->nest->digit[j].var, lim->zero[k], lw->outside};
    lw->outside = &o;
    AXE_TRY(split(w, j, lim, k + 1, before, mid, end));
    lw->outside = o.next;
    return AXE_OK;
}

/* The body for all values that the loops do in one go. */
static axe_status
each_iteration(nest_walk *w)
{
    axe_lowering *lw = w->lw;

    lw->folded = NULL;
    for (int i = 0; i < axe_jam_iterations(lw->jam); i++) {
        axe_jam_take(lw, lw->jam, i);
        AXE_TRY(w->body(lw, w->user));
    }
    axe_jam_take(lw, lw->jam, 0);
    return AXE_OK;
}

static axe_status
walk(nest_walk *w, int j)
{
    axe_lowering *lw = w->lw;
    axe_limits    lim;

    if (j == w->nest->n_digit)
        return lw->jam && !w->nest->reduce ? each_iteration(w)
                                           : w->body(lw, w->user);

    const axe_digit *d = &w->nest->digit[j];
    const axe_node  *end = axe_int(lw, d->extent), *zero = axe_int(lw, 0);
    for (int i = 0; i < w->nest->n_dim && d->extent == 0; i++)
        if (w->nest->dim[i].var == d->var)
            end = w->nest->dim[i].extent;
    AXE_TRY(axe_limits_of(lw, w->nest, d->var, &lim));

    const axe_node *before = axe_index_so_far(lw, d->var);
    if (lim.cut) {
        const axe_node *left = axe_node2(lw->cx, AXE_OP_sub, lim.cut, before);
        if (d->weight > 1)
            left = axe_node2(lw->cx, AXE_OP_cdiv, left, axe_int(lw, d->weight));
        end = axe_nest_let(lw, "end", axe_clamp_to(lw, zero, left, end));
    }
    if (d->weight > 1)
        lim.n = 0;
    return split(w, j, &lim, 0, before,
                 axe_nest_first(lw, w->nest, d, before, end), end);
}

axe_status
axe_nest_open(axe_lowering *lw, const axe_nest *nest, body_fn *body, void *user)
{
    nest_walk w = {lw, nest, body, user};

    return walk(&w, 0);
}
