/* operand_path.c - how the factors of a contraction reach its atom.
 *
 * Either the atom reads the tile itself, in shared memory
 * (simt/map/smem_descriptor.c) or in tensor memory (tmem_operand.c), or each
 * thread has what the atom's operand says in registers, for `chunk` steps of k
 * at a time: more than one where an atom takes one step and several lie
 * together in memory, so that they come in one load. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/simt/contract/operand_path.h"

enum { MAX_ITER = 2 * AXE_MAX_PART + 8 };

/* Iterations of the whole fragment as chunks, and iterations in one. */
static void
split_iterations(axe_ctx *cx, axe_factor *f, int64_t n_chunk)
{
    axe_reg_move *m = &f->load;
    axe_step     *step = axe_new_array(cx, axe_step, 2 * m->n_step + 1);
    int64_t       per = m->n_invocation / n_chunk;
    int           n = 0;

    for (int i = 0; i < m->n_step; i++) {
        axe_step s = m->step[i];
        int64_t  reach = s.over * s.extent;
        if (s.of != AXE_COUNT_INVOCATION) {
            step[n++] = s;
        } else if (reach <= per) {
            step[n++] = s;
        } else if (s.over >= per) {
            s.of = AXE_COUNT_K;
            s.over = s.over / per * f->chunk;
            step[n++] = s;
        } else {
            step[n++] = (axe_step){AXE_COUNT_INVOCATION, s.over, per / s.over,
                                   s.stride};
            step[n++] = (axe_step){AXE_COUNT_K, f->chunk, reach / per,
                                   s.stride * (per / s.over)};
        }
    }
    m->banks.phases /= n_chunk;
    m->banks.cycles /= n_chunk;
    m->n_invocation = per;
    m->n_step = n;
    m->step = step;
}

/* In chunks that are whole loads. */
static bool
through_registers(const axe_factor_query *q, axe_factor *f, const char **why)
{
    axe_frag_query ask = {.cx = q->p->cx,
                          .mc = q->p->mc,
                          .kind = AXE_ATOM_LOAD,
                          .space = AXE_ARG_SHARED,
                          .type = q->type,
                          .n_thread = q->threads->n_thread,
                          .mem = q->mem,
                          .swizzle = q->swizzle,
                          .align = q->align};

    if (q->p->simt->slow[AXE_SPACE_SHARED] >= 0) {
        *why = "no thread reaches partitions of shared memory but its own";
        return false;
    }
    *why = "no load brings its elements to the threads that need them";
    for (f->chunk = axe_factor_chunk(q); q->k->n_rep % f->chunk == 0;
         f->chunk *= 2) {
        int64_t n = q->k->n_rep / f->chunk;
        ask.reg = f->frag = axe_factor_fragment(q, f);
        if (!ask.reg || !axe_frag_find_once(&ask, q->known, &f->load))
            return false;
        if (f->load.n_invocation % n != 0)
            continue;
        split_iterations(q->p->cx, f, n);
        return true;
    }
    return false;
}

bool
axe_factor_fit(const axe_factor_query *q, axe_factor *out, const char **why)
{
    if (q->held)
        return axe_held_fit(q, out, why);
    *out = (axe_factor){.direct = q->atom->space[q->side] != AXE_ARG_REG,
                        .chunk = 1};
    if (q->atom->space[q->side] == AXE_ARG_TMEM ||
        (out->direct && q->p->simt->slow[AXE_SPACE_SHARED] >= 0))
        return axe_tmem_fit(q, &out->desc, why);
    return out->direct ? axe_desc_fit(q, &out->desc, why)
                       : through_registers(q, out, why);
}

double
axe_factor_cycles(const axe_factor_query *q, const axe_factor *f)
{
    int64_t groups =
        q->atom->space[0] == AXE_ARG_TMEM
            ? 1
            : q->threads->n_thread / axe_atom_threads(q->p->mc, q->atom);
    int64_t warps = q->threads->n_thread / q->p->mc->simt->lanes;

    if (f->held)
        return 0;
    if (f->direct)
        return (double)(f->desc.banks.cycles * groups * q->row->n_rep *
                        q->other->n_rep * q->k->n_rep);
    return (double)(f->load.banks.cycles * warps * q->k->n_rep / f->chunk);
}
