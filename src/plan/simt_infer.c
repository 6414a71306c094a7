/* simt_infer.c - layouts of tiles that no contraction gave one. */
#include "plan/simt_int.h"

axe_status
axe_simt_infer(planner *p, const axe_stmt *s)
{
    (void)p;
    (void)s;
    return AXE_OK;
}
