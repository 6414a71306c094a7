/* opencl_abi.c - the numbers of run/opencl/opencl.def and opencl/errors.def are
 * those of the headers that are installed, and so are the types behind our own
 * declarations.  Compiling it is the test. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Headers of before 2021 have no atomics of floats. */
#ifndef CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT
#define CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT 0x4231
#endif

#define NUMBER(name, value) _Static_assert(CL_##name == (value), #name);
#include "run/opencl/opencl.def"
#define ERROR(number, name, help) _Static_assert(CL_##name == (number), #name);
#include "run/opencl/errors.def"

_Static_assert(sizeof(cl_int) == 4 && sizeof(cl_uint) == 4 &&
                   sizeof(cl_bool) == 4,
               "int, unsigned");
_Static_assert(sizeof(cl_device_type) == 8 && sizeof(cl_mem_flags) == 8 &&
                   sizeof(cl_command_queue_properties) == 8,
               "uint64_t");
_Static_assert(sizeof(cl_context_properties) == sizeof(intptr_t), "intptr_t");
_Static_assert(sizeof(cl_mem) == sizeof(void *), "handles");
