/* perform.c - a plan carried out: phase by phase, pulling from addresses or by
 * messages.
 *
 * Over addresses each rank says how many phases it has done.  A phase reads
 * what others wrote in the phases before it, so it waits for those that it
 * reads from to have done these; and it overwrites a buffer that others may
 * have been reading from, so it waits for them, too.  No rank waits for one
 * that it has nothing to do with. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "engine/perform.h"

enum {
    MOST_FLAT = 64,
    SHORT_BYTES = 4096 /* of a buffer: then there are as many sets as that */
};

/* -------------------------------------------------------------------- phases
 */

bool
perform_adds(const program_phase *f, int pull)
{
    return f->add && !(f->whole && pull == 0);
}

void
perform_begin_sum(const performing *p, const program_phase *f)
{
    if (f->add && !f->whole)
        memset(p->buffer[f->to], 0, (size_t)p->g->room * p->width);
}

axe_status
perform_post(const performing *p, uint32_t count)
{
    for (int64_t r = 0; p->queues && r < p->g->size; r++)
        if (r != p->g->rank)
            AXE_TRY(p->queues->say(p->m, r, count));
    if (p->queues)
        return AXE_OK;
    AXE_TRY(p->m->ops->settle(p->m));
    p->e->ops->post(p->e, count);
    return AXE_OK;
}

axe_status
perform_await(const performing *p, int64_t peer, uint32_t count)
{
    return p->queues ? p->queues->hear(p->m, peer, count)
                     : p->e->ops->await(p->e, peer, count);
}

/* Those that read what this phase is to overwrite have done so. */
static axe_status
await_readers(const performing *p, const program_phase *f)
{
    for (const program_phase *g = p->g->phase; f->fresh && g < f; g++)
        for (int i = 0; g->step >= f->step - 2 && i < g->n_give; i++)
            if (g->give[i].from == f->to)
                AXE_TRY(
                    perform_await(p, g->give[i].peer,
                                  p->base + 2 + (uint32_t)(g - p->g->phase)));
    return AXE_OK;
}

void
perform_count(performing *p, const program_phase *f, int64_t bytes)
{
    p->recv[f->step] += bytes;
    p->e->moved += bytes;
}

/* A pull's elements are there. */
static axe_status
await_pull(const performing *p, const program_phase *f, int pull)
{
    int      number = (int)(f - p->g->phase);
    uint32_t count = p->enough && number == 0 ? p->enough[pull]
                                              : p->base + 1 + (uint32_t)number;

    return perform_await(p, f->pull[pull].peer, count);
}

/* What has come of a pull already; NULL: it is to be waited for. */
static const perform_landed *
landed_of(const performing *p, const program_phase *f, int pull)
{
    bool is = p->landed && f == p->g->phase && f->pull[pull].peer != p->g->rank;

    return is ? &p->landed[pull] : NULL;
}

/* Is each pull of the sum one run, of the same elements? */
static bool
is_flat(const program_phase *f, program_run *run)
{
    bool flat = f->add && f->whole && f->n_pull > 1 && f->n_pull <= MOST_FLAT;

    for (int i = 0; i < f->n_pull && flat; i++)
        flat = program_is_run(&f->pull[i].box, &run[i]);
    return flat;
}

/* One sum of all pulls. */
static axe_status
sum_flat(performing *p, const program_phase *f, const program_run *run)
{
    const void *from[MOST_FLAT];

    for (int i = 0; i < f->n_pull; i++) {
        const program_move   *m = &f->pull[i];
        const perform_landed *l = landed_of(p, f, i);
        const char           *at = p->buffer[m->from];

        if (m->peer != p->g->rank && !l) {
            AXE_TRY(await_pull(p, f, i));
            at = p->m->ops->peer(p->m, at, m->peer);
            perform_count(p, f, m->box.n * (int64_t)p->width);
        }
        from[i] = l ? l->at : at + (size_t)run[i].src * p->width;
    }
    return p->m->ops->sum(
        p->m, &(engine_sum){
                  .type = p->type,
                  .n_from = f->n_pull,
                  .to = p->buffer[f->to] + (size_t)run[0].dst * p->width,
                  .from = from,
                  .n = run[0].n,
                  .once = f->once,
              });
}

