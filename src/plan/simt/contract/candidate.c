/* candidate.c - the ways to run a contraction on a crew.
 *
 * An option is a row of the table with its parameter and an arrangement of the
 * crew over rows and columns.  It is judged by cycles: what the tensor cores or
 * the lanes take, and what shared memory takes to bring the factors, whichever
 * is more. */
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/simt/contract/candidate.h"
#include "plan/simt/team/cta_pair.h"

enum { SPARE_REGISTERS = 28 };

/* ----------------------------------------------------------------- the job */

static axe_type
type_of(const planner *p, const axe_node *load)
{
    const axe_tensor *t = load->u.tensor;

    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

/* Rows are those of the left operand of atoms; `turn`: the other way. */
bool
axe_job_open(planner *p, const axe_stmt *s, bool turn, job *out)
{
    const axe_node *x, *y;
    roles           ro = {0};
    axe_scaled      is = {.block = 0};

    if (!axe_contract_sort(s, &x, &y, &ro)) {
        if (!axe_takes_scales(p->cx, p->mc, s, true) ||
            !axe_contract_scaled(s, &is))
            return false;
        ro = is.ro;
        x = is.factor[0];
        y = is.factor[1];
    }
    *out = (job){.p = p, .s = s, .crew = p->simt->who[s->id], .turn = turn};
    out->ro = ro;
    out->scale[0] = is.scale[turn ? 1 : 0];
    out->scale[1] = is.scale[turn ? 0 : 1];
    out->block = is.block;
    for (int i = 0; i < 2; i++)
        axe_job_open_side(out, i, turn ? 1 - i : i);
    out->load[0] = s->dst;
    out->load[1] = turn ? y : x;
    out->load[2] = turn ? x : y;
    for (int i = 0; i < 3; i++) {
        out->type[i] = type_of(p, out->load[i]);
        out->spot[i] = axe_new(p->cx, axe_spot *);
    }
    out->extent[2] = axe_dim_extent(out->ro.k);
    out->option = axe_new_array(p->cx, option *, AXE_MAX_OPTION);
    return true;
}

/* ----------------------------------------------------------------- the row */

/* Warps of a warpgroup are warps of the CTA where the crew counts those. */
static const axe_layout *
on_crew(const job *j, const axe_layout *l)
{
    axe_iter  *it = axe_new_array(j->p->cx, axe_iter, l->n_shard + 1);
    axe_layout spec = *l;
    axe_iter   own[2];
    int        n = axe_crew_axes(j->p->simt, j->crew, own);

    for (int i = 0; i < l->n_shard; i++) {
        it[i] = l->shard[i];
        if (n == 2 &&
            (it[i].axis == j->p->simt->wid || it[i].axis == j->p->simt->warp))
            it[i].axis = own[0].axis;
    }
    spec.shard = it;
    return axe_layout_make(j->p->cx, &spec, &l) == AXE_OK ? l : NULL;
}

static int64_t
dim_size(const axe_layout *l, int d)
{
    int64_t n = 1;

    for (int i = d > 0 ? l->dim_end[d - 1] : 0; i < l->dim_end[d]; i++)
        n *= l->shard[i].extent;
    return n;
}

/* One operand's layout as two dims; a single element has both of extent 1. */
static const axe_layout *
read_side(const job *j, const axe_atom *a, int which, const char *names,
          int param)
{
    static const int64_t one[2] = {1, 1};
    const char          *said;
    const axe_layout    *l;

    if (axe_atom_layout(j->p->cx,
                        which == 0   ? a->d
                        : which == 1 ? a->a
                                     : a->b,
                        param, 1, &said, &l) != AXE_OK)
        return NULL;
    if (l->size == 1 &&
        axe_layout_group(j->p->cx, l, (axe_shape){2, one}, &l) != AXE_OK)
        return NULL;
    if (l->size > 1 && (strcmp(said, names) != 0 || l->n_dim != 2))
        return NULL;
    return on_crew(j, l);
}

/* Its operands, and how many rows, columns and sums it takes at once. */
static bool
read_sizes(const job *j, const axe_atom *a, int param, option *o)
{
    static const char *const names[3] = {"m, n", "m, k", "n, k"};

    o->atom = a;
    o->param = param;
    for (int i = 0; i < 3; i++)
        if (!(o->side[i] = read_side(j, a, i, names[i], param)))
            return false;
    o->pair = axe_atom_pair(j->p, o->side[2]);
    for (int i = 0; i < 2; i++)
        if (!(o->side[i] = axe_side_of_one(j->p, o->side[i])))
            return false;
    if (!axe_job_takes_pair(j, o->pair))
        return false;
    int64_t     size[3] = {dim_size(o->side[0], 0), dim_size(o->side[0], 1),
                           dim_size(o->side[1], 1)};
    axe_spread *s[3] = {&o->m, &o->n, &o->k};
    for (int i = 0; i < 3; i++)
        *s[i] = (axe_spread){.extent = j->extent[i], .atom = size[i]};
    return dim_size(o->side[1], 0) == size[0] &&
           dim_size(o->side[2], 0) == size[1];
}

/* Are the statement's extents whole rows of it? */
static bool
fits_extents(const job *j, option *o)
{
    if (o->m.extent % o->m.atom != 0 || o->n.extent % o->n.atom != 0 ||
        o->k.extent % o->k.atom != 0)
        return false;
    o->k.n_rep = o->k.extent / o->k.atom;
    o->k.n_part = 1;
    o->k.part[0] = (axe_part){AXE_COUNT_K, 1, o->k.n_rep, 0};
    return o->pair == 1 || o->n.atom == j->extent[1];
}

static bool
is_tmem(const job *j, int i)
{
    return j->load[i]->u.tensor->space == AXE_SPACE_TMEM;
}

static bool
takes_scales(const job *j, const axe_atom *a)
{
    if (!j->scale[0] || !a->scale[0])
        return !j->scale[0] && !a->scale[0];
    return a->scale_type == j->scale[0]->u.tensor->type &&
           axe_atom_block(j->p->cx, a) == j->block;
}

/* Factors that go through registers may be of a narrower type, and are
 * converted there; those in tensor memory are read there. */
static bool
takes_types(const job *j, const axe_atom *a)
{
    if (a->kind != AXE_ATOM_CONTRACT || a->fold != AXE_FOLD_SUM ||
        !takes_scales(j, a) || !axe_machine_has(j->p->mc, a) ||
        axe_atom_threads(j->p->mc, a) == 0 ||
        j->crew->n_thread % axe_atom_threads(j->p->mc, a) != 0)
        return false;
    for (int i = 0; i < 3; i++)
        if ((a->space[i] == AXE_ARG_TMEM) != is_tmem(j, i) ||
            (a->type[i] != j->type[i] &&
             (i == 0 || a->space[i] != AXE_ARG_REG ||
              j->load[i]->u.tensor->space == AXE_SPACE_REG ||
              !axe_type_widens(j->type[i], a->type[i]))))
            return false;
    return is_tmem(j, 0) || a->space[0] == AXE_ARG_REG;
}

/* --------------------------------------------------------------- the spread */

/* What repetitions of the atom's c follow each other along. */
static axe_axis
sums_axis(const job *j)
{
    return is_tmem(j, 0) ? j->p->simt->tcol : j->p->simt->reg;
}

/* The parts of one index, from how c repeats the atom's. */
static bool
take_parts(const job *j, const option *o, int d, axe_counter own,
           axe_spread *out)
{
    const axe_layout *l = o->outer;
    int64_t           over = 1, span;

    out->n_part = l->dim_end[d] - (d > 0 ? l->dim_end[d - 1] : 0);
    if (out->n_part > AXE_MAX_PART)
        return false;
    for (int i = l->dim_end[d] - 1, k = out->n_part - 1; k >= 0; i--, k--) {
        axe_iter it = l->shard[i];
        if (axe_layout_span(j->p->cx, o->side[0], it.axis, &span) != AXE_OK ||
            it.stride <= 0 || it.axis == j->p->simt->tlane)
            return false;
        out->part[k] = (axe_part){it.axis == j->p->simt->lane ? AXE_COUNT_LANE
                                                              : AXE_COUNT_WARP,
                                  it.stride * span, it.extent, 0};
        if (it.axis != sums_axis(j))
            continue;
        out->part[k] = (axe_part){own, over, it.extent, it.stride * span};
        over *= it.extent;
    }
    out->n_rep = over;
    return true;
}

/* Neither replicas nor offsets: each element of c is added to once. */
static bool
take_spread(const job *j, option *o)
{
    return o->outer->n_dim == 2 && o->outer->n_replica == 0 &&
           o->outer->n_offset == 0 && take_parts(j, o, 0, AXE_COUNT_M, &o->m) &&
           take_parts(j, o, 1, AXE_COUNT_N, &o->n);
}

/* Groups of the crew that each have atoms of their own; one where nobody holds
 * the sums. */
int64_t
axe_job_groups(const job *j, const axe_atom *a)
{
    int64_t threads = axe_atom_threads(j->p->mc, a),
            lanes = j->p->mc->simt->lanes;

    return a->space[0] == AXE_ARG_TMEM
               ? 1
               : j->crew->n_thread / (threads < lanes ? lanes : threads);
}

/* Lanes of a warp that each have atoms of their own. */
static int64_t
lanes_each(const job *j, const axe_atom *a)
{
    int64_t threads = axe_atom_threads(j->p->mc, a),
            lanes = j->p->mc->simt->lanes;

    return threads < lanes && a->space[0] == AXE_ARG_REG ? lanes / threads : 1;
}

/* [bytes] that one warp or group reads of a factor: through registers each
 * element once, at the cost of asking for it; lanes that have atoms of their
 * own ask each for its own.  What is in registers is read by nobody, and what
 * is in tensor memory not from here. */
static double
bytes_of(const job *j, const option *o, int side, const axe_spread *row,
         const axe_spread *other)
{
    double  size = axe_type_table[j->type[side]].bits / 8.0;
    int64_t each =
        axe_atom_threads(j->p->mc, o->atom) == 1 ? lanes_each(j, o->atom) : 1;
    double n = (double)(row->n_rep * row->atom * each * o->k.extent) * size;

    if (j->load[side]->u.tensor->space == AXE_SPACE_REG || is_tmem(j, side))
        return 0;
    if (side == 2)
        n /= (double)o->pair;
    return o->atom->space[side] == AXE_ARG_SHARED ? n * (double)other->n_rep
                                                  : n * AXE_ASKING;
}

static bool
over_warps(const axe_spread *s)
{
    for (int i = 0; i < s->n_part; i++)
        if (s->part[i].of == AXE_COUNT_WARP && s->part[i].extent > 1)
            return true;
    return false;
}

/* Of one invocation, in cycles of an SM. */
static double
cost_of(const option *o)
{
    return o->atom->cost * (o->atom->step > 0 ? o->param : 1);
}

/* Registers of a thread for c and, twice, for one step of what is fed through
 * them. */
static int64_t
registers_of(const job *j, const option *o)
{
    int64_t rep[3] = {o->m.n_rep * o->n.n_rep, 2 * o->m.n_rep, 2 * o->n.n_rep};
    int64_t bits = 0;

    for (int i = 0; i < 3; i++)
        if (o->atom->space[i] == AXE_ARG_REG)
            bits += rep[i] * axe_type_table[o->atom->type[i]].bits *
                    axe_frag_regs(j->p->cx, o->side[i]);
    return bits / 32 + SPARE_REGISTERS;
}

/* Registers of a thread for factors that are tiles of registers: all of them
 * at once. */
static int64_t
held_registers(const job *j, const option *o)
{
    int64_t rep[3] = {0, o->m.n_rep, o->n.n_rep}, bits = 0;

    for (int i = 1; i < 3; i++)
        if (j->load[i]->u.tensor->space == AXE_SPACE_REG)
            bits += rep[i] * o->k.n_rep * axe_type_table[j->type[i]].bits *
                    axe_frag_regs(j->p->cx, o->side[i]);
    return bits / 32;
}

/* Cycles of what a thread has no registers for, out to memory and back. */
static double
spill_of(const job *j, const option *o)
{
    const axe_simt *simt = j->p->mc->simt;
    int64_t         n = registers_of(j, o) + held_registers(j, o) -
                axe_simt_registers(j->p->mc, j->crew);

    return n > 0 ? 2.0 * 4 * (double)(n * j->crew->n_thread) /
                       (simt->banks * simt->bank_bytes)
                 : 0;
}

static void
judge(const job *j, option *o)
{
    const axe_simt *simt = j->p->mc->simt;
    double          units = (double)axe_job_groups(j, o->atom);

    o->compute =
        units * (double)(o->m.n_rep * o->n.n_rep * o->k.n_rep) * cost_of(o);
    o->traffic =
        units *
        (bytes_of(j, o, 1, &o->m, &o->n) + bytes_of(j, o, 2, &o->n, &o->m)) /
        (simt->banks * simt->bank_bytes);
    o->around = over_warps(&o->m) * j->folds[0] +
                over_warps(&o->n) * j->folds[1] + spill_of(j, o);
}

double
axe_option_score(const option *o)
{
    double most = o->compute > o->traffic ? o->compute : o->traffic;

    double n = (double)(o->m.n_rep * o->n.n_rep);

    return most + (o->compute + o->traffic + n) / 16 + o->around;
}

/* Keeps the list in order, best first, the first of equals first. */
static void
add_option(job *j, const option *o)
{
    int at = j->n_option;

    if (at == AXE_MAX_OPTION &&
        axe_option_score(o) >= axe_option_score(j->option[at - 1]))
        return;
    if (at == AXE_MAX_OPTION)
        at--;
    else
        j->n_option++;
    for (; at > 0 && axe_option_score(o) < axe_option_score(j->option[at - 1]);
         at--)
        j->option[at] = j->option[at - 1];
    j->option[at] = axe_new(j->p->cx, option);
    *j->option[at] = *o;
}

/* ------------------------------------------------------------- arrangements */

/* The crew as wm x wn groups, of lm x ln lanes each where an atom is one
 * thread's; a thread's neighbouring columns come by `v`. */
typedef struct arrangement {
    int64_t wm, wn, lm, ln, v;
} arrangement;

static axe_axis
warp_axis(const job *j)
{
    axe_iter own[2];
    int      n = axe_crew_axes(j->p->simt, j->crew, own);

    return n == 2 ? own[0].axis : j->p->simt->warp;
}

/* Rows slow to fast: warps, repetitions, lanes; columns the same, and then
 * neighbours. */
static bool
arrange(const job *j, const arrangement *r, option *o)
{
    int64_t  em = j->extent[0] / o->m.atom, en = j->extent[1] / o->n.atom;
    int64_t  rm = em / (r->wm * r->lm), rn = en / (r->wn * r->ln);
    axe_axis warp = warp_axis(j), lane = j->p->simt->lane, reg = sums_axis(j);
    const axe_iter it[] = {
        {r->wm, r->wn, warp, AXE_UNIT_ONE},   {rm, rn, reg, AXE_UNIT_ONE},
        {r->lm, r->ln, lane, AXE_UNIT_ONE},   {r->wn, 1, warp, AXE_UNIT_ONE},
        {rn / r->v, r->v, reg, AXE_UNIT_ONE}, {r->ln, 1, lane, AXE_UNIT_ONE},
        {r->v, 1, reg, AXE_UNIT_ONE},
    };
    axe_iter kept[AXE_LEN(it)];
    int      n = 0, end[2];

    if (em % (r->wm * r->lm) != 0 || en % (r->wn * r->ln * r->v) != 0)
        return false;
    for (int i = 0; i < AXE_LEN(it); i++) {
        if (it[i].extent > 1)
            kept[n++] = it[i];
        if (i == 2)
            end[0] = n;
    }
    end[1] = n;
    axe_layout spec = {.n_shard = n, .shard = kept, .n_dim = 2, .dim_end = end};
    return axe_layout_make(j->p->cx, &spec, &o->outer) == AXE_OK;
}

static void
try_arrangement(job *j, option *o, const arrangement *r)
{
    axe_mark m = axe_ctx_mark(j->p->cx);
    int64_t  n = 0;

    if (!arrange(j, r, o) || !take_spread(j, o) ||
        (n = registers_of(j, o)) > axe_simt_registers(j->p->mc, j->crew)) {
        if (n > 0 && (j->regs == 0 || n < j->regs))
            j->regs = n;
        axe_ctx_release(j->p->cx, m);
        return;
    }
    judge(j, o);
    add_option(j, o);
}

/* All ways to lay the crew over rows and columns. */
static void
try_arrangements(job *j, option *o)
{
    int64_t groups = axe_job_groups(j, o->atom);
    int64_t each = lanes_each(j, o->atom);

    for (int64_t wm = groups; wm > 0; wm--)
        for (int64_t lm = 1; lm <= each; lm++) {
            arrangement r = {wm, groups / wm, lm, each / lm, 1};
            if (groups % wm != 0 || each % lm != 0)
                continue;
            if (each > 1)
                r.v = j->p->mc->simt->max_vector * 8 /
                      axe_type_table[o->atom->type[0]].bits;
            try_arrangement(j, o, &r);
            if (r.v > 1) {
                r.v = 1;
                try_arrangement(j, o, &r);
            }
        }
}

/* The rest of c when the atom's part is taken out of it. */
static void
try_layout(job *j, option *o, const axe_layout *c)
{
    int64_t  all[2] = {j->extent[0], j->extent[1]};
    int64_t  part[2] = {o->m.atom, o->n.atom};
    axe_mark m = axe_ctx_mark(j->p->cx);

    if (axe_layout_tile_of(j->p->cx, c, (axe_shape){2, all}, o->side[0],
                           (axe_shape){2, part}, &o->outer) != AXE_OK ||
        !take_spread(j, o)) {
        axe_ctx_release(j->p->cx, m);
        return;
    }
    judge(j, o);
    add_option(j, o);
}

/* Cycles of an SM for a product. */
static double
rate_of(const job *j, const option *o)
{
    double n = (double)(o->m.atom * o->n.atom * o->k.atom);

    return cost_of(o) / (n * (double)lanes_each(j, o->atom));
}

static void
try_row(job *j, const axe_atom *a, int param, const axe_layout *c)
{
    option   o = {0};
    axe_mark m = axe_ctx_mark(j->p->cx);

    if (!read_sizes(j, a, param, &o) || !fits_extents(j, &o)) {
        axe_ctx_release(j->p->cx, m);
        return;
    }
    if (j->rate == 0 || rate_of(j, &o) < j->rate)
        j->rate = rate_of(j, &o);
    if (c)
        try_layout(j, &o, c);
    else
        try_arrangements(j, &o);
}

/* Is the row, where it takes least at once, the fastest yet? */
static void
note_best(job *j, const axe_atom *a)
{
    option   o = {0};
    axe_mark m = axe_ctx_mark(j->p->cx);

    if (read_sizes(j, a, a->step > 0 ? a->lo : 1, &o) &&
        (!j->best.atom || rate_of(j, &o) < j->best.rate))
        j->best =
            (axe_best_row){a, rate_of(j, &o), {o.m.atom, o.n.atom, o.k.atom}};
    axe_ctx_release(j->p->cx, m);
}

void
axe_job_options(job *j, const axe_layout *c)
{
    const axe_tensor *t = j->load[0]->u.tensor;

    j->rate = 0;
    if (!c) {
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < j->n_dim[side]; i++)
                j->folds[side] +=
                    axe_fold_cycles(j->p, t, axe_job_dim(j, side, i));
    }
    for (int i = 0; i < j->p->mc->n_atom; i++) {
        const axe_atom *a = &j->p->mc->atom[i];
        if (!takes_types(j, a))
            continue;
        note_best(j, a);
        if (a->step == 0)
            try_row(j, a, 1, c);
        for (int p = a->lo; a->step > 0 && p <= a->hi; p += a->step)
            if (j->extent[1] % p == 0 || j->extent[0] % p == 0)
                try_row(j, a, p, c);
    }
}

void
axe_jobs_drop_slow(job j[2])
{
    double rate = j[0].rate;

    if (rate == 0 || (j[1].rate > 0 && j[1].rate < rate))
        rate = j[1].rate;
    for (int k = 0; k < 2; k++) {
        int n = 0;
        for (int i = 0; i < j[k].n_option; i++)
            if (j[k].s->slow ||
                rate_of(&j[k], j[k].option[i]) <= AXE_FAR_BELOW * rate)
                j[k].option[n++] = j[k].option[i];
        j[k].n_slow = j[k].n_option - n;
        j[k].n_option = n;
    }
}

const axe_layout *
axe_option_layout(const job *j, const option *o)
{
    int64_t out[2] = {j->extent[0] / o->m.atom, j->extent[1] / o->n.atom};
    int64_t in[2] = {o->m.atom, o->n.atom};
    int64_t all[2] = {j->extent[0], j->extent[1]};
    const axe_layout *l;

    if (axe_layout_tile(j->p->cx, o->outer, (axe_shape){2, out}, o->side[0],
                        (axe_shape){2, in}, &l) != AXE_OK ||
        axe_layout_group(j->p->cx, l, (axe_shape){2, all}, &l) != AXE_OK)
        return NULL;
    return l;
}
