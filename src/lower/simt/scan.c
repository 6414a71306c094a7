/* scan.c - values folded along an index, each with those before it.
 *
 * The index's digits, fast to slow, come in stretches: of a thread's own
 * iterations, of lanes and warps, of iterations again.  After each, every
 * element holds the fold of its block up to itself, and the thread what the
 * whole block comes to.
 *
 *   thread   the fold so far goes into each iteration's block, and takes it in
 *   lanes    exchange what their blocks come to, bit by bit; whose bit is set
 *            is behind its partner and takes that in front
 *   warps    leave theirs in shared memory, and take in those of slower warps
 *
 * What came before, in another statement, is where the slowest begins. */
#include "lower/code/build.h"
#include "lower/simt/map.h"

typedef struct scan {
    axe_map_lowering *x;
    const axe_nest   *along; /* the index alone */
    const axe_tensor *array; /* the elements */
    const axe_tensor *total; /* what blocks come to; NULL: elements do */
    const axe_tensor
            *ahead; /* what is before them, of threads; NULL: nothing */
    axe_op   op;
    axe_fold fold;
    axe_type type;
    int      at; /* digits of the index from here on are done */
} scan;

static bool
is_iteration(const scan *c, int i)
{
    const axe_work_digit *d = &c->x->simt->work.digit[i];

    return d->axis == c->x->sl->sp->reg && !d->apart &&
           axe_nest_has(&c->x->s->nest[0], d->of.var);
}

static bool
is_along(const scan *c, int i)
{
    return axe_nest_has(c->along, c->x->simt->work.digit[i].of.var);
}

/* Is digit i an iteration that tells blocks apart, those from `at` on being
 * done? */
static bool
is_open(const scan *c, int at, int i)
{
    return is_iteration(c, i) && (!is_along(c, i) || i < at);
}

static int64_t
n_block(const scan *c, int at)
{
    int64_t n = 1;

    for (int i = 0; i < c->x->simt->work.n_digit; i++)
        n *= is_open(c, at, i) ? c->x->simt->work.digit[i].of.extent : 1;
    return n;
}

/* The block's number among them. */
static const axe_node *
block_at(scan *c, int at)
{
    axe_lowering   *lw = &c->x->sl->lw;
    const axe_node *sum = axe_int(lw, 0);
    int64_t         stride = 1;

    for (int i = c->x->simt->work.n_digit - 1; i >= 0; i--) {
        if (!is_open(c, at, i))
            continue;
        if (c->x->value[i])
            sum = axe_sum(lw, sum,
                          axe_scaled(lw, c->x->value[i],
                                     (axe_stride){stride, AXE_UNIT_ONE}));
        stride *= c->x->simt->work.digit[i].of.extent;
    }
    return sum;
}

/* Write out the iterations of digits [from, to) that are of the index, or are
 * not.
 */
static void
open_iterations(scan *c, axe_lblock **b, int from, int to, bool along)
{
    const axe_work_digit *d = c->x->simt->work.digit;

    for (int i = from; i < to; i++)
        if (is_iteration(c, i) && is_along(c, i) == along)
            c->x->value[i] = axe_simt_unrolled(c->x->sl, b, d[i].of.var->name,
                                               d[i].of.extent);
}

/* Those that tell blocks apart. */
static void
open_blocks(scan *c, axe_lblock **b, int at)
{
    open_iterations(c, b, 0, c->x->simt->work.n_digit, false);
    open_iterations(c, b, 0, at, true);
}

static void
close_iterations(scan *c)
{
    for (int i = 0; i < c->x->simt->work.n_digit; i++)
        if (is_iteration(c, i))
            c->x->value[i] = NULL;
}

static const axe_node *
element(const scan *c, const axe_tensor *array, const axe_node *at)
{
    const axe_node *n = axe_simt_element(c->x->sl, array, at);

    return n->type == c->type ? n
                              : axe_cast(c->x->sl->lw.cx, n->at, c->type, n);
}

/* array[at] = value */
static void
set(scan *c, axe_lblock *b, const axe_tensor *array, const axe_node *at,
    const axe_node *value)
{
    if (value->type != array->type)
        value = axe_cast(c->x->sl->lw.cx, value->at, array->type, value);
    axe_simt_calc(c->x->sl, b, array, at, value, NULL);
}

static const axe_node *
both(const scan *c, const axe_node *first, const axe_node *then)
{
    return axe_node2(c->x->sl->lw.cx, c->op, first, then);
}

static const axe_tensor *
new_blocks(const scan *c, const char *name, int at)
{
    return axe_simt_array(c->x->sl, name, c->type, n_block(c, at));
}

