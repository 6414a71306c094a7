/* collective.c - boxes that are runs, and plans that are one collective of all
 * ranks, on buffers as libraries of collectives have them: parts are equal, and
 * in the ranks' order. */
#include "engine/memory.h"
#include "engine/program.h"

bool
program_is_run(const program_box *b, program_run *out)
{
    *out = (program_run){0, 0, 1, 0};
    for (int d = b->n_dim - 1; d >= 0; d--) {
        const program_run *r = b->run[d];
        bool               last = d + 1 == b->n_dim;
        int64_t            src = last ? 1 : b->src_pitch[d];
        int64_t            dst = last ? 1 : b->dst_pitch[d];

        if (b->n_run[d] != 1 || (r->n > 1 && (src != out->n || dst != out->n)))
            return false;
        out->src += r->src * src;
        out->dst += r->dst * dst;
        out->n *= r->n;
    }
    return true;
}

/* Are the first phase's pulls one run each, from all ranks in order? */
static bool
is_in_order(const program *g, const engine_collective *c)
{
    const program_phase *f = &g->phase[0];
    bool                 gathers = c->kind == AXE_COLLECTIVE_ALL_GATHER;
    bool                 fits = f->n_pull == g->size;

    for (int r = 0; r < f->n_pull && fits; r++) {
        program_run run;

        fits = f->pull[r].peer == r && program_is_run(&f->pull[r].box, &run) &&
               run.n == c->n && run.src == (gathers ? 0 : g->rank * c->n) &&
               run.dst == (gathers ? r * c->n : 0);
    }
    return fits;
}

bool
engine_collective_of(const axe_reshard_plan *p, const program *g,
                     engine_collective *out)
{
    engine_collective c = {.kind = p->step[0].kind, .n = g->n_src};

    if (p->n_step != 1 || g->size == 1 || g->n_src == 0)
        return false;
    *out = c;
    switch (c.kind) {
    case AXE_COLLECTIVE_ALL_GATHER:
        return g->n_phase == 1 && g->n_dst == g->size * g->n_src &&
               is_in_order(g, out);
    case AXE_COLLECTIVE_REDUCE_SCATTER:
        out->n = g->n_dst;
        return g->n_phase == 1 && g->n_src == g->size * g->n_dst &&
               is_in_order(g, out);
    case AXE_COLLECTIVE_ALL_REDUCE:
        return g->n_dst == g->n_src && g->phase[0].n_pull == g->size;
    default:
        return false;
    }
}
