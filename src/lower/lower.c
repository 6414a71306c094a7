/* lower.c - a plan's statements as code, by the machine's kind. */
#include "lower/cpu/cpu.h"
#include "lower/simt/simt_int.h"
#include "lower/systolic/systolic.h"

typedef axe_status lower_fn(axe_ctx *cx, const axe_plan *p, axe_lowered *out);

static lower_fn *const lowers[AXE_N_KIND] = {
#define KIND(id, launches, text) axe_##id##_lower,
#include "machine/kinds.def"
};

axe_status
axe_lower(axe_ctx *cx, const axe_plan *p, const axe_lowered **out)
{
    axe_lowered *l = axe_new(cx, axe_lowered);

    AXE_TRY(lowers[p->machine->kind](cx, p, l));
    *out = l;
    return AXE_OK;
}

axe_status
axe_grid_need_fail(axe_ctx *cx, const axe_grid *g, const axe_need *need)
{
    axe_fail(cx, need->at, AXE_ESHAPE, "a launch of %s needs %s: %s", g->name,
             axe_node_text(cx, need->when), need->why);
    if (need->help)
        axe_help(cx, "%s", need->help);
    return AXE_ESHAPE;
}
