/* shared.c - Triton's named layouts of shared memory, as layouts of ours.
 *
 *     nvmma_shared     what TMA and wgmma use: rows of swizzlingByteWidth
 * bytes, one under another, column blocks behind one another; in boxes of at
 * most 256 by 256, as TMA copies them swizzled_shared  row-major, runs of `vec`
 * elements moved by an xor with (row / perPhase) mod maxPhase padded_shared
 * row-major, `pad` elements behind each `interval`
 *
 * nvmma_shared of two dimensions, the others of any number.  Of several CTAs
 * each has a share, in its own memory.  Source: triton, TritonGPUAttrDefs.td
 * and LinearLayoutConversions.cpp (their comments). */
#include <inttypes.h>
#include <string.h>

#include "convert/linear_maker.h"
#include "convert/ops.h"
#include "convert/text.h"

enum { RANK = 8 };

static bool
power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static int
log2_of(int64_t n)
{
    int k = 0;

    while (n >> k > 1)
        k++;
    return k;
}

/* An integer field from 0 to 2^20; `missing` if it is not there and not -1. */
static axe_status
number(axe_ctx *cx, const axe_json *v, const char *key, int64_t missing,
       int64_t *out)
{
    const axe_json *f = axe_json_get(v, key);

    *out = missing;
    if (!f && missing >= 0)
        return AXE_OK;
    if (!f || f->kind != AXE_JSON_INT || f->integer < 0 || f->integer > 1 << 20)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a number from 0 to 2^20", key);
    *out = f->integer;
    return AXE_OK;
}

/* A digit of the index, slow to fast, behind it[0..*n). */
static void
digit(axe_iter *it, int *n, int64_t extent, int64_t stride)
{
    it[(*n)++] = (axe_iter){extent, stride, AXE_AXIS_M, AXE_UNIT_ONE};
}

static axe_status
two_dims(axe_ctx *cx, int n_row, const axe_iter *row, int n_col,
         const axe_iter *col, int fast, axe_swizzle s, const axe_layout **out)
{
    axe_iter it[8];
    int      end[2] = {fast == 0 ? n_col : n_row, n_row + n_col};

    for (int i = 0; i < n_row; i++)
        it[i + (fast == 0 ? n_col : 0)] = row[i];
    for (int i = 0; i < n_col; i++)
        it[i + (fast == 0 ? 0 : n_row)] = col[i];
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = n_row + n_col,
                                         .shard = it,
                                         .n_dim = 2,
                                         .dim_end = end,
                                         .swizzle = s},
                           out);
}

/* Compact, dimensions in that order, the first one fastest. */
static axe_status
in_order(axe_ctx *cx, axe_shape shape, const int *order, axe_swizzle s,
         const axe_layout **out)
{
    axe_iter it[RANK];
    int      end[RANK];
    int64_t  step = 1;

    for (int i = 0; i < shape.n; i++) {
        int k = order[i];

        it[k] = (axe_iter){shape.extent[k], step, AXE_AXIS_M, AXE_UNIT_ONE};
        end[i] = i + 1;
        if (!axe_mul(step, shape.extent[k], &step))
            return axe_fail(cx, AXE_NOWHERE, AXE_EOVERFLOW,
                            "layout: the size of the shape leaves int64");
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = shape.n,
                                         .shard = it,
                                         .n_dim = shape.n,
                                         .dim_end = end,
                                         .swizzle = s},
                           out);
}

/* How an nvmma layout goes on from its tile: `width` columns, `pitch` places
 * from one row to the next; a box of rows, of columns, and what comes first of
 * the boxes behind them, in the order of the tensor's dimensions. */
typedef struct tile {
    int64_t width, pitch, rows, cols; /* of a box */
    bool    halves;                   /* 8 places, and 8 of nothing */
} tile;

static axe_status
boxes(axe_ctx *cx, axe_shape shape, int fast, const tile *t, axe_swizzle s,
      const axe_layout **out)
{
    int64_t  down = shape.extent[!fast] / t->rows;
    int64_t  right = shape.extent[fast] / t->cols;
    int64_t  box = t->rows * t->pitch;
    int64_t  below = fast == 0 ? box * right : box;
    int64_t  beside = fast == 0 ? box : box * down;
    axe_iter row[2], col[3];
    int      n_row = 0, n_col = 0;

    if (down > 1)
        digit(row, &n_row, down, below);
    digit(row, &n_row, t->rows, t->pitch);
    digit(col, &n_col, right, beside);
    if (t->halves)
        digit(col, &n_col, t->cols / 8, 16);
    digit(col, &n_col, t->halves ? 8 : t->cols, 1);
    return two_dims(cx, n_row, row, n_col, col, fast, s, out);
}

static int64_t
at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

