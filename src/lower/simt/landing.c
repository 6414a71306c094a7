/* landing.c - copies in flight that no pipeline waits for, and the fences
 * behind what threads write for an engine. */
#include "ir/stmt.h"
#include "lower/simt/node.h"
#include "plan/simt/contract/contract.h"
#include "plan/simt/copy/copy.h"
#include "plan/simt/tmem/copy.h"

/* A copy that is awaited where something else begins: copies that follow one
 * another are in flight together. */
bool
axe_simt_flies(const simt_lowering *sl, const axe_stmt *s)
{
    const axe_schedule *at =
        s->kind == AXE_STMT_INDEX ? sl->lw.plan->schedule[s->id] : NULL;
    const axe_simt_copy *c = at ? at->simt->copy : NULL;

    return c && !c->box && !c->stage && c->atom->group[0] != '\0' &&
           !s->dst->u.tensor->pipeline;
}

bool
axe_simt_fills_again(const simt_lowering *sl, const axe_stmt *s)
{
    for (int i = 0; i < sl->sp->n_meet; i++)
        if (sl->sp->meet[i].at == s && sl->sp->meet[i].lands)
            return true;
    return false;
}

axe_status
axe_simt_land(simt_lowering *sl, axe_lblock *b)
{
    const char *group = sl->flying;

    if (!group)
        return AXE_OK;
    sl->flying = NULL;
    AXE_TRY(axe_simt_order_group(sl, b, AXE_SYNC_COMMIT, group, AXE_ARG_NONE, 0,
                                 NULL));
    return axe_simt_order_group(sl, b, AXE_SYNC_DRAIN, group, AXE_ARG_NONE, 0,
                                NULL);
}

/* The engine that reads the tile itself in statement s, or NULL. */
static const axe_atom *
engine_in(const axe_schedule *s, const axe_tensor *t)
{
    const axe_simt_contract *c = s ? s->simt->contract : NULL;
    const axe_simt_copy     *k = s ? s->simt->copy : NULL;

    if (c && ((c->a.direct && c->a.tensor == t) ||
              (c->b.direct && c->b.tensor == t)))
        return c->atom;
    if (s && s->simt->tcopy && axe_stmt_reads(s->stmt, t))
        return s->simt->tcopy->atom;
    return k && k->box && !k->in && axe_stmt_reads(s->stmt, t) ? k->atom : NULL;
}

/* The fence behind what threads write to a tile of no pipeline in s, for the
 * engine that reads it; NULL: none is needed. */
const axe_atom *
axe_simt_fence_behind(const simt_lowering *sl, const axe_stmt *s)
{
    const axe_plan     *p = sl->lw.plan;
    const axe_tensor   *t = s->kind == AXE_STMT_INDEX ? s->dst->u.tensor : NULL;
    const axe_schedule *w = t ? p->schedule[s->id] : NULL;

    if (!t || t->space != AXE_SPACE_SHARED || t->pipeline ||
        (w->simt->copy && w->simt->copy->box))
        return NULL;
    for (int i = 0; i < p->n_schedule; i++) {
        const axe_atom *a = engine_in(p->schedule[i], t);
        if (a && *a->group)
            return axe_simt_group_sync(p->machine, AXE_SYNC_FENCE, a->group,
                                       AXE_ARG_SHARED);
    }
    return NULL;
}

void
axe_simt_fence(simt_lowering *sl, axe_lblock *b)
{
    if (sl->fence)
        axe_simt_atom(sl, b, sl->fence, 0, 0, NULL, NULL);
    sl->fence = NULL;
}
