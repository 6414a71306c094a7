/* json.h - layouts, shapes and iters as JSON.
 *
 *     layout   {"D": [iter...], "R": [iter...], "O": {"axis": offset...}}
 *              {"swizzle": swizzle, "tile": layout}     or its text notation
 *     iter     [extent, stride, "axis"]      [extent, stride, "axis", "unit"]
 *     offset   k                             [[k, "unit"]...]
 *     swizzle  {"per_element": base, "swizzle_len": bits, "atom_len": |shift|,
 *               "inner": shift > 0, "unit_bits": 8}
 *
 * R and O may be left out when empty, as unit_bits when 0; "unit" is a product
 * of sizes known at run time, "K*M".  JSON layouts carry no dims: operations
 * take shapes.  `what` names the value in diagnostics ("inner").
 */
#ifndef AXE_LAYOUT_JSON_H
#define AXE_LAYOUT_JSON_H

#include "axe/layout.h"
#include "base/json.h"

/* Errors  EARG: the value has not this form; else those of axe_layout_make,
 *         axe_layout_read and axe_axis_find. */
AXE_CHECK axe_status axe_json_to_layout(axe_ctx *cx, const axe_json *v,
                                        const char        *what,
                                        const axe_layout **out);
AXE_CHECK axe_status axe_json_to_swizzle(axe_ctx *cx, const axe_json *v,
                                         const char *what, axe_swizzle *out);
AXE_CHECK axe_status axe_json_to_iter(axe_ctx *cx, const axe_json *v,
                                      const char *what, axe_iter *out);
AXE_CHECK axe_status axe_json_to_axis(axe_ctx *cx, const axe_json *v,
                                      const char *what, axe_axis *out);
AXE_CHECK axe_status axe_json_to_int(axe_ctx *cx, const axe_json *v,
                                     const char *what, int64_t *out);
/* A list of integers, as a shape. */
AXE_CHECK axe_status axe_json_to_shape(axe_ctx *cx, const axe_json *v,
                                       const char *what, axe_shape *out);
/* A list of integers that fit an int (positions, permutations). */
AXE_CHECK axe_status axe_json_to_ints(axe_ctx *cx, const axe_json *v,
                                      const char *what, int *n,
                                      const int **out);
/* [[begin, end]...] */
AXE_CHECK axe_status axe_json_to_region(axe_ctx *cx, const axe_json *v,
                                        const char *what, int *n,
                                        const int64_t **begin,
                                        const int64_t **end);

void axe_json_put_layout(axe_buf *b, const axe_layout *l);
/* {"axis": offset...}, by name. */
void axe_json_put_offsets(axe_buf *b, const axe_layout *l);
void axe_json_put_iters(axe_buf *b, int n, const axe_iter *it);
void axe_json_put_iter(axe_buf *b, axe_iter it);
void axe_json_put_swizzle(axe_buf *b, axe_swizzle s);
/* [1,2,3] */
void axe_json_put_ints(axe_buf *b, int n, const int *v);
/* "name", escaped. */
void axe_json_put_name(axe_buf *b, const char *name);

#endif
