/* known.c - what is computed already, and at which open loop: values and
 * elements that subscripts read, until what they mention changes. */
#include "lower/cpu/cpu.h"
#include "lower/cpu/nest.h"

int
axe_level_of(const axe_lowering *lw, const axe_node *n)
{
    int l = lw->top;

    while (l > 0 &&
           !(lw->level[l].index && axe_mentions(n, lw->level[l].index)))
        l--;
    return l;
}

memo *
axe_recall(const axe_lowering *lw, int at, const axe_node *n, bool splat)
{
    for (memo *m = lw->level[at].known; m; m = m->next)
        if (m->node == n && m->splat == splat)
            return m;
    return NULL;
}

void
axe_remember(axe_lowering *lw, int at, const axe_node *n, bool splat, axe_reg r)
{
    memo *m = axe_new(lw->cx, memo);

    *m = (memo){n, splat, r, lw->level[at].known};
    lw->level[at].known = m;
}

/* What mentions v is to be computed again. */
static void
forget(axe_lowering *lw, const axe_var *v)
{
    for (int l = 0; l <= lw->top; l++) {
        memo  *known = NULL;
        taken *number = NULL;
        for (const memo *m = lw->level[l].known; m; m = m->next)
            if (!axe_mentions(m->node, v)) {
                memo *kept = axe_new(lw->cx, memo);
                *kept = *m;
                kept->next = known;
                known = kept;
            }
        for (const taken *t = lw->level[l].number; t; t = t->next)
            if (!axe_mentions(t->node, v)) {
                taken *kept = axe_new(lw->cx, taken);
                *kept = *t;
                kept->next = number;
                number = kept;
            }
        lw->level[l].known = known;
        lw->level[l].number = number;
    }
}

int
axe_jam_iterations(const jam *j)
{
    int n = 1;

    for (; j; j = j->next)
        n *= j->by;
    return n;
}

void
axe_jam_take(axe_lowering *lw, const jam *j, int iteration)
{
    lw->iteration = iteration;
    for (; j; j = j->next) {
        int step = iteration % j->by;
        if (j->at->step != step)
            forget(lw, j->at->of.var);
        j->at->step = step;
        iteration /= j->by;
    }
}
