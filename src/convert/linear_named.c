/* linear_named.c - Triton's named layouts as linear ones: blocked, slice, the
 * fragments of mma v2, v3 and of mfma, and their operands.
 *
 * All are made alike: what one CTA's threads hold, tile by tile, repeated over
 * registers or broadcast until it has the CTA's share of the tensor; then the
 * CTAs.  Source: triton, LinearLayoutConversions.cpp (its comments) and its
 * unit tests, which are our vectors. */
#include <inttypes.h>
#include <string.h>

#include "convert/linear.h"

static const char *const in_name[] = {"register", "lane", "warp", "block"};

/* A layout being made: dims in the order in which registers are repeated. */
typedef struct maker {
    axe_ctx   *cx;
    int        rank;
    int64_t    shape[AXE_LINEAR_DIMS];
    axe_linear l;
} maker;

static const char *
dim_name(axe_ctx *cx, int k)
{
    return axe_textf(cx, "dim%d", k);
}

static int
log2_of(int64_t n)
{
    int k = 0;

    while (k < 61 && (int64_t)1 << k < n)
        k++;
    return k;
}

/* The field as powers of two, one for each dimension; 1 where it is missing. */
static axe_status
field(maker *m, const axe_json *v, const char *key, int64_t *out)
{
    const axe_json *f = axe_json_get(v, key);
    int             k = 0;

    for (int i = 0; i < m->rank; i++)
        out[i] = 1;
    if (!f)
        return AXE_OK;
    if (f->kind != AXE_JSON_LIST || f->n_child < m->rank)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a list of %d numbers", key,
                        m->rank);
    for (const axe_json *c = f->child; c && k < m->rank; c = c->next, k++) {
        if (c->kind != AXE_JSON_INT || c->integer < 1 ||
            (c->integer & (c->integer - 1)) || c->integer > 1 << 20)
            return axe_fail(m->cx, AXE_NOWHERE, AXE_EARG,
                            "layout: %s has a number that is no power of two "
                            "up to 2^20",
                            key);
        out[k] = c->integer;
    }
    return AXE_OK;
}

/* A permutation of the dimensions; `fallback` where it is missing. */
static axe_status
order_of(maker *m, const axe_json *v, const char *key, const int *fallback,
         int *out)
{
    const axe_json *f = axe_json_get(v, key);
    bool            seen[AXE_LINEAR_DIMS] = {false};
    int             k = 0;

    for (int i = 0; i < m->rank; i++)
        out[i] = fallback[i];
    if (!f)
        return AXE_OK;
    if (f->kind == AXE_JSON_LIST && f->n_child == m->rank)
        for (const axe_json *c = f->child; c; c = c->next)
            if (c->kind == AXE_JSON_INT && c->integer >= 0 &&
                c->integer < m->rank && !seen[c->integer]) {
                seen[c->integer] = true;
                out[k++] = (int)c->integer;
            }
    if (k != m->rank)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a permutation of %d dimensions",
                        key, m->rank);
    return AXE_OK;
}

static axe_status
int_field(maker *m, const axe_json *v, const char *key, int64_t *out)
{
    const axe_json *f = axe_json_get(v, key);

    if (!f || f->kind != AXE_JSON_INT || f->integer < 0 || f->integer > 1 << 20)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a number", key);
    *out = f->integer;
    return AXE_OK;
}

/* Row-major: the last dimension first. */
static void
row_major(int rank, int *order)
{
    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
}

/* All inputs and outputs, of nothing yet. */
static void
start(maker *m, const int *order)
{
    m->l = (axe_linear){.n_in = 4, .n_out = m->rank};
    for (int i = 0; i < 4; i++)
        m->l.in[i] = in_name[i];
    for (int i = 0; i < m->rank; i++)
        m->l.out[i] = dim_name(m->cx, order[i]);
}

