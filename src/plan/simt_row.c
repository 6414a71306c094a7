/* simt_row.c - rows of the machine's table that one thread, or a few, issue. */
#include <string.h>

#include "plan/simt.h"

const axe_atom *
axe_simt_find_move(axe_ctx *cx, const axe_machine *mc, axe_atom_kind kind,
                   axe_arg_space d, axe_arg_space a, axe_type t, int width,
                   int *param)
{
    const axe_atom *best = NULL;
    int             bytes = width * axe_type_table[t].bits / 8;

    (void)cx;
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        bool one = row->kind == kind && row->by == AXE_SCOPE_THREAD &&
                   row->space[0] == d && row->space[1] == a &&
                   row->space[2] == AXE_ARG_NONE;
        if (one && row->align == bytes && row->group[0] == '\0' &&
            axe_machine_has(mc, row) && (!best || row->cost < best->cost)) {
            best = row;
            *param = width;
        }
    }
    return best;
}

const axe_atom *
axe_simt_find_sync(const axe_machine *mc, axe_sync_kind kind, axe_scope_kind by,
                   const char *group, axe_arg_space first, axe_arg_space second)
{
    for (int i = 0; i < mc->n_atom; i++) {
        const axe_atom *row = &mc->atom[i];
        if (row->kind == AXE_ATOM_SYNC && row->sync == kind && row->by == by &&
            row->space[0] == first && row->space[1] == second &&
            strcmp(row->group, group) == 0 && axe_machine_has(mc, row))
            return row;
    }
    return NULL;
}
