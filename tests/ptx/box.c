/* box.c - copies that the asynchronous engine makes: boxes of tensor maps, and
 * bytes in a row.
 *
 * In shared memory a box is dense, its first dimension fastest; the map's
 * swizzle then moves 16-byte chunks by bits of their address.  What is outside
 * the tensor is read as zeros and not written.  Maps of elements of 4 bits
 * count two of them as one; only coordinates come as elements. */
#include <string.h>

#include "ptx.h"

enum { FOURTHS = 13 }; /* two to a byte */

static const char magic[8] = "ptx map";

/* As CUtensorMapDataType and CUtensorMapSwizzle count. */
static const char *const map_type[] = {"u8",  "u16",  "u32",  "s32", "u64",
                                       "s64", "f16",  "f32",  "f64", "bf16",
                                       "f32", "tf32", "tf32", "u8"};
static const int         map_swizzle[] = {0, 32, 64, 128};

static const ptx_map *
map_at(ptx_warp *w, const ptx_insn *i, uint64_t at)
{
    const ptx_cluster *c = w->cta->cluster;
    uint64_t           from = at - (uint64_t)(uintptr_t)c->params;
    const ptx_map     *m = (const ptx_map *)(uintptr_t)at;

    if (from + 128 > (uint64_t)c->kernel->param_bytes || at % 64 != 0 ||
        memcmp(m->magic, magic, sizeof magic) != 0) {
        ptx_wrong(w, i, "there is no tensor map at %p", (const void *)m);
        return NULL;
    }
    return m;
}

ptx_result
ptx_prefetch(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    uint64_t at = ptx_address(w, &i->arg[0], ptx_first(lanes));

    return map_at(w, i, at) ? PTX_DONE : PTX_WRONG;
}

/* ------------------------------------------------------------- box elements */

typedef struct box {
    const ptx_map  *map;
    const ptx_type *type;
    int64_t         at[MAX_RANK];
    size_t          bytes; /* of an element */
    int64_t         n;     /* elements */
} box;

static box
box_of(const ptx_job *j)
{
    box b = {.map = (const ptx_map *)(uintptr_t)j->a[0], .n = 1};

    b.type = ptx_type_of(map_type[b.map->type]);
    b.bytes = (size_t)b.type->bits / 8;
    for (int d = 0; d < b.map->rank; d++) {
        b.at[d] = (int32_t)j->a[4 + d];
        b.n *= b.map->box[d];
    }
    b.at[0] /= b.map->type == FOURTHS ? 2 : 1;
    return b;
}

/* Where element e of a box is in global memory; NULL: outside the tensor. */
static unsigned char *
element(const box *b, int64_t e)
{
    unsigned char *p = b->map->address;

    for (int d = 0; d < b->map->rank; d++) {
        int64_t x = b->at[d] + e % b->map->box[d];
        e /= b->map->box[d];
        if (x < 0 || x >= b->map->size[d])
            return NULL;
        p += x * b->map->stride[d];
    }
    return p;
}

static uint32_t
swizzled(const box *b, uint64_t base, int64_t e)
{
    return ptx_swizzle((uint32_t)base + (uint32_t)e * (uint32_t)b->bytes,
                       map_swizzle[b->map->swizzle]);
}

static ptx_result
bring(ptx_job *j, const box *b, uint64_t to)
{
    ptx_warp *w = j->warp;
    uint64_t  rank = to >> RANK_SHIFT << RANK_SHIFT;

    for (int64_t e = 0; e < b->n; e++) {
        const unsigned char *from = element(b, e);
        unsigned char       *p =
            ptx_shared(w, j->insn, rank | swizzled(b, to & 0xffffff, e),
                       b->bytes, b->bytes, A_WRITE);
        if (!p || (from && !ptx_global(w, j->insn, (uint64_t)(uintptr_t)from,
                                       b->bytes, 1, A_READ)))
            return PTX_WRONG;
        if (from)
            memcpy(p, from, b->bytes);
        else
            memset(p, 0, b->bytes);
    }
    return PTX_DONE;
}

