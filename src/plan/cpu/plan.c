/* plan.c - for one core: a kernel's statements and tiles, one after the other.
 *
 * First every contraction gives its open tiles the layouts it runs best on;
 * what stays open becomes row-major.  Then each statement is scheduled against
 * the layouts as they are, so a schedule never depends on one that comes
 * later.  Last, tiles get their places in the worker's scratch memory. */
#include <inttypes.h>
#include <string.h>

#include "axe/machine.h"
#include "ir/check.h"
#include "ir/stmt.h"
#include "plan/access/access.h"
#include "plan/cpu/cpu.h"
#include "plan/rewrite/rewrite.h"
#include "plan/target.h"

/* A CPU core runs one task at a time; the entities of scopes inside take turns.
 */
static axe_status
check_scope(axe_planner *p, const axe_stmt *s)
{
    if (s->scope == AXE_SCOPE_CLUSTER)
        return axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
                        "%s has no scope '%s' yet; use cta", p->mc->name,
                        axe_scope_name(s->scope));
    return AXE_OK;
}

static axe_status
check_roles(axe_planner *p, const axe_stmt *s)
{
    const char *why;
    axe_span    at;

    (void)axe_interleave_roles(p->cx, p->kernel, &at, &why);
    axe_fail(p->cx, s->at, AXE_EUNSUPPORTED,
             "%s runs roles one after the other, for which no order was found",
             p->mc->name);
    axe_note(p->cx, at, "%s", why);
    axe_help(p->cx, "write one loop that produces and consumes, as "
                    "kernels/gemm.axe does, for this machine");
    return AXE_EUNSUPPORTED;
}

static axe_shape
tile_shape(axe_planner *p, const axe_tensor *t)
{
    int64_t *e = axe_new_array(p->cx, int64_t, t->rank + 1);

    for (int d = 0; d < t->rank; d++)
        axe_is_iconst(t->shape[d], &e[d]);
    return (axe_shape){t->rank, e};
}

/* Is it one of this machine's own axes, which keep no tile? */
static bool
is_own_axis(axe_planner *p, axe_axis a)
{
    const axe_axis_table *t = axe_machine_axes(p->mc->family);

    for (int i = 0; a != AXE_AXIS_M && i < t->n_axis; i++)
        if (strcmp(t->axis[i].name, axe_axis_name(p->cx, a)) == 0)
            return true;
    return false;
}

/* Does the layout say which threads hold the tile, or which banks?  One core
 * has neither, and no value depends on them: the tile is open here. */
static bool
is_for_threads(const axe_layout *l)
{
    bool other = l->n_replica > 0 || l->swizzle.bits > 0;

    for (int i = 0; i < l->n_shard; i++)
        other = other || l->shard[i].axis != AXE_AXIS_M;
    for (int i = 0; i < l->n_offset; i++)
        other = other || l->offset[i].axis != AXE_AXIS_M;
    return other;
}

static axe_status
place_declared(axe_planner *p, const axe_tensor *t)
{
    axe_place *pl = &p->place[t->id];

    *pl = (axe_place){.tensor = t, .type = t->type, .why = "declared"};
    if (!t->layout && t->rank == 0) {
        pl->why = "a scalar: no memory";
        return axe_layout_row_major(p->cx, tile_shape(p, t), &pl->layout);
    }
    if (!t->layout)
        return AXE_OK;
    for (int i = 0; i < t->layout->n_shard; i++)
        if (is_own_axis(p, t->layout->shard[i].axis))
            return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                            "%s keeps tiles in memory: axis %s of %s's layout "
                            "has no meaning there",
                            p->mc->name,
                            axe_axis_name(p->cx, t->layout->shard[i].axis),
                            t->name);
    AXE_TRY(axe_declared_check(p->cx, t));
    AXE_TRY(axe_layout_group(p->cx, t->layout, tile_shape(p, t), &pl->layout));
    if (is_for_threads(t->layout))
        pl->layout = NULL;
    return AXE_OK;
}

/* Of tiles whose layout was not taken, that. */
void
axe_core_tell_open(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_place *pl = &p->place[i];
        if (pl->tensor && pl->tensor->layout &&
            is_for_threads(pl->tensor->layout))
            pl->why = axe_textf(p->cx, "declared for threads, so open here; %s",
                                pl->why);
    }
}

