/* canvas.h - pictures as SVG: lines, grids and their colours.
 *
 * Integer coordinates only, the same bytes always, nothing from elsewhere. */
#ifndef AXE_VIEW_CANVAS_H
#define AXE_VIEW_CANVAS_H

#include "axe/base.h"

enum {
    VIEW_MARGIN = 24,
    VIEW_HEAD = 36, /* left of a grid */
    VIEW_LINE = 13, /* of small text */
    VIEW_CHAR = 6   /* width of a small letter */
};

/* What is drawn so far, and how far down. */
typedef struct view_canvas {
    axe_buf *out;
    int      y, right; /* next free line; right edge */
} view_canvas;

/* anchor: "start", "middle" or "end" of the text is at x. */
void view_put_text(view_canvas *c, int x, int y, const char *class,
                   const char *anchor, const char *s);
void view_put_rect(view_canvas *c, int x, int y, int w, int h,
                   const char *class, const char *fill);
/* A line of text at the left, below what is there. */
void view_put_line(view_canvas *c, const char *class, const char *s);

/* The k-th of n light colours, from amber by green and blue to rose. */
const char *view_color(axe_ctx *cx, int64_t k, int64_t n);

/* The whole file. */
void view_canvas_end(const view_canvas *c, const char *title, axe_buf *out);

#endif
