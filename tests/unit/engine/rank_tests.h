/* rank_tests.h - what tests of ranks do alike. */
#ifndef RANK_TESTS_H
#define RANK_TESTS_H

#define _GNU_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/engine.h"
#include "engine/engine.h"
#include "engine/swap.h"

static inline double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Files of ours in the system's folder of shared memory. */
static inline int
left_behind(void)
{
    DIR           *d = opendir("/dev/shm");
    struct dirent *x;
    int            n = 0;

    while (d && (x = readdir(d)))
        n += strstr(x->d_name, "axe") != NULL;
    if (d)
        closedir(d);
    return n;
}

/* Each rank writes its number into all others' memory. */
static inline axe_status
all_to_all(axe_ctx *cx, axe_engine *e, void *user)
{
    int64_t  n = axe_engine_size(e), me = axe_engine_rank(e), all[64];
    int64_t *at;

    (void)user;
    AXE_TRY(axe_engine_alloc(e, n * 8, (void **)&at));
    for (int64_t r = 0; r < n; r++)
        ((int64_t *)axe_engine_peer(e, at, r))[me] = 100 * me + r;
    AXE_TRY(axe_engine_barrier(e));
    for (int64_t r = 0; r < n; r++)
        if (at[r] != 100 * r + me)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "wrong memory");
    if (axe_engine_peer(e, at, n) || axe_engine_peer(e, at, -1))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "a rank that is none");
    for (int i = 0; i < 200; i++) {
        int64_t mine = me * me + i;

        AXE_TRY(axe_engine_gather(e, &mine, 8, all));
        for (int64_t r = 0; r < n; r++)
            if (all[r] != r * r + i)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "wrong gather");
        AXE_TRY(axe_engine_agree(e, "the number", "7"));
    }
    return AXE_OK;
}

/* What launchers set. */
static const char *const variables[] = {"AXE_RANK",
                                        "AXE_SIZE",
                                        "AXE_LOCAL_RANK",
                                        "AXE_LOCAL_SIZE",
                                        "AXE_RENDEZVOUS",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "PMIX_NAMESPACE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "MPI_LOCALRANKID",
                                        "MPI_LOCALNRANKS",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "LOCAL_RANK",
                                        "LOCAL_WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "SLURM_LOCALID",
                                        "SLURM_NTASKS_PER_NODE",
                                        "SLURM_JOB_ID",
                                        "SLURM_STEP_ID"};

/* "RANK=1 WORLD_SIZE=4" */
static inline void
set_variables(const char *text)
{
    char copy[512], *save = NULL;

    for (int i = 0; i < AXE_LEN(variables); i++)
        unsetenv(variables[i]);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        if (strchr(w, '=')) {
            *strchr(w, '=') = '\0';
            setenv(w, w + strlen(w) + 1, 1);
        }
}

#endif
