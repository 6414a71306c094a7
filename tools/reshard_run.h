/* reshard_run.h - a plan carried out by `axe reshard --run`. */
#ifndef AXE_TOOL_RESHARD_RUN_H
#define AXE_TOOL_RESHARD_RUN_H

#include "axe.h"
#include "axe/engine.h"

typedef struct reshard_run {
    const char *engine, *type; /* NULL: the launcher's; f32, or by bits */
    int64_t     timeout_ms;
    bool        json;
    bool       *quiet; /* set: another process of the job reports */
} reshard_run;

/* Bits of an element of a type by its name; 32 where it has none that is run.
 */
int axe_tool_reshard_bits(const char *type);

AXE_CHECK axe_status axe_tool_reshard_run(axe_ctx                *cx,
                                          const axe_reshard_plan *p,
                                          const reshard_run      *opt);

#endif
