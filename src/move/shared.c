/* shared.c - a layout of shared memory for a trip through it.
 *
 * The index is cut into digits, as finely as both layouts cut it and into
 * primes; what a digit is in each of them, register, lane or neither, says
 * where it should be.  Fastest are digits that are registers in both, which
 * make vectors; lanes of one side that the other has not are wanted in
 * different banks by it alone, so digits of the two sides are laid over the
 * same banks by a swizzle: the rule of linear layouts, of which the widths need
 * not be powers of two here.  Other orders, swizzles and rows with padding
 * follow.  Every one is judged by its addresses, bank by bank. */
#include <string.h>

#include "move/move_int.h"

enum { MAX_DIGIT = 40, MAX_ORDER = 32, WORK = 1 << 22, LEAST_TRIES = 64 };

typedef enum role { REG, LANE, OTHER } role;

/* Digit k of the index, slow to fast. */
typedef struct digit {
    int64_t extent;
    role    role[2];   /* in src, dst */
    int64_t stride[2]; /* [registers, or threads] */
} digit;

typedef struct order {
    int     n, at[MAX_DIGIT]; /* digits, fastest first */
    int     n_prefix;         /* digits that make vectors */
    int64_t prefix;           /* elements of these */
    double  floor; /* score without conflicts: no swizzle or pad is better */
} order;

typedef struct search {
    axe_ctx        *cx;
    const axe_trip *t;
    int             n, n_order;
    digit           digit[MAX_DIGIT];
    order           order[MAX_ORDER];
    int             tries, most;
    double          bound, least;
    int64_t        *at;
    /* the best so far */
    order      *best;
    int         pad_at;
    int64_t     pad;
    axe_swizzle swizzle;
} search;

/* ----------------------------------------------------------------- digits */

/* The digit's part in a layout: by threads where its axis counts them. */
static void
set_role(const search *s, axe_iter it, int side, digit *d)
{
    axe_axis_kind kind = axe_axis_kind_of(s->cx, it.axis);
    int64_t       step = it.stride < 0 ? -it.stride : it.stride;

    d->stride[side] = step;
    d->role[side] = OTHER;
    if (kind == AXE_KIND_REG || kind == AXE_KIND_MEMORY)
        d->role[side] = step > 0 ? REG : OTHER;
    else if (kind == AXE_KIND_THREAD)
        d->role[side] =
            axe_move_threads(s->cx, s->t->mc, it.axis) * step < s->t->lanes
                ? LANE
                : OTHER;
}

static int64_t
least_prime(int64_t n)
{
    for (int64_t p = 3; p * p <= n; p += 2)
        if (n % p == 0)
            return p;
    return n % 2 == 0 && n > 2 ? n / 2 : n;
}

/* Appends iter i of both, cut into primes; 2s are fastest. */
static bool
add_digits(search *s, axe_iter a, axe_iter b)
{
    int64_t left = a.extent, odd = a.extent;

    while (odd % 2 == 0)
        odd /= 2;
    while (left > 1) {
        int64_t  p = odd > 1 ? least_prime(odd) : 2;
        axe_iter x = a, y = b;
        digit    d;
        odd = odd > 1 ? odd / p : 1;
        left /= p;
        if (s->n == MAX_DIGIT)
            return false;
        x.stride *= left;
        y.stride *= left;
        d.extent = p;
        set_role(s, x, 0, &d);
        set_role(s, y, 1, &d);
        s->digit[s->n++] = d;
    }
    return true;
}

static axe_shape
extents(axe_ctx *cx, const axe_layout *l)
{
    int64_t *e = axe_new_array(cx, int64_t, l->n_shard + 1);

    for (int i = 0; i < l->n_shard; i++)
        e[i] = l->shard[i].extent;
    return (axe_shape){l->n_shard, e};
}

/* Both cut alike; false where their digits do not divide one another. */
static bool
refine(search *s, const axe_layout **a, const axe_layout **b)
{
    int *seps;

    *a = axe_layout_flat(s->cx, s->t->src);
    *b = axe_layout_flat(s->cx, s->t->dst);
    axe_shape of_b = extents(s->cx, *b);
    if (axe_layout_group_many(s->cx, *a, 1, &of_b, false, a, &seps) != AXE_OK)
        return false;
    axe_shape of_a = extents(s->cx, *a);
    return axe_layout_group_many(s->cx, *b, 1, &of_a, false, b, &seps) ==
               AXE_OK &&
           (*a)->n_shard == (*b)->n_shard;
}

