/* memory.c - bytes that are there, and moves of single lanes. */
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

static const char *
how_text(ptx_access how)
{
    return how == A_READ ? "read" : "written";
}

/* The first of n bytes that was never written; n: none. */
static size_t
first_unknown(const unsigned char *known, size_t n)
{
    size_t k = 0;

    while (k < n && known[k])
        k++;
    return k;
}

/* Others wait for the bytes: a weak store of them is a race, which the fence in
 * front of it does not mend (PTX ISA, release patterns). */
static bool
is_race(const ptx_insn *i, const ptx_region *r, size_t from, size_t n)
{
    return r->watched && !ptx_has(i, W_RELEASE) &&
           memchr(r->watched + from, 1, n);
}

/* Bytes that an .acquire looks at, until the launch ends. */
static void
watch(ptx_region *r, size_t from, size_t n)
{
    if (!r->watched)
        r->watched = calloc(r->bytes, 1);
    if (!r->watched)
        abort();
    memset(r->watched + from, 1, n);
}

/* Who waits may look before anybody has written: he finds what was left. */
unsigned char *
ptx_global(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n, size_t align,
           ptx_access how)
{
    unsigned char *p = (unsigned char *)(uintptr_t)at;
    ptx_region    *r = w->cta->cluster->gpu->region;

    if (ptx_is_early(w, i))
        return NULL;
    while (r && (p < r->data || p >= r->data + r->bytes))
        r = r->next;
    if (!r || n > (size_t)(r->data + r->bytes - p)) {
        ptx_wrong(w, i, "%zu bytes are %s at %p, where no array is", n,
                  how_text(how), (void *)p);
        return NULL;
    }
    if (at % align != 0) {
        ptx_wrong(w, i, "%p is no multiple of %zu", (void *)p, align);
        return NULL;
    }
    size_t from = (size_t)(p - r->data);
    if (how == A_WRITE && is_race(i, r, from, n)) {
        ptx_wrong(w, i,
                  "byte %zu of an array of %zu is written by a weak store, "
                  "and was loaded by one that acquires",
                  from, r->bytes);
        return NULL;
    }
    if (ptx_has(i, W_ACQUIRE))
        watch(r, from, n);
    if (how == A_WRITE) {
        memset(r->known + from, 1, n);
    } else if (!ptx_has(i, W_ACQUIRE) &&
               first_unknown(r->known + from, n) < n) {
        ptx_wrong(w, i,
                  "byte %zu of an array of %zu is read, and was never "
                  "written",
                  from + first_unknown(r->known + from, n), r->bytes);
        return NULL;
    }
    return p;
}

ptx_cta *
ptx_owner(ptx_warp *w, const ptx_insn *i, uint64_t at, uint32_t *out)
{
    ptx_cluster *c = w->cta->cluster;
    uint64_t     rank = at >> RANK_SHIFT;

    *out = (uint32_t)at & ((1u << RANK_SHIFT) - 1);
    if (rank == 0)
        return w->cta;
    if (rank > (uint64_t)c->n_cta) {
        ptx_wrong(w, i, "address %#llx is in no CTA of the cluster",
                  (unsigned long long)at);
        return NULL;
    }
    return &c->cta[rank - 1];
}

static bool
has_ended(const ptx_cta *c)
{
    for (int i = 0; i < c->n_warp; i++)
        if (c->warp[i].live)
            return false;
    return true;
}

unsigned char *
ptx_shared(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n, size_t align,
           ptx_access how)
{
    uint32_t from;
    ptx_cta *c = ptx_owner(w, i, at, &from);
    size_t   k;

    if (!c)
        return NULL;
    if (from < SHARED_BASE ||
        from + n > SHARED_BASE + (size_t)c->shared_bytes) {
        ptx_wrong(w, i,
                  "%zu bytes are %s at %#x of shared memory, which is "
                  "%#x to %#x",
                  n, how_text(how), from, SHARED_BASE,
                  SHARED_BASE + c->shared_bytes);
        return NULL;
    }
    if (from % align != 0) {
        ptx_wrong(w, i, "address %#x of shared memory is no multiple of %zu",
                  from, align);
        return NULL;
    }
    if (c != w->cta && has_ended(c)) {
        ptx_wrong(w, i, "CTA %d has ended, and its memory is %s", c->rank,
                  how_text(how));
        return NULL;
    }
    from -= SHARED_BASE;
    k = how == A_READ ? first_unknown(c->known + from, n) : n;
    if (k < n) {
        ptx_wrong(w, i,
                  "address %#zx of shared memory is read, and was never "
                  "written",
                  from + k + SHARED_BASE);
        return NULL;
    }
    if (how == A_WRITE)
        memset(c->known + from, 1, n);
    return c->shared + from;
}

