/* shm_join.c - ranks that somebody else has started find one another: rank 0
 * listens at an address of Linux's that is no file, and gives each rank that
 * comes the descriptor of the shared memory. */
#ifdef __linux__
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "engine/shm.h"

enum { MAGIC = 0x41584501, NAP_MS = 2, MOST_MS = 2000, REPLY = 256 };

typedef struct hello {
    int64_t magic, rank, size;
} hello;

/* "" with a descriptor, or why there is none. */
typedef struct reply {
    int64_t room; /* [bytes] of each rank's heap */
    char    text[REPLY];
} reply;

static socklen_t
address(const axe_launcher *l, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "axe.%u.%016" PRIx64,
             (unsigned)getuid(), axe_text_hash(l->job, strlen(l->job)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       strlen(a->sun_path + 1));
}

static bool
is_ours(int fd)
{
    struct ucred c;
    socklen_t    n = sizeof c;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0 &&
           c.uid == getuid();
}

static bool
send_reply(int to, const reply *r, int fd)
{
    union {
        struct cmsghdr head;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec  io = {(void *)(uintptr_t)r, sizeof *r};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

    if (fd >= 0) {
        struct cmsghdr *c;

        m.msg_control = &control;
        m.msg_controllen = sizeof control.bytes;
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)sizeof *r;
}

static bool
receive_reply(int from, reply *r, int *fd)
{
    union {
        struct cmsghdr head;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec    io = {r, sizeof *r};
    struct msghdr   m = {.msg_iov = &io,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c;

    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *r)
        return false;
    r->text[REPLY - 1] = '\0';
    c = CMSG_FIRSTHDR(&m);
    *fd = -1;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return *fd >= 0 || r->text[0];
}

static void
limit(int fd, int64_t ms)
{
    struct timeval t = {ms / 1000, ms % 1000 * 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

/* ------------------------------------------------------------------- rank 0 */

/* What is wrong with one that came; NULL: nothing. */
static const char *
fault_of(axe_engine *e, const hello *h, const bool *seen)
{
    bool is_rank = h->rank > 0 && h->rank < e->size;

    if (h->size == e->size && is_rank && !seen[h->rank])
        return NULL;
    return axe_textf(e->cx,
                     "ranks differ: rank 0 is of %" PRId64 ", rank %" PRId64
                     " of %" PRId64 "%s",
                     e->size, h->rank, h->size,
                     is_rank && seen[h->rank] ? ", and came twice" : "");
}

/* One that came gets the descriptor, or why all end.  *why may be set.  Returns
 * whether it was a rank of ours. */
static bool
greet(axe_engine *e, int to, bool *seen, const char **why)
{
    const shm_state *s = e->state;
    hello            h;
    reply            r = {.room = e->room};

    limit(to, MOST_MS);
    if (!is_ours(to) || recv(to, &h, sizeof h, MSG_WAITALL) != sizeof h ||
        h.magic != MAGIC)
        return false;
    if (!*why)
        *why = fault_of(e, &h, seen);
    if (h.rank > 0 && h.rank < e->size)
        seen[h.rank] = true;
    snprintf(r.text, REPLY, "%s", *why ? *why : "");
    send_reply(to, &r, *why ? -1 : s->fd);
    return true;
}

/* Only where ranks take their parent for the job they are of. */
static void
help_to_meet(axe_engine *e, const axe_launcher *l)
{
    const char *parent =
        axe_textf(e->cx, "%s.%ld", l->launcher, (long)getppid());

    if (strcmp(l->job, parent) == 0)
        axe_help(e->cx,
                 "ranks meet by the process that has started them; where "
                 "each has another, as a shell, give all of them the same "
                 "AXE_RENDEZVOUS=NAME");
}

static axe_status
not_come(axe_engine *e, const axe_launcher *l, const bool *seen)
{
    axe_buf b = {.cx = e->cx};

    for (int64_t r = 1; r < e->size; r++)
        if (!seen[r])
            axe_putf(&b, "%s%" PRId64, b.len ? ", " : "", r);
    axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
             "engine shm: of %" PRId64 " ranks these did not come in "
             "%.3g s: %s",
             e->size, (double)e->timeout_ms / 1e3, b.text);
    help_to_meet(e, l);
    return AXE_EDEVICE;
}

/* Until all others have come, each to be told how it is. */
static axe_status
accept_all(axe_engine *e, const axe_launcher *l, int at, axe_status st)
{
    bool       *seen = axe_new_array(e->cx, bool, e->size);
    int64_t     until = engine_now_ms() + e->timeout_ms;
    const char *why = st == AXE_OK ? NULL : axe_last_error(e->cx);

    for (int64_t n = 1; n < e->size;) {
        struct pollfd p = {.fd = at, .events = POLLIN};
        int64_t       left = until - engine_now_ms();
        int           to;

        if (left <= 0 && !why)
            return not_come(e, l, seen);
        if (left <= 0)
            break;
        if (poll(&p, 1, left < 1000 ? (int)left : 1000) <= 0)
            continue;
        to = accept4(at, NULL, NULL, SOCK_CLOEXEC);
        if (to < 0)
            continue;
        n += greet(e, to, seen, &why);
        close(to);
    }
    if (st == AXE_OK && why)
        st = axe_fail(e->cx, AXE_NOWHERE, AXE_EARG, "%s", why);
    return st;
}

axe_status
shm_give(axe_engine *e, const axe_launcher *l, axe_status st)
{
    struct sockaddr_un a;
    socklen_t          n = address(l, &a);
    int                at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (at >= 0 && bind(at, (struct sockaddr *)&a, n) == 0 &&
        listen(at, SOMAXCONN) == 0)
        st = accept_all(e, l, at, st);
    else if (st == AXE_OK)
        st =
            shm_trouble(e->cx, axe_textf(e->cx, "listening for ranks of job %s",
                                         axe_text_plain(e->cx, l->job)));
    if (at >= 0)
        close(at);
    return st;
}

static int
call(const axe_launcher *l, int64_t until)
{
    struct sockaddr_un a;
    socklen_t          n = address(l, &a);
    struct timespec    nap = {0, NAP_MS * 1000000L};

    do {
        int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (to >= 0 && connect(to, (struct sockaddr *)&a, n) == 0)
            return to;
        if (to >= 0)
            close(to);
        nanosleep(&nap, NULL);
    } while (engine_now_ms() < until);
    return -1;
}

axe_status
shm_get(axe_engine *e, const axe_launcher *l, int *fd)
{
    const shm_state *s = e->state;
    hello            h = {MAGIC, e->rank, e->size};
    reply            r = {0};
    int64_t          until = engine_now_ms() + e->timeout_ms;
    int              got = -1;
    struct stat      is;
    bool             done = false;

    while (!done && engine_now_ms() < until) {
        int to = call(l, until);

        if (to < 0)
            break;
        limit(to, e->timeout_ms);
        done = is_ours(to) &&
               send(to, &h, sizeof h, MSG_NOSIGNAL) == sizeof h &&
               receive_reply(to, &r, &got);
        close(to);
    }
    if (!done && e->speaks)
        *e->speaks = true;
    if (!done) {
        axe_fail(e->cx, AXE_NOWHERE, AXE_EDEVICE,
                 "engine shm: rank %" PRId64 " of job %s waited %.3g s "
                 "for rank 0 to come",
                 e->rank, axe_text_plain(e->cx, l->job),
                 (double)e->timeout_ms / 1e3);
        help_to_meet(e, l);
        return AXE_EDEVICE;
    }
    if (got < 0)
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EARG, "%s", r.text);
    if (shm_place(e, r.room) != AXE_OK || fstat(got, &is) < 0 ||
        (size_t)is.st_size != s->bytes) {
        close(got);
        return axe_fail(e->cx, AXE_NOWHERE, AXE_EIO,
                        "engine shm: rank 0's memory is of another version");
    }
    *fd = got;
    return AXE_OK;
}
#else
typedef int axe_engine_joins_on_linux;
#endif
