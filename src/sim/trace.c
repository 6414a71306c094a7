/* trace.c - what a launch does, noted while it does it. */
#include <math.h>
#include <string.h>

#include "sim/trace.h"

enum {
    FIRST_CHUNK = 16,
    LARGEST_CHUNK = 4096,
    MOST_RECORDS = 1 << 24,
    MOST_JOINED = 256 * TICKS /* of records that are one */
};

/* ----------------------------------------------------------------- growing */

void *
axe_sim_grown(axe_ctx *cx, void *old, int n, int *cap, size_t size)
{
    void *new;

    if (n < *cap)
        return old;
    *cap = *cap > 0 ? 2 * *cap : 64;
    new = axe_alloc(cx, (size_t)*cap * size);
    if (n > 0)
        memcpy(new, old, (size_t)n * size);
    return new;
}

int
axe_sim_gate_new(sim_trace *t)
{
    t->gate = axe_sim_grown(t->own, t->gate, t->n_gate, &t->cap_gate,
                            sizeof t->gate[0]);
    t->gate[t->n_gate] = (sim_gate){0};
    return t->n_gate++;
}

int
axe_sim_link(sim_trace *t, int to, int next)
{
    t->link = axe_sim_grown(t->own, t->link, t->n_link, &t->cap_link,
                            sizeof t->link[0]);
    t->link[t->n_link] = (sim_link){to, next};
    return t->n_link++;
}

void
axe_sim_trace_then(sim_trace *t, int at, int to)
{
    t->gate[at].then = axe_sim_link(t, to, t->gate[at].then);
    t->gate[to].need++;
}

int32_t
axe_sim_ticks(double cycles)
{
    double n = ceil(cycles * TICKS - 1e-6);

    return n < 0 ? 0 : n > INT32_MAX / 4 ? INT32_MAX / 4 : (int32_t)n;
}

/* Do both belong together, and are they not long? */
static bool
joins(const sim_record *a, const sim_record *b)
{
    return a->deed == b->deed && a->work == b->work && a->gate == b->gate &&
           a->deed <= DEED_PAUSE && a->cost < MOST_JOINED &&
           a->bytes < MOST_JOINED && b->bytes < MOST_JOINED;
}

/* True if it is one of its own, and no part of the last. */
bool
axe_sim_trace_put(sim *s, sim_warp *w, sim_record r)
{
    sim_trace  *t = s->trace;
    sim_stream *to = w->stream;
    sim_chunk  *c = to->last;

    if (c && c->n > 0 && joins(&c->record[c->n - 1], &r)) {
        sim_record *last = &c->record[c->n - 1];
        last->cost += r.cost;
        last->bytes += r.bytes;
        last->memory += r.memory;
        return false;
    }
    if (t->n_record >= MOST_RECORDS) {
        t->full = true;
        return false;
    }
    if (!c || c->n == c->cap) {
        sim_chunk *more = axe_new(t->own, sim_chunk);
        more->cap = !c                       ? FIRST_CHUNK
                    : c->cap < LARGEST_CHUNK ? 4 * c->cap
                                             : LARGEST_CHUNK;
        more->record = axe_new_array(t->own, sim_record, more->cap);
        *(c ? &c->next : &to->first) = more;
        to->last = c = more;
    }
    c->record[c->n++] = r;
    t->n_record++;
    return true;
}

/* ------------------------------------------------------------------ launches
 */

/* Once for each lane of a warp. */
static double
each_lane(const void *user, const axe_node *n)
{
    (void)n;
    return ((const sim *)user)->lanes;
}

static void
read_array(sim_note *n, int array)
{
    for (int i = 0; i < n->n_read; i++)
        if (n->read[i] == array)
            return;
    n->read[n->n_read++] = array;
}

static void
read_expr(sim_note *n, const sim_expr *e)
{
    for (int i = 0; e && i < e->n; i++)
        if (e->term[i].op == AXE_OP_load)
            read_array(n, e->term[i].slot);
}

/* Does the atom use operand i's registers as they are? */
static bool
reads_operand(const sim_inst *in, int i)
{
    axe_atom_kind kind = in->shape->atom->kind;

    return i > 0 || (kind != AXE_ATOM_LOAD && kind != AXE_ATOM_PERMUTE);
}

