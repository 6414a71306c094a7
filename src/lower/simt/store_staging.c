/* store_staging.c - stores from registers to global memory through a buffer in
 * shared memory.
 *
 * The tile is stored in parts, which take turns in the `n_room` rooms of the
 * buffer.  For each part: wait until the copy engine has read what was in its
 * room before; all threads write their elements of the part there; a fence
 * makes these writes visible to the engine; one thread starts the copy. */
#include "plan/simt/copy/store_staging.h"

#include "lower/simt/node.h"
#include "plan/simt/copy/copy.h"

typedef struct staging {
    axe_simt_lowering           *sl;
    const axe_schedule          *s;
    const struct axe_simt_stage *st;
    const axe_thread_group      *threads;
    const axe_tensor            *room, *array;
    const axe_node              *part; /* which */
} staging;

static const axe_node *
times(staging *x, const axe_node *a, int64_t v)
{
    return op2(x->sl, AXE_OP_mul, a, number(x->sl, v));
}

/* The value of element `at` of a thread's registers. */
static const axe_node *
value_at(staging *x, const axe_node *n, const axe_node *at)
{
    const axe_node *arg[3];

    if (n->op == AXE_OP_load)
        return axe_simt_element(x->sl, axe_simt_tensor(x->sl, n->u.tensor), at);
    if (n->n_arg == 0 || n->n_arg > AXE_LEN(arg))
        return n;
    for (int i = 0; i < n->n_arg; i++)
        arg[i] = value_at(x, n->arg[i], at);
    return axe_node_new(x->sl->lw.cx, n->op, n->type, n->at, n->n_arg, arg);
}

static void
compute_part(staging *x, axe_lblock *b)
{
    const axe_node *from = times(x, x->part, x->st->step),
                   *to = number(x->sl, 0);
    int64_t left = x->st->regs;

    for (int i = 0; i < x->st->n_digit; i++) {
        const axe_iter *d = &x->st->digit[i];
        const axe_node *v = axe_simt_unrolled(x->sl, &b, "e", d->extent);
        left /= d->extent;
        from = axe_sum(&x->sl->lw, from, times(x, v, d->stride));
        to = axe_sum(&x->sl->lw, to, times(x, v, left));
    }
    axe_simt_calc(x->sl, b, x->array, to, value_at(x, x->s->stmt->value, from),
                  NULL);
}

/* Where the part's room begins: the rooms of one entity follow each other. */
static const axe_node *
room_at(staging *x)
{
    const axe_node *n =
        op2(x->sl, AXE_OP_mod, x->part, number(x->sl, x->st->n_room));

    n = axe_sum(&x->sl->lw, n,
                times(x, axe_simt_number_of(x->sl, x->threads), x->st->n_room));
    return times(x, n, x->st->room);
}

static const axe_node *
count_of(staging *x, axe_counter of, const axe_node *iteration)
{
    axe_iter own[2];
    int      n = axe_threads_axes(x->sl->sp, x->threads, own);

    if (of == AXE_COUNT_INVOCATION)
        return iteration;
    if (of == AXE_COUNT_LANE)
        return axe_simt_id(x->sl, AXE_ID_LANE);
    return n > 1 ? axe_simt_coordinate(x->sl, x->threads, own[0].axis)
                 : number(x->sl, 0);
}

static void
store_part(staging *x, axe_lblock *b, const axe_node *room)
{
    const axe_reg_move *m = &x->st->store;
    const axe_node     *iteration =
        axe_simt_unrolled(x->sl, &b, "s", m->n_invocation);
    const axe_node *at = room;

    for (int i = 0; i < m->n_step; i++) {
        const axe_step *s = &m->step[i];
        const axe_node *v = count_of(x, s->of, iteration);
        if (s->over > 1)
            v = op2(x->sl, AXE_OP_div, v, number(x->sl, s->over));
        v = op2(x->sl, AXE_OP_mod, v, number(x->sl, s->extent));
        at = axe_sum(&x->sl->lw, at, times(x, v, s->stride));
    }
    axe_arg arg[2] = {axe_simt_shared(x->room, at),
                      axe_simt_reg(x->array, times(x, iteration, m->regs))};
    axe_simt_atom(x->sl, b, m->atom, m->param, 2, arg, NULL);
}

