/* slow.h - warnings of statements that take far longer than the machine needs,
 * but for those that say `slow`. */
#ifndef AXE_PLAN_COST_SLOW_H
#define AXE_PLAN_COST_SLOW_H

#include "plan/plan.h"

enum { AXE_SLOW_MANY = 100 }; /* kernels of more statements are not asked */

typedef enum axe_slow_reason {
#define SLOW(id, why, way) AXE_SLOW_##id,
#include "plan/cost/slow.def"
    AXE_N_SLOW
} axe_slow_reason;

void axe_core_check_slow(axe_ctx *cx, const axe_plan *p);
void axe_simt_check_slow(axe_ctx *cx, const axe_plan *p);

/* slow.c: the warning, with what to write; `what` is the reason's %s. */
void axe_slow_warn(axe_ctx *cx, const axe_schedule *s, const char *lead,
                   axe_slow_reason r, const char *what);
/* An access whose place follows from elements of another tensor? */
bool axe_slow_looks_up(const axe_schedule *s);

#endif
