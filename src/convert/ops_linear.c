/* ops_linear.c - linear layouts, Triton's, as operations. */
#include <inttypes.h>
#include <string.h>

#include "convert/bitlinear.h"
#include "convert/linear.h"
#include "convert/ops.h"

/* {"D", "R"?, "O"?}, the arguments themselves, or {"layout"}. */
static axe_status
own_layout(axe_job *j, const axe_layout **out)
{
    if (axe_json_get(j->in, "layout"))
        return axe_job_layout(j, "layout", out);
    return axe_json_to_layout(j->cx, j->in, "layout", out);
}

axe_status
axe_cop_bit_linear(axe_job *j)
{
    const axe_layout *l;
    axe_bit          *b;
    int64_t           w[2];
    bool              yes;
    int               n;

    AXE_TRY(own_layout(j, &l));
    AXE_TRY(axe_bit_linear(j->cx, l, &yes, &n, &b, w));
    if (!yes) {
        axe_putf(j->out,
                 "{\"bit_linear\":false,\"witness\":[%" PRId64 ",%" PRId64 "]}",
                 w[0], w[1]);
        return AXE_OK;
    }
    axe_puts(j->out, "{\"bit_linear\":true,\"bases\":{");
    for (int i = 0; i < n; i++) {
        axe_putf(j->out, "%s\"%" PRId64 "\":{", i ? "," : "", (int64_t)1 << i);
        if (b[i].stride != 0) {
            axe_json_put_name(j->out, axe_axis_name(j->cx, b[i].axis));
            axe_putf(j->out, ":%" PRId64, b[i].stride);
        }
        axe_putc(j->out, '}');
    }
    axe_puts(j->out, "}}");
    return AXE_OK;
}

/* ------------------------------------------------------------ linear layouts
 */

static axe_status
reply_linear(axe_job *j, const axe_linear *l)
{
    axe_puts(j->out, "{\"bases\":");
    axe_linear_put(j->out, l);
    if (!axe_linear_surjective(l))
        axe_puts(j->out, ",\"surjective\":false");
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_json_to_linear_dims(axe_ctx *cx, const axe_json *v, const char *what,
                        axe_linear_names *names, int *bits)
{
    const char **name;
    int          n = 0;

    if (!v || v->kind != AXE_JSON_OBJECT || v->n_child > AXE_LINEAR_DIMS)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be an object of names and sizes, at most 12",
                        what);
    name = axe_new_array(cx, const char *, v->n_child + 1);
    for (const axe_json *c = v->child; c; c = c->next, n++) {
        int64_t size = c->kind == AXE_JSON_INT ? c->integer : 0;

        if (size < 1 || (size & (size - 1)) || size >> 60)
            return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                            "%s: the size of '%s' must be a power of two below "
                            "2^60",
                            what, c->key);
        name[n] = c->key;
        for (bits[n] = 0; (int64_t)1 << bits[n] < size; bits[n]++)
            ;
    }
    *names = (axe_linear_names){n, name};
    return AXE_OK;
}

/* Bases, and outputs with other names and sizes than the bases tell. */
static axe_status
with_outs(axe_ctx *cx, const axe_json *bases, const axe_json *outs,
          axe_linear *out)
{
    axe_linear_names names;
    int              bits[AXE_LINEAR_DIMS];
    int64_t          extent[AXE_LINEAR_DIMS];

    AXE_TRY(axe_json_to_linear_dims(cx, outs, "outs", &names, bits));
    for (int k = 0; k < names.n; k++)
        extent[k] = (int64_t)1 << bits[k];
    AXE_TRY(axe_linear_read(cx, bases, (axe_shape){names.n, extent}, out));
    for (int k = 0; k < names.n; k++)
        out->out[k] = names.name[k];
    return AXE_OK;
}

/* {"identity1D": [n, in, out]}, {"zeros1D": ..}, {"bases": .., "outs"?} or
 * bases. */
