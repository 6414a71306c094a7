/* walk.c - statements in order, and those in them: all that calls itself.
 *
 * What stands around and between statements, protocols of rings, tiles, roles
 * and turns, is in files of its own. */
#include "ir/stmt.h"
#include "lower/code/build.h"
#include "lower/code/order.h"
#include "lower/simt/ring.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/sync/async_drain.h"

enum { MAX_UNROLL = 64 }; /* iterations of a loop that are written out */

/* A scope in a cta: its entities side by side. */
static axe_status
lower_entities(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_thread_group *around = sl->threads;

    sl->threads = axe_threads_at(sl->sp, s);
    b = axe_simt_open_scope(sl, b, s);
    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_ENTER));
    AXE_TRY(axe_simt_lower_body(sl, b, s->n_body, s->body));
    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_LEAVE));
    sl->threads = around;
    return AXE_OK;
}

/* A loop over registers is written out: arrays have no address. */
typedef struct picking {
    const axe_var *v;
    bool           found;
} picking;

static void
look(void *user, const axe_node *n)
{
    picking *x = user;

    for (int d = 0; n->op == AXE_OP_load && d < n->n_arg; d++)
        x->found = x->found || (n->u.tensor->space == AXE_SPACE_REG &&
                                axe_mentions(n->arg[d], x->v));
}

/* Does v say which of a thread's registers a statement means? */
static bool
picks_registers(int n, axe_stmt *const *body, const axe_var *v)
{
    picking x = {v, false};

    for (int i = 0; i < n && !x.found; i++) {
        if (body[i]->kind == AXE_STMT_INDEX) {
            axe_node_walk(body[i]->dst, look, &x);
            axe_node_walk(body[i]->value, look, &x);
        }
        x.found = x.found ||
                  picks_registers(body[i]->n_body, body[i]->body, v) ||
                  picks_registers(body[i]->n_other, body[i]->other, v);
    }
    return x.found;
}

/* How many iterations the loop has, see plan/simt/hazard/zero_init.c. */
static const axe_node *
iterations_of(axe_simt_lowering *sl, const axe_var *v)
{
    return sl->sp->at_least_once[v->id]
               ? op2(sl, AXE_OP_max, v->extent, number(sl, 1))
               : v->extent;
}

static axe_status
lower_if(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = axe_simt_scalars(sl, s->cond);
    AXE_TRY(axe_simt_lower_body(sl, &l->body, s->n_body, s->body));
    return axe_simt_lower_body(sl, &l->other, s->n_other, s->other);
}

static axe_status
lower_tmem(axe_simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    axe_lblock *inside;

    AXE_TRY(axe_simt_lower_tmem(sl, b, s, &inside));
    return inside ? axe_simt_sync_at(sl, inside, s->stmt, AXE_SYNC_INSIDE)
                  : AXE_OK;
}

static axe_status
lower_index(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir   *note = axe_emit(&sl->lw, b, AXE_LIR_NOTE), *in;
    axe_status st;

    note->text =
        axe_textf(sl->lw.cx, "statement %d, line %d: %s %s", s->id, s->at.line,
                  axe_node_text(sl->lw.cx, s->dst), axe_fold_text(s->fold));
    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
    sl->s = sl->lw.plan->schedule[s->id];
    if (sl->s->simt->tmem)
        return lower_tmem(sl, b, sl->s);
    if (sl->s->simt->tcopy)
        return axe_simt_lower_tcopy(sl, b, sl->s);
    if (sl->s->simt->when) {
        in = axe_emit(&sl->lw, b, AXE_LIR_IF);
        in->value = sl->s->simt->when;
        b = &in->body;
    }
    switch (sl->s->kind) {
    case AXE_SCHED_CONTRACT:
        st = axe_simt_lower_contract(sl, b, sl->s);
        break;
    case AXE_SCHED_COPY:
        st = axe_simt_lower_copy(sl, b, sl->s);
        break;
    default:
        st = axe_simt_lower_map(sl, b, sl->s);
    }
    sl->s = NULL;
    return st;
}

