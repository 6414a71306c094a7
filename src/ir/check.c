/* check.c - all that is checked of a whole kernel. */
#include "ir/check.h"

axe_status
axe_kernel_check(axe_ctx *cx, const axe_kernel *k)
{
    axe_status race = axe_check_races(cx, k);
    axe_status tile = axe_check_tiles(cx, k);

    axe_check_dead(cx, k);
    return race != AXE_OK ? race : tile;
}
