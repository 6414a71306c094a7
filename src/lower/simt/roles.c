/* roles.c - roles, and the loop over tiles of persistent CTAs.
 *
 * A role is a branch on the thread's number.  In a persistent scope of roles
 * each role has its own loop over the tiles, and waits for other roles only at
 * its pipelines.  A role that only issues asynchronous operations is run by one
 * thread. */

#include "lower/code/build.h"
#include "lower/code/order.h"
#include "lower/simt/node.h"
#include "lower/simt/ring.h"
#include "plan/access/relation.h"
#include "plan/simt/team/team.h"

/* ------------------------------------------------------------------- tiles */

typedef struct letting {
    axe_simt_lowering *sl;
    axe_lblock        *b;
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

/* Sets the scope's variables for number `at` in the order of tiles. */
axe_status
axe_simt_set_tile(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
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

const axe_node *
axe_simt_cluster_of(axe_simt_lowering *sl, axe_id id)
{
    const axe_node *n = axe_simt_id(sl, id);
    int             c = sl->grid->cluster;

    return c == 1 ? n : op2(sl, AXE_OP_div, n, axe_int(&sl->lw, c));
}

/* On to the next tile, n clusters further, where n clusters take turns. */
static axe_status
stride(axe_simt_lowering *sl, axe_lblock *b, const axe_var *tile)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_SET);

    l->var = tile;
    l->value = axe_sum(&sl->lw, axe_ivar(&sl->lw, tile),
                       axe_simt_cluster_of(sl, AXE_ID_N_BLOCK));
    return AXE_OK;
}

/* The cluster's first tile of the scope.  Scopes of one launch are one list, of
 * which each cluster has every n-th tile: where a scope begins in it, the turn
 * is that of whoever is next. */
static const axe_node *
first_tile(axe_simt_lowering *sl, const axe_stmt *s)
{
    const axe_simt_overlap *o = sl->launch->overlap;
    const axe_node         *own = axe_simt_cluster_of(sl, AXE_ID_BLOCK);
    const axe_node *all = axe_simt_cluster_of(sl, AXE_ID_N_BLOCK), *n = NULL;

    for (int i = 0; o && o->group->scope[i] != s; i++) {
        const axe_node *k = axe_order_count(sl->lw.cx, o->group->scope[i]);
        n = n ? axe_sum(&sl->lw, n, k) : k;
    }
    if (!n)
        return own;
    n = op2(sl, AXE_OP_sub, all, op2(sl, AXE_OP_mod, n, all));
    n = op2(sl, AXE_OP_max, n, number(sl, 0)); /* as anybody can see */
    return op2(sl, AXE_OP_mod, axe_sum(&sl->lw, own, n), all);
}

/* Leaves the loop behind the last tile, where clusters take turns. */
static void
leave_behind(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
             const axe_node *at)
{
    axe_lir *l = axe_emit(&sl->lw, b, AXE_LIR_IF);

    l->value = op2(sl, AXE_OP_le, axe_order_count(sl->lw.cx, s), at);
    axe_emit(&sl->lw, &l->body, AXE_LIR_BREAK);
}

/* Opens a loop over this cluster's tiles, for a role or (NULL) the whole CTA;
 * `body` is its body. */
axe_status
axe_simt_open_tiles(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
                    const axe_stmt *role, axe_lblock **body)
{
    axe_var        *v = axe_loop_var(&sl->lw, "tile");
    const axe_node *at = axe_ivar(&sl->lw, v);
    bool            queue = sl->launch->queue != NULL;
    axe_lir        *l;

    v->extent = axe_order_count(sl->lw.cx, s);
    axe_emit(&sl->lw, b, AXE_LIR_COUNT)->var = v;
    l = axe_emit(&sl->lw, b, AXE_LIR_SET);
    l->var = v;
    l->value = first_tile(sl, s);
    if (queue)
        axe_simt_begin_queue(sl, b);
    l = axe_emit(&sl->lw, b, AXE_LIR_FOREVER);
    if (queue)
        AXE_TRY(axe_simt_sync_at(sl, &l->body, role ? role : s, AXE_SYNC_ASK));
    else
        leave_behind(sl, &l->body, s, at);
    AXE_TRY(axe_simt_set_tile(sl, &l->body, s, at));
    sl->at_tile = at;
    AXE_TRY(axe_simt_sync_at(sl, &l->body, role ? role : s, AXE_SYNC_BEGUN));
    *body = &axe_emit(&sl->lw, &l->body, AXE_LIR_BLOCK)->body;
    AXE_TRY(axe_simt_sync_at(sl, &l->body, role ? role : s, AXE_SYNC_ENDED));
    if (!queue)
        return stride(sl, &l->body, v);
    AXE_TRY(axe_simt_sync_at(sl, &l->body, role ? role : s, AXE_SYNC_NEXT));
    axe_simt_next_tile(sl, &l->body, v);
    return AXE_OK;
}

