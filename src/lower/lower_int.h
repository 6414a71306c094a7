/* lower_int.h - between the files of this room. */
#ifndef AXE_LOWER_LOWER_INT_H
#define AXE_LOWER_LOWER_INT_H

#include "lower/lower.h"

enum { MAX_LEVEL = 64 };

/* A value already computed at a level. */
typedef struct axe_memo {
    const axe_node  *node;
    bool             splat;
    axe_reg          reg;
    struct axe_memo *next;
} axe_memo;

/* An element that a subscript reads, as a variable. */
typedef struct axe_taken_element {
    const axe_node           *node;
    const axe_var            *var;
    struct axe_taken_element *next;
} axe_taken_element;

/* An open block: where code goes, and what it already holds.  Level 0 is the
 * statement's block; a loop opens one more. */
typedef struct axe_open_level {
    axe_lblock    *block;
    const axe_var *index; /* the index variable whose digit it runs, or NULL */
    axe_memo      *known;
    axe_taken_element *number;
} axe_open_level;

/* A digit of an index variable inside the open loops: its loop variable plus
 * the step. */
typedef struct axe_open_digit {
    axe_digit              of;
    const axe_var         *loop;
    int64_t                step;
    struct axe_open_digit *next;
} axe_open_digit;

/* An open loop that does `by` values in each iteration, in one go: its digit is
 * its variable plus at->step, which tells them apart. */
typedef struct axe_jam {
    axe_open_digit       *at;
    int                   by;
    const struct axe_jam *next; /* of the loop around */
} axe_jam;

/* What a reduction came to for one of them. */
typedef struct axe_folded {
    const axe_node    *node;
    int                iteration;
    axe_reg            reg;
    struct axe_folded *next;
} axe_folded;

/* The code at hand is for values of var that are at or beyond the limit. */
typedef struct axe_outside {
    const axe_var            *var;
    const axe_node           *limit;
    const struct axe_outside *next;
} axe_outside;

typedef struct axe_lowering {
    axe_ctx            *cx;
    const axe_plan     *plan;
    bool                streams; /* some statement passes the caches by */
    int                 n_reg, n_var;
    const axe_schedule *s; /* the statement being lowered */
    axe_open_level      level[MAX_LEVEL];
    int                 top; /* innermost open level */
    axe_open_digit     *bound;
    const axe_var      *vector; /* variable in the lanes of the open loops */
    int                 lanes;
    int                 vector_level;
    const axe_node     *part;  /* only that many of them count; NULL: all */
    bool                whole; /* which may still be all */
    const axe_node    *stream; /* does the result pass the caches by? or NULL */
    int                chain;  /* which accumulator a reduction adds to */
    const axe_jam     *jam;    /* loops that do several values; or NULL */
    int                iteration; /* which of them is at hand */
    axe_folded        *folded;    /* what is known of all */
    const axe_outside *outside;   /* operands with these guards read zero */
    bool               full;      /* no guards: everything is inside */
    const axe_var     *sure;      /* checks that speak of it hold; or NULL */
    const axe_node    *mask; /* holds all over the domain or nowhere; or NULL */
    bool               holds;
} axe_lowering;

#endif
