/* handle.c - is a handle what it is taken for? */
#include "run/handle.h"

static const char *const kind_text[] = {
#define HANDLE(name, text) text,
#include "run/handle.def"
};

axe_status
axe_tag_check(axe_ctx *cx, const char *fn, const char *what, const axe_tag *tag,
              axe_tag kind)
{
    if (!cx || !tag)
        return axe_need_fail(cx, fn, what, 0);
    if (*tag == kind)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%s: %s is not %s, or no longer",
                    fn, what, kind_text[kind - AXE_TAG_NONE - 1]);
}

void
axe_tag_drop(axe_tag *tag)
{
    *(volatile axe_tag *)tag = AXE_TAG_NONE;
}
