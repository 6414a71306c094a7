/* nccl_abi.c - the numbers that run/gpu/nccl.def takes from nccl.h are those of
 * the header that is installed.  Compiling it is the test. */
#include <nccl.h>
#include <stddef.h>

enum {
    I8 = ncclUint8,
    I32 = ncclUint32,
    I64 = ncclUint64,
    F32 = ncclFloat32,
    F64 = ncclFloat64
};

#define NCCL(number, type) _Static_assert(number == (type), #number);
#include "run/gpu/nccl.def"

_Static_assert(ncclInProgress == 7, "calls that do not block");
_Static_assert(offsetof(ncclConfig_t, magic) == 8 &&
                   offsetof(ncclConfig_t, version) == 12 &&
                   offsetof(ncclConfig_t, blocking) == 16,
               "how a communicator is made");
_Static_assert(sizeof(ncclUniqueId) == 128, "a number for all ranks");
_Static_assert(ncclSum == 0, "sums");
