/* vmm.c - memory that ranks share, as drivers of the tests have it: a block is
 * a file without a name, of which the second half says which bytes were ever
 * written, and addresses are this process's; so what one rank stores all see.
 *
 * $FAKE_GPUS (1) says how many there are; GPUs $FAKE_APART (a digit each) reach
 * no other; $FAKE_NO=NUMBER: that attribute is 0; $FAKE_GRAIN (2 MiB): of
 * blocks, twice that on GPU 1, and so on.  $FAKE_FAIL=NAME:NUMBER makes a call
 * fail, with $FAKE_FAIL_ON=N on GPU N alone, with $FAKE_FAIL_AT=N from the N-th
 * of them on; $FAKE_DIE=NAME:N ends the process there by signal $FAKE_SIGNAL
 * (9).  fake_left() counts blocks, mappings, addresses and allocations that are
 * there, and a GPU that is closed at last says so where there are some;
 * fake_order() is what was asked. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

enum {
    INVALID = 1,
    NO_MEMORY = 2,
    NOT_STARTED = 3,
    MOST = 256,
    PAGE = 4096,
    CAST_GRAIN = 4 << 20
};

typedef struct block {
    int    fd;
    size_t bytes;
    bool   others;
} block;

static struct {
    char    *at;
    void    *known;
    size_t   bytes;
    int      fd;
    bool     others; /* made by another process */
    uint64_t number;
} mapped[MOST];

static int   left, n_retained;
static int   own = -1; /* the GPU of this process */
static pid_t started;
static char  order[1 << 16];

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

void
fake_note(const char *what)
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

