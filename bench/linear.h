/* linear.h - how many shuffles and shared-memory transactions the method of
 * linear layouts takes for a conversion, counted from its description.
 *
 * Source: "Linear Layouts: Robust Code Generation of Efficient Tensor
 * Computation Using F2" (arXiv 2505.23819), sections on warp shuffles and on
 * optimal swizzling.  A layout is given by its bases: the bit of the element
 * that each bit of the register, lane and warp number stands for, 0: none,
 * which is a broadcast.  Where the text leaves a choice, the best one counts,
 * so that what is compared with it has no easy game. */
#ifndef LINEAR_H
#define LINEAR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "move/banks.h"

enum { LINEAR_BITS = 16, LINEAR_LANES = 5 };

typedef struct linear {
    int      n;      /* bits of the element */
    int      n_reg;  /* none of them 0 */
    int      n_warp; /* bases may be 0 */
    uint32_t reg[LINEAR_BITS], lane[LINEAR_LANES], warp[LINEAR_BITS];
} linear;

static inline bool
linear_has(int n, const uint32_t *base, uint32_t b)
{
    for (int i = 0; i < n; i++)
        if (base[i] == b)
            return true;
    return false;
}

/* Registers that both have, in a's order, at most `most`. */
static inline int
linear_common(const linear *a, const linear *b, int most, uint32_t *v)
{
    int n = 0;

    for (int i = 0; i < a->n_reg && n < most; i++)
        if (linear_has(b->n_reg, b->reg, a->reg[i]))
            v[n++] = a->reg[i];
    return n;
}

static inline int
linear_log2(int n)
{
    int k = 0;

    while (n > 1 << k)
        k++;
    return k;
}

/* Elements of each warp are the same in both. */
static inline bool
linear_same_warps(const linear *a, const linear *b)
{
    return a->n_warp == b->n_warp &&
           memcmp(a->warp, b->warp, (size_t)a->n_warp * sizeof *a->warp) == 0;
}

/* Shuffles of one warp for elements of so many bits.  Words are as many of the
 * common registers as 32 bits hold; every word of every lane moves in a round,
 * but for those that stay where registers and lanes change places alone. */
static inline int
linear_shuffles(const linear *a, const linear *b, int bits)
{
    uint32_t v[LINEAR_BITS];
    int      pack = bits < 32 ? linear_log2(32 / bits) : 0;
    int      n_v = linear_common(a, b, pack, v), words, mixed = 0;
    bool     stay = true;

    if (memcmp(a->lane, b->lane, sizeof a->lane) == 0)
        return 0;
    words = 1 << (b->n_reg - n_v);
    for (int i = 0; i < LINEAR_LANES; i++) {
        if (b->lane[i] == a->lane[i])
            continue;
        if (b->lane[i] != 0 && linear_has(a->n_reg, a->reg, b->lane[i]))
            mixed++;
        else
            stay = false;
    }
    if (stay && mixed > 0 && mixed <= b->n_reg - n_v)
        words -= words >> mixed;
    return words * (bits > 32 ? bits / 32 : 1);
}

/* ----------------------------------------------------- by way of shared memory
 */

/* An order of the element's bits: vector, banks, segments. */
typedef struct linear_shared {
    int      n;
    uint32_t basis[LINEAR_BITS]; /* of offset bits, fastest first */
} linear_shared;

/* Appends the basis if it is none of a span already kept reduced in `rows`. */
static inline bool
linear_extend(uint32_t *rows, int *n, uint32_t b)
{
    for (int i = 0; i < *n; i++) {
        uint32_t top = rows[i];
        while (top & (top - 1))
            top &= top - 1;
        if (b & top)
            b ^= rows[i];
    }
    if (b == 0)
        return false;
    for (int i = 0; i < *n; i++) {
        uint32_t top = b;
        while (top & (top - 1))
            top &= top - 1;
        if (rows[i] & top)
            rows[i] ^= b;
    }
    rows[(*n)++] = b;
    return true;
}

