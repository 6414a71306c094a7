/* ref_int.h - shared by the files of the reference: ref.c runs and compares,
 * print.c writes the C text, value.c that of expressions, ring.c
 * that of pipelines and roles, text.c is its fixed part. */
#ifndef AXE_RUN_REF_REF_INT_H
#define AXE_RUN_REF_REF_INT_H

#include "axe/run.h"
#include "ir/ir.h"
#include "ir/list.h"

/* The arithmetic of values with error bounds, in C. */
extern const char axe_ref_text[], axe_ref_text_math[], axe_ref_text_whole[],
    axe_ref_text_8[];

/* The text defines
 *
 *     int axe_reference(void *const *value, double *const *bound,
 *                       const int64_t *size);
 *
 * value[i] is a dense row-major copy of parameter i, in double for floating
 * types and int64 for others; bound[i] the error bounds of its elements, NULL
 * for those that are only read.  It returns 0, or 1 if there was no memory.
 * Errors  EUNSUPPORTED: a type that the reference cannot compute in. */
AXE_CHECK axe_status axe_ref_print(axe_ctx *cx, const axe_kernel *k,
                                   axe_buf *out);

/* Compile and run that text.
 * value, bound  [n_param] as above
 * size          [n_size] */
AXE_CHECK axe_status axe_ref_call(axe_ctx *cx, axe_device *d,
                                  const axe_kernel *k, void *const *value,
                                  double *const *bound, const int64_t *size);

/* memory.c: EDEVICE, EOVERFLOW: more than the host has left. */
AXE_CHECK axe_status axe_ref_check_memory(axe_ctx *cx, const axe_kernel *k,
                                          const int64_t *size, int64_t cores);

typedef struct axe_ref_printer {
    axe_ctx          *cx;
    const axe_kernel *k;
    axe_buf          *out;
    int               depth, n_result;
    int               n_roles; /* AXE_STMT_ROLES around */
    axe_list          handed;  /* axe_pipeline: those that roles use */
} axe_ref_printer;

#define PUT_LINE(p, ...)                                                       \
    (axe_putf((p)->out, "%*s", 2 * (p)->depth, ""),                            \
     axe_putf((p)->out, __VA_ARGS__), axe_putc((p)->out, '\n'))

AXE_CHECK axe_status axe_ref_put_body(axe_ref_printer *p, int n,
                                      axe_stmt *const *body);
/* A tile begins undefined: what reads it before it was written shows. */
void axe_ref_put_poison(axe_ref_printer *p, const axe_tensor *t);

/* -------------------------------------------------------- value.c */

const char *axe_ref_c_type(axe_type t); /* "R", "i64" */
/* A variable r<result> that holds what the text says. */
int axe_ref_result(axe_ref_printer *p, axe_type t, const char *text);
/* "for (x<v> < r<extent>) {", closed by close_loops. */
void axe_ref_open_loop(axe_ref_printer *p, const axe_var *v, int extent);
void axe_ref_close_loops(axe_ref_printer *p, int n);
/* n's value in r<out>.  EUNSUPPORTED: of a type the reference has not. */
AXE_CHECK axe_status axe_ref_put_node(axe_ref_printer *p, const axe_node *n,
                                      int *out);
/* Row-major place of an access, and whether it is inside. */
AXE_CHECK axe_status axe_ref_put_place(axe_ref_printer *p, const axe_node *load,
                                       int *at, int *inside);
/* Is the integer one that was loaded or rounded, so that `doubt` bounds it? */
bool axe_ref_as_stored(const axe_node *n);
/* r<acc> folded with r<x>, between begin and end; extent: of the dims that were
 * folded, r<extent[i]>, for the sum's rounding. */
void axe_ref_begin_fold(axe_ref_printer *p, axe_type t, int acc);
void axe_ref_put_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc,
                      int x);
void axe_ref_end_fold(axe_ref_printer *p, axe_fold fold, axe_type t, int acc,
                      int n, const int *extent);

/* --------------------------------------------------------- ring.c */

/* Note the pipelines that roles use, before anything is printed. */
void axe_ref_find_handed(axe_ref_printer *p, int n, axe_stmt *const *body);
/* Memory for the stages of a pipeline's tensor. */
void axe_ref_put_stages(axe_ref_printer *p, const axe_tensor *t);
/* The statements PIPELINE, PRODUCE, CONSUME. */
void axe_ref_put_ring(axe_ref_printer *p, const axe_pipeline *r);
AXE_CHECK axe_status axe_ref_put_stage(axe_ref_printer *p, const axe_stmt *s);
/* Roles, and entities of scopes in them, each go through the stages from where
 * all of them begin: begin, then again and note around each, then end. */
void axe_ref_rings_begin(axe_ref_printer *p);
void axe_ref_rings_again(axe_ref_printer *p);
void axe_ref_rings_note(axe_ref_printer *p);
void axe_ref_rings_end(axe_ref_printer *p);

#endif
