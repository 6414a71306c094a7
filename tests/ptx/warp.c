/* warp.c - clusters run: whose turn it is, and where lanes go on.
 *
 * A warp runs until none of its lanes can go on, or it has had its turn.  An
 * instruction of all lanes together waits until all are there.  Where no warp
 * moves, a job is run; where there is none, the cluster is stuck. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

enum { TURN = 400, LAG = 64 };
static const uint64_t most_steps = 100000000;

uint64_t
ptx_random(ptx_gpu *g)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return g->random;
}

ptx_result
ptx_wrong(ptx_warp *w, const ptx_insn *i, const char *format, ...)
{
    char   *s = w->cta->cluster->gpu->said;
    size_t  room = sizeof w->cta->cluster->gpu->said;
    va_list ap;
    int     n;

    if (s[0])
        return PTX_WRONG;
    n = snprintf(s, room, "%s, line %d, `%.200s`, warp %d of CTA %d: ",
                 w->cta->cluster->kernel->name, i->line, i->text, w->id,
                 w->cta->number);
    va_start(ap, format);
    vsnprintf(s + n, room - (size_t)n, format, ap);
    va_end(ap);
    return PTX_WRONG;
}

uint64_t
ptx_special_of(const ptx_warp *w, uint64_t what, int lane)
{
    switch ((ptx_special)what) {
    case S_TID:
        return (uint64_t)(w->id * N_LANE + lane);
    case S_CTAID:
        return (uint64_t)w->cta->number;
    case S_NCTAID:
        return (uint64_t)w->cta->cluster->n_block;
    case S_NTID:
        return (uint64_t)w->cta->cluster->n_thread;
    case S_RANK:
        return (uint64_t)w->cta->rank;
    case S_LANE:
        return (uint64_t)lane;
    case S_ZERO:
        break;
    }
    return 0;
}

ptx_result
ptx_same(ptx_warp *w, const ptx_insn *i, const ptx_operand *o, uint32_t lanes,
         uint64_t *out)
{
    *out = ptx_get(w, o, ptx_first(lanes));
    for (uint32_t left = lanes; left; left &= left - 1)
        if (ptx_get(w, o, ptx_first(left)) != *out)
            return ptx_wrong(
                w, i,
                "an operand differs between lanes: %#llx, "
                "%#llx",
                (unsigned long long)*out,
                (unsigned long long)ptx_get(w, o, ptx_first(left)));
    return PTX_DONE;
}

/* -------------------------------------------------------------------- lanes */

ptx_result
ptx_branch(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1)
        w->pc[ptx_first(left)] = i->target;
    return PTX_DONE;
}

ptx_result
ptx_exit(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    if (ptx_is_early(w, i))
        return PTX_WRONG;
    w->live &= ~lanes;
    return PTX_DONE;
}

/* Any lane may be: the last one is not what programs are written for. */
ptx_result
ptx_elect(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_arg *d = &i->arg[0];
    int            one = 31 - __builtin_clz(lanes);

    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = ptx_first(left);
        ptx_put(w, &d->op[0], l, (uint64_t)one);
        ptx_put(w, &d->op[d->n - 1], l, l == one);
    }
    return PTX_DONE;
}

static uint32_t
lanes_at(const ptx_warp *w, uint32_t ready, int *pc)
{
    uint32_t at = 0;

    *pc = INT32_MAX;
    for (uint32_t left = ready; left; left &= left - 1) {
        int l = ptx_first(left);
        if (w->pc[l] < *pc) {
            *pc = w->pc[l];
            at = 0;
        }
        if (w->pc[l] == *pc)
            at |= 1u << l;
    }
    return at;
}

static uint32_t
guarded(const ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint32_t take = 0;

    if (i->guard < 0)
        return lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t p = w->reg[(size_t)i->guard * N_LANE + (size_t)l] & 1;
        if ((p != 0) != i->guard_not)
            take |= 1u << l;
    }
    return take;
}

static void
go_on(ptx_warp *w, uint32_t lanes, int pc)
{
    for (uint32_t left = lanes; left; left &= left - 1)
        w->pc[ptx_first(left)] = pc;
}

/* One instruction of the lanes at the lowest counter. */
static ptx_result
step(ptx_warp *w)
{
    const ptx_kernel *k = w->cta->cluster->kernel;
    const ptx_insn   *i;
    uint32_t          lanes, take;
    ptx_result        r = PTX_DONE;
    int               pc;

    lanes = lanes_at(w, w->live & ~w->blocked, &pc);
    if (pc >= k->n_insn)
        return ptx_exit(w, NULL, lanes);
    i = &k->insn[pc];
    take = guarded(w, i, lanes);
    if (take && i->op->together && lanes != w->live) {
        w->blocked |= lanes;
        return PTX_DONE;
    }
    if (take && i->op->together && take != lanes)
        return ptx_wrong(w, i, "some lanes of the warp take no part");
    go_on(w, lanes, pc + 1);
    if (take)
        r = i->op->run(w, i, take);
    if (r != PTX_BLOCKED) {
        w->cta->cluster->moved = true;
        return r;
    }
    go_on(w, take, pc);
    w->blocked |= take;
    return PTX_DONE;
}

