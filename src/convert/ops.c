/* ops.c - the operations on foreign layouts: their table, and what they read
 * and write. */
#include "convert/ops.h"

#include <inttypes.h>
#include <string.h>

#include "convert/text.h"

static const axe_eval_op rows[] = {
#define OP(name, handler, keys, what) {#name, handler, keys, what, NULL},
#include "convert/ops.def"
};

const axe_eval_ops axe_convert_table = {AXE_LEN(rows), rows, NULL};

const axe_eval_ops *
axe_convert_ops(void)
{
    return &axe_convert_table;
}

/* ---------------------------------------------------------------- trees in */

/* A leaf: 3, or "2@1@0" where it may be a scaled basis. */
static axe_status
to_leaf(axe_job *j, const axe_json *v, const char *key, bool bases,
        axe_cute *out)
{
    axe_cute_composed c;

    if (v->kind == AXE_JSON_INT) {
        *out = axe_cute_leaf(v->integer, 0);
        return AXE_OK;
    }
    if (v->kind != AXE_JSON_TEXT || !bases || strlen(v->text) != v->len)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "column %zu: %s must be a 64-bit integer or a list of "
                        "such, not %s",
                        v->col, key, axe_json_kind_text(v));
    AXE_TRY(axe_cute_read(j->cx, axe_textf(j->cx, "1:%s", v->text), &c));
    if (!axe_cute_is_leaf(c.layout))
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "column %zu: %s is no stride", v->col, v->text);
    *out = axe_cute_leaf(c.layout->stride, 0);
    out->basis = c.layout->basis;
    return AXE_OK;
}

static axe_status
to_tree(axe_job *j, const axe_json *v, const char *key, bool bases, int depth,
        axe_cute *out)
{
    axe_cute *mode;
    int       n = 0;

    if (v->kind != AXE_JSON_LIST)
        return to_leaf(j, v, key, bases, out);
    if (depth == AXE_CUTE_DEPTH || v->n_child > AXE_CUTE_LEAVES)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ELIMIT,
                        "%s is nested deeper than %d, or longer than %d", key,
                        AXE_CUTE_DEPTH, AXE_CUTE_LEAVES);
    mode = axe_new_array(j->cx, axe_cute, v->n_child + 1);
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(to_tree(j, c, key, bases, depth + 1, &mode[n++]));
    *out = (axe_cute){.n_mode = n, .mode = mode};
    return AXE_OK;
}

axe_status
axe_job_tree(axe_job *j, const char *key, axe_cute *out)
{
    return to_tree(j, axe_json_get(j->in, key), key, false, 0, out);
}

/* Two trees of numbers as one layout. */
static axe_status
zip(axe_job *j, const char *key, const axe_cute *shape, const axe_cute *stride,
    axe_cute *out)
{
    axe_cute *mode;

    if (shape->n_mode != stride->n_mode)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESHAPE,
                        "%s: strides must be nested as the shape is: %s "
                        "against %s",
                        key, axe_cute_shape_text(j->cx, shape),
                        axe_cute_shape_text(j->cx, stride));
    if (axe_cute_is_leaf(shape)) {
        *out = axe_cute_leaf(shape->shape, stride->shape);
        out->basis = stride->basis;
        return AXE_OK;
    }
    mode = axe_new_array(j->cx, axe_cute, shape->n_mode + 1);
    for (int i = 0; i < shape->n_mode; i++)
        AXE_TRY(zip(j, key, &shape->mode[i], &stride->mode[i], &mode[i]));
    *out = (axe_cute){.n_mode = shape->n_mode, .mode = mode};
    return AXE_OK;
}

static axe_status
read_text(axe_job *j, const axe_json *v, const char *key, axe_cute *out)
{
    axe_cute_composed c;

    if (strlen(v->text) != v->len)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_ESYNTAX, "%s has a NUL in it",
                        key);
    AXE_TRY(axe_cute_read(j->cx, v->text, &c));
    if (c.swizzle.bits > 0 || c.offset != 0)
        return axe_fail(
            j->cx, AXE_NOWHERE, AXE_EUNSUPPORTED,
            "%s: a composed layout; the algebra is about plain ones", key);
    *out = *c.layout;
    return AXE_OK;
}

