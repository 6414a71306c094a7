/* mutant.c - see mutant.h, which is included first in every file. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

static int           now = -2; /* -2: not asked so far; -1: none */
static unsigned char seen[MOST];

static void
tell(void)
{
    const char *dir = getenv("AXE_MUTANT_SEEN");
    char        path[4096];
    FILE       *f;

    snprintf(path, sizeof path, "%s/%ld", dir, (long)getpid());
    f = fopen(path, "w");
    for (int i = 0; i < MOST && f; i++)
        if (seen[i])
            fprintf(f, "%d\n", i);
    if (f)
        fclose(f);
}

_Bool
axe_mutant(int id)
{
    if (now == -2) {
        const char *s = getenv("AXE_MUTANT");
        now = s ? atoi(s) : -1;
        if (getenv("AXE_MUTANT_SEEN"))
            atexit(tell);
    }
    seen[id] = 1;
    return now == id;
}
