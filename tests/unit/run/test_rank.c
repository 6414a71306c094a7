/* test_rank.c - kernels over a mesh on ranks that have their parts alone, again
 * and with other sizes; and from one process, on whole arrays. */
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"

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
compute(axe_ctx *cx, axe_engine *e, void *user)
{
    const job     *j = user;
    axe_size       size[] = {{"N", j->N}};
    axe_device    *device;
    axe_rank_exec *x;
    static parts   q;
    int            last = axe_engine_size(e) == 1 ? 400 : 5;

    AXE_TRY(opened(cx, e, j->p, &device, &x));
    for (int n = 0; n <= last; n++) {
        job    now = *j;
        size_t before = axe_ctx_bytes(cx);

        now.M = n < last ? j->M : 2 * j->M + 1; /* new sizes, a new plan */
        fill(&now, axe_engine_rank(e), &q);
        AXE_TRY(axe_rank_launch(cx, x, 6, q.local, 1, size));
        AXE_TRY(right(cx, &now, &q, 1));
        if (n > 2 && n < last && axe_ctx_bytes(cx) != before)
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
    q.shape[5][0] = j->K;
    if (axe_rank_launch(cx, x, 6, q.local, 1, size) != AXE_ESHAPE ||
        !strstr(axe_last_error(cx), "W is given with elements on device 2, "
                                    "which has none of 7 at node=0"))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "what nobody has");
    fill(j, axe_engine_rank(e), &q);
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

/* More extents than ranks tell one another at once. */
static const char many[] =
    "mesh gpu[P];\n"
    "kernel many(in f32 A[K, L, N, M @ gpu], in f32 B[K, L, N, M @ gpu],\n"
    "  in f32 C[K, L, N, M @ gpu], in f32 D[K, L, N, M @ gpu],\n"
    "  in f32 E[K, L, N, M @ gpu], in f32 F[K, L, N, M @ gpu],\n"
    "  in f32 G[K, L, N, M @ gpu], in f32 H[K, L, N, Q @ gpu],\n"
    "  out f32 Y[K, L, N, M @ gpu], out f32 Z[Q])\n"
    "{ index k, l, n, m, q;\n"
    "  Y[k, l, n, m] = A[k, l, n, m] + B[k, l, n, m] + C[k, l, n, m]\n"
    "    + D[k, l, n, m] + E[k, l, n, m] + F[k, l, n, m] + G[k, l, n, m];\n"
    "  Z[q] = sum[k, l, n](H[k, l, n, q]); }\n";

static axe_status
add_many(axe_ctx *cx, axe_engine *e, void *user)
{
    static const char *const name[] = {"A", "B", "C", "D", "E",
                                       "F", "G", "H", "Y", "Z"};
    int64_t                  first, rank = axe_engine_rank(e);
    int64_t        m = block(5, 2, rank, &first), q = block(3, 2, rank, &first);
    int64_t        shape[4] = {1, 2, 1, m}, last[4] = {1, 2, 1, q}, all = 3;
    static float   data[10][16];
    axe_local      local[10];
    axe_device    *device;
    axe_rank_exec *x;

    for (int i = 0; i < 10; i++) {
        local[i] = (axe_local){.array = {name[i], "f32", i == 9 ? 1 : 4,
                                         i == 9   ? &all
                                         : i == 7 ? last
                                                  : shape,
                                         NULL, data[i]}};
        for (int j = 0; j < 16; j++)
            data[i][j] = (float)(i + 1);
    }
    AXE_TRY(opened(cx, e, user, &device, &x));
    AXE_TRY(axe_rank_launch(cx, x, 10, local, 0, NULL));
    if (data[8][2 * m - 1] != 28 || data[8][2 * m] != 9 || data[9][2] != 16)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "%g, %g, %g",
                        data[8][2 * m - 1], data[8][2 * m], data[9][2]);
    last[3]++;
    if (axe_rank_launch(cx, x, 10, local, 0, NULL) != AXE_ESHAPE ||
        !strstr(axe_last_error(cx), "Q is 5 from H (dimension 3) but 3 from Z"))
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "not refused: %s",
                        axe_last_error(cx));
    AXE_TRY(axe_rank_exec_free(x));
    axe_device_free(device);
    return AXE_OK;
}

static void
test_many(void **state)
{
    axe_ctx           *cx = axe_ctx_new();
    axe_engine_options o = {.n_rank = 2};

    (void)state;
    if (axe_spmd(cx, &o, add_many,
                 (void *)compile(cx, many, strlen(many), NULL)) != AXE_OK)
        fail_msg("%s", axe_last_error(cx));
    axe_ctx_free(cx);
}

/* What overlaps has arrays in symmetric memory. */
enum { PM = 100, PN = 36, PK = 45 };

