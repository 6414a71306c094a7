/* use.c - is a machine's description whole?  What planning and its estimates
 * ask of a machine must be said of it: nothing is taken from another one. */
#include "axe/machine.h"
#include "ir/scope_axes.h"
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

    if (n < 1 || n > AXE_MAX_LANES || (n & (n - 1)) != 0)
        return is_wrong(cx, mc, "lanes", n, "1, 2, 4, 8, 16, 32 or 64");
    if (m->group < 1)
        return is_wrong(cx, mc, "warps in a warp group", m->group, "1 or more");
    if (m->threads < n || m->threads % n != 0 || m->threads > m->max_threads)
        return is_wrong(cx, mc, "threads of a CTA", m->threads,
                        "whole warps, and no more than there can be");
    if (m->partitions != 0 && m->partitions != m->max_threads)
        return is_wrong(cx, mc, "partitions", m->partitions,
                        "as many as threads of a CTA there can be");
    if (m->banks < 1 || m->bank_bytes < 1)
        return lacks(cx, mc, "banks of shared memory", "give its `banks`");
    if (m->banks > AXE_MAX_BANKS)
        return is_wrong(cx, mc, "banks", m->banks, "64 or fewer");
    if (!axe_machine_rates(mc))
        return lacks(cx, mc, "rates", "give it `rates`, or a row in rates.def");
    return AXE_OK;
}

int
axe_simt_threads_of(const axe_simt *m, axe_scope_kind s)
{
    return s == AXE_SCOPE_WARPGROUP                       ? m->group * m->lanes
           : s == AXE_SCOPE_WARP                          ? m->lanes
           : s == AXE_SCOPE_THREAD || s == AXE_SCOPE_LANE ? 1
                                                          : 0;
}

const axe_space_row *
axe_machine_space(const axe_machine *mc, axe_space s)
{
    bool parts = mc->simt && mc->simt->partitions > 0;

    return parts && axe_space_parts[s].slow ? &axe_space_parts[s]
                                            : &axe_space_table[s];
}

int64_t
axe_machine_room(const axe_machine *mc, axe_space s)
{
    static const int64_t none = INT64_MAX;
    const axe_simt      *m = mc->simt;
    const int64_t        shared_bytes = m ? m->shared_bytes : none;
    const int64_t        tmem_columns = m ? m->tmem_columns : none;
    const int64_t        room[AXE_N_SPACE] = {
#define SPACE(id, word, slow, fast, pitch, operand, owner, field) field,
#include "ir/spaces.def"
    };

    return room[s];
}

/* Does the axis that numbers all of `inner` within something nest of these two
 * as the machine's row says? */
static axe_status
check_nest(axe_ctx *cx, const axe_machine *mc, const axe_scope_axis *outer,
           const axe_scope_axis *inner)
{
    const char *whole = axe_scope_axis_name(inner->counts, outer->within);
    int         n = axe_simt_threads_of(mc->simt, outer->counts);
    int         each = axe_simt_threads_of(mc->simt, inner->counts);
    int64_t     says;

    if (!whole || each == 0)
        return AXE_OK;
    says = axe_axis_factor(cx, whole, outer->name, inner->name);
    if (says == 0 || says == n / each)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "machine %s: its axes say %s = %lld %s + %s, its row %d",
                    mc->name, whole, (long long)says, outer->name, inner->name,
                    n / each);
}

/* What its axes say of its warps is what it says itself. */
static axe_status
check_axes(axe_ctx *cx, const axe_machine *mc)
{
    const axe_scope_axis *a = axe_scope_axis_table;

    for (int i = 0; i < AXE_N_SCOPE_AXIS; i++)
        for (int k = 0; k < AXE_N_SCOPE_AXIS; k++)
            if (a[k].within == a[i].counts)
                AXE_TRY(check_nest(cx, mc, &a[i], &a[k]));
    return AXE_OK;
}

axe_status
axe_machine_use(axe_ctx *cx, const axe_machine *mc)
{
    if (mc->n_atom == 0 && !mc->engines)
        return lacks(cx, mc, "atoms", "give it a table of what it can do");
    if (mc->n_compute == 0)
        return lacks(cx, mc, "types", "give it the types that it can hold");
    if (!axe_machine_own_axes(mc))
        return lacks(cx, mc, "axes", "give it `axes`, or a family that has");
    if (mc->simt)
        AXE_TRY(check_simt(cx, mc, mc->simt));
    else if (!mc->engines && !axe_machine_has_levels(mc))
        return lacks(cx, mc, "rates of its memory levels",
                     "give it a row in levels.def");
    AXE_TRY(axe_axes_use(cx, axe_machine_own_axes(mc)));
    return mc->simt ? check_axes(cx, mc) : AXE_OK;
}
