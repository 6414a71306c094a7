/* check.c - all that is checked of a whole kernel. */
#include "ir/check.h"

typedef axe_status check(axe_ctx *cx, const axe_kernel *k);

axe_status
axe_kernel_check(axe_ctx *cx, const axe_kernel *k)
{
    static check *const all[] = {axe_check_races, axe_check_tiles,
                                 axe_check_roles, axe_check_clusters,
                                 axe_check_cores};
    axe_status          first = AXE_OK;

    for (int i = 0; i < AXE_LEN(all); i++) {
        axe_status st = all[i](cx, k);
        first = first == AXE_OK ? st : first;
    }
    axe_check_dead(cx, k);
    return first;
}
