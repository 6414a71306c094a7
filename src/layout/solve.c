/* solve.c - sums of progressions solved for one summand, by search.
 *
 * Wanted: progressions x with fixed + sum x = target.  All sets hold 0, so
 * every partial sum is inside the target, and strides can be taken in ascending
 * order leaving out those that add nothing.  Let t be the least member of the
 * target not yet reached: it is a reached point plus strides still to come, the
 * next of which is therefore at most t, above the last one, and in the target.
 * That leaves few candidates; mostly t itself is the one.  The algebra of
 * tile_of.c comes here only when the normal forms do not tell. */
#include <inttypes.h>

#include "layout/set.h"

typedef struct search {
    axe_ctx        *cx;
    const axe_runs *target;
    int             n; /* iters chosen */
    axe_iter       *x;
    int64_t         steps;
    bool            gave_up;
} search;

/* Least member of b that is not in a, which is within b; -1 if none. */
static int64_t
first_missing(const axe_runs *a, const axe_runs *b)
{
    int i = 0;

    for (int k = 0; k < b->n; k++) {
        int64_t at = b->run[k].lo;
        while (i < a->n && a->run[i].lo == at) {
            at = a->run[i++].hi + 1;
            if (at <= b->run[k].hi)
                return at;
        }
        if (at <= b->run[k].hi)
            return at;
    }
    return -1;
}

/* `have` with (extent : stride) added, if that stays in the target. */
static bool
extend(search *s, const axe_runs *have, int64_t extent, int64_t stride,
       axe_runs *out)
{
    s->steps += have->n + s->target->n;
    if (s->steps > AXE_SET_MAX) {
        s->gave_up = true;
        return false;
    }
    return axe_runs_add(s->cx, have, extent, stride, out) &&
           axe_runs_within(out, s->target);
}

static bool choose(search *s, const axe_runs *have, int64_t above);

/* Go on with `stride`, longest first. */
static bool
try_stride(search *s, const axe_runs *have, int64_t stride)
{
    int64_t  extent = 1;
    axe_runs more;

    while (extend(s, have, extent + 1, stride, &more))
        extent++;
    for (; extent > 1 && !s->gave_up; extent--) {
        if (!extend(s, have, extent, stride, &more))
            return false;
        s->x[s->n++] = (axe_iter){.extent = extent, .stride = stride};
        if (choose(s, &more, stride))
            return true;
        s->n--;
    }
    return false;
}

/* Complete `have` by strides above `above`. */
static bool
choose(search *s, const axe_runs *have, int64_t above)
{
    int64_t least = first_missing(have, s->target);

    if (least < 0)
        return true;
    if (s->n == AXE_SUMMANDS) {
        s->gave_up = true;
        return false;
    }
    for (int k = s->target->n - 1; k >= 0 && !s->gave_up; k--) {
        int64_t hi = s->target->run[k].hi, lo = s->target->run[k].lo;
        for (int64_t v = hi < least ? hi : least;
             v >= lo && v > above && !s->gave_up; v--)
            if (try_stride(s, have, v))
                return true;
    }
    return false;
}

axe_found
axe_sums_solve(axe_ctx *cx, const axe_runs *fixed, const axe_runs *target,
               axe_iter x[AXE_SUMMANDS], int *n)
{
    search s = {.cx = cx, .target = target, .x = x};
    bool   found = axe_runs_within(fixed, target) && choose(&s, fixed, 0);

    *n = s.n;
    return found ? AXE_FOUND : s.gave_up ? AXE_UNDECIDED : AXE_NONE;
}
