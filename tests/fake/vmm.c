/* vmm.c - memory that ranks share, as drivers of the tests have it: a block is
 * a file without a name, of which the second half says which bytes were ever
 * written, and addresses are this process's; so what one rank stores all see.
 *
 * $FAKE_GPUS (1) says how many there are; GPUs $FAKE_APART (a digit each) reach
 * no other; $FAKE_NO=NUMBER: that attribute is 0; $FAKE_GRAIN (2 MiB): of
 * blocks, twice that on GPU 1, and so on.  $FAKE_FAIL=NAME:NUMBER makes a call
 * fail, with $FAKE_FAIL_ON=N on GPU N alone.  fake_left() counts blocks,
 * mappings, addresses and allocations that are there, and a GPU
 * that is closed at last says so where there are some; fake_order() is what was
 * asked. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

enum { INVALID = 1, NO_MEMORY = 2, NOT_STARTED = 3, MOST = 256 };

typedef struct block {
    int    fd;
    size_t bytes;
} block;

static struct {
    char  *at;
    void  *known;
    size_t bytes;
    int    how;
} mapped[MOST];

static int   left, n_retained;
static int   own = -1; /* the GPU of this process */
static pid_t started;
static char  order[4096];

int         fake_left(void);
const char *fake_order(void);

int
fake_left(void)
{
    return left;
}

const char *
fake_order(void)
{
    return order;
}

static void
note(const char *what)
{
    size_t n = strlen(order);

    snprintf(order + n, sizeof order - n, "%s%s", n ? " " : "", what);
}

static int
number(const char *name, int usual)
{
    const char *s = getenv(name);

    return s ? atoi(s) : usual;
}

int
fake_gpus(void)
{
    return number("FAKE_GPUS", 1);
}

void
fake_start(void)
{
    started = getpid();
}

/* A driver does not go on in a child. */
int
fake_retain(int device)
{
    own = device;
    n_retained += started == getpid();
    return started == getpid() ? 0 : NOT_STARTED;
}

bool
fake_has_not(int attribute)
{
    return number("FAKE_NO", -1) == attribute;
}

int
fake_fails(const char *name)
{
    const char *want = getenv("FAKE_FAIL");
    size_t      n = strlen(name);

    if (!want || strncmp(want, name, n) != 0 || want[n] != ':' ||
        (getenv("FAKE_FAIL_ON") && number("FAKE_FAIL_ON", 0) != own))
        return 0;
    return atoi(want + n + 1);
}

static int
fails(const char *name)
{
    note(name);
    return fake_fails(name);
}

void
fake_count(int by)
{
    left += by;
}

void
fake_release(void)
{
    if (--n_retained == 0 && left)
        fprintf(stderr, "the driver still has %d things\n", left);
}

CALL(DeviceCanAccessPeer, (int *can, int device, int peer))
{
    const char *apart = getenv("FAKE_APART");

    *can =
        !apart || (!strchr(apart, '0' + device) && !strchr(apart, '0' + peer));
    return fails("DeviceCanAccessPeer");
}

CALL(MemGetAllocationGranularity,
     (size_t * bytes, const memory_prop *what, int option))
{
    (void)option;
    *bytes = (size_t)number("FAKE_GRAIN", 2 << 20) *
             (getenv("FAKE_GRAIN") ? (size_t)what->device + 1 : 1);
    return fails("MemGetAllocationGranularity");
}

static int
make_block(int fd, size_t bytes, uint64_t *handle)
{
    block *b = malloc(sizeof *b);

    if (!b || fd < 0) {
        free(b);
        return NO_MEMORY;
    }
    *b = (block){fd, bytes};
    *handle = (uint64_t)(uintptr_t)b;
    left++;
    return 0;
}

CALL(MemCreate, (uint64_t * handle, size_t bytes, const memory_prop *what,
                 unsigned long long flags))
{
    memory_prop grain = *what;
    size_t      least;
    int         bad = fails("MemCreate"), fd;

    if (bad)
        return bad;
    cuMemGetAllocationGranularity(&least, &grain, 0);
    if (flags || what->type != 1 || what->handle_type != 1 ||
        what->place != 1 || what->device != own || bytes == 0 ||
        bytes % least != 0)
        return INVALID;
    fd = memfd_create("fake", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(2 * bytes)) < 0)
        return NO_MEMORY;
    return make_block(fd, bytes, handle);
}

