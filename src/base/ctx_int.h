/* ctx_int.h - the context's fields, for the files of this room. */
#ifndef AXE_CTX_INT_H
#define AXE_CTX_INT_H

#include "base/ctx.h"

typedef struct axe_block {
    struct axe_block *next;
    size_t            used, size;
    _Alignas(max_align_t) unsigned char bytes[];
} axe_block;

/* Blocks first..top are in use; those after top are kept for reuse. */
typedef struct axe_arena {
    axe_block *first, *top;
} axe_arena;

typedef struct axe_source {
    const char *name, *text;
    size_t      len;
} axe_source;

typedef struct axe_names {
    const char **slot; /* open addressing; NULL is free */
    size_t       n, cap;
} axe_names;

struct axe_ctx {
    axe_arena   work, forever;
    size_t      n_bytes;
    axe_oom_fn *oom;
    void       *oom_user;
    axe_diag   *first_diag, *last_diag;
    int         n_error;
    axe_source *source;
    int32_t     n_source, cap_source;
    axe_names   names;
    void       *slot[AXE_N_SLOT];
};

#endif
