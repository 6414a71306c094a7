/* sharding_write.c - a layout over devices taken apart for those who write it:
 * what of each dimension goes to which axis of the mesh, and what stays in the
 * local buffer.  What no system can say is refused here. */
#include "convert/sharding_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static axe_status
plain(axe_writing *w, const axe_iter *it, int n, bool replica)
{
    for (int i = 0; i < n; i++) {
        const char *axis = axe_axis_name(w->cx, it[i].axis);
        bool        gpu = strcmp(axis, "gpuid") == 0;

        if (!gpu && it[i].axis != AXE_AXIS_M)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: a sharding is over gpuid and m, and this "
                            "layout is over %s, too",
                            w->system, axis);
        if (it[i].unit != AXE_UNIT_ONE || it[i].stride == 0)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "%s: a step of %" PRId64
                            " times %s on %s is none of a sharding",
                            w->system, it[i].stride,
                            axe_unit_text(w->cx, it[i].unit), axis);
        if (replica && !gpu)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: copies inside a local buffer, which no "
                            "sharding has",
                            w->system);
    }
    return AXE_OK;
}

/* Local buffers hold what they hold without gaps, in this order. */
static axe_status
check_local(const axe_writing *w)
{
    int64_t want = 1;

    for (int i = 0; i < w->rank; i++) {
        int k = w->column ? i : w->rank - 1 - i;

        for (int j = w->dim[k].n - 1; j >= 0; j--) {
            const axe_part *p = &w->dim[k].part[j];

            if (p->device)
                continue;
            if (p->stride != want)
                return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                                "%s: local buffers are compact and %s-major "
                                "there; dimension %d steps by %" PRId64
                                " where %" PRId64 " comes next",
                                w->system, w->column ? "column" : "row", k,
                                p->stride, want);
            want *= p->extent;
        }
    }
    return AXE_OK;
}

static int
by_stride(const void *a, const void *b)
{
    const axe_part *x = a, *y = b;
    int64_t         s = x->stride < 0 ? -x->stride : x->stride;
    int64_t         t = y->stride < 0 ? -y->stride : y->stride;

    return (s > t) - (s < t);
}

/* The devices' digits count from 0 to all of them, each once. */
axe_status
axe_writing_over_mesh(axe_writing *w)
{
    axe_part *all = axe_new_array(w->cx, axe_part, w->n_part + 1);
    int64_t   next = 1;
    int       n = 0;

    for (int k = 0; k < w->rank; k++)
        for (int j = 0; j < w->dim[k].n; j++)
            if (w->dim[k].part[j].device)
                all[n++] = w->dim[k].part[j];
    for (int i = 0; i < w->copy.n; i++)
        all[n++] = w->copy.part[i];
    qsort(all, (size_t)n, sizeof *all, by_stride);
    for (int i = 0; i < n; i++) {
        int64_t step = all[i].stride < 0 ? -all[i].stride : all[i].stride;

        if (step != next)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            step > next
                                ? "%s: nothing is on device %" PRId64
                                  ": a step of %" PRId64 " comes next"
                                : "%s: what is on device %" PRId64
                                  " is there twice, by steps of %" PRId64,
                            w->system, step > next ? next : step, step);
        if (!axe_mul(next, all[i].extent, &next) || next > w->n_device)
            break;
    }
    if (next == w->n_device)
        return AXE_OK;
    return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: the layout is over %" PRId64
                    " device%s, and the mesh has %d",
                    w->system, next, next == 1 ? "" : "s", w->n_device);
}

static axe_status
take_apart(axe_writing *w, const axe_layout *l)
{
    w->n_part = l->n_shard + l->n_replica;
    for (int k = 0, i = 0; k < w->rank; k++) {
        axe_parts *d = &w->dim[k];

        d->part = axe_new_array(w->cx, axe_part, w->n_part + 1);
        for (; i < l->dim_end[k]; i++)
            if (l->shard[i].extent > 1)
                d->part[d->n++] = (axe_part){
                    .extent = l->shard[i].extent,
                    .stride = l->shard[i].stride,
                    .device = l->shard[i].axis != AXE_AXIS_M,
                };
    }
    w->copy.part = axe_new_array(w->cx, axe_part, w->n_part + 1);
    for (int i = 0; i < l->n_replica; i++)
        w->copy.part[w->copy.n++] = (axe_part){.extent = l->replica[i].extent,
                                               .stride = l->replica[i].stride,
                                               .device = true};
    for (int i = 0; i < l->n_offset; i++) {
        if (l->offset[i].value == 0)
            continue;
        if (l->offset[i].axis == AXE_AXIS_M ||
            l->offset[i].unit != AXE_UNIT_ONE)
            return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: local buffers begin at 0 there, not at "
                            "%" PRId64,
                            w->system, l->offset[i].value);
        w->first = l->offset[i].value;
    }
    return check_local(w);
}

