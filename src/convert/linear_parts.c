/* linear_parts.c - linear layouts: their parts, and what was multiplied taken
 * apart again.  Operations that another order of dimensions would answer
 * otherwise say which order they mean. */
#include <inttypes.h>
#include <string.h>

#include "convert/linear.h"

static int
find(int n, const char *const *name, const char *wanted)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], wanted) == 0)
            return i;
    return -1;
}

static axe_status
no_dim(axe_ctx *cx, const char *what, const char *name)
{
    return axe_fail(cx, AXE_NOWHERE, AXE_ENAME, "linear: there is no %s '%s'",
                    what, name);
}

axe_linear
axe_linear_strided(int bits, int64_t step, const char *in, const char *out)
{
    axe_linear l = axe_linear_identity(bits, in, out);

    while ((int64_t)1 << (l.out_bits[0] - bits) < step)
        l.out_bits[0]++;
    for (int i = 0; i < bits; i++)
        l.basis[i] = (uint64_t)step << i;
    return l;
}

axe_status
axe_linear_pseudoinvert(axe_ctx *cx, const axe_linear *l, axe_linear *out)
{
    axe_linear id = *l;
    int        bits = axe_linear_out_at(l, l->n_out);

    if (!axe_linear_surjective(l))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: pseudoinvert: some output has no input; a "
                        "surjective layout is needed");
    id.n_in = l->n_out;
    for (int k = 0; k < l->n_out; k++) {
        id.in[k] = l->out[k];
        id.in_bits[k] = l->out_bits[k];
    }
    for (int i = 0; i < bits; i++)
        id.basis[i] = (uint64_t)1 << i;
    return axe_linear_invert_compose(cx, &id, l, out);
}

/* --------------------------------------------------------------- dimensions */

axe_status
axe_linear_sublayout(axe_ctx *cx, const axe_linear *l, axe_linear_names ins,
                     axe_linear_names outs, axe_linear *out)
{
    axe_linear s = {0};
    int        n = 0, from[AXE_LINEAR_DIMS];

    for (int i = 0; i < ins.n; i++)
        if (find(l->n_in, l->in, ins.name[i]) < 0)
            return no_dim(cx, "input", ins.name[i]);
    for (int i = 0; i < outs.n; i++)
        if (find(l->n_out, l->out, outs.name[i]) < 0)
            return no_dim(cx, "output", outs.name[i]);
    for (int k = 0; k < l->n_out; k++) {
        if (find(outs.n, outs.name, l->out[k]) < 0)
            continue;
        from[s.n_out] = k;
        s.out[s.n_out] = l->out[k];
        s.out_bits[s.n_out++] = l->out_bits[k];
    }
    for (int d = 0; d < l->n_in; d++) {
        if (find(ins.n, ins.name, l->in[d]) < 0)
            continue;
        s.in[s.n_in] = l->in[d];
        s.in_bits[s.n_in++] = l->in_bits[d];
        for (int i = 0; i < l->in_bits[d]; i++, n++)
            for (int k = 0; k < s.n_out; k++) {
                uint64_t v = l->basis[axe_linear_in_at(l, d) + i];

                s.basis[n] |= (uint64_t)axe_linear_part(l, v, from[k])
                              << axe_linear_out_at(&s, k);
            }
    }
    *out = s;
    return AXE_OK;
}

bool
axe_linear_is_zero(const axe_linear *l)
{
    uint64_t all = 0;

    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++)
        all |= l->basis[i];
    return all == 0;
}

/* Do the names name all of them, each once? */
static axe_status
check_order(axe_ctx *cx, const char *what, int n, const char *const *own,
            axe_linear_names order)
{
    for (int i = 0; i < n; i++)
        if (find(order.n, order.name, own[i]) < 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "linear: the order leaves %s '%s' out", what,
                            own[i]);
    for (int i = 0; i < order.n; i++)
        if (find(n, own, order.name[i]) < 0)
            return no_dim(cx, what, order.name[i]);
    return order.n == n ? AXE_OK
                        : axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                   "linear: the order has one %s twice", what);
}

axe_status
axe_linear_transpose_ins(axe_ctx *cx, const axe_linear *l,
                         axe_linear_names order, axe_linear *out)
{
    axe_linear t = *l;
    int        n = 0;

    AXE_TRY(check_order(cx, "input", l->n_in, l->in, order));
    for (int d = 0; d < l->n_in; d++) {
        int from = find(l->n_in, l->in, order.name[d]);

        t.in[d] = l->in[from];
        t.in_bits[d] = l->in_bits[from];
        for (int i = 0; i < l->in_bits[from]; i++)
            t.basis[n++] = l->basis[axe_linear_in_at(l, from) + i];
    }
    *out = t;
    return AXE_OK;
}