static void
note_inst(sim *s, const sim_inst *in, sim_note *n)
{
    read_expr(n, in->a);
    read_expr(n, in->b);
    read_expr(n, in->pred);
    for (int i = 0; i < in->n_arg; i++) {
        const sim_arg *a = &in->arg[i];
        read_expr(n, a->at);
        read_expr(n, a->cta);
        for (int k = 0; k < a->n_at; k++)
            read_expr(n, a->coord[k]);
        if (in->op == SIM_CALC)
            read_expr(n, in->word[i]);
        else if (a->space == AXE_ARG_REG && reads_operand(in, i))
            read_array(n, a->tensor);
    }
    if (in->op == SIM_CALC)
        n->cost =
            axe_sim_ticks(AXE_SCHEDULERS * in->n_arg *
                          axe_cost_math(s->mc, in->from->value, each_lane, s));
}

static bool
has_products(const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        const axe_lir *l = b->item[i];
        if ((l->kind == AXE_LIR_ATOM && l->atom->kind == AXE_ATOM_CONTRACT &&
             (l->atom->by != AXE_SCOPE_THREAD || *l->atom->group)) ||
            has_products(&l->body) || has_products(&l->other))
            return true;
    }
    return false;
}

axe_status
axe_sim_trace_make(sim *s)
{
    sim_trace *t = axe_new(s->own, sim_trace);
    double     bytes = 0;

    if (!s->spec->with.timeline)
        return AXE_OK;
    t->rates = axe_machine_rates(s->mc);
    if (!t->rates)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "the simulator: %s has no rates, so nothing is known "
                        "of its times",
                        s->mc->name);
    t->out = axe_new(s->cx, axe_timeline);
    t->ghz = s->mc->ghz;
    for (int i = 0; i < s->l->n_grid; i++)
        if (has_products(&s->l->grid[i].body))
            t->ghz = t->rates->busy_ghz;
    for (int i = 0; i < s->n_global; i++)
        bytes += (double)s->global[i].span *
                 axe_type_table[s->global[i].tensor->type].bits / 8;
    t->cold = bytes > (double)s->mc->l2_bytes;
    *t->out = (axe_timeline){.kernel = s->l->plan->kernel->name,
                             .machine = s->mc->name,
                             .ghz = t->ghz,
                             .n_sm = s->n_sm};
    s->report->timeline = t->out;
    s->trace = t;
    return AXE_OK;
}

void
axe_sim_trace_launch(sim *s)
{
    sim_trace *t = s->trace;
    int        sector = s->mc->simt->sector_bytes;

    t->own = axe_ctx_new();
    t->n_gate = t->n_link = t->n_op = 1;
    t->cap_gate = t->cap_link = t->cap_op = 0;
    t->n_ran = t->cap_ran = 0;
    t->n_record = 0;
    t->gate = NULL;
    t->gate = axe_sim_grown(t->own, NULL, 0, &t->cap_gate, sizeof t->gate[0]);
    t->link = axe_sim_grown(t->own, NULL, 0, &t->cap_link, sizeof t->link[0]);
    t->op = axe_sim_grown(t->own, NULL, 0, &t->cap_op, sizeof t->op[0]);
    t->ran = NULL;
    t->met = axe_new_array(t->own, uint8_t *, s->n_global);
    for (int i = 0; i < s->n_global && t->cold; i++)
        t->met[i] = axe_new_array(
            t->own, uint8_t,
            axe_type_bytes(s->global[i].tensor->type, s->global[i].span) /
                    sector +
                2);
    t->note = axe_new_array(t->own, sim_note, s->code->n_inst);
    for (int i = 0; i < s->code->n_inst; i++) {
        t->note[i].read = axe_new_array(t->own, int, s->g->n_array + 1);
        note_inst(s, &s->code->inst[i], &t->note[i]);
    }
}

void
axe_sim_trace_cta(sim *s, sim_cta *cta)
{
    sim_trace  *t = s->trace;
    sim_stream *stream = axe_new_array(t->own, sim_stream, s->n_warp);

    t->ran =
        axe_sim_grown(t->own, t->ran, t->n_ran, &t->cap_ran, sizeof t->ran[0]);
    t->ran[t->n_ran] = (sim_ran){cta->block, stream};
    cta->ran = t->n_ran++;
    for (int i = 0; i < s->n_warp; i++)
        cta->warp[i].stream = &stream[i];
}

