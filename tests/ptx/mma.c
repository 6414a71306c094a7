/* mma.c - products of matrices in registers and shared memory.
 *
 * Fragments are those of the PTX ISA: with g = lane / 4 and t = lane % 4, words
 * of A go down 8 rows, then right by 4 words; words of B go right; sums are
 * pairs of columns, then 8 rows down, then 8 columns right.
 *
 * A matrix in shared memory is given by a descriptor: where it begins, two
 * steps, and a swizzle of W bytes.  With k the fast dimension rows are W bytes
 * (16 without a swizzle), 8 of them a block, blocks `stride` apart; chunks of
 * 16 bytes along k follow one another, or are `lead` apart without a swizzle.
 * With k slow the same with the roles changed: W bytes along the row, then
 * `lead`; 8 of k W bytes apart, then `stride`; without a swizzle chunks along
 * the row are `stride` apart, and 8 of k `lead`.  Sums of one instruction are
 * taken in double and rounded once. */
#include <stdlib.h>
#include <string.h>

#include "mma.h"

/* ------------------------------------------------------------- descriptors */

ptx_desc
ptx_describe(uint64_t bits, bool tensor_memory)
{
    static const int of_two[4] = {0, 128, 64, 32};
    static const int of_three[8] = {0, -1, 128, -1, 64, -1, 32, -1};
    ptx_desc         d = {
                .start = (uint32_t)(bits & 0x3fff) << 4,
                .lead = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                .base = (int)(bits >> 49 & 7),
    };

    d.swizzle = tensor_memory ? of_three[bits >> 61] : of_two[bits >> 62];
    d.version = (int)(bits >> 46 & 7);
    return d;
}

/* Where the 16 bytes with element (row, k) are; `per` elements in them. */
static uint32_t
chunk_at(const ptx_desc *d, bool k_slow, int row, int k, int per)
{
    uint32_t width = d->swizzle ? (uint32_t)d->swizzle : 16;
    uint32_t at = d->start, fast = (uint32_t)((k_slow ? row : k) / per);
    uint32_t slow = (uint32_t)(k_slow ? k : row), n = width / 16;

    if (!k_slow) {
        at += slow / 8 * d->stride + slow % 8 * width;
        at += d->swizzle ? fast * 16 : fast * d->lead;
    } else if (d->swizzle) {
        at += fast % n * 16 + fast / n * d->lead;
        at += slow % 8 * width + slow / 8 * d->stride;
    } else {
        at += fast * d->stride + slow % 8 * 16 + slow / 8 * d->lead;
    }
    return ptx_swizzle(at, d->swizzle);
}

/* Element number `at` of 16 bytes; of two in a byte the first is the low half.
 */
static uint64_t
take(const unsigned char *p, int at, int bits)
{
    uint64_t v = 0;

    memcpy(&v, p + at * bits / 8, (size_t)(bits + 7) / 8);
    return v >> at * bits % 8;
}

/* Rows first .. first + rows of a matrix in the CTA of `rank`, k columns. */
ptx_result
ptx_fetch(ptx_warp *w, const ptx_insn *i, int rank, const ptx_desc *d,
          bool k_slow, const ptx_type *t, int first, int rows, int k,
          double *out)
{
    int      per = 128 / t->bits;
    uint64_t in = (uint64_t)(rank + 1) << RANK_SHIFT;

    if (d->swizzle < 0 || d->base != 0)
        return ptx_wrong(w, i, "this descriptor is not known");
    if (!k_slow && d->swizzle &&
        d->start / 16 % (uint32_t)(d->swizzle / 16) + (uint32_t)(k / per) >
            (uint32_t)(d->swizzle / 16))
        return ptx_wrong(w, i, "a row of %d bytes is left behind at %#x",
                         d->swizzle, d->start);
    for (int s = 0; s < (k_slow ? k : rows); s++)
        for (int f = 0; f < (k_slow ? rows : k); f += per) {
            uint32_t at = chunk_at(d, k_slow, k_slow ? first + f : first + s,
                                   k_slow ? s : f, per);
            const unsigned char *p = ptx_shared(w, i, in | at, 16, 16, A_READ);
            if (!p)
                return PTX_WRONG;
            for (int e = 0; e < per; e++)
                out[k_slow ? (f + e) * k + s : s * k + f + e] =
                    ptx_number(t, take(p, e, t->bits));
        }
    return PTX_DONE;
}

