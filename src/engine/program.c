/* program.c - what one rank does to carry a plan out.
 *
 * What a device holds in a state is a product over the tensor's dimensions of
 * sets of indices, and its buffer has it densely.  So what one device gives
 * another is a product of intersections, and where it is in either buffer comes
 * from counting.  All-reduce and broadcast go in two phases, by parts of the
 * buffer, as their counts in the plan say. */
#include "engine/program.h"

#include <string.h>

#include "base/ctx.h"

enum { SHORT = 2048 /* [elements] where messages cost more than elements */ };
enum { MOST_RUNS = 1 << 20, MOST_PHASES = 2 * MESH_STEPS };

/* Indices [from, to) of a dimension that are wanted. */
typedef struct span {
    int64_t from, to;
} span;

typedef struct spans {
    axe_ctx *cx;
    int      n, room;
    span    *at;
} spans;

typedef struct builder {
    axe_ctx                 *cx;
    const axe_reshard_plan  *plan;
    mesh_problem            *p;
    const axe_reshard_bound *bound; /* or NULL */
    program                 *out;
    program_phase            phase[MOST_PHASES];
    int64_t                  me[MESH_ATOMS];
} builder;

/* ------------------------------------------------------------------- indices
 */

static axe_status
add_span(spans *s, int64_t from, int64_t to)
{
    if (from >= to)
        return AXE_OK;
    if (s->n > 0 && s->at[s->n - 1].to == from) {
        s->at[s->n - 1].to = to;
        return AXE_OK;
    }
    if (s->n == MOST_RUNS)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: a device's part of a dimension is over %d "
                        "runs",
                        MOST_RUNS);
    if (s->n == s->room) {
        int   room = s->room ? 2 * s->room : 8;
        span *at = axe_new_array(s->cx, span, room);

        if (s->n)
            memcpy(at, s->at, (size_t)s->n * sizeof *at);
        s->at = at;
        s->room = room;
    }
    s->at[s->n++] = (span){from, to};
    return AXE_OK;
}

/* Is every index of this block, and of those below it, wanted? */
static bool
is_free(const mesh_problem *p, const mesh_dim *d, int k, const mesh_want *w)
{
    for (; k < d->block + d->n_block; k++)
        for (int i = 0; i < p->block[k].n_place; i++)
            if (w->at[p->block[k].place[i]] >= 0)
                return false;
    return true;
}

/* Wanted indices whose digits above block k are those of `begin`. */
static axe_status
walk(spans *s, const mesh_problem *p, const mesh_dim *d, int k, int64_t begin,
     const mesh_want *w)
{
    const mesh_block *b = &p->block[k];
    int64_t           from = 0, to;

    if (k == d->block + d->n_block)
        return add_span(s, begin, begin < d->n ? begin + 1 : begin);
    for (; mesh_next_run(p, b, b->extent, w, &from, &to); from = to) {
        int64_t at = begin + from * b->step, end = begin + to * b->step;

        if (at >= d->n)
            break;
        if (is_free(p, d, k + 1, w)) {
            AXE_TRY(add_span(s, at, end < d->n ? end : d->n));
            continue;
        }
        for (int64_t u = from; u < to; u++)
            AXE_TRY(walk(s, p, d, k + 1, begin + u * b->step, w));
    }
    return AXE_OK;
}

/* What of it is in [from, to), where all indices are more by `more`. */
static axe_status
clip(const spans *s, int64_t from, int64_t to, int64_t more, spans *out)
{
    for (int i = 0; i < s->n; i++) {
        span x = {s->at[i].from + more, s->at[i].to + more};

        AXE_TRY(add_span(out, x.from > from ? x.from : from,
                         x.to < to ? x.to : to));
    }
    return AXE_OK;
}

/* What of it is within a window, from where that begins to beyond the
 * dimension's n. */
static axe_status
within(const builder *b, const axe_window *w, int64_t n, spans *s)
{
    spans out = {.cx = b->cx};

    AXE_TRY(clip(s, w->from, w->to, 0, &out));
    if (w->to > n)
        AXE_TRY(clip(s, n, w->to, n, &out));
    *s = out;
    return AXE_OK;
}

