/* turn.c - the clusters of a launch, and who runs next.
 *
 * Clusters run one after the other, or, where some wait for counters of others,
 * as many at the same time as there is place for.  Of those, one may be kept
 * back, or go first, whenever there is a choice. */
#include "sim/sim_int.h"

enum { SLICE = 4096, SHORT_SLICE = 64 };

/* Steele, Lea and Flood's SplitMix64. */
uint64_t
axe_sim_random(sim *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t
n_clusters(const sim *s)
{
    return s->n_block / s->g->cluster;
}

/* Who comes before whom: those of class 1 run when nobody of class 0 can. */
static int
class_of(const sim *s, const sim_cluster *r)
{
    const axe_sim_options *with = &s->spec->with;
    int64_t                n = n_clusters(s), who = with->who % n;

    who += who < 0 ? n : 0;
    if (with->turns == AXE_SIM_EVEN)
        return 0;
    return (r->number == who) == (with->turns == AXE_SIM_BEHIND);
}

static sim_warp *
warp_number(const sim *s, sim_cluster *r, int i)
{
    return &r->cta[i / s->n_warp].warp[i % s->n_warp];
}

/* Every warp that can runs until it must wait; true: one did. */
static bool
run_warps(sim *s, sim_cluster *r, int64_t slice)
{
    int  n = s->g->cluster * s->n_warp;
    bool ran = false;

    for (int i = 0; i < n && !s->stop; i++) {
        sim_warp *w = warp_number(s, r, i);
        if (w->wait != SIM_RUN)
            continue;
        axe_sim_warp_run(s, w, slice);
        ran = true;
    }
    return ran;
}

/* One round of all warps; if none can run, one atom of each cluster. */
static bool
run_round(sim *s, int class)
{
    bool ran = false;

    for (int step = 0; step < 2 && !ran; step++)
        for (int i = 0; i < s->n_resident; i++) {
            sim_cluster *r = &s->resident[i];
            if (!r->runs || class_of(s, r) != class)
                continue;
            ran |= step == 0 ? run_warps(s, r, class == 0 ? SLICE : SHORT_SLICE)
                             : axe_sim_engine_step(s, r);
        }
    return ran;
}

/* One warp of the cluster, or one atom under way, by chance. */
static bool
run_any(sim *s, sim_cluster *r)
{
    int n = s->g->cluster * s->n_warp, can = 0, pick;

    for (int i = 0; i < n; i++)
        can += warp_number(s, r, i)->wait == SIM_RUN;
    if (can + (r->queue != NULL) == 0)
        return false;
    pick = (int)(axe_sim_random(s) % (uint64_t)(can + (r->queue != NULL)));
    if (pick == can)
        return axe_sim_engine_step(s, r);
    for (int i = 0; i < n; i++) {
        sim_warp *w = warp_number(s, r, i);
        if (w->wait != SIM_RUN || pick-- > 0)
            continue;
        axe_sim_warp_run(s, w, 1 + (int64_t)(axe_sim_random(s) % SHORT_SLICE));
        break;
    }
    return true;
}

static bool
run_one(sim *s, int class)
{
    int n = s->n_resident;
    int from = n > 1 ? (int)(axe_sim_random(s) % (uint64_t)n) : 0;

    for (int i = 0; i < n; i++) {
        sim_cluster *r = &s->resident[(from + i) % n];
        if (r->runs && class_of(s, r) == class && run_any(s, r))
            return true;
    }
    return false;
}

/* Something happens; false: nothing can. */
static bool
turn(sim *s)
{
    bool random = s->spec->with.policy == AXE_SIM_RANDOM;

    return (random ? run_one(s, 0) : run_round(s, 0)) ||
           (s->spec->with.turns != AXE_SIM_EVEN &&
            (random ? run_one(s, 1) : run_round(s, 1)));
}

/* ----------------------------------------------------------------- a launch */

static bool
is_over(const sim *s, const sim_cluster *r)
{
    for (int i = 0; i < s->g->cluster; i++)
        if (r->cta[i].n_left < s->n_warp)
            return false;
    return true;
}

/* Clusters begin where there is place. */
static void
begin_some(sim *s)
{
    for (int i = 0; i < s->n_resident && !s->stop; i++) {
        int64_t number = s->resident[i].runs ? -1 : axe_sim_launch_take(s);
        if (number >= 0)
            axe_sim_cluster_begin(s, &s->resident[i], number);
    }
}

/* Those that are over end; all do, where the launch stops. */
static void
end_some(sim *s)
{
    for (int i = 0; i < s->n_resident; i++) {
        sim_cluster *r = &s->resident[i];
        if (!r->runs || !(s->stop || is_over(s, r)))
            continue;
        axe_sim_cluster_end(s, r);
        axe_sim_launch_next(s);
    }
    s->ended = false;
}

static bool
any_runs(const sim *s)
{
    for (int i = 0; i < s->n_resident; i++)
        if (s->resident[i].runs)
            return true;
    return false;
}

/* Instructions of one cluster, or of all that run together. */
static void
check_steps(sim *s)
{
    int64_t each = s->spec->with.max_step > 0 ? s->spec->with.max_step
                                              : INT64_C(1000000000);
    int64_t n = s->together ? n_clusters(s) : 1, most;

    if (!axe_mul(each, n, &most) || s->n_step <= most)
        return;
    axe_sim_find(s, AXE_SIM_DEADLOCK, NULL, -1,
                 "the blocks from %lld on do not end within %lld instructions",
                 (long long)(s->resident[0].number * s->g->cluster),
                 (long long)most);
    s->stop = true;
}

void
axe_sim_clusters(sim *s)
{
    axe_sim_launch_begin(s);
    for (begin_some(s); any_runs(s); begin_some(s)) {
        while (!s->stop && !s->ended) {
            if (!turn(s))
                axe_sim_deadlock(s);
            check_steps(s);
        }
        end_some(s);
    }
}
