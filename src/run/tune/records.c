/* records.c - tuned values in a database.
 *
 * One table, one row for each key and class.  The database is opened for each
 * question and closed again: that costs less than a statement of the kernel
 * takes to plan. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/cache/cache.h"
#include "run/tune/records.h"
#include "run/tune/sqlite.h"

enum { WAIT_MS = 5000, CLASS_STEPS = 2, MAX_LOG = 62 };

struct axe_records {
    const axe_sqlite *sq;
    void             *db;
    const char       *path;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS tuned ("
    "machine TEXT, digest TEXT, kernel TEXT, variant TEXT, workers INTEGER, "
    "sizes TEXT, bindings TEXT, seconds REAL, default_seconds REAL, "
    "tried INTEGER, date TEXT, version TEXT, "
    "PRIMARY KEY (machine, digest, kernel, variant, workers, sizes))";

static const char upsert[] =
    "INSERT INTO tuned (machine, digest, kernel, variant, workers, sizes, "
    "bindings, seconds, default_seconds, tried, date, version) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET bindings = excluded.bindings, "
    "seconds = excluded.seconds, default_seconds = excluded.default_seconds, "
    "tried = excluded.tried, date = excluded.date, version = excluded.version "
    "WHERE excluded.seconds < seconds OR excluded.bindings = bindings";

static const char question[] =
    "SELECT sizes, bindings, seconds, default_seconds, tried, date, version "
    "FROM tuned WHERE machine = ? AND digest = ? AND kernel = ? AND "
    "variant = ? AND workers = ? ORDER BY sizes";

/* -------------------------------------------------------------------- keys */

const char *
axe_records_path(axe_ctx *cx, const char *wanted, const char *cache)
{
    const char *env = getenv("AXE_TUNED"), *dir;

    if (wanted && *wanted)
        return axe_textf(cx, "%s", wanted);
    if (env && *env)
        return axe_textf(cx, "%s", env);
    dir = axe_cache_choose(cx, cache);
    return dir ? axe_textf(cx, "%s/tuned.db", dir) : NULL;
}

const char *
axe_records_digest(axe_ctx *cx, const char *text, size_t len)
{
    unsigned char hash[AXE_SHA256_BYTES];
    char          hex[AXE_SHA256_TEXT];
    axe_sha256    s;

    axe_sha256_init(&s);
    axe_sha256_add(&s, text, len);
    axe_sha256_end(&s, hash);
    axe_sha256_text(hash, hex);
    return axe_textf(cx, "%.32s", hex);
}

const char *
axe_records_machine(axe_ctx *cx, const char *machine)
{
    const char *cpu = axe_cache_cpu(cx);

    return axe_textf(cx, "%s %.16s", machine,
                     axe_records_digest(cx, cpu, strlen(cpu)));
}

/* The power of two nearest to a size, as its logarithm. */
static int
log_of(int64_t size)
{
    double l = size < 1 ? 0 : floor(log2((double)size) + 0.5);

    return l > MAX_LOG ? MAX_LOG : (int)l;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const axe_size *)a)->name, ((const axe_size *)b)->name);
}

static const axe_size *
sorted(axe_ctx *cx, int n, const axe_size *size)
{
    axe_size *s = axe_new_array(cx, axe_size, n + 1);

    for (int i = 0; i < n; i++)
        s[i] = size[i];
    qsort(s, (size_t)n, sizeof *s, by_name);
    return s;
}

const char *
axe_records_class(axe_ctx *cx, int n, const axe_size *size)
{
    const axe_size *s = sorted(cx, n, size);
    axe_buf         b = {.cx = cx};

    for (int i = 0; i < n; i++)
        axe_putf(&b, "%s%s=%" PRId64, i ? " " : "", s[i].name,
                 INT64_C(1) << log_of(s[i].value));
    return b.text ? b.text : "";
}

/* Steps between the class `text` and sizes in order of name; -1 if it is too
 * far, or of other sizes. */
static int
distance(const char *text, int n, const axe_size *s)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        size_t len = strlen(s[i].name);
        if (strncmp(text, s[i].name, len) != 0 || text[len] != '=')
            return -1;
        char   *end;
        int64_t v = strtoll(text + len + 1, &end, 10);
        int     d = abs(log_of(v) - log_of(s[i].value));
        if (d > CLASS_STEPS)
            return -1;
        sum += d;
        text = *end == ' ' ? end + 1 : end;
    }
    return *text == '\0' ? sum : -1;
}

/* ---------------------------------------------------------------- database */

static axe_status
trouble(axe_ctx *cx, axe_records *r, const char *what)
{
    axe_fail(cx, AXE_NOWHERE, AXE_EIO, "%s: records of tuned values: %s: %s",
             r->path, what, r->sq->errmsg(r->db));
    axe_help(cx, "if it is damaged, move it away; another place is named by "
                 "AXE_TUNED");
    return AXE_EIO;
}