/* Where the fold begins: behind the last digit with what came before. */
static const axe_node *
begin_of(const scan *c, int at)
{
    const axe_node *v = c->x->s->value->arg[0];
    axe_ctx        *cx = c->x->sl->lw.cx;

    for (int i = 0; i < at; i++)
        if (is_along(c, i))
            return axe_fold_unit(cx, c->fold, c->type);
    v = axe_map_value(c->x, v);
    return v->type == c->type ? v : axe_cast(cx, v->at, c->type, v);
}

/* What is ahead of the block, into its element at the digits. */
static void
take_ahead(scan *c, axe_lblock *b, const axe_node *block)
{
    set(c, b, c->array, axe_map_result_at(c->x),
        both(c, element(c, c->ahead, block),
             element(c, c->array, axe_map_result_at(c->x))));
}

/* --------------------------------------------------------------- iterations */

/* The stretch of iterations [from, c->at). */
static void
scan_iterations(scan *c, axe_lblock *b, int from)
{
    const axe_tensor *sum = new_blocks(c, "sum", from);
    const axe_node   *at, *block, *first;
    int               n = c->x->simt->work.n_digit;

    open_blocks(c, &b, from);
    at = block_at(c, from);
    set(c, b, sum, at, begin_of(c, from));
    open_iterations(c, &b, from, c->at, true);
    if (!c->total) {
        first = element(c, c->array, axe_map_result_at(c->x));
        set(c, b, sum, at, both(c, element(c, sum, at), first));
        set(c, b, c->array, axe_map_result_at(c->x), element(c, sum, at));
    } else {
        block = block_at(c, c->at);
        first = both(c, element(c, sum, at), element(c, c->ahead, block));
        set(c, b, c->ahead, block, first);
        set(c, b, sum, at,
            both(c, element(c, sum, at), element(c, c->total, block)));
        open_iterations(c, &b, c->at, n, true);
        take_ahead(c, b, block);
    }
    close_iterations(c);
    c->total = sum;
    c->ahead = NULL;
}

/* ------------------------------------------------------------------ threads */

/* Is the digit's part of `bit` set here? */
static const axe_node *
is_set(scan *c, int i, int64_t bit)
{
    axe_ctx        *cx = c->x->sl->lw.cx;
    const axe_node *v = c->x->value[i];

    if (bit > 1)
        v = axe_node2(cx, AXE_OP_div, v, axe_int(&c->x->sl->lw, bit));
    v = axe_node2(cx, AXE_OP_mod, v, axe_int(&c->x->sl->lw, 2));
    return axe_node2(cx, AXE_OP_eq, v, axe_int(&c->x->sl->lw, 1));
}

/* a[at] = when ? first op a[at] : a[at] */
static void
take_in(scan *c, axe_lblock *b, const axe_tensor *a, const axe_node *at,
        const axe_node *when, const axe_node *first)
{
    const axe_node *old = element(c, a, at);

    set(c, b, a, at,
        axe_node_new(c->x->sl->lw.cx, AXE_OP_select, c->type, AXE_NOWHERE, 3,
                     (const axe_node *[]){when, both(c, first, old), old}));
}

static axe_status
scan_lanes(scan *c, axe_lblock *b, int i)
{
    const axe_work_digit *d = &c->x->simt->work.digit[i];
    const axe_node       *zero = axe_int(&c->x->sl->lw, 0), *at, *got;
    const axe_tensor     *other = axe_simt_array(c->x->sl, "other", c->type, 1);

    for (int64_t bit = 1; bit < d->of.extent; bit *= 2) {
        axe_lblock *in = b;
        at = axe_simt_unrolled(c->x->sl, &in, "turn", n_block(c, c->at));
        AXE_TRY(axe_map_exchange(c->x, in, other, c->total, at,
                                 (int)(bit * d->stride)));
        got = element(c, other, zero);
        take_in(c, in, c->ahead, at, is_set(c, i, bit), got);
        set(c, in, c->total, at, both(c, element(c, c->total, at), got));
    }
    return AXE_OK;
}