/* n more of an input along a dimension, or as copies. */
static axe_status
grow(maker *m, int64_t n, const char *in, int dim, bool copies)
{
    const char *name = dim_name(m->cx, dim);
    axe_linear  part = copies ? axe_linear_zeros(log2_of(n), in, name)
                              : axe_linear_identity(log2_of(n), in, name);

    return axe_linear_mul(m->cx, &m->l, &part, &m->l);
}

/* The dimension's place among the outputs. */
static int
place(const maker *m, int dim)
{
    for (int k = 0; k < m->l.n_out; k++)
        if (strcmp(m->l.out[k], dim_name(m->cx, dim)) == 0)
            return k;
    return 0;
}

/* Outputs as large as `want`: more registers, or copies of what is beyond. */
static axe_status
fit(maker *m, const int64_t *want, const int *order)
{
    for (int i = 0; i < m->rank; i++) {
        int64_t own = (int64_t)1 << m->l.out_bits[place(m, order[i])];

        if (own < want[order[i]])
            AXE_TRY(grow(m, want[order[i]] / own, "register", order[i], false));
    }
    for (int k = 0; k < m->rank; k++) {
        axe_linear cut = m->l;
        int        at = place(m, k), bits = log2_of(want[k]);

        cut.out_bits[at] = bits;
        for (int i = 0; i < axe_linear_in_at(&m->l, 4); i++) {
            uint64_t v = 0;

            for (int j = 0; j < m->rank; j++) {
                int64_t x = axe_linear_part(&m->l, m->l.basis[i], j);

                if (j == at && x >> bits)
                    x = 0;
                v |= (uint64_t)x << axe_linear_out_at(&cut, j);
            }
            cut.basis[i] = v;
        }
        m->l = cut;
    }
    return AXE_OK;
}

/* Dimensions in order 0, 1, ... */
static void
settle(maker *m)
{
    axe_linear l = m->l;

    for (int k = 0; k < m->rank; k++) {
        l.out[k] = dim_name(m->cx, k);
        l.out_bits[k] = m->l.out_bits[place(m, k)];
    }
    for (int i = 0; i < axe_linear_in_at(&l, 4); i++) {
        l.basis[i] = 0;
        for (int k = 0; k < m->rank; k++)
            l.basis[i] |=
                (uint64_t)axe_linear_part(&m->l, m->l.basis[i], place(m, k))
                << axe_linear_out_at(&l, k);
    }
    m->l = l;
}

/* The basis as the one dimension that it steps along, by `want` CTAs' shares;
 * -1: along none, so the CTA has a copy; -2: it is no such basis. */
static int
cta_step(const axe_json *basis, int rank, const int64_t *want)
{
    int dim = -1, k = 0;

    if (basis->kind != AXE_JSON_LIST || basis->n_child != rank)
        return -2;
    for (const axe_json *c = basis->child; c; c = c->next, k++) {
        if (c->kind != AXE_JSON_INT ||
            (c->integer != 0 && (dim >= 0 || c->integer != want[k])))
            return -2;
        dim = c->integer != 0 ? k : dim;
    }
    return dim;
}

/* The CTAs by bases, [[0, 1], [0, 0]]: of each dimension's shares the first,
 * the second, the fourth, .. */
static axe_status
over_bases(maker *m, const axe_json *bases, const int *order)
{
    int64_t share[AXE_LINEAR_DIMS], split[AXE_LINEAR_DIMS];

    for (int k = 0; k < m->rank; k++)
        split[k] = 1;
    for (const axe_json *c = bases->child; c; c = c->next) {
        int k = cta_step(c, m->rank, split);

        if (k < -1)
            return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: a basis of CGALayout is one more bit of "
                            "one dimension, or zeros");
        if (k >= 0)
            split[k] *= 2;
    }
    for (int k = 0; k < m->rank; k++)
        share[k] = split[k] < m->shape[k] ? m->shape[k] / split[k] : 1;
    AXE_TRY(fit(m, share, order));
    for (int k = 0; k < m->rank; k++)
        split[k] = 1;
    for (const axe_json *c = bases->child; c; c = c->next) {
        int  k = cta_step(c, m->rank, split);
        bool copies = k < 0 || split[k] >= m->shape[k];

        AXE_TRY(grow(m, 2, "block", k < 0 ? 0 : k, copies));
        if (k >= 0)
            split[k] *= 2;
    }
    settle(m);
    return AXE_OK;
}

