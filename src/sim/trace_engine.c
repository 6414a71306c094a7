/* trace_engine.c - what engines were asked for, by whom, and what of it may be
 * waited for. */
#include <math.h>

#include "sim/trace.h"

/* The gate of what the warp asks for until its next commit, which comes behind
 * what it asked for before. */
static int
open_gate(sim_trace *t, sim_group *g, int which)
{
    if (g->gate[which])
        return g->gate[which];
    g->gate[which] = axe_sim_gate_new(t);
    if (g->last[which])
        axe_sim_trace_then(t, g->last[which], g->gate[which]);
    return g->gate[which];
}

void
axe_sim_trace_commit(sim_group *g)
{
    for (int i = 0; i < 2; i++) {
        if (g->gate[i])
            g->last[i] = g->gate[i];
        g->gate[i] = 0;
    }
}

void
axe_sim_trace_drain(sim *s, sim_warp *w, int gate)
{
    axe_sim_trace_wait(s, w, gate, AXE_WORK_ATOMS);
}

/* One of the warps that do it together has come. */
void
axe_sim_trace_come(sim *s, sim_warp *w, sim_group *g, sim_async *o)
{
    sim_trace *t = s->trace;

    if (!o->start) {
        o->start = axe_sim_gate_new(t);
        o->gate = axe_sim_gate_new(t);
        t->gate[o->gate].need = 1;
    }
    axe_sim_trace_at(s, w, o->start);
    for (int i = 0; i < 2; i++)
        axe_sim_trace_then(t, o->gate, open_gate(t, g, i));
}

static sim_engine
engine_of(const sim_async *o)
{
    const sim_shape *sh = o->call.in->shape;

    if (sh->atom->kind == AXE_ATOM_CONTRACT || sh->tile)
        return ENGINE_TENSOR;
    if (sh->atom->kind == AXE_ATOM_COPY)
        return ENGINE_COPY;
    return sh->atom->kind == AXE_ATOM_SYNC ? ENGINE_NONE : ENGINE_MOVE;
}

/* Into how many CTAs a copy goes. */
static int
n_destinations(const sim_call *c)
{
    int64_t mask;

    if (c->in->shape->atom->kind != AXE_ATOM_COPY || c->in->n_arg < 4)
        return 1;
    mask = c->at[3][axe_sim_first(c->mask)];
    return mask > 0 ? axe_sim_how_many((axe_lane_set)mask) : 1;
}

/* An arrival that comes when the group is done so far. */
static void
ask_arrival(sim *s, sim_async *o, sim_group *g)
{
    (void)open_gate(s->trace, g, 0);
    axe_sim_trace_at(s, o->call.warp, g->gate[0]);
    axe_sim_trace_commit(g);
    o->gate = g->last[0];
}

void
axe_sim_trace_ask(sim *s, sim_async *o)
{
    sim_trace *t = s->trace;
    sim_call  *c = &o->call;
    sim_group *g =
        c->in->shape->group >= 0 ? &c->warp->group[c->in->shape->group] : NULL;
    sim_task op = {.engine = engine_of(o),
                   .cta = (o->bar && !o->arrives ? o->to : c->warp->cta)->ran,
                   .n_cta = c->in->shape->ctas,
                   .share = n_destinations(c)};

    if (o->arrives) {
        ask_arrival(s, o, g);
        return;
    }
    t->op = axe_sim_grown(t->own, t->op, t->n_op, &t->cap_op, sizeof t->op[0]);
    o->op = t->n_op++;
    if (o->start) {
        op.gate = o->gate;
        t->gate[o->start].op = o->op;
    } else if (o->bar) {
        op.gate = axe_sim_phase_gate(t, o->bar);
        t->gate[op.gate].need++;
    } else {
        op.gate = open_gate(t, g, 0);
        op.read = open_gate(t, g, 1);
        t->gate[op.gate].need++;
        t->gate[op.read].need++;
    }
    t->op[o->op] = op;
    if (!o->start)
        (void)axe_sim_trace_put(s, c->warp,
                                (sim_record){.deed = DEED_ASK, .gate = o->op});
}

void
axe_sim_trace_begin(sim *s, sim_async *o)
{
    axe_sim_count_from_here(s);
    if (o->arrives)
        axe_sim_trace_then(s->trace, o->gate,
                           axe_sim_phase_gate(s->trace, o->bar));
}

static bool
in_shared(const sim_side *x)
{
    return x->memory && !x->tile;
}

/* [cycles] that an SM's shared memory takes to give a product its factors. */
static double
factor_cycles(const sim *s, const sim_call *c)
{
    const sim_product *p = c->in->shape->product;
    const axe_simt    *m = s->mc->simt;
    double             bits = 0;

    for (int i = 1; p && i <= 2; i++)
        if (in_shared(i == 1 ? &p->a : &p->b))
            bits +=
                (double)(i == 1 ? p->m : p->n) * p->k *
                axe_type_table[s->g->buffer[c->in->arg[i].tensor].tensor->type]
                    .bits;
    return bits / 8 / (m->banks * m->bank_bytes) / c->in->shape->ctas;
}

void
axe_sim_trace_done(sim *s, const sim_async *o)
{
    sim_trace       *t = s->trace;
    sim_task        *op = &t->op[o->op];
    const sim_shape *sh = o->call.in->shape;
    double           cycles = axe_atom_cycles(sh->atom, sh->param);

    if (o->arrives)
        return;
    op->bytes = t->bytes / op->share;
    op->memory = t->memory / op->share;
    if (op->engine == ENGINE_COPY && op->bytes == 0) /* between CTAs */
        op->bytes = (axe_sim_shared_so_far(s) - t->shared) / 2;
    if (op->engine == ENGINE_TENSOR)
        cycles = fmax(cycles, factor_cycles(s, &o->call));
    op->cost = axe_sim_ticks(op->engine == ENGINE_COPY ? 0 : cycles);
}