axe_status
axe_linear_transpose_outs(axe_ctx *cx, const axe_linear *l,
                          axe_linear_names order, axe_linear *out)
{
    axe_linear t = *l;
    int        from[AXE_LINEAR_DIMS];

    AXE_TRY(check_order(cx, "output", l->n_out, l->out, order));
    for (int k = 0; k < l->n_out; k++) {
        from[k] = find(l->n_out, l->out, order.name[k]);
        t.out[k] = l->out[from[k]];
        t.out_bits[k] = l->out_bits[from[k]];
    }
    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++) {
        t.basis[i] = 0;
        for (int k = 0; k < l->n_out; k++)
            t.basis[i] |= (uint64_t)axe_linear_part(l, l->basis[i], from[k])
                          << axe_linear_out_at(&t, k);
    }
    *out = t;
    return AXE_OK;
}

/* The dimensions as others, of as many bits together. */
static axe_status
reshape(axe_ctx *cx, const char *what, int have, axe_linear_names names,
        const int *bits)
{
    int sum = 0;

    if (names.n > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "linear: over 12 dimensions");
    for (int i = 0; i < names.n; i++) {
        sum += bits[i];
        if (find(i, names.name, names.name[i]) >= 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG, "linear: two %ss '%s'",
                            what, names.name[i]);
    }
    if (sum == have)
        return AXE_OK;
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    "linear: %ss of 2^%d numbers cannot be had as 2^%d", what,
                    have, sum);
}

axe_status
axe_linear_reshape_ins(axe_ctx *cx, const axe_linear *l, axe_linear_names names,
                       const int *bits, axe_linear *out)
{
    axe_linear r = *l;

    AXE_TRY(reshape(cx, "input", axe_linear_in_at(l, l->n_in), names, bits));
    r.n_in = names.n;
    for (int i = 0; i < names.n; i++) {
        r.in[i] = names.name[i];
        r.in_bits[i] = bits[i];
    }
    *out = r;
    return AXE_OK;
}

axe_status
axe_linear_reshape_outs(axe_ctx *cx, const axe_linear *l,
                        axe_linear_names names, const int *bits,
                        axe_linear *out)
{
    axe_linear r = *l;

    AXE_TRY(reshape(cx, "output", axe_linear_out_at(l, l->n_out), names, bits));
    r.n_out = names.n;
    for (int i = 0; i < names.n; i++) {
        r.out[i] = names.name[i];
        r.out_bits[i] = bits[i];
    }
    *out = r;
    return AXE_OK;
}

/* Have a and b the same dimensions? */
static bool
same_dims(int n, const char *const *a, const int *bits_a, int m,
          const char *const *b, const int *bits_b)
{
    for (int i = 0; i < n && n == m; i++)
        if (strcmp(a[i], b[i]) != 0 || bits_a[i] != bits_b[i])
            return false;
    return n == m;
}

axe_status
axe_linear_concat_ins(axe_ctx *cx, const axe_linear *a, const axe_linear *b,
                      axe_linear *out)
{
    axe_linear c = *a;
    int        n = axe_linear_in_at(a, a->n_in);

    if (!same_dims(a->n_out, a->out, a->out_bits, b->n_out, b->out,
                   b->out_bits))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: concatIns: both need the same outputs");
    if (a->n_in + b->n_in > AXE_LINEAR_DIMS ||
        n + axe_linear_in_at(b, b->n_in) > AXE_LINEAR_BITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "linear: over 12 dimensions or 60 bits");
    for (int d = 0; d < b->n_in; d++) {
        if (find(a->n_in, a->in, b->in[d]) >= 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "linear: concatIns: both have an input '%s'",
                            b->in[d]);
        c.in[c.n_in] = b->in[d];
        c.in_bits[c.n_in++] = b->in_bits[d];
    }
    for (int i = 0; i < axe_linear_in_at(b, b->n_in); i++)
        c.basis[n + i] = b->basis[i];
    *out = c;
    return AXE_OK;
}

axe_status
axe_linear_concat_outs(axe_ctx *cx, const axe_linear *a, const axe_linear *b,
                       axe_linear *out)
{
    axe_linear c = *a;
    int        shift = axe_linear_out_at(a, a->n_out);

    if (!same_dims(a->n_in, a->in, a->in_bits, b->n_in, b->in, b->in_bits))
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: concatOuts: both need the same inputs");
    if (a->n_out + b->n_out > AXE_LINEAR_DIMS ||
        shift + axe_linear_out_at(b, b->n_out) > AXE_LINEAR_BITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "linear: over 12 dimensions or 60 bits");
    for (int k = 0; k < b->n_out; k++) {
        if (find(a->n_out, a->out, b->out[k]) >= 0)
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "linear: concatOuts: both have an output '%s'",
                            b->out[k]);
        c.out[c.n_out] = b->out[k];
        c.out_bits[c.n_out++] = b->out_bits[k];
    }
    for (int i = 0; i < axe_linear_in_at(a, a->n_in); i++)
        c.basis[i] |= b->basis[i] << shift;
    *out = c;
    return AXE_OK;
}

