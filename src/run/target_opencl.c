/* target_opencl.c - grids as OpenCL C, and a simulator of them. */
#include "print/opencl/opencl.h"
#include "run/target.h"

const axe_target axe_opencl_target = {
    .print = axe_print_opencl,
    .simulate = axe_simulate,
};
