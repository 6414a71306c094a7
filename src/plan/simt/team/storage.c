/* storage.c - tiles of many threads: open or settled, and what of a layout
 * says where in its memory an element lies. */
#include <inttypes.h>

#include "plan/plan_int.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/tmem.h"

bool
axe_simt_is_open(const axe_planner *p, const axe_tensor *t)
{
    return t->space != AXE_SPACE_GLOBAL && p->place[t->id].tensor &&
           !p->place[t->id].layout;
}

void
axe_simt_settle(axe_planner *p, const axe_tensor *t, const axe_layout *l,
                const char *why)
{
    p->place[t->id].layout = l;
    p->place[t->id].why = why;
    p->simt->open[t->id] = false;
}

axe_shape
axe_shape_of_tile(axe_ctx *cx, const axe_tensor *t)
{
    int64_t *e = axe_new_array(cx, int64_t, t->rank + 1);

    for (int d = 0; d < t->rank; d++)
        axe_is_iconst(t->shape[d], &e[d]);
    return (axe_shape){t->rank, e};
}

int64_t
axe_tmem_lane(axe_type t)
{
    return AXE_TMEM_LANE / axe_type_table[t].bits;
}

int64_t
axe_simt_places(const axe_planner *p, const axe_tensor *t, axe_axis a)
{
    const axe_simt_plan *sp = p->simt;

    return a == sp->slow[t->space]
               ? sp->space[t->space]->pitch /
                     axe_type_table[p->place[t->id].type].bits
               : a == sp->fast[t->space];
}

bool
axe_simt_is_parted(const axe_planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_SHARED && p->simt->slow[t->space] >= 0;
}

axe_status
axe_simt_lay_parts(axe_planner *p, const axe_tensor *t, const axe_layout **out)
{
    const axe_simt_plan *sp = p->simt;
    axe_shape            s = axe_shape_of_tile(p->cx, t);
    axe_iter            *it = axe_new_array(p->cx, axe_iter, s.n + 1);
    int                 *end = axe_new_array(p->cx, int, s.n + 1);
    int64_t              at = 1, n = s.n > 0 ? s.extent[0] : 1;
    int64_t              parts = p->mc->simt->partitions;

    parts = n < parts ? n : parts;
    if (n % parts != 0)
        return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                        "%s has %" PRId64 " rows; %s has %d partitions: no "
                        "more rows than that, or whole multiples",
                        t->name, n, p->mc->name, p->mc->simt->partitions);
    for (int d = s.n - 1; d > 0; d--) {
        it[d + 1] =
            (axe_iter){s.extent[d], at, sp->fast[t->space], AXE_UNIT_ONE};
        end[d] = d + 2;
        if (!axe_mul(at, s.extent[d], &at))
            return axe_fail(p->cx, t->at, AXE_EOVERFLOW,
                            "tile %s is larger than any memory", t->name);
    }
    it[0] = (axe_iter){n / parts, at, sp->fast[t->space], AXE_UNIT_ONE};
    it[1] = (axe_iter){parts, 1, sp->slow[t->space], AXE_UNIT_ONE};
    end[0] = 2;
    axe_layout spec = {.n_shard = s.n > 0 ? s.n + 1 : 0,
                       .shard = it,
                       .n_dim = s.n,
                       .dim_end = end};
    return axe_layout_make(p->cx, &spec, out);
}

axe_status
axe_simt_storage(axe_planner *p, const axe_tensor *t, const axe_layout **out)
{
    const axe_layout *l = p->place[t->id].layout;
    axe_iter         *shard = axe_new_array(p->cx, axe_iter, l->n_shard + 1);
    axe_offset *offset = axe_new_array(p->cx, axe_offset, l->n_offset + 1);
    axe_layout  spec = *l;

    spec.shard = shard;
    spec.offset = offset;
    spec.n_offset = spec.n_replica = 0;
    spec.swizzle = (axe_swizzle){0};
    for (int i = 0; i < l->n_shard; i++)
        shard[i] = (axe_iter){l->shard[i].extent,
                              l->shard[i].stride *
                                  axe_simt_places(p, t, l->shard[i].axis),
                              AXE_AXIS_M, l->shard[i].unit};
    for (int i = 0; i < l->n_offset; i++)
        if (axe_simt_places(p, t, l->offset[i].axis) > 0) {
            offset[spec.n_offset] = l->offset[i];
            offset[spec.n_offset].value *=
                axe_simt_places(p, t, l->offset[i].axis);
            offset[spec.n_offset++].axis = AXE_AXIS_M;
        }
    return axe_layout_make(p->cx, &spec, out);
}

int
axe_simt_places_of(const axe_planner *p, const axe_tensor *t,
                   axe_axis axis[AXE_PLACE_AXES], int64_t by[AXE_PLACE_AXES])
{
    const axe_axis all[] = {p->simt->slow[t->space], p->simt->fast[t->space]};
    int            n = 0;

    for (int i = all[0] < 0; i < AXE_LEN(all); i++) {
        axis[n] = all[i];
        by[n++] = axe_simt_places(p, t, all[i]);
    }
    return n;
}

const axe_node *
axe_simt_entity_of(axe_planner *p, const axe_tensor *t)
{
    return axe_threads_number(p->cx, p->simt->owner[t->id]);
}

const char *
axe_simt_why_no_hint(axe_planner *p, const axe_schedule *s, const axe_attr *a)
{
    return s->simt->hint != AXE_HINT_NONE || a->key == AXE_ATTR_stream
               ? NULL
               : axe_textf(p->cx,
                           "`%s` is for what moves to or from global memory, "
                           "and no row that takes hints does so here",
                           axe_attr_table[a->key].name);
}

int64_t
axe_simt_take_shared(axe_simt_launch *l, int64_t bytes, int64_t align)
{
    int64_t at = (l->shared_bytes + align - 1) / align * align;

    l->shared_bytes = at + bytes;
    return at;
}

int64_t
axe_simt_take_barriers(axe_simt_plan *sp, axe_simt_launch *l, int64_t n)
{
    const axe_simt_overlap *o = l->overlap;
    int                     first = o ? o->first : 0, many = o ? o->n : 0;
    int64_t                 at;

    for (int i = 0; i < many; i++)
        if (sp->launch[first + i].shared_bytes > l->shared_bytes)
            l->shared_bytes = sp->launch[first + i].shared_bytes;
    at = axe_simt_take_shared(l, 8 * n, 16);
    for (int i = 0; i < many; i++)
        sp->launch[first + i].shared_bytes = l->shared_bytes;
    return at;
}