/* ----------------------------------------------------------- loads and stores
 */

static unsigned char *
place(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n, ptx_access how)
{
    if (ptx_has(i, W_GLOBAL))
        return ptx_global(w, i, at, n, n, how);
    if (!ptx_has(i, W_SHARED) && !ptx_has(i, W_CLUSTER)) {
        ptx_wrong(w, i, "this state space is not known");
        return NULL;
    }
    if (ptx_has(i, W_SHARED) && at >> RANK_SHIFT) {
        ptx_wrong(w, i, "%#llx is an address of shared::cluster",
                  (unsigned long long)at);
        return NULL;
    }
    return ptx_shared(w, i, at, n, n, how);
}

/* Of 16 bytes, which only say what CTA was taken, the first 8. */
static uint64_t
get_bytes(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n < sizeof v ? n : sizeof v);
    return v;
}

static const unsigned char *
parameter(ptx_warp *w, const ptx_insn *i, uint64_t at, size_t n)
{
    const ptx_cluster *c = w->cta->cluster;
    uint64_t           from = at - (uint64_t)(uintptr_t)c->params;

    if (from + n <= (uint64_t)c->kernel->param_bytes)
        return c->params + from;
    ptx_wrong(w, i, "no parameter is there");
    return NULL;
}

ptx_result
ptx_load(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *t = i->n_type ? i->type[0] : NULL;
    size_t          n, all;

    if (!t || i->n_arg < 2 || i->arg[0].n != i->vec)
        return ptx_wrong(w, i, "this form is not known");
    n = (size_t)t->bits / 8;
    all = n * (size_t)i->vec;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int                  l = ptx_first(left);
        uint64_t             at = ptx_address(w, &i->arg[1], l);
        const unsigned char *p = ptx_has(i, W_PARAM)
                                     ? parameter(w, i, at, all)
                                     : place(w, i, at, all, A_READ);
        if (!p)
            return PTX_WRONG;
        for (int k = 0; k < i->vec; k++) {
            uint64_t v = get_bytes(p + n * (size_t)k, n);
            if (t->kind == 's')
                v = (uint64_t)((int64_t)(v << (64 - t->bits)) >>
                               (64 - t->bits));
            ptx_put(w, &i->arg[0].op[k], l, v);
        }
    }
    return PTX_DONE;
}

ptx_result
ptx_store(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *t = i->n_type ? i->type[0] : NULL;
    size_t          n;

    if (!t || i->n_arg < 2 || i->arg[1].n != i->vec)
        return ptx_wrong(w, i, "this form is not known");
    n = (size_t)t->bits / 8;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int            l = ptx_first(left);
        unsigned char *p = place(w, i, ptx_address(w, &i->arg[0], l),
                                 n * (size_t)i->vec, A_WRITE);
        if (!p)
            return PTX_WRONG;
        for (int k = 0; k < i->vec; k++) {
            uint64_t v = ptx_get(w, &i->arg[1].op[k], l);
            memcpy(p + n * (size_t)k, &v, n);
        }
    }
    return PTX_DONE;
}

static uint64_t
reduced(const ptx_insn *i, const ptx_type *t, uint64_t a, uint64_t b)
{
    double x = ptx_number(t, a), y = ptx_number(t, b);

    if (ptx_has(i, W_ADD))
        return ptx_add(t, a, b);
    if (t->bits == 64 && t->kind != 'f') {
        bool less = t->kind == 's' ? (int64_t)a < (int64_t)b : a < b;
        return less == ptx_has(i, W_MIN) ? a : b;
    }
    return (x < y) == ptx_has(i, W_MIN) ? a : b;
}

