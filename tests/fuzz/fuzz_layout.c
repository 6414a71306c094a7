/* fuzz_layout.c - any text is a layout literal or a diagnostic; what is read
 * prints to a text that reads back as the same layout, and the operations that
 * take any layout keep their laws on it.
 *
 * Questions that may list points, and so take a second before they give up,
 * are asked only of layouts with few replicas.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axe/layout.h"
#include "axe/machine.h"
#include "fuzz.h"

enum { MAX_LEN = 4096, MAX_LISTED = 4096 };

static bool
same_iters(int n, const axe_iter *a, const axe_iter *b)
{
    for (int k = 0; k < n; k++)
        if (a[k].extent != b[k].extent || a[k].stride != b[k].stride ||
            a[k].axis != b[k].axis || a[k].unit != b[k].unit)
            return false;
    return true;
}

/* The same fields, not just the same map. */
static bool
identical(const axe_layout *a, const axe_layout *b)
{
    if (a->n_shard != b->n_shard || a->n_replica != b->n_replica ||
        a->n_offset != b->n_offset || a->n_dim != b->n_dim ||
        a->size != b->size || a->swizzle.bits != b->swizzle.bits ||
        a->swizzle.base != b->swizzle.base ||
        a->swizzle.shift != b->swizzle.shift ||
        a->swizzle.unit_bits != b->swizzle.unit_bits)
        return false;
    for (int k = 0; k < a->n_offset; k++)
        if (a->offset[k].value != b->offset[k].value ||
            a->offset[k].axis != b->offset[k].axis ||
            a->offset[k].unit != b->offset[k].unit)
            return false;
    for (int k = 0; k < a->n_dim; k++)
        if (a->dim_end[k] != b->dim_end[k])
            return false;
    return same_iters(a->n_shard, a->shard, b->shard) &&
           same_iters(a->n_replica, a->replica, b->replica);
}

/* Equal maps, or undecided? */
static bool
equal(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    bool       same = false;
    axe_status s = axe_layout_equal(cx, a, b, &same);

    return s == AXE_ELIMIT || (s == AXE_OK && same);
}

/* Has l at most MAX_LISTED replicas of each of n indices? */
static bool
few(const axe_layout *l, int64_t n)
{
    for (int k = 0; k < l->n_replica; k++)
        if (!axe_mul(n, l->replica[k].extent, &n))
            return false;
    return n <= MAX_LISTED;
}

static void
check_text(axe_ctx *cx, const axe_layout *l)
{
    const char       *text = axe_layout_text(cx, l);
    const axe_layout *back;

    assert(axe_layout_read(cx, text, &back) == AXE_OK);
    assert(identical(l, back));
    assert(strcmp(axe_layout_text(cx, back), text) == 0);
}

static void
check_laws(axe_ctx *cx, const axe_layout *l)
{
    const axe_layout *c, *again, *g;

    if (axe_layout_canon(cx, l, &c) == AXE_OK) {
        if (few(l, 1))
            assert(equal(cx, l, c));
        assert(axe_layout_canon(cx, c, &again) == AXE_OK);
        assert(identical(c, again));
        check_text(cx, c);
    }
    assert(axe_layout_group(cx, l, axe_layout_shape(cx, l), &g) == AXE_OK);
    if (few(l, 1))
        assert(equal(cx, l, g));
}

