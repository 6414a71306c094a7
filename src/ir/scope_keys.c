/* scope_keys.c - what is said of a scope beside its ranges. */
#include <inttypes.h>

#include "ir/ir.h"

enum {
    CTA = 1 << AXE_SCOPE_CTA,
    ENTITY = CTA | 1 << AXE_SCOPE_WARPGROUP | 1 << AXE_SCOPE_WARP |
             1 << AXE_SCOPE_THREAD
};

const axe_scope_key_info axe_scope_key_table[AXE_N_SCOPE_KEY] = {
#define KEY(name, least, most, step, scopes, text)                             \
    {#name, least, most, step, scopes, text},
#include "ir/scope_keys.def"
};

static int *
place_of(axe_scope_keys *s, axe_scope_key key)
{
    int *const place[] = {
#define KEY(name, least, most, step, scopes, text) &s->name,
#include "ir/scope_keys.def"
    };

    return place[key];
}

axe_status
axe_cluster_axis(axe_ctx *cx, axe_axis *out)
{
    return axe_axis_declare(cx, axe_scope_name(AXE_SCOPE_CTA), AXE_KIND_THREAD,
                            out);
}

int
axe_scope_key_get(const axe_scope_keys *s, axe_scope_key key)
{
    axe_scope_keys copy = *s;

    return *place_of(&copy, key);
}

axe_status
axe_scope_key_set(axe_ctx *cx, axe_span at, axe_scope_kind scope,
                  axe_scope_key key, int64_t value, axe_scope_keys *s)
{
    const axe_scope_key_info *info = &axe_scope_key_table[key];

    if (!(info->scopes & 1u << scope))
        return axe_fail(cx, at, AXE_EUNSUPPORTED,
                        "a scope `%s` has no `%s` (%s)", axe_scope_name(scope),
                        info->name, info->text);
    if (value < info->least || value > info->most ||
        (value - info->least) % info->step != 0)
        return axe_fail(
            cx, at, AXE_ESHAPE,
            "`%s` is from %d to %d%s, not "
            "%" PRId64,
            info->name, info->least, info->most,
            info->step == 1 ? "" : axe_textf(cx, " in steps of %d", info->step),
            value);
    *place_of(s, key) = (int)value;
    return AXE_OK;
}
