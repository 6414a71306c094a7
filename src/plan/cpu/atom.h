/* atom.h - statements that name an atom: atom_fit.c decides whether one
 * invocation of the atom does what the statement says, and atom.c makes the
 * schedule or reports why it does not. */
#ifndef AXE_PLAN_CPU_ATOM_H
#define AXE_PLAN_CPU_ATOM_H

#include "plan/plan_int.h"

enum { AXE_MAX_ROLE = 4, AXE_MAX_SIDE = 3 };

/* The layout that the atom's row gives for one operand, with V and G replaced
 * by numbers. */
typedef struct axe_side {
    const char       *text;
    const axe_layout *layout;
    int               n;
    char              role[AXE_MAX_ROLE];
    int64_t           extent[AXE_MAX_ROLE]; /* > 1 */
} axe_side;

/* How a statement is one invocation of an atom, or why it is not. */
typedef struct axe_fit {
    axe_planner       *p;
    axe_request       *r;
    const axe_atom    *atom;
    int                lanes, group, n_side;
    axe_side           side[AXE_MAX_SIDE];
    const axe_operand *op[AXE_MAX_SIDE];
    int                n_role;
    char               role[AXE_MAX_ROLE];
    int64_t            extent[AXE_MAX_ROLE];
    bool               folds[AXE_MAX_ROLE];
    const axe_dim     *dim[AXE_MAX_ROLE];
    const axe_atom    *move[AXE_MAX_SIDE + 1]; /* the last one stores */
    axe_status         status;
    axe_span           at;
    const char        *why, *note;
} axe_fit;

/* Does one invocation of the atom do what the request's statement says?  If
 * not, the reason is in status, at, why and note; no diagnostic is recorded. */
bool axe_atom_fits(axe_planner *p, axe_request *r, const axe_atom *a,
                   axe_fit *f);

#endif
