/* search.c - the quickest way from one state to another.
 *
 * States are bindings of atoms; from each lead steps that bring one atom, all
 * of a kind, or a cycle of them to where it should be, or make copies of it,
 * or spread sums for a while; and one, the direct exchange, to the end.  So the
 * plan is never slower than the direct exchange, nor than any chain of such
 * collectives.  Dijkstra's algorithm. */
#include <string.h>

#include "mesh/problem.h"

/* Beyond that no further states are looked at. */
enum { MOST_STATES = 512, MOST_WORK = 1 << 17 };

typedef struct node {
    mesh_step step; /* by which it is reached */
    int       from, n_step, n_exchange;
    double    time;
    bool      done;
} node;

typedef struct search {
    mesh_problem    *p;
    const mesh_cost *c;
    int              n;
    int              room;
    node            *node;
} search;

static bool
same_state(const mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    for (int i = 0; i < p->n_atom; i++)
        if (!mesh_is_same(a, b, i))
            return false;
    return true;
}

/* Does no place have two atoms? */
static bool
is_sound(const mesh_problem *p, const mesh_state *s)
{
    for (int i = 0; i < p->n_atom; i++)
        for (int k = 0; k < i && s->is[i] == MESH_BOUND; k++)
            if (s->is[k] == MESH_BOUND && s->at[k] == s->at[i])
                return false;
    return true;
}

/* Is x better than y?  Times that differ by rounding are equal. */
static bool
is_better(const node *x, const node *y)
{
    double near = 1e-9 * (x->time > y->time ? x->time : y->time);

    if (x->time < y->time - near || x->time > y->time + near)
        return x->time < y->time;
    if (x->n_step != y->n_step)
        return x->n_step < y->n_step;
    return x->n_exchange < y->n_exchange;
}

static void
add(search *s, const node *x)
{
    if (s->n == s->room) {
        node *more = axe_new_array(s->p->cx, node, 4 * s->room);

        memcpy(more, s->node, (size_t)s->n * sizeof *more);
        s->node = more;
        s->room *= 4;
    }
    s->node[s->n++] = *x;
}

/* From node i to state b, if that is sound, new or better. */
static axe_status
try(search *s, int i, const mesh_state *b)
{
    const node *from = &s->node[i];
    node        x = {.from = i};
    int         k = 0;
    bool        end = same_state(s->p, b, &s->p->dst);

    if (same_state(s->p, &from->step.state, b) || !is_sound(s->p, b))
        return AXE_OK;
    while (k < s->n && !same_state(s->p, &s->node[k].step.state, b))
        k++;
    if (k == MOST_STATES || (s->n > 1 && s->p->work > MOST_WORK) ||
        from->n_step + 1 >= MESH_STEPS || (k < s->n && s->node[k].done))
        return AXE_OK;
    AXE_TRY(mesh_step_of(s->p, s->c, &from->step.state, b, &x.step));
    if (s->c->memory > 0 && x.step.need.hold > s->c->memory && !end)
        return AXE_OK;
    x.time = from->time + x.step.time;
    x.n_step = from->n_step + 1;
    x.n_exchange = from->n_exchange + (x.step.kind == AXE_COLLECTIVE_EXCHANGE);
    if (k == s->n)
        add(s, &x);
    else if (is_better(&x, &s->node[k]))
        s->node[k] = x;
    return AXE_OK;
}

static void
bring(const mesh_problem *p, mesh_state *s, int atom)
{
    s->is[atom] = p->dst.is[atom];
    s->at[atom] = p->dst.at[atom];
    s->turn[atom] = p->dst.turn[atom];
}

static bool
is_there(const mesh_problem *p, const mesh_state *s, int a)
{
    return mesh_is_same(s, &p->dst, a);
}

