/* trust.c - who may have written a file, asked of what was opened. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/cache/trust.h"

/* Whom systems show where a user has no name here, as root in a container. */
enum { OVERFLOW_USER = 65534 };

/* own: it is the user's; else it may be the system's, or shared and sticky. */
static const char *
judge(const struct stat *s, bool own)
{
    bool system = s->st_uid == 0 || s->st_uid == OVERFLOW_USER;

    if (s->st_uid != geteuid() && (own || !system))
        return "another user owns it";
    if ((s->st_mode & (S_IWGRP | S_IWOTH)) && (own || !(s->st_mode & S_ISVTX)))
        return "other users can write to it";
    return NULL;
}

/* The folders above a path without links; changes the text. */
static const char *
judge_above(char *path)
{
    struct stat s;
    char       *slash;

    while ((slash = strrchr(path, '/')) && path[1] != '\0') {
        slash[slash == path] = '\0';
        if (stat(path, &s) != 0)
            return strerror(errno);
        if (judge(&s, false))
            return s.st_mode & (S_IWGRP | S_IWOTH)
                       ? "other users can write to a folder above it"
                       : "another user owns a folder above it";
    }
    return NULL;
}

const char *
axe_distrust(const char *dir)
{
    struct stat s;
    const char *why;
    char       *real;

    if (stat(dir, &s) != 0)
        return strerror(errno);
    if (!S_ISDIR(s.st_mode))
        return "it is not a directory";
    if ((why = judge(&s, true)))
        return why;
    real = realpath(dir, NULL);
    why = real ? judge_above(real) : strerror(errno);
    free(real);
    return why;
}

/* The folder `name` in `at`, opened; -1 with *why or NULL if there is none. */
static int
open_folder(int at, const char *name, int flags, const char **why)
{
    struct stat s;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

    *why = fd < 0 && errno != ENOENT ? strerror(errno) : NULL;
    if (fd < 0)
        return -1;
    *why = fstat(fd, &s) == 0 ? judge(&s, true) : strerror(errno);
    if (!*why)
        return fd;
    close(fd);
    return -1;
}

static int
open_inner(const char *dir, const char *folder, const char **why)
{
    int d = open_folder(AT_FDCWD, dir, 0, why), f = -1;

    if (d >= 0) {
        f = open_folder(d, folder, O_NOFOLLOW, why);
        close(d);
    }
    return f;
}

const char *
axe_distrust_inner(const char *dir, const char *folder)
{
    const char *why;
    int         f = open_inner(dir, folder, &why);

    if (f >= 0)
        close(f);
    return why;
}

int
axe_trust_open(const char *dir, const char *folder, const char *name,
               const char **why)
{
    struct stat s;
    int         f = open_inner(dir, folder, why), fd;

    if (f < 0)
        return -1;
    fd = openat(f, name,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *why = fd < 0 && errno != ENOENT ? strerror(errno) : NULL;
    close(f);
    if (fd < 0)
        return -1;
    *why = fstat(fd, &s) != 0    ? strerror(errno)
           : !S_ISREG(s.st_mode) ? "it is not a regular file"
                                 : judge(&s, true);
    if (!*why)
        return fd;
    close(fd);
    return -1;
}