/* A layout that is the JSON value v; a number n is n:1. */
axe_status
axe_json_to_cute(axe_job *j, const axe_json *v, const char *key, axe_cute *out)
{
    const axe_json *shape = axe_json_get(v, "shape");
    const axe_json *stride = axe_json_get(v, "stride");
    axe_cute        a, b;

    if (v->kind == AXE_JSON_TEXT)
        return read_text(j, v, key, out);
    if (v->kind == AXE_JSON_INT) {
        *out = axe_cute_leaf(v->integer, 1);
        return axe_cute_check(j->cx, key, out);
    }
    if (!shape || !stride)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "column %zu: %s must be {\"shape\":.., \"stride\":..}, "
                        "not %s",
                        v->col, key, axe_json_kind_text(v));
    AXE_TRY(to_tree(j, shape, key, false, 0, &a));
    AXE_TRY(to_tree(j, stride, key, true, 0, &b));
    AXE_TRY(zip(j, key, &a, &b, out));
    return axe_cute_check(j->cx, key, out);
}

axe_status
axe_job_cute(axe_job *j, const char *key, axe_cute *out)
{
    return axe_json_to_cute(j, axe_json_get(j->in, key), key, out);
}

/* A list of layouts. */
axe_status
axe_job_cutes(axe_job *j, const char *key, int *n, axe_cute **out)
{
    const axe_json *v = axe_json_get(j->in, key);

    if (v->kind != AXE_JSON_LIST)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a list of layouts, not %s", key,
                        axe_json_kind_text(v));
    *out = axe_new_array(j->cx, axe_cute, v->n_child + 1);
    *n = 0;
    for (const axe_json *c = v->child; c; c = c->next)
        AXE_TRY(axe_json_to_cute(j, c, key, &(*out)[(*n)++]));
    return AXE_OK;
}

/* --------------------------------------------------------------- and out */

void
axe_put_tree(axe_buf *b, const axe_cute *l, bool stride)
{
    if (!axe_cute_is_leaf(l)) {
        axe_putc(b, '[');
        for (int i = 0; i < l->n_mode; i++) {
            if (i > 0)
                axe_putc(b, ',');
            axe_put_tree(b, &l->mode[i], stride);
        }
        axe_putc(b, ']');
    } else if (stride && l->basis.n > 0) {
        axe_putf(b, "\"%" PRId64, l->stride);
        for (int i = 0; i < l->basis.n; i++)
            axe_putf(b, "@%d", l->basis.at[i]);
        axe_putc(b, '"');
    } else {
        axe_putf(b, "%" PRId64, stride ? l->stride : l->shape);
    }
}

axe_status
axe_job_reply_cute(axe_job *j, const axe_cute *l)
{
    axe_puts(j->out, "{\"shape\":");
    axe_put_tree(j->out, l, false);
    axe_puts(j->out, ",\"stride\":");
    axe_put_tree(j->out, l, true);
    axe_putc(j->out, '}');
    return AXE_OK;
}

void
axe_put_dims(axe_buf *b, const axe_layout *l, axe_shape shape)
{
    axe_iter *it = axe_new_array(b->cx, axe_iter, l->n_shard + 1);
    int      *group = axe_new_array(b->cx, int, l->n_dim + 1);
    int       n = 0;

    for (int k = 0, i = 0; k < l->n_dim; k++)
        for (; i < l->dim_end[k]; i++)
            if (l->shard[i].extent > 1) {
                it[n++] = l->shard[i];
                group[k]++;
            }
    axe_puts(b, "\"shape\":[");
    for (int k = 0; k < shape.n; k++)
        axe_putf(b, "%s%" PRId64, k ? "," : "", shape.extent[k]);
    axe_puts(b, "],\"D\":");
    axe_json_put_iters(b, n, it);
    axe_puts(b, ",\"groups\":");
    axe_json_put_ints(b, l->n_dim, group);
    axe_puts(b, ",\"R\":");
    axe_json_put_iters(b, l->n_replica, l->replica);
    axe_puts(b, ",\"O\":");
    axe_json_put_offsets(b, l);
}

