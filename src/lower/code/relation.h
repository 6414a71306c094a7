/* relation.h - which counters an entity waits for, as loops around waits. */
#ifndef AXE_LOWER_CODE_RELATION_H
#define AXE_LOWER_CODE_RELATION_H

#include "lower/lower_int.h"
#include "plan/access/relation.h"

/* How code for one machine waits, and reads an index tensor.
 * await  until the counter of that number is `full`
 * load   a variable that is element `at`, in elements from the begin
 * past   scope variables may be beyond their extents, in entities that are none
 * side   so many threads share what is waited for where elements are read, of
 *        which this is number `thread`; 1: one waits for all
 */
typedef struct axe_relation_sink {
    void *user;
    void (*await)(void *user, axe_lblock *b, const axe_node *number,
                  const axe_node *full);
    const axe_var *(*load)(void *user, axe_lblock *b, const axe_tensor *t,
                           const axe_node *at, const char *name);
    bool            past;
    int64_t         side;
    const axe_node *thread;
} axe_relation_sink;

/* The entity at hand waits for what the relation says, in b. */
void axe_lower_relation(axe_lowering *lw, axe_lblock *b, const axe_relation *r,
                        const axe_relation_sink *sink);
/* The number of the counter of the entity at hand of the counters' scope. */
const axe_node *axe_lower_counter(axe_lowering *lw, const axe_counters *c);

#endif
