/* build.h - making lowered code: registers, operations, numbers. */
#ifndef AXE_LOWER_CODE_BUILD_H
#define AXE_LOWER_CODE_BUILD_H

#include "lower/lower_int.h"

/* ------------------------------------------------------------------ build.c */

/* l behind what is in b, whose list is b's own. */
void     axe_block_push(axe_ctx *cx, axe_lblock *b, axe_lir *l);
axe_lir *axe_emit(axe_lowering *lw, axe_lblock *b, axe_lir_kind kind);
axe_reg  axe_reg_new(axe_lowering *lw, axe_type type, int lanes);
axe_reg  axe_emit_op(axe_lowering *lw, axe_lblock *b, axe_lop op, axe_type type,
                     int lanes, int n_src, const axe_reg *src);
axe_var *axe_loop_var(axe_lowering *lw, const char *name);
/* A variable for what was read: it may be negative. */
axe_var *axe_loaded_var(axe_lowering *lw, const char *name);
/* v is `value` from here on. */
const axe_node *axe_emit_let(axe_lowering *lw, axe_lblock *b, const axe_var *v,
                             const axe_node *value);
const axe_node *axe_int(axe_lowering *lw, int64_t v);
const axe_node *axe_ivar(axe_lowering *lw, const axe_var *v);
const axe_node *axe_sum(axe_lowering *lw, const axe_node *a, const axe_node *b);
const axe_node *axe_scaled(axe_lowering *lw, const axe_node *a, axe_stride s);

/* A digit's loop variable and step. */
const axe_node *axe_digit_node(axe_lowering *lw, const axe_open_digit *b);

/* `at` moved on by `value` steps of the digit. */
const axe_node *axe_moved(axe_lowering *lw, const axe_node *at,
                          const axe_operand *op, const axe_digit *d,
                          const axe_node *value);

/* The value of an index variable as far as its digits are bound. */
const axe_node *axe_index_so_far(axe_lowering *lw, const axe_var *v);

/* The extent of an index of the statement. */
const axe_node *axe_extent_of(const axe_schedule *s, const axe_var *v);

/* Where an operand lies and as what type. */
axe_mem axe_mem_of(axe_lowering *lw, const axe_operand *op, const axe_node *at);
axe_type axe_compute_of(axe_lowering *lw, axe_type t);

/* As what a register holds elements of t: unconverted in a raw move. */
axe_type axe_held_as(axe_lowering *lw, axe_type t);

/* The sign bits of all elements of type t in words, in every lane. */
axe_reg axe_signs(axe_lowering *lw, axe_lblock *b, axe_type t, axe_type word,
                  int lanes);

/* What is stored to the operand: r, or r with its signs flipped. */
axe_reg axe_as_kept(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                    axe_reg r);

/* The integer type that holds `n` elements of t, of 8 to 64 bits. */
axe_type axe_word_of(axe_type t, int n);

/* As many neighbours of the operand at mem as there are lanes to move, in part
 * of them if the lanes at hand are such. */
axe_reg axe_emit_load(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                      axe_mem mem, axe_type type, int lanes);

/* The same to memory; past the caches where that is to be. */
void axe_emit_store(axe_lowering *lw, axe_lblock *b, const axe_operand *op,
                    axe_reg r, axe_mem mem);

/* r where its lane counts, else e. */
axe_reg axe_emit_part(axe_lowering *lw, axe_lblock *b, axe_reg r, axe_reg e);

#endif
