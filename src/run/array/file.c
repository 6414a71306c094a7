/* file.c - whole files, read and replaced.
 *
 * A temporary name carries the process id and a counter and is created with
 * O_EXCL, so that threads and processes that write one path at once each
 * write their own file; the last rename wins and every reader sees one of
 * them whole. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/array/file.h"

/* [bytes] MOST_ENDLESS: read of a pipe. */
enum {
    ALIGN = 64,
    CHUNK = 1 << 16,
    WRITE_MAX = 1 << 30,
    MOST_ENDLESS = 1 << 30,
    MOST_OF_DEVICE = 1 << 26,
    MOST_LINKS = 40
};

static axe_status
fail(axe_ctx *cx, const char *path, const char *what)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "%s: %s: %s", path, what,
                    strerror(errno));
}

/* The same, where the path cannot be opened or made, and what would do. */
static axe_status
fail_at(axe_ctx *cx, const char *path, const char *what, bool create)
{
    int         error = errno;
    const char *end = strrchr(path, '/');
    axe_status  st = fail(cx, path, what);

    if (error == ENOENT && create && end && end > path)
        axe_help(cx, "make its directory first: mkdir -p %.*s",
                 (int)(end - path), path);
    else if (error == ENOENT && !create)
        axe_help(cx, "check the name; relative ones begin at the current "
                     "directory");
    else if (error == ENOTDIR)
        axe_help(cx, "something before a '/' in it is a file");
    else if (error == EACCES || error == EROFS)
        axe_help(cx, "name a place where you may %s",
                 create ? "write" : "read");
    return st;
}

/* Room for cap bytes and a NUL; NULL, with errno, if there is none. */
static unsigned char *
make_room(unsigned char *old, size_t len, size_t cap)
{
    void *p = NULL;
    int   error = cap > SIZE_MAX - 2 * ALIGN ? ENOMEM
                                             : posix_memalign(&p, ALIGN, cap + 1);

    if (error != 0) {
        errno = error;
        return NULL;
    }
    if (len > 0)
        memcpy(p, old, len);
    free(old);
    return p;
}

/* Read until the end or beyond `most`, whatever size the file claims: it may be
 * a pipe, and it may grow or shrink meanwhile. */
static bool
drain(int fd, size_t hint, size_t most, axe_bytes *b)
{
    size_t  cap = hint > CHUNK ? hint : CHUNK;
    ssize_t n = 1;

    b->data = make_room(NULL, 0, cap);
    while (b->data && n > 0 && b->len <= most) {
        if (b->len == cap) {
            unsigned char *more = make_room(b->data, b->len, 2 * cap);
            if (!more)
                return false;
            b->data = more;
            cap *= 2;
        }
        size_t want = cap - b->len;
        n = read(fd, b->data + b->len, want < WRITE_MAX ? want : WRITE_MAX);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            return false;
        else
            b->len += (size_t)n;
    }
    if (b->data)
        b->data[b->len] = '\0';
    return b->data != NULL;
}

axe_status
axe_file_read_open(axe_ctx *cx, int fd, const char *path, axe_bytes *out)
{
    axe_bytes   b = {0};
    struct stat s;
    bool        ok = fstat(fd, &s) == 0;
    bool        ends = ok && S_ISREG(s.st_mode);
    size_t      most = ok && S_ISCHR(s.st_mode) ? MOST_OF_DEVICE : MOST_ENDLESS;

    if (ok)
        ok = drain(fd, s.st_size > 0 ? (size_t)s.st_size + 1 : 0,
                   ends ? SIZE_MAX : most, &b);
    if (ok && !ends && b.len > most) {
        free(b.data);
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "%s: it does not end: more than %zu bytes from what "
                        "is not a regular file",
                        path, most);
    }
    if (!ok) {
        axe_status st = fail(cx, path, "cannot read");
        free(b.data);
        return st;
    }
    *out = b;
    return AXE_OK;
}

axe_status
axe_file_read(axe_ctx *cx, const char *path, axe_bytes *out)
{
    int        fd = open(path, O_RDONLY | O_CLOEXEC);
    axe_status st;

    if (fd < 0)
        return fail_at(cx, path, "cannot open", false);
    st = axe_file_read_open(cx, fd, path, out);
    close(fd);
    return st;
}

static char *
copy_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char  *p = malloc(n);

    return p ? memcpy(p, s, n) : NULL;
}

static void
drop(axe_file *f)
{
    free(f->path);
    free(f->tmp);
    *f = (axe_file){.fd = -1};
}

/* Is it NAME.NUMBER.NUMBER.tmp, as open_beside makes them? */
static bool
is_beside(const char *entry, const char *name)
{
    static const char digits[] = "0123456789";
    size_t            n = strlen(name), k;

    if (strncmp(entry, name, n) != 0)
        return false;
    entry += n;
    for (int i = 0; i < 2; i++) {
        k = *entry == '.' ? strspn(entry + 1, digits) : 0;
        if (k == 0)
            return false;
        entry += 1 + k;
    }
    return strcmp(entry, ".tmp") == 0;
}

/* Remove what killed processes left beside f->path: a writer that lives holds a
 * lock on its file. */
