/* ctx.h - what rooms may keep in a context.
 *
 * A room that needs state per ctx (axis table, units) owns one slot: a pointer
 * it sets once, to memory of the *permanent* arena, which a release to a mark
 * does not touch. */
#ifndef AXE_CTX_H
#define AXE_CTX_H

#include "axe/base.h"

typedef enum axe_slot {
    AXE_SLOT_AXES,
    AXE_SLOT_UNITS,
    AXE_SLOT_ATOMS,
    AXE_N_SLOT
} axe_slot;

void **axe_ctx_slot(axe_ctx *cx, axe_slot s);
void  *axe_ctx_slot_get(const axe_ctx *cx, axe_slot s);

/* Zeroed memory that no mark gives back. */
void *axe_alloc_forever(axe_ctx *cx, size_t n_bytes);

/* For public functions: return EARG, and say what of it is missing, unless the
 * pointer p is there; unless p, an array, holds n, at least 0, or n is 0. */
#define AXE_NEED(cx, p)                                                        \
    do {                                                                       \
        if (!(cx) || !(p))                                                     \
            return axe_need_fail((cx), __func__, #p, 0);                       \
    } while (0)
#define AXE_NEED_ALL(cx, n, p)                                                 \
    do {                                                                       \
        if (!(cx) || (n) < 0 || ((n) > 0 && !(p)))                             \
            return axe_need_fail((cx), __func__, #p, (n));                     \
    } while (0)
axe_status axe_need_fail(axe_ctx *cx, const char *fn, const char *what,
                         int64_t n);

/* A hash of bytes: FNV-1a, 64 bits. */
uint64_t axe_text_hash(const char *text, size_t len);

/* The text of a source; "" for an unknown one. */
const char *axe_source_text(const axe_ctx *cx, int32_t source, size_t *len);

#endif
