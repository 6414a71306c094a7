/* nest.c - the loops of a nest, with their edges.
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
#include "lower/lower_int.h"

/* Each doubles the code. */
enum { MAX_SPLIT = 4 };

/* What bounds one variable. */
typedef struct limits {
    const axe_node *cut; /* or NULL */
    int             n;
    const axe_node *zero[MAX_SPLIT]; /* some operand reads zero from there */
} limits;

typedef struct nest_walk {
    lowering       *lw;
    const axe_nest *nest;
    body_fn        *body;
    void           *user;
} nest_walk;

/* The lesser of two limits; a may be NULL. */
static const axe_node *
lesser(lowering *lw, const axe_node *a, const axe_node *b)
{
    return !a || axe_node_same(a, b) ? b : axe_node2(lw->cx, AXE_OP_min, a, b);
}

/* An operand, read by `load`, is zero where v >= limit. */
static axe_status
add_zero(lowering *lw, const axe_var *v, const axe_node *load,
         const axe_node *limit, limits *lim)
{
    for (int k = 0; k < lim->n; k++)
        if (axe_node_same(lim->zero[k], limit))
            return AXE_OK;
    if (lim->n == MAX_SPLIT)
        return axe_fail(lw->cx, load->at, AXE_EUNSUPPORTED,
                        "operands leave their tensors at more than %d values "
                        "of %s; copy some into tiles first",
                        MAX_SPLIT, v->name);
    lim->zero[lim->n++] = limit;
    return AXE_OK;
}

bool
axe_reads_zero(const lowering *lw, const axe_operand *op)
{
    for (const outside *o = lw->outside; o; o = o->next)
        for (int g = 0; g < op->n_guard; g++)
            if (op->guard[g].var == o->var &&
                axe_node_same(op->guard[g].limit, o->limit))
                return true;
    return false;
}

static axe_status
limits_of(lowering *lw, const axe_nest *nest, const axe_var *v, limits *out)
{
    *out = (limits){0};
    if (lw->full)
        return AXE_OK;
    for (int i = 0; i < lw->s->n_bound; i++)
        if (lw->s->bound[i].var == v)
            out->cut = lesser(lw, out->cut, lw->s->bound[i].limit);
    for (int i = 0; i < lw->s->n_operand; i++) {
        const axe_operand *op = &lw->s->operand[i];
        for (int g = 0; g < op->n_guard; g++) {
            const axe_node *l = op->guard[g].limit;
            if (op->guard[g].var != v)
                continue;
            if (i == 0 && !nest->reduce)
                out->cut = lesser(lw, out->cut, l);
            else if (!out->cut || !axe_node_same(out->cut, l))
                AXE_TRY(add_zero(lw, v, op->load, l, out));
        }
    }
    return AXE_OK;
}

static const axe_node *
let(lowering *lw, const char *name, const axe_node *value)
{
    int64_t k;

    if (axe_is_iconst(value, &k) || value->op == AXE_OP_var)
        return value;
    axe_lir *l = axe_emit(lw, lw->level[lw->top].block, AXE_LIR_LET);
    l->var = axe_loop_var(lw, name);
    l->value = value;
    return axe_ivar(lw, l->var);
}

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
    lowering        *lw = w->lw;
    const axe_digit *d = &w->nest->digit[j];
    int64_t          b, e;
    axe_lblock       hold = {0};
    axe_lir         *l;
    bound            bd;

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
    bd = (bound){*d, l->var, 0, lw->bound};

    lowering saved = *lw;
    jam      side = {&bd, chains, lw->jam};
    if (chains > 1 && jam_of(w->nest, j) > 1) {
        lw->jam = &side;
        chains = 1;
    }
    lw->bound = &bd;
    lw->level[++lw->top] = (level){.block = &l->body, .index = d->var};
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
    lowering       *lw = w->lw;
    int64_t         step = (int64_t)lanes * chains;
    const axe_node *mid = axe_node2(lw->cx, AXE_OP_sub, end, *begin);

    mid = axe_node2(lw->cx, AXE_OP_div, mid, axe_int(lw, step));
    mid = axe_node2(lw->cx, AXE_OP_mul, mid, axe_int(lw, step));
    mid = let(lw, "whole", axe_sum(lw, *begin, mid));
    AXE_TRY(loop(w, j, *begin, mid, lanes, chains));
    *begin = mid;
    return AXE_OK;
}

/* What is left of a range, less than a vector: its first lanes, or one by one.
 */
