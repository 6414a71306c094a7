/* simt_ring.c - pipelines, roles and waits of grids. */
#include "lower/simt_int.h"

axe_status
axe_simt_lower_prologue(simt_lowering *sl, axe_lblock *b)
{
    (void)sl;
    (void)b;
    return AXE_OK;
}

axe_status
axe_simt_lower_epilogue(simt_lowering *sl, axe_lblock *b)
{
    (void)sl;
    (void)b;
    return AXE_OK;
}

axe_status
axe_simt_lower_waits(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    for (int i = 0; i < sl->sp->n_meet; i++)
        if (sl->sp->meet[i].at == s)
            AXE_TRY(axe_simt_meet(sl, b, sl->sp->meet[i].crew));
    return AXE_OK;
}

axe_status
axe_simt_lower_pipeline(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    (void)sl;
    (void)b;
    (void)s;
    return AXE_OK;
}

axe_status
axe_simt_lower_stage(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    const axe_plan *p = sl->lw.plan;
    const axe_ring *r = axe_ring_of(p->n_ring, p->ring, s->pipeline);

    if (r->n_stage > 1)
        return axe_fail(sl->lw.cx, s->at, AXE_EUNSUPPORTED,
                        "rings of several stages are not lowered for %s yet",
                        p->machine->name);
    return axe_simt_lower_body(sl, b, s->n_body, s->body);
}

bool
axe_simt_is_pipelined(const simt_lowering *sl, const axe_stmt *s)
{
    (void)sl;
    (void)s;
    return false;
}

axe_status
axe_simt_lower_pipelined(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    return axe_simt_lower_body(sl, b, s->n_body, s->body);
}

axe_status
axe_simt_lower_roles(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    (void)b;
    return axe_fail(sl->lw.cx, s->at, AXE_EUNSUPPORTED,
                    "roles are not lowered for %s yet",
                    sl->lw.plan->machine->name);
}

bool
axe_simt_is_persistent(const axe_stmt *s)
{
    return s->keys.persistent;
}

axe_status
axe_simt_lower_persistent(simt_lowering *sl, axe_lblock *b, const axe_stmt *s)
{
    (void)b;
    return axe_fail(sl->lw.cx, s->at, AXE_EUNSUPPORTED,
                    "persistent scopes are not lowered for %s yet",
                    sl->lw.plan->machine->name);
}
