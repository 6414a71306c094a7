/* simt.c - a kernel as launches: one grid for each top scope.
 *
 * Statements become code of each thread, in order; a scope in a cta is a
 * condition on who the thread is. */
#include <inttypes.h>

#include "ir/check.h"
#include "ir/rewrite.h"
#include "lower/simt_node.h"
#include "lower/width.h"
#include "plan/simt_contract.h"
#include "plan/simt_copy.h"
#include "plan/simt_tcopy.h"

enum { MAX_UNROLL = 64 }; /* turns of a loop that are written out */

static void
let(simt_lowering *sl, axe_lblock *b, const axe_var *v, const axe_node *value)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LET);

    l->var = v;
    l->value = value;
}

void
axe_simt_split(simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
               const axe_node *number)
{
    for (int i = s->n_var - 1; i >= 0; i--) {
        const axe_node *e = s->var[i]->extent;
        const axe_node *v = i == 0 ? number : op2(sl, AXE_OP_mod, number, e);
        if (s->first && s->first[i] != 0)
            v = axe_sum(&sl->lw, v, axe_int(&sl->lw, 0));
        let(sl, b, s->var[i], v);
        if (i > 0)
            number = op2(sl, AXE_OP_div, number, e);
    }
}

/* Is the thread one of the crew's, given that it is one of those around? */
static const axe_node *
is_in(simt_lowering *sl, const axe_crew *c)
{
    int64_t         lanes = sl->sp->lanes, unit = 1;
    int64_t         end = c->first + (int64_t)c->n_entity * c->n_thread;
    const axe_node *n = axe_simt_thread(sl, c->in), *in = NULL;
    axe_crew        whole = *c->in;

    if (c->first % lanes == 0 && end % lanes == 0 && c->in->n_thread > lanes) {
        whole.n_thread = (int)lanes;
        whole.n_entity = c->in->n_thread / (int)lanes;
        whole.in = c->in;
        whole.first = 0;
        n = axe_simt_entity(sl, &whole);
        unit = lanes;
    }
    if (c->first > 0)
        in = op2(sl, AXE_OP_le, axe_int(&sl->lw, c->first / unit), n);
    if (end < c->in->n_thread)
        in = axe_simt_both(sl, in,
                           op2(sl, AXE_OP_lt, n, axe_int(&sl->lw, end / unit)));
    return in;
}

static axe_lblock *
open_if(simt_lowering *sl, axe_lblock *b, const axe_node *when, bool elect)
{
    axe_lir *l;

    if (!when)
        return b;
    l = axe_emit(&sl->lw, b, AXE_LIR_IF);
    l->value = when;
    l->elect = elect;
    return &l->body;
}

axe_lblock *
axe_simt_open_first(simt_lowering *sl, axe_lblock *b, const axe_crew *crew,
                    const axe_crew *around, const axe_node *when)
{
    int64_t         lanes = sl->sp->lanes;
    const axe_node *first;

    for (const axe_crew *c = crew; c != around; c = c->in) {
        const axe_node *in = is_in(sl, c);
        when = in ? axe_simt_both(sl, in, when) : when;
    }
    if (sl->alone || crew->n_thread == 1)
        return open_if(sl, b, when, false);
    if (crew->n_thread % lanes != 0 || !sl->lw.plan->machine->simt->elects) {
        first =
            op2(sl, AXE_OP_eq, axe_simt_thread(sl, crew), axe_int(&sl->lw, 0));
        return open_if(sl, b, axe_simt_both(sl, first, when), false);
    }
    if (crew->n_thread > lanes) {
        first = op2(sl, AXE_OP_eq, axe_simt_coordinate(sl, crew, sl->sp->warp),
                    axe_int(&sl->lw, 0));
        when = axe_simt_both(sl, first, when);
    }
    return open_if(
        sl, open_if(sl, b, when, false),
        op2(sl, AXE_OP_eq, axe_simt_id(sl, AXE_ID_LANE), axe_int(&sl->lw, 0)),
        true);
}

