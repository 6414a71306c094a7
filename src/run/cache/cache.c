/* cache.c - the disk cache of compiled kernels.
 *
 * Compiling always happens in the private directory; keeping the result is a
 * second step that may fail without harm. */
#define _XOPEN_SOURCE 700

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/array/file.h"
#include "run/cache/cache.h"
#include "run/cache/tmp.h"
#include "run/cache/trust.h"

/* Of axe_entry's arguments: an entry compiled for another is not found. */
static const char abi[] = "axe abi 2";

/* [bytes] */
static const int64_t DEFAULT_MOST = INT64_C(1) << 30;

/* An entry's time of change says when it was used, to the hour. */
enum { SEAL_BYTES = AXE_SHA256_BYTES, CPU_MAX = 8192, USED_STEP = 3600 };
_Static_assert(SEAL_BYTES == 4 * 8, "four lanes");

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

static const char *
cpu_digest(axe_ctx *cx)
{
    unsigned char hash[AXE_SHA256_BYTES];
    const char   *cpu = axe_cache_cpu(cx);
    char         *text = axe_alloc(cx, AXE_SHA256_TEXT);

    axe_sha256_of(cpu, strlen(cpu), hash);
    axe_sha256_text(hash, text);
    return text;
}

void
axe_cache_open(axe_ctx *cx, axe_ctx *owner, const char *wanted, axe_cache *out)
{
    const char *why;
    int         e;

    *out = (axe_cache){.cx = owner,
                       .dir = axe_cache_choose(owner, wanted),
                       .cpu = cpu_digest(owner)};
    e = out->dir ? make_dirs(axe_textf(cx, "%s", out->dir)) : 0;
    why = e != 0 ? strerror(e) : out->dir ? axe_distrust(out->dir) : "";
    if (why)
        give_up_dir(cx, out, why);
    if (axe_cache_most_is_wrong())
        axe_warn(cx, AXE_NOWHERE,
                 "AXE_CACHE_MAX is no size such as 512M: `%s`; the cache may "
                 "have 1G",
                 getenv("AXE_CACHE_MAX"));
}

/* ----------------------------------------------------------------- entries */

/* What an entry's files end with. */
typedef struct ends {
    const char *text, *code;
} ends;
static const ends kept[] = {
#define KEPT(id, text, code) {text, code},
#include "run/cache/cache.def"
};

static void
add_text(axe_sha256 *s, const char *text)
{
    axe_sha256_add(s, text, strlen(text) + 1);
}

static key
make_key(const axe_cache *c, const axe_cc *cc, const axe_cache_item *item)
{
    unsigned char hash[AXE_SHA256_BYTES];
    axe_sha256    s;
    key           k;

    axe_sha256_init(&s);
    add_text(&s, abi);
    add_text(&s, cc->id);
    for (int i = 0; i < cc->n_flag; i++)
        add_text(&s, cc->flag[i]);
    add_text(&s, item->extra ? item->extra : "");
    add_text(&s, c->cpu);
    if (!item->digest)
        axe_sha256_of(item->text, strlen(item->text), hash);
    axe_sha256_add(&s, item->digest ? item->digest : hash, sizeof hash);
    axe_sha256_end(&s, k.hash);
    axe_sha256_text(k.hash, k.text);
    return k;
}

/* A checksum at the speed of memory.  Every step is a bijection of its lane, so
 * that no single change of a word goes unseen. */
static void
mix(uint64_t lane[4], const unsigned char *p)
{
    for (int i = 0; i < 4; i++) {
        uint64_t w;
        memcpy(&w, p + 8 * i, sizeof w);
        lane[i] = (lane[i] ^ w) * UINT64_C(0x9e3779b97f4a7c15);
        lane[i] ^= lane[i] >> 29;
    }
}

