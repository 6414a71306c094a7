/* overlap.c - groups of scopes that overlap, on one core for each worker.
 *
 * Entities of all scopes of a group are one list, in the order of the text, of
 * which workers take the next one.  One that must wait is put aside until what
 * it waits for is done, and the worker goes on in the list.  All that an entity
 * waits for stands in front of it.  So of the entities that are not done the
 * first one waits for nothing: whoever has it does it, and there is always one
 * that goes on, with any number of workers.
 *
 * Counters are a tensor of the kernel's own, which begins at zero each time:
 * nothing that a launch left behind is trusted. */
#include "plan/cpu/cpu.h"
#include "plan/plan_int.h"
#include "plan/rewrite/rewrite.h"

const axe_kernel *
axe_core_counters(axe_ctx *cx, const axe_kernel *k)
{
    return axe_declare_counters(cx, k, &(axe_counters_for){0});
}

const axe_core_overlap *
axe_core_overlap_plan(axe_planner *p, int n, axe_stmt *const *scope)
{
    axe_core_overlap *o = axe_new(p->cx, axe_core_overlap);

    for (int i = 0; i < p->core->overlap.n; i++) {
        const axe_core_overlap *has = p->core->overlap.item[i];
        if (has->first == scope[0])
            return has;
    }
    *o = (axe_core_overlap){.first = scope[0],
                            .group = axe_overlap_find(p->cx, n, scope),
                            .counters = scope[0]->tensor};
    if (n < 2)
        o->why = "the group has one scope";
    else if (!o->counters)
        o->why = "how many counters there are changes in a launch";
    axe_list_push(&p->core->overlap, o);
    return o;
}

const axe_core_overlap *
axe_core_overlap_of(const axe_plan *p, const axe_stmt *s)
{
    for (int i = 0; i < p->core->overlap.n; i++) {
        const axe_core_overlap *o = p->core->overlap.item[i];
        if (o->first == s && o->counters)
            return o;
    }
    return NULL;
}