int
fake_own(void)
{
    return own;
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

/* The number behind the call's name, on this GPU; 0: it is another's. */
static int
named(const char *variable, const char *name)
{
    const char *want = getenv(variable);
    size_t      n = strlen(name);

    if (!want || strncmp(want, name, n) != 0 || want[n] != ':' ||
        (getenv("FAKE_FAIL_ON") && number("FAKE_FAIL_ON", 0) != own))
        return 0;
    return atoi(want + n + 1);
}

int
fake_fails(const char *name)
{
    static int n_failing, n_dying;
    int        dies = named("FAKE_DIE", name), fails = named("FAKE_FAIL", name);

    if (dies && ++n_dying == dies)
        raise(number("FAKE_SIGNAL", SIGKILL));
    if (fails && ++n_failing < number("FAKE_FAIL_AT", 1))
        return 0;
    return fails;
}

static int
fails(const char *name)
{
    fake_note(name);
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
    if (n_retained == 0 && getenv("FAKE_TELL"))
        fprintf(stderr, "GPU %d: %s\n", own, order);
}

/* $FAKE_FIRST (0): the host's GPU that is number 0 here. */
CALL(DeviceGetUuid_v2, (void *id, int device))
{
    memset(id, 0x5a, 16);
    *(char *)id = (char)(device + number("FAKE_FIRST", 0));
    return fake_fails("DeviceGetUuid_v2");
}

CALL(DeviceCanAccessPeer, (int *can, int device, int peer))
{
    const char *apart = getenv("FAKE_APART");
    int         first = number("FAKE_FIRST", 0);

    *can = !apart || (!strchr(apart, '0' + device + first) &&
                      !strchr(apart, '0' + peer + first));
    return fails("DeviceCanAccessPeer");
}

static size_t
grain_on(int device)
{
    return (size_t)number("FAKE_GRAIN", 2 << 20)
           << (getenv("FAKE_GRAIN") ? device : 0);
}

CALL(MemGetAllocationGranularity,
     (size_t * bytes, const memory_prop *what, int option))
{
    (void)option;
    *bytes = grain_on(what->device);
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
    *b = (block){.fd = fd, .bytes = bytes};
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

    fake_note("MemRelease");
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
    bad = make_block(dup(fd), (size_t)is.st_size / 2, handle);
    if (!bad)
        ((block *)(uintptr_t)*handle)->others = true;
    return bad;
}

/* At a multiple of `align`, and of nothing more. */
static char *
reserve(size_t bytes, size_t align)
{
    size_t all = bytes + 2 * align;
    char  *raw = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char  *at = raw;

    if (raw == MAP_FAILED)
        return NULL;
    at += align - (uintptr_t)at % align;
    if ((uintptr_t)at % (2 * align) == 0)
        at += align;
    if (at > raw)
        munmap(raw, (size_t)(at - raw));
    if (raw + all > at + bytes)
        munmap(at + bytes, (size_t)(raw + all - (at + bytes)));
    return at;
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
    at = reserve(bytes, align > PAGE ? align : PAGE);
    if (!at)
        return NO_MEMORY;
    *p = (uint64_t)(uintptr_t)at;
    left++;
    return 0;
}

CALL(MemAddressFree, (uint64_t p, size_t bytes))
{
    fake_note("MemAddressFree");
    for (int i = 0; i < MOST; i++)
        if (mapped[i].at && (uint64_t)(uintptr_t)mapped[i].at - p < bytes)
            return INVALID; /* of what is mapped */
    left--;
    return munmap((void *)(uintptr_t)p, bytes) == 0 ? 0 : INVALID;
}

/* ------------------------------------------------------------------ multicast
 *
 * An object is a file that begins with the numbers of the blocks bound to it,
 * as the system numbers files, and with how many GPUs are in it. */

enum { CAST_AT = 1 << 16 };
#define CAST_MAGIC UINT64_C(0x4158454341535431)

typedef struct cast {
    uint64_t magic;
    uint32_t want, joined, bound;
    uint64_t block[16];
} cast;

static cast *
cast_in(int fd)
{
    void *at = mmap(NULL, sizeof(cast), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                    CAST_AT);

    return at == MAP_FAILED ? NULL : at;
}

static cast *
cast_of(uint64_t handle)
{
    return cast_in(((block *)(uintptr_t)handle)->fd);
}

CALL(MulticastGetGranularity,
     (size_t * bytes, const cast_prop *what, int option))
{
    (void)option;
    *bytes = what->n_device > 1 ? CAST_GRAIN : 0;
    return fails("MulticastGetGranularity");
}

CALL(MulticastCreate, (uint64_t * handle, const cast_prop *what))
{
    int   bad = fails("MulticastCreate");
    int   fd = bad ? -1 : memfd_create("cast", MFD_CLOEXEC);
    cast *c;

    if (bad)
        return bad;
    if (what->flags || what->handle_types != 1 || what->bytes % CAST_GRAIN ||
        what->n_device < 2)
        return INVALID;
    if (ftruncate(fd, (off_t)(2 * what->bytes)) < 0)
        return NO_MEMORY;
    bad = make_block(fd, what->bytes, handle);
    c = bad ? NULL : cast_of(*handle);
    if (!c)
        return NO_MEMORY;
    c->magic = CAST_MAGIC;
    c->want = what->n_device;
    munmap(c, sizeof *c);
    return 0;
}

CALL(MulticastAddDevice, (uint64_t handle, int device))
{
    int   bad = fails("MulticastAddDevice");
    cast *c = bad ? NULL : cast_of(handle);

    if (!c || device != own)
        return bad ? bad : INVALID;
    __atomic_fetch_add(&c->joined, 1, __ATOMIC_SEQ_CST);
    munmap(c, sizeof *c);
    return 0;
}

CALL(MulticastBindMem, (uint64_t handle, size_t at, uint64_t memory,
                        size_t from, size_t bytes, unsigned long long flags))
{
    int         bad = fails("MulticastBindMem");
    cast       *c = bad ? NULL : cast_of(handle);
    struct stat is;
    uint32_t    i;

    if (!c)
        return bad ? bad : INVALID;
    if (at || from || flags || bytes % CAST_GRAIN || c->joined != c->want ||
        fstat(((block *)(uintptr_t)memory)->fd, &is) < 0)
        return INVALID;
    i = __atomic_fetch_add(&c->bound, 1, __ATOMIC_SEQ_CST);
    c->block[i] = is.st_ino;
    munmap(c, sizeof *c);
    left++;
    return 0;
}

CALL(MulticastUnbind, (uint64_t handle, int device, size_t at, size_t bytes))
{
    fake_note("MulticastUnbind");
    if (!handle || device != own || at || bytes % CAST_GRAIN)
        return INVALID;
    left--;
    return 0;
}

/* The same byte of each block bound to the object that is mapped at p. */
int
fake_blocks(const void *p, void **out, int most)
{
    const char *at = p;
    int         n = 0;

    for (int i = 0; i < MOST; i++) {
        size_t by = (size_t)(at - mapped[i].at);
        cast  *c;

        if (!mapped[i].at || at < mapped[i].at || by >= mapped[i].bytes)
            continue;
        c = cast_in(mapped[i].fd);
        for (uint32_t k = 0; c->magic == CAST_MAGIC && k < c->bound; k++)
            for (int b = 0; b < MOST && n < most; b++)
                if (mapped[b].at && mapped[b].number == c->block[k])
                    out[n++] = mapped[b].at + by;
        munmap(c, sizeof *c);
    }
    return n;
}

/* Of addresses and sizes where it is mapped. */
static size_t
grain_of(const block *b)
{
    cast  *c = b->bytes > CAST_AT ? cast_in(b->fd) : NULL;
    size_t grain = grain_on(own);

    if (c && c->magic == CAST_MAGIC)
        grain = CAST_GRAIN;
    if (c)
        munmap(c, sizeof *c);
    return grain;
}

CALL(MemMap, (uint64_t p, size_t bytes, size_t offset, uint64_t handle,
              unsigned long long flags))
{
    block      *b = (block *)(uintptr_t)handle;
    int         bad = fails("MemMap"), i = 0;
    struct stat is;

    while (i < MOST && mapped[i].at)
        i++;
    if (bad || flags || i == MOST || offset + bytes > b->bytes ||
        (p | bytes | offset) % grain_of(b) != 0)
        return bad ? bad : INVALID;
    mapped[i].at = mmap((void *)(uintptr_t)p, bytes, PROT_NONE,
                        MAP_SHARED | MAP_FIXED, b->fd, (off_t)offset);
    mapped[i].known = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           b->fd, (off_t)(b->bytes + offset));
    mapped[i].bytes = bytes;
    mapped[i].fd = b->fd;
    mapped[i].others = b->others;
    mapped[i].number = fstat(b->fd, &is) == 0 ? is.st_ino : 0;
    left++;
    return 0;
}

CALL(MemUnmap, (uint64_t p, size_t bytes))
{
    fake_note("MemUnmap");
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

bool
fake_is_others(uint64_t p)
{
    for (int i = 0; i < MOST; i++)
        if (mapped[i].at &&
            p - (uint64_t)(uintptr_t)mapped[i].at < mapped[i].bytes)
            return mapped[i].others;
    return false;
}
