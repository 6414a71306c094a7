/* map.h - between the files that lower maps of many threads. */
#ifndef AXE_LOWER_SIMT_MAP_H
#define AXE_LOWER_SIMT_MAP_H

#include "lower/simt/simt_int.h"

typedef struct axe_map_lowering {
    axe_simt_lowering       *sl;
    const axe_schedule      *s;
    const axe_simt_schedule *simt;
    const axe_node   **value;   /* of each digit here; NULL: 0, or unbound */
    const axe_tensor **array;   /* of each operand in memory */
    const axe_tensor  *out;     /* what is to be stored */
    const axe_tensor **sum;     /* of each reduction, by nest */
    bool               in_part; /* iterations that are apart are bound */
    bool               whole;   /* no index is at or beyond its limit here */
    int *same; /* of each operand: the first of the same element */
} axe_map_lowering;

/* The value of an index at the digits. */
const axe_node *axe_map_index(axe_map_lowering *x, const axe_var *v);
/* Open the loops of a nest's own digits; their innermost body. */
axe_lblock *axe_map_loops(axe_map_lowering *x, axe_lblock *b, int nest);
/* Write out the iterations of a nest's own digits; and forget them again. */
axe_lblock *axe_map_iterations(axe_map_lowering *x, axe_lblock *b,
                               const axe_nest *nest);
void axe_map_forget_iterations(axe_map_lowering *x, const axe_nest *nest);
/* What iterations of digit i do, of an index that stops at a limit. */
axe_lblock *axe_map_within(axe_map_lowering *x, axe_lblock *b, int i);
/* map_move.c: load what a nest reads from memory. */
void axe_map_load(axe_map_lowering *x, axe_lblock *b, int nest);
/* shuffle.c: an operand in other lanes' registers, into its array. */
void axe_map_shuffle(axe_map_lowering *x, axe_lblock *b, int op);
/* An expression in terms of arrays and integers. */
const axe_node *axe_map_value(axe_map_lowering *x, const axe_node *n);

/* map_inside.c: the nest's indices are within their extents; NULL: always. */
const axe_node *axe_map_bounds(axe_map_lowering *x, const axe_nest *nest);
/* The operand's element is one of its tensor's, and asked for; NULL: it always
 * is. */
const axe_node *axe_map_inside(axe_map_lowering *x, const axe_operand *op);
/* In all iterations of all threads that the nest's open loops leave none of the
 * indices is at its limit; NULL: nobody asks. */
const axe_node *axe_map_whole(axe_map_lowering *x, int nest);
/* Of threads that do the same this is the one that writes, and reads what is
 * written; NULL: each does its own. */
const axe_node *axe_map_owner(axe_map_lowering *x);

/* A reduction's element at the digits. */
const axe_node *axe_map_reduced(axe_map_lowering *x, const axe_node *reduce);

/* reduce.c: a reduction into x->sum[nest], for all iterations of nest 0, the
 * same in all threads that share it. */
AXE_CHECK axe_status axe_map_reduce(axe_map_lowering *x, axe_lblock *b,
                                    int nest);
/* Element `at` of `from` in the lane whose number differs in the bit
 * `distance`, into the one of `to`. */
AXE_CHECK axe_status axe_map_exchange(axe_map_lowering *x, axe_lblock *b,
                                      const axe_tensor *to,
                                      const axe_tensor *from,
                                      const axe_node *at, int distance);
/* Where a thread's sum of an iteration, of n, is in scratch, for the thread
 * that has `other` in place of its own warp digits of the nest's indices; NULL:
 * its own.
 */
const axe_node *axe_map_slot(axe_map_lowering *x, const axe_nest *nest,
                             int64_t n, const axe_node *iteration,
                             const axe_node *other);

/* The array that takes the statement's values, and where in it at the digits.
 */
const axe_tensor *axe_map_result(axe_map_lowering *x);
const axe_node   *axe_map_result_at(axe_map_lowering *x);
/* scan.c: what is in that array, folded along the statement's `prefix`.
 */
AXE_CHECK axe_status axe_map_prefix(axe_map_lowering *x, axe_lblock *b);

/* Is it one of iterations that run together?  Does digit i tell the operand's
 * elements in an array apart?  And is it along the operand's vector? */
bool axe_map_is_iteration(const axe_map_lowering *x, const axe_work_digit *d);
bool axe_map_is_kept(const axe_map_lowering *x, int op, int i);
bool axe_map_is_along(const axe_map_lowering *x, int op, int i);
/* What a step of digit i is in the operand's array; how many elements that has;
 * and which one the digits mean. */
int64_t         axe_map_stride(const axe_map_lowering *x, int op, int i);
int64_t         axe_map_size(const axe_map_lowering *x, int op);
const axe_node *axe_map_at(axe_map_lowering *x, int op);
/* The operand that the load is; and its address where the digits are. */
int axe_map_operand(const axe_map_lowering *x, const axe_node *load);
const axe_node *axe_map_address(axe_map_lowering *x, const axe_operand *op);
/* Is digit i one of the nest's that a thread's iterations count?  The number of
 * such an iteration. */
bool            axe_map_counts(const axe_map_lowering *x, int i, int nest);
const axe_node *axe_map_iteration(axe_map_lowering *x, int nest);
const axe_node *axe_map_converted(axe_map_lowering *x, const axe_node *n,
                                  axe_type t);
/* map_move.c: all iterations of operand k; and an array for its elements. */
void axe_map_move(axe_map_lowering *x, axe_lblock *b, int k, bool store);
const axe_tensor *axe_map_values(axe_map_lowering *x, int op);

#endif
