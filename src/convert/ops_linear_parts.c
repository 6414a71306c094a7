/* ops_linear_parts.c - parts of linear layouts and their quotients, as
 * operations.  Outputs have names, dim0, dim1, .. where `outs` says no others,
 * and come back with their sizes. */
#include <inttypes.h>
#include <string.h>

#include "convert/linear.h"
#include "convert/ops.h"

/* {"bases":..,"outs":{"dim0":4}} */
static axe_status
reply(axe_job *j, const axe_linear *l)
{
    axe_puts(j->out, "{\"bases\":");
    axe_linear_put(j->out, l);
    axe_puts(j->out, ",\"outs\":{");
    for (int k = 0; k < l->n_out; k++) {
        axe_puts(j->out, k ? "," : "");
        axe_json_put_name(j->out, l->out[k]);
        axe_putf(j->out, ":%" PRId64, (int64_t)1 << l->out_bits[k]);
    }
    axe_putc(j->out, '}');
    if (!axe_linear_surjective(l))
        axe_puts(j->out, ",\"surjective\":false");
    axe_putc(j->out, '}');
    return AXE_OK;
}

/* A list of names. */
static axe_status
job_names(axe_job *j, const char *key, axe_linear_names *out)
{
    const axe_json *v = axe_json_get(j->in, key);
    const char    **name;
    int             n = 0;

    if (!v || v->kind != AXE_JSON_LIST || v->n_child > AXE_LINEAR_DIMS)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a list of at most 12 names", key);
    name = axe_new_array(j->cx, const char *, v->n_child + 1);
    for (const axe_json *c = v->child; c; c = c->next) {
        if (c->kind != AXE_JSON_TEXT || strlen(c->text) != c->len)
            return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                            "%s must be a list of at most 12 names", key);
        name[n++] = c->text;
    }
    *out = (axe_linear_names){n, name};
    return AXE_OK;
}

axe_status
axe_cop_linear_strided(axe_job *j)
{
    int64_t    size, step;
    int        n = 0;
    axe_linear l;

    AXE_TRY(axe_job_int(j, "size", &size));
    AXE_TRY(axe_job_int(j, "stride", &step));
    if (size < 1 || step < 1 || (size & (size - 1)) || (step & (step - 1)) ||
        size > (int64_t)1 << 30 || step > (int64_t)1 << 30)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "strided1D: powers of two are needed, up to 2^30");
    while ((int64_t)1 << n < size)
        n++;
    l = axe_linear_strided(n, step, "in", "out");
    return reply(j, &l);
}

axe_status
axe_cop_linear_pseudoinvert(axe_job *j)
{
    axe_linear l;

    AXE_TRY(axe_job_linear(j, "a", &l));
    AXE_TRY(axe_linear_pseudoinvert(j->cx, &l, &l));
    return reply(j, &l);
}

static axe_status
divide(axe_job *j, bool left)
{
    axe_linear a, b;

    AXE_TRY(axe_job_linear(j, "a", &a));
    AXE_TRY(axe_job_linear(j, "b", &b));
    AXE_TRY(axe_linear_divide(j->cx, &a, &b, left, &a));
    return reply(j, &a);
}

axe_status
axe_cop_linear_divide_left(axe_job *j)
{
    return divide(j, true);
}

axe_status
axe_cop_linear_divide_right(axe_job *j)
{
    return divide(j, false);
}

static axe_status
part(axe_job *j, axe_linear *out)
{
    axe_linear_names ins, outs;

    AXE_TRY(axe_job_linear(j, "a", out));
    AXE_TRY(job_names(j, "ins", &ins));
    AXE_TRY(job_names(j, "outs", &outs));
    return axe_linear_sublayout(j->cx, out, ins, outs, out);
}

axe_status
axe_cop_linear_sublayout(axe_job *j)
{
    axe_linear l;

    AXE_TRY(part(j, &l));
    return reply(j, &l);
}

axe_status
axe_cop_linear_sublayout_zero(axe_job *j)
{
    axe_linear l;

    AXE_TRY(part(j, &l));
    axe_puts(j->out, axe_linear_is_zero(&l) ? "true" : "false");
    return AXE_OK;
}

axe_status
axe_cop_linear_transpose_ins(axe_job *j)
{
    axe_linear       l;
    axe_linear_names order;

    AXE_TRY(axe_job_linear(j, "a", &l));
    AXE_TRY(job_names(j, "order", &order));
    AXE_TRY(axe_linear_transpose_ins(j->cx, &l, order, &l));
    return reply(j, &l);
}

axe_status
axe_cop_linear_transpose_outs(axe_job *j)
{
    axe_linear       l;
    axe_linear_names order;

    AXE_TRY(axe_job_linear(j, "a", &l));
    AXE_TRY(job_names(j, "order", &order));
    AXE_TRY(axe_linear_transpose_outs(j->cx, &l, order, &l));
    return reply(j, &l);
}

typedef axe_status reshaper(axe_ctx *cx, const axe_linear *l,
                            axe_linear_names names, const int *bits,
                            axe_linear *out);

static axe_status
reshape(axe_job *j, reshaper *to)
{
    axe_linear       l;
    axe_linear_names names;
    int              bits[AXE_LINEAR_DIMS];

    AXE_TRY(axe_job_linear(j, "a", &l));
    AXE_TRY(axe_json_to_linear_dims(j->cx, axe_json_get(j->in, "dims"), "dims",
                                    &names, bits));
    AXE_TRY(to(j->cx, &l, names, bits, &l));
    return reply(j, &l);
}

axe_status
axe_cop_linear_reshape_ins(axe_job *j)
{
    return reshape(j, axe_linear_reshape_ins);
}

axe_status
axe_cop_linear_reshape_outs(axe_job *j)
{
    return reshape(j, axe_linear_reshape_outs);
}

static axe_status
concat(axe_job *j, bool ins)
{
    axe_linear a, b;

    AXE_TRY(axe_job_linear(j, "a", &a));
    AXE_TRY(axe_job_linear(j, "b", &b));
    AXE_TRY((ins ? axe_linear_concat_ins : axe_linear_concat_outs)(j->cx, &a,
                                                                   &b, &a));
    return reply(j, &a);
}

axe_status
axe_cop_linear_concat_ins(axe_job *j)
{
    return concat(j, true);
}

axe_status
axe_cop_linear_concat_outs(axe_job *j)
{
    return concat(j, false);
}

axe_status
axe_cop_linear_drop_zeros(axe_job *j)
{
    axe_linear  l;
    const char *dim;

    AXE_TRY(axe_job_linear(j, "a", &l));
    AXE_TRY(axe_job_text(j, "dim", &dim));
    AXE_TRY(axe_linear_drop_zeros(j->cx, &l, dim ? dim : "", &l));
    return reply(j, &l);
}
