/* alike.h - do two layouts have one text? */
#ifndef AXE_LAYOUT_ALIKE_H
#define AXE_LAYOUT_ALIKE_H

#include <axe/layout.h>

/* Are the layouts written alike, iter by iter?  Soon told; maps that are equal
 * may be written differently (axe_layout_equal). */
bool axe_layout_alike(const axe_layout *a, const axe_layout *b);

#endif