/* What a device holds of dimension d in a state; window: NULL, or its window of
 * each dimension. */
static axe_status
spans_of(const builder *b, const mesh_state *s, const int64_t *at, int d,
         const axe_window *window, spans *out)
{
    mesh_want w;

    *out = (spans){.cx = b->cx};
    mesh_want_any(b->p, &w);
    mesh_want_of(b->p, s, at, b->p->mesh->n_link, &w);
    AXE_TRY(walk(out, b->p, &b->p->dim[d], b->p->dim[d].block, 0, &w));
    if (window)
        AXE_TRY(within(b, &window[d], b->p->dim[d].n, out));
    return AXE_OK;
}

static int64_t
count(const spans *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n; i++)
        n += s->at[i].to - s->at[i].from;
    return n;
}

/* What both have, and where in the dimension of either buffer.  b may go on
 * beyond the dimension's n, where it has what is less by n: then all of a comes
 * once more. */
static int
intersect(axe_ctx *cx, const spans *a, const spans *b, int64_t extent,
          program_run **out)
{
    program_run *r = axe_new_array(cx, program_run, 2 * a->n + b->n + 1);
    int64_t      at_a = 0, at_b = 0;
    int          n = 0;

    for (int i = 0, k = 0; i < 2 * a->n && k < b->n;) {
        int64_t more = i < a->n ? 0 : extent;
        span    x = a->at[i % a->n], y = b->at[k];
        int64_t begin = x.from + more, end = x.to + more;
        int64_t from = begin > y.from ? begin : y.from;
        int64_t to = end < y.to ? end : y.to;

        if (from < to)
            r[n++] = (program_run){at_a + from - begin, at_b + from - y.from,
                                   to - from, from - more};
        if (end <= y.to) {
            at_a += x.to - x.from;
            i++;
            at_a = i == a->n ? 0 : at_a;
        }
        if (y.to <= end) {
            at_b += y.to - y.from;
            k++;
        }
    }
    *out = r;
    return n;
}

/* Dimensions that both buffers have whole become part of the next slower one.
 */
static void
fuse(program_box *x, int64_t *n_src, int64_t *n_dst)
{
    for (int d = x->n_dim - 1; d > 0; d--) {
        int64_t      n = n_src[d];
        program_run *r = x->run[d - 1];

        if (x->n_run[d] != 1 || n_dst[d] != n || x->run[d][0].n != n)
            return;
        for (int i = 0; i < x->n_run[d - 1]; i++)
            r[i] = (program_run){r[i].src * n, r[i].dst * n, r[i].n * n, 0};
        n_src[d - 1] *= n;
        n_dst[d - 1] *= n;
        x->src_pitch[d - 1] = x->dst_pitch[d - 1] = 1;
        x->n_dim--;
    }
}

program_box
program_close(const program_open *open)
{
    program_open o = *open;

    if (o.box.n > 0)
        fuse(&o.box, o.n_src, o.n_dst);
    return o.box;
}

/* What `to` has in state b because `from` had it in a; n is 0 for nothing. */
static axe_status
open_box(const builder *b, const mesh_state *s, const int64_t *from,
         const int64_t *to, program_open *o)
{
    program_box      *out = &o->box;
    const axe_window *window =
        mesh_windows(b->plan, mesh_device(b->p, to)); /* of one step */
    mesh_want w;
    int64_t   src = 1, dst = 1;

    *out = (program_box){.n = 0};
    if (!mesh_want_given(b->p, s, s + 1, from, to, &w))
        return AXE_OK;
    out->n = 1;
    for (int d = 0; d < b->p->n_dim; d++) {
        spans   x, y;
        int     k = out->n_dim;
        int64_t n = 0;

        if (b->p->dim[d].addend)
            continue;
        AXE_TRY(spans_of(b, s, from, d, NULL, &x));
        AXE_TRY(spans_of(b, s + 1, to, d, window, &y));
        o->n_src[k] = count(&x);
        o->n_dst[k] = count(&y);
        out->n_run[k] = intersect(b->cx, &x, &y, b->p->dim[d].n, &out->run[k]);
        for (int i = 0; i < out->n_run[k]; i++)
            n += out->run[k][i].n;
        out->n *= n;
        out->n_dim++;
    }
    for (int k = out->n_dim - 1; k >= 0; k--) {
        out->src_pitch[k] = src;
        out->dst_pitch[k] = dst;
        src *= o->n_src[k];
        dst *= o->n_dst[k];
    }
    return AXE_OK;
}

