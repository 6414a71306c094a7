/* lower.c - a kernel's statements in order.
 *
 * A scope becomes tasks distributed to workers in contiguous shares, with a
 * barrier of all workers before where the plan has it; for and pipelines become
 * loops and plain sequence (one stage).  A statement whose operands may leave
 * their tensors is emitted twice: for tiles wholly inside, with constant
 * bounds, and for the edges. */
#include <string.h>

#include "lower/code/build.h"
#include "lower/cpu/cpu.h"
#include "lower/cpu/tile.h"
#include "lower/pass/pass.h"

static axe_status lower_body(axe_lowering *lw, axe_lblock *b, int n,
                             axe_stmt *const *body);

/* A barrier of all workers before s, if the plan says so. */
static void
worker_barrier(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    const axe_core_plan *p = lw->plan->core;

    for (int i = 0; i < p->n_wait; i++)
        if (p->wait[i].at == s && p->wait[i].barrier) {
            if (lw->streams)
                axe_emit(lw, b, AXE_LIR_OP)->op = AXE_LOP_fence;
            axe_emit(lw, b, AXE_LIR_OP)->op = AXE_LOP_barrier;
        }
}

static void
name_parts(axe_lowering *lw, axe_lblock *b, const axe_schedule *s)
{
    for (int i = 0; i < s->core->split.n_let; i++)
        axe_emit_let(lw, b, s->core->split.let[i].var,
                     s->core->split.let[i].value);
}

/* The parts of contractions in the body that an iteration of the loop, or the
 * scope for NULL, knows already. */
static void
name_all_parts(axe_lowering *lw, axe_lblock *b, const axe_stmt *loop, int n,
               axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_schedule *s = body[i]->kind == AXE_STMT_INDEX
                                    ? lw->plan->schedule[body[i]->id]
                                    : NULL;
        if (s && s->core->split.early && s->core->split.loop == loop)
            name_parts(lw, b, s);
        name_all_parts(lw, b, loop, body[i]->n_body, body[i]->body);
        name_all_parts(lw, b, loop, body[i]->n_other, body[i]->other);
    }
}

/* What an entity of a scope does, whose variables are known. */
static axe_status
lower_entity(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    name_all_parts(lw, b, NULL, s->n_body, s->body);
    return lower_body(lw, b, s->n_body, s->body);
}

static axe_status
lower_scope(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    const axe_node *const *count;

    worker_barrier(lw, b, s);
    if (lw->plan->kernel->body[0] != s || lw->plan->kernel->n_body > 1)
        b = &axe_emit(lw, b, AXE_LIR_BLOCK)->body;
    count = axe_count_tasks(lw, b, s);
    axe_lir *l = axe_emit(lw, b, AXE_LIR_TASKS);
    l->var = axe_loop_var(lw, "task");
    l->begin = axe_int(lw, 0);
    l->end = axe_all_tasks(lw, s, count);
    axe_split_task(lw, &l->body, s, count, axe_ivar(lw, l->var));
    return lower_entity(lw, &l->body, s);
}

/* Scopes that overlap, or the one that stands here. */
static axe_status
lower_scopes(axe_lowering *lw, axe_lblock *b, const axe_stmt *s, int *n)
{
    const axe_core_overlap *o = axe_core_overlap_of(lw->plan, s);

    *n = o ? o->group.n_scope : 1;
    if (!o)
        return lower_scope(lw, b, s);
    worker_barrier(lw, b, s);
    return axe_lower_overlap(lw, &axe_emit(lw, b, AXE_LIR_BLOCK)->body, o,
                             lower_entity);
}

/* A scope in a cta: its entities one after the other. */
static axe_status
lower_entities(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    for (int i = 0; i < s->n_var; i++) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_LOOP);
        l->var = s->var[i];
        l->begin = axe_int(lw, 0);
        l->end = s->var[i]->extent;
        b = &l->body;
    }
    return lower_body(lw, b, s->n_body, s->body);
}

static axe_status
lower_for(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_LOOP);

    l->var = s->var[0];
    l->begin = axe_int(lw, 0);
    l->end = s->var[0]->extent;
    name_all_parts(lw, &l->body, s, s->n_body, s->body);
    return lower_body(lw, &l->body, s->n_body, s->body);
}

