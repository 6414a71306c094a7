/* sync.c - barriers: named ones of a CTA, the cluster's, mbarriers.
 *
 * An instruction that must wait is BLOCKED and comes again; what it did when it
 * came first (an arrival) is remembered with the warp. */
#include "ptx.h"

ptx_result
ptx_nothing(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    (void)w;
    (void)i;
    (void)lanes;
    return PTX_DONE;
}

/* The launch before is over whenever a launch runs here, so what is checked is
 * that a warp waits before it touches memory. */
ptx_result
ptx_wait_launch(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    (void)i;
    (void)lanes;
    w->early = false;
    return PTX_DONE;
}

bool
ptx_is_early(ptx_warp *w, const ptx_insn *i)
{
    if (w->early)
        ptx_wrong(w, i, "the launch before it may still run");
    return w->early;
}

/* ----------------------------------------------------------- named barriers */

static int
live_threads(const ptx_cta *c)
{
    int n = 0;

    for (int i = 0; i < c->n_warp; i++)
        n += c->warp[i].live ? N_LANE : 0;
    return n;
}

/* Barrier and count; without one all threads that have not ended. */
static ptx_result
find_named(ptx_warp *w, const ptx_insn *i, uint32_t lanes, ptx_named **out,
           int *want)
{
    uint64_t id, n = 0;

    if (ptx_same(w, i, i->arg[0].op, lanes, &id) != PTX_DONE ||
        (i->n_arg > 1 && ptx_same(w, i, i->arg[1].op, lanes, &n) != PTX_DONE))
        return PTX_WRONG;
    if (id >= N_NAMED)
        return ptx_wrong(w, i, "there is no barrier %llu",
                         (unsigned long long)id);
    if (i->n_arg > 1 &&
        (n == 0 || n % N_LANE != 0 || n > (uint64_t)w->cta->n_warp * N_LANE))
        return ptx_wrong(w, i, "%llu threads cannot meet",
                         (unsigned long long)n);
    *out = &w->cta->named[id];
    *want = i->n_arg > 1 ? (int)n : live_threads(w->cta);
    return PTX_DONE;
}

static ptx_result
come(ptx_warp *w, const ptx_insn *i, ptx_named *b, int want)
{
    if (b->come > 0 && i->n_arg > 1 && b->want != want)
        return ptx_wrong(w, i, "a barrier of %d threads is one of %d here",
                         b->want, want);
    b->want = want;
    b->come += N_LANE;
    return PTX_DONE;
}

static void
open_named(ptx_named *b, int want)
{
    if (b->come < want)
        return;
    b->come = 0;
    b->phase++;
}

ptx_result
ptx_meet(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_named *b;
    int        want;

    if (find_named(w, i, lanes, &b, &want) != PTX_DONE)
        return PTX_WRONG;
    if (!w->waits) {
        if (come(w, i, b, want) != PTX_DONE)
            return PTX_WRONG;
        w->waits = true;
        w->named_phase = b->phase;
        w->cta->cluster->moved = true;
    }
    if (b->phase == w->named_phase)
        open_named(b, want);
    if (b->phase == w->named_phase)
        return PTX_BLOCKED;
    w->waits = false;
    return PTX_DONE;
}

ptx_result
ptx_come(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_named *b;
    int        want;

    if (find_named(w, i, lanes, &b, &want) != PTX_DONE ||
        come(w, i, b, want) != PTX_DONE)
        return PTX_WRONG;
    open_named(b, want);
    return PTX_DONE;
}

/* ------------------------------------------------------ the cluster's barrier
 */

ptx_result
ptx_cluster_come(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    (void)lanes;
    if (w->came)
        return ptx_wrong(w, i, "this warp has arrived already");
    w->came = true;
    w->cluster_phase = w->cta->cluster->phase;
    return PTX_DONE;
}

static void
open_cluster(ptx_cluster *c)
{
    for (int r = 0; r < c->n_cta; r++)
        for (int k = 0; k < c->cta[r].n_warp; k++) {
            const ptx_warp *w = &c->cta[r].warp[k];
            if (w->live && !(w->came && w->cluster_phase == c->phase))
                return;
        }
    c->phase++;
}

ptx_result
ptx_cluster_wait(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_cluster *c = w->cta->cluster;

    (void)lanes;
    if (!w->came)
        return ptx_wrong(w, i, "this warp has not arrived");
    if (c->phase == w->cluster_phase)
        open_cluster(c);
    if (c->phase == w->cluster_phase)
        return PTX_BLOCKED;
    w->came = false;
    return PTX_DONE;
}