/* The barrier that is told of the part of CTA r: at the same place in that CTA,
 * or, for pairs, in that one of its pair that `bar` is in of its own. */
static uint64_t
barrier_of(const ptx_job *j, uint64_t bar, uint64_t r)
{
    uint64_t in = bar >> RANK_SHIFT;

    in = in ? in - 1 : (uint64_t)j->warp->cta->rank;
    if (ptx_has(j->insn, W_TWO))
        r = r / 2 * 2 + in % 2;
    return (r + 1) << RANK_SHIFT | (bar & 0xffffff);
}

/* To one CTA, or to the same place in each of a mask. */
static ptx_result
load_now(ptx_job *j)
{
    box      b = box_of(j);
    uint64_t to = j->a[1], bar = j->a[2], mask = j->a[3];
    long     bytes = (long)(b.n * (int64_t)b.bytes);

    for (uint64_t r = 0; r < MAX_CLUSTER; r++) {
        uint64_t rank = (r + 1) << RANK_SHIFT;
        if (mask ? !(mask >> r & 1) : r > 0)
            continue;
        if (bring(j, &b, mask ? rank | (to & 0xffffff) : to) != PTX_DONE ||
            ptx_bytes_come(j->warp, j->insn, mask ? barrier_of(j, bar, r) : bar,
                           bytes) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

static ptx_result
store_now(ptx_job *j)
{
    box       b = box_of(j);
    ptx_warp *w = j->warp;
    bool      add = j->a[3] != 0;

    for (int64_t e = 0; e < b.n; e++) {
        unsigned char       *to = element(&b, e);
        const unsigned char *p;
        uint64_t             v = 0, old = 0;
        if (!to)
            continue;
        p = ptx_shared(w, j->insn, swizzled(&b, j->a[1], e), b.bytes, b.bytes,
                       A_READ);
        if (!p || !ptx_global(w, j->insn, (uint64_t)(uintptr_t)to, b.bytes, 1,
                              add ? A_READ : A_WRITE))
            return PTX_WRONG;
        memcpy(&v, p, b.bytes);
        memcpy(&old, to, b.bytes);
        v = add ? ptx_add(b.type, old, v) : v;
        memcpy(to, &v, b.bytes);
    }
    return PTX_DONE;
}

static bool
take_coordinates(ptx_warp *w, const ptx_insn *i, const ptx_arg *a, int lane,
                 ptx_job *j)
{
    const ptx_map *m = map_at(w, i, ptx_get(w, a->op, lane));

    if (!m)
        return false;
    if (a->n != 1 + m->rank || i->dims != m->rank) {
        ptx_wrong(w, i, "the map has %d dimensions, %d are given", m->rank,
                  a->n - 1);
        return false;
    }
    j->a[0] = (uint64_t)(uintptr_t)m;
    for (int d = 0; d < m->rank; d++)
        j->a[4 + d] = ptx_get(w, &a->op[1 + d], lane);
    if (m->type == FOURTHS && j->a[4] % 2 != 0) {
        ptx_wrong(w, i, "a box begins within a byte");
        return false;
    }
    return true;
}

static ptx_result
check_place(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t align)
{
    if ((at & 0xffffff) % align == 0)
        return PTX_DONE;
    return ptx_wrong(w, i, "%#llx of shared memory is no multiple of %zu",
                     (unsigned long long)at, align);
}

/* The barrier is in the CTA that gets the box, or, for a pair, in one of it. */
static ptx_result
check_load(ptx_warp *w, const ptx_insn *i, const ptx_job *j)
{
    uint32_t at;
    ptx_cta *to = ptx_owner(w, i, j->a[1], &at);
    ptx_cta *bar = to ? ptx_owner(w, i, j->a[2], &at) : NULL;

    if (!bar)
        return PTX_WRONG;
    if (bar != to && !(ptx_has(i, W_TWO) && bar->rank / 2 == to->rank / 2))
        return ptx_wrong(w, i, "the mbarrier is in CTA %d, the box in %d",
                         bar->rank, to->rank);
    if (j->a[3] >> w->cta->cluster->n_cta)
        return ptx_wrong(w, i, "mask %#llx of a cluster of %d",
                         (unsigned long long)j->a[3], w->cta->cluster->n_cta);
    return check_place(w, i, j->a[1], 128);
}

static ptx_result
fill_load(ptx_job *j, int l)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;

    j->a[1] = ptx_address(w, &i->arg[0], l);
    j->a[2] = ptx_address(w, &i->arg[2], l);
    j->a[3] =
        ptx_has(i, W_MULTICAST) ? ptx_get(w, i->arg[3].op, l) & 0xffff : 0;
    if (ptx_has(i, W_MULTICAST) && j->a[3] == 0)
        return ptx_wrong(w, i, "the mask is 0");
    return take_coordinates(w, i, &i->arg[1], l, j) ? check_load(w, i, j)
                                                    : PTX_WRONG;
}

static ptx_result
fill_store(ptx_job *j, int l)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;

    j->a[1] = ptx_address(w, &i->arg[1], l);
    j->a[3] = ptx_has(i, W_ADD);
    return take_coordinates(w, i, &i->arg[0], l, j)
               ? check_place(w, i, j->a[1], 128)
               : PTX_WRONG;
}

ptx_result
ptx_box(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    bool load = ptx_has(i, W_COMPLETE);

    if (i->n_arg < (load ? 3 : 2) || i->dims == 0 ||
        (!load && !ptx_has(i, W_BULK)))
        return ptx_wrong(w, i, "this form is not known");
    return load ? ptx_issue_each(w, i, lanes, J_BOX, load_now, fill_load)
                : ptx_issue_each(w, i, lanes, J_BULK, store_now, fill_store);
}

/* -------------------------------------------------------------- bytes in a row
 */

/* a: to, from, bytes, mbarrier (0: none), whether it adds. */
static ptx_result
row_now(ptx_job *j)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;
    size_t          n = (size_t)j->a[2];
    bool            out = ptx_has(i, W_BULK), add = j->a[4] != 0;
    unsigned char  *to, *from;

    from = out || !ptx_has(i, W_GLOBAL)
               ? ptx_shared(w, i, j->a[1], n, 16, A_READ)
               : ptx_global(w, i, j->a[1], n, 16, A_READ);
    to = out ? ptx_global(w, i, j->a[0], n, 16, add ? A_READ : A_WRITE)
             : ptx_shared(w, i, j->a[0], n, 16, A_WRITE);
    if (!from || !to)
        return PTX_WRONG;
    if (!add)
        memcpy(to, from, n);
    for (size_t k = 0; add && k < n; k += (size_t)i->type[0]->bits / 8) {
        size_t   bytes = (size_t)i->type[0]->bits / 8;
        uint64_t a = 0, b = 0;
        memcpy(&a, to + k, bytes);
        memcpy(&b, from + k, bytes);
        a = ptx_add(i->type[0], a, b);
        memcpy(to + k, &a, bytes);
    }
    return out ? PTX_DONE : ptx_bytes_come(w, i, j->a[3], (long)n);
}

static ptx_result
fill_row(ptx_job *j, int l)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;

    j->a[0] = ptx_address(w, &i->arg[0], l);
    j->a[1] = ptx_address(w, &i->arg[1], l);
    j->a[2] = ptx_get(w, i->arg[2].op, l) & 0xffffffff;
    j->a[3] = ptx_has(i, W_BULK) ? 0 : ptx_address(w, &i->arg[3], l);
    j->a[4] = ptx_has(i, W_ADD);
    if (j->a[2] % 16 != 0)
        return ptx_wrong(w, i, "%llu bytes, which are no multiple of 16",
                         (unsigned long long)j->a[2]);
    return PTX_DONE;
}

ptx_result
ptx_bulk(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    bool out = ptx_has(i, W_BULK), add = ptx_has(i, W_ADD);

    if (i->n_arg != (out ? 3 : 4) || (add && i->n_type != 1) ||
        (!out && !ptx_has(i, W_COMPLETE)))
        return ptx_wrong(w, i, "this form is not known");
    return ptx_issue_each(w, i, lanes, out ? J_BULK : J_BOX, row_now, fill_row);
}
