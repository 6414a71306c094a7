/* simt_copy.c - moves that copy engines make, memory to memory. */
#include "plan/simt_int.h"

bool
axe_simt_copy_plan(planner *p, request *r, axe_schedule *out)
{
    (void)p;
    (void)r;
    (void)out;
    return false;
}
