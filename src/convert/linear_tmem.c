/* linear_tmem.c - Triton's layouts of tensor memory: 128 lanes, its rows, by
 * columns of elements.
 *
 * Where the tensor has nothing for a row or a column, Triton's basis is 0, as
 * it is for copies; here such bits are told apart, since nothing is there.
 * Source: triton, LinearLayoutConversions.cpp (its comments), and the PTX ISA,
 * data path layouts of tcgen05. */
#include <inttypes.h>

#include "convert/linear_maker.h"

enum { ROW, COL, BLOCK, N_IN };
enum { COPY = -1, NOTHING = -2 };

/* A bit of an input: which bit of which dimension it is, or one of the above.
 */
typedef struct bit {
    int dim, bit;
} bit;

typedef struct bits {
    axe_ctas ctas;
    int      have[2]; /* bits of a CTA's share of each dimension */
    int      n[N_IN];
    bit      of[N_IN][AXE_LINEAR_BITS];
} bits;

/* Bits [from, to) of a dimension, those beyond the CTA's share being nothing;
 * or to - from copies, or places of nothing. */
static void
put(bits *b, int in, int dim, int from, int to)
{
    for (int k = from; k < to && b->n[in] < AXE_LINEAR_BITS; k++)
        b->of[in][b->n[in]++] =
            (bit){dim >= 0 && k >= b->have[dim] ? NOTHING : dim, k};
}

static axe_status
begin(axe_maker *m, const axe_json *v, bits *b)
{
    *b = (bits){.n = {0}};
    if (m->rank != 2)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: tensor memory of %d dimensions; it has rows "
                        "and columns",
                        m->rank);
    AXE_TRY(axe_ctas_read(m->cx, v, (axe_shape){2, m->shape}, -1, &b->ctas));
    for (int k = 0; k < 2; k++)
        b->have[k] = axe_log2_up(b->ctas.share[k]);
    return AXE_OK;
}

/* The CTAs' bits above those of their shares; then all as a linear layout. */
static axe_status
finish(axe_maker *m, bits *b)
{
    static const char *const in[] = {"row", "col", "block"};
    int                      high[2] = {b->have[0], b->have[1]}, n = 0;

    for (int i = 0; i < b->ctas.n; i++) {
        int k = b->ctas.dim[i];

        b->of[BLOCK][b->n[BLOCK]++] = (bit){k, k < 0 ? 0 : high[k]++};
    }
    m->l = (axe_linear){.n_in = N_IN, .n_out = 2};
    for (int k = 0; k < 2; k++) {
        m->l.out[k] = axe_textf(m->cx, "dim%d", k);
        m->l.out_bits[k] = high[k];
    }
    if (b->n[ROW] + b->n[COL] + b->n[BLOCK] > AXE_LINEAR_BITS)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ELIMIT, "linear: over 60 bits");
    for (int d = 0; d < N_IN; d++) {
        m->l.in[d] = in[d];
        m->l.in_bits[d] = b->n[d];
        for (int i = 0; i < b->n[d]; i++, n++) {
            bit x = b->of[d][i];

            if (x.dim >= 0)
                m->l.basis[n] = (uint64_t)1
                                << (axe_linear_out_at(&m->l, x.dim) + x.bit);
            else if (x.dim == NOTHING)
                m->l.nothing[d] |= (uint64_t)1 << i;
        }
    }
    return AXE_OK;
}

/* What a block is. */
typedef struct block {
    int64_t rows, cols, apart; /* columns from one to the next */
    bool    pair;              /* two CTAs have one product */
} block;

static axe_status
read_block(axe_maker *m, const axe_json *v, const bits *t, block *b)
{
    const int64_t *share = t->ctas.share;
    int64_t        both[AXE_LINEAR_DIMS];

    AXE_TRY(axe_field_powers(m->cx, v, "block", 2, both));
    if (axe_json_get(v, "blockM"))
        AXE_TRY(axe_field_int(m->cx, v, "blockM", &both[0]));
    if (axe_json_get(v, "blockN"))
        AXE_TRY(axe_field_int(m->cx, v, "blockN", &both[1]));
    b->apart = 1;
    if (axe_json_get(v, "colStride"))
        AXE_TRY(axe_field_int(m->cx, v, "colStride", &b->apart));
    if (axe_field_truth(v, "fp4Padded"))
        b->apart *= 2;
    b->rows = both[0];
    b->cols = both[1] < share[1] ? both[1] : share[1];
    b->pair = axe_field_truth(v, "twoCTAs");
    if ((b->rows != 64 && b->rows != 128) || b->cols < 1 || b->apart < 1 ||
        (b->cols & (b->cols - 1)) || (b->apart & (b->apart - 1)))
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: a block of tensor memory has 64 or 128 rows, "
                        "and powers of two for columns and their stride");
    if (share[0] >= b->rows && (b->rows == 128 || !b->pair || b->cols > 1))
        return AXE_OK;
    return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                    "layout: a CTA's %" PRId64 " by %" PRId64
                    " elements are no blocks of %" PRId64
                    " rows of tensor memory",
                    share[0], share[1], b->rows);
}

/* 64 rows lie in 16 of each 32 lanes; the other 16 have what comes next, down
 * or to the right, or nothing.  Two CTAs with 64 rows each have the right half
 * of their columns in lanes 64 to 127. */
axe_status
axe_make_tensor_memory(axe_maker *m, const axe_json *v)
{
    int   done[2], cols;
    block b;
    bits  t;

    AXE_TRY(begin(m, v, &t));
    AXE_TRY(read_block(m, v, &t, &b));
    done[0] = axe_log2_up(b.rows);
    done[1] = cols = axe_log2_up(b.cols);
    put(&t, COL, NOTHING, 0, axe_log2_up(b.apart));
    if (b.rows == 128) {
        put(&t, ROW, 0, 0, 7);
    } else if (b.pair) {
        put(&t, ROW, 0, 0, 6);
        put(&t, ROW, 1, --cols, done[1]);
    } else {
        int more = t.have[0] > 6 ? 0 : t.have[1] > cols ? 1 : NOTHING;

        put(&t, ROW, 0, 0, 4);
        put(&t, ROW, more, more == 0 ? 6 : cols, (more == 0 ? 6 : cols) + 1);
        put(&t, ROW, 0, 4, 6);
        if (more >= 0)
            done[more]++;
    }
    put(&t, COL, 1, 0, cols);
    for (int k = 0; k < 2; k++)
        put(&t, COL, k, done[k], t.have[k]);
    return finish(m, &t);
}

/* 32 rows of the tensor, copied for the lanes of each warp; 4 columns, beside
 * them the next 32 rows, and so on. */
axe_status
axe_make_tensor_memory_scales(axe_maker *m, const axe_json *v)
{
    bits t;

    AXE_TRY(begin(m, v, &t));
    put(&t, ROW, 0, 0, 5);
    put(&t, ROW, COPY, 0, 2);
    put(&t, COL, 1, 0, 2);
    put(&t, COL, 0, 5, t.have[0] > 6 ? t.have[0] : 6);
    put(&t, COL, 1, 2, t.have[1]);
    return finish(m, &t);
}
