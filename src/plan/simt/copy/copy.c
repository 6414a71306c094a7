/* copy.c - moves from memory to memory by COPY rows.
 *
 * Pieces: the widest row that both sides have neighbours for; the threads of
 * the group take the fast digits of the global side, so that neighbouring
 * threads read neighbouring pieces, and iterations take the rest.  Boxes:
 * tma_box.c says what they are; the row is one that goes through a map.  Rows
 * are chosen by kind, spaces and how they complete; the one that moves most at
 * once is preferred. */
#include "plan/simt/copy/copy.h"

#include <inttypes.h>
#include <string.h>

#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/copy/copy_int.h"
#include "plan/simt/map/map.h"
#include "plan/simt/ring/ring_protocol.h"
#include "plan/simt/team/cta_pair.h"

typedef struct attempt {
    axe_planner            *p;
    axe_request            *r;
    const axe_thread_group *threads;
    const axe_operand      *to, *from;
    axe_type                type;
    struct axe_simt_copy    out;
} attempt;

static axe_type
kept_as(const axe_planner *p, const axe_tensor *t)
{
    return t->space == AXE_SPACE_GLOBAL ? t->type : p->place[t->id].type;
}

/* Elements as they are, between global and shared memory?  Scalars may say
 * where, and elements of global tensors. */
static bool
is_copy(attempt *a)
{
    const axe_request *r = a->r;

    if (r->value->op != AXE_OP_load || r->n_nest != 1)
        return false;
    a->to = &r->operand[0];
    for (int i = 1; i < r->n_operand; i++)
        if (r->operand[i].load == r->value)
            a->from = &r->operand[a->out.from = i];
        else if (r->operand[i].tensor->rank > 0 &&
                 r->operand[i].tensor->space != AXE_SPACE_GLOBAL)
            return false;
    if (!a->from || axe_is_scalar(a->from->tensor))
        return false;
    a->type = kept_as(a->p, a->to->tensor);
    a->out.in = a->to->tensor->space == AXE_SPACE_SHARED;
    return kept_as(a->p, a->from->tensor) == a->type &&
           a->to->tensor->space ==
               (a->out.in ? AXE_SPACE_SHARED : AXE_SPACE_GLOBAL) &&
           a->from->tensor->space ==
               (a->out.in ? AXE_SPACE_GLOBAL : AXE_SPACE_SHARED);
}

/* ------------------------------------------------------------------ pieces */

static bool
is_piece_row(const attempt *a, const axe_atom *row)
{
    return row->kind == AXE_ATOM_COPY && row->by == AXE_SCOPE_THREAD &&
           row->fold == a->r->stmt->fold &&
           row->space[0] == axe_space_operand(a->to->tensor->space) &&
           row->space[1] == axe_space_operand(a->from->tensor->space) &&
           row->space[2] == AXE_ARG_NONE && row->step == 0 &&
           (row->type[0] == AXE_TYPE_any || row->type[0] == a->type) &&
           axe_machine_has(a->p->mc, row);
}

/* The row that moves `bytes` at a time. */
static const axe_atom *
find_piece(const attempt *a, int bytes)
{
    for (int i = 0; i < a->p->mc->n_atom; i++)
        if (is_piece_row(a, &a->p->mc->atom[i]) &&
            a->p->mc->atom[i].align == bytes)
            return &a->p->mc->atom[i];
    return NULL;
}

/* Is a piece along v asked for as one? */
static bool
asks_as_one(const axe_operand *op, const axe_var *v)
{
    for (int i = 0; i < op->n_check; i++)
        if (axe_mentions(op->check[i].outer, v))
            return false;
    return !axe_operand_asks(op, v);
}

/* Do whole pieces of `width` neighbours of v lie in the operand, the first of
 * each at a multiple of them?  What that needs goes to *when. */
static bool
operand_fits(attempt *a, const axe_operand *op, const axe_var *v, int width,
             const axe_node **when)
{
    axe_ctx *cx = a->p->cx;
    axe_iter it;

    if (!asks_as_one(op, v) || axe_mentions(op->base, v) ||
        !axe_fast_iter(op, v, 1, width, &it) || it.stride != 1 ||
        it.unit != AXE_UNIT_ONE ||
        !axe_simt_require(cx, when, axe_simt_multiple(cx, op->base, width)))
        return false;
    for (int t = 0; t < op->n_term; t++)
        for (int k = 0; k < op->term[t].n_iter; k++) {
            axe_stride s = {op->term[t].iter[k].stride,
                            op->term[t].iter[k].unit};
            if (op->term[t].var == v && k == op->term[t].n_iter - 1)
                continue;
            if (!axe_simt_require(
                    cx, when,
                    axe_simt_multiple(cx, axe_simt_stride_node(a->p, s),
                                      width)))
                return false;
        }
    for (int g = 0; g < op->n_guard; g++)
        if (op->guard[g].var == v &&
            !axe_simt_require(cx, when,
                              axe_simt_multiple(cx, op->guard[g].limit, width)))
            return false;
    return true;
}

