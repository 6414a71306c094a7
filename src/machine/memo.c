/* memo.c - layouts of atoms' operands, read once in a context.
 *
 * A planner asks for the same few hundred texts over and over, most of them
 * only to find that the row does not fit.  What was read is kept by text and
 * letters in memory that no mark gives back; there are no more of them than
 * rows and parameters. */
#include <string.h>

#include "base/ctx.h"
#include "machine/memo.h"

enum { FIRST_ROOM = 256 };

typedef struct entry {
    const char       *text; /* NULL: free */
    int               lanes, group;
    const char       *roles;
    const axe_layout *layout;
} entry;

typedef struct memo {
    int    n, cap; /* cap: a power of two, at least twice n */
    entry *slot;   /* open addressing */
} memo;

static entry *
probe(const memo *m, const char *text, int lanes, int group)
{
    uint64_t h = (uint64_t)lanes * 31 + (uint64_t)group;
    entry   *e;

    for (const char *s = text; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    for (h ^= h >> 29;; h++) {
        e = &m->slot[h & (uint64_t)(m->cap - 1)];
        if (!e->text || (e->lanes == lanes && e->group == group &&
                         strcmp(e->text, text) == 0))
            return e;
    }
}

static void
grow(axe_ctx *cx, memo *m)
{
    memo old = *m;

    m->cap = old.cap ? 2 * old.cap : FIRST_ROOM;
    m->slot = axe_alloc_forever(cx, (size_t)m->cap * sizeof *m->slot);
    for (int i = 0; i < old.cap; i++)
        if (old.slot[i].text)
            *probe(m, old.slot[i].text, old.slot[i].lanes, old.slot[i].group) =
                old.slot[i];
}

static void *
copy_forever(axe_ctx *cx, const void *from, int n, size_t size)
{
    void *to = axe_alloc_forever(cx, (size_t)n * size + 1);

    if (n > 0)
        memcpy(to, from, (size_t)n * size);
    return to;
}

static const axe_layout *
keep_layout(axe_ctx *cx, const axe_layout *l)
{
    axe_layout *out = copy_forever(cx, l, 1, sizeof *l);

    out->shard = copy_forever(cx, l->shard, l->n_shard, sizeof *l->shard);
    out->replica =
        copy_forever(cx, l->replica, l->n_replica, sizeof *l->replica);
    out->offset = copy_forever(cx, l->offset, l->n_offset, sizeof *l->offset);
    out->dim_end = copy_forever(cx, l->dim_end, l->n_dim, sizeof *l->dim_end);
    return out;
}

bool
axe_memo_find(const axe_ctx *cx, const char *text, int lanes, int group,
              const char **roles, const axe_layout **out)
{
    const memo  *m = axe_ctx_slot_get(cx, AXE_SLOT_ATOMS);
    const entry *e = m ? probe(m, text, lanes, group) : NULL;

    if (!e || !e->text)
        return false;
    *roles = e->roles;
    *out = e->layout;
    return true;
}

void
axe_memo_keep(axe_ctx *cx, const char *text, int lanes, int group,
              const char **roles, const axe_layout **out)
{
    void **slot = axe_ctx_slot(cx, AXE_SLOT_ATOMS);
    memo  *m;
    entry *e;

    if (!*slot)
        *slot = axe_alloc_forever(cx, sizeof(memo));
    m = *slot;
    if (2 * (m->n + 1) > m->cap)
        grow(cx, m);
    e = probe(m, text, lanes, group);
    m->n += !e->text;
    *e = (entry){
        .text = axe_intern(cx, text, strlen(text)),
        .lanes = lanes,
        .group = group,
        .roles = axe_intern(cx, *roles, strlen(*roles)),
        .layout = keep_layout(cx, *out),
    };
    *roles = e->roles;
    *out = e->layout;
}
