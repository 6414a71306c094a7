/* test_gpu_heap.c - memory of GPUs that ranks share, on a driver whose blocks
 * are files (tests/fake/vmm.c): what one rank stores all see, each call that
 * fails is the same error on all ranks, and nothing is left. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
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

#include "base/ctx.h"
#include "run/gpu/gpu_heap_int.h"
#include "run/gpu/memory.h"

enum { RANKS = 4 };

/* What a rank says of the driver behind it, for the test to see. */
typedef struct told {
    int     left[RANKS], open[RANKS];
    int64_t stride[RANKS];
    char    order[RANKS][2048];
    bool    ended[RANKS];
    char    said[1024];
} told;

static told *tells;

static int (*fake_left)(void);
static const char *(*fake_order)(void);

static int
n_open(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Words in each rank's block, written by all ranks. */
static axe_status
store_and_see(axe_ctx *cx, axe_engine *e, const axe_gpu_heap *h)
{
    int64_t n = axe_engine_size(e), me = axe_engine_rank(e);

    for (int64_t r = 0; r < n; r++) {
        int64_t *at = (int64_t *)(uintptr_t)(h->base + h->stride * (size_t)r);

        at[me] = 100 * me + r;
    }
    AXE_TRY(axe_engine_barrier(e));
    for (int64_t r = 0; r < n; r++)
        for (int64_t who = 0; who < n; who++) {
            int64_t *at =
                (int64_t *)(uintptr_t)(h->base + h->stride * (size_t)r);

            if (at[who] != 100 * who + r)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "wrong memory");
        }
    return axe_engine_barrier(e);
}

static axe_status
on_rank(axe_ctx *cx, axe_engine *e, void *user)
{
    int64_t       me = axe_engine_rank(e);
    axe_gpu      *g = NULL;
    axe_gpu_heap *h = NULL;
    int           before;
    const char   *first = user;
    axe_status    st;

    if (first)
        setenv("FAKE_FIRST", (char[]){first[me], 0}, 1);
    st = axe_gpu_of_rank(cx, e, NULL, &g);
    before = n_open();
    if (st == AXE_OK)
        st = axe_gpu_heap_new(cx, e, g, 5000, getenv("CAST") != NULL, &h);
    if (st == AXE_OK) {
        tells->stride[me] = (int64_t)h->stride;
        st = store_and_see(cx, e, h);
        axe_gpu_heap_free(h);
    }
    tells->left[me] = fake_left();
    tells->open[me] = n_open() - before;
    snprintf(tells->order[me], sizeof tells->order[me], "%s", fake_order());
    tells->ended[me] = true;
    axe_gpu_free(g);
    return st;
}

/* What all end with; "" if well.  In a process of its own: one that has started
 * the driver forks no ranks any more. */
static const char *
end_of_those(int n, const char *first)
{
    int   status = 1;
    pid_t pid;

    memset(tells, 0, sizeof *tells);
    pid = fork();
    if (pid == 0) {
        axe_ctx           *cx = axe_ctx_new();
        axe_engine_options o = {.n_rank = n};
        axe_status st = axe_spmd(cx, &o, on_rank, (void *)(uintptr_t)first);

        snprintf(tells->said, sizeof tells->said, "%s",
                 st == AXE_OK ? "" : axe_last_error(cx));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int r = 0; r < n; r++) {
        assert_true(tells->ended[r]);
        assert_int_equal(tells->left[r], 0);
        assert_int_equal(tells->open[r], 0);
    }
    return tells->said;
}

static const char *
end_of(int n)
{
    return end_of_those(n, NULL);
}

/* Ranks with a GPU each, and several that share one. */
static void
test_stores(void **state)
{
    (void)state;
    for (int gpus = 1; gpus <= 3; gpus++)
        for (int n = 1; n <= RANKS; n++) {
            setenv("FAKE_GPUS", (char[]){(char)('0' + gpus), 0}, 1);
            assert_string_equal(end_of(n), "");
            assert_int_equal(tells->stride[n - 1], 2 << 20);
        }
    /* Blocks of other grains: the largest is the stride of all. */
    setenv("FAKE_GRAIN", "8192", 1);
    assert_string_equal(end_of(2), "");
    assert_int_equal(tells->stride[0], 16384);
    assert_int_equal(tells->stride[1], 16384);
    assert_string_equal(end_of(1), "");
    assert_int_equal(tells->stride[0], 8192);
    unsetenv("FAKE_GRAIN");
}