/* Digits of both; else of one, as if the other had them nowhere. */
static void
find_digits(search *s, int alone)
{
    const axe_layout *a, *b;
    axe_iter          none = {1, 0, AXE_AXIS_M, AXE_UNIT_ONE};

    s->n = 0;
    if (alone < 0 && refine(s, &a, &b)) {
        for (int i = 0; i < a->n_shard; i++)
            if (!add_digits(s, a->shard[i], b->shard[i]))
                s->n = -1;
        return;
    }
    a = alone == 1 ? s->t->dst : s->t->src;
    for (int i = 0; i < a->n_shard; i++)
        if (!add_digits(s, alone == 1 ? none : a->shard[i],
                        alone == 1 ? a->shard[i] : none))
            s->n = -1;
}

/* ----------------------------------------------------------------- orders */

typedef bool pick_fn(const digit *d, int64_t phase);

static bool
in_both(const digit *d, int64_t phase)
{
    (void)phase;
    return d->role[0] == REG && d->role[1] == REG;
}

static bool
src_reg(const digit *d, int64_t phase)
{
    (void)phase;
    return d->role[0] == REG;
}

static bool
dst_reg(const digit *d, int64_t phase)
{
    (void)phase;
    return d->role[1] == REG;
}

/* Registers of one side, lanes of the other, which then all differ. */
static bool
src_across(const digit *d, int64_t phase)
{
    (void)phase;
    return d->role[0] == REG && d->role[1] == LANE;
}

static bool
dst_across(const digit *d, int64_t phase)
{
    (void)phase;
    return d->role[1] == REG && d->role[0] == LANE;
}

static bool
src_lane(const digit *d, int64_t phase)
{
    return d->role[0] == LANE && d->stride[0] < phase;
}

static bool
dst_lane(const digit *d, int64_t phase)
{
    return d->role[1] == LANE && d->stride[1] < phase;
}

static bool
src_alone(const digit *d, int64_t phase)
{
    return src_lane(d, phase) && !dst_lane(d, phase);
}

static bool
dst_alone(const digit *d, int64_t phase)
{
    return dst_lane(d, phase) && !src_lane(d, phase);
}

static bool
lane_both(const digit *d, int64_t phase)
{
    return src_lane(d, phase) && dst_lane(d, phase);
}

static bool
any(const digit *d, int64_t phase)
{
    (void)d;
    (void)phase;
    return true;
}

static bool
is_in(const order *o, int k)
{
    for (int i = 0; i < o->n; i++)
        if (o->at[i] == k)
            return true;
    return false;
}

/* Appends digits that are picked, by their stride in `side` (of which -1: as
 * they are in the index), as long as all make at most `most` elements. */
static void
append(const search *s, order *o, pick_fn *pick, int side, int64_t phase,
       int64_t most)
{
    int64_t product = 1;

    for (int i = 0; i < o->n; i++)
        product *= s->digit[o->at[i]].extent;
    for (;;) {
        int next = -1;
        for (int k = s->n - 1; k >= 0; k--) {
            const digit *d = &s->digit[k];
            if (is_in(o, k) || !pick(d, phase) ||
                (most > 0 && (d->extent != 2 || product * d->extent > most)))
                continue;
            if (next < 0 ||
                (side >= 0 && d->stride[side] < s->digit[next].stride[side]))
                next = k;
        }
        if (next < 0)
            return;
        o->at[o->n++] = next;
        product *= s->digit[next].extent;
    }
}

/* How an order begins: registers of one side up to so many bytes, and others
 * up to a whole vector. */
typedef struct prefix {
    pick_fn *more;
    int      side, bytes;
    pick_fn *across;
} prefix;

/* Vectors first: registers of both, then those of the prefix. */
static void
begin_order(const search *s, order *o, const prefix *p)
{
    int64_t size = s->t->bits / 8, most = s->t->mc->simt->max_vector;
    int64_t vector = most > size ? most / size : 1;

    memset(o, 0, sizeof *o);
    append(s, o, in_both, 0, 0, vector);
    if (p->more && p->bytes > size)
        append(s, o, p->more, p->side, 0, p->bytes / size);
    if (p->across)
        append(s, o, p->across, p->side, 0, vector);
    o->n_prefix = o->n;
    o->prefix = 1;
    for (int i = 0; i < o->n; i++)
        o->prefix *= s->digit[o->at[i]].extent;
}

/* Lanes of a phase, if each moves the prefix. */
static int64_t
phase_of(const search *s, const order *o)
{
    const axe_simt *m = s->t->mc->simt;
    int64_t         bytes = o->prefix * s->t->bits / 8;
    int64_t         lanes = (int64_t)m->banks * m->bank_bytes / bytes;

    return lanes < m->lanes ? lanes : m->lanes;
}

