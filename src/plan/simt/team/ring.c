/* ring.c - the rings of a plan, found by pipeline, reader or loop. */
#include "plan/simt/ring/ring_protocol.h"

const axe_simt_ring *
axe_simt_ring_of(const axe_simt_plan *sp, const axe_pipeline *ring)
{
    for (int i = 0; i < sp->n_ring; i++)
        if (sp->ring[i].ring == ring)
            return &sp->ring[i];
    return NULL;
}

axe_ring_reader *
axe_ring_reader_of(const axe_simt_ring *r, const axe_thread_group *c)
{
    for (int i = 0; i < r->n_reader && r->n_reader > 1; i++)
        if (axe_threads_is_within(c, r->reader[i].threads))
            return &r->reader[i];
    return r->n_reader > 1 ? NULL : r->reader;
}

const axe_ring_reader *
axe_ring_deferred_of(const axe_simt_ring *r, const axe_stmt *loop)
{
    for (int i = 0; i < r->n_reader; i++)
        if (r->reader[i].deferred == loop)
            return &r->reader[i];
    return NULL;
}
