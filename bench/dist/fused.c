/* fused.c - kernels of which what goes between devices overlaps with what they
 * compute, beside the same computed first and then sent (or received first) by
 * an MPI's collective, and by a plain pull over shared memory: in the same
 * processes, in turns.  Built by mpicc, run by bench/dist/run_fused.
 *
   fused ENGINE FOLDER M N K BM ROUNDS   FOLDER has the kernels
 *
 * Prints "KERNEL WHAT us" a line, by rank 0: lower quartiles over rounds of the
 * slowest rank's time; and "KERNEL hidden PART", the median over rounds of
 * 1 - exposed / move.
 *
   overlap     axe, as it is
   after       axe, the same pieces, nothing moves meanwhile
   mpi, pull   the kernel on all rows, and the collective, or the pull
   compute     the kernel on all rows alone
   move        axe's plan alone
   exposed     of overlap, what a rank was not in the kernel for: no difference
 of times of two runs, between which a core's clock changes by more
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "axe/compile.h"
#include "axe/engine.h"
#include "run/dist/dist.h"

enum { MOST = 1 << 12, TIMES = 3, N_WHAT = 7 };

typedef enum what { OVERLAP, AFTER, BY_MPI, PULL, COMPUTE, MOVE, EXPOSED } what;

static const char *const what_text[N_WHAT] = {
    "overlap", "after", "mpi", "pull", "compute", "move", "exposed"};

typedef struct job {
    const char          *engine, *folder, *bm;
    int64_t              m, n, k, rounds;
    bool                 gathers;
    const axe_program   *program;
    const axe_dist_plan *plan[2]; /* OVERLAP, AFTER */
    void                *data[3];
    double               us[N_WHAT][MOST];
    int                  n_us[N_WHAT];
    /* Of a rank: */
    axe_engine       *e;
    axe_exec         *exec;
    float            *a, *b, *mid, *c; /* mid: S or X */
    axe_array         array[3];
    axe_reshard_exec *move;
} job;

static double
now_us(void)
{
    return 1e6 * clock_seconds(CLOCK_MONOTONIC);
}

/* Of the slowest rank; of what is exposed that of the rank that computed
 * longest, as others also wait for it. */
static void
note(job *j, what w, double us)
{
    double most;

    MPI_Allreduce(&us, &most, 1, MPI_DOUBLE, w == EXPOSED ? MPI_MIN : MPI_MAX,
                  MPI_COMM_WORLD);
    if (j->n_us[w] < MOST)
        j->us[w][j->n_us[w]++] = most;
}

/* ------------------------------------------------------------------ by hand */

static axe_status
compute(axe_ctx *cx, job *j)
{
    return axe_launch(cx, j->exec, 3, j->array, 0, NULL);
}

/* Rows of mid of all ranks: summed into c, or copied. */
static axe_status
pull(job *j)
{
    int64_t size = axe_engine_size(j->e), rank = axe_engine_rank(j->e);
    int64_t rows = j->m / size, wide = j->gathers ? j->k : j->n;
    int64_t n = rows * wide;

    AXE_TRY(axe_engine_barrier(j->e));
    if (j->gathers) {
        for (int64_t r = 0; r < size; r++)
            memcpy(j->mid + r * n, axe_engine_peer(j->e, j->a, r),
                   (size_t)n * sizeof(float));
        return axe_engine_barrier(j->e);
    }
    for (int64_t r = 1; r < size; r++) {
        const float *first = axe_engine_peer(j->e, j->mid, 0);
        const float *from = axe_engine_peer(j->e, j->mid, r);

        first = r == 1 ? first + rank * n : j->c;
        from += rank * n;
        for (int64_t i = 0; i < n; i++)
            j->c[i] = first[i] + from[i];
    }
    return axe_engine_barrier(j->e);
}

