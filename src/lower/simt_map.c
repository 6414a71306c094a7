/* simt_map.c - moves, elementwise statements and reductions of many threads.
 *
 * Thread digits of the work are parts of who the thread is; `m` digits are
 * loops, `reg` digits are written out.  In the loops: operands in memory are
 * loaded into arrays, with as many elements as there are turns; then reductions
 * are done; then every turn's value is computed; then it is stored.  Turns that
 * are `apart` are written out around all that. */
#include "lower/simt_map.h"
#include "ir/rewrite.h"

/* ------------------------------------------------------------------- digits */

const axe_node *
axe_map_index(map_lowering *x, const axe_var *v)
{
    const axe_work *w = &x->simt->work;
    const axe_node *sum = axe_int(&x->sl->lw, 0);

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].of.var == v && x->value[i])
            sum = axe_sum(
                &x->sl->lw, sum,
                axe_scaled(&x->sl->lw, x->value[i],
                           (axe_stride){w->digit[i].of.weight, AXE_UNIT_ONE}));
    return sum;
}

bool
axe_map_in_nest(const map_lowering *x, int i, int nest)
{
    const axe_var *v = x->simt->work.digit[i].of.var;

    return axe_nest_has(&x->s->nest[0], v) ||
           axe_nest_has(&x->s->nest[nest], v);
}

static void
name_threads(map_lowering *x, axe_lblock *b)
{
    const axe_work      *w = &x->simt->work;
    const axe_simt_plan *sp = x->sl->sp;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        axe_iter it = {d->of.extent, d->stride, d->axis, AXE_UNIT_ONE};
        if (d->axis != sp->reg && d->axis != AXE_AXIS_M)
            x->value[i] =
                axe_simt_let(x->sl, b, d->of.var->name,
                             axe_simt_digit(x->sl, x->simt->crew, it));
    }
}

/* Loops of the digits that `nest` has and nest 0, if it is another, has not. */
axe_lblock *
axe_map_loops(map_lowering *x, axe_lblock *b, int nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++) {
        const axe_work_digit *d = &w->digit[i];
        const axe_node       *e = axe_extent_of(x->s, d->of.var);
        axe_lir              *l;
        if (d->axis != AXE_AXIS_M ||
            !axe_nest_has(&x->s->nest[nest], d->of.var))
            continue;
        l = axe_emit(&x->sl->lw, b, AXE_LIR_LOOP);
        l->var = axe_loop_var(&x->sl->lw, d->of.var->name);
        l->begin = axe_int(&x->sl->lw, 0);
        l->end = d->of.extent ? axe_int(&x->sl->lw, d->of.extent)
                              : axe_node2(x->sl->lw.cx, AXE_OP_cdiv, e,
                                          axe_int(&x->sl->lw, d->of.weight));
        x->value[i] = axe_ivar(&x->sl->lw, l->var);
        b = &l->body;
    }
    return b;
}

/* ------------------------------------------------------------------- values */

/* Is it one of turns that run together? */
static bool
is_turn(const map_lowering *x, const axe_work_digit *d)
{
    return d->axis == x->sl->sp->reg && !d->apart;
}

/* Is digit i one of those that tell the operand's elements in an array apart?
 */
static bool
is_kept(const map_lowering *x, int op, int i)
{
    const axe_work_digit *d = &x->simt->work.digit[i];

    return is_turn(x, d) && axe_operand_depends(&x->s->operand[op], d->of.var);
}

static bool
is_along(const map_lowering *x, int op, int i)
{
    const axe_work_digit *d = &x->simt->work.digit[i];

    return d->of.var == x->simt->access[op].along && d->of.weight == 1 &&
           d->axis == x->sl->sp->reg;
}

/* What a step of digit i is in the operand's array: along its vector, 1. */
static int64_t
array_stride(const map_lowering *x, int op, int i)
{
    const axe_work *w = &x->simt->work;
    int64_t         n = 1;

    if (is_along(x, op, i))
        return 1;
    for (int k = 0; k < w->n_digit; k++)
        if (is_along(x, op, k) || (k > i && is_kept(x, op, k)))
            n *= w->digit[k].of.extent;
    return n;
}

static int64_t
array_size(const map_lowering *x, int op)
{
    int64_t n = 1;

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (is_kept(x, op, i))
            n *= x->simt->work.digit[i].of.extent;
    return n;
}