static void
test_order(void **state)
{
    (void)state;
    setenv("FAKE_GPUS", "2", 1);
    assert_string_equal(end_of(2), "");
    assert_string_equal(
        tells->order[1],
        "MemGetAllocationGranularity DeviceCanAccessPeer MemCreate "
        "MemGetAllocationGranularity MemExportToShareableHandle "
        "MemImportFromShareableHandle MemAddressReserve MemMap MemMap "
        "MemSetAccess MemUnmap MemUnmap MemAddressFree MemRelease MemRelease");
}

/* One address for all blocks, where each rank has a GPU of its own. */
static void
test_multicast(void **state)
{
    (void)state;
    setenv("CAST", "1", 1);
    setenv("FAKE_GPUS", "2", 1);
    assert_string_equal(end_of(2), "");
    assert_int_equal(tells->stride[0], 4 << 20);
    assert_string_equal(
        tells->order[0],
        "MemGetAllocationGranularity MulticastGetGranularity "
        "DeviceCanAccessPeer MemCreate MemGetAllocationGranularity "
        "MemExportToShareableHandle MemImportFromShareableHandle "
        "MemAddressReserve MemMap MemMap MemSetAccess MulticastCreate "
        "MemExportToShareableHandle MulticastAddDevice MulticastBindMem "
        "MemAddressReserve MemMap MemSetAccess MemUnmap MemAddressFree "
        "MulticastUnbind MemRelease MemUnmap MemUnmap MemAddressFree "
        "MemRelease MemRelease");
    assert_string_equal(end_of(3), ""); /* two on one GPU */
    assert_null(strstr(tells->order[0], "MulticastCreate"));
    setenv("FAKE_NO", "132", 1);
    assert_string_equal(end_of(2), "");
    assert_null(strstr(tells->order[0], "Multicast"));
    unsetenv("FAKE_NO");
    unsetenv("CAST");
}

/* Numbers are a process's own: each sees one GPU or two, from another one on.
 */
static void
test_visible(void **state)
{
    (void)state;
    setenv("CAST", "1", 1);
    setenv("FAKE_GPUS", "1", 1);
    assert_string_equal(end_of_those(3, "201"), ""); /* one each */
    assert_non_null(strstr(tells->order[0], "MulticastCreate"));
    assert_null(strstr(tells->order[0], "DeviceCanAccessPeer"));
    assert_string_equal(end_of_those(3, "202"), ""); /* two share one */
    assert_null(strstr(tells->order[0], "MulticastCreate"));
    assert_string_equal(end_of_those(2, "00"), "");
    assert_null(strstr(tells->order[0], "MulticastCreate"));
    /* rank 0 has the host's GPU 0, rank 1 GPU 1, the first's second one too */
    setenv("FAKE_GPUS", "2", 1);
    assert_string_equal(end_of_those(2, "00"), "");
    assert_non_null(strstr(tells->order[0], "MulticastCreate"));
    /* rank 0 has GPU 1 of 1 and 2, rank 1 GPU 2 of those */
    setenv("FAKE_APART", "2", 1);
    assert_non_null(
        strstr(end_of_those(2, "11"), "does not reach the memory of GPU"));
    setenv("FAKE_APART", "0", 1); /* which none of them has */
    assert_string_equal(end_of_those(2, "11"), "");
    unsetenv("FAKE_APART");
    unsetenv("CAST");
}

static int
bus_of(char *id, int n, int device)
{
    snprintf(id, (size_t)n, "0000:%02x:00.0", 16 + device);
    return device == 9 ? 7 : 0;
}

static int
uuid_of(void *id, int device)
{
    memset(id, device / 2, 16); /* of two instances one */
    return 0;
}

static int
instance_of(void *id, int device)
{
    memset(id, 128 + device, 16);
    return 0;
}

static int
name_of(int result, const char **out)
{
    (void)result;
    *out = "A_NAME";
    return 0;
}

