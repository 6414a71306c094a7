/* planned.h - from a text to its kernel, and to the plan for a machine. */
#ifndef PLANNED_H
#define PLANNED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "plan/plan.h"

/* The text's kernel, verified. */
static inline axe_status
kernel_of(axe_ctx *cx, const char *text, const axe_machine *mc,
          const axe_kernel **k)
{
    int32_t           source = axe_source_add(cx, "t.axe", text, strlen(text));
    axe_inst          inst = {.machine = mc->family};
    const axe_module *m;

    AXE_TRY(axe_module_parse(cx, source, &m));
    AXE_TRY(axe_module_instantiate(cx, m, &inst, k));
    return axe_kernel_verify(cx, *k);
}

static inline axe_status
plan_on(axe_ctx *cx, const char *text, const axe_machine *mc,
        const axe_plan **p)
{
    const axe_kernel *k;

    AXE_TRY(kernel_of(cx, text, mc, &k));
    return axe_plan_kernel(cx, k, mc, p);
}

/* The same for the machine of that name. */
static inline axe_status
plan_for(axe_ctx *cx, const char *text, const char *machine, const axe_plan **p)
{
    const axe_machine *mc;

    AXE_TRY(axe_machine_find(cx, machine, &mc));
    return plan_on(cx, text, mc, p);
}

/* The schedule of the plan's first contraction. */
static inline const axe_schedule *
contraction(const axe_plan *p)
{
    for (int i = 0; i < p->n_schedule; i++)
        if (p->schedule[i]->kind == AXE_SCHED_CONTRACT)
            return p->schedule[i];
    fail_msg("no statement is a contraction");
    return NULL;
}

#endif
