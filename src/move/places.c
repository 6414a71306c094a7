/* places.c - two layouts as tables: which element is at which place.
 *
 * A place is a register of a thread of a CTA, or a place in memory.  Threads
 * are numbered through: each axis of threads adds its coordinate times what one
 * step of it is in threads, by the nestings of the machine's axes (thread = 32
 * warp + lane).  The one axis of threads that nests in nothing numbers CTAs. */
#include <inttypes.h>
#include <string.h>

#include "move/move_int.h"

enum { MAX_AXIS = 128 };

/* What axes of the machine are. */
typedef struct axes {
    int      n;
    int64_t  threads[MAX_AXIS]; /* that one step is; 0: no axis of threads */
    int64_t  end[MAX_AXIS];     /* coordinates are below it; 0: no end */
    axe_axis cta;               /* -1: none is used */
} axes;

typedef struct side {
    axe_ctx           *cx;
    const axe_machine *mc;
    const char        *name; /* "SRC" */
    const axe_layout  *l;
    const axes        *axes;
    axe_axis           store; /* the axis of registers, or of memory */
    axe_swizzle        swizzle;
    bool               global;
    int64_t            n_place; /* of all indices together */
} side;

/* ------------------------------------------------------------------- axes */

static void
find_axes(axe_ctx *cx, const axe_machine *mc, axes *a)
{
    const axe_axis_table *t = axe_machine_own_axes(mc);

    memset(a, 0, sizeof *a);
    a->n = axe_n_axis(cx) < MAX_AXIS ? axe_n_axis(cx) : MAX_AXIS;
    a->cta = -1;
    for (int step = 0; step < 4; step++)
        for (int k = 0; k < t->n_nest; k++) {
            const axe_nest_row *f = &t->nest[k];
            axe_axis            w, o, i;
            if (axe_axis_find(cx, AXE_NOWHERE, f->whole, &w) != AXE_OK ||
                axe_axis_find(cx, AXE_NOWHERE, f->outer, &o) != AXE_OK ||
                axe_axis_find(cx, AXE_NOWHERE, f->inner, &i) != AXE_OK ||
                w >= a->n || o >= a->n || i >= a->n)
                continue;
            if (step == 0 && a->threads[w] == 0)
                a->threads[w] = 1;
            a->threads[o] = a->threads[w] * f->factor;
            a->threads[i] = a->threads[w];
            if (a->end[i] == 0)
                a->end[i] = f->factor;
        }
}

int64_t
axe_move_threads(axe_ctx *cx, const axe_machine *mc, axe_axis axis)
{
    axes a;

    find_axes(cx, mc, &a);
    return axis < a.n && a.threads[axis] > 0 ? a.threads[axis] : 1 << 20;
}

/* ---------------------------------------------------------------- one side */

static axe_iter
iter_at(const axe_layout *l, int i)
{
    return i < l->n_shard ? l->shard[i] : l->replica[i - l->n_shard];
}

/* The axis that iter or offset i is on, of n_shard + n_replica + n_offset. */
static axe_axis
axis_at(const axe_layout *l, int i)
{
    int n = l->n_shard + l->n_replica;

    return i < n ? iter_at(l, i).axis : l->offset[i - n].axis;
}

static int
n_parts(const axe_layout *l)
{
    return l->n_shard + l->n_replica + l->n_offset;
}

static axe_status
refuse_axis(const side *s, axe_axis a, const char *why)
{
    return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "move: %s lies over axis %s, %s", s->name,
                    axe_axis_name(s->cx, a), why);
}

/* What each axis is for; which one counts registers or memory. */
static axe_status
find_roles(side *s, axes *a, bool *memory)
{
    axe_axis store[2] = {-1, -1}; /* m, and registers */

    *memory = true;
    for (int i = 0; i < n_parts(s->l); i++) {
        axe_axis      x = axis_at(s->l, i);
        axe_axis_kind kind = axe_axis_kind_of(s->cx, x);
        if (i < s->l->n_shard + s->l->n_replica &&
            (iter_at(s->l, i).extent == 1 || iter_at(s->l, i).stride == 0))
            continue;
        if (kind == AXE_KIND_DEVICE || x >= a->n)
            return refuse_axis(s, x, "which numbers devices");
        if (kind == AXE_KIND_MEMORY && x != AXE_AXIS_M)
            return refuse_axis(s, x, "a memory that threads do not address");
        if (kind == AXE_KIND_THREAD && a->threads[x] == 0) {
            if (a->cta >= 0 && a->cta != x)
                return refuse_axis(s, x, "and another axis numbers CTAs");
            a->cta = x;
        }
        *memory = *memory && (kind == AXE_KIND_MEMORY || a->cta == x);
        if (kind == AXE_KIND_MEMORY || kind == AXE_KIND_REG)
            store[kind == AXE_KIND_REG] = x;
    }
    if (store[0] >= 0 && store[1] >= 0)
        return refuse_axis(s, store[1],
                           "and over m: which of them are the registers?");
    s->store = store[1] >= 0 ? store[1] : AXE_AXIS_M;
    return AXE_OK;
}