static bool
is_one(axe_ctx *cx, const axe_cuda *cu, int a, int b, int n_a, int n_b)
{
    axe_gpu_id x, y;

    assert_int_equal(axe_gpu_id_of(cx, cu, a, n_a, &x), AXE_OK);
    assert_int_equal(axe_gpu_id_of(cx, cu, b, n_b, &y), AXE_OK);
    return axe_gpu_id_same(&x, &y);
}

static void
test_ids(void **state)
{
    axe_ctx   *cx = axe_ctx_new();
    axe_cuda   cu = {.GetErrorName = name_of, .GetErrorString = name_of};
    axe_gpu_id id;

    (void)state;
    assert_true(is_one(cx, &cu, 1, 1, 2, 2));
    assert_false(is_one(cx, &cu, 1, 1, 2, 3)); /* nothing is known */
    assert_false(is_one(cx, &cu, 0, 1, 2, 2));
    cu.DeviceGetPCIBusId = bus_of;
    assert_true(is_one(cx, &cu, 1, 1, 2, 3));
    assert_false(is_one(cx, &cu, 2, 3, 4, 4));
    assert_int_equal(axe_gpu_id_of(cx, &cu, 9, 10, &id), AXE_EDEVICE);
    assert_string_equal(axe_last_error(cx),
                        "asking which GPU it is: A_NAME (7), A_NAME");
    cu.DeviceGetUuid = uuid_of;
    assert_true(is_one(cx, &cu, 2, 3, 4, 4));
    cu.DeviceGetUuid_v2 = instance_of;
    assert_false(is_one(cx, &cu, 2, 3, 4, 4));
    axe_ctx_free(cx);
}

/* ------------------------------------------------------- boxes by parts */

static int64_t
n_task(const int64_t *shape)
{
    int64_t tiles = (shape[2] + AXE_GPU_BOX_TILE - 1) / AXE_GPU_BOX_TILE;

    return shape[0] * shape[1] * tiles;
}

/* Elements of all parts; none has more tasks than `most`. */
static int64_t
cut_up(const int64_t *shape, int64_t most, int64_t *n_part)
{
    int64_t part[] = {shape[0], shape[1], shape[2]}, all = 0, step;
    int     dim;

    step = axe_gpu_box_step(3, shape, most, &dim);
    assert_int_equal(dim < 0, n_task(shape) <= most);
    if (dim < 0) {
        ++*n_part;
        return shape[0] * shape[1] * shape[2];
    }
    assert_true(step > 0 && step < shape[dim]);
    for (int64_t at = 0; at < shape[dim]; at += step) {
        part[dim] = shape[dim] - at < step ? shape[dim] - at : step;
        all += cut_up(part, most, n_part);
    }
    return all;
}

static void
test_parts(void **state)
{
    static const int64_t n[] = {1, 2, 3, 7, 16}, last[] = {1, 512, 513, 2000};
    static const int64_t large[] = {1 << 20, 3000, 5}, flat[] = {1, 1, 1 << 20};
    int64_t              parts = 0;

    (void)state;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 4; k++)
                for (int64_t most = 1; most < 70; most++) {
                    const int64_t shape[] = {n[i], n[j], last[k]};

                    assert_int_equal(cut_up(shape, most, &parts),
                                     shape[0] * shape[1] * shape[2]);
                }
    /* as few as there can be */
    parts = 0;
    cut_up(large, INT32_MAX, &parts);
    assert_int_equal(parts, 2);
    parts = 0;
    cut_up(flat, 100, &parts);
    assert_int_equal(parts, 21);
}

