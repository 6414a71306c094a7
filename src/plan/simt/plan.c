/* plan.c - plans for machines with threads: statements, then memory.
 *
 * Layouts first: what is declared, then what contractions want of open tiles,
 * then statement by statement what each writes.  A schedule is made against
 * layouts as they are.  Last, shared tiles get offsets, and what threads must
 * wait for is derived from who wrote and who reads what. */
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract_int.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/copy/copy_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/ring/ring.h"
#include "plan/simt/simt_int.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/tmem_int.h"

/* ------------------------------------------------------------------ tiles */

/* May the axis stand in a tile of that space held by the thread group? */
static bool
axis_fits(const axe_planner *p, const axe_tensor *t, axe_axis a)
{
    const axe_simt_plan *sp = p->simt;
    axe_iter             own[2];
    int                  n = axe_threads_axes(sp, sp->owner[t->id], own);

    if (t->space != AXE_SPACE_REG)
        return axe_simt_places(p, t, a) > 0;
    for (int i = 0; i < n; i++)
        if (own[i].axis == a)
            return true;
    return a == sp->reg;
}

/* An axis that does not fit, and which do. */
static axe_status
bad_axis(axe_planner *p, const axe_tensor *t, axe_axis a)
{
    axe_iter own[2];
    int      n = axe_threads_axes(p->simt, p->simt->owner[t->id], own);
    axe_buf  b = {.cx = p->cx};

    axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
             "axis %s of the layout of %s has no meaning for a %s tile of a %s",
             axe_axis_name(p->cx, a), t->name, axe_space_name(t->space),
             axe_scope_name(p->simt->owner[t->id]->scope));
    if (t->space != AXE_SPACE_REG) {
        axe_help(p->cx, "@m counts elements of memory; no layout leaves the "
                        "choice to the compiler");
        return AXE_EUNSUPPORTED;
    }
    for (int i = 0; i < n; i++)
        axe_putf(&b, "@%s, ", axe_axis_name(p->cx, own[i].axis));
    axe_help(p->cx,
             "it may have %s@%s; no layout leaves the choice to the "
             "compiler",
             n > 0 ? b.text : "", axe_axis_name(p->cx, p->simt->reg));
    return AXE_EUNSUPPORTED;
}

static axe_status
check_axes(axe_planner *p, const axe_tensor *t, int n, const axe_iter *it)
{
    for (int i = 0; i < n; i++)
        if (!axis_fits(p, t, it[i].axis))
            return bad_axis(p, t, it[i].axis);
    return AXE_OK;
}

/* Elements of a register tile begin with the first thread, and the last thread
 * that has one exists. */
static axe_status
check_threads(axe_planner *p, const axe_tensor *t)
{
    axe_iter own[2];
    int      n = axe_threads_axes(p->simt, p->simt->owner[t->id], own);
    int64_t  last;

    for (int i = 0; i < n; i++) {
        const char *name = axe_axis_name(p->cx, own[i].axis);
        AXE_TRY(axe_layout_cosize(p->cx, t->layout, own[i].axis, &last));
        if (last > own[i].extent)
            return axe_fail(p->cx, t->at, AXE_ESHAPE,
                            "the layout of %s reaches %s %" PRId64
                            "; there are %" PRId64,
                            t->name, name, last - 1, own[i].extent);
        for (int k = 0; k < t->layout->n_offset; k++)
            if (t->layout->offset[k].axis == own[i].axis)
                return axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                                "the layout of %s begins at %s %" PRId64
                                "; let a scope of those threads alone hold it",
                                t->name, name, t->layout->offset[k].value);
    }
    return AXE_OK;
}