static axe_status
pull_boxes(performing *p, const program_phase *f)
{
    if (f->add && !f->whole)
        AXE_TRY(p->m->ops->zero(p->m, p->buffer[f->to],
                                (size_t)p->g->room * p->width));
    for (int i = 0; i < f->n_pull; i++) {
        const program_move   *m = &f->pull[i];
        const perform_landed *l = landed_of(p, f, i);
        engine_box            b = {.box = l ? &l->box : &m->box,
                                   .type = p->type,
                                   .adds = perform_adds(f, i),
                                   .to = p->buffer[f->to],
                                   .from = l ? l->at : p->buffer[m->from]};

        if (l && !l->at)
            continue;
        if (m->peer != p->g->rank && !l) {
            AXE_TRY(await_pull(p, f, i));
            b.from = p->m->ops->peer(p->m, b.from, m->peer);
            perform_count(p, f, m->box.n * (int64_t)p->width);
        }
        AXE_TRY(p->m->ops->box(p->m, &b));
    }
    return AXE_OK;
}

static axe_status
pull_addressed(performing *p, const program_phase *f)
{
    uint32_t    done = p->base + 1 + (uint32_t)(f - p->g->phase);
    program_run run[MOST_FLAT];

    AXE_TRY(await_readers(p, f));
    AXE_TRY(is_flat(f, run) ? sum_flat(p, f, run) : pull_boxes(p, f));
    return f + 1 < p->g->phase + p->g->n_phase ? perform_post(p, done + 1)
                                               : AXE_OK;
}

static void
unpack(performing *p, const program_phase *f, const engine_message *recv)
{
    perform_begin_sum(p, f);
    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        bool                own = m->peer == p->g->rank;
        engine_walk         w = {.box = &m->box,
                                 .width = p->width,
                                 .adds = perform_adds(f, i),
                                 .type = p->type,
                                 .dst = p->buffer[f->to],
                                 .src = own ? p->buffer[m->from] : recv->at,
                                 .src_packed = !own};

        if (!own) {
            perform_count(p, f, recv->bytes);
            recv++;
        }
        engine_walk_box(&w);
    }
}

static axe_status
exchange(performing *p, const program_phase *f)
{
    axe_ctx        *cx = p->e->cx;
    axe_mark        mark = axe_ctx_mark(cx);
    engine_message *send = axe_new_array(cx, engine_message, f->n_give + 1);
    engine_message *recv = axe_new_array(cx, engine_message, f->n_pull + 1);
    int             n_recv = 0;

    for (int i = 0; i < f->n_give; i++) {
        const program_move *m = &f->give[i];
        int64_t             bytes = m->box.n * (int64_t)p->width;
        engine_walk         w = {.box = &m->box,
                                 .width = p->width,
                                 .dst = axe_alloc(cx, (size_t)bytes),
                                 .src = p->buffer[m->from],
                                 .dst_packed = true};

        send[i] =
            (engine_message){.peer = m->peer, .bytes = bytes, .at = w.dst};
        engine_walk_box(&w);
    }
    for (int i = 0; i < f->n_pull; i++)
        if (f->pull[i].peer != p->g->rank) {
            int64_t bytes = f->pull[i].box.n * (int64_t)p->width;

            recv[n_recv++] =
                (engine_message){.peer = f->pull[i].peer,
                                 .bytes = bytes,
                                 .at = axe_alloc(cx, (size_t)bytes)};
        }
    AXE_TRY(p->e->ops->exchange(p->e, f->n_give, send, n_recv, recv));
    unpack(p, f, recv);
    axe_ctx_release(cx, mark);
    return AXE_OK;
}

/* Those that read from this rank when progress was `ended` have done so: what
 * it had then may be written again. */
static axe_status
await_turn(const performing *p, uint32_t ended)
{
    for (int f = 0; f < p->g->n_phase; f++)
        for (int i = 0; i < p->g->phase[f].n_give; i++)
            AXE_TRY(p->e->ops->await(p->e, p->g->phase[f].give[i].peer, ended));
    return AXE_OK;
}

axe_status
perform_phases(performing *p, int from, int to)
{
    axe_engine *e = p->e;

    for (int i = from; i < to; i++) {
        const program_phase *f = &p->g->phase[i];

        e->doing = p->doing[f->step];
        AXE_TRY(e->addressed ? pull_addressed(p, f) : exchange(p, f));
    }
    return AXE_OK;
}

static axe_status
perform(performing *p)
{
    axe_engine *e = p->e;

    p->base = e->posted;
    e->posted += (uint32_t)p->g->n_phase + 1;
    if (e->addressed)
        AXE_TRY(perform_post(p, p->base + 1));
    return perform_phases(p, 0, p->g->n_phase);
}

/* ---------------------------------------------------------------------- plans
 */

