/* thread_rows.h - rows of a machine of threads that one thread, or a few,
 * issue: which row moves, folds, exchanges or synchronises so.  Each costs a
 * walk of the table. */
#ifndef AXE_MACHINE_THREAD_ROWS_H
#define AXE_MACHINE_THREAD_ROWS_H

#include "machine/machine.h"

/* Elements of type t that one thread moves at once, at least one. */
int axe_simt_vector(const axe_machine *mc, axe_type t);

/* The cheapest row of that kind and spaces (of d, a) that the machine has for
 * one thread, `width` elements of type t at once; *param its P.  NULL: none. */
const axe_atom *axe_simt_find_move(axe_ctx *cx, const axe_machine *mc,
                                   axe_atom_kind kind, axe_arg_space d,
                                   axe_arg_space a, axe_type t, int width,
                                   int *param);
/* The cheapest row by which one thread folds `width` elements of type t into
 * global memory, whoever else does; *param its P.  NULL: none. */
const axe_atom *axe_simt_find_fold(const axe_machine *mc, axe_fold fold,
                                   axe_type t, int width, int *param);
/* A row that would fold one element if the machine had what it needs, or
 * NULL. */
const axe_atom *axe_simt_find_lacking_fold(const axe_machine *mc, axe_fold fold,
                                           axe_type t);
/* The row by which every lane gets the element of the lane whose number differs
 * in the bits of `distance`, a power of two; *param its P.  NULL: none. */
const axe_atom *axe_simt_find_exchange(axe_ctx *cx, const axe_machine *mc,
                                       axe_type t, int distance, int *param);
/* The row by which every lane gets the fold of the elements of all lanes whose
 * numbers differ from its own in these bits alone, if that costs less than an
 * exchange for each bit; *param its P.  NULL: none. */
const axe_atom *axe_simt_find_reduce(axe_ctx *cx, const axe_machine *mc,
                                     axe_fold fold, axe_type t, int bits,
                                     int *param);
/* The SYNC row of that kind, scope, group and spaces of operands, or NULL. */
const axe_atom *axe_simt_find_sync(const axe_machine *mc, axe_sync_kind kind,
                                   axe_scope_kind by, const char *group,
                                   axe_arg_space first, axe_arg_space second);
/* The group of atoms that complete by bytes at an mbarrier, as the row says
 * that expects them; "": there is none. */
const char *axe_simt_by_bytes(const axe_machine *mc);
/* The SYNC row of that kind for a group, whatever its scope; with an operand in
 * `space`, if that is not NONE.  NULL: none. */
const axe_atom *axe_simt_group_sync(const axe_machine *mc, axe_sync_kind kind,
                                    const char *group, axe_arg_space space);

#endif