static void
sweep_beside(const axe_file *f)
{
    const char    *slash = strrchr(f->path, '/');
    const char    *name = slash ? slash + 1 : f->path;
    size_t         len = (size_t)(name - f->path);
    char          *path = malloc(len + 2);
    DIR           *d = NULL;
    struct dirent *e;

    if (path) {
        memcpy(path, len > 0 ? f->path : ".", len > 0 ? len : 1);
        path[len > 0 ? len : 1] = '\0';
        d = opendir(path);
    }
    while (d && (e = readdir(d))) {
        int fd = is_beside(e->d_name, name)
                     ? openat(dirfd(d), e->d_name,
                              O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                     : -1;
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d)
        closedir(d);
    free(path);
}

/* Lock a file that was just made; false: a sweeper came first, and it is gone.
 * Where there are no locks nobody sweeps. */
static bool
hold(int fd)
{
    struct stat s;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &s) != 0 || s.st_nlink > 0;
}

/* A new file beside f->path; -1 with errno if there can be none. */
static int
open_beside(axe_file *f, int mode)
{
    static atomic_uint count;
    size_t             len = strlen(f->path) + 48;
    int                fd = -1;

    f->tmp = malloc(len);
    for (int i = 0; f->tmp && fd < 0 && i < 100; i++) {
        snprintf(f->tmp, len, "%s.%ld.%u.tmp", f->path, (long)getpid(),
                 atomic_fetch_add(&count, 1));
        fd =
            open(f->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (fd < 0 && errno != EEXIST)
            break;
        if (fd >= 0 && !hold(fd)) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

/* Where a link that leads to nothing leads to, on the heap; NULL: to a loop, or
 * no memory. */
static char *
follow(const char *path)
{
    char  *at = copy_text(path), to[PATH_MAX];
    size_t len;

    for (int i = 0; at && i < MOST_LINKS; i++) {
        ssize_t     n = readlink(at, to, sizeof to - 1);
        const char *slash = strrchr(at, '/');
        if (n < 0)
            return at;
        to[n] = '\0';
        len = *to != '/' && slash ? (size_t)(slash - at) + 1 : 0;
        char *next = malloc(len + (size_t)n + 1);
        if (next) {
            memcpy(next, at, len);
            memcpy(next + len, to, (size_t)n + 1);
        }
        free(at);
        at = next;
    }
    free(at);
    errno = at ? ELOOP : ENOMEM;
    return NULL;
}

/* Open f->path for writing: beside it, if it is a regular file or none.  A file
 * that is replaced keeps its mode, and one that may not be written stays. */
static int
open_path(axe_file *f, const struct stat *old, int mode)
{
    int fd;

    if (old && !S_ISREG(old->st_mode))
        return open(f->path, O_WRONLY | O_CLOEXEC);
    if (old && access(f->path, W_OK) != 0)
        return -1;
    sweep_beside(f);
    fd = open_beside(f, mode);
    if (fd >= 0 && old && fchmod(fd, old->st_mode & 07777) != 0)
        errno = 0; /* it is the writer's, as a new file would be */
    return fd;
}

axe_status
axe_file_create(axe_ctx *cx, const char *path, int mode, axe_file *out)
{
    struct stat s;
    axe_file    f = {.fd = -1};
    bool        there = stat(path, &s) == 0;

    f.path = there ? realpath(path, NULL) : follow(path);
    if (!f.path)
        return fail_at(cx, path, "cannot create", true);
    f.fd = open_path(&f, there ? &s : NULL, mode);
    if (f.fd < 0) {
        axe_status st = fail_at(cx, path, "cannot create", true);
        drop(&f);
        return st;
    }
    *out = f;
    return AXE_OK;
}

void
axe_file_abandon(axe_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->tmp)
        unlink(f->tmp);
    drop(f);
}

static axe_status
give_up(axe_ctx *cx, axe_file *f, const char *what)
{
    axe_status st = fail(cx, f->path, what);

    axe_file_abandon(f);
    return st;
}

axe_status
axe_file_put(axe_ctx *cx, axe_file *f, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t k = write(f->fd, p, n < WRITE_MAX ? n : WRITE_MAX);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return give_up(cx, f, "cannot write");
        p += k;
        n -= (size_t)k;
    }
    return AXE_OK;
}

/* It is held until it has its name: one that nobody holds is swept away. */
axe_status
axe_file_commit(axe_ctx *cx, axe_file *f)
{
    int fd = f->fd;

    if (f->tmp && fsync(fd) != 0)
        return give_up(cx, f, "cannot write");
    if (f->tmp && rename(f->tmp, f->path) != 0)
        return give_up(cx, f, "cannot replace");
    free(f->tmp);
    f->tmp = NULL;
    f->fd = -1;
    if (close(fd) != 0)
        return give_up(cx, f, "cannot write");
    drop(f);
    return AXE_OK;
}

axe_status
axe_file_write(axe_ctx *cx, const char *path, int mode, const void *bytes,
               size_t n)
{
    axe_file f;

    AXE_TRY(axe_file_create(cx, path, mode, &f));
    AXE_TRY(axe_file_put(cx, &f, bytes, n));
    return axe_file_commit(cx, &f);
}