static axe_status
place_tensor(axe_planner *p, const axe_stmt *s)
{
    if (s->tensor->space == AXE_SPACE_GLOBAL)
        return AXE_OK;
    return place_declared(p, s->tensor);
}

static axe_status
place_pipeline(axe_planner *p, const axe_stmt *s)
{
    for (int i = 0; i < s->pipeline->n_tensor; i++)
        AXE_TRY(place_declared(p, s->pipeline->tensor[i]));
    return AXE_OK;
}

static axe_status
infer(axe_planner *p, const axe_stmt *s)
{
    axe_mark m = axe_ctx_mark(p->cx);

    if (!axe_contract_infer(p, s))
        axe_ctx_release(p->cx, m);
    return AXE_OK;
}

/* A contraction that touches the tile and yet gave it no layout, or NULL. */
static const axe_stmt *
find_contraction(int n, axe_stmt *const *body, const axe_tensor *t)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        if (s->kind == AXE_STMT_INDEX && axe_contract_wanted(s) &&
            (axe_stmt_reads(s, t) || axe_stmt_writes(s, t)))
            return s;
        if (!(s = find_contraction(s->n_body, s->body, t)))
            s = find_contraction(body[i]->n_other, body[i]->other, t);
        if (s)
            return s;
    }
    return NULL;
}

static const char *
why_row_major(axe_planner *p, const axe_tensor *t)
{
    const axe_stmt *s = find_contraction(p->kernel->n_body, p->kernel->body, t);

    if (!s)
        return "auto: row-major, as no contraction reads or sums it";
    return axe_textf(p->cx,
                     "auto: row-major, as the contraction of statement %d "
                     "finds no register tile, or takes it by parts",
                     s->id);
}

static axe_status
place_rest(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_place *pl = &p->place[i];
        if (!pl->tensor || pl->layout)
            continue;
        if (!pl->view)
            pl->why = why_row_major(p, pl->tensor);
        AXE_TRY(axe_layout_row_major(p->cx, tile_shape(p, pl->tensor),
                                     &pl->layout));
    }
    return AXE_OK;
}

/* Bytes of the global operands for one execution of a whole tile; -1 where an
 * extent is known at run time only. */
static int64_t
moved_bytes(const axe_request *r)
{
    int64_t sum = 0;

    for (int i = 0; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        int64_t            n = 1;
        if (op->tensor->space != AXE_SPACE_GLOBAL)
            continue;
        for (int t = 0; t < op->n_term; t++) {
            int64_t e = axe_dim_extent(axe_request_dim(r, op->term[t].var));
            if (e == 0 || !axe_mul(n, e, &n))
                return -1;
        }
        if (!axe_mul(n, axe_type_table[op->tensor->type].bits, &n) ||
            !axe_add(sum, n / 8, &sum))
            return -1;
    }
    return sum;
}

static axe_status
schedule(axe_planner *p, const axe_stmt *s)
{
    axe_request   r;
    axe_schedule *out = axe_new(p->cx, axe_schedule);
    bool          wanted = axe_contract_wanted(s);

    *out = axe_core_begin(p, s);
    AXE_TRY(axe_check_scatter(p, s));
    AXE_TRY(axe_request_make(p, s, &r));
    if (s->atom)
        AXE_TRY(axe_atom_plan(p, &r, out));
    else if (!axe_contract_plan(p, &r, out)) {
        *out = axe_core_begin(p, s);
        out->slow = wanted;
        AXE_TRY(axe_map_plan(p, &r, out));
    }
    AXE_TRY(axe_check_pins(p, &r, out, wanted));
    axe_core_edit(p, out)->skip = p->place[s->dst->u.tensor->id].view;
    out->value = r.value;
    out->n_operand = r.n_operand;
    out->operand = r.operand;
    out->n_reject = r.n_reject;
    out->reject = axe_rejects_kept(p->cx, &r);
    out->bytes = moved_bytes(&r);
    axe_certify(p, out);
    p->schedule[s->id] = out;
    return AXE_OK;
}