static const char *
plan_text(axe_ctx *cx, const axe_reshard_plan *p, axe_number type)
{
    axe_buf b = {.cx = cx};

    axe_putf(&b, "'%s' from '%s' to '%s', %s", axe_mesh_text(cx, p->mesh),
             axe_spread_text(cx, &p->src), axe_spread_text(cx, &p->dst),
             axe_number_text(type));
    for (int i = 0; i < p->n_step; i++)
        axe_putf(&b, ", %s then %s", axe_collective_text(p->step[i].kind),
                 p->step[i].after);
    for (int64_t i = 0; p->window && i < p->mesh->n_device * p->dst.shape.n;
         i++)
        axe_putf(&b, " %" PRId64 ":%" PRId64, p->window[i].from,
                 p->window[i].to);
    return b.text;
}

static axe_status
check(axe_engine *e, const axe_reshard_plan *p, axe_number type)
{
    if (axe_number_bytes(type) * 8 != p->bits)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                        "reshard: elements of the plan have %d bits, %s has "
                        "%" PRId64,
                        p->bits, axe_number_text(type),
                        axe_number_bytes(type) * 8);
    AXE_TRY(axe_engine_agree(e, "the plan", plan_text(e->cx, p, type)));
    if (p->mesh->n_device != e->size)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG,
                        "reshard: a mesh of %" PRId64 " devices, and %" PRId64
                        " ranks",
                        p->mesh->n_device, e->size);
    return AXE_OK;
}

/* All ranks' counts, to all of them. */
axe_status
perform_tell(performing *p, int n_step, axe_traffic *out)
{
    axe_ctx *cx = p->e->cx;
    int64_t *all = axe_new_array(cx, int64_t, p->g->size * n_step + 1);
    int64_t *most = axe_new_array(cx, int64_t, n_step + 1);
    int64_t *total = axe_new_array(cx, int64_t, n_step + 1);

    AXE_TRY(axe_engine_gather(p->e, p->recv,
                              n_step * (int64_t)sizeof p->recv[0], all));
    *out =
        (axe_traffic){.n_step = n_step, .step_max = most, .step_total = total};
    for (int64_t r = 0; r < p->g->size; r++) {
        int64_t sum = 0;

        for (int i = 0; i < n_step; i++) {
            int64_t n = all[r * n_step + i];

            sum += n;
            most[i] = n > most[i] ? n : most[i];
            total[i] += n;
        }
        out->total += sum;
        out->max_recv = sum > out->max_recv ? sum : out->max_recv;
    }
    return AXE_OK;
}

int64_t
axe_reshard_heap(const axe_reshard_plan *p)
{
    int64_t n;

    if (!p)
        return 64;
    if (!axe_mul(program_room(p), p->bits / 8, &n) || n > INT64_MAX / 4)
        return INT64_MAX / 2; /* which no host has */
    return 2 * ((n + 63) / 64 * 64) + 64;
}

axe_status
perform_open(performing *p, axe_engine *e, const axe_reshard_plan *plan,
             axe_number type, const axe_reshard_bound *bound)
{
    p->e = e;
    p->host = (engine_memory){.ops = &engine_host_memory, .e = e};
    p->m = e->memory ? e->memory : &p->host;
    AXE_TRY(check(e, plan, type));
    AXE_TRY(program_of(e->cx, plan, e->rank, bound, &p->g));
    p->type = type;
    p->width = (size_t)axe_number_bytes(type);
    for (int i = 0; i < plan->n_step; i++)
        p->doing[i] = axe_textf(e->cx, "step %d (%s)", i + 1,
                                axe_collective_text(plan->step[i].kind));
    return AXE_OK;
}

/* Memory of this program. */
static axe_status
take_buffers(performing *p, int n_set)
{
    int64_t bytes;
    void   *at;

    p->mark = p->m->ops->mark(p->m);
    bytes = (p->g->room * (int64_t)p->width + 63) / 64 * 64;
    p->n_set = n_set = n_set > 1 && bytes <= SHORT_BYTES ? PERFORM_SETS : n_set;
    AXE_TRY(p->m->ops->alloc(p->m, 2 * n_set * bytes, &at));
    for (int i = 0; i < 2 * n_set; i++)
        p->set[i / 2][i % 2] = (char *)at + i * bytes;
    memcpy(p->buffer, p->set[0], sizeof p->buffer);
    return AXE_OK;
}

/* By a library of collectives, if there is one that does it, and all ranks find
 * so. */
