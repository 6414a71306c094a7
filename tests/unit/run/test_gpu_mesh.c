/* test_gpu_mesh.c - kernels over a mesh on ranks with a GPU each, which
 * executes PTX (tests/ptx): launched on what each rank has in its GPU's memory,
 * again, with new sizes and by two kernels in turns; and from one process,
 * once. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "axe/compile.h"
#include "axe/dist.h"
#include "engine/memory.h"
#include "run/gpu/heap.h"
#include "run/gpu/memory.h"
#include "run/gpu/multimem.h"
#include "run/gpu/nvrtc.h"

enum { RANKS = 3, N = 6, MOST = 64 };

static const char text[] =
    "mesh gpu[P];\n"
    "kernel twist(in f32 s, in f32 X[M @ gpu, N], out f32 Y[M, N @ gpu],\n"
    "            out f32 S[N])\n"
    "{\n"
    "    index m, n;\n"
    "    global f32 Z[M @ gpu, N];\n"
    "    global f32 R[N];\n"
    "    device { cta (i : M @ gpu by 4)\n"
    "        Z[i*4 + m, n] = s * X[i*4 + m, n]; }\n"
    "    Y[m, n] = Z[m, n];\n"
    "    R[n] = sum[m](Z[m, n]);\n"
    "    device { cta (i : N by 4) S[i*4 + n] = R[i*4 + n]; }\n"
    "}\n";

static char *said; /* by the process of a case; "" if well */

static void
block(int64_t n, int64_t rank, int64_t *first, int64_t *count)
{
    int64_t each = (n + RANKS - 1) / RANKS;

    *first = rank * each < n ? rank * each : n;
    *count = n - *first < each ? n - *first : each;
}

static float
x_at(int64_t m, int64_t n)
{
    return (float)(m * 10 + n);
}

typedef struct arrays {
    axe_gpu *g;
    float    host[3][MOST];
    void    *device[3];
    int64_t  shape[3][2];
    size_t   bytes[3];
} arrays;

static axe_status
fill(axe_ctx *cx, arrays *a, int64_t m_all, int64_t rank)
{
    int64_t m0, m, n0, n;

    block(m_all, rank, &m0, &m);
    block(N, rank, &n0, &n);
    for (int64_t i = 0; i < m * N; i++)
        a->host[0][i] = x_at(m0 + i / N, i % N);
    memcpy(a->shape, (int64_t[3][2]){{m, N}, {m_all, n}, {N}}, sizeof a->shape);
    a->bytes[0] = (size_t)(4 * m * N);
    a->bytes[1] = (size_t)(4 * m_all * n);
    a->bytes[2] = 4 * N;
    for (int i = 0; i < 3; i++)
        AXE_TRY(axe_gpu_alloc(cx, a->g, a->bytes[i], &a->device[i]));
    return axe_gpu_put(cx, a->g, a->device[0], a->host[0], a->bytes[0]);
}

static axe_status
right(axe_ctx *cx, arrays *a, float s, int64_t m_all, int64_t rank)
{
    int64_t n0, n;

    block(N, rank, &n0, &n);
    for (int i = 1; i < 3; i++) /* the driver's memory is the host's: done? */
        memcpy(a->host[i], a->device[i], a->bytes[i]);
    for (int64_t i = 0; i < m_all * n; i++)
        if (a->host[1][i] != s * x_at(i / n, n0 + i % n))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "Y is wrong");
    for (int64_t c = 0; c < N; c++) {
        float want = 0;

        for (int64_t i = 0; i < m_all; i++)
            want += s * x_at(i, c);
        if (a->host[2][c] != want)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "S is wrong");
    }
    for (int i = 0; i < 3; i++)
        axe_gpu_release(a->g, a->device[i]);
    return AXE_OK;
}

static axe_status
launch(axe_ctx *cx, axe_engine *e, axe_rank_exec *x, arrays *a, float s,
       int64_t m_all)
{
    int64_t rank = axe_engine_rank(e);

    AXE_TRY(fill(cx, a, m_all, rank));
    axe_local local[] = {
        {.array = {"s", "f32", 0, NULL, NULL, &s}},
        {.array = {"X", "f32", 2, a->shape[0], NULL, a->device[0]}},
        {.array = {"Y", "f32", 2, a->shape[1], NULL, a->device[1]}},
        {.array = {"S", "f32", 1, a->shape[2], NULL, a->device[2]}},
    };
    AXE_TRY(axe_rank_launch(cx, x, 4, local, 0, NULL));
    return right(cx, a, s, m_all, rank);
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    const axe_program *p = user;
    arrays             a = {0};
    axe_device        *device;
    axe_rank_exec     *x[2];
    axe_status         st;

    AXE_TRY(axe_gpu_of_rank(cx, e, NULL, &a.g));
    AXE_TRY(axe_device_new(cx, &(axe_device_spec){.n_thread = 1}, &device));
    for (int i = 0; i < 2; i++)
        AXE_TRY(axe_rank_exec_new(cx, e, device, p, &x[i]));
    AXE_TRY(launch(cx, e, x[0], &a, 2, 7));
    AXE_TRY(launch(cx, e, x[1], &a, 3, 5));
    AXE_TRY(launch(cx, e, x[0], &a, 5, 7));
    AXE_TRY(launch(cx, e, x[0], &a, 1, 4));
    AXE_TRY(axe_rank_exec_free(x[1]));
    AXE_TRY(launch(cx, e, x[0], &a, 4, 10));
    st = axe_rank_exec_free(x[0]);
    axe_device_free(device);
    axe_gpu_free(a.g);
    return st;
}

