/* order.h - in which order the tiles of a scope are taken.
 *
 * A scope's entities are tiles; those that follow each other along its first
 * variable form clusters.  Clusters are numbered row-major, or `group` tiles of
 * the first variable at a time: within such a band the first variable is
 * fastest, so that what runs at the same time reads few rows and few columns;
 * or along a Hilbert curve in squares of 8 by 8 clusters, band by band. */
#ifndef AXE_LOWER_CODE_ORDER_H
#define AXE_LOWER_CODE_ORDER_H

#include "ir/ir.h"

/* Where the variables that it makes are made, and code is put: the let of a new
 * variable of that name, as a node.
 * least, extent   it is at least the one, and below the other, which is NULL
 *                 where the value shows it */
typedef struct axe_order_sink {
    void *user;
    const axe_node *(*let)(void *user, const char *name, const axe_node *value,
                           int64_t least, const axe_node *extent);
} axe_order_sink;

/* CTAs of a cluster; 1: none. */
int axe_order_cluster(const axe_stmt *scope);
/* How many clusters hold all tiles. */
const axe_node *axe_order_count(axe_ctx *cx, const axe_stmt *scope);
/* The values of the scope's variables in cluster `number`, 0 .. count - 1, for
 * the CTA `rank` of it.  The first variable may reach beyond its extent, where
 * that is no multiple of the cluster.
 * value   [n_var] */
void axe_order_tile(axe_ctx *cx, const axe_stmt *scope, const axe_node *number,
                    const axe_node *rank, const axe_order_sink *sink,
                    const axe_node **value);

#endif
