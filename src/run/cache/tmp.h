/* tmp.h - the private directory of a cache. */
#ifndef AXE_RUN_CACHE_TMP_H
#define AXE_RUN_CACHE_TMP_H

#include "run/cache/cache.h"

/* c->tmp.
 * Errors  EIO */
AXE_CHECK axe_status axe_cache_need_tmp(axe_ctx *cx, axe_cache *c);
/* The number of the next pair of files NUMBER.c and NUMBER.so there. */
int axe_cache_tmp_next(axe_cache *c);
/* Remove them before the end. */
void axe_cache_tmp_drop(axe_cache *c, int number);

#endif