static void
seal_of(const key *k, const unsigned char *code, size_t len,
        unsigned char seal[SEAL_BYTES])
{
    uint64_t      lane[4] = {len, 1, 2, 3};
    unsigned char rest[SEAL_BYTES] = {0};
    size_t        i = 0;

    mix(lane, k->hash);
    for (; len - i >= SEAL_BYTES; i += SEAL_BYTES)
        mix(lane, code + i);
    memcpy(rest, code + i, len - i);
    mix(lane, rest);
    memcpy(seal, lane, sizeof lane);
}

/* The code of a whole entry that was opened, to be freed; false: it is none.
 * Its time says when it was used. */
static bool
unseal(axe_ctx *cx, const key *k, int fd, axe_bytes *out)
{
    axe_mark      m = axe_ctx_mark(cx);
    unsigned char seal[SEAL_BYTES];
    struct stat   st;
    axe_bytes     b;
    bool          ok;

    if (fstat(fd, &st) == 0 && st.st_mtime < time(NULL) - USED_STEP)
        futimens(fd, NULL);
    ok = axe_file_read_open(cx, fd, k->text, &b) == AXE_OK;
    axe_ctx_release(cx, m);
    if (!ok)
        return false;
    if (b.len > SEAL_BYTES) {
        seal_of(k, b.data, b.len - SEAL_BYTES, seal);
        ok = memcmp(seal, b.data + b.len - SEAL_BYTES, SEAL_BYTES) == 0;
    } else {
        ok = false;
    }
    if (!ok) {
        free(b.data);
        return false;
    }
    b.len -= SEAL_BYTES;
    *out = b;
    return true;
}

/* The entry's file with this end, open and whole; -1: there is none, or it is
 * not to be trusted. */
static int
open_entry(axe_ctx *cx, const axe_cache *c, const key *k, const char *end,
           axe_bytes *code)
{
    char        folder[3] = {k->text[0], k->text[1], '\0'};
    const char *why;
    char        name[AXE_SHA256_TEXT + 8];
    int         fd;

    snprintf(name, sizeof name, "%s.%s", k->text, end);
    fd = axe_trust_open(c->dir, folder, name, &why);
    if (fd >= 0 && !unseal(cx, k, fd, code)) {
        close(fd);
        return -1;
    }
    return fd;
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

/* A link or a pipe would be written through, and a file that is not to be
 * trusted would hand its mode on. */
static void
drop_foreign(const axe_cache *c, const char *folder, const char *path)
{
    const char *why;
    int fd = axe_trust_open(c->dir, folder, strrchr(path, '/') + 1, &why);

    if (fd >= 0)
        close(fd);
    else if (why)
        unlink(path);
}

static axe_status
write_entry(axe_ctx *cx, axe_cache *c, const key *k, ends e, const char *text,
            axe_bytes code)
{
    char       *inner = axe_textf(cx, "%.2s", k->text);
    char       *folder = axe_textf(cx, "%s/%s", c->dir, inner);
    char       *stem = axe_textf(cx, "%s/%s", folder, k->text);
    const char *why, *text_path, *code_path;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "%s", strerror(errno));
    why = axe_distrust_inner(c->dir, inner);
    if (why)
        return axe_fail(cx, AXE_NOWHERE, AXE_EIO, "%s: %s", inner, why);
    text_path = axe_textf(cx, "%s.%s", stem, e.text);
    code_path = axe_textf(cx, "%s.%s", stem, e.code);
    drop_foreign(c, inner, text_path);
    drop_foreign(c, inner, code_path);
    AXE_TRY(axe_file_write(cx, text_path, 0600, text, strlen(text)));
    return write_sealed(cx, k, code_path, code);
}

/* On trouble say so once and go on without: false. */
static bool
settle(axe_ctx *cx, axe_cache *c, axe_mark m, axe_status st)
{
    char why[512] = "";

    if (st == AXE_OK)
        return true;
    snprintf(why, sizeof why, "%s", axe_last_error(cx));
    axe_ctx_release(cx, m);
    give_up_dir(cx, c, why);
    return false;
}