/* Lanes of one phase that are no part of the vector. */
static inline int
linear_tile(const linear *l, int n_v, const uint32_t *v, int bits,
            uint32_t *out)
{
    int wide = linear_log2((bits << n_v) / 32 > 1 ? (bits << n_v) / 32 : 1);
    int n = 0;

    for (int i = 0; i < LINEAR_LANES - wide; i++)
        if (l->lane[i] != 0 && !linear_has(n_v, v, l->lane[i]))
            out[n++] = l->lane[i];
    return n;
}

/* Segments: bits that no lane of either has, then sums of a lane of one and a
 * lane of the other, then lanes of both sides, which conflict. */
static inline int
linear_segments(int n, int n_v, const uint32_t *v, int n_a, const uint32_t *a,
                int n_b, const uint32_t *b, int want, uint32_t *out)
{
    uint32_t only_a[LINEAR_BITS], only_b[LINEAR_BITS];
    int      k = 0, na = 0, nb = 0, pairs;

    for (int i = 0; i < n && k < want; i++) {
        uint32_t x = UINT32_C(1) << i;
        if (!linear_has(n_v, v, x) && !linear_has(n_a, a, x) &&
            !linear_has(n_b, b, x))
            out[k++] = x;
    }
    for (int i = 0; i < n_a; i++)
        if (!linear_has(n_b, b, a[i]))
            only_a[na++] = a[i];
    for (int i = 0; i < n_b; i++)
        if (!linear_has(n_a, a, b[i]))
            only_b[nb++] = b[i];
    pairs = na < nb ? na : nb;
    for (int i = 0; i < pairs && k < want; i++)
        out[k++] = only_a[i] ^ only_b[i];
    for (int i = 0; i < n_a && k < want; i++)
        out[k++] = a[i];
    for (int i = 0; i < n_b && k < want; i++)
        out[k++] = b[i];
    return k;
}

static inline linear_shared
linear_swizzle(const linear *a, const linear *b, int bits, int n_v,
               const uint32_t *v)
{
    linear_shared s = {0};
    uint32_t      tile_a[LINEAR_LANES], tile_b[LINEAR_LANES], seg[LINEAR_BITS];
    uint32_t      rows[LINEAR_BITS], bank[LINEAR_BITS];
    int           n_a = linear_tile(a, n_v, v, bits, tile_a), n_rows = 0;
    int           n_b = linear_tile(b, n_v, v, bits, tile_b), n_bank = 0;
    int           banks = linear_log2(1024 / (bits << n_v)), n_seg, n_kept = 0;

    banks = banks > a->n - n_v ? a->n - n_v : banks;
    n_seg = linear_segments(a->n, n_v, v, n_a, tile_a, n_b, tile_b,
                            a->n - n_v - banks, seg);
    for (int i = 0; i < n_v; i++)
        (void)linear_extend(rows, &n_rows, v[i]);
    for (int i = 0; i < n_seg; i++)
        if (linear_extend(rows, &n_rows, seg[i]))
            seg[n_kept++] = seg[i];
    for (int i = 0; i < a->n; i++)
        if (linear_extend(rows, &n_rows, UINT32_C(1) << i))
            bank[n_bank++] = UINT32_C(1) << i;
    for (int i = 0; i < n_v; i++)
        s.basis[s.n++] = v[i];
    for (int i = 0; i < n_bank; i++)
        s.basis[s.n++] = bank[i];
    for (int i = 0; i < n_kept; i++)
        s.basis[s.n++] = seg[i];
    return s;
}

/* Offsets of all elements: the basis inverted by listing it. */
static inline void
linear_offsets(const linear_shared *s, int32_t *at)
{
    for (uint32_t o = 0; o < UINT32_C(1) << s->n; o++) {
        uint32_t e = 0;
        for (int i = 0; i < s->n; i++)
            e ^= o >> i & 1 ? s->basis[i] : 0;
        at[e] = (int32_t)o;
    }
}