static axe_status
place_tile(axe_planner *p, const axe_tensor *t)
{
    axe_place *pl = &p->place[t->id];

    *pl = (axe_place){.tensor = t, .type = t->type, .why = "declared"};
    if (t->space == AXE_SPACE_TMEM && axe_machine_room(p->mc, t->space) == 0) {
        axe_fail(p->cx, t->at, AXE_EUNSUPPORTED,
                 "%s has no tensor memory for %s", p->mc->name, t->name);
        axe_help(p->cx,
                 "declare it `reg`, or compile for a machine that has some");
        return AXE_EUNSUPPORTED;
    }
    if (!t->layout && axe_simt_is_parted(p, t)) {
        pl->why = "auto: a row to a partition";
        return axe_simt_lay_parts(p, t, &pl->layout);
    }
    if (!t->layout)
        return AXE_OK;
    AXE_TRY(check_axes(p, t, t->layout->n_shard, t->layout->shard));
    if (t->space == AXE_SPACE_REG) {
        AXE_TRY(check_axes(p, t, t->layout->n_replica, t->layout->replica));
        AXE_TRY(check_threads(p, t));
    }
    AXE_TRY(axe_declared_check(p->cx, t));
    return axe_layout_group(p->cx, t->layout, axe_shape_of_tile(p->cx, t),
                            &pl->layout);
}

static axe_status
place_tensor(axe_planner *p, const axe_stmt *s)
{
    return s->tensor->space == AXE_SPACE_GLOBAL ? AXE_OK
                                                : place_tile(p, s->tensor);
}

static axe_status
place_pipeline(axe_planner *p, const axe_stmt *s)
{
    for (int i = 0; i < s->pipeline->n_tensor; i++)
        AXE_TRY(place_tile(p, s->pipeline->tensor[i]));
    return AXE_OK;
}

static axe_status
infer_contraction(axe_planner *p, const axe_stmt *s)
{
    axe_mark m = axe_ctx_mark(p->cx);

    if (!axe_simt_contract_infer(p, s))
        axe_ctx_release(p->cx, m);
    return AXE_OK;
}

/* --------------------------------------------------------------- statements */

/* A copy that needs a condition has a map beside it, which then need not ask
 * for the same again. */
static void
forget_wide(const axe_simt_schedule *s, int n_operand)
{
    const axe_node *when = s->copy->when;

    for (int i = 0; when && i < n_operand; i++)
        if (s->access[i].wide && axe_node_same(s->access[i].wide, when)) {
            s->access[i].wide = NULL;
            s->access[i].width = 1;
            s->access[i].along = NULL;
        }
}

/* Addresses in tiles.  A contraction has proved more already. */
static void
certify(axe_planner *p, axe_schedule *s)
{
    int64_t n = s->n_proved;

    axe_certify(p, s);
    if (s->kind == AXE_SCHED_CONTRACT)
        s->n_proved = n;
}

/* What the statement does by way of a shared tile was not done straight. */
static void
reject_straight(axe_planner *p, axe_request *r)
{
    for (int i = 1; i < r->n_operand; i++) {
        const axe_tensor *t = r->operand[i].tensor;
        const axe_staged *s = axe_staged_as(p->n_staged, p->staged, t);
        if (s && s->direct > 0)
            axe_rejected(p, r, "blocks turned in registers",
                         "about %.0f cycles of the path to memory for a tile, "
                         "%.0f by way of %s",
                         s->direct, s->staged, t->name);
    }
}

/* `via map`: straight, where copies and staging would do, too. */
static bool
asks_for_map(const axe_stmt *s)
{
    return s->via && strcmp(s->via, "map") == 0;
}

/* Does the statement move by a row that takes hints? */
static bool
moves_by_hint(const axe_schedule *s)
{
    const axe_simt_copy *c = s->simt->copy;

    if (s->kind == AXE_SCHED_COPY && c)
        return axe_atom_takes_hint(c->stage ? c->stage->move : c->atom);
    if (s->kind != AXE_SCHED_MAP || !s->simt->access)
        return false;
    for (int i = 0; i < s->n_operand; i++)
        if (s->simt->access[i].atom &&
            axe_atom_takes_hint(s->simt->access[i].atom))
            return true;
    return false;
}

