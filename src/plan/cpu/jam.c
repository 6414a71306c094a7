/* jam.c - several elements of a result folded side by side.
 *
 *     y[m] = sum[k](A[m, k]*x[k])      C[m, n] = sum[k](A[m, k]*B[n, k])
 *
 * A fold along the lanes of k needs what it multiplies by for every element
 * again.  R rows and C columns in one go, each with sums of its own, take
 * R + C vectors for R * C multiply-adds, and no fold waits for another.  That
 * asks of the innermost loops around the fold that it depends on their
 * variables, and of the registers that they hold R * C sums, R vectors, and one
 * more. */
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"

/* Elements side by side, and chains of each where they are of one index alone:
 * sums enough to hide what one waits for.  More rows bring less and less. */
enum { SIDE = 4, CHAINS_ALONE = 2, MOST_ROWS = 6 };

/* The statement's one fold, along the lanes, of nothing that is folded or that
 * the statement writes; NULL if there is none. */
static axe_nest *
only_fold(const axe_planner *p, const axe_request *r)
{
    axe_nest *n = &r->nest[1];

    if (r->n_nest != 2 || r->nest[0].lanes > 1 || r->nest[0].chains > 1 ||
        n->lanes == 1 || n->chains == 1 || axe_is_scatter(p->cx, r->stmt) ||
        axe_node_reads(n->reduce, r->operand[0].tensor))
        return NULL;
    return n;
}

/* Do two values of the digit meet in something that both read? */
static bool
shares(const axe_request *r, const axe_digit *d)
{
    bool any = false;

    for (int i = 1; i < r->n_operand; i++) {
        bool moved = false;
        for (int t = 0; t < r->operand[i].n_term; t++)
            moved = moved || r->operand[i].term[t].var == d->var;
        any = any || !moved;
    }
    return any;
}

static bool
can_jam(const axe_request *r, const axe_nest *fold, const axe_digit *d,
        int64_t by)
{
    for (int i = 0; i < r->n_operand; i++)
        if (axe_operand_asks(&r->operand[i], d->var))
            return false;
    return axe_mentions(fold->reduce, d->var) && shares(r, d) &&
           (d->extent == 0 || d->extent >= by);
}

/* Fewer values within, since what those share is read again for each outside;
 * an extent that is a size is that of no tile, and may be small. */
static void
larger_first(axe_nest *nest, axe_digit *d)
{
    axe_digit *b = &d[nest->n_digit - 1], *a = b - 1, t = *a;

    if (a->extent == 0 ? b->extent > 0 : b->extent > a->extent) {
        *a = *b;
        *b = t;
    }
}

/* Rows of a block: as many as there are registers for, or, where not many less
 * divide what there is, these, so that none is left. */
static int
rows_of(const axe_planner *p, const axe_digit *d)
{
    int rows = (p->mc->n_vreg - 1) / (SIDE + 1);

    rows = rows < MOST_ROWS ? rows : MOST_ROWS;
    for (int r = rows; r >= SIDE && d->extent > 0; r--)
        if (d->extent % r == 0)
            return r;
    return rows;
}

void
axe_plan_jam(const axe_planner *p, const axe_request *r, axe_nest *nest)
{
    axe_nest  *fold = only_fold(p, r);
    int        n = nest->n_digit;
    axe_digit *d = nest->digit;

    if (!fold || n == 0 || !can_jam(r, fold, &d[n - 1], SIDE))
        return;
    if (n < 2 || d[n - 1].var == d[n - 2].var ||
        !can_jam(r, fold, &d[n - 2], SIDE)) {
        nest->jam[0] = SIDE;
        fold->chains = CHAINS_ALONE;
        return;
    }
    larger_first(nest, d);
    nest->jam[0] = rows_of(p, &d[n - 1]);
    nest->jam[1] = SIDE;
    fold->chains = 1;
}
