/* staging.c - asking for a shared tile between an operand and its statement.
 *
 * A schedule is made against a kernel as it is.  Where one finds that an
 * operand is to go by way of shared memory, it says so and is not made: the
 * attempt to plan the kernel ends with the pass that all schedules are made in,
 * and the next one begins with the tile (plan/search.c).  It is no failure, and
 * there is no diagnostic.  One operand is staged at a time, since what has been
 * changes what room and which threads others find: the last that is asked for.
 */
#include "plan/access/access.h"

void
axe_ask_staging(axe_planner *p, axe_staged ask)
{
    p->to_stage = ask;
}

bool
axe_asks_staging(const axe_planner *p, const axe_stmt *s)
{
    return p->to_stage.stmt == s;
}

const axe_staged *
axe_staged_as(int n, const axe_staged *list, const axe_tensor *t)
{
    for (int i = 0; i < n; i++)
        if (list[i].tile == t->id)
            return &list[i];
    return NULL;
}