/* The element at a place of the layout. */
static inline uint32_t
linear_at(const linear *l, int reg, int lane, int warp)
{
    uint32_t e = 0;

    for (int i = 0; i < l->n_reg; i++)
        e ^= reg >> i & 1 ? l->reg[i] : 0;
    for (int i = 0; i < LINEAR_LANES; i++)
        e ^= lane >> i & 1 ? l->lane[i] : 0;
    for (int i = 0; i < l->n_warp; i++)
        e ^= warp >> i & 1 ? l->warp[i] : 0;
    return e;
}

/* Transactions of all warps of one side, and instructions.  Registers whose
 * elements are neighbours go together; lanes and warps that have what others
 * have do not store, and all load. */
static inline int64_t
linear_side(const axe_simt *mc, const linear *l, const int32_t *at, int n_v,
            const uint32_t *v, int bits, bool store, int64_t *instructions)
{
    int64_t sum = 0, place[32];
    int     n = 0, vec[LINEAR_BITS], bytes;

    for (int i = 0; i < n_v; i++)
        for (int k = 0; k < l->n_reg; k++)
            if (l->reg[k] == v[i] && n == i)
                vec[n++] = k;
    while ((bits << n) > 128)
        n--;
    bytes = bits / 8 << n;
    for (int w = 0; w < 1 << l->n_warp; w++) {
        bool idle = false;
        for (int i = 0; i < l->n_warp; i++)
            idle = idle || (store && w >> i & 1 && l->warp[i] == 0);
        for (int r = 0; r < 1 << l->n_reg && !idle; r++) {
            bool first = true;
            int  phase = bytes < 128 ? 128 / bytes : 1;
            for (int i = 0; i < n; i++)
                first = first && !(r >> vec[i] & 1);
            if (!first)
                continue;
            ++*instructions;
            for (int p = 0; p < 32; p += phase) {
                int k = 0;
                for (int t = p; t < p + phase && t < 32; t++) {
                    bool copy = false;
                    for (int i = 0; i < LINEAR_LANES; i++)
                        copy = copy || (store && t >> i & 1 && l->lane[i] == 0);
                    if (!copy)
                        place[k++] =
                            (int64_t)at[linear_at(l, r, t, w)] * (bits / 8);
                }
                if (k > 0)
                    sum += axe_banks_of(mc, k, place, bytes).cycles;
            }
        }
    }
    return sum;
}

/* Stores and loads together, by the best of: vectors of common registers alone;
 * filled up to a word, and then to 16 bytes, by registers of either side that
 * are lanes of the other. */
static inline int64_t
linear_transactions(const axe_simt *mc, const linear *a, const linear *b,
                    int bits, int32_t *at, int64_t *instructions)
{
    int64_t best = -1;

    for (int way = 0; way < 5; way++) {
        const linear *from = way == 0 ? NULL : way % 2 ? a : b;
        const linear *other = from == a ? b : a;
        uint32_t      v[LINEAR_BITS];
        int           n_v = linear_common(a, b, linear_log2(128 / bits), v);
        int64_t       n = 0, sum;
        for (int i = 0; from && i < from->n_reg; i++) {
            bool word = (bits << n_v) < 32;
            bool lane = linear_has(LINEAR_LANES, other->lane, from->reg[i]);
            if (!linear_has(n_v, v, from->reg[i]) && (bits << n_v) < 128 &&
                (word || (lane && way > 2)))
                v[n_v++] = from->reg[i];
        }
        linear_shared s = linear_swizzle(a, b, bits, n_v, v);
        linear_offsets(&s, at);
        sum = linear_side(mc, a, at, n_v, v, bits, true, &n) +
              linear_side(mc, b, at, n_v, v, bits, false, &n);
        if (best < 0 || sum < best) {
            best = sum;
            *instructions = n;
        }
    }
    return best;
}

#endif