/* -------------------------------------------------------------------- bytes */

/* Has the atom at hand asked for this sector? */
static bool
is_seen(sim_trace *t, int64_t sector)
{
    int64_t *at = &t->seen[(uint64_t)sector % SEEN];
    bool     seen = *at == sector + 1;

    *at = sector + 1;
    return seen;
}

void
axe_sim_trace_global(sim *s, int tensor, int64_t byte, int64_t n, bool write)
{
    sim_trace *t = s->trace;
    int64_t    sector = s->mc->simt->sector_bytes;
    uint8_t    bit = write ? 2 : 1;

    for (int64_t i = byte / sector; i <= (byte + n - 1) / sector; i++) {
        if (is_seen(t, i * s->n_global + tensor))
            continue;
        t->bytes += sector;
        if (!t->cold)
            continue;
        if (!(t->met[tensor][i] & (write ? 2 : 3)))
            t->memory += sector;
        t->met[tensor][i] |= bit;
    }
}

int64_t
axe_sim_shared_so_far(const sim *s)
{
    return s->report->shared_read + s->report->shared_written;
}

/* An atom begins. */
void
axe_sim_count_from_here(sim *s)
{
    sim_trace *t = s->trace;

    t->bytes = t->memory = 0;
    t->shared = axe_sim_shared_so_far(s);
    t->turns = s->report->conflicts;
    memset(t->seen, 0, sizeof t->seen);
}

/* [cycles] of shared memory since then. */
static double
shared_cycles(const sim *s)
{
    const axe_simt *m = s->mc->simt;
    double bytes = (double)(axe_sim_shared_so_far(s) - s->trace->shared);

    return bytes / (m->banks * m->bank_bytes) +
           (double)(s->report->conflicts - s->trace->turns);
}

/* ------------------------------------------------------------ instructions */

void
axe_sim_trace_wait(sim *s, sim_warp *w, int gate, axe_timeline_work why)
{
    if (gate)
        (void)axe_sim_trace_put(s, w,
                                (sim_record){.deed = DEED_WAIT,
                                             .work = (uint8_t)why,
                                             .gate = gate});
}

void
axe_sim_trace_at(sim *s, sim_warp *w, int gate)
{
    if (axe_sim_trace_put(s, w,
                          (sim_record){.deed = DEED_ARRIVE, .gate = gate}))
        s->trace->gate[gate].need++;
}

void
axe_sim_trace_inst(sim *s, sim_warp *w, const sim_inst *in)
{
    const sim_note *n = &s->trace->note[in - s->code->inst];

    if (!w->mask)
        return;
    for (int i = 0; i < n->n_read; i++) {
        sim_array *x = &w->array[n->read[i]];
        axe_sim_trace_wait(s, w, x->gate, AXE_WORK_MEMORY);
        x->gate = 0;
    }
    if (n->cost > 0)
        (void)axe_sim_trace_put(s, w,
                                (sim_record){.deed = DEED_ISSUE,
                                             .work = AXE_WORK_MATH,
                                             .cost = n->cost});
}

void
axe_sim_trace_before(sim *s, sim_warp *w, const sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;
    sim_record r = {.deed = DEED_ISSUE, .work = AXE_WORK_SYNC, .cost = TICKS};

    axe_sim_count_from_here(s);
    if (atom->kind == AXE_ATOM_SYNC) {
        r.deed = DEED_PAUSE;
        r.cost = axe_sim_ticks(atom->cost);
    } else if (!c->in->shape->async) {
        return;
    } else if (atom->kind == AXE_ATOM_COPY) {
        r.deed = DEED_MOVE;
        r.work = AXE_WORK_LOAD;
        r.cost = axe_sim_ticks(atom->cost);
    }
    if (r.cost > 0)
        (void)axe_sim_trace_put(s, w, r);
}

