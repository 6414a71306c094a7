/* test_rank.c - kernels over a mesh on ranks that have their parts alone: what
 * comes of it, again and with other sizes; what is wrong on one rank is the
 * same error on all, which they can go on from; what ends all. */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/dist.h"

static const char text[] =
    "mesh node[N], gpu[P];\n"
    "kernel k(in i64 steps, in f32 X[M @ gpu, K @ node], inout f32 Y[M],\n"
    "         in f32 A[M] : partial(gpu), out f32 Z[K @ (node, gpu)],\n"
    "         in f32 W[K] : at node = 0)\n"
    "{\n"
    "    index m, k;\n"
    "    for (t : steps) Y[m] += A[m] + sum[k](X[m, k]);\n"
    "    Z[k] = sum[m](X[m, k]) + W[k];\n"
    "}\n"
    "kernel other(in f32 X[M @ gpu], out f32 Y[M]) { index m; Y[m] = X[m]; }\n";

static const axe_program *
compile(axe_ctx *cx, const char *source, size_t n, const char *kernel)
{
    axe_compile_spec   spec = {.kernel = kernel};
    const axe_program *p;

    if (axe_compile(cx, axe_source_add(cx, "k.axe", source, n), &spec,
                    AXE_STAGE_C, &p) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    return p;
}

static int64_t
block(int64_t n, int64_t parts, int64_t i, int64_t *first)
{
    int64_t each = (n + parts - 1) / parts;

    *first = i * each < n ? i * each : n;
    return n - *first < each ? n - *first : each;
}

static float
x_at(int64_t m, int64_t k)
{
    return (float)((m * 7 + k * 3) % 11);
}

/* ------------------------------------------------------------ what goes well
 */

typedef struct job {
    const axe_program *p;
    int64_t            N, P, M, K, steps;
} job;

enum { MOST = 4096 };

typedef struct parts {
    int64_t   m, k, nk; /* of X, and of Z */
    int64_t   m0, k0, nk0;
    int64_t   shape[6][2];
    float     x[MOST], y[MOST], a[MOST], z[MOST], w[MOST];
    axe_local local[6];
} parts;

static void
fill(const job *j, int64_t rank, parts *q)
{
    int64_t node = rank / j->P, gpu = rank % j->P;

    q->m = block(j->M, j->P, gpu, &q->m0);
    q->k = block(j->K, j->N, node, &q->k0);
    q->nk = block(j->K, j->N * j->P, rank, &q->nk0);
    for (int64_t i = 0; i < q->m; i++)
        for (int64_t c = 0; c < q->k; c++)
            q->x[i * q->k + c] = x_at(q->m0 + i, q->k0 + c);
    for (int64_t i = 0; i < j->M; i++) {
        q->y[i] = (float)i;
        q->a[i] = (float)(gpu + 1);
    }
    for (int64_t i = 0; i < j->K; i++)
        q->w[i] = (float)(100 * i);
    memcpy(
        q->shape,
        (int64_t[6][2]){
            {0}, {q->m, q->k}, {j->M}, {j->M}, {q->nk}, {node == 0 ? j->K : 0}},
        sizeof q->shape);
    memcpy(q->local,
           (axe_local[]){
               {.array = {"steps", "i64", 0, NULL, NULL, (void *)&j->steps}},
               {.array = {"X", "f32", 2, q->shape[1], NULL, q->x}},
               {.array = {"Y", "f32", 1, q->shape[2], NULL, q->y}},
               {.array = {"A", "f32", 1, q->shape[3], NULL, q->a}},
               {.array = {"Z", "f32", 1, q->shape[4], NULL, q->z}},
               {.array = {"W", "f32", 1, q->shape[5], NULL, q->w}}},
           sizeof q->local);
}

static axe_status
right(axe_ctx *cx, const job *j, const parts *q, int64_t times)
{
    for (int64_t i = 0; i < j->M; i++) {
        double want = (double)i, row = (double)(j->P * (j->P + 1) / 2);

        for (int64_t c = 0; c < j->K; c++)
            row += x_at(i, c);
        want += row * (double)(j->steps * times);
        if (q->y[i] != (float)want)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "Y[%d] is %g, not %g",
                            (int)i, q->y[i], want);
    }
    for (int64_t i = 0; i < q->nk; i++) {
        double want = 100 * (double)(q->nk0 + i);

        for (int64_t r = 0; r < j->M; r++)
            want += x_at(r, q->nk0 + i);
        if (q->z[i] != (float)want)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "Z[%d] is %g, not %g",
                            (int)i, q->z[i], want);
    }
    return AXE_OK;
}