/* What one CTA has, over the CTA's share of the shape; then the CTAs. */
static axe_status
over_ctas(maker *m, const axe_json *v, const int *order)
{
    const axe_json *bases = axe_json_get(v, "CGALayout");

    int64_t ctas[AXE_LINEAR_DIMS], split[AXE_LINEAR_DIMS];
    int64_t share[AXE_LINEAR_DIMS];
    int     own[AXE_LINEAR_DIMS];

    if (bases && bases->kind == AXE_JSON_LIST)
        return over_bases(m, bases, order);
    row_major(m->rank, own);
    AXE_TRY(field(m, v, "CTAsPerCGA", ctas));
    AXE_TRY(field(m, v, "CTASplitNum", split));
    AXE_TRY(order_of(m, v, "CTAOrder", own, own));
    for (int k = 0; k < m->rank; k++) {
        int64_t cut = split[k] < m->shape[k] ? split[k] : m->shape[k];

        if (split[k] > ctas[k])
            return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: dimension %d is split over %" PRId64
                            " of %" PRId64 " CTAs",
                            k, split[k], ctas[k]);
        share[k] = m->shape[k] / cut;
    }
    AXE_TRY(fit(m, share, order));
    for (int i = 0; i < m->rank; i++) {
        int     k = own[i];
        int64_t cut = split[k] < m->shape[k] ? split[k] : m->shape[k];

        AXE_TRY(grow(m, cut, "block", k, false));
        AXE_TRY(grow(m, ctas[k] / cut, "block", k, true));
    }
    settle(m);
    return AXE_OK;
}

/* n[] of an input in that order; along `skip` as copies. */
static axe_status
grow_all(maker *m, const int64_t *n, const char *in, const int *order, int skip)
{
    for (int i = 0; i < m->rank; i++)
        AXE_TRY(grow(m, n[order[i]], in, order[i], order[i] == skip));
    return AXE_OK;
}

static axe_status
blocked(maker *m, const axe_json *v)
{
    static const char *const keys[] = {"sizePerThread", "threadsPerWarp",
                                       "warpsPerCTA"};
    int64_t                  n[AXE_LINEAR_DIMS];
    int                      order[AXE_LINEAR_DIMS];

    row_major(m->rank, order);
    AXE_TRY(order_of(m, v, "order", order, order));
    start(m, order);
    for (int i = 0; i < 3; i++) {
        AXE_TRY(field(m, v, keys[i], n));
        AXE_TRY(grow_all(m, n, in_name[i], order, -1));
    }
    return over_ctas(m, v, order);
}

/* 8 rows of 4 lanes with `width` registers each; then rows, then columns. */
static axe_status
core(maker *m, int64_t rows, int64_t cols, int64_t width, int row, int col)
{
    AXE_TRY(grow(m, width, "register", col, false));
    AXE_TRY(grow(m, 4, "lane", col, false));
    AXE_TRY(grow(m, 8, "lane", row, false));
    AXE_TRY(grow(m, rows / 8, "register", row, false));
    return grow(m, cols / (width * 4), "register", col, false);
}

/* Warps run down the rows in v3, along the columns before: of operands, too. */
static axe_status
warps(maker *m, const axe_json *v, bool rows_first, int skip)
{
    int64_t n[AXE_LINEAR_DIMS];
    int     order[AXE_LINEAR_DIMS];

    row_major(m->rank, order);
    if (rows_first) {
        order[0] = m->rank - 2;
        order[1] = m->rank - 1;
    }
    AXE_TRY(field(m, v, "warpsPerCTA", n));
    return grow_all(m, n, "warp", order, skip);
}

