/* lower_int.h - between the files of this room. */
#ifndef AXE_LOWER_LOWER_INT_H
#define AXE_LOWER_LOWER_INT_H

#include "lower/lower.h"

enum { MAX_LEVEL = 64 };

/* A value already computed at a level. */
typedef struct memo {
    const axe_node *node;
    bool            splat;
    axe_reg         reg;
    struct memo    *next;
} memo;

/* An element that a subscript reads, as a variable. */
typedef struct taken {
    const axe_node *node;
    const axe_var  *var;
    struct taken   *next;
} taken;

/* An open block: where code goes, and what it already holds.  Level 0 is the
 * statement's block; a loop opens one more. */
typedef struct level {
    axe_lblock    *block;
    const axe_var *index; /* the index variable whose digit it runs, or NULL */
    memo          *known;
    taken         *number;
} level;

/* A digit of an index variable inside the open loops: its loop variable plus
 * the step. */
typedef struct bound {
    axe_digit      of;
    const axe_var *loop;
    int64_t        step;
    struct bound  *next;
} bound;

/* An open loop that does `by` values in each turn, in one go: its digit is its
 * variable plus at->step, which tells them apart. */
typedef struct jam {
    bound            *at;
    int               by;
    const struct jam *next; /* of the loop around */
} jam;

/* What a reduction came to for one of them. */
typedef struct folded {
    const axe_node *node;
    int             turn;
    axe_reg         reg;
    struct folded  *next;
} folded;

/* The code at hand is for values of var that are at or beyond the limit. */
typedef struct outside {
    const axe_var        *var;
    const axe_node       *limit;
    const struct outside *next;
} outside;

typedef struct lowering {
    axe_ctx            *cx;
    const axe_plan     *plan;
    bool                streams; /* some statement passes the caches by */
    int                 n_reg, n_var;
    const axe_schedule *s; /* the statement being lowered */
    level               level[MAX_LEVEL];
    int                 top; /* innermost open level */
    bound              *bound;
    const axe_var      *vector; /* variable in the lanes of the open loops */
    int                 lanes;
    int                 vector_level;
    const axe_node     *part;  /* only that many of them count; NULL: all */
    bool                whole; /* which may still be all */
    const axe_node *stream;    /* does the result pass the caches by? or NULL */
    int             chain;     /* which accumulator a reduction adds to */
    const jam      *jam;       /* loops that do several values; or NULL */
    int             turn;      /* which of them is at hand */
    folded         *folded;    /* what is known of all */
    const outside  *outside;   /* operands with these guards read zero */
    bool            full;      /* no guards: everything is inside */
    const axe_var  *sure;      /* checks that speak of it hold; or NULL */
    const axe_node *mask; /* holds all over the domain or nowhere; or NULL */
    bool            holds;
} lowering;

/* code/build.c */
axe_lir *axe_emit(lowering *lw, axe_lblock *b, axe_lir_kind kind);
axe_reg  axe_reg_new(lowering *lw, axe_type type, int lanes);
axe_reg  axe_emit_op(lowering *lw, axe_lblock *b, axe_lop op, axe_type type,
                     int lanes, int n_src, const axe_reg *src);
axe_var *axe_loop_var(lowering *lw, const char *name);
const axe_node *axe_int(lowering *lw, int64_t v);
const axe_node *axe_ivar(lowering *lw, const axe_var *v);
const axe_node *axe_sum(lowering *lw, const axe_node *a, const axe_node *b);
const axe_node *axe_scaled(lowering *lw, const axe_node *a, axe_stride s);
/* min(max(a, 0), e) */
const axe_node *axe_clamp(lowering *lw, const axe_node *a, int64_t e);
/* A digit's loop variable and step. */
const axe_node *axe_digit_node(lowering *lw, const bound *b);
/* `at` moved on by `value` steps of the digit. */
const axe_node *axe_moved(lowering *lw, const axe_node *at,
                          const axe_operand *op, const axe_digit *d,
                          const axe_node *value);