static axe_status
lower_schedule(axe_lowering *lw, axe_lblock *b)
{
    switch (lw->s->kind) {
    case AXE_SCHED_CONTRACT:
        return axe_lower_contract(lw, b);
    case AXE_SCHED_TRANSPOSE:
        return axe_lower_transpose(lw, b);
    case AXE_SCHED_COPY:
    case AXE_SCHED_MAP:
        break;
    }
    return axe_lower_map(lw, b);
}

/* Is `in` one of the terms of `all`? */
static bool
already(const axe_node *all, const axe_node *in)
{
    if (!all)
        return false;
    if (all->op == AXE_OP_and)
        return already(all->arg[0], in) || already(all->arg[1], in);
    return axe_node_same(all, in);
}

/* all = all && extent <= limit; false where the extent is not a constant. */
static bool
and_inside(axe_lowering *lw, const axe_guard *g, const axe_node **all)
{
    const axe_node *e = axe_extent_of(lw->s, g->var), *in;
    int64_t         k;

    if (!e || !axe_is_iconst(e, &k))
        return false;
    in = axe_node2(lw->cx, AXE_OP_le, e, g->limit);
    if (already(*all, in))
        return true;
    *all = *all ? axe_node2(lw->cx, AXE_OP_and, *all, in) : in;
    return true;
}

/* all = all && what the operand's checks ask at the corners of the domain,
 * where its extents are constants. */
static void
and_asked(axe_lowering *lw, const axe_operand *op, const axe_node **all)
{
    for (int i = 0; i < op->n_check; i++) {
        const axe_check *c = &op->check[i];
        if (!axe_check_is_boxed(lw, c))
            continue;
        const axe_node *in[2] = {
            axe_node2(lw->cx, AXE_OP_le, axe_int(lw, 0),
                      axe_corner(lw, c->outer, &c->index, false)),
            axe_node2(lw->cx, AXE_OP_lt,
                      axe_corner(lw, c->outer, &c->index, true), c->size)};
        for (int k = 0; k < 2; k++)
            if (!already(*all, in[k]))
                *all =
                    *all ? axe_node2(lw->cx, AXE_OP_and, *all, in[k]) : in[k];
    }
}

/* All guards hold: every extent is within its limit; so do the checks.  NULL
 * without any, or where full code would gain nothing: an extent is not a
 * constant, blocks are transposed either way, elements are folded side by side,
 * or little is left to do. */
static const axe_node *
all_inside(axe_lowering *lw)
{
    const axe_schedule *s = lw->s;
    const axe_node     *all = NULL;
    bool                ok = true;

    if (s->kind != AXE_SCHED_MAP || s->core->within || s->n_from > 0 ||
        s->nest[0].jam[0] > 1)
        return NULL;
    for (int i = 0; i < s->n_operand; i++)
        for (int g = 0; g < s->operand[i].n_guard; g++)
            ok = ok && and_inside(lw, &s->operand[i].guard[g], &all);
    for (int i = 0; i < s->n_operand && ok; i++)
        and_asked(lw, &s->operand[i], &all);
    for (int g = 0; g < s->n_bound; g++)
        ok = ok && and_inside(lw, &s->bound[g], &all);
    return ok ? all : NULL;
}

/* The statement, where all is inside and at the edges. */
static axe_status
lower_edges(axe_lowering *lw, axe_lblock *b)
{
    const axe_node *inside = all_inside(lw);

    if (!inside)
        return lower_schedule(lw, b);
    axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
    l->value = inside;
    lw->full = true;
    AXE_TRY(lower_schedule(lw, &l->body));
    lw->full = false;
    return lower_schedule(lw, &l->other);
}

/* With the mask known; nothing where it leaves the destination as it is. */
static axe_status
lower_decided(axe_lowering *lw, axe_lblock *b, bool holds)
{
    const axe_node *v;

    lw->holds = holds;
    v = axe_decided(lw, lw->s->value);
    if (v->op == AXE_OP_load && axe_node_same(v, lw->s->operand[0].load))
        return AXE_OK;
    return lower_edges(lw, b);
}