/* Put the object into the directory. */
static bool
keep(axe_ctx *cx, axe_cache *c, const key *k, const char *text,
     const char *object)
{
    axe_mark   m = axe_ctx_mark(cx);
    axe_bytes  code = {0};
    axe_status st = axe_file_read(cx, object, &code);

    if (st == AXE_OK)
        st = write_entry(cx, c, k, kept[AXE_CACHE_OBJECT], text, code);
    free(code.data);
    return settle(cx, c, m, st);
}

/* [bytes] of "512M"; -1 if it is no size. */
static int64_t
most_of(const char *text)
{
    static const char unit[] = "KMGT";
    const char       *u;
    char             *end;
    double            n = strtod(text, &end);

    u = *end ? strchr(unit, *end) : NULL;
    if (end == text || !(n >= 0) || (*end && (!u || end[1] != '\0')))
        return -1;
    for (; u && u >= unit; u--)
        n *= 1024;
    return n < 1e18 ? (int64_t)n : (int64_t)1e18;
}

bool
axe_cache_most_is_wrong(void)
{
    const char *text = getenv("AXE_CACHE_MAX");

    return text && most_of(text) < 0;
}

int64_t
axe_cache_most(void)
{
    const char *text = getenv("AXE_CACHE_MAX");
    int64_t     n = text ? most_of(text) : -1;

    return n < 0 ? DEFAULT_MOST : n;
}

/* ------------------------------------------------------------------ getting */

enum { MAX_JOB = 64 };

/* What is being compiled. */
typedef struct pending {
    axe_cache_item *item;
    key             key;
    const char     *made;
    int             number; /* in the private directory */
    axe_cc_job      job;
} pending;

/* Start compiling into the private directory. */
static axe_status
begin(axe_ctx *cx, axe_cache *c, const axe_cc *cc, pending *p)
{
    const char *source;

    AXE_TRY(axe_cache_need_tmp(cx, c));
    p->number = axe_cache_tmp_next(c);
    source = axe_textf(cx, "%s/%d.c", c->tmp, p->number);
    p->made = axe_textf(cx, "%s/%d.so", c->tmp, p->number);
    AXE_TRY(
        axe_file_write(cx, source, 0600, p->item->text, strlen(p->item->text)));
    return axe_cc_start(cx, cc, source, p->item->extra, p->made, &p->job);
}

static const char *
stem_of(axe_ctx *cx, const axe_cache *c, const key *k)
{
    return axe_textf(cx, "%s/%.2s/%s", c->dir, k->text, k->text);
}

static axe_status
load(axe_ctx *cx, axe_cache_item *item, const char *path)
{
    if (!item->load)
        return AXE_OK;
    item->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return item->handle ? AXE_OK
                        : axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
                                   "the compiled kernel cannot be loaded: %s",
                                   dlerror());
}

/* Load the very file that was opened.  A library is known by the name that it
 * was loaded by, and numbers of files come again: so each name is another one,
 * by a count written in `/` and `/.`. */
static axe_status
load_open(axe_ctx *cx, axe_cache_item *item, int fd)
{
    static atomic_uint count;
    unsigned           n = atomic_fetch_add(&count, 1);
    axe_buf            name = {.cx = cx};

    axe_puts(&name, "/proc/self/fd");
    if (access(name.text, X_OK) != 0)
        return load(cx, item, item->path);
    for (; n > 0; n /= 2)
        axe_puts(&name, n % 2 ? "/./" : "//");
    axe_putf(&name, "/%d", fd);
    return load(cx, item, name.text);
}

static axe_status
finish(axe_ctx *cx, axe_cache *c, pending *p)
{
    const char *stem = c->dir ? stem_of(cx, c, &p->key) : NULL;

    AXE_TRY(axe_cc_wait(cx, &p->job));
    p->item->fresh = true;
    p->item->path = p->made;
    AXE_TRY(load(cx, p->item, p->made));
    if (stem && keep(cx, c, &p->key, p->item->text, p->made)) {
        p->item->path = axe_textf(cx, "%s.so", stem);
        axe_cache_tmp_drop(c, p->number);
    }
    return AXE_OK;
}

