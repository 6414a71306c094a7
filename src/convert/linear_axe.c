/* linear_axe.c - linear layouts to Axe's and back.
 *
 * A basis of one bit is a digit of 2 of its dimension, on the axis of its input
 * with the step that the bit has there; a basis of 0 is a replica.  So each
 * element must be told by exactly one bit of some input for each bit of its
 * index. */
#include <inttypes.h>
#include <string.h>

#include "convert/bitlinear.h"
#include "convert/linear.h"
#include "convert/text.h"

/* What Triton calls what Axe calls something else. */
static const struct {
    const char   *triton, *axe;
    axe_axis_kind kind;
} names[] = {
    {"register", "reg", AXE_KIND_REG}, {"lane", "lane", AXE_KIND_THREAD},
    {"warp", "warp", AXE_KIND_THREAD}, {"block", "block", AXE_KIND_THREAD},
    {"offset", "m", AXE_KIND_MEMORY},  {"row", "tlane", AXE_KIND_MEMORY},
    {"col", "tcol", AXE_KIND_MEMORY}};

static axe_status
axis_of(axe_ctx *cx, const char *in, axe_axis *out)
{
    for (int i = 0; i < AXE_LEN(names); i++)
        if (strcmp(in, names[i].triton) == 0)
            return axe_cv_axis(cx, names[i].axe, names[i].kind, out);
    return axe_cv_axis(cx, in, AXE_KIND_THREAD, out);
}

axe_status
axe_linear_to_axe(axe_ctx *cx, const axe_linear *l, const axe_layout **out)
{
    int        n_out = axe_linear_out_at(l, l->n_out), n = 0, r = 0;
    axe_iter   digit[AXE_LINEAR_BITS] = {{0}}, replica[AXE_LINEAR_BITS];
    axe_iter   shard[AXE_LINEAR_BITS];
    int        end[AXE_LINEAR_DIMS];
    axe_axis   axis;
    axe_layout spec = {.shard = shard, .replica = replica, .dim_end = end};

    for (int d = 0; d < l->n_in; d++) {
        AXE_TRY(axis_of(cx, l->in[d], &axis));
        for (int i = 0; i < l->in_bits[d]; i++) {
            uint64_t v = l->basis[axe_linear_in_at(l, d) + i];
            axe_iter it = {2, (int64_t)1 << i, axis, AXE_UNIT_ONE};
            int      bit = 0;

            if (v == 0) {
                replica[r] = it;
                r += !(l->nothing[d] >> i & 1);
                continue;
            }
            for (; !(v >> bit & 1); bit++)
                ;
            if (v >> bit != 1)
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "linear: %s = %" PRId64
                                " moves several bits of the index at once: a "
                                "swizzle, which no list of iters is",
                                l->in[d], it.stride);
            if (digit[bit].extent)
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "linear: %s = %" PRId64
                                " moves the bit of the index that another "
                                "moves",
                                l->in[d], it.stride);
            digit[bit] = it;
        }
    }
    for (int k = 0; k < l->n_out; end[k++] = n)
        for (int b = l->out_bits[k] - 1; b >= 0; b--) {
            axe_iter it = digit[axe_linear_out_at(l, k) + b];

            if (!it.extent)
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "linear: nothing holds element %" PRId64
                                " of dimension %d",
                                (int64_t)1 << b, k);
            shard[n++] = it;
        }
    (void)n_out;
    spec.n_shard = n;
    spec.n_replica = r;
    spec.n_dim = l->n_out;
    AXE_TRY(axe_layout_make(cx, &spec, out));
    return axe_layout_canon(cx, *out, out);
}

/* The input of an axis; one more where it is new. */
static int
input_of(axe_ctx *cx, axe_linear *l, axe_axis axis)
{
    const char *name = axe_axis_name(cx, axis);

    for (int i = 0; i < AXE_LEN(names); i++)
        if (strcmp(name, names[i].axe) == 0)
            name = names[i].triton;
    for (int d = 0; d < l->n_in; d++)
        if (strcmp(l->in[d], name) == 0)
            return d;
    if (l->n_in == AXE_LINEAR_DIMS)
        return -1;
    l->in[l->n_in] = name;
    return l->n_in++;
}

/* The bit `stride` of an axis goes to basis v, once. */
static axe_status
set_bit(axe_ctx *cx, axe_linear *l, axe_axis axis, int64_t stride, uint64_t v,
        uint64_t basis[][64], uint64_t *seen)
{
    int d = input_of(cx, l, axis), b = 0;

    while (b < 62 && (int64_t)1 << b != stride)
        b++;
    if (d < 0 || b == 62 || seen[d] >> b & 1)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: a step of %" PRId64
                        " on axis %s is not one bit of its own there",
                        stride, axe_axis_name(cx, axis));
    seen[d] |= (uint64_t)1 << b;
    basis[d][b] = v;
    return AXE_OK;
}

axe_status
axe_linear_from_axe(axe_ctx *cx, const axe_layout *l, axe_linear *out)
{
    axe_linear m = {.n_in = 4, .in = {"register", "lane", "warp", "block"}};
    uint64_t(*basis)[64] = axe_alloc(cx, sizeof *basis * AXE_LINEAR_DIMS);
    uint64_t  seen[AXE_LINEAR_DIMS] = {0};
    axe_bit  *bit;
    axe_shape shape = axe_layout_shape(cx, l);
    int64_t   w[2];
    bool      yes;
    int       n = 0, at = 0;

    AXE_TRY(axe_bit_linear(cx, l, &yes, &n, &bit, w));
    if (!yes || l->swizzle.bits > 0 || shape.n > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: %s %s: see indices %" PRId64 " and %" PRId64
                        " and their xor",
                        axe_layout_text(cx, l),
                        yes ? "has a swizzle or over 12 dims"
                            : "is not linear over bits",
                        yes ? 0 : w[0], yes ? 0 : w[1]);
    m.n_out = shape.n;
    for (int k = shape.n - 1; k >= 0; k--) {
        m.out[k] = axe_textf(cx, "dim%d", k);
        for (; (int64_t)1 << m.out_bits[k] < shape.extent[k]; m.out_bits[k]++)
            ;
    }
    for (int k = shape.n - 1; k >= 0; k--)
        for (int b = 0; b < m.out_bits[k]; b++, at++)
            AXE_TRY(set_bit(cx, &m, bit[at].axis, bit[at].stride,
                            (uint64_t)1 << (axe_linear_out_at(&m, k) + b),
                            basis, seen));
    for (int i = 0; i < l->n_replica; i++)
        for (int64_t e = 1; e < l->replica[i].extent; e *= 2)
            AXE_TRY(set_bit(cx, &m, l->replica[i].axis,
                            e * l->replica[i].stride, 0, basis, seen));
    n = 0;
    for (int d = 0; d < m.n_in; d++)
        for (int b = 0; seen[d] >> b; b++) {
            if (!(seen[d] >> b & 1))
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "linear: nothing is at %s = %" PRId64
                                ", which a linear layout cannot say",
                                m.in[d], (int64_t)1 << b);
            if (n == AXE_LINEAR_BITS)
                return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                                "linear: over 60 bits");
            m.basis[n++] = basis[d][b];
            m.in_bits[d]++;
        }
    *out = m;
    return AXE_OK;
}
