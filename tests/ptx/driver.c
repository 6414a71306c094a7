/* driver.c - NVIDIA's driver, as far as axe calls it, for a GPU that executes
 * PTX; nvrtc.c is what gives it.
 *
 * AXE_CUDA and AXE_NVRTC name this library.  $PTX_CC is the compute capability
 * (90), $PTX_ORDER when asynchronous things are done (0 at once, 1 as late as
 * can be, else a seed), $PTX_LATE when what goes into streams is (streams.c).
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fake/driver.h"
#include "ptx.h"
#include "streams.h"

enum { INVALID = 1, NO_MEMORY = 2, NOT_FOUND = 500, FAILED = 719, N_SM = 4 };

static ptx_gpu gpu;
static char    invalid[256] = "an argument is not allowed";

/* A result that the text of `says` goes with. */
static int
refuse(const char *says)
{
    snprintf(invalid, sizeof invalid, "%s", says);
    return INVALID;
}

static int
setting(const char *name, int usual)
{
    const char *s = getenv(name);

    return s ? atoi(s) : usual;
}

/* -------------------------------------------------------------- what is done
 */

static bool        do_bytes(const stream_work *w);
static ptx_region *region_of(uint64_t p, size_t bytes);
static int         do_free(void *p);

static int
launch(const stream_work *w)
{
    bool ok;

    gpu.said[0] = '\0';
    gpu.early = w->early;
    gpu.together = w->together;
    ok = ptx_launch(&gpu, w->kernel, w->blocks, w->threads, w->shared,
                    (void **)(uintptr_t)w->arg);
    gpu.early = gpu.together = false;
    return ok ? 0 : FAILED;
}

/* Ranks' streams wait for it, so all that is before it has to be seen. */
static int
write_word(const stream_work *w)
{
    ptx_region *r = region_of((uint64_t)(uintptr_t)w->to, sizeof w->value);

    if (!r || (uintptr_t)w->to % sizeof w->value != 0)
        return refuse("a word that was not allocated");
    memset(r->known + ((unsigned char *)w->to - r->data), 1, sizeof w->value);
    __atomic_store_n((uint32_t *)w->to, w->value, __ATOMIC_SEQ_CST);
    return 0;
}

int
stream_do(const stream_work *w)
{
    switch (w->kind) {
    case S_LAUNCH:
        return launch(w);
    case S_BYTES:
        return do_bytes(w) ? 0 : refuse("memory that was not allocated");
    case S_FREE:
        return do_free(w->to);
    case S_WRITE:
        return write_word(w);
    default:
        return 0;
    }
}

bool
stream_may(const stream_work *w)
{
    return w->kind != S_WAIT ||
           (int32_t)(__atomic_load_n((const uint32_t *)w->from,
                                     __ATOMIC_SEQ_CST) -
                     w->value) >= 0;
}

CALL(Init, (unsigned flags))
{
    (void)flags;
    fake_start();
    gpu.order = setting("PTX_ORDER", 0);
    return 0;
}

CALL(GetErrorName, (int result, const char **name))
{
    *name = result == FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_ANY";
    return 0;
}

CALL(GetErrorString, (int result, const char **text))
{
    *text = result == INVALID ? invalid : gpu.said;
    return 0;
}

CALL(DeviceGetCount, (int *n))
{
    *n = fake_gpus();
    return 0;
}

CALL(DeviceGetName, (char *name, int n, int device))
{
    (void)device;
    snprintf(name, (size_t)n, "PTX on the host");
    return 0;
}

CALL(DeviceGetAttribute, (int *value, int attribute, int device))
{
    int cc = setting("PTX_CC", 90);

    (void)device;
    *value = fake_has_not(attribute) ? 0
             : attribute == 75       ? cc / 10
             : attribute == 76       ? cc % 10
             : attribute == 97       ? SHARED_MOST
                                     : N_SM;
    return 0;
}

CALL(DevicePrimaryCtxRetain, (void **ctx, int device))
{
    *ctx = &gpu;
    return fake_retain(device);
}

CALL(CtxPushCurrent_v2, (void *ctx))
{
    (void)ctx;
    return 0;
}

CALL(CtxPopCurrent_v2, (void **ctx))
{
    *ctx = &gpu;
    return 0;
}

