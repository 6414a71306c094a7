/* cut.c - common digits of two spreads, where there are any.
 *
 * Numbers of devices are cut where an iter of either side begins or ends, and
 * where a digit must be cut since the other side cuts its dimension there; each
 * such cut may ask for another one in a dimension, until there are no more. */
#include <inttypes.h>

#include "mesh/cut.h"

bool
mesh_cuts_add(mesh_cuts *c, int64_t v)
{
    int i = c->n;

    while (i > 0 && c->at[i - 1] > v)
        i--;
    if (i > 0 && c->at[i - 1] == v)
        return true;
    if (c->n == MESH_CUTS)
        return false;
    for (int k = c->n++; k > i; k--)
        c->at[k] = c->at[k - 1];
    c->at[i] = v;
    return true;
}

/* Of neighbours each divides the next; *at the first that does not. */
static bool
is_chain(const mesh_cuts *c, int *at)
{
    for (int i = 0; i + 1 < c->n; i++)
        if (c->at[i + 1] % c->at[i] != 0) {
            *at = i;
            return false;
        }
    return true;
}

static bool
add_list(mesh_cuts *c, int n, const mesh_digit *g)
{
    bool good = true;

    for (int i = 0; i < n && good; i++)
        good = mesh_cuts_add(c, g[i].stride) &&
               mesh_cuts_add(c, g[i].stride * g[i].extent);
    return good;
}

static axe_status
begin(axe_ctx *cx, const axe_mesh *m, const mesh_side *side, mesh_cuts *device)
{
    bool good = true;
    int  at;

    device->n = 0;
    good = mesh_cuts_add(device, 1) && mesh_cuts_add(device, m->n_device);
    for (int i = 0; i < m->n_axis && good; i++)
        good = mesh_cuts_add(device, m->axis[i].stride);
    for (int i = 0; i < 2; i++) {
        const mesh_side *s = &side[i];

        good = good && add_list(device, s->n_copy, s->copy) &&
               add_list(device, s->n_partial, s->partial);
        for (int k = 0; k < s->n_dim; k++)
            good = good && add_list(device, s->dim[k].n, s->dim[k].digit);
    }
    if (!good)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: over %d digits of a device's number",
                        MESH_CUTS);
    if (is_chain(device, &at))
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "reshard: devices are cut at %" PRId64 " and at %" PRId64
             ", which are no digits of one number",
             device->at[at], device->at[at + 1]);
    axe_help(cx, "an iter (e : s@gpuid) begins and ends at digits of the mesh: "
                 "s and s * e divide what is above and are multiples of what "
                 "is below");
    return AXE_EUNSUPPORTED;
}

/* What remains of a digit's turn above `low`, which it is cut at: a shift by
 * whole parts. */
static axe_status
split_turn(axe_ctx *cx, const mesh_digit *g, int64_t low, mesh_turn *out)
{
    *out = g->turn;
    out->add /= low;
    if (g->turn.mul <= 1 && g->turn.add % low == 0)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
             "reshard: %" PRId64 " devices, %" PRId64
             " apart, are turned (%" PRId64 "*x+%" PRId64
             ") and have to be cut in parts of %" PRId64,
             g->extent, g->stride, g->turn.mul, g->turn.add, low);
    axe_help(cx, "go over a spread that is not turned: one plan each");
    return AXE_EUNSUPPORTED;
}

/* Cut each digit where numbers of devices are cut. */
static axe_status
split(axe_ctx *cx, const mesh_cuts *device, int *n, mesh_digit *list)
{
    for (int i = 0; i < *n; i++)
        for (int k = 0; k < device->n; k++) {
            mesh_digit *g = &list[i];
            int64_t     v = device->at[k], low;
            mesh_turn   turn;

            if (v <= g->stride || v >= g->stride * g->extent)
                continue;
            low = v / g->stride;
            AXE_TRY(split_turn(cx, g, low, &turn));
            AXE_TRY(mesh_digit_add(
                cx, (mesh_digit){g->extent / low, g->step * low, v, turn}, n,
                list));
            g->extent = low;
            g->turn = (mesh_turn){0};
        }
    return AXE_OK;
}