/* c[m][n] = sum over k of a[m][k] b[n][k] */
void
ptx_product(int m, int n, int k, const double *a, const double *b, double *c)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int e = 0; e < k; e++)
                s += a[i * k + e] * b[j * k + e];
            c[i * n + j] = s;
        }
}

double *
ptx_room(int n)
{
    double *p = malloc((size_t)n * sizeof *p);

    if (!p)
        abort();
    return p;
}

/* -------------------------------------------------------------- fragments */

/* Element v of a lane's list of registers of type t. */
static uint64_t
piece(const ptx_warp *w, const ptx_arg *a, const ptx_type *t, int lane, int v)
{
    int per = a->op[0].bits / t->bits;

    return ptx_get(w, &a->op[v / per], lane) >> v % per * t->bits;
}

/* m x k of a (rows of words), or n x k of b. */
static void
from_words(const ptx_warp *w, const ptx_arg *a, const ptx_type *t, int rows,
           int k, double *out)
{
    int per = t->bits == 64 ? 1 : 32 / t->bits;
    int high = rows >= 16 ? 2 : 1;

    for (int l = 0; l < N_LANE; l++)
        for (int v = 0; v < rows * k / N_LANE; v++) {
            int word = v / per;
            int row = l / 4 + word % high * 8;
            int column = l % 4 * per + v % per + word / high * 4 * per;
            out[row * k + column] = ptx_number(t, piece(w, a, t, l, v));
        }
}

static void
place_of_sum(int l, int v, int rows, int *row, int *column)
{
    int high = rows >= 16 ? 2 : 1;

    *row = l / 4 + v / 2 % high * 8;
    *column = l % 4 * 2 + v % 2 + v / (2 * high) * 8;
}

static uint64_t
plus(const ptx_type *t, uint64_t old, double v)
{
    if (t->kind == 's')
        return (uint64_t)((int64_t)(int32_t)old + (int64_t)v) & 0xffffffff;
    return ptx_bits(t, ptx_number(t, old) + v);
}

/* d = c + sums; d and c as lists of registers of rows x n. */
static void
to_words(ptx_warp *w, const ptx_arg *d, const ptx_arg *c, const ptx_type *t,
         int rows, int n, const double *sum)
{
    int per = d->op[0].bits / t->bits;

    for (int l = 0; l < N_LANE; l++)
        for (int r = 0; r < d->n; r++) {
            uint64_t word = 0;
            for (int e = 0; e < per; e++) {
                int      v = r * per + e, row, column;
                uint64_t old = c ? piece(w, c, t, l, v) : 0;
                place_of_sum(l, v, rows, &row, &column);
                word |= plus(t, old, sum[row * n + column]) << e * t->bits;
            }
            ptx_put(w, &d->op[r], l, word);
        }
}

ptx_result
ptx_mma(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    double *a, *b, *c;

    (void)lanes;
    if (i->n_type != 4 || i->n_arg != 4 || i->m == 0)
        return ptx_wrong(w, i, "this form is not known");
    a = ptx_room(i->m * i->k);
    b = ptx_room(i->n * i->k);
    c = ptx_room(i->m * i->n);
    from_words(w, &i->arg[1], i->type[1], i->m, i->k, a);
    from_words(w, &i->arg[2], i->type[2], i->n, i->k, b);
    ptx_product(i->m, i->n, i->k, a, b, c);
    to_words(w, &i->arg[0], &i->arg[3], i->type[0], i->m, i->n, c);
    free(a);
    free(b);
    free(c);
    return PTX_DONE;
}

/* ------------------------------------------------------------------- wgmma */

