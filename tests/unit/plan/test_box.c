/* test_box.c - tiles as boxes of tensor maps: known cases with their reasons,
 * and random tiles, each element of whose boxes is compared. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/simt/copy/tma_box.h"

/* A global tensor of the strides in the text, "1*K 8 1", and the dimensions
 * that the tile's dims walk, "02". */
typedef struct row {
    axe_type    type;
    const char *strides, *walks, *tile;
    int         swizzle, share;
    const char *says;
} row;

/* clang-format off */
static const row rows[] = {
    /* A K-major operand of a 128-byte swizzle: a whole box. */
    {AXE_TYPE_bf16, "K 1", "01", "(128, 64) : (64, 1)", 128, 1,
     "box 1:64 0:128 swizzle 128 bytes 16384; strides of T in bytes are "
     "multiples of 16: 2*K"},
    /* Twice as deep: two boxes. */
    {AXE_TYPE_bf16, "8*K 1", "01", "(128, (2, 64)) : (64, (8192, 1))", 128, 1,
     "box 1:64 0:128 loop 2 step 8192 move 1:64 swizzle 128 bytes 16384"},
    /* A multicast: each of two CTAs brings half of the rows. */
    {AXE_TYPE_f16, "8*K 1", "01", "(256, 64) : (64, 1)", 128, 2,
     "box 1:64 0:128 part 2 step 8192 move 0:128 swizzle 128 bytes 16384"},
    {AXE_TYPE_f16, "8*K 1", "01", "(256, (2, 64)) : (64, (16384, 1))", 128, 2,
     "box 1:64 0:256 part 2 step 16384 move 1:64 swizzle 128 bytes 32768"},
    {AXE_TYPE_f16, "8*K 1", "01", "(255, 64) : (64, 1)", 128, 2,
     "no: no loop and no slow side of its boxes has a multiple of 2 iterations"},
    /* The tile is the tensor's transpose, MN-major. */
    {AXE_TYPE_f16, "8*N 1", "10", "((2, 64), 64) : ((4096, 1), 64)", 128, 1,
     "box 1:64 0:64 loop 2 step 4096 move 1:64 swizzle 128 bytes 8192"},
    /* A dimension that stands still, and one that is longer than a box. */
    {AXE_TYPE_f32, "4*K*M 4*K 1", "12", "(512, 32) : (32, 1)", 128, 1,
     "box 2:32 1:256 0:1 loop 2 step 8192 move 1:256 swizzle 128 bytes 32768"},
    {AXE_TYPE_f32, "4*K*M 4*K 1", "012", "(2, 16, 32) : (512, 32, 1)", 0, 1,
     "box 2:32 1:16 0:2 swizzle 0 bytes 4096"},
    {AXE_TYPE_u8, "16*K 1", "01", "(64, 96) : (96, 1)", 0, 1,
     "box 1:96 0:64 swizzle 0 bytes 6144"},
    /* Padding behind the rows: a box for each, if they begin well. */
    {AXE_TYPE_f16, "8*K 1", "01", "(16, 64) : (128, 1)", 0, 1,
     "box 1:64 0:1 loop 16 step 128 move 0:1 swizzle 0 bytes 128"},
    {AXE_TYPE_f16, "8*K 1", "01", "(16, 64) : (72, 1)", 0, 1,
     "no: boxes would lie 144 bytes apart, no multiple of 128"},
    {AXE_TYPE_f16, "8*K 1", "01", "(64, 16) : (1, 64)", 0, 1,
     "no: what is fast in the tile is not what is fast in the tensor"},
    {AXE_TYPE_f16, "8*K 1", "01", "(64, 12) : (12, 1)", 0, 1,
     "no: rows of a box would be 12 f16, no multiple of 16 bytes"},
    {AXE_TYPE_f16, "8*K 1", "01", "(64, 32) : (32, 1)", 128, 1,
     "no: rows of a box would be 64 bytes under a swizzle of 128"},
    {AXE_TYPE_f16, "12 1", "01", "(64, 64) : (64, 1)", 128, 1,
     "no: a stride of T is 24 bytes, no multiple of 16"},
    {AXE_TYPE_f16, "8*K 1", "01", "(64, 64) : (0, 1)", 128, 1,
     "no: elements of the tile share a place, or lie in no memory"},
    {AXE_TYPE_f16, "8*K 1", "11", "(64, 64) : (64, 1)", 128, 1,
     "no: two indices walk one dimension of the tensor"},
    {AXE_TYPE_i4, "32*K 1", "01", "(64, 64) : (64, 1)", 0, 1,
     "no: maps have no elements of 4 bits"},
    /* Two to a byte: rows of 256 elements under the swizzle, strides in halves. */
    {AXE_TYPE_f4e2m1, "K 1", "01", "(128, 256) : (256, 1)", 128, 1,
     "box 1:256 0:128 swizzle 128 bytes 16384; strides of T in bytes are "
     "multiples of 16: K/2"},
    {AXE_TYPE_f4e2m1, "32*K 1", "01", "(128, (2, 256)) : (256, (32768, 1))",
     128, 1,
     "box 1:256 0:128 loop 2 step 32768 move 1:256 swizzle 128 bytes 16384"},
    {AXE_TYPE_f4e2m1, "32*K 1", "01", "(128, 256) : (256, 1)", 128, 2,
     "box 1:256 0:64 part 2 step 16384 move 0:64 swizzle 128 bytes 8192"},
    {AXE_TYPE_f4e2m1, "48 1", "01", "(64, 64) : (64, 1)", 0, 1,
     "no: a stride of T is 24 bytes, no multiple of 16"},
    {AXE_TYPE_f4e2m1, "32*K 1", "01", "(64, 48) : (48, 1)", 0, 1,
     "no: rows of a box would be 48 f4e2m1, no multiple of 16 bytes"},
    {AXE_TYPE_f4e2m1, "32*K 1", "01", "(16, 64) : (96, 1)", 0, 1,
     "no: boxes would lie 48 bytes apart, no multiple of 128"},
    {AXE_TYPE_f16, "K K K K K 1", "01", "(64, 64) : (64, 1)", 0, 1,
     "no: T has 6 dimensions; maps have 1 to 5"},
};
/* clang-format on */