static const axe_node *
array_index(map_lowering *x, int op)
{
    const axe_node *at = axe_int(&x->sl->lw, 0);

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (is_kept(x, op, i) && x->value[i])
            at = axe_sum(
                &x->sl->lw, at,
                axe_scaled(&x->sl->lw, x->value[i],
                           (axe_stride){array_stride(x, op, i), AXE_UNIT_ONE}));
    return at;
}

/* The operand that the load is. */
static int
operand_of(const map_lowering *x, const axe_node *load)
{
    for (int i = 0; i < x->s->n_operand; i++)
        if (x->s->operand[i].load == load)
            return x->same[i];
    return -1;
}

/* The address of an operand where the digits are. */
static const axe_node *
address(map_lowering *x, const axe_operand *op)
{
    const axe_node *at = axe_map_value(x, op->base);

    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (x->value[i])
            at = axe_moved(&x->sl->lw, at, op, &x->simt->work.digit[i].of,
                           x->value[i]);
    return at;
}

static const axe_node *
loaded(map_lowering *x, const axe_node *load)
{
    int                k = operand_of(x, load);
    const axe_operand *op = &x->s->operand[k];

    if (!x->array[k])
        return axe_simt_element(x->sl, axe_simt_tensor(x->sl, op->tensor),
                                address(x, op));
    return axe_simt_element(x->sl, x->array[k], array_index(x, k));
}

static const axe_node *
change_value(void *user, const axe_node *n)
{
    map_lowering *x = user;

    if (n->op == AXE_OP_load)
        return loaded(x, n);
    if (n->op == AXE_OP_reduce)
        return axe_map_reduced(x, n);
    if (n->op == AXE_OP_var)
        return n->u.var->kind == AXE_VAR_INDEX ? axe_map_index(x, n->u.var) : n;
    return NULL;
}

const axe_node *
axe_map_value(map_lowering *x, const axe_node *n)
{
    return axe_node_map(x->sl->lw.cx, n, change_value, x);
}

/* ------------------------------------------------------------------- moving */

static axe_arg
memory(map_lowering *x, const axe_operand *op)
{
    const axe_tensor *t = axe_simt_tensor(x->sl, op->tensor);
    const axe_node   *at = address(x, op);

    return op->tensor->space == AXE_SPACE_GLOBAL ? axe_simt_global(t, at)
                                                 : axe_simt_shared(t, at);
}

/* The row that moves so many elements; a destination that is read has its own.
 */
static const axe_atom *
row_of(const map_lowering *x, int k, int width, bool store)
{
    const axe_simt_access *a = &x->simt->access[k];
    const axe_operand     *op = &x->s->operand[k];
    const axe_plan        *p = x->sl->lw.plan;
    int                    param;

    if (store || k > 0)
        return width > 1 ? a->atom : a->least;
    return axe_simt_find_move(
        x->sl->lw.cx, p->machine, AXE_ATOM_LOAD, AXE_ARG_REG,
        op->tensor->space == AXE_SPACE_GLOBAL ? AXE_ARG_GLOBAL : AXE_ARG_SHARED,
        op->tensor->type, width, &param);
}

/* All turns of one operand, `width` elements at a time. */
static void
move_turns(map_lowering *x, axe_lblock *b, int k, int width, bool store)
{
    const axe_operand *op = &x->s->operand[k];
    const axe_work    *w = &x->simt->work;
    const axe_node    *own =
        op->tensor == x->s->operand[0].tensor ? axe_map_owner(x) : NULL;

    for (int i = 0; i < w->n_digit; i++) {
        int64_t step = is_along(x, k, i) ? width : 1;
        if (!is_kept(x, k, i))
            continue;
        x->value[i] =
            axe_scaled(&x->sl->lw,
                       axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                         w->digit[i].of.extent / step),
                       (axe_stride){step, AXE_UNIT_ONE});
    }
    axe_arg reg = axe_simt_reg(x->array[k], array_index(x, k));
    axe_arg there = memory(x, op);
    if (store && x->simt->share > 1) {
        there.space = AXE_ARG_DSMEM;
        there.cta = axe_simt_unrolled(x->sl, &b, "cta", x->simt->share);
    }
    axe_arg arg[2] = {store ? there : reg, store ? reg : there};
    axe_simt_atom(x->sl, b, row_of(x, k, width, store), width, 2, arg,
                  axe_simt_both(x->sl, axe_map_inside(x, op), own));
    for (int i = 0; i < w->n_digit; i++)
        if (is_kept(x, k, i))
            x->value[i] = NULL;
}