/* All digits of a side; those whose step is not below n are always 0. */
static axe_status
split_side(axe_ctx *cx, const int64_t *n, const mesh_cuts *device, mesh_side *s)
{
    AXE_TRY(split(cx, device, &s->n_copy, s->copy));
    AXE_TRY(split(cx, device, &s->n_partial, s->partial));
    AXE_TRY(split(cx, device, &s->n_zero, s->zero));
    for (int k = 0; k < s->n_dim; k++) {
        mesh_digits *d = &s->dim[k];
        int          kept = 0;

        AXE_TRY(split(cx, device, &d->n, d->digit));
        for (int i = 0; i < d->n; i++)
            if (d->digit[i].step < n[k])
                d->digit[kept++] = d->digit[i];
            else
                AXE_TRY(mesh_digit_add(cx, d->digit[i], &s->n_zero, s->zero));
        d->n = kept;
    }
    return AXE_OK;
}

/* Is v strictly inside a digit of the dimension, on either side? */
static bool
inside(const mesh_side *side, int dim, int64_t v)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < side[i].dim[dim].n; k++) {
            const mesh_digit *g = &side[i].dim[dim].digit[k];

            if (g->step < v && v / g->step < g->extent)
                return true;
        }
    return false;
}

static bool
comparable(const mesh_cuts *c, int64_t v)
{
    for (int i = 0; i < c->n; i++)
        if (c->at[i] % v != 0 && v % c->at[i] != 0)
            return false;
    return true;
}

/* Where digits of a dimension begin and end, below its extent. */
static bool
marks_of(const mesh_side *side, int dim, int64_t n, mesh_cuts *c)
{
    bool good;

    c->n = 0;
    good = mesh_cuts_add(c, 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < side[i].dim[dim].n && good; k++) {
            const mesh_digit *g = &side[i].dim[dim].digit[k];

            good = mesh_cuts_add(c, g->step);
            if (good && g->extent < (n - 1) / g->step + 1)
                good = mesh_cuts_add(c, g->step * g->extent);
        }
    return good;
}

/* What device numbers must be cut at so that the marks of a dimension, which
 * divide, are in no digit's middle.  false: too many. */
static bool
ask_cuts(const mesh_side *side, int dim, const mesh_cuts *mark,
         mesh_cuts *device)
{
    for (int i = 0; i < mark->n; i++)
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < side[s].dim[dim].n; k++) {
                const mesh_digit *g = &side[s].dim[dim].digit[k];
                int64_t           v = mark->at[i];

                if (v > g->step && v < g->step * g->extent &&
                    comparable(mark, v) && g->step * g->extent % v == 0 &&
                    !mesh_cuts_add(device, v / g->step * g->stride))
                    return false;
            }
    return true;
}

/* The marks that cut nothing's middle; between them, where some do not divide
 * one another, the largest that all are multiples of. */
static void
choose(const mesh_side *side, int dim, const mesh_cuts *mark, mesh_cuts *out)
{
    int64_t common = 0;

    out->n = 0;
    for (int i = 0; i <= mark->n; i++) {
        int64_t v = i < mark->n ? mark->at[i] : 0;
        bool    good =
            i == mark->n || (comparable(mark, v) && !inside(side, dim, v));

        if (!good) {
            common = axe_gcd(common, v);
            continue;
        }
        if (common > 0 && comparable(mark, common) &&
            !inside(side, dim, common))
            (void)mesh_cuts_add(out, common);
        common = 0;
        if (i < mark->n)
            (void)mesh_cuts_add(out, v);
    }
}

axe_status
mesh_cut(axe_ctx *cx, const axe_mesh *m, const int64_t *n, mesh_side side[2],
         mesh_cuts *device, mesh_cuts *cuts)
{
    bool more = true;
    int  at, dims = side[0].n_dim;

    AXE_TRY(begin(cx, m, side, device));
    while (more) {
        mesh_cuts want = *device, mark;

        for (int i = 0; i < 2; i++)
            AXE_TRY(split_side(cx, n, device, &side[i]));
        more = false;
        for (int d = 0; d < dims; d++) {
            mesh_cuts trial = want;

            if (!marks_of(side, d, n[d], &mark))
                return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                                "reshard: over %d digits of one dimension",
                                MESH_CUTS);
            if (ask_cuts(side, d, &mark, &trial) && is_chain(&trial, &at))
                want = trial;
            choose(side, d, &mark, &cuts[d]);
        }
        more = want.n > device->n;
        *device = want;
    }
    return AXE_OK;
}
