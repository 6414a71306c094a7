/* cache.c - the disk cache of compiled kernels.
 *
 * Compiling always happens in the private directory; keeping the result is a
 * second step that may fail without harm. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/cache.h"
#include "run/file.h"

/* Of axe_entry's arguments: an entry compiled for another is not found. */
static const char abi[] = "axe abi 2";

enum { SEAL_BYTES = AXE_SHA256_BYTES, CPU_MAX = 8192 };

typedef struct key {
    unsigned char hash[AXE_SHA256_BYTES];
    char          text[AXE_SHA256_TEXT];
} key;

/* ------------------------------------------------------------- directories */

/* mkdir -p; 0 or errno. */
static int
make_dirs(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            int failed = mkdir(path, 0700) != 0 && errno != EEXIST &&
                         access(path, F_OK) != 0;
            *p = '/';
            if (failed)
                return errno;
        }
    return mkdir(path, 0700) != 0 && errno != EEXIST ? errno : 0;
}

/* Why code from this directory must not be loaded; NULL if it may. */
static const char *
distrust(const char *dir)
{
    struct stat s;

    if (stat(dir, &s) != 0)
        return strerror(errno);
    if (!S_ISDIR(s.st_mode))
        return "it is not a directory";
    if (s.st_uid != geteuid())
        return "another user owns it";
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return "other users can write to it";
    return NULL;
}

const char *
axe_cache_choose(axe_ctx *cx, const char *wanted)
{
    const char *axe = getenv("AXE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");

    if (wanted && *wanted)
        return axe_textf(cx, "%s", wanted);
    if (axe && *axe)
        return axe_textf(cx, "%s", axe);
    if (xdg && *xdg == '/')
        return axe_textf(cx, "%s/axe", xdg);
    return home && *home ? axe_textf(cx, "%s/.cache/axe", home) : NULL;
}

/* The first processor's lines of /proc/cpuinfo that decide the instructions;
 * where there is no such file, all processors look alike. */
const char *
axe_cache_cpu(axe_ctx *cx)
{
    static const char *const want[] = {"model name", "flags", "Features",
                                       "CPU part"};
    char                     text[CPU_MAX];
    axe_buf                  b = {.cx = cx};
    FILE                    *f = fopen("/proc/cpuinfo", "r");
    size_t                   n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    for (char *line = text; *line && *line != '\n';) {
        size_t len = strcspn(line, "\n");
        for (int i = 0; i < AXE_LEN(want); i++)
            if (strncmp(line, want[i], strlen(want[i])) == 0)
                axe_putn(&b, line, len);
        line += len + (line[len] == '\n');
    }
    return b.text ? b.text : "";
}

void
axe_cache_make_parent(axe_ctx *cx, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash && slash > path)
        make_dirs(axe_textf(cx, "%.*s", (int)(slash - path), path));
}

static void
give_up_dir(axe_ctx *cx, axe_cache *c, const char *why)
{
    axe_warn(cx, AXE_NOWHERE, "compiled kernels are not kept: %s%s%s",
             c->dir ? c->dir : "no HOME to keep them in", c->dir ? ": " : "",
             c->dir ? why : "");
    axe_help(cx, "name a directory in AXE_CACHE");
    c->dir = NULL;
}

void
axe_cache_open(axe_ctx *cx, axe_ctx *owner, const char *wanted, axe_cache *out)
{
    const char *why;
    int         e;

    *out = (axe_cache){.cx = owner,
                       .dir = axe_cache_choose(owner, wanted),
                       .cpu = axe_cache_cpu(owner)};
    e = out->dir ? make_dirs(axe_textf(cx, "%s", out->dir)) : 0;
    why = e != 0 ? strerror(e) : out->dir ? distrust(out->dir) : "";
    if (why)
        give_up_dir(cx, out, why);
}

static axe_status
need_tmp(axe_ctx *cx, axe_cache *c)
{
    const char *base = getenv("TMPDIR");
    char       *dir =
        axe_textf(c->cx, "%s/axe_XXXXXX", base && *base ? base : "/tmp");

    if (c->tmp)
        return AXE_OK;
    if (!mkdtemp(dir))
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO,
                        "%s: no temporary directory to compile in: %s", dir,
                        strerror(errno));
    c->tmp = dir;
    return AXE_OK;
}

void
axe_cache_close(axe_cache *c)
{
    static const char *const kind[] = {"c", "so"};

    for (int i = 0; i < c->n_tmp; i++)
        for (int k = 0; k < AXE_LEN(kind); k++)
            unlink(axe_textf(c->cx, "%s/%d.%s", c->tmp, i, kind[k]));
    if (c->tmp)
        rmdir(c->tmp);
    c->tmp = NULL;
}

/* ----------------------------------------------------------------- entries */

static void
add_text(axe_sha256 *s, const char *text)
{
    axe_sha256_add(s, text, strlen(text) + 1);
}

