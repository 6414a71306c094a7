/* copy_int.h - copies by atoms, between the planners of many threads. */
#ifndef AXE_PLAN_SIMT_COPY_COPY_INT_H
#define AXE_PLAN_SIMT_COPY_COPY_INT_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

/* ------------------------------------------------------------- box_origin.c */

/* The indices that walk a subscript as digits of one number, slow to fast, at
 * most `most`: each steps over what those behind it run through.  -1: others.
 */
int axe_simt_walkers(axe_planner *p, const axe_request *r, const axe_node *at,
                     int most, const axe_var **out);

/* May a box begin at the subscript less these indices?  At a coordinate of 32
 * bits that is one for the statement, scalars among it. */
bool axe_simt_may_begin(axe_ctx *cx, const axe_node *at, int n,
                        const axe_var *const *walker);

/* A subscript where all indices are 0. */
const axe_node *axe_simt_origin(axe_ctx *cx, const axe_node *n);

/* -------------------------------------------------------------- bulk_copy.c */

/* One run of neighbours, all of it inside, from operand `from`. */
struct axe_simt_copy;
bool axe_simt_run_plan(axe_planner *p, const axe_request *r, int from, bool in,
                       struct axe_simt_copy *out);

/* ------------------------------------------------------------------- copy.c */

/* A move from memory to memory by COPY rows; false with reasons in r. */
bool axe_simt_copy_plan(axe_planner *p, axe_request *r);

/* ----------------------------------------------------------- requirements.c */

/* The row that moves boxes of elements of type t between these spaces, folding
 * them into what is there, or NULL. */
const axe_atom *axe_simt_box_row(const axe_machine *mc, axe_fold fold,
                                 axe_type t, axe_arg_space d, axe_arg_space a,
                                 axe_arg_space barrier);

/* *all and what the strides of t's dimensions with a bit in `ask` need for a
 * map; false: never. */
bool axe_simt_require_strides(axe_planner *p, const axe_tensor *t, unsigned ask,
                              const axe_node **all);

/* ---------------------------------------------------------- store_staging.c */

/* A statement from registers to global memory by way of staging; false, with
 * the reason in r, if it is none. */
struct axe_simt_stage;
bool axe_simt_stage_plan(axe_planner *p, axe_request *r,
                         const axe_thread_group *threads,
                         struct axe_simt_stage  *out);

#endif
