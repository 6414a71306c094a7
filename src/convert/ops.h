/* ops.h - what the operations of `axe eval` on foreign layouts share. */
#ifndef AXE_CONVERT_OPS_H
#define AXE_CONVERT_OPS_H

#include "axe/convert.h"
#include "convert/cute.h"
#include "convert/linear.h"
#include "layout/eval_int.h"

/* clang-format off */
#define OP(name, handler, keys, what) axe_status handler(axe_job *j);
#include "convert/ops.def"
/* clang-format on */

extern const axe_eval_ops axe_convert_table;

/* {"shape": tree, "stride": tree} with numbers, "2@1" for scaled bases; or
 * CuTe's text. */
AXE_CHECK axe_status axe_json_to_cute(axe_job *j, const axe_json *v,
                                      const char *key, axe_cute *out);
AXE_CHECK axe_status axe_job_cute(axe_job *j, const char *key, axe_cute *out);
AXE_CHECK axe_status axe_job_cutes(axe_job *j, const char *key, int *n,
                                   axe_cute **out);
/* A text, or NULL where the key is missing or null. */
AXE_CHECK axe_status axe_job_text(axe_job *j, const char *key,
                                  const char **out);
/* A tree of numbers, in the shapes of the leaves. */
AXE_CHECK axe_status axe_job_tree(axe_job *j, const char *key, axe_cute *out);
/* A linear layout: bases, {"bases": .., "outs"?: {"dim0": 4}}, {"identity1D":
 * [n, in, out]} or {"zeros1D": ..}. */
AXE_CHECK axe_status axe_job_linear(axe_job *j, const char *key,
                                    axe_linear *out);
/* {"dim0": 4, ..}: names and sizes, as bits. */
AXE_CHECK axe_status axe_json_to_linear_dims(axe_ctx *cx, const axe_json *v,
                                             const char       *what,
                                             axe_linear_names *names,
                                             int              *bits);
/* Append {"shape":..,"stride":..}. */
axe_status axe_job_reply_cute(axe_job *j, const axe_cute *l);
/* Append a tree of the shapes, or of the strides. */
void axe_put_tree(axe_buf *b, const axe_cute *l, bool stride);
/* Append {"shape":..,"D":..,"groups":..,"R":..,"O":..}, iters of 1 left out. */
axe_status axe_job_reply_dims(axe_job *j, const axe_layout *l);
/* The same but for its braces. */
void axe_put_dims(axe_buf *b, const axe_layout *l, axe_shape shape);

#endif