/* Element address of an operand at the bound digits. */
const axe_node *axe_address(lowering *lw, const axe_operand *op);
/* The value of an index variable as far as its digits are bound. */
const axe_node *axe_index_so_far(lowering *lw, const axe_var *v);
/* Does the check hold at the bound digits? */
const axe_node *axe_check_node(lowering *lw, const axe_check *c);
/* Is it known in the code at hand that the check holds? */
bool axe_check_holds(const lowering *lw, const axe_check *c);
/* Are the extents of all its indices constants? */
bool axe_check_is_boxed(const lowering *lw, const axe_check *c);
/* The extent of an index of the statement. */
const axe_node *axe_extent_of(const axe_schedule *s, const axe_var *v);
/* Is the element at hand inside its tensor?  NULL if it surely is. */
const axe_node *axe_inside(lowering *lw, const axe_operand *op);
/* Where an operand lies and as what type. */
/* Notes in b whether the statement's whole result is too large for the caches
 * to be of use; NULL where it is never streamed. */
const axe_node *axe_over_caches(lowering *lw, axe_lblock *b);
axe_mem  axe_mem_of(lowering *lw, const axe_operand *op, const axe_node *at);
axe_type axe_compute_of(lowering *lw, axe_type t);
/* As what a register holds elements of t: unconverted in a raw move. */
axe_type axe_held_as(lowering *lw, axe_type t);
/* The sign bits of all elements of type t in words, in every lane. */
axe_reg axe_signs(lowering *lw, axe_lblock *b, axe_type t, axe_type word,
                  int lanes);
/* What is stored to the operand: r, or r with its signs flipped. */
axe_reg axe_as_kept(lowering *lw, axe_lblock *b, const axe_operand *op,
                    axe_reg r);
/* The integer type that holds `n` elements of t, of 8 to 64 bits. */
axe_type axe_word_of(axe_type t, int n);

/* code/build.c: as many neighbours of the operand at mem as there are lanes to
 * move, in part of them if the lanes at hand are such. */
axe_reg axe_emit_load(lowering *lw, axe_lblock *b, const axe_operand *op,
                      axe_mem mem, axe_type type, int lanes);
/* The same to memory; past the caches where that is to be. */
void axe_emit_store(lowering *lw, axe_lblock *b, const axe_operand *op,
                    axe_reg r, axe_mem mem);
/* r where its lane counts, else e. */
axe_reg axe_emit_part(lowering *lw, axe_lblock *b, axe_reg r, axe_reg e);

/* cpu/known.c: the node's value at level `at`, a splat or not, is in r now. */
void axe_remember(lowering *lw, int at, const axe_node *n, bool splat,
                  axe_reg r);
/* Integers as wide as t, for masks. */
axe_type axe_mask_type(axe_type t);
/* The register that holds the node at the open loops. */
AXE_CHECK axe_status axe_lower_value(lowering *lw, const axe_node *n,
                                     axe_reg *out);
/* The same with as many lanes as wanted. */
AXE_CHECK axe_status axe_value_in(lowering *lw, const axe_node *want, int lanes,
                                  axe_reg *out);
axe_reg axe_constant(lowering *lw, axe_lblock *b, const axe_node *n, int lanes);
/* Integers narrower than their register wrap around as their type does. */
axe_reg axe_wrap(lowering *lw, axe_lblock *b, const axe_node *n, axe_reg r);
/* The deepest open loop whose index the node mentions. */
int axe_level_of(const lowering *lw, const axe_node *n);

/* cpu/index.c: an affine index expression, a vector of the open loops, as t:
 * i64, or i32, which keeps the low bits.  False where it is not affine. */
bool axe_lower_index(lowering *lw, axe_lblock *b, const axe_node *n, axe_type t,
                     int lanes, axe_reg *out);
