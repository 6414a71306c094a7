/* linear.c - linear layouts: making them, their algebra. */
#include "convert/linear.h"

#include <inttypes.h>
#include <string.h>

#include "convert/text.h"

int
axe_linear_in_at(const axe_linear *l, int dim)
{
    int at = 0;

    for (int i = 0; i < dim; i++)
        at += l->in_bits[i];
    return at;
}

int
axe_linear_out_at(const axe_linear *l, int dim)
{
    int at = 0;

    for (int i = 0; i < dim; i++)
        at += l->out_bits[i];
    return at;
}

int64_t
axe_linear_part(const axe_linear *l, uint64_t v, int dim)
{
    uint64_t ones = ((uint64_t)1 << l->out_bits[dim]) - 1;

    return (int64_t)(v >> axe_linear_out_at(l, dim) & ones);
}

static int
find(int n, const char *const *name, const char *wanted)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], wanted) == 0)
            return i;
    return -1;
}

/* ------------------------------------------------------------- text and JSON
 */

static int
bits_for(int64_t v)
{
    int n = 0;

    while (n < 62 && (int64_t)1 << n <= v)
        n++;
    return n;
}

/* One input's list of bases into v[][n_out]; how many outputs there are is
 * learnt from the first. */
static axe_status
read_bases(axe_ctx *cx, const axe_json *list, axe_linear *l, int *n,
           int64_t v[][AXE_LINEAR_DIMS])
{
    if (list->kind != AXE_JSON_LIST)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "linear: the bases of '%s' must be a list of lists",
                        list->key);
    for (const axe_json *b = list->child; b; b = b->next) {
        int k = 0;

        if (b->kind != AXE_JSON_LIST || b->n_child > AXE_LINEAR_DIMS ||
            *n == AXE_LINEAR_BITS || (l->n_out >= 0 && b->n_child != l->n_out))
            return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                            "linear: a basis of '%s' is a list of numbers, one "
                            "for each output; at most 60 bases of 12",
                            list->key);
        l->n_out = b->n_child;
        for (const axe_json *x = b->child; x; x = x->next) {
            if (x->kind != AXE_JSON_INT || x->integer < 0 ||
                x->integer >> 60 != 0)
                return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                                "linear: a basis of '%s' is no number below "
                                "2^60",
                                list->key);
            v[*n][k++] = x->integer;
        }
        ++*n;
    }
    return AXE_OK;
}

/* As many bits for each output as its bases or the shape need; then pack. */
static axe_status
pack(axe_ctx *cx, axe_linear *l, int n, int64_t v[][AXE_LINEAR_DIMS],
     axe_shape shape)
{
    int sum = 0;

    for (int k = 0; k < l->n_out; k++) {
        int64_t all = 0;

        for (int i = 0; i < n; i++)
            all |= v[i][k];
        l->out[k] = axe_textf(cx, "dim%d", k);
        l->out_bits[k] = bits_for(all);
        if (k < shape.n && (shape.extent[k] & (shape.extent[k] - 1)))
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "linear: dimension %d has %" PRId64
                            " elements, no power of two",
                            k, shape.extent[k]);
        if (k < shape.n && shape.extent[k] <= all)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "linear: a basis reaches beyond dimension %d of "
                            "%" PRId64,
                            k, shape.extent[k]);
        if (k < shape.n)
            l->out_bits[k] = bits_for(shape.extent[k] - 1);
        sum += l->out_bits[k];
    }
    if (sum > AXE_LINEAR_BITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "linear: outputs of %d bits; at most 60", sum);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < l->n_out; k++)
            l->basis[i] |= (uint64_t)v[i][k] << axe_linear_out_at(l, k);
    return AXE_OK;
}

axe_status
axe_linear_read(axe_ctx *cx, const axe_json *bases, axe_shape shape,
                axe_linear *out)
{
    int64_t(*v)[AXE_LINEAR_DIMS] =
        axe_alloc(cx, sizeof *v * (AXE_LINEAR_BITS + 1));
    axe_linear l = {.n_out = shape.n > 0 ? shape.n : -1};
    int        n = 0, before;

    if (!bases || bases->kind != AXE_JSON_OBJECT ||
        bases->n_child > AXE_LINEAR_DIMS || shape.n > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "linear: bases are an object with a list for each "
                        "input, at most 12");
    for (const axe_json *c = bases->child; c; c = c->next) {
        before = n;
        l.in[l.n_in] = c->key;
        AXE_TRY(read_bases(cx, c, &l, &n, v));
        l.in_bits[l.n_in++] = n - before;
    }
    l.n_out = l.n_out < 0 ? 1 : l.n_out;
    AXE_TRY(pack(cx, &l, n, v, shape));
    *out = l;
    return AXE_OK;
}

