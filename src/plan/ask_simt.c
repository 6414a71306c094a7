/* ask_simt.c - what the planner makes of operands, see ask.h. */
#include "plan/ask.h"

#include <inttypes.h>

#include "plan/simt/team/cta_pair.h"
#include "plan/simt/team/team.h"
#include "plan/simt/tmem/copy.h"
#include "plan/simt/tmem/scale.h"
#include "plan/target.h"

enum {
    LINES = AXE_DESC_ROWS,
    PIECE = AXE_DESC_UNIT,
    HELD = 0,
    SHARED = 1,
    N_TILE = 2
};

/* A planner of nothing, for functions that ask it for a machine and axes. */
typedef struct bare {
    axe_planner   p;
    axe_simt_plan simt;
    axe_place     place[N_TILE];
    axe_tensor    tile[N_TILE];
    bool          open[N_TILE];
    const char   *engine[N_TILE];
} bare;

static axe_status
prepare(axe_ctx *cx, const axe_machine *mc, bare **out)
{
    bare *b = axe_new(cx, bare);

    b->p = (axe_planner){.cx = cx,
                         .mc = mc,
                         .target = axe_plan_target_of(mc),
                         .place = b->place,
                         .simt = &b->simt};
    b->simt.open = b->open;
    b->simt.engine = b->engine;
    for (int i = 0; i < N_TILE; i++)
        b->tile[i] = (axe_tensor){.name = "scales", .id = i, .rank = 2};
    *out = b;
    return axe_simt_find_axes(cx, mc, &b->simt);
}

/* ------------------------------------------------------------------ matrices
 */

static bool
is_extent(const bare *b, const axe_layout *l, const int64_t want[2])
{
    l = axe_side_of_one(&b->p, l);
    return l && axe_dim_size(l, 0) == want[0] && axe_dim_size(l, 1) == want[1];
}

/* Does the row read an operand of so many rows and sums by a descriptor? */
static bool
reads(bare *b, const axe_atom *a, const axe_ask_matrix *q)
{
    const axe_layout *l;
    const char       *names;

    if (q->major && !a->major)
        return false;
    for (int side = 1; side <= 2; side++)
        for (int param = a->lo; param <= a->hi; param += a->step) {
            if (a->type[side] != q->type || !axe_atom_by_descriptor(a, side) ||
                !axe_atom_takes(a, param))
                continue;
            if (axe_atom_operand(b->p.cx, a, side, param, &names, &l) ==
                    AXE_OK &&
                l->n_dim == 2 && is_extent(b, l, q->mma))
                return true;
        }
    return false;
}

static const axe_atom *
find_reader(bare *b, const axe_ask_matrix *q)
{
    const axe_atom *a;

    for (int i = 0; (a = axe_product_row(q->mc, &i)) != NULL;)
        if (a->step > 0 && reads(b, a, q))
            return a;
    return NULL;
}

/* The tile, over (row, k): `n` atoms along each, of `own` elements. */
static axe_status
lay_out(axe_ctx *cx, const axe_ask_matrix *q, const int64_t own[2],
        const axe_layout **out)
{
    int64_t        n[2] = {q->tile[0] / own[0], q->tile[1] / own[1]};
    int64_t        atom = own[0] * own[1], wide = q->major ? own[0] : own[1];
    int64_t        row = q->rows_first ? atom : n[1] * atom;
    int64_t        sum = q->rows_first ? n[0] * atom : atom;
    const axe_iter it[4] = {
        {n[0], row, AXE_AXIS_M, AXE_UNIT_ONE},
        {own[0], q->major ? 1 : wide, AXE_AXIS_M, AXE_UNIT_ONE},
        {n[1], sum, AXE_AXIS_M, AXE_UNIT_ONE},
        {own[1], q->major ? wide : 1, AXE_AXIS_M, AXE_UNIT_ONE},
    };
    const axe_layout spec = {
        .n_shard = 4, .shard = it, .n_dim = 2, .dim_end = (int[]){2, 4}};

    return axe_layout_make(cx, &spec, out);
}

static axe_spread
spread_of(const axe_ask_matrix *q, int d, axe_counter of)
{
    int64_t n = q->tile[d] / q->mma[d];

    return (axe_spread){.extent = q->tile[d],
                        .atom = q->mma[d],
                        .n_rep = n,
                        .n_part = 1,
                        .part = {{.of = of, .over = 1, .extent = n}}};
}

/* A swizzled operand along k has no leading offset, and where it has one atom
 * along a dimension there is no step. */
static uint64_t
unseen(const axe_ask_matrix *q, const int64_t own[2])
{
    int      lead = q->span == PIECE ? 1 : 0; /* the dim it steps along */
    uint64_t bits = 0;

    if ((q->span > PIECE && !q->major) || q->mma[lead] <= own[lead])
        bits |= AXE_DESC_MASK(LEAD);
    lead = q->span > PIECE && !q->major ? 1 : lead;
    if (q->mma[1 - lead] <= own[1 - lead])
        bits |= AXE_DESC_MASK(STRIDE);
    return bits;
}

