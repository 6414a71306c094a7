/* schedule.c - schedules while planning for one core goes on. */
#include "plan/cpu/cpu.h"

axe_schedule
axe_core_begin(axe_planner *p, const axe_stmt *s)
{
    axe_core_schedule *own = axe_new(p->cx, axe_core_schedule);

    p->core->of[s->id] = own;
    return (axe_schedule){.stmt = s, .core = own};
}

axe_core_schedule *
axe_core_edit(axe_planner *p, const axe_schedule *s)
{
    return p->core->of[s->stmt->id];
}