void
axe_linear_put(axe_buf *b, const axe_linear *l)
{
    axe_putc(b, '{');
    for (int d = 0; d < l->n_in; d++) {
        axe_puts(b, d ? "," : "");
        axe_json_put_text(b, l->in[d], strlen(l->in[d]));
        axe_puts(b, ":[");
        for (int i = 0; i < l->in_bits[d]; i++) {
            axe_puts(b, i ? ",[" : "[");
            for (int k = 0; k < l->n_out; k++)
                axe_putf(b, "%s%" PRId64, k ? "," : "",
                         axe_linear_part(
                             l, l->basis[axe_linear_in_at(l, d) + i], k));
            axe_putc(b, ']');
        }
        axe_putc(b, ']');
    }
    axe_putc(b, '}');
}

/* ----------------------------------------------------------------- algebra */

axe_linear
axe_linear_identity(int bits, const char *in, const char *out)
{
    axe_linear l = {.n_in = 1,
                    .n_out = 1,
                    .in = {in},
                    .out = {out},
                    .in_bits = {bits},
                    .out_bits = {bits}};

    for (int i = 0; i < bits; i++)
        l.basis[i] = (uint64_t)1 << i;
    return l;
}

axe_linear
axe_linear_zeros(int bits, const char *in, const char *out)
{
    return (axe_linear){.n_in = 1,
                        .n_out = 1,
                        .in = {in},
                        .out = {out},
                        .in_bits = {bits},
                        .out_bits = {0}};
}

/* Names of a, then those of b that a has not; bits added up. */
static int
join(int na, const char *const *a, const int *bits_a, int nb,
     const char *const *b, const int *bits_b, const char **name, int *bits)
{
    int n = 0;

    for (; n < na; n++) {
        name[n] = a[n];
        bits[n] = bits_a[n];
    }
    for (int i = 0; i < nb; i++) {
        int k = find(n, name, b[i]);

        if (k < 0 && n == AXE_LINEAR_DIMS)
            return -1;
        if (k < 0) {
            k = n++;
            name[k] = b[i];
            bits[k] = 0;
        }
        bits[k] += bits_b[i];
    }
    return n;
}

/* A packed output of `from` as one of `to`, its parts `shift` higher where
 * `low` has bits below them. */
static uint64_t
moved(const axe_linear *from, uint64_t v, const axe_linear *to,
      const axe_linear *low)
{
    uint64_t out = 0;

    for (int k = 0; k < from->n_out; k++) {
        int at = find(to->n_out, to->out, from->out[k]);
        int skip = low ? find(low->n_out, low->out, from->out[k]) : -1;

        out |= (uint64_t)axe_linear_part(from, v, k)
               << (axe_linear_out_at(to, at) +
                   (skip >= 0 ? low->out_bits[skip] : 0));
    }
    return out;
}

axe_status
axe_linear_mul(axe_ctx *cx, const axe_linear *a, const axe_linear *b,
               axe_linear *out)
{
    axe_linear l = {0};
    int        n = 0;

    l.n_in = join(a->n_in, a->in, a->in_bits, b->n_in, b->in, b->in_bits, l.in,
                  l.in_bits);
    l.n_out = join(a->n_out, a->out, a->out_bits, b->n_out, b->out, b->out_bits,
                   l.out, l.out_bits);
    if (l.n_in < 0 || l.n_out < 0 ||
        axe_linear_in_at(&l, l.n_in) > AXE_LINEAR_BITS ||
        axe_linear_out_at(&l, l.n_out) > AXE_LINEAR_BITS)
        return axe_fail(cx, AXE_NOWHERE, AXE_ELIMIT,
                        "linear: a product of over 12 dimensions or 60 bits");
    for (int d = 0; d < l.n_in; d++) {
        int ia = find(a->n_in, a->in, l.in[d]);
        int ib = find(b->n_in, b->in, l.in[d]);

        for (int i = 0; ia >= 0 && i < a->in_bits[ia]; i++)
            l.basis[n++] =
                moved(a, a->basis[axe_linear_in_at(a, ia) + i], &l, NULL);
        for (int i = 0; ib >= 0 && i < b->in_bits[ib]; i++)
            l.basis[n++] =
                moved(b, b->basis[axe_linear_in_at(b, ib) + i], &l, a);
    }
    *out = l;
    return AXE_OK;
}

