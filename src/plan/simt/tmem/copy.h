/* copy.h - tiles from shared to tensor memory.
 *
 * A thread asks for such a copy as it asks for products, and what it asks for
 * next comes behind it: no thread waits in between. */
#ifndef AXE_PLAN_SIMT_TMEM_COPY_H
#define AXE_PLAN_SIMT_TMEM_COPY_H

#include "plan/simt/simt.h"

struct axe_simt_tcopy {
    const axe_atom *atom;
    int             param;
    uint64_t        desc;      /* of what an invocation reads, as in axe_arg */
    int             n;         /* invocations */
    const int64_t  *to, *from; /* [elements] where each writes and reads */
    int64_t         n_proved;  /* elements shown to go where they should */
};

#endif