axe_status
axe_records_open(axe_ctx *cx, const char *path, bool write, axe_records **out)
{
    axe_records *r = axe_new(cx, axe_records);
    axe_status   st = AXE_OK;

    AXE_TRY(axe_sqlite_load(cx, &r->sq));
    r->path = path;
    if (write)
        axe_cache_make_parent(cx, path);
    if (r->sq->open_v2(path, &r->db,
                       write ? AXE_SQLITE_READWRITE | AXE_SQLITE_CREATE
                             : AXE_SQLITE_READONLY,
                       NULL) != AXE_SQLITE_OK)
        st = trouble(cx, r, "cannot be opened");
    if (st == AXE_OK)
        r->sq->busy_timeout(r->db, WAIT_MS);
    if (st == AXE_OK && write &&
        r->sq->exec(r->db, schema, NULL, NULL, NULL) != AXE_SQLITE_OK)
        st = trouble(cx, r, "cannot be written");
    if (st != AXE_OK) {
        axe_records_close(r);
        return st;
    }
    *out = r;
    return AXE_OK;
}

void
axe_records_close(axe_records *r)
{
    if (r && r->db)
        r->sq->close(r->db);
}

/* Texts, then integers, then texts again: binds the key's five columns. */
static int
bind_key(axe_records *r, void *stmt, const axe_record_key *k)
{
    const char *text[] = {k->machine, k->digest, k->kernel, k->variant};
    int         e = AXE_SQLITE_OK;

    for (int i = 0; i < AXE_LEN(text) && e == AXE_SQLITE_OK; i++)
        e = r->sq->bind_text(stmt, i + 1, text[i], -1, NULL);
    return e == AXE_SQLITE_OK ? r->sq->bind_int64(stmt, 5, k->n_worker) : e;
}

static int
bind_record(axe_ctx *cx, axe_records *r, void *stmt, const axe_record_key *k,
            const axe_record *rec)
{
    const axe_sqlite *q = r->sq;
    time_t            t = time(NULL);
    char              date[32] = "";
    struct tm         tm;

    if (gmtime_r(&t, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
    return bind_key(r, stmt, k) |
           q->bind_text(stmt, 6, axe_records_class(cx, k->n_size, k->size), -1,
                        NULL) |
           q->bind_text(stmt, 7, rec->bindings, -1, NULL) |
           q->bind_double(stmt, 8, rec->seconds) |
           q->bind_double(stmt, 9, rec->def_seconds) |
           q->bind_int64(stmt, 10, rec->n_tried) |
           q->bind_text(stmt, 11, axe_textf(cx, "%s", date), -1, NULL) |
           q->bind_text(stmt, 12, AXE_VERSION, -1, NULL);
}

axe_status
axe_records_put(axe_ctx *cx, axe_records *r, const axe_record_key *key,
                const axe_record *record)
{
    void      *stmt = NULL;
    axe_status st = AXE_OK;

    if (r->sq->prepare_v2(r->db, upsert, -1, &stmt, NULL) != AXE_SQLITE_OK ||
        bind_record(cx, r, stmt, key, record) != AXE_SQLITE_OK ||
        r->sq->step(stmt) != AXE_SQLITE_DONE)
        st = trouble(cx, r, "cannot be written");
    r->sq->finalize(stmt);
    return st;
}

static const char *
column(axe_ctx *cx, axe_records *r, void *stmt, int i)
{
    const unsigned char *t = r->sq->column_text(stmt, i);

    return axe_textf(cx, "%s", t ? (const char *)t : "");
}

static void
read_row(axe_ctx *cx, axe_records *r, void *stmt, axe_record *out)
{
    *out = (axe_record){
        .sizes = column(cx, r, stmt, 0),
        .bindings = column(cx, r, stmt, 1),
        .seconds = r->sq->column_double(stmt, 2),
        .def_seconds = r->sq->column_double(stmt, 3),
        .n_tried = r->sq->column_int64(stmt, 4),
        .date = column(cx, r, stmt, 5),
        .version = column(cx, r, stmt, 6),
    };
}

axe_status
axe_records_best(axe_ctx *cx, axe_records *r, const axe_record_key *key,
                 axe_record *out, bool *found)
{
    const axe_size *s = sorted(cx, key->n_size, key->size);
    axe_record      row;
    void           *stmt = NULL;
    int             best = -1, e = AXE_SQLITE_DONE;

    if (r->sq->prepare_v2(r->db, question, -1, &stmt, NULL) != AXE_SQLITE_OK ||
        bind_key(r, stmt, key) != AXE_SQLITE_OK)
        e = -1;
    while (e >= 0 && (e = r->sq->step(stmt)) == AXE_SQLITE_ROW) {
        read_row(cx, r, stmt, &row);
        int d = distance(row.sizes, key->n_size, s);
        if (d < 0 || (best >= 0 && d >= best))
            continue;
        best = d;
        *out = row;
    }
    axe_status st =
        e == AXE_SQLITE_DONE ? AXE_OK : trouble(cx, r, "cannot be read");
    r->sq->finalize(stmt);
    if (st == AXE_OK)
        *found = best >= 0;
    return st;
}
