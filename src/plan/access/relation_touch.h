/* relation_touch.h - what a scope of a group touches, and in which windows. */
#ifndef AXE_PLAN_ACCESS_RELATION_TOUCH_H
#define AXE_PLAN_ACCESS_RELATION_TOUCH_H

#include "plan/access/relation.h"

/* A subscript: a sum of variables of the scope, of sizes and of loops around
 * it, and of what runs inside, which adds lo to hi. */
typedef struct axe_touch_window {
    bool       known;
    axe_affine at; /* without what runs inside; its constant is 0 */
    int64_t    lo, hi;
    const axe_relation_read *read; /* it is the value; or NULL */
} axe_touch_window;

typedef struct axe_touch {
    const axe_stmt         *stmt;
    const axe_node         *load;
    bool                    writes;
    const axe_touch_window *dim; /* [rank] */
} axe_touch;

/* const axe_touch *: the scope's accesses to global tensors.
 * written  const axe_tensor *: by scopes of the group
 * reads    const axe_relation_read *: of the group, which grows */
axe_list axe_touches_of(axe_ctx *cx, const axe_stmt *scope,
                        const axe_list *written, axe_list *reads);
/* const axe_tensor *: what scopes write, added to out. */
void axe_touch_written(axe_list *out, int n, axe_stmt *const *body);

#endif