static ptx_result
run_warp(ptx_warp *w)
{
    ptx_gpu *g = w->cta->cluster->gpu;
    int      n = g->order > 1 ? 1 + (int)(ptx_random(g) % TURN) : TURN;

    w->blocked = 0;
    for (; n > 0 && (w->live & ~w->blocked); n--, g->n_step++)
        if (step(w) != PTX_DONE)
            return PTX_WRONG;
    return PTX_DONE;
}

/* ------------------------------------------------------------------ clusters
 */

static bool
all_ended(const ptx_cluster *c)
{
    for (int r = 0; r < c->n_cta; r++)
        for (int k = 0; k < c->cta[r].n_warp; k++)
            if (c->cta[r].warp[k].live)
                return false;
    return true;
}

static void
say_stuck(ptx_cluster *c, const char *why)
{
    char  *s = c->gpu->said;
    size_t n, room = sizeof c->gpu->said;

    n = (size_t)snprintf(s, room, "%s: %s:", c->kernel->name, why);
    for (int r = 0; r < c->n_cta; r++)
        for (int k = 0; k < c->cta[r].n_warp && n < room; k++) {
            const ptx_warp *w = &c->cta[r].warp[k];
            int             pc;
            if (!w->live)
                continue;
            lanes_at(w, w->live, &pc);
            if (pc < c->kernel->n_insn)
                n += (size_t)snprintf(
                    s + n, room - n, " warp %d of CTA %d at line %d (%s);", k,
                    c->cta[r].number, c->kernel->insn[pc].line,
                    c->kernel->insn[pc].op->name);
        }
}

/* Each warp of the cluster for a while; a job if none could go on. */
static ptx_result
run_round(ptx_cluster *c)
{
    int all = c->n_cta * c->cta[0].n_warp, from = 0;

    c->moved = false;
    if (c->gpu->order > 1)
        from = (int)(ptx_random(c->gpu) % (unsigned)all);
    for (int i = 0; i < all; i++) {
        int at = (from + i) % all;
        if (run_warp(&c->cta[at % c->n_cta].warp[at / c->n_cta]) != PTX_DONE)
            return PTX_WRONG;
    }
    return !c->moved && c->n_job > 0 ? ptx_any_job(c) : PTX_DONE;
}

/* Is it the one that is behind all others, and has no turn in this round? */
static bool
lags(const ptx_gpu *gpu, int cluster, int n, uint64_t round)
{
    return n > 1 && gpu->order > 1 && cluster == gpu->order % n &&
           round % LAG != 0;
}

/* All of n clusters that are there at once, in turns. */
static ptx_result
run_all(ptx_cluster *c, int n)
{
    ptx_gpu *gpu = c->gpu;

    for (uint64_t round = 0;; round++) {
        ptx_cluster *waits = NULL;
        bool         moved = false;
        int from = gpu->order > 1 ? (int)(ptx_random(gpu) % (unsigned)n) : 0;
        for (int i = 0; i < n; i++) {
            ptx_cluster *x = &c[(from + i) % n];
            if (all_ended(x))
                continue;
            waits = x;
            if (lags(gpu, (int)(x - c), n, round)) {
                moved = true;
                continue;
            }
            if (run_round(x) != PTX_DONE)
                return PTX_WRONG;
            moved = moved || x->moved;
        }
        if (!waits)
            return PTX_DONE;
        if (gpu->n_step > most_steps)
            say_stuck(waits, "no end in sight");
        else if (!moved)
            say_stuck(waits, "no warp can go on");
        if (gpu->said[0])
            return PTX_WRONG;
    }
}

/* What is left when all threads have ended: stores to global memory are done,
 * other things have nobody that waits for them. */
static ptx_result
run_rest(ptx_cluster *c)
{
    while (c->first) {
        ptx_job *j = c->first;
        if (j->stream != J_BULK)
            return ptx_wrong(j->warp, j->insn,
                             "the cluster ends before this "
                             "is done");
        if (ptx_run_job(j) != PTX_DONE)
            return PTX_WRONG;
    }
    for (int r = 0; r < c->n_cta; r++)
        if (c->cta[r].t_columns > 0)
            return ptx_wrong(c->cta[r].warp, c->kernel->insn,
                             "%d columns of tensor memory are not freed",
                             c->cta[r].t_columns);
    return PTX_DONE;
}

static void *
room(size_t n)
{
    void *p = malloc(n > 0 ? n : 1);

    if (!p)
        abort();
    return p;
}

