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

/* Where what a column multiplies by is computed by so many operations, and not
 * only loaded, and there are fewer rows than SIDE, all of them and one column:
 * weights that are widened come once and in the order of memory.  16 registers
 * hold the chains of three rows. */
enum { DEAR = 2, COLUMN_CHAINS = 4 };

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

/* Two digits: rows as few as two, where that is known. */
static bool
is_block(const axe_request *r, const axe_nest *fold, const axe_digit d[2])
{
    bool few = d[1].extent > 1 &&
               d[1].extent<SIDE, outer_few = d[0].extent> 1 &&
               d[0].extent < SIDE && !few;

    return can_jam(r, fold, &d[1], few ? 2 : SIDE) &&
           can_jam(r, fold, &d[0], outer_few ? 2 : SIDE);
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

/* Operations on what does not depend on v, in what does: those that are done
 * again for each of its values that is not side by side with the others.  A
 * load is none, whatever its subscripts take. */
static int
work_without(const axe_node *n, const axe_var *v)
{
    int work = n->n_arg > 1 && !axe_mentions(n, v);

    if (n->op == AXE_OP_load)
        return 0;
    for (int i = 0; i < n->n_arg; i++)
        work += work_without(n->arg[i], v);
    return work;
}

/* All rows of a column, where columns are dear. */
static bool
plan_column(axe_nest *nest, axe_nest *fold)
{
    const axe_digit *d = &nest->digit[nest->n_digit - 1];

    if (d->extent < 2 || d->extent >= SIDE ||
        work_without(fold->reduce->arg[0], d->var) < DEAR)
        return false;
    nest->jam[0] = (int)d->extent;
    fold->chains = COLUMN_CHAINS;
    return true;
}

/* Two digits side by side, rows inside. */
static void
plan_block(const axe_planner *p, axe_nest *nest, axe_nest *fold)
{
    const axe_digit *d = &nest->digit[nest->n_digit - 1];

    nest->jam[0] =
        d->extent > 1 && d->extent < SIDE ? (int)d->extent : rows_of(p, d);
    nest->jam[1] = SIDE;
    fold->chains = 1;
}

void
axe_plan_jam(const axe_planner *p, const axe_request *r, axe_nest *nest)
{
    axe_nest  *fold = only_fold(p, r);
    int        n = nest->n_digit;
    axe_digit *d = nest->digit;

    if (!fold || n == 0)
        return;
    if (n > 1 && d[n - 1].var != d[n - 2].var && is_block(r, fold, &d[n - 2])) {
        larger_first(nest, d);
        if (!plan_column(nest, fold))
            plan_block(p, nest, fold);
    } else if (can_jam(r, fold, &d[n - 1], SIDE)) {
        nest->jam[0] = SIDE;
        fold->chains = CHAINS_ALONE;
    }
}
