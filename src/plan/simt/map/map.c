/* map.c - moves, elementwise statements, reductions: how wide each operand
 * moves between memory and registers.
 *
 * A thread takes neighbours of one index at once where they are neighbours in
 * memory and in its own iterations, and where every address is a multiple of
 * the vector.  What is known at launch only (rows of K elements) becomes a
 * condition; without it the same elements are moved one by one. */
#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/map/shuffle.h"

static const axe_node *
boolean(axe_ctx *cx, bool v)
{
    return axe_iconst(cx, AXE_NOWHERE, AXE_TYPE_bool, v);
}

static bool
is_known(const axe_node *c, bool v)
{
    int64_t k;

    return axe_is_iconst(c, &k) && (k != 0) == v;
}

enum { MAX_REGISTERS = 1 << 13 };

/* When a stride is a multiple of w. */
static const axe_node *
stride_multiple(axe_planner *p, axe_stride s, int64_t w)
{
    const axe_node *n = axe_index_const(p->cx, s.coef);

    for (int i = 0; i < axe_unit_n_factor(p->cx, s.unit); i++)
        for (int k = 0; k < p->kernel->n_size; k++) {
            const axe_var *v = p->kernel->size[k];
            if (strcmp(axe_unit_factor(p->cx, s.unit, i), v->name) == 0)
                n = axe_node2(p->cx, AXE_OP_mul,
                              axe_var_node(p->cx, AXE_NOWHERE, v), n);
        }
    return axe_simt_multiple(p->cx, n, w);
}

/* -------------------------------------------------------------------- width */

/* The digit of neighbours that one thread has of v, or NULL. */
static const axe_work_digit *
fast_digit(const axe_planner *p, const axe_work *w, const axe_var *v)
{
    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].of.var == v && w->digit[i].of.weight == 1 &&
            w->digit[i].axis == p->simt->reg)
            return &w->digit[i];
    return NULL;
}

/* Does the operand move by one element with each of the digit's steps? */
static bool
walks(const axe_operand *op, const axe_digit *d)
{
    axe_iter it;

    return axe_fast_iter(op, d->var, 1, d->extent, &it) && it.stride == 1 &&
           it.unit == AXE_UNIT_ONE;
}

/* When `w` elements from a multiple of w of v on are neighbours inside, or all
 * of them outside. */
static const axe_node *
when_wide(axe_planner *p, const axe_request *r, const axe_work *work,
          const axe_operand *op, const axe_var *v, int w)
{
    const axe_node *c = axe_simt_multiple(p->cx, op->base, w);
    axe_move       *m = axe_new_array(p->cx, axe_move, axe_operand_n_iter(op));
    const axe_dim  *dim = axe_request_dim(r, v);

    for (int i = 0; i < work->n_digit; i++) {
        const axe_digit *d = &work->digit[i].of;
        int              n = axe_operand_moves(op, d, m);
        for (int k = 0; k < n && !(d->var == v && d->weight == 1); k++)
            c = axe_simt_and(p->cx, c, stride_multiple(p, m[k].stride, w));
    }
    for (int i = 0; i < op->n_guard; i++)
        if (op->guard[i].var == v)
            c = axe_simt_and(p->cx, c,
                             axe_simt_multiple(p->cx, op->guard[i].limit, w));
    for (int i = 0; i < op->n_check; i++)
        if (axe_affine_coef(&op->check[i].index, v) != 0 ||
            axe_mentions(op->check[i].outer, v))
            c = boolean(p->cx, false);
    if (axe_mentions(op->base, v))
        c = boolean(p->cx, false);
    if (v->limit)
        c = axe_simt_and(p->cx, c, axe_simt_multiple(p->cx, v->limit, w));
    return axe_simt_and(p->cx, c, axe_simt_multiple(p->cx, dim->extent, w));
}

