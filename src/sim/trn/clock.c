/* clock.c - when instructions begin and end.
 *
 * An engine takes its instructions in order; each begins when those that it
 * needs have ended, and is behind the one before it by that one's cost.  It
 * ends a latency after its last element.  Transfers take queues in turn; a
 * queue's begin in order.  Of all that could begin next the earliest does. */
#include <math.h>
#include <string.h>

#include "sim/trn/trn_int.h"

/* Queues of reads of device memory, then as many of writes. */
enum {
    MAX_SERVERS = 64,
    MAX_QUEUES = 2 * MAX_SERVERS,
    N_COMPUTE = AXE_TRN_dma
};

typedef struct state {
    const trn_run        *r;
    const axe_trn_params *p;
    trn_times            *t;    /* of records; end < 0: not yet */
    uint32_t             *next; /* record of the same queue; n_record: none */
    uint32_t              head[N_COMPUTE + MAX_QUEUES];
    double                free[N_COMPUTE + MAX_QUEUES];
    uint32_t              last[N_COMPUTE + MAX_QUEUES]; /* that began, + 1 */
    double                server[MAX_SERVERS], hbm;
    double                port[2]; /* until when: SBUF, PSUM .. */
    int                   user[2]; /* .. and the engine that has it */
} state;

static int
n_queue(const state *s)
{
    return N_COMPUTE + 2 * (int)s->p->dma_queues;
}

/* Records into queues. */
static void
enqueue(state *s)
{
    uint32_t n = s->r->n_record, turn[2] = {0, 0};
    uint32_t tail[N_COMPUTE + MAX_QUEUES], of_dma = (uint32_t)s->p->dma_queues;

    for (int q = 0; q < N_COMPUTE + MAX_QUEUES; q++)
        s->head[q] = tail[q] = n;
    for (uint32_t i = 0; i < n; i++) {
        const trn_record *rec = &s->r->record[i];
        uint32_t          q = rec->engine;
        if (rec->engine == AXE_TRN_dma)
            q = N_COMPUTE + (rec->stores ? of_dma : 0) +
                turn[rec->stores]++ % of_dma;
        s->next[i] = n;
        s->t[i].end = -1;
        if (tail[q] == n)
            s->head[q] = i;
        else
            s->next[tail[q]] = i;
        tail[q] = i;
    }
}

/* The memory that two engines use by turns: 0 SBUF, 1 PSUM; -1: none. */
static bool
shares(const state *s, const trn_record *rec, int port)
{
    bool sbuf = port == 0;
    int  other = sbuf ? AXE_TRN_gpsimd : AXE_TRN_scalar;
    bool on = (sbuf ? s->p->exclusive_sbuf : s->p->exclusive_psum) != 0;

    return on && (rec->engine == AXE_TRN_vector || (int)rec->engine == other) &&
           (rec->ports >> (sbuf ? AXE_TRN_SBUF : AXE_TRN_PSUM) & 1);
}

/* When the head of a queue could begin; HUGE_VAL: something that it needs has
 * not begun. */
static double
could_begin(const state *s, int q)
{
    const trn_record *rec = &s->r->record[s->head[q]];
    double            at = s->free[q];

    for (uint32_t i = 0; i < rec->n_need; i++) {
        uint32_t          k = s->r->need[rec->need + i];
        const trn_record *on = &s->r->record[k];
        if (s->t[k].end < 0)
            return HUGE_VAL;
        if (on->engine != rec->engine || rec->engine == AXE_TRN_dma)
            at = fmax(at, s->t[k].end + s->p->semaphore);
        else if (rec->engine == AXE_TRN_vector && s->last[q] == k + 1)
            at = fmax(at, s->t[k].free +
                              s->p->vector_dependent / axe_trn_engines[q].ghz);
    }
    for (int port = 0; port < 2; port++)
        if (shares(s, rec, port) && s->user[port] != q)
            at = fmax(at, s->port[port]);
    return at;
}

static void
begin_compute(state *s, int q, double at)
{
    uint32_t          i = s->head[q];
    const trn_record *rec = &s->r->record[i];
    trn_times        *t = &s->t[i];
    bool              idle = s->last[q] == 0 || at > s->free[q];

    t->begin = at;
    t->free = at + rec->ns + (idle ? rec->weights : 0);
    t->end = t->free + s->p->latency / axe_trn_engines[q].ghz;
    s->free[q] = t->free;
    for (int port = 0; port < 2; port++)
        if (shares(s, rec, port)) {
            s->port[port] = t->free;
            s->user[port] = q;
        }
}

/* The share of its engines that partitions lie on; each moves its own. */
static void
begin_dma(state *s, int q, double at)
{
    uint32_t              i = s->head[q];
    const trn_record     *rec = &s->r->record[i];
    const axe_trn_params *p = s->p;
    int                   n = (int)p->dma_engines;
    double first = at + p->dma_start, end = first, rate = p->dma_gbs / n;
    double each = ((double)rec->bytes + (double)rec->rows * p->dma_row_bytes) /
                  (double)rec->n_part;

    for (int64_t k = 0; k < rec->n_part; k++) {
        int64_t e =
            (int64_t)((double)(rec->first_part + k) / p->dma_partitions) % n;
        double from = fmax(s->server[e], first);
        s->server[e] = from + each / rate;
        end = fmax(end, s->server[e]);
    }
    s->hbm = fmax(s->hbm, first) + (double)rec->bytes / p->hbm_gbs;
    s->t[i] = (trn_times){at, at, fmax(end, s->hbm)};
    s->free[q] = at;
}

static bool
one(state *s)
{
    double best = HUGE_VAL;
    int    q = -1;

    for (int k = 0; k < n_queue(s); k++) {
        double at = s->head[k] < s->r->n_record ? could_begin(s, k) : HUGE_VAL;
        if (at < best) {
            best = at;
            q = k;
        }
    }
    if (q < 0)
        return false;
    uint32_t i = s->head[q];
    if (q < N_COMPUTE)
        begin_compute(s, q, best);
    else
        begin_dma(s, q, best);
    s->last[q] = i + 1;
    s->head[q] = s->next[i];
    return true;
}

void
trn_clock(trn_run *r, axe_trn_report *out)
{
    const axe_trn_params *p = &r->opt->params;
    state                *s = axe_new(r->cx, state);
    double                moved = 0;

    s->r = r;
    s->p = p;
    s->t = axe_new_array(r->cx, trn_times, r->n_record);
    s->next = axe_new_array(r->cx, uint32_t, r->n_record);
    enqueue(s);
    while (one(s))
        continue;
    for (uint32_t i = 0; i < r->n_record; i++) {
        const trn_record *rec = &r->record[i];
        out->n[rec->engine]++;
        out->busy[rec->engine] += s->t[i].free - s->t[i].begin;
        out->ns = fmax(out->ns, s->t[i].end);
        moved += (double)rec->bytes + (double)rec->rows * p->dma_row_bytes;
    }
    out->busy[AXE_TRN_dma] = moved / p->dma_gbs;
    if (r->opt->timeline)
        out->timeline = trn_timeline(r, s->t, out->ns);
}
