/* step.c - what a change of states is, takes and costs.
 *
 * All is counted by the same means; a kind is a name for what changes, but for
 * sums and broadcasts of long messages, which have better algorithms than that
 * each device asks one that has it. */
#include "mesh/problem.h"

/* What happens to one atom. */
typedef enum change {
    SAME,
    KEEPS,     /* copies to a part, or to one */
    MOVES,     /* from one place to another */
    GATHERS,   /* parts to copies */
    BROADCAST, /* one to copies */
    SCATTERS,
    COLLECTS, /* parts to one */
    GOES,     /* from one device to one other */
    SUMS,     /* addends to copies */
    SUMS_PART /* addends to parts of the sum */
} change;

static change
change_of(const mesh_problem *p, const mesh_state *a, const mesh_state *b,
          int i)
{
    static const change of[3][3] = {
        [MESH_FREE] = {SAME, KEEPS, KEEPS},
        [MESH_BOUND] = {GATHERS, MOVES, COLLECTS},
        [MESH_FIXED] = {BROADCAST, SCATTERS, GOES},
    };

    if (mesh_is_same(a, b, i))
        return SAME;
    if (mesh_is_addend(p, a, i))
        return b->is[i] == MESH_FREE ? SUMS : SUMS_PART;
    return of[a->is[i]][b->is[i]];
}

/* Are the places that changing atoms leave those that they come to? */
static bool
permutes(const mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    for (int i = 0; i < p->n_atom; i++) {
        change c = change_of(p, a, b, i);

        if (c == SAME)
            continue;
        if ((c != KEEPS && c != MOVES && c != GATHERS) ||
            a->is[i] == MESH_FIXED || b->is[i] == MESH_FIXED ||
            (a->is[i] == MESH_BOUND && mesh_atom_at(p, b, (int)a->at[i]) < 0) ||
            (b->is[i] == MESH_BOUND && mesh_atom_at(p, a, (int)b->at[i]) < 0))
            return false;
    }
    return true;
}

/* Is no place that an atom moves to one that another leaves? */
static bool
moves_apart(const mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    for (int i = 0; i < p->n_atom; i++)
        if (change_of(p, a, b, i) != SAME && b->is[i] == MESH_BOUND &&
            mesh_atom_at(p, a, (int)b->at[i]) >= 0)
            return false;
    return true;
}

axe_collective
mesh_kind_of(const mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    static const axe_collective kind[] = {
        [SAME] = AXE_COLLECTIVE_NOTHING,
        [KEEPS] = AXE_COLLECTIVE_SLICE,
        [MOVES] = AXE_COLLECTIVE_ALL_TO_ALL,
        [GATHERS] = AXE_COLLECTIVE_ALL_GATHER,
        [BROADCAST] = AXE_COLLECTIVE_BROADCAST,
        [SCATTERS] = AXE_COLLECTIVE_SCATTER,
        [COLLECTS] = AXE_COLLECTIVE_GATHER,
        [GOES] = AXE_COLLECTIVE_POINT_TO_POINT,
        [SUMS] = AXE_COLLECTIVE_ALL_REDUCE,
        [SUMS_PART] = AXE_COLLECTIVE_REDUCE_SCATTER,
    };
    change all = SAME;

    for (int i = 0; i < p->n_atom; i++) {
        change c = change_of(p, a, b, i);

        if (all != SAME && c != SAME && c != all)
            return permutes(p, a, b) ? AXE_COLLECTIVE_PERMUTE
                                     : AXE_COLLECTIVE_EXCHANGE;
        all = c == SAME ? all : c;
    }
    if (all == MOVES && permutes(p, a, b))
        return AXE_COLLECTIVE_PERMUTE;
    return moves_apart(p, a, b) ? kind[all] : AXE_COLLECTIVE_EXCHANGE;
}

static int64_t
divide_up(int64_t a, int64_t b)
{
    return a == 0 ? 0 : (a - 1) / b + 1;
}

/* Devices of a group: those that differ in what changes. */
static int64_t
group_size(const mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    int64_t m = 1;

    for (int i = 0; i < p->n_atom; i++)
        if (change_of(p, a, b, i) != SAME)
            m *= p->atom[i].extent;
    return m;
}

/* In place of (m - 1) V for each device, the sums of a part of each, then
 * those of all parts. */
static void
all_reduce(mesh_problem *p, int64_t m, mesh_need *n)
{
    int64_t best = mesh_mul(p, 2 * (m - 1), divide_up(n->recv / (m - 1), m));
    int64_t far = 0;

    if (best >= n->recv)
        return;
    for (int k = 0; k < p->mesh->n_link; k++) {
        n->crossing[k] =
            (int64_t)((double)n->crossing[k] * (double)best / (double)n->recv);
        far = n->crossing[k] > 0 && far == 0 ? 2 * (m - 1) : far;
        n->sources[k] = far;
    }
    n->crossing[p->mesh->n_link - 1] = best;
    n->recv = n->send = best;
    n->total = divide_up(2 * n->total, m);
    n->messages = far;
}

/* Each device hands on what it gets, piece by piece. */
static void
broadcast(const mesh_problem *p, int64_t m, mesh_need *n)
{
    int64_t rounds = 0;

    while (((int64_t)1 << rounds) < m)
        rounds++;
    for (int k = 0; k < p->mesh->n_link; k++)
        n->sources[k] = n->crossing[k] > 0 ? rounds : 0;
    n->send = n->recv;
    n->messages = rounds;
}

double
mesh_time_of(const mesh_problem *p, const mesh_cost *c, const mesh_need *n)
{
    double  us = 0;
    int64_t bytes = 0, messages = 0;

    for (int k = 0; k < p->mesh->n_link; k++) {
        const axe_link *l = &p->mesh->link[k];

        us += (double)(n->crossing[k] - bytes) * c->bits / 8 /
              ((double)l->bandwidth / 1e6);
        if (!c->free)
            us += (double)(n->sources[k] - messages) * (double)l->latency / 1e3;
        bytes = n->crossing[k];
        messages = n->sources[k];
    }
    return us;
}

axe_status
mesh_step_of(mesh_problem *p, const mesh_cost *c, const mesh_state *a,
             const mesh_state *b, mesh_step *out)
{
    out->state = *b;
    out->kind = mesh_kind_of(p, a, b);
    AXE_TRY(mesh_need_of(p, a, b, &out->need));
    if (out->need.recv > 0 && out->kind == AXE_COLLECTIVE_ALL_REDUCE)
        all_reduce(p, group_size(p, a, b), &out->need);
    else if (out->kind == AXE_COLLECTIVE_BROADCAST)
        broadcast(p, group_size(p, a, b), &out->need);
    out->time = mesh_time_of(p, c, &out->need);
    return AXE_OK;
}
