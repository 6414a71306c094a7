/* timeline.h - a timeline while it is made, and as it is drawn. */
#ifndef AXE_VIEW_TIMELINE_H
#define AXE_VIEW_TIMELINE_H

#include "axe/timeline.h"

/* Put a span behind the row's last one, which grows if this goes on with it. */
void view_row_add(axe_ctx *cx, axe_timeline_row *r, axe_timeline_span s);

/* Of [0, cycles) so many equal parts, in each of which the row does what it
 * does for most of it, or nothing; parts that do the same are one. */
void view_row_join(axe_ctx *cx, const axe_timeline_row *r, int64_t cycles,
                   int parts, axe_timeline_row *out);

/* What rows are parts of, and what times are in. */
const char *view_part(const axe_timeline *t);
const char *view_unit(const axe_timeline *t);
/* [us] */
double view_us(const axe_timeline *t, int64_t cycles);

/* "warps 4 to 7", "copies" */
const char *view_row_name(axe_ctx *cx, axe_timeline_row_kind kind, int first,
                          int last);

#endif