static axe_status
nvmma(axe_ctx *cx, const axe_json *v, axe_shape shape, const axe_layout **out)
{
    enum { BOX = 256 };
    int         fast = axe_field_truth(v, "transposed") ? 0 : 1;
    bool        halves = axe_field_truth(v, "fp4Padded");
    int64_t     bytes, bits, rows = shape.extent[!fast], width;
    axe_swizzle s = {0};
    tile        t = {.halves = halves};

    AXE_TRY(number(cx, v, "swizzlingByteWidth", -1, &bytes));
    AXE_TRY(number(cx, v, "elementBitWidth", -1, &bits));
    if (!power_of_two(bits) || bits > 64)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: elements of %" PRId64 " bits", bits);
    if (halves && (bytes != 128 || bits != 8))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: fp4Padded is of bytes, with a swizzle of 128 "
                        "bytes");
    width = t.cols = at_most(shape.extent[fast], BOX);
    t.rows = at_most(rows, BOX);
    t.pitch = t.cols;
    if (bytes > 0) {
        AXE_TRY(axe_swizzle_of_bytes(cx, (int)bytes, &s));
        AXE_TRY(axe_swizzle_recast(cx, s, (int)bits, &s));
        t.pitch = 8 * bytes / bits;
        width = t.cols = halves ? t.pitch / 2 : t.pitch;
    }
    if (width < 1 || shape.extent[fast] % width != 0 || rows % 8 != 0 ||
        rows % t.rows != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: %" PRId64 " by %" PRId64
                        " elements are no tiles of %" PRId64
                        " rows by %" PRId64,
                        rows, shape.extent[fast], rows % 8 ? 8 : t.rows, width);
    return boxes(cx, shape, fast, &t, s, out);
}

/* Phases wrap around where a row has no more runs, and, of more than two
 * dimensions, end with the rows. */
static axe_status
swizzled(axe_ctx *cx, const axe_json *v, axe_shape shape,
         const axe_layout **out)
{
    int64_t     vec, per, most, cols, rows;
    int         order[RANK];
    axe_swizzle s = {0};

    axe_row_major(shape.n, order);
    AXE_TRY(axe_field_order(cx, v, "order", shape.n, order, order));
    AXE_TRY(number(cx, v, "vec", -1, &vec));
    AXE_TRY(number(cx, v, "perPhase", -1, &per));
    AXE_TRY(number(cx, v, "maxPhase", -1, &most));
    cols = shape.extent[order[0]];
    rows = shape.n == 1 ? 1 : shape.n == 2 ? INT64_MAX : shape.extent[order[1]];
    if (!power_of_two(vec) || !power_of_two(per) || !power_of_two(most) ||
        (most > 1 &&
         (!power_of_two(cols) || (shape.n > 2 && !power_of_two(rows)))))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: %" PRId64 " phases of %" PRId64
                        " elements in rows of %" PRId64
                        " are no swizzle: powers of two are needed",
                        most, vec, cols);
    while (most > 1 && (vec * most > cols || per * most > rows))
        most /= 2;
    if (most > 1)
        s = (axe_swizzle){log2_of(most), log2_of(vec),
                          log2_of(cols) + log2_of(per) - log2_of(vec), 0};
    return in_order(cx, shape, order, s, out);
}

/* The [interval, pad] pairs of a list. */
static axe_status
intervals(axe_ctx *cx, const axe_json *v, int *n, int64_t pair[RANK][2])
{
    const axe_json *f = axe_json_get(v, "intervalPaddingPairs");

    *n = 0;
    for (const axe_json *c = f && f->kind == AXE_JSON_LIST ? f->child : NULL; c;
         c = c->next) {
        const axe_json *a = c->kind == AXE_JSON_LIST ? c->child : NULL;
        const axe_json *b = a ? a->next : NULL;

        if (*n == RANK || !b || c->n_child != 2 || a->kind != AXE_JSON_INT ||
            b->kind != AXE_JSON_INT || !power_of_two(a->integer) ||
            b->integer < 0 || b->integer > 1 << 20)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "layout: intervalPaddingPairs are up to 8 "
                            "[interval, padding], intervals powers of two");
        pair[*n][0] = a->integer;
        pair[(*n)++][1] = b->integer;
    }
    if (*n > 0)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "layout: intervalPaddingPairs are missing");
}

/* The place before padding of each bit of each dimension, in one CTA; or which
 * bit of the CTA's number it is. */
typedef struct weights {
    int64_t of[RANK][41];
    int     cta[RANK][41]; /* the bit + 1; 0: it is in the CTA */
    int     bits[RANK];
    int     n_copy, copy[AXE_CTA_BITS]; /* bits of CTAs that have copies */
} weights;

