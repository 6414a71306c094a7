/* target.c - the row of a machine's kind. */
#include "run/target.h"

static const axe_target *const targets[AXE_N_KIND] = {
#define KIND(id, gpu, launches, where, text) &axe_##id##_target,
#include "machine/kinds.def"
};

const axe_target *
axe_target_of(const axe_machine *mc)
{
    return targets[mc->kind];
}
