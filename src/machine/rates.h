/* rates.h - how fast a machine with threads is, for estimates. */
#ifndef AXE_MACHINE_RATES_H
#define AXE_MACHINE_RATES_H

#include "machine/machine.h"

/* Schedulers of an SM, each of which issues an instruction a cycle. */
enum { AXE_SCHEDULERS = 4 };

/* How long L2 takes to answer, of what memory takes. */
#define AXE_NEAR_BY 0.3
/* [cycles] from asking shared memory to having it (E). */
#define AXE_IN_SM 30.0

/* As rates.def says. */
typedef struct axe_rates {
    const char *machine;
    double      busy_ghz, memory_gb, l2, wait, launch_us;
    int         parts;
    double      fp32;
    int         threads, ctas;
    int64_t     shared, own;
} axe_rates;

/* Its own, or the machine's row; NULL: it has none. */
const axe_rates *axe_machine_rates(const axe_machine *mc);

#endif