/* Dimensions in an order, the first one fastest. */
static axe_status
weigh_by_order(axe_ctx *cx, const axe_json *v, int rank, weights *w)
{
    int     order[RANK];
    int64_t done = 1;

    axe_row_major(rank, order);
    AXE_TRY(axe_field_order(cx, v, "order", rank, order, order));
    for (int i = 0; i < rank; i++)
        for (int b = 0; b < w->bits[order[i]]; b++) {
            w->of[order[i]][b] = w->cta[order[i]][b] ? 0 : done;
            done *= w->cta[order[i]][b] ? 1 : 2;
        }
    return AXE_OK;
}

/* The bit of one dimension that a basis is; false: it is none of the tensor. */
static bool
bit_of(const axe_json *basis, int rank, const weights *w, int *dim, int *bit)
{
    int k = 0;

    *dim = -1;
    if (basis->kind != AXE_JSON_LIST || basis->n_child != rank)
        return false;
    for (const axe_json *c = basis->child; c; c = c->next, k++) {
        if (c->kind != AXE_JSON_INT || c->integer == 0)
            continue;
        if (*dim >= 0 || !power_of_two(c->integer))
            return false;
        *dim = k;
        *bit = log2_of(c->integer);
    }
    return *dim >= 0 && *bit < w->bits[*dim];
}

/* {"offset": [[0, 1], ..]}: the first places are those bits, each once. */
static axe_status
weigh_by_bases(axe_ctx *cx, const axe_json *bases, int rank, weights *w)
{
    int64_t place = 1;
    int     left = 0, dim, bit = 0;

    for (int k = 0; k < rank; k++)
        for (int b = 0; b < w->bits[k]; b++)
            left += w->cta[k][b] == 0;
    for (const axe_json *c = bases->child; c; c = c->next, left--, place *= 2) {
        if (left == 0 || !bit_of(c, rank, w, &dim, &bit) || w->of[dim][bit] ||
            w->cta[dim][bit])
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: padded bases that are not one bit of one "
                            "dimension each, each once");
        w->of[dim][bit] = place;
    }
    if (left == 0)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "layout: padded bases for %d bits of the shape are missing",
                    left);
}

static bool
is_zero(const axe_json *basis)
{
    bool zero = basis->kind == AXE_JSON_LIST;

    for (const axe_json *c = zero ? basis->child : NULL; c; c = c->next)
        zero = zero && c->kind == AXE_JSON_INT && c->integer == 0;
    return zero;
}

/* {"block": [[32, 0], ..]}: those bits, of the tensor, are of the CTAs. */
static axe_status
give_bits(axe_ctx *cx, const axe_json *bases, int rank, weights *w)
{
    int n = 0, dim, bit = 0;

    for (const axe_json *c = bases->child; c; c = c->next, n++) {
        if (n < AXE_CTA_BITS && is_zero(c) && c->n_child == rank) {
            w->copy[w->n_copy++] = n;
            continue;
        }
        if (n >= AXE_CTA_BITS || !bit_of(c, rank, w, &dim, &bit) ||
            w->cta[dim][bit])
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: bases of CTAs that are not one bit of one "
                            "dimension each, each once");
        w->cta[dim][bit] = n + 1;
    }
    return AXE_OK;
}

/* By shares of CTAs: the highest bits of a dimension, the last one first. */
static axe_status
give_shares(axe_ctx *cx, const axe_json *v, axe_shape shape, weights *w)
{
    int      next[RANK];
    axe_ctas c;

    AXE_TRY(axe_ctas_read(cx, v, shape, -1, &c));
    for (int k = 0; k < shape.n; k++)
        next[k] = log2_of(c.share[k]);
    for (int i = 0; i < c.n; i++)
        if (c.dim[i] < 0)
            w->copy[w->n_copy++] = i;
        else
            w->cta[c.dim[i]][next[c.dim[i]]++] = i + 1;
    return AXE_OK;
}

static axe_status
weigh(axe_ctx *cx, const axe_json *v, axe_shape shape, weights *w)
{
    const axe_json *bases = axe_json_get(v, "offset");
    const axe_json *block = axe_json_get(v, "block");

    if (block && block->kind == AXE_JSON_LIST)
        AXE_TRY(give_bits(cx, block, shape.n, w));
    else
        AXE_TRY(give_shares(cx, v, shape, w));
    return bases && bases->kind == AXE_JSON_LIST
               ? weigh_by_bases(cx, bases, shape.n, w)
               : weigh_by_order(cx, v, shape.n, w);
}

