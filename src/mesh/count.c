/* count.c - how many elements devices hold, and give one another.
 *
 * A dimension's blocks are its index in a mixed radix, so what is below the
 * true extent is counted digit by digit, as one compares numbers. */
#include "mesh/problem.h"

int64_t
mesh_mul(mesh_problem *p, int64_t a, int64_t b)
{
    int64_t v;

    if (axe_mul(a, b, &v))
        return v;
    p->lossy = true;
    return INT64_MAX;
}

int64_t
mesh_sum(mesh_problem *p, int64_t a, int64_t b)
{
    int64_t v;

    if (axe_add(a, b, &v))
        return v;
    p->lossy = true;
    return INT64_MAX;
}

int
mesh_atom_at(const mesh_problem *p, const mesh_state *s, int place)
{
    for (int a = 0; a < p->n_atom; a++)
        if (s->is[a] == MESH_BOUND && s->at[a] == place)
            return a;
    return -1;
}

void
mesh_coordinates(const mesh_problem *p, int64_t device, int64_t *at)
{
    for (int a = 0; a < p->n_atom; a++)
        at[a] = device / p->atom[a].stride % p->atom[a].extent;
}

/* ---------------------------------------------------------------- elements */

void
mesh_want_any(const mesh_problem *p, mesh_want *w)
{
    for (int i = 0; i < p->n_place; i++)
        w->at[i] = -1;
    w->none = false;
}

static void
want(mesh_want *w, int place, int64_t at)
{
    w->none = w->none || (w->at[place] >= 0 && w->at[place] != at);
    w->at[place] = at;
}

void
mesh_want_of(const mesh_problem *p, const mesh_state *s, const int64_t *at,
             int link, mesh_want *w)
{
    for (int a = 0; a < p->n_atom; a++)
        if (p->atom[a].link > link)
            continue;
        else if (s->is[a] == MESH_BOUND)
            want(w, (int)s->at[a], mesh_index_at(p, s, a, at[a]));
        else if (s->is[a] == MESH_FIXED)
            w->none = w->none || at[a] != s->at[a];
}

bool
mesh_next_run(const mesh_problem *p, const mesh_block *b, int64_t n,
              const mesh_want *w, int64_t *from, int64_t *to)
{
    bool in = false;

    for (; !in && *from < n; *from = in ? *from : *to) {
        in = true;
        *to = n;
        for (int i = 0; i < b->n_place && in; i++) {
            const mesh_place *l = &p->place[b->place[i]];
            int64_t           v = w->at[b->place[i]];
            int64_t           now = *from / l->weight % l->extent;
            int64_t           round = l->weight * l->extent;

            if (v < 0)
                continue;
            in = now == v;
            if (in && (*from / l->weight + 1) * l->weight < *to)
                *to = (*from / l->weight + 1) * l->weight;
            if (!in)
                *to = *from / round * round + v * l->weight +
                      (now > v ? round : 0);
        }
    }
    return in;
}

int64_t
mesh_count_block(const mesh_problem *p, const mesh_block *b, int64_t n,
                 const mesh_want *w)
{
    int64_t from = 0, to, count = 0;

    if (b->plain)
        return b->n_place == 0 || w->at[b->place[0]] < 0
                   ? n
                   : w->at[b->place[0]] < n;
    for (; mesh_next_run(p, b, n, w, &from, &to); from = to)
        count += to - from;
    return count;
}

bool
mesh_has(const mesh_problem *p, const mesh_block *b, int64_t u,
         const mesh_want *w)
{
    for (int i = 0; i < b->n_place; i++) {
        const mesh_place *l = &p->place[b->place[i]];
        int64_t           v = w->at[b->place[i]];

        if (v >= 0 && u / l->weight % l->extent != v)
            return false;
    }
    return true;
}

int64_t
mesh_count_below(mesh_problem *p, const mesh_dim *d, int64_t n,
                 const mesh_want *w)
{
    int64_t below = 0, rest = n;
    bool    equal = true;

    for (int i = d->block; i < d->block + d->n_block; i++) {
        const mesh_block *b = &p->block[i];
        int64_t           digit = equal ? rest / b->step : 0;

        if (below > 0)
            below = mesh_mul(p, below, mesh_count_block(p, b, b->extent, w));
        if (equal) {
            below = mesh_sum(p, below, mesh_count_block(p, b, digit, w));
            rest -= digit * b->step;
            equal = mesh_has(p, b, digit, w);
        }
    }
    return below;
}