static void
make_cta(ptx_cluster *c, int rank, int shared_bytes)
{
    ptx_cta *t = &c->cta[rank];
    size_t   n_reg = (size_t)c->kernel->n_reg * N_LANE;

    t->cluster = c;
    t->rank = rank;
    t->n_warp = c->n_thread / N_LANE;
    t->shared_bytes = shared_bytes;
    t->shared = room((size_t)shared_bytes);
    t->known = room((size_t)shared_bytes);
    t->bar = room((size_t)(shared_bytes / 8 + 1) * sizeof *t->bar);
    t->tmem = room(N_TLANE * sizeof *t->tmem);
    t->tknown = room(N_COLUMN * sizeof *t->tknown);
    t->warp = room((size_t)t->n_warp * sizeof *t->warp);
    for (int k = 0; k < t->n_warp; k++)
        t->warp[k].reg = room(n_reg * sizeof(uint64_t));
}

static void
free_cta(ptx_cta *t)
{
    for (int k = 0; k < t->n_warp; k++)
        free(t->warp[k].reg);
    free(t->warp);
    free(t->shared);
    free(t->known);
    free(t->bar);
    free(t->tmem);
    free(t->tknown);
}

/* Memory is NaN, whatever type it is taken for. */
static void
begin_cta(ptx_cta *t, int number)
{
    const ptx_kernel *k = t->cluster->kernel;

    t->number = number;
    t->t_columns = 0;
    memset(t->shared, 0xff, (size_t)t->shared_bytes);
    memset(t->known, 0, (size_t)t->shared_bytes);
    memset(t->bar, 0, (size_t)(t->shared_bytes / 8 + 1) * sizeof *t->bar);
    memset(t->named, 0, sizeof t->named);
    memset(t->seen, 0xff, sizeof t->seen);
    memset(t->tmem, 0xff, N_TLANE * sizeof *t->tmem);
    memset(t->tknown, 0, N_COLUMN * sizeof *t->tknown);
    for (int i = 0; i < t->n_warp; i++) {
        uint64_t *reg = t->warp[i].reg;
        t->warp[i] =
            (ptx_warp){.cta = t, .id = i, .live = UINT32_MAX, .reg = reg};
        t->warp[i].early = t->cluster->gpu->early;
        memset(reg, 0xff, (size_t)k->n_reg * N_LANE * sizeof *reg);
    }
}

/* Clusters from that of CTA `first` on are there, and run until they end. */
static ptx_result
run_from(ptx_cluster *c, int n, int first)
{
    ptx_result r;

    for (int i = 0; i < n; i++) {
        c[i].next = first + (i + 1) * c[i].n_cta;
        c[i].phase = 0;
        for (int k = 0; k < c[i].n_cta; k++)
            begin_cta(&c[i].cta[k], first + i * c[i].n_cta + k);
    }
    r = run_all(c, n);
    for (int i = 0; i < n && r == PTX_DONE; i++)
        r = run_rest(&c[i]);
    return r;
}

static void
free_cluster(ptx_cluster *c)
{
    while (c->first) {
        ptx_job *j = c->first;
        c->first = j->next;
        free(j);
    }
    free(c->made);
    for (int i = 0; i < c->n_cta; i++)
        free_cta(&c->cta[i]);
    free(c->cta);
}

/* Launches follow one another. */
static void
forget_watched(ptx_region *r)
{
    for (; r; r = r->next) {
        free(r->watched);
        r->watched = NULL;
    }
}

bool
ptx_launch(ptx_gpu *gpu, const ptx_kernel *k, int n_block, int n_thread,
           int shared_bytes, void **args)
{
    int            n = gpu->together ? n_block / k->cluster : 1;
    ptx_cluster   *c = room((size_t)n * sizeof *c);
    size_t         bytes = ((size_t)k->param_bytes + 127) / 64 * 64;
    unsigned char *params = aligned_alloc(64, bytes);
    ptx_result     r = PTX_DONE;

    gpu->random = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(gpu->order + 1);
    gpu->n_step = 0;
    if (!params)
        abort();
    for (int i = 0; i < k->n_param; i++)
        memcpy(params + k->param[i].at, args[i], (size_t)k->param[i].bytes);
    for (int i = 0; i < n; i++) {
        c[i] = (ptx_cluster){.gpu = gpu,
                             .kernel = k,
                             .params = params,
                             .n_cta = k->cluster,
                             .n_thread = n_thread,
                             .n_block = n_block};
        c[i].cta = room((size_t)k->cluster * sizeof *c[i].cta);
        memset(c[i].cta, 0, (size_t)k->cluster * sizeof *c[i].cta);
        for (int q = 0; q < k->cluster; q++)
            make_cta(&c[i], q, shared_bytes);
    }
    for (int b = 0; b < n_block && r == PTX_DONE; b = c[n - 1].next)
        r = run_from(c, n, b);
    for (int i = 0; i < n; i++)
        free_cluster(&c[i]);
    free(c);
    free(params);
    forget_watched(gpu->region);
    return r == PTX_DONE;
}
