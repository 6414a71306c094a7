/* queue_record.h - a memory that has queues: what hosts ask of it is written
 * down, and then done, by all ranks' queues, in an order that is chosen.  With
 * a change, one of what was asked for is left out, or says another number. */
#ifndef QUEUE_RECORD_H
#define QUEUE_RECORD_H

#include "protocol_lists.h"

#include "base/ctx.h"
#include "engine/pieces.h"
#include "engine/pieces_int.h"

enum {
    RANKS = 8,
    TURNS = 3,
    MOST_OPS = 8192,
    MOST_FROM = 16,
    RANDOM = 6,  /* orders */
    BEFORE = 77, /* what ranks have said before there are pieces */
    POISON = -1000000
};

typedef enum kind {
    K_BOX,
    K_SUM,
    K_ZERO,
    K_SAY,
    K_HEAR,
    K_JOIN,
    K_MAKE, /* elements of the source */
    K_USE,  /* of the result, of this turn */
    K_OLD,  /* of the one before */
    N_KIND
} kind;

typedef struct op {
    kind         kind;
    int64_t      rank;
    engine_queue queue;
    bool         done;
    int          after; /* of the other queue; -1: nothing */
    engine_box   box;
    engine_sum   sum;
    const void  *addend[MOST_FROM];
    void        *to;
    size_t       bytes;
    int64_t      peer, from, end;
    uint32_t     count;
} op;

typedef struct world world;

typedef struct one {
    engine_memory  m; /* the first */
    world         *w;
    axe_engine     e;
    engine_queue   queue;
    int64_t        used;
    engine_pieces *x;
    int64_t       *src, *dst;
    int64_t       *want, *had; /* of dst, in this turn and the one before */
} one;

/* What is changed: the n-th of a kind is left out, or what it says or waits for
 * is one more. */
typedef struct change {
    kind kind;
    int  n, by;
    bool drop;
} change;

/* Which queue is done last, or first; -1: at random. */
typedef struct order {
    int      late, early;
    bool     serial; /* a rank's two are one */
    uint64_t seed;
} order;

struct world {
    axe_ctx       *cx, *own; /* of ranks; of what is written down */
    const program *g[RANKS];
    int64_t        size, grain[RANKS], stride;
    int64_t        pieces[RANKS][2];
    char          *memory;
    one            rank[RANKS];
    uint32_t       word[RANKS][RANKS];
    op             op[MOST_OPS];
    int            n_op, turn, seen[N_KIND];
    bool           giving, wrong;
    bool           rehearses;
    const char    *failed; /* what all ranks were told */
    int            stopped, n_rehearsal;
    change         change;
    uint64_t       random;
};

static world w;

static uint64_t
some(uint64_t n)
{
    w.random = w.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (w.random >> 33) % n;
}

static int64_t
value(int64_t rank, int64_t at, int turn)
{
    return 1000 * (rank + 1) + at * at + 100000 * turn;
}

/* ------------------------------------------------------- what is written down
 */

static op *
note(const engine_memory *m, kind k)
{
    static op  nowhere;
    const one *x = (const one *)m;
    op        *o = &w.op[w.n_op];
    int        number;

    if (w.rehearses)
        return &nowhere;
    number = w.seen[k]++;
    assert_true(w.n_op < MOST_OPS);
    *o = (op){.kind = k, .rank = x->e.rank, .queue = x->queue, .after = -1};
    if (w.change.kind == k && w.change.n == number && w.change.drop)
        return &nowhere;
    if (w.change.kind == k && w.change.n == number)
        o->count = (uint32_t)w.change.by;
    w.n_op++;
    return o;
}

static axe_status
alloc(engine_memory *m, int64_t bytes, void **out)
{
    one *x = (one *)m;

    *out = w.memory + x->e.rank * w.stride + x->used;
    x->used += (bytes + 63) / 64 * 64;
    assert_true(x->used <= w.stride);
    return AXE_OK;
}

static void *
peer(const engine_memory *m, const void *p, int64_t rank)
{
    return (char *)(uintptr_t)p + (rank - ((const one *)m)->e.rank) * w.stride;
}

static axe_status
zero(engine_memory *m, void *to, size_t bytes)
{
    op *o = note(m, K_ZERO);

    o->to = to;
    o->bytes = bytes;
    return AXE_OK;
}

static axe_status
box(engine_memory *m, const engine_box *b)
{
    op          *o = note(m, K_BOX);
    program_box *own = axe_new(w.own, program_box);

    *own = *b->box;
    o->box = *b;
    o->box.box = own;
    return AXE_OK;
}

static axe_status
sum(engine_memory *m, const engine_sum *s)
{
    op *o = note(m, K_SUM);

    assert_true(s->n_from <= MOST_FROM);
    o->sum = *s;
    memcpy(o->addend, s->from, (size_t)s->n_from * sizeof s->from[0]);
    return AXE_OK;
}

static void
rehearse(engine_memory *m, bool on)
{
    assert_int_not_equal(w.rehearses, on);
    assert_int_equal(((one *)m)->queue, ENGINE_COMPUTES);
    w.rehearses = on;
    w.n_rehearsal += on;
}

