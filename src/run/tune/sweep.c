/* sweep.c - the size of the cache's directory.
 *
 * An entry is NAME.so and NAME.c, or likewise as cache.def says; its age is
 * that of the object.  Other files are those that a process is writing, or was
 * when it was killed: they go after a day.  What was used within the last
 * minute stays, since a process may be about to load it.  Several sweepers at
 * once do no harm: what is gone already is gone. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/cache/cache.h"

enum {
    DAY = 86400,
    MINUTE = 60,
    STEM = AXE_SHA256_TEXT - 1,
    PATH_BYTES = 4096
};

typedef struct entry {
    char    name[STEM];
    time_t  used;
    int64_t bytes;
} entry;

typedef struct list {
    int     n, cap;
    int64_t bytes;
    entry  *item; /* on the heap */
} list;

static bool
is_hex(const char *s, size_t n)
{
    return strspn(s, "0123456789abcdef") >= n;
}

static int64_t
bytes_of(const struct stat *s)
{
    return (int64_t)s->st_blocks * 512;
}

static void
add(list *l, const char *name, const struct stat *s, int64_t bytes)
{
    if (l->n == l->cap) {
        int    cap = l->cap ? 2 * l->cap : 256;
        entry *more = realloc(l->item, (size_t)cap * sizeof *more);
        if (!more)
            return;
        l->item = more;
        l->cap = cap;
    }
    entry *e = &l->item[l->n++];
    memcpy(e->name, name, STEM);
    e->used = s->st_mtime;
    e->bytes = bytes;
    l->bytes += bytes;
}

static const struct {
    const char *code, *text;
} ends[] = {
#define KEPT(id, text, code) {"." code, "." text},
#include "run/cache/cache.def"
};

/* Which of `ends` the name has after the hash, as code or as text; or -1. */
static int
end_of(const char *name, bool code)
{
    if (strlen(name) <= STEM || !is_hex(name, STEM))
        return -1;
    for (int i = 0; i < AXE_LEN(ends); i++)
        if (strcmp(name + STEM, code ? ends[i].code : ends[i].text) == 0)
            return i;
    return -1;
}

/* The entry's other file: `path` with `end` after the hash. */
static bool
other(const char *folder, const char *name, const char *end,
      char path[PATH_BYTES])
{
    return (size_t)snprintf(path, PATH_BYTES, "%s/%.*s%s", folder, (int)STEM,
                            name, end) < PATH_BYTES;
}

/* One file of a folder. */
static void
look(const char *folder, const char *name, list *l)
{
    char        path[PATH_BYTES], beside[PATH_BYTES];
    struct stat s, c;
    int         code = end_of(name, true), text = end_of(name, false);

    if (*name == '.' && (name[1] == '\0' || strcmp(name, "..") == 0))
        return;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >=
            sizeof path ||
        lstat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return;
    if (code >= 0) {
        bool has = other(folder, name, ends[code].text, beside) &&
                   stat(beside, &c) == 0;
        add(l, name, &s, bytes_of(&s) + (has ? bytes_of(&c) : 0));
    } else if (s.st_mtime < time(NULL) - DAY) {
        if (text >= 0 && other(folder, name, ends[text].code, beside) &&
            access(beside, F_OK) == 0)
            return;
        unlink(path);
    }
}

static void
look_in(const char *folder, list *l)
{
    DIR           *d = opendir(folder);
    struct dirent *e;

    while (d && (e = readdir(d)))
        look(folder, e->d_name, l);
    if (d)
        closedir(d);
}

static int
by_use(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return memcmp(x->name, y->name, STEM);
}

static void
drop(const char *dir, const entry *e)
{
    char folder[PATH_BYTES], path[PATH_BYTES];

    if ((size_t)snprintf(folder, sizeof folder, "%s/%.2s", dir, e->name) >=
        sizeof folder)
        return;
    for (int i = 0; i < AXE_LEN(ends); i++) {
        if (other(folder, e->name, ends[i].code, path))
            unlink(path);
        if (other(folder, e->name, ends[i].text, path))
            unlink(path);
    }
}

static list
look_at(const char *dir)
{
    list           l = {0};
    DIR           *d = opendir(dir);
    struct dirent *e;
    char           folder[PATH_BYTES];

    while (d && (e = readdir(d)))
        if (strlen(e->d_name) == 2 && is_hex(e->d_name, 2) &&
            (size_t)snprintf(folder, sizeof folder, "%s/%s", dir, e->d_name) <
                sizeof folder)
            look_in(folder, &l);
    if (d)
        closedir(d);
    return l;
}

void
axe_cache_sweep(const char *dir, int64_t most_bytes)
{
    list l = look_at(dir);

    if (l.bytes > most_bytes) {
        qsort(l.item, (size_t)l.n, sizeof l.item[0], by_use);
        for (int i = 0; i < l.n && l.bytes > most_bytes / 4 * 3; i++) {
            if (l.item[i].used > time(NULL) - MINUTE)
                break;
            drop(dir, &l.item[i]);
            l.bytes -= l.item[i].bytes;
        }
    }
    free(l.item);
}

axe_cache_stat
axe_cache_look(const char *dir)
{
    list           l = look_at(dir);
    axe_cache_stat out = {.n = l.n, .bytes = l.bytes};

    for (int i = 0; i < l.n; i++) {
        int64_t used = (int64_t)l.item[i].used;
        out.oldest = i == 0 || used < out.oldest ? used : out.oldest;
        out.newest = i == 0 || used > out.newest ? used : out.newest;
    }
    free(l.item);
    return out;
}

int64_t
axe_cache_clear(const char *dir)
{
    list    l = look_at(dir);
    int64_t n = l.n;
    char    folder[PATH_BYTES];

    for (int i = 0; i < l.n; i++) {
        drop(dir, &l.item[i]);
        if ((size_t)snprintf(folder, sizeof folder, "%s/%.2s", dir,
                             l.item[i].name) < sizeof folder)
            rmdir(folder);
    }
    free(l.item);
    return n;
}

/* ---------------------------------------------------------------- temporary */

static void
empty(const char *folder)
{
    DIR           *d = opendir(folder);
    struct dirent *e;
    char           path[PATH_BYTES];

    while (d && (e = readdir(d)))
        if (strspn(e->d_name, "0123456789") > 0 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) <
                sizeof path)
            unlink(path);
    if (d)
        closedir(d);
    rmdir(folder);
}

/* Is it of a process that is gone?  Who lives holds a lock on it. */
static void
sweep_one(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        empty(path);
    close(fd);
}

void
axe_cache_sweep_tmp(const char *base)
{
    DIR           *d = opendir(base);
    struct dirent *e;
    struct stat    s;
    char           path[PATH_BYTES];

    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, "axe_work_", 9) == 0 &&
            strlen(e->d_name) == 15 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", base, e->d_name) <
                sizeof path &&
            lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid())
            sweep_one(path);
    if (d)
        closedir(d);
}
