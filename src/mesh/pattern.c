/* pattern.c - what a change of states takes, of all devices at once.
 *
 * What a device needs depends on its coordinates only by which of them are
 * equal and on which side of a few cuts they are.  So devices fall into a few
 * patterns, which are walked through with how many devices each has. */
#include <inttypes.h>
#include <string.h>

#include "mesh/problem.h"

enum { MOST_CELLS = 1 << 13, MOST_TRIED = 1 << 12 };
#define MOST_PATTERNS ((int64_t)1 << 20)

/* Atoms whose coordinates matter, with the values among which they differ:
 * cells [cut, next cut), common to the atoms of a group, which are those that
 * one place may compare. */
typedef struct patterns {
    mesh_problem     *p;
    const mesh_state *a, *b;
    int               n, atom[MESH_ATOMS], group[MESH_ATOMS];
    int               room[MESH_ATOMS];
    int64_t           at[MESH_ATOMS]; /* of all atoms, 0 where it is the same */
    int               n_cut[MESH_ATOMS];
    int64_t          *cut[MESH_ATOMS]; /* of a group, by its first atom */
    int64_t           left, copies;
    void (*see)(struct patterns *t, int64_t n_device);
    int       partner[MESH_ATOMS];
    mesh_need need;
    int64_t   common;
} patterns;

static bool
add_cut(patterns *t, int g, int64_t v)
{
    int64_t *cut = t->cut[g];
    int      i = t->n_cut[g];

    while (i > 0 && cut[i - 1] > v)
        i--;
    if (v < 0 || (i > 0 && cut[i - 1] == v))
        return true;
    if (t->n_cut[g] == MOST_CELLS)
        return false;
    if (t->n_cut[g] == t->room[g]) {
        int      room = t->room[g] ? 4 * t->room[g] : 16;
        int64_t *more = axe_new_array(t->p->cx, int64_t, room);

        for (int k = 0; k < t->n_cut[g]; k++)
            more[k] = cut[k];
        cut = t->cut[g] = more;
        t->room[g] = room;
    }
    memmove(cut + i + 1, cut + i, (size_t)(t->n_cut[g] - i) * sizeof *cut);
    cut[i] = v;
    t->n_cut[g]++;
    return true;
}

/* Indices of a place change at v: so do coordinates of an atom, turned or not.
 */
static bool
cut_index(patterns *t, int g, const mesh_state *s, int atom, int64_t v)
{
    int64_t e = t->p->atom[atom].extent;

    return s->turn[atom].mul == 0
               ? add_cut(t, g, v)
               : v >= e || add_cut(t, g, mesh_turned(&s->turn[atom], e, v));
}

/* Where the count of a dimension changes with a coordinate of a plain block:
 * at the true extent's own digit, and where a turned atom begins anew. */
static bool
cut_at_extent(patterns *t, int g, const mesh_state *s, int atom,
              const mesh_block *b)
{
    const mesh_dim *d = &t->p->dim[b->dim];
    int64_t         v, above = d->n;

    for (int i = d->block; &t->p->block[i] != b; i++) {
        if (above / t->p->block[i].step >= t->p->block[i].extent)
            return true;
        above %= t->p->block[i].step;
    }
    v = above / b->step;
    return cut_index(t, g, s, atom, v) && cut_index(t, g, s, atom, v + 1) &&
           cut_index(t, g, s, atom, 0);
}

/* Is it turned so that coordinates are not in order, or may be compared with
 * another atom's? */
static bool
is_mixed(const patterns *t, int g, const mesh_turn *turn)
{
    int n = 0;

    for (int i = 0; i < t->n; i++)
        n += t->group[i] == g;
    return turn->mul > 1 || (turn->mul == 1 && n > 1);
}

static bool
cut_all(patterns *t, int g, int64_t extent)
{
    bool good = true;

    for (int64_t v = 0; v <= extent && good; v++)
        good = add_cut(t, g, v);
    return good;
}

static bool
cut_state(patterns *t, int g, const mesh_state *s, int atom)
{
    const mesh_block *b;

    if (s->is[atom] == MESH_FIXED)
        return add_cut(t, g, s->at[atom]) && add_cut(t, g, s->at[atom] + 1);
    if (s->is[atom] != MESH_BOUND)
        return true;
    if (is_mixed(t, g, &s->turn[atom]))
        return cut_all(t, g, t->p->atom[atom].extent);
    b = &t->p->block[t->p->place[s->at[atom]].block];
    if (b->plain)
        return cut_at_extent(t, g, s, atom, b);
    return cut_all(t, g,
                   s->turn[atom].mul ? t->p->atom[atom].extent
                                     : t->p->place[s->at[atom]].extent);
}