static axe_status
by_library(performing *p, const axe_reshard_plan *plan, const void *src,
           void *dst, bool *done)
{
    engine_collective c;
    int64_t           mine, *all;

    *done = false;
    if (!p->m->ops->has)
        return AXE_OK;
    all = axe_new_array(p->e->cx, int64_t, p->e->size);
    mine = engine_collective_of(plan, p->g, &c) ? (int64_t)c.kind : -1;
    c.type = p->type;
    c.from = src;
    c.to = dst;
    mine = mine >= 0 && p->m->ops->has(p->m, &c) ? mine : -1;
    AXE_TRY(axe_engine_gather(p->e, &mine, sizeof mine, all));
    for (int64_t r = 0; r < p->e->size; r++)
        if (all[r] != mine || mine < 0)
            return AXE_OK;
    *done = true;
    for (int f = 0; f < p->g->n_phase; f++)
        for (int i = 0; i < p->g->phase[f].n_pull; i++)
            if (p->g->phase[f].pull[i].peer != p->g->rank)
                perform_count(p, &p->g->phase[f],
                              p->g->phase[f].pull[i].box.n * (int64_t)p->width);
    return p->m->ops->collective(p->m, &c);
}

/* Through own buffers. */
static axe_status
by_buffers(performing *p, const void *src, void *dst)
{
    axe_engine *e = p->e;

    AXE_TRY(take_buffers(p, 1));
    if (p->g->n_src > 0)
        AXE_TRY(p->m->ops->copy(p->m, p->buffer[0], src,
                                (size_t)p->g->n_src * p->width));
    AXE_TRY(perform(p));
    if (p->g->n_dst > 0)
        AXE_TRY(p->m->ops->copy(p->m, dst, p->buffer[p->g->last],
                                (size_t)p->g->n_dst * p->width));
    AXE_TRY(p->m->ops->settle(p->m));
    e->doing = "the end of a plan";
    AXE_TRY(axe_engine_barrier(e));
    p->m->ops->give_back(p->m, p->mark);
    return AXE_OK;
}

static axe_status
run(axe_engine *e, const axe_reshard_plan *plan, axe_number type,
    const axe_reshard_bound *bound, const void *src, void *dst,
    axe_traffic *traffic)
{
    performing p = {.e = e};
    bool       done = false;

    AXE_TRY(perform_open(&p, e, plan, type, bound));
    if ((p.g->n_src > 0 && !src) || (p.g->n_dst > 0 && !dst))
        return axe_need_fail(e->cx, "axe_reshard_run", "src, dst", 0);
    if (!bound)
        AXE_TRY(by_library(&p, plan, src, dst, &done));
    if (!done)
        AXE_TRY(by_buffers(&p, src, dst));
    return traffic ? perform_tell(&p, plan->n_step, traffic) : AXE_OK;
}

axe_status
axe_reshard_run(axe_engine *e, const axe_reshard_plan *plan, axe_number type,
                const void *src, void *dst, axe_traffic *traffic)
{
    if (!e)
        return AXE_EARG;
    AXE_NEED(e->cx, plan);
    return run(e, plan, type, NULL, src, dst, traffic);
}

axe_status
axe_reshard_run_below(axe_engine *e, const axe_reshard_plan *plan,
                      axe_number type, const axe_reshard_bound *bound,
                      const void *src, void *dst, axe_traffic *traffic)
{
    if (!e)
        return AXE_EARG;
    AXE_NEED(e->cx, plan);
    AXE_NEED(e->cx, bound);
    return run(e, plan, type, bound, src, dst, traffic);
}

axe_status
axe_reshard_prepare(axe_engine *e, const axe_reshard_plan *plan,
                    axe_number type, axe_reshard_exec **out)
{
    performing *p;

    if (!e || !out)
        return AXE_EARG;
    AXE_NEED(e->cx, plan);
    p = axe_new(e->cx, performing);
    p->e = e;
    AXE_TRY(perform_open(p, e, plan, type, NULL));
    AXE_TRY(take_buffers(p, 2));
    for (int i = 0; i < p->n_set; i++)
        p->ended[i] = e->posted;
    *out = p;
    return AXE_OK;
}

axe_status
axe_reshard_finish(axe_reshard_exec *x)
{
    if (!x)
        return AXE_EARG;
    AXE_TRY(x->m->ops->settle(x->m));
    AXE_TRY(axe_engine_barrier(x->e));
    x->m->ops->give_back(x->m, x->mark);
    return AXE_OK;
}

void *
axe_reshard_input(const axe_reshard_exec *x)
{
    return x->buffer[0];
}

axe_status
axe_reshard_go(axe_reshard_exec *x, const void **out)
{
    int next;

    if (!x || !out)
        return AXE_EARG;
    AXE_TRY(perform(x));
    *out = x->buffer[x->g->last];
    x->ended[x->turn++ % (uint32_t)x->n_set] = x->e->posted;
    next = (int)(x->turn % (uint32_t)x->n_set);
    memcpy(x->buffer, x->set[next], sizeof x->buffer);
    return x->e->addressed ? await_turn(x, x->ended[next]) : AXE_OK;
}