/* ------------------------------------------------------------------ kernels */

/* An assembler refuses what the machine that the text is for has not. */
static bool
is_for_newer(const char *ptx)
{
    const char *target = strstr(ptx, ".target sm_");

    return target && atoi(target + 11) < 90 && strstr(target, "multimem.");
}

/* As it may: code is put where the GPU may be reading, so all streams come to
 * their ends before. */
CALL(ModuleLoadData, (void **module, const void *image))
{
    int bad = stream_drain_all();

    if (bad)
        return bad;
    if (memcmp(image, "\177ELF", 4) == 0)
        return refuse("this is machine code, and no PTX");
    if (is_for_newer(image))
        return refuse("multimem is for sm_90 or later");
    gpu.said[0] = '\0';
    *module = ptx_read(image, gpu.said, sizeof gpu.said);
    return *module ? 0 : FAILED;
}

CALL(ModuleUnload, (void *module))
{
    ptx_free(module);
    return 0;
}

CALL(ModuleGetFunction, (void **function, void *module, const char *name))
{
    for (ptx_kernel *k = module; k; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *function = k;
            return 0;
        }
    snprintf(gpu.said, sizeof gpu.said, "there is no kernel %s", name);
    return NOT_FOUND;
}

CALL(FuncSetAttribute, (void *function, int attribute, int value))
{
    if (attribute != 8 || value > SHARED_MOST)
        return refuse("so much shared memory there is not");
    ((ptx_kernel *)function)->dynamic = value;
    return 0;
}

CALL(OccupancyMaxActiveBlocksPerMultiprocessor,
     (int *n, void *function, int threads, size_t shared))
{
    (void)function;
    (void)threads;
    *n = shared > SHARED_MOST ? 0 : 1;
    return 0;
}

CALL(LaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz,
                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                    void *stream, void **arg, void **extra))
{
    enum { FREE = 48 << 10 };
    const ptx_kernel *k = function;
    stream_work       w = {.kind = S_LAUNCH,
                           .stream = stream,
                           .kernel = k,
                           .blocks = (int)gx,
                           .threads = (int)bx,
                           .shared = (int)shared,
                           .early = gpu.early,
                           .together = gpu.together};
    int               bad = fake_fails("LaunchKernel");

    (void)extra;
    gpu.early = gpu.together = false;
    if (bad)
        return bad;
    if (gy * gz * by * bz != 1 || gx == 0 || gx % (unsigned)k->cluster != 0)
        return refuse("the grid is not whole clusters of one dimension");
    if (bx % N_LANE != 0 || bx == 0 ||
        bx > (unsigned)(k->most_threads ? k->most_threads : 1024))
        return refuse("so many threads the kernel was not compiled for");
    if (shared > (unsigned)(k->dynamic > FREE ? k->dynamic : FREE))
        return refuse("more shared memory than was asked for");
    fake_note(k->name);
    for (int i = 0; i < k->n_param && i < MOST_ARG; i++) {
        if (region_of((uint64_t)(uintptr_t)arg[i], 1))
            return refuse("the host reads an argument on the device");
        w.arg[i] = arg[i];
    }
    return stream_put(&w);
}

/* With one attribute: the kernel may begin before the one before it ends, or
 * all of its CTAs are there at once. */
CALL(LaunchKernelEx,
     (const launch_config *l, void *function, void **arg, void **extra))
{
    enum { TOGETHER = 2, EARLY = 6 };
    int id = l->n_attribute == 1 ? (int)l->attribute[0].id : 0, bad;

    if ((id != TOGETHER && id != EARLY) || l->attribute[0].value[0] != 1)
        return refuse("this attribute of a launch is not known");
    if (id == TOGETHER && l->grid[0] > N_SM)
        return refuse("so many CTAs are not there at once");
    gpu.early = id == EARLY;
    gpu.together = id == TOGETHER;
    bad = cuLaunchKernel(function, l->grid[0], l->grid[1], l->grid[2],
                         l->block[0], l->block[1], l->block[2], l->shared,
                         l->stream, arg, extra);
    gpu.early = gpu.together = false;
    return bad;
}

/* ------------------------------------------------------------------- memory */