axe_status
axe_linear_drop_zeros(axe_ctx *cx, const axe_linear *l, const char *in,
                      axe_linear *out)
{
    axe_linear s = *l;
    int        d = find(l->n_in, l->in, in), n = 0;

    if (d < 0)
        return no_dim(cx, "input", in);
    for (int i = 0, at = axe_linear_in_at(l, d);
         i < axe_linear_in_at(l, l->n_in); i++) {
        bool own = i >= at && i < at + l->in_bits[d];

        if (own && l->basis[i] == 0)
            s.in_bits[d]--;
        else
            s.basis[n++] = l->basis[i];
    }
    *out = s;
    return AXE_OK;
}

/* ----------------------------------------------------------------- division */

/* Bits of the divisor in a dimension of the same name; 0: it has none. */
static int
bits_in(int n, const char *const *name, const int *bits, const char *wanted)
{
    int k = find(n, name, wanted);

    return k < 0 ? 0 : bits[k];
}

/* The quotient, if there is one: of each input the last bases (left) or the
 * first (right) of a, without b's bits of each output. */
static bool
candidate(const axe_linear *a, const axe_linear *b, bool left, axe_linear *c)
{
    int skip[AXE_LINEAR_DIMS], n = 0;

    *c = *a;
    for (int k = 0; k < a->n_out; k++) {
        int have = bits_in(b->n_out, b->out, b->out_bits, a->out[k]);

        skip[k] = left ? have : 0;
        c->out_bits[k] -= have;
        if (c->out_bits[k] < 0)
            return false;
    }
    for (int d = 0; d < a->n_in; d++) {
        int have = bits_in(b->n_in, b->in, b->in_bits, a->in[d]);
        int at = axe_linear_in_at(a, d) + (left ? have : 0);

        c->in_bits[d] -= have;
        for (int i = 0; i < c->in_bits[d]; i++, n++) {
            c->basis[n] = 0;
            for (int k = 0; k < a->n_out; k++) {
                uint64_t ones = ((uint64_t)1 << c->out_bits[k]) - 1;
                int64_t  v = axe_linear_part(a, a->basis[at + i], k);

                c->basis[n] |= ((uint64_t)v >> skip[k] & ones)
                               << axe_linear_out_at(c, k);
            }
        }
        if (c->in_bits[d] < 0)
            return false;
    }
    return true;
}

static axe_linear_names
names_of(int n, const char *const *name)
{
    return (axe_linear_names){n, name};
}

static bool
equal(const axe_linear *a, const axe_linear *b)
{
    if (!same_dims(a->n_in, a->in, a->in_bits, b->n_in, b->in, b->in_bits) ||
        !same_dims(a->n_out, a->out, a->out_bits, b->n_out, b->out,
                   b->out_bits))
        return false;
    return memcmp(a->basis, b->basis,
                  sizeof *a->basis * (size_t)axe_linear_in_at(a, a->n_in)) == 0;
}

axe_status
axe_linear_divide(axe_ctx *cx, const axe_linear *a, const axe_linear *b,
                  bool left, axe_linear *out)
{
    axe_linear c, back;

    for (int d = 0; d < b->n_in; d++)
        if (find(a->n_in, a->in, b->in[d]) < 0)
            return no_dim(cx, "input", b->in[d]);
    for (int k = 0; k < b->n_out; k++)
        if (find(a->n_out, a->out, b->out[k]) < 0)
            return no_dim(cx, "output", b->out[k]);
    if (candidate(a, b, left, &c)) {
        AXE_TRY(left ? axe_linear_mul(cx, b, &c, &back)
                     : axe_linear_mul(cx, &c, b, &back));
        AXE_TRY(axe_linear_transpose_ins(cx, &back, names_of(a->n_in, a->in),
                                         &back));
        AXE_TRY(axe_linear_transpose_outs(cx, &back, names_of(a->n_out, a->out),
                                          &back));
        if (equal(a, &back)) {
            *out = c;
            return AXE_OK;
        }
    }
    return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                    left ? "linear: divideLeft: the low bits are not those of "
                           "the divisor alone"
                         : "linear: divideRight: the high bits are not those "
                           "of the divisor alone");
}
