/* levels.c - what the memory levels hold and deliver: the table, and the sizes
 * that Linux tells of the first processor's caches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/levels.h"

typedef struct row {
    const char *machine;
    axe_levels  levels;
} row;

static const row rows[] = {
#define LEVELS(machine, ports, l1, r1, l2, r2, l3, r3, memory, all)            \
    {machine, {ports, {l1, l2, l3, 0}, {r1, r2, r3, memory}, all}},
#include "machine/cpu/levels.def"
};

const char *
axe_level_name(axe_level l)
{
    static const char *const name[] = {"L1", "L2", "L3", "memory"};

    return name[l];
}

static const row *
row_of(const axe_machine *mc)
{
    const row *out = NULL;

    for (int i = 0; i < AXE_LEN(rows); i++)
        if (strncmp(rows[i].machine, mc->name, strlen(rows[i].machine)) == 0)
            out = &rows[i];
    return out;
}

bool
axe_machine_has_levels(const axe_machine *mc)
{
    return row_of(mc) != NULL;
}

axe_levels
axe_machine_levels(const axe_machine *mc)
{
    const row *r = row_of(mc);
    axe_levels out = r ? r->levels : rows[AXE_LEN(rows) - 1].levels;

    out.bytes[AXE_LEVEL_MEMORY] = (double)INFINITY;
    return out;
}

/* The first word of a file of the cache's folder; false if there is none. */
static bool
read_word(int index, const char *what, char word[16])
{
    char  path[96];
    FILE *f;
    bool  ok;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s",
             index, what);
    f = fopen(path, "r");
    ok = f && fscanf(f, "%15s", word) == 1;
    if (f)
        fclose(f);
    return ok;
}

axe_levels
axe_host_levels(const axe_machine *mc)
{
    axe_levels out = axe_machine_levels(mc);
    char       level[16], type[16], size[16];
    int        l, kib;

    for (int i = 0; i < 8 && read_word(i, "level", level); i++)
        if (read_word(i, "type", type) && strcmp(type, "Instruction") != 0 &&
            read_word(i, "size", size) && sscanf(level, "%d", &l) == 1 &&
            sscanf(size, "%dK", &kib) == 1 && l >= 1 && l <= 3 && kib > 0)
            out.bytes[l - 1] = kib * 1024.0;
    return out;
}