/* Every warp leaves what its blocks come to, and reads what the others left. */
static axe_status
scan_warps(scan *c, axe_lblock *b, int i)
{
    axe_simt_lowering    *sl = c->x->sl;
    const axe_machine    *mc = sl->lw.plan->machine;
    const axe_work_digit *d = &c->x->simt->work.digit[i];
    int64_t               n = n_block(c, c->at);
    const axe_tensor     *scratch =
        axe_simt_scratch(sl, c->x->simt->threads, c->type);
    const axe_tensor *other = axe_simt_array(sl, "other", c->type, 1);
    const axe_node   *zero = axe_int(&sl->lw, 0), *at, *from, *got;
    axe_lblock       *in = b;
    int               param;

    AXE_TRY(axe_simt_barrier(sl, b, c->x->simt->threads));
    at = axe_simt_unrolled(sl, &in, "turn", n);
    axe_simt_atom(
        sl, in,
        axe_simt_find_move(sl->lw.cx, mc, AXE_ATOM_STORE, AXE_ARG_SHARED,
                           AXE_ARG_REG, c->type, 1, &param),
        1, 2,
        (axe_arg[]){
            axe_simt_shared(scratch, axe_map_slot(c->x, c->along, n, at, NULL)),
            axe_simt_reg(c->total, at)},
        NULL);
    AXE_TRY(axe_simt_barrier(sl, b, c->x->simt->threads));
    at = axe_simt_unrolled(sl, &b, "turn", n);
    set(c, b, c->total, at, axe_fold_unit(sl->lw.cx, c->fold, c->type));
    from = axe_simt_unrolled(sl, &b, "from", d->of.extent);
    axe_simt_atom(
        sl, b,
        axe_simt_find_move(sl->lw.cx, mc, AXE_ATOM_LOAD, AXE_ARG_REG,
                           AXE_ARG_SHARED, c->type, 1, &param),
        1, 2,
        (axe_arg[]){axe_simt_reg(other, zero),
                    axe_simt_shared(scratch,
                                    axe_map_slot(c->x, c->along, n, at, from))},
        NULL);
    got = element(c, other, zero);
    take_in(c, b, c->ahead, at,
            axe_node2(sl->lw.cx, AXE_OP_lt, from, c->x->value[i]), got);
    set(c, b, c->total, at, both(c, got, element(c, c->total, at)));
    return AXE_OK;
}

/* Nothing is ahead; blocks come to what they hold. */
static void
begin_threads(scan *c, axe_lblock *b)
{
    const axe_tensor *ahead = new_blocks(c, "ahead", c->at);
    bool              first = !c->total;
    const axe_node   *at;

    if (first)
        c->total = new_blocks(c, "total", c->at);
    c->ahead = ahead;
    open_blocks(c, &b, c->at);
    at = block_at(c, c->at);
    if (first)
        set(c, b, c->total, at, element(c, c->array, axe_map_result_at(c->x)));
    set(c, b, ahead, at, axe_fold_unit(c->x->sl->lw.cx, c->fold, c->type));
    close_iterations(c);
}

/* The stretch of threads [from, c->at). */
static axe_status
scan_threads(scan *c, axe_lblock *b, int from)
{
    const axe_simt_plan *sp = c->x->sl->sp;

    begin_threads(c, b);
    for (int i = c->at - 1; i >= from; i--)
        if (is_along(c, i))
            AXE_TRY(c->x->simt->work.digit[i].axis == sp->lane
                        ? scan_lanes(c, b, i)
                        : scan_warps(c, b, i));
    return AXE_OK;
}

/* What is ahead of blocks, into them, where no iterations follow. */
static void
finish_threads(scan *c, axe_lblock *b)
{
    const axe_node *at, *first;

    open_blocks(c, &b, c->at);
    at = block_at(c, c->at);
    first = both(c, begin_of(c, 0), element(c, c->ahead, at));
    set(c, b, c->ahead, at, first);
    open_iterations(c, &b, c->at, c->x->simt->work.n_digit, true);
    take_ahead(c, b, at);
    close_iterations(c);
}

/* ---------------------------------------------------------------- statement */

/* The last digit of the index before `end`, or -1. */
static int
digit_before(const scan *c, int end)
{
    while (end > 0 && !is_along(c, end - 1))
        end--;
    return end - 1;
}

/* Where the stretch begins whose last digit is `last`. */
static int
stretch(const scan *c, int last)
{
    int i;

    while ((i = digit_before(c, last)) >= 0 &&
           is_iteration(c, i) == is_iteration(c, last))
        last = i;
    return last;
}

static axe_fold
fold_of(axe_op op)
{
    return op == AXE_OP_mul   ? AXE_FOLD_MUL
           : op == AXE_OP_max ? AXE_FOLD_MAX
           : op == AXE_OP_min ? AXE_FOLD_MIN
                              : AXE_FOLD_SUM;
}

axe_status
axe_map_prefix(axe_map_lowering *x, axe_lblock *b)
{
    const axe_node *v = x->s->value;
    axe_dim         dim = {.var = x->s->stmt->prefix};
    axe_nest        along = {.n_dim = 1, .dim = &dim};
    int             last, from;
    scan            c = {.x = x,
                         .along = &along,
                         .array = axe_map_result(x),
                         .op = v->op,
                         .fold = fold_of(v->op),
                         .type = axe_compute_of(&x->sl->lw, v->type),
                         .at = x->simt->work.n_digit};

    while ((last = digit_before(&c, c.at)) >= 0) {
        from = stretch(&c, last);
        if (is_iteration(&c, last))
            scan_iterations(&c, b, from);
        else
            AXE_TRY(scan_threads(&c, b, from));
        c.at = from;
    }
    if (c.ahead)
        finish_threads(&c, b);
    return AXE_OK;
}