static axe_type
kept_as(const axe_planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

static const axe_atom *
row_of(const axe_planner *p, const axe_request *r, const axe_operand *op,
       bool store, int w)
{
    axe_type      t = kept_as(p, op->tensor);
    axe_arg_space s = axe_space_operand(op->tensor->space);
    int           param;

    if (store && r->share > 1)
        s = AXE_ARG_DSMEM;
    if (store && r->atomic)
        return axe_simt_find_fold(p->mc, r->stmt->fold, t, w, &param);
    return axe_simt_find_move(
        p->cx, p->mc, store ? AXE_ATOM_STORE : AXE_ATOM_LOAD,
        store ? s : AXE_ARG_REG, store ? AXE_ARG_REG : s, t, w, &param);
}

/* The widest access along v, if it is wider than what there is. */
static void
try_along(axe_planner *p, const axe_request *r, const axe_work *work,
          const axe_operand *op, bool store, const axe_work_digit *d,
          axe_simt_access *out)
{
    int64_t size = axe_type_table[kept_as(p, op->tensor)].bits / 8;
    int64_t w = d->of.extent, most = p->mc->simt->max_vector;

    if (!walks(op, &d->of) || size == 0)
        return;
    while (w % 2 == 0 && (w * size > most || w > axe_simt_kept(p, op->tensor)))
        w /= 2;
    for (; w > out->width && w * size <= most; w /= 2) {
        const axe_node *c = when_wide(p, r, work, op, d->of.var, (int)w);
        const axe_atom *a = row_of(p, r, op, store, (int)w);
        if (a && !is_known(c, false)) {
            out->atom = a;
            out->width = (int)w;
            out->wide = is_known(c, true) ? NULL : c;
            out->along = d->of.var;
            return;
        }
        if (w % 2 != 0)
            return;
    }
}

static axe_status
no_row(axe_planner *p, const axe_operand *op)
{
    axe_type   t = kept_as(p, op->tensor);
    axe_status st = axe_fail(
        p->cx, op->load->at, AXE_EUNSUPPORTED,
        "%s has no row that moves one %s between %s memory and "
        "registers",
        p->mc->name, axe_type_table[t].name, axe_space_name(op->tensor->space));

    if (axe_type_per_byte(t) > 1)
        axe_help(p->cx,
                 "elements of %d bits go by boxes of a tensor map, in a "
                 "`produce`, to tiles that products with scales read",
                 axe_type_table[t].bits);
    return st;
}

axe_status
axe_simt_plan_access(axe_planner *p, const axe_request *r, const axe_work *work,
                     const axe_operand *op, bool store, axe_simt_access *out)
{
    *out = (axe_simt_access){.width = 1};
    if (op->tensor->space == AXE_SPACE_REG)
        return AXE_OK;
    out->atom = out->least = row_of(p, r, op, store, 1);
    if (!out->atom)
        return no_row(p, op);
    AXE_TRY(axe_simt_check_parts(p, r, work, op));
    for (int k = 0; k < r->n_nest; k++)
        for (int i = 0; i < r->nest[k].n_dim; i++) {
            const axe_work_digit *d =
                fast_digit(p, work, r->nest[k].dim[i].var);
            if (d && axe_operand_depends(op, d->of.var))
                try_along(p, r, work, op, store, d, out);
        }
    return AXE_OK;
}

/* What an access costs, and the registers that it needs: all iterations at
 * once. */
static void
count_cost(axe_planner *p, axe_simt_schedule *s, const axe_operand *op,
           axe_simt_access *a)
{
    int64_t n = 1;

    if (op->tensor->space == AXE_SPACE_REG)
        return;
    if (op->tensor->space == AXE_SPACE_SHARED)
        a->conflict =
            (int)axe_banks_degree(axe_simt_banks(p, &s->work, op, a->width));
    else
        a->sector = axe_simt_sectors(p, &s->work, op, a->width);
    for (int i = 0; i < s->work.n_digit; i++)
        if (s->work.digit[i].axis == p->simt->reg &&
            axe_operand_depends(op, s->work.digit[i].of.var))
            n *= s->work.digit[i].of.extent;
    n *= axe_type_table[kept_as(p, op->tensor)].bits;
    s->n_register += (int)((n + AXE_WORD_BITS - 1) / AXE_WORD_BITS);
}

/* ------------------------------------------------------------------- bounds */

/* Indices whose digits go beyond their extents. */
static void
find_bounds(axe_planner *p, const axe_request *r, const axe_work *w,
            axe_schedule *out)
{
    axe_guard *b = axe_new_array(p->cx, axe_guard, 64);

    out->bound = b;
    for (int k = 0; k < r->n_nest; k++)
        for (int i = 0; i < r->nest[k].n_dim; i++) {
            const axe_dim *d = &r->nest[k].dim[i];
            int64_t        all = 1, e = axe_dim_extent(d);
            bool           old = false;
            for (int j = 0; j < w->n_digit; j++)
                if (w->digit[j].of.var == d->var)
                    all *= w->digit[j].of.extent;
            for (int j = 0; j < out->n_bound; j++)
                old = old || b[j].var == d->var;
            if (!old && (d->var->limit || e == 0 || all != e))
                b[out->n_bound++] = (axe_guard){
                    d->var, d->var->limit ? d->var->limit : d->extent};
        }
}

/* A core's lanes test for an edge by masks, in every access: iterations that
 * reach none had better not.  Accesses that have two forms already, or of which
 * each element asks, would make a text too long for its compiler. */
static bool
is_whole_apart(axe_planner *p, const axe_simt_schedule *s,
               const axe_schedule *out)
{
    bool edges = out->n_bound > 0, plain = !out->stmt->prefix;

    for (int i = 0; i < out->n_operand; i++) {
        edges = edges || out->operand[i].n_guard > 0;
        plain = plain && out->operand[i].n_check == 0 && !s->access[i].wide;
    }
    return p->mc->simt->on_core && edges && plain;
}

/* No thread has so many registers; and nobody waits for the proof. */
static axe_status
check_size(axe_planner *p, const axe_operand *op,
           const axe_thread_group *threads)
{
    int64_t n = p->place[op->tensor->id].layout->size / threads->n_thread;

    if (n <= MAX_REGISTERS)
        return AXE_OK;
    return axe_fail(p->cx, op->tensor->at, AXE_ELIMIT,
                    "each of %d threads would hold %" PRId64
                    " elements of %s; %s has %d registers for a thread",
                    threads->n_thread, n, op->tensor->name, p->mc->name,
                    p->mc->simt->max_registers);
}

/* A contraction that no atom takes as its factors lie, `slow`, may yet find one
 * where they come by way of a shared tile. */
static axe_status
check_local(axe_planner *p, axe_request *r, axe_simt_schedule *s,
            axe_schedule *out)
{
    const axe_work *w = &s->work;

    for (int i = 0; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        axe_simt_access   *a = &s->access[i];
        if (op->tensor->space != AXE_SPACE_REG)
            continue;
        AXE_TRY(check_size(p, op, p->simt->who[r->stmt->id]));
        if (axe_simt_is_local(p, r, w, op, &out->n_proved))
            continue;
        if (i > 0 && !out->slow)
            axe_simt_shuffle_plan(p, r, w, op, &a->shuffle, &out->n_proved);
        if (a->shuffle) {
            s->n_register += a->shuffle->n_slot;
            continue;
        }
        axe_ask_staging(p, (axe_staged){.stmt = r->stmt,
                                        .load = op->load,
                                        .why = "it lies in other threads' "
                                               "registers"});
        return AXE_OK;
    }
    return AXE_OK;
}

/* [bytes] of the statement's type in which n threads leave something. */
static axe_status
take_scratch(axe_planner *p, const axe_request *r, axe_simt_schedule *s,
             axe_type t, int64_t n)
{
    if (p->simt->slow[AXE_SPACE_SHARED] >= 0)
        return axe_fail(
            p->cx, r->stmt->at, AXE_EUNSUPPORTED,
            "warps leave what they have summed in shared memory for "
            "others, and on %s each thread reaches its own "
            "partition of it alone: let one warp sum, or a product",
            p->mc->name);
    AXE_TRY(axe_compute_type(p->cx, p->mc, r->stmt->at, t, &t));
    n *= axe_type_table[t].bits / 8;
    s->scratch = s->scratch > n ? s->scratch : n;
    return AXE_OK;
}

/* Shared memory in which warps leave what is ahead of others'. */
static axe_status
find_prefix(axe_planner *p, const axe_request *r, axe_simt_schedule *s)
{
    const axe_work *w = &s->work;
    int64_t         n = (int64_t)s->threads->n_thread * s->threads->n_entity;
    bool            warps = false;

    for (int i = 0; i < w->n_digit && r->stmt->prefix; i++) {
        const axe_work_digit *d = &w->digit[i];
        bool                  along = d->of.var == r->stmt->prefix;
        if (d->axis == p->simt->reg && (!along || !warps))
            n *= d->of.extent;
        if (!along || (d->axis != p->simt->warp && d->axis != p->simt->wid))
            continue;
        if (warps)
            return axe_fail(p->cx, r->stmt->at, AXE_EUNSUPPORTED,
                            "warps count '%s' in more than one way, as %s is "
                            "laid out, and its running sum is taken in order",
                            r->stmt->prefix->name, r->operand[0].tensor->name);
        warps = true;
    }
    return warps ? take_scratch(p, r, s, r->stmt->value->type, n) : AXE_OK;
}

/* Shared memory in which warps leave the sums of their iterations. */
static axe_status
find_scratch(axe_planner *p, const axe_request *r, axe_simt_schedule *s)
{
    const axe_work *w = &s->work;
    int64_t         n = (int64_t)s->threads->n_thread * s->threads->n_entity;

    for (int i = 0; i < w->n_digit; i++)
        if (w->digit[i].axis == p->simt->reg &&
            axe_nest_has(&r->nest[0], w->digit[i].of.var))
            n *= w->digit[i].of.extent;
    for (int k = 1; k < r->n_nest; k++)
        for (int i = 0; i < w->n_digit; i++) {
            axe_axis a = w->digit[i].axis;
            if (!axe_nest_has(&r->nest[k], w->digit[i].of.var) ||
                (a != p->simt->warp && a != p->simt->wid))
                continue;
            AXE_TRY(take_scratch(p, r, s, r->nest[k].reduce->type, n));
        }
    return find_prefix(p, r, s);
}

/* Does the fold change along an index of the one around it? */
static axe_status
check_inner(axe_planner *p, const axe_node *in, const axe_nest *around)
{
    if (in == around->reduce || !axe_node_holds(around->reduce, in))
        return AXE_OK;
    for (int d = 0; d < around->n_dim; d++) {
        const axe_var *v = around->dim[d].var;
        if (!axe_mentions(in, v))
            continue;
        axe_fail(p->cx, in->at, AXE_EUNSUPPORTED,
                 "%s is folded again, along '%s', which it depends on",
                 axe_node_text(p->cx, in), v->name);
        axe_help(p->cx,
                 "fold them one at a time: in a loop over '%s', this one into "
                 "a tile, and that into another one",
                 v->name);
        return AXE_EUNSUPPORTED;
    }
    return AXE_OK;
}

/* Threads share out all indices at once: a fold is done before the one around
 * it takes it only if it is the same in all of that one's iterations. */
static axe_status
check_folds(axe_planner *p, const axe_request *r)
{
    for (int k = 1; k < r->n_nest; k++)
        for (int j = 1; j < r->n_nest; j++)
            AXE_TRY(check_inner(p, r->nest[j].reduce, &r->nest[k]));
    return AXE_OK;
}

axe_status
axe_simt_map_plan(axe_planner *p, axe_request *r, axe_schedule *out)
{
    axe_simt_schedule      *simt = p->simt->of[r->stmt->id];
    const axe_thread_group *threads = simt->threads;

    AXE_TRY(check_folds(p, r));
    r->share = simt->share = simt->copy ? 1 : axe_simt_share(p, r, threads);
    AXE_TRY(axe_simt_distribute(p, r, threads, &simt->work));
    simt->access = axe_new_array(p->cx, axe_simt_access, r->n_operand);
    for (int i = 0; i < r->n_operand; i++)
        AXE_TRY(axe_simt_plan_access(p, r, &simt->work, &r->operand[i], i == 0,
                                     &simt->access[i]));
    AXE_TRY(check_local(p, r, simt, out));
    if (axe_asks_staging(p, r->stmt))
        return AXE_OK;
    for (int i = 0; i < r->n_operand; i++)
        if (axe_simt_first_load(out, i) == i)
            count_cost(p, simt, &r->operand[i], &simt->access[i]);
    find_bounds(p, r, &simt->work, out);
    simt->whole = is_whole_apart(p, simt, out);
    AXE_TRY(find_scratch(p, r, simt));
    out->kind = AXE_SCHED_MAP;
    return AXE_OK;
}
