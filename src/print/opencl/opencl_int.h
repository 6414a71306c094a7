/* opencl_int.h - between the files of the printer of OpenCL C. */
#ifndef AXE_PRINT_OPENCL_INT_H
#define AXE_PRINT_OPENCL_INT_H

#include "print/opencl/opencl.h"
#include "print/spell/spell.h"

/* One invocation of an atom behind `indent` blanks. */
AXE_CHECK axe_status axe_cl_atom(axe_speller *p, const axe_lir *l, int indent);

#endif
