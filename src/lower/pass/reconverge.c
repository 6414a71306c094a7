/* reconverge.c - branches with a barrier of the CTA in them end with one.
 *
 *     if (2 < O) {
 *         ...
 *         barrier();
 *         if (q < Q - 32*j) Y[32*j + q] = y;
 *         barrier();                            added here
 *     }
 *
 * Compilers that run the threads of a CTA on a CPU make loops over the threads
 * between two barriers.  PoCL 3.1 finds the end of such a loop wrongly where
 * the branch ends without a barrier: then one thread decides for all whether
 * the store is done, which writes beyond the ends of rows.  OpenCL allows the
 * branch as it was, since all threads take it together. */
#include <string.h>

#include "lower/pass/finish.h"

static bool
is_barrier(const axe_lir *l)
{
    return l->kind == AXE_LIR_ATOM && l->atom->kind == AXE_ATOM_SYNC &&
           l->atom->sync == AXE_SYNC_BARRIER && l->atom->by == AXE_SCOPE_CTA;
}

/* A barrier in the block, or in what is in it; NULL if there is none. */
static axe_lir *
find_barrier(const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        axe_lir *in = is_barrier(l) ? l : find_barrier(&l->body);
        if (!in)
            in = find_barrier(&l->other);
        if (in)
            return in;
    }
    return NULL;
}

static void
end_with_barrier(axe_ctx *cx, axe_lblock *b)
{
    axe_lir  *barrier = find_barrier(b);
    axe_lir **item;

    if (!barrier || is_barrier(b->item[b->n - 1]))
        return;
    item = axe_new_array(cx, axe_lir *, b->n + 1);
    memcpy(item, b->item, (size_t)b->n * sizeof *item);
    item[b->n] = barrier;
    *b = (axe_lblock){b->n + 1, b->n + 1, item};
}

void
axe_reconverge(axe_ctx *cx, const axe_lblock *b)
{
    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i];
        axe_reconverge(cx, &l->body);
        axe_reconverge(cx, &l->other);
        if (l->kind != AXE_LIR_IF)
            continue;
        end_with_barrier(cx, &l->body);
        end_with_barrier(cx, &l->other);
    }
}
