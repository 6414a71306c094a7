/* opencl.c - a libOpenCL with one device, whose programs are their texts and
 * whose kernels do nothing.
 *
 * $FAKE_FAIL=NAME:NUMBER makes that call fail, and $FAKE_SAYS is the log of a
 * build; $FAKE_EXT are the device's extensions beside cl_khr_fp64, $FAKE_LANES
 * what it answers to vendors' questions for its lanes, $FAKE_FLOATS what it
 * does with f32, $FAKE_ATOMICS of which scopes and orders its atomics are,
 * $FAKE_SUMS which of them are of floats, $FAKE_LOCAL (1024) the bytes of a
 * group, $FAKE_VERSION (OpenCL 3.0) its version, $FAKE_DRIVER (1.0) its
 * driver's, $FAKE_NAME (Fake device) and $FAKE_PLATFORM (Fake platform) what it
 * is called, $FAKE_IL what it takes beside texts.  $FAKE_PLATFORMS and
 * $FAKE_DEVICES (1): how many there are; $FAKE_DEVICE (0): which one a queue is
 * of; $FAKE_BYTES (1 MiB) of a buffer; $FAKE_ARGS (1): arguments of a kernel,
 * $FAKE_ITEMS (128): its greatest group.  $FAKE_OPTIONS: the only options of a
 * build that it takes.
 *
 * fake_options() are the last build's, fake_value(I) is the argument I that was
 * set last, fake_items() are those of the last launch; fake_count(NAME) says
 * how often a call was made. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 };

static struct {
    const char *name;
    int         n;
} counts[MAX_NAME];

static char things[4]; /* what handles point to */

static char     last_options[256];
static uint64_t last_value[64], last_items;

int         fake_count(const char *name);
const char *fake_options(void);
uint64_t    fake_value(int i);
uint64_t    fake_items(void);

uint64_t
fake_value(int i)
{
    return last_value[i];
}

uint64_t
fake_items(void)
{
    return last_items;
}

const char *
fake_options(void)
{
    return last_options;
}

int
fake_count(const char *name)
{
    for (int i = 0; i < MAX_NAME && counts[i].name; i++)
        if (strcmp(counts[i].name, name) == 0)
            return counts[i].n;
    return 0;
}

/* Count the call; its error, or 0. */
static int
enter(const char *name)
{
    const char *want = getenv("FAKE_FAIL");
    size_t      n = strlen(name);
    int         i = 0;

    while (i < MAX_NAME - 1 && counts[i].name && strcmp(counts[i].name, name))
        i++;
    counts[i].name = name;
    counts[i].n++;
    return want && strncmp(want, name, n) == 0 && want[n] == ':'
               ? atoi(want + n + 1)
               : 0;
}

static unsigned
number(const char *variable, unsigned usual)
{
    const char *s = getenv(variable);

    return s ? (unsigned)atoi(s) : usual;
}

static const char *
text(const char *variable, const char *usual)
{
    const char *s = getenv(variable);

    return s ? s : usual;
}

static int
answer(const void *value, size_t n, size_t bytes, void *out, size_t *need)
{
    if (need)
        *need = n;
    if (out && bytes < n)
        return -30;
    if (out)
        memcpy(out, value, n);
    return 0;
}

static int
answer_text(const char *text, size_t bytes, void *out, size_t *need)
{
    return answer(text, strlen(text) + 1, bytes, out, need);
}

#define CALL(name, ...)                                                        \
    int cl##name(__VA_ARGS__);                                                 \
    int cl##name(__VA_ARGS__)
