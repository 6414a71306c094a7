/* ops_cute.c - CuTe's algebra as operations: each reads its arguments, calls
 * one function of cute.h, writes the result. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/ops.h"
#include "convert/text.h"

/* ------------------------------------------------------- one or two layouts */

typedef axe_status one_fn(axe_ctx *cx, const axe_cute *l, axe_cute *out);
typedef axe_status two_fn(axe_ctx *cx, const axe_cute *a, const axe_cute *b,
                          axe_cute *out);
typedef axe_status number_fn(axe_ctx *cx, const axe_cute *l, int64_t n,
                             axe_cute *out);

static axe_status
one(axe_job *j, one_fn *fn)
{
    axe_cute a, out;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(fn(j->cx, &a, &out));
    return axe_job_reply_cute(j, &out);
}

static axe_status
two(axe_job *j, two_fn *fn)
{
    axe_cute a, b, out;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_cute(j, "b", &b));
    AXE_TRY(fn(j->cx, &a, &b, &out));
    return axe_job_reply_cute(j, &out);
}

static axe_status
with_number(axe_job *j, number_fn *fn)
{
    axe_cute a, out;
    int64_t  n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_int(j, "n", &n));
    AXE_TRY(fn(j->cx, &a, n, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_filter(axe_job *j)
{
    return one(j, axe_cute_filter);
}

axe_status
axe_cop_coalesce(axe_job *j)
{
    return one(j, axe_cute_coalesce);
}

axe_status
axe_cop_right_inverse(axe_job *j)
{
    return one(j, axe_cute_right_inverse);
}

axe_status
axe_cop_left_inverse(axe_job *j)
{
    return one(j, axe_cute_left_inverse);
}

axe_status
axe_cop_nullspace(axe_job *j)
{
    return one(j, axe_cute_nullspace);
}

axe_status
axe_cop_compose(axe_job *j)
{
    return two(j, axe_cute_compose);
}

axe_status
axe_cop_divide(axe_job *j)
{
    return two(j, axe_cute_divide);
}

axe_status
axe_cop_product(axe_job *j)
{
    return two(j, axe_cute_product);
}

axe_status
axe_cop_upcast(axe_job *j)
{
    return with_number(j, axe_cute_upcast);
}

axe_status
axe_cop_downcast(axe_job *j)
{
    return with_number(j, axe_cute_downcast);
}

static axe_status
zip_product(axe_job *j, bool raked)
{
    axe_cute a, b, out;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_cute(j, "b", &b));
    AXE_TRY(axe_cute_zip_product(j->cx, &a, &b, raked, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_blocked(axe_job *j)
{
    return zip_product(j, false);
}

axe_status
axe_cop_raked(axe_job *j)
{
    return zip_product(j, true);
}

static axe_status
divide_by(axe_job *j, axe_cute_form form)
{
    axe_cute a, out, *tiler;
    int      n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_cutes(j, "tiler", &n, &tiler));
    AXE_TRY(axe_cute_divide_by(j->cx, &a, n, tiler, form, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_divide_logical(axe_job *j)
{
    return divide_by(j, AXE_CUTE_LOGICAL);
}

axe_status
axe_cop_divide_zipped(axe_job *j)
{
    return divide_by(j, AXE_CUTE_ZIPPED);
}

axe_status
axe_cop_divide_tiled(axe_job *j)
{
    return divide_by(j, AXE_CUTE_TILED);
}

axe_status
axe_cop_divide_flat(axe_job *j)
{
    return divide_by(j, AXE_CUTE_FLAT);
}

axe_status
axe_cop_compose_by(axe_job *j)
{
    axe_cute a, out, *tiler;
    int      n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_cutes(j, "tiler", &n, &tiler));
    AXE_TRY(axe_cute_compose_by(j->cx, &a, n, tiler, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_coalesce_by(axe_job *j)
{
    axe_cute a, profile, out;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_tree(j, "profile", &profile));
    AXE_TRY(axe_cute_coalesce_by(j->cx, &a, &profile, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_complement(axe_job *j)
{
    axe_cute a, total, out;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_tree(j, "cotarget", &total));
    AXE_TRY(axe_cute_check(j->cx, "cotarget", &total));
    AXE_TRY(axe_cute_complement(j->cx, &a, &total, &out));
    return axe_job_reply_cute(j, &out);
}

static axe_status
reply_value(axe_job *j, int64_t v)
{
    axe_putf(j->out, "{\"value\":%" PRId64 "}", v);
    return AXE_OK;
}

axe_status
axe_cop_common(axe_job *j)
{
    axe_cute a, b;
    int64_t  n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_cute(j, "b", &b));
    AXE_TRY(axe_cute_max_common_vector(j->cx, &a, &b, &n));
    return reply_value(j, n);
}

axe_status
axe_cop_cosize(axe_job *j)
{
    axe_cute a;
    int64_t  n;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_cute_cosize(j->cx, &a, &n));
    return reply_value(j, n);
}

axe_status
axe_cop_distribute(axe_job *j)
{
    axe_cute shape, out;
    int64_t  n;

    AXE_TRY(axe_job_tree(j, "shape_a", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape_a", &shape));
    AXE_TRY(axe_job_int(j, "b", &n));
    AXE_TRY(axe_cute_distribute(j->cx, &shape, n, &out));
    return axe_job_reply_cute(j, &out);
}

/* The order of a layout's modes, a list of as many integers; NULL: missing. */
static axe_status
read_order(axe_job *j, int rank, const int64_t **out)
{
    axe_shape order;

    *out = NULL;
    if (!axe_json_get(j->in, "order"))
        return AXE_OK;
    AXE_TRY(axe_job_shape(j, "order", &order));
    if (order.n != rank)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "order has %d numbers for %d modes", order.n, rank);
    *out = order.extent;
    return AXE_OK;
}

axe_status
axe_cop_ordered(axe_job *j)
{
    axe_cute       shape, out;
    const int64_t *order;

    AXE_TRY(axe_job_tree(j, "shape", &shape));
    AXE_TRY(axe_cute_check(j->cx, "shape", &shape));
    AXE_TRY(read_order(j, axe_cute_rank(&shape), &order));
    AXE_TRY(axe_cute_ordered(j->cx, &shape, order, &out));
    return axe_job_reply_cute(j, &out);
}

axe_status
axe_cop_tile_to_shape(axe_job *j)
{
    axe_cute       a, target, out;
    const int64_t *order;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_tree(j, "target_shape", &target));
    AXE_TRY(axe_cute_check(j->cx, "target_shape", &target));
    AXE_TRY(read_order(j, axe_cute_rank(&target), &order));
    AXE_TRY(axe_cute_tile_to_shape(j->cx, &a, &target, order, &out));
    return axe_job_reply_cute(j, &out);
}

/* Elements of old bits as elements of new: whole multiples at once, else by way
 * of their common part. */
axe_status
axe_cop_recast(axe_job *j)
{
    axe_cute a;
    int64_t  old, now, g;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_job_int(j, "old_bits", &old));
    AXE_TRY(axe_job_int(j, "new_bits", &now));
    if (old < 1 || now < 1)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "recast: elements of %" PRId64 " and %" PRId64
                        " bits; at least 1 is needed",
                        old, now);
    g = axe_gcd(old, now);
    if (old > g)
        AXE_TRY(axe_cute_downcast(j->cx, &a, old / g, &a));
    if (now > g)
        AXE_TRY(axe_cute_upcast(j->cx, &a, now / g, &a));
    return axe_job_reply_cute(j, &a);
}

/* -------------------------------------------------------------- conversions */

static axe_status
to_axe(axe_job *j, bool coordinates)
{
    axe_cute          a;
    axe_cute_composed c = {.layout = &a};
    const axe_layout *l;

    AXE_TRY(axe_job_cute(j, "a", &a));
    AXE_TRY(axe_cute_to_axe(j->cx, &c, coordinates, 0, NULL, &l));
    return axe_job_reply_dims(j, l);
}

axe_status
axe_cop_to_axe_index(axe_job *j)
{
    return to_axe(j, false);
}

axe_status
axe_cop_to_axe_crd(axe_job *j)
{
    return to_axe(j, true);
}

/* {"shape", "D", "R", "O", "groups"}: a layout cut by its shape. */
static axe_status
read_dims(axe_job *j, const axe_json *v, const axe_layout **out)
{
    static const char *const parts[] = {"D", "R", "O"};
    const axe_json          *shape = axe_json_get(v, "shape");
    axe_json                *part = axe_new_array(j->cx, axe_json, 3);
    axe_json                 bare = {.kind = AXE_JSON_OBJECT};
    axe_shape                s;

    if (!shape)
        return axe_json_to_layout(j->cx, v, "axe", out);
    for (int i = AXE_LEN(parts) - 1; i >= 0; i--) {
        const axe_json *p = axe_json_get(v, parts[i]);

        if (!p)
            continue;
        part[i] = *p;
        part[i].next = bare.child;
        bare.child = &part[i];
        bare.n_child++;
    }
    AXE_TRY(axe_json_to_shape(j->cx, shape, "shape", &s));
    AXE_TRY(axe_json_to_layout(j->cx, &bare, "axe", out));
    return axe_layout_group(j->cx, *out, s, out);
}

axe_status
axe_cop_to_tv(axe_job *j)
{
    const axe_json   *id = axe_json_get(j->in, "thr_id");
    const axe_layout *l;
    const char       *axes;
    axe_cute_tv       tv;

    AXE_TRY(axe_job_text(j, "axes", &axes));
    AXE_TRY(read_dims(j, axe_json_get(j->in, "axe"), &l));
    AXE_TRY(axe_cute_tv_from_axe(j->cx, l, axes, &tv));
    axe_puts(j->out, "{\"tv\":\"");
    axe_cute_put_text(j->out, &tv.layout);
    axe_putf(j->out, "\",\"threads\":%" PRId64 ",\"values\":%" PRId64,
             tv.threads, tv.values);
    if (id && tv.thr_id.n_mode != 0) {
        axe_puts(j->out, ",\"thr_id\":\"");
        axe_cute_put_text(j->out, &tv.thr_id);
        axe_putc(j->out, '"');
    }
    axe_putc(j->out, '}');
    return AXE_OK;
}

axe_status
axe_cop_from_tv(axe_job *j)
{
    const axe_layout *l;
    const char       *axes;
    axe_shape         tile;
    axe_cute_tv       tv = {.threads = 0};

    AXE_TRY(axe_job_text(j, "axes", &axes));
    AXE_TRY(axe_job_cute(j, "tv", &tv.layout));
    AXE_TRY(axe_job_shape(j, "shape", &tile));
    if (axe_json_get(j->in, "thr_id"))
        AXE_TRY(axe_job_cute(j, "thr_id", &tv.thr_id));
    AXE_TRY(axe_cute_tv_to_axe(j->cx, &tv, tile, axes, &l));
    return axe_job_reply_dims(j, l);
}
