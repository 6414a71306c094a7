/* overlap.c - launches of a call that begin while the one before still runs.
 *
 *     cta (...) A[...] = ...     launch 0 admits launch 1: it may begin once
 *     cta (...) B[...] = A[...]  all CTAs of launch 0 have; it waits for the
 *                                end of launch 0 before it touches memory
 *
 * A launch that waits ends after the one before it, so the third of three that
 * waits for the second alone has waited for the first, too.  What admits does
 * so first of all: when CTAs of the next launch take their places on the GPU,
 * all of its own have theirs, so nobody waits for a place that they have.  They
 * take nothing else before they have waited, columns of tensor memory least of
 * all, for which CTAs wait.
 *
 * The first launch of a call waits for all that its stream has, whatever it is.
 * So does one that the host finds to be the first, as launches before it have
 * no CTAs or a branch is not taken, and one behind something that is no launch.
 * Its PRIOR finds nothing to wait for.  One whose CTAs wait for one another
 * (one_launch.h) begins when all others have ended, and others after it. */
#include <string.h>

#include "plan/plan_int.h"
#include "plan/simt/sync/sync.h"

typedef struct walk {
    axe_planner *p;
    bool         back; /* from the last statement to the first */
} walk;

static int
number_of(const axe_planner *p, const axe_stmt *s)
{
    int i = 0;

    while (i < p->simt->n_launch && p->simt->launch[i].scope != s)
        i++;
    return i;
}

/* The condition over sizes under which a launch has CTAs; NULL: none. */
static const axe_node *
condition_of(const axe_simt_launch *l)
{
    const axe_stmt *s = l->scope;
    int64_t         v;

    return s->n_var == 1 && s->var[0]->extent->op == AXE_OP_select &&
                   axe_is_iconst(s->var[0]->extent->arg[2], &v) && v == 0
               ? s->var[0]->extent->arg[0]
               : NULL;
}

/* Is it seen that not both hold?  Forms of a scope for other sizes are told
 * apart by a <= 4 and 4 < a. */
static bool
excludes(const axe_node *a, const axe_node *b)
{
    int64_t most, over;

    if (!a || !b)
        return false;
    if (a->op == AXE_OP_and)
        return excludes(a->arg[0], b) || excludes(a->arg[1], b);
    if (b->op == AXE_OP_and || (a->op == AXE_OP_lt && b->op == AXE_OP_le))
        return excludes(b, a);
    return a->op == AXE_OP_le && b->op == AXE_OP_lt &&
           axe_is_iconst(a->arg[1], &most) && axe_is_iconst(b->arg[0], &over) &&
           over >= most && axe_node_same(a->arg[0], b->arg[1]);
}

/* Launch i comes behind those of the set, or before them if back. */
static void
note(const walk *w, int i, const bool *set)
{
    axe_simt_launch *all = w->p->simt->launch;

    for (int k = 0; k < w->p->simt->n_launch; k++)
        if (set[k] &&
            (k == i || !excludes(condition_of(&all[i]), condition_of(&all[k]))))
            *(w->back ? &all[i].admits : &all[i].waits) = true;
}

static void
add_all(const walk *w, int n, axe_stmt *const *body, bool *set)
{
    for (int i = 0; i < n; i++) {
        int k = number_of(w->p, body[i]);
        if (k < w->p->simt->n_launch)
            set[k] = true;
        add_all(w, body[i]->n_body, body[i]->body, set);
        add_all(w, body[i]->n_other, body[i]->other, set);
    }
}

/* set: launches that may come before the statements in the call; then those
 * that may come before what follows. */
static void
walk_body(const walk *w, int n, axe_stmt *const *body, bool *set)
{
    int n_launch = w->p->simt->n_launch;

    for (int i = 0; i < n; i++) {
        const axe_stmt *s = body[w->back ? n - 1 - i : i];
        bool           *other = axe_new_array(w->p->cx, bool, n_launch);
        int             k = number_of(w->p, s);
        if (k < n_launch && w->p->simt->launch[k].overlap) {
            memset(set, 0, (size_t)n_launch * sizeof *set);
            continue;
        }
        if (k < n_launch) {
            note(w, k, set);
            set[k] = true;
            continue;
        }
        if (s->kind == AXE_STMT_FOR)
            add_all(w, s->n_body, s->body, set);
        memcpy(other, set, (size_t)n_launch * sizeof *set);
        walk_body(w, s->n_body, s->body, set);
        walk_body(w, s->n_other, s->other, other);
        for (k = 0; k < n_launch; k++)
            set[k] = set[k] || other[k];
    }
}

void
axe_simt_plan_overlap(axe_planner *p)
{
    const axe_kernel *k = p->kernel;
    int               n = p->simt->n_launch;

    if (!axe_simt_group_sync(p->mc, AXE_SYNC_ADMIT, "", AXE_ARG_NONE) ||
        !axe_simt_group_sync(p->mc, AXE_SYNC_PRIOR, "", AXE_ARG_NONE))
        return;
    for (int back = 0; back < 2; back++)
        walk_body(&(walk){.p = p, .back = back}, k->n_body, k->body,
                  axe_new_array(p->cx, bool, n));
}
