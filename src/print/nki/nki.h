/* nki.h - traces of Trainium's engines as Python for NKI. */
#ifndef AXE_PRINT_NKI_NKI_H
#define AXE_PRINT_NKI_NKI_H

#include "lower/lower.h"

/* The subset of `nki` that SDK 2.29 to 2.32 take: results are the first
 * argument, ranges of Python, slices, and patterns (`ap`) where those do not
 * say it.  first: the first dialect instead, `neuronxcc.nki` 0.1, where results
 * are assigned and NKI places tiles.
 * Errors  EUNSUPPORTED: of the first dialect, tiles of several banks, f8e4m3 */
AXE_CHECK axe_status axe_print_nki(axe_ctx *cx, const axe_lowered *l,
                                   bool first, axe_buf *out);

#endif
