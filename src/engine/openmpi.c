/* openmpi.c - Open MPI's binary interface: handles are addresses, constants are
 * objects of the library. */
#define _POSIX_C_SOURCE 200809L

#include "engine/engine.h"

#include "base/dl.h"

#define MPI_NAME "openmpi"
#define MPI_TABLE axe_engine_openmpi
#define MPI_PACKAGE "openmpi-bin"
#define MPI_RUN "mpirun -n 4 axe ..."

typedef void *handle;

static const char *const mpi_files[] = {"libmpi.so.40", "libmpi.so"};
static void *const       mpi_ignore = NULL;

static const char *
find_constants(handle *world, handle *byte)
{
    static const char *const name[] = {"ompi_mpi_comm_world", "ompi_mpi_byte"};
    void                    *at[2];
    const char              *missing =
        axe_dl_objects(AXE_LEN(mpi_files), mpi_files, 2, name, at);

    if (!missing) {
        *world = at[0];
        *byte = at[1];
    }
    return missing;
}

#include "engine/mpi_body.h"