static axe_status
padded(axe_ctx *cx, const axe_json *v, axe_shape shape, const axe_layout **out)
{
    int64_t  pair[RANK][2], size = 1;
    weights *w = axe_new(cx, weights);
    int      n_pair, end[RANK], n = 0;
    axe_iter it[64], copy[AXE_CTA_BITS];
    axe_axis block;

    AXE_TRY(intervals(cx, v, &n_pair, pair));
    for (int k = 0; k < shape.n; k++) {
        if (!power_of_two(shape.extent[k]) ||
            !axe_mul(size, shape.extent[k], &size) || size >> 40)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: padding runs over powers of two, up to "
                            "2^40 elements");
        w->bits[k] = log2_of(shape.extent[k]);
    }
    AXE_TRY(weigh(cx, v, shape, w));
    AXE_TRY(axe_cv_axis(cx, "block", AXE_KIND_THREAD, &block));
    for (int k = 0; k < shape.n; end[k++] = n)
        for (int b = w->bits[k] - 1; b >= 0; b--) {
            int64_t step = w->of[k][b];
            int     cta = w->cta[k][b];

            for (int i = 0; i < n_pair; i++)
                step += w->of[k][b] / pair[i][0] * pair[i][1];
            it[n++] = (axe_iter){2, cta ? (int64_t)1 << (cta - 1) : step,
                                 cta ? block : AXE_AXIS_M, AXE_UNIT_ONE};
        }
    for (int i = 0; i < w->n_copy; i++)
        copy[i] = (axe_iter){2, (int64_t)1 << w->copy[i], block, AXE_UNIT_ONE};
    AXE_TRY(axe_layout_make(cx,
                            &(axe_layout){.n_shard = n,
                                          .shard = it,
                                          .n_dim = shape.n,
                                          .dim_end = end,
                                          .n_replica = w->n_copy,
                                          .replica = copy},
                            out));
    return axe_layout_canon(cx, *out, out);
}

/* One CTA's layout l, of its share, and above it the CTAs. */
static axe_status
with_ctas(axe_ctx *cx, const axe_ctas *c, const axe_layout *l,
          const axe_layout **out)
{
    axe_iter it[8 + AXE_CTA_BITS], copy[AXE_CTA_BITS];
    int      end[RANK], n = 0, n_copy = 0;
    axe_axis block;

    AXE_TRY(axe_cv_axis(cx, "block", AXE_KIND_THREAD, &block));
    for (int i = 0; i < c->n; i++)
        if (c->dim[i] < 0)
            copy[n_copy++] =
                (axe_iter){2, (int64_t)1 << i, block, AXE_UNIT_ONE};
    for (int k = 0, from = 0; k < l->n_dim;
         from = l->dim_end[k], end[k++] = n) {
        for (int i = c->n - 1; i >= 0; i--)
            if (c->dim[i] == k)
                it[n++] = (axe_iter){2, (int64_t)1 << i, block, AXE_UNIT_ONE};
        for (int i = from; i < l->dim_end[k]; i++)
            it[n++] = l->shard[i];
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = n,
                                         .shard = it,
                                         .n_dim = l->n_dim,
                                         .dim_end = end,
                                         .n_replica = n_copy,
                                         .replica = copy,
                                         .swizzle = l->swizzle},
                           out);
}

typedef axe_status named_fn(axe_ctx *cx, const axe_json *v, axe_shape shape,
                            const axe_layout **out);

static axe_status
of_ctas(axe_ctx *cx, const axe_json *v, axe_shape shape, named_fn *make,
        const axe_layout **out)
{
    axe_ctas c;

    AXE_TRY(axe_ctas_read(cx, v, shape, -1, &c));
    AXE_TRY(make(cx, v, (axe_shape){shape.n, c.share}, out));
    return c.n > 0 ? with_ctas(cx, &c, *out, out) : AXE_OK;
}

axe_status
axe_shared_named(axe_ctx *cx, const axe_json *v, axe_shape shape,
                 const axe_layout **out)
{
    static const struct {
        const char *kind;
        named_fn   *make;
    } kinds[] = {{"nvmma_shared", nvmma},
                 {"swizzled_shared", swizzled},
                 {"padded_shared", padded}};
    const axe_json *kind = axe_json_get(v, "kind");

    for (int k = 0; k < shape.n; k++)
        if (shape.extent[k] < 1)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: extents are at least 1");
    for (int i = 0; kind && i < AXE_LEN(kinds); i++) {
        if (kind->kind != AXE_JSON_TEXT ||
            strcmp(kind->text, kinds[i].kind) != 0)
            continue;
        if (shape.n < 1 || shape.n > RANK ||
            (kinds[i].make == nvmma && shape.n != 2))
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: %s of %d dimensions", kind->text, shape.n);
        if (kinds[i].make == padded)
            return padded(cx, v, shape, out);
        return of_ctas(cx, v, shape, kinds[i].make, out);
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "layout: the kind must be nvmma_shared, swizzled_shared or "
                    "padded_shared");
}

axe_status
axe_cop_shared(axe_job *j)
{
    axe_shape         shape;
    const axe_layout *l;

    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_shared_named(j->cx, axe_json_get(j->in, "layout"), shape, &l));
    return axe_job_reply_raw(j, l);
}
