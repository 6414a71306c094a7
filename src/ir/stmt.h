/* stmt.h - questions about statements and what is inside them. */
#ifndef AXE_IR_STMT_H
#define AXE_IR_STMT_H

#include "ir/ir.h"
#include "ir/list.h"

/* A list of statements that are its maker's own, as a body; NULL while it is
 * empty. */
axe_stmt *const *axe_stmt_list(const axe_list *l);

/* Does the statement or one inside it read t?  What `op=` combines with counts.
 */
bool axe_stmt_reads(const axe_stmt *s, const axe_tensor *t);
/* So of some tensor of the ring's stages? */
bool axe_stmt_reads_ring(const axe_stmt *s, const axe_pipeline *ring);
/* Does it, or one inside it, write t? */
bool axe_stmt_writes(const axe_stmt *s, const axe_tensor *t);
/* How far a variable runs: an index of the statement, folded ones included, as
 * the statement says, others as they do; NULL: it does not occur. */
const axe_node *axe_stmt_extent(const axe_stmt *s, const axe_var *v);
/* Is it one of the statement's free indices? */
bool axe_stmt_is_free(const axe_stmt *s, const axe_var *v);
/* The index that a subscript is, and nothing else; NULL: it is none. */
const axe_var *axe_just_index(const axe_node *n);
/* Does a `break` or `continue` of the loop around stand in body[n]?  If so, an
 * iteration may skip what follows it, and a break the iterations that follow.
 */
bool axe_leaves_iteration(int n, axe_stmt *const *body);
/* Is s, the very statement, in body[n] or inside one of them? */
bool axe_stmt_within(int n, axe_stmt *const *body, const axe_stmt *s);

#endif