CALL(MemRelease, (uint64_t handle))
{
    block *b = (block *)(uintptr_t)handle;

    note("MemRelease");
    close(b->fd);
    free(b);
    left--;
    return 0;
}

CALL(MemExportToShareableHandle,
     (void *out, uint64_t handle, int type, unsigned long long flags))
{
    int bad = fails("MemExportToShareableHandle");
    int fd = bad ? -1 : dup(((block *)(uintptr_t)handle)->fd);

    if (!bad && (type != 1 || flags || fd < 0))
        bad = INVALID;
    if (!bad)
        memcpy(out, &fd, sizeof fd);
    return bad;
}

CALL(MemImportFromShareableHandle, (uint64_t * handle, void *from, int type))
{
    int         bad = fails("MemImportFromShareableHandle");
    int         fd = (int)(intptr_t)from;
    struct stat is;

    if (bad)
        return bad;
    if (type != 1 || fstat(fd, &is) < 0)
        return INVALID;
    return make_block(dup(fd), (size_t)is.st_size / 2, handle);
}

CALL(MemAddressReserve, (uint64_t * p, size_t bytes, size_t align,
                         uint64_t want, unsigned long long flags))
{
    int   bad = fails("MemAddressReserve");
    void *at;

    (void)want;
    if (bad)
        return bad;
    if ((align & (align - 1)) != 0 || flags)
        return INVALID;
    at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NO_MEMORY;
    *p = (uint64_t)(uintptr_t)at;
    left++;
    return 0;
}

CALL(MemAddressFree, (uint64_t p, size_t bytes))
{
    note("MemAddressFree");
    for (int i = 0; i < MOST; i++)
        if (mapped[i].at && (uint64_t)(uintptr_t)mapped[i].at - p < bytes)
            return INVALID; /* of what is mapped */
    left--;
    return munmap((void *)(uintptr_t)p, bytes) == 0 ? 0 : INVALID;
}

CALL(MemMap, (uint64_t p, size_t bytes, size_t offset, uint64_t handle,
              unsigned long long flags))
{
    block *b = (block *)(uintptr_t)handle;
    int    bad = fails("MemMap"), i = 0;

    while (i < MOST && mapped[i].at)
        i++;
    if (bad || flags || i == MOST || offset + bytes > b->bytes)
        return bad ? bad : INVALID;
    mapped[i].at = mmap((void *)(uintptr_t)p, bytes, PROT_NONE,
                        MAP_SHARED | MAP_FIXED, b->fd, (off_t)offset);
    mapped[i].known = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           b->fd, (off_t)(b->bytes + offset));
    mapped[i].bytes = bytes;
    left++;
    return 0;
}

CALL(MemUnmap, (uint64_t p, size_t bytes))
{
    note("MemUnmap");
    for (int i = 0; i < MOST; i++)
        if ((uint64_t)(uintptr_t)mapped[i].at == p) {
            fake_unmapped(mapped[i].at);
            munmap(mapped[i].known, bytes);
            mmap(mapped[i].at, bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            mapped[i].at = NULL;
            left--;
            return 0;
        }
    return INVALID;
}

CALL(MemSetAccess,
     (uint64_t p, size_t bytes, const memory_access *who, size_t n))
{
    int    bad = fails("MemSetAccess");
    size_t done = 0;

    if (bad || n != 1 || who->place != 1 || who->device != own || who->how != 3)
        return bad ? bad : INVALID;
    for (int i = 0; i < MOST; i++)
        if (mapped[i].at && (uint64_t)(uintptr_t)mapped[i].at - p < bytes) {
            mprotect(mapped[i].at, mapped[i].bytes, PROT_READ | PROT_WRITE);
            fake_mapped(mapped[i].at, mapped[i].known, mapped[i].bytes);
            done += mapped[i].bytes;
        }
    return done == bytes ? 0 : INVALID;
}
