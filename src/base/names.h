/* names.h - names of a kernel's in text that a compiler of C reads. */
#ifndef AXE_NAMES_H
#define AXE_NAMES_H

#include "axe/base.h"

/* The name, or with an underscore behind it where C, C++, POSIX or our own text
 * on a host have it already; so have names that begin with an underscore, axe_
 * or a driver's prefix. */
const char *axe_host_name(axe_ctx *cx, const char *name);

/* The same in text for a device: where CUDA C, OpenCL C or our text there have
 * it, too.  One for all dialects, since a host asks a driver by it. */
const char *axe_device_name(axe_ctx *cx, const char *name);

#endif
