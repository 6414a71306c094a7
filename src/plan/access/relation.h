/* relation.h - in a group of scopes that overlap, who waits for whom.
 *
 *     overlap {
 *         cta (i : M by 64)               S[i*64 + m, k] = ...
 *         cta (a : M by 128, j : N by 64) ... S[a*128 + m, k] ...
 *     }
 *
 * An entity begins when those entities of scopes in front of its own are done
 * that touch what it touches, where one of the two writes.  Which these are is
 * a box of their variables, here 2*a <= i <= 2*a + 1, and follows from the
 * subscripts: in each dimension both touch a window, and windows that do not
 * overlap are of entities that need not wait.  A window that is not known is
 * all of the dimension, so that a box may be larger than it need be; that
 * costs time, and nothing else.
 *
 * Where a subscript of the waiting side is an element of a tensor that no scope
 * of the group writes, S[row[i*64 + m], k], the machine reads it: the entity
 * waits for those that touch the rows it will read, whichever these are.  Where
 * that is in a loop inside, it waits at once for what all iterations will read.
 *
 * How many entities of a box are done is counted: one counter for all that the
 * waiting side always needs together, here for two values of i each.
 */
#ifndef AXE_PLAN_ACCESS_RELATION_H
#define AXE_PLAN_ACCESS_RELATION_H

#include "ir/ir.h"
#include "ir/list.h"

/* Counters of a scope's entities that are done. */
typedef struct axe_counters {
    const axe_stmt *of;
    const int64_t  *by;    /* [of->n_var] so many values of the variable share a
                              counter; 0: all do */
    const axe_node *first; /* the number of the first of them; how many: over */
    const axe_node *n;     /* sizes and loops around the group */
} axe_counters;

/* An element of an index tensor, known when an entity begins: variable `value`,
 * for each value of the indices in its subscripts, and of the loops in the
 * scope that these mention, where each one's extent follows from those in front
 * of it. */
typedef struct axe_relation_read {
    const axe_var        *value;
    const axe_node       *load;
    int                   n_loop;
    const axe_var *const *loop;
} axe_relation_read;

/* An entity of `to` waits until counters lo[k] to hi[k], of each variable k of
 * `from`, are full.  Where lo and hi are the same node it is one. */
typedef struct axe_relation {
    const axe_stmt        *from, *to;
    const axe_counters    *counters;
    const axe_node *const *lo, *const *hi; /* [from->n_var] over `to`'s
                         variables and values read, perhaps beyond the
                         counters; NULL: by 0 */
    int                      n_read, n_each;
    const axe_relation_read *read;
    const axe_dim           *each; /* loops and indices in reads, outermost
                                      first: for each of their values */
    const axe_tensor *tensor;
    const axe_stmt   *a, *b; /* the statements that touch it */
    bool              a_writes, b_writes;
} axe_relation;

typedef struct axe_overlap_group {
    int              n_scope;
    axe_stmt *const *scope;
    axe_list         counters;  /* const axe_counters * */
    axe_list         relation;  /* const axe_relation * */
    const axe_node  *n_counter; /* words of memory: who takes which entity next,
                                   then the counters */
} axe_overlap_group;

/* Words in front of the counters, a line.  Of workers the first says which
 * entity is taken next.  Of CTAs the first is a gate: what it is before a
 * launch nobody knows, but not AXE_GATE_OPEN; it is that when all other words
 * are zeros, until it is shut; and the second says how many CTAs have seen it
 * open. */
enum {
    AXE_COUNTERS_FIRST = 8,
    AXE_WORD_GATE = 0,
    AXE_WORD_SEEN = 1,
};

/* Any word of 64 bits that memory holds by chance once in 2^64 times. */
#define AXE_GATE_OPEN INT64_C(0x5ca1ab1e0ddba11e)

/* The number of scopes of the group that begins with body[0]; 0: none does. */
int axe_overlap_length(int n, axe_stmt *const *body);
/* The relations of a group of n scopes. */
axe_overlap_group axe_overlap_find(axe_ctx *cx, int n, axe_stmt *const *scope);
/* "(i, j..)" or the like: what a relation waits for, for people. */
const char *axe_relation_text(axe_ctx *cx, const axe_relation *r);
/* May threads have shares of what runs in reads: is how far each of it runs
 * known before any of it? */
bool axe_relation_has_shares(const axe_relation *r);
/* How many entities of counters c have coordinates `at`, [of->n_var], NULL
 * where by is 0. */
const axe_node *axe_counters_full(axe_ctx *cx, const axe_counters *c,
                                  const axe_node *const *at);
/* The number of the counter at coordinates `at`. */
const axe_node *axe_counters_at(axe_ctx *cx, const axe_counters *c,
                                const axe_node *const *at);
/* How many values coordinate k of the counters has. */
const axe_node *axe_counters_extent(axe_ctx *cx, const axe_counters *c, int k);

#endif