static axe_status
to_linear(axe_job *j, const axe_json *v, axe_linear *out)
{
    const axe_json *one = axe_json_get(v, "identity1D");
    const axe_json *made = one ? one : axe_json_get(v, "zeros1D");
    const axe_json *bases = axe_json_get(v, "bases");
    const axe_json *outs = bases ? axe_json_get(v, "outs") : NULL;
    int             n = 0;

    if (outs)
        return with_outs(j->cx, bases, outs, out);
    if (!made)
        return axe_linear_read(j->cx, bases ? bases : v, (axe_shape){0, NULL},
                               out);
    if (made->kind != AXE_JSON_LIST || made->n_child != 3 ||
        made->child->kind != AXE_JSON_INT ||
        made->child->next->kind != AXE_JSON_TEXT ||
        made->child->next->next->kind != AXE_JSON_TEXT)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "identity1D and zeros1D are [size, input, output]");
    while (n < 60 && (int64_t)1 << n < made->child->integer)
        n++;
    if (n == 60 || (int64_t)1 << n != made->child->integer)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "a size of %" PRId64 "; powers of two are needed",
                        made->child->integer);
    *out = (one ? axe_linear_identity : axe_linear_zeros)(
        n, made->child->next->text, made->child->next->next->text);
    return AXE_OK;
}

axe_status
axe_job_linear(axe_job *j, const char *key, axe_linear *out)
{
    return to_linear(j, axe_json_get(j->in, key), out);
}

static axe_status
two(axe_job *j, const char *a, const char *b, axe_linear out[2])
{
    AXE_TRY(to_linear(j, axe_json_get(j->in, a), &out[0]));
    return to_linear(j, axe_json_get(j->in, b), &out[1]);
}

axe_status
axe_cop_linear_named(axe_job *j)
{
    axe_shape  shape;
    axe_linear l;

    AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_linear_named(j->cx, axe_json_get(j->in, "layout"), shape, &l));
    return reply_linear(j, &l);
}

axe_status
axe_cop_linear_to_axe(axe_job *j)
{
    axe_shape         shape = {0, NULL};
    axe_linear        l;
    const axe_layout *x;

    if (axe_json_get(j->in, "shape"))
        AXE_TRY(axe_job_shape(j, "shape", &shape));
    AXE_TRY(axe_linear_read(j->cx, axe_json_get(j->in, "bases"), shape, &l));
    AXE_TRY(axe_linear_to_axe(j->cx, &l, &x));
    return axe_job_reply_dims(j, x);
}

axe_status
axe_cop_linear_from_axe(axe_job *j)
{
    axe_shape         shape;
    axe_linear        l;
    const axe_layout *x;

    AXE_TRY(axe_job_layout(j, "layout", &x));
    if (axe_json_get(j->in, "shape")) {
        AXE_TRY(axe_job_shape(j, "shape", &shape));
        AXE_TRY(axe_layout_group(j->cx, x, shape, &x));
    }
    AXE_TRY(axe_linear_from_axe(j->cx, x, &l));
    return reply_linear(j, &l);
}

static axe_status
one_dim(axe_job *j, bool zeros)
{
    axe_json   v = {.kind = AXE_JSON_INT};
    int        n = 0;
    axe_linear l;

    AXE_TRY(axe_job_int(j, "size", &v.integer));
    while (n < 60 && (int64_t)1 << n < v.integer)
        n++;
    if (n == 60 || (int64_t)1 << n != v.integer)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "a size of %" PRId64 "; powers of two are needed",
                        v.integer);
    l = (zeros ? axe_linear_zeros : axe_linear_identity)(n, "in", "out");
    return reply_linear(j, &l);
}

axe_status
axe_cop_linear_identity(axe_job *j)
{
    return one_dim(j, false);
}

axe_status
axe_cop_linear_zeros(axe_job *j)
{
    return one_dim(j, true);
}

axe_status
axe_cop_linear_multiply(axe_job *j)
{
    axe_linear l[2], out;

    AXE_TRY(two(j, "a", "b", l));
    AXE_TRY(axe_linear_mul(j->cx, &l[0], &l[1], &out));
    return reply_linear(j, &out);
}

axe_status
axe_cop_linear_compose(axe_job *j)
{
    axe_linear l[2], out;

    AXE_TRY(two(j, "this", "outer", l));
    AXE_TRY(axe_linear_compose(j->cx, &l[0], &l[1], &out));
    return reply_linear(j, &out);
}

axe_status
axe_cop_linear_invert(axe_job *j)
{
    axe_linear l[2], out;

    AXE_TRY(two(j, "this", "outer", l));
    AXE_TRY(axe_linear_invert_compose(j->cx, &l[0], &l[1], &out));
    return reply_linear(j, &out);
}

