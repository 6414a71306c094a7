/* simt_roles.c - roles side by side, and CTAs that stay.
 *
 * A role is a branch on who the thread is.  Where CTAs stay, each role runs its
 * own loop over the tiles, and only its pipelines hold it back.  A role that
 * does nothing but ask engines is one thread's. */
#include <string.h>

#include "lower/order.h"
#include "lower/simt_ring.h"
#include "plan/simt_contract.h"
#include "plan/simt_copy.h"
#include "plan/simt_tmem.h"

/* ------------------------------------------------------------------- tiles */

typedef struct letting {
    simt_lowering *sl;
    axe_lblock    *b;
} letting;

static const axe_node *
let(void *user, const char *name, const axe_node *value, int64_t least,
    const axe_node *extent)
{
    letting *to = user;
    axe_var *v = axe_loop_var(&to->sl->lw, name);
    axe_lir *l = axe_emit(&to->sl->lw, to->b, AXE_LIR_LET);

    v->least = least;
    v->extent = extent;
    l->var = v;
    l->value = value;
    return axe_ivar(&to->sl->lw, v);
}

/* The scope's variables in cluster `at`. */
static axe_status
set_tile(simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
         const axe_node *at)
{
    const axe_node **v = axe_new_array(sl->lw.cx, const axe_node *, s->n_var);
    letting          to = {sl, b};
    axe_order_sink   sink = {&to, let};

    axe_order_tile(sl->lw.cx, s, at, axe_simt_id(sl, AXE_ID_RANK), &sink, v);
    for (int i = 0; i < s->n_var; i++) {
        axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_LET);
        l->var = s->var[i];
        l->value = v[i];
    }
    return AXE_OK;
}

static const axe_node *
cluster_of(simt_lowering *sl, axe_id id)
{
    const axe_node *n = axe_simt_id(sl, id);
    int             c = sl->grid->cluster;

    return c == 1 ? n : op2(sl, AXE_OP_div, n, axe_int(&sl->lw, c));
}

/* The next tile of a CTA that takes every n-th. */
static axe_status
stride(simt_lowering *sl, axe_lblock *b, const axe_var *tile)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_SET);

    l->var = tile;
    l->value = axe_sum(&sl->lw, axe_ivar(&sl->lw, tile),
                       cluster_of(sl, AXE_ID_N_BLOCK));
    return AXE_OK;
}

/* A CTA that takes every n-th has no more of them. */
static void
leave_behind(simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
             const axe_node *at)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = op2(sl, AXE_OP_le, axe_order_count(sl->lw.cx, s), at);
    axe_emit(&sl->lw, &l->body, AXE_LIR_BREAK);
}

/* A loop over this cluster's tiles, of a role or, NULL, the CTA: its body. */
static axe_status
open_tiles(simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
           const axe_stmt *role, axe_lblock **body)
{
    axe_var        *v = axe_loop_var(&sl->lw, "tile");
    const axe_node *at = axe_ivar(&sl->lw, v);
    bool            queue = sl->launch->queue != NULL;
    axe_tile_loop   t = {0};
    axe_lir        *l;

    v->extent = axe_order_count(sl->lw.cx, s);
    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = v;
    l = axe_emit(&sl->lw, b, AXE_LIR_SET);
    l->var = v;
    l->value = cluster_of(sl, AXE_ID_BLOCK);
    if (queue)
        t = axe_simt_begin_queue(sl, b, role);
    l = axe_emit(&sl->lw, b, AXE_LIR_EVER);
    if (queue)
        AXE_TRY(axe_simt_ask_tile(sl, &l->body, &t));
    else
        leave_behind(sl, &l->body, s, at);
    AXE_TRY(set_tile(sl, &l->body, s, at));
    *body = &axe_emit(&sl->lw, &l->body, AXE_LIR_BLOCK)->body;
    return queue ? axe_simt_next_tile(sl, &l->body, &t, v)
                 : stride(sl, &l->body, v);
}

static bool
declares(const axe_stmt *s)
{
    return s->kind == AXE_STMT_PIPELINE || s->kind == AXE_STMT_TENSOR;
}

bool
axe_simt_is_persistent(const axe_stmt *s)
{
    return s->keys.persistent || s->keys.cluster > 1 || s->keys.group > 1 ||
           s->keys.hilbert;
}

