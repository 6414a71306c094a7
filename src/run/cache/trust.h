/* trust.h - files whose content is executed: only the user's own, in folders
 * that are the user's own and that nobody else can write to. */
#ifndef AXE_RUN_CACHE_TRUST_H
#define AXE_RUN_CACHE_TRUST_H

#include <stdbool.h>

/* Why nothing in this folder may be trusted; NULL if it may.  The folders above
 * count, too: they may be the system's, and shared ones if they are sticky. */
const char *axe_distrust(const char *dir);

/* Why nothing in dir/folder may be, right now; NULL: it may. */
const char *axe_distrust_inner(const char *dir, const char *folder);

/* Open dir/folder/name for reading; what was opened is a regular file that may
 * be trusted, and neither links nor pipes are waited for.  -1 with *why, or
 * with NULL where there is no such file. */
int axe_trust_open(const char *dir, const char *folder, const char *name,
                   const char **why);

#endif