static axe_status
multiply(axe_ctx *cx, axe_engine *e, axe_rank_exec *x, int64_t rows, int turn)
{
    int64_t      P = axe_engine_size(e), r = axe_engine_rank(e), k0, m0;
    int64_t      k = block(PK, P, r, &k0), m = block(rows, P, r, &m0);
    static float a[PM * PK], b[PN * PK], c[PM * PN];
    axe_local    local[] = {
           {.array = {"A", "f32", 2, (int64_t[]){rows, k}, NULL, a}},
           {.array = {"B", "f32", 2, (int64_t[]){PN, k}, NULL, b}},
           {.array = {"C", "f32", 2, (int64_t[]){m, PN}, NULL, c}}};

    for (int64_t i = 0; i < rows * k; i++)
        a[i] = x_at(i / k, k0 + i % k) + (float)turn;
    for (int64_t i = 0; i < PN * k; i++)
        b[i] = x_at(i / k + 1, k0 + i % k);
    AXE_TRY(axe_rank_launch(cx, x, 3, local, 0, NULL));
    for (int64_t i = 0; i < m * PN; i++) {
        float want = 0;

        for (int64_t q = 0; q < PK; q++)
            want += (x_at(m0 + i / PN, q) + (float)turn) * x_at(i % PN + 1, q);
        if (c[i] != want)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "turn %d: C[%d] is %g, not %g", turn, (int)i, c[i],
                            want);
    }
    return AXE_OK;
}

/* Two by turns, of which one has other sizes each time: memory that they take
 * is given back, which the heap is too small to do without. */
static axe_status
product(axe_ctx *cx, axe_engine *e, void *user)
{
    axe_device    *device;
    axe_rank_exec *x, *y;

    AXE_TRY(opened(cx, e, user, &device, &x));
    AXE_TRY(axe_rank_exec_new(cx, e, device, user, &y));
    for (int turn = 0; turn < 8; turn++) {
        AXE_TRY(multiply(cx, e, x, turn % 2 ? PM : PM / 2, turn));
        AXE_TRY(multiply(cx, e, y, PM, turn));
        AXE_TRY(multiply(cx, e, y, PM, turn + 1));
    }
    AXE_TRY(axe_rank_exec_free(x));
    AXE_TRY(multiply(cx, e, y, PM, 9));
    AXE_TRY(axe_rank_exec_free(y));
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
        axe_engine_options o = {.n_rank = p, .heap = 160 << 10};

        if (axe_spmd(cx, &o, product, (void *)compile(cx, source, n, NULL)) !=
            AXE_OK)
            fail_msg("%d ranks: %s", (int)p, axe_last_error(cx));
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

/* --------------------------------------------------------- whole arrays */

static int n_forking[3];

static void
count_forking(void *user, axe_forking when)
{
    (void)user;
    n_forking[when]++;
}

static axe_status
sum_whole(axe_ctx *cx, const axe_program *p, int n_size, const axe_size *size,
          float *z)
{
    float     x[ROWS * COLUMNS], y[ROWS] = {0}, s[COLUMNS] = {2, 2, 2, 2};
    int64_t   n = 5;
    axe_array array[] = {
        {"X", "f32", 2, SHAPE(ROWS, COLUMNS), NULL, x},
        {"Y", "f32", 1, SHAPE(ROWS), NULL, y},
        {"n", "i64", 0, NULL, NULL, &n},
        {"S", "f32", 1, SHAPE(COLUMNS), NULL, s},
        {"Z", "f32", 1, SHAPE(ROWS), NULL, z},
    };
    axe_engine_options o = {.forking = count_forking, .timeout_ms = 20000};
    axe_device_spec    one = {.n_thread = 1};

    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i / COLUMNS);
    return axe_mesh_launch(cx, p, &o, &one, 5, array, n_size, size);
}

static void
test_whole(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 4; n++) {
        axe_ctx           *cx = axe_ctx_new();
        const axe_program *p = compile(cx, two, strlen(two), NULL);
        axe_size           size = {"P", n};
        float              z[ROWS] = {0};

        memset(n_forking, 0, sizeof n_forking);
        if (sum_whole(cx, p, 1, &size, z) != AXE_OK)
            fail_msg("%s", axe_last_error(cx));
        for (int i = 0; i < ROWS; i++)
            assert_true(z[i] == (float)(8 * i + 5));
        assert_int_equal(n_forking[AXE_FORKING], n > 1);
        assert_int_equal(n_forking[AXE_FORKED], n > 1);
        assert_int_equal(n_forking[AXE_IS_CHILD], 0); /* is in the child */
        size.name = "Q";
        assert_int_equal(sum_whole(cx, p, 1, &size, z), AXE_ENAME);
        assert_int_equal(
            axe_mesh_launch(cx, NULL, NULL, NULL, 0, NULL, 0, NULL), AXE_EARG);
        axe_ctx_free(cx);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computes), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_overlap),  cmocka_unit_test(test_whole),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