/* The tasks of a top scope in their order: one for each CTA, or CTAs stay. */
axe_status
axe_simt_lower_persistent(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_node *n = axe_order_count(sl->lw.cx, s);

    sl->grid->blocks =
        op2(sl, AXE_OP_mul, n, axe_int(&sl->lw, sl->grid->cluster));
    if (s->keys.persistent && axe_scope_is_of_roles(s))
        return axe_simt_lower_body(sl, b, s->n_body, s->body);
    for (int i = 0; i < s->n_body; i++)
        if (declares(s->body[i]))
            AXE_TRY(axe_simt_lower_body(sl, b, 1, s->body + i));
    if (s->keys.persistent)
        AXE_TRY(open_tiles(sl, b, s, NULL, &b));
    else
        AXE_TRY(set_tile(sl, b, s, cluster_of(sl, AXE_ID_BLOCK)));
    for (int i = 0; i < s->n_body; i++)
        if (!declares(s->body[i]))
            AXE_TRY(axe_simt_lower_body(sl, b, 1, s->body + i));
    return AXE_OK;
}

/* ------------------------------------------------------------------- roles */

static bool
stands_in(int n, axe_stmt *const *body, const axe_stmt *s)
{
    for (int i = 0; i < n; i++)
        if (body[i] == s || stands_in(body[i]->n_body, body[i]->body, s) ||
            stands_in(body[i]->n_other, body[i]->other, s))
            return true;
    return false;
}

/* A scalar by what one thread has? */
static bool
sets_scalar(const simt_lowering *sl, const axe_stmt *s)
{
    const axe_schedule *sc = sl->lw.plan->schedule[s->id];

    for (int i = 0; i < sc->n_operand; i++)
        if (sc->operand[i].tensor->space == AXE_SPACE_SHARED)
            return false;
    return s->dst->n_arg == 0 && s->dst->u.tensor->space == AXE_SPACE_REG &&
           sc->n_nest == 1 && sc->kind == AXE_SCHED_MAP;
}

/* Is it one thread that asks an engine to do it, or nothing? */
static bool
is_asked(const axe_simt_schedule *s)
{
    if (s->contract)
        return s->contract->atom->space[0] == AXE_ARG_TMEM;
    if (s->tcopy)
        return true;
    return s->copy ? s->copy->box && s->copy->in : s->tmem && !s->tmem->able;
}

