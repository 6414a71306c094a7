/* cuda.c - a driver that says what it is asked to do, and does what needs no
 * GPU: a device of compute capability $FAKE_CC (90) with $FAKE_L2 (4)
 * bytes of L2, memory in the host's, launches that are written down.
 *
 * A launch takes $FAKE_MS (1) by its events.
 *
 * $FAKE_FAIL=NAME:NUMBER makes that call fail; $FAKE_HANG=KERNEL and
 * $FAKE_CRASH=KERNEL launches of what is named so, or begins with it.
 * fake_log() is what was asked, fake_value() what the last launch was given,
 * fake_stream() where; fake_waits() and fake_copies() count what makes the host
 * wait for the device, and copies between their memories. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { LOG_BYTES = 1 << 16, MAX_ARG = 32 };

static char      log_text[LOG_BYTES];
static size_t    log_len;
static void     *last_arg[MAX_ARG];
static long long last_value[MAX_ARG];
static char      got[64];           /* the function asked for last */
static int       current;           /* contexts pushed and not popped */
static char      how[64];           /* the attribute of the launch at hand */
static int       launched, between; /* since the last event; before it */
static void     *last_stream;
static int       waits, copies;

/* Freed in the order of a stream, which comes there when it is waited for. */
enum { MAX_LATE = 64 };
static struct {
    uint64_t p;
    void    *stream;
} late[MAX_LATE];

const char *fake_log(void);
long long   fake_value(int i);
void       *fake_stream(void);
int         fake_waits(void);
int         fake_copies(void);
int         fake_depth(void);
void        fake_clear(void);

const char *
fake_log(void)
{
    return log_text;
}

long long
fake_value(int i)
{
    return last_value[i];
}

void *
fake_stream(void)
{
    return last_stream;
}

int
fake_waits(void)
{
    return waits;
}

int
fake_copies(void)
{
    return copies;
}

int
fake_depth(void)
{
    return current;
}

void
fake_clear(void)
{
    log_len = 0;
    log_text[0] = '\0';
    waits = copies = 0;
    last_stream = NULL;
}

static int
fails(const char *name)
{
    return fake_fails(name);
}

/* Does a variable of the environment name this, or begin with its name? */
static int
is(const char *variable, const char *name)
{
    const char *want = getenv(variable);

    return want && strncmp(name, want, strlen(want)) == 0;
}

#define SAY(...)                                                               \
    do {                                                                       \
        int said =                                                             \
            snprintf(log_text + log_len, LOG_BYTES - log_len, __VA_ARGS__);    \
        if (said > 0 && log_len + (size_t)said < LOG_BYTES)                    \
            log_len += (size_t)said;                                           \
    } while (0)

void
fake_mapped(void *at, void *known, size_t bytes)
{
    (void)at, (void)known, (void)bytes;
}

void
fake_unmapped(void *at)
{
    (void)at;
}

CALL(Init, (unsigned flags))
{
    (void)flags;
    fake_start();
    return fails("Init");
}

CALL(GetErrorName, (int result, const char **name))
{
    *name = result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
    return 0;
}

CALL(GetErrorString, (int result, const char **text))
{
    (void)result;
    *text = "a text of the driver";
    return 0;
}

CALL(DeviceGetCount, (int *n))
{
    *n = fake_gpus();
    return fails("DeviceGetCount");
}

CALL(DeviceGetName, (char *name, int n, int device))
{
    (void)device;
    snprintf(name, (size_t)n, "Fake GPU");
    return 0;
}

CALL(DeviceGetAttribute, (int *value, int attribute, int device))
{
    const char *cc = getenv("FAKE_CC");
    int         have = cc ? atoi(cc) : 90;

    (void)device;
    *value = fake_has_not(attribute)                ? 0
             : attribute == 75                      ? have / 10
             : attribute == 76                      ? have % 10
             : attribute == 38 && getenv("FAKE_L2") ? atoi(getenv("FAKE_L2"))
                                                    : 4;
    return 0;
}

CALL(DevicePrimaryCtxRetain, (void **ctx, int device))
{
    int bad = fake_retain(device);

    *ctx = log_text;
    return bad ? bad : fails("DevicePrimaryCtxRetain");
}

CALL(CtxPushCurrent_v2, (void *ctx))
{
    (void)ctx;
    current++;
    return 0;
}

CALL(CtxPopCurrent_v2, (void **ctx))
{
    *ctx = NULL;
    current--;
    return 0;
}

