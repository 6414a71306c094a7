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
#include "engine/program.h"

typedef struct performing {
    axe_engine    *e;
    const program *g;
    axe_number     type;
    size_t         width; /* [bytes] of an element */
    char          *buffer[2];
    uint32_t       base; /* what progress was before */
    int64_t        recv[MESH_STEPS];
} performing;

static const struct {
    const char *word;
    int         bytes;
} numbers[] = {
#define NUMBER(name, word, bytes, type) {word, bytes},
#include "axe/number.def"
};

const char *
axe_number_text(axe_number t)
{
    return (int)t >= 0 && t < AXE_N_NUMBER ? numbers[t].word : "unknown";
}

int64_t
axe_number_bytes(axe_number t)
{
    return (int)t >= 0 && t < AXE_N_NUMBER ? numbers[t].bytes : 0;
}

/* to[i] += from[i] */
static void
add(axe_number type, void *restrict to, const void *restrict from, int64_t n)
{
    switch (type) {
#define NUMBER(name, word, bytes, type)                                        \
    case AXE_NUMBER_##name: {                                                  \
        type *restrict t = to;                                                 \
        const type *restrict f = from;                                         \
                                                                               \
        for (int64_t i = 0; i < n; i++)                                        \
            t[i] = (type)(t[i] + f[i]);                                        \
        break;                                                                 \
    }
#include "axe/number.def"
    case AXE_N_NUMBER:
        break;
    }
}

/* --------------------------------------------------------------------- boxes
 */

typedef enum how { COPY, ADD } how;

/* Where the walk is: in the buffers, or, where `packed`, behind what was put or
 * taken so far. */
typedef struct walking {
    const program_box *box;
    size_t             width;
    how                how;
    axe_number         type;
    char              *dst;
    const char        *src;
    bool               dst_packed, src_packed;
} walking;

static void
take(walking *w, int64_t src, int64_t dst, int64_t n)
{
    size_t      bytes = (size_t)n * w->width;
    char       *to = w->dst_packed ? w->dst : w->dst + (size_t)dst * w->width;
    const char *from = w->src_packed ? w->src : w->src + (size_t)src * w->width;

    if (w->how == ADD)
        add(w->type, to, from, n);
    else
        memcpy(to, from, bytes);
    w->dst += w->dst_packed ? bytes : 0;
    w->src += w->src_packed ? bytes : 0;
}

static void
walk(walking *w, int d, int64_t src, int64_t dst)
{
    const program_box *b = w->box;
    int64_t            sp = b->src_pitch[d], dp = b->dst_pitch[d];

    for (int i = 0; i < b->n_run[d]; i++) {
        const program_run *r = &b->run[d][i];

        if (d + 1 == b->n_dim) {
            take(w, src + r->src, dst + r->dst, r->n);
            continue;
        }
        for (int64_t k = 0; k < r->n; k++)
            walk(w, d + 1, src + (r->src + k) * sp, dst + (r->dst + k) * dp);
    }
}

/* A tensor without dimensions is one element. */
static void
go(walking *w)
{
    if (w->box->n_dim == 0)
        take(w, 0, 0, w->box->n);
    else
        walk(w, 0, 0, 0);
}

/* -------------------------------------------------------------------- phases
 */

/* The sum begins with its first addend where all pulls write the same. */
static how
how_of(const program_phase *f, int pull)
{
    return f->add && !(f->whole && pull == 0) ? ADD : COPY;
}

static void
begin_sum(const performing *p, const program_phase *f)
{
    if (f->add && !f->whole)
        memset(p->buffer[f->to], 0, (size_t)p->g->room * p->width);
}

/* Those that read what this phase is to overwrite have done so. */
static axe_status
await_readers(const performing *p, const program_phase *f)
{
    for (const program_phase *g = p->g->phase; f->fresh && g < f; g++)
        for (int i = 0; g->step >= f->step - 2 && i < g->n_give; i++)
            if (g->give[i].from == f->to)
                AXE_TRY(p->e->ops->await(p->e, g->give[i].peer,
                                         p->base + 2 +
                                             (uint32_t)(g - p->g->phase)));
    return AXE_OK;
}