/* Where the number of devices that ask changes with a coordinate. */
static bool
cut_askers(patterns *t, int g, int atom)
{
    int64_t e = t->p->atom[atom].extent;

    return t->partner[atom] == atom ||
           add_cut(t, g, t->p->atom[t->partner[atom]].extent % e);
}

static int
group_of(int *group, int i)
{
    while (group[i] != i)
        i = group[i];
    return i;
}

/* The atoms, their groups and cells. */
static axe_status
begin(patterns *t, mesh_problem *p, const mesh_state *a, const mesh_state *b)
{
    bool good = true;

    *t = (patterns){.p = p, .a = a, .b = b, .left = MOST_PATTERNS, .copies = 1};
    mesh_partners(p, a, b, t->partner);
    for (int i = 0; i < p->n_atom; i++)
        if (a->is[i] == MESH_FREE && b->is[i] == MESH_FREE)
            t->copies *= p->atom[i].extent;
        else
            t->atom[t->n++] = i;
    for (int i = 0; i < t->n; i++) {
        t->group[i] = i;
        for (int k = 0; k < i; k++) {
            int x = t->atom[i], y = t->atom[k];
            int gx = group_of(t->group, i), gy = group_of(t->group, k);

            if ((a->is[x] == MESH_BOUND && b->is[y] == MESH_BOUND &&
                 a->at[x] == b->at[y]) ||
                (a->is[y] == MESH_BOUND && b->is[x] == MESH_BOUND &&
                 a->at[y] == b->at[x]))
                t->group[gx > gy ? gx : gy] = gx > gy ? gy : gx;
        }
    }
    for (int i = 0; i < t->n; i++)
        t->group[i] = group_of(t->group, i);
    for (int i = 0; i < t->n && good; i++) {
        int g = t->group[i];

        good = add_cut(t, g, 0) && cut_askers(t, g, t->atom[i]) &&
               add_cut(t, g, p->atom[t->atom[i]].extent) &&
               cut_state(t, g, a, t->atom[i]) && cut_state(t, g, b, t->atom[i]);
    }
    return good ? AXE_OK
                : axe_fail(p->cx, AXE_NOWHERE, AXE_ELIMIT,
                           "reshard: two cuts of one dimension have no common "
                           "digits, and over %d pieces",
                           MOST_CELLS);
}

/* Coordinates of atoms k.. are chosen, in all ways that differ: in each cell
 * those of the group's earlier atoms, and the first other one for all. */
