/* protocol_time.c - when ranks whose lists are simulated do what: a wait ends
 * with the post that it is for, a pull takes a message over the slowest link on
 * its way.  Messages to one rank follow one another; those from it do not meet.
 * What is computed goes on beside them. */
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

static double
later(double a, double b)
{
    return a > b ? a : b;
}

/* A rank's link, or what it computes, is busy until `to`. */
static void
go_on(const protocol_world *w, protocol_rank *me, double *clock, double to,
      protocol_work what)
{
    const protocol_times *t = w->r->times;

    if (to <= *clock)
        return;
    t->span(t->user, me->p->rank, *clock, to, what);
    *clock = to;
}

static void
compute(const protocol_world *w, protocol_rank *me, int64_t n)
{
    const double *each = w->r->times->each;

    if (each)
        go_on(w, me, &me->work, me->work + (double)n * each[me->p->rank],
              PROTOCOL_COMPUTES);
}

void
protocol_time_begin(const protocol_world *w, protocol_rank *me)
{
    me->link = me->work = w->r->times->now[me->p->rank];
}

void
protocol_time_step(const protocol_world *w, protocol_rank *me)
{
    const protocol_step *s = &me->p->step[me->at];
    bool                 peer = s->peer >= 0 && s->peer < w->n;

    switch (s->kind) {
    case PROTOCOL_POST:
        if (s->count <= me->p->n_post)
            for (uint32_t k = s->count - s->left; k <= s->count; k++)
                me->said_at[k] = later(me->link, me->work);
        break;
    case PROTOCOL_WAIT:
        if (peer && s->count <= me->p->n_post)
            go_on(w, me, &me->link, w->rank[s->peer].said_at[s->count],
                  PROTOCOL_WAITS);
        break;
    case PROTOCOL_PULL:
        if (peer && s->peer != me->p->rank && s->box.n > 0)
            go_on(w, me, &me->link,
                  me->link + message_ns(w, s->peer, me->p->rank, s->box.n),
                  PROTOCOL_MOVES);
        break;
    case PROTOCOL_USE:
        me->work = later(me->work, me->link);
        compute(w, me, s->n);
        break;
    case PROTOCOL_MAKE:
        compute(w, me, s->n);
        break;
    default:
        break;
    }
}

/* All wait for the last one. */
void
protocol_time_meet(const protocol_world *w)
{
    double last = 0;

    for (int64_t q = 0; q < w->n; q++)
        last = later(last, later(w->rank[q].link, w->rank[q].work));
    for (int64_t q = 0; q < w->n; q++) {
        go_on(w, &w->rank[q], &w->rank[q].link, last, PROTOCOL_WAITS);
        w->rank[q].work = w->r->times->now[q] = last;
    }
}
