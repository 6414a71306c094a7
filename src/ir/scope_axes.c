/* scope_axes.c - which scopes nest in which, and the axes that count them. */
#include "ir/scope_axes.h"

#include <assert.h>
#include <string.h>

const axe_scope_axis axe_scope_axis_table[AXE_N_SCOPE_AXIS] = {
#define AXIS(name, counts, within)                                             \
    {#name, AXE_SCOPE_##counts, AXE_SCOPE_##within},
#include "ir/scopes.def"
};

const axe_scope_axis *
axe_scope_axis_of(const axe_ctx *cx, axe_axis a)
{
    const char *name = axe_axis_name(cx, a);

    for (int i = 0; i < AXE_N_SCOPE_AXIS; i++)
        if (strcmp(axe_scope_axis_table[i].name, name) == 0)
            return &axe_scope_axis_table[i];
    return NULL;
}

/* A lane is a thread by its number in the warp. */
const char *
axe_scope_axis_name(axe_scope_kind counts, axe_scope_kind within)
{
    counts = counts == AXE_SCOPE_LANE ? AXE_SCOPE_THREAD : counts;
    for (int i = 0; i < AXE_N_SCOPE_AXIS; i++)
        if (axe_scope_axis_table[i].counts == counts &&
            axe_scope_axis_table[i].within == within)
            return axe_scope_axis_table[i].name;
    return NULL;
}

axe_status
axe_scope_axis_find(axe_ctx *cx, axe_scope_kind counts, axe_scope_kind within,
                    axe_axis *out)
{
    const char *name = axe_scope_axis_name(counts, within);

    assert(name);
    return axe_axis_find(cx, AXE_NOWHERE, name, out);
}

/* How many of `inner` the axes that cx knows say that `outer` has; 0: they do
 * not. */
static int64_t
factor_of(const axe_ctx *cx, axe_scope_kind outer, axe_scope_kind inner)
{
    const char *whole = axe_scope_axis_name(inner, AXE_SCOPE_CTA);
    const char *axis = axe_scope_axis_name(outer, AXE_SCOPE_CTA);
    const char *part = axe_scope_axis_name(inner, outer);

    return whole && axis && part ? axe_axis_factor(cx, whole, axis, part) : 0;
}

bool
axe_scope_nests(const axe_ctx *cx, const char *machine, axe_scope_kind outer,
                axe_scope_kind inner, int64_t *count)
{
    static const struct {
        const char    *machine;
        axe_scope_kind outer, inner;
        int64_t        count;
    } nest[] = {
#define NEST(machine, outer, inner, count)                                     \
    {machine, AXE_SCOPE_##outer, AXE_SCOPE_##inner, count},
#include "ir/scopes.def"
    };
    bool found = false;

    for (int i = 0; i < AXE_LEN(nest); i++) {
        size_t  len = strlen(nest[i].machine);
        int64_t factor = factor_of(cx, outer, inner);
        if (nest[i].outer != outer || nest[i].inner != inner ||
            (machine && strncmp(machine, nest[i].machine, len) != 0))
            continue;
        found = true;
        *count = factor > 0 ? factor : nest[i].count;
    }
    return found;
}