static void
take_hint(axe_planner *p, const axe_schedule *s)
{
    axe_simt_schedule *simt = p->simt->of[s->stmt->id];

    if (!moves_by_hint(s))
        return;
    if (axe_attr_of(s->stmt, AXE_ATTR_evict_first))
        simt->hint = AXE_HINT_FIRST;
    if (axe_attr_of(s->stmt, AXE_ATTR_evict_last))
        simt->hint = AXE_HINT_LAST;
}

/* Does an engine move it, of elements that no thread can move by themselves? */
static bool
is_engines(const axe_simt_copy *c, const axe_request *r)
{
    return c && c->box && axe_type_per_byte(r->operand[0].tensor->type) > 1;
}

/* By copies, or by way of registers, as the text may ask. */
static axe_status
schedule_map(axe_planner *p, axe_request *r, axe_schedule *out)
{
    axe_simt_schedule *simt = p->simt->of[r->stmt->id];
    bool copied = !asks_for_map(r->stmt) && axe_simt_copy_plan(p, r);

    out->kind = AXE_SCHED_COPY;
    if (is_engines(simt->copy, r))
        return AXE_OK;
    AXE_TRY(axe_simt_map_plan(p, r, out));
    if (axe_asks_staging(p, r->stmt) ||
        (!copied && axe_simt_stage_transpose(p, r, simt)))
        return AXE_OK;
    out->kind = copied ? AXE_SCHED_COPY : AXE_SCHED_MAP;
    if (copied)
        forget_wide(simt, r->n_operand);
    return AXE_OK;
}

static axe_status
schedule(axe_planner *p, const axe_stmt *s)
{
    axe_request   r;
    axe_schedule *out = axe_new(p->cx, axe_schedule);
    bool          wanted = axe_contract_wanted(s), moved;

    AXE_TRY(axe_check_types(p, s));
    AXE_TRY(axe_check_scatter(p, s));
    AXE_TRY(axe_request_of(p, s, &r));
    *out = (axe_schedule){
        .stmt = s,
        .value = r.value,
        .n_operand = r.n_operand,
        .operand = r.operand,
        .n_nest = r.n_nest,
        .nest = r.nest,
        .bytes = -1,
    };
    axe_simt_schedule *simt = axe_new(p->cx, axe_simt_schedule);
    *simt = (axe_simt_schedule){.threads = p->simt->who[s->id]};
    out->simt = p->simt->of[s->id] = simt;
    if (axe_simt_contract_plan(p, &r, out)) {
        out->kind = AXE_SCHED_CONTRACT;
    } else if (!axe_simt_tcopy_plan(p, s, out)) {
        out->slow = wanted;
        AXE_TRY(axe_simt_tmem_plan(p, &r, out, &moved));
        if (!moved)
            AXE_TRY(schedule_map(p, &r, out));
    }
    if (axe_asks_staging(p, s))
        return AXE_OK;
    take_hint(p, out);
    AXE_TRY(axe_check_pins(p, &r, out, wanted));
    reject_straight(p, &r);
    out->n_reject = r.n_reject;
    out->reject = axe_rejects_kept(p->cx, &r);
    certify(p, out);
    p->schedule[s->id] = out;
    return axe_check_parts(p, out);
}

/* ------------------------------------------------------------------- memory */

/* [bytes] of a tile that is not looked at any further. */
enum { MOST_SHARED = 1 << 26 };

/* Rows are on partitions that there are, and nothing moves addresses. */
static axe_status
check_partitions(axe_planner *p, const axe_place *pl)
{
    int     have = p->mc->simt->partitions;
    int64_t n;

    if (!axe_simt_is_parted(p, pl->tensor))
        return AXE_OK;
    AXE_TRY(axe_layout_cosize(p->cx, pl->layout,
                              p->simt->slow[AXE_SPACE_SHARED], &n));
    if (n <= have && pl->layout->swizzle.bits == 0)
        return AXE_OK;
    return axe_fail(
        p->cx, pl->tensor->at, AXE_EUNSUPPORTED,
        n > have ? "the layout of %s reaches partition %" PRId64 "; %s has %d"
                 : "%s is swizzled over %" PRId64
                   " partitions; those of %s, %d, each have a thread, "
                   "and no banks to clash in",
        pl->tensor->name, n > have ? n - 1 : n, p->mc->name, have);
}

