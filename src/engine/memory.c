/* memory.c - buffers in the host's symmetric memory, moved by this thread. */
#include "engine/memory.h"

#include <string.h>

enum { BLOCK = 1024 /* elements of a sum at a time */ };

static const struct {
    const char *word;
    int         bytes;
} numbers[] = {
#define NUMBER(name, word, bytes, type) {word, bytes},
#include "axe/number.def"
};

const char *
axe_number_text(axe_number t)
{
    return (int)t >= 0 && t < AXE_N_NUMBER ? numbers[t].word : "unknown";
}

int64_t
axe_number_bytes(axe_number t)
{
    return (int)t >= 0 && t < AXE_N_NUMBER ? numbers[t].bytes : 0;
}

/* to[i] += from[i] */
static void
add(axe_number type, void *restrict to, const void *restrict from, int64_t n)
{
    switch (type) {
#define NUMBER(name, word, bytes, type)                                        \
    case AXE_NUMBER_##name: {                                                  \
        type *restrict t = to;                                                 \
        const type *restrict f = from;                                         \
                                                                               \
        for (int64_t i = 0; i < n; i++)                                        \
            t[i] = (type)(t[i] + f[i]);                                        \
        break;                                                                 \
    }
#include "axe/number.def"
    case AXE_N_NUMBER:
        break;
    }
}

void
engine_add(axe_number type, void *to, const void *from, int64_t n)
{
    add(type, to, from, n);
}

/* to[i] = a[i] + b[i] */
static void
add_two(axe_number type, void *restrict to, const void *restrict a,
        const void *restrict b, int64_t n)
{
    switch (type) {
#define NUMBER(name, word, bytes, type)                                        \
    case AXE_NUMBER_##name: {                                                  \
        type *restrict t = to;                                                 \
        const type *restrict x = a, *restrict y = b;                           \
                                                                               \
        for (int64_t i = 0; i < n; i++)                                        \
            t[i] = (type)(x[i] + y[i]);                                        \
        break;                                                                 \
    }
#include "axe/number.def"
    case AXE_N_NUMBER:
        break;
    }
}

/* --------------------------------------------------------------------- boxes
 */

static void
take(engine_walk *w, int64_t src, int64_t dst, int64_t n)
{
    size_t      bytes = (size_t)n * w->width;
    char       *to = w->dst_packed ? w->dst : w->dst + (size_t)dst * w->width;
    const char *from = w->src_packed ? w->src : w->src + (size_t)src * w->width;

    if (w->adds)
        add(w->type, to, from, n);
    else
        engine_copy(to, from, bytes);
    w->dst += w->dst_packed ? bytes : 0;
    w->src += w->src_packed ? bytes : 0;
}

static void
walk(engine_walk *w, int d, int64_t src, int64_t dst)
{
    const program_box *b = w->box;
    int64_t            sp = b->src_pitch[d], dp = b->dst_pitch[d];

    for (int i = 0; i < b->n_run[d]; i++) {
        const program_run *r = &b->run[d][i];

        if (d + 1 == b->n_dim) {
            take(w, src + r->src, dst + r->dst, r->n);
            continue;
        }
        for (int64_t k = 0; k < r->n; k++)
            walk(w, d + 1, src + (r->src + k) * sp, dst + (r->dst + k) * dp);
    }
}

/* A tensor without dimensions is one element. */
void
engine_walk_box(engine_walk *w)
{
    if (w->box->n_dim == 0)
        take(w, 0, 0, w->box->n);
    else
        walk(w, 0, 0, 0);
}

/* --------------------------------------------------------------- the memory
 */

static axe_status
alloc(engine_memory *m, int64_t bytes, void **out)
{
    return axe_engine_alloc(m->e, bytes, out);
}

static int64_t
mark(const engine_memory *m)
{
    return m->e->used;
}

static void
give_back(engine_memory *m, int64_t to)
{
    m->e->used = to;
}

static void *
peer(const engine_memory *m, const void *p, int64_t rank)
{
    return axe_engine_peer(m->e, p, rank);
}

static axe_status
copy(engine_memory *m, void *to, const void *from, size_t bytes)
{
    (void)m;
    engine_copy(to, from, bytes);
    return AXE_OK;
}

static axe_status
zero(engine_memory *m, void *to, size_t bytes)
{
    (void)m;
    memset(to, 0, bytes);
    return AXE_OK;
}

static axe_status
box(engine_memory *m, const engine_box *b)
{
    engine_walk w = {.box = b->box,
                     .width = (size_t)axe_number_bytes(b->type),
                     .adds = b->adds,
                     .type = b->type,
                     .dst = b->to,
                     .src = b->from};

    (void)m;
    engine_walk_box(&w);
    return AXE_OK;
}

/* Block by block, so that what is added to stays in the cache. */
static axe_status
sum(engine_memory *m, const engine_sum *s)
{
    size_t width = (size_t)axe_number_bytes(s->type);

    (void)m;
    for (int64_t at = 0; at < s->n; at += BLOCK) {
        int64_t n = s->n - at < BLOCK ? s->n - at : BLOCK;
        size_t  by = (size_t)at * width;
        char   *to = (char *)s->to + by;

        add_two(s->type, to, (const char *)s->from[0] + by,
                (const char *)s->from[1] + by, n);
        for (int i = 2; i < s->n_from; i++)
            add(s->type, to, (const char *)s->from[i] + by, n);
    }
    return AXE_OK;
}

static axe_status
settle(engine_memory *m)
{
    (void)m;
    return AXE_OK;
}

const engine_memory_ops engine_host_memory = {
    alloc, mark, give_back, peer, copy, zero, box, sum, settle, NULL, NULL,
};
