/* sync_point.c - places where threads wait for one another, or for what they
 * issued: one before a statement. */
#include <string.h>

#include "plan/simt/hazard/hazard.h"

axe_sync_point *
axe_sync_point_at(axe_planner *p, const axe_stmt *at,
                  const axe_thread_group *threads, const char *why)
{
    axe_simt_plan *sp = p->simt;

    for (int i = 0; i < sp->n_sync_point; i++)
        if (sp->sync_point[i].at == at)
            return &sp->sync_point[i];
    if (sp->n_sync_point == sp->cap_sync_point) {
        sp->cap_sync_point = sp->cap_sync_point ? 2 * sp->cap_sync_point : 8;
        axe_sync_point *more =
            axe_new_array(p->cx, axe_sync_point, sp->cap_sync_point);
        if (sp->n_sync_point > 0)
            memcpy(more, sp->sync_point,
                   (size_t)sp->n_sync_point * sizeof *more);
        sp->sync_point = more;
    }
    sp->sync_point[sp->n_sync_point] =
        (axe_sync_point){.at = at, .threads = threads, .why = why};
    return &sp->sync_point[sp->n_sync_point++];
}

static bool
is_issuer(const axe_sync_point *m, const axe_thread_group *threads)
{
    for (int i = 0; i < m->n_issuer; i++)
        if (m->issuer[i] == threads)
            return true;
    return false;
}

void
axe_sync_point_issuer(axe_planner *p, axe_sync_point *m,
                      const axe_thread_group *issuer, const char *group)
{
    const axe_thread_group **all =
        axe_new_array(p->cx, const axe_thread_group *, m->n_issuer + 1);

    if (is_issuer(m, issuer))
        return;
    if (m->n_issuer > 0)
        memcpy(all, m->issuer, (size_t)m->n_issuer * sizeof *all);
    all[m->n_issuer++] = issuer;
    m->issuer = all;
    m->group = group;
}