CALL(ModuleLoadData, (void **module, const void *image))
{
    SAY("load %s\n", memcmp(image, "\177ELF", 4) == 0 ? "an ELF" : "?");
    *module = log_text;
    return fails("ModuleLoadData");
}

CALL(ModuleUnload, (void *module))
{
    (void)module;
    return 0;
}

CALL(ModuleGetFunction, (void **function, void *module, const char *name))
{
    (void)module;
    SAY("function %s\n", name);
    snprintf(got, sizeof got, "%s", name);
    *function = log_text + 1;
    return fails("ModuleGetFunction");
}

CALL(FuncSetAttribute, (void *function, int attribute, int value))
{
    (void)function;
    SAY("attribute %d = %d\n", attribute, value);
    return fails("FuncSetAttribute");
}

CALL(OccupancyMaxActiveBlocksPerMultiprocessor,
     (int *n, void *function, int threads, size_t shared))
{
    (void)function;
    (void)threads;
    *n = shared > 232448 ? 0 : 2;
    return 0;
}

/* FAKE_CLUSTERS: how many there are at a time; without, it does not say. */
CALL(OccupancyMaxActiveClusters,
     (int *n, void *function, const launch_config *launch))
{
    const char *most = getenv("FAKE_CLUSTERS");

    (void)function;
    if (!most)
        return 801;
    SAY("clusters of %u of %u CTAs of %u threads, %u attributes (%d)\n",
        launch->attribute[0].value[0], launch->grid[0], launch->block[0],
        launch->n_attribute, launch->attribute[0].id);
    *n = atoi(most);
    return 0;
}

CALL(LaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz,
                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                    void *stream, void **arg, void **extra))
{
    (void)function;
    (void)extra;
    last_stream = stream;
    launched++;
    if (is("FAKE_HANG", got))
        pause();
    if (is("FAKE_CRASH", got))
        abort();
    SAY("launch %ux%ux%u of %ux%ux%u, %u bytes%s\n", gx, gy, gz, bx, by, bz,
        shared, how);
    for (int i = 0; i < MAX_ARG && arg[i]; i++) {
        last_arg[i] = arg[i];
        memcpy(&last_value[i], arg[i], 8);
    }
    return fails("LaunchKernel");
}

CALL(LaunchKernelEx,
     (const launch_config *l, void *function, void **arg, void **extra))
{
    int bad;

    for (unsigned i = 0; i < l->n_attribute; i++)
        snprintf(how, sizeof how, ", with %d = %u", l->attribute[i].id,
                 l->attribute[i].value[0]);
    bad = cuLaunchKernel(function, l->grid[0], l->grid[1], l->grid[2],
                         l->block[0], l->block[1], l->block[2], l->shared,
                         l->stream, arg, extra);
    how[0] = '\0';
    return bad;
}

CALL(MemAlloc_v2, (uint64_t * p, size_t bytes))
{
    int bad = fails("MemAlloc_v2");

    if (!bad)
        *p = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    fake_count(!bad);
    return bad;
}

CALL(MemFree_v2, (uint64_t p))
{
    free((void *)(uintptr_t)p);
    fake_count(-1);
    return 0;
}

CALL(MemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))
{
    copies++;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return fails("MemcpyHtoD_v2");
}

CALL(MemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))
{
    copies++;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return fails("MemcpyDtoH_v2");
}

CALL(StreamSynchronize, (void *stream))
{
    waits++;
    for (int i = 0; i < MAX_LATE; i++)
        if (late[i].p != 0 && late[i].stream == stream) {
            cuMemFree_v2(late[i].p);
            late[i].p = 0;
        }
    return fails("StreamSynchronize");
}

CALL(StreamQuery, (void *stream))
{
    (void)stream;
    return fails("StreamQuery");
}

/* Streams wait for nothing here. */
CALL(StreamCreate, (void **stream, unsigned flags))
{
    int bad = fails("StreamCreate");

    *stream = bad ? NULL : malloc(1);
    fake_count(!bad);
    return flags == 1 ? bad : 1;
}

CALL(StreamDestroy_v2, (void *stream))
{
    free(stream);
    fake_count(-1);
    return 0;
}

CALL(StreamWaitEvent, (void *stream, void *event, unsigned flags))
{
    (void)stream;
    return !event || flags ? 400 : fails("StreamWaitEvent");
}

CALL(StreamWriteValue32_v2,
     (void *stream, uint64_t at, uint32_t value, unsigned flags))
{
    (void)stream;
    if (flags || fake_is_others(at))
        return 1;
    *(uint32_t *)(uintptr_t)at = value;
    return fails("StreamWriteValue32_v2");
}