static axe_status
opened(axe_ctx *cx, axe_engine *e, const axe_program *p, axe_device **device,
       axe_rank_exec **x)
{
    AXE_TRY(axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, device));
    return axe_rank_exec_new(cx, e, *device, p, x);
}

static axe_status
compute(axe_ctx *cx, axe_engine *e, void *user)
{
    const job     *j = user;
    axe_size       size[] = {{"N", j->N}};
    axe_device    *device;
    axe_rank_exec *x;
    static parts   q;

    AXE_TRY(opened(cx, e, j->p, &device, &x));
    for (int n = 0; n < 6; n++) {
        job    now = *j;
        size_t before = axe_ctx_bytes(cx);

        now.M = n < 5 ? j->M : 2 * j->M + 1; /* new sizes, a new plan */
        fill(&now, axe_engine_rank(e), &q);
        AXE_TRY(axe_rank_launch(cx, x, 6, q.local, 1, size));
        AXE_TRY(right(cx, &now, &q, 1));
        if (n > 1 && n < 5 && axe_ctx_bytes(cx) != before)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "a launch keeps memory");
    }
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_computes(void **state)
{
    static const int64_t rows[][5] = {
        {1, 1, 5, 4, 2}, {2, 2, 9, 7, 1}, {1, 4, 10, 3, 3}, {3, 1, 4, 8, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        axe_ctx           *cx = axe_ctx_new();
        job                j = {compile(cx, text, strlen(text), "k"),
                                rows[i][0],
                                rows[i][1],
                                rows[i][2],
                                rows[i][3],
                                rows[i][4]};
        axe_engine_options o = {.n_rank = j.N * j.P, .heap = 1 << 20};

        if (axe_spmd(cx, &o, compute, &j) != AXE_OK)
            fail_msg("row %d: %s", (int)i, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

/* Shapes of what is missing, on each rank its own. */
static axe_status
look(axe_ctx *cx, axe_engine *e, void *user)
{
    const job     *j = user;
    axe_size       size[] = {{"N", j->N}};
    axe_device    *device;
    axe_rank_exec *x;
    axe_shape      shape[6];
    static parts   q;

    AXE_TRY(opened(cx, e, j->p, &device, &x));
    fill(j, axe_engine_rank(e), &q);
    if (axe_rank_layout(cx, x, 1))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "a layout before a launch");
    AXE_TRY(axe_rank_shapes(cx, x, 2, q.local, 1, size, shape));
    for (int i = 0; i < 6; i++)
        if (shape[i].n != q.local[i].array.rank ||
            memcmp(shape[i].extent, q.shape[i], (size_t)shape[i].n * 8) != 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "shape %d", i);
    if (axe_rank_shapes(cx, x, 1, q.local, 1, size, shape) != AXE_EARG ||
        !strstr(axe_last_error(cx), "the shape of X does not follow"))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "a shape of nothing");
    AXE_TRY(axe_rank_launch(cx, x, 6, q.local, 1, size));
    if (strcmp(axe_rank_layout(cx, x, 4), "7@(node, gpu)") != 0 ||
        strcmp(axe_rank_layout(cx, x, 5), "7 at node=0") != 0 ||
        axe_rank_layout(cx, x, 6) || axe_rank_layout(cx, x, -1))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "layout %s",
                        axe_rank_layout(cx, x, 4));
    AXE_TRY(axe_rank_exec_free(x));
    if (axe_rank_launch(cx, NULL, 0, NULL, 0, NULL) != AXE_EARG)
        return AXE_EARG;
    axe_device_free(device);
    return AXE_OK;
}

static void
test_shapes(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    job      j = {compile(cx, text, strlen(text), "k"), 2, 2, 9, 7, 1};
    axe_engine_options o = {.n_rank = 4, .heap = 1 << 20};

    (void)state;
    if (axe_spmd(cx, &o, look, &j) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

/* What overlaps has arrays in symmetric memory. */
static axe_status
product(axe_ctx *cx, axe_engine *e, void *user)
{
    enum { M = 100, N = 36, K = 45 };
    int64_t        P = axe_engine_size(e), r = axe_engine_rank(e), k0, m0;
    int64_t        k = block(K, P, r, &k0), m = block(M, P, r, &m0);
    static float   a[M * K], b[N * K], c[M * N];
    axe_device    *device;
    axe_rank_exec *x;
    axe_local      local[] = {
             {.array = {"A", "f32", 2, (int64_t[]){M, k}, NULL, a}},
             {.array = {"B", "f32", 2, (int64_t[]){N, k}, NULL, b}},
             {.array = {"C", "f32", 2, (int64_t[]){m, N}, NULL, c}}};

    AXE_TRY(opened(cx, e, user, &device, &x));
    for (int turn = 0; turn < 3; turn++) {
        for (int64_t i = 0; i < M * k; i++)
            a[i] = x_at(i / k, k0 + i % k) + (float)turn;
        for (int64_t i = 0; i < N * k; i++)
            b[i] = x_at(i / k + 1, k0 + i % k);
        AXE_TRY(axe_rank_launch(cx, x, 3, local, 0, NULL));
        for (int64_t i = 0; i < m * N; i++) {
            float want = 0;

            for (int64_t q = 0; q < K; q++)
                want +=
                    (x_at(m0 + i / N, q) + (float)turn) * x_at(i % N + 1, q);
            if (c[i] != want)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "turn %d: C[%d] is %g, not %g", turn, (int)i,
                                c[i], want);
        }
    }
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_overlap(void **state)
{
    static char source[1 << 14];
    FILE       *f =
        fopen(AXE_SOURCE_DIR "/kernels/dist/gemm_reduce_scatter.axe", "r");
    size_t n = f ? fread(source, 1, sizeof source, f) : 0;

    (void)state;
    assert_true(n > 0);
    fclose(f);
    for (int64_t p = 1; p <= 3; p++) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = p, .heap = 1 << 22};

        if (axe_spmd(cx, &o, product, (void *)compile(cx, source, n, NULL)) !=
            AXE_OK)
            fail_msg("%d ranks: %s", (int)p, axe_last_error(cx));
        axe_ctx_free(cx);
    }
}

/* ------------------------------------------------------------ what is refused
 */

static const char two[] =
    "mesh gpu[P];\n"
    "kernel k(in f32 X[M @ gpu, K], in f32 Y[M], in i64 n,\n"
    "         in f32 S[K] : partial(gpu), out f32 Z[M @ gpu])\n"
    "{ index m, k; Z[m] = sum[k](X[m, k] * S[k]) + Y[m] + f32(n); }\n";

typedef struct wrong {
    int         rank; /* that has it; -1: all */
    axe_status  code;
    const char *says; /* on rank 0 */
    int         param;
    axe_local   local; /* instead, where it has a name, but for memory */
    int         n_size;
    axe_size    size;
} wrong;

#define SHAPE(...)                                                             \
    (const int64_t[])                                                          \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define X(...)                                                                 \
    {                                                                          \
        "X", "f32", 2, SHAPE(__VA_ARGS__), NULL, NULL                          \
    }
#define Y(...)                                                                 \
    {                                                                          \
        "Y", "f32", 1, SHAPE(__VA_ARGS__), NULL, NULL                          \
    }
#define WHOLE(...)                                                             \
    {                                                                          \
        2, SHAPE(__VA_ARGS__)                                                  \
    }

/* 10 rows over 3 devices: 4, 4 and 2. */
static const wrong wrongs[] = {
    {1,
     AXE_ESHAPE,
     "X (dimension 0) is 5 on device 1, where 11@gpu, 4, as it is declared, "
     "has 4; devices have 4, 5, 2",
     0,
     {.array = X(5, 4)},
     0,
     {0}},
    {2,
     AXE_ESHAPE,
     "X (dimension 1) is 3 on device 2, where 10@gpu, 4, as it is declared, "
     "has 4; devices have 4, 4, 3",
     0,
     {.array = X(2, 3)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "M is 10 from X (dimension 0) but 9 from Y (dimension 0)",
     1,
     {.array = Y(9)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "X is given as 10, 4 and declared as 10@gpu, 4: device 0 has index 4 of "
     "dimension 0 by what is given alone",
     0,
     {.array = X(10, 4), .layout = "10, 4"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "X is given as P(None, 'gpu') and declared as 10@gpu, 4: device 0 has "
     "index 4 of dimension 0 by what is given alone",
     0,
     {.array = X(4, 4),
      .layout = "P(None, 'gpu')",
      .format = "jax",
      .whole = WHOLE(10, 4)},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "Y is given as 10@gpu and declared as 10: device 0 has index 4 of "
     "dimension 0 by what is declared alone",
     1,
     {.array = Y(4), .layout = "10@gpu"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "Y is given as [S(0)] and declared as 10: device 0 has index 4 of "
     "dimension 0 by what is declared alone",
     1,
     {.array = Y(10), .layout = "[S(0)]", .format = "dtensor"},
     0,
     {0}},
    {-1,
     AXE_ESHAPE,
     "S is given as [R] and declared as 4 + partial(gpu): devices hold addends "
     "of it by one of them alone",
     3,
     {.array = {"S", "f32", 1, SHAPE(4), NULL, NULL},
      .layout = "[R]",
      .format = "dtensor"},
     0,
     {0}},
    {-1, AXE_ESYNTAX, "expected", 1, {.array = Y(10), .layout = "10@"}, 0, {0}},
    {-1,
     AXE_ENAME,
     "there is no format 'alpha' of shardings",
     1,
     {.array = Y(10), .layout = "x", .format = "alpha"},
     0,
     {0}},
    {1,
     AXE_ETYPE,
     "rank 1 of 3: Y has elements of f32, not of f64",
     1,
     {.array = {"Y", "f64", 1, SHAPE(10), NULL, NULL}},
     0,
     {0}},
    {2,
     AXE_ESHAPE,
     "rank 2 of 3: Y has 1 dimension, the array given for it 2",
     1,
     {.array = {"Y", "f32", 2, SHAPE(10, 1), NULL, NULL}},
     0,
     {0}},
    {-1,
     AXE_ENAME,
     "kernel k has no parameter 'W'",
     1,
     {.array = {"W", "f32", 1, SHAPE(10), NULL, NULL}},
     0,
     {0}},
    {0, AXE_ENAME, "X is given twice", 1, {.array = X(4, 4)}, 0, {0}},
    {1,
     AXE_ESHAPE,
     "rank 1 of 3: X: what a device has of it is to be row-major",
     0,
     {.array = {"X", "f32", 2, SHAPE(4, 4), SHAPE(1, 4), NULL}},
     0,
     {0}},
    {1,
     AXE_EARG,
     "ranks differ in what they launch: rank 0 has k(f32 X, f32 Y, i64 n = 7,",
     -1,
     {.array = {0}},
     1,
     {"P", 3}},
    {1,
     AXE_EARG,
     "rank 1 has k(f32 X, f32 Y as 10,",
     1,
     {.array = Y(10), .layout = "10"},
     0,
     {0}},
    {-1,
     AXE_EARG,
     "the mesh has 2 devices, and there are 3",
     -1,
     {.array = {0}},
     1,
     {"P", 2}},
    {-1,
     AXE_ENAME,
     "kernel k has no size 'Q'",
     -1,
     {.array = {0}},
     1,
     {"Q", 2}},
};

enum { ROWS = 10, COLUMNS = 4 };

/* The launch as it should be, or with the row's change, on this rank. */
static axe_status
launch_two(axe_ctx *cx, axe_engine *e, axe_rank_exec *x, const wrong *w,
           float *z)
{
    static float   data[5][ROWS * COLUMNS];
    static int64_t seven = 7;
    int64_t        first, rank = axe_engine_rank(e);
    int64_t        m = block(ROWS, 3, rank, &first);
    axe_local      local[] = {{.array = X(m, COLUMNS)},
                              {.array = Y(ROWS)},
                              {.array = {"n", "i64", 0, NULL, NULL, &seven}},
                              {.array = {"S", "f32", 1, SHAPE(COLUMNS), NULL, NULL}},
                              {.array = {"Z", "f32", 1, SHAPE(m), NULL, z}}};
    bool           mine = w && (w->rank < 0 || w->rank == rank);

    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[0][i] = data[1][i] = data[3][i] = 1;
    if (mine && w->param >= 0)
        local[w->param] = w->local;
    for (int i = 0; i < 4; i++)
        if (i != 2)
            local[i].array.data = data[i];
    return axe_rank_launch(cx, x, 5, local, mine ? w->n_size : 0,
                           mine ? &w->size : NULL);
}

/* Each row fails on all ranks, and all go on. */
static axe_status
refuse(axe_ctx *cx, axe_engine *e, void *user)
{
    axe_device    *device;
    axe_rank_exec *x;
    float          z[ROWS] = {0};

    AXE_TRY(opened(cx, e, user, &device, &x));
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const wrong *w = &wrongs[i];
        axe_status   st = launch_two(cx, e, x, w, z);

        if (st != w->code || (axe_engine_rank(e) == 0 && w->rank != 0 &&
                              !strstr(axe_last_error(cx), w->says)))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "row %d: %s: \"%s\", not \"%s\"", (int)i,
                            axe_status_name(st), axe_last_error(cx), w->says);
        AXE_TRY(launch_two(cx, e, x, NULL, z));
        if (z[0] != 3 * COLUMNS + 1 + 7)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "row %d: %g", (int)i,
                            z[0]);
    }
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_refused(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 3, .heap = 1 << 20};

    (void)state;
    if (axe_spmd(cx, &o, refuse, (void *)compile(cx, two, strlen(two), NULL)) !=
        AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

/* ----------------------------------------------------------- what ends all */

typedef struct ending {
    const char *what, *says;
} ending;

typedef struct end_job {
    const axe_program *p, *other;
    const char        *what;
} end_job;

/* What rank 1 does instead. */
static axe_status
end_here(axe_ctx *cx, axe_engine *e, const end_job *j, axe_rank_exec *x)
{
    struct timespec nap = {2, 0};
    float           z[ROWS];

    if (strcmp(j->what, "exit") == 0)
        _exit(7);
    if (strcmp(j->what, "raise") == 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "my own trouble");
    if (strcmp(j->what, "return") == 0)
        return AXE_OK;
    if (strcmp(j->what, "sleep") == 0)
        nanosleep(&nap, NULL);
    return launch_two(cx, e, x, NULL, z);
}

static axe_status
end(axe_ctx *cx, axe_engine *e, void *user)
{
    const end_job *j = user;
    axe_device    *device;
    axe_rank_exec *x;
    float          z[ROWS];
    bool           mine = axe_engine_rank(e) == 1;

    AXE_TRY(opened(cx, e,
                   mine && strcmp(j->what, "kernel") == 0 ? j->other : j->p,
                   &device, &x));
    if (mine)
        return end_here(cx, e, j, x);
    AXE_TRY(launch_two(cx, e, x, NULL, z));
    AXE_TRY(launch_two(cx, e, x, NULL, z));
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static int
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

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
test_ends(void **state)
{
    static const ending rows[] = {
        {"exit", "rank 1 of 3 has exited with status 7"},
        {"raise", "my own trouble"},
        {"return", "ranks do different things"},
        {"sleep", "waited 0.7 s for rank 1"},
        {"kernel", "ranks differ in what they launch"},
        {"once", "ranks do different things"},
    };
    static char changed[sizeof two];

    (void)state;
    memcpy(changed, two, sizeof two);
    memcpy(strstr(changed, "+ f32"), "- f32", 5); /* of the same signature */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        axe_ctx           *cx = axe_ctx_new();
        end_job            j = {compile(cx, two, strlen(two), NULL),
                                compile(cx, changed, strlen(changed), NULL), rows[i].what};
        axe_engine_options o = {
            .n_rank = 3, .heap = 1 << 20, .timeout_ms = 700};
        double     begin = now();
        axe_status st = axe_spmd(cx, &o, end, &j);

        assert_int_not_equal(st, AXE_OK);
        if (!strstr(axe_last_error(cx), rows[i].says))
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].what, axe_last_error(cx),
                     rows[i].says);
        assert_true(now() - begin < 5);
        assert_int_equal(left_behind(), 0);
        axe_ctx_free(cx);
    }
}

/* ------------------------------------------------------------- other handles
 */

static axe_status
mishandle(axe_ctx *cx, axe_engine *e, void *user)
{
    static const char  plain[] = "kernel k(in f32 X[M], out f32 Y[M])\n"
                                 "{ index m; cta (i : 1) Y[m] = X[m]; }\n";
    axe_device_spec    one = {.n_thread = 1};
    axe_ctx           *elsewhere = axe_ctx_new();
    axe_device        *device;
    axe_rank_exec     *x;
    const axe_program *p = compile(cx, plain, strlen(plain), NULL);

    AXE_TRY(axe_device_new(cx, &one, &device));
    assert_false(axe_program_on_mesh(p));
    assert_true(axe_program_on_mesh(user));
    assert_int_equal(axe_rank_exec_new(cx, e, device, p, &x), AXE_EUNSUPPORTED);
    assert_non_null(strstr(axe_last_error(cx), "names no mesh"));
    assert_int_equal(axe_rank_exec_new(elsewhere, e, device, user, &x),
                     AXE_EARG);
    assert_int_equal(axe_rank_exec_new(cx, e, NULL, user, &x), AXE_EARG);
    assert_int_equal(axe_rank_exec_new(cx, NULL, device, user, &x), AXE_EARG);
    assert_int_equal(axe_rank_exec_free(NULL), AXE_OK);
    axe_device_free(device);
    axe_ctx_free(elsewhere);
    return AXE_OK;
}

static void
test_handles(void **state)
{
    axe_ctx *cx = axe_ctx_new();

    (void)state;
    if (axe_spmd(cx, NULL, mishandle,
                 (void *)compile(cx, two, strlen(two), NULL)) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computes), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_overlap),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ends),     cmocka_unit_test(test_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
