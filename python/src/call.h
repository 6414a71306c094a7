/* call.h - a call of a kernel on arrays, and what was found out for its key. */
#ifndef AXEPY_CALL_H
#define AXEPY_CALL_H

#include "axepy.h"

enum { MAX_WORD = AXEPY_ARRAYS * (3 + 2 * AXEPY_RANK) + 2 };

/* What a call is: its device, its views, which of them are outputs. */
typedef struct request {
    PyObject  *args, *out, *device;
    int        n_arg, n_out, n_view;
    axepy_view view[AXEPY_ARRAYS];
    PyObject  *made[AXEPY_ARRAYS]; /* arrays that alloc made, new references */
    int        n_made, n_word;
    uint64_t   hash;
    int64_t    word[MAX_WORD];
} request;

/* What was found out for a key. */
typedef struct entry {
    int         refs, n_word;
    uint64_t    hash;
    PyObject   *binding; /* keeps all below */
    PyObject   *classes; /* of the key, which has their addresses */
    axepy_exec *exec;
    axe_call   *call; /* of a CPU */
    PyObject   *alloc, *wrap, *stream;
    int         n_view, n_alloc, n_size, n_result, n_param;
    uint8_t     param[AXEPY_ARRAYS], result[AXEPY_ARRAYS];
    const char *number[AXEPY_ARRAYS];
    const char *name[AXEPY_ARRAYS]; /* of the view's parameter */
    bool        written[AXEPY_ARRAYS];
    axe_size   *size;
    int64_t     word[];
} entry;

/* By key; all 0: empty. */
typedef struct entries {
    entry **table; /* [n_place] open addressing, a power of two */
    int     n_entry, n_place;
} entries;

/* Argument i of those that are given, then of the outputs; borrowed. */
PyObject *axepy_given(const request *r, int i);

/* What the method `_bind` of the caller's class answers; NULL: raised. */
entry *axepy_bind(PyObject *caller, request *r);
void   axepy_entry_drop(entry *e);

/* A reference more to that of the request's key; NULL: it is not known. */
entry *axepy_entries_find(const entries *t, const request *r);
/* -1: raised. */
int  axepy_entries_keep(entries *t, entry *e);
void axepy_entries_forget(entries *t);

#endif
