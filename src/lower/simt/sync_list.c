/* sync_list.c - the plan's synchronisation at a place, spelled. */
#include "plan/simt/sync/sync_list.h"

#include "lower/simt/ring.h"

static axe_status
spell(axe_simt_lowering *sl, axe_lblock *b, const axe_sync_item *i)
{
    axe_arg n = axe_simt_number(number(sl, i->n));

    switch (i->what) {
    case AXE_SYNC_ROW:
        axe_simt_atom(sl, b, i->row, 0, i->row->space[0] == AXE_ARG_INT, &n,
                      NULL);
        return AXE_OK;
    case AXE_SYNC_DONE:
        return axe_simt_lower_drain(sl, b, i->drain, i->last);
    case AXE_SYNC_TOGETHER:
        return axe_simt_barrier(sl, b, i->threads);
    case AXE_SYNC_ASKED:
        axe_simt_await(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_MADE:
        return axe_simt_make_barriers(sl, b, i->row);
    case AXE_SYNC_COLUMNS:
        axe_simt_ask_columns(sl, b, i->row);
        return AXE_OK;
    case AXE_SYNC_TOLD:
        return axe_simt_read_columns(sl, b);
    case AXE_SYNC_FREED:
        axe_simt_free_columns(sl, b, i->row);
        return AXE_OK;
    case AXE_SYNC_ARRIVED:
        axe_simt_tail(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_STAGE:
        axe_simt_stage(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_STEP:
        axe_ring_next(sl, b, i->ring, i->stage, i->phase);
        return AXE_OK;
    case AXE_SYNC_KEEP:
        axe_simt_keep_stage(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_FILLS:
        return AXE_OK;
    case AXE_SYNC_TURN:
        axe_simt_turn(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_ANSWER:
        axe_simt_answer(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_REACHED:
        axe_simt_reach_counters(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_COUNTED:
        axe_simt_count_tile(sl, b, i);
        return AXE_OK;
    case AXE_SYNC_ZEROS:
    case AXE_SYNC_OPENED:
    case AXE_SYNC_PASSED:
    case AXE_SYNC_SEEN:
    case AXE_SYNC_ALL:
    case AXE_SYNC_SHUT:
        axe_simt_gate(sl, b, i);
        return AXE_OK;
    }
    return AXE_OK;
}

/* Items of a place, of which those that follow one another stand in one branch
 * on who they are by. */
typedef struct spelling {
    axe_lblock *all, *in;
    unsigned    by;   /* in `in` */
    axe_lir    *when; /* the last branch on a condition of items */
} spelling;

static void
open_by(axe_simt_lowering *sl, spelling *x, unsigned bit, const axe_node *who)
{
    axe_lir *l = axe_emit(&sl->lw, x->in, AXE_LIR_IF);

    l->value = op2(sl, AXE_OP_eq, who, number(sl, 0));
    x->in = &l->body;
    x->by |= bit;
}

static axe_lblock *
block_of(axe_simt_lowering *sl, spelling *x, const axe_sync_item *i)
{
    unsigned by = i->what == AXE_SYNC_ANSWER
                      ? i->by & (AXE_BY_FIRST | AXE_BY_LEADER)
                      : i->by & AXE_BY_WARP;

    if (i->when || x->by & ~by) {
        x->in = x->all;
        x->by = 0;
    }
    if (i->when && !i->otherwise) {
        x->when = axe_emit(&sl->lw, x->all, AXE_LIR_IF);
        x->when->value = i->when;
    }
    if (i->when)
        return i->otherwise ? &x->when->other : &x->when->body;
    if (by & ~x->by & AXE_BY_WARP)
        open_by(sl, x, AXE_BY_WARP, axe_simt_id(sl, AXE_ID_WARP));
    if (by & ~x->by & AXE_BY_FIRST)
        open_by(sl, x, AXE_BY_FIRST, axe_simt_thread(sl, i->threads));
    if (by & ~x->by & AXE_BY_LEADER)
        open_by(sl, x, AXE_BY_LEADER, axe_simt_id(sl, AXE_ID_RANK));
    return x->in;
}

/* The first stages of a ring that runs ahead are filled before its loop. */
static bool
is_repeated(const axe_sync_item *i)
{
    return i->at->kind == AXE_STMT_PRODUCE && i->ring &&
           i->ring->way == AXE_RING_AHEAD;
}

static axe_status
is_wrong(const axe_simt_lowering *sl, const axe_sync_item *i, const char *where)
{
    axe_fail(sl->lw.cx, i->at->at, AXE_EUNSUPPORTED,
             "threads have to wait here, %s: %s", where, i->why);
    axe_help(sl->lw.cx, "put a `barrier;` of the cta in front of it");
    return AXE_EUNSUPPORTED;
}

axe_status
axe_simt_sync_at(axe_simt_lowering *sl, axe_lblock *b, const axe_stmt *s,
                 axe_sync_place place)
{
    spelling x = {.all = b, .in = b};

    for (int k = 0; k < sl->sp->n_sync; k++) {
        const axe_sync_item *i = &sl->sp->sync[k];
        if (i->at != s || i->place != place)
            continue;
        if (sl->spelled[k] && !is_repeated(i))
            return is_wrong(sl, i, "a place where lowering comes twice");
        sl->spelled[k] = true;
        AXE_TRY(spell(sl, block_of(sl, &x, i), i));
    }
    return AXE_OK;
}

axe_status
axe_simt_all_spelled(axe_simt_lowering *sl)
{
    for (int k = 0; k < sl->sp->n_sync; k++)
        if (!sl->spelled[k])
            return is_wrong(sl, &sl->sp->sync[k],
                            "where lowering has no place for it");
    return AXE_OK;
}

bool
axe_simt_fills_at(const axe_simt_lowering *sl, const axe_stmt *s,
                  axe_sync_place place)
{
    for (int k = 0; k < sl->sp->n_sync; k++) {
        const axe_sync_item *i = &sl->sp->sync[k];
        if (i->at == s && i->place == place && i->what == AXE_SYNC_FILLS)
            return true;
    }
    return false;
}
