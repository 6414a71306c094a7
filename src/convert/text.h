/* text.h - what the readers of foreign notations share.
 *
 * A reader is layout/scan.h's: text, place, source.  `format` begins every
 * message: "cute: expected ...". */
#ifndef AXE_CONVERT_TEXT_H
#define AXE_CONVERT_TEXT_H

#include "base/json.h"
#include "layout/scan.h"

/* The text registered as a source of that name, to be read from its start. */
axe_reader axe_cv_open(axe_ctx *cx, const char *format, const char *text);

/* Report what stands here instead of `what`. */
axe_status axe_cv_expected(axe_reader *r, const char *format, const char *what);
/* "shape" or "mesh", which the format needs and nobody gave. */
axe_status axe_cv_need_option(axe_ctx *cx, const char *format,
                              const char *option);

/* Take `c`, or report that it was expected. */
AXE_CHECK axe_status axe_cv_need(axe_reader *r, const char *format, char c);

/* [ "-" ] digits.  ESYNTAX, EOVERFLOW. */
AXE_CHECK axe_status axe_cv_int(axe_reader *r, const char *format,
                                const char *what, int64_t *out);

/* Nothing but blanks is left. */
AXE_CHECK axe_status axe_cv_end(axe_reader *r, const char *format);

/* open [ int { "," int } [ "," ] ] close, at most `most` of them. */
enum { AXE_CV_RANK = 64 };
AXE_CHECK axe_status axe_cv_ints(axe_reader *r, const char *format, char open,
                                 char close, int64_t out[AXE_CV_RANK], int *n);

/* The axis of that name, declared of that kind if cx has none such. */
AXE_CHECK axe_status axe_cv_axis(axe_ctx *cx, const char *name,
                                 axe_axis_kind kind, axe_axis *out);

/* The names of a list "a,b,c", each trimmed; ESYNTAX if one is no name. */
AXE_CHECK axe_status axe_cv_names(axe_ctx *cx, const char *format,
                                  const char *list, int *n, const char ***out);

/* A value behind *last of a list or object, and become *last. */
axe_json *axe_cv_add(axe_ctx *cx, axe_json *parent, axe_json **last,
                     axe_json v);

/* "(2, 3)" of n integers. */
void axe_cv_put_ints(axe_buf *b, const char *open, int n, const int64_t *v,
                     const char *close);

#endif