static axe_timeline_work
work_of(const sim_call *c)
{
    const axe_atom *atom = c->in->shape->atom;
    bool            load = atom->kind == AXE_ATOM_LOAD;
    axe_arg_space   memory = atom->space[load ? 1 : 0];

    if (atom->kind == AXE_ATOM_CONTRACT)
        return AXE_WORK_PRODUCT;
    if (atom->kind == AXE_ATOM_PERMUTE || memory != AXE_ARG_GLOBAL)
        return AXE_WORK_EXCHANGE;
    return load ? AXE_WORK_LOAD : AXE_WORK_STORE;
}

/* Of an atom by threads alone [cycles of an SM]. */
static double
product_cycles(const sim *s, const sim_call *c)
{
    const sim_product *p = c->in->shape->product;

    return (double)p->m * p->n * p->k * s->lanes / s->trace->rates->fp32;
}

void
axe_sim_trace_after(sim *s, sim_warp *w, const sim_call *c)
{
    const sim_shape *sh = c->in->shape;
    sim_trace       *t = s->trace;
    double           cost = axe_atom_cycles(sh->atom, sh->param);
    sim_record       r = {.deed = DEED_MOVE, .work = (uint8_t)work_of(c)};

    if (sh->atom->kind == AXE_ATOM_SYNC || sh->async)
        return;
    if (sh->atom->kind == AXE_ATOM_CONTRACT) {
        bool alone = sh->atom->by == AXE_SCOPE_THREAD;
        r.deed = alone ? DEED_ISSUE : DEED_PRODUCT;
        r.cost = axe_sim_ticks(AXE_SCHEDULERS *
                               (alone ? product_cycles(s, c) : cost));
        (void)axe_sim_trace_put(s, w, r);
        return;
    }
    r.cost = axe_sim_ticks(fmax(cost, shared_cycles(s)));
    r.bytes = (int32_t)t->bytes;
    r.memory = (int32_t)t->memory;
    if (sh->atom->kind == AXE_ATOM_LOAD) {
        sim_array *x = &w->array[c->in->arg[0].tensor];
        if (!x->gate)
            x->gate = axe_sim_gate_new(t);
        r.gate = x->gate;
    }
    if (axe_sim_trace_put(s, w, r) && r.gate)
        t->gate[r.gate].need++;
}

/* ----------------------------------------------------------------- barriers */

int
axe_sim_phase_gate(sim_trace *t, sim_mbar *b)
{
    if (!b->gate)
        b->gate = axe_sim_gate_new(t);
    return b->gate;
}

void
axe_sim_trace_barrier(sim *s, sim_warp *w, sim_named *b, bool stays)
{
    if (!b->gate)
        b->gate = axe_sim_gate_new(s->trace);
    axe_sim_trace_at(s, w, b->gate);
    if (stays)
        axe_sim_trace_wait(s, w, b->gate,
                           b == &w->cta->cluster->all ? AXE_WORK_CLUSTER
                                                      : AXE_WORK_BARRIER);
}

void
axe_sim_trace_arrive(sim *s, sim_warp *w, sim_mbar *b)
{
    axe_sim_trace_at(s, w, axe_sim_phase_gate(s->trace, b));
}

/* The phase that the warp waits for: the first of that parity that it does not
 * know to be over. */
void
axe_sim_trace_await(sim *s, sim_warp *w, sim_mbar *b, int parity)
{
    uint32_t known = w->clock.vc[b->agent];
    int      gate = 0;

    if ((int)(known & 1) != parity)
        return;
    if (known + 1 == b->phase)
        gate = b->before;
    else if (known == b->phase)
        gate = axe_sim_phase_gate(s->trace, b);
    axe_sim_trace_wait(s, w, gate, AXE_WORK_MBAR);
}

int
axe_sim_trace_count(sim *s, sim_warp *w, int before)
{
    sim_trace *t = s->trace;
    int        gate = axe_sim_gate_new(t);

    if (before)
        axe_sim_trace_then(t, before, gate);
    if (axe_sim_trace_put(s, w,
                          (sim_record){.deed = DEED_MOVE,
                                       .work = AXE_WORK_STORE,
                                       .gate = gate,
                                       .cost = TICKS,
                                       .bytes = s->mc->simt->sector_bytes}))
        t->gate[gate].need++;
    return gate;
}

void
axe_sim_trace_reach(sim *s, sim_warp *w, int gate)
{
    axe_sim_trace_wait(s, w, gate, AXE_WORK_COUNTER);
}