CALL(MemAlloc_v2, (uint64_t * p, size_t bytes))
{
    ptx_region *r = calloc(1, sizeof *r);
    size_t      room = (bytes + 255) / 256 * 256;

    if (!r)
        return NO_MEMORY;
    r->data = aligned_alloc(256, room > 0 ? room : 256);
    r->known = calloc(1, bytes + 1);
    if (!r->data || !r->known)
        return NO_MEMORY;
    memset(r->data, 0xff, room);
    r->bytes = bytes;
    r->next = gpu.region;
    gpu.region = r;
    *p = (uint64_t)(uintptr_t)r->data;
    return 0;
}

static ptx_region *
region_of(uint64_t p, size_t bytes)
{
    ptx_region *r = gpu.region;
    uint64_t    at;

    for (; r; r = r->next) {
        at = (uint64_t)(uintptr_t)r->data;
        if (p >= at && p - at <= r->bytes && bytes <= r->bytes - (p - at))
            return r;
    }
    return NULL;
}

static int
do_free(void *p)
{
    ptx_region **r = &gpu.region, *gone;

    while (*r && (void *)(*r)->data != p)
        r = &(*r)->next;
    gone = *r;
    if (!gone)
        return refuse("memory is freed that was not allocated");
    *r = gone->next;
    free(gone->data);
    free(gone->known);
    free(gone);
    return 0;
}

CALL(MemFree_v2, (uint64_t p))
{
    int bad = stream_drain_all();

    return bad ? bad : do_free((void *)(uintptr_t)p);
}

/* Of another process, which may wait for it. */
static bool
is_word(const stream_work *l)
{
    return l->from && l->bytes == sizeof(uint32_t) &&
           ((uintptr_t)l->to | (uintptr_t)l->from) % sizeof(uint32_t) == 0 &&
           fake_is_others((uint64_t)(uintptr_t)l->to);
}

/* Bytes, and of a copy on the device which of them were ever written. */
static bool
do_bytes(const stream_work *l)
{
    ptx_region *r = region_of((uint64_t)(uintptr_t)l->to, l->bytes);
    ptx_region *s =
        l->from ? region_of((uint64_t)(uintptr_t)l->from, l->bytes) : NULL;
    size_t at = r ? (size_t)((unsigned char *)l->to - r->data) : 0;

    if (!r || (l->from && !s))
        return false;
    if (is_word(l)) {
        memset(r->known + at, 1, l->bytes);
        __atomic_store_n((uint32_t *)l->to, *(const uint32_t *)l->from,
                         __ATOMIC_SEQ_CST);
    } else if (l->from) {
        memcpy(l->to, l->from, l->bytes);
        memcpy(r->known + at, s->known + ((unsigned char *)l->from - s->data),
               l->bytes);
    } else {
        memset(l->to, l->byte, l->bytes);
        memset(r->known + at, 1, l->bytes);
    }
    return true;
}

CALL(MemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))
{
    ptx_region *r = region_of(to, bytes);
    int         bad = stream_drain(NULL);

    if (bad)
        return bad;
    if (!r)
        return refuse("a copy to memory that was not allocated");
    if (region_of((uint64_t)(uintptr_t)from, bytes))
        return refuse("a copy from the host of what is on the device");
    memcpy((void *)(uintptr_t)to, from, bytes);
    memset(r->known + (to - (uint64_t)(uintptr_t)r->data), 1, bytes);
    return 0;
}

