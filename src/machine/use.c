/* use.c - is a machine's description whole?  What planning and its estimates
 * ask of a machine must be said of it: nothing is taken from another one. */
#include "axe/machine.h"
#include "machine/levels.h"
#include "machine/machine.h"
#include "machine/rates.h"

static axe_status
lacks(axe_ctx *cx, const axe_machine *mc, const char *what, const char *where)
{
    axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED, "machine %s has no %s",
             mc->name, what);
    axe_help(cx, "%s", where);
    return AXE_EUNSUPPORTED;
}

static axe_status
is_wrong(axe_ctx *cx, const axe_machine *mc, const char *what, int64_t n,
         const char *must)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "machine %s has %lld %s; it must be %s", mc->name,
                    (long long)n, what, must);
}

static axe_status
check_simt(axe_ctx *cx, const axe_machine *mc, const axe_simt *m)
{
    int n = m->lanes;

    if (n < 2 || n > AXE_MAX_LANES || (n & (n - 1)) != 0)
        return is_wrong(cx, mc, "lanes", n, "2, 4, 8, 16, 32 or 64");
    if (m->group < 1)
        return is_wrong(cx, mc, "warps in a warp group", m->group, "1 or more");
    if (m->threads < n || m->threads % n != 0 || m->threads > m->max_threads)
        return is_wrong(cx, mc, "threads of a CTA", m->threads,
                        "whole warps, and no more than there can be");
    if (m->banks < 1 || m->bank_bytes < 1)
        return lacks(cx, mc, "banks of shared memory", "give its `banks`");
    if (!axe_machine_rates(mc))
        return lacks(cx, mc, "rates", "give it `rates`, or a row in rates.def");
    return AXE_OK;
}

/* What its axes say of its warps is what it says itself. */
static axe_status
check_axes(axe_ctx *cx, const axe_machine *mc, const axe_simt *m)
{
    const struct {
        const char *whole, *outer, *inner;
        int64_t     own;
    } says[] = {{"thread", "warp", "lane", m->lanes},
                {"warp", "warpgroup", "wid", m->group},
                {"thread", "warpgroup", "tid", (int64_t)m->lanes * m->group}};

    for (int i = 0; i < AXE_LEN(says); i++) {
        int64_t n =
            axe_axis_factor(cx, says[i].whole, says[i].outer, says[i].inner);
        if (n != 0 && n != says[i].own)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "machine %s: its axes say %s = %lld %s + %s, its "
                            "row %lld",
                            mc->name, says[i].whole, (long long)n,
                            says[i].outer, says[i].inner,
                            (long long)says[i].own);
    }
    return AXE_OK;
}

axe_status
axe_machine_use(axe_ctx *cx, const axe_machine *mc)
{
    if (mc->n_atom == 0)
        return lacks(cx, mc, "atoms", "give it a table of what it can do");
    if (mc->n_compute == 0)
        return lacks(cx, mc, "types", "give it the types that it can hold");
    if (!axe_machine_own_axes(mc))
        return lacks(cx, mc, "axes", "give it `axes`, or a family that has");
    if (mc->simt)
        AXE_TRY(check_simt(cx, mc, mc->simt));
    else if (!axe_machine_has_levels(mc))
        return lacks(cx, mc, "rates of its memory levels",
                     "give it a row in levels.def");
    AXE_TRY(axe_axes_load(cx, axe_machine_own_axes(mc)));
    return mc->simt ? check_axes(cx, mc, mc->simt) : AXE_OK;
}
