/* control.c - where a warp goes on: loops, branches, the ends of both.
 *
 * Lanes that do not take part are off in the mask.  A frame is an open IF or
 * loop; lanes that have left the innermost loop, or its iteration, are in
 * `gone` and come back at its end. */
#include <inttypes.h>

#include "sim/sim_int.h"

static sim_frame *
push(sim_warp *w)
{
    sim_frame *f = &w->frame[w->n_frame++];

    *f = (sim_frame){.mask = w->mask, .other = w->mask, .loop = w->loop};
    return f;
}

static axe_lane_set
gone(const sim_warp *w)
{
    return w->loop < 0 ? 0 : w->frame[w->loop].gone;
}

/* Lanes where the variable is still below its bound. */
static axe_lane_set
below(const sim_warp *w, const sim_inst *in, axe_lane_set mask)
{
    const int64_t *v = w->slot[in->slot], *end = w->slot[in->bound];
    int            lanes = w->cta->s->lanes;
    axe_lane_set   on = 0;

    if (!w->cta->s->code->lanes[in->slot])
        return v[0] < end[0] ? mask : 0;
    for (int l = 0; l < lanes; l++)
        on |= (axe_lane_set)(v[l] < end[l]) << l;
    return on & mask;
}

void
axe_sim_assign(sim_warp *w, int slot, const sim_expr *e, const sim_inst *in)
{
    const sim_val *v = axe_sim_eval(w, e, w->mask, in);

    if (!w->cta->s->code->lanes[slot]) {
        w->slot[slot][0] = v->i[0];
        return;
    }
    for (int l = 0; l < w->cta->s->lanes; l++)
        if (axe_sim_has(w->mask, l))
            w->slot[slot][l] = v->i[e->lanes ? l : 0];
}

/* Out of the innermost loop: its frame goes, the lanes that came in go on. */
static void
leave(sim_warp *w, int pc)
{
    sim_frame *f = &w->frame[--w->n_frame];

    w->mask = f->other;
    w->loop = f->loop;
    w->pc = pc;
}

static void
enter_loop(sim_warp *w, const sim_inst *in)
{
    bool counts = in->op == SIM_LOOP;

    if (w->mask && counts) {
        axe_sim_assign(w, in->slot, in->a, in);
        axe_sim_assign(w, in->bound, in->b, in);
    }
    push(w);
    w->loop = w->n_frame - 1;
    if (counts)
        w->mask = below(w, in, w->mask);
    w->frame[w->loop].mask = w->mask;
    if (!w->mask)
        leave(w, in->jump);
    else
        w->pc++;
}

static void
add_step(sim_warp *w, const sim_inst *in)
{
    int64_t *v = w->slot[in->slot];
    int      n = w->cta->s->code->lanes[in->slot] ? w->cta->s->lanes : 1;

    for (int l = 0; l < n; l++)
        if (n == 1 || axe_sim_has(w->mask, l))
            v[l] = (int64_t)((uint64_t)v[l] + (uint64_t)in->step);
}

static void
next_iteration(sim_warp *w, const sim_inst *in)
{
    sim_frame *f = &w->frame[w->loop];

    w->mask = f->mask & ~f->broke;
    f->gone = f->broke;
    if (in->op == SIM_NEXT) {
        add_step(w, in);
        w->mask = below(w, in, w->mask);
    }
    f->mask = w->mask;
    if (!w->mask)
        leave(w, w->pc + 1);
    else
        w->pc = in->jump;
}

/* The machine elects a lane of the warp, and not always that which the value
 * picks: it is another where the order of events is. */
static axe_lane_set
elected(sim *s, const sim_warp *w, const sim_inst *in, axe_lane_set on)
{
    const axe_sim_options *with = &s->spec->with;

    if (!in->from->elect || !w->mask)
        return on;
    if (w->mask != s->all_lanes)
        axe_sim_find(s, AXE_SIM_PARTIAL, in, -1,
                     "%s elects a lane with lanes 0x%" PRIx64 " only",
                     axe_sim_agent_text(s, w->agent), w->mask);
    if (with->policy == AXE_SIM_LAZY)
        return on;
    return AXE_ONE_LANE(with->policy == AXE_SIM_EAGER
                            ? (uint64_t)s->lanes - 1
                            : with->seed % (uint64_t)s->lanes);
}

static void
branch(sim_warp *w, const sim_inst *in)
{
    int          lanes = w->cta->s->lanes;
    axe_lane_set on = 0;
    sim_frame   *f;

    if (w->mask) {
        const sim_val *v = axe_sim_eval(w, in->a, w->mask, in);
        for (int l = 0; l < lanes; l++)
            on |= (axe_lane_set)(v->i[in->a->lanes ? l : 0] != 0) << l;
        on = elected(w->cta->s, w, in, on);
    }
    f = push(w);
    f->other = w->mask & ~on;
    w->mask &= on;
    w->pc = w->mask ? w->pc + 1 : in->jump;
}

void
axe_sim_advance(sim_warp *w, const sim_inst *in)
{
    int64_t *v = w->slot[in->slot];
    int      n = w->cta->s->code->lanes[in->slot] ? w->cta->s->lanes : 1;

    for (int l = 0; l < n; l++)
        if (n == 1 || axe_sim_has(w->mask, l))
            v[l] = v[l] + 1 == in->step ? 0 : v[l] + 1;
}

static void
jump_out(sim_warp *w, const sim_inst *in)
{
    sim_frame *f;

    w->pc++;
    if (w->loop < 0)
        return;
    f = &w->frame[w->loop];
    f->gone |= w->mask;
    if (in->op == SIM_BREAK)
        f->broke |= w->mask;
    w->mask = 0;
}

/* True if the instruction was one of these. */
bool
axe_sim_control(sim_warp *w, const sim_inst *in)
{
    switch (in->op) {
    case SIM_LOOP:
    case SIM_FOREVER:
        enter_loop(w, in);
        return true;
    case SIM_NEXT:
    case SIM_AGAIN:
        next_iteration(w, in);
        return true;
    case SIM_IF:
        branch(w, in);
        return true;
    case SIM_ELSE:
        w->mask = w->frame[w->n_frame - 1].other;
        w->pc = w->mask ? w->pc + 1 : in->jump;
        return true;
    case SIM_END:
        w->mask = w->frame[--w->n_frame].mask & ~gone(w);
        w->pc++;
        return true;
    case SIM_BREAK:
    case SIM_CONTINUE:
        jump_out(w, in);
        return true;
    default:
        return false;
    }
}
