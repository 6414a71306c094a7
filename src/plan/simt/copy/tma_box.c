/* tma_box.c - see tma_box.h.
 *
 * A digit is one iter of one index: it walks the tile by `stride` and the
 * tensor's dimension by `weight`.  Ordered by stride they are the tile as it
 * lies; the box takes digits from the fast end while the tile has no gap and
 * each dimension comes in one piece. */
#include "plan/simt/copy/tma_box.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct digit {
    int64_t extent, stride, weight;
    int     dim;
} digit;

typedef struct search {
    axe_ctx            *cx;
    const axe_box_copy *c;
    int                 n_digit;
    digit               digit[AXE_BOX_LOOPS];
    axe_box            *box;
    int                 n_full; /* dims of the box that are walked */
    int64_t             size;   /* elements of the box so far */
    const char         *why;
} search;

static int
type_bits(const search *s)
{
    return axe_type_table[s->c->tensor->type].bits;
}

static int64_t
bytes_of(const search *s, int64_t n)
{
    return axe_type_bytes(s->c->tensor->type, n);
}

static const char *
type_name(const search *s)
{
    return axe_type_table[s->c->tensor->type].name;
}

static axe_answer
refuse(search *s, const char *why)
{
    s->why = why;
    return AXE_NO;
}

static int
by_stride(const void *x, const void *y)
{
    const digit *a = x, *b = y;

    if (a->stride != b->stride)
        return a->stride < b->stride ? -1 : 1;
    return a->dim - b->dim;
}

static axe_answer
add_walk(search *s, const axe_box_walk *w)
{
    int64_t weight = 1;

    for (int i = w->n_iter - 1; i >= 0; i--) {
        const axe_iter *it = &w->iter[i];
        if (it->extent == 1)
            continue;
        if (it->axis != AXE_AXIS_M || it->unit != AXE_UNIT_ONE ||
            it->stride <= 0)
            return refuse(s, "elements of the tile share a place, or lie in no "
                             "memory");
        if (s->n_digit == AXE_BOX_LOOPS)
            return refuse(s, "the tile's layout has too many iters");
        s->digit[s->n_digit++] =
            (digit){it->extent, it->stride, weight, w->dim};
        if (!axe_mul(weight, it->extent, &weight))
            return refuse(s, "the tile is too large");
    }
    return AXE_YES;
}

static axe_answer
list_digits(search *s)
{
    unsigned seen = 0;

    for (int i = 0; i < s->c->n_walk; i++) {
        unsigned bit = 1u << s->c->walk[i].dim;
        if (seen & bit)
            return refuse(s, "two indices walk one dimension of the tensor");
        seen |= bit;
        if (add_walk(s, &s->c->walk[i]) == AXE_NO)
            return AXE_NO;
    }
    qsort(s->digit, (size_t)s->n_digit, sizeof s->digit[0], by_stride);
    return AXE_YES;
}

/* Bytes of a row of the swizzle that copies know; 0: none; -1: another. */
static int
swizzle_bytes(axe_swizzle z)
{
    if (z.bits == 0)
        return 0;
    if (z.base != 4 || z.shift != 3 || z.unit_bits != 8 || z.bits > 3)
        return -1;
    return 16 << z.bits;
}

/* Bytes after which the swizzle repeats. */
static int64_t
period(const axe_box *b)
{
    return b->swizzle == 0 ? 128 : 8 * (int64_t)b->swizzle;
}

static int64_t
largest_divisor(int64_t n, int64_t most)
{
    int64_t d = n < most ? n : most;

    while (d > 1 && n % d != 0)
        d--;
    return d;
}

/* How much more the box may take along its dimension number `k`. */
static int64_t
room(const search *s, int k)
{
    int64_t most = AXE_BOX_EXTENT;

    if (k == 0 && s->box->swizzle > 0)
        most = s->box->swizzle * 8 / type_bits(s);
    return k < s->n_full ? most / s->box->extent[k] : most;
}

