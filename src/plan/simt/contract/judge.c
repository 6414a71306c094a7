/* judge.c - what a candidate costs.
 *
 * Cycles of what the tensor cores or the lanes take, and of what shared memory
 * takes to bring the factors, whichever is more; what other statements take for
 * the layout of c; and what a thread has no registers for. */
#include "plan/access/access.h"
#include "plan/simt/contract/product.h"

enum { SPARE_REGISTERS = 28 };

/* Groups of the thread group that each have atoms of their own; one where
 * nobody holds the sums. */
int64_t
axe_product_groups(const axe_product *j, const axe_atom *a)
{
    int64_t threads = axe_atom_threads(j->p->mc, a),
            lanes = j->p->mc->simt->lanes;

    return a->space[0] == AXE_ARG_TMEM
               ? 1
               : j->threads->n_thread / (threads < lanes ? lanes : threads);
}

int64_t
axe_product_lanes(const axe_product *j, const axe_atom *a)
{
    int64_t threads = axe_atom_threads(j->p->mc, a),
            lanes = j->p->mc->simt->lanes;

    return threads < lanes && a->space[0] == AXE_ARG_REG ? lanes / threads : 1;
}

/* [bytes] that one warp or group reads of a factor: through registers each
 * element once, at the cost of asking for it; lanes that have atoms of their
 * own ask each for its own.  What is in registers is read by nobody, and what
 * is in tensor memory not from here. */
static double
bytes_of(const axe_product *j, const axe_candidate *by, int side,
         const axe_spread *row, const axe_spread *other)
{
    double  size = axe_type_table[j->type[side]].bits / 8.0;
    int64_t each = axe_atom_threads(j->p->mc, by->atom) == 1
                       ? axe_product_lanes(j, by->atom)
                       : 1;
    double  n = (double)(row->n_rep * row->atom * each * by->k.extent) * size;

    if (j->load[side]->u.tensor->space == AXE_SPACE_REG ||
        axe_product_is_tmem(j, side))
        return 0;
    if (side == 2)
        n /= (double)by->pair;
    return by->atom->space[side] == AXE_ARG_SHARED ? n * (double)other->n_rep
                                                   : n * AXE_ASKING;
}

static bool
is_over(const axe_spread *s, axe_counter of)
{
    for (int i = 0; i < s->n_part; i++)
        if (s->part[i].of == of && s->part[i].extent > 1)
            return true;
    return false;
}

/* Which side c's last dimension is of. */
static int
last_side(const axe_product *j)
{
    int last = j->load[0]->n_arg - 1;

    for (int i = 0; i < j->n_dim[0]; i++)
        if (axe_product_dim(j, 0, i) == last)
            return 0;
    return 1;
}

/* Cycles to move c to where its last dimension is the fast one, beyond those of
 * whole lines: a core does so lane by lane, if lanes are not neighbours in it.
 */
static double
apart_of(const axe_product *j, const axe_candidate *by)
{
    const axe_spread *other = last_side(j) == 0 ? &by->n : &by->m;

    return j->p->mc->simt->on_core && is_over(other, AXE_COUNT_LANE)
               ? (double)(j->extent[0] * j->extent[1])
               : 0;
}

/* For c and, twice, for one step of what is fed through registers. */
int64_t
axe_candidate_registers(const axe_product *j, const axe_candidate *by)
{
    int64_t rep[3] = {by->m.n_rep * by->n.n_rep, 2 * by->m.n_rep,
                      2 * by->n.n_rep};
    int64_t bits = 0;

    for (int i = 0; i < 3; i++)
        if (by->atom->space[i] == AXE_ARG_REG)
            bits += rep[i] * axe_type_table[by->atom->type[i]].bits *
                    axe_frag_regs(j->p->cx, by->side[i]);
    return bits / AXE_WORD_BITS + SPARE_REGISTERS;
}

/* Registers of a thread for factors that are tiles of registers: all of them
 * at once. */
static int64_t
held_registers(const axe_product *j, const axe_candidate *by)
{
    int64_t rep[3] = {0, by->m.n_rep, by->n.n_rep}, bits = 0;

    for (int i = 1; i < 3; i++)
        if (j->load[i]->u.tensor->space == AXE_SPACE_REG)
            bits += rep[i] * by->k.n_rep * axe_type_table[j->type[i]].bits *
                    axe_frag_regs(j->p->cx, by->side[i]);
    return bits / AXE_WORD_BITS;
}

/* Cycles of what a thread has no registers for, out to memory and back. */
static double
spill_of(const axe_product *j, const axe_candidate *by)
{
    const axe_simt *simt = j->p->mc->simt;
    int64_t         n = axe_candidate_registers(j, by) + held_registers(j, by) -
                axe_simt_registers(j->p->mc, j->threads);

    return n > 0 ? 2.0 * 4 * (double)(n * j->threads->n_thread) /
                       (simt->banks * simt->bank_bytes)
                 : 0;
}

double
axe_candidate_score(const axe_candidate *by)
{
    double most = by->compute > by->traffic ? by->compute : by->traffic;

    double n = (double)(by->m.n_rep * by->n.n_rep);

    return most + (by->compute + by->traffic + n) / 16 + by->around;
}

void
axe_candidate_judge(const axe_product *j, axe_candidate *by)
{
    const axe_simt *simt = j->p->mc->simt;
    double          units = (double)axe_product_groups(j, by->atom);

    by->compute = units * (double)(by->m.n_rep * by->n.n_rep * by->k.n_rep) *
                  axe_atom_cycles(by->atom, by->param);
    by->traffic = units *
                  (bytes_of(j, by, 1, &by->m, &by->n) +
                   bytes_of(j, by, 2, &by->n, &by->m)) /
                  (simt->banks * simt->bank_bytes);
    by->around = is_over(&by->m, AXE_COUNT_WARP) * j->folds[0] +
                 is_over(&by->n, AXE_COUNT_WARP) * j->folds[1] +
                 spill_of(j, by) + apart_of(j, by);
    by->score = axe_candidate_score(by);
}

double
axe_candidate_rate(const axe_product *j, const axe_candidate *by)
{
    double n = (double)(by->m.atom * by->n.atom * by->k.atom);

    return axe_atom_cycles(by->atom, by->param) /
           (n * (double)axe_product_lanes(j, by->atom));
}