static void
read_strides(axe_ctx *cx, const char *text, axe_tensor *t)
{
    axe_stride *st = axe_new_array(cx, axe_stride, AXE_RANK_MAX);

    while (*text) {
        char *end;
        st[t->rank] = (axe_stride){strtoll(text, &end, 10), AXE_UNIT_ONE};
        if (end == text)
            st[t->rank].coef = 1;
        for (text = end; *text && *text != ' '; text++)
            if (*text != '*')
                st[t->rank].unit = axe_unit_mul(
                    cx, st[t->rank].unit,
                    axe_unit_symbol(cx, axe_textf(cx, "%c", *text)));
        text += strspn(text, " ");
        t->rank++;
    }
    t->stride = st;
}

static axe_box_copy
copy_of(axe_ctx *cx, const axe_tensor *t, const axe_layout *l,
        const char *walks, int swizzle, int share)
{
    axe_box_walk *w = axe_new_array(cx, axe_box_walk, l->n_dim);
    axe_box_copy  c = {t,   l->n_dim, w,
                       {0}, share,    t->type == AXE_TYPE_f4e2m1 ? 4 : 8};

    for (int d = 0, from = 0; d < l->n_dim; from = l->dim_end[d++])
        w[d] = (axe_box_walk){walks[d] - '0', l->dim_end[d] - from,
                              l->shard + from};
    if (swizzle > 0)
        assert_int_equal(axe_swizzle_of_bytes(cx, swizzle, &c.swizzle), AXE_OK);
    return c;
}

static const char *
text_of(axe_ctx *cx, const axe_box *b, const char *why)
{
    axe_buf out = {.cx = cx};

    axe_puts(&out, "box");
    for (int i = 0; i < b->rank; i++)
        axe_putf(&out, " %d:%d", b->dim[i], b->extent[i]);
    for (int i = 0; i <= b->n_loop; i++) {
        const axe_box_loop *l = i < b->n_loop ? &b->loop[i] : &b->part;
        if (l->extent > 1)
            axe_putf(&out, " %s %" PRId64 " step %" PRId64 " move %d:%" PRId64,
                     l == &b->part ? "part" : "loop", l->extent, l->step,
                     l->dim, l->move);
    }
    axe_putf(&out, " swizzle %d bytes %" PRId64 "%s%s", b->swizzle, b->bytes,
             *why ? "; " : "", why);
    return out.text;
}

