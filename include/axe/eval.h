/* eval.h - layout operations in batch: one JSON request, one JSON reply.
 *
 *     {"id": 7, "op": "size", "in": {"layout": "(2, 3) : (3, 1)"}}
 *     {"id": 7, "out": 6}
 *     {"id": 7, "error": {"code": "ESHAPE", "message": "..."}}
 *
 * The operations, with what each reads, are the rows of src/layout/eval.def;
 * `{"op": "ops"}` lists them.  docs/eval.md has the forms of layouts, shapes
 * and regions.  An evaluator serves for ever in constant memory; use one per
 * thread.
 */
#ifndef AXE_EVAL_H
#define AXE_EVAL_H

#include "axe/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct axe_eval     axe_eval;
typedef struct axe_eval_ops axe_eval_ops;

/* machine       the axes of a machine by name, or NULL if there is none of that
 *               name; the field may be NULL: no machines
 * default_name  the machine of requests that name no "target"; may be NULL
 * strict_axes   refuse axes that no machine declares; else any identifier
 *               names a memory axis
 * more          further operations, as axe_machine_ops(); may be NULL */
typedef struct axe_eval_options {
    const axe_axis_table *(*machine)(const char *name);
    const char         *default_name;
    bool                strict_axes;
    const axe_eval_ops *more;
} axe_eval_options;

/* NULL only if the host has no memory for it. `opt` may be NULL. */
axe_eval *axe_eval_new(const axe_eval_options *opt);
void      axe_eval_free(axe_eval *ev);

/* The reply to one request of `len` bytes (a newline at its end is no harm):
 * one line of JSON without its newline, NUL-terminated, valid until the next
 * call. Never NULL and never an early stop: whatever is wrong with the line is
 * in the reply.  "id" is echoed whatever it is, null if it cannot be read. */
const char *axe_eval_line(axe_eval *ev, const char *line, size_t len);

/* What machines answer, by the code that plans and prints kernels: descriptors
 * of tensor cores, scales.  Their rows are src/run/tune/facts.def; behind them
 * come those of axe_convert_ops. */
const axe_eval_ops *axe_machine_ops(void);

/* Bytes held, for tests and benchmarks. */
size_t axe_eval_bytes(const axe_eval *ev);

#ifdef __cplusplus
}
#endif
#endif
