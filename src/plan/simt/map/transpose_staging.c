/* transpose_staging.c - moves between tensors that are fast along different
 * indices.
 *
 *     Y[n, m] = f(X[m, n])
 *
 * Threads may take blocks and transpose them in registers; then an access of a
 * warp to one of the two goes to many lines, a vector in each, and where rows
 * are no whole vectors to elements far apart.  Or a shared tile is filled along
 * the one and read along the other, which costs its banks and a barrier.  Both
 * are counted in cycles of the path to memory, which passes one line, as wide
 * as all banks, in each. */
#include "plan/access/access.h"
#include "plan/plan_int.h"
#include "plan/simt/map/map.h"

/* A barrier of a CTA's threads, and the wait for what is on its way
 * [cycles]. */
enum { BARRIER_CYCLES = 60 };

/* The index that moves the operand by one element, or NULL. */
static const axe_var *
fast_index(const axe_request *r, const axe_operand *op)
{
    for (int i = 0; i < r->nest[0].n_dim; i++) {
        const axe_dim *d = &r->nest[0].dim[i];
        axe_iter       it;
        if (axe_fast_iter(op, d->var, 1, 2, &it) && it.stride == 1 &&
            it.unit == AXE_UNIT_ONE)
            return d->var;
    }
    return NULL;
}

/* Is each index of the operand, of a constant extent, one of its subscripts'
 * but for what is known outside?  Then a tile can hold what it reads;
 * *bytes: how much. */
static bool
fits_tile(axe_planner *p, const axe_request *r, const axe_operand *op,
          int64_t *bytes)
{
    *bytes = axe_type_table[op->tensor->type].bits / 8;
    for (int i = 0; i < r->nest[0].n_dim; i++) {
        const axe_dim *d = &r->nest[0].dim[i];
        int            n = 0, alone = 0;
        for (int k = 0; k < op->load->n_arg; k++) {
            n += axe_mentions(op->load->arg[k], d->var);
            alone += axe_alone_in(p, op->load->arg[k]) == d->var;
        }
        if (n != alone || n > 1 ||
            (n > 0 && !axe_mul(*bytes, axe_dim_extent(d), bytes)))
            return false;
    }
    return *bytes > 0;
}

/* [bytes] of shared memory that tiles of the CTA have. */
static int64_t
in_use(const axe_planner *p, const axe_thread_group *cta)
{
    int64_t n = 0;

    for (int i = 0; i < p->kernel->n_tensor; i++)
        if (p->place[i].tensor && p->place[i].layout &&
            p->place[i].tensor->space == AXE_SPACE_SHARED &&
            axe_threads_cta(p->simt->owner[i]) == cta)
            n += p->place[i].bytes;
    return n;
}

/* Is it a move or an element-wise statement of a whole CTA, between arguments?
 */
static bool
is_possible(const axe_planner *p, const axe_request *r,
            const axe_thread_group *threads)
{
    const axe_stmt *s = r->stmt;

    return p->simt->slow[AXE_SPACE_SHARED] < 0 && !threads->in &&
           threads->scope == AXE_SCOPE_CTA && s->fold == AXE_FOLD_NONE &&
           r->n_nest == 1 && !s->via && !s->atom && s->n_attr == 0 &&
           s->dst->u.tensor->space == AXE_SPACE_GLOBAL &&
           r->operand[0].n_check == 0;
}

/* Cycles that what one operand moves takes if it comes in whole lines. */
static double
by_lines(const axe_planner *p, const axe_request *r, const axe_operand *op)
{
    const axe_simt *m = p->mc->simt;
    double          n = axe_type_table[op->tensor->type].bits / 8.0;

    for (int i = 0; i < r->nest[0].n_dim; i++)
        if (axe_operand_depends(op, r->nest[0].dim[i].var))
            n *= (double)axe_dim_extent(&r->nest[0].dim[i]);
    return n / (m->banks * m->bank_bytes);
}

/* The argument that is read across, and whose elements a tile can hold. */
static const axe_operand *
find_turned(axe_planner *p, const axe_request *r,
            const axe_thread_group *threads)
{
    const axe_var *fast = fast_index(r, &r->operand[0]);
    int64_t        room =
                axe_machine_room(p->mc, AXE_SPACE_SHARED) - in_use(p, threads),
            bytes;

    for (int i = 1; i < r->n_operand; i++) {
        const axe_operand *op = &r->operand[i];
        const axe_var     *v = fast_index(r, op);
        if (op->tensor->space == AXE_SPACE_GLOBAL &&
            op->tensor != r->operand[0].tensor && fast && v && v != fast &&
            axe_operand_depends(op, fast) && op->n_check == 0 &&
            fits_tile(p, r, op, &bytes) && bytes <= room / 2)
            return op;
    }
    return NULL;
}

bool
axe_simt_stage_transpose(axe_planner *p, const axe_request *r,
                         const axe_simt_schedule *s)
{
    const axe_operand *op;
    double             direct = 0, staged = BARRIER_CYCLES;

    if (!is_possible(p, r, s->threads) || !(op = find_turned(p, r, s->threads)))
        return false;
    for (int i = 0; i < r->n_operand; i++) {
        if (r->operand[i].tensor->space != AXE_SPACE_GLOBAL)
            continue;
        direct += axe_simt_line_cycles(p, r, &s->work, &r->operand[i],
                                       s->access[i].width);
        staged += by_lines(p, r, &r->operand[i]);
    }
    staged += 2 * by_lines(p, r, op);
    if (staged >= direct)
        return false;
    axe_ask_staging(p, (axe_staged){.stmt = r->stmt,
                                    .load = op->load,
                                    .direct = direct,
                                    .staged = staged,
                                    .why = "it is read along another index "
                                           "than is written"});
    return true;
}
