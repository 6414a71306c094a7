/* shared.c - Triton's named layouts of shared memory, as layouts of ours.
 *
 *     nvmma_shared     what TMA and wgmma use: rows of swizzlingByteWidth
 * bytes, one under another, column blocks behind one another swizzled_shared
 * row-major, runs of `vec` elements moved by an xor with (row / perPhase) mod
 * maxPhase padded_shared    row-major, `pad` elements behind each `interval`
 *
 * Of two dimensions, padded ones of any number.  Source: triton,
 * TritonGPUAttrDefs.td and LinearLayoutConversions.cpp (their comments). */
#include <inttypes.h>
#include <string.h>

#include "convert/linear.h"
#include "convert/ops.h"

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

static bool
truth(const axe_json *v, const char *key)
{
    const axe_json *f = axe_json_get(v, key);

    return f && f->kind == AXE_JSON_BOOL && f->truth;
}

/* Dimensions, fastest first; the last is, where the field is missing. */
static axe_status
order_of(axe_ctx *cx, const axe_json *v, int rank, int *out)
{
    const axe_json *f = axe_json_get(v, "order");
    bool            seen[RANK] = {false};
    int             k = 0;

    for (int i = 0; i < rank; i++)
        out[i] = rank - 1 - i;
    if (!f)
        return AXE_OK;
    if (f->kind == AXE_JSON_LIST && f->n_child == rank)
        for (const axe_json *c = f->child; c; c = c->next)
            if (c->kind == AXE_JSON_INT && c->integer >= 0 &&
                c->integer < rank && !seen[c->integer]) {
                seen[c->integer] = true;
                out[k++] = (int)c->integer;
            }
    if (k == rank)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                    "layout: order must be a permutation of %d dimensions",
                    rank);
}

/* (rows, columns) in blocks of `width` columns, dim `fast` being the columns.
 */
static axe_status
blocks(axe_ctx *cx, axe_shape shape, int fast, int64_t width, axe_swizzle s,
       const axe_layout **out)
{
    int64_t  rows = shape.extent[!fast], cols = shape.extent[fast];
    axe_iter row = {rows, width, AXE_AXIS_M, AXE_UNIT_ONE};
    axe_iter far = {cols / width, width * rows, AXE_AXIS_M, AXE_UNIT_ONE};
    axe_iter near = {width, 1, AXE_AXIS_M, AXE_UNIT_ONE};
    axe_iter it[3] = {row, far, near};
    int      end[2] = {1, 3};

    if (fast == 0) {
        it[0] = far;
        it[1] = near;
        it[2] = row;
        end[0] = 2;
    }
    return axe_layout_make(cx,
                           &(axe_layout){.n_shard = 3,
                                         .shard = it,
                                         .n_dim = 2,
                                         .dim_end = end,
                                         .swizzle = s},
                           out);
}

static axe_status
nvmma(axe_ctx *cx, const axe_json *v, axe_shape shape, const axe_layout **out)
{
    int         fast = truth(v, "transposed") ? 0 : 1;
    int64_t     bytes, bits, width = shape.extent[fast];
    axe_swizzle s = {0};

    if (truth(v, "fp4Padded"))
        return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: fp4Padded: 8 bytes behind each 8 are none of "
                        "the tensor's");
    AXE_TRY(number(cx, v, "swizzlingByteWidth", -1, &bytes));
    AXE_TRY(number(cx, v, "elementBitWidth", -1, &bits));
    if (!power_of_two(bits) || bits > 64)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: elements of %" PRId64 " bits", bits);
    if (bytes > 0) {
        AXE_TRY(axe_swizzle_of_bytes(cx, (int)bytes, &s));
        AXE_TRY(axe_swizzle_recast(cx, s, (int)bits, &s));
        width = 8 * bytes / bits;
    }
    if (width < 1 || shape.extent[fast] % width != 0 ||
        shape.extent[!fast] % 8 != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: %" PRId64 " by %" PRId64
                        " elements are no tiles of 8 rows by %" PRId64,
                        shape.extent[!fast], shape.extent[fast], width);
    return blocks(cx, shape, fast, width, s, out);
}

