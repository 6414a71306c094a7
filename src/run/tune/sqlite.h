/* sqlite.h - SQLite's library, opened when it is first needed: those who never
 * tune never need it. */
#ifndef AXE_RUN_TUNE_SQLITE_H
#define AXE_RUN_TUNE_SQLITE_H

#include "axe/base.h"

typedef struct axe_sqlite {
#define SYMBOL(name, type, args) type(*name) args;
#include "run/tune/sqlite.def"
} axe_sqlite;

enum {
    AXE_SQLITE_OK = 0,
    AXE_SQLITE_ROW = 100,
    AXE_SQLITE_DONE = 101,
    AXE_SQLITE_READONLY = 1, /* flags of open_v2 */
    AXE_SQLITE_READWRITE = 2,
    AXE_SQLITE_CREATE = 4
};

/* The process's one copy; it stays open.
 * Errors  ETOOL: there is no library, or it lacks a symbol; the help says what
 *         to install. */
AXE_CHECK axe_status axe_sqlite_load(axe_ctx *cx, const axe_sqlite **out);

#endif