static bool
has_corners(axe_lowering *lw, const axe_node *mask, const void *user)
{
    const axe_node *all, *none;
    int64_t         known;

    (void)user;
    return axe_mask_corners(lw, mask, &all, &none) &&
           !(axe_is_iconst(all, &known) && axe_is_iconst(none, &known));
}

/* Does one choice leave the destination as it is?  Then it is worth knowing
 * where it is made everywhere. */
static bool
may_idle(axe_lowering *lw)
{
    bool idle = false;

    for (int holds = 0; holds < 2; holds++) {
        lw->holds = holds;
        const axe_node *v = axe_decided(lw, lw->s->value);
        idle = idle || (v->op == AXE_OP_load &&
                        axe_node_same(v, lw->s->operand[0].load));
    }
    return idle;
}

/* Where a mask holds all over the domain, nowhere, and in places. */
static axe_status
lower_masked(axe_lowering *lw, axe_lblock *b)
{
    const axe_node *all, *none;
    int64_t         never;

    lw->mask = NULL;
    if (lw->s->kind == AXE_SCHED_MAP)
        lw->mask = axe_find_mask(lw, lw->s->value, has_corners, NULL);
    if (!lw->mask || !may_idle(lw) ||
        !axe_mask_corners(lw, lw->mask, &all, &none)) {
        lw->mask = NULL;
        return lower_edges(lw, b);
    }
    axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
    l->value = all;
    AXE_TRY(lower_decided(lw, &l->body, true));
    b = &l->other;
    if (!axe_is_iconst(none, &never)) {
        l = axe_emit(lw, b, AXE_LIR_IF);
        l->value = none;
        AXE_TRY(lower_decided(lw, &l->body, false));
        b = &l->other;
    }
    lw->mask = NULL;
    return lower_edges(lw, b);
}

/* What a contraction left of the statement that is merged into it: the rows
 * behind its whole register tiles, and the columns behind them. */
static axe_status
lower_ragged(axe_lowering *lw, axe_lblock *b)
{
    const axe_schedule *all = lw->s;
    const axe_split    *sp = &all->core->within->core->split;
    axe_schedule        part = *all;
    axe_guard           row = {all->core->merged[0], sp->whole_row},
              column = {all->core->merged[1], sp->whole_column};

    part.n_from = 1;
    part.from = &row;
    lw->s = &part;
    AXE_TRY(lower_masked(lw, b));
    part.from = &column;
    part.n_bound = 1;
    part.bound = &row;
    if (!all->core->within->core->parts)
        AXE_TRY(lower_masked(lw, b));
    lw->s = all;
    return AXE_OK;
}

/* A statement whose work a contraction does, but where there is none. */
static axe_status
lower_merged(axe_lowering *lw, axe_lblock *b)
{
    const axe_schedule *s = lw->s, *into = s->core->within;
    const axe_node     *none =
        into->core->iterations
                ? axe_node2(lw->cx, AXE_OP_eq, into->core->iterations,
                            axe_int(lw, 0))
                : NULL;
    int64_t known = 0;

    if (none && !axe_is_iconst(none, &known)) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        l->value = none;
        AXE_TRY(lower_masked(lw, &l->body));
        b = &l->other;
    } else if (known)
        return lower_masked(lw, b);
    return into->core->then == s ? lower_ragged(lw, b) : AXE_OK;
}

static axe_status
lower_index(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *note = axe_emit(lw, b, AXE_LIR_NOTE);

    lw->s = lw->plan->schedule[s->id];
    lw->bound = NULL;
    lw->vector = NULL;
    lw->lanes = 1;
    lw->part = NULL;
    lw->whole = false;
    lw->outside = NULL;
    lw->full = false;
    lw->sure = NULL;
    if (lw->s->core->skip) {
        note->text = axe_textf(lw->cx, "statement %d, line %d: packed", s->id,
                               s->at.line);
        return AXE_OK;
    }
    note->text =
        axe_textf(lw->cx, "statement %d, line %d: %s %s", s->id, s->at.line,
                  axe_node_text(lw->cx, s->dst), axe_fold_text(s->fold));
    if (lw->s->core->idle.var) {
        axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);
        l->value =
            axe_node2(lw->cx, AXE_OP_lt, axe_ivar(lw, lw->s->core->idle.var),
                      lw->s->core->idle.limit);
        b = &l->body;
    }
    if (lw->s->kind == AXE_SCHED_CONTRACT && !lw->s->core->split.early)
        name_parts(lw, b, lw->s);
    return lw->s->core->within ? lower_merged(lw, b) : lower_masked(lw, b);
}