static axe_status
swizzled(axe_ctx *cx, const axe_json *v, axe_shape shape,
         const axe_layout **out)
{
    int64_t     vec, per, most, cols;
    int         order[RANK];
    axe_swizzle s = {0};

    AXE_TRY(order_of(cx, v, shape.n, order));
    AXE_TRY(number(cx, v, "vec", -1, &vec));
    AXE_TRY(number(cx, v, "perPhase", -1, &per));
    AXE_TRY(number(cx, v, "maxPhase", -1, &most));
    cols = shape.extent[order[0]];
    if (!power_of_two(vec) || !power_of_two(per) || !power_of_two(most) ||
        (most > 1 && (!power_of_two(cols) || vec > cols / most)))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: %" PRId64 " phases of %" PRId64
                        " elements in rows of %" PRId64
                        " are no swizzle: powers of two that fit are needed",
                        most, vec, cols);
    if (most > 1)
        s = (axe_swizzle){log2_of(most), log2_of(vec),
                          log2_of(cols) + log2_of(per) - log2_of(vec), 0};
    return blocks(cx, shape, order[0], cols, s, out);
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

/* The place before padding of each bit of each dimension. */
typedef struct weights {
    int64_t of[RANK][41];
    int     bits[RANK];
} weights;

/* Dimensions in an order, the first one fastest. */
static axe_status
weigh_by_order(axe_ctx *cx, const axe_json *v, int rank, weights *w)
{
    int     order[RANK];
    int64_t done = 1;

    AXE_TRY(order_of(cx, v, rank, order));
    for (int i = 0; i < rank; i++)
        for (int b = 0; b < w->bits[order[i]]; b++, done *= 2)
            w->of[order[i]][b] = done;
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
        left += w->bits[k];
    for (const axe_json *c = bases->child; c; c = c->next, left--, place *= 2) {
        if (left == 0 || !bit_of(c, rank, w, &dim, &bit) || w->of[dim][bit])
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

static axe_status
padded(axe_ctx *cx, const axe_json *v, axe_shape shape, const axe_layout **out)
{
    const axe_json *bases = axe_json_get(v, "offset");
    int64_t         pair[RANK][2], size = 1;
    weights        *w = axe_new(cx, weights);
    int             n_pair, end[RANK], n = 0;
    axe_iter        it[64];

    AXE_TRY(intervals(cx, v, &n_pair, pair));
    for (int k = 0; k < shape.n; k++) {
        if (!power_of_two(shape.extent[k]) ||
            !axe_mul(size, shape.extent[k], &size) || size >> 40)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: padding runs over powers of two, up to "
                            "2^40 elements");
        w->bits[k] = log2_of(shape.extent[k]);
    }
    if (bases && bases->kind == AXE_JSON_LIST)
        AXE_TRY(weigh_by_bases(cx, bases, shape.n, w));
    else
        AXE_TRY(weigh_by_order(cx, v, shape.n, w));
    for (int k = 0; k < shape.n; end[k++] = n)
        for (int b = w->bits[k] - 1; b >= 0; b--) {
            int64_t step = w->of[k][b];

            for (int i = 0; i < n_pair; i++)
                step += w->of[k][b] / pair[i][0] * pair[i][1];
            it[n++] = (axe_iter){2, step, AXE_AXIS_M, AXE_UNIT_ONE};
        }
    AXE_TRY(axe_layout_make(
        cx,
        &(axe_layout){
            .n_shard = n, .shard = it, .n_dim = shape.n, .dim_end = end},
        out));
    return axe_layout_canon(cx, *out, out);
}

/* One CTA has all: what a CTA has of a tensor over several is not said here. */
static axe_status
one_cta(axe_ctx *cx, const axe_json *v)
{
    static const char *const keys[] = {"CTAsPerCGA", "CTASplitNum",
                                       "CGALayout"};
    const axe_json          *f;

    for (int i = 0; i < AXE_LEN(keys); i++)
        for (f = axe_json_get(v, keys[i]), f = f ? f->child : NULL; f;
             f = f->next)
            if (f->kind != AXE_JSON_INT || f->integer != 1)
                return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                                "layout: shared memory of several CTAs (%s); "
                                "give the layout and the shape of one",
                                keys[i]);
    return AXE_OK;
}

axe_status
axe_shared_named(axe_ctx *cx, const axe_json *v, axe_shape shape,
                 const axe_layout **out)
{
    static const struct {
        const char *kind;
        axe_status (*make)(axe_ctx *cx, const axe_json *v, axe_shape shape,
                           const axe_layout **out);
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
        if (shape.n < 1 || shape.n > RANK || (i < 2 && shape.n != 2))
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: %s of %d dimensions", kind->text, shape.n);
        AXE_TRY(one_cta(cx, v));
        return kinds[i].make(cx, v, shape, out);
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