/* The index that both sides are fast in, or NULL. */
static const axe_var *
fast_index(attempt *a)
{
    const axe_nest *nest = &a->r->nest[0];

    for (int i = 0; i < nest->n_dim; i++) {
        axe_iter to, from;
        int64_t  e = axe_dim_extent(&nest->dim[i]);
        if (e > 1 && axe_fast_iter(a->to, nest->dim[i].var, 1, 2, &to) &&
            axe_fast_iter(a->from, nest->dim[i].var, 1, 2, &from) &&
            to.stride == 1 && from.stride == 1 && to.unit == AXE_UNIT_ONE &&
            from.unit == AXE_UNIT_ONE)
            return nest->dim[i].var;
    }
    return NULL;
}

/* The widest row with both sides' neighbours. */
static bool
choose_piece(attempt *a, const axe_var *v)
{
    int esize = axe_type_table[a->type].bits / 8;

    for (int bytes = 16; esize > 0 && bytes >= esize; bytes /= 2) {
        const axe_atom *row = find_piece(a, bytes);
        const axe_node *when = NULL;
        int             width = bytes / esize;
        if (!row)
            continue;
        if (axe_dim_extent(axe_request_dim(a->r, v)) % width != 0 ||
            width > axe_simt_kept(a->p, a->to->tensor) ||
            width > axe_simt_kept(a->p, a->from->tensor) ||
            !operand_fits(a, a->to, v, width, &when) ||
            !operand_fits(a, a->from, v, width, &when)) {
            axe_rejected(a->p, a->r, row->name,
                         "both sides have no whole pieces of %d %s along %s",
                         width, axe_type_table[a->type].name, v->name);
            continue;
        }
        a->out.atom = row;
        a->out.param = width;
        a->out.width = width;
        a->out.when = when;
        return true;
    }
    return false;
}

/* Does an element of an index tensor say where an element is? */
static bool
is_picked(const axe_node *n)
{
    if (n->op == AXE_OP_load)
        return n->u.tensor->rank > 0;
    for (int i = 0; i < n->n_arg; i++)
        if (is_picked(n->arg[i]))
            return true;
    return false;
}

/* Elements that are picked one by one, and each as large as a row moves, into
 * a stage: threads would wait for them, and an engine does not.  Elsewhere
 * nobody is ahead. */
static bool
choose_single(attempt *a)
{
    const axe_node *load = a->from->load;
    int             bits = axe_type_table[a->type].bits;
    const axe_atom *row = bits % 8 == 0 ? find_piece(a, bits / 8) : NULL;
    bool            picked = false;

    for (int d = 0; d < load->n_arg; d++)
        picked = picked || is_picked(load->arg[d]);
    if (!row || !picked || !a->out.in || !a->to->tensor->pipeline)
        return false;
    a->out.atom = row;
    a->out.param = a->out.width = 1;
    return true;
}

/* How far apart the steps of a digit are in global memory, for sorting: digits
 * whose strides have sizes in them are slower, those that elements pick the
 * place by are slowest. */
static int64_t
distance(const axe_operand *op, const axe_digit *d)
{
    axe_move part[16];
    int      n = 0;
    int64_t  sum = 0;

    if (axe_operand_n_iter(op) <= AXE_LEN(part))
        n = axe_operand_moves(op, d, part);
    if (n == 0 && axe_mentions(op->base, d->var))
        return INT64_MAX;
    for (int i = 0; i < n; i++)
        sum += (int64_t)part[i].stride.unit << 40 | part[i].stride.coef;
    return sum;
}

/* All digits of the statement, slow to fast in global memory, the vector's
 * without its neighbours; false if layouts clash. */
