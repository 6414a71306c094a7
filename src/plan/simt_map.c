/* simt_map.c - moves, elementwise, reductions of many threads. */
#include "plan/simt_int.h"

axe_status
axe_simt_map_plan(planner *p, request *r, axe_schedule *out)
{
    (void)out;
    return axe_fail(p->cx, r->stmt->at, AXE_EUNSUPPORTED,
                    "%s has no plan for this statement yet", p->mc->name);
}
