/* ops.h - what this room adds to `axe eval`: ops.def, then the conversions. */
#ifndef AXE_MESH_OPS_H
#define AXE_MESH_OPS_H

#include "layout/eval_int.h"

extern const axe_eval_ops axe_mesh_table;

/* clang-format off */
#define OP(name, handler, keys, what) axe_status handler(axe_job *j);
#include "mesh/ops.def"
/* clang-format on */

#endif