#define DONE(name, ...)                                                        \
    CALL(name, __VA_ARGS__)                                                    \
    {                                                                          \
        return enter(#name);                                                   \
    }
#define MAKE(name, ...)                                                        \
    void *cl##name(__VA_ARGS__, int *result);                                  \
    void *cl##name(__VA_ARGS__, int *result)                                   \
    {                                                                          \
        *result = enter(#name);                                                \
        return *result ? NULL : things;                                        \
    }
#define UNUSED __attribute__((unused))

CALL(GetPlatformIDs, unsigned n UNUSED, void **platform, unsigned *n_out)
{
    *n_out = number("FAKE_PLATFORMS", 1);
    for (unsigned i = 0; i < *n_out; i++)
        platform[i] = things;
    return enter("GetPlatformIDs");
}

CALL(GetPlatformInfo, void *platform UNUSED, unsigned what UNUSED, size_t bytes,
     void *out, size_t *need)
{
    int bad = enter("GetPlatformInfo");

    return bad ? bad
               : answer_text(text("FAKE_PLATFORM", "Fake platform"), bytes, out,
                             need);
}

CALL(GetDeviceIDs, void *platform UNUSED, uint64_t kinds UNUSED,
     unsigned n UNUSED, void **device, unsigned *n_out)
{
    *n_out = number("FAKE_DEVICES", 1);
    for (unsigned i = 0; i < *n_out; i++)
        device[i] = things;
    return *n_out > 0 ? enter("GetDeviceIDs") : -1;
}

/* Texts by their questions, numbers of 4 and 8 bytes by theirs. */
CALL(GetDeviceInfo, void *device UNUSED, unsigned what, size_t bytes, void *out,
     size_t *need)
{
    char     list[256];
    size_t   wide[] = {8, 32};
    uint32_t narrow = what == 0x1002   ? 3
                      : what == 0x1022 ? 1
                                       : number("FAKE_LANES", 0);
    uint64_t n = what == 0x1000   ? 4
                 : what == 0x1004 ? 256
                 : what == 0x1010 ? UINT64_C(1) << 20
                 : what == 0x101b ? number("FAKE_FLOATS", 0)
                 : what == 0x101f ? UINT64_MAX
                 : what == 0x1063 ? number("FAKE_ATOMICS", 0x11)
                 : what == 0x4231 ? number("FAKE_SUMS", 0)
                 : what == 0x1023 ? number("FAKE_LOCAL", 1024)
                                  : 1024;
    int      bad = enter("GetDeviceInfo");

    if (bad)
        return bad;
    snprintf(list, sizeof list, "cl_khr_fp64 %s", text("FAKE_EXT", ""));
    switch (what) {
    case 0x102b:
        return answer_text(text("FAKE_NAME", "  Fake\ndevice"), bytes, out,
                           need);
    case 0x102d:
        return answer_text(text("FAKE_DRIVER", "1.0"), bytes, out, need);
    case 0x102f:
        return answer_text(text("FAKE_VERSION", "OpenCL 3.0"), bytes, out,
                           need);
    case 0x105b:
        return answer_text(text("FAKE_IL", ""), bytes, out, need);
    case 0x103d:
        return answer_text("OpenCL C 1.2 ", bytes, out, need);
    case 0x1030:
        return answer_text(list, bytes, out, need);
    case 0x4108:
        return answer(wide, sizeof wide, bytes, out, need);
    case 0x1002:
    case 0x1022:
    case 0x4003:
    case 0x4043:
        return answer(&narrow, sizeof narrow, bytes, out, need);
    default:
        return answer(&n, sizeof n, bytes, out, need);
    }
}

MAKE(CreateContext, const intptr_t *property UNUSED, unsigned n UNUSED,
     void *const *device UNUSED,
     void (*notify)(const char *, const void *, size_t, void *) UNUSED,
     void *user UNUSED)
MAKE(CreateCommandQueue, void *ctx UNUSED, void *device UNUSED,
     uint64_t properties UNUSED)
MAKE(CreateBuffer, void *ctx UNUSED, uint64_t flags UNUSED, size_t bytes UNUSED,
     void *host UNUSED)
MAKE(CreateProgramWithSource, void *ctx UNUSED, unsigned n UNUSED,
     const char **text UNUSED, const size_t *len UNUSED)
MAKE(CreateProgramWithIL, void *ctx UNUSED, const void *code UNUSED,
     size_t bytes UNUSED)
MAKE(CreateKernel, void *program UNUSED, const char *name UNUSED)
DONE(ReleaseContext, void *ctx UNUSED)
DONE(ReleaseCommandQueue, void *queue UNUSED)
DONE(Finish, void *queue UNUSED)
DONE(ReleaseMemObject, void *memory UNUSED)
DONE(EnqueueWriteBuffer, void *queue UNUSED, void *memory UNUSED,
     unsigned wait UNUSED, size_t at UNUSED, size_t bytes UNUSED,
     const void *from UNUSED, unsigned n UNUSED, void *const *before UNUSED,
     void **event UNUSED)
DONE(EnqueueReadBuffer, void *queue UNUSED, void *memory UNUSED,
     unsigned wait UNUSED, size_t at UNUSED, size_t bytes UNUSED,
     void *to UNUSED, unsigned n UNUSED, void *const *before UNUSED,
     void **event UNUSED)
CALL(BuildProgram, void *program UNUSED, unsigned n UNUSED,
     void *const *device UNUSED, const char           *options,
     void (*notify)(void *, void *) UNUSED, void *user UNUSED)
{
    const char *only = getenv("FAKE_OPTIONS");

    snprintf(last_options, sizeof last_options, "%s", options ? options : "");
    return only && strcmp(last_options, only) != 0 ? -43
                                                   : enter("BuildProgram");
}

/* Of the queue 0 is the context, 1 the device, 3 how it works. */
CALL(GetCommandQueueInfo, void *queue UNUSED, unsigned what, size_t bytes,
     void *out, size_t *need)
{
    void    *it = what == 0x1091 ? things + number("FAKE_DEVICE", 0) : things;
    uint64_t how = 0;
    int      bad = enter("GetCommandQueueInfo");

    return bad              ? bad
           : what == 0x1093 ? answer(&how, sizeof how, bytes, out, need)
                            : answer(&it, sizeof it, bytes, out, need);
}

CALL(GetMemObjectInfo, void *memory UNUSED, unsigned what UNUSED, size_t bytes,
     void *out, size_t *need)
{
    const char *s = getenv("FAKE_BYTES");
    size_t      n = s ? (size_t)strtoull(s, NULL, 10) : 1 << 20;
    int         bad = enter("GetMemObjectInfo");

    return bad ? bad : answer(&n, sizeof n, bytes, out, need);
}

DONE(ReleaseProgram, void *program UNUSED)
DONE(ReleaseKernel, void *kernel UNUSED)
DONE(WaitForEvents, unsigned n UNUSED, void *const *event UNUSED)
DONE(ReleaseEvent, void *event UNUSED)

void *clCreateProgramWithBinary(void *ctx, unsigned n, void *const *device,
                                const size_t *len, const unsigned char **code,
                                int *each, int *result);
void *
clCreateProgramWithBinary(void *ctx UNUSED, unsigned n UNUSED,
                          void *const *device UNUSED, const size_t *len UNUSED,
                          const unsigned char **code UNUSED, int *each,
                          int *result)
{
    *result = 0;
    *each = enter("CreateProgramWithBinary");
    return things;
}

CALL(GetProgramInfo, void *program UNUSED, unsigned what, size_t bytes,
     void *out, size_t *need)
{
    static const char code[] = "fake code";
    size_t            n = sizeof code;
    unsigned char    *at;
    int               bad = enter("GetProgramInfo");

    if (bad || what == 0x1168)
        return bad ? bad : answer_text("k", bytes, out, need);
    if (what == 0x1165)
        return answer(&n, sizeof n, bytes, out, need);
    memcpy(&at, out, sizeof at);
    memcpy(at, code, n);
    return 0;
}

CALL(GetProgramBuildInfo, void *program UNUSED, void *device UNUSED,
     unsigned what UNUSED, size_t bytes, void *out, size_t *need)
{
    const char *says = getenv("FAKE_SAYS");
    int         bad = enter("GetProgramBuildInfo");

    return bad ? bad : answer_text(says ? says : "", bytes, out, need);
}

CALL(SetKernelArg, void *kernel UNUSED, unsigned i, size_t bytes,
     const void *value)
{
    uint64_t *to = &last_value[i % 64];

    *to = 0;
    if (value)
        memcpy(to, value, bytes < sizeof *to ? bytes : sizeof *to);
    return enter("SetKernelArg");
}

CALL(GetKernelInfo, void *kernel UNUSED, unsigned what UNUSED, size_t bytes,
     void *out, size_t *need)
{
    unsigned n = number("FAKE_ARGS", 1);
    int      bad = enter("GetKernelInfo");

    return bad ? bad : answer(&n, sizeof n, bytes, out, need);
}

CALL(GetKernelWorkGroupInfo, void *kernel UNUSED, void *device UNUSED,
     unsigned what, size_t bytes, void *out, size_t *need)
{
    uint64_t n = what == 0x11b0 ? number("FAKE_ITEMS", 128) : 128;
    int      bad = enter("GetKernelWorkGroupInfo");

    return bad ? bad : answer(&n, sizeof n, bytes, out, need);
}

CALL(EnqueueNDRangeKernel, void *queue UNUSED, void *kernel UNUSED,
     unsigned rank UNUSED, const size_t *at UNUSED, const size_t *items,
     const size_t *group UNUSED, unsigned n UNUSED, void *const *before UNUSED,
     void **event)
{
    if (event)
        *event = things;
    last_items = *items;
    return enter("EnqueueNDRangeKernel");
}

CALL(GetEventProfilingInfo, void *event UNUSED, unsigned what, size_t bytes,
     void *out, size_t *need)
{
    uint64_t ns = what == 0x1282 ? 1000 : 3000;
    int      bad = enter("GetEventProfilingInfo");

    return bad ? bad : answer(&ns, sizeof ns, bytes, out, need);
}