static key
make_key(const axe_cache *c, const axe_cc *cc, const char *text,
         const char *extra)
{
    axe_sha256 s;
    key        k;

    axe_sha256_init(&s);
    add_text(&s, abi);
    add_text(&s, cc->id);
    for (int i = 0; i < cc->n_flag; i++)
        add_text(&s, cc->flag[i]);
    add_text(&s, extra ? extra : "");
    add_text(&s, c->cpu);
    add_text(&s, text);
    axe_sha256_end(&s, k.hash);
    axe_sha256_text(k.hash, k.text);
    return k;
}

static void
seal_of(const key *k, const unsigned char *code, size_t len,
        unsigned char seal[SEAL_BYTES])
{
    axe_sha256 s;

    axe_sha256_init(&s);
    axe_sha256_add(&s, k->hash, sizeof k->hash);
    axe_sha256_add(&s, code, len);
    axe_sha256_end(&s, seal);
}

/* Is there a whole entry at this path? */
static bool
sound(axe_ctx *cx, const key *k, const char *path)
{
    axe_mark      m = axe_ctx_mark(cx);
    unsigned char seal[SEAL_BYTES];
    axe_bytes     b;
    bool          ok;

    if (access(path, R_OK) != 0)
        return false;
    ok = axe_file_read(cx, path, &b) == AXE_OK;
    axe_ctx_release(cx, m);
    if (!ok)
        return false;
    if (b.len > SEAL_BYTES) {
        seal_of(k, b.data, b.len - SEAL_BYTES, seal);
        ok = memcmp(seal, b.data + b.len - SEAL_BYTES, SEAL_BYTES) == 0;
    } else {
        ok = false;
    }
    free(b.data);
    return ok;
}

static axe_status
write_sealed(axe_ctx *cx, const key *k, const char *path, axe_bytes code)
{
    unsigned char seal[SEAL_BYTES];
    axe_file      f;

    seal_of(k, code.data, code.len, seal);
    AXE_TRY(axe_file_create(cx, path, 0700, &f));
    AXE_TRY(axe_file_put(cx, &f, code.data, code.len));
    AXE_TRY(axe_file_put(cx, &f, seal, sizeof seal));
    return axe_file_commit(cx, &f);
}

static axe_status
write_entry(axe_ctx *cx, const key *k, const char *stem, const char *text,
            axe_bytes code)
{
    AXE_TRY(axe_file_write(cx, axe_textf(cx, "%s.c", stem), 0600, text,
                           strlen(text)));
    return write_sealed(cx, k, axe_textf(cx, "%s.so", stem), code);
}

/* Put the object into the directory.  On trouble say so once and go on
 * without: false. */
static bool
keep(axe_ctx *cx, axe_cache *c, const key *k, const char *stem,
     const char *text, const char *object)
{
    axe_mark   m = axe_ctx_mark(cx);
    char      *folder = axe_textf(c->cx, "%s/%.2s", c->dir, k->text);
    char       why[512] = "";
    axe_bytes  code = {0};
    axe_status st = AXE_OK;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        st = axe_fail(cx, AXE_NOWHERE, AXE_EIO, "%s", strerror(errno));
    if (st == AXE_OK)
        st = axe_file_read(cx, object, &code);
    if (st == AXE_OK)
        st = write_entry(cx, k, stem, text, code);
    free(code.data);
    if (st == AXE_OK)
        return true;
    snprintf(why, sizeof why, "%s", axe_last_error(cx));
    axe_ctx_release(cx, m);
    give_up_dir(cx, c, why);
    return false;
}

/* Compile into the private directory. */
static axe_status
compile(axe_ctx *cx, axe_cache *c, const axe_cc *cc, const char *text,
        const char *extra, const char **object)
{
    const char *source, *path;

    AXE_TRY(need_tmp(cx, c));
    source = axe_textf(cx, "%s/%d.c", c->tmp, c->n_tmp);
    path = axe_textf(c->cx, "%s/%d.so", c->tmp, c->n_tmp);
    c->n_tmp++;
    AXE_TRY(axe_file_write(cx, source, 0600, text, strlen(text)));
    AXE_TRY(axe_cc_compile(cx, cc, source, extra, path));
    *object = path;
    return AXE_OK;
}

axe_status
axe_cache_get(axe_ctx *cx, axe_cache *c, const axe_cc *cc, const char *text,
              const char *extra, const char **path, bool *fresh)
{
    key         k = make_key(c, cc, text, extra);
    const char *stem = NULL, *object = NULL;
    bool        hit = false;

    if (c->dir) {
        stem = axe_textf(c->cx, "%s/%.2s/%s", c->dir, k.text, k.text);
        object = axe_textf(c->cx, "%s.so", stem);
        hit = sound(cx, &k, object);
    }
    if (!hit) {
        const char *made;
        AXE_TRY(compile(cx, c, cc, text, extra, &made));
        if (!stem || !keep(cx, c, &k, stem, text, made))
            object = made;
    }
    if (fresh)
        *fresh = !hit;
    *path = object;
    return AXE_OK;
}