static axe_status
size_tile(axe_planner *p, axe_place *pl)
{
    const axe_ring *r = pl->tensor->pipeline ? axe_ring_of(p->n_ring, p->ring,
                                                           pl->tensor->pipeline)
                                             : NULL;
    bool            reg = pl->tensor->space == AXE_SPACE_REG;
    int64_t         bits = axe_type_table[pl->type].bits, n;
    int64_t         all;
    axe_axis        a = p->simt->fast[pl->tensor->space];
    axe_layout      flat = *pl->layout;

    if (pl->tensor->space == AXE_SPACE_TMEM)
        return axe_simt_tmem_size(p, pl);
    AXE_TRY(axe_simt_check_swizzle(p, pl));
    AXE_TRY(check_partitions(p, pl));
    all = axe_simt_align(pl) * 8;
    flat.swizzle = (axe_swizzle){0};
    AXE_TRY(axe_layout_cosize(p->cx, &flat, a, &n));
    if (!axe_mul(n, bits, &n) || n / 8 > INT64_C(1) << 40)
        return axe_fail(p->cx, pl->tensor->at, AXE_EOVERFLOW,
                        "tile %s is larger than any memory", pl->tensor->name);
    pl->bytes = axe_simt_swizzled_end(pl, (n + 7) / 8);
    if (reg)
        return AXE_OK;
    if (pl->bytes > MOST_SHARED)
        return axe_fail(p->cx, pl->tensor->at, AXE_ELIMIT,
                        "tile %s spans %" PRId64 " bytes by its layout; a CTA "
                        "of %s may have %" PRId64 " bytes of shared memory",
                        pl->tensor->name, pl->bytes, p->mc->name,
                        axe_machine_room(p->mc, AXE_SPACE_SHARED));
    if (r && r->n_stage > 1) {
        pl->stage = (pl->bytes * 8 + all - 1) / all * all / bits;
        pl->bytes = axe_type_bytes(pl->type, pl->stage) * r->n_stage;
    }
    n = axe_threads_copies(p->simt->owner[pl->tensor->id]);
    if (n > 1) {
        pl->each = (pl->bytes * 8 + all - 1) / all * all / bits;
        pl->bytes = axe_type_bytes(pl->type, pl->each) * n;
    }
    return AXE_OK;
}

/* The top scope around what the thread group does. */
static axe_simt_launch *
launch_of(axe_planner *p, const axe_thread_group *c)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        if (p->simt->launch[i].threads == axe_threads_cta(c))
            return &p->simt->launch[i];
    return NULL;
}

static axe_status
check_shared(axe_planner *p, const axe_simt_launch *l)
{
    if (l->shared_bytes <= axe_machine_room(p->mc, AXE_SPACE_SHARED))
        return AXE_OK;
    return axe_fail(p->cx, l->scope->at, AXE_ELIMIT,
                    "a CTA needs %" PRId64 " bytes of shared memory; one of %s "
                    "may have %" PRId64 ": smaller tiles or fewer stages",
                    l->shared_bytes, p->mc->name,
                    axe_machine_room(p->mc, AXE_SPACE_SHARED));
}

/* The thread groups' scratch, behind all tiles: thread groups may use theirs
 * side by side. */
