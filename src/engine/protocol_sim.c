/* protocol_sim.c - the lists of all ranks, run in one process.
 *
 * A rank's clock counts its posts, and what it knows of others' is a vector:
 * who waits for a post takes what the rank knew then.  Each element of a buffer
 * has the epoch of its last write, which is its owner's, and of each rank's
 * last read.  So whether something is ordered does not hang on what came first.
 *
 * Beside data, elements have tags: a number for each index and addend of the
 * tensor, summed where data is.  At the end the tags are compared with what the
 * plan's layouts say a device holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "engine/protocol_int.h"

typedef protocol_world world;
typedef protocol_rank  rank;
typedef protocol_cell  cell;

/* Of what is known of all elements. */
#define MOST_BYTES ((int64_t)4 << 30)

/* ---------------------------------------------------------------- findings */

void
protocol_find(axe_ctx *cx, axe_sim_report *out, axe_sim_kind kind, axe_span at,
              const char *text)
{
    for (int i = 0; i < out->n_finding; i++)
        if (out->finding[i].kind == kind &&
            strcmp(out->finding[i].text, text) == 0) {
            out->finding[i].n++;
            return;
        }
    if (out->n_finding == AXE_SIM_MAX)
        return;
    if (!out->finding)
        out->finding = axe_new_array(cx, axe_sim_finding, AXE_SIM_MAX);
    out->finding[out->n_finding++] =
        (axe_sim_finding){.kind = kind, .at = at, .text = text, .n = 1};
}

static const char *
step_name(const world *w, const protocol_step *s)
{
    const axe_reshard_plan *p = w->r->plan;

    if (s->phase < 0)
        return "before its first step";
    if (s->phase >= w->rank[0].p->n_phase || s->step >= p->n_step)
        return "at its end";
    return axe_textf(w->cx, "in step %d, %s, phase %d", s->step + 1,
                     axe_collective_text(p->step[s->step].kind), s->phase + 1);
}

/* One finding for a device, a step and a kind, whatever the element. */
static void
find(world *w, axe_sim_kind kind, const rank *me, const protocol_step *s,
     const char *what)
{
    uint64_t *seen = &me->seen[s - me->p->step], bit = (uint64_t)1 << kind;

    if (*seen & bit)
        return;
    *seen |= bit;
    protocol_find(w->cx, w->out, kind, w->r->at,
                  axe_textf(w->cx, "device %" PRId64 " %s of %s: %s, %s",
                            me->p->rank, step_name(w, s), w->r->what,
                            protocol_step_text(w->cx, s), what));
}

/* ---------------------------------------------------------------- elements */

static uint64_t
mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

bool
protocol_tag_of(const world *w, bool behind, int64_t device, int64_t index,
                int64_t n_addend, uint64_t *tag)
{
    bool any = false;

    *tag = 0;
    for (int64_t a = 0; a < n_addend; a++)
        if (axe_reshard_has(w->r->plan, behind, device, index, a)) {
            *tag += mix((uint64_t)(index * n_addend + a));
            any = true;
        }
    return any;
}

bool
protocol_is_needed(const world *w, int64_t index)
{
    return !w->r->bound || program_is_below(w->r->plan, w->r->bound, index);
}

/* Elements of the tensor. */
static int64_t
count(const axe_reshard_plan *p)
{
    int64_t n = 1;

    for (int d = 0; d < p->code->p->n_dim; d++)
        if (!p->code->p->dim[d].addend)
            n *= p->code->p->dim[d].n;
    return n;
}

static bool
knows(const rank *me, int64_t of, uint32_t epoch)
{
    return me->clock[of] >= epoch;
}

static uint32_t
now(const rank *me)
{
    return me->clock[me->p->rank];
}

/* A write to an own element: all that read it are known to have done so. */
static void
check_write(world *w, rank *me, const protocol_step *s, const cell *c)
{
    for (int64_t q = 0; q < w->n; q++)
        if (q != me->p->rank && !knows(me, q, c->read[q]))
            find(w, s->kind == PROTOCOL_LEAVE ? AXE_SIM_LEFT : AXE_SIM_BUSY, me,
                 s, "while another device may still read what it overwrites");
}

static void
write_cell(world *w, rank *me, const protocol_step *s, cell *c, uint64_t tag)
{
    check_write(w, me, s, c);
    memset(c->read, 0, (size_t)w->n * sizeof c->read[0]);
    c->wrote = now(me);
    c->tag = tag;
}

