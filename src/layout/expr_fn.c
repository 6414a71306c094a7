/* expr_fn.c - the functions of layout expressions, and values as text.  Each
 * function takes arguments whose kinds are checked and calls the algebra. */
#include <inttypes.h>
#include <string.h>

#include "layout/expr_int.h"

static axe_value
of_layout(const axe_layout *l)
{
    return (axe_value){.kind = AXE_VALUE_LAYOUT, .layout = l};
}

static axe_value
of_int(int64_t v)
{
    return (axe_value){.kind = AXE_VALUE_INT, .integer = v};
}

static axe_value
of_bool(bool v)
{
    return (axe_value){.kind = AXE_VALUE_BOOL, .truth = v};
}

/* The axis given, m if none is. */
static axe_axis
axis_of(const axe_value *v)
{
    return v->kind == AXE_VALUE_AXIS ? (axe_axis)v->integer : AXE_AXIS_M;
}

static axe_status
small(axe_ctx *cx, const char *what, int64_t v, int *out)
{
    if (v < INT32_MIN || v > INT32_MAX)
        return axe_fail(cx, AXE_NOWHERE, AXE_EARG,
                        "%s: %" PRId64 " is too large", what, v);
    *out = (int)v;
    return AXE_OK;
}

/* ------------------------------------------------------ layouts to a layout */

typedef axe_status layout_fn(axe_ctx *cx, const axe_layout *l,
                             const axe_layout **out);