static axe_status
nvidia_mma(maker *m, const axe_json *v)
{
    int64_t version, tile[AXE_LINEAR_DIMS];
    int     order[AXE_LINEAR_DIMS];

    AXE_TRY(int_field(m, v, "version", &version));
    if (version != 2 && version != 3)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: mma of version %" PRId64 "; there are 2 and 3",
                        version);
    AXE_TRY(field(m, v, "instrShape", tile));
    if (tile[version == 3 ? 0 : m->rank - 2] < 8 ||
        tile[version == 3 ? 1 : m->rank - 1] < 8)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: instrShape is at least 8 by 8");
    row_major(m->rank, order);
    start(m, order);
    AXE_TRY(core(m, tile[version == 3 ? 0 : m->rank - 2],
                 tile[version == 3 ? 1 : m->rank - 1], 2, m->rank - 2,
                 m->rank - 1));
    AXE_TRY(warps(m, v, version == 3, -1));
    return over_ctas(m, v, order);
}

/* Rows of an instruction, {"mDim"} or the first of {"instrShape"}, and its
 * warps, {"warps"} or {"warpsPerCTA"}. */
static axe_status
mfma_fields(maker *m, const axe_json *v, int64_t *dim, int64_t *n)
{
    const axe_json *tile = axe_json_get(v, "instrShape");
    const axe_json *more = axe_json_get(v, "tilesPerWarp");

    if (!tile) {
        AXE_TRY(int_field(m, v, "mDim", dim));
    } else {
        const axe_json *a = tile->kind == AXE_JSON_LIST ? tile->child : NULL;
        bool            good = a && a->next && a->kind == AXE_JSON_INT &&
                    a->next->kind == AXE_JSON_INT &&
                    a->integer == a->next->integer;

        *dim = good ? a->integer : 0;
    }
    if (*dim != 16 && *dim != 32)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: mfma of 16 by 16 or 32 by 32 alone");
    for (more = more ? more->child : NULL; more; more = more->next)
        if (more->kind != AXE_JSON_INT || more->integer != 1)
            return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: mfma with one tile a warp alone");
    return field(m, v, axe_json_get(v, "warps") ? "warps" : "warpsPerCTA", n);
}

/* Rows in registers, columns in lanes, or the other way round. */
static axe_status
amd_mfma(maker *m, const axe_json *v)
{
    const axe_json *t = axe_json_get(v, "isTransposed");
    bool            turned = t && t->kind == AXE_JSON_BOOL && t->truth;
    int             order[2] = {turned ? 0 : 1, turned ? 1 : 0};
    int64_t         dim, n[AXE_LINEAR_DIMS];

    AXE_TRY(mfma_fields(m, v, &dim, n));
    if (m->rank != 2)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: mfma of rank 2 alone");
    start(m, order);
    AXE_TRY(grow(m, 4, "register", order[1], false));
    AXE_TRY(grow(m, dim, "lane", order[0], false));
    AXE_TRY(grow(m, 64 / dim, "lane", order[1], false));
    AXE_TRY(grow(m, dim / (256 / dim), "register", order[1], false));
    AXE_TRY(grow_all(m, n, "warp", order, -1));
    return over_ctas(m, v, order);
}

