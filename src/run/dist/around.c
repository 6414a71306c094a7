/* around.c - windows that go around the end of a dimension.
 *
 * A subscript `a % N`, N the dimension's extent, comes to what a comes to,
 * modulo N: to an interval that goes around.  Several such are one window if
 * that is the least interval with all of them.  A device has it from where it
 * begins, so on the device the subscript is a less a number, without the
 * remainder, unless a goes through all of the dimension and further. */
#include <assert.h>

#include "base/ctx.h"
#include "run/dist/dist_int.h"

static int64_t
modulo(int64_t a, int64_t n)
{
    return (a % n + n) % n;
}

/* From a on to b, around the end. */
static int64_t
way(int64_t a, int64_t b, int64_t n)
{
    return modulo(modulo(b, n) - modulo(a, n), n);
}

static void
note_variable(void *user, const axe_node *n)
{
    bool *varies = user;

    *varies =
        *varies || (n->op == AXE_OP_var && n->u.var->kind != AXE_VAR_SIZE);
}

bool
axe_dist_is_around(const axe_dist *d, const axe_node *sub, int64_t whole)
{
    bool varies = false;

    if (sub->op != AXE_OP_mod || whole < 1 || !axe_dist_is_index(sub->arg[1]))
        return false;
    axe_node_walk(sub->arg[1], note_variable, &varies);
    for (int64_t q = 0; q < d->n_device && !varies; q++)
        varies = axe_dist_value(d, NULL, q, sub->arg[1]) != whole;
    return !varies;
}

bool
axe_dist_goes_around(const axe_dist_window *w)
{
    bool around = false;

    for (int i = 0; i < w->n; i++)
        around = around || w->sub[i].around;
    return around;
}

/* ------------------------------------------------------------------ windows */

/* How far all of them reach that begin at number i; 0: that is empty. */
static int64_t
length_from(const axe_dist_reach *of, int n, int i, int64_t whole)
{
    int64_t most = 0;

    for (int k = 0; k < n && of[i].from < of[i].to; k++) {
        int64_t len = of[k].to - of[k].from;

        if (len == 0)
            continue;
        len += way(of[i].from, of[k].from, whole);
        most = len > most ? len : most;
    }
    return most;
}

axe_window
axe_dist_around_at(const axe_dist *d, const axe_frame *f, int64_t device,
                   const axe_dist_window *w, int64_t whole)
{
    axe_dist_reach of[AXE_AROUND_MOST];
    axe_window     out = {0, 0};
    int64_t        least = 0;

    assert(w->n <= AXE_AROUND_MOST);
    for (int i = 0; i < w->n; i++) {
        of[i] = axe_dist_reach_at(d, f, device, &w->sub[i], whole);
        if (of[i].to - of[i].from > whole)
            return (axe_window){0, whole};
    }
    for (int i = 0; i < w->n; i++) {
        int64_t n = length_from(of, w->n, i, whole);

        if (n == 0 || (least > 0 && n >= least))
            continue;
        least = n;
        out.from = modulo(of[i].from, whole);
        out.to = out.from + n;
    }
    return least > whole ? (axe_window){0, whole} : out;
}

/* Do plain subscripts stay within the dimension, so that none comes to what
 * another one has there by going around? */
static bool
stays_inside(const axe_dist *d, int64_t device, const axe_dist_window *w,
             int64_t whole)
{
    bool inside = true;

    for (int i = 0; i < w->n && inside; i++)
        inside = w->sub[i].around ||
                 !axe_dist_reach_at(d, NULL, device, &w->sub[i], whole).clipped;
    return inside;
}

bool
axe_dist_around_joins(const axe_dist *d, const axe_dist_window *a,
                      const axe_dist_window *b)
{
    if (a->n + b->n > AXE_AROUND_MOST)
        return false;
    for (int64_t q = 0; q < d->n_device; q++) {
        int64_t    whole = axe_dist_value(d, NULL, q, a->whole);
        axe_window x = axe_dist_window_at(d, NULL, q, a);
        axe_window y = axe_dist_window_at(d, NULL, q, b);

        if (!stays_inside(d, q, a, whole) || !stays_inside(d, q, b, whole))
            return false;
        if (x.from < x.to && y.from < y.to &&
            way(x.from, y.from, whole) > x.to - x.from &&
            way(y.from, x.from, whole) > y.to - y.from)
            return false;
    }
    return true;
}

/* --------------------------------------------------------------- on a device
 */

/* What a subscript is more than where its element is in the window; false: no
 * one number, since it goes around within what the device has. */
static bool
excess_at(const axe_dist *d, const axe_frame *f, int64_t device,
          const axe_dist_window *w, const axe_reached *of, int64_t *out)
{
    int64_t        whole = axe_dist_value(d, NULL, device, w->whole);
    axe_dist_reach r = axe_dist_reach_at(d, f, device, of, whole);
    axe_window     at = axe_dist_window_at(d, f, device, w);
    int64_t        place;

    *out = 0;
    if (r.from == r.to)
        return true;
    place = way(at.from, r.from, whole);
    *out = r.from - place;
    return place + (r.to - r.from) <= at.to - at.from;
}

int64_t
axe_dist_around_first(const axe_dist *d, const axe_frame *f, int64_t device,
                      const axe_dist_window *w)
{
    int64_t whole = axe_dist_value(d, NULL, device, w->whole), n;
    bool    one = excess_at(d, f, device, w, w->of, &n);

    assert(one);
    return n + w->rounds * whole;
}

/* The subscript of a load among those of a window. */
static const axe_reached *
reached_by(const axe_dist_window *w, const axe_node *sub)
{
    int i = 0;

    while (i < w->n && !axe_node_same(w->sub[i].sub, sub))
        i++;
    assert(i < w->n);
    return &w->sub[i];
}

const axe_dist_window *
axe_halo_place(axe_chooser *c, const axe_halo *h, const axe_node *load, int dim)
{
    const axe_dist_window *w = h->window[dim];
    axe_dist_window       *out = axe_new(c->cx, axe_dist_window);
    int64_t                whole = axe_dist_value(c->d, NULL, 0, w->whole), n;

    *out = *w;
    out->of = reached_by(w, load->arg[dim]);
    for (int p = 0; p == 0 || p < h->n_plan; p++) {
        const axe_frame *f = axe_halo_frame(c->cx, h, p);

        for (int64_t q = 0; q < c->d->n_device; q++) {
            if (!excess_at(c->d, f, q, w, out->of, &n))
                return NULL;
            if (n + out->rounds * whole < 0)
                out->rounds = (whole - 1 - n) / whole;
        }
    }
    return out;
}
