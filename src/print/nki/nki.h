/* nki.h - traces of Trainium's engines as Python for NKI. */
#ifndef AXE_PRINT_NKI_NKI_H
#define AXE_PRINT_NKI_NKI_H

#include "lower/lower.h"

/* The subset of `nki` that SDK 2.29 to 2.32 take: results are the first
 * argument, ranges of Python, slices, and patterns (`ap`) where those do not
 * say it.
 * Errors  EUNSUPPORTED: a size that no argument's shape tells */
AXE_CHECK axe_status axe_print_nki(axe_ctx *cx, const axe_lowered *l,
                                   axe_buf *out);

#endif