static bool
list_digits(attempt *a, const axe_var *fast, int *n, axe_digit *out, int most)
{
    const axe_nest    *nest = &a->r->nest[0];
    const axe_operand *global = a->out.in ? a->from : a->to;

    *n = 0;
    for (int i = 0; i < nest->n_dim; i++) {
        bool       is_fast = nest->dim[i].var == fast;
        int64_t    width = a->out.width;
        int        k;
        axe_digit *d;
        if (axe_dim_extent(&nest->dim[i]) == 0 ||
            !axe_plan_cut(a->p, a->r, &nest->dim[i], is_fast, &width, &k, &d))
            return false;
        for (int j = 0; j < k; j++) {
            if ((is_fast && d[j].weight < width) || d[j].extent == 1)
                continue;
            if (*n == most)
                return false;
            int at = (*n)++;
            for (; at > 0 &&
                   distance(global, &out[at - 1]) < distance(global, &d[j]);
                 at--)
                out[at] = out[at - 1];
            out[at] = d[j];
        }
    }
    return true;
}

static void
add_digit(attempt *a, axe_digit of, int64_t by, bool thread)
{
    if (of.extent > 1)
        a->out.digit[a->out.n_digit++] = (axe_copy_digit){of, by, thread};
}

/* Threads take the fast digits as far as they go. */
static void
share_digits(attempt *a, int n, const axe_digit *d)
{
    int64_t left = a->threads->n_thread, by = 1;

    a->out.digit = axe_new_array(a->p->cx, axe_copy_digit, 2 * n + 1);
    for (int i = n - 1; i >= 0; i--) {
        int64_t   e = axe_gcd(d[i].extent, left);
        axe_digit of = d[i];
        of.extent = e;
        add_digit(a, of, by, true);
        by *= e;
        left /= e;
    }
    a->out.n_thread = (int)by;
    left = a->threads->n_thread;
    for (int i = n - 1, first = a->out.n_digit; i >= 0; i--) {
        int64_t   e = axe_gcd(d[i].extent, left);
        axe_digit of = {d[i].var, d[i].weight * e, d[i].extent / e};
        add_digit(a, of, 0, false);
        left /= e;
        if (of.extent > 1 && a->out.n_digit - 1 > first) {
            axe_copy_digit t = a->out.digit[a->out.n_digit - 1];
            memmove(a->out.digit + first + 1, a->out.digit + first,
                    (size_t)(a->out.n_digit - 1 - first) * sizeof t);
            a->out.digit[first] = t;
        }
    }
}

static int64_t
region_bytes(const attempt *a)
{
    const axe_nest *nest = &a->r->nest[0];
    int64_t         n = 1;

    for (int i = 0; i < nest->n_dim; i++)
        n *= axe_dim_extent(&nest->dim[i]);
    return axe_type_bytes(a->type, n) /
           (a->out.own.extent > 1 ? a->out.own.extent : 1);
}

static bool
plan_each(attempt *a)
{
    axe_digit      d[16];
    int            n;
    const axe_var *fast = fast_index(a);

    if (!fast && !choose_single(a)) {
        axe_rejected(a->p, a->r, "copies by pieces",
                     "the two sides have no neighbours in common");
        return false;
    }
    if (fast && !choose_piece(a, fast))
        return false;
    if (!list_digits(a, fast, &n, d, AXE_LEN(d))) {
        axe_rejected(a->p, a->r, a->out.atom->name,
                     "the layouts of both sides cut indices in ways that do "
                     "not refine one another");
        return false;
    }
    share_digits(a, n, d);
    a->out.bytes = region_bytes(a);
    if (a->out.when)
        a->out.why =
            axe_textf(a->p->cx, "pieces of %d bytes need %s",
                      a->out.atom->align, axe_node_text(a->p->cx, a->out.when));
    return true;
}

/* ------------------------------------------------------------------- boxes */

/* Into the shared memory of this CTA, or of several; into this one's, but at a
 * barrier of any. */
static const axe_atom *
find_box_row(const attempt *a, int share)
{
    axe_fold      fold = a->r->stmt->fold;
    axe_arg_space d = share > 1 ? AXE_ARG_DSMEM : AXE_ARG_SHARED;

    if (!a->out.in)
        return axe_simt_box_row(a->p->mc, fold, a->type, AXE_ARG_MAP,
                                AXE_ARG_SHARED, AXE_ARG_NONE);
    return axe_simt_box_row(a->p->mc, fold, a->type, d, AXE_ARG_MAP,
                            a->out.pair > 1 ? AXE_ARG_DSMEM : AXE_ARG_SHARED);
}

/* CTAs that a box brings the same of the tile to: of one in parts, those that
 * keep the same part. */