static axe_status
pull_addressed(performing *p, const program_phase *f)
{
    uint32_t done = p->base + 1 + (uint32_t)(f - p->g->phase);

    AXE_TRY(await_readers(p, f));
    begin_sum(p, f);
    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        walking             w = {.box = &m->box,
                                 .width = p->width,
                                 .how = how_of(f, i),
                                 .type = p->type,
                                 .dst = p->buffer[f->to],
                                 .src = p->buffer[m->from]};

        if (m->peer != p->g->rank) {
            AXE_TRY(p->e->ops->await(p->e, m->peer, done));
            w.src = axe_engine_peer(p->e, w.src, m->peer);
            p->recv[f->step] += m->box.n * (int64_t)p->width;
        }
        go(&w);
    }
    p->e->ops->post(p->e, done + 1);
    return AXE_OK;
}

static void
unpack(performing *p, const program_phase *f, const engine_message *recv)
{
    begin_sum(p, f);
    for (int i = 0; i < f->n_pull; i++) {
        const program_move *m = &f->pull[i];
        bool                own = m->peer == p->g->rank;
        walking             w = {.box = &m->box,
                                 .width = p->width,
                                 .how = how_of(f, i),
                                 .type = p->type,
                                 .dst = p->buffer[f->to],
                                 .src = own ? p->buffer[m->from] : recv->at,
                                 .src_packed = !own};

        if (!own) {
            p->recv[f->step] += recv->bytes;
            recv++;
        }
        go(&w);
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
        walking             w = {.box = &m->box,
                                 .width = p->width,
                                 .dst = axe_alloc(cx, (size_t)bytes),
                                 .src = p->buffer[m->from],
                                 .dst_packed = true};

        send[i] = (engine_message){m->peer, bytes, w.dst};
        go(&w);
    }
    for (int i = 0; i < f->n_pull; i++)
        if (f->pull[i].peer != p->g->rank) {
            int64_t bytes = f->pull[i].box.n * (int64_t)p->width;

            recv[n_recv++] = (engine_message){f->pull[i].peer, bytes,
                                              axe_alloc(cx, (size_t)bytes)};
        }
    AXE_TRY(p->e->ops->exchange(p->e, f->n_give, send, n_recv, recv));
    unpack(p, f, recv);
    axe_ctx_release(cx, mark);
    return AXE_OK;
}

static axe_status
perform(performing *p, const axe_reshard_plan *plan)
{
    axe_engine *e = p->e;

    p->base = e->posted;
    e->posted += (uint32_t)p->g->n_phase + 1;
    if (e->addressed)
        e->ops->post(e, p->base + 1);
    for (int i = 0; i < p->g->n_phase; i++) {
        const program_phase *f = &p->g->phase[i];

        e->doing = axe_textf(e->cx, "step %d (%s)", f->step + 1,
                             axe_collective_text(plan->step[f->step].kind));
        AXE_TRY(e->addressed ? pull_addressed(p, f) : exchange(p, f));
    }
    return AXE_OK;
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
static axe_status
tell(performing *p, int n_step, axe_traffic *out)
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
    int64_t n = p ? program_room(p) * (p->bits / 8) : 0;

    return 2 * ((n + 63) / 64 * 64) + 64;
}

axe_status
axe_reshard_run(axe_engine *e, const axe_reshard_plan *plan, axe_number type,
                const void *src, void *dst, axe_traffic *traffic)
{
    if (!e)
        return AXE_EARG;
    AXE_NEED(e->cx, plan);
    performing p = {.e = e, .type = type};
    int64_t    mark = e->used, bytes;
    void      *at;

    AXE_TRY(check(e, plan, type));
    AXE_TRY(program_of(e->cx, plan, e->rank, &p.g));
    if ((p.g->n_src > 0 && !src) || (p.g->n_dst > 0 && !dst))
        return axe_need_fail(e->cx, __func__, "src, dst", 0);
    p.width = (size_t)axe_number_bytes(type);
    bytes = (p.g->room * (int64_t)p.width + 63) / 64 * 64;
    AXE_TRY(axe_engine_alloc(e, 2 * bytes, &at));
    p.buffer[0] = at;
    p.buffer[1] = p.buffer[0] + bytes;
    if (p.g->n_src > 0)
        memcpy(p.buffer[0], src, (size_t)p.g->n_src * p.width);
    AXE_TRY(perform(&p, plan));
    if (p.g->n_dst > 0)
        memcpy(dst, p.buffer[p.g->last], (size_t)p.g->n_dst * p.width);
    e->doing = "the end of a plan";
    AXE_TRY(axe_engine_barrier(e));
    e->used = mark;
    return traffic ? tell(&p, plan->n_step, traffic) : AXE_OK;
}
