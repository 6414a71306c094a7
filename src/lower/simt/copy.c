/* copy.c - moves from memory to memory as atoms.
 *
 * Pieces: a thread's digits are integers of its number, iterations are loops
 * that are written out.  Boxes: one thread of the group names coordinates;
 * where CTAs of a cluster share a tile, each brings its part to all of them.
 * What comes in is waited for by the ring's protocol; what goes out is awaited
 * here, so that the tile is free again behind the statement. */

#include "plan/simt/copy/copy.h"
#include "ir/rewrite.h"
#include "lower/simt/ring.h"

/* ------------------------------------------------------------------ pieces */

static void
bind(axe_simt_lowering *sl, axe_digit of, const axe_node *value)
{
    axe_open_digit *d = axe_new(sl->lw.cx, axe_open_digit);

    *d = (axe_open_digit){of, value->u.var, 0, sl->lw.bound};
    sl->lw.bound = d;
}

/* A copy by pieces, and what its subscripts read. */
typedef struct pieces {
    axe_simt_lowering   *sl;
    const axe_schedule  *s;
    const axe_simt_copy *c;
    const axe_tensor   **array; /* by operand: of each iteration, or NULL */
    const axe_node      *iteration;
} pieces;

/* What the thread's number says of the indices. */
static void
bind_threads(pieces *x, axe_lblock *b)
{
    axe_simt_lowering      *sl = x->sl;
    const axe_thread_group *threads = x->s->simt->threads;
    const axe_node         *thread = axe_simt_thread(sl, threads);

    for (int i = 0; i < x->c->n_digit; i++) {
        const axe_copy_digit *d = &x->c->digit[i];
        const axe_node       *v = thread;
        if (!d->thread)
            continue;
        if (d->by > 1)
            v = op2(sl, AXE_OP_div, v, axe_int(&sl->lw, d->by));
        if (d->by * d->of.extent < threads->n_thread)
            v = op2(sl, AXE_OP_mod, v, axe_int(&sl->lw, d->of.extent));
        bind(sl, d->of, axe_simt_let(sl, b, d->of.var->name, v));
    }
}

/* Loops over the iterations: *b becomes their body. */
static void
bind_iterations(pieces *x, axe_lblock **b)
{
    axe_lowering *lw = &x->sl->lw;

    x->iteration = axe_int(lw, 0);
    for (int i = 0; i < x->c->n_digit; i++) {
        axe_digit       of = x->c->digit[i].of;
        const axe_node *v;
        if (x->c->digit[i].thread)
            continue;
        v = axe_simt_unrolled(x->sl, b, of.var->name, of.extent);
        bind(x->sl, of, v);
        x->iteration = axe_sum(
            lw, op2(x->sl, AXE_OP_mul, x->iteration, axe_int(lw, of.extent)),
            v);
    }
}

static int64_t
n_iteration(const axe_simt_copy *c)
{
    int64_t n = 1;

    for (int i = 0; i < c->n_digit; i++)
        n *= c->digit[i].thread ? 1 : c->digit[i].of.extent;
    return n;
}

/* n with scalars and what was read before as elements of arrays. */
static const axe_node *
change_read(void *user, const axe_node *n)
{
    pieces *x = user;

    if (n->op == AXE_OP_load && n->n_arg == 0)
        return axe_simt_scalars(x->sl, n);
    for (int i = 1; n->op == AXE_OP_load && i < x->s->n_operand; i++)
        if (x->s->operand[i].load == n)
            return axe_simt_element(x->sl, x->array[i], x->iteration);
    if (n->op == AXE_OP_var && n->u.var->kind == AXE_VAR_INDEX)
        return axe_index_so_far(&x->sl->lw, n->u.var);
    return NULL;
}

static const axe_node *
with_reads(pieces *x, const axe_node *n)
{
    return axe_node_map(x->sl->lw.cx, n, change_read, x);
}

