/* sqlite.c - finding SQLite's library and its symbols. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/dl.h"
#include "run/tune/sqlite.h"

static const char *const symbol[] = {
#define SYMBOL(name, type, args) "sqlite3_" #name,
#include "run/tune/sqlite.def"
};

static const char *const file[] = {"libsqlite3.so.0", "libsqlite3.so",
                                   "libsqlite3.dylib"};

static axe_sqlite     loaded;
static const char    *missing; /* what there is not; NULL: all is there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The table is the members of axe_sqlite in order, each one pointer. */
static void
load(void)
{
    void *table[AXE_LEN(symbol)];

    missing = axe_dl_load(AXE_LEN(file), file, AXE_LEN(symbol), symbol, table);
    if (!missing)
        memcpy(&loaded, table, sizeof loaded);
}

axe_status
axe_sqlite_load(axe_ctx *cx, const axe_sqlite **out)
{
    static_assert(sizeof(axe_sqlite) == AXE_LEN(symbol) * sizeof(void *),
                  "one pointer a row");
    pthread_once(&once, load);
    if (missing) {
        axe_fail(cx, AXE_NOWHERE, AXE_ETOOL,
                 "records of tuned values need SQLite, but there is no %s",
                 missing);
        axe_help(cx, "install it ('apt-get install libsqlite3-0')");
        return AXE_ETOOL;
    }
    *out = &loaded;
    return AXE_OK;
}
