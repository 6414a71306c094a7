/* swap.c - a descriptor of each rank to all others of the host.
 *
 * Each rank has a socket whose name the kernel chose, and no file; names go by
 * a gather.  In round k a rank sends to the k-th behind it, all meet, and it
 * hears from the k-th before it: nobody waits at a socket, where nobody would
 * see that a rank is gone, and no queue is longer than two messages. */
#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/swap.h"

enum { MAGIC = 0x41584502, NAME = 32 };

typedef struct place {
    int32_t length; /* of the address */
    char    name[NAME];
} place;

typedef struct token {
    int32_t magic;
    int32_t rank, round, gives;
    int64_t pid; /* of rank 0: what two jobs differ in */
} token;

typedef union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
} control;

/* Others are told before the socket is closed, which they would see first. */
static axe_status
trouble(axe_engine *e, const char *what, int64_t peer)
{
    axe_status st =
        axe_fail(e->cx, AXE_NOWHERE, AXE_EIO, "engine: %s rank %" PRId64 ": %s",
                 what, peer, strerror(errno));

    axe_engine_fail(e, axe_last_error(e->cx));
    return st;
}

/* A socket that hears; its name is in *out. */
static axe_status
listen_at(axe_engine *e, int *at, place *out)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t          n = sizeof(sa_family_t);
    int                yes = 1;

    *at = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*at < 0 || bind(*at, (struct sockaddr *)&a, n) < 0 ||
        setsockopt(*at, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0)
        return trouble(e, "a socket of", e->rank);
    n = sizeof a;
    if (getsockname(*at, (struct sockaddr *)&a, &n) < 0 ||
        n > offsetof(struct sockaddr_un, sun_path) + NAME)
        return trouble(e, "the name of a socket of", e->rank);
    out->length = (int32_t)n;
    memcpy(out->name, a.sun_path, n - offsetof(struct sockaddr_un, sun_path));
    return AXE_OK;
}

static axe_status
tell(axe_engine *e, int at, const place *to, int64_t peer, const token *t,
     int fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    control            c = {.head = {.cmsg_len = CMSG_LEN(sizeof fd),
                                     .cmsg_level = SOL_SOCKET,
                                     .cmsg_type = SCM_RIGHTS}};
    struct iovec       io = {(void *)(uintptr_t)t, sizeof *t};
    struct msghdr      m = {.msg_name = &a,
                            .msg_namelen = (socklen_t)to->length,
                            .msg_iov = &io,
                            .msg_iovlen = 1,
                            .msg_control = fd >= 0 ? &c : NULL,
                            .msg_controllen = fd >= 0 ? CMSG_SPACE(sizeof fd) : 0};

    memcpy(a.sun_path, to->name, NAME);
    memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
    if (sendmsg(at, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *t)
        return AXE_OK;
    if (errno == ECONNREFUSED) /* it has failed; the next meeting says how */
        return AXE_OK;
    return trouble(e, "giving a descriptor to", peer);
}

/* What came with a message; -1: none.  *ours: of this user. */
static int
take_control(struct msghdr *m, bool *ours)
{
    int fd = -1;

    *ours = false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        struct ucred who;

        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(c), sizeof fd);
        if (c->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&who, CMSG_DATA(c), sizeof who);
            *ours = who.uid == getuid();
        }
    }
    return fd;
}

/* The one that is this round's, which is there; what else came is not ours. */
static axe_status
hear(axe_engine *e, int at, const token *want, int *fd)
{
    for (;;) {
        token         t = {0};
        control       c = {0};
        struct iovec  io = {&t, sizeof t};
        struct msghdr m = {.msg_iov = &io,
                           .msg_iovlen = 1,
                           .msg_control = &c,
                           .msg_controllen = sizeof c};
        ssize_t       n = recvmsg(at, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        bool          ours;
        int           got;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return trouble(e, "no descriptor of", want->rank);
        got = take_control(&m, &ours);
        if (ours && n == (ssize_t)sizeof t && t.gives == (got >= 0) &&
            t.magic == want->magic && t.rank == want->rank &&
            t.round == want->round && t.pid == want->pid) {
            *fd = got;
            return AXE_OK;
        }
        if (got >= 0)
            close(got);
    }
}

static axe_status
rounds(axe_engine *e, int at, const place *all, int64_t pid, int mine, int *out)
{
    for (int64_t k = 1; k < e->size; k++) {
        int64_t to = (e->rank + k) % e->size;
        int64_t from = (e->rank + e->size - k) % e->size;
        token   give = {MAGIC, (int32_t)e->rank, (int32_t)k, mine >= 0, pid};
        token   want = {MAGIC, (int32_t)from, (int32_t)k, 0, pid};

        AXE_TRY(tell(e, at, &all[to], to, &give, mine));
        AXE_TRY(axe_engine_barrier(e));
        AXE_TRY(hear(e, at, &want, &out[from]));
    }
    return AXE_OK;
}

axe_status
engine_swap_descriptors(axe_engine *e, int mine, int *out)
{
    place     *all = axe_new_array(e->cx, place, e->size);
    int64_t   *pid = axe_new_array(e->cx, int64_t, e->size);
    place      own = {0};
    int64_t    me = getpid();
    int        at = -1;
    axe_status st;

    for (int64_t r = 0; r < e->size; r++)
        out[r] = -1;
    st = listen_at(e, &at, &own);
    if (st == AXE_OK)
        st = axe_engine_gather(e, &own, sizeof own, all);
    if (st == AXE_OK)
        st = axe_engine_gather(e, &me, sizeof me, pid);
    if (st == AXE_OK)
        st = rounds(e, at, all, pid[0], mine, out);
    if (at >= 0)
        close(at);
    for (int64_t r = 0; r < e->size && st != AXE_OK; r++)
        if (out[r] >= 0) {
            close(out[r]);
            out[r] = -1;
        }
    return st;
}
#else
#include "engine/swap.h"

axe_status
engine_swap_descriptors(axe_engine *e, int mine, int *out)
{
    (void)mine, (void)out;
    return axe_fail(e->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "descriptors go from rank to rank on Linux alone");
}
#endif
