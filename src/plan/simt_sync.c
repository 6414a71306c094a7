/* simt_sync.c - where threads must wait for one another. */
#include "plan/simt_int.h"

void
axe_simt_plan_sync(planner *p)
{
    (void)p;
}
