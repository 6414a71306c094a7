/* mpich.c - MPICH's binary interface, and that of all MPIs that keep to it
 * (Intel's, MVAPICH, Cray's): handles and constants are numbers. */
#define _POSIX_C_SOURCE 200809L

#include "engine/engine.h"

#define MPI_NAME "mpich"
#define MPI_TABLE axe_engine_mpich
#define MPI_PACKAGE "mpich"
#define MPI_RUN "mpiexec.hydra -n 4 axe ..."

typedef int handle;

static const char *const mpi_files[] = {"libmpich.so.12", "libmpi.so.12",
                                        "libmpich.so"};
static void *const       mpi_ignore = (void *)1;

static const char *
find_constants(handle *world, handle *byte)
{
    *world = 0x44000000;
    *byte = 0x4c00010d;
    return NULL;
}

#include "engine/mpi_body.h"
