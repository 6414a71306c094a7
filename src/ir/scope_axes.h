/* scope_axes.h - the axes by which layouts count what scopes execute: rows of
 * scopes.def.  Which of them a machine has, and how they nest, its own table
 * says. */
#ifndef AXE_IR_SCOPE_AXES_H
#define AXE_IR_SCOPE_AXES_H

#include "ir/ir.h"

/* The axis numbers those of one kind in one of another. */
typedef struct axe_scope_axis {
    const char    *name;
    axe_scope_kind counts, within;
} axe_scope_axis;

enum {
    AXE_N_SCOPE_AXIS = 0
#define AXIS(name, counts, within) +1
#include "ir/scopes.def"
};

extern const axe_scope_axis axe_scope_axis_table[AXE_N_SCOPE_AXIS];

/* The row of an axis; NULL: it counts nothing that executes. */
const axe_scope_axis *axe_scope_axis_of(const axe_ctx *cx, axe_axis a);

/* What it is called; NULL: there is none. */
const char *axe_scope_axis_name(axe_scope_kind counts, axe_scope_kind within);

/* ENAME: the machine has no such axis. */
AXE_CHECK axe_status axe_scope_axis_find(axe_ctx *cx, axe_scope_kind counts,
                                         axe_scope_kind within, axe_axis *out);

#endif