/* Is it there already? */
static bool
find(axe_ctx *cx, axe_cache *c, const key *k, axe_cache_item *item)
{
    axe_mark  m = axe_ctx_mark(cx);
    axe_bytes code;
    bool      ok;
    int       fd =
        c->dir ? open_entry(cx, c, k, kept[AXE_CACHE_OBJECT].code, &code) : -1;

    if (fd < 0)
        return false;
    free(code.data);
    item->path = axe_textf(cx, "%s.so", stem_of(cx, c, k));
    item->fresh = false;
    ok = load_open(cx, item, fd) == AXE_OK;
    close(fd);
    if (!ok)
        axe_ctx_release(cx, m);
    return ok;
}

static int
most_jobs(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_JOB ? MAX_JOB : (int)n;
}

/* After a failure what runs is waited for, and what it says forgotten. */
static axe_status
finish_all(axe_ctx *cx, axe_cache *c, int n, pending *run, axe_status st)
{
    for (int i = 0; i < n; i++) {
        axe_mark m = axe_ctx_mark(cx);
        if (st == AXE_OK)
            st = finish(cx, c, &run[i]);
        else if (axe_cc_wait(cx, &run[i].job) != AXE_OK)
            axe_ctx_release(cx, m);
    }
    return st;
}

axe_status
axe_cache_get_all(axe_ctx *cx, axe_cache *c, const axe_cc *cc, int n,
                  axe_cache_item *item)
{
    pending    run[MAX_JOB];
    int        n_run = 0, n_fresh = 0, most = most_jobs();
    axe_status st = AXE_OK;

    for (int i = 0; i < n && st == AXE_OK; i++) {
        pending p = {.item = &item[i], .key = make_key(c, cc, &item[i])};
        if (find(cx, c, &p.key, &item[i]))
            continue;
        n_fresh++;
        if (n_run == most) {
            st = finish(cx, c, &run[0]);
            memmove(run, run + 1, (size_t)--n_run * sizeof run[0]);
        }
        if (st == AXE_OK)
            st = begin(cx, c, cc, &p);
        if (st == AXE_OK)
            run[n_run++] = p;
    }
    st = finish_all(cx, c, n_run, run, st);
    for (int i = 0; i < n && st != AXE_OK; i++)
        if (item[i].handle) {
            dlclose(item[i].handle);
            item[i].handle = NULL;
        }
    if (n_fresh > 0 && c->dir)
        axe_cache_sweep(c->dir, axe_cache_most());
    return st;
}

axe_status
axe_cache_get(axe_ctx *cx, axe_cache *c, const axe_cc *cc, const char *text,
              const char *extra, const char **path, bool *fresh)
{
    axe_cache_item item = {.text = text, .extra = extra};

    AXE_TRY(axe_cache_get_all(cx, c, cc, 1, &item));
    if (fresh)
        *fresh = item.fresh;
    *path = item.path;
    return AXE_OK;
}

/* ------------------------------------------------------------ other code */

static key
key_of(int n, const char *const *what)
{
    axe_sha256 s;
    key        k;

    axe_sha256_init(&s);
    for (int i = 0; i < n; i++)
        add_text(&s, what[i]);
    axe_sha256_end(&s, k.hash);
    axe_sha256_text(k.hash, k.text);
    return k;
}

bool
axe_cache_find(axe_ctx *cx, axe_cache *c, axe_cache_kind kind, int n,
               const char *const *what, axe_bytes *out)
{
    key k = key_of(n, what);
    int fd = c->dir ? open_entry(cx, c, &k, kept[kind].code, out) : -1;

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void
axe_cache_keep(axe_ctx *cx, axe_cache *c, axe_cache_kind kind, int n,
               const char *const *what, const char *text, axe_bytes code)
{
    key      k = key_of(n, what);
    axe_mark m = axe_ctx_mark(cx);

    if (c->dir &&
        settle(cx, c, m, write_entry(cx, c, &k, kept[kind], text, code)))
        axe_cache_sweep(c->dir, axe_cache_most());
}
