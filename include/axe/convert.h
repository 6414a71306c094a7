/* convert.h - layouts of other systems to Axe's and back: text in, a layout
 * out, and a layout in, text out, for each format.
 *
 *     axe_convert_read(cx, "cute", "((2,4),8):((1,16),2)", &opt, &layout);
 *     axe_convert_write(cx, "numpy", layout, NULL, &text);
 *
 * A conversion is exact, or refused with the place in the text, or with an
 * element for which there is no answer; nothing is approximated.  The formats
 * are the rows of src/convert/formats.def; docs/convert.md has the form of
 * each. The algebras of CuTe and of Triton, and what each device owns under a
 * sharding, are operations of axe/eval.h (axe_machine_ops has them too).
 */
#ifndef AXE_CONVERT_H
#define AXE_CONVERT_H

#include "axe/eval.h"
#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stays equal where two systems count the elements of a tensor in
 * different orders: CuTe's linear index runs down the first mode, Axe's along
 * the last dimension. */
typedef enum axe_keep {
    AXE_KEEP_UNSAID,     /* refused where it matters */
    AXE_KEEP_INDEX,      /* the linear index: one dim */
    AXE_KEEP_COORDINATES /* the coordinates: a dim for each mode */
} axe_keep;

/* All zero: nothing is said.  A format takes those that its row names, and
 * refuses others. */
typedef struct axe_convert_options {
    axe_keep    keep;
    axe_shape   shape; /* of the tensor or tile; n 0: as the text has it */
    const char *mesh;  /* devices: "2,4", or by name "x=2,y=4" */
    const char *axes;  /* names of Axe's axes: "TLane,TCol", "lane,warp;reg" */
    int         bits;  /* of an element */
} axe_convert_options;

/* The layout that a text of the format means.  opt may be NULL.
 * Errors  ENAME: no such format.  ESYNTAX with the place in `text`, EARG for an
 *         option that is missing or not one of the format, ESHAPE or
 *         EUNSUPPORTED where no layout is what the text says. */
AXE_CHECK axe_status axe_convert_read(axe_ctx *cx, const char *format,
                                      const char                *text,
                                      const axe_convert_options *opt,
                                      const axe_layout         **out);

/* The text of the format that means l; reading it, with the same options, gives
 * an equal layout, but for names of axes that the text has no place for: `axes`
 * says them.  ESHAPE or EUNSUPPORTED, with the iter or the element, where
 * there is none; else as axe_convert_read. */
AXE_CHECK axe_status axe_convert_write(axe_ctx *cx, const char *format,
                                       const axe_layout          *l,
                                       const axe_convert_options *opt,
                                       const char               **text);

/* A format and what it takes; `options` are names, blank-separated. */
typedef struct axe_format_row {
    const char *name, *options, *what;
    bool        reads, writes;
} axe_format_row;

const axe_format_row *axe_formats(int *n);

/* Of `opt` what the format takes, so that one set of options serves both sides
 * of a conversion; nothing if there is no such format. */
axe_convert_options axe_convert_taken(const axe_convert_options *opt,
                                      const char                *format);

/* The operations of `axe eval` on the layouts of other systems; their rows are
 * src/convert/ops.def. */
const axe_eval_ops *axe_convert_ops(void);

#ifdef __cplusplus
}
#endif
#endif