static const struct {
    const char *variable, *value, *says;
} faults[] = {
    {"FAKE_FAIL", "MulticastGetGranularity:2",
     "asking how multicast memory is divided: CUDA_ERROR_FAKE (2), a text of "
     "the driver"},
    {"FAKE_FAIL", "MulticastAddDevice:1",
     "joining a multicast object: CUDA_ERROR_FAKE (1), a text of the driver"},
    {"FAKE_FAIL", "MulticastBindMem:1",
     "binding memory to a multicast object: CUDA_ERROR_FAKE (1), a text of the "
     "driver"},
    {"FAKE_FAIL", "MemGetAllocationGranularity:2",
     "asking how memory is divided: CUDA_ERROR_FAKE (2), a text of the driver"},
    {"FAKE_FAIL", "MemCreate:2",
     "4194304 bytes that ranks share: CUDA_ERROR_FAKE (2), a text of the "
     "driver"},
    {"FAKE_FAIL", "MemExportToShareableHandle:1",
     "sharing memory with other ranks: CUDA_ERROR_FAKE (1), a text of the "
     "driver"},
    {"FAKE_FAIL", "MemImportFromShareableHandle:1",
     "the memory of rank 0: CUDA_ERROR_FAKE (1), a text of the driver"},
    {"FAKE_FAIL", "MemAddressReserve:2",
     "12582912 bytes of addresses: CUDA_ERROR_FAKE (2), a text of the driver"},
    {"FAKE_FAIL", "MemMap:1",
     "mapping the memory of rank 0: CUDA_ERROR_FAKE (1), a text of the driver"},
    {"FAKE_FAIL", "MemSetAccess:217",
     "accessing the memory of all ranks: CUDA_ERROR_FAKE (217), a text of the "
     "driver"},
    {"FAKE_FAIL", "DeviceCanAccessPeer:1",
     "asking what GPUs reach one another: CUDA_ERROR_FAKE (1), a text of the "
     "driver"},
    {"FAKE_FAIL", "DeviceGetUuid_v2:3",
     "asking which GPU it is: CUDA_ERROR_FAKE (3), a text of the driver"},
    {"FAKE_NO", "102",
     "Fake GPU has no virtual memory, by which ranks share GPUs' memory"},
    {"FAKE_NO", "103",
     "Fake GPU has no memory as descriptors of files, by which ranks share "
     "GPUs' memory"},
    {"FAKE_APART", "0", "GPU 1 does not reach the memory of GPU 0"},
};

/* On GPU 1 alone: the others are at work, and end as it does. */
static void
test_faults(void **state)
{
    (void)state;
    setenv("FAKE_GPUS", "3", 1);
    setenv("FAKE_FAIL_ON", "1", 1);
    setenv("CAST", "1", 1);
    for (int i = 0; i < AXE_LEN(faults); i++) {
        setenv(faults[i].variable, faults[i].value, 1);
        if (strcmp(faults[i].variable, "FAKE_APART") == 0) {
            assert_non_null(strstr(end_of(3), "does not reach the memory"));
        } else {
            assert_string_equal(end_of(3), faults[i].says);
        }
        unsetenv(faults[i].variable);
    }
    setenv("FAKE_FAIL_ON", "0", 1);
    setenv("FAKE_FAIL", "MulticastCreate:2", 1);
    assert_string_equal(end_of(3), "a multicast object: CUDA_ERROR_FAKE (2), a "
                                   "text of the driver");
    unsetenv("FAKE_FAIL");
    unsetenv("FAKE_FAIL_ON");
    unsetenv("CAST");
}

/* A process that has started the driver forks ranks, which cannot use it. */
static void
test_started_before(void **state)
{
    axe_ctx *cx = axe_ctx_new();
    axe_gpu *g;
    axe_buf  said = {.cx = cx};

    (void)state;
    assert_int_equal(axe_gpu_new(cx, &(axe_gpu_spec){0}, &g), AXE_OK);
    assert_int_not_equal(
        axe_spmd(cx, &(axe_engine_options){.n_rank = 2}, on_rank, NULL),
        AXE_OK);
    axe_diags_print(cx, &said, false);
    assert_non_null(strstr(said.text, "opening the GPU: CUDA_ERROR_FAKE (3)"));
    axe_gpu_free(g);
    axe_ctx_free(cx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores), cmocka_unit_test(test_order),
        cmocka_unit_test(test_parts),  cmocka_unit_test(test_visible),
        cmocka_unit_test(test_ids),    cmocka_unit_test(test_multicast),
        cmocka_unit_test(test_faults), cmocka_unit_test(test_started_before),
    };
    void *fake = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL), *left, *order;

    if (!fake)
        return 1;
    left = dlsym(fake, "fake_left");
    order = dlsym(fake, "fake_order");
    memcpy(&fake_left, &left, sizeof left);
    memcpy(&fake_order, &order, sizeof order);
    setenv("AXE_CUDA", FAKE_CUDA, 1);
    tells = mmap(NULL, sizeof *tells, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