/* The counters of a pipeline that keeps its stages. */
static void
lower_ring(axe_lowering *lw, axe_lblock *b, const axe_pipeline *p)
{
    const axe_ring *r = axe_ring_of(lw->plan->n_ring, lw->plan->ring, p);

    if (r->n_stage == 1)
        return;
    axe_emit(lw, b, AXE_LIR_COUNT)->var = r->fill;
    axe_emit(lw, b, AXE_LIR_COUNT)->var = r->read;
}

static axe_status
lower_stage(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    const axe_ring *r =
        axe_ring_of(lw->plan->n_ring, lw->plan->ring, s->pipeline);
    axe_lir *l;

    AXE_TRY(lower_body(lw, b, s->n_body, s->body));
    if (r->n_stage == 1)
        return AXE_OK;
    l = axe_emit(lw, b, AXE_LIR_ADVANCE);
    l->var = s->kind == AXE_STMT_PRODUCE ? r->fill : r->read;
    l->step = r->n_stage;
    return AXE_OK;
}

static axe_status
lower_if(axe_lowering *lw, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l = axe_emit(lw, b, AXE_LIR_IF);

    l->value = s->cond;
    AXE_TRY(lower_body(lw, &l->body, s->n_body, s->body));
    return lower_body(lw, &l->other, s->n_other, s->other);
}

static axe_status
lower_body(axe_lowering *lw, axe_lblock *b, int n, axe_stmt *const *body)
{
    for (int i = 0, len = 1; i < n; i += len, len = 1)
        switch (body[i]->kind) {
        case AXE_STMT_SCOPE:
            AXE_TRY(body[i]->scope > AXE_SCOPE_CTA
                        ? lower_entities(lw, b, body[i])
                        : lower_scopes(lw, b, body[i], &len));
            break;
        case AXE_STMT_LOOP:
            AXE_TRY(lower_body(lw, &axe_emit(lw, b, AXE_LIR_FOREVER)->body,
                               body[i]->n_body, body[i]->body));
            break;
        case AXE_STMT_BREAK:
            axe_emit(lw, b, AXE_LIR_BREAK);
            break;
        case AXE_STMT_CONTINUE:
            axe_emit(lw, b, AXE_LIR_CONTINUE);
            break;
        case AXE_STMT_FOR:
            AXE_TRY(lower_for(lw, b, body[i]));
            break;
        case AXE_STMT_IF:
            AXE_TRY(lower_if(lw, b, body[i]));
            break;
        case AXE_STMT_BARRIER:
            worker_barrier(lw, b, body[i]);
            break;
        case AXE_STMT_INDEX:
            AXE_TRY(lower_index(lw, b, body[i]));
            break;
        case AXE_STMT_PIPELINE:
            lower_ring(lw, b, body[i]->pipeline);
            break;
        case AXE_STMT_PRODUCE:
        case AXE_STMT_CONSUME:
            AXE_TRY(lower_stage(lw, b, body[i]));
            break;
        default:
            AXE_TRY(lower_body(lw, b, body[i]->n_body, body[i]->body));
        }
    return AXE_OK;
}

axe_status
axe_core_lower(axe_ctx *cx, const axe_plan *p, axe_lowered *l)
{
    axe_lowering *lw = axe_new(cx, axe_lowering);

    lw->cx = cx;
    lw->plan = p;
    for (int i = 0; i < p->n_schedule; i++)
        lw->streams =
            lw->streams || (p->schedule[i] && p->schedule[i]->core->stream);
    AXE_TRY(lower_body(lw, &l->body, p->kernel->n_body, p->kernel->body));
    if (lw->streams)
        axe_emit(lw, &l->body, AXE_LIR_OP)->op = AXE_LOP_fence;
    axe_hoist(lw, &l->body);
    axe_tidy(lw, &l->body);
    l->plan = p;
    l->n_reg = lw->n_reg;
    l->scratch_bytes = p->core->scratch_bytes;
    l->exchanged = p->core->exchanged;
    return AXE_OK;
}
