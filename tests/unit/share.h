/* share.h - of the longest lists of runs, the sanitizers see a share. */
#ifndef SHARE_H
#define SHARE_H

#include <stdlib.h>

/* Every how many of a list is run: AXE_SHARE, else 1. */
static inline int
share(void)
{
    const char *s = getenv("AXE_SHARE");
    int         n = s ? atoi(s) : 1;

    return n > 0 ? n : 1;
}

#endif
