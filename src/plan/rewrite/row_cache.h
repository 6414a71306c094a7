/* row_cache.h - the rewrite that reads rows from memory once and keeps them on
 * chip: what its files share. */
#ifndef AXE_PLAN_REWRITE_ROW_CACHE_H
#define AXE_PLAN_REWRITE_ROW_CACHE_H

#include "plan/plan_int.h"
#include "plan/simt/simt.h"

enum { AXE_KEEP_LOADS = 4 };

/* Rows that a scope `cta (i : M by step)` reads more than once. */
typedef struct axe_keep {
    axe_ctx        *cx;
    axe_kernel     *k; /* new statements, tiles and indices get its ids */
    const axe_stmt *scope;
    const axe_var  *m, *n; /* row i*step + m, element n of it */
    int64_t         step;
    const axe_node *row;    /* i*step + m */
    const axe_node *rows;   /* what m runs over: step */
    const axe_node *length; /* what n runs over, known at launch */
    int             n_load;
    const axe_node *load[AXE_KEEP_LOADS]; /* X[row, n] */
    /* From statement `from` of the scope on, the load is read only as part of
     * the value `made`, which may be kept instead; NULL: there is none. */
    int             from[AXE_KEEP_LOADS];
    const axe_node *made[AXE_KEEP_LOADS];
} axe_keep;

/* Does the expression n contain `what`? */
bool axe_keep_reads(const axe_node *n, const axe_node *what);
/* row_cache_made.c: fills in `from` and `made`. */
void axe_keep_find_made(axe_keep *x);

/* One of the launches that the scope becomes, each for some sizes. */
typedef struct axe_keep_way {
    bool            apart;   /* one row to a CTA */
    int             threads; /* of a CTA; 0: the machine's usual number */
    int64_t         most;    /* elements that are kept of a row; 0: none */
    bool            as_is;   /* kept in the type that they have in memory */
    const axe_node *when;    /* it has tiles to do */
} axe_keep_way;

/* row_per_cta.c: may each row be done by a CTA of its own? */
bool axe_keep_apart(axe_keep *x);
/* The type in which the load's elements are kept: the one that all who read
 * them convert them to, if that is wider. */
axe_type axe_keep_type(const axe_keep *x, int load);
/* The scope, done this way. */
axe_stmt *axe_keep_copy(axe_keep *x, const axe_keep_way *way);

#endif
