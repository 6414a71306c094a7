/* fragment.h - registers of many threads against memory.
 *
 * A fragment is a layout over thread axes and `reg`: which thread holds which
 * element where.  An atom that moves elements between registers and memory is
 * two layouts over its own elements e: registers D(e), and memory A(e), which
 * may say that a thread named by A gives the address.  It moves a fragment F of
 * a tile that lies in memory as S iff, for every e,
 *
 *     S(F^-1(D(e))) = address of the thread that A(e) names + A(e) on m
 *
 * so the left side, cut at A's iters, must have A's strides on m; what it has
 * where A names threads are the addresses.  The same holds for every thread and
 * every invocation at once when D is repeated over them, so one composition
 * finds all of it, of any atom. */
#ifndef AXE_PLAN_SIMT_TEAM_FRAGMENT_H
#define AXE_PLAN_SIMT_TEAM_FRAGMENT_H

#include "move/banks.h"
#include "plan/simt/simt.h"

/* counter / over % extent steps of `stride` elements. */
typedef struct axe_step {
    axe_counter of;
    int64_t     over, extent, stride;
} axe_step;

int64_t axe_step_at(const axe_step *s, int64_t count);

/* How a thread group moves a fragment. */
typedef struct axe_reg_move {
    const axe_atom *atom;
    int             param;
    int64_t         n_invocation; /* by each thread, INVOCATION */
    int64_t         regs;   /* [elements] of registers from one to the next */
    int             n_step; /* WARP, LANE, INVOCATION */
    const axe_step *step;   /* [elements] of memory, before the swizzle */
    axe_banks       banks;  /* of one warp, all iterations; SHARED */
} axe_reg_move;

/* What is asked of the atoms. */
typedef struct axe_frag_query {
    axe_ctx           *cx;
    const axe_machine *mc;
    axe_atom_kind      kind;     /* LOAD or STORE */
    axe_arg_space      space;    /* of the memory */
    axe_type           type;     /* of the elements, in both */
    int                n_thread; /* of the thread group */
    const axe_layout
        *reg; /* dims as those of mem; thread axes of the thread group */
    const axe_layout *mem;     /* on m */
    axe_swizzle       swizzle; /* of byte addresses there; bits 0: none */
    int64_t           align;   /* [bytes] of the place where mem is 0 */
} axe_frag_query;

/* Threads that issue it together; 0: not known. */
int axe_atom_threads(const axe_machine *mc, const axe_atom *a);

/* Does this row do it? */
bool axe_frag_fit(const axe_frag_query *q, const axe_atom *a, int param,
                  axe_reg_move *out);
/* The row that does it in the fewest cycles; false: none. */
bool axe_frag_find(const axe_frag_query *q, axe_reg_move *out);

/* What was answered to asks that differ in `reg` and `mem` alone. */
typedef struct axe_frag_known {
    struct axe_frag_known *next;
    const axe_layout      *reg, *mem;
    bool                   found;
    axe_reg_move           move;
} axe_frag_known;

/* The same, of a question that stands in the list answered from there; leaves
 * nothing behind but what it adds to the list. */
bool axe_frag_find_once(const axe_frag_query *q, axe_frag_known **known,
                        axe_reg_move *out);
/* Elements along dimension d. */
int64_t axe_dim_size(const axe_layout *l, int d);

/* Registers of a fragment that one thread has. */
int64_t axe_frag_regs(axe_ctx *cx, const axe_layout *reg);

#endif