static const axe_program *
compile(axe_ctx *cx)
{
    const axe_program *p = NULL;
    int32_t            source = axe_source_add(cx, "t.axe", text, strlen(text));
    axe_compile_spec   spec = {.machine = "sm_90a"};

    return axe_compile(cx, source, &spec, AXE_STAGE_C, &p) == AXE_OK ? p : NULL;
}

static axe_status
case_ranks(axe_ctx *cx)
{
    return axe_spmd(cx, &(axe_engine_options){.n_rank = RANKS}, on_rank,
                    (void *)(uintptr_t)compile(cx));
}

/* -------------------------------------------------------------------- boxes */

enum { BOX = 4000, N_BOX = 120, MOST_RUN = 4 };

static uint64_t seed = 1;

static int64_t
some(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int64_t)(seed >> 33) % n;
}

/* Runs of a dimension, in order on both sides; often equally long and far apart
 * on one of them.  Returns the extents that they take. */
static void
make_runs(program_run *r, int n, int64_t *src, int64_t *dst)
{
    bool    long_ = some(2) == 0, src_even = some(2) == 0, dst_even = some(2);
    int64_t len = 1 + some(3), src_by = some(3), dst_by = some(3);

    *src = some(2);
    *dst = some(2);
    for (int i = 0; i < n; i++) {
        r[i] = (program_run){*src, *dst, long_ ? len : 1 + some(3), 0};
        *src += r[i].n + (src_even ? src_by : some(3));
        *dst += r[i].n + (dst_even ? dst_by : some(3));
    }
}

static void
make_box(program_box *b, program_run run[][MOST_RUN])
{
    int64_t src[PROGRAM_DIMS], dst[PROGRAM_DIMS];

    *b = (program_box){.n_dim = (int)some(6), .n = 1};
    for (int d = 0; d < b->n_dim; d++) {
        int64_t all = 0;

        b->n_run[d] = b->n_dim > 4 ? 1 : 1 + (int)some(MOST_RUN);
        b->run[d] = run[d];
        make_runs(run[d], b->n_run[d], &src[d], &dst[d]);
        for (int i = 0; i < b->n_run[d]; i++)
            all += run[d][i].n;
        b->n *= all;
    }
    for (int d = b->n_dim - 1; d >= 0; d--) {
        bool last = d + 1 == b->n_dim;

        b->src_pitch[d] = last ? 1 : b->src_pitch[d + 1] * (src[d + 1] + 1);
        b->dst_pitch[d] = last ? 1 : b->dst_pitch[d + 1] * (dst[d + 1] + 1);
    }
}

static bool
fits(const program_box *b)
{
    int64_t src = 0, dst = 0;

    for (int d = 0; d < b->n_dim; d++) {
        const program_run *r = &b->run[d][b->n_run[d] - 1];

        src += (r->src + r->n) * b->src_pitch[d];
        dst += (r->dst + r->n) * b->dst_pitch[d];
    }
    return src < BOX && dst < BOX;
}

/* One box, to f32 numbers of a GPU and of the host. */
static axe_status
one_box(axe_ctx *cx, axe_engine *e, axe_gpu *g, void *const *buffer)
{
    static float  from[BOX], to[BOX], got[BOX];
    program_run   run[PROGRAM_DIMS][MOST_RUN];
    program_box   box;
    engine_memory host = {.ops = &engine_host_memory, .e = e};
    engine_box    b = {.box = &box, .type = AXE_NUMBER_F32};

    do
        make_box(&box, run);
    while (!fits(&box));
    b.adds = some(2) == 0;
    for (int i = 0; i < BOX; i++) {
        from[i] = (float)some(1000);
        to[i] = (float)some(1000);
    }
    AXE_TRY(axe_gpu_put(cx, g, buffer[0], from, sizeof from));
    AXE_TRY(axe_gpu_put(cx, g, buffer[1], to, sizeof to));
    b.from = buffer[0];
    b.to = buffer[1];
    AXE_TRY(e->memory->ops->box(e->memory, &b));
    AXE_TRY(e->memory->ops->settle(e->memory));
    b.from = from;
    b.to = to;
    AXE_TRY(host.ops->box(&host, &b));
    AXE_TRY(axe_gpu_get(cx, g, got, buffer[1], sizeof got));
    return memcmp(got, to, sizeof got) == 0
               ? AXE_OK
               : axe_fail(cx, AXE_NOWHERE, AXE_EARG, "box of %d dimensions",
                          box.n_dim);
}