/* Is everything that the role does asked of engines, or scalars for that? */
static bool
only_asks(const simt_lowering *sl, int n, axe_stmt *const *body)
{
    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[i];
        switch (s->kind) {
        case AXE_STMT_TENSOR:
        case AXE_STMT_BREAK:
        case AXE_STMT_CONTINUE:
            break;
        case AXE_STMT_FOR:
        case AXE_STMT_LOOP:
        case AXE_STMT_IF:
        case AXE_STMT_PRODUCE:
        case AXE_STMT_CONSUME:
            if (!only_asks(sl, s->n_body, s->body) ||
                !only_asks(sl, s->n_other, s->other))
                return false;
            break;
        case AXE_STMT_INDEX:
            if (!is_asked(sl->lw.plan->schedule[s->id]->simt) &&
                !sets_scalar(sl, s))
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

bool
axe_simt_is_alone(const simt_lowering *sl, const axe_stmt *role, int64_t *pair)
{
    *pair = axe_simt_pair_of(sl->lw.plan->schedule, role->n_body, role->body);
    return axe_crew_at(sl->sp, role)->n_entity == 1 &&
           only_asks(sl, role->n_body, role->body);
}

static void
set_budget(simt_lowering *sl, axe_lblock *b, const axe_crew *c,
           const axe_atom *a)
{
    axe_arg n = axe_simt_number(axe_int(&sl->lw, c->registers));

    if (a)
        axe_simt_atom(sl, b, a, 0, 1, &n, NULL);
}

/* Warp groups whose warps have roles of their own change their budgets before
 * these part. */
static void
set_shared_budgets(simt_lowering *sl, axe_lblock *b)
{
    const axe_crew *cta = sl->launch->crew;
    axe_crew        group;

    for (int t = 0; t < cta->n_thread; t += (int)sl->sp->lanes) {
        const axe_atom *a = axe_simt_shared_budget(sl->lw.plan->machine, sl->sp,
                                                   cta, t, &group);
        if (a)
            set_budget(sl, axe_simt_open_crew(sl, b, &group), &group, a);
    }
}

static bool
reads(const axe_simt_ring *r, const axe_crew *role)
{
    for (int i = 0; i < r->n_reader; i++)
        if (axe_crew_is_within(r->reader[i].crew, role))
            return true;
    return false;
}

static bool
fills(const axe_simt_ring *r, const axe_stmt *role)
{
    return r->way == AXE_RING_ROLES && r->producer && r->producer->at == role;
}

/* The rings whose stages the role passes on. */
static void
count_rings(simt_lowering *sl, axe_lblock *b, const axe_stmt *role)
{
    for (int i = 0; i < sl->sp->n_ring; i++) {
        const axe_simt_ring *r = &sl->sp->ring[i];
        bool                 read = reads(r, axe_crew_at(sl->sp, role));
        if (r->way == AXE_RING_ROLES && (fills(r, role) || read) &&
            !axe_simt_is_early(sl, r))
            axe_simt_count_ring(sl, b, r, fills(r, role), read);
    }
}

/* Those that it has filled, and counts. */
static axe_status
end_rings(simt_lowering *sl, axe_lblock *b, const axe_stmt *role)
{
    for (int i = 0; i < sl->sp->n_ring; i++) {
        const axe_simt_ring *r = &sl->sp->ring[i];
        if (fills(r, role) && axe_ring_is_told(r) && !axe_simt_is_early(sl, r))
            AXE_TRY(axe_ring_tail(sl, b, r));
    }
    return AXE_OK;
}

static axe_lblock *
open_crews(simt_lowering *sl, axe_lblock *b, const axe_crew *c)
{
    if (c == sl->launch->crew)
        return b;
    return axe_simt_open_crew(sl, open_crews(sl, b, c->in), c);
}

axe_status
axe_simt_end_rings(simt_lowering *sl, axe_lblock *b)
{
    for (int i = 0; i < sl->sp->n_ring; i++) {
        const axe_simt_ring *r = &sl->sp->ring[i];
        axe_lblock          *in;
        int64_t              pair;
        if (r->home != sl->launch->crew || !axe_ring_is_told(r) ||
            !axe_simt_is_early(sl, r))
            continue;
        if (r->way == AXE_RING_ROLES &&
            axe_simt_is_alone(sl, r->producer->at, &pair))
            in = axe_simt_open_first(sl, b, r->producer, sl->launch->crew,
                                     axe_simt_asks(sl, pair));
        else
            in = open_crews(sl, b, r->producer);
        AXE_TRY(axe_ring_tail(sl, in, r));
    }
    return AXE_OK;
}

/* Where one thread goes on alone, and tells others at a barrier that it has
 * read which tile is next, its warp meets before: what the warp did is then
 * told, too. */
static axe_status
lower_role(simt_lowering *sl, axe_lblock *b, const axe_stmt *role,
           const axe_stmt *tiles)
{
    const axe_crew *c = axe_crew_at(sl->sp, role), *around = sl->crew;
    axe_lblock     *all, *own;
    axe_status      st;
    int64_t         pair;

    b = all = axe_simt_open_scope(sl, b, role);
    if (c->scope == AXE_SCOPE_WARPGROUP)
        set_budget(sl, b, c, axe_simt_budget(sl->lw.plan->machine, c));
    AXE_TRY(axe_simt_begin_turns(sl, all, c));
    sl->crew = c;
    if (axe_simt_is_alone(sl, role, &pair)) {
        if (sl->launch->queue)
            AXE_TRY(axe_simt_sync(sl, b, AXE_SYNC_MEET, AXE_SCOPE_WARP, "", 0,
                                  NULL));
        b = axe_simt_open_first(sl, b, c, c, axe_simt_asks(sl, pair));
        sl->alone = true;
    }
    count_rings(sl, b, role);
    own = b;
    st = tiles ? open_tiles(sl, b, tiles, role, &b) : AXE_OK;
    if (st == AXE_OK)
        st = axe_simt_lower_body(sl, b, role->n_body, role->body);
    if (st == AXE_OK)
        st = end_rings(sl, own, role);
    sl->alone = false;
    sl->crew = around;
    return st == AXE_OK ? axe_simt_end_turns(sl, all, c) : st;
}

axe_status
axe_simt_lower_roles(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_stmt *top = sl->launch->scope;
    bool            stay = top->keys.persistent && axe_scope_is_of_roles(top) &&
                stands_in(top->n_body, top->body, s);

    set_shared_budgets(sl, b);
    for (int i = 0; i < s->n_body; i++)
        AXE_TRY(lower_role(sl, b, s->body[i], stay ? top : NULL));
    return AXE_OK;
}
