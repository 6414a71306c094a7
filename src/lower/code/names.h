/* names.h - names that are in use, each with a number that makes others. */
#ifndef AXE_LOWER_CODE_NAMES_H
#define AXE_LOWER_CODE_NAMES_H

#include "axe/base.h"

typedef struct axe_used_name {
    const char *text; /* interned; NULL: a free place */
    int         next; /* text_1 to text_(next - 1) are in use */
} axe_used_name;

/* Begin with zeros. */
typedef struct axe_used_names {
    int            n, cap;
    axe_used_name *slot; /* open addressing */
} axe_used_names;

/* The name, or else the first of name_1, name_2, ..., that is not in use; it is
 * from now on.
 * Cost   of one name, however many there are */
const char *axe_use_name(axe_ctx *cx, axe_used_names *used, const char *name);

#endif
