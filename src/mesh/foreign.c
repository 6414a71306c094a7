/* foreign.c - spreads as other systems write them. */
#include <inttypes.h>
#include <string.h>

#include "base/ctx.h"
#include "convert/sharding.h"
#include "mesh/problem.h"

/* Formats that name axes take them in any order. */
static bool
names_axes(const char *format)
{
    return strcmp(format, "jax") == 0 || strcmp(format, "shardy") == 0;
}

/* The axes, slow to fast where their order does not matter. */
static axe_status
mesh_text(axe_ctx *cx, const axe_mesh *m, const char *format, const char **out)
{
    axe_buf b = {.cx = cx};

    for (int rank = 0; rank < m->n_axis; rank++) {
        int a = 0;

        while (mesh_rank(m, a) != rank)
            a++;
        if (a != rank && !names_axes(format))
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "%s: axes of the mesh are meant as they are "
                            "written, and its devices have another order",
                            format);
        axe_putf(&b, "%s%s=%" PRId64, rank ? "," : "", m->axis[a].name,
                 m->axis[a].size);
    }
    *out = b.text;
    return AXE_OK;
}

/* Axes whose devices hold summands, which are not copies. */
static void
take_sums(axe_ctx *cx, axe_sharding *s, axe_axis gpu, axe_spread *out)
{
    axe_iter *partial = axe_new_array(cx, axe_iter, AXE_SHARD_RANK);
    int       n = 0;

    for (int a = 0; a < s->n_mesh; a++)
        if (s->summed[a])
            partial[out->n_partial++] =
                (axe_iter){s->mesh[a], s->stride[a], gpu, AXE_UNIT_ONE};
    for (int i = 0; i < s->n_copy; i++) {
        bool summed = false;

        for (int a = 0; a < s->n_mesh; a++)
            summed =
                summed || (s->summed[a] && s->stride[a] == s->copy[i].stride &&
                           s->mesh[a] == s->copy[i].extent);
        if (!summed)
            s->copy[n++] = s->copy[i];
    }
    s->n_copy = n;
    out->partial = partial;
}

axe_status
axe_spread_convert(axe_ctx *cx, const axe_mesh *m, const char *format,
                   axe_shape shape, const char *text, axe_spread *out)
{
    AXE_NEED(cx, m);
    AXE_NEED(cx, format);
    AXE_NEED(cx, text);
    AXE_NEED(cx, out);
    AXE_NEED_ALL(cx, shape.n, shape.extent);
    axe_convert_options opt = {.shape = shape};
    axe_sharding        s;
    axe_spread          r = {.n_partial = 0};
    const char         *why;
    int64_t             domain[AXE_SHARD_RANK], *extent;
    axe_axis            gpu;

    AXE_TRY(mesh_text(cx, m, format, &opt.mesh));
    AXE_TRY(axe_sharding_of_text(cx, format, text, &opt, &s));
    AXE_TRY(axe_axis_declare(cx, "gpuid", AXE_KIND_DEVICE, &gpu));
    take_sums(cx, &s, gpu, &r);
    AXE_TRY(axe_sharding_layout(cx, &s, domain, &r.layout, &why));
    if (!r.layout)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s: no layout: %s",
                        format, why);
    extent = axe_new_array(cx, int64_t, shape.n + 1);
    memcpy(extent, shape.extent, (size_t)shape.n * sizeof *extent);
    r.shape = (axe_shape){shape.n, extent};
    *out = r;
    return AXE_OK;
}
