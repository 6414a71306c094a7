/* levels.h - the memory levels of a machine, for estimates. */
#ifndef AXE_MACHINE_LEVELS_H
#define AXE_MACHINE_LEVELS_H

#include "machine/machine.h"

typedef enum axe_level {
    AXE_LEVEL_L1,
    AXE_LEVEL_L2,
    AXE_LEVEL_L3,
    AXE_LEVEL_MEMORY,
    AXE_N_LEVEL
} axe_level;

/* "L1", ..., "memory" */
const char *axe_level_name(axe_level l);

typedef struct axe_levels {
    double ports;              /* vector operations started in a cycle */
    double bytes[AXE_N_LEVEL]; /* that the level holds; memory: infinite */
    double rate[AXE_N_LEVEL];  /* [bytes/cycle] for one core */
    double all;                /* [bytes/cycle] of memory for all cores */
} axe_levels;

bool axe_machine_has_levels(const axe_machine *mc);

/* The table's typical sizes: the same on every host; of a machine that has no
 * levels, whatever. */
axe_levels axe_machine_levels(const axe_machine *mc);

/* The same with this host's cache sizes where the system tells them.
 * Cost: a few small files, read anew at each call. */
axe_levels axe_host_levels(const axe_machine *mc);

#endif
