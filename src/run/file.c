/* file.c - whole files, read and replaced.
 *
 * A temporary name carries the process id and a counter and is created with
 * O_EXCL, so that threads and processes that write one path at once each
 * write their own file; the last rename wins and every reader sees one of
 * them whole. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/file.h"

enum { ALIGN = 64, CHUNK = 1 << 16, WRITE_MAX = 1 << 30 };

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

/* Read until the end, whatever size the file claims: it may be a pipe, and it
 * may grow or shrink meanwhile. */
static bool
drain(int fd, size_t hint, axe_bytes *b)
{
    size_t  cap = hint > CHUNK ? hint : CHUNK;
    ssize_t n = 1;

    b->data = make_room(NULL, 0, cap);
    while (b->data && n > 0) {
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
axe_file_read(axe_ctx *cx, const char *path, axe_bytes *out)
{
    axe_bytes   b = {0};
    struct stat s;
    int         fd = open(path, O_RDONLY | O_CLOEXEC);
    bool        ok;

    if (fd < 0)
        return fail_at(cx, path, "cannot open", false);
    ok = fstat(fd, &s) == 0;
    if (ok)
        ok = drain(fd, s.st_size > 0 ? (size_t)s.st_size + 1 : 0, &b);
    axe_status st = ok ? AXE_OK : fail(cx, path, "cannot read");
    close(fd);
    if (st == AXE_OK)
        *out = b;
    else
        free(b.data);
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
    }
    return fd;
}

axe_status
axe_file_create(axe_ctx *cx, const char *path, int mode, axe_file *out)
{
    struct stat s;
    axe_file    f = {.fd = -1};
    bool        there = stat(path, &s) == 0;

    f.path = there ? realpath(path, NULL) : copy_text(path);
    if (!f.path)
        return fail_at(cx, path, "cannot create", true);
    f.fd = there && !S_ISREG(s.st_mode) ? open(path, O_WRONLY | O_CLOEXEC)
                                        : open_beside(&f, mode);
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

axe_status
axe_file_commit(axe_ctx *cx, axe_file *f)
{
    int fd = f->fd;

    if (f->tmp && fsync(fd) != 0)
        return give_up(cx, f, "cannot write");
    f->fd = -1;
    if (close(fd) != 0)
        return give_up(cx, f, "cannot write");
    if (f->tmp && rename(f->tmp, f->path) != 0)
        return give_up(cx, f, "cannot replace");
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