int64_t
mesh_count(mesh_problem *p, const mesh_state *held, const mesh_want *w)
{
    int64_t n = w->none ? 0 : 1;

    for (int d = 0; d < p->n_dim && n > 0; d++)
        if (!p->dim[d].addend ||
            mesh_atom_at(p, held, p->block[p->dim[d].block].place[0]) >= 0)
            n = mesh_mul(p, n, mesh_count_below(p, &p->dim[d], p->dim[d].n, w));
    return n;
}

int64_t
mesh_count_window(mesh_problem *p, const mesh_dim *d, axe_window window,
                  const mesh_want *w)
{
    int64_t end = window.to < d->n ? window.to : d->n;
    int64_t n = mesh_count_below(p, d, end, w);

    if (window.from > 0)
        n -= mesh_count_below(p, d, window.from, w);
    return window.to > d->n
               ? mesh_sum(p, n, mesh_count_below(p, d, window.to - d->n, w))
               : n;
}

int64_t
mesh_count_within(mesh_problem *p, const mesh_want *w, const axe_window *window)
{
    int64_t n = w->none ? 0 : 1;

    for (int d = 0; d < p->n_dim && n > 0; d++)
        n = mesh_mul(p, n, mesh_count_window(p, &p->dim[d], window[d], w));
    return n;
}

/* ---------------------------------------------------------------- partners */

/* Is an atom turned of those that stand in one another's places from f on? */
static bool
is_turned(const mesh_problem *p, const mesh_state *a, const mesh_state *b,
          int f)
{
    bool out = false;

    for (int at = f; at >= 0 && b->is[at] == MESH_BOUND && !out;) {
        out = b->turn[at].mul != 0;
        at = mesh_atom_at(p, a, (int)b->at[at]);
        out = out || (at >= 0 && a->turn[at].mul != 0);
    }
    return out;
}

void
mesh_partners(const mesh_problem *p, const mesh_state *a, const mesh_state *b,
              int *partner)
{
    for (int f = 0; f < p->n_atom; f++) {
        int at = f, next = f;

        partner[f] = f;
        if (a->is[f] != MESH_FREE)
            continue;
        for (; next >= 0 && b->is[at] == MESH_BOUND; at = next >= 0 ? next : at)
            next = mesh_atom_at(p, a, (int)b->at[at]);
        if (!is_turned(p, a, b, f) &&
            (b->is[at] == MESH_FREE || p->atom[at].extent == p->atom[f].extent))
            partner[f] = at;
    }
}

int64_t
mesh_partner_at(const mesh_problem *p, const int *partner, int free,
                const int64_t *at)
{
    return at[partner[free]] % p->atom[free].extent;
}

bool
mesh_want_given(const mesh_problem *p, const mesh_state *a, const mesh_state *b,
                const int64_t *from, const int64_t *to, mesh_want *w)
{
    int partner[MESH_ATOMS];

    mesh_partners(p, a, b, partner);
    for (int i = 0; i < p->n_atom; i++)
        if (a->is[i] == MESH_FREE &&
            from[i] != mesh_partner_at(p, partner, i, to))
            return false;
    mesh_want_any(p, w);
    mesh_want_of(p, a, from, p->mesh->n_link, w);
    mesh_want_of(p, b, to, p->mesh->n_link, w);
    return !w->none;
}

bool
mesh_want_sent(const mesh_problem *p, const mesh_state *a, const mesh_state *b,
               const int64_t *from, const int64_t *to, mesh_want *w)
{
    bool same = true;

    for (int i = 0; i < p->n_atom; i++)
        same = same && from[i] == to[i];
    return !same && mesh_want_given(p, a, b, from, to, w);
}

int64_t
mesh_sends(mesh_problem *p, const mesh_state *a, const mesh_state *b,
           const axe_window *window, const int64_t *from, const int64_t *to)
{
    mesh_want w;

    if (!mesh_want_sent(p, a, b, from, to, &w))
        return 0;
    return window ? mesh_count_within(p, &w, window) : mesh_count(p, a, &w);
}