static void
end_order(search *s, const order *o, pick_fn *a, int side_a, pick_fn *b,
          int side_b, pick_fn *c, int side_c)
{
    order  *to = &s->order[s->n_order];
    int64_t phase = phase_of(s, o);

    if (s->n_order == MAX_ORDER)
        return;
    *to = *o;
    append(s, to, a, side_a, phase, 0);
    append(s, to, b, side_b, phase, 0);
    append(s, to, c, side_c, phase, 0);
    append(s, to, any, -1, phase, 0);
    for (int i = 0; i < s->n_order; i++)
        if (memcmp(s->order[i].at, to->at, sizeof to->at) == 0 &&
            s->order[i].n_prefix == to->n_prefix)
            return;
    s->n_order++;
}

static void
list_orders(search *s)
{
    static const prefix prefixes[] = {
        {NULL, 0, 0, NULL},          {src_reg, 0, 4, NULL},
        {dst_reg, 1, 4, NULL},       {src_reg, 0, 16, NULL},
        {dst_reg, 1, 16, NULL},      {src_reg, 0, 4, src_across},
        {dst_reg, 1, 4, dst_across}, {src_reg, 0, 8, NULL},
        {dst_reg, 1, 8, NULL}};
    order o = {0};

    s->n_order = 0;
    for (int i = 0; i < AXE_LEN(prefixes); i++) {
        begin_order(s, &o, &prefixes[i]);
        end_order(s, &o, dst_alone, 1, lane_both, 0, src_alone, 0);
        end_order(s, &o, src_alone, 0, lane_both, 0, dst_alone, 1);
        end_order(s, &o, lane_both, 0, src_lane, 0, dst_lane, 1);
    }
    memset(&o, 0, sizeof o);
    o.prefix = 1;
    end_order(s, &o, any, -1, any, -1, any, -1);
    end_order(s, &o, src_lane, 0, src_reg, 0, any, -1);
    end_order(s, &o, dst_lane, 1, dst_reg, 1, any, -1);
}

/* ------------------------------------------------------------- candidates */

/* The order as a layout; pad more elements from digit pad_at of the order on.
 */
static const axe_layout *
spell(const search *s, const order *o, int pad_at, int64_t pad,
      axe_swizzle swizzle)
{
    axe_iter          it[MAX_DIGIT];
    int64_t           stride = 1;
    const axe_layout *l;

    for (int i = 0; i < o->n; i++) {
        int k = o->at[i];
        if (i > 0 && i == pad_at)
            stride += pad;
        it[k] =
            (axe_iter){s->digit[k].extent, stride, AXE_AXIS_M, AXE_UNIT_ONE};
        stride *= s->digit[k].extent;
    }
    if (axe_layout_of_iters(s->cx, s->n, it, &l) != AXE_OK ||
        axe_layout_canon(s->cx, l, &l) != AXE_OK ||
        (swizzle.bits > 0 &&
         axe_layout_swizzled(s->cx, l, swizzle, &l) != AXE_OK))
        return NULL;
    return l;
}

int64_t
axe_trip_places(axe_ctx *cx, const axe_layout *l, int64_t *at)
{
    axe_axis m = AXE_AXIS_M;
    int64_t  one = 1, most = 0;

    (void)cx;
    axe_layout_list(l, 1, &m, &one, at);
    for (int64_t x = 0; x < l->size; x++) {
        at[x] = axe_swizzle_apply(l->swizzle, at[x]);
        most = at[x] > most ? at[x] : most;
    }
    return most + 1;
}

/* Transactions first, then the cost, which counts instructions too. */
static double
score(int64_t cycles, double cost)
{
    return 1000.0 * (double)cycles + cost;
}

/* Judge one; true if nothing can be better. */
static bool
try(search *s, order *o, int pad_at, int64_t pad, axe_swizzle swizzle)
{
    axe_mark          m = axe_ctx_mark(s->cx);
    const axe_layout *l = spell(s, o, pad_at, pad, swizzle);
    axe_trip_count    c = {0};
    int64_t room = axe_machine_room(s->t->mc, AXE_SPACE_SHARED), places;

    if (l && s->tries < s->most) {
        s->tries++;
        places = axe_trip_places(s->cx, l, s->at);
        if (places <= room / (s->t->bits / 8)) {
            axe_trip_of(s->cx, s->t, places, s->at, NULL, &c);
            int64_t clash = c.store.conflicts + c.load.conflicts;
            double  it = score(c.store.cycles + c.load.cycles, c.cost);
            if (pad == 0 && swizzle.bits == 0)
                o->floor = it - score(clash, (double)clash);
            if (!s->best || it < s->least - 1e-6) {
                s->best = o;
                s->least = it;
                s->pad_at = pad_at;
                s->pad = pad;
                s->swizzle = swizzle;
            }
        }
    }
    axe_ctx_release(s->cx, m);
    return s->tries >= s->most || (s->best && s->least <= s->bound + 1e-6);
}