axe_lblock *
axe_simt_open_crew(simt_lowering *sl, axe_lblock *b, const axe_crew *c)
{
    const axe_node *in = is_in(sl, c);
    axe_lir        *l = axe_emit(&sl->lw, b, in ? AXE_LIR_IF : AXE_LIR_BLOCK);

    l->value = in;
    return &l->body;
}

axe_lblock *
axe_simt_open_scope(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_crew *c = axe_crew_at(sl->sp, s);

    b = axe_simt_open_crew(sl, b, c);
    axe_simt_split(sl, b, s, axe_simt_entity(sl, c));
    return b;
}

/* A scope in a cta: its entities side by side. */
static axe_status
lower_entities(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_crew *around = sl->crew;

    sl->crew = axe_crew_at(sl->sp, s);
    b = axe_simt_open_scope(sl, b, s);
    AXE_TRY(axe_simt_begin_turns(sl, b, sl->crew));
    AXE_TRY(axe_simt_lower_body(sl, b, s->n_body, s->body));
    AXE_TRY(axe_simt_end_turns(sl, b, sl->crew));
    sl->crew = around;
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

const axe_node *
axe_simt_count(simt_lowering *sl, const axe_var *v)
{
    return sl->sp->once[v->id] ? op2(sl, AXE_OP_max, v->extent, number(sl, 1))
                               : v->extent;
}

static axe_status
lower_for(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l;
    int64_t  n;

    AXE_TRY(axe_simt_lower_waits(sl, b, s));
    if (axe_simt_is_pipelined(sl, s))
        return axe_simt_lower_pipelined(sl, b, s);
    l = axe_emit(&sl->lw, b, AXE_LIR_LOOP);
    l->var = s->var[0];
    l->begin = axe_int(&sl->lw, 0);
    l->end = axe_simt_count(sl, s->var[0]);
    l->unroll = axe_is_iconst(l->end, &n) && n <= MAX_UNROLL &&
                picks_registers(s->n_body, s->body, s->var[0]);
    return axe_simt_lower_body(sl, &l->body, s->n_body, s->body);
}

static const axe_node *
change_scalar(void *user, const axe_node *n)
{
    simt_lowering *sl = user;

    if (n->op != AXE_OP_load)
        return NULL;
    return axe_simt_element(sl, axe_simt_tensor(sl, n->u.tensor),
                            axe_int(&sl->lw, 0));
}

const axe_node *
axe_simt_scalars(simt_lowering *sl, const axe_node *n)
{
    return axe_node_map(sl->lw.cx, n, change_scalar, sl);
}

static axe_status
lower_if(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = axe_simt_scalars(sl, s->cond);
    AXE_TRY(axe_simt_lower_body(sl, &l->body, s->n_body, s->body));
    return axe_simt_lower_body(sl, &l->other, s->n_other, s->other);
}

static axe_status
lower_index(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    axe_lir   *note = axe_emit(&sl->lw, b, AXE_LIR_NOTE), *in;
    axe_status st;

    note->text =
        axe_textf(sl->lw.cx, "statement %d, line %d: %s %s", s->id, s->at.line,
                  axe_node_text(sl->lw.cx, s->dst), axe_fold_text(s->fold));
    AXE_TRY(axe_simt_lower_waits(sl, b, s));
    sl->s = sl->lw.plan->schedule[s->id];
    if (sl->s->simt->tmem)
        return axe_simt_lower_tmem(sl, b, sl->s);
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

static axe_status
lower_stmt(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    switch (s->kind) {
    case AXE_STMT_SCOPE:
        AXE_TRY(axe_simt_lower_waits(sl, b, s));
        return lower_entities(sl, b, s);
    case AXE_STMT_LOOP:
        AXE_TRY(axe_simt_lower_waits(sl, b, s));
        return axe_simt_lower_body(
            sl, &axe_emit(&sl->lw, b, AXE_LIR_EVER)->body, s->n_body, s->body);
    case AXE_STMT_BREAK:
        axe_emit(&sl->lw, b, AXE_LIR_BREAK);
        break;
    case AXE_STMT_CONTINUE:
        axe_emit(&sl->lw, b, AXE_LIR_CONTINUE);
        break;
    case AXE_STMT_TURN:
        return axe_simt_lower_turn(sl, b, s);
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
        return axe_simt_lower_stage(sl, b, s);
    case AXE_STMT_ROLES:
        AXE_TRY(axe_simt_lower_waits(sl, b, s));
        return axe_simt_lower_roles(sl, b, s);
    case AXE_STMT_BARRIER:
        return axe_simt_meet(sl, b, sl->crew ? sl->crew : sl->launch->crew);
    case AXE_STMT_TENSOR:
    case AXE_N_STMT:
        break;
    }
    return AXE_OK;
}

/* A copy that is awaited where something else begins: copies that follow one
 * another are in flight together. */
static bool
flies(const simt_lowering *sl, const axe_stmt *s)
{
    const axe_schedule *at =
        s->kind == AXE_STMT_INDEX ? sl->lw.plan->schedule[s->id] : NULL;
    const axe_simt_copy *c = at ? at->simt->copy : NULL;

    return c && !c->box && !c->stage && c->atom->group[0] != '\0' &&
           !s->dst->u.tensor->pipeline;
}

static axe_status
land(simt_lowering *sl, axe_lblock *b)
{
    const char *group = sl->flying;

    if (!group)
        return AXE_OK;
    sl->flying = NULL;
    AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_COMMIT, group, AXE_ARG_NONE, 0,
                                 NULL));
    return axe_simt_order_group(sl, b, AXE_SYNC_DRAIN, group, AXE_ARG_NONE, 0,
                                NULL);
}