/* Whatever they answer, they answer. */
static void
ask(axe_ctx *cx, const axe_layout *l)
{
    const axe_layout *x, *out;
    axe_points        p;
    axe_axis          thread;
    int64_t           n, witness[2];
    bool              yes;

    if (axe_layout_injective(cx, l, &yes, witness) == AXE_OK && !yes)
        assert(0 <= witness[0] && witness[0] < witness[1] &&
               witness[1] < l->size);
    if (axe_layout_inverse(cx, l, &x) == AXE_OK &&
        axe_layout_compose(cx, x, l, &out) == AXE_OK)
        assert(out->n_replica > 0 || axe_layout_contiguous(cx, out) ||
               l->size == 1);
    (void)!axe_layout_left_inverse(cx, l, &x);
    (void)!axe_layout_complement(cx, l, 1 << 20, &x);
    (void)!axe_layout_surjective(cx, l, &yes);
    (void)!axe_layout_compact(cx, l, &yes);
    (void)!axe_layout_fiber_size(cx, l, &n);
    (void)!axe_layout_span(cx, l, AXE_AXIS_M, &n);
    (void)!axe_layout_cosize(cx, l, AXE_AXIS_M, &n);
    (void)!axe_layout_storage(cx, l, &x);
    (void)!axe_layout_pack(cx, l, 4, &x);
    if (axe_layout_unpack(cx, l, 4, &x) == AXE_OK)
        assert(l->swizzle.bits > 0 || axe_layout_pack(cx, x, 4, &x) == AXE_OK);
    if (axe_axis_find(cx, AXE_NOWHERE, "thread", &thread) == AXE_OK) {
        (void)!axe_layout_fuse_axis(cx, l, thread, &x);
        (void)!axe_layout_split_axis(cx, l, thread, &x);
    }
    assert(axe_layout_apply(cx, l, l->size, &p) != AXE_OK);
    (void)!axe_layout_apply(cx, l, l->size - 1, &p);
}

/* Two layouts, of one text cut at ';'. */
static void
combine(axe_ctx *cx, const axe_layout *a, const axe_layout *b)
{
    axe_shape         sa = axe_layout_shape(cx, a);
    axe_shape         sb = axe_layout_shape(cx, b);
    const axe_layout *t, *x, *back;
    bool              same;

    (void)!axe_layout_equal(cx, a, b, &same);
    if (few(a, a->size) && few(b, b->size))
        (void)!axe_layout_compose(cx, a, b, &x);
    (void)!axe_layout_direct_sum(cx, a, sa, b, sb, &x);
    (void)!axe_layout_tile_of(cx, a, sa, b, sb, &x);
    if (axe_layout_tile(cx, a, sa, b, sb, &t) != AXE_OK)
        return;
    check_text(cx, t);
    axe_shape whole = sa; /* rank dims of outer_k * inner_k */
    int64_t  *e = axe_new_array(cx, int64_t, sa.n);
    for (int k = 0; k < sa.n; k++)
        if (!axe_mul(sa.extent[k], sb.extent[k], &e[k]))
            return;
    whole.extent = e;
    if (axe_layout_tile_of(cx, t, whole, b, sb, &x) == AXE_OK &&
        axe_layout_tile(cx, x, sa, b, sb, &back) == AXE_OK)
        assert(equal(cx, t, back));
}

static const axe_layout *
read(axe_ctx *cx, const char *text)
{
    const axe_layout *l = NULL;

    if (axe_layout_read(cx, text, &l) == AXE_OK)
        return l;
    assert(axe_n_error(cx) > 0);
    return NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    axe_ctx          *cx = axe_ctx_new();
    char             *text = axe_alloc(cx, len + 1), *second;
    const axe_layout *a, *b = NULL;

    if (len > MAX_LEN) {
        axe_ctx_free(cx);
        return 0;
    }
    if (len > 0)
        memcpy(text, data, len);
    assert(axe_axes_load(cx, axe_machine_axes("nvidia")) == AXE_OK);
    axe_axes_open(cx, true);
    second = strchr(text, ';');
    if (second)
        *second++ = '\0';
    a = read(cx, text);
    if (second)
        b = read(cx, second);
    if (a) {
        check_text(cx, a);
        check_laws(cx, a);
    }
    if (a && few(a, 1))
        ask(cx, a);
    if (a && b && few(a, 1) && few(b, 1))
        combine(cx, a, b);
    axe_ctx_free(cx);
    return 0;
}