/* Elements [from, to) of both buffers. */
static program_box
part_box(axe_ctx *cx, int64_t from, int64_t to)
{
    program_run *r = axe_new(cx, program_run);

    *r = (program_run){from, from, to - from, 0};
    return (program_box){.n_dim = 1,
                         .n_run = {1},
                         .run = {r},
                         .src_pitch = {1},
                         .dst_pitch = {1},
                         .n = to - from};
}

/* -------------------------------------------------------------------- phases
 */

/* Elements of a device in state number i. */
static int64_t
held(const axe_reshard_plan *r, int i, int64_t device)
{
    mesh_problem     *p = r->code->p;
    const mesh_state *s = &r->code->state[i];
    const axe_window *window = i > 0 ? mesh_windows(r, device) : NULL;
    int64_t           at[MESH_ATOMS];
    mesh_want         w;

    mesh_coordinates(p, device, at);
    mesh_want_any(p, &w);
    mesh_want_of(p, s, at, p->mesh->n_link, &w);
    return window ? mesh_count_within(p, &w, window) : mesh_count(p, s, &w);
}

static program_phase *
add_phase(builder *b, int step)
{
    program_phase *f = &b->phase[b->out->n_phase];
    program_move  *pull = axe_new_array(b->cx, program_move, b->out->size);
    program_move  *give = axe_new_array(b->cx, program_move, b->out->size);

    *f = (program_phase){.step = step,
                         .to = (step + 1) % 2,
                         .fresh = b->out->n_phase == 0 || f[-1].step != step,
                         .pull = pull,
                         .give = give};
    b->out->n_phase++;
    return f;
}

static void
add_move(int *n, program_move *list, int64_t peer, int from, program_box box)
{
    if (box.n > 0)
        list[(*n)++] = (program_move){peer, from, box};
}

static void
mark_whole(program_phase *f, int64_t n)
{
    f->whole = true;
    for (int i = 0; i < f->n_pull; i++)
        f->whole = f->whole && f->pull[i].box.n == n;
}

static bool
sums(const builder *b, const mesh_state *s)
{
    for (int i = 0; i < b->p->n_atom; i++)
        if (mesh_is_addend(b->p, s, i) && !mesh_is_addend(b->p, s + 1, i))
            return true;
    return false;
}

/* What `to` gets of `from`, as moves with `peer`. */
static axe_status
add_moves(builder *b, int step, const int64_t *from, const int64_t *to,
          int64_t peer, int *n, program_move **list)
{
    const mesh_state *s = &b->plan->code->state[step];
    program_open      o;
    program_box      *box;
    program_move     *more;
    int               many;

    AXE_TRY(open_box(b, s, from, to, &o));
    if (!b->bound) {
        add_move(n, *list, peer, step % 2, program_close(&o));
        return AXE_OK;
    }
    AXE_TRY(program_below(b->cx, b->bound, &o, &many, &box));
    more = axe_new_array(b->cx, program_move, *n + many + b->out->size);
    memcpy(more, *list, (size_t)*n * sizeof *more);
    for (int i = 0; i < many; i++)
        add_move(n, more, peer, step % 2, box[i]);
    *list = more;
    return AXE_OK;
}

