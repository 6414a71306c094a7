/* reconverge.c - branches with a barrier of the CTA in them end with one, and
 * one stands behind them.
 *
 *     if (2 < O) {                          if (2 < O) {
 *         ...                                   ...
 *         barrier();                            barrier();
 *         if (q < Q - 32*j) Y[q] = y;           if (q < Q - 32*j) Y[q] = y;
 *     } else {                                  barrier();
 *         ...                               }
 *         barrier();                        barrier();
 *         if (q < Q - 32*j) Z[q] = z;       if (!(2 < O)) {
 *     }                                         ...
 *                                               barrier();
 *                                           }
 *                                           barrier();
 *
 * Compilers that run the threads of a CTA on a CPU make loops over the threads
 * between two barriers.  PoCL 3.1 finds the end of such a loop wrongly where
 * the branch ends without a barrier, where there is an `else`, and where a
 * branch follows that has one, too: then one thread decides for all whether the
 * store is done, which writes beyond the ends of rows.  OpenCL allows the
 * branches as they were, since all threads take them together.  A condition is
 * of sizes, of scopes and loops around, or has a register of its own: it is the
 * same behind the branch. */
#include "lower/code/build.h"
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

/* The branch without an `else`, its barriers, and what the `else` was. */
static void
put_branch(axe_ctx *cx, axe_lblock *b, axe_lir *l, axe_lir *barrier)
{
    axe_lblock other = l->other;

    l->other = (axe_lblock){0};
    axe_block_push(cx, &l->body, barrier);
    axe_block_push(cx, b, l);
    axe_block_push(cx, b, barrier);
    if (other.n == 0)
        return;
    axe_lir *second = axe_new(cx, axe_lir);
    *second = *l;
    second->value = axe_node1(cx, AXE_OP_not, l->value);
    second->body = other;
    axe_block_push(cx, &second->body, barrier);
    axe_block_push(cx, b, second);
    axe_block_push(cx, b, barrier);
}

void
axe_reconverge(axe_ctx *cx, axe_lblock *b)
{
    axe_lblock out = {0};

    for (int i = 0; i < b->n; i++) {
        axe_lir *l = b->item[i], *barrier = NULL;

        axe_reconverge(cx, &l->body);
        axe_reconverge(cx, &l->other);
        if (l->kind == AXE_LIR_IF)
            barrier = find_barrier(&l->body);
        if (l->kind == AXE_LIR_IF && !barrier)
            barrier = find_barrier(&l->other);
        if (barrier)
            put_branch(cx, &out, l, barrier);
        else
            axe_block_push(cx, &out, l);
    }
    *b = out;
}
