/* linear_maker.c - what all of Triton's named layouts have in common: fields,
 * layouts that grow, and shares of CTAs. */
#include "convert/linear_maker.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ fields */

int
axe_log2_up(int64_t n)
{
    int k = 0;

    while (k < 61 && (int64_t)1 << k < n)
        k++;
    return k;
}

axe_status
axe_field_powers(axe_ctx *cx, const axe_json *v, const char *key, int rank,
                 int64_t *out)
{
    const axe_json *f = axe_json_get(v, key);
    int             k = 0;

    for (int i = 0; i < rank; i++)
        out[i] = 1;
    if (!f)
        return AXE_OK;
    if (f->kind != AXE_JSON_LIST || f->n_child < rank)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a list of %d numbers", key, rank);
    for (const axe_json *c = f->child; c && k < rank; c = c->next, k++) {
        if (c->kind != AXE_JSON_INT || c->integer < 1 ||
            (c->integer & (c->integer - 1)) || c->integer > 1 << 20)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "layout: %s has a number that is no power of two "
                            "up to 2^20",
                            key);
        out[k] = c->integer;
    }
    return AXE_OK;
}

axe_status
axe_field_order(axe_ctx *cx, const axe_json *v, const char *key, int rank,
                const int *fallback, int *out)
{
    const axe_json *f = axe_json_get(v, key);
    bool            seen[AXE_LINEAR_DIMS] = {false};
    int             k = 0;

    for (int i = 0; i < rank; i++)
        out[i] = fallback[i];
    if (!f)
        return AXE_OK;
    if (f->kind == AXE_JSON_LIST && f->n_child == rank)
        for (const axe_json *c = f->child; c; c = c->next)
            if (c->kind == AXE_JSON_INT && c->integer >= 0 &&
                c->integer < rank && !seen[c->integer]) {
                seen[c->integer] = true;
                out[k++] = (int)c->integer;
            }
    if (k != rank)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a permutation of %d dimensions",
                        key, rank);
    return AXE_OK;
}

axe_status
axe_field_int(axe_ctx *cx, const axe_json *v, const char *key, int64_t *out)
{
    const axe_json *f = axe_json_get(v, key);

    if (!f || f->kind != AXE_JSON_INT || f->integer < 0 || f->integer > 1 << 20)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "layout: %s must be a number", key);
    *out = f->integer;
    return AXE_OK;
}

bool
axe_field_truth(const axe_json *v, const char *key)
{
    const axe_json *f = axe_json_get(v, key);

    return f && f->kind == AXE_JSON_BOOL && f->truth;
}

void
axe_row_major(int rank, int *order)
{
    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
}

/* -------------------------------------------------------------------- CTAs */

/* One more bit of a CTA's number: a half of dimension k, or (-1) copies. */
static axe_status
add_bit(axe_ctx *cx, axe_ctas *c, int k)
{
    if (c->n == AXE_CTA_BITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "layout: over 2^%d CTAs in a cluster", AXE_CTA_BITS);
    if (k >= 0 && c->share[k] > 1 && c->share[k] % 2 != 0)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "layout: %" PRId64 " elements of dimension %d do not "
                        "go into halves for CTAs",
                        c->share[k], k);
    if (k >= 0 && c->share[k] > 1)
        c->share[k] /= 2;
    else
        k = -1;
    c->dim[c->n++] = k;
    return AXE_OK;
}

/* The basis as the one dimension that it steps along, by `want` shares; -1:
 * along none, so the CTA has a copy; -2: it is no such basis. */
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

/* [[0, 1], [0, 0]]: of each dimension's shares the first, the second, the
 * fourth, .. */
static axe_status
by_bases(axe_ctx *cx, const axe_json *bases, int rank, int skip, axe_ctas *c)
{
    int64_t want[AXE_LINEAR_DIMS];

    for (int k = 0; k < rank; k++)
        want[k] = 1;
    for (const axe_json *b = bases->child; b; b = b->next) {
        int k = cta_step(b, rank, want);

        if (k < -1)
            return axe_fail(cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
                            "layout: a basis of CGALayout is one more bit of "
                            "one dimension, or zeros");
        AXE_TRY(add_bit(cx, c, k == skip ? -1 : k));
        if (k >= 0)
            want[k] *= 2;
    }
    return AXE_OK;
}