static axe_status
boxes_on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    axe_gpu        *g;
    axe_gpu_memory *m;
    void           *buffer[2];

    (void)user;
    AXE_TRY(axe_gpu_of_rank(cx, e, NULL, &g));
    AXE_TRY(axe_gpu_memory_new(cx, e, g, 1 << 20, false, &m));
    for (int i = 0; i < 2; i++)
        AXE_TRY(e->memory->ops->alloc(e->memory, BOX * 4, &buffer[i]));
    for (int i = 0; i < N_BOX; i++)
        AXE_TRY(one_box(cx, e, g, buffer));
    axe_gpu_memory_free(m);
    axe_gpu_free(g);
    return AXE_OK;
}

static axe_status
case_boxes(axe_ctx *cx)
{
    return axe_spmd(cx, NULL, boxes_on_rank, NULL);
}

/* -------------------------------------------------------------------- cases */

static axe_status
case_nvrtc(axe_ctx *cx)
{
    const char *id;

    return axe_nvrtc_id(cx, &id);
}

/* Once well; the second launch forks from a process with a driver. */
static axe_status
case_whole(axe_ctx *cx)
{
    const axe_program *p = compile(cx);
    float              s = 2, x[7 * N], y[7 * N] = {0}, sum[N] = {0};
    int64_t            shape[] = {7, N}, row[] = {N};
    axe_array          array[] = {{"s", "f32", 0, NULL, NULL, &s},
                                  {"X", "f32", 2, shape, NULL, x},
                                  {"Y", "f32", 2, shape, NULL, y},
                                  {"S", "f32", 1, row, NULL, sum}};
    axe_size           size = {"P", RANKS};

    for (int i = 0; i < 7 * N; i++)
        x[i] = x_at(i / N, i % N);
    AXE_TRY(axe_mesh_launch(cx, p, NULL, NULL, 4, array, 1, &size));
    for (int i = 0; i < 7 * N; i++)
        if (y[i] != 2 * x[i])
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "Y is wrong");
    for (int i = 0; i < N; i++)
        if (sum[i] != 2 * (210 + 7 * (float)i))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "S is wrong");
    return axe_mesh_launch(cx, p, NULL, NULL, 4, array, 1, &size);
}

