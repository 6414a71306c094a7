/* simt_ring.c - stages of pipelines on machines with threads. */
#include "plan/simt_int.h"

axe_status
axe_simt_plan_rings(planner *p)
{
    return axe_plan_rings(p);
}
