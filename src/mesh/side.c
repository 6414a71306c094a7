/* side.c - a spread as digits of its dimensions that go over devices. */
#include <inttypes.h>
#include <string.h>

#include "mesh/cut.h"

/* What one step on an axis adds to the number of the device; 0: it is memory.
 */
static int64_t
device_stride(axe_ctx *cx, const axe_mesh *m, axe_axis a)
{
    const char *name = axe_axis_name(cx, a);

    if (strcmp(name, "gpuid") == 0)
        return 1;
    for (int i = 0; i < m->n_axis; i++)
        if (strcmp(name, m->axis[i].name) == 0)
            return m->axis[i].stride;
    return 0;
}

/* The devices of an iter: *out, with stride 0 if it is none of devices. */
static axe_status
device_digit(axe_ctx *cx, const char *side, const axe_mesh *m, axe_iter it,
             mesh_digit *out)
{
    int64_t by = device_stride(cx, m, it.axis), end;

    *out = (mesh_digit){.extent = it.extent, .step = 1};
    if (by == 0 || it.extent == 1 || it.stride == 0)
        return AXE_OK;
    if (it.unit != AXE_UNIT_ONE)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s: which devices (%" PRId64 " : %s*%" PRId64
                        "@%s) are is known at run time only",
                        side, it.extent, axe_unit_text(cx, it.unit), it.stride,
                        axe_axis_name(cx, it.axis));
    if (it.stride < 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "%s: (%" PRId64 " : %" PRId64
                        "@%s) runs through devices backwards",
                        side, it.extent, it.stride, axe_axis_name(cx, it.axis));
    if (!axe_mul(it.stride, by, &out->stride) ||
        !axe_mul(out->stride, it.extent, &end) || end > m->n_device)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: (%" PRId64 " : %" PRId64 "@%s) leaves the %" PRId64
                        " devices of the mesh",
                        side, it.extent, it.stride, axe_axis_name(cx, it.axis),
                        m->n_device);
    return AXE_OK;
}

axe_status
mesh_digit_add(axe_ctx *cx, mesh_digit g, int *n, mesh_digit *list)
{
    if (*n == MESH_DIGITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "reshard: over %d digits of one dimension",
                        MESH_DIGITS);
    list[(*n)++] = g;
    return AXE_OK;
}

/* Iters [from, to) of l as a dimension. */
static axe_status
read_dim(axe_ctx *cx, const axe_mesh *m, const axe_layout *l, int from, int to,
         mesh_side *s)
{
    mesh_digits *d = &s->dim[s->n_dim++];
    int64_t      step = 1;

    for (int i = to - 1; i >= from; i--) {
        mesh_digit g;

        AXE_TRY(device_digit(cx, s->name, m, l->shard[i], &g));
        g.step = step;
        step *= g.extent;
        if (g.stride > 0)
            AXE_TRY(mesh_digit_add(cx, g, &d->n, d->digit));
    }
    return AXE_OK;
}

/* Turns with factors are counted device by device (pattern.c). */
enum { MOST_TURNED = 1 << 13 };

/* mul * inverse = 1 modulo n; 0: there is none. */
static int64_t
inverse(int64_t mul, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (mul * i % n == 1)
            return i;
    return 0;
}

static axe_status
turn_of(axe_ctx *cx, const char *side, const axe_turn *t, mesh_turn *out)
{
    int64_t e = t->extent;

    *out = (mesh_turn){t->mul % e, 1, t->add % e};
    if (out->mul == 1 || e == 1) {
        *out = (mesh_turn){out->add != 0, out->add != 0, out->add};
        return AXE_OK;
    }
    if (e > MOST_TURNED)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: %" PRId64 " devices are turned by a factor; up to "
                        "%d are",
                        side, e, MOST_TURNED);
    out->inverse = inverse(out->mul, e);
    if (out->inverse == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: %" PRId64 " times the number of a device, modulo "
                        "%" PRId64 ", is the same for several",
                        side, t->mul, e);
    return AXE_OK;
}

/* The iter over just these devices is turned. */
static axe_status
take_turn(axe_ctx *cx, const axe_turn *t, mesh_side *s)
{
    for (int d = 0; d < s->n_dim; d++)
        for (int i = 0; i < s->dim[d].n; i++) {
            mesh_digit *g = &s->dim[d].digit[i];

            if (g->stride == t->stride && g->extent == t->extent)
                return turn_of(cx, s->name, t, &g->turn);
        }
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "%s: %" PRId64 " devices, %" PRId64
                    " apart, are turned, and no iter of a dimension goes over "
                    "just these",
                    s->name, t->extent, t->stride);
}

axe_status
mesh_side_of(axe_ctx *cx, const char *name, const axe_mesh *m,
             const axe_spread *s, bool flat, mesh_side *out)
{
    const axe_layout *l = s->layout;
    mesh_digit        g;

    *out = (mesh_side){.name = name};
    for (int k = 0; !flat && k < l->n_dim; k++)
        AXE_TRY(
            read_dim(cx, m, l, k ? l->dim_end[k - 1] : 0, l->dim_end[k], out));
    if (flat)
        AXE_TRY(read_dim(cx, m, l, 0, l->n_shard, out));
    for (int i = 0; i < s->n_turn; i++)
        if (s->turn[i].extent > 1)
            AXE_TRY(take_turn(cx, &s->turn[i], out));
    for (int i = 0; i < l->n_replica; i++) {
        AXE_TRY(device_digit(cx, name, m, l->replica[i], &g));
        if (g.stride > 0)
            AXE_TRY(mesh_digit_add(cx, g, &out->n_copy, out->copy));
    }
    for (int i = 0; i < s->n_partial; i++) {
        AXE_TRY(device_digit(cx, name, m, s->partial[i], &g));
        if (g.stride > 0)
            AXE_TRY(mesh_digit_add(cx, g, &out->n_partial, out->partial));
    }
    for (int i = 0; i < l->n_offset; i++) {
        int64_t v, by = device_stride(cx, m, l->offset[i].axis);

        if (by == 0)
            continue;
        if (l->offset[i].unit != AXE_UNIT_ONE ||
            !axe_mul(l->offset[i].value, by, &v) ||
            !axe_add(out->base, v, &out->base) || v < 0 ||
            out->base >= m->n_device)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: offset %" PRId64 "@%s is no device of the "
                            "%" PRId64 " of the mesh",
                            name, l->offset[i].value,
                            axe_axis_name(cx, l->offset[i].axis), m->n_device);
    }
    return AXE_OK;
}