axe_status
axe_writing_begin(axe_ctx *cx, const char *system, const axe_layout *l,
                  const axe_convert_options *opt, bool column, axe_writing *w)
{
    axe_json mesh;

    *w = (axe_writing){.cx = cx, .system = system, .column = column};
    if (!opt->mesh)
        return axe_cv_need_option(cx, system, "mesh");
    AXE_TRY(axe_cv_mesh(cx, opt->mesh, &mesh));
    AXE_TRY(axe_sharding_mesh(cx, &mesh, &w->mesh));
    w->n_device = w->mesh.n_device;
    if (opt->shape.n > 0)
        AXE_TRY(axe_layout_group(cx, l, opt->shape, &l));
    if (l->swizzle.bits > 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: no sharding has a swizzle", system);
    AXE_TRY(axe_layout_canon(cx, l, &l));
    if (l->n_dim > AXE_SHARD_RANK)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s: %d dimensions; at most 8 are taken", system,
                        l->n_dim);
    w->rank = l->n_dim;
    AXE_TRY(plain(w, l->shard, l->n_shard, false));
    AXE_TRY(plain(w, l->replica, l->n_replica, true));
    return take_apart(w, l);
}

axe_status
axe_writing_forward(const axe_writing *w)
{
    for (int k = 0; k < w->rank; k++)
        for (int j = 0; j < w->dim[k].n; j++)
            if (w->dim[k].part[j].device && w->dim[k].part[j].stride < 0)
                return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                                "%s: the devices of dimension %d count "
                                "backwards, which only a list of devices "
                                "(gspmd) says",
                                w->system, k);
    if (w->first == 0)
        return AXE_OK;
    return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: the devices begin at %" PRId64
                    "; the mesh begins at 0",
                    w->system, w->first);
}

/* Part p as parts of axes of the mesh, slow to fast, behind out[0..*n). */
static bool
split(const axe_sharding *m, const axe_part *p, axe_part *out, int *n)
{
    int64_t end = p->stride * p->extent;

    for (int a = 0; a < m->n_mesh; a++) {
        int64_t from = m->stride[a], to = from * m->mesh[a];
        int64_t lo = p->stride > from ? p->stride : from;
        int64_t hi = end < to ? end : to;

        if (lo >= hi)
            continue;
        if (lo % from != 0 || hi % lo != 0 || to % hi != 0)
            return false;
        out[(*n)++] = (axe_part){.extent = hi / lo,
                                 .stride = lo,
                                 .device = true,
                                 .axis = a,
                                 .major = to / hi};
    }
    return true;
}

axe_status
axe_writing_by_axes(axe_writing *w, bool whole)
{
    AXE_TRY(axe_writing_over_mesh(w));
    AXE_TRY(axe_writing_forward(w));
    for (int k = 0; k < w->rank; k++) {
        axe_parts *d = &w->dim[k];
        axe_part  *out =
            axe_new_array(w->cx, axe_part, d->n * (AXE_SHARD_RANK + 1) + 1);
        int n = 0;

        for (int j = 0; j < d->n; j++) {
            if (!d->part[j].device)
                out[n++] = d->part[j];
            else if (!split(&w->mesh, &d->part[j], out, &n))
                return axe_fail(
                    w->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "%s: dimension %d goes over %" PRId64 " devices, %" PRId64
                    " apart, which are no parts of axes of the "
                    "mesh",
                    w->system, k, d->part[j].extent, d->part[j].stride);
        }
        *d = (axe_parts){n, out};
        for (int j = 0; whole && j < n; j++) {
            int64_t m = w->mesh.mesh[out[j].axis];

            if (out[j].device && out[j].extent != m)
                return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                                "%s: dimension %d takes %" PRId64
                                " of the %" PRId64
                                " devices of axis %d of the mesh; parts of an "
                                "axis are said by shardy and gspmd",
                                w->system, k, out[j].extent, m, out[j].axis);
        }
    }
    return AXE_OK;
}

axe_status
axe_writing_in_chunks(const axe_writing *w)
{
    for (int k = 0; k < w->rank; k++)
        for (int j = 1; j < w->dim[k].n; j++)
            if (w->dim[k].part[j].device && !w->dim[k].part[j - 1].device)
                return axe_fail(w->cx, AXE_NOWHERE, AXE_ESHAPE,
                                "%s: a device has every so many elements of "
                                "dimension %d, not one chunk; a strided "
                                "shard (dtensor) or blocks (blockcyclic) say "
                                "that",
                                w->system, k);
    return AXE_OK;
}