axe_status
axe_cop_linear_free(axe_job *j)
{
    axe_linear l;
    uint64_t   mask;

    AXE_TRY(to_linear(j, axe_json_get(j->in, "bases"), &l));
    mask = axe_linear_free(&l);
    for (int d = 0; d < l.n_in; d++) {
        uint64_t ones = ((uint64_t)1 << l.in_bits[d]) - 1;

        axe_puts(j->out, d ? "," : "{");
        axe_json_put_name(j->out, l.in[d]);
        axe_putf(j->out, ":%" PRIu64, mask >> axe_linear_in_at(&l, d) & ones);
    }
    axe_puts(j->out, l.n_in ? "}" : "{}");
    return AXE_OK;
}

/* The largest V with L(aV + v) = L(aV) + v in the first input and output: its
 * first bases count up, and no other touches what they count. */
axe_status
axe_cop_linear_consecutive(axe_job *j)
{
    axe_linear l;
    uint64_t   rest = 0;
    int        n = 0;

    AXE_TRY(to_linear(j, j->in, &l));
    while (l.n_in > 0 && n < l.in_bits[0] && l.basis[n] == (uint64_t)1 << n)
        n++;
    for (int i = n; i < axe_linear_in_at(&l, l.n_in); i++)
        rest |= (uint64_t)axe_linear_part(&l, l.basis[i], 0);
    while (n > 0 && rest & (((uint64_t)1 << n) - 1))
        n--;
    axe_putf(j->out, "{\"n\":%" PRId64 "}", (int64_t)1 << n);
    return AXE_OK;
}

/* Is input d the identity of output d, and mixed with nothing? */
static bool
stays(const axe_linear *l, int d)
{
    uint64_t ones = ((uint64_t)1 << l->out_bits[d]) - 1;
    uint64_t own = ones << axe_linear_out_at(l, d);
    int      at = axe_linear_in_at(l, d);

    for (int i = 0; i < axe_linear_in_at(l, l->n_in); i++) {
        bool     mine = i >= at && i < at + l->in_bits[d];
        uint64_t want = (uint64_t)1
                        << (axe_linear_out_at(l, d) + (i - at) % 60);

        if (mine ? l->basis[i] != want : (l->basis[i] & own) != 0)
            return false;
    }
    return l->in_bits[d] == l->out_bits[d];
}

/* Inputs whose names are in `over`, and the outputs of their places, dropped.
 */
axe_status
axe_cop_linear_quotient(axe_job *j)
{
    const axe_json *over = axe_json_get(j->in, "over");
    axe_linear      l, out = {0};

    AXE_TRY(to_linear(j, axe_json_get(j->in, "bases"), &l));
    if (l.n_in != l.n_out || over->kind != AXE_JSON_LIST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "quotient: as many outputs as inputs are needed, and a "
                        "list of inputs");
    for (int d = 0; d < l.n_in; d++) {
        bool gone = false;

        for (const axe_json *c = over->child; c; c = c->next)
            gone = gone ||
                   (c->kind == AXE_JSON_TEXT && strcmp(c->text, l.in[d]) == 0);
        if (gone && !stays(&l, d))
            return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                            "quotient: the map is not the identity on %s, or "
                            "mixes it with others",
                            l.in[d]);
        if (gone)
            continue;
        out.in[out.n_in] = l.in[d];
        out.in_bits[out.n_in++] = l.in_bits[d];
        out.out[out.n_out] = l.out[d];
        out.out_bits[out.n_out++] = l.out_bits[d];
    }
    for (int d = 0; d < out.n_in; d++) {
        int from = 0;

        while (strcmp(l.in[from], out.in[d]) != 0)
            from++;
        for (int i = 0; i < out.in_bits[d]; i++) {
            uint64_t v = l.basis[axe_linear_in_at(&l, from) + i], w = 0;

            for (int k = 0, to = 0; k < l.n_out; k++)
                if (to < out.n_out && strcmp(l.out[k], out.out[to]) == 0) {
                    w |= (uint64_t)axe_linear_part(&l, v, k)
                         << axe_linear_out_at(&out, to);
                    to++;
                }
            out.basis[axe_linear_in_at(&out, d) + i] = w;
        }
    }
    return reply_linear(j, &out);
}