/* ------------------------------------------------------------------- stages */

/* The statements of a produce. */
static axe_status
fill(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
     const axe_stmt *s)
{
    const axe_simt_ring *outer = sl->filling;
    axe_status           st;

    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_FILL));
    sl->filling = r;
    st = axe_simt_lower_body(sl, b, s->n_body, s->body);
    sl->filling = outer;
    return st == AXE_OK ? axe_simt_sync_at(sl, b, s, AXE_SYNC_FILLED) : st;
}

/* The produce of iteration `at`, if there is one.  There is a group in every
 * iteration, so that the number of groups says which stages are there. */
static axe_status
produce_at(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
           const axe_stmt *loop, const axe_node *at)
{
    const axe_stmt *produce = loop->body[0];
    axe_lir        *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = op2(sl, AXE_OP_lt, at, iterations_of(sl, loop->var[0]));
    AXE_TRY(axe_simt_sync_at(sl, &l->body, produce, AXE_SYNC_ROOM));
    AXE_TRY(fill(sl, axe_ring_begin_iteration(sl, &l->body, loop, produce, at),
                 r, produce));
    AXE_TRY(axe_simt_sync_at(sl, &l->body, produce, AXE_SYNC_FULL));
    return axe_simt_sync_at(sl, b, produce, AXE_SYNC_PACE);
}

/* One iteration; where a stage ahead is filled, in front of what it reads or
 * behind that, the plan's list says. */
static axe_status
ahead_iteration(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
                const axe_stmt *s, const axe_node *at)
{
    const axe_stmt *consume = s->body[1];
    const axe_node *later = axe_sum(&sl->lw, at, number(sl, r->n_stage - 1));

    AXE_TRY(axe_simt_sync_at(sl, b, consume, AXE_SYNC_USE));
    if (axe_simt_fills_at(sl, consume, AXE_SYNC_USE))
        AXE_TRY(produce_at(sl, b, r, s, later));
    AXE_TRY(axe_simt_lower_body(sl,
                                axe_ring_begin_iteration(sl, b, s, consume, at),
                                consume->n_body, consume->body));
    AXE_TRY(axe_simt_sync_at(sl, b, consume, AXE_SYNC_USED));
    if (axe_simt_fills_at(sl, consume, AXE_SYNC_USED))
        AXE_TRY(produce_at(sl, b, r, s, later));
    return axe_simt_sync_at(sl, b, consume, AXE_SYNC_OVER);
}

/* A loop of the statement's iterations, or of some. */
static axe_lir *
open_loop(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
          const axe_node *end)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);

    l->var = axe_loop_var(&sl->lw, s->var[0]->name);
    l->begin = number(sl, 0);
    l->end = end;
    return l;
}

/* The stages that are filled at first are all but the one that was read last,
 * if the loop has run before: no barrier is needed. */
static axe_status
lower_ahead(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
            const axe_stmt *s)
{
    axe_lir *l;

    l = open_loop(sl, b, s, number(sl, r->n_stage - 1));
    AXE_TRY(produce_at(sl, &l->body, r, s, axe_ivar(&sl->lw, l->var)));
    l = open_loop(sl, b, s, iterations_of(sl, s->var[0]));
    return ahead_iteration(sl, &l->body, r, s, axe_ivar(&sl->lw, l->var));
}

static axe_status
produce(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
        const axe_stmt *s)
{
    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_ROOM));
    AXE_TRY(fill(sl, b, r, s));
    return axe_simt_sync_at(sl, b, s, AXE_SYNC_FULL);
}

static axe_status
consume(axe_simt_lowering *sl, axe_lblock *b, const axe_simt_ring *r,
        const axe_stmt *s)
{
    int n = axe_ring_count_reading(r, s);

    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_USE));
    AXE_TRY(axe_simt_lower_body(sl, b, n, s->body));
    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_USED));
    return axe_simt_lower_body(sl, b, s->n_body - n, s->body + n);
}