static void
check_read(world *w, rank *me, const protocol_step *s, const rank *of, cell *c)
{
    if (of->gone)
        find(w, AXE_SIM_LEFT, me, s, "which is gone");
    else if (c->wrote == 0)
        find(w, AXE_SIM_ARRIVAL, me, s, "where nothing is yet");
    else if (of != me && !knows(me, of->p->rank, c->wrote))
        find(w, AXE_SIM_ARRIVAL, me, s,
             "which it has not been told to be there");
    c->read[me->p->rank] = now(me);
}

/* ------------------------------------------------------------------- boxes */

static void
add_data(const world *w, char *to, const char *from, int64_t n)
{
    engine_add(w->r->type, to, from, n);
}

static bool
in_room(const world *w, int64_t at, int64_t n)
{
    return at >= 0 && n >= 0 && at <= w->room - n;
}

static void
pull_run(world *w, rank *me, const protocol_step *s, int64_t src, int64_t dst,
         int64_t n)
{
    rank *of = &w->rank[s->peer];

    if (!in_room(w, src, n) || !in_room(w, dst, n)) {
        find(w, AXE_SIM_BOUNDS, me, s, "beyond the end of a buffer");
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        cell *a = &of->cell[s->from][src + i];
        cell *b = &me->cell[s->to][dst + i];

        check_read(w, me, s, of, a);
        if (s->add && b->wrote == 0)
            find(w, AXE_SIM_UNINIT, me, s, "to what is not there");
        write_cell(w, me, s, b, a->tag + (s->add ? b->tag : 0));
    }
    if (s->peer != me->p->rank && s->step < w->r->plan->n_step)
        me->got[s->step * w->n + s->peer] += n;
    if (!me->data[0])
        return;
    char       *to = me->data[s->to] + (size_t)dst * w->width;
    const char *from = of->data[s->from] + (size_t)src * w->width;

    if (s->add)
        add_data(w, to, from, n);
    else
        memmove(to, from, (size_t)n * w->width);
}

static void
pull_box(world *w, rank *me, const protocol_step *s, int d, int64_t src,
         int64_t dst)
{
    const program_box *b = &s->box;

    if (b->n_dim == 0) {
        pull_run(w, me, s, 0, 0, b->n);
        return;
    }
    for (int i = 0; i < b->n_run[d]; i++) {
        const program_run *r = &b->run[d][i];

        if (d + 1 == b->n_dim) {
            pull_run(w, me, s, src + r->src, dst + r->dst, r->n);
            continue;
        }
        for (int64_t k = 0; k < r->n; k++)
            pull_box(w, me, s, d + 1, src + (r->src + k) * b->src_pitch[d],
                     dst + (r->dst + k) * b->dst_pitch[d]);
    }
}

/* ------------------------------------------------------------------- steps */

static void
put(world *w, rank *me, const protocol_step *s)
{
    int64_t n_addend = axe_reshard_addends(w->r->plan), k = 0;
    size_t  at = (size_t)s->first * w->width;

    for (int64_t i = 0; i < w->n_element && k < s->first + s->n; i++) {
        uint64_t tag;

        if (protocol_tag_of(w, false, me->p->rank, i, n_addend, &tag) &&
            k++ >= s->first)
            write_cell(w, me, s, &me->cell[0][k - 1], tag);
    }
    if (me->data[0] && s->n > 0)
        memcpy(me->data[0] + at, (const char *)w->r->src[me->p->rank] + at,
               (size_t)s->n * w->width);
}

/* Elements of the result are what the layout says, all or a piece. */
static void
check_result(world *w, rank *me, const protocol_step *s)
{
    int64_t n_addend = axe_reshard_addends(w->r->plan), k = 0, wrong = 0;
    int64_t first = -1;

    for (int64_t x = 0; x < w->n_element && k < s->first + s->n; x++) {
        int64_t  i = mesh_in_order(w->r->plan->code->p,
                                   mesh_windows(w->r->plan, me->p->rank), x);
        uint64_t tag;

        if (!protocol_tag_of(w, true, me->p->rank, i, n_addend, &tag) ||
            k++ < s->first)
            continue;
        cell *c = &me->cell[s->from][k - 1];

        if ((c->wrote != 0 && c->tag == tag) || !protocol_is_needed(w, i))
            continue;
        wrong++;
        first = first < 0 ? i : first;
    }
    if (wrong > 0)
        find(w, AXE_SIM_CONTENT, me, s,
             axe_textf(w->cx,
                       "%" PRId64 " elements are not what the layout says, the "
                       "first being element %" PRId64 " of the tensor",
                       wrong, first));
}