static void
use(engine_memory *m, engine_queue q)
{
    ((one *)m)->queue = q;
}

static axe_status
join(engine_memory *m)
{
    int last = w.n_op - 1;
    op *o;

    while (last >= 0 && (w.op[last].rank != ((one *)m)->e.rank ||
                         w.op[last].queue == ((one *)m)->queue))
        last--;
    o = note(m, K_JOIN);
    o->after = last;
    return AXE_OK;
}

static axe_status
say(engine_memory *m, int64_t to, uint32_t count)
{
    op *o = note(m, K_SAY);

    o->peer = to;
    o->count += count;
    return AXE_OK;
}

static axe_status
hear(engine_memory *m, int64_t from, uint32_t count)
{
    op *o = note(m, K_HEAR);

    o->peer = from;
    o->count += count;
    return AXE_OK;
}

static axe_status
finish(engine_memory *m)
{
    assert_int_equal(((one *)m)->queue, ENGINE_COMPUTES);
    assert_false(w.rehearses);
    return AXE_OK;
}

static const engine_memory_ops memory_ops = {
    .alloc = alloc, .peer = peer, .zero = zero, .box = box, .sum = sum};

static void
stop(engine_memory *m)
{
    (void)m;
    w.stopped++;
    w.wrong = w.wrong || !w.failed;
}

static const engine_queues queues = {.rehearse = rehearse,
                                     .use = use,
                                     .join = join,
                                     .say = say,
                                     .hear = hear,
                                     .finish = finish,
                                     .stop = stop};

static void
compute(int64_t rank, kind k, int64_t from, int64_t end)
{
    op *o = note(&w.rank[rank].m, k);

    assert_int_equal(w.rank[rank].queue, ENGINE_COMPUTES);
    o->from = from;
    o->end = end;
}

/* ------------------------------------------------------------ what is done */

static void
compare(const one *x, const int64_t *want, int64_t from, int64_t end)
{
    for (int64_t i = from; i < end; i++)
        w.wrong = w.wrong || x->dst[i] != want[i];
}

static void
do_sum(const op *o)
{
    int64_t *to = o->sum.to;

    for (int64_t i = 0; i < o->sum.n; i++) {
        int64_t all = 0;

        for (int k = 0; k < o->sum.n_from; k++)
            all += ((const int64_t *)o->addend[k])[i];
        to[i] = all;
    }
}

static void
do_box(const engine_box *b)
{
    engine_walk walk = {.box = b->box,
                        .width = sizeof(int64_t),
                        .adds = b->adds,
                        .type = AXE_NUMBER_I64,
                        .dst = b->to,
                        .src = b->from};

    engine_walk_box(&walk);
}

static void
do_op(op *o)
{
    const one *x = &w.rank[o->rank];

    o->done = true;
    switch (o->kind) {
    case K_BOX:
        do_box(&o->box);
        break;
    case K_SUM:
        do_sum(o);
        break;
    case K_ZERO:
        memset(o->to, 0, o->bytes);
        break;
    case K_SAY:
        w.word[o->peer][o->rank] = o->count;
        break;
    case K_MAKE:
        for (int64_t i = o->from; i < o->end; i++)
            x->src[i] = value(o->rank, i, w.turn);
        break;
    case K_USE:
        compare(x, x->want, o->from, o->end);
        break;
    case K_OLD:
        compare(x, x->had, o->from, o->end);
        break;
    default:
        break;
    }
}

static bool
may(const op *o)
{
    if (o->kind == K_HEAR)
        return (int32_t)(w.word[o->rank][o->peer] - o->count) >= 0;
    return o->after < 0 || w.op[o->after].done;
}

/* The first of a queue that is not done; of all of a rank's, where those are
 * one.  NULL: it may not be done, or there is none. */
static op *
next_of(const order *how, int64_t rank, int queue)
{
    for (int i = 0; i < w.n_op; i++) {
        op *o = &w.op[i];

        if (o->rank != rank || o->done ||
            (!how->serial && (int)o->queue != queue))
            continue;
        return may(o) ? o : NULL;
    }
    return NULL;
}

static op *
choose(const order *how)
{
    int n = (int)w.size * 2, first = (int)some((uint64_t)n);
    op *late = NULL;

    if (how->early >= 0) {
        op *o = next_of(how, how->early / 2, how->early % 2);

        if (o)
            return o;
    }
    for (int i = 0; i < n; i++) {
        int q = (first + i) % n;
        op *o = next_of(how, q / 2, q % 2);

        if (o && q != how->late)
            return o;
        late = o ? o : late;
    }
    return late;
}

static bool
all_done(void)
{
    for (int i = 0; i < w.n_op; i++)
        if (!w.op[i].done)
            return false;
    return true;
}

/* False: nothing goes on. */
static bool
do_all(const order *how)
{
    for (op *o = choose(how); o; o = choose(how))
        do_op(o);
    return all_done();
}

#endif