/* The engine that reads the tile itself in statement s, or NULL. */
static const axe_atom *
engine_in(const axe_schedule *s, const axe_tensor *t)
{
    const axe_simt_contract *c = s ? s->simt->contract : NULL;
    const axe_simt_copy     *k = s ? s->simt->copy : NULL;

    if (c && ((c->a.direct && c->a.tensor == t) ||
              (c->b.direct && c->b.tensor == t)))
        return c->atom;
    if (s && s->simt->tcopy && axe_stmt_reads(s->stmt, t))
        return s->simt->tcopy->atom;
    return k && k->box && !k->in && axe_stmt_reads(s->stmt, t) ? k->atom : NULL;
}

/* The fence behind what threads write to a tile of no pipeline in s, for the
 * engine that reads it; NULL: none is needed. */
static const axe_atom *
fence_behind(const simt_lowering *sl, const axe_stmt *s)
{
    const axe_plan     *p = sl->lw.plan;
    const axe_tensor   *t = s->kind == AXE_STMT_INDEX ? s->dst->u.tensor : NULL;
    const axe_schedule *w = t ? p->schedule[s->id] : NULL;

    if (!t || t->space != AXE_SPACE_SHARED || t->pipeline ||
        (w->simt->copy && w->simt->copy->box))
        return NULL;
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_atom *a = engine_in(p->schedule[i], t);
        if (a && *a->group)
            return axe_simt_group_sync(p->machine, AXE_SYNC_FENCE, a->group,
                                       AXE_ARG_SHARED);
    }
    return NULL;
}

static void
fence(simt_lowering *sl, axe_lblock *b)
{
    if (sl->fence)
        axe_simt_atom(sl, b, sl->fence, 0, 0, NULL, NULL);
    sl->fence = NULL;
}

/* A fence stands behind the landing of the copies that it is for. */
axe_status
axe_simt_lower_body(simt_lowering *sl, axe_lblock *b, int n,
                    axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        bool            copy = flies(sl, body[i]);
        const axe_atom *behind = fence_behind(sl, body[i]);
        bool            later = copy && sl->flying && !behind;
        if (!copy || (sl->fence && behind && behind != sl->fence))
            AXE_TRY(land(sl, b));
        if (behind != sl->fence && !later)
            fence(sl, b);
        AXE_TRY(axe_simt_lower_drains(sl, b, i > 0 ? body[i - 1] : NULL,
                                      body[i], false));
        AXE_TRY(lower_stmt(sl, b, body[i]));
        AXE_TRY(axe_simt_lower_drains(sl, b, NULL, body[i], true));
        if (!later)
            sl->fence = behind;
        if (copy)
            sl->flying =
                sl->lw.plan->schedule[body[i]->id]->simt->copy->atom->group;
    }
    AXE_TRY(land(sl, b));
    fence(sl, b);
    return AXE_OK;
}