/* The number that the digit's dimension has, or would get, in the box; -1 if
 * the box cannot go on with it. */
static int
place(const search *s, const digit *d)
{
    int last = s->n_full - 1;

    if (d->stride != s->size)
        return -1;
    if (last >= 0 && s->box->dim[last] == d->dim)
        return d->weight == s->box->extent[last] ? last : -1;
    for (int i = 0; i < last; i++)
        if (s->box->dim[i] == d->dim)
            return -1;
    return d->weight == 1 && s->n_full < AXE_BOX_RANK ? last + 1 : -1;
}

/* As much of the digit as the box can take; the rest is a loop. */
static void
take(search *s, digit d)
{
    axe_box *b = s->box;
    int      k = place(s, &d);
    int64_t  n = k < 0 ? 1 : largest_divisor(d.extent, room(s, k));

    if (n > 1) {
        b->extent[k] = (int)(k < s->n_full ? b->extent[k] * n : n);
        b->dim[k] = d.dim;
        s->n_full = k + 1;
        s->size *= n;
    }
    if (n < d.extent)
        b->loop[b->n_loop++] =
            (axe_box_loop){d.extent / n, d.stride * n, d.weight * n, d.dim};
}

/* The dimensions that no index walks come last. */
static void
add_rest(search *s)
{
    axe_box *b = s->box;

    b->rank = s->n_full;
    for (int d = s->c->tensor->rank - 1; d >= 0; d--) {
        bool is_in = false;
        for (int i = 0; i < s->n_full; i++)
            is_in = is_in || b->dim[i] == d;
        if (is_in)
            continue;
        b->dim[b->rank] = d;
        b->extent[b->rank++] = 1;
    }
}

/* --------------------------------------------------------------- the rules */

static axe_answer
check_inner(search *s)
{
    const axe_box    *b = s->box;
    const axe_stride *st = &s->c->tensor->stride[b->dim[0]];
    int64_t           bytes = bytes_of(s, b->extent[0]);

    if (s->n_full == 0 || st->coef != 1 || st->unit != AXE_UNIT_ONE)
        return refuse(s, "what is fast in the tile is not what is fast in the "
                         "tensor");
    if (bytes % 16 != 0)
        return refuse(s, axe_textf(s->cx,
                                   "rows of a box would be %d %s, no multiple "
                                   "of 16 bytes",
                                   b->extent[0], type_name(s)));
    if (b->swizzle > 0 && bytes != b->swizzle)
        return refuse(s, axe_textf(s->cx,
                                   "rows of a box would be %" PRId64
                                   " bytes under a swizzle of %d",
                                   bytes, b->swizzle));
    return AXE_YES;
}

static axe_answer
check_step(search *s, const axe_box_loop *l)
{
    int64_t step;

    if (!axe_mul(l->step, type_bits(s), &step))
        return refuse(s, "the tile is too large");
    step /= 8;
    if (step % period(s->box) != 0)
        return refuse(s, axe_textf(s->cx,
                                   "boxes would lie %" PRId64
                                   " bytes apart, no multiple of %" PRId64,
                                   step, period(s->box)));
    return AXE_YES;
}

/* "2*K", or "K/2" of elements of 4 bits. */
static const char *
stride_text(const search *s, const axe_stride *st)
{
    const char *unit = axe_unit_text(s->cx, st->unit);
    int         per = axe_type_per_byte(s->c->tensor->type);

    if (st->coef % per == 0)
        return axe_textf(s->cx, "%" PRId64 "*%s", bytes_of(s, st->coef), unit);
    if (st->coef == 1)
        return axe_textf(s->cx, "%s/%d", unit, per);
    return axe_textf(s->cx, "%" PRId64 "*%s/%d", st->coef, unit, per);
}