/* Each device asks one that has it. */
static axe_status
ask(builder *b, int step)
{
    const mesh_state *s = &b->plan->code->state[step];
    program_phase    *f = add_phase(b, step);
    int64_t           at[MESH_ATOMS];

    f->add = sums(b, s);
    f->once = b->plan->step[step].kind == AXE_COLLECTIVE_REDUCE_SCATTER;
    for (int64_t r = 0; r < b->out->size; r++) {
        mesh_coordinates(b->p, r, at);
        AXE_TRY(add_moves(b, step, at, b->me, r, &f->n_pull, &f->pull));
        if (r != b->out->rank)
            AXE_TRY(add_moves(b, step, b->me, at, r, &f->n_give, &f->give));
    }
    mark_whole(f, held(b->plan, step + 1, b->out->rank));
    return AXE_OK;
}

/* Ranks that differ from me only in atoms that change, ascending; my number
 * among them, and that of the one that has it, if one of them alone does. */
static int
group_of(const builder *b, int step, int64_t *member, int *mine, int *root)
{
    const mesh_state *s = &b->plan->code->state[step];
    int               n = 0;

    for (int64_t r = 0; r < b->out->size; r++) {
        int64_t at[MESH_ATOMS];
        bool    in = true, has = true;

        mesh_coordinates(b->p, r, at);
        for (int i = 0; i < b->p->n_atom; i++) {
            bool same = mesh_is_same(&s[0], &s[1], i);

            in = in && (!same || at[i] == b->me[i]);
            has = has &&
                  (same || s[0].is[i] != MESH_FIXED || s[0].at[i] == at[i]);
        }
        if (!in)
            continue;
        *mine = r == b->out->rank ? n : *mine;
        *root = has ? n : *root;
        member[n++] = r;
    }
    return n;
}

/* Part i of n of a buffer of v elements. */
static program_box
part(const builder *b, int64_t v, int64_t i, int64_t n)
{
    int64_t by = (v + n - 1) / n, from = i * by, to = from + by;

    return part_box(b->cx, from < v ? from : v, to < v ? to : v);
}

/* The sum of a part by each, then the parts of all. */
static void
all_reduce(builder *b, int step)
{
    int64_t       *member = axe_new_array(b->cx, int64_t, b->out->size);
    int            mine = 0, root = 0;
    int            n = group_of(b, step, member, &mine, &root);
    int64_t        v = held(b->plan, step, b->out->rank);
    program_phase *f = add_phase(b, step);

    f->add = f->once = true;
    for (int i = 0; i < n; i++) {
        add_move(&f->n_pull, f->pull, member[i], step % 2, part(b, v, mine, n));
        if (i != mine)
            add_move(&f->n_give, f->give, member[i], step % 2,
                     part(b, v, i, n));
    }
    mark_whole(f, part(b, v, mine, n).n);
    f = add_phase(b, step);
    for (int i = 0; i < n; i++)
        if (i != mine) {
            add_move(&f->n_pull, f->pull, member[i], f->to, part(b, v, i, n));
            add_move(&f->n_give, f->give, member[i], f->to,
                     part(b, v, mine, n));
        }
}

/* The one that has it gives each other a part, and they one another: so it
 * gives no more than others get.  What is short, each takes from it. */
static void
broadcast(builder *b, int step)
{
    int64_t       *member = axe_new_array(b->cx, int64_t, b->out->size);
    int            mine = 0, root = 0;
    int            n = group_of(b, step, member, &mine, &root);
    int64_t        v = held(b->plan, step + 1, b->out->rank);
    int            own = mine - (mine > root);
    program_phase *f = add_phase(b, step);

    if (n == 2 || v <= SHORT) {
        add_move(&f->n_pull, f->pull, member[root], step % 2,
                 part_box(b->cx, 0, v));
        for (int i = 0; i < n && mine == root; i++)
            if (i != root)
                add_move(&f->n_give, f->give, member[i], step % 2,
                         part_box(b->cx, 0, v));
        return;
    }
    if (mine == root)
        add_move(&f->n_pull, f->pull, member[root], step % 2,
                 part_box(b->cx, 0, v));
    else
        add_move(&f->n_pull, f->pull, member[root], step % 2,
                 part(b, v, own, n - 1));
    for (int i = 0; i < n && mine == root; i++)
        if (i != root)
            add_move(&f->n_give, f->give, member[i], step % 2,
                     part(b, v, i - (i > root), n - 1));
    f = add_phase(b, step);
    for (int i = 0; i < n && mine != root; i++)
        if (i != root && i != mine) {
            add_move(&f->n_pull, f->pull, member[i], f->to,
                     part(b, v, i - (i > root), n - 1));
            add_move(&f->n_give, f->give, member[i], f->to,
                     part(b, v, own, n - 1));
        }
}

