/* reshard_oracle.h - spreads and plans between them by their definition: who
 * holds which element, what each device needs, what a plan's steps do to
 * values, and whether that is what the plan says. */
#ifndef RESHARD_ORACLE_H
#define RESHARD_ORACLE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axe/engine.h"
#include "axe/mesh.h"

enum { DEVICES = 12, ELEMENTS = 160, ADDENDS = 12, RANK = 2, AXES = 3 };

static uint64_t    seed_;
static const char *now_ = ""; /* what is being looked at */

/* As assert_true; says of what. */
static void
check(bool good, const char *what)
{
    if (!good)
        fail_msg("%s of %s", what, now_);
}
#define CHECK(c) check((c), #c)

static int
draw(int n)
{
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed_ >> 33) % (uint64_t)n);
}

/* --------------------------------------------------------- the definition */

/* Who holds element x, a set of devices for each addend. */
typedef struct owners {
    int      n_element, n_addend, n_device;
    uint32_t of[ELEMENTS][ADDENDS];
} owners;

/* Element x of the tensor in the layout's domain, which may be rounded up. */
static int64_t
in_domain(const axe_spread *s, axe_shape domain, int64_t x)
{
    int64_t at = 0, weight = 1;

    for (int k = s->shape.n - 1; k >= 0; k--) {
        at += x % s->shape.extent[k] * weight;
        x /= s->shape.extent[k];
        weight *= domain.extent[k];
    }
    return at;
}

/* What copies and addends add to a device's number. */
static int64_t
coordinate(const axe_mesh *m, const axe_ctx *cx, const axe_points *p, int i)
{
    int64_t device = 0;

    for (int k = 0; k < p->n_axis; k++) {
        const char *name = axe_axis_name(cx, p->axis[k]);
        int64_t     by = strcmp(name, "gpuid") == 0;

        for (int a = 0; a < m->n_axis; a++)
            if (strcmp(name, m->axis[a].name) == 0)
                by = m->axis[a].stride;
        device += p->coord[i * p->n_axis + k] * by;
    }
    return device;
}

/* The addend that a device has: its digits, slow to fast. */
static int
addend_of(const axe_spread *s, int device)
{
    int number = 0;

    for (int64_t stride = DEVICES; stride > 0; stride--)
        for (int i = 0; i < s->n_partial; i++)
            if (s->partial[i].stride == stride)
                number = number * (int)s->partial[i].extent +
                         (int)(device / stride % s->partial[i].extent);
    return number;
}

/* The device that has what the layout says of `device`. */
static int64_t
turned(const axe_spread *s, int64_t device)
{
    for (int i = 0; i < s->n_turn; i++) {
        const axe_turn *t = &s->turn[i];
        int64_t         u = device / t->stride % t->extent, c = 0;

        while ((t->mul * c + t->add) % t->extent != u)
            c++;
        device += (c - u) * t->stride;
    }
    return device;
}

static void
find_owners(axe_ctx *cx, const axe_mesh *m, const axe_spread *s, owners *o)
{
    axe_shape domain = axe_layout_shape(cx, s->layout);

    *o = (owners){1, 1, (int)m->n_device, {{0}}};
    for (int k = 0; k < s->shape.n; k++)
        o->n_element *= (int)s->shape.extent[k];
    for (int i = 0; i < s->n_partial; i++)
        o->n_addend *= (int)s->partial[i].extent;
    CHECK(o->n_element <= ELEMENTS && o->n_addend <= ADDENDS);
    for (int x = 0; x < o->n_element; x++) {
        axe_points p;

        assert_int_equal(
            axe_layout_apply(cx, s->layout, in_domain(s, domain, x), &p),
            AXE_OK);
        for (int i = 0; i < p.n_point; i++)
            for (int t = 0; t < o->n_addend; t++) {
                int64_t device = turned(s, coordinate(m, cx, &p, i));
                int     rest = t;

                for (int k = s->n_partial - 1; k >= 0; k--) {
                    device +=
                        rest % s->partial[k].extent * s->partial[k].stride;
                    rest /= (int)s->partial[k].extent;
                }
                o->of[x][addend_of(s, (int)device)] |= 1u << device;
            }
    }
}

