/* banks.h - what banks of shared memory cost.
 *
 * Shared memory has `banks` banks of `bank_bytes`; bank b holds the words w
 * with w % banks == b.  An access of many lanes goes in phases: as many lanes
 * as together touch no more than one word of each bank, 8 lanes of 16 bytes or
 * 32 of 4.  A phase takes one cycle for each different word that some bank must
 * give; lanes that want the same word share it. */
#ifndef AXE_MOVE_BANKS_H
#define AXE_MOVE_BANKS_H

#include "machine/machine.h"

typedef struct axe_banks {
    int64_t phases; /* cycles without conflicts */
    int64_t cycles; /* cycles as it is */
} axe_banks;

/* One access: each of n lanes touches `bytes` from byte at[i]; bytes divides
 * what all banks give in one cycle, or is a multiple of it.  Exact. */
axe_banks axe_banks_of(const axe_simt *mc, int n, const int64_t *at,
                       int64_t bytes);
void      axe_banks_add(axe_banks *sum, axe_banks b);
/* Cycles for each one that is needed, rounded up; 1: no conflicts. */
int64_t axe_banks_degree(axe_banks b);

#endif