static axe_status
map(axe_ctx *cx, layout_fn *fn, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(fn(cx, v[0].layout, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_canon(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map(cx, axe_layout_canon, v, out);
}

static axe_status
fn_inverse(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map(cx, axe_layout_inverse, v, out);
}

static axe_status
fn_left_inverse(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map(cx, axe_layout_left_inverse, v, out);
}

static axe_status
fn_storage(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map(cx, axe_layout_storage, v, out);
}

static axe_status
fn_flat(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    *out = of_layout(axe_layout_flat(cx, v[0].layout));
    return AXE_OK;
}

/* Two layouts, each with the shape of its dims. */
typedef axe_status pair_fn(axe_ctx *cx, const axe_layout *a, axe_shape sa,
                           const axe_layout *b, axe_shape sb,
                           const axe_layout **out);

static axe_status
map_pair(axe_ctx *cx, pair_fn *fn, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(fn(cx, v[0].layout, axe_layout_shape(cx, v[0].layout), v[1].layout,
               axe_layout_shape(cx, v[1].layout), &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_tile(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_tile, v, out);
}

static axe_status
fn_tile_of(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_tile_of, v, out);
}

static axe_status
fn_tile_of_outer(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_tile_of_outer, v, out);
}

static axe_status
fn_sum(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_direct_sum, v, out);
}

static axe_status
fn_sum_left_of(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_sum_left_of, v, out);
}

static axe_status
fn_sum_right_of(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    return map_pair(cx, axe_layout_sum_right_of, v, out);
}

static axe_status
fn_compose(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_compose(cx, v[0].layout, v[1].layout, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_group(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_group(cx, v[0].layout, v[1].shape, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_permute(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;
    axe_shape         order = v[1].shape;
    int              *perm = axe_new_array(cx, int, order.n);

    for (int i = 0; i < order.n; i++)
        AXE_TRY(small(cx, "permute", order.extent[i], &perm[i]));
    AXE_TRY(axe_layout_permute(cx, v[0].layout, order.n, perm, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_tile_to(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_tile_to(
        cx, v[0].layout, axe_layout_shape(cx, v[0].layout), v[1].shape, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_slice(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    axe_shape         shape = axe_layout_shape(cx, v[0].layout);
    const axe_layout *l;

    if (v[1].shape.n != shape.n || v[2].shape.n != shape.n)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "slice: %d begins and %d ends for a layout of %d dims",
                        v[1].shape.n, v[2].shape.n, shape.n);
    AXE_TRY(axe_layout_slice(cx, v[0].layout, shape, v[1].shape.extent,
                             v[2].shape.extent, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_complement(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_complement(cx, v[0].layout, v[1].integer, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_pack(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;
    int               n;

    AXE_TRY(small(cx, "pack", v[1].integer, &n));
    AXE_TRY(axe_layout_pack(cx, v[0].layout, n, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_unpack(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;
    int               n;

    AXE_TRY(small(cx, "unpack", v[1].integer, &n));
    AXE_TRY(axe_layout_unpack(cx, v[0].layout, n, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_fuse(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_fuse_axis(cx, v[0].layout, axis_of(&v[1]), &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_split(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_split_axis(cx, v[0].layout, axis_of(&v[1]), &l));
    *out = of_layout(l);
    return AXE_OK;
}

/* Of a layout: what its swizzle does when addresses count such elements. */
static axe_status
fn_recast(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    bool              whole = v[0].kind == AXE_VALUE_LAYOUT;
    axe_swizzle       s = whole ? v[0].layout->swizzle : v[0].swizzle;
    axe_layout        bare;
    const axe_layout *l;
    int               bits;

    AXE_TRY(small(cx, "recast", v[1].integer, &bits));
    if (!whole || s.bits > 0)
        AXE_TRY(axe_swizzle_recast(cx, s, bits, &s));
    if (!whole) {
        *out = (axe_value){.kind = AXE_VALUE_SWIZZLE, .swizzle = s};
        return AXE_OK;
    }
    bare = *v[0].layout;
    bare.swizzle = s;
    AXE_TRY(axe_layout_make(cx, &bare, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_row_major(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    AXE_TRY(axe_layout_row_major(cx, v[0].shape, &l));
    *out = of_layout(l);
    return AXE_OK;
}

static axe_status
fn_strided(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    const axe_layout *l;

    if (v[0].shape.n != v[1].shape.n)
        return axe_fail(cx, AXE_NOWHERE, AXE_ESHAPE,
                        "strided: %d extents but %d strides", v[0].shape.n,
                        v[1].shape.n);
    AXE_TRY(axe_layout_strided(cx, v[0].shape, v[1].shape.extent, &l));
    *out = of_layout(l);
    return AXE_OK;
}

/* ------------------------------------------------------------------ questions
 */

static axe_status
fn_size(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    (void)cx;
    *out = of_int(v[0].layout->size);
    return AXE_OK;
}

static axe_status
fn_shape(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    *out = (axe_value){.kind = AXE_VALUE_SHAPE,
                       .shape = axe_layout_shape(cx, v[0].layout)};
    return AXE_OK;
}

static axe_status
fn_span(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    int64_t n;

    AXE_TRY(axe_layout_span(cx, v[0].layout, axis_of(&v[1]), &n));
    *out = of_int(n);
    return AXE_OK;
}

static axe_status
fn_cosize(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    int64_t n;

    AXE_TRY(axe_layout_cosize(cx, v[0].layout, axis_of(&v[1]), &n));
    *out = of_int(n);
    return AXE_OK;
}

static axe_status
fn_fiber(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    int64_t n;

    AXE_TRY(axe_layout_fiber_size(cx, v[0].layout, &n));
    *out = of_int(n);
    return AXE_OK;
}

static axe_status
fn_equal(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    bool yes;

    AXE_TRY(axe_layout_equal(cx, v[0].layout, v[1].layout, &yes));
    *out = of_bool(yes);
    return AXE_OK;
}

static axe_status
fn_injective(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    bool yes;

    AXE_TRY(axe_layout_injective(cx, v[0].layout, &yes, NULL));
    *out = of_bool(yes);
    return AXE_OK;
}

static axe_status
fn_surjective(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    bool yes;

    AXE_TRY(axe_layout_surjective(cx, v[0].layout, &yes));
    *out = of_bool(yes);
    return AXE_OK;
}

static axe_status
fn_contiguous(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    *out = of_bool(axe_layout_contiguous(cx, v[0].layout));
    return AXE_OK;
}

static axe_status
fn_compact(axe_ctx *cx, const axe_value *v, axe_value *out)
{
    bool yes;

    AXE_TRY(axe_layout_compact(cx, v[0].layout, &yes));
    *out = of_bool(yes);
    return AXE_OK;
}

/* ------------------------------------------------------------------ the table
 */

static const axe_expr_op ops[] = {
#define FN(name, handler, types, args, what) {#name, types, handler},
#include "layout/expr.def"
};

static const axe_expr_fn_row rows[] = {
#define FN(name, handler, types, args, what) {#name, args, what},
#include "layout/expr.def"
};

static const char *const names[] = {
#define FN(name, handler, types, args, what) #name,
#include "layout/expr.def"
};

const axe_expr_fn_row *
axe_expr_fns(int *n)
{
    *n = AXE_LEN(rows);
    return rows;
}

const axe_expr_op *
axe_expr_find(const char *name)
{
    for (int i = 0; i < AXE_LEN(ops); i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

const char *
axe_expr_nearest(const char *name)
{
    return axe_nearest(name, AXE_LEN(names), names);
}

axe_status
axe_expr_call(axe_ctx *cx, const char *fn, const axe_value *a,
              const axe_value *b, axe_value *out)
{
    axe_value v[AXE_FN_ARGS] = {*a, *b};

    return axe_expr_find(fn)->run(cx, v, out);
}

/* ------------------------------------------------------------ values as text
 */

const char *
axe_value_kind_text(axe_value_kind k)
{
    static const char *const text[] = {
        [AXE_VALUE_NONE] = "nothing",   [AXE_VALUE_LAYOUT] = "a layout",
        [AXE_VALUE_INT] = "an integer", [AXE_VALUE_BOOL] = "a truth value",
        [AXE_VALUE_SHAPE] = "a shape",  [AXE_VALUE_SWIZZLE] = "a swizzle",
        [AXE_VALUE_POINTS] = "points",  [AXE_VALUE_AXIS] = "an axis",
    };

    return text[k];
}

static void
put_shape(axe_buf *b, axe_shape s)
{
    axe_putc(b, '(');
    for (int i = 0; i < s.n; i++)
        axe_putf(b, "%s%" PRId64, i ? ", " : "", s.extent[i]);
    axe_putc(b, ')');
}

static void
put_axis(axe_buf *b, axe_axis a)
{
    if (a != AXE_AXIS_M)
        axe_putf(b, "@%s", axe_axis_name(b->cx, a));
}

static void
put_points(axe_buf *b, const axe_points *p)
{
    for (int i = 0; i < p->n_point; i++) {
        axe_puts(b, i ? " (" : "(");
        for (int k = 0; k < p->n_axis; k++) {
            size_t at = (size_t)i * (size_t)p->n_axis + (size_t)k;

            axe_putf(b, "%s%" PRId64, k ? ", " : "", p->coord[at]);
            put_axis(b, p->axis[k]);
        }
        axe_putc(b, ')');
    }
}

static void
put_swizzle(axe_buf *b, axe_swizzle s)
{
    axe_putf(b, "swizzle<%d, %d, %d>", s.bits, s.base, s.shift);
    if (s.unit_bits)
        axe_putf(b, " %db", s.unit_bits);
}

const char *
axe_value_text(axe_ctx *cx, const axe_value *v)
{
    axe_buf b = {.cx = cx};

    switch (v->kind) {
    case AXE_VALUE_NONE:
        axe_puts(&b, "nothing");
        break;
    case AXE_VALUE_LAYOUT:
        return axe_layout_text(cx, v->layout);
    case AXE_VALUE_INT:
        axe_putf(&b, "%" PRId64, v->integer);
        break;
    case AXE_VALUE_BOOL:
        axe_puts(&b, v->truth ? "true" : "false");
        break;
    case AXE_VALUE_SHAPE:
        put_shape(&b, v->shape);
        break;
    case AXE_VALUE_SWIZZLE:
        put_swizzle(&b, v->swizzle);
        break;
    case AXE_VALUE_POINTS:
        put_points(&b, &v->points);
        break;
    case AXE_VALUE_AXIS:
        axe_puts(&b, axe_axis_name(cx, (axe_axis)v->integer));
        break;
    }
    return b.text ? b.text : "";
}