/* Least and largest coordinate on the axis. */
static axe_status
range(const side *s, axe_axis a, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int i = 0; i < s->l->n_offset; i++)
        if (s->l->offset[i].axis == a)
            *lo = *hi = s->l->offset[i].value;
    for (int i = 0; i < s->l->n_shard + s->l->n_replica; i++) {
        axe_iter it = iter_at(s->l, i);
        if (it.axis == a)
            *(it.stride < 0 ? lo : hi) += (it.extent - 1) * it.stride;
    }
    if (*lo >= 0 && (s->axes->end[a] == 0 || *hi < s->axes->end[a]))
        return AXE_OK;
    return axe_fail(
        s->cx, AXE_NOWHERE, AXE_ESHAPE,
        "move: %s reaches from %" PRId64 " to %" PRId64
        " on axis %s, which begins at 0%s",
        s->name, *lo, *hi, axe_axis_name(s->cx, a),
        s->axes->end[a] == 0
            ? ""
            : axe_textf(s->cx, " and ends before %" PRId64, s->axes->end[a]));
}

static axe_status
check_units(const side *s)
{
    for (int i = 0; i < n_parts(s->l); i++) {
        int n = s->l->n_shard + s->l->n_replica;
        if ((i < n ? iter_at(s->l, i).unit : s->l->offset[i - n].unit) !=
            AXE_UNIT_ONE)
            return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "move: a stride of %s is known only at run time",
                            s->name);
    }
    return AXE_OK;
}

/* How many places there are to look at. */
static axe_status
count_places(side *s)
{
    int64_t n = s->l->size;
    bool    fits = true;

    for (int i = 0; i < s->l->n_replica; i++)
        fits = fits && axe_mul(n, s->l->replica[i].extent, &n) &&
               n <= AXE_MOVE_PLACES;
    if (!fits || n > AXE_MOVE_PLACES)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "move: %s has over %d places", s->name,
                        AXE_MOVE_PLACES);
    s->n_place = n;
    return AXE_OK;
}

static axe_status
refuse_reach(const side *s)
{
    return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                    "move: %s reaches over %d elements of memory, of all CTAs",
                    s->name, AXE_MOVE_PLACES);
}

static axe_status
count_slots(const side *s, bool memory, int bits, int64_t *n)
{
    int64_t lo, hi, most = axe_machine_room(s->mc, AXE_SPACE_SHARED);

    AXE_TRY(range(s, s->store, &lo, &hi));
    AXE_TRY(axe_layout_cosize(s->cx, s->l, s->store, n));
    if (memory && s->global && *n > AXE_MOVE_PLACES)
        return refuse_reach(s);
    if (memory && !s->global && *n > most / (bits / 8))
        return axe_fail(s->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "move: %s needs %" PRId64 " elements of %d bits in "
                        "shared memory, and %s has %" PRId64 " bytes",
                        s->name, *n, bits, s->mc->name, most);
    if (!memory && *n > AXE_MOVE_SLOTS)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "move: %s needs %" PRId64 " registers of a thread, "
                        "at most %d are looked at",
                        s->name, *n, AXE_MOVE_SLOTS);
    return AXE_OK;
}

