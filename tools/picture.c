/* picture.c - timelines as files. */
#include <string.h>

#include "axe.h"
#include "axe/timeline.h"

/* By how a file's name ends. */
static const struct picture {
    const char *end;
    void (*draw)(axe_ctx *cx, const axe_timeline *t, axe_buf *out);
} pictures[] = {{".svg", axe_timeline_svg}, {".json", axe_timeline_trace}};

static const struct picture *
picture_of(const char *path)
{
    const char *end = strrchr(path, '.');

    for (int i = 0; end && i < AXE_LEN(pictures); i++)
        if (strcmp(end, pictures[i].end) == 0)
            return &pictures[i];
    return NULL;
}

int
axe_tool_check_picture(const char *verb, const char *path)
{
    if (picture_of(path))
        return AXE_EXIT_OK;
    return axe_tool_usage(verb,
                          "--timeline %s: a name that ends in .svg, a picture, "
                          "or .json, trace events",
                          path);
}

axe_status
axe_tool_picture(axe_ctx *cx, const char *path, const axe_timeline *t)
{
    axe_buf b = {.cx = cx};

    picture_of(path)->draw(cx, t, &b);
    return axe_tool_write(cx, path, b.text, b.len);
}