/* Is an affine index expression within i32 all over the domain? */
bool axe_index_is_small(lowering *lw, const axe_node *n);
/* A comparison of two such expressions, a mask as wide as suits the lanes. */
bool axe_lower_index_mask(lowering *lw, axe_lblock *b, const axe_node *n,
                          int lanes, axe_reg *out);
/* The least or greatest value of a + outer over the domain; NULL if an extent
 * is not of this statement. */
const axe_node *axe_corner(lowering *lw, const axe_node *outer,
                           const axe_affine *a, bool high);
/* Conditions, known before the statement, that an affine comparison by < or <=
 * holds all over the domain or nowhere; false where there are none. */
bool axe_mask_corners(lowering *lw, const axe_node *n, const axe_node **all,
                      const axe_node **none);
/* The value of v where the comparison changes, if it does so once in the loop
 * over v about to be opened; *first: it holds before.  NULL if it may not. */
const axe_node *axe_mask_turn(lowering *lw, const axe_node *n, const axe_var *v,
                              bool *first);
/* The first condition that the value chooses by for which `fits` says so. */
typedef bool    mask_fits(lowering *lw, const axe_node *mask, const void *user);
const axe_node *axe_find_mask(lowering *lw, const axe_node *n, mask_fits *fits,
                              const void *user);
/* What n is in the code at hand, where lw->mask is known. */
const axe_node *axe_decided(const lowering *lw, const axe_node *n);

/* cpu/value.c: note as variables the elements that the operand's subscripts
 * read; to be called before its address or checks are asked for. */
AXE_CHECK axe_status axe_take_reads(lowering *lw, const axe_operand *op);
/* The same for one of its expressions. */
AXE_CHECK axe_status axe_take_reads_of(lowering *lw, const axe_node *n);
/* cpu/read.c: does it read elements or mention indices? */
bool axe_is_computed_now(const axe_node *n);
/* Are loops open over all indices that it mentions? */
bool axe_reads_are_bound(const lowering *lw, const axe_node *n);
/* The expression with such variables, and with indices at the bound digits. */
const axe_node *axe_with_reads(lowering *lw, const axe_node *n);

/* How many values the loops do in one go; the code that follows is for one. */
int  axe_jam_turns(const jam *j);
void axe_jam_take(lowering *lw, const jam *j, int turn);

/* The loops of a nest around `body`. */
typedef axe_status   body_fn(lowering *lw, void *user);
AXE_CHECK axe_status axe_nest_open(lowering *lw, const axe_nest *nest,
                                   body_fn *body, void *user);

/* pass/hoist.c: take divisions apart and out of loops, all through a block. */
void axe_hoist(lowering *lw, axe_lblock *b);
/* pass/bases.c: of addresses and limits in loops that are written out, what
 * their turns have in common is computed before; all through a block. */
void axe_name_bases(lowering *lw, axe_lblock *b);
/* pass/tidy.c: drops integers that nothing mentions. */
void axe_tidy(lowering *lw, axe_lblock *b);

/* Is the operand outside its tensor in the code at hand? */
bool axe_reads_zero(const lowering *lw, const axe_operand *op);

/* cpu/map.c: the statement's value into its destination at the bound digits. */
AXE_CHECK axe_status axe_store_value(lowering *lw, void *user);

/* cpu/map.c, cpu/transpose.c, cpu/contract.c: one statement into block b. */
AXE_CHECK axe_status axe_lower_map(lowering *lw, axe_lblock *b);
AXE_CHECK axe_status axe_lower_transpose(lowering *lw, axe_lblock *b);
AXE_CHECK axe_status axe_lower_contract(lowering *lw, axe_lblock *b);

/* --------------------------------------------------------------- cpu/bits.c */

/* mulhi, popcount, clz of elements narrower than their register; false: n is
 * none. */
bool axe_lower_narrow_bits(lowering *lw, axe_lblock *b, const axe_node *n,
                           const axe_reg *src, axe_reg *out);
/* The bits of x as n's type. */
axe_reg axe_lower_bitcast(lowering *lw, axe_lblock *b, const axe_node *n,
                          axe_reg x);

#endif
