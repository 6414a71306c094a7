/* dist.c - collectives over shared memory beside those of an MPI, in the same
 * processes, in turns: built by mpicc and run by bench/dist/run.
 *
   dist   prints "op bytes own_us mpi_us" a line, by rank 0
 *
 * bytes: what a rank has before (all-gather, broadcast: of the result's part it
 * gives), as MPI counts.  A time is the slowest rank's, the lower quartile of
 * rounds, as load only adds.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "axe/engine.h"

enum { ROUNDS = 21, MOST = 64 << 20 };

typedef enum op { GATHER, ALL, SCATTER, REDUCE, BCAST, N_OP } op;

static const char *const name[N_OP] = {
    "all-gather", "all-to-all", "reduce-scatter", "all-reduce", "broadcast"};
/* n: elements of all of the tensor's larger side; x: ranks */
static const char *const src_text[N_OP] = {"%lld@x", "%lld@x, %d",
                                           "%lld + partial(x)",
                                           "%lld + partial(x)", "%lld at x=0"};
static const char *const dst_text[N_OP] = {"%lld", "%lld, %d@x", "%lld@x",
                                           "%lld", "%lld"};

typedef struct job {
    int    n;        /* ranks */
    float *in, *out; /* of MPI */
} job;

static double
now_us(void)
{
    return 1e6 * clock_seconds(CLOCK_MONOTONIC);
}

/* count: elements that a rank has. */
static void
by_mpi(const job *j, op o, int count)
{
    int part = count / j->n;

    switch (o) {
    case GATHER:
        MPI_Allgather(j->in, count, MPI_FLOAT, j->out, count, MPI_FLOAT,
                      MPI_COMM_WORLD);
        break;
    case ALL:
        MPI_Alltoall(j->in, part, MPI_FLOAT, j->out, part, MPI_FLOAT,
                     MPI_COMM_WORLD);
        break;
    case SCATTER:
        MPI_Reduce_scatter_block(j->in, j->out, part, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Allreduce(j->in, j->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(j->in, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    case N_OP:
        break;
    }
}

/* A plan for `count` elements a rank. */
static axe_status
plan_of(axe_ctx *cx, const job *j, op o, long long count,
        const axe_reshard_plan **out)
{
    long long           n = o == GATHER ? count * j->n : count;
    axe_reshard_options opt = {.bits = 32};
    char                a[64], b[64];
    const axe_mesh     *m;
    axe_spread          s, d;

    if (o == ALL)
        n = j->n; /* rows: a rank has one, of count columns */
    snprintf(a, sizeof a, src_text[o], n, (int)count);
    snprintf(b, sizeof b, dst_text[o], n, (int)count);
    AXE_TRY(axe_mesh_read(cx, axe_textf(cx, "x=%d", j->n), &m));
    AXE_TRY(axe_spread_read(cx, m, a, &s));
    AXE_TRY(axe_spread_read(cx, m, b, &d));
    return axe_reshard(cx, m, &s, &d, &opt, out);
}

/* Calls in a row of one round: about a millisecond. */
static int
n_call(long long bytes)
{
    return bytes <= 4096      ? 200
           : bytes <= 1 << 18 ? 20
           : bytes <= 1 << 21 ? 4
                              : 1;
}

static axe_status
row(axe_ctx *cx, axe_engine *e, const job *j, op o, long long bytes)
{
    axe_mark                mark = axe_ctx_mark(cx);
    double                  us[2][ROUNDS];
    int                     count = (int)(bytes / 4), calls = n_call(bytes);
    const axe_reshard_plan *p;
    axe_reshard_exec       *x;
    const void             *out = NULL;

    AXE_TRY(plan_of(cx, j, o, count, &p));
    AXE_TRY(axe_reshard_prepare(e, p, AXE_NUMBER_F32, &x));
    memset(axe_reshard_input(x), 0, (size_t)bytes);
    for (int r = -2; r < ROUNDS; r++)
        for (int k = 0; k < 2; k++) {
            double t, most;

            AXE_TRY(axe_engine_barrier(e));
            t = now_us();
            for (int i = 0; i < calls; i++)
                if (k == 1)
                    by_mpi(j, o, count);
                else
                    AXE_TRY(axe_reshard_go(x, &out));
            t = (now_us() - t) / calls;
            MPI_Allreduce(&t, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            us[k][r < 0 ? 0 : r] = most;
        }
    AXE_TRY(axe_engine_barrier(e));
    AXE_TRY(axe_reshard_finish(x));
    for (int k = 0; k < 2; k++)
        sort_numbers(us[k], ROUNDS);
    if (axe_engine_rank(e) == 0) {
        printf("%s %lld %.3f %.3f\n", name[o], bytes, us[0][ROUNDS / 4],
               us[1][ROUNDS / 4]);
        fflush(stdout);
    }
    axe_ctx_release(cx, mark);
    return AXE_OK;
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job *j = user;
    for (int k = 0; k < N_OP; k++)
        for (long long b = 8; b <= MOST; b *= b < 1 << 24 ? 8 : 4) {
            long long bytes = b < 4 * j->n ? 4 * j->n : b;

            op o = (op)(N_OP - 1 - k);

            if (o == GATHER && bytes * j->n > 2LL * MOST)
                continue;
            AXE_TRY(row(cx, e, j, o, bytes / 4 / j->n * j->n * 4));
        }
    return AXE_OK;
}

int
main(int argc, char **argv)
{
    job                j = {0};
    axe_ctx           *cx;
    bool               speaks;
    axe_engine_options o = {.engine = "shm", .speaks = &speaks};

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &j.n);
    j.in = calloc(MOST, 1);
    j.out = calloc(2, (size_t)MOST);
    o.heap = (int64_t)MOST * 10;
    cx = axe_ctx_new();
    if (!j.in || !j.out || axe_spmd(cx, &o, on_rank, &j) != AXE_OK) {
        if (speaks)
            fprintf(stderr, "dist: %s\n", axe_last_error(cx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
