/* simt_contract.c - operands of contract atoms that many threads issue. */
#include "plan/simt_int.h"

bool
axe_simt_contract_infer(planner *p, const axe_stmt *s)
{
    (void)p;
    (void)s;
    return false;
}

bool
axe_simt_contract_plan(planner *p, request *r, axe_schedule *out)
{
    (void)out;
    axe_rejected(p, r, "contract", "%s has no such plan yet", p->mc->name);
    return false;
}
