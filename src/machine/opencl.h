/* opencl.h - devices of OpenCL as machines.
 *
 * They are not among those of axe_machine_at yet: whose kind they are is
 * printed as CUDA C (docs/design/opencl.md).  Who has one makes it known by
 * axe_machine_use. */
#ifndef AXE_MACHINE_OPENCL_H
#define AXE_MACHINE_OPENCL_H

#include "machine/machine.h"

/* Rows of opencl/machines.def. */
int                axe_n_opencl(void);
const axe_machine *axe_opencl_at(int i);

#endif