static const char *
end_of(axe_status (*f)(axe_ctx *cx))
{
    int   status = 1;
    pid_t pid = fork();

    if (pid == 0) {
        axe_ctx *cx = axe_ctx_new();

        setenv("AXE_NVRTC", PTX_CUDA, 1);
        snprintf(said, 1024, "%s", f(cx) == AXE_OK ? "" : axe_last_error(cx));
        axe_ctx_free(cx);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return said;
}

static void
test_ranks(void **state)
{
    (void)state;
    assert_string_equal(end_of(case_ranks), "");
}

static void
test_boxes(void **state)
{
    (void)state;
    assert_string_equal(end_of(case_boxes), "");
}

static void
test_whole(void **state)
{
    (void)state;
    assert_string_equal(
        end_of(case_whole),
        "this process has started NVIDIA's driver, which does not go on in "
        "ranks that are forked from it");
}

static const struct {
    const char *order, *text;
} moves[] = {
#define MOVE(id, order, text) {order, text},
#include "run/gpu/move.def"
};

/* The kernels that move boxes are assembled for each machine, and in each type
 * for one, without a message of the compiler. */
static void
test_moves(void **state)
{
    static const char *const machines[] = {"sm_80", "sm_90a", "sm_100a"};
    const char              *name = "T", *both[] = {"S", "D"};

    (void)state;
    for (int i = 0; i < AXE_LEN(moves) * (AXE_LEN(machines) + AXE_N_NUMBER);
         i++) {
        int         k = i / AXE_LEN(moves), type = k - AXE_LEN(machines);
        int         move = i % AXE_LEN(moves);
        axe_ctx    *cx = axe_ctx_new();
        const char *word = axe_number_text((axe_number)(type > 0 ? type : 0));
        const char *text_of = moves[move].text, *log;
        const char *order[] = {moves[move].order, moves[move].order};
        int32_t source = axe_source_add(cx, "m.axe", text_of, strlen(text_of));
        axe_compile_spec   spec = {.machine = machines[type < 0 ? k : 1],
                                   .n_set = 1,
                                   .set_name = &name,
                                   .set_value = &word,
                                   .n_order = order[0] ? 2 : 0,
                                   .order_name = both,
                                   .order = order};
        const axe_program *p;
        void              *code = NULL;
        size_t             bytes;

        if (axe_compile(cx, source, &spec, AXE_STAGE_C, &p) != AXE_OK ||
            axe_gpu_code(cx, p, &log, &code, &bytes) != AXE_OK || *log ||
            axe_diags(cx))
            fail_msg("%s of %s for %s: %s", text_of, word, spec.machine,
                     axe_last_error(cx));
        assert_memory_equal(code, "\177ELF", 4);
        free(code);
        axe_ctx_free(cx);
    }
}

/* So are sums over all GPUs. */
static void
test_multimem(void **state)
{
    static const char *const machines[] = {"sm_90a", "sm_100a"};
    int                      n_text = 0;

    (void)state;
    for (int i = 0; i < AXE_LEN(machines) * AXE_N_NUMBER; i++) {
        axe_ctx    *cx = axe_ctx_new();
        const char *log = "", *arch = machines[i / AXE_N_NUMBER];
        const char *cuda =
            axe_gpu_multimem_text(cx, (axe_number)(i % AXE_N_NUMBER));
        axe_bytes code = {0};

        n_text += cuda != NULL;
        if (cuda &&
            (axe_nvrtc_compile(cx, cuda, arch, &log, &code) != AXE_OK || *log))
            fail_msg("%s for %s: %s %s", cuda, arch, log, axe_last_error(cx));
        free(code.data);
        axe_ctx_free(cx);
    }
    assert_int_equal(n_text, 8);
}

/* All ranks' blocks at one place, which a load of the type may begin at. */
static void
test_multimem_can(void **state)
{
    enum { STRIDE = 4096 };
    static const struct {
        axe_number type;
        uint64_t   at; /* in each block, and how much further in block 2 */
        uint64_t   off;
        int        n_from;
        bool       once, can;
    } row[] = {
        {AXE_NUMBER_F32, 64, 0, 3, true, true},
        {AXE_NUMBER_F32, 68, 0, 3, true, false},
        {AXE_NUMBER_I32, 68, 0, 3, true, true},
        {AXE_NUMBER_I32, 66, 0, 3, true, false},
        {AXE_NUMBER_F64, 72, 0, 3, true, true},
        {AXE_NUMBER_F64, 68, 0, 3, true, false},
        {AXE_NUMBER_F32, 64, 16, 3, true, false},
        {AXE_NUMBER_F32, 64, 0, 2, true, false},
        {AXE_NUMBER_F32, 64, 0, 3, false, false},
        {AXE_NUMBER_I8, 64, 0, 3, true, false},
    };

    (void)state;
    for (int i = 0; i < AXE_LEN(row); i++) {
        axe_gpu_heap h = {
            .size = 3, .stride = STRIDE, .base = 1 << 20, .multicast = true};
        const void *from[3];
        engine_sum  s = {.type = row[i].type,
                         .n_from = row[i].n_from,
                         .from = from,
                         .n = 8,
                         .once = row[i].once};
        uint64_t    at;

        for (uint64_t r = 0; r < 3; r++)
            from[r] =
                (const void *)(uintptr_t)(h.base + r * STRIDE + row[i].at +
                                          (r == 2 ? row[i].off : 0));
        if (axe_gpu_multimem_can(&h, &s, &at) != row[i].can)
            fail_msg("row %d", i);
        if (row[i].can)
            assert_int_equal(at, row[i].at);
        h.multicast = false;
        assert_false(axe_gpu_multimem_can(&h, &s, &at));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),    cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_moves),
        cmocka_unit_test(test_multimem), cmocka_unit_test(test_multimem_can),
    };
    char cache[] = "/tmp/axe_mesh_XXXXXX", line[64];
    int  bad;

    setenv("AXE_CUDA", PTX_CUDA, 1);
    setenv("PTX_LATE", "1", 1);
    setenv("FAKE_GPUS", "2", 1);
    if (!mkdtemp(cache))
        return 1;
    setenv("AXE_CACHE", cache, 1);
    said = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (strcmp(end_of(case_nvrtc), "") != 0) {
        printf("no NVRTC: nothing is tested\n");
        return 0;
    }
    bad = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(line, sizeof line, "rm -rf %s", cache);
    return system(line) != 0 || bad;
}
