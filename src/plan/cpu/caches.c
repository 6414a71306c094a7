/* caches.c - do a task's tiles fit the caches that they are meant to stay in?
 *
 * A contraction walks its right factor again for every block of rows, so that
 * tile must fit the second level; all that a task keeps must fit the last one,
 * or every pass over it goes to memory.  Sizes are those of the machine's
 * table, so that the answer does not depend on the host. */
#include <inttypes.h>

#include "machine/levels.h"
#include "plan/cpu/cpu.h"

static void
check_right(axe_ctx *cx, const axe_plan *p, const axe_schedule *s, double l2)
{
    const axe_operand *b = &s->operand[s->core->tile.b];
    const axe_place   *pl = &p->place[b->tensor->id];

    if (b->tensor->space == AXE_SPACE_GLOBAL || (double)pl->bytes <= l2)
        return;
    axe_warn(cx, s->stmt->at,
             "`%s` is read again for every %d rows, but its %" PRId64
             " bytes exceed the %.0f of %s's L2",
             b->tensor->name, s->core->tile.mr, pl->bytes, l2,
             p->machine->name);
    axe_help(cx, "make it smaller, in `%s` or `%s`", s->core->tile.n->name,
             s->core->tile.k->name);
}

/* Bytes of tiles that are filled: not those that are only looked through. */
static int64_t
kept_bytes(const axe_plan *p)
{
    int64_t n = p->core->scratch_bytes;

    for (int i = 0; i < p->n_schedule; i++) {
        const axe_schedule *s = p->schedule[i];
        for (int k = 0; s && s->kind == AXE_SCHED_CONTRACT && k < 2; k++)
            if (s->core->view[k].source)
                n -= p->place[s->operand[k ? s->core->tile.b : s->core->tile.a]
                                  .tensor->id]
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