/* Is the piece inside the operand's tensor? */
static const axe_node *
inside(pieces *x, const axe_operand *op, const axe_node *also)
{
    axe_simt_lowering *sl = x->sl;

    for (int g = 0; g < op->n_guard; g++)
        also = axe_simt_both(sl, also,
                             op2(sl, AXE_OP_lt,
                                 axe_index_so_far(&sl->lw, op->guard[g].var),
                                 op->guard[g].limit));
    for (int i = 0; i < op->n_check; i++) {
        const axe_check *c = &op->check[i];
        const axe_node  *at = with_reads(x, c->outer);
        for (int k = 0; k < c->index.n; k++)
            at = axe_sum(
                &sl->lw, at,
                axe_scaled(&sl->lw, axe_index_so_far(&sl->lw, c->index.var[k]),
                           (axe_stride){c->index.coef[k], AXE_UNIT_ONE}));
        also = axe_simt_both(sl, also,
                             op2(sl, AXE_OP_le, axe_int(&sl->lw, 0), at));
        also = axe_simt_both(sl, also, op2(sl, AXE_OP_lt, at, c->size));
    }
    return also;
}

static axe_arg
operand(pieces *x, const axe_operand *op)
{
    axe_lowering   *lw = &x->sl->lw;
    const axe_node *at = with_reads(x, op->base);

    for (const axe_open_digit *b = lw->bound; b; b = b->next)
        at = axe_moved(lw, at, op, &b->of, axe_digit_node(lw, b));
    if (op->tensor->space == AXE_SPACE_GLOBAL)
        return axe_simt_global(axe_simt_tensor(x->sl, op->tensor), at);
    return axe_simt_shared(axe_simt_tensor(x->sl, op->tensor), at);
}

/* What subscripts read, of all iterations, before the pieces: those that
 * others' addresses need come first. */
static void
read_places(pieces *x, axe_lblock *b)
{
    for (int i = x->s->n_operand - 1; i > 0; i--) {
        const axe_operand *op = &x->s->operand[i];
        axe_open_digit    *threads = x->sl->lw.bound;
        axe_lblock        *in = b;
        const axe_atom    *row;
        int                param;
        if (op->load == x->s->value || op->tensor->rank == 0)
            continue;
        row = axe_simt_find_move(x->sl->lw.cx, x->sl->lw.plan->machine,
                                 AXE_ATOM_LOAD, AXE_ARG_REG, AXE_ARG_GLOBAL,
                                 op->tensor->type, 1, &param);
        x->array[i] = axe_simt_array(
            x->sl, axe_textf(x->sl->lw.cx, "%s_v", op->tensor->name),
            op->tensor->type, n_iteration(x->c));
        bind_iterations(x, &in);
        axe_arg arg[2] = {axe_simt_reg(x->array[i], x->iteration),
                          operand(x, op)};
        axe_simt_atom(x->sl, in, row, 1, 2, arg, inside(x, op, NULL));
        x->sl->lw.bound = threads;
    }
}

static axe_status
lower_each(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    pieces                  x = {sl, s, s->simt->copy,
                                 axe_new_array(sl->lw.cx, const axe_tensor *, s->n_operand),
                                 NULL};
    const axe_thread_group *threads = s->simt->threads;
    const axe_node         *here = NULL;
    axe_lir                *l;

    if (x.c->n_thread < threads->n_thread) {
        l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = op2(sl, AXE_OP_lt, axe_simt_thread(sl, threads),
                       axe_int(&sl->lw, x.c->n_thread));
        b = &l->body;
    }
    sl->lw.s = s;
    sl->lw.bound = NULL;
    bind_threads(&x, b);
    read_places(&x, b);
    bind_iterations(&x, &b);
    here = inside(&x, &s->operand[0], here);
    here = inside(&x, &s->operand[x.c->from], here);
    axe_arg arg[2] = {operand(&x, &s->operand[0]),
                      operand(&x, &s->operand[x.c->from])};
    axe_simt_atom(sl, b, x.c->atom, x.c->param, 2, arg, here);
    sl->lw.bound = NULL;
    return AXE_OK;
}

