/* watch.h - a limit on a call of a library that does not return, and cannot be
 * asked to. */
#ifndef AXE_ENGINE_WATCH_H
#define AXE_ENGINE_WATCH_H

#include "axe/base.h"

typedef struct engine_watch engine_watch;

/* Unless it is freed before, this process ends in `ms`: it writes the text, all
 * of it with its newline, to standard error, and has status 1.
 * once  a name that other processes of this host give, too: about one second
 *       long one of them writes its text, and the others end without
 * Errors  EIO: no thread */
AXE_CHECK axe_status engine_watch_new(axe_ctx *cx, int64_t ms, const char *text,
                                      const char *once, engine_watch **out);
/* Behind this nothing of it is there. */
void engine_watch_free(engine_watch *w);

#endif