/* A loop of consumes, each of which leaves its stage in flight and frees the
 * one before; behind the loop that is the last one. */
static axe_status
lower_deferred(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_stmt *consume = s->body[0];
    axe_lir        *l;

    sl->before = axe_loop_var(&sl->lw, "before");
    axe_ring_count(sl, b, sl->before);
    l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);
    l->var = s->var[0];
    l->begin = number(sl, 0);
    l->end = iterations_of(sl, s->var[0]);
    sl->some = op2(sl, AXE_OP_lt, number(sl, 0), axe_ivar(&sl->lw, l->var));
    AXE_TRY(axe_simt_sync_at(sl, &l->body, consume, AXE_SYNC_USE));
    AXE_TRY(axe_simt_lower_body(sl, &l->body, consume->n_body, consume->body));
    AXE_TRY(axe_simt_sync_at(sl, &l->body, consume, AXE_SYNC_USED));
    sl->some = op2(sl, AXE_OP_lt, number(sl, 0), iterations_of(sl, s->var[0]));
    return AXE_OK;
}

static axe_status
lower_pipelined(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_simt_ring *r = axe_ring_overlapping(sl->sp, s);

    return r->way == AXE_RING_AHEAD ? lower_ahead(sl, b, r, s)
                                    : lower_deferred(sl, b, s);
}

static axe_status
lower_stage(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_simt_ring *r = axe_simt_ring_of(sl->sp, s->pipeline);

    return s->kind == AXE_STMT_PRODUCE ? produce(sl, b, r, s)
                                       : consume(sl, b, r, s);
}

static axe_status
lower_for(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l;
    int64_t  n;

    AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
    if (axe_ring_overlapping(sl->sp, s))
        return lower_pipelined(sl, b, s);
    l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);
    l->var = s->var[0];
    l->begin = axe_int(&sl->lw, 0);
    l->end = iterations_of(sl, s->var[0]);
    l->unroll = axe_is_iconst(l->end, &n) && n <= MAX_UNROLL &&
                picks_registers(s->n_body, s->body, s->var[0]);
    return axe_simt_lower_body(sl, &l->body, s->n_body, s->body);
}

/* -------------------------------------------------------- tiles and roles */

static bool
declares(const axe_stmt *s)
{
    return s->kind == AXE_STMT_PIPELINE || s->kind == AXE_STMT_TENSOR;
}

/* The tasks of a top scope in their order: one for each CTA, or CTAs stay. */
axe_status
axe_simt_lower_persistent(axe_simt_lowering *sl, axe_lblock *b,
                          const axe_stmt *s)
{
    const axe_node *n = axe_order_count(sl->lw.cx, s);

    n = op2(sl, AXE_OP_mul, n, axe_int(&sl->lw, sl->grid->cluster));
    sl->grid->blocks = axe_simt_goes_on(sl->sp, sl->launch)
                           ? axe_sum(&sl->lw, sl->grid->blocks, n)
                           : n;
    if (s->keys.persistent && axe_scope_is_of_roles(s))
        return axe_simt_lower_body(sl, b, s->n_body, s->body);
    for (int i = 0; i < s->n_body; i++)
        if (declares(s->body[i]))
            AXE_TRY(axe_simt_lower_body(sl, b, 1, s->body + i));
    if (s->keys.persistent)
        AXE_TRY(axe_simt_open_tiles(sl, b, s, NULL, &b));
    else
        AXE_TRY(
            axe_simt_set_tile(sl, b, s, axe_simt_cluster_of(sl, AXE_ID_BLOCK)));
    for (int i = 0; i < s->n_body; i++)
        if (!declares(s->body[i]))
            AXE_TRY(axe_simt_lower_body(sl, b, 1, s->body + i));
    return AXE_OK;
}