static int
ones(uint32_t v)
{
    int n = 0;

    for (; v; v &= v - 1)
        n++;
    return n;
}

/* Which addend of dst has addend t of src in it: the digits that both have. */
static int
kept(const axe_spread *src, const axe_spread *dst, int t)
{
    /* a device with addend t of src */
    int device = 0;

    for (int64_t stride = 1; stride <= DEVICES; stride++)
        for (int i = 0; i < src->n_partial; i++)
            if (src->partial[i].stride == stride) {
                device += t % (int)src->partial[i].extent * (int)stride;
                t /= (int)src->partial[i].extent;
            }
    return addend_of(dst, device);
}

typedef struct bound {
    int64_t recv, total;
} bound;

static bound
bound_of(const axe_spread *src, const axe_spread *dst, const owners *a,
         const owners *b)
{
    bound   r = {0, 0};
    int64_t need[DEVICES] = {0};
    int     parts = a->n_addend / b->n_addend;

    for (int x = 0; x < a->n_element; x++)
        for (int k = 0; k < b->n_addend; k++) {
            uint32_t any = 0, want = b->of[x][k];

            for (int t = 0; t < a->n_addend; t++)
                any |= kept(src, dst, t) == k ? a->of[x][t] : 0;
            for (int q = 0; q < a->n_device; q++)
                need[q] += (want & ~any) >> q & 1;
            r.total += parts == 1 ? ones(want & ~any)
                                  : parts - 1 + ones(want) - !!(any & want);
        }
    for (int q = 0; q < a->n_device; q++)
        r.recv = need[q] > r.recv ? need[q] : r.recv;
    if (parts > 1)
        r.recv = (r.total + a->n_device - 1) / a->n_device;
    return r;
}

/* ---------------------------------------------------------------- execution */

typedef struct values {
    bool     has[DEVICES][ELEMENTS];
    uint64_t of[DEVICES][ELEMENTS];
} values;

static uint64_t
value(int x, int t)
{
    return (uint64_t)(x + 1) * 0x9e3779b97f4a7c15u ^
           (uint64_t)(t + 1) * 0xc2b2ae3d27d4eb4fu;
}

static void
begin(const owners *a, values *v)
{
    memset(v, 0, sizeof *v);
    for (int x = 0; x < a->n_element; x++)
        for (int t = 0; t < a->n_addend; t++)
            for (int q = 0; q < a->n_device; q++)
                if (a->of[x][t] >> q & 1) {
                    v->has[q][x] = true;
                    v->of[q][x] = value(x, t);
                }
}

/* What one step moves: sums of what all sources of an element have. */
static void
execute(const axe_reshard_plan *r, int step, const owners *a, values *v,
        int64_t moved[DEVICES][DEVICES])
{
    static values after;

    memset(&after, 0, sizeof after);
    memset(moved, 0, DEVICES * sizeof *moved);
    for (int q = 0; q < a->n_device; q++)
        for (int x = 0; x < a->n_element; x++) {
            uint32_t from = 0;

            for (int t = 0; t < a->n_addend; t++) {
                int64_t p = axe_reshard_source(r, step, x, t, q);

                if (p < 0)
                    continue;
                CHECK(p < a->n_device && v->has[p][x]);
                if (from >> p & 1)
                    continue;
                from |= 1u << p;
                after.has[q][x] = true;
                after.of[q][x] += v->of[p][x];
                moved[p][q] += p != q;
            }
        }
    *v = after;
}

/* Are the pieces that p gives q the elements that q takes from it, each as
 * often?  Returns how many pieces there are. */