static int
share_of(const attempt *a, const axe_tensor *t)
{
    int64_t n = a->out.in ? axe_tile_copies(a->p, t) : 1;
    int64_t parts = axe_tile_parts(a->p, t);

    return (int)(n > parts ? n / parts : 1);
}

/* May CTAs send boxes to each other?  What they send must be the same wherever
 * it goes, and only across roles does a stage say to all of them that it is
 * free. */
static bool
may_share(attempt *a, const axe_tensor *t)
{
    const axe_simt_ring *r = axe_simt_ring_of(a->p->simt, t->pipeline);
    const axe_stmt      *top = axe_threads_cta(a->threads)->at;
    const char          *why = NULL;

    if (!r || r->way != AXE_RING_ROLES)
        why = "stages are freed by each CTA alone: it has no roles";
    for (int d = 0; d < a->from->load->n_arg; d++) {
        axe_affine at;
        if (!axe_affine_of(a->p->cx, a->from->load->arg[d], &at))
            why = "what they read begins where a scalar says, that each has";
        if (axe_mentions(a->from->load->arg[d], top->var[0]))
            why = axe_textf(a->p->cx,
                            "the CTAs of a cluster differ in %s, and so does "
                            "what they read",
                            top->var[0]->name);
    }
    if (why)
        axe_rejected(a->p, a->r, "boxes for all CTAs of a cluster", "%s", why);
    return !why;
}

/* How index v walks the tile. */
static bool
walk_one(const axe_operand *tile, const axe_var *v, axe_box_walk *w)
{
    int found = 0;

    for (int t = 0; t < tile->n_term; t++)
        if (tile->term[t].var == v) {
            w->n_iter = tile->term[t].n_iter;
            w->iter = tile->term[t].iter;
            found++;
        }
    for (int k = 0; k < w->n_iter && found == 1; k++)
        found += w->iter[k].extent == 0;
    return found == 1;
}

/* How indices that are digits of one number walk it. */
static bool
walk_of(axe_ctx *cx, const axe_operand *tile, int n, const axe_var *const *v,
        axe_box_walk *w)
{
    axe_box_walk part = {0};
    axe_iter    *it;

    if (n == 1)
        return walk_one(tile, v[0], w);
    for (int i = 0; i < n; i++) {
        part.n_iter = 0;
        if (!walk_one(tile, v[i], &part))
            return false;
        it = axe_new_array(cx, axe_iter, w->n_iter + part.n_iter);
        for (int k = 0; k < w->n_iter; k++)
            it[k] = w->iter[k];
        for (int k = 0; k < part.n_iter; k++)
            it[w->n_iter + k] = part.iter[k];
        w->iter = it;
        w->n_iter += part.n_iter;
    }
    return true;
}

/* Where the CTA is in front of the index, what is behind it is this CTA's. */
static void
take_own(attempt *a, axe_box_walk *w, int64_t parts)
{
    int64_t n = 1;

    if (parts == 1 || w->n_iter < 2 || w->iter[0].stride != 0)
        return;
    w->n_iter--;
    w->iter++;
    for (int k = 0; k < w->n_iter; k++)
        n *= w->iter[k].extent;
    a->out.own = (axe_box_loop){parts, 0, n, w->dim};
}

/* Both sides as a copy of boxes; false with the reason recorded. */
static bool
see_as_boxes(attempt *a, const axe_operand *tile, const axe_operand *global,
             axe_box_copy *c)
{
    axe_ctx      *cx = a->p->cx;
    axe_box_walk *w = axe_new_array(cx, axe_box_walk, global->load->n_arg + 1);
    int           n_index = 0;

    a->out.origin =
        axe_new_array(cx, const axe_node *, global->load->n_arg + 1);
    *c = (axe_box_copy){.tensor = global->tensor, .walk = w};
    for (int d = 0; d < global->load->n_arg; d++) {
        const axe_node *at = global->load->arg[d];
        const axe_var  *v[AXE_BOX_RANK] = {axe_alone_in(a->p, at)};
        int n = v[0] ? 1 : axe_simt_walkers(a->p, a->r, at, AXE_LEN(v), v);
        if (n < 0 || !axe_simt_may_begin(cx, at, n, v))
            return false;
        a->out.origin[d] = axe_simt_origin(cx, at);
        n_index += n;
        if (n == 0)
            continue;
        w[c->n_walk].dim = d;
        if (!walk_of(cx, tile, n, v, &w[c->n_walk]))
            return false;
        take_own(a, &w[c->n_walk++], axe_tile_parts(a->p, tile->tensor));
    }
    if (n_index != a->r->nest[0].n_dim)
        return false;
    axe_box_join(cx, c);
    c->swizzle = axe_simt_swizzle(&a->p->place[tile->tensor->id]);
    c->least_bits = a->p->mc->simt->map_bits;
    c->share = share_of(a, tile->tensor);
    if (c->share > 1 && !may_share(a, tile->tensor))
        c->share = 1;
    return true;
}