axe_status
axe_job_reply_dims(axe_job *j, const axe_layout *l)
{
    axe_putc(j->out, '{');
    axe_put_dims(j->out, l, axe_layout_shape(j->cx, l));
    axe_putc(j->out, '}');
    return AXE_OK;
}

/* ------------------------------------------------------------------ formats */

/* A text argument, or NULL. */
axe_status
axe_job_text(axe_job *j, const char *key, const char **out)
{
    const axe_json *v = axe_json_get(j->in, key);

    *out = NULL;
    if (!v || v->kind == AXE_JSON_NULL)
        return AXE_OK;
    if (v->kind != AXE_JSON_TEXT || strlen(v->text) != v->len)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "%s must be a text, not %s", key,
                        axe_json_kind_text(v));
    *out = v->text;
    return AXE_OK;
}

static axe_status
read_keep(axe_job *j, axe_keep *out)
{
    const char *text;

    *out = AXE_KEEP_UNSAID;
    AXE_TRY(axe_job_text(j, "keep", &text));
    if (text && strcmp(text, "index") == 0)
        *out = AXE_KEEP_INDEX;
    else if (text && strcmp(text, "coordinates") == 0)
        *out = AXE_KEEP_COORDINATES;
    else if (text)
        return axe_fail(j->cx, AXE_NOWHERE, AXE_EARG,
                        "keep is \"index\" or \"coordinates\", not \"%s\"",
                        text);
    return AXE_OK;
}

axe_status
axe_cop_convert(axe_job *j)
{
    axe_convert_options opt = {0}, own;
    const axe_layout   *l;
    const char         *text, *from, *to, *out;
    int64_t             bits;

    AXE_TRY(axe_job_text(j, "text", &text));
    AXE_TRY(axe_job_text(j, "from", &from));
    AXE_TRY(axe_job_text(j, "to", &to));
    AXE_TRY(axe_job_text(j, "mesh", &opt.mesh));
    AXE_TRY(axe_job_text(j, "axes", &opt.axes));
    AXE_TRY(read_keep(j, &opt.keep));
    if (axe_json_get(j->in, "shape"))
        AXE_TRY(axe_job_shape(j, "shape", &opt.shape));
    if (axe_json_get(j->in, "bits")) {
        AXE_TRY(axe_job_int(j, "bits", &bits));
        opt.bits = bits < 0 || bits > 1024 ? -1 : (int)bits;
    }
    from = from ? from : "axe";
    to = to ? to : "axe";
    own = axe_convert_taken(&opt, from);
    AXE_TRY(axe_convert_read(j->cx, from, text ? text : "", &own, &l));
    own = axe_convert_taken(&opt, to);
    AXE_TRY(axe_convert_write(j->cx, to, l, &own, &out));
    return axe_job_reply_text(j, out);
}

axe_status
axe_cop_formats(axe_job *j)
{
    int                   n;
    const axe_format_row *row = axe_formats(&n);

    for (int i = 0; i < n; i++) {
        axe_puts(j->out, i ? ",{\"name\":" : "[{\"name\":");
        axe_json_put_name(j->out, row[i].name);
        axe_puts(j->out, ",\"options\":");
        axe_json_put_name(j->out, row[i].options);
        axe_puts(j->out, ",\"what\":");
        axe_json_put_name(j->out, row[i].what);
        axe_putf(j->out, ",\"reads\":%s,\"writes\":%s}",
                 row[i].reads ? "true" : "false",
                 row[i].writes ? "true" : "false");
    }
    axe_putc(j->out, ']');
    return AXE_OK;
}
