/* check.c - what runs, but far slower than it could.
 *
 * Do a task's tiles fit the caches that they are meant to stay in?  A
 * contraction walks its right factor again for every block of rows, so that
 * tile must fit the second level; all that a task keeps must fit the last one,
 * or every pass over it goes to memory.  Sizes are those of the machine's
 * table, so that the answer does not depend on the host.
 *
 * Has a contraction fallen to a row that is many times slower than another of
 * its types, because no whole rows of that make up its extents? */
#include <inttypes.h>

#include "machine/levels.h"
#include "plan/plan_int.h"
#include "plan/simt/contract/contract.h"

static void
check_right(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double l2)
{
    const axe_operand *b = &s->operand[s->tile.b];
    const axe_place   *pl = &p->place[b->tensor->id];

    if (b->tensor->space == AXE_SPACE_GLOBAL || (double)pl->bytes <= l2)
        return;
    axe_warn(cx, s->stmt->at,
             "`%s` is read again for every %d rows, but its %" PRId64
             " bytes exceed the %.0f of %s's L2",
             b->tensor->name, s->tile.mr, pl->bytes, l2, p->machine->name);
    axe_help(cx, "make it smaller, in `%s` or `%s`", s->tile.n->name,
             s->tile.k->name);
}

/* Bytes of tiles that are filled: not those that are only looked through. */
static int64_t
kept_bytes(const axe_plan *p)
{
    int64_t n = p->scratch_bytes;

    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        for (int k = 0; s && s->kind == AXE_SCHED_CONTRACT && k < 2; k++)
            if (s->view[k].source)
                n -= p->place[s->operand[k ? s->tile.b : s->tile.a].tensor->id]
                         .bytes;
    }
    return n;
}

void
axe_check_caches(axe_ctx *cx, const axe_plan *p)
{
    axe_levels l = axe_machine_levels(p->machine);

    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i] && p->schedule[i]->kind == AXE_SCHED_CONTRACT)
            check_right(cx, p, p->schedule[i], l.bytes[AXE_LEVEL_L2]);
    int64_t kept = kept_bytes(p);
    if ((double)kept > l.bytes[AXE_LEVEL_L3])
        axe_warn(cx, p->kernel->at,
                 "the tiles of a task take %" PRId64
                 " bytes, more than the %.0f of %s's L3",
                 kept, l.bytes[AXE_LEVEL_L3], p->machine->name);
}

/* The extents are told as the row has them, whichever way the statement is
 * turned. */
static void
check_rate(axe_ctx *cx, const axe_schedule *s)
{
    const axe_simt_contract *c = s->simt->contract;
    const axe_best_row      *best = &c->best;
    double n = (double)(c->m.extent * c->n.extent) * (double)c->k.extent;
    double times = best->atom && n > 0 ? c->compute / (best->rate * n) : 1;

    if (s->stmt->slow || times <= AXE_FAR_BELOW)
        return;
    axe_warn(cx, s->stmt->at,
             "%s multiplies this, %.0f times slower than %s could: %" PRId64
             " x %" PRId64 " x %" PRId64 " are no whole atoms of %" PRId64
             " x %" PRId64 " x %" PRId64,
             c->atom->name, times, best->atom->name, c->m.extent, c->n.extent,
             c->k.extent, best->size[0], best->size[1], best->size[2]);
    axe_help(cx, "choose multiples of these, or write `slow` behind the "
                 "statement to accept it");
}

void
axe_check_rates(axe_ctx *cx, const axe_plan *p)
{
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i] && p->schedule[i]->kind == AXE_SCHED_CONTRACT)
            check_rate(cx, p->schedule[i]);
}