static void
take(world *w, rank *me, const protocol_step *s)
{
    check_result(w, me, s);
    if (me->data[0] && s->n > 0)
        memcpy(w->r->dst[me->p->rank], me->data[s->from],
               (size_t)s->n * w->width);
}

static void
post(world *w, rank *me, const protocol_step *s)
{
    uint32_t most = me->p->n_post;

    if (s->count != me->posted + 1 + s->left)
        find(
            w, AXE_SIM_SIGNAL, me, s,
            axe_textf(w->cx, "and the one before it was %" PRIu32, me->posted));
    for (uint32_t k = me->posted + 1; k <= s->count && k <= most; k++)
        memcpy(me->said + (size_t)k * (size_t)w->n, me->clock,
               (size_t)w->n * sizeof me->clock[0]);
    me->posted = s->count > me->posted ? s->count : me->posted;
    me->clock[me->p->rank]++;
}

static void
join(world *w, rank *me, const uint32_t *clock)
{
    for (int64_t q = 0; q < w->n; q++)
        if (q != me->p->rank && clock[q] > me->clock[q])
            me->clock[q] = clock[q];
}

/* Can this rank go on? */
static bool
is_ready(const world *w, const rank *me)
{
    const protocol_step *s = &me->p->step[me->at];

    if (me->at == me->p->n_step)
        return false;
    if (s->kind == PROTOCOL_WAIT)
        return s->peer < 0 || s->peer >= w->n ||
               w->rank[s->peer].posted >= s->count;
    return s->kind != PROTOCOL_MEET || !me->met;
}

/* The last to come tells all what all knew. */
static void
meet(world *w, rank *me)
{
    me->met = true;
    if (++w->meeting < w->n)
        return;
    w->meeting = 0;
    if (w->r->times)
        protocol_time_meet(w);
    for (int64_t q = 0; q < w->n; q++)
        for (int64_t r = 0; r < w->n; r++)
            join(w, &w->rank[q], w->rank[r].clock);
    for (int64_t q = 0; q < w->n; q++) {
        w->rank[q].met = false;
        w->rank[q].at++;
        w->rank[q].clock[q]++;
    }
}

static void
leave(world *w, rank *me, const protocol_step *s)
{
    for (int b = 0; b < 2; b++)
        for (int64_t i = 0; i < w->room; i++)
            check_write(w, me, s, &me->cell[b][i]);
    me->gone = true;
}

static void
zero(world *w, rank *me, const protocol_step *s)
{
    for (int64_t i = 0; i < s->n; i++)
        write_cell(w, me, s, &me->cell[s->to][i], 0);
    if (me->data[0])
        memset(me->data[s->to], 0, (size_t)s->n * w->width);
}

static bool
is_rank(world *w, rank *me, const protocol_step *s)
{
    if (s->peer >= 0 && s->peer < w->n)
        return true;
    find(w, AXE_SIM_BOUNDS, me, s, "which is none of the mesh");
    return false;
}

static void
perform(world *w, rank *me)
{
    const protocol_step *s = &me->p->step[me->at];

    if (w->r->times)
        protocol_time_step(w, me);
    switch (s->kind) {
    case PROTOCOL_PUT:
    case PROTOCOL_MAKE:
        put(w, me, s);
        break;
    case PROTOCOL_USE:
        check_result(w, me, s);
        break;
    case PROTOCOL_POST:
        post(w, me, s);
        break;
    case PROTOCOL_WAIT:
        if (is_rank(w, me, s) && s->count > 0 && s->count <= me->p->n_post)
            join(w, me,
                 w->rank[s->peer].said + (size_t)s->count * (size_t)w->n);
        break;
    case PROTOCOL_ZERO:
        zero(w, me, s);
        break;
    case PROTOCOL_PULL:
        if (is_rank(w, me, s) && s->box.n > 0)
            pull_box(w, me, s, 0, 0, 0);
        break;
    case PROTOCOL_TAKE:
        take(w, me, s);
        break;
    case PROTOCOL_MEET:
        meet(w, me);
        return; /* it goes on when all have come */
    default:
        leave(w, me, s);
        break;
    }
    me->at++;
}

/* ------------------------------------------------------------------- order */

/* The next rank that goes on; -1: nobody can. */
static int64_t
choose(world *w)
{
    int64_t from = w->turn++;
    int64_t last = w->r->who;

    if (w->r->order == PROTOCOL_AHEAD && is_ready(w, &w->rank[last]))
        return last;
    if (w->r->order == PROTOCOL_CHANCE)
        from = (int64_t)(mix(w->random++) % (uint64_t)w->n);
    for (int64_t i = 0; i < w->n; i++) {
        int64_t q = (from + i) % w->n;

        if (is_ready(w, &w->rank[q]) &&
            (w->r->order != PROTOCOL_BEHIND || q != last))
            return q;
    }
    return w->r->order == PROTOCOL_BEHIND && is_ready(w, &w->rank[last]) ? last
                                                                         : -1;
}