static void
send_part(staging *x, axe_lblock *b, const axe_node *room,
          const axe_node *first)
{
    const struct axe_simt_stage *st = x->st;
    const axe_node             **coord =
        axe_new_array(x->sl->lw.cx, const axe_node *, st->map.rank);

    for (int i = 0; i < st->map.rank; i++) {
        coord[i] = axe_simt_scalars(x->sl, st->origin[st->map.dim[i]]);
        if (st->map.dim[i] == st->part_dim)
            coord[i] =
                axe_sum(&x->sl->lw, coord[i], times(x, x->part, st->part));
    }
    axe_arg arg[2] = {{.space = AXE_ARG_MAP,
                       .tensor = st->global,
                       .map = axe_simt_map_of(x->sl, st->global, st->global,
                                              &st->map, true, st->when),
                       .n_at = st->map.rank,
                       .coord = coord},
                      axe_simt_shared(x->room, room)};
    axe_simt_atom(x->sl, b, st->move, st->map.rank, 2, arg, first);
}

static const axe_node *
first_thread(staging *x)
{
    return op2(x->sl, AXE_OP_eq, axe_simt_thread(x->sl, x->threads),
               number(x->sl, 0));
}

/* If the number of parts is not a multiple of the number of rooms, the room
 * that is written first may still hold the last part of the statement's
 * previous execution: wait until the engine has read it. */
static axe_status
await_last(staging *x, axe_lblock *b)
{
    if (x->st->n_part % x->st->n_room == 0)
        return AXE_OK;
    return axe_simt_order_group(x->sl, b, AXE_SYNC_READ, x->st->group,
                                AXE_ARG_NONE, 0, first_thread(x));
}

static axe_status
lower_part(staging *x, axe_lblock *b)
{
    axe_simt_lowering *sl = x->sl;
    const char        *group = x->st->group;
    const axe_node    *room = room_at(x), *first = first_thread(x);

    AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_READ, group, AXE_ARG_NONE,
                                 x->st->n_room - 1, first));
    AXE_TRY(axe_simt_barrier(sl, b, x->threads));
    compute_part(x, b);
    store_part(x, b, room);
    AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_FENCE, group, AXE_ARG_SHARED,
                                 0, NULL));
    AXE_TRY(axe_simt_barrier(sl, b, x->threads));
    send_part(x, b, room, first);
    return axe_simt_order_group(sl, b, AXE_SYNC_COMMIT, group, AXE_ARG_NONE, 0,
                                first);
}

static const axe_tensor *
make_room(staging *x)
{
    const struct axe_simt_stage *st = x->st;

    return axe_simt_buffer(x->sl, "staging", st->global->type,
                           st->room * st->n_room *
                               axe_threads_copies(x->threads),
                           st->offset, st->swizzle);
}

axe_status
axe_simt_lower_stage_out(axe_simt_lowering *sl, axe_lblock *b,
                         const axe_schedule *s)
{
    staging  x = {.sl = sl,
                  .s = s,
                  .st = s->simt->copy->stage,
                  .threads = s->simt->threads};
    axe_lir *l;

    if (!x.st->fits)
        return axe_simt_lower_map(sl, b, s);
    if (x.st->when) {
        l = axe_emit(&sl->lw, b, AXE_LIR_IF);
        l->value = x.st->when;
        sl->never = x.st->when;
        AXE_TRY(axe_simt_lower_map(sl, &l->other, s));
        sl->never = NULL;
        b = &l->body;
    }
    x.room = make_room(&x);
    x.array = axe_simt_array(sl, "part", x.st->global->type, x.st->regs);
    AXE_TRY(await_last(&x, b));
    x.part = axe_simt_unrolled(sl, &b, "part", x.st->n_part);
    return lower_part(&x, b);
}