/* ----------------------------------------------------------------- mbarriers
 */

static ptx_bar *
bar_word(ptx_warp *w, const ptx_insn *i, uint64_t at)
{
    uint32_t from;
    ptx_cta *c = ptx_owner(w, i, at, &from);

    if (!c || !ptx_shared(w, i, at, 8, 8, A_WRITE))
        return NULL;
    return &c->bar[(from - SHARED_BASE) / 8];
}

ptx_bar *
ptx_bar_at(ptx_warp *w, const ptx_insn *i, uint64_t at)
{
    ptx_bar *b = bar_word(w, i, at);

    if (b && !b->set) {
        ptx_wrong(w, i, "there is no mbarrier at %#llx",
                  (unsigned long long)at);
        return NULL;
    }
    return b;
}

static void
turn(ptx_warp *w, ptx_bar *b)
{
    w->cta->cluster->moved = true;
    if (b->missing > 0 || b->bytes != 0)
        return;
    b->phase++;
    b->missing = b->want;
}

/* One arrival, before which `bytes` more are expected. */
ptx_result
ptx_arrive_at(ptx_warp *w, const ptx_insn *i, uint64_t at, long bytes)
{
    enum { MOST = (1 << 20) - 1 };
    ptx_bar *b = ptx_bar_at(w, i, at);

    if (!b)
        return PTX_WRONG;
    if (b->missing == 0)
        return ptx_wrong(w, i, "mbarrier %#llx has all of its %d arrivals",
                         (unsigned long long)at, b->want);
    b->bytes += bytes;
    if (b->bytes > MOST)
        return ptx_wrong(w, i, "mbarrier %#llx expects %ld bytes, %d at most",
                         (unsigned long long)at, b->bytes, MOST);
    b->missing--;
    turn(w, b);
    return PTX_DONE;
}

ptx_result
ptx_bytes_come(ptx_warp *w, const ptx_insn *i, uint64_t at, long bytes)
{
    ptx_bar *b = ptx_bar_at(w, i, at);

    if (!b)
        return PTX_WRONG;
    b->bytes -= bytes;
    if (b->bytes < 0 && b->missing == 0)
        return ptx_wrong(w, i,
                         "more bytes come to mbarrier %#llx than it "
                         "expects",
                         (unsigned long long)at);
    turn(w, b);
    return PTX_DONE;
}

ptx_result
ptx_bar_init(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t n = ptx_get(w, i->arg[1].op, l) & 0xffffffff;
        ptx_bar *b = bar_word(w, i, ptx_address(w, &i->arg[0], l));
        if (!b)
            return PTX_WRONG;
        if (b->set)
            return ptx_wrong(w, i, "an mbarrier is there already");
        if (n == 0 || n >= 1 << 20)
            return ptx_wrong(w, i, "%llu arrivals", (unsigned long long)n);
        *b = (ptx_bar){.set = true, .want = (int)n, .missing = (int)n};
    }
    return PTX_DONE;
}

static ptx_result
arrive(ptx_warp *w, const ptx_insn *i, uint32_t lanes, bool expect)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int            l = ptx_first(left);
        const ptx_arg *a = &i->arg[i->arg[0].memory ? 0 : 1];
        uint64_t       at = ptx_address(w, a, l);
        long           n = 0;
        if (expect)
            n = (long)(ptx_get(w, a[1].op, l) & 0xffffffff);
        if (ptx_has(i, W_SHARED) && at >> RANK_SHIFT)
            return ptx_wrong(w, i, "%#llx is an address of shared::cluster",
                             (unsigned long long)at);
        if (ptx_arrive_at(w, i, at, n) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

ptx_result
ptx_bar_arrive(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return arrive(w, i, lanes, false);
}

ptx_result
ptx_bar_expect(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    return arrive(w, i, lanes, true);
}

/* The phase of that parity is over: the current one has the other.  It may
 * wait as long as it likes, so it does until that is so. */
ptx_result
ptx_bar_wait(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t parity = ptx_get(w, i->arg[2].op, l) & 0xffffffff;
        ptx_bar *b = ptx_bar_at(w, i, ptx_address(w, &i->arg[1], l));
        if (!b)
            return PTX_WRONG;
        if (parity > 1)
            return ptx_wrong(w, i, "the parity is %llu",
                             (unsigned long long)parity);
        if ((uint64_t)(b->phase & 1) == parity)
            return PTX_BLOCKED;
    }
    for (uint32_t left = lanes; left; left &= left - 1)
        ptx_put(w, i->arg[0].op, ptx_first(left), 1);
    return PTX_DONE;
}