CALL(MemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))
{
    int bad = stream_drain(NULL);

    if (bad)
        return bad;
    if (!region_of(from, bytes))
        return refuse("a copy of memory that was not allocated");
    if (region_of((uint64_t)(uintptr_t)to, bytes))
        return refuse("a copy to the host, which goes to the device");
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

/* Memory that ranks share: another one may write it, and says so beside it. */
void
fake_mapped(void *at, void *known, size_t bytes)
{
    ptx_region *r = calloc(1, sizeof *r);

    if (!r)
        abort();
    *r = (ptx_region){gpu.region, at, known, NULL, bytes};
    gpu.region = r;
}

void
fake_unmapped(void *at)
{
    ptx_region **r = &gpu.region, *gone;

    while (*r && (void *)(*r)->data != at)
        r = &(*r)->next;
    gone = *r;
    if (gone)
        *r = gone->next;
    free(gone);
}

/* ---------------------------------------------------------- what a bench asks
 */

CALL(MemsetD8_v2, (uint64_t p, unsigned char v, size_t bytes))
{
    if (!region_of(p, bytes))
        return refuse("memory is set that was not allocated");
    memset((void *)(uintptr_t)p, v, bytes);
    return 0;
}

CALL(MemsetD8Async, (uint64_t p, unsigned char v, size_t bytes, void *stream))
{
    return stream_put(&(stream_work){.kind = S_BYTES,
                                     .stream = stream,
                                     .to = (void *)(uintptr_t)p,
                                     .byte = v,
                                     .bytes = bytes});
}

CALL(MemcpyDtoDAsync_v2,
     (uint64_t to, uint64_t from, size_t bytes, void *stream))
{
    int bad = fake_fails("MemcpyDtoDAsync_v2");

    return bad ? bad
               : stream_put(&(stream_work){.kind = S_BYTES,
                                           .stream = stream,
                                           .to = (void *)(uintptr_t)to,
                                           .from = (void *)(uintptr_t)from,
                                           .bytes = bytes});
}

CALL(CtxSetCurrent, (void *ctx))
{
    (void)ctx;
    return 0;
}

CALL(MemAllocAsync, (uint64_t * p, size_t bytes, void *stream))
{
    (void)stream;
    return cuMemAlloc_v2(p, bytes);
}

CALL(MemFreeAsync, (uint64_t p, void *stream))
{
    return stream_put(&(stream_work){
        .kind = S_FREE, .stream = stream, .to = (void *)(uintptr_t)p});
}

/* -------------------------------------------------------------- tensor maps */

enum { PACKED_FOURTHS = 13 };

/* Of elements of 4 bits: of two. */
static const int element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1};

/* What the driver's interface says of each dimension. */
static const char *
bad_dimension(const ptx_map *m, int d, const uint32_t *step)
{
    int64_t bytes = element_bytes[m->type];

    if (m->size[d] < 1 || m->size[d] > INT64_C(1) << 32)
        return "an extent of a tensor map";
    if (d > 0 && (m->stride[d] % 16 != 0 || m->stride[d] >= INT64_C(1) << 40))
        return "a stride of a tensor map";
    if (m->box[d] < 1 || m->box[d] > 256 || step[d] != 1)
        return "a box of a tensor map";
    if (d == 0 && m->box[0] * bytes % 16 != 0)
        return "a box that is no multiple of 16 bytes";
    return NULL;
}

CALL(TensorMapEncodeTiled,
     (void *map, int type, uint32_t rank, void *address, const uint64_t *size,
      const uint64_t *stride, const uint32_t *box, const uint32_t *step,
      int interleave, int swizzle, int promotion, int fill))
{
    ptx_map     m = {.magic = "ptx map", .address = address};
    const char *bad = NULL;

    (void)promotion;
    if (type < 0 || type > PACKED_FOURTHS || rank < 1 || rank > MAX_RANK ||
        interleave || swizzle < 0 || swizzle > 3 || fill ||
        (uintptr_t)address % 16 != 0 || (uintptr_t)map % 64 != 0)
        return refuse("an argument of a tensor map");
    m.rank = (uint8_t)rank;
    m.type = (uint8_t)type;
    m.swizzle = (uint8_t)swizzle;
    for (int d = 0; d < m.rank && !bad; d++) {
        m.size[d] = (int64_t)size[d];
        m.stride[d] = d > 0 ? (int64_t)stride[d - 1] : element_bytes[type];
        m.box[d] = (uint16_t)(box[d] > 256 ? 0 : box[d]);
        if (d == 0 && type == PACKED_FOURTHS) {
            bad = size[0] % 2 ? "an odd extent of elements of 4 bits" : bad;
            m.size[0] /= 2;
            m.box[0] = box[0] % 2 ? 0 : m.box[0] / 2;
        }
        bad = bad ? bad : bad_dimension(&m, d, step);
    }
    if (swizzle && m.box[0] * element_bytes[type] > 16 << swizzle)
        bad = "a box that is wider than its swizzle";
    if (bad)
        return refuse(bad);
    memset(map, 0, 128);
    memcpy(map, &m, sizeof m);
    return 0;
}

_Static_assert(sizeof(ptx_map) <= 128, "a tensor map is 128 bytes");