static axe_status
rest(nest_walk *w, int j, const axe_node *begin, const axe_node *end, int lanes)
{
    lowering       *lw = w->lw;
    const axe_node *part = lw->part;
    int64_t         b, e;

    if (lanes == 1 || !w->nest->parts ||
        (axe_is_iconst(begin, &b) && axe_is_iconst(end, &e) && b >= e))
        return loop(w, j, begin, end, 1, 1);
    lw->part = let(lw, "left", axe_node2(lw->cx, AXE_OP_sub, end, begin));
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
    const outside *o = w->lw->outside;
    bool           last = j == w->nest->n_digit - 1;
    bool           zero = o && o->var == w->nest->digit[j].var;
    int            lanes = last ? w->nest->lanes : 1;
    int            chains = last && !zero ? w->nest->chains : 1;
    int            by = zero ? 1 : jam_of(w->nest, j);

    for (; by > 1 && (how & LONG); by = last && w->nest->jam[1] ? by / 2 : 1)
        AXE_TRY(part(w, j, &begin, end, 1, by));
    if (chains > 1 && (how & LONG))
        AXE_TRY(part(w, j, &begin, end, lanes, chains));
    if (lanes > 1)
        AXE_TRY(part(w, j, &begin, end, lanes, 1));
    return how & REST ? rest(w, j, begin, end, lanes) : AXE_OK;
}

/* min(max(a, lo), hi) */
static const axe_node *
clamp_to(lowering *lw, const axe_node *lo, const axe_node *a,
         const axe_node *hi)
{
    a = axe_node2(lw->cx, AXE_OP_max, a, lo);
    return axe_node2(lw->cx, AXE_OP_min, a, hi);
}

/* Does the mask change once along the loop over the variable? */
static bool
turns(lowering *lw, const axe_node *mask, const void *v)
{
    bool first;

    return axe_mask_turn(lw, mask, v, &first) != NULL;
}

/* A range where the mask is known: nothing where it then folds in units, or
 * writes what is there. */
static axe_status
decided(nest_walk *w, int j, const axe_node *begin, const axe_node *end,
        int how, const axe_node *mask, bool holds)
{
    lowering       *lw = w->lw;
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
    lowering       *lw = w->lw;
    const axe_var  *v = w->nest->digit[j].var;
    const axe_node *red = w->nest->reduce, *turn, *mid, *lanes;
    const axe_node *mask = NULL;
    bool            first;

    if (!lw->mask && j == w->nest->n_digit - 1 && w->nest->lanes > 1 &&
        !(lw->outside && lw->outside->var == v))
        mask = axe_find_mask(lw, red ? red->arg[0] : lw->s->value, turns, v);
    if (!mask)
        return range(w, j, begin, end, LONG | REST);
    lanes = axe_int(lw, w->nest->lanes);
    turn = axe_node2(lw->cx, AXE_OP_sub, axe_mask_turn(lw, mask, v, &first),
                     before);
    turn = axe_node2(lw->cx, AXE_OP_sub, clamp_to(lw, begin, turn, end), begin);
    turn = axe_node2(lw->cx, AXE_OP_div, turn, lanes);
    turn = axe_node2(lw->cx, AXE_OP_mul, turn, lanes);
    turn = let(lw, "turn", axe_sum(lw, begin, turn));
    AXE_TRY(decided(w, j, begin, turn, LONG, mask, first));
    mid = axe_node2(lw->cx, AXE_OP_min, axe_sum(lw, turn, lanes), end);
    mid = let(lw, "turned", mid);
    AXE_TRY(range(w, j, turn, mid, REST));
    return decided(w, j, mid, end, LONG | REST, mask, !first);
}

/* What a check adds up to without the digit of v about to be opened: known
 * where loops are open, else its least or greatest value. */
static const axe_node *
rest_of(lowering *lw, const axe_check *c, const axe_var *v, bool high)
{
    const axe_node *sum = axe_with_reads(lw, c->outer);

    for (int i = 0; i < c->index.n; i++) {
        const axe_var  *w = c->index.var[i];
        const axe_node *at = axe_index_so_far(lw, w);
        const bound    *b = lw->bound;
        while (b && b->of.var != w)
            b = b->next;
        if (!b && w != v && (c->index.coef[i] > 0) == high)
            at = axe_node2(lw->cx, AXE_OP_sub, axe_extent_of(lw->s, w),
                           axe_int(lw, 1));
        sum = axe_sum(
            lw, sum,
            axe_scaled(lw, at, (axe_stride){c->index.coef[i], AXE_UNIT_ONE}));
    }
    return sum;
}

/* Where the check surely holds: from *lo on, below *hi; both narrowed. Nowhere,
 * where what it computes is not known yet. */
static axe_status
narrow(lowering *lw, const axe_check *c, const axe_var *v, const axe_node **lo,
       const axe_node **hi)
{
    if (!axe_reads_are_bound(lw, c->outer)) {
        *lo = *hi = axe_int(lw, 0);
        return AXE_OK;
    }
    AXE_TRY(axe_take_reads_of(lw, c->outer));

    int64_t         k = axe_affine_coef(&c->index, v);
    const axe_node *by = axe_int(lw, k < 0 ? -k : k), *last;
    const axe_node *from = rest_of(lw, c, v, false),
                   *to = rest_of(lw, c, v, true);

    last = axe_node2(lw->cx, AXE_OP_sub, c->size, axe_int(lw, 1));
    to = axe_node2(lw->cx, AXE_OP_sub, last, to);
    from = axe_node1(lw->cx, AXE_OP_neg, from);
    if (k < 0) {
        const axe_node *t = from;
        from = axe_node1(lw->cx, AXE_OP_neg, to);
        to = axe_node1(lw->cx, AXE_OP_neg, t);
    }
    from = axe_node2(lw->cx, AXE_OP_cdiv, from, by);
    to = axe_sum(lw, axe_node2(lw->cx, AXE_OP_div, to, by), axe_int(lw, 1));
    *lo = *lo ? axe_node2(lw->cx, AXE_OP_max, *lo, from) : from;
    *hi = *hi ? axe_node2(lw->cx, AXE_OP_min, *hi, to) : to;
    return AXE_OK;
}