static uint64_t
apply(const axe_linear *l, uint64_t x)
{
    uint64_t y = 0;

    for (int i = 0; x >> i; i++)
        y ^= x >> i & 1 ? l->basis[i] : 0;
    return y;
}

/* Columns reduced: pivot[i] has a leading bit that no other has, and is the
 * image of combination[i].  Lower columns come first, so that what they span is
 * spanned by them alone. */
typedef struct reduced {
    int      n;
    uint64_t pivot[AXE_LINEAR_BITS], combination[AXE_LINEAR_BITS], dependent;
} reduced;

static uint64_t
reduce(const reduced *r, uint64_t v, uint64_t *combination)
{
    for (int i = 0; i < r->n; i++)
        if ((v ^ r->pivot[i]) < v) {
            v ^= r->pivot[i];
            *combination ^= r->combination[i];
        }
    return v;
}

static reduced
eliminate(const axe_linear *l)
{
    reduced r = {0};

    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++) {
        uint64_t c = (uint64_t)1 << i, v = reduce(&r, l->basis[i], &c);
        int      k = r.n;

        if (v == 0) {
            r.dependent |= (uint64_t)1 << i;
            continue;
        }
        for (; k > 0 && r.pivot[k - 1] < v; k--) {
            r.pivot[k] = r.pivot[k - 1];
            r.combination[k] = r.combination[k - 1];
        }
        r.pivot[k] = v;
        r.combination[k] = c;
        r.n++;
    }
    return r;
}

uint64_t
axe_linear_free(const axe_linear *l)
{
    return eliminate(l).dependent;
}

bool
axe_linear_surjective(const axe_linear *l)
{
    return eliminate(l).n == axe_linear_out_at(l, l->n_out);
}

/* l's inputs, and `to`'s inputs (or outputs) as outputs. */
static axe_linear
between(const axe_linear *l, int n, const char *const *name, const int *bits)
{
    axe_linear c = *l;

    c.n_out = n;
    for (int k = 0; k < n; k++) {
        c.out[k] = name[k];
        c.out_bits[k] = bits[k];
    }
    return c;
}

axe_status
axe_linear_compose(axe_ctx *cx, const axe_linear *a, const axe_linear *outer,
                   axe_linear *out)
{
    axe_linear c = between(a, outer->n_out, outer->out, outer->out_bits);

    if (a->n_out != outer->n_in)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: compose: %d outputs, %d inputs of the outer",
                        a->n_out, outer->n_in);
    for (int i = 0; i < axe_linear_in_at(a, a->n_in); i++) {
        uint64_t x = 0;

        for (int k = 0; k < a->n_out; k++) {
            int64_t v = axe_linear_part(a, a->basis[i], k);

            if (v >> outer->in_bits[k])
                return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                                "linear: compose: %" PRId64
                                " in dimension %d is beyond the outer's 2^%d",
                                v, k, outer->in_bits[k]);
            x |= (uint64_t)v << axe_linear_in_at(outer, k);
        }
        c.basis[i] = apply(outer, x);
    }
    *out = c;
    return AXE_OK;
}

axe_status
axe_linear_invert_compose(axe_ctx *cx, const axe_linear *a,
                          const axe_linear *outer, axe_linear *out)
{
    axe_linear c = between(a, outer->n_in, outer->in, outer->in_bits);
    axe_linear wide = *outer;
    reduced    r;

    if (a->n_out != outer->n_out)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "linear: invertAndCompose: %d outputs against %d",
                        a->n_out, outer->n_out);
    for (int k = 0; k < a->n_out; k++) {
        wide.out[k] = a->out[k];
        if (a->out_bits[k] > outer->out_bits[k])
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "linear: invertAndCompose: dimension %d has %d "
                            "bits, the outer %d",
                            k, a->out_bits[k], outer->out_bits[k]);
    }
    r = eliminate(&wide);
    for (int i = 0; i < axe_linear_in_at(a, a->n_in); i++) {
        c.basis[i] = 0;
        if (reduce(&r, moved(a, a->basis[i], &wide, NULL), &c.basis[i]))
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "linear: invertAndCompose: the outer never has "
                            "the value of input bit %d",
                            i);
    }
    *out = c;
    return AXE_OK;
}