/* Bytes of a tile, and of all stages of a pipeline's, each on its own lines. */
static bool
size_of(axe_planner *p, axe_place *pl, int64_t n)
{
    const axe_pipeline *ring = pl->tensor->pipeline;
    const axe_ring     *r = ring ? axe_ring_of(p->n_ring, p->ring, ring) : NULL;
    int64_t             size = axe_type_table[pl->type].bits / 8;

    if (!axe_mul(n, size, &pl->bytes) || !axe_add(pl->bytes, 63, &n))
        return false;
    if (!r || r->n_stage == 1)
        return true;
    pl->stage = n / 64 * 64 / size;
    return axe_mul(pl->stage * size, r->n_stage, &pl->bytes);
}

/* Offsets in scratch, each tile on a 64-byte line. */
axe_status
axe_core_place_tiles(axe_planner *p)
{
    int64_t at = 0;

    for (int i = 0; i < p->kernel->n_tensor; i++) {
        axe_place *pl = &p->place[i];
        int64_t    n;
        if (!pl->tensor || pl->tensor->rank == 0 || pl->view)
            continue;
        AXE_TRY(axe_layout_cosize(p->cx, pl->layout, AXE_AXIS_M, &n));
        if (!size_of(p, pl, n) || pl->bytes > INT64_MAX - 63 ||
            !axe_add(at, pl->bytes + 63, &at) || at > INT64_C(1) << 40)
            return axe_fail(
                p->cx, pl->tensor->at, AXE_EOVERFLOW,
                "tile %s needs %" PRId64 " elements of %d bytes, more "
                "than the 2^40 bytes of scratch memory that a "
                "worker may have; use smaller tiles",
                pl->tensor->name, n, axe_type_table[pl->type].bits / 8);
        pl->offset = (at - pl->bytes - 63 + 63) / 64 * 64;
        at = pl->offset + pl->bytes;
    }
    p->core->scratch_bytes = (at + 63) / 64 * 64;
    return AXE_OK;
}

/* ------------------------------------------------------------------- passes */

axe_status
axe_core_check_scopes(axe_planner *p)
{
    p->core = axe_new(p->cx, axe_core_plan);
    p->core->of =
        axe_new_array(p->cx, axe_core_schedule *, p->kernel->n_index_stmt + 1);
    AXE_TRY(axe_each_stmt(p, AXE_STMT_SCOPE, check_scope));
    return axe_each_stmt(p, AXE_STMT_ROLES, check_roles);
}

axe_status
axe_core_place_declared(axe_planner *p)
{
    AXE_TRY(axe_each_stmt(p, AXE_STMT_TENSOR, place_tensor));
    return axe_each_stmt(p, AXE_STMT_PIPELINE, place_pipeline);
}

axe_status
axe_core_choose_layouts(axe_planner *p)
{
    AXE_TRY(axe_each_stmt(p, AXE_STMT_INDEX, infer));
    AXE_TRY(axe_check_packed(p));
    return place_rest(p);
}

axe_status
axe_core_schedule_all(axe_planner *p)
{
    return axe_each_stmt(p, AXE_STMT_INDEX, schedule);
}

/* ------------------------------------------------ what all of planning asks */

axe_status
axe_core_storage(axe_planner *p, const axe_tensor *t, const axe_layout **out)
{
    *out = p->place[t->id].layout;
    return AXE_OK;
}

int
axe_core_places(const axe_planner *p, const axe_tensor *t,
                axe_axis axis[AXE_PLACE_AXES], int64_t by[AXE_PLACE_AXES])
{
    (void)p;
    (void)t;
    axis[0] = AXE_AXIS_M;
    by[0] = 1;
    return 1;
}

const char *
axe_core_why_no_hint(axe_planner *p, const axe_schedule *s, const axe_attr *a)
{
    if (a->key == AXE_ATTR_stream)
        return s->core->stream || p->mc->stream_bytes <= 0
                   ? NULL
                   : axe_textf(p->cx,
                               "`stream` needs whole vectors of %s's own type "
                               "into a global tensor",
                               s->stmt->dst->u.tensor->name);
    if (a->key == AXE_ATTR_evict_last)
        return axe_textf(p->cx, "%s has no rows that take hints to its caches",
                         p->mc->name);
    return s->core->ahead > 0
               ? NULL
               : "`evict_first` says how to ask for what is ahead, and nothing "
                 "is asked for here: add `prefetch = n`";
}