static inline int
check_pieces(axe_ctx *cx, const axe_reshard_plan *r, int step, const owners *a,
             int p, int q)
{
    const axe_layout *const *piece;
    int                      n, seen[ELEMENTS] = {0};

    CHECK(axe_reshard_pieces(cx, r, step, p, q, &n, &piece) == AXE_OK);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < piece[i]->size; k++) {
            int64_t x = axe_layout_at(piece[i], k, AXE_AXIS_M);

            CHECK(x >= 0 && x < a->n_element);
            seen[x]++;
        }
    for (int x = 0; x < a->n_element; x++) {
        bool sent = false;

        for (int t = 0; t < a->n_addend && p != q; t++)
            sent = sent || axe_reshard_source(r, step, x, t, q) == p;
        CHECK(seen[x] == sent);
    }
    return n;
}

/* Does the step count what moved? */
static void
check_counts(const axe_reshard_plan *r, int step, int n,
             int64_t moved[DEVICES][DEVICES])
{
    const axe_reshard_step *s = &r->step[step];
    int64_t                 recv = 0, send = 0, total = 0, messages = 0;

    for (int p = 0; p < n; p++) {
        int64_t got = 0, given = 0, many = 0;

        for (int q = 0; q < n; q++) {
            CHECK(axe_reshard_sends(r, step, p, q) == moved[p][q]);
            given += moved[p][q];
            got += moved[q][p];
            many += moved[q][p] > 0;
        }
        recv = got > recv ? got : recv;
        send = given > send ? given : send;
        messages = many > messages ? many : messages;
        total += got;
    }
    CHECK(s->max_recv == recv);
    CHECK(s->max_send == send);
    CHECK(s->total == total);
    CHECK(s->messages >= messages);
    CHECK(s->messages <= n || n == 1);
    CHECK((messages > 0) == (s->messages > 0));
}

/* Do devices agree on axes over links up to number k? */
static bool
agree(const axe_mesh *m, int k, int p, int q)
{
    for (int a = 0; a < m->n_axis; a++) {
        const axe_mesh_axis *x = &m->axis[a];

        if (x->link <= k && p / x->stride % x->size != q / x->stride % x->size)
            return false;
    }
    return true;
}

/* What crosses links. */
static void
check_crossing(const axe_reshard_plan *r, int step,
               int64_t moved[DEVICES][DEVICES])
{
    const axe_mesh *m = r->mesh;

    for (int k = 0; k < m->n_link; k++) {
        int64_t most = 0;

        for (int q = 0; q < m->n_device; q++) {
            int64_t got = 0;

            for (int p = 0; p < m->n_device; p++)
                got += agree(m, k, p, q) ? 0 : moved[p][q];
            most = got > most ? got : most;
        }
        CHECK(r->step[step].crossing[k] == most);
    }
}

static void
check_end(const axe_reshard_plan *r, const owners *a, const owners *b,
          const values *v)
{
    for (int x = 0; x < a->n_element; x++)
        for (int k = 0; k < b->n_addend; k++) {
            uint64_t sum = 0;

            for (int t = 0; t < a->n_addend; t++)
                sum += kept(&r->src, &r->dst, t) == k ? value(x, t) : 0;
            for (int q = 0; q < a->n_device; q++)
                if (b->of[x][k] >> q & 1) {
                    CHECK(v->has[q][x]);
                    CHECK(v->of[q][x] == sum);
                }
        }
}

/* Elements of the fullest device. */
static int64_t
fullest(const owners *o)
{
    int64_t most = 0;

    for (int q = 0; q < o->n_device; q++) {
        int64_t n = 0;

        for (int x = 0; x < o->n_element; x++)
            for (int t = 0; t < o->n_addend; t++)
                n += o->of[x][t] >> q & 1;
        most = n > most ? n : most;
    }
    return most;
}

typedef struct tally {
    int plans, steps, refused, sums, above, run;
    int pairs, pieces; /* looked at of some plans */
} tally;

static inline bool
in_rounds(axe_collective c)
{
    return c == AXE_COLLECTIVE_ALL_REDUCE || c == AXE_COLLECTIVE_BROADCAST;
}

#endif
