/* cache.h - compiled kernels on disk, named by what they were made from.
 *
 * An entry is `<first 2 digits>/<hash>.so` with its source `<hash>.c` beside
 * it, or of another device's code as cache.def says.  The hash (SHA-256) covers
 * everything that the machine code depends on: the C text, flags, compiler,
 * processor and ABI, so an entry is never wrong, only unused.  Entries appear
 * whole by rename, so any number of processes may share a directory without
 * locks; two that compile the same text at once write the same entry twice.
 * Each entry ends with a seal, a checksum of itself and its name, so that a
 * truncated or damaged file is recompiled instead of crashing the loader.
 *
 * What is loaded is native code: an entry counts only if the file that was
 * opened is the user's own, writable by nobody else, and in folders of which
 * the same is true (trust.h); that very file is loaded.
 *
 * Whoever adds an entry also looks after the size of the directory: beyond
 * $AXE_CACHE_MAX bytes (with K, M, G or T behind; default 1G) the entries go
 * that were not used for longest, down to three quarters of it, and so does
 * what a killed process has left behind.  An entry that is being loaded may go:
 * it is open by then, or compiled again.
 *
 * What cannot be kept (no directory, not writable, disk full) is a warning:
 * the kernel is then compiled into a private temporary directory, removed at
 * the end. */
#ifndef AXE_RUN_CACHE_CACHE_H
#define AXE_RUN_CACHE_CACHE_H

#include "run/array/file.h"
#include "run/cache/sha256.h"
#include "run/cc.h"

typedef struct axe_cache {
    axe_ctx    *cx;          /* where its texts live */
    const char *dir;         /* NULL: keep nothing */
    const char *tmp;         /* private directory, NULL until needed */
    const char *cpu;         /* digest of what -march=native stands for */
    int         n_tmp, slot; /* files in it; its number in this process */
    int         tmp_fd;      /* it, locked */
} axe_cache;

/* The directory that axe_cache_open would take, in cx; NULL: there is none. */
const char *axe_cache_choose(axe_ctx *cx, const char *wanted);
/* What the processor says of itself, as far as it decides the code. */
const char *axe_cache_cpu(axe_ctx *cx);
/* Make the directory that a file is to lie in, as private as the cache; whoever
 * then opens the file tells of failure. */
void axe_cache_make_parent(axe_ctx *cx, const char *path);

/* Choose the directory: `wanted`, else $AXE_CACHE, else $XDG_CACHE_HOME/axe,
 * else $HOME/.cache/axe; it is made if missing, mode 0700.  One that somebody
 * else owns or can write to is not used, with a warning in cx.
 * owner   a ctx that lives as long as the cache */
void axe_cache_open(axe_ctx *cx, axe_ctx *owner, const char *wanted,
                    axe_cache *out);
/* Remove the temporary directory. */
void axe_cache_close(axe_cache *c);

/* A shared object that is wanted. */
typedef struct axe_cache_item {
    const char          *text;   /* of the C */
    const unsigned char *digest; /* its SHA-256, or NULL: not known yet */
    const char          *extra;  /* as axe_cc_compile */
    bool                 load;   /* load it, too */
    const char          *path;   /* out: where it lies, in cx */
    void                *handle; /* out: of dlopen, if asked for */
    bool                 fresh;  /* out: had it to be compiled? */
} axe_cache_item;

/* All of them, those to be compiled side by side, as many at a time as there
 * are processors.
 * Errors  ETOOL, as axe_cc_compile; EIO: not even a temporary file.  The first
 *         failure ends it. */
AXE_CHECK axe_status axe_cache_get_all(axe_ctx *cx, axe_cache *c,
                                       const axe_cc *cc, int n,
                                       axe_cache_item *item);

/* One.  fresh may be NULL. */
AXE_CHECK axe_status axe_cache_get(axe_ctx *cx, axe_cache *c, const axe_cc *cc,
                                   const char *text, const char *extra,
                                   const char **path, bool *fresh);

/* A row of cache.def. */
typedef enum axe_cache_kind {
#define KEPT(id, text, code) AXE_CACHE_##id,
#include "run/cache/cache.def"
    AXE_N_CACHE_KIND
} axe_cache_kind;

/* Code for a device that is not the host.
 * what  all that it depends on, [n] */
bool axe_cache_find(axe_ctx *cx, axe_cache *c, axe_cache_kind kind, int n,
                    const char *const *what, axe_bytes *out);
/* Best effort, as for shared objects: trouble is a warning. */
void axe_cache_keep(axe_ctx *cx, axe_cache *c, axe_cache_kind kind, int n,
                    const char *const *what, const char *text, axe_bytes code);

/* Remove the temporary directories of this process's caches: for a handler of
 * the signal that is about to end it, so only what is safe there. */
void axe_cache_abandon(void);

/* [bytes] that the directory may have. */
int64_t axe_cache_most(void);
/* Is what the environment says of it no size? */
bool axe_cache_most_is_wrong(void);

/* What is in the directory. */
typedef struct axe_cache_stat {
    int64_t n, bytes; /* entries, with their sources */
    int64_t oldest,
        newest; /* use, in seconds since 1970; 0 if there are none */
} axe_cache_stat;
axe_cache_stat axe_cache_look(const char *dir);
/* Remove all entries, and what killed processes left; how many entries went. */
int64_t axe_cache_clear(const char *dir);

/* sweep.c: see above.  Cost: a look at every entry, some milliseconds. */
void axe_cache_sweep(const char *dir, int64_t most_bytes);
/* Temporary directories in `base` that no process holds any longer. */
void axe_cache_sweep_tmp(const char *base);

#endif