static axe_status
dot_operand(maker *m, const axe_json *v)
{
    const axe_json *parent = axe_json_get(v, "parent");
    const axe_json *kind = axe_json_get(parent, "kind");
    bool            amd = kind && kind->kind == AXE_JSON_TEXT &&
               strcmp(kind->text, "amd_mfma") == 0;
    int64_t which, width, version, dim = 0, n[AXE_LINEAR_DIMS];
    int     k, other, order[AXE_LINEAR_DIMS], parents[AXE_LINEAR_DIMS];

    AXE_TRY(int_field(m, v, "opIdx", &which));
    AXE_TRY(int_field(m, v, "kWidth", &width));
    if (which > 1 || m->rank < 2 || width < 1 || (width & (width - 1)) ||
        !kind || kind->kind != AXE_JSON_TEXT ||
        (!amd && strcmp(kind->text, "nvidia_mma") != 0))
        return axe_fail(m->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                        "layout: a dot operand is opIdx 0 or 1, kWidth a power "
                        "of two, of nvidia_mma or amd_mfma");
    row_major(m->rank, order);
    row_major(m->rank, parents);
    k = m->rank - 1 - (int)which;
    other = m->rank - 2 + (int)which;
    order[0] = k;
    order[1] = other;
    start(m, order);
    if (!amd) {
        AXE_TRY(core(m, which ? 8 : 16, width * 8, width, other, k));
        AXE_TRY(int_field(m, parent, "version", &version));
        AXE_TRY(warps(m, parent, version == 3, k));
        return over_ctas(m, parent, order);
    }
    AXE_TRY(mfma_fields(m, parent, &dim, n));
    AXE_TRY(grow(m, width, "register", k, false));
    AXE_TRY(grow(m, dim, "lane", other, false));
    AXE_TRY(grow(m, 64 / dim, "lane", k, false));
    AXE_TRY(grow_all(m, n, "warp", parents, k));
    return over_ctas(m, parent, order);
}

/* The parent over one dimension more, without it; registers that then say
 * nothing are dropped. */
static axe_status
slice(maker *m, const axe_json *v)
{
    int64_t    dim, extent[AXE_LINEAR_DIMS];
    axe_linear p, l;
    int        n = 0;

    AXE_TRY(int_field(m, v, "dim", &dim));
    if (dim > m->rank || m->rank + 1 > AXE_LINEAR_DIMS)
        return axe_fail(m->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: a slice along dimension %" PRId64 " of %d",
                        dim, m->rank + 1);
    for (int k = 0; k <= m->rank; k++)
        extent[k] = k == dim ? 1 : m->shape[k - (k > dim)];
    AXE_TRY(axe_linear_named(m->cx, axe_json_get(v, "parent"),
                             (axe_shape){m->rank + 1, extent}, &p));
    l = p;
    l.n_out = m->rank;
    for (int k = 0; k < m->rank; k++) {
        l.out[k] = dim_name(m->cx, k);
        l.out_bits[k] = p.out_bits[k + (k >= dim)];
    }
    for (int i = 0; i < axe_linear_in_at(&p, 4); i++)
        if (i >= p.in_bits[0] || p.basis[i] != 0)
            l.basis[n++] = p.basis[i];
        else
            l.in_bits[0]--;
    m->l = l;
    return AXE_OK;
}

axe_status
axe_linear_named(axe_ctx *cx, const axe_json *v, axe_shape shape,
                 axe_linear *out)
{
    static const struct {
        const char *kind;
        axe_status (*make)(maker *m, const axe_json *v);
    } kinds[] = {{"blocked", blocked},
                 {"slice", slice},
                 {"nvidia_mma", nvidia_mma},
                 {"dot_operand", dot_operand},
                 {"amd_mfma", amd_mfma}};
    const axe_json *kind = axe_json_get(v, "kind");
    maker           m = {.cx = cx, .rank = shape.n};
    int             bits = 0;

    if (shape.n < 1 || shape.n > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: a tensor of 1 to 12 dimensions is needed");
    for (int k = 0; k < shape.n; k++) {
        m.shape[k] = shape.extent[k];
        bits += log2_of(m.shape[k]);
        if (m.shape[k] < 1 || (m.shape[k] & (m.shape[k] - 1)) || bits > 40)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: dimension %d has %" PRId64
                            " elements; powers of two are needed, up to 2^40",
                            k, m.shape[k]);
    }
    for (int i = 0; kind && i < AXE_LEN(kinds); i++)
        if (kind->kind == AXE_JSON_TEXT &&
            strcmp(kind->text, kinds[i].kind) == 0) {
            if (i > 1 && m.rank < 2)
                break;
            AXE_TRY(kinds[i].make(&m, v));
            *out = m.l;
            return AXE_OK;
        }
    return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                    "layout: the kind must be blocked, slice, or of two "
                    "dimensions nvidia_mma, dot_operand, amd_mfma");
}