static void
test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < AXE_LEN(rows); i++) {
        const row        *r = &rows[i];
        axe_ctx          *cx = axe_ctx_new();
        axe_tensor        t = {.name = "T", .type = r->type};
        const axe_layout *l = NULL;
        const char       *why = NULL, *says;
        axe_box           b;
        axe_answer        a;

        read_strides(cx, r->strides, &t);
        assert_int_equal(axe_layout_read(cx, r->tile, &l), AXE_OK);
        axe_box_copy c = copy_of(cx, &t, l, r->walks, r->swizzle, r->share);
        a = axe_box_find(cx, &c, &b, &why);
        says =
            a == AXE_NO ? axe_textf(cx, "no: %s", why) : text_of(cx, &b, why);
        assert_string_equal(says, r->says);
        if (a != AXE_NO)
            assert_int_equal(axe_box_certify(cx, &c, &b), l->size);
        axe_ctx_free(cx);
    }
}

/* A difference in any field is one that the certificate notices. */
static void
test_certificate_fails(void **state)
{
    axe_ctx          *cx = axe_ctx_new();
    axe_tensor        t = {.name = "T", .type = AXE_TYPE_f16};
    const axe_layout *l = NULL;
    const char       *why = NULL;
    axe_box           b, x;

    (void)state;
    read_strides(cx, "8*K 1", &t);
    assert_int_equal(
        axe_layout_read(cx, "(512, (2, 64)) : (64, (32768, 1))", &l), AXE_OK);
    axe_box_copy c = copy_of(cx, &t, l, "01", 128, 2);
    assert_int_equal(axe_box_find(cx, &c, &b, &why), AXE_YES);
    assert_int_equal(b.n_loop, 2);
    assert_int_equal(axe_box_certify(cx, &c, &b), l->size);
    for (int k = 0; k < 9; k++) {
        x = b;
        *(k == 0   ? &x.loop[0].step
          : k == 1 ? &x.loop[0].move
          : k == 2 ? &x.loop[1].extent
          : k == 3 ? &x.part.step
          : k == 4 ? &x.part.move
                   : &x.part.extent) += k < 6 ? 1 : 0;
        x.extent[0] -= k == 6;
        x.extent[1] -= k == 7;
        x.loop[0].dim ^= k == 8;
        assert_int_equal(axe_box_certify(cx, &c, &x), -1);
    }
    axe_ctx_free(cx);
}

static uint32_t
draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* Two dims of up to three iters each, stacked in a random order with random
 * gaps. */
static const axe_layout *
random_tile(axe_ctx *cx, uint32_t *seed)
{
    axe_iter          it[6];
    int               order[6], n = 2 + (int)draw(seed, 5), end[2];
    int64_t           at = 1;
    const axe_layout *l = NULL;

    for (int i = 0; i < n; i++) {
        int k = (int)draw(seed, (uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    end[0] = (int)draw(seed, (uint32_t)n + 1);
    end[1] = n;
    for (int i = 0; i < n; i++) {
        int64_t e = (int64_t)1 << draw(seed, 5);
        it[order[i]] = (axe_iter){e, at, AXE_AXIS_M, AXE_UNIT_ONE};
        at *= draw(seed, 8) == 0 ? e + 16 : e;
    }
    axe_layout spec = {.n_shard = n, .shard = it, .n_dim = 2, .dim_end = end};
    assert_int_equal(axe_layout_make(cx, &spec, &l), AXE_OK);
    return l;
}

static void
test_random(void **state)
{
    uint32_t seed = 12345;
    int      found = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        axe_ctx          *cx = axe_ctx_new();
        axe_tensor        t = {.name = "T", .type = AXE_TYPE_f16};
        uint32_t          was = seed;
        const axe_layout *l = random_tile(cx, &seed);
        const char       *why = NULL;
        axe_box           b;

        read_strides(cx, "8*K 1", &t);
        axe_box_copy c = copy_of(cx, &t, l, draw(&seed, 2) ? "01" : "10",
                                 (int[]){0, 32, 64, 128}[draw(&seed, 4)],
                                 1 + (int)draw(&seed, 2));
        if (axe_box_find(cx, &c, &b, &why) != AXE_NO) {
            found++;
            if (axe_box_certify(cx, &c, &b) != l->size)
                fail_msg("seed %u: %s as %s", was, axe_layout_text(cx, l),
                         text_of(cx, &b, why));
        }
        axe_ctx_free(cx);
    }
    assert_true(found > 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_certificate_fails),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests_name("box", tests, NULL, NULL);
}