/* CTAs, threads and slots that the layout reaches. */
static axe_status
measure(side *s, int bits, axe_places *p)
{
    int64_t thread = 0, lo, hi, n, places;

    AXE_TRY(check_units(s));
    AXE_TRY(count_places(s));
    p->n_cta = 1;
    for (axe_axis x = 0; x < s->axes->n; x++) {
        if (x == s->store || axe_axis_kind_of(s->cx, x) != AXE_KIND_THREAD)
            continue;
        AXE_TRY(range(s, x, &lo, &hi));
        if (x == s->axes->cta && hi >= 64)
            return refuse_axis(s, x, "beyond 64 CTAs");
        if (x == s->axes->cta)
            p->n_cta = (int)hi + 1;
        if (hi > 1 << 20 || (thread += hi * s->axes->threads[x]) >= 1 << 20)
            thread = hi = 1 << 20;
    }
    if (thread >= s->mc->simt->max_threads)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "move: %s needs more threads than the %d that a CTA "
                        "of %s has",
                        s->name, s->mc->simt->max_threads, s->mc->name);
    p->n_thread = (int)thread + 1;
    AXE_TRY(count_slots(s, p->memory, bits, &n));
    p->n_slot = (int)n;
    places = p->memory
                 ? n
                 : (int64_t)p->n_cta * (p->n_thread + s->mc->simt->lanes) * n;
    if (places > AXE_MOVE_PLACES)
        return axe_fail(s->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "move: %s reaches over %d registers", s->name,
                        AXE_MOVE_PLACES);
    return AXE_OK;
}

/* -------------------------------------------------------------- the tables */

typedef axe_status visit_fn(void *user, int64_t x, int cta, int thread,
                            int64_t slot);

/* Calls for each index and each of its places. */
static axe_status
visit(const side *s, bool memory, visit_fn *fn, void *user)
{
    int64_t per = s->l->size > 0 ? s->n_place / s->l->size : 0;

    for (int64_t k = 0; k < s->n_place; k++) {
        int64_t thread = 0, cta = 0, slot = 0, x = k / per, r = k % per;
        for (int i = s->l->n_shard + s->l->n_replica - 1; i >= 0; i--) {
            axe_iter it = iter_at(s->l, i);
            int64_t *digits = i < s->l->n_shard ? &x : &r;
            int64_t  step = *digits % it.extent * it.stride;
            *digits /= it.extent;
            slot += it.axis == s->store ? step : 0;
            thread +=
                it.axis == s->store ? 0 : step * s->axes->threads[it.axis];
            cta += it.axis == s->axes->cta ? step : 0;
        }
        for (int i = 0; i < s->l->n_offset; i++) {
            axe_offset o = s->l->offset[i];
            slot += o.axis == s->store ? o.value : 0;
            thread +=
                o.axis == s->store ? 0 : o.value * s->axes->threads[o.axis];
            cta += o.axis == s->axes->cta ? o.value : 0;
        }
        if (s->store == AXE_AXIS_M)
            slot = axe_swizzle_apply(s->swizzle, slot);
        AXE_TRY(fn(user, k / per, (int)cta, memory ? 0 : (int)thread, slot));
    }
    return AXE_OK;
}

typedef struct filling {
    const side *side;
    axe_sides  *both;
    axe_places *to;
} filling;

static int64_t *
place_of(axe_places *p, int cta, int thread, int64_t slot)
{
    return &p->element[((int64_t)cta * p->n_thread + thread) * p->n_slot +
                       slot];
}

static int64_t
root(int64_t *of, int64_t x)
{
    while (of[x] != x)
        x = of[x] = of[of[x]];
    return x;
}

/* Indices at one place of the source are one element, the least of them. */
static axe_status
put_source(void *user, int64_t x, int cta, int thread, int64_t slot)
{
    filling *f = user;
    int64_t *at = place_of(f->to, cta, thread, slot), a, b;

    if (*at < 0) {
        *at = x;
        return AXE_OK;
    }
    a = root(f->both->element, *at);
    b = root(f->both->element, x);
    f->both->element[a > b ? a : b] = a < b ? a : b;
    return AXE_OK;
}

static axe_status
put_target(void *user, int64_t x, int cta, int thread, int64_t slot)
{
    filling *f = user;
    int64_t *at = place_of(f->to, cta, thread, slot);
    int64_t  e = f->both->element[x];

    if (*at >= 0 && *at != e)
        return axe_fail(f->side->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "move: thread %d has in place %" PRId64 " of DST "
                        "elements %" PRId64 " and %" PRId64
                        ", which are apart in SRC",
                        thread, slot, *at, x);
    *at = e;
    return AXE_OK;
}

/* Global memory is one: nothing of it is a CTA's. */
static axe_status
check_one_memory(const side *s, const axes *a)
{
    for (int i = 0; i < n_parts(s->l); i++)
        if (axis_at(s->l, i) == a->cta)
            return refuse_axis(s, a->cta,
                               "and global memory is one for all CTAs");
    return AXE_OK;
}