static axe_status
lower_role(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *role,
           const axe_stmt *tiles)
{
    const axe_thread_group *c = axe_threads_at(sl->sp, role),
                           *around = sl->threads;
    axe_lblock *all, *own;
    axe_status  st;
    int64_t     pair;

    b = all = axe_simt_open_scope(sl, b, role);
    if (c->scope == AXE_SCOPE_WARPGROUP)
        axe_simt_set_budget(sl, b, c, axe_simt_budget(sl->lw.plan->machine, c));
    AXE_TRY(axe_simt_sync_at(sl, all, role, AXE_SYNC_ENTER));
    sl->threads = c;
    if (axe_sync_is_alone(sl->sp, sl->lw.plan->schedule, role, &pair)) {
        b = axe_simt_open_first(sl, b, c, c, axe_simt_asks(sl, pair));
        sl->alone = true;
    }
    axe_simt_count_rings(sl, b, role);
    own = b;
    st = tiles ? axe_simt_open_tiles(sl, b, tiles, role, &b) : AXE_OK;
    if (st == AXE_OK)
        st = axe_simt_lower_body(sl, b, role->n_body, role->body);
    if (st == AXE_OK)
        st = axe_simt_sync_at(sl, own, role, AXE_SYNC_INSIDE);
    sl->alone = false;
    sl->threads = around;
    if (st == AXE_OK)
        st = axe_simt_sync_at(sl, all, role, AXE_SYNC_LEAVE);
    if (st == AXE_OK && c->scope == AXE_SCOPE_WARPGROUP)
        st = axe_simt_end_budget(sl, all, c,
                                 axe_simt_budget(sl->lw.plan->machine, c));
    return st;
}

static axe_status
lower_roles(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_stmt *top = sl->launch->scope;
    bool            stay = top->keys.persistent && axe_scope_is_of_roles(top) &&
                axe_stmt_within(top->n_body, top->body, s);

    axe_simt_set_budgets(sl, b);
    for (int i = 0; i < s->n_body; i++)
        AXE_TRY(lower_role(sl, b, s->body[i], stay ? top : NULL));
    return axe_simt_end_budgets(sl, b);
}

/* --------------------------------------------------------------- statements */

static axe_status
lower_stmt(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
        AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
        return lower_entities(sl, b, s);
    case AXE_STMT_LOOP:
        AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
        return axe_simt_lower_body(sl,
                                   &axe_emit(&sl->lw, b, AXE_LIR_FOREVER)->body,
                                   s->n_body, s->body);
    case AXE_STMT_BREAK:
        axe_emit(&sl->lw, b, AXE_LIR_BREAK);
        break;
    case AXE_STMT_CONTINUE:
        axe_emit(&sl->lw, b, AXE_LIR_CONTINUE);
        break;
    case AXE_STMT_TURN:
        AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
        return axe_simt_lower_body(sl, b, s->n_body, s->body);
    case AXE_STMT_FOR:
        return lower_for(sl, b, s);
    case AXE_STMT_IF:
        return lower_if(sl, b, s);
    case AXE_STMT_INDEX:
        return lower_index(sl, b, s);
    case AXE_STMT_PIPELINE:
        return axe_simt_lower_pipeline(sl, b, s);
    case AXE_STMT_PRODUCE:
    case AXE_STMT_CONSUME:
        return lower_stage(sl, b, s);
    case AXE_STMT_ROLES:
        AXE_TRY(axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD));
        return lower_roles(sl, b, s);
    case AXE_STMT_BARRIER:
        return axe_simt_sync_at(sl, b, s, AXE_SYNC_AHEAD);
    case AXE_STMT_TENSOR:
    case AXE_STMT_DEVICE: /* a kernel of its own before */
    case AXE_N_STMT:
        break;
    }
    return AXE_OK;
}

axe_status
axe_simt_lower_body(axe_simt_lowering *sl, axe_lblock *b, int n,
                    axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        AXE_TRY(axe_simt_sync_at(sl, b, body[i], AXE_SYNC_LEFT));
        AXE_TRY(lower_stmt(sl, b, body[i]));
        AXE_TRY(axe_simt_sync_at(sl, b, body[i], AXE_SYNC_BEHIND));
    }
    return AXE_OK;
}
