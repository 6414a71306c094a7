/* share.h - of the longest lists of runs, the sanitizers see a share; of the
 * kernels that a C compiler compiles, few are optimised. */
#ifndef SHARE_H
#define SHARE_H

#include <stdio.h>
#include <stdlib.h>

/* Every how many of a list is run: AXE_SHARE, else 1. */
static inline int
share(void)
{
    const char *s = getenv("AXE_SHARE");
    int         n = s ? atoi(s) : 1;

    return n > 0 ? n : 1;
}

/* Kernel i of a list: every fourth is compiled as users' are, the others without
 * optimising, which takes a third of the time. */
static inline void
choose_cc(int i)
{
    const char *cc = getenv("CC");
    char        with[256];

    snprintf(with, sizeof with, "%s -O0", cc ? cc : "gcc");
    if (i % 4 == 0)
        unsetenv("AXE_CC");
    else
        setenv("AXE_CC", with, 1);
}

#endif
