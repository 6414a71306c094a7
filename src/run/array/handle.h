/* handle.h - is a handle what it is taken for, and is it this process's? */
#ifndef AXE_RUN_ARRAY_HANDLE_H
#define AXE_RUN_ARRAY_HANDLE_H

#include "axe/gpu.h"
#include "base/ctx.h"

/* What a handle begins with while it is one: far from small numbers, so that
 * little else looks like it. */
typedef enum axe_tag {
    AXE_TAG_NONE = 0x4178e000,
#define HANDLE(name, text) AXE_TAG_##name,
#include "run/array/handle.def"
} axe_tag;

/* Does the handle `what` of fn, which begins with the tag, exist and is of this
 * kind?  What was freed is told as far as its memory still says so.
 * tag    NULL: there is no handle
 * Errors  EARG */
AXE_CHECK axe_status axe_tag_check(axe_ctx *cx, const char *fn,
                                   const char *what, const axe_tag *tag,
                                   axe_tag kind);
/* The same of the caller's argument h. */
#define AXE_NEED_TAG(cx, h, kind)                                              \
    AXE_TRY(axe_tag_check((cx), __func__, #h, (h) ? &(h)->tag : NULL,          \
                          AXE_TAG_##kind))
/* Before a handle's memory is freed; compilers keep it. */
void axe_tag_drop(axe_tag *tag);

/* How often this process and those before it were forked.  Threads and the
 * contexts of GPUs belong to one process. */
unsigned axe_forks(void);
/* EDEVICE: a device made at `forks` belongs to another process. */
AXE_CHECK axe_status axe_forks_check(axe_ctx *cx, unsigned forks);

/* Is the argument g, or d, of fn one of this process?
 * Errors  EARG, EDEVICE */
AXE_CHECK axe_status axe_gpu_check(axe_ctx *cx, const char *fn,
                                   const axe_gpu *g);
AXE_CHECK axe_status axe_device_check(axe_ctx *cx, const char *fn,
                                      const axe_device *d);

#endif