/* ------------------------------------------------------------------ grids */

static void
name_ids(simt_lowering *sl, axe_grid *g)
{
    for (int i = 0; i < AXE_N_ID; i++) {
        axe_var *v = axe_new(sl->lw.cx, axe_var);
        *v = (axe_var){.kind = AXE_VAR_SCOPE,
                       .name = axe_id_name((axe_id)i),
                       .id = sl->lw.plan->kernel->n_var + sl->lw.n_var++};
        g->id[i] = v;
    }
}

/* One CTA for each entity, the last variable fastest. */
static axe_status
lower_tasks(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    if (axe_simt_is_persistent(s))
        return axe_simt_lower_persistent(sl, b, s);
    axe_simt_split(sl, b, s, axe_simt_id(sl, AXE_ID_BLOCK));
    return axe_simt_lower_body(sl, b, s->n_body, s->body);
}

static const axe_node *
count_tasks(simt_lowering *sl, const axe_stmt *s)
{
    const axe_node *n = axe_int(&sl->lw, 1);

    for (int i = 0; i < s->n_var; i++)
        n = op2(sl, AXE_OP_mul, n, s->var[i]->extent);
    return n;
}

static axe_status
lower_launch(simt_lowering *sl, int number, axe_grid *g)
{
    const axe_simt_launch *l = &sl->sp->launch[number];
    const char            *name = sl->lw.plan->kernel->name;

    *g = (axe_grid){
        .n_turn = g->n_turn,
        .turn = g->turn,
        .name = sl->sp->n_launch == 1
                    ? name
                    : axe_textf(sl->lw.cx, "%s_%d", name, number),
        .n_thread = l->crew->n_thread,
        .cluster = l->scope->keys.cluster ? l->scope->keys.cluster : 1,
        .persistent = l->scope->keys.persistent && !l->queue,
        .shared_bytes = l->shared_bytes,
    };
    sl->grid = g;
    sl->launch = l;
    sl->cap_array = sl->cap_buffer = sl->cap_map = sl->cap_tmem = 0;
    sl->names = (axe_used_names){0};
    sl->tile = axe_new_array(sl->lw.cx, const axe_tensor *,
                             sl->lw.plan->kernel->n_tensor + 1);
    name_ids(sl, g);
    g->blocks = count_tasks(sl, l->scope);
    AXE_TRY(axe_simt_lower_prologue(sl, &g->body));
    AXE_TRY(lower_tasks(sl, &g->body, l->scope));
    AXE_TRY(axe_simt_lower_epilogue(sl, &g->body));
    axe_simt_note_begins(sl);
    axe_hoist(&sl->lw, &g->body);
    axe_simt_name_bases(sl, &g->body);
    axe_tidy(&sl->lw, &g->body);
    return AXE_OK;
}

axe_status
axe_simt_lower(axe_ctx *cx, const axe_plan *p, axe_lowered *out)
{
    simt_lowering *sl = axe_new(cx, simt_lowering);

    sl->lw.cx = cx;
    sl->lw.plan = p;
    sl->sp = p->simt;
    sl->lw.n_var = p->simt->n_var;
    out->grid = axe_new_array(cx, axe_grid, p->simt->n_launch);
    out->n_grid = p->simt->n_launch;
    axe_simt_lower_host(cx, p, out);
    for (int i = 0; i < p->simt->n_launch; i++)
        AXE_TRY(lower_launch(sl, i, &out->grid[i]));
    out->plan = p;
    out->has_cores = axe_lowered_has_cores(out);
    return AXE_OK;
}