static axe_status
walk(patterns *t, int k, int64_t n_device)
{
    int            g = t->group[k];
    int64_t        e;
    const int64_t *cut = t->cut[g];

    if (k == t->n) {
        if (t->left-- == 0)
            return axe_fail(t->p->cx, AXE_NOWHERE, AXE_ELIMIT,
                            "reshard: devices differ in over %" PRId64 " ways",
                            MOST_PATTERNS);
        t->p->work++;
        t->see(t, n_device);
        return AXE_OK;
    }
    e = t->p->atom[t->atom[k]].extent;
    for (int c = 0; c < t->n_cut[g] && cut[c] < e; c++) {
        int64_t end = c + 1 < t->n_cut[g] && cut[c + 1] < e ? cut[c + 1] : e;
        int64_t used = 0;

        for (int64_t v = cut[c]; v < end; v++) {
            bool taken = false;

            for (int i = 0; i < k; i++)
                taken = taken || (t->group[i] == g && t->at[t->atom[i]] == v);
            t->at[t->atom[k]] = v;
            AXE_TRY(walk(t, k + 1,
                         taken
                             ? n_device
                             : mesh_mul(t->p, n_device, end - cut[c] - used)));
            if (!taken)
                break;
            used++;
        }
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------- needs */

static int64_t
largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What device t->at holds in b, and of that in a, too, over links up to `link`
 * alike. */
static int64_t
held(patterns *t, bool too, int link)
{
    mesh_problem *p = t->p;
    mesh_want     w;

    mesh_want_any(p, &w);
    mesh_want_of(p, t->b, t->at, p->mesh->n_link, &w);
    if (too)
        mesh_want_of(p, t->a, t->at, link, &w);
    for (int i = 0; too && i < p->n_atom; i++)
        w.none =
            w.none || (t->a->is[i] == MESH_FREE && p->atom[i].link <= link &&
                       t->at[i] != mesh_partner_at(p, t->partner, i, t->at));
    return mesh_count(p, t->a, &w);
}

/* What device t->at holds in b, sums of addends as one. */
static int64_t
kept(patterns *t)
{
    mesh_want w;

    mesh_want_any(t->p, &w);
    mesh_want_of(t->p, t->b, t->at, t->p->mesh->n_link, &w);
    return mesh_count(t->p, t->b, &w);
}

/* How many coordinates of atom c are coordinate `at` of atom i, modulo its
 * extent. */
static int64_t
askers(const mesh_problem *p, int i, int c, int64_t at)
{
    int64_t n = p->atom[c].extent - at;

    return n <= 0 ? 0 : (n - 1) / p->atom[i].extent + 1;
}

static void
want_index(mesh_want *w, int place, int64_t at)
{
    w->none = w->none || (w->at[place] >= 0 && w->at[place] != at);
    w->at[place] = at;
}

/* What device t->at gives others: pairs of an element and a device that has it
 * in b and asks here. */
static int64_t
given(patterns *t)
{
    mesh_problem *p = t->p;
    mesh_want     w;
    bool          asks[MESH_ATOMS] = {false};
    int64_t       n = 1;

    mesh_want_any(p, &w);
    mesh_want_of(p, t->a, t->at, p->mesh->n_link, &w);
    for (int i = 0; i < p->n_atom; i++) {
        int c = t->partner[i];

        if (t->a->is[i] != MESH_FREE)
            continue;
        asks[c] = true;
        if (t->b->is[c] == MESH_FREE)
            n = mesh_mul(p, n, askers(p, i, c, t->at[i]));
        else if (t->b->is[c] == MESH_FIXED)
            w.none = w.none || t->b->at[c] != t->at[i];
        else if (t->b->is[c] == MESH_BOUND)
            want_index(&w, (int)t->b->at[c],
                       mesh_index_at(p, t->b, c, t->at[i]));
    }
    for (int i = 0; i < p->n_atom; i++)
        if (t->b->is[i] == MESH_FREE && !asks[i])
            n = mesh_mul(p, n, p->atom[i].extent);
    n = mesh_mul(p, n, mesh_count(p, t->a, &w));
    return n;
}

static void
see_need(patterns *t, int64_t n_device)
{
    mesh_need *n = &t->need;
    int        last = t->p->mesh->n_link;
    int64_t    all = held(t, false, 0), here = held(t, true, last);

    n->hold = largest(n->hold, kept(t));
    n->recv = largest(n->recv, all - here);
    n->send = largest(n->send, given(t) - here);
    n->total = mesh_sum(
        t->p, n->total,
        mesh_mul(t->p, mesh_mul(t->p, all - here, n_device), t->copies));
    for (int k = 0; k < last; k++)
        n->crossing[k] = largest(
            n->crossing[k], all - (k + 1 < last ? held(t, true, k) : here));
}

static void
see_common(patterns *t, int64_t n_device)
{
    t->common = mesh_sum(
        t->p, t->common,
        mesh_mul(t->p,
                 mesh_mul(t->p, held(t, true, t->p->mesh->n_link), n_device),
                 t->copies));
}

/* Of a block with several places: how many coordinates of a's atoms have
 * something of what one device has in b, at most; 0: too many to try. */
static int64_t
sources_in(mesh_problem *p, const mesh_state *a, const mesh_state *b,
           const mesh_block *l)
{
    int64_t   n[2] = {1, 1}, most = 0;
    mesh_want w;

    for (int side = 0; side < 2; side++)
        for (int k = 0; k < l->n_place; k++)
            if (mesh_atom_at(p, side ? b : a, l->place[k]) >= 0)
                n[side] = mesh_mul(p, n[side], p->place[l->place[k]].extent);
    if (n[0] > MOST_TRIED || n[1] > MOST_TRIED / n[0])
        return 0;
    for (int64_t to = 0; to < n[1]; to++) {
        int64_t many = 0;

        for (int64_t from = 0; from < n[0]; from++) {
            int64_t rest[2] = {from, to};

            mesh_want_any(p, &w);
            for (int side = 0; side < 2; side++)
                for (int k = 0; k < l->n_place; k++) {
                    int     at = l->place[k];
                    int64_t e = p->place[at].extent;

                    if (mesh_atom_at(p, side ? b : a, at) < 0)
                        continue;
                    w.none =
                        w.none || (w.at[at] >= 0 && w.at[at] != rest[side] % e);
                    w.at[at] = rest[side] % e;
                    rest[side] /= e;
                }
            many += !w.none && mesh_count_block(p, l, l->extent, &w) > 0;
        }
        most = largest(most, many);
    }
    return most;
}

/* Who may be asked for the parts of one block: how many over links up to
 * `link`, how many over others; *away, if none of them need be the device. */
static void
sources_of(mesh_problem *p, const mesh_state *a, const mesh_state *b, int link,
           const mesh_block *l, int64_t out[2], bool *away)
{
    bool asked = false; /* is a part of it wanted? */

    for (int k = 0; k < l->n_place && !asked; k++)
        asked = mesh_atom_at(p, b, l->place[k]) >= 0;
    out[0] = out[1] = 1;
    for (int k = 0; k < l->n_place; k++) {
        const mesh_place *at = &p->place[l->place[k]];
        int               s = mesh_atom_at(p, a, l->place[k]);
        int               d = mesh_atom_at(p, b, l->place[k]);
        int               far;

        if (s < 0 || (s == d && mesh_is_same(a, b, s)))
            continue;
        far = p->atom[s].link <= link;
        *away = *away || (far && (d >= 0 || (!l->plain && asked) ||
                                  p->atom[s].extent > at->extent));
        if (d < 0 || !l->plain)
            out[!far] = mesh_mul(p, out[!far], at->extent);
    }
    for (int i = 0; i < 2; i++)
        out[i] = out[i] < l->extent ? out[i] : l->extent;
    if (!l->plain && out[1] == 1 && out[0] > 1) {
        int64_t tried = sources_in(p, a, b, l);

        out[0] = tried > 0 ? tried : out[0];
    }
}

/* How many devices a device may get something from, over links up to `link`:
 * those that it agrees with there do not count. */
static int64_t
sources(mesh_problem *p, const mesh_state *a, const mesh_state *b, int link,
        const int *partner)
{
    int64_t all = 1, near = 1, n[2];
    bool    away = false; /* it may agree with none */

    for (int i = 0; i < p->n_atom; i++)
        away = away || (p->atom[i].link <= link &&
                        (a->is[i] == MESH_FIXED ||
                         (a->is[i] == MESH_FREE && partner[i] != i)));
    for (int i = 0; i < p->n_block; i++) {
        sources_of(p, a, b, link, &p->block[i], n, &away);
        all = mesh_mul(p, all, mesh_mul(p, n[0], n[1]));
        near = mesh_mul(p, near, n[1]);
    }
    all = away || all == near ? all : all - near;
    return all < p->mesh->n_device ? all : p->mesh->n_device - 1;
}

axe_status
mesh_need_of(mesh_problem *p, const mesh_state *a, const mesh_state *b,
             mesh_need *out)
{
    axe_mark m = axe_ctx_mark(p->cx);
    patterns t;
    int      n_link = p->mesh->n_link;

    AXE_TRY(begin(&t, p, a, b));
    t.see = see_need;
    AXE_TRY(walk(&t, 0, 1));
    axe_ctx_release(p->cx, m);
    *out = t.need;
    for (int k = 0; k < n_link; k++) {
        out->sources[k] =
            out->crossing[k] > 0 ? sources(p, a, b, k, t.partner) : 0;
    }
    out->messages = n_link > 0 ? out->sources[n_link - 1] : 0;
    return AXE_OK;
}

axe_status
mesh_common(mesh_problem *p, const mesh_state *a, const mesh_state *b,
            int64_t *out)
{
    axe_mark m = axe_ctx_mark(p->cx);
    patterns t;

    AXE_TRY(begin(&t, p, a, b));
    t.see = see_common;
    AXE_TRY(walk(&t, 0, 1));
    axe_ctx_release(p->cx, m);
    *out = t.common;
    return AXE_OK;
}