/* One atom: to its end, to copies, or sums of parts. */
static axe_status
try_atom(search *s, int i, int atom)
{
    const mesh_problem *p = s->p;
    mesh_state          b = s->node[i].step.state, here = b;

    if (!is_there(p, &b, atom)) {
        bring(p, &b, atom);
        AXE_TRY(try(s, i, &b));
        b = here;
    }
    if (b.is[atom] != MESH_BOUND)
        return AXE_OK;
    if (mesh_is_addend(p, &b, atom)) {
        if (p->spare[atom] < 0)
            return AXE_OK;
        b.at[atom] = p->spare[atom];
    } else {
        b.is[atom] = MESH_FREE;
    }
    return try(s, i, &b);
}

/* All atoms that go from `from` to `to` and are addends or not. */
static axe_status
try_kind(search *s, int i, mesh_is from, mesh_is to, bool addend)
{
    const mesh_problem *p = s->p;
    mesh_state          b = s->node[i].step.state, here = b;

    for (int a = 0; a < p->n_atom; a++)
        if (!is_there(p, &here, a) && here.is[a] == from &&
            p->dst.is[a] == to && mesh_is_addend(p, &here, a) == addend)
            bring(p, &b, a);
    return try(s, i, &b);
}

/* The atoms that stand in one another's places, from `atom` on. */
static axe_status
try_cycle(search *s, int i, int atom)
{
    const mesh_problem *p = s->p;
    mesh_state          b = s->node[i].step.state, here = b;
    bool                in[MESH_ATOMS] = {false}, more = true;

    in[atom] = true;
    while (more) {
        more = false;
        for (int a = 0; a < p->n_atom; a++) {
            int next[2] = {-1, -1};

            if (in[a] && p->dst.is[a] == MESH_BOUND)
                next[0] = mesh_atom_at(p, &here, (int)p->dst.at[a]);
            if (in[a] && here.is[a] == MESH_BOUND)
                next[1] = mesh_atom_at(p, &p->dst, (int)here.at[a]);
            for (int k = 0; k < 2; k++)
                if (next[k] >= 0 && !in[next[k]])
                    in[next[k]] = more = true;
        }
    }
    for (int a = 0; a < p->n_atom; a++)
        if (in[a])
            bring(p, &b, a);
    return try(s, i, &b);
}

static axe_status
expand(search *s, int i)
{
    const mesh_problem *p = s->p;

    AXE_TRY(try(s, i, &p->dst));
    for (int from = MESH_FREE; from <= MESH_FIXED; from++)
        for (int to = MESH_FREE; to <= MESH_FIXED; to++) {
            AXE_TRY(try_kind(s, i, (mesh_is)from, (mesh_is)to, false));
            if (from == MESH_BOUND)
                AXE_TRY(try_kind(s, i, (mesh_is)from, (mesh_is)to, true));
        }
    for (int a = 0; a < p->n_atom; a++) {
        AXE_TRY(try_atom(s, i, a));
        if (!is_there(p, &s->node[i].step.state, a))
            AXE_TRY(try_cycle(s, i, a));
    }
    return AXE_OK;
}

/* The best node that is not done; -1: none is left. */
static int
next_node(const search *s)
{
    int best = -1;

    for (int k = 0; k < s->n; k++)
        if (!s->node[k].done &&
            (best < 0 || is_better(&s->node[k], &s->node[best])))
            best = k;
    return best;
}

axe_status
mesh_search(mesh_problem *p, const mesh_cost *c, int *n_step,
            mesh_step step[MESH_STEPS], int *n_state)
{
    search s = {.p = p, .c = c, .n = 1, .room = 32};
    int    at;

    s.node = axe_new_array(p->cx, node, s.room);
    s.node[0].step.state = p->src;
    s.node[0].from = -1;
    for (;;) {
        at = next_node(&s);
        s.node[at].done = true;
        if (same_state(p, &s.node[at].step.state, &p->dst))
            break;
        AXE_TRY(expand(&s, at));
    }
    *n_step = s.node[at].n_step;
    *n_state = s.n;
    for (int k = *n_step - 1; k >= 0; k--, at = s.node[at].from)
        step[k] = s.node[at].step;
    return AXE_OK;
}
