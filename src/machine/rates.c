/* rates.c - the table. */
#include <string.h>

#include "machine/rates.h"

static const axe_rates rows[] = {
#define RATES(machine, busy, memory, l2, wait, launch, parts, fp32, threads,   \
              ctas, shared, own)                                               \
    {machine, busy, memory,  l2,   wait,   launch,                             \
     parts,   fp32, threads, ctas, shared, own},
#include "machine/nvidia/rates.def"
};

const axe_rates *
axe_machine_rates(const axe_machine *mc)
{
    if (mc->simt && mc->simt->rates)
        return mc->simt->rates;
    for (int i = 0; i < AXE_LEN(rows); i++)
        if (strcmp(rows[i].machine, mc->name) == 0)
            return &rows[i];
    return NULL;
}
