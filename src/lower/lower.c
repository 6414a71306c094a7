/* lower.c - a plan's statements as code, by the machine's kind. */
#include "lower/cpu/cpu.h"
#include "lower/simt/simt_int.h"

typedef axe_status lower_fn(axe_ctx *cx, const axe_plan *p, axe_lowered *out);

static lower_fn *const lowers[AXE_N_KIND] = {
#define KIND(id, gpu, launches, where, text) axe_##id##_lower,
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
