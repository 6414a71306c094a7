/* asked.c - what the host has asked, no thread asks again.
 *
 * Boxes have conditions over sizes without which the launch is refused: strides
 * that are multiples of 16 bytes.  Pieces, and tiles that go out by way of
 * staging, have conditions of the same kind, and else go another way.  Where
 * boxes of the launch ask for as much, that other way is never gone; left out,
 * it takes no registers, and no code. */
#include "plan/access/access.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/simt_int.h"
#include "plan/simt/team/team.h"

static const axe_simt_launch *
launch_of(const axe_planner *p, const axe_schedule *s)
{
    const axe_thread_group *cta = axe_threads_cta(s->simt->threads);
    const axe_simt_launch  *l = p->simt->launch;

    while (l->threads != cta)
        l++;
    return l;
}

/* Are they one launch, maybe of several scopes? */
static bool
is_one(const axe_simt_launch *a, const axe_simt_launch *b)
{
    return a == b || (a->overlap && a->overlap == b->overlap);
}

/* Is the launch of s refused where that does not hold? */
static bool
is_asked(const axe_planner *p, const axe_schedule *s, const axe_node *when)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule  *o = p->schedule[i];
        const axe_simt_copy *c = o ? o->simt->copy : NULL;
        if (c && c->box && c->when &&
            is_one(launch_of(p, o), launch_of(p, s)) &&
            axe_simt_implies(c->when, when))
            return true;
    }
    return false;
}

static void
forget_pieces(axe_planner *p, axe_simt_schedule *s)
{
    struct axe_simt_copy *c = axe_new(p->cx, struct axe_simt_copy);

    *c = *s->copy;
    c->when = NULL;
    s->copy = c;
}

static void
forget_stage(axe_planner *p, axe_simt_schedule *s)
{
    struct axe_simt_copy  *c = axe_new(p->cx, struct axe_simt_copy);
    struct axe_simt_stage *st = axe_new(p->cx, struct axe_simt_stage);

    *st = *s->copy->stage;
    st->when = NULL;
    *c = *s->copy;
    c->stage = st;
    s->copy = c;
}

void
axe_simt_forget_asked(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_index_stmt; i++) {
        const axe_schedule  *s = p->schedule[i];
        const axe_simt_copy *c = s ? s->simt->copy : NULL;
        if (c && c->stage && c->stage->when && is_asked(p, s, c->stage->when))
            forget_stage(p, p->simt->of[i]);
        else if (c && !c->box && !c->stage && c->when &&
                 is_asked(p, s, c->when))
            forget_pieces(p, p->simt->of[i]);
    }
}
