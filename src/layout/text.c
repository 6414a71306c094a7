/* text.c - printing layouts.
 *
 * A dim of one iter prints bare, any other in parentheses, so that reading the
 * text back gives the same dims:
 *
 *     two dims of one iter each      (2, 3) : (3, 1)
 *     one dim of two iters           ((2, 3)) : ((3, 1))
 *     two dims, the first without    ((), 3) : ((), 1)
 *     one dim without iters          () : () */
#include <inttypes.h>

#include "layout/layout_int.h"

static void
put_axis(axe_buf *b, axe_axis a)
{
    if (a != AXE_AXIS_M)
        axe_putf(b, "@%s", axe_axis_name(b->cx, a));
}

/* 4, 4@lane, K, -K, 128*K@m. */
static void
put_scaled(axe_buf *b, int64_t value, axe_axis axis, axe_unit unit)
{
    if (unit == AXE_UNIT_ONE)
        axe_putf(b, "%" PRId64, value);
    else if (value == 1 || value == -1)
        axe_putf(b, "%s%s", value < 0 ? "-" : "", axe_unit_text(b->cx, unit));
    else
        axe_putf(b, "%" PRId64 "*%s", value, axe_unit_text(b->cx, unit));
    put_axis(b, axis);
}

static void
put_extent(axe_buf *b, axe_iter it)
{
    axe_putf(b, "%" PRId64, it.extent);
}

static void
put_stride(axe_buf *b, axe_iter it)
{
    put_scaled(b, it.stride, it.axis, it.unit);
}

typedef void put_fn(axe_buf *b, axe_iter it);

static void
put_list(axe_buf *b, int n, const axe_iter *iter, put_fn *put)
{
    axe_putc(b, '(');
    for (int k = 0; k < n; k++) {
        if (k > 0)
            axe_puts(b, ", ");
        put(b, iter[k]);
    }
    axe_putc(b, ')');
}

static void
put_tree(axe_buf *b, const axe_layout *l, put_fn *put)
{
    if (l->n_dim == 1 && l->n_shard == 0) {
        axe_puts(b, "()");
        return;
    }
    axe_putc(b, '(');
    for (int k = 0; k < l->n_dim; k++) {
        int begin = axe_dim_begin(l, k), n = l->dim_end[k] - begin;
        if (k > 0)
            axe_puts(b, ", ");
        if (n == 1)
            put(b, l->shard[begin]);
        else
            put_list(b, n, l->shard + begin, put);
    }
    axe_putc(b, ')');
}

void
axe_replicas_print(axe_buf *b, int n, const axe_iter *iter)
{
    axe_puts(b, " + [");
    if (n == 1) {
        put_extent(b, iter[0]);
        axe_puts(b, " : ");
        put_stride(b, iter[0]);
    } else {
        put_list(b, n, iter, put_extent);
        axe_puts(b, " : ");
        put_list(b, n, iter, put_stride);
    }
    axe_putc(b, ']');
}

static void
put_offset(axe_buf *b, axe_offset o)
{
    bool turn = o.value < 0 && o.value > INT64_MIN;

    axe_puts(b, turn ? " - " : " + ");
    put_scaled(b, turn ? -o.value : o.value, o.axis, o.unit);
}

static void
put_swizzle(axe_buf *b, axe_swizzle s)
{
    if (s.base == 4 && s.shift == 3 && s.unit_bits == 8)
        axe_putf(b, "swizzle(%d)", 16 << s.bits);
    else
        axe_putf(b, "swizzle<%d, %d, %d>", s.bits, s.base, s.shift);
    if (s.unit_bits != 0 && (s.base != 4 || s.shift != 3 || s.unit_bits != 8))
        axe_putf(b, " %db", s.unit_bits);
    axe_puts(b, " o ");
}

const char *
axe_layout_text(axe_ctx *cx, const axe_layout *l)
{
    axe_buf           b = {.cx = cx};
    const axe_offset *offset = axe_offsets_in_order(cx, l);

    if (l->swizzle.bits > 0)
        put_swizzle(&b, l->swizzle);
    put_tree(&b, l, put_extent);
    axe_puts(&b, " : ");
    put_tree(&b, l, put_stride);
    if (l->n_replica > 0)
        axe_replicas_print(&b, l->n_replica, l->replica);
    for (int k = 0; k < l->n_offset; k++)
        put_offset(&b, offset[k]);
    return b.text;
}

const char *
axe_shape_text(axe_ctx *cx, axe_shape s)
{
    axe_buf b = {.cx = cx};

    axe_putc(&b, '(');
    for (int k = 0; k < s.n; k++)
        axe_putf(&b, "%s%" PRId64, k ? ", " : "", s.extent[k]);
    axe_putc(&b, ')');
    return b.text;
}