/* ------------------------------------------------------------------- roles */

void
axe_simt_set_budget(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_thread_group *c, const axe_atom *a)
{
    axe_arg n = axe_simt_number(axe_int(&sl->lw, c->registers));

    if (a)
        axe_simt_atom(sl, b, a, 0, 1, &n, NULL);
}

/* Where the warps of a warp group have different roles, they change the warp
 * group's register budget together, before they branch. */
void
axe_simt_set_budgets(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_thread_group *cta = sl->launch->threads;
    axe_thread_group        group;

    for (int t = 0; t < cta->n_thread; t += (int)sl->sp->lanes) {
        const axe_atom *a = axe_simt_shared_budget(sl->lw.plan->machine, sl->sp,
                                                   cta, t, &group);
        if (a)
            axe_simt_set_budget(sl, axe_simt_open_threads(sl, b, &group),
                                &group, a);
    }
}

/* Warps of a warp group meet between two changes (PTX ISA, setmaxnreg). */
axe_status
axe_simt_end_budget(axe_simt_lowering *sl, axe_lblock *b,
                    const axe_thread_group *c, const axe_atom *a)
{
    const axe_machine *mc = sl->lw.plan->machine;
    axe_thread_group   share = *c;

    if (!a || !axe_simt_is_followed(sl->sp, sl->launch))
        return AXE_OK;
    if (c->barrier + c->n_entity > mc->simt->named_barriers)
        return axe_fail(sl->lw.cx, c->at->at, AXE_ELIMIT,
                        "warps of this warp group wait for one another before "
                        "they give registers back, at named barrier %d; a CTA "
                        "of %s has %d",
                        c->barrier, mc->name, mc->simt->named_barriers);
    AXE_TRY(axe_simt_barrier(sl, b, c));
    /* Budgets are multiples of 8, and the most that a thread may have is not.
     */
    share.registers = (int)axe_simt_registers(mc, sl->launch->threads) / 8 * 8;
    a = axe_simt_find_budget(mc, a->fold != AXE_FOLD_MAX);
    axe_simt_set_budget(sl, b, &share, a);
    return AXE_OK;
}

axe_status
axe_simt_end_budgets(axe_simt_lowering *sl, axe_lblock *b)
{
    const axe_thread_group *cta = sl->launch->threads;
    axe_thread_group        group;

    for (int t = 0; t < cta->n_thread; t += (int)sl->sp->lanes) {
        const axe_atom *a = axe_simt_shared_budget(sl->lw.plan->machine, sl->sp,
                                                   cta, t, &group);
        if (a && axe_simt_is_followed(sl->sp, sl->launch))
            AXE_TRY(axe_simt_end_budget(
                sl, axe_simt_open_threads(sl, b, &group), &group, a));
    }
    return AXE_OK;
}

static bool
reads(const axe_simt_ring *r, const axe_thread_group *role)
{
    for (int i = 0; i < r->n_reader; i++)
        if (axe_threads_is_within(r->reader[i].threads, role))
            return true;
    return false;
}

static bool
fills(const axe_simt_ring *r, const axe_thread_group *role)
{
    return r->way == AXE_RING_ROLES && r->producer &&
           axe_threads_is_within(r->producer, role);
}

/* Declares the stage counters of the rings that the role fills or reads. */
void
axe_simt_count_rings(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *role)
{
    const axe_thread_group *own = axe_threads_at(sl->sp, role);

    for (int i = 0; i < sl->sp->n_ring; i++) {
        const axe_simt_ring *r = &sl->sp->ring[i];
        bool                 read = reads(r, own), fill = fills(r, own);
        if (r->way == AXE_RING_ROLES && (fill || read) &&
            !axe_ring_is_early(sl->launch, r))
            axe_simt_count_ring(sl, b, r, fill, read);
    }
}
