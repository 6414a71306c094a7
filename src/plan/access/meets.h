/* meets.h - entities of a scope that come to one element of global memory.
 *
 * Without `deterministic` they come in any order.  With it they have one: each
 * entity keeps its part, which a scope behind adds up; or they take turns, in
 * the order of their numbers; or the order makes no difference. */
#ifndef AXE_PLAN_ACCESS_MEETS_H
#define AXE_PLAN_ACCESS_MEETS_H

#include "ir/ir.h"
#include "ir/list.h"
#include "machine/machine.h"

typedef enum axe_meet_how {
    AXE_MEET_OPEN,  /* any order, and results may tell */
    AXE_MEET_EXACT, /* any order: integers, which the machine folds in memory */
    AXE_MEET_PARTS,
    AXE_MEET_TURNS
} axe_meet_how;

typedef struct axe_meet {
    const axe_stmt *scope, *stmt;
    axe_list        path; /* const axe_stmt *: around stmt in scope, outermost
                             first */
    axe_list by; /* const axe_var *: of the scope, those that the element
                    does not tell */
    bool             scatter;
    axe_meet_how     how;
    const char      *why;  /* TURNS: why not PARTS, or NULL */
    struct axe_meet *next; /* of the scope */
} axe_meet;

/* out: axe_meet * of all scopes of the kernel, in order. */
void axe_meets_find(axe_ctx *cx, const axe_machine *mc, const axe_kernel *k,
                    axe_list *out);

/* Does a launch know the value before it begins, whatever loops there are? */
bool axe_is_known_at_launch(const axe_node *n);

#endif