ptx_result
ptx_reduce(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    const ptx_type *t = i->n_type ? i->type[0] : NULL;
    size_t          n;

    if (!t || i->n_arg != 2 || i->arg[1].n != i->vec ||
        !(ptx_has(i, W_ADD) || ptx_has(i, W_MIN) || ptx_has(i, W_MAX)))
        return ptx_wrong(w, i, "this form is not known");
    n = (size_t)t->bits / 8;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int            l = ptx_first(left);
        uint64_t       at = ptx_address(w, &i->arg[0], l);
        unsigned char *p = place(w, i, at, n * (size_t)i->vec, A_READ);
        if (!p)
            return PTX_WRONG;
        for (int k = 0; k < i->vec; k++, p += n) {
            uint64_t v =
                reduced(i, t, get_bytes(p, n), ptx_get(w, &i->arg[1].op[k], l));
            memcpy(p, &v, n);
        }
    }
    return PTX_DONE;
}

ptx_result
ptx_mapa(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        int      l = ptx_first(left);
        uint64_t at = ptx_get(w, i->arg[1].op, l);
        uint64_t rank = ptx_get(w, i->arg[2].op, l);
        if (at >> RANK_SHIFT)
            return ptx_wrong(w, i, "%#llx is mapped already",
                             (unsigned long long)at);
        if (rank >= (uint64_t)w->cta->cluster->n_cta)
            return ptx_wrong(w, i, "CTA %llu of a cluster of %d",
                             (unsigned long long)rank, w->cta->cluster->n_cta);
        ptx_put(w, i->arg[0].op, l, (rank + 1) << RANK_SHIFT | at);
    }
    return PTX_DONE;
}

/* -------------------------------------------------------------- cp.async */

static ptx_result
copy_now(ptx_job *j)
{
    ptx_warp *w = j->warp;
    size_t    n = (size_t)j->a[0];

    for (uint32_t left = j->lanes; left; left &= left - 1) {
        int            l = ptx_first(left);
        size_t         some = (size_t)j->lane[2][l];
        unsigned char *to =
            ptx_shared(w, j->insn, j->lane[0][l], n, n, A_WRITE);
        unsigned char *from = NULL;
        if (to && some > 0)
            from = ptx_global(w, j->insn, j->lane[1][l], some, n, A_READ);
        if (!to || (some > 0 && !from))
            return PTX_WRONG;
        memset(to, 0, n);
        if (from)
            memcpy(to, from, some);
    }
    return PTX_DONE;
}

ptx_result
ptx_copy_async(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_job *j;

    if (i->n_arg < 3)
        return ptx_wrong(w, i, "this form is not known");
    j = ptx_job_new(w, i, lanes, J_COPY, 3);
    j->run = copy_now;
    j->a[0] = ptx_get(w, i->arg[2].op, ptx_first(lanes));
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = ptx_first(left);
        j->lane[0][l] = ptx_address(w, &i->arg[0], l);
        j->lane[1][l] = ptx_address(w, &i->arg[1], l);
        j->lane[2][l] =
            i->n_arg > 3 ? ptx_get(w, i->arg[3].op, l) & 0xffffffff : j->a[0];
        if (j->lane[2][l] > j->a[0])
            return ptx_wrong(w, i, "more bytes are read than copied");
    }
    return ptx_issue(j);
}

static ptx_result
arrive_now(ptx_job *j)
{
    for (uint32_t left = j->lanes; left; left &= left - 1) {
        int l = ptx_first(left);
        if (ptx_arrive_at(j->warp, j->insn, j->lane[0][l], 0) != PTX_DONE)
            return PTX_WRONG;
    }
    return PTX_DONE;
}

ptx_result
ptx_copies_arrive(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_job *j = ptx_job_new(w, i, lanes, J_COPY, 1);

    j->run = arrive_now;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = ptx_first(left);
        j->lane[0][l] = ptx_address(w, &i->arg[0], l);
    }
    return ptx_issue(j);
}
