/* replay.c - when a launch did what it did: all its CTAs side by side.
 *
 * As many clusters begin as the SMs hold, and the next one when one has ended.
 * The warp that is least far takes the next of its deeds.  Each unit serves who
 * asks first; a warp that must wait for its turn does.  An engine's operation
 * takes its unit when it is asked for, and is done when its bytes have come:
 * what memory brings goes by the way of all SMs to memory, and by the SM's own
 * to L2.  All times are whole numbers of ticks, so they are the same
 * everywhere. */
#include "sim/replay.h"
#include "view/timeline.h"

enum {
    SLICE = 32 * TICKS, /* of a scheduler, then others have their turn */
    MOST_SLOTS = 64     /* CTAs of an SM */
};

/* --------------------------------------------------------------------- heap */

/* Whose turn is first: who is least far, else the lower number. */
static bool
is_before(const sim_replay *p, int a, int b)
{
    int64_t x = p->run[a].now, y = p->run[b].now;

    return x != y ? x < y : a < b;
}

static void
push(sim_replay *p, int run)
{
    int i = p->n_heap++;

    for (; i > 0 && is_before(p, run, p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = run;
}

static int
pop(sim_replay *p)
{
    int top = p->heap[0], last = p->heap[--p->n_heap], i = 0;

    for (;;) {
        int k = 2 * i + 1;
        if (k + 1 < p->n_heap && is_before(p, p->heap[k + 1], p->heap[k]))
            k++;
        if (k >= p->n_heap || !is_before(p, p->heap[k], last))
            break;
        p->heap[i] = p->heap[k];
        i = k;
    }
    p->heap[i] = last;
    return top;
}

/* -------------------------------------------------------------------- gates */

static void
spend(sim_replay *p, replay_warp *r, int64_t until, int what)
{
    if (until <= r->now)
        return;
    view_row_add(p->own, &r->spans, (axe_timeline_span){r->now, until, what});
    r->now = until;
}

static void
arrive(sim_replay *p, int gate, int64_t at)
{
    sim_gate *g = &p->t->gate[gate];

    g->open = at > g->open ? at : g->open;
    if (++g->came < g->need)
        return;
    p->open = axe_sim_grown(p->own, p->open, p->n_open, &p->cap_open,
                            sizeof p->open[0]);
    p->open[p->n_open++] = (replay_opened){gate, g->open};
}

static int64_t
later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* [ticks] for so many bytes, of a way of so many for 2^20 of them. */
static int64_t
transfer(int64_t bytes, int64_t rate)
{
    return (bytes * rate + (1 << 20) - 1) >> 20;
}

/* From when its SM's way to L2 is free: until all bytes have come, of which
 * memory brings some. */
static int64_t
bring(sim_replay *p, replay_sm *m, int64_t from, int64_t bytes, int64_t memory)
{
    int64_t end = from + transfer(bytes, p->l2_rate);

    if (memory > 0) {
        p->memory = later(p->memory, from) + transfer(memory, p->mem_rate);
        end = later(end, p->memory);
    }
    p->l2_bytes += bytes;
    p->memory_bytes += memory;
    m->copy = end;
    return end;
}

/* From asking to having, beside that. */
static int64_t
delay(const sim_replay *p, int64_t bytes, int64_t memory)
{
    return memory > 0 ? p->far : bytes > 0 ? p->near : p->in_sm;
}

static int64_t
take_tensor(sim_replay *p, const sim_task *op, int64_t at)
{
    int64_t from = at;

    for (int c = op->cta; c < op->cta + op->n_cta; c++)
        for (int i = 0; i < AXE_SCHEDULERS; i++)
            from = later(from, p->sm[p->cta[c].sm].tensor[i]);
    for (int c = op->cta; c < op->cta + op->n_cta; c++) {
        for (int i = 0; i < AXE_SCHEDULERS; i++)
            p->sm[p->cta[c].sm].tensor[i] = from + op->cost;
        axe_sim_put_span(p, &p->cta[c], AXE_ROW_TENSOR, from, from + op->cost,
                         AXE_WORK_PRODUCT);
    }
    return from + op->cost;
}

/* Number `op` is asked for: it is done, and has read, then. */
static void
begin_op(sim_replay *p, int number, int64_t at)
{
    const sim_task   *op = &p->t->op[number];
    const replay_cta *c = &p->cta[op->cta];
    replay_sm        *m = &p->sm[c->sm];
    int64_t           from = at, end = at + op->cost, done;

    switch (op->engine) {
    case ENGINE_NONE:
        break;
    case ENGINE_TENSOR:
        end = take_tensor(p, op, at);
        break;
    case ENGINE_MOVE:
        m->move = end = later(m->move, at) + op->cost;
        break;
    case ENGINE_COPY:
        from = later(m->copy, at);
        end = bring(p, m, from, op->bytes, op->memory);
        axe_sim_put_span(p, c, AXE_ROW_COPY, from, end, AXE_WORK_LOAD);
        break;
    }
    done =
        op->engine == ENGINE_COPY ? end + delay(p, op->bytes, op->memory) : end;
    p->end = later(p->end, done);
    if (op->gate)
        arrive(p, op->gate, done);
    if (op->read)
        arrive(p, op->read, end);
}

static void
wake(sim_replay *p, int run, int64_t at)
{
    replay_warp *r = &p->run[run];

    spend(p, r, at, r->chunk->record[r->at].work);
    r->at++;
    push(p, run);
}

static void
follow(sim_replay *p)
{
    while (p->n_open > 0) {
        replay_opened o = p->open[--p->n_open];
        sim_gate     *g = &p->t->gate[o.gate];
        for (int i = g->then; i; i = p->t->link[i].next)
            arrive(p, p->t->link[i].to, o.at);
        for (int i = g->waits; i; i = p->t->link[i].next)
            wake(p, p->t->link[i].to, o.at);
        g->waits = 0;
        if (g->op)
            begin_op(p, g->op, o.at);
    }
}

/* ------------------------------------------------------------------ clusters
 */

static void
begin_cta(sim_replay *p, int number, int at, int slot, int64_t now)
{
    int         n = p->s->n_warp;
    replay_cta *c = &p->cta[number];

    *c = (replay_cta){at, slot, n, now, now, true};
    p->sm[at].slots |= UINT64_C(1) << slot;
    for (int i = 0; i < n; i++) {
        replay_warp *r = &p->run[number * n + i];
        *r = (replay_warp){.cta = number, .id = i, .now = now};
        r->chunk = p->t->ran[number].stream[i].first;
        push(p, number * n + i);
    }
}

static int
free_slot(const sim_replay *p, int at)
{
    for (int i = 0; i < p->n_slot; i++)
        if (!(p->sm[at].slots >> i & 1))
            return i;
    return -1;
}

/* SMs with fewer CTAs come first; those of a cluster are neighbours. */
static int
find_sms(const sim_replay *p)
{
    int size = p->s->g->cluster, best = -1, least = MOST_SLOTS + 1;

    for (int i = 0; i + size <= p->s->n_sm; i += size) {
        int most = 0;
        for (int k = i; k < i + size; k++) {
            int n = free_slot(p, k) < 0 ? MOST_SLOTS + 1
                                        : axe_sim_how_many(p->sm[k].slots);
            most = n > most ? n : most;
        }
        if (most < least) {
            least = most;
            best = i;
        }
    }
    return best;
}

static void
begin_clusters(sim_replay *p, int64_t now)
{
    int at;

    while (p->next < p->t->n_ran && (at = find_sms(p)) >= 0) {
        for (int k = 0; k < p->s->g->cluster; k++)
            begin_cta(p, p->next + k, at + k, free_slot(p, at + k), now);
        p->next += p->s->g->cluster;
    }
}

static void
end_cta(sim_replay *p, int number)
{
    replay_cta *c = &p->cta[number];
    int         first = number / p->s->g->cluster * p->s->g->cluster, left = 0;

    axe_sim_put_span(p, c, AXE_ROW_BLOCK, c->begin, c->end,
                     p->t->ran[number].block);
    for (int i = 0; i < p->s->n_warpgroup; i++)
        axe_sim_put_warps(p, number, AXE_ROW_WARPS + i);
    for (int i = 0; i < axe_sim_n_rows(p); i++) {
        axe_timeline_role *role = &p->t->out->role[p->first_role + i];
        role->n++;
        role->total += c->end / TICKS - c->begin / TICKS;
    }
    p->end = later(p->end, c->end);
    p->n_block++;
    for (int k = 0; k < p->s->g->cluster; k++)
        left += p->cta[first + k].n_left;
    if (left > 0)
        return;
    for (int k = 0; k < p->s->g->cluster; k++) {
        replay_cta *x = &p->cta[first + k];
        p->sm[x->sm].slots &= ~(UINT64_C(1) << x->slot);
    }
    begin_clusters(p, c->end);
}

/* -------------------------------------------------------------------- deeds */

/* For a while of its cost: true when all of it is over. */
static bool
take_unit(sim_replay *p, replay_warp *r, int64_t *unit, const sim_record *d,
          int64_t slice)
{
    int64_t from = later(*unit, r->now), n;

    if (r->left == 0)
        r->left = d->cost;
    n = r->left < slice ? r->left : slice;
    spend(p, r, from, AXE_WORK_TURN);
    spend(p, r, from + n, d->work);
    *unit = from + n;
    r->left -= n;
    return r->left == 0;
}

static void
move(sim_replay *p, replay_warp *r, replay_sm *m, const sim_record *d)
{
    int64_t end;

    (void)take_unit(p, r, &m->move, d, INT64_MAX);
    end = r->now;
    if (d->bytes > 0)
        end = bring(p, m, later(m->copy, r->now), d->bytes, d->memory);
    p->end = later(p->end, end);
    if (d->gate)
        arrive(p, d->gate, end + delay(p, d->bytes, d->memory));
}

/* One more of the warp's deeds, or a slice of one; false: it waits. */
static bool
act(sim_replay *p, int run, const sim_record *d)
{
    replay_warp *r = &p->run[run];
    replay_sm   *m = &p->sm[p->cta[r->cta].sm];
    int          part = r->id % AXE_SCHEDULERS;
    bool         over = true;

    switch ((sim_deed)d->deed) {
    case DEED_ISSUE:
        over = take_unit(p, r, &m->scheduler[part], d, SLICE);
        break;
    case DEED_PRODUCT:
        over = take_unit(p, r, &m->tensor[part], d, SLICE);
        break;
    case DEED_MOVE:
        move(p, r, m, d);
        break;
    case DEED_PAUSE:
        spend(p, r, r->now + d->cost, d->work);
        break;
    case DEED_ARRIVE:
        arrive(p, d->gate, r->now);
        break;
    case DEED_ASK:
        begin_op(p, d->gate, r->now);
        break;
    case DEED_WAIT: {
        sim_gate *g = &p->t->gate[d->gate];
        if (g->came < g->need) {
            g->waits = axe_sim_link(p->t, run, g->waits);
            return false;
        }
        spend(p, r, g->open, d->work);
        break;
    }
    }
    r->at += over;
    return true;
}

static void
step(sim_replay *p, int run)
{
    replay_warp *r = &p->run[run];

    while (r->chunk && r->at == r->chunk->n) {
        r->chunk = r->chunk->next;
        r->at = 0;
    }
    if (!r->chunk) {
        replay_cta *c = &p->cta[r->cta];
        r->done = true;
        c->end = later(c->end, r->now);
        if (--c->n_left == 0)
            end_cta(p, r->cta);
        return;
    }
    if (act(p, run, &r->chunk->record[r->at]))
        push(p, run);
    follow(p);
}

/* ---------------------------------------------------------------- the launch
 */

/* CTAs of the launch that an SM holds. */
static int
held(const sim *s, const axe_rates *r)
{
    const axe_simt_plan *plan = s->l->plan->simt;
    int64_t              n = r->ctas, by;
    axe_simt_cost        cost = {0};
    int                  grid = (int)(s->g - s->l->grid);

    if (s->g->persistent || s->launch)
        return 1;
    if (plan && plan->n_launch == s->l->n_grid)
        axe_simt_cost_launch(s->cx, s->l->plan, grid, s->spec->size,
                             (axe_cost_ideal){0}, &cost);
    by = r->threads / s->g->n_thread;
    n = by < n ? by : n;
    by = r->shared /
         (s->g->shared_bytes + r->own > 0 ? s->g->shared_bytes + r->own : 1);
    n = by < n ? by : n;
    if (cost.resident >= 1 && cost.resident < (double)n)
        n = (int64_t)cost.resident;
    return n < 1 ? 1 : n > MOST_SLOTS ? MOST_SLOTS : (int)n;
}

static int64_t
nearest(double n)
{
    return (int64_t)(n + 0.5);
}

/* [ticks] for 2^20 bytes at so many a cycle, not less. */
static int64_t
rate_of(double bytes)
{
    double n = TICKS * 1048576.0 / bytes;

    return (int64_t)n + (n > (double)(int64_t)n);
}

static void
make(sim_replay *p)
{
    sim             *s = p->s;
    sim_trace       *t = p->t;
    const axe_rates *r = t->rates;
    int              n = t->n_ran * s->n_warp;

    p->n_slot = held(s, r);
    p->sm = axe_new_array(p->own, replay_sm, s->n_sm);
    p->cta = axe_new_array(p->own, replay_cta, t->n_ran + 1);
    p->run = axe_new_array(p->own, replay_warp, n + 1);
    p->heap = axe_new_array(p->own, int, n + 1);
    p->row = axe_new_array(p->own, int,
                           (int64_t)s->n_sm * p->n_slot * axe_sim_n_rows(p));
    p->l2_rate = rate_of(r->l2);
    p->mem_rate = rate_of(r->memory_gb / t->ghz);
    p->far = nearest(r->wait * TICKS);
    p->near = nearest(r->wait * AXE_NEAR_BY * TICKS);
    p->in_sm = nearest(AXE_IN_SM * TICKS);
    axe_sim_make_roles(p);
}

axe_status
axe_sim_replay(sim *s)
{
    sim_trace *t = s->trace;
    int64_t    begin =
        t->now + nearest(t->rates->launch_us * 1e3 * t->ghz * TICKS);
    sim_replay p = {.s = s, .t = t, .own = t->own, .end = begin};

    if (t->full) {
        axe_ctx_free(t->own);
        axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                 "the simulator: launch %s does more than a timeline holds",
                 s->g->name);
        axe_help(s->cx, "choose smaller sizes");
        return AXE_ELIMIT;
    }
    if (t->n_ran == 0) { /* the host does not launch it */
        axe_ctx_free(t->own);
        return AXE_OK;
    }
    make(&p);
    begin_clusters(&p, begin);
    while (p.n_heap > 0)
        step(&p, pop(&p));
    axe_sim_put_launch(&p, begin);
    axe_ctx_free(t->own);
    return AXE_OK;
}
