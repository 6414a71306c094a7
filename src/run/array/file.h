/* file.h - whole files: read into memory, written so that no reader ever sees
 * part of one. */
#ifndef AXE_RUN_ARRAY_FILE_H
#define AXE_RUN_ARRAY_FILE_H

#include "axe/base.h"

/* Bytes of a file, on the heap, aligned to 64; give back with free(). */
typedef struct axe_bytes {
    unsigned char *data; /* never NULL once read; data[len] is 0 */
    size_t         len;
} axe_bytes;

/* Errors  EIO: it cannot be opened or read, is a directory, or is longer than
 *         the host has memory for, as a pipe than 1 GiB, as a device than 64
 *         MiB; with the system's own words. */
AXE_CHECK axe_status axe_file_read(axe_ctx *cx, const char *path,
                                   axe_bytes *out);
/* The same of an open file; path is for messages. */
AXE_CHECK axe_status axe_file_read_open(axe_ctx *cx, int fd, const char *path,
                                        axe_bytes *out);

/* A file being written.  Bytes go to a temporary file in the directory of
 * `path` (of what it points to, if it is a link), which axe_file_commit
 * flushes to the disk and renames; until then, and after any failure, the
 * old `path` is untouched.  What is not a regular file (a terminal, a pipe,
 * /dev/full) cannot be renamed over: it is written directly.  A file that is
 * replaced keeps its mode.  What a killed process left beside `path` goes. */
typedef struct axe_file {
    int   fd;
    char *path; /* where it shall be, links resolved */
    char *tmp;  /* where it is, NULL if written directly */
} axe_file;

/* After AXE_OK call put any number of times, then commit or abandon once.
 * A failed put or commit has abandoned the file already.
 * mode    permissions, before the umask
 * Errors  EIO, with the system's own words. */
AXE_CHECK axe_status axe_file_create(axe_ctx *cx, const char *path, int mode,
                                     axe_file *out);
AXE_CHECK axe_status axe_file_put(axe_ctx *cx, axe_file *f, const void *bytes,
                                  size_t n);
AXE_CHECK axe_status axe_file_commit(axe_ctx *cx, axe_file *f);
void                 axe_file_abandon(axe_file *f);

/* All of it in one call. */
AXE_CHECK axe_status axe_file_write(axe_ctx *cx, const char *path, int mode,
                                    const void *bytes, size_t n);

#endif