/* Pieces where they are possible, else by way of registers. */
static axe_status
lower_pieces(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    const axe_simt_copy *c = s->simt->copy;
    axe_lir             *l;

    if (!c->when)
        return lower_each(sl, b, s);
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = c->when;
    AXE_TRY(lower_each(sl, &l->body, s));
    sl->never = c->when;
    AXE_TRY(axe_simt_lower_map(sl, &l->other, s));
    sl->never = NULL;
    return AXE_OK;
}

/* ------------------------------------------------------------------- boxes */

/* A box: where it is in the tile, and its coordinates. */
typedef struct where {
    const axe_node *at;
    const axe_node *coord[AXE_BOX_RANK]; /* by dimension of the tensor */
} where;

static void
move_by(axe_simt_lowering *sl, where *w, const axe_box_loop *l,
        const axe_node *n)
{
    axe_lowering *lw = &sl->lw;

    w->at = axe_sum(lw, w->at, op2(sl, AXE_OP_mul, n, axe_int(lw, l->step)));
    w->coord[l->dim] = axe_sum(lw, w->coord[l->dim],
                               op2(sl, AXE_OP_mul, n, axe_int(lw, l->move)));
}

/* The first box of this CTA, then loops over the others: *b becomes the body.
 */
static where
walk_boxes(axe_simt_lowering *sl, axe_lblock **b, const axe_simt_copy *c,
           const axe_operand *tile)
{
    where w = {.at = tile->base};

    for (int d = 0; !c->run && d < c->seen->rank; d++)
        w.coord[d] = axe_simt_scalars(sl, c->origin[d]);
    if (c->map.part.extent > 1)
        move_by(sl, &w, &c->map.part,
                c->own.extent > 1
                    ? op2(sl, AXE_OP_div, axe_simt_id(sl, AXE_ID_RANK),
                          axe_int(&sl->lw, c->own.extent))
                    : axe_simt_id(sl, AXE_ID_RANK));
    if (c->own.extent > 1)
        move_by(sl, &w, &c->own,
                op2(sl, AXE_OP_mod, axe_simt_id(sl, AXE_ID_RANK),
                    axe_int(&sl->lw, c->own.extent)));
    for (int i = 0; i < c->map.n_loop; i++)
        move_by(sl, &w, &c->map.loop[i],
                axe_simt_unrolled(sl, b, "box", c->map.loop[i].extent));
    return w;
}

/* The first thread of the group, if not it alone is here. */
static const axe_node *
first_thread(axe_simt_lowering *sl, const axe_thread_group *threads)
{
    if (sl->alone || threads->n_thread == 1)
        return NULL;
    return op2(sl, AXE_OP_eq, axe_simt_thread(sl, threads),
               axe_int(&sl->lw, 0));
}

/* The side in global memory: a box of its map, or where the run begins. */
static axe_arg
global_arg(axe_simt_lowering *sl, const axe_schedule *s, const where *w)
{
    const axe_simt_copy *c = s->simt->copy;
    const axe_node     **x =
        axe_new_array(sl->lw.cx, const axe_node *, c->map.rank + 1);

    if (c->run)
        return axe_simt_global(
            c->global,
            axe_simt_scalars(sl, s->operand[c->in ? c->from : 0].base));
    for (int i = 0; i < c->map.rank; i++)
        x[i] = w->coord[c->map.dim[i]];
    return (axe_arg){
        .space = AXE_ARG_MAP,
        .tensor = c->global,
        .map = axe_simt_map_of(sl, c->global, c->seen, &c->map, !c->in, NULL),
        .n_at = c->map.rank,
        .coord = x};
}

