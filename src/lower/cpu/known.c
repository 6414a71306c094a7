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

axe_memo *
axe_recall(const axe_lowering *lw, int at, const axe_node *n, bool splat)
{
    for (axe_memo *m = lw->level[at].known; m; m = m->next)
        if (m->node == n && m->splat == splat)
            return m;
    return NULL;
}

void
axe_remember(axe_lowering *lw, int at, const axe_node *n, bool splat, axe_reg r)
{
    axe_memo *m = axe_new(lw->cx, axe_memo);

    *m = (axe_memo){n, splat, r, lw->level[at].known};
    lw->level[at].known = m;
}

/* What mentions v is to be computed again. */
static void
forget(axe_lowering *lw, const axe_var *v)
{
    for (int l = 0; l <= lw->top; l++) {
        axe_memo          *known = NULL;
        axe_taken_element *number = NULL;
        for (const axe_memo *m = lw->level[l].known; m; m = m->next)
            if (!axe_mentions(m->node, v)) {
                axe_memo *kept = axe_new(lw->cx, axe_memo);
                *kept = *m;
                kept->next = known;
                known = kept;
            }
        for (const axe_taken_element *t = lw->level[l].number; t; t = t->next)
            if (!axe_mentions(t->node, v)) {
                axe_taken_element *kept = axe_new(lw->cx, axe_taken_element);
                *kept = *t;
                kept->next = number;
                number = kept;
            }
        lw->level[l].known = known;
        lw->level[l].number = number;
    }
}

int
axe_jam_iterations(const axe_jam *j)
{
    int n = 1;

    for (; j; j = j->next)
        n *= j->by;
    return n;
}

void
axe_jam_take(axe_lowering *lw, const axe_jam *j, int iteration)
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