static axe_status
begin_side(side *s, const axes *a, int bits)
{
    s->axes = a;
    s->swizzle = s->l->swizzle;
    if (s->swizzle.bits > 0 && s->swizzle.unit_bits > 0)
        AXE_TRY(axe_swizzle_recast(s->cx, s->swizzle, bits, &s->swizzle));
    return AXE_OK;
}

static void
make_room(axe_ctx *cx, axe_places *p)
{
    int64_t n = (int64_t)p->n_cta * p->n_thread * p->n_slot;

    p->element = axe_new_array(cx, int64_t, n + 1);
    memset(p->element, 0xff, (size_t)n * sizeof *p->element);
}

/* Registers are as many rows in both: all warps that either has. */
static void
level(const axe_machine *mc, axe_places *a, axe_places *b)
{
    int lanes = mc->simt->lanes;
    int n = a->n_thread > b->n_thread ? a->n_thread : b->n_thread;
    int cta = a->n_cta > b->n_cta ? a->n_cta : b->n_cta;

    n = (n + lanes - 1) / lanes * lanes;
    for (int i = 0; i < 2; i++) {
        axe_places *p = i ? b : a;
        p->n_thread = p->memory ? 1 : n;
        p->n_cta = cta;
    }
}

static axe_status
check_sizes(axe_ctx *cx, const axe_layout *src, const axe_layout *dst)
{
    bool    more = dst->size > src->size;
    int64_t x = more ? src->size : dst->size;

    if (dst->size == src->size)
        return AXE_OK;
    axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
             "move: element %" PRId64 " of %s is not in %s, which has %" PRId64
             " elements",
             x, more ? "DST" : "SRC", more ? "SRC" : "DST", x);
    axe_help(cx,
             "both are layouts of one tensor; a slice, L[0:8, 0:16], is the "
             "layout of a part");
    return AXE_ESHAPE;
}

axe_status
axe_sides_make(axe_ctx *cx, const axe_machine *mc, int bits,
               axe_move_memory memory, const axe_layout *src,
               const axe_layout *dst, axe_sides *out)
{
    const bool global = memory == AXE_MOVE_IN_GLOBAL;
    axes       a;
    side       s[] = {
              {.cx = cx, .mc = mc, .name = "SRC", .l = src, .global = global},
              {.cx = cx, .mc = mc, .name = "DST", .l = dst, .global = global}};
    filling f;

    memset(out, 0, sizeof *out);
    AXE_TRY(check_sizes(cx, src, dst));
    find_axes(cx, mc, &a);
    AXE_TRY(find_roles(&s[0], &a, &out->src.memory));
    AXE_TRY(find_roles(&s[1], &a, &out->dst.memory));
    out->global = global && out->src.memory != out->dst.memory;
    for (int i = 0; i < 2; i++) {
        if (global && (i ? out->dst.memory : out->src.memory))
            AXE_TRY(check_one_memory(&s[i], &a));
        AXE_TRY(begin_side(&s[i], &a, bits));
        AXE_TRY(measure(&s[i], bits, i ? &out->dst : &out->src));
    }
    level(mc, &out->src, &out->dst);
    for (int i = 0; i < 2; i++) {
        const axe_places *p = i ? &out->dst : &out->src;

        if (p->memory && (int64_t)p->n_cta * p->n_slot > AXE_MOVE_PLACES)
            return refuse_reach(&s[i]);
    }
    make_room(cx, &out->src);
    make_room(cx, &out->dst);
    out->n = src->size;
    out->element = axe_new_array(cx, int64_t, out->n + 1);
    for (int64_t x = 0; x < out->n; x++)
        out->element[x] = x;
    f = (filling){&s[0], out, &out->src};
    AXE_TRY(visit(&s[0], out->src.memory, put_source, &f));
    for (int64_t x = 0; x < out->n; x++)
        out->element[x] = root(out->element, x);
    for (int64_t k = 0;
         k < (int64_t)out->src.n_cta * out->src.n_thread * out->src.n_slot; k++)
        if (out->src.element[k] >= 0)
            out->src.element[k] = out->element[out->src.element[k]];
    f = (filling){&s[1], out, &out->dst};
    return visit(&s[1], out->dst.memory, put_target, &f);
}