/* All strides but the first: whole multiples of 16 bytes, known or asked. */
static axe_answer
check_strides(search *s)
{
    const axe_tensor *t = s->c->tensor;
    axe_buf           say = {.cx = s->cx};

    for (int i = 1; i < s->box->rank; i++) {
        const axe_stride *st = &t->stride[s->box->dim[i]];
        int64_t           bits;
        if (!axe_mul(st->coef, type_bits(s), &bits) || bits < 0)
            return refuse(s, "a stride of the tensor is negative or too large");
        if (bits % (16 * 8) == 0)
            continue;
        if (st->unit == AXE_UNIT_ONE)
            return refuse(s, axe_textf(s->cx,
                                       "a stride of %s is %" PRId64
                                       " bytes, no multiple of 16",
                                       t->name, bits / 8));
        s->box->ask |= 1u << s->box->dim[i];
        axe_putf(&say, "%s%s", say.len > 0 ? ", " : "", stride_text(s, st));
    }
    if (s->box->ask == 0)
        return AXE_YES;
    s->why = axe_textf(s->cx, "strides of %s in bytes are multiples of 16: %s",
                       t->name, say.text);
    return AXE_UNKNOWN;
}

/* ---------------------------------------------------------------- the parts */

static axe_answer
cut_part(search *s)
{
    axe_box *b = s->box;
    int      last = s->n_full - 1;
    int64_t  n = s->c->share;

    b->part = (axe_box_loop){.extent = 1};
    if (n == 1)
        return AXE_YES;
    for (int i = b->n_loop - 1; i >= 0; i--) {
        axe_box_loop *l = &b->loop[i];
        if (l->extent % n != 0)
            continue;
        l->extent /= n;
        b->part =
            (axe_box_loop){n, l->extent * l->step, l->extent * l->move, l->dim};
        return AXE_YES;
    }
    if (last < 1 || b->extent[last] % n != 0)
        return refuse(s, axe_textf(s->cx,
                                   "no loop and no slow side of its boxes has "
                                   "a multiple of %" PRId64 " iterations",
                                   n));
    b->extent[last] /= (int)n;
    s->size /= n;
    b->part = (axe_box_loop){n, s->size, b->extent[last], b->dim[last]};
    return AXE_YES;
}

static axe_answer
check_all(search *s)
{
    const axe_box *b = s->box;

    if (check_inner(s) == AXE_NO || cut_part(s) == AXE_NO)
        return AXE_NO;
    for (int i = 0; i < b->n_loop; i++)
        if (check_step(s, &b->loop[i]) == AXE_NO)
            return AXE_NO;
    if (b->part.extent > 1 && check_step(s, &b->part) == AXE_NO)
        return AXE_NO;
    return check_strides(s);
}

static axe_answer
find(search *s)
{
    const axe_tensor *t = s->c->tensor;
    int               bits = axe_type_table[t->type].bits;

    if (t->rank < 1 || t->rank > AXE_BOX_RANK)
        return refuse(s, axe_textf(s->cx,
                                   "%s has %d dimensions; maps have 1 to %d",
                                   t->name, t->rank, (int)AXE_BOX_RANK));
    if (bits < s->c->least_bits)
        return refuse(
            s, axe_textf(s->cx, "maps have no elements of %d bits", bits));
    s->box->swizzle = swizzle_bytes(s->c->swizzle);
    if (s->box->swizzle < 0)
        return refuse(s, "the tile's swizzle is none of 32, 64 and 128 bytes");
    if (list_digits(s) == AXE_NO)
        return AXE_NO;
    for (int i = 0; i < s->n_digit; i++)
        take(s, s->digit[i]);
    add_rest(s);
    return check_all(s);
}

axe_answer
axe_box_find(axe_ctx *cx, const axe_box_copy *c, axe_box *out, const char **why)
{
    axe_box    box = {.part = {.extent = 1}};
    search     s = {.cx = cx, .c = c, .box = &box, .size = 1, .why = ""};
    axe_answer a = find(&s);

    *why = s.why;
    if (a == AXE_NO)
        return a;
    box.bytes = bytes_of(&s, s.size);
    *out = box;
    return a;
}
