/* target.c - the row of a machine's kind. */
#include "plan/target.h"

static const axe_plan_target *const targets[AXE_N_KIND] = {
#define KIND(id, launches, text) &axe_##id##_plan_target,
#include "machine/kinds.def"
};

const axe_plan_target *
axe_plan_target_of(const axe_machine *mc)
{
    return targets[mc->kind];
}
