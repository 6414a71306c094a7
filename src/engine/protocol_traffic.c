/* protocol_traffic.c - what went between simulated ranks, beside what the plan
 * says, or needs below its bound. */
#include <inttypes.h>

#include "base/ctx.h"
#include "engine/protocol_int.h"

typedef protocol_world world;

/* To a device comes what it needs and has not, and no more. */
static void
check_below(world *w, int64_t to)
{
    uint64_t tag;
    int64_t  want = 0, got = 0;

    for (int64_t i = 0; i < w->n_element; i++)
        want += protocol_is_needed(w, i) &&
                protocol_tag_of(w, true, to, i, 1, &tag) &&
                !protocol_tag_of(w, false, to, i, 1, &tag);
    for (int64_t k = 0; k < w->r->plan->n_step * w->n; k++)
        got += w->rank[to].got[k];
    if (want != got)
        protocol_find(w->cx, w->out, AXE_SIM_WIRE, w->r->at,
                      axe_textf(w->cx,
                                "device %" PRId64 " of %s: %" PRId64
                                " elements come, and %" PRId64
                                " are needed, below its bound",
                                to, w->r->what, got, want));
}

void
protocol_check_traffic(world *w)
{
    const axe_reshard_plan *p = w->r->plan;

    for (int64_t to = 0; w->r->bound && to < w->n; to++)
        check_below(w, to);
    for (int k = 0; k < p->n_step && !w->r->bound; k++)
        for (int64_t to = 0; to < w->n; to++)
            for (int64_t from = 0; from < w->n; from++) {
                int64_t want = axe_reshard_sends(p, k, from, to);
                int64_t got = w->rank[to].got[k * w->n + from];

                if (want < 0 || from == to || want == got)
                    continue;
                protocol_find(
                    w->cx, w->out, AXE_SIM_WIRE, w->r->at,
                    axe_textf(w->cx,
                              "device %" PRId64 " in step %d of %s: %" PRId64
                              " elements come from device %" PRId64
                              ", and the plan has %" PRId64,
                              to, k + 1, w->r->what, got, from, want));
            }
}

void
protocol_add_traffic(const world *w)
{
    for (int64_t q = 0; q < w->n; q++) {
        int64_t sum = 0;

        for (int64_t i = 0; i < w->r->plan->n_step * w->n; i++)
            sum += w->rank[q].got[i] * (int64_t)w->width;
        w->r->traffic->total += sum;
        w->r->traffic->max_recv =
            sum > w->r->traffic->max_recv ? sum : w->r->traffic->max_recv;
    }
}
