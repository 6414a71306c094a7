/* names.c - names that are in use, found by the addresses of their one copy. */
#include <string.h>

#include "lower/code/names.h"

static axe_used_name *
place_of(const axe_used_names *used, const char *text)
{
    size_t mask = (size_t)used->cap - 1;
    size_t at = (size_t)(uintptr_t)text / 16 * 0x9e3779b1u;

    while (used->slot[at & mask].text && used->slot[at & mask].text != text)
        at++;
    return &used->slot[at & mask];
}

static void
grow(axe_ctx *cx, axe_used_names *used)
{
    axe_used_names more = {used->n, used->cap ? 2 * used->cap : 64, NULL};

    more.slot = axe_new_array(cx, axe_used_name, more.cap);
    for (int i = 0; i < used->cap; i++)
        if (used->slot[i].text)
            *place_of(&more, used->slot[i].text) = used->slot[i];
    *used = more;
}

/* False if it is in use already. */
static bool
use(axe_ctx *cx, axe_used_names *used, const char *text)
{
    axe_used_name *place;

    if (2 * (used->n + 1) > used->cap)
        grow(cx, used);
    place = place_of(used, text);
    if (place->text)
        return false;
    *place = (axe_used_name){text, 1};
    used->n++;
    return true;
}

const char *
axe_use_name(axe_ctx *cx, axe_used_names *used, const char *name)
{
    const char *base = axe_intern(cx, name, strlen(name)), *out = base;
    int         n;

    if (use(cx, used, base))
        return base;
    for (n = place_of(used, base)->next; out == base; n++) {
        const char *text = axe_textf(cx, "%s_%d", base, n);
        text = axe_intern(cx, text, strlen(text));
        out = use(cx, used, text) ? text : base;
    }
    place_of(used, base)->next = n;
    return out;
}