CALL(StreamWaitValue32_v2,
     (void *stream, uint64_t at, uint32_t value, unsigned flags))
{
    (void)stream;
    (void)at;
    (void)value;
    (void)flags;
    return fails("StreamWaitValue32_v2");
}

CALL(CtxSetCurrent, (void *ctx))
{
    (void)ctx;
    return 0;
}

CALL(MemcpyDtoDAsync_v2,
     (uint64_t to, uint64_t from, size_t bytes, void *stream))
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return fails("MemcpyDtoDAsync_v2");
}

CALL(MemsetD8_v2, (uint64_t p, unsigned char byte, size_t bytes))
{
    memset((void *)(uintptr_t)p, byte, bytes);
    return 0;
}

CALL(EventCreate, (void **event, unsigned flags))
{
    int bad = fails("EventCreate");

    (void)flags;
    *event = bad ? NULL : log_text;
    fake_count(!bad);
    return bad;
}

CALL(EventSynchronize, (void *event))
{
    (void)event;
    return 0;
}

CALL(EventDestroy_v2, (void *event))
{
    (void)event;
    fake_count(-1);
    return 0;
}

CALL(EventRecord, (void *event, void *stream))
{
    (void)stream;
    if (!event)
        return 400;
    waits++; /* for which events are there */
    between = launched;
    launched = 0;
    return fails("EventRecord");
}

/* Not yet, unless $FAKE_SLOW: then the host was slower than the GPU. */
CALL(EventQuery, (void *event))
{
    (void)event;
    return getenv("FAKE_SLOW") ? 0 : 600;
}

CALL(EventElapsedTime, (float *ms, void *begin, void *end))
{
    const char *one = getenv("FAKE_MS");

    (void)begin;
    (void)end;
    *ms = (one ? strtof(one, NULL) : 1) * (float)(between > 1 ? between : 1);
    return 0;
}

CALL(EventElapsedTime_v2, (float *ms, void *begin, void *end))
{
    return cuEventElapsedTime(ms, begin, end);
}

CALL(LibraryLoadData,
     (void **library, const void *code, void *jit, void *jit_values,
      unsigned n_jit, void *option, void *values, unsigned n))
{
    (void)jit;
    (void)jit_values;
    (void)n_jit;
    (void)option;
    (void)values;
    (void)n;
    SAY("library of %s\n", memcmp(code, "\177ELF", 4) == 0 ? "an ELF" : "?");
    *library = log_text;
    return fails("LibraryLoadData");
}

CALL(LibraryGetKernel, (void **kernel, void *library, const char *name))
{
    (void)library;
    SAY("kernel %s\n", name);
    *kernel = log_text;
    return 0;
}

CALL(KernelGetFunction, (void **function, void *kernel))
{
    *function = kernel;
    return 0;
}

CALL(CtxGetDevice, (int *device))
{
    *device = 0;
    return 0;
}

CALL(MemAllocAsync, (uint64_t * p, size_t bytes, void *stream))
{
    int bad = fails("MemAllocAsync");

    (void)stream;
    return bad ? bad : cuMemAlloc_v2(p, bytes);
}

CALL(MemsetD8Async, (uint64_t p, unsigned char v, size_t bytes, void *stream))
{
    (void)stream;
    SAY("set %zu bytes\n", bytes);
    memset((void *)(uintptr_t)p, v, bytes);
    return fails("MemsetD8Async");
}

CALL(MemFreeAsync, (uint64_t p, void *stream))
{
    for (int i = 0; i < MAX_LATE; i++)
        if (late[i].p == 0) {
            late[i].p = p;
            late[i].stream = stream;
            return 0;
        }
    return cuMemFree_v2(p);
}

CALL(TensorMapEncodeTiled,
     (void *map, int type, uint32_t rank, void *address, const uint64_t *size,
      const uint64_t *stride, const uint32_t *box, const uint32_t *step,
      int interleave, int swizzle, int promotion, int fill))
{
    (void)promotion;
    if (!address)
        return 1;
    SAY("map type %d rank %u swizzle %d", type, rank, swizzle);
    for (uint32_t i = 0; i < rank; i++)
        SAY(" %u of %llu by %llu", box[i] / step[i],
            (unsigned long long)size[i],
            i > 0 ? (unsigned long long)stride[i - 1] : 0ull);
    SAY("\n");
    memset(map, interleave + fill, 128);
    return fails("TensorMapEncodeTiled");
}