static void
by_mpi(job *j)
{
    int n = (int)(j->m / axe_engine_size(j->e) * (j->gathers ? j->k : j->n));

    if (j->gathers)
        MPI_Allgather(j->a, n, MPI_FLOAT, j->mid, n, MPI_FLOAT, MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter_block(j->mid, j->c, n, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
}

static axe_status
once(axe_ctx *cx, job *j, what w)
{
    const void *out;
    double      t;

    for (int i = 0; i < TIMES; i++) {
        AXE_TRY(axe_engine_barrier(j->e));
        t = now_us();
        if (j->gathers && w == BY_MPI)
            by_mpi(j);
        if (j->gathers && w == PULL)
            AXE_TRY(pull(j));
        if (w == MOVE)
            AXE_TRY(axe_reshard_go(j->move, &out));
        else
            AXE_TRY(compute(cx, j));
        if (!j->gathers && w == BY_MPI)
            by_mpi(j);
        if (!j->gathers && w == PULL)
            AXE_TRY(pull(j));
        AXE_TRY(axe_engine_barrier(j->e));
        note(j, w, now_us() - t);
    }
    return AXE_OK;
}

/* -------------------------------------------------------------------- ranks */

static axe_status
by_axe(axe_ctx *cx, job *j, what w)
{
    axe_device_spec spec = {.n_thread = 1};
    axe_dist_time   s[TIMES];
    axe_mark        mark = axe_ctx_mark(cx);

    AXE_TRY(axe_dist_on_rank(cx, j->e, j->plan[w], &spec, j->data, TIMES, s));
    for (int i = 0; i < TIMES; i++)
        note(j, w, s[i].seconds * 1e6);
    for (int i = 0; i < TIMES && w == OVERLAP; i++)
        note(j, EXPOSED, s[i].exposed * 1e6);
    axe_ctx_release(cx, mark);
    return AXE_OK;
}

static axe_status
array(axe_engine *e, axe_ctx *cx, const char *name, int64_t rows, int64_t wide,
      axe_array *out)
{
    int64_t *shape = axe_new_array(cx, int64_t, 2);
    void    *at;

    shape[0] = rows;
    shape[1] = wide;
    AXE_TRY(axe_engine_alloc(e, rows * wide * (int64_t)sizeof(float), &at));
    for (int64_t i = 0; i < rows * wide; i++)
        ((float *)at)[i] = (float)(i % 7) / 8;
    *out = (axe_array){
        .name = name, .type = "f32", .rank = 2, .shape = shape, .data = at};
    return AXE_OK;
}

static axe_status
open_rank(axe_ctx *cx, job *j)
{
    int64_t         size = axe_engine_size(j->e);
    bool            g = j->gathers;
    const axe_fuse *f = &j->plan[0]->fuse[0];
    axe_device     *device;
    axe_array       a;

    AXE_TRY(axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &device));
    AXE_TRY(axe_exec_new(cx, device, j->program->part[0], &j->exec));
    AXE_TRY(array(j->e, cx, "A", g ? j->m / size : j->m, g ? j->k : j->k / size,
                  &a));
    AXE_TRY(array(j->e, cx, "B", g ? j->n / size : j->n, g ? j->k : j->k / size,
                  &j->array[1]));
    if (g)
        AXE_TRY(array(j->e, cx, "X", j->m, j->k, &j->array[0]));
    else
        j->array[0] = a;
    AXE_TRY(array(j->e, cx, g ? "C" : "S", j->m, g ? j->n / size : j->n,
                  &j->array[2]));
    j->a = a.data;
    j->b = j->array[1].data;
    j->mid = j->array[g ? 0 : 2].data;
    j->c = calloc((size_t)(j->m * j->n), sizeof(float));
    return j->c ? axe_reshard_prepare(j->e, f->plan, AXE_NUMBER_F32, &j->move)
                : AXE_EIO;
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    job *j = user;

    j->e = e;
    AXE_TRY(open_rank(cx, j));
    for (int64_t r = -1; r < j->rounds; r++) {
        if (r == 0)
            memset(j->n_us, 0, sizeof j->n_us);
        AXE_TRY(by_axe(cx, j, OVERLAP));
        AXE_TRY(once(cx, j, COMPUTE));
        AXE_TRY(once(cx, j, MOVE));
        AXE_TRY(once(cx, j, BY_MPI));
        AXE_TRY(by_axe(cx, j, AFTER));
        if (axe_engine_peer(e, j->a, 0))
            AXE_TRY(once(cx, j, PULL));
    }
    return axe_engine_barrier(e);
}

/* --------------------------------------------------------------------- main */

/* Before the times are sorted. */
static double
hidden(const job *j)
{
    static double part[MOST];
    int           n = j->n_us[OVERLAP];

    for (int i = 0; i < n; i++)
        part[i] = 1 - j->us[EXPOSED][i] / j->us[MOVE][i];
    return median_of(part, n);
}

static axe_status
plan(axe_ctx *cx, job *j, const char *kernel, int ranks)
{
    const char      *path = axe_textf(cx, "%s/%s.axe", j->folder, kernel);
    const char      *set[] = {"BM"};
    axe_compile_spec spec = {.n_set = 1, .set_name = set, .set_value = &j->bm};
    int64_t         *size;
    char            *text = calloc(1, 1 << 16);
    FILE            *f = fopen(path, "r");
    size_t           n = f && text ? fread(text, 1, (1 << 16) - 1, f) : 0;
    int32_t          source = axe_source_add(cx, path, text, n);

    AXE_TRY(axe_compile(cx, source, &spec, AXE_STAGE_C, &j->program));
    size = axe_new_array(cx, int64_t, j->program->kernel->n_size);
    for (int i = 0; i < j->program->kernel->n_size; i++) {
        char name = j->program->kernel->size[i]->name[0];

        size[i] = name == 'M'   ? j->m
                  : name == 'N' ? j->n
                  : name == 'K' ? j->k
                                : ranks;
    }
    for (int i = 0; i < 2; i++) {
        axe_dist_options opt = {.one_by_one = i == AFTER};

        AXE_TRY(axe_dist_plan_with(cx, j->program, size, &opt, &j->plan[i]));
    }
    return AXE_OK;
}

static axe_status
bench(axe_ctx *cx, job *j, const char *kernel, int ranks)
{
    bool               speaks;
    int64_t            bytes = (j->m + j->n) * j->k + j->m * j->n;
    axe_engine_options o = {.engine = j->engine, .speaks = &speaks};
    axe_status         st;

    j->gathers = strcmp(kernel, "allgather_gemm") == 0;
    AXE_TRY(plan(cx, j, kernel, ranks));
    o.heap = j->plan[0]->heap + bytes * 16 + (1 << 20);
    for (int i = 0; i < 3; i++)
        j->data[i] = calloc((size_t)bytes, sizeof(float));
    st = axe_spmd(cx, &o, on_rank, j);
    if (st == AXE_OK && speaks)
        printf("%s hidden %.4f\n", kernel, hidden(j));
    for (int w = 0; st == AXE_OK && speaks && w < N_WHAT; w++) {
        sort_numbers(j->us[w], j->n_us[w]);
        if (j->n_us[w] > 0)
            printf("%s %s %.1f\n", kernel, what_text[w],
                   j->us[w][j->n_us[w] / 4]);
    }
    fflush(stdout);
    return st;
}

int
main(int argc, char **argv)
{
    static job j;
    axe_ctx   *cx = axe_ctx_new();
    int        ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 8)
        return 2;
    j.engine = argv[1];
    j.folder = argv[2];
    j.m = atoll(argv[3]);
    j.n = atoll(argv[4]);
    j.k = atoll(argv[5]);
    j.bm = argv[6];
    j.rounds = atoll(argv[7]);
    for (int i = 0; i < 2; i++)
        if (bench(cx, &j, i ? "allgather_gemm" : "gemm_reduce_scatter",
                  ranks) != AXE_OK) {
            fprintf(stderr, "fused: %s\n", axe_last_error(cx));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    MPI_Finalize();
    return 0;
}
