/* simt_contract.c - contractions of many threads as atoms. */
#include "lower/simt_int.h"

axe_status
axe_simt_lower_contract(simt_lowering *sl, axe_lblock *b, const axe_schedule *s)
{
    (void)b;
    return axe_fail(sl->lw.cx, s->stmt->at, AXE_EUNSUPPORTED,
                    "contractions are not lowered for %s yet",
                    sl->lw.plan->machine->name);
}
