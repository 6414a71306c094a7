/* tile.h - the register tile, between contract.c, which sums it up, and
 * tile_end.c, which puts the sums where they belong. */
#ifndef AXE_LOWER_CPU_TILE_H
#define AXE_LOWER_CPU_TILE_H

#include "lower/lower_int.h"
#include "plan/cpu/schedule.h"

/* Where a factor is read: a pointer and steps, or where the plan says. */
typedef struct axe_tile_source {
    const axe_tensor *view; /* or NULL */
    const axe_node   *step, *sum, *more[AXE_MAX_MORE];
} axe_tile_source;

/* Rows of the next block that a register tile asks for. */
enum { ROWS_ASKED = 2 };

typedef struct axe_cpu_tile {
    int             lanes, width; /* vectors of this tile */
    int             rows;         /* to multiply */
    const axe_node *live; /* how many to multiply at least, or NULL: all */
    int             n_from, n_end, k_from; /* digits of n and k in the nest */
    const axe_node *near, *depth; /* of k: where c is asked for, the end */
    axe_tile_source a, b;
    const axe_node *left; /* lanes of the last vector that are columns; NULL:
                             all, or what lies behind is zeros */
    const axe_node *far;  /* from b: what a later task reads, or NULL */
    const axe_node *next; /* of a's view: where the rows begin that this tile
                             asks for, NULL: none */
    axe_type type;        /* of the sums */
    axe_type word;        /* of a group */
    axe_reg *acc;         /* [mr][width] */
    axe_reg *excess;      /* [width] what flipped signs add, or NULL */
    axe_reg  flip;        /* the signs of a word, in every lane */
} axe_cpu_tile;

const axe_node *axe_op2(axe_lowering *lw, axe_op op, const axe_node *a,
                        const axe_node *b);
/* The value under a name, if it is neither a constant nor a variable. */
const axe_node *axe_named(axe_lowering *lw, axe_lblock *b, const char *name,
                          const axe_node *value);
const axe_node *axe_choose(axe_lowering *lw, const axe_node *c,
                           const axe_node *a, const axe_node *b);
/* How many workers share the tasks: a size that the entry is given. */
const axe_node *axe_worker_count(axe_lowering *lw);
/* The block of code where the condition holds; b itself where it surely does,
 * NULL where it surely does not. */
axe_lblock *axe_where(axe_lowering *lw, axe_lblock *b, const axe_node *cond,
                      axe_lblock **other);
/* The operand's address, `steps` of variable v further on. */
const axe_node *axe_steps_on(axe_lowering *lw, const axe_operand *op,
                             const axe_node *at, const axe_var *v,
                             int64_t steps);

/* tile_step.c: a pointer to the first of this register tile's rows or columns,
 * which end at `end`: in the argument where the view holds and the tile is
 * whole.  One step of k, and the same of the excess; user: the axe_cpu_tile. */
axe_tile_source      axe_tile_look(axe_lowering *lw, axe_lblock *b,
                                   const axe_operand *op, const axe_view *v,
                                   const axe_node *end);
AXE_CHECK axe_status axe_tile_step(axe_lowering *lw, void *user);
AXE_CHECK axe_status axe_tile_excess(axe_lowering *lw, void *user);

/* Where element (i, vector j) of the sums lies. */
axe_mem axe_sum_at(axe_lowering *lw, int i, int j, int lanes);
/* Prefetches of what the end will need, soon. */
AXE_CHECK axe_status axe_tile_ask(axe_lowering *lw, axe_lblock *b,
                                  const axe_cpu_tile *tl);
/* c += acc, or what is done in the first and the last iteration. */
AXE_CHECK axe_status axe_tile_end(axe_lowering *lw, axe_lblock *b,
                                  const axe_cpu_tile *tl);

#endif
