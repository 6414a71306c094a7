/* eval_int.h - what the operations of `axe eval` are written with.
 *
 * An operation is a row of eval.def and a function here: it reads its arguments
 * by key, appends its result to job->out, and on failure returns what axe_fail
 * gave it (what it had appended is dropped).  The dispatcher has checked that
 * every key of the row is there and no other. */
#ifndef AXE_EVAL_INT_H
#define AXE_EVAL_INT_H

#include "axe/eval.h"
#include "layout/json.h"

typedef struct axe_job {
    axe_ctx            *cx;
    const axe_json     *in;   /* the arguments */
    bool                fuse; /* a target is given: fuse thread axes by scope */
    const axe_eval_ops *more; /* of the options */
    axe_buf            *out;
} axe_job;

#define OP(name, handler, keys, what) axe_status handler(axe_job *j);
#include "layout/eval.def"

/* A row of eval.def, or of another room's operations, which are about one
 * family of machines and use its axes. */
typedef struct axe_eval_op {
    const char *name;
    axe_status (*run)(axe_job *j);
    const char *keys, *what;
    const char *family; /* NULL: the request's target */
} axe_eval_op;

/* Tables of further operations, one behind another. */
struct axe_eval_ops {
    int                 n;
    const axe_eval_op  *op;
    const axe_eval_ops *next;
};

/* The argument `key`, in the forms of layout/json.h. */
AXE_CHECK axe_status axe_job_layout(axe_job *j, const char *key,
                                    const axe_layout **out);
AXE_CHECK axe_status axe_job_shape(axe_job *j, const char *key, axe_shape *out);
AXE_CHECK axe_status axe_job_int(axe_job *j, const char *key, int64_t *out);
/* log2 of the bytes of TVM's element type at "dtype"; op: for messages.
 * Errors  ETYPE: no such type */
AXE_CHECK axe_status axe_job_dtype(axe_job *j, const char *op, int *out);
/* The axis named, or -1 if the key is missing or null. */
AXE_CHECK axe_status axe_job_axis(axe_job *j, const char *key, axe_axis *out);

/* Append a layout, in normal form with thread axes fused if asked for. */
AXE_CHECK axe_status axe_job_reply(axe_job *j, const axe_layout *l);
/* Append a layout as it is. */
axe_status axe_job_reply_raw(axe_job *j, const axe_layout *l);
axe_status axe_job_reply_int(axe_job *j, int64_t v);
axe_status axe_job_reply_bool(axe_job *j, bool v);
axe_status axe_job_reply_text(axe_job *j, const char *s);

/* The axes that l uses, those of unit iters only if there is no other, by name,
 * in ctx memory; returns how many. */
int axe_job_axes(axe_job *j, const axe_layout *l, const axe_axis **out);

#endif
