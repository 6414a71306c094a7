/* protocol_time.c - when ranks whose lists are simulated do what: a wait ends
 * with the post that it is for, a pull takes a message over the slowest link on
 * its way.  Messages to one rank follow one another; those from it do not meet.
 */
#include "engine/protocol_int.h"

/* What a message between two devices takes: by the slowest link on the way. */
static double
message_ns(const protocol_world *w, int64_t a, int64_t b, int64_t n)
{
    const axe_mesh *m = w->r->plan->mesh;
    int             link = -1;

    for (int i = 0; i < m->n_axis; i++) {
        const axe_mesh_axis *x = &m->axis[i];

        if (a / x->stride % x->size != b / x->stride % x->size &&
            (link < 0 || x->link < link))
            link = x->link;
    }
    if (link < 0)
        return 0;
    return (double)m->link[link].latency +
           (double)n * (double)w->width * 1e9 / (double)m->link[link].bandwidth;
}

static void
go_on(const protocol_world *w, const protocol_rank *me, double to, bool waits)
{
    const protocol_times *t = w->r->times;
    double               *now = &t->now[me->p->rank];

    if (to <= *now)
        return;
    t->span(t->user, me->p->rank, *now, to, waits);
    *now = to;
}

void
protocol_time_step(const protocol_world *w, protocol_rank *me)
{
    const protocol_step *s = &me->p->step[me->at];
    uint32_t             most = me->p->n_post;
    int64_t              q = me->p->rank;

    if (s->kind == PROTOCOL_POST && s->count <= most)
        me->said_at[s->count] = w->r->times->now[q];
    if ((s->kind != PROTOCOL_WAIT && s->kind != PROTOCOL_PULL) || s->peer < 0 ||
        s->peer >= w->n)
        return;
    if (s->kind == PROTOCOL_WAIT && s->count <= most)
        go_on(w, me, w->rank[s->peer].said_at[s->count], true);
    else if (s->kind == PROTOCOL_PULL && s->peer != q && s->box.n > 0)
        go_on(w, me, w->r->times->now[q] + message_ns(w, s->peer, q, s->box.n),
              false);
}

/* All wait for the last one. */
void
protocol_time_meet(const protocol_world *w)
{
    double last = 0;

    for (int64_t q = 0; q < w->n; q++)
        last = w->r->times->now[q] > last ? w->r->times->now[q] : last;
    for (int64_t q = 0; q < w->n; q++)
        go_on(w, &w->rank[q], last, true);
}
