/* sharding_read.c - a specification of any system: the mesh, the system's own
 * reader, and what is replicated. */
#include <inttypes.h>
#include <string.h>

#include "convert/sharding_int.h"

axe_status
axe_shard_check_list(axe_ctx *cx, const char *system, const axe_json *v,
                     axe_json_kind kind)
{
    bool good = v && v->kind == AXE_JSON_LIST;

    for (const axe_json *c = good ? v->child : NULL; c && good; c = c->next)
        good = c->kind == kind &&
               (kind != AXE_JSON_TEXT || strlen(c->text) == c->len);
    return good ? AXE_OK
                : axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                           "%s: the spec must be a list of %s", system,
                           kind == AXE_JSON_TEXT ? "texts" : "lists");
}

axe_status
axe_sharding_mesh(axe_ctx *cx, const axe_json *v, axe_sharding *s)
{
    int64_t n = 1;

    if (!v || (v->kind != AXE_JSON_LIST && v->kind != AXE_JSON_OBJECT))
        return axe_shard_wrong(cx, "mesh",
                               "a list of extents, or names with extents, is "
                               "needed");
    for (const axe_json *c = v->child; c; c = c->next) {
        if (s->n_mesh == AXE_SHARD_RANK)
            return axe_shard_wrong(cx, "mesh", "more than 8 axes");
        if (c->kind != AXE_JSON_INT || c->integer < 1 ||
            c->integer > AXE_SHARD_DEVICES)
            return axe_shard_wrong(cx, "mesh", "extents are from 1 to 4096");
        for (int a = 0; a < s->n_mesh; a++)
            if (c->key && s->name[a] && strcmp(c->key, s->name[a]) == 0)
                return axe_fail(cx, AXE_NOWHERE, AXE_ENAME,
                                "mesh: two axes '%s'", c->key);
        s->name[s->n_mesh] = c->key;
        s->mesh[s->n_mesh++] = c->integer;
        n *= c->integer;
        if (n > AXE_SHARD_DEVICES)
            return axe_shard_wrong(cx, "mesh", "more than 4096 devices");
    }
    s->n_device = (int)n;
    for (int a = s->n_mesh - 1; a >= 0; a--)
        s->stride[a] =
            a == s->n_mesh - 1 ? 1 : s->stride[a + 1] * s->mesh[a + 1];
    return AXE_OK;
}

/* axes: what is not used of the mesh is replicated, axis by axis. */
static const struct system {
    const char       *name;
    axe_shard_reader *read;
    bool              axes;
} systems[] = {
    {"dtensor", axe_shard_read_dtensor, true},
    {"oneflow", axe_shard_read_oneflow, true},
    {"jax", axe_shard_read_jax, false},
    {"shardy", axe_shard_read_jax, false},
    {"alpa", axe_shard_read_alpa, false},
    {"gspmd", axe_shard_read_gspmd, false},
    {"blockcyclic", axe_shard_read_blockcyclic, true},
    {"zigzag_cp", axe_shard_read_zigzag, true},
    {"zigzag", axe_shard_read_zigzag, true},
    {"megatron", axe_shard_read_megatron, true},
};

static void
begin(axe_ctx *cx, axe_shape shape, axe_sharding *s)
{
    s->rank = shape.n;
    s->own = axe_new_array(cx, axe_runs, s->n_device * s->rank + 1);
    for (int i = 0; i < s->n_device * s->rank; i++) {
        axe_run *all = axe_new(cx, axe_run);

        *all = (axe_run){0, shape.extent[i % s->rank]};
        s->own[i] = (axe_runs){1, all, 1};
    }
    for (int k = 0; k < s->rank; k++) {
        s->shape[k] = shape.extent[k];
        s->dim[k].n = 1;
        s->dim[k].digit[0] = (axe_shard_digit){shape.extent[k], 0};
    }
}

static void
finish(axe_sharding *s, bool axes)
{
    for (int k = 0; k < s->rank; k++)
        for (int p = 0; p < s->n_device; p++) {
            int64_t n = axe_runs_size(axe_shard_runs(s, p, k));

            if (n > s->uniform[k])
                s->uniform[k] = n;
        }
    for (int a = 0; axes && a < s->n_mesh; a++)
        if (!s->used[a] && s->mesh[a] > 1)
            s->copy[s->n_copy++] =
                (axe_iter){s->mesh[a], s->stride[a], AXE_AXIS_M, AXE_UNIT_ONE};
}

axe_status
axe_sharding_read(axe_ctx *cx, const char *system, axe_shape shape,
                  const axe_json *mesh, const axe_json *spec, axe_sharding *out)
{
    const char *names[AXE_LEN(systems)];

    *out = (axe_sharding){.system = system, .partial = {.cx = cx}};
    if (shape.n < 1 || shape.n > AXE_SHARD_RANK)
        return axe_shard_wrong(cx, "sharding",
                               "a tensor of 1 to 8 dimensions is needed");
    for (int k = 0; k < shape.n; k++)
        if (shape.extent[k] < 1 || shape.extent[k] > (int64_t)1 << 40)
            return axe_shard_wrong(cx, "sharding",
                                   "extents are from 1 to 2^40");
    AXE_TRY(axe_sharding_mesh(cx, mesh, out));
    begin(cx, shape, out);
    for (int i = 0; i < AXE_LEN(systems); i++) {
        names[i] = systems[i].name;
        if (strcmp(system, names[i]) != 0)
            continue;
        AXE_TRY(systems[i].read(cx, spec, out));
        finish(out, systems[i].axes);
        return AXE_OK;
    }
    const char *near = axe_nearest(system, AXE_LEN(systems), names);
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "there is no system '%s'%s%s%s",
                    system, near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}
