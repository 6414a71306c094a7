/* records.h - what tuning has found, kept in a SQLite database.
 *
 * A record says which values of its compile-time parameters a kernel ran best
 * with, for one machine, one text of the kernel, one variant (types, orders and
 * whatever else the caller has set), one number of workers and one *class* of
 * sizes: each size rounded to the nearest power of two, on a logarithmic scale.
 * A launch takes the record of the nearest class whose every size is within a
 * factor of four; distance is the sum of the differences of the logarithms.
 *
 * Every write is one transaction, so neither two processes at once nor a kill
 * loses what is there; of two records of one class the faster stays. */
#ifndef AXE_RUN_TUNE_RECORDS_H
#define AXE_RUN_TUNE_RECORDS_H

#include "axe/run.h"

typedef struct axe_record_key {
    const char *machine; /* name and processor, as axe_records_machine gives */
    const char *digest;  /* of the kernel's source text, axe_records_digest */
    const char *kernel, *variant;
    int64_t     n_worker;
    int         n_size; /* of the launch, in any order */
    const axe_size *size;
} axe_record_key;

typedef struct axe_record {
    const char *bindings;    /* "BM=64 BN=96", in the kernel's order */
    const char *sizes;       /* its class: "K=256 M=512" */
    double      seconds;     /* of a launch, as axe_tune_try */
    double      def_seconds; /* with the defaults; 0: not measured */
    int64_t     n_tried;     /* candidates measured */
    const char *date, *version;
} axe_record;

typedef struct axe_records axe_records;

/* Where records are kept: `wanted`, else $AXE_TUNED, else tuned.db in the
 * directory of compiled kernels (`cache` as for axe_cache_choose); NULL: there
 * is no such place. */
const char *axe_records_path(axe_ctx *cx, const char *wanted,
                             const char *cache);
/* Text for a key: the machine's name with a digest of what the processor says
 * of itself; the digest of a text. */
const char *axe_records_machine(axe_ctx *cx, const char *machine);
const char *axe_records_digest(axe_ctx *cx, const char *text, size_t len);
/* "K=256 M=512": the class of these sizes, by name. */
const char *axe_records_class(axe_ctx *cx, int n, const axe_size *size);

/* Open; for writing, the file and its directory are made if missing.
 * Errors  ETOOL: no SQLite.  EIO: the file cannot be opened, or is no database
 *         of ours, with SQLite's own words and what to do. */
AXE_CHECK axe_status axe_records_open(axe_ctx *cx, const char *path, bool write,
                                      axe_records **out);
void                 axe_records_close(axe_records *r);

/* Keep the record unless there is a faster one of its class.
 * Errors  EIO: disk full, read-only, locked for seconds, damaged. */
AXE_CHECK axe_status axe_records_put(axe_ctx *cx, axe_records *r,
                                     const axe_record_key *key,
                                     const axe_record     *record);

/* The record of the nearest class; *found says whether there is one.
 * Errors  EIO as above. */
AXE_CHECK axe_status axe_records_best(axe_ctx *cx, axe_records *r,
                                      const axe_record_key *key,
                                      axe_record *out, bool *found);

#endif