/* [begin, end) of the lanes' digit: vectors where no check can fail, one by one
 * where some may. */
static axe_status
asking(nest_walk *w, int j, const axe_node *before, const axe_node *begin,
       const axe_node *end)
{
    lowering       *lw = w->lw;
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
    lo = let(lw, "sure", clamp_to(lw, begin, lo, end));
    hi = let(lw, "unsure", clamp_to(lw, lo, hi, end));
    AXE_TRY(loop(w, j, begin, lo, 1, 1));
    lw->sure = v;
    AXE_TRY(masked(w, j, before, lo, hi));
    lw->sure = NULL;
    return loop(w, j, hi, end, 1, 1);
}

/* [begin, end) of digit j, cut where operands begin to read zero, from limit k
 * on; `before` is the value of the digits around. */
static axe_status
split(nest_walk *w, int j, const limits *lim, int k, const axe_node *before,
      const axe_node *begin, const axe_node *end)
{
    lowering       *lw = w->lw;
    const axe_node *mid;

    if (k == lim->n)
        return asking(w, j, before, begin, end);
    mid = axe_node2(lw->cx, AXE_OP_sub, lim->zero[k], before);
    mid = let(lw, "inside", clamp_to(lw, begin, mid, end));
    AXE_TRY(split(w, j, lim, k + 1, before, begin, mid));
    outside o = {w->nest->digit[j].var, lim->zero[k], lw->outside};
    lw->outside = &o;
    AXE_TRY(split(w, j, lim, k + 1, before, mid, end));
    lw->outside = o.next;
    return AXE_OK;
}

/* Where the digit begins, at most its end; `before`: the digits around. */
static const axe_node *
first(nest_walk *w, const axe_digit *d, const axe_node *before,
      const axe_node *end)
{
    lowering       *lw = w->lw;
    const axe_node *begin = axe_int(lw, 0);

    for (int i = 0; i < lw->s->n_from && !w->nest->reduce; i++) {
        if (lw->s->from[i].var != d->var)
            continue;
        begin = axe_node2(lw->cx, AXE_OP_sub, lw->s->from[i].limit, before);
        begin = axe_node2(lw->cx, AXE_OP_max, begin, axe_int(lw, 0));
        begin = axe_node2(lw->cx, AXE_OP_div, begin, axe_int(lw, d->weight));
        begin = axe_node2(lw->cx, AXE_OP_min, begin, end);
    }
    return let(lw, "begin", begin);
}

/* The body for all values that the loops do in one go. */
static axe_status
each_turn(nest_walk *w)
{
    lowering *lw = w->lw;

    lw->folded = NULL;
    for (int i = 0; i < axe_jam_turns(lw->jam); i++) {
        axe_jam_take(lw, lw->jam, i);
        AXE_TRY(w->body(lw, w->user));
    }
    axe_jam_take(lw, lw->jam, 0);
    return AXE_OK;
}

static axe_status
walk(nest_walk *w, int j)
{
    lowering *lw = w->lw;
    limits    lim;

    if (j == w->nest->n_digit)
        return lw->jam && !w->nest->reduce ? each_turn(w)
                                           : w->body(lw, w->user);

    const axe_digit *d = &w->nest->digit[j];
    const axe_node  *end = axe_int(lw, d->extent), *zero = axe_int(lw, 0);
    for (int i = 0; i < w->nest->n_dim && d->extent == 0; i++)
        if (w->nest->dim[i].var == d->var)
            end = w->nest->dim[i].extent;
    AXE_TRY(limits_of(lw, w->nest, d->var, &lim));

    const axe_node *before = axe_index_so_far(lw, d->var);
    if (lim.cut) {
        const axe_node *left = axe_node2(lw->cx, AXE_OP_sub, lim.cut, before);
        if (d->weight > 1)
            left = axe_node2(lw->cx, AXE_OP_cdiv, left, axe_int(lw, d->weight));
        end = let(lw, "end", clamp_to(lw, zero, left, end));
    }
    if (d->weight > 1)
        lim.n = 0;
    return split(w, j, &lim, 0, before, first(w, d, before, end), end);
}

axe_status
axe_nest_open(lowering *lw, const axe_nest *nest, body_fn *body, void *user)
{
    nest_walk w = {lw, nest, body, user};

    return walk(&w, 0);
}