static int
log2_of(int64_t n)
{
    int k = 0;

    for (; n > 1 && n % 2 == 0; n /= 2)
        k++;
    return n == 1 ? k : -1;
}

/* Bits above, at the distance, over the banks behind the prefix. */
static bool
try_swizzles(search *s, order *o, bool all)
{
    int base = log2_of(o->prefix), bank = log2_of(phase_of(s, o));
    int total = 0;

    if (s->best && o->floor >= s->least)
        return false;
    while (INT64_C(1) << total < s->t->sides->n)
        total++;
    for (int bits = 1; base >= 0 && bits <= 5; bits++)
        for (int shift = bits; base + shift < total; shift++)
            if ((all ? shift != bank : shift == bank) &&
                try(s, o, 0, 0, (axe_swizzle){bits, base, shift, 0}))
                return true;
    return false;
}

static bool
try_pads(search *s, order *o)
{
    int64_t word = s->t->mc->simt->bank_bytes * 8 / s->t->bits;

    if (s->best && o->floor >= s->least)
        return false;
    for (int i = o->n_prefix > 0 ? o->n_prefix : 1; i < o->n; i++)
        for (int64_t pad = o->prefix > word ? o->prefix
                           : word > 0       ? word
                                            : 1,
                     end = 4 * pad;
             pad <= end; pad *= 2)
            if (try(s, o, i, pad, (axe_swizzle){0, 0, 0, 0}))
                return true;
    return false;
}

static void
try_all(search *s)
{
    axe_swizzle none = {0, 0, 0, 0};

    for (int i = 0; i < s->n_order; i++)
        if (try(s, &s->order[i], 0, 0, none) ||
            try_swizzles(s, &s->order[i], false))
            return;
    for (int i = 0; i < s->n_order; i++)
        if (try_swizzles(s, &s->order[i], true) || try_pads(s, &s->order[i]))
            return;
}

/* ------------------------------------------------------------------ bound */

/* No lower score: the lane with most to move moves it in whole vectors, and
 * what is stored, all of it different, fills all banks. */
static double
side_bound(const axe_trip *t, bool store)
{
    const axe_places *p = store ? &t->sides->src : &t->sides->dst;
    const bool       *need = store ? t->store : t->load;
    const axe_simt   *m = t->mc->simt;
    int64_t size = t->bits / 8, all = (int64_t)m->banks * m->bank_bytes;
    double  sum = 0;

    for (int64_t w = 0; w < (int64_t)p->n_cta * p->n_thread / t->lanes; w++) {
        int64_t most = 0, total = 0, least;
        for (int l = 0; l < t->lanes; l++) {
            int64_t n = 0;
            for (int k = 0; k < p->n_slot; k++)
                n += need[(w * t->lanes + l) * p->n_slot + k];
            most = n > most ? n : most;
            total += n;
        }
        most = (most * size + m->max_vector - 1) / m->max_vector;
        least = store ? (total * size + all - 1) / all : most;
        least = least > most ? least : most;
        sum += score(least, (double)least + 0.25 * (double)most);
    }
    return sum;
}

const axe_layout *
axe_trip_search(axe_ctx *cx, const axe_trip *t)
{
    search           *s = axe_new(cx, search);
    const axe_layout *best = NULL;
    int64_t           work = t->sides->n + 1;

    s->cx = cx;
    s->t = t;
    s->at = axe_new_array(cx, int64_t, t->sides->n + 1);
    s->bound = side_bound(t, true) + side_bound(t, false);
    for (int alone = -1; alone < 2 && !best; alone++) {
        axe_mark m = axe_ctx_mark(cx);
        s->best = NULL;
        s->tries = 0;
        s->most = (int)(WORK / work);
        s->most = s->most < LEAST_TRIES ? LEAST_TRIES : s->most;
        find_digits(s, alone);
        if (s->n < 0) {
            axe_ctx_release(cx, m);
            continue;
        }
        list_orders(s);
        try_all(s);
        if (s->best)
            best = spell(s, s->best, s->pad_at, s->pad, s->swizzle);
    }
    return best;
}