axe_status
axe_ask_matrix_of(axe_ctx *cx, const axe_ask_matrix *q, axe_told_matrix *out)
{
    int64_t wide = (int64_t)q->span * 8 / axe_type_table[q->type].bits;
    int64_t own[2] = {q->major ? wide : LINES, q->major ? LINES : wide}, at = 0;
    axe_spread       row = spread_of(q, 0, AXE_COUNT_M);
    axe_spread       sum = spread_of(q, 1, AXE_COUNT_K);
    axe_descriptor   d;
    axe_factor_query ask = {
        .row = &row, .k = &sum, .type = q->type, .align = 1024};
    const char *why = "";
    bare       *b;

    AXE_TRY(prepare(cx, q->mc, &b));
    ask.p = &b->p;
    if (!(ask.atom = find_reader(b, q)))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "no row of %s reads %" PRId64 " rows by %" PRId64
                        " of %s%s by a descriptor",
                        q->mc->name, q->mma[0], q->mma[1],
                        axe_type_table[q->type].name,
                        q->major ? ", k slow," : "");
    if (q->tile[0] % own[0] != 0 || q->tile[1] % own[1] != 0 ||
        q->tile[0] % q->mma[0] != 0 || q->tile[1] % q->mma[1] != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "a tile is whole atoms of %" PRId64 " by %" PRId64
                        " and whole invocations",
                        own[0], own[1]);
    AXE_TRY(lay_out(cx, q, own, &ask.mem));
    for (int s = q->span; s > PIECE; s /= 2)
        ask.swizzle.bits++;
    ask.swizzle.base = 4;
    ask.swizzle.shift = 3;
    if (!axe_desc_fit(&ask, &d, &why) || d.major != q->major)
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "%s: %s",
                        ask.atom->name, why);
    for (int i = 0; i < d.n_step; i++)
        at += axe_step_at(&d.step[i], q->step[d.step[i].of == AXE_COUNT_K]);
    *out = (axe_told_matrix){.offset = at * axe_type_table[q->type].bits / 8,
                             .bits = d.bits,
                             .unseen = unseen(q, own)};
    return AXE_OK;
}

/* -------------------------------------------------------------------- scales
 */

/* The product as the planner of contractions would have it: tile HELD has the
 * scales of the side asked for. */
static bool
open_job(bare *b, const axe_ask_scale *q, axe_product *j, axe_candidate *by,
         axe_node *load)
{
    const axe_layout *l;
    const char       *names;
    int64_t           n, block = axe_atom_block(b->p.cx, q->atom);
    axe_spread       *side = q->side == 1 ? &by->m : &by->n;

    if (axe_atom_layout(b->p.cx, q->atom->scale[q->side - 1], q->param, 1,
                        &names, &l) != AXE_OK ||
        !(l = axe_side_of_one(&b->p, l)) || block <= 0 || q->k % block != 0)
        return false;
    n = axe_dim_size(l, 0);
    load->u.tensor = &b->tile[HELD];
    *j = (axe_product){
        .p = &b->p, .block = block, .extent = {q->rows, q->rows, q->k}};
    j->scale[q->side - 1] = load;
    *by = (axe_candidate){.atom = q->atom, .param = q->param};
    side->n_rep = q->rows / n;
    return q->rows % n == 0;
}

/* Copies fill whole columns with the rows that one step reads. */
static bool
bring(bare *b, const axe_atom *a, axe_told_scale *out)
{
    axe_simt_tcopy c;

    b->place[HELD].layout = out->held;
    b->place[HELD].type = b->place[SHARED].type = a->scale_type;
    b->engine[HELD] = a->group;
    out->shared = axe_tcopy_layout(&b->p, &b->tile[HELD], &out->copy);
    b->place[SHARED].layout = out->shared;
    if (!out->shared ||
        !axe_tcopy_fit(&b->p, &b->tile[HELD], &b->tile[SHARED], &c))
        return false;
    out->copy = c.atom;
    out->desc = c.desc;
    out->n_copy = c.n;
    out->to = c.to;
    out->from = c.from;
    return true;
}

static const int64_t *
list_steps(axe_ctx *cx, const axe_scale *s, int64_t n)
{
    int64_t *step = axe_new_array(cx, int64_t, n + 1);

    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < s->n_step; i++)
            if (s->step[i].of == AXE_COUNT_K)
                step[k] += axe_step_at(&s->step[i], k);
    return step;
}

/* Do the rows that one step reads end where a copy does?  Fewer of them lie
 * closer here than in other systems, which leave the rest of a copy empty. */
static bool
fills_copies(const axe_scale *s, const axe_told_scale *t)
{
    int64_t reach = s->step[0].extent * s->step[0].stride;

    return reach % (t->columns * t->wide / t->n_copy) == 0;
}

axe_status
axe_ask_scales(axe_ctx *cx, const axe_ask_scale *q, axe_told_scale *out)
{
    bare         *b;
    axe_product   j;
    axe_candidate by;
    axe_scale     s;
    axe_node      load = {.op = AXE_OP_load};
    const char   *why = "";
    int64_t       span;

    AXE_TRY(prepare(cx, q->mc, &b));
    *out = (axe_told_scale){.lane = b->simt.tlane, .column = b->simt.tcol};
    if (!open_job(b, q, &j, &by, &load) ||
        !(out->held = axe_scale_layout(&j, &by, q->side)) ||
        !bring(b, q->atom, out) || !axe_scale_fit(&j, &by, q->side, &s, &why))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "no copy of %s brings the scales of %" PRId64
                        " rows by %" PRId64 " to where %s reads them",
                        q->mc->name, q->rows, q->k, q->atom->name);
    AXE_TRY(axe_layout_span(cx, out->held, out->column, &span));
    out->wide = AXE_WORD_BITS / axe_type_table[q->atom->scale_type].bits;
    out->columns = (span + out->wide - 1) / out->wide;
    if (!fills_copies(&s, out))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "of %" PRId64 " rows steps of the sum share a copy",
                        q->rows);
    out->n_step = q->k / (j.block * s.step[1].stride);
    out->step = list_steps(cx, &s, out->n_step);
    return AXE_OK;
}