static bool
plan_box(attempt *a)
{
    const axe_kernel  *k = a->p->kernel;
    const axe_operand *tile = a->out.in ? a->to : a->from;
    const axe_operand *global = a->out.in ? a->from : a->to;
    const axe_atom    *row;
    axe_box_copy       c;
    const char        *why = "";

    a->out.pair = (int)axe_ring_parts(a->p, tile->tensor->pipeline);
    if (!a->out.in)
        a->out.pair = 1;
    if (!find_box_row(a, 1))
        return false;
    if (a->out.in && !axe_simt_is_counted(k->n_body, k->body, a->r->stmt)) {
        axe_rejected(a->p, a->r, find_box_row(a, 1)->name,
                     "it does not stand in a produce, whose barrier would say "
                     "when boxes have come");
        return false;
    }
    if (!see_as_boxes(a, tile, global, &c)) {
        axe_rejected(a->p, a->r, find_box_row(a, 1)->name,
                     "each index must walk one dimension of %s by ones",
                     global->tensor->name);
        return false;
    }
    row = find_box_row(a, c.share);
    if (!row || axe_box_find(a->p->cx, &c, &a->out.map, &why) == AXE_NO ||
        !axe_simt_require_strides(a->p, c.tensor, a->out.map.ask,
                                  &a->out.when)) {
        axe_rejected(a->p, a->r, find_box_row(a, 1)->name, "%s",
                     row ? why : "it has no form for several CTAs");
        return false;
    }
    a->out.box = true;
    a->out.atom = row;
    a->out.param = a->out.map.rank;
    a->out.why = why;
    a->out.global = global->tensor;
    a->out.seen = c.tensor;
    a->out.bytes = region_bytes(a);
    a->out.n_certified = axe_box_certify(a->p->cx, &c, &a->out.map);
    return a->out.n_certified > 0;
}

/* One run of neighbours, where its barrier says when it has come. */
static bool
plan_run(attempt *a)
{
    const axe_kernel *k = a->p->kernel;
    const axe_tensor *tile = (a->out.in ? a->to : a->from)->tensor;

    if (a->out.in &&
        (!axe_simt_is_counted(k->n_body, k->body, a->r->stmt) ||
         share_of(a, tile) > 1 || axe_ring_parts(a->p, tile->pipeline) > 1))
        return false;
    return axe_simt_run_plan(a->p, a->r, a->out.from, a->out.in, &a->out);
}

/* Registers to global memory. */
static bool
plan_stage(axe_planner *p, axe_request *r, axe_simt_schedule *simt)
{
    struct axe_simt_stage stage;
    struct axe_simt_copy *copy;

    if (!axe_simt_stage_plan(p, r, simt->threads, &stage))
        return false;
    copy = axe_new(p->cx, struct axe_simt_copy);
    copy->stage = axe_new(p->cx, struct axe_simt_stage);
    *copy->stage = stage;
    simt->copy = copy;
    return true;
}

/* Must threads move it, as threads of the CTA find there what others wrote? */
static bool
is_threads_only(attempt *a)
{
    const axe_tensor *t = (a->out.in ? a->from : a->to)->tensor;

    if (!a->p->simt->threads_only[t->id])
        return false;
    axe_rejected(a->p, a->r, "boxes",
                 "%s is written by this launch and found there again: its "
                 "threads move it",
                 t->name);
    return true;
}

bool
axe_simt_copy_plan(axe_planner *p, axe_request *r)
{
    axe_simt_schedule    *simt = p->simt->of[r->stmt->id];
    attempt               a = {.p = p, .r = r, .threads = simt->threads};
    struct axe_simt_copy *copy;
    bool                  threads_only;

    if (!is_copy(&a))
        return plan_stage(p, r, simt);
    threads_only = is_threads_only(&a);
    if (threads_only || (!plan_run(&a) && !plan_box(&a))) {
        a.out = (struct axe_simt_copy){.in = a.out.in, .from = a.out.from};
        if (!plan_each(&a))
            return false;
    }
    copy = axe_new(p->cx, struct axe_simt_copy);
    *copy = a.out;
    simt->copy = copy;
    return true;
}
