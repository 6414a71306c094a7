/* target.c - the row of a machine's language. */
#include "run/target.h"

static const axe_target *const targets[AXE_N_LANGUAGE] = {
#define LANGUAGE(id, here, where, runner, more) &axe_##id##_target,
#include "machine/languages.def"
};

const axe_target *
axe_target_of(const axe_machine *mc)
{
    return targets[mc->language];
}
