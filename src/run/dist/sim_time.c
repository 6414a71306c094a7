/* sim_time.c - when simulated devices do what: what their launches take by
 * the model of one device, what moves by the mesh's links. */
#include "run/dist/dist_sim_int.h"

#include "base/ctx.h"
#include "machine/machine.h"

typedef axe_dist_world world;

enum { COMPUTES, LINK, ROWS };

void
axe_dist_sim_open_timeline(world *w)
{
    axe_timeline *t = axe_new(w->cx, axe_timeline);
    int           n = (int)w->d->n_device;

    *t = (axe_timeline){.kernel = w->d->k->name,
                        .machine = w->d->program->part && w->d->program->n_part
                                       ? w->d->program->part[0]->machine->name
                                       : w->d->program->machine->name,
                        .part = "device",
                        .unit = "ns",
                        .ghz = 1,
                        .n_sm = n,
                        .n_launch = 1,
                        .n_row = ROWS * n,
                        .n_role = ROWS};
    t->launch = axe_new(w->cx, axe_timeline_launch);
    t->row = axe_new_array(w->cx, axe_timeline_row, t->n_row);
    t->role = axe_new_array(w->cx, axe_timeline_role, t->n_role);
    for (int i = 0; i < t->n_row; i++)
        t->row[i] = (axe_timeline_row){
            .kind = i % ROWS == LINK ? AXE_ROW_LINK : AXE_ROW_DEVICE,
            .sm = i / ROWS};
    for (int i = 0; i < ROWS; i++)
        t->role[i] = (axe_timeline_role){.kind = t->row[i].kind, .n = n};
    w->t = t;
    w->now = axe_new_array(w->cx, double, n);
    w->took = axe_new_array(w->cx, double, n);
}

static void
add_span(const world *w, int64_t q, int row, double begin, double end,
         axe_timeline_work what)
{
    axe_timeline_span s = {(int64_t)(begin + 0.5), (int64_t)(end + 0.5), what};

    view_row_add(w->cx, &w->t->row[q * ROWS + row], s);
    w->t->role[row].cycles[what] += s.end - s.begin;
}

void
axe_dist_sim_span(void *user, int64_t q, double begin, double end,
                  protocol_work what)
{
    const world *w = user;

    if (what == PROTOCOL_COMPUTES)
        add_span(w, q, COMPUTES, begin, end, w->work);
    else
        add_span(w, q, LINK, begin, end,
                 what == PROTOCOL_WAITS ? AXE_WORK_COUNTER : AXE_WORK_LOAD);
}

void
axe_dist_sim_launched(world *w, int64_t q, const axe_sim_report *r)
{
    double ns =
        r->timeline ? (double)r->timeline->cycles / r->timeline->ghz : r->ns[1];

    w->work = r->products > 0 ? AXE_WORK_PRODUCT : AXE_WORK_MATH;
    if (w->fuse) {
        w->took[q] = ns;
        return;
    }
    add_span(w, q, COMPUTES, w->now[q], w->now[q] + ns, w->work);
    w->now[q] += ns;
}

/* An element of the buffer that is cut takes its share of the launch. */
axe_status
axe_dist_sim_time_pieces(world *w)
{
    protocol_times times = {
        .now = w->now, .each = w->took, .span = axe_dist_sim_span, .user = w};
    protocol_run   r = {.plan = w->fuse->plan,
                        .rank = w->piece,
                        .what = "what overlaps",
                        .times = &times};
    axe_sim_report found = {0};

    for (int64_t q = 0; w->t && q < w->d->n_device; q++) {
        int64_t n = axe_reshard_held(w->fuse->plan, !w->fuse->giving, q);

        w->took[q] /= n > 0 ? (double)n : 1;
    }
    if (w->t && w->piece)
        AXE_TRY(axe_dist_number(w->cx, w->fuse->cut, &r.type));
    if (w->t && w->piece)
        AXE_TRY(protocol_simulate(w->cx, &r, &found));
    for (int64_t q = 0; w->t && q < w->d->n_device; q++)
        w->took[q] = 0;
    w->piece = NULL;
    return AXE_OK;
}

void
axe_dist_sim_close_timeline(world *w)
{
    axe_timeline *t = w->t;
    double        last = 0;

    for (int64_t q = 0; q < w->d->n_device; q++)
        last = w->now[q] > last ? w->now[q] : last;
    t->cycles = (int64_t)(last + 0.5);
    t->launch[0] = (axe_timeline_launch){
        .name = t->kernel, .end = t->cycles, .blocks = w->out->n_block};
    for (int i = 0; i < ROWS; i++)
        t->role[i].total = t->cycles * w->d->n_device;
    w->out->timeline = t;
    w->t = NULL;
}
