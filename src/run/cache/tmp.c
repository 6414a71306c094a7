/* tmp.c - the private directory in which a cache compiles.
 *
 * It is locked as long as its process lives, by flock on the directory, which
 * the kernel gives back however the process ends: whoever makes a directory
 * removes those beside it that nobody holds. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/cache/tmp.h"

/* Temporary directories of this process, for axe_cache_abandon. */
enum { MAX_TMP = 16, MAX_TMP_PATH = 256 };
static struct tmp_dir {
    atomic_int n; /* files numbered so far + 1; 0: free */
    char       path[MAX_TMP_PATH];
} tmp_dir[MAX_TMP];

static void
register_tmp(axe_cache *c)
{
    c->slot = -1;
    for (int i = 0; i < MAX_TMP && c->slot < 0; i++) {
        int none = 0;
        if (strlen(c->tmp) >= MAX_TMP_PATH - 16 ||
            !atomic_compare_exchange_strong(&tmp_dir[i].n, &none, 1))
            continue;
        snprintf(tmp_dir[i].path, MAX_TMP_PATH, "%s", c->tmp);
        c->slot = i;
    }
}

int
axe_cache_tmp_next(axe_cache *c)
{
    int number = c->n_tmp++;

    if (c->slot >= 0)
        atomic_store(&tmp_dir[c->slot].n, c->n_tmp + 1);
    return number;
}

/* dir/number.end into out, by hand: snprintf may take locks. */
static void
tmp_path(const char *dir, int number, const char *end, char out[MAX_TMP_PATH])
{
    char   digit[12];
    int    n = 0;
    size_t at = strlen(dir);

    memcpy(out, dir, at);
    out[at++] = '/';
    do
        digit[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        out[at++] = digit[--n];
    memcpy(out + at, end, strlen(end) + 1);
}

void
axe_cache_abandon(void)
{
    char path[MAX_TMP_PATH];

    for (int i = 0; i < MAX_TMP; i++) {
        int n = atomic_load(&tmp_dir[i].n);
        for (int k = 0; k < n - 1; k++) {
            tmp_path(tmp_dir[i].path, k, ".c", path);
            unlink(path);
            tmp_path(tmp_dir[i].path, k, ".so", path);
            unlink(path);
        }
        if (n > 0)
            rmdir(tmp_dir[i].path);
    }
}

/* A new directory, locked; NULL with errno.  A sweeper may meet it before it is
 * locked, and then it is gone, or the sweeper's. */
static const char *
make_tmp(axe_cache *c, const char *base)
{
    char       *dir = axe_textf(c->cx, "%s/axe_work_XXXXXX", base);
    size_t      len = strlen(dir);
    struct stat s;

    for (int i = 0; i < 100; i++) {
        memcpy(dir + len - 6, "XXXXXX", 6);
        if (!mkdtemp(dir))
            return NULL;
        c->tmp_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (c->tmp_fd < 0)
            continue;
        if ((flock(c->tmp_fd, LOCK_EX | LOCK_NB) == 0 ||
             errno != EWOULDBLOCK) &&
            stat(dir, &s) == 0)
            return dir;
        close(c->tmp_fd);
    }
    errno = EBUSY;
    return NULL;
}

axe_status
axe_cache_need_tmp(axe_ctx *cx, axe_cache *c)
{
    const char *base = getenv("TMPDIR");

    if (c->tmp)
        return AXE_OK;
    base = base && *base ? base : "/tmp";
    c->tmp = make_tmp(c, base);
    if (!c->tmp)
        return axe_fail(
            cx, AXE_NOWHERE, AXE_EIO,
            "%s/axe_work_XXXXXX: no temporary directory to compile in: "
            "%s",
            base, strerror(errno));
    c->n_tmp = 0;
    register_tmp(c);
    axe_cache_sweep_tmp(base);
    return AXE_OK;
}

static const char *const kind[] = {".c", ".so"};

void
axe_cache_tmp_drop(axe_cache *c, int number)
{
    char path[4096];

    for (int k = 0; k < AXE_LEN(kind); k++)
        if ((size_t)snprintf(path, sizeof path, "%s/%d%s", c->tmp, number,
                             kind[k]) < sizeof path)
            unlink(path);
}

void
axe_cache_close(axe_cache *c)
{
    for (int i = 0; i < c->n_tmp && c->tmp; i++)
        axe_cache_tmp_drop(c, i);
    if (c->tmp) {
        rmdir(c->tmp);
        close(c->tmp_fd);
        if (c->slot >= 0)
            atomic_store(&tmp_dir[c->slot].n, 0);
    }
    c->tmp = NULL;
}
