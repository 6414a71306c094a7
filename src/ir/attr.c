/* attr.c - attributes of index statements. */
#include <inttypes.h>
#include <string.h>

#include "ir/ir.h"

const axe_attr_info axe_attr_table[AXE_N_ATTR] = {
#define NAME AXE_ATTR_NAME
#define ATTR(key, values, least, most, takes, text)                            \
    {#key, values, least, most, takes},
#include "ir/attrs.def"
#undef NAME
};

bool
axe_attr_find(const char *name, axe_attr_key *out)
{
    for (int k = 0; k < AXE_N_ATTR; k++)
        if (strcmp(axe_attr_table[k].name, name) == 0) {
            *out = (axe_attr_key)k;
            return true;
        }
    return false;
}

const axe_attr *
axe_attr_of(const axe_stmt *s, axe_attr_key key)
{
    for (int i = 0; i < s->n_attr; i++)
        if (s->attr[i].key == key)
            return &s->attr[i];
    return NULL;
}

static const axe_attr_key apart[][2] = {
    {AXE_ATTR_stream, AXE_ATTR_no_stream},
    {AXE_ATTR_evict_first, AXE_ATTR_evict_last},
};

axe_status
axe_attr_add(axe_ctx *cx, axe_stmt *s, const axe_attr *a)
{
    const axe_attr_info *info = &axe_attr_table[a->key];
    axe_attr            *all = axe_new_array(cx, axe_attr, s->n_attr + 1);

    if (axe_attr_of(s, a->key))
        return axe_fail(cx, a->at, AXE_ENAME, "`%s` is given twice",
                        info->name);
    for (int i = 0; i < AXE_LEN(apart); i++)
        for (int k = 0; k < 2; k++)
            if (a->key == apart[i][k] && axe_attr_of(s, apart[i][1 - k]))
                return axe_fail(
                    cx, a->at, AXE_ENAME, "`%s` and `%s` exclude one another",
                    axe_attr_table[apart[i][1 - k]].name, info->name);
    for (int i = 0; i < info->n_value; i++)
        if (a->value[i] < info->least || a->value[i] > info->most)
            return axe_fail(cx, a->at, AXE_ESHAPE,
                            "`%s` is from %d to %d, not %" PRId64, info->name,
                            info->least, info->most, a->value[i]);
    if (s->n_attr > 0)
        memcpy(all, s->attr, (size_t)s->n_attr * sizeof *all);
    all[s->n_attr++] = *a;
    s->attr = all;
    return AXE_OK;
}

void
axe_attrs_print(axe_buf *out, const axe_stmt *s)
{
    for (int i = 0; i < s->n_attr; i++) {
        const axe_attr *a = &s->attr[i];
        int             n = axe_attr_table[a->key].n_value;
        axe_putf(out, " %s", axe_attr_table[a->key].name);
        if (n == 1)
            axe_putf(out, " = %" PRId64, a->value[0]);
        if (n == 2)
            axe_putf(out, " = (%" PRId64 ", %" PRId64 ")", a->value[0],
                     a->value[1]);
    }
}