axe_status
axe_ctas_read(axe_ctx *cx, const axe_json *v, axe_shape shape, int skip,
              axe_ctas *out)
{
    const axe_json *bases = axe_json_get(v, "CGALayout");
    int64_t         ctas[AXE_LINEAR_DIMS], split[AXE_LINEAR_DIMS];
    int             order[AXE_LINEAR_DIMS];

    *out = (axe_ctas){.n = 0};
    for (int k = 0; k < shape.n; k++)
        out->share[k] = shape.extent[k];
    if (bases && bases->kind == AXE_JSON_LIST)
        return by_bases(cx, bases, shape.n, skip, out);
    axe_row_major(shape.n, order);
    AXE_TRY(axe_field_powers(cx, v, "CTAsPerCGA", shape.n, ctas));
    AXE_TRY(axe_field_powers(cx, v, "CTASplitNum", shape.n, split));
    AXE_TRY(axe_field_order(cx, v, "CTAOrder", shape.n, order, order));
    for (int i = 0; i < shape.n; i++) {
        int k = order[i];

        if (split[k] > ctas[k])
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "layout: dimension %d is split over %" PRId64
                            " of %" PRId64 " CTAs",
                            k, split[k], ctas[k]);
        for (int64_t n = 1; n < ctas[k]; n *= 2)
            AXE_TRY(add_bit(cx, out, n < split[k] && k != skip ? k : -1));
    }
    return AXE_OK;
}

/* ------------------------------------------------------------------ making */

static const char *
dim_name(axe_ctx *cx, int k)
{
    return axe_textf(cx, "dim%d", k);
}

void
axe_maker_start(axe_maker *m, const int *order)
{
    m->l = (axe_linear){.n_in = 4,
                        .n_out = m->rank,
                        .in = {"register", "lane", "warp", "block"}};
    for (int i = 0; i < m->rank; i++)
        m->l.out[i] = dim_name(m->cx, order[i]);
}

axe_status
axe_maker_grow(axe_maker *m, int64_t n, const char *in, int dim, bool copies)
{
    const char *name = dim_name(m->cx, dim);
    axe_linear  part = copies ? axe_linear_zeros(axe_log2_up(n), in, name)
                              : axe_linear_identity(axe_log2_up(n), in, name);

    return n < 2 ? AXE_OK : axe_linear_mul(m->cx, &m->l, &part, &m->l);
}

axe_status
axe_maker_grow_all(axe_maker *m, const int64_t *n, const char *in,
                   const int *order, int skip)
{
    for (int i = 0; i < m->rank; i++)
        AXE_TRY(axe_maker_grow(m, n[order[i]], in, order[i], order[i] == skip));
    return AXE_OK;
}

/* The dimension's place among the outputs. */
static int
place(const axe_maker *m, int dim)
{
    for (int k = 0; k < m->l.n_out; k++)
        if (strcmp(m->l.out[k], dim_name(m->cx, dim)) == 0)
            return k;
    return 0;
}

/* Outputs as large as `want`: more registers, or copies of what is beyond. */
static axe_status
fit(axe_maker *m, const int64_t *want, const int *order)
{
    for (int i = 0; i < m->rank; i++) {
        int64_t own = (int64_t)1 << m->l.out_bits[place(m, order[i])];

        if (own < want[order[i]])
            AXE_TRY(axe_maker_grow(m, want[order[i]] / own, m->l.in[0],
                                   order[i], false));
    }
    for (int k = 0; k < m->rank; k++) {
        axe_linear cut = m->l;
        int        at = place(m, k), bits = axe_log2_up(want[k]);

        cut.out_bits[at] = bits;
        for (int i = 0; i < axe_linear_in_at(&m->l, m->l.n_in); i++) {
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
settle(axe_maker *m)
{
    axe_linear l = m->l;

    for (int k = 0; k < m->rank; k++) {
        l.out[k] = dim_name(m->cx, k);
        l.out_bits[k] = m->l.out_bits[place(m, k)];
    }
    for (int i = 0; i < axe_linear_in_at(&l, l.n_in); i++) {
        l.basis[i] = 0;
        for (int k = 0; k < m->rank; k++)
            l.basis[i] |=
                (uint64_t)axe_linear_part(&m->l, m->l.basis[i], place(m, k))
                << axe_linear_out_at(&l, k);
    }
    m->l = l;
}

axe_status
axe_maker_over_ctas(axe_maker *m, const axe_json *v, const int *order, int skip)
{
    axe_ctas c;

    AXE_TRY(axe_ctas_read(m->cx, v, (axe_shape){m->rank, m->shape}, skip, &c));
    AXE_TRY(fit(m, c.share, order));
    for (int i = 0; i < c.n; i++)
        AXE_TRY(axe_maker_grow(m, 2, "block", c.dim[i] < 0 ? 0 : c.dim[i],
                               c.dim[i] < 0));
    settle(m);
    return AXE_OK;
}