static void
find_stuck(world *w)
{
    for (int64_t q = 0; q < w->n; q++) {
        rank                *me = &w->rank[q];
        const protocol_step *s = &me->p->step[me->at];

        if (me->at == me->p->n_step)
            continue;
        if (s->kind == PROTOCOL_WAIT)
            find(w, AXE_SIM_DEADLOCK, me, s,
                 axe_textf(w->cx, "which does not go beyond post %" PRIu32,
                           w->rank[s->peer].posted));
        else
            find(w, AXE_SIM_DEADLOCK, me, s, "to which not all ranks come");
    }
}

/* ------------------------------------------------------------------- whole */

static void
make_rank(world *w, int64_t q)
{
    axe_ctx        *cx = w->cx;
    rank           *me = &w->rank[q];
    const protocol *p = &w->r->rank[q];

    *me = (rank){.p = p,
                 .clock = axe_new_array(cx, uint32_t, w->n),
                 .said = axe_new_array(cx, uint32_t, (p->n_post + 1) * w->n),
                 .said_at = axe_new_array(cx, double, p->n_post + 1),
                 .seen = axe_new_array(cx, uint64_t, p->n_step + 1),
                 .got =
                     axe_new_array(cx, int64_t, w->r->plan->n_step * w->n + 1)};
    me->clock[q] = 1;
    for (int b = 0; b < 2; b++) {
        uint32_t *read = axe_new_array(cx, uint32_t, w->room * w->n + 1);

        me->cell[b] = axe_new_array(cx, cell, w->room + 1);
        for (int64_t i = 0; i < w->room; i++)
            me->cell[b][i].read = read + i * w->n;
        if (w->r->src)
            me->data[b] = axe_alloc(cx, (size_t)(w->room + 1) * w->width);
        if (w->r->src && w->r->bound) /* what does not come is no number */
            memset(me->data[b], 0xff, (size_t)(w->room + 1) * w->width);
    }
}

/* Each element of each buffer knows of each rank. */
static axe_status
check_cells(const world *w)
{
    int64_t bytes = w->n * (int64_t)sizeof(uint32_t) + (int64_t)sizeof(cell);
    int64_t all = 2 * w->room * w->n * bytes;

    if (all <= MOST_BYTES)
        return AXE_OK;
    return axe_fail(w->cx, w->r->at, AXE_ELIMIT,
                    "%s: %" PRId64 " devices of %" PRId64
                    " elements would take the simulator %" PRId64
                    " bytes, and it takes %" PRId64
                    ": a smaller tensor shows the same protocol",
                    w->r->what, w->n, w->room, all, (int64_t)MOST_BYTES);
}

axe_status
protocol_check_room(axe_ctx *cx, axe_span at, const char *what, int64_t room)
{
    if (room <= (int64_t)1 << 24)
        return AXE_OK;
    return axe_fail(cx, at, AXE_ELIMIT,
                    "%s: a device has %" PRId64
                    " elements, and the simulator takes 2^24: a smaller "
                    "tensor shows the same protocol",
                    what, room);
}

axe_status
protocol_simulate(axe_ctx *cx, const protocol_run *r, axe_sim_report *out)
{
    world w = {.cx = cx,
               .r = r,
               .out = out,
               .n = r->plan->mesh->n_device,
               .n_element = count(r->plan),
               .random = mix(r->seed),
               .width = (size_t)axe_number_bytes(r->type)};

    if (w.n > PROTOCOL_RANKS)
        return axe_fail(cx, r->at, AXE_ELIMIT,
                        "the simulator has %d devices at most", PROTOCOL_RANKS);
    w.room = r->rank[0].room;
    AXE_TRY(protocol_check_room(cx, r->at, r->what, w.room));
    AXE_TRY(check_cells(&w));
    w.rank = axe_new_array(cx, rank, w.n);
    for (int64_t q = 0; q < w.n; q++)
        make_rank(&w, q);
    for (int64_t q = 0; r->times && q < w.n; q++)
        protocol_time_begin(&w, &w.rank[q]);
    for (int64_t q; (q = choose(&w)) >= 0;)
        perform(&w, &w.rank[q]);
    find_stuck(&w);
    protocol_check_traffic(&w);
    if (r->traffic)
        protocol_add_traffic(&w);
    return AXE_OK;
}
