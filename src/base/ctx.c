/* ctx.c - the context: two arenas and the slots of the rooms.
 *
 * `work` grows and shrinks with marks; its blocks are kept for reuse, so that a
 * loop of mark, work, release allocates nothing once it is warm.  `forever`
 * holds what names are made of: interned text, axes, units, sources. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx_int.h"

/* AXE_STRESS gives every allocation its own block, so that ASan sees them. */
#ifdef AXE_STRESS
enum { BLOCK_BYTES = 1 };
#else
enum { BLOCK_BYTES = 64 * 1024 };
#endif

static void
die(void *user, size_t n_bytes)
{
    (void)user;
    fprintf(stderr, "axe: out of memory (%zu bytes)\n", n_bytes);
    abort();
}

axe_ctx *
axe_ctx_new(void)
{
    axe_ctx *cx = calloc(1, sizeof *cx);

    if (cx)
        cx->oom = die;
    return cx;
}

static void
free_blocks(axe_block *b)
{
    while (b) {
        axe_block *next = b->next;
        free(b);
        b = next;
    }
}

void
axe_ctx_free(axe_ctx *cx)
{
    if (!cx)
        return;
    free_blocks(cx->work.first);
    free_blocks(cx->forever.first);
    free(cx);
}

void
axe_ctx_on_oom(axe_ctx *cx, axe_oom_fn *fn, void *user)
{
    cx->oom = fn ? fn : die;
    cx->oom_user = user;
}

static axe_block *
new_block(axe_ctx *cx, size_t n_bytes)
{
    size_t     size = n_bytes > BLOCK_BYTES ? n_bytes : BLOCK_BYTES;
    axe_block *b = NULL;

    if (size < SIZE_MAX - sizeof *b)
        b = malloc(sizeof *b + size);
    if (!b) {
        cx->oom(cx->oom_user, n_bytes);
        abort();
    }
    b->next = NULL;
    b->used = 0;
    b->size = size;
    cx->n_bytes += size;
    return b;
}

/* The next block with room, from those kept after a release or a fresh one put
 * in front of them. */
static axe_block *
next_block(axe_ctx *cx, axe_arena *a, size_t n_bytes)
{
    axe_block **link = a->top ? &a->top->next : &a->first;
    axe_block  *b;

    if (*link && (*link)->size >= n_bytes) {
        (*link)->used = 0;
        return *link;
    }
    b = new_block(cx, n_bytes);
    b->next = *link;
    *link = b;
    return b;
}

static void *
arena_alloc(axe_ctx *cx, axe_arena *a, size_t n_bytes)
{
    const size_t align = _Alignof(max_align_t);
    void        *p;

    if (n_bytes > SIZE_MAX / 2) {
        cx->oom(cx->oom_user, n_bytes);
        abort();
    }
    n_bytes = (n_bytes + align - 1) & ~(align - 1);
    if (!a->top || a->top->size - a->top->used < n_bytes)
        a->top = next_block(cx, a, n_bytes);
    p = a->top->bytes + a->top->used;
    a->top->used += n_bytes;
    return memset(p, 0, n_bytes);
}

void *
axe_alloc(axe_ctx *cx, size_t n_bytes)
{
    return arena_alloc(cx, &cx->work, n_bytes);
}

void *
axe_alloc_forever(axe_ctx *cx, size_t n_bytes)
{
    return arena_alloc(cx, &cx->forever, n_bytes);
}

axe_mark
axe_ctx_mark(const axe_ctx *cx)
{
    return (axe_mark){
        .block = cx->work.top,
        .used = cx->work.top ? cx->work.top->used : 0,
        .diag = cx->last_diag,
        .n_error = cx->n_error,
    };
}

void
axe_ctx_release(axe_ctx *cx, axe_mark m)
{
    cx->work.top = m.block;
    if (cx->work.top)
        cx->work.top->used = m.used;
    cx->last_diag = m.diag;
    cx->n_error = m.n_error;
    if (cx->last_diag)
        cx->last_diag->next = NULL;
    else
        cx->first_diag = NULL;
}

size_t
axe_ctx_bytes(const axe_ctx *cx)
{
    return cx->n_bytes;
}

void **
axe_ctx_slot(axe_ctx *cx, axe_slot s)
{
    assert(s < AXE_N_SLOT);
    return &cx->slot[s];
}

void *
axe_ctx_slot_get(const axe_ctx *cx, axe_slot s)
{
    assert(s < AXE_N_SLOT);
    return cx->slot[s];
}