/* The mbarrier of the stage that is being filled. */
static axe_arg
full_arg(axe_simt_lowering *sl)
{
    const axe_simt_ring *r = sl->filling;

    axe_arg arg = axe_simt_shared(sl->full[r - sl->sp->ring],
                                  axe_ring_barrier_at(sl, r, r->fill));
    if (r->pair > 1) {
        arg.space = AXE_ARG_DSMEM;
        arg.cta = axe_simt_first_of(sl, r->pair);
    }
    return arg;
}

/* Those who keep what this CTA brings a part of: all, or every n-th. */
static axe_arg
receivers(axe_simt_lowering *sl, const axe_simt_copy *c)
{
    int64_t n = c->own.extent > 1 ? c->own.extent : 1, mask = 0;

    for (int64_t i = 0; i < c->map.part.extent; i++)
        mask |= INT64_C(1) << i * n;
    return axe_simt_number(
        axe_simt_shifted(sl, mask, 1, (int)n,
                         op2(sl, AXE_OP_mod, axe_simt_id(sl, AXE_ID_RANK),
                             axe_int(&sl->lw, n))));
}

static axe_status
load_boxes(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    const axe_simt_copy *c = s->simt->copy;
    const axe_node      *pred = first_thread(sl, s->simt->threads);
    int64_t              n = c->map.part.extent;
    where                w = walk_boxes(sl, &b, c, &s->operand[0]);
    axe_arg              arg[4] = {
                     axe_simt_shared(axe_simt_tensor(sl, s->operand[0].tensor), w.at),
                     global_arg(sl, s, &w), full_arg(sl), receivers(sl, c)};

    axe_simt_atom(sl, b, c->atom, c->param, n > 1 ? 4 : 3, arg, pred);
    return AXE_OK;
}

/* Is the tile filled by other means than boxes? */
static bool
threads_write(const axe_simt_lowering *sl, const axe_tensor *tile)
{
    const axe_plan *p = sl->lw.plan;

    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        if (s && s->stmt->dst->u.tensor == tile &&
            !(s->simt->copy && s->simt->copy->box))
            return true;
    }
    return false;
}

/* What threads have written of the tile, the engine must see; it has read the
 * tile when the thread that hands it boxes goes on. */
static axe_status
store_boxes(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    const axe_simt_copy    *c = s->simt->copy;
    const axe_thread_group *threads = s->simt->threads;
    const char             *group = c->atom->group;
    const axe_node         *pred = first_thread(sl, threads);
    axe_lblock             *in = b;

    if (threads_write(sl, s->operand[c->from].tensor)) {
        AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_FENCE, group,
                                     AXE_ARG_SHARED, 0, NULL));
        AXE_TRY(axe_simt_barrier(sl, b, threads));
    }
    where   w = walk_boxes(sl, &in, c, &s->operand[c->from]);
    axe_arg arg[2] = {
        global_arg(sl, s, &w),
        axe_simt_shared(axe_simt_tensor(sl, s->operand[c->from].tensor), w.at)};
    axe_simt_atom(sl, in, c->atom, c->param, 2, arg, pred);
    AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_COMMIT, group, AXE_ARG_NONE, 0,
                                 pred));
    return axe_simt_order_group(sl, b, AXE_SYNC_READ, group, AXE_ARG_NONE, 0,
                                pred);
}

axe_status
axe_simt_lower_copy(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    const axe_simt_copy *c = s->simt->copy;

    if (c->stage)
        return axe_simt_lower_stage_out(sl, b, s);
    if (!c->box)
        return lower_pieces(sl, b, s);
    if (c->when)
        axe_simt_need(
            sl, (axe_need){c->when, s->stmt->at, c->why,
                           "write `via map` behind the statement: threads "
                           "move it at all sizes; or lengthen the rows"});
    return c->in ? load_boxes(sl, b, s) : store_boxes(sl, b, s);
}