static void
move(map_lowering *x, axe_lblock *b, int k, bool store)
{
    const axe_simt_access *a = &x->simt->access[k];
    axe_lir               *l;

    if (!a->wide) {
        move_turns(x, b, k, a->width, store);
        return;
    }
    if (x->sl->never && axe_node_same(x->sl->never, a->wide)) {
        move_turns(x, b, k, 1, store);
        return;
    }
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = a->wide;
    move_turns(x, &l->body, k, a->width, store);
    move_turns(x, &l->other, k, 1, store);
}

/* An array for an operand's elements, as many as there are turns. */
static const axe_tensor *
values_of(map_lowering *x, int op)
{
    const axe_tensor *t = x->s->operand[op].tensor;

    return axe_simt_array(x->sl, axe_textf(x->sl->lw.cx, "%s_v", t->name),
                          t->type, array_size(x, op));
}

static bool
is_in_parts(const map_lowering *x, const axe_operand *op)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].apart && axe_operand_depends(op, w->digit[i].of.var))
            return true;
    return false;
}

/* Is operand i read, here? */
static bool
is_loaded_here(const map_lowering *x, int i, int nest)
{
    const axe_operand *op = &x->s->operand[i];
    const axe_node    *to = x->s->operand[0].load;
    bool               wanted = axe_node_holds(x->s->value, op->load);
    bool               far = op->tensor->space != AXE_SPACE_REG;

    for (int d = 0; d < to->n_arg; d++)
        wanted = wanted || axe_node_holds(to->arg[d], op->load);
    return (far || x->simt->access[i].shuffle) && wanted && x->same[i] == i &&
           axe_simt_nest_of(x->s, i) == nest && !x->array[i] &&
           (x->in_part || !is_in_parts(x, op));
}

/* What the operand's address reads comes first. */
static void
load(map_lowering *x, axe_lblock *b, int i, int nest)
{
    const axe_node *at = x->s->operand[i].load;

    if (!is_loaded_here(x, i, nest))
        return;
    for (int k = 0; k < x->s->n_operand; k++)
        for (int d = 0; d < at->n_arg; d++)
            if (axe_node_holds(at->arg[d], x->s->operand[k].load))
                load(x, b, x->same[k], nest);
    x->array[i] = values_of(x, i);
    if (x->s->operand[i].tensor->space != AXE_SPACE_REG)
        move(x, b, i, false);
    else
        axe_map_shuffle(x, b, i);
}

void
axe_map_load(map_lowering *x, axe_lblock *b, int nest)
{
    for (int i = x->s->n_operand - 1; i >= 0; i--)
        load(x, b, i, nest);
}

/* ------------------------------------------------------------------ storing */

/* What a turn of digit i does, of an index that stops at a limit: nothing if
 * all threads are beyond, which turns tell where no slower digit is of threads.
 */
static axe_lblock *
within_limit(map_lowering *x, axe_lblock *b, int i)
{
    const axe_work_digit *d = x->simt->work.digit;
    const axe_node       *first = axe_int(&x->sl->lw, 0);
    axe_lir              *l;

    if (!d[i].of.var->limit)
        return b;
    for (int k = 0; k <= i; k++) {
        if (d[k].of.var != d[i].of.var)
            continue;
        if (d[k].axis != x->sl->sp->reg)
            return b;
        first = axe_sum(&x->sl->lw, first,
                        axe_scaled(&x->sl->lw, x->value[k],
                                   (axe_stride){d[k].of.weight, AXE_UNIT_ONE}));
    }
    l = axe_emit(&x->sl->lw, b, AXE_LIR_IF);
    l->value = axe_node2(x->sl->lw.cx, AXE_OP_lt, first, d[i].of.var->limit);
    return &l->body;
}

axe_lblock *
axe_map_turns(map_lowering *x, axe_lblock *b, const axe_nest *nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (is_turn(x, &w->digit[i]) &&
            axe_nest_has(nest, w->digit[i].of.var)) {
            x->value[i] = axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                            w->digit[i].of.extent);
            b = within_limit(x, b, i);
        }
    return b;
}

void
axe_map_turned(map_lowering *x, const axe_nest *nest)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (is_turn(x, &w->digit[i]) && axe_nest_has(nest, w->digit[i].of.var))
            x->value[i] = NULL;
}

const axe_tensor *
axe_map_result(map_lowering *x)
{
    const axe_tensor *t = x->s->operand[0].tensor;

    return t->space == AXE_SPACE_REG ? axe_simt_tensor(x->sl, t) : x->out;
}