/* a: descriptors, whether the sums count, whether k is slow in a and b.  Warp
 * w of its group has rows 16 (w % 4) and on. */
static ptx_result
wgmma_now(ptx_job *j)
{
    const ptx_insn *i = j->insn;
    ptx_warp       *w = j->warp;
    int             rank = w->cta->rank, row = w->id % 4 * 16;
    bool            in_registers = i->arg[1].n > 1;
    ptx_desc        da = ptx_describe(j->a[0], false);
    ptx_desc        db = ptx_describe(j->a[1], false);
    double         *a = ptx_room(16 * i->k), *b = ptx_room(i->n * i->k);
    double         *c = ptx_room(16 * i->n);
    ptx_result      r = PTX_DONE;

    if (in_registers)
        from_words(w, &i->arg[1], i->type[1], 16, i->k, a);
    else
        r = ptx_fetch(w, i, rank, &da, j->a[3] != 0, i->type[1], row, 16, i->k,
                      a);
    if (r == PTX_DONE)
        r = ptx_fetch(w, i, rank, &db, j->a[4] != 0, i->type[2], 0, i->n, i->k,
                      b);
    if (r == PTX_DONE) {
        ptx_product(16, i->n, i->k, a, b, c);
        to_words(w, &i->arg[0], j->a[2] ? &i->arg[0] : NULL, i->type[0], 16,
                 i->n, c);
    }
    free(a);
    free(b);
    free(c);
    return r;
}

/* All warps of a group issue the same, with the same descriptors. */
static ptx_result
check_group(ptx_warp *w, const ptx_insn *i, ptx_job *j)
{
    ptx_seen *s = &w->cta->seen[w->id / 4][w->n_wgmma % N_WGMMA_SEEN];
    ptx_seen  own = {w->n_wgmma++, i, i->arg[1].n > 1 ? 0 : j->a[0], j->a[1]};

    j->number = own.number;
    if (s->number != own.number)
        *s = own;
    else if (s->insn != i || s->a != own.a || s->b != own.b)
        return ptx_wrong(w, i, "warps of a group multiply different things");
    return PTX_DONE;
}

/* A number at the end; those of integers have none. */
static uint64_t
number_of(const ptx_warp *w, const ptx_insn *i, int arg, uint64_t none)
{
    return arg < i->n_arg ? ptx_get(w, i->arg[arg].op, 0) : none;
}

ptx_result
ptx_wgmma(ptx_warp *w, const ptx_insn *i, uint32_t lanes)
{
    ptx_job *j;
    bool     in_registers = i->arg[1].n > 1;
    uint64_t scale;

    if (i->n_type != 3 || i->n_arg < 4 || i->m != 64 ||
        i->arg[0].n * i->arg[0].op[0].bits != i->n / 2 * i->type[0]->bits ||
        w->cta->n_warp / 4 <= w->id / 4)
        return ptx_wrong(w, i, "this form is not known");
    j = ptx_job_new(w, i, lanes, J_WGMMA, 0);
    j->run = wgmma_now;
    if ((!in_registers &&
         ptx_same(w, i, i->arg[1].op, lanes, &j->a[0]) != PTX_DONE) ||
        ptx_same(w, i, i->arg[2].op, lanes, &j->a[1]) != PTX_DONE ||
        ptx_same(w, i, i->arg[3].op, lanes, &scale) != PTX_DONE ||
        check_group(w, i, j) != PTX_DONE)
        return PTX_WRONG;
    if (number_of(w, i, 4, 1) != 1 || number_of(w, i, 5, 1) != 1)
        return ptx_wrong(w, i, "factors that are negated are not known");
    j->a[2] = scale & 1;
    j->a[3] = in_registers ? 0 : number_of(w, i, 6, 0);
    j->a[4] = number_of(w, i, in_registers ? 6 : 7, 0);
    if ((j->a[3] || j->a[4]) && i->type[1]->bits != 16)
        return ptx_wrong(w, i, "only factors of 16 bits are transposed");
    return ptx_issue(j);
}