/* Does the plan count an all-reduce in parts, or does each ask all others?  Of
 * two, parts are as many elements, and half as many sums. */
static axe_status
in_parts(builder *b, int step, bool *out)
{
    const mesh_state *s = &b->plan->code->state[step];
    mesh_need         n;

    AXE_TRY(mesh_need_of(b->p, s, s + 1, &n));
    *out = b->plan->step[step].max_recv < n.recv ||
           (n.sources[b->p->mesh->n_link - 1] == 1 && n.recv >= SHORT);
    return AXE_OK;
}

static axe_status
add_step(builder *b, int step)
{
    axe_collective kind = b->plan->step[step].kind;
    bool           parts = false;

    if (kind == AXE_COLLECTIVE_ALL_REDUCE)
        AXE_TRY(in_parts(b, step, &parts));
    if (parts)
        all_reduce(b, step);
    else if (kind == AXE_COLLECTIVE_BROADCAST)
        broadcast(b, step);
    else
        AXE_TRY(ask(b, step));
    return AXE_OK;
}

int64_t
program_room(const axe_reshard_plan *p)
{
    int64_t most = 0;

    for (int i = 0; i <= p->n_step; i++)
        for (int64_t r = 0; r < p->mesh->n_device; r++) {
            int64_t n = held(p, i, r);

            most = n > most ? n : most;
        }
    return most;
}

axe_status
program_of(axe_ctx *cx, const axe_reshard_plan *p, int64_t rank,
           const axe_reshard_bound *bound, const program **out)
{
    builder       *b = axe_new(cx, builder);
    program       *g = axe_new(cx, program);
    program_phase *phase;

    if (bound)
        AXE_TRY(program_check_bound(cx, p, bound));
    *b = (builder){
        .cx = cx, .plan = p, .p = p->code->p, .bound = bound, .out = g};
    *g = (program){.rank = rank,
                   .size = p->mesh->n_device,
                   .n_src = axe_reshard_held(p, false, rank),
                   .n_dst = axe_reshard_held(p, true, rank),
                   .room = program_room(p),
                   .last = p->n_step % 2};
    mesh_coordinates(b->p, rank, b->me);
    for (int i = 0; i < p->n_step; i++)
        AXE_TRY(add_step(b, i));
    phase = axe_new_array(cx, program_phase, g->n_phase + 1);
    memcpy(phase, b->phase, (size_t)g->n_phase * sizeof *phase);
    g->phase = phase;
    *out = g;
    return AXE_OK;
}

/* -------------------------------------------------------------- what it holds
 */

int64_t
axe_reshard_held(const axe_reshard_plan *p, bool behind, int64_t device)
{
    if (!p || device < 0 || device >= p->mesh->n_device)
        return 0;
    return held(p, behind ? p->n_step : 0, device);
}

int64_t
axe_reshard_addends(const axe_reshard_plan *p)
{
    int64_t n = 1;

    for (int d = 0; p && d < p->code->p->n_dim; d++)
        if (p->code->p->dim[d].addend)
            n *= p->code->p->dim[d].n;
    return n;
}

bool
axe_reshard_has(const axe_reshard_plan *p, bool behind, int64_t device,
                int64_t index, int64_t addend)
{
    int64_t at[MESH_ATOMS];

    if (!p || device < 0 || device >= p->mesh->n_device || index < 0 ||
        addend < 0)
        return false;
    mesh_coordinates(p->code->p, device, at);
    return mesh_holds(p->code->p, &p->code->state[behind ? p->n_step : 0], at,
                      index, addend) &&
           (!behind ||
            mesh_is_within(p->code->p, mesh_windows(p, device), index));
}
