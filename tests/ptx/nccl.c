/* nccl.c - NCCL, as far as axe calls it, for the GPUs that execute PTX: ranks
 * meet in a file of /dev/shm that is gone when all have come, and add in
 * descending order of the ranks. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../fake/driver.h"

enum {
    SYSTEM = 2,
    INVALID = 4,
    IN_PROGRESS = 7,
    ROOM = 8 << 20,
    HEAD = 4096,
    MOST_S = 10
};

typedef struct unique_id {
    char text[128];
} unique_id;

typedef struct meeting {
    atomic_int come;
    atomic_int arrived;
} meeting;

typedef struct comm {
    meeting *at;
    size_t   bytes;
    int      n, rank, met;
    char     name[128];
} comm;

#define RTN(name, args)                                                        \
    int nccl##name args;                                                       \
    int nccl##name args

static int
asked(const char *name)
{
    fake_note(name);
    return fake_fails(name);
}

const char *ncclGetErrorString(int result);
const char *
ncclGetErrorString(int result)
{
    (void)result;
    return "a text of NCCL";
}

static bool
until(atomic_int *word, int want)
{
    time_t end = time(NULL) + MOST_S;

    while (atomic_load(word) < want)
        if (sched_yield() != 0 || time(NULL) > end)
            return false;
    return true;
}

static bool
meet(comm *c)
{
    atomic_fetch_add(&c->at->arrived, 1);
    return until(&c->at->arrived, c->n * ++c->met);
}

RTN(GetUniqueId, (unique_id * out))
{
    static int number;

    snprintf(out->text, sizeof out->text, "/axe-fake-nccl-%d-%d", (int)getpid(),
             number++);
    return asked("ncclGetUniqueId");
}

/* As of 2.14. */
typedef struct config {
    size_t   size;
    unsigned magic, version;
    int      blocks;
} config;

/* It blocks nobody: all have come when CommGetAsyncError says so. */
RTN(CommInitRankConfig,
    (void **out, int n, unique_id id, int rank, config *how))
{
    comm *c = calloc(1, sizeof *c);
    int   bad = asked("ncclCommInitRankConfig"), fd;

    if (how->size != sizeof *how || how->magic != 0xcafebeef ||
        how->version != 21400 || how->blocks)
        bad = INVALID;
    if (bad || !c) {
        free(c);
        return bad ? bad : SYSTEM;
    }
    *c = (comm){.n = n, .rank = rank, .bytes = HEAD + (size_t)n * ROOM};
    memcpy(c->name, id.text, sizeof c->name);
    fd = shm_open(id.text, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)c->bytes) < 0)
        return SYSTEM;
    c->at = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    *out = c;
    fake_count(1);
    if (!getenv("FAKE_LATE_RANK") || rank != atoi(getenv("FAKE_LATE_RANK")))
        atomic_fetch_add(&c->at->come, 1);
    return IN_PROGRESS;
}

RTN(CommGetAsyncError, (void *p, int *out))
{
    comm *c = p;

    *out = atomic_load(&c->at->come) < c->n ? IN_PROGRESS : 0;
    return 0;
}

RTN(CommDestroy, (void *p))
{
    comm *c = p;

    fake_note("ncclCommDestroy");
    if (c->rank == 0)
        shm_unlink(c->name);
    munmap(c->at, c->bytes);
    free(c);
    fake_count(-1);
    return 0;
}

RTN(CommAbort, (void *p))
{
    fake_note("ncclCommAbort");
    return ncclCommDestroy(p);
}

static char *
room_of(const comm *c, int rank)
{
    return (char *)c->at + HEAD + (size_t)rank * ROOM;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);

/* What this rank gives is there for all; they have all given theirs. */
static int
give(comm *c, const void *from, size_t bytes)
{
    if (bytes > ROOM || cuMemcpyDtoH_v2(room_of(c, c->rank),
                                        (uint64_t)(uintptr_t)from, bytes) != 0)
        return INVALID;
    return meet(c) ? 0 : SYSTEM;
}

static int
take(comm *c, void *to, const void *from, size_t bytes)
{
    return cuMemcpyHtoD_v2((uint64_t)(uintptr_t)to, from, bytes) != 0 ? INVALID
           : meet(c)                                                  ? 0
                                                                      : SYSTEM;
}

static size_t
width_of(int type)
{
    return type == 1 ? 1 : type == 3 || type == 7 ? 4 : 8;
}

RTN(AllGather,
    (const void *from, void *to, size_t n, int type, void *p, void *stream))
{
    comm  *c = p;
    size_t bytes = n * width_of(type);
    char  *all = malloc(bytes * (size_t)c->n + 1);
    int    bad = asked("ncclAllGather");

    (void)stream;
    bad = bad ? bad : give(c, from, bytes);
    for (int r = 0; r < c->n && !bad; r++)
        memcpy(all + (size_t)r * bytes, room_of(c, r), bytes);
    bad = bad ? bad : take(c, to, all, bytes * (size_t)c->n);
    free(all);
    return bad ? bad : IN_PROGRESS;
}

#define ADD(type)                                                              \
    for (size_t i = 0; i < n; i++)                                             \
    ((type *)to)[i] = (type)(((type *)to)[i] + ((const type *)from)[i])

static void
add(int type, void *to, const void *from, size_t n)
{
    if (type == 3)
        ADD(uint32_t);
    else if (type == 5)
        ADD(uint64_t);
    else if (type == 7)
        ADD(float);
    else
        ADD(double);
}

/* Of n elements from number `at` on, of `all` that each gives. */
static int
sum(comm *c, const void *from, void *to, size_t all, size_t at, size_t n,
    int type)
{
    size_t width = width_of(type);
    char  *made = calloc(n + 1, width);
    int    bad = give(c, from, all * width);

    for (int r = c->n - 1; r >= 0 && !bad; r--)
        add(type, made, room_of(c, r) + at * width, n);
    bad = bad ? bad : take(c, to, made, n * width);
    free(made);
    return bad ? bad : IN_PROGRESS;
}

RTN(ReduceScatter, (const void *from, void *to, size_t n, int type, int op,
                    void *p, void *stream))
{
    comm *c = p;
    int   bad = asked("ncclReduceScatter");

    (void)stream;
    return bad || op ? bad + op
                     : sum(c, from, to, n * (size_t)c->n, n * (size_t)c->rank,
                           n, type);
}

RTN(AllReduce, (const void *from, void *to, size_t n, int type, int op, void *p,
                void *stream))
{
    int bad = asked("ncclAllReduce");

    (void)stream;
    return bad || op ? bad + op : sum(p, from, to, n, 0, n, type);
}