static void
place_scratch(axe_planner *p)
{
    for (int k = 0; k < p->kernel->n_index_stmt; k++) {
        axe_thread_group *c = p->simt->who[k];
        if (p->schedule[k] && p->schedule[k]->simt->scratch > c->scratch_bytes)
            c->scratch_bytes = p->schedule[k]->simt->scratch;
    }
    for (int i = 0; i < p->simt->n_group; i++) {
        axe_thread_group *c = p->simt->group[i];
        axe_simt_launch  *l = launch_of(p, c);
        if (c->scratch_bytes == 0)
            continue;
        c->scratch = axe_simt_take_shared(l, c->scratch_bytes, 128);
    }
}

static axe_status
size_tiles(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (p->place[i].tensor && p->place[i].layout)
            AXE_TRY(size_tile(p, &p->place[i]));
    return AXE_OK;
}

/* Tiles without a layout are row-major; those in registers for the time being.
 */
static axe_status
place_rest(axe_planner *p)
{
    for (int i = 0; i < p->kernel->n_tensor; i++) {
        const axe_tensor *t = p->place[i].tensor;
        const axe_layout *l;
        if (!t || p->place[i].layout)
            continue;
        AXE_TRY(axe_layout_row_major(p->cx, axe_shape_of_tile(p->cx, t), &l));
        axe_simt_settle(p, t, l, "auto: row-major");
        p->simt->open[i] = true;
    }
    return size_tiles(p);
}

/* ------------------------------------------------------------------- passes */

axe_status
axe_simt_find_teams(axe_planner *p)
{
    p->simt = axe_new(p->cx, axe_simt_plan);
    AXE_TRY(axe_simt_find_groups(p));
    return axe_simt_check_groups(p);
}

axe_status
axe_simt_place_declared(axe_planner *p)
{
    AXE_TRY(axe_each_stmt(p, AXE_STMT_TENSOR, place_tensor));
    return axe_each_stmt(p, AXE_STMT_PIPELINE, place_pipeline);
}

axe_status
axe_simt_infer_products(axe_planner *p)
{
    AXE_TRY(axe_each_stmt(p, AXE_STMT_INDEX, infer_contraction));
    AXE_TRY(axe_each_stmt(p, AXE_STMT_INDEX, axe_simt_tcopy_infer));
    AXE_TRY(axe_each_stmt(p, AXE_STMT_INDEX, axe_simt_tmem_infer));
    return place_rest(p);
}

axe_status
axe_simt_choose_shared(axe_planner *p)
{
    AXE_TRY(axe_simt_choose_tiles(p));
    return size_tiles(p);
}

axe_status
axe_simt_schedule_all(axe_planner *p)
{
    AXE_TRY(axe_each_stmt(p, AXE_STMT_INDEX, schedule));
    return p->to_stage.load ? AXE_OK : size_tiles(p);
}

/* A launch that goes on asks for columns once, as many as any part of it has.
 */
static void
share_columns(const axe_simt_plan *sp, axe_simt_launch *l)
{
    for (int i = 0; l->overlap && i < l->overlap->n; i++) {
        const axe_simt_launch *part = &sp->launch[l->overlap->first + i];
        if (part->tmem_columns > l->tmem_columns)
            l->tmem_columns = part->tmem_columns;
    }
    if (l->overlap && l->tmem_columns > 0 && l->tmem_word == 0)
        l->tmem_word = axe_simt_take_shared(l, 4, 16);
}

axe_status
axe_simt_place_columns(axe_planner *p)
{
    for (int i = 0; i < p->simt->n_launch; i++)
        AXE_TRY(axe_simt_tmem_allocate(p, &p->simt->launch[i]));
    for (int i = 0; i < p->simt->n_launch; i++)
        share_columns(p->simt, &p->simt->launch[i]);
    return AXE_OK;
}

axe_status
axe_simt_place_rooms(axe_planner *p)
{
    place_scratch(p);
    axe_simt_place_staging(p);
    for (int i = 0; i < p->simt->n_launch; i++) {
        axe_simt_tmem_keep(p, &p->simt->launch[i]);
        AXE_TRY(check_shared(p, &p->simt->launch[i]));
    }
    return AXE_OK;
}
