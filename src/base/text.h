/* text.h - formatting into the arena, for the files of this room. */
#ifndef AXE_TEXT_H
#define AXE_TEXT_H

#include <stdarg.h>

#include "axe/base.h"

char *axe_vtextf(axe_ctx *cx, const char *fmt, va_list ap) AXE_PRINTF(2, 0);

#endif
