/* linear_random.h - random pairs of layouts as axe and as linear.h have them,
 * and the counts of both for one pair. */
#ifndef LINEAR_RANDOM_H
#define LINEAR_RANDOM_H

#include "axe/move.h"
#include "linear.h"
#include "machine/machine.h"

typedef struct linear_pair {
    linear            a, b;
    const axe_layout *src, *dst;
    int               bits;
} linear_pair;

typedef struct linear_comparison {
    int64_t shuffles, our_shuffles;         /* -1: elements leave their warp */
    int64_t transactions, our_transactions; /* -1: nothing has to move */
} linear_comparison;

static uint64_t linear_state;

static inline int
linear_below(int n)
{
    linear_state ^= linear_state << 13;
    linear_state ^= linear_state >> 7;
    linear_state ^= linear_state << 17;
    return (int)(linear_state % (uint64_t)n);
}

/* One side: bits of the element to lanes, warps and registers; where `like` is
 * given, its warps. */
static inline void
linear_side_of(int n, int n_warp, const linear *like, linear *out)
{
    uint32_t left[LINEAR_BITS];
    int      k = 0;

    memset(out, 0, sizeof *out);
    out->n = n;
    out->n_warp = n_warp;
    for (int i = 0; i < n; i++)
        if (!like || !linear_has(like->n_warp, like->warp, UINT32_C(1) << i))
            left[k++] = UINT32_C(1) << i;
    for (int i = 0; like && i < n_warp; i++)
        out->warp[i] = like->warp[i];
    for (int i = 0; i < LINEAR_LANES + (like ? 0 : n_warp); i++) {
        uint32_t *to =
            i < LINEAR_LANES ? &out->lane[i] : &out->warp[i - LINEAR_LANES];
        if (k == 0 || linear_below(9) == 0)
            continue;
        int pick = linear_below(k);
        *to = left[pick];
        left[pick] = left[--k];
    }
    while (k > 0) {
        int pick = linear_below(k);
        out->reg[out->n_reg++] = left[pick];
        left[pick] = left[--k];
    }
}

static inline axe_axis
linear_axis(axe_ctx *cx, const char *name)
{
    axe_axis a = 0;

    return axe_axis_find(cx, AXE_NOWHERE, name, &a) == AXE_OK ? a : 0;
}

/* The same as a layout: a digit of 2 for each bit, a replica for each 0. */
static inline const axe_layout *
linear_layout(axe_ctx *cx, const linear *l)
{
    axe_iter          it[LINEAR_BITS], replica[LINEAR_BITS];
    axe_layout        spec = {.shard = it, .replica = replica};
    const axe_layout *out = NULL;
    const uint32_t   *base[] = {l->reg, l->lane, l->warp};
    int               count[] = {l->n_reg, LINEAR_LANES, l->n_warp};
    axe_axis          axis[] = {linear_axis(cx, "reg"), linear_axis(cx, "lane"),
                                linear_axis(cx, "warp")};

    spec.n_shard = l->n;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < count[k]; i++) {
            axe_iter x = {2, INT64_C(1) << i, axis[k], AXE_UNIT_ONE};
            if (base[k][i] == 0)
                replica[spec.n_replica++] = x;
            else
                it[l->n - 1 - linear_log2((int)base[k][i])] = x;
        }
    return axe_layout_make(cx, &spec, &out) == AXE_OK ? out : NULL;
}

/* Pair number i: every other one keeps its elements in their warps. */
static inline void
linear_random(axe_ctx *cx, int i, linear_pair *out)
{
    static const int   sizes[] = {8, 16, 32, 32, 64};
    const axe_machine *mc;
    int                n, n_warp;

    linear_state = UINT64_C(88172645463325252) + (uint64_t)i * 977;
    for (int k = 0; k < 8; k++)
        (void)linear_below(2);
    n = 5 + linear_below(6);
    n_warp = linear_below(3);
    out->bits = sizes[linear_below(5)];
    linear_side_of(n, n_warp, NULL, &out->a);
    linear_side_of(n, n_warp, i % 2 ? &out->a : NULL, &out->b);
    if (axe_machine_find(cx, "sm_90a", &mc) != AXE_OK)
        return;
    out->src = linear_layout(cx, &out->a);
    out->dst = linear_layout(cx, &out->b);
}

static inline bool
linear_compare(axe_ctx *cx, const linear_pair *p, linear_comparison *out)
{
    axe_move_options by = {
        .machine = "sm_90a", .bits = p->bits, .by = AXE_MOVE_SHUFFLE};
    const axe_machine      *mc;
    const axe_move_program *m;
    int64_t                 n = 0;

    *out = (linear_comparison){-1, -1, -1, -1};
    if (!p->src || !p->dst || axe_machine_find(cx, "sm_90a", &mc) != AXE_OK)
        return false;
    if (linear_same_warps(&p->a, &p->b)) {
        if (axe_move_plan(cx, p->src, p->dst, &by, &m) != AXE_OK)
            return false;
        out->shuffles = linear_shuffles(&p->a, &p->b, p->bits);
        out->our_shuffles = m->most_shuffle;
    }
    by.by = AXE_MOVE_SHARED;
    if (axe_move_plan(cx, p->src, p->dst, &by, &m) != AXE_OK)
        return false;
    if (m->kind != AXE_MOVE_SHARED)
        return true;
    int32_t *at = axe_new_array(cx, int32_t, INT64_C(1) << p->a.n);
    out->transactions =
        linear_transactions(mc->simt, &p->a, &p->b, p->bits, at, &n);
    out->our_transactions = m->store.cycles + m->load.cycles;
    return true;
}

#endif