const axe_node *
axe_map_result_at(map_lowering *x)
{
    const axe_operand *dst = &x->s->operand[0];

    return dst->tensor->space == AXE_SPACE_REG ? address(x, dst)
                                               : array_index(x, 0);
}

static axe_status
compute(map_lowering *x, axe_lblock *b)
{
    const axe_node   *v = x->s->value;
    const axe_tensor *array = axe_map_result(x);
    axe_lblock       *in = axe_map_turns(x, b, &x->s->nest[0]);

    v = axe_map_value(x, x->s->stmt->prefix ? v->arg[1] : v);
    axe_simt_calc(x->sl, in, array, axe_map_result_at(x), v, NULL);
    axe_map_turned(x, &x->s->nest[0]);
    return x->s->stmt->prefix ? axe_map_prefix(x, b) : AXE_OK;
}

/* What is loaded is stored as it is: the operand whose array has the turns of
 * the destination's; or 0. */
static int
is_moved(const map_lowering *x)
{
    const axe_node *v = x->s->value;
    int             k = v->op == AXE_OP_load ? operand_of(x, v) : 0;

    if (k <= 0 || !x->array[k] ||
        x->array[k]->type != x->s->operand[0].tensor->type)
        return 0;
    for (int i = 0; i < x->simt->work.n_digit; i++)
        if (is_kept(x, 0, i) != is_kept(x, k, i) ||
            (is_kept(x, 0, i) &&
             array_stride(x, 0, i) != array_stride(x, k, i)))
            return 0;
    return k;
}

static axe_status
store(map_lowering *x, axe_lblock *b)
{
    const axe_tensor *dst = x->s->operand[0].tensor;
    int               k = is_moved(x);

    if (dst->space != AXE_SPACE_REG && k > 0) {
        x->array[0] = x->array[k];
        move(x, b, 0, true);
        return AXE_OK;
    }

    if (dst->space != AXE_SPACE_REG)
        x->out = values_of(x, 0);
    AXE_TRY(compute(x, b));
    if (dst->space == AXE_SPACE_REG)
        return AXE_OK;
    x->array[0] = x->out;
    move(x, b, 0, true);
    return AXE_OK;
}

/* ---------------------------------------------------------------- statement */

/* What follows is done part by part, with the same arrays. */
static axe_lblock *
open_parts(map_lowering *x, axe_lblock *b)
{
    const axe_work *w = &x->simt->work;

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].apart) {
            x->value[i] = axe_simt_unrolled(x->sl, &b, w->digit[i].of.var->name,
                                            w->digit[i].of.extent);
            b = within_limit(x, b, i);
        }
    x->in_part = true;
    return b;
}

/* Has the cluster met, and nothing been done since? */
static bool
has_met(const axe_lblock *b)
{
    int n = b->n;

    while (n > 0 && b->item[n - 1]->kind == AXE_LIR_NOTE)
        n--;
    return n > 0 && b->item[n - 1]->kind == AXE_LIR_ATOM &&
           b->item[n - 1]->atom->sync == AXE_SYNC_MEET &&
           b->item[n - 1]->atom->by == AXE_SCOPE_CLUSTER;
}

/* Nobody reads, or writes, what CTAs share. */
static axe_status
meet_sharers(simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    if (s->simt->share <= 1 || has_met(b))
        return AXE_OK;
    return axe_simt_sync(sl, b, AXE_SYNC_MEET, AXE_SCOPE_CLUSTER, "", 0, NULL);
}

axe_status
axe_simt_lower_map(simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    map_lowering x = {
        .sl = sl,
        .s = s,
        .simt = s->simt,
        .value =
            axe_new_array(sl->lw.cx, const axe_node *, s->simt->work.n_digit),
        .array = axe_new_array(sl->lw.cx, const axe_tensor *, s->n_operand),
        .same = axe_new_array(sl->lw.cx, int, s->n_operand),
        .sum = axe_new_array(sl->lw.cx, const axe_tensor *, s->n_nest),
    };

    sl->lw.s = s;
    for (int i = 0; i < s->n_operand; i++)
        x.same[i] = axe_simt_first_load(s, i);
    AXE_TRY(meet_sharers(sl, b, s));
    name_threads(&x, b);
    axe_lblock *in = axe_map_loops(&x, b, 0);
    axe_map_load(&x, in, 0);
    in = open_parts(&x, in);
    axe_map_load(&x, in, 0);
    for (int k = s->n_nest - 1; k >= 1; k--)
        AXE_TRY(axe_map_reduce(&x, in, k));
    AXE_TRY(store(&x, in));
    return meet_sharers(sl, b, s);
}
